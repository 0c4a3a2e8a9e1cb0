# SPDX-License-Identifier: BSD-3-Clause
"""Two programs that connect by librdmacm: on one card, on two ports of a card that a cable joins, on two cards, on two cards
whose netdevs are hosts on one bridge, and on the card of one host."""
import contextlib
import dataclasses
import os
import re
import subprocess
import time

import pytest

from . import card as cards
from . import host
from .patience import PATIENCE
from .terminal import Terminal

MACS = ["02:00:00:00:00:10", "02:00:00:00:00:20"]
GIDS = ["fe80::ff:fe00:10", "fe80::ff:fe00:20"]
PORT = 7400


@dataclasses.dataclass
class End:
    """Where a program runs, and the address that it has there."""
    card: str
    address: str
    namespace: str = None
    wire: str = None
    netdev: str = None

    def gid(self):
        return self.address if ":" in self.address else "::ffff:" + self.address

    def argv(self, *words):
        enter = ["ip", "netns", "exec", self.namespace] if self.namespace else []
        return enter + cards.on(self.card, *words)


@contextlib.contextmanager
def one_card(_):
    with cards.up(f"wire=loop,mac={MACS[0]}") as card:
        yield End(card, GIDS[0]), End(card, GIDS[0])


@contextlib.contextmanager
def two_ports(_):
    with cards.up(*(f"wire=pair:cable,mac={mac}" for mac in MACS)) as card:
        yield End(card, GIDS[0]), End(card, GIDS[1])


@contextlib.contextmanager
def two_cards(tmp_path):
    with cards.up(f"wire=unix:{tmp_path}/wire,mac={MACS[0]}") as one, \
            cards.up(f"wire=unix:{tmp_path}/wire,mac={MACS[1]}") as other:
        yield End(one, GIDS[0]), End(other, GIDS[1])


def need_netdevs():
    why_not = host.why_no_tap() or host.why_no_netns()
    if why_not:
        pytest.skip(f"no netdevs: {why_not}")


@contextlib.contextmanager
def one_host(_):
    """A card whose netdev is in a namespace, for programs that connect by IP beside."""
    need_netdevs()
    netdev = host.name("k")
    with cards.up(f"wire=loop,kernel=tap:{netdev},mac={MACS[0]}") as card, host.Namespace() as space:
        space.take(netdev, "10.77.0.1/24")
        end = End(card, "10.77.0.1", space.name, netdev=netdev)
        wait_for_netdev(end)
        yield end, end


@contextlib.contextmanager
def bridge(_):
    """Two cards, each with its netdev in a namespace, on one bridge: nobody knows the other's MAC at first."""
    need_netdevs()
    name = host.name("b")
    with contextlib.ExitStack() as stack:
        host.run("ip", "link", "add", name, "type", "bridge")
        stack.callback(host.run, "ip", "link", "del", name)
        host.run("ip", "link", "set", name, "up")
        ends = []
        for number, mac in enumerate(MACS, 1):
            wire, netdev = host.name("w"), host.name("k")
            card = stack.enter_context(cards.up(f"wire=tap:{wire},kernel=tap:{netdev},mac={mac}"))
            host.run("ip", "link", "set", wire, "master", name, "up")
            space = stack.enter_context(host.Namespace())
            space.take(netdev, f"10.77.0.{number}/24")
            ends.append(End(card, f"10.77.0.{number}", space.name, wire, netdev))
        for end in ends:
            wait_for_netdev(end)
        yield tuple(ends)


def wait_for_netdev(end):
    """The card has seen the netdev's address, and that it is up: two messages of the kernel, one behind the other."""
    gid = f"0000:0000:0000:0000:0000:ffff:0a4d:{int(end.address[-1]):04x}"
    until = time.monotonic() + PATIENCE
    port = cards.directory(end.card) / "sys/class/infiniband/mlx5_0/ports/1"
    for name, wanted in (("gids/3", gid), ("state", "4: ACTIVE")):
        while (found := (port / name).read_text(encoding="ascii").strip()) != wanted:
            assert time.monotonic() < until, (name, found)
            time.sleep(0.02)


# Of addresses of RDMA alone, and one of hosts; HOSTS all have IP.
PLACES = {"one card": one_card, "two ports": two_ports, "two cards": two_cards, "bridge": bridge}
HOSTS = {"one host": one_host, "bridge": bridge}


def fill(words, server, client):
    values = {"ADDRESS": server.address, "GID": server.gid(), "SOURCE": client.address, "SOURCE-GID": client.gid(),
              "PORT": str(PORT)}
    return [values.get(word, word) for word in words.split()]


# rping is done, and closes the channel of events before a thread of its own waits there for the next. Its server tells.
CLOSED = re.compile(r"\A(client DISCONNECT EVENT\.\.\.\n)?rdma_get_cm_event: Bad file descriptor\n\Z")
# perftest with -R, and uDAPL's dtestx: the server has told the client by TCP to go on before it calls rdma_listen(). A client that
# is faster is rejected (RDMA_CM_EVENT_REJECTED is 8) and ends, and its server waits for ever: of perftest's, for the second of two
# connections, so that another client's first would be taken for it.
REJECTED = re.compile("Unexpected CM event bl blka 8|RDMA_CM_EVENT_REJECTED; error: 8|non-consumer REJ, reason=8")


def run_client(argv, wanted=lambda status, text: status == 0):
    """(status, output). A client that comes before its server listens is refused, and comes again.

    The output of one that fails is what all before it said, too.
    """
    until, said = time.monotonic() + PATIENCE, []
    while True:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=PATIENCE)
        text = done.stdout + done.stderr
        status = 0 if CLOSED.search(text) else done.returncode
        said += [] if text in said else [text]
        if wanted(status, text) or time.monotonic() > until:
            return status, text if status == 0 else "\n".join(said)


@contextlib.contextmanager
def serving(words, server, client):
    """A server: its terminal."""
    terminal = Terminal(server.argv(*fill(words, server, client)), env=dict(os.environ))
    try:
        yield terminal
    finally:
        terminal.close()


def run_both(words, server, client):
    """(name, status, output) of client and server."""
    until = time.monotonic() + PATIENCE
    while True:
        with serving(words[0], server, client) as terminal:
            # Of a server that has ended no client has an answer, but the one that failed tells why.
            status, text = run_client(
                client.argv(*fill(words[1], server, client)),
                lambda status, text: status == 0 or REJECTED.search(text) or terminal.process.poll() is not None)
            if not REJECTED.search(text):
                return [("client", status, text), ("server", terminal.wait(PATIENCE), terminal.text)]
        assert time.monotonic() < until, f"always rejected: {text}"
