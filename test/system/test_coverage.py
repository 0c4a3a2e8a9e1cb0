# SPDX-License-Identifier: BSD-3-Clause
"""devtools/coverage on a tiny tree: copies of a line are one line, run where any of them was."""
import importlib.machinery
import importlib.util
import subprocess

import pytest

from harness import paths

HEADER = """\
static inline __attribute__((always_inline)) int
pick(int a, int b)
{
	if (a > 0 && b > 0)
		return 1;
	return 2;
}
"""
# Two copies in one object, of which each takes other branches; "left" is compiled twice, by other options.
LEFT = """\
#include "pick.h"
int left(int a) { return pick(a, 1) * pick(1, a); }
int
unused(int a)
{
	if (a)
		return 3;
	return 4;
}
"""
RIGHT = """\
#include "../room/pick.h"
int left(int a);
int main(void) { return left(1) + %s == 100; }
"""


@pytest.fixture
def tool(tmp_path):
    loader = importlib.machinery.SourceFileLoader("coverage_tool", str(paths.ROOT / "devtools/coverage"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    module.ROOT = tmp_path
    module.HALVES = ("half",)
    return module


def build(tool, tmp_path, in_main):
    """The counts of one run of a, and none of b."""
    room, other, out = tmp_path / "half/room", tmp_path / "half/other", tmp_path / "build"
    for directory in (room, other, out):
        directory.mkdir(parents=True)
    (room / "pick.h").write_text(HEADER)
    (room / "left.c").write_text(LEFT)
    (other / "right.c").write_text(RIGHT % in_main)
    for program, options in (("a", []), ("b", ["-DOTHER"])):
        for source in (room / "left.c", other / "right.c"):
            subprocess.run(["gcc", "--coverage", "-O0", *options, "-c", source, "-o", f"{program}{source.stem}.o"],
                           cwd=out, check=True)
        subprocess.run(["gcc", "--coverage", f"{program}left.o", f"{program}right.o", "-o", program], cwd=out,
                       check=True)
    subprocess.run([out / "a"], check=True)
    return {name: source.counts() for name, source in tool.read(out).items()}


def test_copies_are_one_line(tool, tmp_path):
    counts = build(tool, tmp_path, "0")
    # pick(1, 1) in both copies: each condition one way, and line 6 not at all.
    assert counts["half/room/pick.h"] == (2, 3, 2, 4)
    # gcov gives the first branches of an inlined function to the line that calls it, too.
    assert counts["half/room/left.c"] == (1, 5, 2, 6)
    assert counts["half/other/right.c"] == (1, 1, 0, 0)


def test_what_any_copy_runs_is_run(tool, tmp_path):
    counts = build(tool, tmp_path, "pick(0, 0) + pick(1, 0)")
    assert counts["half/room/pick.h"] == (3, 3, 4, 4)


def test_the_table_has_rooms_by_folder(tool, tmp_path):
    counts = build(tool, tmp_path, "0")
    lines = [" ".join(line.split()) for line in tool.table(counts, True)]
    assert [line.split()[0] for line in lines[1:]] == ["half,", "other/", "right.c", "room/", "left.c", "pick.h"]
    assert "room/ 3/8 37.5 4/10 40.0" in lines
    assert len(tool.table(counts, False)) == 4


def test_thresholds(tool, tmp_path):
    counts = build(tool, tmp_path, "0")
    assert not tool.shortfalls(counts, ["half/room=37/40", "half/room/pick.h=66", "half/room=/33"], 20)
    assert tool.shortfalls(counts, ["half/room=38/40.5", "half/none=1"], 50) == [
        "half/room: 37.5 % of lines, 38 wanted", "half/room: 40.0 % of branches, 40.5 wanted",
        "half/none: no such file or room", "half/room/left.c: 20.0 % of lines, 50 wanted"]
