# SPDX-License-Identifier: BSD-3-Clause
"""The netdev beside the port: whose its MTU is, what only it knows of the cable, and what befalls it."""
import contextlib
import pathlib
import time

import pytest
from harness import frames, host
from harness.cable import Cable
from harness.patience import PATIENCE, until
from harness.testpmd import NOT_STRICT, Testpmd

MAC = frames.PORT_MAC

pytestmark = pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")


@contextlib.contextmanager
def port_beside_netdev(wire="wire=null", args=(), **options):
    """(testpmd, the netdev's name)"""
    name = host.name("n")
    with Testpmd(ports=[f"{wire},kernel=tap:{name},mac={MAC}"], args=args, **options) as pmd:
        yield pmd, name


def netdev_mtu(name):
    return int(pathlib.Path(f"/sys/class/net/{name}/mtu").read_text(encoding="ascii"))


def set_netdev_mtu(name, mtu):
    host.run("ip", "link", "set", name, "mtu", mtu)


def test_the_application_sets_the_netdevs_mtu():
    with port_beside_netdev() as (pmd, name):
        for mtu in (2000, 1400):
            pmd.cmd("port stop 0")
            pmd.cmd(f"port config mtu 0 {mtu}")
            assert pmd.info()["MTU"] == str(mtu) and netdev_mtu(name) == mtu
            pmd.cmd("port start 0")
        # What Linux made larger is let be, what it made too small is raised with the next start.
        for theirs, then in ((3000, 3000), (1000, 1400)):
            start = pmd.mark()
            set_netdev_mtu(name, theirs)
            pmd.terminal.expect(f"netdev {name} has an MTU of {theirs} now, and the port one of 1400", start)
            assert pmd.info()["MTU"] == "1400"
            pmd.cmd("port stop 0")
            pmd.cmd("port start 0")
            assert netdev_mtu(name) == then and pmd.info()["MTU"] == "1400"


def test_the_kernel_changes_the_mtu_under_a_running_port(tmp_path):
    """The port says so and goes on as it was: its frames come, longer ones are lost and counted.

    The device itself would drop what is longer than a smaller MTU: softhca does not.
    """
    wire = tmp_path / "wire"
    with port_beside_netdev(f"wire=unix:{wire}", ["--rxq=1", "--txq=1"],
                            softhca_options=NOT_STRICT) as (pmd, name):
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        with Cable(wire) as peer:
            expected = 0
            for mtu, advice in ((9000, "longer frames come in"), (576, "the device drops what is longer"), (1500, "")):
                start = pmd.mark()
                set_netdev_mtu(name, mtu)
                pmd.terminal.expect(advice, start)
                peer.send(frames.packet(data=bytes(1472)), frames.packet(data=bytes(8000)),
                          frames.packet(data=bytes(1472)))
                expected += 2
                pmd.wait_stats(lambda s, n=expected: s["RX-packets"] == n)
            stats = pmd.wait_stats(lambda s: s["RX-errors"] + s["RX-missed"] == 3)
        assert stats["RX-packets"] == 6 and pmd.info()["MTU"] == "1500"
        assert pmd.terminal.text.count("has an MTU of") == 2
        pmd.cmd("stop")


def test_the_netdev_is_taken_down_and_up():
    """By whomever: the application hears of it, and sees it when it looks."""
    with host.netdev_that_is_up() as name, \
            Testpmd(ports=[f"wire=loop,kernel=tap:{name},mac={MAC}"], link_events=True) as pmd:
        assert pmd.info()["Link status"] == "up"
        for state in ("down", "up"):
            start = pmd.mark()
            host.run("ip", "link", "set", name, state)
            pmd.terminal.expect("Port 0: link state change event", start)
            assert pmd.info()["Link status"] == state
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 1")
        for state in ("down", "up"):
            start = pmd.mark()
            pmd.terminal.send(f"set link-{state} port 0\n")
            pmd.terminal.expect("Port 0: link state change event", start)
            assert pmd.info()["Link status"] == state
            # Frames circle as before: the cable is the card's.
            before = pmd.stats()["RX-packets"]
            pmd.wait_stats(lambda stats, n=before: stats["RX-packets"] > n + 1000)
        pmd.cmd("stop")


def test_a_port_is_reset_beside_the_renamed_netdev():
    """Whose old name, which the driver's arguments have, is another netdev's by then."""
    name, later = host.name("n"), host.name("n")
    with Testpmd(ports=[f"wire=loop,kernel=tap:{name}"], vdevs=[f"net_mlx5dv0,iface={name}"]) as pmd:
        start = pmd.mark()
        host.run("ip", "link", "set", name, "down")
        host.run("ip", "link", "set", name, "name", later)
        pmd.terminal.expect(f"port 0: netdev {name} is called {later} now", start)
        host.run("ip", "tuntap", "add", name, "mode", "tap")
        try:
            pmd.cmd("port stop 0")
            assert "Failed" not in pmd.cmd("port reset 0")
            pmd.cmd("port config mtu 0 2000")
            pmd.cmd("port start 0")
            assert netdev_mtu(later) == 2000 and netdev_mtu(name) == 1500
        finally:
            host.run("ip", "link", "del", name)


