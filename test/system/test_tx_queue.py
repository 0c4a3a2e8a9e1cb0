# SPDX-License-Identifier: BSD-3-Clause
"""A send queue asked from outside: mbufs freed on request, its state for people to read."""
import re
import time

from harness.patience import PATIENCE
from harness.telemetry import ask
from harness.testpmd import Testpmd


def cleanup(pmd, most):
    answer = pmd.cmd(f"port cleanup 0 txq 0 {most}")
    return int(re.search(r"mbuf nums: (\d+)", answer)[1])


def test_mbufs_are_freed_on_request():
    """64 packets are worth a completion; the device completes them, and nobody sends any more."""
    with Testpmd(args=["--txd=512"]) as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start tx_first 2")
        pmd.cmd("stop")
        end, freed = time.monotonic() + PATIENCE, 0
        while freed == 0 and time.monotonic() < end:
            freed = cleanup(pmd, 5)
        assert freed == 5
        assert cleanup(pmd, 0) == 59
        assert cleanup(pmd, 0) == 0


def test_a_stopped_queue_has_no_packets():
    with Testpmd(args=["--txd=512"]) as pmd:
        for state in ("stop", "start"):
            pmd.cmd(f"port 0 txq 0 {state}")
            for descriptor in (0, 511):
                answer = pmd.cmd(f"show port 0 txq 0 desc {descriptor} status")
                assert "Desc status = DONE" in answer, (state, answer)


def test_its_state_is_readable():
    with Testpmd(args=["--txd=512"], telemetry=True) as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start tx_first 1")
        pmd.cmd("stop")
        text = ask(pmd.prefix, "/ethdev/dump_priv,0")
        assert "device mlx5_0 port 1" in text
        assert re.search(r"^Tx queue 0: SQ 0x[0-9a-f]+ of 512 WQEBBs: 0 to \d+ with the device", text, re.M), text
        assert "mbufs 0 to 32 not known to be sent" in text
        pmd.cmd("port stop 0")
        text = ask(pmd.prefix, "/ethdev/dump_priv,0")
        assert "Tx queue 0: stopped, 512 descriptors" in text
