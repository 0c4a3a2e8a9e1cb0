# SPDX-License-Identifier: BSD-3-Clause
"""Loops of whole programs, timed: a program stands while its device fills the receive queue, and the device stands while the
program works on that."""
import contextlib
import json
import os
import pathlib
import signal
import struct
import subprocess
import time
import types

from harness import ctl, paths
from harness.patience import PATIENCE, until
from harness.testpmd import eal_prefix, remove_runtime_dir, softhca_argv

BURST = 32
HEADER = struct.Struct("<QQ")  # of app/loop-meter: loops, ticks a second
# A device fills a queue, and a program works it off, in a small part of this.
SECONDS = 0.005


class Turns:
    """A program on a port that stands while its device works, and works while that stands; use as a context manager."""

    def __init__(self, directory, port, command, environment, options=()):
        self.directory = pathlib.Path(directory)
        self.socket = self.directory / "ctl"
        self.argv = softhca_argv([port], [str(word) for word in command], ["--ctl", self.socket, *options])
        self.environment = environment

    def __enter__(self):
        with open(self.directory / "output", "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(self.argv, env={**os.environ, **self.environment}, stdin=subprocess.PIPE,
                                            stdout=output, stderr=output)
        try:
            self._wait_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        self.signal(signal.SIGCONT)
        self.ctl("thaw")
        self.signal(signal.SIGINT)
        self._end()

    def _end(self):
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        self.process.kill()
        self.process.wait()
        self.ended()

    def _wait_ready(self):
        """Until it has had full bursts; then both it and its device stand."""
        end = time.monotonic() + PATIENCE
        while not self.socket.exists() or not self.is_started() or not self._has_loops():
            assert self.process.poll() is None and time.monotonic() < end, (self.directory / "output").read_text(encoding="utf-8")
            time.sleep(0.05)
        self.signal(signal.SIGSTOP)
        self.ctl("freeze")

    def _has_loops(self):
        with contextlib.suppress(AssertionError, subprocess.CalledProcessError):
            self.turns(1)
        return self.take()

    def signal(self, number):
        os.kill(int(ctl.pid_of(types.SimpleNamespace(terminal=self))), number)

    def ctl(self, word):
        subprocess.run([paths.SOFTHCA, "ctl", self.socket, word], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def turns(self, nb):
        """Let it work off full receive queues, so many times; it stands before and after."""
        for _ in range(nb):
            self.signal(signal.SIGSTOP)
            self.ctl("thaw")
            time.sleep(SECONDS)
            self.ctl("freeze")
            self.signal(signal.SIGCONT)
            time.sleep(SECONDS)
        self.signal(signal.SIGSTOP)

    def ticks(self, nb):
        """Ticks a packet of so many turns; of more if others had the CPUs in these."""
        self.turns(nb)
        return self.take() or until(self._another)

    def _another(self):
        self.turns(1)
        return self.take()


class Loops(Turns):
    """A program of DPDK, whose bursts app/loop-meter times. `words`: what follows the EAL's arguments."""

    def __init__(self, directory, program, port, eal, words):
        self.file, self.prefix, self.seen = pathlib.Path(directory) / "loops", eal_prefix(), 0
        command = [program, *eal, "--no-telemetry", "--file-prefix", self.prefix, "-d", paths.BUILD / "app/loop-meter.so", "--", *words]
        super().__init__(directory, port, command, dict(paths.plugin()[1], LOOP_METER=str(self.file)))
        self.directory.mkdir()

    def is_started(self):
        return self.file.exists() and self._receives()

    def _receives(self):
        """A program that is stopped while it makes its port keeps the device from answering, which costs 10 s."""
        with contextlib.suppress(subprocess.CalledProcessError):
            said = subprocess.run([paths.SOFTHCA, "ctl", self.socket, "stats", "--json"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, check=True).stdout
            return any(row["kind"] == "RQ" and row["packets"] for port in json.loads(said)["ports"] for row in port["queues"])
        return False

    def ended(self):
        remove_runtime_dir(self.prefix)

    def take(self):
        """TSC ticks a packet of the loops since the last time."""
        data = self.file.read_bytes()
        nb = HEADER.unpack_from(data)[0] if len(data) >= HEADER.size else 0
        ticks = struct.unpack_from(f"<{nb}I", data, HEADER.size)[self.seen:]
        self.seen = nb
        return [number / BURST for number in ticks]

    def tsc_hz(self):
        """Ticks a second."""
        return HEADER.unpack_from(self.file.read_bytes())[1]
