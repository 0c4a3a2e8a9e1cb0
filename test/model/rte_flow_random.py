# SPDX-License-Identifier: BSD-3-Clause
"""Random rules, as testpmd takes them and as the reference does, and random packets for them.

Rules are made by shapes: some fields with masks, a priority, a kind. Values come from small pools, so that
packets meet rules and rules overlap.
"""
import functools
import random
import socket
import struct

from harness import frames
from rte_flow_reference import Queues, Rss, Rule

QUEUES = 4
MAC, GROUP, GROUP6, OTHER = frames.PORT_MAC, "01:00:5e:01:02:03", "33:33:00:00:00:01", "02:00:00:00:00:77"
MACS = (MAC, MAC, MAC, GROUP, GROUP6, frames.BROADCAST, OTHER)
SOURCES = (0x020001, 0x020002)  # the upper half of a source address; the lower one has the packet's number
TYPES = (0x0806, 0x88CC)
TCIS = (0x0005, 0x0006, 0x6005, 0x2006)
ADDRESSES4 = ("10.0.0.1", "10.0.0.2", "10.0.1.1", "10.1.0.1", "11.0.1.1", "192.168.0.1")
ADDRESSES6 = ("fd00::1", "fd00::2", "fd00:0:0:1::1", "fd01::1", "fe80::1")
TOS = (0x00, 0x10, 0xB8)
LABELS = (0, 0x12345, 0x12340)
PORTS = (53, 80, 81, 82, 443, 1024, 4790, 65535)
VXLAN = 4789  # all packets to this port are VXLAN
VNIS = (42, 43, 0x123456)
ICMP, ICMP6, SCTP = 1, 58, 132


def number(mac):
    return int(mac.replace(":", ""), 16)


def mac_text(value):
    return ":".join(f"{value >> shift & 0xff:02x}" for shift in range(40, -1, -8))


def ip4(text):
    return int.from_bytes(socket.inet_aton(text), "big")


def ip4_text(value):
    return socket.inet_ntoa(value.to_bytes(4, "big"))


@functools.lru_cache
def ip6(text):
    return int.from_bytes(socket.inet_pton(socket.AF_INET6, text), "big")


def ip6_text(value):
    return socket.inet_ntop(socket.AF_INET6, value.to_bytes(16, "big"))


def prefix(bits, length):
    return ((1 << length) - 1) << (bits - length)


class Field:
    """A field: where testpmd has it, what values it may have, under which masks."""

    def __init__(self, item, word, values, masks, text=str):
        self.item, self.word, self.values, self.masks, self.text = item, word, values, masks, text

    def typed(self, value, mask):
        return f"{self.word} spec {self.text(value)} {self.word} mask {self.text(mask)}"


