# SPDX-License-Identifier: BSD-3-Clause
"""pciutils' lspci reads the functions from the tree that PCI programs are shown."""
import re

import pytest
from harness.program import run_on_softhca

SCRIPT = 'lspci -A linux-sysfs -O sysfs.path="$SYSFS_PATH/bus/pci" -n -vv'


@pytest.mark.parametrize("port, device, has_pm", [
    ("model=cx5", "1017", True), ("model=cx4lx", "1015", True), ("model=cx6dx,vf=on,wire=null", "101e", False)])
def test_capabilities_are_listed(port, device, has_pm):
    status, text = run_on_softhca(["sh", "-c", SCRIPT], ports=[port])
    assert status == 0, text
    assert re.match(rf"5ca0:00:00.0 0200: 15b3:{device}\b", text), text
    assert "Subsystem: 15b3:0001" in text
    assert "Capabilities: [60] Express (v2) Endpoint" in text and "FLReset+" in text
    assert "Speed 8GT/s, Width x16" in text
    assert "Capabilities: [9c] MSI-X: Enable+ Count=64" in text
    assert ("Capabilities: [40] Power Management version 3" in text) == has_pm
    assert "!!!" not in text and "Unknown" not in text, text
