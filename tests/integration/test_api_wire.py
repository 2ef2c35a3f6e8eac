#!/usr/bin/env python3
"""How the client of the DynamoDB API speaks HTTP: over TLS, through proxies, with servers that frame replies as they may and
as they must not."""
import contextlib
import json
import os
import random
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
from ddb_call import FOLDER, KEY, Case, call, environment, first_time  # noqa: E402
from ddb_stub import NONE, Reply, Stub, certified  # noqa: E402

JUNK = b"HTTP/1.1 400 X\r\nContent-Length: 2\r\n\r\n{}"


class Raw(Reply):
    """These very bytes."""

    def __init__(self, *pieces, **more):
        super().__init__(b"", **more)
        self.bytes = b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)

    def wire(self, date):
        return self.bytes


def chunked(body, *sizes):
    """In chunks of these sizes, and the rest in one."""
    out, at = b"", 0
    for size in (*sizes, len(body) - sum(sizes)):
        out += b"%x\r\n%s\r\n" % (size, body[at:at + size])
        at += size
    return out + b"0\r\n\r\n"


def filling(n, size):
    """A reply of so many bytes."""
    filler = size - 1000
    filler += size - len(Reply({"n": n, "x": "y" * filler}).wire("x"))
    return Reply({"n": n, "x": "y" * filler}).wire("x")


class Corked(ssl.SSLSocket):
    """What it sends at a time comes at once."""

    def sendall(self, data, flags=0):
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        super().sendall(data, flags)
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


class Tls(Case):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="refold-tls-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.context, certificate = certified(folder)
        self.env = environment(**KEY, AWS_CA_BUNDLE=certificate)

    def test_large_requests_and_replies(self):
        """Of many records each, while the server takes its time."""
        draw = random.Random(3)
        texts = ["".join(draw.choices("abc", k=draw.choice([1, 20000, 300000]))) for _ in range(80)]

        def answer(request):
            return Reply({"n": request.body["n"], "back": request.body["text"][::-1]}, delay=draw.random() / 50)
        with Stub(answer, tls=self.context) as stub:
            replies, _ = call(stub.url, [{"n": n, "text": text} for n, text in enumerate(texts)], env=self.env)
            self.check_all(replies, reply="ok", attempts=1, unsure=False)
            self.assertEqual([json.loads(reply["content"])["back"] for reply in replies], [text[::-1] for text in texts])
            self.assertLessEqual(stub.connections, 64)

    def test_one_connection_is_used_again(self):
        with Stub(lambda request: {}, tls=self.context) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(50)], "at_once=1", env=self.env)
            self.check_all(replies, reply="ok", attempts=1)
            self.assertEqual(stub.connections, 1)

    def test_a_reply_cut_at_any_byte_is_no_reply(self):
        whole = Reply({"n": 0})
        size = len(whole.wire("Mon, 01 Jan 2026 00:00:00 GMT"))
        with Stub(first_time(lambda n: Reply(whole.body, cut=n)), tls=self.context) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(size)], env=self.env)
            self.check_all(replies, reply="ok", attempts=2, unsure=True)

    def test_bytes_that_were_not_asked_for_answer_nothing(self):
        """They are a record of their own, behind that of the reply."""
        self.context.sslsocket_class = Corked
        with Stub(lambda request: Raw(filling(request.body["n"], 16384), JUNK), tls=self.context) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(5)], "at_once=1", env=self.env)
            self.check_all(replies, reply="ok", attempts=1)
            self.assertEqual([json.loads(reply["content"])["n"] for reply in replies], list(range(5)))
            self.assertEqual(stub.connections, 5)

    def test_what_waited_for_its_connection_too_long_is_not_sent(self):
        """The run is stopped while the server lets the handshake wait."""
        outer = self.context

        class Slow:
            def wrap_socket(self, connection, **more):
                time.sleep(1)
                return outer.wrap_socket(connection, **more)
        with Stub(lambda request: {}, tls=Slow()) as stub:
            replies, end = call(stub.url, [{"n": 0}], "stop_ms=300", env=self.env)
            self.check_all(replies, reply="none", unsure=False, attempts=1)
            self.assertEqual((end["error"], stub.connections, stub.requests), ("interrupted", 1, []))

    def test_a_server_without_tls_is_none(self):
        with Stub(lambda request: {}) as stub:
            replies, _ = call(stub.url.replace("http:", "https:"), [{"n": 0}], env=self.env)
            self.check_all(replies, reply="none", unsure=False)


