# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check blames a device for what is late, and not for what the program was not there to see."""
import json
import os
import signal
import subprocess
import time

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
