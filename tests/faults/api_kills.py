#!/usr/bin/env python3
"""Kills import, apply and rollback of a table on a server at writes chosen at random, before the server hears of them or after.
Each time the same command goes on, with another number of workers, and in the end the table is what an undisturbed run makes of
it; no segment has more than a page read again for each kill.

    REFOLD=build/release/refold python3 tests/faults/api_kills.py [--kills N] [--seed N] [--only SERVER]

dynalite has neither transactions nor indexes that come later: a move is broken off between its two writes there.
"""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402

CUSTOMERS = 30
SEGMENTS = 8
KILLS_MAX = 4  # of one command
SHARE = {"dynoxide": 0.7, "dynalite": 0.3}  # of the kills
SET = {"name": "by status", "where": "begins_with(SK, 'ORDER#')", "set": {"GSI1PK": "STATUS#${Status}", "Total": {"N": "${Total}"}}}
REKEY = {"name": "by email", "where": "SK = 'PROFILE' AND begins_with(PK, 'CUSTOMER#')", "rekey": {"PK": "EMAIL#${lower(Email)}"}}
PUT = {"name": "states", "where": "begins_with(SK, 'ORDER#') AND attribute_not_exists(Mark)", "put": {"PK": "STATE#${Status}", "SK": "${PK}#${SK}"}}
MARK = {"name": "marks", "where": "begins_with(SK, 'ORDER#')", "set": {"Mark": True}}
LOOKUP = {"name": "products", "where": "begins_with(SK, 'ORDER#')", "lookup": {"p": {"PK": "PRODUCT#${Product}", "SK": "PRODUCT"}},
          "set": {"ProductName": "${p.Name}"}}
