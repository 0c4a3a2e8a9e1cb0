# SPDX-License-Identifier: BSD-3-Clause
"""The raw Ethernet programs of app/examples, which know no softhca, on captures."""
import re
import struct

import pytest
from harness import frames, paths, pcapfile
from harness.program import run_on_softhca

MAC = frames.PORT_MAC
MODELS = ["cx5", "cx4lx", "cx6dx"]


def run(port, *command):
    program = str(paths.BUILD / "app" / "examples" / command[0])
    return run_on_softhca([program] + [str(word) for word in command[1:]], [port])


def send(tmp_path, *words, count=3, model="cx5"):
    path = tmp_path / "sent.pcap"
    status, text = run(f"wire=pcap::{path},model={model}", "raw-send", "mlx5_0", MAC, count, *words)
    assert status == 0, text
    return pcapfile.read(path)


def ip_payload(frame, offset, version):
    """Checks the checksums of an IP/UDP frame; (IP header, UDP payload)."""
    ip = frame[offset:]
    header, rest = (ip[:20], ip[20:]) if version == 4 else (ip[:40], ip[40:])
    if version == 4:
        assert frames.checksum(header) == 0
        pseudo = header[12:20] + struct.pack("!BBH", 0, 17, len(rest))
    else:
        pseudo = header[8:40] + struct.pack("!II", len(rest), 17)
    assert frames.checksum(pseudo + rest) == 0
    return header, rest[8:]


@pytest.mark.parametrize("model", MODELS)
def test_send(tmp_path, model):
    sent = send(tmp_path, model=model)
    assert len(sent) == 3
    for frame in sent:
        assert len(frame) == 128 and frame[:6] == frames.mac(MAC) and frame[12:14] == b"\x08\x00"
        ip_payload(frame, 14, 4)


def test_send_what_is_asked_for(tmp_path):
    tagged, = send(tmp_path, "vlan", 5, count=1)
    assert tagged[12:16] == b"\x81\x00\x00\x05"
    ip_payload(tagged, 18, 4)
    tos, = send(tmp_path, "tos", 32, count=1)
    assert ip_payload(tos, 14, 4)[0][1] == 32
    labelled, = send(tmp_path, "label", 77, count=1)
    assert ip_payload(labelled, 14, 6)[0][:4] == b"\x60\x00\x00\x4d"
    tunnelled, = send(tmp_path, "vni", 42, count=1)
    assert ip_payload(tunnelled, 14, 4)[1][:8] == b"\x08\0\0\0\0\0\x2a\0"


def receive(tmp_path, captured, *words, count=2, model="cx5"):
    """The lengths of the frames that it prints."""
    path = tmp_path / "in.pcap"
    pcapfile.write(path, captured)
    status, text = run(f"wire=pcap:{path},model={model}", "raw-receive", "mlx5_0", MAC, count, *words)
    assert status == 0, text
    return [int(line.split()[2]) for line in text.splitlines() if line.startswith("frame ")]


def vxlan(vni):
    inner = frames.ether(b"", 0x88B5)
    return frames.packet(dport=4789, data=struct.pack("!II", 0x08000000, vni << 8) + inner)


def label(number):
    """An IPv6 frame with a flow label."""
    frame = bytearray(frames.packet(version=6, data=bytes(number)))
    frame[14:18] = struct.pack("!I", 6 << 28 | number)
    return bytes(frame)


# What the rule is told, frames that it must pass over, and one that it takes.
MATCHES = [
    ((), [frames.packet(eth_dst=frames.PEER_MAC, data=bytes(200))], frames.packet(data=bytes(100))),
    (("vlan", 5), [frames.packet(data=bytes(200)), frames.packet(vlan=6, data=bytes(200))],
     frames.packet(vlan=0x6005, data=bytes(100))),
    (("tos", 32), [frames.packet(data=bytes(200)), frames.packet(tos=33, data=bytes(200))],
     frames.packet(tos=32, data=bytes(100))),
    (("label", 77), [label(78), frames.packet(data=bytes(200))], label(77)),
    (("vni", 42), [vxlan(43), frames.packet(dport=4788, data=bytes(200))], vxlan(42)),
]


@pytest.mark.parametrize("words, others, wanted", MATCHES, ids=lambda value: value and str(value[0])[:5])
def test_receive_what_is_asked_for(tmp_path, words, others, wanted):
    captured = others + [wanted] + others + [wanted] + others
    assert receive(tmp_path, captured, *words) == [len(wanted)] * 2


