# SPDX-License-Identifier: BSD-3-Clause
"""Many programs beside each other on one port: two stock testpmds, perftest and Linux, each with a MAC of its own."""
import contextlib
import os
import re
import socket
import struct
import threading

import pytest
from harness import card as cards
from harness import frames, host
from harness.cable import Cable
from harness.intree import InTreeTestpmd
from harness.patience import PATIENCE, until
from harness.terminal import Terminal
from harness.testpmd import Testpmd

pytestmark = pytest.mark.skipif(host.why_no_tap() is not None, reason=str(host.why_no_tap()))
OURS, THEIRS, PERFTEST = "02:00:00:00:00:aa", "02:00:00:00:00:bb", "02:00:00:00:00:cc"
SENDER = "02:00:00:00:00:dd"
ROUNDS, BATCH, ITERATIONS = 20, 8, 400
# A ring that holds all frames loses none, whoever gets the CPU.
DEEP = ["--rxd=1024"]
ICMP, ECHO_REQUEST, ECHO_REPLY = 1, 8, 0


def echo_request(to, address, peer, number):
    """What ping sends; the number is its sequence number."""
    def message(value):
        return struct.pack("!BBHHH", ECHO_REQUEST, 0, value, 1, number) + b"abcdefgh"
    return frames.ether(frames.ipv4(message(frames.checksum(message(0))), ICMP, peer, address), frames.IPV4, dst=to)


def is_reply(frame, number):
    return frame[12:14] == b"\x08\x00" and frame[23] == ICMP and frame[34] == ECHO_REPLY \
        and frame[40:42] == struct.pack("!H", number)


def addresses():
    """Linux's and the peer's address, in a network of this process's own in 198.18.0.0/15, which is for such tests (RFC 2544)."""
    number = os.getpid() % 0x8000 * 4
    base = struct.unpack("!I", socket.inet_aton("198.18.0.0"))[0] + number
    return [socket.inet_ntoa(struct.pack("!I", base + i)) for i in (1, 2)]


class Switch:
    """The far end of the cable, as a switch with a hairpin: frames from the port to perftest's addresses come back by the
    port. `rest` has the others."""

    def __init__(self, cable):
        self.cable, self.rest, self.is_over = cable, [], threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.is_over.is_set():
            frame = self.cable.receive(0.05)
            if frame and frame[:6] in (frames.mac(PERFTEST), frames.mac(SENDER)):
                self.cable.send(frame)
            elif frame:
                self.rest.append(frame)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


class Asking:
    """ibv_devinfo and ethtool -S, one after the other, for as long as this lasts."""

    def __init__(self, card, netdev):
        self.commands = [["ibv_devinfo", "-d", "mlx5_0"], ["ethtool", "-S", netdev]]
        self.card, self.done, self.wrong, self.last = card, 0, None, ["", ""]
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.is_over.is_set() and self.wrong is None:
            for i, command in enumerate(self.commands):
                done = cards.run_on(self.card, *command, check=False)
                if done.returncode:
                    self.wrong = f"{command}: {done.returncode}\n{done.stdout}"
                self.last[i] = done.stdout
            self.done += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


@contextlib.contextmanager
def perftest(card, program):
    """Both sides of a program of perftest's on the card, the server ready."""
    common = [program, "-d", "mlx5_0", "-F", "-s", "256", "-n", str(ITERATIONS)]
    server = Terminal(cards.on(card, *common, "-Z", *(["--rx-depth", "1024"] if program.endswith("bw") else []),
                               "-B", PERFTEST, "-E", SENDER), env=dict(os.environ))
    try:
        server.expect("#bytes", 0)
        client = Terminal(cards.on(card, *common, "-P", "-B", SENDER, "-E", PERFTEST), env=dict(os.environ))
        try:
            yield server, client
        finally:
            client.close()
    finally:
        server.close()


def takes(pmd, mac):
    """A testpmd that takes frames to its MAC, and counts from now on."""
    for line in ("set promisc all off", "set allmulti all off", f"mac_addr set 0 {mac}", "set fwd rxonly", "start"):
        answer = pmd.cmd(line)
        assert "rror" not in answer, f"{line}: {answer}"
    return pmd.stats()["RX-packets"]


def rx_of_mlx5(text):
    return int(re.search(r"^ +rx_packets: (\d+)$", text, re.M).group(1))


@pytest.mark.parametrize("program", ["raw_ethernet_bw", "raw_ethernet_lat"])
def test_each_gets_its_own(tmp_path, program):
    """Exact counts: nobody gets a frame of another, and nobody loses one. Addresses of programs are not the port's, so
    what perftest sends leaves, and comes back from the switch."""
    wire, netdev = tmp_path / "wire", host.name("c")
    linux, peer = addresses()
    with cards.up(f"wire=unix:{wire},kernel=tap:{netdev}") as card:
        host.quiet_netdev(netdev, f"{linux}/30")
        host.run("ip", "neigh", "add", peer, "lladdr", frames.PEER_MAC, "dev", netdev)
        mac = host.netdev_mac(netdev).lower()
        with Cable(wire) as cable, InTreeTestpmd(card=card, args=DEEP) as theirs, \
                Testpmd(ports=(), vdevs=["net_mlx5dv0,ibdev=mlx5_0"], args=DEEP,
                        softhca_options=("--on", card)) as ours:
            before = [takes(ours, OURS), takes(theirs, THEIRS), host.netdev_counter(netdev, "rx_packets")]
            with Switch(cable) as switch, Asking(card, netdev) as asking, \
                    perftest(card, program) as (server, client):
                for i in range(ROUNDS):
                    cable.send(*[frames.packet(eth_dst=OURS)] * BATCH, *[frames.packet(eth_dst=THEIRS)] * 2 * BATCH)
                    cable.send(echo_request(mac, linux, peer, i))
                    until(lambda number=i: any(is_reply(frame, number) for frame in switch.rest))
                for side in (client, server):
                    assert side.wait() == 0, side.text
                    assert re.search(rf"^\s*256\s+{ITERATIONS}\s", side.text[side.text.index("#bytes"):], re.M), side.text
                until(lambda: asking.done > 1 or asking.wrong)
            assert asking.wrong is None, asking.wrong
            assert "PORT_ACTIVE" in asking.last[0]
            ours.wait_stats(lambda s: s["RX-packets"] >= before[0] + ROUNDS * BATCH)
            theirs.wait_stats(lambda s: s["RX-packets"] >= before[1] + 2 * ROUNDS * BATCH)
            assert ours.stats()["RX-packets"] == before[0] + ROUNDS * BATCH
            assert theirs.stats()["RX-packets"] == before[1] + 2 * ROUNDS * BATCH
            assert host.netdev_counter(netdev, "rx_packets") == before[2] + ROUNDS
            text = cards.run_on(card, "ethtool", "-S", netdev).stdout
            assert rx_of_mlx5(text) >= ROUNDS
