# SPDX-License-Identifier: BSD-3-Clause
"""Checksum offloads both ways, compared with checksums computed here from the RFCs."""
import pytest
from harness import frames, pcapfile
from harness.rig import Rig
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
RX_CHECKSUM = 0xE
CASES = [
    # name, frame, IP flag, L4 flag; the device does not say "bad", only not "good"
    ("udp4", frames.packet(frames.UDP, 4), "GOOD", "GOOD"),
    ("tcp4", frames.packet(frames.TCP, 4), "GOOD", "GOOD"),
    ("udp6", frames.packet(frames.UDP, 6), None, "GOOD"),
    ("tcp6", frames.packet(frames.TCP, 6), None, "GOOD"),
    ("udp4 bad ip", frames.packet(frames.UDP, 4, ip_checksum=0x1111), "UNKNOWN", None),
    ("udp4 bad l4", frames.packet(frames.UDP, 4, l4_checksum=0x1111), "GOOD", "UNKNOWN"),
    ("tcp4 bad l4", frames.packet(frames.TCP, 4, l4_checksum=0x1111), "GOOD", "UNKNOWN"),
    ("tcp6 bad l4", frames.packet(frames.TCP, 6, l4_checksum=0x1111), None, "UNKNOWN"),
    ("udp6 bad l4", frames.packet(frames.UDP, 6, l4_checksum=0x1111), None, "UNKNOWN"),
    ("tagged udp4", frames.packet(frames.UDP, 4, vlan=5), "GOOD", "GOOD"),
    ("long udp4", frames.packet(frames.UDP, 4, data=bytes(range(256)) * 5), "GOOD", "GOOD"),
]


def test_receive_flags(tmp_path):
    with Rig(tmp_path, [f"--rx-offloads={RX_CHECKSUM:#x}"], queues=1) as rig:
        got = rig.deliver(*[case[1] for case in CASES])
    assert len(got) == len(CASES)
    for (name, frame, ip_flag, l4_flag), seen in zip(CASES, got):
        assert seen["length"] == len(frame), name
        if ip_flag:
            assert f"IP_CKSUM_{ip_flag}" in seen["flags"], (name, seen)
        if l4_flag:
            assert f"L4_CKSUM_{l4_flag}" in seen["flags"], (name, seen)
        assert not {"IP_CKSUM_BAD", "L4_CKSUM_BAD"} & seen["flags"], (name, seen)


def test_no_offload_claims_nothing(tmp_path):
    """Without the offload no packet is called good."""
    with Rig(tmp_path, [], queues=1) as rig:
        seen, = rig.deliver(frames.packet())
    assert not {"IP_CKSUM_GOOD", "L4_CKSUM_GOOD"} & seen["flags"], seen


@pytest.mark.parametrize("hardware", [True, False])
def test_send_fills_checksums_in(tmp_path, hardware):
    """testpmd's csum engine zeroes or precomputes the fields; on the wire they are right."""
    def wrong(**options):
        return frames.packet(l4_checksum=0x2222, **options)
    sent = [wrong(proto=proto, version=version, sport=i, data=bytes(range(i + 1)))
            for i in range(60) for proto in (frames.UDP, frames.TCP) for version in (4, 6)]
    sent += [frames.packet(ip_checksum=0x3333, sport=i) for i in range(10)]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"],
                 args=["--disable-device-start"]) as pmd:
        for layer in ("ip", "udp", "tcp"):
            answer = pmd.cmd(f"csum set {layer} {'hw' if hardware else 'sw'} 0")
            assert "not supported" not in answer, answer
        pmd.cmd("set fwd csum")
        pmd.cmd("port start 0")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        pmd.cmd("stop")
        pcapfile.wait(result, len(sent))
    got = pcapfile.read(result)
    assert len(got) == len(sent)
    for before, after in zip(sent, got):
        head_ok, l4_ok = frames.checksums(after)
        assert head_ok in (True, None) and l4_ok, (before.hex(), after.hex())
        assert before[34:36] == after[34:36] and len(before) == len(after)
