#!/usr/bin/env python3
"""Indexes of tables behind the DynamoDB API, on moto, which makes and drops them at once: what DynamoDB takes its time for is played by a
proxy between, which changes what DescribeTable and counts say."""
import json
import os
import signal
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_case import Case, item  # noqa: E402

ITEMS = 60
CREATE = {"create_index": {"name": "ByN", "partition": "N:N"}}


class Slow:
    """DescribeTable says of an index what `status` has for its name, as long as it stands there; of one that is gone, that it is going."""

    def __init__(self, server):
        self.server = server
        self.status = {}
        self.entries = None
        self.lacking = 0  # so many entries are missing when an index is counted
        self.looks = 0
        self.last = {}  # of each index, as it was described
        self.attributes = {}  # that were ever defined: those of an index that goes are, until it is gone
        self.told = {}  # name: status, at the last look
        self.updates = []
        self.at_update = []  # what was told of all indexes before each UpdateTable
        self.changed = threading.Condition()
        self.kill_at_update = None
        self.proxy = ddb_servers.Proxy(server, before=self._before, after=self._after, single=True)

    def _describe(self, body):
        reply = self.server.call("DescribeTable", json.loads(body))
        table = reply["Table"]
        indexes = {index["IndexName"]: index for index in table.get("GlobalSecondaryIndexes", [])}
        for name, status in self.status.items():
            index = indexes.setdefault(name, dict(self.last[name])) if name in self.last else indexes.get(name)
            if index:
                index.update(IndexStatus=status, Backfilling=status == "CREATING", ItemCount=self.entries or 0)
        self.last.update({name: dict(index) for name, index in indexes.items()})
        self.attributes.update({one["AttributeName"]: one for one in table["AttributeDefinitions"]})
        table["AttributeDefinitions"] = list(self.attributes.values())
        self.told = {name: index["IndexStatus"] for name, index in indexes.items()}
        table["GlobalSecondaryIndexes"] = list(indexes.values())
        return reply

    def _before(self, operation, body):
        if operation == "DescribeTable":
            with self.changed:
                try:
                    reply = self._describe(body)
                except RuntimeError:
                    return None  # there is no such table
                self.looks += 1
                self.changed.notify_all()
            return 200, json.dumps(reply).encode()
        if operation == "UpdateTable":
            self.updates.append(json.loads(body))
            self.at_update.append(dict(self.told))
        if operation == "Scan" and self.lacking and "IndexName" in json.loads(body):
            reply = self.server.call("Scan", json.loads(body))
            reply["Count"] -= self.lacking
            return 200, json.dumps(reply).encode()
        return None

    def _after(self, operation, _body, _status, _content):
        if operation == "UpdateTable" and self.kill_at_update:
            self.kill_at_update()
            return False
        return True

    def wait_for_looks(self, count):
        with self.changed:
            until = self.looks + count
            if not self.changed.wait_for(lambda: self.looks >= until, refold.WAIT_S):
                raise AssertionError("nobody looks at the table")

    def __enter__(self):
        self.proxy.__enter__()
        return self

    def __exit__(self, *error):
        self.proxy.__exit__(*error)


