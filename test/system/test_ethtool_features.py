# SPDX-License-Identifier: BSD-3-Clause
"""What monitoring programs ask a netdev: features by ethtool and by the ioctls themselves, its address, and questions that
have no answer here."""
import errno
import struct
import sys
import zlib

import pytest
from harness import frames, host, paths
from test_ctl import until
from test_ethtool import MAC, Shell, fixture_netdev  # noqa: F401

UDP_53 = frames.packet(dport=53)
DROP = "setpriv --bounding-set=-net_admin --inh-caps=-net_admin"
# Bits of struct ethtool_value.data for the old commands.
LRO, NTUPLE = 1 << 15, 1 << 27
NOT_SUPPORTED = errno.errorcode[errno.EOPNOTSUPP]

# An ioctl of ethtool as bytes, with guards behind them: prints the return value or the errno's name, and the bytes.
ASK = """
import array, errno, fcntl, socket, struct, sys
request = array.array('B', bytes.fromhex(sys.argv[2])) + array.array('B', b'G' * 64)
ifreq = struct.pack('16sP', sys.argv[1].encode(), request.buffer_info()[0])
try:
    said = fcntl.ioctl(socket.socket(), 0x8946, bytearray(ifreq + bytes(16)), True)
except OSError as error:
    said = errno.errorcode.get(error.errno, error.errno)
if bytes(request[-64:]) != b'G' * 64:
    said = 'OVERRUN'
print(said, bytes(request[:-64]).hex())
"""
G_FEATURES, S_FEATURES, G_FLAGS, S_FLAGS, G_PERMADDR = 0x3A, 0x3B, 0x25, 0x26, 0x20


class Asking(Shell):
    def ask(self, netdev, request, prefix=""):
        script = self.socket.parent / "ask.py"
        script.write_text(ASK)
        said, answer = self.said(f"{prefix} {sys.executable} {script} {netdev} {request.hex()}").split()
        return int(said) if said.lstrip("-").isdigit() else said, bytes.fromhex(answer)

    def flags(self, netdev):
        said, answer = self.ask(netdev, struct.pack("=II", G_FLAGS, 0))
        assert said == 0
        return struct.unpack("=II", answer)[1]

    def features(self, netdev):
        return dict(line.strip().split(": ", 1) for line in self.said(f"ethtool -k {netdev}").splitlines()[1:])


def test_features_of_port_and_netdev(tmp_path, netdev):
    """What the port does for its netdev can be switched; the rest is as Linux has it for a TAP."""
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev},mac={MAC}") as shell:
        features = shell.features(netdev)
        for name in "ntuple-filters", "rx-fcs", "rx-all":
            assert features[name] == "off", (name, features)
        for name in ("rx-checksumming", "large-receive-offload", "receive-hashing", "rx-vlan-offload", "rx-vlan-filter",
                     "hw-tc-offload", "rx-gro-hw"):
            assert features[name] == "off [fixed]", (name, features)
        assert features["tx-vlan-offload"] == features["scatter-gather"] == "on"
        assert features["tcp-segmentation-offload"] == features["tx-checksumming"] == "off"
        shell.said(f"ethtool -K {netdev} rx-all on rx-fcs on txvlan off")
        features = shell.features(netdev)
        assert (features["rx-all"], features["rx-fcs"], features["tx-vlan-offload"]) == ("on", "on", "off")
        shell.said(f"ethtool -K {netdev} rx-all off")
        features = shell.features(netdev)
        assert (features["rx-all"], features["rx-fcs"]) == ("off", "on")


