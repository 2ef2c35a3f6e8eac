#!/usr/bin/env python3
"""What public bug reports say of other tools' imports from PostgreSQL: none of it happens here."""
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import postgres  # noqa: E402
import refold  # noqa: E402

KEY = {"PK": "ROW#${id}", "SK": "A"}
TABLE = {"partition": "PK:S", "sort": "SK:S"}
server = postgres.Server()


def setUpModule():
    unittest.addModuleCleanup(server.__exit__, None, None, None)
    server.__enter__()
    server.create_database("reports")
    server.psql("reports", "CREATE EXTENSION hstore; CREATE EXTENSION citext")


class Reports(unittest.TestCase):
    """Each test has a schema of its own in one database."""

    database = "reports"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-reports-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.table = os.path.join(self.folder, "t.refold")
        self.schema = self.id().rsplit(".", maxsplit=1)[-1][:60]
        server.psql(self.database, f"CREATE SCHEMA {self.schema}")

    def sql(self, text):
        return server.psql(self.database, f"SET search_path = {self.schema}, public;" + text)

    def source(self):
        return server.uri(self.database) + f"&options=-csearch_path%3D{self.schema},public"

    def map(self, *entities, table=None):
        path = os.path.join(self.folder, "map.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"table": TABLE if table is None else table, "entities": list(entities)}, file)
        return path

    def arguments(self, *entities, table=None):
        return ["import", self.table, "--from", self.source(), "--map", self.map(*entities, table=table)]

    def fold(self, *entities, options=(), expect=0, table=None):
        return refold.run(*self.arguments(*entities, table=table), *options, expect=expect)

    def start(self, *entities):
        process = subprocess.Popen([refold.PROGRAM, *self.arguments(*entities)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def end(self, process, status, within=20):
        _, err = process.communicate(timeout=within)
        self.assertEqual(process.returncode, status, err)
        return err.decode()

    def wait_for(self, condition):
        """Waits until SQL over pg_stat_activity is true of a session."""
        deadline = time.monotonic() + 20
        while server.psql(self.database, f"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND {condition}") == "0\n":
            self.assertLess(time.monotonic(), deadline, condition)
            time.sleep(0.02)

    def hold(self, statement):
        """Runs a statement in a session of its own that then waits, its transaction open."""
        session = subprocess.Popen([os.path.join(postgres.binaries(), "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", server.uri(self.database)],
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(session.stderr.close)
        self.addCleanup(session.wait)
        self.addCleanup(session.kill)
        session.stdin.write(f"SET search_path = {self.schema}; SET application_name = 'holder'; BEGIN; {statement};\n")
        session.stdin.flush()
        return session

    def release(self, session):
        session.stdin.write("COMMIT;\n")
        session.stdin.close()
        self.assertEqual(session.wait(), 0, session.stderr.read() if session.returncode else "")

    def items(self):
        return refold.items(self.table)

    def one(self, pk="ROW#1", sk="A"):
        return self.items()[(pk, sk)]

    def column(self, kind, *values, **more):
        """Imports a table of these values of one type; gives them by their place, from 1."""
        self.sql(f"CREATE TABLE t (id serial PRIMARY KEY, v {kind});" + "".join(f"INSERT INTO t (v) VALUES ({value});" for value in values))
        self.fold({"from": "t", "key": KEY, "columns": ["v"], **more})
        found = self.items()
        return [found[(f"ROW#{i + 1}", "A")].get("v") for i in range(len(values))]

    def refusals(self, kind, *values, **more):
        """The reason for which each of these values is refused."""
        self.sql(f"CREATE TABLE t (id serial PRIMARY KEY, v {kind});" + "".join(f"INSERT INTO t (v) VALUES ({value});" for value in values))
        path = os.path.join(self.folder, "rejects.jsonl")
        self.fold({"from": "t", "key": KEY, "columns": ["v"], **more}, options=["--rejects", path], expect=3)
        with open(path, encoding="utf-8") as file:
            reasons = {row["row"]: row["reason"] for row in map(json.loads, file)}
        self.assertEqual(set(reasons), {f"t (id={i + 1})" for i in range(len(values))})
        return [reasons[f"t (id={i + 1})"] for i in range(len(values))]


class Values(Reports):
    def test_numbers_to_the_limits_of_an_item(self):
        digits = "1234567890123456789012345678901234567"
        values = ["1e125", "9.9999999999999999999999999999999999999e125", "1e-130", digits + "8", "-" + digits + ".8", "0." + "0" * 50 + digits, "0.0000"]
        self.assertEqual(self.column("numeric", *values), [Decimal(value) for value in values])

    def test_numbers_beyond_an_item(self):
        values = ["1e126", "-1e126", "1e-131", "1" * 39, "0." + "1" * 39, "'NaN'", "'-Infinity'", "1" + "0" * 700 + "1"]
        for value, reason in zip(values, self.refusals("numeric", *values)):
            self.assertIn("column v", reason, value)

    def test_a_number_may_have_many_zeroes(self):
        self.assertEqual(self.column("numeric(1000,500)", "1.5", "100000"), [Decimal("1.5"), 100000])

    def test_floats_keep_their_shortest_text(self):
        self.assertEqual(self.column("double precision", "1e-9", "0.0001", "1e8", "3.5e-100", "'1e125'"),
                         [Decimal("1e-9"), Decimal("0.0001"), Decimal("1e8"), Decimal("3.5e-100"), Decimal("1e125")])

    def test_floats_beyond_an_item(self):
        for reason in self.refusals("double precision", "1.7976931348623157e308", "5e-324", "'NaN'", "'Infinity'"):
            self.assertIn("column v", reason)

    def test_double_keys_are_plain_digits(self):
        self.sql("CREATE TABLE t (id double precision PRIMARY KEY); INSERT INTO t VALUES (1), (1e6), (2129020), (0.5), (-35506143)")
        self.fold({"from": "t", "key": KEY})
        self.assertEqual({key[0] for key in self.items()}, {"ROW#1", "ROW#1000000", "ROW#2129020", "ROW#0.5", "ROW#-35506143"})

    def test_all_integers_once(self):
        self.sql("CREATE TABLE t (id bigint PRIMARY KEY); INSERT INTO t VALUES (-9223372036854775808), (9223372036854775807);"
                 "INSERT INTO t SELECT generate_series(-100, 99)")
        self.fold({"from": "t", "key": {"PK": "A", "SK": "${id}"}, "set": {"n": "${id}"}}, table={"partition": "PK:S", "sort": "SK:N"})
        self.assertEqual(sorted(item["n"] for item in self.items().values()), sorted([-2**63, 2**63 - 1, *range(-100, 100)]))

    def test_money_has_no_locale(self):
        server.psql("postgres", "ALTER DATABASE reports SET lc_monetary = 'C.UTF-8'")
        self.assertEqual(self.column("money", "1234567.89", "-0.01", "'92233720368547758.07'", "'-92233720368547758.08'"),
                         [Decimal("1234567.89"), Decimal("-0.01"), Decimal("92233720368547758.07"), Decimal("-92233720368547758.08")])

    def test_text_of_every_control_character(self):
        made = self.column("text", "(SELECT string_agg(chr(n), '' ORDER BY n) FROM generate_series(1, 159) n)")
        self.assertEqual(made, ["".join(chr(n) for n in range(1, 160))])

    def test_texts_that_look_like_null(self):
        self.assertEqual(self.column("text", "'NULL'", "'null'", r"'\N'", r"'\\N'", "''", "NULL", "E'a\\n\\\\.\\nb'"),
                         ["NULL", "null", "\\N", "\\\\N", "", None, "a\n\\.\nb"])

    def test_long_texts_are_whole(self):
        self.assertEqual(self.column("varchar", "repeat('ż', 9000)"), ["ż" * 9000])

    def test_a_text_over_the_limit_names_its_row(self):
        for reason in self.refusals("text", "repeat('x', 409600)"):
            self.assertRegex(reason, "40[0-9]{4}|400 KB|too large")

    def test_texts_are_keys(self):
        self.sql("CREATE TABLE t (id text PRIMARY KEY, n integer UNIQUE); INSERT INTO t SELECT 'k' || n, nullif(n, 3) FROM generate_series(1, 10) n")
        self.fold({"from": "t", "key": KEY, "columns": ["n"]})
        self.assertEqual({key[0]: item.get("n") for key, item in self.items().items()}, {f"ROW#k{n}": None if n == 3 else n for n in range(1, 11)})

    def test_blanks_behind_a_char_are_no_difference(self):
        self.sql("CREATE TABLE t (code char(25), n char(25)[], PRIMARY KEY (code)); INSERT INTO t VALUES ('CHINA', '{a,b }'), (' x', NULL), ('', NULL)")
        self.fold({"from": "t", "key": {"PK": "C#${code}", "SK": "A"}, "columns": ["code", "n"]})
        self.assertEqual({key[0]: (item["code"], item.get("n")) for key, item in self.items().items()},
                         {"C#CHINA": ("CHINA", ["a", "b"]), "C# x": (" x", None), "C#": ("", None)})

    def test_keys_that_differ_in_trailing_blanks_of_a_char_collide(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, k char(4), v varchar(4)); INSERT INTO t VALUES (1, 'a', 'a'), (2, 'a ', 'a ')")
        _, err = self.fold({"from": "t", "key": {"PK": "${k}", "SK": "A"}}, expect=1)
        self.assertRegex(err, r"t \(id=1\): folds to PK='a' SK='A', and so does t \(id=2\)")
        self.fold({"from": "t", "key": {"PK": "${v}", "SK": "A"}})
        self.assertEqual({key[0] for key in self.items()}, {"a", "a "})

    def test_binary_over_the_limit(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v bytea); ALTER TABLE t ALTER v SET STORAGE EXTERNAL;"
                 r"INSERT INTO t VALUES (1, '\x00ff'), (2, decode(repeat('00', 600000), 'hex')), (3, decode(repeat('00', 17000000), 'hex'))")
        path = os.path.join(self.folder, "rejects.jsonl")
        self.fold({"from": "t", "key": KEY, "columns": ["v"]}, options=["--rejects", path], expect=3)
        with open(path, encoding="utf-8") as file:
            reasons = {row["row"]: row["reason"] for row in map(json.loads, file)}
        self.assertEqual(set(reasons), {"t (id=2)", "t (id=3)"})
        self.assertIn("column v", reasons["t (id=3)"])
        self.assertEqual({key[0]: item["v"] for key, item in self.items().items()}, {"ROW#1": base64.b64encode(b"\x00\xff").decode()})

    def test_moments_at_the_limits_of_four_digit_years(self):
        self.assertEqual(self.column("timestamp", "'0001-01-01'", "'9999-12-31 23:59:59.999999'"), ["0001-01-01T00:00:00.000000", "9999-12-31T23:59:59.999999"])

    def test_moments_beyond(self):
        values = ["'infinity'", "'-infinity'", "'10000-01-02'", "'0001-12-30 23:59:59 BC'", "'294276-12-31'", "'4713-01-01 BC'", "'20231-05-01'"]
        for value, reason in zip(values, self.refusals("timestamptz", *values)):
            self.assertRegex(reason, "column v: .*only the years 0001 to 9999", value)

    def test_a_zone_may_move_a_moment_out_of_the_years(self):
        for reason in self.refusals("timestamptz", "'0001-01-01 00:00:00+05'", "'9999-12-31 23:59:59-05'"):
            self.assertRegex(reason, "column v: .*only the years 0001 to 9999")

    def test_offsets_with_seconds(self):
        self.assertEqual(self.column("timestamptz", "'1900-01-01 00:00:00+00:19:32'", "'2026-01-01 00:00:00.5+00'"),
                         ["1899-12-31T23:40:28.000000Z", "2026-01-01T00:00:00.500000Z"])

    def test_intervals(self):
        self.assertEqual(self.column("interval", "'1 mon'", "'30 days'", "'-1 day -00:00:00.5'", "'1-2 3 4:05:06'"),
                         ["P1M", "P30D", "P-1DT-0.5S", "P1Y2M3DT4H5M6S"])

    def test_jsonb_to_the_depth_of_an_item(self):
        def nested(depth):
            return "'" + "[" * depth + "]" * depth + "'"
        self.column("jsonb", nested(31), nested(32))
        os.unlink(self.table)
        self.sql("DROP TABLE t")
        for reason in self.refusals("jsonb", nested(33), nested(161), nested(3000)):
            self.assertRegex(reason, "column v.*(nested|deep)")

    def test_jsonb_numbers_are_exact(self):
        self.assertEqual(self.column("jsonb", """'{"n": 1234567890123456789}'""", "'6.938893903907228e-17'", "'1" + "0" * 60 + "'", "'null'", "NULL", "'1.50'"),
                         [{"n": 1234567890123456789}, Decimal("6.938893903907228e-17"), Decimal("1e60"), None, None, Decimal("1.5")])
        self.assertIn("v", self.one("ROW#4"))
        self.assertNotIn("v", self.one("ROW#5"))

    def test_jsonb_beyond_an_item_follows_the_policy(self):
        long = "'{\"n\": " + "1" * 60 + "}'"
        self.assertEqual(self.column("jsonb", long, "'" + "[" * 200 + "]" * 200 + "'", policy={"v": "text"}), [long[1:-1], "[" * 200 + "]" * 200])

    def test_jsonb_numbers_beyond_an_item(self):
        for reason in self.refusals("jsonb", "'[" + "1" * 60 + "]'", "'1e126'", "'{\"a\": {\"b\": 1e-200}}'"):
            self.assertIn("column v", reason)

    def test_json_keeps_its_text(self):
        self.assertEqual(self.column("json", r"""'{"a":"\u0000", "a" : 1.00}'"""), [r'{"a":"\u0000", "a" : 1.00}'])

    def test_arrays(self):
        self.assertEqual(self.column("text[]", "'{{a,b},{c,d}}'", "'{{NULL},{NULL}}'", "'{}'", "NULL", """'{"NULL",NULL,""}'""", "'{{{x}}}'"),
                         [[["a", "b"], ["c", "d"]], [[None], [None]], [], None, ["NULL", None, ""], [[["x"]]]])

    def test_dates_in_arrays(self):
        self.assertEqual(self.column("date[]", "NULL", "'{}'", "'{2026-01-02,NULL}'"), [None, [], ["2026-01-02", None]])

    def test_arrays_that_begin_elsewhere(self):
        for reason in self.refusals("integer[]", "'[0:1]={7,8}'", "'[2:2][1:1]={{1}}'"):
            self.assertIn("column v: an array whose first element is not number 1", reason)

    def test_vectors_of_the_catalogue_are_refused_before_rows_move(self):
        for kind, value in (("int2vector", "'1 2'"), ("oidvector", "'1 2'")):
            self.sql(f"DROP TABLE IF EXISTS t; CREATE TABLE t (id integer PRIMARY KEY, v {kind}); INSERT INTO t VALUES (1, {value})")
            _, err = self.fold({"from": "t", "key": KEY, "columns": ["v"]}, expect=2)
            self.assertRegex(err, f"column t.v has the type {kind}")

    def test_composites_in_composites(self):
        self.sql("""CREATE TYPE inner_kind AS (a text, b text[]); CREATE TYPE outer_kind AS (x inner_kind, y inner_kind[], z text)""")
        made = self.column("outer_kind", r"""ROW(ROW('say "hi", (x)', ARRAY['q"\', NULL, '']), ARRAY[ROW('a\b"', '{}')::inner_kind, NULL], '')""",
                           "ROW(NULL, NULL, NULL)", "ROW(ROW(NULL, NULL), '{}', NULL)", "NULL")
        self.assertEqual(made, [{"x": {"a": 'say "hi", (x)', "b": ['q"\\', None, ""]}, "y": [{"a": 'a\\b"', "b": []}, None], "z": ""},
                                {}, {"x": {}, "y": []}, None])

    def test_hstore(self):
        self.assertEqual(self.column("public.hstore", "''", r"""'"a\"b"=>"c\\d", "=>"=>NULL, ""=>"", n=>"NULL"'""", "NULL"),
                         [{}, {'a"b': "c\\d", "=>": None, "": "", "n": "NULL"}, None])

    def test_ranges(self):
        full = {"lower_inc": True, "upper_inc": False, "empty": False}
        self.assertEqual(self.column("daterange", "'[2026-01-01,2026-01-05]'", "'[2026-01-01,]'", "'empty'", "'(,)'"),
                         [{**full, "lower": "2026-01-01", "upper": "2026-01-06"}, {**full, "lower": "2026-01-01"}, {"empty": True},
                          {"lower_inc": False, "upper_inc": False, "empty": False}])

    def test_ranges_of_text_and_of_a_user(self):
        self.sql("CREATE TYPE words AS RANGE (subtype = text)")
        self.assertEqual(self.column("words", r"""words('a,"b', 'c\d)', '[]')""", "words('', 'x', '()')"),
                         [{"lower": 'a,"b', "upper": "c\\d)", "lower_inc": True, "upper_inc": True, "empty": False},
                          {"lower": "", "upper": "x", "lower_inc": False, "upper_inc": False, "empty": False}])

    def test_a_range_up_to_infinity_is_not_an_open_one(self):
        for reason in self.refusals("tsrange", "'[2026-01-01,infinity)'"):
            self.assertIn("column v: infinity", reason)

    def test_domains_over_everything(self):
        self.sql("CREATE DOMAIN pair AS numeric[] CHECK (cardinality(VALUE) = 2); CREATE TYPE spot AS (at pair, n numeric); CREATE DOMAIN place AS spot;"
                 "CREATE DOMAIN tags AS public.hstore; CREATE DOMAIN again AS pair")
        self.assertEqual(self.column("place", "ROW(ARRAY[1.50, 2], 3)"), [{"at": [Decimal("1.5"), 2], "n": 3}])
        self.sql("DROP TABLE t")
        os.unlink(self.table)
        self.assertEqual(self.column("again[]", "ARRAY[ARRAY[1,2]::again]"), [[[1, 2]]])
        self.sql("DROP TABLE t")
        os.unlink(self.table)
        self.assertEqual(self.column("tags", "'a=>1'"), [{"a": "1"}])

    def test_enums_by_their_label(self):
        self.sql("""CREATE TYPE mood AS ENUM ('so "so"', 'a,b', '')""")
        self.assertEqual(self.column("mood[]", r"""ARRAY['so "so"', 'a,b', '']::mood[]"""), [['so "so"', "a,b", ""]])

    def test_generated_columns_and_identities_are_columns(self):
        self.sql("CREATE TABLE t (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a integer, b text GENERATED ALWAYS AS ('B' || a) STORED);"
                 "INSERT INTO t (a) VALUES (5)")
        self.fold({"from": "t", "key": {"PK": "X", "SK": "${b}"}, "columns": "*"})
        self.assertEqual(self.one("X", "B5"), {"PK": "X", "SK": "B5", "id": 1, "a": 5, "b": "B5"})


class Settings(Reports):
    def test_settings_of_the_database_do_not_show(self):
        server.create_database("german")
        self.addCleanup(server.psql, "postgres", "DROP DATABASE german WITH (FORCE)")
        for setting in ("datestyle = 'German'", "intervalstyle = 'sql_standard'", "timezone = 'Asia/Kolkata'", "bytea_output = 'escape'", "extra_float_digits = -5",
                        "statement_timeout = '300ms'", "idle_in_transaction_session_timeout = '300ms'", "idle_session_timeout = '300ms'", "lock_timeout = '300ms'",
                        "default_transaction_isolation = 'serializable'", "default_transaction_read_only = on", "standard_conforming_strings = off",
                        "quote_all_identifiers = on", "xmlbinary = 'hex'", "array_nulls = off"):
            server.psql("postgres", f"ALTER DATABASE german SET {setting}")
        made = ("CREATE TABLE t (id integer PRIMARY KEY, d date, ts timestamptz, i interval, b bytea, f double precision, s text, r regclass);"
                r"INSERT INTO t SELECT n, '2026-04-18', '2026-04-18 03:04:05+00', '1 day', '\x5c00', 0.1, E'it\'s \\', 't' FROM generate_series(1, 20) n")
        server.psql("german", "SET default_transaction_read_only = off; SET statement_timeout = 0; SET standard_conforming_strings = on; BEGIN READ WRITE;" + made + ";COMMIT")
        path = self.map({"from": "t", "where": "pg_sleep(0.06) IS NOT NULL", "key": KEY, "columns": "*"})
        refold.run("import", self.table, "--from", server.uri("german"), "--map", path)
        self.assertEqual(len(self.items()), 20)
        self.assertEqual(self.one(), {"PK": "ROW#1", "SK": "A", "id": 1, "d": "2026-04-18", "ts": "2026-04-18T03:04:05.000000Z", "i": "P1D", "b": "XAA=",
                                      "f": Decimal("0.1"), "s": "it's \\", "r": "t"})

    def test_nothing_stays_behind_in_the_server(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1)")
        self.fold({"from": "t", "key": {"PK": "${v}", "SK": "A"}}, expect=1)
        deadline = time.monotonic() + 30
        while self.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'refold'") != "0\n":
            self.assertLess(time.monotonic(), deadline)

    def test_bytes_that_are_no_text_in_a_database_that_calls_them_utf8(self):
        server.create_database("said", "ENCODING SQL_ASCII TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        self.addCleanup(server.psql, "postgres", "DROP DATABASE said WITH (FORCE)")
        server.psql("said", r"CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, E'caf\xe9')")
        server.psql("postgres", "UPDATE pg_database SET encoding = pg_char_to_encoding('UTF8') WHERE datname = 'said'")
        _, err = refold.run("import", self.table, "--from", server.uri("said"), "--map", self.map({"from": "t", "key": KEY, "columns": ["v"]}), expect=1)
        self.assertRegex(err, r"t \(id=1\): column v: .*0xe9")

    def test_bytes_that_are_no_text_name_their_row(self):
        server.create_database("bytes", "ENCODING SQL_ASCII TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        self.addCleanup(server.psql, "postgres", "DROP DATABASE bytes WITH (FORCE)")
        server.psql("bytes", "CREATE TABLE t (id integer PRIMARY KEY, v text, w text[]); CREATE TABLE c (t integer, v text);"
                    r"INSERT INTO t VALUES (1, 'żółć', '{ż}'), (2, E'caf\xe9', NULL), (3, NULL, ARRAY[E'\xff']), (4, 'x', NULL); INSERT INTO c VALUES (4, E'\xc3')")
        rejects = os.path.join(self.folder, "rejects.jsonl")
        entity = {"from": "t", "key": KEY, "columns": ["v", "w"], "embed": {"C": {"from": "c", "on": "c.t = t.id", "columns": ["v"], "empty": "omit"}}}
        command = ["import", self.table, "--from", server.uri("bytes"), "--map"]
        _, err = refold.run(*command, self.map({**entity, "where": "id = 2"}), expect=1)
        self.assertRegex(err, r"t \(id=2\): column v: .*0xe9")
        refold.run(*command, self.map(entity), "--rejects", rejects, expect=3)
        with open(rejects, encoding="utf-8") as file:
            reasons = {row["row"]: row["reason"] for row in map(json.loads, file)}
        self.assertEqual(set(reasons), {"t (id=2)", "t (id=3)", "t (id=4)"})
        self.assertIn("column w", reasons["t (id=3)"])
        self.assertIn("embed C: row 1: column v", reasons["t (id=4)"])
        self.assertEqual(self.items(), {("ROW#1", "A"): {"PK": "ROW#1", "SK": "A", "v": "żółć", "w": ["ż"]}})
        refold.run(*command, self.map({"from": "t", "key": KEY, "columns": ["v"], "policy": {"v": "omit"}}), "--on-conflict", "overwrite")
        self.assertNotIn("v", self.one("ROW#2"))


class Sources(Reports):
    def test_a_table_without_columns(self):
        self.sql("CREATE TABLE t (); INSERT INTO t DEFAULT VALUES")
        self.fold({"from": "t", "key": {"PK": "ONE", "SK": "A"}, "columns": "*"})
        self.assertEqual(self.items(), {("ONE", "A"): {"PK": "ONE", "SK": "A"}})
        self.sql("INSERT INTO t DEFAULT VALUES")
        _, err = self.fold({"from": "t", "key": {"PK": "TWO", "SK": "A"}}, expect=1)
        self.assertRegex(err, r"t \(ctid=\(0,1\)\): folds to .*, and so does t \(ctid=\(0,2\)\)")

    def test_a_view_without_columns(self):
        self.sql("CREATE VIEW v AS SELECT")
        self.fold({"from": "v", "key": {"PK": "ONE", "SK": "A"}})
        self.assertEqual(len(self.items()), 1)

    def test_1600_columns(self):
        columns = ", ".join(f"c{n} integer" for n in range(1599))
        self.sql(f"CREATE TABLE t (id integer PRIMARY KEY, {columns}); INSERT INTO t VALUES (1, {', '.join(str(n) for n in range(1599))})")
        self.fold({"from": "t", "key": KEY, "columns": "*"})
        item = self.one()
        self.assertEqual([item[f"c{n}"] for n in range(1599)], list(range(1599)))

    def test_1600_texts_of_a_table_with_long_ones(self):
        columns = ", ".join(f"c{n} text" for n in range(1599))
        self.sql(f"CREATE TABLE t (id integer PRIMARY KEY, {columns}); ALTER TABLE t ALTER c7 SET STORAGE EXTERNAL; INSERT INTO t (id, c7, c9) VALUES (1, repeat('x', 17000000), 'y');"
                 "INSERT INTO t (id, c7, c9) VALUES (2, 'x', 'y')")
        _, err = self.fold({"from": "t", "key": KEY, "columns": "*"}, expect=1)
        self.assertIn("t (id=1): column c7", err)
        self.sql("DELETE FROM t WHERE id = 1")
        self.fold({"from": "t", "key": KEY, "columns": "*"})
        self.assertEqual(self.one("ROW#2")["c7"], "x")

    def test_holes_in_a_table_hide_nothing(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text) WITH (autovacuum_enabled = off);"
                 "INSERT INTO t SELECT n, repeat('x', 1500) FROM generate_series(1, 20000) n; ANALYZE t;"
                 "DELETE FROM t WHERE id BETWEEN 5000 AND 15000; INSERT INTO t SELECT n, repeat('y', 1500) FROM generate_series(30000, 40000) n")
        wanted = int(self.sql("SELECT count(*) FROM t"))
        for jobs in (1, 4):
            made, _ = self.fold({"from": "t", "key": KEY, "set": {"n": "${id}"}}, options=["--format", "json", "--jobs", str(jobs), "--on-conflict", "fail"])
            self.assertEqual(json.loads(made)["items"], wanted)

    def test_few_pages_of_long_values_are_parts(self):
        self.sql("CREATE TABLE t (id text PRIMARY KEY, v text); ALTER TABLE t ALTER v SET STORAGE EXTERNAL;"
                 "INSERT INTO t SELECT 'k' || n, repeat('x', 100000) FROM generate_series(1, 300) n")
        made, _ = self.fold({"from": "t", "key": KEY, "set": {"n": "${size(v)}"}}, options=["--format", "json", "--jobs", "3"])
        self.assertEqual(json.loads(made)["items"], 300)

    def test_a_partition_is_a_table_of_its_own_too(self):
        self.sql("CREATE TABLE t (id integer, v text) PARTITION BY LIST (v); CREATE TABLE a PARTITION OF t FOR VALUES IN ('a'); CREATE TABLE z PARTITION OF t DEFAULT;"
                 "INSERT INTO t VALUES (1, 'a'), (2, 'q'), (3, NULL)")
        self.fold({"from": "a", "key": {"PK": "LEAF#${id}", "SK": "A"}}, {"from": "t", "key": KEY})
        self.assertEqual({key[0] for key in self.items()}, {"LEAF#1", "ROW#1", "ROW#2", "ROW#3"})
        os.unlink(self.table)
        _, err = self.fold({"from": "a", "key": KEY}, {"from": "t", "key": KEY}, expect=1)
        self.assertRegex(err, r"folds to PK='ROW#1'")

    def test_children_with_columns_of_their_own_and_in_another_order(self):
        self.sql("CREATE TABLE t (id integer, v text); CREATE TABLE c (v text, more integer, id integer); ALTER TABLE c INHERIT t;"
                 "CREATE TABLE d () INHERITS (c); INSERT INTO t VALUES (1, 'a'); INSERT INTO c VALUES ('b', 9, 2); INSERT INTO d VALUES ('c', 9, 3)")
        self.fold({"from": "t", "key": KEY, "columns": "*"})
        self.assertEqual({key[0]: item["v"] for key, item in self.items().items()}, {"ROW#1": "a", "ROW#2": "b", "ROW#3": "c"})

    def test_two_children_may_hold_one_key(self):
        self.sql("CREATE TABLE p (id integer PRIMARY KEY, v text); CREATE TABLE q (PRIMARY KEY (id)) INHERITS (p); INSERT INTO p VALUES (1, 'a'); INSERT INTO q VALUES (1, 'b');"
                 "CREATE TABLE t (id integer PRIMARY KEY, p integer); INSERT INTO t VALUES (7, 1)")
        _, err = self.fold({"from": "t", "key": KEY, "join": {"a": {"from": "p", "on": "a.id = t.p"}}, "set": {"v": "${a.v}"}}, expect=1)
        self.assertIn("t (id=7): join a matches more than one row", err)

    def test_odd_names(self):
        self.sql("""CREATE TABLE "Sel""ect" ("Id" integer, "order" text, "ünï" integer, "100%" text, "a b" integer, PRIMARY KEY ("Id", "a b"));"""
                 """INSERT INTO "Sel""ect" VALUES (1, 'x', 2, 'y', 3); CREATE TABLE "from" ("where" integer, "%s" text); INSERT INTO "from" VALUES (1, '%d')""")
        self.fold({"name": "odd", "from": 'Sel"ect', "key": {"PK": "${Id}", "SK": '${"a b"}'}, "columns": "*", "where": '"Sel""ect"."Id" = 1',
                   "join": {"Group": {"from": "from", "on": '"Group"."where" = "Sel""ect"."Id"'}}, "set": {"joined": '${"Group"."%s"}'},
                   "embed": {"Limit": {"from": {"table": "from", "as": "Offset"}, "on": '"Offset"."where" = "Sel""ect"."Id"', "order": '"Offset"."%s"'}}},
                  table={"partition": "PK:N", "sort": "SK:N"})
        self.assertEqual(self.items(), {(1, 3): {"PK": 1, "SK": 3, "Id": 1, "order": "x", "ünï": 2, "100%": "y", "a b": 3, "joined": "%d",
                                                 "Limit": [{"where": 1, "%s": "%d"}]}})

    def test_two_foreign_keys_of_one_name_embed_by_all_their_columns(self):
        self.sql("CREATE TABLE a (x integer, y integer, PRIMARY KEY (x, y)); CREATE TABLE b (x integer, y integer, n integer, CONSTRAINT same FOREIGN KEY (x, y) REFERENCES a);"
                 "CREATE TABLE c (x integer, y integer, CONSTRAINT same FOREIGN KEY (x, y) REFERENCES a);"
                 "INSERT INTO a VALUES (1, 1), (1, 2), (2, 1); INSERT INTO b VALUES (1, 1, 10), (1, 2, 20), (2, NULL, 30)")
        self.fold({"from": "a", "key": {"PK": "${x}", "SK": "${y}"}, "embed": {"B": {"from": "b", "on": "b.x = a.x AND b.y = a.y", "columns": ["n"], "as": "scalar"}}})
        self.assertEqual({key: item["B"] for key, item in self.items().items()}, {("1", "1"): [10], ("1", "2"): [20], ("2", "1"): []})

    def test_columns_of_two_types_are_compared_as_postgresql_does(self):
        """Grouped by the embedded side's equality, these would give other rows than the condition."""
        self.sql("CREATE TABLE p (id integer PRIMARY KEY, t text, f double precision); INSERT INTO p VALUES (1, 'abc', 0.1), (2, 'ABC', 9007199254740992), (3, 'Abc', 7);"
                 "CREATE TABLE c (id integer PRIMARY KEY, t public.citext, n numeric);"
                 "INSERT INTO c VALUES (1, 'abc', 0.1), (2, 'ABC', 0.10000000000000000001), (3, 'aBC', 9007199254740993), (4, 'x', 9007199254740992)")
        for on in ("c.t = p.t", "c.n = p.f"):
            wanted = {f"ROW#{line.split('|')[0]}": [int(n) for n in line.split("|")[1].split(",") if n] for line in self.sql(
                f"SELECT p.id, string_agg(c.id::text, ',' ORDER BY c.id) FROM p LEFT JOIN c ON {on} GROUP BY p.id").splitlines()}
            self.fold({"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": on, "columns": ["id"], "as": "scalar"}}}, options=["--on-conflict", "overwrite"])
            self.assertEqual({key[0]: item["C"] for key, item in self.items().items()}, wanted, on)

    def test_joins_of_two_types_match_as_postgresql_does(self):
        self.sql("CREATE TABLE p (id integer PRIMARY KEY, t text, f double precision); INSERT INTO p VALUES (1, 'abc', 9007199254740992);"
                 "CREATE TABLE c (id integer PRIMARY KEY, t public.citext, n bigint UNIQUE); INSERT INTO c VALUES (1, 'abc', 9007199254740993), (2, 'ABC', 9007199254740992)")
        self.fold({"from": "p", "key": KEY, "join": {"c": {"from": "c", "on": "c.t = p.t"}}, "columns": {"c": "c.id"}})
        self.assertEqual(self.one()["c"], 1)
        _, err = self.fold({"from": "p", "key": KEY, "join": {"c": {"from": "c", "on": "c.n = p.f"}}, "columns": {"c": "c.id"}}, expect=1)
        self.assertIn("p (id=1): join c matches more than one row", err)

    def test_collations_that_ignore_case_match_as_postgresql_does(self):
        """What is unique by its bytes is not for a column that ignores case."""
        self.sql("CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
                 "CREATE TABLE p (id integer PRIMARY KEY, t text COLLATE nocase, u text); INSERT INTO p VALUES (1, 'ABC', 'ABC');"
                 "CREATE TABLE c (t text PRIMARY KEY, n integer); INSERT INTO c VALUES ('abc', 1), ('Abc', 2);"
                 "CREATE TABLE d (t text COLLATE nocase, n integer); INSERT INTO d TABLE c; CREATE UNIQUE INDEX ON d (t COLLATE \"C\");"
                 "CREATE TABLE e (t text COLLATE nocase PRIMARY KEY, n integer); INSERT INTO e VALUES ('abc', 1)")
        for source, on in (("c", "j.t = p.t"), ("d", "j.t = p.u"), ("d", "j.t = p.t")):
            join = {"j": {"from": source, "on": on}}
            _, err = self.fold({"from": "p", "key": {"PK": "${id}", "SK": "${j.n}"}, "join": join}, expect=1)
            self.assertIn("p (id=1): join j matches more than one row", err)
        for source, on in (("e", "j.t = p.t"), ("e", "j.t = p.u"), ({"query": "SELECT * FROM e", "as": "j"}, "j.t = p.t")):
            self.fold({"from": "p", "key": KEY, "join": {"j": {"from": source, "on": on}}, "columns": {"n": "j.n"}}, options=["--on-conflict", "fail"])
            self.assertEqual(self.one()["n"], 1)
        for source, on, wanted in (("c", "c.t = p.t", [1, 2]), ("d", "d.t = p.t", [1, 2]), ("d", "d.t = p.u", [1, 2]), ("c", "c.t = p.u", [])):
            embed = {"E": {"from": source, "on": on, "columns": ["n"], "as": "scalar", "order": "n"}}
            self.fold({"from": "p", "key": KEY, "embed": embed}, options=["--on-conflict", "overwrite"])
            self.assertEqual(self.one()["E"], wanted, on)

    def test_a_deferrable_key_is_a_key(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY DEFERRABLE INITIALLY DEFERRED); INSERT INTO t VALUES (1), (2)")
        self.fold({"from": "t", "key": KEY})
        self.assertEqual(len(self.items()), 2)

    def test_an_embed_of_its_own_table_needs_another_name(self):
        """In SQL the inner name hides the outer one: the condition would hold for all rows."""
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, boss integer); INSERT INTO t VALUES (1, NULL), (2, 1), (3, 1)")
        _, err = self.fold({"from": "t", "key": KEY, "embed": {"Staff": {"from": "t", "on": "t.boss = t.id"}}}, expect=2)
        self.assertRegex(err, r"map.json:1:\d+: entities\[0\].embed.Staff.from: .* go by the name t too")
        self.fold({"from": "t", "key": KEY, "embed": {"Staff": {"from": {"table": "t", "as": "staff"}, "on": "staff.boss = t.id", "columns": ["id"], "as": "scalar"}}})
        self.assertEqual(self.one()["Staff"], [2, 3])

    def test_an_embed_of_100000_rows_is_refused(self):
        self.sql("CREATE TABLE p (id integer PRIMARY KEY); INSERT INTO p VALUES (1), (2);"
                 "CREATE TABLE c (p integer, v text); INSERT INTO c SELECT 2, 'v' || n FROM generate_series(1, 100000) n")
        entity = {"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": "c.p = p.id", "columns": ["v"]}}}
        _, err = self.fold(entity, expect=1)
        self.assertRegex(err, r"p \(id=2\): .*(embed C|too large|400 KB|409600)")
        entity["embed"]["C"].update(limit=3, order="length(c.v), c.v")
        self.fold(entity)
        self.assertEqual(self.one("ROW#2")["C"], [{"v": "v1"}, {"v": "v2"}, {"v": "v3"}])

    def test_an_empty_index_key_is_sparse_or_an_error(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, g text); INSERT INTO t VALUES (1, 'x'), (2, NULL)")
        table = {**TABLE, "indexes": [{"name": "GSI1", "partition": "g:S"}]}
        made, _ = self.fold({"from": "t", "key": KEY, "columns": ["g"]}, table=table, options=["--format", "json"])
        self.assertEqual(json.loads(made)["indexes"], [{"name": "GSI1", "entries": 1}])
        self.sql("INSERT INTO t VALUES (3, '')")
        _, err = self.fold({"from": "t", "key": KEY, "columns": ["g"]}, table=table, expect=1)
        self.assertRegex(err, r"t \(id=3\): .*g.*empty")
        self.sql("DELETE FROM t; INSERT INTO t VALUES (4, repeat('x', 2049))")
        _, err = self.fold({"from": "t", "key": KEY, "columns": ["g"]}, table=table, expect=1)
        self.assertRegex(err, r"t \(id=4\): .*2048")

    def test_keys_of_odd_text_are_told_apart(self):
        self.sql("CREATE TABLE t (a text, b text, PRIMARY KEY (a, b)); INSERT INTO t VALUES (E'x\\ty', 'z'), ('x', E'y\\tz')")
        _, err = self.fold({"from": "t", "key": {"PK": "SAME", "SK": "A"}}, expect=1)
        first, second = r"t \(a=x\\x09y, b=z\)", r"t \(a=x, b=y\\x09z\)"
        self.assertRegex(err, f"{first}.*{second}|{second}.*{first}")

    def test_names_of_rows_hold_no_control_characters(self):
        self.sql("CREATE TABLE t (a text PRIMARY KEY, v numeric); INSERT INTO t VALUES (E'x\\x1b[2Jy\\nz', 'NaN')")
        _, err = self.fold({"from": "t", "key": {"PK": "${a}", "SK": "A"}, "columns": ["v"]}, expect=1)
        self.assertNotIn("\x1b", err)
        self.assertRegex(err, r"t \(a=x\\x1b\[2Jy\\x0az\): column v")

    def test_denied_tables_are_named(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); CREATE TABLE secret (id integer PRIMARY KEY); INSERT INTO t VALUES (1);"
                 f"CREATE ROLE novice LOGIN; GRANT USAGE ON SCHEMA {self.schema} TO novice; GRANT SELECT ON t TO novice")
        source = self.source().replace("user=postgres", "user=novice")
        path = self.map({"from": "t", "key": KEY}, {"from": "secret", "key": {"PK": "S#${id}", "SK": "A"}})
        _, err = refold.run("import", self.table, "--from", source, "--map", path, expect=(1, 2))
        self.assertRegex(err, "permission denied for table secret")
        path = self.map({"from": "t", "key": KEY, "embed": {"S": {"from": "secret", "on": "secret.id = t.id"}}})
        _, err = refold.run("import", self.table, "--from", source, "--map", path, expect=(1, 2))
        self.assertRegex(err, "permission denied for table secret")
        self.assertFalse(os.path.exists(self.table))

    def test_denied_columns_need_not_be_read(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text, secret text); INSERT INTO t VALUES (1, 'x', 'y'); CREATE ROLE half LOGIN;"
                 f"GRANT USAGE ON SCHEMA {self.schema} TO half; GRANT SELECT (id, v) ON t TO half")
        source = self.source().replace("user=postgres", "user=half")
        refold.run("import", self.table, "--from", source, "--map", self.map({"from": "t", "key": KEY, "columns": ["v"]}))
        self.assertEqual(self.one()["v"], "x")
        _, err = refold.run("import", self.table, "--from", source, "--map", self.map({"from": "t", "key": KEY, "columns": "*"}), expect=(1, 2))
        self.assertIn("permission denied for table t", err)

    def test_a_view_hides_the_tables_under_it(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT id FROM t; CREATE ROLE viewer LOGIN;"
                 f"GRANT USAGE ON SCHEMA {self.schema} TO viewer; GRANT SELECT ON v TO viewer")
        refold.run("import", self.table, "--from", self.source().replace("user=postgres", "user=viewer"), "--map", self.map({"from": "v", "key": KEY}))
        self.assertEqual(len(self.items()), 1)


