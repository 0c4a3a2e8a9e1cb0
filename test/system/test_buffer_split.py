# SPDX-License-Identifier: BSD-3-Clause
"""Packets that are split by lengths: what testpmd describes is what arrives, and what cannot be is refused by name."""
import pytest
from harness import frames
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.rig import Rig
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
SPLIT, SCATTER = 0x100000, 0x2000
TX_MULTI_SEGS = 0x8000
BOTH = f"--rx-offloads={SPLIT | SCATTER:#x}"
INFO = "--log-level=pmd.net.mlx5dv:info"


def jumbo(size, seed):
    return frames.packet(sport=1000 + seed % 1000, data=bytes((i * 7 + seed) & 255 for i in range(size - 42)))


@pytest.mark.parametrize("args,devargs", [
    (["--mbuf-size=512,2048", "--rxpkts=64,0"], ""),
    (["--mbuf-size=2048,512", "--rxpkts=64,0"], ""),
    (["--mbuf-size=512,1024,2048", "--rxpkts=14,100,0"], ""),
    (["--mbuf-size=512,2048", "--rxpkts=64,1000", "--rxoffs=100,48"], ""),
    (["--mbuf-size=512,256,1024", "--rxpkts=60,256,1,600", "--rxoffs=0,0,255"], ""),
    (["--mbuf-size=512,2048", "--rxpkts=64,0"], ",mode=ibv"),
    (["--mbuf-size=512,2048", "--rxpkts=64,0"], ",rx_cqe_comp=off"),
])
def test_what_leaves_is_what_came(tmp_path, args, devargs):
    """Byte for byte, more frames than the ring has, of lengths around each border."""
    lengths = [n for border in (61, 64, 114, 128, 316, 317, 320, 917, 1064) for n in range(border - 1, border + 2)]
    wire = tmp_path / "wire"
    with Testpmd(ports=[f"wire=unix:{wire},mac={MAC}"], vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"],
                 args=[*args, BOTH, f"--tx-offloads={TX_MULTI_SEGS:#x}", "--rxd=512"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        peer = Cable(wire)
        for turn in range(20):
            sent = [jumbo(size, turn + i) for i, size in enumerate([*lengths, 1000, 1514])]
            peer.send(*sent)
            assert peer.receive_all(len(sent), PATIENCE) == sent
        stats = pmd.stats()
        peer.socket.close()
    assert stats["RX-errors"] == 0 and stats["RX-missed"] == 0 and stats["RX-nombuf"] == 0, stats


def test_segments_are_counted_and_the_queue_is_described(tmp_path):
    """64 bytes of the first mempool, 200 of the second, whole mbufs of that behind."""
    lengths = [60, 64, 65, 264, 265, 264 + 512, 265 + 512, 1514]
    with Rig(tmp_path, ["--mbuf-size=2048,512", "--rxpkts=64,200", BOTH], queues=1) as rig:
        got = rig.deliver(*[jumbo(size, i) for i, size in enumerate(lengths)])
        shown = rig.pmd.cmd("show rxq info 0 0").replace("\r", "")
    assert [p["nb_segs"] for p in got] == [1, 1, 2, 2, 3, 3, 4, 5]
    assert [p["length"] for p in got] == lengths
    assert "Burst mode: Scalar, scattered, split" in shown
    assert "RX scattered packets: on" in shown and "RX buffer size: 64\n" in shown, shown


def nb_segs(rig, *lengths):
    return [p["nb_segs"] for p in rig.deliver(*[jumbo(size, i) for i, size in enumerate(lengths)])]


def test_at_the_prompt_and_again_while_the_port_runs(tmp_path):
    """Switched on between two starts; one queue is set up anew, with other lengths, while the port runs."""
    with Rig(tmp_path, ["--mbuf-size=512,2048", f"--rx-offloads={SCATTER:#x}"], queues=1) as rig:
        # One mempool: 384 bytes, then 512.
        assert nb_segs(rig, 60, 384, 385) == [1, 1, 2]
        for line in ("stop", "port stop 0", "set rxpkts 64,0", "port config 0 rx_offload buffer_split on",
                     "port start 0", "start"):
            answer = rig.pmd.cmd(line)
            assert "rror" not in answer and "Fail" not in answer, f"{line}\n{answer}"
        assert nb_segs(rig, 60, 64, 65, 1514) == [1, 1, 2, 2]
        for line in ("stop", "port 0 rxq 0 stop", "set rxpkts 100,0", "port 0 rxq 0 setup", "port 0 rxq 0 start", "start"):
            answer = rig.pmd.cmd(line)
            assert "rror" not in answer and "Fail" not in answer, f"{line}\n{answer}"
        assert nb_segs(rig, 65, 100, 101) == [1, 1, 2]


def test_all_else_is_said_of_split_packets_too(tmp_path):
    """Types, checksums, hash, mark, stripped tag, timestamp: as without splitting."""
    seen = []
    others = SCATTER | 0x1 | 0xe | 0x4000 | 0x80000
    for args in ([f"--rx-offloads={others:#x}"], [f"--rx-offloads={others | SPLIT:#x}", "--rxpkts=64,0"]):
        with Rig(tmp_path, ["--mbuf-size=2048,2048", *args], queues=2, devargs=",mode=dv") as rig:
            rig.pmd.flow("ingress pattern eth / vlan / ipv4 / udp dst is 7 / end actions mark id 0x77 / queue index 1 / end")
            seen.append(rig.deliver(*[frames.packet(vlan=vlan, sport=i, dport=dport, data=bytes(size))
                                      for i, size in enumerate((18, 60, 400, 1400)) for vlan, dport in ((5, 7), (None, 8))]))
            shown = rig.pmd.cmd("show rxq info 0 0")
    assert "scattered, split, csum, hash, mark, timestamp" in shown, shown
    # Which queue is polled first is chance.
    whole, split = ([dict(packet, nb_segs=None) for packet in sorted(packets, key=lambda packet: (packet["length"], packet["queue"]))] for packets in seen)
    assert {packet["nb_segs"] for packet in seen[1]} == {1, 2} and len(whole) == 8
    assert whole == split
    assert {packet["mark"] for packet in split} == {None, 0x77} and {packet["tci"] for packet in split} == {None, 5}
    # What a rule leads to one queue has no hash.
    assert all(("RSS_HASH" in packet["flags"]) == (packet["mark"] is None) for packet in split)


SET_UP_ANEW = ("stop", "port 0 rxq 0 stop", "set rxpkts 64,0", "port 0 rxq 0 setup")


def test_a_port_that_runs_without_does_not_begin_to_split():
    with Testpmd(args=["--mbuf-size=2048,2048", f"--rx-offloads={SPLIT:#x}"],
                 vdevs=["net_mlx5dv0,ibdev=mlx5_0,mode=dv"]) as pmd:
        answer = "".join(pmd.cmd(line) for line in SET_UP_ANEW)
        assert "Rx queue 0: splits packets, which the running port's burst function does not do" in answer, answer


def test_a_queue_of_plain_verbs_begins_to_split_while_the_port_runs(tmp_path):
    """Each queue has a burst of its own."""
    with Rig(tmp_path, ["--mbuf-size=2048,2048", f"--rx-offloads={SPLIT:#x}", "--flow-isolate-all"], queues=1,
             devargs=",mode=ibv") as rig:
        for line in (*SET_UP_ANEW, "port 0 rxq 0 start", "start"):
            answer = rig.pmd.cmd(line)
            assert "rror" not in answer and "Fail" not in answer, f"{line}\n{answer}"
        rig.pmd.flow("ingress pattern eth / end actions queue index 0 / end")
        assert nb_segs(rig, 60, 64, 65, 1514) == [1, 1, 2, 2]
        shown = rig.pmd.cmd("show rxq info 0 0")
        assert "scattered, split" in shown and "RX scattered packets: on" in shown, shown


@pytest.mark.parametrize("args,message", [
    # The driver's.
    ([f"--rx-offloads={SPLIT:#x}", "--rxpkts=64,1000"],
     "frames of MTU 1500 need 1518 bytes, the 2 segments described take 1064: enable RTE_ETH_RX_OFFLOAD_SCATTER"),
    ([BOTH, "--rxpkts=64,8", "--mbuf-size=512,20"], "at most 16 are possible with"),
    ([BOTH, "--rxpkts=64,0", "--rxd=4096", "--total-num-mbufs=2000"], "has too few buffers, 2048 are needed"),
    # ethdev's, by what the driver reports.
    ([BOTH, "--rxpkts=3000,0"], "mbuf_data_room_size 512 < 3128"),
    ([BOTH, "--rxpkts=64,0", "--rxoffs=400"], "mbuf_data_room_size 512 < 592"),
    ([BOTH, "--rxhdrs=eth"], "failed to get supported buffer split header protocols"),
    (["--multi-rx-mempool"], "doesn't support requested multi-rx-mempool configuration"),
])
def test_what_cannot_be_is_refused(args, message):
    sizes = [] if any("--mbuf-size" in arg for arg in args) else ["--mbuf-size=512,2048"]
    with Testpmd(args=[*sizes, *args, "--disable-device-start"]) as pmd:
        answer = pmd.cmd("port start 0")
        assert message in answer, answer


def test_striding_queues_do_not_split():
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,mode=dv,mprq=auto"], eal=[INFO],
                 args=["--mbuf-size=512,2048", "--rxpkts=64,0", BOTH, "--rxd=512"]) as pmd:
        assert "not striding: queue 0: it splits packets into segments" in pmd.banner, pmd.banner
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,mode=dv,mprq=on"]) as pmd:
        offered = pmd.cmd("show port 0 rx_offload capabilities").lower()
        assert "buffer_split" not in offered and "scatter" not in offered and "cksum" in offered, offered
