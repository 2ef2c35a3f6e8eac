#!/usr/bin/env python3
"""Compares number_lines (the first argument) with Python's decimal on random numbers."""
import random
import subprocess
import sys
from decimal import Decimal, localcontext

CASES = 20000
DIGITS_MAX, EXPONENT_MIN, EXPONENT_MAX = 38, -130, 125


def spell(rng):
    """A number in some spelling, most of them one that can be held."""
    count = rng.choice([1, 1, 2, 3, 5, 9, 18, 19, 37, 38, 39])
    digits = "".join(rng.choices("0123456789", k=count))
    if rng.random() < 0.4:
        digits = digits[0] + "0" * (len(digits) - 2) + digits[-1] * (len(digits) > 1)
    if rng.random() < 0.3:
        digits = "9" * len(digits)
    at = rng.randint(0, len(digits))
    text = rng.choice(["", "", "-", "+"]) + digits[:at] + rng.choice(["", "."]) + digits[at:]
    if rng.random() < 0.3:
        exponent = rng.choice([0, 1, -1, 2, -3, 7, -9, -20, 60, 125, 126, -130, -131])
        text += rng.choice("eE") + (rng.choice(["", "+"]) if exponent >= 0 else "") + str(exponent)
    return text


def held(value):
    """Plain canonical digits, or "error" where DynamoDB holds no such number."""
    if value == 0:
        return "0"
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    if len(digits) > DIGITS_MAX or not EXPONENT_MIN <= value.adjusted() <= EXPONENT_MAX:
        return "error"
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text


def expect(op, a, b):
    a, b = Decimal(a), Decimal(b)
    if "error" in (held(a), held(b)):
        return "error"
    if op == "?":
        return str((a > b) - (a < b))
    return held({"+": a + b, "-": a - b, "*": a * b, "=": a}[op])


def main():
    rng = random.Random(20240517)
    cases = []
    for _ in range(CASES):
        a = spell(rng)
        near = rng.random() < 0.1 and "e" not in a.lower()
        b = a + rng.choice(["0", "1", ""]) if near else spell(rng)
        cases.append((rng.choice("+-*?="), a, b))
    lines = "".join(" ".join(case) + "\n" for case in cases)
    out = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True)
    results = out.stdout.splitlines()
    if len(results) != CASES:
        sys.exit(f"{len(results)} results for {CASES} cases")
    with localcontext() as context:
        context.prec = 1000
        for case, result in zip(cases, results):
            if result != expect(*case):
                sys.exit(f"{' '.join(case)}: {result}, not {expect(*case)}")
    errors = results.count("error")
    if not CASES // 20 < errors < CASES // 2:
        sys.exit(f"{errors} errors in {CASES} cases: they test too little")


main()
