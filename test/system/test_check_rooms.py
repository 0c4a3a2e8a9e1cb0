# SPDX-License-Identifier: BSD-3-Clause
"""devtools/check-layers and check-calls: includes and calls go down, in a tree and in objects made for this."""
import json
import subprocess

import pytest

from harness import paths

DRIVER = "drivers/net/mlx5dv/"
SOFTHCA = "lib/softhca/"


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False, **options)


def layers(tmp_path, files):
    """What check-layers says of a tree with these files, but for rooms' uses that so small a tree does not need."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = run(paths.ROOT / "devtools/check-layers", tmp_path)
    assert done.returncode == 1
    return [line for line in done.stdout.splitlines() if not line.startswith("devtools/rooms.py")]


@pytest.mark.parametrize("files,says", [
    ({DRIVER + "port/a.c": '#include "base/b.h"\n', DRIVER + "base/b.h": ""}, []),
    ({DRIVER + "base/a.c": '#include "port/b.h"\n', DRIVER + "port/b.h": ""},
     [DRIVER + "base/a.c:1: driver base may not include port/b.h of driver port"]),
    ({DRIVER + "burst/rx/a.c": '\n#include "flow/match/b.h"\n', DRIVER + "flow/match/b.h": ""},
     [DRIVER + "burst/rx/a.c:2: driver burst/rx may not include flow/match/b.h of driver flow/match"]),
    ({SOFTHCA + "base/a.c": "#include <rte_mbuf.h>\n"},
     [SOFTHCA + "base/a.c:1: base may not include rte_mbuf.h: DPDK is the other half's"]),
    ({DRIVER + "new/a.c": ""}, [DRIVER + "new/a.c:1: in no room of the map"]),
    ({f"{DRIVER}base/{i}.c": "" for i in range(26)}, [DRIVER + "base:1: 26 files, at most 25"]),
])
def test_includes(tmp_path, files, says):
    assert layers(tmp_path, files) == says


def test_uses_that_nobody_needs(tmp_path):
    (tmp_path / "lib").mkdir()
    said = run(paths.ROOT / "devtools/check-layers", tmp_path).stdout
    assert "devtools/rooms.py:1: wire may use base, and does not" in said


def calls(tmp_path, files):
    """What check-calls says of objects of these files."""
    commands = []
    for number, (name, text) in enumerate(files.items()):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        subprocess.run(["gcc", "-c", path, "-o", tmp_path / f"{number}.o"], check=True)
        commands.append({"directory": str(tmp_path), "file": name, "output": f"{number}.o"})
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    done = run(paths.ROOT / "devtools/check-calls", tmp_path, tmp_path)
    assert done.returncode == (1 if done.stdout else 0)
    return done.stdout.splitlines()


ONE = "void mdv_two(void);\nvoid mdv_one(void)\n{\n\tmdv_two();\n}\n"
TWO = "void mdv_one(void);\nvoid mdv_two(void)\n{\n\tmdv_one();\n}\n"
LEAF = "void mdv_two(void)\n{\n}\n"


@pytest.mark.parametrize("files,says", [
    ({DRIVER + "port/one.c": ONE, DRIVER + "base/two.c": LEAF}, []),
    ({DRIVER + "base/one.c": ONE, DRIVER + "port/two.c": LEAF},
     [DRIVER + "base/one.c: driver base may not call mdv_two() of driver port"]),
    ({DRIVER + "base/one.c": ONE, DRIVER + "base/two.c": TWO},
     [f"{DRIVER}base/one.c: calls in a circle: {DRIVER}base/one.c {DRIVER}base/two.c"]),
])
def test_calls(tmp_path, files, says):
    assert calls(tmp_path, files) == says


def test_no_objects(tmp_path):
    (tmp_path / "compile_commands.json").write_text("[]")
    done = run(paths.ROOT / "devtools/check-calls", tmp_path)
    assert done.returncode == 1 and "no object" in done.stdout
