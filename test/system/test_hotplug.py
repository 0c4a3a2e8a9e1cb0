# SPDX-License-Identifier: BSD-3-Clause
"""Ports that come and go while the program runs, several on a device, and ours beside DPDK's own mlx5 driver."""
import re
import shlex

import pytest
from harness import frames, paths
from harness.cable import Cable
from harness.intree import pci_args, with_netdevs
from harness.program import run_on_softhca
from harness.testpmd import Testpmd, default_vdevs, eal_args, eal_prefix, remove_runtime_dir

# A thousand take half a minute to a whole one; what leaks shows in the first.
ROUNDS = 60
# Each has a port go in four states.
ROUNDS_WITH_DEATH, WARM_UP = 4, 4


def plug_and_unplug(rounds, device, ports, options=()):
    """What the program says, which ends with what the devices have then."""
    softhca = shlex.quote(str(paths.SOFTHCA))
    prefix = eal_prefix()
    command = [str(paths.BUILD / "test/ethdev/ethdev-hotplug"), *eal_args(prefix, [], "0", 128), "--",
               str(rounds), device, f"{softhca} ctl stats && {softhca} ctl dump"]
    try:
        status, text = run_on_softhca(command, ports, options=options)
    finally:
        remove_runtime_dir(prefix)
    assert status == 0, text
    assert not re.search(r"^\s*(?:[RSC]Q\b|FT:)", text, re.M), text
    return text


def test_nothing_is_left():
    """Descriptors, memory, mbufs, verbs objects: as before, whatever state the ports were in when they went."""
    text = plug_and_unplug(ROUNDS, "stays", ["wire=loop"])
    # Ports had rules and received frames; now the device has neither queue nor rule.
    assert int(re.search(r"rx_steered\s+(\d+)", text).group(1)) > ROUNDS


def test_nothing_is_left_of_devices_that_died(tmp_path):
    """Whatever state the ports are in when they go: libibverbs destroys nothing of a dead device unless told to."""
    nb_devices = WARM_UP + ROUNDS_WITH_DEATH
    faults = tmp_path / "faults"
    faults.write_text("".join(f"device fatal at 40 of mlx5_{i}\n" for i in range(nb_devices)))
    text = plug_and_unplug(ROUNDS_WITH_DEATH, "dies", ["wire=loop"] * nb_devices, ("--faults", faults))
    assert len(re.findall(r"^softhca: faults: line \d+: .*: 1 time$", text, re.M)) == nb_devices, text


def summary(pmd):
    """{port: (name, driver)} of show port summary"""
    text = pmd.cmd("show port summary all")
    return {int(number): (name, driver) for number, name, driver in
            re.findall(r"^(\d+)\s+[0-9A-F:]{17}\s+(\S+)\s+(\S+)", text, re.M)}


def circle(pmd, packets=1000):
    """Every port sends what it receives to the other one, or to itself."""
    pmd.cmd("set fwd io")
    pmd.cmd("start tx_first 1")
    for port in summary(pmd):
        pmd.cmd(f"clear port stats {port}")
        pmd.wait_stats(lambda stats: stats["RX-packets"] > packets, port=port)
    pmd.cmd("stop")


def test_testpmd_attaches_and_detaches():
    with Testpmd() as pmd:
        for _ in range(3):
            assert "Port 1 is attached" in pmd.cmd("port attach net_mlx5dv1,ibdev=mlx5_0")
            pmd.cmd("port start 1")
            assert summary(pmd) == {i: (f"net_mlx5dv{i}", "net_mlx5dv") for i in (0, 1)}
            circle(pmd)
            pmd.cmd("port stop 1")
            assert "Device is detached" in pmd.cmd("port detach 1")
            circle(pmd)
        refused = pmd.cmd("port attach net_mlx5dv1,ibdev=mlx5_7")
        assert "mlx5_7: no such verbs device; present: mlx5_0" in refused and "Failed to attach" in refused
        # The last one may go, too.
        pmd.cmd("port stop 0")
        pmd.cmd("port detach 0")
        assert not summary(pmd)
        pmd.cmd("port attach net_mlx5dv5,ibdev=mlx5_0")
        pmd.cmd("port start 0")
        circle(pmd)


def test_several_ports_of_a_device(tmp_path):
    """A frame for everybody comes to each of them, once; a frame for one comes to that one."""
    vdevs = [f"net_mlx5dv{i},ibdev=mlx5_0" for i in range(4)]
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire"], vdevs=vdevs) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set promisc all off")
        for port in range(4):
            pmd.cmd(f"mac_addr set {port} 02:00:00:00:01:0{port}")
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        peer.send(*[frames.packet(eth_dst=f"02:00:00:00:01:0{port}") for port in (1, 2, 2)],
                  frames.packet(eth_dst=frames.BROADCAST))
        for port, count in enumerate((1, 2, 3, 1)):
            pmd.wait_stats(lambda stats, count=count: stats["RX-packets"] == count, port=port)


@pytest.mark.usefixtures("tap_allowed")
def test_beside_the_in_tree_driver():
    """A port each in one process, on one cable: what one driver sends the other receives."""
    ports = with_netdevs(["wire=pair:c,mac=02:00:00:00:00:0a", "wire=pair:c,mac=02:00:00:00:00:0b"])
    with Testpmd(ports=ports, vdevs=default_vdevs(ports[:1]), pci=pci_args(first=1),
                 args=["--port-topology=loop"]) as pmd:
        assert sorted(driver for _, driver in summary(pmd).values()) == ["mlx5_pci", "net_mlx5dv"]
        circle(pmd)
        assert all(pmd.stats(port)["TX-packets"] > 0 for port in summary(pmd))
