# SPDX-License-Identifier: BSD-3-Clause
"""Programs that, once a device is open, leave behind what it took to open it: a node that is open needs none of that."""
import os
import subprocess

import pytest
from harness import card as cards
from harness import paths
from harness.patience import PATIENCE

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
MEMORY = """
import mmap
verbs.ibv_reg_mr.restype = ctypes.c_void_p
verbs.ibv_reg_mr.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
pd = verbs.ibv_alloc_pd(context)
memory = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
assert verbs.ibv_reg_mr(pd, start, 1 << 20, 1)
names = {name: os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}
unknown = [int(number) for number, name in names.items() if int(number) >= 200 and name.startswith("socket")]
for number in unknown:
    os.close(number)
print(len(unknown), bool(verbs.ibv_reg_mr(pd, start, 1 << 20, 1)))
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


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's rights take root")
def test_memory_without_the_connection():
    """A program closes what it has not opened. The keeper has no more rights than it, and finds no file by its mapping."""
    argv = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", "-u", "XDG_RUNTIME_DIR",
            paths.SOFTHCA, "run", "--port", "wire=null", "--", "/usr/bin/python3", "-c", PROGRAM + MEMORY]
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    assert done.stdout == "1 True\n"
