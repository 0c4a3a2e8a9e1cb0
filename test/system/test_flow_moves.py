# SPDX-License-Identifier: BSD-3-Clause
"""Rules that are moved while packets come: none is lost, and none doubled unless passthru_move=on allows it."""
import re
import threading
import time

import pytest
from harness import frames
from harness.cable import Cable
from harness.testpmd import Testpmd

FRAMES = 1000  # a change; fewer than a queue holds, so that a slow machine drops none
COPY = "ingress priority 50 pattern eth / ipv4 / udp / end actions queue index 0 / passthru / end"
TAKE = "ingress priority 60 pattern eth / ipv4 / udp / end actions queue index 1 / end"


def neighbour(priority, length, fate):
    """A rule that may meet the packets, for all that masks say, and does not."""
    return (f"ingress priority {priority} pattern eth / ipv4 src spec 192.168.0.1 src prefix {length} / end"
            f" actions {fate} / end")


# One after the other, until one is refused: each needs a place before TAKE, or before COPY.
BEHIND_COPY = [neighbour(51 + i, 32 - i, "queue index 2 / passthru") for i in range(7)]
BEFORE_COPY = [neighbour(49 - i, 23 - i, "queue index 3") for i in range(8)]


class Traffic:
    """Frames that come while rules change."""

    def __init__(self, pmd, cable):
        self.pmd, self.cable = pmd, cable
        self.sent = 0

    def during(self, change):
        sender = threading.Thread(target=self.send)
        sender.start()
        try:
            return change()
        finally:
            sender.join()
            self.sent += FRAMES
            # testpmd may have polled queue 1 again, and queue 0 not yet.
            self.pmd.wait_stats(lambda _: self.queue(1) == self.sent and self.queue(0) >= self.sent)

    def send(self):
        for _ in range(FRAMES // 20):
            self.cable.send(*[frames.packet(dst="10.0.0.9")] * 20)
            time.sleep(0.0005)

    def queue(self, index):
        return self.pmd.xstats()[f"rx_q{index}_packets"]


def place(pmd, rule):
    return re.search(r"FT: (0x[0-9a-f]+)", pmd.cmd(f"flow dump 0 rule {rule}")).group(1)


@pytest.mark.parametrize("devargs,moves", [("", False), (",passthru_move=on", True)])
def test_moves_under_traffic(tmp_path, devargs, moves):
    with Testpmd(ports=[f"wire=unix:{tmp_path}/wire"], vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"],
                 args=["--rxq=4", "--txq=4", "--rxd=4096", "--total-num-mbufs=40000", "--flow-isolate-all"],
                 memory=256) as pmd:
        copy, take = pmd.flow(COPY), pmd.flow(TAKE)
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        moved = {copy: 0, take: 0}
        refused = 0
        with Cable(tmp_path / "wire") as cable:
            traffic = Traffic(pmd, cable)
            for rule in BEHIND_COPY + BEFORE_COPY:
                before = {each: place(pmd, each) for each in moved}
                answer = traffic.during(lambda rule=rule: pmd.cmd(f"flow create 0 {rule}"))
                refused += "levels are too few" in answer
                assert "created" in answer or "levels are too few" in answer, answer
                for each in moved:
                    moved[each] += place(pmd, each) != before[each]
            copies = traffic.queue(0)
            print(f"{traffic.sent} packets, {copies} copies; moved: copying rule {moved[copy]} times,"
                  f" taking rule {moved[take]}; {refused} rules refused")
        assert pmd.stats()["RX-missed"] == 0
        assert moved[take] >= 2
        assert bool(moved[copy]) == moves
        assert copies >= traffic.sent if moves else copies == traffic.sent
