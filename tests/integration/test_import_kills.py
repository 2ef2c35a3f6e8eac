#!/usr/bin/env python3
"""An import that is killed at any instant is started again by the same command, and ends the same."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import postgres  # noqa: E402
import refold  # noqa: E402

ROWS = 60000
KEY = {"PK": "ROW#${id}", "SK": "A"}
TABLE = {"partition": "PK:S", "sort": "SK:S", "indexes": [{"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S"}]}
ENTITY = {"from": "t", "key": KEY, "set": {"GSI1PK": "${v}", "GSI1SK": "${id}"}, "columns": ["v"]}


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server().__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.server.create_database("kills")

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-kills-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server.psql("kills", "DROP TABLE IF EXISTS t, ledger_a, ledger_b; CREATE TABLE t (id integer PRIMARY KEY, v text NOT NULL);"
                         f"INSERT INTO t SELECT n, 'v' || n % 100 FROM generate_series(1, {ROWS}) n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def arguments(self, table, *entities):
        with open(self.path("map.json"), "w", encoding="utf-8") as file:
            json.dump({"table": TABLE, "entities": list(entities or [ENTITY])}, file)
        return ["import", table, "--from", self.server.uri("kills"), "--map", self.path("map.json")]

    def kill_after(self, seconds, table):
        """True if the import was killed, false if it was done before."""
        process = subprocess.Popen([refold.PROGRAM, *self.arguments(table)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
        self.assertEqual(process.returncode, 0)
        return False

    def kill_while_loading(self, table):
        """Lets it go on by hundredths of a second, looks, and kills it between its first and its last write."""
        process = subprocess.Popen([refold.PROGRAM, *self.arguments(table)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.is_unfinished(table):
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.01)
            os.kill(process.pid, signal.SIGSTOP)
            self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]), "the import was never caught while it wrote")
        process.kill()
        process.wait()

    def whole_seconds(self):
        started = time.monotonic()
        refold.run(*self.arguments(self.path("whole.refold")))
        return time.monotonic() - started

    def test_a_new_table_is_begun_again(self):
        whole = self.whole_seconds()
        wanted = refold.export(self.path("whole.refold"))
        for step in range(1, 13):
            table = self.path(f"t{step}.refold")
            self.kill_after(whole * step / 12, table)
            refold.run(*self.arguments(table))
            self.assertEqual(refold.export(table) == wanted, True, f"killed after {step}/12 of the time")
            refold.run("verify", table)

    def test_another_map_may_take_over_a_new_table(self):
        table = self.path("t.refold")
        self.kill_while_loading(table)
        refold.run(*self.arguments(table, {"from": "t", "where": "id <= 10", "key": KEY}))
        self.assertEqual(len(refold.items(table)), 10)

    def test_items_that_stood_before_stay_and_leftovers_go(self):
        started = self.whole_seconds()
        self.assertGreater(started, 0)
        for step in range(1, 9):
            table = self.path(f"m{step}.refold")
            lines = self.path("before.jsonl")
            with open(lines, "w", encoding="utf-8") as file:
                file.write('{"Item":{"PK":{"S":"OTHER"},"SK":{"S":"A"}}}\n')
            with open(self.path("empty.json"), "w", encoding="utf-8") as file:
                json.dump({"table": TABLE, "entities": [{"from": "t", "where": "false", "key": KEY}]}, file)
            refold.run("import", table, "--from", self.server.uri("kills"), "--map", self.path("empty.json"))
            refold.run("import", table, "--from", lines)
            whole = started * 1.5
            unfinished = self.kill_after(whole * step / 8, table) and self.is_unfinished(table)
            self.server.psql("kills", f"DELETE FROM t WHERE id % 1000 = {step}; UPDATE t SET v = 'changed{step}' WHERE id % 1000 = {step + 500}")
            made = refold.run(*self.arguments(table), "--on-conflict", "fail" if unfinished else "overwrite", "--format", "json")
            self.assertIn(("OTHER", "A"), refold.items(table))
            refold.run("verify", table)
            clean = self.path(f"c{step}.refold")
            refold.run(*self.arguments(clean))
            wanted = refold.items(clean)
            found = refold.items(table)
            found.pop(("OTHER", "A"))
            if unfinished:
                self.assertEqual(found == wanted, True, f"killed after {step}/8 of the time: {made[0]}")

    def test_another_import_does_not_take_over_a_table_with_items(self):
        table = self.path("t.refold")
        refold.run(*self.arguments(table, {"from": "t", "where": "id = 1", "key": {"PK": "OLD", "SK": "A"}}))
        self.kill_while_loading(table)
        _, err = refold.run(*self.arguments(table, {"from": "t", "where": "id = 2", "key": KEY}), expect=1)
        self.assertIn("was not finished", err)

    def is_unfinished(self, table):
        return "was not finished" in refold.run("query", table, "PK = 'A'", expect=(0, 1))[1]

    def test_all_rows_are_of_one_moment(self):
        """Two sums that always make the same total, while a writer moves money between them."""
        self.server.psql("kills", "CREATE TABLE ledger_a (id integer PRIMARY KEY, n integer); CREATE TABLE ledger_b (LIKE ledger_a INCLUDING ALL);"
                         "INSERT INTO ledger_a SELECT n, 1000 FROM generate_series(1, 2000) n; INSERT INTO ledger_b SELECT * FROM ledger_a")
        done = threading.Event()

        def write():
            while not done.is_set():
                self.server.psql("kills", "BEGIN; UPDATE ledger_a SET n = n - 1 WHERE id % 7 = 0; UPDATE ledger_b SET n = n + 1 WHERE id % 7 = 0; COMMIT;"
                                 "DO $$ BEGIN FOR i IN 1..20 LOOP UPDATE ledger_a SET n = n - 1; UPDATE ledger_b SET n = n + 1; COMMIT; END LOOP; END $$")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for attempt in range(5):
                table = self.path(f"s{attempt}.refold")
                refold.run(*self.arguments(table, {"from": "ledger_a", "key": {"PK": "A#${id}", "SK": "A"}, "columns": ["n"]},
                                           {"from": "ledger_b", "key": {"PK": "B#${id}", "SK": "A"}, "columns": ["n"]}))
                self.assertEqual(sum(item["n"] for item in refold.items(table).values()), 2 * 2000 * 1000)
        finally:
            done.set()
            writer.join()


if __name__ == "__main__":
    unittest.main()
