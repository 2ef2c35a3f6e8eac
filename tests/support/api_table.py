"""What tests of tables behind the DynamoDB API begin with: a server that all of a class share; for each test a table of its
own on it, one in a file beside it, and a folder of plans."""
import json
import os
import shutil
import tempfile

import ddb_servers
import refold


class ApiTable:
    """For a unittest.TestCase to inherit."""

    kind = "dynalite"
    environment = ddb_servers.ENVIRONMENT

    @classmethod
    def setUpClass(cls):
        os.environ.update(cls.environment)
        cls.server = ddb_servers.Server(cls.kind)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.number = 0

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="refold-api-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plans = os.path.join(self.folder, "plans")
        os.mkdir(self.plans)
        type(self).number += 1
        self.name = f"{type(self).__name__}{self.number}"
        self.table = self.server.table(self.name)
        self.embedded = os.path.join(self.folder, "t.refold")
        self.state = os.path.join(self.folder, "state")

    def plan(self, version, content):
        with open(os.path.join(self.plans, f"{version:04d}_plan.json"), "w", encoding="utf-8") as out:
            json.dump(content, out)

    def write_rows(self, items):
        """A file of JSON lines; its path."""
        path = os.path.join(self.folder, "rows.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"Item": one}) + "\n" for one in items)
        return path

    def load(self, items, *tables, options=()):
        rows = self.write_rows(items)
        for table in tables or (self.table, self.embedded):
            refold.run("import", table, "--from", rows, "--create", *options)
