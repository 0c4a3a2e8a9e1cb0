# SPDX-License-Identifier: BSD-3-Clause
"""Cards in a bad world: file systems that are full, limits, names that many want at once, programs that are killed."""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest
from harness import card as cards
from harness import paths
from harness.patience import PATIENCE
from test_card import end_keeper, has_ended, objects, until

SEND = [str(paths.BUILD / "app" / "examples" / "raw-send"), "mlx5_0", "02:00:00:00:00:99", "1"]
VICTIM = paths.BUILD / "test" / "verbs" / "verbs-victim"
BESIDE = [str(paths.BUILD / "app" / "examples" / "raw-receive"), "mlx5_0", "02:00:00:00:00:99", "1000000"]


def script(text, *words):
    """Run a Python program with its own mounts: the completed process."""
    return subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, "-c", text,
                           *map(str, words)], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)


def why_no_mounts():
    return None if script("").returncode == 0 else "no namespaces of mounts"


needs_mounts = pytest.mark.skipif(why_no_mounts() is not None, reason=str(why_no_mounts()))

FULL = r"""
import os, subprocess, sys
softhca, strict = sys.argv[1], sys.argv[2:]
os.makedirs("/run/softhca", exist_ok=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "none", "/run/softhca"], check=True)
def say(*words):
    return subprocess.run([softhca, *words], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
ups = 0
for free in range(0, 240, 6):
    with open("/run/softhca/fill", "wb") as fill:
        room = os.statvfs("/run/softhca").f_bavail - free
        if room > 0:
            os.posix_fallocate(fill.fileno(), 0, room * 4096)
    done = say("up", "--strict", "--port", "wire=null", "full")
    if done.returncode == 0:
        ups += 1
        done = say("run", "--on", "full", "--", "ibv_devinfo")
        assert done.returncode == 0, done.stdout
        assert say("down", "full").returncode == 0
    else:
        assert done.returncode == 125 and "No space left on device" in done.stdout, (free, done)
    assert os.listdir("/run/softhca") == ["fill"], (free, os.listdir("/run/softhca"))
    os.unlink("/run/softhca/fill")
print("ups", ups)
"""


@needs_mounts
@pytest.mark.skipif(os.getuid() != 0, reason="root's cards are below /run")
def test_a_full_file_system_of_cards():
    """A card is made whole, or there is a reason and nothing is left."""
    done = script(FULL, paths.SOFTHCA)
    assert done.returncode == 0 and 0 < int(done.stdout.split()[-1]) < 40, done.stdout


SHM = r"""
import subprocess, sys
softhca, card, program = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", "/dev/shm"], check=True)
sys.exit(subprocess.run([softhca, "run", "--on", card, "--", program]).returncode)
"""


@needs_mounts
def test_a_full_dev_shm(request):
    """Memory for which the file system has no room is refused, as where the kernel pins it; nobody dies of it."""
    with cards.up("wire=loop", options=["--strict"]) as card, subprocess.Popen(
            cards.on(card, *BESIDE), stdout=subprocess.DEVNULL) as beside:
        request.addfinalizer(beside.kill)
        keeper = cards.keeper_of(card)
        done = script(SHM, paths.SOFTHCA, card, paths.BUILD / "test" / "verbs" / "verbs-full")
        assert done.returncode == 0 and done.stdout.splitlines()[-1] == "refused: Bad address", done.stdout
        assert "the file system of" in cards.log(card)
        assert cards.keeper_of(card) == keeper and beside.poll() is None
        beside.kill()


