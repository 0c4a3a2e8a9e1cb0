# SPDX-License-Identifier: BSD-3-Clause
"""devtools/demo ends with 0 and leaves nothing behind, with TAPs and with captures."""
import subprocess

import pytest
from harness import host, paths


def netdevs():
    return host.run("ip", "-o", "link"), host.run("ip", "netns", "list")


@pytest.mark.parametrize("arguments", [[], pytest.param(["--pcap"], marks=pytest.mark.long)])
def test_demo(arguments):
    script = "demo" if paths.BUILD == paths.ROOT / "build" else "demo-story"
    before = netdevs()
    done = subprocess.run([paths.ROOT / "devtools" / script, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                          check=False)
    assert done.returncode == 0, done.stdout
    assert "all as told" in done.stdout
    if arguments:
        assert "capture files stand" in done.stdout
    assert len(netdevs()[1].splitlines()) <= len(before[1].splitlines())
