# SPDX-License-Identifier: BSD-3-Clause
"""Cards of softhca up, and programs on them."""
import contextlib
import itertools
import os
import pathlib
import subprocess

from . import paths
from .patience import PATIENCE

_serial = itertools.count()


def name():
    """A card's name that no other test has."""
    return f"t{os.getpid()}-{next(_serial)}"


def softhca(*words, check=True, env=None):
    """A command of softhca's that ends by itself: the completed process."""
    done = subprocess.run([str(word) for word in (paths.SOFTHCA, *words)], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, env=env, check=False)
    assert not check or done.returncode == 0, done.stdout
    return done


@contextlib.contextmanager
def up(*ports, options=(), env=None):
    """A card with these ports; its name. `env`: the keeper's environment, if not this process's."""
    card = name()
    arguments = [word for port in ports for word in ("--port", port)]
    softhca("up", *arguments, *options, card, env=env)
    try:
        yield card
    finally:
        softhca("down", card, check=False)


def on(card, *command):
    """argv of a command on a card"""
    return [str(word) for word in (paths.SOFTHCA, "run", "--on", card, "--", *command)]


@contextlib.contextmanager
def running(card, *command):
    """A command that runs on a card until it is killed: its process."""
    with subprocess.Popen(on(card, *command), stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def run_on(card, *command, check=True):
    """Run a command on a card to its end: the completed process."""
    return softhca("run", "--on", card, "--", *command, check=check)


def keeper_of(card):
    """The number of the process that keeps a card."""
    for line in softhca("list").stdout.splitlines():
        words = line.split()
        if words[:2] == [card, "process"]:
            return int(words[2])
    return None


def directory(card):
    """The directory of a card: its files, its log."""
    bases = ["/run/softhca", os.environ.get("XDG_RUNTIME_DIR", "/") + "/softhca", f"/tmp/softhca-{os.getuid()}"]
    return next(pathlib.Path(base, card) for base in bases if pathlib.Path(base, card).exists())


def log(card):
    """What the card's devices have said."""
    return (directory(card) / "log").read_text(encoding="utf-8")
