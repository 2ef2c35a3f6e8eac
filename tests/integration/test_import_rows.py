#!/usr/bin/env python3
"""What maps make of rows: joins, embeds, several items, partitions, odd names; and what goes wrong."""
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


class Rows(unittest.TestCase):
    """Each test has a schema of its own in one database."""

    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server().__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.server.create_database("rows")

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-rows-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.table = os.path.join(self.folder, "t.refold")
        self.schema = self.id().rsplit(".", maxsplit=1)[-1]
        self.server.psql("rows", f"CREATE SCHEMA {self.schema}")

    def sql(self, text):
        return self.server.psql("rows", f"SET search_path = {self.schema};" + text)

    def source(self):
        return self.server.uri("rows") + f"&options=-csearch_path%3D{self.schema}"

    def map(self, *entities, table=None):
        path = os.path.join(self.folder, "map.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"table": TABLE if table is None else table, "entities": list(entities)}, file)
        return path

    def arguments(self, *entities, table=None):
        return ["import", self.table, "--from", self.source(), "--map", self.map(*entities, table=table)]

    def fold(self, *entities, options=(), expect=0, table=None):
        return refold.run(*self.arguments(*entities, table=table), *options, expect=expect)

    def items(self):
        return refold.items(self.table)

    def one(self, pk="ROW#1", sk="A"):
        return self.items()[(pk, sk)]


class Names(Rows):
    def test_names_are_the_catalogues_own(self):
        self.sql('CREATE TABLE "Order" ("Id" integer PRIMARY KEY, "select" text, "a.b" text, "say ""x""" text, "żółć" text);'
                 """INSERT INTO "Order" VALUES (1, 'a', 'b', 'c', 'd')""")
        self.fold({"from": "Order", "key": {"PK": "O#${Id}", "SK": "${\"select\"}"}, "columns": "*",
                   "set": {"copy": '${"say ""x"""}'}})
        self.assertEqual(self.one("O#1", "a"), {"PK": "O#1", "SK": "a", "Id": 1, "select": "a", "a.b": "b", 'say "x"': "c", "żółć": "d", "copy": "c"})

    def test_a_table_may_have_a_dot_in_its_name(self):
        self.sql('CREATE TABLE "a.b" (id integer PRIMARY KEY); INSERT INTO "a.b" VALUES (1)')
        self.fold({"from": "a.b", "key": KEY})
        self.assertEqual(len(self.items()), 1)

    def test_a_schema_is_found(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)")
        self.fold({"from": f"{self.schema}.t", "key": KEY})
        self.assertEqual(len(self.items()), 1)

    def test_an_unknown_table_is_said_with_its_place(self):
        _, err = self.fold({"from": "nowhere", "key": KEY}, expect=2)
        self.assertRegex(err, r'map.json:1:\d+: entities\[0\].from: there is no table "nowhere"')

    def test_an_unknown_column_is_said_with_its_place(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY)")
        _, err = self.fold({"from": "t", "key": {"PK": "X#${ID}", "SK": "A"}}, expect=2)
        self.assertRegex(err, r'map.json:1:\d+: entities\[0\].key.PK: t has no column "ID"')

    def test_dropped_columns_leave_no_trace(self):
        self.sql("CREATE TABLE t (gone text, id integer PRIMARY KEY, went text, v text, made integer GENERATED ALWAYS AS (id * 2) STORED);"
                 "ALTER TABLE t DROP gone; ALTER TABLE t DROP went; INSERT INTO t VALUES (1, 'x')")
        self.fold({"from": "t", "key": KEY, "columns": "*"})
        self.assertEqual(self.one(), {"PK": "ROW#1", "SK": "A", "id": 1, "v": "x", "made": 2})

    def test_no_rows_is_an_empty_table(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY)")
        self.fold({"from": "t", "key": KEY})
        self.assertEqual(self.items(), {})


class Sources(Rows):
    def test_partitions_are_read_once_under_the_root(self):
        self.sql("CREATE TABLE t (id integer, v text, PRIMARY KEY (id)) PARTITION BY RANGE (id);"
                 "CREATE TABLE t1 (v text, id integer NOT NULL); ALTER TABLE t ATTACH PARTITION t1 FOR VALUES FROM (0) TO (10);"
                 "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);"
                 "CREATE TABLE t2a PARTITION OF t2 DEFAULT; CREATE TABLE t3 PARTITION OF t DEFAULT;"
                 "INSERT INTO t SELECT n, 'v' || n FROM generate_series(1, 30) n")
        self.fold({"from": "t", "key": KEY, "columns": ["v"]})
        self.assertEqual({key[0]: item["v"] for key, item in self.items().items()}, {f"ROW#{i}": f"v{i}" for i in range(1, 31)})

    def test_children_by_inheritance_are_read_once(self):
        self.sql("CREATE TABLE t (id integer); CREATE TABLE c (extra text) INHERITS (t);"
                 "INSERT INTO t VALUES (1); INSERT INTO c VALUES (2), (3)")
        self.fold({"from": "t", "key": KEY})
        self.assertEqual(len(self.items()), 3)

    def test_views_and_queries_are_read(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'), (2, 'b');"
                 "CREATE VIEW seen AS SELECT id, upper(v) AS v FROM t; CREATE MATERIALIZED VIEW kept AS SELECT id, v FROM t")
        query = {"query": "SELECT id, v || '!' AS v FROM t -- with a comment", "as": "q"}
        self.fold({"from": "seen", "key": {"PK": "S#${id}", "SK": "A"}, "columns": ["v"]},
                  {"from": "kept", "key": {"PK": "K#${id}", "SK": "A"}, "columns": ["v"]},
                  {"from": query, "key": {"PK": "Q#${q.id}", "SK": "A"}, "columns": ["v"], "where": "q.id = 2 -- here too"})
        self.assertEqual({key[0]: item["v"] for key, item in self.items().items()},
                         {"S#1": "A", "S#2": "B", "K#1": "a", "K#2": "b", "Q#2": "b!"})

    def test_every_row_of_many_pages_is_read_once(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text) WITH (fillfactor = 10);"
                 "INSERT INTO t SELECT n, repeat('x', 200) FROM generate_series(-20000, 19999) n;"
                 "DELETE FROM t WHERE id BETWEEN -5000 AND 5000; INSERT INTO t VALUES (2147483647), (-2147483648)")
        out, _ = self.fold({"from": "t", "key": KEY, "set": {"n": "${id}"}}, options=["--format", "json", "--jobs", "3"])
        wanted = int(self.sql("SELECT count(*) FROM t"))
        self.assertEqual(json.loads(out)["items"], wanted)
        self.assertEqual(len(self.items()), wanted)

    def test_row_security_is_an_error_never_a_filter(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1), (2); ALTER TABLE t ENABLE ROW LEVEL SECURITY;"
                 "CREATE POLICY half ON t USING (id = 1); DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN;"
                 f"GRANT USAGE ON SCHEMA {self.schema} TO clerk; GRANT SELECT ON t TO clerk")
        path = self.map({"from": "t", "key": KEY})
        source = self.source().replace("user=postgres", "user=clerk")
        _, err = refold.run("import", self.table, "--from", source, "--map", path, expect=(1, 2))
        self.assertIn("row-level security", err)

    def test_a_role_that_may_only_read_is_enough(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1), (2);"
                 "CREATE TABLE c (t integer REFERENCES t, v text); INSERT INTO c VALUES (1, 'x');"
                 "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN;"
                 f"GRANT USAGE ON SCHEMA {self.schema} TO reader; GRANT SELECT ON t, c TO reader")
        path = self.map({"from": "t", "key": KEY, "embed": {"C": {"from": "c", "on": "c.t = t.id", "columns": ["v"]}}})
        refold.run("import", self.table, "--from", self.source().replace("user=postgres", "user=reader"), "--map", path)
        self.assertEqual(self.one()["C"], [{"v": "x"}])


