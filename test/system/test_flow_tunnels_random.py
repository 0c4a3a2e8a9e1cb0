# SPDX-License-Identifier: BSD-3-Clause
"""Random rules and packets with tunnels and labels: who receives what, against rte_flow_reference.

What a pattern means is written here once more, from the guide of rte_flow, as fields of a packet.
"""
import os
import random
import re

import pytest
from harness import frames
from harness.rig import Rig, source
from rte_flow_reference import Queues, Reference, Rule
from test_flow_tunnels import (GRE_PROTO, MPLS, TEB, gre, inner_frame, inner_ip, labels, mpls, mpls_udp, outer, probe,
                               vxlan)

BATCH = 40
PORTS = (53, 54)
VNIS = (1, 2)
LABELS = (16, 17)
CLASSES = (0, 5)
KEYS = (7, 8, 7 << 8 | 3)  # the last one is NVGRE's, of virtual subnet 7
ESP = 50
PROTO = {"udp": frames.UDP, "tcp": frames.TCP}
# How deep a pattern reaches: "Stacks of rules" of the guide.
L2, LABEL, L3, L4, TUNNEL, TUNNEL_LABEL, IN_L2, IN_L3, IN_L4 = range(9)


class Pattern:
    """Items as testpmd takes them, the fields they ask for, and how deep they reach."""

    def __init__(self, rng):
        self.random = rng
        self.items, self.match, self.depth = ["eth"], {}, L2
        rng.choice((self.plain, self.plain, self.label, self.vxlan, self.vxlan, self.gre, self.nvgre, self.mpls_udp,
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
        if self.items[-1].startswith("ip") and self.maybe(0.2):
            self.item("esp", depth, **{side + "proto": ESP})
        elif self.maybe(0.5):
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
        label, traffic, words = self.random.choice(LABELS), self.random.choice(CLASSES), ["mpls"]
        if self.maybe(0.5):
            words.append(f"label is {label}")
            fields["label_" + name] = (label, 0xFFFFF)
        if self.maybe(0.2):
            words.append(f"tc is {traffic}")
            fields["class_" + name] = (traffic, 7)
        if self.maybe(0.2):
            words.append("s is 1")
            fields["last_" + name] = (1, 1)
        self.item(" ".join(words), depth, **fields)

    def label(self):
        self.label_item(LABEL, "eth", type=MPLS)
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
        if self.maybe(0.3):
            protocol, mask = self.random.choice(((TEB, 0xFFFF), (frames.IPV4, 0xFF00), (MPLS, 0xFF00)))
            self.item(f"gre protocol spec {protocol & mask} protocol mask {mask}", TUNNEL, proto=GRE_PROTO,
                      gre=(protocol & mask, mask))
            return
        self.item("gre", TUNNEL, proto=GRE_PROTO)
        if self.maybe(0.3):
            key, mask = self.random.choice(((7, 0xFFFFFFFF), (7, 0xFF), (7 << 8, 0xFF00)))
            self.item(f"gre_key value spec {key} value mask {mask}", TUNNEL, key=(key, mask))
        if self.maybe(0.3):
            version = self.random.choice((4, 6))
            self.item(f"ipv{version}", IN_L3, in_version=version,
                      gre=frames.IPV4 if version == 4 else frames.IPV6)
            if self.maybe(0.5):
                self.l4("in_", IN_L4)
        elif self.maybe(0.3):
            self.item("eth", IN_L2, gre=TEB)

    def nvgre(self):
        self.ip("", L3)
        self.item("nvgre", TUNNEL, proto=GRE_PROTO, gre=TEB)
        if self.maybe(0.5):
            self.items[-1] += " tni is 7"
            self.match["key"] = (7 << 8, 0xFFFFFF00)
        self.inner(True)

    def mpls_udp(self):
        self.ip("", L3)
        self.items.append("udp")
        self.label_item(TUNNEL_LABEL, "udp", proto=frames.UDP, udp=6635)
        if self.maybe(0.5):
            self.ip("in_", IN_L3, False)

    def mpls_gre(self):
        self.ip("", L3)
        self.items.append("gre")
        self.label_item(TUNNEL_LABEL, "gre", proto=GRE_PROTO, gre=MPLS)
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
    in_gre = {"version": version, "proto": GRE_PROTO}
    traffic, key, kind = rng.choice(CLASSES), rng.choice((None, *KEYS)), rng.randrange(8)
    keyed = {} if key is None else {"key": key}

    def labelled(place):
        return {"label_" + place: label, "class_" + place: traffic, "last_" + place: 1}

    if kind == 0:
        options, fields = headers(rng, "")
        return probe(number, **options), fields
    if kind == 1:
        fields = {"type": MPLS, **labelled("eth")}
        fields.update({name[3:]: value for name, value in in_fields.items()})
        return mpls(number, labels((label, traffic, 64)), inner_ip(**inside)), fields
    if kind == 2:
        return mpls_udp(number, labels((label, traffic, 64)), inner_ip(**inside)), \
            {"version": 4, "proto": frames.UDP, "udp": 6635, **labelled("udp"), **in_fields}
    if kind == 3:
        return vxlan(number, vni, inner_frame(**inside), version), \
            {"version": version, "proto": frames.UDP, "udp": 4789, "vni": vni, "tunnel": 1, **in_fields}
    if kind == 4:
        return gre(number, type_, inner_ip(**inside), key, version), {**in_gre, "gre": type_, **in_fields, **keyed}
    if kind == 5:
        return gre(number, TEB, inner_frame(**inside), key, version), \
            {**in_gre, "gre": TEB, "tunnel": 1, **in_fields, **keyed}
    if kind == 6:
        return outer(number, bytes(16), ESP, version), {"version": version, "proto": ESP}
    return gre(number, MPLS, labels((label, traffic, 64)) + inner_ip(**inside), None, version), \
        {**in_gre, "gre": MPLS, **labelled("gre"), **in_fields}


def new_rule(rng):
    pattern = Pattern(rng)
    (queue, other), priority = rng.sample(range(3), 2), rng.randrange(1, 4)
    queues, actions = rng.choice((
        ([queue], f"queue index {queue}"), ([queue], f"queue index {queue}"),
        ([queue], f"rss types ipv4-udp ipv6 end queues {queue} end"),
        ([queue, other], f"queue index {queue} / queue index {other}"),
        ([queue, other], f"sample ratio 1 index {other} / queue index {queue}")))
    rule = Rule(priority, pattern.depth, pattern.match, [Queues(one) for one in queues], rng.random() < 0.5)
    return rule, f"ingress priority {priority} pattern {' / '.join(pattern.items)} / end actions {actions}" \
        f"{' / passthru' if rule.passthru else ''} / end"


@pytest.mark.parametrize("seed", range(3 * int(os.environ.get("MDV_SEMANTICS_SEEDS", "1"))))
def test_random(tmp_path, seed):
    rng, reference, living, due = random.Random(f"tunnels {seed}"), Reference(), {}, []
    made = copies = 0
    with Rig(tmp_path, setup=[f"set sample_actions {one} queue index {one} / end" for one in range(3)]) as rig:
        rig.add_sentinel()
        for start in range(1, 241, BATCH):
            for rule in [rule for rule in living if rng.random() < 0.5]:
                assert "destroyed" in rig.pmd.cmd(f"flow destroy 0 rule {living.pop(rule)[0]}")
                reference.remove(rule)
            for _ in range(8):
                rule, text = new_rule(rng)
                answer = rig.pmd.cmd(f"flow create 0 {text}")
                number = re.search(r"Flow rule #(\d+) created", answer)
                if number is None:
                    assert "levels are too few" in answer, f"{text}\n{answer}"
                    continue
                living[rule] = (number.group(1), text)
                reference.add(rule)
                made += 1
            sent = {number: packet(rng, number) for number in range(start, start + BATCH)}
            got = rig.deliver(*[frame for frame, _ in sent.values()])
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
        rig.pmd.cmd("flow flush 0")
    assert sorted(rig.kernel) == sorted(due)
    assert made > 30 and copies > 100
