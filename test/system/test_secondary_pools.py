# SPDX-License-Identifier: BSD-3-Clause
"""Mempools that a secondary process makes: the primary registers them at once, until they are destroyed."""
import contextlib

import pytest
from harness import paths
from harness.patience import PATIENCE
from harness.shared import SharedTestpmd, hugepages_at
from harness.telemetry import Telemetry
from harness.terminal import Terminal

PAGE = 32


@pytest.fixture(name="huge", scope="module")
def fixture_huge(tmp_path_factory):
    with hugepages_at(tmp_path_factory.mktemp("huge")) as directory:
        yield directory


def registered(client):
    """The names of all mempools that port 0 has registered."""
    names, first = [], 0
    while True:
        page = client.ask(f"/mlx5dv/mrs,0,{first}")
        names += [region["mempool"] for region in page["mrs"].values()]
        first += PAGE
        if first >= page["nb_mrs"]:
            return names


@contextlib.contextmanager
def pools(pmd, how):
    """The program that makes them, on an lcore of its own."""
    terminal = Terminal([paths.BUILD / "test" / "ethdev" / "ethdev-pools", "--lcores", "2@0", "--proc-type=secondary",
                         "--no-telemetry", "--file-prefix", pmd.prefix, *pmd.driver, "--", how], env=pmd.environment())
    try:
        yield terminal
    finally:
        terminal.close()


def step(terminal, says):
    terminal.send("\n")
    terminal.expect(rf"{says}\n", 0)


@pytest.mark.parametrize("devargs,at_once", [("", True), (",mr_mempool_reg_en=0", False)], ids=["on", "off"])
def test_they_are_registered_while_they_are_there(huge, devargs, at_once):
    with SharedTestpmd(huge, "wire=null", devargs, telemetry=True) as pmd, Telemetry(pmd.prefix) as client, \
            pools(pmd, "once") as program:
        program.expect(r"ready\n", 0)
        before = registered(client)
        step(program, "made")
        assert sorted(registered(client)) == sorted(before + (["theirs"] if at_once else []))
        step(program, "gone")
        assert registered(client) == before
        program.send("\n")
        assert program.wait() == 0, program.text


def test_a_port_that_starts_later_registers_them(huge):
    with SharedTestpmd(huge, "wire=null", telemetry=True) as pmd, Telemetry(pmd.prefix) as client, \
            pools(pmd, "once") as program:
        program.expect(r"ready\n", 0)
        pmd.cmd("port stop 0")
        step(program, "made")
        assert "theirs" not in registered(client)
        pmd.cmd("port start 0")
        assert registered(client).count("theirs") == 1
        step(program, "gone")
        assert "theirs" not in registered(client)


def test_they_come_and_go_while_the_port_restarts(huge):
    """By threads side by side: nobody waits for ever, and nothing of them stays."""
    with SharedTestpmd(huge, "wire=null", telemetry=True) as pmd, Telemetry(pmd.prefix) as client:
        before = registered(client)
        with pools(pmd, "often") as program:
            while "done\n" not in program.text:
                pmd.cmd("port stop 0")
                pmd.cmd("port start 0")
                assert not program.ended, program.text
                program.read_some(0)
            assert program.wait(PATIENCE) == 0, program.text
        assert sorted(registered(client)) == sorted(before)
