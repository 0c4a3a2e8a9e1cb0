# SPDX-License-Identifier: BSD-3-Clause
"""TCP segmentation offload: what is on the wire, compared segment by segment with what the RFCs say."""
import random
import struct

import pytest
from harness import frames, pcapfile
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
RX_SCATTER, TX_MULTI_SEGS = 0x2000, 0x8000
FIN, PSH, ACK, CWR = 0x01, 0x08, 0x10, 0x80
VXLAN_PORT, GRE = 4789, 47
TIMESTAMPS = struct.pack("!BBBBII", 1, 1, 8, 10, 0x11223344, 0x55667788)


class Stack:
    """A TCP packet as its headers, outermost first, and its payload; bytes() is the frame.

    Each header is (kind, bytes); lengths and checksums in it are filled in when it is put together.
    """

    def __init__(self, headers, payload):
        self.headers, self.payload = headers, payload

    def bytes(self):
        data = self.payload
        parts = list(self.headers)
        for i in reversed(range(len(parts))):
            kind, head = parts[i]
            if kind == "tcp":
                data = self._tcp(head, data, parts[i - 1])
            elif kind == "udp":
                # VXLAN over UDP without checksum (RFC 7348, RFC 6935).
                data = head[:4] + struct.pack("!HH", len(head) + len(data), 0) + data
            elif kind == "ip4":
                head = head[:2] + struct.pack("!H", len(head) + len(data)) + head[4:10] + b"\0\0" + head[12:]
                data = head[:10] + struct.pack("!H", frames.checksum(head)) + head[12:] + data
            elif kind == "ip6":
                data = head[:4] + struct.pack("!H", len(data)) + head[6:] + data
            else:
                data = head + data
        return data

    @staticmethod
    def _tcp(head, data, ip):
        """RFC 9293, 3.1: the checksum covers pseudo header, header and data."""
        kind, ip = ip
        length = len(head) + len(data)
        if kind == "ip4":
            pseudo = ip[12:20] + struct.pack("!BBH", 0, frames.TCP, length)
        else:
            pseudo = ip[8:40] + struct.pack("!II", length, frames.TCP)
        head = head[:16] + b"\0\0" + head[18:]
        return head[:16] + struct.pack("!H", frames.checksum(pseudo + head + data)) + head[18:] + data

    def segments(self, mss):
        """One segment for each `mss` bytes: sequence numbers go on (RFC 9293), FIN and PSH belong to the
        last byte, CWR to the first segment (RFC 3168, 6.1.2), and IPv4 ids count up (RFC 791)."""
        last = max(len(self.payload) - 1, 0) // mss
        for n in range(last + 1):
            headers = []
            for kind, head in self.headers:
                if kind == "ip4":
                    ident = struct.unpack("!H", head[4:6])[0] + n
                    head = head[:4] + struct.pack("!H", ident & 0xFFFF) + head[6:]
                elif kind == "tcp":
                    seq = struct.unpack("!I", head[4:8])[0] + n * mss
                    flags = head[13]
                    flags &= 0xFF if n == last else ~(FIN | PSH)
                    flags &= 0xFF if n == 0 else ~CWR
                    head = head[:4] + struct.pack("!I", seq & 0xFFFFFFFF) + head[8:13] + bytes([flags]) + head[14:]
                headers.append((kind, head))
            yield Stack(headers, self.payload[n * mss:(n + 1) * mss])


def eth(type_, vlan=None):
    tag = b"" if vlan is None else struct.pack("!HH", frames.VLAN, vlan)
    return "eth", frames.mac(MAC) + frames.mac(frames.PEER_MAC) + tag + struct.pack("!H", type_)


def ip(version, proto, ident=0x1234, host=1):
    if version == 4:
        return "ip4", frames.ipv4(b"", proto, f"10.0.0.{host}", "10.0.1.1")[:4] \
            + struct.pack("!H", ident) + frames.ipv4(b"", proto, f"10.0.0.{host}", "10.0.1.1")[6:]
    return "ip6", frames.ipv6(b"", proto, f"fd00::{host}", "fd00::100")


def tcp(seq=1000, flags=ACK, options=b"", sport=5000):
    return "tcp", struct.pack("!HHIIBBHHH", sport, 80, seq, 77, (20 + len(options)) // 4 << 4, flags,
                              1024, 0, 0) + options


def body(size, seed):
    return random.Random(seed).randbytes(size)


def ethertype(version):
    return frames.IPV4 if version == 4 else frames.IPV6


def plain(size, version=4, vlan=None, ident=0x1234, host=1, **of_tcp):
    return Stack([eth(ethertype(version), vlan), ip(version, frames.TCP, ident, host), tcp(**of_tcp)],
                 body(size, size))


def vxlan(size, outer=4, inner=4, **of_tcp):
    return Stack([eth(ethertype(outer)), ip(outer, frames.UDP, 0xFFF0, 2),
                  ("udp", struct.pack("!HHHH", 50000, VXLAN_PORT, 0, 0)),
                  ("vxlan", struct.pack("!II", 0x08000000, 42 << 8)),
                  eth(ethertype(inner)), ip(inner, frames.TCP), tcp(**of_tcp)], body(size, size))


