# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --faults: receive queues whose CQs overrun are recreated, also where verbs fail meanwhile."""
import pytest
from harness import frames, pcapfile
from harness.faulty import FaultyTestpmd
from harness.patience import PATIENCE

pytestmark = pytest.mark.sanitized

MAC = frames.PORT_MAC


# What fails besides: nothing, or the verbs by which the queue is recreated, or its rules put back.
@pytest.mark.parametrize("more", ["", *(pytest.param(more, marks=pytest.mark.long) for more in (
    "verb enomem CREATE_CQ every 5", "verb eagain MODIFY_WQ every 3", "verb enomem CREATE_RWQ_IND_TBL every 3")),
                                  "verb enomem CREATE_QP every 5"])
def test_a_receive_queue_whose_cq_overran_is_recreated(tmp_path, more):
    """Its rules come back with it: nothing arrives but by one of them."""
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, [frames.packet(dport=7) for _ in range(100)])
    with FaultyTestpmd(tmp_path, f"cq overrun every 300\n{more}\n", f"wire=pcap:{capture},pace=0,repeat=0,mac={MAC}",
                       args=["--flow-isolate-all", "--disable-device-start", "--rxq=2", "--txq=2"]) as pmd:
        for _ in range(PATIENCE):
            if "Cannot allocate" not in pmd.cmd("port start 0") and "temporarily" not in pmd.terminal.text[-500:]:
                break
        pmd.cmd("set fwd rxonly")
        pmd.start_noisily()
        for _ in range(PATIENCE):
            if "created" in pmd.cmd("flow create 0 ingress pattern eth / ipv4 / udp dst is 7 / end"
                                    " actions mark id 5 / queue index 1 / end"):
                break
        pmd.until(lambda: "Rx queue 1: CQ error" in pmd.terminal.text, "no CQ in error")
        before = pmd.stats()["RX-packets"]
        pmd.wait_stats(lambda stats: stats["RX-packets"] > before + 2000)
        assert pmd.terminal.text.count("Rx queue 1: CQ error") == 1
        pmd.stop_and_count()
    assert all(pmd.applied().values())
