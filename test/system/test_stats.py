# SPDX-License-Identifier: BSD-3-Clause
"""Counters: port and queue, packets and bytes, cleared, and true when buffers run out."""
from harness import ctl, frames, pcapfile
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC


def test_per_queue_counters_add_up(tmp_path):
    sent = [frames.packet(src=f"10.1.1.{i}", sport=i, data=bytes(i)) for i in range(1, 201)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"],
                 args=["--rxq=4", "--txq=4"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        stats = pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        pmd.cmd("stop")
        xstats = pmd.xstats()
        size = sum(map(len, sent))
        for side in ("rx", "tx"):
            assert sum(xstats[f"{side}_q{q}_packets"] for q in range(4)) == len(sent)
            assert sum(xstats[f"{side}_q{q}_bytes"] for q in range(4)) == size
            assert xstats[f"{side}_good_packets"] == len(sent)
            assert xstats[f"{side}_good_bytes"] == size
        # RSS has spread them, and each frame leaves by the queue of the same number.
        assert all(xstats[f"rx_q{q}_packets"] == xstats[f"tx_q{q}_packets"] > 0 for q in range(4))
        assert stats["RX-bytes"] == stats["TX-bytes"] == size


def test_clear():
    with Testpmd() as pmd:
        pmd.cmd("start tx_first 1")
        pmd.wait_stats(lambda s: s["RX-packets"] > 100)
        pmd.cmd("stop")
        pmd.cmd("clear port stats 0")
        assert not any(pmd.stats().values())
        assert not any(value for name, value in pmd.xstats().items() if "good" in name)


def test_full_ring_is_counted_as_missed():
    """Nobody receives: what does not fit into the ring is lost and counted, and stop works."""
    with Testpmd(ports=["wire=pair:a,mac=02:00:00:00:00:10", "wire=pair:a,mac=02:00:00:00:00:20"],
                 args=["--rxd=256", "--txd=256"]) as pmd:
        pmd.cmd("set portlist 1")
        pmd.cmd("set fwd txonly")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] > 5000, port=1)
        pmd.cmd("stop")
        sent, ring = pmd.stats(1)["TX-packets"], 256
        stats = pmd.wait_stats(lambda s: s["RX-missed"] == sent - ring, port=0)
        xstats = pmd.xstats(0)
        assert xstats["rx_out_of_buffer"] == xstats["rx_missed_errors"] == stats["RX-missed"]
        # The port receives again once somebody polls: the ring's content, and new frames.
        pmd.cmd("set portlist 0,1")
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 1")
        before = stats["RX-packets"]
        pmd.wait_stats(lambda s: s["RX-packets"] > before + 1000)
        pmd.cmd("stop")


def test_pool_run_dry_is_counted_and_survived(tmp_path):
    """Fewer mbufs than the flood needs: rx_nombuf or missed grow, nothing hangs, traffic goes on."""
    sent = [frames.packet(sport=i) for i in range(1000)]
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture},mac={MAC},pace=0,repeat=20"],
                 args=["--total-num-mbufs=1100", "--rxd=1024", "--txd=512", "--mbcache=0"]) as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["RX-packets"] + s["RX-missed"] >= 20 * len(sent))
        pmd.cmd("stop")


def test_device_counters_are_xstats_and_cleared(tmp_path):
    """rx_out_of_buffer is the device's; only a port that is started takes the losses for its own."""
    capture, ring, nb = tmp_path / "in.pcap", 256, 1000
    pcapfile.write(capture, [frames.packet(sport=i) for i in range(nb)])
    with Testpmd(ports=[f"wire=pcap:{capture},mac={MAC}"],
                 vdevs=["net_mlx5dv0,ibdev=mlx5_0", "net_mlx5dv1,ibdev=mlx5_0"],
                 args=[f"--rxd={ring}", "--disable-device-start"]) as pmd:
        # The capture begins with the first rule: not before the port has them all. Nobody polls.
        ctl.ask(pmd, "freeze")
        pmd.cmd("port start 0")
        ctl.ask(pmd, "thaw")
        stats = pmd.wait_stats(lambda s: s["RX-missed"] == nb - ring)
        assert not any(value for name, value in stats.items() if name != "RX-missed")
        for port, missed in ((0, nb - ring), (1, 0)):
            xstats = pmd.xstats(port)
            assert xstats["rx_out_of_buffer"] == nb - ring
            assert xstats["rx_missed_errors"] == pmd.stats(port)["RX-missed"] == missed
        assert f"rx_out_of_buffer: {nb - ring}" in pmd.cmd("show port xstats 0")
        pmd.cmd("port stop 0")
        assert pmd.stats(0)["RX-missed"] == nb - ring
        pmd.cmd("clear port xstats 0")
        assert not any(pmd.xstats(0).values())
        assert pmd.xstats(1)["rx_out_of_buffer"] == nb - ring
