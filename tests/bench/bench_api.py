#!/usr/bin/env python3
"""Prints refold's speed behind the DynamoDB API as ratios within this one run, against dynoxide on loopback: of the server's
own ceiling, and of what a Python user scripts. Called by scripts/bench api.

  bench_api.py [--peers DIR] [--items N] [part...]      DIR holds boto3_backfill.py, boto3_import.py and update_ceiling.lua

Client and server share the machine's cores, so CPU is what the client's process used, and rates are medians of turns.
"""
import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import ddb_servers  # noqa: E402
import ddb_stub  # noqa: E402
import postgres  # noqa: E402
from usage import Usage  # noqa: E402

REFOLD = os.environ.get("REFOLD", os.path.join(ROOT, "build/release/refold"))
PYTHON = os.path.join(ddb_servers.SERVERS, "python", "bin", "python3")
TURNS = 3
UNSAYABLE = '"GSI1""PK"'  # a name that statements cannot quote: such updates go one by one
SLOW_ITEMS = 2000  # what the scripts of others are measured on
KEYS = {"KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")], "BillingMode": "PAY_PER_REQUEST"}
SOURCE = """
CREATE TABLE orders (order_id bigint PRIMARY KEY, customer_id bigint NOT NULL, status text NOT NULL, total numeric(12,2) NOT NULL,
                     placed date NOT NULL);
INSERT INTO orders SELECT n, n / 5, 'open', n % 100000 / 100.0, date '2026-01-01' + (n % 300)::int FROM generate_series(1, {rows}) AS n;
VACUUM (ANALYZE) orders;
"""
MAP = {"table": {"partition": "PK:S", "sort": "SK:S"},
       "entities": [{"from": "orders", "key": {"PK": "CUSTOMER#${customer_id}", "SK": "ORDER#${placed}#${order_id}"},
                     "columns": {"Status": "status", "Total": "total"}}]}


