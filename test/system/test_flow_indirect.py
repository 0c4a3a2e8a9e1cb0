# SPDX-License-Identifier: BSD-3-Clause
"""Indirect actions as typed at testpmd's prompt: one counter, one RSS of many rules, and their lives."""
import re
import threading

import pytest
from harness.rig import Rig, probe

DNS = "pattern eth / ipv4 / udp dst is 53 / end"
NTP = "pattern eth / ipv4 / udp dst is 123 / end"
NB_FRAMES = 400  # fewer than a queue of 512 has room for while a part of it is not refilled


@pytest.fixture
def rig(tmp_path):
    with Rig(tmp_path) as made:
        made.add_sentinel()
        yield made


def create(rig, number, action):
    answer = rig.pmd.cmd(
        f"flow indirect_action 0 create action_id {number} ingress action {action} / end")
    assert f"Indirect action #{number} created" in answer, answer


def destroy(rig, number):
    return rig.pmd.cmd(f"flow indirect_action 0 destroy action_id {number}")


def count(rig, number):
    """(hits, bytes)"""
    answer = rig.pmd.cmd(f"flow indirect_action 0 query {number}")
    match = re.search(r"hits: (\d+)\s+bytes: (\d+)", answer)
    assert match, answer
    return int(match.group(1)), int(match.group(2))


def test_two_rules_one_count(rig):
    """Both rules' packets are in the sum, and it outlives rules, a flush and a restart."""
    create(rig, 5, "count")
    rule = rig.pmd.flow(f"ingress {DNS} actions indirect 5 / queue index 1 / end")
    rig.pmd.flow(f"ingress {NTP} actions queue index 2 / indirect 5 / passthru / end")
    got = rig.deliver(probe(1, dport=53), probe(2, dport=123), probe(3, dport=53), probe(4, dport=54))
    assert rig.numbers(got, 1) == [1, 3] and rig.numbers(got, 2) == [2]
    assert count(rig, 5) == (3, 180)
    assert "in use by 2 rules; destroy those first" in destroy(rig, 5)
    assert "destroyed" in rig.pmd.cmd(f"flow destroy 0 rule {rule}")
    assert "in use by 1 rules; destroy those first" in destroy(rig, 5)
    rig.deliver(probe(5, dport=53), probe(6, dport=123))
    assert count(rig, 5) == (4, 240)
    # testpmd flushes the rules of a port it stops, and keeps its indirect actions.
    rig.pmd.cmd("stop")
    rig.pmd.cmd("port stop 0")
    assert count(rig, 5) == (4, 240)
    rig.pmd.cmd("port start 0")
    rig.pmd.show_received()
    rig.add_sentinel()
    rig.pmd.flow(f"ingress {DNS} actions indirect 5 / drop / end")
    assert rig.deliver(probe(7, dport=53)) == []
    assert count(rig, 5) == (5, 300)
    rig.pmd.cmd("flow flush 0")
    assert "Indirect action #5 destroyed" in destroy(rig, 5)


def test_rules_to_one_rss(rig):
    """Each rule hashes over the queues that were given once."""
    create(rig, 1, "rss types ipv4-udp end queues 1 2 end")
    rig.pmd.flow(f"ingress {DNS} actions indirect 1 / end")
    rig.pmd.flow(f"ingress {NTP} actions indirect 1 / passthru / end")
    frames = [probe(i, sport=1000 + i, dport=port) for i in range(16) for port in (53, 123)]
    got = rig.deliver(*frames)
    assert sorted(rig.numbers(got)) == sorted(2 * list(range(16)))
    assert {seen["queue"] for seen in got} == {1, 2}
    rig.pmd.cmd("flow flush 0")
    assert "Indirect action #1 destroyed" in destroy(rig, 1)


def update(rig, number, action):
    answer = rig.pmd.cmd(f"flow indirect_action 0 update {number} action {action} / end")
    assert f"Indirect action #{number} updated" in answer, answer


