/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues and what they need. */
#include "ioctl.h"

#include <string.h>

#include "check.h"

#define COMMAND_EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static struct fuzz_input *const input = &world.input;

void
requests_cq(void)
{
	uint8_t how = fuzz_input_byte(input);
	const uint64_t ring = world_any_ring();
	const uint64_t record = world_any_record();
	const struct mlx5_ib_create_cq driver = {
		.buf_addr = ring,
		.db_addr = record,
		.cqe_size = how & 1 ? 128 : 64,
		.cqe_comp_en = how >> 1 & 1,
		.cqe_comp_res_format = how & 2 ? 1u << (how >> 2 & 3) : 0,
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX |
			(how & 16 && how & 1 ? MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD : 0),
		.uar_page_index = (uint16_t)world.uar_page,
	};
	struct request request;

	request_init(&request, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	request_handle(&request, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	request_u32(&request, UVERBS_ATTR_CREATE_CQ_CQE, 1 + 3u * (how >> 5));
	request_u64(&request, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, how);
	request_u32(&request, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	request_out(&request, UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4);
	if (how & 32)
		request_handle(&request, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, world_any_fd());
	request_in(&request, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	request_out(&request, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_create_cq_resp));
	request_send(&request);
}

void
requests_wq(void)
{
	uint8_t how = fuzz_input_byte(input);
	const uint64_t ring = world_any_ring();
	const uint64_t record = world_any_record();
	const struct mlx5_ib_create_wq driver = {
		.buf_addr = ring,
		.db_addr = record,
		.rq_wqe_count = 1u << (how & 7),
		.rq_wqe_shift = 4 + (how >> 3 & 3),
		.comp_mask = how >= 0xe0 ? MLX5_IB_CREATE_WQ_STRIDING_RQ : 0,
		.single_stride_log_num_of_bytes = 6 + (how & 7),
		.single_wqe_log_num_of_strides = 3 + (how & 15),
	};
	struct request request;

	request_init(&request, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE);
	request_handle(&request, UVERBS_ATTR_CREATE_WQ_HANDLE, 0);
	request_handle(&request, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, world_any_handle());
	request_handle(&request, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, world_any_handle());
	request_u64(&request, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, how);
	request_u64(&request, UVERBS_ATTR_CREATE_WQ_TYPE, 0);
	request_u32(&request, UVERBS_ATTR_CREATE_WQ_MAX_WR, 1u << (how & 7));
	request_u32(&request, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 1);
	request_u32(&request, UVERBS_ATTR_CREATE_WQ_FLAGS, 0);
	request_out(&request, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4);
	request_out(&request, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4);
	request_out(&request, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4);
	request_in(&request, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	request_out(&request, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_create_wq_resp));
	request_send(&request);
}

void
requests_table(void)
{
	uint8_t log_size = fuzz_input_byte(input) & 3;
	uint32_t in[2 + 8] = { 0, log_size };

	for (unsigned int i = 0; i < 1u << log_size; i++)
		in[2 + i] = world_any_handle();
	request_command(COMMAND_EX | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, in,
		8 + (((4u << log_size) + 7) & ~7u),
		sizeof(struct ib_uverbs_ex_create_rwq_ind_table_resp), NULL, 0);
}

static void
create_qp(int64_t cq, int64_t table, const void *driver, uint32_t driver_length)
{
	/* A hash QP has no queues of its own. */
	const struct ib_uverbs_qp_cap none = { 0 }, own = { 16, 16, 1, 1, 0 };
	const struct ib_uverbs_qp_cap cap = cq >= 0 ? own : none;
	struct request request;

	request_init(&request, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	request_handle(&request, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	request_handle(&request, UVERBS_ATTR_CREATE_QP_PD_HANDLE, world_any_handle());
	if (cq >= 0) {
		request_handle(&request, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq);
		request_handle(&request, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, world_any_handle());
	} else {
		request_handle(&request, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, table);
	}
	request_u64(&request, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0);
	request_in(&request, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	request_u64(&request, UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_RAW_PACKET);
	request_out(&request, UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(cap));
	request_out(&request, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4);
	request_in(&request, UVERBS_ATTR_UHW_IN, driver, driver_length);
	request_out(&request, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_create_qp_resp));
	request_send(&request);
}

void
requests_qp(void)
{
	const uint64_t ring = world_any_ring();
	const uint64_t record = world_any_record();
	const uint64_t sq_ring = world_any_ring();
	const struct mlx5_ib_create_qp driver = {
		.buf_addr = ring,
		.db_addr = record,
		.sq_wqe_count = 16,
		.rq_wqe_count = 16,
		.rq_wqe_shift = 4,
		.flags = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.uidx = 5,
		.bfreg_index = world.uar_page,
		.sq_buf_addr = sq_ring,
	};

	create_qp(world_any_handle(), -1, &driver, sizeof(driver));
}

void
requests_hash_qp(void)
{
	const struct mlx5_ib_create_qp_rss driver = {
		.rx_hash_fields_mask = fuzz_input_byte(input),
		.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ,
		.rx_key_len = 40,
	};

	create_qp(-1, world_any_handle(), &driver, sizeof(driver));
}

void
requests_resize(void)
{
	uint8_t how = fuzz_input_byte(input);
	const struct ib_uverbs_resize_cq resize = {
		.cq_handle = world_any_handle(),
		.cqe = 1 + 3u * (how & 15),
	};
	const struct mlx5_ib_resize_cq driver = {
		.buf_addr = world_any_ring(),
		.cqe_size = how & 16 ? 128 : 64,
	};

	request_command(IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize),
		sizeof(struct ib_uverbs_resize_cq_resp), &driver, sizeof(driver));
}

static void
set_rate(uint32_t qp, uint8_t how)
{
	const struct ib_uverbs_ex_modify_qp modify = {
		.base = { .qp_handle = qp, .attr_mask = 1 | 1u << 25, .qp_state = 3 },
		.rate_limit = (uint32_t)how << (how & 15),
	};
	const struct mlx5_ib_modify_qp driver = {
		.burst_info = { .max_burst_sz = how & 16, .typical_pkt_sz = how & 32 },
	};

	request_command(COMMAND_EX | IB_USER_VERBS_EX_CMD_MODIFY_QP, &modify, sizeof(modify),
		sizeof(struct ib_uverbs_ex_modify_qp_resp), &driver, sizeof(driver));
}

void
requests_modify_qp(void)
{
	uint8_t how = fuzz_input_byte(input);
	const struct ib_uverbs_modify_qp modify = {
		.qp_handle = world_any_handle(),
		.attr_mask = 1 | (how & 0x20),
		.qp_state = how & 7,
		.port_num = 1,
	};
	const struct ib_uverbs_ex_modify_wq modify_wq = {
		.attr_mask = 1 + (how >> 4 & 1),
		.wq_handle = world_any_handle(),
		.wq_state = how & 3,
		.curr_wq_state = how >> 2 & 3,
	};

	if (how & 0x80 && how & 0x40)
		set_rate(modify.qp_handle, fuzz_input_byte(input));
	else if (how & 0x80)
		request_command(IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify), 0, NULL, 0);
	else
		request_command(COMMAND_EX | IB_USER_VERBS_EX_CMD_MODIFY_WQ, &modify_wq,
			sizeof(modify_wq), 0, NULL, 0);
}

static uint8_t *
ask_for_uar(struct request *request, uint64_t type)
{
	request_init(request, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	request_handle(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	request_u64(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type);
	request_out(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8);
	request_out(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4);
	return request_out(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4);
}

void
requests_first_uar(struct shca_file *file)
{
	struct request request;
	const uint8_t *page = ask_for_uar(&request, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);

	FUZZ_CHECK(request_run(file, &request) == 0);
	memcpy(&world.uar_page, page, sizeof(world.uar_page));
}

void
requests_uar(void)
{
	struct request request;

	ask_for_uar(&request, fuzz_input_byte(input) & 1);
	request_send(&request);
}

void
requests_pd(void)
{
	const struct ib_uverbs_alloc_pd alloc = { 0 };

	request_command(IB_USER_VERBS_CMD_ALLOC_PD, &alloc, sizeof(alloc),
		sizeof(struct ib_uverbs_alloc_pd_resp), NULL, 0);
}
