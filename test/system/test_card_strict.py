# SPDX-License-Identifier: BSD-3-Clause
"""softhca up --strict: findings of all programs on a card; --strict=abort: the one that broke the rule ends, and nobody else."""
import os
import re
import signal
import subprocess

import pytest
from harness import card as cards
from harness import frames, paths, pcapfile
from harness.cable import Cable
from harness.patience import PATIENCE
from test_card import pmd_on, stats, until
from test_strict import PROGRAM, SEEN

MAC = frames.PORT_MAC


def start(card, mistake):
    return subprocess.Popen(cards.on(card, PROGRAM, mistake), stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE)


def resources(card):
    return cards.run_on(card, "rdma", "resource", "show").stdout


def findings_of(text):
    """[(process, finding)] of a card's log; a finding of many of a process once"""
    return list(dict.fromkeys((int(pid), name) for name, pid in re.findall(
        r"^softhca: strict: mlx5_0 .* index \d+: ([a-z-]+): .*\nsofthca: strict:   hardware: .*\n"
        r"softhca: strict:   process (\d+) \(\S+\)$", text, re.M)))


def test_findings_name_their_programs():
    with cards.up("wire=loop", options=["--strict"]) as card:
        expected = []
        for mistake in "lkey", "flow-port", "wqe-ds", "cqe-size":
            program = start(card, mistake)
            assert program.communicate(timeout=PATIENCE)[0].splitlines()[-1] == SEEN[mistake]
            assert program.returncode == 0
            expected.append((program.pid, mistake))
        assert findings_of(cards.log(card)) == expected


def test_down_tells_the_findings():
    with cards.up("wire=loop", options=["--strict"]) as card:
        start(card, "lkey").communicate(timeout=PATIENCE)
        start(card, "lkey").communicate(timeout=PATIENCE)
        done = cards.softhca("down", card, check=False)
        assert (done.returncode, done.stdout) == (123, "softhca: strict: 2 findings: lkey 2\n")
    with cards.up("wire=loop", options=["--strict"]) as card:
        assert cards.softhca("down", card).stdout == "softhca: strict: no findings\n"


@pytest.mark.parametrize("mistake", ["lkey", "flow-port", "cq-record-width", "rx-truncated", "cq-mini-format"])
def test_abort_ends_the_program_that_broke_the_rule(tmp_path, mistake):
    """A program that the device thread caught, or a call: the others and the keeper go on."""
    wire = tmp_path / "wire"
    with cards.up("wire=loop", f"wire=unix:{wire},mac={MAC}", options=["--strict=abort"]) as card, Cable(wire) as cable, \
            pmd_on(card, vdev="net_mlx5dv0,ibdev=mlx5_1") as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        keeper, left = cards.keeper_of(card), resources(card)
        program = subprocess.Popen(cards.on(card, PROGRAM, mistake), stdin=subprocess.DEVNULL)
        assert program.wait(PATIENCE) == -signal.SIGKILL
        until(lambda: resources(card) == left)
        text = cards.log(card)
        assert re.findall(r"index \d+: ([a-z-]+): ", text) == [mistake], text
        assert f"softhca: strict: process {program.pid} is ended\n" in text
        before = pmd.stats()["RX-packets"]
        cable.send(*[frames.packet()] * 4)
        pmd.wait_stats(lambda s: s["RX-packets"] == before + 4)
        assert cards.keeper_of(card) == keeper


def test_a_program_apart_is_ended_too():
    """The devices in a process of their own, below run: the status is that of the other form."""
    command = [str(paths.SOFTHCA), "run", "--strict=abort", "--"]
    for words, says in ([PROGRAM, "cq-record-width"], ""), (["sh", "-c", f"{PROGRAM} lkey; echo after $?"], "after 137\n"):
        done = subprocess.run(command + words, env={**os.environ, "SOFTHCA_KEEPER": "1"}, text=True,
                              capture_output=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode == 123 and done.stdout.endswith(says), done
        assert "softhca: strict: 1 finding: " in done.stderr


def test_faults_are_the_cards(tmp_path):
    """A count that two programs share: the second frame of the wire is lost, whoever sends it; down tells how often."""
    (tmp_path / "faults").write_text("wire loss at 2 tx\n")
    with cards.up(f"wire=pcap::{tmp_path}/out", options=["--faults", tmp_path / "faults"]) as card:
        for last in 1, 2, 3:
            cards.run_on(card, paths.BUILD / "app/examples/raw-send", "mlx5_0", f"02:00:00:00:00:0{last}", 1)
        done = cards.softhca("down", card)
        assert done.stdout == "softhca: faults: line 1: wire loss at 2 tx: 1 time\n"
    assert [frame[5] for frame in pcapfile.read(tmp_path / "out")] == [1, 3]


def test_freeze_and_thaw_hold_for_the_card(tmp_path):
    """While the card stands still no program's frames leave, nor those of one that starts only then."""
    with cards.up(f"wire=pcap::{tmp_path}/out") as card:
        assert cards.softhca("ctl", "--on", card, "freeze").stdout == "frozen\n"
        programs = [subprocess.Popen(cards.on(card, paths.BUILD / "app/examples/raw-send", "mlx5_0", mac, 2),
                                     stdout=subprocess.DEVNULL) for mac in (MAC, "02:00:00:00:00:99")]
        until(lambda: re.search(r"mlx5_0: .* qp 2 .* ctx 2", resources(card)))
        assert stats(card)["tx_frames"] == 0 and [program.poll() for program in programs] == [None, None]
        assert cards.softhca("ctl", "--on", card, "thaw").stdout == "running\n"
        assert [program.wait(PATIENCE) for program in programs] == [0, 0]
        assert stats(card)["tx_frames"] == 4
