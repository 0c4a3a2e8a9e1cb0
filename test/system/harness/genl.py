# SPDX-License-Identifier: BSD-3-Clause
"""The generic netlink family "ethtool" without a library: messages to bytes and back, for scripts below softhca run."""
import socket
import struct

NETLINK_GENERIC, NETLINK_EXT_ACK = 16, 11
REQUEST, ACK, DUMP, NESTED = 1, 4, 0x300, 0x8000
ERROR, DONE = 2, 3
CHANNELS_GET, CHANNELS_SET, PAUSE_GET, LINKSTATE_GET = 17, 18, 21, 6
FEATURES_GET, FEATURES_SET, STRSET_GET = 11, 12, 1
COMPACT = 1


def attr(kind, payload):
    if isinstance(payload, int):
        payload = struct.pack("=I", payload)
    elif isinstance(payload, str):
        payload = payload.encode() + b"\0"
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def nest(kind, *inner):
    return attr(kind | NESTED, b"".join(inner))


def pairs_of(payload):
    """(type, payload) of each attribute, nests as bytes."""
    while len(payload) >= 4:
        length, kind = struct.unpack_from("=HH", payload)
        yield kind & ~NESTED, payload[4:length]
        payload = payload[(length + 3) & ~3:]


def attrs_of(payload):
    return dict(pairs_of(payload))


def word(payload):
    return struct.unpack("=I", payload)[0]


def header(netdev, flags=0):
    return nest(1, *([attr(2, netdev)] if netdev else []), *([attr(3, flags)] if flags else []))


def message(family, command, *attributes, flags=REQUEST | ACK, seq=7):
    payload = struct.pack("=BBH", command, 1, 0) + b"".join(attributes)
    return struct.pack("=IHHII", 16 + len(payload), family, flags, seq, 0) + payload


def split(datagram):
    """(type, flags, sequence number, port, payload) of each message."""
    while len(datagram) >= 16:
        length, *fields = struct.unpack_from("=IHHII", datagram)
        yield (*fields, datagram[16:length])
        datagram = datagram[(length + 3) & ~3:]


def open_socket():
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    opened.setsockopt(270, NETLINK_EXT_ACK, 1)
    opened.bind((0, 0))
    return opened


def family_of(opened, name="ethtool"):
    """The family's number, or None."""
    opened.send(message(16, 3, attr(2, name)))
    kind, _, _, _, payload = next(split(opened.recv(65536)))
    if kind == ERROR:
        return None
    opened.recv(65536)
    return struct.unpack("=H", attrs_of(payload[4:])[1])[0]


def answers(opened):
    """All messages up to the end of an answer."""
    found = []
    while not found or found[-1][0] not in (ERROR, DONE):
        found += split(opened.recv(65536))
    return found


def refusal(answer):
    """(errno, why) of an acknowledgement."""
    kind, flags, _, _, payload = answer
    assert kind == ERROR, answer
    error, length = struct.unpack_from("=iI", payload)
    behind = 20 + (0 if flags & 0x100 else (length + 3 & ~3) - 16)
    why = attrs_of(payload[behind:]).get(1, b"") if flags & 0x200 else b""
    return -error, why.rstrip(b"\0").decode()
