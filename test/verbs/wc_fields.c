/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that ibv_wc_read_* can read of a completion, from CQEs of 64 bytes, of 128, and of 128 with
 * padding: fields that Ethernet has are those of the sent frame, other fields are zero.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"

#define FRAME     100 /* bytes */
#define TAG       0x12345
#define TCI       0x4007
#define NB_CQES   64
#define BIG       128 /* bytes of a large CQE; its second half has the layout of a small one */
#define UNTOUCHED 0xa5

#define ALL_FIELDS                                                                                 \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_CVLAN |      \
		IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_TM_INFO |                                 \
		IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;

static uint64_t
read_tm_tag(void)
{
	struct ibv_wc_tm_info info = { .tag = 1 };

	ibv_wc_read_tm_info(cq, &info);
	return info.tag | info.priv;
}

static uint64_t
read_stripped(void)
{
	return ibv_wc_read_cvlan(cq);
}

#define READER(field)                                                                              \
	static uint64_t read_##field(void)                                                         \
	{                                                                                          \
		return ibv_wc_read_##field(cq);                                                    \
	}
READER(byte_len)
READER(imm_data)
READER(invalidated_rkey)
READER(qp_num)
READER(src_qp)
READER(slid)
READER(sl)
READER(dlid_path_bits)
READER(flow_tag)

/**
 * Fields that are the same in each completion; QPN: the queue pair's number. At its place a
 * received frame of a raw packet queue has its flow tag (PRM, CQE: sop_drop_qpn), and libmlx5 does
 * not distinguish the two.
 */
#define QPN UINT64_MAX
static const struct {
	const char *name;
	uint64_t (*read)(void);
	uint64_t received, sent;
} fields[] = {
	{ "imm_data", read_imm_data, 0, 0 },
	{ "invalidated_rkey", read_invalidated_rkey, 0, 0 },
	{ "qp_num", read_qp_num, TAG, QPN },
	{ "src_qp", read_src_qp, 0, 0 },
	{ "slid", read_slid, 0, 0 },
	{ "sl", read_sl, 0, 0 },
	{ "dlid_path_bits", read_dlid_path_bits, 0, 0 },
	{ "tm_info", read_tm_tag, 0, 0 },
};

static void
check_field(unsigned int i, bool is_received)
{
	uint64_t wanted = is_received ? fields[i].received : fields[i].sent;
	uint64_t value = fields[i].read();

	rig_check(value == (wanted == QPN ? qp->qp_num : wanted), fields[i].name, (long long)value);
}

/** Two completions in their order: by the counter, and by the time of day when it was read. */
static void
check_times(uint64_t last[2])
{
	uint64_t raw = ibv_wc_read_completion_ts(cq);
	uint64_t wall = ibv_wc_read_completion_wallclock_ns(cq);

	CHECK(raw != 0 && raw >= last[0], raw);
	CHECK(wall != 0 && wall + 1000000 >= last[1], wall);
	last[0] = raw;
	last[1] = wall;
}

static void
check_completion(bool has_tag, bool is_summed, uint64_t last[2])
{
	const bool is_received = ibv_wc_read_opcode(cq) == IBV_WC_RECV;

	CHECK(cq->status == IBV_WC_SUCCESS, cq->status);
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		check_field(i, is_received);
	check_times(last + 2 * is_received);
	if (!is_received) {
		CHECK(ibv_wc_read_opcode(cq) == IBV_WC_SEND && cq->wr_id == 0, cq->wr_id);
		return;
	}
	CHECK(cq->wr_id == 10, cq->wr_id);
	CHECK(read_byte_len() == FRAME, read_byte_len());
	CHECK(read_flow_tag() == TAG, read_flow_tag());
	CHECK(read_stripped() == (has_tag ? TCI : 0), read_stripped());
	CHECK(ibv_wc_read_wc_flags(cq) == (is_summed ? IBV_WC_IP_CSUM_OK : 0),
		ibv_wc_read_wc_flags(cq));
}

/** One frame through the cable: with a VLAN tag or not, its checksums filled in or left wrong. */
static void
exchange(bool has_tag, bool is_summed, uint64_t last[4])
{
	const uint8_t tag[4] = { 0x81, 0, TCI >> 8, TCI & 0xff };
	const size_t length = FRAME + (has_tag ? sizeof(tag) : 0);
	uint8_t *frame = rig_buffer(0);
	struct ibv_sge sge = rig_sge(0, 0, length);
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | (is_summed ? IBV_SEND_IP_CSUM : 0) },
			   *bad;

	rig_frame(frame, FRAME, 3);
	if (has_tag) {
		memmove(frame + 16, frame + 12, FRAME - 12);
		memcpy(frame + 12, tag, sizeof(tag));
	}
	rig_receive(qp, 10, RIG_BUFFER_BYTES);
	rig_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	for (unsigned int i = 0; i < 2; i++) {
		rig_start_poll(cq);
		check_completion(has_tag, is_summed, last);
		ibv_end_poll(cq);
	}
}

