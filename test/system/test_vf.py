# SPDX-License-Identifier: BSD-3-Clause
"""Virtual functions of one card: their switch, trust, spoof checking, and what our driver says of it."""
import json
import re
import time

import pytest

from harness import ctl, frames, host, pcapfile
from harness.cable import Cable
from harness.patience import PATIENCE, until
from harness.testpmd import Testpmd

# Port 0 has no privileges, port 1 is trusted, port 2 is watched.
MACS = ["02:00:00:00:00:10", "02:00:00:00:00:11", "02:00:00:00:00:12"]
KEYS = ["", ",trust=on", ",spoof=on"]
STRANGER = "02:00:00:00:00:77"
SECOND, FOREIGN, GROUP = "02:00:00:00:00:55", "02:00:00:00:00:66", "01:00:5e:00:00:55"


def ports(tmp_path):
    return [f"wire=unix:{tmp_path}/wire,vf=on,mac={mac}{keys}" for mac, keys in zip(MACS, KEYS)]


@pytest.fixture
def rig(tmp_path):
    """testpmd with a port on each function, and the far end of their wire."""
    with Testpmd(ports=ports(tmp_path), args=["--rxq=1", "--txq=1", "--port-topology=loop"]) as pmd, \
            Cable(tmp_path / "wire") as peer:
        yield pmd, peer


def received(pmd):
    return [pmd.stats(port)["RX-packets"] for port in range(3)]


def until_received(pmd, counts):
    """Exactly these many, and no more after that."""
    end = time.monotonic() + PATIENCE
    while received(pmd) != counts:
        assert time.monotonic() < end, received(pmd)
        time.sleep(0.05)
    time.sleep(0.2)
    assert received(pmd) == counts


def refused(pmd):
    """Frames that the switch has dropped for their source address, of each port."""
    return [port["tx_refused"] for port in json.loads(ctl.ask(pmd, "stats", "--json"))["ports"]]


def to(dst, src=frames.PEER_MAC):
    return frames.packet(eth_dst=dst, eth_src=src)


def test_promiscuous_changes_nothing_without_trust(rig):
    """It is not refused, as a host in switchdev mode trusts nobody and decides by rules of its own."""
    pmd, peer = rig
    why = (r"port {0}: {1} mode may change nothing: mlx5_{0} is virtual function {0} of its card and not trusted"
           r".*ip link set dev <PF> vf {0} trust on")
    for port in (0, 2):
        assert re.search(why.format(port, "promiscuous"), pmd.banner), pmd.banner  # testpmd asks for it at its start
        assert pmd.info(port)["Promiscuous mode"] == "enabled"
    assert "port 1: promiscuous mode" not in pmd.banner
    assert re.search(why.format(0, "allmulticast"), pmd.cmd("set allmulti 0 on"))
    # A rule for everything is installed, as on Linux, and changes nothing.
    pmd.flow("ingress pattern eth / end actions queue index 0 / end", port=0)
    pmd.cmd("set fwd rxonly")
    pmd.cmd("start")
    peer.send(*[to(MACS[0])] * 1, *[to(MACS[1])] * 2, *[to(MACS[2])] * 3, *[to(STRANGER)] * 10,
              *[to(frames.BROADCAST)] * 100)
    until_received(pmd, [101, 112, 103])
    pmd.cmd("set promisc 1 off")
    peer.send(*[to(STRANGER)] * 10, to(MACS[1]))
    until_received(pmd, [101, 113, 103])


def test_promiscuous_under_a_host_in_switchdev_mode(tmp_path):
    """It trusts nobody, and what its rules forward arrives. The driver cannot see the mode, and warns."""
    port = f"wire=unix:{tmp_path}/wire,vf=on,switchdev=on,mac={MACS[0]}"
    with Testpmd(ports=[port], args=["--rxq=1", "--txq=1"]) as pmd, Cable(tmp_path / "wire") as peer:
        assert re.search(r"promiscuous mode may change nothing.*In switchdev mode the host's rules decide", pmd.banner)
        assert pmd.info()["Promiscuous mode"] == "enabled"
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        peer.send(*[to(STRANGER)] * 10, to(GROUP), to(MACS[0]))
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 12)
        pmd.cmd("set promisc 0 off")
        pmd.cmd("set allmulti 0 on")
        peer.send(*[to(STRANGER)] * 10, to(GROUP), to(MACS[0]))
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 14)


