/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces see of a frame what the device sees of it. */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "hw/device/trace.h"
#include "hw/queue/loopback.h"
#include "hw/roce/gid.h"
#include "hw/state/device.h"
#include "steering/match/modify.h"
#include "steering/match/param.h"
#include "steering/steering.h"
#include "transport/packet/roce.h"

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

/** With two contexts what is for the port itself comes back, and never gets to the wire. */
static void
local_loopback(void **state)
{
	uint8_t bytes[64 + SHCA_DEVICE_TRACE_ROOM], room[sizeof(bytes)];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	for (unsigned int nb_contexts = 1; nb_contexts <= 2; nb_contexts++) {
		struct shca_device_trace trace = { .is_sent = true, .bytes = bytes, .room = room };
		size_t length;
		char *text;

		shca_loopback_count_domain(rig.dev, 1);
		trace.length = rig_frame(bytes, 60, 7);
		memcpy(bytes, shca_own_mac(rig.dev), 6);
		trace.out = open_memstream(&text, &length);
		assert_non_null(trace.out);
		shca_device_trace(rig.dev, &trace);
		fclose(trace.out);
		assert_int_equal(strstr(text, "  sent, 0 copies: local loopback\n") != NULL,
			nb_contexts == 2);
		assert_int_equal(trace.nb_to, nb_contexts - 1);
		assert_ptr_equal(trace.to[0], nb_contexts == 2 ? &rig.wire.wire : NULL);
		free(text);
	}
	rig_close(&rig);
}

/** @return how the trace of a frame to the port ends, which the caller frees */
static char *
trace_roce(struct rig *rig, const uint8_t dgid[16], uint32_t qpn)
{
	uint8_t bytes[256 + SHCA_DEVICE_TRACE_ROOM], room[sizeof(bytes)];
	struct shca_device_trace trace = { .bytes = bytes, .room = room };
	const struct shca_bth bth = {
		.opcode = SHCA_BTH_UD | SHCA_BTH_SEND_ONLY, .qpn = qpn, .pkey = 0xffff
	};
	struct shca_roce_path path = { .hop_limit = 64, .is_v2 = true };
	size_t length;
	char *text;

	memcpy(path.dmac, shca_own_mac(rig->dev), sizeof(path.dmac));
	path.smac[5] = 9;
	memcpy(path.sgid, dgid, sizeof(path.sgid));
	memcpy(path.dgid, dgid, sizeof(path.dgid));
	shca_roce_write_headers(&path, &bth, bytes);
	trace.length = shca_roce_finish(&path, &bth, bytes);
	trace.out = open_memstream(&text, &length);
	assert_non_null(trace.out);
	shca_device_trace(rig->dev, &trace);
	fclose(trace.out);
	return text;
}

/** Frames to a GID of the port meet no rule, and those to groups do if nobody is in them. */
static void
below_the_rules(void **state)
{
	static const uint8_t group[16] = { [10] = 0xff, 0xff, 224, 0, 0, 9 };
	uint8_t own[16], other[16];
	struct rig rig;
	bool is_v2;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	assert_true(shca_gid_get(rig.dev, 0, own, &is_v2));
	memcpy(other, own, sizeof(other));
	other[15] ^= 1;
	for (unsigned int i = 0; i < 3; i++) {
		char *text = trace_roce(&rig, i == 0 ? own : i == 1 ? other : group, 7);

		assert_int_equal(strstr(text, "\n  roce, 0 copies: ") != NULL, i == 0);
		assert_int_equal(strstr(text, "FTE:") != NULL, i != 0);
		free(text);
	}
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_tunnel),
		cmocka_unit_test(way_of_a_changed_frame),
		cmocka_unit_test(below_the_rules),
		cmocka_unit_test(local_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
