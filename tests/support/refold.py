"""Runs the program under test, and reads what it prints."""
import json
import os
import re
import subprocess
from decimal import Decimal

PROGRAM = os.environ.get("REFOLD", os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "refold"))


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
