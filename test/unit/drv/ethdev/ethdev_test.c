/* SPDX-License-Identifier: BSD-3-Clause */
/* What ethdev is told of a device: offloads and limits by its capabilities, one at a time. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/compat.h"
#include "ethdev/ethdev.h"
#include "flow/flow.h"
#include "flow/match/rss.h"
#include "kernel/ethtool.h"
#include "port/link.h"
#include "queue/rx/rxq.h"
#include "queue/tx/tx_limits.h"
#include "queue/tx/txq.h"
#include "rig.h"

#define RX_ALWAYS                                                                                  \
	(RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_VLAN_FILTER |                             \
		RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT)
#define RX_CSUMS                                                                                   \
	(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM |                            \
		RTE_ETH_RX_OFFLOAD_TCP_CKSUM)
#define TX_ALWAYS                                                                                  \
	(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE |                       \
		RTE_ETH_TX_OFFLOAD_VLAN_INSERT)
#define TX_CSUMS                                                                                   \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
#define VXLAN MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN

/* In place of the driver's, by the linker's --wrap. */
int __wrap_mdv_link_query(const struct mdv_port *port, bool *up, uint32_t *speed);
int __wrap_mdv_device_read_clock(const struct mdv_device *device, uint64_t *ticks);
enum rte_proc_type_t __wrap_rte_eal_process_type(void);

static struct rig_port rig;
static int link_result;
static enum rte_proc_type_t process;

int
__wrap_mdv_link_query(const struct mdv_port *port, bool *up, uint32_t *speed)
{
	assert_ptr_equal(port, &rig.port);
	*up = true;
	*speed = RTE_ETH_SPEED_NUM_25G;
	return link_result;
}

int
__wrap_mdv_device_read_clock(const struct mdv_device *device, uint64_t *ticks)
{
	assert_ptr_equal(device, &rig.port.device);
	*ticks = 99;
	return -ENOTSUP;
}

enum rte_proc_type_t
__wrap_rte_eal_process_type(void)
{
	return process;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	link_result = 0;
	process = RTE_PROC_PRIMARY;
	rig.port.device.caps = (struct mdv_caps){ .mode = MDV_MODE_DV,
		.max_qp = 5000,
		.max_wq = 5000,
		.max_sge = 30,
		.max_qp_wr = 32768,
		.max_cqe = 1 << 22,
		.max_rwq_ind_table_size = 512 };
	return 0;
}

static struct rte_eth_dev_info
infos(void)
{
	struct rte_eth_dev_info info = { 0 };

	assert_int_equal(mdv_ethdev_infos_get(&rig.dev, &info), 0);
	return info;
}

static void
offloads_follow_capabilities(void **state)
{
	static const struct {
		struct mdv_caps caps;
		uint64_t rx, tx; /* beyond those that there are always */
	} cases[] = {
		{ { .mode = MDV_MODE_DV }, RTE_ETH_RX_OFFLOAD_RSS_HASH, 0 },
		{ { .mode = MDV_MODE_IBV }, 0, 0 },
		{ { .mode = MDV_MODE_IBV, .rx_checksum = true }, RX_CSUMS, 0 },
		{ { .mode = MDV_MODE_IBV, .cvlan_strip = true }, RTE_ETH_RX_OFFLOAD_VLAN_STRIP, 0 },
		{ { .mode = MDV_MODE_IBV, .timestamp_mask = 1 }, RTE_ETH_RX_OFFLOAD_TIMESTAMP, 0 },
		{ { .mode = MDV_MODE_IBV, .timestamp_mask = UINT64_MAX },
			RTE_ETH_RX_OFFLOAD_TIMESTAMP, 0 },
		{ { .mode = MDV_MODE_IBV, .tx_checksum = true }, 0, TX_CSUMS },
		{ { .mode = MDV_MODE_IBV, .tunnel_offloads = VXLAN }, 0, 0 },
		{ { .mode = MDV_MODE_IBV, .tx_checksum = true, .tunnel_offloads = VXLAN }, 0,
			TX_CSUMS | RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM },
		{ { .mode = MDV_MODE_IBV, .max_tso_bytes = 1 }, 0, 0 },
		{ { .mode = MDV_MODE_IBV, .tx_checksum = true, .max_tso_bytes = 1 }, 0,
			TX_CSUMS | RTE_ETH_TX_OFFLOAD_TCP_TSO },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_eth_dev_info info;

		rig.port.device.caps = cases[i].caps;
		rig.port.device.caps.max_sge = 30;
		info = infos();
		assert_int_equal(info.rx_offload_capa, RX_ALWAYS | cases[i].rx);
		assert_int_equal(info.tx_offload_capa, TX_ALWAYS | cases[i].tx);
	}
}

