# SPDX-License-Identifier: BSD-3-Clause
"""Models as files: those of the tree, a user's, and what mlx5dv-check writes of a device."""
import json
import re
import subprocess

import pytest
from harness import card as cards
from harness import paths
from harness.models import FILES, changed, keys_of
from harness.patience import PATIENCE
from harness.rig import Rig, probe
from harness.testpmd import softhca_argv

MODELS = ["cx5", "cx4lx", "cx6dx", "lean"]
CHECK = paths.BUILD / "app/mlx5dv-check"
# A key that no report has, and why: a model that was asked has the default.
UNTOLD = {
    "dump_wqe": "a capability of the HCA that DevX alone reads; no verb posts such a WQE",
    "cvlan_insertion": "a capability of the HCA that DevX alone reads; whether a card inserts the row 'VLAN insert' tells",
    "inner_ip_version": "Linux matches the EtherType where firmware has no such field: a rule is taken in either case",
    "module": "of what is plugged into the card: its netdev tells (the row 'module EEPROM'), and no verb",
    "flow_counters": "of all programs of the device: who finds the end has taken all from others",
}
# Known up to 64 at a time, for the same reason; a report has those of which a device has fewer.
SHARED = {"modify_headers", "packet_reformats", "fte_destinations"}
OF_A_HOST = {"vf_part_id"}  # sysfs has it of a physical function that can have virtual ones
NAMES = {"name"}  # that of the device

