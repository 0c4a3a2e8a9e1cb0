# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check leaves netdevs as they were: after its end, and after a signal in the middle of a row."""
import contextlib
import json

import pytest
from harness import host
from harness.mlx5dv_check import CABLE, run


def state(netdev):
    """Flags, MTU, addresses and lists of a netdev."""
    link, = json.loads(host.run("ip", "-d", "-j", "link", "show", "dev", netdev))
    kept = {key: link[key] for key in ("flags", "mtu", "address", "promiscuity", "allmulti") if key in link}
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


def test_the_mtu_of_a_netdev_that_is_the_peer(tap_allowed):
    with netdev_of_mtu(2500) as netdev:
        before = state(netdev)
        done = run("--ibdev", "mlx5_0", "--peer", f"netdev:{netdev}", "--only", "MTU", ports=[f"wire=tap:{netdev}"])
        assert "MTU" in done.stdout and done.returncode == 0, done.stdout
        assert state(netdev) == before
