#!/usr/bin/env python3
"""What people do while a run goes on, on dynalite: limits as a share of what is provisioned, the control file, page options."""
import json
import os
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_table import ApiTable  # noqa: E402

WAIT_S = refold.WAIT_S
ITEMS = 60
PLAN = {"steps": [{"name": "mark", "where": "attribute_not_exists(Mark)", "set": {"Mark": "${PK}"}}]}


def is_ours(body):
    return b"__refold#" in body


class Traffic:
    """Between the program and the server: the items' writes, and the lease's beats. `hold` may stop a write, `hold_beat` a beat."""

    def __init__(self, server, hold=None, hold_beat=None):
        self.hold, self.hold_beat = hold, hold_beat
        self.changed = threading.Condition()
        self.writes, self.beats, self.reads = 0, 0, []
        self.proxy = ddb_servers.Proxy(server, before=self._before)

    def _before(self, operation, body):
        with self.changed:
            if operation == "Scan":
                self.reads.append(json.loads(body))
            elif operation == "UpdateItem" and is_ours(body):
                self.beats += 1
            elif operation in ddb_servers.WRITES and not is_ours(body):
                self.writes += 1
            number, beat = self.writes, self.beats
            self.changed.notify_all()
        if self.hold_beat and operation == "UpdateItem" and is_ours(body):
            self.hold_beat(beat)
        if self.hold and operation in ddb_servers.WRITES and not is_ours(body):
            self.hold(number)

    def _wait_for(self, what, condition):
        with self.changed:
            if not self.changed.wait_for(condition, WAIT_S):
                raise AssertionError(f"waited in vain for {what}")

    def wait_for_beats(self, count):
        until = self.beats + count
        self._wait_for("the lease's beats", lambda: self.beats >= until)

    def wait_for_writes(self, count):
        self._wait_for(f"{count} writes", lambda: self.writes >= count)

    def table(self, name):
        return self.proxy.table(name)

    def __enter__(self):
        self.proxy.__enter__()
        return self

    def __exit__(self, *error):
        self.proxy.__exit__(*error)


