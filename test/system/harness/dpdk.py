# SPDX-License-Identifier: BSD-3-Clause
"""The DPDK that the tests run on, and the words that its programs have in it."""
import subprocess

VERSION = tuple(int(part) for part in subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True,
                                                     text=True, check=True).stdout.split(".")[:2])

# testpmd's words of bonding: DPDK 23.11 renamed them.
BONDING, MEMBER = ("bonding", "member") if VERSION >= (23, 11) else ("bonded", "slave")
BONDING_LACP = "show bonding config" if VERSION >= (23, 11) else "show bonding lacp info"

# With its defaults the mlx5 driver of 25.11 registers one DevX umem for all send queues, also where the device has no
# DevX and verbs make the queues (mlx5_dev_allocate_consec_tx_mem() looks at txq_mem_algn alone), so the port does not
# start on any kernel without DevX (LX hw/mlx5/devx.c): test_intree_pmd.py shows it. This argument is the way around.
INTREE_DEVARGS = "txq_mem_algn=0" if VERSION >= (25, 11) else ""
