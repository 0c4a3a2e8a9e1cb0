# SPDX-License-Identifier: BSD-3-Clause
"""The DPDK that the tests run on, and the words that its programs have in it."""
import subprocess

VERSION = tuple(int(part) for part in subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True,
                                                     text=True, check=True).stdout.split(".")[:2])

# testpmd's words of bonding: DPDK 23.11 renamed them.
BONDING, MEMBER = ("bonding", "member") if VERSION >= (23, 11) else ("bonded", "slave")
BONDING_LACP = "show bonding config" if VERSION >= (23, 11) else "show bonding lacp info"