class Shapes(Rows):
    def test_one_row_becomes_items_in_both_directions(self):
        self.sql("CREATE TABLE t (a integer, b integer, since date, PRIMARY KEY (a, b)); INSERT INTO t VALUES (1, 2, '2026-01-02'), (1, 3, NULL)")
        self.fold({"from": "t", "set": {"Kind": "Edge"}, "items": [
            {"key": {"PK": "A#${a}", "SK": "B#${b}"}, "columns": ["since"]},
            {"key": {"PK": "B#${b}", "SK": "A#${a}"}, "when": "attribute_exists(since)"}]})
        self.assertEqual(self.items(), {
            ("A#1", "B#2"): {"PK": "A#1", "SK": "B#2", "Kind": "Edge", "since": "2026-01-02"},
            ("A#1", "B#3"): {"PK": "A#1", "SK": "B#3", "Kind": "Edge"},
            ("B#2", "A#1"): {"PK": "B#2", "SK": "A#1", "Kind": "Edge"}})

    def test_when_makes_an_index_sparse(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, status text); INSERT INTO t VALUES (1, 'open'), (2, 'shut'), (3, NULL)")
        table = {**TABLE, "indexes": [{"name": "Open", "partition": "OpenPK:S", "sort": "OpenSK:N"}]}
        out, _ = self.fold({"from": "t", "key": KEY, "columns": {"OpenSK": "id"},
                            "set": {"OpenPK": {"value": "OPEN", "when": "status = 'open'"}}}, table=table, options=["--format", "json"])
        self.assertEqual(json.loads(out)["indexes"], [{"name": "Open", "entries": 1}])
        self.assertEqual([item["PK"] for item in refold.query(self.table, "OpenPK = 'OPEN'", "--index", "Open")], ["ROW#1"])

    def test_a_lone_column_takes_the_declared_key_type(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, rank text); INSERT INTO t VALUES (7, '1.50')")
        self.fold({"from": "t", "key": {"PK": "${id}", "SK": "${rank}"}}, table={"partition": "PK:S", "sort": "SK:N"})
        self.assertEqual(self.items(), {("7", Decimal("1.5")): {"PK": "7", "SK": Decimal("1.5")}})

    def test_joins_match_once_or_not_at_all(self):
        self.sql("CREATE TABLE c (code text PRIMARY KEY, name text); INSERT INTO c VALUES ('pl', 'Poland');"
                 "CREATE TABLE t (id integer PRIMARY KEY, c text); INSERT INTO t VALUES (1, 'pl'), (2, 'xx'), (3, NULL)")
        self.fold({"from": "t", "key": KEY, "set": {"Country": "${land.name}"}, "columns": {"Code": "land.code"},
                   "join": {"land": {"from": "c", "on": "land.code = t.c"}}})
        self.assertEqual({key[0]: (item.get("Country"), item.get("Code")) for key, item in self.items().items()},
                         {"ROW#1": ("Poland", "pl"), "ROW#2": (None, None), "ROW#3": (None, None)})

    def test_a_join_that_matches_twice_names_the_row(self):
        self.sql("CREATE TABLE c (code text, name text); INSERT INTO c VALUES ('pl', 'Poland'), ('pl', 'Polska'), ('cz', 'Czechia');"
                 "CREATE TABLE t (id integer PRIMARY KEY, c text); INSERT INTO t VALUES (1, 'cz'), (2, 'pl')")
        for on in ("land.code = t.c", "land.code LIKE t.c", "lower(land.code) = t.c"):
            _, err = self.fold({"from": "t", "key": {"PK": "ROW#${id}", "SK": "${land.name}"},
                                "join": {"land": {"from": "c", "on": on}}}, expect=1)
            self.assertIn("t (id=2): join land matches more than one row", err, on)

    def test_a_join_through_a_join(self):
        self.sql("CREATE TABLE a (id integer PRIMARY KEY, name text); CREATE TABLE b (id integer PRIMARY KEY, a integer);"
                 "CREATE TABLE t (id integer PRIMARY KEY, b integer); INSERT INTO a VALUES (5, 'five'); INSERT INTO b VALUES (6, 5); INSERT INTO t VALUES (1, 6)")
        self.fold({"from": "t", "key": KEY, "set": {"Name": "${a.name}"},
                   "join": {"middle": {"from": "b", "on": "middle.id = t.b"}, "a": {"from": "a", "on": "a.id = middle.a"}}})
        self.assertEqual(self.one()["Name"], "five")


