# SPDX-License-Identifier: BSD-3-Clause
"""Flow templates and queues as typed at testpmd's prompt: who gets which frame, and what results say."""
import re

import pytest
from harness import dpdk
from harness.rig import Rig, probe

pytestmark = pytest.mark.sanitized

SETUP = ("port stop 0",
         "flow configure 0 queues_number 2 queues_size 8",
         "flow pattern_template 0 create ingress pattern_template_id 1"
         " template eth / ipv4 / udp dst mask 0xffff / end",
         "flow pattern_template 0 create ingress pattern_template_id 2"
         " template eth / ipv4 src mask 255.255.255.0 / end",
         "flow actions_template 0 create ingress actions_template_id 1"
         " template queue index 0 / mark id 7 / end mask queue index 0 / mark id 1 / end",
         "flow actions_template 0 create ingress actions_template_id 2"
         " template queue index 0 / passthru / end mask queue index 0 / passthru / end",
         "flow template_table 0 create table_id 1 ingress priority 1 rules_number 9"
         " pattern_template 1 pattern_template 2 actions_template 1 actions_template 2",
         "port start 0")
TAKE, COPY = 0, 1  # actions templates of the table


@pytest.fixture
def rig(tmp_path):
    with Rig(tmp_path, setup=SETUP) as made:
        made.add_sentinel()
        yield made


def create(rig, pattern, items, how, actions, postpone="yes", queue=0):
    answer = rig.pmd.cmd(
        f"flow queue 0 create {queue} template_table 1 pattern_template {pattern}"
        f" actions_template {how} postpone {postpone} pattern {items} / end actions {actions} / end")
    match = re.search(r"Flow rule #(\d+) creation enqueued", answer)
    assert match, answer
    return int(match.group(1))


def destroy(rig, rule, postpone="yes", queue=0):
    answer = rig.pmd.cmd(f"flow queue 0 destroy {queue} postpone {postpone} rule {rule}")
    assert f"Flow rule #{rule} destruction enqueued" in answer, answer


def push(rig, queue=0):
    assert "operations pushed" in rig.pmd.cmd(f"flow push 0 queue {queue}")


def pull(rig, queue=0):
    """(failed, succeeded)"""
    answer = rig.pmd.cmd(f"flow pull 0 queue {queue}")
    match = re.search(r"pulled (\d+) operations \((\d+) failed, (\d+) succeeded\)", answer)
    assert match, answer
    return int(match.group(2)), int(match.group(3))


def test_rules_of_queues_steer(rig):
    """Nothing before the push; then the template's constants and the rule's values are in effect."""
    dns = create(rig, 0, "eth / ipv4 / udp dst spec 53", TAKE, "queue index 1 / mark id 0")
    create(rig, 1, "eth / ipv4 src spec 10.0.1.0", COPY, "queue index 2 / passthru")
    frames = [probe(1, dport=53), probe(2, dport=54), probe(3, src="10.0.1.9", dport=53)]
    assert rig.deliver(*frames) == [] and pull(rig) == (0, 0)
    push(rig)
    assert pull(rig) == (0, 2)
    got = rig.deliver(*frames)
    assert sorted((rig.numbers([one])[0], one["queue"], one["mark"]) for one in got) \
        == [(1, 1, 7), (3, 1, 7), (3, 2, None)]
    destroy(rig, dns, postpone="no")
    assert pull(rig) == (0, 1)
    assert rig.numbers(rig.deliver(*frames), 2) == [3]


def test_queues_are_apart(rig):
    """A push and a pull are of one queue; a rule that is not postponed pushes those before it."""
    create(rig, 0, "eth / ipv4 / udp dst spec 53", TAKE, "queue index 1 / mark id 0")
    create(rig, 0, "eth / ipv4 / udp dst spec 54", TAKE, "queue index 2 / mark id 0", queue=1)
    create(rig, 0, "eth / ipv4 / udp dst spec 55", TAKE, "queue index 2 / mark id 0", "no", 1)
    assert pull(rig, 0) == (0, 0) and pull(rig, 1) == (0, 2)
    got = rig.deliver(*[probe(port, dport=port) for port in (53, 54, 55)])
    assert rig.numbers(got) == [54, 55]


def test_full_and_refused(rig):
    """A full queue, a full table, an impossible rule: each says so, and what waits goes on."""
    def refused(items="eth / ipv4 / udp dst spec 53", actions="queue index 1 / mark id 0"):
        answer = rig.pmd.cmd(
            "flow queue 0 create 0 template_table 1 pattern_template 0 actions_template 0"
            f" postpone yes pattern {items} / end actions {actions} / end")
        assert "Caught PMD error" in answer, answer
        return answer

    assert "Rx queue 9 does not exist" in refused(actions="queue index 9 / mark id 0")
    assert "item 1 is not the pattern template's" in refused("eth / ipv6 / udp dst spec 53")
    rules = [create(rig, 0, f"eth / ipv4 / udp dst spec {port}", TAKE, "queue index 1 / mark id 0")
             for port in range(50, 58)]
    assert "flow queue 0 holds 8 operations and is full" in refused()
    push(rig)
    assert pull(rig) == (0, 8)
    rules.append(create(rig, 0, "eth / ipv4 / udp dst spec 58", TAKE, "queue index 1 / mark id 0"))
    assert "the template table has its 9 rules" in refused()
    assert "the template table has 9 rules" in rig.pmd.cmd("flow template_table 0 destroy table 1")
    push(rig)
    assert pull(rig) == (0, 1)
    got = rig.deliver(*[probe(port, dport=port) for port in range(49, 60)])
    assert rig.numbers(got, 1) == list(range(50, 59))
    # What was flushed while its destruction waited is gone, and the result says so.
    destroy(rig, rules[0])
    rig.pmd.cmd("flow flush 0")
    push(rig)
    assert pull(rig) == ((0, 0) if dpdk.FLUSH_PULLS else (0, 1))
    for what in ("template_table 0 destroy table 1", "pattern_template 0 destroy pattern_template 1",
                 "actions_template 0 destroy actions_template 2"):
        assert "destroyed" in rig.pmd.cmd(f"flow {what}")


def test_device_refuses_a_postponed_rule(rig):
    """Levels run out at the push: the result says failed, the log why, and the handle can be destroyed."""
    for priority in range(2, 16):
        rig.pmd.flow(f"ingress priority {priority} pattern eth / ipv4 / end actions queue index 0 / end")
    rule = create(rig, 1, "eth / ipv4 src spec 10.0.1.0", TAKE, "queue index 1 / mark id 0")
    assert "levels are too few" in rig.pmd.cmd("flow push 0 queue 0")
    assert pull(rig) == (1, 0)
    destroy(rig, rule, postpone="no")
    assert pull(rig) == (0, 1)
