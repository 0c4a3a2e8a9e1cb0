# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --faults: error completions, queues in error, CQs that overrun; what our driver makes of them."""
import re
import subprocess
import time

import pytest
from harness import frames, paths, pcapfile
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

pytestmark = pytest.mark.sanitized

PROGRAM = str(paths.BUILD / "test" / "verbs" / "verbs-faults")
MAC = frames.PORT_MAC
NB_MBUFS = 4096
RX_SCATTER = 0x2000


def run(tmp_path, text, *command):
    """(what the command printed, the runner's summary)"""
    file = tmp_path / "faults"
    file.write_text(text)
    done = subprocess.run([paths.SOFTHCA, "run", "--faults", file, "--", *command], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[:-1], re.findall(r"^softhca: faults: (.*)$", done.stderr, re.M)


SOUND = "sent, received"
# fault: what becomes of five frames.
OUTCOMES = {
    "sq error 0x04 at 3": [SOUND, SOUND, "sent 4", SOUND, SOUND],
    "sq error 0x01 every 2": [SOUND, "sent 1", SOUND, "sent 1", SOUND],
    "sq error 0x22 from 4": [SOUND, SOUND, SOUND, "sent 16", "sent 16"],
    "sq fatal at 3": [SOUND, SOUND, "sent 5 event 1", SOUND, SOUND],
    "rq error 0x01 at 3": [SOUND, SOUND, "sent, received 1", SOUND, SOUND],
    "rq error 0x11 at 3": [SOUND, SOUND, "sent, received 8", SOUND, SOUND],
    "rq fatal at 5": [SOUND, SOUND, SOUND, SOUND, "sent, received 5 event 1"],
    "cq overrun at 3 queue 1": [SOUND, SOUND, "sent event 0"],
    "cq overrun at 3 queue 2": [SOUND, SOUND, "sent, received event 0"],
}


@pytest.mark.parametrize("fault", OUTCOMES)
def test_what_a_verbs_program_sees(tmp_path, fault):
    """The status is libibverbs' name for the syndrome; after RESET the queue pair is as good as new."""
    lines, summary = run(tmp_path, fault, PROGRAM, "5")
    assert lines == [f"{i + 1}: {outcome}" for i, outcome in enumerate(OUTCOMES[fault])]
    nb = sum(1 for outcome in OUTCOMES[fault] if outcome != SOUND)
    assert summary == [f"line 1: {fault}: {nb} time{'' if nb == 1 else 's'}"]


class Pmd(Testpmd):
    """testpmd on a strict port whose queues are struck."""

    def __init__(self, tmp_path, text, port, **options):
        file = tmp_path / "faults"
        file.write_text(text)
        super().__init__(ports=[port], softhca_options=("--strict", "--faults", file), **options)

    def applied(self):
        """{fault: times}, once it has ended."""
        return {fault: 0 if times == "never" else int(times.split()[0]) for fault, times in
                re.findall(r"^softhca: faults: line \d+: (.*): (never|\d+ times?)$", self.terminal.text, re.M)}

    def mbufs_in_pool(self):
        text = self.cmd("dump_mempool mb_pool_0")
        counts = [int(n) for n in re.findall(r"(?:cache_count\[\d+\]|common_pool_count)=(\d+)", text)]
        return sum(counts)

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, what
            self.terminal.read_some(0.05)

    def start_noisily(self):
        """What the driver says as soon as packets are polled for may stand in the middle of the prompt."""
        self.terminal.send("start\n")
        while self.terminal.read_some(1):
            pass

    def stop_and_count(self):
        """Stop the port: every mbuf is back, whatever befell the queues."""
        before = int(re.search(r"populated_size=(\d+)", self.cmd("dump_mempool mb_pool_0")).group(1))
        self.cmd("stop")
        self.cmd("port stop 0")
        assert self.mbufs_in_pool() == before


def test_a_send_queue_goes_on_after_errors(tmp_path):
    """Each error is counted, and what is counted as sent has been sent."""
    text = "sq error 0x04 every 150\nsq error 0x02 every 170\nsq fatal every 190\n"
    with Pmd(tmp_path, text, "wire=null") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.start_noisily()
        pmd.until(lambda: all(f"stopped with syndrome {syndrome}," in pmd.terminal.text
                              for syndrome in ("0x4", "0x2", "0x5")), "no error")
        before = pmd.stats()
        pmd.wait_stats(lambda stats: stats["TX-packets"] > before["TX-packets"] + 5000)
        assert pmd.stats()["TX-errors"] != 0
        # A fault that comes again and again is told once.
        assert pmd.terminal.text.count("stopped with syndrome 0x4,") == 1
        pmd.stop_and_count()
        pmd.cmd("port start 0")
        pmd.start_noisily()
        pmd.wait_stats(lambda stats: stats["TX-packets"] > 0)
    assert all(pmd.applied().values())


def test_a_receive_queue_goes_on_after_errors(tmp_path):
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, [frames.packet(sport=i + 1) for i in range(100)])
    text = "rq error 0x04 every 1500\nrq error 0x01 every 700\nrq fatal every 1900\n"
    with Pmd(tmp_path, text, f"wire=pcap:{capture},pace=0,repeat=0,mac={MAC}") as pmd:
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


