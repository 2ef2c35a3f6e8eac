#!/usr/bin/env python3
"""Public fault reports of tools of this kind, replayed on the embedded table: none may happen here."""
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import refold  # noqa: E402


class Case(unittest.TestCase):
    """A temporary folder, and short words for what every case does."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-case-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.table = self.path("table.refold")
        self.plans = self.path("plans")
        os.mkdir(self.plans)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return self.path(name)

    def lines(self, name, *items):
        """A JSON lines file of items in DynamoDB JSON."""
        return self.write(name, "".join(json.dumps({"Item": item}, ensure_ascii=True) + "\n" for item in items))

    def load(self, *items, options=(), expect=0):
        return refold.run("import", self.table, "--from", self.lines("in.jsonl", *items), *options, expect=expect)

    def plan(self, version, *steps):
        return self.write(f"plans/{version:04}_plan.json", json.dumps({"steps": list(steps)}))

    def apply(self, *options, expect=0):
        return refold.run("apply", self.table, "--plans", self.plans, *options, expect=expect)

    def raw(self):
        """Exported items in DynamoDB JSON."""
        return [json.loads(line)["Item"] for line in refold.export(self.table).splitlines()]


def item(pk, sk="A", **attributes):
    return {"PK": {"S": pk}, "SK": {"S": sk}, **attributes}


class Values(Case):
    def test_sets_have_no_order(self):
        """DV-1"""
        def sets(*orders):
            s, n, b = orders
            one = {"SS": s}, {"NS": n}, {"BS": b}
            return {"Ss": one[0], "Ns": one[1], "Bs": one[2], "Deep": {"L": [{"M": {"Ss": one[0], "Ns": one[1]}}]}}
        first = sets(["a", "b", "c"], ["1", "20", "3"], ["AQ==", "Ag=="])
        second = sets(["c", "a", "b"], ["3", "2E1", "1.0"], ["Ag==", "AQ=="])
        self.load(item("1", **first))
        before = refold.export(self.table)
        refold.run("import", self.table, "--from", self.lines("again.jsonl", item("1", **second)))
        self.assertEqual(refold.export(self.table), before)
        self.plan(1, {"where": "Ss = <<'c', 'b', 'a'>> AND Ns = <<3, 20, 1>>", "set": {"Same": True}})
        self.apply()
        self.assertEqual(self.raw()[0]["Same"], {"BOOL": True})

    def test_lists_keep_their_order(self):
        """DV-1"""
        self.load(item("1", L={"L": [{"S": "b"}, {"S": "a"}]}))
        out, err = refold.run("import", self.table, "--from", self.lines("again.jsonl", item("1", L={"L": [{"S": "a"}, {"S": "b"}]})), expect=1)
        self.assertIn("PK='1'", out + err)

    def test_binary_is_the_same_at_every_depth(self):
        """DV-3"""
        data = {"B": base64.b64encode(b"\x01\x00\xff").decode()}
        self.load(item("1", B=data, M={"M": {"B": data}}, L={"L": [data]}, ML={"L": [{"M": {"B": data}}]}, Bs={"BS": [data["B"]]}))
        first = refold.export(self.table)
        second = self.path("second.refold")
        refold.run("export", self.table, "--to", self.path("out.jsonl"))
        refold.run("import", second, "--from", self.path("out.jsonl"))
        self.assertEqual(refold.export(second), first)
        self.assertEqual(json.loads(first)["Item"]["ML"], {"L": [{"M": {"B": data}}]})

    def test_bad_base64_names_file_and_line(self):
        """DV-3"""
        for text in ("AQ", "AQ=", "A$==", "AR==", "AQ==AQ=="):
            out, err = self.load(item("1"), item("2", B={"B": text}), expect=(1, 3))
            self.assertIn("in.jsonl:2", out + err, text)
            self.assertFalse(os.path.exists(self.table) and refold.run("status", self.table, expect=(0, 1))[0].count("items: 2"))

    def test_nul_is_a_character(self):
        """DV-4"""
        self.load(item("p", "a\0x", V={"S": "v\0w"}, **{"n\0ame": {"S": "1"}}), item("p", "a\0y", V={"S": "v\0"}))
        self.plan(1, {"set": {"Added": "${V}"}})
        self.plan(2, {"where": "NOT begins_with(SK, 'new#')", "rekey": {"SK": "new#${SK}"}})
        self.apply()
        found = self.raw()
        self.assertEqual([i["SK"]["S"] for i in found], ["new#a\0x", "new#a\0y"])
        self.assertEqual(found[0]["n\0ame"], {"S": "1"})
        self.assertEqual([i["Added"]["S"] for i in found], ["v\0w", "v\0"])

    def test_attributes_survive_whatever_others_have(self):
        """IMP-2"""
        items = [item(f"{n:04}", V={"S": "x"}) for n in range(1000)]
        items.append(item("odd1", V={"M": {"deep": {"N": "1"}}}))
        items.append(item("odd2", V={"N": "12345678901234567890123456789012345678"}))
        items.append(item("odd3", V={"NS": ["1", "2"]}))
        self.load(*items)
        self.plan(1, {"rekey": {"PK": "new#${after(PK, 'o')}"}, "where": "begins_with(PK, 'odd')"})
        self.apply()
        found = {i["PK"]["S"]: i["V"] for i in self.raw()}
        self.assertEqual(found["new#dd1"], {"M": {"deep": {"N": "1"}}})
        self.assertEqual(found["new#dd2"], {"N": "12345678901234567890123456789012345678"})
        self.assertEqual(sorted(found["new#dd3"]["NS"]), ["1", "2"])

    def test_odd_names_are_names(self):
        """R-6"""
        self.load(item("1", **{"a.b": {"S": "dot"}, "with space": {"S": "s"}, "dash-ed": {"S": "d"}, "order": {"N": "1"}}))
        self.plan(1, {"set": {"\"a.b\"": "${\"a.b\"}!", "\"new-name\"": "${\"with space\"}"}, "where": "attribute_not_exists(\"new-name\")"})
        self.apply()
        self.assertEqual(self.raw()[0]["a.b"], {"S": "dot!"})
        self.assertEqual(self.raw()[0]["new-name"], {"S": "s"})


class Keys(Case):
    def numbered(self, *spelled):
        return [{"PK": {"N": n}, "SK": {"S": "A"}, "At": {"N": str(i)}} for i, n in enumerate(spelled)]

    def test_one_number_is_one_key(self):
        """KEY-1"""
        for spelled in (("1000", "1e3"), ("1000", "+1000"), ("1000.0", "1000"), ("0", "-0"), ("00042", "42"), ("1.5E2", "150")):
            out, err = self.load(*self.numbered(*spelled), options=("--partition", "PK:N", "--sort", "SK:S"), expect=1)
            self.assertRegex(out + err, r"in\.jsonl.*1.*2", spelled)
        self.load(*self.numbered("1e3", "-0"), options=("--partition", "PK:N", "--sort", "SK:S"))
        self.assertEqual(sorted(i["PK"]["N"] for i in self.raw()), ["0", "1000"])
        self.assertEqual(len(refold.query(self.table, "PK = 1000.00")), 1)

    def test_long_keys_stay_apart_and_in_order(self):
        """KEY-2"""
        pk = ["p" * 1900 + end * 100 for end in "ab"]
        sk = ["s" * 1023 + chr(ord("a") + n) for n in range(20)]
        items = [item(p, s, GSI1PK={"S": p}, GSI1SK={"S": s}) for p in pk for s in reversed(sk)]
        self.load(*items)
        self.plan(1, {"create_index": {"name": "GSI1", "partition": "GSI1PK:S", "sort": "GSI1SK:S"}})
        self.apply()
        for p in pk:
            self.assertEqual([i["SK"] for i in refold.query(self.table, f"PK = '{p}'")], sk)
            self.assertEqual([i["SK"] for i in refold.query(self.table, f"GSI1PK = '{p}'", "--index", "GSI1")], sk)
            part = refold.query(self.table, f"PK = '{p}' AND SK > '{sk[10]}'")
            self.assertEqual([i["SK"] for i in part], sk[11:])
        self.plan(2, {"where": "attribute_not_exists(Moved)", "rekey": {"SK": "t${substring(SK, 2, 1023)}"}, "set": {"Moved": True}})
        self.apply()
        for p in pk:
            self.assertEqual([i["SK"] for i in refold.query(self.table, f"PK = '{p}'")], ["t" + s[1:] for s in sk])
        refold.run("verify", self.table)

    def test_keys_over_the_limit_are_refused_by_name(self):
        """KEY-2"""
        for bad in (item("p" * 2049), item("p", "s" * 1025), item(""), item("p", "")):
            out, err = self.load(bad, expect=(1, 3))
            self.assertRegex(out + err, r"in\.jsonl:1.*(PK|SK)")

    def test_binary_keys_order_as_unsigned_bytes(self):
        """R-2"""
        keys = [b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]
        rows = [{"PK": {"S": "p"}, "SK": {"B": base64.b64encode(k).decode()}} for k in reversed(keys)]
        self.load(*rows, options=("--partition", "PK:S", "--sort", "SK:B"))
        found = refold.query(self.table, "PK = 'p'")
        self.assertEqual([base64.b64decode(i["SK"]) for i in found], keys)

    def test_items_may_have_400_kb_and_no_more(self):
        """R-7: names count."""
        full = 409600 - len("PK" "1" "SK" "A" "V")
        self.load(item("1", V={"S": "x" * full}))
        other = self.path("other.refold")
        _, err = refold.run("import", other, "--from", self.lines("big.jsonl", item("1", V={"S": "x" * (full + 1)})), expect=(1, 3))
        self.assertIn("big.jsonl:1", err)


class Plans(Case):
    def test_meaning_counts_not_spelling(self):
        """RES-4"""
        self.load(item("1"))
        text = '{ "description": "d",\n  "steps": [\n  { "where": "PK = \'1\'", "set": { "A": 1, "B": "x" } } ] }\n'
        path = self.write("plans/0001_p.json", text)
        self.apply()
        same = (text.replace("\n", "\r\n"), "\ufeff" + text, text.rstrip(), text.replace("  ", "\t"), text.replace(' "A": 1, "B": "x" ', '"B":"x","A":1.0'),
                text.replace("d\"", "another description\""), "// comment\n" + text)
        for spelled in same:
            self.write("plans/0001_p.json", spelled)
            self.assertIn("nothing to do", "".join(self.apply()))
            refold.run("status", self.table, "--plans", self.plans, "--exit-code")
        self.write("plans/0001_p.json", text.replace('"x"', '"y"'))
        said = "".join(self.apply(expect=2))
        self.assertEqual(len(set(re.findall("1:[0-9a-f]{8,64}", said))), 2, said)
        self.assertIn(os.path.basename(path), said)

    def test_versions_are_numbers(self):
        """R-11"""
        self.load(item("1"))
        for version in (2, 11):
            self.write(f"plans/{version}_p.json", json.dumps({"steps": [{"set": {"Last": version, f"V{version}": True}, "where": f"attribute_not_exists(V{version})"}]}))
        self.apply()
        self.assertEqual(self.raw()[0]["Last"], {"N": "11"})
        self.write("plans/7_late.json", json.dumps({"steps": [{"set": {"X": 1}}]}))
        said = "".join(self.apply(expect=2))
        self.assertIn("7_late.json", said)

    def test_key_onto_itself_is_no_move(self):
        """TX-1"""
        self.load(item("low"), item("UP"))
        self.plan(1, {"rekey": {"PK": "${lower(PK)}"}})
        self.apply()
        self.assertEqual([i["PK"]["S"] for i in sorted(self.raw(), key=str)], ["low", "up"])
        before = refold.export(self.table)
        self.plan(2, {"rekey": {"PK": "${lower(PK)}"}, "remove": ["Nothing"]})
        self.apply()
        self.assertEqual(refold.export(self.table), before)

    def test_number_key_onto_its_value_is_no_move(self):
        """TX-1"""
        self.load({"PK": {"N": "7.0"}, "SK": {"S": "A"}}, options=("--partition", "PK:N", "--sort", "SK:S"))
        self.plan(1, {"rekey": {"PK": "${PK + 0}"}})
        self.apply()
        self.assertEqual([i["PK"]["N"] for i in self.raw()], ["7"])

    def collide(self, policy, expect):
        items = [item(f"User#{n}", V={"S": "upper"}) for n in range(50)] + [item(f"user#{n}", V={"S": "lower"}) for n in range(0, 50, 5)]
        self.load(*items)
        step = {"where": "begins_with(PK, 'User#')", "rekey": {"PK": "user#${after(PK, '#')}"}}
        if policy:
            step["on_collision"] = policy
        self.plan(1, step)
        dry = self.apply("--dry-run", expect=(3, 4))[0]
        texts = self.apply(expect=expect)
        return {i["PK"]["S"]: i["V"]["S"] for i in self.raw()}, dry, "".join(texts)

    def test_collision_is_never_silent(self):
        """TX-2"""
        found, dry, text = self.collide(None, 3)
        self.assertEqual(len(found), 60)
        for n in range(0, 50, 5):
            self.assertEqual((found[f"User#{n}"], found[f"user#{n}"]), ("upper", "lower"))
        self.assertEqual(found["user#1"], "upper")
        self.assertRegex(text, "User#")
        self.assertRegex(dry, "User#")

    def test_collision_skip_keeps_both(self):
        """TX-2"""
        found, _, _ = self.collide("skip", 0)
        self.assertEqual(len(found), 60)
        self.assertEqual(found["User#0"], "upper")

    def test_collision_overwrite_is_undone_by_rollback(self):
        """TX-2"""
        found, _, _ = self.collide("overwrite", 0)
        self.assertEqual(len(found), 50)
        self.assertEqual(set(found.values()), {"upper"})
        refold.run("rollback", self.table, "--plans", self.plans)
        found = {i["PK"]["S"]: i["V"]["S"] for i in self.raw()}
        self.assertEqual(len(found), 60)
        self.assertEqual(found["user#0"], "lower")
        refold.run("verify", self.table)

    def test_two_sources_for_one_key(self):
        """TX-2: neither is favoured, wherever they lie."""
        self.load(item("A#1", V={"N": "1"}), item("B#1", V={"N": "2"}), item("A#2", V={"N": "3"}))
        self.plan(1, {"where": "contains(PK, '#')", "rekey": {"PK": "new-${after(PK, '#')}"}})
        said = "".join(self.apply(expect=3))
        self.assertEqual(sorted(i["PK"]["S"] for i in self.raw()), ["A#1", "B#1", "new-2"])
        self.assertRegex(said, "A#1|B#1")

    def test_missing_source_leaves_the_attribute_out(self):
        """GSI-1: never an empty string, never the text of nothing."""
        self.load(item("1", Mail={"S": "a@b"}), item("2"))
        self.plan(1, {"create_index": {"name": "GSI1", "partition": "GSI1PK:S"}}, {"where": "attribute_exists(Mail)", "set": {"GSI1PK": "EMAIL#${Mail}"}})
        self.apply()
        self.assertEqual([i["PK"] for i in refold.query(self.table, "GSI1PK = 'EMAIL#a@b'", "--index", "GSI1")], ["1"])
        self.plan(2, {"where": "attribute_not_exists(Tag)", "set": {"Tag": "X#${Mail}"}})
        said = "".join(self.apply(expect=3))
        self.assertIn("PK='2'", said)
        self.assertNotIn("Tag", [i for i in self.raw() if i["PK"]["S"] == "2"][0])

    def test_bad_index_keys_are_item_errors(self):
        """GSI-1"""
        bad = {"empty": {"S": ""}, "list": {"L": []}, "null": {"NULL": True}, "long": {"S": "x" * 2049}}
        items = [item(name, Source=value) for name, value in bad.items()] + [item(f"good{n}", Source={"S": f"v{n}"}) for n in range(30)]
        self.load(*items)
        self.plan(1, {"create_index": {"name": "GSI1", "partition": "GSI1PK:S"}}, {"where": "attribute_not_exists(GSI1PK)", "set": {"GSI1PK": "${Source}"}})
        dry = self.apply("--dry-run", expect=3)[0]
        said = "".join(self.apply(expect=3))
        for name in bad:
            self.assertIn(f"PK='{name}'", dry)
            self.assertIn(f"PK='{name}'", said)
        found = {i["PK"]["S"]: i for i in self.raw()}
        self.assertEqual(sum("GSI1PK" in i for i in found.values()), 30)

    def test_index_over_bad_items_is_refused_before_it_is_made(self):
        """GSI-1"""
        self.load(item("1", K={"S": "ok"}), item("2", K={"N": "5"}), item("3"))
        self.plan(1, {"create_index": {"name": "ByK", "partition": "K:S"}})
        said = "".join(self.apply(expect=3))
        self.assertIn("PK='2'", said)
        self.assertNotIn("ByK", refold.run("show", self.table)[0])

    def test_leave_out_makes_the_index_without_them(self):
        """GSI-1"""
        self.load(item("1", K={"S": "ok"}), item("2", K={"N": "5"}), item("3"))
        self.plan(1, {"create_index": {"name": "ByK", "partition": "K:S"}, "on_violation": "leave_out"})
        self.apply()
        self.assertEqual([i["PK"] for i in refold.query(self.table, "K = 'ok'", "--index", "ByK")], ["1"])

    def test_multi_part_index_keys(self):
        """Up to four attributes each (GSI multi-attribute keys)."""
        self.load(*[item(f"{n}", T={"S": f"t{n % 2}"}, R={"N": str(n % 3)}, D={"S": f"d{n:02}"}) for n in range(12)])
        self.plan(1, {"create_index": {"name": "Multi", "partition": ["T:S", "R:N"], "sort": ["D:S"]}})
        self.apply()
        found = refold.query(self.table, "T = 't1' AND R = 0 AND D >= 'd04'", "--index", "Multi")
        self.assertEqual([i["PK"] for i in found], ["9"])
        refold.run("query", self.table, "T = 't1'", "--index", "Multi", expect=2)


class Runs(Case):
    def test_exit_codes_tell(self):
        """CLI-1"""
        self.load(*[item(f"{n}", V={"S": "bad" if n == 7 else str(n)}) for n in range(1000)])
        refold.run("apply", self.table, "--plans", self.plans)
        self.plan(1, {"where": "attribute_type(V, 'S')", "set": {"V": {"N": "${V}"}}})
        self.apply("--dry-run", expect=3)
        refold.run("status", self.table, "--plans", self.plans, "--exit-code", expect=4)
        said = "".join(self.apply(expect=3))
        self.assertIn("PK='7'", said)
        refold.run("status", self.table, "--plans", self.plans, "--exit-code", expect=3)
        self.assertEqual(sum("N" in i["V"] for i in self.raw()), 999)
        refold.run("nonsense", expect=2)
        refold.run("apply", self.path("none.refold"), "--plans", self.plans, expect=1)
        report = json.loads(self.apply("--format", "json", expect=3)[0])
        self.assertTrue(report)

    def test_closed_pipe_and_full_disk_are_failures(self):
        """CLI-1"""
        self.load(*[item(f"{n}", V={"S": "x" * 200}) for n in range(5000)])
        command = f"'{refold.PROGRAM}' export '{self.table}' --to -"
        done = subprocess.run(["bash", "-c", f"{command} | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        self.assertEqual(done.stdout.strip(), b"1")
        done = subprocess.run(["bash", "-c", f"{command} >/dev/full"], stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)

    def start(self, *arguments):
        return subprocess.Popen([refold.PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def busy_table(self):
        self.load(*[item(f"{n:06}", V={"S": "x" * 300}) for n in range(60000)])
        self.plan(1, {"where": "attribute_not_exists(W)", "set": {"W": "${upper(V)}#${hash(V)}#${hash(PK)}"}})

    def start_paused(self):
        """A run that holds the lease and has written nothing."""
        control = self.write("control", "pause")
        run = self.start("apply", self.table, "--plans", self.plans, "--control", control)
        self.assertIn(b"paused", run.stderr.readline())
        return run

    def test_a_dead_owner_blocks_nobody_a_live_one_does(self):
        """RES-3"""
        self.busy_table()
        first = self.start_paused()
        first.send_signal(signal.SIGSTOP)
        said = "".join(self.apply(expect=1))
        self.assertIn(str(first.pid), said)
        first.kill()
        first.communicate()
        self.apply()
        self.assertEqual(sum("W" in i for i in self.raw()), 60000)

    def test_ctrl_c_stops_with_a_checkpoint(self):
        """CLI-1: exit 5, and the same command goes on."""
        self.busy_table()
        first = self.start_paused()
        first.send_signal(signal.SIGINT)
        _, err = first.communicate()
        self.assertEqual(first.returncode, 5, err)
        self.assertIn(b"again", err)
        self.apply()
        refold.run("verify", self.table)
        self.assertEqual(sum("W" in i for i in self.raw()), 60000)

    def test_readers_see_whole_commits(self):
        """A second process that queries while a plan runs sees an item before or after, never between."""
        self.busy_table()
        self.plan(2, {"create_index": {"name": "ByV", "partition": "G:S", "sort": "H:S"}}, {"where": "attribute_not_exists(G)", "set": {"G": "all", "H": "${PK}"}})
        first = self.start("apply", self.table, "--plans", self.plans)
        seen = 0
        while first.poll() is None:
            for found in refold.query(self.table, "PK = '000007'"):
                self.assertTrue("W" not in found or len(found["W"]) == 300 + 2 + 128)
                self.assertEqual("G" in found, "H" in found)
                seen += 1
        first.communicate()
        self.assertEqual(first.returncode, 0)
        self.assertGreater(seen, 0)

    def test_damage_is_an_error_never_a_crash(self):
        """RES-1: cut short, emptied, overwritten, flipped."""
        self.load(*[item(f"{n}", V={"S": "x" * 100}) for n in range(500)])
        with open(self.table, "rb") as file:
            good = file.read()
        broken = self.path("broken.refold")
        samples = [b"", good[:100], good[:4096], good[:len(good) // 2], b"garbage" * 1000, bytes(len(good))]
        step = max(1, len(good) // 60)
        for at in range(0, len(good), step):
            flipped = bytearray(good)
            flipped[at] ^= 0xFF
            samples.append(bytes(flipped))
        for number, sample in enumerate(samples):
            for command in (("verify",), ("export", "--to", "-"), ("status",)):
                for suffix in ("", "-lock", "-run"):
                    if os.path.exists(broken + suffix):
                        os.unlink(broken + suffix)
                with open(broken, "wb") as file:
                    file.write(sample)
                out, err = refold.run(command[0], broken, *command[1:], expect=(0, 1, 2, 3))
                if number < 6:
                    self.assertIn("broken.refold", out + err)

    def test_a_table_whose_making_was_killed_is_made(self):
        """The file is there, and nothing in it: the same command makes the table."""
        self.write("table.refold", "")
        refold.run("status", self.table, expect=1)
        self.load(item("1"))
        self.assertEqual(len(self.raw()), 1)

    def test_a_damaged_page_never_shortens_an_export(self):
        """Larger than what is checked at each opening: the pages are checked before a scan trusts them."""
        self.load(*[item(f"{n:06}", V={"S": "x" * 1000}) for n in range(40000)])
        size = os.path.getsize(self.table)
        self.assertGreater(size, 32 << 20)
        whole, noticed = hash(refold.export(self.table)), 0
        for page in range(2, size // 4096, size // 4096 // 8):
            with open(self.table, "r+b") as file:
                file.seek(page * 4096)
                good = file.read(4096)
                file.seek(page * 4096)
                file.write(os.urandom(4096))
            out, err = refold.run("export", self.table, "--to", "-", expect=(0, 1))
            noticed += "damaged" in err
            self.assertTrue("damaged" in err or hash(out) == whole, page)
            with open(self.table, "r+b") as file:
                file.seek(page * 4096)
                file.write(good)
        self.assertGreater(noticed, 0)
        self.assertEqual(hash(refold.export(self.table)), whole)

    def test_read_only_file_is_said(self):
        self.load(item("1"))
        self.plan(1, {"set": {"A": 1}})
        for name in os.listdir(self.folder):
            if name.startswith("table.refold"):
                os.chmod(self.path(name), 0o444)
        os.chmod(self.folder, 0o755)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
            prefix = ["setpriv", "--reuid=nobody", "--clear-groups"]
        else:
            prefix = []
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        done = subprocess.run([*prefix, refold.PROGRAM, "apply", self.table, "--plans", self.plans], stderr=subprocess.PIPE, stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(b"table.refold", done.stderr)
        done = subprocess.run([*prefix, refold.PROGRAM, "apply", self.table, "--plans", self.plans, "--dry-run"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 4, done)


if __name__ == "__main__":
    unittest.main()
