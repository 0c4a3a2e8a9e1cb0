# SPDX-License-Identifier: BSD-3-Clause
"""Rules as firmware takes them: what they cost it, and devices that can do little."""
import re

import pytest
from harness import ctl
from harness.rig import Rig, probe

LEAN = ",model=lean"
NB_COPIES = 50


def test_probing_writes_no_entry_again(tmp_path):
    """Another port's probe tries rules; the device's PASSTHRU rules are not written again for them."""
    with Rig(tmp_path) as rig:
        rig.add_sentinel()
        for number in range(NB_COPIES):
            rig.pmd.flow(f"ingress priority 3 pattern eth / ipv4 dst is 198.51.100.{number} / end"
                         " actions queue index 1 / passthru / end")
        before = ctl.stats(rig.pmd)
        assert "Port 1 is attached" in rig.pmd.cmd("port attach net_mlx5dv1,ibdev=mlx5_0")
        after = ctl.stats(rig.pmd)
        assert after["flow_rewrites"] == before["flow_rewrites"]
        assert 0 < after["flow_commands"] - before["flow_commands"] < 100
        # They are counted: a first rule behind the copies, and its end.
        rule = rig.pmd.flow("ingress priority 4 pattern eth / ipv4 dst is 198.51.100.1 / end actions queue index 2 / end")
        rig.pmd.cmd(f"flow destroy 0 rule {rule}")
        assert ctl.stats(rig.pmd)["flow_rewrites"] - after["flow_rewrites"] == 2 * NB_COPIES
        assert len(rig.deliver(probe(1, dst="198.51.100.7"))) == 1


def test_a_rule_of_two_queues_counts_where_an_entry_has_one_counter(tmp_path):
    with Rig(tmp_path, port=LEAN) as rig:
        rig.add_sentinel()
        rule = rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / end actions count / queue index 1"
                            " / queue index 2 / end")
        got = rig.deliver(probe(1), probe(2))
        assert rig.numbers(got, 1) == rig.numbers(got, 2) == [1, 2]
        assert rig.pmd.query_count(rule)[0] == 2
    assert rig.kernel == []


def rules_of(rig):
    """The device's tables, without hits."""
    return re.sub(r" packets:\d+ bytes:\d+", "", ctl.ask(rig.pmd, "dump"))


@pytest.mark.parametrize("rule, reason", [
    ("pattern eth / ipv4 / end actions count / queue index 0 / queue index 1 / queue index 2 / end", "errno 22"),
    ("pattern eth / ipv4 / end actions queue index 0 / passthru / end", "errno 95"),
    ("pattern eth / ipv4 / udp / vxlan / end actions vxlan_decap / set_mac_src mac_addr 02:00:00:00:00:01 / queue index 1"
     " / end", "errno 22"),
])
def test_what_a_lean_device_refuses_leaves_nothing(tmp_path, rule, reason):
    with Rig(tmp_path, port=LEAN) as rig:
        rig.add_sentinel()
        before = rules_of(rig)
        assert reason in rig.pmd.refused_flow(f"ingress priority 1 {rule}", verb="create")
        assert rules_of(rig) == before and before.count("FTE:") == 1
        assert rig.deliver(probe(1)) == []
    assert rig.kernel == [1]


def test_few_action_contexts(tmp_path):
    """The rule that finds none left is refused and leaves nothing; one's end makes room for another."""
    with Rig(tmp_path, port=LEAN) as rig:
        rig.add_sentinel()
        rule = ("ingress priority 1 pattern eth / ipv4 dst is 198.51.100.{0} / end"
                " actions set_mac_src mac_addr 02:00:00:00:01:0{0} / queue index 1 / end")
        rules = [rig.pmd.flow(rule.format(number)) for number in range(1, 5)]
        before = rules_of(rig)
        assert "errno 12" in rig.pmd.refused_flow(rule.format(5), verb="create")
        assert rules_of(rig) == before
        rig.pmd.cmd(f"flow destroy 0 rule {rules[0]}")
        rig.pmd.flow(rule.format(5))
        got = rig.deliver(probe(1, dst="198.51.100.1"), probe(2, dst="198.51.100.2"), probe(5, dst="198.51.100.5"))
        assert rig.numbers(got, 1) == [2, 5]
    assert rig.kernel == [1]


def test_a_rule_refused_at_start_is_that_rules_failure(tmp_path):
    """The device judges a rule that came while the port was stopped: it alone is out, and the log says which."""
    with Rig(tmp_path, port=LEAN) as rig:
        for line in ("stop", "port stop 0"):  # testpmd forgets all rules at a stop
            rig.pmd.cmd(line)
        rig.add_sentinel()
        refused = rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / udp / end actions count / queue index 0"
                               " / queue index 1 / queue index 2 / end")
        rig.pmd.flow("ingress priority 2 pattern eth / ipv4 / end actions queue index 2 / end")
        said = rig.pmd.cmd("port start 0")
        assert "port 0: flow rule 1, in order of creation, is not in the device: the rule was refused (errno 22)" in said
        rig.pmd.cmd("start")
        assert rig.numbers(rig.deliver(probe(1)), 2) == [1]
        assert rig.pmd.query_count(refused)[0] == 0
        rig.pmd.cmd(f"flow destroy 0 rule {refused}")
        assert rig.numbers(rig.deliver(probe(2)), 2) == [2]
    assert rig.kernel == []


def test_changes_are_judged_before_the_port_starts(tmp_path):
    """By a trial, as the device judges them when it gets the rule; nothing of it stays."""
    decap = "ingress priority 1 pattern eth / ipv4 / udp / vxlan / end actions vxlan_decap"
    with Rig(tmp_path, port=LEAN) as rig:
        for line in ("stop", "port stop 0"):
            rig.pmd.cmd(line)
        before = rules_of(rig)
        for verb in ("validate", "create"):
            said = rig.pmd.refused_flow(f"{decap} / set_mac_src mac_addr 02:00:00:00:00:01 / queue index 1 / end", verb=verb)
            assert "the rule with its changes was refused (errno 22)" in said
        assert "Flow rule validated" in rig.pmd.cmd(f"flow validate 0 {decap} / queue index 1 / end")
        assert rules_of(rig) == before
        rig.add_sentinel()
        rig.pmd.flow(f"{decap} / queue index 1 / end")
        assert rules_of(rig) == before
        said = rig.pmd.cmd("port start 0")
        assert "is not in the device" not in said and rules_of(rig).count("FTE:") == 2
