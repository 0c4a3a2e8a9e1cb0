# SPDX-License-Identifier: BSD-3-Clause
"""Two processes on one port: each sends and receives on a queue of its own, reads what there is, and may end."""
import contextlib
import os
import re
import signal
import threading
import time

import pytest
from harness import frames
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.shared import SecondaryTestpmd, SharedTestpmd, hugepages_at

MAC = frames.PORT_MAC
QUEUES = ["--rxq=2", "--txq=2", "--num-procs=2"]
# Short frames come in one segment and are inlined when they leave, the others come and leave in two.
SPLIT_INLINE = ([",tx_inline=204"], ["--mbuf-size=512,2048", "--rxpkts=64,0", "--rx-offloads=0x102000", "--tx-offloads=0x8000"])
PLAIN = ([], [])
BOTH_WAYS = pytest.mark.parametrize("way", [PLAIN, SPLIT_INLINE], ids=["plain", "split-inline"])
# The bursts are the same, and what is theirs has been shown by then.
ONE_WAY = pytest.mark.parametrize("way", [PLAIN, pytest.param(SPLIT_INLINE, marks=pytest.mark.long)], ids=["plain", "split-inline"])


@pytest.fixture(name="huge", scope="module")
def fixture_huge(tmp_path_factory):
    with hugepages_at(tmp_path_factory.mktemp("huge")) as directory:
        yield directory


