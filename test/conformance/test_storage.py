# SPDX-License-Identifier: BSD-3-Clause
"""Storage over RDMA, unmodified: fio's engine, and an iSER target and initiator (tgt, libiscsi), which read and write the other's
memory by the keys that it has sent."""
import contextlib
import os
import re
import shutil
import subprocess

import pytest
from harness import daemons, host
from harness.patience import until
from harness.places import HOSTS, run_client, serving

PLACES = ["one host", pytest.param("bridge", marks=pytest.mark.long)]
FIO_JOB = "[global]\nioengine=rdma\nport=7600\nbs=64k\nsize=16m\n"
TGTD, TGTADM = daemons.find("/usr/sbin/tgtd"), daemons.find("/usr/sbin/tgtadm")
TARGET, INITIATOR = "iqn.2026-11.mlx5dv:target", "iqn.2026-11.mlx5dv:initiator"


def fio(end, job):
    return end.argv("fio", job, "--output-format=terse")


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("place", PLACES)
def test_fio(place, tmp_path):
    server_job, client_job = tmp_path / "server.fio", tmp_path / "client.fio"
    server_job.write_text(FIO_JOB + "[receiver]\nrw=read\n")
    with HOSTS[place](tmp_path) as (server, client):
        # Not "send": fio asks for no retries when the receiver is not ready (rnr_retry_count), and its receiver may be late.
        for verb in ("write", "read"):
            client_job.write_text(FIO_JOB + f"hostname={server.address}\nverb={verb}\n[sender]\nrw=write\niodepth=8\n")
            with serving(" ".join(fio(server, server_job)[-3:]), server, client) as terminal:
                terminal.expect("waiting for connection", 0)
                status, text = run_client(fio(client, client_job))
                # Of a writer: error, KiB written.
                assert status == 0 and re.search(r"^3;fio-[^;]*;sender;0;0(;[^;]*){41};16384;", text, re.M), (verb, text, terminal.text)
                assert terminal.wait() == 0, (verb, terminal.text)


@contextlib.contextmanager
def hugepages_of_its_own():
    """For the target's pool, twice of pool_sz_mb. It takes what there is, also what another test has reserved."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # then it finds none, and takes other memory
            got = stack.enter_context(host.more_hugepages(16))
            if got < 16:
                pytest.skip(f"{got} of 16 hugepages could be reserved")
        yield


@pytest.mark.skipif(TGTD is None or shutil.which("iscsi-test-cu") is None, reason="no target, or no initiator")
@pytest.mark.parametrize("place", PLACES)
def test_iser(place, tmp_path):
    """The target reads what is written from the initiator's memory, and writes there what is read."""
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(8 << 20))
    url = f"iser://ADDRESS:3260/{TARGET}/1"
    with hugepages_of_its_own(), HOSTS[place](tmp_path) as (server, client):
        # Its other portal would be in the way of the one for iSER, its socket in that of other targets.
        control = {"TGT_IPC_SOCKET": f"{tmp_path}/tgtd"}
        with serving(f"env TGT_IPC_SOCKET={tmp_path}/tgtd {TGTD} -f --iscsi portal=127.0.0.1:3299 --iser pool_sz_mb=16",
                     server, client) as terminal:

            def tell(*words):
                return subprocess.run([TGTADM, "--lld", "iser", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env=dict(os.environ, **control), text=True, check=False)

            until(lambda: tell("--op", "new", "--mode", "target", "--tid", "1", "-T", TARGET).returncode == 0
                  or terminal.process.poll() is not None)
            for words in (f"--op new --mode logicalunit --tid 1 --lun 1 -b {disk}", "--op bind --mode target --tid 1 -I ALL",
                          f"--op bind --mode target --tid 1 -Q {INITIATOR}"):
                done = tell(*words.split())
                assert done.returncode == 0, done.stdout + terminal.text
            at = url.replace("ADDRESS", server.address)
            status, text = run_client(client.argv("iscsi-readcapacity16", "-i", INITIATOR, at))
            assert status == 0 and f"Total size:{8 << 20}" in text, text + terminal.text
            # Patterns are written, changed by the target, and read back. Not .Async: with its many commands at once libiscsi
            # 1.19 has no descriptor left, and ends by SIGSEGV.
            status, text = run_client(client.argv("iscsi-test-cu", "-i", INITIATOR, "-d", "-t", "SCSI.OrWrite", at))
            assert status == 0 and re.search(r"^ +asserts +(\d{4}) +\1 +\1 +0 ", text, re.M), text + terminal.text
            status, text = run_client(client.argv("iscsi-perf", "-i", INITIATOR, "-m", "16", "-b", "128", "-t", "1", at))
            assert status == 0 and re.search("iops average [1-9]", text), text + terminal.text
