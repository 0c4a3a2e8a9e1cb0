# SPDX-License-Identifier: BSD-3-Clause
"""Frames that lie in the device's memory: the example that keeps templates there, and the installed header."""
import os
import subprocess

import pytest
from harness import frames, paths, pcapfile
from harness.program import run_on_softhca
from harness.shared import hugepages_at
from harness.testpmd import default_vdevs, eal_args, eal_prefix, remove_runtime_dir

LENGTHS = [60, 124, 252, 508, 1020, 1514]
HEADERS = 42
COUNT = 100


def run_example(port, *words):
    prefix = eal_prefix()
    # It is linked with the driver, so needs no -d.
    arguments = eal_args(prefix, default_vdevs([port]), lcores="0", memory=64)
    at = arguments.index("-d")
    del arguments[at:at + 2]
    program = paths.BUILD / "app" / "examples" / "dm-templates"
    try:
        return run_on_softhca([str(program), *arguments, "--", *map(str, words)], [port])
    finally:
        remove_runtime_dir(prefix)


def send(tmp_path, model, *words):
    path = tmp_path / "sent.pcap"
    status, text = run_example(f"wire=pcap::{path},model={model}", frames.PORT_MAC, COUNT, *words)
    assert status == 0 and f"sent: {COUNT}, errors: 0" in text, text
    assert "6 templates in 3520 bytes of device memory" in text
    return pcapfile.read(path)


@pytest.mark.parametrize("model", ["cx5", "cx6dx"])
@pytest.mark.parametrize("words", [(), ("numbered",)], ids=["whole", "numbered"])
def test_templates_are_sent_in_turn(tmp_path, model, words):
    sent = send(tmp_path, model, *words)
    assert len(sent) == COUNT
    for number, frame in enumerate(sent):
        i = number % len(LENGTHS)
        assert len(frame) == LENGTHS[i]
        assert frame[:6] == frames.mac(frames.PORT_MAC) and frame[12:14] == b"\x08\x00"
        assert int.from_bytes(frame[18:20], "big") == (number if words else 0)
        assert frames.checksum(frame[14:34]) == 0
        assert frame[HEADERS:] == bytes((k + i) & 0xFF for k in range(HEADERS, LENGTHS[i]))


def test_a_device_without_memory_is_named():
    status, text = run_example("wire=null,model=cx4lx", frames.PORT_MAC, 1)
    assert status == 1
    assert "mlx5_0 has no memory of its own to give" in text and "rte_pmd_mlx5dv_dm_alloc: Operation not supported" in text


def test_usage():
    status, text = run_example("wire=null", "02:00", 1)
    assert status == 1 and "usage: dm-templates" in text


def test_a_secondary_process_sends_what_lies_there(tmp_path):
    """And refuses what it would have to read; with the last mbuf of a port that is gone, the memory goes."""
    (tmp_path / "huge").mkdir()
    sent, prefix = tmp_path / "sent.pcap", eal_prefix()
    program = paths.BUILD / "test" / "ethdev" / "ethdev-dm-shared"
    with hugepages_at(tmp_path / "huge") as huge:
        try:
            status, text = run_on_softhca([str(program), "-l", "0", "--huge-dir", str(huge), "-m", "64", "--no-pci",
                                           "--no-telemetry", "--file-prefix", prefix,
                                           "--vdev", "net_mlx5dv0,ibdev=mlx5_0"], [f"wire=pcap::{sent}"])
        finally:
            remove_runtime_dir(prefix)
    assert status == 0 and "sent: 40, errors: 40" in text, text
    whole, *others = pcapfile.read(sent)
    assert others == [whole] * 39
    assert whole[:6] == b"\xff" * 6 and frames.checksum(whole[14:34]) == 0
    assert whole[54:] == bytes(range(54, 200))


PROGRAM = r"""
#include <rte_pmd_mlx5dv.h>
#include <stdio.h>
int main(void)
{
    size_t size;
    printf("%d\n", rte_pmd_mlx5dv_dm_max(0, &size));
    return rte_pmd_mlx5dv_dm_free(NULL);
}
"""


def test_a_program_is_built_with_what_is_installed(tmp_path):
    installed = tmp_path / "installed"
    subprocess.run(["meson", "install", "-C", paths.BUILD, "--no-rebuild", "--quiet", "--destdir", installed], check=True)
    config, = installed.rglob("librte_net_mlx5dv.pc")

    def ask(*words):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(config.parent))
        return subprocess.run(["pkg-config", *words, "librte_net_mlx5dv"], env=environment, check=True,
                              capture_output=True, text=True).stdout.split()
    prefix, = ask("--variable=prefix")
    compile_flags, link_flags = ([flag.replace(f"{prefix}/", f"{installed}{prefix}/") for flag in ask(what)]
                                 for what in ("--cflags", "--libs"))
    compile_flags += ["-Wall", "-Werror", "-DALLOW_EXPERIMENTAL_API"]
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", tmp_path / "program.c", "-o", tmp_path / "program", *compile_flags, *link_flags], check=True)
    done = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True)
    assert done.stdout == "-19\n"
    # And by programs in C++.
    subprocess.run(["clang", "-x", "c++", "-fsyntax-only", tmp_path / "program.c", *compile_flags], check=True)
