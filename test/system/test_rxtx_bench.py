# SPDX-License-Identifier: BSD-3-Clause
"""The bench of the burst functions measures both drivers. No figure is judged here."""
import json
import subprocess

import pytest
from harness import paths
from harness.patience import PATIENCE

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("tap_allowed")]


@pytest.mark.parametrize("only", ["rx offloads 64 B x8", "tx csum 64 B x8", "mbuf pool get x32",
                                  "scaling rx 4 queues 2 lcores", "scaling tx 4 queues 2 lcores"])
def test_both_drivers_are_measured(tmp_path, only):
    file = tmp_path / "bench.json"
    done = subprocess.run(
        [paths.ROOT / "devtools/bench", "rxtx", "--runs", "2", "--rounds", "3", "--only", only,
         "--instructions", "no", "--json", file], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout
    row, = json.loads(file.read_text())
    assert row["case"] == only and row["peer"] == "net_mlx5"
    assert row["ours"] > 0 and row["theirs"] > 0 and row["ratio"] > 0
    assert {"instructions_ours", "instructions_theirs"} <= row.keys()
    assert only in done.stdout
    # Without a driver, too, where it goes by packets and one lcore.
    assert ("bare" in row) == only.startswith(("rx", "tx")) and row.get("bare", 1) > 0
