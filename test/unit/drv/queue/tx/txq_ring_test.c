/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of a send queue through their lives, each step failing: verbs is a fake that counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "device/ring_memory.h"
#include "device/uar.h"
#include "queue/tx/txq.h"
#include "queue/tx/txq_ring.h"
#include "trace.h"

#define NB_DESC   128
#define NB_PKTS   20
#define POOL_SIZE 200

/** A QP with its ring and register, and the CQ. */
struct fake_qp {
	struct ibv_qp qp;
	struct ibv_cq cq;
	struct mdv_hw_cqe *cqes;
	uint8_t wqes[64];
	__be32 dbrec[2], cq_dbrec[2];
	uint64_t reg;
	bool has_cq, has_qp;
};

static struct {
	struct rig_port port;
	struct mdv_txq txq;
	struct rte_mempool *pool;
	struct fake_qp qps[3];
	unsigned int nb_made;
	int init_error, qp_errno;
	struct mlx5dv_qp dv; /* as libmlx5 shows it, but for the addresses */
	uint64_t dv_mask;
	struct ibv_qp_rate_limit_attr rate;
	uint32_t nb_cqes;
	enum rte_proc_type_t process;
	unsigned int nb_refused; /* state changes that firmware will refuse */
	bool locked;             /* other threads must wait while the state changes */
	uint8_t asked;
	bool no_memory; /* for rings */
} fake;

static struct fake_qp *
newest(void)
{
	return &fake.qps[fake.nb_made - 1];
}

static unsigned int
number_of(struct ibv_qp *qp)
{
	return (unsigned int)(container_of(qp, struct fake_qp, qp) - fake.qps);
}

TRACE_FAKE(int, mdv_cq_create, const struct mdv_device *device, uint32_t nb_cqes,
	uint32_t mini_format, struct ibv_comp_channel *channel, struct mdv_cq *cq)
{
	int ret = trace_call("cq");

	assert_ptr_equal(device, &fake.port.port.device);
	assert_int_equal(mini_format, 0);
	assert_null(channel);
	if (ret != 0)
		return ret;
	assert_true(fake.nb_made < RTE_DIM(fake.qps));
	fake.nb_made++;
	fake.nb_cqes = nb_cqes;
	newest()->has_cq = true;
	newest()->cqes = rig_cqes(rte_align32pow2(nb_cqes));
	*cq = (struct mdv_cq){
		.ibv_cq = &newest()->cq,
		.cqes = newest()->cqes,
		.dbrec = newest()->cq_dbrec,
		.cqe_cnt = rte_align32pow2(nb_cqes),
		.log2_cqes = rte_log2_u32(nb_cqes),
	};
	return 0;
}

TRACE_FAKE(void, mdv_cq_destroy, const struct mdv_device *device, struct mdv_cq *cq)
{
	assert_ptr_equal(device, &fake.port.port.device);
	for (unsigned int i = 0; i < RTE_DIM(fake.qps); i++) {
		if (fake.qps[i].cqes != cq->cqes)
			continue;
		/* A CQ goes after the QP that completes into it. */
		assert_true(fake.qps[i].has_cq && !fake.qps[i].has_qp);
		fake.qps[i].has_cq = false;
		trace_call("no cq");
	}
	memset(cq, 0, sizeof(*cq));
}

TRACE_FAKE(int, mlx5dv_init_obj, struct mlx5dv_obj *obj, uint64_t type)
{
	struct fake_qp *own = container_of(obj->qp.in, struct fake_qp, qp);

	assert_int_equal(type, MLX5DV_OBJ_QP);
	assert_int_equal(obj->qp.out->comp_mask, MLX5DV_QP_MASK_UAR_MMAP_OFFSET);
	*obj->qp.out = fake.dv;
	obj->qp.out->comp_mask = fake.dv_mask;
	obj->qp.out->dbrec = own->dbrec;
	obj->qp.out->sq.buf = own->wqes;
	obj->qp.out->bf.reg = &own->reg;
	return fake.init_error;
}

