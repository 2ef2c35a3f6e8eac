#!/usr/bin/env python3
"""Prints refold's speed as ratios within this one run: against a raw LMDB loop that makes the same
byte changes, and against psql COPY out | psql COPY in. Called by scripts/bench.

  bench.py [--items N] [--large N]     N items for the quick ratios; --large for the growth ratio
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import postgres  # noqa: E402
from usage import Usage  # noqa: E402

REFOLD = os.environ.get("REFOLD", os.path.join(ROOT, "build/release/refold"))
RAW = os.environ.get("RAW_LMDB", os.path.join(ROOT, "build/release/raw_lmdb"))

# About 300 bytes an item once folded.
SOURCE = """
CREATE TABLE bench (id bigint PRIMARY KEY, email text NOT NULL, full_name text NOT NULL, city text NOT NULL,
                    amount numeric(12,2) NOT NULL, placed_at timestamptz NOT NULL, note text NOT NULL);
INSERT INTO bench SELECT n, 'person' || n || '@mail.example', 'Person number ' || n, 'City ' || n % 1000, n % 100000 / 100.0,
  timestamptz '2026-01-01 00:00+00' + n * interval '1 second', repeat(md5(n::text), 4) FROM generate_series(1, {rows}) AS n;
CREATE TABLE bench_copy (LIKE bench INCLUDING ALL);
VACUUM (ANALYZE) bench;
"""
MAP = """{ "table": { "partition": "PK:S", "sort": "SK:S"%s },
  "entities": [ { "from": "bench", "key": { "PK": "CUSTOMER#${id}", "SK": "PROFILE" },
    "columns": { "Email": "email", "Name": "full_name", "City": "city", "Amount": "amount", "PlacedAt": "placed_at", "Note": "note" } } ] }"""
STANDING = ', "indexes": [ { "name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S" } ]'
SETS = """{ "where": "attribute_not_exists(GSI1PK)", "set": { "GSI1PK": "CITY#${City}", "GSI1SK": "${PlacedAt}" } }"""
NEW_INDEX = '{ "create_index": { "name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S", "projection": "ALL" } }, '


def run(*command, expect=(0,), **kwargs):
    usage = Usage(list(command), stdout=subprocess.DEVNULL, **kwargs)
    if usage.status not in expect:
        sys.exit(f"bench: exit {usage.status}: {' '.join(command)}")
    return usage


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def say(what, measured, wanted=""):
    print(f"{what:<58} {measured:>14}   {wanted}", flush=True)


class Bench:
    def __init__(self, folder, server):
        self.folder = folder
        self.server = server
        self.new_plans = os.path.join(folder, "new")
        self.standing_plans = os.path.join(folder, "standing")
        write(os.path.join(self.new_plans, "0001_index.json"), f'{{ "steps": [ {NEW_INDEX}{SETS} ] }}')
        write(os.path.join(self.standing_plans, "0001_set.json"), f'{{ "steps": [ {SETS} ] }}')
        self.map = write(os.path.join(folder, "map.json"), MAP % "")
        self.standing_map = write(os.path.join(folder, "standing.json"), MAP % STANDING)

    def path(self, name):
        return os.path.join(self.folder, name)

    def database(self, rows):
        name = f"bench_{rows}"
        self.server.create_database(name)
        self.server.psql(name, SOURCE.format(rows=rows))
        return name

    def refold_import(self, database, table, map_file):
        return run(REFOLD, "import", table, "--from", self.server.uri(database), "--map", map_file)

    def copy_through(self, database):
        self.server.psql(database, "TRUNCATE bench_copy; CHECKPOINT")
        uri = self.server.uri(database)
        pipe = f"psql -X -q '{uri}' -c 'COPY bench TO STDOUT' | psql -X -q '{uri}' -c 'COPY bench_copy FROM STDIN'"
        return run("sh", "-c", pipe)

    def apply(self, source, plans):
        table = self.path("apply.refold")
        for stale in (table, table + "-lock", table + "-run"):
            if os.path.exists(stale):
                os.unlink(stale)
        shutil.copyfile(source, table)
        os.sync()
        return run(REFOLD, "apply", table, "--plans", plans)

    def raw(self, rows, mode):
        """Seconds of the loop alone: it makes its own table before, and says how long the changes took."""
        done = subprocess.run([RAW, self.path("raw.mdb"), str(rows), mode], stdout=subprocess.PIPE, check=True)
        return float(re.search(rb"in ([0-9.]+) s", done.stdout).group(1))


def median(values):
    return sorted(values)[len(values) // 2]


def paired(count, first, second):
    """Medians of the seconds of two things measured in turn."""
    pairs = [(first(), second()) for _ in range(count)]
    return median([a for a, _ in pairs]), median([b for _, b in pairs])


def quick(bench, rows):
    database = bench.database(rows)
    plain, standing = bench.path("plain.refold"), bench.path("standing.refold")

    def fresh_import():
        for suffix in ("", "-lock", "-run"):
            if os.path.exists(plain + suffix):
                os.unlink(plain + suffix)
        return bench.refold_import(database, plain, bench.map).wall

    copy, fold = paired(3, lambda: bench.copy_through(database).wall, fresh_import)
    say(f"import of {rows:,} rows: psql COPY out | in over refold", f"{copy / fold:.2f}", ">= 1.0")
    bench.refold_import(database, standing, bench.standing_map)

    raw, ours = paired(3, lambda: bench.raw(rows, "apply-new-index"), lambda: bench.apply(plain, bench.new_plans).wall)
    say("apply, making the index: raw LMDB loop over refold", f"{raw / ours:.2f}", ">= 0.5")
    raw, ours = paired(3, lambda: bench.raw(rows, "apply-standing-index"), lambda: bench.apply(standing, bench.standing_plans).wall)
    say("apply, a standing index: raw LMDB loop over refold", f"{raw / ours:.2f}", ">= 0.5")

    dry = run(REFOLD, "apply", plain, "--plans", bench.standing_plans, "--dry-run", expect=(4,))
    say("dry run: items a second of CPU", f"{rows / dry.cpu:,.0f}", ">= 1,000,000")
    start = median([run(REFOLD, "--version").wall for _ in range(20)])
    say("start", f"{start * 1000:.1f} ms", "<= 10 ms")
    made = bench.apply(plain, bench.new_plans)
    say(f"private memory, apply on {rows:,} items", f"{made.private_bytes / 2**20:.0f} MiB", "<= 128 MiB")
    return made.wall


def large(bench, rows, small_rows, small_wall):
    table = bench.path("large.refold")
    bench.refold_import(bench.database(rows), table, bench.map)
    made = bench.apply(table, bench.new_plans)
    growth = made.wall / small_wall / (rows / small_rows / 10)
    say(f"time for {rows:,} items over {small_rows:,}, making the index", f"{growth:.1f}", "<= 12 for ten times")
    say(f"private memory, apply on {rows:,} items", f"{made.private_bytes / 2**20:.0f} MiB", "<= 128 MiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refold-bench-") as folder, postgres.Server() as server:
        bench = Bench(folder, server)
        wall = quick(bench, options.items)
        if options.large:
            large(bench, options.large, options.items, wall)


if __name__ == "__main__":
    main()
