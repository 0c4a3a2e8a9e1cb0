# SPDX-License-Identifier: BSD-3-Clause
"""How far long commands are: on terminals, and nothing of it in files."""
import io
import os
import pty
import subprocess

import pytest
from harness import paths
from harness.bench import rxtx
from harness.patience import PATIENCE
from harness.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def last(stream):
    return stream.getvalue().rpartition("\r\033[K")[2]


def test_the_rest_takes_what_the_beginning_took():
    now, stream = [100], Terminal()
    progress = Progress(4, "cases", stream, clock=lambda: now[0])
    progress.say("rx plain")
    assert last(stream) == "cases, 0 of 4: rx plain"
    now[0] += 20
    progress.step("rx marked")
    assert last(stream) == "cases, 1 of 4, about 60 s left: rx marked"
    now[0] += 980
    progress.step("tx")
    assert last(stream) == "cases, 2 of 4, about 17 min left: tx"
    now[0] += 20000
    progress.step()
    assert last(stream) == "cases, 3 of 4, about 1.9 h left"
    progress.step("done")
    assert last(stream) == "cases, 4 of 4: done"
    progress.clear()
    assert last(stream) == ""


def test_what_has_no_known_end_says_where_it_is():
    stream = Terminal()
    Progress(None, "", stream).say("compiles " + 200 * "x")
    assert last(stream).startswith("compiles x") and len(last(stream)) == 110


def test_a_file_gets_nothing():
    stream = io.StringIO()
    progress = Progress(2, "cases", stream)
    progress.step("one")
    progress.clear()
    assert stream.getvalue() == ""


def test_a_bench_steps_by_what_rxtx_bench_prints():
    lines = ["mlx5dv: a port\n", "2 cases\n", f"{'rx plain 64 B x32':32} 12.5 20.0 0.62\n", "of no case\n"]
    stream = Terminal()
    progress = Progress(None, "default", stream)
    assert rxtx.follow(lines, progress) == "".join(lines)
    assert "default, 1 of 2" in stream.getvalue() and ": rx plain 64 B x32" in stream.getvalue() and last(stream) == ""


def run(command, stderr):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=stderr, timeout=PATIENCE, check=False)


@pytest.mark.parametrize("command, says", [
    (["devtools/campaign", "--seeds", "2", "--steps", "3"], b"seeds, 1 of 2, about "),
    pytest.param(["devtools/bench", "pci", "--only", "tx fast free 64 B x8", "--peers", "default", "--json", "{}/pci.json"],
                 b"default, 1 of 1: tx fast free 64 B x8", marks=pytest.mark.long),
])
@pytest.mark.usefixtures("tap_allowed")
def test_long_commands_say_on_a_terminal_how_far_they_are(tmp_path, command, says):
    command = [paths.ROOT / command[0], *(word.format(tmp_path) for word in command[1:])]
    ours, theirs = pty.openpty()
    try:
        shown = run(command, theirs)
    finally:
        os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:  # nobody has the other end any more
        pass
    os.close(ours)
    assert shown.returncode == 0 and says in text, (shown, text)
    if "bench" not in str(command[0]):  # test_bench_pci.py has it in a file
        quiet = run(command, subprocess.PIPE)
        assert quiet.returncode == 0 and b"\033[K" not in quiet.stderr + quiet.stdout, quiet
