/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * An open file on a device whose wire is null, driven as libibverbs drives it: ioctl frames with
 * the structures of rdma/. The device runs no thread; tests step it.
 */
#ifndef TEST_ABI_RIG_H
#define TEST_ABI_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>

#include "abi/core/object.h"
#include "abi/entry/file.h"
#include "config/model.h"
#include "hw/device/device.h"

#define FIX_ATTRS_MAX 24

/** An ioctl frame. */
struct frame {
	struct ib_uverbs_ioctl_hdr header;
	struct ib_uverbs_attr attrs[FIX_ATTRS_MAX];
};

/** Device, file and what libmlx5 allocates for its queues. */
struct rig {
	struct shca_model model; /**< a copy that tests may cripple */
	struct shca_wire *wire;
	struct shca_device *dev;
	struct shca_file *file;
	int fd;
	int async_fd;
	uint32_t pd;
	uint32_t uar_page;
	uint64_t uar_offset;
	uint8_t *ring[4];     /**< 64 KiB each */
	uint32_t (*dbrec)[2]; /**< big-endian, one for each ring */
};

/** Without CAP_NET_RAW there are no raw packet QPs: end the test program as skipped. */
void rig_skip_without_privilege(void);

/** cmocka set-up and tear-down: with a context, an async descriptor, a UAR page and a PD. */
int rig_setup(void **state);
int rig_teardown(void **state);
/** Another file on the same device, without a context. */
struct shca_file *rig_open(struct rig *rig, int *fd);
/** GET_CONTEXT as rdma-core 44 sends it. @return 0 or a negative errno. */
int rig_get_context(struct shca_file *file, const struct mlx5_ib_alloc_ucontext_req_v2 *request,
	size_t length, struct mlx5_ib_alloc_ucontext_resp *response);

void frame_init(struct frame *frame, uint16_t object, uint16_t method);
struct ib_uverbs_attr *frame_in(struct frame *frame, uint16_t id, const void *bytes, size_t length);
struct ib_uverbs_attr *frame_const(struct frame *frame, uint16_t id, uint64_t value);
struct ib_uverbs_attr *frame_u32(struct frame *frame, uint16_t id, uint32_t value);
struct ib_uverbs_attr *frame_out(struct frame *frame, uint16_t id, void *bytes, size_t length);
/** A handle or descriptor, in or out. */
struct ib_uverbs_attr *frame_handle(struct frame *frame, uint16_t id, int64_t handle);
int frame_run(struct shca_file *file, struct frame *frame);
/** A method whose only attribute is a handle. */
int frame_handle_only(
	struct shca_file *file, uint16_t object, uint16_t method, uint16_t id, uint32_t handle);

/** INVOKE_WRITE; buffers may be NULL with length 0. */
struct command {
	uint64_t number;
	const void *in;
	size_t in_length;
	void *out;
	size_t out_length;
	const void *driver_in;
	size_t driver_in_length;
	void *driver_out;
	size_t driver_out_length;
};
int command_run(struct shca_file *file, const struct command *command);
#define EXTENDED IB_USER_VERBS_CMD_FLAG_EXTENDED

/** @{ Requests with working values; tests change a field. Answers are in the structs. */
struct cq_request {
	uint32_t cqe;
	uint32_t comp_vector;
	int64_t channel; /**< -1: none */
	uint32_t flags;
	uint64_t user_handle;
	struct mlx5_ib_create_cq driver;
	uint32_t driver_length;
	uint32_t cqe_answer;
	uint32_t cqn;
	uint32_t handle;
};
void cq_request_init(const struct rig *rig, struct cq_request *request);
int cq_request_run(struct rig *rig, struct cq_request *request);

struct wq_request {
	uint32_t pd, cq;
	uint64_t type;
	uint32_t max_wr, max_sge;
	uint32_t flags;
	uint64_t user_handle;
	struct mlx5_ib_create_wq driver;
	uint32_t driver_length;
	uint32_t driver_out_length; /**< 0: no room for the driver's answer */
	uint16_t without;           /**< FLAGS or RESP_WQ_NUM: left out */
	uint32_t max_wr_answer, max_sge_answer, number;
	uint32_t handle;
};
void wq_request_init(const struct rig *rig, struct wq_request *request, uint32_t cq);
int wq_request_run(struct rig *rig, struct wq_request *request);

struct qp_request {
	int64_t pd, send_cq, recv_cq, table; /**< -1: none */
	uint64_t type;
	uint32_t flags;
	uint32_t source_qpn; /**< 0: none */
	uint64_t user_handle;
	struct ib_uverbs_qp_cap cap;
	struct mlx5_ib_create_qp driver;  /**< of a raw QP */
	struct mlx5_ib_create_qp_rss rss; /**< of a hash QP */
	uint32_t driver_length;
	uint32_t driver_out_length; /**< 0: no room for the driver's answer */
	struct ib_uverbs_qp_cap cap_answer;
	uint32_t number;
	uint32_t handle;
};
/** A raw packet QP with both queues, or, with @p table >= 0, a hash QP. */
void qp_request_init(const struct rig *rig, struct qp_request *request, int64_t cq, int64_t table);
int qp_request_run(struct rig *rig, struct qp_request *request);
/** @} */

/** @{ Shorthands that must succeed. */
uint32_t rig_cq(struct rig *rig);
uint32_t rig_wq(struct rig *rig, uint32_t cq);
uint32_t rig_table(struct rig *rig, const uint32_t *wqs, uint32_t log_size);
uint32_t rig_hash_qp(struct rig *rig, uint32_t table);
/** @} */

int rig_create_table(struct rig *rig, uint32_t comp_mask, uint32_t log_size, const uint32_t *wqs,
	uint32_t nb_wqs, uint32_t *handle);
int rig_modify_qp(struct rig *rig, uint32_t qp, uint32_t mask, uint8_t state);
/** @return the object behind a handle, for a look at its insides. */
void *rig_object(struct rig *rig, uint32_t handle);

/** A row of "set this field, expect that errno". */
struct field_case {
	const char *name;
	size_t offset;
	size_t size;
	uint64_t value;
	int expected; /**< 0 or a negative errno */
};
#define FIELD(type, field, to, errno_expected)                                                     \
	{                                                                                          \
#field " = " #to, offsetof(type, field), sizeof(((type *)0)->field),               \
			(uint64_t)(to), errno_expected                                             \
	}
void field_case_apply(const struct field_case *row, void *request);
/** Fail with the row's name unless @p ret is what it expects. */
void field_case_check(const struct field_case *row, int ret);

#endif /* TEST_ABI_RIG_H */
