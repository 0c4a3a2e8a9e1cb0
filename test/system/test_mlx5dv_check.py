# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check: on softhca as if that were the card. Its answers are the models'; it notices a device with defects."""
import json
import os
import re
import shutil
import subprocess

import pytest
from harness import dpdk, host, paths
from harness.mlx5dv_check import CABLE, all_rows, check, failed, run
from harness.shared import BASE_ADDRESS, hugepages_at
from harness.testpmd import eal_prefix, remove_runtime_dir

QUESTIONS = set(re.findall(r"`(Q\d+: [^`]*)`", (paths.ROOT / "doc/design/hardware-questions.md").read_text()))
EXPERIMENTS = QUESTIONS | {"burst modes", "burst rate"}
# A function does not see the cage; without hugepages no memory goes, and none is shared; DPDK's own driver wants a netdev of either
# port, and ports that are whole functions.
NO_MODULE = {"module EEPROM", "Tx queue with an error", "secondary process", "beside net_mlx5"}
NOT_HERE = NO_MODULE | {"pauses"}  # these are not there without a netdev, nor of a representor
NO_NETDEV = NOT_HERE | {"link events"}
NOT_OF_CX4LX = {"device memory", "item: mpls"} | {row for row in all_rows() if row.startswith("action: ")}
NEEDS_OFFLOADS = {"Rx checksums"}  # verbs reports none of these for work queues


@pytest.mark.parametrize("model, part", [pytest.param("cx4lx", 0x1015, marks=pytest.mark.long), pytest.param("cx5", 0x1017, marks=pytest.mark.long),
                                         ("cx6dx", 0x101d)])
def test_all_rows_pass_on_each_model(tmp_path, model, part):
    status, rows, report = check(tmp_path, ports=[f"{port},model={model}" for port in CABLE])
    assert list(rows) == all_rows() and len(rows) > 20
    absent = NO_NETDEV | (NOT_OF_CX4LX if model == "cx4lx" else set())
    assert {row for row, result in rows.items() if result == "not there"} == absent
    assert failed(report) == {}
    assert {row for row, result in rows.items() if result != "pass"} == EXPERIMENTS | absent and status == 0, report
    assert {rows[row] for row in EXPERIMENTS} == {"seen"}
    assert [port["part"] for port in report["ports"]] == [part, part]


def test_what_a_lean_device_lacks_is_not_there(tmp_path):
    """PASSTHRU, MPLS, pacing and memory, and nothing else; what is refused is refused, not failed."""
    status, rows, report = check(tmp_path, ports=[f"{port},model=lean" for port in CABLE])
    assert failed(report) == {} and status == 0
    lacking = {row for row, result in rows.items() if result == "not there"}
    assert lacking == {row for row in all_rows() if "PASSTHRU" in row} | NO_NETDEV | {"item: mpls", "rate limit", "Tx descriptor status",
                                                                                     "device memory"}
    assert len(lacking) == 15


def test_a_device_that_looks_into_no_tunnel(tmp_path):
    """Then the driver claims neither types nor checksums of inner headers."""
    model = (paths.ROOT / "lib/softhca/config/models/cx5.model").read_text()
    blind = tmp_path / "blind.model"
    blind.write_text(re.sub("^tunnel_offloads = .*", "tunnel_offloads = none", model, flags=re.M))
    status, rows, report = check(tmp_path, "--only", "VXLAN", ports=[f"{port},model={blind}" for port in CABLE])
    assert len(rows) == 5 and set(rows.values()) == {"not there"} and status == 0, report


def test_a_speed_that_this_dpdk_has_no_bit_for(tmp_path):
    """22.11 has none for 400 Gb/s: a port of that speed can claim nothing, which is no fault of its."""
    status, rows, report = check(tmp_path, "--only", "speed", ports=[f"{port},speed=400g" for port in CABLE])
    assert rows == {"speed": "pass" if report["ports"][0]["speeds"] else "not there"} and status == 0, report


HOSTS_TO_GIVE = {"addresses", "multicast list", "promiscuous", "all multicast"}