def test_a_send_queue_whose_cq_overran_is_recreated(tmp_path):
    with Pmd(tmp_path, "cq overrun every 40\n", "wire=null") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.start_noisily()
        pmd.until(lambda: "Tx queue 0: CQ error" in pmd.terminal.text, "no CQ in error")
        sent = pmd.stats()["TX-packets"]
        # Several times as much as one CQ lives for.
        pmd.wait_stats(lambda stats: stats["TX-packets"] > sent + 50000)
        assert pmd.terminal.text.count("Tx queue 0: CQ error") == 1
        pmd.stop_and_count()
    assert pmd.applied()["cq overrun every 40"] > 2


# What fails besides: nothing, or the verbs by which the queue is recreated, or its rules put back.
@pytest.mark.parametrize("more", ["", "verb enomem CREATE_CQ every 5", "verb eagain MODIFY_WQ every 3",
                                  "verb enomem CREATE_RWQ_IND_TBL every 3", "verb enomem CREATE_QP every 5"])
def test_a_receive_queue_whose_cq_overran_is_recreated(tmp_path, more):
    """Its rules come back with it: nothing arrives but by one of them."""
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, [frames.packet(dport=7) for _ in range(100)])
    with Pmd(tmp_path, f"cq overrun every 300\n{more}\n", f"wire=pcap:{capture},pace=0,repeat=0,mac={MAC}",
             args=["--flow-isolate-all", "--disable-device-start", "--rxq=2", "--txq=2"]) as pmd:
        for _ in range(PATIENCE):
            if "Cannot allocate" not in pmd.cmd("port start 0") and "temporarily" not in pmd.terminal.text[-500:]:
                break
        pmd.cmd("set fwd rxonly")
        pmd.start_noisily()
        for _ in range(PATIENCE):
            if "created" in pmd.cmd("flow create 0 ingress pattern eth / ipv4 / udp dst is 7 / end"
                                    " actions mark id 5 / queue index 1 / end"):
                break
        pmd.until(lambda: "Rx queue 1: CQ error" in pmd.terminal.text, "no CQ in error")
        before = pmd.stats()["RX-packets"]
        pmd.wait_stats(lambda stats: stats["RX-packets"] > before + 2000)
        assert pmd.terminal.text.count("Rx queue 1: CQ error") == 1
        pmd.stop_and_count()
    assert all(pmd.applied().values())


def test_a_send_queue_that_cannot_be_restarted(tmp_path):
    """The error and then refused verbs: the queue stands still, the port can be stopped and started."""
    with Pmd(tmp_path, "sq error 0x04 at 100\nverb enomem MODIFY_QP from 10\nverb enomem MODIFY_QP_EX from 10\n",
             "wire=null") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.start_noisily()
        pmd.until(lambda: "stopped with syndrome 0x4" in pmd.terminal.text, "no error")
        pmd.stop_and_count()
    assert pmd.applied()["sq error 0x04 at 100"] == 1


def test_a_send_queue_that_cannot_be_restarted_at_once(tmp_path):
    """It is tried until verbs no longer refuse."""
    with Pmd(tmp_path, "sq error 0x04 at 100\nverb enomem MODIFY_QP at 5\nverb enomem CREATE_QP at 4\n",
             "wire=null") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.start_noisily()
        pmd.until(lambda: "stopped with syndrome 0x4" in pmd.terminal.text, "no error")
        sent = pmd.stats()["TX-packets"]
        pmd.wait_stats(lambda stats: stats["TX-packets"] > sent + 5000)
        pmd.stop_and_count()
    assert pmd.applied()["sq error 0x04 at 100"] >= 1


def test_a_recreated_receive_queue_takes_frames_as_long_as_before(tmp_path):
    """Its WQEs are no smaller for an MTU that was lowered since: long frames may be on their way, and the MTU may go back."""
    with Pmd(tmp_path, "cq overrun at 3\n", f"wire=unix:{tmp_path}/wire,mac={MAC}",
             args=["--mbuf-size=640", f"--rx-offloads={RX_SCATTER:#x}"], eal=["--log-level", "pmd.net.mlx5dv:info"]) as pmd, \
            Cable(tmp_path / "wire") as cable:
        start = pmd.show_received()
        pmd.cmd("port config mtu 0 500")
        cable.send(*[frames.packet(data=bytes(10))] * 3)
        pmd.until(lambda: "Rx queue 0: recreated" in pmd.terminal.text, "not recreated")
        long = frames.packet(data=bytes(1285 - 42))
        cable.send(long)
        assert [packet["length"] for packet in pmd.wait_received(3, start)][2:] == [len(long)]
        assert "rror" not in pmd.cmd("port config mtu 0 1500")
        assert pmd.stats()["RX-errors"] == 0
    assert pmd.applied()["cq overrun at 3"] > 0


