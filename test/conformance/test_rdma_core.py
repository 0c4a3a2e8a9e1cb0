# SPDX-License-Identifier: BSD-3-Clause
"""rdma-core's own tests (Debian's python3-pyverbs has them), unmodified, on each model.

They skip what a device does not offer: here DevX, DC, on-demand paging and the like. What is left is
told by name below: it must run, and nothing else may fail.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from harness import host
from harness.program import run_on_softhca

TESTS = pathlib.Path("/usr/share/doc/rdma-core/tests")
pytestmark = pytest.mark.skipif(not TESTS.is_dir(),
                                reason="the documentation of python3-pyverbs is not installed")

# parent_domain: a skipped RC test leaves memory that pyverbs then frees in an order of Python's choosing. Others' devices,
# and the connection manager, have no business here.
LEFT_OUT = re.compile("parent_domain|cuda|efa|rdmacm|vfio")

# test_obj_on_huge, where there are no hugepages, wants to be refused. test_get_pkey_index, of rdma-core 65, has cat read a
# file of the machine's sysfs, where softhca's device is not: it is in the one that SYSFS_PATH names.
# test_odp_dc_traffic registers memory on demand before it asks for DC, and skips
# itself by Linux 6.2's EOPNOTSUPP where that is not there; before it was EINVAL (ib_check_mr_access()).
# test_odp_rc_huge_user_addr_traffic wants a page of the hugepages that other tests set aside for themselves.
# By rdma-core 58, at the latest.
RENAMED = {"test_qp_ex_rc_rdma_write_zero_size": "test_qp_ex_rc_rdma_write_zero_length"}
FAILING = {"test_odp": {"test_odp_rc_huge_user_addr_traffic"},
           "test_mlx5_huge_page": {"test_obj_on_huge"},
           "test_mlx5_dc": {"test_odp_dc_traffic"},
           "test_device": {"test_get_pkey_index"}}
# It uses a context in a child of fork(), which takes a keeper (doc/guides/softhca.rst, Limits).
FORKS = {"test_multi_process_alloc_dm"}

PASSING = """
test_addr create_ah create_ah_roce destroy_ah
test_atomic atomic_cmp_and_swap atomic_fetch_and_add atomic_invalid_lkey atomic_invalid_mr_access atomic_invalid_qp_access
test_atomic atomic_invalid_rkey atomic_non_aligned_addr
test_atomic xrc_atomic_cmp_and_swap xrc_atomic_fetch_and_add
test_cqex xrc_traffic_cq_ex
test_qpex qp_ex_xrc_send qp_ex_xrc_send_imm
test_relaxed_ordering ro_xrc_traffic
test_cq_events cq_events_rc cq_events_ud
test_cqex rc_traffic_cq_ex ud_traffic_cq_ex
test_cq create_cq create_cq_bad_flow create_cq_with_comp_channel resize_cq
test_cqex create_cq_ex create_cq_ex_bad_flow
test_device dev_list open_dev phys_port_cnt_ex query_device query_device_ex query_gid query_gid_ex query_gid_table
test_device query_gid_table_bad_flow query_pkey query_port query_port_bad_flow
test_flow eth_spec_flow_traffic ipv4_spec_flow_traffic ipv6_spec_flow_traffic tcp_spec_flow_traffic udp_spec_flow_traffic
test_fork is_fork_initialized
test_mlx5_cq dv_cq_cqe_size_with_bad_size dv_cq_padding_not_aligned_cqe_size
test_mlx5_cq dv_cq_cqe_size_128 dv_cq_cqe_size_64 dv_cq_cqe_size_environment_var dv_cq_padding dv_cq_traffic
test_mlx5_dr domain_dump
test_mlx5_flow create_empty_matcher create_smac_matcher smac_matcher_to_qp_flow
test_mlx5_huge_page prefer_obj_on_huge
test_mlx5_query_port dv_query_port
test_mlx5_raw_wqe mixed_raw_wqe_traffic
test_mlx5_timestamp timestamp_free_running_rc_traffic timestamp_real_time_rc_traffic
test_mlx5_timestamp query_rt_values timestamp_free_running_recv_raw_traffic timestamp_free_running_send_raw_traffic
test_mlx5_timestamp timestamp_real_time_raw_traffic
test_mlx5_uar alloc_uar
test_mr invalidate_mw_type1 mw_type1 mw_type2 mw_type2_invalidate_dealloc mw_type2_invalidate_local
test_mr mw_type2_invalidate_remote reg_mw_wrong_type
test_qpex qp_ex_rc_bind_mw
test_mr mr_rereg_access mr_rereg_access_bad_flow mr_rereg_addr mr_rereg_pd reg_mr_bad_flags
test_pd alloc_pd dealloc_pd destroy_pd_twice multiple_pd_creation
test_qp create_raw_qp_ex_no_attr create_raw_qp_ex_with_attr create_raw_qp_no_attr create_raw_qp_with_attr query_raw_qp
test_qp create_raw_qp_ex_with_illegal_caps_max_recv_sge create_raw_qp_ex_with_illegal_caps_max_recv_wr
test_qp create_raw_qp_ex_with_illegal_caps_max_send_sge create_raw_qp_ex_with_illegal_caps_max_send_wr
test_qp create_rc_qp_ex_no_attr create_rc_qp_ex_with_attr create_rc_qp_no_attr create_rc_qp_with_attr
test_qp create_uc_qp_ex_no_attr create_uc_qp_ex_with_attr create_uc_qp_no_attr create_uc_qp_with_attr
test_qp create_ud_qp_ex_no_attr create_ud_qp_ex_with_attr create_ud_qp_no_attr create_ud_qp_with_attr
test_qp modify_ud_qp query_data_in_order query_rc_qp query_uc_qp query_ud_qp
test_qpex full_rq_bad_flow post_receive_qp_state_bad_flow post_send_qp_state_bad_flow rq_with_larger_sgl_bad_flow
test_qpex qp_ex_rc_atomic_cmp_swp qp_ex_rc_atomic_fetch_add qp_ex_rc_rdma_read qp_ex_rc_rdma_write qp_ex_rc_rdma_write_imm
test_qpex qp_ex_rc_rdma_read_zero_size qp_ex_rc_rdma_write_zero_length qp_ex_ud_zero_size
test_qpex qp_ex_rc_send qp_ex_rc_send_imm qp_ex_ud_send qp_ex_ud_send_imm
test_relaxed_ordering ro_rc_traffic ro_ud_traffic
test_rss_traffic rss_traffic
test_shared_pd imported_rc_ex_rdma_write
"""
WITH_DEVICE_MEMORY = """
test_device create_dm create_dm_bad_flow destroy_dm destroy_dm_bad_flow dm_read dm_write dm_write_bad_flow
test_device import_dm multi_process_alloc_dm
test_mr create_dm_mr dm_bad_access dm_bad_registration dm_remote_traffic dm_traffic
"""


# Why the others skip themselves: what a test says, and where a ConnectX-5 of Linux 6.1 stands. Which is out of scope is refused by
# softhca with a message (doc/guides/softhca_models.rst, "Not modelled").
SKIPPED = [
    ("ODP is not supported", "on-demand paging: a model reports none unless its text says so"),
    ("There are no huge pages of size 2M", "on-demand paging again, of tests that look for hugepages first"),
    ("Allocating dmabuf is not supported", "memory of a GPU: this machine has no /dev/dri"),
    ("Create Mkey is not supported", "keys of mlx5dv, which libmlx5 makes by DevX"),
    ("DrTable creation failed", "software steering: libmlx5 writes the tables by DevX"),
    ("Could not find the PCI device", "ports of an e-switch, looked up in the machine's own /sys"),
    ("Crypto login details", "a card with keys for crypto, and a file with its login"),
    ("scapy package is needed", "DevX"),
    ("Opening mlx5 DevX context|DevX general command|VAR allocation|Modifying a QP UDP sport", "DevX"),
    ("Create Mlx5DV QP", "DC, memcpy by the device (MMO, ConnectX-6 and later)"),
    ("Create DC QP|DCI caps", "DC"),
    ("Set LAG affinity", "a bond of two ports"),
    ("[Cc]reat.* schedule elements", "DevX: QoS trees"),
    ("Tag matching", "a ConnectX-5 has it; softhca does not"),
    ("Device memory is not supported", "cx4lx has none"),
    ("Extended QP is not supported", "atomic write, which libmlx5 does not have"),
    ("Support CQE 128B compression", "compressed CQEs of 128 bytes, which no model has"),
    ("All gid indices populated", "a GID table without a gap"),
]


def unexplained_skips(text):
    return [why for why in re.findall(r"skipped ['\"](.*)['\"]", text)
            if not any(re.search(pattern, why) for pattern, _ in SKIPPED)]


def named(table):
    names = {}
    for module, *tests in (line.split() for line in table.split("\n") if line):
        names.setdefault(module, set()).update("test_" + test for test in tests)
    return names


def version_of(package):
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False).stdout


def unpack(to):
    """The files as they are; Debian compresses the long ones."""
    to.mkdir()
    for source in TESTS.iterdir():
        if source.suffix == ".gz":
            (to / source.stem).write_bytes(gzip.decompress(source.read_bytes()))
        elif source.is_file():
            shutil.copy(source, to)


def outcomes(*texts):
    """{"ok": {module: tests}, ...} of unittest's words: a test's name and at last, maybe lines later, how it ended."""
    ends = {}
    for part in (part for text in texts for part in re.split(r"^(?=test_\w+ \()", text.split("\n======")[0], flags=re.M)):
        name = re.match(r"(test_\w+) \(tests\.(test_\w+)\.", part)
        words = re.findall(r"(?:^|\.\.\. )(ok|ERROR|FAIL|skipped)\b", part, re.M)
        if name:
            ends.setdefault(words[-1] if words else "no end", {}).setdefault(name.group(2), set()).add(
                RENAMED.get(name.group(1), name.group(1)))
    return ends


CLOSED_TOO_LATE = re.compile(r"^Exception ignored in: 'pyverbs\.\w+\.\w+\.__dealloc__'", re.M)


def closed_too_late(text):
    """Tests that ended with an ERROR because pyverbs closed objects after their context.

    With Python 3.13 pyverbs 56 frees an Mlx5Context of a skipped test before the CQ and the PD made in it: strace shows
    it close cmd_fd, and then the ioctl on that number, EBADF on hardware as here. Mostly Python only prints that. If it
    happens while another test's error is being made up, that has lost its errno: "Errno: 0, Success" where the test
    expects EOPNOTSUPP and would be skipped. Where pyverbs closes nothing too late, no such end is excused.
    """
    if not CLOSED_TOO_LATE.search(text):
        return set()
    return {name for name, why in re.findall(r"^ERROR: (test_\w+) (.*?)(?=^=====|\Z)", text, re.M | re.S)
            if re.search(r"Errno: (?:0, Success|9, Bad file descriptor)\s*(?:^-----|\Z)", why, re.M)}


def run(folder, modules, port):
    """(exit status, output)"""
    return run_on_softhca(["/usr/bin/python3", "-W", "ignore", str(folder / "run_tests.py"), "--dev", "mlx5_0", "-v",
                           *modules], [port])


def run_all(folder, modules, port):
    """The outputs of one process, or of one for each module.

    libibverbs reads the freed context there (valgrind: ibv_destroy_comp_channel in a block that ibv_close_device has
    freed), so that the process may crash, and the tests behind that are not run.
    """
    unpack(folder)
    ended = [run(folder, modules, port)]
    if ended[0][0] >= 128 and CLOSED_TOO_LATE.search(ended[0][1]):
        ended = [run(folder, [module], port) for module in modules]
    for status, text in ended:
        assert status < 128 or CLOSED_TOO_LATE.search(text), text
    return [text for _, text in ended]


@pytest.mark.parametrize("model", [pytest.param("cx5", marks=pytest.mark.long), pytest.param("cx4lx", marks=pytest.mark.long),
                                   pytest.param("cx6dx", marks=pytest.mark.sanitized)])
def test_what_the_device_offers(tmp_path, model):
    names = sorted({path.name.split(".")[0] for path in TESTS.glob("test_*.py*")})
    texts = run_all(tmp_path / "tests", [f"tests.{name}" for name in names if not LEFT_OUT.search(name)],
                    f"wire=loop,model={model}")
    ends = outcomes(*texts)
    wanted = named(PASSING)
    if model != "cx4lx":
        for module, tests in named(WITH_DEVICE_MEMORY).items():
            wanted[module] |= tests
    failing = dict(FAILING)
    # From Python 3.14 on multiprocessing does not fork unless it is told to, and the test cannot be passed on otherwise.
    if os.environ.get("SOFTHCA_KEEPER") == "0" or sys.version_info >= (3, 14):
        wanted["test_device"] -= FORKS
        failing["test_device"] = FAILING["test_device"] | FORKS
    for module, tests in wanted.items():
        assert tests <= ends["ok"].get(module, set()), (module, tests - ends["ok"].get(module, set()), texts)
    # Later releases of rdma-core say it in other words.
    if version_of("python3-pyverbs").startswith("44."):
        assert not [why for text in texts for why in unexplained_skips(text)], texts
    excused = set().union(*map(closed_too_late, texts))
    for word in ("ERROR", "FAIL", "no end"):
        for module, tests in ends.get(word, {}).items():
            assert tests <= failing.get(module, set()) | excused, (word, module, tests, texts)


def test_without_hugepages(tmp_path):
    """It wants to be refused them."""
    with host.no_more_hugepages():
        if host.nr_hugepages():
            pytest.skip("hugepages are reserved on this machine")
        texts = run_all(tmp_path / "tests", ["tests.test_mlx5_huge_page"], "wire=loop")
    assert "test_obj_on_huge" in outcomes(*texts)["ok"]["test_mlx5_huge_page"], texts


def test_pacing_entries(tmp_path):
    """They are for DevX contexts."""
    texts = run_all(tmp_path / "tests", ["tests.test_mlx5_pp"], "wire=loop,devx=on")
    assert outcomes(*texts) == {"ok": {"test_mlx5_pp": {"test_pp_alloc"}}}, texts
