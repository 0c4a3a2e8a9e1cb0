/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A receive queue on fake verbs objects that count; each test file has its own. */
#ifndef WQ_RIG_H
#define WQ_RIG_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "burst/rx/rx.h"
#include "queue/rx/rx_split.h"
#include "queue/rx/rxq_ring.h"
#include "rig.h"

#define NB_DESC   64
#define POOL_SIZE 200
#define ROOM      (RTE_PKTMBUF_HEADROOM + 512)

/** A WQ with its rings, and the CQ. */
struct fake_wq {
	struct ibv_wq wq;
	struct mlx5_wqe_data_seg wqes[NB_DESC];
	struct mdv_hw_cqe *cqes;
	__be32 wq_dbrec[2], cq_dbrec[2];
	bool has_cq, has_wq;
	enum ibv_wq_state state; /* the device's: wq.state is what was set last */
	uint32_t flags;
};

static struct {
	struct rig_port port;
	struct mdv_rxq rxq;
	struct rte_mempool *pool;
	struct fake_wq wqs[4];
	unsigned int nb_made;
	/* errnos of the next calls; 0: they succeed */
	int cq_error, wq_error, init_error, destroy_error;
	int state_errors[IBV_WQS_UNKNOWN];
	int flags_error;
	uint32_t wqe_cnt, stride;
	unsigned int nb_ops;
} fake;

int __wrap_mdv_cq_create(const struct mdv_device *device, uint32_t nb_cqes, uint32_t mini_format,
	struct ibv_comp_channel *channel, struct mdv_cq *cq);
void __wrap_mdv_cq_destroy(const struct mdv_device *device, struct mdv_cq *cq);
int __wrap_mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type);
struct ibv_wq *__wrap_mlx5dv_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
	struct mlx5dv_wq_init_attr *striding);

static struct fake_wq *
fake_of(struct ibv_wq *wq)
{
	return container_of(wq, struct fake_wq, wq);
}

static struct fake_wq *
newest(void)
{
	return &fake.wqs[fake.nb_made - 1];
}

int
__wrap_mdv_cq_create(const struct mdv_device *device, uint32_t nb_cqes, uint32_t mini_format,
	struct ibv_comp_channel *channel, struct mdv_cq *cq)
{
	assert_ptr_equal(device, &fake.port.port.device);
	assert_int_equal(mini_format, 0);
	assert_null(channel);
	if (fake.cq_error != 0)
		return -fake.cq_error;
	assert_true(fake.nb_made < RTE_DIM(fake.wqs));
	fake.nb_made++;
	newest()->has_cq = true;
	newest()->cqes = rig_cqes(nb_cqes);
	*cq = (struct mdv_cq){
		.cqes = newest()->cqes,
		.dbrec = newest()->cq_dbrec,
		.cqe_cnt = nb_cqes,
		.log2_cqes = rte_log2_u32(nb_cqes),
	};
	return 0;
}

void
__wrap_mdv_cq_destroy(const struct mdv_device *device, struct mdv_cq *cq)
{
	unsigned int i;

	assert_ptr_equal(device, &fake.port.port.device);
	for (i = 0; i < RTE_DIM(fake.wqs); i++) {
		if (fake.wqs[i].cqes != cq->cqes)
			continue;
		/* A CQ goes after the WQ that completes into it. */
		assert_true(fake.wqs[i].has_cq && !fake.wqs[i].has_wq);
		fake.wqs[i].has_cq = false;
	}
}

static struct ibv_wq *
create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	(void)context;
	assert_int_equal(attr->wq_type, IBV_WQT_RQ);
	assert_int_equal(attr->max_wr << fake.rxq.ring.log2_segs, NB_DESC);
	assert_int_equal(attr->max_sge, 1u << fake.rxq.ring.log2_segs);
	if (fake.wq_error != 0) {
		errno = fake.wq_error;
		return NULL;
	}
	newest()->has_wq = true;
	newest()->flags = attr->create_flags;
	newest()->wq.context = context;
	return &newest()->wq;
}

struct ibv_wq *
__wrap_mlx5dv_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
	struct mlx5dv_wq_init_attr *striding)
{
	assert_int_equal(striding->comp_mask, MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ);
	assert_int_equal(striding->striding_rq_attrs.single_stride_log_num_of_bytes,
		fake.rxq.strides.log2_bytes);
	assert_int_equal(striding->striding_rq_attrs.single_wqe_log_num_of_strides,
		fake.rxq.strides.log2_strides);
	assert_int_equal(striding->striding_rq_attrs.two_byte_shift_en, 0);
	assert_int_equal(attr->max_wr << fake.rxq.strides.log2_strides, NB_DESC);
	attr->max_wr = NB_DESC;
	return create_wq(context, attr);
}

static int
destroy_wq(struct ibv_wq *wq)
{
	if (fake.destroy_error != 0 && fake.destroy_error != EIO)
		return fake.destroy_error;
	assert_true(fake_of(wq)->has_wq);
	fake_of(wq)->has_wq = false;
	return fake.destroy_error;
}

