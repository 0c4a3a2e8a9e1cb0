# SPDX-License-Identifier: BSD-3-Clause
"""Random rules and packets: who receives what on softhca, against a reference written from rte_flow's guide.

A failure names its seed, the rules and the packet.
"""
import collections
import random
import re

import pytest
from harness import frames
from harness.bench import MAC, RX_RSS_HASH, Bench, probe
from rte_flow_reference import Reference, Rule

GROUP = "01:00:5e:01:02:03"
ADDRESSES4 = ("10.0.0.1", "10.0.0.2", "10.0.1.1", "10.1.0.1")
ADDRESSES6 = ("fd00::1", "fd00::2", "fd00:0:0:1::1")
PORTS = (53, 80, 81, 1024)
QUEUES = 4


def number(text):
    return int(text.replace(":", ""), 16)


def ip4(text):
    return sum(int(part) << shift for part, shift in zip(text.split("."), (24, 16, 8, 0)))


def ip6(text):
    head, _, tail = text.partition("::")
    head, tail = head.split(":"), tail.split(":")
    groups = head + ["0"] * (8 - len(head) - len(tail)) + tail
    return sum(int(group, 16) << 16 * (7 - i) for i, group in enumerate(groups))


def prefix(bits, length):
    return ((1 << length) - 1) << (bits - length)


