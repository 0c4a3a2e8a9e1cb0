# SPDX-License-Identifier: BSD-3-Clause
"""softhca up, down, list and run --on: a card that outlives its programs, and is the same for all of them."""
import fcntl
import json
import os
import pathlib
import random as numbers
import re
import signal
import subprocess
import time

import pytest
from harness import card as cards
from harness import frames, host, paths, pcapfile
from harness.cable import Cable
from harness.patience import PATIENCE, until
from harness.program import run_on_softhca
from harness.rounds import rounds
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
UNTAGGED = frames.packet(data=b"one")
EXAMPLES = paths.BUILD / "app" / "examples"


def pmd_on(card, *args, vdev="net_mlx5dv0,ibdev=mlx5_0", **kwargs):
    return Testpmd(ports=(), vdevs=[vdev], softhca_options=("--on", card), args=args, **kwargs)


def has_ended(pid):
    """Whether a process has ended, and be it that nobody has waited for it: its first thread can be a zombie while another
    one still holds its files."""
    try:
        return (pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
                and os.listdir(f"/proc/{pid}/task") == [str(pid)])
    except (FileNotFoundError, ProcessLookupError):
        return True


def stats(card):
    return json.loads(cards.softhca("ctl", "--on", card, "stats", "--json").stdout)["ports"][0]


def objects(card):
    """What the kernel would track on mlx5_0: {"qp": 2, ...}"""
    text = cards.run_on(card, "rdma", "resource", "show").stdout
    return {kind: int(nb) for kind, nb in re.findall(r"(pd|cq|qp|mr|ctx) (\d+)", text)}


def nodes_closed(card):
    return not any(objects(card).values())


def test_up_list_down():
    with cards.up("wire=null", "wire=loop") as card:
        assert re.search(rf"^{card} +process \d+ mlx5_0 mlx5_1$", cards.softhca("list").stdout, re.M)
        assert "mlx5_1" in cards.run_on(card, "ibv_devices").stdout
        assert cards.run_on(card, "sh", "-c", "exit 7", check=False).returncode == 7
        keeper = cards.keeper_of(card)
    assert card not in cards.softhca("list").stdout
    assert has_ended(keeper)


def test_mistakes():
    with cards.up("wire=null") as card:
        for words, said in (
                (("up", card), f"{card} is up already: process {cards.keeper_of(card)} keeps it"),
                (("up", "a/b"), "'a/b' is no name of a card"),
                (("up", "a", "b"), "up makes one card: what is 'b'?"),
                (("up", "--port", "wire=x", "a"), "--port wire=x: "),
                (("up", "--mode", "999", "a"), "--mode 999: it is an octal number"),
                (("down", "nobody-has-this"), "no card nobody-has-this is up"),
                (("list", "x"), "list takes no argument: 'x'"),
                (("run", "--on", "nobody-has-this", "--", "true"), "no card nobody-has-this is up"),
                (("run", "--on", card, "--port", "wire=null", "--", "true"),
                 f"--on {card}: --port belongs to the softhca up that made it"),
                (("run", "--on", card, "--strict", "--", "true"), f"--on {card}: --strict belongs to"),
                (("ctl", "--on", "nobody-has-this", "stats"), "no card nobody-has-this is up")):
            done = cards.softhca(*words, check=False)
            assert done.returncode != 0 and said in done.stdout, (words, done.stdout)
        assert cards.run_on(card, "no-such-command", check=False).returncode == 127


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams(closed):
    """What softhca opens then has their numbers, and is not taken for them. A command finds them closed."""
    def run(*argv):
        return subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *argv], timeout=PATIENCE, check=False).returncode
    card = cards.name()
    assert run(paths.SOFTHCA, "up", "--port", "wire=null", card) == 0
    try:
        assert re.search(rf"^{card} +process \d+ mlx5_0$", cards.softhca("list").stdout, re.M)
        number = int(">" in closed[:1])
        # What cannot be told is not done.
        assert run(paths.SOFTHCA, "ctl", "--on", card, "dump") == int(">&-" in closed)
        for argv in (cards.on(card), [paths.SOFTHCA, "run", "--"]):
            command = f"ibv_devinfo > /dev/null && [ ! -e /proc/self/fd/{number} ]"
            assert run(*argv, "sh", "-c", command) == 0
    finally:
        cards.softhca("down", card)


