# SPDX-License-Identifier: BSD-3-Clause
"""UCX, unmodified: its transports of verbs (rc_verbs, ud_verbs) and of direct verbs (rc_mlx5, ud_mlx5), which write their WQEs and
read their CQEs themselves. DC and DevX it asks for, and goes without."""
import functools
import os
import re
import shutil
import subprocess

import pytest
from harness import card as cards
from harness import places
from harness.both import KINDS, PORT, two_ends
from harness.patience import PATIENCE, until
from harness.terminal import Terminal
from harness.ucx import needs_verbs

pytestmark = [pytest.mark.skipif(shutil.which("ucx_perftest") is None, reason="ucx-utils is not installed"), needs_verbs]

TRANSPORTS = ["rc_verbs", "ud_verbs", "rc_mlx5", "ud_mlx5"]
# Of the transport layer: what each transport can do, and sizes.
OPERATIONS = ["am_lat -D short -s 16", "am_bw -D bcopy -s 1000", "am_lat -D zcopy -s 800"]
OF_RC = ["put_lat -D short -s 8", "put_bw -D zcopy -s 65536", "get -D zcopy -s 8192", "fadd -D bcopy -s 8", "cswap -D bcopy -s 8"]
# Of the protocols: eager, rendezvous, one-sided, atomic
PROTOCOLS = ["tag_lat -s 8", "tag_bw -s 300000", "ucp_put_bw -s 4096", "ucp_get -s 4096", "ucp_fadd -s 8", "stream_bw -s 5000"]
# UCX 1.16 to 1.20 without DevX adds eight times the low byte of the server's process number to the addresses of rc_mlx5's atomics
# (uct_ib_mlx5_flush_rkey_make()): on cards, too, they miss their buffer. A server of atomics gets a number whose low byte is 0.
ATOMICS = {"fadd", "cswap", "ucp_fadd"}
NUMBERED = ["bash", "-c", 'while ( ((BASHPID & 255)) && exit 99; exec "$@" ); status=$?; ((status == 99)); do :; done; exit $status', "bash"]


@functools.cache
def apart():
    """Those that were built with MPI take themselves for its ranks unless they are told."""
    usage = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True, check=False)
    return ["-P", "0"] if "-P <0|1>" in usage.stdout + usage.stderr else []


def words(end, *options, env=(), starter=()):
    return cards.on(end[0], *starter, "env", "UCX_WARN_UNUSED_ENV_VARS=n", *env, "ucx_perftest", *apart(), "-p", PORT, *options)


def run(ends, options, env=()):
    """Both sides; a client that comes before the server listens tries again. Older servers have all from their client, newer ones
    want to be told of transport and device."""
    where = options[:4] if options[0] == "-x" else []
    starter = NUMBERED if ATOMICS & set(options) else []
    server = Terminal(words(ends[0], *where, env=env, starter=starter), env=dict(os.environ))

    def ended():
        client = subprocess.run(words(ends[1], "127.0.0.1", *options, "-n", "30", "-w", "3", env=env), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=PATIENCE)
        return None if "connect() failed" in client.stdout and server.process.poll() is None else client

    try:
        client = until(ended)
        assert client.returncode == 0 and re.search(r"^Final: +30 ", client.stdout, re.M), (options, client.stdout, server.text)
        assert server.wait() == 0, (options, server.text)
    finally:
        server.close()


@pytest.mark.parametrize("model", ["cx5", pytest.param("cx4lx", marks=pytest.mark.long)])
def test_what_it_finds(model):
    with cards.up(f"wire=loop,model={model}") as card:
        text = cards.run_on(card, "ucx_info", "-d").stdout
    found = re.findall(r"Transport: (\w+)\n#\s+Device: mlx5_0:1$", text, re.M)
    assert sorted(found) == sorted(TRANSPORTS), text
    # A second memory domain of newer UCX is that of gga_mlx5, which has no other way than DevX.
    assert text.count("< failed") <= text.count("< failed to open memory domain mlx5_0 >") <= 1, text


@pytest.mark.parametrize("kind", ["one card", *(pytest.param(kind, marks=pytest.mark.long) for kind in KINDS[1:])])
@pytest.mark.parametrize("transport", [pytest.param(name, marks=pytest.mark.long) if name == "rc_verbs" else name for name in TRANSPORTS])
def test_transport(transport, kind, tmp_path):
    with two_ends(kind, tmp_path) as ends:
        for operation in OPERATIONS + (OF_RC if transport.startswith("rc") else []):
            # Both sides take the port of the client's name: those of a pair are alike.
            device = ends[1][1] if kind != "pair" else "mlx5_0"
            run(ends, ["-x", transport, "-d", f"{device}:1", "-t", *operation.split()])


@pytest.mark.parametrize("transports", [pytest.param("rc_v,ud_v", marks=pytest.mark.long), "rc_x,ud_x", "ud"])
def test_protocols(transports, tmp_path):
    """UCP, which chooses among transports; here only from those."""
    with two_ends("one card", tmp_path) as ends:
        for protocol in PROTOCOLS:
            run(ends, ["-t", *protocol.split()], [f"UCX_TLS={transports},self", "UCX_NET_DEVICES=mlx5_0:1"])


@pytest.mark.parametrize("transport", ["ud_verbs", "ud_mlx5"])
def test_datagrams_by_ipv4(transport, tmp_path):
    """UCX takes a datagram for one of IPv4 by its CQE alone, and drops those to addresses that are not the port's."""
    with places.one_host(tmp_path) as (end, _):
        ends = [(end.card, "mlx5_0")] * 2
        run(ends, ["-x", transport, "-d", "mlx5_0:1", "-t", "am_lat", "-D", "short", "-s", "16"], ["UCX_IB_GID_INDEX=3"])
