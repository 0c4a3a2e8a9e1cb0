/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port by ioctl(2) and mmap(2) alone. What has no method of its own goes by INVOKE_WRITE, as the
 * kernel has it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>

#include "bare.h"

#define EXTENDED    IB_USER_VERBS_CMD_FLAG_EXTENDED
#define BF_OFFSET   0x800
#define ATTRS_MAX   20
#define HANDLES_MAX 4

struct request {
	struct ib_uverbs_ioctl_hdr header;
	struct ib_uverbs_attr attrs[ATTRS_MAX];
};

static struct request
start(uint16_t object, uint16_t method)
{
	return (struct request){
		.header = { .object_id = object,
			.method_id = method,
			.driver_id = RDMA_DRIVER_MLX5,
			.length = sizeof(struct ib_uverbs_ioctl_hdr) },
	};
}

static struct ib_uverbs_attr *
add(struct request *request, uint16_t id, uint16_t length, uint64_t data)
{
	struct ib_uverbs_attr *attr = &request->attrs[request->header.num_attrs++];

	*attr = (struct ib_uverbs_attr){
		.attr_id = id, .len = length, .flags = UVERBS_ATTR_F_MANDATORY, .data = data
	};
	request->header.length += sizeof(*attr);
	return attr;
}

/** Bytes in, in the attribute itself where they fit. */
static void
add_in(struct request *request, uint16_t id, const void *bytes, uint16_t length)
{
	uint64_t data = (uintptr_t)bytes;

	if (length <= sizeof(data))
		memcpy(&data, bytes, length);
	add(request, id, length, data);
}

static void
add_out(struct request *request, uint16_t id, void *bytes, uint16_t length)
{
	add(request, id, length, (uintptr_t)bytes);
}

static int
run(int fd, struct request *request)
{
	return ioctl(fd, RDMA_VERBS_IOCTL, request) == 0 ? 0 : errno;
}

static void
must_run(int fd, struct request *request, const char *what)
{
	errno = run(fd, request);
	bare_must(errno == 0, what);
}

/** A method that takes nothing but a handle, and maybe answers. */
static int
destroy(int fd, uint16_t object, uint16_t method, uint16_t id, uint32_t handle, uint16_t answer_id,
	uint16_t answer_bytes)
{
	struct request request = start(object, method);
	uint64_t answer;

	add(&request, id, 0, handle);
	if (answer_bytes != 0)
		add_out(&request, answer_id, &answer, answer_bytes);
	return run(fd, &request);
}

static int
invoke(int fd, uint32_t command, const void *in, uint16_t in_bytes, void *out, uint16_t out_bytes)
{
	struct request request = start(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);

	add(&request, UVERBS_ATTR_WRITE_CMD, 8, command);
	add_in(&request, UVERBS_ATTR_CORE_IN, in, in_bytes);
	if (out_bytes != 0)
		add_out(&request, UVERBS_ATTR_CORE_OUT, out, out_bytes);
	return run(fd, &request);
}

