# SPDX-License-Identifier: BSD-3-Clause
"""A build that developers make, besides the one that users have."""
import os
import subprocess

import pytest

from harness import paths

ENV = dict(os.environ, PATH="/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ.get("PATH", ""))


@pytest.mark.long
def test_without_optimization_and_precompiled_headers(tmp_path):
    """For debuggers and gcov: always_inline fails there where GCC finds no callee.

    And without the precompiled header, which hides that a file lacks an include.
    """
    subprocess.run(["meson", "setup", "--buildtype=debug", "-Db_pch=false", tmp_path, paths.ROOT], env=ENV, check=True,
                   stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", tmp_path, "drivers/librte_net_mlx5dv.so", "app/softhca",
                           "test/unit/drv/libdrv_tests.a", "test/unit/flow/libflow_tests.a"],
                          env=ENV, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("function", ["shca_sq_run_all", "shca_mpw_queue", "shca_rq_run_receive"])
def test_lines_are_prefetched(function):
    """GCC drops calls of a function that does nothing but prefetch: those of sent frames were never there."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", paths.BUILD / "lib/libsofthca.so"],
                          env=ENV, text=True, check=True, stdout=subprocess.PIPE).stdout
    assert f"<{function}>:" in code
    assert "prefetch" in code or "prfm" in code
