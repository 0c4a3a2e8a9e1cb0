# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI over UCX or libfabric, unmodified: two ranks on one card pass messages round (test/mpi/ring.c), and reach into each
other's memory (test/mpi/window.c)."""
import os
import shutil
import subprocess

import pytest
from harness import card as cards
from harness import paths
from harness.patience import PATIENCE
from harness.places import one_host
from harness.ucx import needs_verbs

pytestmark = pytest.mark.skipif(shutil.which("mpicc") is None or shutil.which("mpirun") is None,
                                reason="openmpi-bin or libopenmpi-dev is not installed")

# Nothing of Open MPI's own that moves bytes: what UCX has, or none.
RUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ucx", "--mca", "btl", "self", "--mca", "osc", "^ucx",
       "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]


def make(name, tmp_path_factory):
    program = tmp_path_factory.mktemp("mpi") / name
    source = paths.ROOT / f"test/mpi/{name}.c"
    subprocess.run(["mpicc", "-O1", "-Wall", "-Wextra", "-Werror", source, "-o", program], check=True)
    return program


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    return make("ring", tmp_path_factory)


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    return make("window", tmp_path_factory)


def run(transports, ranks, program, argv):
    """UCX_TLS: no shared memory and no TCP, so that every byte goes by the card. @return status and output"""
    env = [f"UCX_TLS={transports},self", "UCX_NET_DEVICES=mlx5_0:1"]
    with cards.up("wire=loop") as card:
        done = subprocess.run(cards.on(card, "env", *env, *argv, "-np", ranks, program), stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, env=dict(os.environ), check=False)
    return done.returncode, done.stdout


@needs_verbs
@pytest.mark.parametrize("transports, ranks", [("rc_v,ud_v", 2), ("rc_x,ud_x", 2), ("ud", 2),
                                               pytest.param("rc", 4, marks=pytest.mark.long)])
def test_ring(transports, ranks, ring):
    status, text = run(transports, ranks, ring, RUN)
    assert status == 0 and f"{ranks} ranks, 0 bytes wrong" in text, text


@needs_verbs
@pytest.mark.parametrize("transports", ["rc_x,ud_x", pytest.param("rc_v,ud_v", marks=pytest.mark.long),
                                        pytest.param("ud", marks=pytest.mark.long)])
def test_windows(transports, window):
    """Puts, gets and atomics by Open MPI's own use of UCX (osc)."""
    argv = [{"^ucx": "ucx"}.get(word, word) for word in RUN] + ["--mca", "osc_ucx_tls", "any", "--mca", "osc_ucx_devices", "any"]
    status, text = run(transports, 2, window, argv)
    assert status == 0 and "2 ranks, 0 numbers wrong" in text, text


# Reliable datagrams of libfabric above those of verbs, or above connections.
PROVIDERS = ["verbs;ofi_rxd", pytest.param("verbs;ofi_rxm", marks=pytest.mark.long)]


def run_by_libfabric(provider, program, tmp_path):
    argv = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca",
            "mtl_ofi_provider_include", provider, "--mca", "btl", "self"]
    # ofi_rxm: as test_libfabric.py says.
    env = dict(os.environ, FI_OFI_RXM_CM_PROGRESS_INTERVAL="2000000")
    with one_host(tmp_path) as (end, _):
        done = subprocess.run(end.argv(*argv, "-np", "2", program), stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, env=env, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("provider", PROVIDERS)
def test_ring_by_libfabric(provider, ring, tmp_path):
    status, text = run_by_libfabric(provider, ring, tmp_path)
    assert status == 0 and "2 ranks, 0 bytes wrong" in text, text


@pytest.mark.long
@pytest.mark.parametrize("provider", PROVIDERS)
def test_windows_by_libfabric(provider, window, tmp_path):
    """Puts, gets and atomics as messages (osc/pt2pt)."""
    if "osc: pt2pt" not in subprocess.run(["ompi_info"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this Open MPI makes no messages of them")
    status, text = run_by_libfabric(provider, window, tmp_path)
    assert status == 0 and "2 ranks, 0 numbers wrong" in text, text