def test_a_limit_of_file_sizes():
    """Memory is no file to a program: it works under a limit of 0 bytes."""
    with cards.up("wire=loop") as card:
        done = subprocess.run(["prlimit", "--fsize=0", *cards.on(card, *SEND)], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
        assert done.returncode == 0 and objects(card)["mr"] == 0, done.stdout


def test_a_keeper_without_descriptors():
    """Programs beyond what it has are turned away, and nobody waits."""
    card = cards.name()
    subprocess.run(["prlimit", "--nofile=48:48", paths.SOFTHCA, "up", "--port", "wire=null", card], check=True,
                   timeout=PATIENCE, stdout=subprocess.DEVNULL)
    try:
        programs, refused = [], 0
        while refused == 0:
            programs.append(subprocess.Popen(cards.on(card, "ibv_asyncwatch", "-d", "mlx5_0"), text=True,
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            if programs[-1].stdout.readline().find("mlx5_0: async event FD") < 0:
                refused = programs[-1].wait(PATIENCE)
        assert 3 < len(programs) < 48 and "Too many open files" in cards.log(card)
        for program in programs:
            program.kill()
            program.wait()
        until(lambda: cards.run_on(card, "ibv_devinfo", check=False).returncode == 0)
    finally:
        for program in programs:
            program.kill()
            program.communicate()
        cards.softhca("down", card)


@contextlib.contextmanager
def spoken_to_in_another_version(card, nb_bytes):
    """Between the keeper and its programs is somebody who makes the version of every message another one, and replies as
    long as those of a version may be."""
    path = cards.directory(card) / "keeper"
    real = path.rename(path.with_name("real"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()

        def pass_on(client, keeper):
            with client, keeper:
                while message := client.recv(4096):
                    keeper.send(struct.pack("I", 99) + message[4:])
                    client.send(keeper.recv(4096)[:nb_bytes].ljust(nb_bytes, b"\0"))

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, keeper = listener.accept()[0], socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    keeper.connect(str(real))
                    threading.Thread(target=pass_on, args=(client, keeper), daemon=True).start()

        server = threading.Thread(target=serve)
        server.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            server.join()
            path.unlink()
            real.rename(path)


@pytest.mark.parametrize("nb_bytes", [8, 200, 1000])
def test_a_program_of_another_version_is_told(nb_bytes):
    """It has no device, and knows why; the others go on."""
    with cards.up("wire=null") as card:
        with spoken_to_in_another_version(card, nb_bytes):
            done = cards.run_on(card, "ibv_devinfo", check=False)
            assert done.returncode not in (0, 125), done.stdout
            assert f"the keeper of {cards.directory(card)} is of another version of softhca" in done.stdout, done.stdout
        assert "PORT_ACTIVE" in cards.run_on(card, "ibv_devinfo").stdout


def test_sockets_that_nobody_answers():
    """A killed keeper leaves them: each command says so at once, and the card can be cleared away or made again."""
    with cards.up("wire=null") as card:
        end_keeper(card, "killed")
        directory = cards.directory(card)
        assert {"ctl", "keeper", "lock"} <= set(os.listdir(directory))
        unopened = f"{directory}/ctl: no program has the device open"
        for words, status, says in (
                (("ctl", "--on", card, "stats"), 1, f"softhca ctl: {unopened}"),
                (("top", "--once", card), 125, f"softhca top: {unopened}"),
                (("run", "--on", card, "--", "true"), 125, f"{card}: its keeper is gone; softhca down clears it away"),
                (("down", card), 0, f"the keeper of {card} was gone"),
                (("down", card), 125, f"no card {card} is up")):
            done = cards.softhca(*words, check=False)
            assert done.returncode == status and says in done.stdout, (words, done)
        # What looks like a card that nobody keeps.
        directory.mkdir()
        (directory / "lock").touch()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stale:
            stale.bind(str(directory / "keeper"))
        assert "its keeper is gone" in cards.run_on(card, "true", check=False).stdout
        assert cards.softhca("up", "--port", "wire=null", card).returncode == 0
        assert "PORT_ACTIVE" in cards.run_on(card, "ibv_devinfo").stdout


def fill_backlog(path, kind):
    """Connect to who accepts nobody, until there is no room."""
    with contextlib.suppress(BlockingIOError):
        while True:
            with socket.socket(socket.AF_UNIX, kind | socket.SOCK_NONBLOCK) as client:
                client.connect(str(path))


def test_a_keeper_that_stands_still():
    """Whoever looks at it takes a place among those who wait to be accepted, until there is no other."""
    with cards.up("wire=null") as card, cards.up("wire=null") as other:
        keeper = cards.keeper_of(card)
        os.kill(keeper, signal.SIGSTOP)
        try:
            fill_backlog(cards.directory(card) / "keeper", socket.SOCK_SEQPACKET)
            done = cards.softhca("list")
            assert f"{card:16} its keeper does not answer\n" in done.stdout and f"{other:16} process " in done.stdout
            for words in (("up", card), ("down", card), ("run", "--on", card, "--", "true")):
                done = cards.softhca(*words, check=False)
                assert (done.returncode, done.stdout) == (125, f"softhca: {card}: its keeper does not answer\n"), words
            done = cards.softhca("top", "--once", card, check=False)
            assert (done.returncode, done.stdout) == (
                125, f"softhca top: process {keeper} does not answer: it stands still\n")
            text = cards.softhca("top", "--once").stdout
            assert other in text.splitlines()[0] and card not in text.splitlines()[0]
            # Whose process it is cannot be told any more.
            fill_backlog(cards.directory(card) / "ctl", socket.SOCK_STREAM)
            start = time.monotonic()
            done = cards.softhca("top", "--once", card, check=False)
            assert (done.returncode, done.stdout) == (
                125, f"softhca top: {cards.directory(card)}/ctl: its process does not answer\n")
            # Less than the minute for which one that runs is waited for.
            assert time.monotonic() - start < 30
        finally:
            os.kill(keeper, signal.SIGCONT)
        until(lambda: f"{card:16} process {keeper} mlx5_0" in cards.softhca("list").stdout)


def at(names):
    """What verbs-victim is at."""
    text = names.read_bytes() if names.exists() else b""
    lines = text.rstrip(b"\0").split(b"\n")
    return lines[text[-1]].decode() if len(lines) > 1 else ""


def test_calls_fail_when_the_keeper_is_killed(tmp_path):
    """A program that makes and destroys objects all the time is told by an errno, and ends by itself."""
    names = tmp_path / "names"
    with cards.up("wire=loop") as card, subprocess.Popen(cards.on(card, VICTIM, "calls", names), text=True,
                                                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as program:
        # It drops and makes again what it had.
        until(lambda: at(names).startswith("drop"))
        end_keeper(card, "killed")
        said = program.communicate(timeout=PATIENCE)[1]
        assert program.returncode == 1 and said.endswith(": Input/output error\n"), (program.returncode, said)


def test_many_want_one_name():
    """One of them makes the card, and the others are told."""
    for _ in range(5):
        card = cards.name()
        ups = [subprocess.Popen([paths.SOFTHCA, "up", "--port", "wire=null", card], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT) for _ in range(6)]
        said = [up.communicate(timeout=PATIENCE)[0] for up in ups]
        assert sorted(up.returncode for up in ups) == [0] + [125] * 5, said
        assert all(f"{card} is up already" in text or f"{card} is on its way up or down" in text
                   for text, up in zip(said, ups) if up.returncode != 0), said
        cards.run_on(card, "ibv_devinfo")
        assert cards.softhca("down", card).returncode == 0


def test_a_killed_program_is_not_seen_any_more():
    """Who has seen it end does not see its objects, without waiting."""
    with cards.up("wire=loop") as card:
        nothing = objects(card)
        for _ in range(20):
            with subprocess.Popen(cards.on(card, *BESIDE), stdout=subprocess.DEVNULL) as program:
                until(lambda: objects(card).get("qp") == 1)
                os.kill(program.pid, signal.SIGKILL)
                program.wait()
            assert objects(card) == nothing
        assert not has_ended(cards.keeper_of(card))
