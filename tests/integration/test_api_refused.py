#!/usr/bin/env python3
"""Items that a server refuses, behind the DynamoDB API: each is told once, whatever happens to the run meanwhile."""
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import refold  # noqa: E402
from api_case import Case, is_checkpoint, is_ours, item  # noqa: E402
from ddb_stub import Reply, failure  # noqa: E402

TOO_LARGE = failure("ValidationException", "Item size to update has exceeded the maximum allowed size")
ONE = ("--segments", "1", "--workers", "1")


class Counted(Case):
    """One of six items is refused."""

    def setUp(self):
        super().setUp()
        self.load(*[item(f"k{n}", V={"S": "1"}) for n in range(6)], tables=[self.table])
        self.plan(1, {"where": "attribute_not_exists(M)", "set": {"M": "x${V}"}})

    @staticmethod
    def refuse(request):
        refused = request.operation == "UpdateItem" and not is_ours(request) and request.body["Key"]["PK"]["S"] == "k3"
        return TOO_LARGE if refused else None

    def steps(self):
        return json.loads(refold.run("status", self.table, "--plans", self.plans, "--format", "json")[0])["plans"][0]["record"]["steps"]

    def test_a_refused_item_is_named_after_a_kill(self):
        """The process dies as soon as a checkpoint stands that covers the item."""
        running = []

        def kill(request):
            if not is_checkpoint(request):
                return self.refuse(request)
            self.server.exchange(request.operation, request.raw)
            running[0].kill()
            return Reply(b"", close=True)

        with self.stub(kill) as stub:
            running.append(self.start_apply(self.through(stub), *ONE))
            running[0].communicate()
        with self.stub(self.refuse) as stub:
            out, err = self.apply(self.through(stub), *ONE, expect=3)
        self.assertIn("PK='k3' SK='A'", out + err)
        self.assertEqual([(step["written"], step["failed"]) for step in self.steps()], [(5, 1)])
        self.assertNotIn("M", self.raw()["k3", "A"])

    def test_a_page_that_ends_the_run_is_counted(self):
        """An item without V is one item error more than is allowed; the refused one of the same page counts all the same."""
        self.server.call("PutItem", {"TableName": self.name, "Item": item("k6")})
        with self.stub(self.refuse) as stub:
            self.apply(self.through(stub), *ONE, "--max-item-errors", "0", expect=3)
        self.assertEqual([(step["written"], step["failed"]) for step in self.steps()], [(5, 2)])


if __name__ == "__main__":
    unittest.main()
