# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --faults: links that flap, devices that die or are slow; verbs programs and stock testpmd."""
import re
import subprocess
import time

import pytest
from harness import frames, paths, pcapfile
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

PROGRAM = str(paths.BUILD / "test" / "verbs" / "verbs-port-faults")
MAC = frames.PORT_MAC
PORT_ACTIVE, PORT_ERR = "9", "10"


def run(tmp_path, text, *command):
    """(lines the command printed, the runner's summary)"""
    file = tmp_path / "faults"
    file.write_text(text)
    done = subprocess.run([paths.SOFTHCA, "run", "--faults", file, "--", *command], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines(), re.findall(r"^softhca: faults: (.*)$", done.stderr, re.M)


@pytest.mark.parametrize("fault,received,events", [
    ("link flap at 3", "1 2 3 4 5 6 7 8", "10 9"),
    ("link flap at 3 for 2 frames", "1 2 3 6 7 8", "10 9"),
    ("link flap every 2 for 1 frame", "1 2 4 6 8", "10 9 10 9 10 9 10"),
    ("link flap at 8 for 1ms", "1 2 3 4 5 6 7 8", "10 9"),
    ("device slow every 2 by 1ms", "1 2 3 4 5 6 7 8", ""),
])
def test_what_a_verbs_program_sees(tmp_path, fault, received, events):
    lines, summary = run(tmp_path, fault, PROGRAM, "8", str(len(events.split())))
    assert lines[:2] == [f"received {received}", f"events {events}".strip()]
    assert summary[0].startswith(f"line 1: {fault}: ") and not summary[0].endswith("never")


def test_a_dead_device(tmp_path):
    """The event; what was complete stays so; and no command is obeyed any more but those that destroy."""
    lines, summary = run(tmp_path, "device fatal at 5", PROGRAM, "8", "1")
    assert lines[:2] == ["received 1 2 3 4 5", "events 8"]
    assert lines[2:] == ["query_port 5", "create_cq 5", "alloc_pd 5", "destroy_flow 0", "destroy_qp 0", "dereg_mr 0",
                         "open_device refused"]
    assert summary == ["line 1: device fatal at 5: 1 time"]


@pytest.mark.parametrize("fault", ["device slow at 2 by 200ms", "verb slow CREATE_QP at 1 by 200ms"])
def test_slow_is_slow(tmp_path, fault):
    start = time.monotonic()
    lines, _ = run(tmp_path, fault, PROGRAM, "8", "0")
    assert lines[0] == "received 1 2 3 4 5 6 7 8"
    assert time.monotonic() - start >= 0.2


class Pmd(Testpmd):
    def __init__(self, tmp_path, text, port, **options):
        file = tmp_path / "faults"
        file.write_text(text)
        super().__init__(ports=[port], softhca_options=("--faults", file), **options)

    def applied(self):
        """How often the only fault was applied, once testpmd has ended."""
        times = re.search(r"^softhca: faults: line 1: .*: (never|\d+) ?(?:times?)?$", self.terminal.text, re.M)
        return 0 if times.group(1) == "never" else int(times.group(1))

    def until_link(self, wanted):
        end = time.monotonic() + PATIENCE
        while f"Link status: {wanted}" not in self.cmd("show port info 0"):
            assert time.monotonic() < end
            time.sleep(0.02)


def test_frames_are_lost_while_the_link_is_down(tmp_path):
    """A capture that flaps: exactly those frames are missing, and the port counts on."""
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, [frames.packet(sport=i + 1) for i in range(1000)])
    with Pmd(tmp_path, "link flap every 100 for 7 frames", f"wire=pcap:{capture},pace=0,mac={MAC}") as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 1000 - 9 * 7)
        pmd.stop()
    assert pmd.applied() == 10


def test_testpmd_sees_the_link_go_and_come(tmp_path):
    # Of frames sent: without a link nothing comes back that would count.
    with Pmd(tmp_path, "link flap at 500 for 500 tx", "wire=loop") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.until_link("up")
        pmd.cmd("start")
        pmd.wait_stats(lambda stats: stats["TX-packets"] > 5000)
        pmd.until_link("up")
        pmd.stop()
    assert pmd.applied() == 1
    with Pmd(tmp_path, "link flap at 500 for 3600s", "wire=loop") as pmd:
        pmd.cmd("set fwd txonly")
        pmd.cmd("start")
        pmd.until_link("down")
        # Without a link queues do not hang.
        sent = pmd.stats()["TX-packets"]
        pmd.wait_stats(lambda stats: stats["TX-packets"] > sent + 5000)
        pmd.stop()


def test_testpmd_on_a_device_that_dies(tmp_path):
    """Nothing hangs: the port stands still, can be stopped but not started, and testpmd ends as ever."""
    # Without this testpmd takes a removed port out of service by itself: test_events.py.
    args = ["--rxq=2", "--txq=2", "--no-rmv-interrupt"]
    with Pmd(tmp_path, "device fatal at 2000", "wire=loop", args=args) as pmd:
        pmd.cmd("start tx_first")
        pmd.wait_stats(lambda stats: stats["RX-packets"] == 2000)
        pmd.stop()
        assert "Done" in pmd.cmd("port stop 0")
        assert "cannot create a CQ of 66 entries: Input/output error" in pmd.cmd("port start 0")
    assert pmd.applied() == 1
