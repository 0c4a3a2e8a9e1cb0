/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A port's table of memory regions, for the tests of mem/mr*.c. */
#ifndef DRV_MR_RIG_H
#define DRV_MR_RIG_H

#include <rte_mbuf.h>

#include "mem/mr_cache.h"
#include "rig.h"

#define NB_MBUFS 128
#define ROOM     2176

static struct rig_port rig;

static inline struct mdv_mr_table *
table_new(void)
{
	struct mdv_mr_table *table;

	rig_port_init(&rig);
	table = mdv_mr_create(&rig.port.device, rig.data.port_id);
	assert_non_null(table);
	return table;
}

/** All that was registered is gone with the table. */
static inline void
table_delete(struct mdv_mr_table *table)
{
	mdv_mr_destroy(table);
	assert_int_equal(rig_verbs.nb_mrs, 0);
}

static inline uint32_t
lkey_of(struct mdv_mr_cache *cache, const struct rte_mbuf *mbuf)
{
	return mdv_mr_lkey(cache, rte_pktmbuf_mtod(mbuf, uintptr_t), mbuf);
}

#endif /* DRV_MR_RIG_H */
