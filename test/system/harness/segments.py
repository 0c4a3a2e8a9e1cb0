# SPDX-License-Identifier: BSD-3-Clause
"""Packets as stacks of headers, and the segments TCP is cut into, written from the RFCs."""
import random
import struct

from . import frames

FIN, PSH, ACK, CWR = 0x01, 0x08, 0x10, 0x80
GRE = 47


class Stack:
    """A packet as its headers, outermost first, and its payload; bytes() is the frame.

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
                data = self._with_sum(frames.TCP, 16, head + data, parts[i - 1])
            elif kind == "udp+":
                head = head[:4] + struct.pack("!H", len(head) + len(data)) + head[6:]
                data = self._with_sum(frames.UDP, 6, head + data, parts[i - 1])
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
    def _with_sum(proto, at, segment, ip):
        """RFC 9293, 3.1, and RFC 768: the checksum covers pseudo header, header and data."""
        kind, ip = ip
        if kind == "ip4":
            pseudo = ip[12:20] + struct.pack("!BBH", 0, proto, len(segment))
        else:
            pseudo = ip[8:40] + struct.pack("!II", len(segment), proto)
        value = frames.checksum(pseudo + segment[:at] + b"\0\0" + segment[at + 2:])
        return segment[:at] + struct.pack("!H", value or 0xFFFF if proto == frames.UDP else value) + segment[at + 2:]

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
    return "eth", frames.mac(frames.PORT_MAC) + frames.mac(frames.PEER_MAC) + tag + struct.pack("!H", type_)


def ip(version, proto, ident=0x1234, host=1):
    if version == 4:
        return "ip4", frames.ipv4(b"", proto, f"10.0.0.{host}", "10.0.1.1")[:4] \
            + struct.pack("!H", ident) + frames.ipv4(b"", proto, f"10.0.0.{host}", "10.0.1.1")[6:]
    return "ip6", frames.ipv6(b"", proto, f"fd00::{host}", "fd00::100")


def tcp(seq=1000, flags=ACK, options=b"", sport=5000):
    return "tcp", struct.pack("!HHIIBBHHH", sport, 80, seq, 77, (20 + len(options)) // 4 << 4, flags,
                              1024, 0, 0) + options


def udp(sport=5000, dport=53):
    """With a checksum, unlike those of tunnels."""
    return "udp+", struct.pack("!HHHH", sport, dport, 0, 0)


def body(size, seed):
    return random.Random(seed).randbytes(size)


def ethertype(version):
    return frames.IPV4 if version == 4 else frames.IPV6
