# SPDX-License-Identifier: BSD-3-Clause
"""How long a test waits for an expected event.

One bound for all waits, long enough for a machine with many times the load: only a failing test waits so
long. Tests that measure a time, or wait to see that nothing comes, have bounds of their own.
"""
import time

PATIENCE = 300  # seconds


def until(condition):
    """What `condition` says once that is true."""
    end = time.monotonic() + PATIENCE
    while True:
        said = condition()
        if said:
            return said
        assert time.monotonic() < end
        time.sleep(0.02)
