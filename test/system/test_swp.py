# SPDX-License-Identifier: BSD-3-Clause
"""Tunnels that no device knows: it is told where the headers are, and its software parser goes by that.

The same packets through our driver and through DPDK's own, segment by segment as the RFCs say."""
import os
import struct

import pytest
from harness import frames, mode, paths, pcapfile
from harness.intree import pci_args, with_netdevs
from harness.segments import ACK, CWR, FIN, PSH, Stack, body, eth, ethertype, ip, tcp, udp
from harness.terminal import Terminal
from harness.testpmd import Testpmd, default_vdevs, eal_args, eal_prefix, remove_runtime_dir, softhca_argv

# rte_mbuf_core.h
TCP_SEG, TCP_CKSUM, UDP_CKSUM, IP_CKSUM = 1 << 50, 1 << 52, 3 << 52, 1 << 54
TX_IPV4, TX_IPV6, TX_VLAN = 1 << 55, 1 << 56, 1 << 57
OUTER_IP_CKSUM, OUTER_IPV4, OUTER_IPV6 = 1 << 58, 1 << 59, 1 << 60
TUNNEL_IP, TUNNEL_UDP = 0xD << 45, 0xE << 45
# rte_ethdev.h: VLAN, IPv4, UDP and TCP checksums, TSO, outer IPv4 checksum, segments
OFFLOADS = 0x1 | 0x2 | 0x4 | 0x8 | 0x20 | 0x80 | 0x8000
UDP_TNL_TSO, IP_TNL_TSO = 1 << 18, 1 << 19
MSS, TCI = 700, 5

pytestmark = pytest.mark.skipif(mode.is_ibv(), reason="plain verbs has no words for it")


class Sent:
    """A packet in a tunnel, what is asked of the device for it, and what must be on the wire."""

    def __init__(self, tunnel, outer, inner, size, l4="tcp", tag=False, first=0):  # pylint: disable=too-many-arguments
        if tunnel == "udp":
            between = [("udp", struct.pack("!HHHH", 50000, 9999, 0, 0)), ("own", b"\xee" * 8), eth(ethertype(inner))]
        else:
            # A protocol number for experiments (RFC 3692), with or without a header.
            between = [("own", b"\xee" * (4 if tunnel == "ip" else 0))]
        proto = frames.UDP if tunnel == "udp" else 253
        head = tcp(flags=FIN | PSH | ACK | CWR) if l4 == "tcp" else udp()
        inside = [ip(inner, frames.TCP if l4 == "tcp" else frames.UDP), head]
        self.headers = [ip(outer, proto, 7, 2), *between, *inside]
        self.outer, self.ethertype, self.tag = outer, ethertype(outer), tag
        self.payload = body(size, size)
        self.cut = l4 == "tcp" and size > MSS
        self.lengths = [14, len(self.headers[0][1]), sum(len(h) for _, h in between), len(inside[0][1]), len(head[1])]
        self.flags = (TUNNEL_UDP if tunnel == "udp" else TUNNEL_IP) | (TX_VLAN if tag else 0)
        self.flags |= OUTER_IPV4 | OUTER_IP_CKSUM if outer == 4 else OUTER_IPV6
        self.flags |= TX_IPV4 | IP_CKSUM if inner == 4 else TX_IPV6
        self.flags |= TCP_SEG if self.cut else TCP_CKSUM if l4 == "tcp" else UDP_CKSUM
        self.first = first

    def line(self):
        frame = Stack([eth(self.ethertype), *self.headers], self.payload).bytes()
        return f"{self.flags:x} {' '.join(map(str, self.lengths))} {MSS} {TCI} {self.first} {frame.hex()}\n"

    def expected(self):
        stack = Stack([eth(self.ethertype, TCI if self.tag else None), *self.headers], self.payload)
        return [part.bytes() for part in (stack.segments(MSS) if self.cut else [stack])]


