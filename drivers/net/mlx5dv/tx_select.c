/* SPDX-License-Identifier: BSD-3-Clause */
/* The instances of the send burst: one list makes the functions, the table and the text. */
#include <stdio.h>

#include <rte_common.h>

#include "tx.h"

/* clang-format off */
#define BURSTS_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define BURSTS(X) BURSTS_8(X, 0) BURSTS_8(X, 01) BURSTS_8(X, 02) BURSTS_8(X, 03)

/* The name is the option set in octal. */
#define BURST(opts) \
	static uint16_t \
	burst_##opts(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts) \
	{ \
		return mdv_tx_burst(txq, pkts, nb_pkts, opts); \
	}
#define BURST_ROW(opts) [opts] = burst_##opts,

BURSTS(BURST)

static const eth_tx_burst_t bursts[MDV_TX_NB_OPTS] = { BURSTS(BURST_ROW) };

static const struct {
	unsigned int opt;
	const char *name;
} opt_names[] = {
	{ MDV_TX_MULTI, "multi-segment" },
	{ MDV_TX_CSUM, "csum" },
	{ MDV_TX_VLAN, "vlan" },
	{ MDV_TX_INLINE_L2, "inline L2" },
	{ MDV_TX_FAST_FREE, "fast free" },
};
/* clang-format on */

eth_tx_burst_t
mdv_tx_select(unsigned int opts)
{
	return bursts[opts % MDV_TX_NB_OPTS];
}

int
mdv_tx_select_opts(eth_tx_burst_t burst)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(bursts); i++) {
		if (bursts[i] == burst)
			return i;
	}
	return -1;
}

void
mdv_tx_select_describe(unsigned int opts, char *text, size_t size)
{
	size_t len = snprintf(text, size, "Scalar");
	unsigned int i;

	for (i = 0; i < RTE_DIM(opt_names) && len < size; i++) {
		if (opts & opt_names[i].opt)
			len += snprintf(text + len, size - len, ", %s", opt_names[i].name);
	}
}
