# SPDX-License-Identifier: BSD-3-Clause
"""Many rules, fast: DPDK's own dpdk-test-flow-perf, and the bench that compares. No rate is judged here."""
import json
import re
import subprocess

import pytest
from harness import paths
from harness.patience import PATIENCE

BENCH = paths.ROOT / "devtools/bench"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "bench-flow.json"
    done = subprocess.run(
        [BENCH, "flow", "--rules", "500,2000", "--rounds", "1", "--json", path], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout
    return json.loads(path.read_text())


@pytest.mark.long
def test_bench_compares_rte_flow_with_verbs(result):
    assert set(result["rules"]) == {"500", "2000"}
    for row in result["rules"].values():
        assert min(row["verbs"] + row["rte_flow"] + row["async"] + row["faster"]) > 0


@pytest.mark.long
def test_flow_perf_runs(result):
    rates = result["flow_perf"]["net_mlx5dv"]
    assert rates["inserted"] > 0 and rates["deleted"] > 0


@pytest.mark.long
def test_flow_perf_runs_on_the_intree_driver(result, tap_allowed):
    rates = result["flow_perf"]["mlx5_pci, dv_flow_en=0"]
    assert rates["inserted"] > 0 and rates["deleted"] > 0
    for driver in result["flow_perf"].values():
        assert 100 < driver["bytes"] < 10000, result["flow_perf"]


@pytest.mark.long
def test_instructions_are_counted(tmp_path, tap_allowed):
    path = tmp_path / "bench-flow.json"
    done = subprocess.run([BENCH, "flow", "--instructions", "--rules", "1000", "--json", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout
    result = json.loads(path.read_text())
    row = result["rules"]["1000"]
    # Verbs takes most of a rule, libmlx5's part included, and the driver calls it.
    assert sum(row["verbs"]) < sum(row["rte_flow"]) < 1.5 * sum(row["verbs"]), row
    perf = result["flow_perf"]
    assert set(perf) == {"net_mlx5dv", "mlx5_pci, dv_flow_en=0"}
    for counted in perf.values():
        assert counted["inserted"] > counted["deleted"] > 100, "verbs alone take more"


def test_copies_cost_others_nothing():
    """Counts, so they are judged: of all steps one costs a command a copy."""
    done = subprocess.run([BENCH, "rewrites", "--rules", "20,50"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE)
    assert done.returncode == 0 and "not flat" not in done.stdout, done.stdout
    assert re.search(r"^the first rule right behind them +23 \(20\) +53 \(50\)$", done.stdout, re.M), done.stdout
    assert re.search(r"^another port is probed +\d+ \(0\)", done.stdout, re.M)


def test_bench_names_its_parts():
    done = subprocess.run([BENCH, "nothing"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 2
    assert "usage: devtools/bench [NAME" in done.stdout and " flow kill lines page pci programs rdma rewrites rxtx" in done.stdout
