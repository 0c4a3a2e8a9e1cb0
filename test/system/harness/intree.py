# SPDX-License-Identifier: BSD-3-Clause
"""Debian's dpdk-testpmd with DPDK's own mlx5 driver on softhca: nothing of ours in the process."""
import os

from . import host
from .terminal import Terminal
from .testpmd import Testpmd, eal_prefix, softhca_argv

PCI_ADDRESS = "5ca0:00:00.0"


class InTreeTestpmd(Testpmd):
    """As Testpmd. The driver wants a netdev beside its port, hence the TAP.

    `devargs`: none are the driver's defaults, dv_flow_en=1 and rxq_cqe_comp_en=1 among them.
    """

    def __init__(self, port="wire=loop", args=(), devargs="", memory=256):
        self.prefix = eal_prefix()
        command = ["dpdk-testpmd", "-l", "0,1", "--no-huge", "-m", str(memory), "--no-telemetry",
                   "--file-prefix", self.prefix, "-a", PCI_ADDRESS + (devargs and "," + devargs),
                   "--", "-i", "--total-num-mbufs=16384", "--no-flush-rx", *args]
        ports = [f"{port},kernel=tap:{host.name('i')}"]
        self.terminal = Terminal(softhca_argv(ports, command), env=dict(os.environ))
        self.banner = ""
        self.status = None
