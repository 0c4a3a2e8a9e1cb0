# SPDX-License-Identifier: BSD-3-Clause
"""Commands below /mlx5dv/: what they tell, what they refuse, and ports that go while they ask."""
import subprocess
import threading

import pytest
from harness import frames, pcapfile
from harness.patience import PATIENCE
from harness.telemetry import Telemetry
from harness.testpmd import Testpmd

COMMANDS = ["/mlx5dv/info", "/mlx5dv/queues", "/mlx5dv/rules", "/mlx5dv/mrs"]
PAGE = 32


@pytest.fixture(scope="module")
def pmd():
    with Testpmd(ports=["wire=loop,mac=02:00:00:00:00:10", "wire=null"], args=["--rxq=2", "--txq=2"],
                 eal=["--vdev", "net_null0"], telemetry=True) as running:
        yield running


@pytest.fixture(scope="module")
def client(pmd):
    with Telemetry(pmd.prefix) as connected:
        yield connected


def port_of(pmd, name):
    """Ports have numbers in the order of the vdevs' names or not: ask."""
    for port in range(3):
        if name in pmd.cmd(f"show port info {port}").split("Device name: ", 1)[1].split("\n", 1)[0]:
            return port
    raise AssertionError(f"no port {name}")


def test_ports_and_their_devices(pmd, client):
    ours = sorted((port_of(pmd, "net_mlx5dv0"), port_of(pmd, "net_mlx5dv1")))
    assert client.ask("/mlx5dv/list") == ours
    for port, ibdev in zip(ours, ("mlx5_0", "mlx5_1")):
        info = client.ask(f"/mlx5dv/info,{port}")
        assert (info["port"], info["ibdev"], info["ibdev_port"]) == (port, ibdev, 1)
        assert info["netdev"] == "" and info["firmware"].startswith("16.")
        assert (info["started"], info["removed"], info["link"]) == (1, 0, "up")
        assert (info["speed"], info["mtu"]) == (25000, 1500)
        assert (info["rx_queues"], info["tx_queues"]) == (2, 2)
    pmd.cmd(f"port stop {ours[1]}")
    assert client.ask(f"/mlx5dv/info,{ours[1]}")["started"] == 0
    pmd.cmd(f"port start {ours[1]}")


def test_all_are_listed(client):
    assert set(COMMANDS) < set(client.ask("/"))
    for command in COMMANDS:
        assert "Parameters: int port_id" in client.ask(f"/help,{command}")[command]


def test_the_client_that_comes_with_dpdk(pmd):
    done = subprocess.run(["dpdk-telemetry.py", "-f", pmd.prefix], input="/mlx5dv/list\nquit\n", timeout=PATIENCE,
                          capture_output=True, text=True, check=True)
    assert '"/mlx5dv/list": [' in done.stdout, done


def test_bad_parameters_are_errors(pmd, client):
    null = port_of(pmd, "net_null0")
    for command in COMMANDS:
        for params in ("", ",", ",x", ",-1", ",0x", ", 0", ",0,", ",0,x", ",0,0,0", ",9", f",{null}",
                       ",4294967296", ",99999999999999999999", ",31,0", ",32,0"):
            assert client.ask(command + params) is None, command + params
    assert client.ask("/mlx5dv/info,0,0") is None
    for command in COMMANDS:
        assert client.ask(f"{command},{port_of(pmd, 'net_mlx5dv0')}") is not None


def test_queues_count(tmp_path):
    sent = [frames.packet(src=f"10.1.1.{i}", sport=i, data=bytes(i)) for i in range(1, 101)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={frames.PORT_MAC}"],
                 args=["--rxq=40", "--txq=40", "--rxd=64", "--txd=128"], telemetry=True) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        pmd.cmd("stop")
        xstats = pmd.xstats()
        with Telemetry(pmd.prefix) as client:
            pages = [client.ask(f"/mlx5dv/queues,0{first}") for first in ("", f",{PAGE}")]
        for side in ("rx", "tx"):
            assert [len(page[side]) for page in pages] == [PAGE, 40 - PAGE]
            queues = {**pages[0][side], **pages[1][side]}
            assert set(queues) == {str(q) for q in range(40)}
            for number, queue in queues.items():
                assert queue["started"] == 1 and queue["descriptors"] == (64, 128)[side == "tx"]
                # ethdev shows the first 16 queues.
                for what in ("packets", "bytes"):
                    name = f"{side}_q{number}_{what}"
                    assert queue[what] == xstats.get(name, queue[what]), name
            assert sum(queue["packets"] for queue in queues.values()) == len(sent)
            assert sum(queue["bytes"] for queue in queues.values()) == sum(map(len, sent))
        assert pages[0]["nb_rx"] == pages[0]["nb_tx"] == 40


