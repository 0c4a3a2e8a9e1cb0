# SPDX-License-Identifier: BSD-3-Clause
"""ibverbs-utils' ping-pongs, unmodified: queue pairs with a transport, between two programs of a card and two cards."""
import re

import pytest
from harness.both import KINDS, run_both, two_ends

ITERS = 300
HERE = [kind if kind != "bridge" else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]
# Of the bridge's netdevs a path MTU of 1024 is the largest.
BRIDGED = {"4096": "1024"}


ARGVS = [
    ("ibv_ud_pingpong", "-g", "0"), ("ibv_ud_pingpong", "-g", "1"),
    ("ibv_uc_pingpong", "-g", "1"), ("ibv_rc_pingpong", "-g", "0"), ("ibv_rc_pingpong", "-g", "1"),
    ("ibv_srq_pingpong", "-g", "0"), ("ibv_srq_pingpong", "-g", "1", "-e"),
    ("ibv_rc_pingpong", "-g", "1", "-e", "-c"), ("ibv_rc_pingpong", "-g", "1", "-s", "100000", "-m", "4096", "-c"),
]
# Two ports that a cable joins have one program of each transport: it sees in them what it sees in two cards.
ON_A_PAIR = [("ibv_ud_pingpong", "-g", "1"), ("ibv_uc_pingpong", "-g", "1"), ("ibv_rc_pingpong", "-g", "1")]


@pytest.mark.parametrize("argv, kind", [
    pytest.param(argv, kind, id=f"{' '.join(argv)}-{kind}",
                 marks=[pytest.mark.long] if kind == "bridge" or kind == "pair" and argv not in ON_A_PAIR else [])
    for argv in ARGVS for kind in KINDS])
def test_pingpong(argv, kind, tmp_path):
    if kind == "bridge":
        argv = [BRIDGED.get(word, word) for word in argv]
    with two_ends(kind, tmp_path) as ends:
        for who, status, text in run_both([*argv, "-n", str(ITERS)], ends):
            assert status == 0, (who, text)
            assert re.search(rf"^{ITERS} iters in ", text, re.M), (who, text)
            # -c: the programs compare what came.
            assert "invalid data" not in text, (who, text)


@pytest.mark.parametrize("kind", HERE)
@pytest.mark.parametrize("argv", [("ibv_xsrq_pingpong", "-g", "0"), ("ibv_xsrq_pingpong", "-g", "1", "-e")], ids=" ".join)
def test_xrc(argv, kind, tmp_path):
    """It says nothing until it is asked, and at last that all went well."""
    with two_ends(kind, tmp_path) as ends:
        for who, status, text in run_both([*argv, "-n", str(ITERS)], ends):
            assert status == 0, (who, text)
            assert "success" in text, (who, text)
