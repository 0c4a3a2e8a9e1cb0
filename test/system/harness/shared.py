# SPDX-License-Identifier: BSD-3-Clause
"""A testpmd whose port other processes have, too; in hugepages, for DPDK 22.11 has secondary processes with those only."""
import contextlib
import os
import pathlib

import pytest

from . import host, paths
from .intree import pci_args, with_netdevs
from .terminal import Terminal
from .testpmd import Testpmd, eal_prefix, lcore_args, softhca_argv

# For memory that all processes have at the same place. EAL's own choice lies in AddressSanitizer's shadow, and
# where Linux puts it then another process may have something else.
BASE_ADDRESS = "0x200000000000"
# Mempool handlers are known by their numbers, which follow the order of loading. Debian's testpmd is
# linked with this one and dpdk-dumpcap is not: without it all captured packets count as dropped, with
# net_null as well.
TESTPMD_LINKS = "librte_mempool_dpaa.so.23"


@contextlib.contextmanager
def hugepages_at(directory, megabytes=320):
    """Reserved for one primary process at a time, and given back; a test without them is skipped."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(host.hugepages(megabytes, directory))
        except OSError as error:
            pytest.skip(f"no hugepages here, which DPDK's secondary processes need: {error}")
        yield directory


def with_preloaded(env, *libraries):
    """Behind those that are preloaded already: a sanitizer's wants to be the first."""
    return dict(env, LD_PRELOAD=":".join(filter(None, [env.get("LD_PRELOAD"), *map(str, libraries)])))


class SharedTestpmd(Testpmd):
    """As Testpmd, so that secondary processes can attach."""

    def __init__(self, huge, port, devargs="", args=(), softhca_options=()):
        #: EAL arguments by which another process has the driver
        self.driver = ["--no-pci", "-d", paths.plugin()[0]]
        self._start(huge, port, [*self.driver, "--vdev", f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], args,
                    softhca_options)

    def _start(self, huge, port, eal, args, softhca_options=()):
        self.prefix = eal_prefix()
        command = ["dpdk-testpmd", *lcore_args("0,1"), "--huge-dir", huge, "-m", "256", "--base-virtaddr", BASE_ADDRESS,
                   "--no-telemetry", "--file-prefix", self.prefix, *eal, "--", "-i", "--total-num-mbufs=4096",
                   "--no-flush-rx", "--no-lsc-interrupt", *args]
        self.terminal = Terminal(softhca_argv([port], command, softhca_options),
                                 env=dict(os.environ, **paths.plugin()[1]))
        self.banner = ""
        self.status = None

    def pid(self):
        """Of testpmd below softhca's runner."""
        runner = self.terminal.process.pid
        for pid in pathlib.Path(f"/proc/{runner}/task/{runner}/children").read_text().split():
            if pathlib.Path(f"/proc/{pid}/comm").read_text().startswith("dpdk-testpmd"):
                return int(pid)
        raise AssertionError("testpmd does not run")

    def environment(self):
        """Its own, below the runner's library; for another process on its ports."""
        lines = pathlib.Path(f"/proc/{self.pid()}/environ").read_text().split("\0")
        return dict(line.split("=", 1) for line in lines if "=" in line)

    @contextlib.contextmanager
    def secondary(self, *argv):
        """A program that has no -d of its own: the driver comes by LD_PRELOAD."""
        terminal = Terminal(argv, env=with_preloaded(os.environ, TESTPMD_LINKS, paths.PLUGIN))
        try:
            yield terminal
        finally:
            terminal.close()


class SharedInTreeTestpmd(SharedTestpmd):
    """The same with DPDK's own mlx5 driver."""

    def __init__(self, huge, port, devargs="", args=()):
        self.driver = pci_args(devargs)
        self._start(huge, *with_netdevs([port]), self.driver, args)


class SecondaryTestpmd(Testpmd):
    """A second testpmd on the ports of the first, on the same machine: below the same runner's library."""

    def __init__(self, primary, args=()):
        # Lcores of its own, on the same CPUs: a mempool has a cache for each.
        command = ["dpdk-testpmd", "--lcores", "2@0,3@1", "--proc-type=secondary", "--no-telemetry",
                   "--file-prefix", primary.prefix, *primary.driver, "--", "-i",
                   "--total-num-mbufs=4096", "--no-flush-rx", "--no-lsc-interrupt", *args]
        self.terminal = Terminal(command, env=primary.environment())
        self.banner = ""
        self.status = None

    def kill(self):
        # The runtime directory is the primary's.
        self.terminal.close()
