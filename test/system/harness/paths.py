# SPDX-License-Identifier: BSD-3-Clause
"""Where things are. MLX5DV_BUILD names another build directory than build/."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = (ROOT / os.environ.get("MLX5DV_BUILD", "build")).resolve()
SOFTHCA = BUILD / "app" / "softhca"
PLUGIN = BUILD / "drivers" / "librte_net_mlx5dv.so"
