/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/core/caps.h"
#include "wire/wire.h"

#define RING_BYTES 65536

static const struct mlx5_ib_alloc_ucontext_req_v2 context_request = {
	.total_num_bfregs = 16,
	.num_low_latency_bfregs = 4,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
};

void
rig_skip_without_privilege(void)
{
	if (shca_caps_has(CAP_NET_RAW))
		return;
	puts("skipped: needs CAP_NET_RAW");
	exit(77); /* meson's word for it */
}

static uint64_t
address(const void *pointer)
{
	return (uintptr_t)pointer;
}

void
frame_init(struct frame *frame, uint16_t object, uint16_t method)
{
	memset(frame, 0, sizeof(*frame));
	frame->header.object_id = object;
	frame->header.method_id = method;
	frame->header.driver_id = RDMA_DRIVER_MLX5;
	frame->header.length = sizeof(frame->header);
}

static struct ib_uverbs_attr *
add_attr(struct frame *frame, uint16_t id)
{
	struct ib_uverbs_attr *attr = &frame->attrs[frame->header.num_attrs++];

	assert_true(frame->header.num_attrs <= FIX_ATTRS_MAX);
	frame->header.length += sizeof(*attr);
	*attr = (struct ib_uverbs_attr){ .attr_id = id, .flags = UVERBS_ATTR_F_MANDATORY };
	return attr;
}

struct ib_uverbs_attr *
frame_in(struct frame *frame, uint16_t id, const void *bytes, size_t length)
{
	struct ib_uverbs_attr *attr = add_attr(frame, id);

	attr->len = (uint16_t)length;
	if (length <= sizeof(attr->data))
		memcpy(&attr->data, bytes, length);
	else
		attr->data = address(bytes);
	return attr;
}

struct ib_uverbs_attr *
frame_const(struct frame *frame, uint16_t id, uint64_t value)
{
	return frame_in(frame, id, &value, sizeof(value));
}

struct ib_uverbs_attr *
frame_u32(struct frame *frame, uint16_t id, uint32_t value)
{
	return frame_in(frame, id, &value, sizeof(value));
}

struct ib_uverbs_attr *
frame_out(struct frame *frame, uint16_t id, void *bytes, size_t length)
{
	struct ib_uverbs_attr *attr = add_attr(frame, id);

	attr->len = (uint16_t)length;
	attr->data = address(bytes);
	return attr;
}

struct ib_uverbs_attr *
frame_handle(struct frame *frame, uint16_t id, int64_t handle)
{
	struct ib_uverbs_attr *attr = add_attr(frame, id);

	attr->data_s64 = handle;
	return attr;
}

int
frame_run(struct shca_file *file, struct frame *frame)
{
	return shca_file_ioctl(file, RDMA_VERBS_IOCTL, frame);
}

int
frame_handle_only(
	struct shca_file *file, uint16_t object, uint16_t method, uint16_t id, uint32_t handle)
{
	struct frame frame;

	frame_init(&frame, object, method);
	frame_handle(&frame, id, handle);
	return frame_run(file, &frame);
}

int
command_run(struct shca_file *file, const struct command *command)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	frame_const(&frame, UVERBS_ATTR_WRITE_CMD, command->number);
	if (command->in_length != 0)
		frame_in(&frame, UVERBS_ATTR_CORE_IN, command->in, command->in_length);
	if (command->out_length != 0)
		frame_out(&frame, UVERBS_ATTR_CORE_OUT, command->out, command->out_length);
	if (command->driver_in_length != 0)
		frame_in(&frame, UVERBS_ATTR_UHW_IN, command->driver_in, command->driver_in_length);
	if (command->driver_out_length != 0)
		frame_out(&frame, UVERBS_ATTR_UHW_OUT, command->driver_out,
			command->driver_out_length);
	return frame_run(file, &frame);
}

