# SPDX-License-Identifier: BSD-3-Clause
"""What a report of mlx5dv-check has: whose code was run, what both ports can do, and what a row saw that failed."""
import json
import os
import platform
import re
import subprocess

import pytest
from harness import host, paths
from harness.mlx5dv_check import CABLE, check, run


def file_of(library):
    """The file that the linker takes for a library, of whose name rdma-core's version is the end."""
    said = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return os.path.basename(os.path.realpath(re.search(rf"{library}\.so\.1 .*=> (\S+)", said).group(1)))


@pytest.fixture(name="linked", scope="module")
def fixture_linked(tmp_path_factory):
    """What a run says whose ports are of different speeds, and its report."""
    file = tmp_path_factory.mktemp("linked") / "report.json"
    done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--only", "link", "--json", file, ports=[f"{CABLE[0]},speed=25g", CABLE[1]])
    return done.stdout, json.loads(file.read_text())


def test_versions(linked):
    report = linked[1]
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


def test_what_is_in_the_report_is_said(linked):
    said = linked[0]
    assert re.search(rf"^mlx5dv-check [\d.]+, DPDK [\d.]+, {file_of('libibverbs')} {file_of('libmlx5')}, Linux ", said, re.M)
    assert f"mlx5_1: driver net_mlx5dv of {os.path.realpath(paths.PLUGIN)}; its netdev's: no netdev" in said


def test_what_ports_can_do(linked):
    port, peer = linked[1]["ports"]
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
    assert re.search(r"^  [1-9]\d* frames, [1-9]\d* bytes, 0 errors", row["state"], re.M), row["state"]
    assert "CQE" in row["peer_completions"] and row["packets"] == []


@pytest.mark.parametrize("fault, told", [
    ("wire loss from 100 frames of mlx5_1", {"came": 99, "failed": 0, "broken": 0}),
    pytest.param("wire loss at 100 frames of mlx5_1", {"failed": 0, "broken": 0, "lost": 1}, marks=pytest.mark.long),
    ("sq error 0x04 at 50 of mlx5_0", {"broken": 0, "lost": 0}),
    ("rq error 0x04 at 40 of mlx5_1", {"failed": 0, "broken": 1}),
])
def test_losses_by_cause(tmp_path, fault, told):
    """A long run with a smaller count."""
    faults = tmp_path / "faults"
    faults.write_text(fault + "\n")
    status, _, report = check(tmp_path, "--only", "send 60", "--patience", "300", options=["--faults", faults])
    row, = report["rows"]
    found = re.search(r"counters (?P<sent>\d+) were sent and (?P<failed>\d+) failed to be, (?P<came>\d+) came, (?P<descriptor>\d+) "
                      r"found no descriptor and (?P<mbuf>\d+) no mbuf, (?P<broken>\d+) were broken, (?P<lost>-?\d+) are lost between",
                      row["why"])
    numbers = {key: int(value) for key, value in found.groupdict().items()}
    assert {key: numbers[key] for key in told} == told, row
    assert (numbers["failed"] > 0) == fault.startswith("sq")
    assert numbers["sent"] == sum(numbers[key] for key in ("came", "descriptor", "broken", "lost")) and status == 1


def test_more_packets_than_sequence_numbers_of_16_bits(tmp_path):
    status, rows, report = check(tmp_path, "--only", "receive 60", "--packets", "66000")
    assert rows == {"receive 60 bytes": "pass"} and status == 0, report
