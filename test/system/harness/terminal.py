# SPDX-License-Identifier: BSD-3-Clause
"""A program on a pseudo-terminal, used as a user would.

Timeouts are of the no-progress kind: a wait fails when nothing at all has been printed for that long,
never because a slow machine needs longer in total.
"""
import contextlib
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import termios
import time

from .patience import PATIENCE

POLLERS_NICE = 15
TORN_CHARACTERS = 2048  # an incomplete prompt begins at most so far back
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r|\x07")


def torn_pattern(head, rest):
    """Lines, the group, in the middle of a prompt."""
    head, rest = re.escape(head), re.escape(rest)
    return re.compile(rf"^{head}(?!{rest})((?:[^\n]*\n){{1,40}}?){rest}", re.M)


def threads(pid):
    """The threads of a process and of those that it started: number and name; one may end meanwhile."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for path in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                yield int(path.name), path.joinpath("comm").read_text(encoding="ascii")
                for child in path.joinpath("children").read_text(encoding="ascii").split():
                    yield from threads(child)


class TerminalError(AssertionError):
    """The program did not print the expected text; the message has the text that it printed."""


class Terminal:
    """One child process in a process group of its own; `text` is its output so far.

    It stays in the session: Linux shares the CPU out by sessions first (sched_autogroup_enabled), and only among
    the threads of one by their priorities, see lower_priority().

    Of a program that prints its `prompt` byte by byte, lines of other threads may come in the middle of
    it; in `text` they come before.
    """

    def __init__(self, argv, env=None, cwd=None, prompt=""):
        self.argv = [str(arg) for arg in argv]
        master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST
        attributes[3] &= ~(termios.ECHO | termios.ECHONL)
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        self.process = subprocess.Popen(
            self.argv, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=cwd,
            process_group=0, close_fds=True)
        os.close(slave)
        self.master = master
        self.text = ""
        self._held = b""
        self._torn = [torn_pattern(prompt[:cut], prompt[cut:]) for cut in range(1, len(prompt))]
        self._prompt = prompt
        self.ended = False

    def read_some(self, seconds):
        """Append the output of the next `seconds`; False when there was none or the program ended."""
        if self.ended or not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return False
        data = self._held + data
        # Keep the first half of an escape sequence until the other half comes.
        cut = data.rfind(b"\x1b", max(0, len(data) - 8))
        if cut >= 0 and not ESCAPES.match(data, cut):
            data, self._held = data[:cut], data[cut:]
        else:
            self._held = b""
        self._append(ESCAPES.sub(b"", data).decode("utf-8", "replace"))
        return True

    def _append(self, new):
        # Characters change places and none is lost, so offsets into the text stay valid.
        settled = max(0, len(self.text) - TORN_CHARACTERS)
        tail = self.text[settled:] + new
        for torn in self._torn:
            tail = torn.sub(lambda match: match.group(1) + self._prompt, tail)
        self.text = self.text[:settled] + tail

    def forget(self):
        """Drop the output so far: offsets into `text` start at 0 again."""
        while self.read_some(0):
            pass
        self.text = ""

    def send(self, text):
        os.write(self.master, text.encode())

    def fail(self, why):
        tail = self.text[-4000:]
        raise TerminalError(f"{why}\n--- {' '.join(self.argv)}\n--- last output:\n{tail}")

    def expect(self, pattern, start, quiet=PATIENCE):
        """Read until `pattern` matches the text from offset `start` on; returns the match."""
        compiled = re.compile(pattern, re.S)
        while True:
            match = compiled.search(self.text, start)
            if match:
                return match
            if not self.read_some(quiet):
                if self.ended:
                    match = compiled.search(self.text, start)
                    if match:
                        return match
                    self.fail(f"ended before {pattern!r} (status {self.wait(5)})")
                self.fail(f"silent for {quiet} s, waiting for {pattern!r}")

    def wait(self, seconds=PATIENCE):
        """Read to the end; the exit status. Fails when it neither prints nor ends."""
        deadline = time.monotonic() + seconds
        while not self.ended:
            if self.read_some(0.2):
                deadline = time.monotonic() + seconds
            elif self.process.poll() is not None:
                while self.read_some(0.05):
                    pass
                break
            elif time.monotonic() > deadline:
                self.fail(f"does not end (silent for {seconds} s)")
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.fail("closed its output but does not end")

    def lower_priority(self, thread):
        """Let other threads of the tests come first where those named `thread`, a pattern, poll all the time."""
        for tid, name in threads(self.process.pid):
            if re.match(thread, name):
                with contextlib.suppress(ProcessLookupError):
                    os.setpriority(os.PRIO_PROCESS, tid, POLLERS_NICE)

    def close(self):
        """Kill the process and its group, in any state, and nothing else."""
        for sig in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is not None:
                break
            try:
                os.killpg(self.process.pid, sig)
            except ProcessLookupError:
                break
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                continue
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
