# SPDX-License-Identifier: BSD-3-Clause
"""devtools/check-tests: no file of the driver without a test or a reason, no reason too many."""
import subprocess

import pytest

from harness import paths

GOOD = {
    "drivers/net/mlx5dv/burst/rx.c": "", "drivers/net/mlx5dv/mem/mr.c": "", "drivers/net/mlx5dv/mem/mr.h": "",
    "test/unit/drv/burst/rx_test.c": "", "test/unit/hw/mr_test.c": "", "test/system/test_memory.py": "",
    "test/unit/elsewhere": "# rows\n\nmr.c rx_test.c,test_memory.py only bursts ask\n",
}


def check(tmp_path, **changes):
    """What the check says of the tree GOOD with some files else; None: without."""
    for name, text in {**GOOD, **changes.get("files", {})}.items():
        if text is not None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
    done = subprocess.run([paths.ROOT / "devtools/check-tests", tmp_path], text=True, stdout=subprocess.PIPE, check=False)
    assert done.returncode == (1 if done.stdout else 0)
    return done.stdout


def test_a_tree_that_is_complete(tmp_path):
    assert check(tmp_path) == ""


@pytest.mark.parametrize("files,says", [
    ({"test/unit/elsewhere": ""}, "drivers/net/mlx5dv/mem/mr.c:1: no mr_test.c, and no row in"),
    ({"drivers/net/mlx5dv/new.c": ""}, "drivers/net/mlx5dv/new.c:1: no new_test.c"),
    ({"test/unit/drv/mr_test.c": ""}, "test/unit/elsewhere:3: mr.c has a unit test of its name"),
    ({"drivers/net/mlx5dv/mem/mr.c": None}, "test/unit/elsewhere:3: mr.c is no file of the driver"),
    ({"test/system/test_memory.py": None}, "test/unit/elsewhere:3: mr.c: there is no test test_memory.py"),
    ({"test/unit/elsewhere": "mr.c rx_test.c\n"}, "test/unit/elsewhere:1: mr.c lacks the reason"),
])
def test_what_is_wrong(tmp_path, files, says):
    said = check(tmp_path, files=files).splitlines()
    assert len(said) == 1 and said[0].startswith(says)
