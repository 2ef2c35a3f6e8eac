#!/usr/bin/env python3
"""The client of the DynamoDB API against a server that misbehaves: what is tried again, what is said, what is signed."""
import datetime
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import servers_python  # noqa: E402,F401
from botocore.auth import SigV4Auth  # noqa: E402
from botocore.awsrequest import AWSRequest  # noqa: E402
from botocore.credentials import Credentials  # noqa: E402
from ddb_call import FOLDER, KEY, Case, call, environment, first_time, lines_of, start  # noqa: E402
from ddb_stub import NONE, WRONG, Budget, Reply, Stub, failure, signature, throttled  # noqa: E402

OTHER_KEYS = {"AKIDOTHER0005678": ("other-secret", "other-token")}
NOWHERE = "http://127.0.0.1:1"


class Wire(Case):
    def test_replies_come_to_their_requests(self):
        def answer(request):
            return Reply({"n": request.body["n"]}, compress=request.number % 2 == 0, delay=random.random() / 50)
        with Stub(answer) as stub:
            replies, end = call(stub.url, [{"n": n} for n in range(300)])
            self.check_all(replies, reply="ok", attempts=1, unsure=False)
            self.assertEqual([json.loads(reply["content"])["n"] for reply in replies], list(range(300)))
            self.assertEqual((end["requests"], end["attempts"], end["write_units"]), (300, 300, 300))
            self.assertLessEqual(stub.connections, 64)
            self.assertEqual({request.headers["accept-encoding"] for request in stub.requests}, {"gzip"})

    def test_threads_share_an_account(self):
        """Four clients, throttled and refused now and then, while the key changes under them."""
        def answer(request):
            kinds = {3: throttled(), 5: failure("ExpiredTokenException"), 7: Reply({}, cut=20), 11: failure("InternalServerError", status=500)}
            return kinds.get(request.number % 13, {})
        with Stub(answer) as stub:
            _, end = call(stub.url, [{"n": n} for n in range(100)], "threads=4", "quiet=1", "max_wcu=2000")
            self.assertEqual((end["requests"], end["error"]), (400, ""))
            self.assertEqual(end["attempts"], len(stub.requests))

    def test_a_reply_cut_at_any_byte_is_no_reply(self):
        whole = Reply({"n": 0, "text": "x" * 40})
        size = len(whole.wire("Mon, 01 Jan 2026 00:00:00 GMT"))
        with Stub(first_time(lambda n: Reply(whole.body, cut=n))) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(size)])
            self.check_all(replies, reply="ok", attempts=2, unsure=True)
            self.assertEqual([json.loads(reply["content"]) for reply in replies], [{"n": n} for n in range(size)])
            self.assertEqual(len(stub.requests), 2 * size)

    def test_a_refusal_cut_within_its_header_is_no_reply(self):
        head = Reply(b"", status=400).wire("Mon, 01 Jan 2026 00:00:00 GMT")
        with Stub(first_time(lambda n: Reply(b"", status=400, cut=n))) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(len(head))])
            self.check_all(replies, reply="ok", attempts=2, unsure=True)

    def test_a_reply_without_length_may_end_early(self):
        body = json.dumps({"n": 0, "text": "x" * 40}).encode()
        with Stub(first_time(lambda n: Reply(body[:n], length=False, crc=NONE))) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(len(body))])
            self.check_all(replies, reply="ok", attempts=2, unsure=True)

    def test_a_wrong_checksum_is_no_reply(self):
        for compress in (False, True):
            with self.subTest(compress=compress), Stub(first_time(lambda n: Reply({"n": -1}, crc=WRONG, compress=compress))) as stub:
                replies, _ = call(stub.url, [{"n": 0}])
                self.check_all(replies, reply="ok", attempts=2, unsure=True, content='{"n": 0}')

    def test_a_broken_compression_is_no_reply(self):
        with Stub(first_time(lambda n: Reply(b'{"n": 0}', headers={"Content-Encoding": "gzip"}))) as stub:
            replies, _ = call(stub.url, [{"n": 0}])
            self.check_all(replies, reply="ok", attempts=2, unsure=True)

    def test_nothing_is_sent_twice_unseen(self):
        """The server reads a request on a kept-alive connection, does it, and ends the connection."""
        def answer(request):
            return Reply({}, cut=0) if request.number == 2 else {"n": request.number}
        with Stub(answer) as stub:
            replies, end = call(stub.url, [{"n": n} for n in range(3)], "at_once=1")
            self.assertEqual([reply["attempts"] for reply in replies], [1, 2, 1])
            self.assertEqual([reply["unsure"] for reply in replies], [False, True, False])
            self.assertEqual(len(stub.requests), end["attempts"])

    def test_connections_that_end_between_requests_do_no_harm(self):
        with Stub(lambda request: Reply({}, close=True)) as stub:
            replies, end = call(stub.url, [{"n": n} for n in range(50)], "at_once=5")
            self.check_all(replies, reply="ok")
            self.assertLessEqual(len(stub.requests), end["attempts"])
            self.assertEqual([reply["unsure"] for reply in replies], [reply["attempts"] > 1 for reply in replies])

    def test_a_silent_server_is_waited_for_only_so_long(self):
        with Stub(first_time(lambda n: Reply({"n": n}, delay=3))) as stub:
            replies, _ = call(stub.url, [{"n": 0}], "timeout_ms=300")
            self.check_all(replies, reply="ok", attempts=2, unsure=True)

    def test_consumed_capacity_is_read_where_it_was_asked_for(self):
        table = {"TableName": "T", "CapacityUnits": 4.0, "Table": {"CapacityUnits": 1.5}, "GlobalSecondaryIndexes": {"i": {"CapacityUnits": 2.5}}}
        decoy = {"Item": {"ConsumedCapacity": {"M": {"CapacityUnits": {"N": "7"}}}, "x": {"S": '"ConsumedCapacity": {"CapacityUnits": 9}'}}}
        cases = [({"ConsumedCapacity": table}, 4), ({**decoy, "ConsumedCapacity": table}, 4), (decoy, -1),
                 ({"ConsumedCapacity": [table, {"TableName": "U", "CapacityUnits": 0.5}]}, 4.5), ({}, -1)]
        with Stub(lambda request: cases[request.body["n"]][0]) as stub:
            replies, _ = call(stub.url, [{"n": n, "ReturnConsumedCapacity": "INDEXES"} for n in range(len(cases))])
            self.assertEqual([reply["consumed"] for reply in replies], [units for _, units in cases])


