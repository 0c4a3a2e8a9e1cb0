# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI over UCX, unmodified: two ranks on one card pass messages round (test/mpi/ring.c)."""
import os
import shutil
import subprocess

import pytest
from harness import card as cards
from harness import paths
from harness.patience import PATIENCE

pytestmark = pytest.mark.skipif(shutil.which("mpicc") is None or shutil.which("mpirun") is None,
                                reason="openmpi-bin or libopenmpi-dev is not installed")

# Nothing of Open MPI's own that moves bytes: what UCX has, or none.
RUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ucx", "--mca", "btl", "self", "--mca", "osc", "^ucx",
       "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    program = tmp_path_factory.mktemp("mpi") / "ring"
    subprocess.run(["mpicc", "-O1", "-Wall", "-Wextra", "-Werror", paths.ROOT / "test/mpi/ring.c", "-o", program], check=True)
    return program


@pytest.mark.parametrize("transports, ranks", [("rc_v,ud_v", 2), ("rc_x,ud_x", 2), ("ud", 2),
                                               pytest.param("rc", 4, marks=pytest.mark.long)])
def test_ring(transports, ranks, ring):
    """UCX_TLS: no shared memory and no TCP, so that every byte goes by the card."""
    env = [f"UCX_TLS={transports},self", "UCX_NET_DEVICES=mlx5_0:1"]
    with cards.up("wire=loop") as card:
        done = subprocess.run(cards.on(card, "env", *env, *RUN, "-np", ranks, ring), stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, env=dict(os.environ), check=False)
    assert done.returncode == 0 and f"{ranks} ranks, 0 bytes wrong" in done.stdout, done.stdout
