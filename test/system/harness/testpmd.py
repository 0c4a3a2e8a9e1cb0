# SPDX-License-Identifier: BSD-3-Clause
"""Debian's dpdk-testpmd on softhca with the driver, controlled at its prompt."""
import glob
import inspect
import itertools
import os
import re
import shutil
import time

from . import dpdk, mode, on_card, paths
from .patience import PATIENCE
from .terminal import Terminal

PROMPT = "testpmd> "
POLLERS = "(rte|dpdk)-worker"  # the lcores other than the main one
# Options for programs that err on purpose, or are made to; they override $SOFTHCA_OPTIONS.
NOT_STRICT = ("--strict=off",)
# Else testpmd has the kernel fill all memory that it might use. Tests of memory say --mlockall, which is its default.
NOT_LOCKED = "--no-mlockall"
_serial = itertools.count()


def eal_prefix():
    """A unique --file-prefix: several testpmd may run on this machine."""
    return f"mdv{os.getpid()}x{next(_serial)}"


def softhca_argv(ports, command, options=()):
    """softhca run OPTIONS --port P... -- COMMAND..., with the options of $SOFTHCA_OPTIONS, such as --strict.

    With SOFTHCA_ON_CARD=1 that is done on a card of softhca up.
    """
    argv = [on_card.__file__, paths.SOFTHCA] if on_card.is_wanted() and "--on" not in options else [paths.SOFTHCA, "run"]
    argv += [*os.environ.get("SOFTHCA_OPTIONS", "").split(), *options]
    for port in ports:
        argv += ["--port", port]
    return argv + ["--"] + list(command)


def lcore_args(lcores):
    """EAL arguments for `lcores`, "0,1".

    Each is on the CPU of its number. Of the tests that run side by side every second has the CPUs in reverse, so
    that not all poll on the same one.
    """
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2 == 0:
        return ["-l", lcores]
    last = os.cpu_count() - 1
    return ["--lcores", ",".join(f"{lcore}@{last - int(lcore)}" for lcore in lcores.split(","))]


def eal_args(prefix, vdevs, lcores="0,1", memory=256, telemetry=False, pci=("--no-pci",)):
    args = [*lcore_args(lcores), "--no-huge", "-m", str(memory), *pci,
            "--file-prefix", prefix, "-d", paths.plugin()[0]]
    if not telemetry:
        args.append("--no-telemetry")
    for vdev in vdevs:
        args += ["--vdev", mode.vdev(vdev)]
    return args


def mbufs_for(vdevs, args):
    """As many as the rings of two ports of a queue each hold; more where a test has other rings.

    Each is a page, or more, that the kernel must fill.
    """
    is_default = len(vdevs) <= 2 and not any(arg.startswith(("--rxq", "--txq", "--rxd", "--txd")) for arg in args)
    return 4096 if is_default else 8192


def default_vdevs(ports):
    return [f"net_mlx5dv{i},ibdev=mlx5_{i}" for i in range(len(ports))]


def remove_runtime_dir(prefix):
    for path in glob.glob(f"/var/run/dpdk/{prefix}"):
        shutil.rmtree(path, ignore_errors=True)


