# SPDX-License-Identifier: BSD-3-Clause
"""perftest's raw_ethernet_bw, unmodified: libmlx5's own post and poll paths on our rings."""
import os
import re

import pytest
from harness.program import run_on_softhca
from harness.terminal import Terminal
from harness.testpmd import softhca_argv

SERVER_MAC, CLIENT_MAC = "02:00:00:00:00:10", "02:00:00:00:00:20"
# Raw Ethernet has no flow control: a ring that holds all frames loses none, whoever gets the CPU.
DEEP = ["--rx-depth", "4096"]
COMMON = ["raw_ethernet_bw", "-d", "mlx5_0", "-F"]


def result(text):
    """The table's row: bytes, iterations, peak MB/s, average MB/s, Mpps."""
    row = re.search(r"^\s*(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$", text, re.M)
    assert row, text
    return [float(field) for field in row.groups()]


@pytest.mark.parametrize("size", [64, 1024, 1500])
def test_client_and_server_over_a_unix_wire(tmp_path, size):
    """Two processes, two devices, one cable; the server receives every frame."""
    wire = f"wire=unix:{tmp_path}/wire"
    iterations = 2000
    common = COMMON + ["-s", str(size), "-n", str(iterations)]
    server = Terminal(softhca_argv([f"{wire},mac={SERVER_MAC}"], common + [
        "--server", *DEEP, "--local_mac", SERVER_MAC, "--remote_mac", CLIENT_MAC]), env=dict(os.environ))
    try:
        server.expect(r"attached", 0)
        status, text = run_on_softhca(common + [
            "--client", "--local_mac", CLIENT_MAC, "--remote_mac", SERVER_MAC],
            [f"{wire},mac={CLIENT_MAC}"])
        assert status == 0, text
        sent = result(text)
        assert sent[1] == iterations and sent[3] > 0 and sent[4] > 0, text
        assert server.wait() == 0, server.text
        received = result(server.text)
        assert received[1] == iterations and received[3] > 0, server.text
    finally:
        server.close()


def test_client_alone_completes_every_send():
    """Loop wire, nobody receives: every send still completes."""
    status, text = run_on_softhca(COMMON + [
        "--client", "-s", "256", "-n", "5000", "--local_mac", CLIENT_MAC, "--remote_mac", SERVER_MAC],
        [f"wire=loop,mac={CLIENT_MAC}"])
    assert status == 0, text
    assert result(text)[1] == 5000


def test_udp_headers(tmp_path):
    """With IP and UDP headers the server's flow has IPV4 and UDP specs."""
    wire = f"wire=unix:{tmp_path}/wire"
    common = COMMON + ["-s", "512", "-n", "1000"]
    server = Terminal(softhca_argv([f"{wire},mac={SERVER_MAC}"], common + [
        "--server", *DEEP, "--local_mac", SERVER_MAC, "--remote_mac", CLIENT_MAC,
        "--local_ip", "192.0.2.1", "--remote_ip", "192.0.2.2",
        "--local_port", "4000", "--remote_port", "5000"]), env=dict(os.environ))
    try:
        server.expect(r"attached", 0)
        status, text = run_on_softhca(common + [
            "--client", "--local_mac", CLIENT_MAC, "--remote_mac", SERVER_MAC,
            "--local_ip", "192.0.2.2", "--remote_ip", "192.0.2.1",
            "--local_port", "5000", "--remote_port", "4000"], [f"{wire},mac={CLIENT_MAC}"])
        assert status == 0 and result(text)[1] == 1000, text
        assert server.wait() == 0 and result(server.text)[1] == 1000, server.text
    finally:
        server.close()
