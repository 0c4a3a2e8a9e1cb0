# SPDX-License-Identifier: BSD-3-Clause
"""The far end of a wire=unix:PATH: frames exactly as the test makes them, without a netdev in between."""
import select
import socket
import time

from .patience import PATIENCE


class Cable:
    """Connects to a device whose wire is unix:PATH; one frame a message."""

    def __init__(self, path, patience=PATIENCE):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(patience)
        until = time.monotonic() + patience
        while True:
            try:
                self.socket.connect(str(path))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *frames):
        for frame in frames:
            self.socket.send(frame)

    def receive(self, seconds=2):
        """The next frame, or None after `seconds` without one."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return None
        return self.socket.recv(65536) or None

    def receive_all(self, count=None, seconds=2):
        """`count` frames, or all until none comes for `seconds`."""
        frames = []
        while count is None or len(frames) < count:
            frame = self.receive(seconds)
            if frame is None:
                break
            frames.append(frame)
        return frames