def test_update_moves_all_rules(rig):
    """Other queues, other types, another key: of every rule that names the RSS, and of no other."""
    create(rig, 1, "rss types ipv4-udp end queues 1 end")
    rig.pmd.flow(f"ingress {DNS} actions indirect 1 / end")
    rig.pmd.flow(f"ingress {NTP} actions indirect 1 / passthru / end")
    rig.pmd.flow("ingress pattern eth / ipv4 / udp dst is 80 / end actions queue index 1 / end")
    sent = [probe(i, sport=1000 + i, dport=port) for i in range(16) for port in (53, 123)]
    sent.append(probe(99, dport=80))
    for action, queues in (("rss types ipv4-udp end queues 2 0 end", {0, 2}),
                           ("rss types ipv4 end queues 0 end", {0}),
                           ("rss types ipv4-udp end queues 1 2 end", {1, 2})):
        update(rig, 1, action)
        got = rig.deliver(*sent)
        assert rig.numbers(got, 1).count(99) == 1
        rest = [seen for seen in got if seen["src"][-2:] != f"{99:02x}"]
        assert sorted(rig.numbers(rest)) == sorted(2 * list(range(16)))
        assert {seen["queue"] for seen in rest} == queues
    refused = rig.pmd.cmd("flow indirect_action 0 update 1 action rss queues 9 end / end")
    assert "Rx queue 9 does not exist" in refused
    refused = rig.pmd.cmd("flow indirect_action 0 update 1 action mark id 1 / end")
    assert "indirect RSS: it cannot become MARK" in refused
    assert {seen["queue"] for seen in rig.deliver(*sent[:-1])} == {1, 2}


def update_under_traffic(rig, nb, action):
    """Send `nb` frames while the indirect action becomes action(queue) again and again, and one more for queue 3. A queue holds
    them all: none is lost, whoever gets the CPU.

    The queue that the last update leads to is known, so that frame is the last to come. Each has been received once.
    """
    before, pause = rig.pmd.stats()["RX-packets"], threading.Event()

    def send():
        for i in range(nb):
            rig.peer.send(probe(i & 255))
            pause.wait(0.0025)

    sender = threading.Thread(target=send)
    sender.start()
    rounds = 0
    while sender.is_alive() or rounds < 3:
        rounds += 1
        update(rig, 1, action(rounds % 3))
    sender.join()
    rig.pmd.wait_stats(lambda stats: stats["RX-packets"] == before + nb)
    update(rig, 1, action(3))
    rig.peer.send(probe(0))
    rig.pmd.wait_stats(lambda stats: rig.pmd.xstats()["rx_q3_packets"] == 1)
    assert rig.pmd.stats()["RX-packets"] == before + nb + 1
    queues = rig.pmd.xstats()
    assert sum(queues[f"rx_q{i}_packets"] != 0 for i in range(3)) > 1


def test_update_under_traffic(tmp_path):
    """While frames keep coming an RSS goes from queue to queue: each is received once, Linux gets none."""
    with Rig(tmp_path) as rig:
        rig.pmd.cmd("set verbose 0")
        create(rig, 1, "rss types ipv4-udp end queues 0 end")
        rig.pmd.flow(f"ingress {DNS} actions indirect 1 / end")
        update_under_traffic(rig, NB_FRAMES, "rss types ipv4-udp end queues {} end".format)
    assert rig.kernel == []


def test_update_of_copies_under_traffic(tmp_path):
    """The same of a copying rule: each frame is copied once, and Linux gets it as well."""
    with Rig(tmp_path) as rig:
        rig.pmd.cmd("set verbose 0")
        create(rig, 1, "queue index 0")
        rule = rig.pmd.flow(f"ingress {DNS} actions indirect 1 / passthru / count / end")
        update_under_traffic(rig, NB_FRAMES, "queue index {}".format)
        assert rig.pmd.query_count(rule)[0] == NB_FRAMES + 1
    assert len(rig.kernel) == NB_FRAMES + 1