class Generator:
    """Rules as testpmd takes them and as the reference does, from one description."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def maybe(self, chance):
        return self.random.random() < chance

    def eth(self, match):
        if not self.maybe(0.3):
            return "eth"
        dst = self.random.choice((MAC, GROUP))
        if self.maybe(0.5):
            match["eth.dst"] = (number(dst), prefix(48, 48))
            return f"eth dst is {dst}"
        match["eth.dst"] = (number(dst) & 1 << 40, 1 << 40)
        kept = "01:00:00:00:00:00"
        return f"eth dst spec {kept if dst == GROUP else '00:00:00:00:00:00'} dst mask {kept}"

    def addresses(self, version, match):
        known, parse, bits = (ADDRESSES4, ip4, 32) if version == 4 else (ADDRESSES6, ip6, 128)
        text = f"ipv{version}"
        match["ip.version"] = (version, 0xFF)
        for side in ("src", "dst"):
            if not self.maybe(0.4):
                continue
            address = self.random.choice(known)
            length = self.random.choice((bits, bits, bits // 2))
            match[f"ip{version}.{side}"] = (parse(address) & prefix(bits, length), prefix(bits, length))
            text += f" {side} spec {address} {side} prefix {length}" if length != bits \
                else f" {side} is {address}"
        return text

    def ports(self, name, match):
        text = name
        match["ip.proto"] = (frames.UDP if name == "udp" else frames.TCP, 0xFF)
        for side in ("src", "dst"):
            if not self.maybe(0.4):
                continue
            port = self.random.choice(PORTS)
            mask = self.random.choice((0xFFFF, 0xFFFF, 0xFFFE))
            match[f"{name}.{side}"] = (port & mask, mask)
            text += f" {side} spec {port & mask} {side} mask {mask}"
        return text

    def pattern(self):
        match, items, depth = {}, [], 0
        with_ip = self.maybe(0.7)
        # The driver takes no L4 item right behind eth.
        if self.maybe(0.8) and with_ip or self.maybe(0.4):
            items.append(self.eth(match))
        if with_ip:
            depth = 1
            items.append(self.addresses(self.random.choice((4, 4, 6)), match))
        if self.maybe(0.5) and (with_ip or not items):
            depth = 2
            items.append(self.ports(self.random.choice(("udp", "udp", "tcp")), match))
        return match, " / ".join(items + ["end"]), depth

    def targets(self):
        how = self.random.random()
        queues = self.random.sample(range(QUEUES), 2)
        if how < 0.6:
            return [{queues[0]}], [f"queue index {queues[0]}"]
        if how < 0.75:
            return [{queues[0]}, {queues[1]}], [f"queue index {queue}" for queue in queues]
        types = self.random.choice(("ipv4 end", "ipv4-udp ipv6 end", "ipv4-tcp end"))
        return [set(queues)], [f"rss types {types} queues {queues[0]} {queues[1]} end"]

    def rule(self):
        match, pattern, depth = self.pattern()
        rule = Rule(priority=self.random.randrange(1, 5), depth=depth, match=match)
        if self.maybe(0.12):
            actions = ["drop"]
        else:
            rule.targets, actions = self.targets()
            rule.passthru = self.maybe(0.5)
            actions += ["passthru"] if rule.passthru else []
            if self.maybe(0.3):
                rule.mark = self.random.randrange(1, 1000)
                actions.append(f"mark id {rule.mark}")
            self.random.shuffle(actions)
        if self.maybe(0.2):
            actions.append("count")
        return rule, f"ingress priority {rule.priority} pattern {pattern} actions {' / '.join(actions)} / end"

    def packet(self, which):
        """(frame, its fields)"""
        version = self.random.choice((4, 4, 6))
        name = self.random.choice(("udp", "udp", "tcp"))
        known, parse = (ADDRESSES4, ip4) if version == 4 else (ADDRESSES6, ip6)
        dst = self.random.choice((MAC, MAC, GROUP))
        ends = {side: self.random.choice(known) for side in ("src", "dst")}
        sport, dport = self.random.choice(PORTS), self.random.choice(PORTS)
        proto = frames.UDP if name == "udp" else frames.TCP
        fields = {"eth.dst": number(dst)}
        if self.maybe(0.1):
            return frames.ether(bytes(46), 0x0806, dst=dst, src=f"02:00:00:00:01:{which:02x}"), fields
        fields.update({"ip.version": version, "ip.proto": proto, f"{name}.src": sport, f"{name}.dst": dport})
        fields.update({f"ip{version}.{side}": parse(address) for side, address in ends.items()})
        return probe(which, version=version, proto=proto, eth_dst=dst, sport=sport, dport=dport, **ends), fields


def agree(copies, seen):
    """Can the copies seen be dealt to the copies that are due, one to one?"""
    if not copies:
        return not seen
    (queues, mark), rest = copies[0], copies[1:]
    return any(one["queue"] in queues and one["mark"] == mark
               and agree(rest, seen[:i] + seen[i + 1:]) for i, one in enumerate(seen))


def change_rules(generator, bench, reference, living):
    """Some rules go, some come; @return how many were refused for want of levels."""
    refused = 0
    for rule in [rule for rule in living if generator.maybe(0.3)]:
        assert "destroyed" in bench.pmd.cmd(f"flow destroy 0 rule {living.pop(rule)}")
        reference.remove(rule.rule)
    for _ in range(generator.random.randrange(1, 5)):
        rule, text = generator.rule()
        answer = bench.pmd.cmd(f"flow create 0 {text}")
        match = re.search(r"Flow rule #(\d+) created", answer)
        if match is None:
            assert "levels are too few" in answer, f"{text}\n{answer}"
            refused += 1
            continue
        living[Named(rule, text)] = int(match.group(1))
        reference.add(rule)
    return refused


class Named:
    """A rule and what it was typed as."""

    def __init__(self, rule, text):
        self.rule, self.text = rule, text


DEFAULTS = {
    "isolated": (("--flow-isolate-all",), "", None),
    "promiscuous": ((), "", Rule(1 << 33, 0, {}, [set(range(QUEUES))])),
    "sniffing": ((), ",sniff=rx", Rule(1 << 33, 0, {}, [set(range(QUEUES))], passthru=True)),
}


@pytest.mark.parametrize("kind", DEFAULTS)
@pytest.mark.parametrize("seed", range(4))
def test_random_rules(tmp_path, kind, seed):
    args, devargs, default = DEFAULTS[kind]
    generator = Generator(f"{kind} {seed}")
    reference, living, due = Reference(default), {}, []
    refused = 0
    with Bench(tmp_path, (*args, f"--rx-offloads={RX_RSS_HASH:#x}"), queues=QUEUES,
               devargs=devargs) as bench:
        bench.add_sentinel()
        for start in range(1, 241, 24):
            refused += change_rules(generator, bench, reference, living)
            sent = [generator.packet(start + i) for i in range(24)]
            got = collections.defaultdict(list)
            for one in bench.deliver(*[frame for frame, _ in sent]):
                got[int(one["src"][-2:], 16)].append(one)
            for i, (_, fields) in enumerate(sent):
                copies, linux, taker = reference.outcome(fields)
                due += [start + i] if linux else []
                assert agree(copies, got[start + i]), (
                    f"seed {kind} {seed}, packet {start + i} {fields}\n"
                    f"due {copies} by {taker}\ngot {got[start + i]}\n"
                    + "\n".join(sorted(named.text for named in living)))
    # Linux's side of the bench takes its own MAC and every group.
    assert sorted(bench.kernel) == due
    assert refused < 10
