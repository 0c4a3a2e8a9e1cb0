/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that are taken to be like earlier ones: they would have parsed the same, and complete as
 * frames that nothing is remembered of. Bytes are changed one by one and at random.
 */
#include "rig.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "hw/format/cqe.h"
#include "hw/format/rss.h"
#include "hw/queue/flow_cache.h"
#include "hw/state/device.h"
#include "hw/state/flow_cache.h"
#include "hw/state/rq.h"
#include "hw/state/tir.h"
#include "steering/match/field.h"

#define FRAME_MAX  256
#define NB_FRAMES  200000
#define NB_BURSTS  400
#define BURST      32
#define GENERATION 7

static uint32_t
base_frame(uint8_t *bytes, unsigned int number)
{
	uint8_t inner[FRAME_MAX];

	memset(bytes, 0, FRAME_MAX);
	if (number % 16 == 15)
		return rig_vxlan(bytes, inner, rig_packet(inner, RIG_IPV4_UDP, false, 10));
	return rig_packet(bytes, (enum rig_packet)(number % 4), number % 8 >= 4, number / 8 % 40);
}

/** Mostly one byte of the headers, sometimes some anywhere, sometimes none. */
static void
mutate(uint8_t *bytes, uint32_t length)
{
	static const uint8_t telling[] = { 0x45, 0x46, 0x65, 17, 6, 47, 0x81, 0x08, 0x20 };
	unsigned int nb = (unsigned int)rand() % 3;

	while (nb-- != 0) {
		uint32_t at = (uint32_t)rand() % (rand() % 8 == 0 || length < 80 ? length : 80);

		bytes[at] = rand() % 2 == 0 ? (uint8_t)rand()
					    : telling[(size_t)rand() % sizeof(telling)];
	}
}

static void
assert_same_stack(const struct shca_headers *one, const struct shca_headers *other)
{
	assert_int_equal(one->valid, other->valid);
	assert_int_equal(one->has_ether, other->has_ether);
	assert_int_equal(one->has_mpls, other->has_mpls);
	assert_int_equal(one->nb_vlans, other->nb_vlans);
	assert_int_equal(one->ether_type, other->ether_type);
	assert_int_equal(one->vlan_tpid, other->vlan_tpid);
	assert_int_equal(one->vlan_tci, other->vlan_tci);
	assert_int_equal(one->mpls_label, other->mpls_label);
	assert_int_equal(one->l3, other->l3);
	assert_int_equal(one->l4, other->l4);
	assert_int_equal(one->l3_length_ok, other->l3_length_ok);
	assert_int_equal(one->ip_options, other->ip_options);
	assert_int_equal(one->fragment, other->fragment);
	assert_int_equal(one->ip_proto, other->ip_proto);
	assert_int_equal(one->l3_offset, other->l3_offset);
	assert_int_equal(one->l3_end, other->l3_end);
	assert_int_equal(one->l4_offset, other->l4_offset);
	assert_int_equal(one->src_port, other->src_port);
	assert_int_equal(one->dst_port, other->dst_port);
	assert_int_equal(one->payload_offset, other->payload_offset);
	assert_int_equal(one->tcp_flags, other->tcp_flags);
}

static union shca_match_key
key_of(const struct shca_packet *packet)
{
	union shca_match_key key;

	memset(&key, 0, sizeof(key));
	shca_field_key(packet, UINT64_MAX, &key);
	return key;
}

