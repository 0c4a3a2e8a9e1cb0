# SPDX-License-Identifier: BSD-3-Clause
"""struct ibv_flow_attr and its specs as bytes, written from verbs.h and ibv_create_flow(3), apart from the driver.

Headers are in native byte order, what is matched in network byte order. The driver shows its own at log level debug.
"""
import ipaddress
import re
import struct

INNER = 0x100
SHOW = ["--log-level=pmd.net.mlx5dv:debug"]
# A rule alone gets the level in the middle of those before the default rules' one.
LEVEL = 3
# One that copies has the first of all, as nothing comes before priority 0.
FIRST_COPY = 0
DONT_TRAP, EGRESS = 2, 4
NORMAL, SNIFFER = 0, 3


def spec(kind, value, mask, inner=False, gap=0, tail=0):
    """`gap`: bytes that align the filter behind the 6 of the header; `tail`: those behind the mask."""
    size = 6 + gap + len(value) + len(mask) + tail
    return struct.pack("<IH", kind | (INNER if inner else 0), size) + bytes(gap) + value + mask + bytes(tail)


def mac(text):
    return bytes.fromhex(text.replace(":", "")) if text else bytes(6)


ONES6 = "ff:ff:ff:ff:ff:ff"


def eth(dst="", dst_mask=None, src="", src_mask=None, type_=0, type_mask=None, vlan=0, vlan_mask=0, inner=False):
    def filter_(dst, src, type_, vlan):
        return mac(dst) + mac(src) + struct.pack("!HH", type_, vlan)
    return spec(0x20, filter_(dst, src, type_, vlan),
                filter_(dst_mask if dst_mask is not None else dst and ONES6,
                        src_mask if src_mask is not None else src and ONES6,
                        type_mask if type_mask is not None else type_ and 0xFFFF, vlan_mask),
                inner, tail=2)


def ipv4(src="0.0.0.0", dst="0.0.0.0", proto=0, tos=0, src_mask=None, dst_mask=None, tos_mask=None, inner=False):
    def filter_(src, dst, proto, tos):
        return ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed + bytes((proto, tos, 0, 0))

    def whole(address):
        return "255.255.255.255" if address != "0.0.0.0" else "0.0.0.0"
    return spec(0x32, filter_(src, dst, proto, tos),
                filter_(src_mask or whole(src), dst_mask or whole(dst), proto and 0xFF,
                        tos_mask if tos_mask is not None else tos and 0xFF), inner, gap=2)


def ipv6(src="::", dst="::", proto=0, tc=0, flow=0, src_mask=None, flow_mask=None, inner=False):
    def filter_(src, dst, flow, proto, tc):
        return ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed \
            + struct.pack("!IBBBB", flow, proto, tc, 0, 0)

    def whole(address):
        return "ffff:" * 7 + "ffff" if address != "::" else "::"
    return spec(0x31, filter_(src, dst, flow, proto, tc),
                filter_(src_mask or whole(src), whole(dst),
                        flow_mask if flow_mask is not None else flow and 0xFFFFF, proto and 0xFF, tc and 0xFF),
                inner, gap=2)


def ports(kind, src=0, dst=0, src_mask=None, dst_mask=None, inner=False):
    return spec(kind, struct.pack("!HH", dst, src),
                struct.pack("!HH", dst_mask if dst_mask is not None else dst and 0xFFFF,
                            src_mask if src_mask is not None else src and 0xFFFF), inner, tail=2)


def tcp(**given):
    return ports(0x40, **given)


def udp(**given):
    return ports(0x41, **given)


def vxlan(vni=0, mask=0):
    return spec(0x50, struct.pack("!I", vni), struct.pack("!I", mask), gap=2)


def gre(protocol=0, key=0, key_mask=0):
    return spec(0x51, struct.pack("!HHI", 0, protocol, key),
                struct.pack("!HHI", 0, protocol and 0xFFFF, key_mask), gap=2)


def mpls(entry=0, mask=0, inner=False):
    return spec(0x60, struct.pack("!I", entry), struct.pack("!I", mask), inner, gap=2)


def tag(number):
    return struct.pack("<IHxxI", 0x1000, 12, number)


DROP = struct.pack("<IHxx", 0x1001, 8)
# The counters object is an address: not compared.
COUNT = struct.pack("<IHxxQ", 0x1003, 16, 0)


def attr(*specs, flags=0, level=None, type_=NORMAL):
    """The header: comp_mask, type, size, priority, num_of_specs, port, flags; specs follow unaligned."""
    if level is None:
        level = FIRST_COPY if flags == DONT_TRAP else LEVEL
    return struct.pack("<IIHHBBxxI", 0, type_, 20 + sum(map(len, specs)), level, len(specs), 1, flags) + b"".join(specs)


def without_addresses(data):
    """The address in a COUNT spec is 0."""
    at = 20
    while at < len(data):
        kind, size = struct.unpack_from("<IH", data, at)
        if kind == 0x1003:
            data = data[:at + 8] + bytes(8) + data[at + 16:]
        at += size
    return data


def shown(answer):
    """The attributes that testpmd's answer shows, in the order of their making."""
    return [without_addresses(bytes.fromhex(found)) for found in re.findall(r"ibv_create_flow ([0-9a-f]+)", answer)]
