# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own mlx5 driver on a virtual function: it sees one, and asks the card by way of the netdev."""
import time

import pytest

from harness import frames, host
from harness.cable import Cable
from harness.intree import InTreeTestpmd, pci_args, with_netdevs
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

pytestmark = pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
MAC, STRANGER = "02:00:00:00:00:10", "02:00:00:00:00:77"


@pytest.mark.parametrize("trust", ["on", "off"])
def test_promiscuous_takes_trust(tmp_path, trust):
    """Without it nobody says no, as on hardware: frames for others just do not come."""
    with InTreeTestpmd(f"wire=unix:{tmp_path}/wire,vf=on,trust={trust},mac={MAC}",
                       args=["--rxq=1", "--txq=1"]) as pmd, Cable(tmp_path / "wire") as peer:
        assert pmd.info()["Promiscuous mode"] == "enabled"
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        end = time.monotonic() + PATIENCE
        if trust == "on":
            while pmd.stats()["RX-packets"] == 0:  # the card looks at the netdev now and then
                assert time.monotonic() < end
                peer.send(frames.packet(eth_dst=STRANGER))
                time.sleep(0.05)
            return
        time.sleep(0.3)
        peer.send(*[frames.packet(eth_dst=STRANGER)] * 5, *[frames.packet(eth_dst=MAC)] * 3)
        pmd.wait_stats(lambda stats: stats["RX-packets"] >= 3)
        time.sleep(0.2)
        assert pmd.stats()["RX-packets"] == 3


def received(pmd):
    return pmd.stats()["RX-packets"]


def send_until(pmd, peer, dst, arrives):
    """Frames for an address, which arrive or not: the card looks at the netdev now and then."""
    end = time.monotonic() + PATIENCE
    while True:
        before = received(pmd)
        peer.send(*[frames.packet(eth_dst=dst)] * 5, frames.packet(eth_dst=MAC))  # in this order
        pmd.wait_stats(lambda stats: stats["RX-packets"] > before)
        time.sleep(0.1)
        if received(pmd) - before == (6 if arrives else 1):
            return
        assert time.monotonic() < end, (dst, arrives)


@pytest.mark.parametrize("command, dst", [("mac_addr", "02:00:00:00:00:55"), ("mcast_addr", "01:00:5e:00:00:55")])
def test_further_addresses_are_the_netdevs(tmp_path, command, dst):
    """The switch forwards what the netdev lists, for which a function needs no trust."""
    with InTreeTestpmd(f"wire=unix:{tmp_path}/wire,vf=on,mac={MAC}", args=["--rxq=1", "--txq=1"]) as pmd, \
            Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        send_until(pmd, peer, dst, False)
        pmd.cmd(f"{command} add 0 {dst}")
        send_until(pmd, peer, dst, True)
        # Its removal has NLM_F_EXCL, which Linux since 5.19 reads as NLM_F_BULK, and refuses.


@pytest.mark.parametrize("ours", [pytest.param(0, id="on-the-physical-function"),
                                  pytest.param(1, id="on-a-function", marks=pytest.mark.long)])
def test_beside_our_driver_on_one_card(tmp_path, ours):
    """The physical function and a virtual one, DPDK's driver on the one and ours on the other: they answer each other."""
    macs = ["02:00:00:00:00:20", MAC]
    ports = with_netdevs([f"wire=unix:{tmp_path}/wire,{function}=on,mac={mac}" for function, mac in zip(("pf", "vf"), macs)])
    with Testpmd(ports=ports, vdevs=[f"net_mlx5dv0,ibdev=mlx5_{ours}"], pci=pci_args(first=1 - ours),
                 args=["--port-topology=loop", "--rxq=1", "--txq=1"]) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd macswap")
        pmd.cmd("start")
        peer.send(frames.packet(eth_dst=macs[0], eth_src=macs[1]))
        end = time.monotonic() + PATIENCE
        while min(pmd.stats(port)["RX-packets"] for port in (0, 1)) < 1000:
            # Linux's groups, which both answer, leave by the wire, too: it waits for who does not read.
            peer.receive_all(count=1000, seconds=0)
            assert time.monotonic() < end, [pmd.stats(port) for port in (0, 1)]
        pmd.cmd("stop")