/** What ibv_create_qp_ex() calls for a QP that needs no more than a PD. */
struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	assert_ptr_equal(pd, fake.port.port.device.pd);
	assert_ptr_equal(attr->send_cq, &newest()->cq);
	assert_ptr_equal(attr->recv_cq, &newest()->cq);
	/* With inlined packets four WQEBBs each. */
	assert_int_equal(
		attr->cap.max_send_wr, fake.port.port.tx_inline != 0 ? 4 * NB_DESC : NB_DESC);
	assert_int_equal(attr->cap.max_send_sge, 1);
	assert_int_equal(attr->cap.max_inline_data, 0);
	assert_int_equal(attr->qp_type, IBV_QPT_RAW_PACKET);
	errno = 0;
	if (trace_call("qp") != 0) {
		errno = fake.qp_errno;
		return NULL;
	}
	newest()->has_qp = true;
	newest()->qp = (struct ibv_qp){ .context = fake.port.port.device.ctx,
		.qp_num = 0x770 + fake.nb_made,
		.state = IBV_QPS_RESET };
	return &newest()->qp;
}

int
ibv_destroy_qp(struct ibv_qp *qp)
{
	assert_true(container_of(qp, struct fake_qp, qp)->has_qp);
	container_of(qp, struct fake_qp, qp)->has_qp = false;
	return -trace_call("no qp %u", number_of(qp));
}

TRACE_FAKE(int, ibv_modify_qp, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int ret = -trace_call("state %d", attr->qp_state);

	if (fake.locked)
		assert_int_equal(pthread_mutex_trylock(&fake.port.port.queues.objects_lock), EBUSY);
	assert_int_equal(mask, IBV_QP_STATE | (attr->qp_state == IBV_QPS_INIT ? IBV_QP_PORT : 0));
	if (attr->qp_state == IBV_QPS_INIT)
		assert_int_equal(attr->port_num, 1);
	if (fake.nb_refused != 0) {
		fake.nb_refused--;
		ret = EINVAL;
	}
	if (ret == 0)
		qp->state = attr->qp_state;
	return ret;
}

TRACE_FAKE(int, ibv_query_qp, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
	struct ibv_qp_init_attr *init)
{
	(void)qp, (void)init;
	assert_int_equal(mask, IBV_QP_STATE);
	attr->qp_state = IBV_QPS_ERR;
	return -trace_call("query");
}

static int
modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	assert_int_equal(qp->state, IBV_QPS_RTS);
	fake.rate = *attr;
	return -trace_call("rate %u", attr->rate_limit);
}

TRACE_FAKE(enum rte_proc_type_t, rte_eal_process_type, void)
{
	return fake.process;
}

TRACE_FAKE(int, mdv_mp_ask_recovery, int kind, uint16_t port_id, uint16_t idx, uint8_t syndrome)
{
	(void)kind;
	assert_true(fake.txq.asked);
	return trace_call("ask %u %u %#x", port_id, idx, syndrome);
}

TRACE_FAKE(
	void *, mdv_ring_memory_alloc, const char *type, size_t size, unsigned int align, int node)
{
	return fake.no_memory ? NULL : rte_zmalloc_socket(type, size, align, node);
}

static int
group_make(void **state)
{
	int ret = rig_eal_init(state);

	if (ret == 0)
		fake.pool = rig_pool("txq", POOL_SIZE, RTE_PKTMBUF_HEADROOM + 64);
	return ret;
}

static int
fake_make(void **state)
{
	struct rte_mempool *pool = fake.pool;
	struct verbs_context *context;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.pool = pool;
	trace_clear();
	rig_port_init(&fake.port);
	context = verbs_get_ctx(fake.port.qp->context);
	context->modify_qp_rate_limit = modify_qp_rate_limit;
	fake.port.port.device.ctx = fake.port.qp->context;
	fake.port.port.device.caps.mode = MDV_MODE_DV;
	fake.port.port.mr = mdv_mr_create(&fake.port.port.device, 3);
	pthread_mutex_init(&fake.port.port.queues.lock, NULL);
	fake.process = RTE_PROC_PRIMARY;
	fake.dv.sq.wqe_cnt = NB_DESC;
	fake.dv.sq.stride = MLX5_SEND_WQE_BB;
	fake.txq = (struct mdv_txq){ .port = &fake.port.port,
		.port_id = 3,
		.idx = 5,
		.nb_desc = NB_DESC,
		.ring.uar_slot = mdv_uar_slot(3, 5) };
	return 0;
}

