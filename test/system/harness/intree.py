# SPDX-License-Identifier: BSD-3-Clause
"""Debian's dpdk-testpmd with DPDK's own mlx5 driver on softhca, without this project's driver."""
import os

from . import host
from .dpdk import INTREE_DEVARGS
from .terminal import Terminal
from .testpmd import NOT_LOCKED, Testpmd, eal_prefix, lcore_args, softhca_argv


def pci_args(devargs="", ports=1, first=0, known=INTREE_DEVARGS):
    """EAL arguments: port i is at 5ca0:00:0i.0. Without devargs the driver's defaults apply, but for known faults."""
    return [arg for i in range(first, first + ports)
            for arg in ("-a", ",".join(filter(None, [f"5ca0:00:{i:02x}.0", devargs, known])))]


def with_netdevs(ports):
    """The ports, each with a TAP as its netdev: the driver needs one."""
    return [f"{port},kernel=tap:{host.name('i')}" for port in ports]


class InTreeTestpmd(Testpmd):
    """As Testpmd.

    Without `devargs` the driver's defaults apply, among them dv_flow_en=1 and rxq_cqe_comp_en=1. On a `card` that is up
    it takes the first port, which needs a TAP.
    """

    def __init__(self, *ports, args=(), devargs="", memory=256, known=INTREE_DEVARGS,
                 softhca_options=(), card=None):
        self.prefix = eal_prefix()
        if card:
            ports, nb_ports, softhca_options = [], 1, ("--on", card)
        else:
            ports = with_netdevs(ports or ["wire=loop"])
            nb_ports = len(ports)
        command = ["dpdk-testpmd", *lcore_args("0,1"), "--no-huge", "-m", str(memory), "--no-telemetry",
                   "--file-prefix", self.prefix, *pci_args(devargs, nb_ports, known=known),
                   "--", "-i", "--total-num-mbufs=16384", NOT_LOCKED, "--no-flush-rx", *args]
        self.terminal = Terminal(softhca_argv(ports, command, softhca_options), env=dict(os.environ))
        self.banner = ""
        self.status = None
