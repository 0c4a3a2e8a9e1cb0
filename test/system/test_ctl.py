# SPDX-License-Identifier: BSD-3-Clause
"""softhca ctl: finding a running device, asking it, stopping it for a while."""
import contextlib
import errno
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import pytest
from harness import card as cards
from harness import frames, host, paths, pcapfile
from harness.ctl import pid_of
from harness.rig import Rig
from harness.patience import PATIENCE
from harness.terminal import Terminal
from harness.testpmd import NOT_STRICT, Testpmd, softhca_argv

# Has the device of the first port open until its input ends.
HOLDER = [sys.executable, "-c",
          "import os, sys; os.open('/dev/infiniband/uverbs0', os.O_RDWR);"
          # One write: two of them share a pipe.
          " os.write(1, b'%d\\n' % os.getpid()); sys.stdin.read()"]
# Each program has a device of its own.
IN_PROGRAM = dict(os.environ, SOFTHCA_KEEPER="0")


def ctl(*words, env=None):
    """(exit status, what it printed, what it complained about)"""
    done = subprocess.run([paths.SOFTHCA, "ctl", *map(str, words)], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def without_strangers(complaints):
    """Who asks nobody by name hears of programs of other tests that have been stopped."""
    return re.sub(r"^softhca ctl: .*does not answer(: it stands still)?\n", "", complaints, flags=re.M)


def asked(*words, env=None):
    """What a device that is asked says."""
    status, out, err = ctl(*words, env=env)
    err = without_strangers(err)
    assert (status, err) == (0, ""), (words, out, err)
    return out


def refusal(*words):
    """What a device says that does not do it."""
    status, out, err = ctl(*words)
    assert status != 0 and out == "", (words, status, out, err)
    return without_strangers(err)


def stats(*words):
    return json.loads(asked(*words, "stats", "--json"))


@contextlib.contextmanager
def holder(*options, ports=("wire=null",), command=tuple(HOLDER), env=None):
    """softhca run with a program that has the device open; the runner, and the program's pid."""
    argv = softhca_argv(ports, command)
    argv[2:2] = map(str, options)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as runner:
        try:
            yield runner, int(runner.stdout.readline())
        finally:
            runner.stdin.close()
            runner.wait(PATIENCE)


def until(condition, says=lambda: ""):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, says()
        time.sleep(0.02)


def queues_of(port, kind):
    return [queue for queue in port["queues"] if queue["kind"] == kind]


def test_stats_count_what_testpmd_forwards():
    with Testpmd(args=["--rxq=2", "--txq=2"]) as pmd:
        pid = int(asked_pid(pmd))
        before = stats("--pid", pid)
        assert before["thread"] == "running"
        port = before["ports"][0]
        assert port["device"] == "mlx5_0" and port["model"] == "cx5"
        assert port["tx_frames"] == port["rx_frames"] == 0
        assert queues_of(port, "CQ")
        assert all(queue["state"] == "ready" and queue["packets"] == 0 for queue in port["queues"]
                   if queue["kind"] != "CQ")
        pmd.cmd("start tx_first")
        until(lambda: stats("--pid", pid)["ports"][0]["rx_steered"] > 1000)
        pmd.stop()
        sent = pmd.stats()
        # The device is not done yet with all that is posted.
        until(lambda: stats("--pid", pid)["ports"][0]["tx_frames"] >= sent["TX-packets"])
        after = stats("--pid", pid)["ports"][0]
        assert after["tx_frames"] == sent["TX-packets"] == sum(
            queue["packets"] for queue in queues_of(after, "SQ"))
        assert after["tx_bytes"] == sent["TX-bytes"] == sum(
            queue["bytes"] for queue in queues_of(after, "SQ"))
        assert after["rx_steered"] == sum(queue["packets"] for queue in queues_of(after, "RQ"))
        assert after["rx_errors"] == after["tx_errors"] == 0
        # A CQE has one of 64 bytes, and rings are memory of whoever answers, as it sees that.
        answers = json.loads(asked("--pid", pid, "devices", "--json"))[0]["pid"]
        for queue in after["queues"]:
            assert queue["ring_bytes"] % queue["size"] == 0
            assert is_mapped(answers, queue["ring"], queue["ring_bytes"]) and is_mapped(answers, queue["record"], 4)
        # The same for people.
        text = asked("--pid", pid, "stats")
        assert text.startswith("device thread: running\nmlx5_0 (cx5), link up\n")
        assert f"tx_frames      {after['tx_frames']}\n" in text


def is_mapped(pid, address, nb):
    """Whether the process may read there. A mapping may continue in the next one."""
    for line in open(f"/proc/{pid}/maps", encoding="ascii"):
        span, rights = line.split()[:2]
        start, end = (int(word, 16) for word in span.split("-"))
        if start <= address < end and rights.startswith("r"):
            nb -= min(nb, end - address)
            address = end
    return nb == 0


def test_what_crosses_pci_is_counted_when_asked_for():
    with Testpmd(args=["--rxq=1", "--txq=1"]) as pmd:
        pid = asked_pid(pmd)

        def count():
            port, = json.loads(asked("--pid", pid, "stats", "pci", "--json"))["ports"]
            return port["causes"]

        refused = refusal("--pid", pid, "stats", "pci")
        assert "what crosses PCI is not counted on mlx5_0" in refused, refused
        assert "stats takes pci or nothing, not 'pcie'" in refusal("--pid", pid, "stats", "pcie")
        assert "pci takes on or off, not 'yes'" in refusal("--pid", pid, "pci", "yes")
        assert asked("--pid", pid, "pci", "on") == "mlx5_0 on\n"
        assert all(nb == 0 for cause in count().values() for nb in cause.values())
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start tx_first 1")
        until(lambda: stats("--pid", pid)["ports"][0]["rx_steered"] == 32)
        pmd.stop()
        causes = count()
        # 32 frames of 64 bytes, one segment each; the device may see several doorbells.
        for data in (causes["tx_data"], causes["rx_data"]):
            assert (data["transactions"], data["data"]) == (32, 32 * 64), causes
        assert causes["tx_data"]["to_host_bytes"] == 32 * 24
        assert causes["tx_data"]["to_device_bytes"] == 32 * (20 + 64)
        assert causes["rx_data"]["to_host_bytes"] == 32 * (24 + 64)
        assert causes["tx_doorbell"]["transactions"] >= 1 and causes["tx_wqe"]["data"] % 64 == 0
        assert causes["rx_wqe"]["data"] >= 32 * 16 and causes["rx_cqe"]["data"] >= 64
        text = asked("--pid", pid, "stats", "pci")
        assert text.startswith("mlx5_0: payload up to 256, read requests up to 512, completions cut at 64\n"), text
        assert re.search(r"^  rx_data +32 +2048 +32 +2816 +0 +0$", text, re.M), text
        assert asked("--pid", pid, "pci", "off") == "mlx5_0 off\n"
        assert "is not counted" in refusal("--pid", pid, "stats", "pci")


def asked_pid(pmd):
    """The number of testpmd, which softhca ctl names wherever its device is."""
    pid = str(pid_of(pmd))
    named = [line.split() for line in asked("devices").splitlines()]
    assert [pid, "dpdk-testpmd"] in [words[:2] for words in named], (pid, named)
    return pid


def test_frozen_device_does_nothing():
    with Testpmd(args=["--rxq=1", "--txq=1"]) as pmd:
        pid = asked_pid(pmd)
        assert asked("--pid", pid, "freeze") == "frozen\n"
        pmd.cmd("start tx_first")
        pmd.cmd("stop")
        # The driver has rung; nobody has come to the door.
        assert pmd.stats()["TX-packets"] == 32
        frozen = stats("--pid", pid)
        assert frozen["thread"] == "frozen"
        assert frozen["ports"][0]["tx_frames"] == 0
        assert json.loads(asked("--pid", pid, "thaw", "--json")) == {"thread": "running"}
        until(lambda: stats("--pid", pid)["ports"][0]["rx_steered"] == 32)
        # A program ends although its device is frozen.
        asked("--pid", pid, "freeze")
        pmd.quit()


NAMESPACE = [sys.executable, "-c",
             "import ctypes, os, sys; os.open('/dev/infiniband/uverbs0', os.O_RDWR); os.write(1, b'%d\\n' % os.getpid());"
             " sys.stdin.readline(); libc = ctypes.CDLL(None, use_errno=True);"
             " os.write(1, b'%d %d\\n' % (libc.unshare(0x10000000), ctypes.get_errno())); sys.stdin.read()"]


def test_a_frozen_device_is_frozen_in_another_namespace():
    """The device's threads end for unshare(CLONE_NEWUSER), and begin again as they were."""
    with holder(command=tuple(NAMESPACE), env=IN_PROGRAM) as (runner, pid):
        asked("--pid", pid, "freeze")
        runner.stdin.write("go\n")
        runner.stdin.flush()
        ret, error = map(int, runner.stdout.readline().split())
        if error in (errno.EPERM, errno.ENOSPC, errno.EUSERS):
            pytest.skip(f"no user namespaces here: {os.strerror(error)}")
        assert (ret, error) == (0, 0)
        assert stats("--pid", pid)["thread"] == "frozen"
        assert asked("--pid", pid, "thaw") == "running\n"


def test_link_of_the_users_choice_leads_to_the_first_process(tmp_path):
    socket = tmp_path / "device"
    assert ctl(socket, "stats")[0] == 1
    with holder("--ctl", socket) as (runner, pid):
        number, program, device = asked(socket, "devices").split()
        # Whoever has the devices: the program, or a process beside it.
        assert (int(number), program) == (pid, os.path.basename(sys.executable)) or program == "softhca"
        assert device == "mlx5_0"
        assert os.stat(socket).st_mode & 0o777 == 0o600
        status, _, err = ctl(socket, "link-up")
        assert status == 2 and "no command 'link-up'; there are devices, stats, dump, freeze, thaw, link, ntuple, trace" in err
        # Taken: another runner refuses before it starts anything.
        done = subprocess.run(
            [paths.SOFTHCA, "run", "--ctl", socket, "--", "true"], capture_output=True, text=True,
            timeout=PATIENCE, check=False)
        assert done.returncode == 125 and "File exists" in done.stderr
        runner.send_signal(signal.SIGKILL)
    # The killed runner left its link behind; the next one takes its place, and cleans up.
    until(lambda: "no program has the device open" in ctl(socket, "stats")[2])
    assert socket.is_symlink()
    with holder("--ctl", socket):
        assert asked(socket, "freeze") == "frozen\n"
    assert not socket.is_symlink()


@pytest.mark.parametrize("target", ["data", "gone", "softhca-notes/data"])
def test_link_of_somebody_else_stays(tmp_path, target):
    """connect() refuses a file as it refuses a socket that nobody listens on any more."""
    (tmp_path / "data").write_text("precious\n")
    (tmp_path / "softhca-notes").mkdir()
    (tmp_path / "softhca-notes/data").write_text("precious\n")
    link = tmp_path / "link"
    link.symlink_to(target)
    done = subprocess.run([paths.SOFTHCA, "run", "--ctl", str(link), "--", "true"], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (125, "") and f"--ctl {link}: File exists" in done.stderr, done
    assert os.readlink(link) == target


def test_one_of_several_is_chosen():
    script = f"""
        mkfifo "$SOFTHCA_DIR/go"
        for i in 1 2; do
            "$@" < "$SOFTHCA_DIR/go" &
        done
        exec 9> "$SOFTHCA_DIR/go"
        while [ $({paths.SOFTHCA} ctl devices | wc -l) != 2 ]; do sleep 0.05; done
        {paths.SOFTHCA} ctl freeze 2>&1 && exit 1
        {paths.SOFTHCA} ctl --pid $! freeze || exit 2
        kill -9 $!
        wait $!
        {paths.SOFTHCA} ctl stats | head -1
        {paths.SOFTHCA} ctl --device mlx5_1 stats 2>&1 && exit 3
        exec 9>&-
        wait
        {paths.SOFTHCA} ctl devices
        {paths.SOFTHCA} ctl stats 2>&1
        true
    """
    argv = softhca_argv(["wire=null"], ["sh", "-c", script, "sh", *HOLDER])
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False, env=IN_PROGRAM)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done
    pids = {lines.pop(0), lines.pop(0)}
    assert lines.pop(0) == "softhca ctl: which one? Say --pid or --device:"
    assert {lines.pop(0).split()[0], lines.pop(0).split()[0]} == pids
    nobody = "softhca ctl: no program has such a device open below this runner"
    assert lines == ["frozen", "device thread: running", nobody, nobody]


def test_who_stands_still_is_not_waited_for():
    """Nobody who means another: each call would take a minute, and there is no room for a seventeenth client."""
    script = f"""
        mkfifo "$SOFTHCA_DIR/go"
        for i in 1 2; do
            "$@" < "$SOFTHCA_DIR/go" &
            [ $i = 2 ] || stopped=$!
        done
        exec 9> "$SOFTHCA_DIR/go"
        while [ $({paths.SOFTHCA} ctl devices | wc -l) != 2 ]; do sleep 0.05; done
        kill -STOP $stopped
        echo "$stopped $!"
        for i in 1 2 3 4 5 6 7 8 9; do
            {paths.SOFTHCA} ctl --pid $! freeze 2>&1
        done
        {paths.SOFTHCA} ctl --device mlx5_0 thaw 2>&1
        {paths.SOFTHCA} ctl devices 2>&1
        {paths.SOFTHCA} ctl --pid $stopped stats 2>&1
        {paths.SOFTHCA} run --ctl "$SOFTHCA_DIR/ctl.$stopped.0" true 2>&1
        kill -CONT $stopped
        {paths.SOFTHCA} ctl --pid $stopped freeze
        exec 9>&-
        wait
    """
    argv = softhca_argv(["wire=null"], ["sh", "-c", script, "sh", *HOLDER])
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False, env=IN_PROGRAM)
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()[2:]
    stopped, other = lines.pop(0).split()
    silent = f"softhca ctl: process {stopped} does not answer: it stands still"
    nobody = "softhca ctl: no program has such a device open below this runner"
    assert [line for line in lines if "--ctl" not in line] == [
        *["frozen"] * 9, silent, "running", silent, f"{other} {os.path.basename(sys.executable)} mlx5_0", silent, nobody,
        "frozen"]


