#!/usr/bin/env python3
"""Chinook and Northwind, folded: every row accounted for, both directions, nothing lost on the way.
REFOLD_DATA names the folder of chinook.sql and northwind.sql; without it these are left out, and say so."""
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

DATA = os.environ.get("REFOLD_DATA", os.path.join(ROOT, "..", "shared", "data"))


class Folded(unittest.TestCase):
    """Imports one database, checks it, applies its plans."""

    name = None

    @classmethod
    def setUpClass(cls):
        if cls.name is None:
            raise unittest.SkipTest("the base of the two below")
        cls.example = os.path.join(ROOT, "examples", cls.name)
        cls.folder = tempfile.mkdtemp(prefix="refold-real-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.server = postgres.Server().__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.server.create_database(cls.name)
        cls.server.load(cls.name, os.path.join(DATA, cls.name + ".sql"))
        cls.table = os.path.join(cls.folder, cls.name + ".refold")
        source = ["--from", cls.server.uri(cls.name), "--map", os.path.join(cls.example, "map.json")]
        refold.run("import", cls.table, *source)
        refold.run("verify", cls.table, *source)
        cls.imported = refold.items(cls.table)
        plans = ["--plans", os.path.join(cls.example, "plans")]
        refold.run("apply", cls.table, *plans, "--dry-run", expect=4)
        refold.run("apply", cls.table, *plans)
        refold.run("apply", cls.table, *plans)
        refold.run("verify", cls.table)
        cls.items = refold.items(cls.table)

    def sql(self, text):
        """Rows of a query as lists of text."""
        return [line.split("|") for line in self.server.psql(self.name, "SET datestyle = 'ISO'; " + text).splitlines()]

    def one(self, text):
        """The only value of a query, as a number."""
        return int(self.sql(text)[0][0])

    def of(self, partition, sort):
        """Imported items whose keys begin so."""
        return [item for (pk, sk), item in self.imported.items() if pk.startswith(partition) and sk.startswith(sort)]

    def assert_counts(self, expected):
        """Each (partition prefix, sort prefix) holds as many items as its table has rows, and that is all there is."""
        total = 0
        for (partition, sort), table in expected.items():
            self.assertEqual(len(self.of(partition, sort)), self.one(f"SELECT count(*) FROM {table}"), (partition, sort))
            total += len(self.of(partition, sort))
        self.assertEqual(total, len(self.imported))


    def check_first_map(self):
        """What scaffold writes imports as it is, an item for each row."""
        source = ["--from", self.server.uri(self.name)]
        path, table = os.path.join(self.folder, "first.json"), os.path.join(self.folder, "first.refold")
        with open(path, "w", encoding="utf-8") as file:
            file.write(refold.run("scaffold", *source)[0])
        refold.run("check", "--map", path)
        refold.run("import", table, *source, "--map", path)
        refold.run("verify", table, *source, "--map", path)
        tables = [row[0] for row in self.sql("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")]
        self.assertEqual(len(refold.items(table)), sum(self.one(f"SELECT count(*) FROM {name}") for name in tables))
        return table


class Chinook(Folded):
    name = "chinook"

    def test_a_first_map_imports_as_it_is(self):
        table = self.check_first_map()
        found = refold.query(table, "PK = 'PLAYLIST#17'")
        self.assertEqual(len(found) - 1, self.one("SELECT count(*) FROM playlist_track WHERE playlist_id = 17"))
        back = refold.query(table, "GSI1PK = 'TRACK#1' AND begins_with(GSI1SK, 'PLAYLIST_TRACK#')", "--index", "GSI1")
        self.assertEqual(len(back), self.one("SELECT count(*) FROM playlist_track WHERE track_id = 1"))

    def test_every_row_has_its_item(self):
        self.assert_counts({
            ("ARTIST#", "METADATA"): "artist", ("ARTIST#", "ALBUM#"): "album", ("TRACK#", "METADATA"): "track",
            ("GENRE#", ""): "genre", ("MEDIATYPE#", ""): "media_type", ("PLAYLIST#", "METADATA"): "playlist",
            ("PLAYLIST#", "TRACK#"): "playlist_track", ("TRACK#", "PLAYLIST#"): "playlist_track",
            ("CUSTOMER#", "PROFILE"): "customer", ("CUSTOMER#", "INVOICE#"): "invoice", ("EMPLOYEE#", ""): "employee"})
        lines = sum(len(item["Lines"]) for item in self.of("CUSTOMER#", "INVOICE#"))
        self.assertEqual(lines, self.one("SELECT count(*) FROM invoice_line"))

    def test_playlists_and_tracks_find_each_other(self):
        pairs = {(int(p), int(t)) for p, t in self.sql("SELECT playlist_id, track_id FROM playlist_track")}
        by_list = {(int(i["PK"][9:]), int(i["SK"][6:])) for i in self.of("PLAYLIST#", "TRACK#")}
        by_track = {(int(i["SK"][9:]), int(i["PK"][6:])) for i in self.of("TRACK#", "PLAYLIST#")}
        self.assertEqual(by_list, pairs)
        self.assertEqual(by_track, pairs)

    def test_album_with_its_tracks_through_the_index(self):
        found = refold.query(self.table, "GSI1PK = 'ALBUM#1'", "--index", "GSI1")
        self.assertEqual(found[0]["Title"], "For Those About To Rock We Salute You")
        self.assertEqual(len(found) - 1, self.one("SELECT count(*) FROM track WHERE album_id = 1"))

    def test_totals_are_exact(self):
        total = sum(item["Total"] for item in self.of("CUSTOMER#", "INVOICE#"))
        self.assertEqual(str(total), self.sql("SELECT sum(total) FROM invoice")[0][0])

    def test_hierarchy_through_the_index(self):
        found = refold.query(self.table, "GSI1PK = 'MANAGER#1'", "--index", "GSI1")
        rows = self.sql("SELECT employee_id FROM employee WHERE reports_to = 1")
        self.assertEqual({item["PK"] for item in found}, {f"EMPLOYEE#{row[0]}" for row in rows})
        heads = [item for item in self.of("EMPLOYEE#", "") if "GSI1PK" not in item]
        self.assertEqual(len(heads), self.one("SELECT count(*) FROM employee WHERE reports_to IS NULL"))

    def test_plans_did_what_they_say(self):
        found = refold.query(self.table, "Country = 'Germany'", "--index", "ByCountry")
        self.assertEqual(len(found), self.one("SELECT count(*) FROM invoice WHERE billing_country = 'Germany'"))
        tracks = [item for (pk, sk), item in self.items.items() if pk.startswith("TRACK#") and sk == "METADATA"]
        self.assertEqual(len(tracks), self.one("SELECT count(*) FROM track"))
        for item in tracks:
            self.assertLessEqual({"LengthMs", "Composer"}, set(item))
            self.assertNotIn("Milliseconds", item)
        names = dict(self.sql("SELECT playlist_id, name FROM playlist"))
        for (pk, sk), item in self.items.items():
            if pk.startswith("TRACK#") and sk.startswith("PLAYLIST#"):
                self.assertEqual(item["PlaylistName"], names[sk[9:]])


class Northwind(Folded):
    name = "northwind"

    def test_a_first_map_imports_as_it_is(self):
        found = refold.query(self.check_first_map(), "PK = 'ORDER#10248'")
        self.assertEqual(len(found) - 1, self.one("SELECT count(*) FROM order_details WHERE order_id = 10248"))

    def test_every_row_has_its_item(self):
        self.assert_counts({
            ("CUSTOMER#", "PROFILE"): "customers", ("CUSTOMER#", "ORDER#"): "orders", ("PRODUCT#", ""): "products",
            ("CATEGORY#", ""): "categories", ("SUPPLIER#", ""): "suppliers", ("SHIPPER#", ""): "shippers",
            ("EMPLOYEE#", "PROFILE"): "employees", ("EMPLOYEE#", "TERRITORY#"): "employee_territories",
            ("TERRITORY#", "EMPLOYEE#"): "employee_territories", ("REGION#", "METADATA"): "region",
            ("REGION#", "TERRITORY#"): "territories", ("STATE", ""): "us_states",
            ("DEMOGRAPHIC#", ""): "customer_demographics", ("CUSTOMER#", "DEMOGRAPHIC#"): "customer_customer_demo"})
        lines = sum(len(item["lines"]) for item in self.of("CUSTOMER#", "ORDER#"))
        self.assertEqual(lines, self.one("SELECT count(*) FROM order_details"))

    def test_pictures_are_bytes(self):
        import base64
        rows = dict(self.sql("SET bytea_output = 'hex'; SELECT employee_id, encode(photo, 'base64') FROM employees WHERE octet_length(photo) < 50"))
        for number, text in rows.items():
            item = self.imported[(f"EMPLOYEE#{number}", "PROFILE")]
            self.assertEqual(base64.b64decode(item["photo"]), base64.b64decode(text))

    def test_reals_are_their_shortest_text(self):
        freights = dict(self.sql("SET extra_float_digits = 1; SELECT order_id, freight FROM orders"))
        for item in self.of("CUSTOMER#", "ORDER#"):
            self.assertEqual(item["freight"], type(item["freight"])(freights[str(item["order_id"])]))

    def test_hierarchy_through_the_index(self):
        found = refold.query(self.table, "GSI1PK = 'MANAGER#2'", "--index", "GSI1")
        self.assertEqual(len(found), self.one("SELECT count(*) FROM employees WHERE reports_to = 2"))
        self.assertEqual([item["PK"] for item in found if not item["PK"].startswith("E#")], [])

    def test_plans_did_what_they_say(self):
        found = refold.query(self.table, "WaitingPK = 'WAITING'", "--index", "Unshipped")
        self.assertEqual(len(found), self.one("SELECT count(*) FROM orders WHERE shipped_date IS NULL"))
        products = {pk: item for (pk, _), item in self.items.items() if pk.startswith("PRODUCT#")}
        for number, gone, supplier in self.sql("SELECT product_id, discontinued, company_name FROM products JOIN suppliers USING (supplier_id)"):
            self.assertIs(products[f"PRODUCT#{number}"]["discontinued"], gone == "1")
            self.assertEqual(products[f"PRODUCT#{number}"]["supplier_name"], supplier)
        self.assertEqual([key for key in self.items if key[0].startswith("EMPLOYEE#")], [])


if __name__ == "__main__":
    if not os.path.isdir(DATA):
        print(f"left out: no folder {DATA}; REFOLD_DATA names the one with chinook.sql and northwind.sql")
        sys.exit(77)
    unittest.main(defaultTest=["Chinook", "Northwind"])
