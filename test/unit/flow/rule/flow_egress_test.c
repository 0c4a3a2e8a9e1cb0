/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules on sent packets: their effects, their own levels, and their refusals. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/action/flow_action_row.h"
#include "flow/match/flow_feature.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"

static const struct rte_flow_attr egress = { .egress = 1 }, ingress = { .ingress = 1 };
static const struct rte_flow_action_queue queue_1 = { 1 };

/* clang-format off */
#define ETH	PATTERN(ITEM(ETH))
#define UDP	PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP))
/* clang-format on */

static struct rte_flow *
create(const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	return mdv_flow_ops.create(&fake.dev, attr, pattern, actions, error);
}

static const struct ibv_flow_attr *
attr_at(unsigned int index)
{
	return &fake_flow_at(index)->build.attr;
}

/** On the QP that receives nothing, with the egress flag and the actions. */
static void
test_installed(void **state)
{
	(void)state;
	fake_start_isolated();
	assert_non_null(create(&egress, UDP, ACTIONS(ACTION(DROP), ACTION(COUNT)), NULL));
	assert_non_null(create(&egress, ETH, ACTIONS(ACTION(VOID), ACTION(COUNT)), NULL));
	assert_int_equal(fake.nb_flows, 2);
	assert_int_equal(fake.nb_qps, 1);
	assert_int_equal(fake.nb_counters, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(attr_at(i)->flags, IBV_FLOW_ATTR_FLAGS_EGRESS);
		assert_null(fake_flow_at(i)->qp->table);
	}
	/* ETH IPV4 UDP DROP COUNT, and ETH COUNT */
	assert_int_equal(attr_at(0)->num_of_specs, 5);
	assert_int_equal(attr_at(1)->num_of_specs, 2);
	mdv_flow_stop(&fake.port);
	fake_assert_empty();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 2);
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	fake_end_flow();
}

/** Sent packets have tables of their own: levels of one direction are free in the other. */
static void
test_levels(void **state)
{
	static struct rte_flow *made[2][14];

	(void)state;
	fake_start_isolated();
	for (unsigned int i = 0; i < RTE_DIM(made[0]); i++) {
		const struct rte_flow_attr in = { .ingress = 1, .priority = i };
		const struct rte_flow_attr out = { .egress = 1, .priority = i };

		made[0][i] = create(&in, ETH, ACTIONS(ACTION(DROP)), NULL);
		made[1][i] = create(&out, ETH, ACTIONS(ACTION(DROP)), NULL);
		assert_non_null(made[0][i]);
		assert_non_null(made[1][i]);
	}
	for (unsigned int i = 0; i < RTE_DIM(made[0]); i++)
		for (unsigned int way = 0; way < 2; way++) {
			const uint8_t level = mdv_flow_level_of(&made[way][i]->level);

			assert_int_equal(made[way][i]->egress, way);
			if (i != 0)
				assert_true(level > mdv_flow_level_of(&made[way][i - 1]->level));
		}
	for (unsigned int i = 0; i < RTE_DIM(made[0]); i++) {
		assert_int_equal(mdv_flow_ops.destroy(&fake.dev, made[1][i], NULL), 0);
		assert_int_equal(mdv_flow_ops.destroy(&fake.dev, made[0][i], NULL), 0);
	}
	fake_assert_empty();
	fake_end_flow();
}

/** Every action but two, by its name; both directions; no action; a device without the feature. */
static void
test_refused(void **state)
{
	const struct rte_flow_attr both = { .ingress = 1, .egress = 1 };
	struct rte_flow_error error;

	(void)state;
	fake_start_isolated();
	for (unsigned int type = 2; type < MDV_FLOW_ACTION_ROWS; type++) {
		const struct rte_flow_action list[] = {
			ACTION(DROP),
			{ .type = type, .conf = &queue_1 },
			ACTION(END),
		};
		char message[64];

		/* INDIRECT is looked up first, in rules of both directions. */
		if (mdv_flow_action_rows[type].egress || type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			continue;
		snprintf(message, sizeof(message), "egress with %s: a sent packet is dropped",
			mdv_flow_action_rows[type].name);
		assert_null(create(&egress, ETH, list, &error));
		if (strncmp(error.message, message, strlen(message)) != 0)
			fail_msg("%s: %s", message, error.message);
		assert_int_equal(rte_errno, ENOTSUP);
		assert_ptr_equal(error.cause, &list[1]);
	}
	assert_null(create(&egress, ETH, ACTIONS(ACTION(DROP), ACTION(DROP)), &error));
	assert_string_equal(
		error.message, "DROP with DROP: a rule has one fate; leave one of them out");
	assert_null(create(&egress, ETH, ACTIONS(ACTION(VOID)), &error));
	assert_string_equal(error.message, "egress: the actions change nothing; add DROP or COUNT");
	assert_null(create(&both, ETH, ACTIONS(ACTION(DROP)), &error));
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS);
	assert_non_null(strstr(error.message, "write two rules"));
	fake.port.flow->features &= ~MDV_FLOW_CAN_EGRESS;
	assert_null(create(&egress, ETH, ACTIONS(ACTION(DROP)), &error));
	assert_string_equal(error.message,
		"egress: the device or its kernel does not steer sent packets; use ingress");
	assert_int_equal(fake.nb_created, 0);
	fake_end_flow();
}

static void
test_dump(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	fake_start_isolated();
	assert_non_null(create(&ingress, ETH, ACTIONS(ACTION_CONF(QUEUE, &queue_1)), NULL));
	assert_non_null(create(&egress, ETH, ACTIONS(ACTION(COUNT)), NULL));
	assert_int_equal(mdv_flow_ops.dev_dump(&fake.dev, NULL, file, NULL), 0);
	fclose(file);
	assert_non_null(strstr(text, "type: NIC_RX"));
	assert_non_null(strstr(text, "type: NIC_TX"));
	assert_true(strstr(text, "PORT: sent") > strstr(text, "type: NIC_TX"));
	free(text);
	fake_end_flow();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_installed),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