class Operate(ApiTable, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.plan(1, PLAN)
        os.mkdir(self.state)
        self.control = os.path.join(self.state, "control")

    def say(self, text):
        """The control file at once, as a whole."""
        with open(self.control + ".new", "w", encoding="utf-8") as out:
            out.write(text)
        os.rename(self.control + ".new", self.control)

    def rows(self):
        return self.write_rows({"PK": {"S": f"k{n:03}"}, "SK": {"S": "A"}, "N": {"N": str(n)}} for n in range(ITEMS))

    def make(self, units=None):
        """The table, on demand or with so many units provisioned, its index ByN, and its items."""
        billing = {"BillingMode": "PAY_PER_REQUEST"}, {}
        if units is not None:
            throughput = {"ProvisionedThroughput": {"ReadCapacityUnits": units[0], "WriteCapacityUnits": units[1]}}
            billing = throughput, throughput
        self.server.create({
            "TableName": self.name, "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in (("PK", "S"), ("SK", "S"), ("N", "N"))],
            "GlobalSecondaryIndexes": [{"IndexName": "ByN", "KeySchema": [{"AttributeName": "N", "KeyType": "HASH"}],
                                        "Projection": {"ProjectionType": "ALL"}, **billing[1]}], **billing[0]})
        refold.run("import", self.server.table(self.name), "--from", self.rows(), "--create")

    def apply_options(self, *more):
        return ["--plans", self.plans, "--state", self.state, "--workers", "1", "--segments", "2", *more]

    def marked(self):
        return sum("Mark" in item for item in self.server.items(self.name))

    # --- limits

    def test_a_share_needs_something_provisioned(self):
        self.make()
        _, err = refold.run("apply", self.server.table(self.name), *self.apply_options("--max-wcu", "50%"), expect=2)
        self.assertIn("on demand: nothing is provisioned that 50% could be a share of", err)
        self.assertIn("hint: give a number", err)
        self.assertEqual(self.marked(), 0)
        refold.run("apply", self.server.table(self.name), *self.apply_options("--max-wcu", "5000", "--max-rcu", "5000"))
        self.assertEqual(self.marked(), ITEMS)

    def test_a_share_is_of_what_is_provisioned(self):
        self.make((1000, 1000))
        refold.run("apply", self.server.table(self.name), *self.apply_options("--max-wcu", "50%", "--max-rcu", "80%"))
        self.assertEqual(self.marked(), ITEMS)
        self.plan(2, {"steps": [{"set": {"Two": 2}}]})
        refold.run("apply", self.server.table(self.name) + "&max-wcu=50%", *self.apply_options())

    def test_wrong_limits_are_named_before_anything_is_asked(self):
        _, err = refold.run("apply", "dynamodb:Shop?region=us-east-1&endpoint=http://127.0.0.1:1", *self.apply_options("--max-wcu", "fast"), expect=2)
        self.assertIn("--max-wcu", err)
        self.assertIn("found 'fast'", err)

    def test_a_table_in_a_file_has_no_capacity(self):
        refold.run("import", self.embedded, "--from", self.rows())
        _, err = refold.run("apply", self.embedded, "--plans", self.plans, "--max-wcu", "5", expect=2)
        self.assertIn("for tables on a server", err)

    # --- the control file

    def test_nothing_is_read_or_written_while_it_says_pause(self):
        self.make()
        self.say("pause  # until the shop is closed\n")
        with Traffic(self.server) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options())
            run.wait_for("control: paused")
            traffic.wait_for_beats(2)  # the lease is kept
            self.assertEqual((traffic.writes, traffic.reads), (0, []))
            self.say("")
            _, said = run.end()
            self.assertIn("control: going on", said)
        self.assertEqual(self.marked(), ITEMS)

    def test_a_run_is_paused_half_way(self):
        self.make()
        go = threading.Event()
        self.addCleanup(go.set)
        with Traffic(self.server, hold=lambda number: number > 10 and go.wait(WAIT_S)) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options("--page-size", "5"))
            traffic.wait_for_writes(11)
            self.say("pause")
            run.wait_for("control: paused")
            go.set()
            traffic.wait_for_beats(1)
            before = traffic.writes
            self.assertLessEqual(before, 20)  # the page that was under way is finished
            traffic.wait_for_beats(1)
            self.assertEqual(traffic.writes, before)
            os.unlink(self.control)
            run.end()
        self.assertEqual(self.marked(), ITEMS)

    def test_a_run_keeps_its_lease_however_low_the_limit(self):
        """At a hundredth of a unit a second, the next write is due in a hundred seconds: a beat that waited for that would be too late."""
        self.make()
        go = threading.Event()
        self.addCleanup(go.set)
        with Traffic(self.server, hold=lambda number: go.wait(WAIT_S)) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options("--page-size", "5"))
            traffic.wait_for_writes(1)
            self.say("max-wcu 0.01\n")
            run.wait_for("max-wcu 0.01")
            go.set()
            traffic.wait_for_beats(3)
            self.assertLess(traffic.writes, ITEMS)
            self.say("")
            run.end()
        self.assertEqual(self.marked(), ITEMS)

    def test_a_beat_that_hangs_is_sent_again(self):
        self.make()
        go = threading.Event()
        self.addCleanup(go.set)
        self.say("pause")
        with Traffic(self.server, hold_beat=lambda number: number == 1 and go.wait(WAIT_S)) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options())
            traffic.wait_for_beats(3)
            self.say("")
            run.end()
        self.assertEqual(self.marked(), ITEMS)

    def test_a_key_is_renewed_while_the_lease_is_kept(self):
        """By a program that takes its time, from the second time on; the first key is good for twenty seconds."""
        self.make()
        asked, go = os.path.join(self.folder, "asked"), os.path.join(self.folder, "go")
        program, config = os.path.join(self.folder, "program"), os.path.join(self.folder, "config")
        with open(program, "w", encoding="ascii") as out:
            out.write(f"""#!/bin/sh
seconds=20
if [ -e {asked} ]; then seconds=3600; touch {asked}.twice; while [ ! -e {go} ]; do sleep 0.1; done; fi
touch {asked}
date -u -d "+$seconds seconds" '+{{"Version":1,"AccessKeyId":"AKIDTESTS00001234","SecretAccessKey":"s","Expiration":"%Y-%m-%dT%H:%M:%SZ"}}'
""")
        os.chmod(program, 0o755)
        with open(config, "w", encoding="ascii") as out:
            out.write(f"[default]\nregion = us-east-1\ncredential_process = {program}\n")
        env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        env.update(AWS_CONFIG_FILE=config, AWS_SHARED_CREDENTIALS_FILE=os.devnull, AWS_EC2_METADATA_DISABLED="true")
        self.say("pause")
        with Traffic(self.server) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options(), env=env)
            traffic.wait_for_beats(2)
            self.say("")
            refold.wait_until(lambda: os.path.exists(asked + ".twice"))
            traffic.wait_for_beats(2)
            self.assertEqual(traffic.writes, 0)
            with open(go, "w", encoding="ascii"):
                pass
            run.end()
        self.assertEqual(self.marked(), ITEMS)

    def test_abort_ends_as_a_signal_does(self):
        self.make()
        go = threading.Event()
        self.addCleanup(go.set)
        with Traffic(self.server, hold=lambda number: number > 10 and go.wait(WAIT_S)) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options("--page-size", "5"))
            traffic.wait_for_writes(11)
            self.say("abort\n")
            run.wait_for("control: aborted")
            go.set()
            _, said = run.end(expect=5)
            self.assertIn("hint: run the same command again", said)
            self.assertLess(self.marked(), ITEMS)
            self.say("")
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options())
            run.end()
        self.assertEqual(self.marked(), ITEMS)

    def test_capacity_of_a_run_that_was_aborted_is_not_forgotten(self):
        """The record of the plan has what both runs used for the items: at least a unit for each, and a scan of the table."""
        self.make()
        go = threading.Event()
        self.addCleanup(go.set)
        with Traffic(self.server, hold=lambda number: number > 40 and go.wait(WAIT_S)) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options("--page-size", "5"))
            traffic.wait_for_writes(41)
            self.say("abort\n")
            run.wait_for("control: aborted")
            go.set()
            run.end(expect=5)
            before = traffic.writes
            self.say("")
            refold.run("apply", traffic.table(self.name), *self.apply_options())
            self.assertLess(traffic.writes - before, ITEMS // 2)
        said = json.loads(refold.run("status", self.server.table(self.name), "--plans", self.plans, "--format", "json")[0])
        self.assertGreaterEqual(said["plans"][0]["record"]["write_units"], ITEMS)

    def test_a_wrong_file_is_told_of_once_and_changes_nothing(self):
        self.make()
        self.say("pause\n")
        with Traffic(self.server) as traffic:
            run = refold.Started("apply", traffic.table(self.name), *self.apply_options())
            run.wait_for("control: paused")
            self.say("max-wcu 50%\n")
            run.wait_for("on demand: nothing is provisioned that 50% could be a share of")
            self.say("pause\nmax-wcu 10\nfaster\n")
            run.wait_for("line 3: 'faster' is no setting")
            traffic.wait_for_beats(1)
            self.assertEqual(traffic.writes, 0)  # still paused
            self.say("max-wcu 4000\n")
            _, said = run.end()
        self.assertEqual(said.count("'faster'"), 1, said)
        self.assertEqual(said.count("could be a share"), 1, said)
        self.assertIn("control: max-rcu as the options say, max-wcu 4000", said)
        self.assertEqual(self.marked(), ITEMS)

    def test_a_rollback_is_paused_and_a_dry_run_too(self):
        self.make()
        self.say("pause\n")
        for command, left in ((["apply", "--dry-run"], 4), (["apply"], 0), (["rollback"], 0)):
            with Traffic(self.server) as traffic:
                self.say("pause\n")
                run = refold.Started(command[0], traffic.table(self.name), *self.apply_options(*command[1:]))
                run.wait_for("control: paused")
                self.assertEqual(traffic.writes, 0)
                self.say("")
                run.end(expect=left)
        self.assertEqual(self.marked(), 0)

    def test_an_import_is_paused(self):
        self.make()
        empty = self.name + "b"
        with Traffic(self.server) as traffic:
            self.say("pause\n")
            run = refold.Started("import", traffic.table(empty), "--create", "--from", self.rows(), "--control", self.control)
            run.wait_for("control: paused")
            traffic.wait_for_beats(1)
            self.assertEqual(traffic.proxy.count("BatchWriteItem"), 0)
            self.say("")
            run.end()
        self.assertEqual(sum(item["PK"]["S"].startswith("k") for item in self.server.items(empty)), ITEMS)

    def test_an_embedded_run_has_its_file_beside_the_table(self):
        refold.run("import", self.embedded, "--from", self.rows())
        self.control = self.embedded + "-control"
        self.say("pause\n")
        run = refold.Started("apply", self.embedded, "--plans", self.plans)
        run.wait_for("t.refold-control: paused")
        self.assertNotIn("Mark", refold.export(self.embedded))
        self.say("max-wcu 5\n")
        run.wait_for("for tables on a server")
        self.say("abort\n")
        run.end(expect=5)
        self.say("# nothing\n")
        refold.run("apply", self.embedded, "--plans", self.plans)
        self.assertEqual(refold.export(self.embedded).count("Mark"), ITEMS)

    # --- reading

    def test_pages_and_consistency_are_options(self):
        self.make()
        self.plan(2, {"steps": [{"set": {"Two": 2}}, {"pass": "again"}, {"set": {"Three": 3}}]})
        with Traffic(self.server) as traffic:
            refold.run("apply", traffic.table(self.name), *self.apply_options("--to", "1"))
            self.assertEqual({read["ConsistentRead"] for read in traffic.reads}, {True})
            self.assertNotIn(7, {read.get("Limit") for read in traffic.reads})
            traffic.reads.clear()
            refold.run("apply", traffic.table(self.name), *self.apply_options("--page-size", "7", "--no-consistent-read"))
            self.assertEqual({read["Limit"] for read in traffic.reads}, {7})
            kinds = [read["ConsistentRead"] for read in traffic.reads]
            self.assertFalse(kinds[0])
            self.assertTrue(kinds[-1])  # the second pass has to see what the first wrote
            self.assertEqual(kinds, sorted(kinds))
        found = self.server.items(self.name)
        self.assertEqual(sum("Three" in item and "Two" in item for item in found), ITEMS)

    # --- what is said

    def test_status_says_where_the_table_is_and_what_it_may_do(self):
        self.make((7, 5))
        refold.run("apply", self.server.table(self.name), *self.apply_options("--max-wcu", "5000", "--max-rcu", "5000"))
        out, _ = refold.run("status", self.server.table(self.name), "--plans", self.plans)
        self.assertIn(f"endpoint http://127.0.0.1:{self.server.port}/, region us-east-1, account 000000000000, key id ...1234 from the environment\n", out)
        self.assertIn("provisioned: 7 read and 5 write units a second\n", out)
        self.assertRegex(out, r"key PK:S / SK:S, ~[0-9]+ items, ~")
        self.assertRegex(out, r"ByN +N:N +ALL +active +~[0-9]+\n")
        self.assertRegex(out, r"0001 plan +applied .* [0-9]+ read, [0-9]+ write\n")
        said = json.loads(refold.run("status", self.server.table(self.name), "--plans", self.plans, "--format", "json")[0])
        self.assertEqual(said["server"], {"endpoint": f"http://127.0.0.1:{self.server.port}/", "region": "us-east-1", "account": "000000000000",
                                          "key_id_end": "1234", "key_id_from": "the environment", "on_demand": False,
                                          "read_units": 7, "write_units": 5})
        self.assertTrue(said["estimated"])
        self.assertEqual([(index["name"], index["active"], index["status"]) for index in said["indexes"]], [("ByN", True, "ACTIVE")])
        self.assertGreaterEqual(said["plans"][0]["record"]["write_units"], ITEMS)
        self.assertGreater(said["plans"][0]["record"]["read_units"], 0)

    def test_status_of_a_missing_table_says_where_it_looked(self):
        _, err = refold.run("status", self.server.table("Nowhere"), expect=1)
        self.assertIn("table Nowhere does not exist", err)
        self.assertIn(f"endpoint http://127.0.0.1:{self.server.port}/, region us-east-1, key id ...1234 from the environment", err)

    def test_a_file_has_exact_counts_and_no_server(self):
        refold.run("import", self.embedded, "--from", self.rows())
        out, _ = refold.run("apply", self.embedded, "--plans", self.plans)
        self.assertNotIn("capacity", out)
        out, _ = refold.run("status", self.embedded, "--plans", self.plans)
        self.assertIn(f" {ITEMS} items", out)
        self.assertNotIn("~", out)
        self.assertNotIn("endpoint", out)
        said = json.loads(refold.run("status", self.embedded, "--format", "json")[0])
        self.assertEqual((said["estimated"], "server" in said), (False, False))

    def test_size_is_an_estimate_until_it_is_counted(self):
        self.make()
        table = self.server.table(self.name)
        out, _ = refold.run("size", table)
        self.assertRegex(out, r"table +~[0-9,]+ +~[0-9.]+ k?B\n")
        self.assertRegex(out, r"ByN +~")
        self.assertIn("--exact counts", out)
        self.assertTrue(json.loads(refold.run("size", table, "--format", "json")[0])["estimated"])
        refold.run("import", self.embedded, "--from", self.rows())
        said = json.loads(refold.run("size", table, "--exact", "--format", "json")[0])
        exact = json.loads(refold.run("size", self.embedded, "--format", "json")[0])
        self.assertEqual((said["items"], said["bytes"], said["estimated"]), (ITEMS, exact["bytes"], False))
        self.assertEqual(said["indexes"], [{"name": "ByN", "entries": ITEMS, "bytes": exact["bytes"]}])
        self.assertGreater(said["read_units"], 0)
        out, _ = refold.run("size", table, "--exact")
        self.assertRegex(out, r"table +60 +[0-9]+ B\nByN +60 +[0-9]+ B\nlargest item: 12 B, PK='k0[0-9]+' SK='A'\n")
        self.assertIn("capacity units: ", out)

    def test_what_throttles_is_said_once(self):
        self.make()
        reason = {"__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", "message": "too much",
                  "ThrottlingReasons": [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": "arn:aws:dynamodb:us-east-1:1:table/T"}]}
        refused = set()

        def throttle(operation, body):
            """Each item's first write."""
            if operation == "UpdateItem" and not is_ours(body) and body not in refused:
                refused.add(body)
                return 400, json.dumps(reason).encode()
            return None

        with ddb_servers.Proxy(self.server, before=throttle) as proxy:
            out, err = refold.run("apply", proxy.table(self.name), *self.apply_options())
        self.assertEqual(len(refused), ITEMS)
        self.assertEqual(err.count("the server throttles: TableWriteProvisionedThroughputExceeded arn:aws:dynamodb:us-east-1:1:table/T\n"), 1, err)
        self.assertRegex(out, r"capacity units: [0-9]+ read, [0-9]+ write\n")
        self.assertEqual(self.marked(), ITEMS)


if __name__ == "__main__":
    unittest.main()
