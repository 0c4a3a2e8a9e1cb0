# SPDX-License-Identifier: BSD-3-Clause
"""The programs on the card: ours, the in-tree driver, a sniffer, and Linux."""
import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import threading

from .. import card as cards
from .. import frames, host, paths
from ..dpdk import INTREE_DEVARGS
from ..patience import PATIENCE
from ..terminal import Terminal
from ..testpmd import PROMPT, Testpmd, eal_prefix
from .peer import CLASSES, LINUX, PEER

SNIFFER = paths.BUILD / "app" / "examples" / "raw-dont-trap"
DESCRIPTORS = 1024
# Devargs and arguments of a testpmd with our driver: as most are, or one that splits long packets, and copies short ones
# into WQEs. A run has one, as they hold unlike numbers of objects.
WAYS = (("", ()),
        (",tx_inline=204", ("--mbuf-size=512,2176", "--rxpkts=128,0", "--rx-offloads=0x100000", "--tx-offloads=0x8000")))
SO_RCVBUFFORCE = 33  # asm-generic/socket.h


def stats(card):
    return json.loads(cards.softhca("ctl", "--on", card, "stats", "--json").stdout)["ports"][0]


class Queues:
    """The receive queues of one life of a program, which nobody else makes meanwhile."""

    def __init__(self, card):
        self.card = card
        self.before = set(self._rows())
        self.numbers = set()
        self.last = {"packets": 0, "out_of_buffer": 0, "errors": 0}

    def _rows(self):
        return {row["number"]: row for row in stats(self.card)["queues"] if row["kind"] == "RQ"}

    def are_made(self):
        self.numbers = set(self._rows()) - self.before
        return self.counts()

    def counts(self, port=None):
        """What the card knows of them; of queues that are gone what it knew last."""
        rows = self._rows() if port is None else {row["number"]: row for row in port["queues"] if row["kind"] == "RQ"}
        mine = [rows[number] for number in self.numbers if number in rows]
        if mine:
            self.last = {name: max(self.last[name], sum(row[name] for row in mine)) for name in self.last}
        return self.last


class SoakedTestpmd(Testpmd):
    """A testpmd in the namespace of the card's netdev, with rules of its own and nothing else."""

    def __init__(self, card, namespace, eal, lcores, rules, args=()):
        self.prefix = eal_prefix()
        command = ["ip", "netns", "exec", namespace.name, "dpdk-testpmd", "--lcores", lcores, "--no-huge", "-m", "128",
                   "--no-telemetry", "--file-prefix", self.prefix, *eal, "--", "-i", "--total-num-mbufs=8192",
                   "--no-flush-rx", "--disable-link-check", "--no-lsc-interrupt", "--flow-isolate-all",
                   f"--rxd={DESCRIPTORS}", f"--txd={DESCRIPTORS}", *args]
        self.terminal = Terminal(cards.on(card, *command), env=dict(os.environ, **paths.plugin()[1]), prompt=PROMPT)
        self.banner, self.status, self.rules = "", None, rules

    def pid(self):
        """run --on becomes its command."""
        return self.terminal.process.pid


def udp_rule(kind):
    return f"ingress pattern eth / ipv4 / udp dst is {CLASSES[kind][0]} / end actions count / queue index 0 / end"


