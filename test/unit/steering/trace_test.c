/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk of a frame that rules change, step by step, ends where that of a real one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "steering/dump.h"
#include "steering/match/modify.h"
#include "steering/match/parse.h"
#include "steering/trace.h"

#include "build.h"

static int tirs[2];

/** Changes nothing that anybody looks at. */
static uint32_t
rewrite(const struct shca_modify_set *modify_set, const struct shca_packet *packet, uint8_t *room)
{
	(void)modify_set;
	memmove(room, packet->bytes, packet->length);
	return packet->length;
}

/** Behind a change the frame is still one of its port. */
static void
test_port_of_a_changed_frame(void **state)
{
	static const struct shca_modify header = { .kind = SHCA_MODIFY_HEADER };
	static const struct shca_modify *const set[] = { &header };
	const struct shca_steering_conf conf = { .dont_trap = true, .is_rep = true };
	struct shca_steering *steering = shca_steering_create(&conf);
	struct shca_rule *changing, *taking;
	struct shca_rule_attr attr = { .source_port = 2, .tir = &tirs[0] };
	struct specs specs = { 0 };
	const uint8_t bytes[60] = { 2 };
	uint8_t room[64];
	struct shca_packet packet;
	struct shca_dump_conf dump = { .rewrite = rewrite, .room = room };
	char *text;
	size_t length;

	(void)state;
	assert_non_null(steering);
	assert_int_equal(shca_rule_add(steering, &attr, &taking), 0);
	specs_add_action(&specs, IBV_FLOW_SPEC_ACTION_HANDLE, 16, 0);
	attr = (struct shca_rule_attr){ .source_port = 2,
		.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = &tirs[1],
		.modify_set = set };
	assert_int_equal(shca_rule_add(steering, &attr, &changing), 0);
	shca_parse(bytes, sizeof(bytes), &packet);
	packet.source_port = 2;
	dump.out = open_memstream(&text, &length);
	assert_non_null(dump.out);
	shca_trace_rx(steering, &packet, &dump);
	fclose(dump.out);
	assert_non_null(strstr(text, "changed to 60 bytes"));
	assert_non_null(strstr(text, "delivered, 2 copies: a rule took it"));
	free(text);
	shca_rule_del(steering, taking);
	shca_rule_del(steering, changing);
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_of_a_changed_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
