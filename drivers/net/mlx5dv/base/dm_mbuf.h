/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The mark of mbufs that lie in the device's own memory (mem/dm.h makes them). */
#ifndef MDV_DM_MBUF_H
#define MDV_DM_MBUF_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_mbuf.h>

/** @return the mark of @p shared: an address inside of @p shared itself, as only device memory
 * has. */
static inline void *
mdv_dm_mbuf_opaque(struct rte_mbuf_ext_shared_info *shared)
{
	return RTE_PTR_ADD(shared, 1);
}

/** @return whether mdv_dm_attach() made the mbuf. The mark is the same in all processes; the
 * address of a function would not be. */
static inline bool
mdv_dm_mbuf_is(const struct rte_mbuf *mbuf)
{
	return RTE_MBUF_HAS_EXTBUF(mbuf) &&
		mbuf->shinfo->fcb_opaque == mdv_dm_mbuf_opaque(mbuf->shinfo);
}

/** @return whether any of the packet's first @p len bytes are there. */
static inline bool
mdv_dm_mbuf_is_partly(const struct rte_mbuf *mbuf, uint32_t len)
{
	while (mbuf != NULL && !mdv_dm_mbuf_is(mbuf)) {
		if (len <= mbuf->data_len)
			return false;
		len -= mbuf->data_len;
		mbuf = mbuf->next;
	}
	return mbuf != NULL;
}

#endif /* MDV_DM_MBUF_H */
