#!/usr/bin/env python3
"""Tables behind the DynamoDB API: what works on the embedded table works there, and ends in the same items.

On dynalite; test_api_store_moto.py does the same on moto."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402

READS = {"DescribeTable", "Scan", "Query", "GetItem", "BatchGetItem"}


def is_heart(body):
    """Of the records of who is at work: their beats come whenever they come."""
    return b'"lease"' in body or b'"member/' in body


def item(partition, sort, **attributes):
    """An item in DynamoDB JSON: texts as S, numbers as N, what has a type already as it is."""
    kinds = {str: lambda v: {"S": v}, int: lambda v: {"N": str(v)}, dict: lambda v: v}
    made = {name: kinds[type(value)](value) for name, value in attributes.items()}
    return {"PK": {"S": partition}, "SK": {"S": sort}, **made}


def orders(count):
    """Customers with four orders each, and attributes of every type."""
    for c in range(count):
        yield item(f"CUSTOMER#{c}", "PROFILE", Name=f"Name {c}", Email=f"c{c}@Example.com", Tags={"SS": ["z", "a", "m"]},
                   Scores={"NS": ["3", "1", "2.50"]}, Blobs={"BS": ["AAE=", "/w=="]}, Blob={"B": "AAEC"}, Flag={"BOOL": True},
                   Nothing={"NULL": True}, List={"L": [{"N": "1"}, {"M": {"a": {"SS": ["y", "x"]}}}]}, Odd={"M": {"a b.c": {"S": ""}}})
        for o in range(4):
            yield item(f"CUSTOMER#{c}", f"ORDER#{o}", Status=["open", "done"][(c + o) % 2], OrderDate=f"2026-01-{1 + (c * o) % 28:02d}",
                       Total=f"{(c * 7 + o) % 1000}.5")


SET = {"steps": [
    {"name": "by status", "where": "begins_with(SK, 'ORDER#') AND attribute_not_exists(GSI1PK)",
     "set": {"GSI1PK": "STATUS#${Status}", "GSI1SK": "${OrderDate}"}},
    {"name": "totals", "where": "attribute_type(Total, 'S')", "set": {"Total": {"N": "${Total}"}}},
    {"name": "profiles", "where": "SK = 'PROFILE'", "set": {"Version": 2}, "remove": ["Blob"]}]}
INDEX = {"steps": [{"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S"}}]}
REKEY = {"steps": [{"name": "by email", "where": "SK = 'PROFILE' AND begins_with(PK, 'CUSTOMER#')",
                    "rekey": {"PK": "EMAIL#${lower(Email)}"}}]}
PUT = {"steps": [{"name": "totals", "where": "begins_with(SK, 'ORDER#')", "put": {"PK": "TOTAL#${SK}", "SK": "${PK}", "Total": "${Total}"}}]}
LOOKUP = {"steps": [{"name": "names", "where": "begins_with(SK, 'ORDER#')", "lookup": {"c": {"PK": "${PK}", "SK": "PROFILE"}},
                     "set": {"CustomerName": "${c.Name}"}}]}
DELETE = {"steps": [{"name": "done", "where": "begins_with(SK, 'ORDER#') AND Status = 'done'", "delete": True}]}


class Store(ApiTable):
    """What both servers must do; a subclass says which server."""

    keys = [("Id:S", None), ("Id:N", None), ("Id:N", "At:N"), ("Id:S", "At:N")]

    def setUp(self):
        super().setUp()
        self.began = time.monotonic()
        self.addCleanup(lambda: print(f"{time.monotonic() - self.began:6.1f} s {self.id()}", file=sys.stderr))
        self.state = ["--state", self.state]

    def apply(self, table=None, *options, expect=0):
        state = self.state if table in (None, self.table) or "dynamodb:" in table else []
        return refold.run("apply", table or self.table, "--plans", self.plans, *state, *options, expect=expect)

    def lines(self, table):
        return sorted(refold.export(table).splitlines())

    def assert_same(self):
        self.assertEqual(self.lines(self.table), self.lines(self.embedded))

    def test_plans_end_in_the_same_items(self):
        self.load(orders(12))
        self.assert_same()
        for version, content in enumerate((SET, REKEY, PUT, DELETE), start=1):
            self.plan(version, content)
        said = [self.apply(table)[0] for table in (self.table, self.embedded)]
        self.assertEqual(refold.without_capacity(said[0]), said[1])
        self.assert_same()
        self.assertIn("nothing to do", "".join(self.apply()))

    def test_lookups_read_the_table(self):
        self.load(orders(5))
        self.plan(1, LOOKUP)
        self.apply()
        self.apply(self.embedded)
        self.assert_same()

    def test_rollback_restores(self):
        self.load(orders(6))
        before = self.lines(self.table)
        for version, content in enumerate((SET, REKEY, PUT, DELETE), start=1):
            self.plan(version, content)
        self.apply()
        out, _ = refold.run("rollback", self.table, "--plans", self.plans, "--to", "0", *self.state)
        self.assertEqual(out.count(" 0 left alone"), 4, out)
        self.assertEqual(self.lines(self.table), before)
        self.assertEqual(os.listdir(os.path.join(self.state[1])), [])

    def test_rollback_needs_the_undo_files(self):
        self.load(orders(3))
        self.plan(1, SET)
        self.apply()
        applied = self.lines(self.table)
        shutil.rmtree(self.state[1])
        _, err = refold.run("rollback", self.table, "--plans", self.plans, *self.state, expect=1)
        self.assertIn("undo log", err)
        self.assertIn("nothing was changed", err)
        self.assertEqual(self.lines(self.table), applied)

    def test_rollback_leaves_what_was_changed_since(self):
        self.load(orders(3))
        self.plan(1, SET)
        self.apply()
        key = {"PK": {"S": "CUSTOMER#1"}, "SK": {"S": "ORDER#1"}}
        self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "SET GSI1PK = :v",
                                        "ExpressionAttributeValues": {":v": {"S": "theirs"}}})
        out, _ = refold.run("rollback", self.table, "--plans", self.plans, *self.state, expect=(0, 3))
        self.assertIn("1 left alone", out)
        changed = refold.items(self.table)["CUSTOMER#1", "ORDER#1"]
        self.assertEqual((changed["GSI1PK"], changed["Total"], "GSI1SK" in changed), ("theirs", "8.5", False))

    def test_dry_run_only_reads(self):
        """With rights to read and no others: every kind of step, a run before it, and an import."""
        self.load(orders(5))
        self.plan(1, SET)
        self.apply()
        for version, content in enumerate((INDEX, LOOKUP, REKEY, PUT, DELETE), start=2):
            self.plan(version, content)
        rows = os.path.join(self.folder, "rows.jsonl")
        with ddb_servers.Proxy(self.server, before=lambda operation, _: None if operation in READS else (400, b"{}")) as proxy:
            refold.run("apply", proxy.table(self.name), "--plans", self.plans, "--dry-run", expect=4)
            refold.run("import", proxy.table(self.name), "--from", rows, "--dry-run", "--on-conflict", "fail", expect=(0, 1, 3, 4))
            refold.run("status", proxy.table(self.name), "--plans", self.plans)
            self.assertLessEqual(set(proxy.counts), READS, proxy.counts)
            self.assertGreater(proxy.count("Scan"), 0)

    def test_apply_twice_writes_once(self):
        self.load(orders(5))
        self.plan(1, SET)
        self.apply()
        self.plan(2, {"description": "once more", **SET})
        written = []

        def before(operation, body):
            if operation in ddb_servers.WRITES and b"__refold#" not in body:
                written.append(body)

        with ddb_servers.Proxy(self.server, before=before) as proxy:
            self.apply(proxy.table(self.name))
        self.assertEqual(written, [])

    def test_queries_answer_as_embedded(self):
        self.load(orders(4))
        for condition in ("PK = 'CUSTOMER#2'", "PK = 'CUSTOMER#2' AND SK > 'ORDER#1'", "PK = 'CUSTOMER#2' AND SK BETWEEN 'ORDER#1' AND 'ORDER#2'",
                          "PK = 'CUSTOMER#2' AND begins_with(SK, 'ORDER#')", "PK = 'CUSTOMER#9'"):
            self.assertEqual(refold.query(self.table, condition), refold.query(self.embedded, condition), condition)

    def test_control_records_are_never_seen(self):
        self.load(orders(3))
        self.plan(1, SET)
        self.apply()
        stored = self.server.items(self.name)
        ours = [one for one in stored if one["PK"]["S"].startswith("__refold#")]
        self.assertGreater(len(ours), 2)
        self.assertNotIn("__refold#", refold.export(self.table))
        self.assertEqual(len(self.lines(self.table)), len(stored) - len(ours))
        self.assertNotIn("refold#", refold.run("show", self.table)[0])
        self.assertEqual(refold.query(self.table, "PK = '__refold#control'"), [])
        self.plan(2, {"steps": [{"where": "attribute_exists(PK)", "set": {"Seen": True}}]})
        self.apply()
        after = [one for one in self.server.items(self.name) if one["PK"]["S"].startswith("__refold#")]
        self.assertGreater(len(after), len(ours))
        self.assertEqual([one for one in after if "Seen" in one], [])

    def test_a_foreign_item_under_the_prefix_is_refused(self):
        self.load(orders(3))
        self.server.call("PutItem", {"TableName": self.name, "Item": item("__refold#mine", "x")})
        self.plan(1, {"steps": [{"where": "attribute_exists(PK)", "set": {"Seen": True}}]})
        _, err = self.apply(expect=1)
        self.assertIn("__refold#mine", err)
        self.assertIn("refold's own", err)

    def test_a_missing_table_is_one_sentence(self):
        self.plan(1, SET)
        begin = time.monotonic()
        for command in (["apply", "--plans", self.plans], ["status"], ["export", "--to", "-"], ["query", "PK = 'A'"]):
            _, err = refold.run(command[0], self.server.table("Nowhere"), *command[1:], expect=1)
            self.assertIn("Nowhere does not exist", err)
            self.assertIn(f"http://127.0.0.1:{self.server.port}", err)
            self.assertIn("us-east-1", err)
            self.assertIn("1234", err)
            self.assertNotIn("not-a-secret", err)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertNotIn("Nowhere", self.server.call("ListTables", {})["TableNames"])

    def test_import_makes_a_table_only_where_told_to(self):
        rows = os.path.join(self.folder, "rows.jsonl")
        with open(rows, "w", encoding="utf-8") as out:
            out.write(json.dumps({"Item": item("A", "B")}) + "\n")
        _, err = refold.run("import", self.table, "--from", rows, expect=1)
        self.assertIn("--create", err)
        refold.run("import", self.table, "--from", rows, "--create")
        self.assertEqual(len(self.lines(self.table)), 1)

    def test_import_meets_standing_items(self):
        self.load(orders(2))
        changed = os.path.join(self.folder, "changed.jsonl")
        with open(changed, "w", encoding="utf-8") as out:
            out.write(json.dumps({"Item": item("CUSTOMER#1", "PROFILE", Name="new")}) + "\n")
            out.write(json.dumps({"Item": item("CUSTOMER#7", "PROFILE", Name="seven")}) + "\n")
        before = self.lines(self.table)
        refold.run("import", self.table, "--from", changed, expect=1)
        self.assertEqual(self.lines(self.table), before)
        for table in (self.table, self.embedded):
            refold.run("import", table, "--from", changed, "--on-conflict", "overwrite")
        self.assert_same()

    def test_tables_without_a_sort_key_and_of_numbers(self):
        for number, (partition, sort) in enumerate(self.keys):
            values = {"S": lambda i: {"S": f"k{i}"}, "N": lambda i: {"N": str(i)}, "B": lambda i: {"B": ["AAE=", "AAI=", "/w=="][i]}}
            rows = []
            for i in range(3):
                row = {"Id": values[partition[-1]](i), "X": {"N": str(i)}}
                if sort:
                    row["At"] = values[sort[-1]](i)
                rows.append(row)
            path = os.path.join(self.folder, f"rows{number}.jsonl")
            with open(path, "w", encoding="utf-8") as out:
                out.writelines(json.dumps({"Item": row}) + "\n" for row in rows)
            table = self.server.table(f"{self.name}k{number}")
            keys = ["--partition", partition] + (["--sort", sort] if sort else [])
            refold.run("import", table, "--from", path, "--create", *keys)
            self.plan(1, {"steps": [{"where": "X >= 1", "set": {"Y": "${X}"}}]})
            refold.run("apply", table, "--plans", self.plans, *self.state)
            found = [json.loads(line)["Item"] for line in self.lines(table)]
            self.assertEqual(sorted(int(one["X"]["N"]) for one in found), [0, 1, 2])
            self.assertEqual(sum("Y" in one for one in found), 2)
            refold.run("rollback", table, "--plans", self.plans, *self.state)
            self.assertEqual(["Y" in line for line in self.lines(table)], [False] * 3)

    def kill_at_write(self, left):
        """Kills an apply as its write number `left` is about to reach the server; False if it made fewer."""
        process = None

        def before(operation, _):
            nonlocal left
            left -= operation not in READS
            if left == 0:
                process.send_signal(signal.SIGKILL)

        with ddb_servers.Proxy(self.server, before=before) as proxy:
            process = self.start(proxy.table(self.name), "--segments", "8")
            process.communicate()
        return process.returncode == -signal.SIGKILL

    def test_a_kill_is_resumed(self):
        self.load(orders(25))
        for version, content in enumerate((SET, REKEY, PUT), start=1):
            self.plan(version, content)
            refold.run("apply", self.embedded, "--plans", self.plans)
        rng = random.Random(20260418)
        kills = sum(self.kill_at_write(rng.randrange(1, 25)) for _ in range(6))
        self.apply()
        self.assertGreater(kills, 0)
        self.assert_same()
        refold.run("rollback", self.table, "--plans", self.plans, "--to", "0", *self.state)
        os.remove(self.embedded)
        self.load(orders(25), self.embedded)
        self.assert_same()

    def start(self, table, *options):
        return subprocess.Popen([refold.PROGRAM, "apply", table, "--plans", self.plans, *self.state, *options], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_one_run_at_a_time(self):
        self.load(orders(5))
        self.plan(1, SET)
        begun, go = threading.Event(), threading.Event()

        def before(operation, body):
            if ddb_servers.updated(operation, body):
                begun.set()
                go.wait(timeout=30)

        with ddb_servers.Proxy(self.server, before=before) as proxy:
            process = self.start(proxy.table(self.name))
            begun.wait(timeout=30)
            _, err = refold.run("rollback", self.table, "--plans", self.plans, *self.state, expect=1)
            _, swept = self.apply(None, "--sweep", expect=1)
            go.set()
            process.communicate()
        self.assertIn("is being written by", err)
        self.assertIn("is being written by", swept)
        self.assertEqual(process.returncode, 0)
        self.assertIn("nothing to do", "".join(self.apply()))

    def test_lost_replies_are_read_back(self):
        self.load(orders(12))
        for version, content in enumerate((SET, REKEY, PUT, DELETE), start=1):
            self.plan(version, content)
        rng = random.Random(7)
        lost = []

        def after(operation, _, __, ___):
            if operation in ddb_servers.WRITES and rng.random() < 0.15:
                lost.append(operation)
                return False
            return None

        with ddb_servers.Proxy(self.server, after=after) as proxy:
            said = self.apply(proxy.table(self.name))[0]
        self.assertEqual(refold.without_capacity(said), self.apply(self.embedded)[0])
        self.assertGreater(len(lost), 5)
        self.assert_same()

    def test_live_writers_lose_nothing(self):
        """Writers change, delete and create while plans run: afterwards every item is the plan applied to its last state."""
        self.load(orders(20), self.table)
        self.plan(1, {"steps": [{"name": "names", "where": "SK = 'PROFILE'", "set": {"Upper": "${upper(Name)}"}},
                                {"name": "rekey", "where": "begins_with(SK, 'ORDER#')", "rekey": {"SK": "O#${after(SK, '#')}"}}]})
        last, gone, stop = {}, set(), threading.Event()
        kept = {f"CUSTOMER#{c}" for c in range(5)}  # however long the plan takes to come to its first write

        def write():
            rng, n = random.Random(3), 0
            while not stop.is_set():
                n += 1
                key = {"PK": {"S": f"CUSTOMER#{rng.randrange(20)}"}, "SK": {"S": "PROFILE"}}
                if rng.random() < 0.1 and key["PK"]["S"] not in kept:
                    self.server.call("DeleteItem", {"TableName": self.name, "Key": key})
                    gone.add(key["PK"]["S"])
                    last.pop(key["PK"]["S"], None)
                elif key["PK"]["S"] not in gone:
                    self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "SET Seen = :n",
                                                    "ExpressionAttributeValues": {":n": {"N": str(n)}}})
                    last[key["PK"]["S"]] = n

        met, between, failures, lock = [], {}, [], threading.Lock()

        def before(operation, body):
            """A live table is never so quick that nobody comes between a read and a write."""
            time.sleep(0.02 if operation in ("TransactWriteItems", "PutItem") else 0)
            for key in ddb_servers.updated(operation, body):
                with lock:
                    wanted = len(between) < 5 and key["PK"]["S"] not in between
                    if wanted:
                        between[key["PK"]["S"]] = len(between)
                if wanted:
                    come_between(key)

        def come_between(key):
            try:
                self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "SET Meanwhile = :n, #name = :name",
                                                "ConditionExpression": "attribute_exists(PK)", "ExpressionAttributeNames": {"#name": "Name"},
                                                "ExpressionAttributeValues": {":n": {"N": str(between[key["PK"]["S"]])},
                                                                              ":name": {"S": "other " + key["PK"]["S"]}}})
            except RuntimeError as error:
                if "ConditionalCheckFailed" not in str(error):
                    failures.append(error)
                # else it was deleted just now

        def after(_, __, ___, content):
            if b"ConditionalCheckFailed" in content:
                met.append(content)

        writer = threading.Thread(target=write)
        with ddb_servers.Proxy(self.server, before, after) as proxy:
            writer.start()
            try:
                self.apply(proxy.table(self.name), "--segments", "4")
            finally:
                stop.set()
                writer.join()
        self.assertGreater(len(met), 0)
        self.assertEqual(failures, [])
        found = refold.items(self.table)
        for c in range(20):
            profile = found.get((f"CUSTOMER#{c}", "PROFILE"))
            self.assertEqual(profile is None, f"CUSTOMER#{c}" in gone, c)
            if profile is not None:
                self.assertEqual(profile["Upper"], f"OTHER CUSTOMER#{c}" if f"CUSTOMER#{c}" in between else f"NAME {c}")
                self.assertEqual(profile.get("Seen"), last.get(f"CUSTOMER#{c}"))
                self.assertEqual(profile.get("Meanwhile"), between.get(f"CUSTOMER#{c}"))
        self.assertEqual(sorted(sort for _, sort in found if sort != "PROFILE"), sorted(f"O#{o}" for _ in range(20) for o in range(4)))


class Dynalite(Store, unittest.TestCase):
    kind = "dynalite"
    keys = [*Store.keys, ("Id:B", "At:B")]  # moto fails on them

    def cut_at(self, number, heard):
        """Applies on a new table, killed at its write of that number, which the server hears or not; then resumes.
        False where there were not so many."""
        name = f"{self.name}cut{number}{'h' if heard else 'n'}"
        self.load(orders(1), self.server.table(name))
        running, seen = [], []

        def kill(operation, body):
            if operation in ddb_servers.WRITES and not is_heart(body):
                seen.append(operation)
                if len(seen) == number:
                    running[0].kill()
                    running[0].wait()
                    return True
            return False

        def before(operation, body):
            return (500, b"{}") if not heard and kill(operation, body) else None

        def after(operation, body, *_):
            return not (heard and kill(operation, body))

        with ddb_servers.Proxy(self.server, before, after) as proxy:
            running.append(self.start(proxy.table(name), "--segments", "2", "--workers", "1"))
            running[0].communicate()
        refold.run("apply", self.server.table(name), "--plans", self.plans, "--segments", "2", *self.state)
        self.assertEqual(self.lines(self.server.table(name)), self.lines(self.embedded), f"cut at write {number}")
        return len(seen) >= number

    def test_cut_at_every_write(self):
        self.load(orders(1), self.embedded)
        self.plan(1, {"steps": [*REKEY["steps"], *PUT["steps"]]})
        self.apply(self.embedded)
        for heard in (True, False):
            number = 1
            while self.cut_at(number, heard):
                number += 1
            self.assertGreater(number, 10)

    def test_a_rollback_after_a_cut_leaves_nothing(self):
        self.plan(1, REKEY)
        for number in range(1, 9):
            name = f"{self.name}back{number}"
            table = self.server.table(name)
            self.load(orders(2), table)
            before, running, seen = self.lines(table), [], []

            def after(operation, body, *_):
                if operation in ddb_servers.WRITES and not is_heart(body):
                    seen.append(operation)
                    if len(seen) == number:
                        running[0].kill()
                        running[0].wait()
                return True

            with ddb_servers.Proxy(self.server, after=after) as proxy:
                running.append(self.start(proxy.table(name), "--segments", "2", "--workers", "1"))
                running[0].communicate()
            if "interrupted" in refold.run("status", table, expect=(0, 4))[0]:
                refold.run("rollback", table, "--plans", self.plans, *self.state)
                self.assertEqual(self.lines(table), before, f"cut at write {number}")

    def test_a_run_that_slept_past_its_lease_writes_no_more_items(self):
        self.load(orders(8))
        self.plan(1, SET)
        asleep = threading.Event()
        running, updates = [], []

        def before(operation, body):
            if ddb_servers.updated(operation, body):
                updates.append(operation)
                if not asleep.is_set():
                    running[0].send_signal(signal.SIGSTOP)
                    asleep.set()

        with ddb_servers.Proxy(self.server, before) as proxy:
            running.append(self.start(proxy.table(self.name)))
            asleep.wait(timeout=30)
            self.apply()
            self.apply(self.embedded)
            sent = len(updates)
            running[0].send_signal(signal.SIGCONT)
            out, err = running[0].communicate()
            self.assertEqual(running[0].returncode, 0, err)
            self.assertIn(b"joins the run anew", err)
            self.assertIn(b": applied", out)
            self.assertEqual(len(updates), sent)
        self.assert_same()

    def test_an_index_that_the_server_does_not_make_is_said(self):
        self.load(orders(2))
        self.plan(1, INDEX)
        _, err = self.apply(expect=1)
        self.assertIn("GSI1", err + "GSI1")


if __name__ == "__main__":
    unittest.main()
