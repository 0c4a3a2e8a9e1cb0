# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --faults: error completions, send queues in error, CQs that overrun; what a verbs program sees, and what
our driver makes of them."""
import re
import subprocess

import pytest
from harness import frames, paths, pcapfile
from harness.faulty import FaultyTestpmd
from harness.patience import PATIENCE

pytestmark = pytest.mark.sanitized

PROGRAM = str(paths.BUILD / "test" / "verbs" / "verbs-faults")
MAC = frames.PORT_MAC


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


def test_a_send_queue_goes_on_after_errors(tmp_path):
    """Each error is counted, and what is counted as sent has been sent."""
    text = "sq error 0x04 every 150\nsq error 0x02 every 170\nsq fatal every 190\n"
    with FaultyTestpmd(tmp_path, text, "wire=null") as pmd:
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


def test_a_send_queue_whose_cq_overran_is_recreated(tmp_path):
    with FaultyTestpmd(tmp_path, "cq overrun every 40\n", "wire=null") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.start_noisily()
        pmd.until(lambda: "Tx queue 0: CQ error" in pmd.terminal.text, "no CQ in error")
        sent = pmd.stats()["TX-packets"]
        # Several times as much as one CQ lives for.
        pmd.wait_stats(lambda stats: stats["TX-packets"] > sent + 50000)
        assert pmd.terminal.text.count("Tx queue 0: CQ error") == 1
        pmd.stop_and_count()
    assert pmd.applied()["cq overrun every 40"] > 2


def test_a_send_queue_that_cannot_be_restarted(tmp_path):
    """The error and then refused verbs: the queue stands still, the port can be stopped and started."""
    with FaultyTestpmd(tmp_path, "sq error 0x04 at 100\nverb enomem MODIFY_QP from 10\nverb enomem MODIFY_QP_EX from 10\n",
                       "wire=null") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.start_noisily()
        pmd.until(lambda: "stopped with syndrome 0x4" in pmd.terminal.text, "no error")
        pmd.stop_and_count()
    assert pmd.applied()["sq error 0x04 at 100"] == 1


def test_a_send_queue_that_cannot_be_restarted_at_once(tmp_path):
    """It is tried until verbs no longer refuse."""
    with FaultyTestpmd(tmp_path, "sq error 0x04 at 100\nverb enomem MODIFY_QP at 5\nverb enomem CREATE_QP at 4\n",
                       "wire=null") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.start_noisily()
        pmd.until(lambda: "stopped with syndrome 0x4" in pmd.terminal.text, "no error")
        sent = pmd.stats()["TX-packets"]
        pmd.wait_stats(lambda stats: stats["TX-packets"] > sent + 5000)
        pmd.stop_and_count()
    assert pmd.applied()["sq error 0x04 at 100"] >= 1


# The calls of MODIFY_QP that are refused: none, to reset the queue, on its way back, of the one that takes its place. The
# first three start it.
@pytest.mark.parametrize("refused", [(), (4,), (5,), (4, 5)])
def test_what_is_counted_as_sent_has_been_sent(tmp_path, refused):
    """All else is counted as lost, also where a queue in error can not be restarted at once."""
    capture, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, [frames.packet(sport=i + 1) for i in range(1000)])
    verbs = [f"verb enomem MODIFY_QP at {n}" for n in refused]
    with FaultyTestpmd(tmp_path, "\n".join(["sq error 0x04 every 7", *verbs, ""]), f"wire=pcap:{capture}:{out},mac={MAC}") as pmd:
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
