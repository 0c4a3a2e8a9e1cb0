# SPDX-License-Identifier: BSD-3-Clause
"""TAP netdevs, network namespaces, packet sockets and hugepages of this machine, removed at the end."""
import contextlib
import ctypes
import fcntl
import itertools
import os
import pathlib
import select
import socket
import struct
import subprocess
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_OUTGOING = 4
TP_STATUS_VLAN_VALID = 0x10
_serial = itertools.count()


def name(stem):
    """A name for an interface or namespace, unique on this machine."""
    return f"m{os.getpid() % 100000}{stem}{next(_serial)}"[:15]


def run(*argv, check=True):
    """Run a command; its output. The message of a failure has the output."""
    done = subprocess.run([str(arg) for arg in argv], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert not check or done.returncode == 0, f"{' '.join(map(str, argv))}\n{done.stdout}"
    return done.stdout


def why_no_tap():
    """None if TAP netdevs can be created here, else the reason why not."""
    try:
        fd = os.open("/dev/net/tun", os.O_RDWR)
    except OSError as error:
        return f"/dev/net/tun: {error.strerror}"
    try:
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name("p").encode(), IFF_TAP | IFF_NO_PI))
    except OSError as error:
        return f"TUNSETIFF: {error.strerror}"
    finally:
        os.close(fd)
    return None


def why_no_netns():
    """None if network namespaces can be created and entered here, else the reason why not.

    A chroot or a container may permit the one and not the other.
    """
    probe = name("n")
    reason = None
    for verb in (["add", probe], ["exec", probe, "true"], ["del", probe]):
        done = subprocess.run(["ip", "netns", *verb], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False)
        if done.returncode and reason is None:
            reason = f"ip netns {verb[0]}: {done.stderr.strip()}"
        if verb[0] == "add" and reason is not None:
            break
    return reason


