#!/usr/bin/env python3
"""Laws of runs, on random tables and plans: the outcome does not depend on segments and threads, a dry run counts what apply
counts, rollback restores every byte, and a second apply has nothing to do.

    RUNS_SEED=7 RUNS_CASES=500 python3 tests/integration/test_runs_random.py     replays and lengthens
"""
import json
import os
import random
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import refold  # noqa: E402

SEED = int(os.environ.get("RUNS_SEED", "1"))
CASES = int(os.environ.get("RUNS_CASES", "60"))
LETTERS = "abcdAB"
WAYS = [("--segments", "1", "--workers", "1"), ("--segments", "5", "--workers", "3"), ("--segments", "200", "--workers", "2")]


def random_items(rng):
    items = {}
    for _ in range(rng.randrange(1, 60)):
        key = rng.choice(LETTERS) + rng.choice(LETTERS), rng.choice("xyz")
        item = {"PK": {"S": key[0]}, "SK": {"S": key[1]}}
        if rng.random() < 0.8:
            item["n"] = {"N": str(rng.randrange(4))}
        if rng.random() < 0.5:
            item["s"] = {"S": rng.choice(["p", "q"])}
        if rng.random() < 0.2:
            item["t"] = {"L": [{"S": "deep"}]}
        items[key] = item
    return list(items.values())


def random_where(rng):
    return rng.choice(["SK = 'x'", "SK = 'y'", "begins_with(PK, 'a')", "n > 1", "attribute_exists(s)", "attribute_not_exists(done)",
                       "attribute_not_exists(s)", "PK < 'b'", "size(PK) = 2"])


def random_step(rng, number):
    step = {"name": f"s{number}", "where": random_where(rng)}
    kind = rng.randrange(7)
    if kind <= 1:
        step["set"] = rng.choice([{"done": True}, {"k": "${n}"}, {"k": "v${n}"}, {"s": "${if_not_exists(s, 'p')}"}, {"s": "q"}])
    elif kind == 2:
        step.update(rng.choice([{"remove": ["s"]}, {"rename": {"s": "r"}}, {"remove": ["n", "t"]}]))
    elif kind == 3:
        step["delete"] = True
    elif kind <= 5:
        step["rekey"] = rng.choice([{"PK": "${lower(PK)}"}, {"PK": "${substring(PK, 1, 1)}"}, {"SK": "x"}, {"PK": "z${n}", "SK": "k"}])
        step["on_collision"] = rng.choice(["fail", "skip", "overwrite", "keep_newer: n"])
    else:
        step["put"] = rng.choice([{"PK": "made", "SK": "${SK}"}, {"PK": "made", "SK": "${PK}", "of": "${n}"}, {"PK": "${SK}", "SK": "x", "n": 1},
                                  {"PK": "${lower(PK)}", "SK": "${SK}"}])
        step["on_collision"] = rng.choice(["fail", "skip", "overwrite"])
    return step


def random_plan(rng):
    steps = []
    for number in range(rng.randrange(1, 5)):
        if steps and rng.random() < 0.25:
            steps.append({"pass": "next"})
        steps.append(random_step(rng, number))
    if rng.random() < 0.3:
        steps.insert(rng.randrange(len(steps) + 1), {"create_index": {"name": "GSI1", "partition": "s:S", "on_violation": "leave_out"}})
    return {"steps": [step for place, step in enumerate(steps) if "pass" not in step or 0 < place < len(steps) - 1]}


def counts(step):
    return tuple(step[name] for name in ("matched", "written", "unchanged", "skipped", "failed", "overwritten"))


class Laws(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-laws-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plans = os.path.join(self.folder, "plans")
        os.mkdir(self.plans)

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, name, table, *options, expect=0):
        return refold.run(name, table, "--plans", self.plans, "--quiet", *options, expect=expect)

    def write_case(self, rng):
        with open(self.path("rows.jsonl"), "w", encoding="ascii") as out:
            for item in random_items(rng):
                out.write(json.dumps({"Item": item}) + "\n")
        for version in (1, 2):
            with open(os.path.join(self.plans, f"{version:04}_p.json"), "w", encoding="ascii") as out:
                json.dump(random_plan(rng), out)

    def dry_counts(self, table):
        out, _ = self.command("apply", table, "--dry-run", "--format", "json", expect=(3, 4))
        report = json.loads(out)
        return [(plan["version"], step["label"], counts(step)) for plan in report["plans"] for stage in plan["stages"]
                if stage["kind"] == "pass" for step in stage["steps"]], report["plans"][-1]["failed"]

    def applied_counts(self, table, options):
        out, _ = self.command("apply", table, "--format", "json", *options, expect=(0, 3))
        return [(plan["version"], step["label"], counts(step)) for plan in json.loads(out)["plans"] for step in plan["steps"]]

    def check(self, rng):
        self.write_case(rng)
        start = self.path("start.refold")
        refold.run("import", start, "--from", self.path("rows.jsonl"), "--quiet")
        if self.command("apply", start, "--dry-run", expect=(2, 3, 4))[1].startswith("refold: "):
            return False  # a lookup or a key that no plan may have
        before = refold.export(start)
        dry, fails = self.dry_counts(start)
        results = set()
        for number, options in enumerate(WAYS):
            table = self.path(f"way{number}.refold")
            shutil.copyfile(start, table)
            applied = self.applied_counts(table, options)
            # What apply did not reach it has no counts for, nor has the dry run.
            self.assertEqual(dry, applied[:len(dry)])
            self.assertEqual({row[2] for row in applied[len(dry):]} - {(0,) * 6}, set())
            results.add(refold.export(table))
            if not fails:
                self.assertIn("nothing to do", self.command("apply", table)[0])
                refold.run("verify", table)
            self.command("rollback", table, "--to", "0")
            self.assertEqual(refold.export(table), before)
            refold.run("verify", table)
            os.remove(table)
        self.assertEqual(len(results), 1)
        return True

    def test_laws_hold_for_random_cases(self):
        done = 0
        number = int(os.environ.get("RUNS_FROM", "0"))
        while done < CASES:
            number += 1
            case = SEED * 100000 + number
            with self.subTest(RUNS_SEED=SEED, case=case):
                try:
                    done += 1 if self.check(random.Random(case)) else 0
                except AssertionError:
                    kept = tempfile.mkdtemp(prefix=f"refold-case{case}-")
                    shutil.copytree(self.folder, kept, dirs_exist_ok=True)
                    done += 1
                    print(f"case {case} is kept in {kept}", file=sys.stderr)
                    raise
                finally:
                    for name in os.listdir(self.folder):
                        if name != "plans":
                            os.remove(self.path(name))


if __name__ == "__main__":
    unittest.main()
