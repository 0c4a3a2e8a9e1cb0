# SPDX-License-Identifier: BSD-3-Clause
"""Where a keeper may not do what it needs, one message says what forbids it, and what would do; and where less is
allowed than usual, in a container or to an ordinary user, it works."""
import os
import platform
import shutil
import subprocess
import sys

import pytest
from harness import paths
from harness.ordinary import public_tree
from harness.patience import PATIENCE

# Numbers of system calls (asm/unistd.h).
CALLS = {"x86_64": {"process_vm_readv": 310, "ptrace": 101, "pidfd_getfd": 438},
         "aarch64": {"process_vm_readv": 270, "ptrace": 117, "pidfd_getfd": 438}}[platform.machine()]
MEMORY = str(paths.BUILD / "test" / "verbs" / "verbs-memory")
NODE = "/dev/infiniband/uverbs0"

# Forbid calls to itself and all that follows (linux/filter.h, linux/seccomp.h), and become a command.
FILTERED = r"""
import ctypes, errno, os, struct, sys
rows = [(0x20, 0, 0, 0)]  # load the call's number
for number in sys.argv[1].split(","):
    rows += [(0x15, 0, 1, int(number)), (0x06, 0, 0, 0x00050000 | errno.EPERM)]
rows.append((0x06, 0, 0, 0x7fff0000))  # allow
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
libc = ctypes.CDLL(None, use_errno=True)
long = ctypes.c_ulong
assert libc.prctl(38, long(1), long(0), long(0), long(0)) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, long(2), struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)), long(0), long(0)) == 0
os.execvp(sys.argv[2], sys.argv[2:])
"""


def run(*command, env=None):
    """The completed process of a command with a keeper, unless `env` says otherwise."""
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False,
                          env=dict(os.environ, **(env or {"SOFTHCA_KEEPER": "1"})))


def forbid(*calls):
    return [sys.executable, "-c", FILTERED, ",".join(str(CALLS[call]) for call in calls)]


@pytest.mark.parametrize("call", ["process_vm_readv", "ptrace"])
def test_a_filter_of_calls_is_named(call):
    done = run(*forbid(call), paths.SOFTHCA, "run", "--", MEMORY)
    assert done.returncode == 125, done
    assert done.stdout == (f"softhca: a keeper needs {call}(), which is forbidden here: Operation not permitted (seccomp?); "
                           "with SOFTHCA_KEEPER=0 softhca run needs no keeper\n")
    done = run(*forbid(call), paths.SOFTHCA, "run", "--", MEMORY, env={"SOFTHCA_KEEPER": "0"})
    assert done.returncode == 0, done


def test_a_filter_of_containers_changes_nothing():
    """Theirs let only the privileged copy descriptors."""
    done = run(*forbid("pidfd_getfd"), paths.SOFTHCA, "run", "--", MEMORY)
    assert done.returncode == 0, done


@pytest.fixture(name="tree", scope="module")
def fixture_tree():
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    with public_tree() as tree:
        yield tree


def test_a_program_that_nobody_may_look_into(tree):
    """Its keeper is an ordinary user's, and has no privileges."""
    hidden = ("import ctypes, os; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"  # PR_SET_DUMPABLE
              f"try: os.open('{NODE}', os.O_RDWR)\n"
              "except OSError as error: print(error.strerror)\n")
    done = run(*tree.as_nobody([tree.softhca, "run", "--", "/usr/bin/python3", "-c", hidden]))
    lines = done.stdout.splitlines()
    assert [line for line in lines if "may not look into this process (it is not dumpable: see prctl(2)); with "
            "SOFTHCA_KEEPER=0 softhca run needs none" in line], done
    assert "Operation not permitted" in lines, done


def may_not(tree, *namespaces):
    done = run(*tree.as_nobody(["unshare", *namespaces, "true"]))
    return done.stdout if done.returncode != 0 else None


def skip_unless(tree, *namespaces):
    if may_not(tree, *namespaces):
        pytest.skip(f"no such namespaces for everybody: {may_not(tree, *namespaces)}")
    if subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", MEMORY], check=False, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode == 126:
        pytest.skip("nobody may not read the tree")


NAMESPACES = [("-Ur",), ("-Urnpf", "--mount-proc")]


@pytest.mark.parametrize("namespaces", NAMESPACES)
def test_a_run_in_namespaces_of_an_ordinary_user(tree, namespaces):
    """As in a container: all is there but TAPs."""
    skip_unless(tree, *namespaces)
    done = run(*tree.as_nobody(["unshare", *namespaces, tree.softhca, "run", "--", MEMORY]))
    assert done.returncode == 0 and " 0 failed" in done.stdout, done


@pytest.mark.skipif(shutil.which("ibv_rc_pingpong") is None, reason="no ibv_rc_pingpong")
@pytest.mark.parametrize("namespaces", NAMESPACES)
def test_programs_in_namespaces_below_a_run(tree, namespaces):
    """They have their memory, and no privileges outside."""
    skip_unless(tree, *namespaces)
    script = ("/usr/sbin/ip link set lo up 2>/dev/null; ibv_rc_pingpong -g 1 -n 100 -p 18650 & "
              f"until ibv_rc_pingpong -g 1 -n 100 -p 18650 127.0.0.1; do sleep 0.1; done; wait $! || exit 1; {MEMORY}")
    done = run(*tree.as_nobody([tree.softhca, "run", "--", "unshare", *namespaces, "sh", "-c", script]))
    assert done.stdout.count("100 iters in") == 2, done
    assert done.stdout.endswith("Operation not permitted\n"), done
