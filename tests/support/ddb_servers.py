"""Private servers that speak DynamoDB's protocol, for tests: dynalite, moto and dynoxide, as scripts/install-servers installs them.

dynalite has neither transactions nor UpdateTable for indexes, and does not tell the item that a condition met;
moto has all of them, and checks no signature; dynoxide comes closest to DynamoDB, and is fast enough to measure against.
"""
import contextlib
import http.client
import http.server
import json
import os
import re
import socket
import subprocess
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVERS = os.environ.get("REFOLD_SERVERS", os.path.join(ROOT, "build", "servers"))
COMMANDS = {
    "dynalite": ["node", os.path.join(SERVERS, "node_modules", "dynalite", "cli.js"), "--host", "127.0.0.1",
                 "--createTableMs", "0", "--updateTableMs", "0", "--deleteTableMs", "0", "--port"],
    "moto": [os.path.join(SERVERS, "python", "bin", "moto_server"), "-H", "127.0.0.1", "-p"],
    "dynoxide": [os.path.join(SERVERS, "dynoxide", "bin", "dynoxide"), "--log", "quiet", "--port"],
}
START_SECONDS = 60
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "AKIDTESTS00001234", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_REGION": "us-east-1",
               "AWS_EC2_METADATA_DISABLED": "true"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """with Server("dynalite") as server: server.table("Shop") is a TABLE for refold; server.call("Scan", {...})."""

    def __init__(self, kind):
        self.kind = kind
        self.port = None
        self.process = None

    def __enter__(self):
        self.port = free_port()
        self.process = subprocess.Popen([*COMMANDS[self.kind], str(self.port)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.call("ListTables", {})
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    raise RuntimeError(f"{self.kind} does not run: see scripts/install-servers") from None
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def table(self, name, port=None):
        return f"dynamodb:{name}?endpoint=http://127.0.0.1:{port or self.port}&region=us-east-1"

    def exchange(self, operation, raw):
        """One request of these bytes, as a client would send it; returns status and bytes of the reply."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", "/", raw, headers(operation))
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def call(self, operation, body):
        """The same with JSON; returns the reply's members. Raises RuntimeError on what is not 200."""
        status, raw = self.exchange(operation, json.dumps(body))
        content = json.loads(raw or b"{}")
        if status != 200:
            raise RuntimeError(f"{operation}: {content}")
        return content

    def create(self, body):
        """CreateTable, to its end."""
        self.call("CreateTable", body)
        while self.call("DescribeTable", {"TableName": body["TableName"]})["Table"]["TableStatus"] != "ACTIVE":
            time.sleep(0.01)

    def make_table(self, name):
        """An empty table with PK and SK, both texts."""
        self.create({"TableName": name, "BillingMode": "PAY_PER_REQUEST",
                     "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in ("PK", "SK")],
                     "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]})

    def items(self, name):
        """All that lies in the table, control records too, in DynamoDB JSON."""
        found, start = [], {}
        while True:
            page = self.call("Scan", {"TableName": name, "ConsistentRead": True, **start})
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                return found
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def headers(operation):
    """What both servers want to see; neither checks the signature."""
    return {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0", "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDTESTS00001234/20260101/us-east-1/dynamodb/aws4_request, "
                             "SignedHeaders=host;x-amz-date, Signature=0"}


def updated(operation, body):
    """The keys of the user's items that a request of refold's updates, alone or by statements."""
    request = json.loads(body)
    if operation == "UpdateItem":
        keys = [request["Key"]]
    elif operation == "BatchExecuteStatement":
        keys = [update_of(statement)["Key"] for statement in request["Statements"] if not is_insert(statement)]
    else:
        keys = []
    return [key for key in keys if is_users(key)]


def put(operation, body):
    """The user's items that a request of refold's puts, alone or among others."""
    request = json.loads(body)
    if operation == "PutItem":
        items = [request["Item"]]
    elif operation == "BatchWriteItem":
        items = [action["PutRequest"]["Item"] for actions in request["RequestItems"].values() for action in actions]
    elif operation == "BatchExecuteStatement":
        items = [insert_of(statement)["Item"] for statement in request["Statements"] if is_insert(statement)]
    else:
        items = []
    return [item for item in items if is_users(item)]


def is_users(item):
    return not str(next(iter(item["PK"].values()))).startswith("__refold#")


def is_insert(statement):
    return statement["Statement"].startswith("INSERT")


def insert_of(statement):
    """The PutItem that a statement of refold's stands for."""
    table, members = re.fullmatch(r'INSERT INTO "([^"]*)" VALUE {(.*)}', statement["Statement"]).groups()
    names = re.findall(r"'([^']*)':\?", members)
    assert len(names) == len(statement["Parameters"]), statement
    return {"TableName": table, "Item": dict(zip(names, statement["Parameters"])), "ConditionExpression": "attribute_not_exists(#k)",
            "ExpressionAttributeNames": {"#k": names[0]}}


def update_of(statement):
    """The UpdateItem that a statement of refold's stands for."""
    text, values = statement["Statement"], iter(statement["Parameters"])
    table, changes, where = re.fullmatch(r'UPDATE "([^"]*)"((?: SET "[^"]*"=\?| REMOVE "[^"]*")+) WHERE (.*)', text).groups()
    names, given, wanted = {}, {}, {"SET": [], "REMOVE": []}

    def name(text):
        return names.setdefault(text, f"#{len(names)}")

    def value():
        given[f":{len(given)}"] = next(values)
        return f":{len(given) - 1}"

    for verb, attribute, has_value in re.findall(r' (SET|REMOVE) "([^"]*)"(=\?)?', changes):
        wanted[verb].append(name(attribute) + (f" = {value()}" if has_value else ""))
    terms = [re.fullmatch(r'"([^"]*)"(=\?| IS MISSING)', term).groups() for term in where.split(" AND ")]
    key = {attribute: next(values) for attribute, _ in terms[:2]}
    condition = [f"attribute_exists({name(terms[0][0])})"]
    condition += [f"{name(attribute)} = {value()}" if verb == "=?" else f"attribute_not_exists({name(attribute)})" for attribute, verb in terms[2:]]
    names = {placeholder: attribute for attribute, placeholder in names.items()}
    return {"TableName": table, "Key": key, "ConditionExpression": " AND ".join(condition), "ExpressionAttributeNames": names,
            "UpdateExpression": " ".join(f"{verb} " + ", ".join(parts) for verb, parts in wanted.items() if parts),
            **({"ExpressionAttributeValues": given} if given else {})}


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # a client opens many connections at once


class Proxy:
    """Stands before a server, counts operations, and lets a test step between.

    before(operation, body) may return (status, bytes) as the reply, so that the server hears nothing;
    after(operation, body, status, content) may return False, so that the client hears nothing: its connection ends.
    single: one request at a time comes through to the server (moto is not atomic between its threads)."""

    def __init__(self, server, before=None, after=None, single=False):
        self.server = server
        self.before, self.after = before, after
        self.turn = threading.Lock() if single else contextlib.nullcontext()
        self.counts = {}
        self.lock = threading.Lock()

    def __enter__(self):
        self.httpd = Listener(("127.0.0.1", 0), self._handler())
        self.port = self.httpd.server_address[1]
        threading.Thread(target=self.httpd.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.httpd.shutdown()
        self.httpd.server_close()

    def table(self, name):
        return self.server.table(name, self.port)

    def count(self, *operations):
        return sum(self.counts.get(operation, 0) for operation in operations)

    def _handler(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # a reply goes out as one
            disable_nagle_algorithm = True
            upstream = None

            def log_message(self, *_):
                pass

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass  # the client was killed, or its connection cut

            def finish(self):
                if self.upstream is not None:
                    self.upstream.close()
                try:
                    super().finish()
                except OSError:
                    pass

            def forward(self, body):
                """A server ends connections that were idle: the request goes over a new one then."""
                if self.upstream is not None:
                    try:
                        return self.exchange(body)
                    except (ConnectionError, http.client.BadStatusLine):
                        self.upstream.close()
                self.upstream = http.client.HTTPConnection("127.0.0.1", proxy.server.port, timeout=60)
                return self.exchange(body)

            def exchange(self, body):
                wanted = {name: value for name, value in self.headers.items()
                          if name.lower() in ("x-amz-target", "content-type", "authorization", "x-amz-date")}
                self.upstream.request("POST", "/", body, wanted)
                reply = self.upstream.getresponse()
                return reply.status, reply.read(), {name: reply.headers[name] for name in ("x-amz-crc32", "Content-Type") if name in reply.headers}

            def do_POST(self):
                operation = self.headers.get("X-Amz-Target", "").partition(".")[2]
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with proxy.lock:
                    proxy.counts[operation] = proxy.counts.get(operation, 0) + 1
                instead = proxy.before(operation, body) if proxy.before else None
                with proxy.turn:
                    status, content, extra = (*instead, {}) if instead else self.forward(body)
                if proxy.after and proxy.after(operation, body, status, content) is False:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in extra.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler


WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "CreateTable", "UpdateTable", "DeleteTable",
          "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction")
