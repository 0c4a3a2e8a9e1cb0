# SPDX-License-Identifier: BSD-3-Clause
"""A testpmd whose ports are shared with secondary processes, which DPDK 22.11 supports with hugepages only."""
import contextlib
import os
import pathlib

import pytest

from . import host, paths
from .intree import pci_args, with_netdevs
from .terminal import Terminal
from .testpmd import Testpmd, eal_prefix, lcore_args, softhca_argv

# The address of memory shared by all processes. EAL's default is in AddressSanitizer's shadow, and an address
# that Linux chooses instead may be taken in another process.
BASE_ADDRESS = "0x200000000000"
# Processes identify mempool handlers by number, in the order of loading. Debian's testpmd is linked with this
# one, dpdk-dumpcap is not: without it all captured packets count as dropped, with net_null as well.
TESTPMD_LINKS = "librte_mempool_dpaa.so"


@contextlib.contextmanager
def hugepages_at(directory, megabytes=320):
    """Hugepages for one primary process, given back at the end; skips the test if there are none."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(host.hugepages(megabytes, directory))
        except OSError as error:
            pytest.skip(f"no hugepages here, which DPDK's secondary processes need: {error}")
        yield directory


def with_preloaded(env, *libraries):
    """`env` with libraries preloaded behind those it has: a sanitizer's must be the first."""
    return dict(env, LD_PRELOAD=":".join(filter(None, [env.get("LD_PRELOAD"), *map(str, libraries)])))


class SharedTestpmd(Testpmd):
    """A Testpmd to which secondary processes can attach."""

    def __init__(self, huge, port, devargs="", args=(), softhca_options=(), telemetry=False):
        #: EAL arguments with which another process loads the driver
        self.driver = ["--no-pci", "-d", paths.plugin()[0]]
        self._start(huge, port, [*self.driver, "--vdev", f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], args,
                    softhca_options, telemetry)

    def _start(self, huge, port, eal, args, softhca_options=(), telemetry=False):
        self.prefix = eal_prefix()
        command = ["dpdk-testpmd", *lcore_args("0,1"), "--huge-dir", huge, "-m", "256", "--base-virtaddr", BASE_ADDRESS,
                   *([] if telemetry else ["--no-telemetry"]), "--file-prefix", self.prefix, *eal, "--", "-i",
                   "--total-num-mbufs=4096", "--no-flush-rx", "--no-lsc-interrupt", *args]
        self.terminal = Terminal(softhca_argv([port], command, softhca_options),
                                 env=dict(os.environ, **paths.plugin()[1]))
        self.banner = ""
        self.status = None

    def pid(self):
        """The pid of testpmd, which softhca's runner started."""
        runner = self.terminal.process.pid
        for pid in pathlib.Path(f"/proc/{runner}/task/{runner}/children").read_text().split():
            if pathlib.Path(f"/proc/{pid}/comm").read_text().startswith("dpdk-testpmd"):
                return int(pid)
        raise AssertionError("testpmd does not run")

    def environment(self):
        """testpmd's environment, with the runner's library, for another process on its ports."""
        lines = pathlib.Path(f"/proc/{self.pid()}/environ").read_text().split("\0")
        return dict(line.split("=", 1) for line in lines if "=" in line)

    @contextlib.contextmanager
    def secondary(self, *argv):
        """Run a program without a -d option: LD_PRELOAD loads the driver."""
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
        # Leave the runtime directory, which is the primary's.
        self.terminal.close()
