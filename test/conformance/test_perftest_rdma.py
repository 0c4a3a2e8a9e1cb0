# SPDX-License-Identifier: BSD-3-Clause
"""perftest's programs of RC, UC and UD, unmodified: every message size and way to post, on every wire.

How fast is nobody's business here: both sides must end, with a row of every size that was asked for.
"""
import re

import pytest
from harness import places
from harness.both import run_both, two_ends

COMMON = ["-F", "-x", "1"]
RELIABLE = [("ib_send_bw", "-c", "RC"), ("ib_send_lat", "-c", "RC"), ("ib_write_bw", "-c", "RC"), ("ib_write_lat", "-c", "RC"),
            ("ib_read_bw",), ("ib_read_lat",)]
UNRELIABLE = [("ib_send_bw", "-c", "UC"), ("ib_send_lat", "-c", "UC"), ("ib_write_bw", "-c", "UC"), ("ib_write_lat", "-c", "UC"),
              ("ib_send_bw", "-c", "UD"), ("ib_send_lat", "-c", "UD")]
XRC = [("ib_send_bw", "-c", "XRC"), ("ib_write_bw", "-c", "XRC")]
# Messages of all sizes each way; for latencies the same messages go one by one, which the modes do, as they do other transports.
FEW = [("ib_send_bw", "-c", "RC"), ("ib_read_bw",)]
ON_ONE_CARD = ["atomics", "shared receive queues"]  # the other modes differ nowhere in how a message goes

# name: programs and their options, beside COMMON
MODES = {
    "events": [("ib_send_bw", "-e"), ("ib_send_lat", "-e"), ("ib_send_lat", "-e", "-c", "UD"),
               ("ib_send_lat", "-e", "-c", "UC"), ("ib_read_lat", "-e"), ("ib_read_bw", "-e", "-q", "2"),
               ("ib_atomic_bw", "-e")],
    "inline": [("ib_send_bw", "-I", "64", "-s", "64"), ("ib_write_bw", "-I", "200", "-s", "200"),
               ("ib_send_lat", "-I", "100", "-s", "100", "-c", "UD"), ("ib_write_lat", "-I", "1", "-s", "1"),
               ("ib_write_lat", "-c", "UC", "-I", "64", "-s", "33")],
    "queue pairs": [("ib_send_bw", "-q", "8"), ("ib_write_bw", "-q", "16", "-c", "UC"), ("ib_read_bw", "-q", "4"),
                    ("ib_send_bw", "-q", "4", "-c", "UD"), ("ib_atomic_bw", "-q", "3")],
    "both ways": [("ib_send_bw", "-b"), ("ib_write_bw", "-b", "-q", "4"), ("ib_read_bw", "-b"), ("ib_atomic_bw", "-b"),
                  ("ib_send_bw", "-b", "-c", "UC"), ("ib_write_bw", "-b", "-c", "UC"),
                  ("ib_send_bw", "-b", "-c", "UD", "-s", "512")],
    "atomics": [("ib_atomic_bw", "-A", "CMP_AND_SWAP"), ("ib_atomic_bw", "-A", "FETCH_AND_ADD", "-o", "1"),
                ("ib_atomic_lat", "-A", "CMP_AND_SWAP"), ("ib_atomic_lat", "-A", "FETCH_AND_ADD")],
    # Not -c UD with -q: the shared ring has buffers for one queue pair's messages, and the datagrams of the others are lost.
    "shared receive queues": [("ib_send_bw", "--use-srq"), ("ib_send_bw", "--use-srq", "-q", "4"), ("ib_send_lat", "--use-srq"),
                              ("ib_send_lat", "--use-srq", "-c", "UD"), ("ib_send_bw", "--use-srq", "-c", "UD")],
    "XRC": [("ib_send_bw", "-c", "XRC", "-q", "4"), ("ib_send_bw", "-c", "XRC", "-b"), ("ib_send_lat", "-c", "XRC"),
            ("ib_write_bw", "-c", "XRC"), ("ib_write_lat", "-c", "XRC"), ("ib_read_bw", "-c", "XRC"),
            ("ib_read_lat", "-c", "XRC"), ("ib_atomic_bw", "-c", "XRC"), ("ib_atomic_lat", "-c", "XRC")],
    "rings and MTUs": [("ib_send_bw", "-m", "256"), ("ib_write_bw", "-m", "4096", "-t", "16", "-Q", "1"),
                       ("ib_send_bw", "-r", "8", "-t", "4"), ("ib_read_bw", "-o", "1"), ("ib_write_bw", "-l", "5"),
                       ("ib_write_bw", "--use_old_post_send"), ("ib_send_bw", "-x", "0"), ("ib_write_bw", "--mr_per_qp",
                       "-q", "2"), ("ib_send_bw", "--recv_post_list=5"), ("ib_write_bw", "--reversed")],
}


