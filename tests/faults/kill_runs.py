#!/usr/bin/env python3
"""Kills apply and rollback at random moments. Each time the same command goes on, and in the end the table is, byte for
byte as exported, what an undisturbed run makes of it, with the same counts.

    REFOLD=build/release/refold python3 tests/faults/kill_runs.py [--kills N] [--seed N] [--items N]
"""
import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import kill  # noqa: E402
import refold  # noqa: E402

PLANS = {
    "0001_by_status": [
        {"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S", "projection": "KEYS_ONLY"}},
        {"name": "by status", "where": "begins_with(SK, 'ORDER#') AND attribute_not_exists(GSI1PK)",
         "set": {"GSI1PK": "STATUS#${Status}", "GSI1SK": "${OrderDate}", "Total": {"N": "${Total}"}}}],
    "0002_by_email": [
        {"name": "by email", "where": "SK = 'PROFILE' AND begins_with(PK, 'CUSTOMER#')",
         "rekey": {"PK": "EMAIL#${lower(Email)}"}, "on_collision": "overwrite"},
        {"name": "states", "where": "begins_with(SK, 'ORDER#')", "put": {"PK": "STATES", "SK": "${Status}"}},
        {"name": "touch", "where": "begins_with(SK, 'ORDER#')", "set": {"Touched": True}},
        {"name": "gone", "where": "SK = 'ORDER#8'", "delete": True},
        {"pass": "profiles stand under their new keys"},
        {"name": "seen", "where": "begins_with(PK, 'EMAIL#')", "set": {"Seen": True}, "remove": ["Email"]}],
    "0003_no_index": [
        {"drop_index": "GSI1"},
        {"create_index": {"name": "GSI2", "partition": "OrderDate:S", "projection": "KEYS_ONLY"}},
        {"name": "rename", "where": "attribute_exists(Status)", "rename": {"Status": "State"}}],
}
# What is run, one after the other, and may be killed; after which of them the whole content is compared.
COMMANDS = [["apply", "--to", "1"], ["apply", "--to", "2"], ["apply"], ["rollback", "--to", "2"], ["rollback", "--to", "0"]]
COMPARED = (2, 4)


def write_rows(path, count):
    """Wide items, so that a pass takes several commits. Every fifth customer has the e-mail address of another."""
    with open(path, "w", encoding="ascii") as out:
        for n in range(count):
            customer, order = divmod(n, 10)
            row = {"PK": {"S": f"CUSTOMER#{customer}"}, "Filler": {"S": chr(97 + n % 26) * 3000}}
            if order == 9:
                row.update({"SK": {"S": "PROFILE"}, "Email": {"S": f"C{customer - customer % 5 if customer % 5 == 1 else customer}@x.org"}})
            else:
                row.update({"SK": {"S": f"ORDER#{order}"}, "Status": {"S": ["open", "done"][n % 2]}, "OrderDate": {"S": f"2026-{1 + n % 12:02d}"},
                            "Total": {"S": f"{n % 100}.5"}})
            out.write(json.dumps({"Item": row}) + "\n")


class Scene:
    def __init__(self, folder, items):
        self.folder = folder
        self.plans = os.path.join(folder, "plans")
        os.mkdir(self.plans)
        for name, steps in PLANS.items():
            with open(os.path.join(self.plans, name + ".json"), "w", encoding="ascii") as out:
                json.dump({"steps": steps}, out)
        rows = os.path.join(folder, "rows.jsonl")
        write_rows(rows, items)
        self.start = os.path.join(folder, "start.refold")
        refold.run("import", self.start, "--from", rows)
        os.remove(rows)

    def command(self, table, words):
        return [refold.PROGRAM, words[0], table, "--plans", self.plans, "--quiet", *words[1:]]

    def state(self, table, number):
        """What the table comes to after a command: indexes and counts, and where it is compared its content, which must
        agree with itself."""
        status = json.loads(refold.run("status", table, "--plans", self.plans, "--format", "json")[0])
        plans = [(plan["state"], plan["record"] and [[step[name] for name in ("written", "unchanged", "skipped", "failed", "overwritten", "earlier")]
                                                     for step in plan["record"]["steps"]],
                  plan["record"] and (plan["record"]["undone"], plan["record"]["left"])) for plan in status["plans"]]
        indexes = [(index["name"], index["active"], index["entries"]) for index in status["indexes"]]
        content = None
        if number in COMPARED:
            refold.run("verify", table)
            content = hashlib.sha256(refold.export(table).encode()).hexdigest()
        return content, indexes, plans


def copy(scene, name):
    table = os.path.join(scene.folder, name)
    shutil.copyfile(scene.start, table)
    return table


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--items", type=int, default=40000)
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="refold-kill-")
    try:
        scene = Scene(folder, given.items)
        table = copy(scene, "reference.refold")
        expected = []
        seconds = []
        for number, words in enumerate(COMMANDS):
            seconds.append(kill.measure(scene.command(table, words)))
            expected.append(scene.state(table, number))
        killer = kill.Killer(given.seed)
        while killer.kills < given.kills:
            table = copy(scene, "killed.refold")
            for number, words in enumerate(COMMANDS):
                killer.run(scene.command(table, words), seconds[number])
                found = scene.state(table, number)
                if found != expected[number]:
                    sys.exit(f"round {killer.rounds}, {' '.join(words)}: found {found}, expected {expected[number]}; the table is kept in {folder}")
            print(f"{killer.kills} kills", flush=True)
        print(f"{killer.kills} kills in {killer.rounds} runs: nothing lost, nothing done twice")
    except BaseException:
        print(f"kept: {folder}", file=sys.stderr)
        raise
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