# Stops itself where it has said a part of what it announced.
BREAKS_OFF = """
import os, signal, socket
listener = socket.socket(socket.AF_UNIX)
listener.bind(f"ctl.{os.getpid()}.0")
listener.listen()
print(os.getpid(), flush=True)
while True:
    client = listener.accept()[0]
    if client.recv(100):
        client.send(b"ok 1000\\n1 half")
        os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_who_stops_in_the_middle_of_an_answer_is_not_waited_for(tmp_path):
    with subprocess.Popen([sys.executable, "-c", BREAKS_OFF], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as program:
        try:
            pid = int(program.stdout.readline())
            start = time.monotonic()
            said = ctl("devices", env=dict(os.environ, SOFTHCA_DIR=str(tmp_path)))
            assert said == (0, "", f"softhca ctl: process {pid} does not answer: it stands still\n")
            # Less than the minute for which one that runs is waited for.
            assert time.monotonic() - start < 30
        finally:
            program.kill()


MANY = """
import contextlib, os, select, socket, sys
listeners = []
for n in range(100):
    listeners.append(socket.socket(socket.AF_UNIX))
    listeners[-1].bind(f"{sys.argv[1]}/ctl.{os.getpid()}.{n}")
    listeners[-1].listen()
print("ready", flush=True)
clients = {}
while True:
    for ready in select.select(listeners + list(clients), [], [])[0]:
        if ready not in clients:
            clients[ready.accept()[0]] = listeners.index(ready)
            continue
        with contextlib.suppress(ConnectionError):  # who has found the one does not hear the others
            if ready.recv(4096):
                who = f"{1000 + clients[ready]} program mlx5_0\\n".encode()
                ready.sendall(b"ok %d\\n" % len(who) + who)
                continue
        del clients[ready]
