/* SPDX-License-Identifier: BSD-3-Clause */
/* The fakes. Functions of libibverbs defined here win over the library's. */
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "mem/mr.h"
#include "rig.h"

#undef ibv_reg_mr

struct rig_verbs rig_verbs;

int
rig_eal_init(void **state)
{
	static char *argv[] = { (char *)(uintptr_t) "test", (char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-pci", (char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--no-telemetry", (char *)(uintptr_t) "-m64",
		(char *)(uintptr_t) "-l0",
		(char *)(uintptr_t) "--log-level=pmd.net.mlx5dv:emergency" };

	(void)state;
	return rte_eal_init(RTE_DIM(argv), argv) < 0 ? -1 : 0;
}

int
ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	(void)qp;
	assert_true(attr_mask & IBV_QP_STATE);
	assert_true(rig_verbs.nb_qp_states < RTE_DIM(rig_verbs.qp_states));
	rig_verbs.qp_states[rig_verbs.nb_qp_states++] = attr->qp_state;
	return rig_verbs.modify_result;
}

int
ibv_query_qp(
	struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init)
{
	(void)qp, (void)init;
	assert_int_equal(attr_mask, IBV_QP_STATE);
	attr->qp_state = IBV_QPS_ERR;
	return 0;
}

static int
modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	(void)wq;
	assert_int_equal(attr->attr_mask, IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE);
	assert_true(rig_verbs.nb_wq_states < RTE_DIM(rig_verbs.wq_states));
	rig_verbs.wq_states[rig_verbs.nb_wq_states++] = attr->wq_state;
	return rig_verbs.modify_result;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr;

	assert_int_equal(access, IBV_ACCESS_LOCAL_WRITE | rig_verbs.optional_access);
	if (rig_verbs.reg_result != 0) {
		errno = rig_verbs.reg_result > 0 ? rig_verbs.reg_result : 0;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	assert_non_null(mr);
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = 0x100 + rig_verbs.nb_mrs++;
	return mr;
}

/* What the macro of that name calls for access that the compiler does not know. */
struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	assert_int_equal(iova, (uintptr_t)addr);
	return ibv_reg_mr(pd, addr, length, access);
}

int
ibv_dereg_mr(struct ibv_mr *mr)
{
	rig_verbs.nb_mrs--;
	free(mr);
	return 0;
}

void
rig_port_init(struct rig_port *rig)
{
	static struct verbs_context context;
	static struct ibv_wq wq;
	static struct ibv_qp qp;

	memset(rig, 0, sizeof(*rig));
	memset(&rig_verbs, 0, sizeof(rig_verbs));
	context.sz = sizeof(context);
	context.modify_wq = modify_wq;
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	wq.context = &context.context;
	qp.context = &context.context;
	rig->wq = &wq;
	rig->qp = &qp;
	rig->dev.data = &rig->data;
	rig->data.dev_private = &rig->port;
	rig->data.port_id = 3;
	rig->port.dev = &rig->dev;
	rig->port.device.port_num = 1;
	strcpy(rig->port.device.name, "fake");
}

struct rte_mempool *
rig_pool(const char *name, unsigned int nb, uint16_t room)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(name, nb, 0, 0, room, SOCKET_ID_ANY);

	assert_non_null(pool);
	return pool;
}

void *
rig_alloc(size_t size)
{
	void *memory = aligned_alloc(64, RTE_ALIGN(size, 64));

	assert_non_null(memory);
	memset(memory, 0, size);
	return memory;
}

struct mdv_hw_cqe *
rig_cqes(uint32_t nb)
{
	struct mdv_hw_cqe *cqes = rig_alloc(nb * sizeof(*cqes));
	uint32_t i;

	for (i = 0; i < nb; i++)
		cqes[i].op_own = MLX5_CQE_INVALID << MDV_HW_CQE_OPCODE_SHIFT;
	return cqes;
}
