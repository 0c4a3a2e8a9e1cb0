# SPDX-License-Identifier: BSD-3-Clause
"""Who receives a packet under a list of rte_flow rules, by scanning the rules one after the other.

Written from the rte_flow guide of DPDK 22.11 alone ("Rules", "Priority", "Actions": lower values are higher
priorities; actions without PASSTHRU end the packet's way; several QUEUE duplicate), and where it leaves the
outcome undefined, at equal priorities, from "Stacks of rules" of our guide. It knows nothing of verbs, of
tables or of levels, and shares no code with the driver.

A packet is a dictionary of the fields it has; a rule matches on (value, mask) by field:

    packet  {"eth.dst": 0x20000000010, "ip.version": 4, "ip.proto": 17, "ip4.src": 0x0a000002, "udp.dst": 53}
    rule    Rule(priority=1, depth=2, match={"ip.version": (4, 0xff), "udp.dst": (53, 0xffff)}, ...)
"""
from dataclasses import dataclass, field


@dataclass(eq=False)
class Rule:
    priority: int
    depth: int  # of the pattern: 0 Ethernet, 1 IP, 2 TCP or UDP
    match: dict  # field: (value, mask)
    targets: list = field(default_factory=list)  # a set of queues each: one of them gets a copy
    passthru: bool = False
    mark: int = None
    born: int = 0  # when the rule was made
    mask_born: int = 0  # when the oldest living rule of its priority, depth, kind and mask was

    def mask(self):
        return frozenset((name, mask) for name, (_, mask) in self.match.items())

    def alike(self, other):
        return (self.priority, self.depth, self.passthru, self.mask()) \
            == (other.priority, other.depth, other.passthru, other.mask())

    def matches(self, packet):
        return all(name in packet and packet[name] & mask == value
                   for name, (value, mask) in self.match.items())

    def order(self):
        """Smaller is looked at earlier."""
        return (self.priority, not self.passthru, -self.depth, self.mask_born, self.born)


class Reference:
    """The rules of a port; `default` is what its default rules do, None when it is isolated."""

    def __init__(self, default=None):
        self.rules = []
        self.default = default
        self.clock = 0

    def add(self, rule):
        self.clock += 1
        rule.born = rule.mask_born = self.clock
        for other in self.rules:
            if other.alike(rule):
                rule.mask_born = min(rule.mask_born, other.mask_born)
        self.rules.append(rule)

    def remove(self, rule):
        """A mask lives, with its age, as long as a rule of it does."""
        self.rules.remove(rule)

    def outcome(self, packet):
        """([(queues, mark) of each copy], whether Linux's side is reached, the rule that ended it)."""
        copies = []
        for rule in sorted(self.rules, key=Rule.order) + ([self.default] if self.default else []):
            if not rule.matches(packet):
                continue
            copies += [(target, rule.mark) for target in rule.targets]
            if not rule.passthru:
                return copies, False, rule
        return copies, True, None