def run(port, *command, **how):
    return subprocess.run([str(word) for word in softhca_argv([port], command)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False, **how)


def asked(port, path):
    done = run(port, CHECK, "--ibdev", "mlx5_0", "--model", path)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    return keys_of(path)


def same(value):
    return str(int(value, 0)) if re.fullmatch(r"0x[0-9a-f]+|\d+", value) else value


def all_keys():
    """As `softhca help` lists them."""
    text = subprocess.run([paths.BUILD / "app/softhca", "help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z0-9_]+) = ", text, re.M))


@pytest.mark.parametrize("model, how", [("cx5", ""), ("cx4lx", ""), ("cx6dx", ",rtc=on"), ("lean", "")])
def test_what_is_asked_of_a_model_is_its_file(tmp_path, model, how):
    """And a device made of the answer answers the same. Of a clock that the firmware does not offer nobody tells."""
    first, second = tmp_path / "first.model", tmp_path / "second.model"
    told = asked(f"model={model}{how}", first)
    file = keys_of(FILES / f"{model}.model")
    assert {key: same(value) for key, value in told.items() if key not in NAMES} == \
        {key: same(value) for key, value in file.items() if key in told and key not in NAMES}
    asked(f"model={first}{how}", second)
    assert first.read_text() == second.read_text()


@pytest.mark.parametrize("model", MODELS)
def test_each_key_is_told_or_has_its_reason(tmp_path, model):
    told = set(asked(f"model={model}", tmp_path / "told.model"))
    lacking = all_keys() - told - set(UNTOLD) - SHARED - OF_A_HOST
    # Of a device without PASSTHRU no rule leads from an entry to a table; without the actions there are none to be counted.
    assert lacking == ({"reformat_and_fwd_to_table"} if model == "lean" else set())
    assert not told & set(UNTOLD) and len(all_keys()) > 50


@pytest.mark.parametrize("lines, how, told", [
    ({"real_time_clock": "yes"}, "", "no"),
    ({"real_time_clock": "yes"}, ",rtc=on", "yes"),
    ({"real_time_clock": "only"}, "", "only"),
])
def test_the_clock_is_told(tmp_path, lines, how, told):
    path = changed(tmp_path, lines, "cx6dx")
    assert asked(f"model={path}{how}", tmp_path / "told.model")["real_time_clock"] == told


def test_a_host_tells_of_its_functions(tmp_path):
    path = changed(tmp_path, {"vf_part_id": "0x1019"})
    ports = [f"wire=null,pf=on,model={path}", f"wire=null,vf=on,model={path}"]
    argv = softhca_argv(ports, [CHECK, "--ibdev", "mlx5_0", "--model", tmp_path / "told.model"])
    subprocess.run([str(word) for word in argv], check=True, timeout=PATIENCE)
    assert keys_of(tmp_path / "told.model")["vf_part_id"] == "0x1019"


@pytest.mark.parametrize("key, value", [
    ("modify_headers", "7"), ("packet_reformats", "9"), ("fte_destinations", "5"), ("fte_counters", "3"), ("rate_limit_bursts", "no"),
    ("reformat_and_fwd_to_table", "no"), ("reformat_and_modify_action", "no"), ("max_sq_desc_bytes", "960"),
])
def test_what_is_tried_is_told(tmp_path, key, value):
    path = changed(tmp_path, {key: value}, "cx6dx")
    assert asked(f"model={path}", tmp_path / "told.model")[key] == value


def test_the_report_has_the_models(tmp_path):
    report = tmp_path / "report.json"
    argv = softhca_argv(["wire=pair:c,model=cx6dx", "wire=pair:c,model=lean"],
                        [CHECK, "--ibdev", "mlx5_0", "--peer", "mlx5_1", "--json", report, "--only", "flow: none", "--",
                         "--no-huge", "-m", "256", "-d", paths.plugin()[0]])
    subprocess.run([str(word) for word in argv], env={**paths.plugin()[1], "PATH": "/usr/bin:/bin"}, check=True,
                   stdout=subprocess.PIPE, timeout=PATIENCE)
    for port, part, dont_trap in zip(json.loads(report.read_text())["ports"], ["101d", "1017"], ["yes", "no"]):
        assert f"vendor_part_id = 0x{part}\n" in port["model"] and f"dont_trap = {dont_trap}\n" in port["model"]


def test_a_file_makes_the_device(tmp_path):
    """Limits, names and offloads as verbs programs see them; from another working directory, too."""
    path = changed(tmp_path, {"board": "my card", "fw_ver": "16.30.1004", "max_qp": "77", "max_tso": "0"})
    for name in (path, f"./{path.name}"):
        done = run(f"model={name}", "sh", "-c", "cd / && ibv_devinfo -v", cwd=tmp_path)
        assert re.search(r"fw_ver:\s+16\.30\.1004\n", done.stdout), done
        assert re.search(r"board_id:\s+my card\n", done.stdout) and re.search(r"max_qp:\s+77\n", done.stdout)
        assert re.search(r"max_tso:\s+0\n", done.stdout) and done.stderr == ""


def test_the_driver_runs_on_a_file(tmp_path):
    """One without PASSTHRU refuses it, and receives."""
    with Rig(tmp_path, port=f",model={changed(tmp_path, {'dont_trap': 'no'})}") as rig:
        rig.add_sentinel()
        refused = rig.pmd.refused_flow("ingress priority 1 pattern eth / ipv4 / end actions queue index 0 / passthru / end",
                                       verb="create")
        assert "errno 95" in refused
        rig.pmd.flow("ingress priority 1 pattern eth / ipv4 / end actions queue index 1 / end")
        assert rig.numbers(rig.deliver(probe(1)), 1) == [1]


def test_what_no_softhca_has_is_told(tmp_path):
    path = changed(tmp_path, {"tunnel_offloads": "vxlan gre geneve", "modify_header_actions": "64"})
    done = run(f"model={path}", "ibv_devices")
    assert done.returncode == 0 and "mlx5_0" in done.stdout
    assert done.stderr == (f"softhca: {path}: without what softhca does not have: tunnel_offloads geneve,"
                           " modify_header_actions 64\n")


@pytest.mark.parametrize("lines, said", [
    ({"max_sge": "40"}, "max_sge segments of 16 bytes must fit in max_rq_desc_bytes"),
    ({"max_tso": None}, "max_tso: is not given"),
    ({"speed": "25"}, "no key 'speed'"),
])
def test_a_file_that_is_no_model_is_refused(tmp_path, lines, said):
    path = changed(tmp_path, lines)
    done = run(f"model={path}", "ibv_devices")
    assert done.returncode == 125 and done.stdout == ""
    assert f"--port model={path}: model: {path}: " in done.stderr and said in done.stderr


def test_functions_of_a_card_are_of_one_file(tmp_path):
    path = changed(tmp_path, {"max_qp": "77"})
    vf = "wire=loop,vf=on"
    for second, status in ((f"{vf},mac=02:00:00:00:00:0b,model={path}", 0), (f"{vf},mac=02:00:00:00:00:0b", 125)):
        argv = softhca_argv([f"{vf},model={path}", second], ["true"])
        assert subprocess.run([str(word) for word in argv], stderr=subprocess.DEVNULL, timeout=PATIENCE,
                              check=False).returncode == status


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    done = run("", CHECK, "--ibdev", "mlx5_0", "--model", tmp_path / "no/where")
    assert done.returncode == 2 and f"cannot write {tmp_path}/no/where: No such file or directory" in done.stderr
    done = run("", CHECK, "--ibdev", "mlx5_9", "--model", tmp_path / "file")
    assert done.returncode == 2 and "mlx5_9 cannot be asked: No such device" in done.stderr
    assert not (tmp_path / "file").exists()


def test_a_file_that_goes(tmp_path):
    """A card has the model that it was made with, for each program that comes."""
    path = tmp_path / "my.model"
    path.write_text((FILES / "cx5.model").read_text(encoding="ascii"), encoding="ascii")
    with cards.up(f"wire=null,model={path}") as card:
        path.unlink()
        assert re.search(rf"^{card} +process \d+ mlx5_0$", cards.softhca("list").stdout, re.M)
        assert "mlx5_0" in cards.run_on(card, "ibv_devices").stdout
