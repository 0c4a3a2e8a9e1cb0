# SPDX-License-Identifier: BSD-3-Clause
"""The burst functions with Neon: built for arm64, their unit tests on an emulated CPU."""
import subprocess

import pytest
from harness import paths

pytestmark = pytest.mark.long
NEON = paths.ROOT / "devtools/neon"
# The others of devtools/neon take minutes on an emulated CPU.
TESTS = ["simd", "rx_error", "tx_mseg", "tx_tso"]


def neon(*arguments):
    return subprocess.run([NEON, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=600)


@pytest.fixture(scope="module")
def built():
    done = neon("build", *TESTS)
    if done.returncode == 3:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", TESTS)
def test_bursts_on_arm64(built, name):
    done = neon(name)
    assert done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout
