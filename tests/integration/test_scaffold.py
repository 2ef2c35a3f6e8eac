#!/usr/bin/env python3
"""A first map from a catalogue imports as it is: every row of every table that has a key is an item, whatever things are called."""
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import postgres  # noqa: E402
import refold  # noqa: E402

ODD = r"""
CREATE TYPE colour AS ENUM ('deep # red', 'blue');
CREATE DOMAIN code AS text CHECK (length(value) < 40);
CREATE DOMAIN amount AS numeric(6);
CREATE TYPE place AS (street text, number integer);

-- names
CREATE TABLE "User" ("select" integer PRIMARY KEY, "Mixed Case" text, "ünïcode" text);
INSERT INTO "User" VALUES (1, 'a', 'b'), (-2, NULL, NULL);
CREATE TABLE "say ""hi"".it's */ // ${x}" ("in" integer, "q""}'" text, "PK" text NOT NULL, "GSI1PK" integer, PRIMARY KEY ("in", "q""}'"));
INSERT INTO "say ""hi"".it's */ // ${x}" VALUES (1, 'a', 'kept', 5), (1, '}"', 'kept too', NULL);
CREATE TABLE "public.dotted" (id integer PRIMARY KEY);
INSERT INTO "public.dotted" VALUES (1);
CREATE TABLE dotted (id integer PRIMARY KEY);
INSERT INTO dotted VALUES (10), (11);
CREATE SCHEMA "Other.Schema";
CREATE TABLE "Other.Schema".dotted (id integer PRIMARY KEY, up integer REFERENCES public.dotted);
INSERT INTO "Other.Schema".dotted VALUES (1, 10), (2, NULL);

-- keys
CREATE TABLE pairs (a text, b text, c integer, PRIMARY KEY (a, b));
INSERT INTO pairs VALUES ('a#b', 'c'), ('a', 'b#c'), ('a%23b', 'c'), ('', ''), ('#', '');
CREATE TABLE by_email (id integer, email text NOT NULL UNIQUE, phone text UNIQUE);
INSERT INTO by_email VALUES (1, 'a@example.com', NULL), (1, 'b@example.com', NULL);
CREATE TABLE deferred (id integer NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO deferred VALUES (1);
CREATE TABLE log (at timestamptz, line text);
INSERT INTO log VALUES (now(), 'lost');
CREATE TABLE may_be_null (id integer UNIQUE, other integer NOT NULL);
CREATE UNIQUE INDEX ON may_be_null (other) WHERE id > 0;
CREATE UNIQUE INDEX ON may_be_null ((other + 1));
CREATE TABLE covered (id integer, extra text, CONSTRAINT covered_key PRIMARY KEY (id) INCLUDE (extra));
INSERT INTO covered VALUES (1, 'x');

-- types
CREATE TABLE key_types (big bigint, dec amount, part numeric(5,2), flag boolean, day date, at timestamptz, lang colour, short code, raw bytea,
    list integer[], doc jsonb, span int4range, ip inet, id uuid, real_ real, pad char(4), spot place,
    PRIMARY KEY (big, dec, part, flag, day, at, lang, short, raw, list, doc, span, ip, id, real_, pad, spot));
INSERT INTO key_types SELECT n, 7, 1.50, true, '2026-01-02', '2026-01-02 03:04+00', 'deep # red', 'x#' || n, '\x00ff', '{1,NULL}', '{"a": [1]}', '[1,5)',
    '10.0.0.1/8', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 0.1, 'ab', ROW('x', 1)::place FROM generate_series(-9223372036854775808, -9223372036854775806) AS n;
CREATE TABLE has_all (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n integer, twice integer GENERATED ALWAYS AS (2 * n) STORED, j json,
    d double precision, words tsvector, snap txid_snapshot, snaps txid_snapshot[]);
INSERT INTO has_all (n, j, d, words, snap, snaps) VALUES (4, '[1]', 0.5, 'a', '10:20:10,14,15', ARRAY['10:20:'::txid_snapshot]);

-- references
CREATE TABLE employees (id integer PRIMARY KEY, boss integer REFERENCES employees, badge text NOT NULL UNIQUE);
INSERT INTO employees VALUES (1, NULL, 'B#1'), (2, 1, 'B#2'), (3, 1, 'B#3');
CREATE TABLE cars (plate text PRIMARY KEY, badge text REFERENCES employees (badge));
INSERT INTO cars VALUES ('A', 'B#2'), ('B', NULL);
CREATE TABLE reviews (id integer PRIMARY KEY, by integer NOT NULL REFERENCES employees, of integer NOT NULL REFERENCES employees);
INSERT INTO reviews VALUES (1, 1, 2);
CREATE TABLE customers (id integer PRIMARY KEY, name text);
INSERT INTO customers VALUES (1, 'Ada'), (10, 'Bob');
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers ON DELETE CASCADE, total numeric(10,2));
INSERT INTO orders VALUES (5, 1, 1.10), (40, 1, 2.20), (6, 10, 3);
CREATE TABLE payments (id integer PRIMARY KEY, order_id integer NOT NULL REFERENCES orders ON DELETE CASCADE);
INSERT INTO payments VALUES (100, 5), (101, 40);
CREATE TABLE order_lines (order_id integer REFERENCES orders, line smallint, "to" text, PRIMARY KEY (order_id, line));
INSERT INTO order_lines VALUES (5, 1, 'x'), (5, 2, 'y'), (40, 1, 'z');
CREATE TABLE hens (id integer PRIMARY KEY, egg integer);
CREATE TABLE eggs (id integer PRIMARY KEY, hen integer NOT NULL REFERENCES hens);
ALTER TABLE hens ADD FOREIGN KEY (egg) REFERENCES eggs DEFERRABLE;
INSERT INTO hens VALUES (1, NULL);
INSERT INTO eggs VALUES (1, 1);
UPDATE hens SET egg = 1;
CREATE TABLE heads (id integer PRIMARY KEY);
CREATE TABLE tails (id integer PRIMARY KEY REFERENCES heads);
ALTER TABLE heads ADD FOREIGN KEY (id) REFERENCES tails DEFERRABLE INITIALLY DEFERRED;
BEGIN; INSERT INTO heads VALUES (1); INSERT INTO tails VALUES (1); COMMIT;
CREATE TABLE orgs (code text PRIMARY KEY);
CREATE TABLE depts (org text REFERENCES orgs, code text, PRIMARY KEY (org, code));
CREATE TABLE squads (org text, dept text, code text, PRIMARY KEY (org, dept, code), FOREIGN KEY (dept, org) REFERENCES depts (code, org));
INSERT INTO orgs VALUES ('A#B'), ('A');
INSERT INTO depts VALUES ('A', 'x'), ('A', 'x#SQUAD#y'), ('A#B', '');
INSERT INTO squads VALUES ('A', 'x', 'y'), ('A', 'x', ''), ('A', 'x#SQUAD#y', 'z');

-- join tables
CREATE TABLE students (id integer PRIMARY KEY);
CREATE TABLE courses (id integer PRIMARY KEY);
CREATE TABLE rooms (id integer PRIMARY KEY);
CREATE TABLE enrolments (student_id integer REFERENCES students, course_id integer REFERENCES courses, grade text, PRIMARY KEY (student_id, course_id));
CREATE TABLE wishes (student_id integer REFERENCES students, course_id integer REFERENCES courses, PRIMARY KEY (student_id, course_id));
CREATE TABLE lessons (student_id integer REFERENCES students, course_id integer REFERENCES courses, room_id integer REFERENCES rooms,
    PRIMARY KEY (student_id, course_id, room_id));
INSERT INTO students VALUES (1), (2);
INSERT INTO courses VALUES (1), (2);
INSERT INTO rooms VALUES (1), (2);
INSERT INTO enrolments VALUES (1, 1, 'A'), (1, 2, NULL), (2, 1, 'C');
INSERT INTO wishes VALUES (1, 1), (2, 2);
INSERT INTO lessons VALUES (1, 1, 1), (1, 1, 2), (2, 1, 2);

-- tables in pieces
CREATE TABLE events (day date, id integer, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
INSERT INTO events VALUES ('2026-01-05', 1), ('2026-02-05', 1);
CREATE TABLE cities (id integer PRIMARY KEY, name text);
CREATE TABLE capitals (state text, PRIMARY KEY (id)) INHERITS (cities);
CREATE TABLE hamlets () INHERITS (cities);
INSERT INTO cities VALUES (1, 'Lyon');
INSERT INTO capitals VALUES (1, 'Paris', 'F');
INSERT INTO hamlets VALUES (1, 'Nowhere');

-- what is no table, or nobody's
CREATE VIEW sums AS SELECT count(*) FROM orders;
CREATE MATERIALIZED VIEW kept AS SELECT id FROM orders;
CREATE UNIQUE INDEX ON kept (id);
CREATE TABLE secrets (id integer PRIMARY KEY);
CREATE SCHEMA closed;
CREATE TABLE closed.shop (id integer PRIMARY KEY);
CREATE TABLE walled (id integer PRIMARY KEY);
ALTER TABLE walled ENABLE ROW LEVEL SECURITY;
CREATE ROLE reader LOGIN;
GRANT USAGE ON SCHEMA "Other.Schema" TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public, "Other.Schema", closed TO reader;
REVOKE SELECT ON secrets FROM reader;
"""


