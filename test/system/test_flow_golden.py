# SPDX-License-Identifier: BSD-3-Clause
"""testpmd command line -> the exact bytes of each ibv_flow_attr, for all items and actions of the guide."""
import re

import pytest
from harness import paths
from harness.flowattr import (
    COUNT, DONT_TRAP, DROP, EGRESS, SHOW, attr, eth, gre, ipv4, ipv6, mpls, shown, tag, tcp, udp, vxlan)
from harness.testpmd import Testpmd

QUEUE = "queue index 1"
MAC = "02:11:22:33:44:55"
V, G, U, M = vxlan(), gre(), udp(dst=4789), 0xFFFFF000

# (pattern, the specs), with `actions queue index 1`.
ITEMS = [
    ("void", []),
    ("eth", [eth()]),
    (f"eth dst is {MAC}", [eth(dst=MAC)]),
    (f"eth src is {MAC}", [eth(src=MAC)]),
    ("eth dst spec 01:00:00:00:00:00 dst mask 01:00:00:00:00:00",
     # A multicast rule that takes is shielded by an ETH spec that matches all.
     [eth(), eth(dst="01:00:00:00:00:00", dst_mask="01:00:00:00:00:00")]),
    (f"eth src spec {MAC} src prefix 24", [eth(src="02:11:22:00:00:00", src_mask="ff:ff:ff:00:00:00")]),
    ("eth type is 0x88cc", [eth(type_=0x88CC)]),
    ("eth type spec 0x8800 type mask 0xff00", [eth(type_=0x8800, type_mask=0xFF00)]),
    (f"eth dst spec {MAC} dst last {MAC} dst mask ff:ff:ff:ff:ff:ff", [eth(dst=MAC)]),
    ("eth / vlan vid is 5", [eth(vlan=5, vlan_mask=0xFFF)]),
    ("eth / vlan pcp is 3", [eth(vlan=3 << 13, vlan_mask=7 << 13)]),
    ("eth / vlan dei is 1", [eth(vlan=1 << 12, vlan_mask=1 << 12)]),
    ("eth / vlan tci is 0xb123", [eth(vlan=0xB123, vlan_mask=0xFFFF)]),
    ("eth / vlan tci spec 0 tci mask 0x1000", [eth(vlan_mask=0x1000)]),
    ("eth / vlan vid is 5 inner_type is 0x0806", [eth(type_=0x0806, vlan=5, vlan_mask=0xFFF)]),
    ("eth has_vlan is 1 / vlan vid is 5", [eth(vlan=5, vlan_mask=0xFFF)]),
    ("eth type is 0x8100 / vlan vid is 5 inner_type is 0x0800 / ipv4", [eth(vlan=5, vlan_mask=0xFFF), ipv4()]),
    ("eth / ipv4", [eth(), ipv4()]),
    ("ipv4", [ipv4()]),
    ("eth type is 0x0800 / ipv4", [eth(), ipv4()]),
    ("eth / ipv4 src is 10.0.0.1", [eth(), ipv4(src="10.0.0.1")]),
    ("eth / ipv4 dst is 10.0.0.1", [eth(), ipv4(dst="10.0.0.1")]),
    ("eth / ipv4 src spec 10.1.2.3 src prefix 8", [eth(), ipv4(src="10.0.0.0", src_mask="255.0.0.0")]),
    ("eth / ipv4 proto is 89", [eth(), ipv4(proto=89)]),
    ("eth / ipv4 tos is 0xb8", [eth(), ipv4(tos=0xB8)]),
    ("eth / ipv4 tos spec 0xb9 tos mask 0xfc", [eth(), ipv4(tos=0xB8, tos_mask=0xFC)]),
    ("eth / ipv4 proto is 6 / tcp", [eth(), ipv4(), tcp()]),
    ("eth / ipv6", [eth(), ipv6()]),
    ("eth / ipv6 src is fd00::1", [eth(), ipv6(src="fd00::1")]),
    ("eth / ipv6 dst is fd00::1", [eth(), ipv6(dst="fd00::1")]),
    ("eth / ipv6 src spec fd00::1 src prefix 16", [eth(), ipv6(src="fd00::", src_mask="ffff::")]),
    ("eth / ipv6 proto is 58", [eth(), ipv6(proto=58)]),
    ("eth / ipv6 tc is 0xab", [eth(), ipv6(tc=0xAB)]),
    ("eth / ipv6 flow is 0x12345", [eth(), ipv6(flow=0x12345)]),
    ("eth / ipv6 flow spec 0x12345 flow mask 0xff", [eth(), ipv6(flow=0x45, flow_mask=0xFF)]),
    ("eth / ipv4 / tcp", [eth(), ipv4(), tcp()]),
    ("tcp", [tcp()]),
    ("eth / ipv6 / tcp src is 80", [eth(), ipv6(), tcp(src=80)]),
    ("eth / ipv6 / tcp dst is 443", [eth(), ipv6(), tcp(dst=443)]),
    ("eth / ipv4 / tcp dst spec 0x1234 dst mask 0xff00", [eth(), ipv4(), tcp(dst=0x1200, dst_mask=0xFF00)]),
    ("eth / ipv4 / udp", [eth(), ipv4(), udp()]),
    ("eth / ipv4 / udp src is 53", [eth(), ipv4(), udp(src=53)]),
    ("void / eth / void / ipv4 / udp dst is 53", [eth(), ipv4(), udp(dst=53)]),
    ("eth / ipv4 / esp", [eth(), ipv4(proto=50)]),
    ("eth / ipv6 / esp", [eth(), ipv6(proto=50)]),
    ("eth / mpls", [eth(type_=0x8847), mpls()]),
    ("eth / mpls label is 16", [eth(type_=0x8847), mpls(16 << 12, M)]),
    ("eth / mpls tc is 5", [eth(type_=0x8847), mpls(5 << 9, 7 << 9)]),
    ("eth / mpls s is 1", [eth(type_=0x8847), mpls(1 << 8, 1 << 8)]),
    ("eth type is 0x8848 / mpls label is 16 / ipv4", [eth(type_=0x8848), mpls(16 << 12, M), ipv4()]),
    ("eth / ipv4 / udp / mpls label is 16 / ipv6",
     [eth(), ipv4(), udp(dst=6635), mpls(16 << 12, M), ipv6(inner=True)]),
    ("eth / ipv4 / gre / mpls label is 16", [eth(), ipv4(), gre(0x8847), mpls(16 << 12, M)]),
    ("eth / ipv4 / udp / vxlan", [eth(), ipv4(), U, V]),
    ("vxlan vni is 42", [U, vxlan(42, 0xFFFFFF)]),
    ("eth / ipv6 / udp src is 7 / vxlan vni spec 0x1234 vni mask 0xff",
     [eth(), ipv6(), udp(src=7, dst=4789), vxlan(0x34, 0xFF)]),
    ("eth / ipv4 / udp dst is 8472 / vxlan", [eth(), ipv4(), udp(dst=8472), V]),
    (f"eth / ipv4 / udp / vxlan / eth dst is {MAC} type is 0x0806",
     [eth(), ipv4(), U, V, eth(dst=MAC, type_=0x0806, inner=True)]),
    ("eth / ipv4 / udp / vxlan / eth / vlan vid is 5 / ipv4 src is 10.0.0.1 / tcp dst is 80",
     [eth(), ipv4(), U, V, eth(vlan=5, vlan_mask=0xFFF, inner=True), ipv4(src="10.0.0.1", inner=True),
      tcp(dst=80, inner=True)]),
    ("eth / ipv4 / udp / vxlan / eth / ipv6 flow is 9 / udp src is 53",
     [eth(), ipv4(), U, V, eth(inner=True), ipv6(flow=9, inner=True), udp(src=53, inner=True)]),
    ("eth / ipv4 / udp / vxlan / eth / mpls label is 16",
     [eth(), ipv4(), U, V, eth(type_=0x8847, inner=True), mpls(16 << 12, M, inner=True)]),
    ("eth / ipv4 / udp / vxlan / eth / ipv4 / esp", [eth(), ipv4(), U, V, eth(inner=True), ipv4(proto=50, inner=True)]),
    ("eth / ipv4 / gre", [eth(), ipv4(), G]),
    ("eth / ipv4 proto is 47 / gre protocol is 0x88be", [eth(), ipv4(), gre(0x88BE)]),
    ("eth / ipv6 / gre / gre_key value is 7", [eth(), ipv6(), gre(key=7, key_mask=0xFFFFFFFF)]),
    ("eth / ipv6 / gre / gre_option key is 7 / ipv4", [eth(), ipv6(), gre(0x0800, 7, 0xFFFFFFFF), ipv4(inner=True)]),
    ("eth / ipv4 / gre / gre_key value spec 0x107 value mask 0xff / ipv4 / udp",
     [eth(), ipv4(), gre(0x0800, 7, 0xFF), ipv4(inner=True), udp(inner=True)]),
    ("eth / ipv4 / gre / ipv6", [eth(), ipv4(), gre(0x86DD), ipv6(inner=True)]),
    ("eth / ipv4 / gre / eth", [eth(), ipv4(), gre(0x6558), eth(inner=True)]),
    ("eth / ipv4 / nvgre", [eth(), ipv4(), gre(0x6558)]),
    ("eth / ipv4 / nvgre tni is 0x1234 / eth", [eth(), ipv4(), gre(0x6558, 0x123400, 0xFFFFFF00), eth(inner=True)]),
    ("any", []),
    ("eth / any num is 1 / udp dst is 53", [eth(), udp(dst=53)]),
    ("eth / any num is 2 / vxlan / eth / any num is 1 / tcp", [eth(), U, V, eth(inner=True), tcp(inner=True)]),
]

