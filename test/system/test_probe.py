# SPDX-License-Identifier: BSD-3-Clause
"""The driver's arguments: what is refused, and that the refusal names the culprit."""
import json
import re
import subprocess

import pytest
from harness import paths
from harness.testpmd import Testpmd

REFUSED = [
    # devargs, what the message must name
    ("ibdev=mlx5_7", "mlx5_7"),
    ("ibdev=mlx5_0,bogus=1", "bogus"),
    ("ibdev=", "ibdev"),
    ("iface=nosuch0", "nosuch0"),
    ("ibdev=" + "x" * 80, "ibdev"),
    ("iface=" + "y" * 40, "iface"),
    ("", "ibdev"),
    ("ibdev=mlx5_0,ibdev=mlx5_0", "ibdev"),
    ("ibdev=mlx5_0,port=2", "mlx5_0: no port 2; there are: 1 (no netdev)"),
    ("ibdev=mlx5_0,port=0", "port=0 is no port number"),
    ("iface=lo,port=1", "give port= with ibdev= only"),
    ("iface=lo", "lo: this netdev has no RDMA device"),
]


@pytest.mark.parametrize("arguments,named", REFUSED)
def test_bad_arguments_are_refused_by_name(arguments, named):
    vdev = "net_mlx5dv0" + ("," + arguments if arguments else "")
    with Testpmd(vdevs=[vdev]) as pmd:
        own = [line for line in pmd.banner.splitlines() if "mlx5dv: " in line]
        assert any(named in line for line in own), pmd.banner
        assert "No probed ethernet devices" in pmd.banner
        # The device is as before: a right probe works in the same process.
        answer = pmd.cmd("port attach net_mlx5dv1,ibdev=mlx5_0")
        assert "Port 0 is attached" in answer, answer


def test_the_driver_file_tells_all_arguments():
    """dpdk-pmdinfo.py and the refusal of an unknown argument name the same, and each of it is known."""
    said = subprocess.run(["dpdk-pmdinfo.py", paths.PLUGIN], check=True, capture_output=True, text=True).stdout
    params = next(driver for driver in json.loads(said) if driver["name"] == "net_mlx5dv")["params"]
    keys = re.findall(r"(\w+)=", params)
    assert "passthru_move=on|off" in params
    # A value that none takes: no name has a slash, and no number or choice is one.
    vdevs = ["net_mlx5dv0,bogus=1"] + [f"net_mlx5dv{i + 1},{key}=a/b" for i, key in enumerate(keys)]
    vdevs += ["net_mlx5dv98,sniff=", "net_mlx5dv99,ibdev="]
    with Testpmd(vdevs=vdevs) as pmd:
        said = pmd.banner
    unknown = re.findall(r"unknown argument (\w+); there are (.*)", said)
    assert [(key, known.strip().split(", ")) for key, known in unknown] == [("bogus", keys)], said
    for key in keys:
        assert f"{key}=a/b is no" in said, said
    assert "sniff= needs none, rx or all\n" in said and "ibdev= needs a verbs device name such as mlx5_0\n" in said, said


def test_same_name_twice_is_refused():
    with Testpmd() as pmd:
        answer = pmd.cmd("port attach net_mlx5dv0,ibdev=mlx5_0")
        assert "is attached" not in answer, answer
        assert pmd.info(0)["Driver name"] == "net_mlx5dv"


def test_two_vdevs_share_one_device():
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0", "net_mlx5dv1,ibdev=mlx5_0"]) as pmd:
        assert pmd.info(0)["MAC address"] == pmd.info(1)["MAC address"]


def test_a_port_is_named():
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,port=1"]) as pmd:
        assert pmd.info(0)["Driver name"] == "net_mlx5dv"


def test_two_devices():
    ports = ("wire=pair:a,mac=02:00:00:00:00:10", "wire=pair:a,mac=02:00:00:00:00:20")
    with Testpmd(ports=ports) as pmd:
        assert pmd.info(0)["MAC address"] == "02:00:00:00:00:10"
        assert pmd.info(1)["MAC address"] == "02:00:00:00:00:20"


def test_iface_names_the_netdev_beside_the_port(tap_allowed):
    from harness import host
    ifname = host.name("k")
    with Testpmd(ports=[f"wire=loop,kernel=tap:{ifname}"], vdevs=[f"net_mlx5dv0,iface={ifname}"]) as pmd:
        assert pmd.info(0)["Driver name"] == "net_mlx5dv"


def test_other_dpdk_than_built_for_is_said(tmp_path):
    """The plugin runs under a DPDK that claims another version: it says so."""
    source = tmp_path / "version.c"
    source.write_text('const char *rte_version(void) { return "DPDK 22.11.99"; }\n')
    shim = tmp_path / "version.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", shim, source], check=True)
    with Testpmd(env={"LD_PRELOAD": str(shim)}) as pmd:
        own = [line for line in pmd.banner.splitlines() if "mlx5dv: " in line]
        assert any("22.11.99" in line for line in own), pmd.banner


def test_pmdinfo_prints_the_driver():
    text = subprocess.run(["dpdk-pmdinfo.py", paths.PLUGIN], check=True, capture_output=True,
                          text=True).stdout
    entries = json.loads(text)
    ours = [entry for entry in entries if entry["name"] == "net_mlx5dv"]
    assert len(ours) == 1, text
    for key in ("ibdev", "iface"):
        assert re.search(rf"\b{key}=", ours[0]["params"]), text


def test_plugin_names_every_library_it_needs():
    """-z,defs linked it; ld.so agrees, and nothing but constructor and pmdinfo is exported."""
    text = subprocess.run(["ldd", "-r", paths.PLUGIN], check=True, capture_output=True,
                          text=True).stdout
    assert "undefined symbol" not in text and "not found" not in text, text
