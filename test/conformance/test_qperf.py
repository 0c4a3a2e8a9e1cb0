# SPDX-License-Identifier: BSD-3-Clause
"""qperf, unmodified. Its server forks for each client; queue pairs of RC are connected by librdmacm, which RoCE takes: without
it, it names a path by LIDs alone."""
import re
import shutil

import pytest
from harness.places import HOSTS, fill, run_client, serving

pytestmark = pytest.mark.skipif(shutil.which("qperf") is None, reason="qperf is not installed")

TESTS = ["rc_bw", "rc_bi_bw", "rc_lat", "rc_rdma_write_bw", "rc_rdma_write_lat", "rc_rdma_write_poll_lat",
         "rc_rdma_read_bw", "rc_rdma_read_lat", "rc_compare_swap_mr", "rc_fetch_add_mr", "ver_rc_compare_swap",
         "ver_rc_fetch_add"]
FEW = ["rc_bw", "rc_rdma_read_bw", "ver_rc_fetch_add"]
RESULT = r"^ +(bw|latency|msg_rate) += +[\d.]+ \S+$"


@pytest.mark.parametrize("place, tests", [("one host", FEW), pytest.param("one host", TESTS, marks=pytest.mark.long),
                                          pytest.param("bridge", FEW, marks=pytest.mark.long)],
                         ids=["one host", "one host, all", "bridge"])
def test_by_connections(place, tests, tmp_path):
    """One client after the other, each with a connection of its own, and in the last one all again."""
    with HOSTS[place](tmp_path) as (server, client), serving("qperf -lp PORT", server, client) as terminal:
        for names in (*tests, " ".join(tests)):
            status, text = run_client(client.argv(*fill(f"qperf -lp PORT ADDRESS -cm1 -t 1 {names}", server, client)))
            assert status == 0 and len(re.findall(RESULT, text, re.M)) == len(names.split()), (names, text, terminal.text)


@pytest.mark.parametrize("name, refusal", [("uc_bw", "failed to modify QP to RTR"), ("rc_lat", "failed to modify QP to RTR"),
                                           ("ud_lat", "failed to create address handle")])
def test_without_a_gid(name, refusal, tmp_path):
    """Linux refuses paths and address handles without one (mlx5_ib: create_ah(), mlx5_set_path()): so does softhca."""
    with HOSTS["one host"](tmp_path) as (server, client), serving("qperf -lp PORT", server, client):
        argv = client.argv(*fill(f"qperf -lp PORT ADDRESS -t 1 {name}", server, client))
        status, text = run_client(argv, wanted=lambda status, text: "Invalid argument" in text)
        assert status == 1 and f"{refusal}: Invalid argument" in text, text
