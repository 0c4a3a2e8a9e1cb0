# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's example programs, as its source package has them, built against the installed library."""
import shutil
import subprocess

from . import paths

SOURCES = sorted((paths.ROOT / ".deps").glob("dpdk-*/source/examples"))


class Examples:
    """Builds them in `directory`, each once, by their own Makefiles with this level of optimization."""

    def __init__(self, directory, level):
        self.tree = directory
        shutil.copytree(SOURCES[-1], directory, dirs_exist_ok=True)
        for makefile in directory.rglob("Makefile"):
            makefile.write_text(makefile.read_text(encoding="ascii").replace("-O3", level), encoding="ascii")

    def build(self, name, program=None):
        """The path of an example's program."""
        path = self.tree / name / "build" / (program or name)
        if not path.exists():
            done = subprocess.run(["make", "-C", self.tree / name, "shared"], text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert done.returncode == 0, done.stdout
        return path
