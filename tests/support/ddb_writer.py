"""A writer of its own process that changes, deletes and creates items while plans run over them, and knows what each of its
items must be. An item "item i" stands under C#i or N#i, wherever a plan has moved it; beside it stands a profile P#i."""
import json
import random
import socket

import ddb_servers

OLD, NEW = "C", "N"
TRIES = 50  # of an item that plans move to and fro


class Client:
    """One kept connection, spoken to without ado: a hundred thousand operations are to take minutes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.heads = {}
        self.port = port

    def head(self, operation):
        if operation not in self.heads:
            fields = {"Host": f"127.0.0.1:{self.port}", **ddb_servers.headers(operation)}
            self.heads[operation] = "POST / HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return self.heads[operation]

    def send(self, operation, body):
        """The reply, or None where the condition was not met."""
        content = json.dumps(body)
        self.socket.sendall(f"{self.head(operation)}Content-Length: {len(content)}\r\n\r\n{content}".encode())
        status, reply = self.read()
        if status == 200:
            return reply
        if "ConditionalCheckFailed" in reply.get("__type", ""):
            return None
        if "TransactionConflict" in reply.get("__type", ""):
            return self.send(operation, body)
        raise RuntimeError(f"{operation}: {reply}")

    def read(self):
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += self.more()
        return int(head[9:12]), json.loads(body or b"{}")

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise RuntimeError("the server ended the connection")
        return data


class Writer:
    """What one of several writers does and knows. Each item belongs to one writer, who alone deletes and creates it.

    alone: nobody else touches it, as it must be where a move is not one step (see docs/architecture.md)."""

    def __init__(self, number, writers, items, table, alone):
        self.number, self.items, self.table, self.alone = number, items, table, alone
        self.own = list(range(number, items, writers))
        self.generation = dict.fromkeys(self.own, 0)
        self.alive = dict.fromkeys(self.own, True)
        self.name = {i: f"name {i}" for i in self.own}
        self.names = {i: {f"name {i}"} for i in self.own}  # as they were at any moment
        self.values = {(i, 0): "-1" for i in self.own}  # by item and generation: the last of its own that was acknowledged
        self.met = {OLD: 0, NEW: 0}  # operations by where they found the item
        self.faults = []
        self.client = None

    @staticmethod
    def key(i, kind):
        return {"PK": {"S": f"{kind}#{i}"}, "SK": {"S": "ITEM"}}

    def item(self, i):
        return {**self.key(i, OLD), "Name": {"S": self.name[i]}, "Gen": {"N": str(self.generation[i])}, f"W{self.number}": {"N": "-1"}}

    def profile(self, i):
        return {"PK": {"S": f"P#{i}"}, "SK": {"S": "PROFILE"}, "Name": {"S": self.name[i]}}

    def load(self, port):
        self.client = Client(port)
        for i in self.own:
            for item in (self.item(i), self.profile(i)):
                self.client.send("PutItem", {"TableName": self.table, "Item": item})

    def either(self, operation, i, **body):
        """Under the old key, else the new one; None where it stands under neither."""
        for kind in (OLD, NEW):
            reply = self.client.send(operation, {"TableName": self.table, "Key": self.key(i, kind),
                                                 "ConditionExpression": "attribute_exists(PK)", **body})
            if reply is not None:
                self.met[kind] += 1
                return reply
        return None

    def surely(self, operation, i, **body):
        """Of an item that stands. A plan that is rolled back may take it from one key to the other between two tries."""
        for _ in range(TRIES):
            reply = self.either(operation, i, **body)
            if reply is not None:
                return
        self.faults.append(f"item {i} of generation {self.generation[i]} is gone: {operation}")

    def touch(self, i, value):
        """Its own attribute, whoever the item belongs to. What was there must be what it wrote last."""
        name = f"W{self.number}"
        reply = self.either("UpdateItem", i, UpdateExpression=f"SET {name} = :v", ReturnValues="ALL_OLD",
                            ExpressionAttributeValues={":v": {"N": str(value)}})
        if reply is None:
            return
        before = reply["Attributes"]
        known = (i, int(before["Gen"]["N"]))
        found, wanted = before.get(name, {}).get("N"), self.values.get(known)
        if found != wanted:
            self.faults.append(f"item {known}: {name} is {found}, was written as {wanted}")
        self.values[known] = str(value)

    def rename(self, i, value):
        name = f"name {i} {value}"
        self.names[i].add(name)
        self.surely("UpdateItem", i, UpdateExpression="SET #n = :v", ExpressionAttributeNames={"#n": "Name"},
                    ExpressionAttributeValues={":v": {"S": name}})
        self.name[i] = name
        self.client.send("PutItem", {"TableName": self.table, "Item": self.profile(i)})

    def delete(self, i):
        self.surely("DeleteItem", i)
        self.alive[i] = False

    def create(self, i):
        self.generation[i] += 1
        self.values[i, self.generation[i]] = "-1"
        if self.client.send("PutItem", {"TableName": self.table, "Item": self.item(i), "ConditionExpression": "attribute_not_exists(PK)"}) is None:
            self.faults.append(f"item {i} came back before generation {self.generation[i]}")
        self.alive[i] = True

    def write(self, operations, seed):
        rng = random.Random(seed)
        for value in range(operations):
            i, dice = rng.choice(self.own), rng.random()
            if not self.alive[i]:
                self.create(i)
            elif dice < 0.02:
                self.delete(i)
            elif dice < 0.08:
                self.rename(i, value)
            else:
                self.touch(i if self.alone else rng.randrange(self.items), value)

    def run(self, port, operations, seed, results):
        """In a process of its own: hands itself over at the end."""
        try:
            self.client = Client(port)
            self.write(operations, seed)
        except Exception as error:  # pylint: disable=broad-except
            self.faults.append(f"writer {self.number}: {error!r}")
        self.client = None
        results.put(self)
