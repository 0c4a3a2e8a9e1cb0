# SPDX-License-Identifier: BSD-3-Clause
"""rte_flow as typed at testpmd's prompt: who gets which frame, the kernel included.

Ports are isolated unless a test says otherwise, so that only the rules typed decide.
"""
import pytest
from harness import frames, mode
from harness.rig import Rig, RX_RSS_HASH, probe
from harness.rounds import rounds
from harness.testpmd import Testpmd

DNS = "pattern eth / ipv4 / udp dst is 53 / end"


def test_queue_takes_the_frames_from_the_kernel(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress {DNS} actions queue index 1 / end")
        got = rig.deliver(probe(1, dport=53), probe(2, dport=54), probe(3, dport=53))
        assert rig.numbers(got, 1) == [1, 3] and len(got) == 2
    assert rig.kernel == [2]


@pytest.mark.parametrize("actions", ["queue index 1 / passthru", "passthru / queue index 1"])
def test_passthru_copies(tmp_path, actions):
    """The point of this driver: the queue gets a copy, the kernel keeps its traffic."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress priority 0 {DNS} actions {actions} / end")
        got = rig.deliver(probe(1, dport=53), probe(2, dport=54), probe(3, dport=53))
        assert rig.numbers(got, 1) == [1, 3] and len(got) == 2
    assert rig.kernel == [1, 2, 3]


def test_passthru_then_trap_then_gone(tmp_path):
    """The demo's story: sniffed, taken, and back to what it was."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rule = rig.pmd.flow(f"ingress {DNS} actions queue index 1 / passthru / end")
        assert rig.numbers(rig.deliver(probe(1, dport=53))) == [1]
        assert f"Flow rule #{rule} destroyed" in rig.pmd.cmd(f"flow destroy 0 rule {rule}")
        rule = rig.pmd.flow(f"ingress {DNS} actions queue index 1 / end")
        assert rig.numbers(rig.deliver(probe(2, dport=53))) == [2]
        assert f"Flow rule #{rule} destroyed" in rig.pmd.cmd(f"flow destroy 0 rule {rule}")
        assert rig.deliver(probe(3, dport=53)) == []
    assert rig.kernel == [1, 3]


def test_drop(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress {DNS} actions drop / end")
        assert rig.deliver(probe(1, dport=53), probe(2, dport=54)) == []
    assert rig.kernel == [2]


def test_passthru_above_drop(tmp_path):
    """The copy is taken first, then the frame is dropped: the kernel never sees it."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress priority 0 {DNS} actions queue index 1 / passthru / end")
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / udp / end actions drop / end")
        got = rig.deliver(probe(1, dport=53), probe(2, dport=54))
        assert rig.numbers(got, 1) == [1] and len(got) == 1
    assert rig.kernel == []


def test_two_passthru_rules_copy_twice(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress priority 0 {DNS} actions queue index 1 / passthru / end")
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 src is 10.0.0.2 / end"
                       " actions queue index 2 / passthru / end")
        got = rig.deliver(probe(1, dport=53), probe(2, dport=54))
        assert rig.numbers(got, 1) == [1]
        assert rig.numbers(got, 2) == [1, 2]
    assert rig.kernel == [1, 2]


def test_lower_priority_value_wins(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / udp / end actions queue index 2 / end")
        rig.pmd.flow(f"ingress priority 0 {DNS} actions queue index 1 / end")
        got = rig.deliver(probe(1, dport=53), probe(2, dport=54))
        assert rig.numbers(got, 1) == [1] and rig.numbers(got, 2) == [2]
    assert rig.kernel == []


@pytest.mark.parametrize("passthru", ["", "passthru / "])
def test_mark_and_flag(tmp_path, passthru):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress {DNS} actions mark id 0x1234 / {passthru}queue index 1 / end")
        rig.pmd.flow("ingress pattern eth / ipv4 / udp dst is 54 / end"
                       f" actions flag / {passthru}queue index 2 / end")
        rig.pmd.flow("ingress pattern eth / ipv4 / udp dst is 55 / end"
                       f" actions mark id 0 / {passthru}queue index 0 / end")
        got = rig.deliver(probe(1, dport=53), probe(2, dport=54), probe(3, dport=55))
        # Queues are polled in turn: by number, not by the order shown.
        one, two, three = sorted(got, key=lambda seen: seen["src"])
        assert one["mark"] == 0x1234 and {"FDIR", "FDIR_ID"} <= one["flags"]
        assert two["mark"] is None and "FDIR" in two["flags"] and "FDIR_ID" not in two["flags"]
        assert three["mark"] == 0 and "FDIR_ID" in three["flags"]
    assert rig.kernel == ([1, 2, 3] if passthru else [])


def test_unmarked_frames_carry_no_mark(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress {DNS} actions queue index 1 / end")
        seen, = rig.deliver(probe(1, dport=53))
        assert not {"FDIR", "FDIR_ID"} & seen["flags"]


@pytest.mark.parametrize("fate", ["queue index 1", "drop", "queue index 1 / passthru"])
def test_count(tmp_path, fate):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rule = rig.pmd.flow(f"ingress {DNS} actions count / {fate} / end")
        assert rig.pmd.query_count(rule) == (0, 0)
        sent = [probe(i, dport=53, data=bytes(i * 100)) for i in range(1, 6)]
        rig.deliver(*sent, probe(9, dport=54))
        hits, size = rig.pmd.query_count(rule)
        assert hits == 5
        assert size == sum(map(len, sent))
        rig.deliver(probe(1, dport=53))
        assert rig.pmd.query_count(rule)[0] == 6


def test_count_query_without_count_is_refused(tmp_path):
    with Rig(tmp_path) as rig:
        rule = rig.pmd.flow(f"ingress {DNS} actions queue index 1 / end")
        answer = rig.pmd.cmd(f"flow query 0 {rule} count")
        assert "Caught PMD error" in answer and "COUNT" in answer.upper(), answer


def test_rss_to_chosen_queues(tmp_path):
    with Rig(tmp_path, args=["--flow-isolate-all", f"--rx-offloads={RX_RSS_HASH:#x}"]) as rig:
        rig.add_sentinel()
        rig.pmd.flow("ingress pattern eth / ipv4 / udp / end"
                       " actions rss types ipv4-udp end queues 0 2 end / end")
        got = rig.deliver(*[probe(i, sport=1000 + 7 * i) for i in range(64)])
        queues = {seen["queue"] for seen in got}
        assert queues == {0, 2} and len(got) == 64
        assert mode.is_ibv() or all("RSS_HASH" in seen["flags"] for seen in got)
    assert rig.kernel == []


def test_rss_with_passthru(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow("ingress pattern eth / ipv4 / udp / end"
                       " actions rss types ipv4-udp end queues 0 2 end / passthru / end")
        got = rig.deliver(*[probe(i, sport=1000 + 7 * i) for i in range(32)])
        assert {seen["queue"] for seen in got} == {0, 2} and len(got) == 32
    assert rig.kernel == list(range(32))


ITEMS = [
    # pattern, frames that match, frames that do not
    ("eth dst is 02:00:00:00:00:10", dict(), dict(eth_dst=frames.BROADCAST)),
    ("eth type is 0x86dd", dict(version=6), dict()),
    ("eth / vlan vid is 100", dict(vlan=100), dict(vlan=101)),
    ("eth / vlan tci is 0x2064", dict(vlan=0x2064), dict(vlan=0x0064)),
    ("eth / vlan vid is 100 / ipv4 / udp dst is 53", dict(vlan=100), dict(vlan=100, dport=54)),
    ("eth / ipv4", dict(), dict(version=6)),
    ("eth / ipv4 src is 10.0.0.9", dict(src="10.0.0.9"), dict()),
    ("eth / ipv4 dst is 10.0.0.7", dict(dst="10.0.0.7"), dict()),
    ("eth / ipv4 src spec 10.1.2.0 src mask 255.255.255.0", dict(src="10.1.2.77"),
     dict(src="10.1.3.77")),
    ("eth / ipv4 src spec 10.1.2.0 src prefix 23", dict(src="10.1.3.77"), dict(src="10.1.4.77")),
    ("eth / ipv4 proto is 6", dict(proto=frames.TCP), dict()),
    ("eth / ipv4 tos is 32", dict(tos=32), dict(tos=0)),
    ("eth / ipv6", dict(version=6), dict()),
    ("eth / ipv6 src is fd00::9", dict(version=6, src="fd00::9"), dict(version=6)),
    ("eth / ipv6 dst is fd00::7 / udp", dict(version=6, dst="fd00::7"),
     dict(version=6, dst="fd00::7", proto=frames.TCP)),
    ("eth / ipv4 / tcp", dict(proto=frames.TCP), dict()),
    ("eth / ipv4 / tcp dst is 80", dict(proto=frames.TCP, dport=80), dict(dport=80)),
    ("eth / ipv4 / udp src is 4000", dict(sport=4000), dict(sport=4001)),
    ("eth / ipv4 / udp src is 4000 dst is 53", dict(sport=4000), dict(sport=4000, dport=54)),
    ("eth / ipv6 / udp dst is 53", dict(version=6), dict(version=6, dport=54)),
    ("eth / void / ipv4 / void / udp dst is 53", dict(), dict(dport=54)),
]


def test_items(tmp_path):
    """Frames that match go to queue 1, the others to the kernel. Rules come and go on one port."""
    strangers = []
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        for first, (pattern, inside, outside) in zip(range(1, 256, 3), ITEMS):
            # The sentinel matches some of the patterns: its rule stands above them.
            rule = rig.pmd.flow(f"ingress priority 1 pattern {pattern} / end actions queue index 1 / end")
            got = rig.deliver(probe(first, **inside), probe(first + 1, **outside), probe(first + 2, **inside))
            assert rig.numbers(got, 1) == [first, first + 2] and len(got) == 2, (pattern, got)
            strangers.append(first + 1)
            assert "destroyed" in rig.pmd.cmd(f"flow destroy 0 rule {rule}")
    assert rig.kernel == strangers and len(strangers) == len(ITEMS)


def test_broadcast_and_multicast(tmp_path):
    group = "01:00:5e:00:00:05"
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress pattern eth dst is {frames.BROADCAST} / end"
                       " actions queue index 1 / passthru / end")
        rig.pmd.flow(f"ingress pattern eth dst is {group} / end actions queue index 2 / end")
        got = rig.deliver(probe(1, eth_dst=frames.BROADCAST), probe(2, eth_dst=group), probe(3))
        assert rig.numbers(got, 1) == [1] and rig.numbers(got, 2) == [2] and len(got) == 2
    assert rig.kernel == [1, 3]


def test_list_destroy_flush(tmp_path):
    with Rig(tmp_path) as rig:
        pmd = rig.pmd
        first = pmd.flow(f"ingress {DNS} actions queue index 1 / passthru / end")
        second = pmd.flow("ingress priority 1 pattern eth / ipv6 / end actions drop / count / end")
        listing = pmd.cmd("flow list 0")
        assert f"{first}\t0\t0\ti--\tETH IPV4 UDP => QUEUE PASSTHRU" in listing, listing
        assert f"{second}\t0\t1\ti--\tETH IPV6 => DROP COUNT" in listing, listing
        pmd.cmd(f"flow destroy 0 rule {first}")
        listing = pmd.cmd("flow list 0")
        assert "PASSTHRU" not in listing and "DROP" in listing, listing
        pmd.cmd("flow flush 0")
        assert "DROP" not in pmd.cmd("flow list 0")
        rig.add_sentinel()
        assert rig.deliver(probe(1, dport=53), probe(2, version=6)) == []
    assert rig.kernel == [1, 2]


def test_stop_and_start(tmp_path):
    """testpmd flushes a port's rules when it stops it: none is left, and new ones work."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.flow(f"ingress {DNS} actions count / queue index 1 / end")
        assert rig.numbers(rig.deliver(probe(1, dport=53))) == [1]
        for command in ("stop", "port stop 0", "port start 0", "start"):
            rig.pmd.cmd(command)
        rig.add_sentinel()
        assert rig.deliver(probe(2, dport=53)) == []
        rig.pmd.flow(f"ingress {DNS} actions count / queue index 2 / passthru / end")
        assert rig.numbers(rig.deliver(probe(3, dport=53)), 2) == [3]
    assert rig.kernel == [2, 3]


def test_not_isolated_copies_stand_above_the_default_rules(tmp_path):
    """Without isolation the port takes its own MAC's frames; passthru still adds a copy."""
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        rig.add_sentinel()
        rig.pmd.flow(f"ingress {DNS} actions mark id 7 / queue index 3 / passthru / end")
        got = rig.deliver(probe(1, dport=53), probe(2, dport=54))
        assert sorted(rig.numbers(got)) == [1, 1, 2]
        assert [seen["queue"] for seen in got if seen["mark"] == 7] == [3]
    assert rig.kernel == []


def test_isolate_needs_no_default_rules(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        assert rig.deliver(probe(1), probe(2, eth_dst=frames.BROADCAST)) == []
    assert rig.kernel == [1, 2]


def test_leaving_isolation_brings_the_default_rules(tmp_path):
    with Rig(tmp_path) as rig:
        for command in ("stop", "port stop 0", "flow isolate 0 0", "port start 0", "start"):
            answer = rig.pmd.cmd(command)
            assert "Caught" not in answer, answer
        rig.add_sentinel()
        assert rig.numbers(rig.deliver(probe(1))) == [1]
    assert rig.kernel == []


def test_many_rules_come_and_go():
    """Hundreds of rules created and flushed, twice: nothing runs out."""
    with Testpmd(args=["--rxq=2", "--txq=2"]) as pmd:
        for _ in range(2):
            for i in range(rounds(500)):
                pmd.flow(f"ingress pattern eth / ipv4 / udp dst is {1000 + i} / end"
                         f" actions queue index {i % 2} / count / end")
            pmd.cmd("flow flush 0")
            assert "UDP" not in pmd.cmd("flow list 0")
