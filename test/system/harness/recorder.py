# SPDX-License-Identifier: BSD-3-Clause
"""A cable between two cards of unix wires that keeps a copy of each frame, as a capture."""
import selectors
import socket
import struct
import threading

LONGEST = 65536


class Recorder(threading.Thread):
    """Passes frames on between the wires at two paths, whose cards are up, until it is closed."""

    def __init__(self, paths):
        super().__init__(daemon=True)
        self.frames = []
        self.ends = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in paths]
        for end, path in zip(self.ends, paths):
            end.connect(str(path))
        self.stop, self.stopped = socket.socketpair()
        self.start()

    def run(self):
        selector = selectors.DefaultSelector()
        for end, other in (self.ends, reversed(self.ends)):
            selector.register(end, selectors.EVENT_READ, other)
        selector.register(self.stopped, selectors.EVENT_READ, None)
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    return
                frame = key.fileobj.recv(LONGEST)
                if not frame:
                    return
                self.frames.append(frame)
                key.data.send(frame)

    def close(self):
        self.stop.send(b"x")
        self.join()
        for end in (*self.ends, self.stop, self.stopped):
            end.close()

    def write(self, path):
        """As pcap: magic, version 2.4, Ethernet."""
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, LONGEST, 1))
            for number, frame in enumerate(self.frames):
                file.write(struct.pack("<IIII", number // 1000000, number % 1000000, len(frame), len(frame)) + frame)
