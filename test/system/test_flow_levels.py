# SPDX-License-Identifier: BSD-3-Clause
"""How often a rule is refused because PASSTHRU rules stay where they are: lives of rules, the allocator alone.

The table of doc/design/levels.md is what `level_lives.py 40` prints.
"""
import pytest
from level_lives import KINDS, figures

SEEDS = 8
# Applications with a few priorities and a few copying rules among others.
ORDINARY = ("one priority", "two priorities", "four priorities", "far priorities", "taps", "one tap")


@pytest.fixture(scope="module")
def lives():
    return {kind: [figures(kind, SEEDS, move) for move in (True, False)] for kind in KINDS}


def test_copies_never_move_unless_they_may(lives):
    assert not sum(off["copying"] for _, off in lives.values())


def test_few_rules_need_a_copy_moved(lives):
    on, off = (sum((lives[kind][move] for kind in ORDINARY), start=type(lives["taps"][0])()) for move in (0, 1))
    assert on["made"] > 1500 and on["refused"] == 0
    assert on["copying"] * 100 <= on["made"] and off["refused"] * 100 <= off["made"]
    assert off["moving"] * 20 > off["made"], "others make way"


def test_one_priority_is_never_refused(lives):
    assert not lives["one priority"][1]["refused"]
