/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that rules change: each field, tunnels off and on, and what the rules behind see. */
#include "hw/format/rewrite.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "hw/state/out.h"
#include "rig.h"
#include "steering/dump.h"
#include "steering/match/param.h"
#include "steering/steering.h"
#include "steering/trace.h"

#define ETH 14

/** An action as programs write it. */
static uint64_t
action(unsigned int type, unsigned int field, unsigned int offset, unsigned int nb_bits,
	uint32_t data)
{
	return htobe64((uint64_t)type << 60 | (uint64_t)field << 48 | (uint64_t)offset << 40 |
		(uint64_t)(nb_bits & 0x1f) << 32 | data);
}

static uint32_t
copy_to(unsigned int field, unsigned int offset)
{
	return field << 16 | offset << 8;
}

static struct shca_modify
make_modify(const uint64_t *actions, size_t nb)
{
	struct shca_modify modify = { 0 };

	assert_int_equal(shca_modify_parse((const uint8_t *)actions, nb, &modify), 0);
	return modify;
}

static uint32_t
run(const struct shca_modify_set *modify_set, const uint8_t *frame, uint32_t length, uint8_t *room)
{
	struct shca_packet packet;

	shca_parse(frame, length, &packet);
	return shca_rewrite(modify_set, &packet, room);
}

/** Are the checksums right of an IP packet whose header begins at @p l3? */
static void
check_sums(const uint8_t *frame, uint32_t length, uint32_t l3)
{
	const bool is_v4 = frame[l3] >> 4 == 4;
	const uint32_t l4 = l3 + (is_v4 ? 20 : 40);
	const uint8_t protocol = frame[l3 + (is_v4 ? 9 : 6)];

	if (is_v4)
		assert_int_equal(rig_naive_sum(frame + l3, 20, 0), 0xffff);
	assert_int_equal(rig_naive_sum(frame + l4, length - l4,
				 rig_naive_pseudo(frame + l3, protocol, length - l4)),
		0xffff);
}

/* clang-format off */
/** By the number of the public interface (DPDK 22.11 mlx5_prm.h, MLX5_MODI_OUT_*), and where the
 * RFCs have the field. */
static const struct field_case {
	const char *name;
	unsigned int field;
	enum rig_packet kind;
	bool vlan;
	unsigned int nb_bits;
	uint32_t at;   /* first byte that changes */
	uint8_t mask[4], bytes[4]; /* of those from there on */
} field_cases[] = {
	{ "source MAC, upper", 1, RIG_IPV4_UDP, false, 32, 6, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "source MAC, lower", 2, RIG_IPV4_UDP, false, 16, 10, { 255, 255 }, { 0xc3, 0xd5 } },
	{ "destination MAC, upper", 4, RIG_IPV4_UDP, false, 32, 0, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "destination MAC, lower", 5, RIG_IPV4_UDP, false, 16, 4, { 255, 255 }, { 0xc3, 0xd5 } },
	{ "DSCP", 6, RIG_IPV4_UDP, false, 6, ETH + 1, { 0xfc }, { 0x15 << 2 } },
	{ "DSCP of IPv6", 6, RIG_IPV6_UDP, false, 6, ETH, { 0x0f, 0xc0 }, { 0x05, 0x40 } },
	{ "TCP flags", 7, RIG_IPV4_TCP, false, 9, ETH + 20 + 12, { 0x01, 0xff }, { 0x01, 0xd5 } },
	{ "TCP source port", 8, RIG_IPV4_TCP, false, 16, ETH + 20, { 255, 255 }, { 0xc3, 0xd5 } },
	{ "TCP destination port", 9, RIG_IPV6_TCP, false, 16, ETH + 42, { 255, 255 }, { 0xc3, 0xd5 } },
	{ "TTL", 10, RIG_IPV4_TCP, false, 8, ETH + 8, { 255 }, { 0xd5 } },
	{ "UDP source port", 11, RIG_IPV4_UDP, true, 16, ETH + 24, { 255, 255 }, { 0xc3, 0xd5 } },
	{ "UDP destination port", 12, RIG_IPV6_UDP, false, 16, ETH + 42, { 255, 255 }, { 0xc3, 0xd5 } },
	{ "IPv6 source, first", 13, RIG_IPV6_UDP, false, 32, ETH + 8, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "IPv6 source, last", 16, RIG_IPV6_TCP, false, 32, ETH + 20, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "IPv6 destination, first", 17, RIG_IPV6_UDP, false, 32, ETH + 24, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "IPv6 destination, last", 20, RIG_IPV6_TCP, false, 32, ETH + 36, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "IPv4 source", 21, RIG_IPV4_UDP, false, 32, ETH + 12, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "IPv4 destination", 22, RIG_IPV4_TCP, true, 32, ETH + 20, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "VLAN", 23, RIG_IPV4_UDP, true, 12, ETH, { 0x0f, 0xff }, { 0x03, 0xd5 } },
	{ "hop limit", 0x47, RIG_IPV6_UDP, false, 8, ETH + 7, { 255 }, { 0xd5 } },
	{ "TCP sequence number", 0x59, RIG_IPV4_TCP, false, 32, ETH + 24, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "TCP acknowledged", 0x5b, RIG_IPV4_TCP, false, 32, ETH + 28, { 255, 255, 255, 255 }, { 0xa1, 0xb2, 0xc3, 0xd5 } },
	{ "ECN", 0x73, RIG_IPV4_UDP, false, 2, ETH + 1, { 0x03 }, { 0x01 } },
	{ "ECN of IPv6", 0x73, RIG_IPV6_UDP, false, 2, ETH + 1, { 0x30 }, { 0x10 } },
};
/* clang-format on */

