# SPDX-License-Identifier: BSD-3-Clause
"""Link events: softhca ctl takes the link of a port down and up, testpmd hears of it."""
import pathlib
import re
import time

from harness.ctl import link, pid_of
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

EVENT = "Port {}: link state change event"


def hear(pmd, start, port=0):
    pmd.terminal.expect(EVENT.format(port), start)


def test_testpmd_is_told_of_the_link():
    with Testpmd(link_events=True, ports=["wire=loop", "wire=loop"]) as pmd:
        assert pmd.info(0)["Link status"] == pmd.info(1)["Link status"] == "up"
        for state in ("down", "up") * 3:
            start = pmd.mark()
            link(pmd, state)
            hear(pmd, start)
            # testpmd asks the driver nothing for this: with interrupts the driver keeps it.
            assert pmd.info(0)["Link status"] == state
            assert pmd.info(1)["Link status"] == "up"
            assert EVENT.format(1) not in pmd.terminal.text


def test_a_stopped_port_keeps_its_link():
    """What happens while a port is stopped is known when it starts."""
    with Testpmd(link_events=True, ports=["wire=null"]) as pmd:
        pmd.cmd("port stop 0")
        start = pmd.mark()
        link(pmd, "down")
        hear(pmd, start)
        pmd.cmd("port start 0")
        assert pmd.info()["Link status"] == "down"
        start = pmd.mark()
        link(pmd, "up")
        hear(pmd, start)
        assert pmd.info()["Link status"] == "up"


def test_nobody_asked():
    """Without LSC interrupts there are no events, and the link is looked at when asked for."""
    with Testpmd(ports=["wire=null"]) as pmd:
        for state in ("down", "up"):
            link(pmd, state)
            assert pmd.info()["Link status"] == state
        assert EVENT.format(0) not in pmd.terminal.text


def test_events_after_a_reset_and_until_the_end():
    with Testpmd(link_events=True, ports=["wire=null"]) as pmd:
        pmd.cmd("port stop 0")
        pmd.cmd("port reset 0")
        pmd.cmd("port start 0")
        for state in ("down", "up"):
            start = pmd.mark()
            link(pmd, state)
            hear(pmd, start)
            assert pmd.info()["Link status"] == state
        pmd.cmd("port stop 0")
        start = pmd.mark()
        link(pmd, "down")
        hear(pmd, start)
        # Attached again, it hears of changes; traffic and stop go on as ever.
        pmd.cmd("port close 0")
        pmd.cmd("port attach net_mlx5dv1,ibdev=mlx5_0")
        pmd.cmd("port start all")
        assert pmd.info()["Link status"] == "down"
        start = pmd.mark()
        link(pmd, "up")
        hear(pmd, start)
        assert pmd.info()["Link status"] == "up"


def wait_for_worker(pmd):
    """testpmd's thread for interrupts restarts forwarding for the ports that are left; commands meanwhile confuse
    both. The worker sleeps until then."""
    end = time.monotonic() + PATIENCE
    while True:
        for task in pathlib.Path(f"/proc/{pid_of(pmd)}/task").iterdir():
            name, _, rest = (task / "stat").read_text().rpartition(")")
            if re.search(r"\((rte-worker-|dpdk-worker)1$", name) and rest.split()[0] == "R":
                return
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_dead_device_is_removed(tmp_path):
    """The application is told, once, and testpmd takes the port away; the other goes on."""
    faults = tmp_path / "faults"
    faults.write_text("device fatal at 2000 of mlx5_0")
    with Testpmd(link_events=True, ports=["wire=loop", "wire=loop"], args=["--port-topology=loop"],
                 softhca_options=("--faults", faults)) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 2")
        pmd.terminal.expect("Port 0: device removal event", 0)
        pmd.terminal.expect("mlx5dv: port 0: the device mlx5_0 has failed and does nothing any more", 0)
        pmd.terminal.expect("Port 0 is closed", 0)
        pmd.terminal.expect("Now total ports is 1", 0)
        wait_for_worker(pmd)
        assert pmd.info(1)["Link status"] == "up"
        assert "Invalid port 0" in pmd.cmd("show port info 0")
        # testpmd stops and starts forwarding in a thread of its own, with which commands are not to meet.
        pmd.terminal.expect("io packet forwarding - ports=1", 0)
        received = pmd.stats(1)["RX-packets"]
        pmd.wait_stats(lambda stats: stats["RX-packets"] > received + 1000, port=1)
        assert pmd.terminal.text.count("device removal event") == 1