static int
fake_free(void **state)
{
	(void)state;
	mdv_mr_destroy(fake.port.port.mr);
	for (unsigned int i = 0; i < RTE_DIM(fake.qps); i++) {
		assert_false(fake.qps[i].has_cq);
		assert_false(fake.qps[i].has_qp);
		free(fake.qps[i].cqes);
	}
	assert_int_equal(rte_mempool_avail_count(fake.pool), POOL_SIZE);
	return 0;
}

/** For the next case of a table. */
static void
fake_remake(void **state)
{
	fake_free(state);
	fake_make(state);
}

#define READY "state 1; state 2; state 3; "

static void
start(void)
{
	assert_int_equal(mdv_txq_ring_create(&fake.txq), 0);
	assert_int_equal(mdv_txq_ring_ready(&fake.txq), 0);
	mdv_txq_ring_clear(&fake.txq);
	fake.txq.ready = true;
	trace_clear();
}

/** As bursts leave them: mbufs in the ring, from @p head on. */
static void
put_mbufs(uint16_t head, unsigned int nb)
{
	fake.txq.pos.head = fake.txq.pos.tail = head;
	while (nb-- != 0) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(fake.pool);

		assert_non_null(mbuf);
		fake.txq.ring.mbufs[fake.txq.pos.head++ & fake.txq.ring.mask] = mbuf;
		fake.txq.pos.pc++;
	}
}

static void
objects_come_and_go(void **state)
{
	struct mdv_txq *txq = &fake.txq;

	(void)state;
	assert_int_equal(mdv_txq_ring_create(txq), 0);
	trace_check("cq; qp; ");
	assert_int_equal(txq->ring.request_min, 32);
	/* Each 32 WQEBBs of a ring of twice as many, by two counts, and two more. */
	assert_int_equal(fake.nb_cqes, 2 * 256 / 32 + 2);
	assert_ptr_equal(txq->objs.qp, &newest()->qp);
	assert_ptr_equal(txq->ring.wqes, newest()->wqes);
	assert_ptr_equal(txq->ring.dbrec, &newest()->dbrec[1]);
	assert_ptr_equal(txq->ring.cqes, newest()->cqes);
	assert_ptr_equal(txq->ring.cq_dbrec, newest()->cq_dbrec);
	assert_int_equal(txq->ring.log2_cqes, 5);
	assert_int_equal(txq->ring.mask, NB_DESC - 1);
	assert_int_equal(txq->ring.qpn_ds, 0x77100);
	assert_ptr_equal(mdv_uar_regs[txq->ring.uar_slot], &newest()->reg);
	assert_int_equal(txq->objs.uar_at, (uintptr_t)&newest()->reg % sysconf(_SC_PAGESIZE));
	assert_false(txq->ring.broken);
	/* Room for what is looked at ahead, which is nothing, and for completions behind it. */
	for (unsigned int i = 0; i < NB_DESC + MDV_TX_RELEASE_AHEAD; i++)
		assert_null(txq->ring.mbufs[i]);
	assert_ptr_equal(txq->ring.dones, txq->ring.mbufs + NB_DESC + MDV_TX_RELEASE_AHEAD);
	/* It looks full: bursts send nothing. */
	assert_int_equal((uint16_t)(txq->pos.pc - txq->pos.ci), NB_DESC);
	txq->ready = true;
	mdv_txq_ring_destroy(txq);
	trace_check("no qp 0; no cq; ");
	assert_false(txq->ready);
	assert_null(txq->objs.qp);
	assert_null(txq->ring.wqes);
	assert_null(txq->ring.mbufs);
}