class Indexes(Case):
    kind = "moto"

    def make(self):
        self.load(*[item(f"k{n:03}", N={"N": str(n)}) for n in range(ITEMS)])
        self.plan(1, CREATE)

    def started(self, slow):
        return refold.Started("apply", slow.proxy.table(self.name), *self.options)

    def names(self):
        return [index["IndexName"] for index in self.server.call("DescribeTable", {"TableName": self.name})["Table"].get("GlobalSecondaryIndexes", [])]

    def test_a_signal_ends_the_wait_and_the_same_command_goes_on_waiting(self):
        self.make()
        with Slow(self.server) as slow:
            slow.status, slow.entries = {"ByN": "CREATING"}, ITEMS // 2
            run = self.started(slow)
            run.wait_for("filling index ByN  50 %  30 of 60")
            out, _ = refold.run("status", slow.proxy.table(self.name), "--plans", self.plans)
            self.assertIn("creating (CREATING, backfilling)", out)
            run.process.send_signal(signal.SIGINT)
            _, said = run.end(expect=5)
            self.assertIn("hint: run the same command again", said)
            run = self.started(slow)
            slow.wait_for_looks(6)
            slow.status = {}
            out, _ = run.end()
            self.assertIn("0001 plan: applied", out)
            self.assertEqual(len(slow.updates), 1)

    def test_a_run_killed_while_the_index_fills_goes_on_waiting(self):
        self.make()
        with Slow(self.server) as slow:
            slow.status = {"ByN": "CREATING"}
            run = self.started(slow)
            slow.kill_at_update = run.process.kill  # after the server has done it, before it says so
            run.end(expect=-signal.SIGKILL)
            slow.kill_at_update = None
            run = self.started(slow)
            slow.wait_for_looks(6)
            slow.status = {}
            run.end()
            self.assertEqual(len(slow.updates), 1)
        self.assertEqual(self.names(), ["ByN"])

    def test_an_index_that_lacks_items_is_found_out(self):
        self.make()
        with Slow(self.server) as slow:
            slow.lacking = 2
            _, err = refold.run("apply", slow.proxy.table(self.name), *self.options, expect=1)
            self.assertIn(f"index ByN: it has {ITEMS - 2} entries, and {ITEMS} items belong into it", err)
            self.assertIn("hint: the same command counts again", err)
            out, _ = refold.run("status", self.table, "--plans", self.plans)
            self.assertIn("interrupted", out)
            slow.lacking = 0
            out, _ = refold.run("apply", slow.proxy.table(self.name), *self.options)
            self.assertIn("0001 plan: applied", out)
            self.assertEqual(len(slow.updates), 1)

    def test_one_index_is_made_at_a_time(self):
        self.make()
        self.plan(1, CREATE, {"create_index": {"name": "ByN2", "partition": "N:N", "sort": "SK:S"}})
        with Slow(self.server) as slow:
            slow.status = {"ByN": "CREATING"}
            run = self.started(slow)
            slow.wait_for_looks(8)
            self.assertEqual(len(slow.updates), 1)
            slow.status = {}
            run.end()
            self.assertEqual(len(slow.updates), 2)
            self.assertEqual(slow.at_update[1], {"ByN": "ACTIVE"})
        self.assertEqual(sorted(self.names()), ["ByN", "ByN2"])

    def test_an_index_has_the_throughput_of_its_table(self):
        throughput = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 5}
        self.server.create({
            "TableName": self.name, "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
            "ProvisionedThroughput": throughput})
        self.plan(1, CREATE)
        with Slow(self.server) as slow:
            refold.run("apply", slow.proxy.table(self.name), *self.options)
            self.assertEqual(slow.updates[0]["GlobalSecondaryIndexUpdates"][0]["Create"]["ProvisionedThroughput"], throughput)
            own = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 2}
            self.plan(2, {"create_index": {"name": "Own", "partition": "N:N", "sort": "SK:S", "capacity": {"read": 3, "write": 2}}})
            self.plan(3, {"drop_index": "Own"})
            refold.run("apply", slow.proxy.table(self.name), *self.options)
            refold.run("rollback", slow.proxy.table(self.name), *self.options)  # makes it again as it was
            made = [update["GlobalSecondaryIndexUpdates"][0].get("Create") for update in slow.updates[1:]]
            self.assertEqual([create and create["ProvisionedThroughput"] for create in made], [own, None, own])
            self.name += "b"
            self.load(item("k", N={"N": "1"}), tables=[self.server.table(self.name)])
            refold.run("apply", slow.proxy.table(self.name), *self.options)
            for update in slow.updates[4:]:
                for change in update["GlobalSecondaryIndexUpdates"]:
                    self.assertNotIn("ProvisionedThroughput", change.get("Create", {}))
            self.assertEqual(len(slow.updates), 7)

    def test_a_run_killed_while_the_index_goes_waits_until_it_is_gone(self):
        self.make()
        refold.run("apply", self.table, *self.options)
        self.plan(2, {"drop_index": "ByN"})
        with Slow(self.server) as slow:
            run = self.started(slow)
            slow.kill_at_update = run.process.kill
            run.end(expect=-signal.SIGKILL)
            slow.kill_at_update = None
            slow.status = {"ByN": "DELETING"}
            run = self.started(slow)
            slow.wait_for_looks(6)
            slow.status = {}
            run.end()
            self.assertEqual(len(slow.updates), 1)
        self.assertEqual(self.names(), [])


