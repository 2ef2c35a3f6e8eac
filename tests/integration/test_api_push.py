#!/usr/bin/env python3
"""What a server is asked to do itself: conditions on what an update was made from, and no more.

On dynalite, which compares neither sets nor documents in conditions."""
import base64
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402
from test_api_store import LOOKUP, item, orders  # noqa: E402

UPPER = {"steps": [{"name": "upper", "where": "SK = 'PROFILE'", "set": {"Upper": "${upper(Name)}"}}]}


class Push(ApiTable, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.sent = []  # (operation, request) of the table's own items
        self.checkpoints = []

    def note(self, operation, body):
        request = json.loads(body)
        if "__refold#control" not in json.dumps(request.get("Key", request.get("Item", {}))):
            self.sent.append((operation, request))
        elif operation == "PutItem":
            record = base64.b64decode(request["Item"]["refold_value"]["B"])
            if b'"cursor"' in record:
                self.checkpoints.append(json.loads(record))

    def apply(self, before=None, *options, expect=0):
        """Through a proxy that notes what is sent; before(operation, request) comes first."""
        def step(operation, body):
            self.note(operation, body)
            return before(operation, json.loads(body)) if before else None

        with ddb_servers.Proxy(self.server, before=step) as proxy:
            out, _ = refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--state", self.state, *options,
                                expect=expect)
        return "".join(line for line in out.splitlines(keepends=True) if "capacity units" not in line)

    def apply_embedded(self, expect=0):
        return refold.run("apply", self.embedded, "--plans", self.plans, expect=expect)[0]

    def of(self, operation):
        return [request for sent, request in self.sent if sent == operation]

    def change(self, key, name, value):
        self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "SET #a = :v",
                                        "ExpressionAttributeNames": {"#a": name}, "ExpressionAttributeValues": {":v": value}})

    def assert_same(self):
        self.assertEqual(*(sorted(refold.export(table).splitlines()) for table in (self.table, self.embedded)))

    def between(self, name, value):
        """Somebody who changes an attribute of each item between refold's reading it and its first attempt to write it."""
        changed = set()

        def before(operation, request):
            key = request.get("Key")
            if operation == "UpdateItem" and key["PK"]["S"].startswith("CUSTOMER#") and key["PK"]["S"] not in changed:
                changed.add(key["PK"]["S"])
                self.change(key, name, {"S": value})

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
        refold.run("rollback", self.table, "--plans", self.plans, "--state", self.state)
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
                self.change(request["Key"], "Name", {"S": "Grace"})
                return False
            return None

        with ddb_servers.Proxy(self.server, after=after) as proxy:
            refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--state", self.state)
        self.assertEqual(len(lost), 1)
        self.assertEqual(refold.items(self.table)["CUSTOMER#1", "PROFILE"]["Upper"], "ADA")
        refold.run("rollback", self.table, "--plans", self.plans, "--state", self.state)
        self.assertNotIn("Upper", refold.items(self.table)["CUSTOMER#1", "PROFILE"])

    def test_an_update_says_nothing_of_what_it_does_not_need(self):
        self.load(orders(2))
        self.plan(1, UPPER)
        self.apply()
        self.apply_embedded()
        self.assert_same()
        for request in self.of("UpdateItem"):
            self.assertEqual(set(request["ExpressionAttributeNames"].values()), {"PK", "Upper", "Name"})

    CLOSE = {"steps": [{"name": "closed", "where": "begins_with(SK, 'ORDER#') AND Total >= 0 AND NOT Status IN ('done', 'lost')",
                        "set": {"Closed": True, "Status": "closed"}, "remove": ["OrderDate"]}]}

    def numbered(self, count):
        for one in orders(count):
            if "Total" in one:
                one["Total"] = {"N": one["Total"]["S"]}
            yield one

    def test_constants_are_written_under_the_plans_own_condition(self):
        """Who changes what the where reads costs nothing while it holds, and is heard when it does not."""
        self.load(self.numbered(4))
        self.plan(1, self.CLOSE)
        for total, requests, closed in (("7", 1, True), ("-1", 1, False)):
            changed = []

            def before(operation, request):
                if operation == "UpdateItem" and request["Key"]["SK"]["S"].startswith("ORDER#") and not changed:
                    changed.append(request["Key"])
                    self.change(request["Key"], "Total", {"N": total})

            self.sent = []
            self.apply(before)
            found = refold.items(self.table)[changed[0]["PK"]["S"], changed[0]["SK"]["S"]]
            self.assertEqual(("Closed" in found, str(found["Total"])), (closed, total))
            self.assertEqual(sum(request["Key"] == changed[0] for request in self.of("UpdateItem")), requests)
            refold.run("rollback", self.table, "--plans", self.plans, "--state", self.state)
            self.assertEqual(["Closed" in one for one in refold.items(self.table).values()], [False] * 20)

    def test_server_only_ends_in_the_same_items(self):
        self.load(self.numbered(6))
        self.plan(1, self.CLOSE)
        self.assertEqual(self.apply(), self.apply_embedded())
        self.assert_same()
        self.assertIn("IN (:", self.of("UpdateItem")[0]["ConditionExpression"])

    def test_a_dry_run_says_how_steps_are_sent(self):
        self.load(orders(1))
        self.plan(1, {"steps": [*UPPER["steps"], {"pass": "apart"}, *self.CLOSE["steps"],
                                {"pass": "apart"}, {"name": "mail", "where": "SK = 'PROFILE'", "rekey": {"PK": "MAIL#${Email}"}}]})
        options = ["--plans", self.plans, "--dry-run"]
        out, _ = refold.run("apply", self.table, *options, expect=4)
        for line in ("upper is computed: Upper is made from Name", "closed is server-only: constants under its own where",
                     "mail is move: its key changes (a transaction)"):
            self.assertIn(line, out)
        report = json.loads(refold.run("apply", self.table, *options, "--format", "json", expect=4)[0])
        steps = [step for stage in report["plans"][0]["stages"] for step in stage["steps"]]
        self.assertEqual([step["class"] for step in steps], ["computed", "server-only", "move"])
        self.assertEqual(steps[0]["why"], "Upper is made from Name")
        self.assertNotIn("server-only", refold.run("apply", self.embedded, *options, expect=4)[0])

    def scans(self, *wanted):
        """The scans of the table, each as the sorted names of those of its members that are `wanted`."""
        return [sorted(name for name in request if name in wanted) for request in self.of("Scan")]

    def sent_with(self, step, *options, expect=0):
        """What the scans of an apply of the step say of items and attributes; the end is the embedded table's."""
        self.plan(1, {"steps": [step]})
        self.sent = []
        self.assertEqual(self.apply(None, "--segments", "1", *options, expect=expect), self.apply_embedded(expect=expect))
        self.assert_same()
        found = {tuple(one) for one in self.scans("FilterExpression", "ProjectionExpression")}
        return found

    def test_the_server_filters_and_projects_where_that_is_safe(self):
        both, items, parts, none = ("FilterExpression", "ProjectionExpression"), ("FilterExpression",), ("ProjectionExpression",), ()
        for step, wanted in (
                ({"where": "Status = 'open'", "set": {"A": "${Status}"}}, {both}),
                ({"where": "Status = 'open'", "set": {"A": 1}}, {both}),
                ({"where": "lower(Status) = 'open'", "set": {"A": "${Status}"}}, {parts}),
                ({"set": {"A": 1}}, {parts}),
                ({"where": "Status = 'open'", "delete": True}, {items}),
                ({"where": "lower(Status) = 'open'", "delete": True}, {none}),
                ({"where": "Status = 'open' AND begins_with(PK, 'C')", "rekey": {"PK": "X#${PK}"}}, {items, none}),  # the probe reads all
                ({"where": "Status = 'open'", "put": {"PK": "X#${PK}", "SK": "${SK}"}}, {items, none})):
            with self.subTest(step=step):
                self.setUp()
                self.load(orders(4))
                self.assertEqual(self.sent_with(step), wanted)

    def test_nothing_else_is_filtered(self):
        self.load(orders(3))
        self.plan(1, UPPER)
        with ddb_servers.Proxy(self.server, before=self.note) as proxy:
            refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--dry-run", expect=4)
            refold.run("export", proxy.table(self.name), "--to", "-")
        self.assertGreater(len(self.of("Scan")), 1)
        self.assertFalse(any(self.scans("FilterExpression", "ProjectionExpression")))

    def test_a_filter_asks_for_what_any_step_matches(self):
        self.load(orders(4))
        self.plan(1, {"steps": [{"where": "Status = 'open' OR attribute_exists(Flag)", "set": {"A": "1"}}, {"where": "A = '1'", "set": {"B": 1}}]})
        self.assertEqual(self.apply(None, "--segments", "1"), self.apply_embedded())
        self.assert_same()
        scan = self.of("Scan")[0]
        self.assertEqual(scan["FilterExpression"], "(#0 = :0 OR attribute_exists(#1)) OR #2 = :1 OR begins_with(#3,:2)")
        names = scan["ExpressionAttributeNames"]
        self.assertEqual(sorted(names[name] for name in scan["ProjectionExpression"].split(",")),
                         ["A", "B", "Flag", "PK", "SK", "Status", "refold_value"])

    def test_empty_pages_are_pages(self):
        self.load(orders(30))
        self.plan(1, {"steps": [{"where": "PK = 'CUSTOMER#7'", "set": {"A": "${PK}"}}]})
        self.assertEqual(self.apply(None, "--segments", "1", "--page-size", "10"), self.apply_embedded())
        self.assert_same()
        self.assertGreater(len(self.of("Scan")), 15)
        self.assertEqual(self.checkpoints[-1]["items"], 150)

    def test_a_segment_begins_with_all_items(self):
        """Its first item tells a server that ignores segments."""
        self.load(orders(150))
        self.plan(1, UPPER)
        self.assertEqual(self.apply(None, "--segments", "2"), self.apply_embedded())
        self.assert_same()
        for scan in self.of("Scan"):
            self.assertEqual("FilterExpression" in scan, "ExclusiveStartKey" in scan)
            self.assertEqual(scan["Limit"] > 100, "ExclusiveStartKey" in scan)
        self.assertGreater(len(self.of("Scan")), 2)

    def test_a_page_looks_at_more_where_few_are_wanted(self):
        self.load((item(f"ITEM#{n}", "x") for n in range(3500)))
        self.plan(1, UPPER)
        self.assertEqual(self.apply(None, "--segments", "1"), self.apply_embedded())
        self.assertEqual([scan["Limit"] for scan in self.of("Scan")], [1000, 2000, 4000])

    def test_look_ups_of_a_page_go_together(self):
        """Each key once: 120 orders look up 30 profiles, of which two are not there."""
        self.load(one for one in orders(30) if one["SK"]["S"] != "PROFILE" or one["PK"]["S"] not in ("CUSTOMER#3", "CUSTOMER#9"))
        self.plan(1, LOOKUP)
        said = [report.splitlines()[:3] for report in (self.apply(None, "--segments", "1", expect=3), self.apply_embedded(expect=3))]
        self.assertEqual(*said)
        self.assertRegex(said[0][2], r"names +120 +112 +0 +0 +8")
        self.assert_same()
        self.assertEqual(self.asked(), [30])

    def asked(self):
        return [len(one["Keys"]) for request in self.of("BatchGetItem") for one in request["RequestItems"].values()]

    def test_look_ups_of_a_dry_run_go_together(self):
        self.load(orders(30))
        self.plan(1, LOOKUP)
        self.apply(None, "--segments", "1", "--dry-run", expect=4)
        self.assertEqual(self.asked(), [30])

    def test_look_ups_of_a_dry_run_over_an_earlier_plan_go_together(self):
        self.load(orders(30))
        self.plan(1, UPPER)
        self.plan(2, LOOKUP)
        out = self.apply(None, "--segments", "1", "--dry-run", expect=4)
        self.assertRegex(out, r"names +120 +120 +0 +0 +0")
        self.assertEqual(self.asked(), [30])

    def test_look_ups_of_the_look_for_collisions_go_together(self):
        """What items look up, who stands under their new keys, and then the dry run's own."""
        self.load([*orders(30), item("CUSTOMER#7", "MOVED#Name 7#ORDER#1")])
        self.plan(1, {"steps": [{"name": "move", "where": "begins_with(SK, 'ORDER#')",
                                 "lookup": {"c": {"PK": "${PK}", "SK": "PROFILE"}}, "rekey": {"SK": "MOVED#${c.Name}#${SK}"}}]})
        out = self.apply(None, "--segments", "1", "--dry-run", expect=3)
        self.assertRegex(out, r"move +120 +119 +0 +0 +1")
        self.assertIn("MOVED#Name 7#ORDER#1", out)
        self.assertEqual(self.asked(), [30, 100, 20, 30])

    def apply_with_large_profiles(self):
        """The profiles have 400 KB each; a reply holds 16 MB of them at most. Returns the keys that were asked for, in their order,
        and the most memory that refold had."""
        running, peaks = [], []

        def before(operation, body):
            self.note(operation, body)
            peaks.extend(one.peak_bytes() for one in running)
            if operation != "BatchGetItem":
                return None
            keys = json.loads(body)["RequestItems"][self.name]["Keys"]
            found = [{**key, "Name": {"S": f"of {key['PK']['S']}"}, "Rest": {"S": "x" * 400000}} for key in keys[:40]]
            left = {self.name: {"Keys": keys[40:]}} if keys[40:] else {}
            return 200, json.dumps({"Responses": {self.name: found}, "UnprocessedKeys": left}).encode()

        with ddb_servers.Proxy(self.server, before=before) as proxy:
            running.append(refold.Started("apply", proxy.table(self.name), "--plans", self.plans, "--state", self.state,
                                          "--segments", "1", "--workers", "1"))
            out, _ = running[0].end()
        self.assertRegex(out, r"names +1,000 +1,000")
        asked = [key["PK"]["S"] for request in self.of("BatchGetItem") for key in request["RequestItems"][self.name]["Keys"]]
        return asked, max(peaks)

    def test_what_a_page_looks_up_takes_little_memory(self):
        self.load((item(f"CUSTOMER#{n}", "ORDER#1") for n in range(1000)), self.table)
        self.plan(1, LOOKUP)
        asked, peak = self.apply_with_large_profiles()
        self.assertEqual(len(set(asked)), 1000)
        self.assertLess(len(asked), 1200)
        self.assertLess(peak, 128 << 20)

    def test_what_is_looked_up_again_is_found_again(self):
        """By then it made way for other items."""
        self.load((item(f"ORDER#{n}", "A", Customer=f"CUSTOMER#{n % 100}") for n in range(1000)), self.table)
        self.plan(1, {"steps": [{"name": "names", "where": "SK = 'A'", "lookup": {"c": {"PK": "${Customer}", "SK": "PROFILE"}},
                                 "set": {"Name": "${c.Name}"}}]})
        asked, _ = self.apply_with_large_profiles()
        self.assertEqual(len(set(asked)), 100)
        self.assertGreater(len(asked), 200)
        for one in refold.items(self.table).values():
            self.assertEqual(one["Name"], f"of {one['Customer']}")

    def test_a_foreign_item_is_seen_through_a_filter(self):
        self.load(orders(3), self.table)
        self.server.call("PutItem", {"TableName": self.name, "Item": item("__refold#mine", "x")})
        self.plan(1, UPPER)
        with ddb_servers.Proxy(self.server, before=self.note) as proxy:
            _, err = refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--state", self.state,
                                "--segments", "1", expect=1)
        self.assertIn("FilterExpression", self.of("Scan")[0])
        self.assertIn("__refold#mine", err)
        stored = [one for one in self.server.items(self.name) if "refold_value" not in one]
        self.assertEqual(["Upper" in one for one in stored], [False] * 16)

    def test_an_item_that_is_read_in_part_may_be_too_large(self):
        """The server knows its size; it stays as it was, and the others are written."""
        self.load([item("CUSTOMER#1", "PROFILE", Name="a" * 1000, Large="x" * 408000), item("CUSTOMER#2", "PROFILE", Name="b")])
        self.plan(1, UPPER)
        said = [report.splitlines()[:3] for report in (self.apply(expect=3), self.apply_embedded(expect=3))]
        self.assertEqual(*said)
        self.assertRegex(said[0][2], r"upper +2 +1 +0 +0 +1")
        self.assert_same()

    def test_the_whole_key_of_an_index_is_read(self):
        rows = [item("A", str(n), GSI1SK={"N": str(n)} if n == 1 else str(n), Kind="k") for n in range(3)]
        self.load(rows)
        self.plan(1, {"steps": [{"where": "Kind = 'k'", "set": {"GSI1PK": "${SK}"}},
                                {"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S"}}]})
        said = [report.splitlines()[:3] for report in (self.apply(expect=3), self.apply_embedded(expect=3))]
        self.assertEqual(*said)
        self.assertRegex(said[0][2], r"3 +2 +0 +0 +1")
        self.assert_same()


if __name__ == "__main__":
    unittest.main()
