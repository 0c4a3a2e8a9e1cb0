# SPDX-License-Identifier: BSD-3-Clause
"""libmlx5's own paths in plain verbs programs (test/verbs/*.c): they check themselves."""
import re
import signal

import pytest
from harness import paths
from harness.program import run_on_softhca

PROGRAMS = ["post-poll", "next-poll", "wc-fields", "events", "offloads", "clock", "resize", "device-memory", "pacing",
            "striding", "fork", "exit", "import", "contexts", "passed", "flow-actions", "capabilities", "compressed",
            "unshare", "counter", "srq", "xrc", "windows", "multicast", "states", "limits",
            "fork-threads", "fork-library", "cancel", "reuse"]
MODELS = ["cx5", "cx4lx", pytest.param("cx6dx", marks=pytest.mark.sanitized)]


LONG = [("resize", "cx4lx"), ("capabilities", "cx4lx"), ("wc-fields", "cx4lx"), ("events", "cx4lx")]


@pytest.mark.parametrize("name, model", [
    pytest.param(name, *getattr(model, "values", [model]), marks=pytest.mark.long if (name, model) in LONG else getattr(model, "marks", []))
    for name in PROGRAMS for model in MODELS])
def test_program_finds_nothing_wrong(name, model):
    program = str(paths.BUILD / "test" / "verbs" / f"verbs-{name}")
    status, text = run_on_softhca([program], [f"wire=loop,model={model}"])
    if status == 77:
        pytest.skip(text.strip())
    assert status == 0 and " 0 failed" in text and "cannot be stopped" not in text, text


def test_events_of_a_device_in_the_program_itself():
    """Each is read whole or not at all, and who closes a channel has not read them."""
    program = str(paths.BUILD / "test" / "verbs" / "verbs-events")
    status, text = run_on_softhca([program], ["wire=loop"], env={"SOFTHCA_KEEPER": "0"})
    assert status == 0 and " 0 failed" in text, text


@pytest.mark.parametrize("model", MODELS)
def test_local_loopback(model):
    """What a port gives back comes from no wire."""
    program = str(paths.BUILD / "test" / "verbs" / "verbs-loopback")
    status, text = run_on_softhca([program], [f"wire=null,model={model},mac=02:00:00:00:00:01"])
    assert status == 0 and " 0 failed" in text, text


@pytest.mark.parametrize("name", ["clock", pytest.param("capabilities", marks=pytest.mark.long)])
def test_a_device_with_a_real_time_clock(name):
    program = str(paths.BUILD / "test" / "verbs" / f"verbs-{name}")
    status, text = run_on_softhca([program], ["wire=loop,model=cx6dx,rtc=on"])
    assert status == 0 and " 0 failed" in text, text


def test_a_device_with_no_other_clock(tmp_path):
    """Queues that ask for stamps of the counter are refused, all others get those of the real-time clock."""
    model = tmp_path / "real.model"
    model.write_text((paths.ROOT / "lib/softhca/config/models/cx6dx.model").read_text()
                     .replace("real_time_clock = yes", "real_time_clock = only"))
    program = str(paths.BUILD / "test" / "verbs" / "verbs-clock")
    status, text = run_on_softhca([program, "real-time-only"], [f"wire=loop,model={model}"])
    assert status == 0 and " 0 failed" in text, text


FORTIFIED = """
import ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
read, recvfrom, recv = (getattr(libc, name) for name in ("__read_chk", "__recvfrom_chk", "__recv_chk"))
bytes_, address, length = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(12), ctypes.c_uint(12)
node = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
print(read(node, bytes_, 64, 4096), os.strerror(ctypes.get_errno()))
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)
for call in (lambda: recvfrom(netlink.fileno(), bytes_, 4096, 4096, 0, address, ctypes.byref(length)),
             lambda: recv(netlink.fileno(), bytes_, 4096, 4096, 0)):
    netlink.sendto(struct.pack("IHHII", 16, 5 << 10 | 1, 0x301, 1, 0), (0, 0))
    print(call() >= 16, struct.unpack_from("H2xI", address), flush=True)
recv(netlink.fileno(), bytes_, 4097, 4096, 0)
"""


def test_fortified_programs():
    """Built with _FORTIFY_SOURCE they call other functions: a node is not read, and RDMA netlink is the kernel's. Who has
    too little room is ended."""
    status, text = run_on_softhca(["/usr/bin/python3", "-c", FORTIFIED], ["wire=null"])
    assert text.split("\n")[:3] == ["-1 Invalid argument", *["True (16, 0)"] * 2], text
    assert "buffer overflow detected" in text, text
    assert status == 128 + signal.SIGABRT, text


