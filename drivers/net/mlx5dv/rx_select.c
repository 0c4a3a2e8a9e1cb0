/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar instances of the receive burst, and which instance is taken. */
#include <stdio.h>

#include <rte_common.h>
#include <rte_cpuflags.h>

#include "rx_burst.h"

#define BURST(opts) MDV_RX_INSTANCE(opts, false)
MDV_RX_OPTS_PLAIN(BURST)
MDV_RX_OPTS_SCATTER(BURST)

static const eth_rx_burst_t scalar[MDV_RX_NB_OPTS] = { MDV_RX_OPTS_PLAIN(MDV_RX_ROW)
		MDV_RX_OPTS_SCATTER(MDV_RX_ROW) };

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
	const eth_rx_burst_t *bursts;
	unsigned int nb_bursts;
	unsigned int simd_bits;
	bool (*runs)(void);
} widths[] = {
#ifdef RTE_ARCH_X86
	{ "Vector AVX2", mdv_rx_vec256, RTE_DIM(mdv_rx_vec256), 256, has_avx2 },
#endif
#if defined(RTE_ARCH_X86)
	{ "Vector SSE", mdv_rx_vec128, RTE_DIM(mdv_rx_vec128), 128, always },
#elif defined(RTE_ARCH_ARM64)
	{ "Vector Neon", mdv_rx_vec128, RTE_DIM(mdv_rx_vec128), 128, always },
#endif
	{ "Scalar", scalar, RTE_DIM(scalar), 0, always },
};

static const struct {
	unsigned int opt;
	const char *name;
} opt_names[] = {
	{ MDV_RX_SCATTER, "scattered" },
	{ MDV_RX_CSUM, "csum" },
	{ MDV_RX_HASH, "hash" },
	{ MDV_RX_MARK, "mark" },
	{ MDV_RX_TIMESTAMP, "timestamp" },
};
/* clang-format on */

eth_rx_burst_t
mdv_rx_select(unsigned int opts, unsigned int simd_bits)
{
	unsigned int i;

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
mdv_rx_select_describe(eth_rx_burst_t burst, struct rte_eth_burst_mode *mode)
{
	unsigned int i, opts;

	for (i = 0; i < RTE_DIM(widths); i++) {
		for (opts = 0; opts < widths[i].nb_bursts; opts++) {
			if (widths[i].bursts[opts] != burst)
				continue;
			describe(widths[i].name, opts, mode->info, sizeof(mode->info));
			return true;
		}
	}
	return false;
}
