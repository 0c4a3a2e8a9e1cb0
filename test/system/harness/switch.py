# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with its datapath of DPDK, on ports of the driver whose wires lead to hosts: namespaces with an address each."""
import contextlib
import os
import subprocess

import pytest

from . import daemons, host, mode, paths
from .patience import PATIENCE, until
from .terminal import POLLERS_NICE
from .testpmd import eal_prefix, remove_runtime_dir, softhca_argv

MEMORY = 320  # MiB: the packets of two MTUs at the same time
SCHEMA = daemons.find("/usr/share/openvswitch/vswitch.ovsschema")
VSWITCHD = daemons.find("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
VSCTL = daemons.find("/usr/bin/ovs-vsctl")


class Host:
    """What is at the end of a wire."""

    def __init__(self, wire, address):
        self.wire, self.address, self.space = wire, address, host.Namespace()

    def ping(self, other, *options, **how):
        return self.space.ping(other.address, 5, *options, **how)


class Daemon:
    """A program of Open vSwitch's that writes to a file until it is closed."""

    def __init__(self, argv, log):
        self.log = log
        with open(log, "w", encoding="utf-8") as file:
            self.process = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                            env=dict(os.environ, OVS_RUNDIR=str(log.parent), **paths.plugin()[1]))

    def output(self):
        return self.log.read_text(encoding="utf-8")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE / 10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Switch:
    """The daemon and its database, with one bridge. In a namespace: its netdev "ovs-netdev" has the same name everywhere."""

    def __init__(self, directory, space, wires, config, stack):
        self.directory, self.space, self.bridge = directory, space, "bridge"
        database, self.control = f"{directory}/conf.db", f"{directory}/control"
        self.remote = f"unix:{directory}/db.sock"
        host.run("ovsdb-tool", "create", database, SCHEMA)
        self.database = Daemon(["ovsdb-server", database, f"--remote=p{self.remote}", f"--unixctl={directory}/database"],
                               directory / "database.log")
        stack.callback(self.database.close)
        until(lambda: (directory / "db.sock").exists() or self.database.process.poll() is not None)
        ports = [f"wire=tap:{wire}" for wire in wires]
        prefix = eal_prefix()
        stack.callback(remove_runtime_dir, prefix)
        eal = ["--no-pci", "-d", paths.plugin()[0], "--file-prefix", prefix]
        for index in range(len(wires)):
            eal += ["--vdev", mode.vdev(f"net_mlx5dv{index},ibdev=mlx5_{index}")]
        config = {"dpdk-init": "true", "dpdk-lcore-mask": "0x1", "pmd-cpu-mask": hex(1 << max(os.sched_getaffinity(0))),
                  "dpdk-socket-mem": MEMORY, "dpdk-socket-limit": MEMORY, "dpdk-extra": '"' + " ".join(eal) + '"', **config}
        self.set("--no-wait", "init", "--", "set", "Open_vSwitch", ".", *(f"other_config:{key}={value}" for key, value in config.items()))
        self.daemon = Daemon(["ip", "netns", "exec", space.name, "nice", "-n", POLLERS_NICE, *softhca_argv(ports, [VSWITCHD, self.remote, f"--unixctl={self.control}"])],
                             directory / "switch.log")
        stack.callback(self.daemon.close)
        until(lambda: "DPDK Enabled - initialized" in self.output() or self.daemon.process.poll() is not None)
        assert self.daemon.process.poll() is None, self.output()

    def output(self):
        return self.daemon.output()

    def change(self, *words):
        """As set(), done when the ports have been restarted for it, too. The daemon says that it has a configuration before it gives
        that to its datapath, in the next round of its main loop; each command of ovs-appctl's is answered in a round of its own."""
        self.set(*words)
        for _ in range(2):
            self.tell("version")

    def set(self, *words):
        """A command of ovs-vsctl's, done when the daemon has its configuration; what it prints."""
        done = subprocess.run([VSCTL, f"--db={self.remote}", f"--timeout={PATIENCE}", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        assert done.returncode == 0, (words, done.stdout, self.output()[-3000:])
        return done.stdout.strip()

    def get(self, interface, column):
        return self.set("get", "Interface", interface, column)

    def tell(self, *words):
        return host.run("ovs-appctl", "-t", self.control, *words)

    def add(self, index):
        self.change("add-port", self.bridge, f"p{index}", "--", "set", "Interface", f"p{index}", "type=dpdk",
                    f"options:dpdk-devargs={mode.vdev(f'net_mlx5dv{index},ibdev=mlx5_{index}')}")
        assert self.get(f"p{index}", "error") == "[]"


@contextlib.contextmanager
def switch_between_two_hosts(directory, **config):
    """(switch, host, host)"""
    wires = [host.name("w") for _ in range(2)]
    with contextlib.ExitStack() as stack:
        try:
            got = stack.enter_context(host.more_hugepages(MEMORY // 2))
        except OSError as error:
            pytest.skip(f"no hugepages: {error}")
        if got < MEMORY // 2:
            pytest.skip(f"{got} of {MEMORY // 2} hugepages could be reserved")
        space = stack.enter_context(host.Namespace())
        switch = Switch(directory, space, wires, {key.replace("_", "-"): value for key, value in config.items()}, stack)
        switch.set("add-br", switch.bridge, "--", "set", "bridge", switch.bridge, "datapath_type=netdev")
        hosts = []
        for index, wire in enumerate(wires):
            switch.add(index)
            hosts.append(Host(wire, f"10.77.0.{index + 1}"))
            stack.enter_context(hosts[-1].space)
            space.run("ip", "link", "set", wire, "netns", hosts[-1].space.name)
            hosts[-1].space.run("ip", "addr", "add", hosts[-1].address + "/24", "dev", wire)
            hosts[-1].space.set_up(wire)
        yield switch, *hosts
