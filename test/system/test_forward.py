# SPDX-License-Identifier: BSD-3-Clause
"""Forwarding: every frame is accounted for, and goes out as it came in."""
import time

import pytest
from harness import frames, pcapfile
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC


def test_io_over_loop_counts_match():
    """128 frames circle: each received one is sent again, so sent = received + those under way."""
    with Testpmd() as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 4")
        pmd.wait_stats(lambda s: s["RX-packets"] > 200000)
        pmd.cmd("stop")
        time.sleep(0.2)
        stats = pmd.stats()
        assert stats["RX-missed"] == 0 and stats["RX-errors"] == 0 and stats["TX-errors"] == 0
        assert stats["TX-packets"] - stats["RX-packets"] == 128, stats
        assert stats["RX-bytes"] == stats["RX-packets"] * 64
        assert stats["TX-bytes"] == stats["TX-packets"] * 64


def test_io_over_pair_counts_match():
    """Two ports on one cable, each echoing what the other sends."""
    ports = ("wire=pair:a,mac=02:00:00:00:00:10", "wire=pair:a,mac=02:00:00:00:00:20")
    with Testpmd(ports=ports, args=["--port-topology=loop"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 2")
        pmd.wait_stats(lambda s: s["RX-packets"] > 50000)
        pmd.cmd("stop")
        time.sleep(0.2)
        a, b = pmd.stats(0), pmd.stats(1)
        sent, received = a["TX-packets"] + b["TX-packets"], a["RX-packets"] + b["RX-packets"]
        assert sent - received == 128, (a, b)


@pytest.mark.parametrize("queues", [2, 4])
def test_several_queues_circle(queues):
    with Testpmd(args=[f"--rxq={queues}", f"--txq={queues}"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda s: s["RX-packets"] > 50000)
        pmd.cmd("stop")
        time.sleep(0.2)
        stats = pmd.stats()
        assert stats["TX-packets"] - stats["RX-packets"] == 32 * queues, stats


def sizes():
    """Every length around the interesting borders, and a ramp."""
    return [60, 61, 62, 63, 64, 65, 79, 80, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1500,
            1513, 1514]


@pytest.mark.parametrize("burst", [1, 7, 32, 64])
def test_frames_leave_as_they_came(tmp_path, burst):
    """pcap in, io forwarding, pcap out: the same frames in the same order, byte for byte."""
    sent = [frames.packet(sport=i, data=bytes((i + j) & 255 for j in range(size - 42)))
            for i, size in enumerate(sizes() * 10)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    port = f"wire=pcap:{capture}:{result},pace=0,mac={MAC}"
    with Testpmd(ports=[port], args=[f"--burst={burst}"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        stats = pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        assert stats["RX-packets"] == len(sent)
        assert stats["RX-bytes"] == sum(map(len, sent))
        pmd.cmd("stop")
    assert pcapfile.read(result) == sent


def test_rings_wrap_with_odd_bursts(tmp_path):
    """Small rings, bursts that do not divide them, the 16-bit counters once around: all whole."""
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire,mac={MAC}"],
                 args=["--rxd=128", "--txd=128", "--burst=13"]) as pmd, \
            Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        window = 57
        for at in range(0, 70000, window):
            sent = [frames.packet(sport=(at + i) & 0xFFFF, l4_checksum=0) for i in range(window)]
            peer.send(*sent)
            assert peer.receive_all(window, PATIENCE) == sent
        pmd.cmd("stop")
        stats = pmd.stats()
        assert stats["RX-packets"] == stats["TX-packets"] > 65536
