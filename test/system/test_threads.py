# SPDX-License-Identifier: BSD-3-Clause
"""softhca --threads: ports have threads of their own, and all else is as with one."""
import contextlib
import pathlib

import pytest
from harness import card as cards
from harness.both import MACS
from harness.patience import until
from harness.testpmd import Testpmd

PAIR = [f"wire=pair:cable,mac={mac}" for mac in MACS]


def nb_threads(card):
    """Device threads of the keeper, by their name."""
    tasks = pathlib.Path(f"/proc/{cards.keeper_of(card)}/task")
    names = []
    for task in tasks.iterdir():
        with contextlib.suppress(OSError):  # a thread that has ended since
            names.append((task / "comm").read_text())
    return names.count("softhca\n")


def test_ports_have_threads(tmp_path):
    functions = [f"wire=unix:{tmp_path}/wire,vf=on,mac=02:00:00:00:00:0{number}" for number in (1, 2)]
    for ports, most, wanted in ((PAIR, 1, 1), (PAIR, 2, 2), (PAIR, 4, 2), ([*PAIR, "wire=loop"], 8, 3), (functions, 8, 1),
                                ([*functions, "wire=loop"], 8, 2)):
        with cards.up(*ports, options=["--threads", str(most)]) as card:
            cards.run_on(card, "ibv_devinfo")
            until(lambda wanted=wanted: nb_threads(card) == wanted)


def test_faults_have_one_thread(tmp_path):
    """Their order is the seed's."""
    (tmp_path / "faults").write_text("seed 7\nwire loss 1%\n")
    with cards.up(*PAIR, options=["--threads", "2", "--faults", tmp_path / "faults"]) as card:
        cards.run_on(card, "ibv_devinfo")
        until(lambda: nb_threads(card) == 1)


def test_testpmd_across_threads():
    """All of 512 frames are still under way after many turns between two threads."""
    with Testpmd(ports=PAIR, softhca_options=["--threads", "2"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 8")
        until(lambda: pmd.stats(0)["RX-packets"] > 100000)
        pmd.cmd("stop")
        stats = [pmd.stats(port) for port in (0, 1)]
        assert sum(port["TX-packets"] - port["RX-packets"] for port in stats) <= 512
        assert [port["RX-missed"] for port in stats] == [0, 0]


@pytest.mark.parametrize("number", ["0", "x", "", "9999", "2x"])
def test_a_number_that_is_none(number):
    done = cards.softhca("run", "--threads", number, "--", "true", check=False)
    assert done.returncode == 125 and f"--threads {number}: it is a number from 1 to " in done.stdout, done


def test_a_card_has_its_threads():
    with cards.up("wire=loop") as card:
        done = cards.softhca("run", "--on", card, "--threads", "2", "--", "true", check=False)
        assert done.returncode == 125 and "--threads belongs to the softhca up that made it" in done.stdout, done
