# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl, at the testpmd of a test."""
import json
import subprocess

from . import paths
from .patience import PATIENCE


def link(pmd, state, port=0):
    """The link of a port up or down."""
    argv = [paths.SOFTHCA, "ctl", "--pid", pid_of(pmd), "link", state, "--port", port, "--json"]
    done = subprocess.run([str(arg) for arg in argv], capture_output=True, text=True, timeout=PATIENCE,
                          check=True)
    assert json.loads(done.stdout)["link"] == state


def pid_of(pmd):
    devices = subprocess.run([paths.SOFTHCA, "ctl", "devices", "--json"], capture_output=True,
                             text=True, timeout=PATIENCE, check=True)
    runner = pmd.terminal.process.pid
    for process in json.loads(devices.stdout):
        with open(f"/proc/{process['pid']}/stat", encoding="ascii") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == runner:
                return process["pid"]
    raise AssertionError(f"no process of {runner} in {devices.stdout}")


def stats(pmd, port=0):
    """What `ctl stats` says of a port."""
    argv = [paths.SOFTHCA, "ctl", "--pid", pid_of(pmd), "stats", "--json"]
    done = subprocess.run([str(arg) for arg in argv], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return json.loads(done.stdout)["ports"][port]


def dump(pmd):
    """What `ctl dump` prints."""
    argv = [paths.SOFTHCA, "ctl", "--pid", pid_of(pmd), "dump"]
    return subprocess.run([str(arg) for arg in argv], capture_output=True, text=True, timeout=PATIENCE,
                          check=True).stdout
