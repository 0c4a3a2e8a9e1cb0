# SPDX-License-Identifier: BSD-3-Clause
"""libfabric, unmodified: its provider of verbs, for connections (msg), for datagrams (dgram), and with ofi_rxm above (rdm)."""
import re
import shutil

import pytest
from harness import card as cards
from harness.places import HOSTS, one_card, run_both

pytestmark = pytest.mark.skipif(shutil.which("fi_pingpong") is None, reason="libfabric-bin is not installed")

ENDPOINTS = ["FI_EP_MSG", "FI_EP_DGRAM"]


def test_what_it_finds():
    with cards.up("wire=loop") as card:
        for endpoint in ENDPOINTS:
            text = cards.run_on(card, "fi_info", "-p", "verbs", "-t", endpoint).stdout
            assert re.search(rf"provider: verbs\n +fabric: .*\n +domain: mlx5_0(-dgram)?\n.*\n +type: {endpoint}\n", text), text


def check(words, place, tmp_path):
    with place(tmp_path) as (server, client):
        address = server.address if server.namespace else "127.0.0.1"
        both = run_both((f"fi_pingpong -p verbs {words} -B PORT", f"fi_pingpong -p verbs {words} -P PORT {address}"), server, client)
        for who, status, text in both:
            assert status == 0 and re.search(r"^\S+ +10 +=10 ", text, re.M), (who, text)


@pytest.mark.parametrize("size", ["64", pytest.param("all", marks=pytest.mark.long)])
@pytest.mark.parametrize("place", ["one host", pytest.param("bridge", marks=pytest.mark.long)])
def test_connections(place, size, tmp_path):
    """-c: the program compares what came."""
    check(f"-e msg -c -S {size}", HOSTS[place], tmp_path)


def test_datagrams(tmp_path):
    check("-e dgram -c -S 64", one_card, tmp_path)


@pytest.mark.parametrize("messages", ["msg", pytest.param("tagged", marks=pytest.mark.long)])
def test_reliable_datagrams(messages, tmp_path, monkeypatch):
    """ofi_rxm, over connections. Between an empty CQ and its look at events of connections it may be off its CPU for so
    long that the last message and the end of the connection have both come; it closes the queue pair then, and
    libmlx5 takes the message out of the CQ (v1.17.0: rxm_ep_do_progress(), vrb_ep_close()). Seconds between such looks,
    and it reads the message first."""
    monkeypatch.setenv("FI_OFI_RXM_CM_PROGRESS_INTERVAL", "2000000")
    check(f"-e rdm -m {messages} -c -S 64", HOSTS["one host"], tmp_path)