static void
check_field(const struct field_case *row)
{
	const uint64_t set = action(SHCA_MODIFY_SET, row->field, 0, row->nb_bits, 0xa1b2c3d5);
	const struct shca_modify modify = make_modify(&set, 1);
	const struct shca_modify_set modify_set = { .modify = &modify };
	uint8_t frame[256], wanted[256], room[SHCA_OUT_FRAME_ROOM];
	const uint32_t length = rig_packet(frame, row->kind, row->vlan, 41);
	const uint32_t l3 = ETH + (row->vlan ? 4 : 0);
	const uint32_t l4 = l3 + (frame[l3] >> 4 == 4 ? 20 : 40);
	uint32_t checksum = row->kind == RIG_IPV4_TCP || row->kind == RIG_IPV6_TCP ? 16 : 6;

	memcpy(wanted, frame, length);
	for (unsigned int i = 0; i < 4; i++)
		wanted[row->at + i] =
			(uint8_t)((wanted[row->at + i] & ~row->mask[i]) | row->bytes[i]);
	if (run(&modify_set, frame, length, room) != length)
		fail_msg("%s: length", row->name);
	check_sums(room, length, l3);
	/* Checksums aside. */
	memcpy(wanted + l4 + checksum, room + l4 + checksum, 2);
	if (frame[l3] >> 4 == 4)
		memcpy(wanted + l3 + 10, room + l3 + 10, 2);
	if (memcmp(room, wanted, length) != 0)
		fail_msg("%s: bytes", row->name);
}

static void
each_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(field_cases) / sizeof(field_cases[0]); i++)
		check_field(&field_cases[i]);
}

