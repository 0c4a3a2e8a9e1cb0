# SPDX-License-Identifier: BSD-3-Clause
"""mode=auto|dv|ibv: which one a port gets; and tests of other files once more, with plain verbs."""
import os

import pytest
from harness import frames, pcapfile
from harness.testpmd import Testpmd
from test_checksum import test_send_fills_checksums_in
from test_events import test_a_dead_device_is_removed, test_testpmd_is_told_of_the_link
from test_faults_rx_queues import (test_a_receive_queue_goes_on_after_errors,
                                   test_what_was_made_for_a_queue_and_could_not_be_used_is_destroyed)
from test_faults_tx_queues import test_a_send_queue_goes_on_after_errors, test_what_is_counted_as_sent_has_been_sent
from test_flow_outcomes import test_both_rules_of_one_match_mark_their_copy, test_every_row_of_the_guide
from test_forward import (test_frames_leave_as_they_came, test_io_over_loop_counts_match,
                          test_several_queues_circle)
from test_interrupts import test_no_order_of_events_loses_a_wake_up
from test_memory import test_frames_of_one_ports_pool_leave_by_another
from test_queues import test_a_queue_is_set_up_again_below_its_rule, test_deferred_queues_are_started_by_hand
from test_rss import test_reta_update_while_started, test_udp_ports_take_part
from test_segments import test_scattered_receive_and_chained_send
from test_stats import (test_full_ring_is_counted_as_missed, test_per_queue_counters_add_up,
                        test_pool_run_dry_is_counted_and_survived)
from test_timestamps import test_each_packet_is_stamped_in_order
from test_tso import test_segments_are_those_of_the_rfcs
from test_tx_queue import test_mbufs_are_freed_on_request
from test_vlan import test_insert, test_strip, test_strip_switched_while_started

INFO = ["--log-level=pmd.net.mlx5dv:info"]

# The tests above, which pytest finds by their names here.
AGAIN = [value for name, value in list(globals().items()) if name.startswith("test_")]


@pytest.fixture(autouse=True)
def plain_verbs(request, monkeypatch):
    if request.function in AGAIN:
        monkeypatch.setenv("MLX5DV_MODE", "ibv")


def wide():
    """As the in-tree driver leaves it for the process where cache lines have 128 bytes: the driver's own CQs have theirs.

    But for one that nobody reads, of the queue that drops, which --strict takes for a mistake.
    """
    if "--strict" in os.environ.get("SOFTHCA_OPTIONS", ""):
        pytest.skip("MLX5_CQE_SIZE is a finding of --strict")
    return {"MLX5_CQE_SIZE": "128"}


@pytest.mark.parametrize("devargs,env,says", [
    ("", dict, "direct verbs: the device has them"),
    (",mode=auto", wide, "direct verbs: the device has them"),
    (",mode=dv", wide, "direct verbs: as mode= says"),
    (",mode=ibv", dict, "plain verbs (ibv): as mode= says"),
])
def test_which_is_chosen_and_why(tmp_path, devargs, env, says):
    """In each of them packets go through."""
    sent = [frames.packet(sport=i + 1) for i in range(100)]
    capture, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    port = f"wire=pcap:{capture}:{out},mac={frames.PORT_MAC}"
    with Testpmd(ports=[port], vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], eal=INFO, env=env()) as pmd:
        assert f"mlx5_0: {says}" in pmd.banner, pmd.banner
        assert ("by verbs" in pmd.banner) == ("ibv" in says)
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda stats: stats["TX-packets"] == len(sent))
        pmd.cmd("stop")
    assert pcapfile.read(out) == sent


def test_direct_verbs_are_refused_where_there_are_none(tmp_path):
    faults = tmp_path / "faults"
    faults.write_text("verb eopnotsupp CREATE_CQ from 1\n")
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,mode=dv"], softhca_options=("--faults", faults)) as pmd:
        assert "mlx5_0: mode=dv, but the device has no direct verbs for us: it makes no completion queue" in pmd.banner
        assert "No probed ethernet devices" in pmd.banner


def test_what_verbs_cannot_say_is_not_offered():
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,mode=ibv"]) as pmd:
        receive = pmd.cmd("show port 0 rx_offload capabilities")
        assert "RSS_HASH" not in receive and "CKSUM" not in receive, receive
        for offload in ("VLAN_STRIP", "SCATTER", "TIMESTAMP", "VLAN_FILTER"):
            assert offload in receive, receive
        send = pmd.cmd("show port 0 tx_offload capabilities")
        assert "TNL_TSO" not in send and "OUTER" not in send, send
        for offload in ("VLAN_INSERT", "IPV4_CKSUM", "UDP_CKSUM", "TCP_CKSUM", "TCP_TSO", "MULTI_SEGS"):
            assert offload in send, send