# With -R, which takes none but RC and UD.
BY_CM = [("ib_send_bw",), ("ib_send_bw", "-c", "UD"), ("ib_send_bw", "-q", "4"), ("ib_send_bw", "-b"), ("ib_send_bw", "-e"),
         ("ib_send_bw", "--use-srq"), ("ib_send_bw", "-z"), ("ib_write_bw", "-q", "4"), ("ib_read_bw",), ("ib_atomic_bw",),
         ("ib_send_lat",), ("ib_send_lat", "-c", "UD"), ("ib_write_lat",), ("ib_read_lat",), ("ib_atomic_lat",)]


def sizes_of(text):
    """Of the rows of the report."""
    return [int(size) for size in re.findall(r"^ ?(\d+) +\d+ +[\d.]", text, re.M)]


def run(argv, iters, ends):
    """Both sides; the client's report."""
    both = run_both([*argv, *([] if "-x" in argv else COMMON[1:]), COMMON[0], "-n", str(iters)], ends)
    for who, status, text in both:
        assert status == 0, (argv, who, text)
    return both[0][2]


def all_sizes(argv, kind, tmp_path):
    """From 2 bytes to 8 MiB, or to the MTU for datagrams."""
    with two_ends(kind, tmp_path) as ends:
        wanted = [2 << n for n in range(12 if "UD" in argv else 23)]
        found = sizes_of(run([*argv, "-a"], 5, ends))
        assert found == [size for size in wanted if size <= found[-1]] and found[-1] >= (1024 if "UD" in argv else 8 << 20)


@pytest.mark.parametrize("kind", ["unix", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("one card", "pair"))])
@pytest.mark.parametrize("argv", [*FEW, *(pytest.param(argv, marks=pytest.mark.long) for argv in
                                          [*UNRELIABLE, *RELIABLE, *XRC] if argv not in FEW)], ids=" ".join)
def test_all_sizes(argv, kind, tmp_path):
    all_sizes(argv, kind, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("argv", [*RELIABLE, *XRC], ids=" ".join)
def test_all_sizes_over_a_bridge(argv, tmp_path):
    """A netdev drops what is too much for its queue: nobody sends what is unreliable again."""
    all_sizes(argv, "bridge", tmp_path)


@pytest.mark.parametrize("mode, kind", [
    pytest.param(mode, kind, marks=[] if (kind == "one card") == (mode in ON_ONE_CARD) else pytest.mark.long)
    for mode in MODES for kind in ("one card", "unix")])
def test_mode(mode, kind, tmp_path):
    with two_ends(kind, tmp_path) as ends:
        for argv in MODES[mode]:
            assert len(sizes_of(run(argv, 100, ends))) == 1, argv


@pytest.mark.parametrize("place", ["one host", pytest.param("bridge", marks=pytest.mark.long)])
def test_by_rdma_cm(place, tmp_path):
    with places.HOSTS[place](tmp_path) as (server, client):
        for argv in BY_CM:
            words = " ".join([*argv, "-R", "-F", "-n", "100", "-p", "PORT"])
            both = places.run_both((words, f"{words} ADDRESS"), server, client)
            assert all(status == 0 for _, status, _ in both) and len(sizes_of(both[0][2])) == 1, (argv, both)
