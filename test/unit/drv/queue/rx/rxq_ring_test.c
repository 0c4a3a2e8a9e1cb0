/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of a receive queue through their lives, each step failing; verbs is a fake that
 * counts. */
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
static void
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

static uint32_t
nb_in_ring(void)
{
	return POOL_SIZE - rte_mempool_avail_count(fake.pool);
}

/** Check that the newest WQ takes packets, with all of its WQEs. */
static void
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
static void
complete(unsigned int slot, uint8_t opcode)
{
	newest()->cqes[slot].op_own = opcode << MDV_HW_CQE_OPCODE_SHIFT;
}

static void
rings_are_as_large_as_asked(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq;

	(void)state;
	rxq->ring.log2_segs = 2;
	fake.wqe_cnt = NB_DESC / 4;
	fake.stride *= 4;
	rxq->vlan_strip = true;
	fake.port.port.marks_in_use = true;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(rxq->ring.mask, NB_DESC / 4 - 1);
	assert_int_equal(rxq->ring.log2_wqes, 4);
	assert_int_equal(rxq->ring.refill_min, 4);
	assert_int_equal(rxq->ring.runtime_opts, MDV_RX_RUNTIME_VLAN | MDV_RX_RUNTIME_MARK);
	assert_int_equal(newest()->flags, IBV_WQ_FLAGS_CVLAN_STRIPPING);
	assert_ptr_equal(rxq->ring.wqes, newest()->wqes);
	assert_ptr_equal(rxq->ring.wq_dbrec, newest()->wq_dbrec);
	/* Until the queue is ready, a burst has nothing to take and nothing to fill. */
	assert_int_equal(rxq->pos.wqe_pi - rxq->pos.wqe_ci, NB_DESC / 4);
	assert_false(rxq->ready);
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	check_ready();
}

#define LOG2_STRIDES  3
#define STRIDES_WQES  (NB_DESC >> LOG2_STRIDES)
#define STRIDES_BYTES (512u << LOG2_STRIDES)

/** The WQEs have a buffer each, in memory of one region, and nothing overlaps. */
static void
check_buffers(void)
{
	for (unsigned int i = 0; i < STRIDES_WQES; i++) {
		const struct mlx5_wqe_data_seg *seg = &newest()->wqes[2 * i + 1];

		assert_int_equal(rte_be_to_cpu_32(seg->byte_count), STRIDES_BYTES);
		assert_int_equal(rte_be_to_cpu_32(seg->lkey), 0x101);
		for (unsigned int k = 0; k < i; k++) {
			const uint64_t a = rte_be_to_cpu_64(seg->addr);
			const uint64_t b = rte_be_to_cpu_64(newest()->wqes[2 * k + 1].addr);

			assert_true(
				(a > b ? a - b : b - a) >= STRIDES_BYTES + RTE_PKTMBUF_HEADROOM);
		}
	}
}

static void
a_striding_queue_has_buffers_while_it_is_ready(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq;

	(void)state;
	rxq->strides.log2_strides = LOG2_STRIDES;
	rxq->strides.log2_bytes = 9;
	rxq->strides.len_max = 256;
	fake.wqe_cnt = STRIDES_WQES;
	fake.stride *= 2;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(rxq->ring.mask, NB_DESC - 1);
	assert_int_equal(rxq->ring.log2_wqes, 6);
	for (unsigned int i = 0; i < 2; i++) {
		assert_null(rxq->strides.pool);
		assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
		assert_int_equal(rig_verbs.nb_mrs, 2);
		assert_int_equal(nb_in_ring(), NB_DESC);
		assert_int_equal(rte_be_to_cpu_32(newest()->wq_dbrec[0]), STRIDES_WQES);
		check_buffers();
		assert_int_equal(mdv_rxq_ring_reset(rxq), 0);
		assert_int_equal(rig_verbs.nb_mrs, 0);
		assert_int_equal(nb_in_ring(), 0);
	}
	fake.state_errors[IBV_WQS_RDY] = EIO;
	assert_int_equal(mdv_rxq_ring_ready(rxq), -EIO);
	assert_null(rxq->strides.pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
}

static void
a_ring_that_cannot_be_made_leaves_nothing(void **state)
{
	/* clang-format off */
	static const struct {
		int cq_error, wq_error, init_error;
		uint32_t wqe_cnt, strides;
		int result;
	} cases[] = {
		{ ENOMEM, 0, 0, NB_DESC, 1, -ENOMEM }, { 0, EPERM, 0, NB_DESC, 1, -EPERM },
		{ 0, 0, EINVAL, NB_DESC, 1, -EINVAL }, { 0, 0, 0, 2 * NB_DESC, 1, -ENOTSUP },
		{ 0, 0, 0, NB_DESC, 2, -ENOTSUP },
	};
	/* clang-format on */
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		fake.nb_made = 0;
		fake.cq_error = cases[i].cq_error;
		fake.wq_error = cases[i].wq_error;
		fake.init_error = cases[i].init_error;
		fake.wqe_cnt = cases[i].wqe_cnt;
		fake.stride = cases[i].strides * sizeof(struct mlx5_wqe_data_seg);
		assert_int_equal(mdv_rxq_ring_create(&fake.rxq), cases[i].result);
		check_nothing();
		free(fake.wqs[0].cqes);
		fake.wqs[0].cqes = NULL;
	}
}

