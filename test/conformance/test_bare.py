# SPDX-License-Identifier: BSD-3-Clause
"""Programs that speak to /dev/infiniband/uverbs0 themselves (test/bare): libc and nothing else."""
import subprocess

import pytest
from harness import paths
from harness.program import run_on_softhca

PROGRAMS = {way: str(paths.BUILD / "test" / "bare" / f"bare-{way}") for way in ("write", "ioctl")}


@pytest.mark.parametrize("model", ["cx5", "cx4lx", "cx6dx"])
@pytest.mark.parametrize("way", PROGRAMS)
def test_frames_by_one_system_call(way, model):
    """Context, queues, rules and frames; before them, what must be refused."""
    status, text = run_on_softhca([PROGRAMS[way]], [f"wire=loop,model={model}"])
    assert status == 0 and " 0 failed" in text, text


@pytest.mark.parametrize("way", PROGRAMS)
def test_no_library_is_in_between(way):
    linked = subprocess.run(["ldd", PROGRAMS[way]], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in linked and "ibverbs" not in linked and "mlx5" not in linked, linked
