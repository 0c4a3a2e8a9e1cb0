# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's telemetry socket, as dpdk-telemetry.py uses it."""
import json
import socket

from .patience import PATIENCE

ANSWER_MAX = 1 << 16


class Telemetry:
    """A connection; use as a context manager."""

    def __init__(self, prefix):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The server accepts one client at a time; with a timeout this one would not wait for its turn.
        self.socket.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        self.socket.settimeout(PATIENCE)
        self.socket.recv(ANSWER_MAX)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.socket.close()

    def ask(self, command):
        """The answer to one command with its parameters; None after an error."""
        self.socket.send(command.encode())
        answer = json.loads(self.socket.recv(ANSWER_MAX))
        (name, value), = answer.items()
        assert name == command.split(",")[0]
        return value


def ask(prefix, command):
    """The answer to one command, on a connection of its own."""
    with Telemetry(prefix) as client:
        return client.ask(command)
