# SPDX-License-Identifier: BSD-3-Clause
"""What mlx5dv-check cannot do: said with the culprit before a netdev is touched, exit status 2, as its guide has it."""
import os
import shutil
import subprocess

import pytest
from harness import host
from harness.mlx5dv_check import CABLE, CHECK, argv_of, environment, run
from harness.ordinary import public_tree
from harness.patience import PATIENCE

BOTH = ["--ibdev", "mlx5_0", "--peer", "mlx5_1"]


def refused(*args, **how):
    """What it says besides the EAL's own lines."""
    done = run(*args, **how)
    assert done.returncode == 2 and "passed" not in done.stdout, done.stdout
    return [line for line in done.stdout.splitlines() if line.startswith("mlx5dv")]


@pytest.mark.parametrize("args, said", [
    (["--ibdev", "mlx5_7", "--peer", "mlx5_1"], "mlx5dv: mlx5_7: no such verbs device; present: mlx5_0, mlx5_1"),
    (["--ibdev", "mlx5_0/2", "--peer", "mlx5_1"], "mlx5dv: mlx5_0: no port 2; there are: 1 (no netdev)"),
    (["--ibdev", "mlx5_0", "--peer", "mlx5_0"], "mlx5dv-check: --peer mlx5_0 is --ibdev itself, not the other end of its cable"),
    (["--ibdev", "mlx5_0", "--peer", "mlx5_0/1"], "mlx5dv-check: --peer mlx5_0/1 is --ibdev itself, not the other end of its cable"),
    (["--ibdev", "mlx5_0/4294967297", "--peer", "mlx5_1"],
     "mlx5dv-check: 'mlx5_0/4294967297' is neither IBDEV, IBDEV/PORT nor netdev:NAME"),
    (["--ibdev", "mlx5_0/-1", "--peer", "mlx5_1"], "mlx5dv-check: 'mlx5_0/-1' is neither IBDEV, IBDEV/PORT nor netdev:NAME"),
    ([*BOTH, "--only", "nothing"], "mlx5dv-check: no row has 'nothing' in its name; --list has the names"),
    ([*BOTH, "--json", "/"], "mlx5dv-check: cannot write /: Is a directory"),
    ([*BOTH, "--model", "/nowhere/x"], "mlx5dv-check: cannot write /nowhere/x: No such file or directory"),
    ([*BOTH, "also"], "mlx5dv-check: 'also' is no option; those of the EAL follow --"),
    ([*BOTH, "--devargs", "mode=ibv," * 50 + "nonsense=1"], "mlx5dv-check: --devargs: more than 400 bytes"),
    ([*BOTH, "--devargs", "nonsense=1"], "mlx5dv-check: mlx5_0: the driver net_mlx5dv does not take it: Invalid argument"),
])
def test_options(args, said):
    assert said in refused(*args)


def test_a_report_of_before_stays_until_there_is_one(tmp_path):
    """And a file that was not there is not left behind, nor a link taken away that leads to where it is to be."""
    file, new, link = tmp_path / "report.json", tmp_path / "new.json", tmp_path / "latest.json"
    file.write_text("of before")
    link.symlink_to("new.json")
    for path in (file, new, link):
        refused("--ibdev", "mlx5_7", "--peer", "mlx5_1", "--json", path)
    assert file.read_text() == "of before" and not new.exists() and link.is_symlink()


def test_a_model_of_before_stays_until_there_is_one(tmp_path):
    """Nor is a device removed that the model was to go to."""
    file, new, full = tmp_path / "of.model", tmp_path / "new.model", tmp_path / "full"
    file.write_text("of before")
    full.symlink_to("/dev/full")
    for path in (file, new, full):
        assert refused("--ibdev", "mlx5_7", "--model", path) == ["mlx5dv-check: mlx5_7 cannot be asked: No such device"]
    assert file.read_text() == "of before" and not new.exists() and full.is_symlink()
    assert refused("--ibdev", "mlx5_0", "--model", full) == [f"mlx5dv-check: {full} is not whole: No space left on device"]
    assert full.is_symlink()


def test_a_report_that_does_not_fit():
    done = run(*BOTH, "--only", "link", "--json", "/dev/full")
    assert "mlx5dv-check: the JSON report is not whole: No space left on device" in done.stdout and done.returncode == 2
    with open("/dev/full", "w") as full:
        done = subprocess.run(argv_of(*BOTH, "--only", "link"), env=environment(), stdin=subprocess.DEVNULL, stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert "mlx5dv-check: the report is not whole: No space left on device" in done.stderr and done.returncode == 2


def test_the_ports_own_netdev_is_no_peer(tap_allowed):
    with host.netdev_that_is_up() as netdev:
        said = refused("--ibdev", "mlx5_0", "--peer", f"netdev:{netdev}", "--yes", ports=[f"{CABLE[0]},kernel=tap:{netdev}", CABLE[1]])
    assert f"mlx5dv-check: --peer netdev:{netdev} is the netdev of mlx5_0 itself, whose frames go onto the wire, not the other end " \
        "of its cable" in said


@pytest.mark.parametrize("ports, name", [
    (["wire=pair:c", "wire=pair:d"], "mlx5_0"),
    (["wire=null", "wire=pair:d"], "mlx5_1"),
])
def test_a_port_that_is_down(ports, name):
    """Its cable has no other end."""
    said = refused(*BOTH, "--patience", "50", ports=ports)
    assert f"mlx5dv-check: {name} has no link: is its cable plugged in at both ends?" in said


def test_a_port_that_is_down_with_a_netdev(tap_allowed):
    with host.netdev_that_is_up() as netdev:
        said = refused(*BOTH, "--yes", "--patience", "50", ports=["wire=null", f"wire=pair:d,kernel=tap:{netdev}"])
    assert f"mlx5dv-check: mlx5_1 has no link: is its cable plugged in at both ends, and its netdev up, {netdev}?" in said


def without_driver(extra):
    argv = argv_of(*BOTH, "--only", "link")
    argv = argv[:argv.index("-d")] + extra
    done = subprocess.run(argv, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=PATIENCE)
    return done.returncode, done.stdout


def test_no_driver():
    status, said = without_driver([])
    assert 'mlx5dv-check: mlx5_0: there is no driver net_mlx5dv: "-- -d librte_net_mlx5dv.so" loads it' in said and status == 2
    status, said = without_driver(["-d", "nosuch.so"])
    assert "nosuch.so: cannot open" in said and "mlx5dv-check: the EAL does not start" in said and status == 2


@pytest.mark.parametrize("capabilities, said", [
    ((), "the process lacks CAP_NET_RAW; start it as root or with that capability"),
    (("net_raw",), "RLIMIT_MEMLOCK is 64 kB, which all that is registered must fit in: raise it (ulimit -l) or give CAP_IPC_LOCK"),
])
def test_no_permission(capabilities, said):
    """As an ordinary user with one of the two capabilities, at most, that a card takes."""
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    with public_tree() as tree:
        program = shutil.copy(CHECK, tree.path)
        command = ["sh", "-c", 'ulimit -l 64; exec "$@"', "sh", tree.softhca, "run", "--port", CABLE[0], "--port", CABLE[1], "--",
                   program, *BOTH, "--only", "link", "--", "--no-huge", "-m", "256", "-d", tree.plugin]
        done = subprocess.run(tree.as_nobody(command, capabilities), env=environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
    assert said in done.stdout and done.returncode == 2, done.stdout
    assert "mlx5dv-check: mlx5_0: " in done.stdout
