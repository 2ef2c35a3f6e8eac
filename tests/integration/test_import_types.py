#!/usr/bin/env python3
"""Every PostgreSQL type has one lossless conversion, or a refusal that names table, key and column."""
import base64
import json
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

KEY = {"PK": "ROW#${id}", "SK": "A"}


def s(text):
    return {"S": text}


def n(digits):
    return {"N": digits}


def b(content):
    return {"B": base64.b64encode(content).decode()}


NULL = {"NULL": True}
TRUE, FALSE = {"BOOL": True}, {"BOOL": False}


def listed(*members):
    return {"L": list(members)}


def mapped(**members):
    return {"M": members}


# type, SQL of the value, what it becomes
VALUES = [
    ("smallint", "-5", n("-5")),
    ("integer", "35506143", n("35506143")),
    ("bigint", "9007199254740993", n("9007199254740993")),
    ("bigint", "-9223372036854775808", n("-9223372036854775808")),
    ("numeric", "6.938893903907228e-17", n("0.00000000000000006938893903907228")),
    ("numeric(12,4)", "1.1000", n("1.1")),
    ("numeric(12,4)", "0", n("0")),
    ("numeric(5,-2)", "12345", n("12300")),
    ("numeric", "1234567895171680000000000000000000000000", n("1234567895171680000000000000000000000000")),
    ("numeric", "0.99", n("0.99")),
    ("real", "0.1", n("0.1")),
    ("double precision", "0.1", n("0.1")),
    ("double precision", "-216237.00000035969", n("-216237.0000003597")),
    ("double precision", "'-0'", n("0")),
    ("double precision", "1e100", n("1" + "0" * 100)),
    ("money", "1234567.89", n("1234567.89")),
    ("money", "-0.05", n("-0.05")),
    ("oid", "4294967295", n("4294967295")),
    ("boolean", "true", TRUE),
    ("boolean", "false", FALSE),
    ("text", "''", s("")),
    ("text", r"E'tab\tfeed\nback\\slash \\N \b\f\r\x0b'", s("tab\tfeed\nback\\slash \\N \b\f\r\x0b")),
    ("text", "'NULL'", s("NULL")),
    ("text", r"'\N'", s("\\N")),
    ("text", "'żółć 日本 🐘'", s("żółć 日本 🐘")),
    ("varchar(10)", "'ab  '", s("ab  ")),
    ("char(5)", "'ab'", s("ab")),
    ("name", "'pg'", s("pg")),
    ('"char"', "'x'", s("x")),
    ("uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", s("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")),
    ("bytea", r"'\x00ff5c27'", b(b"\x00\xff\x5c\x27")),
    ("bytea", "''", b(b"")),
    ("date", "'2026-04-18'", s("2026-04-18")),
    ("date", "'0001-01-01'", s("0001-01-01")),
    ("time", "'03:04:05'", s("03:04:05.000000")),
    ("time", "'24:00:00'", s("24:00:00.000000")),
    ("timetz", "'24:00:00+05:30'", s("24:00:00.000000+05:30")),
    ("timetz", "'03:04:05.5+15:59:59'", s("03:04:05.500000+15:59:59")),
    ("timestamp", "'2026-04-18 03:04:05.1'", s("2026-04-18T03:04:05.100000")),
    ("timestamptz", "'2026-04-18 03:04:05.123456+05:45'", s("2026-04-17T21:19:05.123456Z")),
    ("timestamptz", "'1900-01-01 00:00:00 Europe/Amsterdam'", s("1899-12-31T23:40:28.000000Z")),
    ("interval", "'1 year 2 mons -3 days 4:5:6.789'", s("P1Y2M-3DT4H5M6.789S")),
    ("interval", "'0'", s("PT0S")),
    ("json", """'{"b":1,  "a":1.00,"a":2}'""", s('{"b":1,  "a":1.00,"a":2}')),
    ("jsonb", """'{"n":1234567890123456789,"x":[1.50,null,true,"é\\u00e9"],"":{}}'""",
     {"M": {"n": n("1234567890123456789"), "x": listed(n("1.5"), NULL, TRUE, s("éé")), "": mapped()}}),
    ("jsonb", "'null'", NULL),
    ("jsonb", "'1e5'", n("100000")),
    ("xml", "'<a>b</a>'", s("<a>b</a>")),
    ("inet", "'10.0.0.1/8'", s("10.0.0.1/8")),
    ("inet", "'10.0.0.1/32'", s("10.0.0.1")),
    ("cidr", "'10.0.0.0/8'", s("10.0.0.0/8")),
    ("macaddr", "'08-00-2b-01-02-03'", s("08:00:2b:01:02:03")),
    ("bit(3)", "B'101'", s("101")),
    ("varbit", "B''", s("")),
    ("point", "'(1,2)'", s("(1,2)")),
    ("pg_lsn", "'16/B374D848'", s("16/B374D848")),
    ("colour", "'deep red'", s("deep red")),
    ("positive", "7", n("7")),
    ("tags", "ARRAY['x']", listed(s("x"))),
    ("integer[]", "'{1,NULL,3}'", listed(n("1"), NULL, n("3"))),
    ("integer[]", "'{}'", listed()),
    ("integer[]", "'{{1,2},{3,NULL}}'", listed(listed(n("1"), n("2")), listed(n("3"), NULL))),
    ("text[]", """ARRAY['a,b', 'say "hi"', 'back\\slash', 'NULL', NULL, '', '{x}', ' y ']""",
     listed(s("a,b"), s('say "hi"'), s("back\\slash"), s("NULL"), NULL, s(""), s("{x}"), s(" y "))),
    ("bytea[]", r"ARRAY['\x00'::bytea]", listed(b(b"\x00"))),
    ("box[]", "ARRAY['(1,2),(0,0)'::box, '(3,4),(1,1)'::box]", listed(s("(1,2),(0,0)"), s("(3,4),(1,1)"))),
    ("colour[]", "ARRAY['deep red', 'blue']::colour[]", listed(s("deep red"), s("blue"))),
    ("timestamptz[]", "ARRAY['2026-01-02 03:04:05+00'::timestamptz]", listed(s("2026-01-02T03:04:05.000000Z"))),
    ("place", "ROW('Main \"St\", 5', NULL, ARRAY[1,2])", mapped(street=s('Main "St", 5'), codes=listed(n("1"), n("2")))),
    ("place", "ROW('', 5, NULL)", mapped(street=s(""), number=n("5"))),
    ("place[]", "ARRAY[ROW('a\\b', 1, '{}')]::place[]", listed(mapped(street=s("a\\b"), number=n("1"), codes=listed()))),
    ("int4range", "'[1,5]'", mapped(lower=n("1"), upper=n("6"), lower_inc=TRUE, upper_inc=FALSE, empty=FALSE)),
    ("int4range", "'(,)'", mapped(lower_inc=FALSE, upper_inc=FALSE, empty=FALSE)),
    ("int4range", "'empty'", mapped(empty=TRUE)),
    ("tsrange", "'[2026-01-01 00:00, 2026-01-02 00:00)'",
     mapped(lower=s("2026-01-01T00:00:00.000000"), upper=s("2026-01-02T00:00:00.000000"), lower_inc=TRUE, upper_inc=FALSE, empty=FALSE)),
    ("int4multirange", "'{[1,3),[5,8)}'",
     listed(mapped(lower=n("1"), upper=n("3"), lower_inc=TRUE, upper_inc=FALSE, empty=FALSE),
            mapped(lower=n("5"), upper=n("8"), lower_inc=TRUE, upper_inc=FALSE, empty=FALSE))),
    ("hstore", """'a=>1, "b c"=>NULL, "q\\"x"=>"NULL"'""", mapped(**{"a": s("1"), "b c": NULL, 'q"x': s("NULL")})),
    ("citext", "'MiXed'", s("MiXed")),
    ("ltree", "'a.b.c'", s("a.b.c")),
]

