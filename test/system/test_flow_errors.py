# SPDX-License-Identifier: BSD-3-Clause
"""Rules that cannot be: refused with a message that names the culprit, and nothing installed."""
import re

import pytest
from harness.testpmd import Testpmd
from test_flow_messages import ROWS, said

UDP = "ingress pattern eth / ipv4 / udp / end"
QUEUE = "actions queue index 0 / end"

REFUSED = [
    f"{UDP} actions queue index 99 / end",
    f"{UDP} actions passthru / end",
    f"{UDP} actions drop / passthru / end",
    f"{UDP} actions drop / queue index 0 / end",
    f"{UDP} actions drop / mark id 3 / end",
    f"{UDP} actions count / end",
    f"{UDP} actions end",
    f"{UDP} actions mark id 1 / mark id 2 / queue index 0 / end",
    f"{UDP} actions mark id 1 / flag / queue index 0 / end",
    f"{UDP} actions mark id 0xffffff / queue index 0 / end",
    f"{UDP} actions count / count / queue index 0 / end",
    f"{UDP} actions mac_swap / queue index 0 / end",
    f"{UDP} actions of_pop_vlan / queue index 0 / end",
    f"{UDP} actions rss queues 0 77 end / end",
    f"{UDP} actions rss func simple_xor queues 0 1 end / end",
    f"ingress pattern eth / ipv4 / sctp / end {QUEUE}",
    f"ingress pattern eth / ipv4 / udp / gtp / end {QUEUE}",
    f"ingress pattern eth / arp_eth_ipv4 / end {QUEUE}",
    f"ingress pattern ipv4 / eth / end {QUEUE}",
    f"ingress pattern eth / udp / ipv4 / end {QUEUE}",
    f"ingress pattern eth / ipv4 / ipv6 / end {QUEUE}",
    f"ingress pattern eth / tcp / end {QUEUE}",
    f"ingress pattern eth / ipv4 / tcp / udp / end {QUEUE}",
    f"ingress pattern eth / vlan vid is 5 / vlan vid is 6 / end {QUEUE}",
    f"ingress pattern eth / ipv4 src spec 10.0.0.1 src last 10.0.0.9 src mask 255.255.255.255 / end"
    f" {QUEUE}",
    f"ingress pattern eth dst mask ff:ff:ff:ff:ff:ff / end {QUEUE}",
    f"ingress pattern eth / ipv4 ttl is 5 / end {QUEUE}",
    f"ingress pattern eth / ipv4 / tcp flags is 2 / end {QUEUE}",
    f"ingress group 1 pattern eth / end {QUEUE}",
    f"ingress priority 4294967295 pattern eth / end {QUEUE}",
    f"egress pattern eth / end {QUEUE}",
    f"pattern eth / end {QUEUE}",
]


@pytest.fixture(scope="module")
def pmd():
    with Testpmd(args=["--rxq=2", "--txq=2"]) as made:
        yield made


# What rte_flow has and verbs has nothing for: command, what testpmd must show of the refusal.
ABSENT = [
    ("flow aged 0", "aged flows: verbs rules do not age; use COUNT"),
    ("flow tunnel create 0 type vxlan", "flow tunnel #1"),
    ("flow create 0 ingress tunnel_set 1 pattern eth / end actions queue index 0 / end",
     "tunnel offload: the driver gives no actions for it; take a tunnel off by VXLAN_DECAP"),
    ("flow create 0 ingress tunnel_match 1 pattern eth / end actions queue index 0 / end",
     "tunnel offload: the driver gives no items for it; match a tunnel by its own items"),
    # ethdev takes the port for its own proxy; then the rule is refused.
    ("flow create 0 transfer pattern eth / end actions drop / end", "transfer: the driver does not steer between ports"),
]


def test_operations_that_verbs_has_nothing_for(pmd):
    for command, message in ABSENT:
        assert message in pmd.cmd(command), command


def test_nothing_is_installed_by_refusals(pmd):
    """Whatever form a mistake has, the answer is one of the guide's messages; test_flow_messages.py has each of them."""
    for rule in REFUSED:
        answer = pmd.refused_flow(rule, verb="create")
        assert any(said(message).search(answer) for message, _ in ROWS), answer
    assert not re.search(r"=>", pmd.cmd("flow list 0"))
    rule = pmd.flow(f"{UDP} actions queue index 1 / count / end")
    assert pmd.query_count(rule) == (0, 0)
    pmd.cmd(f"flow destroy 0 rule {rule}")


def test_validate_accepts_what_create_does_and_installs_nothing(pmd):
    rule = f"{UDP} actions queue index 1 / passthru / count / end"
    for _ in range(3):
        assert "Flow rule validated" in pmd.cmd(f"flow validate 0 {rule}")
    assert "=>" not in pmd.cmd("flow list 0")
    made = pmd.flow(rule)
    pmd.cmd(f"flow destroy 0 rule {made}")


def test_same_rule_twice(pmd):
    """Both are there, and the second one stays when the first one goes."""
    first, second = (pmd.flow(f"{UDP} actions queue index 1 / end") for _ in range(2))
    assert "destroyed" in pmd.cmd(f"flow destroy 0 rule {first}")
    listed = re.findall(r"^(\d+)\t.*=>", pmd.cmd("flow list 0"), re.M)
    assert listed == [str(second)]
    pmd.cmd("flow flush 0")
    assert "=>" not in pmd.cmd("flow list 0")


def test_isolate_on_a_started_port(pmd):
    assert "is now restricted to the defined flow rules" in pmd.cmd("flow isolate 0 1")
    assert "is not restricted anymore" in pmd.cmd("flow isolate 0 0")
