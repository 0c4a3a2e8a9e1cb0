# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's examples of several processes, as its source package has them, on our ports: ports that any process attaches and
detaches in all of them, a primary that receives for others that send, and processes with a queue of each port."""
import contextlib
import os
import pathlib
import re
import signal

import pytest
from harness import frames, paths
from harness.cable import Cable
from harness.examples import SOURCES, Examples
from harness.patience import PATIENCE
from harness.shared import BASE_ADDRESS, hugepages_at
from harness.terminal import Terminal
from harness.testpmd import eal_prefix, remove_runtime_dir, softhca_argv

NB_FRAMES = 40

pytestmark = [pytest.mark.long,
              pytest.mark.skipif(not SOURCES, reason="DPDK's examples are not here: run devtools/setup")]


@pytest.fixture(name="build", scope="module")
def fixture_build(tmp_path_factory):
    """Builds an example of multi_process/, without what takes longest: the program's path."""
    examples = Examples(tmp_path_factory.mktemp("examples"), "-O1")
    return lambda path: examples.build(f"multi_process/{path}", path.rpartition("/")[2])


@pytest.fixture(name="huge", scope="module")
def fixture_huge(tmp_path_factory):
    with hugepages_at(tmp_path_factory.mktemp("huge")) as directory:
        yield directory


class Primary:
    """A primary process on a device for each wire, and others that share its memory."""

    def __init__(self, huge, wires, program, eal=(), arguments=()):
        self.name = pathlib.Path(program).name
        self.prefix = eal_prefix()
        self.common = ["--no-pci", "-d", paths.plugin()[0], "--no-telemetry", "--file-prefix", self.prefix]
        command = [program, "--lcores", "0", "--huge-dir", huge, "-m", "256", "--base-virtaddr", BASE_ADDRESS, *self.common,
                   *eal, "--", *arguments]
        self.terminal = Terminal(softhca_argv([f"wire={wire}" for wire in wires], map(str, command)),
                                 env=dict(os.environ, **paths.plugin()[1]))
        self.others = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for terminal in [*self.others, self.terminal]:
            terminal.close()
        remove_runtime_dir(self.prefix)

    def environment(self):
        """The program's, with the runner's library, for another process on its ports."""
        runner = self.terminal.process.pid
        for pid in pathlib.Path(f"/proc/{runner}/task/{runner}/children").read_text(encoding="ascii").split():
            # The kernel keeps 15 characters of a name.
            if pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == self.name[:15]:
                lines = pathlib.Path(f"/proc/{pid}/environ").read_text(encoding="utf-8").split("\0")
                return dict(line.split("=", 1) for line in lines if "=" in line)
        raise AssertionError("the primary does not run")

    def secondary(self, program, *arguments):
        """Starts a process of an lcore of its own, as a mempool has a cache for each: its terminal."""
        command = [program, "--lcores", f"{2 + len(self.others)}@{os.cpu_count() - 1}", "--proc-type=secondary", *self.common,
                   "--", *arguments]
        terminal = Terminal(list(map(str, command)), env=self.environment())
        self.others.append(terminal)
        return terminal


def vdevs(count):
    return [word for i in range(count) for word in ("--vdev", f"net_mlx5dv{i},ibdev=mlx5_{i}")]


def datagrams(first=0):
    """Of addresses that RSS has many queues for."""
    return [frames.packet(src=f"10.1.2.{i}", data=b"%04d" % i) for i in range(first, first + NB_FRAMES)]


def forwarded(one, two, first=0):
    """Whether all that came in on a cable has left on the other, each way."""
    for here, there in ((one, two), (two, one)):
        sent = datagrams(first)
        here.send(*sent)
        received = there.receive_all(len(sent), PATIENCE)
        if sorted(received) != sorted(sent):
            return False
    return True