class Member:
    """A program that may be stopped, killed and started again. Counts are of all its lives; a killed one's own are those that it told last."""

    name = None

    def __init__(self, stage):
        self.stage, self.program, self.queues = stage, None, None
        self.was_killed = self.was_away = False
        self.latest, self.counted_before = {}, 0
        self.past = {"counted": 0, "delivered": 0, "no_wqe": 0, "too_long": 0, "sent": 0}

    def start(self):
        # Numbers of queues that are about to go would be taken for old ones.
        self.stage.wait_for_contexts()
        self.queues = Queues(self.stage.card)
        self.program = self.launch()
        self.queues.are_made()

    def now(self, port):
        """Counts of this life, by the card and by itself."""
        row = self.queues.counts(port)
        return dict(delivered=row["packets"], no_wqe=row["out_of_buffer"], too_long=row["errors"], **self.counts())

    def counts(self):
        raise NotImplementedError

    def launch(self):
        raise NotImplementedError

    def alive(self):
        """Of this life, at the last totals(): delivered by the card, counted by itself."""
        return self.latest.get("delivered", 0), self.latest.get("counted", 0) - self.counted_before

    def totals(self, port):
        self.latest = now = self.now(port) if self.program else {}
        return {name: past + now.get(name, 0) for name, past in self.past.items()}

    def _bury(self, known):
        for name in self.past:
            self.past[name] += known.get(name, 0)
        self.program = None
        self.was_away = True
        self.latest, self.counted_before = {}, 0

    def kill(self):
        """SIGKILL at any moment: what the card and the program told last is a part of the truth."""
        row = self.queues.counts()
        os.kill(self.program.pid(), signal.SIGKILL)
        self.program.kill()
        self._bury({"delivered": row["packets"], "no_wqe": row["out_of_buffer"], "too_long": row["errors"],
                    "counted": self.latest.get("counted", 0), "sent": self.latest.get("sent", 0)})
        self.was_killed = True

    def forget(self):
        self.was_killed = self.was_away = False


class Forwarder(Member):
    """testpmd"""

    forward = "rxonly"
    kinds = ()
    args = ()

    def eal(self):
        raise NotImplementedError

    def launch(self):
        testpmd = SoakedTestpmd(self.stage.card, self.stage.namespace, self.eal(), self.lcores, {}, self.args)
        testpmd.__enter__()
        testpmd.cmd(f"set fwd {self.forward}")
        testpmd.cmd("start")
        testpmd.rules[self.name] = testpmd.flow(udp_rule(self.name))
        return testpmd

    def counts(self):
        said = self.program.stats()
        return {"counted": said["RX-packets"], "sent": said["TX-packets"]}

    def more(self, is_wanted):
        """A rule more or less."""
        kind, rules = f"{self.name}-more", self.program.rules
        if is_wanted and kind not in rules:
            rules[kind] = self.program.flow(udp_rule(kind))
        elif not is_wanted and kind in rules:
            answer = self.program.cmd(f"flow destroy 0 rule {rules.pop(kind)}")
            assert "destroyed" in answer, answer

    def stall(self, seconds_of):
        """Stand still while `seconds_of` runs."""
        os.kill(self.program.pid(), signal.SIGSTOP)
        try:
            seconds_of()
        finally:
            os.kill(self.program.pid(), signal.SIGCONT)

    def _drain(self):
        """Its rules go first, so that it counts all that it got; its counts."""
        self.program.cmd("flow flush 0")
        self.program.rules.clear()
        self.stage.settle_program(self)
        self.program.cmd("stop")
        return self.now(None)

    def restart(self):
        """An orderly end, and a new life."""
        known = self._drain()
        self.program.quit()
        self._bury(known)
        self.start()

    def set_mtu(self, mtu):
        """Stop and start the port, which has new queues then."""
        known = self._drain()
        for name in ("delivered", "no_wqe", "too_long"):
            self.past[name] += known[name]
        self.was_away = True
        self.counted_before = known["counted"]
        self.program.cmd("port stop 0")
        self.queues = Queues(self.stage.card)
        answer = self.program.cmd(f"port config mtu 0 {mtu}")
        assert "rror" not in answer and "ailed" not in answer, answer
        self.program.cmd("port start 0")
        self.program.cmd("start")
        self.program.rules[self.name] = self.program.flow(udp_rule(self.name))
        self.queues.are_made()