def run(*command):
    """A command that must succeed."""
    used = Usage(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if used.status != 0:
        sys.exit(f"bench: exit {used.status}: {' '.join(command)}\n{used.out}\n{used.err}")
    return used


def say(what, measured, wanted=""):
    print(f"{what:<64} {measured:>12}   {wanted}", flush=True)


def order(number, hot=False, filler=0):
    """hot: 95 % of all items lie under one partition key."""
    partition = "C#hot" if hot and number % 20 else f"C#{number // 5}"
    item = {"PK": {"S": partition}, "SK": {"S": f"ORDER#{number}"}, "Status": {"S": "open"}, "Total": {"N": str(number % 1000)},
            "Placed": {"S": "2026-01-01"}}
    return {**item, "Filler": {"S": "x" * filler}} if filler else item


class Bench:
    def __init__(self, folder, server, options):
        self.folder, self.server, self.options = folder, server, options
        self.tables = 0

    def make_table(self, items):
        """A table of its own name with the items; returns the name."""
        self.tables += 1
        name = f"bench{self.tables}"
        self.server.call("CreateTable", {"TableName": name, **KEYS})
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
        items = list(items)
        for first in range(0, len(items), 25):
            puts = [{"PutRequest": {"Item": item}} for item in items[first:first + 25]]
            connection.request("POST", "/", json.dumps({"RequestItems": {name: puts}}), ddb_servers.headers("BatchWriteItem"))
            reply = json.loads(connection.getresponse().read())
            assert reply.get("UnprocessedItems") == {}, reply
        connection.close()
        return name

    def drop_table(self, name):
        self.server.call("DeleteTable", {"TableName": name})

    def orders(self, count, **how):
        return self.make_table(order(number, **how) for number in range(count))

    def peer(self, script, *arguments):
        return json.loads(run(PYTHON, os.path.join(self.options.peers, script), *arguments).out)

    def url(self):
        return f"http://127.0.0.1:{self.server.port}"

    def ceiling(self, name, items):
        """Updates a second that wrk gets out of the server."""
        out = run("wrk", "-t1", "-c16", "-d4s", "-s", os.path.join(self.options.peers, "update_ceiling.lua"), self.url(), "--", name,
                  str(items)).out
        return float(re.search(r"Requests/sec:\s*([0-9.]+)", out).group(1))

    def apply(self, name, *options, port=None, attribute="GSI1PK"):
        """One more plan on the table, that changes every item; what it used."""
        plans = os.path.join(self.folder, name)
        os.makedirs(plans, exist_ok=True)
        version = len(os.listdir(plans)) + 1
        step = {"where": "Status = 'open'", "set": {attribute: f"STATUS#{version}#${{Status}}"}}
        with open(os.path.join(plans, f"{version:04d}_set.json"), "w", encoding="utf-8") as out:
            json.dump({"steps": [step]}, out)
        return run(REFOLD, "apply", self.server.table(name, port), "--plans", plans, "--state", os.path.join(self.folder, "state"),
                   "--quiet", *options)


def updates(bench):
    count = bench.options.items
    name = bench.orders(count)
    peer = bench.peer("boto3_backfill.py", bench.url(), bench.orders(SLOW_ITEMS))
    segments = ("--segments", "4")  # as boto3_backfill.py has: each page costs the server some 10 ms, whatever is in it
    turns = [(bench.ceiling(name, count), bench.apply(name, *segments), bench.apply(name, *segments, attribute=UNSAYABLE))
             for _ in range(TURNS)]
    ceiling = statistics.median(top for top, _, _ in turns)
    for top, together, alone in turns:
        print(f"    wrk {top:,.0f}/s   refold as statements {count / together.wall:,.0f}/s, {together.cpu / count * 1e6:.1f} us of CPU an item   "
              f"one by one {count / alone.wall:,.0f}/s, {alone.cpu / count * 1e6:.1f} us", flush=True)
    for what, number in (("one request an item", 2), ("as statements", 1)):
        rate = statistics.median(count / turn[number].wall for turn in turns)
        cpu = statistics.median(turn[number].cpu for turn in turns) / count * 1e6
        say(f"conditional updates, {what}: refold's rate over wrk's", f"{rate / ceiling:.2f}", ">= 0.9")
        say("  client CPU an updated item: boto3's over refold's", f"{peer['client_cpu_us_per_item'] / cpu:.1f}", ">= 25")
    bench.drop_table(name)


def imports(bench):
    rows = bench.options.items
    with postgres.Server() as database:
        database.create_database("bench")
        database.psql("bench", SOURCE.format(rows=rows))
        map_file = os.path.join(bench.folder, "map.json")
        with open(map_file, "w", encoding="utf-8") as out:
            json.dump(MAP, out)
        peers, ours, standing = [], [], []
        for turn in range(TURNS):
            into = bench.make_table([])
            query = "SELECT order_id, customer_id, status, total, placed FROM orders"
            peers.append(bench.peer("boto3_import.py", database.uri("bench"), query, bench.url(), into))
            bench.drop_table(into)
            into = bench.make_table([])
            source = ("--from", database.uri("bench"), "--map", map_file, "--quiet")
            ours.append(run(REFOLD, "import", bench.server.table(f"import{turn}"), *source, "--create"))
            standing.append(run(REFOLD, "import", bench.server.table(into), *source))
            bench.drop_table(f"import{turn}")
            bench.drop_table(into)
            print(f"    boto3 {peers[-1]['items_per_s']:,}/s, {peers[-1]['client_cpu_us_per_item']} us   "
                  f"refold {rows / ours[-1].wall:,.0f}/s, {ours[-1].cpu / rows * 1e6:.1f} us of CPU an item   "
                  f"into an existing table {rows / standing[-1].wall:,.0f}/s, {standing[-1].cpu / rows * 1e6:.1f} us", flush=True)
    cpu = statistics.median(peer["client_cpu_us_per_item"] for peer in peers)
    rate = statistics.median(peer["items_per_s"] for peer in peers)
    say("client CPU an imported item: boto3's over refold's", f"{cpu / statistics.median(one.cpu / rows * 1e6 for one in ours):.1f}", ">= 10")
    say("  into an existing table: CPU over that into a new one",
        f"{statistics.median(one.cpu for one in standing) / statistics.median(one.cpu for one in ours):.1f}", "<= 2")
    say("import: refold's rate over boto3's", f"{statistics.median(rows / one.wall for one in ours) / rate:.1f}")


def memory(bench):
    """Small items make the most of a page of 1 MB."""
    for what, count, how in (("small items", bench.options.items, {"hot": True}), ("8 KB items", 12000, {"filler": 8000})):
        name = bench.orders(count, **how)
        used = bench.apply(name, "--segments", "256", "--workers", "8")
        say(f"peak memory, 256 segments, {what}", f"{used.peak_bytes / 2**20:.0f} MiB", "<= 64 MiB")
        bench.drop_table(name)


def hot(bench):
    count = bench.options.items
    even, uneven = bench.orders(count), bench.orders(count, hot=True)
    turns = [(bench.apply(even).wall, bench.apply(uneven).wall) for _ in range(TURNS)]
    ratio = statistics.median(a for a, _ in turns) / statistics.median(b for _, b in turns)
    say("95 % of items under one partition key: rate over a uniform one's", f"{ratio:.2f}", ">= 0.9")
    bench.drop_table(even)
    bench.drop_table(uneven)


def throttling(bench):
    """A server that grants so many updates a second and refuses the rest."""
    rate, seconds, settled_s = 400, 40, 10
    name = bench.orders(rate * seconds)
    budget, lock, log = ddb_stub.Budget(rate, rate), threading.Lock(), []
    refusal = ddb_stub.throttled("TableWriteProvisionedThroughputExceeded").body

    def take():
        granted = budget.take()
        with lock:
            log.append((time.monotonic(), granted))
        return granted

    def before(operation, body):
        if not ddb_servers.updated(operation, body):
            return None
        if operation == "UpdateItem":
            return None if take() else (400, refusal)
        statements = json.loads(body)["Statements"]
        granted = [take() for _ in statements]
        passed = [statement for statement, fine in zip(statements, granted) if fine]
        reply = bench.server.call(operation, {"Statements": passed, "ReturnConsumedCapacity": "TOTAL"}) if passed else {"Responses": []}
        responses = iter(reply["Responses"])
        reply["Responses"] = [next(responses) if fine else {"Error": {"Code": "ProvisionedThroughputExceeded"}} for fine in granted]
        return 200, json.dumps(reply).encode()

    with ddb_servers.Proxy(bench.server, before=before) as proxy:
        bench.apply(name, port=proxy.port)
    start = log[0][0]
    at = [(when - start, granted) for when, granted in log]
    last = at[-1][0]
    early = sum(granted for when, granted in at if settled_s - 2 <= when < settled_s) / 2
    late = [granted for when, granted in at if settled_s <= when < last - 1]
    say("throttled at a known budget: granted in the 10th second", f"{early / rate:.2f}", ">= 0.9 of it")
    say("  afterwards", f"{sum(late) / (last - 1 - settled_s) / rate:.2f}", ">= 0.9 of it")
    say("  requests throttled afterwards", f"{100 * (1 - sum(late) / len(late)):.2f} %", "< 1 %")


PARTS = {"updates": updates, "imports": imports, "memory": memory, "hot": hot, "throttling": throttling}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default=os.path.join(ROOT, "..", "shared", "peers"))
    parser.add_argument("--items", type=int, default=60_000)
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    options = parser.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    with tempfile.TemporaryDirectory(prefix="refold-bench-") as folder, ddb_servers.Server("dynoxide") as server:
        bench = Bench(folder, server, options)
        for part in options.part or PARTS:
            PARTS[part](bench)


if __name__ == "__main__":
    main()
