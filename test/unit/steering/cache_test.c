/* SPDX-License-Identifier: BSD-3-Clause */
/* Known verdicts: as the first time, counted as the first time, and gone with the rules they were
 * of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "build.h"
#include "steering/state.h"

static const uint8_t mac[6] = { 0x02, 0, 0, 0, 0, 0x4b };
static const uint8_t peer[6] = { 0x02, 0, 0, 0, 0, 0x99 };

static struct shca_steering *
make(void)
{
	const struct shca_steering_conf conf = { .dont_trap = true, .sniffer = true };
	struct shca_steering *steering = shca_steering_create(&conf);

	assert_non_null(steering);
	return steering;
}

struct wanted {
	uint16_t priority;
	uint32_t flags;
	const struct spec *specs;
	void *tir;
	struct shca_flow_counter *counter;
};

static struct shca_rule *
add(struct shca_steering *steering, const struct wanted *wanted)
{
	struct shca_rule_attr attr = {
		.flags = wanted->flags,
		.priority = wanted->priority,
		.tir = wanted->tir,
		.counter = wanted->counter,
	};
	struct specs specs = { 0 };
	struct shca_rule *rule;

	for (const struct spec *spec = wanted->specs; spec != NULL && spec->type != 0; spec++)
		specs_add_spec(&specs, spec);
	attr.nb_specs = specs.nb;
	attr.specs = specs_bytes(&specs);
	attr.specs_length = specs.length;
	assert_int_equal(shca_rule_add(steering, &attr, &rule), 0);
	return rule;
}

static void
make_frame(struct frame *frame, uint32_t dst, uint16_t port)
{
	uint32_t ip;

	frame->length = 0;
	frame_macs(frame, mac, peer);
	frame_put16(frame, 0x0800);
	ip = frame_ipv4(frame, 0x0a000001, dst, 17, 0, 0, 0);
	frame_udp(frame, 1000, port);
	frame_zero(frame, 10);
	frame_end_ipv4(frame, ip);
}

/** @return whether the verdict was known. */
static bool
walk(struct shca_steering *steering, const struct frame *frame, struct shca_verdict *verdict)
{
	struct shca_packet packet;

	shca_parse(frame->byte, frame->length, &packet);
	shca_walk_rx(steering, &packet, verdict);
	return verdict->destination != steering->destinations;
}

static const struct spec to_port[] = {
	{ .type = 0x20 },
	{ .type = 0x30 },
	{ .type = 0x41, .value.tcp_udp.dst_port = BE16(5000), .mask.tcp_udp.dst_port = 0xffff },
	{ 0 },
};

static const struct spec counted_to_port[] = {
	{ .type = 0x20 },
	{ .type = 0x30 },
	{ .type = 0x41, .value.tcp_udp.dst_port = BE16(5000), .mask.tcp_udp.dst_port = 0xffff },
	{ .type = 0x1003 },
	{ 0 },
};

static void
test_counts(void **state)
{
	struct shca_steering *steering = make();
	struct shca_flow_counter counter = { 0 };
	struct wanted wanted = { .specs = counted_to_port, .counter = &counter, .tir = &counter };
	struct shca_rule *rule = add(steering, &wanted);
	struct shca_verdict verdict;
	struct frame hit, miss;
	FILE *out;
	char *text;
	size_t length;

	(void)state;
	make_frame(&hit, 0x0a000002, 5000);
	make_frame(&miss, 0x0a000002, 5001);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(walk(steering, &hit, &verdict), i != 0);
		assert_int_equal(verdict.nb_destinations, 1);
		assert_ptr_equal(verdict.destination[0].tir, &counter);
		assert_int_equal(walk(steering, &miss, &verdict), i != 0);
		assert_int_equal(verdict.nb_destinations, 0);
	}
	/* What no rule looks at makes no other frame of it. */
	make_frame(&hit, 0x0a0000ff, 5000);
	frame_zero(&hit, 100);
	assert_true(walk(steering, &hit, &verdict));
	assert_int_equal(counter.packets, 11);
	assert_int_equal(counter.bytes, 10 * 52 + 152);
	out = open_memstream(&text, &length);
	assert_non_null(out);
	shca_steering_dump(steering, out);
	fclose(out);
	assert_non_null(strstr(text, "11"));
	free(text);
	shca_rule_del(steering, rule);
	shca_steering_destroy(steering);
}

