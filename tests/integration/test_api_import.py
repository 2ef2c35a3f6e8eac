#!/usr/bin/env python3
"""Imports into a table behind the DynamoDB API that others write to, broken off and started again: they know what they have
written themselves.

Items on a server carry no number of the pass that wrote them, as records of an embedded table do. dynoxide takes statements, so
that items go together there; dynalite takes none."""
import os
import signal
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_case import Case, item  # noqa: E402
from ddb_stub import failure  # noqa: E402

ROWS = 620  # more than are compared and written together


class Restarts:
    def setUp(self):
        super().setUp()
        self.load(item("theirs", V={"S": "theirs"}), item("k3x", V={"S": "theirs"}))

    def rows(self, changed="", removed=()):
        return self.write_rows([item(f"k{n}", V={"S": f"{changed}{n}" if n % 2 else str(n)}) for n in range(ROWS) if n not in removed])

    def broken_off(self, rows, puts, *options):
        """Imports, killed when so many items are put."""
        running, seen = [], []

        def answer(request):
            items = ddb_servers.put(request.operation, request.raw)
            seen.extend(items)
            if len(seen) - len(items) < puts <= len(seen):
                running[0].kill()
                running[0].wait()

        with self.stub(answer) as stub:
            running.append(self.start("import", self.through(stub), "--from", rows, *options))
            running[0].communicate()
        self.assertEqual(running[0].returncode, -9)
        self.assertGreaterEqual(len(self.raw()), min(puts, 500))

    def values(self):
        return {pk: one["V"]["S"] for (pk, _), one in self.raw().items()}

    def test_a_restart_takes_what_it_wrote_for_its_own(self):
        """Twice broken off, the source changed between: rows that went are gone, rows that changed are as they are now."""
        self.broken_off(self.rows(), ROWS - 20)
        self.broken_off(self.rows("second "), 100)
        rows = self.rows("third ", removed=(10, 11))
        out, _ = refold.run("import", self.table, "--from", rows)
        self.assertIn("2 of the broken-off attempt removed", out)
        wanted = {f"k{n}": f"third {n}" if n % 2 else str(n) for n in range(ROWS) if n not in (10, 11)}
        self.assertEqual(self.values(), {**wanted, "theirs": "theirs", "k3x": "theirs"})
        self.assertEqual([one["SK"]["S"] for one in self.server.items(self.name) if "import/" in one["SK"]["S"]], [])
        refold.run("import", self.table, "--from", rows)

    def test_a_restart_leaves_alone_what_others_wrote(self):
        """Since then, or before: other content is a conflict as ever, and nothing of theirs is removed."""
        self.broken_off(self.rows(), ROWS - 20)
        key = {"TableName": self.name, "Key": {"PK": {"S": "k4"}, "SK": {"S": "A"}}}
        self.server.call("UpdateItem", {**key, "UpdateExpression": "SET V = :v", "ExpressionAttributeValues": {":v": {"S": "theirs now"}}})
        _, err = refold.run("import", self.table, "--from", self.rows(), expect=1)
        self.assertIn("PK='k4'", err)
        self.assertEqual(self.values()["k4"], "theirs now")
        refold.run("import", self.table, "--from", self.rows(removed=(4,)))
        self.assertEqual(self.values()["k4"], "theirs now")
        self.assertEqual(len(self.values()), ROWS + 2)

    def test_a_restart_overwrites_only_what_it_has_seen(self):
        """An item of its own is changed after it was read, just before what is written next is noted."""
        self.broken_off(self.rows(), ROWS - 20)

        def answer(request):
            if request.operation == "PutItem" and b"import/" in request.raw:
                self.server.call("PutItem", {"TableName": self.name, "Item": item("k5", V={"S": "theirs"})})

        with self.stub(answer) as stub:
            _, err = refold.run("import", self.through(stub), "--from", self.rows("second "), expect=1)
        self.assertIn("PK='k5'", err)
        self.assertEqual(self.values()["k5"], "theirs")

    def test_a_finished_import_owns_nothing(self):
        refold.run("import", self.table, "--from", self.rows())
        _, err = refold.run("import", self.table, "--from", self.rows("second "), expect=1)
        self.assertIn("stands already with other content", err)

    def test_beside_applied_plans_only_a_restart_needs_no_word(self):
        self.plan(1, {"where": "begins_with(PK, 'k')", "set": {"Seen": True}})
        self.apply(self.table)
        _, err = refold.run("import", self.table, "--from", self.rows(), expect=2)
        self.assertIn("plans up to 0001 are applied", err)
        self.assertEqual(len(self.values()), 2)
        self.broken_off(self.rows(), ROWS - 20, "--on-conflict", "fail")
        refold.run("import", self.table, "--from", self.rows())
        self.assertEqual(len(self.values()), ROWS + 2)
        refold.run("import", self.table, "--from", self.rows(), expect=2)


class RestartsOneByOne(Restarts, Case):
    pass


class RestartsTogether(Restarts, Case):
    kind = "dynoxide"


