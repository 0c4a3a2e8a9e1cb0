# SPDX-License-Identifier: BSD-3-Clause
"""The generic netlink family "ethtool" below softhca run: the stock ethtool, and programs that know no other way."""
import errno
import os
import re
import struct
import sys

import pytest
from harness import genl, host
from test_ctl import until
from test_ethtool import MAC, UDP_53, counters_of, fixture_netdev  # noqa: F401
from test_ethtool_features import DROP, Asking, blocks_of

G_CHANNELS, G_PAUSE, G_FEATURES, S_CHANNELS = 0x3C, 0x12, 0x3A, 0x3D


@pytest.fixture(scope="module", autouse=True, name="family")
def fixture_family():
    """Below the runner the family has the number that it has beside it."""
    with genl.open_socket() as opened:
        family = genl.family_of(opened)
    if family is None:
        pytest.skip("this kernel has no generic netlink family ethtool")
    return family


class Netlink(Asking):
    """A shell for the stock ethtool and for scripts of our own."""

    def by_netlink(self, command, family):
        """What ethtool says, which has to have received something from the family: it had no need of an ioctl."""
        said = self.said(f"ethtool --debug 0x18 {command} 2>&1")
        assert re.search(rf"\| {family:05} \|", said), said
        return said

    def script(self, text, *args, prefix=""):
        path = self.socket.parent / "script.py"
        path.write_text("from harness.genl import *\nimport os, select, sys\n" + text)
        words = " ".join(str(arg) for arg in args)
        return self.said(f"{prefix} env PYTHONPATH={os.path.dirname(__file__)} {sys.executable} {path} {words}")


def test_ethtool_asks_by_netlink(tmp_path, netdev, family):
    """What ethtool says, having asked by netlink, is what the ioctls say."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev},mac={MAC}") as shell:
        said = shell.by_netlink(f"-l {netdev}", family)
        _, channels = shell.ask(netdev, struct.pack("=9I", G_CHANNELS, *[0] * 8))
        assert struct.unpack("=9I", channels)[4] == 8
        assert said.count("Combined:\t8\n") == 2, said
        said = shell.by_netlink(f"-a {netdev}", family)
        assert shell.ask(netdev, struct.pack("=4I", G_PAUSE, 0, 0, 0))[1] == struct.pack("=4I", G_PAUSE, 0, 1, 1)
        assert re.search(r"Autonegotiate:\toff\nRX:\t\ton\nTX:\t\ton\n", said), said
        assert "Vendor name                               : softhca" in shell.by_netlink(f"-m {netdev}", family)
        assert "Auto-negotiation: off" in shell.by_netlink(netdev, family)


def test_both_ways_set_the_same(tmp_path, netdev, family):
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev},mac={MAC}") as shell:
        shell.said(f"ethtool -L {netdev} combined 3")
        _, channels = shell.ask(netdev, struct.pack("=9I", G_CHANNELS, *[0] * 8))
        assert struct.unpack("=9I", channels)[8] == 3
        assert shell.ask(netdev, struct.pack("=9I", S_CHANNELS, *[0] * 7, 5))[0] == 0
        assert "Combined:\t5\n" in shell.by_netlink(f"-l {netdev}", family)
        shell.said(f"ethtool -K {netdev} rx-all on")
        features = shell.by_netlink(f"-k {netdev}", family)
        assert "rx-all: on\n" in features and "rx-fcs: off\n" in features, features


def test_ethtool_says_why(tmp_path, netdev):
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        _, out = shell.run(f"ethtool -L {netdev} combined 9")
        assert re.fullmatch(r"netlink error: requested channel count exceeds maximum \(offset \d+\)\n"
                            r"netlink error: Invalid argument\n", out), out
        _, out = shell.run(f"{DROP} ethtool -L {netdev} combined 4")
        assert out == "netlink error: Operation not permitted\n"
        assert shell.said(f"{DROP} ethtool -l {netdev}").count("Combined:\t8") == 2


FEATURES = """
with open_socket() as opened:
    opened.send(message(family_of(opened), FEATURES_GET, header(sys.argv[1], COMPACT)))
    reply = attrs_of(answers(opened)[0][4][4:])
    print(*[attrs_of(reply[kind])[4].hex() for kind in (2, 3, 4, 5)])