def addresses(item, word, texts, parse, bits, text):
    masks = (prefix(bits, bits), prefix(bits, bits), prefix(bits, bits * 3 // 4), prefix(bits, bits // 2),
             prefix(bits, bits) ^ prefix(bits, 8))
    return Field(item, word, [parse(one) for one in texts], masks, text)


FIELDS = {
    "eth.dst": Field("eth", "dst", [number(mac) for mac in MACS],
                     (prefix(48, 48), prefix(48, 48), prefix(48, 16), 1 << 40), mac_text),
    "eth.src": Field("eth", "src", [half << 24 for half in SOURCES], (prefix(48, 24),), mac_text),
    "eth.type": Field("eth", "type", TYPES, (0xFFFF,)),
    # Under no mask any tag; under that of DEI the device has the two in one group.
    "vlan.tci": Field("vlan", "tci", TCIS, (0x0FFF, 0x0FFF, 0xE000, 0xFFFF, 0, 0, 0x1000)),
    "ip4.src": addresses("ipv4", "src", ADDRESSES4, ip4, 32, ip4_text),
    "ip4.dst": addresses("ipv4", "dst", ADDRESSES4, ip4, 32, ip4_text),
    "ip4.tos": Field("ipv4", "tos", TOS, (0xFF, 0xFC, 0xF0)),
    "ip4.proto": Field("ipv4", "proto", (frames.UDP, frames.TCP, ICMP, SCTP), (0xFF,)),
    "ip6.src": addresses("ipv6", "src", ADDRESSES6, ip6, 128, ip6_text),
    "ip6.dst": addresses("ipv6", "dst", ADDRESSES6, ip6, 128, ip6_text),
    "ip6.tc": Field("ipv6", "tc", TOS, (0xFF, 0xFC, 0xF0)),
    "ip6.flow": Field("ipv6", "flow", LABELS, (0xFFFFF, 0xFFFF0)),
    "ip6.proto": Field("ipv6", "proto", (frames.UDP, frames.TCP, ICMP6, SCTP), (0xFF,)),
    **{f"{l4}.{side}": Field(l4, side, PORTS, (0xFFFF, 0xFFFF, 0xFFFE, 0xFF00))
       for l4 in ("udp", "tcp") for side in ("src", "dst")},
}
FIELDS["vxlan.vni"] = Field("vxlan", "vni", VNIS, (0xFFFFFF, 0xFFFF00))
# Inside the tunnel; their items are "in.eth" and so on.
FIELDS.update({f"in.{name}": Field(f"in.{row.item}", row.word, row.values, row.masks, row.text)
               for name, row in FIELDS.items()
               if row.item not in ("vlan", "vxlan") and not name.endswith((".proto", ".type", "eth.src"))})
PROTOCOLS = {"udp": frames.UDP, "tcp": frames.TCP}
DEPTHS = {"eth": 0, "vlan": 0, "ipv4": 1, "ipv6": 1, "udp": 2, "tcp": 2, "vxlan": 3,
          "in.eth": 4, "in.ipv4": 5, "in.ipv6": 5, "in.udp": 6, "in.tcp": 6}


class Shape:
    """The items of a pattern and the masks of their fields; a priority; a kind of fate."""

    def __init__(self, rng, priorities):
        self.priority = rng.choice(priorities)
        self.passthru = rng.random() < 0.5
        self.items = self.choose_items(rng)
        self.depth = max(DEPTHS[item] for item in self.items)
        self.masks = {}
        for name, row in FIELDS.items():
            if row.item not in self.items or not self.may_have(name):
                continue
            chance = 0.8 if self.depth == 0 else 0.25 if name.startswith("in.") else 0.5
            if rng.random() < chance or name == "vlan.tci":
                self.masks[name] = rng.choice(row.masks)

    @staticmethod
    def choose_items(rng):
        if rng.random() < 0.2:
            items = ["eth"] * rng.randrange(2) + [rng.choice(("ipv4", "ipv6")), "udp", "vxlan"]
            inside = rng.choice(([], ["in.eth"], ["in.eth", "in.ipv4"], ["in.eth", "in.ipv6"]))
            return items + inside + (["in." + rng.choice(("udp", "tcp"))] if len(inside) == 2 else [])
        ip = rng.choice(("ipv4", "ipv4", "ipv6", None))
        l4 = rng.choice(("udp", "udp", "tcp", None))
        items = []
        # The driver takes no L4 item right behind eth or vlan.
        if ip is not None or l4 is None:
            if rng.random() < 0.6:
                items.append("eth")
            if rng.random() < 0.2:
                items.append("vlan")
        items += [item for item in (ip, l4) if item]
        return items or ["eth"]

    def may_have(self, name):
        """A type beside an IP item, or a protocol beside an L4 item, says the same twice."""
        if name == "eth.type":
            return self.depth == 0 and "vlan" not in self.items
        if name == "udp.dst" and "vxlan" in self.items:
            return False
        return not name.endswith(".proto") or self.depth == 1

    def implied(self):
        match = {}
        for item in self.items:
            side, item = ("in.", item[3:]) if item.startswith("in.") else ("", item)
            if item in ("ipv4", "ipv6"):
                match[f"{side}ip.version"] = (int(item[-1]), 0xFF)
            if item in PROTOCOLS:
                match[f"{side}ip.proto"] = (PROTOCOLS[item], 0xFF)
            if item == "vxlan":
                match["udp.dst"] = (VXLAN, 0xFFFF)
        return match

    def pattern(self, rng):
        """(match, the pattern as typed), with values"""
        match = self.implied()
        words = {item: [item.removeprefix("in.")] for item in self.items}
        for name, mask in self.masks.items():
            value = rng.choice(FIELDS[name].values) & mask
            words[FIELDS[name].item].append(FIELDS[name].typed(value, mask))
            match["ip.proto" if name.endswith(".proto") else name] = (value, mask)
        return match, " / ".join(" ".join(words[item]) for item in self.items) + " / end"


class Generator:
    """`crowd`: rules of one shape at most; `nb_shapes`: how many shapes at a time, None: each rule has its own."""

    def __init__(self, seed, nb_shapes):
        self.random = random.Random(seed)
        self.nb_shapes = nb_shapes
        self.next_phase()

    def maybe(self, chance):
        return self.random.random() < chance

    def next_phase(self):
        self.priorities = [self.random.choice((0, 1, 2, 7, 1000, 4294967294)) for _ in range(4)]
        self.shapes = [Shape(self.random, self.priorities) for _ in range(self.nb_shapes or 0)]

    def targets(self):
        """([Queues of each copy], [actions])"""
        how = self.random.random()
        queues = self.random.sample(range(QUEUES), 3)
        queue = f"queue index {queues[0]}"
        if how < 0.5:
            return [Queues(queues[0])], [queue]
        if how < 0.65:
            return [Queues(one) for one in queues[:2]], [f"queue index {one}" for one in queues[:2]]
        types = self.random.choice((["ipv4"], ["ipv6"], ["ipv4-udp", "ipv6"], ["ipv4-tcp"],
                                    ["ipv4", "ipv6-udp", "ipv6-tcp"], ["ipv4-udp", "ipv4"]))
        rss = f"rss types {' '.join(types)} end queues {queues[1]} {queues[2]} end"
        if how < 0.85:
            return [Rss(types, *queues[1:])], [rss]
        if how < 0.93:
            return [Rss(types, *queues[1:]), Queues(queues[0])], [rss, queue]
        # sample_actions N has queue N
        return [Queues(queues[0]), Queues(queues[1])], [queue, f"sample ratio 1 index {queues[1]}"]

    def rule(self):
        """(the rule, as typed)"""
        shape = self.random.choice(self.shapes) if self.shapes \
            else Shape(self.random, self.priorities)
        match, pattern = shape.pattern(self.random)
        rule = Rule(shape.priority, shape.depth, match)
        if not shape.passthru and self.maybe(0.2):
            actions = ["drop"]
        else:
            rule.targets, actions = self.targets()
            rule.passthru = shape.passthru
            actions += ["passthru"] if rule.passthru else []
            if self.maybe(0.3):
                rule.mark = self.random.choice((self.random.randrange(1, 0xFFFFFE), 0, "flag"))
                actions.append("flag" if rule.mark == "flag" else f"mark id {rule.mark}")
            self.random.shuffle(actions)
        if self.maybe(0.5):
            actions.append("count")
        rule.__post_init__()
        return rule, (f"ingress priority {rule.priority} pattern {pattern}"
                      f" actions {' / '.join(actions)} / end")

    def packet(self, which):
        """(frame, its fields)"""
        source = self.random.choice(SOURCES)
        dst = self.random.choice(MACS)
        fields = {"eth.dst": number(dst), "eth.src": source << 24 | which}
        tci = self.random.choice(TCIS) if self.maybe(0.3) else None
        if tci is not None:
            fields["vlan.tci"] = tci
        if self.maybe(0.06):
            fields["eth.type"], payload = self.random.choice(TYPES), bytes(46)
        else:
            fields["eth.type"], payload = self.ip_packet(fields, "", self.maybe(0.2))
        return frames.ether(payload, fields["eth.type"], dst, mac_text(fields["eth.src"]), tci), fields

    def tunnelled(self, fields):
        """A VXLAN header and a frame in it."""
        vni, dst = self.random.choice(VNIS), self.random.choice(MACS)
        fields.update({"vxlan.vni": vni, "in.eth.dst": number(dst)})
        type_, payload = self.ip_packet(fields, "in.", False)
        return struct.pack("!II", 0x08000000, vni << 8) + frames.ether(payload, type_, dst, pad=0)

    def ip_packet(self, fields, side, tunnel):
        version = self.random.choice((4, 4, 6))
        known, parse = (ADDRESSES4, ip4) if version == 4 else (ADDRESSES6, ip6)
        src, dst = self.random.choice(known), self.random.choice(known)
        tos, label = self.random.choice(TOS), self.random.choice(LABELS)
        proto = frames.UDP if tunnel else \
            self.random.choice((frames.UDP,) * 5 + (frames.TCP,) * 3 + (ICMP, ICMP6, SCTP))
        fields.update({f"{side}ip.version": version, f"{side}ip.proto": proto,
                       f"{side}ip{version}.src": parse(src), f"{side}ip{version}.dst": parse(dst)})
        payload = bytes(12)
        for name, value in PROTOCOLS.items():
            if value == proto:
                sport = self.random.choice(PORTS)
                dport = VXLAN if tunnel else self.random.choice(PORTS)
                fields.update({f"{side}{name}.src": sport, f"{side}{name}.dst": dport})
                data = self.tunnelled(fields) if tunnel else b"mlx5dv"
                payload = frames.l4(proto, sport, dport, data, version, src, dst)
        if version == 4:
            fields[f"{side}ip4.tos"] = tos
            return frames.IPV4, frames.ipv4(payload, proto, src, dst, tos=tos)
        fields.update({f"{side}ip6.tc": tos, f"{side}ip6.flow": label})
        packet = frames.ipv6(payload, proto, src, dst, traffic_class=tos)
        return frames.IPV6, struct.pack("!I", 6 << 28 | tos << 20 | label) + packet[4:]
