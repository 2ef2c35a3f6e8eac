#!/usr/bin/env python3
"""Public fault reports of tools of this kind, replayed behind the DynamoDB API: credentials, clocks, and what cannot work.

Tables lie on dynalite, behind a stub that checks signatures as DynamoDB does and dynalite does not."""
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import ddb_servers  # noqa: E402
import refold  # noqa: E402
from api_case import KEY_ID, SECRET, Case, is_checkpoint, is_ours, item  # noqa: E402
from ddb_stub import KEYS, NONE, Reply, certified, failure  # noqa: E402

NEW_KEY = ("AKIDOTHER0005678", "other-secret", "other-token")
OTHER = {NEW_KEY[0]: NEW_KEY[1:]}


class Credentials(Case):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "credentials")
        self.write_keys(KEY_ID, SECRET)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.env = {**kept, "HOME": self.folder, "AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": self.file}
        self.load(*[item(f"k{n}") for n in range(30)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": "${PK}"}})

    def write_keys(self, key_id, secret, token=None):
        with open(self.file + ".new", "w", encoding="ascii") as out:
            out.write(f"[default]\naws_access_key_id = {key_id}\naws_secret_access_key = {secret}\n")
            out.write(f"aws_session_token = {token}\n" if token else "")
        os.replace(self.file + ".new", self.file)

    def expiring(self, expired, then=lambda: None):
        """The first key is good until two checkpoints stand."""
        written = []

        def answer(request):
            if is_checkpoint(request):
                written.append(request.number)
            if len(written) < 3 or request.key_id != KEY_ID:
                return None
            expired.append(request.operation)
            if len(expired) == 1:
                then()
            return failure("ExpiredTokenException", "The security token included in the request is expired")
        return self.stub(answer, keys={**KEYS, **OTHER})

    def assert_no_secret(self, *texts):
        for text in texts:
            for secret in (SECRET, *NEW_KEY[1:]):
                self.assertNotIn(secret, text)

    def test_net_1_credentials_that_expire_are_read_again(self):
        expired = []
        with self.expiring(expired, lambda: self.write_keys(*NEW_KEY)) as stub:
            out, err = self.apply(self.through(stub), "--segments", "4", env=self.env)
            self.assertEqual(stub.requests[-1].key_id, NEW_KEY[0])
            self.assertEqual(stub.requests[-1].headers["x-amz-security-token"], NEW_KEY[2])
        self.assertGreater(len(expired), 0)
        self.assert_all_have(30, "V")
        self.assert_no_secret(out, err)

    def test_net_1_credentials_that_stay_expired_stop_the_run(self):
        """After few tries; what was done is kept, and the same command goes on with new ones."""
        expired = []
        with self.expiring(expired) as stub:
            out, err = self.apply(self.through(stub), "--segments", "4", "--workers", "1", env=self.env, expect=1)
            self.assertIn("the credentials have expired", err)
            self.assertIn("...1234 from profile default", err)
            self.assertIn("hint: sign in again; the same command goes on", err)
            self.assertNotIn("throttled", err)
            self.assert_no_secret(out, err)
            self.assertLess(len(expired), 100)
            self.write_keys(*NEW_KEY)
            begun = len(stub.requests)
            out, err = self.apply(self.through(stub), env=self.env)
            again = {request.body["Segment"] for request in stub.requests[begun:] if request.operation == "Scan"}
        self.assertLess(len(again), 4)
        self.assert_all_have(30, "V")
        self.assert_no_secret(out, err)

    def test_credentials_that_are_expired_at_first_are_said_at_once(self):
        with self.stub(lambda _: failure("ExpiredTokenException", "The security token included in the request is expired")) as stub:
            _, err = self.apply(self.through(stub), env=self.env, expect=1)
            self.assertLessEqual(len(stub.requests), 2)
        self.assertIn("the credentials have expired", err)


class Clocks(Case):
    def test_net_2_a_clock_that_differs_is_put_right_and_said(self):
        """Ten minutes either way: one more try, the measured difference in one message, and all goes on."""
        self.load(*[item(f"k{n}") for n in range(10)])
        for version, (clock_s, words) in enumerate(((-600, "s behind this host's"), (600, "s ahead of this host's")), start=1):
            self.plan(version, {"where": f"attribute_not_exists(V{version})", "set": {f"V{version}": True}})
            refused = []
            with self.stub() as stub:
                stub.clock_s = clock_s
                check = stub.refusal

                def note(request, check=check, refused=refused):
                    reply = check(request)
                    refused.extend([reply] if reply else [])
                    return reply
                stub.refusal = note
                _, err = self.apply(self.through(stub))
            said = re.findall(rf"the server's clock is (\d+) {words}", err)
            self.assertEqual(len(said), 1, err)
            self.assertAlmostEqual(int(said[0]), 600, delta=5)
            self.assertEqual(len(refused), 1)
        self.assert_all_have(10, "V1", "V2")

    def test_net_2_a_host_that_slept_between_signing_and_sending(self):
        """One update comes six minutes after it was signed: it is signed anew, and nothing is lost."""
        self.load(*[item(f"k{n}") for n in range(20)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}})
        late = []

        def answer(request):
            if request.operation != "UpdateItem" or is_ours(request) or late:
                return None
            late.append(request)
            return failure("InvalidSignatureException", "Signature expired", date_s=360)

        with self.stub(answer) as stub:
            self.apply(self.through(stub))
            keys = [request.body["Key"] for request in stub.requests if request.operation == "UpdateItem" and not is_ours(request)]
        self.assertEqual(len(late), 1)
        self.assertGreater(keys.count(late[0].body["Key"]), 1)
        self.assert_all_have(20, "V")


class SetUps(Case):
    """What cannot work is said at once, in one sentence that names endpoint, region and key, with a hint; every command ends
    with exit 1. The tries are counted, not the seconds."""

    def commands(self):
        rows = self.write_rows([item("a")])
        return {"apply": self.options, "status": [], "import": ["--from", rows], "query": ["PK = 'a'"]}

    def assert_said(self, table, *parts, tries=None, stub=None, env=None, commands=None):
        for command, more in self.commands().items():
            if commands and command not in commands:
                continue
            begun = len(stub.requests) if stub else 0
            with self.subTest(command):
                _, err = refold.run(command, table, *more, expect=1, env=env)
                sentence, _, hint = err.strip().partition("\n")
                for part in parts:
                    self.assertIn(part, sentence)
                self.assertTrue(sentence.startswith("refold: ") and hint.startswith("hint: ") and "\n" not in hint, err)
                self.assertNotIn(SECRET, err)
                if stub:
                    self.assertLessEqual(len(stub.requests) - begun, tries)

    def test_net_4_a_missing_table(self):
        """Never nothing done and called success, nor made: it may lie in another region, or under another key of a local server."""
        with self.stub() as stub:
            self.assert_said(self.through(stub), f"table {self.name} does not exist", stub.url, "us-east-1", "...1234", tries=1, stub=stub)
            _, err = refold.run("apply", f"dynamodb:{self.name}?endpoint={stub.url}", *self.options, expect=1,
                                env={**os.environ, "AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-3"})
        self.assertIn("region eu-west-3", err)
        self.assertIn("local servers may keep tables apart by key id and region", err)
        self.assertNotIn(self.name, self.server.call("ListTables", {})["TableNames"])

    def test_an_answer_that_ends_it(self):
        """Of any request, the first included."""
        html = b"<html>hello</html>"
        answers = {
            "the server does not know the key": (failure("UnrecognizedClientException", "The security token is invalid."), 2),
            "the key may not do this": (failure("AccessDeniedException", "User: x is not authorized to perform: dynamodb:DescribeTable"), 1),
            "the credentials have expired": (failure("ExpiredTokenException", "The security token included in the request is expired"), 2),
            "there is no such table or index": (failure("ResourceNotFoundException", "Cannot do operations on a non-existent table"), 1),
            "status 404 of HTTP": (Reply(html, status=404, crc=NONE), 1),
            "status 403 of HTTP": (Reply(html, status=403, crc=NONE), 1),
            "status 301 of HTTP": (Reply(b"", status=301, crc=NONE, headers={"Location": "http://127.0.0.1:1/"}), 1),
            "is not DynamoDB's": (Reply(html, crc=NONE), 12),
        }
        self.load(item("a"))
        for words, (reply, tries) in answers.items():
            at = "Scan" if "no such table" in words else "DescribeTable"
            with self.stub(lambda request, reply=reply, at=at: reply if request.operation == at and not is_ours(request) else None) as stub:
                with self.subTest(words):
                    self.assert_said(self.through(stub), words, stub.url, "us-east-1", "...1234", tries=tries if at != "Scan" else 99, stub=stub,
                                     commands=("import",) if at == "Scan" else None)

    def test_a_right_that_is_taken_away_in_mid_run(self):
        """What was done is kept; with the right given back, the same command goes on."""
        self.load(*[item(f"k{n}") for n in range(40)])
        self.plan(1, {"where": "attribute_not_exists(V)", "set": {"V": True}})
        for operation in ("UpdateItem", "Scan"):
            written, denied = [], []

            def answer(request, operation=operation, written=written, denied=denied):
                if is_checkpoint(request):
                    written.append(request)
                if request.operation != operation or is_ours(request) or len(written) < 2:
                    return None
                denied.append(request)
                return failure("AccessDeniedException", f"User: x is not authorized to perform: dynamodb:{operation}")

            with self.subTest(operation), self.stub(answer) as stub:
                _, err = self.apply(self.through(stub), "--segments", "8", "--workers", "1", expect=1)
                self.assertIn(f"{operation}: the key may not do this", err)
                self.assertIn("hint: allow the operation", err)
                self.assertEqual(len({request.raw for request in denied}), len(denied))
                self.assertIn("interrupted", refold.run("status", self.table, "--plans", self.plans)[0])
        self.apply(self.table)
        self.assert_all_have(40, "V")

    def test_no_way_to_the_server(self):
        port = ddb_servers.free_port()
        for url, words in ((f"http://127.0.0.1:{port}", "Connection refused"), ("http://nowhere.invalid:8000", "Couldn't resolve host name")):
            with self.subTest(words):
                self.assert_said(f"dynamodb:Shop?endpoint={url}&region=us-east-1", words, url, "us-east-1", "...1234", commands=("apply", "import"))

    def test_a_certificate_that_nobody_vouches_for(self):
        """AWS_CA_BUNDLE says who does; a server without TLS is no server for https."""
        context, certificate = certified(self.folder)
        self.load(item("a"))
        with self.stub(tls=context) as stub:
            self.assert_said(self.through(stub), "certificate is not trusted", stub.url, "...1234", tries=0, stub=stub)
            out, _ = refold.run("query", self.through(stub), "PK = 'a'", env={**os.environ, "AWS_CA_BUNDLE": certificate})
        self.assertIn("a", out)

    def test_no_credentials(self):
        env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        env |= {"HOME": self.folder, "AWS_EC2_METADATA_DISABLED": "true"}
        with self.stub() as stub:
            self.assert_said(self.through(stub), "no credentials: looked at the environment", tries=0, stub=stub, env=env)


if __name__ == "__main__":
    unittest.main()
