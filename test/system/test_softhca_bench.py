# SPDX-License-Identifier: BSD-3-Clause
"""devtools/bench softhca runs, and its ratios are of its rates. No rate is judged here."""
import json
import subprocess

import pytest
from harness import host, paths
from harness.patience import PATIENCE

BENCH = paths.ROOT / "devtools" / "bench"
RATIOS = {"of_memif": ("softhca", "memif"), "left": ("softhca_rules", "softhca"), "card_of_memif": ("card", "memif"),
          "crossing_of_memif": ("crossing", "memif"), "unix_of_loop": ("unix", "softhca")}
if host.why_no_tap() is None:
    RATIOS["tap_of_net_tap"] = ("tap", "net_tap")


@pytest.mark.long
def test_each_way_has_a_rate(tmp_path):
    """In one process, on a card, from process to process on one, through a memif, a socket's rings and TAPs."""
    done = subprocess.run([BENCH, "softhca", "--rounds", "2", "--seconds", "0.2", "--rules", "50", "--descriptors", "512", "--json", tmp_path / "json"],
                          stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
                          check=False)
    assert done.returncode == 0, done.stdout
    result = json.loads((tmp_path / "json").read_text(encoding="utf-8"))
    assert len(result["rounds"]) == 2 and result["descriptors"] == 512
    for row in result["rounds"]:
        assert all(row[over] > 0 and row[key] == row[over] / row[below] for key, (over, below) in RATIOS.items())
    for key, name, goal in ("card_of_memif", "card of memif", "1.0"), ("crossing_of_memif", "crossing of memif", "0.6"):
        middle = sum(row[key] for row in result["rounds"]) / 2
        assert f"median of 2: {name} {middle:.2f}, goal {goal}\n" in done.stdout, done.stdout


@pytest.mark.long
def test_rdma_beside_what_else_there_is(tmp_path):
    """RC beside TCP and beside raw frames, and what a frame costs."""
    done = subprocess.run([BENCH, "rdma", "--rounds", "1", "--messages", "100", "--instructions", "--json", tmp_path / "json"],
                          stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
                          check=False)
    assert done.returncode == 0, done.stdout
    result = json.loads((tmp_path / "json").read_text(encoding="utf-8"))
    row, = result["rounds"]
    for key, over, below in ("write_of_tcp", "write", "tcp"), ("send_of_raw", "send", "raw"):
        assert row[over] > 0 and row[key] == row[over] / row[below] == result["median"][key]
    assert "goal: at least 1.0, aim 3\n" in done.stdout and "goal: at most 2.0\n" in done.stdout, done.stdout
    cost = result["instructions"]
    # Each byte is copied and is in a checksum, of 16 bytes at a time or more.
    assert 100 < sum(cost["functions"].values()) <= cost["frame"] < 4000, done.stdout
