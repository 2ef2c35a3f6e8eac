#!/usr/bin/env python3
"""Public fault reports of tools of this kind, replayed behind the DynamoDB API: pages, writes and values.

Tables lie on dynalite; between it and refold stands a stub that checks signatures and misbehaves as the case says. Dynalite
differs from DynamoDB: it has no transactions and no UpdateTable for indexes, and does not tell the item that failed a condition."""
import json
import os
import shutil
import signal
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import ddb_stub  # noqa: E402
import refold  # noqa: E402
from ddb_stub import failure  # noqa: E402

KEY_ID, (SECRET, _) = next(iter(ddb_stub.KEYS.items()))
ENVIRONMENT = {**ddb_servers.ENVIRONMENT, "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}


def item(partition, sort="A", **attributes):
    return {"PK": {"S": partition}, "SK": {"S": sort}, **attributes}


def is_ours(request):
    return b"__refold#" in request.raw


class Case(unittest.TestCase):
    """A table of its own on a server that all share, plans, and a stub between."""

    kind = "dynalite"

    @classmethod
    def setUpClass(cls):
        os.environ.update(ENVIRONMENT)
        cls.server = ddb_servers.Server(cls.kind)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.number = 0

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-case-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plans = os.path.join(self.folder, "plans")
        os.mkdir(self.plans)
        type(self).number += 1
        self.name = f"Case{self.number}"
        self.table = self.server.table(self.name)
        self.embedded = os.path.join(self.folder, "t.refold")
        self.options = ["--plans", self.plans, "--state", os.path.join(self.folder, "state")]

    def stub(self, answer=lambda request: None, **options):
        return ddb_stub.Stub(ddb_stub.relay(self.server, answer), **options)

    def through(self, stub, name=None):
        return f"dynamodb:{name or self.name}?endpoint={stub.url}&region=us-east-1"

    def lines(self, items):
        path = os.path.join(self.folder, "rows.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"Item": one}) + "\n" for one in items)
        return path

    def load(self, *items, tables=None):
        for table in tables or (self.table,):
            refold.run("import", table, "--from", self.lines(items), "--create")

    def plan(self, version, *steps):
        with open(os.path.join(self.plans, f"{version:04d}_plan.json"), "w", encoding="utf-8") as out:
            json.dump({"steps": list(steps)}, out)

    def apply(self, table, *more, expect=0):
        return refold.run("apply", table, *self.options, *more, expect=expect)

    def start(self, *arguments):
        return subprocess.Popen([refold.PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def start_apply(self, table, *more):
        return self.start("apply", table, *self.options, *more)

    def raw(self, name=None):
        """Items in DynamoDB JSON by (PK, SK), without control records."""
        found = [one for one in self.server.items(name or self.name) if not one["PK"]["S"].startswith("__refold#")]
        return {(one["PK"]["S"], one["SK"]["S"]): one for one in found}


class Scans(Case):
    def pages(self, *sizes):
        """Answers scans of the table with pages of so many of its items, in the order of their keys."""
        rows = [one for _, one in sorted(self.raw().items())]
        key_of = {0: None}
        at = 0
        for number, size in enumerate(sizes[:-1], start=1):
            at += size
            last = rows[at - 1]["PK"] if size else {"S": f"{rows[at - 1]['PK']['S']}{'~' * number}"}
            key_of[number] = {"PK": last, "SK": {"S": "A"}}
        starts = [key_of[n] for n in range(len(sizes))]

        def answer(request):
            if request.operation != "Scan":
                return None
            page = starts.index(request.body.get("ExclusiveStartKey"))
            begin = sum(sizes[:page])
            now = self.raw()
            reply = {"Items": [now[one["PK"]["S"], "A"] for one in rows[begin:begin + sizes[page]]], "Count": sizes[page]}
            return {**reply, **({"LastEvaluatedKey": starts[page + 1]} if page + 1 < len(sizes) else {})}
        return answer

    def test_scan_1_empty_pages_are_pages(self):
        """Killed while the second empty page is under way; a resume goes on behind what was read, and meets all items."""
        self.load(*[item(f"k{n}") for n in range(5)])
        for version, where in ((1, "attribute_exists(PK)"), (2, "begins_with(PK, 'k') AND attribute_not_exists(Filtered)")):
            self.plan(version, {"where": where, "set": {("Seen", "Filtered")[version - 1]: True}})
        answer = self.pages(3, 0, 0, 2)
        for version, name in ((1, "Seen"), (2, "Filtered")):
            running, asked = [], []

            def misbehave(request):
                reply = answer(request)
                if request.operation == "Scan":
                    asked.append(request.body.get("ExclusiveStartKey"))
                    if len(asked) == 3:
                        running[0].kill()
                        running[0].wait()
                return reply

            with self.stub(misbehave) as stub:
                running.append(self.start_apply(self.through(stub), "--segments", "1", "--workers", "1", "--to", str(version)))
                running[0].communicate()
                begun = len(asked)
                self.apply(self.through(stub), "--to", str(version))
            self.assertEqual(len(asked[:begun]), 3)
            self.assertIn(asked[begun], asked[:3])
            self.assertEqual([one.get(name) for one in self.raw().values()], [{"BOOL": True}] * 5)
        self.assertIn("nothing to do", self.apply(self.table)[0])

    def kill_at_checkpoint(self, number, *options):
        """Applies with two items a page, and is killed as that checkpoint is about to be written: the ones before stand."""
        running, written = [], []

        def answer(request):
            if request.operation == "Scan":
                return self.server.call("Scan", {**request.body, "Limit": 2})
            if request.operation == "PutItem" and b"checkpoint/" in request.raw:
                written.append(request)
                if len(written) == number:
                    running[0].kill()
                    running[0].wait()
                    return failure("InternalServerError", status=500)
            return None

        with self.stub(answer) as stub:
            running.append(self.start_apply(self.through(stub), *options))
            running[0].communicate()
        self.assertEqual(running[0].returncode, -signal.SIGKILL)

    def test_scan_3_a_resume_keeps_the_number_of_segments(self):
        """Whatever the flag says on the machine where the run goes on."""
        self.load(*[item(f"k{n}") for n in range(40)])
        for version, segments in ((1, "8"), (2, "3")):
            self.plan(version, {"where": f"attribute_not_exists(V{version})", "set": {f"V{version}": True}})
            self.kill_at_checkpoint(3, "--segments", "4", "--workers", "1")
            scans = []

            def watch(request):
                if request.operation == "Scan":
                    scans.append(request.body)

            with self.stub(watch) as stub:
                self.apply(self.through(stub), "--segments", segments)
            self.assertEqual({scan.get("TotalSegments") for scan in scans}, {4})
            self.assertTrue(all(f"V{version}" in one for one in self.raw().values()))

    def test_scan_3_a_checkpoint_of_another_table_is_refused(self):
        """Table B holds the control records of table A, as a copy or a restored backup does."""
        self.load(*[item(f"k{n}") for n in range(20)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}})
        self.kill_at_checkpoint(3, "--segments", "4", "--workers", "1")
        other = self.name + "Copy"
        self.load(*[item(f"k{n}") for n in range(20)], tables=[self.server.table(other)])
        for one in self.server.items(self.name):
            if one["PK"]["S"].startswith("__refold#"):
                self.server.call("PutItem", {"TableName": other, "Item": one})
        before = self.raw(other)
        _, err = self.apply(self.server.table(other), expect=(1, 2))
        self.assertIn("another table", err)
        self.assertIn("hint: ", err)
        self.assertEqual(self.raw(other), before)
        self.apply(self.table)

    def test_scan_3_a_refused_start_key_is_final(self):
        self.load(*[item(f"k{n}") for n in range(20)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}})
        refused = []

        def answer(request):
            if request.operation == "Scan" and "ExclusiveStartKey" in request.body:
                refused.append(request)
                return failure("ValidationException", "The provided starting key is invalid")
            return self.server.call("Scan", {**request.body, "Limit": 2}) if request.operation == "Scan" else None

        with self.stub(answer) as stub:
            _, err = self.apply(self.through(stub), "--segments", "1", expect=1)
        self.assertEqual(len(refused), 1)
        self.assertIn("starting key is invalid", err)
        self.assertIn("segment 0", err)
        self.apply(self.table)
        self.assertTrue(all("V" in one for one in self.raw().values()))

    def ignoring_segments(self, request):
        """The whole table for every segment, page by page."""
        if request.operation != "Scan":
            return None
        body = {name: value for name, value in request.body.items() if name not in ("Segment", "TotalSegments")}
        return self.server.call("Scan", {**body, "Limit": 7})

    def test_scan_5_an_endpoint_that_ignores_segments(self):
        """Each item is changed once, whoever meets it, and the overlap is said."""
        self.load(*[item(f"k{n}", Count={"N": str(n)}) for n in range(30)])
        self.plan(1, {"where": "attribute_not_exists(Counted)", "set": {"Count": "${Count + 1}", "Counted": True}})
        self.plan(2, {"where": "begins_with(PK, 'k')", "rekey": {"PK": "new#${after(PK, 'k')}"}})
        with self.stub(self.ignoring_segments) as stub:
            out, err = self.apply(self.through(stub), "--segments", "8")
        self.assertEqual(err.count("the server gives every segment the whole table"), 1)
        self.assertEqual(out.count("    30       30          0        0       0"), 2, out)
        found = {pk: one["Count"]["N"] for (pk, _), one in self.raw().items()}
        self.assertEqual(found, {f"new#{n}": str(n + 1) for n in range(30)})

    def test_scan_5_an_endpoint_that_splits_by_row(self):
        """Rows that go make the rest move up into segments that were read already: a sweep finds what was not met."""
        self.load(*[item(f"k{n}") for n in range(40)])
        self.plan(1, {"where": "begins_with(PK, 'k')", "delete": True})

        def by_row(request):
            if request.operation != "Scan":
                return None
            rows = sorted(self.raw().items())
            part = len(rows) / request.body.get("TotalSegments", 1)
            index = request.body.get("Segment", 0)
            return {"Items": [one for _, one in rows[round(index * part):round((index + 1) * part)]]}

        with self.stub(by_row) as stub:
            self.apply(self.through(stub), "--segments", "8", "--workers", "1")
            left = len(self.raw())
            self.assertGreater(left, 0)
            out, _ = self.apply(self.through(stub), "--sweep")
        self.assertIn(f"swept, {left} written", out)
        self.assertEqual(self.raw(), {})


if __name__ == "__main__":
    unittest.main()