/** They would go back to their pool attached to memory of a striding queue. */
static void
mbufs_of_striding_queues_are_not_freed_fast(void **state)
{
	(void)state;
	for (enum mdv_mprq mprq = MDV_MPRQ_AUTO; mprq <= MDV_MPRQ_ON; mprq++) {
		rig.port.config.mprq = mprq;
		assert_int_equal(
			infos().tx_offload_capa, TX_ALWAYS & ~RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	}
}

/** Unless the queues are striding. */
static void
packets_are_split_into_as_many_segments_as_wqes_have(void **state)
{
	static const struct {
		uint32_t max_sge;
		uint16_t nb;
	} cases[] = { { 30, 16 }, { 32, 32 }, { 100, 32 }, { 5, 4 }, { 2, 2 } };
	struct rte_eth_dev_info info;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.port.device.caps.max_sge = cases[i].max_sge;
		info = infos();
		assert_int_equal(info.rx_seg_capa.max_nseg, cases[i].nb);
		assert_true(info.rx_seg_capa.multi_pools && info.rx_seg_capa.offset_allowed);
		assert_int_equal(info.rx_seg_capa.offset_align_log2, 0);
	}
	rig.port.config.mprq = MDV_MPRQ_AUTO;
	assert_true((infos().rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT) != 0);
	rig.port.config.mprq = MDV_MPRQ_ON;
	info = infos();
	assert_int_equal(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT, 0);
	assert_int_equal(info.rx_seg_capa.max_nseg, 0);
	/* A frame that one buffer does not take makes the start fail. */
	assert_int_equal(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER, 0);
	rig.port.config.mprq = MDV_MPRQ_OFF;
}

static void
queues_are_limited_by_all(void **state)
{
	static const struct {
		uint32_t wq, qp;
		uint16_t rx, tx;
	} cases[] = {
		{ 5000, 5000, RTE_MAX_QUEUES_PER_PORT, RTE_MAX_QUEUES_PER_PORT },
		{ 7, 9, 7, 9 },
		{ 9, 7, 7, 7 },
		{ 0x10007, 0x10007, RTE_MAX_QUEUES_PER_PORT, RTE_MAX_QUEUES_PER_PORT },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.port.device.caps.max_wq = cases[i].wq;
		rig.port.device.caps.max_qp = cases[i].qp;
		assert_int_equal(infos().max_rx_queues, cases[i].rx);
		assert_int_equal(infos().max_tx_queues, cases[i].tx);
	}
}

