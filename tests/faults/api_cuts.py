#!/usr/bin/env python3
"""Cuts the connection between refold and a server in the middle of a rekey's exchange: before each request has come to the
server, after it, and in the middle of its reply; and at random bytes either way. No item is lost, none stands twice.

    REFOLD=build/release/refold python3 tests/faults/api_cuts.py [--bytes N] [--seed N] [--only SERVER]

dynoxide has transactions; dynalite has none: there a move's two writes are cut apart. It ends when a request breaks off
within its body, so that what breaks off does not come to it.
"""
import argparse
import json
import os
import random
import shutil
import socket
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402

ITEMS = 3
REKEY = {"steps": [{"where": "begins_with(PK, 'C#')", "rekey": {"PK": "N#${after(PK, '#')}"}, "set": {"Moved": True}}]}
PLACES = ("before", "after", "reply")  # where a request's exchange is cut


class Cutter:
    """A TCP proxy that cuts once. place, number: at that request, counted over all connections; or byte, way: after so many
    bytes that way, "up" or "down"."""

    def __init__(self, server, place=None, number=None, way=None, byte=None):
        self.server, self.place, self.number, self.way, self.byte = server, place, number, way, byte
        self.lock = threading.Lock()
        self.requests = 0
        self.bytes = {"up": 0, "down": 0}
        self.cuts = 0

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self.server.port)) as upstream:
            for end in (client, upstream):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                while self.exchange(client, upstream):
                    pass
            except (OSError, ValueError):
                pass

    def exchange(self, client, upstream):
        request = read_message(client)
        if not request:
            return False
        with self.lock:
            self.requests += 1
            place = self.place if self.requests == self.number else None
        if place == "before":
            return self.cut()
        sent = self.limit("up", request)
        if sent == len(request) or self.server.kind != "dynalite":
            upstream.sendall(request[:sent])
        if sent < len(request):
            return self.cut()
        reply = read_message(upstream)
        if place == "after":
            return self.cut()
        length = len(reply) // 2 if place == "reply" else self.limit("down", reply)
        client.sendall(reply[:length])
        return length == len(reply) or self.cut()

    def limit(self, way, data):
        """How much of it goes through."""
        with self.lock:
            begin = self.bytes[way]
            self.bytes[way] += len(data)
        if way == self.way and begin <= self.byte < begin + len(data):
            return self.byte - begin
        return len(data)

    def cut(self):
        self.cuts += 1
        return False


def read_message(stream):
    """A request or a reply, with its body; empty at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = stream.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    missing = int(fields.get(b"content-length", b"0")) - len(body)
    while missing > 0:
        more = stream.recv(missing)
        if not more:
            raise ValueError("broken off")
        data += more
        missing -= len(more)
    return data


class Scene:
    def __init__(self, server, folder, seed):
        self.server, self.seed, self.number = server, seed, 0
        self.plans = os.path.join(folder, "plans")
        self.state = os.path.join(folder, "state")
        os.mkdir(self.plans)
        with open(os.path.join(self.plans, "0001_rekey.json"), "w", encoding="ascii") as out:
            json.dump(REKEY, out)

    def make_table(self, name):
        self.server.make_table(name)
        for i in range(ITEMS):
            item = {"PK": {"S": f"C#{i}"}, "SK": {"S": "ITEM"}, "Number": {"N": str(i)}, "Tags": {"SS": ["b", "a"]}}
            self.server.call("PutItem", {"TableName": name, "Item": item})

    def run(self, **cut):
        """A rekey of a table of its own through the cutter; it must come to its end."""
        self.number += 1
        name = f"Cut{self.number}"
        self.make_table(name)
        with Cutter(self.server, **cut) as cutter:
            refold.run("apply", self.server.table(name, cutter.port), "--plans", self.plans, "--segments", "1", "--workers", "1",
                       "--state", self.state + name)
        found = refold.items(self.server.table(name))
        wanted = {(f"N#{i}", "ITEM"): i for i in range(ITEMS)}
        standing = {key: int(item["Number"]) for key, item in found.items() if item.get("Moved")}
        if standing != wanted or len(found) != ITEMS:
            sys.exit(f"{self.server.kind}, --seed {self.seed}, cut {cut}: {sorted(found)}")
        return cutter


def check_cuts(server, given):
    folder = tempfile.mkdtemp(prefix="refold-cuts-")
    rng = random.Random(given.seed)
    scene = Scene(server, folder, given.seed)
    whole = scene.run()
    cuts = sum(scene.run(place=place, number=number).cuts for number in range(1, whole.requests + 1) for place in PLACES)
    for _ in range(given.bytes):
        way = rng.choice(("up", "down"))
        cuts += scene.run(way=way, byte=rng.randrange(whole.bytes[way])).cuts
    shutil.rmtree(folder)
    print(f"{server.kind}: {cuts} cuts in {whole.requests} requests' exchange: nothing lost, nothing twice", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--bytes", type=int, default=50, help="cuts at random bytes, a server")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="")
    given = options.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    for kind in ("dynoxide", "dynalite"):
        if given.only in kind:
            with ddb_servers.Server(kind) as server:
                check_cuts(server, given)


if __name__ == "__main__":
    main()
