# SPDX-License-Identifier: BSD-3-Clause
"""A port's life at testpmd's prompt: information, limits, start, stop, close, detach."""
import re

import pytest
from harness.testpmd import Testpmd

MAC = "02:00:00:00:00:10"


def test_port_info():
    with Testpmd(ports=[f"wire=loop,mac={MAC}"]) as pmd:
        info = pmd.info()
        assert info["MAC address"] == MAC
        assert info["Driver name"] == "net_mlx5dv"
        assert info["Link status"] == "up"
        assert info["Link duplex"] == "full-duplex"
        assert info["MTU"] == "1500"
        assert re.match(r"\d+\.\d+\.\d+", info["Firmware-version"])
        assert int(info["Max possible RX queues"]) >= 64
        assert int(info["Max possible number of RXDs per queue"]) >= 4096
        assert int(info["Maximum number of MAC addresses"]) >= 2
        assert info["Hash key size in bytes"] == "40"
        assert "FLOW_RULE_KEEP" in info["Device capabilities"]


@pytest.mark.parametrize("key,shown", [("2.5g", "2.5 Gbps"), ("5g", "5 Gbps"), ("10g", "10 Gbps"),
                                       ("25g", "25 Gbps"), ("100g", "100 Gbps")])
def test_reported_speed_is_the_ports(key, shown):
    with Testpmd(ports=[f"wire=loop,speed={key}"]) as pmd:
        assert pmd.info()["Link speed"] == shown


def test_a_speed_that_is_asked_for_is_not_the_ports():
    with Testpmd() as pmd:
        pmd.cmd("port stop 0")
        pmd.cmd("port config 0 speed 1000 duplex full")
        answer = pmd.cmd("port start 0")
        assert "port 0: link_speeds 0x21: " in answer and "ethtool -s" in answer, answer
        assert pmd.info()["Link speed"] == "25 Gbps"


def test_too_many_descriptors_are_refused():
    with Testpmd() as pmd:
        limit = int(pmd.info()["Max possible number of RXDs per queue"])
        assert limit < 65535
        pmd.cmd("port stop 0")
        pmd.cmd(f"port config 0 rxq 0 ring_size {limit + 1}")
        answer = pmd.cmd("port start 0")
        assert f"<= {limit}" in answer and "Fail" in answer, answer
        pmd.cmd("port config 0 rxq 0 ring_size 512")
        assert "Done" in pmd.cmd("port start 0")
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda s: s["RX-packets"] > 100)
        pmd.cmd("stop")


def test_too_many_queues_are_refused():
    with Testpmd() as pmd:
        limit = int(pmd.info()["Max possible RX queues"])
        pmd.cmd("port stop 0")
        answer = pmd.cmd(f"port config all rxq {limit + 1}")
        assert "greater than" in answer or "input rxq" in answer, answer


def test_odd_ring_sizes_work():
    """Whatever testpmd asks for, the port starts and moves frames."""
    for rxd, txd in ((64, 64), (100, 300), (4096, 4096)):
        with Testpmd(args=[f"--rxd={rxd}", f"--txd={txd}"]) as pmd:
            pmd.cmd("set fwd io")
            pmd.cmd("start tx_first 1")
            pmd.wait_stats(lambda s: s["RX-packets"] > 10000)
            pmd.cmd("stop")


def test_stop_and_start_again_and_again():
    with Testpmd() as pmd:
        last = 0
        for _ in range(10):
            pmd.cmd("start tx_first 1")
            last = pmd.wait_stats(lambda s, last=last: s["RX-packets"] > last + 100)["RX-packets"]
            pmd.cmd("stop")
            assert "Stopping ports..." in pmd.cmd("port stop 0")
            assert "Done" in pmd.cmd("port start 0")
            last = pmd.stats()["RX-packets"]


def test_reconfigure_queues():
    with Testpmd(args=["--total-num-mbufs=8192"]) as pmd:
        for queues in (4, 1, 3):
            pmd.cmd("port stop 0")
            pmd.cmd(f"port config all rxq {queues}")
            pmd.cmd(f"port config all txq {queues}")
            assert "Done" in pmd.cmd("port start 0")
            assert pmd.info()["Current number of RX queues"] == str(queues)
            pmd.cmd("start tx_first 1")
            base = pmd.stats()["RX-packets"]
            pmd.wait_stats(lambda s, base=base: s["RX-packets"] > base + 100)
            pmd.cmd("stop")


def test_close_detach_attach():
    with Testpmd() as pmd:
        for _ in range(5):
            pmd.cmd("port stop 0")
            answer = pmd.cmd("port detach 0")
            assert "is detached" in answer or "is closed" in answer, answer
            answer = pmd.cmd("port attach net_mlx5dv0,ibdev=mlx5_0")
            assert "Port 0 is attached" in answer, answer
            pmd.cmd("port start 0")
            pmd.cmd("set promisc 0 on")
            pmd.cmd("start tx_first 1")
            pmd.wait_stats(lambda s: s["RX-packets"] > 100)
            pmd.cmd("stop")


def test_detach_takes_the_rules_along():
    """Hot-unplug with rules installed: nothing is left in the device for the next port."""
    with Testpmd(args=["--rxq=2", "--txq=2"]) as pmd:
        pmd.flow("ingress pattern eth / ipv4 / udp / end actions queue index 1 / count / end")
        pmd.flow("ingress pattern eth / ipv4 / end actions drop / end")
        pmd.cmd("port stop 0")
        answer = pmd.cmd("port detach 0")
        assert "is detached" in answer or "is closed" in answer, answer
        pmd.cmd("port attach net_mlx5dv0,ibdev=mlx5_0")
        pmd.cmd("port start 0")
        pmd.cmd("set promisc 0 on")
        assert "rule" not in pmd.cmd("flow list 0").lower()
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda s: s["RX-packets"] > 100)
        pmd.cmd("stop")


def test_restart_process_leaves_nothing():
    """Quit without stopping anything by hand: testpmd ends with 0 each time."""
    for _ in range(2):
        with Testpmd(args=["--rxq=2", "--txq=2"]) as pmd:
            pmd.cmd("start tx_first 1")
            pmd.wait_stats(lambda s: s["RX-packets"] > 100)