class Ours(Forwarder):
    name, lcores, forward = "ours", "0@0,1@1", "macswap"

    def __init__(self, stage):
        super().__init__(stage)
        self.devargs, self.args = stage.way

    def eal(self):
        return ["--no-pci", "-d", paths.plugin()[0], "--vdev", f"net_mlx5dv0,ibdev=mlx5_0{self.devargs}"]


class InTree(Forwarder):
    name, lcores = "intree", "0@1,1@0"

    def eal(self):
        return ["-a", ",".join(filter(None, ["5ca0:00:00.0", "dv_flow_en=0", INTREE_DEVARGS]))]


class SnifferProgram:
    """Prints a line for each frame, which a thread counts."""

    def __init__(self, card):
        self.terminal = Terminal(cards.on(card, SNIFFER, "mlx5_0", frames.PORT_MAC, 4000000000))
        self.counted, self.rest = 0, ""
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self):
        last = 0
        while not self._ends.is_set() and not self.terminal.ended:
            self.terminal.read_some(0.2)
            text, self.terminal.text = self.terminal.text, ""
            lines = (self.rest + text).split("\n")
            self.rest = lines.pop()
            for line in lines:
                match = re.match(r"frame (\d+): ", line)
                if match and int(match[1]) == last + 1:
                    last = self.counted = last + 1

    def pid(self):
        return self.terminal.process.pid

    def kill(self):
        self._ends.set()
        self._thread.join()
        self.terminal.close()


class Sniffer(Member):
    name = "sniffer"

    def launch(self):
        before = cards.softhca("ctl", "--on", self.stage.card, "dump").stdout.count("FT:next")
        program = SnifferProgram(self.stage.card)
        self.stage.until("the sniffer's rule", lambda: cards.softhca("ctl", "--on", self.stage.card, "dump").stdout.count("FT:next") > before)
        return program

    def counts(self):
        return {"counted": self.program.counted}


class Linux:
    """A program of Linux's on the card's netdev: its counters and those of the netdev."""

    def __init__(self, namespace, netdev):
        self.namespace, self.netdev = namespace, netdev
        with namespace.entered():
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        self.socket.bind((LINUX, CLASSES["linux"][0]))
        self.counted, self.error = 0, None
        self._ends = False
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self):
        while not self._ends:
            if select.select([self.socket], [], [], 0.2)[0]:
                self.socket.recv(2048)
                self.counted += 1

    def close(self):
        self._ends = True
        self._thread.join()
        self.socket.close()

    def counters(self):
        counters = json.loads(self.namespace.run("ip", "-s", "-s", "-j", "link", "show", "dev", self.netdev))[0]["stats64"]
        with self.namespace.entered(), open("/proc/thread-self/net/snmp", encoding="ascii") as file:
            rows = [line.split() for line in file]
        snmp = {names[0] + name: int(value) for names, values in zip(rows[::2], rows[1::2])
                for name, value in zip(names[1:], values[1:])}
        return {"rx": counters["rx"]["packets"], "tx": counters["tx"]["packets"], "counted": self.counted,
                "dropped": snmp["Udp:RcvbufErrors"], "echo_replies": snmp["Icmp:InEchoReps"]}

    def ping(self, count):
        """How many were sent. It does not wait for the last answers when others came quicker: counters() tells them all."""
        text = self.namespace.run("ping", "-n", "-q", "-c", count, "-i", "0.01", "-W", "10", PEER, check=False)
        match = re.search(r"(\d+) packets transmitted, (\d+) received", text)
        assert match, text
        return int(match[1])


def make_namespace(stack):
    """A namespace; None and why if that is impossible here."""
    why = host.why_no_tap() or host.why_no_netns()
    return (None, why) if why else (stack.enter_context(host.Namespace()), None)


@contextlib.contextmanager
def passing(card, *command):
    """A program that comes and is killed."""
    with subprocess.Popen(cards.on(card, *command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            yield program
        finally:
            program.kill()
            program.wait(PATIENCE)
