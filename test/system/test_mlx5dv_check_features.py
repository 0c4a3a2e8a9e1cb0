# SPDX-License-Identifier: BSD-3-Clause
"""Each feature that the driver's table claims has rows of mlx5dv-check that look at it, or a reason why none can."""
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
}
# A feature that no row can look at, and why.
NONE_CAN = {
    "Removal event": "no call of ethdev and no verb takes a card away",
    "Multiprocess aware": "the check is one process",
    "SR-IOV": "the host makes functions; a check of one says what its host gives it",
    "Linux": "where the check runs",
    "x86-64": "where the check runs",
    "Usage doc": "no property of a device",
    "Design doc": "no property of a device",
}


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


def test_each_feature_has_a_row_or_a_reason():
    assert unaccounted(claimed("Features"), ROWS, NONE_CAN) == []


def test_no_row_and_no_reason_is_of_a_feature_that_is_not_claimed():
    assert set(ROWS) | set(NONE_CAN) == claimed("Features") and not set(ROWS) & set(NONE_CAN)


def test_the_rows_are_there(rows):
    assert not set().union(*ROWS.values()) - rows


def test_a_new_feature_is_noticed():
    assert unaccounted(claimed("Features") | {"LRO"}, ROWS, NONE_CAN) == ["LRO"]
