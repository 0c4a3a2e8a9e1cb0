# SPDX-License-Identifier: BSD-3-Clause
"""What the installed UCX was built with."""
import pathlib

import pytest

# Debian testing's 1.23.0~rc1-1 comes without.
needs_verbs = pytest.mark.skipif(not any(pathlib.Path("/usr/lib").glob("*/ucx/libuct_ib.so*")),
                                 reason="the installed UCX was built without verbs")
