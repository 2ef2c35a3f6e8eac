#!/usr/bin/env python3
"""What a rollback brings back and what it leaves, where others write too: items that stood before the plan put the same, attributes
beside one that somebody has changed, and writes whose fate nobody knew at first."""
import base64
import json
import os
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_case import Case, is_ours, item  # noqa: E402
from api_table import ApiTable  # noqa: E402
from ddb_stub import Reply  # noqa: E402

SYNCS = os.path.join(os.path.dirname(os.path.abspath(refold.PROGRAM)), "libnote_syncs.so")
PATIENCE = 120  # seconds until a test gives up; nothing is decided by them
COPY = {"where": "begins_with(PK, 'C#') AND attribute_not_exists(Mark)",
        "put": {"PK": "N#${after(PK, '#')}", "SK": "${SK}", "Name": "${Name}"}}
MARK = {"where": "begins_with(PK, 'C#')", "set": {"Mark": True}}
MOVE = {"where": "begins_with(PK, 'C#')", "rekey": {"PK": "N#${after(PK, '#')}"}}


class Standing:
    """An item stands where the plan puts an equal one; a subclass says on which server."""

    def begin(self, *standing, steps):
        self.load(*[item(f"C#{n}", Name={"S": f"n{n}"}) for n in range(4)], *standing)
        self.plan(1, *steps)
        self.before = self.raw()

    def assert_rolled_back(self):
        out, _ = refold.run("rollback", self.table, *self.options, "--to", "0")
        self.assertIn(" 0 left alone", out)
        self.assertEqual(self.raw(), self.before)

    def test_what_stood_before_is_not_rolled_back(self):
        for steps in ((COPY, MARK), (COPY,)):
            with self.subTest(steps):
                self.begin(item("N#1", Name={"S": "n1"}), steps=steps)
                self.apply(self.table)
                self.assertIn(("N#3", "A"), self.raw())
                self.assert_rolled_back()
                self.name += "x"
                self.table = self.server.table(self.name)

    def test_what_comes_just_before_the_put_is_not_rolled_back(self):
        """Somebody puts the same when the plan's put is on its way already."""
        for steps, taken in (((COPY, MARK), True), ((MOVE,), False)):
            with self.subTest(steps):
                self.begin(steps=steps)
                theirs = item("N#2", Name={"S": "n2"})

                def answer(request, theirs=theirs):
                    if request.operation in ("PutItem", "TransactWriteItems") and b'"N#2"' in request.raw and not is_ours(request):
                        self.server.call("PutItem", {"TableName": self.name, "Item": theirs})

                with self.stub(answer) as stub:
                    self.apply(self.through(stub))
                self.assertEqual(taken, ("C#2", "A") in self.raw())
                self.before["N#2", "A"] = theirs
                self.assert_rolled_back()
                self.name += "x"
                self.table = self.server.table(self.name)


class StandingWithout(Standing, Case):
    pass


class StandingWith(Standing, Case):
    kind = "dynoxide"


class Unsure(Case):
    def test_the_other_attributes_go_back(self):
        """An update takes effect, its reply is lost, and somebody changes one of its attributes: a rollback has the other."""
        self.load(*[item(f"C#{n}", V={"S": "1"}) for n in range(6)])
        self.plan(1, {"where": "attribute_not_exists(A)", "set": {"A": "a${V}", "B": "b${V}"}})
        lost = []

        def answer(request):
            if request.operation != "UpdateItem" or b'"C#3"' not in request.raw or lost:
                return None
            lost.append(request)
            self.server.exchange(request.operation, request.raw)
            self.server.call("UpdateItem", {"TableName": self.name, "Key": item("C#3"), "UpdateExpression": "SET A = :a",
                                            "ExpressionAttributeValues": {":a": {"S": "theirs"}}})
            return Reply({}, cut=0)

        with self.stub(answer) as stub:
            self.apply(self.through(stub))
        self.assertEqual(len(lost), 1)
        out, _ = refold.run("rollback", self.table, *self.options, expect=3)
        self.assertIn(" 1 left alone", out)
        left = {3: {"A": {"S": "theirs"}}}
        self.assertEqual(self.raw(), {(f"C#{n}", "A"): item(f"C#{n}", V={"S": "1"}, **left.get(n, {})) for n in range(6)})


class Durable(Case):
    def test_the_listing_tells_of_what_is_durable(self):
        """An update that does not apply is struck from the undo log; a listing on the server must not run ahead of the disk."""
        self.load(*[item(f"C#{n}", V={"S": "1"}) for n in range(6)])
        self.plan(1, {"where": "attribute_not_exists(A)", "set": {"A": "a${V}"}})
        listed = []

        def answer(request):
            if request.operation == "UpdateItem" and b'"C#3"' in request.raw:
                self.server.call("DeleteItem", {"TableName": self.name, "Key": item("C#3")})
            if request.operation == "PutItem" and b'"undo/' in request.raw:
                listing = json.loads(base64.b64decode(request.body["Item"]["refold_value"]["B"]))
                with open(listing["path"] + ".synced", encoding="ascii") as synced:
                    listed.append((listing["length"], int(synced.read())))

        with self.stub(answer) as stub:
            self.apply(self.through(stub), env={**os.environ, "LD_PRELOAD": SYNCS})
        self.assertGreater(len({length for length, _ in listed}), 1)
        self.assertEqual([pair for pair in listed if pair[0] > pair[1]], [])


class Dropped(ApiTable, unittest.TestCase):
    kind = "dynoxide"

    def test_a_member_goes_by_the_table_as_it_is(self):
        """It joined before the index was dropped whose key the next plan makes a number."""
        self.server.create({"TableName": self.name, "BillingMode": "PAY_PER_REQUEST",
                            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "G")],
                            "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
                            "GlobalSecondaryIndexes": [{"IndexName": "ByG", "KeySchema": [{"AttributeName": "G", "KeyType": "HASH"}],
                                                        "Projection": {"ProjectionType": "ALL"}}]})
        for n in range(60):
            self.server.call("PutItem", {"TableName": self.name, "Item": item(f"C#{n}")})
        self.plan(1, {"steps": [{"where": "attribute_not_exists(A)", "set": {"A": 1}}, {"drop_index": "ByG"}]})
        self.plan(2, {"steps": [{"where": "attribute_not_exists(G)", "set": {"G": 5}}]})
        begun, joined, helped = threading.Event(), threading.Event(), threading.Event()

        def before(operation, body, own, others):
            """The first waits, in each of the plans, until the second has come to it, or has ended."""
            if ddb_servers.updated(operation, body):
                is_last = b'"G' in body.replace(b"\\", b"")
                (own[1] if is_last else own[0]).set()
                self.assertTrue((others[1] if is_last else others[0]).wait(PATIENCE))

        never = threading.Event()
        never.set()
        words = ["--plans", self.plans, "--state", self.state, "--page-size", "3", "--segments", "8", "--workers", "1"]
        with ddb_servers.Proxy(self.server, lambda *request: before(*request, (begun, begun), (joined, helped))) as first, \
                ddb_servers.Proxy(self.server, lambda *request: before(*request, (joined, helped), (never, never))) as second:
            runs = [subprocess.Popen([refold.PROGRAM, "apply", first.table(self.name), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)]
            self.assertTrue(begun.wait(PATIENCE))
            runs.append(subprocess.Popen([refold.PROGRAM, "apply", second.table(self.name), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            threading.Thread(target=lambda: (runs[1].wait(), joined.set(), helped.set()), daemon=True).start()
            said = [run.communicate(timeout=PATIENCE) for run in runs]
        self.assertEqual([run.returncode for run in runs], [0, 0], said)
        found = [one for one in self.server.items(self.name) if one["PK"]["S"].startswith("C#")]
        self.assertEqual({(one["A"]["N"], one["G"]["N"]) for one in found}, {("1", "5")})
        out, _ = refold.run("rollback", self.table, "--plans", self.plans, "--state", self.state, "--to", "0")
        self.assertEqual(out.count("60 writes taken back, 0 left alone"), 2, out)


if __name__ == "__main__":
    unittest.main()
