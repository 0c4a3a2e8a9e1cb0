# SPDX-License-Identifier: BSD-3-Clause
"""Every forwarding mode of testpmd, frame by frame: what comes in, and what must leave for it."""
import socket
import struct

import pytest
from harness import frames
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

PORT, PEER = frames.mac(frames.PORT_MAC), frames.mac(frames.PEER_MAC)
# testpmd's own idea of who is at the other end of port 0.
NEXT_HOP = frames.mac("02:00:00:00:00:00")
ICMP, ARP = 1, 0x0806
ECHO_REQUEST, ECHO_REPLY = 8, 0


def swapped(frame):
    return frame[6:12] + frame[:6] + frame[12:]


def routed(frame):
    return NEXT_HOP + PORT + frame[12:]


def icmp_echo(kind, src, dst):
    text = struct.pack("!BBHHH", kind, 0, 0, 7, 1) + bytes(range(32))
    text = text[:2] + struct.pack("!H", frames.checksum(text)) + text[4:]
    return frames.ipv4(text, ICMP, src, dst)


def arp(operation, sender, target):
    """Of and to (MAC, IPv4 address)."""
    ends = b"".join(mac + socket.inet_aton(ip) for mac, ip in (sender, target))
    return struct.pack("!HHBBH", 1, frames.IPV4, 6, 4, operation) + ends


DATAGRAMS = [frames.packet(sport=1000 + i, data=bytes(i)) for i in range(40)]
BACK = [swapped(frames.packet(src="10.0.0.1", dst="10.0.0.2", sport=53, dport=1000 + i, data=bytes(i)))
        for i in range(40)]
WRONG = [frames.packet(sport=i, data=bytes(i), ip_checksum=0xDEAD, l4_checksum=0xBEEF) for i in range(40)]
RIGHT = [routed(frames.packet(sport=i, data=bytes(i))) for i in range(40)]
NEAR, FAR = "10.0.0.1", "10.0.0.2"
ASKED = [frames.ether(icmp_echo(ECHO_REQUEST, FAR, NEAR), frames.IPV4),
         frames.ether(arp(1, (PEER, FAR), (bytes(6), NEAR)), ARP, dst=frames.BROADCAST)]
ANSWERED = [frames.ether(icmp_echo(ECHO_REPLY, NEAR, FAR), frames.IPV4, frames.PEER_MAC, frames.PORT_MAC),
            frames.ether(arp(2, (PORT, NEAR), (PEER, FAR)), ARP, frames.PEER_MAC, frames.PORT_MAC)]

# Mode, commands before it, frames in, frames out.
ROWS = [
    ("io", [], DATAGRAMS, DATAGRAMS),
    ("mac", [], DATAGRAMS, [routed(frame) for frame in DATAGRAMS]),
    ("macswap", [], DATAGRAMS, [swapped(frame) for frame in DATAGRAMS]),
    ("5tswap", [], DATAGRAMS, BACK),
    ("noisy", [], DATAGRAMS, DATAGRAMS),
    ("csum", [f"csum set {layer} sw 0" for layer in ("ip", "udp")], WRONG, RIGHT),
    ("csum", [f"csum set {layer} hw 0" for layer in ("ip", "udp")], WRONG, RIGHT),
    ("icmpecho", [], ASKED, ANSWERED),
    ("rxonly", [], DATAGRAMS, []),
    ("shared_rxq", [], DATAGRAMS, []),
]


@pytest.fixture(name="wired", scope="module")
def fixture_wired(tmp_path_factory):
    path = tmp_path_factory.mktemp("modes") / "wire"
    # Without --rxq-share shared_rxq crashes in testpmd, on any driver; ports that cannot share ignore it.
    with Testpmd(ports=[f"wire=unix:{path},mac={frames.PORT_MAC}"], args=["--rxq-share"]) as pmd, \
            Cable(path) as peer:
        yield pmd, peer


def prepare(pmd, commands):
    """Offloads are changed while the port is stopped."""
    if commands:
        for line in ("port stop 0", *commands, "port start 0"):
            pmd.cmd(line)


@pytest.mark.parametrize("mode, commands, sent, wanted", ROWS)
def test_mode(wired, mode, commands, sent, wanted):
    pmd, peer = wired
    prepare(pmd, commands)
    pmd.cmd("clear port stats 0")
    assert "Set" in pmd.cmd(f"set fwd {mode}")
    pmd.cmd("start")
    peer.send(*sent)
    assert peer.receive_all(len(wanted), PATIENCE) == wanted
    stats = pmd.wait_stats(lambda now: now["RX-packets"] >= len(sent))
    pmd.cmd("stop")
    # Nothing leaves for what these modes keep, nor twice.
    assert stats["RX-packets"] == len(sent) and stats["TX-packets"] == len(wanted), stats
    assert peer.receive(0) is None


@pytest.mark.parametrize("mode, dst_ips", [("txonly", 1), ("flowgen", 1024)])
def test_generators(wired, mode, dst_ips):
    """They fill the wire by themselves: each frame is UDP with right checksums, flowgen's of many flows."""
    pmd, peer = wired
    pmd.cmd("set txpkts 128")
    pmd.cmd(f"set fwd {mode}")
    pmd.cmd("clear port stats 0")
    pmd.cmd("start")
    got = peer.receive_all(4096, PATIENCE)
    pmd.cmd("stop")
    count = pmd.stats()["TX-packets"]
    got += peer.receive_all(count - len(got), PATIENCE)
    assert len(got) == count and pmd.stats()["TX-errors"] == 0
    assert all(frame[23] == frames.UDP and frames.checksums(frame)[0] for frame in got[:4096])
    assert len({frame[30:34] for frame in got[:4096]}) == dst_ips
    # flowgen leaves out the bytes of the FCS.
    assert {len(frame) for frame in got} == {128 if mode == "txonly" else 124}


def test_ieee1588_is_not_in_debians_testpmd(wired):
    """A build with the mode would meet a port without timesync, which says so."""
    pmd, _ = wired
    assert "Bad arguments" in pmd.cmd("set fwd ieee1588")
