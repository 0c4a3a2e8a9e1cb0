/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow actions: headers changed, tunnels put on and taken off, for received and sent frames, by
 * rules of plain verbs and by matchers; and refusals. ConnectX-4 Lx supports none of them.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

#define FRAME        100
#define ETHERNET     14
#define VXLAN_BYTES  50 /* Ethernet, IPv4, UDP, VXLAN */
#define ROOM         512
#define PARAM_BYTES  64
#define CONNECTX_4LX 0x1015

/** set_action_in: type SET, field, offset, length; data. */
#define SET(field, nb_bits, data)                                                                  \
	htobe64(UINT64_C(1) << 60 | (uint64_t)(field) << 48 | (uint64_t)((nb_bits)&31) << 32 |     \
		(uint32_t)(data))
#define ADD(field, nb_bits, data)                                                                  \
	htobe64(UINT64_C(2) << 60 | (uint64_t)(field) << 48 | (uint64_t)((nb_bits)&31) << 32 |     \
		(uint32_t)(data))
#define COPY(from, nb_bits, to)                                                                    \
	htobe64(UINT64_C(3) << 60 | (uint64_t)(from) << 48 | (uint64_t)((nb_bits)&31) << 32 |      \
		(uint64_t)(to) << 16)
#define DMAC_LOW  5
#define TTL       10
#define UDP_SPORT 11
#define UDP_DPORT 12

static struct ibv_cq *cq;

struct frame {
	unsigned int qp; /* whose buffer */
	size_t length;
	const uint8_t *bytes;
};

/** A rule for a last byte of the destination MAC. */
struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_action_handle handle[2];
} __attribute__((packed, aligned(4)));

static struct ibv_flow *
verbs_rule(struct ibv_qp *qp, uint8_t last, uint16_t priority, uint32_t flags,
	struct ibv_flow_action *first, struct ibv_flow_action *second)
{
	struct rule rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.priority = priority,
			.num_of_specs = (uint8_t)(1 + (first != NULL) + (second != NULL)),
			.port = 1,
			.flags = flags },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(rule.eth),
			.val.dst_mac = { 2, 0, 0, 0, 0, last },
			.mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
		.handle = { { .type = IBV_FLOW_SPEC_ACTION_HANDLE,
				    .size = sizeof(rule.handle[0]),
				    .action = first },
			{ .type = IBV_FLOW_SPEC_ACTION_HANDLE,
				.size = sizeof(rule.handle[0]),
				.action = second } },
	};

	return ibv_create_flow(qp, (void *)&rule);
}

static struct ibv_flow *
must_rule(struct ibv_qp *qp, uint8_t last, uint16_t priority, uint32_t flags,
	struct ibv_flow_action *first, struct ibv_flow_action *second)
{
	struct ibv_flow *flow = verbs_rule(qp, last, priority, flags, first, second);

	if (flow == NULL)
		rig_die("ibv_create_flow");
	return flow;
}

static struct ibv_flow_action *
modify(const uint64_t *actions, size_t nb, enum mlx5dv_flow_table_type type)
{
	uint64_t copy[16];
	struct ibv_flow_action *action;

	memcpy(copy, actions, nb * sizeof(copy[0]));
	action = mlx5dv_create_flow_action_modify_header(
		rig_context, nb * sizeof(copy[0]), copy, type);
	if (action == NULL)
		rig_die("mlx5dv_create_flow_action_modify_header");
	return action;
}

static struct ibv_flow_action *
reformat(enum mlx5dv_flow_action_packet_reformat_type type, void *header, size_t bytes,
	enum mlx5dv_flow_table_type table)
{
	struct ibv_flow_action *action =
		mlx5dv_create_flow_action_packet_reformat(rig_context, bytes, header, type, table);

	if (action == NULL)
		rig_die("mlx5dv_create_flow_action_packet_reformat");
	return action;
}

