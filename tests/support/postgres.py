"""A private PostgreSQL for tests: in a temporary directory, on a Unix socket, gone with the test."""
import glob
import os
import pwd
import shutil
import subprocess
import tempfile

SETTINGS = ["listen_addresses=", "fsync=off", "max_connections=40", "shared_buffers=256MB",
            "max_wal_size=2GB", "timezone=Asia/Kathmandu", "datestyle=SQL, DMY", "intervalstyle=sql_standard",
            "bytea_output=escape", "extra_float_digits=0"]


def binaries():
    """The newest installed server's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    if not found:
        raise RuntimeError("no PostgreSQL server is installed: run scripts/install-packages")
    return found[-1]


class Server:
    """with Server() as server: server.create_database("x"); server.psql("x", "SELECT 1").

    The settings are hostile on purpose: a client that does not pin its own reads other text."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="refold-pg-")
        self.data = os.path.join(self.folder, "data")
        self.user = None
        if os.geteuid() == 0:
            self.user = "postgres"
            entry = pwd.getpwnam(self.user)
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
        os.chmod(self.folder, 0o755)
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        with open(os.path.join(self.data, "postgresql.auto.conf"), "a", encoding="ascii") as conf:
            conf.write(f"unix_socket_directories='{self.folder}'\n")
            for setting in SETTINGS:
                name, value = setting.split("=", 1)
                conf.write(f"{name}='{value}'\n")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        self._run("pg_ctl", "-D", self.data, "-l", os.path.join(self.folder, "log"), "-w", "start")

    def stop(self):
        """Stops the server by its own process id file; fine if it is down already."""
        if os.path.exists(os.path.join(self.data, "postmaster.pid")):
            self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def _run(self, program, *arguments):
        command = [os.path.join(binaries(), program), *arguments]
        if self.user:
            command = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", *command]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd="/", check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout.decode(errors='replace')}")

    def uri(self, database):
        """A connection string that any client takes."""
        return f"postgresql:///{database}?host={self.folder}&user=postgres"

    def create_database(self, name, *options):
        self.psql("postgres", f'CREATE DATABASE "{name}" ' + " ".join(options))

    def psql(self, database, sql):
        """Runs SQL, returns what it prints: unaligned, tuples only."""
        done = subprocess.run([os.path.join(binaries(), "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.uri(database)],
                              input=sql.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return done.stdout.decode()

    def load(self, database, *files, **variables):
        """Runs SQL files in order; variables are psql's."""
        command = [os.path.join(binaries(), "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1"]
        for name, value in variables.items():
            command += ["-v", f"{name}={value}"]
        for file in files:
            command += ["-f", file]
        done = subprocess.run([*command, self.uri(database)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stdout.decode(errors="replace"))