static int
alloc_uar(int fd, uint64_t type, uint32_t *page, uint64_t *offset)
{
	struct request request = start(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	uint32_t length = 0;
	int ret;

	add(&request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0);
	add(&request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8, type);
	add_out(&request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, offset, sizeof(*offset));
	add_out(&request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	add_out(&request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, page, sizeof(*page));
	ret = run(fd, &request);
	CHECK(ret != 0 || length == BARE_PAGE, length);
	return ret;
}

static struct request
context_request(const struct mlx5_ib_alloc_ucontext_req_v2 *driver,
	struct mlx5_ib_alloc_ucontext_resp *answer, uint32_t *nb_vectors)
{
	struct request request = start(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);

	add_out(&request, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, nb_vectors,
		sizeof(*nb_vectors));
	add_in(&request, UVERBS_ATTR_UHW_IN, driver, sizeof(*driver));
	add_out(&request, UVERBS_ATTR_UHW_OUT, answer, sizeof(*answer));
	return request;
}

static const struct mlx5_ib_alloc_ucontext_req_v2 context_driver = {
	.total_num_bfregs = 16,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
};

static void
get_context(struct bare *bare)
{
	struct mlx5_ib_alloc_ucontext_resp answer = { 0 };
	uint32_t nb_vectors = 0;
	struct request request = context_request(&context_driver, &answer, &nb_vectors);
	uint64_t offset;

	must_run(bare->fd, &request, "GET_CONTEXT");
	CHECK(answer.cqe_version == 1 && answer.tot_bfregs == 0, answer.tot_bfregs);
	CHECK(nb_vectors > 0, nb_vectors);
	errno = alloc_uar(bare->fd, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, &bare->uar_page, &offset);
	bare_must(errno == 0, "UAR_OBJ_ALLOC");
	bare->uar = mmap(NULL, BARE_PAGE, PROT_WRITE, MAP_SHARED, bare->fd, (off_t)offset);
	bare_must(bare->uar != MAP_FAILED, "mmap of a UAR page");
	bare->bf_offset = BF_OFFSET;
}

static void
alloc_pd(struct bare *bare)
{
	struct ib_uverbs_alloc_pd_resp answer;
	const struct ib_uverbs_alloc_pd command = { 0 };

	errno = invoke(bare->fd, IB_USER_VERBS_CMD_ALLOC_PD, &command, sizeof(command), &answer,
		sizeof(answer));
	bare_must(errno == 0, "ALLOC_PD");
	bare->pd = answer.pd_handle;
}

static void
reg_mr(struct bare *bare)
{
	struct ib_uverbs_reg_mr_resp answer;
	struct ib_uverbs_reg_mr command = { 0 };

	bare_fill_mr(bare, &command);
	errno = invoke(bare->fd, IB_USER_VERBS_CMD_REG_MR, &command, sizeof(command), &answer,
		sizeof(answer));
	bare_must(errno == 0, "REG_MR");
	bare->mr = answer.mr_handle;
	bare->lkey = answer.lkey;
}

/** Attributes of a working CQ_CREATE; the handle is the first. */
static struct request
cq_request(const struct bare *bare, struct mlx5_ib_create_cq *driver, uint32_t *cqe)
{
	struct request request = start(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);

	*driver = (struct mlx5_ib_create_cq){
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		.uar_page_index = (uint16_t)bare->uar_page,
	};
	bare_fill_cq(bare, driver);
	add(&request, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	add(&request, UVERBS_ATTR_CREATE_CQ_CQE, 4, BARE_CQES - 1);
	add(&request, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 77);
	add(&request, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0);
	add_out(&request, UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe, sizeof(*cqe));
	add_in(&request, UVERBS_ATTR_UHW_IN, driver, sizeof(*driver));
	return request;
}

static void
create_cq(struct bare *bare)
{
	struct mlx5_ib_create_cq driver;
	uint32_t cqe = 0;
	struct request request = cq_request(bare, &driver, &cqe);

	must_run(bare->fd, &request, "CQ_CREATE");
	CHECK(cqe == BARE_CQES - 1, cqe);
	CHECK(request.attrs[4].flags & UVERBS_ATTR_F_VALID_OUTPUT, request.attrs[4].flags);
	bare->cq = (uint32_t)request.attrs[0].data;
}

static void
create_qp(struct bare *bare)
{
	struct request request = start(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	struct mlx5_ib_create_qp driver = {
		.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.bfreg_index = bare->uar_page,
	};
	struct mlx5_ib_create_qp_resp driver_answer;
	struct ib_uverbs_qp_cap cap, cap_answer;

	bare_fill_cap(&cap);
	bare_fill_qp(bare, &driver);
	add(&request, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	add(&request, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, bare->pd);
	add(&request, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, bare->cq);
	add(&request, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, bare->cq);
	add(&request, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 78);
	add(&request, UVERBS_ATTR_CREATE_QP_TYPE, 8, IB_UVERBS_QPT_RAW_PACKET);
	add_in(&request, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	add_out(&request, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap_answer, sizeof(cap_answer));
	add_out(&request, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &bare->sqn, sizeof(bare->sqn));
	add_in(&request, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	add_out(&request, UVERBS_ATTR_UHW_OUT, &driver_answer, sizeof(driver_answer));
	must_run(bare->fd, &request, "QP_CREATE");
	CHECK(cap_answer.max_send_wr == BARE_WQES, cap_answer.max_send_wr);
	bare->qp = (uint32_t)request.attrs[0].data;
}

static void
modify_qp(struct bare *bare, uint32_t mask, uint8_t state)
{
	struct ib_uverbs_modify_qp command = { 0 };

	bare_fill_modify(bare, mask, state, &command);
	errno = invoke(bare->fd, IB_USER_VERBS_CMD_MODIFY_QP, &command, sizeof(command), NULL, 0);
	bare_must(errno == 0, "MODIFY_QP");
}

static void
create_flow(struct bare *bare)
{
	struct ib_uverbs_create_flow_resp answer;
	struct bare_flow command;

	bare_fill_flow(bare, &command);
	errno = invoke(bare->fd, EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW, &command,
		sizeof(command), &answer, sizeof(answer));
	bare_must(errno == 0, "EX_CREATE_FLOW");
	bare->flow = answer.flow_handle;
}

#define DESTROY_PD(bare, handle)                                                                   \
	destroy((bare)->fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,                            \
		UVERBS_ATTR_DESTROY_PD_HANDLE, handle, 0, 0)
#define DESTROY_MR(bare, handle)                                                                   \
	destroy((bare)->fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,                            \
		UVERBS_ATTR_DESTROY_MR_HANDLE, handle, 0, 0)
#define DESTROY_CQ(bare)                                                                           \
	destroy((bare)->fd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,                            \
		UVERBS_ATTR_DESTROY_CQ_HANDLE, (bare)->cq, UVERBS_ATTR_DESTROY_CQ_RESP, 8)
#define DESTROY_QP(bare)                                                                           \
	destroy((bare)->fd, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,                            \
		UVERBS_ATTR_DESTROY_QP_HANDLE, (bare)->qp, UVERBS_ATTR_DESTROY_QP_RESP, 4)
#define DESTROY_FLOW(bare)                                                                         \
	destroy((bare)->fd, UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY,                        \
		UVERBS_ATTR_DESTROY_FLOW_HANDLE, (bare)->flow, 0, 0)

/** What is in use stays; what is gone is not there. */
static void
destroy_all(struct bare *bare)
{
	CHECK(DESTROY_PD(bare, bare->pd) == EBUSY, errno);
	CHECK(DESTROY_CQ(bare) == EBUSY, errno);
	CHECK(DESTROY_QP(bare) == EBUSY, errno);
	CHECK(DESTROY_FLOW(bare) == 0, errno);
	CHECK(DESTROY_FLOW(bare) == ENOENT, errno);
	CHECK(DESTROY_MR(bare, bare->pd) == EINVAL, errno);
	CHECK(DESTROY_QP(bare) == 0, errno);
	CHECK(DESTROY_CQ(bare) == 0, errno);
	CHECK(DESTROY_MR(bare, bare->mr) == 0, errno);
	CHECK(DESTROY_PD(bare, bare->pd) == 0, errno);
}

/** The frame, by its header (core/uverbs_ioctl.c ib_uverbs_ioctl, ib_uverbs_cmd_verbs). */
static void
test_header(int fd)
{
	struct mlx5_ib_alloc_ucontext_resp answer;
	uint32_t nb_vectors;
	const struct request good = context_request(&context_driver, &answer, &nb_vectors);
	struct request request;

#define REFUSED(change, expected)                                                                  \
	do {                                                                                       \
		request = good;                                                                    \
		change;                                                                            \
		CHECK(run(fd, &request) == (expected), errno);                                     \
	} while (0)
	CHECK(ioctl(fd, _IOWR(RDMA_IOCTL_MAGIC, 2, struct ib_uverbs_ioctl_hdr), &request) == -1 &&
			errno == ENOTTY,
		errno);
	CHECK(ioctl(fd, RDMA_VERBS_IOCTL, NULL) == -1 && errno == EFAULT, errno);
	REFUSED(request.header.length -= 8, EINVAL);
	REFUSED(request.header.num_attrs++, EINVAL);
	REFUSED((request.header.num_attrs = 300,
			request.header.length =
				sizeof(request.header) + 300 * sizeof(struct ib_uverbs_attr)),
		EINVAL);
	REFUSED(request.header.reserved1 = 1, EPROTONOSUPPORT);
	REFUSED(request.header.reserved2 = 1, EPROTONOSUPPORT);
	REFUSED(request.header.driver_id = RDMA_DRIVER_MLX4, EINVAL);
	REFUSED(request.header.object_id = 0x7ff, EPROTONOSUPPORT);
	REFUSED(request.header.method_id = 0x7ff, EPROTONOSUPPORT);
}

/** Attributes, in the order they are looked at. */
static void
test_attributes(int fd)
{
	struct bare_memory memory;
	const struct bare bare = { .fd = fd, .memory = &memory };
	struct mlx5_ib_create_cq driver;
	uint32_t cqe;
	const struct request good = cq_request(&bare, &driver, &cqe);
	struct request request;

	REFUSED(add(&request, 0x7f, 4, 0), EPROTONOSUPPORT);
	/* Unknown, but not to be known: passed over, and the missing UAR page is what is wrong. */
	REFUSED(add(&request, 0x7f, 4, 0)->flags = 0, EINVAL);
	REFUSED(add(&request, UVERBS_ATTR_CREATE_CQ_CQE, 4, 63), EINVAL);
	REFUSED(request.attrs[1].len = 2, EINVAL);
	REFUSED(request.attrs[1].len = 8, EINVAL);
	REFUSED(request.attrs[1].attr_data.reserved = 1, EINVAL);
	REFUSED(request.attrs[0].len = 4, EINVAL);
	REFUSED(request.attrs[5].data = 8, EFAULT);
	REFUSED((request.header.num_attrs--, request.header.length -= 16), EINVAL);
	REFUSED(add(&request, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, (uint32_t)fd), EBADF);
	REFUSED(add(&request, UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 1u << 30), EINVAL);
	REFUSED(add(&request, UVERBS_ATTR_CREATE_CQ_FLAGS, 2, 0), EINVAL);
}

/** @return how many objects of a type the file has; -1: refused. */
static int
info(int fd, uint64_t type, uint32_t handles[static HANDLES_MAX])
{
	struct request request = start(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	uint32_t nb = 0;

	add(&request, UVERBS_ATTR_INFO_OBJECT_ID, 8, type);
	add_out(&request, UVERBS_ATTR_INFO_TOTAL_HANDLES, &nb, sizeof(nb));
	add_out(&request, UVERBS_ATTR_INFO_HANDLES_LIST, handles, HANDLES_MAX * sizeof(handles[0]));
	return run(fd, &request) == 0 ? (int)nb : -1;
}

/** Asynchronous events: a descriptor that nothing has happened on. */
static void
test_async(int fd)
{
	struct request request = start(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	struct pollfd pollfd = { .events = POLLIN };
	uint32_t handles[HANDLES_MAX];

	add(&request, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0);
	CHECK(run(fd, &request) == 0, errno);
	pollfd.fd = (int)request.attrs[0].data_s64;
	CHECK(poll(&pollfd, 1, 0) == 0, pollfd.revents);
	/* The file's objects of the type: this one, by the number that the program knows. */
	CHECK(info(fd, UVERBS_OBJECT_ASYNC_EVENT, handles) == 1, errno);
	CHECK((int)handles[0] == pollfd.fd, handles[0]);
	CHECK(close(pollfd.fd) == 0, errno);
	CHECK(info(fd, UVERBS_OBJECT_ASYNC_EVENT, handles) == 0, errno);
}

static void
test_uars(int fd)
{
	uint64_t offset, other_offset;
	uint32_t page, other_page;
	uint32_t handles[HANDLES_MAX];

	CHECK(alloc_uar(fd, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, &page, &offset) == 0, errno);
	CHECK(alloc_uar(fd, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, &other_page, &other_offset) == 0,
		errno);
	CHECK(page != other_page && offset != other_offset, page);
	CHECK(alloc_uar(fd, 2, &page, &offset) == EOPNOTSUPP, errno);
	CHECK(info(fd, MLX5_IB_OBJECT_UAR, handles) == 2, errno);
	CHECK(info(fd, UVERBS_OBJECT_PD, handles) == 0, errno);
}

static void
test_requests(void)
{
	struct mlx5_ib_alloc_ucontext_resp answer;
	struct bare bare = { .fd = bare_open() };
	struct request request;
	uint32_t nb_vectors;
	uint64_t none = 0;

	test_header(bare.fd);
	/* Nothing but the context before the context. */
	CHECK(DESTROY_PD(&bare, 0) != 0, errno);
	CHECK(invoke(bare.fd, IB_USER_VERBS_CMD_ALLOC_PD, &none, sizeof(none), &none,
		      sizeof(none)) == EINVAL,
		errno);
	request = context_request(&context_driver, &answer, &nb_vectors);
	CHECK(run(bare.fd, &request) == 0, errno);
	CHECK(run(bare.fd, &request) == EINVAL, errno);
	test_header(bare.fd);
	test_attributes(bare.fd);
	test_async(bare.fd);
	test_uars(bare.fd);
	CHECK(DESTROY_PD(&bare, 999) == ENOENT, errno);
	CHECK(invoke(bare.fd, IB_USER_VERBS_CMD_QUERY_DEVICE, &none, 8, &none, 8) == ENOSPC, errno);
	CHECK(invoke(bare.fd, IB_USER_VERBS_CMD_REG_SMR, &none, 8, &none, 8) == EOPNOTSUPP, errno);
	close(bare.fd);
}

static const struct bare_abi abi = {
	.get_context = get_context,
	.alloc_pd = alloc_pd,
	.reg_mr = reg_mr,
	.create_cq = create_cq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.create_flow = create_flow,
	.destroy_all = destroy_all,
};

int
main(void)
{
	test_requests();
	bare_run(&abi);
	return bare_end();
}
