# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl, at the testpmd of a test."""
import json
import subprocess

from . import paths
from .patience import PATIENCE


def ask(pmd, *words):
    """What softhca ctl prints."""
    argv = [paths.SOFTHCA, "ctl", "--pid", pid_of(pmd), *words]
    return subprocess.run([str(arg) for arg in argv], capture_output=True, text=True, timeout=PATIENCE,
                          check=True).stdout


def link(pmd, state, port=0):
    """The link of a port up or down."""
    assert json.loads(ask(pmd, "link", state, "--port", port, "--json"))["link"] == state


def stats(pmd, port=0):
    """The counters of a port."""
    return json.loads(ask(pmd, "stats", "--json"))["ports"][port]


def pid_of(pmd):
    devices = subprocess.run([paths.SOFTHCA, "ctl", "devices", "--json"], capture_output=True,
                             text=True, timeout=PATIENCE, check=True)
    runner = pmd.terminal.process.pid
    for process in json.loads(devices.stdout):
        with open(f"/proc/{process['pid']}/stat", encoding="ascii") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == runner:
                return process["pid"]
    raise AssertionError(f"no process of {runner} in {devices.stdout}")
