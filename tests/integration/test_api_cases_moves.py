#!/usr/bin/env python3
"""Public fault reports of tools of this kind, replayed behind the DynamoDB API: keys that change, index keys, leases.

On dynalite, which has no transactions, and where they count on moto, which has them. Neither is DynamoDB: dynalite makes no index
later and takes empty index keys; moto checks no signature and lets a transaction put and delete one item."""
import os
import re
import signal
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_case import Case, is_checkpoint, is_ours, item  # noqa: E402


class Moves:
    """With and without transactions; a subclass says on which server."""

    def writes(self, run):
        """The requests that write items, of a command through the stub."""
        with self.stub() as stub:
            run(self.through(stub))
            return [request for request in stub.requests if request.operation in ddb_servers.WRITES and not is_ours(request)]

    def test_tx_1_a_key_onto_itself_is_no_move(self):
        """Lower-casing what is lower already, and the same rekey once more: the item is never deleted, nothing is written."""
        self.load(item("low", V={"N": "1"}), item("UP", V={"N": "2"}))
        step = {"rekey": {"PK": "${lower(PK)}"}}
        self.plan(1, step)
        sent = self.writes(self.apply)
        self.assertFalse(any(b'"low"' in request.raw for request in sent))
        self.assertEqual({pk: one["V"]["N"] for (pk, _), one in self.raw().items()}, {"low": "1", "up": "2"})
        self.plan(2, {"name": "again", **step})
        self.assertEqual(self.writes(self.apply), [])

    def test_tx_1_a_number_onto_its_value_is_no_move(self):
        rows = self.write_rows([{"PK": {"N": "7.0"}, "SK": {"S": "A"}}, {"PK": {"N": "1E2"}, "SK": {"S": "A"}}])
        refold.run("import", self.table, "--from", rows, "--create", "--partition", "PK:N", "--sort", "SK:S")
        self.plan(1, {"rekey": {"PK": "${PK + 0}"}})
        self.assertEqual(self.writes(self.apply), [])
        self.assertEqual(sorted(float(one["PK"]["N"]) for one in self.server.items(self.name)), [7, 100])

    def test_tx_2_two_keys_for_one(self):
        """In other segments and in one page: both stay, are named, and the exit status tells; a dry run finds it too."""
        for segments in ("1", "16"):
            self.name = f"{self.name}s{segments}"
            self.table = self.server.table(self.name)
            rows = [item(f"{kind}#{n}", V={"S": kind}) for n in range(8) for kind in ("User", "USER", "Other")]
            self.load(*rows, item("user#3", V={"S": "user"}))
            before = self.raw()
            self.plan(1, {"where": "begins_with(PK, 'U')", "rekey": {"PK": "${lower(PK)}"}})
            out, _ = self.apply(self.table, "--segments", segments, "--dry-run", expect=3)
            self.assertRegex(out, "User#.*USER#|USER#.*User#")
            out, _ = self.apply(self.table, "--segments", segments, expect=3)
            self.assertRegex(out, "User#.*USER#|USER#.*User#")
            self.assertEqual(self.raw(), before)

    def test_tx_2_an_item_that_comes_after_its_page_was_read(self):
        """Put there by an outsider just before the move comes through: it stands, and so does the item that was to move."""
        self.load(*[item(f"User#{n}", V={"N": str(n)}) for n in range(6)])
        self.plan(1, {"where": "begins_with(PK, 'User#')", "rekey": {"PK": "${lower(PK)}"}})
        theirs = item("user#3", V={"S": "theirs"})

        def answer(request):
            if request.operation in ("TransactWriteItems", "PutItem") and b'"user#3"' in request.raw and not is_ours(request):
                self.server.call("PutItem", {"TableName": self.name, "Item": theirs})

        with self.stub(answer) as stub:
            out, _ = self.apply(self.through(stub), expect=3)
        self.assertIn("User#3", out)
        found = self.raw()
        self.assertEqual(found["user#3", "A"], theirs)
        self.assertEqual(found["User#3", "A"]["V"], {"N": "3"})
        self.assertEqual(sorted(pk for pk, _ in found), sorted(["User#3", *[f"user#{n}" for n in range(6)]]))


class MovesWithout(Moves, Case):
    pass


class MovesWith(Moves, Case):
    kind = "moto"