static void
add_and_copy(void **state)
{
	const uint64_t actions[] = {
		action(SHCA_MODIFY_ADD, 10, 0, 8, 0xff),            /* TTL - 1 */
		action(SHCA_MODIFY_COPY, 11, 8, 8, copy_to(12, 0)), /* upper byte of a port */
		action(SHCA_MODIFY_SET, 21, 8, 8, 0x77),            /* third byte of an address */
		action(SHCA_MODIFY_SET, 8, 0, 16, 1),               /* of TCP: there is none */
		action(SHCA_MODIFY_COPY, 8, 0, 16, copy_to(11, 0)),
		action(SHCA_MODIFY_COPY, 11, 0, 16, copy_to(8, 0)),
	};
	const struct shca_modify modify = make_modify(actions, 6);
	const struct shca_modify_set modify_set = { .modify = &modify };
	uint8_t frame[256], room[SHCA_OUT_FRAME_ROOM];
	const uint32_t length = rig_packet(frame, RIG_IPV4_UDP, false, 9);

	(void)state;
	assert_int_equal(run(&modify_set, frame, length, room), length);
	assert_int_equal(room[ETH + 8], frame[ETH + 8] - 1);
	assert_int_equal(room[ETH + 20 + 3], frame[ETH + 20]);
	assert_int_equal(room[ETH + 20 + 2], frame[ETH + 20 + 2]);
	assert_int_equal(room[ETH + 14], 0x77);
	check_sums(room, length, ETH);
	/* A wrong checksum stays wrong, and none stays none. */
	frame[ETH + 20 + 6] ^= 0x40;
	run(&modify_set, frame, length, room);
	assert_int_not_equal(rig_naive_sum(room + ETH + 20, length - ETH - 20,
				     rig_naive_pseudo(room + ETH, 17, length - ETH - 20)),
		0xffff);
	frame[ETH + 20 + 6] = frame[ETH + 20 + 7] = 0;
	run(&modify_set, frame, length, room);
	assert_int_equal(rig_get16(room + ETH + 20 + 6), 0);
}

static void
refused_actions(void **state)
{
	static const struct {
		unsigned int type, field, offset, nb_bits;
		uint32_t data;
		int ret;
	} cases[] = {
		{ 1, 1, 0, 0, 0, 0 },       /* 0 bits are 32 */
		{ 1, 2, 0, 0, 0, -EINVAL }, /* of a field of 16 */
		{ 1, 2, 8, 9, 0, -EINVAL },
		{ 1, 0x18, 0, 8, 0, -EINVAL },  /* unknown, or not modelled: */
		{ 1, 0x49, 0, 32, 0, -EINVAL }, /* a metadata register */
		{ 4, 1, 0, 32, 0, -EINVAL },
		{ 0, 1, 0, 32, 0, -EINVAL },
		{ 3, 1, 0, 16, 2 << 16, 0 },
		{ 3, 1, 0, 17, 2 << 16, -EINVAL },
		{ 3, 1, 0, 16, 0x18 << 16, -EINVAL },
		{ 3, 1, 0, 8, 2 << 16 | 9 << 8, -EINVAL },
	};
	uint64_t many[SHCA_MODIFY_STEPS_MAX + 1] = { 0 };
	struct shca_modify modify;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t one = action(cases[i].type, cases[i].field, cases[i].offset,
			cases[i].nb_bits, cases[i].data);
		int ret = shca_modify_parse((const uint8_t *)&one, 1, &modify);

		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
	}
	assert_int_equal(shca_modify_parse((const uint8_t *)many, 0, &modify), -EINVAL);
	assert_int_equal(
		shca_modify_parse((const uint8_t *)many, SHCA_MODIFY_STEPS_MAX + 1, &modify),
		-EOPNOTSUPP);
}

