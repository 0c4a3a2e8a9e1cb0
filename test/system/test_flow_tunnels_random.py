# SPDX-License-Identifier: BSD-3-Clause
"""Random rules and packets with tunnels and labels: who receives what, against rte_flow_reference.

What a pattern means is written here once more, from the guide of rte_flow, as fields of a packet.
"""
import random
import re

import pytest
from harness import frames
from harness.bench import Bench, source
from rte_flow_reference import Queues, Reference, Rule
from test_flow_tunnels import (GRE_PROTO, MPLS, TEB, gre, inner_frame, inner_ip, labels, mpls, mpls_udp, probe,
                               vxlan)

BATCH = 40
PORTS = (53, 54)
VNIS = (1, 2)
LABELS = (16, 17)
PROTO = {"udp": frames.UDP, "tcp": frames.TCP}
# How deep a pattern reaches: "Stacks of rules" of the guide.
L2, LABEL, L3, L4, TUNNEL, TUNNEL_LABEL, IN_L2, IN_L3, IN_L4 = range(9)


class Pattern:
    """Items as testpmd takes them, the fields they ask for, and how deep they reach."""

    def __init__(self, rng):
        self.random = rng
        self.items, self.match, self.depth = ["eth"], {}, L2
        rng.choice((self.plain, self.plain, self.label, self.vxlan, self.vxlan, self.gre, self.mpls_udp,
                    self.mpls_gre))()

    def maybe(self, chance):
        return self.random.random() < chance

    def item(self, text, depth, **fields):
        self.items.append(text)
        self.depth = max(self.depth, depth)
        for name, value in fields.items():
            self.match[name] = value if isinstance(value, tuple) else (value, 0xFFFF)

    def ip(self, side, depth, may_skip=True):
        version = self.random.choice((4, 6))
        if may_skip and self.maybe(0.3):
            self.items.append("any num is 1")
        else:
            self.item(f"ipv{version}", depth, **{side + "version": version})

    def l4(self, side, depth):
        name = self.random.choice(("udp", "udp", "tcp"))
        port = self.random.choice(PORTS)
        if self.maybe(0.5):
            self.item(name, depth, **{side + "proto": PROTO[name]})
        else:
            self.item(f"{name} dst is {port}", depth, **{side + "proto": PROTO[name], side + name: port})

    def plain(self):
        if self.maybe(0.2):
            return
        self.ip("", L3, False)
        if self.maybe(0.6):
            self.l4("", L4)

    def inner(self, frame):
        """Behind a tunnel; `frame`: an Ethernet header begins there."""
        if frame and self.maybe(0.8):
            self.item("eth", IN_L2, tunnel=1)
        if self.maybe(0.6):
            # Nobody says that there is another layer: ANY at the end would ask for nothing.
            named = self.items[-1] != "eth" and frame
            self.ip("in_", IN_L3, not named and self.items[-1] == "eth")
            if self.items[-1].startswith("any") or self.maybe(0.6):
                self.l4("in_", IN_L4)

    def label_item(self, depth, name, **fields):
        label = self.random.choice(LABELS)
        if self.maybe(0.5):
            self.item("mpls", depth, **fields)
        else:
            self.item(f"mpls label is {label}", depth, **{name: label}, **fields)

    def label(self):
        self.label_item(LABEL, "label_eth", type=MPLS)
        if self.maybe(0.5):
            self.ip("", L3, False)

    def vxlan(self):
        if self.maybe(0.3):
            self.items.append("any num is 2")
        else:
            self.ip("", L3)
            self.items.append("udp")
        vni = self.random.choice(VNIS)
        self.item("vxlan", TUNNEL, proto=frames.UDP, udp=4789)
        if self.maybe(0.5):
            self.items[-1] += f" vni is {vni}"
            self.match["vni"] = (vni, 0xFFFFFF)
        self.inner(True)

    def gre(self):
        self.ip("", L3)
        self.item("gre", TUNNEL, proto=GRE_PROTO)
        if self.maybe(0.3):
            self.item("gre_key value is 7", TUNNEL, key=(7, 0xFFFFFFFF))
        if self.maybe(0.3):
            version = self.random.choice((4, 6))
            self.item(f"ipv{version}", IN_L3, in_version=version,
                      gre=frames.IPV4 if version == 4 else frames.IPV6)
            if self.maybe(0.5):
                self.l4("in_", IN_L4)
        elif self.maybe(0.3):
            self.item("eth", IN_L2, gre=TEB)

    def mpls_udp(self):
        self.ip("", L3)
        self.items.append("udp")
        self.label_item(TUNNEL_LABEL, "label_udp", proto=frames.UDP, udp=6635)
        if self.maybe(0.5):
            self.ip("in_", IN_L3, False)

    def mpls_gre(self):
        self.ip("", L3)
        self.items.append("gre")
        self.label_item(TUNNEL_LABEL, "label_gre", proto=GRE_PROTO, gre=MPLS)
        if self.maybe(0.5):
            self.ip("in_", IN_L3, False)