static void
creation_is_undone_where_it_fails(void **state)
{
	static const struct {
		const char *fails;
		int result, code, init_error, wanted;
		const char *calls;
		bool no_memory;
	} cases[] = {
		{ "cq", -ENOSPC, 0, 0, -ENOSPC, "cq; " },
		{ "qp", -1, EPERM, 0, -EPERM, "cq; qp; no cq; " },
		{ "qp", -1, ENOSPC, 0, -ENOSPC, "cq; qp; no cq; " },
		{ "qp", -1, 0, 0, -ENOMEM, "cq; qp; no cq; " },
		{ "", 0, 0, EINVAL, -EINVAL, "cq; qp; no qp 0; no cq; " },
		{ "", 0, 0, 0, -ENOMEM, "cq; qp; no qp 0; no cq; ", .no_memory = true },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		fake_remake(state);
		trace.fails = cases[i].fails;
		trace.result = cases[i].result;
		fake.qp_errno = cases[i].code;
		fake.init_error = cases[i].init_error;
		fake.no_memory = cases[i].no_memory;
		assert_int_equal(mdv_txq_ring_create(&fake.txq), cases[i].wanted);
		trace_check(cases[i].calls);
		assert_null(fake.txq.objs.qp);
	}
}

static void
rings_are_such_as_were_asked_for(void **state)
{
	static const struct {
		uint32_t wqe_cnt, stride;
		int result;
		uint8_t device_inline, min_inline; /* not of the burst for L2 headers */
		uint16_t tx_inline;
	} cases[] = {
		{ NB_DESC, 64, 0 },
		{ NB_DESC, 64, 0, .device_inline = MDV_HW_ETH_INLINE_L2 },
		{ NB_DESC, 64, 0, MDV_HW_ETH_INLINE_L2 + 1, MDV_HW_ETH_INLINE_L2 + 1 },
		{ 4 * NB_DESC, 64, 0, .tx_inline = 124 },
		{ 2 * NB_DESC, 64, -ENOTSUP, .tx_inline = 124 },
		{ 2 * NB_DESC, 64, 0 },
		{ 32768, 64, 0 },
		{ NB_DESC, 128, -ENOTSUP },
		{ NB_DESC / 2, 64, -ENOTSUP },
		{ NB_DESC + 1, 64, -ENOTSUP },
		{ 65536, 64, -ENOTSUP },
		{ 0, 64, -ENOTSUP },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		fake_remake(state);
		fake.dv.sq.wqe_cnt = cases[i].wqe_cnt;
		fake.dv.sq.stride = cases[i].stride;
		fake.port.port.device.caps.tx_min_inline = cases[i].device_inline;
		fake.port.port.tx_inline = cases[i].tx_inline;
		assert_int_equal(mdv_txq_ring_create(&fake.txq), cases[i].result);
		if (cases[i].result == 0) {
			assert_int_equal(fake.txq.ring.min_inline, cases[i].min_inline);
			assert_int_equal(fake.txq.ring.mask, cases[i].wqe_cnt - 1);
			assert_int_equal(
				(uint16_t)(fake.txq.pos.pc - fake.txq.pos.ci), cases[i].wqe_cnt);
			mdv_txq_ring_destroy(&fake.txq);
		}
	}
}

/** The page of the register: where others map it, and whether it combines writes. */
static void
doorbells_are_as_libmlx5_says(void **state)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	const struct {
		uint32_t bf_size;
		uint64_t mask, offset;
		bool combines;
		uint64_t wanted;
	} cases[] = {
		{ 0, 0, 5 * page, false, MDV_UAR_NO_OFFSET },
		{ 256, 0, 5 * page, true, MDV_UAR_NO_OFFSET },
		{ 0, MLX5DV_QP_MASK_UAR_MMAP_OFFSET, 5 * page, false, 5 * page },
		{ 256, MLX5DV_QP_MASK_UAR_MMAP_OFFSET, 5 * page, true, 5 * page },
		/* Command 3, MLX5_MMAP_GET_NC_PAGES_CMD, of page 5. */
		{ 256, MLX5DV_QP_MASK_UAR_MMAP_OFFSET, (3 << 8 | 5) * page, false,
			(3 << 8 | 5) * page },
		{ 256, MLX5DV_QP_MASK_UAR_MMAP_OFFSET, (2 << 8 | 3) * page, true,
			(2 << 8 | 3) * page },
		/* What lies above the command is part of the page's number. */
		{ 256, MLX5DV_QP_MASK_UAR_MMAP_OFFSET, (1 << 16 | 3 << 8) * page, false,
			(1 << 16 | 3 << 8) * page },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		fake_remake(state);
		fake.dv.bf.size = cases[i].bf_size;
		fake.dv.uar_mmap_offset = cases[i].offset;
		fake.dv_mask = cases[i].mask;
		start();
		assert_int_equal(fake.txq.ring.uar_combines, cases[i].combines);
		assert_int_equal(fake.txq.objs.uar_offset, cases[i].wanted);
		mdv_txq_ring_destroy(&fake.txq);
	}
}

