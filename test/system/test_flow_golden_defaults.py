# SPDX-License-Identifier: BSD-3-Clause
"""The exact bytes of the rules that the port makes of its own accord: addresses, modes, VLAN filter, sniffing."""
import pytest
from harness import frames
from harness.flowattr import DONT_TRAP, SHOW, SNIFFER, attr, eth, ipv4, ipv6, shown, udp
from harness.testpmd import Testpmd

# Of sixteen, behind the rules of applications; a set that takes the place of another goes before it or behind it.
LAST = 15
SECOND, GROUP = "02:00:00:00:00:11", "01:00:5e:00:00:05"
OWN = [eth(dst=frames.PORT_MAC)]
BROADCAST = [eth(dst=frames.BROADCAST)]
# Neighbour discovery, RFC 2464.
IPV6_GROUPS = [eth(dst="33:33:00:00:00:00", dst_mask="ff:ff:00:00:00:00")]
ALL_GROUPS = [eth(dst="01:00:00:00:00:00", dst_mask="01:00:00:00:00:00")]
EVERYTHING = [eth()]
ADDRESSES = [OWN, BROADCAST, IPV6_GROUPS]

# Commands in their order, what each makes: what is there already stays.
STEPS = [
    ("set promisc 0 off", ADDRESSES),
    ("set promisc 0 on", [EVERYTHING]),
    ("set promisc 0 off", ADDRESSES),
    ("set allmulti 0 on", [ALL_GROUPS]),
    ("set allmulti 0 off", [BROADCAST, IPV6_GROUPS]),
    (f"mac_addr add 0 {SECOND}", [[eth(dst=SECOND)]]),
    (f"mac_addr remove 0 {SECOND}", []),
    (f"mcast_addr add 0 {GROUP}", [[eth(dst=GROUP)]]),
    (f"mcast_addr remove 0 {GROUP}", []),
    ("flow isolate 0 1", []),
    ("set promisc 0 on", []),
    ("flow isolate 0 0", [EVERYTHING]),
    ("set promisc 0 off", ADDRESSES),
    ("vlan set filter on 0", []),
    ("rx_vlan add 5 0", [[eth(dst=frames.PORT_MAC, vlan=5, vlan_mask=0xFFF)],
                         [eth(dst=frames.BROADCAST, vlan=5, vlan_mask=0xFFF)],
                         [eth(dst="33:33:00:00:00:00", dst_mask="ff:ff:00:00:00:00", vlan=5, vlan_mask=0xFFF)]]),
    ("set allmulti 0 on", [[eth(dst="01:00:00:00:00:00", dst_mask="01:00:00:00:00:00", vlan=5, vlan_mask=0xFFF)]]),
    ("rx_vlan rm 5 0", [OWN, ALL_GROUPS]),
    ("vlan set filter off 0", []),
]


def port(queues=1, devargs=""):
    return Testpmd(ports=[f"wire=null,mac={frames.PORT_MAC}"], args=[f"--rxq={queues}", f"--txq={queues}"],
                   vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], eal=SHOW)


def default_rule(specs, flags=0, level=LAST):
    """A rule for a group that takes has an ETH spec in front that matches all: Linux keeps such rules apart else."""
    group = specs[0][6] & 1
    return attr(*EVERYTHING * (group and not flags), *specs, flags=flags, level=level)


def hexed(attrs):
    return [one.hex() for one in attrs]


@pytest.mark.parametrize("devargs,flags", [("", 0), (",sniff=rx", DONT_TRAP)])
def test_each_setting(devargs, flags):
    with port(devargs=devargs) as pmd:
        for command, made in STEPS:
            expected = [default_rule(specs, flags) for specs in made]
            assert hexed(shown(pmd.cmd(command))) == hexed(expected), command


def test_hash_types_make_parts_of_each():
    """What has no type of the port's is the last, shallowest part."""
    with port(queues=2) as pmd:
        pmd.cmd("set promisc 0 off")
        answer = pmd.cmd("port config all rss udp")
        udp_v4, udp_v6 = [ipv4(), udp()], [ipv6(), udp()]
        expected = [default_rule(address + part, level=LAST - 1) for address in ADDRESSES
                    for part in (udp_v4, udp_v6, [])]
        assert hexed(shown(answer)) == hexed(expected)


def test_sniffing_all():
    """One rule without a match, whatever the modes; none when isolated."""
    with port(devargs=",sniff=all") as pmd:
        assert [one for one in shown(pmd.banner) if one[4] == SNIFFER] == [attr(level=0, type_=SNIFFER)]
        for command in ("set promisc 0 off", "set allmulti 0 on", f"mac_addr add 0 {SECOND}", "flow isolate 0 1"):
            assert shown(pmd.cmd(command)) == [], command
        assert shown(pmd.cmd("flow isolate 0 0")) == [attr(level=0, type_=SNIFFER)]
