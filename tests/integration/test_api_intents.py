#!/usr/bin/env python3
"""What a run that was broken off has put for an item, and the item is then changed or deleted before anybody goes on.

On dynalite, which has no transactions: a move is a put and then a delete. The run is killed at each of its writes, before or
after the server has heard of it; then a writer, who tries the old key first, changes or deletes the item."""
import base64
import json
import os
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402

KEYS = {"old": {"PK": {"S": "C#1"}, "SK": {"S": "ITEM"}}, "new": {"PK": {"S": "N#1"}, "SK": {"S": "ITEM"}}}
ITEM = {**KEYS["old"], "Name": {"S": "first"}, "Tags": {"SS": ["b", "a"]}}
WHERE = "begins_with(PK, 'C#')"
PUT = {"PK": "N#${after(PK, '#')}", "SK": "${SK}", "Name": "${Name}"}
PLANS = {
    "move": [{"where": WHERE, "rekey": {"PK": "N#${after(PK, '#')}"}, "set": {"Upper": "${upper(Name)}"}}],
    "update": [{"where": f"{WHERE} AND attribute_not_exists(Mark)", "put": PUT}, {"where": WHERE, "set": {"Mark": True}}],
    "delete": [{"where": WHERE, "put": PUT}, {"where": WHERE, "delete": True}],
}
FIRST = 4  # before these writes a run only begins its own records


