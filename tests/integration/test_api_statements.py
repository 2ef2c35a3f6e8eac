#!/usr/bin/env python3
"""Updates as statements, many in one request: on dynalite, which has none, behind a proxy that carries each out as the
UpdateItem that it stands for, or answers it with an error of a statement's own.

tests/faults/api_dynoxide.py sends them to a server that has them."""
import json
import os
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402

UPPER = {"steps": [{"name": "upper", "where": "begins_with(PK, 'C#')", "set": {"Upper": "${upper(Name)}", "Version": 2}, "remove": ["Blob"]}]}
ITEMS = 40


def orders():
    for n in range(ITEMS):
        yield {"PK": {"S": f"C#{n}"}, "SK": {"S": "PROFILE"}, "Name": {"S": f"Name {n}"}, "Blob": {"B": "AAEC"},
               "Tags": {"SS": ["a", "b"]}, "a.b": {"M": {"x": {"NULL": True}}}}


class Shim:
    """before() of a Proxy. error(key) may give a statement's error code, before it is done or (with done) although it is."""

    def __init__(self, server, error=None, done=False, ignores=None):
        self.server, self.error, self.done, self.ignores = server, error, done, ignores
        self.lock = threading.Lock()
        self.statements, self.refused = [], 0

    def before(self, operation, body):
        if operation != "BatchExecuteStatement":
            return None
        request = json.loads(body)
        return 200, json.dumps({"Responses": [self.answer(statement) for statement in request["Statements"]]}).encode()

    def answer(self, statement):
        update = ddb_servers.update_of(statement)
        key = update["Key"]["PK"]["S"]
        if self.ignores and self.ignores in statement["Statement"]:
            del update["ConditionExpression"]
            used = update["UpdateExpression"].split()
            for part, mark in (("ExpressionAttributeNames", "#"), ("ExpressionAttributeValues", ":")):
                update[part] = {name: value for name, value in update[part].items() if name in used and name.startswith(mark)}
        code = self.error(key) if self.error and not key.startswith("__refold#") else None
        with self.lock:
            self.statements.append(key)
        if code and not self.done:
            return {"Error": {"Code": code, "Message": "as the test says"}}
        try:
            self.server.call("UpdateItem", update)
        except RuntimeError as error:
            self.refused += 1
            assert "ConditionalCheckFailed" in str(error), error
            return {"Error": {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}}
        return {"Error": {"Code": code, "Message": "as the test says"}} if code else {"TableName": update["TableName"]}


class Statements(ApiTable, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.plan(1, UPPER)
        self.load(orders())
        self.said = refold.run("apply", self.embedded, "--plans", self.plans)[0]

    def apply(self, shim, before=None, **how):
        def step(operation, body):
            if before:
                before(operation, body)
            return shim.before(operation, body)

        with ddb_servers.Proxy(self.server, before=step, **how) as proxy:
            said = refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--segments", "2",
                              "--state", self.state)[0]
        self.counts = proxy.counts
        return refold.without_capacity(said)

    def assert_same(self):
        self.assertEqual(*(sorted(refold.export(table).splitlines()) for table in (self.table, self.embedded)))

    def test_updates_go_together(self):
        shim, alone = Shim(self.server), []

        def before(operation, body):
            if operation == "UpdateItem":
                alone.extend(ddb_servers.updated(operation, body))

        self.assertEqual(self.apply(shim, before), self.said)
        self.assert_same()
        self.assertEqual(alone, [])
        self.assertEqual(sorted(key for key in shim.statements if key.startswith("C#")), sorted(f"C#{n}" for n in range(ITEMS)))

    def test_errors_of_a_statement_are_tried_again(self):
        """Once as a statement; then each goes by itself, where errors are dealt with."""
        for code in ("ThrottlingError", "ProvisionedThroughputExceeded", "TransactionConflict", "InternalServerError"):
            with self.subTest(code):
                self.setUp()
                self.assertEqual(self.apply(Shim(self.server, lambda key, code=code: code if key.endswith("1") else None)), self.said)
                self.assert_same()

    def test_a_write_that_an_error_hid_is_no_conflict(self):
        self.assertEqual(self.apply(Shim(self.server, lambda _: "InternalServerError", done=True)), self.said)
        self.assert_same()

    def test_lost_replies_are_read_back(self):
        lost = []

        def after(operation, *_):
            if operation == "BatchExecuteStatement" and len(lost) < 6:
                lost.append(operation)
                return len(lost) <= 2  # those that try whether the server has statements
            return None

        self.assertEqual(self.apply(Shim(self.server), after=after), self.said)
        self.assertGreater(len(lost), 2)
        self.assert_same()

    def test_who_comes_between_is_heard(self):
        changed = set()

        def before(operation, body):
            for key in ddb_servers.updated(operation, body):
                if key["PK"]["S"] not in changed:
                    changed.add(key["PK"]["S"])
                    self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "SET #n = :n",
                                                    "ExpressionAttributeNames": {"#n": "Name"}, "ExpressionAttributeValues": {":n": {"S": "Ada"}}})

        shim = Shim(self.server)
        self.assertEqual(self.apply(shim, before), self.said)
        self.assertGreater(shim.refused, 2)
        items = refold.items(self.table)
        self.assertEqual({(one["Name"], one["Upper"]) for one in items.values()}, {("Ada", "ADA")})

    def test_a_condition_of_the_steps_own_is_said_by_what_it_reads(self):
        """Somebody changes that between, and it holds still: then the step's own condition is sent."""
        self.plan(1, {"steps": [{"name": "versions", "where": "begins_with(Name, 'Name ')", "set": {"Version": 2}}]})
        changed = set()

        def before(operation, body):
            for key in ddb_servers.updated(operation, body):
                if key["PK"]["S"] not in changed:
                    changed.add(key["PK"]["S"])
                    self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "SET #n = :n",
                                                    "ExpressionAttributeNames": {"#n": "Name"}, "ExpressionAttributeValues": {":n": {"S": "Name x"}}})

        shim = Shim(self.server)
        self.assertRegex(self.apply(shim, before), rf"versions +{ITEMS} +{ITEMS} +0 +0 +0")
        self.assertEqual(shim.refused, ITEMS + 2)  # and the two that try the server
        self.assertEqual({one["Version"] for one in refold.items(self.table).values()}, {2})

    def test_a_server_that_ignores_conditions_gets_no_statements(self):
        """Its UpdateItem may well heed them."""
        for ignored in (" AND \"refold_token\"=?", " IS MISSING"):
            with self.subTest(ignored):
                self.setUp()
                shim = Shim(self.server, ignores=ignored)
                self.assertEqual(self.apply(shim), self.said)
                self.assert_same()
                self.assertEqual([key for key in shim.statements if key.startswith("C#")], [])

    def test_a_server_that_fails_at_statements_gets_none(self):
        class Failing(Shim):
            def before(self, operation, body):
                return (500, b"{}") if operation == "BatchExecuteStatement" else None

        self.assertEqual(self.apply(Failing(self.server)), self.said)
        self.assertEqual(self.counts["BatchExecuteStatement"], 2)
        self.assert_same()


if __name__ == "__main__":
    unittest.main()
