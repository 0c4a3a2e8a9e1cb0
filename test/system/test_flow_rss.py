# SPDX-License-Identifier: BSD-3-Clause
"""RSS of rules: hash and queue of each frame equal those computed here, by inner headers and by symmetric keys."""
import random

import pytest
from harness import frames
from harness.rig import RX_RSS_HASH, Rig, source
from harness.testpmd import Testpmd
from test_flow_tunnels import TEB, gre, inner_ip, labels, mpls_udp, vxlan
from test_rss import flows, frames_of, fields_of, check, hash_key

QUEUES = [2, 0, 3, 1]
MPLS = 0x8847


def inner(kind, rng):
    """(an IP packet, its fields for the hash)."""
    version, proto = kind
    src, dst = (f"10.9.{rng.randrange(256)}.{rng.randrange(1, 255)}" if version == 4
                else f"fd00:9::{rng.randrange(1, 0x10000):x}" for _ in range(2))
    ports = rng.randrange(1024, 65536), rng.randrange(1024, 65536)
    made = inner_ip(proto=proto, version=version, src=src, dst=dst, sport=ports[0], dport=ports[1])
    return made, (version, src, dst, *ports)


def in_ethernet(packet, version):
    return frames.ether(packet, frames.IPV4 if version == 4 else frames.IPV6, pad=0,
                        dst="02:00:00:00:02:02", src="02:00:00:00:02:01")


def ip_type(version):
    return frames.IPV4 if version == 4 else frames.IPV6


# name: (pattern, (number, inner packet, its version) -> frame)
TUNNELS = {
    "vxlan": ("eth / ipv4 / udp / vxlan",
              lambda n, packet, version: vxlan(n, 7, in_ethernet(packet, version))),
    "vxlan over ipv6": ("eth / ipv6 / udp / vxlan vni is 7 / eth",
                        lambda n, packet, version: vxlan(n, 7, in_ethernet(packet, version), version=6)),
    "gre": ("eth / ipv4 / gre", lambda n, packet, version: gre(n, ip_type(version), packet)),
    "gre over ipv6": ("eth / ipv6 / gre",
                      lambda n, packet, version: gre(n, ip_type(version), packet, key=5, version=6)),
    "nvgre": ("eth / ipv4 / nvgre",
              lambda n, packet, version: gre(n, TEB, in_ethernet(packet, version), key=0x123400)),
    "mpls over udp": ("eth / ipv4 / udp / mpls",
                      lambda n, packet, version: mpls_udp(n, labels((16, 0, 64)), packet)),
    "mpls over gre": ("eth / ipv4 / gre / mpls",
                      lambda n, packet, version: gre(n, MPLS, labels((16, 0, 64)) + packet)),
}
KINDS = [(4, frames.UDP), (4, frames.TCP), (6, frames.UDP), (6, frames.TCP)]
# types as typed, and the fields that each of KINDS is hashed by: 5 with ports, 3 addresses, 0 not at all
TYPES = {
    "ipv4-udp ipv6": (5, 0, 3, 3),
    "ipv4 ipv6-tcp": (3, 3, 0, 5),
    "ipv4-tcp ipv4-udp ipv6-tcp ipv6-udp": (5, 5, 5, 5),
}


def traffic(make, types, seed):
    """[(frame, the fields it is hashed by or None)], numbered from 1 by their source MACs."""
    rng = random.Random(seed)
    sent = []
    for number in range(1, 33):
        which = rng.randrange(len(KINDS))
        packet, fields = inner(KINDS[which], rng)
        taken = TYPES[types][which]
        sent.append((make(number, packet, KINDS[which][0]), fields[:taken] or None))
    return sent


def expected(key, fields, queues=QUEUES):
    if fields is None:
        return queues[0], None
    value = frames.toeplitz(key, frames.rss_input(*fields))
    return queues[value % len(queues)], value


def seen_as(one):
    return one["queue"], one["hash"] if "RSS_HASH" in one["flags"] else None


def rule(priority, pattern, level, types, queues=QUEUES, more=""):
    return (f"ingress priority {priority} pattern {pattern} / end actions rss level {level} types {types} end"
            f" queues {' '.join(map(str, queues))} end / {more}end")


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    with Rig(tmp_path_factory.mktemp("inner"),
               ["--flow-isolate-all", f"--rx-offloads={RX_RSS_HASH:#x}"]) as made:
        made.add_sentinel()
        yield made


def delivered(rig, sent, *rules):
    """{number: [what was seen of it]}"""
    made = [rig.pmd.flow(line) for line in rules]
    try:
        got = rig.deliver(*[frame for frame, _ in sent])
    finally:
        for number in made:
            rig.pmd.cmd(f"flow destroy 0 rule {number}")
    return {number: [one for one in got if one["src"] == source(number)]
            for number in range(1, len(sent) + 1)}


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("name", TUNNELS)
def test_inner_headers(rig, name, types):
    pattern, make = TUNNELS[name]
    sent = traffic(make, types, f"{name} {types}")
    got = delivered(rig, sent, rule(1, pattern, 2, types, more="mark id 9 / "))
    key = hash_key(rig.pmd)
    for number, (_, fields) in enumerate(sent, 1):
        assert [seen_as(one) for one in got[number]] == [expected(key, fields)], (number, fields)
        assert "FDIR" in got[number][0]["flags"] and got[number][0]["mark"] == 9
    assert len({one["queue"] for seen in got.values() for one in seen}) > 2


