# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --strict: findings, summary and exit status, by a program that makes mistakes."""
import os
import re
import signal
import subprocess

import pytest

from harness import paths
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

PROGRAM = str(paths.BUILD / "test" / "verbs" / "verbs-strict")
PROGRAM_ROCE = str(paths.BUILD / "test" / "verbs" / "verbs-strict-roce")
FINDINGS = 123


def run(*options, mistake="none", program=(PROGRAM,), env=None):
    """softhca run OPTIONS -- PROGRAM MISTAKE."""
    command = [str(paths.SOFTHCA), "run", *options, "--", *program, mistake]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=env)


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
    "egress-entry": "created",
    "wqe-past-producer": "error 0x02",
    "wqe-stale": "error 0x02",
    "wqe-opcode": "error 0x02",
    "wqe-form": "error 0x02",
    "wqe-inline": "error 0x02",
    "wqe-ds-overflow": "completed",
    "cq-record-index": "completed",
    "cq-compressed-tx": "created",
    "cq-mini-format": "created",
    "cq-mini-format-striding": "created",
    "rx-truncated": "local length error",
    "own-broadcast": "completed",
}
# Of the other program: its queue pairs have a transport.
ROCE = {
    "send-state": "done",
    "receive-state": "done",
    "receive-queue": "done",
    "send-unsignaled": "done",
    "send-length": "success",
    # The one queue pair is the other side, too, and both have failed.
    "atomic-address": "Work Request Flushed Error",
    "ah-domain": "success",
    "path": "success",
    "path-mtu": "done",
    "qp-destination": "done",
    "qp-reads": "Work Request Flushed Error",
    "qp-timeout": "done",
}
# The finding, where a mistake is not named after it; and the port, where not any will do.
FINDING = {"cq-mini-format-striding": "cq-mini-format"}
PORT = {"wqe-inline": ["--port", "model=cx4lx"]}


@pytest.mark.parametrize("mistake", SEEN)
def test_a_mistake_is_reported(mistake):
    done = run("--strict", *PORT.get(mistake, []), mistake=mistake)
    finding = FINDING.get(mistake, mistake)
    assert done.returncode == FINDINGS, done.stderr
    assert done.stdout.splitlines()[-1] == SEEN[mistake]
    found = re.findall(r"^softhca: strict: mlx5_0 (?:SQ|RQ|CQ|QP handle) 0x[0-9a-f]+ index \d+: ([a-z-]+): ", done.stderr,
                       re.M)
    assert found and set(found) == {finding}, done.stderr
    # What hardware does, and the evidence.
    assert done.stderr.count("softhca: strict:   hardware: ") == len(found)
    summary = done.stderr.splitlines()[-1]
    plural = "" if len(found) == 1 else "s"
    assert summary == f"softhca: strict: {len(found)} finding{plural}: {finding} {len(found)}"


@pytest.mark.parametrize("mistake", SEEN)
def test_not_strict_the_program_sees_the_same(mistake):
    done = run(*PORT.get(mistake, []), mistake=mistake)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == SEEN[mistake]
    assert "strict" not in done.stderr


@pytest.mark.parametrize("mistake", ROCE)
def test_a_mistake_with_a_transport_is_reported(mistake):
    done = run("--strict", mistake=mistake, program=(PROGRAM_ROCE,))
    assert (done.returncode, done.stdout) == (FINDINGS, ROCE[mistake] + "\n"), done.stderr
    found = re.findall(r"^softhca: strict: mlx5_0 QP 0x[0-9a-f]+ index \d+: ([a-z-]+): ", done.stderr, re.M)
    assert found == [mistake], done.stderr
    plain = run(mistake=mistake, program=(PROGRAM_ROCE,))
    assert (plain.returncode, plain.stdout) == (0, done.stdout) and "strict" not in plain.stderr


def test_with_a_transport_and_without_a_mistake():
    done = run("--strict", program=(PROGRAM_ROCE,))
    assert (done.returncode, done.stdout) == (0, "success\n")
    assert done.stderr == "softhca: strict: no findings\n"


def test_without_a_mistake_there_is_the_summary_only():
    done = run("--strict")
    assert (done.returncode, done.stdout) == (0, "completed\n")
    assert done.stderr == "softhca: strict: no findings\n"


# Nothing comes of these: the program waits until they have been reported.
SILENT = {
    "doorbell-without-record": "doorbell of WQE 0, record 0, WQEs executed up to 0",
    "record-byte-order": "producer counter 0 (record 0x01000000), device at 0, ring of ",
}