static void
a_qp_is_moved_by_steps(void **state)
{
	static const struct {
		enum ibv_qp_state from;
		const char *fails, *calls;
		uint32_t kbps;
		int result;
	} cases[] = {
		{ IBV_QPS_RESET, NULL, READY, 0 },
		{ IBV_QPS_RESET, NULL, READY "rate 700; ", 700 },
		{ IBV_QPS_INIT, NULL, "query; state 0; " READY, 0 },
		{ IBV_QPS_ERR, NULL, "query; state 0; " READY, 0 },
		{ IBV_QPS_ERR, "query", "query; state 0; " READY, 0 },
		{ IBV_QPS_ERR, "state 0", "query; state 0; ", 700, -EIO },
		{ IBV_QPS_RESET, "state 1", "state 1; ", 700, -EIO },
		{ IBV_QPS_RESET, "state 2", "state 1; state 2; ", 700, -EIO },
		{ IBV_QPS_RESET, "state 3", READY, 700, -EIO },
		{ IBV_QPS_RESET, "rate 700", READY "rate 700; ", 700, -EIO },
	};

	(void)state;
	assert_int_equal(mdv_txq_ring_create(&fake.txq), 0);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		trace_clear();
		trace.fails = cases[i].fails;
		trace.result = -EIO;
		fake.txq.objs.qp->state = cases[i].from;
		fake.txq.rate_kbps = cases[i].kbps;
		assert_int_equal(mdv_txq_ring_ready(&fake.txq), cases[i].result);
		trace_check(cases[i].calls);
	}
	mdv_txq_ring_destroy(&fake.txq);
}

static void
rates_have_sizes_where_they_limit(void **state)
{
	(void)state;
	start();
	fake.port.port.config.tx_max_burst_sz = 11;
	fake.port.port.config.tx_typical_pkt_sz = 12;
	assert_int_equal(mdv_txq_ring_set_rate(&fake.txq, 5000), 0);
	assert_int_equal(fake.rate.rate_limit, 5000);
	assert_int_equal(fake.rate.max_burst_sz, 11);
	assert_int_equal(fake.rate.typical_pkt_sz, 12);
	assert_int_equal(fake.rate.comp_mask, 0);
	assert_int_equal(mdv_txq_ring_set_rate(&fake.txq, 0), 0);
	assert_int_equal(fake.rate.max_burst_sz, 0);
	assert_int_equal(fake.rate.typical_pkt_sz, 0);
	trace.fails = "rate 5000";
	trace.result = -EINVAL;
	assert_int_equal(mdv_txq_ring_set_rate(&fake.txq, 5000), -EINVAL);
	mdv_txq_ring_destroy(&fake.txq);
}

/** Over the end of the ring, where counters wrap, one by one or in bulk. */
static void
mbufs_are_released_wherever_they_lie(void **state)
{
	static const uint16_t heads[] = { 0, 1, NB_DESC - 1, NB_DESC - NB_PKTS, UINT16_MAX - 3 };

	(void)state;
	start();
	for (unsigned int i = 0; i < 2 * RTE_DIM(heads); i++) {
		const uint16_t head = heads[i / 2];

		put_mbufs(head, NB_PKTS);
		fake.txq.ring.chains = i % 2 != 0;
		mdv_txq_ring_release(&fake.txq, head);
		assert_int_equal(rte_mempool_in_use_count(fake.pool), NB_PKTS);
		mdv_txq_ring_release(&fake.txq, (uint16_t)(head + 7));
		assert_int_equal(rte_mempool_in_use_count(fake.pool), NB_PKTS - 7);
		assert_int_equal(fake.txq.pos.tail, (uint16_t)(head + 7));
		mdv_txq_ring_release(&fake.txq, fake.txq.pos.head);
		assert_int_equal(rte_mempool_in_use_count(fake.pool), 0);
		assert_int_equal(fake.txq.pos.tail, fake.txq.pos.head);
	}
	mdv_txq_ring_destroy(&fake.txq);
}

