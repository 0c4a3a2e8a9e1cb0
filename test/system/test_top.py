# SPDX-License-Identifier: BSD-3-Clause
"""softhca top: its lists as text, and the live view on a terminal."""
import contextlib
import os
import re
import signal

import pytest
from harness import card as cards
from harness import frames, host, paths
from harness.patience import until
from harness.screen import OTHER_SCREEN, Screen
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
EXAMPLES = paths.BUILD / "app" / "examples"
SNIFFER = [EXAMPLES / "raw-dont-trap", "mlx5_0", MAC, 100000]


def table(text, first):
    """The rows of the list whose title begins with `first`: [[cell, ...], ...]; cells have two spaces between them."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.split()[:1] == [first])
    rows = []
    for line in lines:
        if re.match(r" *[A-Z]{3,}", line) and not re.match(r"(SQ|RQ|CQ) ", line):
            break
        rows.append(re.split(r" {2,}", line.strip()))
    return rows


def top(*words):
    return cards.softhca("top", "--once", *words).stdout


@contextlib.contextmanager
def busy_card(port=f"wire=loop,mac={MAC}"):
    """A card with a program that takes DNS, and one that watches it: the card's name, and both."""
    with cards.up(port) as card, \
            Testpmd(ports=(), vdevs=["net_mlx5dv0,ibdev=mlx5_0"], softhca_options=("--on", card)) as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        pmd.flow("ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 0 / end")
        with cards.running(card, *SNIFFER) as watcher:
            until(lambda: "FT:next" in cards.softhca("ctl", "--on", card, "dump").stdout)
            yield card, pmd, watcher


def test_once():
    """Who gets what: the copy is the watcher's, the frame testpmd's; counters are those of ctl."""
    with busy_card() as (card, pmd, watcher):
        cards.run_on(card, EXAMPLES / "raw-send", "mlx5_0", MAC, 7)
        users = until(lambda: (lambda rows: rows if [row[8] for row in rows] == ["7", "7"] else None)
                      (table(top(card), "PID")))
        assert [row[:3] for row in users] == [[str(pmd.terminal.process.pid), "dpdk-testpmd", "mlx5_0"],
                                              [str(watcher.pid), "raw-dont-trap", "mlx5_0"]]
        assert all(row[-2] == "1" and int(row[-1]) >= 3 for row in users)
        text = top(card)
        assert re.match(rf"softhca top: {card}, \d\d:\d\d:\d\d, sorted by number\n", text)
        assert [row[:3] for row in table(text, "DEVICE")] == [["mlx5_0", "cx5", "up"]]
        queues = table(text, "QUEUE")
        assert {(row[0].split()[0], row[-1]) for row in queues} == {
            (kind, comm) for kind in ("SQ", "RQ", "CQ") for comm in ("dpdk-testpmd", "raw-dont-trap")}
        received = {row[-1]: row for row in queues if row[0].startswith("RQ")}
        assert all(row[1] == "ready" and row[6] == "7" for row in received.values()), text
        rules = table(text, "RULE")
        assert [rules[0][i] for i in (0, 1, 2, 5, 6, 7)] == [
            "1", "mlx5_0", "NIC_RX 0x0", "7", "FWD", f"{watcher.pid} raw-dont-trap, next"]
        assert rules[0][8] == f"out.dmac:{MAC}"
        dns = next(row for row in rules if "out.udp_dport:0x35" in row[8])
        assert dns[5:8] == ["0", "FWD", f"{pmd.terminal.process.pid} dpdk-testpmd"]


def test_all_cards_at_once():
    with cards.up("wire=null") as one, cards.up("wire=null,model=cx6dx", "wire=null") as two:
        ports = [row[:2] for row in table(top(), "DEVICE")]
        for wanted in ([f"{one}:mlx5_0", "cx5"], [f"{two}:mlx5_0", "cx6dx"], [f"{two}:mlx5_1", "cx5"]):
            assert wanted in ports, ports


def test_rates_are_of_the_last_second():
    """A capture that plays for ever; a rate is what the total grew by."""
    with cards.up(f"wire=loop,mac={MAC}") as card, \
            Testpmd(ports=(), vdevs=["net_mlx5dv0,ibdev=mlx5_0"], softhca_options=("--on", card)) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first")
        row = table(top(card), "PID")[0]
        rate, total = row[3], int(row[8])
        assert rate[-1] in "kM" or int(rate) > 0
        assert total > 0 and float(row[4]) > 0


@pytest.mark.skipif(host.why_no_tap() is not None, reason=str(host.why_no_tap()))
def test_the_netdev_gets_frames_too():
    name = host.name("c")
    with cards.up(f"wire=loop,kernel=tap:{name},mac={MAC}") as card:
        assert table(top(card), "DEVICE")[0][3] == name
        assert table(top(card), "PID") == [["-", f"netdev {name}", "mlx5_0", *table(top(card), "PID")[0][3:]]]


@pytest.mark.skipif(host.why_no_tap() is not None, reason=str(host.why_no_tap()))
def test_flows_of_one_place():
    """Tables of aRFS have one level and count their entries each: the marked rule moves through them all."""
    with cards.up(f"wire=loop,kernel=tap:{host.name('c')},mac={MAC}") as card:
        for kind in ("tcp4", "udp4"):
            flow = f"flow-type={kind},src-ip=192.0.2.1,dst-ip=192.0.2.2,src-port=7,dst-port=8,action=0"
            cards.softhca("ctl", "--on", card, "arfs", flow)
        with live(card) as screen:
            for key, number in (("k", "1"), ("j", "2"), ("j", "2"), ("k", "1")):
                screen.press(key)
                screen.until(lambda s, number=number: s.marked and s.marked[0].split()[0] == number)
            screen.press("q")
            assert screen.ended() == 0


