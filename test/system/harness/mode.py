# SPDX-License-Identifier: BSD-3-Clause
"""The mode of the driver's ports: $MLX5DV_MODE (auto, dv or ibv), unless a test names one itself.

"foreign" is auto on devices that are not mlx5: test/foreign, preloaded into every program, hides that they are.
"""
import os
import re

from . import paths

FOREIGN = paths.BUILD / "test" / "foreign" / "foreign.so"

# Rx offloads that plain verbs does not report: checksums (IPv4, UDP, TCP) and the hash.
NOT_IN_VERBS = 0x2 | 0x4 | 0x8 | 0x80000


def is_foreign():
    return os.environ.get("MLX5DV_MODE") == "foreign"


def is_ibv():
    return os.environ.get("MLX5DV_MODE") == "ibv" or is_foreign()


def foreign():
    """The environment in which all devices are foreign."""
    preloaded = os.environ.get("LD_PRELOAD", "")
    return {"MLX5DV_MODE": "foreign", "LD_PRELOAD": f"{preloaded}:{FOREIGN}".lstrip(":")}


def vdev(text):
    """The --vdev argument with this mode, if it is of the driver and names no mode itself."""
    mode = os.environ.get("MLX5DV_MODE")
    if not mode or is_foreign() or not text.startswith("net_mlx5dv") or ",mode=" in text:
        return text
    return f"{text},mode={mode}"


def args(given):
    """testpmd's arguments, without the offloads that ports of this mode lack."""
    if not is_ibv():
        return list(given)
    return [re.sub(r"^(--rx-offloads=)(\w+)$",
                   lambda match: f"{match[1]}{int(match[2], 0) & ~NOT_IN_VERBS:#x}", arg) for arg in given]