@pytest.fixture(name="netdev")
def fixture_netdev(tap_allowed):
    with host.netdev_that_is_up() as netdev:
        yield netdev


def test_link_events(tmp_path, netdev):
    """The link is its netdev's to take down; it is up afterwards."""
    status, rows, report = check(tmp_path, "--yes", "--only", "link events", ports=[f"{CABLE[0]},kernel=tap:{netdev}", CABLE[1]])
    assert rows == {"link events": "pass"} and status == 0, report
    assert re.search("[<,]UP[,>]", host.run("ip", "-o", "link", "show", netdev))


def test_beside_dpdks_own_driver(tmp_path, netdev):
    """The same loop in a process with each driver: two figures and their ratio, which nobody judges."""
    with host.netdev_that_is_up() as other:
        ports = [f"{CABLE[0]},kernel=tap:{netdev}", f"{CABLE[1]},kernel=tap:{other}"]
        status, rows, report = check(tmp_path, "--yes", "--only", "beside", ports=ports)
    row, = report["rows"]
    if dpdk.INTREE_DEVARGS:  # that driver does not start without
        assert row["result"] == "not there" and status == 0, report
        return
    assert row["result"] == "seen" and status == 0, report
    ours, theirs, ratio = map(float, re.fullmatch(r"net_mlx5dv ([\d.]+) Mpps, net_mlx5 ([\d.]+) Mpps, ratio ([\d.]+), "
                                                  r"by one lcore", row["why"]).groups())
    assert ours > 0 and theirs > 0 and ratio == pytest.approx(ours / theirs, abs=0.02), row


@pytest.mark.long
def test_two_functions_of_a_card(tmp_path):
    """Nobody gives an untrusted function without a netdev more than its address."""
    functions = ["wire=null,vf=on", "wire=null,vf=on,mac=02:00:00:00:00:09"]
    status, rows, report = check(tmp_path, ports=functions)
    assert {row for row, result in rows.items() if result == "not there"} == HOSTS_TO_GIVE | NO_NETDEV
    assert failed(report) == {} and status == 0
    assert [port["part"] for port in report["ports"]] == [0x1018, 0x1018]


@pytest.mark.long
def test_a_trusted_function_with_its_netdev(tmp_path, netdev):
    """Its host hears of addresses by the netdev; what another function sends to strangers goes to the wire."""
    functions = [f"wire=null,vf=on,trust=on,kernel=tap:{netdev}", "wire=null,vf=on,mac=02:00:00:00:00:09"]
    status, rows, report = check(tmp_path, "--yes", ports=functions)
    assert {row for row, result in rows.items() if result == "not there"} == {"promiscuous"} | NO_MODULE
    assert failed(report) == {} and status == 0


def test_a_switchs_manager(tmp_path, netdev):
    """A port of several is named IBDEV/PORT. The uplink at a cable's end, then a representor at its function's."""
    # Linux gives the rules of an e-switch's manager no right to take tunnels off, and it has none of sent packets.
    tunnels = {row for row in all_rows() if re.match("action: .*cap$", row)}
    assert len(tunnels) == 6
    with host.netdev_that_is_up() as rep:
        card = [f"wire=pair:c,switchdev=on,kernel=tap:{netdev}",
                f"wire=pair:c,switchdev=on,vf=on,rep=tap:{rep},mac=02:00:00:00:00:10"]
        for port, peer, absent in (("mlx5_0/3", "mlx5_2", NO_MODULE - {"module EEPROM"}), ("mlx5_0/2", "mlx5_1", NOT_HERE)):
            file = tmp_path / "report.json"
            done = run("--ibdev", port, "--peer", peer, "--json", file, "--packets", "5000", "--yes",
                       ports=[*card, CABLE[1]])
            report = json.loads(file.read_text())
            assert {row["row"] for row in report["rows"] if row["result"] != "pass"} == EXPERIMENTS | absent | tunnels, done.stdout
            assert [side["ibdev"] for side in report["ports"]] == [port, peer] and done.returncode == 0