class Namespace:
    """A network namespace; a context manager. Without IPv6, so it sends nothing unasked."""

    def __init__(self):
        self.name = name("n")

    def __enter__(self):
        run("ip", "netns", "add", self.name)
        self.run("sh", "-c", "for i in all default; do"
                 " echo 1 > /proc/sys/net/ipv6/conf/$i/disable_ipv6; done", check=False)
        self.run("ip", "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        run("ip", "netns", "del", self.name, check=False)

    def run(self, *argv, check=True):
        return run("ip", "netns", "exec", self.name, *argv, check=check)

    def ping(self, address, nb=5, *options, wait=20):
        """How many of `nb` pings are answered, each asked alone: of several at once ping waits for the last answers but twice as
        long as the slowest of the others took, whatever -W says."""
        return sum(" 1 received" in self.run("ping", "-c", "1", "-W", wait, *options, address, check=False) for _ in range(nb))

    def popen(self, *argv):
        return subprocess.Popen(["ip", "netns", "exec", self.name] + [str(arg) for arg in argv],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def take(self, ifname, address=None, mac=None):
        """Move a netdev in here and bring it up."""
        run("ip", "link", "set", "dev", ifname, "netns", self.name)
        if mac:
            self.run("ip", "link", "set", "dev", ifname, "address", mac)
        if address:
            self.run("ip", "addr", "add", address, "dev", ifname)
        self.set_up(ifname)

    def set_up(self, ifname):
        """Bring a netdev up. Linux asks for neighbours there for a minute, not for three seconds: what waits for an address that
        comes later would be dropped."""
        self.run("sh", "-c", f"echo 60 > /proc/sys/net/ipv4/neigh/{ifname}/mcast_solicit; ip link set dev {ifname} up")

    @contextlib.contextmanager
    def entered(self):
        """This thread is in the namespace: sockets made here belong to it for good."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/ns/net", "rb") as here, \
                open(f"/run/netns/{self.name}", "rb") as there:
            assert libc.setns(there.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            try:
                yield
            finally:
                assert libc.setns(here.fileno(), CLONE_NEWNET) == 0


class PacketSocket:
    """Sends and receives whole frames on a netdev; restores VLAN tags that the kernel removed."""

    def __init__(self, ifname, namespace=None):
        with namespace.entered() if namespace else contextlib.nullcontext():
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.socket.bind((ifname, 0))
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, frame):
        self.socket.send(frame)

    def receive(self, seconds=0.5):
        """The next frame that came in, or None after `seconds` without one."""
        until = time.monotonic() + seconds
        while True:
            left = max(0, until - time.monotonic())
            if not select.select([self.socket], [], [], left)[0]:
                return None
            data, ancillary, _, address = self.socket.recvmsg(65536, 256)
            if address[2] != PACKET_OUTGOING:
                return _with_tag(data, ancillary)

    def receive_all(self, seconds=0.5, match=lambda frame: True, count=None):
        """Frames that `match`, until `count` have come or `seconds` pass without one."""
        frames = []
        while count is None or len(frames) < count:
            frame = self.receive(seconds)
            if frame is None:
                break
            if match(frame):
                frames.append(frame)
        return frames


def _with_tag(data, ancillary):
    for level, kind, value in ancillary:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", value[:20])
            if status & TP_STATUS_VLAN_VALID:
                return data[:12] + struct.pack("!HH", tpid or 0x8100, tci) + data[12:]
    return data


def quiet_netdev(ifname, address=None):
    """Bring a TAP up without IPv6, so that this machine sends nothing unasked on it."""
    try:
        with open(f"/proc/sys/net/ipv6/conf/{ifname}/disable_ipv6", "w", encoding="ascii") as file:
            file.write("1")
    except OSError:
        pass
    if address:
        run("ip", "addr", "add", address, "dev", ifname)
    run("ip", "link", "set", "dev", ifname, "up")


@contextlib.contextmanager
def netdev_that_is_up():
    """The name of a TAP that is up before its port starts, so that the port has no event to report."""
    ifname = name("n")
    run("ip", "tuntap", "add", "dev", ifname, "mode", "tap")
    try:
        quiet_netdev(ifname)
        yield ifname
    finally:
        run("ip", "link", "del", ifname, check=False)


def netdev_mac(ifname):
    """The MAC address, as DPDK writes it."""
    with open(f"/sys/class/net/{ifname}/address", encoding="ascii") as file:
        return file.read().strip().upper()


def netdev_counter(ifname, counter):
    with open(f"/sys/class/net/{ifname}/statistics/{counter}", encoding="ascii") as file:
        return int(file.read())


HUGEPAGES = pathlib.Path("/sys/kernel/mm/hugepages")
NR_HUGEPAGES = HUGEPAGES / "hugepages-2048kB/nr_hugepages"


def nr_hugepages():
    """Number of hugepages reserved on this machine, of any size."""
    return sum(int(path.read_text()) for path in HUGEPAGES.glob("hugepages-*/nr_hugepages"))


@contextlib.contextmanager
def _locked(file, how):
    """Lock a file of sysfs: tests run in parallel, and all processes see these files."""
    with open(HUGEPAGES / "hugepages-2048kB" / file, encoding="ascii") as opened:
        fcntl.flock(opened, how)
        yield


def _persistent_hugepages():
    """Those that are reserved. What was given back while a process that ends still had it is surplus until it has ended."""
    return int(NR_HUGEPAGES.read_text()) - int(NR_HUGEPAGES.with_name("surplus_hugepages").read_text())


def _add_hugepages(wanted):
    """Reserve `wanted` hugepages more, or give back if negative; the number that was reserved."""
    with _locked("nr_hugepages", fcntl.LOCK_EX):
        before = _persistent_hugepages()
        NR_HUGEPAGES.write_text(str(before + wanted))
        return _persistent_hugepages() - before


def _await_free_hugepages(wanted):
    """What another test gives back while its processes still end, Linux takes from those that are free, which are ours."""
    end = time.monotonic() + 10
    while int(NR_HUGEPAGES.with_name("free_hugepages").read_text()) < wanted and time.monotonic() < end:
        time.sleep(0.02)


@contextlib.contextmanager
def more_hugepages(wanted):
    """Reserve up to `wanted` hugepages more; yields their number and gives them back at the end.

    Raises OSError if this is not allowed.
    """
    with _locked("free_hugepages", fcntl.LOCK_SH):
        got = _add_hugepages(wanted)
        try:
            _await_free_hugepages(got)
            yield got
        finally:
            _add_hugepages(-got)


@contextlib.contextmanager
def no_more_hugepages():
    """Wait until no test has more_hugepages(), and keep others from having any."""
    with contextlib.ExitStack() as stack:
        if NR_HUGEPAGES.exists():
            stack.enter_context(_locked("free_hugepages", fcntl.LOCK_EX))
        yield


@contextlib.contextmanager
def hugepages(megabytes, directory):
    """`megabytes` of hugepages beyond those reserved here, mounted at `directory`; given back at the end.

    Raises OSError if this is not allowed or there are too few.
    """
    wanted = megabytes // 2
    with more_hugepages(wanted) as got:
        if got < wanted:
            raise OSError(f"{got} of {wanted} hugepages could be reserved")
        done = subprocess.run(["mount", "-t", "hugetlbfs", "none", str(directory)], text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise OSError(done.stderr.strip())
        try:
            yield directory
        finally:
            # What EAL leaves would stay as long as a process in whose namespace of mounts this one is, too (ip netns exec).
            for file in pathlib.Path(directory).iterdir():
                file.unlink()
            run("umount", directory)
