# SPDX-License-Identifier: BSD-3-Clause
"""What the flow engine makes of one rule when it needs several: RSS over a pattern, copies of it, groups.

Ports are isolated unless a test says otherwise.
"""
from harness import frames
from harness.rig import RX_RSS_HASH, Rig, probe
from harness.testpmd import Testpmd

GROUP = "01:00:5e:01:02:03"
HASHED = ("--flow-isolate-all", f"--rx-offloads={RX_RSS_HASH:#x}")


def by_number(got):
    """{probe number: what was seen of it}; each frame must have come once."""
    seen = {int(one["src"][-2:], 16): one for one in got}
    assert len(seen) == len(got), got
    return seen


MIX = {
    1: dict(proto=frames.TCP, dport=80),
    2: dict(proto=frames.UDP),
    3: dict(version=6, proto=frames.UDP),
    4: dict(version=6, proto=frames.TCP, dport=80),
}


def mix():
    """MIX, and 5: IPv4 with GRE in it, 6: ARP."""
    return [probe(number, **options) for number, options in MIX.items()] \
        + [frames.ether(frames.ipv4(bytes(20), 47), frames.IPV4, src="02:00:00:00:01:05"),
           frames.ether(bytes(28), 0x0806, src="02:00:00:00:01:06")]


def test_rss_hashes_as_asked_and_the_rest_arrives(tmp_path):
    with Rig(tmp_path, HASHED) as rig:
        rig.add_sentinel()
        rig.pmd.flow("ingress priority 1 pattern eth / end"
                       " actions rss types ipv4-tcp ipv6-udp end queues 2 1 end / end")
        seen = by_number(rig.deliver(*mix()))
        assert sorted(seen) == [1, 2, 3, 4, 5, 6]
        assert {n for n, one in seen.items() if "RSS_HASH" in one["flags"]} == {1, 3}
        assert all(seen[n]["queue"] == 2 for n in (2, 4, 5, 6))
    assert rig.kernel == []


def test_rss_copies_once_whatever_the_classes(tmp_path):
    with Rig(tmp_path, HASHED) as rig:
        rig.add_sentinel()
        rule = rig.pmd.flow("ingress priority 1 pattern eth / end actions count / passthru"
                              " / rss types ipv4 ipv4-udp ipv4-tcp ipv6-udp end queues 0 1 2 end / end")
        seen = by_number(rig.deliver(*mix()))
        assert sorted(seen) == [1, 2, 3, 4, 5, 6]
        assert {n for n, one in seen.items() if "RSS_HASH" in one["flags"]} == {1, 2, 3, 5}
        assert rig.pmd.query_count(rule)[0] == 6
    assert sorted(rig.kernel) == [1, 2, 3, 4, 5, 6]


def test_a_group_address_keeps_its_priority(tmp_path):
    """mlx5_ib has one table for multicast behind all priorities: steering.md 2.2, cases 17 and 53."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress priority 1 pattern eth dst is {GROUP} / end actions queue index 1 / end")
        rig.pmd.flow("ingress priority 2 pattern ipv4 dst is 224.1.1.1 / end actions queue index 2 / end")
        rig.pmd.flow("ingress priority 3 pattern end actions queue index 0 / end")
        seen = by_number(rig.deliver(
            probe(1, eth_dst=GROUP), probe(2, eth_dst="01:00:5e:01:01:01", dst="224.1.1.1"), probe(3),
            probe(4, eth_dst=frames.BROADCAST)))
        assert {n: one["queue"] for n, one in seen.items()} == {1: 1, 2: 2, 3: 0, 4: 0}
    assert rig.kernel == []


def test_deeper_pattern_wins_within_a_priority(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        for pattern, queue in (("eth", 0), ("eth / ipv4", 1), ("eth / ipv4 / tcp", 2)):
            rig.pmd.flow(f"ingress priority 2 pattern {pattern} / end actions queue index {queue} / end")
        seen = by_number(rig.deliver(*mix()))
        assert {n: one["queue"] for n, one in seen.items()} == {1: 2, 2: 1, 3: 0, 4: 0, 5: 1, 6: 0}
    assert rig.kernel == []


def test_isolation_toggles_under_way(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        assert rig.deliver(probe(1)) == []
        assert "Caught" not in rig.pmd.cmd("flow isolate 0 0")
        rig.pmd.cmd("set promisc 0 off")
        assert rig.numbers(rig.deliver(probe(2), probe(3, eth_dst="02:00:00:00:00:77"))) == [2]
        assert "Caught" not in rig.pmd.cmd("flow isolate 0 1")
        assert rig.deliver(probe(4)) == []
    # 3 is for another station: the netdev is not promiscuous either.
    assert rig.kernel == [1, 4]


def test_default_rules_follow_the_port(tmp_path):
    """Multicast as it comes and goes: broadcast and IPv6 groups always, others when asked."""
    def sent(first):
        groups = (frames.BROADCAST, "33:33:00:00:00:01", GROUP, "02:00:00:00:00:77")
        return [probe(first + i, eth_dst=group) for i, group in enumerate(groups)]

    with Rig(tmp_path, args=["--rss-ip"]) as rig:
        rig.add_sentinel()
        rig.pmd.cmd("set promisc 0 off")
        rig.pmd.cmd("set allmulti 0 off")
        assert sorted(by_number(rig.deliver(*sent(10)))) == [10, 11]
        rig.pmd.cmd(f"mcast_addr add 0 {GROUP}")
        assert sorted(by_number(rig.deliver(*sent(20)))) == [20, 21, 22]
        rig.pmd.cmd(f"mcast_addr remove 0 {GROUP}")
        rig.pmd.cmd("set allmulti 0 on")
        assert sorted(by_number(rig.deliver(*sent(30)))) == [30, 31, 32]
        rig.pmd.cmd("mac_addr add 0 02:00:00:00:00:77")
        assert sorted(by_number(rig.deliver(*sent(40)))) == [40, 41, 42, 43]
        rig.pmd.cmd("mac_addr remove 0 02:00:00:00:00:77")
        rig.pmd.cmd("set promisc 0 on")
        assert sorted(by_number(rig.deliver(*sent(50)))) == [50, 51, 52, 53]
    assert rig.kernel == [12]


def stack_up(argument):
    """How many copies fit, the first in front of the others each time, and what is said of the next one."""
    with Testpmd(ports=["wire=null"], vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{argument}"],
                 args=["--flow-isolate-all"]) as pmd:
        for nb in range(40):
            said = pmd.cmd(f"flow create 0 ingress priority {39 - nb} pattern eth / end"
                           " actions queue index 0 / passthru / end")
            if "created" not in said:
                return nb, said
    raise AssertionError("no end")


def test_copies_that_must_stay_are_not_moved():
    nb_moved, why_moved = stack_up(",passthru_move=on")
    nb, why = stack_up("")
    assert 4 < nb < nb_moved == 15
    assert why.rstrip().endswith("create it before them, or use passthru_move=on: No space left on device")
    assert "passthru_move" not in why_moved and "levels are too few" in why_moved
