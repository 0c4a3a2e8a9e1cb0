# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --sys: the ports in /sys itself, for the command alone; and ethtool -i of their netdevs."""
import os
import pathlib
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from harness import ctl, host, paths
from harness.intree import InTreeTestpmd, pci_args
from harness.patience import PATIENCE
from harness.testpmd import Testpmd, softhca_argv

ADDRESS = "5ca0:00:00.0"
DEVICE = f"/sys/devices/pci5ca0:00/{ADDRESS}"


def run(*command, ports=("",), before=(), options=("--sys",)):
    argv = [*before, *softhca_argv(ports, command, options)]
    return subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE, check=False)


def said(*command, **how):
    done = run(*command, **how)
    assert done.returncode == 0, done
    return done.stdout


def as_nobody():
    """Of a tree that nobody may read a copy is of no use: paths lead through it."""
    reason = None if os.geteuid() == 0 else "not root"
    if reason is None and subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", paths.SOFTHCA, "version"],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        reason = "nobody may not read the tree"
    if reason:
        pytest.skip(reason)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def look_around(before=()):
    assert said("ls", "/sys/class/infiniband", "/sys/class/infiniband_verbs", before=before) == \
        "/sys/class/infiniband:\nmlx5_0\n\n/sys/class/infiniband_verbs:\nabi_version\nuverbs0\n"
    links = said("readlink", "-f", "/sys/class/infiniband/mlx5_0/device", f"{DEVICE}/driver",
                 "/sys/class/infiniband/mlx5_0", before=before)
    assert links == f"{DEVICE}\n/sys/bus/pci/drivers/mlx5_core\n{DEVICE}/infiniband/mlx5_0\n"
    assert said("lspci", "-D", "-n", "-s", ADDRESS, before=before) == f"{ADDRESS} 0200: 15b3:1017\n"
    assert "fw_ver:\t\t\t\t16.35.2000" in said("ibv_devinfo", before=before)
    # What Linux has stays, and so does what is mounted there.
    for place in ("class", "bus", "devices/system/cpu", "kernel", "fs/cgroup"):
        theirs = set(os.listdir(f"/sys/{place}"))
        assert set(said("ls", f"/sys/{place}", before=before).split()) - {"infiniband", "infiniband_verbs", "pci"} == \
            theirs - {"infiniband", "infiniband_verbs", "pci"}
    assert said("cat", "/sys/class/net/lo/address", before=before) == "00:00:00:00:00:00\n"
    assert not pathlib.Path(DEVICE).exists()


def test_the_ports_are_in_sys():
    look_around()


def test_without_privileges():
    nobody = as_nobody()
    look_around(before=nobody)
    # The command is who it was, and has gained nothing.
    status = said("sh", "-c", "id -u; id -g; grep CapEff /proc/self/status", before=nobody)
    assert status == "65534\n65534\nCapEff:\t0000000000000000\n"


def test_a_netdev_leads_to_its_device(tap_allowed):
    netdev = host.name("y")
    port = f"kernel=tap:{netdev},model=cx6dx"
    link = said("ls", "-l", f"/sys/class/net/{netdev}/device", ports=[port])
    assert link.strip().endswith(f"-> ../../../../devices/pci5ca0:00/{ADDRESS}")
    assert said("cat", f"/sys/class/net/{netdev}/device/device", f"/sys/class/net/{netdev}/address", ports=[port]) == \
        "0x101d\n02:00:00:00:00:01\n"


@pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="hwloc is not installed")
def test_hwloc_finds_the_device_at_its_place():
    """hwloc, and what asks it (Open MPI), takes the way to a device from the links' targets."""
    machine = ElementTree.fromstring(said("lstopo-no-graphics", "--whole-io", "--of", "xml"))
    places = [pci.get("pci_busid") for pci in machine.iter("object") for device in pci if device.get("name") == "mlx5_0"]
    assert places == [ADDRESS]


@pytest.mark.skipif(shutil.which("udevadm") is None, reason="udev is not installed")
@pytest.mark.parametrize("path, wanted", [
    (DEVICE, ["DRIVER=mlx5_core", "SUBSYSTEM=pci"]),
    ("/sys/class/infiniband/mlx5_0", [f"DEVPATH={DEVICE[4:]}/infiniband/mlx5_0", "SUBSYSTEM=infiniband", "NAME=mlx5_0"]),
    ("/sys/class/infiniband_verbs/uverbs0", ["DEVNAME=/dev/infiniband/uverbs0", "SUBSYSTEM=infiniband_verbs", "MINOR=192"]),
])
def test_udev_knows_the_devices(path, wanted):
    properties = said("udevadm", "info", "-q", "property", "-p", path).splitlines()
    assert set(wanted) <= set(properties), properties