def traffic():
    for tunnel in ("udp", "ip", "bare"):
        for outer in (4, 6):
            for inner in (4, 6):
                for tag in (False, True):
                    yield Sent(tunnel, outer, inner, 200, "udp", tag)
                    yield Sent(tunnel, outer, inner, 333, "tcp", tag)
                    yield Sent(tunnel, outer, inner, 300, "tcp", tag, first=47)
                    yield Sent(tunnel, outer, inner, 3 * MSS + 1, "tcp", tag)
                    yield Sent(tunnel, outer, inner, 8 * MSS, "tcp", tag, first=131)


def transmit(tmp_path, sent, count, intree=False, offloads=OFFLOADS | UDP_TNL_TSO | IP_TNL_TSO, model="cx5"):  # pylint: disable=too-many-arguments
    """Sends the packets: the frames on the wire, at least `count`, and what the program says."""
    lines, capture = tmp_path / "packets", tmp_path / "out.pcap"
    lines.write_text("".join(packet.line() for packet in sent))
    ports = [f"wire=pcap::{capture},mac={frames.PORT_MAC},model={model}"]
    prefix = eal_prefix()
    if intree:
        ports = with_netdevs(ports)
        arguments = ["-l", "0", "--no-huge", "-m", "512", "--no-telemetry", "--file-prefix", prefix, *pci_args()]
    else:
        arguments = eal_args(prefix, default_vdevs(ports), lcores="0", memory=512)
    command = [paths.BUILD / "test" / "ethdev" / "ethdev-send", *arguments, "--", f"{offloads:x}", lines]
    terminal = Terminal(softhca_argv(ports, map(str, command)), env=dict(os.environ, **paths.plugin()[1]))
    try:
        terminal.expect(r"(?m)^sent$", 0)
        pcapfile.wait(capture, count)
        terminal.send("\n")
        assert terminal.wait() == 0, terminal.text
        # Linux may say something through the netdev.
        return [frame for frame in pcapfile.read(capture) if frame[6:12] == frames.mac(frames.PEER_MAC)], terminal.text
    finally:
        terminal.close()
        remove_runtime_dir(prefix)


def check(sent, got):
    expected = [frame for packet in sent for frame in packet.expected()]
    for i, (have, want) in enumerate(zip(got, expected)):
        assert have == want, f"frame {i}\nhave {have.hex()}\nwant {want.hex()}"
    assert len(got) == len(expected)


@pytest.mark.parametrize("model", ["cx5", "cx6dx"])
def test_headers_are_found_where_they_are_said_to_be(tmp_path, model):
    sent = list(traffic())
    got, text = transmit(tmp_path, sent, sum(len(packet.expected()) for packet in sent), model=model)
    check(sent, got)
    assert not [line for line in text.splitlines() if line[:1].isdigit()], text


@pytest.mark.usefixtures("tap_allowed")
def test_the_intree_driver_does_the_same(tmp_path):
    sent = list(traffic())
    got, _ = transmit(tmp_path, sent, sum(len(packet.expected()) for packet in sent), intree=True)
    check(sent, got)


def test_what_is_refused(tmp_path):
    good = Sent("udp", 4, 4, 100, "udp")
    odd = Sent("ip", 4, 4, 100)
    odd.headers[1] = ("own", b"\xee" * 3)
    odd.lengths[2] = 3
    asked_for_the_other = Sent("ip", 4, 6, 100)
    got, text = transmit(tmp_path, [odd, good], 1)
    check([good], got)
    assert "0: Invalid argument" in text
    got, text = transmit(tmp_path, [asked_for_the_other, good], 1, offloads=OFFLOADS | UDP_TNL_TSO)
    check([good], got)
    assert "0: Operation not supported" in text


@pytest.mark.parametrize("model,offered", [("cx5", True), ("cx4lx", False)])
def test_what_a_model_has_is_offered(model, offered):
    with Testpmd(ports=[f"wire=null,model={model}"]) as pmd:
        capabilities = pmd.cmd("show port 0 tx_offload capabilities")
        assert ("UDP_TNL_TSO" in capabilities) == offered and ("IP_TNL_TSO" in capabilities) == offered, capabilities
