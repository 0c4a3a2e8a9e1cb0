# SPDX-License-Identifier: BSD-3-Clause
"""Ethernet frames from values, checksums and the Toeplitz hash, written from the RFCs."""
import socket
import struct

PORT_MAC = "02:00:00:00:00:10"
PEER_MAC = "02:00:00:00:00:99"
BROADCAST = "ff:ff:ff:ff:ff:ff"
IPV4, IPV6, VLAN = 0x0800, 0x86DD, 0x8100
TCP, UDP = 6, 17


def mac(text):
    return bytes(int(part, 16) for part in text.split(":"))


def checksum(data):
    """RFC 1071, folded and complemented; 0 over data that holds a right checksum."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ether(payload, type_, dst=PORT_MAC, src=PEER_MAC, vlan=None, pad=60):
    """`vlan`: None or a TCI. Padded to `pad` bytes, as a MAC does."""
    tag = b"" if vlan is None else struct.pack("!HH", VLAN, vlan)
    return (mac(dst) + mac(src) + tag + struct.pack("!H", type_) + payload).ljust(pad, b"\0")


def ipv4(payload, proto, src="10.0.0.2", dst="10.0.0.1", ttl=64, tos=0, ip_checksum=None):
    """`ip_checksum`: None = the right one."""
    def header(value):
        return struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), 0x1234, 0x4000, ttl, proto,
                           value, socket.inet_aton(src), socket.inet_aton(dst))
    return header(checksum(header(0)) if ip_checksum is None else ip_checksum) + payload


def ipv6(payload, proto, src="fd00::2", dst="fd00::1", hop_limit=64, traffic_class=0):
    return struct.pack("!IHBB", 6 << 28 | traffic_class << 20, len(payload), proto, hop_limit) \
        + socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst) + payload


def pseudo(version, src, dst, proto, length):
    if version == 4:
        return socket.inet_aton(src) + socket.inet_aton(dst) + struct.pack("!BBH", 0, proto, length)
    return socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst) \
        + struct.pack("!II", length, proto)


def l4(proto, sport, dport, data, version, src, dst, l4_checksum=None):
    """A UDP or TCP segment; `l4_checksum`: None = the right one."""
    if proto == UDP:
        def segment(value):
            return struct.pack("!HHHH", sport, dport, 8 + len(data), value) + data
    else:
        def segment(value):
            return struct.pack("!HHIIBBHHH", sport, dport, 1, 2, 5 << 4, 0x10, 1024, value, 0) + data
    if l4_checksum is None:
        whole = segment(0)
        l4_checksum = checksum(pseudo(version, src, dst, proto, len(whole)) + whole)
        if proto == UDP and l4_checksum == 0:
            l4_checksum = 0xFFFF
    return segment(l4_checksum)


def packet(proto=UDP, version=4, sport=1024, dport=53, data=b"mlx5dv", src=None, dst=None,
           l4_checksum=None, ip_checksum=None, eth_dst=PORT_MAC, eth_src=PEER_MAC, vlan=None,
           tos=0, ttl=64, pad=60):
    """A whole frame: Ethernet, [VLAN,] IPv4 or IPv6, UDP or TCP."""
    src = src or ("10.0.0.2" if version == 4 else "fd00::2")
    dst = dst or ("10.0.0.1" if version == 4 else "fd00::1")
    segment = l4(proto, sport, dport, data, version, src, dst, l4_checksum)
    if version == 4:
        return ether(ipv4(segment, proto, src, dst, ttl, tos, ip_checksum), IPV4, eth_dst, eth_src,
                     vlan, pad)
    return ether(ipv6(segment, proto, src, dst, ttl, tos), IPV6, eth_dst, eth_src, vlan, pad)


def raw_ipv4(proto, data, src="10.0.0.2", dst="10.0.0.1", **options):
    return ether(ipv4(data, proto, src, dst), IPV4, **options)


def checksums(frame):
    """(IPv4 header checksum right or None, L4 checksum right) of a frame as packet() makes it."""
    at = 12
    type_ = struct.unpack("!H", frame[at:at + 2])[0]
    if type_ == VLAN:
        at += 4
        type_ = struct.unpack("!H", frame[at:at + 2])[0]
    at += 2
    if type_ == IPV4:
        total = struct.unpack("!H", frame[at + 2:at + 4])[0]
        proto, addresses = frame[at + 9], frame[at + 12:at + 20]
        segment = frame[at + 20:at + total]
        head_ok = checksum(frame[at:at + 20]) == 0
        head = addresses + struct.pack("!BBH", 0, proto, len(segment))
    else:
        length = struct.unpack("!H", frame[at + 4:at + 6])[0]
        proto, addresses = frame[at + 6], frame[at + 8:at + 40]
        segment = frame[at + 40:at + 40 + length]
        head_ok = None
        head = addresses + struct.pack("!II", len(segment), proto)
    return head_ok, checksum(head + segment) == 0


def toeplitz(key, data):
    """The RSS hash of `data` under `key` (bytes), as Microsoft's RSS specification defines it."""
    window = int.from_bytes(key, "big")
    bits = len(key) * 8
    result = 0
    for i, byte in enumerate(data):
        for bit in range(8):
            if byte & (0x80 >> bit):
                result ^= window >> (bits - 32 - (i * 8 + bit)) & 0xFFFFFFFF
    return result


def rss_input(version, src, dst, sport=None, dport=None):
    """The bytes hashed for a flow: addresses, then ports when they take part."""
    if version == 4:
        data = socket.inet_aton(src) + socket.inet_aton(dst)
    else:
        data = socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst)
    return data if sport is None else data + struct.pack("!HH", sport, dport)
