# SPDX-License-Identifier: BSD-3-Clause
"""devtools/bench programs: whole programs run with both drivers, and loops of full bursts are what is timed."""
import json
import subprocess

import pytest
from harness import frames, host, paths, pcapfile
from harness.bench.loops import BURST, Loops
from harness.bench.vpp import full_loops
from harness.examples import SOURCES

DESCRIPTORS = 512
EAL = ["-l", "0,1", "--no-huge", "-m", "256", "--no-pci", "--vdev", "net_mlx5dv0,ibdev=mlx5_0", "-d", paths.plugin()[0]]
TESTPMD = ["--nb-cores=1", f"--rxd={DESCRIPTORS}", "--txd=1024", "--total-num-mbufs=4096", "--disable-link-check"]

pytestmark = pytest.mark.skipif(paths.INSTALLED, reason="benches are no part of packages")


def test_a_turn_is_a_full_queue(tmp_path):
    """Its bursts but for the first have one before them; what comes while it does not stand is not timed."""
    pcapfile.write(tmp_path / "in.pcap", [frames.packet(sport=1000 + i) for i in range(4)])
    port = f"wire=pcap:{tmp_path}/in.pcap,pace=0,repeat=0"
    with Loops(tmp_path / "program", "dpdk-testpmd", port, EAL, TESTPMD) as loops:
        for _ in range(3):
            ticks = loops.ticks(1)
            # Fewer where it was stopped within a burst, or was not done.
            assert 0 < len(ticks) < DESCRIPTORS / BURST and all(number > 0 for number in ticks), ticks


def test_a_program_that_fails_is_told(tmp_path):
    with pytest.raises(AssertionError, match="unrecognized option '--no-such-option'"), \
            Loops(tmp_path / "program", "dpdk-testpmd", "wire=loop", EAL, ["--no-such-option"]):
        pass


@pytest.mark.skipif(not SOURCES or host.why_no_tap(), reason="DPDK's examples, or TAP netdevs, are not here")
def test_the_table(tmp_path):
    file = tmp_path / "programs.json"
    done = subprocess.run([paths.ROOT / "devtools/bench-programs", "--no-huge", "--only", "l2fwd 64 B", "--rounds", "2", "--turns", "2",
                           "--json", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    assert [row["case"] for row in rows] == ["l2fwd 64 B"]
    for row in rows:
        assert min(row["ratios"]) <= row["ratio"] <= max(row["ratios"]) and len(row["ratios"]) == 2
        assert f"{row['case']:24} {row['ours']:8.1f} {row['theirs']:8.1f}" in done.stdout


def test_vpps_loops_are_of_full_frames():
    """VPP is not here, its event log is (26.10): an empty poll is not in it, and a frame that is not full
    ends nothing; nor does one that came after a stop."""
    text = """6 of 100000 events in buffer, logger running
       2.000001000: rdma-input-return: 256
       2.000004500: rdma-input-return: 256
       2.000004600: l2-patch-call: 256
       2.000009500: rdma-input-return: 7
       2.000019500: rdma-input-return: 256
       2.000023000: rdma-input-return: 256
       2.032000000: rdma-input-return: 256
"""
    assert [round(1e9 * seconds) for seconds in full_loops(text)] == [3500, 3500]


def test_needs_what_is_there():
    done = subprocess.run([paths.ROOT / "devtools/bench-programs", "--rounds", "none"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "argument --rounds: invalid int value: 'none'" in done.stderr
