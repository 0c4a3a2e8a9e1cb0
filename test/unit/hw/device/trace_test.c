/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces see of a frame what the device sees of it. */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "hw/device/trace.h"
#include "steering/match/modify.h"
#include "steering/match/param.h"
#include "steering/steering.h"

/** A card without the tunnel's offload takes what is inside for payload, changed or not. */
static void
changed_tunnel(void **state)
{
	const struct shca_modify change = { .kind = SHCA_MODIFY_HEADER };
	const struct shca_param any = { { 0 } };
	struct shca_raw_rule_attr attr = {
		.mask = &any, .value = &any, .modify_set.modify = &change
	};
	uint8_t inner[256], bytes[512 + SHCA_DEVICE_TRACE_ROOM], room[sizeof(bytes)];
	struct shca_device_trace trace = { .bytes = bytes, .room = room };
	struct shca_rule *rule;
	struct rig rig;
	size_t length;
	char *text;

	(void)state;
	rig_init(&rig);
	rig.model.tunnel_offloads = 0;
	rig.no_rule = true;
	rig_open(&rig);
	attr.tir = rig.tir;
	assert_int_equal(shca_rule_add_raw(shca_device_steering(rig.dev), &attr, &rule), 0);
	trace.length = rig_vxlan(bytes, inner, rig_packet(inner, RIG_IPV4_UDP, false, 20));
	trace.out = open_memstream(&text, &length);
	assert_non_null(trace.out);
	shca_device_trace(rig.dev, &trace);
	fclose(trace.out);
	assert_non_null(strstr(text, "changed to"));
	assert_null(strstr(text, "inside"));
	free(text);
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

/** A wire on which all depends on the destination. */
static void
explain(const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	static const uint8_t neighbour[6] = { 2, 0, 0, 0, 0, 0x20 };

	(void)wire;
	path->is_lost = memcmp(frame->bytes, neighbour, sizeof(neighbour)) != 0;
	path->what = path->is_lost ? "nobody has it" : "the neighbour has it";
}

/** A rule may give a frame that is sent another destination, which is where it goes. */
static void
way_of_a_changed_frame(void **state)
{
	const struct shca_modify change = {
		.kind = SHCA_MODIFY_HEADER,
		.egress = true,
		.nb_steps = 2,
		.step = { { .type = SHCA_MODIFY_SET,
				  .field = 4,
				  .nb_bits = 32,
				  .data = 0x02000000 },
			{ .type = SHCA_MODIFY_SET, .field = 5, .nb_bits = 16, .data = 0x20 } },
	};
	const struct shca_param any = { { 0 } };
	const struct shca_raw_rule_attr attr = {
		.egress = true, .mask = &any, .value = &any, .modify_set.modify = &change
	};
	uint8_t bytes[64 + SHCA_DEVICE_TRACE_ROOM], room[sizeof(bytes)];
	struct shca_device_trace trace = { .is_sent = true, .bytes = bytes, .room = room };
	struct shca_wire_ops ops;
	struct shca_rule *rule;
	struct rig rig;
	size_t length;
	char *text;

	(void)state;
	rig_init(&rig);
	ops = *rig.wire.wire.ops;
	ops.explain = explain;
	rig.wire.wire.ops = &ops;
	rig_open(&rig);
	rig_run(&rig);
	assert_int_equal(shca_rule_add_raw(shca_device_steering(rig.dev), &attr, &rule), 0);
	trace.length = rig_frame(bytes, 60, 7);
	trace.out = open_memstream(&text, &length);
	assert_non_null(trace.out);
	shca_device_trace(rig.dev, &trace);
	fclose(trace.out);
	assert_non_null(strstr(text, "  sent, 0 copies: the neighbour has it\n"));
	free(text);
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_tunnel),
		cmocka_unit_test(way_of_a_changed_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