"""


def test_each_of_many_is_found(tmp_path):
    """So many programs as one machine has, of which each may be meant."""
    with subprocess.Popen([sys.executable, "-c", MANY, tmp_path], stdout=subprocess.PIPE, text=True) as many:
        assert many.stdout.readline() == "ready\n"
        env = dict(os.environ, SOFTHCA_DIR=str(tmp_path))
        try:
            listed = asked("devices", env=env).splitlines()
            assert sorted(listed) == [f"{1000 + n} program mlx5_0" for n in range(100)]
            for n in (0, 50, 99):
                assert asked("--pid", 1000 + n, "devices", env=env) in [line + "\n" for line in listed]
        finally:
            many.kill()


def test_child_does_not_keep_the_socket():
    """A process that lives on as its child's inheritance would leave everybody waiting."""
    forker = """
import os, sys
os.open('/dev/infiniband/uverbs0', os.O_RDWR)
if os.fork():
    os._exit(0)
sys.stdin.read()
"""
    script = f"""
        mkfifo "$SOFTHCA_DIR/go"
        "$@" < "$SOFTHCA_DIR/go" &
        exec 9> "$SOFTHCA_DIR/go"
        wait $!
        # The parent may be gone before its child has got to letting go.
        while {paths.SOFTHCA} ctl stats 2>&1 | grep 'no answer'; do sleep 0.05; done
        {paths.SOFTHCA} ctl stats
    """
    argv = softhca_argv(["wire=null"], ["sh", "-c", script, "sh", sys.executable, "-W", "ignore", "-c", forker],
                        NOT_STRICT)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False, env=IN_PROGRAM)
    assert done.returncode == 1, done
    assert done.stderr == "softhca ctl: no program has such a device open below this runner\n"