# Fields of the guide's table that Linux 6.1, and so softhca, refuses.
REFUSED = {
    "eth / ipv4 ttl is 5": "IPV4 ttl: ",
    "eth / ipv4 fragment_offset spec 0x2000 fragment_offset mask 0x2000": "IPV4 fragment_offset: ",
    "eth / ipv6 hop is 1": "IPV6 hop limit: ",
    "eth / ipv4 / esp spi is 5": "ESP spi: ",
    "eth / ipv4 / gre / gre_option checksum is 5": "GRE_OPTION ",
    "eth / ipv4 / gre / gre_option sequence is 5": "GRE_OPTION ",
}

E, E4 = [eth()], [eth(), ipv4()]
TAGGED = [eth(vlan=dei, vlan_mask=0x1000) for dei in (0, 0x1000)]
TAGGED_INSIDE = [eth(vlan=dei, vlan_mask=0x1000, inner=True) for dei in (0, 0x1000)]
SAMPLE = "set sample_actions 0 queue index 2 / end"
# (command before or None, pattern, actions, the attributes)
INDIRECT = "flow indirect_action 0 create action_id {} ingress action {} / end"
ACTIONS = [
    (None, "eth / ipv4", "queue index 0", [attr(*E4)]),
    (None, "eth", "queue index 0 / queue index 1", [attr(*E), attr(*E)]),
    (None, "eth", "void / queue index 0 / void", [attr(*E)]),
    (None, "eth", "drop", [attr(*E, DROP)]),
    # id + 1: 0 is no tag; FLAG is the last.
    (None, "eth", "mark id 0 / queue index 0", [attr(*E, tag(1))]),
    (None, "eth", "queue index 0 / mark id 0xfffffd", [attr(*E, tag(0xFFFFFE))]),
    (None, "eth", "flag / queue index 0", [attr(*E, tag(0xFFFFFF))]),
    (None, "eth", "count / queue index 0", [attr(*E, COUNT)]),
    (None, "eth", "count / drop", [attr(*E, DROP, COUNT)]),
    (None, "eth", "mark id 5 / count / queue index 0 / passthru", [attr(*E, tag(6), COUNT, flags=DONT_TRAP)]),
    (None, "eth", "passthru / queue index 0", [attr(*E, flags=DONT_TRAP)]),
    (None, "eth dst is 01:00:5e:00:00:01", "queue index 0 / passthru",
     [attr(eth(dst="01:00:5e:00:00:01"), flags=DONT_TRAP)]),
    (None, "ipv4 dst is 224.0.0.1", "drop", [attr(eth(), ipv4(dst="224.0.0.1"), DROP)]),
    (None, "eth / ipv4", "rss types ipv4 end queues 0 1 end", [attr(*E4)]),
    (None, "eth / ipv4", "rss types ipv4-udp end queues 0 1 end", [attr(*E4, udp()), attr(*E4)]),
    (None, "eth", "rss types ipv4-udp ipv6 end queues 0 1 end / passthru",
     [attr(eth(), ipv4(), udp(), flags=DONT_TRAP), attr(eth(), ipv6(), flags=DONT_TRAP), attr(*E, flags=DONT_TRAP)]),
    # What the pattern says of the protocol leaves no room for UDP, or for a part of it.
    (None, "eth / ipv4 / gre", "rss types ipv4-udp ipv4 end queues 0 1 end", [attr(*E4, G)]),
    (None, "eth / ipv4 / esp", "rss types ipv4-tcp end queues 0 1 end", [attr(eth(), ipv4(proto=50))]),
    (None, "eth / any num is 2 / vxlan", "rss types ipv4 end queues 0 1 end", [attr(*E, U, V, ipv4()), attr(*E, U, V)]),
    (None, "eth / mpls", "rss types ipv6 end queues 0 1 end",
     [attr(eth(type_=0x8847), mpls(), ipv6()), attr(eth(type_=0x8847), mpls())]),
    # Any tag: the device knows it by its bits, so it takes a rule for each value of DEI.
    (None, "eth / vlan", "queue index 0", [attr(TAGGED[0]), attr(TAGGED[1])]),
    (None, "vlan tci spec 5 tci mask 0 inner_type is 0x0806", "queue index 0 / passthru",
     [attr(eth(type_=0x0806, vlan=dei, vlan_mask=0x1000), flags=DONT_TRAP) for dei in (0, 0x1000)]),
    (None, "eth / vlan", "rss types ipv4 end queues 0 1 end",
     [attr(TAGGED[0], ipv4()), attr(TAGGED[1], ipv4()), attr(TAGGED[0]), attr(TAGGED[1])]),
    (None, "eth / vlan / ipv4 / udp / vxlan / eth / vlan / ipv6", "count / drop",
     [attr(outer, ipv4(), U, V, inner, ipv6(inner=True), DROP, COUNT) for inner in TAGGED_INSIDE for outer in TAGGED]),
    (SAMPLE, "eth", "sample ratio 1 index 0 / queue index 1", [attr(*E), attr(*E)]),
    (SAMPLE, "eth", "sample ratio 1 index 0 / passthru", [attr(*E, flags=DONT_TRAP)]),
    (INDIRECT.format(1, "mark id 4"), "eth", "indirect 1 / queue index 0", [attr(*E, tag(5))]),
    (INDIRECT.format(2, "count"), "eth", "indirect 2 / drop", [attr(*E, DROP, COUNT)]),
]


