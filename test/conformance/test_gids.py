# SPDX-License-Identifier: BSD-3-Clause
"""GIDs of a port are the addresses of its netdev: what programs of Debian's ibverbs-utils and sysfs say of them."""
import os
import re
import time

import pytest
from harness import card as cards
from harness import host
from harness.patience import PATIENCE, until
from harness.terminal import Terminal

WHY_NOT = host.why_no_tap()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=f"no TAPs: {WHY_NOT}")

MAC = "02:00:00:00:00:10"
OF_MAC = "fe80:0000:0000:0000:0000:00ff:fe00:0010"
IPV4 = "0000:0000:0000:0000:0000:ffff:c000:0201"
IPV6 = "fd00:0000:0000:0000:0000:0000:0000:0007"
NONE = "0000:0000:0000:0000:0000:0000:0000:0000"


def of_devinfo(card):
    """{index: (GID, type)}, as ibv_devinfo prints them."""
    text = cards.run_on(card, "ibv_devinfo", "-v").stdout
    found = re.findall(r"GID\[\s*(\d+)\]:\s*(\S+?),? (RoCE v\d)", text)
    return {int(index): (gid.replace("::ffff:192.0.2.1", IPV4), kind) for index, gid, kind in found}


def of_sysfs(card, netdev):
    """{index: (GID, type)}, as sysfs has them: an empty entry has neither type nor netdev."""
    port = cards.directory(card) / "sys/class/infiniband/mlx5_0/ports/1"
    found = {}
    for path in (port / "gids").iterdir():
        gid = path.read_text(encoding="ascii").strip()
        kind = port / "gid_attrs/types" / path.name
        assert kind.exists() == (gid != NONE)
        if kind.exists():
            assert (port / "gid_attrs/ndevs" / path.name).read_text(encoding="ascii").strip() == netdev
            found[int(path.name)] = (gid, kind.read_text(encoding="ascii").strip().replace("IB/", ""))
    return found


def table(*pairs):
    """{index: (GID, type)} of {index of the first: GID}"""
    return {index + v2: (gid, f"RoCE v{v2 + 1}") for index, gid in pairs for v2 in range(2)}


def wait_for(wanted, card, netdev):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if of_sysfs(card, netdev) == wanted:
                return
        except (AssertionError, FileNotFoundError):
            pass  # An entry went between two of its files.
        time.sleep(0.02)
    assert of_sysfs(card, netdev) == wanted


def active_mtu(card):
    return int(re.search(r"active_mtu:\s+(\d+) ", cards.run_on(card, "ibv_devinfo").stdout).group(1))


def test_the_mtu_follows_the_netdev():
    """What is left for a payload, of those that IBTA has."""
    netdev = host.name("g")
    with cards.up(f"wire=null,mac={MAC},kernel=tap:{netdev}") as card:
        for mtu, wanted in ((1500, 1024), (9000, 4096), (1000, 512), (1500, 1024)):
            host.run("ip", "link", "set", netdev, "mtu", str(mtu))
            until(lambda: active_mtu(card) == wanted)


def test_gids_follow_addresses():
    netdev = host.name("g")
    with cards.up(f"wire=null,mac={MAC},kernel=tap:{netdev}") as card:
        wait_for(table((0, OF_MAC)), card, netdev)
        watch = Terminal(cards.on(card, "ibv_asyncwatch"), env=dict(os.environ))
        try:
            watch.expect("async event FD", 0)
            host.run("ip", "addr", "add", "192.0.2.1/24", "dev", netdev)
            watch.expect(r"GID table change|event_type \S+ \(18\)", 0)
            host.run("ip", "link", "set", netdev, "up")
            host.run("ip", "addr", "add", "fd00::7/64", "dev", netdev, "nodad")
            wait_for(table((0, OF_MAC), (2, IPV4), (4, IPV6)), card, netdev)
            assert sorted(of_devinfo(card)) == [0, 1, 2, 3, 4, 5]
            # The netdev's own link-local address is the MAC's.
            host.run("ip", "addr", "del", "192.0.2.1/24", "dev", netdev)
            wait_for(table((0, OF_MAC), (4, IPV6)), card, netdev)
            assert sorted(of_devinfo(card)) == [0, 1, 4, 5]
        finally:
            watch.close()


def test_gids_follow_the_mac():
    """The first entries are made of the netdev's address, whoever has changed it."""
    netdev = host.name("g")
    with cards.up(f"wire=null,mac={MAC},kernel=tap:{netdev}") as card:
        wait_for(table((0, OF_MAC)), card, netdev)
        host.run("ip", "link", "set", netdev, "address", "02:00:00:00:00:77")
        wait_for(table((0, "fe80:0000:0000:0000:0000:00ff:fe00:0077")), card, netdev)
        address = next((cards.directory(card) / "sys/bus/pci/devices").glob(f"*/net/{netdev}/address"))
        until(lambda: address.read_text(encoding="ascii") == "02:00:00:00:00:77\n")
        host.run("ip", "link", "set", netdev, "address", MAC)
        wait_for(table((0, OF_MAC)), card, netdev)


def test_gids_without_netdev():
    with cards.up(f"wire=null,mac={MAC}") as card:
        assert of_sysfs(card, "") == table((0, OF_MAC))
        assert sorted(of_devinfo(card)) == [0, 1]