static struct ibv_flow *
tag_rule(void)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_action_tag tag;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.num_of_specs = 1,
			.port = 1 },
		.tag = { .type = IBV_FLOW_SPEC_ACTION_TAG,
			.size = sizeof(rule.tag),
			.tag_id = TAG },
	};
	struct ibv_flow *flow = ibv_create_flow(qp, &rule.attr);

	if (flow == NULL)
		rig_die("ibv_create_flow");
	return flow;
}

/** The parameters of a CQ; size 0: libmlx5's default. */
struct shape {
	uint16_t cqe_bytes;
	bool pad;
	uint32_t flags; /**< IBV_CREATE_CQ_ATTR_* */
};

static struct ibv_cq_ex *
create_cq(const struct shape *shape)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = NB_CQES - 1,
		.wc_flags = ALL_FIELDS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = shape->flags,
	};
	struct mlx5dv_cq_init_attr dv = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE | MLX5DV_CQ_INIT_ATTR_MASK_FLAGS,
		.cqe_size = shape->cqe_bytes,
		.flags = shape->pad ? MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD : 0,
	};

	return shape->cqe_bytes == 0 ? ibv_create_cq_ex(rig_context, &attr)
				     : mlx5dv_create_cq(rig_context, &attr, &dv);
}

/**
 * Only a failed completion has a reason: here an unknown key, whose syndrome has no vendor part.
 */
static void
test_error(void)
{
	struct ibv_sge sge = rig_sge(0, 0, FRAME);
	struct ibv_send_wr wr = { .wr_id = 7,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND },
			   *bad;

	sge.lkey ^= 0x4200;
	rig_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	rig_start_poll(cq);
	CHECK(cq->status == IBV_WC_LOC_PROT_ERR && cq->wr_id == 7, cq->status);
	CHECK(ibv_wc_read_vendor_err(cq) == 0, ibv_wc_read_vendor_err(cq));
	ibv_end_poll(cq);
}

/** The first half of a large CQE: untouched, or zero if padding was requested. */
static void
mark_ring(const struct mlx5dv_cq *ring)
{
	for (unsigned int i = 0; ring->cqe_size == BIG && i < NB_CQES; i++)
		memset((uint8_t *)ring->buf + (size_t)i * BIG, UNTOUCHED, BIG / 2);
}

static void
check_ring(const struct mlx5dv_cq *ring, bool pad, unsigned int nb_written)
{
	for (unsigned int i = 0; ring->cqe_size == BIG && i < NB_CQES; i++) {
		const uint8_t wanted = pad && i < nb_written ? 0 : UNTOUCHED;
		const uint8_t *half = (uint8_t *)ring->buf + (size_t)i * BIG;
		bool is_so = true;

		for (unsigned int at = 0; at < BIG / 2; at++)
			is_so = is_so && half[at] == wanted;
		rig_check(is_so, "the half that is not the CQE", i);
	}
}

static void
test_shape(const struct shape *shape, uint32_t cqe_bytes)
{
	struct mlx5dv_cq ring = { 0 };
	struct mlx5dv_obj object = { .cq = { .out = &ring } };
	uint64_t last[4] = { 0 };
	struct ibv_flow *flow;
	unsigned int nb = 0;

	cq = create_cq(shape);
	if (cq == NULL)
		rig_die("mlx5dv_create_cq");
	object.cq.in = ibv_cq_ex_to_cq(cq);
	rig_must(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ), "mlx5dv_init_obj");
	CHECK(ring.cqe_size == cqe_bytes, ring.cqe_size);
	mark_ring(&ring);
	qp = rig_qp(ibv_cq_ex_to_cq(cq), IBV_QP_CREATE_CVLAN_STRIPPING);
	flow = tag_rule();
	for (; nb < 8; nb++)
		exchange(nb & 1, nb & 2, last);
	check_ring(&ring, shape->pad, 2 * nb);
	for (; nb < 3 * NB_CQES; nb++)
		exchange(nb & 1, nb & 2, last);
	test_error();
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
}

/** Argument: the size that MLX5_CQE_SIZE gives to CQs without one of their own. */
int
main(int argc, char **argv)
{
	const struct shape padded = { .cqe_bytes = BIG, .pad = true };
	const struct shape padded_small = { .cqe_bytes = 64, .pad = true };
	struct mlx5dv_context device = { 0 };
	const uint32_t flags[2] = { 0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED };

	(void)argv;
	rig_open();
	rig_must(mlx5dv_query_device(rig_context, &device), "mlx5dv_query_device");
	for (unsigned int i = 0; i < 2; i++) {
		test_shape(&(struct shape){ .flags = flags[i] }, argc > 1 ? BIG : 64);
		test_shape(&(struct shape){ .cqe_bytes = 64, .flags = flags[i] }, 64);
		test_shape(&(struct shape){ .cqe_bytes = BIG, .flags = flags[i] }, BIG);
		if (device.flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD)
			test_shape(
				&(struct shape){ .cqe_bytes = BIG, .pad = true, .flags = flags[i] },
				BIG);
	}
	if ((device.flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD) == 0)
		CHECK_REFUSED(create_cq(&padded), EINVAL);
	CHECK_REFUSED(create_cq(&padded_small), EINVAL);
	return rig_close();
}
