# SPDX-License-Identifier: BSD-3-Clause
"""A card with its cable, its netdev and the programs on it; a cycle's books."""
import contextlib
import os
import pathlib
import re
import tempfile
import time

from .. import card as cards
from .. import frames, host
from . import books, cast
from .held import Kept
from .peer import LINUX, Peer

SETTLE_S = 20  # counters that stand still for so long are what they are
WATCHED = ("ours", "intree", "linux", "ours-long", "echo-request", "echo-reply")


class Wrong(Exception):
    """Something does not add up."""


def contexts(card):
    return int(re.search(r"\bctx (\d+)", cards.run_on(card, "rdma", "resource", "show").stdout)[1])


class Stage:
    """Everything of a run; a context manager."""

    def __init__(self, chance, rate, up_options=(), preload=None, settle=SETTLE_S):  # pylint: disable=too-many-arguments
        self.chance, self.rate, self.up_options, self.preload, self.settle = chance, rate, up_options, preload, settle
        self.stack = contextlib.ExitStack()
        self.directory = self.card = self.keeper = self.namespace = self.peer = self.linux = None
        self.netdev = host.name("s")
        self.was_cut = False
        self.pings, self.passed, self.tx_unknown = 0, 0, False
        self.members, self.open_cycle = [], None
        # Classes of frames for programs that are killed and asked for nothing; of how many of them each gets a copy.
        self.strangers_take, self.strangers_at_once = (), 1
        self.windows = {}  # of the peer
        self.way = cast.WAYS[0]  # of ours
        self.last = self.next = None  # moments

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _build(self):
        self.directory = directory = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="soak")))
        self.namespace, why = cast.make_namespace(self.stack)
        if why:
            raise OSError(why)
        wire = directory / "wire"
        self.card = self.stack.enter_context(
            cards.up(f"wire=unix:{wire},mac={frames.PORT_MAC},kernel=tap:{self.netdev}", options=self.up_options,
                     env=dict(os.environ, LD_PRELOAD=str(self.preload)) if self.preload else None))
        self.keeper = cards.keeper_of(self.card)
        self.namespace.take(self.netdev, f"{LINUX}/24")
        self.peer = Peer(wire, self.chance, self.rate, self.windows)
        self.stack.callback(self.peer.close)
        self.linux = cast.Linux(self.namespace, self.netdev)
        self.stack.callback(self.linux.close)
        self.unused = self.base_holdings()
        self.ours, self.intree, self.sniffer = cast.Ours(self), cast.InTree(self), cast.Sniffer(self)
        if self.windows.get("intree"):
            self.intree.forward = self.ours.forward
        for member in (self.ours, self.intree, self.sniffer):
            self.members.append(member)
            self.stack.callback(lambda member=member: member.program and member.program.kill())
            member.start()

    def until(self, what, condition, seconds=SETTLE_S * 3):
        end = time.monotonic() + seconds
        while not condition():
            if self.peer.error:
                raise Wrong(f"the peer: {self.peer.error}")
            if time.monotonic() > end:
                raise Wrong(f"waited {seconds} s in vain for {what}")
            time.sleep(0.02)

    def wait_for_contexts(self):
        """Wait until the card has no contexts but those of the programs."""
        nb = sum(member.program is not None for member in self.members)
        self.until(f"{nb} contexts", lambda: contexts(self.card) == nb)

    def settle_program(self, member):
        """Wait until a program has counted what the card delivered to it."""
        def is_settled():
            now = member.now(None)
            return now["counted"] - member.counted_before == now["delivered"]
        self.until(f"{member.name} to have counted all", is_settled)

    def ping(self, count=5):
        self.pings += self.linux.ping(count)

    # The books.

    def moment(self):
        """All counters now."""
        port = cast.stats(self.card)
        return {"port": port, "members": {member.name: member.totals(port) for member in self.members},
                "alive": {member.name: member.alive() for member in self.members},
                "linux": self.linux.counters(), "sent": dict(self.peer.sent), "received": dict(self.peer.received),
                "doubled": self.peer.doubled, "pings": self.pings, "passed": self.passed}

    def begin(self):
        """A cycle begins here: with the numbers that closed the books of the one before. Between two readings Linux may
        have asked for an address."""
        while self.next is None:
            now = self.moment()
            if now == self.moment():
                self.next = now
        self.last, self.next = self.next, None
        for member in self.members:
            member.forget()
        self.was_cut = self.tx_unknown = False
        self.peer.forget()

    def cycle(self, now):
        last = self.last

        def sent(*kinds):
            return sum(now["sent"].get(kind, 0) - last["sent"].get(kind, 0) for kind in kinds)

        def received(*kinds):
            return sum(now["received"].get(kind, 0) - last["received"].get(kind, 0) for kind in kinds or now["received"])

        members = {name: {key: value - last["members"][name][key] for key, value in totals.items()}
                   for name, totals in now["members"].items()}
        wanted = {"ours": (("ours", "ours-long"), ("ours-more",)), "intree": (("intree",), ("intree-more",)),
                  "sniffer": (WATCHED, ("arp",))}
        programs = [books.Program(member.name, sent(*wanted[member.name][0]), sent(*wanted[member.name][1]),
                                  *(members[member.name][key] for key in ("delivered", "counted", "no_wqe", "too_long")),
                                  alive=now["alive"][member.name], was_killed=member.was_killed, was_away=member.was_away) for member in self.members]
        if self.strangers_take:
            taken = sent(*self.strangers_take)
            programs.append(books.Program("strangers", wanted=0, maybe=taken, delivered=0, counted=0, no_wqe=0, too_long=0,
                                          was_killed=True, copies=taken * (self.strangers_at_once - 1)))
        return books.Cycle(
            sent=sent(*now["sent"]), programs=programs, watched=sent(*WATCHED, "arp"), received=received(),
            port={name: value - last["port"][name] for name, value in now["port"].items() if isinstance(value, int)},
            doubled=now["doubled"] - last["doubled"], netdev_rx=now["linux"]["rx"] - last["linux"]["rx"],
            netdev_tx=now["linux"]["tx"] - last["linux"]["tx"], tx_unknown=self.tx_unknown or self.ours.was_killed,
            tx_programs=members["ours"]["sent"] + members["intree"]["sent"] + now["passed"] - last["passed"], linux_sent=sent("linux"),
            linux_counted=now["linux"]["counted"] - last["linux"]["counted"],
            linux_dropped=now["linux"]["dropped"] - last["linux"]["dropped"],
            pings=(now["pings"] - last["pings"], now["linux"]["echo_replies"] - last["linux"]["echo_replies"]),
            echoes=(received("echo-request"), sent("echo-reply")), was_cut=self.was_cut)

    def close_books(self):
        """Wait until all adds up; the cycle. Raises Wrong once counters stand still and do not."""
        before, since = None, time.monotonic()
        while True:
            if self.peer.error:
                raise Wrong(f"the peer: {self.peer.error!r}")
            now = self.moment()
            self.open_cycle = cycle = self.cycle(now)
            wrong = books.mistakes(cycle)
            if not wrong:
                self.next = now
                return cycle
            if now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > self.settle:
                raise Wrong("; ".join(wrong))
            time.sleep(0.1)

    def kept(self):
        return Kept(self.card, self.keeper, [member.program.pid() for member in self.members if member.program])

    def base_holdings(self):
        """The holdings when they have stopped changing: a connection's thread and its socket come and go one by one."""
        kept, nb_same = self.kept(), 0
        while nb_same < 5:
            time.sleep(0.1)
            before, kept = kept, self.kept()
            nb_same = 0 if kept.differences(before) else nb_same + 1
        return kept

    def close_holdings(self, base):
        """Wait until the keeper holds what it held at first; its holdings."""
        end = time.monotonic() + self.settle
        while True:
            kept = self.kept()
            wrong = kept.differences(base)
            if not wrong:
                return kept
            if time.monotonic() > end:
                raise Wrong("the keeper's " + "; ".join(wrong))
            time.sleep(0.1)
