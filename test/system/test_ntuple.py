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