ERRNO = """
import ctypes, os
libc, verbs = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libibverbs.so.1", use_errno=True)
for name in ("ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd"):
    getattr(verbs, name).restype = ctypes.c_void_p
device = ctypes.c_void_p.from_address(verbs.ibv_get_device_list(None))
for before in (7, 77):
    ctypes.set_errno(before)
    node = libc.open(b"/dev/infiniband/uverbs0", os.O_RDWR)
    print(node >= 0, ctypes.get_errno() == before)
context = ctypes.c_void_p(verbs.ibv_open_device(device))
ctypes.set_errno(7)
pd = ctypes.c_void_p(verbs.ibv_alloc_pd(context))
print(pd.value is not None, ctypes.get_errno() == 7)
ctypes.set_errno(77)
print(verbs.ibv_dealloc_pd(pd) == 0, ctypes.get_errno() == 77)
"""


def test_calls_that_work_leave_errno():
    """As system calls do."""
    status, text = run_on_softhca(["/usr/bin/python3", "-c", ERRNO], ["wire=null"])
    assert (status, text.split("\n")[:4]) == (0, ["True True"] * 4), text


def test_verbs_make_few_system_calls():
    """Requests lie on the stack, where nothing but memory is read; what is left asks who calls, and waits for locks. A
    registration reads the process's mappings, too."""
    program = str(paths.BUILD / "test" / "verbs" / "verbs-calls")
    status, text = run_on_softhca([program], ["wire=loop"])
    if status == 77:
        pytest.skip(text.strip())
    most = {verb: int(nb) for verb, nb in re.findall(r"^(ibv_\w+): (\d+)$", text, re.M)}
    assert status == 0 and set(most) == {"ibv_create_flow", "ibv_destroy_flow", "ibv_reg_mr", "ibv_dereg_mr"}, text
    assert all(nb <= (8 if verb == "ibv_reg_mr" else 4) for verb, nb in most.items()), text


def test_cqe_size_by_environment():
    """Who asks for no size gets the variable's; completions are the same."""
    program = str(paths.BUILD / "test" / "verbs" / "verbs-wc-fields")
    status, text = run_on_softhca([program, "environment"], ["wire=loop"], env={"MLX5_CQE_SIZE": "128"})
    assert status == 0 and " 0 failed" in text, text


@pytest.mark.parametrize("keeper", [{"SOFTHCA_KEEPER": "0"}, {}], ids=["without-a-keeper", "as-usual"])
def test_rings_of_contiguous_pages(keeper):
    """Linux has none for programs: libmlx5 goes on with others where it may, as libvma lets it, and fails where not."""
    program = str(paths.BUILD / "test" / "verbs" / "verbs-post-poll")
    for kind, works in (("PREFER_CONTIG", True), ("CONTIG", False)):
        env = {"MLX_CQ_ALLOC_TYPE": kind, "MLX_QP_ALLOC_TYPE": kind, **keeper}
        status, text = run_on_softhca([program], ["wire=loop"], env=env)
        assert (status == 0 and " 0 failed" in text) is works, text


@pytest.mark.parametrize("model", MODELS)
def test_pacing_entries(model):
    """mlx5dv_pp_alloc, where contexts are DevX ones; verbs queues are paced there, too."""
    program = str(paths.BUILD / "test" / "verbs" / "verbs-pacing")
    status, text = run_on_softhca([program, "devx"], [f"wire=loop,model={model},devx=on"])
    assert status == 0 and " 0 failed" in text, text


@pytest.mark.parametrize("way", ["init", "_Fork", "forkpty"])
def test_program_forks_in_other_ways(way):
    """After ibv_fork_init() rings and regions are not in the child's address space; fork() is not the only one to make
    children."""
    status, text = run_on_softhca([str(paths.BUILD / "test" / "verbs" / "verbs-fork"), way], ["wire=loop"])
    assert status == 0 and " 0 failed" in text, text


@pytest.mark.parametrize("trust", ["on", "off"])
@pytest.mark.parametrize("spoof", ["on", "off"])
def test_virtual_functions(trust, spoof):
    """Rules for everything are taken from either; what comes differs."""
    program = [str(paths.BUILD / "test" / "verbs" / "verbs-functions")]
    program += ["trust"] * (trust == "on") + ["spoof"] * (spoof == "on")
    status, text = run_on_softhca(program, [f"wire=loop,vf=on,trust={trust}", f"wire=loop,vf=on,spoof={spoof}"])
    assert status == 0 and " 0 failed" in text, text