def test_other_kinds(rig):
    """QUEUE, MARK, FLAG and DROP do behind a handle what they do in the open."""
    for number, action in enumerate(("queue index 2", "mark id 7", "flag", "drop")):
        create(rig, number, action)
    rig.pmd.flow(f"ingress {DNS} actions indirect 1 / indirect 0 / end")
    rig.pmd.flow(f"ingress {NTP} actions indirect 3 / end")
    got = rig.deliver(probe(1, dport=53), probe(2, dport=123), probe(3, dport=54))
    assert [(seen["queue"], seen["mark"]) for seen in got] == [(2, 7)]
    update(rig, 1, "mark id 9")
    update(rig, 0, "queue index 1")
    got = rig.deliver(probe(1, dport=53), probe(2, dport=123), probe(3, dport=54))
    assert [(seen["queue"], seen["mark"]) for seen in got] == [(1, 9)]
    answer = rig.pmd.cmd("flow indirect_action 0 update 3 action drop / end")
    assert "indirect DROP: it has nothing to update; RSS, QUEUE and MARK have" in answer
    assert "MARK with FLAG: MARK flags the packet as well" in rig.pmd.refused_flow(
        f"ingress {DNS} actions indirect 1 / indirect 2 / indirect 0 / end")


def test_refused(rig):
    def refused(words, number=9):
        answer = rig.pmd.cmd(
            f"flow indirect_action 0 create action_id {number} {words} / end")
        assert "Caught PMD error" in answer, answer
        return answer

    assert "indirect PASSTHRU" in refused("ingress action passthru")
    assert "egress: " in refused("egress action count")
    assert "Rx queue 9 does not exist" in refused("ingress action queue index 9")
    assert "RSS types" in refused("ingress action rss types ipv4-sctp end queues 0 1 end")
    create(rig, 9, "count")
    # testpmd says itself that it has no such action.
    assert "indirect 8" not in rig.pmd.cmd("flow list 0")
    assert "COUNT with COUNT" in rig.pmd.refused_flow(
        f"ingress {DNS} actions indirect 9 / count / queue index 1 / end")


def test_by_flow_queues(tmp_path):
    """Made, named by a template, updated, queried and given back in a flow queue."""
    with Rig(tmp_path, setup=(
            "port stop 0",
            "flow configure 0 queues_number 1 queues_size 16",
            "port start 0",
            "flow queue 0 indirect_action 0 create postpone no action_id 5 ingress action count / end",
            "flow queue 0 indirect_action 0 create postpone yes action_id 6 ingress"
            " action queue index 1 / end",
            "flow pattern_template 0 create ingress pattern_template_id 1"
            " template eth / ipv4 / udp dst mask 0xffff / end",
            "flow actions_template 0 create ingress actions_template_id 1"
            " template indirect 5 / indirect 6 / end mask indirect 5 / indirect 6 / end",
            "flow template_table 0 create table_id 1 ingress rules_number 9"
            " pattern_template 1 actions_template 1")) as rig:
        def pulled():
            answer = rig.pmd.cmd("flow push 0 queue 0") + rig.pmd.cmd("flow pull 0 queue 0")
            match = re.search(r"(\d+) failed, (\d+) succeeded", answer)
            assert match, answer
            return (int(match.group(1)), int(match.group(2))), answer

        rig.add_sentinel()
        for port in (53, 123):
            assert "creation enqueued" in rig.pmd.cmd(
                "flow queue 0 create 0 template_table 1 pattern_template 0 actions_template 0"
                f" postpone yes pattern eth / ipv4 / udp dst spec {port} / end"
                " actions indirect 5 / indirect 6 / end")
        assert pulled()[0] == (0, 4)
        sent = [probe(1, dport=53), probe(2, dport=123), probe(3, dport=54)]
        assert rig.numbers(rig.deliver(*sent), 1) == [1, 2]
        rig.pmd.cmd("flow queue 0 indirect_action 0 update 6 postpone yes action queue index 2 / end")
        assert rig.numbers(rig.deliver(*sent), 1) == [1, 2]
        assert pulled()[0] == (0, 1)
        assert rig.numbers(rig.deliver(*sent), 2) == [1, 2]
        rig.pmd.cmd("flow queue 0 indirect_action 0 query 5 postpone yes")
        result, answer = pulled()
        assert result == (0, 1) and re.search(r"hits: 6\s+bytes: 360", answer), answer
        for rule in (1, 2):  # 0 is the sentinel's
            rig.pmd.cmd(f"flow queue 0 destroy 0 postpone yes rule {rule}")
        rig.pmd.cmd("flow queue 0 indirect_action 0 destroy postpone yes action_id 6")
        assert pulled()[0] == (0, 3)
        assert rig.deliver(*sent) == []