class Embeds(Rows):
    def setUp(self):
        super().setUp()
        self.sql("CREATE TABLE p (id integer PRIMARY KEY, name text); INSERT INTO p VALUES (1, 'one'), (2, 'two'), (3, 'three');"
                 "CREATE TABLE c (id integer PRIMARY KEY, p integer, v text, n numeric);"
                 r"INSERT INTO c VALUES (13, 1, 'a,b', 1.50), (11, 1, E'say \"hi\"\\ (x) {y}', NULL), (12, 1, '', 3), (14, 2, NULL, NULL), (15, NULL, 'lost', 1);"
                 "CREATE TABLE g (id integer PRIMARY KEY, c integer, w text[]);"
                 r"""INSERT INTO g VALUES (1, 11, ARRAY['q"\', NULL]), (2, 11, '{}'), (3, 13, NULL)""")

    def parents(self, **embed):
        self.fold({"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": "c.p = p.id", **embed}}})
        return {int(key[0][4:]): item.get("C") for key, item in self.items().items()}

    def test_rows_stand_in_order_and_keep_their_values(self):
        first = [{"id": 13, "p": 1, "v": "a,b", "n": Decimal("1.5")}, {"id": 12, "p": 1, "v": "", "n": 3}, {"id": 11, "p": 1, "v": 'say "hi"\\ (x) {y}'}]
        self.assertEqual(self.parents(order="c.id DESC"), {1: first, 2: [{"id": 14, "p": 2}], 3: []})

    def test_rows_without_an_order_stand_by_their_primary_key(self):
        self.assertEqual([row["id"] for row in self.parents(columns=["id"])[1]], [11, 12, 13])

    def test_no_rows_can_be_left_out(self):
        self.assertEqual(self.parents(columns=["id"], empty="omit")[3], None)

    def test_a_limit_keeps_the_first(self):
        self.assertEqual([row["id"] for row in self.parents(columns=["id"], order="c.id DESC", limit=2)[1]], [13, 12])

    def test_scalars_and_sets(self):
        self.assertEqual(self.parents(columns=["v"], order="c.id", **{"as": "scalar"}), {1: ['say "hi"\\ (x) {y}', "", "a,b"], 2: [], 3: []})
        os.unlink(self.table)
        self.assertEqual(self.parents(columns=["n"], **{"as": "set"}), {1: {Decimal("1.5"), Decimal(3)}, 2: None, 3: None})

    def test_values_are_made_by_templates(self):
        made = self.parents(set={"Label": "C#${id}", "Value": "${n}"}, order="c.id")
        self.assertEqual(made[1], [{"Label": "C#11"}, {"Label": "C#12", "Value": 3}, {"Label": "C#13", "Value": Decimal("1.5")}])

    def test_embeds_nest(self):
        made = self.parents(columns=["id"], order="c.id", embed={"G": {"from": "g", "on": "g.c = c.id", "columns": ["w"], "order": "g.id"}})
        self.assertEqual(made[1], [{"id": 11, "G": [{"w": ['q"\\', None]}, {"w": []}]}, {"id": 12, "G": []}, {"id": 13, "G": [{}]}])

    def test_any_condition_will_do_for_short_tables(self):
        made = self.parents(columns=["id"], on="c.p = p.id AND c.id > 11", order="c.id")
        self.assertEqual({k: [row["id"] for row in rows] for k, rows in made.items()}, {1: [12, 13], 2: [14], 3: []})

    def test_a_whole_read_for_each_row_is_refused_with_advice(self):
        self.sql("INSERT INTO c SELECT n, n % 1000, repeat('x', 100), 1 FROM generate_series(100, 30000) n; ANALYZE c;"
                 "INSERT INTO p SELECT n, 'n' FROM generate_series(100, 5000) n; ANALYZE p")
        _, err = self.fold({"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": "c.p + 1 = p.id + 1"}}}, expect=2)
        self.assertRegex(err, r"(?s)entities\[0\].*embed C: PostgreSQL would read the whole of c .*hint:.*index")
        self.sql("CREATE INDEX ON c ((p + 1)); ANALYZE c")
        self.fold({"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": "c.p + 1 = p.id + 1", "columns": ["id"]}}})
        self.assertEqual(len(self.one("ROW#500")["C"]), int(self.sql("SELECT count(*) FROM c WHERE p = 500")))

    def test_an_embed_far_beyond_an_item_is_not_fetched(self):
        self.sql("INSERT INTO c SELECT n, 2, NULL, n FROM generate_series(1000, 500000) n")
        _, err = self.fold({"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": "c.p = p.id", "columns": ["n"]}}}, expect=1)
        self.assertIn("p (id=2): embed C is far too large for an item", err)

    def test_an_item_over_the_limit_names_its_row(self):
        self.sql("INSERT INTO c VALUES (99, 3, repeat('x', 409600))")
        _, err = self.fold({"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": "c.p = p.id"}}}, expect=1)
        self.assertIn("p (id=3)", err)

    def test_parts_of_a_long_table_find_all_their_rows(self):
        self.sql("INSERT INTO p SELECT n, repeat('n', 500) FROM generate_series(100, 40000) n;"
                 "INSERT INTO c SELECT n, n, 'v', n FROM generate_series(100, 40000) n; ANALYZE")
        out, _ = self.fold({"from": "p", "key": KEY, "embed": {"C": {"from": "c", "on": "c.p = p.id", "columns": ["n"]}}}, options=["--format", "json"])
        self.assertEqual(json.loads(out)["items"], 39904)
        self.assertEqual({len(item["C"]) for key, item in self.items().items() if int(key[0][4:]) >= 100}, {1})