def test_what_the_caller_has_open_is_not_the_cards(tmp_path):
    """As a lock, or a pipe that somebody reads to its end; what an option names by its descriptor is."""
    card, lock, frame = cards.name(), tmp_path / "lock", tmp_path / "frame.pcap"
    pcapfile.write(frame, [UNTAGGED])
    with open(lock, "w", encoding="ascii") as held, open(frame, "rb") as capture:
        fcntl.flock(held, fcntl.LOCK_EX)
        subprocess.run([paths.SOFTHCA, "up", "--port", f"wire=pcap:/dev/fd/{capture.fileno()}", card], timeout=PATIENCE,
                       check=True, pass_fds=[held.fileno(), capture.fileno()], stdout=subprocess.DEVNULL)
    try:
        with open(lock, "w", encoding="ascii") as again:
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert "PORT_ACTIVE" in cards.run_on(card, "ibv_devinfo").stdout
    finally:
        cards.softhca("down", card)


# Its connection's number is 200.
CLOSES_ALL = """
import os
node = '/dev/infiniband/uverbs0'
os.open(node, os.O_RDWR)
os.closerange(3, 1024)
os.open(node, os.O_RDWR)
os.closerange(3, 1024)
while os.open('/dev/null', os.O_RDONLY) != 250:
    pass
os.open(node, os.O_RDWR)
print(all(os.fstat(fd) for fd in range(3, 251)))
"""


def test_a_program_that_closes_all_descriptors():
    """As daemons do; what has the numbers then is left alone."""
    with cards.up("wire=null") as card:
        done = cards.run_on(card, "/usr/bin/python3", "-c", CLOSES_ALL, check=False)
        assert (done.returncode, done.stdout) == (0, "True\n"), done.stdout


def test_a_card_that_cannot_be_made_leaves_nothing():
    card = cards.name()
    done = cards.softhca("up", "--port", "wire=pcap:/nobody/has/this", card, check=False)
    assert done.returncode == 125 and "/nobody/has/this" in done.stdout, done.stdout
    assert card not in cards.softhca("list").stdout


def test_a_sniffer_beside_testpmd(tmp_path):
    """Each frame goes to the program that watches and to the one that takes it; then to that alone."""
    wire = tmp_path / "wire"
    with cards.up(f"wire=unix:{wire},mac={MAC}") as card, Cable(wire) as cable, pmd_on(card) as pmd:
        pmd.cmd("set fwd rxonly")
        pmd.cmd("start")
        before = pmd.stats()["RX-packets"]
        with subprocess.Popen(cards.on(card, EXAMPLES / "raw-dont-trap", "mlx5_0", MAC, 3), text=True,
                              stdout=subprocess.PIPE) as watcher:
            until(lambda: len(re.findall("FT:next", cards.softhca("ctl", "--on", card, "dump").stdout)) > 0
                  and objects(card).get("ctx") == 2)
            cable.send(*[UNTAGGED] * 3)
            text = watcher.communicate(timeout=PATIENCE)[0]
            assert watcher.returncode == 0 and "seen, not taken: 3 frames" in text
        pmd.wait_stats(lambda s: s["RX-packets"] == before + 3)
        cable.send(UNTAGGED)
        pmd.wait_stats(lambda s: s["RX-packets"] == before + 4)


