/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a flow queue of the fake port has to say. */
#ifndef FLOW_PULL_H
#define FLOW_PULL_H

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/async/flow_async.h"

/** Pull one result, which must be this. */
static inline void
pull_one(uint32_t queue, const void *user_data, enum rte_flow_op_status status)
{
	struct rte_flow_op_result result = { .status = 99 };

	assert_int_equal(mdv_flow_async_pull(&fake.dev, queue, &result, 1, NULL), 1);
	assert_ptr_equal(result.user_data, user_data);
	assert_int_equal(result.status, status);
}

static inline void
pull_none(uint32_t queue)
{
	struct rte_flow_op_result result;

	assert_int_equal(mdv_flow_async_pull(&fake.dev, queue, &result, 1, NULL), 0);
}

#endif /* FLOW_PULL_H */
