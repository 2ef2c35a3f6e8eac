"""What tests of tables behind the DynamoDB API begin with: a server, a table of its own for each test, and a stub between
that checks signatures and misbehaves as the test says."""
import base64
import json
import subprocess
import unittest

import ddb_servers
import ddb_stub
import refold
from api_table import ApiTable

KEY_ID, (SECRET, _) = next(iter(ddb_stub.KEYS.items()))
ENVIRONMENT = {**ddb_servers.ENVIRONMENT, "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}


def item(partition, sort="A", **attributes):
    return {"PK": {"S": partition}, "SK": {"S": sort}, **attributes}


def is_ours(request):
    """It is about control records."""
    return b"__refold#" in request.raw


def is_checkpoint(request):
    """It writes how far a segment has come, not only who reads it."""
    if request.operation != "PutItem" or b"checkpoint/" not in request.raw:
        return False
    checkpoint = json.loads(base64.b64decode(request.body["Item"]["refold_value"]["B"]))
    return checkpoint["done"] or checkpoint["cursor"] != ""


class Case(ApiTable, unittest.TestCase):
    """A table of its own on a server that all share, plans, and a stub between."""

    environment = ENVIRONMENT

    def setUp(self):
        super().setUp()
        self.options = ["--plans", self.plans, "--state", self.state]

    def stub(self, answer=lambda request: None, **options):
        return ddb_stub.Stub(ddb_stub.relay(self.server, answer), **options)

    def through(self, stub, name=None):
        return f"dynamodb:{name or self.name}?endpoint={stub.url}&region=us-east-1"

    def load(self, *items, tables=None, options=()):
        super().load(items, *(tables or (self.table,)), options=options)

    def plan(self, version, *steps):
        super().plan(version, {"steps": list(steps)})

    def apply(self, table, *more, **options):
        """In few segments, as each takes requests, unless it is said how many."""
        few = () if "--segments" in more else ("--segments", "4")
        return refold.run("apply", table, *self.options, *few, *more, **options)

    def start(self, *arguments):
        return subprocess.Popen([refold.PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def start_apply(self, table, *more):
        return self.start("apply", table, *self.options, *more)

    def raw(self, name=None):
        """Items in DynamoDB JSON by (PK, SK), without control records."""
        found = [one for one in self.server.items(name or self.name) if not one["PK"]["S"].startswith("__refold#")]
        return {(one["PK"]["S"], one["SK"]["S"]): one for one in found}

    def assert_all_have(self, count, *names, never=()):
        """There are so many items; each has these attributes, and never those."""
        found = self.raw()
        self.assertEqual(len(found), count)
        for key, one in found.items():
            self.assertEqual(set(names) - set(one), set(), key)
            self.assertEqual(set(never) & set(one), set(), key)