def test_the_netdev_is_renamed_and_deleted():
    """The port stays with it whatever it is called, and goes on without it."""
    other = host.name("n")
    with port_beside_netdev("wire=loop") as (pmd, name):
        start = pmd.mark()
        host.run("ip", "link", "set", name, "down")
        host.run("ip", "link", "set", name, "name", other)
        pmd.terminal.expect(f"port 0: netdev {name} is called {other} now", start)
        pmd.cmd("port stop 0")
        pmd.cmd("port config mtu 0 2000")
        pmd.cmd("port start 0")
        assert netdev_mtu(other) == 2000
        wait_link_up(pmd)
        assert "MODULE EEPROM length: 640 bytes" in pmd.cmd("show port 0 module_eeprom")
        start = pmd.mark()
        host.run("ip", "link", "del", other)
        pmd.terminal.expect(f"port 0: netdev {other} is gone, deleted or moved to another network namespace", start)
        does_without(pmd)


@pytest.mark.skipif(host.why_no_netns() is not None, reason=f"no namespaces: {host.why_no_netns()}")
def test_the_netdev_moves_to_another_namespace():
    """It may come back, and is not touched then: another could have its index by now."""
    with host.Namespace() as away, port_beside_netdev("wire=loop") as (pmd, name):
        start = pmd.mark()
        away.take(name)
        pmd.terminal.expect(f"port 0: netdev {name} is gone", start)
        does_without(pmd)
        away.run("ip", "link", "set", name, "netns", 1)
        pmd.cmd("port stop 0")
        pmd.cmd("port config mtu 0 1300")
        assert netdev_mtu(name) == 1500 and pmd.info()["MTU"] == "1300"


@pytest.mark.skipif(host.why_no_netns() is not None, reason=f"no namespaces: {host.why_no_netns()}")
def test_a_port_is_reset_while_its_netdev_is_away():
    """The arguments name nothing but the netdev; the device is there."""
    name = host.name("n")
    with host.Namespace() as away, \
            Testpmd(ports=[f"wire=loop,kernel=tap:{name}"], vdevs=[f"net_mlx5dv0,iface={name}"]) as pmd:
        start = pmd.mark()
        away.take(name)
        pmd.terminal.expect(f"port 0: netdev {name} is gone", start)
        pmd.cmd("port stop 0")
        assert "Failed" not in pmd.cmd("port reset 0")
        pmd.cmd("port start 0")
        does_without(pmd)


def wait_link_up(pmd):
    """The device sees a moment later that its netdev is."""
    end = time.monotonic() + PATIENCE
    while pmd.info()["Link status"] != "up":
        assert time.monotonic() < end


def does_without(pmd):
    """A port whose netdev has gone: what is the netdev's it says it has not, and it sends and receives."""
    assert "that is the netdev's, and there is none here" in pmd.cmd("show port 0 flow_ctrl")
    wait_link_up(pmd)
    pmd.cmd("port stop 0")
    pmd.cmd("port config mtu 0 1400")
    pmd.cmd("port start 0")
    assert pmd.info()["MTU"] == "1400"
    pmd.cmd("set fwd io")
    pmd.cmd("start tx_first 1")
    pmd.wait_stats(lambda stats: stats["RX-packets"] >= 1000)
    pmd.cmd("stop")


def test_what_a_netdev_does_not_offer_is_refused_by_name():
    """Of a virtual function: pauses are the port's."""
    with port_beside_netdev("wire=null,vf=on") as (pmd, name):
        start = pmd.mark()
        pmd.cmd("set flow_ctrl rx on tx on 0 0 0 0 mac_ctrl_frame_fwd off autoneg off 0")
        said = pmd.terminal.text[start:]
        assert f"flow control: netdev {name} does not offer it" in said


def test_without_a_netdev_that_is_said():
    with Testpmd(ports=["wire=null"]) as pmd:
        start = pmd.mark()
        pmd.cmd("set flow_ctrl rx on tx on 0 0 0 0 mac_ctrl_frame_fwd off autoneg on 0")
        pmd.cmd("show port 0 module_eeprom")
        said = pmd.terminal.text[start:]
        assert "flow control: that is the netdev's, and there is none here" in said
        assert "module: that is the netdev's, and there is none here" in said


def test_an_address_that_the_netdev_lists_is_its_own(tmp_path):
    """As a macvlan's on it is."""
    listed = "02:00:00:00:00:55"
    frame, to_all = (frames.packet(eth_dst=dst, eth_src=frames.PEER_MAC) for dst in (listed, frames.BROADCAST))
    wire = tmp_path / "wire"
    with port_beside_netdev(f"wire=unix:{wire}", ["--rxq=1", "--txq=1", "--flow-isolate-all"]) as (_, name), \
            Cable(wire) as peer:
        host.quiet_netdev(name)
        with host.PacketSocket(name) as linux:
            def gets():
                peer.send(frame, to_all)  # in this order
                received = [linux.receive(PATIENCE)]
                if received == [frame]:
                    received.append(linux.receive(PATIENCE))
                assert received[-1] == to_all
                return len(received) == 2

            assert not gets()
            host.run("bridge", "fdb", "add", listed, "dev", name, "self", "permanent")
            until(gets)
            host.run("bridge", "fdb", "del", listed, "dev", name, "self")
            until(lambda: not gets())
