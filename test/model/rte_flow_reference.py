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

GROUP = 1 << 40  # the bit of a destination address
BROADCAST = (1 << 48) - 1


class Queues:
    """A target: one of these queues gets a copy."""

    def __init__(self, *queues):
        self.queues = frozenset(queues)

    def of(self, _packet):
        return self.queues


class Rss(Queues):
    """One of the queues by its hash for packets of these types, the first queue for all others."""

    TYPES = {
        "ipv4": lambda packet: packet.get("ip.version") == 4,
        "ipv6": lambda packet: packet.get("ip.version") == 6,
        "ipv4-udp": lambda packet: packet.get("ip.version") == 4 and "udp.dst" in packet,
        "ipv4-tcp": lambda packet: packet.get("ip.version") == 4 and "tcp.dst" in packet,
        "ipv6-udp": lambda packet: packet.get("ip.version") == 6 and "udp.dst" in packet,
        "ipv6-tcp": lambda packet: packet.get("ip.version") == 6 and "tcp.dst" in packet,
    }

    def __init__(self, types, *queues):
        super().__init__(*queues)
        self.types = types
        self.first = frozenset(queues[:1])

    def of(self, packet):
        hashed = any(self.TYPES[name](packet) for name in self.types)
        return self.queues if hashed else self.first


@dataclass(eq=False)
class Rule:
    priority: int
    depth: int  # of the pattern: 0 Ethernet, 1 IP, 2 TCP or UDP, 3 a tunnel, 4 and more inside
    match: dict  # field: (value, mask)
    targets: list = field(default_factory=list)  # Queues; each gets a copy
    passthru: bool = False
    mark: object = None  # a number, or "flag"
    born: int = 0  # when the rule was made
    mask_born: int = 0  # when the oldest living rule of its priority, depth, kind and mask was
    hits: int = 0
    unsure: int = 0  # packets that may have hit another rule, or this one instead of another

    def __post_init__(self):
        self.alike = (self.priority, self.depth, self.passthru,
                      frozenset((name, mask) for name, (_, mask) in self.match.items()))

    def matches(self, packet):
        for name, (value, mask) in self.match.items():
            if name not in packet or packet[name] & mask != value:
                return False
        return True

    def order(self):
        """Smaller is looked at earlier."""
        return (self.priority, not self.passthru, -self.depth, self.mask_born, self.born)


class DefaultRules(Rule):
    """What a port takes, or copies when it sniffs, of packets that no rule has ended."""

    def __init__(self, macs, queues, passthru=False):
        super().__init__(1 << 33, 0, {}, [Queues(*queues)], passthru)
        self.macs = macs
        self.isolated = self.allmulticast = False
        self.promiscuous = True

    def matches(self, packet):
        if self.isolated:
            return False
        dst = packet["eth.dst"]
        group = bool(dst & GROUP)
        return self.promiscuous or dst in self.macs or dst == BROADCAST or dst >> 32 == 0x3333 \
            or (group and self.allmulticast)


class Reference:
    """The rules of a port, `default` behind them."""

    def __init__(self, default=None):
        self.rules = []
        self.default = default
        self.clock = 0
        self.ordered = None  # the rules as they are looked at

    def add(self, rule):
        self.clock += 1
        rule.born = rule.mask_born = self.clock
        for other in self.rules:
            if other.alike == rule.alike:
                rule.mask_born = min(rule.mask_born, other.mask_born)
        self.rules.append(rule)
        self.ordered = None

    def remove(self, rule):
        """A mask lives, with its age, as long as a rule of it does."""
        self.rules.remove(rule)
        self.ordered = None

    def outcome(self, packet):
        """(the rules that copy the packet, [the rule that ends it, others that might], or [] for Linux).

        The guide has limits where the order of rules that differ in nothing but their masks is chance.
        """
        if self.ordered is None:
            self.ordered = sorted(self.rules, key=Rule.order) \
                + ([self.default] if self.default else [])
        copying, ending = [], []
        for rule in self.ordered:
            if ending and (rule.passthru or rule.alike[:2] != ending[0].alike[:2]):
                break
            if not rule.matches(packet):
                continue
            if rule.passthru:
                copying.append(rule)
            elif all(rule.alike != other.alike for other in ending):
                ending.append(rule)
        return copying, ending


def copies(rules, packet):
    """[(queues, mark) of each copy]"""
    return [(target.of(packet), rule.mark) for rule in rules for target in rule.targets]
