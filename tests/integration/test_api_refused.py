#!/usr/bin/env python3
"""Items that a server refuses, behind the DynamoDB API: each is told once, whatever happens to the run meanwhile."""
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import refold  # noqa: E402
from api_case import Case, is_checkpoint, is_ours, item  # noqa: E402
from ddb_stub import Reply, failure  # noqa: E402

TOO_LARGE = failure("ValidationException", "Item size to update has exceeded the maximum allowed size")
ONE = ("--segments", "1", "--workers", "1")


class Counted(Case):
    """One of six items is refused."""

    def setUp(self):
        super().setUp()
        self.load(*[item(f"k{n}", V={"S": "1"}) for n in range(6)], tables=[self.table])
        self.plan(1, {"where": "attribute_not_exists(M)", "set": {"M": "x${V}"}})

    @staticmethod
    def refuse(request):
        refused = request.operation == "UpdateItem" and not is_ours(request) and request.body["Key"]["PK"]["S"] == "k3"
        return TOO_LARGE if refused else None

    def steps(self):
        return json.loads(refold.run("status", self.table, "--plans", self.plans, "--format", "json")[0])["plans"][0]["record"]["steps"]

    def test_a_refused_item_is_named_after_a_kill(self):
        """The process dies as soon as a checkpoint stands that covers the item."""
        running = []

        def kill(request):
            if not is_checkpoint(request):
                return self.refuse(request)
            self.server.exchange(request.operation, request.raw)
            running[0].kill()
            return Reply(b"", close=True)

        with self.stub(kill) as stub:
            running.append(self.start_apply(self.through(stub), *ONE))
            running[0].communicate()
        with self.stub(self.refuse) as stub:
            out, err = self.apply(self.through(stub), *ONE, expect=3)
        self.assertIn("PK='k3' SK='A'", out + err)
        self.assertEqual([(step["written"], step["failed"]) for step in self.steps()], [(5, 1)])
        self.assertNotIn("M", self.raw()["k3", "A"])

    def test_a_refused_item_is_left_by_a_rollback_after_a_kill(self):
        """The process dies as soon as the plan's record stands that covers the item."""
        self.apply(self.table, *ONE)
        running, refused = [], []

        def kill(request):
            if request.operation == "PutItem" and b"plan/" in request.raw and refused:
                self.server.exchange(request.operation, request.raw)
                running[0].kill()
                return Reply(b"", close=True)
            reply = self.refuse(request)
            refused.extend([reply] if reply else [])
            return reply

        with self.stub(kill) as stub:
            running.append(self.start("rollback", self.through(stub), *self.options))
            running[0].communicate()
        with self.stub(self.refuse) as stub:
            out, _ = refold.run("rollback", self.through(stub), *self.options, expect=3)
        self.assertIn("5 writes taken back, 1 left alone", out)
        self.assertIn("M", self.raw()["k3", "A"])

    def test_a_page_that_ends_the_run_is_counted(self):
        """An item without V is one item error more than is allowed; the refused one of the same page counts all the same."""
        self.server.call("PutItem", {"TableName": self.name, "Item": item("k6")})
        with self.stub(self.refuse) as stub:
            self.apply(self.through(stub), *ONE, "--max-item-errors", "0", expect=3)
        self.assertEqual([(step["written"], step["failed"]) for step in self.steps()], [(5, 2)])


def cancelled(*codes):
    return failure("TransactionCanceledException", f"Transaction cancelled, please refer cancellation reasons for specific reasons [{', '.join(codes)}]",
                   CancellationReasons=[{"Code": code, **({} if code == "None" else {"Message": f"told of {code}"})} for code in codes])