static void
tunnel_off(void **state)
{
	const uint64_t ttl = action(SHCA_MODIFY_SET, 10, 0, 8, 3);
	const struct shca_modify decap = { .kind = SHCA_MODIFY_L2_TUNNEL_TO_L2 };
	const struct shca_modify to_l2 = {
		.kind = SHCA_MODIFY_L3_TUNNEL_TO_L2,
		.header_bytes = ETH,
		.header = { 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 8, 0 },
	};
	const struct shca_modify modify = make_modify(&ttl, 1);
	const struct shca_modify_set both = { .modify = &modify, .decap = &decap };
	const struct shca_modify_set only = { .decap = &decap }, l3 = { .reformat = &to_l2 };
	uint8_t inner[256], frame[512], before[512], room[SHCA_OUT_FRAME_ROOM];
	const uint32_t inner_length = rig_packet(inner, RIG_IPV4_TCP, true, 30);
	const uint32_t length = rig_vxlan(frame, inner, inner_length);

	(void)state;
	assert_int_equal(run(&only, frame, length, room), inner_length);
	assert_memory_equal(room, inner, inner_length);
	/* The fields are those of what is left. */
	assert_int_equal(run(&both, frame, length, room), inner_length);
	assert_int_equal(room[ETH + 4 + 8], 3);
	check_sums(room, inner_length, ETH + 4);
	/* In place, too. */
	memcpy(room, frame, length);
	assert_int_equal(run(&only, room, length, room), inner_length);
	assert_memory_equal(room, inner, inner_length);
	/* The packet inside, with a header of its own. */
	assert_int_equal(run(&l3, frame, length, room), inner_length - 4);
	assert_memory_equal(room, to_l2.header, ETH);
	assert_memory_equal(room + ETH, inner + ETH + 4, inner_length - ETH - 4);
	/* A frame inside that is of no IP has no packet to take out. */
	frame[length - inner_length + ETH + 2] = 8; /* ARP, behind its tag */
	frame[length - inner_length + ETH + 3] = 6;
	memcpy(before, frame, length);
	assert_int_equal(run(&l3, frame, length, room), length);
	assert_memory_equal(room, before, length);
	/* What is no tunnel stays. */
	assert_int_equal(run(&only, inner, inner_length, room), inner_length);
	assert_int_equal(run(&l3, inner, inner_length, room), inner_length);
	assert_memory_equal(room, inner, inner_length);
}

static void
tunnel_on(void **state)
{
	uint8_t inner[256], wanted[512], frame[SHCA_FRAME_MAX], room[SHCA_OUT_FRAME_ROOM];
	const uint32_t inner_length = rig_packet(inner, RIG_IPV4_UDP, false, 30);
	const uint32_t length = rig_vxlan(wanted, inner, inner_length);
	const uint32_t header_bytes = length - inner_length;
	struct shca_modify on = { .kind = SHCA_MODIFY_L2_TO_L2_TUNNEL, .egress = true };
	const struct shca_modify_set modify_set = { .reformat = &on };

	(void)state;
	on.header_bytes = (uint8_t)header_bytes;
	memcpy(on.header, wanted, header_bytes);
	/* Lengths and the header's checksum are the device's. */
	memset(on.header + ETH + 2, 0, 2);
	memset(on.header + ETH + 10, 0, 2);
	memset(on.header + ETH + 20 + 4, 0, 2);
	assert_int_equal(run(&modify_set, inner, inner_length, room), length);
	assert_memory_equal(room, wanted, length);
	on.kind = SHCA_MODIFY_L2_TO_L3_TUNNEL;
	assert_int_equal(run(&modify_set, inner, inner_length, room), length - ETH);
	assert_int_equal(rig_get16(room + ETH + 2), length - ETH - ETH);
	assert_memory_equal(room + header_bytes, inner + ETH, inner_length - ETH);
	/* The longest frame has no room for it. */
	on.kind = SHCA_MODIFY_L2_TO_L2_TUNNEL;
	rig_frame(frame, SHCA_FRAME_MAX, 1);
	assert_int_equal(run(&modify_set, frame, SHCA_FRAME_MAX, room), 0);
	assert_int_equal(
		run(&modify_set, frame, SHCA_FRAME_MAX - header_bytes, room), SHCA_FRAME_MAX);
}