class Framing(Case):
    def check_replies(self, stub_replies, **wanted):
        """One request after the other gets these first."""
        with Stub(first_time(lambda n: stub_replies[n])) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(len(stub_replies))], "at_once=1")
            self.check_all(replies, reply="ok", **wanted)
        return replies

    def test_as_servers_may(self):
        body = json.dumps({"text": "x" * 70000}).encode()
        length = f"Content-Length: {len(body)}\r\n"
        bodies = [
            Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunked(body, 1, 2, 65536)),
            Raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", length, "\r\n", body),
            Raw("HTTP/1.0 200 OK\r\n", length, "\r\n", body, close=True),
            Raw("HTTP/1.1 200 OK\r\nConnection: close\r\n", length, "\r\n", body, close=True),
            Raw("HTTP/1.1 200 OK\r\n\r\n", body, close=True),
            Raw("HTTP/1.1 200\r\nX:\r\n", length.lower(), "\r\n", body),
        ]
        replies = self.check_replies(bodies, attempts=1, unsure=False)
        self.assertEqual({reply["content"].encode() for reply in replies}, {body})

    def test_as_they_must_not(self):
        self.check_replies([
            Raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
            Raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            Raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
            Raw("HTTP/1.1 200 OK\r\nX: y\r\n Content-Length: 2\r\n\r\n{}"),
            Raw("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
            Raw("HTTP/1.1 200 OK\r\nX: " + "y" * 100000),
            Raw("SSH-2.0-OpenSSH_9.2\r\n"),
        ], attempts=2, unsure=True)

    def test_bytes_that_were_not_asked_for_answer_nothing(self):
        """They come right behind a reply: the next request goes another way."""
        with Stub(lambda request: Raw(Reply({"n": request.body["n"]}).wire("x"), JUNK)) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(5)], "at_once=1")
            self.check_all(replies, reply="ok", attempts=1)
            self.assertEqual([json.loads(reply["content"])["n"] for reply in replies], list(range(5)))
            self.assertEqual(stub.connections, 5)

    def test_a_connection_that_the_server_ends_is_not_used_again(self):
        """Two at a time: one connection ends behind its reply, before the other's comes."""
        ended = threading.Event()

        class Ending(Stub):
            def _serve(self, connection, number):
                super()._serve(connection, number)
                ended.set()

        def answer(request):
            if request.body["n"] % 2 == 0:
                return Reply({}, close=True)
            ended.wait(20)
            ended.clear()
            return {}
        with Ending(answer) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(20)], "at_once=2")
            self.check_all(replies, reply="ok", attempts=1, unsure=False)
            self.assertEqual(stub.connections, 11)

    def test_nor_do_those_that_were_not_received_with_the_reply(self):
        """The reply fills what is received at a time, so that they stay with the system."""
        with Stub(lambda request: Raw(filling(request.body["n"], 65536), JUNK)) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(40)], "at_once=1")
            self.check_all(replies, reply="ok", attempts=1)
            self.assertEqual([json.loads(reply["content"])["n"] for reply in replies], list(range(40)))

    def test_connections_that_died_unseen_cost_one_attempt(self):
        """A gateway says so only when they are used again."""
        count, seen = 15, set()
        together = threading.Barrier(count)

        def answer(request):
            first = request.connection not in seen
            seen.add(request.connection)
            if request.body["n"] < count:
                together.wait(20)
            return Reply({}, cut=None if first else 0)
        with Stub(answer) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(count + 1)], f"at_once={count}")
            self.check_all(replies[:count], reply="ok", attempts=1)
            self.check_all(replies[count:], reply="ok", attempts=2)

    def test_a_reply_before_the_request_is_whole(self):
        """The server reads no body, says why, and waits for the client to close."""
        heads = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def serve():
                connection, _ = listener.accept()
                with connection:
                    heads.append(connection.recv(1000))
                    connection.sendall(b"HTTP/1.1 413 X\r\nContent-Length: 5\r\n\r\nlarge")
                    with contextlib.suppress(OSError):
                        while connection.recv(65536, socket.MSG_PEEK) and not closed.wait(0.01):
                            pass
            closed = threading.Event()
            server = threading.Thread(target=serve, daemon=True)
            server.start()
            replies, _ = call(f"http://127.0.0.1:{listener.getsockname()[1]}", [{"text": "x" * (32 << 20)}])
            closed.set()
            server.join()
        self.check_all(replies, reply="error", status=413, attempts=1)
        self.assertTrue(heads[0].startswith(b"POST / HTTP/1.1\r\n"))

    def test_large_requests_to_a_server_that_reads_slowly(self):
        texts = [str(n) * (4 << 20) for n in range(4)]

        def answer(request):
            return {"length": len(request.body["text"])}
        with Stub(answer) as stub:
            stub.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            replies, _ = call(stub.url, [{"text": text} for text in texts])
            self.check_all(replies, reply="ok", attempts=1)
            self.assertEqual([json.loads(reply["content"])["length"] for reply in replies], [4 << 20] * 4)
            self.assertEqual(sorted(request.body["text"] for request in stub.requests), texts)

    def test_a_name_with_several_addresses(self):
        with Stub(lambda request: {}) as stub:
            replies, _ = call(f"http://localhost:{stub.port}", [{"n": 0}])
            self.check_all(replies, reply="ok", attempts=1)


    def test_a_name_whose_first_address_is_dead(self):
        """It takes no more connections, and says nothing; or it refuses them."""
        env = environment(**KEY, LD_PRELOAD=os.path.join(FOLDER, "libtwo_addresses.so"))
        with Stub(lambda request: {}) as stub, contextlib.ExitStack() as opened:
            dead = opened.enter_context(socket.socket())
            dead.bind(("127.0.0.2", stub.port))
            dead.listen(0)
            for _ in range(4):
                waiting = opened.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.2", stub.port))
            replies, _ = call(f"http://somewhere.invalid:{stub.port}", [{"n": n} for n in range(3)], env=env)
            self.check_all(replies, reply="ok", attempts=1)
            dead.close()
            replies, _ = call(f"http://somewhere.invalid:{stub.port}", [{"n": n} for n in range(3)], env=env)
            self.check_all(replies, reply="ok", attempts=1)