def test_rules_and_their_hits(pmd, client):
    port = port_of(pmd, "net_mlx5dv0")
    pmd.flow("ingress priority 3 pattern eth / ipv4 / udp dst is 9 / end"
             " actions mark id 5 / queue index 1 / count / end", port=port)
    pmd.flow("egress priority 1 pattern eth / ipv4 / tcp / end actions drop / end", port=port)
    pmd.cmd(f"set portlist {port}")
    pmd.cmd("start tx_first 1")
    pmd.wait_stats(lambda s: s["RX-packets"] > 100, port=port)
    pmd.cmd("stop")
    before = client.ask(f"/mlx5dv/rules,{port}")["rules"]["0"]["hits"]
    hits, _ = pmd.query_count(0, port=port)
    answer = client.ask(f"/mlx5dv/rules,{port}")
    first, second = answer["rules"]["0"], answer["rules"]["1"]
    # What is on the wire may still come.
    assert 100 <= before <= hits <= first["hits"] and first["bytes"] >= first["hits"] * 60
    assert first["pattern"] == "ETH IPV4 UDP" and first["actions"] == "MARK QUEUE COUNT"
    assert (first["priority"], first["direction"], first["in_device"]) == (3, "ingress", 1)
    assert (second["pattern"], second["actions"]) == ("ETH IPV4 TCP", "DROP")
    assert second["direction"] == "egress" and "hits" not in second
    assert f"rule:{first['rule']}" in pmd.cmd(f"flow dump {port} rule 0")
    pmd.cmd(f"flow flush {port}")
    for number in range(PAGE + 3):
        pmd.flow(f"ingress pattern eth / ipv4 / udp src is {number + 1} / end actions queue index 0 / end",
                 port=port)
    assert client.ask(f"/mlx5dv/rules,{port}")["nb_rules"] == PAGE + 3
    assert set(client.ask(f"/mlx5dv/rules,{port}")["rules"]) == {str(i) for i in range(PAGE)}
    assert set(client.ask(f"/mlx5dv/rules,{port},34")["rules"]) == {"34"}
    assert client.ask(f"/mlx5dv/rules,{port},4294967295")["rules"] == {}
    pmd.cmd(f"flow flush {port}")
    assert client.ask(f"/mlx5dv/rules,{port}") == {"rules": {}, "nb_rules": 0}


def test_memory_regions(pmd, client):
    answer = client.ask(f"/mlx5dv/mrs,{port_of(pmd, 'net_mlx5dv0')}")
    regions = list(answer["mrs"].values())
    assert answer["nb_mrs"] == len(regions) > 0
    for region in regions:
        assert region["mempool"].startswith("mb_pool_")
        assert int(region["start"], 16) > 0 and int(region["lkey"], 16) > 0
    assert sum(region["size"] for region in regions) > 16384 * 2048


@pytest.mark.parametrize("early, met", [(1, {"mb_pool_0", "mb_pool_0_1"}), (0, {"mb_pool_0"})])
def test_mempools_are_registered_before_the_first_packet(early, met):
    """Without buffer split, testpmd receives into its first mempool only."""
    with Testpmd(vdevs=[f"net_mlx5dv0,ibdev=mlx5_0,mr_mempool_reg_en={early}"], args=["--mbuf-size=2048,1024"],
                 telemetry=True) as pmd, Telemetry(pmd.prefix) as client:
        def pools():
            return {region["mempool"] for region in client.ask("/mlx5dv/mrs,0")["mrs"].values()}

        assert pools() == met
        pmd.cmd("port stop 0")
        assert pools() == set()
        pmd.cmd("port start 0")
        assert pools() == met


def test_ports_come_and_go_while_asked():
    """Four clients ask all the time; a port is started, stopped, given rules and queues, detached."""
    with Testpmd(args=["--rxq=1", "--txq=1"], telemetry=True) as pmd:
        done, answers, failed = threading.Event(), [0, 0], []

        def hammer():
            try:
                with Telemetry(pmd.prefix) as client:
                    while not done.is_set():
                        for command in COMMANDS:
                            for port in (0, 1):
                                answers[port] += client.ask(f"{command},{port}") is not None
                        client.ask("/mlx5dv/list")
            except (OSError, AssertionError, ValueError) as error:
                failed.append(error)

        threads = [threading.Thread(target=hammer) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(5):
                pmd.cmd("port stop all")
                pmd.cmd("port attach net_mlx5dv1,ibdev=mlx5_0")
                pmd.cmd("port config all rxq 2")
                pmd.cmd("port start all")
                pmd.flow("ingress pattern eth / ipv4 / end actions queue index 0 / count / end", port=1)
                before = answers[1]
                pmd.cmd("flow flush 1")
                pmd.cmd("port stop all")
                pmd.cmd("port config all rxq 1")
                pmd.cmd("port reset 1")
                while answers[1] == before and not failed:
                    pmd.info(0)
                pmd.cmd("port close 1")
                assert "detached" in pmd.cmd("device detach net_mlx5dv1")
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert not failed, failed
        assert min(answers) > 0
