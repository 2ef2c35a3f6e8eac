#!/usr/bin/env python3
"""Kills import, apply and rollback of a table on a server at random moments. Each time the same command goes on, with
another number of workers, and in the end the table is what an undisturbed run makes of it.

    REFOLD=build/release/refold python3 tests/faults/api_kills.py [--kills N] [--seed N] [--only SERVER]

dynalite has neither transactions nor indexes that come later: a move is broken off between its two writes there.
moto is not atomic between its threads: a proxy lets one request at a time through to it.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import kill  # noqa: E402
import refold  # noqa: E402

CUSTOMERS = 30
SET = {"name": "by status", "where": "begins_with(SK, 'ORDER#')", "set": {"GSI1PK": "STATUS#${Status}", "Total": {"N": "${Total}"}}}
REKEY = {"name": "by email", "where": "SK = 'PROFILE' AND begins_with(PK, 'CUSTOMER#')", "rekey": {"PK": "EMAIL#${lower(Email)}"}}
PUT = {"name": "states", "where": "begins_with(SK, 'ORDER#')", "put": {"PK": "STATE#${Status}", "SK": "${PK}"}}
INDEX = {"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "projection": "KEYS_ONLY"}}
PLANS = {"dynalite": [SET, REKEY, PUT], "moto": [SET, REKEY, PUT, INDEX]}


def rows():
    for customer in range(CUSTOMERS):
        key = {"PK": {"S": f"CUSTOMER#{customer}"}}
        yield {**key, "SK": {"S": "PROFILE"}, "Email": {"S": f"C{customer}@x.org"}}
        for order in range(4):
            yield {**key, "SK": {"S": f"ORDER#{order}"}, "Status": {"S": ["open", "done"][(customer + order) % 2]},
                   "Total": {"S": f"{order}.5"}, "Tags": {"SS": ["b", "a"]}}


class Scene:
    def __init__(self, folder, proxy, killer):
        self.folder, self.proxy, self.killer = folder, proxy, killer
        self.plans = os.path.join(folder, "plans")
        self.rows = os.path.join(folder, "rows.jsonl")
        os.mkdir(self.plans)
        for version, step in enumerate(PLANS[proxy.server.kind], start=1):
            with open(os.path.join(self.plans, f"{version:04d}_plan.json"), "w", encoding="ascii") as out:
                json.dump({"steps": [step]}, out)
        with open(self.rows, "w", encoding="ascii") as out:
            out.writelines(json.dumps({"Item": row}) + "\n" for row in rows())

    def commands(self, table, name):
        """Plan by plan, and all the way back."""
        run = ["--plans", self.plans, "--state", os.path.join(self.folder, name), "--quiet"]
        yield ["import", table, "--from", self.rows, "--create", "--quiet"]
        for version in range(1, len(PLANS[self.proxy.server.kind]) + 1):
            yield ["apply", table, *run, "--to", str(version), "--segments", "8"]
        yield ["rollback", table, *run, "--to", "0"]

    def other_workers(self, words):
        more = ["--workers", str(self.killer.random.choice((1, 2, 5)))] if words[0] == "apply" else []
        return [refold.PROGRAM, *words, *more]

    def content(self, table):
        return sorted(refold.export(table).splitlines())


def difference(found, expected):
    return "\n".join(["missing:", *sorted(set(expected) - set(found))[:5], "too much:", *sorted(set(found) - set(expected))[:5]])


def run_server(kind, given, kills):
    folder = tempfile.mkdtemp(prefix="refold-api-kills-")
    killer = kill.Killer(given.seed)
    with ddb_servers.Server(kind) as server, ddb_servers.Proxy(server, single=kind == "moto") as proxy:
        scene = Scene(folder, proxy, killer)
        table = proxy.table("Calm")
        expected, seconds = [], []
        for words in scene.commands(table, "Calm"):
            seconds.append(kill.measure([refold.PROGRAM, *words]))
            expected.append(scene.content(table))
        rounds = 0
        while killer.kills < kills:
            rounds += 1
            name = f"Killed{rounds}"
            table = proxy.table(name)
            for number, words in enumerate(scene.commands(table, name)):
                killer.run(lambda words=words: scene.other_workers(words), seconds[number], most=4)
                found = scene.content(table)
                if found != expected[number]:
                    sys.exit(f"{kind}, round {rounds}, {' '.join(words)}\n{difference(found, expected[number])}\nkept: {folder}")
    shutil.rmtree(folder)
    print(f"{kind}: {killer.kills} kills in {rounds} rounds of {len(seconds)} commands: nothing lost, nothing done twice", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=30)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--only", default="")
    given = options.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    print(f"--seed {given.seed}")
    kinds = [kind for kind in PLANS if given.only in kind]
    for kind in kinds:
        run_server(kind, given, given.kills // len(kinds))


if __name__ == "__main__":
    main()
