# SPDX-License-Identifier: BSD-3-Clause
"""Programs that run to their end on softhca: their exit status and their output."""
import os

from . import paths
from .patience import PATIENCE
from .terminal import Terminal
from .testpmd import default_vdevs, eal_args, eal_prefix, remove_runtime_dir, softhca_argv


def run_on_softhca(command, ports=("",), env=None, quiet=PATIENCE, options=()):
    """softhca run OPTIONS ... -- COMMAND: (exit status, output). Fails when it is silent for `quiet` s."""
    terminal = Terminal(softhca_argv([port for port in ports if port], command, options),
                        env=dict(os.environ, **paths.plugin()[1], **(env or {})))
    try:
        status = terminal.wait(quiet)
        return status, terminal.text
    finally:
        terminal.close()


def run_dpdk_test(name, ports, vdevs=None, lcores="0,1", memory=512, quiet=PATIENCE):
    """One of stock dpdk-test's autotests on the driver's ports: (exit status, output)."""
    prefix = eal_prefix()
    command = ["dpdk-test"] + eal_args(prefix, vdevs or default_vdevs(ports), lcores, memory)
    try:
        return run_on_softhca(command, ports, {"DPDK_TEST": name}, quiet)
    finally:
        remove_runtime_dir(prefix)
