# SPDX-License-Identifier: BSD-3-Clause
"""Random rules that match, change, copy and take, each of a priority of its own: every frame that comes out, byte by byte.

The reference follows rte_flow's guide: rules in the order of their priorities, actions in the order of their list, PASSTHRU goes
on with the packet as it is by then. It knows nothing of tables. MDV_SEMANTICS_SEEDS=N runs N lives.
"""
import collections
import os
import random
import re

import pytest
from harness import frames
from test_flow_edits import Bed

OTHER = "02:00:00:00:00:77"
# Field of frames.packet(): (item, as testpmd matches it, action that sets it, values). Rules lead to each other's values.
FIELDS = {
    "eth_dst": ("eth", "dst is {}", "set_mac_dst mac_addr {}", (frames.PORT_MAC, OTHER)),
    "src": ("ipv4", "src is {}", "set_ipv4_src ipv4_addr {}", ("10.0.0.2", "10.0.0.3")),
    "dst": ("ipv4", "dst is {}", "set_ipv4_dst ipv4_addr {}", ("10.0.0.1", "10.1.0.1")),
    "dport": ("udp", "dst is {}", "set_tp_dst port {}", (53, 54, 55)),
    "ttl": (None, None, "set_ttl ttl_value {}", (60, 64)),
}
ROUNDS, PACKETS = 30, 20


class Rule:
    def __init__(self, rng, priority):
        self.priority = priority
        self.match = {name: rng.choice(row[3]) for name, row in FIELDS.items() if row[0] and rng.random() < 0.35}
        self.changes = [(name, rng.choice(row[3])) for name, row in rng.sample(list(FIELDS.items()), rng.randrange(4))]
        self.hops = rng.randrange(2)
        self.passthru = rng.random() < 0.7
        self.queues = rng.sample(range(3), rng.choice((1, 1, 2)))

    def typed(self):
        items = " / ".join(" ".join([item, *(FIELDS[name][1].format(value) for name, value in self.match.items()
                                             if FIELDS[name][0] == item)]) for item in ("eth", "ipv4", "udp"))
        actions = [FIELDS[name][2].format(value) for name, value in self.changes] + ["dec_ttl"] * self.hops \
            + [f"queue index {queue}" for queue in self.queues] + ["passthru"] * self.passthru
        return f"ingress priority {self.priority} pattern {items} / end actions {' / '.join(actions)} / end"

    def change(self, packet):
        changed = {**packet, **dict(self.changes)}
        changed["ttl"] -= self.hops
        return changed


def outcome(rules, packet):
    """(the packets that queues get, that which Linux gets or None)"""
    copies = []
    for rule in sorted(rules, key=lambda one: one.priority):
        if any(packet[name] != value for name, value in rule.match.items()):
            continue
        packet = rule.change(packet)
        copies += [packet] * len(rule.queues)
        if not rule.passthru:
            return copies, None
    return copies, packet if packet["eth_dst"] == frames.PORT_MAC else None


@pytest.mark.parametrize("seed", range(int(os.environ.get("MDV_SEMANTICS_SEEDS", "1"))))
def test_random_changes(tmp_path, seed):
    rng, living, made, refused, nb_copies, nb_linux = random.Random(f"edits {seed}"), {}, 0, 0, 0, 0
    with Bed(tmp_path) as bed:
        for start in range(0, ROUNDS * PACKETS, PACKETS):
            for rule in [rule for rule in living if rng.random() < 0.4]:
                assert "destroyed" in bed.pmd.cmd(f"flow destroy 0 rule {living.pop(rule)}")
            for priority in rng.sample(sorted(set(range(50)) - {rule.priority for rule in living}), 4):
                rule = Rule(rng, priority)
                answer = bed.pmd.cmd(f"flow create 0 {rule.typed()}")
                if created := re.search(r"Flow rule #(\d+) created", answer):
                    living[rule] = created.group(1)
                assert created or "levels are too few" in answer, answer
                made, refused = made + bool(created), refused + (not created)
            sent = [{"sport": 2000 + start + i, **{name: rng.choice(row[3]) for name, row in FIELDS.items()}}
                    for i in range(PACKETS)]
            copies, linux = zip(*(outcome(living, packet) for packet in sent))
            due = [frames.packet(**packet) for some in copies for packet in some]
            got = bed.echoed(*(frames.packet(**packet) for packet in sent))
            assert collections.Counter(got) == collections.Counter(due), [rule.typed() for rule in living]
            to_linux = [frames.packet(**packet) for packet in linux if packet]
            bed.linux_gets(to_linux)
            nb_copies, nb_linux = nb_copies + len(due), nb_linux + len(to_linux)
    print(f"{ROUNDS * PACKETS} packets, {made} rules, {refused} refused; {nb_copies} copies, {nb_linux} to Linux")
    assert made > 60 and nb_copies > ROUNDS * PACKETS / 2 and nb_linux > 10
