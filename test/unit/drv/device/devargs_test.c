/* SPDX-License-Identifier: BSD-3-Clause */
/* Each driver argument, good and bad. */
#include <string.h>

#include "device/devargs.h"
#include "rig.h"

/* clang-format off */
static const struct {
	const char *args;
	int result;
	const char *ibdev, *iface;
	enum mdv_sniff sniff;
	enum mdv_cqe_comp rx_cqe_comp;
	enum mdv_passthru_move passthru_move;
	uint32_t max_burst_sz;
	uint16_t typical_pkt_sz;
	enum mdv_mode mode;
	enum mdv_relaxed relaxed;
	enum mdv_sq_db_nc sq_db_nc;
	uint8_t port;
	enum mdv_inline_min inline_min;
	enum mdv_mprq mprq;
	uint16_t tx_inline;
	enum mdv_mempool_reg mempool_reg;
} cases[] = {
	{ "ibdev=mlx5_0", 0, "mlx5_0", "" },
	{ "iface=ens1f0np0", 0, "", "ens1f0np0" },
	{ "iface=fifteen_letters", 0, "", "fifteen_letters" },
	{ "iface=a", 0, "", "a" },
	{ "ibdev=a", 0, "a", "" },
	{ "iface=sixteen__letters", -EINVAL, NULL, NULL },
	{ "ibdev=0123456789012345678901234567890123456789012345678901234567890123", -EINVAL, NULL, NULL },
	{ "ibdev=a,port=1", 0, "a", "", .port = 1 },
	{ "ibdev=a,port=0xff", 0, "a", "", .port = 255 },
	{ "ibdev=a,port=0", -EINVAL, NULL, NULL },
	{ "ibdev=a,port=256", -EINVAL, NULL, NULL },
	{ "ibdev=a,port=-1", -EINVAL, NULL, NULL },
	{ "ibdev=a,port=one", -EINVAL, NULL, NULL },
	{ "iface=a,port=1", -EINVAL, NULL, NULL },
	{ "port=1", -EINVAL, NULL, NULL },
	{ "", -EINVAL, NULL, NULL },
	{ NULL, -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,iface=eth0", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,ibdev=mlx5_1", -EINVAL, NULL, NULL },
	{ "ibdev=", -EINVAL, NULL, NULL },
	{ "ibdev", -EINVAL, NULL, NULL },
	{ "ibdev=../mlx5_0", -EINVAL, NULL, NULL },
	{ "ibdev=..", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,sniff=none", 0, "mlx5_0", "", MDV_SNIFF_NONE },
	{ "sniff=rx,ibdev=mlx5_0", 0, "mlx5_0", "", MDV_SNIFF_RX },
	{ "iface=eth0,sniff=all", 0, "", "eth0", MDV_SNIFF_ALL },
	{ "ibdev=mlx5_0,sniff=tx", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,sniff=", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,sniff=none,sniff=rx", -EINVAL, NULL, NULL },
	{ "sniff=rx", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,rx_cqe_comp=auto", 0, "mlx5_0", "", 0, MDV_CQE_COMP_AUTO },
	{ "ibdev=mlx5_0,rx_cqe_comp=off", 0, "mlx5_0", "", 0, MDV_CQE_COMP_OFF },
	{ "rx_cqe_comp=hash,iface=eth0,sniff=rx", 0, "", "eth0", MDV_SNIFF_RX, MDV_CQE_COMP_HASH },
	{ "ibdev=mlx5_0,rx_cqe_comp=csum", 0, "mlx5_0", "", 0, MDV_CQE_COMP_CSUM },
	{ "ibdev=mlx5_0,rx_cqe_comp=1", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0", 0, "mlx5_0", "", 0, 0, MDV_PASSTHRU_MOVE_OFF },
	{ "ibdev=mlx5_0,passthru_move=on", 0, "mlx5_0", "", 0, 0, MDV_PASSTHRU_MOVE_ON },
	{ "ibdev=mlx5_0,passthru_move=off", 0, "mlx5_0", "", 0, 0, MDV_PASSTHRU_MOVE_OFF },
	{ "ibdev=mlx5_0,passthru_move=maybe", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,mode=auto", 0, "mlx5_0", "", 0, 0, 0, 0, 0, MDV_MODE_AUTO },
	{ "ibdev=mlx5_0,mode=dv", 0, "mlx5_0", "", 0, 0, 0, 0, 0, MDV_MODE_DV },
	{ "mode=ibv,iface=eth0", 0, "", "eth0", 0, 0, 0, 0, 0, MDV_MODE_IBV },
	{ "ibdev=mlx5_0,mode=verbs", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,relaxed_ordering=auto", 0, "mlx5_0", "", 0, 0, 0, 0, 0, 0, MDV_RELAXED_AUTO },
	{ "relaxed_ordering=on,ibdev=mlx5_0", 0, "mlx5_0", "", 0, 0, 0, 0, 0, 0, MDV_RELAXED_ON },
	{ "ibdev=mlx5_0,relaxed_ordering=off", 0, "mlx5_0", "", 0, 0, 0, 0, 0, 0, MDV_RELAXED_OFF },
	{ "ibdev=mlx5_0,relaxed_ordering=1", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,sq_db_nc=auto", 0, "mlx5_0", "", 0, 0, 0, 0, 0, 0, 0, MDV_SQ_DB_NC_AUTO },
	{ "ibdev=mlx5_0,sq_db_nc=0", 0, "mlx5_0", "", 0, 0, 0, 0, 0, 0, 0, MDV_SQ_DB_NC_OFF },
	{ "ibdev=mlx5_0,sq_db_nc=1", 0, "mlx5_0", "", 0, 0, 0, 0, 0, 0, 0, MDV_SQ_DB_NC_ON },
	{ "ibdev=mlx5_0,sq_db_nc=2", -EINVAL, NULL, NULL },
	{ "ibdev=a,mprq=off", 0, "a", "", .mprq = MDV_MPRQ_OFF },
	{ "ibdev=a,mprq=auto", 0, "a", "", .mprq = MDV_MPRQ_AUTO },
	{ "mprq=on,ibdev=a", 0, "a", "", .mprq = MDV_MPRQ_ON },
	{ "ibdev=a,mprq=1", -EINVAL, NULL, NULL },
	{ "ibdev=a,mprq=", -EINVAL, NULL, NULL },
	{ "ibdev=a,mr_mempool_reg_en=1", 0, "a", "", .mempool_reg = MDV_MEMPOOL_REG_ON },
	{ "mr_mempool_reg_en=0,ibdev=a", 0, "a", "", .mempool_reg = MDV_MEMPOOL_REG_OFF },
	{ "ibdev=a,mr_mempool_reg_en=2", -EINVAL, NULL, NULL },
	{ "ibdev=a,mr_mempool_reg_en=", -EINVAL, NULL, NULL },
	{ "ibdev=a,tx_inline=0", 0, "a", "" },
	{ "tx_inline=60,ibdev=a", 0, "a", "", .tx_inline = 60 },
	{ "ibdev=a,tx_inline=924", 0, "a", "", .tx_inline = 924 },
	{ "ibdev=a,tx_inline=auto", 0, "a", "", .tx_inline = MDV_TX_INLINE_AUTO },
	{ "ibdev=a,tx_inline=925", -EINVAL, NULL, NULL },
	{ "ibdev=a,tx_inline=-1", -EINVAL, NULL, NULL },
	{ "ibdev=a,tx_inline=all", -EINVAL, NULL, NULL },
	{ "ibdev=a,tx_inline=", -EINVAL, NULL, NULL },
	{ "ibdev=a,txq_inline_min=auto", 0, "a", "", .inline_min = MDV_INLINE_MIN_AUTO },
	{ "ibdev=a,txq_inline_min=18", 0, "a", "", .inline_min = MDV_INLINE_MIN_L2 },
	{ "ibdev=a,txq_inline_min=58", 0, "a", "", .inline_min = MDV_INLINE_MIN_NETWORK },
	{ "ibdev=a,txq_inline_min=78", 0, "a", "", .inline_min = MDV_INLINE_MIN_TRANSPORT },
	{ "ibdev=a,txq_inline_min=0", -EINVAL, NULL, NULL },
	{ "ibdev=a,txq_inline_min=60", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,tx_max_burst_sz=65536", 0, "mlx5_0", "", 0, 0, 0, 65536 },
	{ "ibdev=mlx5_0,tx_max_burst_sz=0xffffffff,tx_typical_pkt_sz=65535", 0, "mlx5_0", "", 0, 0, 0, UINT32_MAX, 65535 },
	{ "ibdev=mlx5_0,tx_max_burst_sz=4294967296", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,tx_typical_pkt_sz=65536", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,tx_max_burst_sz=-1", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,tx_max_burst_sz=64k", -EINVAL, NULL, NULL },
	{ "ibdev=mlx5_0,speed=1", -EINVAL, NULL, NULL },
	{ "IBDEV=mlx5_0", -EINVAL, NULL, NULL },
	{ "=", -EINVAL, NULL, NULL },
	{ ",,,", -EINVAL, NULL, NULL },
};
/* clang-format on */

static void
parses_or_refuses_each_case(void **state)
{
	struct mdv_config config;
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		memset(&config, 0x5a, sizeof(config));
		print_message("%s\n", cases[i].args == NULL ? "(none)" : cases[i].args);
		assert_int_equal(
			mdv_devargs_parse("net_mlx5dv0", cases[i].args, &config), cases[i].result);
		if (cases[i].result != 0) {
			/* Outputs are set only on success. */
			assert_int_equal(config.ibdev[0], 0x5a);
			continue;
		}
		assert_string_equal(config.ibdev, cases[i].ibdev);
		assert_string_equal(config.iface, cases[i].iface);
		assert_int_equal(config.sniff, cases[i].sniff);
		assert_int_equal(config.rx_cqe_comp, cases[i].rx_cqe_comp);
		assert_int_equal(config.passthru_move, cases[i].passthru_move);
		assert_int_equal(config.tx_max_burst_sz, cases[i].max_burst_sz);
		assert_int_equal(config.tx_typical_pkt_sz, cases[i].typical_pkt_sz);
		assert_int_equal(config.mode, cases[i].mode);
		assert_int_equal(config.relaxed_ordering, cases[i].relaxed);
		assert_int_equal(config.sq_db_nc, cases[i].sq_db_nc);
		assert_int_equal(config.port, cases[i].port);
		assert_int_equal(config.txq_inline_min, cases[i].inline_min);
		assert_int_equal(config.mprq, cases[i].mprq);
		assert_int_equal(config.tx_inline, cases[i].tx_inline);
		assert_int_equal(config.mr_mempool_reg_en, cases[i].mempool_reg);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_or_refuses_each_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
