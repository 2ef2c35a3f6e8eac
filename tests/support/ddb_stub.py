"""A server that speaks DynamoDB's JSON protocol and misbehaves on request.

    def answer(request):                     # in any thread
        if request.number == 2:
            return Reply(throttled("TableWriteProvisionedThroughputExceeded"), status=400)
        return {"Item": {}}                  # short for Reply({"Item": {}})

    with Stub(answer) as stub: ... stub.url ... stub.requests

Every request of DynamoDB's must be signed by one of `stub.keys`, as botocore signs, within five minutes of
the stub's clock. What has no X-Amz-Target goes to `stub.pages`, by path: the sources of credentials.
"""
import contextlib
import datetime
import email.utils
import gzip
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time
import zlib

import servers_python  # noqa: F401
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEYS = {"AKIDSTUB00001234": ("stub-secret", "")}
RIGHT, WRONG, NONE = "right", "wrong", None
SKEW_S = 300


class Request:
    def __init__(self, number, connection, method, path, headers, raw):
        self.number, self.connection, self.method, self.path = number, connection, method, path
        self.headers, self.raw = headers, raw
        self.operation = headers.get("x-amz-target", "").partition(".")[2]
        self.at = time.monotonic()

    @property
    def body(self):
        return json.loads(self.raw)

    @property
    def key_id(self):
        found = re.search(r"Credential=([^/]+)/", self.headers.get("authorization", ""))
        return found.group(1) if found else None


