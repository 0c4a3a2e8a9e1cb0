# SPDX-License-Identifier: BSD-3-Clause
"""Every command block of the documentation runs, and prints the lines that it shows.

In a `console` block the shell runs a line after "$ ", and the testpmd that the last such line started gets a line
after "testpmd> "; the other lines must appear in the output in this order, spaces aside, where "..." stands for
anything.
"""
import re
import shlex
import shutil
import stat
import subprocess

import pytest
from harness import paths
from harness.terminal import Terminal
from harness.testpmd import Testpmd, eal_prefix

FILES = ["README.md", "CONTRIBUTING.md"] + sorted(
    path.relative_to(paths.ROOT).as_posix() for path in (paths.ROOT / "doc").glob("**/*")
    if path.suffix in (".rst", ".md"))

# Commands that a test run consists of: running them from within would not end.
RUN_ELSEWHERE = {
    "./devtools/setup": "the first step of devtools/test",
    "./devtools/test": "this very run",
    "./devtools/check": "a step of devtools/test",
    "./devtools/demo": "test/system/test_demo.py",
    "ninja -C build": "the second step of devtools/test",
    "meson test -C build": "a step of devtools/test",
    "/usr/bin/python3 -m pytest test/system/test_probe.py": "a part of this run",
}


def blocks_of(name):
    """(line number, text) of each console block."""
    text = (paths.ROOT / name).read_text()
    found = []
    if name.endswith(".md"):
        for match in re.finditer(r"^```console\n(.*?)^```", text, re.M | re.S):
            found.append((text.count("\n", 0, match.start()) + 1, match.group(1)))
        return found
    pattern = r"^( *)\.\. code-block:: console\n\n((?:\1   .*\n|\s*\n)+)"
    for match in re.finditer(pattern, text + "\n", re.M):
        indent = len(match.group(1)) + 3
        block = "\n".join(line[indent:] for line in match.group(2).splitlines()).strip("\n")
        found.append((text.count("\n", 0, match.start()) + 1, block + "\n"))
    return found


def steps_of(block):
    """[(prompt, command, [expected lines])] of a block."""
    steps = []
    for line in block.splitlines():
        for prompt in ("$ ", "# ", "testpmd> "):
            if line.startswith(prompt):
                steps.append((prompt.strip(), line[len(prompt):].strip(), []))
                break
        else:
            if line.strip():
                assert steps, f"a console block begins with a command: {line}"
                steps[-1][2].append(line)
    return steps


def expect_lines(text, lines, command):
    squeezed, at = re.sub(r"\s+", " ", text), 0
    for line in lines:
        parts = [re.escape(re.sub(r"\s+", " ", part.strip())) for part in line.split("...")]
        match = re.search(r".*?".join(parts), squeezed[at:])
        assert match, f"{command}\nshould say, here or later: {line}\nbut says:\n{text[-4000:]}"
        at += match.end()


class Shown(Testpmd):
    """The testpmd of a documented command line, which the shell runs as typed; only its --file-prefix is added."""

    def __init__(self, command, cwd):  # pylint: disable=super-init-not-called
        self.prefix = eal_prefix()
        command = command.replace("dpdk-testpmd ", f"dpdk-testpmd --file-prefix {self.prefix} ", 1)
        self.terminal = Terminal(["bash", "-c", command], cwd=cwd)
        self.banner = ""
        self.status = None


def installed(command):
    """The command as the guide (mlx5dv.rst) tells those who have the packages."""
    command = command.replace("LD_LIBRARY_PATH=build/drivers ", "").replace("-d librte_net_mlx5dv.so", "")
    command = command.replace("lib/softhca/config/models", "/usr/share/softhca/models")
    return re.sub(r"build/app/(softhca|mlx5dv-check)\b", r"\1", command)


def is_for_installed(block):
    """Not so blocks with programs of the tree, which no package has."""
    return not any(re.search(r"(^|[ :])(build/|\./|(ninja|meson) )", installed(command).replace("./device.ctl", ""))
                   or command.startswith("/usr/bin/python3") for _, command, _ in steps_of(block))


def here(command):
    """The documentation says build/: the tests may run another build directory."""
    if paths.INSTALLED:
        return installed(command)
    return re.sub(r"(?<![\w./])build/", f"{paths.BUILD}/", command)


