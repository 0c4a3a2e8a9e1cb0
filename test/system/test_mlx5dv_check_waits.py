# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check blames a device for what is late, and not for what the program was not there to see."""
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from harness.mlx5dv_check import argv_of, environment
from harness.patience import PATIENCE
from harness.rounds import rounds

PAUSES = rounds(20)
PACKETS = 62500 * PAUSES
WAITS_MS = 300


def test_a_program_that_does_not_run_loses_no_frame(tmp_path):
    """Stopped with its device for longer than a frame may take, again and again: each frame comes, so the row passes. The time
    of the pauses decides nothing; with a clock that goes on meanwhile the row failed, with 96 frames under way."""
    report = tmp_path / "report.json"
    argv = argv_of("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--json", report, "--packets", PACKETS, "--patience", WAITS_MS,
                   "--only", "receive")
    with subprocess.Popen(argv, env=environment(), start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            # The rows are in the report's order: the next one has long frames.
            while "receive 60 bytes" not in process.stdout.readline():
                assert process.poll() is None
            for _ in range(PAUSES):
                os.killpg(process.pid, signal.SIGSTOP)
                time.sleep(1.5 * WAITS_MS / 1000)
                os.killpg(process.pid, signal.SIGCONT)
                time.sleep(0.05)
            said, _ = process.communicate(timeout=PATIENCE)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    rows = {row["row"]: row for row in json.loads(report.read_text())["rows"]}
    assert rows["receive 1514 bytes"]["result"] == "pass", rows
    assert process.returncode == 0, said


def children(runner):
    """{name: number} of the processes that `softhca run` has started."""
    pids = Path(f"/proc/{runner}/task/{runner}/children").read_text().split()
    return {Path(f"/proc/{pid}/comm").read_text().strip(): int(pid) for pid in pids}


def run_in_parts(device, program):
    """The devices run for 2 ms of 42. Meanwhile the program is stopped for moments, which ends its waits in the kernel."""
    os.kill(device, signal.SIGSTOP)
    try:
        for _ in range(4):
            time.sleep(0.01)
            os.kill(program, signal.SIGSTOP)
            os.kill(program, signal.SIGCONT)
    finally:
        os.kill(device, signal.SIGCONT)
    time.sleep(0.002)


@pytest.mark.parametrize("only, before, row", [("queue", "queues stop and start", "starved receive queue"),
                                               ("Rx", "VXLAN Rx checksums", "Rx interrupt")])
def test_a_device_that_does_not_run_is_only_late(only, before, row):
    argv = argv_of("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--packets", "1000", "--only", only)
    with subprocess.Popen(argv, env=environment(), start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          bufsize=0) as process:
        try:
            while before not in process.stdout.readline().decode():
                assert process.poll() is None
            processes = children(process.pid)
            while not select.select([process.stdout], [], [], 0)[0]:
                run_in_parts(processes["softhca-keeper"], processes["mlx5dv-check"])
            said = process.stdout.readline().decode()
            process.communicate(timeout=PATIENCE)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert said == f"pass       {row}\n"