class Scene(ApiTable, unittest.TestCase):
    def begin(self, steps, *others):
        """A table of its own with the item in it, and others."""
        type(self).number += 1
        self.name = f"Table{self.number}"
        self.plans = os.path.join(self.folder, self.name)
        os.mkdir(self.plans)
        with open(os.path.join(self.plans, "0001_plan.json"), "w", encoding="ascii") as out:
            json.dump({"steps": steps}, out)
        self.server.make_table(self.name)
        for item in (ITEM, *others):
            self.server.call("PutItem", {"TableName": self.name, "Item": item})

    def words(self, *more, command="apply", port=None):
        one = ["--segments", "1", "--workers", "1"] if command == "apply" else []
        return [command, self.server.table(self.name, port), "--plans", self.plans, "--state", self.state,
                *one, *more]

    def kill_at(self, number, command="apply"):
        """Runs the command, killed before the server hears of its write of that number; returns what that was, None where there
        were not so many."""
        running, writes = [], []

        def before(operation, body):
            if operation not in ddb_servers.WRITES or b'"lease"' in body:
                return None
            writes.append((operation, body))
            if len(writes) == number:
                running[0].kill()
                running[0].wait()
            return (500, b"{}") if len(writes) >= number else None

        with ddb_servers.Proxy(self.server, before) as proxy:
            running.append(subprocess.Popen([refold.PROGRAM, *self.words(command=command, port=proxy.port)], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            running[0].communicate()
        return writes[number - 1] if len(writes) >= number else None

    def call(self, operation, key, **body):
        return self.server.call(operation, {"TableName": self.name, "Key": KEYS[key], **body})

    def read(self, key):
        return refold.plain({"M": self.call("GetItem", key, ConsistentRead=True).get("Item", {})})

    def write(self, operation, **body):
        """As a writer that tries the old key first."""
        key = "old" if self.read("old") else "new"
        self.call(operation, key, ConditionExpression="attribute_exists(PK)", **body)

    def change(self):
        self.write("UpdateItem", UpdateExpression="SET #n = :n", ExpressionAttributeNames={"#n": "Name"},
                   ExpressionAttributeValues={":n": {"S": "second"}})

    def delete(self):
        self.write("DeleteItem")

    def cuts(self, steps, *others):
        """Each kill once, as what it was killed at."""
        number, write = FIRST, True
        while write:
            self.begin(steps, *others)
            write = self.kill_at(number)
            if write:
                yield f"killed before write {number}: {write[0]} {write[1]}", write
            number += 1
        self.assertGreater(number, 8)

    def finish(self):
        _, self.said = refold.run(*self.words())
        refold.run(*self.words("--sweep"))
        return self.read("old"), self.read("new")


class Intents(Scene):
    def test_a_changed_item_is_moved_as_it_is(self):
        for says, _ in self.cuts(PLANS["move"]):
            self.change()
            stands = not self.read("old")
            old, new = self.finish()
            self.assertEqual((old, new["Name"], new["Upper"]), ({}, "second", "FIRST" if stands else "SECOND"), says)

    def test_a_deleted_item_does_not_come_back(self):
        for says, (operation, body) in self.cuts(PLANS["move"]):
            # Nothing tells whether the item went by the delete that was about to be, or by the writer.
            unknown = operation == "DeleteItem" and b"C#1" in body
            self.delete()
            old, new = self.finish()
            self.assertEqual((old, bool(new)), ({}, unknown), says)
            self.assertEqual("taken as moved: 1. If others have deleted one there, its new one is left: PK='C#1' SK='ITEM' is now "
                             "PK='N#1' SK='ITEM'\n" in self.said, unknown, says)

    def test_puts_follow_the_item_until_it_is_written(self):
        for says, _ in self.cuts(PLANS["update"]):
            marked = "Mark" in self.read("old")
            self.change()
            old, new = self.finish()
            self.assertEqual((old["Name"], old["Mark"], new["Name"]), ("second", True, "first" if marked else "second"), says)

    def test_puts_of_a_deleted_item_go(self):
        for says, _ in self.cuts(PLANS["update"]):
            marked = "Mark" in self.read("old")
            self.call("DeleteItem", "old")
            old, new = self.finish()
            self.assertEqual(old, {}, says)
            self.assertTrue(marked or not new, says)

    def test_a_copy_and_a_delete_are_a_move(self):
        for says, _ in self.cuts(PLANS["delete"]):
            self.change()
            self.assertEqual(self.finish(), ({}, {"PK": "N#1", "SK": "ITEM", "Name": "second"}), says)

    def test_what_stood_before_stays(self):
        """An equal of what is put, whether the plan is rolled back or its source is deleted before it goes on."""
        twin = {**KEYS["new"], "Name": ITEM["Name"]}
        for plan in ("update", "delete"):
            for finish in (lambda: refold.run(*self.words(command="rollback")), lambda: (self.call("DeleteItem", "old"), self.finish())):
                for says, _ in self.cuts(PLANS[plan], twin):
                    finish()
                    self.assertEqual(self.read("new"), refold.plain({"M": twin}), f"{plan}: {says}")

    def test_a_rollback_goes_on_after_a_kill(self):
        number, write = 1, True
        while write:
            self.begin(PLANS["move"])
            refold.run(*self.words())
            write = self.kill_at(number, "rollback")
            refold.run(*self.words(command="rollback"))
            self.assertEqual((self.read("old"), self.read("new")), (refold.plain({"M": ITEM}), {}), f"killed before write {number}: {write}")
            number += 1
        self.assertGreater(number, 5)


class Halves(Scene):
    """What there is only without transactions."""

    def kill_after_put(self):
        self.begin(PLANS["move"])
        number = 1
        while "Item" not in self.call("GetItem", "new"):
            self.begin(PLANS["move"])
            self.assertTrue(self.kill_at(number))
            number += 1

    def test_what_somebody_changed_is_left_and_said(self):
        self.kill_after_put()
        self.call("UpdateItem", "new", UpdateExpression="SET Mine = :m", ExpressionAttributeValues={":m": {"S": "mine"}})
        self.call("DeleteItem", "old")
        _, err = refold.run(*self.words())
        self.assertIn("PK='N#1' SK='ITEM'", err)
        self.assertEqual(self.read("new")["Mine"], "mine")

    def test_a_damaged_intent_is_said(self):
        """Cut short anywhere, or longer than it says: nothing is taken back by guess."""
        self.kill_after_put()
        record, = (item for item in self.server.items(self.name) if item["SK"]["S"].startswith("intent/"))
        whole = base64.b64decode(record["refold_value"]["B"])
        for bad in (*(whole[:length] for length in range(1, len(whole), 7)), whole + b"0"):
            if len(bad) > 1:
                self.server.call("PutItem", {"TableName": self.name, "Item": {**record, "refold_value": {"B": base64.b64encode(bad).decode()}}})
                _, err = refold.run(*self.words(), expect=1)
                self.assertIn("is damaged", err)
        self.server.call("PutItem", {"TableName": self.name, "Item": record})
        self.assertEqual(self.finish()[1]["Name"], "first")

    def test_a_rollback_settles_first(self):
        self.kill_after_put()
        self.change()
        refold.run(*self.words(command="rollback"), expect=3)  # the item was changed
        self.assertEqual((self.read("old")["Name"], self.read("new")), ("second", {}))

    def test_a_source_that_changes_takes_its_put_back(self):
        """While the run goes on; what the writer adds between the two halves of a move goes after it."""
        for name, wanted in (("Name", "second"), ("Unknown", "second")):
            self.begin(PLANS["move"])

            def before(operation, body, name=name):
                if operation == "DeleteItem" and b"C#1" in body and not self.read("old").get(name) == "second":
                    self.call("UpdateItem", "old", UpdateExpression="SET #n = :n", ExpressionAttributeNames={"#n": name},
                              ExpressionAttributeValues={":n": {"S": "second"}})

            with ddb_servers.Proxy(self.server, before) as proxy:
                refold.run(*self.words(port=proxy.port))
            self.assertEqual((self.read("old"), self.read("new")[name]), ({}, wanted))


class Many(Scene):
    """More intents than go into one record: those of what is left replace them when the deletes come."""

    ITEMS, REFUSED, SORT = 300, 100, "s" * 1000
    FAULT = (400, json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#ValidationException", "message": "no"}).encode())

    def key(self, number, prefix="C"):
        return {"PK": {"S": f"{prefix}#{number:03}"}, "SK": {"S": self.SORT}}

    def stand(self):
        """A fresh table of items."""
        self.begin(PLANS["move"])
        self.server.call("DeleteItem", {"TableName": self.name, "Key": KEYS["old"]})
        for number in range(self.ITEMS):
            self.server.call("PutItem", {"TableName": self.name, "Item": {**self.key(number), "Name": {"S": "first"}}})

    def kill_among_records(self, at):
        """Before the server hears of the change of that number, and after it has heard of any other that is under way with it."""
        running, changes, other = [], [], threading.Event()

        def is_change(operation, body):
            if operation == "PutItem" and b"intent/" in body:
                return base64.b64decode(json.loads(body)["Item"]["refold_value"]["B"])[:1] == b"o"
            return operation == "DeleteItem" and b"intent/" in body

        def before(operation, body):
            if operation == "PutItem" and b'"N#' in body and int(json.loads(body)["Item"]["PK"]["S"][2:]) < self.REFUSED:
                return self.FAULT
            if is_change(operation, body):
                changes.append(body)
                if len(changes) == at:
                    other.wait(1)
                    running[0].kill()
                    running[0].wait()
                    return 500, b"{}"
            return (500, b"{}") if running and running[0].poll() is not None else None

        def after(operation, body, *_):
            if is_change(operation, body) and len(changes) > at:
                other.set()

        with ddb_servers.Proxy(self.server, before, after) as proxy:
            running.append(subprocess.Popen([refold.PROGRAM, *self.words(port=proxy.port)], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            running[0].communicate()
        return len(changes) >= at

    def test_each_item_has_its_intent_while_they_are_replaced(self):
        for at in (1, 2, 3):
            self.stand()
            self.assertTrue(self.kill_among_records(at))
            for number in range(self.ITEMS):
                self.server.call("UpdateItem", {"TableName": self.name, "Key": self.key(number), "UpdateExpression": "SET #n = :n",
                                                "ExpressionAttributeNames": {"#n": "Name"}, "ExpressionAttributeValues": {":n": {"S": "second"}}})
            refold.run(*self.words())
            found = {item["PK"]["S"]: item["Name"]["S"] for item in self.server.items(self.name) if "Name" in item}
            self.assertEqual(found, {f"N#{number:03}": "second" for number in range(self.ITEMS)}, f"killed before change {at}")


if __name__ == "__main__":
    unittest.main()