int
rig_get_context(struct shca_file *file, const struct mlx5_ib_alloc_ucontext_req_v2 *request,
	size_t length, struct mlx5_ib_alloc_ucontext_resp *response)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 *sent =
		request != NULL ? request : &context_request;
	struct mlx5_ib_alloc_ucontext_resp unused;
	struct frame frame;
	uint32_t nb_vectors;
	uint64_t core_support;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	frame_out(
		&frame, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &nb_vectors, sizeof(nb_vectors));
	frame_out(
		&frame, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core_support, sizeof(core_support));
	frame_in(&frame, UVERBS_ATTR_UHW_IN, sent, length);
	frame_out(&frame, UVERBS_ATTR_UHW_OUT, response != NULL ? response : &unused,
		sizeof(*response));
	return frame_run(file, &frame);
}

static void
alloc_uar(struct rig *rig)
{
	struct frame frame;
	uint32_t length;

	frame_init(&frame, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	frame_handle(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	frame_const(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 1);
	frame_out(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &rig->uar_offset, 8);
	frame_out(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, 4);
	frame_out(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &rig->uar_page, 4);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	assert_int_equal(length, 4096);
}

static void
alloc_pd(struct rig *rig)
{
	const struct ib_uverbs_alloc_pd request = { 0 };
	struct ib_uverbs_alloc_pd_resp response;
	struct mlx5_ib_alloc_pd_resp driver_response;
	const struct command command = {
		.number = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_out = &driver_response,
		.driver_out_length = sizeof(driver_response),
	};

	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_not_equal(driver_response.pdn, 0);
	rig->pd = response.pd_handle;
}

static void
alloc_async(struct rig *rig)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	frame_handle(&frame, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	rig->async_fd = (int)frame.attrs[0].data_s64;
}

struct shca_file *
rig_open(struct rig *rig, int *fd)
{
	struct shca_file *file;

	assert_int_equal(shca_file_open(rig->dev, true, &file, fd), 0);
	return file;
}

static void *
map(size_t length)
{
	void *memory =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

int
rig_setup(void **state)
{
	const struct shca_wire_ops *ops = shca_wire_find("null", 4);
	const struct shca_wire_conf wire_conf = { .arg = "", .fd = -1 };
	struct rig *rig = test_calloc(1, sizeof(*rig));
	struct shca_device_conf conf = {
		.mac = { 2, 0, 0, 0, 0, 1 },
		.speed_mbps = 25000,
		.kernel_abi = SHCA_KERNEL_6_1,
	};

	rig->model = *shca_model_at(0);
	assert_int_equal(ops->open(&wire_conf, &rig->wire), 0);
	conf.model = &rig->model;
	conf.wire = rig->wire;
	assert_int_equal(shca_device_create(&conf, &rig->dev), 0);
	rig->file = rig_open(rig, &rig->fd);
	assert_int_equal(rig_get_context(rig->file, NULL, sizeof(context_request), NULL), 0);
	alloc_uar(rig);
	alloc_async(rig);
	alloc_pd(rig);
	for (unsigned int i = 0; i < 4; i++)
		rig->ring[i] = map(RING_BYTES);
	rig->dbrec = map(4096);
	*state = rig;
	return 0;
}

int
rig_teardown(void **state)
{
	struct rig *rig = *state;

	shca_file_close(rig->file);
	close(rig->fd);
	close(rig->async_fd);
	shca_device_destroy(rig->dev);
	rig->wire->ops->close(rig->wire);
	for (unsigned int i = 0; i < 4; i++)
		munmap(rig->ring[i], RING_BYTES);
	munmap(rig->dbrec, 4096);
	test_free(rig);
	return 0;
}

void
cq_request_init(const struct rig *rig, struct cq_request *request)
{
	*request = (struct cq_request){
		.cqe = 63,
		.channel = -1,
		.user_handle = 0x1234,
		.driver = {
			.buf_addr = address(rig->ring[0]),
			.db_addr = address(rig->dbrec[0]),
			.cqe_size = 64,
			.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
			.uar_page_index = (uint16_t)rig->uar_page,
		},
		.driver_length = sizeof(request->driver),
	};
}

int
cq_request_run(struct rig *rig, struct cq_request *request)
{
	struct mlx5_ib_create_cq_resp response;
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	frame_u32(&frame, UVERBS_ATTR_CREATE_CQ_CQE, request->cqe);
	frame_const(&frame, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, request->user_handle);
	if (request->channel >= 0)
		frame_handle(&frame, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, request->channel);
	frame_u32(&frame, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, request->comp_vector);
	if (request->flags != 0)
		frame_u32(&frame, UVERBS_ATTR_CREATE_CQ_FLAGS, request->flags);
	frame_out(&frame, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &request->cqe_answer, 4);
	frame_handle(&frame, UVERBS_ATTR_CREATE_CQ_EVENT_FD, rig->async_fd)->flags = 0;
	if (request->driver_length != 0)
		frame_in(&frame, UVERBS_ATTR_UHW_IN, &request->driver, request->driver_length);
	frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
	ret = frame_run(rig->file, &frame);
	request->handle = (uint32_t)frame.attrs[0].data;
	request->cqn = response.cqn;
	return ret;
}

void
wq_request_init(const struct rig *rig, struct wq_request *request, uint32_t cq)
{
	*request = (struct wq_request){
		.pd = rig->pd,
		.cq = cq,
		.max_wr = 64,
		.max_sge = 1,
		.user_handle = 0x5678,
		.driver = {
			.buf_addr = address(rig->ring[1]),
			.db_addr = address(rig->dbrec[1]),
			.rq_wqe_count = 64,
			.rq_wqe_shift = 4,
			.user_index = 7,
		},
		.driver_length = sizeof(request->driver),
		.driver_out_length = sizeof(struct mlx5_ib_create_wq_resp),
	};
}

int
wq_request_run(struct rig *rig, struct wq_request *request)
{
	struct mlx5_ib_create_wq_resp response;
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_WQ_HANDLE, 0);
	frame_handle(&frame, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, request->pd);
	frame_handle(&frame, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, request->cq);
	frame_const(&frame, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, request->user_handle);
	frame_const(&frame, UVERBS_ATTR_CREATE_WQ_TYPE, request->type);
	frame_u32(&frame, UVERBS_ATTR_CREATE_WQ_MAX_WR, request->max_wr);
	frame_u32(&frame, UVERBS_ATTR_CREATE_WQ_MAX_SGE, request->max_sge);
	if (request->without != UVERBS_ATTR_CREATE_WQ_FLAGS)
		frame_u32(&frame, UVERBS_ATTR_CREATE_WQ_FLAGS, request->flags);
	frame_out(&frame, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &request->max_wr_answer, 4);
	frame_out(&frame, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &request->max_sge_answer, 4);
	if (request->without != UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM)
		frame_out(&frame, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &request->number, 4);
	frame_in(&frame, UVERBS_ATTR_UHW_IN, &request->driver, request->driver_length);
	if (request->driver_out_length != 0)
		frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, request->driver_out_length);
	ret = frame_run(rig->file, &frame);
	request->handle = (uint32_t)frame.attrs[0].data;
	return ret;
}

void
qp_request_init(const struct rig *rig, struct qp_request *request, int64_t cq, int64_t table)
{
	*request = (struct qp_request){
		.pd = rig->pd,
		.send_cq = cq,
		.recv_cq = cq,
		.table = table,
		.type = IB_UVERBS_QPT_RAW_PACKET,
		.user_handle = 0x9abc,
		.driver_out_length = sizeof(struct mlx5_ib_create_qp_resp),
	};
	if (table >= 0) {
		request->rss = (struct mlx5_ib_create_qp_rss){
			.rx_hash_fields_mask = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4,
			.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ,
			.rx_key_len = 40,
		};
		request->driver_length = sizeof(request->rss);
		return;
	}
	request->cap = (struct ib_uverbs_qp_cap){ 64, 64, 1, 1, 0 };
	request->driver = (struct mlx5_ib_create_qp){
		.buf_addr = address(rig->ring[2]),
		.db_addr = address(rig->dbrec[2]),
		.sq_wqe_count = 64,
		.rq_wqe_count = 64,
		.rq_wqe_shift = 4,
		.flags = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.uidx = 5,
		.bfreg_index = rig->uar_page,
		.sq_buf_addr = address(rig->ring[3]),
	};
	request->driver_length = sizeof(request->driver);
}

int
qp_request_run(struct rig *rig, struct qp_request *request)
{
	struct mlx5_ib_create_qp_resp response;
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	if (request->pd >= 0)
		frame_handle(&frame, UVERBS_ATTR_CREATE_QP_PD_HANDLE, request->pd);
	if (request->send_cq >= 0)
		frame_handle(&frame, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, request->send_cq);
	if (request->recv_cq >= 0)
		frame_handle(&frame, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, request->recv_cq);
	if (request->table >= 0)
		frame_handle(&frame, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, request->table);
	frame_const(&frame, UVERBS_ATTR_CREATE_QP_USER_HANDLE, request->user_handle);
	frame_in(&frame, UVERBS_ATTR_CREATE_QP_CAP, &request->cap, sizeof(request->cap));
	frame_const(&frame, UVERBS_ATTR_CREATE_QP_TYPE, request->type);
	if (request->flags != 0)
		frame_u32(&frame, UVERBS_ATTR_CREATE_QP_FLAGS, request->flags);
	if (request->source_qpn != 0)
		frame_u32(&frame, UVERBS_ATTR_CREATE_QP_SOURCE_QPN, request->source_qpn);
	frame_out(&frame, UVERBS_ATTR_CREATE_QP_RESP_CAP, &request->cap_answer, 20);
	frame_out(&frame, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &request->number, 4);
	frame_in(&frame, UVERBS_ATTR_UHW_IN,
		request->table >= 0 ? (const void *)&request->rss : &request->driver,
		request->driver_length);
	if (request->driver_out_length != 0)
		frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, request->driver_out_length);
	ret = frame_run(rig->file, &frame);
	request->handle = (uint32_t)frame.attrs[0].data;
	return ret;
}

