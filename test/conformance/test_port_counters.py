# SPDX-License-Identifier: BSD-3-Clause
"""counters/ of ports in sysfs, which monitoring programs read: what programs of RoCE send and receive, and nothing else."""
import contextlib
import re

import pytest
from harness import card as cards
from harness.both import MACS, run_both, two_ends
from harness.patience import until

ITERS = 300
BYTES = 1024
# A datagram of RoCE v2 between GIDs of MACs: Ethernet, IPv6, UDP, BTH, DETH, and the ICRC.
FRAME = 14 + 40 + 8 + 12 + 8 + BYTES + 4
# As Linux names them (drivers/infiniband/core/sysfs.c, pma_attrs_ext).
ERRORS = {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_rcv_remote_physical_errors",
          "port_rcv_switch_relay_errors", "port_xmit_discards", "port_xmit_constraint_errors", "port_rcv_constraint_errors",
          "local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped", "port_xmit_wait"}


def counters_of(end):
    card, device = end
    text = cards.run_on(card, "sh", "-c", f"cd $SYSFS_PATH/class/infiniband/{device}/ports/1/counters && grep . *").stdout
    return {name: int(count) for name, count in re.findall(r"^(\w+):(\d+)$", text, re.M)}


def traffic(sent, received, size):
    """Counters of a port that sent and received so many frames of a size, none to a group."""
    return {**dict.fromkeys(ERRORS, 0), "multicast_xmit_packets": 0, "multicast_rcv_packets": 0,
            "port_xmit_packets": sent, "unicast_xmit_packets": sent, "port_xmit_data": sent * size // 4,
            "port_rcv_packets": received, "unicast_rcv_packets": received, "port_rcv_data": received * size // 4}


def exchange_datagrams(ends):
    for who, status, text in run_both(["ibv_ud_pingpong", "-g", "1", "-s", str(BYTES), "-n", str(ITERS)], ends):
        assert status == 0, (who, text)


@contextlib.contextmanager
def functions_of_a_card(_kind, _tmp_path):
    ports = [f"wire=null,vf=on,mac={mac}" for mac in MACS]
    with cards.up(*ports) as card:
        yield [(card, "mlx5_0"), (card, "mlx5_1")]


@pytest.mark.parametrize("kind, open_ends", [("pair", two_ends), ("unix", two_ends), ("functions", functions_of_a_card)],
                         ids=["pair", "unix", "functions"])
def test_datagrams(kind, open_ends, tmp_path):
    with open_ends(kind, tmp_path) as ends:
        assert all(counters_of(end) == traffic(0, 0, 0) for end in ends)
        exchange_datagrams(ends)
        for end in ends:
            until(lambda end=end: counters_of(end) == traffic(ITERS, ITERS, FRAME))


def test_one_port_both_ways(tmp_path):
    """What a port sends to itself goes through the card's switch and comes back."""
    with two_ends("one card", tmp_path) as ends:
        exchange_datagrams(ends)
        until(lambda: counters_of(ends[0]) == traffic(2 * ITERS, 2 * ITERS, FRAME))


def test_messages(tmp_path):
    """Messages of several packets, and what acknowledges them: one end receives what the other one has sent."""
    with two_ends("pair", tmp_path) as ends:
        for who, status, text in run_both(["ib_send_bw", "-x", "1", "-F", "-n", "100", "-s", "65536"], ends):
            assert status == 0, (who, text)

        def all_counted():
            server, client = (counters_of(end) for end in ends)
            assert all(port[name] == 0 for port in (server, client) for name in ERRORS)
            return (client["port_xmit_data"] > 100 * 65536 / 4 and server["port_xmit_packets"] > 0 and
                    all(one[f"port_xmit_{what}"] == other[f"port_rcv_{what}"]
                        for what in ("data", "packets") for one, other in ((client, server), (server, client))))

        until(all_counted)


def test_raw_ethernet_is_not_counted(tmp_path):
    """Frames of raw queue pairs are counted apart from RoCE's (received_eth_unicast): they are the netdev's statistics."""
    with two_ends("pair", tmp_path) as ends:
        cards.run_on(ends[0][0], "raw_ethernet_bw", "-d", "mlx5_0", "-F", "--client", "-s", "256", "-n", "100",
                     "--local_mac", MACS[0], "--remote_mac", MACS[1])
        exchange_datagrams(ends)
        for end in ends:
            until(lambda end=end: counters_of(end) == traffic(ITERS, ITERS, FRAME))
