# SPDX-License-Identifier: BSD-3-Clause
"""iproute2's rdma(8), unmodified, asks RDMA netlink about the ports."""
import contextlib
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from harness import both, host
from harness import card as cards
from harness.patience import until
from harness.program import run_on_softhca

RDMA = shutil.which("rdma") or shutil.which("rdma", path="/usr/sbin:/sbin:/usr/bin:/bin")
pytestmark = pytest.mark.skipif(RDMA is None, reason="iproute2 has no rdma here")


def ask(ports, *words):
    status, text = run_on_softhca([RDMA, "-j", *words], ports)
    assert status == 0, text
    return json.loads(text)


def test_devices():
    devices = ask(["wire=null,mac=0e:1d:2c:3b:4a:59", "wire=null,model=cx4lx"], "-d", "dev")
    assert [one["ifname"] for one in devices] == ["mlx5_0", "mlx5_1"]
    assert devices[0]["node_type"] == "ca"
    assert [one["fw"] for one in devices] == ["16.35.2000", "14.32.1010"]
    assert devices[0]["node_guid"] == devices[0]["sys_image_guid"] == "0e1d:2cff:fe3b:4a59"


def test_one_device():
    assert [one["ifname"] for one in ask(["wire=null", "wire=null"], "dev", "show", "mlx5_1")] == ["mlx5_1"]
    status, text = run_on_softhca([RDMA, "dev", "show", "mlx5_2"], ["wire=null", "wire=null"])
    assert status != 0 and "mlx5_2" in text


def test_links():
    (link,) = ask(["wire=null"], "link")
    assert (link["ifname"], link["port"]) == ("mlx5_0", 1)
    assert (link["state"], link["physical_state"]) == ("ACTIVE", "LINK_UP")
    assert "netdev" not in link


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_link_of_a_netdev():
    with host.netdev_that_is_up() as netdev:
        (link,) = ask([f"wire=null,kernel=tap:{netdev}"], "link")
        assert link["netdev"] == netdev and link["netdev_index"] > 0


def test_objects():
    """rdma(8) has a device of its own, and no objects."""
    (counts,) = ask(["wire=null"], "res")
    assert counts.pop("ifname") == "mlx5_0" and counts.pop("ifindex") == 0
    assert counts == {name: 0 for name in ("pd", "cq", "qp", "cm_id", "mr", "ctx", "srq")}
    for objects in ("pd", "cq", "qp", "mr", "ctx", "srq", "cm_id"):
        assert ask(["wire=null"], "res", "show", objects) == []


