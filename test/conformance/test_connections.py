# SPDX-License-Identifier: BSD-3-Clause
"""Connections by Debian's librdmacm, unmodified, which pyverbs drives: events in their order, and what queue pairs are
to be set to. Queue pairs are the application's own, of which the connection manager has no more than the number."""
import textwrap

import pytest
from harness import card as cards
from harness.program import run_on_softhca

pytest.importorskip("pyverbs.cmid", reason="python3-pyverbs is not installed")

COMMON = textwrap.dedent("""
    import os, signal, sys
    from pyverbs.cmid import CMID, AddrInfo, CMEvent, CMEventChannel, ConnParam
    from pyverbs.pyverbs_error import PyverbsRDMAError
    try:
        from pyverbs.cm_enums import RAI_PASSIVE, RDMA_PS_TCP
    except ImportError:  # of rdma-core 60, at the latest
        from pyverbs.librdmacm_enums import RAI_PASSIVE, rdma_port_space
        RDMA_PS_TCP = rdma_port_space.RDMA_PS_TCP

    GID = open(os.environ["SYSFS_PATH"] + "/class/infiniband/mlx5_0/ports/1/gids/0").read().strip()

    def told(channel, wanted, who):
        event = CMEvent(channel)
        print(who, event.event_str().replace("RDMA_CM_EVENT_", ""), flush=True)
        assert event.event_str() == "RDMA_CM_EVENT_" + wanted, event.event_str()
        return event

    def is_told(*args):
        told(*args).ack_cm_event()

    def param(qpn):
        return ConnParam(0, 0, 0, 7, 7, 0, qpn)

    def listener(channel, service="7471"):
        cmid = CMID(creator=channel)
        cmid.bind_addr(AddrInfo(src=GID, src_service=service, port_space=RDMA_PS_TCP, flags=RAI_PASSIVE))
        cmid.listen(5)
        return cmid

    def caller(channel, service="7471"):
        cmid = CMID(creator=channel)
        cmid.resolve_addr(AddrInfo(dst=GID, dst_service=service, port_space=RDMA_PS_TCP))
        is_told(channel, "ADDR_RESOLVED", "client")
        cmid.resolve_route()
        is_told(channel, "ROUTE_RESOLVED", "client")
        return cmid

    def taken(channel, listening):
        event = told(channel, "CONNECT_REQUEST", "server")
        cmid = CMID(creator=event, listen_id=listening)
        event.ack_cm_event()
        return cmid
""")

BOTH = COMMON + textwrap.dedent("""
    here, there = CMEventChannel(), CMEventChannel()
    listening = listener(there)
    client = caller(here)
    client.set_option(0, 3, 19, 1)     # RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT
    client.connect(param(0x11))
    server = taken(there, listening)
    server.accept(param(0x22))
    is_told(here, "CONNECT_RESPONSE", "client")
    to_receive, mask = client.init_qp_attr(2)
    to_send, mask = client.init_qp_attr(3)
    print("peer", hex(to_receive.dest_qp_num), "timeout", to_send.timeout)
    print("client establishes", flush=True)
    client.establish()
    is_told(there, "ESTABLISHED", "server")
    client.disconnect()
    is_told(there, "DISCONNECTED", "server")
    server.disconnect()
    is_told(here, "DISCONNECTED", "client")
""")

SERVER = COMMON + textwrap.dedent("""
    channel = CMEventChannel()
    listening = listener(channel)
    client = os.fork() or os.execv(sys.executable, [sys.executable, "-c", os.environ["CLIENT"]])
    server = taken(channel, listening)
    server.accept(param(0x22))
    is_told(channel, "ESTABLISHED", "server")
    os.kill(client, signal.SIGKILL)
    is_told(channel, "DISCONNECTED", "server")
""")

CLIENT = COMMON + textwrap.dedent("""
    channel = CMEventChannel()
    client = caller(channel)
    client.connect(param(0x11))
    is_told(channel, "CONNECT_RESPONSE", "client")
    client.establish()
    signal.pause()
""")

REFUSALS = COMMON + textwrap.dedent("""
    here, there = CMEventChannel(), CMEventChannel()
    client = caller(here)
    client.connect(param(0x11))
    is_told(here, "REJECTED", "client")
    listening = listener(there)
    try:
        listener(there)
    except PyverbsRDMAError as error:
        print(error)
    client = caller(here)
    client.connect(param(0x11))
    server = taken(there, listening)
    server.reject()
    is_told(here, "REJECTED", "client")
""")


