# SPDX-License-Identifier: BSD-3-Clause
"""rte_eth_recycle_mbufs() as testpmd's mode recycle_mbufs uses it: sent mbufs go to the receive queue past the pool."""
import pytest
from harness import dpdk, frames
from harness.cable import Cable
from harness.faulty import FaultyTestpmd
from harness.patience import PATIENCE

pytestmark = pytest.mark.skipif(dpdk.VERSION < (23, 11), reason="DPDK 23.11 is the first that has it")
SCATTER, SEGMENTS = "0x2000", "0x8000"
ROUNDS, BURST, RING = 40, 48, 256


@pytest.mark.parametrize("args", [[], [f"--tx-offloads={SEGMENTS}"], [f"--rx-offloads={SCATTER}", "--max-pkt-len=4000",
                                                                     f"--tx-offloads={SEGMENTS}"]],
                         ids=["plain", "chains are possible", "scattered: nothing to recycle"])
def test_frames_come_back(tmp_path, args):
    """Many times round the rings: each frame as it came, and no mbuf is lost or in two places."""
    with FaultyTestpmd(tmp_path, "", f"wire=unix:{tmp_path}/wire,mac={frames.PORT_MAC}",
                       args=[f"--rxd={RING}", f"--txd={RING}", *args]) as pmd, Cable(tmp_path / "wire") as peer:
        assert "Set recycle_mbufs packet forwarding mode" in pmd.cmd("set fwd recycle_mbufs")
        pmd.cmd("start")
        for number in range(ROUNDS):
            sent = [frames.packet(sport=number, dport=i, data=bytes([i]) * (number + i)) for i in range(BURST)]
            peer.send(*sent)
            assert peer.receive_all(BURST, PATIENCE) == sent
        stats = pmd.stats()
        assert stats["RX-packets"] == stats["TX-packets"] == ROUNDS * BURST and stats["RX-nombuf"] == 0
        pmd.stop_and_count()
