# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's in-tree mlx5 driver in two processes: the device's descriptor goes to the secondary one, which maps doorbells."""
import pytest
from harness.shared import SecondaryTestpmd, SharedInTreeTestpmd, hugepages_at

pytestmark = pytest.mark.usefixtures("tap_allowed")
# Its link is not asked for there: testpmd would wait nine seconds for an answer.
OPTIONS = ["--rxq=2", "--txq=2", "--num-procs=2", "--disable-link-check"]


@pytest.mark.parametrize("devargs", ["dv_flow_en=1", "dv_flow_en=0"])
def test_frames_circle_through_the_secondary(tmp_path, devargs):
    """The primary sends a burst, all of which comes to the secondary's queue: that sends it on for ever."""
    with hugepages_at(tmp_path) as huge, \
            SharedInTreeTestpmd(huge, "wire=loop", devargs, [*OPTIONS, "--proc-id=0"]) as pmd, \
            SecondaryTestpmd(pmd, [*OPTIONS, "--proc-id=1"]) as second:
        pmd.flow("ingress pattern eth / end actions queue index 1 / end")
        second.cmd("set fwd io")
        second.cmd("start")
        pmd.cmd("start tx_first 1")
        stats = second.wait_stats(lambda now: now["TX-packets"] > 10000)
        assert stats["RX-errors"] == stats["TX-errors"] == 0
        second.cmd("stop")
        pmd.cmd("stop")
