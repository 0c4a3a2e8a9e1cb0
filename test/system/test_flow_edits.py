# SPDX-License-Identifier: BSD-3-Clause
"""Rules that change packets: every action both ways byte by byte, what copies see, tunnels put on and taken off."""
import collections
import itertools
import re

import pytest
from harness import frames, paths, pcapfile
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

GUIDE = paths.ROOT / "doc/guides/nics/mlx5dv_flow.rst"
END = [frames.ether(bytes([number]), 0x88B5) for number in (1, 2)]
PATTERN = {(4, frames.UDP): "eth / ipv4 / udp", (4, frames.TCP): "eth / ipv4 / tcp", (6, frames.UDP): "eth / ipv6 / udp",
           (6, frames.TCP): "eth / ipv6 / tcp"}
MAC, V4, V6 = "02:11:22:33:44:55", "192.0.2.77", "2001:db8:1:2:3:4:5:6"
PAYLOAD = bytes(range(41))


def tcp_numbers(frame, sequence, acknowledged):
    """The frame with other numbers, and the checksum that goes with them; frames.packet() has 1 and 2."""
    ip = frame[14:34]
    segment = frame[34:38] + (sequence % 2**32).to_bytes(4, "big") + (acknowledged % 2**32).to_bytes(4, "big") \
        + frame[46:50] + bytes(2) + frame[52:14 + int.from_bytes(ip[2:4], "big")]
    value = frames.checksum(ip[12:20] + bytes([0, frames.TCP]) + len(segment).to_bytes(2, "big") + segment)
    return frame[:34] + segment[:16] + value.to_bytes(2, "big") + segment[18:] + frame[34 + len(segment):]


# (IP version, protocol), actions, what becomes of frames.packet().
FIELDS = [
    ((4, frames.UDP), f"set_mac_src mac_addr {MAC}", {"eth_src": MAC}),
    ((6, frames.TCP), f"set_mac_dst mac_addr {MAC}", {"eth_dst": MAC}),
    ((4, frames.UDP), f"set_ipv4_src ipv4_addr {V4}", {"src": V4}),
    ((4, frames.TCP), f"set_ipv4_dst ipv4_addr {V4}", {"dst": V4}),
    ((6, frames.UDP), f"set_ipv6_src ipv6_addr {V6}", {"src": V6}),
    ((6, frames.TCP), f"set_ipv6_dst ipv6_addr {V6}", {"dst": V6}),
    ((4, frames.UDP), "set_ipv4_dscp dscp_value 46", {"tos": 46 << 2}),
    ((6, frames.UDP), "set_ipv6_dscp dscp_value 46", {"tos": 46 << 2}),
    ((4, frames.UDP), "set_ttl ttl_value 9", {"ttl": 9}),
    ((6, frames.UDP), "set_ttl ttl_value 9", {"ttl": 9}),
    ((4, frames.TCP), "dec_ttl", {"ttl": 63}),
    ((6, frames.TCP), "dec_ttl / dec_ttl", {"ttl": 62}),
    ((4, frames.UDP), "set_tp_src port 4321", {"sport": 4321}),
    ((4, frames.TCP), "set_tp_src port 4321", {"sport": 4321}),
    ((6, frames.UDP), "set_tp_dst port 4321", {"dport": 4321}),
    ((6, frames.TCP), "set_tp_dst port 4321", {"dport": 4321}),
    ((4, frames.UDP), "modify_field op set dst_type ipv4_ttl src_type value src_value 09 width 8", {"ttl": 9}),
    ((4, frames.UDP), "modify_field op add dst_type ipv4_ttl src_type value src_value 02 width 8", {"ttl": 66}),
    ((6, frames.TCP), "modify_field op sub dst_type tcp_port_dst src_type value src_value 0003 width 16", {"dport": 50}),
    # Network address translation of both sides, and a hop.
    ((4, frames.TCP), f"set_mac_src mac_addr {MAC} / set_ipv4_src ipv4_addr {V4} / set_tp_src port 7 / mark id 3 / dec_ttl",
     {"eth_src": MAC, "src": V4, "sport": 7, "ttl": 63}),
    ((4, frames.TCP), "inc_tcp_seq value 5", lambda frame: tcp_numbers(frame, 6, 2)),
    ((4, frames.TCP), "dec_tcp_seq value 5", lambda frame: tcp_numbers(frame, -4, 2)),
    ((4, frames.TCP), "inc_tcp_ack value 5", lambda frame: tcp_numbers(frame, 1, 7)),
    ((4, frames.TCP), "dec_tcp_ack value 5", lambda frame: tcp_numbers(frame, 1, -3)),
]
TUNNELS = {"vxlan": "eth / ipv4 / udp / vxlan", "nvgre": "eth / ipv4 / nvgre", "gre": "eth / ipv4 / gre / ipv4"}


