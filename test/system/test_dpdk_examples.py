# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own example programs, as its source package has them, built against the installed library and run on two
of our ports: what comes in on a cable leaves, changed as each program's guide says, on the other."""
import os
import re
import signal
import subprocess
import time

import pytest
from harness import dpdk, frames, paths, pcapfile
from harness.cable import Cable
from harness.examples import SOURCES, Examples
from harness.patience import PATIENCE
from harness.terminal import Terminal
from harness.testpmd import default_vdevs, eal_args, eal_prefix, remove_runtime_dir, softhca_argv

NB_FRAMES = 40
# The second port's address, as softhca gives it, and what l2fwd and l3fwd send to by that port.
SOURCE, DESTINATION = "02:00:00:00:00:02", "02:00:00:00:00:01"

pytestmark = pytest.mark.skipif(not SOURCES, reason="DPDK's examples are not here: run devtools/setup")


@pytest.fixture(name="build", scope="module")
def fixture_build(tmp_path_factory):
    """Builds an example, without what takes longest: the program's path."""
    return Examples(tmp_path_factory.mktemp("examples"), "-O1").build


class Example:
    """A program on two ports: what the first receives is in a capture, what both send comes in others."""

    def __init__(self, program, arguments, tmp_path, received=(), lcores="0", ports=None):
        pcapfile.write(tmp_path / "in.pcap", received)
        self.sent = [tmp_path / "out0.pcap", tmp_path / "out1.pcap"]
        ports = ports or [f"wire=pcap:{tmp_path}/in.pcap:{self.sent[0]},mac={frames.PORT_MAC},delay=2000,pace=0", f"wire=pcap::{self.sent[1]}"]
        self.prefix = eal_prefix()
        command = [program, *eal_args(self.prefix, default_vdevs(ports), lcores, memory=1024), "--", *arguments]
        environment = dict(os.environ, **paths.plugin()[1])
        options = ["--ctl", tmp_path / "ctl"]
        self.terminal = Terminal(softhca_argv(ports, map(str, command), options), env=environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.terminal.close()
        remove_runtime_dir(self.prefix)

    def wait_sent(self, port, count):
        """Frames of the capture, once there are `count`; what the program says is read meanwhile."""
        end = time.monotonic() + PATIENCE
        sent = []
        while len(sent) < count:
            if not self.terminal.read_some(0.1) and self.terminal.process.poll() is not None:
                self.terminal.fail("ended early")
            if time.monotonic() > end:
                self.terminal.fail(f"sent {len(sent)} of {count}")
            sent = pcapfile.read(self.sent[port]) if self.sent[port].exists() else []
        return sent

    def interrupt(self):
        """Ends it as its guide says; those without a handler are not asked: SIGINT may be ignored where tests run."""
        os.kill(self.terminal.process.pid, signal.SIGINT)
        return self.terminal.wait()


def udp(i, dst):
    return frames.packet(sport=1000 + i, dst=dst, data=b"%04d" % i)


def macs(frame):
    return frame[:6].hex(":"), frame[6:12].hex(":")


def test_l2fwd_rewrites_addresses(build, tmp_path):
    received = [udp(i, "10.0.0.1") for i in range(NB_FRAMES)]
    with Example(build("l2fwd"), ["-p", "0x3", "-T", "1"], tmp_path, received, lcores="0,1") as example:
        sent = example.wait_sent(1, NB_FRAMES)
        assert [frame[12:] for frame in sent] == [frame[12:] for frame in received]
        assert {macs(frame) for frame in sent} == {(DESTINATION, SOURCE)}
        assert example.interrupt() == 0
        assert "Bye..." in example.terminal.text


@pytest.mark.parametrize("name,program", [("skeleton", "basicfwd"), ("rxtx_callbacks", "rxtx_callbacks")])
def test_a_pair_of_ports_forwards(build, tmp_path, name, program):
    received = [udp(i, "10.0.0.1") for i in range(NB_FRAMES)]
    with Example(build(name, program), [], tmp_path, received) as example:
        assert example.wait_sent(1, NB_FRAMES) == received


@pytest.mark.parametrize("name,arguments,ready,src,dst", [
    ("l3fwd", ["--parse-ptype"], "entering main loop", "10.0.0.2", "198.18.1.1"),
    pytest.param("l3fwd", ["--lookup=em", "--parse-ptype"], "entering main loop", "198.18.1.1", "198.18.1.0", marks=pytest.mark.long),
    ("l3fwd-power", ["--interrupt-only"], "entering main interrupt loop", "10.0.0.2", "2.1.1.1"),
])
def test_l3fwd_routes(build, tmp_path, name, arguments, ready, src, dst):  # pylint: disable=too-many-arguments
    """By the routes that each has of its own: these addresses, and with em these ports too, leave by port 1."""
    received = [frames.packet(sport=9, dport=9, src=src, dst=dst, data=b"%04d" % i) for i in range(NB_FRAMES)]
    options = ["-p", "0x3", "--config=(0,0,0),(1,0,0)", *arguments]
    with Example(build(name), options, tmp_path, received) as example:
        example.terminal.expect(ready, 0)
        sent = example.wait_sent(1, NB_FRAMES)
        assert {macs(frame) for frame in sent} == {(DESTINATION, SOURCE)}
        assert [frame[14:22] for frame in sent] == [frame[14:22] for frame in received]
        # One hop less, and the checksum that goes with it.
        assert {frame[22] for frame in sent} == {63}
        assert all(frames.checksum(frame[14:34]) == 0 for frame in sent)
        assert [frame[34:] for frame in sent] == [frame[34:] for frame in received]
        example.interrupt()


def test_flow_filtering_makes_its_rule(build, tmp_path):
    """What comes before the rule goes to another queue: it is sent until enough has come behind it."""
    sent = [udp(i, address) for i in range(NB_FRAMES) for address in ("192.168.1.1", "192.168.1.2")]
    program = build("flow_filtering", "flow")
    if dpdk.VERSION >= (24, 11):
        # By templates it uses QUEUE_ID 1 of the one queue that it has configured (common.h, main.c). 24.11.0 comes not so
        # far: its IPv4 mask is a TCP header's (DPDK's 5fa25916f1, "fix IPv4 matching snippet").
        first = (SOURCES[-1].parent / "VERSION").read_text(encoding="ascii").strip() == "24.11.0"
        why = "total_length: the device matches no lengths" if first else \
            "flow queue 1 does not exist; the port has 1, by rte_flow_configure()"
        with Example(program, ["--template"], tmp_path, ports=["wire=null"]) as example:
            assert example.terminal.wait() == 1
            assert why in example.terminal.text
    options = ["--non-template"] if dpdk.VERSION >= (24, 11) else []
    with Example(program, options, tmp_path, ports=[f"wire=unix:{tmp_path}/wire"]) as example, \
            Cable(tmp_path / "wire", patience=60) as peer:
        end = time.monotonic() + PATIENCE
        while len(re.findall(r"src=\S+ - dst=\S+ - queue=0x1\n", example.terminal.text)) < NB_FRAMES:
            assert time.monotonic() < end, example.terminal.text[-3000:]
            peer.send(*sent)
            example.terminal.read_some(0.1)
        assert example.interrupt() == 0


def test_link_status_interrupt_hears_of_the_link(build, tmp_path):
    ports = ["wire=pair:one", "wire=pair:one"]
    with Example(build("link_status_interrupt"), ["-p", "0x3", "-T", "1"], tmp_path, lcores="0,1", ports=ports) as example:
        example.terminal.expect("entering main loop", 0)
        softhca = [paths.SOFTHCA, "ctl", tmp_path / "ctl", "--device", "mlx5_0", "link"]
        for state in ("down", "up"):
            start = len(example.terminal.text)
            subprocess.run([*softhca, state], check=True, stdout=subprocess.DEVNULL)
            example.terminal.expect(f"Event type: LSC interrupt.*?Port 0 Link {state}", start)
