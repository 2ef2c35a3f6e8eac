#!/usr/bin/env python3
"""New items as statements, many in one request: on dynoxide, which takes them; and where they are not taken, or not as they should be."""
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_case import Case, item  # noqa: E402
from ddb_stub import Reply, failure  # noqa: E402

ROWS = 120
TYPES = {"B": {"B": "AAEC/w=="}, "Empty": {"S": ""}, "EmptyB": {"B": ""}, "Yes": {"BOOL": True}, "Null": {"NULL": True},
         "Digits": {"N": "12345678901234567890123456789012345678"}, "Small": {"N": "-0.00000000000000000000000000000000000001"},
         "Texts": {"SS": ["'", "?", "a"]}, "Numbers": {"NS": ["-1.5", "2"]}, "Bytes": {"BS": ["AA==", "AQ=="]},
         "List": {"L": [{"L": []}, {"M": {"it's": {"S": "it's ?"}, "a\"b": {"NULL": True}}}]}, "Map": {"M": {}},
         "Text": {"S": "it's \"?\" \\ \u0000\n\u00e9\U0001f600"}}
SAYABLE = ("select", "a.b", "a b", "?", "a:?,b", "}{", "\u00fc\u65e5\U0001f600", "x" * 300)
UNSAYABLE = ("it's", "''", 'a"b', "a\\b", "a\nb")


def is_statements(request):
    return bool(request.operation == "BatchExecuteStatement" and ddb_servers.put(request.operation, request.raw))


def comparable(value):
    """Sets come in no order."""
    kind, inner = next(iter(value.items()))
    return {kind: sorted(inner)} if kind in ("SS", "NS", "BS") else value


class Inserts(Case):
    kind = "dynoxide"

    def setUp(self):
        super().setUp()
        self.server.make_table(self.name)
        self.sent = {}  # the keys of the items that are put, by operation

    def rows(self):
        return [item(f"k{n}", V={"N": str(n)}) for n in range(ROWS)]

    def run_import(self, rows, *options, answer=lambda request: None, expect=0):
        def note(request):
            keys = [one["PK"]["S"] for one in ddb_servers.put(request.operation, request.raw)]
            if keys:
                self.sent.setdefault(request.operation, []).extend(keys)
            return answer(request)

        with self.stub(note) as stub:
            return refold.run("import", self.through(stub), "--from", self.write_rows(rows), *options, expect=expect)

    def assert_holds(self, rows):
        wanted = {(one["PK"]["S"], one["SK"]["S"]): {name: comparable(value) for name, value in one.items()} for one in rows}
        found = {key: {name: comparable(value) for name, value in one.items()} for key, one in self.raw().items()}
        self.assertEqual(found, wanted)
        self.assertNotIn("refold_tried", {name for one in self.server.items(self.name) for name in one})


