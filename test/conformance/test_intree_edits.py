# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's in-tree mlx5 driver asks for header modification and decapsulation, by matchers: its own form of both."""
import contextlib

import pytest
from harness import frames
from harness.cable import Cable
from harness.intree import InTreeTestpmd
from harness.patience import PATIENCE

MAC = frames.PORT_MAC
UDP = "flow create 0 ingress pattern eth / ipv4 / udp dst is {} / end actions {} / queue index 0 / end"
INNER = frames.packet(dport=9, data=bytes(range(40)))

pytestmark = pytest.mark.usefixtures("tap_allowed")


@contextlib.contextmanager
def forwarding(tmp_path, model, rules):
    with InTreeTestpmd(f"wire=unix:{tmp_path}/wire,mac={MAC},model={model}",
                       args=["--rxq=2", "--txq=2", "--disable-device-start"]) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd io")
        pmd.cmd("port start 0")
        yield [pmd.cmd(rule) for rule in rules], pmd, peer


def through(peer, frame):
    peer.send(frame)
    while True:
        got = peer.receive(PATIENCE)
        assert got is not None
        # What Linux says unasked goes to the wire as well.
        if got[:2] != b"\x33\x33":
            return got


@pytest.mark.parametrize("model", ["cx5", "cx6dx"])
def test_headers_are_changed(tmp_path, model):
    rules = [
        UDP.format(53, "set_ttl ttl_value 7"),
        UDP.format(54, "set_tp_dst port 99 / set_ipv4_src ipv4_addr 1.2.3.4"),
        UDP.format(55, "set_mac_src mac_addr 02:00:00:00:00:55 / dec_ttl"),
        "flow create 0 ingress pattern eth / ipv4 / udp / vxlan / end actions vxlan_decap / queue index 0 / end",
        "flow create 0 egress pattern eth / ipv4 / udp dst is 77 / end actions dec_ttl / end",
        "set vxlan ip-version ipv4 vni 7 udp-src 4 udp-dst 4789 ip-src 192.0.2.1 ip-dst 192.0.2.2"
        " eth-src 02:00:00:00:00:0a eth-dst 02:00:00:00:00:0b",
        "flow create 0 egress pattern eth / ipv4 / udp dst is 78 / end actions vxlan_encap / end",
    ]
    vxlan = frames.packet(dport=4789, data=bytes([8, 0, 0, 0, 0, 0, 7, 0]) + INNER)
    with forwarding(tmp_path, model, rules) as (answers, pmd, peer):
        assert all("created" in answer for rule, answer in zip(rules, answers) if rule.startswith("flow")), answers
        pmd.cmd("start")
        for frame, wanted in [
                (frames.packet(dport=53), frames.packet(dport=53, ttl=7)),
                (frames.packet(dport=54), frames.packet(dport=99, src="1.2.3.4")),
                (frames.packet(dport=55), frames.packet(dport=55, ttl=63, eth_src="02:00:00:00:00:55")),
                (frames.packet(dport=56), frames.packet(dport=56)),
                (vxlan, INNER),
                (frames.packet(dport=77), frames.packet(dport=77, ttl=63))]:
            assert through(peer, frame) == wanted
        out = through(peer, frames.packet(dport=78))
        # Lengths and the outer IPv4 checksum are the device's.
        assert out[50:] == frames.packet(dport=78) and out[:12] == frames.mac("02:00:00:00:00:0b") + frames.mac(
            "02:00:00:00:00:0a")
        assert int.from_bytes(out[16:18], "big") == len(out) - 14
        assert int.from_bytes(out[38:40], "big") == len(out) - 34
        assert frames.checksum(out[14:34]) == 0
        pmd.cmd("stop")


def test_not_on_the_model_that_has_none(tmp_path):
    with forwarding(tmp_path, "cx4lx", [UDP.format(53, "set_ttl ttl_value 7"), UDP.format(54, "mark id 5")]) as (
            answers, _, __):
        assert "created" not in answers[0] and "rror" in answers[0] and "created" in answers[1], answers
