/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar instances of the send burst, and which instance is taken. */
#include <stdio.h>

#include <rte_common.h>
#include <rte_cpuflags.h>

#include "tx_burst.h"

#define BURST(opts) MDV_TX_INSTANCE(opts, false)
MDV_TX_OPTS_PLAIN(BURST)
MDV_TX_OPTS_INLINE(BURST)

static const eth_tx_burst_t scalar[MDV_TX_NB_OPTS] = { MDV_TX_OPTS_PLAIN(MDV_TX_ROW)
		MDV_TX_OPTS_INLINE(MDV_TX_ROW) };

static bool
always(void)
{
	return true;
}

#ifdef RTE_ARCH_X86
static bool
has_avx2(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_BMI2) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_MOVBE) > 0;
}
#endif

/* clang-format off */
/** The best first. */
static const struct {
	const char *name;
	const eth_tx_burst_t *bursts;
	unsigned int nb_bursts;
	unsigned int simd_bits;
	bool (*runs)(void);
} widths[] = {
#ifdef RTE_ARCH_X86
	{ "Vector AVX2", mdv_tx_vec256, RTE_DIM(mdv_tx_vec256), 256, has_avx2 },
#endif
#if defined(RTE_ARCH_X86)
	{ "Vector SSE", mdv_tx_vec128, RTE_DIM(mdv_tx_vec128), 128, always },
#elif defined(RTE_ARCH_ARM64)
	{ "Vector Neon", mdv_tx_vec128, RTE_DIM(mdv_tx_vec128), 128, always },
#endif
	{ "Scalar", scalar, RTE_DIM(scalar), 0, always },
};

static const struct {
	unsigned int opt;
	const char *name;
} opt_names[] = {
	{ MDV_TX_MULTI, "multi-segment" },
	{ MDV_TX_CSUM, "csum" },
	{ MDV_TX_VLAN, "vlan" },
	{ MDV_TX_TSO, "tso" },
	{ MDV_TX_INLINE_L2, "inline L2" },
	{ MDV_TX_FAST_FREE, "fast free" },
};
/* clang-format on */

eth_tx_burst_t
mdv_tx_select(unsigned int opts, unsigned int simd_bits)
{
	unsigned int i;

	opts |= opts & MDV_TX_TSO ? MDV_TX_CSUM : 0;
	for (i = 0; i < RTE_DIM(widths) - 1; i++) {
		if (opts < widths[i].nb_bursts && simd_bits >= widths[i].simd_bits &&
			widths[i].runs())
			break;
	}
	return widths[i].bursts[opts];
}

static void
describe(const char *width, unsigned int opts, char *text, size_t size)
{
	size_t len = snprintf(text, size, "%s", width);
	unsigned int i;

	for (i = 0; i < RTE_DIM(opt_names) && len < size; i++) {
		if (opts & opt_names[i].opt)
			len += snprintf(text + len, size - len, ", %s", opt_names[i].name);
	}
}

bool
mdv_tx_select_describe(eth_tx_burst_t burst, struct rte_eth_burst_mode *mode)
{
	unsigned int i, opts;

	for (i = 0; i < RTE_DIM(widths); i++) {
		for (opts = 0; opts < widths[i].nb_bursts; opts++) {
			if (burst == NULL || widths[i].bursts[opts] != burst)
				continue;
			describe(widths[i].name, opts, mode->info, sizeof(mode->info));
			return true;
		}
	}
	return false;
}
