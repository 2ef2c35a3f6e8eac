#!/usr/bin/env python3
"""Processes that share a run behind the DynamoDB API and lose their part in it, or some of it: what others do to the records of
one that they take for dead is done by hand, at the moment that a test wants."""
import base64
import json
import os
import signal
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import refold  # noqa: E402
from test_api_share import Process, Sharing, checkpoint_of  # noqa: E402

ANEW = "joins the run anew"
FREE = "goes on with what is free"
REFUSED = (500, b"{}")


class Robbed(Process):
    """A process that finds a segment taken by somebody else, as it notes for the first time what it has written."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.robbed = threading.Event()

    def before(self, operation, body):
        if operation == "PutItem" and b"record/checkpoint/" in body and checkpoint_of(body)["items"] and not self.robbed.is_set():
            self.rob(json.loads(body)["Item"])
        return super().before(operation, body)

    def rob(self, item):
        key = {name: item[name] for name in ("PK", "SK")}
        table = {"TableName": self.test.name}
        stands = self.test.server.call("GetItem", {**table, "Key": key, "ConsistentRead": True})["Item"]
        checkpoint = json.loads(base64.b64decode(stands["refold_value"]["B"]))
        checkpoint.update(owner="0123456789abcdef", claim=checkpoint["claim"] + 1)
        stands["refold_value"]["B"] = base64.b64encode(json.dumps(checkpoint).encode()).decode()
        stands["refold_claim"]["N"] = str(checkpoint["claim"])
        self.test.server.call("PutItem", {**table, "Item": stands})
        self.robbed.set()


class Deaf(Process):
    """A process that hears nothing from its first write on, until it has given up."""

    def before(self, operation, body):
        instead = super().before(operation, body)
        if self.wrote.is_set() and not self.rejoined.is_set():
            self.test.wait(self.rejoined)
            return REFUSED
        return instead


class Lost(Sharing, unittest.TestCase):
    def bury(self, process):
        """Takes a process for dead."""
        for record in self.server.items(self.name):
            key = {name: record[name] for name in ("PK", "SK")}
            if record.get("refold_holder", {"S": ""})["S"].split("/")[-2:-1] != [str(process.process.pid)]:
                continue
            if key["SK"]["S"] == "lease":
                self.server.call("UpdateItem", {"TableName": self.name, "Key": key, "UpdateExpression": "REMOVE refold_holder"})
            else:
                self.server.call("DeleteItem", {"TableName": self.name, "Key": key})

    def assert_ends(self, *processes):
        """All is as it should be; returns what they said."""
        ends = [process.end() for process in processes]
        self.assertEqual([end[0] for end in ends], [0] * len(ends), ends)
        self.assertTrue(all(": applied" in end[1] for end in ends), ends)
        self.assert_each_once(*processes)
        self.assert_as_embedded()
        out, _ = refold.run("rollback", self.table, "--plans", self.plans, *self.state)
        self.assertIn(" 0 left alone", out)
        self.assertEqual(self.lines(self.table), self.loaded)
        return [end[2] for end in ends]

    def lose(self, number):
        """One of two is taken for dead while its first writes are under way."""
        go = threading.Event()
        with self.held(go) as first:
            self.wait(first.wrote)
            with self.held(go) as second:
                self.wait(second.wrote)
                lost = (first, second)[number]
                self.bury(lost)
                self.wait(lost.rejoined)
                go.set()
                said = self.assert_ends(first, second)
        self.assertIn(ANEW, said[number])
        self.assertNotIn(ANEW, said[1 - number])

    def test_one_who_leads_and_was_taken_for_dead_joins_anew(self):
        self.lose(0)

    def test_a_member_that_was_taken_for_dead_joins_anew(self):
        self.lose(1)

    def test_a_member_gives_up_a_segment_that_another_took(self):
        go = threading.Event()
        with self.held(go) as first:
            self.wait(first.wrote)
            with Robbed(self) as second:
                self.wait(second.robbed)
                go.set()
                said = self.assert_ends(first, second)
        self.assertIn(FREE, said[1])
        self.assertEqual(second.joins, 1)
        self.assertNotIn(ANEW, "".join(said))

    def test_one_who_leads_and_loses_a_segment_joins_anew(self):
        with Robbed(self) as process:
            said = self.assert_ends(process)
        self.assertIn(ANEW, said[0])
        self.assertEqual(process.joins, 2)

    def test_a_server_that_is_not_heard_of_for_long_is_waited_for(self):
        with Deaf(self) as process:
            said = self.assert_ends(process)
        self.assertIn(ANEW, said[0])

    def test_what_was_rolled_back_meanwhile_is_not_applied_again(self):
        go = threading.Event()
        with Process(self, before=lambda _: go.wait() and REFUSED) as process:
            self.wait(process.wrote)
            process.process.send_signal(signal.SIGSTOP)
            self.bury(process)
            refold.run("rollback", self.table, "--plans", self.plans, *self.state)
            process.process.send_signal(signal.SIGCONT)
            go.set()
            status, _, err = process.end()
        self.assertEqual(status, 1, err)
        self.assertIn("was rolled back meanwhile", err)
        self.assertEqual(self.lines(self.table), self.loaded)


if __name__ == "__main__":
    unittest.main()
