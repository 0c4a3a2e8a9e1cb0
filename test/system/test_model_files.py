# SPDX-License-Identifier: BSD-3-Clause
"""Models as files: those of the tree, a user's, and what mlx5dv-check writes of a device."""
import json
import re
import subprocess

import pytest
from harness import paths
from harness.models import FILES, changed, keys_of
from harness.patience import PATIENCE
from harness.rig import Rig, probe
from harness.testpmd import softhca_argv

MODELS = ["cx5", "cx4lx", "cx6dx", "lean"]
CHECK = paths.BUILD / "app/mlx5dv-check"
# What neither verbs nor a trial tells, and names: a model that was asked has the defaults.
UNTOLD = {"name", "board", "vf_part_id", "rate_limit_bursts", "real_time_clock", "dump_wqe", "inner_ip_version",
          "modify_headers", "packet_reformats", "reformat_and_fwd_to_table", "reformat_and_modify_action",
          "fte_destinations", "fte_counters", "flow_counters", "cvlan_insertion", "hw_ver",
          "max_sq_desc_bytes", "max_rq_desc_bytes", "max_send_wqebb", "max_recv_wr"}


def run(port, *command, **how):
    return subprocess.run([str(word) for word in softhca_argv([port], command)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False, **how)


def asked(port, path):
    done = run(port, CHECK, "--ibdev", "mlx5_0", "--model", path)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    return keys_of(path)


def same(value):
    return str(int(value, 0)) if re.fullmatch(r"0x[0-9a-f]+|\d+", value) else value


@pytest.mark.parametrize("model", MODELS)
def test_what_is_asked_of_a_model_is_its_file(tmp_path, model):
    """And a device made of the answer answers the same."""
    first, second = tmp_path / "first.model", tmp_path / "second.model"
    told = asked(f"model={model}", first)
    file = keys_of(FILES / f"{model}.model")
    assert {key: same(value) for key, value in told.items() if key not in UNTOLD} == \
        {key: same(value) for key, value in file.items() if key not in UNTOLD}
    asked(f"model={first}", second)
    assert first.read_text() == second.read_text()


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