def wait_link(pmd, port, state):
    until(lambda: pmd.info(port)["Link status"] == state)


def test_link_of_a_pair_goes_down_at_both_ends():
    with Testpmd(ports=["wire=pair:a", "wire=pair:a"], args=["--rxq=1", "--txq=1"]) as pmd:
        pid = asked_pid(pmd)
        status, _, err = ctl("--pid", pid, "link", "down")
        assert status == 1 and "link of which port? Say --port 0 to --port 1" in err
        assert asked("--pid", pid, "link", "down", "--port", "1") == "mlx5_1 down\n"
        wait_link(pmd, 1, "down")
        wait_link(pmd, 0, "down")
        pmd.cmd("start tx_first")
        # Sent and completed, and lost: the queues do not hang.
        until(lambda: sum(port["tx_no_link"] for port in stats("--pid", pid)["ports"]) == 64)
        pmd.stop()
        for port in stats("--pid", pid)["ports"]:
            assert port["link"] == "down"
            assert port["tx_frames"] == port["rx_frames"] == 0
        # The one end says up, but the other still holds the link down.
        assert asked("--pid", pid, "link", "up", "--port", "0") == "mlx5_0 down\n"
        assert json.loads(asked("--pid", pid, "--device", "mlx5_1", "link", "up", "--json")) == {
            "device": "mlx5_1", "link": "up"}
        wait_link(pmd, 0, "up")
        pmd.cmd("start tx_first")
        until(lambda: all(port["rx_steered"] > 100 for port in stats("--pid", pid)["ports"]))
        pmd.stop()