def run(program, kept, env=None):
    status, text = run_on_softhca(["/usr/bin/python3", "-c", program], ["wire=null"],
                                  {"SOFTHCA_KEEPER": "1" if kept else "0", **(env or {})})
    assert status == 0, text
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("kept", [False, True], ids=["own", "kept"])
def test_both_ends_of_one_program(kept):
    assert run(BOTH, kept) == [
        "client ADDR_RESOLVED", "client ROUTE_RESOLVED", "server CONNECT_REQUEST", "client CONNECT_RESPONSE",
        "peer 0x22 timeout 19", "client establishes", "server ESTABLISHED", "server DISCONNECTED",
        "client DISCONNECTED"]


@pytest.mark.parametrize("kept", [False, True], ids=["own", "kept"])
def test_refusals(kept):
    lines = run(REFUSALS, kept)
    assert [line for line in lines if "REJECTED" in line] == ["client REJECTED"] * 2
    assert any("Address already in use" in line for line in lines), lines


def test_a_program_that_is_killed():
    """A connection ends with its process, as the kernel sees to."""
    lines = run(SERVER, True, {"CLIENT": CLIENT})
    assert [line for line in lines if line.startswith("server")] == [
        "server CONNECT_REQUEST", "server ESTABLISHED", "server DISCONNECTED"]


# What a thread gets whose channel of events another one closes: its state in the kernel when that happens is the number of
# a system call, by machine.
WAITER = textwrap.dedent("""
    import ctypes, errno, fcntl, os, signal, struct, sys, threading, time

    RECEIVES = {"x86_64": ("45", "47"), "aarch64": ("207", "212")}[os.uname().machine]    # recvfrom, recvmsg
    GET_EVENT, GET_CONTEXT = 12, 0
    RDMA_VERBS_IOCTL = 0xc0181b01
    response = ctypes.create_string_buffer(1024)
    said = []

    def get_event(channel):
        os.write(channel, struct.pack("IHHQ", GET_EVENT, 8, 1024, ctypes.addressof(response)))

    def get_context(node):
        os.write(node, struct.pack("IHHQQQ", GET_CONTEXT, 8, 256, ctypes.addressof(response), 0, 0))

    def any_method(node):
        fcntl.ioctl(node, RDMA_VERBS_IOCTL, struct.pack("HHHHQII", 24, 0, 0, 0, 0, 0, 0))

    def ask(command, fd):
        try:
            command(fd)
        except OSError as error:
            said.append(errno.errorcode[error.errno])

    def asking(fd, command=get_event):
        thread = threading.Thread(target=ask, args=(command, fd), daemon=True)
        thread.start()
        while open(f"/proc/self/task/{thread.native_id}/syscall").read().split()[0] not in RECEIVES:
            time.sleep(0.01)
        return thread
""")

# kill() returns before all threads have stopped, and until then they answer.
CLOSED_ON_ITS_WAY = WAITER + textwrap.dedent("""
    def stop(pid):
        os.kill(pid, signal.SIGSTOP)
        while any(open(f"/proc/{pid}/task/{task}/stat").read().rpartition(")")[2].split()[0] != "T"
                  for task in os.listdir(f"/proc/{pid}/task")):
            time.sleep(0.001)

    fd = os.open("/dev/infiniband/" + sys.argv[2], os.O_RDWR)
    keeper = int(sys.argv[1])
    try:
        stop(keeper)
        thread = asking(fd, globals()[sys.argv[3]])
        os.close(fd)
    finally:
        os.kill(keeper, signal.SIGCONT)
    thread.join()
    print(said)
""")

# The keeper may still have had to look the file up, and then it was on its way: again, and closed later.
CLOSED_WHILE_IT_WAITS = WAITER + textwrap.dedent("""
    for patience in (0, 0.1, 1, 10):
        del said[:]
        channel = os.open("/dev/infiniband/rdma_cm", os.O_RDWR)
        thread = asking(channel)
        time.sleep(patience)
        os.close(channel)
        thread.join(0.1)
        if said != ["EBADF"]:
            break
    for _ in range(3):
        os.close(os.open("/dev/infiniband/rdma_cm", os.O_RDWR))
    thread.join(0.1)
    print(thread.is_alive(), said)
""")


@pytest.mark.parametrize("node, command", [("rdma_cm", "get_event"), ("uverbs0", "get_context"),
                                           ("uverbs0", "any_method")])
def test_a_file_that_is_closed_when_a_command_is_on_its_way(node, command):
    """As if it had been closed before: the keeper looks for the file when it is gone."""
    with cards.up("wire=null") as card:
        keeper = cards.keeper_of(card)
        assert cards.run_on(card, "/usr/bin/python3", "-c", CLOSED_ON_ITS_WAY, keeper, node,
                            command).stdout == "['EBADF']\n"


@pytest.mark.parametrize("kept", [False, True], ids=["own", "kept"])
def test_a_channel_that_is_closed_while_a_thread_waits(kept):
    """The thread waits on, as Linux's write() keeps the file, and the process ends all the same."""
    assert run(CLOSED_WHILE_IT_WAITS, kept) == ["True []"]
