#!/usr/bin/env python3
"""Items that somebody changes after collisions were looked for: what a verdict went by is so when it is obeyed, or nothing is lost."""
import json
import os
import signal
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402

NEWER = {"where": "(begins_with(PK, 'C#') OR begins_with(PK, 'D#')) AND attribute_not_exists(Stays)",
         "rekey": {"PK": "N#${after(PK, '#')}"}, "on_collision": "keep_newer: U"}


def item(partition, **attributes):
    return {"PK": {"S": partition}, "SK": {"S": "A"}, **attributes}


class Collisions(ApiTable):
    """With and without transactions; a subclass says on which server."""

    def setUp(self):
        super().setUp()
        self.options = ("--plans", self.plans, "--state", self.state)
        self.ruled = False  # collisions were looked for, and nothing is written yet
        self.done = False

    def begin(self, *items, steps):
        self.load(items, self.table)
        self.plan(1, {"steps": list(steps)})

    def call(self, operation, partition, **more):
        self.server.call(operation, {"TableName": self.name, "Key": {"PK": {"S": partition}, "SK": {"S": "A"}}, **more})

    def set(self, partition, name, value):
        self.call("UpdateItem", partition, UpdateExpression="SET #a = :v", ExpressionAttributeNames={"#a": name},
                  ExpressionAttributeValues={":v": value})

    def apply(self, change=None, after_read_of=None, expect=0):
        """change() comes once: when collisions were looked for, or after the first read of that item in the pass."""
        def once():
            if change and not self.done:
                self.done = True
                change()

        def before(operation, body):
            if operation == "PutItem" and b"checkpoint/" in body:
                self.ruled = True
                if after_read_of is None:
                    once()

        def after(operation, body, *_):
            if self.ruled and after_read_of and operation in ("GetItem", "BatchGetItem") and after_read_of in body:
                once()

        with ddb_servers.Proxy(self.server, before=before, after=after) as proxy:
            out, err = refold.run("apply", proxy.table(self.name), *self.options, "--segments", "1", "--workers", "1", expect=expect)
        self.assertTrue(self.done or change is None)
        return out + err

    def apply_beside(self, change):
        """change() comes in the pass, when N#1 was looked up and found free, and what is asked for with it has no answer yet."""
        def before(operation, body):
            self.ruled = self.ruled or operation == "PutItem" and b"checkpoint/" in body
            if operation != "BatchGetItem" or not self.ruled or self.done or b"N#1" not in body:
                return None
            self.done = True
            change()
            left = [key for key in json.loads(body)["RequestItems"][self.name]["Keys"] if key["PK"]["S"] != "N#1"]
            reply = {"Responses": {self.name: []}, "UnprocessedKeys": {self.name: {"Keys": left, "ConsistentRead": True}} if left else {}}
            return 200, json.dumps(reply).encode()

        with ddb_servers.Proxy(self.server, before=before) as proxy:
            refold.run("apply", proxy.table(self.name), *self.options, "--segments", "1", "--workers", "1")
        self.assertTrue(self.done)

    def roll_back(self):
        return refold.run("rollback", self.table, *self.options, "--to", "0")[0]

    def found(self):
        """Items by partition, without their keys."""
        return {one.pop("PK")["S"]: {name: value for name, value in one.items() if name != "SK"}
                for one in self.server.items(self.name) if not one["PK"]["S"].startswith("__refold#")}

    def test_what_a_put_replaces_is_what_comes_back(self):
        put = {"where": "begins_with(PK, 'C#') AND attribute_not_exists(Mark)", "put": {"PK": "N#${after(PK, '#')}", "SK": "A", "Name": "${Name}"},
               "on_collision": "overwrite"}
        self.begin(item("C#1", Name={"S": "x"}), item("N#1", Name={"S": "old"}),
                   steps=[put, {"where": "begins_with(PK, 'C#')", "set": {"Mark": True}}])
        self.apply(lambda: self.set("N#1", "Name", {"S": "newer"}), after_read_of=b"N#1")
        self.assertEqual(self.found(), {"C#1": {"Name": {"S": "x"}, "Mark": {"BOOL": True}}, "N#1": {"Name": {"S": "x"}}})
        self.assertIn("2 writes taken back, 0 left alone", self.roll_back())
        self.assertEqual(self.found(), {"C#1": {"Name": {"S": "x"}}, "N#1": {"Name": {"S": "newer"}}})

    def test_what_a_move_replaces_is_what_comes_back(self):
        self.begin(item("C#1", Name={"S": "x"}), item("N#1", Name={"S": "old"}),
                   steps=[{"where": "begins_with(PK, 'C#')", "rekey": {"PK": "N#${after(PK, '#')}"}, "on_collision": "overwrite"}])
        self.apply(lambda: self.set("N#1", "Name", {"S": "newer"}), after_read_of=b"N#1")
        self.assertEqual(self.found(), {"N#1": {"Name": {"S": "x"}}})
        self.roll_back()
        self.assertEqual(self.found(), {"C#1": {"Name": {"S": "x"}}, "N#1": {"Name": {"S": "newer"}}})

    def begin_newer(self, **newer):
        """Items with that U each; those of C and D move to N, the newest wins. One more keeps the pass busy."""
        items = [item(f"{letter}#1", U={"N": str(value)}) for letter, value in newer.items()]
        self.begin(*items, item("C#2", U={"N": "5"}), steps=[NEWER])

    def assert_left(self, **newer):
        found = {partition.partition("#")[0]: one for partition, one in self.found().items() if partition != "N#2"}
        self.assertEqual({letter: one["U"]["N"] for letter, one in found.items()}, {letter: str(value) for letter, value in newer.items()})
        return found

    def test_who_got_newer_is_not_overwritten(self):
        self.begin_newer(C=5, N=3)
        out = self.apply(lambda: (self.set("N#1", "U", {"N": "9"}), self.set("N#1", "Paid", {"S": "by the application"})), expect=3)
        self.assertIn("what stands under its new key has changed since collisions were looked for: apply again", out)
        self.assertEqual(self.assert_left(C=5, N=9)["N"]["Paid"], {"S": "by the application"})
        self.apply()
        self.assertEqual(self.assert_left(N=9)["N"]["Paid"], {"S": "by the application"})
        self.roll_back()
        self.assert_left(C=5, N=9)

    def test_who_gets_newer_at_the_last_moment_is_not_overwritten(self):
        self.begin_newer(C=5, N=3)
        self.apply(lambda: self.set("N#1", "U", {"N": "9"}), after_read_of=b"N#1", expect=3)
        self.assert_left(C=5, N=9)

    def test_what_does_not_decide_may_change(self):
        self.begin_newer(C=5, N=3)
        self.apply(lambda: self.set("N#1", "Seen", {"N": "1"}))
        self.assert_left(N=5)
        self.roll_back()
        self.assertEqual(self.assert_left(C=5, N=3)["N"]["Seen"], {"N": "1"})

    def test_who_got_newer_is_not_lost(self):
        self.begin_newer(C=5, D=3)
        out = self.apply(lambda: self.set("D#1", "U", {"N": "9"}), expect=3)
        self.assertIn("it has changed since collisions were looked for: apply again", out)
        self.assert_left(D=9, N=5)
        self.apply()
        self.assert_left(N=9)

    def test_who_wants_the_key_no_more_is_not_lost(self):
        self.begin_newer(C=5, D=3)
        self.apply(lambda: self.set("D#1", "Stays", {"BOOL": True}))
        self.assert_left(D=3, N=5)

    def test_who_lost_to_an_item_that_went_is_not_lost(self):
        for change in (lambda: self.call("DeleteItem", "N#1"), lambda: self.set("N#1", "U", {"N": "1"})):
            with self.subTest():
                self.setUp()
                self.begin_newer(C=3, N=5)
                self.apply(change, expect=3)
                self.assertEqual(self.found()["C#1"]["U"], {"N": "3"})
                self.apply()
                self.assert_left(N=3)

    def test_what_verdicts_look_up_is_read_together(self):
        pairs = 40
        items = [item(f"{letter}#{pair}", U={"N": str(value)}) for pair in range(pairs) for letter, value in (("C", 3), ("D", 5))]
        held = [item(f"C#{1000 + pair}", U={"N": "5"}) for pair in range(pairs)] + [item(f"N#{1000 + pair}", U={"N": "3"}) for pair in range(pairs)]
        self.begin(*items, *held, steps=[NEWER])
        gets = []

        def before(operation, body):
            self.ruled = self.ruled or operation == "PutItem" and b"checkpoint/" in body
            if self.ruled and operation in ("GetItem", "BatchGetItem"):
                gets.append(operation)

        with ddb_servers.Proxy(self.server, before=before) as proxy:
            refold.run("apply", proxy.table(self.name), *self.options, "--segments", "1", "--workers", "1", "--page-size", "200")
        self.assertEqual({partition: one["U"]["N"] for partition, one in self.found().items()},
                         {f"N#{base + pair}": "5" for pair in range(pairs) for base in (0, 1000)})
        self.assertLess(len(gets), pairs / 2)

    def test_a_search_that_is_interrupted_reads_nothing_again(self):
        self.begin(*(item(f"C#{number}", U={"N": "1"}) for number in range(300)), steps=[NEWER])
        pages, wanted = [], 5
        words = ("--segments", "2", "--workers", "2", "--page-size", "20")

        def before(operation, body):
            if operation == "Scan" and b'"Segment"' in body and not self.ruled:
                pages.append((json.loads(body)["Segment"], json.loads(body).get("ExclusiveStartKey")))
                if len(pages) == wanted:
                    program.process.send_signal(signal.SIGINT)
            self.ruled = self.ruled or b"record/probe/" in body and b"/done" in body

        with ddb_servers.Proxy(self.server, before=before) as proxy:
            program = refold.Started("apply", proxy.table(self.name), *self.options, *words)
            program.end(5)
            read = list(pages)
            self.assertLess(len(read), 12)
            _, err = refold.run("apply", proxy.table(self.name), *self.options, *words)
        self.assertIn("the search for collisions goes on: ", err)
        self.assertEqual([page for page in pages[len(read):] if page in read], [])
        self.assertEqual(set(self.found()), {f"N#{number}" for number in range(300)})
        self.assertEqual([name for name in os.listdir(self.state) if not name.endswith(".undo")], [])

    def test_a_winner_that_comes_between_two_looks_has_come(self):
        def come():
            self.server.call("PutItem", {"TableName": self.name, "Item": item("N#1", U={"N": "5"})})
            self.call("DeleteItem", "D#1")

        self.begin_newer(C=3, D=5)
        self.apply_beside(come)
        self.assert_left(N=5)

    def test_a_winner_that_got_older_overwrites_nothing(self):
        self.begin_newer(C=5, N=3)
        self.apply(lambda: self.set("C#1", "U", {"N": "1"}), expect=3)
        self.assert_left(C=1, N=3)

    def test_who_lost_to_a_winner_that_fell_back_is_not_lost(self):
        for change in (lambda: self.call("DeleteItem", "D#1"), lambda: self.set("D#1", "Stays", {"BOOL": True}),
                       lambda: self.set("D#1", "U", {"N": "1"})):
            with self.subTest():
                self.setUp()
                self.begin_newer(C=3, D=5)
                out = self.apply(change, expect=3)
                self.assertIn("what its new key went to has changed since collisions were looked for: apply again", out)
                self.assertEqual(self.found()["C#1"]["U"], {"N": "3"})
                self.apply()
                self.assertEqual(self.found()["N#1"]["U"], {"N": "3"})

    def test_who_was_put_over_got_newer(self):
        put = {"where": "begins_with(PK, 'C#')", "put": {"PK": "N#${after(PK, '#')}", "SK": "A", "U": "${U}"}, "on_collision": "keep_newer: U"}
        self.begin(item("C#1", U={"N": "5"}), item("N#1", U={"N": "3"}), steps=[put])
        self.apply(lambda: self.set("N#1", "U", {"N": "9"}), expect=3)
        self.assert_left(C=5, N=9)
        self.apply()
        self.assert_left(C=5, N=9)


class CollisionsWithout(Collisions, unittest.TestCase):
    """Without transactions."""


class CollisionsWith(Collisions, unittest.TestCase):
    kind = "dynoxide"


if __name__ == "__main__":
    unittest.main(verbosity=2)
