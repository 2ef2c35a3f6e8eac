#!/usr/bin/env python3
"""Public fault reports of tools of this kind, replayed behind the DynamoDB API: pages, writes and values.

Tables lie on dynalite; between it and refold stands a stub that checks signatures and misbehaves as the case says. Dynalite
differs from DynamoDB: it has no transactions and no UpdateTable for indexes, and does not tell the item that failed a condition."""
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
from api_case import Case, is_checkpoint, is_ours, item  # noqa: E402
from ddb_stub import failure  # noqa: E402


class Scans(Case):
    def pages(self, *sizes):
        """Answers scans of the table with pages of so many of its items, in the order of their keys."""
        rows = [one for _, one in sorted(self.raw().items())]
        key_of = {0: None}
        at = 0
        for number, size in enumerate(sizes[:-1], start=1):
            at += size
            last = rows[at - 1]["PK"] if size else {"S": f"{rows[at - 1]['PK']['S']}{'~' * number}"}
            key_of[number] = {"PK": last, "SK": {"S": "A"}}
        starts = [key_of[n] for n in range(len(sizes))]

        def answer(request):
            if request.operation != "Scan":
                return None
            page = starts.index(request.body.get("ExclusiveStartKey"))
            begin = sum(sizes[:page])
            now = self.raw()
            reply = {"Items": [now[one["PK"]["S"], "A"] for one in rows[begin:begin + sizes[page]]], "Count": sizes[page]}
            return {**reply, **({"LastEvaluatedKey": starts[page + 1]} if page + 1 < len(sizes) else {})}
        return answer

    def test_scan_1_empty_pages_are_pages(self):
        """Killed while the second empty page is under way; a resume goes on behind what was read, and meets all items."""
        self.load(*[item(f"k{n}") for n in range(5)])
        for version, where in ((1, "attribute_exists(PK)"), (2, "begins_with(PK, 'k') AND attribute_not_exists(Filtered)")):
            self.plan(version, {"where": where, "set": {("Seen", "Filtered")[version - 1]: True}})
        answer = self.pages(3, 0, 0, 2)
        for version, name in ((1, "Seen"), (2, "Filtered")):
            running, asked = [], []

            def misbehave(request):
                reply = answer(request)
                if request.operation == "Scan":
                    asked.append(request.body.get("ExclusiveStartKey"))
                    if len(asked) == 3:
                        running[0].kill()
                        running[0].wait()
                return reply

            with self.stub(misbehave) as stub:
                running.append(self.start_apply(self.through(stub), "--segments", "1", "--workers", "1", "--to", str(version)))
                running[0].communicate()
                begun = len(asked)
                self.apply(self.through(stub), "--to", str(version))
            self.assertEqual(len(asked[:begun]), 3)
            self.assertIn(asked[begun], asked[:3])
            self.assertEqual([one.get(name) for one in self.raw().values()], [{"BOOL": True}] * 5)
        self.assertIn("nothing to do", self.apply(self.table)[0])

    def kill_at_checkpoint(self, number, *options):
        """Applies with two items a page, and is killed as that checkpoint is about to be written: the ones before stand."""
        running, written = [], []

        def answer(request):
            if request.operation == "Scan":
                return self.server.call("Scan", {**request.body, "Limit": 2})
            if is_checkpoint(request):
                written.append(request)
                if len(written) == number:
                    running[0].kill()
                    running[0].wait()
                    return failure("InternalServerError", status=500)
            return None

        with self.stub(answer) as stub:
            running.append(self.start_apply(self.through(stub), *options))
            running[0].communicate()
        self.assertEqual(running[0].returncode, -signal.SIGKILL)

    def test_scan_3_a_resume_keeps_the_number_of_segments(self):
        """Whatever the flag says on the machine where the run goes on."""
        self.load(*[item(f"k{n}") for n in range(40)])
        for version, segments in ((1, "8"), (2, "3")):
            self.plan(version, {"where": f"attribute_not_exists(V{version})", "set": {f"V{version}": True}})
            self.kill_at_checkpoint(3, "--segments", "4", "--workers", "1")
            scans = []

            def watch(request):
                if request.operation == "Scan":
                    scans.append(request.body)

            with self.stub(watch) as stub:
                self.apply(self.through(stub), "--segments", segments)
            self.assertEqual({scan.get("TotalSegments") for scan in scans}, {4})
            self.assert_all_have(40, f"V{version}")

    def test_a_pass_that_is_over_is_not_read_again(self):
        """Killed as its checkpoints are deleted: before the first, or some of them."""
        self.load(*[item(f"k{n}") for n in range(20)])
        for version, number in ((1, 1), (2, 3)):
            self.plan(version, {"where": f"attribute_not_exists(V{version})", "set": {f"V{version}": True}})
            running, deleted = [], []

            def answer(request):
                if request.operation == "DeleteItem" and b"checkpoint/" in request.raw:
                    deleted.append(request)
                    if len(deleted) == number:
                        running[0].kill()
                        running[0].wait()
                        return failure("InternalServerError", status=500)
                return None

            with self.stub(answer) as stub:
                running.append(self.start_apply(self.through(stub), "--segments", "4"))
                running[0].communicate()
            self.assertEqual(running[0].returncode, -signal.SIGKILL)
            scans = []
            with self.stub(lambda request: scans.append(request) if request.operation == "Scan" else None) as stub:
                self.apply(self.through(stub))
            self.assertEqual(scans, [])
            self.assert_all_have(20, f"V{version}")
            left = [one["SK"]["S"] for one in self.server.items(self.name) if one["PK"]["S"].startswith("__refold#")]
            self.assertEqual([name for name in left if "checkpoint/" in name], [])

    def test_scan_3_a_checkpoint_of_another_table_is_refused(self):
        """Table B holds the control records of table A, as a copy or a restored backup does."""
        self.load(*[item(f"k{n}") for n in range(20)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}})
        self.kill_at_checkpoint(3, "--segments", "4", "--workers", "1")
        other = self.name + "Copy"
        self.load(*[item(f"k{n}") for n in range(20)], tables=[self.server.table(other)])
        for one in self.server.items(self.name):
            if one["PK"]["S"].startswith("__refold#"):
                self.server.call("PutItem", {"TableName": other, "Item": one})
        before = self.raw(other)
        _, err = self.apply(self.server.table(other), expect=(1, 2))
        self.assertIn("another table", err)
        self.assertIn("hint: ", err)
        self.assertEqual(self.raw(other), before)
        self.apply(self.table)

    def test_scan_3_a_refused_start_key_is_final(self):
        self.load(*[item(f"k{n}") for n in range(20)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}})
        refused = []

        def answer(request):
            if request.operation == "Scan" and "ExclusiveStartKey" in request.body:
                refused.append(request)
                return failure("ValidationException", "The provided starting key is invalid")
            return self.server.call("Scan", {**request.body, "Limit": 2}) if request.operation == "Scan" else None

        with self.stub(answer) as stub:
            _, err = self.apply(self.through(stub), "--segments", "1", expect=1)
        self.assertEqual(len(refused), 1)
        self.assertIn("starting key is invalid", err)
        self.assertIn("segment 0", err)
        self.apply(self.table)
        self.assert_all_have(20, "V")

    def ignoring_segments(self, request):
        """The whole table for every segment, page by page."""
        if request.operation != "Scan":
            return None
        body = {name: value for name, value in request.body.items() if name not in ("Segment", "TotalSegments")}
        return self.server.call("Scan", {**body, "Limit": 7})

    def test_scan_5_an_endpoint_that_ignores_segments(self):
        """Each item is changed once, whoever meets it, and the overlap is said."""
        self.load(*[item(f"k{n}", Count={"N": str(n)}) for n in range(30)])
        self.plan(1, {"where": "attribute_not_exists(Counted)", "set": {"Count": "${Count + 1}", "Counted": True}})
        self.plan(2, {"where": "begins_with(PK, 'k')", "rekey": {"PK": "new#${after(PK, 'k')}"}})
        with self.stub(self.ignoring_segments) as stub:
            out, err = self.apply(self.through(stub), "--segments", "8")
        self.assertEqual(err.count("the server gives every segment the whole table"), 1)
        self.assertEqual(out.count("    30       30          0        0       0"), 2, out)
        found = {pk: one["Count"]["N"] for (pk, _), one in self.raw().items()}
        self.assertEqual(found, {f"new#{n}": str(n + 1) for n in range(30)})

    def test_scan_5_an_endpoint_that_splits_by_row(self):
        """Rows that go make the rest move up into segments that were read already: a sweep finds what was not met."""
        self.load(*[item(f"k{n}") for n in range(40)])
        self.plan(1, {"where": "begins_with(PK, 'k')", "delete": True})

        def by_row(request):
            if request.operation != "Scan":
                return None
            rows = sorted(self.raw().items())
            part = len(rows) / request.body.get("TotalSegments", 1)
            index = request.body.get("Segment", 0)
            return {"Items": [one for _, one in rows[round(index * part):round((index + 1) * part)]]}

        with self.stub(by_row) as stub:
            self.apply(self.through(stub), "--segments", "8", "--workers", "1")
            left = len(self.raw())
            self.assertGreater(left, 0)
        out, _ = self.apply(self.table, "--sweep", "--dry-run", expect=4)
        self.assertIn(f"a sweep would write {left}\n", out)
        with self.stub(by_row) as stub:
            out, _ = self.apply(self.through(stub), "--sweep")
        self.assertIn(f"swept, {left} written", out)
        self.assertIn("a sweep would write 0", self.apply(self.table, "--sweep", "--dry-run")[0])
        self.assertEqual(self.raw(), {})