class Tunnel:
    """A proxy for CONNECT, which notes what it was asked, and refuses where it is told to."""

    def __init__(self, refuse=False):
        self.refuse, self.asked = refuse, []

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += client.recv(1)
            method, place, _ = head.split(b"\r\n")[0].decode().split()
            self.asked.append((method, place))
            if self.refuse:
                client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nnot here\n")
                return
            host, port = place.split(":")
            with socket.create_connection((host, int(port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=self.copy, args=(server, client), daemon=True)
                back.start()
                self.copy(client, server)
                back.join()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


class Proxies(Case):
    """As the environment says; a tunnel for plain HTTP, too."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-proxy-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check_through(self, stub, tunnel, env, asked):
        replies, _ = call(stub.url, [{"n": n} for n in range(20)], "at_once=4", env=env)
        self.check_all(replies, reply="ok", attempts=1)
        self.assertEqual(set(tunnel.asked), asked)
        self.assertEqual(len(tunnel.asked), stub.connections if asked else 0)

    def test_to_http(self):
        with Stub(lambda request: {}) as stub, Tunnel() as tunnel:
            env = environment(**KEY, http_proxy=tunnel.url, no_proxy="")
            self.check_through(stub, tunnel, env, {("CONNECT", f"127.0.0.1:{stub.port}")})

    def test_to_https(self):
        context, certificate = certified(self.folder)
        with Stub(lambda request: {}, tls=context) as stub, Tunnel() as tunnel:
            env = environment(**KEY, https_proxy=tunnel.url, no_proxy="", AWS_CA_BUNDLE=certificate)
            self.check_through(stub, tunnel, env, {("CONNECT", f"127.0.0.1:{stub.port}")})

    def test_past_it(self):
        with Stub(lambda request: {}) as stub, Tunnel() as tunnel:
            env = environment(**KEY, http_proxy=tunnel.url, no_proxy="127.0.0.1")
            self.check_through(stub, tunnel, env, set())

    def test_one_that_refuses(self):
        with Stub(lambda request: {}) as stub, Tunnel(refuse=True) as tunnel:
            env = environment(**KEY, http_proxy=tunnel.url, no_proxy="")
            replies, end = call(stub.url, [{"n": 0}], env=env)
            self.check_all(replies, reply="none", unsure=False)
            self.assertIn("the proxy refuses to connect to the server", end["error"])
            self.assertEqual(stub.requests, [])


if __name__ == "__main__":
    unittest.main()
