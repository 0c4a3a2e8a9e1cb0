# SPDX-License-Identifier: BSD-3-Clause
"""Flow rules over stop and start, which testpmd would flush: packets before, while it is stopped, and after."""
import os
import re

import pytest
from harness import frames, paths, pcapfile
from harness.cable import Cable
from harness.terminal import Terminal
from harness.testpmd import eal_args, eal_prefix, remove_runtime_dir, softhca_argv

pytestmark = pytest.mark.sanitized

LAST = 1999
STARTS = 3
# UDP destination port: how many packets are sent to it in each phase.
SENT = {1000: 3, 1001: 2, 1002: 16, 1003: 4, 1004: 2, 1005: 3, 1006: 2}
# Destination port: queues that receive each packet, and its mark. RSS takes one of its two.
TAKEN = {1000: {(1, 5)}, 1001: {(2, -1), (3, -1), (0, -1)}, 1003: set(), 1004: {(1, -1), (3, -1)}, 1005: {(2, -1)},
         1006: {(0, -1)}}
# Whose packets each rule counts, in the order of the program's rows; the last two share their COUNT.
COUNTED = [[1000], [1001], [1001], [1002], [1003], [1004, 1005], [1004, 1005]]
BYTES = 60


def packets():
    return [frames.packet(dport=port, sport=2000 + i) for port, nb in SENT.items() for i in range(nb)]


def received(text):
    """{(destination port, source port): [(queue, mark)]}"""
    found = {}
    for port, source, queue, mark in re.findall(r"port (\d+) from (\d+): queue (\d+) mark (-?\d+)", text):
        found.setdefault((int(port), int(source)), []).append((int(queue), int(mark)))
    return found


def check_received(found):
    """Each packet where its rules say, once; the hash's choice is returned."""
    for port, nb in SENT.items():
        for source in range(2000, 2000 + nb):
            where = found.pop((port, source), [])
            if port == 1002:
                assert len(where) == 1 and where[0][0] in (2, 3), (port, source, where)
                found.setdefault("hash", []).append(where[0][0])
            else:
                assert sorted(where) == sorted(TAKEN[port]), (port, source, where)
    choice = found.pop("hash")
    assert not found
    assert set(choice) == {2, 3}
    return choice


def check_counts(text, phases):
    expected = [phases * sum(SENT[port] for port in ports) for ports in COUNTED]
    counts = re.findall(r"count of rule \d+: (\d+) packets (\d+) bytes", text)
    assert [(int(hits), int(size)) for hits, size in counts] == [(hits, hits * BYTES) for hits in expected], text
    assert re.findall(r"shared count: (\d+) packets", text) == [str(expected[-1])], text


def test_rules_survive_stop_and_start(tmp_path):
    wire, kernel, prefix = tmp_path / "wire", tmp_path / "kernel.pcap", eal_prefix()
    ports = [f"wire=unix:{wire},kernel=pcap:{kernel},mac={frames.PORT_MAC}"]
    command = [str(paths.BUILD / "test/ethdev/ethdev-restart"),
               *eal_args(prefix, ["net_mlx5dv0,ibdev=mlx5_0"], lcores="0", memory=128)]
    program = Terminal(softhca_argv(ports, command), env=dict(os.environ, **paths.plugin()[1]))
    given_to_linux, choices, at = 0, [], 0
    try:
        with Cable(wire) as cable:
            for start in range(1, STARTS + 1):
                at = program.expect("started\n", at).end()
                cable.send(*packets(), frames.packet(dport=LAST))
                end = program.expect("stopped\n", at).end()
                choices.append(check_received(received(program.text[at:end])))
                check_counts(program.text[at:end], start)
                at = end
                # What comes now is Linux's, all of it.
                assert len(pcapfile.read(kernel)) == given_to_linux
                cable.send(*packets())
                given_to_linux += len(packets())
                assert len(pcapfile.wait(kernel, given_to_linux)) == given_to_linux
                assert pcapfile.read(kernel)[-len(packets()):] == packets()
                program.send("\n")
                end = program.expect(r"shared count: .*?\n", at).end()
                check_counts(program.text[at:end], start)
                at = end
            assert program.wait() == 0, program.text
    finally:
        program.close()
        remove_runtime_dir(prefix)
    assert choices == [choices[0]] * STARTS
