# SPDX-License-Identifier: BSD-3-Clause
"""A port between a cable whose far end the test has and a kernel side that is recorded: shows where frames go."""
from . import frames, pcapfile
from .cable import Cable
from .patience import PATIENCE
from .testpmd import Testpmd

MAC = frames.PORT_MAC
SENTINEL_PORT = 9999
SENTINEL_SRC = "02:00:00:00:ff:ff"
SENTINEL_BYTES = 64  # each is a byte longer than the one before
HEADERS = 42  # of a frame of UDP over IPv4
RX_RSS_HASH = 0x80000


def source(number):
    """The source MAC that identifies a frame wherever it turns up."""
    return f"02:00:00:00:01:{number:02x}"


def probe(number, **options):
    """A frame that carries its number in its source MAC."""
    return frames.packet(eth_src=source(number), **options)


class Rig:
    """wire=unix, kernel=pcap, testpmd printing what it receives.

    `kernel` has the numbers of the probes that Linux's side got, once the rig has ended.
    """

    def __init__(self, tmp_path, args=("--flow-isolate-all",), queues=4, port="", setup=(),
                 devargs="", memory=128):
        self.record = tmp_path / "kernel.pcap"
        self.wire = tmp_path / "wire"
        self.setup = setup
        self.pmd = Testpmd(
            ports=[f"wire=unix:{self.wire},kernel=pcap:{self.record},mac={MAC}{port}"],
            args=[f"--rxq={queues}", f"--txq={queues}", *args],
            vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], memory=memory)
        self.peer = None
        self.kernel = None

    def __enter__(self):
        self.pmd.__enter__()
        try:
            for line in self.setup:
                answer = self.pmd.cmd(line)
                for sign in ("rror", "Bad arg", "Fail", "Caught"):
                    assert sign not in answer, f"{line}\n{answer}"
            self.peer = Cable(self.wire)
            self.pmd.show_received()
        except BaseException:
            self.pmd.kill()
            raise
        return self

    def __exit__(self, *raised):
        if self.peer:
            self.peer.socket.close()
        self.pmd.__exit__(*raised)
        if raised[0] is None:
            self.kernel = self._recorded()

    def _recorded(self):
        numbers = []
        for frame in pcapfile.read(self.record):
            if frame[6:11] == frames.mac(source(0))[:5]:
                numbers.append(frame[11])
        return numbers

    def add_sentinel(self):
        """Create the rule for the sentinel, the frame that marks the end of a delivery."""
        return self.pmd.flow(f"ingress priority 0 pattern eth src is {SENTINEL_SRC} / end"
                             " actions queue index 3 / end")

    def deliver(self, *sent):
        """Send frames and then sentinels, one after the other; the packets that testpmd showed, without them.

        A sentinel is sent when the one before was shown. CQEs of one queue may be seen before earlier ones of
        another (blocks of compressed CQEs), but by the second sentinel all queues have what was sent before the
        first. testpmd polls queues in turn, so between two sentinels it polls each at least once: if it shows
        nothing between the second and the third or two later ones, the queues are empty.
        """
        start = self.pmd.mark()
        self.peer.send(*sent)
        queue, nb_before, nb_sentinels = None, None, 0
        while True:
            nb_sentinels += 1
            length = SENTINEL_BYTES + nb_sentinels
            self.peer.send(frames.packet(eth_src=SENTINEL_SRC, dport=SENTINEL_PORT, data=bytes(length - HEADERS)))
            got, queue = self._until_sentinel(start, length, queue)
            if nb_sentinels >= 3 and len(got) == nb_before:
                break
            nb_before = len(got)
        assert "INVALID mbuf" not in self.pmd.terminal.text[start:]
        return got

    def _until_sentinel(self, start, length, queue):
        """Wait for the sentinel of this length: (packets shown from `start` to it without sentinels, its queue).

        Rules may copy a sentinel: the next one is expected in the queue where the first was seen.
        """
        while True:
            got = []
            for seen in self.pmd.received(start):
                if seen["src"] != SENTINEL_SRC:
                    got.append(seen)
                elif seen["flags"] and seen["length"] == length and queue in (None, seen["queue"]):
                    return got, seen["queue"]
            if not self.pmd.terminal.read_some(PATIENCE):
                raise AssertionError("the sentinel did not arrive:\n"
                                     + self.pmd.terminal.text[start:][-3000:])

    @staticmethod
    def numbers(got, queue=None):
        """Probe numbers in the order seen, of one queue or of all."""
        return [int(seen["src"][-2:], 16) for seen in got if queue is None or seen["queue"] == queue]
