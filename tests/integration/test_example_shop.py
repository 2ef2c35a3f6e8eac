#!/usr/bin/env python3
"""The shop example: each pattern of single-table design answers its query with exactly the right items."""
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import postgres  # noqa: E402
import refold  # noqa: E402

SHOP = os.path.join(ROOT, "examples", "shop")
CUSTOMERS = 150


class Shop(unittest.TestCase):
    """One import and one apply for all the claims below."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="refold-shop-")
        cls.server = postgres.Server().__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.server.create_database("shop")
        cls.server.load("shop", os.path.join(SHOP, "schema.sql"), os.path.join(SHOP, "generate.sql"), customers=CUSTOMERS)
        cls.table = os.path.join(cls.folder, "shop.refold")
        source = ["--from", cls.server.uri("shop"), "--map", os.path.join(SHOP, "map.json")]
        refold.run("import", cls.table, *source)
        cls.verified = refold.run("verify", cls.table, *source)
        cls.imported = refold.items(cls.table)
        plans = ["--plans", os.path.join(SHOP, "plans")]
        cls.dry = refold.run("apply", cls.table, *plans, "--dry-run", expect=4)[0]
        cls.unchanged = refold.export(cls.table)
        refold.run("apply", cls.table, *plans)
        cls.again = refold.run("apply", cls.table, *plans)
        refold.run("verify", cls.table)

    def sql(self, text):
        """Rows of a query as lists of text."""
        return [line.split("|") for line in self.server.psql("shop", "SET datestyle = 'ISO'; SET timezone = 'UTC'; " + text).splitlines()]

    def test_every_row_has_its_item(self):
        counts = {}
        for item in self.imported.values():
            counts[item["Kind"]] = counts.get(item["Kind"], 0) + 1
        both_ways = {"Enrolment": ("enrolments", 2), "GamePlayer": ("game_players", 2), "Membership": ("memberships", 1)}
        one_each = {"Customer": "customers", "Order": "orders", "Product": "products", "Student": "students", "Course": "courses",
                    "Organisation": "organisations", "Department": "departments", "Squad": "squads", "Member": "members",
                    "Player": "players", "Game": "games", "Counter": "visit_counters"}
        for kind, table in one_each.items():
            both_ways[kind] = (table, 1)
        for kind, (table, times) in both_ways.items():
            rows = int(self.sql(f"SELECT count(*) FROM {table}")[0][0])
            self.assertEqual(counts.pop(kind, 0), rows * times, kind)
        self.assertEqual(counts, {})

    def test_dry_run_changes_nothing(self):
        self.assertEqual({(i["PK"], i["SK"]) for i in self.imported.values()}, set(self.imported))
        self.assertEqual(len(self.unchanged.splitlines()), len(self.imported))

    def test_collection_holds_profile_and_orders_by_date(self):
        found = refold.query(self.table, "PK = 'CUSTOMER#7'")
        orders = self.sql("SELECT id, to_char(placed_at, 'YYYY-MM-DD') FROM orders WHERE customer_id = 7 ORDER BY 2, 1")
        keys = [f"ORDER#{day}#{int(number):08}" for number, day in orders] + ["PROFILE"]
        self.assertEqual([item["SK"] for item in found], keys)

    def test_orders_of_a_customer_in_march(self):
        found = refold.query(self.table, "PK = 'CUSTOMER#9' AND SK BETWEEN 'ORDER#2026-03-01' AND 'ORDER#2026-03-31~'")
        rows = self.sql("SELECT id FROM orders WHERE customer_id = 9 AND placed_at >= '2026-03-01' AND placed_at < '2026-04-01'")
        self.assertEqual({int(item["OrderId"]) for item in found}, {int(row[0]) for row in rows})

    def test_one_index_serves_three_patterns(self):
        by_mail = refold.query(self.table, "GSI1PK = 'EMAIL#customer42@mail.example'", "--index", "GSI1")
        self.assertEqual([item["PK"] for item in by_mail], ["CUSTOMER#42"])
        by_status = refold.query(self.table, "GSI1PK = 'STATUS#shipped'", "--index", "GSI1")
        rows = self.sql("SELECT id FROM orders WHERE status = 'shipped'")
        self.assertEqual({int(item["OrderId"]) for item in by_status}, {int(row[0]) for row in rows})
        self.assertEqual([item["OrderDate"] for item in by_status], sorted(item["OrderDate"] for item in by_status))
        by_category = refold.query(self.table, "GSI1PK = 'CATEGORY#books'", "--index", "GSI1")
        rows = self.sql("SELECT p.sku FROM products p JOIN categories c ON c.id = p.category_id WHERE c.slug = 'books'")
        self.assertEqual({item["Sku"] for item in by_category}, {row[0] for row in rows})
        self.assertEqual(refold.query(self.table, "GSI1PK = 'CATEGORY#empty'", "--index", "GSI1"), [])

    def test_sparse_index_holds_unpaid_orders_only(self):
        found = refold.query(self.table, "UnpaidGSIPK = 'UNPAID'", "--index", "Unpaid")
        rows = self.sql("SELECT customer_id, total FROM orders WHERE status = 'pending_payment'")
        self.assertEqual(sorted((int(i["CustomerId"]), i["Total"]) for i in found), sorted((int(c), type(found[0]["Total"])(t)) for c, t in rows))
        self.assertEqual(set(found[0]), {"PK", "SK", "UnpaidGSIPK", "UnpaidGSISK", "Total", "CustomerId"})

    def test_hierarchy_is_read_by_prefix(self):
        found = refold.query(self.table, "PK = 'ORG#FPT' AND begins_with(SK, 'DEPT#eng#')")
        rows = self.sql("SELECT count(*) FROM members WHERE organisation = 'FPT' AND department = 'eng'")
        self.assertEqual(len(found), 1 + 2 + int(rows[0][0]))
        squad = refold.query(self.table, "PK = 'ORG#FPT' AND begins_with(SK, 'DEPT#engineering#TEAM#platform#')")
        self.assertEqual({item["Kind"] for item in squad}, {"Squad", "Member"})

    def test_adjacency_is_read_both_ways(self):
        for student, course in self.sql("SELECT student_id, course_id FROM enrolments LIMIT 5"):
            courses = refold.query(self.table, f"PK = 'STUDENT#{student}' AND begins_with(SK, 'COURSE#')")
            students = refold.query(self.table, f"PK = 'COURSE#{course}' AND begins_with(SK, 'STUDENT#')")
            self.assertIn(f"COURSE#{course}", {item["SK"] for item in courses})
            self.assertIn(f"STUDENT#{student}", {item["SK"] for item in students})
            rows = self.sql(f"SELECT course_id FROM enrolments WHERE student_id = {student}")
            self.assertEqual({item["SK"] for item in courses}, {f"COURSE#{row[0]}" for row in rows})

    def test_put_adds_the_other_direction(self):
        for team, in self.sql("SELECT id FROM teams"):
            found = refold.query(self.table, f"PK = 'TEAM#{team}' AND begins_with(SK, 'USER#')")
            rows = self.sql(f"SELECT user_id, role FROM memberships WHERE team_id = {team}")
            self.assertEqual({(item["SK"], item["Role"]) for item in found}, {(f"USER#{user}", role) for user, role in rows})

    def test_sharded_counter_adds_up(self):
        out, _ = refold.run("query", self.table, "PK = 'COUNTER#visits#{shard}'", "--shards", "10", "--sum", "Visits")
        total = self.sql("SELECT sum(visits) FROM visit_counters")[0][0]
        self.assertIn(total, out.replace(",", ""))

    def test_keys_by_mail_are_gone(self):
        before = [key for key in self.imported if key[0].startswith("cemail#")]
        after = refold.items(self.table)
        self.assertEqual(len(before), 6 * CUSTOMERS)
        self.assertEqual([key for key in after if key[0].startswith("cemail#")], [])
        self.assertEqual(len([key for key in after if key[0].startswith("CUSTOMER#")]), 6 * CUSTOMERS)
        memberships = int(self.sql("SELECT count(*) FROM memberships")[0][0])
        self.assertEqual(len(after), len(self.imported) + memberships)

    def test_text_became_a_number_and_copies_are_current(self):
        names = dict(self.sql("SELECT id, full_name FROM customers"))
        totals = dict(self.sql("SELECT id, total::numeric FROM orders"))
        orders = [item for item in refold.items(self.table).values() if item["Kind"] == "Order"]
        for item in orders:
            self.assertEqual(item["CustomerName"], names[str(item["CustomerId"])])
            self.assertEqual(item["Total"], type(item["Total"])(totals[str(item["OrderId"])]))
            self.assertEqual(len(item["Lines"]), 2)
            self.assertNotIn("cust_nm", item)

    def test_every_item_has_its_version(self):
        self.assertEqual({item["SchemaVersion"] for item in refold.items(self.table).values()}, {2})

    def test_apply_again_does_nothing(self):
        self.assertIn("nothing to do", self.again[0] + self.again[1])


if __name__ == "__main__":
    unittest.main()