RULES = [
    "ingress priority 0 pattern eth / ipv4 src is 10.0.0.2 / udp dst is 53 / end"
    " actions queue index 1 / mark id 7 / count / end",
    "ingress priority 1 pattern eth dst is 02:00:00:00:00:77 / end actions drop / end",
]


COPYING_RULE = ("ingress priority 0 pattern eth / ipv4 / udp dst is 53 / end"
                " actions queue index 2 / passthru / end")


def entries_of(port):
    return [(table, entry) for table in port["tables"] for group in table["groups"]
            for entry in group["entries"]]


def test_dump_shows_tables_groups_and_entries(tmp_path):
    with Rig(tmp_path) as rig:
        pid = asked_pid(rig.pmd)
        rig.add_sentinel()
        for rule in RULES:
            rig.pmd.flow(rule)
        rig.deliver(*[frames.packet()] * 3,
                      frames.packet(eth_dst="02:00:00:00:00:77", src="10.0.0.3"))
        text = asked("--pid", pid, "dump")
        port, = json.loads(asked("--pid", pid, "dump", "--json"))
        assert port["device"] == "mlx5_0"
        # Those of the rules, by what makes each the only one of its kind.
        (_, udp), = [found for found in entries_of(port) if found[1]["tag"]]
        (_, drop), = [found for found in entries_of(port) if found[1]["action"] == "DROP"]
        size = len(frames.packet())
        assert (udp["action"], udp["packets"], udp["bytes"]) == ("FWD", 3, 3 * size)
        assert udp["counters"] == [{"packets": 3, "bytes": 3 * size}]
        assert len(udp["destinations"]) == 1 and udp["destinations"][0]["tir"] > 0
        assert "10.0.0.2" in udp["match"].values()
        assert drop["packets"] == 1 and drop["destinations"] == []
        # Text and JSON are one dump.
        for number, table in enumerate(port["tables"]):
            assert table["table"] == number
            assert f"FT: {number:#x} (level: {table['level']:#x}, type: {table['type']})\n" in text
            for group in table["groups"]:
                assert f"|-- FG: {group['group']:#x} ({group['criteria']})\n" in text
        for _, entry in entries_of(port):
            assert f"|-- FTE: {entry['index']:#x} ({entry['action']}) to (" in text
            for tir in entry["destinations"]:
                assert f"TIR:{tir['tir']:#x}" in text
            for name, value in entry["match"].items():
                assert f"    |-- {name}:{value}\n" in text
        assert text.count("FTE:") == len(entries_of(port))


