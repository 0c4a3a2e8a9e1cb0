# SPDX-License-Identifier: BSD-3-Clause
"""TCP segmentation offload: what is on the wire, compared segment by segment with what the RFCs say."""
import struct

import pytest
from harness import frames, pcapfile
from harness.segments import ACK, CWR, FIN, GRE, PSH, Stack, body, eth, ethertype, ip, tcp
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
RX_SCATTER, TX_MULTI_SEGS = 0x2000, 0x8000
VXLAN_PORT = 4789
TIMESTAMPS = struct.pack("!BBBBII", 1, 1, 8, 10, 0x11223344, 0x55667788)


def plain(size, version=4, vlan=None, ident=0x1234, host=1, **of_tcp):
    return Stack([eth(ethertype(version), vlan), ip(version, frames.TCP, ident, host), tcp(**of_tcp)],
                 body(size, size))


def vxlan(size, outer=4, inner=4, **of_tcp):
    return Stack([eth(ethertype(outer)), ip(outer, frames.UDP, 0xFFF0, 2),
                  ("udp", struct.pack("!HHHH", 50000, VXLAN_PORT, 0, 0)),
                  ("vxlan", struct.pack("!II", 0x08000000, 42 << 8)),
                  eth(ethertype(inner)), ip(inner, frames.TCP), tcp(**of_tcp)], body(size, size))


def gre(size, outer=4, inner=4, **of_tcp):
    return Stack([eth(ethertype(outer)), ip(outer, GRE, 7, 2), ("gre", struct.pack("!HH", 0, ethertype(inner))),
                  ip(inner, frames.TCP), tcp(**of_tcp)], body(size, size))


def plain_traffic(mss):
    everything = FIN | PSH | ACK | CWR
    for version in (4, 6):
        for size in (0, 100, mss - 1, mss, mss + 1, 2 * mss - 1, 2 * mss, 2 * mss + 1, 5 * mss + 17, 8900):
            yield plain(size, version, flags=everything)
        yield plain(3 * mss, version, vlan=5, flags=everything)
        yield plain(3 * mss + 5, version, options=TIMESTAMPS, flags=PSH | ACK)
        yield plain(3 * mss + 5, version, options=b"\1" * 40, flags=FIN | ACK)
        yield plain(4 * mss, version, ident=0xFFFE, seq=0xFFFFFFFF - mss, flags=everything)
    for i in range(40):
        yield plain(300 + 211 * i, 4 + 2 * (i % 2), host=i + 1, sport=6000 + i, seq=i << 24, flags=everything)


def tunnel_traffic(mss):
    for make in (vxlan, gre):
        for outer in (4, 6):
            for inner in (4, 6):
                for size in (100, mss, mss + 1, 3 * mss, 8000):
                    yield make(size, outer, inner, flags=FIN | PSH | ACK | CWR, options=TIMESTAMPS)


def forward(tmp_path, sent, commands, args=(), model="cx5", count=1, vdevs=None):
    """What testpmd's csum engine sends, `count` frames, having received `sent`; and its statistics."""
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, [stack.bytes().ljust(60, b"\0") for stack in sent])
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC},model={model}"], vdevs=vdevs,
                 args=["--disable-device-start", "--max-pkt-len=9018", *args]) as pmd:
        for command in commands:
            answer = pmd.cmd(command)
            # What other tunnels there are is a warning.
            assert "rror" not in answer and " is not supported" not in answer, (command, answer)
        pmd.cmd("set fwd csum")
        answer = pmd.cmd("port start 0")
        assert "ail" not in answer, answer
        mode = pmd.cmd("show txq info 0 0")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= count)
        pmd.cmd("stop")
        stats = pmd.stats()
        return pcapfile.wait(result, count), stats, mode


def check(got, sent, mss, stats):
    """All frames but their MAC addresses, which the engine sets, are those of the reference, in order."""
    expected = [segment.bytes().ljust(60, b"\0") for stack in sent for segment in stack.segments(mss)]
    for i, (have, want) in enumerate(zip(got, expected)):
        assert have[12:] == want[12:], f"frame {i}\nhave {have.hex()}\nwant {want.hex()}"
    assert len(got) == len(expected)
    assert stats["TX-packets"] == len(expected)
    assert stats["TX-errors"] == 0
    # As on the wire, but for what the port pads.
    cut = [[segment.bytes() for segment in stack.segments(mss)] for stack in sent]
    assert stats["TX-bytes"] == sum(sum(map(len, c)) if len(c) > 1 else max(60, len(c[0])) for c in cut)


CSUMS = ["csum set ip hw 0", "csum set tcp hw 0", "csum set udp hw 0"]
SCATTER = ["--rxd=4096", f"--rx-offloads={RX_SCATTER:#x}", f"--tx-offloads={TX_MULTI_SEGS:#x}"]


@pytest.mark.parametrize("mss,mbuf,model", [(800, 9300, "cx5"), (536, 768, "cx5"), (1460, 2176, "cx4lx")])
def test_segments_are_those_of_the_rfcs(tmp_path, mss, mbuf, model):
    sent = list(plain_traffic(mss))
    args = [f"--mbuf-size={mbuf}", *(SCATTER if mbuf < 9300 else [])]
    count = sum(len(list(stack.segments(mss))) for stack in sent)
    got, stats, mode = forward(tmp_path, sent, CSUMS + [f"tso set {mss} 0"], args, model, count)
    check(got, sent, mss, stats)
    assert "tso" in mode, mode


@pytest.mark.parametrize("mbuf,inline", [(9300, 204), (768, 924)])
def test_segments_beside_packets_that_are_inlined(tmp_path, mbuf, inline):
    """Short packets are copied into WQEs between those of long ones, which the device cuts."""
    sent = list(plain_traffic(800))
    args = [f"--mbuf-size={mbuf}", *(SCATTER if mbuf < 9300 else [])]
    count = sum(len(list(stack.segments(800))) for stack in sent)
    got, stats, mode = forward(tmp_path, sent, CSUMS + ["tso set 800 0"], args, "cx5", count,
                               [f"net_mlx5dv0,ibdev=mlx5_0,mode=dv,tx_inline={inline}"])
    check(got, sent, 800, stats)
    assert ", tso, inline" in mode, mode


@pytest.mark.parametrize("mbuf,model", [(9300, "cx5"), (768, "cx4lx")])
def test_segments_in_tunnels(tmp_path, mbuf, model):
    sent = list(tunnel_traffic(800))
    args = [f"--mbuf-size={mbuf}", *(SCATTER if mbuf < 9300 else [])]
    commands = CSUMS + ["csum set outer-ip hw 0", "csum parse-tunnel on 0", "tunnel_tso set 800 0"]
    count = sum(len(list(stack.segments(800))) for stack in sent)
    got, stats, _ = forward(tmp_path, sent, commands, args, model, count)
    check(got, sent, 800, stats)


def test_without_the_offload_it_is_not_offered_to_packets(tmp_path):
    """No TSO asked for: another burst function, and frames longer than the MTU are not made shorter."""
    sent = [plain(3000)]
    got, _, mode = forward(tmp_path, sent, CSUMS, ["--mbuf-size=9300"])
    assert "tso" not in mode
    assert [frame[12:] for frame in got] == [sent[0].bytes()[12:]]
