/* SPDX-License-Identifier: BSD-3-Clause */
/* The dump of a send queue for people. */
#include <stdlib.h>
#include <string.h>

#include "tx_rig.h"

static char *text;
static size_t size;

static FILE *
start(void)
{
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	return file;
}

/** Check that @p parts, up to NULL, are in the text in this order. */
static void
check(FILE *file, const char *const *parts)
{
	const char *at = text;

	fclose(file);
	for (at = text; *parts != NULL; parts++) {
		const char *found = strstr(at, *parts);

		if (found == NULL)
			fail_msg("no \"%s\" in:\n%s", *parts, at);
		at = found + strlen(*parts);
	}
	free(text);
}

/** A chain with a tag, one to be cut, and two together. */
static void
send_four(void)
{
	const struct mdv_caps caps = { .max_tso_bytes = 4000, .tx_checksum = true };
	struct rte_mbuf *pkts[4];

	tx_rig.txq.limits = mdv_tx_limits_of(&caps, RTE_ETH_TX_OFFLOAD_TCP_TSO);
	pkts[0] = tx_rig_packet(1, 70);
	assert_int_equal(rte_pktmbuf_chain(pkts[0], tx_rig_packet(1, 30)), 0);
	pkts[0]->ol_flags = RTE_MBUF_F_TX_VLAN;
	pkts[0]->vlan_tci = 0x123;
	pkts[1] = tx_rig_packet(1, 400);
	pkts[1]->ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	pkts[1]->l2_len = 14;
	pkts[1]->l3_len = 20;
	pkts[1]->l4_len = 20;
	pkts[1]->tso_segsz = 100;
	pkts[2] = tx_rig_packet(1, 61);
	pkts[3] = tx_rig_packet(1, 62);
	assert_int_equal(
		mdv_tx_select(MDV_TX_TSO | MDV_TX_MULTI | MDV_TX_VLAN, 128)(&tx_rig.txq, pkts, 4),
		4);
}

static void
wqes_are_told_as_they_are(void **state)
{
	static const char *const all[] = { "WQE 0 (slot 0): SEND, 4 units, completion on error",
		"inserts tag 0x123", "70 bytes at 0x", ", lkey 0xabcd12\n", "30 bytes at 0x",
		"WQE 1 (slot 1): TSO, 7 units", "checksums: outer-IP outer-L4",
		"segments of 100 bytes", "54 bytes inlined", "346 bytes at 0x",
		"WQE 3 (slot 3): SEND of many, 4 units", "61 bytes", "62 bytes", NULL };
	static const char *const second[] = { "WQE 1 (slot 1): TSO", NULL };
	FILE *file;

	(void)state;
	tx_rig_start();
	send_four();
	file = start();
	assert_int_equal(mdv_tx_dump_wqes(&tx_rig.txq, 0, 99, file), 0);
	check(file, all);
	file = start();
	assert_int_equal(mdv_tx_dump_wqes(&tx_rig.txq, 1, 1, file), 0);
	fflush(file);
	assert_null(strstr(text, "WQE 0"));
	assert_null(strstr(text, "WQE 3"));
	check(file, second);
	tx_rig_stop();
}

static void
a_ring_that_is_empty_or_stopped_has_none(void **state)
{
	static const char *const stopped[] = { "Tx queue 0: stopped, 0 descriptors", NULL };
	FILE *file = start();

	(void)state;
	tx_rig_start();
	assert_int_equal(mdv_tx_dump_wqes(&tx_rig.txq, 0, 99, file), 0);
	assert_int_equal(mdv_tx_dump_wqes(&tx_rig.txq, UINT16_MAX, UINT16_MAX, file), 0);
	fflush(file);
	assert_int_equal(size, 0);
	tx_rig.txq.ready = false;
	assert_int_equal(mdv_tx_dump_wqes(&tx_rig.txq, 0, 99, file), -EINVAL);
	mdv_tx_dump(&tx_rig.txq, file);
	check(file, stopped);
	tx_rig.txq.ready = true;
	tx_rig_stop();
}

static void
indices_and_the_last_error_are_told(void **state)
{
	static const char *const parts[] = {
		"Tx queue 0: SQ 0x123456 of 64 WQEBBs: 0 to 4 with the device, doorbell record 4\n",
		"mbufs 0 to 5 not known to be sent\n",
		"CQ of 16: 0 of 0 completions taken, doorbell record 0\n", "7 frames, ",
		" 0 errors\n", NULL
	};
	static const char *const after[] = { "0 to 0 with the device", "4 errors\n",
		"stopped 1 times, last by WQE 0 with syndrome 0x04, local protection", NULL };
	FILE *file;

	(void)state;
	tx_rig_start();
	send_four();
	file = start();
	mdv_tx_dump(&tx_rig.txq, file);
	check(file, parts);
	((struct mlx5_err_cqe *)tx_rig_cqe(MLX5_CQE_REQ_ERR, 0))->syndrome =
		MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, 0), 4);
	file = start();
	mdv_tx_dump(&tx_rig.txq, file);
	check(file, after);
	tx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wqes_are_told_as_they_are),
		cmocka_unit_test(a_ring_that_is_empty_or_stopped_has_none),
		cmocka_unit_test(indices_and_the_last_error_are_told),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
