# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --faults: receive queues in error, CQs that overrun; what our driver makes of them."""
import os
import re

import pytest
from harness import ctl, frames, paths, pcapfile
from harness.cable import Cable
from harness.dpdk import DUMP_MEMPOOL
from harness.faulty import FaultyTestpmd
from harness.patience import PATIENCE
from harness.terminal import Terminal
from harness.testpmd import eal_args, eal_prefix, remove_runtime_dir, softhca_argv

pytestmark = pytest.mark.sanitized

MAC = frames.PORT_MAC
RX_SCATTER = 0x2000


def test_a_receive_queue_goes_on_after_errors(tmp_path):
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, [frames.packet(sport=i + 1) for i in range(100)])
    text = "rq error 0x04 every 1500\nrq error 0x01 every 700\nrq fatal every 1900\n"
    with FaultyTestpmd(tmp_path, text, f"wire=pcap:{capture},pace=0,repeat=0,mac={MAC}") as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.start_noisily()
        pmd.until(lambda: all(f"stopped with syndrome {syndrome}," in pmd.terminal.text
                              for syndrome in ("0x4", "0x5")), "no error")
        before = pmd.stats()
        pmd.wait_stats(lambda stats: stats["RX-packets"] > before["RX-packets"] + 5000)
        assert pmd.stats()["RX-errors"] != 0
        pmd.stop_and_count()
        pmd.cmd("port start 0")
        pmd.start_noisily()
        pmd.wait_stats(lambda stats: stats["RX-packets"] > 0)
    assert all(pmd.applied().values())


def test_a_recreated_receive_queue_takes_frames_as_long_as_before(tmp_path):
    """Its WQEs are no smaller for an MTU that was lowered since: long frames may be on their way."""
    with FaultyTestpmd(tmp_path, "cq overrun at 3\n", f"wire=unix:{tmp_path}/wire,mac={MAC}",
                       args=["--mbuf-size=640", f"--rx-offloads={RX_SCATTER:#x}"], eal=["--log-level", "pmd.net.mlx5dv:info"]) as pmd, \
            Cable(tmp_path / "wire") as cable:
        start = pmd.show_received()
        pmd.cmd("port config mtu 0 500")
        # The overrun takes what was not polled before it: the third frame waits for the others.
        cable.send(*[frames.packet(data=bytes(10))] * 2)
        pmd.wait_received(2, start)
        cable.send(frames.packet(data=bytes(10)))
        pmd.until(lambda: "Rx queue 0: recreated" in pmd.terminal.text, "not recreated")
        long = frames.packet(data=bytes(1285 - 42))
        cable.send(long)
        assert [packet["length"] for packet in pmd.wait_received(3, start)][2:] == [len(long)]
        assert "rror" not in pmd.cmd("port config mtu 0 1500")
        assert pmd.stats()["RX-errors"] == 0
    assert pmd.applied()["cq overrun at 3"] > 0


def test_a_queue_is_recreated_while_another_is_not_set_up(tmp_path):
    """A set-up that was refused leaves the WQ that rules point at, and they come back around the recovery of another queue."""
    wire, faults, prefix = tmp_path / "wire", tmp_path / "faults", eal_prefix()
    faults.write_text("cq overrun at 3\n")
    command = [str(paths.BUILD / "test/ethdev/ethdev-half-set-up"),
               *eal_args(prefix, ["net_mlx5dv0,ibdev=mlx5_0"], lcores="0", memory=128), "--log-level", "pmd.net.mlx5dv:info"]
    program = Terminal(softhca_argv([f"wire=unix:{wire},mac={MAC}"], command, ("--strict", "--faults", faults)),
                       env=dict(os.environ, **paths.plugin()[1]))
    try:
        with Cable(wire) as cable:
            program.expect("half set up\n", 0)
            cable.send(*[frames.packet(dport=1)] * 3)
            at = program.expect("Rx queue 0: (cannot be )?recreated", 0)
            assert at[1] is None, program.text
            cable.send(frames.packet(dport=1999))
            program.expect("\nset up\n", 0)
            cable.send(frames.packet(dport=1000))
            assert program.wait() == 0, program.text
    finally:
        program.close()
        remove_runtime_dir(prefix)
    assert "strict: no findings" in program.text, program.text


