# SPDX-License-Identifier: BSD-3-Clause
"""Debian's dpdk-test: the autotests that take a port, on ours.

What each needs is said with it. Tests that never touch an ethdev of the machine (link_bonding*,
pdump, latencystats, bitratestats, pcapng, ring_pmd) would pass without our driver and are not run.
"""
import re

import pytest
from harness.program import run_dpdk_test


def passed(status, text):
    assert status == 0 and "Test OK" in text, text[-4000:]


def test_pmd_perf():
    """Needs: promiscuous mode (it sends to a fixed foreign MAC), a wire that loops, and a modest link
    speed, for it sends two seconds' worth of line rate."""
    status, text = run_dpdk_test("pmd_perf_autotest", ["wire=loop,speed=1g"])
    passed(status, text)
    cycles = re.findall(r"Result: (\d+) cycles per packet", text)
    assert cycles and all(int(count) > 0 for count in cycles), text
    assert "net_mlx5dv" in text or "Allocated mbuf pool" in text, text


@pytest.mark.long
def test_event_eth_rx_adapter():
    """Needs: a port of up to 64 Rx queues of 512 descriptors, promiscuous mode, and 524288 mbufs;
    configures and starts the port and hangs its queues into an event device, moves no frame."""
    status, text = run_dpdk_test("event_eth_rx_adapter_autotest", ["wire=loop"], memory=3072)
    passed(status, text)
    assert "net_null" not in text, text


def test_event_eth_rx_adapter_by_interrupts():
    """Needs: an interrupt for each of 64 Rx queues, which the adapter adds to its epoll and takes out again; of
    queues that share one it would wait for the first alone."""
    status, text = run_dpdk_test("event_eth_rx_intr_adapter_autotest", ["wire=loop"], memory=3072)
    passed(status, text)
    assert "Tests Passed :       2" in text and "net_null" not in text, text


def test_event_eth_tx_adapter_wants_a_port_it_made_itself():
    """Needs: ethdev 0 to be one of its own ring ports. With any port of the machine before them, ours or
    another's, it hangs an unconfigured port into the adapter and is refused: no evidence either way.
    Run with another driver's port to see that the cause is not ours."""
    _, text = run_dpdk_test("event_eth_tx_adapter_autotest", ["wire=loop"])
    _, other = run_dpdk_test("event_eth_tx_adapter_autotest", ["wire=loop"], vdevs=["net_null0"])
    assert failed_cases(text) == failed_cases(other), (text[-3000:], other[-3000:])


def failed_cases(text):
    return re.findall(r"TestCase \[ *\d+\] : (\w+) failed", text)
