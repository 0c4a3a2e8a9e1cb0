# SPDX-License-Identifier: BSD-3-Clause
"""rte_eth_recycle_mbufs() as testpmd's mode recycle_mbufs uses it: sent mbufs go to the receive queue past the pool."""
import pytest
from harness import dpdk, frames
from harness.cable import Cable
from harness.faulty import FaultyTestpmd
from harness.patience import PATIENCE
from harness.shared import SecondaryTestpmd, SharedTestpmd, hugepages_at

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


def test_each_process_recycles_on_its_own_queues(tmp_path):
    """Mbufs go round between the queues of one process, and the pool that both share loses none."""
    (tmp_path / "huge").mkdir()
    args = ["--rxq=2", "--txq=2", "--num-procs=2", f"--rxd={RING}", f"--txd={RING}"]
    with hugepages_at(tmp_path / "huge") as huge, \
            SharedTestpmd(huge, f"wire=unix:{tmp_path}/wire,mac={frames.PORT_MAC}", args=[*args, "--proc-id=0"]) as pmd, \
            Cable(tmp_path / "wire") as peer:
        for queue in (0, 1):
            pmd.flow(f"ingress pattern eth / ipv4 / udp dst is {queue} / end actions queue index {queue} / end")
        with SecondaryTestpmd(pmd, args=[*args, "--proc-id=1"]) as second:
            for process in (pmd, second):
                assert "Set recycle_mbufs packet forwarding mode" in process.cmd("set fwd recycle_mbufs")
                process.cmd("start")
            for number in range(ROUNDS):
                sent = [frames.packet(sport=number, dport=i % 2, data=bytes([i]) * (number + i)) for i in range(BURST)]
                peer.send(*sent)
                assert sorted(peer.receive_all(BURST, PATIENCE)) == sorted(sent)
            for process in (pmd, second):
                seen = process.xstats()
                assert [seen[f"{side}_q{queue}_packets"] for side in ("rx", "tx") for queue in (0, 1)] == \
                    [ROUNDS * BURST // 2] * 4
                assert process.stats()["RX-nombuf"] == 0
            second.cmd("stop")
        pmd.cmd("stop")
        pmd.cmd("port stop 0")
        assert pmd.mbufs_in_pool() == 4096