# fault: what the driver logs when the queue is back, by the same objects or by others.
@pytest.mark.parametrize(("fault", "logged"), [("cq overrun at 600", "Rx queue 0: recreated"),
                                               ("rq error 0x04 at 600", "stopped with syndrome 0x4")])
def test_missed_frames_are_counted_across_a_recovery(tmp_path, fault, logged):
    ring, refill = 256, 64
    with FaultyTestpmd(tmp_path, f"{fault}\n", f"wire=unix:{tmp_path}/wire,mac={MAC}", args=[f"--rxd={ring}"],
                       eal=["--log-level", "pmd.net.mlx5dv:info"]) as pmd, Cable(tmp_path / "wire") as cable:
        pmd.cmd("set fwd rxonly")
        cable.send(*[frames.packet(sport=1)] * (ring + 10))
        pmd.wait_stats(lambda stats: stats["RX-missed"] == 10)
        pmd.start_noisily()
        pmd.wait_stats(lambda stats: stats["RX-packets"] == ring)
        # The fault counts the frames of each queue: the one that is recreated must not come to 600, too.
        cable.send(*[frames.packet(sport=2)] * 172)
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 600 - 172)
        cable.send(*[frames.packet(sport=2)] * 172)
        sent = 600 + 10
        pmd.until(lambda: logged in pmd.terminal.text, "not recovered")
        # It receives again. It may still be on its way back: frames are lost until then.
        before = pmd.stats()["RX-packets"]
        for attempt in range(PATIENCE * 10):
            if attempt % 10 == 0:
                cable.send(frames.packet(sport=3))
                sent += 1
            if pmd.stats()["RX-packets"] > before:
                break
        # The one long frame arrives behind all the others.
        cable.send(frames.packet(sport=3, pad=1000))
        pmd.wait_stats(lambda stats: stats["RX-bytes"] == 60 * stats["RX-packets"] + 940)
        # Of what its recovery lost only what came between READY and the first WQE was for want of buffers. The driver reads
        # a file for that, in which it stands a little later.
        stats = pmd.wait_stats(lambda stats: stats["RX-missed"] == ctl.stats(pmd)["out_of_buffer"])
        missed = stats["RX-missed"]
        assert 10 <= missed <= sent + 1 - stats["RX-packets"], (sent, stats)
        pmd.cmd("stop")
        before = pmd.stats()["RX-packets"]
        cable.send(*[frames.packet(sport=4)] * (ring + 7))
        pmd.wait_stats(lambda stats: stats["RX-missed"] >= missed + 7)
        pmd.start_noisily()
        stats = pmd.wait_stats(lambda stats: stats["RX-packets"] + stats["RX-missed"] == before + missed + ring + 7)
        assert missed + 7 <= stats["RX-missed"] < missed + 7 + refill
        pmd.stop_and_count()
        assert pmd.stats()["RX-missed"] == stats["RX-missed"]
    assert pmd.applied()[fault] == 1


# Calls of MODIFY_WQ: to READY at first, then to RESET and to READY.
@pytest.mark.parametrize(("call", "are_missed"), [(2, False), (3, True)])
def test_frames_are_missed_while_a_recovered_queue_has_no_wqe(tmp_path, call, are_missed):
    """A slow call widens what is before and behind it: the WQ in ERROR or RESET, or READY without a WQE yet. It is slower than
    this machine may be with all else."""
    with FaultyTestpmd(tmp_path, f"rq error 0x04 at 3\nverb slow MODIFY_WQ at {call} by 2s\n", f"wire=unix:{tmp_path}/wire,mac={MAC}",
                       eal=["--log-level", "pmd.net.mlx5dv:info"]) as pmd, Cable(tmp_path / "wire") as cable:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        cable.send(*[frames.packet()] * 3)
        sent = 3
        pmd.terminal.expect("stopped with syndrome 0x4", 0)
        before = pmd.stats()["RX-packets"]
        while (stats := pmd.stats())["RX-packets"] == before:
            cable.send(*[frames.packet()] * 2)
            sent += 2
        cable.send(frames.packet(pad=1000))
        stats = pmd.wait_stats(lambda stats: stats["RX-bytes"] == 60 * stats["RX-packets"] + 940)
        lost = sent + 1 - stats["RX-packets"] - stats["RX-errors"]
        assert lost > 20 and (stats["RX-missed"] > lost / 2) == are_missed, (sent, stats)