class Unprocessed:
    """A server that leaves batched writes undone as a list says, call by call: so many of each, from its front."""

    def __init__(self, case, counts, stop=None):
        self.case, self.counts, self.stop = case, list(counts), stop
        self.sent, self.done, self.left = [], [], 0
        self.lock = threading.Lock()

    def __call__(self, request):
        if request.operation != "BatchWriteItem":
            return None
        with self.lock:
            (name, actions), = request.body["RequestItems"].items()
            left = self.counts.pop(0) if self.counts else 0
            self.left += len(actions[:left])
            self.sent += map(self.key, actions)
            self.done += map(self.key, actions[left:])
        if actions[left:]:
            self.case.server.call("BatchWriteItem", {"RequestItems": {name: actions[left:]}})
        if self.stop:
            self.stop()
        return {"UnprocessedItems": {name: actions[:left]} if actions[:left] else {}}

    @staticmethod
    def key(action):
        (kind, what), = action.items()
        return kind, (what.get("Item") or what.get("Key"))["PK"]["S"]


class Writes(Case):
    def test_wr_1_unprocessed_items_are_sent_again_and_only_they(self):
        """All of the first two calls, then 24, then 1; 60 items in batches of 25."""
        server = Unprocessed(self, [25, 25, 24, 1])
        with self.stub(server) as stub:
            refold.run("import", self.through(stub), "--from", self.write_rows(item(f"k{n}") for n in range(60)), "--create")
        wanted = sorted(("PutRequest", f"k{n}") for n in range(60))
        self.assertEqual(sorted(server.done), wanted)
        self.assertEqual(len(server.sent), 60 + server.left)
        self.assertEqual(len(self.raw()), 60)

    def test_wr_1_more_unprocessed_than_sent_is_refused(self):
        def answer(request):
            if request.operation != "BatchWriteItem":
                return None
            return {"UnprocessedItems": {self.name: [{"PutRequest": {"Item": item(f"x{n}")}} for n in range(20000)]}}

        with self.stub(answer) as stub:
            _, err = refold.run("import", self.through(stub), "--from", self.write_rows([item("k")]), "--create", expect=1)
        self.assertIn("the server's UnprocessedItems are more than were sent", err)

    def test_wr_1_a_stop_loses_no_unprocessed_item(self):
        """The signal comes while a 200 that leaves all undone is under way; the same command starts again."""
        running = []
        server = Unprocessed(self, [25] * 1000, lambda: running[0].send_signal(signal.SIGINT))
        rows = self.write_rows(item(f"k{n}") for n in range(60))
        with self.stub(server) as stub:
            running.append(self.start("import", self.through(stub), "--from", rows, "--create"))
            _, err = running[0].communicate()
        self.assertEqual(running[0].returncode, 5, err)
        refold.run("import", self.table, "--from", rows)
        self.assertEqual(len(self.raw()), 60)

    def outsider_deletes(self, partition, run):
        """Runs a command; just before its write of that item comes through, the item goes. What it said."""
        gone = []

        def answer(request):
            key = request.body.get("Key", {}).get("PK", {}).get("S")
            if request.operation in ddb_servers.WRITES and key == partition and not gone:
                gone.append(key)
                self.server.call("DeleteItem", {"TableName": self.name, "Key": request.body["Key"]})

        with self.stub(answer) as stub:
            said = run(self.through(stub))
        self.assertEqual(gone, [partition])
        return said

    def check_gone(self, out, partition, matched, step="steps[0]"):
        """One item is told as gone, and in no other column."""
        lines = [line.split() for line in out.splitlines()]
        self.assertIn("step matched written unchanged skipped failed gone".split(), lines)
        self.assertIn([step, str(matched), str(matched), "0", "0", "0", "1"], lines)
        self.assertIn(f"1 deleted by others before they could be written:\n  {step}: PK='{partition}' SK='A': gone, skipped\n", out)

    def test_wr_3_a_deleted_item_stays_deleted(self):
        """Between being read and being written: it stays so, and is told apart, whichever way the plan goes."""
        self.load(*[item(f"k{n}", Old={"S": "x"}) for n in range(8)])
        self.plan(1, {"where": "attribute_not_exists(New)", "set": {"New": "${PK}"}})
        out, _ = self.outsider_deletes("k3", self.apply)
        self.check_gone(out, "k3", 7)
        self.plan(2, {"where": "attribute_exists(Old)", "remove": ["Old"]})
        out, _ = self.outsider_deletes("k4", self.apply)
        self.check_gone(out, "k4", 6)
        self.assertEqual(sorted(pk for pk, _ in self.raw()), ["k0", "k1", "k2", "k5", "k6", "k7"])
        self.assert_all_have(6, "New", never=("Old",))
        out, _ = refold.run("status", self.table, "--plans", self.plans)
        self.assertRegex(out, r"\nplan .* failed  gone  capacity\n0001 .* 7       0     1  .*\n0002 .* 6       0     1  ")
        status = json.loads(refold.run("status", self.table, "--plans", self.plans, "--format", "json")[0])
        self.assertEqual([(one["record"]["steps"][0]["gone"], one["record"]["gone"]) for one in status["plans"]],
                         [(1, [{"step": "steps[0]", "key": f"PK='{pk}' SK='A'", "reason": "gone, skipped"}]) for pk in ("k3", "k4")])
        out, _ = self.outsider_deletes("k5", lambda table: refold.run("rollback", table, *self.options, "--to", "0", expect=3))
        self.assertIn("PK='k5' SK='A': the item was deleted since", out)
        self.assertEqual(sorted(pk for pk, _ in self.raw()), ["k0", "k1", "k2", "k6", "k7"])
        self.assert_all_have(5, "Old", never=("New",))

    def test_wr_3_on_the_way_back_by_steps(self):
        self.load(*[item(f"k{n}") for n in range(8)])
        super(Case, self).plan(1, {"steps": [{"where": "attribute_not_exists(New)", "set": {"New": "${PK}"}}],
                                   "rollback": [{"where": "attribute_exists(New)", "remove": ["New"]}]})
        self.apply(self.table)
        out, _ = self.outsider_deletes("k3", lambda table: refold.run("rollback", table, *self.options))
        self.check_gone(out, "k3", 7, "rollback[0]")
        self.assertEqual(self.raw(), {(f"k{n}", "A"): item(f"k{n}") for n in range(8) if n != 3})

    def test_wr_3_verify_tells_of_items_of_keys_alone(self):
        """Somebody else's update without a condition made one of an item that was deleted."""
        self.load(item("k0", Old={"S": "x"}), item("k1", Old={"S": "x"}))
        self.server.call("DeleteItem", {"TableName": self.name, "Key": item("k1")})
        self.server.call("UpdateItem", {"TableName": self.name, "Key": item("k1"), "UpdateExpression": "REMOVE #a", "ExpressionAttributeNames": {"#a": "Old"}})
        out, _ = refold.run("verify", self.table)
        self.assertEqual(out.splitlines()[:2], ["note: items with nothing but their key, as an update leaves where its item was deleted: 1",
                                                "  PK='k1' SK='A'"])
        self.assertIn("0 findings", out)

    def test_wr_3_before_an_interruption(self):
        """What was gone before a run was broken off is told by the run that ends it."""
        self.load(*[item(f"k{n}") for n in range(8)])
        self.plan(1, {"where": "attribute_not_exists(New)", "set": {"New": "${PK}"}})
        running, gone = [], []

        def answer(request):
            if request.operation == "UpdateItem" and not is_ours(request) and not gone:
                gone.append(request.body["Key"]["PK"]["S"])
                self.server.call("DeleteItem", {"TableName": self.name, "Key": request.body["Key"]})
                running[0].send_signal(signal.SIGINT)

        with self.stub(answer) as stub:
            running.append(self.start_apply(self.through(stub), "--segments", "4", "--workers", "1", "--page-size", "1"))
            _, err = running[0].communicate()
        self.assertEqual(running[0].returncode, 5, err)
        self.check_gone(self.apply(self.table)[0], gone[0], 7)

    def test_wr_3_in_the_middle_of_a_move(self):
        """What was put under the new key goes again."""
        self.load(*[item(f"k{n}") for n in range(4)])
        self.plan(1, {"where": "begins_with(PK, 'k')", "rekey": {"PK": "new#${PK}", "SK": "${SK}"}})
        self.check_gone(self.outsider_deletes("k2", self.apply)[0], "k2", 3)
        self.assertEqual(sorted(pk for pk, _ in self.raw()), ["new#k0", "new#k1", "new#k3"])

    def test_wr_3_in_a_sweep(self):
        self.load(*[item(f"k{n}") for n in range(4)])
        self.plan(1, {"where": "attribute_not_exists(New)", "set": {"New": "${PK}"}})
        self.apply(self.table)
        self.load(*[item(f"n{n}") for n in range(4)], options=("--on-conflict", "fail"))
        out, _ = self.outsider_deletes("n2", lambda table: self.apply(table, "--sweep"))
        self.assertIn("swept, 3 written in 2 rounds\n1 deleted by others before they could be written:\n  steps[0]: PK='n2' SK='A': gone, skipped\n", out)

    def test_a_rollback_takes_back_its_own_beside_a_writer(self):
        """Somebody writes another attribute between read and write: theirs stays, the plan's goes."""
        self.load(*[item(f"k{n}", Old={"S": "x"}, Seen={"N": "0"}) for n in range(6)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}, "remove": ["Old"]})
        self.apply(self.table)
        theirs = []

        def answer(request):
            if request.operation == "UpdateItem" and request.body.get("Key", {}).get("PK") == {"S": "k3"} and len(theirs) < 2:
                theirs.append(request)
                self.server.call("UpdateItem", {"TableName": self.name, "Key": request.body["Key"], "UpdateExpression": "SET Seen = :n",
                                                "ExpressionAttributeValues": {":n": {"N": str(len(theirs))}}})

        with self.stub(answer) as stub:
            out, _ = refold.run("rollback", self.through(stub), *self.options)
        self.assertIn("6 writes taken back, 0 left alone", out)
        found = self.raw()
        self.assertEqual(found.pop(("k3", "A")), item("k3", Old={"S": "x"}, Seen={"N": str(len(theirs))}))
        self.assertEqual(list(found.values()), [item(one["PK"]["S"], Old={"S": "x"}, Seen={"N": "0"}) for one in found.values()])

    def test_a_rollback_meets_again_what_changed_meanwhile(self):
        """Somebody writes one of the plan's own attributes between read and write: that one stays, the others go."""
        self.load(*[item(f"k{n}", Old={"S": "x"}) for n in range(6)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}, "remove": ["Old"]})
        self.apply(self.table)
        theirs = []

        def answer(request):
            if request.operation == "UpdateItem" and request.body.get("Key", {}).get("PK") == {"S": "k3"} and not theirs:
                theirs.append(request)
                self.server.call("UpdateItem", {"TableName": self.name, "Key": request.body["Key"], "UpdateExpression": "SET V = :v",
                                                "ExpressionAttributeValues": {":v": {"S": "theirs"}}})

        with self.stub(answer) as stub:
            out, _ = refold.run("rollback", self.through(stub), *self.options, expect=3)
        self.assertIn("6 writes taken back, 1 left alone", out)
        self.assertIn("PK='k3' SK='A': V was changed since", out)
        self.assertEqual(self.raw()["k3", "A"], item("k3", Old={"S": "x"}, V={"S": "theirs"}))

    def test_what_another_did_first_is_not_counted_as_written(self):
        """The same update or delete by somebody else, just before ours comes through: unchanged, or gone."""
        self.load(*[item(f"k{n}", Name={"S": f"n{n}"}) for n in range(8)])
        for version, (step, counts) in enumerate([({"set": {"V": True}, "where": "attribute_not_exists(V)"}, (8, 7, 1)),
                                                  ({"set": {"U": "${upper(Name)}"}}, (8, 7, 1)),
                                                  ({"where": "attribute_exists(U)", "delete": True}, (7, 7, 0))], start=1):
            self.plan(version, step)
            done = []

            def answer(request, done=done):
                if request.operation in ("UpdateItem", "DeleteItem", "BatchExecuteStatement") and not is_ours(request) and not done:
                    done.append(request)
                    key = request.body["Key"]
                    if request.operation == "DeleteItem":
                        self.server.call("DeleteItem", {"TableName": self.name, "Key": key})
                    else:
                        self.server.exchange(request.operation, request.raw)

            with self.stub(answer) as stub:
                out, _ = self.apply(self.through(stub))
            self.assertEqual(len(done), 1)
            self.assertEqual(tuple(map(int, out.splitlines()[2].split()[1:4])), counts, step)