class Bed:
    """testpmd that sends what it receives, between a cable and a Linux that is a file."""

    def __init__(self, path, model="cx5"):
        self.kernel = path / "kernel.pcap"
        self.wire = path / "wire"
        self.seen = 0  # frames that Linux has got
        port = f"wire=unix:{self.wire},kernel=pcap:{self.kernel},mac={frames.PORT_MAC},model={model}"
        self.pmd = Testpmd(ports=[port], args=["--rxq=3", "--txq=3", "--flow-isolate-all"])

    def __enter__(self):
        self.pmd.__enter__()
        self.peer = Cable(self.wire)
        self.pmd.cmd("set fwd io")
        self.pmd.cmd("start")
        self.end_rule()
        return self

    def __exit__(self, *error):
        self.peer.__exit__()
        return self.pmd.__exit__(*error)

    def end_rule(self):
        self.pmd.flow("ingress priority 100 pattern eth type is 0x88b5 / end actions queue index 0 / end")

    def flush(self):
        self.pmd.cmd("flow flush 0")
        self.end_rule()

    def linux_gets(self, wanted):
        self.seen += len(wanted)
        frames_of_linux = pcapfile.wait(self.kernel, self.seen)
        assert len(frames_of_linux) == self.seen and frames_of_linux[self.seen - len(wanted):] == wanted

    def echoed(self, *sent):
        """What comes back, in any order.

        Between two ENDs testpmd looks at each queue once and takes a burst at most, so queues are empty when nothing came between.
        """
        back, nb_before = [], -1
        for number, end in enumerate(itertools.cycle(END)):
            self.peer.send(*(sent if number == 0 else ()), end)
            while (frame := self.peer.receive(PATIENCE)) != end:
                assert frame is not None, back
                back.append(frame)
            if len(back) == nb_before:
                return back
            nb_before = len(back)


@pytest.fixture(scope="module", name="one_bed")
def make_bed(tmp_path_factory):
    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield bed


@pytest.fixture(name="bed")
def clean_bed(one_bed):
    one_bed.flush()
    return one_bed


def changed(change, **given):
    frame = frames.packet(data=PAYLOAD, **given)
    return change(frame) if callable(change) else frames.packet(data=PAYLOAD, **{**given, **change})


def test_fields_both_ways(bed):
    """Checksums included; with a tag and without; on the way in, on the way out, and both."""
    for (version, proto), actions, change in FIELDS:
        pattern = PATTERN[version, proto]
        plain = {"version": version, "proto": proto}
        sent = frames.packet(data=PAYLOAD, **plain)
        wanted = changed(change, **plain)
        take = f"ingress priority 1 pattern {pattern} / end actions queue index 1 / end"
        for rules, expected in [
                ([f"ingress pattern {pattern} / end actions {actions} / queue index 2 / count / end"], wanted),
                ([take, f"egress pattern {pattern} / end actions {actions.replace('mark id 3 / ', '')} / count / end"],
                 wanted)]:
            for rule in rules:
                bed.pmd.flow(rule)
            assert bed.echoed(sent) == [expected], (actions, rules)
            bed.flush()


def test_tags(bed):
    pattern = "eth / vlan vid is 5 / ipv4 / udp / end"
    bed.pmd.flow(f"ingress pattern {pattern} actions of_set_vlan_vid vlan_vid 9 / set_ttl ttl_value 3 / queue index 0 / end")
    assert bed.echoed(frames.packet(vlan=0xE005)) == [frames.packet(vlan=0xE009, ttl=3)]
    bed.pmd.flow("egress pattern eth / vlan vid is 9 / end"
                 " actions modify_field op add dst_type vlan_id src_type value src_value 0001 width 12 / end")
    assert bed.echoed(frames.packet(vlan=0xE005)) == [frames.packet(vlan=0xE00A, ttl=3)]


def table(title):
    text = GUIDE.read_text(encoding="utf-8")
    rows = text[text.index(f".. list-table:: {title}"):].split("\n\n", 2)[1].split("   * - ")[2:]
    return [row.split("\n     - ") for row in rows]


