#!/usr/bin/env python3
"""Writers change, delete and create items of a table on a server while plans run over it: no update is lost, nothing
deleted comes back, nothing stands twice; and once they have stopped and `apply --sweep` has run, each item is what the
plan makes of its last state.

    REFOLD=build/release/refold python3 tests/faults/api_live_writers.py [--operations N] [--seed N] [--only NAME]

dynalite has no transactions: a move stands under both keys for a moment. There each item has one writer, who tries the
old key first, as an application would; on DynamoDB, as on moto, any number of writers is held together by the transaction.
moto is not atomic between its threads: a proxy lets one request at a time through to it.
"""
import argparse
import http.client
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402

WRITERS = 4
ITEMS = 150
SHARE = {"dynalite": 1, "moto": 4}  # moto is slow: so many times fewer operations
OLD, NEW = "C", "N"
UPPER = {"name": "upper", "where": "SK = 'ITEM'", "set": {"Upper": "${upper(Name)}"}}
REKEY = {"name": "rekey", "where": "begins_with(PK, 'C#') AND SK = 'ITEM'", "rekey": {"PK": "N#${after(PK, '#')}"}}
LOOKUP = {"name": "names", "where": "begins_with(SK, 'ITEM')", "lookup": {"c": {"PK": "P#${after(PK, '#')}", "SK": "PROFILE"}},
          "set": {"OwnerName": "${c.Name}"}}


