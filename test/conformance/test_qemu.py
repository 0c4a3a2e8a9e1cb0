# SPDX-License-Identifier: BSD-3-Clause
"""QEMU, unmodified: a guest moves from one process to another over RDMA, its memory by RDMA writes into the other's."""
import contextlib
import json
import os
import shutil
import socket

import pytest
from harness.patience import PATIENCE, until
from harness.places import HOSTS, serving

pytestmark = pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed")

# The guest's firmware finds nothing to boot. Its memory has a file where nobody writes.
QEMU = "qemu-system-x86_64 -machine q35,accel=tcg -nodefaults -display none -m 128"
BLOB_AT, BLOB_BYTES = 32 << 20, 16 << 20


class Monitor:
    """A connection to QEMU's monitor."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rw")
        self.file.readline()
        self.tell("qmp_capabilities")

    def tell(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while "event" in (answer := json.loads(self.file.readline())):
            pass
        return answer["return"]

    def close(self):
        self.file.close()
        self.socket.close()


@contextlib.contextmanager
def guest(end, directory, name, options):
    path = directory / name
    with serving(f"{QEMU} -qmp unix:{path},server=on,wait=off {options}", end, end) as terminal:

        def connected():
            assert terminal.process.poll() is None, terminal.text
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return Monitor(path)
            return None

        monitor = until(connected)
        try:
            yield monitor, terminal
        finally:
            monitor.close()


@pytest.mark.parametrize("pin_all", [False, True])
@pytest.mark.parametrize("place", ["one host", pytest.param("bridge", marks=pytest.mark.long)])
def test_migration(place, pin_all, tmp_path):
    """Chunks of memory are registered when they are sent, or all at first (rdma-pin-all)."""
    blob, dump = tmp_path / "blob", tmp_path / "dump"
    blob.write_bytes(os.urandom(BLOB_BYTES))
    with HOSTS[place](tmp_path) as (server, client), \
            guest(server, tmp_path, "to", f"-incoming rdma:{server.address}:4444") as (there, terminal), \
            guest(client, tmp_path, "from", f"-device loader,file={blob},addr={BLOB_AT},force-raw=on") as (here, _):
        for monitor in (there, here):
            monitor.tell("migrate-set-capabilities", capabilities=[{"capability": "rdma-pin-all", "state": pin_all}])
        here.tell("migrate", uri=f"rdma:{server.address}:4444")
        until(lambda: here.tell("query-migrate").get("status") in ("completed", "failed"))
        assert here.tell("query-migrate")["status"] == "completed", terminal.text
        until(lambda: there.tell("query-status")["status"] == "running")
        there.tell("pmemsave", val=BLOB_AT, size=BLOB_BYTES, filename=str(dump))
        assert dump.read_bytes() == blob.read_bytes()
