/* SPDX-License-Identifier: BSD-3-Clause */
/* A device looks into those tunnels that its model reports, when it receives and when it sends. */
#include "hw/format/tunnels.h"

#include <endian.h>
#include <string.h>

#include "hw/format/rx_csum.h"
#include "rig.h"
#include "steering/steering.h"

#define VXLAN    MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN
#define GRE      MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE
#define MPLS_GRE MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE
#define MPLS_UDP MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP

#define OUTER 34 /* Ethernet, IPv4 */

/** A packet inside; the outer checksum is right. @return its length */
static uint32_t
make_frame(uint8_t *frame, enum shca_tunnel tunnel)
{
	static const uint8_t udp[] = { 4, 0, 6635 >> 8, 6635 & 0xff, 0, 0, 0, 0 };
	static const uint8_t gre[] = { 0, 0, 0x88, 0x47 }, label[] = { 0x12, 0x34, 0x51, 64 };
	uint8_t inner[256];
	uint32_t inner_length = rig_packet(inner, RIG_IPV4_TCP, false, 30), at = OUTER;
	uint16_t sum;

	if (tunnel == SHCA_TUNNEL_VXLAN)
		return rig_vxlan(frame, inner, inner_length);
	rig_packet(frame, RIG_IPV4_UDP, false, 0);
	if (tunnel == SHCA_TUNNEL_MPLS_UDP) {
		memcpy(frame + at, udp, sizeof(udp));
		at += sizeof(udp);
	} else {
		memcpy(frame + at, gre, sizeof(gre));
		rig_put16(frame + at + 2, tunnel == SHCA_TUNNEL_GRE ? 0x6558 : 0x8847);
		frame[23] = 47;
		at += sizeof(gre);
	}
	if (tunnel != SHCA_TUNNEL_GRE) {
		memcpy(frame + at, label, sizeof(label));
		at += sizeof(label);
		/* Labels are before the packet. */
		memcpy(frame + at, inner + 14, inner_length - 14);
		at += inner_length - 14;
	} else {
		memcpy(frame + at, inner, inner_length);
		at += inner_length;
	}
	rig_put16(frame + 16, (uint16_t)(at - 14));
	if (tunnel == SHCA_TUNNEL_MPLS_UDP)
		rig_put16(frame + OUTER + 4, (uint16_t)(at - OUTER));
	rig_put16(frame + 24, 0);
	sum = (uint16_t)~rig_naive_sum(frame + 14, 20, 0);
	rig_put16(frame + 24, sum);
	return at;
}

static const struct {
	enum shca_tunnel tunnel;
	uint32_t offload;
} tunnels[] = {
	{ SHCA_TUNNEL_VXLAN, VXLAN },
	{ SHCA_TUNNEL_GRE, GRE },
	{ SHCA_TUNNEL_MPLS_GRE, MPLS_GRE },
	{ SHCA_TUNNEL_MPLS_UDP, MPLS_UDP },
};

static void
parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tunnels) / sizeof(tunnels[0]); i++)
		for (uint32_t offloads = 0; offloads < 32; offloads++) {
			const bool is_seen = (offloads & tunnels[i].offload) != 0;
			enum shca_tunnel wanted = is_seen ? tunnels[i].tunnel : SHCA_TUNNEL_NONE;
			struct shca_packet packet;
			uint8_t frame[512];

			shca_parse(frame, make_frame(frame, tunnels[i].tunnel), &packet);
			assert_int_equal(packet.tunnel, tunnels[i].tunnel);
			assert_true(packet.inner.valid && packet.inner.l4 == SHCA_L4_TCP);
			shca_tunnels_limit(&packet, offloads);
			if (!is_seen && tunnels[i].tunnel == SHCA_TUNNEL_MPLS_GRE &&
				(offloads & GRE) != 0)
				wanted = SHCA_TUNNEL_GRE;
			assert_int_equal(packet.tunnel, wanted);
			assert_int_equal(packet.inner.valid, is_seen);
			assert_true(packet.outer.valid);
		}
}

