"""What a finished command used."""
import os
import subprocess
import threading
import time


class Usage:
    """wall and cpu: seconds. peak_bytes, private_bytes: most resident memory, and of it what is the process's own. status; out
    and err, where they were pipes."""

    def __init__(self, command, **options):
        started = time.monotonic()
        process = subprocess.Popen(command, **options)
        self.peak_bytes = self.private_bytes = 0
        watcher = threading.Thread(target=self._watch, args=(process.pid,))
        watcher.start()
        self.out, self.err = (pipe.read().decode() if pipe else "" for pipe in (process.stdout, process.stderr))
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.monotonic() - started
        self.status = process.returncode = os.waitstatus_to_exitcode(status)
        watcher.join()
        self.cpu = usage.ru_utime + usage.ru_stime

    def _watch(self, pid):
        """ru_maxrss would count what the parent had when it forked."""
        while True:
            try:
                with open(f"/proc/{pid}/status", encoding="ascii") as status:
                    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in status if line.startswith(("VmHWM:", "RssAnon:"))}
            except OSError:
                return
            if not sizes:
                return
            self.peak_bytes = max(self.peak_bytes, sizes["VmHWM"])
            self.private_bytes = max(self.private_bytes, sizes["RssAnon"])
            time.sleep(0.005)