/** What is found tells of the frame what the parser and the rules would. */
static void
found_is_true(void **state)
{
	struct shca_destination destination = { .flow_tag = 3 };
	struct shca_verdict verdict = { .destination = &destination, .nb_destinations = 1 };
	const struct shca_cache_trail trail = { 0 };
	unsigned int nb_found = 0, nb_other = 0;
	struct shca_flow_cache *flow_cache;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.tir_attr.hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	rig_open(&rig);
	flow_cache = &rig.dev->flow_cache;
	destination.tir = rig.tir;
	srand(5);
	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		uint8_t bytes[FRAME_MAX];
		struct shca_frame frame = { bytes, base_frame(bytes, i / 16) };
		const struct shca_flow_cache_line *line;
		struct shca_packet packet, known;
		union shca_match_key want, got;
		uint8_t type;

		mutate(bytes, frame.length);
		shca_parse(bytes, frame.length, &packet);
		line = shca_flow_cache_find(flow_cache, GENERATION, &frame);
		if (line == NULL) {
			shca_flow_cache_put(flow_cache, GENERATION, &packet, &verdict, &trail);
			nb_other++;
			continue;
		}
		nb_found++;
		assert_int_equal(line->packet.length, packet.length);
		assert_int_equal(packet.tunnel, SHCA_TUNNEL_NONE);
		assert_int_equal(line->packet.tunnel, SHCA_TUNNEL_NONE);
		assert_same_stack(&line->packet.outer, &packet.outer);
		assert_same_stack(&line->packet.inner, &packet.inner);
		known = line->packet;
		known.bytes = bytes;
		want = key_of(&packet);
		got = key_of(&known);
		assert_memory_equal(&got, &want, sizeof(want));
		assert_int_equal(line->rss_hash,
			shca_rss_packet(&rig.tir->rss, rig.tir->attr.hash_fields, &packet, &type));
		assert_int_equal(line->rss_hash_type, type);
		assert_ptr_equal(line->rq, rig.rq);
		assert_int_equal(line->flow_tag, 3);
		assert_null(shca_flow_cache_find(flow_cache, GENERATION + 1, &frame));
	}
	assert_uint_in_range(nb_found, NB_FRAMES / 8, NB_FRAMES);
	assert_uint_in_range(nb_other, NB_FRAMES / 8, NB_FRAMES);
	rig_close(&rig);
}

/** A change of any byte of the headers, but for those that nobody looks at, is another frame; one
 * of the payload is not. */
static void
each_byte_counts(void **state)
{
	static const struct {
		enum rig_packet kind;
		bool vlan;
		uint32_t headers; /* 0: too long to be remembered */
		uint8_t ignored[20];
	} cases[] = {
		{ RIG_IPV4_UDP, false, 42, { 18, 19, 24, 25, 40, 41 } },
		{ RIG_IPV4_UDP, true, 46, { 22, 23, 28, 29, 44, 45 } },
		{ RIG_IPV4_TCP, false, 54,
			{ 18, 19, 24, 25, 38, 39, 40, 41, 42, 43, 44, 45, 48, 49, 50, 51, 52,
				53 } },
		{ RIG_IPV6_UDP, false, 62, { 60, 61 } },
		{ RIG_IPV6_TCP, false, 0, { 0 } },
	};
	const struct shca_cache_trail trail = { 0 };
	struct shca_destination destination = { 0 };
	struct shca_verdict verdict = { .destination = &destination, .nb_destinations = 1 };
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	destination.tir = rig.tir;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_flow_cache *flow_cache = &rig.dev->flow_cache;
		uint8_t bytes[FRAME_MAX];
		struct shca_frame frame = { bytes,
			rig_packet(bytes, cases[i].kind, cases[i].vlan, 30) };
		struct shca_packet packet;

		shca_parse(bytes, frame.length, &packet);
		shca_flow_cache_put(flow_cache, GENERATION, &packet, &verdict, &trail);
		assert_int_equal(shca_flow_cache_find(flow_cache, GENERATION, &frame) != NULL,
			cases[i].headers != 0);
		for (uint32_t at = 0; at < frame.length && cases[i].headers != 0; at++) {
			const bool is_ignored = at >= cases[i].headers ||
				memchr(cases[i].ignored, (int)at, sizeof(cases[i].ignored)) != NULL;

			bytes[at] ^= 0x10;
			assert_int_equal(
				shca_flow_cache_find(flow_cache, GENERATION, &frame) != NULL,
				is_ignored && at != 0);
			bytes[at] ^= 0x10;
		}
		frame.length--;
		assert_null(shca_flow_cache_find(flow_cache, GENERATION, &frame));
	}
	rig_close(&rig);
}