/** In the CQE, and in what checksum flags for inner headers do. */
static void
on_a_device(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tunnels) / sizeof(tunnels[0]); i++)
		for (unsigned int is_seen = 0; is_seen < 2; is_seen++) {
			uint8_t frame[512];
			const uint32_t length = make_frame(frame, tunnels[i].tunnel);
			struct rig_wqe wqe;
			struct shca_cqe cqe;
			struct rig rig;
			uint64_t address;

			rig_init(&rig);
			/* Some other is there in any case. */
			rig.model.tunnel_offloads = is_seen ? tunnels[i].offload : 1u << 31;
			rig.tir_attr.tunneled_offload = true;
			rig_open(&rig);
			rig_fill_rx(&rig, 1);
			rig_come(&rig.wire, frame, length);
			rig_run(&rig);
			assert_true(rig_poll(&rig.rx, &cqe));
			assert_int_equal((cqe.pkt_info & SHCA_CQE_TUNNELED) != 0, is_seen);
			/* The last two bytes of the inner TCP checksum are wrong now. */
			frame[length - 30 - 4] ^= 0xff;
			address = rig_place(&rig, 0, frame, length);
			rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
			rig_wqe_eth(&wqe, SHCA_ETH_CSUM_L4_INNER, 0, NULL, 0);
			rig_wqe_pointer(&wqe, rig.mr->lkey, address, length);
			rig_post(&rig, &wqe);
			rig_run(&rig);
			assert_int_equal(rig.wire.nb_sent, 1);
			assert_int_equal(
				memcmp(rig.wire.sent[0].bytes, frame, length) != 0, is_seen);
			rig_close(&rig);
		}
}

#define DONT_TRAP 2
#define NB_TIRS   3

/**
 * Copies of one frame for queues of which only some asked for offloads in tunnels: each has what it
 * asked for, in whichever order they have them. The frame's inner checksum is wrong.
 */
static void
asked_for(void **state)
{
	(void)state;
	for (unsigned int asked = 0; asked < 1u << NB_TIRS; asked++) {
		struct shca_rule *rules[NB_TIRS];
		struct shca_tir *tirs[NB_TIRS];
		unsigned int nb[2] = { 0 };
		uint8_t frame[512];
		const uint32_t length = make_frame(frame, SHCA_TUNNEL_VXLAN);
		struct shca_cqe cqe;
		struct rig rig;

		frame[length - 1] ^= 1;
		rig_put16(frame + OUTER + SHCA_RX_CSUM_UDP_CHECKSUM, 0);
		rig_init(&rig);
		rig.no_rule = true;
		rig_open(&rig);
		for (unsigned int i = 0; i < NB_TIRS; i++) {
			struct shca_rule_attr attr = { .flags = DONT_TRAP };

			rig.tir_attr.tunneled_offload = (asked >> i & 1) != 0;
			assert_int_equal(shca_tir_create(rig.dev, &rig.tir_attr, &tirs[i]), 0);
			attr.tir = tirs[i];
			assert_int_equal(
				shca_rule_add(shca_device_steering(rig.dev), &attr, &rules[i]), 0);
		}
		shca_device_rules_changed(rig.dev);
		rig_fill_rx(&rig, NB_TIRS);
		rig_come(&rig.wire, frame, length);
		rig_run(&rig);
		while (rig_poll(&rig.rx, &cqe)) {
			const bool is_seen = (cqe.pkt_info & SHCA_CQE_TUNNELED) != 0;

			/* The outer UDP header has no checksum, so none that is wrong. */
			assert_int_equal((cqe.hds_ip_ext & MLX5_CQE_L4_OK) != 0, !is_seen);
			assert_int_equal(
				(cqe.l4_hdr_type >> SHCA_CQE_L4_SHIFT & 7) == SHCA_CQE_L4_UDP,
				!is_seen);
			nb[is_seen]++;
		}
		assert_int_equal(nb[true], __builtin_popcount(asked));
		assert_int_equal(nb[true] + nb[false], NB_TIRS);
		for (unsigned int i = 0; i < NB_TIRS; i++) {
			shca_rule_del(shca_device_steering(rig.dev), rules[i]);
			shca_tir_destroy(tirs[i]);
		}
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parsed),
		cmocka_unit_test(on_a_device),
		cmocka_unit_test(asked_for),
	};

	return cmocka_run_group_tests_name("tunnels", tests, NULL, NULL);
}
