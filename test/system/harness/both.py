# SPDX-License-Identifier: BSD-3-Clause
"""Two programs that reach each other by queue pairs: on one card, or on two that a wire or a bridge connects."""
import contextlib
import os
import subprocess
import tempfile

from . import card as cards
from . import places
from .patience import PATIENCE, until
from .places import MACS

# Of TCP, by which the programs exchange addresses: of this process, below those that Linux hands out.
PORT = 12000 + os.getpid() % 20000

KINDS = ["one card", "pair", "unix", "bridge"]


@contextlib.contextmanager
def two_ends(kind, tmp_path, options=(), more=""):
    """Card and device of server and client. `more`: keys of every port."""
    if kind == "bridge":
        assert not options and not more
        with places.bridge(tmp_path) as ends:
            yield [(end.card, "mlx5_0") for end in ends]
        return
    one, other = (f"mac={mac}{more}" for mac in MACS)
    if kind == "one card":
        with cards.up(f"wire=loop,{one}", options=options) as card:
            yield [(card, "mlx5_0"), (card, "mlx5_0")]
    elif kind == "pair":
        with cards.up(f"wire=pair:roce,{one}", f"wire=pair:roce,{other}", options=options) as card:
            yield [(card, "mlx5_0"), (card, "mlx5_1")]
    else:
        wire = f"wire=unix:{tmp_path}/wire"
        with cards.up(f"{wire},{one}", options=options) as card, cards.up(f"{wire},{other}", options=options) as second:
            yield [(card, "mlx5_0"), (second, "mlx5_0")]


def run_both(argv, ends, server_options=(), client_options=()):
    """Server and client of one program, which takes -d, -p and a server's address: (name, status, output) of both.

    A client that comes before the server listens tries again.
    """
    def words(end, options):
        return cards.on(end[0], *argv, "-d", end[1], "-p", str(PORT), *options)

    def ended():
        client = subprocess.run([*words(ends[1], client_options), "127.0.0.1"], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.STDOUT, check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        came_early = "Couldn't connect to" in client.stdout and server.poll() is None
        return None if came_early else client

    with tempfile.TemporaryFile("w+") as output, subprocess.Popen(
            words(ends[0], server_options), stdin=subprocess.DEVNULL, stdout=output, stderr=output) as server:
        try:
            client = until(ended)
            status = server.wait(PATIENCE)
        finally:
            server.kill()
        output.seek(0)
        return [("client", client.returncode, client.stdout), ("server", status, output.read())]
