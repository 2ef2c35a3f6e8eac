#!/usr/bin/env python3
"""Writers change, delete and create items of a table on a server while plans set, move and look up, are swept, rolled back and
applied again: no update is lost, nothing deleted comes back, nothing stands twice; and once the writers have stopped and
`apply --sweep` has run, each item is what the plans make of its last state.

    REFOLD=build/release/refold python3 tests/faults/api_live_writers.py [--operations N] [--seed N] [--only SERVER]

dynoxide has transactions, so any number of writers is held together by them. dynalite has none: a move stands under both
keys for a moment. There each item has one writer, who tries the old key first, as an application would; and no move is
rolled back, since the old key would then be the other.
"""
import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import ddb_writer  # noqa: E402
import refold  # noqa: E402

WRITERS = 4
ITEMS = 200
SWEEP_S = 1
TABLE = "Live"
SHARE = {"dynoxide": 0.8, "dynalite": 0.2}  # of the operations
BACK_TO = {"dynoxide": (0, 1, 2), "dynalite": (2,)}
STEPS = [
    {"name": "upper", "where": "SK = 'ITEM'", "set": {"Upper": "${upper(Name)}"}},
    {"name": "rekey", "where": "begins_with(PK, 'C#') AND SK = 'ITEM'", "rekey": {"PK": "N#${after(PK, '#')}"}},
    {"name": "names", "where": "SK = 'ITEM'", "lookup": {"c": {"PK": "P#${after(PK, '#')}", "SK": "PROFILE"}},
     "set": {"OwnerName": "${c.Name}"}},
]


