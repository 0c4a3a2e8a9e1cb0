# SPDX-License-Identifier: BSD-3-Clause
"""The table of stacks of rules in mlx5dv_flow.rst, row by row; several copies by one rule; the default rules' copies."""
import collections
import re

import pytest
from harness import frames, paths
from harness.rig import MAC, RX_RSS_HASH, Rig, probe
from test_kernel import ping, shared_port

GUIDE = paths.ROOT / "doc/guides/nics/mlx5dv_flow.rst"
GROUP = "01:00:5e:01:02:03"
HASHED = f"--rx-offloads={RX_RSS_HASH:#x}"


def outcomes():
    """[(rules, who)] of the guide's table."""
    text = GUIDE.read_text(encoding="utf-8")
    table = text[text.index(".. list-table:: Outcomes"):].split("\n\n", 2)[1]
    rows = []
    for row in table.split("   * - ")[2:]:
        rules, who = row.split("     - ")
        rows.append((re.findall(r"``(.*?)``", rules), [one.strip() for one in who.split(",")]))
    return rows


def test_every_row_of_the_guide(tmp_path):
    rows = outcomes()
    assert len(rows) >= 16
    with Rig(tmp_path) as rig:
        for number, (rules, who) in enumerate(rows, 1):
            rig.add_sentinel()
            for rule in rules:
                rig.pmd.flow(f"ingress {rule}")
            got = rig.deliver(probe(number, src="10.0.0.2", dst="10.0.0.1", dport=53))
            seen = sorted(f"queue {one['queue']}" for one in got)
            assert seen == sorted(one for one in who if one.startswith("queue")), (rules, seen)
            rig.pmd.cmd("flow flush 0")
    assert rig.kernel == [number for number, (_, who) in enumerate(rows, 1) if "Linux" in who]


