# SPDX-License-Identifier: BSD-3-Clause
"""libvma, unmodified: sockets of IP past the kernel, by raw packet queue pairs, rules and rings of direct verbs. Debian has no
package of it: LIBVMA names a libvma.so. sockperf, which is Debian's, sends and receives, here by libvma and there by it or by
Linux's own sockets."""
import ctypes.util
import json
import os
import re
import shutil

import pytest
from harness import card as cards
from harness import paths, places
from harness.places import run_client
from harness.terminal import Terminal

LIBVMA = os.environ.get("LIBVMA") or ctypes.util.find_library("vma")
GROUP = "239.77.0.1"
PORT = "7500"
# Fewer buffers than for the rates of a card: each moves to the keeper's sight. With a name of its own a program's statistics are no
# other program's.
SETTINGS = ["VMA_RX_BUFS=20000", "VMA_TX_BUFS=20000", "VMA_RX_WRE=1024", "VMA_TX_WRE=1024", "VMA_TRACELEVEL=WARNING"]

pytestmark = [pytest.mark.skipif(LIBVMA is None, reason="libvma is not installed, nor named by LIBVMA"),
              pytest.mark.skipif(shutil.which("sockperf") is None, reason="sockperf is not installed")]


def by_libvma(end, *words):
    """argv of a program whose sockets are libvma's. It looks for the device in /sys."""
    preloaded = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"', LIBVMA, "env", *SETTINGS, *words]
    return ["ip", "netns", "exec", end.namespace, str(paths.SOFTHCA), "run", "--sys", "--on", end.card, "--", *preloaded]


def by_linux(end, *words):
    return ["ip", "netns", "exec", end.namespace, *words]


def steered(end):
    """Frames that rules have given to queues, and those that the netdev got."""
    stats = json.loads(cards.softhca("ctl", "--on", end.card, "stats", "--json").stdout)["ports"][0]
    return stats["rx_steered"], stats["rx_kernel"]


def words_of(kind, address, end):
    """How sockperf is told of a socket: options of both sides."""
    if kind == "multicast":
        return ["-i", GROUP, "-p", PORT, "--mc-rx-if", end.address, "--mc-tx-if", end.address]
    return ["-i", address, "-p", PORT, *(["--tcp"] if kind == "tcp" else [])]


@pytest.mark.parametrize("kind", ["udp", "tcp", "multicast"])
@pytest.mark.parametrize("server_by, client_by", [
    (by_libvma, by_libvma),
    pytest.param(by_libvma, by_linux, marks=pytest.mark.long),
    pytest.param(by_linux, by_libvma, marks=pytest.mark.long),
], ids=["both", "server", "client"])
def test_messages(server_by, client_by, kind, tmp_path):
    """Each message is answered, and what libvma's side gets comes by its queue, not by the netdev. Datagrams in fragments do come by
    the netdev: no rule sees their ports."""
    with places.bridge(tmp_path) as (server, client):
        for end in (server, client):
            places.host.run(*by_linux(end, "ip", "route", "add", "239.77.0.0/16", "dev", end.netdev))
        sized = {"udp": (14, 1400, 8000), "tcp": (14, 60000), "multicast": (14, 1400)}[kind]
        argv = server_by(server, "sockperf", "server", *words_of(kind, server.address, server))
        terminal = Terminal(argv, env=dict(os.environ))
        try:
            terminal.expect("to block on socket", 0)
            for size in sized:
                before = [steered(end) for end in (server, client)]
                status, text = run_client(
                    client_by(client, "sockperf", "ping-pong", "-t", "1", "-m", str(size), *words_of(kind, server.address, client)),
                    lambda status, text: status == 0 and "Valid Duration" in text)
                sent, received = map(int, re.search(r"Valid Duration.*SentMessages=(\d+); ReceivedMessages=(\d+)", text).groups())
                assert status == 0 and sent == received > 0, (size, text, terminal.text)
                after = [steered(end) for end in (server, client)]
                for side, by in enumerate((server_by, client_by)):
                    by_queue, by_netdev = (after[side][i] - before[side][i] for i in (0, 1))
                    if by is by_linux or size == 8000:
                        assert by_netdev >= sent, (size, side, before, after)
                    else:
                        assert by_queue >= sent and by_netdev < sent + 50, (size, side, before, after)
        finally:
            terminal.close()