class Faults(Rows):
    def test_two_rows_of_one_key_are_both_named(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'same'), (2, 'other'), (7, 'same')")
        _, err = self.fold({"from": "t", "key": {"PK": "V#${v}", "SK": "A"}}, expect=1)
        self.assertIn("t (id=1): folds to PK='V#same' SK='A', and so does t (id=7)", err)
        self.assertFalse(os.path.exists(self.table))

    def test_rows_of_two_entities_of_one_key_are_both_named(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1); CREATE TABLE u (a text, b text, PRIMARY KEY (a, b)); INSERT INTO u VALUES ('1', 'x')")
        _, err = self.fold({"from": "t", "key": KEY}, {"from": "u", "key": {"PK": "ROW#${a}", "SK": "A"}}, expect=1)
        self.assertRegex(err, r"t \(id=1\).*u \(a=1, b=x\)|u \(a=1, b=x\).*t \(id=1\)")

    def test_rows_without_a_primary_key_are_named_by_their_place(self):
        self.sql("CREATE TABLE t (v text); INSERT INTO t VALUES ('x'), ('x')")
        _, err = self.fold({"from": "t", "key": {"PK": "V#${v}", "SK": "A"}}, expect=1)
        self.assertRegex(err, r"t \(ctid=\(0,1\)\).*t \(ctid=\(0,2\)\)")
        _, err = self.fold({"from": {"query": "SELECT v FROM t", "as": "q"}, "key": {"PK": "V#${v}", "SK": "A"}}, expect=1)
        self.assertRegex(err, r"q \(row 1\).*q \(row 2\)")

    def test_a_key_that_is_missing_or_empty_names_row_and_attribute(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, NULL)")
        _, err = self.fold({"from": "t", "key": {"PK": "ROW#${id}", "SK": "${v}"}}, expect=1)
        self.assertRegex(err, r"t \(id=1\): .*SK.*v is missing")
        self.sql("UPDATE t SET v = ''")
        _, err = self.fold({"from": "t", "key": {"PK": "ROW#${id}", "SK": "${v}"}}, expect=1)
        self.assertRegex(err, r"t \(id=1\): .*SK.*empty")
        table = {**TABLE, "indexes": [{"name": "GSI1", "partition": "G:S"}]}
        _, err = self.fold({"from": "t", "key": KEY, "columns": {"G": "v"}}, table=table, expect=1)
        self.assertRegex(err, r"t \(id=1\): .*G.*empty")

    def test_rejects_go_to_their_file_and_the_rest_is_imported(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v numeric, k text);"
                 "INSERT INTO t VALUES (1, 1, 'a'), (2, 'NaN', 'b'), (3, 3, 'c'), (4, 4, 'c'), (5, 5, NULL)")
        rejects = os.path.join(self.folder, "rejects.jsonl")
        self.fold({"from": "t", "key": {"PK": "K#${k}", "SK": "A"}, "columns": ["v"]}, options=["--rejects", rejects], expect=3)
        with open(rejects, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.assertEqual(sorted(row["row"] for row in rows), ["t (id=2)", "t (id=3)", "t (id=4)", "t (id=5)"])
        self.assertIn("column v", [row["reason"] for row in rows if row["row"] == "t (id=2)"][0])
        self.assertEqual(self.items(), {("K#a", "A"): {"PK": "K#a", "SK": "A", "v": 1}})
        self.sql("UPDATE t SET v = 2 WHERE id = 1")
        out, _ = refold.run("verify", self.table, *self.arguments({"from": "t", "key": {"PK": "K#${k}", "SK": "A"}, "columns": ["v"]})[2:],
                            "--format", "json", expect=3)
        found = json.loads(out)
        wanted = ["PK='K#a' SK='A': differs in v", *(row["row"] + ": " + row["reason"] for row in rows)]
        self.assertEqual(sorted(one["finding"] for one in found["findings"]), sorted(wanted))
        self.assertEqual((found["derived"], found["equal"]), (1, 0))

    def test_what_is_rejected_is_not_counted(self):
        """Neither a row that one of the indexes refuses, nor those that share a key."""
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, k text, g text);"
                 "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'a', 'x'), (3, 'b', 'x'), (4, 'c', ''), (5, 'd', NULL), (6, 'a', NULL)")
        table = {**TABLE, "indexes": [{"name": "ByKey", "partition": "K:S"}, {"name": "ByGroup", "partition": "G:S"}]}
        entity = {"name": "T", "from": "t", "key": {"PK": "K#${k}", "SK": "A"}, "set": {"K": "${k}", "G": "${g}"}}
        options = ["--format", "json", "--rejects", os.path.join(self.folder, "rejects.jsonl")]
        for more in (["--dry-run"], []):
            report = json.loads(self.fold(entity, table=table, options=[*options, *more], expect=3)[0])
            self.assertEqual({name: report[name] for name in ("items", "written", "rejected")}, {"items": 2, "written": 2, "rejected": 4})
            self.assertEqual([report["entities"][0][name] for name in ("rows", "items")], [6, 2])
            self.assertEqual([index["entries"] for index in report["indexes"]], [2, 1])
        size = json.loads(refold.run("size", self.table, "--format", "json")[0])
        self.assertEqual(report["bytes"], size["bytes"])

    def test_a_dry_run_tells_everything_and_writes_nothing(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, k text); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'b')")
        entity = {"from": "t", "key": {"PK": "K#${k}", "SK": "A"}}
        _, err = self.fold(entity, options=["--dry-run"], expect=3)
        self.assertIn("t (id=2): folds to PK='K#b' SK='A', and so does t (id=3)", err)
        self.sql("DELETE FROM t WHERE id = 3")
        out, _ = self.fold(entity, options=["--dry-run", "--format", "json"])
        self.assertEqual(json.loads(out)["written"], 2)
        self.assertEqual(os.listdir(self.folder), ["map.json"])

    def test_sql_that_is_none_is_a_wrong_map(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY)")
        for wrong in ({"where": "id = "}, {"where": "nope = 1"}, {"from": {"query": "SELECT FROM", "as": "q"}}):
            _, err = self.fold({"from": "t", "key": KEY, **wrong}, expect=2)
            self.assertRegex(err, r"map.json:1:\d+: entities\[0\]", wrong)

    def test_an_error_after_many_rows_leaves_nothing(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t SELECT n FROM generate_series(1, 50000) n")
        _, err = self.fold({"from": "t", "key": KEY, "where": "1 / (id - 40000) IS NOT NULL"}, expect=1)
        self.assertIn("division by zero", err)
        self.assertFalse(os.path.exists(self.table))

    def test_a_connection_that_breaks_leaves_nothing(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t SELECT n FROM generate_series(1, 1000) n")
        process = subprocess.Popen([refold.PROGRAM, *self.arguments({"from": "t", "key": KEY, "where": "pg_sleep(0.05) IS NOT NULL"})],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for_copy()
        self.server.psql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'refold' AND query LIKE 'COPY%'")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b"PostgreSQL", err)
        self.assertFalse(os.path.exists(self.table))

    def test_ctrl_c_ends_soon_and_leaves_nothing(self):
        self.sql("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t SELECT n FROM generate_series(1, 1000) n")
        process = subprocess.Popen([refold.PROGRAM, *self.arguments({"from": "t", "key": KEY, "where": "pg_sleep(0.5) IS NOT NULL"})],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for_copy()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 5, err)
        self.assertFalse(os.path.exists(self.table))

    def wait_for_copy(self):
        deadline = time.monotonic() + 30
        while self.server.psql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'refold' AND query LIKE 'COPY%'") == "0\n":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_a_password_is_never_shown(self):
        source = self.source().replace("user=postgres", "user=postgres&password=hunter2")
        self.sql("CREATE TABLE t (id integer PRIMARY KEY)")
        out, err = refold.run("import", self.table, "--from", source, "--map", self.map({"from": "t", "key": KEY}), "--format", "json")
        self.assertNotIn("hunter2", out + err)
        bad = source.replace("rows", "no_such_database")
        out, err = refold.run("import", self.table, "--from", bad, "--map", self.map({"from": "t", "key": KEY}), expect=1)
        self.assertNotIn("hunter2", out + err)


class Again(Rows):
    """Imports into a table that holds items."""

    def setUp(self):
        super().setUp()
        self.sql("CREATE TABLE t (id integer PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        self.entity = {"from": "t", "key": KEY, "columns": ["v"]}
        self.fold(self.entity)

    def counts(self, *options, expect=0):
        out, _ = self.fold(self.entity, options=["--format", "json", *options], expect=expect)
        made = json.loads(out)
        return {name: made[name] for name in ("written", "unchanged", "skipped", "overwritten") if made[name]}

    def test_equal_items_are_no_write(self):
        before = refold.export(self.table)
        self.assertEqual(self.counts(), {"unchanged": 2})
        self.assertEqual(refold.export(self.table), before)

    def test_other_content_is_an_error_unless_said(self):
        self.sql("UPDATE t SET v = 'changed' WHERE id = 2; INSERT INTO t VALUES (3, 'c')")
        _, err = self.fold(self.entity, expect=1)
        self.assertIn("t (id=2): the item PK='ROW#2' SK='A' stands already with other content", err)
        self.assertEqual(len(self.items()), 2)
        self.assertEqual(self.counts("--on-conflict", "skip"), {"written": 1, "unchanged": 1, "skipped": 1})
        self.assertEqual(self.one("ROW#2")["v"], "b")
        self.assertEqual(self.counts("--on-conflict", "overwrite"), {"unchanged": 2, "overwritten": 1})
        self.assertEqual(self.one("ROW#2")["v"], "changed")

    def test_a_dry_run_counts_what_would_be_written(self):
        self.sql("UPDATE t SET v = 'changed' WHERE id = 2; INSERT INTO t VALUES (3, 'c')")
        before = refold.export(self.table)
        self.assertEqual(self.counts("--dry-run", "--on-conflict", "overwrite"), {"written": 1, "unchanged": 1, "overwritten": 1})
        self.assertEqual(refold.export(self.table), before)

    def test_an_empty_table_stays_usable_when_an_import_fails(self):
        os.unlink(self.table)
        self.sql("CREATE TABLE none (id integer PRIMARY KEY)")
        self.fold({"from": "none", "key": KEY})
        self.fold({"from": "t", "key": {"PK": "SAME", "SK": "A"}}, expect=1)
        self.assertEqual(self.items(), {})
        self.fold({"from": "t", "key": KEY, "where": "id = 1"})
        self.assertEqual(len(self.items()), 1)

    def test_verify_finds_what_was_changed_behind_its_back(self):
        source = self.arguments(self.entity)[2:]
        out, _ = refold.run("verify", self.table, *source)
        self.assertIn("2 equal", out)
        self.sql("UPDATE t SET v = 'changed' WHERE id = 2; INSERT INTO t VALUES (3, 'c'); DELETE FROM t WHERE id = 1")
        out, _ = refold.run("verify", self.table, *source, expect=3)
        for finding in ("PK='ROW#1' SK='A': stands in the table, but nothing gives it", "PK='ROW#2' SK='A': differs in v", "PK='ROW#3' SK='A': is missing"):
            self.assertIn(finding, out)

    def test_another_key_schema_is_refused(self):
        _, err = self.fold({"from": "t", "key": {"ID": "${id}"}}, table={"partition": "ID:S"}, expect=2)
        self.assertIn("other keys", err)


if __name__ == "__main__":
    unittest.main()