def plain_json(text):
    """The map without its comments, which stand on lines of their own."""
    return json.loads("\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//")))


def fold(folder, uri, text, name="t"):
    """Imports a map as it is; returns the report and the table."""
    path, table = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".refold")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    refold.run("check", "--map", path)
    out, _ = refold.run("import", table, "--from", uri, "--map", path, "--format", "json")
    refold.run("verify", table, "--from", uri, "--map", path)
    return json.loads(out), table


class Scaffold(unittest.TestCase):
    """One server and one folder."""

    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server().__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.folder = tempfile.mkdtemp(prefix="refold-scaffold-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)


class Shop(Scaffold):

    def test_every_row_is_an_item(self):
        self.server.create_database("shop")
        example = os.path.join(ROOT, "examples", "shop")
        self.server.load("shop", os.path.join(example, "schema.sql"), os.path.join(example, "generate.sql"), customers=20)
        text, _ = refold.run("scaffold", "--from", self.server.uri("shop"))
        report, table = fold(self.folder, self.server.uri("shop"), text)
        rows = 0
        for entity in plain_json(text)["entities"]:
            rows += int(self.server.psql("shop", f"SELECT count(*) FROM {entity['from']}"))
        self.assertGreater(rows, 100)
        self.assertEqual(len(refold.items(table)), rows)
        self.assertEqual(sum(entity["items"] for entity in report["entities"]), rows)


class Odd(Scaffold):
    """Everything that is odd, in one database."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.create_database("odd")
        cls.server.psql("odd", ODD)
        cls.uri = cls.server.uri("odd").replace("user=postgres", "user=reader")
        cls.text, cls.messages = refold.run("scaffold", "--from", cls.uri)
        cls.map = {entity["name"]: entity for entity in plain_json(cls.text)["entities"]}
        cls.report, cls.table = fold(cls.folder, cls.uri, cls.text)
        cls.items = refold.items(cls.table)

    def comment(self, name):
        """What stands before the entity."""
        before = self.text[:self.text.index(f'    {{ "name": {json.dumps(name, ensure_ascii=False)}')]
        return before[before.rindex("\n\n") if "\n\n" in before else 0:]

    def test_every_row_of_a_table_with_a_key_is_an_item(self):
        tables = self.server.psql("odd", """SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
            WHERE relkind IN ('r', 'p') AND NOT relispartition AND nspname IN ('public', 'Other.Schema')
            AND relname NOT IN ('log', 'may_be_null', 'hamlets', 'secrets', 'walled')""").splitlines()
        expected = 0
        for name in tables:
            only = "ONLY" if name == "public.cities" else ""
            expected += int(self.server.psql("odd", f"SELECT count(*) FROM {only} {name}"))
        self.assertEqual(len(self.map), len(tables))
        self.assertEqual(len(self.items), expected)
        self.assertEqual(sum(entity["rows"] for entity in self.report["entities"]), expected)

    def test_what_is_left_out_is_named_with_the_reason(self):
        head = self.text[:self.text.index("{\n")]
        for table, reason in [("public.log", "no primary key"), ("public.may_be_null", "no primary key"), ("public.hamlets", "no primary key"),
                              ("public.sums", "a view"), ("public.kept", "a view"), ("public.secrets", "it may not be read"),
                              ("closed.shop", "it may not be read"), ("public.walled", "row security")]:
            self.assertRegex(head, f"(?m)^//   {re.escape(table)}: {reason}")
        self.assertEqual(len(re.findall("(?m)^//   ", head)), 8)
        self.assertEqual(self.messages, f"{len(self.map)} entities; 8 tables and views left out, as the map's head says\n")

    def test_names_are_kept_as_they_are(self):
        self.assertEqual(self.items["USER#-2", "USER"], {"PK": "USER#-2", "SK": "USER", "select": -2})
        found = [item for item in self.items.values() if item.get("PK_column") == "kept"]
        self.assertEqual(len(found), 1)
        self.assertEqual((found[0]["GSI1PK_column"], found[0]["in"], found[0]["q\"}'"]), (5, 1, "a"))
        self.assertNotIn("GSI1PK", found[0])

    def test_tables_of_one_name_stand_apart(self):
        self.assertEqual({key for key in self.items if "DOTTED" in key[1]}, {
            ("OTHER_SCHEMA_DOTTED#1", "OTHER_SCHEMA_DOTTED"), ("OTHER_SCHEMA_DOTTED#2", "OTHER_SCHEMA_DOTTED"),
            ("PUBLIC_DOTTED#10", "PUBLIC_DOTTED"), ("PUBLIC_DOTTED#11", "PUBLIC_DOTTED"), ("PUBLIC_DOTTED_2#1", "PUBLIC_DOTTED_2")})
        by = refold.query(self.table, "GSI1PK = 'PUBLIC_DOTTED#10'", "--index", "GSI1")
        self.assertEqual([item["PK"] for item in by], ["OTHER_SCHEMA_DOTTED#1"])

    def test_values_with_separators_share_no_key(self):
        pairs = {(item["a"], item["b"]) for (_, sk), item in self.items.items() if sk == "PAIR"}
        self.assertEqual(pairs, {("a#b", "c"), ("a", "b#c"), ("a%23b", "c"), ("", ""), ("#", "")})
        self.assertIn(("ORG#A", "DEPT#x%23SQUAD%23y"), self.items)
        self.assertIn(("ORG#A", "DEPT#x#SQUAD#y"), self.items)

    def test_a_unique_key_stands_in_for_a_primary_one(self):
        self.assertIn(("BY_EMAIL#a@example.com", "BY_EMAIL"), self.items)
        self.assertIn(("DEFERRED#1", "DEFERRED"), self.items)

    def test_every_type_can_be_a_key(self):
        keys = [pk for pk, sk in self.items if sk == "KEY_TYPE"]
        self.assertEqual(len(keys), 3)
        self.assertIn("-9223372036854775808#7#1.5#true#2026-01-02#2026-01-02T03:04:00.000000Z#deep %23 red#x%23-9223372036854775808#AP8=#"
                      "[1,null]#", min(keys) + max(keys))

    def test_what_has_no_conversion_is_kept_as_text(self):
        item = self.items["HAS_ALL#1", "HAS_ALL"]
        self.assertEqual((item["snap"], item["snaps"], item["twice"], item["j"]), ("10:20:10,14,15", "{10:20:}", 8, "[1]"))
        for column in ("snap", "snaps"):
            self.assertIn(f"{column}: txid_snapshot has no conversion, so its text is kept", self.comment("HasAll"))

    def test_one_query_reads_a_collection(self):
        found = refold.query(self.table, "PK = 'CUSTOMER#1'")
        self.assertEqual([item["SK"] for item in found], ["CUSTOMER", "ORDER#0000000005", "ORDER#0000000040"])
        found = refold.query(self.table, "PK = 'ORG#A' AND begins_with(SK, 'DEPT#x#')")
        self.assertEqual([item["SK"] for item in found], ["DEPT#x#SQUAD#", "DEPT#x#SQUAD#y"])

    def test_the_index_brings_an_order_with_what_belongs_to_it(self):
        found = refold.query(self.table, "GSI1PK = 'ORDER#5'", "--index", "GSI1")
        self.assertEqual([item["GSI1SK"] for item in found],
                         ["ORDER", "ORDER_LINE#00001", "ORDER_LINE#00002", "PAYMENT#0000000100"])

    def test_the_index_lists_by_a_reference(self):
        for key, sorts in [("EMPLOYEE#1", ["EMPLOYEE#0000000002", "EMPLOYEE#0000000003", "REVIEW#0000000001"]),
                           ("EMPLOYEE.BADGE#B#2", ["CAR#A"]), ("EMPLOYEE#2", []), ("HEN#1", ["EGG#0000000001"])]:
            found = refold.query(self.table, f"GSI1PK = '{key}'", "--index", "GSI1")
            self.assertEqual([item["GSI1SK"] for item in found], sorts, key)
        self.assertIn("not listed by Employee (of)", self.comment("Review"))

    def test_a_join_table_leads_both_ways(self):
        ways = refold.query(self.table, "PK = 'STUDENT#1' AND begins_with(SK, 'ENROLMENT#')")
        self.assertEqual([item["course_id"] for item in ways], [1, 2])
        back = refold.query(self.table, "GSI1PK = 'COURSES#1' AND begins_with(GSI1SK, 'ENROLMENT#')", "--index", "GSI1")
        self.assertEqual([item["student_id"] for item in back], [1, 2])
        self.assertIn("a join table", self.comment("Enrolment"))
        self.assertIn("not listed by Room (room_id)", self.comment("Lesson"))

    def test_pieces_of_a_table_are_met_once(self):
        self.assertEqual(len([1 for _, sk in self.items if sk == "EVENT"]), 2)
        self.assertEqual(self.items["CITIES#1", "CITIES"]["name"], "Lyon")
        self.assertEqual(self.items["CAPITAL#1", "CAPITAL"]["name"], "Paris")

    def test_the_same_database_gives_the_same_map(self):
        self.assertEqual(refold.run("scaffold", "--from", self.uri)[0], self.text)

    def test_what_a_comment_offers_to_embed_can_be_embedded(self):
        offers = re.findall(r'(?m)^    // or a list in (\w+), instead of this: (".*)$', self.text)
        self.assertGreater(len(offers), 3)
        folded = plain_json(self.text)
        entities = {entity["name"]: entity for entity in folded["entities"]}
        for parent, offer in offers:
            entities[parent].setdefault("embed", {}).update(json.loads("{" + offer + "}")["embed"])
        _, table = fold(self.folder, self.uri, json.dumps(folded), "embedded")
        student = refold.items(table)["STUDENT#1", "STUDENT"]
        self.assertEqual([row["course_id"] for row in student["enrolments"]], [1, 2])
        self.assertEqual(len(student["lessons"]), 2)


class Options(Scaffold):

    def test_schemas_are_chosen(self):
        self.server.create_database("chosen")
        uri = self.server.uri("chosen")
        self.server.psql("chosen", """CREATE SCHEMA a; CREATE SCHEMA "B c"; CREATE TABLE a.x (id integer PRIMARY KEY);
            CREATE TABLE "B c".x (id integer PRIMARY KEY REFERENCES a.x); CREATE TABLE y (id integer PRIMARY KEY REFERENCES a.x);""")
        for option, names in [([], ["a.x", "B c.x", "Y"]), (["--schema", "a"], ["X"]), (["--schema", "B c,public"], ["X", "Y"])]:
            text, messages = refold.run("scaffold", "--from", uri, *option)
            self.assertEqual(sorted(entity["name"] for entity in plain_json(text)["entities"]), sorted(names))
            self.assertNotIn("left out", messages)
        _, err = refold.run("scaffold", "--from", uri, "--schema", "a,nowhere", expect=2)
        self.assertIn('there is no schema "nowhere"', err)

    def test_where_there_is_nothing_it_says_so(self):
        self.server.create_database("nothing")
        uri = self.server.uri("nothing")
        for sql, message in [("", "there is no table in the database nothing"),
                             ("CREATE TABLE log (line text)", "public.log: no primary key"), ("DROP TABLE log; CREATE VIEW v AS SELECT 1", "public.v: a view")]:
            self.server.psql("nothing", sql)
            out, err = refold.run("scaffold", "--from", uri, expect=1)
            self.assertEqual(out, "")
            self.assertIn(message, err)

    def test_a_wrong_source_is_told_without_its_password(self):
        for source, status in [("postgresql://u:hunter2@127.0.0.1:1/x", 1), ("postgres:/u:hunter2@h/x", 2), ("rows.jsonl", 2)]:
            out, err = refold.run("scaffold", "--from", source, expect=status)
            self.assertEqual(out, "")
            self.assertNotIn("hunter2", err)
        _, err = refold.run("scaffold", expect=2)
        self.assertIn("--from is needed", err)

    def test_a_name_that_is_no_utf8_is_told(self):
        self.server.create_database("unchecked", "ENCODING 'SQL_ASCII'", "LC_COLLATE 'C'", "LC_CTYPE 'C'", "TEMPLATE template0")
        uri = self.server.uri("unchecked")
        self.server.psql("unchecked", r"""CREATE SCHEMA odd; CREATE TABLE fine (id integer PRIMARY KEY);
            DO $$ BEGIN EXECUTE 'CREATE TABLE odd."' || convert_from('\xff', 'SQL_ASCII') || '" (id integer PRIMARY KEY)'; END $$""")
        _, err = refold.run("scaffold", "--from", uri, expect=1)
        self.assertIn("not UTF-8", err)
        text, _ = refold.run("scaffold", "--from", uri, "--schema", "public")
        fold(self.folder, uri, text)


if __name__ == "__main__":
    unittest.main(defaultTest=["Shop", "Odd", "Options"])
