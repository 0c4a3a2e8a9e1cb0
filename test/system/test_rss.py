# SPDX-License-Identifier: BSD-3-Clause
"""RSS: hash and queue of every frame equal those computed here from key and redirection table."""
import re

import pytest
from harness import frames, mode
from harness.rig import RX_RSS_HASH, Rig
from harness.testpmd import Testpmd


def flows(count, proto=frames.UDP, version=4):
    made = []
    for i in range(count):
        src = f"10.1.{i // 250}.{i % 250 + 1}" if version == 4 else f"fd00::{i + 1:x}"
        made.append((src, 1024 + i * 7, 2000 + i * 3))
    return [(frames.packet(proto, version, sport, dport, src=src),
             (version, src, "10.0.0.1" if version == 4 else "fd00::1", sport, dport))
            for src, sport, dport in made]


def frames_of(made):
    return [frame for frame, _ in made]


def fields_of(made):
    return [fields for _, fields in made]


def hash_key(pmd):
    text = pmd.cmd("show port 0 rss-hash key")
    return bytes.fromhex(re.search(r"RSS key:\s*([0-9A-Fa-f]{80})", text).group(1))


def reta(pmd):
    size = int(pmd.info()["Redirection table size"])
    groups = (size + 63) // 64
    table = {}
    # A few groups of 64 at a time: a token of testpmd's prompt has 127 characters at most.
    for group in range(groups):
        masks = ",".join("0xffffffffffffffff" if i == group else "0" for i in range(groups))
        text = pmd.cmd(f"show port 0 rss reta {size} ({masks})")
        table.update((int(i), int(q)) for i, q in re.findall(r"index=(\d+), queue=(\d+)", text))
    assert len(table) == size, table
    return [table[i] for i in range(size)]


def check(pmd, got, expected_inputs):
    """Every frame sits in the queue that the table gives the hash of its fields, and tells the hash if it can."""
    key, table = hash_key(pmd), reta(pmd)
    hashes = [frames.toeplitz(key, frames.rss_input(*fields)) for fields in expected_inputs]
    expected = sorted((0 if mode.is_ibv() else value, table[value % len(table)]) for value in hashes)
    assert sorted((0 if mode.is_ibv() else seen["hash"], seen["queue"]) for seen in got) == expected
    return {queue for _, queue in expected}


def rss_bench(tmp_path, queues, args=(), setup=()):
    return Rig(tmp_path, [f"--rx-offloads={RX_RSS_HASH:#x}", *args], queues, setup=setup)


@pytest.mark.parametrize("version", [4, 6])
def test_udp_ports_take_part(tmp_path, version):
    made = flows(128, frames.UDP, version)
    with rss_bench(tmp_path, 4, ["--rss-udp"]) as rig:
        got = rig.deliver(*frames_of(made))
        assert len(check(rig.pmd, got, fields_of(made))) == 4


@pytest.mark.parametrize("version", [4, 6])
def test_tcp_ports_take_part_when_asked(tmp_path, version):
    made = flows(64, frames.TCP, version)
    with rss_bench(tmp_path, 4, setup=["port config all rss tcp"]) as rig:
        check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made))


def test_addresses_only_when_asked(tmp_path):
    """rss ip: ports do not take part."""
    made = flows(64)
    with rss_bench(tmp_path, 4, ["--rss-ip"]) as rig:
        check(rig.pmd, rig.deliver(*frames_of(made)), [fields[:3] for fields in fields_of(made)])


def test_types_changed_while_started(tmp_path):
    made = flows(32)
    with rss_bench(tmp_path, 4, ["--rss-ip"]) as rig:
        check(rig.pmd, rig.deliver(*frames_of(made)), [fields[:3] for fields in fields_of(made)])
        assert "rror" not in rig.pmd.cmd("port config all rss udp")
        check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made))


def test_three_queues(tmp_path):
    """A number of queues that is no power of two."""
    made = flows(128)
    with rss_bench(tmp_path, 3, ["--rss-udp"]) as rig:
        got = rig.deliver(*frames_of(made))
        assert check(rig.pmd, got, fields_of(made)) == {0, 1, 2}


def reta_commands(size, queue):
    return ["port config 0 rss reta " + ",".join(f"({i},{queue})" for i in range(at, at + 8))
            for at in range(0, size, 8)]


def test_reta_update_while_started(tmp_path):
    """The table is changed under way: what is received later goes by the new one."""
    made = flows(64)
    with rss_bench(tmp_path, 4, ["--rss-udp"]) as rig:
        assert len(check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made))) == 4
        for command in reta_commands(512, 2):
            answer = rig.pmd.cmd(command)
            assert "rror" not in answer and "Bad" not in answer, answer
        assert set(reta(rig.pmd)) == {2}
        assert check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made)) == {2}
        # It is still that table after a restart.
        for command in ("stop", "port stop 0", "port start 0", "start"):
            rig.pmd.cmd(command)
        assert check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made)) == {2}


def test_hash_key_update(tmp_path):
    made = flows(64)
    key = "".join(f"{(i * 37 + 11) & 255:02x}" for i in range(40))
    with rss_bench(tmp_path, 4, ["--rss-udp"],
                   [f"port config 0 rss-hash-key ipv4-udp {key}"]) as rig:
        assert hash_key(rig.pmd).hex() == key
        check(rig.pmd, rig.deliver(*frames_of(made)), fields_of(made))


def test_frames_without_ip_go_to_one_queue(tmp_path):
    odd = [frames.ether(b"not ip", 0x88B5) for _ in range(8)]
    with rss_bench(tmp_path, 4) as rig:
        got = rig.deliver(*odd)
        assert len(got) == 8 and len({seen["queue"] for seen in got}) == 1
        assert not any("RSS_HASH" in seen["flags"] for seen in got)


def test_wrong_reta_entries_are_refused():
    with Testpmd(args=["--rxq=4", "--txq=4"]) as pmd:
        before = reta(pmd)
        answer = pmd.cmd("port config 0 rss reta (0,9)")
        assert "bad" in answer.lower() or "rror" in answer or "invalid" in answer.lower(), answer
        assert reta(pmd) == before