static void
a_queue_gets_ready_and_gives_all_back(void **state)
{
	unsigned int round;

	(void)state;
	/* There are no objects to reset or destroy. */
	assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	for (round = 0; round < 3; round++) {
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		check_ready();
		/* Frames that no burst has taken. */
		complete(0, MLX5_CQE_RESP_SEND);
		assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
		assert_int_equal(newest()->state, IBV_WQS_RESET);
		assert_int_equal(nb_in_ring(), 0);
		assert_int_equal(rig_verbs.nb_mrs, 0);
		assert_false(fake.rxq.ready);
		assert_int_equal(fake.rxq.pos.wqe_pi - fake.rxq.pos.wqe_ci, NB_DESC);
		assert_int_equal(
			newest()->cqes[0].op_own >> MDV_HW_CQE_OPCODE_SHIFT, MLX5_CQE_INVALID);
	}
	/* One that has failed without anybody's knowledge is stopped, too. */
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
	assert_int_equal(newest()->state, IBV_WQS_RESET);
	/* Destroyed in the state ready. */
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
}

/** CQEs left VALID would be taken for those of the next round. */
static void
a_full_cq_is_drained_to_its_last_completion(void **state)
{
	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	for (unsigned int i = 0; i < NB_DESC; i++)
		complete(i, MLX5_CQE_RESP_SEND);
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(&fake.rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), 0);
	assert_int_equal(fake.rxq.count.errors, NB_DESC);
	assert_int_equal(fake.rxq.pos.cq_ci, NB_DESC);
	for (unsigned int i = 0; i < NB_DESC; i++)
		assert_int_equal(
			newest()->cqes[i].op_own >> MDV_HW_CQE_OPCODE_SHIFT, MLX5_CQE_INVALID);
}

/** CQEs that its burst made INVALID and had not counted yet are not to be told from unwritten ones.
 */
static void
a_queue_whose_process_was_killed_in_a_burst_is_recreated(void **state)
{
	(void)state;
	for (unsigned int compressed = 0; compressed < 2; compressed++) {
		assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
		fake.rxq.objs.cq.compressed = compressed;
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
		assert_false(mdv_rxq_is_broken(&fake.rxq));
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		fake.rxq.in_burst = true;
		assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_is_broken(&fake.rxq), compressed);
		assert_false(fake.rxq.in_burst);
		/* Still so when it is started, until a burst asks for other rings. */
		assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_is_broken(&fake.rxq), compressed);
		fake.rxq.in_burst = true;
		assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
		assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
		assert_false(mdv_rxq_is_broken(&fake.rxq) || fake.rxq.in_burst);
		assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
	}
}

static void
a_queue_that_cannot_get_ready_is_as_before(void **state)
{
	struct rte_mbuf *kept[POOL_SIZE];

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	rig_verbs.reg_result = ENOMEM;
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -ENOMEM);
	assert_int_equal(fake.nb_ops, 0);
	rig_verbs.reg_result = 0;
	fake.state_errors[IBV_WQS_RDY] = EIO;
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -EIO);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_false(fake.rxq.ready);
	fake.state_errors[IBV_WQS_RDY] = 0;
	/* Tags have been turned on since, which the device refuses. */
	fake.rxq.vlan_strip = true;
	fake.flags_error = EINVAL;
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -EINVAL);
	assert_int_equal(newest()->state, IBV_WQS_RESET);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	fake.flags_error = 0;
	/* One buffer is missing. */
	assert_int_equal(rte_pktmbuf_alloc_bulk(fake.pool, kept, POOL_SIZE - NB_DESC + 1), 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), -ENOMEM);
	assert_int_equal(newest()->state, IBV_WQS_RESET);
	rte_pktmbuf_free_bulk(kept, POOL_SIZE - NB_DESC + 1);
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	check_ready();
	assert_int_equal(newest()->flags, IBV_WQ_FLAGS_CVLAN_STRIPPING);
	/* The device keeps its mbufs. */
	fake.state_errors[IBV_WQS_RESET] = EIO;
	assert_int_equal(mdv_rxq_ring_reset(&fake.rxq), -EIO);
	check_ready();
}

