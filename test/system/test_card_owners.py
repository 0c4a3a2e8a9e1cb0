# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl on a card: whose each context, queue and rule is, and who would get a frame."""
import json
import re

from harness import card as cards
from harness import frames, paths
from harness.patience import until
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
DNS = "ipv4 dst 192.0.2.1 / udp dst 53"
SNIFFER = [paths.BUILD / "app" / "examples" / "raw-dont-trap", "mlx5_0", MAC, 1000]


def ctl(card, *words):
    return cards.softhca("ctl", "--on", card, *words).stdout


def pid_of(card, comm):
    """The process of a command that has a context, once it has."""
    def look():
        contexts = json.loads(ctl(card, "stats", "--json"))["ports"][0]["contexts"]
        return next((one for one in contexts if one["comm"] == comm), None)
    return until(look)


def test_whose_it_is():
    """A process that has ended is named nowhere."""
    with cards.up(f"wire=null,mac={MAC}") as card:
        assert json.loads(ctl(card, "stats", "--json"))["ports"][0]["contexts"] == []
        with Testpmd(ports=(), vdevs=["net_mlx5dv0,ibdev=mlx5_0"], softhca_options=("--on", card)) as pmd:
            pmd.cmd("start")
            pmd.flow("ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 0 / end")
            own = pid_of(card, "dpdk-testpmd")
            assert own["pid"] == pmd.terminal.process.pid
            with cards.running(card, *SNIFFER) as watcher:
                other = pid_of(card, "raw-dont-trap")
                assert other["pid"] == watcher.pid and other["ctxn"] != own["ctxn"]
                until(lambda: "FT:next" in ctl(card, "dump"))
                check_devices(card, own, other)
                check_stats(card, own, other)
                check_dump(card, own, other)
                check_trace(card, own, other)
            until(lambda: f"pid {watcher.pid} " not in ctl(card, "stats"))
            assert f"pid {watcher.pid} " not in ctl(card, "dump")
            assert f"pid {watcher.pid} " not in ctl(card, "trace", DNS)


def name_of(context):
    return f"pid {context['pid']} comm {context['comm']} ctxn {context['ctxn']}"


def check_devices(card, own, other):
    """The process that has them, and those that have one open."""
    programs = [{"pid": one["pid"], "program": one["comm"]} for one in (own, other)]
    keeper = json.loads(ctl(card, "devices", "--json"))
    assert sorted(keeper["programs"], key=lambda one: one["pid"]) == sorted(programs, key=lambda one: one["pid"])
    assert keeper["pid"] == cards.keeper_of(card) and keeper["devices"] == ["mlx5_0"]
    for one in own, other:
        assert f"\n  {one['pid']} {one['comm']}\n" in ctl(card, "devices")


def check_stats(card, own, other):
    """As rdma tells it; each queue is somebody's."""
    port = json.loads(ctl(card, "stats", "--json"))["ports"][0]
    assert own in port["contexts"] and other in port["contexts"]
    of = {key: [queue for queue in port["queues"] if queue["pid"] == key] for key in (own["pid"], other["pid"])}
    assert len(port["queues"]) == sum(len(queues) for queues in of.values())
    assert {queue["kind"] for queue in of[own["pid"]]} == {"SQ", "RQ", "CQ"}
    assert {queue["kind"] for queue in of[other["pid"]]} >= {"RQ", "CQ"}
    for queue in port["queues"]:
        assert queue["ctxn"] == (own if queue["pid"] == own["pid"] else other)["ctxn"]
        assert 0 <= queue["fill"] <= queue["size"] and queue["size"] > 0
    posted = next(queue for queue in of[own["pid"]] if queue["kind"] == "RQ")
    assert posted["fill"] == posted["size"]
    text = ctl(card, "stats")
    assert re.search(rf"^  context +{re.escape(name_of(own))}$", text, re.M), text
    assert re.search(rf"^  RQ 0x\w+ +ready +\d+/\d+ .*  {re.escape(name_of(other))}$", text, re.M), text
    rdma = cards.run_on(card, "rdma", "resource", "show", "qp").stdout
    assert all(f"pid {context['pid']} comm {context['comm']}" in rdma for context in (own, other)), rdma


def check_dump(card, own, other):
    text = ctl(card, "dump")
    assert re.search(rf"FT:next\).* of {re.escape(name_of(other))}$", text, re.M), text
    assert re.search(rf" of {re.escape(name_of(own))}\n(?: +\|-- .*\n)* +\|-- out.udp_dport:0x35\n", text), text
    entries = [entry for table in json.loads(ctl(card, "dump", "--json"))[0]["tables"] for group in table["groups"]
               for entry in group["entries"]]
    for context in (own, other):
        mine = [entry for entry in entries if {**context, "rules": 1} in entry["contexts"]]
        assert mine and all(to["pid"] == context["pid"] for entry in mine for to in entry["destinations"])


def check_trace(card, own, other):
    text = ctl(card, "trace", DNS)
    copies = re.findall(r"copy to .*, of (.*)", text)
    assert copies == [name_of(other), name_of(own)], text
    tables = json.loads(ctl(card, "trace", "--json", DNS))[0]["tables"]
    got = [copy["pid"] for table in tables for copy in table.get("copies", [])]
    assert got == [other["pid"], own["pid"]]
