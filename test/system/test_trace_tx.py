# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl trace --tx: what would become of frames that a port sends."""
import json

from harness import frames, pcapfile
from harness.ctl import ask
from harness.testpmd import Testpmd

NEAR, FAR, THIRD = "02:00:00:00:00:10", "02:00:00:00:00:20", "02:00:00:00:00:30"
STRANGER = "02:00:00:00:00:77"


def foretold(pmd, tmp_path, *sent, port=0):
    """(the text, the same as JSON) for these frames; nothing is counted."""
    capture = tmp_path / "sent.pcap"
    pcapfile.write(capture, sent)
    before = ask(pmd, "dump"), ask(pmd, "stats")
    text = ask(pmd, "trace", "--tx", "--port", port, capture)
    traces = json.loads(ask(pmd, "trace", "--tx", "--json", "--port", port, capture))
    assert (ask(pmd, "dump"), ask(pmd, "stats")) == before
    return text, traces


def fates(traces):
    """Of each frame: its fate, and of each port that receives it, the device and the fate there."""
    return [(trace["fate"], [(there["device"], there["fate"]) for there in trace["received"]]) for trace in traces]


def test_rules_on_sent_frames_and_a_loop(tmp_path):
    with Testpmd(ports=[f"wire=loop,mac={NEAR}"], args=["--rxq=1", "--txq=1"]) as pmd:
        pmd.cmd("set promisc 0 off")
        pmd.flow("egress priority 1 pattern eth / ipv4 / udp / end actions count / end")
        pmd.flow("egress pattern eth / ipv4 / udp dst is 53 / end actions drop / end")
        text, traces = foretold(
            pmd, tmp_path, frames.packet(eth_dst=NEAR, dport=53), frames.packet(eth_dst=NEAR, dport=54),
            frames.packet(eth_dst=STRANGER, proto=frames.TCP), frames.packet(eth_dst=NEAR)[:20])
        assert fates(traces) == [("dropped", []), ("sent", [("mlx5_0", "delivered")]), ("sent", [("mlx5_0", "lost")]),
                                 ("sent", [("mlx5_0", "delivered")])]
        assert {table["type"] for trace in traces for table in trace["tables"]} == {"NIC_TX"}
        assert [[table["action"] for table in trace["tables"] if table["hit"]] for trace in traces][0] == ["DROP"]
        assert traces[3]["bytes"] == 60  # as it leaves
        for line in ("  dropped, 0 copies: a rule drops it\n", "  sent, 0 copies: it comes back\nmlx5_0 receives: 60 bytes",
                     "type: NIC_TX): FTE: 0x0 (DROP) matches\n"):
            assert line in text, text
        ask(pmd, "link", "down")
        text, traces = foretold(pmd, tmp_path, frames.packet(eth_dst=NEAR, dport=54))
        assert fates(traces) == [("lost", [])]
        assert "  lost, 0 copies: the link is down\n" in text


def test_a_sniffer_of_what_is_sent_gets_its_copy(tmp_path):
    with Testpmd(ports=["wire=null"], vdevs=["net_mlx5dv0,ibdev=mlx5_0,sniff=all"], args=["--rxq=1", "--txq=1"]) as pmd:
        text, (trace,) = foretold(pmd, tmp_path, frames.packet())
        assert trace["copies"] == 1 and trace["fate"] == "lost"
        assert "type: SNIFFER_TX" in text and "    copy to TIR:" in text
        assert "  lost, 1 copy: the wire swallows all\n" in text


def test_a_pair_and_virtual_functions(tmp_path):
    ports = [f"wire=pair:a,mac={NEAR},vf=on,spoof=on", f"wire=pair:a,mac={FAR},vf=on", f"wire=pair:a,mac={THIRD}"]
    with Testpmd(ports=ports, args=["--rxq=1", "--txq=1"]) as pmd:
        text, traces = foretold(
            pmd, tmp_path, frames.packet(eth_src=NEAR, eth_dst=FAR), frames.packet(eth_src=NEAR, eth_dst=STRANGER),
            frames.packet(eth_src=NEAR, eth_dst=frames.BROADCAST), frames.packet(eth_src=FAR, eth_dst=THIRD),
            frames.packet(eth_src=NEAR, eth_dst=NEAR))
        assert fates(traces) == [
            ("sent", [("mlx5_1", "delivered")]), ("sent", [("mlx5_2", "delivered")]),
            ("sent", [("mlx5_1", "delivered"), ("mlx5_2", "delivered")]), ("lost", []), ("lost", [])]
        for what in ("to another virtual function, and not onto the wire", "onto the wire\n",
                     "onto the wire, and to the card's other functions",
                     "its source address is not the virtual function's"):
            assert what in text, text
        # The port at the other end takes all: it is promiscuous.
        _, traces = foretold(pmd, tmp_path, frames.packet(eth_src=THIRD, eth_dst=NEAR), port=2)
        assert traces[0]["fate"] == "sent" and "other end of its pair" in traces[0]["wire"]
