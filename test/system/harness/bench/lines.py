# SPDX-License-Identifier: BSD-3-Clause
"""Distinct cache lines a packet, by what they belong to, from the steps that rxtx-bench --trace writes down.

A line counts once a burst. Stack, code and what belongs to the thread do not count, nor do prefetches: what is
prefetched and never used is a figure of its own, over the whole round.
"""
import bisect
import collections
import json
import re
import struct

from . import access

LINE = 64
STEP = struct.Struct(f"<{len(access.REGISTERS)}Q{access.SLOT}s")
RIP = access.REGISTERS.index("rip")
# What lines belong to, in the order of the tables. `queue` is what the driver keeps for itself, `ring` what the device
# reads and writes, `library` constants and variables of libraries, `caller` the application's array of packets.
KINDS = ("mbuf 0", "mbuf 1", "payload", "ring", "doorbell", "queue", "pool", "library", "caller")


class Places:
    """Where what is in memory."""

    def __init__(self):
        self._ranges = []  # (start, end, kind), searched in this order
        self._objects, self._object_bytes = [], 0

    def add(self, kind, start, nb):
        """Each line that begins or ends in these bytes."""
        self._ranges.append((start // LINE * LINE, start + nb, kind))

    def add_mbufs(self, objects, nb):
        self._objects = sorted([*self._objects, *objects])
        self._object_bytes = max(self._object_bytes, nb)

    def kind(self, address):
        """One of KINDS, or None: it does not count."""
        at = bisect.bisect_right(self._objects, address) - 1
        if at >= 0 and address - self._objects[at] < self._object_bytes:
            line = (address - self._objects[at]) // LINE
            return ("mbuf 0", "mbuf 1")[line] if line < 2 else "payload"
        return next((kind for start, end, kind in self._ranges if start <= address < end), "queue")


# Of paths in /proc/self/maps.
MAPS = [(r"\[stack\]", None), (r".*/rxtx-bench", "caller"), (r".*\.so[.\d]*", "library"), (r".*softhca.*", "doorbell")]


def _add_maps(places, maps):
    """/proc/self/maps; memory without a name that begins where a file ends has the rest of its variables."""
    before = None, None
    for line in maps:
        start, end, path = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ *(.*)", line).groups()
        if path == "" and start == before[0]:
            path = before[1]
        before = end, path
        for pattern, kind in MAPS:
            if re.fullmatch(pattern, path):
                places.add(kind, int(start, 16), int(end, 16) - int(start, 16))
                break


def _add_device(places, text):
    """What `softhca ctl stats --json` says of queues."""
    for port in json.loads(text)["ports"]:
        for queue in port["queues"]:
            places.add("ring", queue["ring"], queue["ring_bytes"])
            places.add("doorbell", queue["record"], 8)


class Trace:
    """A file of rxtx-bench --trace."""

    def __init__(self, file):
        self.places = Places()
        device, maps = "", []
        for line in iter(lambda: file.readline().decode().rstrip("\n"), ""):
            key, _, rest = line.partition(" ")
            if key == "steps":
                self._steps = file.read(int(rest) * STEP.size)
                break
            if key == "case":
                self.case = rest
            elif key == "port":
                self.port, self.driver = int(rest.split()[0]), rest.split()[1]
            elif key == "packets":
                self.nb_packets = int(rest)
            elif key == "bursts":
                self.bursts = [int(word) for word in rest.split()]
            elif key == "range":
                kind, start, nb = rest.split()
                self.places.add(kind, int(start, 16), int(nb, 16))
            elif key == "mbufs":
                nb, *objects = (int(word, 16) for word in rest.split())
                self.places.add_mbufs(objects, nb)
            elif key == "map":
                maps.append(rest)
            elif key == "device":
                device += rest
        if device:
            _add_device(self.places, device)
        _add_maps(self.places, maps)

    def accesses(self):
        """For each burst [(address, bytes, access.READ | WRITE | PREFETCH)]."""
        steps = list(STEP.iter_unpack(self._steps))
        known = access.decode({step[-1] for step in steps})
        ends = [*self.bursts[1:], len(steps)]
        for first, end in zip(self.bursts, ends):
            burst = []
            for step in steps[first:end]:
                length, operands = known[step[-1]]
                for registers, displacement, nb, how in operands:
                    address = displacement + sum(step[number] * factor for number, factor in registers)
                    # rip is that of the next instruction.
                    address += length * sum(factor for number, factor in registers if number == RIP)
                    burst.append((address % 2**64, nb, how))
            yield burst


def count(bursts, places):
    """({kind: [lines read, lines written, lines in all]}, lines prefetched and not used) of all bursts."""
    lines = collections.defaultdict(lambda: [0, 0, 0])
    used, prefetched = set(), set()
    for burst in bursts:
        hows = collections.defaultdict(int)
        for address, nb, how in burst:
            for line in range(address // LINE, (address + nb - 1) // LINE + 1):
                hows[line] |= how
        for line, how in hows.items():
            if how & access.PREFETCH:
                prefetched.add(line)
            if not how & (access.READ | access.WRITE):
                continue
            used.add(line)
            kind = places.kind(line * LINE)
            if kind:
                for number, wanted in enumerate((access.READ, access.WRITE, access.READ | access.WRITE)):
                    lines[kind][number] += how & wanted != 0
    return dict(lines), len([line for line in prefetched - used])


def table(path):
    """{"case", "port", "driver", kinds: [read, written, all] a packet, "unused": prefetched for nothing}"""
    with open(path, "rb") as file:
        trace = Trace(file)
    lines, unused = count(trace.accesses(), trace.places)
    return {"case": trace.case, "port": trace.port, "driver": trace.driver,
            "lines": {kind: [nb / trace.nb_packets for nb in lines.get(kind, (0, 0, 0))] for kind in KINDS},
            "unused": unused / trace.nb_packets}
