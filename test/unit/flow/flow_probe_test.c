/* SPDX-License-Identifier: BSD-3-Clause */
/* Trial rules on devices that lack this or that: each feature alone, and what a trial may not do.
 */

#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow_probe.h"

/* clang-format off */
static const struct {
	uint32_t feature;
	uint32_t type, before; /* of the spec, and of the one before it where that matters */
	unsigned int mask_at, mask_bytes;
	uint32_t flags; /* rules that have these */
} lacks[] = {
	{ MDV_FLOW_CAN_IPV4_TTL, IBV_FLOW_SPEC_IPV4_EXT, 0, 30, 1 },
	{ MDV_FLOW_CAN_IPV4_FLAGS, IBV_FLOW_SPEC_IPV4_EXT, 0, 31, 1 },
	{ MDV_FLOW_CAN_IPV6_HOP_LIMIT, IBV_FLOW_SPEC_IPV6, 0, 86, 1 },
	{ MDV_FLOW_CAN_ESP_SPI, IBV_FLOW_SPEC_ESP, 0, 16, 4 },
	{ MDV_FLOW_CAN_ESP_SEQ, IBV_FLOW_SPEC_ESP, 0, 20, 4 },
	{ MDV_FLOW_CAN_INNER, IBV_FLOW_SPEC_ETH | IBV_FLOW_SPEC_INNER, 0, 22, 6 },
	{ MDV_FLOW_CAN_VXLAN, IBV_FLOW_SPEC_VXLAN_TUNNEL, 0, 13, 3 },
	{ MDV_FLOW_CAN_GRE, IBV_FLOW_SPEC_GRE, IBV_FLOW_SPEC_ETH, 20, 4 },
	{ MDV_FLOW_CAN_GRE_FLAGS, IBV_FLOW_SPEC_GRE, IBV_FLOW_SPEC_ETH, 16, 2 },
	{ MDV_FLOW_CAN_MPLS, IBV_FLOW_SPEC_MPLS, IBV_FLOW_SPEC_ETH, 12, 4 },
	{ MDV_FLOW_CAN_MPLS_UDP, IBV_FLOW_SPEC_MPLS, IBV_FLOW_SPEC_UDP, 12, 4 },
	{ MDV_FLOW_CAN_MPLS_GRE, IBV_FLOW_SPEC_MPLS, IBV_FLOW_SPEC_GRE, 12, 4 },
	{ MDV_FLOW_CAN_EGRESS, .flags = IBV_FLOW_ATTR_FLAGS_EGRESS },
};
/* clang-format on */

static struct ibv_flow *(*accept_flow)(struct ibv_qp *qp, struct ibv_flow_attr *attr);
static unsigned int lacking;

/* Nothing but a dropped frame from nowhere to nowhere may be asked for. */
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
	assert_true(attr->flags == 0 || attr->flags == IBV_FLOW_ATTR_FLAGS_EGRESS);
}

static bool
is_lacking(const uint8_t *bytes, unsigned int nb)
{
	uint32_t type = 0, before;

	for (unsigned int at = 20; nb > 0; nb--) {
		uint16_t size;
		uint8_t any = 0;

		before = type;
		memcpy(&type, bytes + at, sizeof(type));
		memcpy(&size, bytes + at + 4, sizeof(size));
		for (unsigned int i = 0;
			type == lacks[lacking].type && i < lacks[lacking].mask_bytes; i++)
			any |= bytes[at + lacks[lacking].mask_at + i];
		if (any != 0 && (lacks[lacking].before == 0 || lacks[lacking].before == before))
			return true;
		at += size;
	}
	return false;
}

static struct ibv_flow *
create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	assert_harmless((const uint8_t *)attr, attr);
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
	uint32_t all = 0;

	(void)state;
	for (lacking = 0; lacking < RTE_DIM(lacks); lacking++) {
		fake_init();
		accept_flow = fake.context.ibv_create_flow;
		fake.context.ibv_create_flow = create_flow;
		assert_int_equal(mdv_flow_init(&fake.port), 0);
		all |= lacks[lacking].feature;
		if (((MDV_FLOW_CAN_EGRESS << 1) - 1 - lacks[lacking].feature) !=
			fake.port.flow.features)
			fail_msg("without 0x%x: 0x%x", lacks[lacking].feature,
				fake.port.flow.features);
		fake_assert_empty();
		mdv_flow_fini(&fake.port);
	}
	assert_int_equal(all, (MDV_FLOW_CAN_EGRESS << 1) - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_feature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
