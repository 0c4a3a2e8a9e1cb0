# SPDX-License-Identifier: BSD-3-Clause
"""rdmacm-utils, unmodified: connections, and queue pairs that go by them. Server and client are programs of one card, of
two ports of a card that a cable joins, of two cards, and of two cards whose netdevs are hosts on one bridge."""
import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess

import pytest
from harness import card as cards
from harness import host, paths
from harness.patience import PATIENCE, until
from harness.places import GIDS, HOSTS, MACS, PLACES, PORT, End, bridge, fill, run_both, run_client, serving, two_cards
from harness.terminal import Terminal, TerminalError

pytestmark = pytest.mark.skipif(shutil.which("rping") is None, reason="rdmacm-utils is not installed")

# One program is on each place, the others on one without a netdev and on one with.
SOME_PLACES = [pytest.param(place, marks=pytest.mark.long) if place in ("two ports", "two cards") else place for place in PLACES]
ACK_TIMEOUT = paths.BUILD / "app/examples/cm-timeout"
OWN_QP = paths.BUILD / "app/examples/cm-own-qp"
SIOCGSTAMPNS = 0x8907

# Words of server and client, of one connection: a client that comes too early must not leave half of its own behind.
# ADDRESS and GID are the server's, SOURCE the client's own, PORT one that is free.
PROGRAMS = {
    "rping": ("rping -s -a ADDRESS -p PORT -C 20 -V", "rping -c -a ADDRESS -I SOURCE -p PORT -C 20 -V"),
    "rping of its own QPs": ("rping -s -a ADDRESS -p PORT -C 20 -V -q",
                             "rping -c -a ADDRESS -I SOURCE -p PORT -C 20 -V -q"),
    "ucmatose": ("ucmatose -b ADDRESS -p PORT -c 1 -C 10", "ucmatose -s ADDRESS -b SOURCE -p PORT -c 1 -C 10"),
    "ucmatose by GIDs": ("ucmatose -b GID -p PORT -f gid -c 1 -C 10",
                         "ucmatose -s GID -b SOURCE-GID -p PORT -f gid -c 1 -C 10"),
    "udaddy": ("udaddy -b ADDRESS -c 1 -C 10", "udaddy -s ADDRESS -b SOURCE -c 1 -C 10"),
    "rdma_client": ("rdma_server -s ADDRESS -p PORT", "rdma_client -s ADDRESS -p PORT"),
    "rstream": ("rstream -b ADDRESS -p PORT -S 4096 -C 20 -T v", "rstream -s ADDRESS -p PORT -S 4096 -C 20 -T v"),
    "riostream": ("riostream -b ADDRESS -p PORT -S 4096 -C 20 -T v",
                  "riostream -s ADDRESS -b SOURCE -p PORT -S 4096 -C 20 -T v"),
}


@pytest.mark.parametrize("program, place", [
    pytest.param(program, *getattr(place, "values", [place]), marks=getattr(place, "marks", []))
    for program in PROGRAMS for place in (PLACES if program == "rping" else SOME_PLACES)])
def test_rdmacm_utils(program, place, tmp_path):
    with PLACES[place](tmp_path) as (server, client):
        both = run_both(PROGRAMS[program], server, client)
        assert all(status == 0 for _, status, _ in both), both


@pytest.mark.skipif(not OWN_QP.exists(), reason="librdmacm-dev is not installed")
@pytest.mark.parametrize("timeout", [9, 15])
def test_queue_pairs_of_the_application(timeout, tmp_path):
    """app/examples/cm-own-qp: the passive side is established when the active one says so; the queue pair has the ACK
    timeout that was set."""
    with two_cards(tmp_path) as (server, client), serving(f"{OWN_QP} ADDRESS", server, client) as terminal:
        terminal.expect("listening", 0)
        status, text = run_client(client.argv(*fill(f"{OWN_QP} ADDRESS hello {timeout}", server, client)))
        assert status == 0, text
        assert text.splitlines() == [
            "RDMA_CM_EVENT_ADDR_RESOLVED", "RDMA_CM_EVENT_ROUTE_RESOLVED", "RDMA_CM_EVENT_CONNECT_RESPONSE",
            f"ACK timeout of the queue pair: {timeout}", "RDMA_CM_EVENT_DISCONNECTED"]
        assert terminal.wait(PATIENCE) == 0
        assert terminal.text.split() == [
            "listening", "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_ESTABLISHED", "received:", "hello",
            "RDMA_CM_EVENT_DISCONNECTED"]


def first_of(argv):
    """A program that has been connected. One that comes before its server listens is refused, and comes again."""
    def connected():
        terminal = Terminal(argv, env=dict(os.environ))
        try:
            terminal.expect("initiating data transfers", 0)
            return terminal
        except TerminalError:
            terminal.close()
            if not terminal.ended:  # it was silent
                raise
        return None
    return until(connected)


@pytest.mark.parametrize("place", SOME_PLACES)
def test_datagrams_of_two(place, tmp_path):
    """A client of two connections that came too early could leave one of them: it comes behind another client."""
    client_words = "udaddy -s ADDRESS -b SOURCE -C 10 -c"
    with PLACES[place](tmp_path) as (server, client), serving("udaddy -b ADDRESS -c 3 -C 10", server, client) as terminal:
        one = first_of(client.argv(*fill(f"{client_words} 1", server, client)))
        with contextlib.closing(one):
            status, text = run_client(client.argv(*fill(f"{client_words} 2", server, client)))
            assert status == 0, text
            assert one.wait() == 0 and terminal.wait() == 0, (one.text, terminal.text)


