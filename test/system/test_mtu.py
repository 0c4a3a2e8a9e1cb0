# SPDX-License-Identifier: BSD-3-Clause
"""MTU: set, shown, kept over a restart, refused outside the device's range."""
import pytest
from harness import frames, pcapfile
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC


def test_set_and_shown():
    with Testpmd(args=["--mbuf-size=10240"]) as pmd:
        for mtu in (9000, 1500, 68, 3000):
            pmd.cmd("port stop 0")
            answer = pmd.cmd(f"port config mtu 0 {mtu}")
            assert "rror" not in answer and "fail" not in answer.lower(), answer
            assert pmd.info()["MTU"] == str(mtu)
            pmd.cmd("port start 0")
            assert pmd.info()["MTU"] == str(mtu)


@pytest.mark.parametrize("mtu", [10, 65535])
def test_out_of_range_is_refused(mtu):
    with Testpmd() as pmd:
        pmd.cmd("port stop 0")
        answer = pmd.cmd(f"port config mtu 0 {mtu}")
        assert "rror" in answer or "fail" in answer.lower() or "bad" in answer.lower() or \
            "invalid" in answer.lower() or "MTU" in answer, answer
        assert pmd.info()["MTU"] == "1500"
        assert "Done" in pmd.cmd("port start 0")


def test_jumbo_frames_pass(tmp_path):
    sent = [frames.packet(data=bytes(i & 255 for i in range(size - 42)), sport=size)
            for size in (1514, 1515, 4096, 9014)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"],
                 args=["--mbuf-size=10240", "--max-pkt-len=9018"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        pmd.cmd("stop")
    assert pcapfile.read(result) == sent


def test_a_stopped_port_takes_it_before_its_queues_do():
    """As Open vSwitch does: stop, set the MTU, then set up queues that are made for it; the start looks at them."""
    with Testpmd() as pmd:
        assert "enable RTE_ETH_RX_OFFLOAD_SCATTER" in pmd.cmd("port config mtu 0 9000")
        pmd.cmd("port stop 0")
        assert pmd.cmd("port config mtu 0 9000").strip() == ""
        answer = pmd.cmd("port start 0")
        assert "enable RTE_ETH_RX_OFFLOAD_SCATTER" in answer and "Fail to start port 0" in answer, answer
        pmd.cmd("port config 0 rx_offload scatter on")
        assert "Fail" not in pmd.cmd("port start 0")
        assert pmd.info()["MTU"] == "9000"
        assert "RX scattered packets: on" in pmd.cmd("show rxq info 0 0")
