# SPDX-License-Identifier: BSD-3-Clause
"""The driver in a DPDK source tree (devtools/in-dpdk), built there as one of DPDK's own."""
import os
import re
import shutil
import subprocess

import pytest
from harness import frames, paths
from harness.cable import Cable
from harness.terminal import Terminal
from harness.testpmd import Testpmd, eal_prefix, lcore_args, softhca_argv

SOURCES = sorted((paths.ROOT / ".deps").glob("dpdk-*/source"))
TOOL = paths.ROOT / "devtools" / "in-dpdk"


def in_dpdk(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_what_is_no_source_of_dpdk(tmp_path):
    done = in_dpdk(tmp_path)
    assert done.returncode == 1 and "is no source tree of DPDK 22.11, 23.11, 24.11 or 25.11" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert "usage:" in in_dpdk().stderr


class BuiltTestpmd(Testpmd):
    """testpmd of that tree, which has the driver without a -d option."""

    def __init__(self, build, port):
        self.prefix = eal_prefix()
        command = [str(build / "app" / "dpdk-testpmd"), *lcore_args("0,1"), "--no-huge", "-m", "128", "--no-telemetry",
                   "--file-prefix", self.prefix, "--vdev", "net_mlx5dv0,ibdev=mlx5_0", "--", "-i",
                   "--total-num-mbufs=4096", "--no-flush-rx"]
        self.terminal = Terminal(softhca_argv([port], command), env=dict(os.environ))
        self.banner = ""
        self.status = None


@pytest.mark.long
@pytest.mark.skipif(not SOURCES, reason="devtools/setup found no source of this DPDK")
def test_built_in_the_tree_of_this_release(tmp_path):
    """Two runs, the second on a tree that has it: the same files, and a port that receives by a rule."""
    tree = tmp_path / "dpdk"
    shutil.copytree(SOURCES[-1], tree)
    done = in_dpdk("--no-build", tree)
    assert done.returncode == 0, done.stdout
    # DPDK's own check knows .mailmap from 24.11 on.
    maintainer, = re.findall(r"^MLX5DV\nM: (.*)$", (tree / "MAINTAINERS").read_text(encoding="utf-8"), re.M)
    assert (tree / ".mailmap").read_text(encoding="utf-8").splitlines().count(maintainer) == 1
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    done = in_dpdk(tree)
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout
    assert "ok    build" in done.stdout and "ok    exported functions" in done.stdout, done.stdout
    after = {path: path.read_bytes() for path in tree.rglob("*")
             if path.is_file() and tree / "build-mlx5dv" not in path.parents}
    assert after == before
    with BuiltTestpmd(tree / "build-mlx5dv", f"wire=unix:{tmp_path}/wire") as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set promisc all off")
        pmd.flow("ingress pattern eth / ipv4 / udp dst is 4000 / end actions mark id 7 / queue index 0 / end")
        start = pmd.show_received()
        peer.send(frames.packet(dport=4000))
        seen, = pmd.wait_received(1, start)
        assert seen["mark"] == 7
