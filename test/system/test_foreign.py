# SPDX-License-Identifier: BSD-3-Clause
"""Devices that are not mlx5: plain verbs, and no call that only libmlx5 has for its own.

Here every device is made such a one (test/foreign): libmlx5's functions refuse it, and those that the driver calls
elsewhere end the program. What verbs itself does not have, as on a device without flow steering, is not played here.
"""
import subprocess

import pytest
from harness import frames, mode, paths
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd
from test_checksum import test_send_fills_checksums_in
from test_device_memory import run_example
from test_events import test_a_dead_device_is_removed, test_testpmd_is_told_of_the_link
from test_flow_outcomes import test_every_row_of_the_guide
from test_flow_restart import test_rules_survive_stop_and_start
from test_forward import test_several_queues_circle
from test_interrupts import test_no_order_of_events_loses_a_wake_up
from test_queues import test_a_queue_is_set_up_again_below_its_rule, test_deferred_queues_are_started_by_hand
from test_rss import test_reta_update_while_started, test_udp_ports_take_part
from test_timestamps import test_each_packet_is_stamped_in_order
from test_vlan import test_strip

INFO = ["--log-level=pmd.net.mlx5dv:info"]
NO_MLX5 = "it is not an mlx5 device"


@pytest.fixture(autouse=True)
def foreign(monkeypatch):
    for name, value in mode.foreign().items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("devargs,says", [
    ("", f"plain verbs (ibv): {NO_MLX5}"),
    (",mode=auto", f"plain verbs (ibv): {NO_MLX5}"),
    (",mode=ibv", "plain verbs (ibv): as mode= says"),
])
def test_it_has_plain_verbs(tmp_path, devargs, says):
    """Chosen or demanded; packets go through, and again after a restart."""
    sent = [frames.packet(sport=i + 1) for i in range(100)]
    wire = tmp_path / "wire"
    with Testpmd(ports=[f"wire=unix:{wire},mac={frames.PORT_MAC}"],
                 vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], eal=INFO) as pmd, Cable(wire) as peer:
        assert f"mlx5_0: {says}" in pmd.banner, pmd.banner
        pmd.cmd("set fwd io")
        for _ in range(2):
            for command in ("port stop 0", "port start 0", "start"):
                pmd.cmd(command)
            peer.send(*sent)
            assert peer.receive_all(len(sent), PATIENCE) == sent
            pmd.cmd("stop")


def test_direct_verbs_are_refused():
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,mode=dv"]) as pmd:
        assert f"mlx5_0: mode=dv, but the device has no direct verbs for us: {NO_MLX5}" in pmd.banner
        assert "No probed ethernet devices" in pmd.banner


def test_what_only_libmlx5_has_is_refused():
    """Changed packets, device memory, wherever it lies below verbs."""
    with Testpmd() as pmd:
        answer = pmd.cmd("flow create 0 ingress pattern eth / ipv4 / end actions dec_ttl / queue index 0 / end")
        assert "the device or its kernel" in answer, answer
    status, text = run_example("wire=null", frames.PORT_MAC, 1)
    assert status == 1 and "mlx5_0 has no memory of its own to give" in text, text


def names(library, *options):
    text = subprocess.run(["nm", "-D", *options, library], check=True, capture_output=True, text=True).stdout
    return {name for name in (line.split()[-1].split("@")[0] for line in text.splitlines())
            if name.startswith("mlx5dv_")}


def test_every_function_that_the_driver_has_of_libmlx5_is_watched():
    watched = names(mode.FOREIGN, "--defined-only")
    assert names(paths.PLUGIN, "--undefined-only") == watched | {"mlx5dv_is_supported"}