class Shared:
    """Imports ROWS items, while an application writes."""

    def setUp(self):
        super().setUp()
        self.rows = self.write_rows(item(f"k{n}", V={"S": str(n)}) for n in range(ROWS))

    def write(self, *partitions):
        for partition in partitions:
            self.server.call("PutItem", {"TableName": self.name, "Item": item(partition, V={"S": "theirs"})})

    def run_import(self, *more, at, act, expect=0):
        """Calls act(process) when the request that writes the item of that number is about to reach the server, or the first that
        holds an item of that name; what it returns is the reply."""
        running, seen, acted, operations = [], [], [], set()

        def answer(request):
            keys = [one["PK"]["S"] for one in ddb_servers.put(request.operation, request.raw)]
            if not keys:
                return None
            seen.extend(keys)
            operations.add(request.operation)
            if acted or not (len(seen) >= at if isinstance(at, int) else at in keys):
                return None
            acted.append(request)
            return act(running[0])

        with self.stub(answer) as stub:
            running.append(self.start("import", self.through(stub), "--from", self.rows, *more))
            out, err = (text.decode() for text in running[0].communicate())
        self.assertEqual(len(acted), 1)
        self.assertEqual(running[0].returncode, expect, err)
        self.operations = operations
        return out, err

    def kill(self, process):
        process.kill()
        process.wait()

    def interrupt(self, process):
        self.write("mine")
        process.send_signal(signal.SIGINT)

    def assert_holds(self, *theirs, imported=True):
        """Those items of the application, all others of the import or none; no notes are left."""
        values = {pk: one["V"]["S"] for (pk, _), one in self.raw().items()}
        self.assertEqual(values, {**({f"k{n}": str(n) for n in range(ROWS)} if imported else {}), **dict.fromkeys(theirs, "theirs")})
        self.assertEqual([one["SK"]["S"] for one in self.server.items(self.name) if "import/" in one["SK"]["S"]], [])


class Empty(Shared):
    """A table that stood empty when the import began: the application may know of it."""

    def setUp(self):
        super().setUp()
        self.server.make_table(self.name)

    def test_a_standing_table_is_filled(self):
        self.run_import(at=1, act=lambda _: None)
        self.assertEqual(self.operations, self.writes)
        self.assert_holds()

    def test_an_interrupted_import_takes_back_its_own(self):
        self.run_import(at=1, act=self.interrupt, expect=5)
        self.assert_holds("mine", imported=False)
        refold.run("import", self.table, "--from", self.rows)
        self.assert_holds("mine")

    def test_what_is_written_meanwhile_conflicts(self):
        """As what stood before; what the import has written goes again."""
        _, err = self.run_import(at="k3", act=lambda _: self.write("mine", "k3"), expect=1)
        self.assertIn("PK='k3'", err)
        self.assertIn("stands already with other content", err)
        self.assert_holds("mine", "k3", imported=False)

    def test_what_is_written_meanwhile_is_skipped_or_overwritten_where_told(self):
        out, _ = self.run_import("--on-conflict", "skip", at="k3", act=lambda _: self.write("k3"))
        self.assertRegex(out, r"\b1 differs and is kept")
        self.assert_holds("k3")
        self.name += "again"
        self.server.make_table(self.name)
        self.run_import("--on-conflict", "overwrite", at="k3", act=lambda _: self.write("k3"))
        self.assert_holds()

    def test_a_restart_takes_back_its_own(self):
        """Killed; then the application writes, and changes an item that was imported."""
        self.run_import(at=600, act=self.kill, expect=-9)
        changed = next(pk for pk, _ in self.raw())
        self.write("mine", changed)
        _, err = refold.run("import", self.table, "--from", self.rows, expect=1)
        self.assertIn(f"PK='{changed}'", err)
        self.assert_holds("mine", changed, imported=False)
        refold.run("import", self.table, "--from", self.rows, "--on-conflict", "skip")
        self.assert_holds("mine", changed)


class EmptyOneByOne(Empty, Case):
    writes = {"PutItem"}


class EmptyTogether(Empty, Case):
    kind = "dynoxide"
    writes = {"BatchExecuteStatement"}


class Made(Shared):
    """A table that the import makes: nobody else has items there, so that 25 go in a request. Once that is broken off, others may."""

    def test_a_made_table_is_filled_in_batches(self):
        self.run_import("--create", at=1, act=lambda _: None)
        self.assertEqual(self.operations, {"BatchWriteItem"})
        self.assert_holds()

    def test_an_interrupted_import_takes_back_its_own(self):
        self.run_import("--create", at=1, act=self.interrupt, expect=5)
        self.assert_holds("mine", imported=False)

    def test_a_refused_import_takes_back_its_own(self):
        def refuse(_):
            self.write("mine")
            return failure("ValidationException", "no")

        self.run_import("--create", at=540, act=refuse, expect=1)
        self.assert_holds("mine", imported=False)

    def test_a_restart_takes_back_its_own(self):
        """And then asks what stands, as whoever waited for the table may write to it."""
        self.run_import("--create", at=540, act=self.kill, expect=-9)
        self.assertGreaterEqual(len(self.raw()), 500)
        self.write("mine")
        self.run_import("--create", at="k3", act=lambda _: self.write("k3"), expect=1)
        self.run_import("--on-conflict", "skip", at=1, act=lambda _: None)
        self.assertEqual(self.operations, self.writes)
        self.assert_holds("mine", "k3")


class MadeOneByOne(Made, Case):
    writes = {"PutItem"}


class MadeTogether(Made, Case):
    kind = "dynoxide"
    writes = {"BatchExecuteStatement"}


if __name__ == "__main__":
    unittest.main()
