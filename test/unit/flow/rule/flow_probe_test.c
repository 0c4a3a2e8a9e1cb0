/* SPDX-License-Identifier: BSD-3-Clause */
/* Trial rules on devices that lack features: each feature alone, any number of priorities, and the
 * limits of a trial. */

#include <errno.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/match/flow_feature.h"
#include "flow/rule/flow_state.h"

/* clang-format off */
static const struct {
	uint32_t feature;
	uint32_t type, before; /* of the spec, and of the one before it where that matters */
	unsigned int field; /* of the spec */
	uint32_t flags; /* rules that have these */
	uint32_t action; /* FAKE_ACTION(): flow actions */
} lacks[] = {
#define RECEIVED(reformat) FAKE_ACTION(MLX5DV_FLOW_TABLE_TYPE_NIC_RX, reformat)
#define SENT(reformat)     FAKE_ACTION(MLX5DV_FLOW_TABLE_TYPE_NIC_TX, reformat)
#define REFORMAT(type)     MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_##type
#define FIELD(f, inner, spec, member, before) \
	{ MDV_FLOW_CAN_##f, IBV_FLOW_SPEC_##spec | (inner), before, MDV_FLOW_FIELD_##spec##_##member }
	FIELD(IPV4_TTL, 0, IPV4_EXT, ttl, 0),
	FIELD(IPV4_FLAGS, 0, IPV4_EXT, flags, 0),
	FIELD(IPV6_HOP_LIMIT, 0, IPV6, hop_limit, 0),
	FIELD(ESP_SPI, 0, ESP, spi, 0),
	FIELD(ESP_SEQ, 0, ESP, seq, 0),
	FIELD(INNER, IBV_FLOW_SPEC_INNER, ETH, dst_mac, 0),
	FIELD(VXLAN, 0, VXLAN_TUNNEL, tunnel_id, 0),
	FIELD(GRE, 0, GRE, key, IBV_FLOW_SPEC_ETH),
	FIELD(GRE_FLAGS, 0, GRE, c_ks_res0_ver, IBV_FLOW_SPEC_ETH),
	FIELD(MPLS, 0, MPLS, label, IBV_FLOW_SPEC_ETH),
	FIELD(MPLS_UDP, 0, MPLS, label, IBV_FLOW_SPEC_UDP),
	FIELD(MPLS_GRE, 0, MPLS, label, IBV_FLOW_SPEC_GRE),
	{ MDV_FLOW_CAN_EGRESS, .flags = IBV_FLOW_ATTR_FLAGS_EGRESS },
	{ MDV_FLOW_CAN_CHANGE, .action = RECEIVED(-1) },
	{ MDV_FLOW_CAN_CHANGE_SENT, .action = SENT(-1) },
	{ MDV_FLOW_CAN_DECAP, .action = RECEIVED(REFORMAT(L2_TUNNEL_TO_L2)) },
	{ MDV_FLOW_CAN_DECAP_L3, .action = RECEIVED(REFORMAT(L3_TUNNEL_TO_L2)) },
	{ MDV_FLOW_CAN_ENCAP, .action = SENT(REFORMAT(L2_TO_L2_TUNNEL)) },
	{ MDV_FLOW_CAN_ENCAP_L3, .action = SENT(REFORMAT(L2_TO_L3_TUNNEL)) },
};
/* clang-format on */

static struct ibv_flow *(*accept_flow)(struct ibv_qp *qp, struct ibv_flow_attr *attr);
static unsigned int lacking;

/** Accept only trials that drop frames between addresses that no frame has. */
static void
assert_harmless(const uint8_t *bytes, const struct ibv_flow_attr *attr)
{
	static const uint8_t none[16],
		whole[12] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };
	uint32_t last;

	assert_memory_equal(bytes + 20 + 6, none, sizeof(none));
	assert_memory_equal(bytes + 20 + 22, whole, sizeof(whole));
	memcpy(&last, bytes + attr->size - 8, sizeof(last));
	assert_int_equal(last, IBV_FLOW_SPEC_ACTION_DROP);
	/* In the first table: no table before it is written again. */
	assert_int_equal(
		attr->flags & ~(uint32_t)IBV_FLOW_ATTR_FLAGS_EGRESS, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
}

/** @return whether the field's mask has a bit set. */
static bool
has_field(const uint8_t *spec)
{
	const struct mdv_flow_spec *row = &mdv_flow_specs[mdv_flow_spec_id(lacks[lacking].type)];
	const struct mdv_flow_spec_field *field = &row->fields[lacks[lacking].field];
	uint8_t any = 0;

	for (unsigned int i = 0; i < field->bytes; i++)
		any |= spec[row->mask_at + field->at + i];
	return any != 0;
}

static bool
is_lacking(const uint8_t *bytes, unsigned int nb)
{
	uint32_t type = 0, before;

	for (unsigned int at = 20; nb > 0; nb--) {
		uint16_t size;

		before = type;
		memcpy(&type, bytes + at, sizeof(type));
		memcpy(&size, bytes + at + 4, sizeof(size));
		if (type == lacks[lacking].type && has_field(bytes + at) &&
			(lacks[lacking].before == 0 || lacks[lacking].before == before))
			return true;
		at += size;
	}
	return false;
}

static struct ibv_flow *
create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	if (attr->type == IBV_FLOW_ATTR_ALL_DEFAULT)
		return accept_flow(qp, attr); /* refused */
	assert_harmless((const uint8_t *)attr, attr);
	assert_int_equal(attr->priority, 0);
	if (is_lacking((const uint8_t *)attr, attr->num_of_specs) ||
		(attr->flags & lacks[lacking].flags) != 0) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return accept_flow(qp, attr);
}