def test_hotplug_in_any_process(build, huge):
    """hotplug_mp: whoever attaches or detaches a port, all have it or have it no more; one that cannot be is in none."""
    program = build("hotplug_mp")
    with Primary(huge, ["null", "null"], program) as primary:
        primary.terminal.expect("example> ", 0)
        processes = [primary.terminal, primary.secondary(program), primary.secondary(program)]
        for terminal in processes[1:]:
            terminal.expect("example> ", 0)

        def told(who, command):
            start = len(processes[who].text)
            processes[who].send(f"{command}\n")
            # The prompt stands behind the command's answer, and before what a request of another process lets it say.
            processes[who].expect(f"{re.escape(command)}.*?example> ", start)
            return processes[who].text[start:]

        def ports():
            lists = [re.findall(r"^\d+\t(\S+)", told(who, "list"), re.M) for who in range(len(processes))]
            assert lists[1:] == lists[:-1], lists
            return lists[0]

        assert "attached device net_mlx5dv0" in told(0, "attach net_mlx5dv0,ibdev=mlx5_0")
        assert "attached device net_mlx5dv1" in told(1, "attach net_mlx5dv1,ibdev=mlx5_1")
        assert ports() == ["net_mlx5dv0", "net_mlx5dv1"]
        assert "detached device net_mlx5dv0" in told(2, "detach net_mlx5dv0")
        assert ports() == ["net_mlx5dv1"]
        for who in (0, 1):
            assert "failed to attach" in told(who, "attach net_mlx5dv2,ibdev=mlx5_7")
        assert ports() == ["net_mlx5dv1"]
        assert "detached device net_mlx5dv1" in told(0, "detach net_mlx5dv1")
        assert "attached device net_mlx5dv0" in told(2, "attach net_mlx5dv0,ibdev=mlx5_1")
        assert ports() == ["net_mlx5dv0"]
        for terminal in reversed(processes):
            terminal.send("quit\n")
            assert terminal.wait() == 0


def test_a_server_receives_for_its_clients(build, huge, tmp_path):
    """client_server_mp: the server gives frames to its clients in turn, and each sends by a Tx queue of its own: so does one
    that comes after another was killed."""
    server, client = build("client_server_mp/mp_server"), build("client_server_mp/mp_client")
    wires = [tmp_path / name for name in ("one", "two")]
    with Primary(huge, [f"unix:{wire}" for wire in wires], server, vdevs(2), ["-p", "0x3", "-n", "2"]) as primary, \
            Cable(wires[0], patience=60) as one, Cable(wires[1]) as two:
        primary.terminal.expect("Finished Process Init", 0)
        clients = [primary.secondary(client, "-n", str(number)) for number in range(2)]
        for terminal in clients:
            terminal.expect("Press Ctrl-C", 0)
        assert forwarded(one, two) and forwarded(one, two)
        os.kill(clients[0].process.pid, signal.SIGKILL)
        clients[0].wait()
        primary.secondary(client, "-n", "0").expect("Press Ctrl-C", 0)
        assert forwarded(one, two) and forwarded(one, two)


def test_equals_share_the_ports(build, huge, tmp_path):
    """symmetric_mp: RSS spreads frames over the processes, each of which sends by a Tx queue of its own."""
    program = build("symmetric_mp")
    wires = [tmp_path / name for name in ("one", "two")]
    words = ["-p", "0x3", "--num-procs", "2", "--proc-id"]
    with Primary(huge, [f"unix:{wire}" for wire in wires], program, vdevs(2), [*words, "0"]) as primary, \
            Cable(wires[0], patience=60) as one, Cable(wires[1]) as two:
        primary.terminal.expect("Finished Process Init", 0)
        other = primary.secondary(program, *words, "1")
        other.expect("Finished Process Init", 0)
        assert forwarded(one, two) and forwarded(one, two, NB_FRAMES)
        counts = []
        for terminal in (other, primary.terminal):
            os.kill(terminal.process.pid, signal.SIGINT)
            assert terminal.wait() == 0
            counts.append([int(count) for count in re.findall(r"^Port \d: RX - (\d+)", terminal.text, re.M)])
        assert [sum(both) for both in zip(*counts)] == [2 * NB_FRAMES] * 2 and min(map(min, counts)) > 0, counts