@contextlib.contextmanager
def running(card, *argv):
    with subprocess.Popen(cards.on(card, *argv), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            yield program
        finally:
            program.kill()


def objects_on(card, kind):
    return json.loads(cards.run_on(card, RDMA, "-j", "res", "show", kind).stdout)


def in_state(card, state, nb):
    """The queue pairs, as soon as so many are in a state."""
    def listed():
        found = [one for one in objects_on(card, "qp") if one["state"] == state]
        return found if len(found) == nb else None
    return until(listed)


def is_listening():
    """Whether a server of this test waits for its client by TCP."""
    tables = [pathlib.Path(f"/proc/net/tcp{kind}").read_text(encoding="ascii") for kind in ("", "6")]
    return any(re.search(rf":{both.PORT:04X} \S+ 0A ", table) for table in tables)


def test_connected_queue_pairs():
    with cards.up("wire=loop") as card, running(card, "ibv_rc_pingpong", "-g", "0", "-p", str(both.PORT), "-n", "1000000000") as server:
        (one,) = in_state(card, "INIT", 1)
        until(is_listening)
        assert one["type"] == "RC" and one["port"] == 1 and one["pid"] == server.pid and one["rqpn"] == 0
        with running(card, "ibv_rc_pingpong", "-g", "0", "-p", str(both.PORT), "-n", "1000000000", "127.0.0.1") as client:
            two = {one["pid"]: one for one in in_state(card, "RTS", 2)}
            assert set(two) == {server.pid, client.pid}
            assert two[server.pid]["rqpn"] == two[client.pid]["lqpn"] and two[client.pid]["rqpn"] == two[server.pid]["lqpn"]
            assert {one["path-mig-state"] for one in two.values()} == {"MIGRATED"}
        until(lambda: [one["pid"] for one in objects_on(card, "qp")] == [server.pid])


def test_identifiers_of_connections():
    """A server for all addresses listens at each device; what it accepts has the queue pair that rdma res tells, too."""
    gid = "fe80::ff:fe00:10"
    with cards.up("wire=loop,mac=02:00:00:00:00:10", "wire=null") as card, \
            running(card, "rping", "-s", "-a", "::", "-p", "7400") as server:
        listening = until(lambda: len(listed := objects_on(card, "cm_id")) == 2 and listed)
        assert [(one["ifname"], one["state"], one["ps"], one["src-addr"], one["pid"]) for one in listening] == [
            (device, "LISTEN", "TCP", ":::7400", server.pid) for device in ("mlx5_0", "mlx5_1")]
        with running(card, "rping", "-c", "-a", gid, "-I", gid, "-p", "7400", "-C", "1000000") as client:
            queue_pairs = {one["pid"]: one["lqpn"] for one in in_state(card, "RTS", 2)}
            connected = {one["pid"]: one for one in objects_on(card, "cm_id") if one["state"] == "CONNECT"}
            assert {pid: one["lqpn"] for pid, one in connected.items()} == queue_pairs and set(queue_pairs) == {server.pid, client.pid}
            ours, theirs = connected[client.pid], connected[server.pid]
            assert ours["dst-addr"] == theirs["src-addr"] == f"{gid}:7400" and ours["src-addr"] == theirs["dst-addr"]
            assert ours["port"] == 1 and ours["qp-type"] == "RC"
            (counts, _) = json.loads(cards.run_on(card, RDMA, "-j", "res").stdout)
            assert counts["cm_id"] == 3
            # Linux looks for one of a port alone; without a port the tool picks it from all.
            for place in (("dev", "mlx5_0"), ("link", "mlx5_0/1")):
                one = cards.run_on(card, RDMA, "-j", "res", "show", "cm_id", *place, "cm-idn", str(ours["cm-idn"]))
                assert json.loads(one.stdout) == [ours], one
            one = cards.run_on(card, RDMA, "-j", "res", "show", "qp", "link", "mlx5_0/1", "lqpn", str(ours["lqpn"]))
            assert [qp["pid"] for qp in json.loads(one.stdout)] == [client.pid], one


def test_many_queue_pairs():
    """The tool has room for a page of each answer, as Linux knows."""
    with cards.up("wire=loop") as card, running(card, "ibv_srq_pingpong", "-g", "0", "-p", str(both.PORT), "-q", "100"):
        assert len(in_state(card, "INIT", 100)) == 100


def test_shared_receive_queues():
    with cards.up("wire=loop") as card:
        with running(card, "ibv_srq_pingpong", "-g", "0", "-p", str(both.PORT), "-q", "4") as server:
            numbers = sorted(one["lqpn"] for one in in_state(card, "INIT", 4))
            (srq,) = objects_on(card, "srq")
            (pd,) = objects_on(card, "pd")
            assert srq["type"] == "BASIC" and srq["pid"] == server.pid and srq["pdn"] == pd["pdn"] and "cqn" not in srq
            assert srq["lqpn"] == [f"{numbers[0]}-{numbers[-1]}"]
        until(lambda: objects_on(card, "qp") == objects_on(card, "srq") == [])
        with running(card, "ibv_xsrq_pingpong", "-g", "0", "-p", str(both.PORT)) as server:
            # A target has no domain; it is its sender's that has.
            until(lambda: len(objects_on(card, "qp")) == 2)
            by_type = {one["type"]: one for one in objects_on(card, "qp")}
            assert "pdn" in by_type["XRC_INI"] and "pdn" not in by_type["XRC_TGT"]
            (srq,) = objects_on(card, "srq")
            assert srq["type"] == "XRC" and srq["cqn"] in [cq["cqn"] for cq in objects_on(card, "cq")] and srq["pid"] == server.pid


@pytest.mark.parametrize("objects", ["cq", "qp", "mr"])
def test_raw_objects(objects):
    """The firmware has no dump of an object, which nobody misses where there is none."""
    assert ask(["wire=null"], "-r", "res", "show", objects) == []
    with cards.up("wire=loop") as card, running(card, "ibv_rc_pingpong", "-g", "0", "-p", str(both.PORT)):
        until(lambda: objects_on(card, objects))
        refused = subprocess.run(cards.on(card, RDMA, "-r", "res", "show", objects), capture_output=True, text=True, check=False)
        assert "Operation not supported" in refused.stderr, refused


def test_counters_of_a_port():
    """What sysfs has, but for the interval."""
    (counters,) = ask(["wire=null"], "statistic")
    assert counters.pop("ifname") == "mlx5_0" and counters.pop("port") == 1
    assert set(counters.values()) == {0} and {"out_of_buffer", "np_cnp_sent"} <= set(counters)
    status, files = run_on_softhca(["sh", "-c", "ls $SYSFS_PATH/class/infiniband/mlx5_0/ports/1/hw_counters"], ["wire=null"])
    assert status == 0 and set(counters) == set(files.split()) - {"lifespan"}
    status, text = run_on_softhca([RDMA, "statistic", "qp", "mode"], ["wire=null"])
    assert status == 0 and "mlx5_0/1" in text and "auto off" in text


def test_optional_counters():
    """There are none."""
    for words in (["mode"], ["mode", "supported"]):
        assert ask(["wire=null"], "statistic", *words) == []


def test_counters_of_memory_regions():
    """Regions are listed, and have none without on-demand paging."""
    assert ask(["wire=null"], "statistic", "show", "mr") == []
    with cards.up("wire=loop") as card, running(card, "ibv_rc_pingpong", "-g", "0", "-p", str(both.PORT)):
        (region,) = until(lambda: objects_on(card, "mr"))
        (counted,) = json.loads(cards.run_on(card, RDMA, "-j", "statistic", "show", "mr").stdout)
        assert counted == {"ifindex": 0, "ifname": "mlx5_0", "mrn": region["mrn"]}


def test_counters_follow_queue_pairs():
    """A process has a device of its own: commands of one batch are about the same."""
    commands = ["set link mlx5_0/1 auto type on", "mode link mlx5_0/1", "set link mlx5_0/1 auto pid on", "mode link mlx5_0/1",
                "set link mlx5_0/1 auto off", "mode link mlx5_0/1", "mode link mlx5_1/1"]
    batch = "".join(f"statistic qp {command}\n" for command in commands)
    status, text = run_on_softhca(["sh", "-c", f"printf '{batch}' | {RDMA} -b -"], ["wire=null", "wire=null"])
    assert status == 0, text
    assert re.findall(r"^link (\S+) .*\bauto (type|pid|off)\b", text, re.M) == [
        ("mlx5_0/1", "type"), ("mlx5_0/1", "pid"), ("mlx5_0/1", "off"), ("mlx5_1/1", "off")], text


def test_system():
    """Since Linux 5.12 libibverbs needs no fork support: its pages are copied for a child."""
    status, text = run_on_softhca([RDMA, "system"], ["wire=null"])
    assert status == 0 and "netns shared" in text and "copy-on-fork on" in text
