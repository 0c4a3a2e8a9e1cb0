# SPDX-License-Identifier: BSD-3-Clause
"""devtools/bench pci: what a packet moves over PCI, and when a link is full."""
import json
import subprocess

import pytest
from harness import paths
from harness.bench import pci
from harness.patience import PATIENCE


def test_a_link_carries_what_the_published_model_says():
    """57.88 Gb/s for a Gen3 x8 with payloads of 256 bytes (Neugebauer et al. 2018, section 3)."""
    assert pci.LINKS["Gen3 x8"] * pci.LEFT["Gen3 x8"] / 1e9 == pytest.approx(57.88, abs=0.01)
    assert pci.LINKS["Gen4 x16"] == 2 * pci.LINKS["Gen3 x16"] == 4 * pci.LINKS["Gen3 x8"]


def test_the_fuller_way_decides():
    assert pci.full(100, 50) == pci.full(50, 100) == pci.full(100, 100)
    assert pci.full(88, 0)["Gen3 x8"] == pytest.approx(57.88e9 / 8 / 88, rel=1e-3)


def test_a_packet_has_the_causes_of_its_direction():
    counts = {cause: {"to_host_bytes": 64, "to_host_tlps": 2, "to_device_bytes": 32, "to_device_tlps": 4}
              for cause in pci.RECEIVED + pci.SENT}
    sent = pci.a_packet("tx plain", 32, counts)
    assert set(sent) == {*pci.SENT, "all"} and sent["tx_data"] == [2, 1 / 16, 1, 1 / 8]
    assert sent["all"] == [10, 5 / 16, 5, 5 / 8]
    assert set(pci.a_packet("rx plain", 32, counts)) == {*pci.RECEIVED, "all"}


def bench(only, file, *options):
    done = subprocess.run([paths.ROOT / "devtools/bench", "pci", "--only", only, "--json", file, *options], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    assert done.returncode == 0 and "\033[K" not in done.stdout, done.stdout
    return json.loads(file.read_text())


@pytest.mark.long
@pytest.mark.usefixtures("tap_allowed")
def test_sends_are_counted_by_bursts(tmp_path):
    row, = bench("tx fast free 64 B x8", tmp_path / "pci.json", "--peers", "default,inline")
    # Eight frames of 60 bytes in a WQE of 3 WQEBBs (ten units); a doorbell, and a record's word.
    for whose in ("ours", "default"):
        assert row[whose]["tx_data"] == [24, 1, 20 + 60, 1]
        # Some WQEs lie around the ring's end, and take two reads.
        assert row[whose]["tx_wqe"] == pytest.approx([24 / 8, 1 / 8, (20 + 3 * 64) / 8, 1 / 8], rel=0.1)
        # The device looks at the register: it may find two rings of it as one.
        rung = row[whose]["tx_doorbell"][3]
        assert 0.5 / 8 < rung <= 1 / 8 and row[whose]["tx_doorbell"] == [0, 0, (24 + 8) * rung, rung]
        read = row[whose]["tx_record"][3]
        assert 0.5 / 8 < read <= 1 / 8 and row[whose]["tx_record"] == [24 * read, read, (20 + 4) * read, read]
        assert 0 < row[whose]["tx_cqe"][0] <= 88 / 8
    # Inlined, nothing is read behind pointers.
    assert row["inline"]["tx_data"] == [0, 0, 0, 0] and row["inline"]["tx_wqe"][2] > row["ours"]["tx_wqe"][2]


@pytest.mark.usefixtures("tap_allowed")
def test_receives_are_counted_at_once(tmp_path):
    """A kind without variants and a burst without others of its length: two runs of one case."""
    row, = bench("rx marked 64 B x8", tmp_path / "pci.json", "--peers", "default,mprq")
    for whose in ("ours", "default"):
        assert row[whose]["rx_data"] == [24 + 60, 1, 0, 0]
        # 16 WQEs of 16 bytes come with a read.
        assert row[whose]["rx_wqe"][2] == pytest.approx((20 + 256) / 16, rel=0.05)
        # Frames that come one by one are not compressed.
        assert row[whose]["rx_cqe"][0] <= 24 + 64
    assert row["mprq"]["rx_wqe"][2] < row["ours"]["rx_wqe"][2]
