/* SPDX-License-Identifier: BSD-3-Clause */
/* What was posted is done before the call that stops or destroys its queue pair, whenever the
 * device thread comes: here it never does. */
#include <endian.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "rig.h"

/** Of qp_request_init(); the send ring of a queue pair with a transport lies behind it. */
#define RQ_BYTES 1024

struct ending {
	const char *name;
	void (*run)(struct rig *rig, uint32_t qp);
};

static void
to_error(struct rig *rig, uint32_t qp)
{
	assert_int_equal(rig_modify_qp(rig, qp, IBV_QP_STATE, IBV_QPS_ERR), 0);
}

static void
to_reset(struct rig *rig, uint32_t qp)
{
	assert_int_equal(rig_modify_qp(rig, qp, IBV_QP_STATE, IBV_QPS_RESET), 0);
}

static void
destroy(struct rig *rig, uint32_t qp)
{
	struct ib_uverbs_destroy_qp_resp response;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	frame_handle(&frame, UVERBS_ATTR_DESTROY_QP_HANDLE, qp);
	frame_out(&frame, UVERBS_ATTR_DESTROY_QP_RESP, &response, sizeof(response));
	assert_int_equal(frame_run(rig->file, &frame), 0);
}

static const struct ending endings[] = {
	{ "ERROR", to_error },
	{ "RESET", to_reset },
	{ "destroyed", destroy },
};

/** A queue pair in RTS: its handle, and its number, which a raw one has from its send queue. */
static struct qp_request
make(struct rig *rig, uint64_t type)
{
	const bool is_raw = type == IB_UVERBS_QPT_RAW_PACKET;
	struct qp_request request;

	qp_request_init(rig, &request, rig_cq(rig), -1);
	request.type = type;
	assert_int_equal(qp_request_run(rig, &request), 0);
	assert_int_equal(
		rig_modify_qp(rig, request.handle,
			IBV_QP_STATE | IBV_QP_PORT | (is_raw ? 0 : IBV_QP_PKEY_INDEX | IBV_QP_QKEY),
			IBV_QPS_INIT),
		0);
	assert_int_equal(rig_modify_qp(rig, request.handle, IBV_QP_STATE, IBV_QPS_RTR), 0);
	assert_int_equal(rig_modify_qp(rig, request.handle,
				 IBV_QP_STATE | (is_raw ? 0 : IBV_QP_SQ_PSN), IBV_QPS_RTS),
		0);
	return request;
}

/** A NOP, which a queue pair that has stopped would flush. */
static void
post(struct rig *rig, uint8_t *sq_ring, uint32_t number)
{
	const struct mlx5_wqe_ctrl_seg nop = {
		.opmod_idx_opcode = htobe32(MLX5_OPCODE_NOP),
		.qpn_ds = htobe32(number << 8 | 1),
		.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
	};

	memcpy(sq_ring, &nop, sizeof(nop));
	rig->dbrec[2][MLX5_SND_DBR] = htobe32(1);
}

static void
check(uint64_t type, const struct ending *ending)
{
	struct mlx5_cqe64 *cqe;
	struct rig *rig;
	struct qp_request qp;
	void *state;

	assert_int_equal(rig_setup(&state), 0);
	rig = state;
	cqe = (struct mlx5_cqe64 *)rig->ring[0];
	qp = make(rig, type);
	post(rig, type == IB_UVERBS_QPT_RAW_PACKET ? rig->ring[3] : rig->ring[2] + RQ_BYTES,
		qp.number);
	memset(rig->ring[0], 0xff, sizeof(*cqe));
	ending->run(rig, qp.handle);
	if (mlx5dv_get_cqe_opcode(cqe) != MLX5_CQE_REQ)
		fail_msg("type %u, %s: CQE opcode 0x%x", (unsigned int)type, ending->name,
			mlx5dv_get_cqe_opcode(cqe));
	assert_int_equal(rig_teardown(&state), 0);
}

static void
is_done_first(void **state)
{
	static const uint64_t types[] = { IB_UVERBS_QPT_RAW_PACKET, IB_UVERBS_QPT_UD };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (size_t k = 0; k < sizeof(endings) / sizeof(endings[0]); k++)
			check(types[i], &endings[k]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_done_first),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
