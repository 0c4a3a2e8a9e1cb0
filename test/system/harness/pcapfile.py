# SPDX-License-Identifier: BSD-3-Clause
"""Capture files of Ethernet frames (libpcap's format 2.4), written and read whole."""
import struct
import time

from .patience import PATIENCE

MAGIC_US = 0xA1B2C3D4
MAGIC_NS = 0xA1B23C4D
LINKTYPE_ETHERNET = 1


def write(path, frames, spacing_us=10, gap_us=0, gap_before=0):
    """Frames `spacing_us` apart, with `gap_us` more before the frame number `gap_before`."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", MAGIC_US, 2, 4, 0, 0, 65535, LINKTYPE_ETHERNET))
        for i, frame in enumerate(frames):
            when = i * spacing_us + (gap_us if i >= gap_before else 0)
            file.write(struct.pack("<IIII", when // 1000000, when % 1000000,
                                   len(frame), len(frame)))
            file.write(frame)


def read(path):
    """All whole frames; a record still being written is left out."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 24:
        return []
    order = "<" if struct.unpack("<I", data[:4])[0] in (MAGIC_US, MAGIC_NS) else ">"
    magic, linktype = struct.unpack(order + "I16xI", data[:24])
    assert magic in (MAGIC_US, MAGIC_NS) and linktype == LINKTYPE_ETHERNET, path
    frames, at = [], 24
    while at + 16 <= len(data):
        length = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        if at + 16 + length > len(data):
            break
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def wait(path, count, seconds=PATIENCE):
    """All frames, once there are `count` or `seconds` have passed: a port counts as sent what the device has
    yet to put on its wire."""
    end = time.monotonic() + seconds
    while True:
        frames = read(path)
        if len(frames) >= count or time.monotonic() > end:
            return frames
        time.sleep(0.05)
