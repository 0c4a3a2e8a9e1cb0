/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports inline on send: the table of tx_inline=auto, row by row, and the rings it takes. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "queue/tx/tx_inline.h"
#include "queue/tx/txq.h"
#include "rig.h"

/** Codes of InfiniBand Architecture 14.2.5.6: four lanes of 25 Gbit/s, or one. */
#define LANES_4  2
#define LANES_1  1
#define SPEED_25 32

static struct ibv_port_attr port_attr;

static int
query_port(struct ibv_context *ctx, uint8_t number, struct ibv_port_attr *attr, size_t size)
{
	(void)ctx, (void)number;
	assert_true(size <= sizeof(port_attr));
	memcpy(attr, &port_attr, size);
	return 0;
}

static struct verbs_context context = {
	.sz = sizeof(context),
	.query_port = query_port,
	.context.abi_compat = __VERBS_ABI_IS_EXTENDED,
};

/** A file of the device's directory; no @p text: none. */
static void
pci_file(const char *root, const char *name, const char *text)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/%s", root, name);
	unlink(path);
	if (text == NULL)
		return;
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

/* clang-format off */
static const struct {
	uint16_t config, nb_queues, nb_desc;
	enum mdv_mode mode;
	bool one_a_wqe;
	const char *width, *gts; /* of PCI */
	uint8_t lanes;           /* of a port of 25 Gbit/s each; 0: unknown */
	uint16_t inline_max;
} cases[] = {
	{ 0, 16, 1024, MDV_MODE_DV, false, NULL, NULL, LANES_4, 0 },
	{ 60, 1, 1024, MDV_MODE_DV, false, NULL, NULL, LANES_4, 60 },
	{ MDV_TX_INLINE_MAX, 1, 1024, MDV_MODE_DV, true, "16", "8.0 GT/s PCIe", LANES_4, 924 },
	/* auto */
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, NULL, NULL, LANES_4, 124 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_IBV, false, NULL, NULL, LANES_4, 0 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, true, NULL, NULL, LANES_4, 0 },
	{ MDV_TX_INLINE_AUTO, 7, 1024, MDV_MODE_DV, false, NULL, NULL, LANES_4, 0 },
	/* 100 Gbit/s take 133: 126 of Gen3 x16 are too few, 252 of Gen4 x16 are not. */
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "16", "8.0 GT/s PCIe", LANES_4, 124 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "16", "16.0 GT/s PCIe", LANES_4, 0 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "8", "16.0 GT/s PCIe", LANES_4, 124 },
	/* 25 take 33: 32 of Gen1 x16 or Gen2 x8. */
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "16", "2.5 GT/s PCIe", LANES_1, 124 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "8", "5.0 GT/s PCIe", LANES_1, 124 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "8", "8.0 GT/s PCIe", LANES_1, 0 },
	/* Nobody knows: the queues decide. */
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "16", "16.0 GT/s PCIe", 0, 124 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "0", "Unknown", LANES_4, 124 },
	{ MDV_TX_INLINE_AUTO, 8, 1024, MDV_MODE_DV, false, "16", NULL, LANES_4, 124 },
	/* 124 bytes take three WQEBBs, so a descriptor has four. */
	{ MDV_TX_INLINE_AUTO, 8, 8192, MDV_MODE_DV, false, NULL, NULL, LANES_4, 124 },
	{ MDV_TX_INLINE_AUTO, 8, 16384, MDV_MODE_DV, false, NULL, NULL, LANES_4, 0 },
};
/* clang-format on */

static void
what_is_inlined(void **state)
{
	char root[] = "/tmp/tx_inline_XXXXXX", device[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(device, sizeof(device), "%s/device", root);
	assert_int_equal(mkdir(device, 0700), 0);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct mdv_txq txq = { .nb_desc = cases[i].nb_desc };
		void *queues[16] = { [0] = &txq };
		struct rig_port rig;

		rig_port_init(&rig);
		rig.data.tx_queues = queues;
		rig.data.nb_tx_queues = cases[i].nb_queues;
		rig.port.device.ctx = &context.context;
		strcpy(rig.port.device.sysfs_path, root);
		rig.port.device.caps.mode = cases[i].mode;
		rig.port.device.caps.max_qp_wr = 32768;
		rig.port.device.caps.tx_multi_packet = !cases[i].one_a_wqe;
		rig.port.config.tx_inline = cases[i].config;
		port_attr.active_width = cases[i].lanes;
		port_attr.active_speed = SPEED_25;
		pci_file(root, "current_link_width", cases[i].width);
		pci_file(root, "current_link_speed", cases[i].gts);
		mdv_tx_inline_choose(&rig.port);
		if (rig.port.tx_inline != cases[i].inline_max)
			fail_msg("case %u: %u bytes", i, rig.port.tx_inline);
	}
	pci_file(root, "current_link_width", NULL);
	pci_file(root, "current_link_speed", NULL);
	assert_int_equal(rmdir(device), 0);
	assert_int_equal(rmdir(root), 0);
}

/** Control, Ethernet segment, four bytes and the frame, in WQEBBs of 64 bytes: powers of two. */
static void
descriptors_have_room_for_inlined_packets(void **state)
{
	static const struct {
		uint16_t inline_max, bbs;
	} sizes[] = { { 0, 1 }, { 1, 1 }, { 28, 1 }, { 29, 2 }, { 60, 2 }, { 92, 2 }, { 93, 4 },
		{ 220, 4 }, { 221, 8 }, { 476, 8 }, { 477, 16 }, { MDV_TX_INLINE_MAX, 16 } };
	const struct mdv_caps caps = { .max_qp_wr = 32768, .mode = MDV_MODE_DV };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		assert_int_equal(1u << mdv_tx_inline_log2_bbs(sizes[i].inline_max), sizes[i].bbs);
		assert_int_equal(
			mdv_txq_desc_max(&caps, sizes[i].inline_max), 32768 / sizes[i].bbs);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_inlined),
		cmocka_unit_test(descriptors_have_room_for_inlined_packets),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
