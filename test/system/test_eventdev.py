# SPDX-License-Identifier: BSD-3-Clause
"""Stock dpdk-test-eventdev: frames of two of our ports become events of DPDK's software event device, and leave again."""
import os
import shutil
import signal
import time

import pytest
from harness import frames, paths
from harness.cable import Cable
from harness.patience import PATIENCE
from harness.terminal import Terminal
from harness.testpmd import default_vdevs, eal_prefix, remove_runtime_dir, softhca_argv

NB_FRAMES = 40

pytestmark = pytest.mark.skipif(shutil.which("dpdk-test-eventdev") is None, reason="dpdk-test-eventdev is not installed")


def test_frames_as_events(tmp_path):
    """pipeline_queue: adapters on service lcores poll our Rx queues and fill our Tx queue; the worker hands a frame on to the
    port that it came from."""
    wires = [tmp_path / name for name in ("one", "two")]
    ports = [f"wire=unix:{wire}" for wire in wires]
    prefix, last = eal_prefix(), os.cpu_count() - 1
    # Two service lcores, one a CPU; where an lcore runs is said by --lcores alone.
    command = ["dpdk-test-eventdev", "--lcores", f"0@0,1@{last},2@0,3@{last}", "-S", "1,3", "--no-huge", "-m", "1024", "--no-pci",
               "--no-telemetry", "--file-prefix", prefix, "-d", paths.plugin()[0]]
    command += [word for vdev in [*default_vdevs(ports), "event_sw0"] for word in ("--vdev", vdev)]
    command += ["--", "--test=pipeline_queue", "--wlcores=2", "--prod_type_ethdev", "--stlist=a"]
    terminal = Terminal(softhca_argv(ports, map(str, command)), env=dict(os.environ, **paths.plugin()[1]))
    try:
        with Cable(wires[0], patience=60) as one, Cable(wires[1]) as two:
            terminal.expect(r"Port\[1\] using Tx adapter\[1\] Configured", 0)
            for number, peer in enumerate((one, two)):
                sent = {frames.packet(src=f"10.{number}.1.{i}", data=b"%04d" % i) for i in range(NB_FRAMES)}
                end, back = time.monotonic() + PATIENCE, set()
                # What comes before the port has started is lost.
                while back != sent:
                    assert time.monotonic() < end, (number, len(back), terminal.text[-2000:])
                    peer.send(*(sent - back))
                    back |= set(peer.receive_all(NB_FRAMES, 1))
                    assert back <= sent
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.wait() == 0
        assert "Result: Success" in terminal.text, terminal.text[-2000:]
    finally:
        terminal.close()
        remove_runtime_dir(prefix)
