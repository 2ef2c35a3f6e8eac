#!/usr/bin/env python3
"""The rights that docs/dynamodb.md lists are enough, on moto: whatever else is asked for is denied."""
import json
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402

GUIDE = os.path.join(ROOT, "docs", "dynamodb.md")
UNDER_OTHER_NAMES = {"TransactWriteItems": {"PutItem", "UpdateItem", "DeleteItem"}}
PLANS = [
    {"steps": [{"create_index": {"name": "GSI1", "partition": "GSI1PK:S"}}]},
    {"steps": [{"where": "begins_with(SK, 'ORDER#')", "set": {"GSI1PK": "STATUS#${Status}"}}]},
    {"steps": [{"where": "begins_with(PK, 'CUSTOMER#')", "rekey": {"PK": "C#${split(PK, '#', 2)}", "SK": "${SK}"}}]},
    {"steps": [{"where": "SK = 'ORDER#1'", "put": {"PK": "FIRST#${PK}", "SK": "-"}}]},
]


def rights():
    """The operations that each of the guide's statements allows: to read, to write, to change tables."""
    with open(GUIDE, encoding="utf-8") as guide:
        statements = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", guide.read(), re.S)]
    return [{action.removeprefix("dynamodb:") for action in statement["Action"]} for statement in statements]


def rights_for(operation, body):
    """Those that a request takes."""
    if operation == "BatchExecuteStatement":
        return {"PartiQLInsert" if ddb_servers.is_insert(statement) else "PartiQLUpdate" for statement in json.loads(body)["Statements"]}
    return UNDER_OTHER_NAMES.get(operation, {operation})


class Rights(ApiTable, unittest.TestCase):
    kind = "moto"

    def setUp(self):
        super().setUp()
        self.allowed, self.asked = set(), set()
        proxy = ddb_servers.Proxy(self.server, before=self._deny, single=True)
        self.enterContext(proxy)
        self.table = proxy.table(self.name)

    def _deny(self, operation, body):
        needed = rights_for(operation, body)
        self.asked |= needed
        missing = needed - self.allowed
        if not missing:
            return None
        reply = {"__type": "com.amazon.coral.service#AccessDeniedException",
                 "Message": f"User: u is not authorized to perform: dynamodb:{min(missing)}"}
        return 400, json.dumps(reply).encode()

    def run_allowed(self, allowed, *commands, expect=0):
        self.allowed = set().union(*allowed)
        for command, *options in commands:
            refold.run(command, self.table, *options, expect=expect)

    def test_what_the_guide_lists_is_enough(self):
        read, write, tables = rights()
        for number, plan in enumerate(PLANS, 1):
            self.plan(number, plan)
        rows = self.write_rows({"PK": {"S": f"CUSTOMER#{n // 2}"}, "SK": {"S": f"ORDER#{n}"}, "Status": {"S": "open"}} for n in range(20))
        plans, out = ["--plans", self.plans], os.path.join(self.folder, "out.jsonl")
        changing = [*plans, "--state", self.state]
        self.run_allowed([read, write, tables], ("import", "--from", rows, "--create"))
        again = self.write_rows({"PK": {"S": f"AGAIN#{n}"}, "SK": {"S": "-"}} for n in range(30))
        self.run_allowed([read, write], ("import", "--from", again))
        self.run_allowed([read], ("apply", *plans, "--dry-run"), expect=4)
        self.run_allowed([read], ("status", *plans), ("show",), ("show", "CUSTOMER#1"), ("size", "--exact"), ("query", "PK = 'CUSTOMER#1'"),
                         ("export", "--to", out), ("verify",), ("check", *plans))
        self.run_allowed([read, write, tables], ("apply", *changing, "--to", "1"))
        self.run_allowed([read, write], ("apply", *changing), ("apply", "--sweep", *changing))
        self.run_allowed([read], ("query", "GSI1PK = 'STATUS#open'", "--index", "GSI1"), ("verify",))
        self.run_allowed([read, write], ("rollback", "--to", "1", *changing))
        self.assertEqual(read | write | tables, self.asked, "what the guide lists, and what is asked for")

    def test_new_items_go_one_by_one_without_the_right_to_statements(self):
        read, write, _ = rights()
        self.server.make_table(self.name)
        rows = self.write_rows({"PK": {"S": f"P{n}"}, "SK": {"S": "-"}} for n in range(30))
        self.run_allowed([read, write - {"PartiQLInsert"}], ("import", "--from", rows))
        self.assertIn("PartiQLInsert", self.asked)
        self.assertEqual(len(refold.items(self.table)), 30)

    def test_updates_go_one_by_one_without_the_right_to_statements(self):
        read, write, tables = rights()
        self.run_allowed([read, write, tables],
                         ("import", "--create", "--from", self.write_rows({"PK": {"S": f"P{n}"}, "SK": {"S": "-"}} for n in range(20))))
        self.plan(1, {"steps": [{"set": {"A": "${PK}"}}]})
        self.run_allowed([read, write - {"PartiQLUpdate"}], ("apply", "--plans", self.plans, "--state", self.state))
        self.assertEqual(len(refold.query(self.table, "PK = 'P7' AND SK = '-'", "--where", "A = 'P7'")), 1)


if __name__ == "__main__":
    unittest.main()