@pytest.mark.parametrize("port, feature", [("vf=on", "rx-all"), ("model={}", "rx-fcs")])
def test_features_that_a_port_lacks(tmp_path, netdev, port, feature):
    """A virtual function may not switch the port's check; a card without FCS scattering leaves it away."""
    model = tmp_path / "bare.model"
    text = (paths.ROOT / "lib/softhca/config/models/cx5.model").read_text()
    lines = [line for line in text.splitlines(True) if not line.startswith("scatter_fcs")]
    model.write_text("".join(lines) + "scatter_fcs = no\n")
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev},{port.format(model)}") as shell:
        assert shell.features(netdev)[feature] == "off [fixed]"
        status, out = shell.run(f"ethtool -K {netdev} {feature} on")
        assert status == 1 and "Could not change any device features" in out, out
        assert shell.features(netdev)[feature] == "off [fixed]"


@pytest.mark.parametrize("feature", ["lro", "rx", "rxvlan", "rxhash", "hw-tc-offload", "rx-gro-hw", "tx-gre-segmentation"])
def test_what_the_netdev_cannot_do_is_refused(tmp_path, netdev, feature):
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        before = shell.features(netdev)
        status, out = shell.run(f"ethtool -K {netdev} {feature} on")
        assert status == 1 and "Could not change any device features" in out, out
        assert shell.features(netdev) == before


def test_rx_fcs_gives_linux_the_fcs(tmp_path, namespace, netdev):
    wire = host.name("w")
    with Asking(tmp_path, f"wire=tap:{wire},kernel=tap:{netdev},mac={MAC}") as shell:
        namespace.take(wire)
        shell.said(f"ip link set {netdev} up")
        with host.PacketSocket(wire, namespace) as peer, host.PacketSocket(netdev) as linux:
            def got(want):
                peer.send(UDP_53)
                until(lambda: linux.receive() == want)
            got(UDP_53)
            _, out = shell.run(f"{DROP} ethtool -K {netdev} rx-fcs on")
            assert "Operation not permitted" in out, out
            got(UDP_53)
            shell.said(f"ethtool -K {netdev} rx-fcs on")
            got(UDP_53 + struct.pack("<I", zlib.crc32(UDP_53)))
            shell.said(f"ethtool -K {netdev} rx-fcs off")
            got(UDP_53)


def test_old_commands(tmp_path, netdev):
    """ETHTOOL_GFLAGS and SFLAGS tell and switch what ethtool -k and -K do, with the errors of __ethtool_set_flags()."""
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        def set_flags(data, prefix=""):
            return shell.ask(netdev, struct.pack("=II", S_FLAGS, data), prefix)[0]
        before = shell.flags(netdev)
        assert before & NTUPLE == 0
        assert set_flags(before | NTUPLE, DROP) == "EPERM"
        assert set_flags(before | NTUPLE) == 0
        assert shell.flags(netdev) == before | NTUPLE and shell.features(netdev)["ntuple-filters"] == "on"
        assert set_flags(before | NTUPLE | LRO) == NOT_SUPPORTED
        assert set_flags(before | LRO) == "EINVAL"
        assert set_flags(before | 1) == "EINVAL"
        assert shell.flags(netdev) == before | NTUPLE
        assert set_flags(before) == 0
        assert shell.flags(netdev) == before


def blocks_of(answer):
    """(available, requested, active, never_changed) of each block behind struct ethtool_gfeatures."""
    return [struct.unpack_from("=IIII", answer, at) for at in range(8, len(answer), 16)]


