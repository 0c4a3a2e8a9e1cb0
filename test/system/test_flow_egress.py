# SPDX-License-Identifier: BSD-3-Clause
"""Rules on sent packets: dropped, or counted and sent; the first in order decides; others leave as ever."""
import pytest
from harness import frames
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

END = frames.ether(b"the last one", 0x88B5)
DNS = frames.packet(dport=53)
UDP = frames.packet(dport=54)
TCP = frames.packet(proto=frames.TCP, dport=53)
UDP6 = frames.packet(version=6, dport=53)
SENT = [DNS, UDP, TCP, UDP6, UDP]


def echoed(peer, *sent):
    """What of the frames comes back from a port that sends what it receives; END comes last."""
    peer.send(*sent, END)
    back = []
    while (frame := peer.receive(PATIENCE)) != END:
        assert frame is not None, back
        back.append(frame)
    return back


@pytest.fixture(name="setup")
def fixture_setup(tmp_path):
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire,mac={frames.PORT_MAC}"]) as pmd:
        with Cable(tmp_path / "wire") as peer:
            pmd.cmd("set fwd io")
            pmd.cmd("start")
            yield pmd, peer


def test_sent_packets(setup):
    pmd, peer = setup
    assert echoed(peer, *SENT) == SENT
    drop = pmd.flow("egress priority 2 pattern eth / ipv4 / end actions drop / count / end")
    assert echoed(peer, *SENT) == [UDP6]
    let = pmd.flow("egress priority 1 pattern eth / ipv4 / udp / end actions count / end")
    assert echoed(peer, *SENT) == [DNS, UDP, UDP6, UDP]
    dns = pmd.flow("egress pattern eth / ipv4 / udp dst is 53 / end actions drop / end")
    assert echoed(peer, *SENT) == [UDP, UDP6, UDP]
    assert pmd.query_count(drop)[0] == 4 + 1 + 1
    assert pmd.query_count(let)[0] == 3 + 2
    pmd.cmd(f"flow destroy 0 rule {dns}")
    assert echoed(peer, *SENT) == [DNS, UDP, UDP6, UDP]
    pmd.cmd("flow flush 0")
    assert echoed(peer, *SENT) == SENT


def test_received_packets_have_tables_of_their_own(setup):
    """The same pattern in both directions."""
    pmd, peer = setup
    pmd.flow("ingress pattern eth / ipv4 / udp / end actions queue index 0 / count / end")
    pmd.flow("egress pattern eth / ipv4 / udp / end actions drop / count / end")
    assert echoed(peer, *SENT) == [TCP, UDP6]
    assert pmd.query_count(0)[0] == pmd.query_count(1)[0] == 3
    dump = pmd.cmd("flow dump 0 all")
    assert "NIC_RX" in dump and "NIC_TX" in dump