static void
test_each_feature(void **state)
{
	const uint32_t whole = (MDV_FLOW_CAN_ENCAP_L3 << 1) - 1;
	uint32_t all = 0;

	(void)state;
	for (lacking = 0; lacking < RTE_DIM(lacks); lacking++) {
		fake_init();
		accept_flow = fake.context.ibv_create_flow;
		fake.context.ibv_create_flow = create_flow;
		fake.no_actions = lacks[lacking].action;
		assert_int_equal(mdv_flow_init(&fake.port), 0);
		all |= lacks[lacking].feature;
		if (whole - lacks[lacking].feature != fake.port.flow->features)
			fail_msg("without 0x%x: 0x%x", lacks[lacking].feature,
				fake.port.flow->features);
		fake_assert_empty();
		mdv_flow_fini(&fake.port);
	}
	assert_int_equal(all, whole);
}

static struct fake_action tried[8];
static unsigned int nb_tried;

static void
note_action(const struct fake_action *action)
{
	assert_true(nb_tried < RTE_DIM(tried));
	tried[nb_tried++] = *action;
}

/** Trials of changes are such as a kernel takes if it can: a DSCP of 0, Ethernet, VXLAN over IPv4.
 */
static void
test_actions(void **state)
{
	static const uint8_t step[8] = { 0x10, 0x06, 0, 6, 0, 0, 0, 0 };
	static const uint8_t tunnel[50] = {
		[12] = 8, [14] = 0x45, [23] = 17, [36] = 0x12, [37] = 0xb5, [42] = 8
	};
	static const uint8_t eth[14];
	static const struct {
		enum mlx5dv_flow_table_type table;
		int reformat;
		unsigned int nb;
		const uint8_t *bytes;
	} wanted[] = {
		{ MLX5DV_FLOW_TABLE_TYPE_NIC_RX, -1, sizeof(step), step },
		{ MLX5DV_FLOW_TABLE_TYPE_NIC_TX, -1, sizeof(step), step },
		{ MLX5DV_FLOW_TABLE_TYPE_NIC_RX, REFORMAT(L2_TUNNEL_TO_L2), 0, NULL },
		{ MLX5DV_FLOW_TABLE_TYPE_NIC_RX, REFORMAT(L3_TUNNEL_TO_L2), sizeof(eth), eth },
		{ MLX5DV_FLOW_TABLE_TYPE_NIC_TX, REFORMAT(L2_TO_L2_TUNNEL), sizeof(tunnel),
			tunnel },
		{ MLX5DV_FLOW_TABLE_TYPE_NIC_TX, REFORMAT(L2_TO_L3_TUNNEL), sizeof(tunnel),
			tunnel },
	};

	(void)state;
	fake_init();
	fake.on_action = note_action;
	assert_int_equal(mdv_flow_init(&fake.port), 0);
	assert_int_equal(nb_tried, RTE_DIM(wanted));
	for (unsigned int i = 0; i < nb_tried; i++) {
		assert_int_equal(tried[i].table, wanted[i].table);
		assert_int_equal(tried[i].reformat, wanted[i].reformat);
		assert_int_equal(tried[i].nb_bytes, wanted[i].nb);
		if (wanted[i].nb != 0)
			assert_memory_equal(tried[i].bytes, wanted[i].bytes, wanted[i].nb);
	}
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
	/* Another device's are not asked for. */
	fake_init();
	nb_tried = 0;
	fake.on_action = note_action;
	fake.port.device.caps.foreign = true;
	assert_int_equal(mdv_flow_init(&fake.port), 0);
	assert_int_equal(nb_tried, 0);
	mdv_flow_fini(&fake.port);
}

static unsigned int nb_with_action;