TYPES = """
CREATE EXTENSION hstore; CREATE EXTENSION citext; CREATE EXTENSION ltree;
CREATE TYPE colour AS ENUM ('deep red', 'blue');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN tags AS text[];
CREATE TYPE place AS (street text, number integer, codes integer[]);
"""

# type, SQL of the value, what the message says
REFUSED = [
    ("numeric", "'NaN'", "NaN"),
    ("numeric(10,2)", "'NaN'", "NaN"),
    ("numeric", "'Infinity'", "Infinity"),
    ("double precision", "'NaN'", "NaN"),
    ("real", "'-Infinity'", "-Infinity"),
    ("double precision", "1.7976931348623157e308", "out of the range"),
    ("double precision", "5e-324", "out of the range"),
    ("numeric", "1" * 39, "38 significant digits"),
    ("timestamp", "'infinity'", "infinity"),
    ("timestamptz", "'-infinity'", "-infinity"),
    ("date", "'infinity'", "infinity"),
    ("date", "'0044-03-15 BC'", "0044-03-15 BC"),
    ("date", "'15000-01-01'", "15000-01-01"),
    ("timestamp", "'20231-01-01'", "20231-01-01"),
    ("integer[]", "'[0:1]={7,8}'", "first element"),
    ("numeric[]", "'{1,NaN}'", "element 2"),
    ("jsonb", "'{\"a\":" + "9" * 39 + "}'", "38 significant digits"),
    ("place2", "ROW('NaN')", "field price"),
]


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="refold-types-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.server = postgres.Server().__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.server.create_database("types")
        cls.server.psql("types", TYPES + "CREATE TYPE place2 AS (price numeric);")

    def setUp(self):
        self.table = os.path.join(self.folder, "t.refold")
        for suffix in ("", "-lock", "-run"):
            if os.path.exists(self.table + suffix):
                os.unlink(self.table + suffix)

    def fold(self, entity, *options, expect=0):
        path = os.path.join(self.folder, "map.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"table": {"partition": "PK:S", "sort": "SK:S"}, "entities": [entity]}, file)
        return refold.run("import", self.table, "--from", self.server.uri("types"), "--map", path, *options, expect=expect)

    def items(self):
        return [json.loads(line)["Item"] for line in refold.export(self.table).splitlines()]

    def test_every_type_converts_as_documented(self):
        columns = ", ".join(f"c{i} {kind}" for i, (kind, _, _) in enumerate(VALUES))
        values = ", ".join(sql for _, sql, _ in VALUES)
        self.server.psql("types", f"CREATE TABLE every (id integer PRIMARY KEY, {columns}); INSERT INTO every VALUES (1, {values})")
        self.fold({"name": "Every", "from": "every", "key": KEY, "columns": "*"})
        (item,) = self.items()
        for i, (kind, sql, wanted) in enumerate(VALUES):
            self.assertEqual(item.get(f"c{i}"), wanted, f"{kind} {sql}")

    def test_every_type_converts_alike_where_it_is_embedded(self):
        columns = ", ".join(f"c{i} {kind}" for i, (kind, _, _) in enumerate(VALUES))
        values = ", ".join(sql for _, sql, _ in VALUES)
        self.server.psql("types", "CREATE TABLE parent (id integer PRIMARY KEY); INSERT INTO parent VALUES (1);"
                         f"CREATE TABLE child (parent integer, {columns}); INSERT INTO child VALUES (1, {values})")
        embed = {"Children": {"from": "child", "on": "child.parent = parent.id"}}
        self.fold({"name": "Parent", "from": "parent", "key": KEY, "embed": embed})
        (item,) = self.items()
        (row,) = item["Children"]["L"]
        for i, (kind, sql, wanted) in enumerate(VALUES):
            self.assertEqual(row["M"].get(f"c{i}"), wanted, f"{kind} {sql}")

    def test_null_is_left_out_and_is_not_jsonb_null(self):
        self.server.psql("types", "CREATE TABLE nulls (id integer PRIMARY KEY, t text, j jsonb, a integer[]);"
                         "INSERT INTO nulls VALUES (1, NULL, NULL, NULL), (2, '', 'null', '{}')")
        self.fold({"name": "Nulls", "from": "nulls", "key": KEY, "columns": {"except": ["id"]}})
        items = {item["PK"]["S"]: item for item in self.items()}
        self.assertEqual(set(items["ROW#1"]), {"PK", "SK"})
        self.assertEqual(items["ROW#2"]["j"], NULL)
        self.assertEqual(items["ROW#2"]["t"], s(""))
        self.assertEqual(items["ROW#2"]["a"], listed())

    def test_refused_values_stop_the_import_and_are_named(self):
        for i, (kind, sql, said) in enumerate(REFUSED):
            name = f"refused{i}"
            self.server.psql("types", f"CREATE TABLE {name} (id integer PRIMARY KEY, v {kind}); INSERT INTO {name} VALUES (41, NULL), (42, {sql})")
            entity = {"name": "R", "from": name, "key": KEY, "columns": ["v"]}
            _, err = self.fold(entity, expect=1)
            for part in (f"{name} (id=42)", "column v", said):
                self.assertIn(part, err, f"{kind} {sql}")
            self.assertFalse(os.path.exists(self.table), f"{kind} {sql}")

    def test_refused_values_follow_the_policy(self):
        self.server.psql("types", "CREATE TABLE policy (id integer PRIMARY KEY, a numeric, b date, c timestamp, d point);"
                         "INSERT INTO policy VALUES (1, 'NaN', 'infinity', '-infinity', '(1,2)'), (2, 1, '2026-01-02', NULL, NULL)")
        policy = {"a": "text", "b": "omit", "c": "null"}
        self.fold({"name": "P", "from": "policy", "key": KEY, "columns": ["a", "b", "c"], "policy": policy})
        items = {item["PK"]["S"]: item for item in self.items()}
        self.assertEqual({k: items["ROW#1"].get(k) for k in "abc"}, {"a": s("NaN"), "b": None, "c": NULL})
        self.assertEqual({k: items["ROW#2"].get(k) for k in "abc"}, {"a": n("1"), "b": s("2026-01-02"), "c": None})

    def test_a_type_without_a_conversion_is_refused_before_rows_move(self):
        self.server.psql("types", "CREATE TABLE odd (id integer PRIMARY KEY, v pg_snapshot); INSERT INTO odd VALUES (1, '10:20:')")
        entity = {"name": "O", "from": "odd", "key": KEY, "columns": ["v"]}
        _, err = self.fold(entity, expect=2)
        self.assertRegex(err, r"map.json:1:\d+: entities\[0\].*column odd.v has the type pg_snapshot")
        self.fold({**entity, "policy": {"v": "text"}})
        self.assertEqual(self.items()[0]["v"], s("10:20:"))

    def test_tsvector_is_left_out_unless_named(self):
        self.server.psql("types", "CREATE TABLE docs (id integer PRIMARY KEY, body text, words tsvector); INSERT INTO docs VALUES (1, 'a', 'a:1')")
        _, err = self.fold({"name": "D", "from": "docs", "key": KEY, "columns": "*"})
        self.assertIn("column words", err)
        self.assertNotIn("words", self.items()[0])
        self.setUp()
        self.fold({"name": "D", "from": "docs", "key": KEY, "columns": ["words"]})
        self.assertEqual(self.items()[0]["words"], s("'a':1"))

    def test_a_latin1_database_is_read_as_utf8(self):
        self.server.create_database("latin", "ENCODING LATIN1 TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        self.server.psql("latin", "CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, convert_from('\\xe9', 'LATIN1'))")
        path = os.path.join(self.folder, "latin.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"entities": [{"from": "t", "key": KEY, "columns": ["v"]}]}, file)
        refold.run("import", self.table, "--from", self.server.uri("latin"), "--map", path)
        self.assertEqual(self.items()[0]["v"], s("é"))

    def test_bytes_that_are_no_text_are_said(self):
        self.server.create_database("ascii", "ENCODING SQL_ASCII TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        self.server.psql("ascii", "CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, E'\\xe9')")
        path = os.path.join(self.folder, "ascii.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"entities": [{"from": "t", "key": KEY, "columns": ["v"]}]}, file)
        _, err = refold.run("import", self.table, "--from", self.server.uri("ascii"), "--map", path, expect=1)
        self.assertIn("0xe9", err)
        self.assertFalse(os.path.exists(self.table))


if __name__ == "__main__":
    unittest.main()
