# SPDX-License-Identifier: BSD-3-Clause
"""devtools/demo ends with 0 and leaves nothing behind, with TAPs and with captures."""
import pathlib
import re
import subprocess

import pytest
from harness import host, paths
from harness.patience import until


def left_behind():
    """Netdevs and namespaces of processes that have ended: others' tests run beside this one."""
    names = host.run("ip", "-o", "link") + host.run("ip", "netns", "list")
    # As host.name() makes them.
    running = {str(int(path.name) % 100000) for path in pathlib.Path("/proc").glob("[0-9]*")}
    return {name for name, pid in re.findall(r"\b(m(\d+)[a-z]\w*)", names) if pid not in running}


@pytest.mark.parametrize("arguments", [[], pytest.param(["--pcap"], marks=pytest.mark.long)])
def test_demo(arguments):
    script = "demo" if paths.BUILD == paths.ROOT / "build" else "demo-story"
    before = left_behind()
    done = subprocess.run([paths.ROOT / "devtools" / script, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                          check=False)
    assert done.returncode == 0, done.stdout
    assert "all as told" in done.stdout and "\n9. " in done.stdout
    if arguments:
        assert "capture files stand" in done.stdout
    # Others' processes end between the two lists.
    until(lambda: left_behind() <= before)
