# SPDX-License-Identifier: BSD-3-Clause
"""Each operation of a port with its first, second, third ... call failing: of verbs, for memory, of the system; of the
driver's own, and of the verbs libraries below it. Done by test/ethdev/sweep; that none is forgotten is seen here."""
import contextlib
import os
import re

import pytest
from harness import host, paths
from harness.patience import PATIENCE
from harness.program import run_on_softhca
from harness.shared import TESTPMD_LINKS, SharedTestpmd, hugepages_at, with_preloaded
from harness.terminal import Terminal
from harness.testpmd import eal_prefix, remove_runtime_dir

PROGRAM = str(paths.BUILD / "test" / "ethdev" / "ethdev-sweep")
DRIVER = paths.ROOT / "drivers" / "net" / "mlx5dv"
LIBRARIES = ["libibverbs.so.1", "libmlx5.so.1"]
# What is left in the heap LeakSanitizer tells, in a sanitized build; not of secondary processes, in which DPDK's
# vdev bus leaves something.
LEAKS = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "").replace("detect_leaks=0", "detect_leaks=1")}

# Operations that are not swept, and why.
REFUSES = "refuses without a call, whatever it is asked (flow_unsupported.c)"
NOT_SWEPT = {
    "flow_ops_get": "gives a table; all operations on rules begin with it",
    "get_aged_flows": REFUSES,
    "get_q_aged_flows": REFUSES,
    "tunnel_decap_set": REFUSES,
    "tunnel_match": REFUSES,
    "get_restore_info": REFUSES,
    "tunnel_action_decap_release": REFUSES,
    "tunnel_item_release": REFUSES,
    "flex_item_create": REFUSES,
    "flex_item_release": REFUSES,
}

# What is refused where not all can be had: by a model, by plain verbs.
NOT_CX4LX = {"validate (of a change)", "dm_alloc", "dm_write dm_read", "dm_attach", "dm_free"}
NOT_IBV = {"get_monitor_addr"}

# What fails, of --port, of the vdev, what is refused.
SWEEPS = {
    "verbs": ("verbs", "", "", set()),
    "verbs-cx4lx": ("verbs", ",model=cx4lx", "", NOT_CX4LX),
    "verbs-cx6dx": ("verbs", ",model=cx6dx", "", set()),
    "verbs-ibv": ("verbs", "", ",mode=ibv", NOT_IBV),
    "memory": ("memory", "", "", set()),
    "memory-ibv": ("memory", "", ",mode=ibv", NOT_IBV),
    "system": ("system", "", "", set()),
    "system-vf": ("system", ",vf=on,trust=on", "", set()),
}

# Sanitized, what goes through most of the code; with --all, what others repeat on another model or in another mode.
MARKS = {
    "memory": pytest.mark.sanitized,
    "verbs-cx4lx": pytest.mark.long,
    "verbs-cx6dx": pytest.mark.long,
    "memory-ibv": pytest.mark.long,
    "system-vf": pytest.mark.long,
}

# Some that must have had calls to fail, and how many at least.
CALLS = {
    "verbs": {"probe": 20, "dev_start (with rules)": 20, "dev_reset": 20, "tx_queue_setup (of another size)": 2,
              "rx_queue_setup (of another size)": 2, "async_action_handle_update": 2, "async_action_handle_query": 1,
              "action_handle_query": 1, "link_update": 1, "flush": 1},
    "memory": {"probe": 5, "dev_start (with rules)": 5, "dev_reset": 5, "validate": 1, "create": 1,
               "rx_queue_release rx_queue_setup (while the port runs)": 1,
               "tx_queue_release tx_queue_setup (while the port runs)": 1, "get_module_eeprom": 1},
    "system": {"probe": 20, "dev_start": 5, "mtu_set": 3, "dev_set_link_down": 3, "dev_set_link_up": 3,
               "flow_ctrl_get": 3, "flow_ctrl_set": 3, "xstats_get": 5},
}

# A secondary process has no verbs to fail.
SECONDARY_CALLS = {
    "memory": {"attach": 1},
    "system": {"attach": 2, "dev_dump": 2, "detach": 1},
}
# What it does not have itself: the netdev, and the device's registers.
NOT_SECONDARY = {"read_clock", "flow_ctrl_get", "get_monitor_addr"}


