#!/usr/bin/env python3
"""Large items on a server: no request is longer than DynamoDB takes, and only so much of them is under way at a time."""
import os
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_case import Case, is_ours, item  # noqa: E402
from ddb_stub import Reply  # noqa: E402

REQUEST_MOST = 16_000_000  # DynamoDB API Reference, BatchWriteItem: "over the network"
UNDER_WAY = 16 << 20  # of refold's own choice, and one request more
TEXT = "\u0001" * 110_000  # six times as much in JSON
ITEMS = 72


class Large(Case):
    kind = "dynoxide"

    def setUp(self):
        super().setUp()
        self.lock = threading.Lock()
        self.under_way, self.most, self.longest, self.operations = 0, 0, 0, set()

    def rows(self, prefix="k"):
        return [item(f"{prefix}{n}", V={"S": TEXT}) for n in range(ITEMS)]

    def answer(self, request):
        """Slowly, so that what may be under way is."""
        if is_ours(request) or len(request.raw) < len(TEXT):
            return None
        with self.lock:
            self.operations.add(request.operation)
            self.under_way += len(request.raw)
            self.longest, self.most = max(self.longest, len(request.raw)), max(self.most, self.under_way)
        status, content = self.server.exchange(request.operation, request.raw)
        time.sleep(0.2)
        with self.lock:
            self.under_way -= len(request.raw)
        return Reply(content, status=status)

    def run_slowly(self, command, *options):
        with self.stub(self.answer, check=False) as stub:
            refold.run(command, self.through(stub), *options)
        self.assertGreaterEqual(self.most, 2 * self.longest, "several requests are under way")
        self.assertLess(self.longest, REQUEST_MOST)
        self.assertLess(self.most, UNDER_WAY + self.longest)

    def assert_holds(self, prefix):
        self.assertEqual({key: one["V"]["S"] == TEXT for key, one in self.raw().items()}, {(f"{prefix}{n}", "A"): True for n in range(ITEMS)})

    def test_an_import_into_a_new_table(self):
        self.run_slowly("import", "--from", self.write_rows(self.rows()), "--create")
        self.assertEqual(self.operations, {"BatchWriteItem"})
        self.assert_holds("k")

    def test_an_import_into_a_standing_table(self):
        self.server.make_table(self.name)
        self.run_slowly("import", "--from", self.write_rows(self.rows()))
        self.assertEqual(self.operations, {"BatchExecuteStatement"})
        self.assert_holds("k")

    def test_moves(self):
        """Each takes an item twice: it is put, and is what the delete asks for."""
        self.load(*self.rows())
        self.plan(1, {"where": "begins_with(PK, 'k')", "rekey": {"PK": "new#${PK}", "SK": "${SK}"}})
        self.run_slowly("apply", *self.options, "--segments", "1")
        self.assertEqual(self.operations, {"TransactWriteItems"})
        self.assert_holds("new#k")


if __name__ == "__main__":
    unittest.main()
