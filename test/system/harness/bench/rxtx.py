# SPDX-License-Identifier: BSD-3-Clause
"""rxtx-bench, which has both drivers in one process, each on a port of its own of one softhca that sends to itself."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

from harness import host, paths
from harness.dpdk import INTREE_DEVARGS
from harness.progress import Progress
from harness.testpmd import eal_prefix, remove_runtime_dir, softhca_argv

OURS, THEIRS = "net_mlx5dv0", "5ca0:00:01.0"
DEVARGS = ",".join(filter(None, ["dv_flow_en=0", INTREE_DEVARGS]))
# What is added to the names of cases, to the arguments of our driver and to theirs; which cases.
VARIANTS = [
    ("", "", "", ""),
    (" uncompressed", ",rx_cqe_comp=off", ",rxq_cqe_comp_en=0", "rx plain 64 B x"),
    (" striding", ",mprq=on", ",mprq_en=1,rxqs_min_mprq=1", "rx plain "),
    (" inlined", ",tx_inline=204", ",txqs_min_inline=0,txq_inline_mpw=204,txq_inline_max=204", "tx plain 64 B x"),
]
# A bare loop stands beside them, where so many bytes complete a packet.
BARE = {"": ["--bare", "8"], " uncompressed": ["--bare", "64"], " striding": ["--bare", "8", "--copies"],
        " inlined": ["--bare", "8", "--copies"]}
MEMORY_MIB = 512
# Drivers' names in ethdev and as everybody calls them.
PEERS = {"mlx5_pci": "net_mlx5"}
CTL = f"{paths.SOFTHCA} ctl"
# The device stands while a burst is measured.
STANDING = ["--freeze", f"{CTL} freeze >/dev/null", "--thaw", f"{CTL} thaw >/dev/null"]


def parser(description, results):
    """The options that run() needs."""
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--only", help="cases with this text in their names")
    out.add_argument("--all", action="store_true", help="all shapes of each kind")
    out.add_argument("--simd", help="bits that the EAL allows vectors")
    out.add_argument("--ours", type=lambda keys: f",{keys}", default="", help="devargs of our driver")
    out.add_argument("--devargs", default=DEVARGS, help="of the in-tree driver")
    out.add_argument("--json", type=pathlib.Path, default=paths.BUILD / results)
    return out


def variants(options):
    """Those of VARIANTS that have cases of the options."""
    wanted = options.only or ""
    return [variant for variant in VARIANTS if variant[3].startswith(wanted) or wanted.startswith(variant[3])]


def follow(output, progress):
    """All that rxtx-bench prints: how many cases there are, and a line each."""
    text = []
    for line in output:
        text.append(line)
        number = re.match(r"(\d+) cases$", line)
        if number:
            progress.total = int(number[1])
        elif progress.total and re.search(r" -?[\d.]+ +-?[\d.]+ +[\d.]+$", line):
            progress.step(line[:32].rstrip())
    progress.clear()
    return "".join(text)


def run(options, variant, arguments, before=(), huge=False, what=""):
    _, ours, theirs, cases = variant
    only = max(options.only or "", cases, key=len)
    prefix = eal_prefix()
    plugin, environment = paths.plugin()
    command = [*before, str(paths.BUILD / "app/rxtx-bench"), "-l", "0,1", "-m", str(MEMORY_MIB),
               "--in-memory" if huge else "--no-huge", "--no-telemetry",
               "--file-prefix", prefix, "-d", plugin,
               *([f"--force-max-simd-bitwidth={options.simd}"] if options.simd else []),
               "-a", f"{THEIRS},{options.devargs}{theirs}",
               "--vdev", f"{OURS},ibdev=mlx5_0{ours}{options.ours}", "--",
               "--ours", OURS, "--theirs", THEIRS, *arguments]
    if only:
        command += ["--only", only]
    if options.all:
        command += ["--all"]
    if before or "--steps" in arguments:
        environment = dict(environment, SOFTHCA_KEEPER="0")  # whoever counts follows one process
    try:
        # What Linux sends on a netdev that comes up would be counted as received.
        with host.netdev_that_is_up() as netdev, \
                subprocess.Popen(softhca_argv(["wire=loop", f"wire=loop,kernel=tap:{netdev}"], command), env=dict(os.environ, **environment),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as bench:
            text = follow(bench.stdout, Progress(what=what + variant[0]))
    finally:
        remove_runtime_dir(prefix)
    if bench.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {bench.returncode}:\n{text}")


def table(options, variant, directory, *arguments, **how):
    """The rows that rxtx-bench itself prints."""
    file = directory / "table.json"
    run(options, variant, ["--json", str(file), *arguments], **how)
    return json.loads(file.read_text())