"""


def test_features_are_those_of_the_ioctl(tmp_path, netdev):
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        shell.said(f"ethtool -K {netdev} ntuple on rx-fcs on tx-nocache-copy on")
        sets = [bytes.fromhex(words) for words in shell.script(FEATURES, netdev).split()]
        _, answer = shell.ask(netdev, struct.pack("=II", G_FEATURES, 8) + bytes(16 * 8))
        size = struct.unpack_from("=II", answer)[1]
        blocks = blocks_of(answer)[:size]
        # struct ethtool_get_features_block: available, requested, active, never_changed.
        assert sets == [b"".join(struct.pack("=I", block[i]) for block in blocks) for i in range(4)]


# Ask in every way that there is to send, and receive in every way; each time the number of channels.
WAYS = """
opened = open_socket()
family = family_of(opened)
asked = message(family, CHANNELS_GET, header(sys.argv[1]))
kernel = (0, 0)
sends = [lambda: opened.send(asked), lambda: opened.sendto(asked, kernel), lambda: opened.sendmsg([asked[:9], asked[9:]]),
         lambda: opened.sendmsg([asked], [], 0, kernel), lambda: os.write(opened.fileno(), asked)]
def into(size=65536):
    room = bytearray(size)
    return bytes(room[:opened.recv_into(room)])
def pieces():
    head, rest = bytearray(16), bytearray(65536)
    length = os.readv(opened.fileno(), [head, rest])
    return bytes(head + rest)[:length]
receives = [lambda: opened.recv(65536), lambda: opened.recvfrom(65536)[0], lambda: opened.recvmsg(65536)[0],
            lambda: os.read(opened.fileno(), 65536), into, pieces]
for send in sends:
    for receive in receives:
        assert not select.select([opened], [], [], 0)[0]
        assert send() == len(asked)
        assert select.select([opened], [], [], 0)[0] == [opened]
        (kind, _, seq, port, payload), = split(receive())
        assert (kind, seq, port) == (family, 7, opened.getsockname()[0])
        print(word(attrs_of(payload[4:])[9]), end=" ")
        assert select.select([opened], [], [], 0)[0] == [opened]
        (kind, _, seq, _, payload), = split(receive())
        assert (kind, seq, payload[:4]) == (ERROR, 7, bytes(4))
opened.send(asked)
whole = len(asked)
# Looking first, with room for nothing, for a part, for all; and from whom it is.
import socket
for room in 0, 16, 40, 65536:
    peeked, _, flags, sender = opened.recvmsg(room, 0, socket.MSG_PEEK | socket.MSG_TRUNC)
    length = len(peeked) if room == 65536 else length if room else None
    assert sender == kernel and bool(flags & socket.MSG_TRUNC) == (room != 65536), (room, flags)
lengths = [opened.recv_into(bytearray(room or 1), room, socket.MSG_PEEK | socket.MSG_TRUNC) for room in (1, 16, 65536)]
assert len(set(lengths)) == 1 and lengths[0] == len(peeked), lengths
part, _, flags, sender = opened.recvmsg(20)
assert part == peeked[:20] and flags & socket.MSG_TRUNC and sender == kernel
assert next(split(opened.recv(65536)))[0] == ERROR
opened.setblocking(False)
try:
    opened.recv(1)
    print("more")
except BlockingIOError:
    print("none")
"""


@pytest.mark.parametrize("prefix", ["", DROP], ids=["privileged", "unprivileged"])
def test_all_ways_to_send_and_receive(tmp_path, netdev, prefix):
    """Answers come when poll() says so, and once, whoever asks; a datagram that is too long is cut as the kernel's is."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        assert shell.script(WAYS, netdev, prefix=prefix) == "8 " * 30 + "none\n"


MIXED = """
opened = open_socket()
family = family_of(opened)
def ask(netdev, seq):
    return message(family, CHANNELS_GET, header(netdev), seq=seq)
def ask_state(netdev, seq):
    return message(family, LINKSTATE_GET, header(netdev), seq=seq)
ours = sys.argv[1]
# Three questions before an answer is read, and four more in one datagram, of which the first is for another family.
opened.send(ask(ours, 1))
opened.send(ask_state(ours, 2))
opened.send(ask("lo", 3))
opened.send(message(16, 3, attr(2, "no-such"), seq=4) + ask_state("lo", 5) + ask("no-such", 6) + ask(ours, 7))
got = []
while not got or got[-1][1] != 7 or got[-1][0] != ERROR:
    got += [(kind, seq) for kind, _, seq, _, _ in split(opened.recv(65536))]
names = {family: "answer", ERROR: "end"}
print(" ".join(f"{seq}:{names[kind]}" for kind, seq in got))
"""


