# SPDX-License-Identifier: BSD-3-Clause
"""Timestamps of received packets, as testpmd shows them."""
import re
import time

import pytest
from harness import frames, mode, paths
from harness.cable import Cable
from harness.testpmd import Testpmd

TIMESTAMP = 0x4000
INFO = ["--log-level=pmd.net.mlx5dv:info"]


def stamps(text):
    return [int(stamp) for stamp in re.findall(r"- timestamp (\d+)", text)]


def receive(tmp_path, offloads, nb, port=""):
    """What testpmd prints about nb packets, half of them sent when the others are received, and at start: the device reads its
    clock once for what it takes of the wire at once."""
    wire = tmp_path / "wire"
    with Testpmd(ports=[f"wire=unix:{wire},mac={frames.PORT_MAC}{port}"], eal=INFO,
                 args=[f"--rx-offloads={offloads:#x}"]) as pmd:
        peer = Cable(wire)
        start = pmd.show_received()
        sent = 0
        for part in (nb // 2, nb - nb // 2):
            peer.send(*[frames.packet(sport=i + 1) for i in range(part)])
            sent += part
            pmd.wait_received(sent, start)
        text = pmd.terminal.text[start:]
        pmd.cmd("stop")
        peer.socket.close()
        return text, pmd.banner


def test_each_packet_is_stamped_in_order(tmp_path):
    text, banner = receive(tmp_path, TIMESTAMP | 0xf, 60)
    got = stamps(text)
    assert len(got) == 60
    assert got == sorted(got) and len(set(got)) > 1
    assert "timestamp" in banner
    assert f"one a packet ({'mode=ibv' if mode.is_ibv() else 'compressed they would lack timestamps'})" in banner


def test_without_the_offload_there_are_none(tmp_path):
    text, banner = receive(tmp_path, 0, 10)
    assert stamps(text) == []
    assert mode.is_ibv() or "Rx completions: compressed" in banner


def real_time_only(tmp_path):
    """A card whose firmware stamps by no other clock."""
    path = tmp_path / "real.model"
    path.write_text((paths.ROOT / "lib/softhca/config/models/cx6dx.model").read_text()
                    .replace("real_time_clock = yes", "real_time_clock = only"))
    return f",model={path}"


@pytest.mark.skipif(mode.is_ibv(), reason="libmlx5 does not convert such timestamps")
@pytest.mark.parametrize("force", ["", "--force-max-simd-bitwidth=64"])
def test_a_real_time_clock_gives_nanoseconds(tmp_path, force):
    before = time.time_ns()
    wire = tmp_path / "wire"
    port = f"wire=unix:{wire},mac={frames.PORT_MAC}" + real_time_only(tmp_path)
    with Testpmd(ports=[port], eal=[*INFO, *([force] if force else [])], args=[f"--rx-offloads={TIMESTAMP:#x}"]) as pmd:
        peer = Cable(wire)
        start = pmd.show_received()
        peer.send(*[frames.packet(sport=i) for i in range(1, 31)])
        pmd.wait_received(30, start)
        got = stamps(pmd.terminal.text[start:])
        peer.socket.close()
    assert len(got) == 30 and got == sorted(got)
    assert before <= got[0] and got[-1] <= time.time_ns()


def test_plain_verbs_offers_none_of_a_real_time_clock(tmp_path):
    """libmlx5 hands them out as the device writes them, which nobody can tell from nanoseconds."""
    with Testpmd(ports=["wire=loop" + real_time_only(tmp_path)], eal=INFO,
                 vdevs=["net_mlx5dv0,ibdev=mlx5_0,mode=ibv"]) as pmd:
        if mode.is_foreign():
            pytest.skip("foreign devices have no such clock")
        assert "mlx5_0: no timestamps: its clock needs direct verbs" in pmd.banner
        assert "TIMESTAMP" not in pmd.cmd("show port 0 rx_offload capabilities").upper()
