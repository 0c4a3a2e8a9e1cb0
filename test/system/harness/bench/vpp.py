# SPDX-License-Identifier: BSD-3-Clause
"""VPP's rdma plugin with an l2 patch that sends what a port receives, from a tree that was built by hand: VPP's event log
has the time of each full frame that the plugin received."""
import pathlib
import re
import signal
import subprocess

from . import loops

FRAME = 256  # packets in one of VPP's frames
# Descriptors as the other programs have them; the plugin makes no rings of strides by direct verbs unless it is let.
COMMANDS = """create interface rdma host-if {netdev} name port rx-queue-size 1024 tx-queue-size 2048 mode dv no-multi-seg
set interface promiscuous on port
set interface state port up
test l2patch rx port tx port
event-logger resize 100000
event-logger trace circuit-node rdma-input
"""
CONFIGURATION = """unix {{ nodaemon nosyslog cli-listen {where}/cli runtime-dir {where} exec {where}/commands }}
api-segment {{ prefix {prefix} }}
cpu {{ main-core 1 }}
buffers {{ buffers-per-numa 8192 {buffers} }}
plugins {{ path {plugins} plugin default {{ disable }} plugin rdma_plugin.so {{ enable }} }}
"""


class Vpp(loops.Turns):
    """VPP of a build tree, on the port whose netdev is `netdev`."""

    def __init__(self, directory, build, port, netdev, tsc_hz):
        where, build = pathlib.Path(directory), pathlib.Path(build)
        where.mkdir()
        (where / "commands").write_text(COMMANDS.format(netdev=netdev), encoding="utf-8")
        (where / "conf").write_text(CONFIGURATION.format(where=where, prefix=f"vpp{netdev}", buffers="",
                                                         plugins=next(build.glob("lib/*/vpp_plugins"))), encoding="utf-8")
        super().__init__(where, port, [build / "bin/vpp", "-c", where / "conf"], {}, ["--sys"])
        self.vppctl = [build / "bin/vppctl", "-s", where / "cli"]
        self.tsc_hz = tsc_hz

    def is_started(self):
        return (self.directory / "cli").exists()

    def ended(self):
        pass

    def tell(self, *words):
        return subprocess.run([*self.vppctl, *words], capture_output=True, text=True, check=True, timeout=60).stdout

    def take(self):
        """TSC ticks a packet of the loops since the last time; the device stands, so that there are no more."""
        self.ctl("freeze")
        self.signal(signal.SIGCONT)
        text = self.tell("show", "event-logger", "all")
        self.tell("event-logger", "clear")
        self.signal(signal.SIGSTOP)
        return [seconds * self.tsc_hz / FRAME for seconds in full_loops(text)]


def full_loops(text):
    """Seconds from each full frame received to the next, of VPP's event log: as app/loop-meter takes them. Empty polls are
    not in the log: where VPP has been stopped, more time has gone by."""
    events = [(float(at), int(nb)) for at, nb in re.findall(r"^\s*([\d.]+): rdma-input-return: (\d+)", text, re.M)]
    return [now - before for (before, full), (now, too) in zip(events, events[1:]) if full == too == FRAME and now - before < loops.SECONDS]

