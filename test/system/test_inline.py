# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that demand headers in the send WQEs of a ConnectX-4 Lx's functions: devlink's eswitch inline-mode."""
import pytest

from harness import frames
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import NOT_STRICT, Testpmd

MAC = frames.PORT_MAC
TX_VLAN_INSERT, TX_MULTI_SEGS = 0x1, 0x8000
LIMITS = {"network": 58, "transport": 78}


def port(tmp_path, mode):
    return f"wire=unix:{tmp_path}/wire,vf=on,model=cx4lx,mac={MAC},inline={mode}"


def packet(**given):
    """For all: what a function sends to itself the switch keeps."""
    return frames.packet(eth_dst=frames.BROADCAST, **given)


def arp():
    return frames.ether(b"\x01" * 46, 0x0806, dst=frames.BROADCAST)


def every_kind():
    """Lengths around each limit, and all that has headers of another length."""
    yield from (packet(data=bytes(range(n))) for n in range(18, 60))
    for proto in (frames.UDP, frames.TCP):
        for version in (4, 6):
            yield from (packet(proto=proto, version=version, data=bytes(n)) for n in (0, 1, 100, 1000))
    yield arp()
    yield packet(vlan=7, data=b"tagged" * 20)
    yield packet(version=6, proto=frames.TCP, vlan=7, data=b"tagged" * 20)


@pytest.mark.parametrize("mode", LIMITS)
@pytest.mark.parametrize("args", [[], ["--mbuf-size=192", f"--tx-offloads={TX_MULTI_SEGS:#x}", "--rx-offloads=0x2000",
                                       "--total-num-mbufs=16384"]])
def test_all_frames_are_sent_with_the_headers_that_are_demanded(tmp_path, mode, args):
    vdev = f"net_mlx5dv0,ibdev=mlx5_0,txq_inline_min={LIMITS[mode]}"
    with Testpmd(ports=[port(tmp_path, mode)], vdevs=[vdev], args=["--rxq=1", "--txq=1", "--port-topology=loop", *args],
                 softhca_options=("--strict",)) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        sent = list(every_kind())
        # Many times: WQEs of two or more WQEBBs go around the ring's end. A few frames at once: with mbufs of 64 bytes
        # of room the receive queue of 512 segments has 16 WQEs.
        for _ in range(30):
            for at in range(0, len(sent), 8):
                peer.send(*sent[at:at + 8])
                assert peer.receive_all(len(sent[at:at + 8]), PATIENCE) == sent[at:at + 8]
        assert pmd.stats()["TX-errors"] == 0


def test_an_inserted_tag_is_among_them(tmp_path):
    vdev = "net_mlx5dv0,ibdev=mlx5_0,txq_inline_min=78"
    with Testpmd(ports=[port(tmp_path, "transport")], vdevs=[vdev],
                 args=["--rxq=1", "--txq=1", "--port-topology=loop", f"--tx-offloads={TX_VLAN_INSERT:#x}"],
                 softhca_options=("--strict",)) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("port stop 0")
        pmd.cmd("tx_vlan set 0 7")
        pmd.cmd("port start 0")
        pmd.cmd("set fwd mac")
        pmd.cmd("start")
        for version in (4, 6):
            peer.send(packet(version=version, proto=frames.TCP, data=b"data" * 30))
            assert peer.receive(PATIENCE) == frames.packet(
                version=version, proto=frames.TCP, vlan=7, data=b"data" * 30, eth_dst="02:00:00:00:00:00", eth_src=MAC)


def test_without_the_argument_nothing_with_ip_is_sent(tmp_path):
    """As on a card: the driver cannot know, and inlines as much as functions usually need."""
    with Testpmd(ports=[port(tmp_path, "network")], args=["--rxq=1", "--txq=1", "--port-topology=loop"],
                 softhca_options=NOT_STRICT) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        peer.send(packet())
        assert peer.receive(0.2) is None
        # The queue's next burst sees the error, and the one after it sends again.
        while peer.receive(0.2) is None:
            peer.send(arp())
        assert pmd.stats()["TX-errors"] != 0


def test_verbs_cannot(tmp_path):
    vdev = "net_mlx5dv0,ibdev=mlx5_0,txq_inline_min=58,mode=ibv"
    with Testpmd(ports=[port(tmp_path, "network")], vdevs=[vdev]) as pmd:
        assert "mlx5_0: txq_inline_min=58 needs mode=dv: verbs inlines 18 bytes at most" in pmd.banner, pmd.banner


def test_a_device_without_demands_takes_more_headers(tmp_path):
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire"], vdevs=["net_mlx5dv0,ibdev=mlx5_0,txq_inline_min=78"],
                 args=["--rxq=1", "--txq=1", "--port-topology=loop"]) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        peer.send(*every_kind())
        assert peer.receive_all(len(list(every_kind())), PATIENCE) == list(every_kind())


def forward_one_strictly(tmp_path, mode, inlined):
    """A frame with TCP, on a device that ends testpmd with 123 if it finds a mistake."""
    vdev = f"net_mlx5dv0,ibdev=mlx5_0,txq_inline_min={inlined}"
    with Testpmd(ports=[port(tmp_path, mode)], vdevs=[vdev], args=["--rxq=1", "--txq=1", "--port-topology=loop"],
                 softhca_options=("--strict",)) as pmd, Cable(tmp_path / "wire") as peer:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        peer.send(packet(proto=frames.TCP, data=bytes(100)))
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 1)
        pmd.stop()


@pytest.mark.parametrize("mode", LIMITS)
def test_a_strict_device_names_the_headers_that_lack(tmp_path, mode):
    """The rule knows the host's demand, not only the model's; what meets it is no finding."""
    with pytest.raises(AssertionError, match="(?s)testpmd ended with 123.*wqe-inline: the inline header is shorter"):
        forward_one_strictly(tmp_path, mode, 18)
    forward_one_strictly(tmp_path, mode, LIMITS[mode])