def test_keys_of_another_process_are_no_keys():
    """Numbers are the card's: two programs have no queue pair and no key in common."""
    with cards.up("wire=null") as card, pmd_on(card), pmd_on(card, vdev="net_mlx5dv1,ibdev=mlx5_0"):
        text = cards.run_on(card, "rdma", "resource", "show", "qp").stdout
        numbers = re.findall(r"lqpn (\d+)", text)
        assert len(numbers) >= 2 and len(set(numbers)) == len(numbers), text
        assert len(set(re.findall(r"pid (\d+)", text))) == 2, text
        text = cards.run_on(card, "rdma", "resource", "show", "mr").stdout
        keys = re.findall(r"mrn (\d+)", text)
        assert len(keys) >= 2 and len(set(keys)) == len(keys), text


FOREIGN_KEY = paths.BUILD / "test" / "verbs" / "verbs-foreign-key"


def test_a_key_of_another_process_is_a_protection_error():
    """Sends and receives that name it fail, at the address that it is for and at others, and its memory stays as it was."""
    pipes = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with cards.up("wire=null") as card, subprocess.Popen(cards.on(card, FOREIGN_KEY, "hold"), **pipes) as holder, \
            subprocess.Popen(cards.on(card, FOREIGN_KEY, "use", *holder.stdout.readline().split()), **pipes) as user:
        while (said := user.stdout.readline()) == "waits\n":
            holder.stdin.write("\n")
            holder.stdin.flush()
        assert said == "5 checks, 0 failed\n"
        assert holder.communicate(timeout=PATIENCE)[0] == "3 checks, 0 failed\n"


def pid_of_testpmd(pmd):
    """run --on becomes its command."""
    return pmd.terminal.process.pid


def test_a_killed_program_leaves_nothing(tmp_path):
    """Rules, queues and regions of a program that is killed in the middle of its bursts go; its neighbour stays."""
    wire = tmp_path / "wire"
    with cards.up(f"wire=unix:{wire},mac={MAC}") as card, Cable(wire) as cable, pmd_on(card) as stays:
        stays.cmd("set fwd rxonly")
        stays.cmd("start")
        left = objects(card)
        commands = cards.softhca("ctl", "--on", card, "dump").stdout
        for _ in range(rounds(5)):
            goes = pmd_on(card, vdev="net_mlx5dv1,ibdev=mlx5_0")
            try:
                goes.__enter__()
                goes.cmd("flow create 0 priority 1 ingress pattern eth / ipv4 / udp dst is 53 / end "
                         "actions passthru / queue index 0 / end")
                goes.cmd("set fwd txonly")
                goes.cmd("start")
                before = stats(card)["tx_frames"]
                cable.receive_all(count=1000, seconds=0)
                until(lambda sent=before: stats(card)["tx_frames"] > sent)
                assert objects(card)["ctx"] == left["ctx"] + 1
                os.kill(pid_of_testpmd(goes), signal.SIGKILL)
                until(lambda: objects(card) == left)
            finally:
                goes.kill()
        assert cards.softhca("ctl", "--on", card, "dump").stdout == commands
        before = stays.stats()["RX-packets"]
        cable.send(*[UNTAGGED] * 4)
        stays.wait_stats(lambda s: s["RX-packets"] == before + 4)


@pytest.mark.skipif(host.why_no_tap() is not None, reason=str(host.why_no_tap()))
def test_the_netdev_is_there_without_programs():
    """Linux answers before, between and after programs."""
    name = host.name("c")
    with cards.up(f"wire=null,kernel=tap:{name}") as card:
        assert name in host.run("ip", "link", "show", name)
        cards.run_on(card, "ibv_devinfo")
        with pmd_on(card):
            assert name in host.run("ip", "link", "show", name)
        assert name in host.run("ip", "link", "show", name)
        assert name in cards.run_on(card, "rdma", "link").stdout
    assert name not in host.run("ip", "link")


