# SPDX-License-Identifier: BSD-3-Clause
"""Stock dpdk-dumpcap, dpdk-pdump and dpdk-proc-info beside testpmd: the port in a secondary process.

DPDK 22.11 has secondary processes with hugepages only: with --no-huge dpdk-dumpcap ends with "Cannot get
hugepage information", whatever the driver. So some are reserved for these tests, and given back.
"""
import contextlib
import os
import re
import time

import pytest
from harness import frames, host, paths, pcapfile
from harness.terminal import Terminal
from harness.testpmd import Testpmd, eal_prefix, softhca_argv

MAC = frames.PORT_MAC
PEER, KERNEL = "192.0.2.2", "192.0.2.1"
PING_REQUEST, PING_REPLY = 8, 0
# Mempool handlers are known by their numbers, which follow the order of loading. Debian's testpmd is
# linked with this one and dpdk-dumpcap is not: without it all captured packets count as dropped, with
# net_null as well.
TESTPMD_LINKS = "librte_mempool_dpaa.so.23"


@pytest.fixture(scope="module")
def hugepages(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        try:
            directory = stack.enter_context(host.hugepages(320, tmp_path_factory.mktemp("huge")))
        except OSError as error:
            pytest.skip(f"no hugepages here, which DPDK's secondary processes need: {error}")
        yield directory


class SharedTestpmd(Testpmd):
    """As Testpmd, in hugepages, so that secondary processes can attach."""

    def __init__(self, huge, port, devargs="", args=()):
        self.prefix = eal_prefix()
        command = ["dpdk-testpmd", "-l", "0,1", "--huge-dir", huge, "-m", "256", "--no-pci",
                   "--no-telemetry", "--file-prefix", self.prefix, "-d", paths.plugin()[0],
                   "--vdev", f"net_mlx5dv0,ibdev=mlx5_0{devargs}", "--", "-i",
                   "--total-num-mbufs=4096", "--no-flush-rx", *args]
        self.terminal = Terminal(softhca_argv([port], command),
                                 env=dict(os.environ, **paths.plugin()[1]))
        self.banner = ""
        self.status = None

    @contextlib.contextmanager
    def secondary(self, *argv):
        """A program that has no -d of its own: the driver comes by LD_PRELOAD."""
        preload = f"{TESTPMD_LINKS}:{paths.PLUGIN}"
        terminal = Terminal(argv, env=dict(os.environ, LD_PRELOAD=preload))
        try:
            yield terminal
        finally:
            terminal.close()


@contextlib.contextmanager
def sniffed_port(huge, namespace):
    """Linux's side of the port has 192.0.2.1, the wire's end 192.0.2.2; all is copied to testpmd."""
    wire, kernel = host.name("w"), host.name("k")
    with host.Namespace() as kernel_side, \
            SharedTestpmd(huge, f"wire=tap:{wire},kernel=tap:{kernel},mac={MAC}", ",sniff=all") as pmd:
        kernel_side.take(kernel, f"{KERNEL}/24")
        namespace.take(wire, f"{PEER}/24", mac=frames.PEER_MAC)
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        yield pmd


def ping(namespace, count):
    text = namespace.run("ping", "-c", count, "-i", "0.05", "-W", "10", KERNEL, check=False)
    return int(re.search(r"(\d+) received", text).group(1))


def icmp_types(capture):
    """How many ICMP packets of each type a capture has."""
    types = [frame[34] for frame in pcapfile.read(capture)
             if frame[12:14] == b"\x08\x00" and frame[23] == 1]
    return {kind: types.count(kind) for kind in types}


def test_dumpcap_of_a_live_ping(hugepages, namespace, tmp_path):
    capture = tmp_path / "ping.pcap"
    with sniffed_port(hugepages, namespace) as pmd:
        assert ping(namespace, 1) == 1
        with pmd.secondary("dpdk-dumpcap", f"--file-prefix={pmd.prefix}", "-i", "net_mlx5dv0",
                           "-q", "-P", "-c", "20", "-w", capture) as dumpcap:
            dumpcap.expect("File: ", 0)
            # The file is named before the primary copies; more pings than wanted make up for that.
            answered = sent = 0
            deadline = time.monotonic() + 60
            while dumpcap.process.poll() is None and time.monotonic() < deadline:
                sent += 10
                answered += ping(namespace, 10)
            assert dumpcap.wait() == 0, dumpcap.text
        assert answered == sent, "Linux missed a ping while it was captured"
        assert ping(namespace, 5) == 5
        assert pmd.stats()["RX-packets"] > 20
    types = icmp_types(capture)
    assert types[PING_REQUEST] >= 5 and types[PING_REPLY] >= 5, types


def test_proc_info_reads_the_counters(hugepages, namespace):
    with sniffed_port(hugepages, namespace) as pmd:
        assert ping(namespace, 3) == 3
        pmd.wait_stats(lambda stats: stats["RX-packets"] >= 6)
        with pmd.secondary("dpdk-proc-info", "--file-prefix", pmd.prefix, "--", "--stats") as info:
            assert info.wait() == 0, info.text
        said = info.text
        seen = int(re.search(r"RX-packets:\s*(\d+)", said).group(1))
        assert 6 <= seen <= pmd.stats()["RX-packets"], said


def test_a_secondary_neither_takes_nor_breaks_the_port(hugepages):
    """It lists the port, and goes; the primary forwards as before."""
    with SharedTestpmd(hugepages, f"wire=loop,mac={MAC}") as pmd:
        for _ in range(2):
            with pmd.secondary("dpdk-dumpcap", f"--file-prefix={pmd.prefix}", "-D") as listing:
                assert listing.wait() == 0 and "net_mlx5dv0" in listing.text, listing.text
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda stats: stats["RX-packets"] >= 32)
        pmd.stop()
