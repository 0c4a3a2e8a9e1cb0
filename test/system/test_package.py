# SPDX-License-Identifier: BSD-3-Clause
"""devtools/package: Debian packages that lintian finds nothing wrong with, unpacked and used without a build tree."""
import os
import re
import subprocess

import pytest
from harness import paths
from harness.testpmd import eal_prefix, lcore_args, remove_runtime_dir

pytestmark = pytest.mark.long

WANTED = {
    "librte-net-mlx5dv": [r"/usr/lib/[^/]+/dpdk/pmds-[\d.]+/librte_net_mlx5dv\.so", "/usr/share/man/man7/net_mlx5dv.7.gz"],
    "librte-net-mlx5dv-dev": ["/usr/include/rte_pmd_mlx5dv.h", "/usr/lib/[^/]+/pkgconfig/librte_net_mlx5dv.pc"],
    "mlx5dv-tools": ["/usr/bin/mlx5dv-check", "/usr/share/man/man1/mlx5dv-check.1.gz", "/usr/libexec/mlx5dv/rxtx-bench",
                     "/usr/libexec/mlx5dv/flow-bench", r"/usr/libexec/mlx5dv/loop-meter\.so"],
    "softhca": ["/usr/bin/softhca", r"/usr/lib/[^/]+/softhca/libsofthca\.so", "/usr/share/man/man1/softhca.1.gz",
                "/usr/share/bash-completion/completions/softhca",
                *(f"/usr/share/softhca/models/{model}.model" for model in ("cx4lx", "cx5", "cx6dx", "lean"))],
}
# A plugin with a burst function for each set of offloads and width of vectors has 1.6 MB today (doc/design/fastpath.md, "What the
# instances weigh").
PLUGIN_BYTES = 1700000


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, check=True, **options).stdout


@pytest.fixture(scope="module", name="packages")
def fixture_packages(tmp_path_factory):
    """{name: file}"""
    directory = tmp_path_factory.mktemp("packages")
    done = subprocess.run([paths.ROOT / "devtools/package", directory], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0 and not re.search("^[EW]: ", done.stdout, re.M), done.stdout
    return {file.name.split("_")[0]: file for file in directory.glob("*.deb")}


def test_who_publishes_is_named_as_given(tmp_path):
    named = {"DEBFULLNAME": "R&D / \\Ops", "DEBEMAIL": "ops@example.org"}
    run(paths.ROOT / "devtools/package", "--source", tmp_path, env=dict(os.environ, **named))
    described = next(tmp_path.glob("*.dsc")).read_text()
    assert "\nMaintainer: R&D / \\Ops <ops@example.org>\n" in described


@pytest.fixture(scope="module", name="root")
def fixture_root(packages, tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    for name in WANTED:
        run("dpkg-deb", "-x", packages[name], root)
    return root


@pytest.mark.parametrize("name", WANTED)
def test_what_is_in_it(packages, name):
    files = [line.split(None, 5)[5][1:] for line in run("dpkg-deb", "-c", packages[name]).splitlines()
             if not line.startswith("d")]
    files = [file for file in files if not file.startswith("/usr/share/doc/")]
    assert len(files) == len(WANTED[name])
    assert all(any(re.fullmatch(pattern, file) for file in files) for pattern in WANTED[name]), files


def test_debug_symbols_are_apart(packages, root):
    assert {"librte-net-mlx5dv-dbgsym", "mlx5dv-tools-dbgsym", "softhca-dbgsym"} <= packages.keys()
    plugin = next(root.glob("usr/lib/*/dpdk/*/librte_net_mlx5dv.so"))
    assert plugin.stat().st_size < PLUGIN_BYTES
    assert ".debug_info" not in run("readelf", "-S", plugin)


def test_both_work_without_a_build_tree(root):
    """Installed, the EAL finds the driver by itself; here it is named, as it lies elsewhere."""
    prefix = eal_prefix()
    plugin = next(root.glob("usr/lib/*/dpdk/*/librte_net_mlx5dv.so"))
    try:
        text = run(root / "usr/bin/softhca", "run", "--port", "wire=loop", "--", "dpdk-testpmd", *lcore_args("0,1"), "--no-huge",
                   "-m", "128", "--no-pci", "--no-telemetry", "--file-prefix", prefix, "-d", plugin.name, "--vdev",
                   "net_mlx5dv0,ibdev=mlx5_0", "--", "--total-num-mbufs=4096", "--tx-first", "--no-lsc-interrupt",
                   timeout=120, input="\n", env=dict(os.environ, LD_LIBRARY_PATH=str(plugin.parent)))
    finally:
        remove_runtime_dir(prefix)
    assert "Port 0 is closed" in text, text


def test_the_check_works_without_a_build_tree(root):
    plugin = next(root.glob("usr/lib/*/dpdk/*/librte_net_mlx5dv.so"))
    text = run(root / "usr/bin/softhca", "run", "--port", "wire=pair:a", "--port", "wire=pair:a", "--",
               root / "usr/bin/mlx5dv-check", "--ibdev", "mlx5_0", "--peer", "mlx5_1", "--packets", "1000", "--", "--no-huge",
               "-m", "256", "-d", plugin.name, timeout=120, env=dict(os.environ, LD_LIBRARY_PATH=str(plugin.parent)))
    assert re.search(r"^\d+ passed, 0 failed, 6 not there, \d+ experiments$", text, re.M), text


def test_pages_are_what_help_and_guide_say(root):
    page = run("gzip", "-dc", root / "usr/share/man/man1/softhca.1.gz").replace("\\-", "-")
    said = run(root / "usr/bin/softhca", "help")
    for key in re.findall(r"^  (\w+=\S+)$", said, re.M):
        assert f".B {key}" in page
    page = run("gzip", "-dc", root / "usr/share/man/man7/net_mlx5dv.7.gz")
    guide = (paths.ROOT / "doc/guides/nics/mlx5dv.rst").read_text(encoding="utf-8")
    arguments = re.findall(r"^   \* - ``(\w+)``$", guide, re.M)
    rows = (paths.ROOT / "drivers/net/mlx5dv/device/devargs.c").read_text(encoding="utf-8")
    assert set(arguments) == set(re.findall(r'^\t(?:NAME|PORT|CHOICE|BYTES|INLINE)\("(\w+)"', rows, re.M))
    assert all(argument in page for argument in arguments)
    page = run("gzip", "-dc", root / "usr/share/man/man1/mlx5dv-check.1.gz").replace("\\-", "-")
    said = run(root / "usr/bin/mlx5dv-check", "--help")
    options = re.findall(r"^  (--\w+)", said, re.M)
    assert len(options) > 5 and all(option in page for option in options)