def test_functions_reach_each_other_by_the_switch(rig):
    """What is for another function does not go on the wire; broadcast does both."""
    pmd, peer = rig
    pmd.cmd("set fwd macswap")
    pmd.cmd("start")
    peer.send(to(MACS[0]))
    answer = peer.receive(PATIENCE)
    assert answer[:12] == frames.mac(frames.PEER_MAC) + frames.mac(MACS[0])
    # To function 0 as if from function 1: they answer each other from now on.
    peer.send(to(MACS[0], src=MACS[1]))
    end = time.monotonic() + PATIENCE
    while min(received(pmd)[:2]) < 1000:
        assert time.monotonic() < end
    assert received(pmd)[2] == 0
    pmd.cmd("stop")
    assert peer.receive(0.2) is None


def test_another_source_address_is_dropped_and_the_driver_warns(rig):
    pmd, peer = rig
    assert re.search(r"net_mlx5dv2: virtual function 2: what it sends from another address than its own is dropped",
                     pmd.banner)
    assert "net_mlx5dv0: virtual function 0: what it sends" not in pmd.banner
    # io sends on what came, from the peer's address: function 1 may, function 2 may not.
    pmd.cmd("set fwd io")
    pmd.cmd("start")
    peer.send(*[to(STRANGER)] * 3, *[to(MACS[2])] * 5)
    until_received(pmd, [0, 3, 5])
    assert peer.receive_all(3, PATIENCE) == [to(STRANGER)] * 3
    pmd.cmd("stop")
    assert pmd.stats(2)["TX-packets"] == 5  # nobody tells the sender
    until(lambda: refused(pmd) == [0, 0, 5])
    # From its own it may.
    pmd.cmd("set fwd macswap")
    pmd.cmd("start")
    peer.send(to(MACS[2]))
    assert peer.receive(PATIENCE)[:12] == frames.mac(frames.PEER_MAC) + frames.mac(MACS[2])
    assert refused(pmd) == [0, 0, 5]
    answer = pmd.cmd(f"mac_addr set 2 {STRANGER}")
    knows = rf"port 2: mlx5_2 is a virtual function, whose card knows it by {MACS[2]}"
    assert re.search(rf"{knows}, without a netdev here .*: frames for {STRANGER} may not get here", answer), answer
    assert re.search(rf"{knows}: frames from {STRANGER} are dropped", answer), answer
    answer = pmd.cmd(f"mcast_addr add 2 {GROUP}")
    assert "port 2: mlx5_2 is a virtual function without a netdev here to list groups" in answer


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_the_switch_goes_by_the_netdevs_mode(tmp_path):
    """Beside a netdev: the driver makes it promiscuous, and leaves it as it was."""
    name = host.name("v")
    port = f"wire=unix:{tmp_path}/wire,vf=on,trust=on,kernel=tap:{name},mac={MACS[1]}"
    with Testpmd(ports=[port], args=["--rxq=1", "--txq=1"]) as pmd, Cable(tmp_path / "wire") as peer:
        host.quiet_netdev(name)
        assert "PROMISC" in host.run("ip", "link", "show", name)
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        end = time.monotonic() + PATIENCE
        while pmd.stats()["RX-packets"] == 0:  # the card looks at the netdev now and then
            assert time.monotonic() < end
            peer.send(to(STRANGER))
            time.sleep(0.05)
        pmd.cmd("set promisc 0 off")
        assert "PROMISC" not in host.run("ip", "link", "show", name)
        pmd.cmd("set promisc 0 on")
        assert "PROMISC" in host.run("ip", "link", "show", name)
        pmd.cmd("stop")
        pmd.cmd("port stop 0")
        pmd.cmd("port close 0")
        assert "PROMISC" not in host.run("ip", "link", "show", name)


def listed(name):
    """The addresses of a netdev beside its own that are not Linux's."""
    lines = host.run("bridge", "fdb", "show", "dev", name).splitlines()
    return {line.split()[0] for line in lines if "self" in line} & {SECOND, FOREIGN, GROUP, STRANGER, *MACS}