def test_any_netdev_may_be_the_peer(netdev):
    """The far end of the cable is Linux's: frames come and go by a packet socket."""
    done = run("--ibdev", "mlx5_0", "--peer", f"netdev:{netdev}", "--packets", "2000", "--patience", "10000", ports=[f"wire=tap:{netdev}"])
    nb_passed = len(all_rows()) - 7 - len(EXPERIMENTS)
    assert f"\n{nb_passed} passed, 0 failed, 7 not there, {len(EXPERIMENTS)} experiments\n" in done.stdout, done.stdout
    assert done.returncode == 0
    assert "not there  MTU: 1800 bytes: " in done.stdout


@pytest.fixture(name="huge")
def fixture_huge(tmp_path):
    """EAL options with which memory comes and goes."""
    (tmp_path / "huge").mkdir()
    with hugepages_at(tmp_path / "huge") as directory:
        yield ("--huge-dir", directory)


@pytest.mark.parametrize("model, args, may_share", [pytest.param("cx4lx", (), False, marks=pytest.mark.long), ("cx5", (), True),
                                                    pytest.param("cx6dx", (), True, marks=pytest.mark.long),
                                                    ("cx5", ("--devargs", "mode=ibv"), False)])
def test_a_send_queue_recovers(tmp_path, huge, model, args, may_share):
    """The memory of frames goes while they wait in a slow queue: the device stops it. Frames that share a WQE fail together, though
    the first of them may have left."""
    status, rows, report = check(tmp_path, "--only", "with an error", *args, eal=huge,
                                 ports=[f"{port},model={model}" for port in CABLE])
    row, = report["rows"]
    assert row["result"] == "pass" and status == 0, report
    came, errors, both = map(int, re.fullmatch(r"of 256 frames (\d+) came and (\d+) are errors, (\d+) are both; "
                                               r"256 buffers came back", row["why"]).groups())
    assert came >= 4 and errors > 0 and came + errors - both == 256, row
    assert both < 61 if may_share else both == 0, row


@pytest.fixture(name="shared")
def fixture_shared(huge):
    """EAL options with which other processes can have the ports."""
    prefix = eal_prefix()
    yield (*huge, "--base-virtaddr", BASE_ADDRESS, "--file-prefix", prefix)
    remove_runtime_dir(prefix)


@pytest.mark.parametrize("args, result, status", [((), "pass", 0), pytest.param(("--devargs", "mode=ibv"), "not there", 0, marks=pytest.mark.long)])
def test_a_secondary_process(tmp_path, shared, args, result, status):
    """The check starts itself, and that process returns what a rule takes to its queue. Plain verbs share no ring."""
    done, rows, report = check(tmp_path, "--only", "secondary", *args, eal=shared)
    assert rows == {"secondary process": result} and done == status, report


@pytest.mark.parametrize("fault", ["wire loss at 700 of mlx5_0",
                                   pytest.param("wire loss at 1000 of mlx5_1", marks=pytest.mark.long)])
def test_a_secondary_process_that_loses_a_frame(tmp_path, shared, fault):
    faults = tmp_path / "faults"
    faults.write_text(fault + "\n")
    done, _, report = check(tmp_path, "--only", "secondary", eal=shared, options=["--faults", faults])
    assert report["rows"][0]["why"].startswith("after packet ") and done == 1, report


def test_where_no_frame_waits_in_a_queue(tmp_path, huge):
    status, rows, report = check(tmp_path, "--only", "with an error", eal=huge, ports=[f"{port},model=lean" for port in CABLE])
    assert report["rows"][0]["why"] == "send queues have no rate: nothing waits in them" and status == 0, report


def test_where_the_device_tells_of_many_later(tmp_path):
    """The rows of this name have sent so many packets before that 33 wait for a completion when all have come."""
    status, rows, report = check(tmp_path, "--only", "at")
    assert rows["Tx descriptor status"] == "pass" and status == 0, report