static void
test_changes(void **state)
{
	struct shca_steering *steering = make();
	int first, second, third;
	struct wanted wanted = { .priority = 5, .specs = to_port, .tir = &first };
	struct shca_rule *rule = add(steering, &wanted), *same, *above;
	struct shca_kernel_filter filter = { .present = true };
	struct shca_verdict verdict;
	struct frame frame;

	(void)state;
	make_frame(&frame, 0x0a000002, 5000);
	assert_false(walk(steering, &frame, &verdict));
	assert_true(walk(steering, &frame, &verdict));
	/* Shares the entry: no table changes, but the copies do. */
	wanted.tir = &second;
	same = add(steering, &wanted);
	assert_false(walk(steering, &frame, &verdict));
	assert_int_equal(verdict.nb_destinations, 2);
	assert_true(walk(steering, &frame, &verdict));
	wanted.tir = &third;
	wanted.priority = 4;
	above = add(steering, &wanted);
	assert_false(walk(steering, &frame, &verdict));
	assert_ptr_equal(verdict.destination[0].tir, &third);
	shca_rule_del(steering, above);
	shca_rule_del(steering, rule);
	assert_false(walk(steering, &frame, &verdict));
	assert_int_equal(verdict.nb_destinations, 1);
	assert_ptr_equal(verdict.destination[0].tir, &second);
	shca_rule_del(steering, same);
	assert_false(walk(steering, &frame, &verdict));
	assert_int_equal(verdict.nb_destinations, 0);
	assert_true(walk(steering, &frame, &verdict));
	memcpy(filter.mac, mac, 6);
	shca_steering_set_kernel(steering, &filter);
	assert_false(walk(steering, &frame, &verdict));
	assert_true(verdict.to_kernel);
	/* The netdev looks at addresses though no rule does. */
	frame.byte[5]++;
	assert_false(walk(steering, &frame, &verdict));
	assert_false(verdict.to_kernel);
	assert_true(walk(steering, &frame, &verdict));
	assert_false(verdict.to_kernel);
	shca_steering_destroy(steering);
}

/** More entries, more copies, more words than a line has room for: right, if never known. */
static void
test_too_much(void **state)
{
	static const struct spec one_copy[] = { { .type = 0x20 }, { 0 } };
	struct shca_steering *steering = make();
	struct shca_rule *rules[8];
	struct shca_verdict verdict;
	struct frame frame;
	int tirs[8];

	(void)state;
	make_frame(&frame, 0x0a000002, 5000);
	for (unsigned int i = 0; i < 8; i++) {
		struct wanted wanted = {
			.priority = (uint16_t)(i % 2),
			.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
			.specs = one_copy,
			.tir = &tirs[i],
		};
		bool fits = i < SHCA_CACHE_DESTINATIONS;

		rules[i] = add(steering, &wanted);
		for (unsigned int round = 0; round < 3; round++) {
			assert_int_equal(walk(steering, &frame, &verdict), fits && round != 0);
			assert_int_equal(verdict.nb_destinations, i + 1);
		}
	}
	for (unsigned int i = 0; i < 8; i++)
		shca_rule_del(steering, rules[i]);
	shca_steering_destroy(steering);
}

static void
test_too_wide(void **state)
{
	union shca_match_key mask, key = { 0 };
	struct shca_cache cache;
	bool is_known;

	(void)state;
	assert_int_equal(shca_cache_init(&cache), 0);
	memset(&mask, 0xff, sizeof(mask));
	shca_cache_renew(&cache, 1);
	shca_cache_look_at(&cache, &mask);
	shca_cache_plan(&cache);
	assert_null(shca_cache_find(&cache, &key, &is_known));
	memset(&mask.word[SHCA_CACHE_WORDS], 0, sizeof(mask) - SHCA_CACHE_WORDS * 8);
	shca_cache_renew(&cache, 2);
	shca_cache_look_at(&cache, &mask);
	shca_cache_plan(&cache);
	assert_non_null(shca_cache_find(&cache, &key, &is_known));
	assert_false(is_known);
	shca_cache_fini(&cache);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_too_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
