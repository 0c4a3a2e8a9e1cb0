# SPDX-License-Identifier: BSD-3-Clause
"""Models as files: what their lines say, and files like those of the tree."""
from harness import paths

FILES = paths.ROOT / "lib/softhca/config/models"


def keys_of(path):
    lines = [line.split("#")[0] for line in path.read_text().splitlines()]
    return {key.strip(): value.strip() for key, value in (line.split("=") for line in lines if line.strip())}


def changed(tmp_path, lines, model="cx5"):
    """A file like that of the tree, with `lines` in place of what has their keys."""
    keys = {**keys_of(FILES / f"{model}.model"), **lines}
    path = tmp_path / "changed.model"
    path.write_text("".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None))
    return path
