# SPDX-License-Identifier: BSD-3-Clause
"""The stock ethtool below softhca run: the netdev's rules, as mlx5 takes them, in the device of another process."""
import os
import re
import subprocess

import pytest
from harness import frames, host, paths
from harness.intree import InTreeTestpmd
from harness.patience import PATIENCE
from harness.testpmd import Testpmd, softhca_argv
from test_ctl import asked, until

MAC, FOREIGN = frames.PORT_MAC, "02:00:00:00:00:77"
UDP_53, UDP_54 = frames.packet(dport=53), frames.packet(dport=54)
HOLDER = [str(paths.BUILD / "app" / "examples" / "raw-receive"), "mlx5_0", "02:00:00:00:00:66", "1"]


class Shell:
    """A shell below softhca run, beside a program that has the device open."""

    def __init__(self, tmp_path, port, env=None):
        self.socket = tmp_path / "device"
        self.process = subprocess.Popen(softhca_argv([port], ["sh"], ["--ctl", str(self.socket)]), text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=dict(os.environ, **(env or {})))
        self.run(" ".join(HOLDER) + " >/dev/null 2>&1 & holder=$!")
        until(self.socket.exists)
        until(lambda: "FTE" in asked(self.socket, "dump"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate("kill $holder\nexit\n", timeout=PATIENCE)

    def run(self, command):
        """(status, what it said)."""
        self.process.stdin.write(f"{command}\necho \"<$?>\"\n")
        said = ""
        while not said.endswith(">\n") or "<" not in said.splitlines()[-1]:
            line = self.process.stdout.readline()
            assert line, said
            said += line
        said, _, status = said.rpartition("<")
        return int(status.rstrip(">\n")), said

    def said(self, command):
        status, out = self.run(command)
        assert status == 0, out
        return out


@pytest.fixture(name="netdev")
def fixture_netdev(tap_allowed):
    return host.name("e")


def test_a_rule_comes_and_goes(tmp_path, netdev):
    with Shell(tmp_path, f"kernel=tap:{netdev},mac={MAC}") as shell:
        assert "Added rule with ID 1023" in shell.said(f"ethtool -N {netdev} flow-type udp4 dst-port 53 action 1")
        listed = shell.said(f"ethtool -n {netdev}")
        for line in ("8 RX rings available", "Total 1 rules", "Filter: 1023", "Rule Type: UDP over IPv4",
                     "Dest port: 53 mask: 0x0", "Action: Direct to queue 1"):
            assert line in listed, listed
        dump = asked(shell.socket, "dump")
        assert "type: NIC_RX, owner: ethtool)" in dump and "(FWD) to (NETDEV)" in dump and "out.udp_dport:0x35" in dump
        shell.said(f"ethtool -N {netdev} delete 1023")
        assert "Total 0 rules" in shell.said(f"ethtool -n {netdev}")
        assert "ethtool" not in asked(shell.socket, "dump")


# (rule, what the list says of it)
RULES = [
    (f"ether dst {FOREIGN} action 2", ["Flow Type: Raw Ethernet", f"Dest MAC addr: {FOREIGN} mask: 00:00:00:00:00:00"]),
    ("ether proto 0x88b5 action -1", ["Ethertype: 0x88B5 mask: 0x0", "Action: Drop"]),
    ("ip4 src-ip 10.0.0.0 m 0.0.0.255 action 0", ["Rule Type: Raw IPv4", "Src IP addr: 10.0.0.0 mask: 0.0.0.255"]),
    ("ip6 dst-ip fd00::1 action 0", ["Rule Type: Raw IPv6", "Dest IP addr: fd00::1 mask: ::"]),
    ("tcp4 dst-port 80 vlan 5 m 0xf000 action 3", ["Rule Type: TCP over IPv4", "VLAN: 0x5 mask: 0xf000"]),
    ("udp4 src-port 7 dst-mac 02:00:00:00:00:10 action 7", ["Src port: 7 mask: 0x0", "Dest MAC addr: 02:00:00:00:00:10"]),
    ("tcp6 dst-ip fd00::1 dst-port 443 action -1", ["Rule Type: TCP over IPv6", "Dest port: 443 mask: 0x0"]),
    ("udp6 dst-port 53 action -1", ["Rule Type: UDP over IPv6", "Action: Drop"]),
]


def test_all_flow_types(tmp_path, netdev):
    with Shell(tmp_path, f"kernel=tap:{netdev},mac={MAC}") as shell:
        for location, (rule, _) in enumerate(RULES):
            shell.said(f"ethtool -U {netdev} flow-type {rule} loc {location}")
        listed = shell.said(f"ethtool -u {netdev}")
        assert f"Total {len(RULES)} rules" in listed
        for part, (_, lines) in zip(listed.split("Filter: ")[1:], RULES):
            for line in lines:
                assert line.lower() in part.lower(), part
        # In the place of another; ctl's rules are ethtool's.
        shell.said(f"ethtool -N {netdev} flow-type udp6 dst-port 54 action -1 loc 0")
        asked(shell.socket, "ntuple", "flow-type=udp4,dst-port=9,action=1,loc=100")
        listed = shell.said(f"ethtool -n {netdev}")
        assert "Dest port: 54" in listed and FOREIGN not in listed and "Filter: 100\n" in listed
        shell.said(f"ethtool -N {netdev} delete 100")
        assert asked(shell.socket, "dump").count("FTE:") == 1 + len(RULES)


@pytest.mark.parametrize("rule, says", [
    ("udp4 dst-port 53 action 8", "Invalid argument"),
    ("udp4 dst-port 53 action 1 loc 1024", "No space left on device"),
    ("udp4 tos 5 action 1 loc 1", "Invalid argument"),
    ("udp4 dst-port 53 vlan 5 action 1 loc 1", "Invalid argument"),
    ("sctp4 dst-port 5 action 1 loc 1", "Unknown error 524"),
])
def test_what_mlx5_refuses(tmp_path, netdev, rule, says):
    with Shell(tmp_path, f"kernel=tap:{netdev}") as shell:
        _, out = shell.run(f"ethtool -N {netdev} flow-type {rule}")
        assert f"Cannot insert RX class rule: {says}" in out, out
        _, out = shell.run(f"ethtool -N {netdev} delete 5")
        assert "Cannot delete RX class rule: No such file or directory" in out, out
        assert "Total 0 rules" in shell.said(f"ethtool -n {netdev}")


def test_privileges(tmp_path, netdev):
    """Who may not administer the network may look and not change."""
    with Shell(tmp_path, f"kernel=tap:{netdev}") as shell:
        drop = "setpriv --bounding-set=-net_admin --inh-caps=-net_admin"
        _, out = shell.run(f"{drop} ethtool -N {netdev} flow-type udp4 dst-port 53 action 1 loc 1")
        assert "Cannot insert RX class rule: Operation not permitted" in out, out
        assert "Total 0 rules" in shell.said(f"{drop} ethtool -n {netdev}")


def test_frames_meet_the_rules(tmp_path, namespace, netdev):
    wire = host.name("w")
    with Shell(tmp_path, f"wire=tap:{wire},kernel=tap:{netdev},mac={MAC}") as shell:
        namespace.take(wire)
        shell.said(f"ethtool -N {netdev} flow-type udp4 dst-port 53 action -1 loc 7")
        with host.PacketSocket(wire, namespace) as peer:
            for frame in UDP_53, UDP_54, UDP_53:
                peer.send(frame)
            until(lambda: "(DROP) to () packets:2 bytes:120" in asked(shell.socket, "dump"))


@pytest.mark.parametrize("apart, says", [("0", "Operation not supported"), ("1", "Total 1 rules")])
def test_other_netdevs_are_the_kernels(tmp_path, netdev, apart, says):
    with Shell(tmp_path, f"kernel=tap:{netdev}", {"SOFTHCA_KEEPER": apart}) as shell:
        _, out = shell.run("ethtool -n lo")
        assert "Operation not supported" in out, out
        shell.said(f"ethtool -N {netdev} flow-type udp4 dst-port 53 action 1")
        shell.run("kill $holder; wait $holder")
        # Where the device has gone with the program there is only the TAP.
        _, out = shell.run(f"ethtool -n {netdev}")
        assert says in out, out


def counters_of(shell, netdev):
    return dict((name, int(value)) for name, value in
                (line.strip().split(": ") for line in shell.said(f"ethtool -S {netdev}").splitlines()[1:]))


def test_counters_move(tmp_path, namespace, netdev):
    """The port's, with an FCS a frame, and the netdev's: named as mlx5 names them."""
    wire = host.name("w")
    with Shell(tmp_path, f"wire=tap:{wire},kernel=tap:{netdev},mac={MAC}") as shell:
        assert "supports-statistics: yes" in shell.said(f"ethtool -i {netdev}")
        namespace.take(wire)
        before = counters_of(shell, netdev)
        assert {"rx_crc_errors_phy", "module_unplug", "rx_prio7_buf_discard", "tx7_bytes"} <= set(before)
        shell.said(f"ip link set {netdev} up")
        with host.PacketSocket(wire, namespace) as peer:
            for frame in UDP_53, UDP_54:
                peer.send(frame)
            until(lambda: counters_of(shell, netdev)["rx_packets"] >= before["rx_packets"] + 2)
        after = counters_of(shell, netdev)
        assert after["rx_packets_phy"] >= before["rx_packets_phy"] + 2
        assert after["rx_bytes_phy"] >= before["rx_bytes_phy"] + 128
        assert after["rx_bytes"] >= before["rx_bytes"] + 120 and after["rx0_packets"] == after["rx_packets"]
        with host.PacketSocket(netdev) as linux:
            linux.send(UDP_53)
        until(lambda: counters_of(shell, netdev)["tx_packets"] >= after["tx_packets"] + 1)
        # What the netdev got and sent is what Linux counts. Linux goes on sending frames of its own (IPv6's), also between
        # the two looks.
        def apart():
            moved = counters_of(shell, netdev)
            counted = {name: host.netdev_counter(netdev, name)
                       for name in ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")}
            return {name: (moved[name], counted[name]) for name in counted if moved[name] != counted[name]}
        until(lambda: not apart(), apart)


def test_channels(tmp_path, netdev):
    with Shell(tmp_path, f"kernel=tap:{netdev}") as shell:
        assert shell.said(f"ethtool -l {netdev}").count("Combined:\t8") == 2
        shell.said(f"ethtool -L {netdev} combined 2")
        assert "Combined:\t2" in shell.said(f"ethtool -l {netdev}")
        _, out = shell.run(f"ethtool -N {netdev} flow-type udp4 action 2 loc 1")
        assert "Invalid argument" in out, out
        for count, says in ("9", "Invalid argument"), ("0", "Invalid argument"):
            _, out = shell.run(f"ethtool -L {netdev} combined {count}")
            assert says in out, out
        _, out = shell.run(f"setpriv --bounding-set=-net_admin ethtool -L {netdev} combined 4")
        assert "Operation not permitted" in out, out
        assert "Combined:\t2" in shell.said(f"ethtool -l {netdev}")
        assert "not supported" in shell.run("ethtool -l lo")[1]


def test_the_switch_of_flows(tmp_path, netdev):
    """-K ntuple is the device's, other features the TAP's; while it is on, what the netdev sends adds flows."""
    with Shell(tmp_path, f"wire=null,kernel=tap:{netdev},mac={MAC}") as shell:
        assert "ntuple-filters: off\n" in shell.said(f"ethtool -k {netdev}")
        _, out = shell.run(f"setpriv --bounding-set=-net_admin ethtool -K {netdev} ntuple on")
        assert "Operation not permitted" in out, out
        shell.said(f"ethtool -K {netdev} tx-nocache-copy on rx-ntuple-filter on")
        features = shell.said(f"ethtool -k {netdev}")
        assert "ntuple-filters: on\n" in features and "tx-nocache-copy: on\n" in features, features
        shell.said(f"ip link set {netdev} up")
        with host.PacketSocket(netdev) as linux:
            linux.send(frames.packet(eth_dst=frames.PEER_MAC, eth_src=MAC))
            until(lambda: "owner: aRFS" in asked(shell.socket, "dump"))
        shell.said(f"ethtool -K {netdev} ntuple off")
        assert "ntuple-filters: off\n" in shell.said(f"ethtool -k {netdev}")
        assert "aRFS" not in asked(shell.socket, "dump")
        assert "Could not change any device features" in shell.run("ethtool -K lo ntuple on")[1]


def test_pauses(tmp_path, netdev):
    with Shell(tmp_path, f"kernel=tap:{netdev}") as shell:
        words = [line.split() for line in shell.said(f"ethtool -a {netdev}").splitlines()]
        assert ["RX:", "on"] in words and ["TX:", "on"] in words and ["Autonegotiate:", "off"] in words
        shell.said(f"ethtool -A {netdev} rx off")
        words = [line.split() for line in shell.said(f"ethtool -a {netdev}").splitlines()]
        assert ["RX:", "off"] in words and ["TX:", "on"] in words
        assert "Invalid argument" in shell.run(f"ethtool -A {netdev} autoneg on")[1]
        assert "not permitted" in shell.run(f"setpriv --bounding-set=-net_admin ethtool -A {netdev} rx on")[1]


def test_the_module(tmp_path, netdev):
    """As ethtool reads SFF-8636: the model names it, and without a link it receives no light."""
    with Shell(tmp_path, f"wire=null,kernel=tap:{netdev},mac={MAC}") as shell:
        module = shell.said(f"ethtool -m {netdev}")
        for line in ("Identifier : 0x11 (QSFP28)", "Transceiver type : 100G Ethernet: 100G Base-SR4 or 25GBase-SR", "Vendor name : softhca",
                     "Vendor PN : SHCA-QSFP28-SR4", "Vendor SN : SH020000000010", "Revision Compliance : SFF-8636 Rev 2.5/2.6/2.7",
                     "Module temperature : 35.50 degrees C / 95.90 degrees F", "Rcvr signal avg optical power (Channel 4) : 0.7000 mW / -1.55 dBm",
                     "Module voltage high alarm threshold : 3.6300 V"):
            # Older ones write "power(Channel".
            assert line in [" ".join(words.replace("(", " (").split()) for words in module.splitlines()], (line, module)
        asked(shell.socket, "link", "down")
        assert re.search(r"\(Channel 4\) +: 0\.0000 mW", shell.said(f"ethtool -m {netdev}"))
        assert len(shell.said(f"ethtool -m {netdev} raw on offset 148 length 16")) == 16
        _, out = shell.run(f"setpriv --bounding-set=-net_admin ethtool -m {netdev}")
        assert "Operation not permitted" in out, out


@pytest.mark.parametrize("port", ["vf=on", "model={}"])
def test_no_module(tmp_path, netdev, port):
    """Of a virtual function, to which the firmware does not show it, and in a cage without one."""
    model = tmp_path / "bare.model"
    model.write_text((paths.ROOT / "lib/softhca/config/models/cx5.model").read_text() + "module = none\n")
    with Shell(tmp_path, f"wire=null,kernel=tap:{netdev},{port.format(model)}") as shell:
        _, out = shell.run(f"ethtool -m {netdev}")
        assert "Input/output error" in out, out


def of_ours(netdev):
    return Testpmd(ports=[f"wire=null,kernel=tap:{netdev}"])


def of_intree(_):
    return InTreeTestpmd("wire=null")


@pytest.mark.parametrize("make", [of_ours, of_intree])
def test_both_drivers_read_the_module(netdev, make):
    with make(netdev) as pmd:
        said = pmd.cmd("show port 0 module_eeprom")
        assert "SHCA-QSF" in said and "P28-SR4 A1" in said and "Finish -- Port: 0 MODULE EEPROM length: 640 bytes" in said, said
