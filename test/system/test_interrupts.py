# SPDX-License-Identifier: BSD-3-Clause
"""Rx interrupts through ethdev and epoll, with the device standing still in the middle of races."""
from harness import paths
from harness.program import run_on_softhca
from harness.testpmd import NOT_STRICT, eal_args, eal_prefix, remove_runtime_dir

ORDERS = ["armed, then sent", "arrived, then armed", "sent, and armed before it arrives",
          "arrived, and armed while the device stands", "armed twice", "armed in vain, then armed",
          "armed again while the last event is on its way"]


def wake_up(*commands, options=()):
    """What the program printed."""
    prefix = eal_prefix()
    command = [str(paths.BUILD / "test/ethdev/ethdev-wakeup"),
               *eal_args(prefix, ["net_mlx5dv0,ibdev=mlx5_0"], lcores="0", memory=128), *commands]
    try:
        status, text = run_on_softhca(command, ["wire=loop"], options=options)
    finally:
        remove_runtime_dir(prefix)
    assert status == 0, text
    return text


def test_no_order_of_events_loses_a_wake_up():
    ctl = f"{paths.SOFTHCA} ctl %s >/dev/null"
    text = wake_up("--", ctl % "freeze", ctl % "thaw")
    for order in ORDERS:
        assert f"{order}: woken" in text, text


def test_a_sleeper_whose_queue_breaks_is_woken(tmp_path):
    """A CQ in error fires for nothing any more; woken, the thread polls, and the queue is recreated.

    So is the send queue, younger then than the other: its broadcasts are a finding of --strict.
    """
    faults = tmp_path / "faults"
    faults.write_text("cq overrun every 3\n")
    text = wake_up(options=("--faults", faults, *NOT_STRICT))
    assert "broken queues: woken" in text and "Rx queue 0: CQ error" in text, text