def test_trace_foretells_what_becomes_of_a_frame(tmp_path):
    capture = tmp_path / "probes.pcap"
    probes = [
        frames.packet(),  # meets the copying rule, then the queue's
        frames.packet(eth_dst="02:00:00:00:00:77", src="10.0.0.3"),  # copied, then dropped
        frames.packet(eth_dst=frames.BROADCAST, src="10.0.0.3"),  # copied, and the netdev's
        frames.packet(eth_dst="02:00:00:00:00:78", src="10.0.0.3", proto=frames.TCP),  # nobody's
    ]
    pcapfile.write(capture, probes)
    with Rig(tmp_path) as rig:
        pid = asked_pid(rig.pmd)
        rig.add_sentinel()
        for rule in [*RULES, COPYING_RULE]:
            rig.pmd.flow(rule)
        before = asked("--pid", pid, "dump"), asked("--pid", pid, "stats")
        text = asked("--pid", pid, "trace", capture)
        traces = json.loads(asked("--pid", pid, "trace", "--json", capture))
        # Nothing was sent, nothing counted.
        assert (asked("--pid", pid, "dump"), asked("--pid", pid, "stats")) == before

        assert [trace["fate"] for trace in traces] == ["delivered", "dropped", "netdev", "lost"]
        hits = [[table for table in trace["tables"] if table["hit"]] for trace in traces]
        assert [[table["then"] for table in tables] for tables in hits] == [
            ["next", "end"], ["next", "drop"], ["next"], []]
        assert hits[0][1]["tag"] == 7 + 1  # the driver keeps 0 for no mark
        for trace, probe in zip(traces, probes):
            assert trace["bytes"] == len(probe)
        for line in (
                "packet 1: 60 bytes, 02:00:00:00:00:99 > 02:00:00:00:00:10, IPv4 10.0.0.2 > 10.0.0.1,"
                " UDP 1024 > 53\n",
                "    on to the next table: the rule does not trap\n",
                "  delivered, 2 copies: a rule took it\n",
                "  dropped, 1 copy: the rule says so\n",
                "  netdev, 1 copy: the netdev takes multicast and broadcast\n",
                "  lost, 0 copies: it is not for the netdev's address\n"):
            assert line in text, text

        # It comes as foretold: the same queues, the same number.
        expected = {}
        for copy in (copy for tables in hits for table in tables for copy in table["copies"]):
            expected[copy["rq"]] = expected.get(copy["rq"], 0) + 1
        old = {queue["number"]: queue["packets"]
               for queue in queues_of(stats("--pid", pid)["ports"][0], "RQ")}
        rig.peer.send(*probes)
        until(lambda: {
            queue["number"]: queue["packets"] - old[queue["number"]]
            for queue in queues_of(stats("--pid", pid)["ports"][0], "RQ")
            if queue["packets"] != old[queue["number"]]} == expected)