# Rules on sent packets have levels of their own.
EGRESS_RULES = [
    ("eth", "drop", attr(*E, DROP, flags=EGRESS)),
    ("eth / ipv4", "count", attr(*E4, COUNT, flags=EGRESS)),
    ("eth / vlan vid is 5 / ipv6 / tcp dst is 80", "count / drop",
     attr(eth(vlan=5, vlan_mask=0xFFF), ipv6(), tcp(dst=80), DROP, COUNT, flags=EGRESS)),
    ("udp dst is 53", "void / drop", attr(udp(dst=53), DROP, flags=EGRESS)),
]


@pytest.fixture(scope="module")
def pmd():
    with Testpmd(args=["--rxq=4", "--txq=4", "--flow-isolate-all"],
                 eal=SHOW) as made:
        yield made


def given(pmd, pattern, actions, direction="ingress"):
    """The attributes that a rule made, which is destroyed again."""
    answer = pmd.cmd(f"flow create 0 {direction} pattern {pattern} / end actions {actions} / end")
    assert "created" in answer, f"{pattern} / {actions}\n{answer}"
    pmd.cmd("flow flush 0")
    return shown(answer)


def test_items(pmd):
    for pattern, specs in ITEMS:
        assert [one.hex() for one in given(pmd, pattern, QUEUE)] == [attr(*specs).hex()], pattern


