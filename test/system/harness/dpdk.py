# SPDX-License-Identifier: BSD-3-Clause
"""The DPDK that the tests run on, and the words that its programs have in it."""
import ipaddress
import re
import subprocess

_RELEASE = tuple(int(part) for part in subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True,
                                                      text=True, check=True).stdout.split(".")[:3])
VERSION = _RELEASE[:2]

# testpmd's words of bonding: DPDK 23.11 renamed them.
BONDING, MEMBER = ("bonding", "member") if VERSION >= (23, 11) else ("bonded", "slave")
BONDING_LACP = "show bonding config" if VERSION >= (23, 11) else "show bonding lacp info"
# testpmd's commands, and whether its "flow flush" takes the results of what waits in flow queues.
DUMP_MEMPOOL, DUMP_RING = ("dump mempool", "dump ring") if VERSION >= (25, 11) else ("dump_mempool", "dump_ring")
# (That came with DPDK's commit df503d757b, and went to stable releases.)
FLUSH_PULLS = _RELEASE >= {(23, 11): (23, 11, 7), (24, 11): (24, 11, 5), (25, 11): (25, 11, 1)}.get(VERSION, (26, 3))

# With its defaults the mlx5 driver of 25.11 registers one DevX umem for all send queues, also where the device has no
# DevX and verbs make the queues (mlx5_dev_allocate_consec_tx_mem() looks at txq_mem_algn alone), so the port does not
# start on any kernel without DevX (Linux hw/mlx5/devx.c): test_intree_pmd.py shows it. This argument is the way around.
INTREE_DEVARGS = "txq_mem_algn=0" if VERSION >= (25, 11) else ""


def _mask_of(match):
    """The mask that the prefix of this "FIELD spec ADDRESS FIELD prefix BITS" stands for."""
    field, address, bits = match.group(1), match.group(2), int(match.group(3))
    if re.fullmatch("(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", address):
        mask = (((1 << bits) - 1) << (48 - bits)).to_bytes(6, "big").hex(":")
    else:
        mask = str(ipaddress.ip_network(f"{address}/{bits}", strict=False).netmask)
    return f"{field} spec {address} {field} mask {mask}"


def typed(lines):
    """The lines as this testpmd takes them: 25.11's ends with a segmentation fault at an address's prefix."""
    if VERSION < (25, 11):
        return lines
    return re.sub(r"(\w+) spec (\S+) \1 prefix (\d+)", _mask_of, lines)
