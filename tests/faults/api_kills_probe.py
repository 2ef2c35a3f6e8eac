#!/usr/bin/env python3
"""Kills apply while it looks for collisions in a table on a server, or checks the items before an index, at requests chosen at random:
while it reads the table, and while it looks up who stands under the keys that are wanted. The same command goes on, with another number of workers; in the end the table
is what an undisturbed run makes of it, and after each kill no more is read again than what is not saved by then. Now and then a file
of what was saved is damaged, or gone: then it begins anew, and says so.

    REFOLD=build/release/refold python3 tests/faults/api_kills_probe.py [--kills N] [--seed N] [--only SERVER]
"""
import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_kills import Door, Table  # noqa: E402

ORDERS = 2600
SAVED_PAGES = 16  # kept_reading.c: PAGES
PORTION = 1000  # probe_judge.c: TARGETS
A_WORKER = 5  # pages that are being read, or wait to be taken
KILLS_MAX = 5  # of one command
SHARE = {"dynoxide": 0.75, "dynalite": 0.25}  # of the kills
KEYS = {"where": "begins_with(PK, 'OLD#')", "rekey": {"PK": "NEW#${Number}"}, "on_collision": "keep_newer: U"}
PUTS = [{"where": "begins_with(PK, 'NEW#') AND attribute_not_exists(Mark)", "put": {"PK": "STATE#${State}", "SK": "${Number}", "U": "${U}"},
         "on_collision": "overwrite"},
        {"where": "begins_with(PK, 'NEW#')", "set": {"Mark": True}}]
INDEX = {"create_index": {"name": "GSI1", "partition": "State:S", "projection": "KEYS_ONLY"}}
PLANS = {"dynoxide": [[KEYS], PUTS, [INDEX]], "dynalite": [[KEYS], PUTS]}


def rows():
    """Every seventh wants the key of the one before; every ninth, one that is taken."""
    for order in range(ORDERS):
        number = order - 1 if order % 7 == 1 else order
        yield {"PK": {"S": f"OLD#{order:05d}"}, "SK": {"S": "A"}, "Number": {"S": f"{number:05d}"}, "State": {"S": str(order % 50)},
               "U": {"N": str(order * 37 % 101)}}
        if order % 9 == 0:
            yield {"PK": {"S": f"NEW#{order:05d}"}, "SK": {"S": "A"}, "Number": {"S": f"{order:05d}"}, "State": {"S": "0"}, "U": {"N": "50"}}


class Killer(Door):
    """Kills the process at its request of that number, of those that read for the probe."""

    def __init__(self):
        super().__init__()
        self.number = 0  # 0: never
        self.requests = 0
        self.probes = True
        self.pages = set()  # (segment, where it begins)
        self.keys = set()  # that were looked up

    def before(self, operation, body):
        if operation == "UpdateTable" or operation == "PutItem" and b"record/probe/" in body and b"/done" in body:
            self.probes = False
        if not self.probes or not self.note(operation, body):
            return None
        self.requests += 1
        if self.requests != self.number:
            return None
        self.kill()
        return 500, b"{}"

    def note(self, operation, body):
        request = json.loads(body)
        if operation == "Scan" and "Segment" in request:
            self.pages.add((request["Segment"], json.dumps(request.get("ExclusiveStartKey"))))
        elif operation == "BatchGetItem":
            self.keys.update(json.dumps(key) for table in request["RequestItems"].values() for key in table["Keys"])
        else:
            return False
        return True

    def run(self, words, number=0):
        """What it said, and whether it came to its end."""
        self.number, self.requests, self.probes = number, 0, True
        self.pages, self.keys = set(), set()
        return self.launch(words)


