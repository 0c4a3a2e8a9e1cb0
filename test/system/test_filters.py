# SPDX-License-Identifier: BSD-3-Clause
"""Which frames the port takes: its MACs, broadcast, multicast, promiscuous. The rest is the kernel's."""
from harness import frames
from harness.rig import Rig, SENTINEL_SRC, probe

OTHER = "02:00:00:00:00:77"
GROUP = "01:00:5e:00:00:05"
SECOND = "02:00:00:00:00:11"


def probes():
    return [probe(1), probe(2, eth_dst=frames.BROADCAST), probe(3, eth_dst=GROUP),
            probe(4, eth_dst=OTHER), probe(5, eth_dst=SECOND)]


def taken(rig):
    return sorted(set(rig.numbers(rig.deliver(*probes()))))


def test_own_mac_and_broadcast_only(tmp_path):
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        rig.pmd.cmd("set allmulti 0 off")
        assert taken(rig) == [1, 2]


def test_promiscuous_takes_all(tmp_path):
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 on")
        assert taken(rig) == [1, 2, 3, 4, 5]
        rig.pmd.cmd("set promisc 0 off")
        assert taken(rig) == [1, 2]
    assert 1 not in rig.kernel


def test_allmulticast(tmp_path):
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        rig.pmd.cmd("set allmulti 0 on")
        assert taken(rig) == [1, 2, 3]
        rig.pmd.cmd("set allmulti 0 off")
        assert taken(rig) == [1, 2]


def test_mac_add_and_remove(tmp_path):
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        assert "rror" not in rig.pmd.cmd(f"mac_addr add 0 {SECOND}")
        assert taken(rig) == [1, 2, 5]
        assert SECOND.upper() in rig.pmd.cmd("show port 0 macs").upper()
        rig.pmd.cmd(f"mac_addr remove 0 {SECOND}")
        assert taken(rig) == [1, 2]


def test_mac_set(tmp_path):
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        answer = rig.pmd.cmd(f"mac_addr set 0 {SECOND}")
        assert "rror" not in answer, answer
        assert rig.pmd.info()["MAC address"].lower() == SECOND
        # The sentinel goes to the old address: a rule of its own keeps it coming.
        rig.pmd.flow(f"ingress pattern eth src is {SENTINEL_SRC} / end actions queue index 3 / end")
        assert taken(rig) == [2, 5]


def test_multicast_list(tmp_path):
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        answer = rig.pmd.cmd(f"mcast_addr add 0 {GROUP}")
        assert "rror" not in answer and "fail" not in answer, answer
        assert taken(rig) == [1, 2, 3]
        rig.pmd.cmd(f"mcast_addr remove 0 {GROUP}")
        assert taken(rig) == [1, 2]


def test_filters_survive_stop_and_start(tmp_path):
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        rig.pmd.cmd(f"mac_addr add 0 {SECOND}")
        for command in ("stop", "port stop 0", "port start 0", "start"):
            rig.pmd.cmd(command)
        assert taken(rig) == [1, 2, 5]


def test_default_steering_comes_back_after_stop_and_reset(tmp_path):
    """MACs, promiscuous and allmulticast; testpmd itself flushes the rules of a port that it stops."""
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.cmd("set promisc 0 off")
        rig.pmd.cmd("set allmulti 0 on")
        assert "rror" not in rig.pmd.cmd(f"mac_addr add 0 {SECOND}")
        for command in ("port stop 0", "port reset 0", "port reset 0"):
            assert taken(rig) == [1, 2, 3, 5]
            rig.pmd.flow(f"ingress pattern eth dst is {OTHER} / end actions queue index 0 / end")
            assert taken(rig) == [1, 2, 3, 4, 5]
            rig.pmd.cmd("stop")
            rig.pmd.cmd("port stop 0")
            answer = rig.pmd.cmd(command)
            assert "rror" not in answer and "ail" not in answer, answer
            rig.pmd.cmd("port start 0")
            rig.pmd.cmd("start")
        assert taken(rig) == [1, 2, 3, 5]


def test_vlan_filter(tmp_path):
    """With the filter on and VLANs in it, their frames to the port's addresses; promiscuous mode takes all."""
    probes = [probe(1, vlan=5), probe(2, vlan=6), probe(3, vlan=0x2005, eth_dst=frames.BROADCAST),
              probe(4, vlan=5, eth_dst=OTHER), probe(6, vlan=4095 & 0xFFE)]

    def taken_tagged():
        return sorted(set(rig.numbers(rig.deliver(*probes, probe(5)))))

    sentinel = f"ingress pattern eth src is {SENTINEL_SRC} / end actions queue index 0 / end"
    with Rig(tmp_path, args=[]) as rig:
        rig.pmd.flow(sentinel)
        rig.pmd.cmd("set promisc 0 off")
        rig.pmd.cmd("set allmulti 0 off")
        assert taken_tagged() == [1, 2, 3, 5, 6]
        assert "rror" not in rig.pmd.cmd("vlan set filter on 0")
        assert "filter on" in rig.pmd.cmd("show port info 0")
        assert taken_tagged() == [1, 2, 3, 5, 6]
        assert "rror" not in rig.pmd.cmd("rx_vlan add 5 0")
        assert taken_tagged() == [1, 3]
        rig.pmd.cmd("rx_vlan add 4094 0")
        assert taken_tagged() == [1, 3, 6]
        rig.pmd.cmd("stop")
        rig.pmd.cmd("port stop 0")
        rig.pmd.cmd("port start 0")
        rig.pmd.cmd("start")
        rig.pmd.flow(sentinel)
        assert taken_tagged() == [1, 3, 6]
        rig.pmd.cmd("set promisc 0 on")
        assert taken_tagged() == [1, 2, 3, 4, 5, 6]
        rig.pmd.cmd("set promisc 0 off")
        rig.pmd.cmd("rx_vlan rm 5 0")
        assert taken_tagged() == [6]
        rig.pmd.cmd("vlan set filter off 0")
        assert taken_tagged() == [1, 2, 3, 5, 6]