def gre(size, outer=4, inner=4, **of_tcp):
    return Stack([eth(ethertype(outer)), ip(outer, GRE, 7, 2), ("gre", struct.pack("!HH", 0, ethertype(inner))),
                  ip(inner, frames.TCP), tcp(**of_tcp)], body(size, size))


def plain_traffic(mss):
    everything = FIN | PSH | ACK | CWR
    for version in (4, 6):
        for size in (0, 100, mss - 1, mss, mss + 1, 2 * mss - 1, 2 * mss, 2 * mss + 1, 5 * mss + 17, 8900):
            yield plain(size, version, flags=everything)
        yield plain(3 * mss, version, vlan=5, flags=everything)
        yield plain(3 * mss + 5, version, options=TIMESTAMPS, flags=PSH | ACK)
        yield plain(3 * mss + 5, version, options=b"\1" * 40, flags=FIN | ACK)
        yield plain(4 * mss, version, ident=0xFFFE, seq=0xFFFFFFFF - mss, flags=everything)
    for i in range(40):
        yield plain(300 + 211 * i, 4 + 2 * (i % 2), host=i + 1, sport=6000 + i, seq=i << 24, flags=everything)


def tunnel_traffic(mss):
    for make in (vxlan, gre):
        for outer in (4, 6):
            for inner in (4, 6):
                for size in (100, mss, mss + 1, 3 * mss, 8000):
                    yield make(size, outer, inner, flags=FIN | PSH | ACK | CWR, options=TIMESTAMPS)


def forward(tmp_path, sent, commands, args=(), model="cx5", count=1):
    """What testpmd's csum engine sends, `count` frames, having received `sent`; and its statistics."""
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, [stack.bytes().ljust(60, b"\0") for stack in sent])
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC},model={model}"],
                 args=["--disable-device-start", "--max-pkt-len=9018", *args]) as pmd:
        for command in commands:
            answer = pmd.cmd(command)
            # What other tunnels there are is a warning.
            assert "rror" not in answer and " is not supported" not in answer, (command, answer)
        pmd.cmd("set fwd csum")
        answer = pmd.cmd("port start 0")
        assert "ail" not in answer, answer
        mode = pmd.cmd("show txq info 0 0")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= count)
        pmd.cmd("stop")
        stats = pmd.stats()
        return pcapfile.wait(result, count), stats, mode


def check(got, sent, mss, stats):
    """All frames but their MAC addresses, which the engine sets, are those of the reference, in order."""
    expected = [segment.bytes().ljust(60, b"\0") for stack in sent for segment in stack.segments(mss)]
    for i, (have, want) in enumerate(zip(got, expected)):
        assert have[12:] == want[12:], f"frame {i}\nhave {have.hex()}\nwant {want.hex()}"
    assert len(got) == len(expected)
    assert stats["TX-packets"] == len(expected)
    assert stats["TX-errors"] == 0
    # As on the wire, but for what the port pads.
    cut = [[segment.bytes() for segment in stack.segments(mss)] for stack in sent]
    assert stats["TX-bytes"] == sum(sum(map(len, c)) if len(c) > 1 else max(60, len(c[0])) for c in cut)


CSUMS = ["csum set ip hw 0", "csum set tcp hw 0", "csum set udp hw 0"]
SCATTER = ["--rxd=4096", f"--rx-offloads={RX_SCATTER:#x}", f"--tx-offloads={TX_MULTI_SEGS:#x}"]


@pytest.mark.parametrize("mss,mbuf,model", [(800, 9300, "cx5"), (536, 768, "cx5"), (1460, 2176, "cx4lx")])
def test_segments_are_those_of_the_rfcs(tmp_path, mss, mbuf, model):
    sent = list(plain_traffic(mss))
    args = [f"--mbuf-size={mbuf}", *(SCATTER if mbuf < 9300 else [])]
    count = sum(len(list(stack.segments(mss))) for stack in sent)
    got, stats, mode = forward(tmp_path, sent, CSUMS + [f"tso set {mss} 0"], args, model, count)
    check(got, sent, mss, stats)
    assert "tso" in mode, mode


@pytest.mark.parametrize("mbuf,model", [(9300, "cx5"), (768, "cx4lx")])
def test_segments_in_tunnels(tmp_path, mbuf, model):
    sent = list(tunnel_traffic(800))
    args = [f"--mbuf-size={mbuf}", *(SCATTER if mbuf < 9300 else [])]
    commands = CSUMS + ["csum set outer-ip hw 0", "csum parse-tunnel on 0", "tunnel_tso set 800 0"]
    count = sum(len(list(stack.segments(800))) for stack in sent)
    got, stats, _ = forward(tmp_path, sent, commands, args, model, count)
    check(got, sent, 800, stats)


def test_without_the_offload_it_is_not_offered_to_packets(tmp_path):
    """No TSO asked for: another burst function, and frames longer than the MTU are not made shorter."""
    sent = [plain(3000)]
    got, _, mode = forward(tmp_path, sent, CSUMS, ["--mbuf-size=9300"])
    assert "tso" not in mode
    assert [frame[12:] for frame in got] == [sent[0].bytes()[12:]]
