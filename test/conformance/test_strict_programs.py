# SPDX-License-Identifier: BSD-3-Clause
"""Programs that run on cards, unmodified, on strict devices: none breaks a rule that --strict knows."""
import re
import shutil

import pytest
import test_ucx
from harness import card as cards
from harness import paths
from harness.both import run_both, two_ends

PERFTEST = [
    "ib_send_bw -c RC", "ib_send_bw -c UC", "ib_send_bw -c UD", "ib_send_bw -c XRC", "ib_send_bw --use-srq -q 4", "ib_send_lat -e",
    "ib_send_lat -c UD -I 100 -s 100", "ib_write_bw -Q 1 -l 5", "ib_write_bw -t 4 -q 8", "ib_write_lat", "ib_read_bw -q 4",
    "ib_read_lat -o 1", "ib_atomic_bw", "ib_atomic_lat -c XRC",
]
PINGPONG = ["ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ibv_xsrq_pingpong"]


def findings(ends):
    return re.findall(r"^softhca: strict: .*$", "".join(cards.log(card) for card, _ in ends), re.M)


@pytest.mark.skipif(shutil.which("ib_send_bw") is None, reason="perftest is not installed")
@pytest.mark.parametrize("words", [*PERFTEST[:2], *(pytest.param(words, marks=pytest.mark.long) for words in PERFTEST[2:])])
def test_perftest(words, tmp_path):
    with two_ends("unix", tmp_path, options=["--strict"]) as ends:
        for who, status, text in run_both([*words.split(), "-F", "-x", "1", "-n", "100"], ends):
            assert status == 0, (who, text)
        assert findings(ends) == []


@pytest.mark.skipif(shutil.which("ibv_rc_pingpong") is None, reason="ibverbs-utils is not installed")
@pytest.mark.parametrize("program", PINGPONG)
def test_pingpong(program, tmp_path):
    with two_ends("unix", tmp_path, options=["--strict"]) as ends:
        for who, status, text in run_both([program, "-g", "1", "-n", "100"], ends):
            assert status == 0, (who, text)
        assert findings(ends) == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which("ucx_perftest") is None, reason="ucx-utils is not installed")
@pytest.mark.parametrize("transport", test_ucx.TRANSPORTS)
def test_transports_of_ucx(transport, tmp_path):
    with two_ends("unix", tmp_path, options=["--strict"]) as ends:
        for operation in test_ucx.OPERATIONS + (test_ucx.OF_RC if transport.startswith("rc") else []):
            test_ucx.run(ends, ["-x", transport, "-d", "mlx5_0:1", "-t", *operation.split()])
        assert findings(ends) == []


def test_a_mistake_would_be_found(tmp_path):
    with two_ends("one card", tmp_path, options=["--strict"]) as ends:
        card = ends[0][0]
        cards.run_on(card, paths.BUILD / "test/verbs/verbs-strict-roce", "qp-timeout")
        assert any("qp-timeout" in line for line in findings(ends[:1]))
