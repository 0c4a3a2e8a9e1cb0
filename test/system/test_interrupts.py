# SPDX-License-Identifier: BSD-3-Clause
"""Rx interrupts through ethdev and epoll, with the device standing still in the middle of races."""
from harness import paths
from harness.program import run_on_softhca
from harness.testpmd import eal_args, eal_prefix, remove_runtime_dir

ORDERS = ["armed, then sent", "arrived, then armed", "sent, and armed before it arrives",
          "arrived, and armed while the device stands", "armed twice", "armed in vain, then armed",
          "armed anew while the last event is on its way"]


def test_no_order_of_events_loses_a_wake_up():
    prefix = eal_prefix()
    ctl = f"{paths.SOFTHCA} ctl %s >/dev/null"
    command = [str(paths.BUILD / "test/ethdev/ethdev-wakeup"),
               *eal_args(prefix, ["net_mlx5dv0,ibdev=mlx5_0"], lcores="0", memory=128),
               "--", ctl % "freeze", ctl % "thaw"]
    try:
        status, text = run_on_softhca(command, ["wire=loop"], quiet=120)
    finally:
        remove_runtime_dir(prefix)
    assert status == 0, text
    for order in ORDERS:
        assert f"{order}: woken" in text, text