def test_features_by_ioctl(tmp_path, netdev):
    """Answers end where the program's room does, and a request with an error changes nothing."""
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        sizes = []
        for room in range(4):
            said, answer = shell.ask(netdev, struct.pack("=II", G_FEATURES, room) + b"\xee" * 16 * room)
            assert said == 0
            sizes.append(struct.unpack_from("=I", answer, 4)[0])
        assert len(set(sizes)) == 1, sizes
        words = sizes[0]
        _, answer = shell.ask(netdev, struct.pack("=II", G_FEATURES, words) + bytes(16 * words))
        available = sum(block[0] << 32 * i for i, block in enumerate(blocks_of(answer)))
        active = sum(block[2] << 32 * i for i, block in enumerate(blocks_of(answer)))
        never = sum(block[3] << 32 * i for i, block in enumerate(blocks_of(answer)))
        off = [bit for bit in range(32 * words) if available & ~active & 1 << bit]

        def set_all(size, extra=0):
            mask = sum(1 << bit for bit in off) | extra
            pairs = [mask >> 32 * i & 0xFFFFFFFF for i in range(size)]
            blocks = b"".join(struct.pack("=II", bits, bits) for bits in pairs)
            return shell.ask(netdev, struct.pack("=II", S_FEATURES, size) + blocks)[0]
        before = shell.features(netdev)
        assert set_all(words + 1) == set_all(0) == "EINVAL"
        assert set_all(words, never & -never) == "EINVAL"
        assert shell.features(netdev) == before
        assert set_all(words) >= 0
        features = shell.features(netdev)
        assert features["ntuple-filters"] == features["rx-fcs"] == features["rx-all"] == "on", features


def test_permanent_address(tmp_path, netdev):
    """The port's, whatever address the netdev has now; as Linux it is told to whoever has room for it."""
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev},mac={MAC}") as shell:
        shell.said(f"ip link set {netdev} address 02:00:00:00:00:99")
        assert shell.said(f"{DROP} ethtool -P {netdev}") == f"Permanent address: {MAC}\n"
        assert shell.ask(netdev, struct.pack("=II", G_PERMADDR, 5) + bytes(5))[0] == 525


NO_SOCKET = """
import array, errno, fcntl, os, socket, struct, sys
command = array.array('B', struct.pack('=II', 0x25, 0))
ifreq = struct.pack('16sP', sys.argv[1].encode(), command.buffer_info()[0])
for fd in socket.socket(socket.AF_UNIX).detach(), os.open('/dev/null', os.O_RDWR), 999:
    try:
        print(fcntl.ioctl(fd, 0x8946, bytearray(ifreq + bytes(16)), True), end=' ')
    except OSError as error:
        print(errno.errorcode[error.errno], end=' ')
"""


def test_only_sockets_are_asked(tmp_path, netdev):
    """Of any family, as Linux does: not what is no socket."""
    script = tmp_path / "no_socket.py"
    script.write_text(NO_SOCKET)
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        assert shell.said(f"{sys.executable} {script} {netdev}").split() == ["0", "ENOTTY", "EBADF"]


# (what is asked, what is said): as for a driver without the operation, or by Linux for any TAP.
ANSWERS = [
    ("-g {}", "netlink error: Operation not supported"),
    ("-G {} rx 512", "netlink error: Operation not supported"),
    ("-x {}", "Operation not supported"),
    ("-X {} equal 2", "Operation not supported"),
    ("-n {} rx-flow-hash udp4", "Operation not supported"),
    ("-d {}", "Cannot get register dump: Operation not supported"),
    ("-t {}", "Cannot test: Operation not supported"),
    ("-e {}", "Cannot get EEPROM data: Operation not supported"),
    ("-p {} 1", "Cannot identify NIC: Operation not supported"),
    ("-C {} rx-usecs 8", "cannot modify an unsupported parameter"),
    ("-T {}", "PTP Hardware Clock: none"),
    ("--show-fec {}", "netlink error: Operation not supported"),
    ("--show-eee {}", "netlink error: Operation not supported"),
    ("--show-priv-flags {}", "netlink error: Operation not supported"),
]


def test_what_has_no_answer_says_so(tmp_path, netdev):
    with Asking(tmp_path, f"wire=null,kernel=tap:{netdev},speed=100g") as shell:
        for question, says in ANSWERS:
            _, out = shell.run("ethtool " + question.format(netdev))
            assert says in out, (question, out)
        assert "rx-frames:\t0" in shell.said(f"ethtool -c {netdev}").replace(": ", ":\t")
        assert "Speed: 100000Mb/s" in shell.said(f"ethtool {netdev}")
