#!/usr/bin/env python3
"""Runs: what apply, rollback, status and dry run promise about counts, exit statuses and what stands afterwards."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import refold  # noqa: E402


def item(partition, sort, **attributes):
    """An item in DynamoDB JSON: texts as S, numbers as N, what has a type already as it is."""
    kinds = {str: lambda v: {"S": v}, int: lambda v: {"N": str(v)}, bool: lambda v: {"BOOL": v}, dict: lambda v: v}
    made = {name: kinds[type(value)](value) for name, value in attributes.items()}
    return {"PK": {"S": partition}, "SK": {"S": sort}, **made}


def orders(count, start=0):
    """Customers with nine orders each."""
    states = ["open", "done", "pending_payment"]
    for c in range(start, start + count):
        yield item(f"CUSTOMER#{c}", "PROFILE", Name=f"Name {c}", Email=f"c{c}@Example.com")
        for o in range(9):
            yield item(f"CUSTOMER#{c}", f"ORDER#{o}", Status=states[(c + o) % 3], OrderDate=f"2026-01-{1 + (c * o) % 28:02d}",
                       Total=f"{(c * 7 + o) % 1000}.5")


SET_STATUS = {"steps": [
    {"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S"}},
    {"name": "by status", "where": "begins_with(SK, 'ORDER#') AND attribute_not_exists(GSI1PK)",
     "set": {"GSI1PK": "STATUS#${Status}", "GSI1SK": "${OrderDate}"}},
    {"name": "totals", "where": "attribute_type(Total, 'S')", "set": {"Total": {"N": "${Total}"}}}]}
REKEY = {"steps": [{"name": "by email", "where": "SK = 'PROFILE' AND begins_with(PK, 'CUSTOMER#')",
                    "rekey": {"PK": "EMAIL#${lower(Email)}"}}]}


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-runs-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plans = os.path.join(self.folder, "plans")
        os.mkdir(self.plans)
        self.table = os.path.join(self.folder, "t.refold")

    def load(self, items, *options, table=None, expect=0):
        rows = os.path.join(self.folder, "rows.jsonl")
        with open(rows, "w", encoding="utf-8") as out:
            for one in items:
                out.write(json.dumps({"Item": one}) + "\n")
        return refold.run("import", table or self.table, "--from", rows, *options, expect=expect)

    def plan(self, version, content, name="plan"):
        path = os.path.join(self.plans, f"{version:04d}_{name}.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def command(self, name, *options, expect=0, table=None):
        return refold.run(name, table or self.table, "--plans", self.plans, *options, expect=expect)

    def reported(self, name, *options, expect=0):
        return json.loads(self.command(name, *options, "--format", "json", expect=expect)[0])

    def dry_counts(self, expect=4):
        """What a dry run counts: by plan and step label."""
        return {(plan["version"], step["label"]): counts(step) for plan in self.reported("apply", "--dry-run", expect=expect)["plans"]
                for stage in plan["stages"] if stage["kind"] == "pass" for step in stage["steps"]}

    def applied_counts(self, expect=0):
        return {(plan["version"], step["label"]): counts(step)
                for plan in self.reported("apply", expect=expect)["plans"] for step in plan["steps"]}

    def rehearse_and_apply(self, expect=0):
        """Applies, and checks that the dry run before counted the same and wrote nothing."""
        before = refold.export(self.table)
        dry = self.dry_counts(expect=4 if expect == 0 else expect)
        self.assertEqual(refold.export(self.table), before)
        real = self.applied_counts(expect=expect)
        self.assertEqual(dry, real)
        if expect == 0:
            refold.run("verify", self.table)
        return real


def counts(step):
    return tuple(step[name] for name in ("matched", "written", "unchanged", "skipped", "failed", "overwritten"))


class Apply(Runs):
    def test_a_plan_is_applied_once(self):
        self.load(orders(30))
        self.plan(1, SET_STATUS)
        real = self.rehearse_and_apply()
        self.assertEqual(real[1, "by status"], (270, 270, 0, 0, 0, 0))
        after = refold.export(self.table)
        out, _ = self.command("apply")
        self.assertIn("nothing to do", out)
        self.assertEqual(refold.export(self.table), after)
        open_orders = refold.query(self.table, "GSI1PK = 'STATUS#open'", "--index", "GSI1")
        self.assertEqual(len(open_orders), 90)

    def test_the_result_does_not_depend_on_threads_and_segments(self):
        self.plan(1, SET_STATUS)
        self.plan(2, REKEY)
        results = set()
        for number, (workers, segments) in enumerate([(1, 1), (1, 7), (2, 64), (4, 1000)]):
            table = os.path.join(self.folder, f"t{number}.refold")
            self.load(orders(40), table=table)
            self.command("apply", "--workers", workers, "--segments", segments, table=table)
            results.add(refold.export(table))
        self.assertEqual(len(results), 1)

    def test_plans_run_in_order_of_their_numbers(self):
        self.load([item("A", "1", n=0)])
        self.plan(9, {"steps": [{"where": "trail = 'x'", "set": {"trail": "x9"}}]})
        self.plan(10, {"steps": [{"where": "trail = 'x9'", "set": {"trail": "x9.10"}}]})
        self.plan(2, {"steps": [{"where": "attribute_not_exists(trail)", "set": {"trail": "x"}}]})
        self.rehearse_and_apply()
        self.assertEqual(refold.items(self.table)["A", "1"]["trail"], "x9.10")

    def test_to_stops_there_and_refuses_to_go_back(self):
        self.load(orders(2))
        for version in (1, 2, 3):
            self.plan(version, {"steps": [{"where": f"attribute_not_exists(v{version})", "set": {f"v{version}": True}}]})
        self.command("apply", "--to", 2)
        self.assertIn("v2", refold.items(self.table)["CUSTOMER#0", "PROFILE"])
        self.assertNotIn("v3", refold.items(self.table)["CUSTOMER#0", "PROFILE"])
        for options in ((), ("--dry-run",)):
            self.assertEqual(self.command("apply", "--to", 2, *options)[0], "nothing to do: 0002 plan is applied, 1 later plan is pending\n")
        _, err = self.command("apply", "--to", 1, expect=2)
        self.assertIn("rollback", err)
        _, err = self.command("apply", "--to", 7, expect=2)
        self.assertIn("no plan has version", err)

    def test_a_changed_plan_is_refused_and_a_reformatted_one_is_not(self):  # RES-4
        self.load(orders(2))
        content = {"description": "x", "steps": [{"where": "SK = 'PROFILE'", "set": {"Kind": "customer", "N": {"N": "1"}}}]}
        self.plan(1, content)
        self.command("apply")
        text = json.dumps(content, indent=3)
        for same in (text.replace("\n", "\r\n"), "\ufeff" + text, text + "\n\n",
                     json.dumps({"steps": [dict(reversed(content["steps"][0].items()))], "description": "other"}),
                     "/* said */" + text.replace("SK = 'PROFILE'", "SK   =  'PROFILE'")):
            self.plan(1, same)
            self.assertIn("nothing to do", self.command("apply")[0])
        self.plan(1, text.replace("customer", "Customer"))
        _, err = self.command("apply", expect=2)
        self.assertEqual(err.count("1:"), 2, err)
        self.assertIn("changed", self.command("status")[0])
        self.command("status", "--exit-code", expect=2)

    def test_a_plan_below_the_newest_is_refused_by_name(self):
        self.load(orders(2))
        self.plan(2, {"steps": [{"where": "SK = 'PROFILE'", "set": {"a": 1}}]})
        self.command("apply")
        self.plan(1, {"steps": [{"where": "SK = 'PROFILE'", "set": {"b": 1}}]}, "late")
        _, err = self.command("apply", expect=2)
        self.assertIn("0001_late.json is out of order", err)
        self.assertIn("hint:", err)
        self.assertIn("out of order", self.command("status")[0])

    def test_two_files_of_one_version_are_refused(self):
        self.load(orders(1))
        self.plan(1, REKEY, "one")
        self.plan(1, REKEY, "other")
        _, err = self.command("apply", expect=2)
        self.assertIn("0001_one.json", err)
        self.assertIn("0001_other.json", err)

    def test_a_wrong_plan_behind_a_good_one_touches_nothing(self):
        self.load(orders(3))
        before = refold.export(self.table)
        self.plan(1, SET_STATUS)
        self.plan(2, {"steps": [{"drop_index": "GSI2"}]})
        self.command("apply", expect=2)
        self.assertEqual(refold.export(self.table), before)
        self.assertEqual([p["state"] for p in self.reported("status")["plans"]], ["pending", "pending"])


class ItemErrors(Runs):
    def test_one_bad_item_fails_the_plan_and_is_all_that_is_left(self):  # CLI-1
        self.load(list(orders(30)) + [item("CUSTOMER#X", "ORDER#1", Status="open"), item("CUSTOMER#X", "ORDER#2", OrderDate="2026-01-01")])
        self.plan(1, SET_STATUS)
        self.plan(2, {"steps": [{"where": "SK = 'PROFILE'", "set": {"seen": True}}]})
        before = refold.items(self.table)
        real = self.rehearse_and_apply(expect=3)
        self.assertEqual(real[1, "by status"], (272, 270, 0, 0, 2, 0))
        after = refold.items(self.table)
        for key in (("CUSTOMER#X", "ORDER#1"), ("CUSTOMER#X", "ORDER#2")):
            self.assertEqual(before[key], after[key])
        self.assertNotIn("seen", after["CUSTOMER#0", "PROFILE"])
        status = self.reported("status", "--exit-code", expect=3)
        self.assertEqual([plan["state"] for plan in status["plans"]], ["failed", "pending"])
        self.assertTrue(status["next"].startswith("refold apply "))
        keys = {fault["key"] for fault in status["plans"][0]["record"]["faults"]}
        self.assertEqual(keys, {"PK='CUSTOMER#X' SK='ORDER#1'", "PK='CUSTOMER#X' SK='ORDER#2'"})
        again = self.applied_counts(expect=3)
        self.assertEqual(again[1, "by status"][1:], (0, 0, 0, 2, 0))

    def test_a_failed_plan_can_be_rolled_back_changed_and_applied(self):
        self.load(list(orders(10)) + [item("CUSTOMER#X", "ORDER#1", Status="open")])
        before = refold.export(self.table)
        self.plan(1, SET_STATUS)
        self.command("apply", expect=3)
        self.command("rollback")
        self.assertEqual(refold.export(self.table), before)
        changed = json.loads(json.dumps(SET_STATUS))
        changed["steps"][1]["set"]["GSI1SK"] = "${coalesce(OrderDate, 'never')}"
        self.plan(1, changed)
        self.rehearse_and_apply()

    def test_max_item_errors_stops_sooner(self):
        self.load(item(f"A#{n}", "x") for n in range(3000))
        self.plan(1, {"steps": [{"set": {"b": "${missing}"}}]})
        out = self.reported("apply", "--max-item-errors", 10, "--workers", 1, expect=3)
        failed = out["plans"][0]["steps"][0]["failed"]
        self.assertGreater(failed, 10)
        self.assertLess(failed, 3000)

    def test_index_violations_come_before_the_index(self):  # GSI-1
        bad = {"number": 7, "list": {"L": []}, "null": {"NULL": True}, "empty": "", "long": "x" * 2049}
        self.load([item("A", "whole", GSI1PK="a", GSI1SK="b"), item("A", "partial", GSI1PK="a"), item("A", "none")] +
                  [item("B", name, GSI1PK=value, GSI1SK="b") for name, value in bad.items()])
        self.plan(1, {"steps": [{"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S"}}]})
        dry = self.reported("apply", "--dry-run", expect=3)["plans"][0]["stages"][0]
        self.assertEqual([dry[name] for name in ("whole", "partial", "without", "violating")], [1, 1, 1, 5])
        self.assertEqual(len(dry["faults"]), 5)
        out, _ = self.command("apply", expect=3)
        self.assertIn("5 items violate the index", out)
        for name in bad:
            self.assertIn(f"SK='{name}'", out)
        self.assertEqual(self.reported("status")["indexes"], [])
        self.command("rollback")
        self.plan(1, {"steps": [{"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S",
                                                  "on_violation": "leave_out"}}]})
        self.command("apply")
        self.assertEqual(self.reported("status")["indexes"][0]["entries"], 1)

    def test_an_item_that_the_index_would_refuse_is_an_item_error(self):
        self.load([item("A", "1", v="good"), item("A", "2", v=""), item("A", "3", v=7)])
        self.plan(1, {"steps": [{"create_index": {"name": "GSI", "partition": "GK:S"}},
                                {"where": "attribute_exists(v)", "set": {"GK": "${v}"}}]})
        real = self.rehearse_and_apply(expect=3)
        self.assertEqual(real[1, "steps[1]"], (3, 2, 0, 0, 1, 0))


    def test_an_item_without_a_new_key_is_an_item_error(self):
        self.load([item("A", "1", to="x"), item("B", "1"), item("C", "1", to="y")])
        self.plan(1, {"steps": [{"rekey": {"SK": "${to}"}, "where": "SK = '1'"}]})
        real = self.rehearse_and_apply(expect=3)
        self.assertEqual(real[1, "steps[0]"], (3, 2, 0, 0, 1, 0))
        self.assertEqual(set(refold.items(self.table)), {("A", "x"), ("B", "1"), ("C", "y")})


class Collisions(Runs):
    USERS = [item("User#A", "P", n=1), item("user#a", "P", n=2), item("USER#b", "P", n=3), item("x", "y")]

    def lower(self, **more):
        return {"steps": [{"name": "lower", "where": "SK = 'P'", "rekey": {"PK": "${lower(PK)}"}, **more}]}

    def test_a_key_onto_itself_is_no_write(self):  # TX-1
        self.load([item("user#a", "P"), item("user#b", "P")])
        self.plan(1, self.lower())
        before = refold.export(self.table)
        self.assertEqual(self.rehearse_and_apply()[1, "lower"], (2, 0, 2, 0, 0, 0))
        self.assertEqual(refold.export(self.table), before)

    def test_fail_leaves_the_whole_group_and_names_it(self):  # TX-2
        self.load(self.USERS)
        self.plan(1, self.lower())
        before = refold.items(self.table)
        real = self.rehearse_and_apply(expect=3)
        after = refold.items(self.table)
        self.assertEqual(after["User#A", "P"], before["User#A", "P"])
        self.assertEqual(after["user#a", "P"], before["user#a", "P"])
        self.assertIn(("user#b", "P"), after)
        self.assertEqual(real[1, "lower"][1], 1)
        reason = self.reported("status")["plans"][0]["record"]["faults"][0]["reason"]
        self.assertIn("User#A", reason)
        self.assertIn("user#a", reason)

    def test_skip_keeps_the_keys(self):
        self.load(self.USERS)
        self.plan(1, self.lower(on_collision="skip"))
        self.assertEqual(self.rehearse_and_apply()[1, "lower"], (3, 1, 1, 1, 0, 0))
        self.assertEqual(set(refold.items(self.table)), {("User#A", "P"), ("user#a", "P"), ("user#b", "P"), ("x", "y")})

    def test_overwrite_counts_what_goes_and_rollback_brings_it_back(self):
        self.load(self.USERS)
        before = refold.export(self.table)
        self.plan(1, self.lower(on_collision="overwrite"))
        real = self.rehearse_and_apply()
        self.assertEqual(real[1, "lower"][5], 1)
        self.assertEqual(refold.items(self.table)["user#a", "P"]["n"], 1)
        self.command("rollback")
        self.assertEqual(refold.export(self.table), before)

    def test_keep_newer_keeps_the_newest(self):
        self.load(self.USERS)
        before = refold.export(self.table)
        self.plan(1, self.lower(on_collision="keep_newer: n"))
        self.rehearse_and_apply()
        self.assertEqual(refold.items(self.table)["user#a", "P"]["n"], 2)
        self.command("rollback")
        self.assertEqual(refold.export(self.table), before)

    def test_equal_puts_are_one(self):
        self.load(orders(10))
        self.plan(1, {"steps": [{"name": "states", "where": "begins_with(SK, 'ORDER#')", "put": {"PK": "STATES", "SK": "${Status}"}}]})
        self.assertEqual(self.rehearse_and_apply()[1, "states"], (90, 3, 87, 0, 0, 0))

    def test_different_puts_collide(self):
        self.load(orders(1))
        self.plan(1, {"steps": [{"where": "begins_with(SK, 'ORDER#')", "put": {"PK": "LAST", "SK": "x", "of": "${SK}"}}]})
        real = self.rehearse_and_apply(expect=3)
        self.assertEqual(real[1, "steps[0]"], (9, 0, 0, 0, 9, 0))
        self.assertNotIn(("LAST", "x"), refold.items(self.table))

    def test_a_skipped_item_keeps_its_key_through_all_steps(self):
        self.load([item("A", "1"), item("B", "1"), item("X", "1")])
        self.plan(1, {"steps": [{"where": "PK IN ('A', 'B')", "rekey": {"PK": "C${PK}"}},
                                {"where": "PK IN ('CA', 'CB')", "rekey": {"PK": "D"}, "set": {"n": 1}, "on_collision": "skip"}]})
        self.assertEqual(self.rehearse_and_apply()[1, "steps[0]"], (2, 1, 0, 1, 0, 0))
        self.assertEqual(set(refold.items(self.table)), {("A", "1"), ("D", "1"), ("X", "1")})

    def test_a_skipped_item_that_would_put_something_else_is_an_error(self):
        self.load([item("a", "1"), item("A", "1"), item("X", "1", n=1)])
        before = refold.export(self.table)
        self.plan(1, {"steps": [{"where": "SK = '1' AND PK <> 'X'", "rekey": {"PK": "${upper(PK)}"}, "on_collision": "skip"},
                                {"where": "PK = 'a'", "put": {"PK": "X", "SK": "1"}}]})
        self.assertEqual(self.rehearse_and_apply(expect=3)[1, "steps[0]"], (2, 0, 1, 0, 1, 0))
        self.assertEqual(refold.export(self.table), before)

    def test_an_item_error_is_not_overwritten(self):
        self.load([item("a", "1", n=1), item("A", "1")])
        before = refold.export(self.table)
        self.plan(1, {"steps": [{"where": "PK = 'a'", "rekey": {"PK": "${upper(PK)}"}, "on_collision": "overwrite"},
                                {"where": "attribute_not_exists(m)", "set": {"m": "${n}"}}]})
        self.assertEqual(self.rehearse_and_apply(expect=3)[1, "steps[1]"][4], 1)
        self.assertEqual(refold.export(self.table), before)

    def test_equal_puts_of_items_that_fail_count_for_nothing(self):
        self.load([item("a", "1"), item("A", "1"), item("c", "1")])
        self.plan(1, {"steps": [{"where": "SK = '1'", "put": {"PK": "P", "SK": "p"}},
                                {"where": "SK = '1'", "rekey": {"PK": "${upper(PK)}"}}]})
        real = self.rehearse_and_apply(expect=3)
        self.assertEqual(real[1, "steps[0]"], (2, 1, 0, 0, 1, 0))
        self.assertEqual(set(refold.items(self.table)), {("a", "1"), ("A", "1"), ("C", "1"), ("P", "p")})

    def test_a_put_of_what_stands_there_overwrites_nothing(self):
        self.load([item("a", "1"), item("b", "1"), item("P", "b")])
        self.plan(1, {"steps": [{"where": "SK = '1'", "put": {"PK": "P", "SK": "b", "of": "${PK}"}, "on_collision": "overwrite"}]})
        self.assertEqual(self.rehearse_and_apply()[1, "steps[0]"], (2, 1, 0, 1, 0, 1))
        self.plan(2, {"steps": [{"where": "SK = '1'", "put": {"PK": "P", "SK": "b", "of": "${PK}"}, "on_collision": "overwrite"}]})
        self.assertEqual(self.rehearse_and_apply()[2, "steps[0]"], (2, 0, 1, 1, 0, 0))

    def test_a_pass_that_is_taken_up_again_overwrites_nothing_anew(self):
        self.load([item("a", "1", n=1), item("b", "1", n=2), item("c", "1")])
        self.plan(1, {"steps": [{"where": "PK IN ('a', 'b')", "put": {"PK": "P", "SK": "p", "n": "${n}"}, "on_collision": "overwrite"},
                                {"where": "PK IN ('b', 'c') AND attribute_not_exists(m)", "set": {"m": "${n}"}}]})
        self.rehearse_and_apply(expect=3)
        after = refold.export(self.table)
        self.assertEqual(refold.items(self.table)["P", "p"]["n"], 2)
        self.assertEqual(self.rehearse_and_apply(expect=3)[1, "steps[0]"], (1, 0, 0, 1, 0, 0))
        self.assertEqual(refold.export(self.table), after)

    def test_the_verdict_does_not_depend_on_segments(self):
        rng = random.Random(5)
        people = [item(rng.choice(["u", "U"]) + rng.choice("aAbBcC") + str(n % 40), "P", n=n) for n in range(400)]
        people = list({one["PK"]["S"]: one for one in people}.values())
        for rule in ("skip", "overwrite"):
            self.plan(1, self.lower(on_collision=rule))
            results = set()
            for number, segments in enumerate((1, 5, 300)):
                table = os.path.join(self.folder, f"{rule}{number}.refold")
                self.load(people, table=table)
                self.command("apply", "--segments", segments, "--workers", 3, table=table)
                results.add(refold.export(table))
            self.assertEqual(len(results), 1, rule)


class DryRun(Runs):
    def test_later_passes_see_earlier_results(self):
        self.load(orders(20))
        self.plan(1, SET_STATUS)
        self.plan(2, {"steps": [
            {"name": "move", "where": "SK = 'PROFILE' AND begins_with(PK, 'CUSTOMER#')", "rekey": {"PK": "EMAIL#${lower(Email)}"}},
            {"name": "per state", "where": "begins_with(SK, 'ORDER#')", "put": {"PK": "${GSI1PK}", "SK": "${PK}#${SK}", "Total": "${Total}"}},
            {"pass": "profiles stand under their new keys"},
            {"name": "moved", "where": "begins_with(PK, 'EMAIL#')", "set": {"moved": True}},
            {"name": "copies", "where": "begins_with(PK, 'STATUS#')", "set": {"copied": True}},
            {"name": "gone", "where": "SK = 'ORDER#8'", "delete": True}]})
        self.plan(3, {"steps": [
            {"create_index": {"name": "GSI2", "partition": "copied2:S"}},
            {"name": "index", "where": "copied = true", "set": {"copied2": "x${Total}"}}]})
        real = self.rehearse_and_apply()
        self.assertEqual(real[2, "moved"][1], 20)
        self.assertEqual(real[2, "copies"][1], 180)
        self.assertEqual(real[3, "index"][1], 180)

    def test_a_dry_run_needs_no_right_to_write(self):
        self.load(orders(5))
        self.plan(1, SET_STATUS)
        shutil.rmtree(os.path.join(self.folder, "t.refold-run"), ignore_errors=True)
        before = sorted(os.listdir(self.folder))
        with open(self.table, "rb") as file:
            content = file.read()
        self.command("apply", "--dry-run", expect=4)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        with open(self.table, "rb") as file:
            self.assertEqual(file.read(), content)
        self.assertEqual([plan["state"] for plan in self.reported("status")["plans"]], ["pending"])

    def test_nothing_pending_is_zero(self):
        self.load(orders(1))
        for options in ((), ("--dry-run",)):
            self.assertEqual(self.command("apply", *options)[0], f"nothing to do: there are no plans in {self.plans}\n")
        self.plan(1, SET_STATUS)
        self.command("apply")
        for options in ((), ("--dry-run",)):
            self.assertEqual(self.command("apply", *options)[0], "nothing to do: all plans are applied, the last is 0001 plan\n")

    def test_a_step_that_matches_nothing_is_named(self):
        self.load(orders(2))
        self.plan(1, {"steps": [{"where": 'Status = "open"', "set": {"Seen": True}}, {"where": "Status = 'open'", "set": {"Found": True}},
                                {"pass": "another"}, {"name": "none", "where": "PK = ''", "set": {"Seen": True}}]})
        for options, expect in ((("--dry-run",), 4), ((), 0)):
            out, err = self.command("apply", *options, expect=expect)
            self.assertEqual([line for line in (out + err).splitlines() if "note" in line],
                             ["  note: no item matched steps[0]", "  note: no item matched none"])
        self.assertNotIn("note", self.command("apply", "--sweep")[0])

    def test_a_step_that_was_not_met_or_met_its_items_before_is_not_named(self):
        self.load([item("A", "X", Kind="a"), item("B", "X", Total="n/a")])
        self.plan(1, {"steps": [{"where": "Kind = 'a' AND attribute_not_exists(Seen)", "set": {"Seen": True}},
                                {"where": "attribute_type(Total, 'S')", "set": {"Total": {"N": "${Total}"}}},
                                {"pass": "later"}, {"where": "Seen = true", "set": {"Later": True}}]})
        self.assertNotIn("note", self.command("apply", expect=3)[0])
        self.assertNotIn("note", self.command("apply", "--dry-run", expect=3)[0])
        self.load([item("B", "X", Total="5")], "--on-conflict", "overwrite")
        for options, expect in ((("--dry-run",), 4), ((), 0)):
            self.assertNotIn("note", self.command("apply", *options, expect=expect)[0])

    def test_samples_show_what_differs(self):
        self.load(orders(1))
        self.plan(1, SET_STATUS)
        out, _ = self.command("apply", "--dry-run", expect=4)
        self.assertIn('- Total {"S":"0.5"}', out)
        self.assertIn('+ Total {"N":"0.5"}', out)
        self.assertIn("index GSI1 would hold 9 entries", out)


class Rollback(Runs):
    def apply_three(self):
        self.load(orders(20))
        states = [refold.export(self.table)]
        self.plan(1, SET_STATUS)
        self.plan(2, REKEY)
        self.plan(3, {"steps": [{"drop_index": "GSI1"}, {"where": "SK = 'ORDER#1'", "delete": True},
                                {"where": "SK = 'ORDER#2'", "set": {"GSI1PK": "other"}, "rename": {"Status": "State"}, "remove": ["OrderDate"]},
                                {"where": "SK = 'ORDER#3'", "put": {"PK": "COPY#${PK}", "SK": "x", "all": "${Status}"}}]})
        for version in (1, 2, 3):
            self.command("apply", "--to", version)
            states.append(refold.export(self.table))
        return states

    def test_the_newest_only_without_to(self):
        states = self.apply_three()
        for expected in reversed(states[:-1]):
            self.command("rollback")
            self.assertEqual(refold.export(self.table), expected)
            refold.run("verify", self.table)
        self.assertEqual(self.command("rollback")[0], "nothing to roll back: no plan is applied\n")

    def test_to_takes_back_what_is_above(self):
        states = self.apply_three()
        self.command("rollback", "--to", 1)
        self.assertEqual(refold.export(self.table), states[1])
        self.assertEqual(self.command("rollback", "--to", 1)[0], "nothing to roll back: no plan above 0001 is applied\n")
        self.assertEqual([plan["state"] for plan in self.reported("status")["plans"]], ["applied", "pending", "pending"])
        self.assertEqual(len(refold.query(self.table, "GSI1PK = 'STATUS#open'", "--index", "GSI1")), 60)
        self.command("rollback", "--to", 2, expect=2)
        self.command("rollback", "--to", 0)
        self.assertEqual(refold.export(self.table), states[0])

    def test_dropped_indexes_come_back_filled(self):
        self.apply_three()
        self.assertEqual(self.reported("status")["indexes"], [])
        self.command("rollback")
        index = self.reported("status")["indexes"][0]
        self.assertEqual((index["name"], index["active"], index["entries"]), ("GSI1", True, 180))

    def test_what_was_changed_since_is_left_and_named(self):
        self.load([item("A", "1", v="a"), item("A", "2", v="b")])
        self.plan(1, {"steps": [{"set": {"v": "${v}!", "w": "new"}, "where": "attribute_not_exists(w)"}]})
        self.plan(2, {"steps": [{"set": {"v": "since"}, "where": "SK = '1'"}]})
        self.command("apply")
        status = self.reported("status")
        self.assertEqual(len(status["plans"]), 2)
        self.command("rollback", "--to", 1)
        self.command("rollback")
        self.assertEqual({key: value["v"] for key, value in refold.items(self.table).items()}, {("A", "1"): "a", ("A", "2"): "b"})

    def test_what_an_index_leaves_out_comes_back_too(self):
        self.load([item("A", "1", G=7), item("A", "2", G=7), item("A", "3", G="x")])
        self.plan(1, {"steps": [{"create_index": {"name": "GSI", "partition": "G:S", "on_violation": "leave_out"}}]})
        self.command("apply")
        before = refold.export(self.table)
        self.plan(2, {"steps": [{"where": "SK = '1'", "delete": True}, {"where": "SK = '2'", "set": {"G": "x"}}]})
        self.command("apply")
        self.assertEqual(len(refold.query(self.table, "G = 'x'", "--index", "GSI")), 2)
        self.command("rollback")
        self.assertEqual(refold.export(self.table), before)
        self.assertEqual(len(refold.query(self.table, "G = 'x'", "--index", "GSI")), 1)
        refold.run("verify", self.table)

    def test_reverse_steps_are_used_where_given(self):
        self.load([item("A", "1", v="a"), item("A", "2", v="b")])
        before = refold.items(self.table)
        self.plan(1, {"steps": [{"create_index": {"name": "GSI", "partition": "w:S"}}, {"where": "attribute_not_exists(w)", "set": {"w": "x"}}],
                      "rollback": [{"where": "attribute_exists(w)", "remove": ["w"], "set": {"undone": True}}]})
        self.command("apply")
        self.command("rollback")
        after = refold.items(self.table)
        self.assertEqual(after["A", "1"], {**before["A", "1"], "undone": True})
        self.assertEqual(self.reported("status")["indexes"], [])
        self.assertEqual(self.reported("status")["plans"][0]["state"], "pending")

    def test_a_rolled_back_plan_can_be_applied_again(self):
        states = self.apply_three()
        self.command("rollback", "--to", 0)
        self.command("apply")
        self.assertEqual(refold.export(self.table), states[3])


class Interrupted(Runs):
    def test_a_signal_leaves_a_checkpoint_and_the_same_command_goes_on(self):
        self.load(orders(20000))
        self.plan(1, SET_STATUS)
        whole = os.path.join(self.folder, "whole.refold")
        shutil.copy(self.table, whole)
        self.command("apply", table=whole)
        program = subprocess.Popen([refold.PROGRAM, "apply", self.table, "--plans", self.plans, "--segments", "16"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        state = "pending"
        while state == "pending" and program.poll() is None:
            state = self.reported("status")["plans"][0]["state"]
        self.assertIn(state, ("running", "applied"))
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=60)
        if program.returncode == 5:
            self.assertIn(b"run the same command again", err)
            status = self.reported("status", "--exit-code", expect=4)
            self.assertEqual(status["plans"][0]["state"], "interrupted")
            self.assertTrue(status["next"].startswith("refold apply "))
        self.command("apply", "--segments", 3)
        self.assertEqual(refold.export(self.table), refold.export(whole))
        self.assertEqual([step["written"] for step in self.reported("status")["plans"][0]["record"]["steps"]], [180000, 180000])

    def test_one_run_at_a_time(self):  # RES-3
        self.load(orders(20000))
        self.plan(1, SET_STATUS)
        program = subprocess.Popen([refold.PROGRAM, "apply", self.table, "--plans", self.plans], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            while program.poll() is None and self.reported("status")["owner"] is None:
                pass
            program.send_signal(signal.SIGSTOP)
            if self.reported("status")["owner"] is not None:
                _, err = self.command("apply", expect=1)
                self.assertIn("is being written by", err)
        finally:
            program.send_signal(signal.SIGCONT)
            program.wait(timeout=60)
        self.assertEqual(program.returncode, 0)


class Sweep(Runs):
    def test_a_sweep_meets_what_came_behind_the_cursor(self):
        for version, content in ((1, SET_STATUS), (2, REKEY)):
            self.plan(version, content)
        self.load(orders(4))
        self.command("apply")
        self.load(orders(2, start=4), "--on-conflict", "fail")
        self.assertIn("nothing to do", self.command("apply")[0])
        before = refold.export(self.table)
        out, _ = self.command("apply", "--sweep", "--from", "1", "--dry-run", expect=4)
        self.assertIn("0001 plan: a sweep would write 36", out)
        self.assertIn("0002 plan: a sweep would write 2", out)
        self.assertEqual(refold.export(self.table), before)
        self.assertIn("0002 plan: swept, 2 written in 2 rounds", self.command("apply", "--sweep")[0])
        self.assertIn("0002 plan: a sweep would write 0", self.command("apply", "--sweep", "--dry-run")[0])
        out, _ = self.command("apply", "--sweep", "--from", "1")
        self.assertIn("0001 plan: swept, 36 written in 2 rounds", out)
        self.assertIn("0002 plan: swept, 0 written in 1 round", out)
        self.assertIn("0007 is not applied", self.command("apply", "--sweep", "--from", "7", expect=2)[1])
        swept = refold.export(self.table)
        self.assertEqual(self.reported("apply", "--sweep")["plans"][0]["swept"], 0)
        for _ in range(2):
            self.command("rollback")
        self.assertEqual(len(refold.items(self.table)), 60)
        self.assertNotIn("GSI1PK", refold.export(self.table))
        self.command("apply")
        self.assertEqual(refold.export(self.table), swept)

    def test_a_sweep_is_refused_where_there_is_a_run_to_end(self):
        self.load([item("A", "X", Total="n/a")])
        self.assertIn("nothing to sweep", self.command("apply", "--sweep")[0])
        self.plan(1, {"steps": [{"where": "attribute_type(Total, 'S')", "set": {"Total": {"N": "${Total}"}}}]})
        self.command("apply", expect=3)
        self.assertIn("not applied to its end", self.command("apply", "--sweep", expect=2)[1])
        self.assertIn("not applied to its end", self.command("apply", "--sweep", "--dry-run", expect=2)[1])
        self.assertIn("--from needs --sweep", self.command("apply", "--from", "1", expect=2)[1])


class Imports(Runs):
    """A plan that is applied does not run on what is imported after it."""

    def test_what_plans_have_moved_is_not_imported_beside_it(self):
        self.load(orders(3))
        self.plan(1, {"steps": [{"create_index": {"name": "GSI1", "partition": "GSI1PK:S"}}]})
        self.plan(2, REKEY)
        self.plan(3, {"steps": [{"where": "SK = 'PROFILE'", "set": {"Seen": True}}]})
        self.command("apply")
        before = refold.export(self.table)
        for options in ((), ("--dry-run",)):
            _, err = self.load(orders(3), *options, expect=2)
            self.assertIn(f"plans up to 0003 are applied to {self.table}", err)
            self.assertIn("'refold rollback TABLE --to 1'", err)
            self.assertIn("--on-conflict", err)
        self.assertEqual(refold.export(self.table), before)
        _, err = self.load(orders(3), "--on-conflict", "skip")
        self.assertIn("note: plans up to 0003 are applied", err)
        self.assertIn("--sweep --from 2", err)
        self.assertEqual(len(refold.items(self.table)), 33)

    def test_plans_that_are_taken_back_or_leave_items_alone_are_in_no_way(self):
        self.load(orders(3))
        self.plan(1, {"steps": [{"create_index": {"name": "GSI1", "partition": "GSI1PK:S"}}]})
        self.command("apply")
        self.assertEqual(self.load(orders(4), "--quiet")[1], "")
        self.plan(2, REKEY)
        self.command("apply")
        self.load(orders(5), expect=2)
        self.command("rollback", "--to", "1")
        self.assertEqual(self.load(orders(5), "--quiet")[1], "")
        self.assertEqual(len(refold.items(self.table)), 50)


if __name__ == "__main__":
    unittest.main()
