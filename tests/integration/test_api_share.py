#!/usr/bin/env python3
"""Several processes at one run of a table behind the DynamoDB API. Each has a proxy of its own, which holds its requests where a
test wants the others to come first."""
import base64
import collections
import json
import os
import signal
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402
from test_api_store import PUT, REKEY, SET, item, orders  # noqa: E402

PATIENCE = 120  # seconds until a test gives up; nothing is decided by them
CUSTOMERS = 12
SEGMENTS = 6


def checkpoint_of(body):
    return json.loads(base64.b64decode(json.loads(body)["Item"]["refold_value"]["B"]))


def applied(operation, body, content):
    """The keys of items that a request has updated; a statement may have failed alone."""
    keys = ddb_servers.updated(operation, body)
    if operation == "BatchExecuteStatement":
        keys = [key for key, response in zip(keys, json.loads(content)["Responses"]) if "Error" not in response]
    return keys


class Process:
    """An apply behind a proxy that notes what it reads and writes of items, and of checkpoints."""

    def __init__(self, test, *options, before=None):
        self.test, self.hook = test, before
        self.lock = threading.Lock()  # a killed process has requests under way still
        self.updated = collections.Counter()  # by key, those that took effect
        self.pages = {}  # by segment, the start keys of what was read
        self.saved = collections.defaultdict(list)  # by segment, its checkpoints
        self.sent = 0  # writes of any kind
        self.ranges = collections.Counter()  # by where they end, the pages of them that were read
        self.divided = threading.Event()
        self.wrote = threading.Event()  # an item
        self.joins = 0
        self.rejoined = threading.Event()  # as a new member
        self.process = None
        self.options = options or ("--segments", str(SEGMENTS))

    def __enter__(self):
        self.proxy = ddb_servers.Proxy(self.test.server, self.before, self.after)
        self.proxy.__enter__()
        self.process = subprocess.Popen([refold.PROGRAM, "apply", self.proxy.table(self.test.name), "--plans", self.test.plans, *self.test.state,
                                         "--page-size", "3", *self.options], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.proxy.__exit__()

    def before(self, operation, body):
        self.sent += operation in ddb_servers.WRITES
        if operation == "PutItem" and b'"member/' in body:
            self.joins += 1
            if self.joins > 1:
                self.rejoined.set()
        if operation == "Query" and b"BETWEEN" in body:
            self.ranges[json.dumps(json.loads(body)["ExpressionAttributeValues"][":2"])] += 1
        if operation == "PutItem" and b"record/checkpoint/" in body and checkpoint_of(body)["until"]:
            self.divided.set()
        if operation == "Scan" and b'"Segment"' in body:  # else it looks for names
            page = json.loads(body)
            with self.lock:
                self.pages.setdefault(page["Segment"], []).append(json.dumps(page.get("ExclusiveStartKey")))
        elif operation in ddb_servers.WRITES and b"__refold#" not in body:
            self.wrote.set()
            return self.hook(self) if self.hook else None
        return None

    def after(self, operation, body, status, content):
        if status == 200:
            keys = [json.dumps(key, sort_keys=True) for key in applied(operation, body, content)]
            with self.lock:
                self.updated.update(keys)
        if status == 200 and operation == "PutItem" and b"record/checkpoint/" in body and b"ConditionExpression" in body:
            checkpoint = checkpoint_of(body)
            if checkpoint["owner"]:
                self.saved[checkpoint["segment"]].append(checkpoint)

    @property
    def updates(self):
        with self.lock:
            return self.updated.copy()

    def read_unsaved(self):
        """By segment, how many of its pages it has read and not saved. Its claim is a checkpoint too, before all pages."""
        with self.lock:
            return {segment: len(pages) - len(self.saved[segment]) + 1 for segment, pages in self.pages.items()}

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


class Sharing(ApiTable):
    """What tests of shared runs begin with, and look at in the end."""

    def setUp(self):
        super().setUp()
        self.plan(1, SET)
        self.state = ["--state", self.state]
        self.load(orders(CUSTOMERS))
        self.loaded = self.lines(self.table)

    def plans_folder(self, name, *contents):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        for version, content in enumerate(contents, start=1):
            with open(os.path.join(folder, f"{version:04d}_plan.json"), "w", encoding="utf-8") as out:
                json.dump(content, out)
        return folder

    def lines(self, table):
        return sorted(refold.export(table).splitlines())

    def wait(self, event):
        self.assertTrue(event.wait(timeout=PATIENCE))

    def assert_as_embedded(self):
        refold.run("apply", self.embedded, "--plans", self.plans)
        self.assertEqual(self.lines(self.table), self.lines(self.embedded))

    def held(self, event, *options):
        """A process whose first write of an item waits for the event, and all after it."""
        return Process(self, *options, before=lambda _: None if event.wait(timeout=PATIENCE) else (500, b"{}"))

    def assert_each_once(self, *processes):
        self.assertEqual(set(sum((process.updates for process in processes), collections.Counter()).values()), {1})


class Share(Sharing, unittest.TestCase):
    def test_two_processes_share_a_run(self):
        self.plans_folder("plans", SET, REKEY, PUT)
        go = threading.Event()
        with self.held(go) as first:
            self.wait(first.wrote)
            with Process(self, "--segments", str(SEGMENTS), "--max-wcu", "5000") as second:
                self.wait(second.wrote)
                said, _ = refold.run("status", self.table, "--plans", self.plans)
                self.assertIn(f"process {first.process.pid}\nand by", said)
                self.assertIn(f", process {second.process.pid}\n", said)
                go.set()
                ends = [process.end() for process in (first, second)]
        self.assertEqual([end[0] for end in ends], [0, 0], ends)
        self.assertEqual(ends[0][1], ends[1][1])
        self.assertIn("joining the run of", ends[1][2])
        self.assertIn("--max-wcu are of this process alone", ends[1][2])
        self.assertNotIn("joining", ends[0][2])
        self.assertGreater(len(second.saved), 0)
        self.assert_each_once(first, second)
        self.assertEqual(set(first.saved) | set(second.saved), set(range(SEGMENTS)))
        self.assert_as_embedded()
        out, _ = refold.run("rollback", self.table, "--plans", self.plans, "--to", "0", *self.state)
        self.assertEqual(out.count(" 0 left alone"), 3, out)
        self.assertEqual(self.lines(self.table), self.loaded)
        members = [one for one in self.server.items(self.name) if one["SK"]["S"].startswith("member/")]
        self.assertEqual(members, [])

    def test_a_killed_member_leaves_its_segments_to_the_others(self):
        go = threading.Event()
        writes = []

        def kill(member):
            writes.append(1)
            if len(writes) < 5:
                return None
            member.process.kill()
            return 500, b"{}"

        with self.held(go, "--workers", "1", "--segments", str(SEGMENTS)) as first:
            self.wait(first.wrote)
            with Process(self, "--workers", "1", before=kill) as second:
                self.assertEqual(second.end()[0], -signal.SIGKILL)
                go.set()
                status, out, err = first.end()
        self.assertEqual(status, 0, err)
        self.assertIn("applied", out)
        self.assert_each_once(first, second)
        for segment, unsaved in second.read_unsaved().items():
            again = [start for start in first.pages.get(segment, []) if start in second.pages[segment]]
            self.assertLessEqual(len(again), unsaved, segment)
        self.assert_as_embedded()

    def test_a_killed_leader_leaves_the_run_to_a_member(self):
        self.plans_folder("plans", SET, REKEY, PUT)
        with self.held(threading.Event()) as first:
            self.wait(first.wrote)
            with Process(self) as second:
                self.wait(second.wrote)
                first.process.kill()
                status, out, err = second.end()
        self.assertEqual(status, 0, err)
        self.assertEqual(out.count(": applied"), 3, out)
        self.assert_as_embedded()

    def test_a_member_that_slept_past_its_part_joins_anew_and_writes_nothing(self):
        go = threading.Event()

        stopped = threading.Lock()

        def stop(member):
            if stopped.acquire(blocking=False):
                member.process.send_signal(signal.SIGSTOP)

        with self.held(go) as first:
            self.wait(first.wrote)
            with Process(self, before=stop) as second:
                self.wait(second.wrote)
                go.set()
                status, _, err = first.end()
                self.assertEqual(status, 0, err)
                updates = second.updates
                second.process.send_signal(signal.SIGCONT)
                status, said, err = second.end()
        self.assertEqual(status, 0, err)
        self.assertIn("joins the run anew", err)
        self.assertIn(": applied", said)
        self.assertEqual(second.updates, updates)
        self.assert_each_once(first, second)
        self.assert_as_embedded()

    def test_nobody_works_alone_beside_a_member(self):
        """Neither beside the one who leads, nor after its death."""
        go = threading.Event()
        with self.held(threading.Event()) as first:
            self.wait(first.wrote)
            with self.held(go) as second:
                self.wait(second.wrote)
                first.process.kill()
                first.process.wait()
                _, err = refold.run("rollback", self.table, "--plans", self.plans, *self.state, expect=1)
                self.assertIn("is being written by", err)
                self.assertIn(f"process {second.process.pid}", err)
                go.set()
                self.assertEqual(second.end()[0], 0)
        self.assert_as_embedded()

    def test_item_errors_are_counted_over_all(self):
        """Who comes to the limit stops, and so do the others at the next error that they meet."""
        self.plans_folder("plans", {"steps": [{"where": "begins_with(SK, 'ORDER#')", "set": {"Total": "${number(Status)}"}},
                                              {"where": "SK = 'PROFILE'", "set": {"Version": 2}}]})
        few, most = ("--workers", "1", "--segments", str(SEGMENTS), "--max-item-errors", "20"), 20
        go = threading.Event()
        with self.held(go, *few) as first:
            self.wait(first.wrote)
            with Process(self, *few) as second:
                status, _, err = second.end()
                self.assertEqual(status, 3, err)
                self.assertIn("more than 20 item errors", err)
                said, _ = refold.run("status", self.table, "--plans", self.plans)
                self.assertRegex(said, r"items read, \d+ item errors?, ")
                go.set()
                status, out, _ = first.end()
        self.assertEqual(status, 3, out)
        record = json.loads(refold.run("status", self.table, "--plans", self.plans, "--format", "json")[0])["plans"][0]["record"]
        self.assertEqual(record["state"], "failed")
        failed = sum(step["failed"] for step in record["steps"])
        self.assertGreater(failed, most)
        self.assertLess(failed, most + 4 * 3)  # pages of three items

    def test_a_member_with_another_plan_is_refused(self):
        other = self.plans_folder("other", {"steps": [{"where": "SK = 'PROFILE'", "set": {"Version": 3}}]})
        go = threading.Event()
        with self.held(go) as first:
            self.wait(first.wrote)
            _, err = refold.run("apply", self.table, "--plans", other, *self.state, expect=2)
            self.assertIn("its hash", err)
            go.set()
            self.assertEqual(first.end()[0], 0)
        self.assert_as_embedded()

    def test_who_makes_the_table_of_records_second_uses_the_first(self):
        name = f"{self.name}Numbers"
        made = {"TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "Id", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "Id", "AttributeType": "N"}]}
        self.server.create(made)
        self.server.call("PutItem", {"TableName": name, "Item": {"Id": {"N": "1"}}})
        plans = self.plans_folder("numbers", {"steps": [{"where": "Id = 1", "set": {"Seen": True}}]})

        def make_before(operation, body):
            if operation == "CreateTable":
                self.server.call(operation, json.loads(body))

        with ddb_servers.Proxy(self.server, make_before) as proxy:
            refold.run("apply", proxy.table(name), "--plans", plans, *self.state)
        self.assertIn({"Id": {"N": "1"}, "Seen": {"BOOL": True}}, self.server.items(name))

    def load_hot(self, count, name=lambda i: f"ORDER#{i:06d}"):
        """Most items are of one collection."""
        rows = os.path.join(self.folder, "hot.jsonl")
        hot = (item("HOT", name(i), Status="open", OrderDate="2026-01-01", Total=f"{i}.5") for i in range(count))
        with open(rows, "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"Item": one}) + "\n" for one in hot)
        for table in (self.table, self.embedded):
            refold.run("import", table, "--from", rows)

    def test_a_collection_that_dwarfs_the_rest_is_read_in_ranges(self):
        self.load_hot(300)
        with Process(self, "--workers", "3", "--segments", str(SEGMENTS)) as alone:
            status, out, err = alone.end()
        self.assertEqual(status, 0, err)
        self.assertGreater(len(alone.ranges), 2)
        self.assert_each_once(alone)
        said, _ = refold.run("apply", self.embedded, "--plans", self.plans)
        self.assertEqual(out.partition("  capacity")[0], said)
        self.assert_as_embedded()
        records = [one["SK"]["S"] for one in self.server.items(self.name) if one["PK"]["S"].startswith("__refold#")]
        self.assertEqual([name for name in records if "checkpoint" in name], [])

    def test_a_collection_is_divided_between_characters_of_any_width(self):
        self.load_hot(300, lambda i: "名" + chr(0x4E00 + 7 * i))
        with Process(self, "--workers", "3", "--segments", str(SEGMENTS)) as alone:
            status, _, err = alone.end()
        self.assertEqual(status, 0, err)
        self.assertGreater(len(alone.ranges), 2)
        self.assert_each_once(alone)
        self.assert_as_embedded()

    def test_ranges_are_shared(self):
        self.load_hot(300)
        taken, dividers = threading.Event(), []

        def hold(process):
            """Who divides the collection first goes on when the other has read a part of it."""
            if process.divided.is_set() and not dividers:
                dividers.append(process)
            if process.ranges and dividers and process is not dividers[0]:
                taken.set()
            if dividers and process is dividers[0]:
                self.wait(taken)

        options = ("--workers", "1", "--segments", str(SEGMENTS))
        with Process(self, *options, before=hold) as first:
            self.wait(first.wrote)
            with Process(self, *options, before=hold) as second:
                ends = [process.end() for process in (first, second)]
        self.assertEqual([end[0] for end in ends], [0, 0], ends)
        self.assert_each_once(first, second)
        self.assert_as_embedded()

    def test_a_killed_reader_of_ranges_leaves_them_to_the_next(self):
        self.load_hot(300)

        def kill(process):
            if len(process.ranges) < 2 or process.updates.total() < 150:
                return None
            process.process.kill()
            return 500, b"{}"

        with Process(self, "--workers", "2", "--segments", str(SEGMENTS), before=kill) as first:
            self.assertEqual(first.end()[0], -signal.SIGKILL)
        with Process(self) as second:
            self.assertEqual(second.end()[0], 0)
        self.assert_each_once(first, second)
        self.assert_as_embedded()
        refold.run("rollback", self.table, "--plans", self.plans, *self.state)
        self.assertEqual(len(self.lines(self.table)), 300 + len(self.loaded))
        self.assertFalse(any("GSI1PK" in line for line in self.lines(self.table)))

    def test_a_resume_keeps_the_number_of_segments(self):
        with self.held(threading.Event()) as first:
            self.wait(first.wrote)
            first.process.kill()
        with Process(self, "--segments", "17", "--workers", "5") as second:
            self.assertEqual(second.end()[0], 0)
        self.assertEqual(set(second.saved), set(range(SEGMENTS)))
        self.assert_as_embedded()


if __name__ == "__main__":
    unittest.main()
