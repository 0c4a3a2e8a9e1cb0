# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand rules to one set of queues make one destination in the device, which goes with the last of them."""
import os
import re
import subprocess

from harness import frames, paths
from harness.terminal import Terminal
from harness.testpmd import eal_args, eal_prefix, remove_runtime_dir, softhca_argv

NB_RULES = 10000


def destinations(control):
    """What the entries of the device's tables lead to, one each."""
    dump = subprocess.run([paths.SOFTHCA, "ctl", control, "dump"], check=True, capture_output=True, text=True,
                          timeout=60).stdout
    return re.findall(r"FTE: .* to \((.*?)\)", dump)


def test_one_destination_for_all(tmp_path):
    prefix = eal_prefix()
    control = tmp_path / "control"
    command = [str(paths.BUILD / "test/ethdev/ethdev-sharing"),
               *eal_args(prefix, ["net_mlx5dv0,ibdev=mlx5_0"], lcores="0", memory=128), "--", str(NB_RULES)]
    program = Terminal(softhca_argv([f"wire=null,mac={frames.PORT_MAC}"], command, ["--ctl", control]),
                       env=dict(os.environ, **paths.plugin()[1]))
    at = 0
    try:
        for said, nb in (("made", NB_RULES), ("one left", 1), ("none left", 0)):
            at = program.expect(f"{said}\n", at).end()
            found = destinations(control)
            assert len(found) == nb and len(set(found)) == min(nb, 1), f"{said}: {len(found)}, {set(found)}"
            program.send("\n")
        assert program.wait() == 0, program.text
    finally:
        program.close()
        remove_runtime_dir(prefix)
