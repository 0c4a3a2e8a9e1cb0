# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary user without access to the device node is told which node and which permission."""
import os
import shutil
import stat
import tempfile

import pytest
from harness import paths
from harness.program import run_on_softhca
from harness.testpmd import default_vdevs, eal_args, eal_prefix

NODE = "/dev/infiniband/uverbs0"
NOBODY = "65534"


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


@pytest.fixture(name="public_dir")
def fixture_public_dir():
    """The plugin where anybody may read and only root may write: the EAL takes it from nowhere else."""
    path = tempfile.mkdtemp(dir="/run")
    os.chmod(path, 0o755)
    shutil.copy(paths.PLUGIN, path)
    os.mkdir(f"{path}/runtime")
    os.chown(f"{path}/runtime", int(NOBODY), int(NOBODY))
    yield path
    shutil.rmtree(path)


def test_node_and_permission_are_named(node, public_dir):
    argv = ["dpdk-testpmd"] + eal_args(eal_prefix(), default_vdevs([""]), "0,1", 128)
    argv = [f"{public_dir}/{os.path.basename(paths.PLUGIN)}" if arg == str(paths.PLUGIN) else arg
            for arg in argv]
    # The tree of the runner is root's alone, too; the library below libibverbs goes, the rest stays.
    as_nobody = ('chmod 755 "$SOFTHCA_DIR"; unset LD_PRELOAD SOFTHCA_DIR; exec setpriv'
                 f' --reuid={NOBODY} --clear-groups env XDG_RUNTIME_DIR={public_dir}/runtime "$@" </dev/null')
    _, text = run_on_softhca(["sh", "-c", as_nobody, "sh", *argv, "--", "-i", "--total-num-mbufs=2048"])
    own = [line for line in text.splitlines() if "mlx5dv: " in line]
    assert any(node in line and "Permission denied" in line and "read and write permission" in line
               for line in own), text
