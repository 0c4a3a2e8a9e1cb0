# SPDX-License-Identifier: BSD-3-Clause
"""net_bonding over our ports: which cable an answer takes in each mode, failover, LACP with a partner."""
import collections
import contextlib
import socket
import struct
import time

import pytest
from harness import frames
from harness.cable import Cable
from harness.ctl import link
from harness.dpdk import BONDING, BONDING_LACP, MEMBER
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

MACS = ["02:00:00:00:00:10", "02:00:00:00:00:11"]
ROUND_ROBIN, ACTIVE_BACKUP, BALANCE, BROADCAST, LACP, TLB, ALB = range(7)
COUNT = 64
ARP, REQUEST, REPLY = 0x0806, 1, 2


@contextlib.contextmanager
def bonded(tmp_path, mode, *commands, forward="macswap"):
    """Ports 0 and 1, each with a cable of its own, are port 2, which sends back what it receives."""
    wires = [f"wire=unix:{tmp_path}/{i},mac={mac}" for i, mac in enumerate(MACS)]
    with Testpmd(ports=wires, link_events=True) as pmd, Cable(tmp_path / "0") as zero, \
            Cable(tmp_path / "1") as one:
        for line in ("port stop all", f"create {BONDING} device {mode} 0", f"add bonding {MEMBER} 0 2",
                     f"add bonding {MEMBER} 1 2", *commands, "port start 2", "set portlist 2",
                     f"set fwd {forward}"):
            pmd.cmd(line)
        end = time.monotonic() + PATIENCE
        while f"Active {MEMBER.title()}s (2)" not in pmd.cmd("show bonding config 2"):
            assert time.monotonic() < end
        pmd.cmd("start")
        yield pmd, (zero, one)
        pmd.cmd("stop")


def datagrams(at=0):
    return [frames.packet(sport=1000 + at + i, dport=9) for i in range(COUNT)]


def answers(cables, sent, copies=1, own_address=False):
    """How many of the answers to what was sent came by each cable; all are right, and there are `copies` of each.

    With `own_address` each port may send with its own in place of the bond's, which is port 0's.
    """
    wanted = collections.Counter(frame[6:12] + frame[:6] + frame[12:] for frame in sent for _ in range(copies))
    got, counts, end = collections.Counter(), [0, 0], time.monotonic() + PATIENCE
    while got.total() < wanted.total() and time.monotonic() < end:
        for i, cable in enumerate(cables):
            came = cable.receive_all(None, 0.02)
            if own_address:
                came = [frame[:6] + frame[6:12].replace(frames.mac(MACS[i]), frames.mac(MACS[0])) + frame[12:]
                        for frame in came]
            got.update(came)
            counts[i] += len(came)
    assert got == wanted
    return counts


