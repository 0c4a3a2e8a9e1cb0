# SPDX-License-Identifier: BSD-3-Clause
"""Where things are. MLX5DV_BUILD names another build directory than build/; with MLX5DV_INSTALLED=yes they are where
devtools/package's packages put them."""
import os
import pathlib
import stat

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = (ROOT / os.environ.get("MLX5DV_BUILD", "build")).resolve()
INSTALLED = os.environ.get("MLX5DV_INSTALLED") == "yes"
SOFTHCA = BUILD / "app" / "softhca"
PLUGIN = BUILD / "drivers" / "librte_net_mlx5dv.so"
if INSTALLED:
    SOFTHCA = pathlib.Path("/usr/bin/softhca")
    PLUGIN = next(pathlib.Path("/usr/lib").glob("*/dpdk/pmds-*/librte_net_mlx5dv.so"))


def _is_below_a_directory_for_everybody(path):
    return any(parent.stat().st_mode & stat.S_IWOTH for parent in path.parents)


def plugin():
    """(what to give to -d, environment): the driver, also where the EAL refuses its path.

    The EAL loads nothing from below a directory that everybody may write to, as in a checkout below
    /tmp. A bare name it leaves to the dynamic linker.
    """
    if _is_below_a_directory_for_everybody(PLUGIN):
        search = [str(PLUGIN.parent)] + os.environ.get("LD_LIBRARY_PATH", "").split(":")
        return PLUGIN.name, {"LD_LIBRARY_PATH": ":".join(filter(None, search))}
    return str(PLUGIN), {}
