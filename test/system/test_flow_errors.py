# SPDX-License-Identifier: BSD-3-Clause
"""Rules that cannot be: refused with a message that names the culprit, and nothing installed."""
import re

import pytest
from harness.testpmd import Testpmd

UDP = "ingress pattern eth / ipv4 / udp / end"
QUEUE = "actions queue index 0 / end"

REFUSED = [
    # rule, words the message must have (any case)
    (f"{UDP} actions queue index 99 / end", ["queue", "99"]),
    (f"{UDP} actions passthru / end", ["passthru"]),
    (f"{UDP} actions drop / passthru / end", ["passthru", "drop"]),
    (f"{UDP} actions drop / queue index 0 / end", ["drop", "queue"]),
    (f"{UDP} actions drop / mark id 3 / end", ["mark"]),
    (f"{UDP} actions count / end", ["action"]),
    (f"{UDP} actions end", ["action"]),
    (f"{UDP} actions mark id 1 / mark id 2 / queue index 0 / end", ["mark"]),
    (f"{UDP} actions mark id 1 / flag / queue index 0 / end", ["flag", "mark"]),
    (f"{UDP} actions mark id 0xffffff / queue index 0 / end", ["mark"]),
    (f"{UDP} actions count / count / queue index 0 / end", ["count"]),
    (f"{UDP} actions mac_swap / queue index 0 / end", ["mac_swap"]),
    (f"{UDP} actions of_pop_vlan / queue index 0 / end", ["of_pop_vlan"]),
    (f"{UDP} actions rss queues 0 77 end / end", ["rss", "77"]),
    (f"{UDP} actions rss func simple_xor queues 0 1 end / end", ["rss"]),
    (f"ingress pattern eth / ipv4 / sctp / end {QUEUE}", ["sctp"]),
    (f"ingress pattern eth / ipv4 / udp / gtp / end {QUEUE}", ["gtp"]),
    (f"ingress pattern eth / arp_eth_ipv4 / end {QUEUE}", ["arp_eth_ipv4"]),
    (f"ingress pattern ipv4 / eth / end {QUEUE}", ["eth"]),
    (f"ingress pattern eth / udp / ipv4 / end {QUEUE}", ["ipv4"]),
    (f"ingress pattern eth / ipv4 / ipv6 / end {QUEUE}", ["ipv6"]),
    (f"ingress pattern eth / tcp / end {QUEUE}", ["tcp", "ipv4"]),
    (f"ingress pattern eth / ipv4 / tcp / udp / end {QUEUE}", ["udp", "tcp"]),
    (f"ingress pattern eth / vlan vid is 5 / vlan vid is 6 / end {QUEUE}", ["vlan"]),
    (f"ingress pattern eth / ipv4 src spec 10.0.0.1 src last 10.0.0.9 src mask 255.255.255.255 / end"
     f" {QUEUE}", ["ipv4", "last"]),
    (f"ingress pattern eth dst mask ff:ff:ff:ff:ff:ff / end {QUEUE}", ["eth", "spec"]),
    (f"ingress pattern eth / ipv4 ttl is 5 / end {QUEUE}", ["ipv4", "t"]),
    (f"ingress pattern eth / ipv4 / tcp flags is 2 / end {QUEUE}", ["tcp", "flags"]),
    (f"ingress group 1 pattern eth / end {QUEUE}", ["group"]),
    (f"ingress priority 4294967295 pattern eth / end {QUEUE}", ["priority"]),
    (f"egress pattern eth / end {QUEUE}", ["egress"]),
    (f"ingress transfer pattern eth / end {QUEUE}", ["transfer"]),
    (f"pattern eth / end {QUEUE}", ["ingress"]),
]


@pytest.fixture(scope="module")
def pmd():
    with Testpmd(args=["--rxq=2", "--txq=2"]) as made:
        yield made


@pytest.mark.parametrize("verb", ["validate", "create"])
@pytest.mark.parametrize("rule,words", REFUSED, ids=[row[0].replace("ingress pattern ", "")
                                                     for row in REFUSED])
def test_refused_by_name(pmd, rule, words, verb):
    answer = pmd.refused_flow(rule, verb=verb)
    message = answer.split("Caught PMD error type", 1)[1].lower()
    for word in words:
        assert word in message, answer
    assert "unspecified" not in message, answer


# What rte_flow has and verbs has nothing for: command, what testpmd must show of the refusal.
ABSENT = [
    ("flow aged 0", "aged flows: verbs rules do not age; use COUNT"),
    ("flow tunnel create 0 type vxlan", "flow tunnel #1"),
    ("flow create 0 ingress tunnel_set 1 pattern eth / end actions queue index 0 / end",
     "tunnel offload: the driver's rules do not remove headers"),
    ("flow create 0 ingress tunnel_match 1 pattern eth / end actions queue index 0 / end",
     "tunnel offload: no rule has removed a tunnel before"),
    # ethdev takes the port for its own proxy; then the rule is refused.
    ("flow create 0 transfer pattern eth / end actions drop / end", "transfer: the driver does not steer between ports"),
]


def test_operations_that_verbs_has_nothing_for(pmd):
    for command, message in ABSENT:
        assert message in pmd.cmd(command), command


def test_nothing_is_installed_by_refusals(pmd):
    for rule, _ in REFUSED:
        pmd.refused_flow(rule, verb="create")
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
    """Whatever the device says to the second one, it is said, and the first one goes on."""
    rule = f"{UDP} actions queue index 1 / end"
    first = pmd.flow(rule)
    answer = pmd.cmd(f"flow create 0 {rule}")
    assert "created" in answer or "Caught PMD error" in answer, answer
    pmd.cmd("flow flush 0")
    assert "=>" not in pmd.cmd("flow list 0")
    del first


def test_isolate_on_a_started_port_is_refused_or_works(pmd):
    answer = pmd.cmd("flow isolate 0 1")
    assert "Caught PMD error" in answer or "isolated" in answer.lower() or answer.strip() == "" \
        or "Ingress traffic on port 0" in answer, answer
    if "Caught" in answer:
        assert "stop" in answer.lower(), answer
    else:
        pmd.cmd("flow isolate 0 0")