def without_later_releases(text):
    """The text as the compiler sees it with DPDK 22.11: of later operations most only refuse."""
    kept, conditions = [], []
    for line in text.splitlines(keepends=True):
        if line.startswith("#if"):
            conditions.append(line.startswith("#ifndef") if "MDV_COMPAT_" in line else None)
        elif line.startswith("#else") and conditions[-1] is not None:
            conditions[-1] = not conditions[-1]
        elif line.startswith("#endif"):
            conditions.pop()
        elif False not in conditions:
            kept.append(line)
    return "".join(kept)


def operations(tables=r"\w+"):
    """The members of the driver's tables of operations."""
    names = set()
    for file in DRIVER.rglob("*.c"):
        text = without_later_releases(file.read_text())
        # Rows that tables share are a macro beside them.
        shared = dict(re.findall(r"#define (\w+_OPS) \\\n((?:.*\\\n)*.*\n)", text))
        for table in re.findall(rf"struct (?:eth_dev|rte_flow)_ops (?:{tables}) = \{{(.*?)\}}", text, re.S):
            rows = re.sub(r"\b\w+_OPS\b", lambda name: shared[name.group()], table)
            names |= set(re.findall(r"\.(\w+) = ", rows))
    assert names
    return names


def own_functions():
    return set(re.findall(r"rte_pmd_mlx5dv_(\w+);", (DRIVER / "version.map").read_text()))


@contextlib.contextmanager
def port_beside_netdev(more):
    """A port looped to itself, for --port."""
    with host.netdev_that_is_up() as netdev:
        yield f"wire=loop,kernel=tap:{netdev}{more}"


def command(prefix, what, *eal, devargs="", libraries=()):
    return [PROGRAM, *eal, "--no-pci", "--no-telemetry", "--file-prefix", prefix, "-d", paths.plugin()[0],
            "--log-level", "pmd.net.mlx5dv:emergency", "--", f"ibdev=mlx5_0{devargs}", what, paths.plugin()[0],
            *libraries]


def operations_of(rows):
    return {name for row in rows for name in row.split(" (")[0].split()}


def check(output, least, refused, expected):
    """Rows have had so many calls to fail at least, these are refused, and all that is expected has rows or a reason."""
    calls = {row: int(nb) for row, nb in re.findall(r"^([a-z].*): (\d+) calls$", output, re.M)}
    assert set(re.findall(r"^([a-z].*): refused$", output, re.M)) == refused
    assert expected - operations_of(calls) - operations_of(refused) == set(NOT_SWEPT) & expected
    assert not {row: nb for row, nb in least.items() if calls[row] < nb}


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
@pytest.mark.parametrize("what, more, devargs, refused",
                         [pytest.param(*row, id=name, marks=MARKS.get(name, ())) for name, row in SWEEPS.items()])
def test_every_operation(what, more, devargs, refused):
    prefix = eal_prefix()
    try:
        with port_beside_netdev(more) as port:
            status, output = run_on_softhca(
                command(prefix, what, "-l", "0", "--no-huge", "-m", "64", "--no-shconf", devargs=devargs,
                        libraries=LIBRARIES), [port], {"SOFTHCA_LOG": "info", **LEAKS})
    finally:
        remove_runtime_dir(prefix)
    assert status == 0, output[-3000:]
    assert "left to the kernel to destroy" not in output
    check(output, CALLS[what], refused, operations() | own_functions())


@pytest.mark.skipif(host.why_no_tap() is not None, reason=f"no TAP: {host.why_no_tap()}")
@pytest.mark.sanitized
@pytest.mark.parametrize("what", SECONDARY_CALLS)
def test_every_operation_of_a_secondary_process(what, tmp_path):
    """On a port that the primary has started and leaves alone; full, its queues leave half of the pool."""
    with hugepages_at(tmp_path) as huge, port_beside_netdev("") as port, \
            SharedTestpmd(huge, port, args=["--rxq=2", "--txq=2", "--rxd=512", "--txd=512"]) as pmd:
        secondary = Terminal(command(pmd.prefix, what, "--lcores", "2@0", "--proc-type=secondary"),
                             env=with_preloaded(pmd.environment(), TESTPMD_LINKS))
        try:
            assert secondary.wait(PATIENCE) == 0, secondary.text[-3000:]
        finally:
            secondary.close()
        check(secondary.text, SECONDARY_CALLS[what], NOT_SECONDARY, operations(r"mdv_ethdev_secondary_ops|reads"))
