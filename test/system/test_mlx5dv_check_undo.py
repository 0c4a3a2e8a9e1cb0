# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check leaves netdevs as they were: after its end, and after a signal in the middle of a row."""
import contextlib
import json
import os
import re
import signal
import subprocess
import time

import pytest
from harness import host
from harness.mlx5dv_check import CABLE, all_rows, argv_of, environment, run
from harness.patience import PATIENCE


def state(netdev):
    """Flags, MTU, addresses and lists of a netdev. Carrier is the TAP's own business."""
    link, = json.loads(host.run("ip", "-d", "-j", "link", "show", "dev", netdev))
    kept = {key: link[key] for key in ("mtu", "address", "promiscuity", "allmulti") if key in link}
    kept["flags"] = sorted(set(link["flags"]) - {"NO-CARRIER", "LOWER_UP"})
    lists = [host.run("ip", "maddr", "show", "dev", netdev), host.run("bridge", "fdb", "show", "dev", netdev)]
    return kept, [sorted(text.splitlines()) for text in lists]


@contextlib.contextmanager
def netdev_of_mtu(mtu):
    with host.netdev_that_is_up() as netdev:
        host.run("ip", "link", "set", netdev, "mtu", str(mtu))
        yield netdev


@pytest.mark.parametrize("mtu", [1400, 1500, 3000])
def test_the_mtu_is_as_before(tap_allowed, mtu):
    """Also if it was not ethdev's own default, which is all that the port's MTU can be set back to."""
    with netdev_of_mtu(mtu) as netdev:
        before = state(netdev)
        assert before[0]["mtu"] == mtu
        done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--yes", "--only", "MTU",
                   ports=[f"{CABLE[0]},kernel=tap:{netdev}", CABLE[1]])
        assert "pass       MTU" in done.stdout and done.returncode == 0, done.stdout
        assert state(netdev) == before


def test_a_netdev_that_was_down_is_down_again(tap_allowed):
    """The driver sets it up when its port starts. Nobody is asked: there is no traffic to be taken."""
    with netdev_of_mtu(1400) as netdev:
        host.run("ip", "link", "set", netdev, "down")
        before = state(netdev)
        assert "UP" not in before[0]["flags"]
        done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--only", "link", ports=[f"{CABLE[0]},kernel=tap:{netdev}", CABLE[1]])
        assert "pass       link" in done.stdout and done.returncode == 0, done.stdout
        assert state(netdev) == before


def test_the_mtu_of_a_netdev_that_is_the_peer(tap_allowed):
    with netdev_of_mtu(2500) as netdev:
        before = state(netdev)
        done = run("--ibdev", "mlx5_0", "--peer", f"netdev:{netdev}", "--only", "MTU", ports=[f"wire=tap:{netdev}"])
        assert "MTU" in done.stdout and done.returncode == 0, done.stdout
        assert state(netdev) == before


def test_a_function_is_not_promiscuous_after_another_driver(tap_allowed):
    """DPDK's own driver has Linux set a function's netdev so, and leaves it (mlx5_nl_promisc)."""
    with netdev_of_mtu(1500) as netdev, netdev_of_mtu(1500) as other:
        done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--yes", "--only", "beside",
                   ports=[function_on(netdev)[0], f"{function_on(other)[0]},mac=02:00:00:00:00:09"])
        if re.search("^not there +beside net_mlx5: ", done.stdout, re.M):
            pytest.skip("DPDK's own driver does not run here")
        # What it measures is another test's business.
        assert "beside net_mlx5: " in done.stdout, done.stdout
        assert not {"PROMISC", "ALLMULTI"} & {*state(netdev)[0]["flags"], *state(other)[0]["flags"]}


class Run:
    """The program, which a signal ends."""

    def __init__(self, tmp_path, *args, **how):
        self.file = tmp_path / "report.json"
        argv = argv_of("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--yes", "--json", self.file, *args, **how)
        self.process = subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.said = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def read_to(self, text):
        for line in self.process.stdout:
            self.said += line
            if text in line:
                return
        raise AssertionError(self.said)

    def stopped_in(self, signum):
        """The row, after looking at what the program said of it."""
        if not self.process.stdout.closed:
            self.said += self.process.communicate(timeout=PATIENCE)[0]
        assert self.process.wait(PATIENCE) == 128 + signum, self.said
        report = json.loads(self.file.read_text())
        assert report["stopped"]["signal"] == signum
        row = report["stopped"]["row"]
        assert row not in [done["row"] for done in report["rows"]]
        assert report["failed"] == 0, report
        return row


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def port_on(netdev):
    return [f"{CABLE[0]},kernel=tap:{netdev}", CABLE[1]]


