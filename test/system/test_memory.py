# SPDX-License-Identifier: BSD-3-Clause
"""Mempools of every kind testpmd can make: the device reaches them all, --no-huge throughout."""
import pathlib
import re

import pytest
from harness import frames, pcapfile
from harness.shared import hugepages_at
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC


@pytest.mark.parametrize("kind", ["native", "anon", "xmem", "xbuf"])
def test_pool_kinds(tmp_path, kind):
    pool_of(tmp_path, kind)


def test_pool_in_hugepages(tmp_path):
    (tmp_path / "huge").mkdir()
    with hugepages_at(tmp_path / "huge"):
        pool_of(tmp_path, "xmemhuge")


def pool_of(tmp_path, kind):
    # Fewer than either ring holds: none is lost, whoever gets the CPU.
    sent = [frames.packet(sport=i, data=bytes(j & 255 for j in range(1 + i * 7 % 1400)))
            for i in range(3000)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC},pace=0"],
                 args=[f"--mp-alloc={kind}", "--rxd=4096", "--txd=4096", "--mlockall"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        stats = pmd.stats()
        pmd.cmd("stop")
        assert stats["RX-errors"] == stats["TX-errors"] == stats["RX-nombuf"] == 0
    assert pcapfile.read(result) == sent


def by_this_cpu():
    """What auto decides: Intel's Haswell and Broadwell are slower with it."""
    cpu = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (\S+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M))
    if cpu.get("vendor_id") == "GenuineIntel" and cpu["cpu family"] == "6" and \
            int(cpu["model"]) in (0x3c, 0x3d, 0x3f, 0x45, 0x46, 0x47, 0x4f, 0x56):
        return " without relaxed ordering: this CPU (Haswell or Broadwell) is slower with it"
    return " with relaxed ordering: no reason against it is known of this CPU"


@pytest.mark.parametrize("devargs,says", [
    ("", by_this_cpu()),
    (",relaxed_ordering=auto", by_this_cpu()),
    (",relaxed_ordering=on", " with relaxed ordering: as relaxed_ordering= says"),
    (",relaxed_ordering=off", " without relaxed ordering: as relaxed_ordering= says"),
])
def test_order_of_writes_is_chosen(devargs, says):
    """On softhca packets go through either way."""
    with Testpmd(vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], eal=["--log-level=pmd.net.mlx5dv:info"]) as pmd:
        line = next(line for line in pmd.banner.splitlines() if "packet memory" in line)
        assert says in line, line
        pmd.cmd("start tx_first")
        pmd.wait_stats(lambda stats: stats["RX-packets"] > 1000)


def test_pool_of_thousands_of_pages():
    """anon memory registers page by page where it must: a large pool, all of it used."""
    with Testpmd(args=["--mp-alloc=anon", "--total-num-mbufs=60000", "--rxd=4096", "--txd=4096"],
                 memory=2048) as pmd:
        pmd.cmd("start tx_first 64")
        pmd.wait_stats(lambda s: s["RX-packets"] > 200000)
        pmd.cmd("stop")
        stats = pmd.stats()
        assert stats["TX-errors"] == stats["RX-errors"] == 0


def test_frames_of_one_ports_pool_leave_by_another():
    """Two ports with pools of their own: each sends the other's mbufs."""
    ports = ("wire=pair:a,mac=02:00:00:00:00:10", "wire=pair:a,mac=02:00:00:00:00:20")
    with Testpmd(ports=ports, args=["--port-topology=loop"]) as pmd:
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda s: s["RX-packets"] > 20000)
        pmd.cmd("stop")
        assert pmd.stats(0)["TX-errors"] == pmd.stats(1)["TX-errors"] == 0
