# SPDX-License-Identifier: BSD-3-Clause
"""What queue pairs with a transport send, as Wireshark's InfiniBand dissector reads it.

Wireshark shows the invariant CRC and does not check it, so it is computed here, bit by bit after annexes A16.4.4 and
A17.4.5.2 of the InfiniBand specification, and compared with what the dissector takes for it.
"""
import pathlib
import shutil
import struct
import subprocess
import zlib

import pytest
from harness import card as cards
from harness import places
from harness.both import MACS, run_both
from harness.recorder import Recorder

TSHARK = shutil.which("tshark")
pytestmark = pytest.mark.skipif(TSHARK is None, reason="no tshark")

GRH, ETHERNET, UDP, BTH = 40, 14, 8, 12
# Cards send a UDP checksum of 0 over IPv6, too, as RFC 6935 allows for tunnels.
OPTIONS = ["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]
FIELDS = ["infiniband.bth.opcode", "infiniband.invariant.crc", "infiniband.bth.padcnt", "infiniband.bth.p_key"]

# No message and no rest of one has 1 or 2 bytes: Wireshark takes the first two of a payload for an EtherType if two zeros follow, as
# the pad does there, and of random ones some are that of a protocol for which the frame is malformed.
RC_SEND, RC_WRITE, RC_ACK = {0, 1, 2, 4}, {6, 7, 8, 10}, {17}
# name: programs, opcodes on the wire
CASES = {
    "RC send": ([("ibv_rc_pingpong", "-n", "5")], RC_SEND - {4} | RC_ACK),
    "RC write": ([("ib_write_bw", "-F", "-n", "5", "-s", "5001"), ("ib_write_bw", "-F", "-n", "5", "-s", "3")], RC_WRITE | RC_ACK),
    "RC read": ([("ib_read_bw", "-F", "-n", "5", "-s", "5001"), ("ib_read_bw", "-F", "-n", "5", "-s", "6")], {12, 13, 14, 15, 16}),
    "RC atomics": ([("ib_atomic_bw", "-F", "-n", "5", "-A", "CMP_AND_SWAP"), ("ib_atomic_bw", "-F", "-n", "5")], {18, 19, 20}),
    "UC": ([("ibv_uc_pingpong", "-n", "5"), ("ib_write_bw", "-c", "UC", "-F", "-n", "5", "-s", "2053")],
           {0x20, 0x21, 0x22, 0x26, 0x27, 0x28}),
    "XRC": ([("ib_send_bw", "-c", "XRC", "-F", "-n", "5", "-s", "5001"), ("ib_send_bw", "-c", "XRC", "-F", "-n", "5", "-s", "7")],
            {0xa0, 0xa1, 0xa2, 0xa4, 0xb1}),
    "UD": ([("ibv_ud_pingpong", "-n", "5", "-s", "1023"), ("ib_send_bw", "-c", "UD", "-F", "-n", "5", "-s", "1024")], {0x64}),
}


def invariant_crc(frame):
    """Of a frame of RoCE v1, or of v2 over IPv6: what changes on the way counts as ones."""
    is_v2 = frame[12:14] == b"\x86\xdd"
    header = bytearray(frame[ETHERNET:ETHERNET + GRH])
    header[0] |= 0x0f
    header[1:4] = b"\xff\xff\xff"
    header[7] = 0xff
    rest = bytearray(frame[ETHERNET + GRH:-4])
    if is_v2:
        rest[6:8] = b"\xff\xff"
    rest[(UDP if is_v2 else 0) + 4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + header + rest))


