# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own mlx5 driver on a virtual function: it sees one, and asks the card by way of the netdev."""
import time

import pytest

from harness import frames, host
from harness.cable import Cable
from harness.intree import InTreeTestpmd
from harness.patience import PATIENCE

pytestmark = pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
MAC, STRANGER = "02:00:00:00:00:10", "02:00:00:00:00:77"


@pytest.mark.parametrize("trust", ["on", "off"])
def test_promiscuous_takes_trust(tmp_path, trust):
    """Without it nobody says no, as on hardware: frames for others just do not come."""
    with InTreeTestpmd(f"wire=unix:{tmp_path}/wire,vf=on,trust={trust},mac={MAC}",
                       args=["--rxq=1", "--txq=1"]) as pmd, Cable(tmp_path / "wire") as peer:
        assert pmd.info()["Promiscuous mode"] == "enabled"
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        end = time.monotonic() + PATIENCE
        if trust == "on":
            while pmd.stats()["RX-packets"] == 0:  # the card looks at the netdev now and then
                assert time.monotonic() < end
                peer.send(frames.packet(eth_dst=STRANGER))
                time.sleep(0.05)
            return
        time.sleep(0.3)
        peer.send(*[frames.packet(eth_dst=STRANGER)] * 5, *[frames.packet(eth_dst=MAC)] * 3)
        pmd.wait_stats(lambda stats: stats["RX-packets"] >= 3)
        time.sleep(0.2)
        assert pmd.stats()["RX-packets"] == 3
