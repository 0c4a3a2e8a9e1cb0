# SPDX-License-Identifier: BSD-3-Clause
"""What a port receives is the same after a reset, which opens its device again: packets before and behind it."""
import pytest
from harness import frames
from harness.rig import Rig, SENTINEL_SRC, probe
from harness.testpmd import Testpmd

OTHER = "02:00:00:00:00:77"
GROUP = "01:00:5e:00:00:05"
SECOND = "02:00:00:00:00:11"
SENTINEL = f"ingress pattern eth src is {SENTINEL_SRC} / end actions queue index 3 / end"
# Number, destination, VLAN.
SENT = [(1, frames.PORT_MAC, None), (2, frames.BROADCAST, None), (3, GROUP, None), (4, OTHER, None), (5, SECOND, None),
        (6, frames.PORT_MAC, 5), (7, frames.PORT_MAC, 6), (8, OTHER, 5), (9, SECOND, 5)]
ALL = [number for number, _, _ in SENT]
# What Linux's netdev has the card give it: its own address, broadcast, multicast.
LINUX = [1, 2, 3, 6, 7]
# Commands, what the port takes then.
SETTINGS = {
    "none": ([], [1, 2, 6, 7]),
    "second address": ([f"mac_addr add 0 {SECOND}"], [1, 2, 5, 6, 7, 9]),
    "another address": ([f"mac_addr set 0 {SECOND}"], [2, 5, 9]),
    "multicast list": ([f"mcast_addr add 0 {GROUP}"], [1, 2, 3, 6, 7]),
    "promiscuous": (["set promisc 0 on"], ALL),
    "allmulticast": (["set allmulti 0 on"], [1, 2, 3, 6, 7]),
    "VLAN filter": (["vlan set filter on 0", "rx_vlan add 5 0", f"mac_addr add 0 {SECOND}"], [6, 9]),
    "isolated": (["flow isolate 0 1"], []),
    "isolated, and not": (["flow isolate 0 1", "set promisc 0 on", "flow isolate 0 0"], ALL),
}


def send(rig, shift=0):
    """The numbers of SENT that the port took."""
    rig.pmd.flow(SENTINEL)
    got = rig.deliver(*(probe(number + shift, eth_dst=dst, vlan=vlan) for number, dst, vlan in SENT))
    return sorted({number - shift for number in rig.numbers(got)})


def quiet(rig, *commands):
    for command in commands:
        answer = rig.pmd.cmd(command)
        assert "rror" not in answer and "ail" not in answer, f"{command}\n{answer}"


def reset(rig):
    quiet(rig, "stop", "port stop 0", "port reset 0", "port start 0", "start")


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_a_port_takes_stays(tmp_path, setting):
    commands, taken = SETTINGS[setting]
    with Rig(tmp_path, args=[]) as rig:
        quiet(rig, "set promisc 0 off", "set allmulti 0 off", *commands)
        assert send(rig) == taken
        for again in (1, 2):
            reset(rig)
            assert send(rig, 32 * again) == taken
    left = sorted(set(LINUX) - set(taken))
    assert sorted(rig.kernel) == [number + 32 * part for part in range(3) for number in left]


@pytest.mark.parametrize("sniff,taken", [("rx", [1, 2, 6, 7]), ("all", ALL)])
def test_sniffing_stays(tmp_path, sniff, taken):
    """The port gets its copies, and Linux what it would get without it."""
    with Rig(tmp_path, args=[], devargs=f",sniff={sniff}") as rig:
        quiet(rig, "set promisc 0 off", "set allmulti 0 off")
        assert send(rig) == taken
        reset(rig)
        assert send(rig, 32) == taken, rig.pmd.terminal.text[-6000:]
    assert sorted(rig.kernel) == LINUX + [number + 32 for number in LINUX]


def test_a_reset_that_fails(tmp_path):
    """The device has died: it does not open again, and the port is as it was, stopped, to be closed."""
    faults = tmp_path / "faults"
    faults.write_text("device fatal at 200")
    # Without this testpmd takes a removed port out of service by itself: test_events.py.
    with Testpmd(args=["--no-rmv-interrupt"], softhca_options=("--faults", faults)) as pmd:
        before = pmd.info()
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first")
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 200)
        pmd.cmd("stop")
        pmd.cmd("port stop 0")
        answer = pmd.cmd("port reset 0")
        assert "cannot be reset, its device does not open" in answer and "Failed to reset port 0" in answer, answer
        changed = {name for name, value in pmd.info().items() if value != before[name]}
        assert changed <= {"Link status", "Link speed"}
        assert "Port 0 is closed" in pmd.cmd("port close 0")
