#!/usr/bin/env python3
"""Kills imports at random moments: into a new table and into one that holds other items. Each time the same command goes
on, and in the end the table is, byte for byte as exported, what an undisturbed import makes of it.

    REFOLD=build/release/refold python3 tests/faults/kill_import.py [--kills N] [--seed N] [--customers N]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import kill  # noqa: E402
import postgres  # noqa: E402
import refold  # noqa: E402

SHOP = os.path.join(ROOT, "examples", "shop")


class Scene:
    def __init__(self, folder, server, customers):
        self.folder = folder
        server.create_database("shop")
        server.load("shop", os.path.join(SHOP, "schema.sql"), os.path.join(SHOP, "generate.sql"), customers=customers)
        self.source = ["--from", server.uri("shop"), "--map", os.path.join(SHOP, "map.json"), "--quiet"]
        rows = os.path.join(folder, "others.jsonl")
        with open(rows, "w", encoding="ascii") as out:
            for n in range(2000):
                out.write(json.dumps({"Item": {"PK": {"S": f"OTHER#{n}"}, "SK": {"S": "A"}, "Text": {"S": "x" * 500}}}) + "\n")
        self.others = os.path.join(folder, "others.refold")
        refold.run("import", self.others, "--from", rows)
        plans = os.path.join(folder, "plans")
        os.mkdir(plans)
        with open(os.path.join(plans, "0001_index.json"), "w", encoding="ascii") as out:
            json.dump({"steps": [{"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S"}}]}, out)
        refold.run("apply", self.others, "--plans", plans)

    def table(self, name, with_others):
        path = os.path.join(self.folder, name)
        for suffix in ("", "-lock", "-run"):
            if os.path.exists(path + suffix):
                os.unlink(path + suffix)
        if with_others:
            shutil.copyfile(self.others, path)
        return path

    def command(self, table):
        return [refold.PROGRAM, "import", table, *self.source]


def check_unfinished(table):
    """Whatever is there of a killed import is either nothing or known as unfinished."""
    if not os.path.exists(table):
        return
    done = subprocess.run([refold.PROGRAM, "export", table, "--to", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0 and b"import" not in done.stderr:
        sys.exit(f"exit {done.returncode}, expected one that names the unfinished import: {done.stderr.decode()}")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--customers", type=int, default=4000)
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="refold-kill-")
    with postgres.Server() as server:
        scene = Scene(folder, server, given.customers)
        expected, seconds = {}, {}
        for with_others in (False, True):
            table = scene.table("reference.refold", with_others)
            seconds[with_others] = kill.measure(scene.command(table))
            refold.run("verify", table)
            expected[with_others] = refold.export(table)
        killer = kill.Killer(given.seed)
        while killer.kills < given.kills:
            for with_others in (False, True):
                table = scene.table("killed.refold", with_others)
                killer.run(scene.command(table), seconds[with_others], most=5, killed=lambda: check_unfinished(table))
                if refold.export(table) != expected[with_others]:
                    sys.exit(f"round {killer.rounds}: the table differs; it is kept in {folder}")
                refold.run("verify", table)
            print(f"{killer.kills} kills", flush=True)
    print(f"{killer.kills} kills in {killer.rounds} imports: nothing lost, nothing taken for finished")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