def run_block(block, cwd=paths.ROOT, here=here):
    pmd = None
    try:
        for prompt, command, lines in steps_of(block):
            if prompt == "testpmd>":
                assert pmd, f"no testpmd is running: {command}"
                expect_lines(pmd.cmd(command), lines, command)
            elif command in RUN_ELSEWHERE:
                assert not lines
            elif "dpdk-testpmd" in command and "-i" in shlex.split(command):
                assert pmd is None, "one testpmd a block"
                pmd = Shown(here(command), cwd)
                expect_lines(pmd.__enter__().banner, lines, command)
            else:
                done = subprocess.run(["bash", "-c", here(command)], cwd=cwd, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=600, check=False)
                assert done.returncode == 0, f"{command}\n{done.stdout}"
                expect_lines(done.stdout, lines, command)
        if pmd:
            pmd.quit()
    finally:
        if pmd:
            pmd.kill()


CASES = [(name, line, block) for name in FILES for line, block in blocks_of(name)
         if is_for_installed(block) or not paths.INSTALLED]


@pytest.mark.parametrize("block", [case[2] for case in CASES],
                         ids=[f"{name}:{line}" for name, line, _ in CASES])
def test_block_says_what_is_shown(block):
    run_block(block)


def test_the_guides_have_blocks():
    """Guards the extraction: if it broke, nothing would run and all would pass."""
    shown = {"README.md": 5, "CONTRIBUTING.md": 2, "doc/guides/softhca.rst": 3,
             "doc/guides/softhca_control.rst": 3, "doc/guides/softhca_models.rst": 2, "doc/guides/softhca_netdev.rst": 1,
             "doc/guides/softhca_programs.rst": 1, "doc/guides/softhca_rdma.rst": 2, "doc/guides/softhca_testing.rst": 3,
             "doc/guides/nics/mlx5dv.rst": 9,
             "doc/guides/nics/mlx5dv_counters.rst": 1, "doc/guides/nics/mlx5dv_flow.rst": 10,
             "doc/guides/nics/mlx5dv_performance.rst": 6, "doc/guides/nics/mlx5dv_processes.rst": 1}
    assert {name: len(blocks_of(name)) for name in shown} == shown
    for_installed = [block for name in FILES for _, block in blocks_of(name) if is_for_installed(block)]
    assert len(for_installed) == 36
    assert not any("build/" in installed(command) for block in for_installed for _, command, _ in steps_of(block))


@pytest.fixture(name="open_tree")
def fixture_open_tree(tmp_path):
    """The built tree as a clone below /tmp has it: everybody may write to a directory above it."""
    tree = tmp_path / "everybody" / "tree"
    for name in ("app", "lib", "drivers"):
        (tree / "build" / name).mkdir(parents=True)
    (tree / "build" / "app" / "examples").mkdir()
    examples = [paths.BUILD / "app" / "examples" / name for name in ("raw-receive", "raw-send")]
    for file in (paths.SOFTHCA, paths.BUILD / "lib" / "libsofthca.so", paths.PLUGIN, *examples):
        shutil.copy(file, tree / "build" / file.relative_to(paths.BUILD))
    tree.parent.chmod(stat.S_ISVTX | 0o777)
    return tree


def test_the_tour_works_below_a_directory_for_everybody(open_tree):
    for number, (_, block) in enumerate(blocks_of("README.md")[2:]):
        run_block(block, open_tree, lambda command: command)
    assert number == 2


def test_the_eal_refuses_a_path_below_such_a_directory(open_tree):
    """The reason for the bare name in the documentation's commands."""
    done = subprocess.run(["build/app/softhca", "run", "--", "dpdk-testpmd", "--no-huge", "-m", "64", "--no-pci",
                           "--file-prefix", eal_prefix(), "-d", "build/drivers/librte_net_mlx5dv.so"], cwd=open_tree,
                          text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode != 0 and "world-writable and insecure" in done.stdout + done.stderr


@pytest.mark.parametrize("name", FILES)
def test_commands_name_the_driver_so_that_any_tree_will_do(name):
    for _, block in blocks_of(name):
        for _, command, _ in steps_of(block):
            assert not re.search(r"-d \S*/", command), command


@pytest.mark.parametrize("name", FILES)
def test_linked_files_exist(name):
    text = (paths.ROOT / name).read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((paths.ROOT / name).parent / target).exists(), target
    for target in re.findall(r"``((?:doc|devtools|test|lib|app|drivers|config)/[\w./-]+)``", text):
        assert (paths.ROOT / target).exists(), target
