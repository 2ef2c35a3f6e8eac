#!/usr/bin/env python3
"""Indexes of a table in a file: filling them shows how far it is and ends soon after a signal, and the same command goes on."""
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import refold  # noqa: E402

FOLDER = os.environ.get("TEST_PROGRAMS", os.path.join(ROOT, "build", "dev"))
ITEMS = 20000  # so many that a slowed run would take minutes longer
SOON_S = 15    # for ending, on a busy machine
CREATE = {"steps": [{"create_index": {"name": "ByGroup", "partition": "Group:S"}}]}


def rows(group, count=ITEMS):
    return [{"PK": {"S": f"K#{n:06}"}, "SK": {"S": "A"}, "Group": {"S": group(n)}} for n in range(count)]


class Stopped(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-stop-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plans = os.path.join(self.folder, "plans")
        os.mkdir(self.plans)
        self.table = os.path.join(self.folder, "t.refold")

    def source(self, items):
        path = os.path.join(self.folder, "rows.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"Item": one}) + "\n" for one in items)
        return path

    def load(self, items):
        refold.run("import", self.table, "--from", self.source(items))

    def plan(self, version, content):
        with open(os.path.join(self.plans, f"{version:04}_plan.json"), "w", encoding="utf-8") as out:
            json.dump(content, out)

    def command(self, name, *options, expect=0):
        return refold.run(name, self.table, "--plans", self.plans, *options, expect=expect)

    def indexes(self):
        status = json.loads(self.command("status", "--format", "json")[0])
        return {index["name"]: (index["active"], index["entries"]) for index in status["indexes"]}

    def interrupt(self, slow, number, until, *arguments):
        """Runs the program with one thing slowed, until it says so much; then it gets the signal."""
        run = refold.Started(*arguments, env={**os.environ, "LD_PRELOAD": os.path.join(FOLDER, "libslow_lmdb.so"), "SLOW": slow})
        run.wait_for(until)
        sent = time.monotonic()
        run.process.send_signal(number)
        _, said = run.end(expect=5)
        self.assertLess(time.monotonic() - sent, SOON_S)
        self.assertIn("interrupted", said)
        return said

    def apply_interrupted(self, slow, number, until):
        said = self.interrupt(slow, number, until, "apply", self.table, "--plans", self.plans)
        self.assertIn("hint: run the same command again", said)
        self.assertEqual(json.loads(self.command("status", "--format", "json")[0])["plans"][-1]["state"], "interrupted")
        return said

    def expect_applied(self):
        self.command("apply")
        self.assertEqual(self.indexes(), {"ByGroup": (True, ITEMS)})
        refold.run("verify", self.table)

    def test_a_new_index_while_items_are_read(self):
        self.load(rows(lambda n: "g"))
        self.plan(1, CREATE)
        said = self.apply_interrupted("read", signal.SIGINT, "reading for index ByGroup  ")
        self.assertRegex(said, r"reading for index ByGroup  \d+ %  [\d,]+ of 20,000")
        self.assertEqual(self.indexes()["ByGroup"][0], False)
        self.expect_applied()
        self.assertEqual(len(refold.query(self.table, "Group = 'g'", "--index", "ByGroup")), ITEMS)

    def test_a_new_index_while_it_gets_entries(self):
        self.load(rows(lambda n: "g"))
        self.plan(1, CREATE)
        said = self.apply_interrupted("append", signal.SIGTERM, "filling index ByGroup  ")
        self.assertRegex(said, r"filling index ByGroup  \d+ %  [\d,]+ of 20,000")
        self.assertEqual(self.indexes()["ByGroup"][0], False)
        self.expect_applied()

    def make_anew(self):
        """A plan that changes so much of an index that it is made anew at the end."""
        self.load(rows(lambda n: "old"))
        self.plan(1, CREATE)
        self.command("apply")
        self.plan(2, {"steps": [{"set": {"Group": "new"}}]})

    def test_an_index_that_is_made_anew_answers_as_before(self):
        self.make_anew()
        self.apply_interrupted("append", signal.SIGINT, "filling index ByGroup  ")
        old = refold.query(self.table, "Group = 'old'", "--index", "ByGroup")
        self.assertGreater(len(old), 0)
        self.assertEqual({item["Group"] for item in old}, {"new"})
        self.expect_applied()
        self.assertEqual(len(refold.query(self.table, "Group = 'new'", "--index", "ByGroup")), ITEMS)

    def test_a_rollback_that_makes_it_anew(self):
        self.make_anew()
        self.command("apply")
        said = self.interrupt("read", signal.SIGINT, "reading for index ByGroup  ", "rollback", self.table, "--plans", self.plans)
        self.assertIn("interrupted in the rollback of plan 0002", said)
        self.command("rollback")
        self.assertEqual(self.indexes(), {"ByGroup": (True, ITEMS)})
        self.assertEqual(len(refold.query(self.table, "Group = 'old'", "--index", "ByGroup")), ITEMS)
        refold.run("verify", self.table)

    def test_a_load_leaves_the_table_empty(self):
        self.load([])
        self.plan(1, CREATE)
        self.command("apply")
        source = self.source(rows(lambda n: "g"))
        said = self.interrupt("append", signal.SIGTERM, "filling indexes  ", "import", self.table, "--from", source)
        self.assertRegex(said, r"filling indexes  \d+ %  [\d,]+ of 20,000")
        self.assertEqual(refold.export(self.table), "")
        refold.run("verify", self.table)
        refold.run("import", self.table, "--from", source)
        self.expect_applied()


if __name__ == "__main__":
    unittest.main()