# fault: what the driver logs when the queue is back, by the same objects or by others.
@pytest.mark.parametrize(("fault", "logged"), [("cq overrun at 300", "Rx queue 0: recreated"),
                                               ("rq error 0x04 at 300", "stopped with syndrome 0x4")])
def test_missed_frames_are_counted_across_a_recovery(tmp_path, fault, logged):
    ring, refill = 256, 64
    with Pmd(tmp_path, f"{fault}\n", f"wire=unix:{tmp_path}/wire,mac={MAC}", args=[f"--rxd={ring}"],
             eal=["--log-level", "pmd.net.mlx5dv:info"]) as pmd, Cable(tmp_path / "wire") as cable:
        pmd.cmd("set fwd rxonly")
        cable.send(*[frames.packet(sport=1)] * (ring + 10))
        pmd.wait_stats(lambda stats: stats["RX-missed"] == 10)
        pmd.start_noisily()
        pmd.wait_stats(lambda stats: stats["RX-packets"] == ring)
        for _ in range(PATIENCE * 10):
            cable.send(frames.packet(sport=2))
            pmd.terminal.read_some(0.05)
            if logged in pmd.terminal.text:
                break
        assert logged in pmd.terminal.text
        # It receives again, and what its recovery lost was not for want of buffers.
        # It may still be on its way back: frames are lost until then.
        before = pmd.stats()["RX-packets"]
        for _ in range(PATIENCE * 10):
            cable.send(frames.packet(sport=3))
            if pmd.stats()["RX-packets"] > before:
                break
        # The one long frame arrives behind all the others.
        cable.send(frames.packet(sport=3, pad=1000))
        pmd.wait_stats(lambda stats: stats["RX-bytes"] == 60 * stats["RX-packets"] + 940)
        assert pmd.stats()["RX-missed"] == 10
        pmd.cmd("stop")
        before = pmd.stats()["RX-packets"]
        cable.send(*[frames.packet(sport=4)] * (ring + 7))
        pmd.wait_stats(lambda stats: stats["RX-missed"] >= 10 + 7)
        pmd.start_noisily()
        stats = pmd.wait_stats(lambda stats: stats["RX-packets"] + stats["RX-missed"] == before + 10 + ring + 7)
        assert 10 + 7 <= stats["RX-missed"] < 10 + 7 + refill
        pmd.stop_and_count()
        assert pmd.stats()["RX-missed"] == stats["RX-missed"]
    assert pmd.applied()[fault] == 1


# The calls of MODIFY_QP that are refused: none, to reset the queue, on its way back, of the one that takes its place. The
# first three start it.
@pytest.mark.parametrize("refused", [(), (4,), (5,), (4, 5)])
def test_what_is_counted_as_sent_has_been_sent(tmp_path, refused):
    """All else is counted as lost, also where a queue in error can not be restarted at once."""
    capture, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, [frames.packet(sport=i + 1) for i in range(1000)])
    verbs = [f"verb enomem MODIFY_QP at {n}" for n in refused]
    with Pmd(tmp_path, "\n".join(["sq error 0x04 every 7", *verbs, ""]), f"wire=pcap:{capture}:{out},mac={MAC}") as pmd:
        pmd.cmd("set fwd io")

        def counts_are_true():
            # What was sent last may have ended the queue, which nobody has looked at since.
            pmd.cmd("port cleanup 0 txq 0 0")
            return pmd.stats()["TX-packets"] == len(pcapfile.read(out))

        pmd.start_noisily()
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 1000)
        pmd.cmd("stop")
        pmd.until(counts_are_true, "other counts")
        before = pmd.stats()
        assert before["TX-errors"] != 0
        pmd.cmd("port 0 txq 0 stop")
        pmd.cmd("port 0 txq 0 start")

        def sends_again():
            # A burst takes one error completion of those that the old queue has left.
            pmd.cmd("start tx_first 300")
            pmd.cmd("stop")
            return pmd.stats()["TX-packets"] > before["TX-packets"]

        pmd.until(sends_again, "nothing is sent")
        pmd.until(counts_are_true, "other counts after a start")
        pmd.stop_and_count()
    assert all(pmd.applied().values())


def test_what_was_made_for_a_queue_and_could_not_be_used_is_destroyed(tmp_path):
    """First the new WQ cannot be started, then the pool not be registered again, then it works."""
    text = "cq overrun at 3\nverb enomem MODIFY_WQ at 2\nverb enomem REG_MR at 2\n"
    with Pmd(tmp_path, text, f"wire=unix:{tmp_path}/wire,mac={MAC}", env={"SOFTHCA_LOG": "info"},
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
