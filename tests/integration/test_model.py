#!/usr/bin/env python3
"""Random plans over random tables, against the model in tests/support/model*.py.

    MODEL_RUNS=500 MODEL_FIRST=1000 python3 tests/integration/test_model.py     so many cases, from that seed on
    MODEL_SEED=1017 python3 tests/integration/test_model.py                     that one again
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import refold  # noqa: E402
from model import Index, Stage, Step, ordered  # noqa: E402
from model_pass import Pass  # noqa: E402
from model_plans import Maker, item_json, item_read, spell_literal, spell_step  # noqa: E402

# What is tested here is no durability.
TEMP = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
COUNTS = ("matched", "written", "unchanged", "skipped", "failed", "overwritten")


def counts_of(steps):
    """By label, in the order of COUNTS."""
    return {step["label"]: tuple(step[name] for name in COUNTS) for step in steps}


def rehearsed(plan):
    return counts_of(step for stage in plan["stages"] if stage["kind"] == "pass" for step in stage["steps"])


class Run:
    """The model's run of one plan. After item errors run() takes up the pass again."""

    def __init__(self, schema, table, indexes, steps):
        self.schema, self.table, self.indexes = schema, dict(table), dict(indexes)
        self.known = [*indexes.values(), *(step for step in steps if isinstance(step, Index))]
        self.types = dict(schema.key())
        for index in self.known:
            self.types.update(index.key())
        self.stages = self.divide(steps)
        self.place, self.seen = 0, set()
        self.passes = {}  # by place

    @staticmethod
    def divide(steps):
        stages = [[]]
        for step in steps:
            if isinstance(step, Step):
                stages[-1].append(step)
            else:
                stages += [step, []]
        return [stage for stage in stages if stage not in ([], "pass")]

    def run(self):
        """True if the plan is applied, False if it has failed."""
        while self.place < len(self.stages):
            if not self.run_stage(self.stages[self.place]):
                return False
            self.place, self.seen = self.place + 1, set()
        return True

    def run_stage(self, stage):
        if isinstance(stage, str):
            del self.indexes[stage]
        elif isinstance(stage, Index):
            if not stage.leave_out and any(stage.violates(item) for item in self.table.values()):
                return False
            self.indexes[stage.name] = stage
        else:
            done = Pass(Stage(self.schema, stage, self.table, self.types, self.known), self.seen)
            self.table, self.seen, self.passes[self.place] = done.table, self.seen | set(done.new), done
            return done.errors == 0
        return True