@pytest.mark.parametrize("kind", ["r", "x"])
@pytest.mark.parametrize("place", HOSTS)
def test_rdma_xclient(place, kind, tmp_path):
    """RC and XRC. Its server listens to addresses of IPv4."""
    words = (f"rdma_xserver -p PORT -c {kind}", f"rdma_xclient -s ADDRESS -p PORT -c {kind}")
    with HOSTS[place](tmp_path) as (server, client):
        for who, status, text in run_both(words, server, client):
            assert status == 0, (who, text)


def test_multicast(tmp_path):
    with bridge(tmp_path) as (server, client):
        words = "mckey -m 239.1.1.1 -C 10 -b"
        with serving(f"{words} ADDRESS", server, client) as terminal:
            terminal.expect("receiving data transfers", 0)
            status, text = run_client(client.argv(*fill(f"{words} SOURCE -s", server, client)))
            assert status == 0, text
            assert terminal.wait() == 0, terminal.text


def test_no_multicast_of_ipv6(tmp_path):
    """Linux has none by RoCE v2: ENOTSUPP."""
    with PLACES["one card"](tmp_path) as (end, _):
        done = subprocess.run(end.argv("mckey", "-m", "ff02::1234", "-b", end.address), capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "failure joining: Unknown error 524" in text, text


def test_removal(tmp_path):
    """The server's device dies between two messages: nobody tells its client, which waits for the next one."""
    (tmp_path / "faults").write_text("device fatal at 200 of mlx5_0\n")
    ports = [f"wire=pair:cable,mac={mac}" for mac in MACS]
    with cards.up(*ports, options=["--faults", tmp_path / "faults"]) as card:
        server, client = End(card, GIDS[0]), End(card, GIDS[1])
        with serving("rping -s -a ADDRESS -p PORT -v -d", server, client) as terminal:
            terminal.expect("rdma_listen", 0)
            words = "rping -c -a ADDRESS -I SOURCE -p PORT -C 1000000"
            with contextlib.closing(Terminal(client.argv(*fill(words, server, client)), env=dict(os.environ))):
                terminal.expect("RDMA_CM_EVENT_DEVICE_REMOVAL.*detected device removal", 0)
                terminal.wait()


def came_at(sniffer):
    """Seconds when the frame that was read last came, however late that was."""
    seconds, nanoseconds = struct.unpack("qq", fcntl.ioctl(sniffer.socket, SIOCGSTAMPNS, bytes(16)))
    return seconds + nanoseconds / 1e9


def intervals(tmp_path, timeout):
    """Seconds between the packets of a send that nobody answers, as they leave the client's card."""
    with bridge(tmp_path) as (server, client), serving(f"{OWN_QP} ADDRESS", server, client) as terminal:
        terminal.expect("listening", 0)
        words = fill(f"{ACK_TIMEOUT} ADDRESS {timeout} 3", server, client)
        calling = Terminal(client.argv(*words), env=dict(os.environ))
        with contextlib.closing(calling), host.PacketSocket(client.wire) as sniffer:
            calling.expect("connected", 0)
            host.run("ip", "link", "set", server.wire, "down")
            with contextlib.suppress(FileNotFoundError):  # none was read
                came_at(sniffer)  # from now on they have one
            calling.send("\n")
            times = []
            while len(times) < 4:
                frame = sniffer.receive(PATIENCE)
                assert frame is not None
                # UDP to 4791 in IPv4, and in the BTH "RC send only".
                if frame[12:14] == b"\x08\0" and frame[36:38] == b"\x12\xb7" and frame[42] == 4:
                    times.append(came_at(sniffer))
            calling.expect("sent: transport retry counter exceeded", 0)
            assert calling.wait(PATIENCE) == 0
        return [later - earlier for earlier, later in zip(times, times[1:])]


@pytest.mark.skipif(not ACK_TIMEOUT.exists(), reason="librdmacm-dev is not installed")
def test_ack_timeout(tmp_path):
    """app/examples/cm-timeout: 2^4 times the timeout is 16 times the time between packets, whatever this machine's
    load adds to both."""
    short, long = (min(intervals(tmp_path, timeout)) for timeout in (14, 18))
    assert 6 < long / short < 32, (short, long)


@pytest.mark.parametrize("place", SOME_PLACES)
def test_many_connections(place, tmp_path):
    """cmtime's server never ends; its client ends when all connections have. Newer ones have a socket between both, too, which is
    one of IPv4, and the newest name its end on both sides."""
    usage = subprocess.run(["cmtime", "-?"], capture_output=True, text=True, check=False)
    if place not in HOSTS and "-S" in usage.stdout + usage.stderr:
        pytest.skip("this cmtime wants IPv4, and the card has no netdev")
    serves, calls = ("-L -C ADDRESS", "-C ADDRESS") if "-C controller" in usage.stdout + usage.stderr else ("", "-s ADDRESS")
    with PLACES[place](tmp_path) as (server, client), serving(f"cmtime {serves} -b ADDRESS -p PORT -c 40", server, client):
        status, text = run_client(client.argv(*fill(f"cmtime {calls} -b SOURCE -p PORT -c 40", server, client)))
        assert status == 0 and re.search(r"^(connect +:|full connect  )", text, re.M), text


def test_a_file_by_rsockets(tmp_path):
    """rcopy takes what is behind a colon for the file, so its servers have addresses without."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(os.urandom(300000))
    with bridge(tmp_path) as (server, client), serving("rcopy -p PORT", server, client):
        words = ["rcopy", source, f"{server.address}:{copy}", "-p", PORT]
        status, text = run_client(client.argv(*map(str, words)))
        assert status == 0, text
        assert copy.read_bytes() == source.read_bytes()
