# SPDX-License-Identifier: BSD-3-Clause
"""The oracles themselves: hash and checksums against published vectors, captures against tcpdump's rules."""
import pytest

from harness import frames, pcapfile
from harness.terminal import Terminal, torn_pattern
from harness.testpmd import PROMPT, Testpmd, parse_verbose

# The key and the first vector of Microsoft's "Verifying the RSS hash calculation".
KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")


def test_toeplitz():
    assert frames.toeplitz(KEY, frames.rss_input(4, "66.9.149.187", "161.142.100.80", 2794, 1766)) \
        == 0x51CCC178
    assert frames.toeplitz(KEY, frames.rss_input(4, "66.9.149.187", "161.142.100.80")) == 0x323E8FC2
    assert frames.toeplitz(KEY, frames.rss_input(
        6, "3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766)) == 0x40207D3D


def test_checksum():
    # RFC 1071, section 3: 0001 f203 f4f5 f6f7 sums to ddf2.
    assert frames.checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF ^ 0xDDF2
    assert frames.checksums(frames.packet()) == (True, True)
    assert frames.checksums(frames.packet(version=6, proto=frames.TCP)) == (None, True)
    assert frames.checksums(frames.packet(ip_checksum=1)) == (False, True)
    assert frames.checksums(frames.packet(l4_checksum=1, vlan=3)) == (True, False)


def test_captures(tmp_path):
    sent = [frames.packet(data=bytes(i)) for i in range(10)]
    pcapfile.write(tmp_path / "a.pcap", sent)
    assert pcapfile.read(tmp_path / "a.pcap") == sent
    cut = (tmp_path / "a.pcap").read_bytes()[:-1]
    (tmp_path / "b.pcap").write_bytes(cut)
    assert pcapfile.read(tmp_path / "b.pcap") == sent[:-1]


def test_verbose_parser():
    text = ("port 0/queue 2: received 1 packets\n"
            "  src=02:00:00:00:00:99 - dst=02:00:00:00:00:10 - pool=mb_pool_0 - type=0x0800 - length=60"
            " - nb_segs=1 - RSS hash=0xabc - RSS queue=0x2 - FDIR matched ID=0x7 - VLAN tci=0x64"
            " - hw ptype: L2_ETHER L3_IPV4  - sw ptype: L2_ETHER  - l2_len=14 - Receive queue=0x2\n"
            "  ol_flags: RTE_MBUF_F_RX_RSS_HASH RTE_MBUF_F_RX_FDIR_ID \n")
    packet, = parse_verbose(text)
    assert (packet["queue"], packet["hash"], packet["mark"], packet["tci"]) == (2, 0xABC, 7, 0x64)
    assert packet["flags"] == {"RSS_HASH", "FDIR_ID"} and packet["hw_ptype"] == "L2_ETHER L3_IPV4"


def test_a_packet_is_shown_with_its_flags():
    """They are in a line of their own, between which testpmd may lose its CPU."""
    pmd = Testpmd.__new__(Testpmd)
    pmd.terminal = Terminal(["sh", "-c", "printf 'port 0/queue 2: received 1 packets\\n  src=02:00:00:00:00:99 - dst=02:00:00:00:00:10\\n'; "
                             "sleep 0.5; printf '  ol_flags: RTE_MBUF_F_RX_RSS_HASH \\n'; sleep 1"])
    try:
        packet, = pmd.wait_received(1, 0)
        assert packet["flags"] == {"RSS_HASH"}
    finally:
        pmd.terminal.close()


@pytest.mark.parametrize("printed,text", [
    ("t|mlx5dv: a\\n|estpmd> ", "mlx5dv: a\ntestpmd> "),
    ("testpmd>|mlx5dv: a\\nmlx5dv: b\\n| ", "mlx5dv: a\nmlx5dv: b\ntestpmd> "),
    ("testpmd> start\\n RX\\n|te|\\nPort 0: link\\n|stpmd> ", "testpmd> start\n RX\n\nPort 0: link\ntestpmd> "),
    ("testpmd> set fwd io\\n  io\\n|testpmd> ", "testpmd> set fwd io\n  io\ntestpmd> "),
])
def test_lines_in_a_prompt(printed, text):
    """What other threads print while the prompt is being printed comes before it."""
    parts = "; sleep 0.05; ".join(f"printf '{part}'" for part in printed.split("|"))
    terminal = Terminal(["sh", "-c", parts], prompt=PROMPT)
    try:
        assert terminal.wait() == 0
        assert terminal.text == text
    finally:
        terminal.close()


def test_a_prompt_torn_by_two_findings_of_another_process():
    """A keeper's report and what comes of it, 9 lines, were seen within a prompt."""
    lines = "".join(f"softhca: line {number}\n" for number in range(9))
    torn = torn_pattern("testpm", "d> ").search(f"Done\ntestpm{lines}d> ")
    assert torn and torn.group(1) == lines
