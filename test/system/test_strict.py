# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --strict: findings, summary and exit status, by a program that makes mistakes."""
import re
import subprocess

import pytest

from harness import paths
from harness.testpmd import Testpmd

PROGRAM = str(paths.BUILD / "test" / "verbs" / "verbs-strict")
FINDINGS = 123


def run(*options, mistake="none", program=(PROGRAM,)):
    """softhca run OPTIONS -- PROGRAM MISTAKE."""
    command = [str(paths.SOFTHCA), "run", *options, "--", *program, mistake]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


# What the program sees, strict or not.
SEEN = {
    "wqe-ds": "error 0x02",
    "lkey": "error 0x04",
    "address": "error 0x04",
    "wqe-immediate": "completed",
    "ring-overrun": "event 1",
    "cq-overrun": "event 0",
    "cq-record-byte-order": "completed",
    "cq-record-width": "completed",
    "record-without-doorbell": "completed",
    "cqe-size": "created",
    "flow-port": "Invalid argument",
}


@pytest.mark.parametrize("mistake", SEEN)
def test_a_mistake_is_reported(mistake):
    done = run("--strict", mistake=mistake)
    assert done.returncode == FINDINGS, done.stderr
    assert done.stdout.splitlines()[-1] == SEEN[mistake]
    found = re.findall(r"^softhca: strict: mlx5_0 (?:SQ|CQ|QP handle) 0x[0-9a-f]+ index \d+: ([a-z-]+): ", done.stderr,
                       re.M)
    assert found and set(found) == {mistake}, done.stderr
    # What hardware does, and the evidence.
    assert done.stderr.count("softhca: strict:   hardware: ") == len(found)
    summary = done.stderr.splitlines()[-1]
    plural = "" if len(found) == 1 else "s"
    assert summary == f"softhca: strict: {len(found)} finding{plural}: {mistake} {len(found)}"


@pytest.mark.parametrize("mistake", SEEN)
def test_not_strict_the_program_sees_the_same(mistake):
    done = run(mistake=mistake)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == SEEN[mistake]
    assert "strict" not in done.stderr


def test_without_a_mistake_there_is_the_summary_only():
    done = run("--strict")
    assert (done.returncode, done.stdout) == (0, "completed\n")
    assert done.stderr == "softhca: strict: no findings\n"


def test_a_doorbell_without_its_record():
    """The program waits until it has been reported: nothing else comes of it."""
    command = [str(paths.SOFTHCA), "run", "--strict", "--", PROGRAM, "doorbell-without-record"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        said = process.stderr.readline()
        assert ": doorbell-without-record: the doorbell names a WQE that" in said
        # communicate() would lose what the first line's reading has taken along.
        process.stdin.close()
        rest, out = process.stderr.read(), process.stdout.read()
    assert out == "rung\n"
    assert "doorbell of WQE 0, record 0, WQEs executed up to 0" in rest
    assert rest.endswith("softhca: strict: 1 finding: doorbell-without-record 1\n")
    assert process.returncode == FINDINGS


def test_the_commands_own_failure_is_kept():
    done = run("--strict", mistake="lkey", program=("sh", "-c", f"{PROGRAM} $0; exit 7"))
    assert done.returncode == 7
    assert done.stderr.endswith("softhca: strict: 1 finding: lkey 1\n")


def test_findings_of_several_processes_add_up():
    script = f"{PROGRAM} $0 & {PROGRAM} $0; wait; {PROGRAM} none"
    done = run("--strict", mistake="lkey", program=("sh", "-c", script))
    assert done.returncode == FINDINGS
    assert done.stderr.endswith("softhca: strict: 2 findings: lkey 2\n")


def test_abort_ends_the_program_at_the_first():
    done = run("--strict=abort", mistake="cq-record-width")
    assert done.returncode == FINDINGS
    assert done.stderr.endswith("softhca: strict: 1 finding: cq-record-width 1\n")
    after = run("--strict=abort", mistake="lkey", program=("sh", "-c", f"{PROGRAM} $0; echo after $?"))
    assert after.stdout.splitlines()[-1] == f"after {FINDINGS}"
    assert after.returncode == FINDINGS


def test_abort_without_a_mistake():
    done = run("--strict=abort")
    assert (done.returncode, done.stdout) == (0, "completed\n")
    assert run("--strict=off", mistake="lkey").returncode == 0


@pytest.mark.parametrize("args", [(), ("--txq=2", "--rxq=2"), ("--tx-offloads=0x8000",)])
def test_our_driver_makes_no_mistakes(monkeypatch, args):
    """Stopped under way, too: what was posted last is still being sent."""
    monkeypatch.setenv("SOFTHCA_OPTIONS", "--strict")
    with Testpmd(args=args) as pmd:
        for _ in range(5):
            pmd.cmd("set fwd txonly")
            pmd.cmd("start")
            pmd.wait_stats(lambda s: s["TX-packets"] > 20000)
            pmd.cmd("stop")
            pmd.cmd("port stop 0")
            pmd.cmd("port start 0")
            pmd.cmd("clear port stats 0")
    assert "softhca: strict: no findings" in pmd.terminal.text