def test_outer_headers_are_the_same_for_all(rig):
    """Level 0 and 1: one flow outside, one hash, one queue."""
    pattern, make = TUNNELS["vxlan"]
    sent = traffic(make, "ipv4-udp ipv6", 1)
    key = hash_key(rig.pmd)
    outside = 4, "10.0.0.2", "10.0.0.1", 1024, 4789
    for level in (0, 1):
        got = delivered(rig, sent, rule(1, pattern, level, "ipv4-udp"))
        assert {seen_as(one) for seen in got.values() for one in seen} == {expected(key, outside)}
        assert all(len(seen) == 1 for seen in got.values())


def test_copies_by_inner_headers(tmp_path):
    """PASSTHRU: a copy by the inner headers, then one by the outer ones, and the kernel has it as well."""
    pattern, make = TUNNELS["gre"]
    types = "ipv4-tcp ipv4-udp ipv6-tcp ipv6-udp"
    sent = traffic(make, types, 2)
    with Rig(tmp_path, ["--flow-isolate-all", f"--rx-offloads={RX_RSS_HASH:#x}"]) as rig:
        rig.add_sentinel()
        key = hash_key(rig.pmd)
        got = delivered(rig, sent, rule(1, pattern, 2, types, (0, 1), "passthru / "),
                        rule(2, pattern, 1, "ipv4", (3, 2), "passthru / "))
        outside = expected(key, (4, "10.0.0.2", "10.0.0.1"), (3, 2))
        for number, (_, fields) in enumerate(sent, 1):
            assert sorted(seen_as(one) for one in got[number]) == sorted(
                [expected(key, fields, (0, 1)), outside]), number
    assert sorted(rig.kernel) == list(range(1, len(sent) + 1))


def test_an_adapter_that_hashes_inside_of_some_tunnels():
    """ConnectX-4 Lx: VXLAN and GRE."""
    with Testpmd(ports=["wire=null,model=cx4lx"]) as pmd:
        for pattern in ("eth / ipv4 / udp / vxlan", "eth / ipv4 / gre"):
            pmd.flow(f"ingress pattern {pattern} / end actions rss level 2 queues 0 end / end")
        answer = pmd.refused_flow("ingress pattern eth / ipv4 / udp / end actions rss level 2 queues 0 end / end")
        assert "RSS level 2: the pattern has no tunnel to look into; add VXLAN" in answer


def test_the_port_hashes_by_outer_headers(tmp_path):
    """Asked for the outermost headers it does what it does; testpmd leaves out what is not offered."""
    made = flows(32)
    with Rig(tmp_path, [f"--rx-offloads={RX_RSS_HASH:#x}", "--rss-udp"], 4) as rig:
        answer = rig.pmd.cmd("port config all rss level-outer")
        assert "rror" not in answer and "modified" not in answer, answer
        # testpmd's rules have the port's types, if none are typed.
        rig.pmd.flow("ingress pattern eth / ipv4 / end actions rss queues 0 1 2 3 end / end")
        rig.pmd.cmd("flow flush 0")
        check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made))
        assert "modified RSS hash function based on hardware support" in rig.pmd.cmd("port config all rss level-inner")
        check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made))


def both_ways(rng, version, proto):
    src, dst = (f"10.9.{rng.randrange(256)}.{rng.randrange(1, 255)}" if version == 4
                else f"fd00:9::{rng.randrange(1, 0x10000):x}" for _ in range(2))
    ports = rng.randrange(1024, 65536), rng.randrange(1024, 65536)
    return (version, src, dst, *ports), (version, dst, src, *reversed(ports))


@pytest.mark.parametrize("kind", KINDS, ids=["ipv4-udp", "ipv4-tcp", "ipv6-udp", "ipv6-tcp"])
def test_both_directions_of_a_flow(rig, kind):
    """func symmetric_toeplitz: one queue for both, and another flow has another."""
    rng = random.Random(str(kind))
    version, proto = kind
    sent, names = [], {frames.UDP: "udp", frames.TCP: "tcp"}
    for number in range(0, 64, 2):
        for way, fields in enumerate(both_ways(rng, version, proto)):
            _, src, dst, sport, dport = fields
            sent.append((frames.packet(proto, version, sport, dport, src=src, dst=dst,
                                       eth_src=source(number + way + 1)), fields))
    types = f"ipv{version}-{names[proto]}"
    got = delivered(rig, sent, f"ingress priority 1 pattern eth / end actions rss func symmetric_toeplitz"
                                 f" types {types} end queues 2 0 3 1 end / end")
    key = bytes.fromhex("6d5a" * 20)
    for number, (_, fields) in enumerate(sent, 1):
        assert [seen_as(one) for one in got[number]] == [expected(key, fields)]
    for number in range(1, 65, 2):
        assert seen_as(got[number][0]) == seen_as(got[number + 1][0])
    assert len({one["queue"] for seen in got.values() for one in seen}) == len(QUEUES)
    assert len({one["hash"] for seen in got.values() for one in seen}) > 24
