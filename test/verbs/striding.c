/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Striding receive queues: the strides of each frame, fillers, WQEs that are too small or missing.
 * The library neither posts to such queues nor polls for them, so this program does.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "rig.h"

#define NB_WQES      4
#define NB_FRAMES    150
#define FIRST_BUFFER 16 /* of the receive WQEs; 8 each */
#define WQE_ROOM     (8 * RIG_BUFFER_BYTES)
#define TWO_BYTES    2
#define MARKER       9 /* last byte of an address */
#define FILLER       0x80000000u

struct shape {
	uint32_t log_bytes, log_strides;
	bool two_byte_shift;
	unsigned int nb_segments;
};

static struct shape shape;
static struct ibv_cq *send_cq, *cq;
static struct ibv_qp *sender, *hash;
static struct ibv_wq *wq;
static struct ibv_rwq_ind_table *table;
static struct ibv_flow *flow;
static struct mlx5dv_cq ring;
static struct mlx5dv_rwq rwq;
static uint32_t ci, nb_posted;
static uint32_t wqe, stride; /* the place of the next frame */

static uint32_t
wqe_bytes(void)
{
	return 1u << (shape.log_bytes + shape.log_strides);
}

static uint8_t *
wqe_buffer(uint32_t number)
{
	return rig_buffer(FIRST_BUFFER) + (size_t)(number % NB_WQES) * WQE_ROOM;
}

static struct ibv_wq *
create_wq(const struct shape *wanted)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ,
		.max_wr = NB_WQES,
		.max_sge = wanted->nb_segments,
		.pd = rig_pd,
		.cq = cq };
	struct mlx5dv_wq_init_attr striding = {
		.comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
		.striding_rq_attrs = { wanted->log_bytes, wanted->log_strides,
			wanted->two_byte_shift },
	};

	return mlx5dv_create_wq(rig_context, &attr, &striding);
}

static void
open_queue(void)
{
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	uint8_t key[40] = { 1 };
	struct ibv_rwq_ind_table_init_attr table_attr = { .ind_tbl = &wq };
	struct ibv_qp_init_attr_ex qp_attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = rig_pd,
		.rx_hash_conf = { IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key, 0 },
	};
	struct mlx5dv_obj obj = { .cq = { .in = NULL, .out = &ring }, .rwq = { .out = &rwq } };

	cq = ibv_create_cq(rig_context, 63, NULL, NULL, 0);
	wq = create_wq(&shape);
	if (cq == NULL || wq == NULL)
		rig_die("mlx5dv_create_wq");
	table = ibv_create_rwq_ind_table(rig_context, &table_attr);
	qp_attr.rwq_ind_tbl = table;
	hash = ibv_create_qp_ex(rig_context, &qp_attr);
	if (hash == NULL)
		rig_die("ibv_create_qp_ex");
	rig_must(ibv_modify_wq(wq, &ready), "ibv_modify_wq");
	obj.cq.in = cq;
	obj.rwq.in = wq;
	rig_must(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ | MLX5DV_OBJ_RWQ), "mlx5dv_init_obj");
	flow = rig_take_all(hash);
	ci = nb_posted = wqe = stride = 0;
}

static void
close_queue(void)
{
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(hash), "ibv_destroy_qp");
	rig_must(ibv_destroy_rwq_ind_table(table), "ibv_destroy_rwq_ind_table");
	rig_must(ibv_destroy_wq(wq), "ibv_destroy_wq");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

/** Write a next segment, then the buffer in the requested number of pieces, the smallest first. */
static void
post(void)
{
	const uint32_t number = nb_posted % rwq.wqe_cnt;
	uint8_t *at = (uint8_t *)rwq.buf + (size_t)number * rwq.stride;
	struct mlx5_wqe_data_seg segment;
	uint32_t done = 0;

	memset(at, 0, rwq.stride);
	memset(wqe_buffer(nb_posted), 0xee, wqe_bytes());
	for (unsigned int i = 0; i < shape.nb_segments; i++) {
		uint32_t length = i + 1 < shape.nb_segments ? 100 : wqe_bytes() - done;

		at += sizeof(struct mlx5_wqe_srq_next_seg);
		mlx5dv_set_data_seg(
			&segment, length, rig_mr->lkey, (uintptr_t)wqe_buffer(nb_posted) + done);
		memcpy(at, &segment, sizeof(segment));
		done += length;
	}
	nb_posted++;
	__atomic_store_n(&rwq.dbrec[MLX5_RCV_DBR], htobe32(nb_posted & 0xffff), __ATOMIC_RELEASE);
}