class Retries(Case):
    def test_what_is_tried_again(self):
        reasons = [{"Code": "None"}, {"Code": "TransactionConflict"}]
        again = [throttled(), throttled(name="ThrottlingException"), throttled(name="RequestLimitExceeded"),
                 throttled("IndexWriteKeyRangeThroughputExceeded"), failure("TransactionConflictException"),
                 failure("TransactionInProgressException"), failure("TransactionCanceledException", CancellationReasons=reasons),
                 failure("TransactionCanceledException", CancellationReasons=[{"Code": "ThrottlingError"}])]
        broken = [failure("InternalServerError", status=500), failure("ServiceUnavailable", status=503),
                  Reply(b"<html>bad gateway</html>", status=502, crc=NONE)]
        with Stub(first_time(lambda n: (again + broken)[n])) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(len(again + broken))])
            self.check_all(replies, reply="ok", attempts=2)
            self.assertEqual([reply["unsure"] for reply in replies], [False] * len(again) + [True] * len(broken))

    def test_what_is_not(self):
        stays = [{"Code": "TransactionConflict"}, {"Code": "ConditionalCheckFailed", "Item": {"PK": {"S": "a"}}}]
        cases = [("condition", failure("ConditionalCheckFailedException", "The conditional request failed", Item={"PK": {"S": "a"}})),
                 ("cancelled", failure("TransactionCanceledException", CancellationReasons=stays)),
                 ("error", failure("ValidationException", "One or more parameter values were invalid")),
                 ("error", failure("ItemCollectionSizeLimitExceededException")), ("error", failure("AccessDeniedException")),
                 ("error", failure("ResourceNotFoundException")), ("error", Reply(b"too large", status=413, crc=NONE))]
        with Stub(first_time(lambda n: cases[n][1])) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(len(cases))])
            self.check_all(replies, attempts=1, unsure=False)
            self.assertEqual([reply["reply"] for reply in replies], [kind for kind, _ in cases])
            self.assertEqual(json.loads(replies[0]["content"])["Item"], {"PK": {"S": "a"}})
            self.assertEqual(json.loads(replies[1]["content"])["CancellationReasons"], stays)
            self.assertEqual([reply["type"] for reply in replies[2:4]], ["ValidationException", "ItemCollectionSizeLimitExceededException"])

    def test_a_condition_that_fails_after_500_may_be_our_own_doing(self):
        done = set()

        def answer(request):
            if request.body["n"] in done:
                return failure("ConditionalCheckFailedException")
            done.add(request.body["n"])
            return failure("InternalServerError", status=500)
        with Stub(answer) as stub:
            replies, _ = call(stub.url, [{"n": 0}])
            self.check_all(replies, reply="condition", unsure=True, attempts=2)

    def test_every_attempt_has_the_same_body(self):
        with Stub(first_time(lambda n: Reply({}, cut=0))) as stub:
            call(stub.url, [{"n": n, "text": "é\u2028" * n} for n in range(20)])
            bodies = {}
            for request in stub.requests:
                bodies.setdefault(request.body["n"], set()).add(request.raw)
            self.assertEqual({len(same) for same in bodies.values()}, {1})

    def test_a_server_that_goes_on_failing_is_given_up(self):
        with Stub(lambda request: failure("InternalServerError", "sorry", status=500)) as stub:
            replies, end = call(stub.url, [{"n": 0}])
            self.check_all(replies, reply="error", unsure=True, status=500, type="InternalServerError")
            self.assertEqual(end["attempts"], 10)

    def test_an_interruption_ends_the_waiting(self):
        with Stub(lambda request: throttled()) as stub:
            started = time.monotonic()
            replies, end = call(stub.url, [{"n": n} for n in range(100)], "stop_ms=500")
            self.assertLess(time.monotonic() - started, 20)
            self.assertEqual(end["error"], "interrupted")
            self.check_all(replies, reply="none", unsure=False)

    def test_an_interruption_leaves_what_is_under_way_unsure(self):
        with Stub(lambda request: Reply({}, delay=5)) as stub:
            replies, end = call(stub.url, [{"n": 0}], "stop_ms=200")
            self.assertEqual(end["error"], "interrupted")
            self.check_all(replies, reply="none", unsure=True)


