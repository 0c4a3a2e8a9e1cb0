# SPDX-License-Identifier: BSD-3-Clause
"""Each control operation of a port with its first, second, third ... call of verbs failing, or of the driver's own calls for
memory: test/ethdev/sweep."""
import re

import pytest
from harness import paths
from harness.program import run_on_softhca
from harness.testpmd import eal_prefix, remove_runtime_dir

PROGRAM = str(paths.BUILD / "test" / "ethdev" / "ethdev-sweep")


@pytest.mark.parametrize("what, model", [("verbs", "cx5"), ("verbs", "cx4lx"), ("verbs", "cx6dx"), ("memory", "cx5")])
def test_every_operation(what, model):
    prefix = eal_prefix()
    command = [PROGRAM, "-l", "0", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf",
               "--file-prefix", prefix, "-d", paths.plugin()[0], "--log-level", "pmd.net.mlx5dv:emergency",
               "--", what, paths.plugin()[0]]
    try:
        status, output = run_on_softhca(command, [f"wire=loop,model={model}"], {"SOFTHCA_LOG": "info"})
    finally:
        remove_runtime_dir(prefix)
    assert status == 0, output[-3000:]
    calls = dict(re.findall(r"^([\w ]+): (\d+) calls$", output, re.M))
    assert f"{len(calls)} operations" in output
    # Those that are made of many were swept.
    assert all(int(calls[name]) > (20 if what == "verbs" else 5) for name in ("probe", "start", "start again", "reset"))
    assert "left to the kernel to destroy" not in output
