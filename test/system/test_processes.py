# SPDX-License-Identifier: BSD-3-Clause
"""Several processes on one wire, several contexts in one process: DPDK on softhca."""
import os
import signal
import time

from harness import frames
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

ONE_QUEUE = ("--rxq=1", "--txq=1")
NEAR, FAR = "02:00:00:00:00:10", "02:00:00:00:00:20"


def end_of(tmp_path, mac):
    return Testpmd(ports=[f"wire=unix:{tmp_path}/wire,mac={mac}"], args=ONE_QUEUE)


def settled(*pmds):
    """Their statistics, once nothing moves any more."""
    last = None
    while True:
        now = [pmd.stats() for pmd in pmds]
        if now == last:
            return now
        last = now
        time.sleep(0.2)


def test_two_processes_on_one_wire_lose_nothing(tmp_path):
    """64 frames circle between them: what one sends the other receives, but for those under way."""
    with end_of(tmp_path, NEAR) as near, end_of(tmp_path, FAR) as far:
        far.cmd("set fwd io")
        far.cmd("start")
        near.cmd("set fwd io")
        near.cmd("start tx_first 2")
        near.wait_stats(lambda s: s["RX-packets"] > 5000)
        far.cmd("stop")
        near.cmd("stop")
        a, b = settled(near, far)
        for stats in a, b:
            assert stats["RX-missed"] == stats["RX-errors"] == stats["TX-errors"] == 0, stats
        # What arrives after stop stays in the queues.
        assert a["TX-packets"] + b["TX-packets"] - a["RX-packets"] - b["RX-packets"] == 64, (a, b)


def test_each_survives_the_other(tmp_path):
    """A neighbour that is killed is a cable pulled out; the next one is plugged in."""
    with end_of(tmp_path, NEAR) as near:
        near.cmd("set fwd io")
        near.cmd("start")
        for _ in range(2):
            far = end_of(tmp_path, FAR)
            try:
                far.__enter__()
                far.cmd("set fwd io")
                # The near end looks for a peer each 20 ms: what is sent before it has one is lost.
                far.cmd("start tx_first 1")
                end = time.monotonic() + PATIENCE
                while far.stats()["RX-packets"] < 1000:
                    assert time.monotonic() < end
                    far.cmd("stop")
                    far.cmd("start tx_first 1")
                before = near.stats()["RX-packets"]
                os.kill(far.terminal.process.pid, signal.SIGKILL)
                far.terminal.process.wait()
            finally:
                far.kill()
            assert before > 0
        near.cmd("stop")
        assert near.info()["Link status"] == "up"


def test_two_ports_of_one_process_share_a_device(tmp_path):
    """Two vdevs, a context each, one port: the same rule twice gives two copies, another MAC one."""
    vdevs = ["net_mlx5dv0,ibdev=mlx5_0", "net_mlx5dv1,ibdev=mlx5_0"]
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire,mac={NEAR}"], vdevs=vdevs, args=ONE_QUEUE) as pmd, \
            Cable(tmp_path / "wire") as peer:
        pmd.cmd("set promisc all off")
        pmd.cmd(f"mac_addr set 1 {FAR}")
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        peer.send(*[frames.packet(eth_dst=NEAR)] * 3, *[frames.packet(eth_dst=FAR)] * 4,
                  *[frames.packet(eth_dst=frames.BROADCAST)] * 5)
        pmd.wait_stats(lambda s: s["RX-packets"] >= 8, port=0)
        pmd.wait_stats(lambda s: s["RX-packets"] >= 9, port=1)
        # One goes, with its rules and queues; the other one's stay.
        pmd.cmd("stop")
        pmd.cmd("port stop 0")
        assert "closed" in pmd.cmd("port close 0").lower()
        pmd.cmd("clear port stats 1")
        pmd.cmd("start")
        peer.send(*[frames.packet(eth_dst=NEAR)] * 3, *[frames.packet(eth_dst=FAR)] * 6)
        assert pmd.wait_stats(lambda s: s["RX-packets"] >= 6, port=1)["RX-packets"] == 6