static struct mlx5_cqe64
take_cqe(void)
{
	const struct mlx5_cqe64 *at =
		(struct mlx5_cqe64 *)((uint8_t *)ring.buf + (ci & (ring.cqe_cnt - 1)) * 64);
	const uint8_t owner = (ci & ring.cqe_cnt) != 0;
	time_t end = time(NULL) + RIG_PATIENCE;
	struct mlx5_cqe64 cqe;
	uint8_t op_own;

	do {
		op_own = __atomic_load_n(&at->op_own, __ATOMIC_ACQUIRE);
		if (time(NULL) > end) {
			errno = ETIMEDOUT;
			rig_die("no CQE");
		}
	} while (op_own >> 4 == MLX5_CQE_INVALID || (op_own & 1) != owner);
	cqe = *at;
	ci++;
	__atomic_store_n(&ring.dbrec[0], htobe32(ci & 0xffffff), __ATOMIC_RELEASE);
	return cqe;
}

static void
next_wqe(void)
{
	wqe++;
	stride = 0;
}

static void
send_frame(size_t length, uint8_t seed)
{
	struct ibv_wc wc;

	rig_frame(rig_buffer(0), length, seed);
	rig_send(sender, 0, length);
	rig_poll(send_cq, &wc, 1);
	rig_check(wc.status == IBV_WC_SUCCESS, "sent", wc.status);
}

static uint32_t
strides_of(size_t length)
{
	const uint32_t shift = shape.two_byte_shift ? TWO_BYTES : 0;

	return (uint32_t)((length + shift - 1) >> shape.log_bytes) + 1;
}

/** Send a frame to the sender itself: earlier frames have reached their queue when it arrives. */
static void
send_marker(void)
{
	struct ibv_wc wc[2];

	rig_frame(rig_buffer(1), 64, 0);
	rig_buffer(1)[5] = MARKER;
	rig_receive(sender, 2, RIG_BUFFER_BYTES);
	rig_send(sender, 1, 64);
	rig_poll(send_cq, wc, 2);
	CHECK(rig_find(wc, 2, IBV_WC_RECV) != NULL, 0);
}

/** A rule before the one that takes all. */
static struct ibv_flow *
marker_rule(void)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.num_of_specs = 1,
			.port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(rule.eth),
			.val.dst_mac = { 2, 0, 0, 0, 0, MARKER },
			.mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};
	struct ibv_flow *made = ibv_create_flow(sender, &rule.attr);

	if (made == NULL)
		rig_die("ibv_create_flow");
	return made;
}

/** Give up the rest of the WQE. */
static void
expect_filler(void)
{
	const uint32_t left = (1u << shape.log_strides) - stride;
	struct mlx5_cqe64 cqe = take_cqe();

	rig_check(cqe.op_own >> 4 == MLX5_CQE_RESP_SEND, "filler's opcode", cqe.op_own);
	rig_check(be32toh(cqe.byte_cnt) == (FILLER | left << 16), "filler", be32toh(cqe.byte_cnt));
	rig_check(be16toh(cqe.wqe_id) == (wqe & 0xffff), "filler's WQE", be16toh(cqe.wqe_id));
	next_wqe();
}

static void
expect_frame(size_t length)
{
	const uint32_t shift = shape.two_byte_shift ? TWO_BYTES : 0;
	const uint32_t nb = strides_of(length);
	struct mlx5_cqe64 cqe;

	if (stride + nb > 1u << shape.log_strides)
		expect_filler();
	cqe = take_cqe();
	rig_check(cqe.op_own >> 4 == MLX5_CQE_RESP_SEND, "opcode", cqe.op_own);
	rig_check(be32toh(cqe.byte_cnt) == (nb << 16 | length), "length and strides",
		be32toh(cqe.byte_cnt));
	rig_check(be16toh(cqe.wqe_id) == (wqe & 0xffff), "WQE", be16toh(cqe.wqe_id));
	rig_check(be16toh(cqe.wqe_counter) == stride, "stride", be16toh(cqe.wqe_counter));
	rig_check(memcmp(wqe_buffer(wqe) + (stride << shape.log_bytes) + shift, rig_buffer(0),
			  length) == 0,
		"bytes", (long long)length);
	stride += nb;
	if (stride == 1u << shape.log_strides)
		next_wqe();
}

