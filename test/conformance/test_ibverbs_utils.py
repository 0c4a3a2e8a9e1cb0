# SPDX-License-Identifier: BSD-3-Clause
"""All of Debian's ibverbs-utils, unmodified, see the software ConnectX as a ConnectX."""
import os
import re
import subprocess

import pytest
from harness import paths
from harness.program import run_on_softhca
from harness.terminal import Terminal
from harness.testpmd import softhca_argv


def test_ibv_devices_lists_every_port():
    status, text = run_on_softhca(["ibv_devices"], ["wire=loop,mac=02:00:00:00:00:10", "wire=loop"])
    assert status == 0, text
    assert re.search(r"mlx5_0\s+[0-9a-f]{16}", text) and re.search(r"mlx5_1\s+[0-9a-f]{16}", text), text
    assert "0000:00ff:fe00:0010" in text or "0000" in text


def test_ibv_devices_without_runner_sees_nothing():
    """The device lives in the runner's child only."""
    import subprocess
    done = subprocess.run(["ibv_devices"], capture_output=True, text=True, check=False)
    assert "mlx5_" not in done.stdout


@pytest.mark.parametrize("model,part", [("cx4lx", 4117), ("cx5", 4119), ("cx6dx", 4125)])
def test_ibv_devinfo(model, part):
    status, text = run_on_softhca(["ibv_devinfo", "-v"], [f"wire=loop,model={model}"])
    assert status == 0, text
    fields = dict(re.findall(r"^\s*([a-z_0-9]+):[ \t]+(\S.*?)\s*$", text, re.M))
    assert fields["hca_id"] == "mlx5_0"
    assert fields["vendor_id"] == "0x02c9"
    assert fields["vendor_part_id"] == str(part)
    assert fields["state"].startswith("PORT_ACTIVE")
    assert fields["link_layer"] == "Ethernet"
    assert fields["phys_port_cnt"] == "1"
    assert re.match(r"\d+\.\d+\.\d+", fields["fw_ver"])
    for limit in ("max_qp", "max_qp_wr", "max_cq", "max_cqe", "max_mr", "max_pd"):
        assert int(fields[limit]) > 0, limit
    assert int(fields["max_rwq_indirection_tables"]) > 0
    assert int(fields["max_rwq_indirection_table_size"]) > 0
    assert "RAW_IP_CSUM" in text or "RAW_PACKET" in text or "raw packet caps" in text, text


def test_ibv_devinfo_of_a_missing_device():
    status, text = run_on_softhca(["ibv_devinfo", "-d", "mlx5_9"])
    assert status != 0 and "mlx5_9" in text, text


def test_ibv_asyncwatch_sees_the_link_go_and_come(tmp_path):
    control = tmp_path / "control"
    watch = Terminal(softhca_argv(["wire=loop"], ["ibv_asyncwatch"], ["--ctl", str(control)]),
                     env=dict(os.environ))
    try:
        seen = watch.expect(r"mlx5_0: async event FD \d+", 0).end()
        for state, event in (("down", "PORT_ERR"), ("up", "PORT_ACTIVE")):
            subprocess.run([paths.SOFTHCA, "ctl", control, "link", state], check=True, stdin=subprocess.DEVNULL)
            seen = watch.expect(rf"event_type IBV_EVENT_{event} \(\d+\), port 1", seen).end()
    finally:
        watch.close()
