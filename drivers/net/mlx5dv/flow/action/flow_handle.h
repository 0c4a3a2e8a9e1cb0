/* SPDX-License-Identifier: BSD-3-Clause */
/** @file An indirect action: made once, named by many rules (flow_indirect.h). */
#ifndef MDV_FLOW_HANDLE_H
#define MDV_FLOW_HANDLE_H

#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow_driver.h>

#include "flow_count.h"

struct rte_flow_action_handle {
	LIST_ENTRY(rte_flow_action_handle) next; /**< in its bucket */
	struct rte_flow_action *action;          /**< a copy of the action with its configuration */
	uint32_t nb_rules; /**< number of rules that name it, in the device or not; atomic */
	struct mdv_flow_count count; /**< of COUNT */
};

#endif /* MDV_FLOW_HANDLE_H */