class Cancelled(Case):
    """Items move by transactions, and that of one is cancelled."""

    kind = "dynoxide"

    def setUp(self):
        super().setUp()
        self.load(*[item(f"C#{n}", L={"L": [{"N": "1"}]}) for n in range(6)], tables=[self.table])
        self.plan(1, {"where": "begins_with(PK, 'C#')", "rekey": {"PK": "N#${after(PK, '#')}"}})
        self.tries = 0

    def stands_again(self):
        """As before the plan, for another try of it."""
        refold.run("rollback", self.table, *self.options)
        self.server.call("PutItem", {"TableName": self.name, "Item": item("C#3", L={"L": [{"N": "1"}]})})
        self.tries = 0

    def cancelling(self, reply, tries=10**6, then=lambda: None):
        """The stub, which calls `then` before the try that comes through."""
        def answer(request):
            if request.operation != "TransactWriteItems" or b"C#3" not in request.raw:
                return None
            self.tries += 1
            if self.tries == tries + 1:
                then()
            return reply if self.tries <= tries else None
        return self.stub(answer)

    def append(self):
        self.server.call("UpdateItem", {"TableName": self.name, "Key": item("C#3"), "UpdateExpression": "SET L = list_append(L, :x)",
                                        "ExpressionAttributeValues": {":x": {"L": [{"N": "2"}]}}})

    def moved(self):
        return sorted(key for key, _ in self.raw())

    def test_what_stays_is_an_item_error(self):
        """It is named, and the others move."""
        for code in ("ItemCollectionSizeLimitExceeded", "ValidationError"):
            with self.subTest(code), self.cancelling(cancelled(code, "None")) as stub:
                out, err = self.apply(self.through(stub), *ONE, expect=3)
                self.assertIn("PK='C#3' SK='A'", out + err)
                self.assertIn(f"told of {code}", out + err)
                self.assertEqual(self.moved(), ["C#3", "N#0", "N#1", "N#2", "N#4", "N#5"])

    def test_what_passes_is_tried_again_as_it_was(self):
        """What somebody appends to a list meanwhile is not lost."""
        for code in ("TransactionConflict", "InternalServerError"):
            with self.subTest(code), self.cancelling(cancelled(code, "None"), 3, self.append) as stub:
                self.apply(self.through(stub), *ONE)
                self.assertEqual(self.raw()["N#3", "A"]["L"]["L"], [{"N": "1"}, {"N": "2"}])
                self.stands_again()

    def test_a_condition_is_kept_as_long_as_nothing_tells_that_it_held(self):
        """Cancelled without a reason, or for a condition without the item that failed it: nobody knows what it met."""
        for reply in (failure("TransactionCanceledException", "Transaction cancelled"), cancelled("None", "ConditionalCheckFailed")):
            with self.subTest(reply.body), self.cancelling(reply, 3, self.append) as stub:
                self.apply(self.through(stub), *ONE)
                self.assertEqual(self.raw()["N#3", "A"]["L"]["L"], [{"N": "1"}, {"N": "2"}])
                self.stands_again()

    def test_an_item_that_never_rests_is_an_item_error(self):
        """The others move, and the next run moves it, when it rests."""
        def answer(request):
            if request.operation == "TransactWriteItems" and b"C#3" in request.raw:
                self.append()

        with self.stub(answer) as stub:
            out, err = self.apply(self.through(stub), *ONE, expect=3)
        self.assertIn("PK='C#3' SK='A': it changes faster than it can be written", out + err)
        self.assertEqual(self.moved(), ["C#3", "N#0", "N#1", "N#2", "N#4", "N#5"])
        tries = len(self.raw()["C#3", "A"]["L"]["L"]) - 1
        self.apply(self.table, *ONE)
        self.assertEqual(len(self.raw()["N#3", "A"]["L"]["L"]), 1 + tries)

    def test_a_server_that_tells_what_it_should_have_taken_is_asked_for_less(self):
        """As one does that compares sets by their order: its conditions fail on the very item that they ask for."""
        def answer(request):
            if request.operation != "TransactWriteItems" or b"C#3" not in request.raw:
                return None
            told = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Item": item("C#3", L={"L": [{"N": "1"}]})}]
            compares = "=:" in request.body["TransactItems"][1]["Delete"]["ConditionExpression"]
            return failure("TransactionCanceledException", CancellationReasons=told) if compares else None

        with self.stub(answer) as stub:
            self.apply(self.through(stub), *ONE)
        self.assertEqual(self.moved(), [f"N#{n}" for n in range(6)])


if __name__ == "__main__":
    unittest.main()
