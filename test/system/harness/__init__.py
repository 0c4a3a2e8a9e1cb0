# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share: the programs under test on a terminal, frames, capture files, TAPs."""