static int
modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	fake.nb_ops++;
	if (attr->attr_mask == (IBV_WQ_ATTR_FLAGS | IBV_WQ_ATTR_CURR_STATE)) {
		assert_int_equal(attr->flags_mask, IBV_WQ_FLAGS_CVLAN_STRIPPING);
		if (attr->curr_wq_state != fake_of(wq)->state || fake.flags_error != 0)
			return EINVAL;
		fake_of(wq)->flags = attr->flags;
		return 0;
	}
	assert_int_equal(attr->attr_mask, IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE);
	if (fake.state_errors[attr->wq_state] != 0)
		return fake.state_errors[attr->wq_state];
	if (attr->curr_wq_state != fake_of(wq)->state)
		return EINVAL;
	fake_of(wq)->state = wq->state = attr->wq_state;
	/* As libmlx5 does. */
	memset(fake_of(wq)->wq_dbrec, 0, sizeof(fake_of(wq)->wq_dbrec));
	return 0;
}

int
__wrap_mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type)
{
	assert_int_equal(type, MLX5DV_OBJ_RWQ);
	*obj->rwq.out = (struct mlx5dv_rwq){
		.buf = fake_of(obj->rwq.in)->wqes,
		.dbrec = fake_of(obj->rwq.in)->wq_dbrec,
		.wqe_cnt = fake.wqe_cnt,
		.stride = fake.stride,
	};
	return fake.init_error;
}

static int
queue_make(void **state)
{
	struct rte_mbuf rearm = { .data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = 3 };
	struct verbs_context *context;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	rig_port_init(&fake.port);
	context = verbs_get_ctx(fake.port.wq->context);
	context->create_wq = create_wq;
	context->destroy_wq = destroy_wq;
	context->modify_wq = modify_wq;
	fake.port.port.device.ctx = &context->context;
	fake.port.port.device.caps.mode = MDV_MODE_DV;
	fake.port.port.mr = mdv_mr_create(&fake.port.port.device, 3);
	assert_non_null(fake.port.port.mr);
	mdv_queue_list_init(&fake.port.port.queues);
	fake.wqe_cnt = NB_DESC;
	fake.stride = sizeof(struct mlx5_wqe_data_seg);
	fake.pool = rig_pool("rxq_ring", POOL_SIZE, ROOM);
	rte_mbuf_refcnt_set(&rearm, 1);
	fake.rxq = (struct mdv_rxq){
		.port = &fake.port.port,
		.port_id = 3,
		.idx = 2,
		.nb_desc = NB_DESC,
		.pool = fake.pool,
		.headroom = RTE_PKTMBUF_HEADROOM,
		.room = ROOM,
		.buf_offset = sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM,
	};
	memcpy(&fake.rxq.rearm, &rearm.rearm_data, sizeof(fake.rxq.rearm));
	return 0;
}

/** Check that no object and no region is left and all mbufs are back. */
static __rte_unused void
check_nothing(void)
{
	unsigned int i;

	assert_null(fake.rxq.objs.wq);
	assert_null(fake.rxq.ring.mbufs);
	for (i = 0; i < RTE_DIM(fake.wqs); i++)
		assert_false(fake.wqs[i].has_wq || fake.wqs[i].has_cq);
	assert_int_equal(rte_mempool_avail_count(fake.pool), POOL_SIZE);
	assert_int_equal(rig_verbs.nb_mrs, 0);
}

static int
queue_free(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
	check_nothing();
	for (i = 0; i < RTE_DIM(fake.wqs); i++)
		free(fake.wqs[i].cqes);
	mdv_mr_destroy(fake.port.port.mr);
	rte_mempool_free(fake.pool);
	return 0;
}

static __rte_unused uint32_t
nb_in_ring(void)
{
	return POOL_SIZE - rte_mempool_avail_count(fake.pool);
}

/** Check that the newest WQ takes packets, with all of its WQEs. */
static __rte_unused void
check_ready(void)
{
	assert_true(fake.rxq.ready);
	assert_ptr_equal(fake.rxq.objs.wq, &newest()->wq);
	assert_int_equal(newest()->state, IBV_WQS_RDY);
	assert_int_equal(nb_in_ring(), NB_DESC);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	assert_int_equal(fake.rxq.lkey_be, rte_cpu_to_be_32(0x100));
	assert_int_equal(
		rte_be_to_cpu_32(newest()->wq_dbrec[0]), NB_DESC >> fake.rxq.ring.log2_segs);
}

/** Let the device complete a frame, or fail. */
static __rte_unused void
complete(unsigned int slot, uint8_t opcode)
{
	newest()->cqes[slot].op_own = opcode << MDV_HW_CQE_OPCODE_SHIFT;
}

/** Rings beside those of the queue. */
static __rte_unused struct mdv_rxq
make_fresh(void)
{
	struct mdv_rxq fresh = fake.rxq;

	fresh.ready = false;
	assert_int_equal(mdv_rxq_ring_create(&fresh), 0);
	return fresh;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, queue_make, queue_free)

#endif /* WQ_RIG_H */