@pytest.mark.parametrize("options", [(), ("--sys",)])
def test_ethtool_names_the_driver(tap_allowed, options):
    netdev = host.name("y")
    other = host.name("z")
    host.run("ip", "tuntap", "add", "dev", other, "mode", "tap")
    try:
        text = said("sh", "-c", f"ethtool -i {netdev}; ethtool -i {other}", options=options,
                    ports=["wire=null", f"kernel=tap:{netdev},model=cx4lx"])
    finally:
        host.run("ip", "link", "del", other)
    ours, theirs = text.split("driver: ")[1:]
    assert ours.startswith("mlx5_core\n") and "firmware-version: 14.32.1010 (softhca ConnectX)\n" in ours
    assert "bus-info: 5ca0:00:01.0\n" in ours and theirs.startswith("tun\n")


def test_the_kernel_refuses_what_is_no_request(tap_allowed):
    """Another request, an address that is none, no name, no socket: as without us."""
    netdev = host.name("y")
    program = ("import ctypes, socket, struct; libc = ctypes.CDLL(None, use_errno=True); s = socket.socket();"
               f" r = ctypes.create_string_buffer(b'{netdev}', 40);"
               " print(libc.ioctl(s.fileno(), 0x8946, r), ctypes.get_errno());"
               " print(libc.ioctl(s.fileno(), 0x8946, ctypes.c_void_p(8)), ctypes.get_errno());"
               " d = ctypes.create_string_buffer(struct.pack('I', 3) + bytes(196));"
               " n = struct.pack('16sP16x', b'', ctypes.addressof(d));"
               f" m = struct.pack('16sP16x', b'{netdev}', ctypes.addressof(d));"
               " print(libc.ioctl(s.fileno(), 0x8946, n), ctypes.get_errno());"
               " print(libc.ioctl(-1, 0x8946, m), ctypes.get_errno());"
               " print(libc.ioctl(s.fileno(), 0x8946, m), d.raw[4:13])")
    assert said("/usr/bin/python3", "-c", program, ports=[f"kernel=tap:{netdev}"]) == \
        "-1 14\n-1 14\n-1 19\n-1 9\n0 b'mlx5_core'\n"


def test_a_program_in_another_root_asks_the_kernel(tap_allowed, tmp_path):
    """As the kernel's alone, and without a line in its log for each question (lldpd)."""
    if os.geteuid() != 0:
        pytest.skip("not root")
    netdev = host.name("y")
    program = ("import ctypes, fcntl, os, socket, struct; s = socket.socket();"
               " d = ctypes.create_string_buffer(struct.pack('I', 3) + bytes(196));"
               f" m = struct.pack('16sP16x', b'{netdev}', ctypes.addressof(d));"
               f" os.chroot('{tmp_path}');"
               " print([(fcntl.ioctl(s.fileno(), 0x8946, m) != 0, d.raw[4:8]) for i in range(3)])")
    done = run("/usr/bin/python3", "-c", program, ports=[f"kernel=tap:{netdev}"], options=())
    assert done.returncode == 0 and done.stdout.count(r"b'tun\x00'") == 3, done
    assert done.stderr.count("cannot read") == 1, done


def test_files_move():
    """They are those that the device writes."""
    with Testpmd(softhca_options=["--sys"]) as pmd:
        state = pathlib.Path(f"/proc/{ctl.pid_of(pmd)}", "root", "sys/class/infiniband/mlx5_0/ports/1/state")
        assert state.read_text() == "4: ACTIVE\n"
        ctl.link(pmd, "down")
        assert state.read_text() == "1: DOWN\n"


def test_the_in_tree_driver_finds_the_device_in_sys():
    """DPDK's PCI bus reads /sys/bus/pci/devices, with what else the machine has."""
    with InTreeTestpmd(softhca_options=["--sys"]) as pmd:
        assert "mlx5_pci" in pmd.cmd("show port info 0")
        pmd.cmd("start tx_first")
        assert pmd.stop()


def test_the_in_tree_driver_finds_representors(tap_allowed):
    """By phys_port_name of /sys/class/net, which TAPs lack. Frames come by their ports."""
    names = [host.name("u"), host.name("r")]
    card = [f"switchdev=on,kernel=tap:{names[0]}", f"switchdev=on,vf=on,rep=tap:{names[1]}"]
    up = ["sh", "-c", 'for i in "$1" "$2"; do ip link set "$i" up; done; shift 2; exec "$@"', "sh", *names]
    with Testpmd(ports=card, vdevs=[], memory=512, softhca_options=["--sys"], before=up,
                 pci=pci_args("representor=vf0,dv_flow_en=0")) as pmd:
        info = [pmd.cmd(f"show port info {port}") for port in range(2)]
        assert "5ca0:00:00.0" in info[0] and "representor_vf0" in info[1], info
        pmd.cmd("start tx_first")
        assert pmd.stop()


def test_what_cannot_be_mounted_is_told():
    if os.geteuid() != 0:
        pytest.skip("not root")
    done = run("true", before=["setpriv", "--bounding-set", "-sys_admin"])
    assert done.returncode == 125
    assert done.stderr == "softhca: --sys: cannot make a namespace of mounts: Operation not permitted\n"
