# SPDX-License-Identifier: BSD-3-Clause
"""Lives of random rules for build/test/model/levels, the allocator of verbs priorities alone."""
import errno
import random
import subprocess
import sys
from collections import Counter

from harness import paths
from rte_flow_random import FIELDS, Generator, Shape
from rte_flow_reference import Rss, Rule

WORDS, BITS = 23, 64
RSS_TYPES = {"ipv4": (4, None), "ipv6": (6, None), "ipv4-udp": (4, 17), "ipv4-tcp": (4, 6),
             "ipv6-udp": (6, 17), "ipv6-tcp": (6, 6)}


def widths():
    """{field: (offset, bits)}; the addresses of both IP versions share their bytes in the device, not here."""
    layout, at = {}, 0
    names = dict.fromkeys(["ip.version", "ip.proto", "in.ip.version", "in.ip.proto", *FIELDS])
    for name in names:
        bits = max(mask.bit_length() for mask in FIELDS[name].masks) if name in FIELDS else 8
        if at // BITS != (at + bits - 1) // BITS:
            at = (at + BITS - 1) // BITS * BITS
        layout[name] = at, bits
        at += bits
    assert at <= WORDS * BITS
    return layout


LAYOUT = widths()


def key(match):
    """(mask, value) of all fields in one number each"""
    mask = value = 0
    for name, (field_value, field_mask) in match.items():
        at, _ = LAYOUT[name]
        mask |= field_mask << at
        value |= field_value << at
    return mask, value


def part_masks(rule):
    """The masks of the parts that RSS makes of a rule, its own last."""
    masks = []
    for target in rule.targets:
        for name in target.types if isinstance(target, Rss) else ():
            version, proto = RSS_TYPES[name]
            more = {"ip.version": (version, 0xFF), **({"ip.proto": (proto, 0xFF)} if proto else {})}
            if all(rule.match.get(field, wanted) == wanted for field, wanted in more.items()):
                masks.append(key({**rule.match, **more})[0])
    own = key(rule.match)[0]
    masks = sorted({mask for mask in masks if mask != own}, key=lambda mask: -mask.bit_count())
    return [*masks, own]


def add_line(rule):
    mask, value = key(rule.match)
    masks = [f"{hash((1, each)) & (1 << 64) - 1:x}" for each in part_masks(rule)]
    words = [(i, mask >> i * BITS & (1 << BITS) - 1, value >> i * BITS & (1 << BITS) - 1) for i in range(WORDS)]
    words = [f"{i} {word:x} {bits:x}" for i, word, bits in words if word]
    return (f"add {rule.priority} {rule.passthru:d} {len(rule.targets) > 1:d} {rule.depth} {len(masks)}"
            f" {' '.join(masks)} {len(words)} {' '.join(words)}")


def run(lines, move, levels=16):
    """[(errno, level, taking rules moved, copying rules moved)] of each rule added"""
    out = subprocess.run([paths.BUILD / "test/model/levels", str(levels), "1" if move else "0"],
                         input="\n".join(lines) + "\n", text=True, capture_output=True, check=True).stdout
    return [tuple(map(int, line.split())) for line in out.splitlines()]


class Life:
    """Lines for the allocator; `living` rules at once at most, replaced one by one."""

    def __init__(self, kind, seed):
        self.random = random.Random(f"{kind} {seed}")
        self.lines, self.living, self.made = [], [], 0
        KINDS[kind](self)

    def add(self, rule):
        self.lines.append(add_line(rule))
        self.living.append(self.made)
        self.made += 1

    def drop(self, chance):
        for which in [one for one in self.living if self.random.random() < chance]:
            self.living.remove(which)
            self.lines.append(f"del {which}")

    def semantics(self, nb_shapes, births, batches, phase):
        """As test_flow_semantics.py makes them."""
        generator = Generator(self.random.random(), nb_shapes)
        for batch in range(batches):
            if batch % phase == phase - 1:
                generator.next_phase()
                self.drop(0.9)
            self.drop(0.2)
            for _ in range(births):
                self.add(generator.rule()[0])

    def rule(self, priority, passthru):
        shape = Shape(self.random, [priority])
        shape.passthru = passthru
        return Rule(priority, shape.depth, shape.pattern(self.random)[0], passthru=passthru)

    def application(self, priorities, copies, taking):
        """Some rules that copy among others that do not, in any order; then they come and go."""
        wanted = [True] * copies + [False] * taking
        self.random.shuffle(wanted)
        for passthru in wanted:
            self.add(self.rule(self.random.choice(priorities), passthru))
        for _ in range(3):
            self.drop(0.3)
            while len(self.living) < copies + taking:
                self.add(self.rule(self.random.choice(priorities), self.random.random() * (copies + taking) < copies))

    def stack(self, order):
        """A rule a priority, every packet meets all: in front of the others, behind them, anywhere."""
        priorities = list(range(10))
        if order == "shuffled":
            self.random.shuffle(priorities)
        for priority in priorities if order != "down" else reversed(priorities):
            self.add(Rule(priority, 0, {}, passthru=self.random.random() < 0.7))


KINDS = {
    "random": lambda life: life.semantics(None, 4, 50, 50),
    "crowd": lambda life: life.semantics(6, 50, 10, 40),
    "one priority": lambda life: life.application([0], 4, 20),
    "two priorities": lambda life: life.application([0, 1], 4, 20),
    "four priorities": lambda life: life.application([0, 1, 2, 3], 4, 20),
    "far priorities": lambda life: life.application([10, 100, 1000], 4, 20),
    "taps": lambda life: life.application([0, 1, 2], 8, 8),
    "one tap": lambda life: life.application([0, 1, 2], 1, 20),
    "stack up": lambda life: life.stack("up"),
    "stack down": lambda life: life.stack("down"),
    "stack shuffled": lambda life: life.stack("shuffled"),
}


def figures(kind, seeds, move):
    """Counter of rules made, refused, made by a move, and made by one of copies"""
    total = Counter()
    for seed in range(seeds):
        answers = run(Life(kind, seed).lines, move)
        total.update(made=len(answers), refused=sum(rc == errno.ENOSPC for rc, *_ in answers),
                     moving=sum(taking + copying > 0 for *_, taking, copying in answers),
                     copying=sum(copying > 0 for *_, copying in answers))
        assert all(rc in (0, errno.ENOSPC) for rc, *_ in answers)
    return total


def report(seeds):
    for kind in KINDS:
        on, off = (figures(kind, seeds, move) for move in (True, False))
        print(f"{kind:16} {on['made']:6} rules, on: {on['refused'] / on['made']:6.2%} refused,"
              f" {on['copying'] / on['made']:6.2%} by moving copies; off: {off['refused'] / off['made']:6.2%} refused,"
              f" {off['moving'] / off['made']:6.2%} by moving others")


if __name__ == "__main__":
    report(int(sys.argv[1]))