def test_trace_refuses_what_it_cannot_read(tmp_path):
    socket, rubbish = tmp_path / "device", tmp_path / "rubbish"
    rubbish.write_bytes(b"no capture at all, but long enough")
    cut = tmp_path / "cut.pcap"
    pcapfile.write(cut, [frames.packet()] * 2)
    cut.write_bytes(cut.read_bytes()[:-5])
    with holder("--ctl", socket):
        status, out, err = ctl(socket, "trace", tmp_path / "absent")
        assert (status, out) == (1, "") and "No such file" in err
        status, out, err = ctl(socket, "trace", rubbish)
        assert (status, out) == (1, "") and "rubbish" in err or "format" in err
        status, out, err = ctl(socket, "trace", cut)
        assert status == 1 and "lost, 0 copies: there is no netdev beside the port" in out
        assert "behind packet 1: truncated" in err


def check_watcher(tmp_path, port, change, link_of):
    """change(socket, "down" or "up"): ibverbs-utils' own watcher sees it; sysfs says the same, and the device its link."""
    socket = tmp_path / "device"
    argv = softhca_argv([port], ["ibv_asyncwatch", "-d", "mlx5_0"])
    argv[2:2] = ["--ctl", socket]
    watcher = Terminal(argv)
    try:
        watcher.expect("mlx5_0: async event FD", 0)
        sysfs = pathlib.Path(os.readlink(socket)).parent / "sys/class/infiniband/mlx5_0/ports/1"
        for verb, event, state, phys in (
                ("down", "IBV_EVENT_PORT_ERR (10), port 1", "1: DOWN", "3: Disabled"),
                ("up", "IBV_EVENT_PORT_ACTIVE (9), port 1", "4: ACTIVE", "5: LinkUp")):
            start = len(watcher.text)
            change(socket, verb)
            watcher.expect(re.escape(event), start)
            assert watcher.text.count("IBV_EVENT_", start) == 1
            assert (sysfs / "state").read_text() == state + "\n"
            assert (sysfs / "phys_state").read_text() == phys + "\n"
            assert f", link {link_of[verb]}\n" in asked(socket, "stats")
    finally:
        watcher.close()


@pytest.mark.skipif(shutil.which("ibv_asyncwatch") is None, reason="no ibv_asyncwatch")
def test_contexts_are_told_of_the_link(tmp_path):
    def change(socket, verb):
        assert asked(socket, "link", verb) == f"mlx5_0 {verb}\n"
    check_watcher(tmp_path, "wire=null", change, {"down": "down", "up": "up"})


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
@pytest.mark.skipif(shutil.which("ibv_asyncwatch") is None, reason="no ibv_asyncwatch")
def test_contexts_are_told_of_the_netdev(tmp_path):
    """For verbs the port goes down with it. The link is up all the time."""
    with host.netdev_that_is_up() as name:
        def change(_, verb):
            host.run("ip", "link", "set", name, verb)
        check_watcher(tmp_path, f"wire=null,kernel=tap:{name}", change, {"down": "up", "up": "up"})


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
def test_sysfs_has_the_netdev_by_its_new_name(tmp_path):
    socket, old, new = tmp_path / "device", host.name("o"), host.name("n")
    with holder("--ctl", socket, ports=[f"wire=null,kernel=tap:{old}"]):
        sysfs = pathlib.Path(os.readlink(socket)).parent / "sys/class/infiniband/mlx5_0"
        ndevs = sysfs / "ports/1/gid_attrs/ndevs"
        for name in (old, new):
            if name == new:
                host.run("ip", "link", "set", old, "name", new)
            until(lambda n=name: all((ndevs / index).read_text() == f"{n}\n" for index in "01"))
            assert os.listdir(sysfs / "device/net") == [name]


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
@pytest.mark.parametrize("side", ["wire", "kernel"])
def test_netdev_sees_the_carrier(tmp_path, side):
    name, socket = host.name("c"), tmp_path / "device"
    port = f"wire=tap:{name}" if side == "wire" else f"wire=null,kernel=tap:{name}"
    carrier = pathlib.Path(f"/sys/class/net/{name}/carrier")
    with holder("--ctl", socket, ports=[port]):
        host.run("ip", "link", "set", name, "up")
        until(lambda: carrier.read_text() == "1\n")
        asked(socket, "link", "down")
        until(lambda: carrier.read_text() == "0\n")
        assert "NO-CARRIER" in host.run("ip", "link", "show", name)
        asked(socket, "link", "up")
        until(lambda: carrier.read_text() == "1\n")


