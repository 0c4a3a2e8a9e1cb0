# SPDX-License-Identifier: BSD-3-Clause
"""What verbs and direct verbs can be asked of a device is a key of its model, or has a reason why it is none."""
import pathlib
import re
import subprocess

import pytest
from harness import paths

HEADERS = pathlib.Path("/usr/include/infiniband")
NOT_HERE = "of what softhca does not have, so no model says more: DC, RD, on-demand paging, tag matching"
ROCE = "of connected queue pairs, datagrams, memory windows and shared receive queues, which are alike on all of softhca's cards"
PORT = "of the port, which is no model's: an option of --port, or Linux's"
NAME = "names, not what the device can do"
KERNEL = "of Linux, whatever the card"

# Member of a struct: the keys that are it, or why there is none.
DEVICE_ATTR = {
    "fw_ver": {"fw_ver"}, "vendor_part_id": {"vendor_part_id"}, "hw_ver": {"hw_ver"}, "max_mr_size": {"max_mr_size"},
    "max_qp": {"max_qp"}, "max_qp_wr": {"max_qp_wr"}, "max_sge": {"max_sge"}, "max_cq": {"max_cq"}, "max_cqe": {"max_cqe"},
    "max_mr": {"max_mr"}, "max_pd": {"max_pd"},
    "node_guid": PORT, "sys_image_guid": PORT, "phys_port_cnt": PORT, "max_pkeys": PORT,
    "vendor_id": NAME, "page_size_cap": KERNEL, "local_ca_ack_delay": KERNEL,
    "device_cap_flags": {"ip_csum"}, "max_raw_ethy_qp": KERNEL + ": mlx5_ib tells of none", "max_raw_ipv6_qp": NOT_HERE,
    "max_sge_rd": ROCE, "max_qp_rd_atom": ROCE, "max_res_rd_atom": ROCE, "max_qp_init_rd_atom": ROCE, "atomic_cap": ROCE,
    "max_ah": ROCE, "max_mcast_grp": ROCE, "max_mcast_qp_attach": ROCE, "max_total_mcast_qp_attach": ROCE,
    "max_ee_rd_atom": NOT_HERE, "max_ee_init_rd_atom": NOT_HERE, "max_ee": NOT_HERE, "max_rdd": NOT_HERE, "max_mw": ROCE,
    "max_fmr": NOT_HERE, "max_map_per_fmr": NOT_HERE, "max_srq": ROCE, "max_srq_wr": ROCE, "max_srq_sge": ROCE,
}
DEVICE_ATTR_EX = {
    "orig_attr": {*DEVICE_ATTR["fw_ver"]}, "comp_mask": KERNEL,
    "odp_caps": NOT_HERE, "xrc_odp_caps": NOT_HERE, "tm_caps": NOT_HERE, "pci_atomic_caps": NOT_HERE,
    "completion_timestamp_mask": {"real_time_clock"}, "hca_core_clock": KERNEL + ": its page has this clock's frequency",
    "device_cap_flags_ex": {"scatter_fcs", "cvlan_stripping"}, "tso_caps": {"max_tso"},
    "rss_caps": {"max_rwq_indirection_tables", "max_rwq_indirection_table_size", "rx_hash_fields"},
    "max_wq_type_rq": {"max_wq_type_rq"}, "packet_pacing_caps": {"rate_limit_max_kbps", "rate_limit_bursts"},
    "raw_packet_caps": {"cvlan_stripping", "scatter_fcs", "ip_csum"}, "cq_mod_caps": KERNEL + ": MAX_CQ_PERIOD and MAX_CQ_COUNT",
    "max_dm_size": {"max_dm_size"}, "phys_port_cnt_ex": PORT,
}
MLX5DV_CONTEXT = {
    "version": KERNEL, "comp_mask": KERNEL, "flags": {"multi_pkt_send", "cqe_128b_pad", "real_time_clock"},
    "cqe_comp_caps": {"cqe_comp_max", "cqe_comp_formats"}, "sw_parsing_caps": {"sw_parsing"},
    "striding_rq_caps": {"min_wqe_log_strides"}, "tunnel_offloads_caps": {"tunnel_offloads"},
    "max_dynamic_bfregs": KERNEL, "max_clock_info_update_nsec": KERNEL, "hca_core_clock": KERNEL, "num_lag_ports": PORT,
    "flow_action_flags": "of IPsec offloads, which no softhca has", "dc_odp_caps": NOT_HERE, "sig_caps": NOT_HERE,
    "dci_streams_caps": NOT_HERE, "max_wr_memcpy_length": NOT_HERE, "crypto_caps": NOT_HERE,
    # Of newer rdma-core.
    "reg_c0": "of metadata of an e-switch's frames, which softhca does not put there", "ooo_recv_wrs_caps": NOT_HERE,
    "max_dc_rd_atom": NOT_HERE, "max_dc_init_rd_atom": NOT_HERE,
}
STRUCTS = [("verbs.h", "ibv_device_attr", DEVICE_ATTR), ("verbs.h", "ibv_device_attr_ex", DEVICE_ATTR_EX),
           ("mlx5dv.h", "mlx5dv_context", MLX5DV_CONTEXT)]


def members(header, struct):
    body = re.search(rf"^struct {struct} {{\n(.*?)\n}};", (HEADERS / header).read_text(), re.M | re.S).group(1)
    return set(re.findall(r"\b\*?(\w+)(?:\[\d+\])?;", re.sub(r"/\*.*?\*/", "", body, flags=re.S)))


@pytest.fixture(name="keys", scope="module")
def fixture_keys():
    text = subprocess.run([paths.BUILD / "app/softhca", "help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z0-9_]+) = ", text, re.M))


@pytest.mark.parametrize("header, struct, known", STRUCTS)
def test_each_capability_is_a_key_or_has_a_reason(keys, header, struct, known):
    found = members(header, struct)
    assert len(found) > 10 and found <= set(known), found - set(known)
    named = set().union(*(value for value in known.values() if isinstance(value, set)))
    assert named <= keys, named - keys


def test_what_the_device_says_of_what_has_no_key_is_nothing():
    """Reasons of the kind "softhca does not have it" are true of each model: verbs reports none of it."""
    for model in ("cx5", "cx4lx", "cx6dx", "lean"):
        done = subprocess.run([paths.BUILD / "app/softhca", "run", "--port", f"model={model}", "--", "ibv_devinfo", "-v"],
                              stdout=subprocess.PIPE, text=True, check=True)
        values = dict(re.findall(r"^\t(max_\w+):\s+(\S+)$", done.stdout, re.M))
        none = [name for name, reason in DEVICE_ATTR.items() if reason is NOT_HERE and name in values]
        assert len(none) >= 6 and {values[name] for name in none} == {"0"}, model
        assert "tag matching not supported" in done.stdout
