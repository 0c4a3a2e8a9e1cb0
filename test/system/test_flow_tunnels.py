# SPDX-License-Identifier: BSD-3-Clause
"""Rules on tunnels, what is in them, and labels: the right queue gets each frame, the kernel the rest."""
import struct

import pytest
from harness import frames
from harness.rig import Rig, probe, source
from harness.testpmd import Testpmd

TEB = 0x6558
MPLS = 0x8847
GRE_PROTO, ESP_PROTO = 47, 50


def ip(payload, proto, version=4):
    return frames.ipv4(payload, proto) if version == 4 else frames.ipv6(payload, proto)


def outer(number, payload, proto, version=4):
    """A frame around an L4 payload that is no UDP or TCP."""
    return frames.ether(ip(payload, proto, version), frames.IPV4 if version == 4 else frames.IPV6,
                        src=source(number))


def inner_ip(**options):
    return frames.packet(pad=0, **options)[14:]


def inner_frame(**options):
    return frames.packet(eth_src="02:00:00:00:02:01", eth_dst="02:00:00:00:02:02", **options)


def vxlan(number, vni, frame, version=4, port=4789):
    return probe(number, version=version, dport=port, data=struct.pack("!II", 0x08000000, vni << 8) + frame)


def gre(number, protocol, payload, key=None, version=4):
    header = struct.pack("!HH", 0 if key is None else 0x2000, protocol)
    header += b"" if key is None else struct.pack("!I", key)
    return outer(number, header + payload, GRE_PROTO, version)


def labels(*entries):
    """(label, traffic class, TTL) each; the last is the bottom of the stack."""
    return b"".join(struct.pack("!I", label << 12 | tc << 9 | (i == len(entries) - 1) << 8 | ttl)
                    for i, (label, tc, ttl) in enumerate(entries))


def mpls(number, stack, payload):
    return frames.ether(stack + payload, MPLS, src=source(number))


def mpls_udp(number, stack, payload):
    return probe(number, dport=6635, data=stack + payload)


def esp(number, spi, version=4):
    return outer(number, struct.pack("!II", spi, 1) + bytes(24), ESP_PROTO, version)


