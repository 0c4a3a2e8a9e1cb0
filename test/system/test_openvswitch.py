# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch's datapath of DPDK, unmodified, between two hosts: the driver in a program of others that sets ports up, changes
them while frames pass, takes them away and brings them back."""
import hashlib
import os
import re
import socket
import threading

import pytest
from harness import host
from harness.patience import PATIENCE, until
from harness.switch import VSWITCHD, switch_between_two_hosts

pytestmark = pytest.mark.skipif(VSWITCHD is None, reason="Open vSwitch is not unpacked")


@pytest.fixture(autouse=True)
def need_netdevs(tap_allowed):
    if host.why_no_netns():
        pytest.skip(host.why_no_netns())


def test_ports_change_while_frames_pass(tmp_path):
    with switch_between_two_hosts(tmp_path) as (switch, one, other):
        assert one.ping(other) == 5
        for option in ("n_rxq=3", "n_rxq_desc=512", "n_txq_desc=256", "dpdk-lsc-interrupt=true"):
            switch.change("set", "Interface", "p0", f"options:{option}")
            assert one.ping(other) == 5, option
        assert switch.tell("dpif-netdev/pmd-rxq-show").count("port: p0") == 3
        for index, end in enumerate((one, other)):
            switch.change("set", "Interface", f"p{index}", "mtu_request=4000")
            end.space.run("ip", "link", "set", end.wire, "mtu", "4000")
        until(lambda: switch.get("p0", "mtu") == "4000")
        assert one.ping(other, "-s", "3900", "-M", "do") == 5


def test_a_port_goes_and_comes_back(tmp_path):
    with switch_between_two_hosts(tmp_path) as (switch, one, other):
        assert one.ping(other) == 5
        switch.change("del-port", "p1")
        assert "have been detached" in switch.tell("netdev-dpdk/detach", "net_mlx5dv1")
        assert one.ping(other, wait=1) == 0
        switch.add(1)
        assert one.ping(other) == 5
        until(lambda: re.search(r"rx_packets=[1-9]", switch.get("p1", "statistics")))
        statistics = switch.get("p1", "statistics")
        assert all(f"{counter}=0" in statistics for counter in ("rx_dropped", "rx_errors", "tx_dropped", "tx_errors"))


def receive(end, port, result):
    with end.space.entered(), socket.create_server((end.address, port)) as server:
        server.settimeout(PATIENCE)
        connection, _ = server.accept()
        digest = hashlib.md5()
        with connection:
            while data := connection.recv(1 << 20):
                digest.update(data)
            connection.sendall(b"!")
        result.append(digest.hexdigest())


def test_large_sends_and_checksums(tmp_path):
    """With userspace-tso-enable it hands the TCP segments of a host on as they are: the device cuts them."""
    with switch_between_two_hosts(tmp_path, userspace_tso_enable="true") as (switch, one, _):
        assert "Segmentation Offloading support enabled" in switch.output()
        switch.space.run("ip", "addr", "add", "10.77.0.9/24", "dev", switch.bridge)
        switch.space.run("ip", "link", "set", switch.bridge, "up")
        result, sent = [], os.urandom(3000000)
        thread = threading.Thread(target=receive, args=(one, 7500, result), daemon=True)
        thread.start()

        def connected():
            try:
                return socket.create_connection((one.address, 7500), PATIENCE)
            except OSError:  # it does not listen yet, or nobody knows its MAC
                return None

        with switch.space.entered():
            client = until(connected)
        with client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b"!"
        thread.join()
        assert result == [hashlib.md5(sent).hexdigest()]


def test_offloaded_rules_are_refused(tmp_path):
    """Verbs cannot say what Open vSwitch's rules do: "without a tag", and "to that port". Frames pass by software. What a driver
    answers is a warning of Open vSwitch up to 3.4, and for who debugs from 3.5 on."""
    with switch_between_two_hosts(tmp_path, hw_offload="true") as (switch, one, other):
        modules = switch.tell("vlog/list")
        # Open vSwitch 4.0 has renamed it.
        module, = (name for name in ("netdev_offload_dpdk", "dpif_offload_dpdk_netdev") if name in modules)
        switch.tell("vlog/set", f"{module}:dbg")
        assert one.ping(other) == 5
        for why in ("ETH has_vlan 0: the device cannot match the absence of a tag; leave has_vlan out",
                    "transfer: the driver does not steer between ports; use ingress"):
            until(lambda why=why: why in switch.output())
        assert one.ping(other) == 5