class Indexes(Case):
    kind = "moto"
    sources = {"empty": {"S": ""}, "number": {"N": "7"}, "list": {"L": []}, "null": {"NULL": True}, "long": {"S": "x" * 2049},
               "bytes": {"B": "AAE="}, **{f"good{n}": {"S": f"v{n}"} for n in range(30)}}
    bad = ("empty", "list", "null", "long", "bytes")

    def load_both(self, *items):
        self.load(*items, tables=(self.table, self.embedded))

    def dry_runs(self, expect):
        """What a dry run says, the same of a table on a server and of one in a file."""
        said = [self.apply(table, "--dry-run", expect=expect)[0] for table in (self.table, self.embedded)]
        own = re.compile(" +([+]|PK)|.* is computed: ")  # which items are shown, and how a step is sent
        self.assertEqual(*[sorted(line for line in text.splitlines() if not own.match(line)) for text in said])
        return said[0]

    def test_gsi_1_bad_index_keys_are_item_errors(self):
        """Each is listed, one does not sink the others, and none becomes an empty text or the word null."""
        self.load_both(*[item(name, Source=value) for name, value in self.sources.items()], item("missing"))
        self.plan(1, {"create_index": {"name": "GSI1", "partition": "GSI1PK:S"}},
                  {"where": "attribute_not_exists(GSI1PK)", "set": {"GSI1PK": "${Source}"}})
        said = self.dry_runs(3)
        for name in (*self.bad, "missing"):
            self.assertIn(f"PK='{name}'", said)
        out, _ = self.apply(self.table, expect=3)
        for name in (*self.bad, "missing"):
            self.assertIn(f"PK='{name}'", out)
        keys = {pk: one["GSI1PK"]["S"] for (pk, _), one in self.raw().items() if "GSI1PK" in one}
        self.assertEqual(keys, {"number": "7", **{f"good{n}": f"v{n}" for n in range(30)}})

    def test_gsi_1_an_index_over_bad_items(self):
        """Refused before it is made, or made without them; items with both parts of its key, one and none are told apart."""
        self.load_both(item("both", K={"S": "a"}, L={"N": "1"}), item("one", K={"S": "a"}), item("none"), item("wrong", K={"S": ""}, L={"N": "1"}))
        step = {"create_index": {"name": "ByK", "partition": "K:S", "sort": "L:N"}}
        self.plan(1, step)
        self.assertIn("PK='wrong'", self.dry_runs(3))
        out, _ = self.apply(self.table, expect=3)
        self.assertIn("PK='wrong'", out)
        self.assertNotIn("ByK", refold.run("show", self.table)[0])
        refold.run("rollback", self.table, *self.options, expect=(0, 2))
        self.plan(1, {**step, "on_violation": "leave_out"})
        self.assertIn("PK='wrong'", self.dry_runs(4))
        self.apply(self.table)
        self.assertEqual([one["PK"] for one in refold.query(self.table, "K = 'a'", "--index", "ByK")], ["both"])
        self.plan(2, {"where": "attribute_not_exists(Other)", "set": {"Other": True}})
        self.apply(self.table)
        self.assert_all_have(4, "Other")
        self.assertEqual(self.raw()["wrong", "A"]["K"], {"S": ""})


class Leases(Case):
    def begun(self, stub_answer=lambda request: None):
        """A run that waits before its first write of an item, and the event that lets it go on."""
        waits, go = threading.Event(), threading.Event()

        def answer(request):
            if request.operation == "UpdateItem" and not is_ours(request):
                waits.set()
                go.wait(timeout=60)
            return stub_answer(request)
        stub = self.stub(answer)
        stub.__enter__()
        self.addCleanup(stub.__exit__)
        process = self.start_apply(self.through(stub))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(waits.wait(timeout=60))
        return process, go

    def setUp(self):
        super().setUp()
        self.load(*[item(f"k{n}") for n in range(6)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}})

    def lease(self):
        return next(one for one in self.server.items(self.name) if one["SK"]["S"] == "lease")

    def test_res_3_a_dead_owner_blocks_nobody(self):
        process, _ = self.begun()
        said = refold.run("status", self.table, "--plans", self.plans)[0]
        self.assertIn(str(process.pid), said)
        process.kill()
        process.wait()
        self.assertIn("interrupted", refold.run("status", self.table, "--plans", self.plans)[0])
        self.apply(self.table)
        self.assert_all_have(6, "V")

    def test_res_3_who_does_not_get_the_lease_leaves_it_alone(self):
        process, go = self.begun()
        before = self.lease()
        _, err = refold.run("import", self.table, "--from", self.write_rows([item("new")]), expect=1)
        self.assertIn(f"{self.name} is being written by", err)
        self.assertIn(str(process.pid), err)
        self.assertEqual(self.lease()["refold_token"], before["refold_token"])
        go.set()
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assert_all_have(6, "V")

    def test_res_3_the_lease_holds_no_time_of_day(self):
        """A token and a beat that count up from nothing: a host whose clock is ahead sees no other lease than its owner."""
        self.begun()
        lease = self.lease()
        self.assertEqual(set(lease), {"PK", "SK", "refold_beat", "refold_holder", "refold_token", "refold_value"})
        self.assertLess(int(lease["refold_beat"]["N"]), 1000)
        self.assertLess(int(lease["refold_token"]["N"]), 1000)


