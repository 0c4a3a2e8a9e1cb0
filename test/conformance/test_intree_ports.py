# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's in-tree mlx5 driver on two ports that a cable joins, and its rules in numbers."""
import re

import pytest
from harness import dpdk, frames, pcapfile
from harness.intree import InTreeTestpmd, pci_args, with_netdevs
from harness.program import run_on_softhca
from harness.testpmd import eal_prefix, remove_runtime_dir

pytestmark = pytest.mark.usefixtures("tap_allowed")

PAIR = ["wire=pair:c,mac=02:00:00:00:00:0a", "wire=pair:c,mac=02:00:00:00:00:0b"]
ENGINES = ["dv_flow_en=1", "dv_flow_en=0"]


def count(text, pattern):
    """What testpmd says when it stops, summed up. The driver's own counters run ahead of it: they
    count what waits decompressed."""
    found = re.findall(pattern, text)
    assert found, text
    return sum(int(number) for number in found)


@pytest.mark.parametrize("devargs", ENGINES)
def test_two_ports_on_one_cable(devargs):
    """What goes in at one end comes out at the other, in circles: testpmd sends it back."""
    with InTreeTestpmd(*PAIR, args=["--rxq=2", "--txq=2"], devargs=devargs) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 2")
        for port in (0, 1):
            pmd.wait_stats(lambda s: s["RX-packets"] > 20000, port=port)
        streams = pmd.cmd("stop")
        for port in (0, 1):
            stats = pmd.stats(port)
            assert stats["RX-errors"] == stats["TX-errors"] == stats["RX-missed"] == 0, stats
            # Two bursts of 32 on two queues are on their way, but for a few frames that Linux said
            # unasked on the TAPs and that nobody sent.
            on_the_way = count(streams, rf"-> TX Port= {port}/.*\n.*TX-packets: (\d+)") \
                - count(streams, rf"RX Port= {1 - port}/.*\n.*RX-packets: (\d+)")
            assert 128 - 30 < on_the_way <= 128, streams


def test_a_port_without_a_netdev_is_refused():
    """The driver knows ports by their netdevs; the words are its own, and the program has no port."""
    prefix = eal_prefix()
    try:
        status, text = run_on_softhca(
            ["dpdk-test-flow-perf", "-l", "0,1", "--no-huge", "-m", "256", "--no-telemetry",
             "--file-prefix", prefix, *pci_args(), "--", "--ingress", "--ether", "--queue"], ["wire=loop"])
    finally:
        remove_runtime_dir(prefix)
    assert status != 0
    assert "Unable to recognize master/representors on the multiple IB devices" in text, text
    assert "Requested device 5ca0:00:00.0 cannot be used" in text, text


@pytest.mark.parametrize("devargs", ENGINES)
def test_rules_are_a_port_s_own(devargs):
    with InTreeTestpmd(*PAIR, devargs=devargs) as pmd:
        pmd.flow("ingress pattern eth / end actions drop / end", port=1)
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda s: s["RX-packets"] > 0, port=0)
        pmd.cmd("stop")
        # Port 1 received nothing of port 0's burst of 32, so port 0 sent no more than that. A few frames that Linux said
        # on its TAP before there was the rule may have waited in the ring: testpmd flushes them when it starts, or, if
        # it was faster than they, forwards them to port 0.
        waited = pmd.stats(1)["RX-packets"]
        assert waited < 16 and 32 <= pmd.stats(0)["TX-packets"] <= 32 + waited


@pytest.mark.parametrize("devargs, options", [
    ("dv_flow_en=1", "--ether --ipv4 --udp --queue"),
    pytest.param("dv_flow_en=1", "--ether --vlan --ipv6 --tcp --mark --rss", marks=pytest.mark.long),
    ("dv_flow_en=0", "--ether --ipv4 --udp --vxlan --queue"),
    pytest.param("dv_flow_en=0", "--ether --ipv6 --tcp --count --rss", marks=pytest.mark.long),
    pytest.param("dv_flow_en=0", "--ether --vlan --ipv4 --gre --drop", marks=pytest.mark.long),
])
def test_flow_perf(devargs, options):
    """dpdk-test-flow-perf installs its rules and takes them away again."""
    prefix = eal_prefix()
    try:
        status, text = run_on_softhca(
            ["dpdk-test-flow-perf", "-l", "0,1", "--no-huge", "-m", "256", "--no-telemetry",
             "--file-prefix", prefix, *pci_args(devargs), "--", "--ingress", "--rules-count=8000",
             "--rules-batch=1000", "--deletion-rate", *options.split()],
            with_netdevs(["wire=loop"]))
    finally:
        remove_runtime_dir(prefix)
    assert status == 0, text
    for what in ("flows insertion rate", "deletion rate"):
        rate = re.search(rf"Total {what} -> ([\d.]+) K Rules/Sec", text)
        assert rate and float(rate.group(1)) > 0, text


@pytest.mark.parametrize("devargs", [ENGINES[0], *(pytest.param(engine, marks=pytest.mark.long) for engine in ENGINES[1:])])
def test_capture_without_loss(tmp_path, devargs):
    """The driver makes its rules one by one; a delayed capture begins when all are there."""
    capture = tmp_path / "in.pcap"
    sent = [frames.packet(eth_dst=(frames.PORT_MAC, frames.BROADCAST, "33:33:00:00:00:01")[i % 3],
                          sport=i, version=(4, 6)[i % 2]) for i in range(3000)]
    pcapfile.write(capture, sent)
    wire = f"wire=pcap:{capture},pace=0,delay=2000,mac={frames.PORT_MAC}"
    with InTreeTestpmd(wire, args=["--disable-device-start", "--rxq=2", "--txq=2"],
                       devargs=devargs) as pmd:
        pmd.cmd("set promisc 0 off")
        pmd.cmd("set fwd rxonly")
        pmd.cmd("port start 0")
        pmd.cmd("start")
        # 24.11 makes rules of the addresses in mac_own only, and mlx5_os_mac_addr_add() enters a PF's in no case; 25.11
        # does again.
        wanted = [frame for frame in sent if dpdk.VERSION != (24, 11) or frame[:6] != frames.mac(frames.PORT_MAC)]
        stats = pmd.wait_stats(lambda s: s["RX-packets"] >= len(wanted))
        assert stats["RX-packets"] == len(wanted) and stats["RX-missed"] == 0, stats
