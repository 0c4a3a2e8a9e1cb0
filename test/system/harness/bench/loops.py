# SPDX-License-Identifier: BSD-3-Clause
"""Loops of whole programs, timed by app/loop-meter: a program stands while its device fills the receive queue, and the device
stands while the program works on that."""
import contextlib
import os
import pathlib
import signal
import struct
import subprocess
import time
import types

from harness import ctl, paths
from harness.patience import PATIENCE
from harness.testpmd import eal_prefix, remove_runtime_dir, softhca_argv

BURST = 32
# A device fills a queue, and a program works it off, in a small part of this.
SECONDS = 0.005


class Loops:
    """A program on a port; use as a context manager. `words`: what follows the EAL's arguments."""

    def __init__(self, directory, program, port, eal, words):
        self.directory, self.prefix = pathlib.Path(directory), eal_prefix()
        self.directory.mkdir()
        self.file, self.socket = self.directory / "loops", self.directory / "ctl"
        command = [program, *eal, "--no-telemetry", "--file-prefix", self.prefix, "-d", paths.BUILD / "app/loop-meter.so", "--", *words]
        self.argv = softhca_argv([port], [str(word) for word in command], ["--ctl", self.socket])
        self.seen = 0

    def __enter__(self):
        environment = dict(os.environ, **paths.plugin()[1], LOOP_METER=str(self.file))
        with open(self.directory / "output", "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(self.argv, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output)
        try:
            self._wait_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        self._signal(signal.SIGCONT)
        self._ctl("thaw")
        self._signal(signal.SIGINT)
        self._end()

    def _end(self):
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        self.process.kill()
        self.process.wait()
        remove_runtime_dir(self.prefix)

    def _wait_ready(self):
        """Until it has had full bursts; then both it and its device stand."""
        end = time.monotonic() + PATIENCE
        while not self.socket.exists() or not self.file.exists() or not self._has_loops():
            assert self.process.poll() is None and time.monotonic() < end, (self.directory / "output").read_text(encoding="utf-8")
            time.sleep(0.05)
        self._signal(signal.SIGSTOP)
        self._ctl("freeze")

    def _has_loops(self):
        with contextlib.suppress(AssertionError, subprocess.CalledProcessError):
            self.turns(1)
        return self.take()

    def _signal(self, number):
        os.kill(int(ctl.pid_of(types.SimpleNamespace(terminal=self))), number)

    def _ctl(self, word):
        subprocess.run([paths.SOFTHCA, "ctl", self.socket, word], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def turns(self, nb):
        """Let it work off full receive queues, so many times; it stands before and after."""
        for _ in range(nb):
            self._signal(signal.SIGSTOP)
            self._ctl("thaw")
            time.sleep(SECONDS)
            self._ctl("freeze")
            self._signal(signal.SIGCONT)
            time.sleep(SECONDS)
        self._signal(signal.SIGSTOP)

    def take(self):
        """TSC ticks a packet of the loops since the last time."""
        data = self.file.read_bytes()
        nb = struct.unpack_from("<Q", data)[0] if len(data) >= 8 else 0
        ticks = struct.unpack_from(f"<{nb}I", data, 8)[self.seen:]
        self.seen = nb
        return [number / BURST for number in ticks]