class Limits(Case):
    def test_the_users_limit_is_kept(self):
        for operation, setting in (("UpdateItem", "max_wcu=100"), ("Scan", "max_rcu=100")):
            with self.subTest(operation), Stub(lambda request: {}, check=False) as stub:
                started = time.monotonic()
                call(stub.url, [(operation, 0, 2, {"n": n}) for n in range(100)], setting)
                self.assertGreater(time.monotonic() - started, 1.8)

    def test_the_limit_counts_what_was_consumed(self):
        with Stub(lambda request: {"ConsumedCapacity": {"TableName": "T", "CapacityUnits": 10.0}}, check=False) as stub:
            started = time.monotonic()
            _, end = call(stub.url, [("Scan", 0, 1, {"ReturnConsumedCapacity": "TOTAL"})] * 20, "max_rcu=100", "at_once=1")
            self.assertGreater(time.monotonic() - started, 1.7)
            self.assertEqual(end["read_units"], 200)

    def test_a_key_range_slows_only_what_goes_to_it(self):
        budget = Budget(40, 5)

        def answer(request):
            hot = request.body["lane"] == 7
            return throttled("TableWriteKeyRangeThroughputExceeded") if hot and not budget.take() else {}
        requests = [("UpdateItem", 7 if n % 4 == 0 else 100 + n, 1, {"lane": 7 if n % 4 == 0 else n}) for n in range(400)]
        with Stub(answer, check=False) as stub:
            started = time.monotonic()
            replies, _ = call(stub.url, requests)
            self.check_all(replies, reply="ok")
            cold = [request.at for request in stub.requests if request.body["lane"] != 7]
            hot = [request.at for request in stub.requests if request.body["lane"] == 7]
            self.assertLess(max(cold), max(hot))
            self.assertGreater(time.monotonic() - started, 2)