uint32_t
rig_cq(struct rig *rig)
{
	struct cq_request request;

	cq_request_init(rig, &request);
	assert_int_equal(cq_request_run(rig, &request), 0);
	return request.handle;
}

uint32_t
rig_wq(struct rig *rig, uint32_t cq)
{
	struct wq_request request;

	wq_request_init(rig, &request, cq);
	assert_int_equal(wq_request_run(rig, &request), 0);
	return request.handle;
}

int
rig_create_table(struct rig *rig, uint32_t comp_mask, uint32_t log_size, const uint32_t *wqs,
	uint32_t nb_wqs, uint32_t *handle)
{
	uint32_t request[2 + 4096] = { comp_mask, log_size };
	struct ib_uverbs_ex_create_rwq_ind_table_resp response = { 0 };
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
		.in = request,
		/* Padded to 8, as libibverbs does. */
		.in_length = (2 + nb_wqs + (nb_wqs & 1)) * sizeof(uint32_t),
		.out = &response,
		.out_length = sizeof(response),
	};
	int ret;

	memcpy(request + 2, wqs, nb_wqs * sizeof(uint32_t));
	ret = command_run(rig->file, &command);
	if (ret == 0)
		assert_int_equal(response.response_length, 16);
	*handle = response.ind_tbl_handle;
	return ret;
}

