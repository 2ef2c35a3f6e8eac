#!/usr/bin/env python3
"""What a user meets at the command line: results, messages, exit statuses, signals, pipes, terminals."""
import fcntl
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import refold  # noqa: E402

PROGRAM = os.path.abspath(refold.PROGRAM)
ORDERS = 12
MANY = 30000


def line(pk, sk, **attributes):
    return json.dumps({"Item": {"PK": {"S": pk}, "SK": {"S": sk}, **attributes}}) + "\n"


class Commands(unittest.TestCase):
    """One small table and one large one, made once; each test has a folder of its own to stand in."""

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="refold-commands-")
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.table = os.path.join(cls.shared, "shop.refold")
        cls.large = os.path.join(cls.shared, "large.refold")
        source = os.path.join(cls.shared, "shop.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            file.write(line("CUSTOMER#1", "PROFILE", Name={"S": "Ada\n\u001b[31m"}, Tags={"SS": ["b", "a"]}))
            for n in range(ORDERS):
                file.write(line("CUSTOMER#1", f"ORDER#{n:03}", Total={"N": f"{n}.10"}, Paid={"BOOL": n % 2 == 0}))
            for shard in range(3):
                for n in range(4):
                    file.write(line(f"EVENTS#{shard}", f"{4 * shard + n * 5:03}", Shard={"N": str(shard)}))
        refold.run("import", cls.table, "--from", source)
        with open(source, "w", encoding="utf-8") as file:
            for n in range(MANY):
                file.write(line(f"k{n:06}", "A", Text={"S": "x" * 100}))
        refold.run("import", cls.large, "--from", source)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-command-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run_here(self, *arguments, **options):
        return refold.run(*arguments, cwd=self.folder, **options)

    # --- query

    def keys(self, condition, *options):
        return [item["SK"] for item in refold.query(self.table, condition, *options)]

    def test_query_takes_each_sort_condition(self):
        orders = [f"ORDER#{n:03}" for n in range(ORDERS)]
        for condition, wanted in [
                ("", orders + ["PROFILE"]), (" AND SK = 'PROFILE'", ["PROFILE"]), (" AND begins_with(SK, 'ORDER#')", orders),
                (" AND SK < 'ORDER#002'", orders[:2]), (" AND SK <= 'ORDER#002'", orders[:3]),
                (" AND SK > 'ORDER#010'", orders[11:] + ["PROFILE"]), (" AND SK >= 'ORDER#010'", orders[10:] + ["PROFILE"]),
                (" AND SK BETWEEN 'ORDER#003' AND 'ORDER#005'", orders[3:6]), (" AND SK = 'none'", [])]:
            with self.subTest(condition):
                self.assertEqual(self.keys("PK = 'CUSTOMER#1'" + condition), wanted)
                self.assertEqual(self.keys("PK = 'CUSTOMER#1'" + condition, "--descending"), wanted[::-1])

    def test_query_filters_limits_and_selects(self):
        begins = "PK = 'CUSTOMER#1' AND begins_with(SK, 'ORDER#')"
        self.assertEqual(self.keys(begins, "--where", "Paid = true AND Total > 5"), ["ORDER#006", "ORDER#008", "ORDER#010"])
        self.assertEqual(self.keys(begins, "--limit", "2"), ["ORDER#000", "ORDER#001"])
        items = refold.query(self.table, begins, "--limit=1", "--select", "Total,None,Total")
        self.assertEqual([list(item) for item in items], [["Total"]])

    def test_query_adds_up_exactly(self):
        begins = "PK = 'CUSTOMER#1' AND begins_with(SK, 'ORDER#')"
        out, _ = refold.run("query", self.table, begins, "--sum", "Total")
        self.assertEqual(out, "67.2\n")
        out, _ = refold.run("query", self.table, "PK = 'CUSTOMER#1'", "--sum", "Total * 2", "--format", "json")
        self.assertEqual(json.loads(out), {"sum": "134.4", "items": ORDERS + 1})
        _, err = refold.run("query", self.table, "PK = 'CUSTOMER#1'", "--sum", "SK", expect=3)
        self.assertIn("of type S, not N", err)

    def test_query_merges_shards(self):
        merged = self.keys("PK = 'EVENTS#{shard}'", "--shards", "3")
        self.assertEqual(len(merged), 12)
        self.assertEqual(merged, sorted(merged))
        self.assertEqual(self.keys("PK = 'EVENTS#{shard}'", "--shards", "3", "--descending"), merged[::-1])
        out, _ = refold.run("query", self.table, "PK = 'EVENTS#{shard}'", "--shards", "3", "--sum", "Shard")
        self.assertEqual(out, "12\n")

    def test_query_says_what_is_wrong_with_it(self):
        for arguments, message in [
                (["Total = 1"], "Total is no key attribute"), (["PK = 1"], "PK is of type S, not N"), (["PK ="], "column 5"),
                (["PK = 'a'", "--index", "X"], "no index 'X'"), (["PK = 'a'", "--where", "Total"], "write Paid = true"),
                (["PK = 'a'", "--limit", "0"], "--limit"), (["PK = 'a'", "--shards", "2"], "{shard}"),
                (["PK = '{shard}'"], "--shards"), ([], "argument is missing")]:
            with self.subTest(arguments):
                out, err = refold.run("query", self.table, *arguments, expect=2)
                self.assertIn(message, err)
                self.assertEqual(out, "")

    def test_text_of_items_cannot_command_the_terminal(self):
        out, _ = refold.run("query", self.table, "PK = 'CUSTOMER#1' AND SK = 'PROFILE'")
        self.assertEqual(out, 'PK          SK       Name           Tags\n'
                              'CUSTOMER#1  PROFILE  Ada\\n\\x1b[31m  ["a","b"]\n')

    # --- show, verify

    def test_show_prints_a_collection(self):
        out, _ = refold.run("show", self.table, "EVENTS#1")
        self.assertEqual(out, "PK        SK   Shard\nEVENTS#1  004      1\nEVENTS#1  009      1\nEVENTS#1  014      1\nEVENTS#1  019      1\n")
        out, _ = refold.run("show", self.table, "EVENTS#1", "--format", "json")
        self.assertEqual(len(out.splitlines()), 4)
        self.assertEqual(refold.run("show", self.table, "nobody"), ("", "no item has PK = 'nobody'\n"))

    def test_show_describes_the_table(self):
        out, _ = refold.run("show", self.table)
        self.assertIn("key PK:S / SK:S, 25 items", out)
        self.assertIn("CUSTOMER#1", out)
        described = json.loads(refold.run("show", self.table, "--format", "json")[0])
        self.assertEqual((described["items"], described["sort"]), (25, [{"name": "SK", "type": "S"}]))

    def test_size_counts_items_and_what_indexes_project(self):
        """Attributes: PK 3 or 4, SK 3, G 2, H 2, Text 4 + its letters."""
        table, rows, plans = self.path("s.refold"), self.path("s.jsonl"), self.path("plans")
        os.mkdir(plans)
        with open(rows, "w", encoding="utf-8") as file:
            for pk, sk, letters in (("A", "1", 10), ("A", "2", 20), ("BB", "1", 25)):
                group = {"G": {"S": "g"}} if pk == "A" else {}
                file.write(line(pk, sk, H={"S": "h"}, Text={"S": "x" * letters}, **group))
        refold.run("import", table, "--from", rows)
        with open(os.path.join(plans, "0001_indexes.json"), "w", encoding="utf-8") as file:
            json.dump({"steps": [{"create_index": {"name": "All", "partition": "H:S"}},
                                 {"create_index": {"name": "Keys", "partition": "G:S", "projection": "KEYS_ONLY"}},
                                 {"create_index": {"name": "Some", "partition": "G:S", "sort": "H:S", "projection": {"include": ["Text"]}}}]}, file)
        refold.run("apply", table, "--plans", plans)
        out, _ = refold.run("size", table)
        self.assertEqual(out, "       items  bytes\ntable      3  96 B\nAll        3\nKeys       2\nSome       2\n")
        out, _ = refold.run("size", table, "--exact")
        self.assertEqual(out, "       items  bytes\ntable      3  96 B\nAll        3  96 B\nKeys       2  16 B\nSome       2  58 B\n"
                              "largest item: 38 B, PK='BB' SK='1'\nlargest collection: 2 items, 58 B, PK='A'\n")
        said = json.loads(refold.run("size", table, "--format", "json", "--exact")[0])
        self.assertEqual(said["largest_collection"], {"partition_key": "PK='A'", "items": 2, "bytes": 58})
        self.assertEqual(said["largest_item"], {"key": "PK='BB' SK='1'", "bytes": 38})
        self.assertEqual([index["bytes"] for index in said["indexes"]], [96, 16, 58])
        plain = json.loads(refold.run("size", table, "--format", "json")[0])
        self.assertEqual((plain["items"], plain["bytes"], plain["estimated"]), (3, 96, False))
        self.assertNotIn("bytes", plain["indexes"][0])

    def test_verify_finds_nothing_wrong(self):
        self.assertIn("25 items, 0 indexes: 0 findings", refold.run("verify", self.table)[0])
        self.assertEqual(json.loads(refold.run("verify", self.table, "--format", "json")[0]),
                         {"findings": [], "items": 25, "key_only": {"items": 0, "examples": []}, "sound": True})

    def test_verify_tells_of_items_of_keys_alone(self):
        """They may be meant so: it is no finding."""
        table, rows = self.path("keys.refold"), self.path("keys.jsonl")
        with open(rows, "w", encoding="utf-8") as file:
            for n in range(7):
                file.write(line("A", str(n)) + line("B", str(n), Text={"S": ""}))
        refold.run("import", table, "--from", rows)
        self.assertEqual(refold.run("verify", table)[0],
                         "note: items with nothing but their key, as an update leaves where its item was deleted: 7\n"
                         + "".join(f"  PK='A' SK='{n}'\n" for n in range(5)) + "  and 2 more\n14 items, 0 indexes: 0 findings\n")
        self.assertEqual(json.loads(refold.run("verify", table, "--format", "json")[0]),
                         {"findings": [], "items": 14, "sound": True,
                          "key_only": {"items": 7, "examples": [{"key": f"PK='A' SK='{n}'"} for n in range(5)]}})

    # --- export

    def test_export_is_read_back_the_same(self):
        file = self.path("out.jsonl")
        out, _ = refold.run("export", self.table, "--to", file)
        self.assertIn("25 items exported", out)
        other = self.path("other.refold")
        refold.run("import", other, "--from", file)
        with open(file, encoding="utf-8") as exported:
            self.assertEqual(refold.export(other), exported.read())
        self.assertEqual(os.listdir(self.folder).count("out.jsonl"), 1)
        self.assertEqual([name for name in os.listdir(self.folder) if ".tmp" in name], [])

    def test_export_leaves_a_standing_file_alone_until_it_is_complete(self):
        file = self.write("out.jsonl", "old")
        refold.run("export", self.path("missing.refold"), "--to", file, expect=1)
        with open(file, encoding="utf-8") as kept:
            self.assertEqual(kept.read(), "old")
        _, err = refold.run("export", self.table, "--to", self.path("nowhere/out.jsonl"), expect=1)
        self.assertIn("nowhere/out.jsonl", err)
        refold.run("export", self.table, expect=2)
        refold.run("export", self.table, "--to", "/dev/null", expect=2)

    # --- pipes and signals

    def test_export_replaces_no_table(self):
        table = os.path.join(self.folder, "t.refold")
        shutil.copy(self.table, table)
        os.symlink(table, self.path("link.jsonl"))
        os.link(table, self.path("other.jsonl"))
        before = refold.export(table)
        for to in (table, self.path("new.refold"), self.path("link.jsonl"), self.path("other.jsonl")):
            self.assertIn("is a table, and would be replaced", self.run_here("export", table, "--to", to, expect=2)[1])
        self.assertFalse(os.path.exists(self.path("new.refold")))
        self.assertEqual(refold.export(table), before)

    def test_lines_lie_in_folders_of_any_name(self):
        """A connection string has = in it, and so have the folders that other programs make."""
        os.mkdir(self.path("dt=2026-04-18"))
        rows = self.write("dt=2026-04-18/rows.jsonl", '{"Item":{"PK":{"S":"a"},"SK":{"S":"b"}}}\n')
        self.assertIn("1 written", self.run_here("import", "t.refold", "--from", rows)[0])
        self.assertIn("1 written", self.run_here("import", "u.refold", "--from", "dt=2026-04-18/rows.jsonl")[0])

    def test_rejects_replace_neither_table_nor_source(self):
        rows = self.write("rows.jsonl", '{"Item":{"PK":{"S":"a"},"SK":{"S":"b"}}}\n')
        os.symlink(rows, self.path("link.jsonl"))
        table, other = self.path("t.refold"), self.path("other.refold")
        shutil.copy(self.table, other)
        before = refold.export(other)
        for to, said in ((rows, "reads that file"), (self.path("link.jsonl"), "reads that file"), (table, "is a table"), (other, "is a table")):
            self.assertIn(said, self.run_here("import", table, "--from", rows, "--rejects", to, expect=2)[1])
        map_file = self.write("map.json", json.dumps({"entities": [{"from": "t", "key": {"PK": "a", "SK": "b"}}]}))
        self.assertIn("reads that file", self.run_here("import", table, "--from", "postgresql:///none", "--map", map_file, "--rejects", map_file,
                                                       expect=2)[1])
        self.assertTrue(os.path.getsize(rows) and os.path.getsize(map_file))
        self.assertEqual(refold.export(other), before)

    def test_a_closed_pipe_is_a_failure_with_a_message(self):
        for arguments in (["export", self.large, "--to", "-"], ["query", self.table, "PK = 'CUSTOMER#1'"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([PROGRAM, *arguments], stdout=writer, stderr=subprocess.PIPE, check=False)
            os.close(writer)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(b"Broken pipe", done.stderr)

    def test_a_full_disk_is_a_failure_with_a_message(self):
        for arguments in (["export", self.large, "--to", "-"], ["show", self.table], ["version"], ["help"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(b"No space left on device", done.stderr)

    def test_a_limit_of_file_sizes_is_a_failure_with_a_message(self):
        """The program's own, and not a signal's end that leaves half a file behind."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))

        _, err = self.run_here("export", self.large, "--to", "out.jsonl", expect=1, preexec_fn=limit)
        self.assertIn("File too large", err)
        self.run_here("export", self.large, "--to", "in.jsonl")
        _, err = self.run_here("import", "new.refold", "--from", "in.jsonl", expect=1, preexec_fn=limit)
        self.assertRegex(err, "(?i)space|room|too large")
        self.assertEqual(os.listdir(self.folder), ["in.jsonl"])

    def blocked_export(self):
        """An export that waits for somebody to read from its pipe."""
        export = subprocess.Popen([PROGRAM, "export", self.large, "--to", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        export.stdout.read(1)
        return export

    def test_a_signal_stops_where_it_is_safe(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            export = self.blocked_export()
            export.send_signal(number)
            time.sleep(0.2)
            out, err = export.communicate(timeout=20)
            self.assertEqual(export.returncode, 5)
            self.assertIn(b"interrupted", err)
            self.assertLess(len(out.splitlines()), MANY)

    def test_a_second_signal_ends_at_once(self):
        export = self.blocked_export()
        export.send_signal(signal.SIGINT)
        time.sleep(0.2)
        self.assertIsNone(export.poll())
        export.send_signal(signal.SIGINT)
        self.assertEqual(export.wait(timeout=20), 5)
        export.stdout.close()
        export.stderr.close()

    # --- the program as a whole

    def test_configuration_names_tables(self):
        self.write("refold.json", json.dumps({"targets": {"shop": self.table}, "table": "shop"}))
        self.assertIn("25 items", self.run_here("show", "shop")[0])
        self.assertIn("25 items", self.run_here("show")[0])
        self.assertIn("EVENTS#1", self.run_here("show", "EVENTS#1")[0])
        self.assertEqual(len(self.run_here("query", "PK = 'EVENTS#1'", "--format=json")[0].splitlines()), 4)
        self.write("refold.json", '{"targets": {"shop": "shop.refold"}, "tabel": "shop"}')
        self.assertIn("unknown member 'tabel'", self.run_here("show", "shop", expect=2)[1])
        self.assertIn("refold", self.run_here("--version")[0])

    def test_usage_errors_are_exit_2_with_the_nearest_word(self):
        for arguments, message in [
                (["qurey", self.table], "did you mean 'query'?"), (["show", self.table, "--formt", "json"], "did you mean --format?"),
                (["show"], "no TABLE"), (["show", "shop"], "'shop' is no table"), ([], "refold --help"),
                (["show", self.table, "a", "b"], "unexpected argument 'b'")]:
            with self.subTest(arguments):
                out, err = self.run_here(*arguments, expect=2)
                self.assertTrue(err.startswith("refold: "), err)
                self.assertIn(message, err)
                self.assertEqual(out, "")

    def test_a_missing_table_is_exit_1(self):
        for command in (["show"], ["verify"], ["export", "--to", "-"], ["query", "PK = 'a'"]):
            out, err = self.run_here(command[0], "none.refold", *command[1:], expect=1)
            self.assertIn("none.refold", err)
            self.assertEqual(out, "")
        self.assertEqual(os.listdir(self.folder), [])

    def test_passwords_are_never_printed(self):
        for arguments in (["show", "postgresql://me:geheim@h/d"], ["frobnicate", "postgresql://me:geheim@h/d"],
                          ["show", self.table, "a", "postgresql://me:geheim@h/d"],
                          ["import", "new.refold", "--map", self.write("map.json", "{}"), "--from", "host=127.0.0.1 port=1 password=geheim"],
                          ["import", "new.refold", "--map", "map.json", "--from", "postgresql://me:geheim@127.0.0.1:1/d"]):
            out, err = self.run_here(*arguments, expect=(1, 2))
            self.assertNotIn("geheim", out + err)

    def test_help_covers_every_command(self):
        self.assertTrue(self.run_here("help")[0].endswith("4 changes pending, 5 interrupted.\n"))
        listed = [row.split()[0] for row in self.run_here("help")[0].split("Commands:\n")[1].split("\n\n")[0].splitlines()]
        self.assertGreater(len(listed), 7)
        for command in listed:
            text, _ = self.run_here("help", command)
            self.assertEqual(text, self.run_here(command, "--help")[0])
            self.assertTrue(text.startswith(f"Usage: refold {command} "), text)


    # --- plans

    def test_new_begins_the_next_plan(self):
        for name, file in [("Open orders!", "plans/0001_open_orders.json"), ("  a--b ", "plans/0002_a_b.json")]:
            self.assertEqual(self.run_here("new", name)[0], file + "\n")
        with open(self.path("plans/0001_open_orders.json"), encoding="utf-8") as plan:
            self.assertIn('"description": "Open orders!"', plan.read())
        os.rename(self.path("plans/0002_a_b.json"), self.path("plans/0041_a_b.json"))
        self.assertEqual(self.run_here("new", 'say "x"')[0], "plans/0042_say_x.json\n")
        self.assertIn("no letter or digit", self.run_here("new", "!!", expect=2)[1])
        # A plan that does nothing yet is no plan.
        self.assertIn("plans/0042_say_x.json:", self.run_here("check", expect=2)[0])

    def test_check_reports_every_file_with_its_place(self):
        os.mkdir(self.path("plans"))
        self.write("plans/0001_good.json", '{"steps": [{"where": "Kind = \'a\'", "set": {"Kind": "b"}}]}')
        out, _ = self.run_here("check", self.table)
        self.assertIn("plans/0001_good.json: ok\n  pass: 1 step: converges, proved", out)
        self.write("plans/0002_bad.json", '{"steps": [\n  {"where": "Kind =", "set": {"A": 1}}]}')
        self.write("plans/0003_bad.json", '{"steps": [{"set": {"A": "${"}}]}')
        out, err = self.run_here("check", expect=2)
        self.assertIn("plans/0002_bad.json:2:", out)
        self.assertIn("plans/0003_bad.json:1:", out)
        self.assertIn("2 of 3 files are wrong", err)
        os.remove(self.path("plans/0003_bad.json"))
        self.assertIn("1 of 2 files is wrong", self.run_here("check", expect=2)[1])
        self.assertIn("none.refold does not exist", self.run_here("check", "none.refold", expect=2)[1])

    def test_check_compares_keys_with_the_table(self):
        os.mkdir(self.path("plans"))
        self.write("plans/0001_key.json", '{"steps": [{"set": {"PK": "x"}}]}')
        self.assertIn("PK", self.run_here("check", self.table, expect=2)[0])
        mapped = self.write("map.json", '{"table": {"partition": "Id:S"}, "entities": [{"name": "A", "from": "a", "key": {"Id": "${id}"}}]}')
        self.assertIn("keys", self.run_here("check", self.table, "--map", mapped, expect=2)[0])

    def test_check_follows_indexes_from_plan_to_plan(self):
        os.mkdir(self.path("plans"))
        self.write("plans/0001_make.json", '{"steps": [{"create_index": {"name": "One", "partition": "Extra:S"}}]}')
        self.write("plans/0002_drop.json", '{"steps": [{"drop_index": "One"}]}')
        self.write("plans/0003_again.json", '{"steps": [{"create_index": {"name": "Two", "partition": "Extra:N"}}]}')
        self.run_here("check", self.table)
        copy = self.path("copy.refold")
        shutil.copy(self.table, copy)
        self.run_here("apply", copy)
        # What is applied already was written for the table of that time.
        self.assertIn("applied already", self.run_here("check", copy)[0])
        self.write("plans/0004_two_types.json", '{"steps": [{"create_index": {"name": "Four", "partition": "Extra:S"}}]}')
        out, _ = self.run_here("check", copy, expect=2)
        self.assertIn("plans/0004_two_types.json:1:29: steps[0].create_index: index Four: expected Extra:N", out)

    def test_check_finds_plans_to_check(self):
        os.mkdir(self.path("plans"))
        for where in ((), (self.table,)):
            out, err = self.run_here("check", *where, expect=2)
            self.assertEqual(out, "")
            self.assertIn("there are no plans in plans\nhint: --plans DIR", err)
        mapped = self.write("map.json", '{"table": {"partition": "Id:S"}, "entities": [{"name": "A", "from": "a", "key": {"Id": "${id}"}}]}')
        self.run_here("check", "--map", mapped)
        self.assertIn("there are no plans in plans", self.run_here("check", "--map", mapped, "--plans", "plans", expect=2)[1])

    def test_check_refuses_what_apply_refuses(self):
        os.mkdir(self.path("plans"))
        self.write("plans/0002_good.json", '{"steps": [{"set": {"Extra": "b"}}]}')
        copy = self.path("copy.refold")
        shutil.copy(self.table, copy)
        self.run_here("apply", copy)
        good = shutil.copytree(self.path("plans"), self.path("good"))
        for says, name, text, message in [
                ("changed since it was applied", "0002_good", '{"steps": [{"set": {"Extra": "c"}}]}', "was changed after it was applied"),
                ("below an applied one", "0001_late", '{"steps": [{"set": {"Late": 1}}]}', "is out of order"),
                ("drops what is not there", "0003_drop", '{"steps": [{"drop_index": "None"}]}', "there is no index None"),
                ("a way back that drops what is not there", "0003_back",
                 '{"steps": [{"set": {"Late": 1}}], "rollback": [{"drop_index": "None"}]}', "there is no index None")]:
            with self.subTest(says):
                shutil.rmtree(self.path("plans"))
                shutil.copytree(good, self.path("plans"))
                self.write(f"plans/{name}.json", text)
                out, err = self.run_here("check", copy, expect=2)
                self.assertIn(f"plans/{name}.json", out)
                self.assertIn(message, out)
                self.assertRegex(err, f"1 of {len(os.listdir(self.path('plans')))} files? is wrong")
        self.assertIn("applied already", self.run_here("check", copy, "--plans", good)[0])

    # --- terminals

    def on_terminal(self, *arguments, columns=40, **environment):
        """What a terminal of that width shows."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        program = subprocess.Popen([PROGRAM, *arguments], stdout=slave, stderr=slave, env={**os.environ, **environment})
        os.close(slave)
        shown = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        os.close(master)
        self.assertEqual(program.wait(timeout=20), 0)
        return shown.decode()

    def test_a_terminal_gets_short_lines_and_underlined_heads(self):
        shown = self.on_terminal("show", self.large, "k000007", columns=30)
        self.assertIn("\033[4m", shown)
        for row in shown.replace("\033[4m", "").replace("\033[0m", "").splitlines():
            self.assertLessEqual(len(row), 30)
        self.assertIn("…", shown)
        self.assertNotIn("\033[4m", self.on_terminal("show", self.large, "k000007", NO_COLOR="1"))


if __name__ == "__main__":
    unittest.main()