def test_linux_answers_pings_whoever_is_there(namespace):
    """Before, beside, between and after programs, which are killed."""
    netdev, wire = host.name("c"), host.name("w")

    def answers():
        until(lambda: " 0% packet loss" in namespace.run("ping", "-c1", "-W1", "198.18.0.1", check=False))

    with cards.up(f"wire=tap:{wire},kernel=tap:{netdev},mac={MAC}") as card, host.Namespace() as linux:
        namespace.take(wire, "198.18.0.2/24")
        linux.take(netdev, "198.18.0.1/24")
        answers()
        for _ in range(2):
            with cards.running(card, EXAMPLES / "raw-receive", "mlx5_0", "02:00:00:00:00:66", 1):
                until(lambda: objects(card).get("ctx") == 1)
                answers()
            answers()


def held_by(keeper):
    """Descriptors and mappings of a keeper of one card with one program; None while it serves another: whoever calls
    softhca list, a test beside this one too, is one for a moment."""
    def threads():
        return len(os.listdir(f"/proc/{keeper}/task"))
    # The keeper's own, softhca ctl's, the card's, the program's.
    before = threads()
    descriptors = len(os.listdir(f"/proc/{keeper}/fd"))
    with open(f"/proc/{keeper}/maps", encoding="ascii") as maps:
        mappings = sum("softhca-" in line or "/dev/" in line for line in maps)
    return (descriptors, mappings) if before == threads() == 4 else None


VICTIMS = [[str(EXAMPLES / "raw-dont-trap"), "mlx5_0", MAC, "1000000"],
           [str(EXAMPLES / "raw-receive"), "mlx5_0", "02:00:00:00:00:99", "1000000"],
           [str(EXAMPLES / "raw-send"), "mlx5_0", "02:00:00:00:00:98", "1000000"],
           [str(paths.BUILD / "test/verbs/verbs-memory")], [str(paths.BUILD / "test/verbs/verbs-contexts")],
           [str(paths.BUILD / "test/verbs/verbs-raw-flow")], [str(paths.BUILD / "test/verbs/verbs-resize")]]


@pytest.mark.parametrize("seed, kills", [(1, 25), pytest.param(2, 1000, marks=pytest.mark.long)])
def test_killed_at_any_moment(tmp_path, seed, kills):
    """Programs are killed at random moments, many at once; one that stays gets all its frames, and the keeper holds no more
    than before."""
    random, wire, sent = numbers.Random(seed), tmp_path / "wire", 0
    with cards.up(f"wire=unix:{wire},mac={MAC}") as card, Cable(wire) as cable, pmd_on(card) as stays:
        stays.cmd("set fwd rxonly")
        stays.cmd("start")
        assert "#0 created" in stays.cmd("flow create 0 ingress pattern eth / ipv4 / udp dst is 4242 / end "
                                         "actions count / queue index 0 / end")
        keeper = cards.keeper_of(card)
        left, held = objects(card), until(lambda: held_by(keeper))
        for _ in range(0, kills, 5):
            victims = [subprocess.Popen(cards.on(card, *random.choice(VICTIMS)), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL) for _ in range(5)]
            for victim in random.sample(victims, 5):
                time.sleep(random.uniform(0, 0.03))
                victim.kill()
            for victim in victims:
                victim.wait()
            cable.receive_all(seconds=0)
            # Some have rules that take all there is.
            until(lambda: objects(card) == left)
            cable.send(*[frames.packet(dport=4242)] * 8)
            sent += 8
            until(lambda seen=sent: f"hits: {seen}\n" in stays.cmd("flow query 0 0 count").replace("\r", ""))
        until(lambda: held_by(keeper) == held)


