# SPDX-License-Identifier: BSD-3-Clause
"""The Linux side of the port stays alive: ping and UDP between it and the wire while we sniff."""
import contextlib
import socket

import pytest
from harness import frames, host
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
PEER, KERNEL = "192.0.2.2", "192.0.2.1"
ISOLATED = ["--rxq=2", "--txq=2", "--flow-isolate-all"]


@contextlib.contextmanager
def shared_port(namespace, args=tuple(ISOLATED), devargs=""):
    """Kernel side: a TAP in a namespace of its own, 192.0.2.1; wire: one in `namespace`, 192.0.2.2."""
    wire, kernel = host.name("w"), host.name("k")
    with host.Namespace() as kernel_side, \
            Testpmd(ports=[f"wire=tap:{wire},kernel=tap:{kernel},mac={MAC}"], args=args,
                    vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"]) as pmd:
        kernel_side.take(kernel, f"{KERNEL}/24")
        namespace.take(wire, f"{PEER}/24", mac=frames.PEER_MAC)
        yield pmd, kernel_side


def ping(namespace, count=5, **how):
    """How many of `count` pings from the wire peer to the kernel side were answered."""
    return namespace.ping(KERNEL, count, **how)


class Exchange:
    """A UDP socket on either side; ask() sends from the wire peer and is true when answered, within `patience` seconds."""

    def __init__(self, peer_side, kernel_side, port):
        with kernel_side.entered():
            self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.server.bind((KERNEL, port))
        with peer_side.entered():
            self.client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.client.connect((KERNEL, port))

    def ask(self, text, patience=PATIENCE):
        self.server.settimeout(patience)
        self.client.settimeout(patience)
        self.client.send(text)
        try:
            question, who = self.server.recvfrom(2048)
            assert question == text
            self.server.sendto(b"re:" + question, who)
            return self.client.recv(2048) == b"re:" + text
        except TimeoutError:
            return False


def test_ping_goes_on_while_sniffed(namespace):
    with shared_port(namespace) as (pmd, _):
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        assert ping(namespace) == 5
        assert pmd.stats()["RX-packets"] == 0
        pmd.flow("ingress pattern eth / ipv4 proto is 1 / end actions queue index 1 / passthru / end")
        assert ping(namespace) == 5
        assert pmd.wait_stats(lambda s: s["RX-packets"] >= 5)["RX-packets"] == 5
        pmd.cmd("flow flush 0")
        assert ping(namespace) == 5
        assert pmd.stats()["RX-packets"] == 5
        pmd.cmd("stop")


def test_sniffing_everything(namespace):
    """One match-all passthru rule: ARP, ping, all of it, and the kernel does not notice."""
    with shared_port(namespace) as (pmd, _):
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        pmd.flow("ingress pattern eth / end actions queue index 0 / passthru / end")
        assert ping(namespace) == 5
        # At least the five requests and the ARP question before them.
        pmd.wait_stats(lambda s: s["RX-packets"] >= 6)
        pmd.cmd("stop")


def test_udp_exchange_sniffed_taken_given_back(namespace):
    with shared_port(namespace) as (pmd, kernel_side):
        dns = Exchange(namespace, kernel_side, 53)
        other = Exchange(namespace, kernel_side, 5353)
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        assert dns.ask(b"one") and other.ask(b"one")
        rule = pmd.flow("ingress priority 0 pattern eth / ipv4 / udp dst is 53 / end"
                        " actions queue index 1 / passthru / end")
        assert all(dns.ask(b"two %d" % i) for i in range(10)) and other.ask(b"two")
        pmd.wait_stats(lambda s: s["RX-packets"] == 10)
        assert pmd.xstats()["rx_q1_packets"] == 10
        pmd.cmd(f"flow destroy 0 rule {rule}")
        rule = pmd.flow("ingress priority 0 pattern eth / ipv4 / udp dst is 53 / end"
                        " actions queue index 1 / end")
        assert not dns.ask(b"three", patience=1) and other.ask(b"three")
        pmd.wait_stats(lambda s: s["RX-packets"] == 11)
        pmd.cmd(f"flow destroy 0 rule {rule}")
        assert dns.ask(b"four") and other.ask(b"four")
        assert pmd.stats()["RX-packets"] == 11
        pmd.cmd("stop")


def test_application_and_kernel_send_side_by_side(namespace):
    """testpmd sends on the wire while the kernel side answers pings through the same port."""
    with shared_port(namespace) as (pmd, _):
        pmd.cmd("set fwd txonly")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] > 1000)
        assert ping(namespace) == 5
        pmd.cmd("stop")


def test_not_isolated_the_kernel_loses_its_own_mac(namespace):
    """Without isolation the port's default rules take what is for its MAC: said in the guide."""
    with shared_port(namespace, args=["--rxq=2", "--txq=2"]) as (pmd, _):
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        assert ping(namespace, 2, wait=1) == 0
        assert pmd.stats()["RX-packets"] > 0
        pmd.cmd("stop")


def receive_ours(end):
    """The next frame of this test's type: Linux says some of its own when a netdev comes up."""
    frame = end.receive(PATIENCE)
    while frame and frame[12:14] != b"\x88\xb5":
        frame = end.receive(PATIENCE)
    return frame


@pytest.mark.usefixtures("tap_allowed")
def test_linux_and_two_ports_of_a_device_hear_each_other(tmp_path):
    """With a second context the card gives back what it sends: what is for the port stays, the rest leaves, too."""
    kernel, wire = host.name("k"), tmp_path / "wire"
    to_all = frames.ether(b"all", 0x88b5, dst=frames.BROADCAST, src=MAC)
    to_port = frames.ether(b"port", 0x88b5, dst=MAC, src=MAC)
    to_peer = frames.ether(b"peer", 0x88b5, dst=frames.PEER_MAC, src=MAC)
    with host.Namespace() as kernel_side, \
            Testpmd(ports=[f"wire=unix:{wire},kernel=tap:{kernel},mac={MAC}"], args=["--flow-isolate-all"],
                    vdevs=[f"net_mlx5dv{i},ibdev=mlx5_0" for i in range(2)]) as pmd, Cable(wire) as peer:
        kernel_side.take(kernel)
        with host.PacketSocket(kernel, kernel_side) as linux:
            # From Linux: port 0 has both, the wire what is not for the port; nobody else.
            rule = pmd.flow("ingress pattern eth type is 0x88b5 / end actions queue index 0 / end")
            for frame in (to_all, to_port, to_peer):
                linux.send(frame)
            assert [receive_ours(peer), receive_ours(peer)] == [to_all, to_peer]
            pmd.cmd("set fwd rxonly")
            pmd.cmd("start")
            assert pmd.wait_stats(lambda s: s["RX-packets"] >= 2)["RX-packets"] == 2
            pmd.cmd("stop")
            pmd.cmd(f"flow destroy 0 rule {rule}")
            # From the other port, which sends with swapped addresses what port 0 got: to Linux, and only there.
            pmd.flow("ingress pattern eth dst is ff:ff:ff:ff:ff:ff type is 0x88b5 / end actions queue index 0 / end")
            pmd.cmd("set fwd macswap")
            pmd.cmd("start")
            peer.send(to_all)
            assert receive_ours(linux) == to_port[:6] + frames.mac(frames.BROADCAST) + to_all[12:]
            assert pmd.stats(1)["TX-packets"] == 1
            linux.send(to_peer)
            assert receive_ours(peer) == to_peer
            pmd.cmd("stop")