class Together(Inserts):
    def test_all_types_and_names_arrive(self):
        """What a statement cannot say goes by itself: names with quotes, and more of them than it has room for."""
        rows = self.rows() + [item("types", **TYPES)] + [item(f"name {n}", **{name: {"N": "1"}}) for n, name in enumerate(SAYABLE)]
        alone = [item(f"alone {n}", **{name: {"N": "1"}}) for n, name in enumerate(UNSAYABLE)]
        alone.append(item("alone, wide", **{f"attribute {n}": {"N": "1"} for n in range(500)}))
        self.run_import(rows + alone)
        self.assert_holds(rows + alone)
        self.assertEqual(sorted(self.sent["BatchExecuteStatement"]), sorted(one["PK"]["S"] for one in rows))
        self.assertEqual(sorted(self.sent["PutItem"]), sorted(one["PK"]["S"] for one in alone))

    def test_a_lost_reply_is_read_back(self):
        """The request took effect: sent again, it finds its own items."""
        lost = []

        def answer(request):
            if not is_statements(request) or len(lost) >= 3:
                return None
            lost.append(request)
            self.server.exchange(request.operation, request.raw)
            return Reply({}, cut=0) if len(lost) % 2 else failure("InternalServerError", status=500)

        out, _ = self.run_import(self.rows(), answer=answer)
        self.assertEqual(len(lost), 3)
        self.assertTrue(out.endswith(f"\n{ROWS} written\n"), out)
        self.assert_holds(self.rows())

    def test_errors_of_a_statement_are_tried_again(self):
        """Whether it was done or not; by itself, where errors are dealt with."""
        for code, done in (("ThrottlingError", False), ("ProvisionedThroughputExceeded", False), ("TransactionConflict", False),
                           ("InternalServerError", False), ("InternalServerError", True), ("AccessDenied", False)):
            with self.subTest(code=code, done=done):
                self.setUp()

                def answer(request, code=code, done=done):
                    if not is_statements(request):
                        return None
                    statements = request.body["Statements"]
                    fails = [statement["Parameters"][0]["S"].endswith("7") for statement in statements]
                    sent = [one for one, fail in zip(statements, fails) if done or not fail]
                    responses = iter(self.server.call(request.operation, {"Statements": sent})["Responses"])
                    error = {"Error": {"Code": code, "Message": "as the test says"}}
                    return {"Responses": [error if fail and (not done or next(responses)) else next(responses) for fail in fails]}

                out, _ = self.run_import(self.rows(), answer=answer)
                self.assertTrue(out.endswith(f"\n{ROWS} written\n"), out)
                self.assert_holds(self.rows())
                self.assertEqual(sorted(self.sent["PutItem"]), sorted(one["PK"]["S"] for one in self.rows() if one["PK"]["S"].endswith("7")))

    def test_who_comes_between_is_met_as_what_stood(self):
        """One that equals ours, and one that does not: neither is counted as written, and only the other is a conflict."""
        theirs = {"k5": item("k5", V={"N": "5"}), "k6": item("k6", V={"S": "theirs"})}

        def answer(request):
            for one in ddb_servers.put(request.operation, request.raw):
                if one["PK"]["S"] in theirs and is_statements(request):
                    self.server.call("PutItem", {"TableName": self.name, "Item": theirs[one["PK"]["S"]]})

        out, _ = self.run_import(self.rows(), "--on-conflict", "skip", answer=answer)
        self.assertIn(f"\n{ROWS - 2} written\n1 already equal\n1 differs and is kept\n", out)
        self.assert_holds([one for one in self.rows() if one["PK"]["S"] != "k6"] + [theirs["k6"]])

    def test_puts_of_plans_go_together(self):
        """As new items of an import do; and a rollback takes away just those."""
        self.load(*self.rows(), item("copy#k5", V={"N": "5"}))
        self.plan(1, {"where": "begins_with(PK, 'k')", "put": {"PK": "copy#${PK}", "SK": "A", "V": "${V}"}})
        with self.stub(lambda request: self.sent.setdefault(request.operation, []).extend(
                one["PK"]["S"] for one in ddb_servers.put(request.operation, request.raw))) as stub:
            self.apply(self.through(stub), "--segments", "1")
        self.assertEqual(sorted(self.sent["BatchExecuteStatement"]), sorted(f"copy#k{n}" for n in range(ROWS) if n != 5))
        self.assertEqual(self.sent["PutItem"], [])
        self.assert_holds([{**one, "PK": {"S": start + one["PK"]["S"]}} for one in self.rows() for start in ("", "copy#")])
        refold.run("rollback", self.table, *self.options)
        self.assert_holds([*self.rows(), item("copy#k5", V={"N": "5"})])


class Alone(Inserts):
    """A server that takes new items as statements, but not as they are meant, gets none of the user's."""

    def import_through(self, answer):
        self.run_import(self.rows(), answer=answer)
        self.assert_holds(self.rows())
        self.assertEqual(set(self.sent), {"PutItem"})

    def test_one_that_replaces_what_stands(self):
        tried = []

        def answer(request):
            if request.operation != "BatchExecuteStatement":
                return None
            for statement in request.body["Statements"]:
                tried.append(ddb_servers.insert_of(statement))
                self.server.call("PutItem", {"TableName": self.name, "Item": tried[-1]["Item"]})
            return {"Responses": [{"TableName": self.name}]}

        self.run_import(self.rows(), answer=answer)
        self.assertEqual(len(tried), 1)
        self.assertEqual(set(self.sent), {"PutItem"})
        self.assertEqual(len(self.raw()), ROWS)

    def test_one_that_says_no_and_does_it(self):
        def answer(request):
            if request.operation != "BatchExecuteStatement":
                return None
            for statement in request.body["Statements"]:
                self.server.call("PutItem", {"TableName": self.name, "Item": ddb_servers.insert_of(statement)["Item"]})
            return {"Responses": [{"Error": {"Code": "DuplicateItem"}}]}

        self.run_import(self.rows(), answer=answer)
        self.assertEqual(set(self.sent), {"PutItem"})
        self.assertEqual(len(self.raw()), ROWS)

    def test_one_that_fails_at_them(self):
        for reply in (failure("InternalServerError", status=500), failure("ValidationException"), failure("UnknownOperationException"),
                      failure("AccessDeniedException"), Reply({"Responses": []}), Reply({"Responses": [{"Error": {"Code": "ValidationError"}}]})):
            with self.subTest(reply.body):
                self.setUp()
                self.import_through(lambda request, reply=reply: reply if request.operation == "BatchExecuteStatement" else None)


class Moto(Inserts):
    """It fails at the parameters of an INSERT, with a page of its own."""

    kind = "moto"

    def test_items_go_one_by_one(self):
        rows = [*self.rows(), item("types", **TYPES)]
        with ddb_servers.Proxy(self.server, single=True) as proxy:
            refold.run("import", proxy.table(self.name), "--from", self.write_rows(rows))
        self.assert_holds(rows)
        self.assertEqual(proxy.count("BatchExecuteStatement"), 1)


if __name__ == "__main__":
    unittest.main()
