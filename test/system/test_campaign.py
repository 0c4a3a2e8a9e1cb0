# SPDX-License-Identifier: BSD-3-Clause
"""devtools/campaign: a bounded run of it, and what it says when a seed fails."""
import os
import subprocess

from harness import paths

CAMPAIGN = paths.ROOT / "devtools" / "campaign"


def run(*arguments, **environment):
    return subprocess.run([CAMPAIGN, *map(str, arguments)], env=dict(os.environ, **environment), capture_output=True,
                          text=True, timeout=1200, check=False)


def test_a_bounded_run():
    done = run("--seeds", 20)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "20 seeds, 0 failed"
    # Faults of most kinds have struck.
    assert len(done.stdout.splitlines()[-2].split(",")) > 8


def test_a_seed_that_fails_is_told_with_what_repeats_it(tmp_path):
    """With a device runner that dies of one seed."""
    runner = tmp_path / "app" / "softhca"
    for room in ("app", "drivers"):
        (tmp_path / room).mkdir()
    runner.write_text('#!/bin/sh\necho "what was said"\ncase "$*" in *"/6.faults "*) exit 134 ;; esac\n')
    runner.chmod(0o755)
    done = run("--seeds", 3, "--first", 5, MLX5DV_BUILD=str(tmp_path))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"seed 6: exit status 134; log {tmp_path}/campaign/6.log; to repeat it:"
    assert lines[1] == "    devtools/campaign --first 6 --seeds 1 --steps 200"
    assert lines[2] == "    | what was said"
    assert lines[-1] == "3 seeds, 1 failed"
    assert (tmp_path / "campaign" / "6.log").read_text() == "what was said\n"
