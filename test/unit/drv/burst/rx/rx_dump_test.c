/* SPDX-License-Identifier: BSD-3-Clause */
/* The dump of a receive queue's completions for people. */
#include <stdlib.h>
#include <string.h>

#include "rx_rig.h"

static char *text;

/** @return what is printed, which the caller frees @param wanted the call's result */
static char *
dump(uint16_t offset, uint16_t num, int wanted)
{
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(mdv_rx_dump_cqes(&rx_rig.rxq, offset, num, file), wanted);
	fclose(file);
	return text;
}

static void
completions_are_told_as_they_are(void **state)
{
	const struct rx_frame frame = { .len = 100, .fill = 1, .hash = 0x12345678, .tag = 7 };
	struct rte_mbuf *pkts[2];
	const char *second;

	(void)state;
	rx_rig_start(0, 2 * RX_RIG_WQES);
	mdv_rx_fill(&rx_rig.rxq);
	rx_rig.rxq.ready = true;
	assert_true(rx_rig_receive(&frame));
	assert_true(rx_rig_receive(&(struct rx_frame){ .len = 64, .fill = 2 }));
	dump(0, 3, 0);
	assert_ptr_equal(
		strstr(text, "  Rx queue 0, CQE slot 0, the next: opcode 2, owner 0, 100 bytes\n"),
		text);
	/* The hash is word 3, the length word 11, the tag word 14. */
	assert_non_null(strstr(text, "\n    00000000 00000000 00000000 12345678 "));
	assert_non_null(strstr(text, " 00000064 "));
	second = strstr(text, "CQE slot 1: opcode 2, owner 0, 64 bytes\n");
	assert_non_null(second);
	/* Not written yet. */
	assert_non_null(strstr(second, "CQE slot 2: opcode 15, owner 0, "));
	free(text);

	/* Behind the next are those that were taken, and an offset goes round. */
	assert_int_equal(mdv_rx_select(0, 128)(&rx_rig.rxq, pkts, 2), 2);
	dump((uint16_t)-2, 2, 0);
	assert_ptr_equal(strstr(text, "  Rx queue 0, CQE slot 0: opcode 2"), text);
	assert_non_null(strstr(text, "CQE slot 1: opcode 2"));
	assert_null(strstr(text, "the next"));
	free(text);
	rte_pktmbuf_free_bulk(pkts, 2);

	/* At most the whole ring. */
	dump(0, UINT16_MAX, 0);
	assert_non_null(strstr(text, "CQE slot 63"));
	assert_true(strlen(text) < RX_RIG_WQES * 300);
	free(text);
	rx_rig.rxq.ready = false;
	dump(0, 1, -EINVAL);
	assert_string_equal(text, "");
	free(text);
	rx_rig.rxq.ready = true;
	rx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completions_are_told_as_they_are),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
