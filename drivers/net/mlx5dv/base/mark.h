/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * MARK and FLAG in the 24-bit flow tag that an IBV_FLOW_SPEC_ACTION_TAG puts into each CQE.
 *
 *     tag 0            no rule tagged the packet (the device's own value)
 *     tag 1..0xfffffe  MARK, id = tag - 1: so id 0 differs from no tag
 *     tag 0xffffff     FLAG
 *
 * The flow engine makes tags, and the receive burst reads them; the two share nothing else.
 */
#ifndef MDV_MARK_H
#define MDV_MARK_H

#include <stdint.h>

/** No rule tagged the packet. */
#define MDV_MARK_TAG_NONE 0u
/** Action FLAG: RTE_MBUF_F_RX_FDIR without an id. */
#define MDV_MARK_TAG_FLAG 0xffffffu
/** Largest id an action MARK can carry. */
#define MDV_MARK_ID_MAX 0xfffffdu

/** @return the tag of MARK @p id, which is at most MDV_MARK_ID_MAX. */
static inline uint32_t
mdv_mark_to_tag(uint32_t id)
{
	return id + 1;
}

/** @return the id of a tag that is neither MDV_MARK_TAG_NONE nor MDV_MARK_TAG_FLAG. */
static inline uint32_t
mdv_mark_from_tag(uint32_t tag)
{
	return tag - 1;
}

#endif /* MDV_MARK_H */
