# SPDX-License-Identifier: BSD-3-Clause
"""wire=tap: what a program of this machine sends on the TAP is received, and the other way round."""
import contextlib

from harness import frames, host
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC


@contextlib.contextmanager
def wired(namespace, args=(), port=""):
    """A testpmd whose cable ends in a TAP inside `namespace`; yields it and a socket there."""
    wire = host.name("w")
    with Testpmd(ports=[f"wire=tap:{wire},mac={MAC}{port}"], args=args) as pmd:
        namespace.take(wire)
        with host.PacketSocket(wire, namespace) as peer:
            yield pmd, peer


def test_received_frames_are_the_sent_ones(namespace):
    with wired(namespace) as (pmd, peer):
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        for size in (60, 64, 100, 1000, 1514):
            frame = frames.packet(data=bytes(i & 255 for i in range(size - 42)))
            assert len(frame) == size
            peer.send(frame)
            echo = peer.receive_all(PATIENCE, match=lambda f: f[6:12] == frames.mac(frames.PEER_MAC), count=1)
            assert echo == [frame]
        pmd.cmd("stop")
        stats = pmd.stats()
        assert stats["RX-packets"] == stats["TX-packets"] == 5
        assert stats["RX-bytes"] == 60 + 64 + 100 + 1000 + 1514


def test_a_thousand_frames_arrive_in_order(namespace):
    with wired(namespace) as (pmd, peer):
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        sent, got = [], []
        for i in range(1000):
            frame = frames.packet(sport=i, data=i.to_bytes(4, "big") * 10)
            sent.append(frame)
            peer.send(frame)
            if i % 50 == 49:
                got += peer.receive_all(PATIENCE, count=50)
        assert got == sent
        pmd.cmd("stop")


def test_runts_are_received_as_they_are_or_counted(namespace):
    """A TAP can deliver frames shorter than 60 bytes; the port neither dies nor invents bytes."""
    with wired(namespace) as (pmd, peer):
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        runt = frames.mac(MAC) + frames.mac(frames.PEER_MAC) + b"\x88\xb5"
        peer.send(runt)
        whole = frames.packet()
        peer.send(whole)
        got = []
        while whole not in got:
            got += peer.receive_all(PATIENCE, match=lambda f: f[6:12] == frames.mac(frames.PEER_MAC), count=1)
        for frame in got:
            assert frame == whole or frame[:14] == runt and not any(frame[14:])
        pmd.cmd("stop")


def test_tagged_frames_pass_whole(namespace):
    with wired(namespace) as (pmd, peer):
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        frame = frames.packet(vlan=0x2064, data=b"tagged" * 10)
        peer.send(frame)
        assert peer.receive_all(PATIENCE, count=1) == [frame]
        pmd.cmd("stop")
