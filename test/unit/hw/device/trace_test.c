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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_tunnel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