class Testpmd:
    """A running testpmd; use as a context manager. `banner` is its output before the first prompt."""

    __test__ = False

    def __init__(self, ports=("wire=loop",), args=(), vdevs=None, lcores="0,1", memory=128,
                 env=None, eal=(), telemetry=False, softhca_options=(), link_events=False, pci=("--no-pci",),
                 before=()):
        self.prefix = eal_prefix()
        vdevs = default_vdevs(ports) if vdevs is None else vdevs
        command = [*before, "dpdk-testpmd"] + eal_args(self.prefix, vdevs, lcores, memory, telemetry, pci)
        command += list(eal)
        # Without --no-flush-rx, testpmd's start discards the packets that its ports have received so far.
        command += ["--", "-i", f"--total-num-mbufs={mbufs_for(vdevs, args)}", NOT_LOCKED, "--no-flush-rx",
                    "--disable-link-check"]
        # Its reports of link changes could appear in the middle of a prompt.
        command += ([] if link_events else ["--no-lsc-interrupt"]) + mode.args(args)
        environment = dict(os.environ, **paths.plugin()[1], **(env or {}))
        self.terminal = Terminal(softhca_argv(ports, command, softhca_options), env=environment,
                                 prompt=PROMPT)
        self.banner = ""
        self.status = None

    def __enter__(self):
        try:
            self.banner = self._read_to_prompt(0)
            self.terminal.lower_priority(POLLERS)
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.quit()
        finally:
            self.kill()

    def _read_to_prompt(self, start):
        # Look for the first prompt, not at the end of the text: verbose mode may print packets at once.
        return self.terminal.expect(r"^(.*?)" + re.escape(PROMPT), start).group(1)

    def cmd(self, line):
        """Type one line; testpmd's answer, without the echo and the next prompt."""
        while self.terminal.read_some(0):
            pass
        start = len(self.terminal.text)
        self.terminal.send(dpdk.typed(line) + "\n")
        self.terminal.expect(r"\n", start)
        return self.terminal.expect(r"\n(.*?)" + re.escape(PROMPT), start).group(1)

    def load(self, file):
        """Type the lines of a file; testpmd's answers. Since DPDK 24.11 there is a prompt before each.

        Its last words are "Read CLI commands from", "Finished reading CLI commands from" since 25.11.
        """
        start = self.mark()
        self.terminal.send(f"load {file}\n")
        end = r"(?:Read|Finished reading) CLI commands from .*?" + re.escape(PROMPT)
        return self.terminal.expect(r"\n(.*?)" + end, start).group(1).replace(PROMPT, "")

    def quit(self):
        """Leave as a user does; it must end with status 0."""
        if self.status is None:
            self.terminal.send("quit\n")
            self.status = self.terminal.wait()
            assert self.status == 0, f"testpmd ended with {self.status}:\n{self.terminal.text[-3000:]}"

    def kill(self):
        self.terminal.close()
        remove_runtime_dir(self.prefix)

    # testpmd's output, as numbers.

    def mbufs_in_pool(self):
        text = self.cmd(f"{dpdk.DUMP_MEMPOOL} mb_pool_0")
        counts = [int(n) for n in re.findall(r"(?:cache_count\[\d+\]|common_pool_count)=(\d+)", text)]
        return sum(counts)

    def stats(self, port=0):
        """show port stats: {'RX-packets': n, ...}"""
        text = self.cmd(f"show port stats {port}")
        stats = {name: int(value) for name, value in re.findall(r"([RT]X-[a-z]+):\s+(\d+)", text)}
        assert "RX-packets" in stats, text
        return stats

    def xstats(self, port=0):
        text = self.cmd(f"show port xstats {port}")
        return {name: int(value) for name, value in re.findall(r"^(\w+): (\d+)\s*$", text, re.M)}

    def info(self, port=0):
        """show port info: {'MAC address': text, ...}; without the driver's dump, which newer releases add"""
        text = self.cmd(f"show port info {port}").split("Device private info", 1)[0]
        rows = re.findall(r"^\s*([A-Za-z][^:\n]*?)\s*:\s*(.+?)\s*$", text, re.M)
        assert rows, text
        return dict(rows)

    def stop(self):
        """stop forwarding: the accumulated forward statistics, {'RX-packets': n, ...}"""
        text = self.cmd("stop")
        part = text.split("Accumulated forward statistics", 1)
        assert len(part) == 2, text
        return {name: int(value)
                for name, value in re.findall(r"([RT]X-[a-z]+):\s+(\d+)", part[1])}

    def wait_stats(self, condition, port=0, quiet=PATIENCE):
        """Poll the port's statistics until `condition(stats)`; fails once they stand still."""
        last, since = None, time.monotonic()
        while True:
            stats = self.stats(port)
            if condition(stats):
                return stats
            if stats != last:
                last, since = stats, time.monotonic()
            elif time.monotonic() - since > quiet:
                known = {name: value for name, value in inspect.getclosurevars(condition).nonlocals.items() if isinstance(value, int)}
                raise AssertionError(f"statistics stand still at {stats}; the condition has {known}")
            time.sleep(0.1)

    def flow(self, text, port=0):
        """flow create; the rule's number, or a failure with testpmd's answer."""
        answer = self.cmd(f"flow create {port} {text}")
        match = re.search(r"Flow rule #(\d+) created", answer)
        assert match, f"flow create {port} {text}\n{answer}"
        return int(match.group(1))

    def refused_flow(self, text, port=0, verb="validate"):
        """A rule that must be refused: testpmd's report of the error."""
        answer = self.cmd(f"flow {verb} {port} {text}")
        assert "Caught PMD error type" in answer, f"flow {verb} {port} {text}\n{answer}"
        return answer

    def query_count(self, rule, port=0):
        """flow query ... count: (hits, bytes)"""
        text = self.cmd(f"flow query {port} {rule} count")
        hits = re.search(r"hits:\s*(\d+)", text)
        size = re.search(r"bytes:\s*(\d+)", text)
        assert hits and size, text
        return int(hits.group(1)), int(size.group(1))

    def received(self, start=0):
        """Received packets that `set verbose 1` has printed since offset `start`, as dictionaries."""
        return parse_verbose(self.terminal.text[start:])

    def show_received(self):
        """Receive and print every packet; returns the offset for wait_received()."""
        self.cmd("set fwd rxonly")
        # testpmd prints a burst through an 8 kB buffer: more than some 20 packets would be cut.
        self.cmd("set burst 8")
        self.cmd("set verbose 1")
        start = self.mark()
        self.cmd("start")
        return start

    def mark(self):
        """The present offset, for received()."""
        while self.terminal.read_some(0):
            pass
        return len(self.terminal.text)

    def wait_received(self, count, start, quiet=PATIENCE):
        """Read until `count` packets were printed since `start`, each with its flags, which are in a line of their own."""
        packets = self.received(start)
        while len(packets) < count or not packets[count - 1]["flags"]:
            if not self.terminal.read_some(quiet):
                raise AssertionError(f"{len(packets)} of {count} packets were shown:\n"
                                     + self.terminal.text[start:][-3000:])
            packets = self.received(start)
        while self.terminal.read_some(0.2):
            pass
        assert "INVALID mbuf" not in self.terminal.text[start:], self.terminal.text[start:][-3000:]
        return self.received(start)