class Described(Case):
    """What DescribeTable says is another than what stands."""

    kind = "moto"

    def lagging(self, operation, looks=3):
        """A proxy: after the change, that many looks see the table as it was before."""
        before, left = {}, [0]

        def play(asked, body):
            if asked == "DescribeTable" and left[0]:
                left[0] -= 1
                return before[self.name]
            if asked == operation:
                try:
                    told = 200, json.dumps(self.server.call("DescribeTable", {"TableName": self.name})).encode()
                except RuntimeError:
                    told = 400, json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "message": "none"}).encode()
                before[self.name] = told
            return None

        def count(asked, *_):
            if asked == operation:
                left[0] = looks
            return True

        return ddb_servers.Proxy(self.server, before=play, after=count, single=True)

    def described(self, indexes, attributes):
        """A proxy: the table has these indexes besides, with keys of these attributes."""
        def play(asked, body):
            if asked != "DescribeTable":
                return None
            reply = self.server.call(asked, json.loads(body))
            for name, found in indexes.items():
                reply["Table"][name] = found
            reply["Table"]["AttributeDefinitions"] += [{"AttributeName": name, "AttributeType": "S"} for name in attributes]
            return 200, json.dumps(reply).encode()

        return ddb_servers.Proxy(self.server, before=play, single=True)

    def test_a_table_that_was_made_may_not_be_told_of_yet(self):
        with self.lagging("CreateTable") as proxy:
            refold.run("import", proxy.table(self.name), "--from", self.write_rows([item("a")]), "--create")
        self.assertEqual(len(self.raw()), 1)

    def test_a_change_of_an_index_may_not_be_told_of_yet(self):
        """What was dropped would refuse the text, if it were believed to stand."""
        self.load(*[item(f"k{n}", N={"N": str(n)}) for n in range(5)])
        self.plan(1, CREATE)
        self.plan(2, {"drop_index": "ByN"})
        self.plan(3, {"set": {"N": "${PK}"}})
        with self.lagging("UpdateTable") as proxy:
            for version in ("1", "3"):
                self.apply(proxy.table(self.name), "--to", version)
        self.assertEqual({one["N"]["S"] for one in self.raw().values()}, {f"k{n}" for n in range(5)})

    def index(self, name, *keys):
        kinds = ["HASH"] * (len(keys) // 2) + ["RANGE"] * (len(keys) - len(keys) // 2)
        return {"IndexName": name, "IndexStatus": "ACTIVE", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, kinds)]}

    def test_a_dry_run_counts_right_with_as_many_indexes_as_there_may_be(self):
        """20 and 5 local ones."""
        self.load(*[item(f"k{n}") for n in range(5)])
        local = {f"L{n}": "z" for n in range(5)}
        self.plan(1, {"where": "attribute_not_exists(A)", "set": {"A": "a", **local}})
        indexes = {"GlobalSecondaryIndexes": [self.index(f"g{n}", f"G{n}", f"H{n}") for n in range(20)],
                   "LocalSecondaryIndexes": [self.index(f"l{n}", "PK", f"L{n}") for n in range(5)]}
        names = [f"{kind}{n}" for n in range(20) for kind in "GH"] + list(local)
        with self.described(indexes, names) as proxy:
            out, _ = self.apply(proxy.table(self.name), "--dry-run", expect=4)
        self.assertRegex(out, r"steps\[0\] +5 +5 +0 +0 +0")

    def test_a_table_of_more_indexes_than_there_are_is_refused(self):
        self.load(item("a"))
        self.plan(1, CREATE)
        keys = [[f"A{n}_{part}" for part in range(8)] for n in range(400)]
        with self.described({"GlobalSecondaryIndexes": [self.index(f"g{n}", *keys[n]) for n in range(400)]}, sum(keys, [])) as proxy:
            _, err = self.apply(proxy.table(self.name), expect=1)
        self.assertIn(f"table {self.name} has 400 indexes: refold knows tables of at most 100", err)


if __name__ == "__main__":
    unittest.main()
