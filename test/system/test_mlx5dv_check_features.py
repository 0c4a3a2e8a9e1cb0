# SPDX-License-Identifier: BSD-3-Clause
"""Each feature, item and action that the driver's table claims has rows of mlx5dv-check that look at it, or a reason why
none can."""
import configparser
import re
import subprocess

import pytest

from harness import paths

CHECK = paths.BUILD / "app/mlx5dv-check"
TABLE = paths.ROOT / "doc/guides/nics/features/mlx5dv.ini"

# A feature: the rows that fail if the port does not have what it claims.
ROWS = {
    "Speed capabilities": {"speed"},
    "Link status": {"link"},
    "Link status event": {"link events"},
    "Fast mbuf free": {"fast free"},
    "Queue start/stop": {"queues stop and start", "deferred start"},
    "Runtime Rx queue setup": {"run-time Rx queue setup"},
    "Runtime Tx queue setup": {"run-time Tx queue setup"},
    "Burst mode info": {"burst modes"},
    "Power mgmt address monitor": {"monitor address"},
    "MTU update": {"MTU"},
    "Scattered Rx": {"scattered Rx"},
    "Buffer split on Rx": {"buffer split"},
    "TSO": {"TSO", "VXLAN TSO"},
    "Promiscuous mode": {"promiscuous"},
    "Allmulticast mode": {"all multicast"},
    "Unicast MAC filter": {"addresses"},
    "Multicast MAC filter": {"multicast list"},
    "RSS hash": {"RSS"},
    "RSS key update": {"RSS key"},
    "RSS reta update": {"redirection table"},
    "Inner RSS": {"VXLAN inner RSS"},
    "VLAN filter": {"VLAN filter"},
    "Rate limitation": {"rate limit"},
    "Flow control": {"pauses"},
    "CRC offload": {"receive 60 bytes", "receive 1514 bytes"},  # a length with a CRC is not the frame's
    "VLAN offload": {"VLAN strip", "VLAN insert"},
    "L3 checksum offload": {"Rx checksums", "Tx checksums"},
    "L4 checksum offload": {"Rx checksums", "Tx checksums"},
    "Inner L3 checksum": {"VXLAN Rx checksums", "VXLAN Tx checksums"},
    "Inner L4 checksum": {"VXLAN Rx checksums", "VXLAN Tx checksums"},
    "Packet type parsing": {"packet types", "VXLAN packet types"},
    "Timestamp offload": {"timestamps"},
    "Rx descriptor status": {"descriptor status"},
    "Tx descriptor status": {"Tx descriptor status"},
    "Rx interrupt": {"Rx interrupt"},
    "Free Tx mbuf on demand": {"sent mbufs"},
    "Basic stats": {"statistics"},
    "Extended stats": {"extended statistics"},
    "Stats per queue": {"extended statistics"},
    "FW version": {"firmware version"},
    "Module EEPROM dump": {"module EEPROM"},
    "Multiprocess aware": {"secondary process"},
}
# A feature that no row can look at, and why.
NONE_CAN = {
    "Removal event": "no call of ethdev and no verb takes a card away",
    "SR-IOV": "the host makes functions; a check of one says what its host gives it",
    "Linux": "where the check runs",
    "x86-64": "where the check runs",
    "Usage doc": "no property of a device",
    "Design doc": "no property of a device",
}

# Rows of items: a rule has one frame, and not another that differs in this item.
ITEMS = {item: {f"item: {item}"} for item in (
    "any", "esp", "eth", "gre", "gre_key", "gre_option", "ipv4", "ipv6", "mpls", "nvgre", "tcp", "udp", "vlan", "vxlan")}
# Those of actions: one is seen to act.
ACTIONS = {
    "count": {"flow: COUNT"},
    "drop": {"flow: DROP"},
    "flag": {"flow: FLAG"},
    "mark": {"flow: MARK"},
    "passthru": {"flow: PASSTHRU, then a rule", "flow: PASSTHRU, then the port"},
    "queue": {"flow: QUEUE"},
    "rss": {"VXLAN inner RSS"},
    "sample": {"flow: SAMPLE"},
    **{action: {f"action: {action}"} for action in (
        "dec_tcp_ack", "dec_tcp_seq", "dec_ttl", "inc_tcp_ack", "inc_tcp_seq", "modify_field", "nvgre_decap", "nvgre_encap",
        "of_set_vlan_vid", "raw_decap", "raw_encap", "set_ipv4_dscp", "set_ipv4_dst", "set_ipv4_src", "set_ipv6_dscp",
        "set_ipv6_dst", "set_ipv6_src", "set_mac_dst", "set_mac_src", "set_tp_dst", "set_tp_src", "set_ttl", "vxlan_decap",
        "vxlan_encap")},
}
SECTIONS = [("Features", ROWS, NONE_CAN), ("rte_flow items", ITEMS, {}), ("rte_flow actions", ACTIONS, {})]


def claimed(section):
    table = configparser.ConfigParser(delimiters=("=",))
    table.optionxform = str
    table.read(TABLE)
    return {feature.strip() for feature in table[section]}


@pytest.fixture(name="rows", scope="module")
def fixture_rows():
    listed = subprocess.run([CHECK, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {re.split(r"  +", line)[0] for line in listed.splitlines()}


def unaccounted(features, rows_of, reasons):
    """Features that are claimed and neither looked at nor excused."""
    return sorted(features - set(rows_of) - set(reasons))


@pytest.mark.parametrize("section, rows_of, reasons", SECTIONS)
def test_each_claim_has_a_row_or_a_reason(section, rows_of, reasons):
    assert unaccounted(claimed(section), rows_of, reasons) == []


@pytest.mark.parametrize("section, rows_of, reasons", SECTIONS)
def test_no_row_and_no_reason_is_of_what_is_not_claimed(section, rows_of, reasons):
    assert set(rows_of) | set(reasons) == claimed(section) and not set(rows_of) & set(reasons)


@pytest.mark.parametrize("section, rows_of, reasons", SECTIONS)
def test_the_rows_are_there(rows, section, rows_of, reasons):
    assert not set().union(*rows_of.values()) - rows, section


def test_no_row_of_an_item_or_an_action_is_of_another(rows):
    assert {row for row in rows if row.startswith("item: ")} == set().union(*ITEMS.values())
    assert {row for row in rows if row.startswith("action: ")} <= set().union(*ACTIONS.values())


@pytest.mark.parametrize("section, rows_of, reasons, more", [(*row, more) for row, more in zip(SECTIONS, ("LRO", "geneve", "age"))])
def test_a_new_claim_is_noticed(section, rows_of, reasons, more):
    assert unaccounted(claimed(section) | {more}, rows_of, reasons) == [more]
