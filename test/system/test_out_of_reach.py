# SPDX-License-Identifier: BSD-3-Clause
"""Programs that, once a device is open, leave behind what it took to open it: a node that is open needs none of that."""
import os

import pytest
from harness import card as cards

THREADS, ROUNDS = 4, 100
PROGRAM = """
import ctypes, os, resource, sys, threading
verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
for name in ("get_device_list", "open_device", "alloc_pd", "create_comp_channel"):
    function = getattr(verbs, f"ibv_{name}")
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
verbs.ibv_dealloc_pd.argtypes = [ctypes.c_void_p]
device = ctypes.cast(verbs.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))[0]
context = verbs.ibv_open_device(device)

def leave_directory():
    os.chroot(sys.argv[2])
    os.chdir("/")

def leave_user():
    os.setgid(65534)
    os.setuid(65534)

def leave_descriptors():
    unused = os.dup(0)
    os.close(unused)
    resource.setrlimit(resource.RLIMIT_NOFILE, (unused, unused))
"""
CALLS = """
failed = []

def call():
    for _ in range(%d):
        pd = verbs.ibv_alloc_pd(context)
        if not pd or verbs.ibv_dealloc_pd(pd) != 0:
            failed.append(os.strerror(ctypes.get_errno()))

globals()[sys.argv[1]]()
threads = [threading.Thread(target=call) for _ in range(%d)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(failed), "failed", set(failed))
""" % (ROUNDS, THREADS)
CHANNEL = """
leave_descriptors()
channel = verbs.ibv_create_comp_channel(context)
print(channel, os.strerror(ctypes.get_errno()))
"""


def run(program, *words):
    with cards.up("wire=null") as card:
        return cards.run_on(card, "/usr/bin/python3", "-c", program, *words).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot() and setuid() take root")
@pytest.mark.parametrize("how", ["leave_directory", "leave_user", "leave_descriptors"])
def test_threads_go_on(how, tmp_path):
    """Several threads call at once, for which one connection was made before."""
    assert run(PROGRAM + CALLS, how, str(tmp_path)) == "0 failed set()\n"


def test_a_channel_without_a_descriptor():
    """Linux has none for it (get_unused_fd_flags()): there is no channel, of descriptor 0 least of all."""
    assert run(PROGRAM + CHANNEL) == "None Too many open files\n"