def test_mistakes():
    with cards.up("wire=null") as card:
        for words, said in ((("top", "--x"), "it takes --once and the name of one card: what is '--x'?"),
                            (("top", card, "b"), "the name of one card: what is 'b'?"),
                            (("top", "nobody-has-this"), "no card nobody-has-this is up"),
                            (("top", card), "there is no terminal that can show it: say --once")):
            done = cards.softhca(*words, check=False)
            assert done.returncode == 125 and said in done.stdout, (words, done.stdout)
        with Screen([paths.SOFTHCA, "top", card], env={"TERM": "dumb"}) as screen:
            assert screen.ended() == 125 and "say --once" in screen.text


def live(card, **size):
    return Screen([paths.SOFTHCA, "top", card], **size)


def test_keys_sort_and_trace():
    with busy_card() as (card, pmd, watcher), live(card) as screen:
        screen.until_text(r"sorted by number[^$]*RULE[^$]*out.udp_dport")
        assert OTHER_SCREEN in screen.modes and not screen.is_restored()
        for key, order in (("r", "rate"), ("t", "total"), ("l", "losses"), ("p", "process"), ("n", "number")):
            screen.press(key)
            screen.until_text(f"sorted by {order}")
        marked = screen.until(lambda s: s.marked).marked[0]
        assert marked.split()[0] == "1" and "raw-dont-trap" in marked
        screen.press("\x1b[B")
        screen.until(lambda s: s.marked and s.marked[0].split()[0] == "2")
        screen.press("k")
        screen.until(lambda s: s.marked and s.marked[0].split()[0] == "1")
        screen.press("\r")
        text = screen.until_text(r"q back").text
        assert f"\nrule 1: trace --port 0 eth,dst,{MAC}" in text
        assert f"of pid {watcher.pid} comm raw-dont-trap" in text and "delivered" in text
        screen.press("q")
        screen.until_text("q quit")
        dns = next(row for row in table(screen.text.split("\nq quit")[0], "RULE") if "udp_dport" in row[8])
        screen.press("j" * (int(dns[0]) - 1) + "\r")
        screen.until_text(rf"ipv4,/,udp,dst,0x35[^$]*of pid {pmd.terminal.process.pid} comm dpdk-testpmd")
        screen.press("\x1b")
        screen.until_text("q quit")
        screen.press("q")
        assert screen.ended() == 0 and screen.is_restored()


def test_small_terminals():
    """A line never wraps, nothing scrolls (the harness looks for that), and what does not fit is counted."""
    with busy_card() as (card, _, _):
        for columns, rows in ((1, 1), (20, 2), (40, 4), (60, 9), (400, 60)):
            with live(card, columns=columns, rows=rows) as screen:
                screen.until(lambda s, rows=rows: len(s.lines) == rows)
                assert all(len(line) <= columns for line in screen.lines)
                screen.press("q")
                assert screen.ended() == 0 and screen.is_restored()


def test_it_follows_the_size():
    with busy_card() as (card, _, _), live(card, columns=200, rows=50) as screen:
        screen.until_text("out.udp_dport")
        screen.resize(50, 12)
        screen.until(lambda s: len(s.lines) == 12 and all(len(line) <= 50 for line in s.lines))
        screen.until_text(r"\.\.\. \d+ more")
        screen.resize(200, 50)
        screen.until(lambda s: len(s.lines) == 50 and "out.udp_dport" in s.text)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT,
                                  signal.SIGSEGV])
def test_any_end_restores_the_terminal(sign):
    with cards.up("wire=null") as card, live(card) as screen:
        screen.until_text("mlx5_0")
        screen.process.send_signal(sign)
        assert screen.ended() == -sign and screen.is_restored()


def test_stopped_and_continued():
    with cards.up("wire=null") as card, live(card) as screen:
        screen.until_text("mlx5_0")
        screen.process.send_signal(signal.SIGTSTP)
        os.waitid(os.P_PID, screen.process.pid, os.WSTOPPED | os.WNOWAIT)
        while screen.read_some(0):
            pass
        assert screen.is_restored()
        screen.process.send_signal(signal.SIGCONT)
        screen.until(lambda s: OTHER_SCREEN in s.modes and "mlx5_0" in s.text)
        screen.press("q")
        assert screen.ended() == 0 and screen.is_restored()


def test_the_card_goes():
    """With a message behind the view, and the terminal as it was."""
    with cards.up("wire=null") as card, live(card) as screen:
        screen.until_text("mlx5_0")
        cards.softhca("down", card)
        assert screen.ended() == 125 and screen.is_restored()
        assert "softhca top: " in screen.text and "no program has the device open" in screen.text


def test_programs_come_and_go():
    with cards.up("wire=null") as card, live(card) as screen:
        screen.until_text("mlx5_0")
        assert "raw-dont-trap" not in screen.text
        with cards.running(card, *SNIFFER):
            screen.until_text("raw-dont-trap[^$]*RULE[^$]*raw-dont-trap, next")
        screen.until(lambda s: "raw-dont-trap" not in s.text)