def send_until(pmd, peer, dst, arrives):
    """Frames for an address, which arrive or not: the card looks at the netdev now and then."""
    end = time.monotonic() + PATIENCE
    while True:
        before = pmd.stats()["RX-packets"]
        peer.send(*[to(dst)] * 5, to(frames.BROADCAST))  # in this order
        pmd.wait_stats(lambda stats: stats["RX-packets"] > before)
        time.sleep(0.1)
        if pmd.stats()["RX-packets"] - before == (6 if arrives else 1):
            return
        assert time.monotonic() < end, (dst, arrives)


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_further_addresses_are_on_the_netdev(tmp_path):
    """They arrive without trust, through stop, start and reset, and are gone with the port."""
    with host.netdev_that_is_up() as name:
        host.run("bridge", "fdb", "add", FOREIGN, "dev", name, "self", "permanent")
        port = f"wire=unix:{tmp_path}/wire,vf=on,kernel=tap:{name}"
        with Testpmd(ports=[port], args=["--rxq=1", "--txq=1"]) as pmd, Cable(tmp_path / "wire") as peer:
            pmd.cmd("set fwd rxonly")
            pmd.cmd("start")
            for command, dst in (("mac_addr", SECOND), ("mcast_addr", GROUP)):
                send_until(pmd, peer, dst, False)
                assert "port 0" not in pmd.cmd(f"{command} add 0 {dst}")
                send_until(pmd, peer, dst, True)
            assert listed(name) == {SECOND, GROUP, FOREIGN}
            pmd.cmd("mac_addr add 0 " + FOREIGN)  # somebody has listed it: it stays
            pmd.cmd("mac_addr remove 0 " + FOREIGN)
            assert listed(name) == {SECOND, GROUP, FOREIGN}
            pmd.cmd("mac_addr remove 0 " + SECOND)
            send_until(pmd, peer, SECOND, False)
            assert listed(name) == {GROUP, FOREIGN}
            pmd.cmd("mac_addr set 0 " + STRANGER)
            send_until(pmd, peer, STRANGER, True)
            pmd.cmd("stop")
            pmd.cmd("port stop 0")
            assert listed(name) == {STRANGER, GROUP, FOREIGN}
            pmd.cmd("port reset 0")
            pmd.cmd("port start 0")
            assert listed(name) == {STRANGER, GROUP, FOREIGN}
            pmd.cmd("start")
            send_until(pmd, peer, GROUP, True)
            pmd.cmd("stop")
            pmd.cmd("port stop 0")
            pmd.cmd("port close 0")
            assert listed(name) == {FOREIGN}


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_two_ports_of_one_function(tmp_path):
    """What both need on the netdev stays until the second is gone."""
    name = host.name("v")
    card = [f"wire=unix:{tmp_path}/wire,vf=on,trust=on,kernel=tap:{name}"]
    vdevs = [f"net_mlx5dv{port},ibdev=mlx5_0" for port in range(2)]

    def is_there():
        return "PROMISC" in host.run("ip", "link", "show", name), listed(name) == {GROUP}

    with Testpmd(ports=card, vdevs=vdevs, args=["--rxq=1", "--txq=1"]) as pmd:
        for port in range(2):
            pmd.cmd(f"mcast_addr add {port} {GROUP}")
        for port, stays in ((0, True), (1, False)):
            assert is_there() == (True, True)
            pmd.cmd(f"port stop {port}")
            pmd.cmd(f"port close {port}")
            assert is_there() == (stays, stays)