def test_ethtool_on_a_card():
    """Its rules live with the card, whichever program is there."""
    why = host.why_no_tap()
    if why:
        pytest.skip(why)
    name = host.name("c")
    with cards.up(f"wire=null,kernel=tap:{name}") as card:
        assert "driver: mlx5_core" in cards.run_on(card, "ethtool", "-i", name).stdout
        assert "Added rule with ID" in cards.run_on(card, "ethtool", "-N", name, "flow-type", "udp4", "dst-port", "53",
                                                    "action", "-1").stdout
        with pmd_on(card):
            assert "Total 1 rules" in cards.run_on(card, "ethtool", "-n", name).stdout
            assert "rx_packets:" in cards.run_on(card, "ethtool", "-S", name).stdout
            cards.run_on(card, "ethtool", "-L", name, "combined", "3")
        assert "Combined:\t3\n" in cards.run_on(card, "ethtool", "-l", name).stdout
        assert cards.run_on(card, "ethtool", "-l", "*").stdout.count("Combined:\t3\n") == 1
        assert "Dest port: 53" in cards.run_on(card, "ethtool", "-n", name).stdout
        assert "owner: ethtool" in cards.softhca("ctl", "--on", card, "dump").stdout


def end_keeper(card, way):
    keeper = cards.keeper_of(card)
    if way == "down":
        cards.softhca("down", card)
    else:
        os.kill(keeper, signal.SIGKILL)
    until(lambda: has_ended(keeper))


@pytest.mark.parametrize("way", ["down", "killed"])
def test_a_card_that_goes_is_removed(way):
    """Programs hear of it as of hardware; testpmd takes the port away, and nothing hangs."""
    with cards.up("wire=null") as card, pmd_on(card, link_events=True) as pmd:
        end_keeper(card, way)
        pmd.terminal.expect("Port 0: device removal event", 0)
        pmd.terminal.expect("Now total ports is 0", 0)


@pytest.mark.parametrize("way", ["down", "killed"])
def test_a_watcher_of_events_hears_of_it_once(way):
    with cards.up("wire=null") as card, subprocess.Popen(cards.on(card, "ibv_asyncwatch", "-d", "mlx5_0"), text=True,
                                                         stdout=subprocess.PIPE) as watcher:
        until(lambda: objects(card).get("ctx") == 1)
        end_keeper(card, way)
        assert watcher.communicate(timeout=PATIENCE)[0].count("IBV_EVENT_DEVICE_FATAL") == 1


def test_a_killed_keeper_is_cleared_away():
    """The name can be used again."""
    with cards.up("wire=null") as card:
        end_keeper(card, "killed")
        assert re.search(rf"^{card} +without its keeper", cards.softhca("list").stdout, re.M)
        done = cards.run_on(card, "true", check=False)
        assert done.returncode == 125 and "its keeper is gone" in done.stdout
        assert cards.softhca("up", "--port", "wire=null", card).returncode == 0
        cards.run_on(card, "ibv_devinfo")


def test_another_version_of_softhca(tmp_path):
    """A program that says another version than its keeper's is refused."""
    import socket
    import struct
    with cards.up("wire=null") as card, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        path = until(lambda: next(pathlib.Path(base, card, "keeper") for base in
                                  ("/run/softhca", os.environ.get("XDG_RUNTIME_DIR", "/") + "/softhca",
                                   f"/tmp/softhca-{os.getuid()}") if pathlib.Path(base, card, "keeper").exists()))
        link.connect(str(path))
        link.send(struct.pack("IIiiIIQQQQ", 99, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        assert struct.unpack("Ii", link.recv(4096)[:8])[1] == -93  # EPROTONOSUPPORT
        link.send(b"short")
        assert struct.unpack("Ii", link.recv(4096)[:8])[1] == -93
        cards.run_on(card, "ibv_devinfo")


@pytest.mark.parametrize("apart", ["0", "1"])
def test_memory_of_all_kinds(apart):
    """The devices in the program's process, and in one of their own."""
    status, text = run_on_softhca([str(paths.BUILD / "test" / "verbs" / "verbs-memory")], ["wire=loop"],
                                  env={"SOFTHCA_KEEPER": apart})
    assert status == 0 and " 0 failed" in text, text