@pytest.mark.parametrize("non_cached", ["0", pytest.param("1", marks=pytest.mark.long)])
def test_doorbells_of_either_kind(tmp_path, non_cached):
    status, rows, report = check(tmp_path, "--devargs", f"sq_db_nc={non_cached}", "--only", "send",
                                 options=["--strict"])
    assert rows == {"send 60 bytes": "pass", "send 1514 bytes": "pass"} and status == 0, report


def test_what_a_port_does_not_claim_is_not_there(tmp_path):
    status, rows, report = check(tmp_path, "--devargs", "mode=ibv")
    assert {row for row, result in rows.items() if result == "not there"} >= NEEDS_OFFLOADS
    assert failed(report) == {} and status == 0


@pytest.mark.parametrize("fault, row, why", [
    ("wire loss at 700 frames of mlx5_0", "receive 60 bytes", "after packet 698 came packet 700"),
    pytest.param("wire reorder at 100 by 3 of mlx5_0", "receive 60 bytes", "after packet 98 came packet 100", marks=pytest.mark.long),
    pytest.param("wire loss from 700 frames of mlx5_0", "receive 60 bytes", "packets 699 have come", marks=pytest.mark.long),
    ("wire duplicate at 1 of mlx5_0", "flow: none", "2 further copies came, not 1"),
])
def test_a_fault_is_reported(tmp_path, fault, row, why):
    """A frame that is lost, late or there twice fails the row that meets it."""
    faults = tmp_path / "faults"
    faults.write_text(fault + "\n")
    status, _, report = check(tmp_path, "--only", row, "--patience", "300", options=["--faults", faults])
    assert status == 1
    failed, = [line for line in report["rows"] if line["row"] == row]
    assert why in failed["why"], failed
    for packet in failed["packets"]:
        assert packet["bytes"].startswith("0200000000") and len(packet["bytes"]) == 2 * min(packet["length"], 96)
    assert "CQE" in failed["completions"] or "cqe" in failed["completions"], failed


@pytest.mark.parametrize("args, said", [
    ([], "usage: mlx5dv-check"),
    (["--ibdev", "mlx5_0"], "usage: mlx5dv-check"),
    (["--ibdev", "mlx5_0", "--peer", "mlx5_1", "--packets", "0"], "usage: mlx5dv-check"),
    (["--ibdev", "mlx5_0/x", "--peer", "mlx5_1"], "'mlx5_0/x' is neither IBDEV, IBDEV/PORT nor netdev:NAME"),
    (["--ibdev", "netdev:lo", "--peer", "mlx5_1"], "usage: mlx5dv-check"),
    (["--ibdev", "mlx5_0", "--peer", "netdev:none"], "netdev:none: the driver net_af_packet does not take it"),
    (["--ibdev", "mlx5_0", "--peer", "mlx5_7"], "mlx5_7: no such verbs device"),
    (["--ibdev", "mlx5_0", "--peer", "mlx5_1", "--json", "/nowhere/at/all"], "cannot write /nowhere/at/all"),
])
def test_what_cannot_be_checked(args, said):
    done = run(*args)
    assert done.returncode == 2 and said in done.stdout, done.stdout


@pytest.mark.parametrize("answer, args, status", [("n\n", (), 2), ("", (), 2), ("y\n", (), 0), ("", ("--yes",), 0)])
def test_it_asks_before_it_takes_traffic_from_linux(tap_allowed, answer, args, status):
    netdev = host.name("q")
    host.run("ip", "tuntap", "add", "dev", netdev, "mode", "tap")
    try:
        host.run("ip", "link", "set", netdev, "up")
        done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--only", "flow: none", *args, stdin=answer,
                   ports=[f"{CABLE[0]},kernel=tap:{netdev}", CABLE[1]])
    finally:
        host.run("ip", "link", "del", netdev)
    assert f"Linux uses mlx5_0 ({netdev})" in done.stdout
    assert done.returncode == status and ("pass       flow: none" in done.stdout) == (status == 0), done.stdout


