/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar instances of the receive burst, and the choice of an instance. */
#include <stdio.h>

#include <rte_common.h>

#include "base/simd.h"
#include "rx_burst.h"

#define BURST(name, opts) MDV_RX_INSTANCE(name, opts, false)
MDV_RX_OPTS_PLAIN(BURST, rx_scalar)
MDV_RX_OPTS_SCATTER(BURST, rx_scalar)
MDV_RX_OPTS_STRIDE(BURST, rx_scalar)

static const eth_rx_burst_t scalar[MDV_RX_NB_OPTS] = { MDV_RX_OPTS_PLAIN(MDV_RX_ROW, rx_scalar)
		MDV_RX_OPTS_SCATTER(MDV_RX_ROW, rx_scalar)
			MDV_RX_OPTS_STRIDE(MDV_RX_ROW, rx_scalar) };

/* clang-format off */
static const struct {
	const eth_rx_burst_t *bursts;
	unsigned int nb_bursts;
} instances[] = {
	[MDV_SIMD_NONE] = { scalar, RTE_DIM(scalar) },
	[MDV_SIMD_128] = { mdv_rx_vec128, RTE_DIM(mdv_rx_vec128) },
#ifdef RTE_ARCH_X86
	[MDV_SIMD_256] = { mdv_rx_vec256, RTE_DIM(mdv_rx_vec256) },
	[MDV_SIMD_512] = { mdv_rx_vec512, RTE_DIM(mdv_rx_vec512) },
#endif
};

static const struct {
	unsigned int opt;
	const char *name;
} opt_names[] = {
	{ MDV_RX_SCATTER, "scattered" },
	{ MDV_RX_SPLIT, "split" },
	{ MDV_RX_STRIDE, "striding" },
	{ MDV_RX_CSUM, "csum" },
	{ MDV_RX_HASH, "hash" },
	{ MDV_RX_MARK, "mark" },
	{ MDV_RX_TIMESTAMP, "timestamp" },
};
/* clang-format on */

/** @return the widest vectors that an instance has. */
static enum mdv_simd
widest(unsigned int opts)
{
	unsigned int simd = RTE_DIM(instances) - 1;

	while (opts >= instances[simd].nb_bursts)
		simd--;
	return simd;
}

eth_rx_burst_t
mdv_rx_select(unsigned int opts, unsigned int simd_bits)
{
	const char *limited_by;

	if (opts & MDV_RX_SPLIT)
		return mdv_rx_split_burst[opts & (MDV_RX_NB_OPTS_SPLIT - 1)];
	return instances[mdv_simd_choose(widest(opts), simd_bits, &limited_by)].bursts[opts];
}

const char *
mdv_rx_select_limited_by(unsigned int opts, unsigned int simd_bits)
{
	const char *limited_by;

	if (opts & MDV_RX_SPLIT)
		return "packets are split";
	mdv_simd_choose(widest(opts), simd_bits, &limited_by);
	return limited_by;
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

	for (i = 0; i < RTE_DIM(instances); i++) {
		for (opts = 0; opts < instances[i].nb_bursts; opts++) {
			if (instances[i].bursts[opts] != burst)
				continue;
			describe(mdv_simd_name(i), opts, mode->info, sizeof(mode->info));
			return true;
		}
	}
	for (opts = 0; opts < MDV_RX_NB_OPTS_SPLIT; opts++) {
		if (mdv_rx_split_burst[opts] != burst)
			continue;
		describe(mdv_simd_name(MDV_SIMD_NONE), opts | MDV_RX_SCATTER | MDV_RX_SPLIT,
			mode->info, sizeof(mode->info));
		return true;
	}
	return false;
}
