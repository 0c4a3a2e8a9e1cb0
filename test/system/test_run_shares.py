# SPDX-License-Identifier: BSD-3-Clause
"""All that one softhca run starts shares its cards; their devices are in a process beside them."""
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from harness import paths
from harness.patience import PATIENCE
from harness.terminal import Terminal
from harness.testpmd import softhca_argv

EXAMPLES = paths.BUILD / "app" / "examples"
MAC = "02:00:00:00:00:66"
CTL = f"{paths.SOFTHCA} ctl"
# As many as it wants, then it ends.
RECEIVE = f"{EXAMPLES}/raw-receive mlx5_0 {MAC}"
SEND = f"{EXAMPLES}/raw-send mlx5_0 {MAC}"


def run(script, options=(), port="wire=loop", env=None):
    """A shell's script below softhca run, with a keeper unless `env` says otherwise: the completed process."""
    environment = {name: value for name, value in os.environ.items() if name != "SOFTHCA_KEEPER"}
    return subprocess.run(softhca_argv([port], ["sh", "-c", script], options), stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=PATIENCE, check=False, env={**environment, **(env or {})})


RULES = f"$({CTL} dump | grep -c FTE)"


def test_what_one_program_sends_another_receives():
    """Two at once on one card, and the card has counted for both."""
    done = run(f"""
        {RECEIVE} 3 & receiver=$!
        until [ "{RULES}" = 1 ]; do sleep 0.02; done
        {SEND} 3 || exit 1
        wait $receiver || exit 2
        {CTL} stats
    """)
    assert done.returncode == 0, done
    assert done.stdout.count(f"128 bytes to {MAC}") == 3, done
    assert re.search(r"tx_frames +3\n", done.stdout) and re.search(r"rx_frames +3\n", done.stdout), done


def test_on_request_each_has_a_device_of_its_own():
    done = run(f"""
        {RECEIVE} 1 & receiver=$!
        until [ "{RULES}" = 1 ]; do sleep 0.02; done
        {SEND} 3 || exit 1
        {CTL} stats
        kill $receiver
    """, env={"SOFTHCA_KEEPER": "0"})
    assert done.returncode == 0 and re.search(r"tx_frames +0\n", done.stdout), done


@pytest.mark.skipif(shutil.which("ibv_asyncwatch") is None, reason="no ibv_asyncwatch")
def test_what_the_command_leaves_running_loses_the_device():
    done = run(f"""
        ibv_asyncwatch -d mlx5_0 &
        until {CTL} devices | grep -q ibv_asyncwatch; do sleep 0.02; done
    """)
    assert done.returncode == 0 and "IBV_EVENT_DEVICE_FATAL" in done.stdout, done


def test_a_keeper_that_is_killed_is_told():
    done = run(f"""
        kill -9 $({CTL} devices | cut -d' ' -f1)
        {SEND} 1
        exit 0
    """)
    assert done.returncode == 125, done
    assert done.stderr.endswith(f"softhca: the keeper was ended by signal {signal.SIGKILL:d}\n"), done


STOPPABLE = """
import os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("ready", flush=True)
signal.sigwait([signal.SIGINT])
time.sleep(0.2)
os.open("/dev/infiniband/uverbs0", os.O_RDWR)
print("opened", flush=True)
"""


def test_keys_of_the_terminal_leave_the_device_to_the_program():
    """Ctrl-C is for all of the process group, and for testpmd the word to stop, with the device still there."""
    terminal = Terminal(softhca_argv(["wire=loop"], [sys.executable, "-c", STOPPABLE]))
    try:
        terminal.expect("ready", 0)
        os.killpg(terminal.process.pid, signal.SIGINT)
        terminal.expect("opened", 0)
        assert terminal.wait() == 0
    finally:
        terminal.close()
