# SPDX-License-Identifier: BSD-3-Clause
"""Daemons of Debian that devtools/setup has unpacked, not installed."""
import subprocess

from . import paths


def _directory():
    try:
        version = subprocess.run(["pkg-config", "--modversion", "libdpdk"], stdout=subprocess.PIPE, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        version = "none"
    return paths.ROOT / ".deps" / f"daemons-{version.strip()}"


def find(path):
    """A file of theirs, /usr/sbin/tgtd for example, or None."""
    file = _directory() / path.lstrip("/")
    return file if file.exists() else None