@pytest.mark.parametrize("mistake", SILENT)
def test_a_mistake_that_nothing_comes_of(mistake):
    command = [str(paths.SOFTHCA), "run", "--strict", "--", PROGRAM, mistake]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        said = process.stderr.readline()
        assert f" index 0: {mistake}: " in said
        process.stdin.close()
        # communicate() would lose what the first line's reading has taken along.
        rest = process.stderr.read()
        assert process.stdout.read() == "rung\n"
        process.wait(PATIENCE)
    assert SILENT[mistake] in rest
    assert rest.endswith(f"softhca: strict: 1 finding: {mistake} 1\n")
    assert process.returncode == FINDINGS


def test_a_record_behind_its_doorbell():
    """Seen when the device looks in between: of twenty times at least once."""
    done = run("--strict", mistake="record-after-doorbell")
    assert done.returncode == FINDINGS, done.stderr
    assert done.stdout.splitlines() == ["completed"] * 20
    found = set(re.findall(r"^softhca: strict: mlx5_0 SQ 0x[0-9a-f]+ index \d+: ([a-z-]+): ", done.stderr, re.M))
    # A program that was stopped for long in between has no record at all.
    assert "record-after-doorbell" in found <= {"record-after-doorbell", "doorbell-without-record"}, done.stderr


@pytest.mark.parametrize("mistake,said", [
    ("queue-state", {"lkey", "queue-state"}), ("queried-state", {"lkey"}), ("failed-since", {"lkey"}),
    ("queried-long-ago", {"lkey", "queue-state"})])
def test_a_failed_queue_is_asked_for_its_state(mistake, said):
    done = run("--strict", mistake=mistake)
    assert (done.returncode, done.stdout) == (FINDINGS, "error 0x04\n"), done.stderr
    assert set(re.findall(r"^softhca: strict: mlx5_0 (?:SQ|QP handle) 0x[0-9a-f]+ index \d+: ([a-z-]+): ", done.stderr,
                          re.M)) == said, done.stderr


def test_every_finding_of_the_guide_is_provoked():
    text = (paths.ROOT / "doc" / "guides" / "softhca_testing.rst").read_text()
    part = text[text.index("Findings of a strict device\n---"):text.index("The device watches doorbell registers")]
    listed = set(re.findall(r"^``([a-z-]+)`` ", part, re.M))
    provoked = {FINDING.get(name, name) for name in SEEN} | set(ROCE) | set(SILENT) | {"record-after-doorbell", "queue-state"}
    assert listed == provoked


def test_the_known_mistakes_of_the_guide_are_cases():
    text = (paths.ROOT / "doc" / "guides" / "softhca_testing.rst").read_text()
    part = text[text.index("Real drivers have made ten"):text.index("The device watches doorbell registers")]
    cases = set(re.findall(r"``([a-z][a-z0-9-]+)``", part))
    assert len(cases) == 11 and cases <= set(SEEN), cases


def test_the_commands_own_failure_is_kept():
    done = run("--strict", mistake="lkey", program=("sh", "-c", f"{PROGRAM} $0; exit 7"))
    assert done.returncode == 7
    assert done.stderr.endswith("softhca: strict: 1 finding: lkey 1\n")


def test_findings_of_several_processes_add_up():
    script = f"{PROGRAM} $0 & {PROGRAM} $0; wait; {PROGRAM} none"
    done = run("--strict", mistake="lkey", program=("sh", "-c", script))
    assert done.returncode == FINDINGS
    assert done.stderr.endswith("softhca: strict: 2 findings: lkey 2\n")


@pytest.mark.parametrize("apart, ends_with", [("0", FINDINGS), ("1", 128 + signal.SIGKILL)])
def test_abort_ends_the_program_at_the_first(apart, ends_with):
    """A shell sees how: the program's own device makes it exit, that of another process kills it."""
    env = dict(os.environ, SOFTHCA_KEEPER=apart)
    done = run("--strict=abort", mistake="cq-record-width", env=env)
    assert done.returncode == FINDINGS
    assert done.stderr.endswith("softhca: strict: 1 finding: cq-record-width 1\n")
    after = run("--strict=abort", mistake="lkey", program=("sh", "-c", f"{PROGRAM} $0; echo after $?"), env=env)
    assert after.stdout.splitlines()[-1] == f"after {ends_with}"
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
