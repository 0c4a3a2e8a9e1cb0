# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl, at the testpmd of a test."""
import contextlib
import json
import pathlib
import re
import subprocess

from . import on_card, paths
from .patience import PATIENCE


def ask(pmd, *words):
    """What softhca ctl prints."""
    argv = [paths.SOFTHCA, "ctl", *device_of(pmd), *words]
    return subprocess.run([str(arg) for arg in argv], capture_output=True, text=True, timeout=PATIENCE,
                          check=True).stdout


def device_of(pmd):
    """Options of softhca ctl."""
    name = on_card.name_of(pmd.terminal.process.pid)
    return ["--on", name] if on_card.is_wanted() else ["--pid", pid_of(pmd)]


def link(pmd, state, port=0):
    """The link of a port up or down."""
    assert json.loads(ask(pmd, "link", state, "--port", port, "--json"))["link"] == state


def stats(pmd, port=0):
    """The counters of a port."""
    return json.loads(ask(pmd, "stats", "--json"))["ports"][port]


def pid_of(pmd):
    """The number of testpmd itself: of the runner's children the one that is not softhca's own, nor (on_card.py) waits to take the
    card away."""
    runner = pmd.terminal.process.pid
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # somebody else's may be gone by now
            name, _, rest = (process / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")
            if int(rest.split()[1]) == runner and not re.match(r"softhca|sh$", name.partition("(")[2]):
                return int(process.name)
    raise AssertionError(f"no process of {runner}")