class Keys(Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-keys-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path + ".new", mode)
        os.replace(path + ".new", path)
        return path

    def profile_env(self, credentials="", config="", **more):
        return environment(AWS_SHARED_CREDENTIALS_FILE=self.write("credentials", credentials),
                           AWS_CONFIG_FILE=self.write("config", config), **more)

    def test_signatures_are_botocores(self):
        draw = random.Random(4)
        rows, wanted = [], []
        for n in range(300):
            key_id, region = f"AKID{draw.getrandbits(60):X}", draw.choice(["eu-west-1", "us-gov-east-1"])
            secret = "".join(draw.choices("abcXYZ0189/+=", k=40))
            token = "".join(draw.choices("abcXYZ0189/+=", k=draw.choice([0, 400])))
            host = draw.choice(["dynamodb.eu-west-1.amazonaws.com", "127.0.0.1:8000", "[::1]:8000"])
            path = draw.choice(["/", "/prefix", "/a%20b/c=d+e", "/-._~/x"])
            at = draw.randrange(946684800, 4102444800)
            body = "".join(draw.choices('{}":é\u2028\0ab', k=draw.randrange(200))).encode()
            target = "DynamoDB_20120810.PutItem"
            rows.append("\t".join([text.encode().hex() for text in (key_id, secret, token, region, host, path)] +
                                  [str(at), target.encode().hex(), body.hex()]))
            stamp = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
            headers = {"Host": host, "X-Amz-Date": stamp, "X-Amz-Target": target}
            if token:
                headers["X-Amz-Security-Token"] = token
            request = AWSRequest(method="POST", url=f"http://{host}{path}", headers=headers, data=body)
            request.context["timestamp"] = stamp
            signer = SigV4Auth(Credentials(key_id, secret, token or None), "dynamodb", region)
            found = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
            names = ";".join(sorted(name.lower() for name in headers))
            wanted.append(f"AWS4-HMAC-SHA256 Credential={key_id}/{stamp[:8]}/{region}/dynamodb/aws4_request, SignedHeaders={names}, Signature={found}")
        out = subprocess.run([os.path.join(FOLDER, "ddb_sign_lines")], input="\n".join(rows) + "\n", text=True, check=True,
                             stdout=subprocess.PIPE).stdout.splitlines()
        self.assertEqual(out, wanted)

    def test_signed_as_sent_below_a_path(self):
        for path in ("", "/", "/prefix", "/a%20b/c=d"):
            with self.subTest(path), Stub(lambda request: {}) as stub:
                replies, _ = call(stub.url + path, [{"n": 0}])
                self.check_all(replies, reply="ok", attempts=1)

    def test_every_source_gives_its_key(self):
        secret, token = OTHER_KEYS["AKIDOTHER0005678"]
        answer = {"Version": 1, "AccessKeyId": "AKIDOTHER0005678", "SecretAccessKey": secret, "SessionToken": token,
                  "Token": token, "Expiration": "2099-01-01T00:00:00Z"}
        xml = (f"<R><Credentials><AccessKeyId>AKIDOTHER0005678</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>"
               f"<SessionToken>{token}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></R>").encode()
        plain = f"aws_access_key_id = AKIDOTHER0005678\naws_secret_access_key = {secret} # comment\naws_session_token={token}\n"
        base = "[base]\naws_access_key_id = AKIDSTUB00001234\naws_secret_access_key = stub-secret\n"
        identity = self.write("identity", "the-token\n")
        script = self.write("process.sh", f"#!/bin/sh\n[ \"$1\" = 'two words' ] && printf '%s' '{json.dumps(answer)}'\n", 0o700)

        def security(request):
            form = request.raw.decode()
            if "AssumeRoleWithWebIdentity" in form:
                return Reply(xml) if "WebIdentityToken=the-token" in form else Reply(b"<Message>no</Message>", status=403)
            whole = "ExternalId=a%2Fb" in form and "RoleArn=arn%3Aaws%3Aiam" in form
            right = request.key_id == "AKIDSTUB00001234" and signature(request, "stub-secret", "", "sts") in request.headers["authorization"]
            return Reply(xml) if whole and right else Reply(b"<Message>no</Message>", status=403)

        def container(request):
            return Reply(answer) if request.headers.get("authorization") == "Basic abc" else Reply({}, status=403)

        def instance(request):
            return Reply(answer) if request.headers.get("x-aws-ec2-metadata-token") == "t0" else Reply({}, status=401)
        role = "role_arn = arn:aws:iam::1:role/r\n"
        with Stub(lambda request: {}, keys=OTHER_KEYS) as stub:
            stub.pages = {"/": security, "/container": container,
                          "/latest/api/token": lambda r: Reply(b"t0") if r.method == "PUT" and r.headers.get("x-aws-ec2-metadata-token-ttl-seconds") else Reply({}, status=400),
                          "/latest/meta-data/iam/security-credentials/": lambda r: Reply(b"the-role\n"),
                          "/latest/meta-data/iam/security-credentials/the-role": instance}
            sts = {"AWS_ENDPOINT_URL_STS": stub.url}
            cases = {
                "the environment": environment(AWS_ACCESS_KEY_ID="AKIDOTHER0005678", AWS_SECRET_ACCESS_KEY=secret, AWS_SESSION_TOKEN=token),
                "profile default": self.profile_env("[other]\nx = y\n[default]\n" + plain),
                "profile dev": environment(AWS_PROFILE="dev", AWS_SHARED_CREDENTIALS_FILE="/nonexistent",
                                           AWS_CONFIG_FILE=self.write("config1", "[profile dev]\n" + plain)),
                "role arn:aws:iam::1:role/r": environment(AWS_PROFILE="dev", **sts, AWS_SHARED_CREDENTIALS_FILE=self.write("credentials2", base),
                                                          AWS_CONFIG_FILE=self.write("config2", f"[profile dev]\n{role}source_profile = base\nexternal_id=a/b\n")),
                "role arn:aws:iam::1:role/w": environment(**sts, AWS_ROLE_ARN="arn:aws:iam::1:role/w", AWS_WEB_IDENTITY_TOKEN_FILE=identity),
                "role arn:aws:iam::1:role/p": environment(**sts, AWS_PROFILE="web", AWS_CONFIG_FILE=self.write(
                    "config3", f"[profile web]\nrole_arn=arn:aws:iam::1:role/p\nweb_identity_token_file={identity}\n")),
                "credential_process": environment(AWS_PROFILE="run", AWS_CONFIG_FILE=self.write(
                    "config4", f"[profile run]\ncredential_process = {script} \"two words\"\n")),
                "the container's endpoint": environment(AWS_CONTAINER_CREDENTIALS_FULL_URI=stub.url + "/container",
                                                        AWS_CONTAINER_AUTHORIZATION_TOKEN="Basic abc"),
                "the instance's role": environment(AWS_EC2_METADATA_DISABLED="false", AWS_EC2_METADATA_SERVICE_ENDPOINT=stub.url + "/"),
            }
            for source, env in cases.items():
                with self.subTest(source):
                    replies, end = call(stub.url, [{"n": 0}], env=env)
                    self.check_all(replies, reply="ok", attempts=1)
                    self.assertTrue(end["place"].endswith("key id ...5678 from " + source), end)

    def test_a_command_for_credentials_gets_no_connections(self):
        """Those it prints are soon over, so that it is called again while there are some."""
        script = self.write("process.py", f"""#!{sys.executable}
import datetime, json, os
over = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
files = [file for file in os.listdir("/proc/self/fd") if int(file) > 2 and os.path.exists("/proc/self/fd/" + file)]
open({self.folder!r} + "/calls", "a").write(" ".join(files) + "\\n")
print(json.dumps({{"Version": 1, "AccessKeyId": "AKIDSTUB00001234", "SecretAccessKey": "stub-secret",
                  "Expiration": over.strftime("%Y-%m-%dT%H:%M:%SZ")}}))
""", 0o700)
        env = environment(AWS_PROFILE="run", AWS_CONFIG_FILE=self.write("config", f"[profile run]\ncredential_process = {script}\n"))
        with Stub(lambda request: Reply({}, delay=0.5)) as stub:
            replies, _ = call(stub.url, [{"n": n} for n in range(6)], "at_once=2", env=env)
            self.check_all(replies, reply="ok", attempts=1)
        with open(os.path.join(self.folder, "calls"), encoding="utf-8") as file:
            calls = file.read().splitlines()
        self.assertGreater(len(calls), 1)
        self.assertEqual(set(calls), {""})

    def test_expired_credentials_are_read_anew(self):
        """The third request of the run finds the token expired; the file is replaced a second later."""
        old = "[default]\naws_access_key_id = AKIDSTUB00001234\naws_secret_access_key = stub-secret\n"
        new = "[default]\naws_access_key_id = AKIDOTHER0005678\naws_secret_access_key = other-secret\naws_session_token = other-token\n"
        expired = []

        def answer(request):
            if request.number > 2 and request.key_id == "AKIDSTUB00001234":
                if not expired:
                    threading.Timer(0.4, self.write, ("credentials", new)).start()
                expired.append(request)
                return failure("ExpiredTokenException", "The security token included in the request is expired")
            return {}
        with Stub(answer, keys={"AKIDSTUB00001234": ("stub-secret", ""), **OTHER_KEYS}) as stub:
            replies, end = call(stub.url, [{"n": n} for n in range(6)], "at_once=2", env=self.profile_env(old))
            self.check_all(replies, reply="ok", unsure=False)
            self.assertEqual((end["throttled"], end["requests"]), (0, 6))
            self.assertGreater(len(expired), 0)

    def test_credentials_that_stay_expired_end_the_run(self):
        with Stub(lambda request: failure("ExpiredTokenException", "The security token included in the request is expired")) as stub:
            started = time.monotonic()
            replies, end = call(stub.url, [{"n": n} for n in range(20)])
            self.assertLess(time.monotonic() - started, 30)
            self.check_all(replies, reply="error", type="ExpiredTokenException")
            self.assertIn("credentials have expired", replies[0]["error"])
            self.assertNotIn("stub-secret", json.dumps(replies + [end]))

    def test_a_key_is_renewed_before_it_expires(self):
        made = []

        def container(_):
            made.append(1)
            soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=20 if len(made) == 1 else 3600)
            return Reply({"AccessKeyId": f"AKIDMADE0000000{len(made)}", "SecretAccessKey": "s", "Token": "t", "Expiration": soon.strftime("%Y-%m-%dT%H:%M:%SZ")})
        keys = {"AKIDMADE00000001": ("s", "t"), "AKIDMADE00000002": ("s", "t")}
        with Stub(lambda request: Reply({}, delay=0.1), keys=keys) as stub:
            stub.pages["/c"] = container
            env = environment(AWS_CONTAINER_CREDENTIALS_FULL_URI=stub.url + "/c")
            replies, _ = call(stub.url, [{"n": n} for n in range(45)], "at_once=1", env=env)
            self.check_all(replies, reply="ok", attempts=1)
            self.assertEqual(len(made), 2)
            self.assertEqual([request.key_id for request in stub.requests if request.operation][-1], "AKIDMADE00000002")

    def test_a_skewed_clock_is_put_right_once(self):
        for clock_s in (-600, 600):
            with self.subTest(clock_s), Stub(lambda request: {}) as stub:
                replies, end = call(stub.url, [{"n": n} for n in range(5)], "at_once=1", f"clock_s={clock_s}")
                self.assertEqual([reply["attempts"] for reply in replies], [2, 1, 1, 1, 1])
                self.check_all(replies, reply="ok", unsure=False)
                self.assertAlmostEqual(end["skew_s"], -clock_s, delta=2)

    def test_a_host_that_slept_signs_anew(self):
        """The clocks differ for one request only, as when the host was suspended between signing and sending."""
        with Stub(lambda request: {}) as stub:
            inner = stub.refusal

            def refusal(request):
                stub.clock_s = 360 if request.number == 2 else 0
                return inner(request)
            stub.refusal = refusal
            replies, end = call(stub.url, [{"n": n} for n in range(3)], "at_once=1")
            self.check_all(replies, reply="ok", unsure=False)
            self.assertAlmostEqual(end["skew_s"], 0, delta=2)

    def test_suspended_between_signing_and_sending(self):
        with Stub(lambda request: Reply({"n": request.number}, delay=0.05)) as stub:
            process = start(stub.url, "at_once=1")
            process.stdin.write(lines_of([{"n": n} for n in range(40)]))
            process.stdin.close()
            time.sleep(0.5)
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            process.send_signal(signal.SIGCONT)
            replies = [json.loads(line) for line in process.stdout][:-1]
            process.stdout.close()
            process.stderr.close()
            process.wait(timeout=30)
            self.check_all(replies, reply="ok", attempts=1)


