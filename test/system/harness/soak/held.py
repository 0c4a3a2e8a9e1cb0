# SPDX-License-Identifier: BSD-3-Clause
"""What the keeper of a card holds: descriptors, mappings, threads, memory, objects."""
import contextlib
import json
import os
import pathlib
import re

from .. import card as cards


def links_of(pid):
    """What the descriptors of a process are: (name, inode)."""
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            yield os.readlink(entry.path), os.stat(entry.path).st_ino


def files_mapped(pid):
    """The files of memory that a process has mapped: an inode a mapping."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        return [int(line.split()[4]) for line in file if "/memfd:" in line]


class Kept:
    """A moment's holdings of a process and a card."""

    FLAT = ("files", "mappings", "threads", "objects", "rules", "queues", "stale")

    def __init__(self, card, keeper, programs=()):
        nodes = list(links_of(keeper))
        links = [name for name, _ in nodes if not name.startswith("/memfd:")]
        # How many files a program's memory is depends on where Linux has put it; but it is a program's that lives.
        memory = {inode for name, inode in nodes if name.startswith("/memfd:")} | set(files_mapped(keeper))
        alive = {inode for pid in programs for inode in files_mapped(pid)}
        self.memory_files, self.stale = len(memory), len(memory - alive)
        # A program has a connection a thread that has asked: each is a socket and a thread of the keeper.
        self.sockets = sum(link.startswith("socket:") for link in links)
        self.files = len(links) - self.sockets
        maps = pathlib.Path(f"/proc/{keeper}/maps").read_text(encoding="ascii")
        self.mappings = sum("/dev/" in line for line in maps.splitlines())
        self.threads = len(os.listdir(f"/proc/{keeper}/task")) - self.sockets
        status = pathlib.Path(f"/proc/{keeper}/status").read_text(encoding="ascii")
        self.anonymous_kib = int(re.search(r"RssAnon:\s+(\d+)", status)[1])
        self.rss_kib = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        text = cards.run_on(card, "rdma", "resource", "show").stdout
        self.objects = {kind: int(nb) for kind, nb in re.findall(r"(pd|cq|qp|mr|ctx) (\d+)", text)}
        self.rules = len(re.findall(r"FTE: 0x", cards.softhca("ctl", "--on", card, "dump").stdout))
        port = json.loads(cards.softhca("ctl", "--on", card, "stats", "--json").stdout)["ports"][0]
        self.queues = {"queues": len(port["queues"]), "tirs": port["tirs"], "rqts": port["rqts"]}

    def differences(self, base):
        """What differs from the base state, one sentence each."""
        return [f"{name}: {getattr(self, name)}, at first {getattr(base, name)}" for name in self.FLAT
                if getattr(self, name) != getattr(base, name)]

    def as_dict(self):
        return dict(vars(self))
