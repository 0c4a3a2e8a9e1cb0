# SPDX-License-Identifier: BSD-3-Clause
"""The far end of the card's cable: sends frames of several classes, answers Linux, and counts all of it."""
import collections
import contextlib
import itertools
import socket
import struct
import threading
import time

from .. import frames
from ..cable import Cable

LINUX, PEER = "192.0.2.1", "192.0.2.2"
ELSEWHERE = "192.0.2.99"  # Linux gets such frames for its MAC address, and drops them
NOBODY_MAC = "02:00:00:00:00:77"
LONG = 8000  # bytes of a frame that no queue of 1,500 takes

# name: (UDP port, MAC, IP address, bytes)
CLASSES = {
    "ours": (4001, frames.PORT_MAC, ELSEWHERE, 100),
    "intree": (4002, frames.PORT_MAC, ELSEWHERE, 300),
    "linux": (4003, frames.PORT_MAC, LINUX, 60),
    "ours-more": (4004, NOBODY_MAC, ELSEWHERE, 200),
    "intree-more": (4005, NOBODY_MAC, ELSEWHERE, 200),
    "nobody": (4006, NOBODY_MAC, ELSEWHERE, 64),
    "ours-long": (4001, frames.PORT_MAC, ELSEWHERE, LONG),
}
NAMES = {port: name for name, (port, *_) in reversed(CLASSES.items())}
ECHO_REQUEST, ECHO_REPLY, ICMP = 8, 0, 1
ARP, ARP_REQUEST, ARP_REPLY = 0x0806, 1, 2
SEQUENCE = struct.Struct("!Q")
MAGIC = b"soak"
UDP_DATA = 42  # offset in a frame
BATCH = 8


def icmp(kind, data):
    def message(checksum):
        return struct.pack("!BBHHH", kind, 0, checksum, 0x50AC, 1) + data
    return message(frames.checksum(message(0)))


class Peer:
    """Sends while it is let; receives always. Counts of frames by class are sums since the beginning."""

    def __init__(self, wire, chance, rate, windows=None):
        """`windows`: {class: frames of it that may be on their way there and back}"""
        self.cable = Cable(wire)
        self.windows = windows or {}
        self.chance, self.rate = chance, rate
        self.sent, self.received = collections.Counter(), collections.Counter()
        self.doubled = 0
        self.error = None
        self._seen = set()
        self._serial = itertools.count()
        self._templates = {}
        self._lock = threading.Lock()  # of sending
        self._may_send, self._is_idle, self._ends = threading.Event(), threading.Event(), False
        self._threads = [threading.Thread(target=self._guard, args=(loop,), daemon=True)
                         for loop in (self._send_loop, self._receive_loop)]
        for thread in self._threads:
            thread.start()

    def _guard(self, loop):
        try:
            loop()
        except Exception as error:  # pylint: disable=broad-except; told by who waits
            self.error = error

    def close(self):
        self._ends = True
        self._may_send.set()
        with contextlib.suppress(OSError):
            self.cable.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self.cable.socket.close()

    def start(self):
        self._is_idle.clear()
        self._may_send.set()

    def pause(self):
        """Return when no frame more is sent."""
        self._may_send.clear()
        while not self._is_idle.wait(0.1) and self.error is None:
            pass

    def forget(self):
        """All frames are accounted for: their numbers need not be known."""
        self._seen.clear()

    def frame(self, kind):
        if kind not in self._templates:
            port, mac, address, length = CLASSES[kind]
            frame = bytearray(frames.packet(dport=port, src=PEER, dst=address, eth_dst=mac, pad=0,
                                            data=bytes(length - UDP_DATA)))
            frame[40:42] = b"\0\0"  # no checksum of UDP, as RFC 768 allows: the numbers below need none
            frame[UDP_DATA:UDP_DATA + 4] = MAGIC
            self._templates[kind] = frame
        frame = self._templates[kind]
        SEQUENCE.pack_into(frame, UDP_DATA + 4, next(self._serial))
        return bytes(frame)

    def send(self, kind, count=1):
        with self._lock:
            for _ in range(count):
                self.cable.socket.send(self.frame(kind))
                self.sent[kind] += 1

    def _ping(self):
        """Linux is pinged, too."""
        with self._lock:
            self.cable.socket.send(frames.raw_ipv4(ICMP, icmp(ECHO_REQUEST, b"to linux"), src=PEER, dst=LINUX))
            self.sent["echo-request"] += 1

    def _send_loop(self):
        kinds, weights = zip(*(("ours", 8), ("intree", 8), ("linux", 4), ("ours-more", 2), ("intree-more", 2), ("nobody", 1)))
        due = time.monotonic()
        while True:
            if not self._may_send.is_set():
                self._is_idle.set()
                self._may_send.wait()
                due = time.monotonic()
            if self._ends:
                return
            if any(self.sent[kind] - self.received[kind] > most - BATCH for kind, most in self.windows.items()):
                time.sleep(0.001)
                continue
            for kind in self.chance.choices(kinds, weights, k=BATCH):
                self.send(kind)
            if self.chance.random() < 0.05:
                self._ping()
            due = max(due + BATCH / self.rate, time.monotonic() - 0.1)
            time.sleep(max(0, due - time.monotonic()))

    def _receive_loop(self):
        while not self._ends:
            frame = self.cable.receive(1)
            if frame is None:
                continue
            self.received[self._take(frame)] += 1

    def _take(self, frame):
        """What a frame is; an answer, if it wants one."""
        kind = struct.unpack_from("!H", frame, 12)[0]
        if kind == ARP and struct.unpack_from("!H", frame, 20)[0] == ARP_REQUEST:
            self._answer_arp(frame)
            return "arp"
        if kind != frames.IPV4:
            return "other"
        if frame[23] == ICMP and frame[34] == ECHO_REQUEST:
            self._answer_echo(frame)
            return "echo-request"
        if frame[23] == ICMP and frame[34] == ECHO_REPLY:
            return "echo-reply"
        if frame[23] == frames.UDP and frame[UDP_DATA:UDP_DATA + 4] == MAGIC:
            number = SEQUENCE.unpack_from(frame, UDP_DATA + 4)[0]
            self.doubled += number in self._seen
            self._seen.add(number)
            return NAMES.get(struct.unpack_from("!H", frame, 36)[0], "other")
        return "other"

    def _answer(self, kind, frame):
        with self._lock:
            self.cable.socket.send(frame)
            self.sent[kind] += 1

    def _answer_arp(self, request):
        wanted = request[38:42]
        if wanted != socket.inet_aton(PEER):
            return
        payload = request[14:20] + struct.pack("!H", ARP_REPLY) + frames.mac(frames.PEER_MAC) + wanted + request[22:32]
        self._answer("arp", (request[6:12] + frames.mac(frames.PEER_MAC) + request[12:14] + payload).ljust(60, b"\0"))

    def _answer_echo(self, request):
        reply = bytearray(request)
        reply[0:6], reply[6:12] = request[6:12], request[0:6]
        reply[26:30], reply[30:34] = request[30:34], request[26:30]
        reply[34] = ECHO_REPLY
        reply[36:38] = b"\0\0"
        end = 14 + struct.unpack_from("!H", request, 16)[0]
        reply[36:38] = struct.pack("!H", frames.checksum(bytes(reply[34:end])))
        self._answer("echo-reply", bytes(reply))