class Scene:
    def __init__(self, server, folder, given):
        self.server, self.folder, self.seed = server, folder, given.seed
        self.operations = int(given.operations * SHARE[server.kind]) // WRITERS
        self.writers = [ddb_writer.Writer(number, WRITERS, ITEMS, TABLE, server.kind == "dynalite") for number in range(WRITERS)]
        self.faults = []
        self.looked_up = []  # (item, name) as they stood while the writers wrote
        self.runs = 0
        self.plans = os.path.join(folder, "plans")
        os.mkdir(self.plans)
        for version, step in enumerate(STEPS, start=1):
            with open(os.path.join(self.plans, f"{version:04d}_plan.json"), "w", encoding="ascii") as out:
                json.dump({"steps": [step]}, out)

    def load(self):
        self.server.make_table(TABLE)
        for writer in self.writers:
            writer.load(self.server.port)
            writer.client = None

    def words(self, command, *options, port=None):
        return [command, self.server.table(TABLE, port), "--plans", self.plans, "--state", os.path.join(self.folder, "state"), *options]

    def refold(self, *words, port=None, expect=0):
        refold.run(*self.words(*words, port=port), expect=expect)
        self.runs += 1

    def sweep(self, *options, port=None):
        """Ended before long: while somebody writes, there is always something to be written."""
        process = subprocess.Popen([refold.PROGRAM, *self.words("apply", "--sweep", *options, port=port)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, err = process.communicate(timeout=SWEEP_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
        if process.returncode not in (0, 5):
            self.faults.append(f"a sweep ended with {process.returncode}: {err.decode()}")
        self.runs += 1

    def keep_running(self, port, is_over):
        """Runs over the table, one after the other, until the writers have done their number; some through the proxy at
        `port`, which counts and is slow."""
        rng = random.Random(self.seed)
        proxied, port = port, None
        while not is_over():
            port = proxied if port is None else None
            how = ["--page-size", str(rng.choice((10, 100, 1000)))]
            self.refold("apply", *how, "--segments", str(rng.choice((1, 4, 8))), port=port)
            self.note_looked_up()
            self.sweep(*how, "--from", str(rng.choice((1, 2, 3))), port=port)
            # What somebody has changed since is left alone, and that is said.
            self.refold("rollback", "--to", str(rng.choice(BACK_TO[self.server.kind])), port=port, expect=(0, 3))
        self.refold("apply", port=port)

    def note_looked_up(self):
        found = refold.items(self.server.table(TABLE))
        self.looked_up += [(number_of(key), item["OwnerName"]) for key, item in found.items() if "OwnerName" in item]

    def write(self, port):
        """The writers, and the runs beside them."""
        results = multiprocessing.Queue()
        processes = [multiprocessing.Process(target=writer.run, args=(self.server.port, self.operations, self.seed + writer.number, results))
                     for writer in self.writers]
        ended = []

        def is_over():
            while not results.empty():
                ended.append(results.get())
            return len(ended) == WRITERS

        for process in processes:
            process.start()
        try:
            self.keep_running(port, is_over)
            self.writers = sorted(ended, key=lambda writer: writer.number)
        finally:
            for process in processes:
                process.terminate()
                process.join()
        self.faults += [fault for writer in self.writers for fault in writer.faults]

    def owner(self, i):
        return self.writers[i % WRITERS]

    def check_standing(self, found, kinds):
        """Each item once, with all that was acknowledged, under a key of those kinds."""
        for i in range(ITEMS):
            owner = self.owner(i)
            standing = [kind for kind in (ddb_writer.OLD, ddb_writer.NEW) if (f"{kind}#{i}", "ITEM") in found]
            if len(standing) != owner.alive[i] or not set(standing) <= set(kinds):
                self.faults.append(f"item {i} of generation {owner.generation[i]} stands under {standing}, alive: {owner.alive[i]}")
            for kind in standing:
                self.check_item(i, found[f"{kind}#{i}", "ITEM"])

    def check_item(self, i, item):
        owner = self.owner(i)
        wanted = {f"W{writer.number}": writer.values.get((i, owner.generation[i])) for writer in self.writers}
        standing = {name: str(item[name]) if name in item else None for name in wanted}
        if standing != wanted or item["Name"] != owner.name[i] or item["Gen"] != owner.generation[i]:
            self.faults.append(f"item {i}: {standing} {item['Name']}, wanted {wanted} {owner.name[i]}")

    def check_swept(self, found):
        for key, item in found.items():
            i = number_of(key)
            name = self.owner(i).name[i]
            if key[1] == "ITEM" and (item.get("Upper"), item.get("OwnerName")) != (name.upper(), name):
                self.faults.append(f"item {i}: {item.get('Upper')}, {item.get('OwnerName')}, not of {name}")

    def check_looked_up(self):
        """A copied name is one that the profile had at some moment."""
        for i, name in self.looked_up:
            if name not in self.owner(i).names[i]:
                self.faults.append(f"item {i}: OwnerName was never {name}")


def number_of(key):
    return int(key[0].partition("#")[2])


def run(kind, given):
    folder = tempfile.mkdtemp(prefix="refold-writers-")
    met = []  # conditions that were not met, of refold's own

    def after(_operation, body, status, content):
        if status == 400 and b"ondition" in content and b"ReturnValuesOnConditionCheckFailure" in body:
            met.append(content)

    begun = time.monotonic()
    with ddb_servers.Server(kind) as server, ddb_servers.Proxy(server, after=after) as proxy:
        scene = Scene(server, folder, given)
        scene.load()
        scene.write(proxy.port)
        scene.check_standing(refold.items(server.table(TABLE)), (ddb_writer.OLD, ddb_writer.NEW))
        scene.refold("apply", "--sweep", "--from", "1")
        found = refold.items(server.table(TABLE))
        scene.check_standing(found, (ddb_writer.NEW,))
        scene.check_swept(found)
        scene.check_looked_up()
    if scene.faults:
        sys.exit(f"{kind}, --seed {given.seed}: {len(scene.faults)} faults; kept in {folder}\n" + "\n".join(scene.faults[:20]))
    where = {key: sum(writer.met[key] for writer in scene.writers) for key in (ddb_writer.OLD, ddb_writer.NEW)}
    if not met or not all(where.values()):
        sys.exit(f"{kind}: nobody came between: {len(met)} conditions not met, {where}")
    shutil.rmtree(folder)
    print(f"{kind}: {scene.operations * WRITERS} operations while {scene.runs} runs went over {ITEMS} items, {len(met)} conditions not met, "
          f"items met under {where}: nothing lost ({time.monotonic() - begun:.0f} s)", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--operations", type=int, default=100000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="part of a server's name")
    given = options.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    for kind in SHARE:
        if given.only in kind:
            run(kind, given)


if __name__ == "__main__":
    main()
