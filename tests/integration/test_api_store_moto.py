#!/usr/bin/env python3
"""Tables behind the DynamoDB API, on moto: all of test_api_store.py, and what dynalite cannot do."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
sys.path.insert(0, HERE)
import postgres  # noqa: E402
import refold  # noqa: E402
from test_api_store import INDEX, SET, Store, orders  # noqa: E402

SHOP = os.path.join(ROOT, "examples", "shop")
CUSTOMERS = 8


class Moto(Store, unittest.TestCase):
    kind = "moto"

    def test_indexes_come_and_go(self):
        self.load(orders(6))
        self.plan(1, INDEX)
        self.plan(2, SET)
        for table in (self.table, self.embedded):
            self.apply(table)
        condition = "GSI1PK = 'STATUS#open'"
        wanted = sorted(map(str, refold.query(self.embedded, condition, "--index", "GSI1")))
        self.assertEqual(sorted(map(str, refold.query(self.table, condition, "--index", "GSI1"))), wanted)
        self.assertGreater(len(wanted), 5)
        self.assertIn("0 findings", refold.run("verify", self.table)[0])
        self.plan(3, {"steps": [{"drop_index": "GSI1"}]})
        self.apply()
        self.assertNotIn("GSI1 ", refold.run("show", self.table)[0])

    def test_shop_example_folds_as_embedded(self):
        with postgres.Server() as database:
            database.create_database("shop")
            database.load("shop", os.path.join(SHOP, "schema.sql"), os.path.join(SHOP, "generate.sql"), customers=CUSTOMERS)
            source = ["--from", database.uri("shop"), "--map", os.path.join(SHOP, "map.json")]
            for table in (self.table, self.embedded):
                refold.run("import", table, *source, "--create")
            self.assert_same()
            for table in (self.table, self.embedded):
                refold.run("apply", table, "--plans", os.path.join(SHOP, "plans"), *(self.state if table == self.table else []))
            self.assert_same()
            refold.run("verify", self.table, *source, "--plans", os.path.join(SHOP, "plans"))


if __name__ == "__main__":
    unittest.main()
