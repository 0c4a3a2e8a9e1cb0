# SPDX-License-Identifier: BSD-3-Clause
"""devtools/campaign: a bounded run of it, and what it says when a seed fails."""
import json
import os
import re
import subprocess

import pytest
from harness import host, paths
from harness.rounds import rounds
from harness.soak.kills import Kills

CAMPAIGN = paths.ROOT / "devtools" / "campaign"
WHY_NOT = host.why_no_tap() or host.why_no_netns()
needs_netdevs = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


def run(*arguments, **environment):
    return subprocess.run([CAMPAIGN, *map(str, arguments)], env=dict(os.environ, **environment), capture_output=True,
                          text=True, timeout=1200, check=False)


def test_a_bounded_run():
    seeds = rounds(30)
    done = run("--seeds", seeds)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{seeds} seeds, 0 failed"
    # Faults of many kinds have struck.
    assert len(done.stdout.splitlines()[-2].split(",")) > 5


def fake_runner(build, script):
    runner = build / "app" / "softhca"
    for room in ("app", "drivers"):
        (build / room).mkdir()
    runner.write_text(f"#!/bin/sh\n{script}\n")
    runner.chmod(0o755)


FOUND = """
cat << END
3: port 0: start
   mlx5_0 starts with an MTU of 1500
4: port 0: stop and start
   mlx5_0 starts with an MTU of 500
softhca: strict: mlx5_0 RQ 0x102 index 0: rx-truncated: the frame is longer than the buffers posted for it
5: port 0: send
softhca: strict:   frame of $1 bytes, segments [0x1030aab00+512 lkey 0x10a]
softhca: strict: 1 finding: $2 ${3:-1}
END
exit 123
"""


def test_what_strict_finds_is_excused_only_where_it_is_legal(tmp_path):
    """A frame that was sent before a lower MTU, seed 1; not one of that MTU, seed 2, nor any other finding, seed 3, nor one that is not there to be looked at, seed 4."""
    fake_runner(tmp_path, f"found() {{ {FOUND} }}\n"
                'case "$*" in *"/1.faults "*) found 519 rx-truncated ;; *"/2.faults "*) found 518 rx-truncated ;; '
                '*"/4.faults "*) found 519 rx-truncated 2 ;; esac\n'
                "found 519 lkey")
    done = run("--seeds", 4, MLX5DV_BUILD=str(tmp_path))
    assert [line.split(";")[0] for line in done.stdout.splitlines() if line.startswith("seed ")] == [
        f"seed {seed}: exit status 123" for seed in (2, 3, 4)]
    assert done.stdout.splitlines()[-1] == "4 seeds, 3 failed"


def test_a_seed_that_fails_is_told_with_what_repeats_it(tmp_path):
    """With a device runner that dies of one seed."""
    fake_runner(tmp_path, 'echo "what was said"\ncase "$*" in *"/6.faults "*) exit 134 ;; esac')
    done = run("--seeds", 3, "--first", 5, MLX5DV_BUILD=str(tmp_path))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"seed 6: exit status 134; log {tmp_path}/campaign/6.log; to repeat it:"
    assert lines[1] == "    devtools/campaign --first 6 --seeds 1 --steps 200"
    assert lines[2] == "    | what was said"
    assert lines[-1] == "3 seeds, 1 failed"
    assert (tmp_path / "campaign" / "6.log").read_text() == "what was said\n"


@needs_netdevs
@pytest.mark.parametrize("kills", [30, pytest.param(1000, marks=pytest.mark.long)])
def test_programs_killed_beside_others(kills):
    """At start, in the middle of verbs, of bursts: at several of these."""
    done = run("--kills", kills, "--first", 3)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{kills} kills, nobody noticed"
    killed = done.stdout[done.stdout.index("programs killed, by what they were at"):]
    # Which ones, chance decides: a run of 30 had none of one kind.
    assert len(re.findall(r"^  (?:start|burst|make|drop|testpmd)", killed, re.M)) >= 4, killed


@needs_netdevs
def test_a_kill_that_is_noticed(tmp_path):
    """By a cable that loses frames."""
    faults = tmp_path / "faults"
    faults.write_text("wire loss every 50\n")
    some = Kills(20, 3, up_options=["--faults", faults], settle=4)
    assert not some.run()
    assert some.wrong.startswith("frames sent, and frames received by the card or lost without a link: ")


@needs_netdevs
def test_a_victim_that_fails(tmp_path):
    """Nothing may go wrong for those that are killed, either, before they are."""
    faults = tmp_path / "faults"
    # Two are those of the rules of "ours"; each victim's fail, as one that fails may be killed before it has ended.
    faults.write_text("verb enomem CREATE_COUNTERS from 3\n")
    some = Kills(20, 3, up_options=["--faults", faults])
    assert not some.run()
    assert some.wrong.startswith("a program that was to be killed ended by itself, status 1: ibv_create_counters: "), some.wrong


def test_bench_tells_when_all_is_gone(tmp_path):
    """Each kill is told; no time is judged here."""
    done = subprocess.run([paths.ROOT / "devtools" / "bench", "kill", "--kills", "5", "--rules", "150", "--json",
                           tmp_path / "json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    times = json.loads((tmp_path / "json").read_text(encoding="utf-8"))
    assert {name: len(rows) for name, rows in times.items()} == {"verbs": 5, "bursts": 5, "testpmd": 1, "testpmd, 150 rules": 1}
    assert all(since_kill > 0 and since_kill >= since_end >= 0 for rows in times.values() for since_kill, since_end in rows)
