/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Pattern items to match specs; one row an item and one a field: flow_item_row.h. Pure. */
#ifndef MDV_FLOW_ITEM_H
#define MDV_FLOW_ITEM_H

#include <stddef.h>

#include <rte_flow.h>

#include "flow_build.h"

/**
 * Put the specs of @p pattern into @p build, which is initialised here.
 * @param features MDV_FLOW_CAN_* of flow_probe.h
 * @return 0, or a negative errno after filling @p error with item and field; @p build is undefined
 * then
 */
int mdv_flow_item_translate(const struct rte_flow_item pattern[], uint32_t features,
	struct mdv_flow_build *build, struct rte_flow_error *error);

/** @return the bytes of the item's structure; 0: VOID. @param type accepted in a pattern */
size_t mdv_flow_item_bytes(enum rte_flow_item_type type);
/** @return the mask of an accepted item with a spec: its own, or the default one. */
const void *mdv_flow_item_mask(const struct rte_flow_item *item);

#endif /* MDV_FLOW_ITEM_H */
