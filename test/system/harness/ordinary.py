# SPDX-License-Identifier: BSD-3-Clause
"""Programs run by an ordinary user: a tree that every user may read, and single capabilities."""
import contextlib
import os
import pathlib
import shutil
import tempfile

from . import paths

NOBODY = 65534


class PublicTree:
    """Copies of the runner, its library and the plugin, and a runtime directory of the user's.

    Only root may write to the plugin's directories: the EAL refuses plugins from others.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.softhca = self.path / "bin" / paths.SOFTHCA.name
        self.plugin = self.path / "lib" / paths.PLUGIN.name
        self.runtime = self.path / "runtime"
        for directory in (self.softhca.parent, self.plugin.parent, self.runtime):
            directory.mkdir(mode=0o755)
        os.chown(self.runtime, NOBODY, NOBODY)
        shutil.copy(paths.SOFTHCA, self.softhca)
        shutil.copy(paths.BUILD / "lib" / "libsofthca.so", self.plugin.parent)
        shutil.copy(paths.PLUGIN, self.plugin)

    def as_nobody(self, command, capabilities=()):
        """`command` as run by a user with exactly these capabilities."""
        caps = ",".join(f"+{name}" for name in capabilities)
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                *([f"--inh-caps={caps}", f"--ambient-caps={caps}"] if caps else []),
                "env", f"XDG_RUNTIME_DIR={self.runtime}", *map(str, command)]


@contextlib.contextmanager
def public_tree():
    path = tempfile.mkdtemp(dir="/run")
    try:
        os.chmod(path, 0o755)
        yield PublicTree(path)
    finally:
        shutil.rmtree(path)
