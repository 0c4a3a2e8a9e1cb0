# SPDX-License-Identifier: BSD-3-Clause
"""Random rules and packets: who receives what on softhca, against a reference written from rte_flow's guide.

Every copy counts: its queue, its mark, that there is no other; so does what Linux's side gets, and every
rule's counter. A failure names its seed, the rules and the packet. MDV_SEMANTICS_SEEDS=N runs N lives a kind. A
crowd takes most of a minute of both CPUs; one runs in each test run, the one that goes through more of the driver.
"""
import collections
import os
import re

import pytest
from harness import frames, pcapfile
from harness.rig import RX_RSS_HASH, Rig
from harness.patience import PATIENCE
from harness.rounds import rounds
from rte_flow_random import MAC, QUEUES, Generator, number
from rte_flow_reference import GROUP, DefaultRules, Reference, copies

SENTINEL = 0x020000 << 24
LINE = 400  # what testpmd takes in a line, about
PACKETS = 500  # between two changes; a queue holds all the copies there can be


def agree(due, seen):
    """Can the copies seen be dealt to the copies that are due, one to one?"""
    if not due:
        return not seen
    (queues, mark), rest = due[0], due[1:]
    return any(queue in queues and got == mark
               and agree(rest, seen[:i] + seen[i + 1:]) for i, (queue, got) in enumerate(seen))


class Life:
    """A port, its rules and the reference's, changed and asked alike."""

    def __init__(self, rig, generator, sniff):
        self.pmd, self.peer = rig.pmd, rig.peer
        self.generator = generator
        self.random = generator.random
        macs = {number(MAC)}
        self.reference = Reference(DefaultRules(macs, range(QUEUES), sniff))
        self.living = {}  # rule: (testpmd's number, as typed)
        self.made = self.refused = self.packets = self.copies = self.by_chance = 0
        self.due = []  # numbers of the packets that Linux's side gets
        for queue in range(QUEUES):
            self.pmd.flow(f"ingress priority 0 pattern eth src is 02:00:00:00:00:{queue:02x} / end"
                          f" actions queue index {queue} / end")

    def create(self):
        rule, text = self.generator.rule()
        if len(text) > LINE:
            return
        if any(rule.match == other.match for other in self.living) and self.random.random() < 0.9:
            return
        answer = self.pmd.cmd(f"flow create 0 {text}")
        match = re.search(r"Flow rule #(\d+) created", answer)
        if match is None:
            assert "levels are too few" in answer, f"{text}\n{answer}"
            self.refused += 1
            return
        self.living[rule] = (int(match.group(1)), text)
        self.reference.add(rule)
        self.made += 1

    def destroy(self, chance):
        going = [rule for rule in self.living if self.random.random() < chance]
        for rule in going:
            which, text = self.living.pop(rule)
            if text.endswith("count / end"):
                hits, _ = self.pmd.query_count(which)
                assert abs(hits - rule.hits) <= rule.unsure, \
                    f"{text}: {rule.hits} hits due, {hits} counted"
            self.reference.remove(rule)
            assert "destroyed" in self.pmd.cmd(f"flow destroy 0 rule {which}")

    def change_defaults(self):
        default = self.reference.default
        name, command = self.random.choice((
            ("isolated", "flow isolate 0 {0:d}"),
            ("promiscuous", "set promisc 0 {1}"),
            ("allmulticast", "set allmulti 0 {1}")))
        value = self.random.random() < 0.5
        answer = self.pmd.cmd(command.format(value, "on" if value else "off"))
        assert "aught" not in answer and "ail" not in answer, answer
        setattr(default, name, value)

    def exchange(self):
        """Send packets; {number: [(queue, mark) of each copy]}, and the fields of each packet."""
        first = self.packets
        sent = [self.generator.packet(first + i) for i in range(PACKETS)]
        self.packets += PACKETS
        self.pmd.terminal.forget()
        self.peer.send(*[frame for frame, _ in sent])
        self.peer.send(*[frames.ether(bytes(46), 0x88B5, src=f"02:00:00:00:00:{queue:02x}")
                         for queue in range(QUEUES)])
        return [fields for _, fields in sent], self.received()

    def received(self):
        terminal, waiting = self.pmd.terminal, set(range(QUEUES))
        seen, queue, at = collections.defaultdict(list), None, 0
        line = re.compile(r"port 0/queue (\d+): received|  src=(\S+) ([^\n]*)\n  ol_flags: ([^\n]*)\n")
        while waiting:
            for match in line.finditer(terminal.text, at):
                at = match.end()
                if match.group(1):
                    queue = int(match.group(1))
                    continue
                source = number(match.group(2))
                if source >> 24 << 24 == SENTINEL:
                    waiting.remove(source & 0xFF)
                    continue
                seen[source & 0xFFFFFF].append((queue, self.mark(match.group(3), match.group(4))))
            if waiting and not terminal.read_some(PATIENCE):
                raise AssertionError("a sentinel did not arrive:\n" + terminal.text[-3000:])
        return seen

    @staticmethod
    def mark(text, flags):
        flags = set(flags.split())
        if "RTE_MBUF_F_RX_FDIR_ID" in flags:
            return int(re.search(r"FDIR matched ID=0x([0-9a-f]+)", text).group(1), 16)
        return "flag" if "RTE_MBUF_F_RX_FDIR" in flags else None

    def check(self):
        first = self.packets
        packets, seen = self.exchange()
        for which, fields in enumerate(packets, first):
            copying, ending = self.reference.outcome(fields)
            got = seen.pop(which, [])
            self.copies += len(got)
            # Linux's side of the bench takes its own MAC and every group.
            if not ending and (fields["eth.dst"] == number(MAC) or fields["eth.dst"] & GROUP):
                self.due.append(which)
            stacks = [copying + [last] for last in ending] or [copying]
            right = [stack for stack in stacks if agree(copies(stack, fields), got)]
            assert right, self.tell(which, fields, got)
            self.by_chance += right[0] is not stacks[0]
            for rule in right[0]:
                rule.hits += 1
            for rule in {stack[-1] for stack in right} if len(stacks) > 1 else ():
                rule.unsure += len(right) > 1
        assert not seen, f"nobody sent {seen}"

    def tell(self, which, fields, got):
        """The packet and all rules that match it, in their order."""
        lines = [f"packet {which} {fields}", f"got {got}"]
        for rule in self.reference.ordered:
            if rule.matches(fields):
                text = self.living[rule][1] if rule in self.living else vars(rule)
                lines.append(f"{rule.order()} {text}")
        return "\n".join(lines + [self.pmd.cmd("flow dump 0 all")])