# name: ({queue: pattern}, [(frame, its queue, its queues where the rules copy and those are more)])
CASES = {
    "vxlan": ({
        0: "eth / ipv4 / udp / vxlan vni is 42 / end",
        1: "eth / any num is 2 / vxlan / eth / any num is 1 / tcp dst is 80 / end",
        2: "eth / ipv6 / udp / vxlan / eth dst is 02:00:00:00:02:02 / ipv6 src is fd00::2 / end",
    }, [
        (vxlan(1, 42, inner_frame()), [0]),
        (vxlan(2, 43, inner_frame()), []),
        (vxlan(3, 43, inner_frame(proto=frames.TCP, dport=80)), [1]),
        (vxlan(4, 43, inner_frame(proto=frames.TCP, dport=80, version=6), version=6), [1], [1, 2]),
        (vxlan(5, 7, inner_frame(version=6), version=6), [2]),
        (vxlan(6, 7, inner_frame(version=6)), []),
        (probe(7, proto=frames.TCP, dport=80), []),
        (probe(8, dport=42), []),
    ]),
    "vxlan and no more of udp": ({1: "eth / ipv4 / udp / vxlan / end"}, [
        (vxlan(1, 1, inner_frame()), [1]),
        (probe(2, dport=4790), []),
        (probe(3, sport=4789), []),
    ]),
    "inner before outer": ({
        0: "eth / ipv4 / udp / end",
        1: "eth / ipv4 / udp / vxlan / end",
        2: "eth / ipv4 / udp / vxlan / eth / ipv4 / udp / end",
    }, [
        (probe(1), [0]),
        (vxlan(2, 1, inner_frame(proto=frames.TCP)), [1], [0, 1]),
        (vxlan(3, 1, inner_frame()), [2], [0, 1, 2]),
    ]),
    "inner tags": ({1: "eth / ipv4 / udp / vxlan / eth / vlan vid is 5 / ipv4 / end"}, [
        (vxlan(1, 1, inner_frame(vlan=0x2005)), [1]),
        (vxlan(2, 1, inner_frame(vlan=6)), []),
        (vxlan(3, 1, inner_frame()), []),
        (probe(4, vlan=5), []),
    ]),
    "gre": ({
        0: "eth / ipv4 / gre / gre_key value is 7 / end",
        1: "eth / any num is 1 / gre / ipv4 src is 10.0.0.2 / udp dst is 53 / end",
        2: "eth / ipv4 / gre protocol is 0x88be / end",
    }, [
        (gre(1, frames.IPV4, inner_ip(dport=54), key=7), [0]),
        (gre(2, frames.IPV4, inner_ip(dport=54), key=8), []),
        (gre(3, frames.IPV4, inner_ip()), [1]),
        (gre(4, frames.IPV4, inner_ip(), version=6), [1]),
        (gre(5, TEB, inner_frame()), []),
        (gre(6, 0x88BE, bytes(20)), [2]),
        (outer(7, bytes(20), 99), []),
    ]),
    "nvgre": ({1: "eth / ipv4 / nvgre tni is 0x1234 / eth / ipv6 / end"}, [
        (gre(1, TEB, inner_frame(version=6), key=0x123499), [1]),
        (gre(2, TEB, inner_frame(version=6), key=0x123599), []),
        (gre(3, TEB, inner_frame(), key=0x123499), []),
        (gre(4, frames.IPV6, inner_ip(version=6), key=0x123499), []),
    ]),
    "labels in their places": ({
        0: "eth / mpls label is 16 / end",
        1: "eth / ipv4 / udp / mpls label is 16 / end",
        2: "eth / ipv4 / gre / mpls label is 16 / ipv4 / end",
    }, [
        (mpls(1, labels((16, 0, 64)), inner_ip()), [0]),
        (mpls(2, labels((17, 0, 64), (16, 0, 64)), inner_ip()), []),
        (mpls_udp(3, labels((16, 0, 64)), inner_ip()), [1]),
        (mpls_udp(4, labels((17, 0, 64)), inner_ip()), []),
        (gre(5, MPLS, labels((16, 0, 64), (20, 0, 64)) + inner_ip()), [2]),
        (gre(6, MPLS, labels((16, 0, 64)) + inner_ip(version=6)), []),
        (probe(7, dport=6635, data=b""), []),
    ]),
    "the rest of a label, and what it carries": ({
        0: "eth / mpls s is 0 tc is 5 / end",
        1: "eth / mpls / ipv4 / udp dst is 53 / end",
        2: "eth / mpls tc is 7 / ipv6 / end",
    }, [
        (mpls(1, labels((16, 5, 64), (17, 0, 64)), inner_ip(version=6)), [0]),
        (mpls(2, labels((16, 5, 64)), inner_ip(version=6)), []),
        (mpls(3, labels((16, 0, 64)), inner_ip()), [1]),
        (mpls(4, labels((16, 7, 1)), inner_ip(version=6)), [2]),
        (probe(5), []),
    ]),
    "esp": ({1: "eth / ipv4 / esp / end", 2: "eth / ipv6 / esp / end"}, [
        (esp(1, 5), [1]),
        (esp(2, 6, version=6), [2]),
        (probe(3, dport=4500), []),
        (outer(4, bytes(20), 51), []),
    ]),
}


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    with Rig(tmp_path_factory.mktemp("tunnels")) as made:
        yield made


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("copies", [False, True], ids=["taken", "copied"])
def test_queues(rig, name, copies):
    rules, sent = CASES[name]
    rig.add_sentinel()
    try:
        for queue, pattern in rules.items():
            rig.pmd.flow(f"ingress priority 1 pattern {pattern} actions queue index {queue}"
                           f"{' / passthru' if copies else ''} / end")
        got = rig.deliver(*[frame for frame, *_ in sent])
        for number, (_, *queues) in enumerate(sent, 1):
            seen = sorted(one["queue"] for one in got if one["src"] == source(number))
            assert seen == queues[-1 if copies else 0], number
    finally:
        rig.pmd.cmd("flow flush 0")


def test_the_kernel_gets_the_rest(tmp_path):
    """Taken frames are gone for it, all others and the copied ones are not."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / udp / vxlan vni is 1 / end actions queue index 1 / end")
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / gre / end actions queue index 1 / passthru / end")
        got = rig.deliver(vxlan(1, 1, inner_frame()), vxlan(2, 2, inner_frame()),
                            gre(3, frames.IPV4, inner_ip()), esp(4, 1))
        assert sorted(rig.numbers(got, 1)) == [1, 3]
    assert sorted(rig.kernel) == [2, 3, 4]


def test_an_adapter_without_labels():
    """ConnectX-4 Lx matches VXLAN and GRE: what else there is was asked at probe."""
    with Testpmd(ports=["wire=null,model=cx4lx"]) as pmd:
        for pattern in ("eth / mpls", "eth / ipv4 / udp / mpls", "eth / ipv4 / gre / mpls"):
            answer = pmd.refused_flow(f"ingress pattern {pattern} / end actions queue index 0 / end")
            assert "MPLS: the device or its kernel does not match it; use" in answer
        for pattern in ("eth / ipv4 / udp / vxlan vni is 1 / eth", "eth / ipv4 / gre / ipv6"):
            pmd.flow(f"ingress pattern {pattern} / end actions queue index 0 / end")