def parse_verbose(text):
    """Packets as verbose mode prints them: queue, src, dst, length, nb_segs, hash, tci, mark, flags."""
    packets = []
    queue = None
    # An incomplete line is left for the next call.
    for line in text[:text.rfind("\n") + 1].splitlines():
        head = re.search(r"port \d+/queue (\d+): received", line)
        if head:
            queue = int(head.group(1))
        elif re.match(r"\s*src=", line) and queue is not None:
            packets.append({
                "queue": queue,
                "src": re.search(r"src=(\S+)", line).group(1).lower(),
                "dst": re.search(r"dst=(\S+)", line).group(1).lower(),
                "type": _number(r"type=0x([0-9a-f]+)", line, 16),
                "length": _number(r"\blength=(\d+)", line, 10),
                "nb_segs": _number(r"nb_segs=(\d+)", line, 10),
                "hash": _number(r"RSS hash=0x([0-9a-f]+)", line, 16),
                "mark": _number(r"FDIR matched ID=0x([0-9a-f]+)", line, 16),
                "tci": _number(r"VLAN tci=0x([0-9a-f]+)", line, 16),
                "hw_ptype": (re.search(r"hw ptype: ([A-Z0-9_ ]+?)\s+- sw", line) or [None, ""])[1],
                "flags": set(),
            })
        elif "ol_flags:" in line and packets:
            packets[-1]["flags"] = set(re.findall(r"RTE_MBUF_F_RX_(\w+)", line))
    return packets


def _number(pattern, line, base):
    match = re.search(pattern, line)
    return int(match.group(1), base) if match else None