class Reply:
    """body: a dict, or the bytes. cut: so many bytes are sent, then the connection ends. crc: RIGHT, WRONG or
    NONE. close: the connection ends after the reply, without a word. length: Content-Length is given. date_s: its Date is
    so much later than the stub's clock."""

    def __init__(self, body, status=200, crc=RIGHT, compress=False, cut=None, delay=0.0, close=False, length=True, headers=None,
                 date_s=0):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.crc, self.compress, self.cut, self.delay = status, crc, compress, cut, delay
        self.close, self.length, self.headers = close or not length, length, headers or {}
        self.date_s = date_s

    def wire(self, date):
        body = gzip.compress(self.body) if self.compress else self.body
        lines = [f"HTTP/1.1 {self.status} X", "Content-Type: application/x-amz-json-1.0", f"Date: {date}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if self.length:
            lines.append(f"Content-Length: {len(body)}")
        if self.compress:
            lines.append("Content-Encoding: gzip")
        if self.crc:
            lines.append(f"x-amz-crc32: {zlib.crc32(body) ^ (self.crc == WRONG)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def failure(name, message="", status=400, namespace="com.amazonaws.dynamodb.v20120810", date_s=0, **more):
    """An error as DynamoDB words it."""
    return Reply({"__type": f"{namespace}#{name}", "message": message, **more}, status=status, date_s=date_s)


def throttled(reason=None, resource="arn:aws:dynamodb:eu-west-1:123456789012:table/Shop",
              name="ProvisionedThroughputExceededException"):
    reasons = {"ThrottlingReasons": [{"reason": reason, "resource": resource}]} if reason else {}
    return failure(name, "Throughput exceeds the current capacity", **reasons)


def relay(server, answer=lambda request: None):
    """Answers as `server` (of ddb_servers) does, where `answer(request)` has nothing to say. One request at a time comes to
    moto, which is not atomic between its threads."""
    turn = threading.Lock() if server.kind == "moto" else contextlib.nullcontext()

    def answer_or_ask(request):
        reply = answer(request)
        if reply is None:
            with turn:
                status, content = server.exchange(request.operation, request.raw)
            reply = Reply(content, status=status)
        return reply
    return answer_or_ask


class Budget:
    """Grants so many units a second, and a burst at first."""

    def __init__(self, rate, burst):
        self.rate, self.burst, self.units, self.at = rate, burst, burst, time.monotonic()
        self.lock = threading.Lock()

    def take(self, units=1):
        with self.lock:
            now = time.monotonic()
            self.units = min(self.burst, self.units + (now - self.at) * self.rate)
            self.at = now
            if self.units < units:
                return False
            self.units -= units
            return True


def certified(folder):
    """A context for TLS on 127.0.0.1 and localhost, and the file of the certificate that vouches for it."""
    key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=x",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


class Stub:
    """tls: an ssl.SSLContext of a server's, so that `url` is https."""

    def __init__(self, answer, keys=None, check=True, tls=None):
        self.tls = tls
        self.answer, self.keys, self.check = answer, dict(KEYS if keys is None else keys), check
        self.pages = {}
        self.requests = []
        self.connections = 0
        self.clock_s = 0.0
        self.lock = threading.Lock()

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def now(self):
        return time.time() + self.clock_s

    def date(self, later_s=0):
        return email.utils.formatdate(self.now() + later_s, usegmt=True)

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection, number):
        try:
            with self.tls.wrap_socket(connection, server_side=True) if self.tls else connection as connection:
                with connection.makefile("rb") as stream:
                    while self._exchange(connection, stream, number):
                        pass
        except (OSError, ValueError):
            pass

    def _exchange(self, connection, stream, number):
        words = stream.readline().decode("latin-1").split()
        if len(words) != 3:
            return False
        headers = {}
        for line in iter(stream.readline, b"\r\n"):
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower() in headers or not line:
                raise ValueError("a header came twice, or the request broke off")
            headers[name.lower()] = value.strip()
        raw = stream.read(int(headers.get("content-length", 0)))
        with self.lock:
            request = Request(len(self.requests) + 1, number, words[0], words[1], headers, raw)
            self.requests.append(request)
        reply = self._reply(request)
        if reply.delay:
            time.sleep(reply.delay)
        wire = reply.wire(self.date(reply.date_s))
        connection.sendall(wire if reply.cut is None else wire[:reply.cut])
        return reply.cut is None and not reply.close

    def _reply(self, request):
        if not request.operation:
            page = self.pages.get(request.path)
            reply = page(request) if page else Reply({}, status=404)
        else:
            reply = (self.refusal(request) if self.check else None) or self.answer(request)
        return reply if isinstance(reply, Reply) else Reply(reply)

    def refusal(self, request, service="dynamodb"):
        """The error that a request deserves for its signature, or None."""
        if "expect" in request.headers:
            return failure("ValidationException", "an Expect header")
        if request.key_id not in self.keys:
            return failure("UnrecognizedClientException", "The security token included in the request is invalid.",
                           namespace="com.amazon.coral.service")
        secret, token = self.keys[request.key_id]
        if request.headers.get("x-amz-security-token", "") != token:
            return failure("UnrecognizedClientException", "The security token included in the request is invalid.",
                           namespace="com.amazon.coral.service")
        signed_at = datetime.datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ")
        age = self.now() - signed_at.replace(tzinfo=datetime.timezone.utc).timestamp()
        if abs(age) > SKEW_S:
            return failure("InvalidSignatureException", "Signature expired" if age > 0 else "Signature not yet current",
                           namespace="com.amazon.coral.service")
        if signature(request, secret, token, service) not in request.headers["authorization"]:
            return failure("InvalidSignatureException",
                           "The request signature we calculated does not match the signature you provided.",
                           namespace="com.amazon.coral.service")
        return None


def signature(request, secret, token, service):
    """"Signature=…" as botocore computes it from what arrived."""
    scope = re.search(r"Credential=[^/]+/\d+/([^/]+)/([^/]+)/aws4_request", request.headers["authorization"])
    if not scope or scope.group(2) != service:
        return "another scope"
    names = re.search(r"SignedHeaders=([^,]+)", request.headers["authorization"]).group(1).split(";")
    must = [name for name in request.headers if name == "host" or name.startswith("x-amz-")] + ["content-type"]
    if not set(must) <= set(names):
        return "not all headers are signed"
    signer = SigV4Auth(Credentials(request.key_id, secret, token or None), service, scope.group(1))
    copy = AWSRequest(method=request.method, url=f"http://{request.headers['host']}{request.path}",
                      headers={name: request.headers[name] for name in names}, data=request.raw)
    copy.context["timestamp"] = request.headers["x-amz-date"]
    text = signer.string_to_sign(copy, signer.canonical_request(copy))
    return "Signature=" + signer.signature(text, copy)