def test_answers_come_in_order(tmp_path, netdev):
    """Between the kernel's, about our netdev as about others."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        assert shell.script(MIXED, netdev).split() == [
            "1:answer", "1:end", "2:answer", "2:end", "3:end", "4:end", "5:answer", "5:end", "6:end", "7:answer", "7:end"]


REFUSED = """
opened = open_socket()
family = family_of(opened)
head = header(sys.argv[1])
for command, attributes in [
        (CHANNELS_SET, [head, attr(9, 9)]), (CHANNELS_SET, [head, attr(9, 0)]), (CHANNELS_SET, [head, attr(9, b"x")]),
        (CHANNELS_SET, [head, attr(5, 1)]), (CHANNELS_GET, [head, attr(9, 1)]), (CHANNELS_SET, [head, b"abc"]),
        (CHANNELS_SET, [head, attr(9 | NESTED, 1)]), (FEATURES_SET, [head]),
        (FEATURES_SET, [head, nest(3, nest(3, nest(1, attr(2, "no-such"))))]), (CHANNELS_GET, [header("no-such")]),
        (CHANNELS_GET, []), (CHANNELS_GET, [nest(1)]), (200, [head])]:
    opened.send(message(family, command, *attributes))
    print(*refusal(answers(opened)[-1]))
"""

# As the kernel says it, of our netdev and of others.
REFUSALS = [
    (errno.EINVAL, "requested channel count exceeds maximum"),
    (errno.EINVAL, "requested channel counts would result in no RX or TX channel being configured"),
    (errno.EINVAL, "invalid attribute length"),
    (errno.EINVAL, "Unsupported attribute"),
    (errno.EINVAL, "Unknown attribute type"),
    (errno.EINVAL, "bytes leftover after parsing attributes"),
    (errno.EINVAL, "NLA_F_NESTED not expected"),
    (errno.EINVAL, ""),
    (errno.EOPNOTSUPP, "bit name not found"),
    (errno.ENODEV, "no device matches name"),
    (errno.EINVAL, ""),
    (errno.EINVAL, "neither ifindex nor name specified"),
    (errno.EOPNOTSUPP, ""),
]


def test_what_is_refused(tmp_path, netdev):
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        said = shell.script(REFUSED, netdev).splitlines()
        assert [(int(line.split()[0]), line.partition(" ")[2].strip()) for line in said] == REFUSALS


def test_who_may_set(tmp_path, netdev):
    """As the kernel says it, to whom may not."""
    script = REFUSED.replace("(CHANNELS_SET, [head, attr(9, 9)])", "(CHANNELS_SET, [head, attr(9, 2)])")
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        assert shell.script(script, netdev, prefix=DROP).splitlines()[0].split() == [str(errno.EPERM)]
        assert shell.said(f"ethtool -l {netdev}").count("Combined:\t8") == 2


COPIES = """
opened = open_socket()
family = family_of(opened)
copy = opened.dup()
opened.send(message(family, CHANNELS_GET, header(sys.argv[1])))
opened.close()
print(len(list(split(copy.recv(65536)))), end=" ", flush=True)
if os.fork() == 0:
    # The rest of the answer, and another one.
    assert refusal(next(split(copy.recv(65536))))[0] == 0
    copy.send(message(family, CHANNELS_GET, header(sys.argv[1])))
    print(len(answers(copy)), flush=True)
    os._exit(0)
os.wait()
"""


def test_copies_of_a_socket(tmp_path, netdev):
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        assert shell.script(COPIES, netdev).split() == ["1", "2"]


WAITING = """
import threading
opened = open_socket()
family = family_of(opened)
got = []
def receive():
    while len(got) < 40:
        got.extend(kind for kind, *_ in split(opened.recv(65536)))
thread = threading.Thread(target=receive)
thread.start()
for i in range(20):
    opened.send(message(family, CHANNELS_GET, header(sys.argv[1]), seq=i))
thread.join()
print(got == [family, ERROR] * 20)
"""


def test_another_thread_receives(tmp_path, netdev):
    """It waits in the C library before anything is asked."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        assert shell.script(WAITING, netdev) == "True\n"


WAITING_WITH_LITTLE_ROOM = """
import socket, threading
opened = open_socket()
family = family_of(opened)
def pieces():
    head, rest = bytearray(16), bytearray(65536)
    length = opened.recvmsg_into([head, rest])[0]
    return bytes(head + rest)[:length]
def look_first():
    return opened.recv(opened.recv_into(bytearray(1), 1, socket.MSG_PEEK | socket.MSG_TRUNC))
for receive in pieces, look_first:
    got, has_all = [], threading.Semaphore(0)
    def receive_all():
        for i in range(40):
            datagram = receive()
            got.extend(kind for kind, *_ in split(datagram) if len(datagram) == word(datagram[:4]))
            if i % 2:
                has_all.release()
    thread = threading.Thread(target=receive_all)
    thread.start()
    for i in range(20):
        opened.send(message(family, CHANNELS_GET, header(sys.argv[1]), seq=i))
        has_all.acquire()
    thread.join()
    print(got == [family, ERROR] * 20, end=" ", flush=True)
"""


