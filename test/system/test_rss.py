# SPDX-License-Identifier: BSD-3-Clause
"""RSS: hash and queue of every frame equal those computed here from key and redirection table."""
import re

import pytest
from harness import frames, pcapfile
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
ARGS = ["--rx-offloads=0x80000", "--disable-device-start"]


def flows(count, proto=frames.UDP, version=4):
    made = []
    for i in range(count):
        src = f"10.1.{i // 250}.{i % 250 + 1}" if version == 4 else f"fd00::{i + 1:x}"
        made.append((src, 1024 + i * 7, 2000 + i * 3))
    return [(frames.packet(proto, version, sport, dport, src=src),
             (version, src, "10.0.0.1" if version == 4 else "fd00::1", sport, dport))
            for src, sport, dport in made]


def hash_key(pmd):
    text = pmd.cmd("show port 0 rss-hash key")
    return bytes.fromhex(re.search(r"RSS key:\s*([0-9A-Fa-f]{80})", text).group(1))


def reta(pmd):
    size = int(pmd.info()["Redirection table size"])
    groups = (size + 63) // 64
    masks = ",".join(["0xffffffffffffffff" if size >= 64 else hex((1 << size) - 1)] * groups)
    text = pmd.cmd(f"show port 0 rss reta {size} ({masks})")
    table = dict((int(i), int(q)) for i, q in re.findall(r"index=(\d+), queue=(\d+)", text))
    assert len(table) == size, text
    return [table[i] for i in range(size)]


def receive(pmd, count):
    start = pmd.show_received()
    got = pmd.wait_received(count, start)
    pmd.cmd("stop")
    return got


def check(pmd, got, expected_inputs):
    """Every frame has the hash of its fields and sits in the queue the table gives it."""
    key, table = hash_key(pmd), reta(pmd)
    expected = sorted((frames.toeplitz(key, frames.rss_input(*fields)),
                       table[frames.toeplitz(key, frames.rss_input(*fields)) % len(table)])
                      for fields in expected_inputs)
    assert sorted((seen["hash"], seen["queue"]) for seen in got) == expected
    return {queue for _, queue in expected}


def port(tmp_path, made):
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, [frame for frame, _ in made])
    return f"wire=pcap:{capture},pace=0,mac={MAC}"


@pytest.mark.parametrize("version", [4, 6])
def test_udp_ports_take_part(tmp_path, version):
    made = flows(128, frames.UDP, version)
    with Testpmd(ports=[port(tmp_path, made)],
                 args=["--rxq=4", "--txq=4", "--rss-udp", *ARGS]) as pmd:
        pmd.cmd("port start 0")
        got = receive(pmd, len(made))
        assert len(check(pmd, got, [inputs for _, inputs in made])) == 4


def test_tcp_ports_take_part_when_asked(tmp_path):
    made = flows(64, frames.TCP)
    with Testpmd(ports=[port(tmp_path, made)],
                 args=["--rxq=4", "--txq=4", *ARGS]) as pmd:
        answer = pmd.cmd("port config all rss tcp")
        assert "rror" not in answer, answer
        pmd.cmd("port start 0")
        got = receive(pmd, len(made))
        check(pmd, got, [inputs for _, inputs in made])


def test_addresses_only_when_asked(tmp_path):
    """rss ip: ports do not take part."""
    made = flows(64)
    with Testpmd(ports=[port(tmp_path, made)],
                 args=["--rxq=4", "--txq=4", "--rss-ip", *ARGS]) as pmd:
        pmd.cmd("port start 0")
        got = receive(pmd, len(made))
        check(pmd, got, [inputs[:3] for _, inputs in made])


def test_three_queues(tmp_path):
    """A number of queues that is no power of two."""
    made = flows(128)
    with Testpmd(ports=[port(tmp_path, made)],
                 args=["--rxq=3", "--txq=3", "--rss-udp", *ARGS]) as pmd:
        pmd.cmd("port start 0")
        got = receive(pmd, len(made))
        assert check(pmd, got, [inputs for _, inputs in made]) == {0, 1, 2}


def test_reta_update_moves_all_to_one_queue(tmp_path):
    made = flows(64)
    with Testpmd(ports=[port(tmp_path, made)],
                 args=["--rxq=4", "--txq=4", "--rss-udp", "--flow-isolate-all"]) as pmd:
        # Isolated ports have no default RSS: leave that mode before the frames start.
        pmd.cmd("port stop 0")
        pmd.cmd("flow isolate 0 0")
        size = int(pmd.info()["Redirection table size"])
        for at in range(0, size, 32):
            part = ",".join(f"({i},2)" for i in range(at, min(at + 32, size)))
            answer = pmd.cmd(f"port config 0 rss reta {part}")
            assert "rror" not in answer, answer
        pmd.cmd("port start 0")
        assert set(reta(pmd)) == {2}
        got = receive(pmd, len(made))
        assert {seen["queue"] for seen in got} == {2}


def test_hash_key_update(tmp_path):
    made = flows(64)
    key = "".join(f"{(i * 37 + 11) & 255:02x}" for i in range(40))
    with Testpmd(ports=[port(tmp_path, made)],
                 args=["--rxq=4", "--txq=4", "--rss-udp", *ARGS]) as pmd:
        answer = pmd.cmd(f"port config 0 rss-hash-key ipv4-udp {key}")
        assert "rror" not in answer, answer
        pmd.cmd("port start 0")
        assert hash_key(pmd).hex() == key
        got = receive(pmd, len(made))
        check(pmd, got, [inputs for _, inputs in made])


def test_frames_without_ip_go_to_the_first_queue(tmp_path):
    odd = [frames.ether(b"not ip", 0x88B5) for _ in range(8)]
    capture = tmp_path / "in.pcap"
    pcapfile.write(capture, odd)
    with Testpmd(ports=[f"wire=pcap:{capture},mac={MAC}"],
                 args=["--rxq=4", "--txq=4", *ARGS]) as pmd:
        pmd.cmd("port start 0")
        got = receive(pmd, len(odd))
        assert len(got) == len(odd)
        assert len({seen["queue"] for seen in got}) == 1


def test_wrong_reta_entries_are_refused():
    with Testpmd(args=["--rxq=4", "--txq=4"]) as pmd:
        before = reta(pmd)
        answer = pmd.cmd("port config 0 rss reta (0,9)")
        assert "bad" in answer.lower() or "rror" in answer or "invalid" in answer.lower(), answer
        assert reta(pmd) == before