class Prefix(Case):
    """What is refold's own in the table, and what only looks like it."""

    def setUp(self):
        super().setUp()
        self.load(*[item(f"k{n}", V={"N": str(n)}) for n in range(12)])

    def test_control_records_are_in_nothing(self):
        self.plan(1, {"where": "attribute_exists(PK)", "set": {"Seen": True}})
        self.apply(self.table)
        ours = [one for one in self.server.items(self.name) if one["PK"]["S"].startswith("__refold#")]
        self.assertGreater(len(ours), 1)
        self.assertEqual([one for one in ours if "Seen" in one], [])
        self.plan(2, {"where": "attribute_exists(refold_value) OR begins_with(PK, '__refold')", "delete": True})
        for words in (("export", "--to", "-"), ("show",), ("query", "PK = '__refold#control'"), ("verify",), ("status", "--plans", self.plans),
                      ("apply", *self.options, "--dry-run"), ("apply", *self.options)):
            out, err = refold.run(words[0], self.table, *words[1:], expect=(0, 4))
            self.assertNotIn("__refold", out + err, words)
        self.assertIn("0 written", self.apply(self.table, "--sweep")[0])
        self.assertEqual(len(self.raw()), 12)
        self.assertGreaterEqual(len(self.server.items(self.name)), 12 + len(ours))

    def test_a_foreign_item_is_refused_before_its_page_is_written(self):
        """One page holds it and all the rest: nothing of the page is written, by no step, and it is named."""
        self.server.call("PutItem", {"TableName": self.name, "Item": item("__refold#mine", "x")})
        self.plan(1, {"where": "attribute_exists(V)", "set": {"W": "${V}"}})
        before = self.raw()
        with self.stub() as stub:
            for words in (("apply", *self.options, "--segments", "1"), ("apply", *self.options, "--dry-run"), ("export", "--to", "-")):
                _, err = refold.run(words[0], self.through(stub), *words[1:], expect=1)
                self.assertIn("'__refold#mine'", err)
                self.assertIn("hint: ", err)
            written = [request for request in stub.requests if request.operation in ddb_servers.WRITES and not is_ours(request)]
        self.assertEqual(written, [])
        self.assertEqual(self.raw(), before)

    def test_a_recreated_table_is_another_one(self):
        """Same name, same keys: the checkpoints that a copy of its items brings along are not those of this table."""
        self.plan(1, {"where": "attribute_exists(PK)", "set": {"Seen": True}})
        running, written = [], []

        def answer(request):
            if is_checkpoint(request):
                written.append(request)
                if len(written) == 3:
                    running[0].send_signal(signal.SIGKILL)
                    running[0].wait()
        with self.stub(answer) as stub:
            running.append(self.start_apply(self.through(stub), "--segments", "4"))
            running[0].communicate()
        kept = self.server.items(self.name)
        self.server.call("DeleteTable", {"TableName": self.name})
        while self.name in self.server.call("ListTables", {})["TableNames"]:
            pass
        self.load()
        for one in kept:
            self.server.call("PutItem", {"TableName": self.name, "Item": one})
        before = self.raw()
        _, err = self.apply(self.table, expect=1)
        self.assertIn("another table", err)
        self.assertEqual(self.raw(), before)


if __name__ == "__main__":
    unittest.main()