/** Send buffer 0, @p length bytes, and receive @p nb copies, in any order. */
static void
pass(struct ibv_qp *const *qp, size_t length, struct frame *got, unsigned int nb)
{
	struct ibv_wc wc[4];
	unsigned int at = 0;

	for (unsigned int i = 0; i < 2; i++)
		rig_receive(qp[i], 1 + i, ROOM);
	rig_send(qp[0], 0, length);
	rig_poll(cq, wc, nb + 1);
	for (unsigned int i = 0; i < nb + 1; i++) {
		CHECK(wc[i].status == IBV_WC_SUCCESS, wc[i].status);
		if (wc[i].opcode != IBV_WC_RECV)
			continue;
		if (at < nb)
			got[at++] = (struct frame){ (unsigned int)wc[i].wr_id - 1, wc[i].byte_len,
				rig_buffer((unsigned int)wc[i].wr_id) };
	}
	CHECK(at == nb, at);
	/* Leave no buffer for the next frame. */
	for (unsigned int i = 0; i < 2; i++) {
		rig_to_state(qp[i], IBV_QPS_RESET);
		rig_start(qp[i]);
	}
}

static void
set_ip_checksum(uint8_t *ip)
{
	uint16_t sum;

	ip[10] = ip[11] = 0;
	sum = (uint16_t)~rig_sum(ip, 20);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/** Write a tunnel's headers; the device fills in lengths and checksum. */
static void
make_tunnel(uint8_t header[VXLAN_BYTES])
{
	static const uint8_t bytes[VXLAN_BYTES] = { 2, 0, 0, 0, 0, 0x77, 2, 0, 0, 0, 0, 2, 8, 0,
		0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, 0xc0, 0, 0x12,
		0xb5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0 };

	memcpy(header, bytes, sizeof(bytes));
}

/** A rule that does not trap changes the frame for its queue and for the rules behind it. */
static void
test_modify_received(struct ibv_qp *const *qp)
{
	const uint64_t actions[] = { SET(DMAC_LOW, 16, 0x55), ADD(TTL, 8, -1),
		COPY(UDP_SPORT, 16, UDP_DPORT) };
	struct ibv_flow_action *action = modify(actions, 3, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	struct ibv_flow *flow[3] = {
		must_rule(qp[0], 1, 0, IBV_FLOW_ATTR_FLAGS_DONT_TRAP, action, NULL),
		must_rule(qp[0], 1, 1, 0, NULL, NULL), /* no frame matches this any more */
		must_rule(qp[1], 0x55, 2, 0, NULL, NULL),
	};
	struct frame got[2];

	rig_frame(rig_buffer(0), FRAME, 3);
	set_ip_checksum(rig_buffer(0) + ETHERNET);
	pass(qp, FRAME, got, 2);
	CHECK(got[0].qp != got[1].qp, got[0].qp);
	for (unsigned int i = 0; i < 2; i++) {
		const uint8_t *bytes = got[i].bytes;

		CHECK(got[i].length == FRAME, got[i].length);
		CHECK(bytes[5] == 0x55 && bytes[4] == 0, bytes[5]);
		CHECK(bytes[ETHERNET + 8] == 63, bytes[ETHERNET + 8]);
		CHECK(rig_sum(bytes + ETHERNET, 20) == 0xffff, rig_sum(bytes + ETHERNET, 20));
		CHECK(memcmp(bytes + 34, bytes + 36, 2) == 0, bytes[36]);
		CHECK(memcmp(bytes + 38, rig_buffer(0) + 38, FRAME - 38) == 0, 0);
	}
	CHECK(ibv_destroy_flow_action(action) == EBUSY, 0);
	CHECK_REFUSED(verbs_rule(qp[0], 1, 0, IBV_FLOW_ATTR_FLAGS_DONT_TRAP, NULL, NULL), EEXIST);
	CHECK_REFUSED(verbs_rule(qp[0], 9, 0, 0, action, action), EINVAL);
	CHECK_REFUSED(verbs_rule(qp[0], 9, 0, IBV_FLOW_ATTR_FLAGS_EGRESS, action, NULL), EINVAL);
	for (unsigned int i = 0; i < 3; i++)
		rig_must(ibv_destroy_flow(flow[i]), "ibv_destroy_flow");
	rig_must(ibv_destroy_flow_action(action), "ibv_destroy_flow_action");
}

static struct ibv_flow *
matcher_rule(struct mlx5dv_flow_matcher *matcher, uint8_t last, struct ibv_qp *qp,
	struct ibv_flow_action *first, struct ibv_flow_action *second)
{
	struct {
		size_t size;
		uint8_t bytes[PARAM_BYTES];
	} value = { PARAM_BYTES, { [8] = 2, [13] = last } };
	struct mlx5dv_flow_action_attr attr[3] = { 0 };
	struct ibv_flow_action *const actions[] = { first, second };
	struct ibv_flow *flow;
	size_t nb = 0;

	for (unsigned int i = 0; i < 2; i++)
		if (actions[i] != NULL)
			attr[nb++] = (struct mlx5dv_flow_action_attr){
				.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION,
				.action = actions[i],
			};
	if (qp != NULL)
		attr[nb++] = (struct mlx5dv_flow_action_attr){
			.type = MLX5DV_FLOW_ACTION_DEST_IBV_QP,
			.qp = qp,
		};
	flow = mlx5dv_create_flow(matcher, (void *)&value, nb, attr);
	if (flow == NULL)
		rig_die("mlx5dv_create_flow");
	return flow;
}

static struct mlx5dv_flow_matcher *
make_matcher(enum mlx5dv_flow_table_type type)
{
	struct {
		size_t size;
		uint8_t bytes[PARAM_BYTES];
	} mask = { PARAM_BYTES, { 0 } };
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = 3,
		.match_criteria_enable = 1,
		.match_mask = (void *)&mask,
		.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
		.ft_type = type,
	};
	struct mlx5dv_flow_matcher *matcher;

	memset(mask.bytes + 8, 0xff, 6);
	matcher = mlx5dv_create_flow_matcher(rig_context, &attr);
	if (matcher == NULL)
		rig_die("mlx5dv_create_flow_matcher");
	return matcher;
}

/** A frame leaves in a tunnel, with its headers changed before, and the receiver takes it out. */
static void
test_tunnel(struct ibv_qp *const *qp)
{
	const uint64_t sport = SET(UDP_SPORT, 16, 4711);
	struct mlx5dv_flow_matcher *tx = make_matcher(MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
	struct mlx5dv_flow_matcher *rx = make_matcher(MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	uint8_t header[VXLAN_BYTES], inner[FRAME];
	struct ibv_flow_action *set = modify(&sport, 1, MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
	struct ibv_flow_action *on, *off;
	struct ibv_flow *out, *in, *all;
	struct frame got[2];

	make_tunnel(header);
	on = reformat(MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL, header,
		sizeof(header), MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
	off = reformat(MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2, NULL, 0,
		MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	out = matcher_rule(tx, 1, NULL, set, on);
	all = must_rule(qp[0], 0x77, 5, 0, NULL, NULL);
	rig_frame(rig_buffer(0), FRAME, 5);
	memcpy(inner, rig_buffer(0), FRAME);
	inner[34] = 4711 >> 8;
	inner[35] = 4711 & 0xff;
	pass(qp, FRAME, got, 1);
	CHECK(got[0].length == FRAME + VXLAN_BYTES, got[0].length);
	CHECK(memcmp(got[0].bytes + VXLAN_BYTES, inner, FRAME) == 0, 0);
	CHECK(memcmp(got[0].bytes, header, ETHERNET) == 0, 0);
	CHECK(rig_sum(got[0].bytes + ETHERNET, 20) == 0xffff, 0);
	CHECK(got[0].bytes[ETHERNET + 3] == FRAME + 36, got[0].bytes[ETHERNET + 3]);
	CHECK(got[0].bytes[ETHERNET + 25] == FRAME + 16, got[0].bytes[ETHERNET + 25]);
	/* The program's own frame is unchanged. */
	inner[34] = 4;
	inner[35] = 0;
	CHECK(memcmp(rig_buffer(0), inner, FRAME) == 0, 0);
	/* Of a higher priority: the same frame without its tunnel. */
	in = matcher_rule(rx, 0x77, qp[1], off, NULL);
	inner[34] = 4711 >> 8;
	inner[35] = 4711 & 0xff;
	pass(qp, FRAME, got, 1);
	CHECK(got[0].qp == 1, got[0].qp);
	CHECK(got[0].length == FRAME, got[0].length);
	CHECK(memcmp(got[0].bytes, inner, FRAME) == 0, 0);
	rig_must(ibv_destroy_flow(in), "ibv_destroy_flow");
	rig_must(ibv_destroy_flow(out), "ibv_destroy_flow");
	rig_must(ibv_destroy_flow(all), "ibv_destroy_flow");
	rig_must(mlx5dv_destroy_flow_matcher(rx), "mlx5dv_destroy_flow_matcher");
	rig_must(mlx5dv_destroy_flow_matcher(tx), "mlx5dv_destroy_flow_matcher");
	rig_must(ibv_destroy_flow_action(on), "ibv_destroy_flow_action");
	rig_must(ibv_destroy_flow_action(off), "ibv_destroy_flow_action");
	rig_must(ibv_destroy_flow_action(set), "ibv_destroy_flow_action");
}

/** A packet without Ethernet header in a tunnel: rules of plain verbs take the tunnel off and put
 * it on. */
static void
test_l3_tunnel(struct ibv_qp *const *qp)
{
	uint8_t ethernet[ETHERNET] = { 2, 0, 0, 0, 0, 0x99, 2, 0, 0, 0, 0, 3, 8, 0 };
	uint8_t header[] = { 2, 0, 0, 0, 0, 0x77, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 0, 0, 1, 0, 0,
		64, 47, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, 0, 0, 8, 0 };
	struct ibv_flow_action *on =
		reformat(MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL, header,
			sizeof(header), MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
	struct ibv_flow_action *off =
		reformat(MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2, ethernet,
			sizeof(ethernet), MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	struct ibv_flow *flow[] = {
		must_rule(qp[0], 1, 0, IBV_FLOW_ATTR_FLAGS_EGRESS, on, NULL),
		must_rule(qp[1], 0x77, 0, IBV_FLOW_ATTR_FLAGS_DONT_TRAP, NULL, NULL),
		must_rule(qp[0], 0x77, 0, 0, off, NULL),
	};
	struct frame got[2];

	rig_frame(rig_buffer(0), FRAME, 7);
	pass(qp, FRAME, got, 2);
	for (unsigned int i = 0; i < 2; i++) {
		const size_t head = got[i].qp == 1 ? sizeof(header) : ETHERNET;

		CHECK(got[i].length == head + FRAME - ETHERNET, got[i].length);
		CHECK(memcmp(got[i].bytes + head, rig_buffer(0) + ETHERNET, FRAME - ETHERNET) == 0,
			i);
		if (got[i].qp == 0)
			CHECK(memcmp(got[i].bytes, ethernet, ETHERNET) == 0, 0);
	}
	CHECK(got[0].qp != got[1].qp, got[0].qp);
	for (unsigned int i = 0; i < 3; i++)
		rig_must(ibv_destroy_flow(flow[i]), "ibv_destroy_flow");
	rig_must(ibv_destroy_flow_action(on), "ibv_destroy_flow_action");
	rig_must(ibv_destroy_flow_action(off), "ibv_destroy_flow_action");
}

static void
test_refused(void)
{
	uint64_t set[1] = { SET(TTL, 8, 1) };
	uint8_t header[VXLAN_BYTES];

	make_tunnel(header);
	CHECK_REFUSED(mlx5dv_create_flow_action_modify_header(
			      rig_context, sizeof(set), set, MLX5DV_FLOW_TABLE_TYPE_NIC_RX),
		EOPNOTSUPP);
	CHECK_REFUSED(mlx5dv_create_flow_action_packet_reformat(rig_context, 0, NULL,
			      MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2,
			      MLX5DV_FLOW_TABLE_TYPE_NIC_RX),
		EOPNOTSUPP);
	CHECK_REFUSED(mlx5dv_create_flow_action_packet_reformat(rig_context, sizeof(header), header,
			      MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
			      MLX5DV_FLOW_TABLE_TYPE_NIC_TX),
		EOPNOTSUPP);
}

int
main(void)
{
	struct ibv_device_attr attr;
	struct ibv_qp *qp[2];

	rig_open();
	rig_must(ibv_query_device(rig_context, &attr), "ibv_query_device");
	cq = ibv_create_cq(rig_context, 128, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	for (unsigned int i = 0; i < 2; i++)
		qp[i] = rig_qp(cq, 0);
	if (attr.vendor_part_id == CONNECTX_4LX) {
		test_refused();
	} else {
		test_modify_received(qp);
		test_tunnel(qp);
		test_l3_tunnel(qp);
	}
	for (unsigned int i = 0; i < 2; i++)
		rig_must(ibv_destroy_qp(qp[i]), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
