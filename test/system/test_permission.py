# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary user without access to the device node is told which node and which permission."""
import os
import stat

import pytest
from harness import paths
from harness.ordinary import public_tree
from harness.program import run_on_softhca
from harness.testpmd import default_vdevs, eal_args, eal_prefix

NODE = "/dev/infiniband/uverbs0"


@pytest.fixture(name="node")
def fixture_node():
    """A real node, root's alone: what the user's open meets when softhca is not below it."""
    if os.geteuid() != 0:
        pytest.skip("only root makes device nodes and becomes another user")
    if os.path.exists(NODE):
        pytest.skip(f"{NODE} exists: this machine has a device of its own")
    made_dir = not os.path.isdir(os.path.dirname(NODE))
    try:
        os.makedirs(os.path.dirname(NODE), exist_ok=True)
        os.mknod(NODE, 0o600 | stat.S_IFCHR, os.makedev(231, 192))
    except OSError as error:
        pytest.skip(f"{NODE}: {error.strerror}")
    yield NODE
    os.unlink(NODE)
    if made_dir:
        os.rmdir(os.path.dirname(NODE))


def test_node_and_permission_are_named(node):
    argv = ["dpdk-testpmd"] + eal_args(eal_prefix(), default_vdevs([""]), "0,1", 128)
    # The tree of the runner is root's alone, too; the library below libibverbs goes, the rest stays.
    without = 'chmod 755 "$SOFTHCA_DIR"; unset LD_PRELOAD SOFTHCA_DIR; exec "$@" </dev/null'
    with public_tree() as tree:
        argv = [str(tree.plugin) if arg == str(paths.PLUGIN) else arg for arg in argv]
        as_nobody = tree.as_nobody([*argv, "--", "-i", "--total-num-mbufs=2048"])
        _, text = run_on_softhca(["sh", "-c", without, "sh", *as_nobody])
    own = [line for line in text.splitlines() if "mlx5dv: " in line]
    assert any(node in line and "Permission denied" in line and "read and write permission" in line
               for line in own), text