@pytest.mark.parametrize("model", MODELS)
def test_dont_trap_leaves_the_frames_to_linux(tmp_path, model):
    captured = [frames.packet(data=bytes(20 + i)) for i in range(3)]
    pcapfile.write(tmp_path / "in.pcap", captured)
    port = f"wire=pcap:{tmp_path}/in.pcap,kernel=pcap:{tmp_path}/kernel.pcap,mac={MAC},model={model}"
    status, text = run(port, "raw-dont-trap", "mlx5_0", MAC, 3)
    assert status == 0 and "seen, not taken: 3 frames" in text, text
    assert pcapfile.wait(tmp_path / "kernel.pcap", 3) == captured


@pytest.mark.parametrize("model", MODELS)
def test_a_sniffer_sees_all(tmp_path, model):
    """Frames for others, too; Linux gets what it would have got."""
    captured = [frames.packet(eth_dst=mac, data=bytes(20 + i)) for i, mac in enumerate((MAC, frames.PEER_MAC, MAC))]
    pcapfile.write(tmp_path / "in.pcap", captured)
    port = f"wire=pcap:{tmp_path}/in.pcap,kernel=pcap:{tmp_path}/kernel.pcap,mac={MAC},model={model}"
    status, text = run(port, "raw-dont-trap", "mlx5_0", "sniffer", 3)
    assert status == 0 and "seen, not taken: 3 frames" in text, text
    assert [int(line.split()[2]) for line in text.splitlines() if line.startswith("frame ")] == [len(one) for one in captured]
    assert pcapfile.wait(tmp_path / "kernel.pcap", 2) == captured[::2]


@pytest.mark.parametrize("model", MODELS)
def test_tso(tmp_path, model):
    status, text = run(f"wire=pcap::{tmp_path}/out.pcap,model={model}", "raw-tso", "mlx5_0", MAC, 5000, 1460)
    assert status == 0 and "5000 bytes in 4 segments" in text, text
    payload = b""
    for i, frame in enumerate(pcapfile.read(tmp_path / "out.pcap")):
        ip, tcp = frame[14:34], frame[34:]
        assert struct.unpack("!H", ip[2:4])[0] == len(frame) - 14
        assert struct.unpack("!H", ip[4:6])[0] == 1 + i and frames.checksum(ip) == 0
        assert frames.checksum(ip[12:20] + struct.pack("!BBH", 0, 6, len(tcp)) + tcp) == 0
        assert struct.unpack("!I", tcp[4:8])[0] == 1000 + len(payload)
        assert tcp[13] == (0x18 if i == 3 else 0x10)
        payload += tcp[20:]
    assert payload == bytes(i % 256 for i in range(5000))


@pytest.mark.parametrize("command", [
    ("raw-send",), ("raw-send", "mlx5_0", "02:00", 1), ("raw-send", "mlx5_0", MAC, "many"),
    ("raw-send", "mlx5_0", MAC, 1, "colour", 1), ("raw-receive", "mlx5_0", MAC, 1, "vlan", 4096),
    ("raw-receive", "mlx5_0", MAC, 1, "colour", 1), ("raw-dont-trap", "mlx5_0"),
    ("raw-dont-trap", "mlx5_0", "snif", 1), ("raw-tso", "mlx5_0", MAC, 0, 1)])
def test_usage(command):
    status, text = run("wire=null", *command)
    assert status == 1 and f"usage: {command[0]} DEVICE" in text, text


def test_device_that_is_not_there():
    status, text = run("wire=null", "raw-send", "mlx5_7", MAC, 1)
    assert status == 1 and "mlx5_7: No such device" in text, text


@pytest.mark.parametrize("model", ["cx5", "cx6dx"])
def test_device_memory(tmp_path, model):
    path = tmp_path / "sent.pcap"
    status, text = run(f"wire=pcap::{path},model={model}", "raw-dm", "mlx5_0", MAC, 3)
    assert status == 0, text
    frame = bytes.fromhex(MAC.replace(":", "") + "02000000009988b5") + bytes(range(14, 64))
    assert pcapfile.read(path) == [frame] * 3


@pytest.mark.parametrize("rate", [2000, 40000])
def test_pacing(tmp_path, rate):
    """The device is never faster; how much slower depends on what else the machine does."""
    path = tmp_path / "sent.pcap"
    status, text = run(f"wire=pcap::{path}", "raw-paced", "mlx5_0", MAC, 20, rate)
    assert status == 0, text
    measured = re.search(rf"^20 frames of 1000 bytes: (\d+) of {rate} kbit/s$", text, re.M)
    assert measured and 0 < int(measured[1]) <= rate, text
    assert len(pcapfile.read(path)) == 20


def test_no_pacing_without_a_rate():
    status, text = run("wire=null", "raw-paced", "mlx5_0", MAC, 20, 0)
    assert status != 0 and "raw-paced DEVICE" in text
