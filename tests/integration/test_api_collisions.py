#!/usr/bin/env python3
"""Items that somebody changes after collisions were looked for: what a verdict went by is so when it is obeyed, or nothing is lost."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402


def item(partition, **attributes):
    return {"PK": {"S": partition}, "SK": {"S": "A"}, **attributes}


class Collisions(ApiTable):
    """With and without transactions; a subclass says on which server."""

    def setUp(self):
        super().setUp()
        self.options = ("--plans", self.plans, "--state", self.state)
        self.ruled = False  # collisions were looked for, and nothing is written yet
        self.done = False

    def begin(self, *items, steps):
        self.load(items, self.table)
        self.plan(1, {"steps": list(steps)})

    def call(self, operation, partition, **more):
        self.server.call(operation, {"TableName": self.name, "Key": {"PK": {"S": partition}, "SK": {"S": "A"}}, **more})

    def set(self, partition, name, value):
        self.call("UpdateItem", partition, UpdateExpression="SET #a = :v", ExpressionAttributeNames={"#a": name},
                  ExpressionAttributeValues={":v": value})

    def apply(self, change=None, after_read_of=None, expect=0):
        """change() comes once: when collisions were looked for, or after the first read of that item in the pass."""
        def once():
            if change and not self.done:
                self.done = True
                change()

        def before(operation, body):
            if operation == "PutItem" and b"checkpoint/" in body:
                self.ruled = True
                if after_read_of is None:
                    once()

        def after(operation, body, *_):
            if self.ruled and after_read_of and operation in ("GetItem", "BatchGetItem") and after_read_of in body:
                once()

        with ddb_servers.Proxy(self.server, before=before, after=after) as proxy:
            out, err = refold.run("apply", proxy.table(self.name), *self.options, "--segments", "1", "--workers", "1", expect=expect)
        self.assertTrue(self.done or change is None)
        return out + err

    def roll_back(self):
        return refold.run("rollback", self.table, *self.options, "--to", "0")[0]

    def found(self):
        """Items by partition, without their keys."""
        return {one.pop("PK")["S"]: {name: value for name, value in one.items() if name != "SK"}
                for one in self.server.items(self.name) if not one["PK"]["S"].startswith("__refold#")}

    def test_what_a_put_replaces_is_what_comes_back(self):
        put = {"where": "begins_with(PK, 'C#') AND attribute_not_exists(Mark)", "put": {"PK": "N#${after(PK, '#')}", "SK": "A", "Name": "${Name}"},
               "on_collision": "overwrite"}
        self.begin(item("C#1", Name={"S": "x"}), item("N#1", Name={"S": "old"}),
                   steps=[put, {"where": "begins_with(PK, 'C#')", "set": {"Mark": True}}])
        self.apply(lambda: self.set("N#1", "Name", {"S": "newer"}), after_read_of=b"N#1")
        self.assertEqual(self.found(), {"C#1": {"Name": {"S": "x"}, "Mark": {"BOOL": True}}, "N#1": {"Name": {"S": "x"}}})
        self.assertIn("2 writes taken back, 0 left alone", self.roll_back())
        self.assertEqual(self.found(), {"C#1": {"Name": {"S": "x"}}, "N#1": {"Name": {"S": "newer"}}})

    def test_what_a_move_replaces_is_what_comes_back(self):
        self.begin(item("C#1", Name={"S": "x"}), item("N#1", Name={"S": "old"}),
                   steps=[{"where": "begins_with(PK, 'C#')", "rekey": {"PK": "N#${after(PK, '#')}"}, "on_collision": "overwrite"}])
        self.apply(lambda: self.set("N#1", "Name", {"S": "newer"}), after_read_of=b"N#1")
        self.assertEqual(self.found(), {"N#1": {"Name": {"S": "x"}}})
        self.roll_back()
        self.assertEqual(self.found(), {"C#1": {"Name": {"S": "x"}}, "N#1": {"Name": {"S": "newer"}}})


class CollisionsWithout(Collisions, unittest.TestCase):
    """Without transactions."""


class CollisionsWith(Collisions, unittest.TestCase):
    kind = "dynoxide"


if __name__ == "__main__":
    unittest.main(verbosity=2)
