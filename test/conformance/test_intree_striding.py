# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's in-tree mlx5 driver on striding receive queues, scalar and vectorised."""
import pytest
from harness import frames
from test_intree_pmd import collect, forwarding

SIZES = (60, 61, 64, 65, 127, 128, 129, 255, 256, 257, 512, 1023, 1500, 1514)

pytestmark = pytest.mark.usefixtures("tap_allowed")


@pytest.mark.parametrize("compression", [0, 1])
@pytest.mark.parametrize("vector, mode", [(0, "Multi-Packet RQ"), (1, "MPRQ Vector SSE")])
def test_frames_leave_as_they_came(tmp_path, vector, compression, mode):
    """Several laps over the ring; with and without compressed completions."""
    devargs = (f"mprq_en=1,rxqs_min_mprq=1,rx_vec_en={vector},"
               f"rxq_cqe_comp_en={compression},mprq_log_stride_num=6")
    with forwarding(tmp_path, ["--rxd=256", "--txd=256"], devargs=devargs) as (pmd, peer):
        assert mode == pmd.cmd("show rxq info 0 0").split("Burst mode: ")[1].split("\n")[0].strip()
        for lap in range(6):
            sent = [frames.packet(sport=lap * 1000 + i,
                                  data=bytes((i + j) & 255 for j in range(size - 42)))
                    for i, size in enumerate(SIZES * 10)]
            for at in range(0, len(sent), 35):
                peer.send(*sent[at:at + 35])
                got = collect(peer, lambda got: len(got) == len(sent[at:at + 35]))
                assert got == sent[at:at + 35]
