# SPDX-License-Identifier: BSD-3-Clause
"""Stock dpdk-dumpcap, dpdk-pdump and dpdk-proc-info beside testpmd: the port in a secondary process."""
import contextlib
import os
import re
import signal
import tempfile
import time

import pytest
from harness import frames, host, pcapfile
from harness.cable import Cable
from harness.dpdk import DUMP_RING
from harness.patience import PATIENCE
from harness.shared import SharedTestpmd, hugepages_at

MAC = frames.PORT_MAC
PEER, KERNEL = "192.0.2.2", "192.0.2.1"
PING_REQUEST, PING_REPLY = 8, 0


@pytest.fixture(scope="module")
def hugepages(tmp_path_factory):
    with hugepages_at(tmp_path_factory.mktemp("huge")) as directory:
        yield directory


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
    return namespace.ping(KERNEL, count)


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
            deadline = time.monotonic() + PATIENCE
            while dumpcap.process.poll() is None and time.monotonic() < deadline:
                sent += 10
                answered += ping(namespace, 10)
            assert dumpcap.wait() == 0, dumpcap.text
        assert answered == sent, "Linux missed a ping while it was captured"
        assert ping(namespace, 5) == 5
        assert pmd.stats()["RX-packets"] > 20
    types = icmp_types(capture)
    assert types[PING_REQUEST] >= 5 and types[PING_REPLY] >= 5, types


def exchange(peer, count, at):
    """Frames that testpmd has returned with their addresses swapped: (sent, received)"""
    sent = [frames.packet(sport=at + i) for i in range(count)]
    peer.send(*sent)
    returned = [frame[6:12] + frame[:6] + frame[12:] for frame in sent]
    assert peer.receive_all(count, PATIENCE) == returned
    return sent, returned


def test_pdump_of_both_directions(hugepages, tmp_path):
    """Each into a file of its own, complete and in order; the port goes on as before."""
    # Of longer names it takes the first 63 bytes.
    with tempfile.TemporaryDirectory(prefix="mdv") as directory, \
            SharedTestpmd(hugepages, f"wire=unix:{tmp_path}/wire,mac={MAC}") as pmd, Cable(tmp_path / "wire") as peer:
        files = [f"{directory}/rx.pcap", f"{directory}/tx.pcap"]
        pmd.cmd("set fwd macswap")
        pmd.cmd("start")
        exchange(peer, 10, 1000)
        with pmd.secondary("dpdk-pdump", "--lcores", "2@0", "--file-prefix", pmd.prefix, "--no-pci", "--", "--pdump",
                           f"port=0,queue=*,rx-dev={files[0]},tx-dev={files[1]},ring-size=1024,total-num-mbufs=4095") as pdump:
            pdump.expect("capture for", 0)
            wanted = exchange(peer, 500, 2000)
            end = time.monotonic() + PATIENCE
            while any("used=0" not in pmd.cmd(f"{DUMP_RING} {side}_ring_0").replace(" ", "") for side in ("rx", "tx")):
                assert time.monotonic() < end
            os.kill(pdump.process.pid, signal.SIGINT)
            assert pdump.wait() == 0, pdump.text
        exchange(peer, 10, 3000)
        assert [pcapfile.read(file) for file in files] == list(wanted)


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