@pytest.mark.parametrize("words, status, says", [
    (["stop"], 2, "no command 'stop'; there are devices, stats, dump, freeze, thaw, link, ntuple, trace"),
    ([], 2, "no command ''"),
    (["freeze", "--port", "0"], 2, "freeze takes --json; not '--port'"),
    (["link"], 2, "link what? It takes up|down"),
    (["--pid", "first", "stats"], 2, "--pid takes a number, not 'first'"),
    (["--pid", "", "stats"], 2, "--pid takes a number, not ''"),
    (["./socket", "--on", "card", "stats"], 2, "either ./socket or --on card"),
    (["--on", "card", "./socket", "freeze"], 2, "either ./socket or --on card"),
    (["--device", "eth0", "stats"], 2, "--device takes mlx5_0, mlx5_1"),
    *[(["--device", name, "stats"], 2, f"--device takes mlx5_0, mlx5_1, ...; not '{name}'")
      for name in ("mlx5_+1", "mlx5_ 1", "mlx5_01", "mlx5_-0", "mlx5_", "mlx5_1x")],
    (["--pid", "1", "stats"], 1, "no program has such a device open"),
    (["/nowhere/socket", "stats"], 1, "/nowhere/socket: no program has the device open"),
])
def test_bad_usage_is_refused(words, status, says):
    got, out, err = ctl(*words)
    assert (got, out) == (status, "")
    assert says in err


def test_an_argument_is_one_word():
    """Not a request more, nor a part of one."""
    with holder(env=IN_PROGRAM) as (_, pid):
        for word in ("up\nfreeze", "up freeze", "up\tfreeze"):
            status, out, err = ctl("--pid", pid, "link", word)
            assert (status, out, err) == (2, "", f"softhca ctl: link takes one word: what is '{word}'?\n")
        assert stats("--pid", pid)["thread"] == "running"


def test_any_answer_can_be_json():
    """One line, also about several ports. The ioctl is ETHTOOL_GCHANNELS."""
    with cards.up("wire=null", "wire=null") as card:
        def lines(*words):
            return [json.loads(line) for line in asked("--on", card, *words, "--json").splitlines()]

        assert lines("pci", "on") == [[{"device": "mlx5_0", "pci": "on"}, {"device": "mlx5_1", "pci": "on"}]]
        assert lines("pci", "off", "--port", "1") == [[{"device": "mlx5_1", "pci": "off"}]]
        question = struct.pack("9I", 0x3c, *[0] * 8).hex()
        answer, = lines("ethtool", "--port", "1", question)
        assert answer == {"device": "mlx5_1", "answer": asked("--on", card, "ethtool", "--port", "1", question).strip()}
        for words in (("devices",), ("stats",), ("dump",), ("freeze",), ("thaw",), ("link", "down", "--port", "0"),
                      ("ethtool", "--port", "0", "ffffffff"), ("trace", "--port", "0", "eth")):
            assert len(lines(*words)) == 1, words


def test_help_lists_the_commands():
    text = asked("--help")
    for name in ("devices", "stats", "dump", "freeze", "thaw", "link", "trace"):
        assert f"\n  {name}" in text