def function_on(netdev):
    return [f"wire=null,vf=on,trust=on,kernel=tap:{netdev}", "wire=null,vf=on,mac=02:00:00:00:00:09"]


CHANGES = [
    (port_on, "MTU", 1, "'mtu': 1800"),
    (function_on, "addresses", 4, "02:00:00:00:02:01"),  # before: broadcast, and an address that is nobody's yet
    (function_on, "multicast list", 1, "03:00:5e:00:02:01"),
    (function_on, "promiscuous", 1, "'PROMISC'"),
    (function_on, "all multicast", 1, "'ALLMULTI'"),
]


# Two of them with one signal each; the others, and each with both, in the long run.
@pytest.mark.parametrize("ports, row, lost, sign, signum", [
    pytest.param(*change, signum, marks=[] if turn == number else [pytest.mark.long])
    for number, change in enumerate(CHANGES) for turn, signum in enumerate((signal.SIGINT, signal.SIGTERM))])
def test_a_signal_while_a_row_has_changed_the_netdev(tmp_path, tap_allowed, ports, row, lost, sign, signum):
    """A cable that loses all keeps the row waiting for longer than the test waits."""
    faults = tmp_path / "faults"
    faults.write_text(f"wire loss from {lost} frames of mlx5_0\n")
    with netdev_of_mtu(1500) as netdev:
        before = state(netdev)
        with Run(tmp_path, "--only", row, "--patience", str(10000 * PATIENCE), ports=ports(netdev),
                 options=["--faults", faults]) as check:
            wait_for(lambda: sign in str(state(netdev)))
            check.process.send_signal(signum)
            assert check.stopped_in(signum) == row
        assert state(netdev) == before


@pytest.mark.parametrize("passed, signum", [
    ("link", signal.SIGHUP),
    *(pytest.param(passed, signum, marks=pytest.mark.long) for passed, signum in (
        ("flow: MARK", signal.SIGINT),
        ("send 1514 bytes", signal.SIGTERM), ("RSS key", signal.SIGHUP), ("redirection table", signal.SIGTERM),
        ("extended statistics", signal.SIGINT))),
])
def test_a_signal_in_the_row_behind_another(tmp_path, tap_allowed, passed, signum):
    """What follows is a flood, a rule that counts, addresses, a packet that is cut, filters of VLANs, a reset."""
    with netdev_of_mtu(3000) as netdev:
        before = state(netdev)
        with Run(tmp_path, "--packets", "20000", ports=port_on(netdev)) as check:
            check.read_to(f"pass       {passed}\n")
            check.process.send_signal(signum)
            rows = all_rows()
            assert rows.index(check.stopped_in(signum)) > rows.index(passed)
        assert state(netdev) == before


def test_the_reader_of_the_report_has_gone(tmp_path, tap_allowed):
    """As in `mlx5dv-check ... | head`: that is no reason to leave the netdev as a row had it."""
    with netdev_of_mtu(3000) as netdev:
        before = state(netdev)
        with Run(tmp_path, ports=port_on(netdev)) as check:
            check.read_to("pass       link")
            check.process.stdout.close()
            check.stopped_in(signal.SIGPIPE)
        assert state(netdev) == before


def test_a_long_run_that_outlives_its_terminal(tmp_path):
    """nohup has SIGHUP ignored."""
    argv = ["nohup", *argv_of("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--only", "bytes", "--packets", "20000")]
    with subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as check:
        said = ""
        for line in check.stdout:
            said += line
            if line == "pass       receive 60 bytes\n":
                check.send_signal(signal.SIGHUP)
        assert check.wait(PATIENCE) == 0 and "4 passed, 0 failed" in said, said


def test_a_signal_at_the_question(tmp_path, tap_allowed):
    """Nothing was done so far."""
    with netdev_of_mtu(3000) as netdev:
        before = state(netdev)
        argv = argv_of("--ibdev", "mlx5_0", "--peer", "mlx5_1", ports=port_on(netdev))
        with subprocess.Popen(argv, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as asking:
            said = b""
            while b"Go on? [y/N] " not in said:
                said += os.read(asking.stdout.fileno(), 4096) or pytest.fail(said.decode())
            # Not SIGINT, which shells let their background jobs ignore.
            asking.send_signal(signal.SIGTERM)
            assert asking.wait(PATIENCE) == 128 + signal.SIGTERM
        assert state(netdev) == before