static void
frames_and_rings_are_limited(void **state)
{
	struct mdv_caps *caps = &rig.port.device.caps;
	struct rte_eth_dev_info info;

	(void)state;
	rig.port.device.ifindex = 8;
	info = infos();
	assert_int_equal(info.if_index, 8);
	assert_int_equal(info.min_mtu, 68);
	assert_int_equal(info.max_mtu, 9978);
	assert_int_equal(info.max_rx_pktlen, 9978 + 14 + 4);
	assert_int_equal(info.min_rx_bufsize, 64);
	assert_int_equal(info.max_mac_addrs, 128);
	assert_int_equal(info.hash_key_size, 40);
	assert_int_equal(info.reta_size, 512);
	assert_int_equal(info.dev_capa,
		RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP | RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP |
			RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP | RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP);
	assert_int_equal(info.rx_desc_lim.nb_max, mdv_rxq_desc_max(caps));
	assert_int_equal(info.rx_desc_lim.nb_min, 64);
	assert_int_equal(info.rx_desc_lim.nb_align, 1);
	/* Of the device's 30: a WQE has a power of two. */
	assert_int_equal(info.rx_desc_lim.nb_seg_max, 16);
	assert_int_equal(info.tx_desc_lim.nb_max, 32768);
	assert_int_equal(info.tx_desc_lim.nb_min, MDV_TXQ_DESC_MIN);
	assert_int_equal(info.tx_desc_lim.nb_align, 1);
	assert_int_equal(info.tx_desc_lim.nb_seg_max, MDV_TX_SEGS_MAX);
	assert_int_equal(info.tx_desc_lim.nb_mtu_seg_max, MDV_TX_SEGS_MAX);
	assert_int_equal(info.default_rxportconf.burst_size, 32);
	assert_int_equal(info.default_txportconf.burst_size, 32);
	assert_int_equal(info.default_rxportconf.nb_queues, 1);
	assert_int_equal(info.default_txportconf.nb_queues, 1);
	assert_int_equal(info.default_rxportconf.ring_size, 1024);
	assert_int_equal(info.default_txportconf.ring_size, 1024);
	caps->max_cqe = 512;
	caps->max_qp_wr = 256;
	assert_int_equal(infos().default_txportconf.ring_size, 256);
	caps->max_qp_wr = 32768;
	assert_int_equal(infos().default_rxportconf.ring_size, 512);
	assert_int_equal(infos().default_txportconf.ring_size, 1024);
	/* Packets to be cut have long headers in their WQEs, and fewer segments. */
	assert_true(MDV_TX_TSO_SEGS_MAX < MDV_TX_SEGS_MAX);
	caps->max_tso_bytes = 1000;
	caps->max_sge = 33;
	info = infos();
	assert_int_equal(info.rx_desc_lim.nb_seg_max, 32);
	assert_int_equal(info.tx_desc_lim.nb_seg_max, MDV_TX_TSO_SEGS_MAX);
	assert_int_equal(info.tx_desc_lim.nb_mtu_seg_max, MDV_TX_SEGS_MAX);
	caps->mode = MDV_MODE_IBV;
	caps->max_sge = 5;
	info = infos();
	assert_int_equal(info.tx_desc_lim.nb_seg_max, 4);
	assert_int_equal(info.tx_desc_lim.nb_mtu_seg_max, 4);
}

static void
hashes_are_of_outer_headers(void **state)
{
	(void)state;
	assert_int_equal(infos().flow_type_rss_offloads, 0);
	rig.port.device.caps.rx_hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
	assert_int_equal(infos().flow_type_rss_offloads,
		mdv_rss_types(&rig.port.device.caps) | RTE_ETH_RSS_LEVEL_OUTERMOST);
	assert_true(infos().flow_type_rss_offloads & RTE_ETH_RSS_IPV4);
	assert_false(infos().flow_type_rss_offloads & RTE_ETH_RSS_IPV6);
}

/** Asked by the primary process, and as last seen for the others. */
static void
the_speed_is_the_current_one(void **state)
{
	(void)state;
	rig.data.dev_link.link_speed = RTE_ETH_SPEED_NUM_10G;
	assert_int_equal(infos().speed_capa, RTE_ETH_LINK_SPEED_25G);
	link_result = -EIO;
	assert_int_equal(infos().speed_capa, RTE_ETH_LINK_SPEED_10G);
	link_result = 0;
	process = RTE_PROC_SECONDARY;
	assert_int_equal(infos().speed_capa, RTE_ETH_LINK_SPEED_10G);
}

