# SPDX-License-Identifier: BSD-3-Clause
"""Cycles of events and books until the time is over, and the report."""
import collections
import dataclasses
import json
import random
import statistics
import sys
import time

from . import books, cast, events
from .stage import SETTLE_S, Stage, Wrong

WARM_CYCLES = 10          # unless told otherwise: in which the keeper's heap grows to what it needs
SLACK_KIB = 1024          # of its memory at the base state, beyond what it was after these
EVENTS_A_CYCLE = 8
TOLD_EVENTS = 20


class Soak:
    """One run."""

    def __init__(self, seed, limit, rate=2000, up_options=(), warm=WARM_CYCLES, preload=None, settle=SETTLE_S):
        self.seed, self.limit, self.warm = seed, limit, warm
        self.chance = random.Random(seed)
        self.stage = Stage(random.Random(seed + 1), rate, up_options, preload, settle)
        self.stage.way = cast.WAYS[seed % len(cast.WAYS)]
        self.events, self.counts = collections.deque(maxlen=TOLD_EVENTS), collections.Counter()
        self.sent, self.received, self.losses = collections.Counter(), collections.Counter(), collections.Counter()
        self.port, self.no_wqe, self.cycles = collections.Counter(), collections.Counter(), 0
        self.kept, self.wrong = [], None
        self.begun = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.begun

    def is_over(self):
        kind, most = self.limit
        return self.cycles >= most if kind == "cycles" else self.seconds() >= most

    def note(self, text):
        self.events.append(f"{self.seconds():9.2f} s  cycle {self.cycles + 1}: {text}")
        if sys.stdout.isatty():
            print(f"\r\x1b[K{self.events[-1]}"[:120], end="", flush=True)

    def run(self):
        """True if all adds up to the end."""
        try:
            with self.stage as stage:
                base = stage.base_holdings()
                while not self.is_over():
                    self.cycle(base)
                self.note("all programs end")
                self.end()
        except Exception as error:  # pylint: disable=broad-except; whatever goes wrong is told with the seed
            self.wrong = str(error) if isinstance(error, (Wrong, AssertionError)) else repr(error)
        except KeyboardInterrupt:
            self.note("interrupted")
        if sys.stdout.isatty():
            print("\r\x1b[K", end="")
        return self.wrong is None

    def cycle(self, base):
        stage = self.stage
        stage.begin()
        stage.peer.start()
        self.befall()
        events.base_state(stage)
        stage.peer.pause()
        self.note("the books are closed")
        cycle = stage.close_books()
        kept = stage.close_holdings(base)
        self.book(cycle)
        self.kept.append(kept)
        self.cycles += 1
        self.watch_memory()

    def befall(self):
        """The events of a cycle."""
        for event in events.choose(self.chance, EVENTS_A_CYCLE):
            self.note(f"{event.__name__} ...")
            told = event(self.stage)
            self.counts[event.__name__] += 1
            self.events.pop()
            self.note(told)
            time.sleep(self.chance.uniform(0, 0.2))

    def book(self, cycle):
        sent = collections.Counter(self.stage.next["sent"])
        sent.subtract(self.stage.last["sent"])
        self.sent.update(sent)
        self.port.update(cycle.port)
        self.no_wqe.update({program.name: program.no_wqe for program in cycle.programs})
        self.received.update({program.name: program.counted for program in cycle.programs})
        self.received.update({"linux": cycle.linux_counted, "ping": cycle.pings[1]})
        self.losses.update(books.losses(cycle))

    def watch_memory(self):
        warm = max((kept.anonymous_kib for kept in self.kept[:self.warm]), default=0)
        last = self.kept[-1].anonymous_kib
        if self.cycles > self.warm and last > warm + SLACK_KIB:
            raise Wrong(f"the keeper's memory: {last} KiB at the base state, {warm} KiB after {self.warm} cycles")

    def end(self):
        """Without programs the keeper holds what it held before them."""
        for member in self.stage.members:
            member.program.kill()
            member.program = None
        self.stage.wait_for_contexts()
        self.stage.close_holdings(self.stage.unused)

    def growth(self):
        """KiB an hour, by the line through the memory at each cycle's end."""
        if len(self.kept) <= self.warm + 2:
            return None
        memory = [kept.anonymous_kib for kept in self.kept[self.warm:]]
        slope = statistics.linear_regression(range(len(memory)), memory).slope
        return round(slope * self.cycles / self.seconds() * 3600, 1)

    def report(self):
        first, last = (self.kept[0].as_dict(), self.kept[-1].as_dict()) if self.kept else ({}, {})
        return {
            "seed": self.seed, "seconds": round(self.seconds(), 1), "cycles": self.cycles, "wrong": self.wrong,
            "events": dict(sorted(self.counts.items())), "sent": dict(sorted(self.sent.items())),
            "sent_in_all": sum(self.sent.values()), "received": dict(self.received), "copies_delivered": self.port["rx_steered"],
            "card": {name: nb for name, nb in self.port.items() if name.startswith(("rx_", "tx_", "out_"))},
            "losses": dict(self.losses), "no_wqe": dict(self.no_wqe), "keeper_first": first, "keeper_last": last,
            "keeper_anonymous_kib": {"least": min((k.anonymous_kib for k in self.kept), default=None),
                                     "most": max((k.anonymous_kib for k in self.kept), default=None),
                                     "growth_an_hour": self.growth()},
            "last_cycle": dataclasses.asdict(self.stage.open_cycle) if self.stage.open_cycle else {},
            "last_events": list(self.events)}


def as_text(report):
    lines = [f"seed {report['seed']}: {report['cycles']} cycles in {report['seconds']} s, "
             + ("all adds up" if report["wrong"] is None else "something does not add up")]

    def rows(title, counts):
        lines.append(title)
        lines.extend(f"  {name:<32} {'' if count is None else count}" for name, count in counts.items())

    rows("events", report["events"])
    rows("frames that the peer sent", dict(report["sent"], **{"in all": report["sent_in_all"]}))
    rows("frames that programs counted", report["received"])
    rows("frames that no program counted, by cause", report["losses"])
    rows("of those without a WQE, by program, but for lives that ended by SIGKILL before they were asked", report["no_wqe"])
    rows("the card", report["card"])
    rows("the keeper at the end of the first cycle", report["keeper_first"])
    rows("the keeper at the end of the last cycle", report["keeper_last"])
    rows("the keeper's anonymous memory at each cycle's end, KiB", report["keeper_anonymous_kib"])
    if report["wrong"] is not None:
        rows("counters of the last cycle", report["last_cycle"])
        lines += [f"WRONG: {report['wrong']}", "the last events:", *(f"  {event}" for event in report["last_events"])]
    return "\n".join(lines) + "\n"


def write(report, text_path, json_path):
    if text_path:
        with open(text_path, "w", encoding="utf-8") as file:
            file.write(as_text(report))
    if json_path:
        with open(json_path, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
