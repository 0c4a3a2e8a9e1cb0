# SPDX-License-Identifier: BSD-3-Clause
"""Compressed completions: packets are what they are without, on every burst function."""
import random
import re

import pytest
from harness import frames
from harness.rig import Rig
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.rounds import rounds
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
RX_CHECKSUM, RX_VLAN_STRIP, RX_RSS_HASH, RX_SCATTER = 0xE, 0x1, 0x80000, 0x2000
TX_MULTI_SEGS = 0x8000
RULE = "flow create 0 ingress pattern eth / ipv4 / udp dst is 1004 / end actions mark id 0x1234 / queue index 1 / end"


def traffic(seed, count):
    """Runs of frames that a device would compress together: alike but for ports and lengths."""
    rng = random.Random(seed)
    sent, options = [], {}
    for number in range(count):
        if rng.randrange(8) == 0:
            options = rng.choice([{}, {"version": 6}, {"proto": frames.TCP}, {"vlan": rng.randrange(1, 4)},
                                  {"l4_checksum": 0x1111}, {"dport": 1004}])
        sent.append(frames.packet(**{"dport": 53, **options}, sport=rng.randrange(1024, 60000),
                                  data=bytes(rng.randrange(1, 400)),
                                  eth_src=f"02:00:00:01:{number >> 8:02x}:{number & 255:02x}"))
    return sent


@pytest.mark.parametrize("compressed,args", [
    ("auto", [f"--rx-offloads={RX_CHECKSUM | RX_VLAN_STRIP | RX_RSS_HASH:#x}", "--rss-udp"]),
    pytest.param("csum", [f"--rx-offloads={RX_CHECKSUM:#x}"], marks=pytest.mark.long),
    ("csum,mprq=on", ["--rxd=128", f"--rx-offloads={RX_CHECKSUM | RX_VLAN_STRIP:#x}"]),
    ("off,mprq=on", ["--rxd=128", f"--rx-offloads={RX_CHECKSUM | RX_VLAN_STRIP | RX_RSS_HASH:#x}", "--rss-udp"]),
])
def test_mbufs_are_the_same(tmp_path, compressed, args):
    sent = traffic(1, 200)
    got = {}
    for choice in ("off", compressed):
        path = tmp_path / re.sub(r"\W", "-", choice)
        path.mkdir()
        rng = random.Random(2)
        with Rig(path, ["--rxd=64", *args], queues=2, setup=[RULE], devargs=f",rx_cqe_comp={choice}") as rig:
            seen, at = [], 0
            while at < len(sent):
                # With the sentinel not more than a ring of 64 has room for while a part of it is not refilled.
                nb = rng.randrange(5, 44)
                seen += rig.deliver(*sent[at:at + nb])
                at += nb
        # Two queues: the order between them is nobody's promise.
        got[choice] = sorted(seen, key=lambda packet: packet["src"])
    assert len(got["off"]) == len(sent)
    assert {packet["mark"] for packet in got["off"]} == {None, 0x1234}
    assert any(packet["hash"] for packet in got["off"]) is ("--rss-udp" in args)
    assert got[compressed] == got["off"]


@pytest.mark.parametrize("devargs,eal,args,mode", [
    ("", [], [], "Vector AVX2"),
    ("", ["--force-max-simd-bitwidth=128"], [], "Vector SSE"),
    ("", ["--force-max-simd-bitwidth=64"], [], "Scalar"),
    ("", [], ["--rxd=512", "--mbuf-size=384", f"--rx-offloads={RX_SCATTER:#x}", f"--tx-offloads={TX_MULTI_SEGS:#x}"],
     "Vector AVX2, scattered"),
    (",mprq=on", [], ["--rxd=128"], "Vector AVX2, striding"),
    pytest.param(",mprq=on", ["--force-max-simd-bitwidth=128"], ["--rxd=128"], "Vector SSE, striding", marks=pytest.mark.long),
    (",mprq=on", ["--force-max-simd-bitwidth=64"], ["--rxd=128"], "Scalar, striding"),
    pytest.param(",mprq=on,rx_cqe_comp=off", [], ["--rxd=128"], "Vector AVX2, striding", marks=pytest.mark.long),
])
def test_many_laps(tmp_path, devargs, eal, args, mode):
    """Bursts of every size through a small ring: each frame comes back whole and in its place."""
    sent = traffic(3, rounds(4000))
    rng = random.Random(4)
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire,mac={MAC}"], vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], eal=eal,
                 args=["--rxd=64", "--txd=256", *args]) as pmd, Cable(tmp_path / "wire") as peer:
        shown = pmd.cmd("show rxq info 0 0")
        assert mode.split(" ", 1)[0] in shown, shown
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        got, at = [], 0
        while at < len(sent):
            # 64 frames at most find room: with mbufs of 384 bytes a frame may need eight.
            nb = min(rng.randrange(1, 45), len(sent) - at)
            peer.send(*sent[at:at + nb])
            for _ in range(nb):
                frame = peer.receive(PATIENCE)
                assert frame is not None, f"no more came back than {len(got)} frames"
                got.append(frame)
            at += nb
        done = pmd.stop()
        assert done["RX-packets"] == len(sent), done
        stats = pmd.stats()
        assert stats["RX-bytes"] == sum(map(len, sent)) and stats["RX-errors"] == 0, stats
    assert got == sent
