# SPDX-License-Identifier: BSD-3-Clause
"""Who gets a packet that all want: a rule of verbs before one of ethtool before a flow of aRFS before the netdev's filter."""
import contextlib
import json
import re

import pytest
from harness import card as cards
from harness import frames, host, paths
from harness.cable import Cable
from harness.patience import PATIENCE, until
from harness.terminal import Terminal

pytestmark = pytest.mark.skipif(host.why_no_tap() is not None, reason=str(host.why_no_tap()))
MAC = frames.PORT_MAC
RECEIVER = paths.BUILD / "app" / "examples" / "raw-receive"
PACKET = frames.packet(src="10.0.0.2", dst="10.0.0.1", sport=53, dport=1024)


class Four:
    """A packet's takers on one card, and what each has got of it so far."""

    def __init__(self, card, netdev, cable, program):
        self.card, self.netdev, self.cable, self.program = card, netdev, cable, program

    def ctl(self, *words):
        return cards.softhca("ctl", "--on", self.card, *words).stdout

    def hits(self, owner):
        """Of the entries in the tables of an owner."""
        tables = [table for table in self.ctl("dump").split("FT: ")[1:] if f"owner: {owner}" in table.splitlines()[0]]
        return sum(int(nb) for table in tables for nb in re.findall(r"packets:(\d+)", table))

    def got(self):
        """By verbs, ethtool, aRFS, and in all by the netdev."""
        while self.program and self.program.read_some(0):
            pass
        verbs = self.program.text.count("\nframe ") if self.program else 0
        port = json.loads(self.ctl("stats", "--json"))["ports"][0]
        return [verbs, self.hits("ethtool"), self.hits("aRFS"), port["rx_kernel"]], port["rx_frames"]

    def sends(self, *told):
        """One packet: by how much the four counts grow."""
        before, came = self.got()
        self.cable.send(PACKET)
        until(lambda: self.got()[1] > came)
        until(lambda: self.got()[0] == [had + more for had, more in zip(before, told)])
        return self.ctl("trace", "ipv4 src 10.0.0.2 dst 10.0.0.1 / udp src 53 dst 1024")


def test_four_want_one_packet(tmp_path):
    """As the first of them goes, the next one gets it, and no other notices. Rules were made in the opposite order."""
    wire, netdev = tmp_path / "wire", host.name("c")
    with contextlib.ExitStack() as stack:
        card = stack.enter_context(cards.up(f"wire=unix:{wire},kernel=tap:{netdev},mac={MAC}"))
        cable = stack.enter_context(Cable(wire))
        host.quiet_netdev(netdev)
        four = Four(card, netdev, cable, None)
        assert "it is for the netdev's address" in four.sends(0, 0, 0, 1)
        four.ctl("arfs", "flow-type=udp4,src-ip=10.0.0.2,dst-ip=10.0.0.1,src-port=53,dst-port=1024,action=2")
        assert "owner: aRFS" in four.sends(0, 0, 1, 1)
        cards.run_on(card, "ethtool", "-N", netdev, "flow-type", "udp4", "dst-port", "1024", "action", "-1", "loc", "7")
        assert "dropped" in four.sends(0, 1, 0, 0)
        four.program = Terminal(cards.on(card, RECEIVER, "mlx5_0", MAC, "1000"))
        stack.callback(four.program.close)
        until(lambda: "comm raw-receive" in four.ctl("dump"))
        assert "comm raw-receive" in four.sends(1, 0, 0, 0)
        # And away again, from the first on.
        four.program.process.kill()
        until(lambda: "comm raw-receive" not in four.ctl("dump"))
        four.sends(0, 1, 0, 0)
        cards.run_on(card, "ethtool", "-N", netdev, "delete", "7")
        four.sends(0, 0, 1, 1)
        four.ctl("arfs", "off")
        four.sends(0, 0, 0, 1)


@pytest.mark.parametrize("kind, proto", [("udp", frames.UDP), ("tcp", frames.TCP)])
def test_flows_of_what_linux_answers(tmp_path, kind, proto):
    """While ethtool -K has ntuple on, what the netdev sends adds the flow of its answers."""
    wire, netdev = tmp_path / "wire", host.name("c")
    with cards.up(f"wire=unix:{wire},kernel=tap:{netdev},mac={MAC}") as card, Cable(wire) as cable:
        host.quiet_netdev(netdev)
        four = Four(card, netdev, cable, None)
        sent = frames.packet(proto, eth_dst=frames.PEER_MAC, eth_src=MAC, src="10.0.0.1", dst="10.0.0.2", sport=1024, dport=53)
        answer = frames.packet(proto, src="10.0.0.2", dst="10.0.0.1", sport=53, dport=1024)
        with host.PacketSocket(netdev) as linux:
            linux.send(sent)
            assert cable.receive(PATIENCE) is not None
            assert "aRFS" not in four.ctl("dump")
            cards.run_on(card, "ethtool", "-K", netdev, "ntuple", "on")
            linux.send(sent)
            until(lambda: "owner: aRFS" in four.ctl("dump"))
            cable.send(answer)
            until(lambda: four.hits("aRFS") == 1)
            assert f"out.{kind}_sport:0x35" in four.ctl("dump")
            cards.run_on(card, "ethtool", "-K", netdev, "ntuple", "off")
            assert "aRFS" not in four.ctl("dump")
