"""Kills a program at random moments and lets the same command go on, until it comes to its end."""
import random
import signal
import subprocess
import time


class Killer:
    """Counts kills over many rounds; the seed makes their moments repeatable, as far as clocks are."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kills = 0
        self.rounds = 0

    def run(self, command, seconds, most=50, killed=lambda: None):
        """Runs the command and kills it (SIGKILL) within most of `seconds`, its usual duration, again and again until it ends by
        itself before its moment has come, or has been killed `most` times; calls `killed` after each. Returns what it
        printed at last."""
        self.rounds += 1
        for _ in range(most):
            ended = self._run_once(command, self.random.uniform(0, 0.8 * seconds))
            if ended is not None:
                return ended
            self.kills += 1
            killed()
        return self._run_once(command, None)

    def _run_once(self, command, seconds):
        """None if it was killed."""
        command = command() if callable(command) else command
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = program.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            program.send_signal(signal.SIGKILL)
            out, err = program.communicate()
            if program.returncode == -signal.SIGKILL:
                return None
        if program.returncode != 0:
            raise AssertionError(f"exit {program.returncode}: {' '.join(command)}\n{out.decode()[-3000:]}\n{err.decode()[-3000:]}")
        return out


def measure(command):
    """Seconds that the command takes; it must succeed."""
    begun = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun
