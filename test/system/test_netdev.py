# SPDX-License-Identifier: BSD-3-Clause
"""The netdev beside the port: whose its MTU is, and what only it knows of the cable."""
import contextlib
import pathlib

import pytest
from harness import frames, host
from harness.cable import Cable
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC

pytestmark = pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")


@contextlib.contextmanager
def port_beside_netdev(wire="wire=null", args=()):
    """(testpmd, the netdev's name)"""
    name = host.name("n")
    with Testpmd(ports=[f"{wire},kernel=tap:{name},mac={MAC}"], args=args) as pmd:
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
            set_netdev_mtu(name, theirs)
            assert pmd.info()["MTU"] == "1400"
            pmd.cmd("port stop 0")
            pmd.cmd("port start 0")
            assert netdev_mtu(name) == then and pmd.info()["MTU"] == "1400"


def test_the_kernel_changes_the_mtu_under_a_running_port(tmp_path):
    """The port goes on as it was: its frames come, longer ones are lost and counted.

    The device itself would drop what is longer than a smaller MTU: softhca does not.
    """
    wire = tmp_path / "wire"
    with port_beside_netdev(f"wire=unix:{wire}", ["--rxq=1", "--txq=1"]) as (pmd, name):
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        with Cable(wire) as peer:
            expected = 0
            for mtu in (9000, 576, 1500):
                set_netdev_mtu(name, mtu)
                peer.send(frames.packet(data=bytes(1472)), frames.packet(data=bytes(8000)),
                          frames.packet(data=bytes(1472)))
                expected += 2
                pmd.wait_stats(lambda s, n=expected: s["RX-packets"] == n)
            stats = pmd.wait_stats(lambda s: s["RX-errors"] + s["RX-missed"] == 3)
        assert stats["RX-packets"] == 6 and pmd.info()["MTU"] == "1500"
        pmd.cmd("stop")


def test_what_a_tap_does_not_offer_is_refused_by_name():
    with port_beside_netdev() as (pmd, name):
        start = pmd.mark()
        pmd.cmd("show port 0 flow_ctrl")
        pmd.cmd("show port 0 module_eeprom")
        said = pmd.terminal.text[start:]
        assert f"flow control: netdev {name} does not offer it" in said
        assert f"module: netdev {name} does not offer it" in said


def test_without_a_netdev_that_is_said():
    with Testpmd(ports=["wire=null"]) as pmd:
        start = pmd.mark()
        pmd.cmd("set flow_ctrl rx on tx on 0 0 0 0 mac_ctrl_frame_fwd off autoneg on 0")
        pmd.cmd("show port 0 module_eeprom")
        said = pmd.terminal.text[start:]
        assert "flow control: that is the netdev's, and there is none here" in said
        assert "module: that is the netdev's, and there is none here" in said
