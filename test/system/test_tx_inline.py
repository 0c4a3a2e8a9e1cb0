# SPDX-License-Identifier: BSD-3-Clause
"""tx_inline=N|auto: packets of up to N bytes are copied into send WQEs, and arrive as all others do."""
import pytest

from harness import frames
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

INFO = "--log-level=pmd.net.mlx5dv:info"
TX_VLAN_INSERT = 0x1
LENGTHS = [*range(60, 70), *range(120, 140), *range(196, 210), 511, 512, 900, 924, 925, 1000, 1514]


def frame(length):
    return frames.ether(bytes(i % 251 for i in range(length - 14)), 0x88b5, dst=frames.BROADCAST)


@pytest.mark.parametrize("model,simd,limit", [
    ("cx5", 256, 204), ("cx5", 128, 924), ("cx5", 64, 204), ("cx4lx", 256, 204), ("cx6dx", 256, 64)])
def test_frames_of_all_lengths_arrive(tmp_path, model, simd, limit):
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire,model={model}"], vdevs=[f"net_mlx5dv0,ibdev=mlx5_0,tx_inline={limit}"],
                 args=["--port-topology=loop", "--txd=256"], eal=[INFO, f"--force-max-simd-bitwidth={simd}"],
                 softhca_options=("--strict",)) as pmd, Cable(tmp_path / "wire") as peer:
        assert ", tso, inline" in pmd.cmd("show txq info 0 0")
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        sent = [frame(length) for length in LENGTHS]
        for _ in range(20):
            for at in range(0, len(sent), 8):
                peer.send(*sent[at:at + 8])
                assert peer.receive_all(len(sent[at:at + 8]), PATIENCE) == sent[at:at + 8]
        assert pmd.stats()["TX-errors"] == 0


@pytest.mark.parametrize("model", ["cx5", "cx4lx"])
def test_an_inserted_tag_is_copied_with_the_frame(tmp_path, model):
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire,model={model},mac={frames.PORT_MAC}"],
                 vdevs=["net_mlx5dv0,ibdev=mlx5_0,tx_inline=204"],
                 args=["--port-topology=loop", f"--tx-offloads={TX_VLAN_INSERT:#x}"],
                 softhca_options=("--strict",)) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("port stop 0")
        pmd.cmd("tx_vlan set 0 7")
        pmd.cmd("port start 0")
        pmd.cmd("set fwd mac")
        pmd.cmd("start")
        for size in (30, 150, 155, 170, 400):
            peer.send(frames.packet(data=b"d" * size, eth_dst=frames.BROADCAST))
            assert peer.receive(PATIENCE) == frames.packet(
                vlan=7, data=b"d" * size, eth_dst="02:00:00:00:00:00", eth_src=frames.PORT_MAC)


@pytest.mark.parametrize("devargs,said", [
    ("tx_inline=925", "net_mlx5dv0: tx_inline=925 is no number of bytes up to 924 or auto"),
    ("tx_inline=some", "net_mlx5dv0: tx_inline=some is no number of bytes up to 924 or auto"),
    ("tx_inline=60,mode=ibv", "mlx5_0: tx_inline=60: inlining packets needs mode=dv"),
])
def test_what_is_refused(devargs, said):
    with Testpmd(vdevs=[f"net_mlx5dv0,ibdev=mlx5_0,{devargs}"]) as pmd:
        assert said in pmd.banner and "No probed ethernet devices" in pmd.banner, pmd.banner


def test_more_descriptors_than_the_device_has_room_for_are_refused():
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,tx_inline=924"], args=["--disable-device-start"]) as pmd:
        assert "Max possible number of TXDs per queue: 2048" in pmd.cmd("show port info 0")


@pytest.mark.parametrize("model,queues,said", [
    ("cx5", 1, "packets are not inlined on send: with fewer than 8 Tx queues CPUs are full before PCI is"),
    ("cx4lx", 8, "packets are not inlined on send: the device takes one packet a WQE"),
    ("cx5", 8, "packets of up to 124 bytes are inlined on send: with 8 Tx queues"),
])
def test_what_auto_decides_and_why(model, queues, said):
    with Testpmd(ports=[f"wire=loop,model={model}"], vdevs=["net_mlx5dv0,ibdev=mlx5_0,tx_inline=auto"], eal=[INFO],
                 args=[f"--rxq={queues}", f"--txq={queues}"]) as pmd:
        assert f"port 0: {said}" in pmd.banner, pmd.banner
        assert (", tso, inline" in pmd.cmd("show txq info 0 0")) == ("of up to 124" in said)