/** As an e-switch's manager: rules that change sizes are refused, and no others. */
static struct ibv_flow *
refuse_action(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	const uint8_t *at = (const uint8_t *)(attr + 1);

	for (unsigned int i = 0; i < attr->num_of_specs; i++) {
		struct ibv_flow_spec_action_handle spec;

		memcpy(&spec, at, offsetof(struct ibv_flow_spec_action_handle, action));
		if (spec.type == IBV_FLOW_SPEC_ACTION_HANDLE) {
			nb_with_action++;
			assert_true(((struct fake_qp *)qp)->receives);
			errno = EINVAL;
			return NULL;
		}
		at += spec.size;
	}
	return accept_flow(qp, attr);
}

/** Of a device with several ports a rule tells whether it takes tunnels off; others are believed.
 */
static void
test_manager(void **state)
{
	const uint32_t decap = MDV_FLOW_CAN_DECAP | MDV_FLOW_CAN_DECAP_L3;
	const uint32_t whole = (MDV_FLOW_CAN_ENCAP_L3 << 1) - 1;

	(void)state;
	for (uint8_t nb_ports = 1; nb_ports < 4; nb_ports++) {
		fake_init();
		nb_with_action = 0;
		fake.port.device.nb_ports = nb_ports;
		accept_flow = fake.context.ibv_create_flow;
		fake.context.ibv_create_flow = refuse_action;
		assert_int_equal(mdv_flow_init(&fake.port), 0);
		assert_int_equal(nb_with_action, nb_ports == 1 ? 0 : 2);
		assert_int_equal(fake.port.flow->features, nb_ports == 1 ? whole : whole - decap);
		fake_assert_empty();
		mdv_flow_fini(&fake.port);
	}
}

/** As many as the device has, and all that overlap go in: but for one that default rules have. */
static void
test_priorities(void **state)
{
	static const uint8_t counts[] = { 1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 24, 31, 32, 33, 64 };
	const struct rte_flow_action_queue queue = { 1 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(counts); i++) {
		const unsigned int nb = RTE_MIN(counts[i], MDV_FLOW_LEVEL_MAX);
		const unsigned int nb_rules = nb - (nb > 2 ? 1 : 0);
		struct rte_flow_attr attr = { .ingress = 1 };
		struct rte_flow_error error = { .message = NULL };
		char message[64];

		fake_init();
		fake.nb_levels = counts[i];
		assert_int_equal(mdv_flow_init(&fake.port), 0);
		assert_int_equal(fake.port.flow->nb_priorities, nb);
		fake_assert_empty();
		fake.port.isolated = true;
		assert_int_equal(mdv_flow_start(&fake.port), 0);
		for (; mdv_flow_ops.create(&fake.dev, &attr, PATTERN(ITEM(ETH)),
			       ACTIONS(ACTION_CONF(QUEUE, &queue)), &error) != NULL;
			attr.priority++)
			;
		assert_int_equal(attr.priority, nb_rules);
		assert_int_equal(fake.nb_flows, nb_rules);
		for (unsigned int j = 0; j < nb_rules; j++)
			assert_true(fake_flow_at(j)->build.attr.priority < counts[i]);
		snprintf(message, sizeof(message), "the device's %u levels are too few", nb);
		assert_memory_equal(error.message, message, strlen(message));
		mdv_flow_fini(&fake.port);
		fake_assert_empty();
	}
}

/** With a single level, which default rules have, copies go before them, and taking rules are
 * refused. */
static void
test_one_priority(void **state)
{
	const struct rte_flow_action_queue queue = { 1 };
	const struct rte_flow_attr ingress = { .ingress = 1 };
	struct rte_flow_error error;
	struct rte_flow *copies;

	(void)state;
	fake_init();
	fake.nb_levels = 1;
	assert_int_equal(mdv_flow_init(&fake.port), 0);
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 3);
	copies = mdv_flow_ops.create(&fake.dev, &ingress, PATTERN(ITEM(ETH)),
		ACTIONS(ACTION_CONF(QUEUE, &queue), ACTION(PASSTHRU)), &error);
	assert_non_null(copies);
	assert_null(mdv_flow_ops.create(&fake.dev, &ingress, PATTERN(ITEM(ETH)),
		ACTIONS(ACTION_CONF(QUEUE, &queue)), &error));
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY);
	assert_int_equal(fake.nb_flows, 4);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** No priorities, or a device that reports none: the probe fails rather than count wrongly. */
static void
test_no_answer(void **state)
{
	static const int codes[] = { EIO, EINTR, EAGAIN };
	const unsigned int nb_setup = 3; /* struct, CQ, QP of the drop destination */

	(void)state;
	fake_init();
	fake.nb_levels = 0;
	assert_int_equal(mdv_flow_init(&fake.port), -ENOMEM);
	fake_assert_empty();
	for (unsigned int i = 0; i < RTE_DIM(codes); i++)
		for (unsigned int nth = 1; nth <= nb_setup + 6; nth++) {
			fake_init();
			fake_arm(nth, codes[i]);
			assert_true(mdv_flow_init(&fake.port) < 0);
			fake_assert_empty();
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_feature),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_manager),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_one_priority),
		cmocka_unit_test(test_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
