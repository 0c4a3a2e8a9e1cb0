# SPDX-License-Identifier: BSD-3-Clause
"""devtools/soak: a short run of it, and what it says when something does not add up."""
import dataclasses
import json
import os
import subprocess

import pytest
from harness import host, paths
from harness.soak import books, run

SOAK = paths.ROOT / "devtools" / "soak"
WHY_NOT = host.why_no_tap() or host.why_no_netns()
SETTLE_S = 4  # where something is wrong on purpose, and stays so
needs_netdevs = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


def soak(tmp_path, *arguments, **environment):
    """The completed process and its report."""
    done = subprocess.run([str(word) for word in (SOAK, "--json", tmp_path / "json", "--report", tmp_path / "text", *arguments)],
                          env=dict(os.environ, **environment), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=1200, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done, json.loads((tmp_path / "json").read_text(encoding="utf-8"))


@needs_netdevs
def test_a_short_run(tmp_path):
    """Two cycles; all frames are accounted for, and what was printed is in the file."""
    done, report = soak(tmp_path, "--cycles", 2, "--seed", 3)
    assert done.returncode == 0, done.stdout
    assert report["wrong"] is None and report["cycles"] == 2 and report["seed"] == 3
    assert sum(report["events"].values()) == 2 * run.EVENTS_A_CYCLE
    assert all(report["received"][name] > 0 for name in ("ours", "intree", "sniffer", "linux"))
    # Of the programs that were killed, too: each copy is with a program, or lost with one.
    assert report["events"]["killed"] > 0
    assert report["copies_delivered"] == (sum(report["received"][name] for name in ("ours", "intree", "sniffer"))
                                          + report["losses"]["queue of a killed process"])
    assert report["sent_in_all"] == sum(report["sent"].values()) == report["card"]["rx_frames"] + report["card"]["rx_no_link"]
    assert done.stdout == "seed 3\n" + (tmp_path / "text").read_text(encoding="utf-8")
    # No line of progress in a file.
    assert "\r" not in done.stdout and "all adds up" in done.stdout


@needs_netdevs
def test_frames_that_nobody_told_of(tmp_path):
    """A cable that loses frames, of which the card does not know."""
    faults = tmp_path / "faults"
    faults.write_text("wire loss every 100\n")
    done, report = soak(tmp_path, "--cycles", 1, "--seed", 3, "--settle", SETTLE_S, "--up=--faults", f"--up={faults}")
    assert done.returncode == 1, done.stdout
    assert report["wrong"].startswith("frames sent, and frames received by the card or lost without a link: ")
    assert f"WRONG: {report['wrong']}\n" in done.stdout and done.stdout.startswith("seed 3\n")
    assert report["last_events"][-1].endswith("the books are closed") and report["last_events"][-1] in done.stdout


# What the keeper forgets at each fourth of its answers to programs.
LEAKS = {
    "files": ("open(\"/dev/null\", O_RDONLY);", "the keeper's files: "),
    "threads": ("pthread_create(&(pthread_t){0}, 0, sleeps, 0);", "the keeper's threads: "),
    "memory": ("memset(malloc(1 << 16), 1, 1 << 16);", "the keeper's memory: "),
}
LEAKY = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
void *sleeps(void *arg) { pause(); return arg; }
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static int nb;
    if (++nb > 600 && nb %% 4 == 0) { %s }
    return syscall(SYS_sendmsg, fd, message, flags);
}
"""


@needs_netdevs
@pytest.mark.parametrize("kind", ["files", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("threads", "memory"))])
def test_a_leak(tmp_path, kind):
    """A keeper that does not give back."""
    forgets, said = LEAKS[kind]
    library = tmp_path / "leaky.so"
    (tmp_path / "leaky.c").write_text(LEAKY % forgets)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", library, tmp_path / "leaky.c"], check=True)
    done, report = soak(tmp_path, "--cycles", 20, "--warm", 1, "--seed", 3, "--settle", SETTLE_S, f"--keeper-preload={library}")
    assert done.returncode == 1 and report["wrong"].startswith(said), done.stdout


PORT = {name: 0 for name in ("rx_frames", "tx_frames", "rx_steered", "rx_kernel", "rx_kernel_lost", "rx_unwanted", "out_of_buffer",
                             "rx_errors", "tx_errors", "rx_no_link", "tx_no_link")}


def books_of(**changes):
    """Ten frames, of which the program got six, Linux two, nobody one, and one found no WQE; it sent six back."""
    port = dict(PORT, rx_frames=10, rx_steered=6, rx_kernel=2, rx_unwanted=1, out_of_buffer=1, tx_frames=6)
    port.update({name: changes.pop(name) for name in list(changes) if name in PORT})
    program = books.Program("ours", wanted=7, maybe=0, delivered=6, counted=6, no_wqe=1, too_long=0)
    program = dataclasses.replace(program, **changes.pop("program", {}))
    cycle = books.Cycle(sent=10, port=port, programs=[program], received=6, netdev_rx=2, tx_programs=6, linux_sent=2, linux_counted=2)
    return dataclasses.replace(cycle, **changes)


def test_books_that_add_up():
    assert books.mistakes(books_of()) == []
    assert books.losses(books_of())["no WQE"] == 1
    # Frames of a killed program are known to the card alone.
    assert books.mistakes(books_of(program={"delivered": 2, "counted": 0, "was_killed": True})) == []
    assert books.losses(books_of(program={"delivered": 2, "counted": 1, "was_killed": True}))["queue of a killed process"] == 5


@pytest.mark.parametrize("changes", [
    {"sent": 11}, {"rx_frames": 9}, {"rx_steered": 7}, {"rx_kernel": 1}, {"rx_kernel_lost": 1}, {"rx_unwanted": 0},
    {"out_of_buffer": 0}, {"rx_errors": 1}, {"rx_no_link": 1}, {"tx_errors": 1}, {"tx_no_link": 1}, {"tx_frames": 5},
    {"received": 5}, {"doubled": 1}, {"netdev_rx": 3}, {"netdev_tx": 1}, {"tx_programs": 7}, {"linux_counted": 1},
    {"linux_counted": 3}, {"pings": (2, 2), "echoes": (1, 2)}, {"pings": (2, 1), "echoes": (2, 2)},
    {"program": {"counted": 5}}, {"program": {"wanted": 8}}, {"program": {"wanted": 6}}, {"program": {"alive": (3, 2)}},
    {"program": {"delivered": 2, "was_killed": True}, "rx_steered": 1}, {"program": {"counted": 7, "was_killed": True}},
    {"program": {"wanted": 3, "delivered": 2, "was_killed": True}}], ids=str)
def test_books_that_do_not(changes):
    """Each number is looked at."""
    assert books.mistakes(books_of(**changes)) != []
