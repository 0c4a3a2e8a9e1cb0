# SPDX-License-Identifier: BSD-3-Clause
"""What a report of mlx5dv-check has: whose code was run, what both ports can do, and what a row saw that failed."""
import os
import platform
import re
import subprocess

from harness import host, paths
from harness.mlx5dv_check import CABLE, check, run


def file_of(library):
    """The file that the linker takes for a library, of whose name rdma-core's version is the end."""
    said = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return os.path.basename(os.path.realpath(re.search(rf"{library}\.so\.1 .*=> (\S+)", said).group(1)))


def test_versions(tmp_path):
    _, _, report = check(tmp_path, "--only", "link")
    version, = re.findall(r"^ +version: '(.*)',$", (paths.ROOT / "meson.build").read_text(), re.M)
    assert report["version"] == version
    assert report["dpdk"].startswith("DPDK ") and report["kernel"] == platform.release()
    assert report["rdma_core"] == f"{file_of('libibverbs')} {file_of('libmlx5')}"
    for port in report["ports"]:
        assert port["firmware"] == "16.35.2000" and port["part"] == 0x1017
        assert port["driver"] == "net_mlx5dv" and port["driver_file"] == os.path.realpath(paths.PLUGIN)
        assert port["netdev_driver"] == "no netdev"


def test_linuxs_own_driver_and_one_of_another_make(tmp_path, tap_allowed):
    with host.netdev_that_is_up() as netdev:
        _, _, report = check(tmp_path, "--yes", "--only", "link", "--peer", f"netdev:{netdev}",
                             ports=[f"wire=tap:{netdev},kernel=tap:{host.name('k')}"])
    port, peer = report["ports"]
    assert [port["driver"], peer["driver"]] == ["net_mlx5dv", "net_af_packet"]
    assert [port["netdev_driver"], peer["netdev_driver"]] == [f"mlx5_core {platform.release()}", "tun 1.6"]
    assert "librte_net_af_packet" in peer["driver_file"]


def test_what_is_in_the_report_is_said(tmp_path):
    file = tmp_path / "report.json"
    done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--only", "link", "--json", file)
    assert re.search(rf"^mlx5dv-check [\d.]+, DPDK [\d.]+, {file_of('libibverbs')} {file_of('libmlx5')}, Linux ", done.stdout, re.M)
    assert f"mlx5_1: driver net_mlx5dv of {os.path.realpath(paths.PLUGIN)}; its netdev's: no netdev" in done.stdout


def test_what_ports_can_do(tmp_path):
    _, _, report = check(tmp_path, "--only", "link", ports=[f"{CABLE[0]},speed=25g", CABLE[1]])
    port, peer = report["ports"]
    for key in ("rx_offloads", "tx_offloads", "rss_types", "reta_size", "max_rx_queues", "max_tx_queues", "max_mtu", "speeds"):
        assert port[key] > 0 and peer[key] > 0, key
    assert re.search(r"^vendor_part_id = 0x1017$", port["model"], re.M)


def test_what_a_row_saw_that_failed(tmp_path):
    """Frames, completions of both ends, and what their queues counted: where between the ports it was lost is to be seen."""
    faults = tmp_path / "faults"
    faults.write_text("wire loss from 10 frames of mlx5_1\n")
    status, rows, report = check(tmp_path, "--only", "send 60", "--patience", "300", options=["--faults", faults])
    assert rows == {"send 60 bytes": "FAIL"} and status == 1
    row, = report["rows"]
    assert row["state"].startswith("device mlx5_0 ") and row["peer_state"].startswith("device mlx5_1 ")
    assert re.search(r"^  256 frames, 15360 bytes, 0 errors", row["state"], re.M), row["state"]
    assert "CQE" in row["peer_completions"] and row["packets"] == []