def datagrams(queue, count=100, at=0):
    """Frames that the rules of primary() lead to that queue; every third is long."""
    return [frames.packet(sport=at + i, dport=queue, data=b"frame %d" % i + b"l" * (i % 3 // 2 * 500)) for i in range(count)]


def swapped(sent):
    return [frame[6:12] + frame[:6] + frame[12:] for frame in sent]


@contextlib.contextmanager
def primary(huge, tmp_path, faults="", way=PLAIN):
    """Queue 0 is its own, and it returns frames as they came; it and the far end of its cable."""
    devargs, args = way
    options = ()
    if faults:
        (tmp_path / "faults").write_text(faults)
        options = ("--faults", tmp_path / "faults")
    with SharedTestpmd(huge, f"wire=unix:{tmp_path}/wire,mac={MAC}", "".join(devargs), softhca_options=options,
                       args=[*QUEUES, "--proc-id=0", *args]) as pmd, Cable(tmp_path / "wire") as peer:
        for queue in (0, 1):
            pmd.flow(f"ingress pattern eth / ipv4 / udp dst is {queue} / end actions queue index {queue} / end")
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        yield pmd, peer


def secondary(pmd):
    """Queue 1 is its own, and it returns frames with their addresses swapped."""
    return SecondaryTestpmd(pmd, args=[*QUEUES, "--proc-id=1"])


def begin(pmd):
    pmd.cmd("set fwd macswap")
    pmd.cmd("start")


def check_both(peer, count=100):
    """Each process returns what is its own, in its way."""
    for queue, returned in ((0, lambda sent: sent), (1, swapped)):
        sent = datagrams(queue, count)
        peer.send(*sent)
        assert peer.receive_all(count, PATIENCE) == returned(sent), f"queue {queue}"


@BOTH_WAYS
def test_each_process_has_its_queue(huge, tmp_path, way):
    """More frames than the rings are long, by the same bursts; the counters of both are seen in both."""
    with primary(huge, tmp_path, way=way) as (pmd, peer), secondary(pmd) as second:
        begin(second)
        for line, said in (("show rxq info 0 1", "scattered, split"), ("show txq info 0 1", ", tso, inline")):
            modes = [process.cmd(line) for process in (pmd, second)]
            assert modes[0] == modes[1]
            assert (said in modes[0]) == (way is SPLIT_INLINE)
        for at in range(0, 3000, 100):
            both = [frame for pair in zip(datagrams(0, 100, at), datagrams(1, 100, at)) for frame in pair]
            peer.send(*both)
            got = peer.receive_all(200, PATIENCE)
            assert sorted(got) == sorted(both[::2] + swapped(both[1::2]))
        for process in (pmd, second):
            seen = process.xstats()
            assert all(seen[f"{side}_q{queue}_packets"] == 3000 for side in ("rx", "tx") for queue in (0, 1)), seen


def test_the_primary_restarts_the_port(huge, tmp_path):
    """With other offloads, hence other burst functions, which the secondary process then has, too."""
    with primary(huge, tmp_path) as (pmd, peer), secondary(pmd) as second:
        for line in ("", "port config 0 rx_offload udp_cksum on"):
            for process in (second, pmd):
                process.cmd("stop")
            for command in ("port stop 0", line, "port start 0"):
                pmd.cmd(command)
            for queue in (0, 1):
                pmd.flow(f"ingress pattern eth / ipv4 / udp dst is {queue} / end"
                         f" actions queue index {queue} / end")
            pmd.cmd("start")
            begin(second)
            check_both(peer)
            modes = [process.cmd("show rxq info 0 1") for process in (pmd, second)]
            assert modes[0] == modes[1]
            assert ("csum" in modes[0]) == bool(line)


@BOTH_WAYS
def test_errors_of_its_queues_are_repaired(huge, tmp_path, way):
    """Verbs is the primary's: it restarts the queue, and says so; frames of the moment are lost."""
    with primary(huge, tmp_path, "sq error 0x04 every 5\nrq error 0x04 every 130\n", way) as (pmd, peer), \
            secondary(pmd) as second:
        begin(second)
        sent, got = [], []
        stats, end = second.stats(), time.monotonic() + PATIENCE
        while stats["RX-errors"] < 3 or stats["TX-errors"] < 3:
            assert time.monotonic() < end, stats
            peer.send(*datagrams(1, 20, len(sent)))
            sent += datagrams(1, 20, len(sent))
            got += peer.receive_all(None, 0.05)
            stats = second.stats()
        # What does come back is right, once and in order.
        left = iter(swapped(sent))
        assert got and all(frame in left for frame in got)
        for side in ("Rx", "Tx"):
            pmd.terminal.expect(f"{side} queue 1: stopped with syndrome 0x4", 0, PATIENCE)


@ONE_WAY
def test_queues_of_both_are_recreated(huge, tmp_path, way):
    """When CQs break: by the primary, for the other process as well; which rings new doorbells then."""
    with primary(huge, tmp_path, "cq overrun every 40\n", way) as (pmd, peer), secondary(pmd) as second:
        begin(second)
        broken = [f"{side} queue {queue}: CQ error" for side in ("Rx", "Tx") for queue in (0, 1)]
        whole, at, end = set(), 0, time.monotonic() + PATIENCE
        while whole != {0, 1}:
            assert time.monotonic() < end, (whole, pmd.terminal.text[-3000:])
            pmd.mark()
            for queue, returned in ((0, list), (1, swapped)):
                sent = datagrams(queue, 20, at)
                peer.send(*sent)
                if peer.receive_all(20, 0.1) == returned(sent) and all(text in pmd.terminal.text for text in broken):
                    whole.add(queue)
            at += 20


def answers_between(peer, sent):
    """The primary returns all of `sent`, in order. How many frames of queue 1 come until it has."""
    answered, got = 0, []
    peer.send(*sent)
    while len(got) < len(sent):
        frame = peer.receive(PATIENCE)
        assert frame is not None, (len(got), answered)
        if frame[36:38] == bytes(2):  # by its UDP port for queue 0
            got.append(frame)
        else:
            answered += 1
    assert got == sent
    return answered


@ONE_WAY
def test_a_killed_secondary_harms_nobody(huge, tmp_path, way):
    """In the middle of traffic; the primary goes on, and after a restart of the queues another takes over."""
    with primary(huge, tmp_path, way=way) as (pmd, peer):
        for _ in range(2):
            second = secondary(pmd)
            try:
                second.__enter__()
                begin(second)
                check_both(peer)
                peer.send(*datagrams(1, 500))
                os.kill(second.terminal.process.pid, signal.SIGKILL)
                second.terminal.process.wait()
            finally:
                second.kill()
            answered = answers_between(peer, datagrams(0))
            for command in ("stop", "port 0 rxq 1 stop", "port 0 txq 1 stop", "port 0 txq 1 start",
                            "port 0 rxq 1 start", "start"):
                pmd.cmd(command)
            # The reset of its queue ended what the killed one had sent: none of it comes behind this.
            answered += answers_between(peer, datagrams(0, 1))
            assert answered <= 500
        with secondary(pmd) as second:
            begin(second)
            check_both(peer)


def kill_primary(huge, tmp_path):
    """In the middle of traffic; the secondary, which has ended by itself."""
    with primary(huge, tmp_path) as (pmd, peer), secondary(pmd) as second:
        begin(second)
        check_both(peer)
        peer.send(*datagrams(1, 200))
        os.kill(pmd.pid(), signal.SIGKILL)
        second.status = second.terminal.wait(PATIENCE)
        pmd.status = pmd.terminal.wait(PATIENCE)
    return second


def test_the_end_of_the_primary_is_noticed(huge, tmp_path):
    """By the driver; testpmd, told of the removal, ends by itself.

    Twice a second testpmd looks for the primary's lock, which the kernel drops before it tells of the end: where it
    looks in between it ends before the driver can know, and this shows nothing.
    """
    for _ in range(10):
        second = kill_primary(huge, tmp_path)
        assert second.status >= 0, "ended by a signal"
        seen = second.terminal.text
        if "Primary process is no longer active" not in seen or "the primary process has ended" in seen:
            break
    assert re.search("port 0: the primary process has ended.*Port 0: device removal event", seen, re.S), seen[-1000:]


@pytest.mark.long
def test_a_late_answer_is_not_that_of_the_next_question(huge, tmp_path):
    """A primary that a debugger has stopped goes on: to EAL its answers are those of the questions of that moment."""
    with primary(huge, tmp_path) as (pmd, _), secondary(pmd) as second:
        rules = pmd.cmd("flow dump 0 all")
        os.kill(pmd.pid(), signal.SIGSTOP)
        goes_on = threading.Timer(7, os.kill, (pmd.pid(), signal.SIGCONT))  # the second waits by then, from second 5 on
        goes_on.start()
        try:
            assert "Failed to dump flow" in second.cmd("flow dump 0 all")
            said = second.cmd("flow dump 0 all")
        finally:
            goes_on.join()
        # Both answers come at the same time, so its own may be the one that EAL keeps.
        assert "Failed to dump flow" in said or rules in said
        assert second.cmd("flow dump 0 all") == rules


def test_the_port_is_closed_under_it(huge, tmp_path):
    with primary(huge, tmp_path) as (pmd, peer), secondary(pmd) as second:
        begin(second)
        check_both(peer)
        second.cmd("stop")
        for command in ("stop", "port stop 0", "port close 0"):
            pmd.cmd(command)
        second.terminal.expect("Port 0: device removal event", 0, PATIENCE)


def ports_of(pmd):
    return re.findall(r"^\d+\s+[0-9A-F:]{17}\s+(\S+)", pmd.cmd("show port summary all"), re.M)


def test_ports_come_and_go_in_both(huge, tmp_path):
    """Whichever of them attaches or detaches one."""
    with primary(huge, tmp_path) as (pmd, peer), secondary(pmd) as second:
        for process in (pmd, second):
            assert "Port 1 is attached" in process.cmd("port attach net_mlx5dv1,ibdev=mlx5_0")
            assert ports_of(pmd) == ports_of(second) == ["net_mlx5dv0", "net_mlx5dv1"]
            assert "net_mlx5dv1 is detached" in process.cmd("device detach net_mlx5dv1")
            assert ports_of(pmd) == ports_of(second) == ["net_mlx5dv0"]
        begin(second)
        check_both(peer)


# dpdk-proc-info's options, and what they must show.
SHOWS = [
    ("--stats", r"RX-packets: 100 .*TX-packets: 100 "),
    ("--xstats", r"rx_q0_packets: 100.*tx_q0_packets: 100.*rx_out_of_buffer: 0"),
    ("--show-port", r"net_mlx5dv"),
    ("--show-port-private", r"device mlx5_0 port 1.*Tx queue 1: SQ 0x"),
    ("--firmware-version", r"firmware version: \d+\.\d+"),
    ("--show-rss-reta", r"hash index=511, queue=1"),
    ("--stats-reset", r"statistics for port 0 cleared"),
    ("--xstats", r"rx_q0_packets: 0.*tx_q0_packets: 0"),
]


def test_what_others_read(huge, tmp_path):
    """Stock dpdk-proc-info reads it all; the rules are dumped in one process as in the other."""
    with primary(huge, tmp_path) as (pmd, peer):
        sent = datagrams(0)
        peer.send(*sent)
        assert peer.receive_all(len(sent), PATIENCE) == sent
        for option, shown in SHOWS:
            with pmd.secondary("dpdk-proc-info", "--file-prefix", pmd.prefix, "--", option) as info:
                assert info.wait() == 0, info.text
            assert re.search(shown, info.text, re.S), f"{option}\n{info.text}"
        with secondary(pmd) as second:
            rules = pmd.cmd("flow dump 0 all")
            assert "out.udp_dport:0x1" in rules
            assert second.cmd("flow dump 0 all") == rules
