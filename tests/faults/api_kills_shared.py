#!/usr/bin/env python3
"""Two processes share each run of a table on a server, and are killed, one or both, as a random write of theirs is about to
reach it. In the end the table is what an undisturbed run makes of it, and a rollback takes all of it back.

    REFOLD=build/release/refold python3 tests/faults/api_kills_shared.py [--kills N] [--seed N] [--only SERVER]
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_kills import PLANS, Scene, difference  # noqa: E402

WRITES_MOST = {"dynalite": 120, "dynoxide": 60}  # of one process in one plan, about
TRIES_MOST = 6
KILLED = -9


class Victim:
    """A process that is killed at its write of that number; 0: never."""

    def __init__(self, server, name, words, number):
        self.left, self.lock, self.ready = number, threading.Lock(), threading.Event()
        self.proxy = ddb_servers.Proxy(server, self.before)
        self.proxy.__enter__()
        command = [refold.PROGRAM, words[0], self.proxy.table(name), *words[2:]]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ready.set()

    def before(self, operation, _):
        if operation in ddb_servers.WRITES:
            with self.lock:
                self.left -= 1
                if self.left == 0:
                    self.ready.wait()
                    self.process.kill()
        return None

    def end(self):
        _, err = self.process.communicate()
        self.proxy.__exit__()
        if self.process.returncode not in (0, KILLED):
            sys.exit(f"exit {self.process.returncode}: {err}")
        return self.process.returncode


def apply(server, name, words, rng):
    """Two at a time until one comes to its end; returns how many were killed."""
    kills = 0
    for tries in range(TRIES_MOST + 1):
        numbers = [rng.randrange(WRITES_MOST[server.kind]) if tries < TRIES_MOST else 0 for _ in range(2)]
        victims = [Victim(server, name, [*words, "--workers", str(rng.choice((1, 2, 5)))], number) for number in numbers]
        ends = [victim.end() for victim in victims]
        kills += ends.count(KILLED)
        if 0 in ends:
            break
    return kills


def play(server, scene, rng, name, expected):
    kills = 0
    for words, wanted in zip(scene.commands(name), expected):
        if words[0] == "apply":
            kills += apply(server, name, words, rng)
        else:
            refold.run(*words)
        found = scene.content(name)
        if found != wanted:
            sys.exit(f"{name}: {' '.join(words)}\n{difference(found, wanted)}\nkept: {scene.folder}")
    return kills


def run_server(kind, given):
    folder = tempfile.mkdtemp(prefix="refold-api-kills-shared-")
    rng = random.Random(given.seed)
    begun, kills, rounds = time.monotonic(), 0, 0
    with ddb_servers.Server(kind) as server:
        scene = Scene(folder, kind, server, None)
        expected = []
        for words in scene.commands("Calm"):
            refold.run(*words)
            expected.append(scene.content("Calm"))
        while kills < given.kills:
            rounds += 1
            kills += play(server, scene, rng, f"Killed{rounds}", expected)
    shutil.rmtree(folder)
    print(f"{kind}: {kills} kills of two in {rounds} rounds of {len(PLANS[kind])} plans: nothing lost, nothing done twice "
          f"({time.monotonic() - begun:.0f} s)", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=30, help="on each server")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--only", default="", help="part of a server's name")
    given = options.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    print(f"--seed {given.seed}", flush=True)
    for kind in WRITES_MOST:
        if given.only in kind:
            run_server(kind, given)


if __name__ == "__main__":
    main()
