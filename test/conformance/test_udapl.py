# SPDX-License-Identifier: BSD-3-Clause
"""uDAPL's test programs, unmodified, over its providers of verbs: connected by librdmacm (cma), by TCP (scm)."""
import shutil

import pytest
from harness.places import HOSTS, run_both, run_client, serving

pytestmark = pytest.mark.skipif(shutil.which("dtest") is None, reason="dapl2-utils is not installed")

PROVIDERS = '''cma u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "{netdev} 0" ""
scm u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "mlx5_0 1" ""
'''
# dtest moves much data; dtestx writes with immediate data and has atomics.
PROGRAMS = {"dtest -b 20000 -B 20": "DAPL Test Complete. PASSED", "dtestx": "immed/atomic test PASSED", "dtestsrq": "DAPL RC SRQ Test Complete."}


def with_providers(end, directory):
    file = directory / f"{end.namespace}.conf"
    file.write_text(PROVIDERS.format(netdev=end.netdev))
    return f"env DAT_OVERRIDE={file}"


@pytest.mark.parametrize("place", ["one host", pytest.param("bridge", marks=pytest.mark.long)])
# Not dtestx by scm: seen once on a busy machine, its wait ended early (DAT_SUB_INTERRUPTED), and it with that.
@pytest.mark.parametrize("program, provider", [("dtest -b 20000 -B 20", "cma"), ("dtestx", "cma"), ("dtestsrq", "cma"),
                                               pytest.param("dtest -b 20000 -B 20", "scm", marks=pytest.mark.long)])
def test_program(program, provider, place, tmp_path):
    with HOSTS[place](tmp_path) as (server, client):
        command = f"{program} -P {provider}"
        words = f"{with_providers(server, tmp_path)} {command}", f"{with_providers(client, tmp_path)} {command} -h ADDRESS"
        for side, status, text in run_both(words, server, client):
            assert status == 0 and PROGRAMS[program] in text, (side, text)


# dapltest's: transactions (threads, endpoints of each, who does what: sends, RDMA reads and writes; -P polls, -V compares), and
# performance (blocking, polling). The last one ends the server. TO: who that is.
ROWS = [
    "-T T TO -i 100 -t 1 -w 1 -R BE client SR 256 1 server SR 256 1",
    "-T T TO -i 50 -t 2 -w 2 -R BE client SR 256 1 server RW 4096 1 server SR 256 1",
    "-T T TO -i 50 -t 1 -w 4 -V -P -R BE client SR 1024 3 server RR 1536 2 server SR 1024 1",
    "-T T TO -i 20 -t 4 -w 8 -R BE client SR 256 1 server RW 4096 1 server SR 256 1 client SR 256 1 server RR 4096 1 server SR 256 1",
    "-T P TO -i 200 -p 10 -m p RW 4096 2",
    "-T P TO -i 200 -p 1 -m b RW 4096 2",
    "-T P TO -i 200 -p 10 -m p RR 4096 2",
    "-T Q TO",
]


def test_dapltest(tmp_path):
    with HOSTS["one host"](tmp_path) as (server, client):
        dapltest = f"{with_providers(server, tmp_path)} dapltest"
        with serving(f"{dapltest} -T S -D cma", server, client) as terminal:
            terminal.expect("Service Point Ready", 0)
            for row in ROWS:
                status, text = run_client(client.argv(*dapltest.split(), *row.replace("TO", f"-D cma -s {server.address}").split()))
                assert status == 0, (row, text)
            assert terminal.wait() == 0, terminal.text