# A row: file below lib/softhca, what stands there, what the defect makes of it, rows that must fail.
DEFECTS = [
    ("hw/format/rss.c", "return shca_rss_hash(rss, input, length);", "return shca_rss_hash(rss, input, length) ^ 1;",
     {"RSS"}),
    ("hw/format/rx_csum.h", "rx_csum.l4_good = shca_csum_is_good(shca_csum_add_word(sum, stack->pseudo));",
     "rx_csum.l4_good = true;", {"Rx checksums"}),
    ("hw/format/tx.c", "checksum = ~shca_csum_fold(shca_csum_add(l4,", "checksum = shca_csum_fold(shca_csum_add(l4,",
     {"Tx checksums", "TSO"}),
    ("hw/format/tx.c", "fill_l3(frame, &packet->inner);", "fill_l3(frame, &packet->outer);", {"VXLAN Tx checksums", "VXLAN TSO"}),
    ("hw/format/cqe.c", "rx_csum.l4_good = outer_good && inside.l4_good;", "rx_csum.l4_good = outer_good;",
     {"VXLAN Rx checksums"}),
    ("hw/format/rss.c", "fields & IBV_RX_HASH_INNER ?", "fields == 0 ?", {"VXLAN inner RSS"}),
    ("hw/format/tso.c", "packet->length - packet->outer.l4_offset", "packet->length - packet->outer.l3_offset", {"VXLAN TSO"}),
    ("hw/format/tx.c", "htobe16(tpid), htobe16(tci)", "htobe16(tpid), htole16(tci)", {"VLAN insert"}),
    ("hw/format/tso.c", "be32toh(seq) + segment->offset", "be32toh(seq) + segment->number", {"TSO"}),
    ("steering/walk.c", "return table->dont_trap ? NEXT : END;", "return END;",
     {"flow: PASSTHRU, then a rule", "flow: PASSTHRU, then the port"}),
    ("steering/walk.c", "counter->packets += nb_packets;", "counter->packets += 2 * nb_packets;", {"flow: COUNT"}),
    ("steering/match/spec.c", "build->match->mask.vni = be32toh(build->spec->mask.tunnel.tunnel_id);", "build->match->mask.vni = 0;",
     {"item: vxlan"}),
    ("steering/match/spec.c", "build->match->mask.gre_key = be32toh(mask->key);", "build->match->mask.gre_key = 0;",
     {"item: gre_key", "item: gre_option", "item: nvgre"}),
    ("hw/format/rewrite.c", "step->nb_bits, value + step->data);", "step->nb_bits, value);", {"action: dec_ttl", "action: inc_tcp_seq"}),
    ("hw/queue/rq.c", "(*piece)->bytes += part;", "(*piece)->bytes += 0;", {"scattered Rx", "buffer split"}),
]


@pytest.fixture(scope="module")
def defective(tmp_path_factory):
    """A copy of softhca's source and its build directory."""
    tree = tmp_path_factory.mktemp("defective") / "tree"
    shutil.copytree(paths.ROOT, tree, ignore=shutil.ignore_patterns("build*", ".git", ".deps"))
    env = dict(os.environ, PATH="/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ["PATH"])
    subprocess.run(["meson", "setup", "build", "-Ddriver=false", "-Dtests=false", "-Dwerror=false"], cwd=tree, env=env, check=True,
                   stdout=subprocess.DEVNULL)
    return tree, env


@pytest.mark.long
@pytest.mark.parametrize("file, was, is_, rows", DEFECTS, ids=[f"{row[0]}:{sorted(row[3])[0]}" for row in DEFECTS])
def test_a_defective_device_is_noticed(tmp_path, defective, file, was, is_, rows):
    tree, env = defective
    source = tree / "lib/softhca" / file
    text = source.read_text()
    assert text.count(was) == 1, f"{file} has {was} {text.count(was)} times"
    source.write_text(text.replace(was, is_))
    try:
        subprocess.run(["ninja", "-C", "build"], cwd=tree, env=env, check=True, stdout=subprocess.DEVNULL)
        status, seen, report = check(tmp_path, "--patience", "500", softhca=tree / "build/app/softhca")
    finally:
        source.write_text(text)
    assert status == 1
    assert rows <= {row for row, result in seen.items() if result == "FAIL"}, report
