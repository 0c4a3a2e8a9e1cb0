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
    status, text = run_dpdk_test("pmd_perf_autotest", ["wire=loop,speed=1g"], quiet=300)
    passed(status, text)
    cycles = re.findall(r"Result: (\d+) cycles per packet", text)
    assert cycles and all(int(count) > 0 for count in cycles), text
    assert "net_mlx5dv" in text or "Allocated mbuf pool" in text, text


def test_event_eth_rx_adapter():
    """Needs: one port with one queue of each kind; configures and starts it, moves no frame."""
    status, text = run_dpdk_test("event_eth_rx_adapter_autotest", ["wire=loop"])
    passed(status, text)