def test_what_copies_see(bed):
    """The guide's table, row by row."""
    rows = table("Copies of changed packets")
    assert len(rows) >= 9

    def meant(cell):
        return collections.Counter(frames.packet(dport=int(port), ttl=int(ttl))
                                   for port, ttl in re.findall(r"port (\d+) TTL (\d+)", cell))

    for rules, queues, kernel in rows:
        for rule in re.findall(r"``(.*?)``", rules, re.S):
            bed.pmd.flow(f"ingress {' '.join(rule.split())}")
        assert collections.Counter(bed.echoed(frames.packet())) == meant(queues), rules
        bed.linux_gets(list(meant(kernel).elements()))
        bed.flush()


def test_hash_and_counts_of_changed_packets(bed):
    """RSS goes by what the packet is by then; COUNT counts what came."""
    rule = bed.pmd.flow("ingress pattern eth / ipv4 / udp / vxlan / eth / ipv4 / end"
                        " actions count / vxlan_decap / set_ipv4_src ipv4_addr 10.9.9.9 / rss types ipv4-udp end queues 1 2 end / end")
    before = bed.pmd.xstats()
    inner = [frames.packet(sport=port, data=PAYLOAD) for port in range(1, 9)]
    outer = [vxlan(one, sport=4) for one in inner]
    wanted = [frames.packet(sport=port, data=PAYLOAD, src="10.9.9.9") for port in range(1, 9)]
    assert collections.Counter(bed.echoed(*outer)) == collections.Counter(wanted)
    assert bed.pmd.query_count(rule) == (8, sum(len(one) for one in outer))
    after = bed.pmd.xstats()
    shares = [after[f"rx_q{queue}_packets"] - before[f"rx_q{queue}_packets"] for queue in (1, 2)]
    assert sum(shares) == 8 and 0 not in shares, shares


def vxlan(inner, **options):
    return frames.packet(dport=4789, data=bytes([8, 0, 0, 0, 0, 0, 7, 0]) + inner, **options)


def in_tunnel(kind, inner):
    if kind == "vxlan":
        return vxlan(inner)
    if kind == "nvgre":
        return frames.raw_ipv4(47, bytes([0x20, 0, 0x65, 0x58, 0, 0, 7, 0]) + inner)
    return frames.raw_ipv4(47, bytes([0, 0, 8, 0]) + inner[14:])


@pytest.mark.parametrize("kind,action", [("vxlan", "vxlan_decap"), ("nvgre", "nvgre_decap"), ("vxlan", "raw_decap index 1"),
                                         ("nvgre", "raw_decap index 2"), ("gre", "raw_decap index 3 / raw_encap index 3")])
def test_tunnels_taken_off(bed, kind, action):
    bed.pmd.cmd("set raw_decap 1 eth / ipv4 / udp / vxlan / end_set")
    bed.pmd.cmd("set raw_decap 2 eth / ipv4 / nvgre / end_set")
    bed.pmd.cmd("set raw_decap 3 eth / ipv4 / gre / end_set")
    bed.pmd.cmd(f"set raw_encap 3 eth src is {frames.PEER_MAC} dst is {frames.PORT_MAC} type is 0x0800 / end_set")
    inner = "" if kind == "gre" else " / eth / ipv4"
    rule = f"ingress pattern {TUNNELS[kind]}{inner} / end actions {action} / dec_ttl / queue index 1 / passthru / end"
    bed.pmd.flow(rule)
    sent = [frames.packet(data=PAYLOAD), frames.packet(proto=frames.TCP, data=PAYLOAD, ttl=1)]
    wanted = [frames.packet(data=PAYLOAD, ttl=63), frames.packet(proto=frames.TCP, data=PAYLOAD, ttl=0)]
    assert bed.echoed(*(in_tunnel(kind, one) for one in sent)) == wanted
    bed.linux_gets(wanted)


SET = ("set {} ip-version {} {} ip-src {} ip-dst {} {}eth-src 02:00:00:00:00:0a eth-dst 02:00:00:00:00:0b")
ENDS = {"ipv4": ("192.0.2.1", "192.0.2.2"), "ipv6": ("2001:db8::1", "2001:db8::2")}


