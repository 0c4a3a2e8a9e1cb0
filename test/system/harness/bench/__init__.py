# SPDX-License-Identifier: BSD-3-Clause
"""Parts of devtools/bench-*: what is measured, counted and shown."""