class Case:
    """One table, and the plans that run over it."""

    def __init__(self, test, seed, folder):
        self.test, self.folder, self.rng = test, folder, random.Random(seed)
        self.maker = Maker(self.rng)
        self.schema = self.maker.schema
        self.table, self.indexes = self.maker.table(), {}
        self.plans, self.target = os.path.join(folder, "plans"), os.path.join(folder, "t.refold")
        self.befores = []  # exports before each plan that was applied
        self.tally = Counter()
        os.mkdir(self.plans)

    # ------------------------------------------------------------ the program

    def load(self):
        rows = os.path.join(self.folder, "rows.jsonl")
        with open(rows, "w", encoding="utf-8") as out:
            for item in self.table.values():
                out.write(json.dumps({"Item": item_json(item)}) + "\n")
        sort = ["--sort", ":".join(self.schema.sort)] if self.schema.sort else []
        refold.run("import", self.target, "--from", rows, "--partition", ":".join(self.schema.partition), *sort)

    def command(self, name, *options, target=None):
        """Exit status and report; of status 2 the message instead."""
        command = [refold.PROGRAM, name, target or self.target, "--plans", self.plans, "--format", "json", *map(str, options)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode == 2:
            return 2, done.stderr.decode()
        self.test.assertTrue(done.stdout, f"exit {done.returncode} of {command}: {done.stderr.decode()}")
        return done.returncode, json.loads(done.stdout)

    def expect(self, status, name, *options, target=None):
        found, report = self.command(name, *options, target=target)
        self.test.assertEqual(found, status, f"exit status of {name} {options}: {report}")
        return report

    def exported(self, target=None):
        return refold.export(target or self.target)

    def verify(self):
        refold.run("verify", self.target)

    # ------------------------------------------------------------ comparing

    def compare_table(self, table, text):
        items = (item_read(json.loads(line)["Item"]) for line in text.splitlines())
        found = {self.schema.of(item): item for item in items}
        differing = [key for key in {*found, *table} if found.get(key) != table.get(key)]
        lines = [f"{key}\n   program {found.get(key)}\n   model   {table.get(key)}" for key in differing[:5]]
        self.test.assertFalse(differing, f"{len(differing)} items differ\n" + "\n".join(lines))

    def compare_counts(self, run, found):
        """`found`: by label, of the passes that this attempt ran."""
        for place, done in run.passes.items():
            steps = run.stages[place]
            labels = [f"steps[{step.number}]" for step in steps]
            if labels[0] not in found:
                continue
            for label, counts in zip(labels, done.counts):
                _, written, unchanged, skipped, _, overwritten = found[label]
                self.test.assertEqual((written, unchanged, skipped, overwritten),
                                      (counts.written, counts.unchanged, counts.skipped, counts.overwritten), f"{label}: program, model")
            self.test.assertEqual(sum(found[label][4] for label in labels), done.errors, f"item errors, {labels}: program, model")

    def compare_index(self, index):
        groups = {}
        for item in self.table.values():
            if index.holds(item):
                groups.setdefault(tuple(item[name] for name, _ in index.partition), []).append(item)
        for partition in self.rng.sample(sorted(groups, key=repr), min(3, len(groups))):
            condition = " AND ".join(f"{name} = {spell_literal(value)}" for (name, _), value in zip(index.partition, partition))
            out, _ = refold.run("query", self.target, condition, "--index", index.name, "--format", "json")
            found = [item_read(json.loads(line)["Item"]) for line in out.splitlines()]
            order = [tuple(ordered(item[name]) for name, _ in index.sort) for item in found]
            self.test.assertEqual(order, sorted(order), f"order of {index.name}, {condition}")
            self.test.assertCountEqual(found, [self.project(index, item) for item in groups[partition]], f"{index.name}, {condition}")

    def project(self, index, item):
        names = {name for name, _ in self.schema.key() + index.key()}
        names |= set(item) if index.projection == "ALL" else set() if index.projection == "KEYS_ONLY" else set(index.projection["include"])
        return {name: value for name, value in item.items() if name in names}

    def compare_indexes(self, dry):
        """What the dry run said of them, and what they hold."""
        standing = {index["name"]: index for index in self.expect(0, "status")["indexes"]}
        self.test.assertEqual(set(standing), set(self.indexes))
        for foretold in dry["indexes"]:
            entries = standing[foretold["name"]]["entries"]
            agrees = self.test.assertEqual if foretold["exact"] else self.test.assertLessEqual
            agrees(entries, foretold["entries"], f"entries of {foretold['name']}: as they are, as the dry run has them")
        for name, index in self.indexes.items():
            self.test.assertEqual(standing[name]["entries"], sum(index.holds(item) for item in self.table.values()), f"entries of {name}")
            self.compare_index(index)

    # ------------------------------------------------------------ one plan

    def write_plan(self, version, steps):
        path = os.path.join(self.plans, f"{version:04d}_p.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"steps": [spell_step(step) for step in steps]}, out)
        return path

    def try_plan(self, version, steps):
        """Rehearses, applies and, where it fails, takes back a plan. True if it was applied, None if it was refused."""
        path, before = self.write_plan(version, steps), self.exported()
        self.tally["plans"] += 1
        status, dry = self.rehearse()
        if status == 2:
            self.tally["refused"] += 1
            os.unlink(path)
            return None
        run = Run(self.schema, self.table, self.indexes, steps)
        applied = run.run()
        self.tally["collisions"] += sum(len(done.ruling.groups) for done in run.passes.values())
        earlier = self.attempt(run, applied, status, dry, {})
        if applied:
            self.table, self.indexes = run.table, run.indexes
            self.befores.append(before)
            self.settle(dry["plans"][0])
            return True
        self.tally["failed"] += 1
        status, dry = self.rehearse()
        self.attempt(run, run.run(), status, dry, earlier)
        self.expect(0, "rollback")
        self.test.assertEqual(self.exported(), before, "rollback of a failed plan")
        self.verify()
        os.unlink(path)
        return False

    def rehearse(self):
        with open(self.target, "rb") as file:
            content = file.read()
        status, dry = self.command("apply", "--dry-run")
        with open(self.target, "rb") as file:
            self.test.assertEqual(file.read(), content, "a dry run changed the file")
        return status, dry

    def attempt(self, run, applied, status, dry, earlier):
        """Applies the plan and compares it. What earlier attempts have overwritten stays in its record."""
        self.test.assertEqual(status, 4 if applied else 3, f"exit status of the dry run: {dry}")
        options = ["--workers", self.rng.choice([1, 2, 4]), "--segments", self.rng.choice([1, 3, 64])]
        record = self.expect(0 if applied else 3, "apply", *options)["plans"][-1]
        overwritten = {step["label"]: step["overwritten"] for step in record["steps"]}
        for step in record["steps"]:
            step["overwritten"] -= earlier.get(step["label"], 0)
        foretold = rehearsed(dry["plans"][0])
        real = counts_of(record["steps"])
        self.test.assertEqual({label: real[label] for label in foretold}, foretold, "counts: apply, dry run")
        self.compare_counts(run, foretold)
        self.compare_table(run.table, self.exported())
        return overwritten

    def settle(self, dry):
        """A second apply has nothing to do; the table and its indexes are whole."""
        after = self.exported()
        self.expect(0, "apply")
        self.test.assertEqual(self.exported(), after)
        self.verify()
        self.compare_indexes(dry)

    # ------------------------------------------------------------ the whole

    def run(self):
        self.load()
        fresh = os.path.join(self.folder, "fresh.refold")
        shutil.copy(self.target, fresh)
        self.compare_table(self.table, self.exported())
        steps, outcome = None, None
        for _ in range(self.rng.randint(2, 5)):
            if steps is None or self.rng.random() < 0.85:
                steps = self.maker.plan(self.indexes)
            outcome = self.try_plan(len(self.befores) + 1, steps)
        self.run_together(fresh, steps if outcome is False else None)
        for before in reversed(self.befores):
            self.expect(0, "rollback")
            self.test.assertEqual(self.exported(), before, "rollback")
            self.verify()

    def run_together(self, fresh, failing):
        """All plans at once, on copies, with other numbers of threads and parts; perhaps with one more that fails."""
        table, results = self.table, []
        if failing is not None:
            path = self.write_plan(len(self.befores) + 1, failing)
            run = Run(self.schema, self.table, self.indexes, failing)
            self.test.assertFalse(run.run())
            table = run.table
        for workers, segments in ((1, 64), (4, 1)):
            copy = os.path.join(self.folder, f"copy{workers}.refold")
            shutil.copy(fresh, copy)
            if os.listdir(self.plans):
                results.append(self.apply_all(copy, failing, "--workers", workers, "--segments", segments))
            self.compare_table(table, self.exported(copy))
        self.test.assertEqual(results[:1], results[1:], "counts, by threads and parts")
        if failing is not None:
            os.unlink(path)

    def apply_all(self, copy, failing, *options):
        dry = self.expect(4 if failing is None else 3, "apply", "--dry-run", *options, target=copy)
        real = self.expect(0 if failing is None else 3, "apply", *options, target=copy)
        foretold = [rehearsed(plan) for plan in dry["plans"]]
        found = [counts_of(plan["steps"]) for plan in real["plans"]]
        reached = [{label: counts[label] for label in steps} for counts, steps in zip(found, foretold)]
        self.test.assertEqual((reached, len(found)), (foretold, len(foretold)), "counts of all plans: apply, dry run")
        return foretold


class Model(unittest.TestCase):
    def run_case(self, seed):
        folder = tempfile.mkdtemp(prefix="refold-model-", dir=TEMP)
        try:
            case = Case(self, seed, folder)
            case.run()
            return case.tally
        except Exception as error:
            raise AssertionError(f"MODEL_SEED={seed}\n{self.read_plans(folder)}{error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def read_plans(folder):
        text = ""
        for name in sorted(os.listdir(os.path.join(folder, "plans"))):
            with open(os.path.join(folder, "plans", name), encoding="utf-8") as file:
                text += f"{name}: {file.read()}\n"
        return text

    def test_plans_do_what_the_language_says(self):
        first, runs = int(os.environ.get("MODEL_FIRST", "0")), int(os.environ.get("MODEL_RUNS", "60"))
        seeds = [int(os.environ["MODEL_SEED"])] if "MODEL_SEED" in os.environ else range(first, first + runs)
        tally = Counter()
        for seed in seeds:
            with self.subTest(seed=seed):
                tally += self.run_case(seed)
        print(dict(tally), file=sys.stderr)
        if len(seeds) >= 50:  # what is refused, or meets no other item, shows little
            self.assertLess(tally["refused"], tally["plans"] / 4)
            self.assertLess(tally["failed"], tally["plans"] / 2)
            self.assertGreater(tally["collisions"], tally["plans"] / 2)


if __name__ == "__main__":
    unittest.main()
