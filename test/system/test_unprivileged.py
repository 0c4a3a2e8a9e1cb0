# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary user with the node, CAP_NET_RAW and enough locked memory has a whole port; whoever lacks one of
them is told which. A container is such a user in namespaces of its own."""
import os
import re

import pytest
from harness import host
from harness.ordinary import public_tree
from harness.terminal import Terminal
from harness.testpmd import Testpmd, eal_prefix

# Bytes: what Linux gives anybody today, and what is too little for a mempool.
ENOUGH, TOO_LITTLE = 8 << 20, 64 << 10

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")


@pytest.fixture(name="tree", scope="module")
def fixture_tree():
    with public_tree() as tree:
        yield tree


class OrdinaryTestpmd(Testpmd):
    """testpmd that owns no hugepages and nothing of root's: prlimit, BEFORE..., softhca run, BELOW..., testpmd."""

    def __init__(self, tree, memlock=ENOUGH, port="wire=loop", before=(), below=()):  # pylint: disable=super-init-not-called
        self.prefix = eal_prefix()
        self.terminal = Terminal([
            "prlimit", f"--memlock={memlock}:{memlock}", *before, tree.softhca, "run", "--port", port, "--", *below,
            "dpdk-testpmd", "-l", "0,1", "--no-huge", "-m", "128", "--no-pci", "--no-telemetry",
            f"--file-prefix={self.prefix}", "-d", tree.plugin, "--vdev", "net_mlx5dv0,ibdev=mlx5_0",
            "--", "-i", "--total-num-mbufs=1536", "--rxd=128", "--txd=128"])
        self.banner = ""
        self.status = None


def has_traffic(pmd):
    """The default rules, a rule of the application, and frames both ways."""
    pmd.flow("ingress pattern eth / end actions passthru / queue index 0 / end")
    pmd.cmd("start tx_first 1")
    # Each frame comes twice.
    pmd.wait_stats(lambda stats: stats["RX-packets"] > 1000 and stats["TX-packets"] > 1000)
    assert pmd.stop()["TX-packets"] > 1000


def test_nothing_but_net_raw_is_needed(tree):
    with OrdinaryTestpmd(tree, before=tree.as_nobody([], ["net_raw"])) as pmd:
        has_traffic(pmd)


def test_without_net_raw_it_is_named(tree):
    with OrdinaryTestpmd(tree, before=tree.as_nobody([])) as pmd:
        assert "the process lacks CAP_NET_RAW" in pmd.banner
        assert "No probed ethernet devices" in pmd.banner


def test_without_locked_memory_the_limit_is_named(tree):
    with OrdinaryTestpmd(tree, TOO_LITTLE, before=tree.as_nobody([], ["net_raw"])) as pmd:
        assert re.search(r"cannot register mempool \S+: Cannot allocate memory", pmd.banner)
        assert "RLIMIT_MEMLOCK is 64 kB" in pmd.banner


@pytest.mark.skipif(host.why_no_netns() is not None, reason="no network namespaces")
def test_in_namespaces_of_its_own(tree):
    """As in a container with its own network: the port's netdev is not to be seen, the verbs device is."""
    # What the runner has made is its user's, here root's.
    hand_over = ["sh", "-c", 'chown 65534:65534 "$SOFTHCA_DIR"; exec "$@"', "sh"]
    below = [*hand_over, "unshare", "--net", "--ipc", "--uts", *tree.as_nobody([], ["net_raw"])]
    with host.netdev_that_is_up() as name:
        mac = host.netdev_mac(name)
        with OrdinaryTestpmd(tree, port=f"wire=loop,kernel=tap:{name}", below=below) as pmd:
            has_traffic(pmd)
            info = pmd.info()
            assert info["MAC address"] == mac and info["Link status"] == "up", info


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_addresses_of_a_virtual_function_take_net_admin(tree):
    """Its switch goes by the netdev, so without it nothing would arrive for them."""
    hand_over = ["sh", "-c", 'chown 65534:65534 "$SOFTHCA_DIR"; exec "$@"', "sh"]
    with host.netdev_that_is_up() as name:
        with OrdinaryTestpmd(tree, port=f"wire=loop,vf=on,kernel=tap:{name}",
                             below=[*hand_over, *tree.as_nobody([], ["net_raw"])]) as pmd:
            for command, mac in (("mac_addr", "02:00:00:00:00:55"), ("mcast_addr", "01:00:5e:00:00:55")):
                answer = pmd.cmd(f"{command} add 0 {mac}")
                assert re.search(rf"port 0: netdev {name} does not list {mac}, so the card gives nothing for that "
                                 r"address to its virtual function mlx5_0: Operation not permitted "
                                 r"\(takes CAP_NET_ADMIN\)", answer, re.IGNORECASE), answer
            assert "02:00:00:00:00:55" not in host.run("bridge", "fdb", "show", "dev", name)
