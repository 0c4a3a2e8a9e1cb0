# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl trace by fields: the frame of some words meets the rules that a frame of a capture meets."""
import json

import pytest
from harness import frames, host, pcapfile
from harness.patience import until
from harness.rig import Rig
from test_ctl import asked, asked_pid, ctl, holder

OWN = frames.PORT_MAC
PATTERN = "ipv4 dst 192.0.2.1 / udp dst 53"
FRAME = frames.packet(eth_dst=OWN, src="192.0.2.2", dst="192.0.2.1", sport=49152, dport=53, data=b"")


def test_a_pattern_meets_the_rules_that_it_names(tmp_path):
    capture = tmp_path / "frame.pcap"
    pcapfile.write(capture, [FRAME])
    with Rig(tmp_path) as rig:
        pid = asked_pid(rig.pmd)
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 dst is 192.0.2.1 / udp dst is 53 / end actions queue index 1 / end")
        before = asked("--pid", pid, "dump"), asked("--pid", pid, "stats")
        text = asked("--pid", pid, "trace", PATTERN)
        assert "out.udp_dport:0x35" in text and "delivered, 1 copy: a rule took it" in text, text
        assert text.startswith(f"frame: 60 bytes, {frames.PEER_MAC} > {OWN}, IPv4 192.0.2.2 > 192.0.2.1, UDP 49152 > 53\n")
        # One story, however it is told; addresses are the port's and a peer's.
        assert text.partition(": ")[2] == asked("--pid", pid, "trace", capture).partition(": ")[2]
        assert json.loads(asked("--pid", pid, "trace", "--json", PATTERN)) == \
            json.loads(asked("--pid", pid, "trace", "--json", capture))
        assert (asked("--pid", pid, "dump"), asked("--pid", pid, "stats")) == before
        assert "out.udp_dport" not in asked("--pid", pid, "trace", "ipv4 dst 192.0.2.1 / udp dst 54")
        sent = asked("--pid", pid, "trace", "--tx", "udp")
        assert sent.startswith(f"frame: 60 bytes, {OWN} > {frames.PEER_MAC}, IPv4"), sent
        inside = asked("--pid", pid, "trace", "vlan vid 5 / ipv6 / udp / vxlan vni 42 / ipv4 / tcp dst 80 / end")
        assert "VLAN 5, IPv6 2001:db8::2 > 2001:db8::1, UDP 49152 > 4789, inside, IPv4" in inside, inside


@pytest.mark.parametrize("pattern, says", [
    ("ipv9 dst 4", "no item 'ipv9'; there are eth, vlan, mpls, ipv4,"),
    ("udp dport 5", "udp has no field 'dport'; it has src, dst"),
    ("ipv4 dst 192.0.2", "ipv4 dst is an IPv4 address, not '192.0.2'"),
    ("udp / tcp", "'tcp' cannot follow 'udp'"),
    ("udp dst", "udp dst needs a value"),
    ("eth / / udp", "an item is missing before '/'"),
])
def test_mistakes_are_told_with_the_word(tmp_path, pattern, says):
    with holder("--ctl", tmp_path / "device"):
        status, out, err = ctl(tmp_path / "device", "trace", pattern)
        assert (status, out) == (1, "") and says in err, err


def test_a_pattern_that_no_request_has_room_for(tmp_path):
    with holder("--ctl", tmp_path / "device"):
        status, out, err = ctl(tmp_path / "device", "trace", "eth" + " " * 40000 + "/ udp")
        assert (status, out) == (1, "") and "the pattern is too long" in err, out + err


def test_a_capture_may_have_the_name_of_an_item(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pcapfile.write(tmp_path / "udp", [FRAME])
    with holder("--ctl", tmp_path / "device"):
        assert asked(tmp_path / "device", "trace", "udp").startswith("packet 1: 60 bytes")
        assert asked(tmp_path / "device", "trace", "tcp").startswith("frame: 60 bytes")


def test_what_is_for_queue_pairs_meets_no_rule(tmp_path):
    with holder("--ctl", tmp_path / "device", ports=(f"wire=null,mac={OWN}",)):
        (own,), (other,) = (json.loads(asked(tmp_path / "device", "trace", "--json",
                                             f"ipv6 dst fe80::ff:fe00:{end} / udp dst 4791")) for end in ("10", "11"))
        text = asked(tmp_path / "device", "trace", "ipv6 dst fe80::ff:fe00:10 / udp dst 4791")
    assert own["tables"] == [] and own["fate"] == "roce" and other["fate"] == "lost", (own, other)
    assert text.endswith("  roce, 0 copies: it is for the port's queue pairs, below the rules\n"), text


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_the_port_has_the_address_that_its_netdev_got(tmp_path):
    with host.netdev_that_is_up() as netdev, \
            holder("--ctl", tmp_path / "device", ports=(f"wire=null,mac={OWN},kernel=tap:{netdev}",)):
        host.run("ip", "link", "set", netdev, "address", "02:00:00:00:00:77")
        until(lambda: asked(tmp_path / "device", "trace", "udp").splitlines()[0].split()[5] == "02:00:00:00:00:77,")
        assert "it is for the netdev's address" in asked(tmp_path / "device", "trace", "udp")


def test_nothing_comes_while_the_link_is_down(tmp_path):
    with holder("--ctl", tmp_path / "device"):
        asked(tmp_path / "device", "link", "down")
        until(lambda: "  lost, 0 copies: the link is down\n" in asked(tmp_path / "device", "trace", "udp"))
        (trace,) = json.loads(asked(tmp_path / "device", "trace", "--json", "udp"))
        assert (trace["fate"], trace["tables"], trace["netdev"]) == ("lost", [], "the link is down"), trace
        asked(tmp_path / "device", "link", "up")
        until(lambda: "the link is down" not in asked(tmp_path / "device", "trace", "udp"))