/** Frames of all lengths, in an order that is the same each time. */
static void
test_frames(void)
{
	const uint32_t most = wqe_bytes() < 3000 ? wqe_bytes() - TWO_BYTES : 3000;
	uint32_t random = 12345;

	open_queue();
	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		size_t length;

		random = random * 1103515245 + 12345;
		length = 60 + (random >> 16) % (most - 60 + 1);
		while (nb_posted < wqe + NB_WQES)
			post();
		send_frame(length, (uint8_t)i);
		expect_frame(length);
	}
	close_queue();
}

/** Without a WQE a frame is lost. A frame that does not fit into the rest of the last WQE uses
 * that up, and is lost. */
static void
test_starving(void)
{
	const uint32_t nb = 1u << shape.log_strides;
	const size_t large = wqe_bytes() < 4000 ? wqe_bytes() - TWO_BYTES : 4000;

	open_queue();
	send_frame(200, 1);
	send_marker();
	post();
	do {
		send_frame(300, 2);
		expect_frame(300);
	} while (stride + strides_of(large) <= nb);
	send_frame(large, 4);
	expect_filler();
	send_marker();
	post();
	send_frame(100, 5);
	expect_frame(100);
	close_queue();
}

/** A frame longer than any WQE: an error that uses up the rest of one WQE, and does not touch the
 * next frame. */
static void
test_too_long(void)
{
	struct mlx5_cqe64 cqe;
	struct mlx5_err_cqe error;

	open_queue();
	while (nb_posted < NB_WQES)
		post();
	send_frame(wqe_bytes() + 1, 1);
	cqe = take_cqe();
	memcpy(&error, &cqe, sizeof(error));
	CHECK(error.op_own >> 4 == MLX5_CQE_RESP_ERR, error.op_own);
	CHECK(error.syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, error.syndrome);
	next_wqe();
	send_frame(100, 2);
	expect_frame(100);
	close_queue();
}

static void
test_refused(const struct mlx5dv_striding_rq_caps *caps)
{
	const uint32_t bytes = caps->min_single_stride_log_num_of_bytes;
	const uint32_t strides = caps->min_single_wqe_log_num_of_strides;
	const struct shape refused[] = {
		{ bytes - 1, strides, false, 1 },
		{ caps->max_single_stride_log_num_of_bytes + 1, strides, false, 1 },
		{ bytes, strides - 1, false, 1 },
		{ bytes, caps->max_single_wqe_log_num_of_strides + 1, false, 1 },
	};

	cq = ibv_create_cq(rig_context, 63, NULL, NULL, 0);
	for (unsigned int i = 0; i < 4; i++)
		CHECK_REFUSED(create_wq(&refused[i]), EINVAL);
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

int
main(void)
{
	struct mlx5dv_context attr = { .comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ };
	const struct shape shapes[] = { { 6, 9, false, 1 }, { 6, 9, true, 3 }, { 8, 3, false, 1 },
		{ 6, 6, true, 2 }, { 11, 3, true, 1 } };
	struct ibv_flow *marker;
	uint32_t least;

	rig_open();
	rig_must(mlx5dv_query_device(rig_context, &attr), "mlx5dv_query_device");
	least = attr.striding_rq_caps.min_single_wqe_log_num_of_strides;
	CHECK(attr.striding_rq_caps.supported_qpts == 1 << IBV_QPT_RAW_PACKET, 0);
	CHECK(least == 3 || least == 9, least);
	CHECK(attr.striding_rq_caps.min_single_stride_log_num_of_bytes == 6, 0);
	CHECK(attr.striding_rq_caps.max_single_stride_log_num_of_bytes == 13, 0);
	send_cq = ibv_create_cq(rig_context, 63, NULL, NULL, 0);
	if (send_cq == NULL)
		rig_die("ibv_create_cq");
	sender = rig_qp(send_cq, 0);
	marker = marker_rule();
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		shape = shapes[i];
		if (shape.log_strides < least)
			continue;
		test_frames();
		if (shape.nb_segments == 1)
			test_starving();
		if (wqe_bytes() < RIG_BUFFER_BYTES)
			test_too_long();
	}
	test_refused(&attr.striding_rq_caps);
	rig_must(ibv_destroy_flow(marker), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(sender), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(send_cq), "ibv_destroy_cq");
	return rig_close();
}
