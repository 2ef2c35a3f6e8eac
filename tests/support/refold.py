"""Runs the program under test, and reads what it prints."""
import json
import os
import re
import subprocess
import threading
import time
from decimal import Decimal

PROGRAM = os.environ.get("REFOLD", os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "refold"))
WAIT_S = 120  # for what must come; a test that passes never waits so long


class Failed(AssertionError):
    """The program ended with another exit status than the test expects."""


def run(*arguments, expect=0, **options):
    """Runs `refold arguments`; returns (stdout, stderr). `expect` is an exit status or several."""
    wanted = (expect,) if isinstance(expect, int) else tuple(expect)
    command = [PROGRAM, *(str(argument) for argument in arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode not in wanted:
        raise Failed(f"exit {done.returncode}, expected {expect}: {' '.join(command)}\n{out[-3000:]}\n{err[-3000:]}")
    return out, err


def wait_until(condition):
    """Until it holds: of what nobody tells when it happens."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.05)


class Started:
    """The program at work; its messages as they come."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        **options)
        self.said = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.said.append(line.decode())
                self.changed.notify_all()
        with self.changed:
            self.said.append("(the end)")
            self.changed.notify_all()

    def wait_for(self, text):
        """Until a message holds the text."""
        with self.changed:
            found = self.changed.wait_for(lambda: text in "".join(self.said) or self.said[-1:] == ["(the end)"], WAIT_S)
        said = "".join(self.said)
        if not found or text not in said:
            self.process.kill()
            raise AssertionError(f"never said {text!r}, but: {said}")

    def peak_bytes(self):
        """The most memory that it has had so far."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))

    def end(self, expect=0):
        out = self.process.stdout.read().decode()
        status = self.process.wait(WAIT_S)
        self.reader.join(WAIT_S)
        self.process.stdout.close()
        self.process.stderr.close()
        if status != expect:
            raise AssertionError(f"exit {status}, expected {expect}: {out} {''.join(self.said)}")
        return out, "".join(self.said)


def plain(value):
    """A DynamoDB JSON value as a Python one: numbers as Decimal, sets as sets, binary as its base64."""
    (kind, content), = value.items()
    if kind == "M":
        return {name: plain(member) for name, member in content.items()}
    if kind == "L":
        return [plain(member) for member in content]
    if kind == "N":
        return Decimal(content)
    if kind == "NS":
        return {Decimal(member) for member in content}
    if kind in ("SS", "BS"):
        return set(content)
    return None if kind == "NULL" else content


def lines(text):
    """The lines of a text that ends with one; str.splitlines() would cut at U+0085 and others too."""
    return text.split("\n")[:-1]


def without_capacity(report):
    """A report as it would be of a table in a file, which has no capacity."""
    return re.sub("  capacity units: .*\n", "", report)


def query(table, condition, *options):
    """The items of a query, in its order, as plain Python values."""
    out, _ = run("query", table, condition, "--format", "json", *options)
    return [plain({"M": json.loads(line)["Item"]}) for line in lines(out)]


def export(table):
    """The whole table as exported text: equal tables, equal text."""
    return run("export", table, "--to", "-")[0]


def items(table):
    """Every item by (PK, SK)."""
    found = [plain({"M": json.loads(line)["Item"]}) for line in lines(export(table))]
    return {(item["PK"], item.get("SK")): item for item in found}