uint32_t
rig_table(struct rig *rig, const uint32_t *wqs, uint32_t log_size)
{
	uint32_t handle;

	assert_int_equal(rig_create_table(rig, 0, log_size, wqs, 1u << log_size, &handle), 0);
	return handle;
}

uint32_t
rig_hash_qp(struct rig *rig, uint32_t table)
{
	struct qp_request request;

	qp_request_init(rig, &request, -1, table);
	assert_int_equal(qp_request_run(rig, &request), 0);
	return request.handle;
}

int
rig_modify_qp(struct rig *rig, uint32_t qp, uint32_t mask, uint8_t state)
{
	const struct ib_uverbs_modify_qp request = {
		.qp_handle = qp,
		.attr_mask = mask,
		.qp_state = state,
		.port_num = 1,
	};
	const struct command command = {
		.number = IB_USER_VERBS_CMD_MODIFY_QP,
		.in = &request,
		.in_length = sizeof(request),
	};

	return command_run(rig->file, &command);
}

void *
rig_object(struct rig *rig, uint32_t handle)
{
	return shca_idtable_get(&rig->file->handles, handle);
}

void
field_case_apply(const struct field_case *row, void *request)
{
	/* Little-endian, as the hosts this runs on: the low bytes come first. */
	memcpy((uint8_t *)request + row->offset, &row->value, row->size);
}

void
field_case_check(const struct field_case *row, int ret)
{
	if (ret != row->expected)
		fail_msg("%s: %d, expected %d", row->name, ret, row->expected);
}
