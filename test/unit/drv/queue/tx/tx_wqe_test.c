/* SPDX-License-Identifier: BSD-3-Clause */
/* The builders of WQE segments, byte by byte. */
#include <string.h>

#include "queue/tx/tx_wqe.h"
#include "rig.h"

static void
ctrl_bytes(void **state)
{
	static const uint8_t want[16] = { 0x00, 0xab, 0xcd, 0x0a, 0x12, 0x34, 0x56, 0x03, 0, 0, 0,
		0x08, 0, 0, 0, 0 };
	struct mlx5_wqe_ctrl_seg ctrl;

	(void)state;
	memset(&ctrl, 0xff, sizeof(ctrl));
	mdv_tx_wqe_ctrl(&ctrl, MLX5_OPCODE_SEND, 0xabcd, 0x123456 << 8, 3, MDV_HW_CTRL_CQE_ALWAYS);
	assert_memory_equal(&ctrl, want, sizeof(want));
}

static void
eth_bytes(void **state)
{
	static const uint8_t plain[16] = { 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t insert[16] = { 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x00, 0x61,
		0x23 };
	struct mlx5_wqe_eth_seg eth;

	(void)state;
	memset(&eth, 0xff, sizeof(eth));
	mdv_tx_wqe_eth(&eth, MLX5_ETH_WQE_L3_CSUM | MLX5_ETH_WQE_L4_CSUM, 0);
	assert_memory_equal(&eth, plain, sizeof(plain));
	assert_int_equal(((uint8_t *)&eth)[16], 0xff);
	mdv_tx_wqe_eth(&eth, MLX5_ETH_WQE_L3_CSUM, mdv_tx_wqe_insert(0x6123));
	assert_memory_equal(&eth, insert, sizeof(insert));
}

static void
eth_inline_bytes(void **state)
{
	static const uint8_t header[18] = { 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K',
		'L', 'M', 'N', 'O', 'P', 'Q', 'R' };
	static const uint8_t want[32] = { 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x00, 18, 'A', 'B',
		'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R' };
	struct mlx5_wqe_eth_seg eth;

	(void)state;
	memset(&eth, 0xff, sizeof(eth));
	mdv_tx_wqe_eth_inline(&eth, MLX5_ETH_WQE_L4_CSUM, header, sizeof(header));
	assert_memory_equal(&eth, want, sizeof(want));
	mdv_tx_wqe_eth_inline(&eth, 0, header, 14);
	assert_int_equal(((uint8_t *)&eth)[13], 14);
}

static void
data_bytes(void **state)
{
	static const uint8_t want[16] = { 0, 0, 0x05, 0xdc, 0, 0xab, 0xcd, 0x12, 0x01, 0x02, 0x03,
		0x04, 0x05, 0x06, 0x07, 0x08 };
	struct mlx5_wqe_data_seg seg;

	(void)state;
	mdv_tx_wqe_data(&seg, 0x0102030405060708, 1500, rte_cpu_to_be_32(RIG_LKEY));
	assert_memory_equal(&seg, want, sizeof(want));
}

static void
wqebbs(void **state)
{
	(void)state;
	assert_int_equal(mdv_tx_wqe_bbs(1), 1);
	assert_int_equal(mdv_tx_wqe_bbs(4), 1);
	assert_int_equal(mdv_tx_wqe_bbs(5), 2);
	assert_int_equal(mdv_tx_wqe_bbs(60), 15);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ctrl_bytes),
		cmocka_unit_test(eth_bytes),
		cmocka_unit_test(eth_inline_bytes),
		cmocka_unit_test(data_bytes),
		cmocka_unit_test(wqebbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
