# SPDX-License-Identifier: BSD-3-Clause
"""Frames in several mbufs: scattered receive, multi-segment send, data compared."""
import pytest
from harness import frames, pcapfile
from harness.rig import Rig
from harness.testpmd import NOT_STRICT, Testpmd

MAC = frames.PORT_MAC
RX_SCATTER = 0x2000
TX_MULTI_SEGS = 0x8000


def body(size, seed):
    return bytes((i * 7 + seed) & 255 for i in range(size))


def jumbo(size, seed):
    return frames.packet(sport=1000 + seed % 1000, data=body(size - 42, seed))


@pytest.mark.parametrize("mbuf,largest", [(256, 1514), (512, 1514), (1024, 9014), (2048, 9014)])
def test_scattered_receive_and_chained_send(tmp_path, mbuf, largest):
    """Small mbufs: a frame takes several both ways; what leaves is what came, byte for byte."""
    room = mbuf - 128
    borders = [n * room + d for n in (1, 2, 3, 4) for d in (-1, 0, 1)]
    lengths = [n for n in borders + [60, 1000, largest - 1, largest] if 60 <= n <= largest]
    sent = [jumbo(size, i) for i, size in enumerate(lengths * 3)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    args = [f"--mbuf-size={mbuf}", f"--rx-offloads={RX_SCATTER:#x}", f"--tx-offloads={TX_MULTI_SEGS:#x}",
            f"--max-pkt-len={largest + 4}"]
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"], args=args) as pmd:
        assert pmd.info()["MTU"] == str(largest - 14)
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        pmd.cmd("stop")
        pcapfile.wait(result, len(sent))
    assert pcapfile.read(result) == sent


def test_segment_counts_are_right(tmp_path):
    room = 512 - 128
    lengths = [60, room, room + 1, 2 * room, 2 * room + 1, 1514]
    with Rig(tmp_path, ["--mbuf-size=512", f"--rx-offloads={RX_SCATTER:#x}"], queues=1) as rig:
        got = rig.deliver(*[jumbo(size, i) for i, size in enumerate(lengths)])
    assert [p["length"] for p in got] == lengths
    # The first mbuf keeps its headroom, the others are filled from their start.
    assert [p["nb_segs"] for p in got] == [1 + max(0, -(-(size - room) // 512)) for size in lengths]


def test_small_mbufs_without_scatter_are_refused():
    """The MTU does not fit the buffers and nobody asked for scatter: a port start that says so."""
    with Testpmd(args=["--mbuf-size=512", "--disable-device-start"]) as pmd:
        answer = pmd.cmd("port start 0")
        assert "Fail" in answer or "error" in answer.lower(), answer
        assert "scatter" in answer.lower(), answer


@pytest.mark.parametrize("segments", ["64", "32,32", "64,64,128", "100,1,1,1,100", "1514",
                                      "200,200,200,200,200,200,200"])
def test_txonly_segments(tmp_path, segments):
    """set txpkts: a frame of these segments is one frame of their sum on the wire."""
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, [frames.packet()])
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"],
                 args=[f"--tx-offloads={TX_MULTI_SEGS:#x}"]) as pmd:
        pmd.cmd("set fwd txonly")
        answer = pmd.cmd(f"set txpkts {segments}")
        assert "rror" not in answer, answer
        pmd.cmd("start")
        # More than the ring holds: the device has sent what the test counts on.
        pmd.wait_stats(lambda s: s["TX-packets"] > 3000)
        pmd.cmd("stop")
        assert pmd.stats()["TX-errors"] == 0
    got = pcapfile.read(result)
    size = sum(map(int, segments.split(",")))
    assert len(got) > 500
    assert {len(frame) for frame in got} == {size}
    assert all(frames.checksums(frame)[0] for frame in got[:200])


def test_oversized_frames_do_not_get_in(tmp_path):
    """Longer than MTU and buffer: dropped and counted, never truncated; the next frame is whole."""
    sent = [jumbo(1514, 1), jumbo(3000, 2), jumbo(9000, 3), jumbo(1514, 4)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"], softhca_options=NOT_STRICT) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= 2)
        stats = pmd.stats()
        pmd.cmd("stop")
        pcapfile.wait(result, 2)
    assert pcapfile.read(result) == [sent[0], sent[3]]
    assert stats["RX-packets"] == 2
    assert stats["RX-errors"] + stats["RX-missed"] == 2, stats