# kind: (arguments, devargs, shapes at a time, batches, batches of a phase, rules made between batches, made in all)
KINDS = {
    "few": ("", None, 50, 50, 4, 150),
    "crowd": ("", 6, 30, 10, 40, 550),
    "few sniffing": (",sniff=rx", None, 50, 50, 4, 150),
    "crowd sniffing": (",sniff=rx", 6, 30, 10, 40, 600),
}


@pytest.mark.parametrize("kind", ["few", pytest.param("crowd", marks=pytest.mark.long),
                                  pytest.param("few sniffing", marks=pytest.mark.long), "crowd sniffing"])
@pytest.mark.parametrize("seed", range(int(os.environ.get("MDV_SEMANTICS_SEEDS", "1"))))
def test_random_rules(tmp_path, kind, seed):
    devargs, nb_shapes, batches, phase, births, least = KINDS[kind]
    batches, least = rounds(batches), rounds(least)
    generator = Generator(f"{kind} {seed}", nb_shapes)
    args = [f"--rx-offloads={RX_RSS_HASH:#x}", "--rxd=4096", "--total-num-mbufs=40000"]
    setup = [f"set sample_actions {i} queue index {i} / end" for i in range(QUEUES)]
    with Rig(tmp_path, args, queues=QUEUES, devargs=devargs, setup=setup, memory=256) as rig:
        life = Life(rig, generator, bool(devargs))
        for batch in range(batches):
            if batch % phase == phase - 1:
                generator.next_phase()
                life.destroy(0.9)
            life.destroy(0.2)
            for _ in range(births):
                life.create()
            if batch % 5 == 4:
                life.change_defaults()
            life.check()
        life.destroy(1)
        assert rig.pmd.stats()["RX-missed"] == 0
    recorded = [int.from_bytes(frame[9:12], "big") for frame in pcapfile.read(rig.record)
                if int.from_bytes(frame[6:12], "big") >> 24 << 24 != SENTINEL]
    assert sorted(recorded) == life.due
    print(f"{kind} {seed}: {life.packets} packets, {life.copies} copies, {life.made} rules,"
          f" {life.refused} refused, {life.by_chance} packets by chance")
    assert life.made >= least and life.packets == batches * PACKETS
    assert life.by_chance * 100 <= life.packets