def test_refused_items(pmd):
    for pattern, message in REFUSED.items():
        assert message in pmd.refused_flow(f"ingress pattern {pattern} / end actions {QUEUE} / end"), pattern


def test_actions(pmd):
    for before, pattern, actions, attrs in ACTIONS:
        if before:
            pmd.cmd(before)
        assert [one.hex() for one in given(pmd, pattern, actions)] == [one.hex() for one in attrs], actions


def test_egress(pmd):
    for pattern, actions, expected in EGRESS_RULES:
        assert [one.hex() for one in given(pmd, pattern, actions, "egress")] == [expected.hex()], (pattern, actions)


def guide_rows(title):
    """[(first cell, second cell)] of the guide's table."""
    text = (paths.ROOT / "doc/guides/nics/mlx5dv_flow.rst").read_text()
    table = re.search(rf"\.\. list-table:: {title}\n.*?\n\n(.*?)\n\n", text, re.S).group(1)
    rows = re.findall(r"\* - ``(\w+)``\n     - (.*?)(?=\n   \* -|\Z)", table + "\n", re.S)
    assert len(rows) > 5
    return rows


def fields_used(patterns):
    """{item: the words behind it in all patterns}"""
    used = {}
    for pattern in patterns:
        for item in pattern.split(" / "):
            name, *words = item.split()
            used.setdefault(name, set()).update(words)
    return used


def test_every_item_and_field_of_the_guide_is_here():
    used = fields_used([pattern for pattern, _ in ITEMS] + list(REFUSED))
    for item, what in guide_rows("Items"):
        assert item in used, f"no golden for {item}"
        missing = set(re.findall(r"``(\w+)``", what)) - used[item]
        assert not missing, f"no golden for {item} {missing}"


def test_every_action_of_the_guide_is_here():
    used = fields_used(actions for _, _, actions, _ in ACTIONS)
    missing = {action for action, _ in guide_rows("Actions")} - set(used)
    assert not missing, f"no golden for {missing}"
