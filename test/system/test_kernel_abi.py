# SPDX-License-Identifier: BSD-3-Clause
"""kernel-abi=: what programs find on other Linuxes than 6.1; the driver matches an ESP SPI where the kernel does."""
import struct
import subprocess

import pytest
from harness import ctl, frames
from harness.patience import PATIENCE
from harness.rig import Rig, source
from harness.testpmd import softhca_argv

ESP = 50
OLD = ",kernel-abi=5.10"


def esp(number, spi, version=4):
    payload = struct.pack("!II", spi, 1) + bytes(16)
    if version == 4:
        return frames.ether(frames.ipv4(payload, ESP), frames.IPV4, src=source(number))
    return frames.ether(frames.ipv6(payload, ESP), frames.IPV6, src=source(number))


def test_an_spi_on_5_10(tmp_path):
    """Of either IP version, by value and by mask; another SPI, or none, goes on."""
    with Rig(tmp_path, port=OLD) as rig:
        rig.add_sentinel()
        for rule in ("eth / ipv4 / esp spi is 0x1234 / end actions queue index 1 / end",
                     "eth / ipv6 / esp spi spec 0x5600 spi mask 0xff00 / end actions queue index 2 / end",
                     "eth / ipv4 / esp / end actions queue index 3 / end"):
            rig.pmd.flow(f"ingress priority {1 + ('esp / end' in rule)} pattern {rule}")
        assert "out.esp_spi:0x1234" in ctl.ask(rig.pmd, "dump")
        got = rig.deliver(esp(1, 0x1234), esp(2, 0x1235), esp(3, 0x5678, 6), esp(4, 0x5778, 6), frames.packet())
        assert rig.numbers(got, 1) == [1] and rig.numbers(got, 2) == [3] and rig.numbers(got, 3) == [2]


@pytest.mark.parametrize("port", ["", ",kernel-abi=6.12"])
def test_no_spi_since(tmp_path, port):
    with Rig(tmp_path, port=port) as rig:
        refused = rig.pmd.refused_flow("ingress pattern eth / ipv4 / esp spi is 5 / end actions queue index 0 / end")
        assert "ESP spi: the device or its kernel does not match it" in refused


@pytest.mark.parametrize("kernel", ["5.10", "6.1", "6.12"])
def test_verbs_programs_run(kernel):
    argv = softhca_argv([f"kernel-abi={kernel}"], ["ibv_devinfo", "-v"])
    done = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
    assert "max_qp:\t\t\t\t131072" in done.stdout
    argv = softhca_argv([f"kernel-abi={kernel}"], ["rdma", "system"])
    done = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.startswith("netns shared") and ("copy-on-fork on" in done.stdout) == (kernel != "5.10")