def headers(rng, side):
    """(options of frames.packet, the fields they make)"""
    version, name, port = rng.choice((4, 6)), rng.choice(("udp", "tcp")), rng.choice(PORTS)
    return {"version": version, "proto": PROTO[name], "dport": port}, \
        {side + "version": version, side + "proto": PROTO[name], side + name: port}


def packet(rng, number):
    """(frame, its fields)"""
    inside, in_fields = headers(rng, "in_")
    version, label, vni = rng.choice((4, 6)), rng.choice(LABELS), rng.choice(VNIS)
    type_ = frames.IPV4 if inside["version"] == 4 else frames.IPV6
    outer = {"version": version, "proto": GRE_PROTO}
    kind = rng.randrange(7)
    if kind == 0:
        options, fields = headers(rng, "")
        return probe(number, **options), fields
    if kind == 1:
        fields = {"type": MPLS, "label_eth": label}
        fields.update({name[3:]: value for name, value in in_fields.items()})
        return mpls(number, labels((label, 0, 64)), inner_ip(**inside)), fields
    if kind == 2:
        return mpls_udp(number, labels((label, 0, 64)), inner_ip(**inside)), \
            {"version": 4, "proto": frames.UDP, "udp": 6635, "label_udp": label, **in_fields}
    if kind == 3:
        return vxlan(number, vni, inner_frame(**inside), version), \
            {"version": version, "proto": frames.UDP, "udp": 4789, "vni": vni, "tunnel": 1, **in_fields}
    if kind == 4:
        key = rng.choice((None, 7, 8))
        fields = {**outer, "gre": type_, **in_fields, **({} if key is None else {"key": key})}
        return gre(number, type_, inner_ip(**inside), key, version), fields
    if kind == 5:
        return gre(number, TEB, inner_frame(**inside), None, version), \
            {**outer, "gre": TEB, "tunnel": 1, **in_fields}
    return gre(number, MPLS, labels((label, 0, 64)) + inner_ip(**inside), None, version), \
        {**outer, "gre": MPLS, "label_gre": label, **in_fields}


def new_rule(rng):
    pattern = Pattern(rng)
    queue, priority = rng.randrange(3), rng.randrange(1, 4)
    rule = Rule(priority, pattern.depth, pattern.match, [Queues(queue)], rng.random() < 0.5)
    return rule, f"ingress priority {priority} pattern {' / '.join(pattern.items)} / end actions queue index " \
        f"{queue}{' / passthru' if rule.passthru else ''} / end"


@pytest.mark.parametrize("seed", range(3))
def test_random(tmp_path, seed):
    rng, reference, living, due = random.Random(f"tunnels {seed}"), Reference(), {}, []
    made = copies = 0
    with Bench(tmp_path) as bench:
        bench.add_sentinel()
        for start in range(1, 241, BATCH):
            for rule in [rule for rule in living if rng.random() < 0.5]:
                assert "destroyed" in bench.pmd.cmd(f"flow destroy 0 rule {living.pop(rule)[0]}")
                reference.remove(rule)
            for _ in range(8):
                rule, text = new_rule(rng)
                answer = bench.pmd.cmd(f"flow create 0 {text}")
                number = re.search(r"Flow rule #(\d+) created", answer)
                if number is None:
                    assert "levels are too few" in answer, f"{text}\n{answer}"
                    continue
                living[rule] = (number.group(1), text)
                reference.add(rule)
                made += 1
            sent = {number: packet(rng, number) for number in range(start, start + BATCH)}
            got = bench.deliver(*[frame for frame, _ in sent.values()])
            for number, (_, fields) in sent.items():
                copying, ending = reference.outcome(fields)
                seen = sorted(one["queue"] for one in got if one["src"] == source(number))
                right = [sorted(queue for rule in copying + taker for target in rule.targets
                                for queue in target.queues)
                         for taker in ([[rule] for rule in ending] or [[]])]
                copies += len(seen)
                if not ending:
                    due.append(number)
                assert seen in right, f"{fields}: {seen}, due {right}\n" \
                    + "\n".join(text for _, text in living.values())
        bench.pmd.cmd("flow flush 0")
    assert sorted(bench.kernel) == sorted(due)
    assert made > 30 and copies > 100