class Messages(Case):
    def told(self, stub_answer, env=None, operation="UpdateItem", **options):
        with Stub(stub_answer, **options) as stub:
            started = time.monotonic()
            replies, _ = call(stub.url, [(operation, 0, 0, {})], env=env)
            self.assertLess(time.monotonic() - started, 20)
            return replies[0]["error"]

    def test_each_says_where_and_with_which_key(self):
        cases = [("no such table", failure("ResourceNotFoundException", "Requested resource not found")),
                 ("-sharedDb", failure("ResourceNotFoundException", "Requested resource not found")),
                 ("may not do this", failure("AccessDeniedException", "User: x is not authorized to perform: dynamodb:UpdateItem")),
                 ("does not know the key", failure("UnrecognizedClientException", "The security token is invalid")),
                 ("One or more", failure("ValidationException", "One or more parameter values were invalid"))]
        for says, reply in cases:
            with self.subTest(says):
                text = self.told(lambda request, reply=reply: reply)
                for part in ("UpdateItem: ", says, "http://127.0.0.1:", "eu-west-1", "...1234 from the environment"):
                    self.assertIn(part, text)

    def test_a_wrong_secret_is_said_at_once(self):
        text = self.told(lambda request: {}, env=environment(**{**KEY, "AWS_SECRET_ACCESS_KEY": "another"}))
        self.assertIn("refuses the signature", text)
        self.assertNotIn("another", text)

    def test_a_refused_connection_is_said_at_once(self):
        started = time.monotonic()
        replies, end = call(NOWHERE, [{"n": n} for n in range(100)])
        self.assertLess(time.monotonic() - started, 20)
        self.check_all(replies, reply="none", unsure=False)
        for part in ("Connection refused", NOWHERE, "eu-west-1", "...1234", "hint: "):
            self.assertIn(part, end["error"])

    def test_an_unknown_host_is_said_at_once(self):
        started = time.monotonic()
        _, end = call("http://nosuchhost.invalid", [{"n": 0}])
        self.assertLess(time.monotonic() - started, 20)
        self.assertIn("nosuchhost.invalid", end["error"])

    def test_a_name_server_that_says_nothing(self):
        """Neither an attempt's time nor the end of a run waits for it."""
        env = environment(**KEY, LD_PRELOAD=os.path.join(FOLDER, "libsilent_names.so"))
        for setting, says in (("timeout_ms=500", "Timeout was reached"), ("stop_ms=500", "interrupted")):
            with self.subTest(setting):
                replies, end = call("http://somewhere.invalid", [{"n": 0}], setting, env=env)
                self.check_all(replies, reply="none")
                self.assertIn(says, end["error"])

    def test_one_that_says_nothing_of_where_credentials_are(self):
        env = environment(AWS_EC2_METADATA_DISABLED="false", AWS_EC2_METADATA_SERVICE_ENDPOINT="http://somewhere.invalid/",
                          LD_PRELOAD=os.path.join(FOLDER, "libsilent_names.so"))
        _, end = call(NOWHERE, [], env=env)
        self.assertIn("no credentials", end["error"])

    def test_what_cannot_be_opened(self):
        cases = [("no credentials", environment(), "eu-west-1", NOWHERE), ("profile ghost", environment(AWS_PROFILE="ghost"), "eu-west-1", NOWHERE),
                 ("is not a region", environment(**KEY), "eu west", NOWHERE), ("no region is set", environment(**KEY), "", ""),
                 ("is not a URL", environment(**KEY), "eu-west-1", "127.0.0.1:8000"),
                 ("is not a URL", environment(**KEY), "eu-west-1", "http://127.0.0.1:99999"),
                 ("is not a URL", environment(**KEY), "eu-west-1", "http://[::1"),
                 ("must both be set", environment(AWS_ACCESS_KEY_ID="AKIDSTUB00001234"), "eu-west-1", NOWHERE)]
        for says, env, region, url in cases:
            with self.subTest(says):
                started = time.monotonic()
                _, end = call(url, [], env=env, region=region)
                self.assertIn(says, end["error"])
                self.assertLess(time.monotonic() - started, 20)


if __name__ == "__main__":
    unittest.main()