/** CQEs of flushed WQEs; those that are valid, and no more than there are. */
static void
write_cqes(unsigned int nb)
{
	const unsigned int log2 = fake.txq.ring.log2_cqes, mask = (1u << log2) - 1;

	for (unsigned int i = 0; i < nb; i++) {
		const uint32_t ci = fake.txq.pos.cq_ci + i;

		newest()->cqes[ci & mask].op_own =
			MLX5_CQE_REQ_ERR << MDV_HW_CQE_OPCODE_SHIFT | (ci >> log2 & 1);
	}
}

static void
a_reset_empties_the_queue(void **state)
{
	struct mdv_txq *txq = &fake.txq;

	(void)state;
	start();
	for (unsigned int nb = 0; nb <= 32; nb += 8) {
		const uint32_t ci = txq->pos.cq_ci;

		put_mbufs(txq->pos.head, NB_PKTS);
		txq->ring.chains = txq->lost = true;
		txq->tso_template.ol_flags = 1;
		txq->objs.ibv.posted = 3;
		txq->ready = true;
		write_cqes(nb);
		assert_int_equal(mdv_txq_ring_reset(txq), 0);
		trace_check("query; state 0; ");
		assert_false(txq->ready);
		assert_int_equal(rte_mempool_in_use_count(fake.pool), 0);
		assert_int_equal(txq->pos.cq_ci, ci + nb);
		assert_int_equal(txq->pos.cq_pi, (uint16_t)(ci + nb));
		assert_int_equal(rte_be_to_cpu_32(newest()->cq_dbrec[0]), ci + nb);
		assert_int_equal(txq->pos.pc, 0);
		assert_int_equal(txq->pos.ci, (uint16_t)-NB_DESC);
		assert_int_equal(txq->pos.tail, txq->pos.head);
		assert_false(txq->ring.chains || txq->lost);
		assert_int_equal(txq->tso_template.ol_flags, 0);
		assert_int_equal(txq->objs.ibv.posted, 0);
		assert_int_equal(txq->ring.dones[(ci + nb - 1) & 31].head, txq->pos.head);
		assert_int_equal(txq->ring.dones[(ci + nb - 1) & 31].pc, 0);
	}
	assert_int_equal(mdv_txq_ring_reset(txq), 0);
	trace_check("");
	txq->ready = true;
	trace.fails = "state 0";
	trace.result = -EIO;
	put_mbufs(0, NB_PKTS);
	assert_int_equal(mdv_txq_ring_reset(txq), -EIO);
	assert_true(txq->ready);
	assert_int_equal(rte_mempool_in_use_count(fake.pool), NB_PKTS);
	mdv_txq_ring_destroy(txq);
}

/** The send queue fails between the query and the reset, whose state is then not the queue's. */
static void
a_reset_is_tried_once_more(void **state)
{
	struct mdv_txq *txq = &fake.txq;

	(void)state;
	start();
	for (unsigned int nb = 1; nb <= 3; nb++) {
		txq->ready = true;
		fake.nb_refused = nb;
		assert_int_equal(mdv_txq_ring_reset(txq), nb < 2 ? 0 : -EINVAL);
		trace_check("query; state 0; query; state 0; ");
		assert_int_equal(txq->ready, nb >= 2);
	}
	fake.nb_refused = 0;
	mdv_txq_ring_destroy(txq);
}

