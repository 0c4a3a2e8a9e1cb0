# SPDX-License-Identifier: BSD-3-Clause
"""How long a test goes on that tries at random; test/unit/rounds.h is the same for C."""
import os


def rounds(whole):
    """The part of `whole` rounds that each test run has; devtools/test --all has all."""
    return whole if "TEST_ALL_ROUNDS" in os.environ else whole * 2 // 5