static void
stripping_changes_when_the_device_agrees(void **state)
{
	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, false), 0);
	fake.rxq.vlan_strip = true;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, true), 0);
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, false), -EINVAL);
	assert_false(fake.rxq.objs.wq_strips);
	newest()->state = IBV_WQS_RDY;
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, true), 0);
	assert_true(fake.rxq.objs.wq_strips);
	assert_int_equal(newest()->flags, IBV_WQ_FLAGS_CVLAN_STRIPPING);
	fake.rxq.vlan_strip = false;
	assert_int_equal(mdv_rxq_ring_strip(&fake.rxq, true), 0);
	assert_int_equal(newest()->flags, 0);
	assert_int_equal(fake.nb_ops, 4);
}

/** The device may go on writing to the mbufs of a WQ that is not destroyed. */
static void
a_wq_in_use_stays(void **state)
{
	static const int errors[] = { EBUSY, EINVAL, EREMOTEIO };

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(&fake.rxq), 0);
	for (unsigned int i = 0; i < RTE_DIM(errors); i++) {
		fake.destroy_error = errors[i];
		assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), -errors[i]);
		check_ready();
	}
	/* A device that is gone writes no more. */
	fake.destroy_error = EIO;
	assert_int_equal(mdv_rxq_ring_destroy(&fake.rxq), 0);
	assert_int_equal(rte_mempool_in_use_count(fake.pool), 0);
	fake.destroy_error = 0;
}

static void
a_queue_in_error_starts_again(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq;

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	complete(0, MLX5_CQE_RESP_SEND);
	complete(1, MLX5_CQE_RESP_SEND);
	complete(2, MLX5_CQE_RESP_ERR);
	fake.nb_ops = 0;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), 0);
	/* The two lost packets; the burst itself counts the error. */
	assert_int_equal(rxq->count.errors, 2);
	assert_int_equal(rxq->pos.cq_ci, 3);
	assert_int_equal(rte_be_to_cpu_32(newest()->cq_dbrec[0]), 3);
	assert_int_equal(fake.nb_ops, 2);
	assert_false(mdv_rxq_is_broken(rxq));
	check_ready();
	/* The WQ does not start: a burst has it recreated. */
	fake.state_errors[IBV_WQS_RDY] = EIO;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), 0);
	assert_true(mdv_rxq_is_broken(rxq));
	assert_int_equal(nb_in_ring(), NB_DESC);
	/* The WQ does not even stop: nothing is touched. */
	fake.state_errors[IBV_WQS_RESET] = EIO;
	fake.nb_ops = 0;
	newest()->state = IBV_WQS_ERR;
	assert_int_equal(mdv_rxq_ring_recover(rxq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), -EIO);
	assert_int_equal(fake.nb_ops, 1);
	assert_int_equal(nb_in_ring(), NB_DESC);
	fake.state_errors[IBV_WQS_RESET] = fake.state_errors[IBV_WQS_RDY] = 0;
}

/** Rings beside those of the queue. */
static struct mdv_rxq
make_fresh(void)
{
	struct mdv_rxq fresh = fake.rxq;

	fresh.ready = false;
	assert_int_equal(mdv_rxq_ring_create(&fresh), 0);
	return fresh;
}