# Of the answers' ways, where they follow from hashes or load.
ONE, BOTH, ANY = lambda counts: 0 in counts, lambda counts: min(counts) > 0, lambda counts: True
# Mode, what it is told, copies of an answer, and how many go by each cable.
ROWS = [
    (ROUND_ROBIN, [], 1, [COUNT // 2, COUNT // 2]),
    (ACTIVE_BACKUP, [], 1, [COUNT, 0]),
    (ACTIVE_BACKUP, ["set bonding primary 1 2"], 1, [0, COUNT]),
    (BALANCE, ["set bonding balance_xmit_policy 2 l2"], 1, ONE),
    (BALANCE, ["set bonding balance_xmit_policy 2 l34"], 1, BOTH),
    (BROADCAST, [], 2, [COUNT, COUNT]),
    (TLB, [], 1, ANY),
    (ALB, [], 1, ANY),
]


@pytest.mark.parametrize("mode, commands, copies, share", ROWS)
def test_answers_take_the_modes_way(tmp_path, mode, commands, copies, share):
    with bonded(tmp_path, mode, *commands) as (_, cables):
        active = 1 if commands and "primary 1" in commands[0] else 0
        sent = datagrams()
        cables[active].send(*sent)
        # ALB sends what is not ARP as TLB does.
        counts = answers(cables, sent, copies, mode in (TLB, ALB))
        assert share(counts) if callable(share) else counts == share, counts


def arp(operation, sender, sender_ip, target, target_ip):
    return struct.pack("!HHBBH6s4s6s4s", 1, frames.IPV4, 6, 4, operation, frames.mac(sender), socket.inet_aton(sender_ip),
                       frames.mac(target), socket.inet_aton(target_ip))


def test_alb_shares_out_its_clients(tmp_path):
    """Whoever asks for the bond's address is told that of one port or of the other, by the cable of that one."""
    clients = [(f"02:00:00:00:01:{i:02x}", f"10.0.0.{i}") for i in range(1, 9)]
    with bonded(tmp_path, ALB, forward="icmpecho") as (_, cables):
        cables[0].send(*[frames.ether(arp(REQUEST, mac, ip, MACS[0], "10.0.0.100"), ARP, dst=frames.BROADCAST, src=mac)
                         for mac, ip in clients])
        # In turn.
        for i, cable in enumerate(cables):
            got = cable.receive_all(len(clients) // 2, PATIENCE)
            told = [frame for mac, ip in clients for frame in
                    [frames.ether(arp(REPLY, MACS[i], "10.0.0.100", mac, ip), ARP, dst=mac, src=MACS[i])] if frame in got]
            assert sorted(got) == sorted(told) and len(got) == len(clients) // 2, got


@pytest.mark.parametrize("mode", [ACTIVE_BACKUP, BALANCE, BROADCAST, TLB])
def test_a_link_that_fails_is_replaced(tmp_path, mode):
    """By the other one while it is down; the port's event says so, nobody polls for it."""
    with bonded(tmp_path, mode) as (pmd, cables):
        for failed in (0, 1):
            link(pmd, "down", failed)
            end = time.monotonic() + PATIENCE
            while f"Active {MEMBER.title()}s (1): [{1 - failed}]" not in pmd.cmd("show bonding config 2"):
                assert time.monotonic() < end
            assert pmd.info(2)["Link status"] == "up"
            sent = datagrams(failed)
            cables[1 - failed].send(*sent)
            assert answers(cables, sent, 1, mode == TLB)[1 - failed] == COUNT
            link(pmd, "up", failed)
            while f"Active {MEMBER.title()}s (2)" not in pmd.cmd("show bonding config 2"):
                assert time.monotonic() < end


def test_lacp_with_a_partner():
    """802.3ad at both ends of two cables: they agree, and what circles between them uses the bond."""
    wires = [f"wire=pair:{cable},mac=02:00:00:00:00:{end}{cable}" for end in (1, 2) for cable in (0, 1)]
    with Testpmd(ports=wires, link_events=True, args=["--port-topology=loop"], memory=256) as pmd:
        pmd.cmd("port stop all")
        for bond, ports in ((4, (0, 1)), (5, (2, 3))):
            pmd.cmd(f"create {BONDING} device {LACP} 0")
            # LACPDUs come to a queue of their own, by a rule of rte_flow, and leave without forwarding.
            assert "enabled" in pmd.cmd(f"set bonding lacp dedicated_queues {bond} enable")
            for port in ports:
                pmd.cmd(f"add bonding {MEMBER} {port} {bond}")
        for line in ("port start 4", "port start 5", "set portlist 4,5", "set fwd io"):
            pmd.cmd(line)
        end = time.monotonic() + PATIENCE
        while any(pmd.cmd(f"{BONDING_LACP} {bond}").count("COLLECTING DISTRIBUTING") < 4 for bond in (4, 5)):
            assert time.monotonic() < end, pmd.cmd(f"{BONDING_LACP} 4")
            time.sleep(0.2)
        pmd.cmd("start tx_first 1")
        for bond in (4, 5):
            pmd.wait_stats(lambda stats: stats["RX-packets"] > 10000, port=bond, quiet=PATIENCE)
        pmd.cmd("stop")
