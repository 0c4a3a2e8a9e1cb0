# SPDX-License-Identifier: BSD-3-Clause
"""Queues one at a time: stopped, started, deferred, set up again, with rules that point at them."""
import re

from harness.testpmd import Testpmd

QUEUES = ["--rxq=2", "--txq=2"]
RULE = "ingress pattern eth / ipv4 / udp / end actions queue index 1 / count / end"


def state(pmd, side, queue):
    text = pmd.cmd(f"show {side}q info 0 {queue}")
    return re.search(r"queue state: (\w+)", text)[1], re.search(r"deferred start: (\w+)", text)[1]


def hits(pmd, rule):
    return int(re.search(r"hits: (\d+)", pmd.cmd(f"flow query 0 {rule} count"))[1])


def circulate(pmd):
    """Frames go round until queue 1 has had some more."""
    before = pmd.xstats()["rx_q1_packets"]
    pmd.cmd("start tx_first 1")
    pmd.wait_stats(lambda s: pmd.xstats()["rx_q1_packets"] > before + 100)
    pmd.cmd("stop")


def test_a_stopped_queue_drops_what_its_rule_gives_it():
    with Testpmd(args=QUEUES) as pmd:
        rule = pmd.flow(RULE)
        circulate(pmd)
        assert pmd.cmd("port 0 rxq 1 stop").strip() == ""
        assert state(pmd, "rx", 1) == ("stopped", "off")
        assert state(pmd, "rx", 0) == ("started", "off")
        before, stats = hits(pmd, rule), pmd.stats()
        pmd.cmd("start tx_first 2")
        pmd.wait_stats(lambda s: hits(pmd, rule) >= before + 64)
        pmd.cmd("stop")
        after = pmd.stats()
        assert after["RX-packets"] == stats["RX-packets"]
        assert after["RX-missed"] == stats["RX-missed"] and after["RX-errors"] == stats["RX-errors"]
        pmd.cmd("port 0 rxq 1 start")
        assert state(pmd, "rx", 1) == ("started", "off")
        circulate(pmd)


def test_deferred_queues_are_started_by_hand():
    with Testpmd(args=QUEUES) as pmd:
        pmd.cmd("port stop 0")
        for side in ("rx", "tx"):
            pmd.cmd(f"port 0 {side}q 1 deferred_start on")
        assert "Done" in pmd.cmd("port start 0")
        pmd.flow(RULE)
        for side in ("rx", "tx"):
            assert state(pmd, side, 1) == ("stopped", "on")
            pmd.cmd(f"port 0 {side}q 1 start")
            assert state(pmd, side, 1) == ("started", "on")
        circulate(pmd)


def test_a_queue_is_set_up_again_below_its_rule():
    with Testpmd(args=QUEUES + ["--rxd=512", "--txd=512"]) as pmd:
        info = pmd.cmd("show port info 0")
        assert "RUNTIME_RX_QUEUE_SETUP" in info and "RUNTIME_TX_QUEUE_SETUP" in info
        pmd.flow(RULE)
        circulate(pmd)
        for side in ("rx", "tx"):
            assert "Fail" in pmd.cmd(f"port 0 {side}q 1 setup")
            pmd.cmd(f"port 0 {side}q 1 stop")
            before = pmd.xstats()
            assert "Fail" not in pmd.cmd(f"port 0 {side}q 1 setup")
            after = pmd.xstats()
            assert state(pmd, side, 1) == ("stopped", "off")
            # Frames of the other queue may come in meanwhile, but no statistic falls.
            assert all(after[name] >= value for name, value in before.items()), (before, after)
            pmd.cmd(f"port 0 {side}q 1 start")
        circulate(pmd)


def test_a_ring_that_rules_point_at_keeps_its_size():
    with Testpmd(args=QUEUES + ["--rxd=512"]) as pmd:
        pmd.cmd("port 0 rxq 1 stop")
        pmd.cmd("port config 0 rxq 1 ring_size 1024")
        answer = pmd.cmd("port 0 rxq 1 setup")
        assert "rules or RSS of the running port point at its ring of 512 descriptors" in answer, answer
        pmd.cmd("port config 0 rxq 1 ring_size 512")
        assert "Fail" not in pmd.cmd("port 0 rxq 1 setup")
        pmd.cmd("port 0 rxq 1 start")
        pmd.flow(RULE)
        circulate(pmd)
        # Queue 1 is out of it with another ring, and then back.
        pmd.cmd("port 0 rxq 1 stop")
        pmd.cmd("flow flush 0")
        pmd.cmd("flow isolate 0 1")
        pmd.cmd("port config 0 rxq 1 ring_size 1024")
        assert "Fail" not in pmd.cmd("port 0 rxq 1 setup")
        pmd.cmd("port 0 rxq 1 start")
        assert "Number of RXDs: 1024" in pmd.cmd("show rxq info 0 1")
        pmd.flow(RULE)
        circulate(pmd)