static void
packet_types_are_those_that_the_device_tells(void **state)
{
	static const uint32_t all[] = { RTE_PTYPE_L2_ETHER, RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_NONFRAG, RTE_PTYPE_L4_FRAG,
		RTE_PTYPE_L4_TCP, RTE_PTYPE_L4_UDP, RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_INNER_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_INNER_L4_NONFRAG,
		RTE_PTYPE_INNER_L4_FRAG, RTE_PTYPE_INNER_L4_TCP, RTE_PTYPE_INNER_L4_UDP,
		RTE_PTYPE_UNKNOWN };
	static const uint32_t outer[] = { RTE_PTYPE_L2_ETHER, RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_NONFRAG, RTE_PTYPE_L4_FRAG,
		RTE_PTYPE_L4_TCP, RTE_PTYPE_L4_UDP, RTE_PTYPE_UNKNOWN };
	static const uint32_t l2[] = { RTE_PTYPE_L2_ETHER, RTE_PTYPE_UNKNOWN };
	size_t nb = 0;

	(void)state;
	rig.port.device.caps.tunnel_offloads = 0;
	assert_memory_equal(mdv_ethdev_supported_ptypes_get(MDV_COMPAT_PTYPES_CALL(&rig.dev, &nb)),
		outer, sizeof(outer));
	assert_int_equal(nb, MDV_COMPAT_COUNTS_PTYPES ? RTE_DIM(outer) - 1 : 0);
	rig.port.device.caps.tunnel_offloads = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE;
	assert_memory_equal(mdv_ethdev_supported_ptypes_get(MDV_COMPAT_PTYPES_CALL(&rig.dev, &nb)),
		all, sizeof(all));
	assert_int_equal(nb, MDV_COMPAT_COUNTS_PTYPES ? RTE_DIM(all) - 1 : 0);
	rig.port.device.caps.mode = MDV_MODE_IBV;
	assert_memory_equal(mdv_ethdev_supported_ptypes_get(MDV_COMPAT_PTYPES_CALL(&rig.dev, &nb)),
		l2, sizeof(l2));
	assert_int_equal(nb, MDV_COMPAT_COUNTS_PTYPES ? RTE_DIM(l2) - 1 : 0);
}

/** ethdev wants the size that would do, and 0 where it did. */
static void
the_version_needs_room(void **state)
{
	static const struct {
		size_t size;
		int result;
		const char *text;
	} cases[] = { { 6, 0, "16.35" }, { 7, 0, "16.35" }, { 5, 6, "16.3" }, { 1, 6, "" },
		{ 0, 6, "zzzzzzz" } };

	(void)state;
	strcpy(rig.port.device.caps.fw_version, "16.35");
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		char text[8] = "zzzzzzz";

		assert_int_equal(mdv_ethdev_ops.fw_version_get(&rig.dev, text, cases[i].size),
			cases[i].result);
		assert_string_equal(text, cases[i].text);
	}
}

static void
what_else_is_asked(void **state)
{
	const struct rte_flow_ops *ops = NULL;
	uint64_t features = UINT64_MAX, ticks = 0;

	(void)state;
	assert_int_equal(mdv_ethdev_ops.flow_ops_get(&rig.dev, &ops), 0);
	assert_ptr_equal(ops, &mdv_flow_ops);
	assert_int_equal(mdv_ethdev_ops.rx_metadata_negotiate(&rig.dev, &features), 0);
	assert_int_equal(features, RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK);
	assert_int_equal(rig.port.rx_metadata, features);
	features = RTE_ETH_RX_METADATA_USER_MARK | RTE_ETH_RX_METADATA_TUNNEL_ID;
	assert_int_equal(mdv_ethdev_ops.rx_metadata_negotiate(&rig.dev, &features), 0);
	assert_int_equal(features, RTE_ETH_RX_METADATA_USER_MARK);
	assert_int_equal(rig.port.rx_metadata, RTE_ETH_RX_METADATA_USER_MARK);
	assert_int_equal(mdv_ethdev_ops.read_clock(&rig.dev, &ticks), -ENOTSUP);
	assert_int_equal(ticks, 99);
}

