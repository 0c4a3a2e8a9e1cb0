# SPDX-License-Identifier: BSD-3-Clause
"""flow dump: the tables in their order, each rule where the device has it, one rule alone."""
import re

import pytest
from harness.patience import until
from harness.testpmd import Testpmd

RULES = [
    "ingress priority 2 pattern eth dst is 02:00:00:00:00:01 dst mask ff:ff:ff:00:00:00 / ipv6 dst is"
    " 2001:db8::1 / end actions rss types ipv6-udp ipv6 end queues 0 1 2 end / end",
    "ingress priority 1 pattern eth / ipv4 src is 10.0.0.1 / udp dst is 9 / end"
    " actions mark id 7 / queue index 1 / count / passthru / end",
    "ingress priority 2 pattern eth / vlan vid is 5 / ipv4 / tcp / end actions drop / end",
]
FIELDS = [
    ["out.dmac:02:00:00:00:00:00/ff:ff:ff:00:00:00", "out.ip_version:0x6", "out.dst_ip:2001:db8::1"],
    ["out.ip_version:0x4", "out.src_ip:10.0.0.1", "out.ip_prot:0x11", "out.udp_dport:0x9"],
    ["out.first_tci:0x5/0xfff", "out.ip_version:0x4", "out.ip_prot:0x6"],
]


@pytest.fixture(scope="module")
def pmd():
    with Testpmd(args=["--rxq=4", "--txq=4"]) as made:
        for rule in RULES:
            made.flow(rule)
        yield made


def entries(text):
    """[(table, what the entry says, its fields)] of a dump, in order."""
    found, table = [], None
    for line in text.splitlines():
        head = re.match(r"FT: (0x\w+) ", line)
        if head:
            table = int(head.group(1), 16)
        elif line.startswith("  |-- FTE: "):
            found.append((table, line, []))
        elif line.startswith("    |-- "):
            found[-1][2].append(line[8:])
    return found


def test_tables_come_in_order_and_have_every_rule(pmd):
    found = entries(pmd.cmd("flow dump 0 all"))
    tables = [table for table, _, _ in found]
    assert tables == sorted(tables)
    # Two parts of the RSS rule, one each of the others, and the port's own rules in the last table.
    assert sum("rule:0x" in line for _, line, _ in found) == 4
    assert [table for table, line, _ in found if "default rule" in line] == [31] * 3
    # No packet meets two of these rules, so which is first is nobody's matter; copies have tables of their own.
    assert sum("FT:next" in line for _, line, _ in found) == 1
    assert all((table % 2 == 0) == ("FT:next" in line) for table, line, _ in found)


@pytest.mark.parametrize("number", range(len(RULES)))
def test_one_rule(pmd, number):
    found = entries(pmd.cmd(f"flow dump 0 rule {number}"))
    assert found
    assert found[-1][2] == FIELDS[number]
    assert len({re.search(r"rule:(0x\w+)", line).group(1) for _, line, _ in found}) == 1


def test_destinations(pmd):
    lines = [[line for _, line, _ in entries(pmd.cmd(f"flow dump 0 rule {number}"))]
             for number in range(len(RULES))]
    assert "(FWD) to (TIR: queues 0 1 2 by ipv6-udp)" in lines[0][0]
    assert "(FWD) to (TIR: queues 0 1 2 by ipv6)" in lines[0][1]
    assert "(FWD) to (TIR: queue 1, FT:next) tag:0x8" in lines[1][0]
    assert "(DROP) to ()" in lines[2][0]


def test_many_destinations(pmd):
    """As many as testpmd takes, and a copy to another one: none is left out."""
    queues = " ".join(str(number % 3) for number in range(128))
    rule = pmd.flow("ingress priority 4 pattern eth / ipv4 / end"
                    f" actions rss types ipv4 end queues {queues} end / queue index 3 / end")
    [(_, line, _)] = entries(pmd.cmd(f"flow dump 0 rule {rule}"))
    assert f"(FWD) to (TIR: queues {queues} by ipv4, TIR: queue 3)" in line


def test_counters_are_those_of_a_query(pmd):
    """A loop brings back what is sent: testpmd's own packets, UDP from port 9 to port 9."""
    rule = pmd.flow("ingress priority 3 pattern eth / ipv4 / udp dst is 9 / end actions queue index 2 /"
                    " count / end")
    pmd.cmd("set fwd io")
    pmd.cmd("start tx_first 1")
    pmd.wait_stats(lambda stats: stats["RX-packets"] >= 32)
    pmd.cmd("stop")
    # All come back, and nothing was sent before the rule was there.
    sent = pmd.stats()["TX-packets"]
    hits, size = until(lambda: (lambda count: count if count[0] == sent else None)(pmd.query_count(rule)))
    assert hits >= 32
    assert f" packets:{hits} bytes:{size}" in pmd.cmd(f"flow dump 0 rule {rule}")
