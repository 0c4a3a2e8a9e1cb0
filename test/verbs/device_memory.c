/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory: allocated, copied to and from, sent from and received into; and refusals. */
#include <errno.h>
#include <string.h>

#include "rig.h"

#define FRAME  120 /* bytes */
#define BYTES  8192
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED)

static struct ibv_dm *
alloc(size_t length, uint32_t log_align)
{
	struct ibv_alloc_dm_attr attr = { .length = length, .log_align_req = log_align };

	return ibv_alloc_dm(rig_context, &attr);
}

/** Send a frame built in device memory, at an offset of its region; receive one there. */
static void
test_traffic(struct ibv_dm *dm)
{
	struct ibv_cq *cq = ibv_create_cq(rig_context, 16, NULL, NULL, 0);
	struct ibv_qp *qp = rig_qp(cq, 0);
	struct ibv_flow *flow = rig_take_all(qp);
	struct ibv_mr *mr = ibv_reg_dm_mr(rig_pd, dm, 4096, 4096, ACCESS);
	struct ibv_sge out, in;
	struct ibv_send_wr send = { .sg_list = &out,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad_send;
	struct ibv_recv_wr recv = { .sg_list = &in, .num_sge = 1 }, *bad_recv;
	uint8_t frame[FRAME], back[FRAME];
	struct ibv_wc wc[2];

	if (mr == NULL)
		rig_die("ibv_reg_dm_mr");
	rig_frame(frame, FRAME, 9);
	rig_must(ibv_memcpy_to_dm(dm, 4096 + 64, frame, FRAME), "ibv_memcpy_to_dm");
	out = (struct ibv_sge){ 64, FRAME, mr->lkey };
	in = (struct ibv_sge){ 1024, 2048, mr->lkey };
	rig_must(ibv_post_recv(qp, &recv, &bad_recv), "ibv_post_recv");
	rig_must(ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
	rig_poll(cq, wc, 2);
	CHECK(wc[0].status == IBV_WC_SUCCESS && wc[1].status == IBV_WC_SUCCESS, wc[1].status);
	rig_must(ibv_memcpy_from_dm(back, dm, 4096 + 1024, FRAME), "ibv_memcpy_from_dm");
	CHECK(memcmp(back, frame, FRAME) == 0, 0);
	CHECK(ibv_free_dm(dm) == EBUSY, 0);
	/* Beyond the region, though within the memory. */
	out.addr = 4096 - FRAME + 1;
	rig_must(ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
	rig_poll(cq, wc, 1);
	CHECK(wc[0].status == IBV_WC_LOC_PROT_ERR, wc[0].status);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

static void
test_copies(struct ibv_dm *dm)
{
	uint8_t pattern[256], back[256];
	struct ibv_dm *other = alloc(BYTES, 0);

	if (other == NULL)
		rig_die("ibv_alloc_dm");
	for (unsigned int i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 3 + 1);
	rig_must(ibv_memcpy_to_dm(dm, BYTES - 256, pattern, 256), "ibv_memcpy_to_dm");
	memset(back, 0, sizeof(back));
	rig_must(ibv_memcpy_to_dm(other, BYTES - 256, back, 256), "ibv_memcpy_to_dm");
	rig_must(ibv_memcpy_from_dm(back, dm, BYTES - 256, 256), "ibv_memcpy_from_dm");
	CHECK(memcmp(back, pattern, sizeof(back)) == 0, 0);
	CHECK(ibv_memcpy_to_dm(dm, BYTES - 252, pattern, 256) == EFAULT, 0);
	CHECK(ibv_memcpy_to_dm(dm, 2, pattern, 4) == EINVAL, 0);
	rig_must(ibv_free_dm(other), "ibv_free_dm");
}

/** The mapping has the device's pages, which the kernel does not pin. */
static void
check_mapping(struct ibv_dm *dm)
{
	static uint8_t own[2 * 4096] __attribute__((aligned(4096)));
	struct mlx5dv_dm mapped = { 0 };
	struct mlx5dv_obj obj = { .dm = { .in = dm, .out = &mapped } };
	struct ibv_mr *mr;

	rig_must(mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM), "mlx5dv_init_obj");
	CHECK_REFUSED(ibv_reg_mr(rig_pd, mapped.buf, BYTES, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	CHECK_REFUSED(ibv_reg_mr(rig_pd, (uint8_t *)mapped.buf + BYTES - 1, 1, 0), EFAULT);
	mr = ibv_reg_mr(rig_pd, own, sizeof(own), IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr != NULL, errno);
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, mapped.buf, BYTES, 0) != 0,
		0);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

static void
test_refused(struct ibv_dm *dm, size_t most)
{
	struct ibv_dm *rest;
	struct ibv_mr *mr;

	CHECK_REFUSED(alloc(most + 1, 0), EINVAL);
	CHECK_REFUSED(alloc(0, 0), EINVAL);
	CHECK_REFUSED(alloc(64, 13), EINVAL);
	CHECK_REFUSED(alloc(most, 0), ENOMEM);
	rest = alloc(most - BYTES, 12);
	CHECK(rest != NULL, errno);
	CHECK_REFUSED(alloc(64, 0), ENOMEM);
	rig_must(ibv_free_dm(rest), "ibv_free_dm");
	for (unsigned int op = 0; op < 256; op += 85)
		CHECK_REFUSED(mlx5dv_dm_map_op_addr(dm, (uint8_t)op), EOPNOTSUPP);
	CHECK_REFUSED(ibv_reg_dm_mr(rig_pd, dm, 0, BYTES, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	CHECK_REFUSED(ibv_reg_dm_mr(rig_pd, dm, 0, BYTES, ACCESS | IBV_ACCESS_MW_BIND), EINVAL);
	CHECK_REFUSED(ibv_reg_dm_mr(rig_pd, dm, 0, BYTES,
			      IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE),
		EINVAL);
	CHECK_REFUSED(ibv_reg_dm_mr(rig_pd, dm, 1, BYTES, ACCESS), EINVAL);
	CHECK_REFUSED(ibv_reg_dm_mr(rig_pd, dm, BYTES + 1, 1, ACCESS), EINVAL);
	check_mapping(dm);
	mr = ibv_reg_dm_mr(rig_pd, dm, BYTES - 1, 1, ACCESS);
	CHECK(mr != NULL, errno);
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0) != 0, 0);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

int
main(void)
{
	struct mlx5dv_alloc_dm_attr icm = { .type = MLX5DV_DM_TYPE_STEERING_SW_ICM };
	struct ibv_alloc_dm_attr attr = { .length = 4096 };
	struct ibv_device_attr_ex device;
	struct ibv_dm *dm;

	rig_open();
	rig_must(ibv_query_device_ex(rig_context, NULL, &device), "ibv_query_device_ex");
	CHECK_REFUSED(mlx5dv_alloc_dm(rig_context, &attr, &icm), EOPNOTSUPP);
	if (device.max_dm_size == 0) {
		CHECK_REFUSED(alloc(64, 0), EINVAL);
		return rig_close();
	}
	CHECK(device.max_dm_size == 128 << 10, device.max_dm_size);
	dm = alloc(BYTES, 6);
	if (dm == NULL)
		rig_die("ibv_alloc_dm");
	test_copies(dm);
	test_traffic(dm);
	test_refused(dm, device.max_dm_size);
	rig_must(ibv_free_dm(dm), "ibv_free_dm");
	return rig_close();
}
