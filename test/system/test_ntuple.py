# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl ntuple: rules of the netdev, between those of verbs and its own filter."""
import json
import subprocess

import pytest
from harness import frames, host, paths, pcapfile
from harness.patience import PATIENCE
from harness.testpmd import softhca_argv
from test_ctl import asked, ctl, holder, until

MAC, FOREIGN = frames.PORT_MAC, "02:00:00:00:00:77"
UDP_53, UDP_54 = frames.packet(dport=53), frames.packet(dport=54)
OTHER = frames.ether(b"for nobody", 0x88b5, dst=FOREIGN)


def counters(socket):
    return json.loads(asked(socket, "stats", "--json"))["ports"][0]


def wait_for(capture, wanted):
    """The netdev gets these, in this order, whatever else Linux sends on its end of the cable."""
    until(lambda: [frame for frame in pcapfile.read(capture) if frame in (UDP_53, UDP_54, OTHER)] == wanted)


def test_rules_of_the_netdev(namespace, tmp_path):
    wire, socket, netdev = host.name("w"), tmp_path / "device", tmp_path / "netdev.pcap"
    port = f"wire=tap:{wire},kernel=pcap:{netdev},mac={MAC}"
    with holder("--ctl", socket, ports=(port,)):
        namespace.take(wire)
        assert asked(socket, "ntuple", "flow-type=udp4,dst-port=53,action=-1,loc=7") == "mlx5_0 rule 7\n"
        asked(socket, "ntuple", f"flow-type=ether,dst={FOREIGN},action=0,loc=2")
        text = asked(socket, "dump")
        assert "(DROP) to ()" in text and "(FWD) to (NETDEV)" in text and "out.udp_dport:" in text, text
        with host.PacketSocket(wire, namespace) as peer:
            for frame in UDP_53, UDP_54, OTHER:
                peer.send(frame)
            wait_for(netdev, [UDP_54, OTHER])
            until(lambda: counters(socket)["rx_unwanted"] >= 1)
            # As if they had never been.
            assert json.loads(asked(socket, "ntuple", "--json", "delete=7")) == {"device": "mlx5_0", "location": 7}
            asked(socket, "ntuple", "delete=2")
            for frame in UDP_53, OTHER, UDP_54:
                peer.send(frame)
            wait_for(netdev, [UDP_54, OTHER, UDP_53, UDP_54])
        assert "FTE" not in asked(socket, "dump")


def test_a_rule_of_verbs_that_does_not_trap_comes_first(namespace, tmp_path):
    """Both get their copy of what ethtool would let pass, and verbs alone of what it drops."""
    wire, socket, netdev = host.name("w"), tmp_path / "device", tmp_path / "netdev.pcap"
    program = [str(paths.BUILD / "app" / "examples" / "raw-dont-trap"), "mlx5_0", MAC, "2"]
    argv = softhca_argv([f"wire=tap:{wire},kernel=pcap:{netdev},mac={MAC}"], program)
    argv[2:2] = ["--ctl", str(socket)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as runner:
        until(lambda: ctl(socket, "dump")[1].count("FTE") == 1)
        namespace.take(wire)
        asked(socket, "ntuple", "flow-type=udp4,dst-port=53,action=-1,loc=0")
        traced = tmp_path / "trace.pcap"
        pcapfile.write(traced, [UDP_53])
        story = asked(socket, "trace", traced)
        assert "the rule does not trap" in story and "dropped, 1 copy: the rule says so" in story, story
        with host.PacketSocket(wire, namespace) as peer:
            peer.send(UDP_53)
            peer.send(UDP_54)
            out, _ = runner.communicate(timeout=PATIENCE)
    assert runner.returncode == 0 and "seen, not taken: 2 frames" in out, out
    got = pcapfile.read(netdev)
    assert UDP_54 in got and UDP_53 not in got


@pytest.mark.parametrize("rule, says", [
    ("flow-type=udp4,action=0,loc=1", "there is no netdev beside the port (kernel=)"),
    ("flow-type=udp4,dst-port=x,action=0,loc=1", "dst-port is a port, not 'x'"),
    ("delete=5", "there is no rule of that location"),
    ("delete=1024", "delete is a number up to 1023"),
])
def test_what_is_refused(tmp_path, rule, says):
    with holder("--ctl", tmp_path / "device"):
        status, _, err = ctl(tmp_path / "device", "ntuple", rule)
        assert status == 1 and says in err, err


def test_flows_that_the_netdev_answers(namespace, tmp_path):
    """While it is on, what the netdev sends makes a flow of what comes back; ethtool's rules come first."""
    wire, netdev, socket = host.name("w"), host.name("k"), tmp_path / "device"
    query = frames.packet(eth_dst=frames.PEER_MAC, eth_src=MAC, src="10.0.0.1", dst="10.0.0.2", sport=1024, dport=53)
    answer = frames.packet(src="10.0.0.2", dst="10.0.0.1", sport=53, dport=1024)
    with holder("--ctl", socket, ports=(f"wire=tap:{wire},kernel=tap:{netdev},mac={MAC}",)):
        namespace.take(wire)
        namespace.take(netdev)
        assert asked(socket, "arfs", "on") == "mlx5_0\n"
        with host.PacketSocket(wire, namespace) as peer, host.PacketSocket(netdev, namespace) as linux:
            linux.send(query)
            until(lambda: "owner: aRFS" in asked(socket, "dump"))
            peer.send(answer)
            until(lambda: "(FWD) to (NETDEV) packets:1 bytes:60" in asked(socket, "dump"))
            dump = asked(socket, "dump")
            assert "out.src_ip:10.0.0.2" in dump and "out.udp_sport:0x35" in dump and "out.udp_dport:0x400" in dump
            asked(socket, "ntuple", "flow-type=udp4,src-port=53,action=-1,loc=0")
            peer.send(answer)
            until(lambda: "(DROP) to () packets:1" in asked(socket, "dump"))
            assert "(FWD) to (NETDEV) packets:1 bytes:60" in asked(socket, "dump")
        asked(socket, "arfs", "off")
        assert "aRFS" not in asked(socket, "dump")
        asked(socket, "arfs", "flow-type=tcp4,src-ip=10.0.0.2,dst-ip=10.0.0.1,src-port=80,dst-port=7,action=2")
        assert "owner: aRFS" in asked(socket, "dump")
        status, _, err = ctl(socket, "arfs", "flow-type=udp4,dst-port=7,action=2")
        assert status == 1 and "a flow is of tcp4, udp4, tcp6 or udp6" in err, err