@pytest.mark.parametrize("kind,version,tag", itertools.product(("vxlan", "nvgre"), ("ipv4", "ipv6"), ("", "-with-vlan")))
def test_tunnels_put_on(bed, kind, version, tag):
    """Lengths and the IPv4 checksum are the device's; and off again, by a rule for what comes back."""
    ident = "vni 7 udp-src 4 udp-dst 4789" if kind == "vxlan" else "tni 7"
    bed.pmd.cmd(SET.format(kind + tag, version, ident, *ENDS[version], "vlan-tci 5 " if tag else ""))
    bed.pmd.flow("ingress priority 1 pattern udp dst is 53 / end actions queue index 1 / end")
    bed.pmd.flow(f"egress pattern eth / ipv4 / udp dst is 53 / end actions dec_ttl / {kind}_encap / end")
    inner = frames.packet(data=PAYLOAD, ttl=63)
    src, dst = ENDS[version]
    if kind == "vxlan":
        payload = bytes([0, 4, 0x12, 0xB5]) + (16 + len(inner)).to_bytes(2, "big") + bytes(2) \
            + bytes([8, 0, 0, 0, 0, 0, 7, 0]) + inner
    else:
        payload = bytes([0x20, 0, 0x65, 0x58, 0, 0, 7, 0]) + inner
    proto = frames.UDP if kind == "vxlan" else 47
    # What no item says: no fragment, identification 0.
    if version == "ipv4":
        header = bytearray(frames.ipv4(payload, proto, src, dst))
        header[4:8] = bytes(4)
        header[10:12] = bytes(2)
        header[10:12] = frames.checksum(bytes(header[:20])).to_bytes(2, "big")
    else:
        header = frames.ipv6(payload, proto, src, dst)
    wanted = frames.ether(bytes(header), frames.IPV4 if version == "ipv4" else frames.IPV6, "02:00:00:00:00:0b",
                          "02:00:00:00:00:0a", 5 if tag else None)
    assert bed.echoed(frames.packet(data=PAYLOAD)) == [wanted]
    off = f"eth {'/ vlan vid is 5 ' if tag else ''}/ {version} / {'udp / vxlan' if kind == 'vxlan' else 'nvgre'}"
    bed.pmd.flow(f"ingress pattern {off} / end actions {kind}_decap / queue index 2 / end")
    bed.pmd.cmd("flow destroy 0 rule 2")
    assert bed.echoed(wanted) == [inner]


def test_raw_headers_put_on(bed):
    """A frame in GRE, and a packet in GRE in place of its Ethernet header."""
    bed.pmd.cmd("set raw_decap 0 eth / end_set")
    for index, inside in enumerate((0x6558, 0x0800)):
        bed.pmd.cmd(f"set raw_encap {index} eth src is 02:00:00:00:00:0a dst is 02:00:00:00:00:0b type is 0x0800 /"
                    f" ipv4 src is 192.0.2.1 dst is 192.0.2.2 proto is 47 ttl is 64 / gre protocol is {inside:#x} / end_set")
    bed.pmd.flow("ingress pattern udp / end actions queue index 0 / end")
    bed.pmd.flow("egress pattern eth / ipv4 / udp dst is 53 / end actions raw_encap index 0 / end")
    bed.pmd.flow("egress pattern eth / ipv4 / udp dst is 54 / end actions set_ttl ttl_value 5 / raw_decap index 0"
                 " / raw_encap index 1 / end")
    frame, packet = (one[14:] for one in bed.echoed(frames.packet(data=PAYLOAD), frames.packet(data=PAYLOAD, dport=54)))
    for outer, inside in ((frame, b"\x65\x58" + frames.packet(data=PAYLOAD)),
                          (packet, b"\x08\0" + frames.packet(data=PAYLOAD, dport=54, ttl=5)[14:])):
        assert frames.checksum(outer[:20]) == 0 and int.from_bytes(outer[2:4], "big") == len(outer)
        assert outer[20:] == b"\0\0" + inside


def test_every_action_of_the_guide_is_here():
    text = (paths.ROOT / __file__).read_text()
    names = [name for row in table("Actions that change packets") for name in re.findall(r"``(\w+)``", row[0])]
    assert len(names) > 20
    for name in names:
        assert name in text or name.split("_")[0] in TUNNELS, name


def test_not_on_the_model_that_has_none(tmp_path):
    with Bed(tmp_path, model="cx4lx") as bed:
        for actions in ("dec_ttl", "vxlan_decap", "raw_decap index 0 / raw_encap index 0"):
            answer = bed.pmd.refused_flow(f"ingress pattern eth / ipv4 / udp / vxlan / end actions {actions} / queue index 0 / end")
            assert "the device or its kernel" in answer, answer
        bed.pmd.flow("ingress pattern eth / ipv4 / end actions mark id 1 / queue index 0 / end")
