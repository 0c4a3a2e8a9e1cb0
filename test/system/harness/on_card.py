#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What softhca run does, by a card that softhca up makes: on_card.py SOFTHCA OPTIONS -- COMMAND...

The card goes with this process, however that ends. What the devices have said is told at the end.
"""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys

FORWARDED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2]
PR_SET_PDEATHSIG = 1
# With the end of its input the card goes; how, is the status.
REMOVE = 'cat; exec "$0" down "$1" 1>&2'


def is_wanted():
    """Whether tests have cards made for what they would give softhca run."""
    return os.environ.get("SOFTHCA_ON_CARD") == "1"


def name_of(pid):
    """The card of that process."""
    return f"o{pid}"


def directory(name):
    bases = ["/run/softhca", os.environ.get("XDG_RUNTIME_DIR", "/") + "/softhca", f"/tmp/softhca-{os.getuid()}"]
    return next(path for path in (pathlib.Path(base, name) for base in bases) if path.exists())


def split(words):
    """Options of softhca up, of softhca run --on, the name of --ctl, the command."""
    end = words.index("--")
    up, on, socket = [], [], None
    options = iter(words[:end])
    for option in options:
        if option == "--ctl":
            socket = pathlib.Path(next(options))
        elif option == "--sys":
            on.append(option)
        else:
            up.append(option)
    return up, on, socket, words[end + 1:]


def run(softhca, name, options, command):
    """The status of the command."""
    signals = set(FORWARDED)
    signal.pthread_sigmask(signal.SIG_BLOCK, {*signals, signal.SIGCHLD})

    def prepare():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*signals, signal.SIGCHLD})

    with subprocess.Popen([softhca, "run", "--on", name, *options, "--", *command], preexec_fn=prepare) as child:
        while child.poll() is None:
            number = signal.sigwait({*signals, signal.SIGCHLD})
            if number != signal.SIGCHLD:
                child.send_signal(number)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def main(softhca, *words):
    up, on, socket, command = split(list(words))
    name = name_of(os.getpid())
    made = subprocess.run([softhca, "up", *up, name], stdout=subprocess.DEVNULL, check=False)
    if made.returncode:
        return made.returncode
    with subprocess.Popen(["sh", "-c", REMOVE, softhca, name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          start_new_session=True) as remover:
        if socket:
            socket.symlink_to(directory(name) / "ctl")
        status = run(softhca, name, on, command)
        sys.stderr.write((directory(name) / "log").read_text(encoding="utf-8", errors="replace"))
        sys.stderr.flush()
        if socket:
            socket.unlink(missing_ok=True)
        remover.stdin.close()
        ended = remover.wait()
    return status or ended


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
