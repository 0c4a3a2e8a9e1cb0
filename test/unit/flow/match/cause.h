/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The part of an item that a refusal blames, for rows of tests. */
#ifndef FLOW_CAUSE_H
#define FLOW_CAUSE_H

#include <rte_flow.h>

enum cause {
	CAUSE_ITEM,
	CAUSE_MASK,
	CAUSE_LAST
};

/** @return the pointer that rte_flow_error's cause must be */
static inline const void *
cause_of(const struct rte_flow_item *item, enum cause cause)
{
	switch (cause) {
	case CAUSE_MASK:
		return item->mask;
	case CAUSE_LAST:
		return item->last;
	default:
		return item;
	}
}

#endif /* FLOW_CAUSE_H */
