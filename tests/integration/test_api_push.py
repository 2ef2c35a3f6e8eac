#!/usr/bin/env python3
"""What a server is asked to do itself: conditions on what an update was made from, and no more.

On dynalite, which compares neither sets nor documents in conditions."""
import json
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from test_api_store import item, orders  # noqa: E402

UPPER = {"steps": [{"name": "upper", "where": "SK = 'PROFILE'", "set": {"Upper": "${upper(Name)}"}}]}


class Push(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.update(ddb_servers.ENVIRONMENT)
        cls.server = ddb_servers.Server("dynalite")
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.number = 0

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-push-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plans = os.path.join(self.folder, "plans")
        os.mkdir(self.plans)
        type(self).number += 1
        self.name = f"Push{self.number}"
        self.table = self.server.table(self.name)
        self.embedded = os.path.join(self.folder, "t.refold")
        self.sent = []  # (operation, request) of the table's own items

    def plan(self, version, content):
        with open(os.path.join(self.plans, f"{version:04d}_plan.json"), "w", encoding="utf-8") as out:
            json.dump(content, out)

    def load(self, items, *tables):
        rows = os.path.join(self.folder, "rows.jsonl")
        with open(rows, "w", encoding="utf-8") as out:
            for one in items:
                out.write(json.dumps({"Item": one}) + "\n")
        for table in tables or (self.table, self.embedded):
            refold.run("import", table, "--from", rows, "--create")

    def note(self, operation, body):
        request = json.loads(body)
        if "__refold#control" not in json.dumps(request.get("Key", request.get("Item", {}))):
            self.sent.append((operation, request))

    def apply(self, before=None, *options, expect=0):
        """Through a proxy that notes what is sent; before(operation, request) comes first."""
        def step(operation, body):
            self.note(operation, body)
            return before(operation, json.loads(body)) if before else None

        with ddb_servers.Proxy(self.server, before=step) as proxy:
            return refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--state", os.path.join(self.folder, "state"), *options,
                              expect=expect)[0]

    def apply_embedded(self):
        return refold.run("apply", self.embedded, "--plans", self.plans)[0]

    def of(self, operation):
        return [request for sent, request in self.sent if sent == operation]

    def change(self, key, name, value):
        self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "SET #a = :v",
                                        "ExpressionAttributeNames": {"#a": name}, "ExpressionAttributeValues": {":v": {"S": value}}})

    def assert_same(self):
        self.assertEqual(*(sorted(refold.export(table).splitlines()) for table in (self.table, self.embedded)))

    def between(self, name, value):
        """Somebody who changes an attribute of each item between refold's reading it and its first attempt to write it."""
        changed = set()

        def before(operation, request):
            key = request.get("Key")
            if operation == "UpdateItem" and key["PK"]["S"].startswith("CUSTOMER#") and key["PK"]["S"] not in changed:
                changed.add(key["PK"]["S"])
                self.change(key, name, value)

        return before

    def test_who_changes_what_the_plan_does_not_look_at_costs_nothing(self):
        self.load(orders(5), self.table)
        self.plan(1, UPPER)
        self.apply(self.between("Email", "new@example.com"))
        self.assertEqual(len(self.of("UpdateItem")), 5)
        found = refold.items(self.table)
        for c in range(5):
            profile = found[f"CUSTOMER#{c}", "PROFILE"]
            self.assertEqual((profile["Upper"], profile["Email"]), (f"NAME {c}", "new@example.com"))

    def test_who_changes_what_it_reads_is_heard(self):
        self.load(orders(5), self.table)
        self.plan(1, UPPER)
        out = self.apply(self.between("Name", "Ada"))
        self.assertRegex(out, r"upper +5 +5 +0 +0 +0")
        self.assertEqual(len(self.of("UpdateItem")), 10)
        found = refold.items(self.table)
        for c in range(5):
            profile = found[f"CUSTOMER#{c}", "PROFILE"]
            self.assertEqual((profile["Upper"], profile["Name"]), ("ADA", "Ada"))

    def test_who_changes_what_it_writes_is_heard(self):
        """The undo log holds what was there before."""
        self.load(orders(3), self.table)
        self.plan(1, UPPER)
        self.apply(self.between("Upper", "theirs"))
        refold.run("rollback", self.table, "--plans", self.plans, "--state", os.path.join(self.folder, "state"))
        found = refold.items(self.table)
        self.assertEqual([found[f"CUSTOMER#{c}", "PROFILE"]["Upper"] for c in range(3)], ["theirs"] * 3)

    def test_a_lost_reply_counts_though_somebody_went_on(self):
        """The write took effect unseen, and then the attribute that it was made from was changed."""
        self.load([item("CUSTOMER#1", "PROFILE", Name="Ada")], self.table)
        self.plan(1, UPPER)
        lost = []

        def after(operation, body, *_):
            request = json.loads(body)
            if operation == "UpdateItem" and request["Key"]["PK"]["S"] == "CUSTOMER#1" and not lost:
                lost.append(request)
                self.change(request["Key"], "Name", "Grace")
                return False
            return None

        with ddb_servers.Proxy(self.server, after=after) as proxy:
            refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--state", os.path.join(self.folder, "state"))
        self.assertEqual(len(lost), 1)
        self.assertEqual(refold.items(self.table)["CUSTOMER#1", "PROFILE"]["Upper"], "ADA")
        refold.run("rollback", self.table, "--plans", self.plans, "--state", os.path.join(self.folder, "state"))
        self.assertNotIn("Upper", refold.items(self.table)["CUSTOMER#1", "PROFILE"])

    def test_an_update_says_nothing_of_what_it_does_not_need(self):
        self.load(orders(2))
        self.plan(1, UPPER)
        self.apply()
        self.apply_embedded()
        self.assert_same()
        for request in self.of("UpdateItem"):
            self.assertEqual(set(request["ExpressionAttributeNames"].values()), {"PK", "Upper", "Name"})


if __name__ == "__main__":
    unittest.main()