class Scene(Table):
    def __init__(self, folder, kind, proxy, killer, rng):
        super().__init__(folder, proxy, PLANS[kind], rows())
        self.kind, self.killer, self.rng = kind, killer, rng
        self.resumed = self.begun_anew = 0

    def commands(self, name):
        table = self.proxy.table(name)
        refold.run("import", table, "--from", self.rows, "--create", "--quiet")
        for version in range(1, len(PLANS[self.kind]) + 1):
            yield ["apply", table, "--plans", self.plans, "--state", self.state(name), "--quiet", "--to", f"{version:04d}", "--segments", "8",
                   "--page-size", "20"]

    def state(self, name):
        return os.path.join(self.folder, name)

    def calm(self):
        for words in self.commands("Calm"):
            self.killer.run(words)
            yield self.killer.requests, self.content("Calm")

    def kept(self, name):
        return sorted(file for file in os.listdir(self.state(name)) if not file.endswith(".undo"))

    def damage(self, name):
        """One of the files that are kept."""
        files = self.kept(name)
        if not files:
            return False
        path = os.path.join(self.state(name), self.rng.choice(files))
        size = os.path.getsize(path)
        if self.rng.random() < 0.3 or size == 0:
            os.unlink(path)
        else:
            with open(path, "r+b") as file:
                at = self.rng.randrange(size)
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 0x20]))
        return True

    def disturbed(self, words, requests, name):
        """Kills it up to KILLS_MAX times; returns how often, and what was wrong."""
        kills, known, damaged = 0, Known(), False
        while True:
            number = self.rng.randint(1, requests) if kills < KILLS_MAX else 0
            workers = self.rng.choice((1, 2, 4))
            said, ended = self.killer.run([*words, "--workers", str(workers)], number)
            self.resumed += "goes on" in said
            self.begun_anew += "begins anew" in said
            if "begins anew" in said:
                if not damaged:
                    return kills, said
                known = Known()
            fault = known.add(self.killer, workers)
            if fault or ended:
                return kills, fault
            kills += 1
            damaged = self.rng.random() < 0.2 and self.damage(name) or (damaged and "begins anew" not in said)


class Known:
    """What was read since it last began anew: each kill costs no more than what was not saved by then."""

    def __init__(self):
        self.pages, self.keys = set(), set()
        self.pages_again = self.keys_again = self.pages_most = self.keys_most = 0

    def add(self, killer, workers):
        self.pages_again += len(killer.pages & self.pages)
        self.keys_again += len(killer.keys & self.keys)
        if self.pages_again > self.pages_most:
            return f"{self.pages_again} pages were read again, at most {self.pages_most} were not saved"
        if self.keys_again > self.keys_most:
            return f"{self.keys_again} keys were looked up again, at most {self.keys_most} were not saved"
        self.pages |= killer.pages
        self.keys |= killer.keys
        self.pages_most += SAVED_PAGES + A_WORKER * workers
        self.keys_most += PORTION
        return None


def run_server(kind, given):
    folder = tempfile.mkdtemp(prefix="refold-api-kills-probe-")
    killer = Killer()
    begun, kills, rounds = time.monotonic(), 0, 0
    with ddb_servers.Server(kind) as server, ddb_servers.Proxy(server, before=killer.before) as proxy:
        scene = Scene(folder, kind, proxy, killer, random.Random(given.seed))
        expected = list(scene.calm())
        while kills < given.kills * SHARE[kind]:
            rounds += 1
            name = f"Killed{rounds}"
            for number, words in enumerate(scene.commands(name)):
                requests, content = expected[number]
                more, fault = scene.disturbed(words, requests, name)
                kills += more
                if fault is None and scene.content(name) != content:
                    fault = "the table is not what it ought to be"
                if fault is None and scene.kept(name):
                    fault = f"left behind: {scene.kept(name)}"
                if fault:
                    sys.exit(f"{kind}, --seed {given.seed}, round {rounds}, {' '.join(words)}\n{fault}\nkept: {folder}")
    shutil.rmtree(folder)
    print(f"{kind}: {kills} kills in {rounds} rounds, {scene.resumed} went on, {scene.begun_anew} began anew: nothing lost, nothing read "
          f"twice that was saved ({time.monotonic() - begun:.0f} s)", flush=True)
    return scene.resumed > 0, scene.begun_anew > 0


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="part of a server's name")
    given = options.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    seen = [run_server(kind, given) for kind in SHARE if given.only in kind]
    if not all(any(case) for case in zip(*seen)):
        sys.exit("nothing went on, or nothing began anew: not enough kills to tell")


if __name__ == "__main__":
    main()
