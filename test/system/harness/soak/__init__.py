# SPDX-License-Identifier: BSD-3-Clause
"""Four programs on one card for as long as one likes: devtools/soak."""
