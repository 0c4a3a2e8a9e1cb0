# SPDX-License-Identifier: BSD-3-Clause
"""The manager of a card's e-switch: one device with a port for each vport, and our driver on those ports.

Port 1 is the manager's own vport, ports 2 and 3 represent its two virtual functions, port 4 the uplink."""
import contextlib
import json
import time

import pytest

from harness import ctl, frames, host
from harness.cable import Cable
from harness.patience import PATIENCE, until
from harness.program import run_on_softhca
from harness.testpmd import Testpmd

pytestmark = [pytest.mark.sanitized, pytest.mark.usefixtures("tap_allowed")]

FIRST, SECOND, STRANGER = "02:00:00:00:00:10", "02:00:00:00:00:11", "02:00:00:00:00:77"
REP, SECOND_REP, UPLINK, FUNCTION = range(4)
VDEVS = ["net_mlx5dv0,ibdev=mlx5_0,port=2", "net_mlx5dv1,iface={1}", "net_mlx5dv2,ibdev=mlx5_0,port=4",
         "net_mlx5dv3,ibdev=mlx5_1"]


def card(wire, netdevs):
    """The manager's netdev is the last of `netdevs`."""
    wire = f"wire={wire},switchdev=on"
    return [f"{wire},kernel=tap:{netdevs[2]}", f"{wire},vf=on,mac={FIRST},rep=tap:{netdevs[0]}",
            f"{wire},vf=on,mac={SECOND},rep=tap:{netdevs[1]}"]


@pytest.fixture
def netdevs():
    """Of both representors and the uplink; Linux says nothing on them that it is not asked for."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(host.netdev_that_is_up()) for _ in range(3)]


@pytest.fixture
def rig(tmp_path, netdevs):
    """testpmd with both representors, the uplink's port and the first function; and the far end of the wire."""
    with Testpmd(ports=card(f"unix:{tmp_path}/wire", netdevs), vdevs=[vdev.format(*netdevs) for vdev in VDEVS],
                 args=["--rxq=1", "--txq=1", "--port-topology=chained"]) as pmd, Cable(tmp_path / "wire") as peer:
        yield pmd, peer


def received(pmd):
    return [pmd.stats(port)["RX-packets"] for port in range(4)]


def until_received(pmd, counts):
    """Exactly these many, and no more after that."""
    end = time.monotonic() + PATIENCE
    while received(pmd) != counts:
        assert time.monotonic() < end, received(pmd)
        time.sleep(0.05)
    time.sleep(0.2)
    assert received(pmd) == counts


def to(dst, src=frames.PEER_MAC):
    return frames.packet(eth_dst=dst, eth_src=src)


def until_link(pmd, port, state):
    end = time.monotonic() + PATIENCE
    while pmd.info(port)["Link status"] != state:
        assert time.monotonic() < end, f"port {port} is not {state}"
        time.sleep(0.05)


def test_frames_of_each_vport_come_by_its_port(rig):
    """Whatever their addresses: no rule of the host forwards anything, so all of it meets the manager."""
    pmd, peer = rig
    pmd.cmd("set fwd rxonly")
    pmd.cmd("start")
    peer.send(*[to(FIRST)] * 2, *[to(STRANGER)] * 3, *[to(frames.BROADCAST)] * 4)
    until_received(pmd, [0, 0, 9, 0])
    pmd.cmd("stop")
    # What the uplink's port gets the function sends, to another function by its address.
    pmd.cmd(f"set portlist {UPLINK},{FUNCTION},{REP},{SECOND_REP}")
    pmd.cmd("set fwd io")
    pmd.cmd("start")
    peer.send(*[to(SECOND)] * 5)
    until_received(pmd, [5, 0, 14, 0])


def test_forwarding_between_representor_and_uplink_connects_the_function(rig):
    """As a host's rules would: testpmd's io on both, and a function that answers."""
    pmd, peer = rig
    pmd.cmd(f"set portlist {REP},{UPLINK}")
    pmd.cmd("set fwd io")
    pmd.cmd("start")
    peer.send(*[to(FIRST)] * 7)
    until_received(pmd, [0, 0, 7, 0])
    until(lambda: ctl.stats(pmd, 1)["rx_steered"] == 7)
    assert peer.receive(0.1) is None


