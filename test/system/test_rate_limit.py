# SPDX-License-Identifier: BSD-3-Clause
"""Rates that testpmd gives a queue, and those that the device does not take.

What they do to packets, by the timestamps of those who receive them, is in test/unit/drv/port/life_rate_test.c."""
import pytest
from harness.testpmd import Testpmd


def test_a_rate_is_set_and_taken_back():
    with Testpmd() as pmd:
        assert pmd.cmd("set port 0 queue 0 rate 20").strip() == ""
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda s: s["RX-packets"] > 100)
        pmd.cmd("stop")
        assert pmd.cmd("set port 0 queue 0 rate 0").strip() == ""
        pmd.cmd("start tx_first 1")
        before = pmd.stats()["RX-packets"]
        pmd.wait_stats(lambda s: s["RX-packets"] > before + 1000)
        pmd.cmd("stop")


@pytest.mark.parametrize("model,rate,why", [
    ("cx4lx", 60000, "60000 Mbit/s, the device takes 1 to 50000000 kbit/s"),
    ("cx5", 100000, ""),
])
def test_the_devices_limits_hold(model, rate, why):
    with Testpmd(ports=[f"wire=loop,speed=100g,model={model}"]) as pmd:
        answer = pmd.cmd(f"set port 0 queue 0 rate {rate}")
        assert (why in answer) if why else answer.strip() == "", answer


@pytest.mark.parametrize("model,why", [
    ("cx4lx", "not all devices take sizes: tx_max_burst_sz, tx_typical_pkt_sz"),
    ("cx6dx", ""),
])
def test_sizes_are_the_devices_choice_or_not(model, why):
    vdev = "net_mlx5dv0,ibdev=mlx5_0,tx_max_burst_sz=4096,tx_typical_pkt_sz=64"
    with Testpmd(ports=[f"wire=loop,model={model}"], vdevs=[vdev]) as pmd:
        answer = pmd.cmd("set port 0 queue 0 rate 20")
        assert (why in answer) if why else answer.strip() == "", answer