def dissect(path, wanted):
    """Of each frame: the layers, and the fields as text."""
    fields = [word for field in ("frame.protocols", *wanted) for word in ("-e", field)]
    lines = subprocess.run([TSHARK, "-n", "-r", path, *OPTIONS, "-T", "fields", *fields], check=True, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()
    return [line.split("\t") for line in lines]


def experts(path):
    """What Wireshark finds wrong."""
    return subprocess.run([TSHARK, "-n", "-r", path, *OPTIONS, "-q", "-z", "expert,warn"], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()


def record(programs, gid, tmp_path):
    wires = [tmp_path / "one", tmp_path / "other"]
    with cards.up(f"wire=unix:{wires[0]},mac={MACS[0]}") as one, cards.up(f"wire=unix:{wires[1]},mac={MACS[1]}") as other:
        recorder = Recorder(wires)
        try:
            for argv in programs:
                option = "-g" if argv[0].startswith("ibv") else "-x"
                for who, status, text in run_both([*argv, option, gid], [(one, "mlx5_0"), (other, "mlx5_0")]):
                    assert status == 0, (argv, who, text)
        finally:
            recorder.close()
    recorder.write(tmp_path / "capture")
    return recorder.frames, str(pathlib.Path(tmp_path / "capture"))


# The two versions differ below the BTH, the cases from there on.
@pytest.mark.parametrize("case, gid", [
    pytest.param(case, gid, id=f"{case}-v{int(gid) + 1}", marks=[pytest.mark.long] if gid == "0" and case != "UD" else [])
    for case in CASES for gid in ("0", "1")])
def test_dissected(case, gid, tmp_path):
    programs, opcodes = CASES[case]
    frames, path = record(programs, gid, tmp_path)
    rows = dissect(path, FIELDS)
    assert len(rows) == len(frames) > 5 and experts(path) == ""
    for frame, (layers, opcode, crc, pads, pkey) in zip(frames, rows):
        assert layers.startswith("eth:ethertype:ipv6:udp:infiniband" if gid == "1" else "eth:ethertype:infiniband"), layers
        assert int(opcode, 0) in opcodes and int(pkey, 0) == 0xffff, (opcode, pkey)
        # Wireshark 4.0 does not know XRC's extended header, and shows nothing behind the BTH.
        assert crc or case == "XRC", opcode
        assert bytes.fromhex(crc.removeprefix("0x") or frame[-4:].hex()) == frame[-4:] == invariant_crc(frame), (opcode, crc)
        # Payload is padded to words (9.2.6): all is, from the BTH to the CRC.
        assert (len(frame) - ETHERNET - GRH - (UDP if gid == "1" else 0)) % 4 == 0 and int(pads, 0) < 4
    assert {int(row[1], 0) for row in rows} == opcodes


def test_what_is_wrong_is_found(tmp_path):
    """A turned bit changes what the CRC must be."""
    frames, _ = record([("ibv_ud_pingpong", "-n", "5")], "1", tmp_path)
    bad = bytearray(frames[0])
    bad[ETHERNET + GRH + UDP + BTH + 20] ^= 1
    assert invariant_crc(bytes(bad)) != frames[0][-4:] == invariant_crc(frames[0])


# IBTA 12.6: messages of connections, by their attributes.
REQ, MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18
CM_CLASS, SEND = 7, 3
CM_FIELDS = ["infiniband.mad.mgmtclass", "infiniband.mad.method", "infiniband.mad.attributeid", "infiniband.bth.destqp",
             "infiniband.deth.q_key"]


def test_connections(tmp_path):
    """A client that is refused, one that connects and disconnects, and one that asks for a queue pair of datagrams."""
    wires = [tmp_path / "one", tmp_path / "other"]
    with cards.up(f"wire=unix:{wires[0]},mac={MACS[0]}") as one, cards.up(f"wire=unix:{wires[1]},mac={MACS[1]}") as other:
        server, client = places.End(one, places.GIDS[0]), places.End(other, places.GIDS[1])
        recorder = Recorder(wires)
        try:
            status, text = places.run_client(client.argv(*places.fill("rping -c -a ADDRESS -I SOURCE -p PORT", server, client)),
                                             lambda status, text: status != 0)
            assert "REJECTED" in text, (status, text)
            for words in (("rping -s -a ADDRESS -p PORT -C 3", "rping -c -a ADDRESS -I SOURCE -p PORT -C 3"),
                          ("udaddy -b ADDRESS -c 1 -C 3", "udaddy -s ADDRESS -b SOURCE -c 1 -C 3")):
                for who, status, text in places.run_both(words, server, client):
                    assert status == 0, (who, text)
        finally:
            recorder.close()
    recorder.write(tmp_path / "capture")
    path = str(tmp_path / "capture")
    assert experts(path) == ""
    rows = [row for row in dissect(path, CM_FIELDS) if row[1]]
    attributes = [int(row[3], 0) for row in rows]
    assert all([int(row[i], 0) for i in (1, 2, 4, 5)] == [CM_CLASS, SEND, 1, 0x80010000] for row in rows), rows
    assert all(frame[-4:] == invariant_crc(frame) for frame in recorder.frames)
    # Each for the first time: a slow machine repeats some, and asks for patience (MRA).
    assert [attribute for attribute in dict.fromkeys(attributes) if attribute != MRA] == [
        REQ, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP]