static void
a_stopped_queue_recovers(void **state)
{
	struct mdv_txq *txq = &fake.txq;

	(void)state;
	start();
	put_mbufs(0, NB_PKTS);
	write_cqes(3);
	txq->objs.qp->state = IBV_QPS_ERR;
	/* A rate limit that another thread sets meanwhile would go with the reset. */
	fake.locked = true;
	assert_int_equal(mdv_txq_ring_recover(txq, 4), 0);
	trace_check("query; state 0; " READY);
	assert_int_equal(txq->pos.cq_ci, 3);
	/* The caller's. */
	assert_int_equal(rte_mempool_in_use_count(fake.pool), NB_PKTS);
	assert_int_equal(txq->logged_syndromes, 1 << 4);
	trace.fails = "state 0";
	trace.result = -EIO;
	write_cqes(3);
	assert_int_equal(mdv_txq_ring_recover(txq, 4), -EIO);
	assert_int_equal(txq->pos.cq_ci, 3);
	trace.fails = "state 2";
	assert_int_equal(mdv_txq_ring_recover(txq, 4), -EIO);
	assert_int_equal(pthread_mutex_trylock(&fake.port.port.queues.objects_lock), 0);
	pthread_mutex_unlock(&fake.port.port.queues.objects_lock);
	fake.locked = false;
	/* Another process has the objects. */
	trace_clear();
	fake.process = RTE_PROC_SECONDARY;
	trace.fails = "ask 3 5 0x4";
	trace.result = -ENOTCONN;
	assert_int_equal(mdv_txq_ring_recover(txq, 4), -ENOTCONN);
	trace_check("ask 3 5 0x4; ");
	mdv_txq_ring_destroy(txq);
}

static void
a_broken_queue_gets_other_objects(void **state)
{
	struct mdv_txq *txq = &fake.txq;
	const struct ibv_qp *before;

	(void)state;
	start();
	before = txq->objs.qp;
	put_mbufs(5, NB_PKTS);
	txq->ring.broken = true;
	assert_int_equal(mdv_txq_ring_replace(txq), 0);
	trace_check("cq; qp; " READY "no qp 0; no cq; ");
	assert_ptr_not_equal(txq->objs.qp, before);
	assert_ptr_equal(txq->objs.qp, &newest()->qp);
	assert_ptr_equal(mdv_uar_regs[txq->ring.uar_slot], &newest()->reg);
	assert_int_equal(rte_mempool_in_use_count(fake.pool), 0);
	assert_true(txq->ready);
	assert_false(txq->ring.broken);
	assert_true(txq->pos.pc == 0 && txq->pos.ci == 0 && txq->pos.head == txq->pos.tail);
	mdv_txq_ring_destroy(txq);
}

static void
a_broken_queue_keeps_its_own_on_failure(void **state)
{
	static const struct {
		const char *fails, *calls;
	} cases[] = {
		{ "cq", "cq; " },
		{ "state 1", "cq; qp; state 1; no qp 1; no cq; " },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		fake_remake(state);
		start();
		put_mbufs(5, NB_PKTS);
		trace.fails = cases[i].fails;
		trace.result = -ENOMEM;
		assert_int_equal(mdv_txq_ring_replace(&fake.txq), -ENOMEM);
		trace_check(cases[i].calls);
		assert_ptr_equal(fake.txq.objs.qp, &fake.qps[0].qp);
		assert_ptr_equal(mdv_uar_regs[fake.txq.ring.uar_slot], &fake.qps[0].reg);
		assert_int_equal(rte_mempool_in_use_count(fake.pool), NB_PKTS);
		assert_int_equal((uint16_t)(fake.txq.pos.head - fake.txq.pos.tail), NB_PKTS);
		mdv_txq_ring_destroy(&fake.txq);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_make, fake_free)
	const struct CMUnitTest tests[] = {
		TEST(objects_come_and_go),
		TEST(creation_is_undone_where_it_fails),
		TEST(rings_are_such_as_were_asked_for),
		TEST(doorbells_are_as_libmlx5_says),
		TEST(a_qp_is_moved_by_steps),
		TEST(rates_have_sizes_where_they_limit),
		TEST(mbufs_are_released_wherever_they_lie),
		TEST(a_reset_empties_the_queue),
		TEST(a_reset_is_tried_once_more),
		TEST(a_stopped_queue_recovers),
		TEST(a_broken_queue_gets_other_objects),
		TEST(a_broken_queue_keeps_its_own_on_failure),
	};

	return cmocka_run_group_tests(tests, group_make, NULL);
}