static void
queues_that_are_not_set_up_are_not_told(void **state)
{
	void *none[1] = { NULL };

	(void)state;
	rig.dev.data->rx_queues = none;
	rig.dev.data->tx_queues = none;
	assert_int_equal(mdv_ethdev_ops.eth_rx_descriptor_dump(&rig.dev, 0, 0, 1, stderr), -EINVAL);
	assert_int_equal(mdv_ethdev_ops.eth_tx_descriptor_dump(&rig.dev, 0, 0, 1, stderr), -EINVAL);
}

/** @param cookie counts what is written, and becomes -1 when a lock is held meanwhile */
static ssize_t
write_unlocked(void *cookie, const char *text, size_t size)
{
	ssize_t *nb = cookie;

	(void)text;
	if (pthread_mutex_trylock(&rig.port.queues.objects_lock) != 0) {
		*nb = -1;
		return size;
	}
	mdv_queue_list_unlock_objects(&rig.port.queues);
	*nb += *nb < 0 ? 0 : (ssize_t)size;
	return size;
}

/** Nobody may read a pipe, and all processes wait for the lock. */
static void
nothing_is_written_under_the_lock(void **state)
{
	static struct mdv_hw_cqe cqes[4];
	static struct mdv_txq txq;
	static struct mdv_rxq rxq = { .ready = true, .ring = { .cqes = cqes, .mask = 3 } };
	void *rx_queues[] = { &rxq }, *tx_queues[] = { &txq };
	ssize_t nb = 0;
	FILE *file = fopencookie(&nb, "w", (cookie_io_functions_t){ .write = write_unlocked });

	(void)state;
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	mdv_queue_list_init(&rig.port.queues);
	rig.data.rx_queues = rx_queues;
	rig.data.tx_queues = tx_queues;
	rig.data.nb_rx_queues = rig.data.nb_tx_queues = 1;
	assert_int_equal(mdv_ethdev_ops.eth_rx_descriptor_dump(&rig.dev, 0, 0, 1, file), 0);
	assert_true(nb > 0);
	nb = 0;
	assert_int_equal(mdv_ethdev_ops.eth_dev_priv_dump(&rig.dev, file), 0);
	assert_true(nb > 0);
	fclose(file);
}

/** As with DPDK's own driver: dpdk-proc-info asks for it, which is a secondary process. */
static void
every_process_reads_the_module(void **state)
{
	(void)state;
	assert_ptr_equal(mdv_ethdev_ops.get_module_info, mdv_ethtool_module_info);
	assert_ptr_equal(mdv_ethdev_secondary_ops.get_module_info, mdv_ethtool_module_info);
	assert_ptr_equal(mdv_ethdev_ops.get_module_eeprom, mdv_ethtool_module_eeprom);
	assert_ptr_equal(mdv_ethdev_secondary_ops.get_module_eeprom, mdv_ethtool_module_eeprom);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(offloads_follow_capabilities, port_make),
		cmocka_unit_test_setup(queues_are_limited_by_all, port_make),
		cmocka_unit_test_setup(mbufs_of_striding_queues_are_not_freed_fast, port_make),
		cmocka_unit_test_setup(
			packets_are_split_into_as_many_segments_as_wqes_have, port_make),
		cmocka_unit_test_setup(frames_and_rings_are_limited, port_make),
		cmocka_unit_test_setup(hashes_are_of_outer_headers, port_make),
		cmocka_unit_test_setup(the_speed_is_the_current_one, port_make),
		cmocka_unit_test_setup(packet_types_are_those_that_the_device_tells, port_make),
		cmocka_unit_test_setup(the_version_needs_room, port_make),
		cmocka_unit_test_setup(what_else_is_asked, port_make),
		cmocka_unit_test_setup(queues_that_are_not_set_up_are_not_told, port_make),
		cmocka_unit_test_setup(nothing_is_written_under_the_lock, port_make),
		cmocka_unit_test(every_process_reads_the_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