SLOW = {"from": "t", "key": KEY, "columns": ["v"], "where": "id > 0 AND pg_sleep(0.01) IS NOT NULL"}


class Meanwhile(Reports):
    """Others write, lock and drop while an import runs."""

    def setUp(self):
        super().setUp()
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t SELECT n, 'old' FROM generate_series(1, 100) n")

    def test_rows_that_change_show_as_they_were(self):
        process = self.start(SLOW)
        self.wait_for("application_name = 'refold' AND query LIKE 'COPY%'")
        self.sql("UPDATE t SET v = 'new'; DELETE FROM t WHERE id % 2 = 0; INSERT INTO t SELECT n, 'new' FROM generate_series(1000, 1100) n")
        self.end(process, 0)
        self.assertEqual({key[0]: item["v"] for key, item in self.items().items()}, {f"ROW#{n}": "old" for n in range(1, 101)})

    def test_tables_are_not_emptied_or_dropped_meanwhile(self):
        for statement in ("TRUNCATE t", "DROP TABLE t", "ALTER TABLE t ALTER v TYPE varchar(9)"):
            process = self.start(SLOW)
            self.wait_for("application_name = 'refold' AND query LIKE 'COPY%'")
            with self.assertRaises(RuntimeError):
                self.sql(f"SET lock_timeout = '50ms'; {statement}")
            self.end(process, 0)
            self.assertEqual(len(self.items()), 100)
            os.unlink(self.table)

    def test_who_waits_to_empty_a_table_waits_for_the_import(self):
        """A lock that is asked for stands before all readers that have none yet, and waits for the one that has."""
        self.sql("CREATE TABLE late AS SELECT * FROM t; CREATE VIEW seen AS SELECT * FROM late")
        late = {"from": "late", "key": {"PK": "LATE#${id}", "SK": "A"}}
        slow = {**SLOW, "from": {"query": "SELECT * FROM t", "as": "t"}}
        for source in ("late", "seen", {"query": "SELECT * FROM late", "as": "asked"}):
            process = self.start(slow, slow | {"name": "again", "key": {"PK": "AGAIN#${id}", "SK": "A"}}, {**late, "name": "late", "from": source})
            self.wait_for("application_name = 'refold' AND query LIKE 'COPY%'")
            session = self.hold("TRUNCATE late")
            self.end(process, 0)
            self.assertEqual(len(self.items()), 300)
            session.stdin.write("ROLLBACK; BEGIN;\n")
            self.release(session)
            os.unlink(self.table)

    def test_a_table_that_is_emptied_as_the_import_begins_is_said(self):
        self.sql("CREATE VIEW seen AS SELECT * FROM t")
        for source in ("t", "seen", {"query": "SELECT * FROM t", "as": "asked"}):
            session = self.hold("TRUNCATE t")
            self.wait_for("application_name = 'holder' AND state = 'idle in transaction'")
            process = self.start({"from": source, "key": KEY})
            self.wait_for("application_name = 'refold' AND wait_event_type = 'Lock'")
            self.release(session)
            err = self.end(process, 1)
            self.assertRegex(err, "table .*t was emptied or rewritten as the import began\n.*hint: start the import again", source)
            self.assertFalse(os.path.exists(self.table))
            self.sql("INSERT INTO t SELECT n, 'old' FROM generate_series(1, 100) n")

    def test_a_table_that_is_dropped_as_the_import_begins_is_said(self):
        session = self.hold("DROP TABLE t")
        self.wait_for("application_name = 'holder' AND state = 'idle in transaction'")
        process = self.start({"from": "t", "key": KEY})
        self.wait_for("application_name = 'refold' AND wait_event_type = 'Lock'")
        self.release(session)
        self.assertRegex(self.end(process, 2), r'map.json:.*\bt" does not exist')

    def test_an_import_that_waits_for_a_lock_can_be_stopped(self):
        session = self.hold("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        self.wait_for("application_name = 'holder' AND state = 'idle in transaction'")
        process = self.start({"from": "t", "key": KEY})
        self.wait_for("application_name = 'refold' AND wait_event_type = 'Lock'")
        process.send_signal(signal.SIGTERM)
        self.end(process, 5, within=5)
        self.release(session)
        self.assertFalse(os.path.exists(self.table))

    def test_a_stopped_import_is_completed_by_the_same_command(self):
        for sent in (signal.SIGTERM, signal.SIGINT):
            process = self.start(SLOW)
            self.wait_for("application_name = 'refold' AND query LIKE 'COPY%'")
            process.send_signal(sent)
            self.assertIn("interrupted", self.end(process, 5, within=5))
            self.assertFalse(os.path.exists(self.table))
        self.fold(SLOW)
        self.assertEqual(len(self.items()), 100)

    def test_an_import_whose_connections_break_is_completed_by_the_same_command(self):
        self.fold({"from": "t", "key": {"PK": "STOOD#${id}", "SK": "A"}})
        before = refold.export(self.table)
        process = self.start(SLOW)
        self.wait_for("application_name = 'refold' AND query LIKE 'COPY%'")
        server.psql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'refold'")
        err = self.end(process, 1)
        self.assertRegex(err, "entity t: PostgreSQL: ")
        self.assertEqual(refold.export(self.table), before)
        self.fold(SLOW)
        self.assertEqual(len(self.items()), 200)

    def test_an_import_whose_server_stops_is_completed_by_the_same_command(self):
        process = self.start(SLOW)
        self.wait_for("application_name = 'refold' AND query LIKE 'COPY%'")
        server.stop()
        err = self.end(process, 1)
        self.assertRegex(err, "entity t: PostgreSQL: ")
        _, err = self.fold(SLOW, expect=1)
        self.assertRegex(err, "PostgreSQL: connection to server .* failed")
        self.assertFalse(os.path.exists(self.table))
        server.start()
        self.fold(SLOW)
        self.assertEqual(len(self.items()), 100)

    def test_readers_outlive_the_session_that_holds_the_snapshot(self):
        process = self.start(SLOW)
        self.wait_for("application_name = 'refold' AND query LIKE 'COPY%'")
        server.psql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'refold' AND state = 'idle in transaction'")
        self.sql("UPDATE t SET v = 'new'")
        self.end(process, 0)
        self.assertEqual({item["v"] for item in self.items().values()}, {"old"})


class Secrets(Reports):
    def test_no_message_shows_a_password(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY)")
        path = self.map({"from": "t", "key": KEY})
        place = f"host={server.folder}"
        for source in ("postgresql://me:hunter2@[::1/db", "postgresql://me:hunter2%zz@host/db", "postgresql://me:hunter2@host:port/db", "postgres://me:hun@ter2@/db?nonsense=1",
                       "postgresql:///db?password=hunter2&host", "postgresql:///db?password=hunter2%00", f"{place} dbname=none password=hunter2", f"{place} password='hunter2' user",
                       f"{place} password = hunter2 nonsense=1", f"{place} password=it hunter2", f"{place} password='hunter2", "postgresql://me:/hunter2@nowhere.invalid/db", "postgresql://me:hunter2/x@nowhere.invalid/db",
                       f"{place} dbname=reports user=postgres passfile=/hunter2"):
            out, err = refold.run("import", self.table, "--from", source, "--map", path, expect=(0, 1, 2))
            self.assertNotRegex(out + err, "hunter2|ter2", source)

    def test_no_record_and_no_process_list_shows_a_password(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)")
        path = self.map({"from": "t", "key": KEY})
        source = self.source().replace("user=postgres", "user=postgres&password=hunter2")
        out, err = refold.run("import", self.table, "--from", source, "--map", path, "--format", "json")
        shown = [out, err]
        for command in (["status", self.table], ["verify", self.table, "--from", source, "--map", path], ["export", self.table, "--to", "-"]):
            shown.extend(refold.run(*command))
        self.assertNotIn("hunter2", "".join(shown))
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                self.assertNotIn(b"hunter2", file.read(), name)


if __name__ == "__main__":
    unittest.main()
