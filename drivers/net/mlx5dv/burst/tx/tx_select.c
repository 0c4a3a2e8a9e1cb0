/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar instances of the send burst, and the choice of an instance. */
#include <stdio.h>

#include <rte_common.h>

#include "base/simd.h"
#include "tx_burst.h"

MDV_TX_OPTS_PLAIN(MDV_TX_INSTANCE, tx_scalar)
MDV_TX_OPTS_INLINE(MDV_TX_INSTANCE, tx_scalar)
MDV_TX_OPTS_SWP(MDV_TX_INSTANCE, tx_scalar)
MDV_TX_OPTS_COPY(MDV_TX_INSTANCE, tx_scalar)
MDV_TX_OPTS_COPY_L2(MDV_TX_INSTANCE, tx_scalar)

static const eth_tx_burst_t scalar[MDV_TX_NB_OPTS] = { MDV_TX_OPTS_PLAIN(MDV_TX_ROW, tx_scalar)
		MDV_TX_OPTS_INLINE(MDV_TX_ROW, tx_scalar) MDV_TX_OPTS_SWP(MDV_TX_ROW, tx_scalar)
			MDV_TX_OPTS_COPY(MDV_TX_ROW, tx_scalar)
				MDV_TX_OPTS_COPY_L2(MDV_TX_ROW, tx_scalar) };

/* clang-format off */
static const eth_tx_burst_t *const instances[] = {
	[MDV_SIMD_NONE] = scalar,
	[MDV_SIMD_128] = mdv_tx_vec128,
#ifdef RTE_ARCH_X86
	[MDV_SIMD_256] = mdv_tx_vec256,
#endif
};

static const struct {
	unsigned int opt;
	const char *name;
} opt_names[] = {
	{ MDV_TX_MULTI, "multi-segment" },
	{ MDV_TX_CSUM, "csum" },
	{ MDV_TX_VLAN, "vlan" },
	{ MDV_TX_TSO, "tso" },
	{ MDV_TX_SWP, "software parser" },
	{ MDV_TX_INLINE, "inline" },
	{ MDV_TX_INLINE_L2, "inline L2" },
	{ MDV_TX_FAST_FREE, "fast free" },
};
/* clang-format on */

/** @return options of the instance that serves @p opts. A device with the software parser needs no
 * inlined headers. */
static unsigned int
served_by(unsigned int opts)
{
	if (opts & MDV_TX_INLINE)
		return MDV_TX_INLINE_OPTS |
			(opts &
				(MDV_TX_FAST_FREE | MDV_TX_SWP |
					(opts & MDV_TX_SWP ? 0 : MDV_TX_INLINE_L2)));
	opts |= opts & MDV_TX_TSO ? MDV_TX_CSUM : 0;
	return opts & MDV_TX_SWP ? MDV_TX_SWP_OPTS | (opts & MDV_TX_FAST_FREE) : opts;
}

/** @return the widest vectors that an instance has; @p opts are served_by(). */
static enum mdv_simd
widest(unsigned int opts)
{
	unsigned int simd = RTE_DIM(instances) - 1;

	while (instances[simd][opts] == NULL)
		simd--;
	return simd;
}

eth_tx_burst_t
mdv_tx_select(unsigned int opts, unsigned int simd_bits)
{
	const char *limited_by;

	opts = served_by(opts);
	return instances[mdv_simd_choose(widest(opts), simd_bits, &limited_by)][opts];
}

const char *
mdv_tx_select_limited_by(unsigned int opts, unsigned int simd_bits)
{
	const char *limited_by;

	mdv_simd_choose(widest(served_by(opts)), simd_bits, &limited_by);
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
mdv_tx_select_describe(eth_tx_burst_t burst, struct rte_eth_burst_mode *mode)
{
	unsigned int i, opts;

	for (i = 0; i < RTE_DIM(instances); i++) {
		for (opts = 0; opts < MDV_TX_NB_OPTS; opts++) {
			if (burst == NULL || instances[i][opts] != burst)
				continue;
			describe(mdv_simd_name(i), opts, mode->info, sizeof(mode->info));
			return true;
		}
	}
	return false;
}
