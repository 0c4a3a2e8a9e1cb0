# SPDX-License-Identifier: BSD-3-Clause
"""Timestamps of received packets, as testpmd shows them."""
import re

from harness import frames, mode
from harness.cable import Cable
from harness.testpmd import Testpmd

TIMESTAMP = 0x4000
INFO = ["--log-level=pmd.net.mlx5dv:info"]


def stamps(text):
    return [int(stamp) for stamp in re.findall(r"- timestamp (\d+)", text)]


def receive(tmp_path, offloads, nb):
    """What testpmd prints about nb packets, and at start."""
    wire = tmp_path / "wire"
    with Testpmd(ports=[f"wire=unix:{wire},mac={frames.PORT_MAC}"], eal=INFO,
                 args=[f"--rx-offloads={offloads:#x}"]) as pmd:
        peer = Cable(wire)
        start = pmd.show_received()
        peer.send(*[frames.packet(sport=i) for i in range(1, nb + 1)])
        pmd.wait_received(nb, start)
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
