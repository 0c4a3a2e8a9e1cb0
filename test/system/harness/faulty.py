# SPDX-License-Identifier: BSD-3-Clause
"""testpmd on a port that softhca run --faults strikes."""
import re
import time

from .dpdk import DUMP_MEMPOOL
from .patience import PATIENCE
from .testpmd import Testpmd


class FaultyTestpmd(Testpmd):
    """testpmd on a strict port whose queues are struck."""

    def __init__(self, tmp_path, text, port, **options):
        file = tmp_path / "faults"
        file.write_text(text)
        super().__init__(ports=[port], softhca_options=("--strict", "--faults", file), **options)

    def applied(self):
        """{fault: times}, once it has ended."""
        return {fault: 0 if times == "never" else int(times.split()[0]) for fault, times in
                re.findall(r"^softhca: faults: line \d+: (.*): (never|\d+ times?)$", self.terminal.text, re.M)}

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, what
            self.terminal.read_some(0.05)

    def start_noisily(self):
        """What the driver says as soon as packets are polled for may stand in the middle of the prompt."""
        start = self.mark()
        self.terminal.send("start\n")
        # The last line of the answer; only the prompt follows.
        self.until(lambda: "TX RS bit threshold" in self.terminal.text[start:], "no answer to start")
        while self.terminal.read_some(1):
            pass

    def stop_and_count(self):
        """Stop the port: every mbuf is back, whatever befell the queues."""
        before = int(re.search(r"populated_size=(\d+)", self.cmd(f"{DUMP_MEMPOOL} mb_pool_0")).group(1))
        self.cmd("stop")
        self.cmd("port stop 0")
        assert self.mbufs_in_pool() == before
