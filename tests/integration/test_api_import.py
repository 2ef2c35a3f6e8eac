#!/usr/bin/env python3
"""An import into a table with items behind the DynamoDB API, broken off and started again: it knows what it has written itself.

Items on a server carry no number of the pass that wrote them, as records of an embedded table do."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import refold  # noqa: E402
from api_case import Case, is_ours, item  # noqa: E402

ROWS = 620  # more than are compared and written together


class Restarts(Case):
    def setUp(self):
        super().setUp()
        self.load(item("theirs", V={"S": "theirs"}), item("k3x", V={"S": "theirs"}))

    def rows(self, changed="", removed=()):
        return self.write_rows([item(f"k{n}", V={"S": f"{changed}{n}" if n % 2 else str(n)}) for n in range(ROWS) if n not in removed])

    def broken_off(self, rows, puts, *options):
        """Imports, killed at that put of an item."""
        running, seen = [], []

        def answer(request):
            if request.operation == "PutItem" and not is_ours(request):
                seen.append(request)
                if len(seen) == puts:
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


if __name__ == "__main__":
    unittest.main()