static void
other_rings_take_the_place_of_broken_ones(void **state)
{
	struct mdv_rxq *rxq = &fake.rxq, fresh;

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	rxq->count.packets = 9;
	rxq->nb_ready = 5;
	mdv_rxq_ring_break(rxq);
	assert_true(mdv_rxq_is_broken(rxq));
	fresh = make_fresh();
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), 0);
	check_ready();
	assert_false(mdv_rxq_is_broken(rxq));
	assert_false(fake.wqs[0].has_wq || fake.wqs[0].has_cq);
	assert_ptr_equal(rxq->ring.wqes, fake.wqs[1].wqes);
	assert_ptr_equal(rxq->ring.cqes, fake.wqs[1].cqes);
	assert_ptr_equal(rxq->ring.wq_dbrec, fake.wqs[1].wq_dbrec);
	assert_ptr_equal(rxq->ring.cq_dbrec, fake.wqs[1].cq_dbrec);
	assert_int_equal(rxq->nb_ready, 0);
	assert_int_equal(rxq->count.packets, 9);
	/* The WQ does not start: the rings exist, and the queue waits for the next try. */
	fake.state_errors[IBV_WQS_RDY] = EIO;
	fresh = make_fresh();
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), -EIO);
	assert_false(rxq->ready);
	assert_int_equal(nb_in_ring(), 0);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	fake.state_errors[IBV_WQS_RDY] = 0;
	/* The pool cannot be registered: the old rings stay. */
	fresh = make_fresh();
	rig_verbs.reg_result = ENOMEM;
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), -ENOMEM);
	assert_ptr_equal(rxq->objs.wq, &fake.wqs[2].wq);
	assert_false(fake.wqs[3].has_wq || fake.wqs[3].has_cq);
	rig_verbs.reg_result = 0;
}

/** Later bursts fill in the buffers that are missing then. */
static void
a_recovery_is_content_with_some_buffers(void **state)
{
	struct rte_mbuf *kept[POOL_SIZE];
	const unsigned int nb = POOL_SIZE - NB_DESC - 10;
	struct mdv_rxq fresh;

	(void)state;
	assert_int_equal(mdv_rxq_ring_create(&fake.rxq), 0);
	fresh = make_fresh();
	assert_int_equal(rte_pktmbuf_alloc_bulk(fake.pool, kept, nb + 20), 0);
	assert_int_equal(mdv_rxq_ring_replace(&fake.rxq, &fresh), 0);
	assert_true(fake.rxq.ready);
	assert_true(fake.rxq.pos.wqe_pi - fake.rxq.pos.wqe_ci < NB_DESC);
	rte_pktmbuf_free_bulk(kept, nb + 20);
}

/** A queue that splits packets: its pools come and go together, and all mbufs are in their own. */
static void
segments_have_mempools_of_their_own(void **state)
{
	struct rte_mempool *second = rig_pool("second", NB_DESC / 2, ROOM);
	union rte_eth_rxseg asked[] = { { .split = { .mp = fake.pool, .length = 64 } },
		{ .split = { .mp = second } } };
	struct mdv_rxq fresh, *rxq = &fake.rxq;

	(void)state;
	fake.port.port.device.caps.max_sge = 4;
	rxq->conf.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	rxq->conf.rx_seg = asked;
	rxq->conf.rx_nseg = 2;
	assert_int_equal(mdv_rx_split_setup(rxq, 0), 0);
	rxq->ring.log2_segs = 1;
	fake.wqe_cnt /= 2;
	fake.stride *= 2;
	assert_int_equal(mdv_rxq_ring_create(rxq), 0);
	assert_int_equal(mdv_rxq_ring_ready(rxq), 0);
	fresh = make_fresh();
	assert_int_equal(mdv_rxq_ring_replace(rxq, &fresh), 0);
	assert_int_equal(nb_in_ring(), NB_DESC / 2);
	assert_int_equal(rte_mempool_avail_count(second), 0);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	assert_int_not_equal(newest()->wqes[0].lkey, newest()->wqes[1].lkey);
	assert_int_equal(mdv_rxq_ring_destroy(rxq), 0);
	rte_mempool_free(second);
	rte_free(rxq->split);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, queue_make, queue_free)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rings_are_as_large_as_asked),
		TEST(a_striding_queue_has_buffers_while_it_is_ready),
		TEST(a_ring_that_cannot_be_made_leaves_nothing),
		TEST(a_queue_gets_ready_and_gives_all_back),
		TEST(a_full_cq_is_drained_to_its_last_completion),
		TEST(a_queue_whose_process_was_killed_in_a_burst_is_recreated),
		TEST(a_queue_that_cannot_get_ready_is_as_before),
		TEST(stripping_changes_when_the_device_agrees),
		TEST(a_wq_in_use_stays),
		TEST(a_queue_in_error_starts_again),
		TEST(other_rings_take_the_place_of_broken_ones),
		TEST(a_recovery_is_content_with_some_buffers),
		TEST(segments_have_mempools_of_their_own),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