def test_both_rules_of_one_match_mark_their_copy(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        for mark, queue in ((5, 1), (6, 1), (7, 2)):
            rig.pmd.flow("ingress priority 3 pattern eth / ipv4 / end actions"
                           f" mark id {mark} / queue index {queue} / passthru / end")
        got = rig.deliver(probe(1))
        assert sorted((one["queue"], one["mark"]) for one in got) == [(1, 5), (1, 6), (2, 7)]
    assert rig.kernel == [1]


def test_the_younger_rule_takes_over(tmp_path):
    """What an application does that replaces a rule: no packet finds neither or both."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        old = rig.pmd.flow("ingress priority 1 pattern udp / end actions queue index 1 / end")
        rig.pmd.flow("ingress priority 1 pattern udp / end actions queue index 2 / end")
        assert rig.numbers(rig.deliver(probe(1)), 1) == [1]
        rig.pmd.cmd(f"flow destroy 0 rule {old}")
        assert rig.numbers(rig.deliver(probe(2)), 2) == [2]
    assert rig.kernel == []


def test_queue_and_rss_both_get_copies(tmp_path):
    with Rig(tmp_path, ("--flow-isolate-all", HASHED)) as rig:
        rig.add_sentinel()
        rule = rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / end actions count / queue index 0"
                              " / rss types ipv4-udp end queues 1 2 end / passthru / end")
        seen = collections.defaultdict(list)
        for one in rig.deliver(probe(1), probe(2, proto=frames.TCP)):
            seen[int(one["src"][-2:], 16)].append((one["queue"], "RSS_HASH" in one["flags"]))
        assert sorted(seen[2]) == [(0, False), (1, False)]
        assert (0, False) in seen[1] and {hashed for queue, hashed in seen[1] if queue in (1, 2)} == {True}
        assert rig.pmd.query_count(rule)[0] == 2
    assert rig.kernel == [1, 2]


def test_sample_copies_and_goes_on(tmp_path):
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        rig.pmd.cmd("set sample_actions 0 queue index 2 / end")
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / udp / end"
                       " actions sample ratio 1 index 0 / queue index 1 / end")
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / tcp / end"
                       " actions sample ratio 1 index 0 / passthru / end")
        got = rig.deliver(probe(1), probe(2, proto=frames.TCP))
        assert rig.numbers(got, 1) == [1]
        assert sorted(rig.numbers(got, 2)) == [1, 2]
        answer = rig.pmd.refused_flow("ingress pattern eth / end actions sample ratio 2 index 0"
                                        " / queue index 1 / end")
        assert "SAMPLE ratio 2: the device copies every packet; use ratio 1" in answer
    assert rig.kernel == [2]


def test_levels_run_out_and_come_back(tmp_path):
    """As many overlapping copies as there are levels; what is refused says who has them."""
    with Rig(tmp_path, devargs=",passthru_move=on") as rig:
        # The sentinel's, and 13 different masks that all match the probes; one level is not for us.
        rig.add_sentinel()
        for length in range(1, 14):
            rig.pmd.flow(f"ingress priority {100 - length} pattern ipv4 src spec 0.0.0.0 src prefix {length} / end"
                           " actions queue index 1 / passthru / end")
        rule = "ingress priority 50 pattern eth / end actions queue index 2 / passthru / end"
        assert len(rig.deliver(probe(1, src="0.0.0.1"))) == 13
        last = rig.pmd.flow(rule)
        assert len(rig.deliver(probe(2, src="0.0.0.1"))) == 14
        one_more = "ingress priority 94 pattern eth / ipv4 dst is 10.0.0.1 / end actions queue index 2 / passthru / end"
        for verb in ("validate", "create"):
            answer = rig.pmd.refused_flow(one_more, verb=verb)
            assert "16 levels are too few" in answer
            assert "1 PASSTHRU rule of priority 50: 1, 1 PASSTHRU rule of priority 87: 1" in answer
        assert len(rig.deliver(probe(3, src="0.0.0.1"))) == 14
        rig.pmd.cmd(f"flow destroy 0 rule {last}")
        rig.pmd.flow(one_more)
        assert len(rig.deliver(probe(4, src="0.0.0.1"))) == 14
    assert rig.kernel == [1, 2, 3, 4]


@pytest.mark.parametrize("promiscuous", [True, False])
def test_sniff_rx_copies_by_the_default_rules(tmp_path, promiscuous):
    """Each packet once, though several default rules match it; rules of the application go before."""
    with Rig(tmp_path, (HASHED,), devargs=",sniff=rx") as rig:
        rig.add_sentinel()
        if not promiscuous:
            rig.pmd.cmd("set promisc 0 off")
            rig.pmd.cmd("set allmulti 0 off")
            rig.pmd.cmd("mcast_addr add 0 33:33:00:00:00:01")
        rig.pmd.flow("ingress pattern eth / ipv4 / tcp / end actions queue index 1 / end")
        got = rig.deliver(probe(1), probe(2, proto=frames.TCP), probe(3, eth_dst="02:00:00:00:00:77"),
                            probe(4, eth_dst="33:33:00:00:00:01", version=6),
                            probe(5, eth_dst=frames.BROADCAST), probe(6, eth_dst=GROUP))
        assert rig.numbers(got, 1).count(2) == 1
        assert sorted(rig.numbers(got)) == ([1, 2, 3, 4, 5, 6] if promiscuous else [1, 2, 4, 5])
    assert rig.kernel == [1, 4, 5, 6]


def test_sniff_rx_follows_the_port(tmp_path):
    """MACs, promiscuous mode and the redirection table change; no copy twice afterwards."""
    with Rig(tmp_path, (HASHED,), devargs=",sniff=rx") as rig:
        rig.add_sentinel()
        frame = dict(eth_dst=MAC)
        assert rig.numbers(rig.deliver(probe(1, **frame))) == [1]
        rig.pmd.cmd("set promisc 0 off")
        assert rig.numbers(rig.deliver(probe(2, **frame))) == [2]
        rig.pmd.cmd("port config 0 rss reta (0,1),(1,1),(2,1),(3,1)")
        rig.pmd.cmd("mac_addr add 0 02:00:00:00:00:77")
        assert rig.numbers(rig.deliver(probe(3, **frame), probe(4, eth_dst="02:00:00:00:00:77"))) == [3, 4]
        rig.pmd.cmd("set promisc 0 on")
        assert rig.numbers(rig.deliver(probe(5, **frame))) == [5]
    assert rig.kernel == [1, 2, 3, 5]


def test_sniff_all_sees_what_others_take(tmp_path):
    """The sniffer is outside of all other steering: taken, dropped, unwanted, it sees all."""
    with Rig(tmp_path, devargs=",sniff=all", args=()) as rig:
        rig.pmd.flow("ingress pattern eth / ipv4 / tcp / end actions queue index 1 / end")
        rig.pmd.flow("ingress pattern eth / ipv6 / end actions drop / end")
        rig.add_sentinel()
        got = rig.deliver(probe(1), probe(2, proto=frames.TCP), probe(3, version=6),
                            probe(4, eth_dst="02:00:00:00:00:77"))
        assert sorted(rig.numbers(got, 0)) == [1, 2, 3, 4]
        assert rig.numbers(got, 1) == [2] and len(got) == 5
    assert rig.kernel == [1]


def sniffed_ping(namespace, sniff):
    """Frames that testpmd received while five pings were answered, by (source MAC, EtherType)."""
    with shared_port(namespace, args=["--rxq=2", "--txq=2"], devargs=f",sniff={sniff}") as (pmd, kernel_side):
        start = pmd.show_received()
        assert ping(namespace) == 5
        kernel_mac = re.search(r"link/ether (\S+)", kernel_side.run("ip", "link")).group(1)
        count = 10 if sniff == "all" else 5
        got = pmd.wait_received(count + 1, start)
        pmd.cmd("stop")
    return kernel_mac, collections.Counter((one["src"], one["type"]) for one in got)


def test_ping_does_not_notice_sniff_rx(namespace):
    _, seen = sniffed_ping(namespace, "rx")
    assert seen[(frames.PEER_MAC, frames.IPV4)] == 5
    assert {src for src, _ in seen} == {frames.PEER_MAC}


def test_ping_does_not_notice_sniff_all(namespace):
    """The answers, which Linux sends, are seen as well."""
    kernel_mac, seen = sniffed_ping(namespace, "all")
    assert seen[(frames.PEER_MAC, frames.IPV4)] == 5
    assert seen[(kernel_mac, frames.IPV4)] == 5