def test_the_kernel_gets_each_vports_frames_on_its_own_netdev(tmp_path, netdevs):
    """Without a rule all goes to the netdevs; a PASSTHRU rule on one port copies that port's alone."""
    vdevs = ["net_mlx5dv0,ibdev=mlx5_0,port=2", "net_mlx5dv1,ibdev=mlx5_1"]
    with Testpmd(ports=card(f"unix:{tmp_path}/wire", netdevs), vdevs=vdevs,
                 args=["--rxq=1", "--txq=1", "--flow-isolate-all"]) as pmd, Cable(tmp_path / "wire") as peer:
        with host.PacketSocket(netdevs[0]) as rep, host.PacketSocket(netdevs[1]) as other, \
                host.PacketSocket(netdevs[2]) as uplink:
            peer.send(to(STRANGER))
            assert uplink.receive(PATIENCE) == to(STRANGER)
            pmd.flow("ingress pattern eth / end actions passthru / queue index 0 / end", port=0)
            pmd.cmd("set fwd rxonly")
            # What a netdev sends goes to the function behind it, or onto the wire.
            pmd.flow("ingress pattern eth / end actions queue index 0 / end", port=1)
            rep.send(to(FIRST))
            pmd.cmd("start")
            pmd.wait_stats(lambda stats: stats["RX-packets"] == 1, port=1)
            uplink.send(to(STRANGER))
            assert peer.receive(PATIENCE) == to(STRANGER)
            assert other.receive(0.2) is None


def test_port_1_has_no_representor(netdevs):
    with Testpmd(ports=card("loop", netdevs), vdevs=["net_mlx5dv0,ibdev=mlx5_0,port=1"]) as pmd:
        assert "mlx5_0: port 1 takes no flow rule: it may have no representor on this host" in pmd.banner, pmd.banner
        assert "No probed ethernet devices" in pmd.banner


def test_which_of_several_ports_must_be_said(netdevs):
    with Testpmd(ports=card("loop", netdevs), vdevs=["net_mlx5dv0,ibdev=mlx5_0"]) as pmd:
        ports = f"1 (no netdev), 2 ({netdevs[0]}), 3 ({netdevs[1]}), 4 ({netdevs[2]})"
        assert f"mlx5_0 has several ports: {ports}; give port=<number>" in pmd.banner, pmd.banner


def test_what_a_representor_does_not_take_is_refused(rig):
    pmd, _ = rig
    refused = pmd.cmd("flow create 0 egress pattern eth / end actions drop / end")
    assert "Caught PMD error type 6 (egress field)" in refused, refused
    assert "the device or its kernel does not steer sent packets" in refused


def test_a_functions_link_is_its_representors(rig, netdevs):
    pmd, _ = rig
    host.run("ip", "link", "set", "dev", netdevs[0], "down")
    for port in (REP, FUNCTION):
        until_link(pmd, port, "down")
    assert pmd.info(UPLINK)["Link status"] == "up"
    host.run("ip", "link", "set", "dev", netdevs[0], "up")
    for port in (REP, FUNCTION):
        until_link(pmd, port, "up")
    # Functions reach the manager without the cable.
    ctl.link(pmd, "down")
    until_link(pmd, UPLINK, "down")
    assert pmd.info(REP)["Link status"] == pmd.info(FUNCTION)["Link status"] == "up"


def test_rdma_tools_show_the_ports(netdevs):
    status, text = run_on_softhca(["rdma", "--json", "link"], ports=card("loop", netdevs))
    assert status == 0, text
    links = {link["port"]: link.get("netdev") for link in json.loads(text) if link["ifname"] == "mlx5_0"}
    assert links == {1: None, 2: netdevs[0], 3: netdevs[1], 4: netdevs[2]}