def test_what_was_made_for_a_queue_and_could_not_be_used_is_destroyed(tmp_path):
    """First the new WQ cannot be started, then the pool not be registered again, then it works. With
    mr_mempool_reg_en=0 the queue alone holds the pool."""
    text = "cq overrun at 3\nverb enomem MODIFY_WQ at 2\nverb enomem REG_MR at 2\n"
    with FaultyTestpmd(tmp_path, text, f"wire=unix:{tmp_path}/wire,mac={MAC}", env={"SOFTHCA_LOG": "info"},
                       vdevs=["net_mlx5dv0,ibdev=mlx5_0,mr_mempool_reg_en=0"],
                       eal=["--log-level", "pmd.net.mlx5dv:info"]) as pmd, Cable(tmp_path / "wire") as cable:
        start = pmd.show_received()
        # What comes together with the one that is too many may be lost with it, in one block.
        cable.send(*[frames.packet()] * 2)
        pmd.wait_received(2, start)
        cable.send(frames.packet())
        pmd.until(lambda: "Rx queue 0: recreated" in pmd.terminal.text, "not recreated")
        cable.send(frames.packet())
        pmd.wait_received(3, start)
        assert pmd.terminal.text.count("Rx queue 0: cannot be recreated") == 2
    assert all(pmd.applied().values())
    assert "left to the kernel" not in pmd.terminal.text


def in_pool_after_close(tmp_path, fault):
    """(mbufs in the pool when the port has stopped, has been closed; all there are; the terminal)."""
    with FaultyTestpmd(tmp_path, fault, f"wire=unix:{tmp_path}/wire,mac={MAC}", env={"SOFTHCA_LOG": "info"},
                       args=["--rxq=2", "--txq=2", "--rxd=512", "--txd=512"]) as pmd, Cable(tmp_path / "wire") as cable:
        whole = int(re.search(r"populated_size=(\d+)", pmd.cmd(f"{DUMP_MEMPOOL} mb_pool_0")).group(1))
        start = pmd.show_received()
        cable.send(*[frames.packet()] * 2)
        pmd.wait_received(2, start)
        pmd.cmd("stop")
        assert "Done" in pmd.cmd("port stop 0")
        assert "cannot destroy the WQ: Connection timed out" in pmd.terminal.text
        stopped = pmd.mbufs_in_pool()
        assert "Port 0 is closed" in pmd.cmd("port close 0")
        cable.send(*[frames.packet()] * 2)
        closed = pmd.mbufs_in_pool()
    assert pmd.status == 0 and all(pmd.applied().values())
    return stopped, closed, whole, pmd.terminal.text


def test_a_wq_that_is_not_destroyed_keeps_its_mbufs(tmp_path):
    """The card may still write to them. When the port is closed firmware is asked again, and its memory regions go."""
    stopped, closed, whole, text = in_pool_after_close(tmp_path, "verb etimedout DESTROY_WQ from 1")
    assert whole - 2 * 512 <= closed == stopped <= whole - 2 * 510
    assert text.count("left to the kernel to destroy: WQ") == 2
    assert "left to the kernel to destroy: MR" not in text


def test_a_wq_that_is_destroyed_at_the_second_try_gives_them_back(tmp_path):
    stopped, closed, whole, text = in_pool_after_close(tmp_path, "verb etimedout DESTROY_WQ at 1")
    assert whole - 512 <= stopped <= whole - 510 and closed == whole
    assert "left to the kernel" not in text