def test_another_thread_receives_with_little_room(tmp_path, netdev):
    """In its first piece, or at all while it looks how long the answer is."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        assert shell.script(WAITING_WITH_LITTLE_ROOM, netdev).split() == ["True", "True"]


def test_the_address_by_rtnetlink(tmp_path, netdev):
    """ip and ethtool are told of the port's address; of other netdevs what the kernel says."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev},mac={MAC}") as shell:
        shell.said(f"ip link set {netdev} address 02:00:00:00:00:99")
        assert shell.said(f"ethtool -P {netdev}") == f"Permanent address: {MAC}\n"
        assert f"permaddr {MAC}" in shell.said(f"ip link show dev {netdev}")
        assert "permaddr" not in shell.said("ip link show dev lo")
        _, out = shell.run("ip link show dev no-such")
        assert "does not exist" in out, out


def test_all_netdevs_at_once(tmp_path, netdev):
    """The kernel's answer, in which the device has the TAP's place, or one more."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        channels = shell.said("ethtool -l '*'").split("Channel parameters for ")
        assert [part.count("Combined:\t8") for part in channels if part.startswith(f"{netdev}:")] == [2]
        assert f"Pause parameters for {netdev}:" in shell.said("ethtool -a '*'")
        features = {part.partition(":")[0]: part for part in shell.said("ethtool -k '*'").split("Features for ")}
        assert "rx-all: off\n" in features[netdev] and "rx-all: off [fixed]\n" in features["lo"]


def test_counters_that_standards_name(tmp_path, namespace, netdev, family):
    """They are those that mlx5 has by other names, and move with them."""
    wire = host.name("w")
    with Netlink(tmp_path, f"wire=tap:{wire},kernel=tap:{netdev},mac={MAC}") as shell:
        namespace.take(wire)
        shell.said(f"ip link set {netdev} up")
        with host.PacketSocket(wire, namespace) as peer:
            peer.send(UDP_53)
            until(lambda: counters_of(shell, netdev)["rx_packets_phy"] > 0)
        groups = dict(re.findall(r"^(\S+): (\d+)$", shell.by_netlink(f"-S {netdev} --groups eth-mac rmon", family), re.M))
        assert int(groups["eth-mac-FramesReceivedOK"]) > 0 and groups["rmon-etherStatsJabbers"] == "0", groups
        assert int(groups["eth-mac-OctetsReceivedOK"]) >= 64
        assert not any(name.startswith("eth-phy") for name in groups)
        assert "eth-phy-SymbolErrorDuringCarrier: 0\n" in shell.said(f"ethtool -S {netdev} --all-groups")


NAMES = """
opened = open_socket()
sets = nest(2, nest(1, attr(1, 4)), nest(1, attr(1, 1)))
opened.send(message(family_of(opened), STRSET_GET, header(sys.argv[1]), sets))
answer = answers(opened)[0][4]
listed = attrs_of(answer[4:])[2]
for kind, payload in pairs_of(listed):
    one = attrs_of(payload)
    print(word(one[1]), word(one[2]), *[attrs_of(string)[2].rstrip(b"\\0").decode() for _, string in pairs_of(one[3])])
"""


def test_names_of_counters(tmp_path, netdev):
    """With the kernel's names of features in one answer."""
    with Netlink(tmp_path, f"wire=null,kernel=tap:{netdev}") as shell:
        features, counters = [line.split(" ") for line in shell.script(NAMES, netdev).splitlines()]
        assert features[0] == "4" and "rx-ntuple-filter" in features
        assert counters[2:] == list(counters_of(shell, netdev)) and counters[:2] == ["1", str(len(counters) - 2)]


@pytest.mark.parametrize("question, says", [("-l", "Combined:\t1"), ("-a", "Operation not supported")])
def test_only_the_tap_answers(tmp_path, netdev, question, says):
    """Where no process has the device open."""
    with Netlink(tmp_path, f"kernel=tap:{netdev}", {"SOFTHCA_KEEPER": "0"}) as shell:
        shell.run("kill $holder; wait $holder")
        assert says in shell.run(f"ethtool {question} {netdev}")[1]
