# SPDX-License-Identifier: BSD-3-Clause
"""steering=: a verbs program has what older cards allow, and is refused the rest; our driver says why it does not start."""
import errno
import os
import subprocess

import pytest
from harness import frames, paths, pcapfile
from harness.patience import PATIENCE
from harness.testpmd import eal_prefix, softhca_argv
from test_ctl import asked, ctl, holder

RECEIVE = str(paths.BUILD / "app" / "examples" / "raw-receive")


def receive(tmp_path, steering, *rule):
    """(status, what it said) of a program that waits for one frame, of many kinds on the wire."""
    wire = tmp_path / "wire.pcap"
    program = str(paths.BUILD / "app" / "examples" / "raw-send")
    subprocess.run(softhca_argv([f"wire=pcap::{wire}"], [program, "mlx5_0", frames.PORT_MAC, "1", *rule]), check=True,
                   timeout=PATIENCE)
    argv = softhca_argv([f"wire=pcap:{wire},steering={steering}"], [RECEIVE, "mlx5_0", frames.PORT_MAC, "1", *rule])
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("steering, rule, error", [
    ("cx4-exp", (), 0),
    ("cx4-exp", ("vlan", "5"), 0),
    ("cx4-exp", ("vni", "42"), errno.EINVAL),
    ("dmfs", (), 0),
    ("dmfs", ("vlan", "5"), 0),
    ("dmfs", ("vni", "42"), errno.EINVAL),
    ("a0", (), 0),
    ("a0", ("vlan", "5"), errno.ENXIO),
    ("a0", ("vni", "42"), errno.EINVAL),
    ("model", ("vni", "42"), 0),
])
def test_what_a_program_may_ask_for(tmp_path, steering, rule, error):
    status, out = receive(tmp_path, steering, *rule)
    if error == 0:
        assert status == 0 and "frame 1: " in out, out
    else:
        assert status != 0 and f"ibv_create_flow: {os.strerror(error)}" in out, out


@pytest.mark.parametrize("steering, says", [
    ("cx4-exp", "a first flow rule was refused (errno 22): the device finds the rule contradictory"),
    ("dmfs", "a first flow rule was refused (errno 95): the device or the kernel cannot do this"),
    ("a0", "a first flow rule was refused (errno 95): the device or the kernel cannot do this"),
])
def test_our_driver_needs_more(steering, says):
    """It tries rules that send nothing before it makes a port, and tells which errno the device had for them."""
    program = ["dpdk-testpmd", "-l", "0,1", "--no-huge", "-m", "256", "--no-pci", "--no-telemetry",
               "--file-prefix", eal_prefix(),
               "-d", "librte_net_mlx5dv.so", "--vdev", "net_mlx5dv0,ibdev=mlx5_0", "--", "-i", "--total-num-mbufs=4096"]
    env = dict(os.environ, LD_LIBRARY_PATH=str(paths.BUILD / "drivers"))
    done = subprocess.run(softhca_argv([f"steering={steering}"], program), input="quit\n", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=env, timeout=PATIENCE, check=False)
    assert f"mlx5dv: mlx5_0: {says}" in done.stdout, done.stdout
    assert "No probed ethernet devices" in done.stdout


@pytest.mark.parametrize("steering, rule, says", [
    ("dmfs", "flow-type=ip6,dst-ip=fd00::1,action=-1,loc=1", "steering=dmfs takes ether with a whole dst, ip4"),
    ("dmfs", "flow-type=udp4,dst-ip=10.0.0.0/8,action=-1,loc=1", "steering=dmfs takes"),
    ("a0", "flow-type=udp4,dst-port=53,action=-1,loc=1", "steering=a0 takes ether with dst alone"),
    ("a0", "flow-type=ether,dst=02:00:00:00:00:77,vlan=5,action=-1,loc=1", "steering=a0 takes ether with dst alone"),
])
def test_rules_of_the_netdev(tmp_path, steering, rule, says):
    socket = tmp_path / "device"
    with holder("--ctl", socket, ports=(f"kernel=pcap:{tmp_path / 'netdev.pcap'},steering={steering}",)):
        status, _, err = ctl(socket, "ntuple", rule)
        assert status == 1 and says in err, err
        assert "FTE" not in asked(socket, "dump")
        asked(socket, "ntuple", "flow-type=ether,dst=02:00:00:00:00:77,action=-1,loc=1")
        assert pcapfile.read(tmp_path / "netdev.pcap") == []