class Client:
    """One connection that is kept."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def send(self, operation, body):
        """The reply, or None where the condition was not met."""
        self.connection.request("POST", "/", json.dumps(body).encode(), ddb_servers.headers(operation))
        reply = self.connection.getresponse()
        content = json.loads(reply.read() or b"{}")
        if reply.status == 200:
            return content
        if "ConditionalCheckFailed" in content.get("__type", ""):
            return None
        raise RuntimeError(f"{operation}: {content}")


class Scene:
    """The writers, and what they know: each item's generation, and by generation each writer's last value."""

    def __init__(self, port, table, seed, alone):
        self.table, self.port, self.seed = table, port, seed
        self.alone = alone  # each item has one writer
        self.lock = threading.Lock()
        self.generation = {i: 0 for i in range(ITEMS)}
        self.alive = {i: True for i in range(ITEMS)}
        self.name = {i: f"name {i}" for i in range(ITEMS)}
        self.names = {i: {f"name {i}"} for i in range(ITEMS)}  # of profiles, as they were at any moment
        self.values = {(i, 0, i % WRITERS): "-1" for i in range(ITEMS)}  # (item, generation, writer): the last value that was acknowledged
        self.operations = 0
        self.stop = threading.Event()
        self.faults = []

    def key(self, i, kind):
        return {"PK": {"S": f"{kind}#{i}"}, "SK": {"S": "ITEM"}}

    def item(self, i):
        return {**self.key(i, OLD), "Name": {"S": self.name[i]}, "Gen": {"N": str(self.generation[i])}, f"W{i % WRITERS}": {"N": "-1"}}

    def profile(self, i):
        return {"PK": {"S": f"P#{i}"}, "SK": {"S": "PROFILE"}, "Name": {"S": self.name[i]}}

    def either(self, client, operation, i, **body):
        """Under the old key, else the new one."""
        for kind in (OLD, NEW):
            reply = client.send(operation, {"TableName": self.table, "Key": self.key(i, kind),
                                            "ConditionExpression": "attribute_exists(PK)", **body})
            if reply is not None:
                return reply
        return None

    def touch(self, client, writer, i, value):
        """Its own attribute, whoever the item belongs to. What was there must be what it wrote last."""
        name = f"W{writer}"
        reply = self.either(client, "UpdateItem", i, UpdateExpression=f"SET {name} = :v", ReturnValues="ALL_OLD",
                            ExpressionAttributeValues={":v": {"N": str(value)}})
        if reply is None:
            return
        before = reply["Attributes"]
        known = (i, int(before["Gen"]["N"]), writer)
        found, wanted = before.get(name, {}).get("N"), self.values.get(known)
        if found != wanted:
            self.faults.append(f"item {known}: {name} is {found}, was written as {wanted}")
        self.values[known] = str(value)

    def rename(self, client, i, value):
        name = f"name {i} {value}"
        with self.lock:
            self.names[i].add(name)
        if self.either(client, "UpdateItem", i, UpdateExpression="SET #n = :v", ExpressionAttributeNames={"#n": "Name"},
                       ExpressionAttributeValues={":v": {"S": name}}) is None:
            self.faults.append(f"item {i} of generation {self.generation[i]} is gone")
        client.send("PutItem", {"TableName": self.table, "Item": {**self.profile(i), "Name": {"S": name}}})
        self.name[i] = name

    def delete(self, client, i):
        if self.either(client, "DeleteItem", i) is None:
            self.faults.append(f"item {i} of generation {self.generation[i]} is gone")
        self.alive[i] = False

    def create(self, client, i):
        self.generation[i] += 1
        self.values[i, self.generation[i], i % WRITERS] = "-1"
        if client.send("PutItem", {"TableName": self.table, "Item": self.item(i), "ConditionExpression": "attribute_not_exists(PK)"}) is None:
            self.faults.append(f"item {i} came back before generation {self.generation[i]}")
        self.alive[i] = True

    def write(self, writer, operations):
        rng, client = random.Random(self.seed * WRITERS + writer), Client(self.port)
        own = range(writer, ITEMS, WRITERS)
        for value in range(operations):
            if self.stop.is_set():
                return
            i, dice = rng.choice(own), rng.random()
            if not self.alive[i]:
                if dice < 0.5:
                    self.create(client, i)
            elif dice < 0.15:
                self.delete(client, i)
            elif dice < 0.4:
                self.rename(client, i, value)
            else:
                self.touch(client, writer, i if self.alone else rng.randrange(ITEMS), value)
            self.operations += 1

    def guarded(self, writer, operations):
        try:
            self.write(writer, operations)
        except Exception as error:  # pylint: disable=broad-except
            self.faults.append(f"writer {writer}: {error!r}")

    def start(self, operations):
        threads = [threading.Thread(target=self.guarded, args=(writer, operations // WRITERS)) for writer in range(WRITERS)]
        for thread in threads:
            thread.start()
        return threads

    def load(self):
        client = Client(self.port)
        client.send("CreateTable", {"TableName": self.table, "BillingMode": "PAY_PER_REQUEST",
                                    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
                                    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]})
        while client.send("DescribeTable", {"TableName": self.table})["Table"]["TableStatus"] != "ACTIVE":
            time.sleep(0.05)
        for i in range(ITEMS):
            for item in (self.item(i), self.profile(i)):
                client.send("PutItem", {"TableName": self.table, "Item": item})


def check_standing(scene, found, rekeyed):
    """Each item once, with all that was acknowledged; before the sweep under either key."""
    for i in range(ITEMS):
        kinds = [kind for kind in (OLD, NEW) if (f"{kind}#{i}", "ITEM") in found]
        if len(kinds) != scene.alive[i]:
            scene.faults.append(f"item {i} of generation {scene.generation[i]}: stands {len(kinds)} times, alive: {scene.alive[i]}")
        if rekeyed and OLD in kinds:
            scene.faults.append(f"item {i} was not moved")
        for kind in kinds:
            item = found[f"{kind}#{i}", "ITEM"]
            wanted = {f"W{w}": scene.values.get((i, scene.generation[i], w)) for w in range(WRITERS)}
            standing = {name: str(item[name]) if name in item else None for name in wanted}
            if standing != wanted or item["Name"] != scene.name[i] or item["Gen"] != scene.generation[i]:
                scene.faults.append(f"item {i}: {standing} {item['Name']}, wanted {wanted} {scene.name[i]}")


def check_swept(scene, found, steps):
    for (partition, sort), item in found.items():
        if sort != "ITEM":
            continue
        i = int(partition.partition("#")[2])
        if UPPER in steps and item.get("Upper") != scene.name[i].upper():
            scene.faults.append(f"item {i}: Upper is {item.get('Upper')}, not of {scene.name[i]}")
        if LOOKUP in steps and item.get("OwnerName") != scene.name[i]:
            scene.faults.append(f"item {i}: OwnerName is {item.get('OwnerName')}, not {scene.name[i]}")


def check_looked_up(scene, found):
    """While the writers write, a copied name is one that the profile had."""
    for (partition, sort), item in found.items():
        i = partition.partition("#")[2]
        if sort == "ITEM" and "OwnerName" in item and item["OwnerName"] not in scene.names[int(i)]:
            scene.faults.append(f"item {i}: OwnerName was never {item['OwnerName']}")


def run_one(server, name, steps, given):
    folder = tempfile.mkdtemp(prefix="refold-writers-")
    met = []  # conditions that were not met

    def after(_operation, body, status, content):
        if status == 400 and b"ondition" in content and b"ReturnValuesOnConditionCheckFailure" in body:  # refold's own
            met.append(content)

    with ddb_servers.Proxy(server, after=after, single=server.kind == "moto") as proxy:
        scene = Scene(proxy.port, name, given.seed, alone=server.kind == "dynalite" and REKEY in steps)
        scene.load()
        os.mkdir(os.path.join(folder, "plans"))
        with open(os.path.join(folder, "plans", "0001_plan.json"), "w", encoding="ascii") as out:
            json.dump({"steps": steps}, out)
        options = [proxy.table(name), "--plans", os.path.join(folder, "plans"), "--state", os.path.join(folder, "state"), "--segments", "8"]
        threads = scene.start(given.operations // SHARE[server.kind])
        rounds = 1
        try:
            refold.run("apply", *options)
            if LOOKUP in steps:
                check_looked_up(scene, refold.items(proxy.table(name)))
            while any(thread.is_alive() for thread in threads):
                refold.run("apply", *options, "--sweep")
                rounds += 1
        finally:
            scene.stop.set()
            for thread in threads:
                thread.join()
        check_standing(scene, refold.items(proxy.table(name)), rekeyed=False)
        refold.run("apply", *options, "--sweep")
        found = refold.items(proxy.table(name))
        check_standing(scene, found, rekeyed=REKEY in steps)
        check_swept(scene, found, steps)
    if scene.faults:
        sys.exit(f"{server.kind}, {name}: {len(scene.faults)} faults; kept in {folder}\n" + "\n".join(scene.faults[:20]))
    if not met:
        sys.exit(f"{server.kind}, {name}: nobody came between")
    shutil.rmtree(folder)
    print(f"{server.kind}, {name}: {scene.operations} operations while {rounds} runs went over {ITEMS} items, "
          f"{len(met)} conditions not met: nothing lost", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--operations", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="part of SERVER.PLAN")
    given = options.parse_args()
    os.environ.update(ddb_servers.ENVIRONMENT)
    for kind in ("dynalite", "moto"):
        plans = {"set": [UPPER], "rekey": [UPPER, REKEY], "lookup": [LOOKUP]}
        wanted = {name: steps for name, steps in plans.items() if given.only in f"{kind}.{name}"}
        if wanted:
            with ddb_servers.Server(kind) as server:
                for name, steps in wanted.items():
                    run_one(server, name.capitalize(), steps, given)


if __name__ == "__main__":
    main()
