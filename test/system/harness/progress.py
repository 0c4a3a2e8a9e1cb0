# SPDX-License-Identifier: BSD-3-Clause
"""How far a long command is, and how long it will take: on a terminal, and nowhere else."""
import sys
import time

COLUMNS = 110


def _duration(seconds):
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


class Progress:
    """One line that is written again and again. `total`: of steps; None: it is not known yet."""

    def __init__(self, total=None, what="", stream=None, clock=time.monotonic):
        self.total, self.what, self.done = total, what, 0
        self._stream, self._clock = stream or sys.stderr, clock
        self._begin = clock()
        self.on = self._stream.isatty()

    def say(self, words):
        """Show where it is."""
        if not self.on:
            return
        parts = [self.what] if self.what else []
        if self.total:
            parts.append(f"{self.done} of {self.total}")
            if 0 < self.done < self.total:
                left = (self._clock() - self._begin) / self.done * (self.total - self.done)
                parts.append(f"about {_duration(left)} left")
        line = ", ".join(parts) + (": " if parts and words else "") + words
        print(f"\r\033[K{line[:COLUMNS]}", end="", file=self._stream, flush=True)

    def step(self, words=""):
        """One more is done."""
        self.done += 1
        self.say(words)

    def clear(self):
        """Leave nothing behind."""
        if self.on:
            print("\r\033[K", end="", file=self._stream, flush=True)
