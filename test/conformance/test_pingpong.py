# SPDX-License-Identifier: BSD-3-Clause
"""ibverbs-utils' ping-pongs, unmodified: queue pairs with a transport, between two programs of a card and two cards."""
import contextlib
import os
import re
import subprocess

import pytest
from harness import card as cards
from harness import paths
from harness.patience import PATIENCE
from harness.terminal import Terminal

ITERS = 300
MACS = ["02:00:00:00:00:10", "02:00:00:00:00:20"]
# Ports of TCP, by which the programs exchange addresses: of this process, below those that Linux hands out.
TCP_PORT = 12000 + os.getpid() % 20000


def run_both(argv, cards_of):
    """Server and client, each on its card; (name, status, output) of both."""
    argv = [*argv, "-p", str(TCP_PORT), "-n", str(ITERS)]
    server = Terminal([paths.SOFTHCA, "run", "--on", cards_of[0], "--", *argv], env=dict(os.environ))
    try:
        # It prints its address, and then listens.
        server.expect(r"local address: .*", 0)
        client = None
        for _ in range(50):
            client = subprocess.run([paths.SOFTHCA, "run", "--on", cards_of[1], "--", *argv, "127.0.0.1"],
                                    capture_output=True, text=True, check=False, timeout=PATIENCE)
            if "Couldn't connect" not in client.stdout + client.stderr:
                break
        status = server.wait(PATIENCE)
        return [("client", client.returncode, client.stdout + client.stderr), ("server", status, server.text)]
    finally:
        server.close()


@contextlib.contextmanager
def two_ends(kind, tmp_path):
    """The cards of server and client."""
    if kind == "one card":
        with cards.up(f"wire=loop,mac={MACS[0]}") as card:
            yield [card, card]
    else:
        with cards.up(f"wire=unix:{tmp_path}/wire,mac={MACS[0]}") as one, \
                cards.up(f"wire=unix:{tmp_path}/wire,mac={MACS[1]}") as other:
            yield [one, other]


@pytest.mark.parametrize("kind", ["one card", "two cards"])
@pytest.mark.parametrize("argv", [
    ("ibv_ud_pingpong", "-g", "0"), ("ibv_ud_pingpong", "-g", "1"),
    ("ibv_uc_pingpong", "-g", "1"), ("ibv_rc_pingpong", "-g", "0"), ("ibv_rc_pingpong", "-g", "1"),
    ("ibv_rc_pingpong", "-g", "1", "-e", "-c"), ("ibv_rc_pingpong", "-g", "1", "-s", "100000", "-m", "4096", "-c"),
], ids=" ".join)
def test_pingpong(argv, kind, tmp_path):
    with two_ends(kind, tmp_path) as both:
        for who, status, text in run_both(argv, both):
            assert status == 0, (who, text)
            assert re.search(rf"^{ITERS} iters in ", text, re.M), (who, text)
            # -c: the programs compare what came.
            assert "invalid data" not in text, (who, text)
