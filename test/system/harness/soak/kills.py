# SPDX-License-Identifier: BSD-3-Clause
"""Programs that come and are killed beside those of a soak, which must not notice: devtools/campaign --kills."""
import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import time

from .. import card as cards
from .. import host, paths
from ..testpmd import eal_prefix, remove_runtime_dir
from . import books, cast, run
from .stage import Wrong

VICTIM = paths.BUILD / "test" / "verbs" / "verbs-victim"
SKIPPED = 77
KILLS_A_CYCLE = 20
AT_ONCE = 4
# What goes to the address that a victim has a rule for.
THEIRS = ("nobody", "ours-more", "intree-more")
RATE = 1000  # frames a second of the peer's


class Victim:
    """A program that makes and destroys objects, or sends and receives; killed at once, or once it is at that."""

    def __init__(self, stage, kind):
        self.kind, self.chance = kind, stage.chance
        self.file = stage.directory / f"victim-{time.monotonic_ns()}"
        self.process = self.launch(stage)

    def launch(self, stage):
        mode = "verbs" if self.kind == "start" else self.kind
        return subprocess.Popen(cards.on(stage.card, VICTIM, mode, self.file), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def at(self):
        """What it is at."""
        text = self.file.read_bytes() if self.file.exists() else b""
        names = text.rstrip(b"\0").split(b"\n")
        return names[text[-1]].decode() if len(names) > 1 else "start"

    def moment(self):
        """Wait for the moment to kill it."""
        while self.kind != "start" and self.at() == "start" and self.process.poll() is None:
            time.sleep(0.001)
        time.sleep(self.chance.uniform(0, 0.03))

    def kill(self):
        """What it was at."""
        self.moment()
        os.kill(self.process.pid, signal.SIGKILL)
        said = self.process.communicate()[1]
        if self.process.returncode != -signal.SIGKILL:
            raise Wrong(f"a program that was to be killed ended by itself, status {self.process.returncode}: {said}")
        at = self.at()
        self.file.unlink(missing_ok=True)
        return at


class VictimTestpmd(Victim):
    """testpmd with our driver, which sends from its start."""

    def launch(self, stage):
        self.prefix = eal_prefix()
        devargs, args = self.chance.choice(cast.WAYS)
        return subprocess.Popen(
            cards.on(stage.card, "dpdk-testpmd", "--lcores", "0@0,1@1", "--no-huge", "-m", "64", "--no-telemetry", "--no-pci",
                     "--file-prefix", self.prefix, "-d", paths.plugin()[0], "--vdev", f"net_mlx5dv0,ibdev=mlx5_0{devargs}", "--",
                     "--forward-mode=txonly", "--flow-isolate-all", "--total-num-mbufs=2048", *args),
            env=dict(os.environ, **paths.plugin()[1]), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)

    def moment(self):
        time.sleep(self.chance.uniform(0, 1.5))

    def at(self):
        return "testpmd"

    def kill(self):
        try:
            return super().kill()
        finally:
            remove_runtime_dir(self.prefix)


# How often each is chosen.
KINDS = (("start", Victim, 5), ("verbs", Victim, 9), ("burst", Victim, 5), ("testpmd", VictimTestpmd, 1))


class Kills(run.Soak):
    """A soak whose only events are programs killed at random moments."""

    def __init__(self, kills, seed, **kwargs):
        super().__init__(seed, ("kills", kills), rate=RATE, **kwargs)
        self.kills, self.at, self.dump = kills, collections.Counter(), None
        # Fewer than they have WQEs: who gets no CPU for a while loses none.
        self.stage.windows = {"ours": cast.DESCRIPTORS // 4, "intree": cast.DESCRIPTORS // 4}
        self.stage.strangers_take, self.stage.strangers_at_once = THEIRS, AT_ONCE

    def is_over(self):
        return self.at.total() >= self.kills

    def befall(self):
        stage = self.stage
        # None of these may be said to have lost or changed anything.
        self.dump = self.dump or self.rules()
        stage.tx_unknown = True
        end = min(self.kills, self.at.total() + KILLS_A_CYCLE)
        while self.at.total() < end:
            self.kill_some(min(stage.chance.randint(1, AT_ONCE), end - self.at.total()))
        if self.rules() != self.dump:
            raise Wrong(f"rules have changed:\n{self.rules()}\nat first:\n{self.dump}")

    def kill_some(self, count):
        kinds, makers, weights = zip(*KINDS)
        chosen = self.chance.choices(list(zip(kinds, makers)), weights, k=count)
        self.note(f"{', '.join(kind for kind, _ in chosen)} ...")
        with contextlib.ExitStack() as stack:
            victims = []
            for kind, maker in chosen:
                victims.append(maker(self.stage, kind))
                stack.enter_context(victims[-1].process)
                stack.callback(victims[-1].process.kill)
            self.chance.shuffle(victims)
            for victim in victims:
                at = victim.kill()
                self.at[at] += 1
                self.note(f"killed a program at: {at}")
        self.until_gone({victim.process.pid for victim in victims})

    def until_gone(self, pids):
        """Nothing of the killed is left on the card."""
        def contexts():
            port = json.loads(cards.softhca("ctl", "--on", self.stage.card, "stats", "--json").stdout)["ports"][0]
            return pids & {row["pid"] for row in port["contexts"] + port["queues"]}
        self.stage.until("the objects of killed programs to go", lambda: not contexts())

    def rules(self):
        """The dump of the card, without what moves."""
        return re.sub(r" packets:\d+ bytes:\d+", "", cards.softhca("ctl", "--on", self.stage.card, "dump").stdout)

    def book(self, cycle):
        """The others have lost nothing; each frame that came back has come back."""
        super().book(cycle)
        port = cycle.port
        # The sniffer has 64 buffers: whether they are enough is a matter of who gets the CPU, and what they do not hold is told.
        lost = {f"{program.name} found no WQE": program.no_wqe for program in cycle.programs if program.name != "sniffer"}
        lost.update({name: port[name] for name in ("rx_no_link", "tx_no_link", "rx_kernel_lost", "rx_errors", "tx_errors")})
        wrong = [f"{name}: {nb}" for name, nb in lost.items() if nb]
        sent, back = self.stage.next["sent"], self.stage.next["received"]
        for name in self.stage.windows:
            wrong += books.equal(f"frames for {name}, which sends them back, and those that came back", sent[name], back[name])
        wrong += books.equal("pings for Linux, and answers", sent["echo-request"], back["echo-reply"])
        for member in (self.stage.ours, self.stage.intree):
            said = member.program.stats()
            wrong += [f"{member.name} tells {name}: {said[name]}" for name in ("RX-errors", "RX-nombuf", "TX-errors") if said[name]]
        if wrong:
            raise Wrong("; ".join(wrong))

    def report(self):
        return dict(super().report(), kills=dict(sorted(self.at.items()), **{"in all": self.at.total()}))


def as_text(report):
    kills = "".join(f"  {name:<32} {nb}\n" for name, nb in report["kills"].items())
    return run.as_text(report) + f"programs killed, by what they were at\n{kills}"


def campaign(kills, seed):
    """Run one; the status that the program ends with."""
    why = host.why_no_tap() or host.why_no_netns()
    if why:
        print(f"no kills here: {why}")
        return SKIPPED
    print(f"seed {seed}", flush=True)
    some = Kills(kills, seed)
    noticed = not some.run()
    print(as_text(some.report()), end="")
    print(f"{some.at.total()} kills, " + ("somebody noticed" if noticed else "nobody noticed"), flush=True)
    return int(noticed)
