/* SPDX-License-Identifier: BSD-3-Clause */
/* No operation of rte_flow is left to ethdev's "Function not implemented": those that verbs has
 * nothing for refuse in words. */

#include <errno.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"

#define NB_OPS (sizeof(struct rte_flow_ops) / sizeof(void (*)(void)))

static struct rte_flow_error error;
static struct rte_flow_tunnel tunnel;
static struct rte_mbuf mbuf;
static struct rte_flow_action action = ACTION(VXLAN_DECAP);
static struct rte_flow_item item = ITEM(VXLAN);
static const struct rte_flow_item_flex_conf flex;
static const int handle;

static int
aged(void)
{
	return mdv_flow_ops.get_aged_flows(&fake.dev, NULL, 0, &error);
}

static int
queue_aged(void)
{
	return mdv_flow_ops.get_q_aged_flows(&fake.dev, 0, NULL, 0, &error);
}

static int
tunnel_decap(void)
{
	struct rte_flow_action *actions;
	uint32_t nb;

	return mdv_flow_ops.tunnel_decap_set(&fake.dev, &tunnel, &actions, &nb, &error);
}

static int
tunnel_match(void)
{
	struct rte_flow_item *items;
	uint32_t nb;

	return mdv_flow_ops.tunnel_match(&fake.dev, &tunnel, &items, &nb, &error);
}

static int
restore(void)
{
	struct rte_flow_restore_info info;

	return mdv_flow_ops.get_restore_info(&fake.dev, &mbuf, &info, &error);
}

static int
actions_release(void)
{
	return mdv_flow_ops.tunnel_action_decap_release(&fake.dev, &action, 1, &error);
}

static int
items_release(void)
{
	return mdv_flow_ops.tunnel_item_release(&fake.dev, &item, 1, &error);
}

static int
flex_create(void)
{
	rte_errno = 0;
	assert_null(mdv_flow_ops.flex_item_create(&fake.dev, &flex, &error));
	return -rte_errno;
}

static int
flex_release(void)
{
	return mdv_flow_ops.flex_item_release(
		&fake.dev, (const struct rte_flow_item_flex_handle *)&handle, &error);
}

/* clang-format off */
static const struct {
	int (*call)(void);
	int code;
	const void *cause;
	const char *start;
} cases[] = {
	{ aged, -ENOTSUP, NULL, "aged flows: " },
	{ queue_aged, -ENOTSUP, NULL, "aged flows: " },
	{ tunnel_decap, -ENOTSUP, &tunnel, "tunnel offload: the driver gives no actions for it; take a tunnel off by VXLAN_DECAP" },
	{ tunnel_match, -ENOTSUP, &tunnel, "tunnel offload: the driver gives no items for it" },
	{ restore, -ENOTSUP, &mbuf, "tunnel offload: there is nothing to restore; the device does not tell" },
	{ actions_release, -EINVAL, &action, "tunnel offload: the driver gives no actions" },
	{ items_release, -EINVAL, &item, "tunnel offload: the driver gives no items" },
	{ flex_create, -ENOTSUP, &flex, "flex item: the device matches" },
	{ flex_release, -EINVAL, &handle, "flex item: the driver makes none" },
};
/* clang-format on */

static void
test_each_refuses(void **state)
{
	(void)state;
	fake_init_flow();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		memset(&error, 0, sizeof(error));
		assert_int_equal(cases[i].call(), cases[i].code);
		assert_ptr_equal(error.cause, cases[i].cause);
		assert_memory_equal(error.message, cases[i].start, strlen(cases[i].start));
	}
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
}

/** All members are pointers to functions: none is missing but the one that ethdev answers itself.
 */
static void
test_none_is_missing(void **state)
{
	const size_t proxy = offsetof(struct rte_flow_ops, pick_transfer_proxy);
	const uint8_t *bytes = (const uint8_t *)&mdv_flow_ops;

	(void)state;
	for (size_t i = 0; i < NB_OPS; i++) {
		void (*op)(void);

		memcpy(&op, bytes + i * sizeof(op), sizeof(op));
		if ((op == NULL) != (i * sizeof(op) == proxy))
			fail_msg("operation %zu of rte_flow_ops", i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_refuses),
		cmocka_unit_test(test_none_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