def test_the_physical_function_beside_its_functions(tmp_path):
    """It has its own address, and from the wire what no function claims; what functions send to strangers leaves."""
    physical = "02:00:00:00:00:20"
    card = [f"wire=unix:{tmp_path}/wire,pf=on,mac={physical}",
            *[f"wire=unix:{tmp_path}/wire,vf=on,mac={mac}{keys}" for mac, keys in zip(MACS[:2], KEYS)]]
    with Testpmd(ports=card, args=["--rxq=1", "--txq=1", "--port-topology=loop"]) as pmd, \
            Cable(tmp_path / "wire") as peer:
        assert "net_mlx5dv0: virtual function" not in pmd.banner
        assert "port 0: promiscuous mode may change nothing" not in pmd.banner
        assert re.search(r"port 1: promiscuous mode may change nothing: mlx5_1 is virtual function 0", pmd.banner)
        for port in (1, 2):
            pmd.cmd(f"set promisc {port} off")
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        # Function 1 is trusted, and without a netdev promiscuous for its switch: its port takes no stranger's now.
        peer.send(*[to(physical)] * 1, *[to(MACS[0])] * 2, *[to(MACS[1])] * 4, *[to(STRANGER)] * 10, *[to(GROUP)] * 20,
                  *[to(frames.BROADCAST)] * 100)
        until_received(pmd, [131, 102, 104])
        pmd.cmd("stop")
        # A function's frame to a stranger leaves by the wire, and the physical function's, from any address.
        pmd.cmd("set fwd macswap")
        pmd.cmd("start")
        peer.send(to(MACS[0], src=STRANGER), to(physical))
        assert sorted(peer.receive_all(2, PATIENCE)) == sorted([to(STRANGER, src=MACS[0]), to(frames.PEER_MAC, src=physical)])
        until_received(pmd, [132, 103, 104])
        # Both ways through the switch, and nothing of it on the wire.
        peer.send(to(physical, src=MACS[0]))
        end = time.monotonic() + PATIENCE
        while min(received(pmd)[:2]) < 1000:
            assert time.monotonic() < end, received(pmd)
        pmd.cmd("stop")
        assert received(pmd)[2] == 104 and peer.receive(0.2) is None


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_the_switch_goes_by_the_physical_functions_netdev_too(tmp_path):
    """A group that a function lists, and what functions send to a further address, come by its lists and modes alone."""
    with host.netdev_that_is_up() as name, host.netdev_that_is_up() as functions:
        host.run("bridge", "fdb", "add", GROUP, "dev", functions, "self", "permanent")
        function = host.run("cat", f"/sys/class/net/{functions}/address").strip()
        card = [f"wire=unix:{tmp_path}/wire,pf=on,kernel=tap:{name}",
                f"wire=unix:{tmp_path}/wire,vf=on,kernel=tap:{functions}"]
        with Testpmd(ports=card, args=["--rxq=1", "--txq=1", "--port-topology=loop"]) as pmd, \
                Cable(tmp_path / "wire") as peer:
            pmd.cmd("set fwd macswap")
            pmd.cmd("set promisc 1 off")
            pmd.cmd("start")
            send_until(pmd, peer, GROUP, True)
            pmd.cmd("set promisc 0 off")
            send_until(pmd, peer, GROUP, False)
            for on, off in (("set allmulti 0 on", "set allmulti 0 off"),
                            (f"mcast_addr add 0 {GROUP}", f"mcast_addr remove 0 {GROUP}")):
                assert "port 0" not in pmd.cmd(on)
                send_until(pmd, peer, GROUP, True)
                pmd.cmd(off)
                send_until(pmd, peer, GROUP, False)
            assert "PROMISC" not in host.run("ip", "link", "show", name) and listed(name) == set()
            pmd.cmd("mac_addr add 0 " + SECOND)
            before, end = pmd.stats()["RX-packets"], time.monotonic() + PATIENCE
            while pmd.stats()["RX-packets"] == before:
                assert time.monotonic() < end
                peer.send(to(function, src=SECOND))
                time.sleep(0.05)
            pmd.cmd("stop")
            pmd.cmd("port stop 0")
            pmd.cmd("port close 0")
            assert listed(name) == set()


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_linux_on_the_physical_function(tmp_path):
    """Its netdev gets what no function claims, once it is promiscuous, and its address, from functions, too."""
    with host.netdev_that_is_up() as name:
        address = host.run("cat", f"/sys/class/net/{name}/address").strip()
        card = [f"wire=unix:{tmp_path}/wire,pf=on,kernel=tap:{name}",
                f"wire=unix:{tmp_path}/wire,vf=on,mac={MACS[0]}"]
        with Testpmd(ports=card, vdevs=["net_mlx5dv0,ibdev=mlx5_1"], args=["--rxq=1", "--txq=1"]) as pmd, \
                Cable(tmp_path / "wire") as peer, host.PacketSocket(name) as linux:
            pmd.cmd("set fwd macswap")
            pmd.cmd("start")
            peer.send(to(STRANGER), to(address), to(MACS[0], src=address))  # the first is not for Linux
            assert linux.receive(PATIENCE)[:12] == frames.mac(address) + frames.mac(frames.PEER_MAC)
            assert linux.receive(PATIENCE)[:12] == frames.mac(address) + frames.mac(MACS[0])
            linux.send(to(MACS[0], src=STRANGER))
            assert peer.receive(PATIENCE)[:12] == frames.mac(STRANGER) + frames.mac(MACS[0])
            assert pmd.stats()["RX-packets"] == 2
            host.run("ip", "link", "set", name, "promisc", "on")
            end = time.monotonic() + PATIENCE
            while linux.receive(0.1) != to(STRANGER):  # the card looks at the netdev now and then
                assert time.monotonic() < end
                peer.send(to(STRANGER))


def test_a_capture_without_pace_is_shared_without_loss(tmp_path):
    """It waits for whichever function has no room."""
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, [to(MACS[i % 2]) for i in range(6000)])
    shared = [f"wire=pcap:{capture},pace=0,vf=on,mac={mac}" for mac in MACS[:2]]
    args = ["--rxq=1", "--txq=1", "--rxd=64", "--disable-device-start"]
    with Testpmd(ports=shared, args=args) as pmd:
        # It plays from the first rule on: not before both have theirs.
        ctl.ask(pmd, "freeze")
        pmd.cmd("port start all")
        ctl.ask(pmd, "thaw")
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        for port in range(2):
            pmd.wait_stats(lambda stats: stats["RX-packets"] >= 3000, port=port)
        assert [pmd.stats(port)["RX-missed"] for port in range(2)] == [0, 0]
        assert [pmd.stats(port)["RX-packets"] for port in range(2)] == [3000, 3000]
