# SPDX-License-Identifier: BSD-3-Clause
"""A program that has DPDK and its mlx5 driver linked in, and libibverbs as a shared library."""
import subprocess

import pytest
from harness import paths
from harness.intree import pci_args, with_netdevs
from harness.program import run_on_softhca
from harness.testpmd import eal_prefix, remove_runtime_dir

PROGRAM = paths.BUILD / "test" / "static" / "static-loop"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="DPDK's archives are not installed")


def test_what_is_inside():
    text = subprocess.run(["objdump", "-p", str(PROGRAM)], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    needed = [line.split()[1] for line in text.splitlines() if line.strip().startswith("NEEDED")]
    assert not [name for name in needed if name.startswith("librte_")]
    assert "libibverbs.so.1" in needed and "libmlx5.so.1" in needed


@pytest.mark.usefixtures("tap_allowed")
@pytest.mark.parametrize("model", ["cx5", "cx4lx", "cx6dx"])
@pytest.mark.parametrize("devargs", ["", "dv_flow_en=0"], ids=["defaults", "verbs-flow"])
def test_frames_come_back(model, devargs):
    prefix = eal_prefix()
    command = [str(PROGRAM), "-l", "0", "--no-huge", "-m", "128", "--no-telemetry", "--file-prefix", prefix,
               *pci_args(devargs)]
    try:
        status, text = run_on_softhca(command, with_netdevs([f"wire=loop,model={model}"]))
    finally:
        remove_runtime_dir(prefix)
    assert status == 0 and "mlx5_pci: sent 1000, received 1000" in text, text