/** Completions of bursts of frames, most of them alike, are those of each frame by itself. */
static void
complete_as_alone(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 64;
	rig.rq_attr.nb_wqes = 64;
	rig.tir_attr.hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
	rig.tir_attr.tunneled_offload = true;
	rig_open(&rig);
	srand(9);
	for (unsigned int burst = 0; burst < NB_BURSTS; burst++) {
		uint8_t bytes[BURST][FRAME_MAX];
		uint32_t length[BURST];
		uint16_t first = rig.rq_pi;

		rig_fill_rx(&rig, BURST);
		for (unsigned int i = 0; i < BURST; i++) {
			length[i] = base_frame(bytes[i], burst);
			mutate(bytes[i], length[i]);
			rig_come(&rig.wire, bytes[i], length[i]);
		}
		rig_run(&rig);
		rig_forget(&rig.wire);
		for (unsigned int i = 0; i < BURST; i++) {
			struct shca_cqe_rx cqe_rx = { .byte_count = length[i] };
			struct shca_cqe described, want, got;
			struct shca_packet packet;

			assert_true(rig_poll(&rig.rx, &got));
			shca_parse(bytes[i], length[i], &packet);
			cqe_rx.rss_hash = shca_rss_packet(&rig.tir->rss, rig.tir->attr.hash_fields,
				&packet, &cqe_rx.rss_hash_type);
			cqe_rx.user_index = rig.rq->attr.user_index;
			cqe_rx.wqe_counter = (uint16_t)(first + i);
			shca_cqe_describe(&described, &packet, true, be64toh(got.timestamp));
			shca_cqe_set_rx(&want, &described, &cqe_rx);
			got.op_own &= (uint8_t)~1u;
			assert_memory_equal(&got, &want, sizeof(want));
			assert_memory_equal(rig.buffers + (size_t)((first + i) % 64) * RIG_RX_BYTES,
				bytes[i], length[i]);
		}
		assert_false(rig_poll(&rig.rx, &(struct shca_cqe){ 0 }));
	}
	assert_int_equal(shca_device_stats(rig.dev)->rx_steered, NB_BURSTS * BURST);
	assert_int_equal(rig.rq->count.packets, NB_BURSTS * BURST);
	rig_close(&rig);
}

/** Frames alike meet a queue that runs out of WQEs, then one whose buffer is too short. */
static void
trouble_within_a_run(void **state)
{
	struct mlx5_wqe_data_seg small;
	struct shca_cqe cqe;
	uint8_t bytes[FRAME_MAX];
	struct rig rig;
	uint32_t length;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	length = rig_packet(bytes, RIG_IPV4_UDP, false, 30);
	rig_fill_rx(&rig, 5);
	for (unsigned int i = 0; i < 7; i++)
		rig_come(&rig.wire, bytes, length);
	rig_run(&rig);
	for (unsigned int i = 0; i < 5; i++) {
		assert_true(rig_poll(&rig.rx, &cqe));
		assert_int_equal(be16toh(cqe.wqe_counter), i);
	}
	assert_false(rig_poll(&rig.rx, &cqe));
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 2);
	rig_fill_rx(&rig, 2);
	small = rig_segment(20, rig.mr->lkey, (uintptr_t)rig.buffers);
	rig_post_rx(&rig, &small, 1);
	rig_fill_rx(&rig, 2);
	for (unsigned int i = 0; i < 5; i++)
		rig_come(&rig.wire, bytes, length);
	rig_run(&rig);
	for (unsigned int i = 5; i < 10; i++) {
		if (i == 7) {
			rig_expect_error(
				&rig.rx, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 7);
			continue;
		}
		assert_true(rig_poll(&rig.rx, &cqe));
		assert_int_equal(be16toh(cqe.wqe_counter), i);
	}
	assert_false(rig_poll(&rig.rx, &cqe));
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_is_true),
		cmocka_unit_test(each_byte_counts),
		cmocka_unit_test(complete_as_alone),
		cmocka_unit_test(trouble_within_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