DELETE = {"name": "done", "where": "begins_with(SK, 'ORDER#') AND Status = 'done'", "delete": True}
INDEX = {"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "projection": "KEYS_ONLY"}}
PLANS = {"dynoxide": [[SET], [REKEY], [PUT, MARK], [LOOKUP], [INDEX], [DELETE]], "dynalite": [[SET], [REKEY], [PUT, MARK], [LOOKUP], [DELETE]]}
PROBED = ("rekey", "put", "create_index")  # where all items are looked at first: api_kills_probe.py


def rows():
    for product in range(3):
        yield {"PK": {"S": f"PRODUCT#{product}"}, "SK": {"S": "PRODUCT"}, "Name": {"S": f"Product {product}"}}
    for customer in range(CUSTOMERS):
        key = {"PK": {"S": f"CUSTOMER#{customer}"}}
        yield {**key, "SK": {"S": "PROFILE"}, "Email": {"S": f"C{customer}@x.org"}}
        for order in range(4):
            yield {**key, "SK": {"S": f"ORDER#{order}"}, "Status": {"S": ["open", "done"][(customer + order) % 2]},
                   "Product": {"N": str(order % 3)}, "Total": {"S": f"{order}.5"}, "Tags": {"SS": ["b", "a"]}}


class Door:
    """Stands at a proxy's door, and can kill the process behind it."""

    def __init__(self):
        self.process = None

    def launch(self, words):
        """What the command said, and whether it came to its end."""
        self.process = subprocess.Popen([refold.PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = self.process.communicate()
        if self.process.returncode not in (0, -9):
            raise AssertionError(f"exit {self.process.returncode}: {' '.join(words)}\n{out.decode()[-3000:]}\n{err.decode()[-3000:]}")
        return err.decode(), self.process.returncode == 0

    def kill(self):
        self.process.kill()
        self.process.wait()


class Killer(Door):
    """Kills the process at its write of that number."""

    def __init__(self):
        super().__init__()
        self.number = 0  # 0: never
        self.heard = False
        self.writes = 0
        self.pages = set()  # (segment, where it begins) of pages that were read
        self.settling = False  # the pass is at its end: who is killed now looks once more whether there is anything to do

    def before(self, operation, body):
        if operation == "Scan" and b'"Segment"' in body:  # else it looks for names
            page = json.loads(body)
            self.pages.add((page["Segment"], json.dumps(page.get("ExclusiveStartKey"))))
        if operation not in ddb_servers.WRITES or b'"lease"' in body:
            return None
        if operation == "DeleteItem" and b"record/checkpoint/" in body:
            self.settling = True
        self.writes += 1
        if self.writes != self.number:
            return None
        self.kill()
        return None if self.heard else (500, b"{}")

    def run(self, words, number=0, heard=False):
        """True where the command came to its end."""
        self.number, self.heard, self.writes = number, heard, 0
        self.pages, self.settling = set(), False
        return self.launch(words)[1]


class Table:
    """Plans and items in a folder, for tables behind a proxy."""

    def __init__(self, folder, proxy, plans, items):
        self.folder, self.proxy = folder, proxy
        self.plans = os.path.join(folder, "plans")
        self.rows = os.path.join(folder, "rows.jsonl")
        os.mkdir(self.plans)
        for version, steps in enumerate(plans, start=1):
            with open(os.path.join(self.plans, f"{version:04d}_plan.json"), "w", encoding="ascii") as out:
                json.dump({"steps": steps}, out)
        with open(self.rows, "w", encoding="ascii") as out:
            out.writelines(json.dumps({"Item": row}) + "\n" for row in items)

    def content(self, name):
        return sorted(refold.export(self.proxy.table(name)).splitlines())


class Scene(Table):
    def __init__(self, folder, kind, proxy, killer):
        super().__init__(folder, proxy, PLANS[kind], rows())
        self.kind, self.killer = kind, killer

    def commands(self, name):
        """Plan by plan, and all the way back."""
        table = self.proxy.table(name)
        run = ["--plans", self.plans, "--state", os.path.join(self.folder, name), "--quiet"]
        yield ["import", table, "--from", self.rows, "--create", "--quiet"]
        for version in range(1, len(PLANS[self.kind]) + 1):
            yield ["apply", table, *run, "--to", f"{version:04d}", "--segments", str(SEGMENTS), "--page-size", "6"]
        yield ["rollback", table, *run, "--to", "0"]

    def calm(self):
        """For each command: how many writes it sends, and what the table holds then."""
        for words in self.commands("Calm"):
            self.killer.run(words)
            yield self.killer.writes, self.content("Calm")

    def disturbed(self, words, writes, rng):
        """Kills it up to KILLS_MAX times; returns how often, and the most pages of a segment that one resume read again."""
        kills, again, known = 0, 0, set()
        while True:
            workers = ["--workers", str(rng.choice((1, 2, 5)))] if words[0] == "apply" else []
            number = rng.randint(1, writes) if kills < KILLS_MAX else 0
            ended = self.killer.run([*words, *workers], number, rng.random() < 0.5)
            repeated = collections.Counter(segment for segment, _ in self.killer.pages & known)
            again = max([again, *repeated.values()])
            known = set() if self.killer.settling else known | self.killer.pages
            if ended:
                return kills, again
            kills += 1

    def check(self, words, content, again, name):
        found = self.content(name)
        if found != content:
            return difference(found, content)
        if words[0] == "apply" and again > 1 and not is_probed(PLANS[self.kind][int(words[words.index("--to") + 1]) - 1]):
            return f"a resume read {again} pages of a segment again"
        return None


def difference(found, expected):
    return "\n".join(["missing:", *sorted(set(expected) - set(found))[:5], "too much:", *sorted(set(found) - set(expected))[:5]])


def is_probed(steps):
    return any(name in step for step in steps for name in PROBED)


def run_server(kind, given):
    folder = tempfile.mkdtemp(prefix="refold-api-kills-")
    rng = random.Random(given.seed)
    killer = Killer()
    begun, kills, rounds = time.monotonic(), 0, 0
    with ddb_servers.Server(kind) as server, ddb_servers.Proxy(server, before=killer.before) as proxy:
        scene = Scene(folder, kind, proxy, killer)
        expected = list(scene.calm())
        while kills < given.kills * SHARE[kind]:
            rounds += 1
            name = f"Killed{rounds}"
            for number, words in enumerate(scene.commands(name)):
                writes, content = expected[number]
                more, again = scene.disturbed(words, writes, rng)
                kills += more
                fault = scene.check(words, content, again, name)
                if fault:
                    sys.exit(f"{kind}, --seed {given.seed}, round {rounds}, {' '.join(words)}\n{fault}\nkept: {folder}")
    shutil.rmtree(folder)
    print(f"{kind}: {kills} kills in {rounds} rounds of {len(expected)} commands: nothing lost, nothing done twice "
          f"({time.monotonic() - begun:.0f} s)", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="part of a server's name")
    given = options.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    for kind in SHARE:
        if given.only in kind:
            run_server(kind, given)


if __name__ == "__main__":
    main()
