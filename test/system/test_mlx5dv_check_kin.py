# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check between a physical function and its virtual one: what the switch keeps from a port is no fault of it."""
import pytest
from harness import host
from harness.mlx5dv_check import CABLE, check, failed

CARD = ["wire=null,pf=on", "wire=null,vf=on,trust=on,mac=02:00:00:00:00:09"]
STRANGERS = {"addresses", "promiscuous"}


def absent(report):
    return {row["row"]: row["why"] for row in report["rows"] if row["result"] == "not there"}


@pytest.mark.parametrize("port, peer, why", [
    ("mlx5_0", "mlx5_1", "what the peer, a virtual function of this port, sends to addresses that the port's netdev"),
    pytest.param("mlx5_1", "mlx5_0", "a virtual function's host decides", marks=pytest.mark.long),
])
def test_strangers_frames_leave_the_card(tmp_path, port, peer, why):
    status, rows, report = check(tmp_path, "--ibdev", port, "--peer", peer, ports=CARD)
    assert failed(report) == {} and status == 0
    assert {row for row, said in absent(report).items() if why in said} == STRANGERS
    assert rows["flow: QUEUE"] == rows["multicast list"] == rows["all multicast"] == "pass"


def test_an_address_that_the_netdev_lists_comes(tmp_path, tap_allowed):
    """That is seen, not supposed: the same two rows pass then."""
    with host.netdev_that_is_up() as netdev:
        host.run("bridge", "fdb", "add", "02:00:00:00:02:01", "dev", netdev, "self")
        card = [f"{CARD[0]},kernel=tap:{netdev}", CARD[1]]
        for row in sorted(STRANGERS):
            status, rows, report = check(tmp_path, "--yes", "--only", row, ports=card)
            assert rows == {row: "pass"} and status == 0, report


def test_what_is_lost_on_a_cable_is_still_a_failure(tmp_path):
    """The reason is for the peer's own host, not for any port that is not a function."""
    faults = tmp_path / "faults"
    faults.write_text("wire loss from 1 frames of mlx5_0\n")
    status, rows, _ = check(tmp_path, "--only", "promiscuous", "--patience", "100", ports=CABLE, options=["--faults", faults])
    assert rows == {"promiscuous": "FAIL"} and status == 1
