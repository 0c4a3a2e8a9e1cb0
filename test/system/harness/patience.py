# SPDX-License-Identifier: BSD-3-Clause
"""How long a test waits for the thing that it wants.

One bound for all waits, far beyond the need of a machine with many times the load: only a test that fails
waits so long. A time that a test measures, or waits to see that nothing comes, is the test's own.
"""

PATIENCE = 300  # seconds