class Values(Case):
    def permuted(self, value):
        """Every set in another order, with numbers spelled in another way, at any depth."""
        kind, content = next(iter(value.items()))
        if kind == "M":
            return {"M": {name: self.permuted(member) for name, member in content.items()}}
        if kind == "L":
            return {"L": [self.permuted(member) for member in content]}
        if kind == "NS":
            return {"NS": [self.spelled(number) for number in reversed(content)]}
        if kind == "N":
            return {"N": self.spelled(content)}
        return {kind: list(reversed(content))} if kind in ("SS", "BS") else value

    @staticmethod
    def spelled(number):
        return f"{number}.0" if "." not in number else f"{float(number) * 10:g}E-1"

    def permute_reply(self, request):
        """Of reads, in every second reply."""
        if request.operation not in ("Scan", "Query", "GetItem", "BatchGetItem") or is_ours(request):
            return None
        reply = self.server.call(request.operation, request.body)
        if request.number % 2:
            return reply

        def change(one):
            return {name: one[name] if name in ("PK", "SK", "refold_value") else self.permuted(one[name]) for name in one}
        if "Items" in reply:
            reply["Items"] = list(map(change, reply["Items"]))
        if "Item" in reply:
            reply["Item"] = change(reply["Item"])
        for name in reply.get("Responses", {}):
            reply["Responses"][name] = list(map(change, reply["Responses"][name]))
        return reply

    def test_dv_1_permuted_sets_are_equal(self):
        """A finished plan and an import write nothing again, and verify finds nothing, whatever order sets come in."""
        sets = {"Ss": {"SS": ["a", "b", "c"]}, "Ns": {"NS": ["1", "20", "3"]}, "Bs": {"BS": ["AQ==", "Ag=="]}}
        rows = [item(f"k{n}", N={"N": "20"}, Deep={"L": [{"M": sets}]}, **sets) for n in range(20)]
        self.load(*rows)
        self.plan(1, {"where": "attribute_exists(Ns)", "set": {"Copy": "${Deep}", "Union": "${set(1, 2)}"}})
        path = self.write_rows(rows)
        with self.stub(self.permute_reply) as stub:
            table = self.through(stub)
            refold.run("import", table, "--from", path)
            self.apply(table)
            self.assertIn("0 findings", refold.run("verify", table)[0])
            before = len(stub.requests)
            self.plan(2, {"name": "again", "where": "attribute_exists(Ns)", "set": {"Copy": "${Deep}", "Union": "${set(2, 1)}"}})
            self.apply(table)
            out, _ = self.apply(table, "--sweep", "--from", "1")
            writes = [request for request in stub.requests[before:] if request.operation in ddb_servers.WRITES and not is_ours(request)]
            self.assertEqual(writes, [])
            self.assertIn("0 written", out)


if __name__ == "__main__":
    unittest.main()