/** What is UDP tells the protocol, and not the length, which is not there yet. */
static void
tunnel_on_ipv6(void **state)
{
	uint8_t inner[256], room[SHCA_OUT_FRAME_ROOM];
	const uint32_t nb = rig_packet(inner, RIG_IPV4_UDP, false, 30);
	struct shca_modify on = { .kind = SHCA_MODIFY_L2_TO_L2_TUNNEL,
		.egress = true,
		.header_bytes = ETH + 40 + 8,
		.header = {
			[12] = 0x86, 0xdd, 0x60, [ETH + 6] = 17, [ETH + 40 + 2] = 0x12, 0xb5 } };
	const struct shca_modify_set modify_set = { .reformat = &on };

	(void)state;
	assert_int_equal(run(&modify_set, inner, nb, room), on.header_bytes + nb);
	assert_int_equal(rig_get16(room + ETH + 4), 8 + nb);
	assert_int_equal(rig_get16(room + ETH + 40 + 4), 8 + nb);
	assert_memory_equal(room + on.header_bytes, inner, nb);
}

/** xorshift64: the same numbers in each run. */
static uint32_t
draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}

/** A frame of some kind, cut off somewhere and with some bytes turned; exactly as large as it is.
 */
static uint8_t *
draw_frame(uint64_t *state, uint32_t *length)
{
	uint8_t inner[256], whole[512], *frame;
	uint32_t nb = rig_packet(inner, draw(state) % 4, draw(state) & 1, draw(state) % 60);

	if (draw(state) & 1)
		nb = rig_vxlan(whole, inner, nb);
	else
		memcpy(whole, inner, nb);
	if ((draw(state) & 3) == 0)
		nb = 14 + draw(state) % (nb - 13);
	for (uint32_t i = draw(state) % 4; i != 0; i--)
		whole[draw(state) % nb] = (uint8_t)draw(state);
	frame = malloc(nb);
	assert_non_null(frame);
	memcpy(frame, whole, nb);
	*length = nb;
	return frame;
}

static void
draw_edits(uint64_t *state, struct shca_modify modify[3], struct shca_modify_set *modify_set)
{
	memset(modify, 0, 3 * sizeof(*modify));
	*modify_set = (struct shca_modify_set){ .modify = &modify[0] };
	modify[0].nb_steps = (uint8_t)(1 + draw(state) % SHCA_MODIFY_STEPS_MAX);
	for (unsigned int i = 0; i < modify[0].nb_steps;) {
		const uint64_t step = action(1 + draw(state) % 3, draw(state) % 0x74,
			draw(state) % 32, draw(state) % 32, draw(state) % 0x740000);
		struct shca_modify one = { 0 };

		if (shca_modify_parse((const uint8_t *)&step, 1, &one) == 0)
			modify[0].step[i++] = one.step[0];
	}
	if (draw(state) & 1) {
		modify[1].kind = SHCA_MODIFY_L2_TUNNEL_TO_L2;
		modify_set->decap = &modify[1];
	}
	if (draw(state) & 1) {
		modify[2].kind = SHCA_MODIFY_L3_TUNNEL_TO_L2 + draw(state) % 3;
		modify[2].header_bytes = (uint8_t)(14 + draw(state) % (SHCA_MODIFY_DATA_MAX - 13));
		for (unsigned int i = 0; i < modify[2].header_bytes; i++)
			modify[2].header[i] = (uint8_t)draw(state);
		modify_set->reformat = &modify[2];
	}
}

/** Whatever the frame and whatever the edits: no byte of others is touched (under ASan), the frame
 * itself stays, and the second time gives the same. */
static void
any_frame_and_edit(void **state)
{
	uint8_t *room = malloc(SHCA_OUT_FRAME_ROOM), *again = malloc(SHCA_OUT_FRAME_ROOM);
	uint64_t numbers = 88172645463325252ull;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		struct shca_modify modify[3];
		struct shca_modify_set modify_set;
		uint8_t before[512], *frame;
		uint32_t length, changed;

		frame = draw_frame(&numbers, &length);
		draw_edits(&numbers, modify, &modify_set);
		memcpy(before, frame, length);
		changed = run(&modify_set, frame, length, room);
		assert_memory_equal(before, frame, length);
		assert_true(changed <= length + SHCA_MODIFY_DATA_MAX);
		assert_int_equal(run(&modify_set, frame, length, again), changed);
		assert_memory_equal(room, again, changed);
		free(frame);
	}
	free(room);
	free(again);
}

