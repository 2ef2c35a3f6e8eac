#!/usr/bin/env python3
"""A full disk: a clear error, nothing lost, and the same command goes on once there is room.
Needs the right to mount a small tmpfs (root, as in CI); says so and fails otherwise."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import refold  # noqa: E402

ITEMS = 20000


def noise(n):
    """Text that does not compress."""
    return "".join(hashlib.sha256(f"{n}.{part}".encode()).hexdigest() for part in range(3))


class SmallDisk:
    """A tmpfs of some MiB at a temporary folder; grow() makes room."""

    def __init__(self, mib):
        self.folder = tempfile.mkdtemp(prefix="refold-full-")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", self.folder], check=True)

    def grow(self, mib):
        subprocess.run(["mount", "-o", f"remount,size={mib}m", self.folder], check=True)

    def close(self):
        subprocess.run(["umount", "-l", self.folder], check=True)
        os.rmdir(self.folder)


class DiskFull(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="refold-work-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.source = os.path.join(self.work, "in.jsonl")
        with open(self.source, "w", encoding="ascii") as file:
            for n in range(ITEMS):
                file.write(json.dumps({"Item": {"PK": {"S": f"k{n:06}"}, "SK": {"S": "A"}, "V": {"S": noise(n)}}}) + "\n")
        self.plans = os.path.join(self.work, "plans")
        os.mkdir(self.plans)
        self.plan(1, {"where": "attribute_not_exists(W)", "set": {"W": "${V}${V}", "G": "g", "H": "${PK}"}})
        self.plan(2, {"where": "begins_with(PK, 'k')", "rekey": {"PK": "n${substring(PK, 2, 99)}"}})
        self.plan(3, {"create_index": {"name": "ByG", "partition": "G:S", "sort": "H:S"}})
        self.whole = os.path.join(self.work, "whole.refold")
        refold.run("import", self.whole, "--from", self.source)
        self.imported = refold.export(self.whole)
        self.size = os.path.getsize(self.whole)
        refold.run("apply", self.whole, "--plans", self.plans)
        self.applied = refold.export(self.whole)

    def plan(self, version, step):
        with open(os.path.join(self.plans, f"{version:04}_p.json"), "w", encoding="ascii") as file:
            json.dump({"steps": [step]}, file)

    def disk(self, mib):
        disk = SmallDisk(mib)
        self.addCleanup(disk.close)
        return disk, os.path.join(disk.folder, "table.refold")

    def test_import_says_so_and_goes_on(self):
        disk, table = self.disk(4)
        _, err = refold.run("import", table, "--from", self.source, "--temp", self.work, expect=1)
        self.assertRegex(err, "(?i)space|room")
        disk.grow(256)
        refold.run("import", table, "--from", self.source, "--temp", self.work)
        self.assertEqual(refold.export(table), self.imported)
        refold.run("verify", table)

    def test_apply_says_so_and_goes_on(self):
        start = os.path.join(self.work, "start.refold")
        refold.run("import", start, "--from", self.source)
        whole = os.path.getsize(self.whole) // 2**20
        failures = 0
        for mib in range(self.size // 2**20 + 2, whole + 12, 3):
            disk, table = self.disk(mib)
            shutil.copyfile(start, table)
            _, err = refold.run("apply", table, "--plans", self.plans, "--temp", self.work, expect=(0, 1))
            if err and "hint" in err.lower() or "space" in err.lower() or "room" in err.lower():
                failures += 1
            refold.run("verify", table, expect=(0, 3))
            disk.grow(512)
            refold.run("apply", table, "--plans", self.plans, "--temp", self.work)
            self.assertEqual(refold.export(table), self.applied)
            refold.run("verify", table)
        self.assertGreater(failures, 2, "no size was too small: the test proves nothing")

    def test_sorted_runs_without_room(self):
        disk, _ = self.disk(1)
        table = os.path.join(self.work, "runs.refold")
        _, err = refold.run("import", table, "--from", self.source, "--temp", disk.folder, "--memory", "4", expect=1)
        self.assertRegex(err, "(?i)space|room")
        refold.run("import", table, "--from", self.source)
        self.assertEqual(refold.export(table), self.imported)


if __name__ == "__main__":
    unittest.main()
