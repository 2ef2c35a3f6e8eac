"""Runs tests/integration/ddb_call.c, which sends requests with the program's own client and prints what came of them."""
import json
import os
import subprocess
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.environ.get("TEST_PROGRAMS", os.path.join(ROOT, "build", "dev"))
KEY = {"AWS_ACCESS_KEY_ID": "AKIDSTUB00001234", "AWS_SECRET_ACCESS_KEY": "stub-secret"}


def environment(**variables):
    """The tests' own, without anything of AWS's; no instance endpoint is looked for."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**kept, "HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", **variables}


def start(url, *settings, env=None, region="eu-west-1"):
    command = [os.path.join(FOLDER, "ddb_call"), url, region, *(str(setting) for setting in settings)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment(**KEY) if env is None else env)


def lines_of(requests):
    rows = [request if isinstance(request, tuple) else ("UpdateItem", 0, 0, request) for request in requests]
    return "".join(f"{operation}\t{lane}\t{units}\t{json.dumps(body)}\n" for operation, lane, units, body in rows)


def call(url, requests, *settings, timeout=60, **options):
    """Sends them; returns what became of each, and the last line about all."""
    process = start(url, *settings, **options)
    out, err = process.communicate(lines_of(requests), timeout=timeout)
    if not out or err:
        raise AssertionError(f"exit {process.returncode}, {len(out)} bytes of output\n{err}")
    *replies, end = [json.loads(line) for line in out.splitlines()]
    return replies, end


def first_time(broken):
    """Answers the first attempt of each request, told apart by "n", with `broken(n)`, the others as they should be."""
    seen = set()
    lock = threading.Lock()

    def answer(request):
        n = request.body["n"]
        with lock:
            first = n not in seen
            seen.add(n)
        return broken(n) if first else {"n": n}
    return answer


class Case(unittest.TestCase):
    def check_all(self, replies, **wanted):
        for n, reply in enumerate(replies):
            for name, value in wanted.items():
                self.assertEqual(reply[name], value, f"request {n}: {reply}")
