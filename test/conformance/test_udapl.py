# SPDX-License-Identifier: BSD-3-Clause
"""uDAPL's test programs, unmodified, over its providers of verbs: connected by librdmacm (cma), by TCP (scm)."""
import shutil

import pytest
from harness.places import HOSTS, run_both

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