/** A rule for frames whose byte 5 of the destination MAC is @p last. */
static struct shca_rule *
add_rule(struct rig *rig, uint16_t priority, uint8_t last, const struct shca_modify_set *modify_set,
	bool egress, bool leaves)
{
	struct shca_param mask = { 0 }, value = { 0 };
	const struct shca_raw_rule_attr attr = {
		.egress = egress,
		.priority = priority,
		.criteria = 1,
		.mask = &mask,
		.value = &value,
		.default_miss = leaves,
		.tir = egress || leaves ? NULL : rig->tir,
		.modify_set = *modify_set,
	};
	struct shca_rule *rule;

	mask.bytes[8 + 5] = 0xff;
	value.bytes[8 + 5] = last;
	assert_int_equal(shca_rule_add_raw(shca_device_steering(rig->dev), &attr, &rule), 0);
	return rule;
}

/** Behind a rule that changes a frame and leaves the tables, the netdev gets it changed, between
 * those that are not. */
static void
to_the_netdev(void **state)
{
	const uint64_t set = action(SHCA_MODIFY_SET, 1, 0, 32, 0x0a0b0c0d);
	const struct shca_modify modify = make_modify(&set, 1);
	const struct shca_modify_set modify_set = { .modify = &modify };
	uint8_t plain[100], changed[100];
	struct shca_rule *rule;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = true;
	rig.no_rule = true;
	rig.kernel.promiscuous = true;
	rig_open(&rig);
	rule = add_rule(&rig, 0, 9, &modify_set, false, true);
	shca_device_rules_changed(rig.dev);
	rig_run(&rig);
	rig_frame(plain, sizeof(plain), 1);
	memcpy(changed, plain, sizeof(changed));
	changed[5] = 9;
	rig_come(&rig.wire, plain, sizeof(plain));
	rig_come(&rig.wire, changed, sizeof(changed));
	rig_come(&rig.wire, plain, sizeof(plain));
	rig_run(&rig);
	memcpy(changed + 6, "\x0a\x0b\x0c\x0d", 4);
	assert_int_equal(rig.kernel.nb_sent, 3);
	assert_memory_equal(rig.kernel.sent[0].bytes, plain, sizeof(plain));
	assert_memory_equal(rig.kernel.sent[1].bytes, changed, sizeof(changed));
	assert_memory_equal(rig.kernel.sent[2].bytes, plain, sizeof(plain));
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

/** What is sent is changed in a copy; the program's memory is not. */
static void
sent(void **state)
{
	const uint64_t set = action(SHCA_MODIFY_SET, 1, 0, 32, 0x0a0b0c0d);
	struct shca_modify modify = make_modify(&set, 1);
	const struct shca_modify_set modify_set = { .modify = &modify };
	struct shca_rule *rule;
	uint8_t frame[100];
	struct rig rig;

	(void)state;
	modify.egress = true;
	rig_init(&rig);
	rig_open(&rig);
	rule = add_rule(&rig, 0, 9, &modify_set, true, false);
	rig_frame(frame, sizeof(frame), 1);
	frame[5] = 9;
	rig_place(&rig, 0, frame, sizeof(frame));
	rig_send(&rig, 0, sizeof(frame), SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 1);
	assert_memory_equal(rig.buffers + RIG_TX_OFFSET, frame, sizeof(frame));
	memcpy(frame + 6, "\x0a\x0b\x0c\x0d", 4);
	assert_int_equal(rig.wire.sent[0].length, sizeof(frame));
	assert_memory_equal(rig.wire.sent[0].bytes, frame, sizeof(frame));
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

/** Received: what goes to the queue is the changed frame, for each frame of a run alike. */
static void
received(void **state)
{
	const uint64_t set = action(SHCA_MODIFY_SET, 10, 0, 8, 7);
	const struct shca_modify modify = make_modify(&set, 1);
	const struct shca_modify_set modify_set = { .modify = &modify };
	struct shca_rule *rule;
	uint8_t frame[256];
	struct shca_cqe cqe;
	struct rig rig;
	uint32_t length;

	(void)state;
	rig_init(&rig);
	rig.no_rule = true;
	rig_open(&rig);
	length = rig_packet(frame, RIG_IPV4_UDP, false, 20);
	rule = add_rule(&rig, 0, frame[5], &modify_set, false, false);
	shca_device_rules_changed(rig.dev);
	rig_fill_rx(&rig, 8);
	for (unsigned int i = 0; i < 8; i++)
		rig_come(&rig.wire, frame, length);
	rig_run(&rig);
	for (unsigned int i = 0; i < 8; i++) {
		const uint8_t *got = rig.buffers + (size_t)i * RIG_RX_BYTES;

		assert_true(rig_poll(&rig.rx, &cqe));
		assert_int_equal(be32toh(cqe.byte_count), length);
		assert_int_equal(got[ETH + 8], 7);
		check_sums(got, length, ETH);
	}
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

static void
check_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no '%s' in: %s", part, text);
}

/** Dumps say what an entry changes; traces go on with the changed frame, and do what the walk does.
 */
static void
told(void **state)
{
	const uint64_t set = action(SHCA_MODIFY_SET, 5, 0, 16, 0x0a0b);
	const struct shca_modify modify = make_modify(&set, 1),
				 decap = { .kind = SHCA_MODIFY_L2_TUNNEL_TO_L2 };
	const struct shca_modify_set modify_set = { .modify = &modify, .decap = &decap };
	uint8_t inner[256], frame[512], room[SHCA_OUT_FRAME_ROOM];
	const uint32_t inner_length = rig_packet(inner, RIG_IPV4_UDP, false, 20);
	const uint32_t length = rig_vxlan(frame, inner, inner_length);
	struct shca_dump_conf conf = { .rewrite = shca_rewrite, .room = room };
	struct shca_json json;
	struct shca_packet packet;
	struct shca_rule *rule;
	char *text, wanted[64];
	size_t size;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = true;
	rig.no_rule = true;
	rig_open(&rig);
	rule = add_rule(&rig, 0, frame[5], &modify_set, false, true);
	shca_parse(frame, length, &packet);
	conf.out = open_memstream(&text, &size);
	shca_dump_tables(shca_device_steering(rig.dev), &conf);
	shca_trace_rx(shca_device_steering(rig.dev), &packet, &conf);
	fclose(conf.out);
	check_has(text, "(ALLOW|DECAP|MOD_HDR)");
	snprintf(wanted, sizeof(wanted), "changed to %u bytes", inner_length);
	check_has(text, wanted);
	check_has(text, ":0a:0b,"); /* the changed address */
	check_has(text, "on behind the tables of rules");
	free(text);
	conf.out = open_memstream(&text, &size);
	shca_json_init(&json, conf.out);
	conf.json = &json;
	shca_json_open(&json, NULL, '{');
	shca_trace_rx(shca_device_steering(rig.dev), &packet, &conf);
	shca_json_close(&json);
	fclose(conf.out);
	check_has(text, "ALLOW|DECAP|MOD_HDR");
	check_has(text, "\"fate\": \"lost\"");
	free(text);
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field),
		cmocka_unit_test(add_and_copy),
		cmocka_unit_test(refused_actions),
		cmocka_unit_test(tunnel_off),
		cmocka_unit_test(tunnel_on),
		cmocka_unit_test(tunnel_on_ipv6),
		cmocka_unit_test(any_frame_and_edit),
		cmocka_unit_test(received),
		cmocka_unit_test(sent),
		cmocka_unit_test(to_the_netdev),
		cmocka_unit_test(told),
	};

	return cmocka_run_group_tests_name("rewrite", tests, NULL, NULL);
}
