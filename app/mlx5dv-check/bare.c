/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of verbs, made and closed together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_common.h>

#include "bare.h"

#define MEMORY_BYTES (CHECK_BARE_RECVS * CHECK_BARE_BYTES + CHECK_BARE_BYTES)

static int
receive(struct check_bare *bare, uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)bare->memory + slot * CHECK_BARE_BYTES, CHECK_BARE_BYTES,
		bare->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_wq_recv(bare->wq, &wr, &bad);
}

/** @return 0 or an errno */
static int
queue_open(struct check_bare *bare)
{
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ,
		.max_wr = CHECK_BARE_RECVS,
		.max_sge = 1,
		.pd = bare->pd,
		.cq = bare->cq };
	struct ibv_rwq_ind_table_init_attr table = { .ind_tbl = &bare->wq };
	int ret = 0;

	bare->wq = ibv_create_wq(bare->ctx, &attr);
	if (bare->wq == NULL)
		return errno;
	ret = ibv_modify_wq(bare->wq, &ready);
	for (unsigned int i = 0; i < CHECK_BARE_RECVS && ret == 0; i++)
		ret = receive(bare, i);
	if (ret != 0)
		return ret;
	bare->table = ibv_create_rwq_ind_table(bare->ctx, &table);
	return bare->table != NULL ? 0 : errno;
}

enum check_result
check_bare_open(struct check *check, struct check_bare *bare)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	int ret = 0;

	*bare = (struct check_bare){ .port = RTE_MAX(port->number, 1u) };
	bare->ctx = check_verbs_open(port->ibdev);
	if (bare->ctx != NULL)
		bare->pd = ibv_alloc_pd(bare->ctx);
	if (bare->pd != NULL)
		bare->cq = ibv_create_cq(bare->ctx, 2 * CHECK_BARE_RECVS, NULL, NULL, 0);
	if (bare->cq != NULL)
		bare->memory = calloc(1, MEMORY_BYTES);
	if (bare->memory != NULL)
		bare->mr = ibv_reg_mr(bare->pd, bare->memory, MEMORY_BYTES, IBV_ACCESS_LOCAL_WRITE);
	ret = bare->mr == NULL ? errno : queue_open(bare);
	return ret == 0
		? CHECK_PASS
		: check_absent(check, "no queue of verbs beside the port: %s", strerror(ret));
}

void
check_bare_close(struct check_bare *bare)
{
	for (unsigned int i = 0; i < bare->nb_rules; i++)
		ibv_destroy_flow(bare->rules[i]);
	for (unsigned int i = 0; i < bare->nb_counters; i++)
		ibv_destroy_counters(bare->counters[i]);
	for (unsigned int i = 0; i < bare->nb_tirs; i++)
		ibv_destroy_qp(bare->tirs[i]);
	if (bare->table != NULL)
		ibv_destroy_rwq_ind_table(bare->table);
	if (bare->wq != NULL)
		ibv_destroy_wq(bare->wq);
	if (bare->mr != NULL)
		ibv_dereg_mr(bare->mr);
	if (bare->cq != NULL)
		ibv_destroy_cq(bare->cq);
	if (bare->pd != NULL)
		ibv_dealloc_pd(bare->pd);
	if (bare->ctx != NULL)
		ibv_close_device(bare->ctx);
	free(bare->memory);
	*bare = (struct check_bare){ 0 };
}

/** @param extra of direct verbs, or NULL */
static struct ibv_qp *
add_tir(struct check_bare *bare, struct mlx5dv_qp_init_attr *extra)
{
	static uint8_t key[40] = { 0x6d, 0x5a };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = bare->pd,
		.rwq_ind_tbl = bare->table,
		.rx_hash_conf = { IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key, 0 } };
	struct ibv_qp *tir;

	errno = ENOSPC;
	if (bare->nb_tirs == CHECK_BARE_TIRS)
		return NULL;
	tir = extra != NULL ? mlx5dv_create_qp(bare->ctx, &attr, extra)
			    : ibv_create_qp_ex(bare->ctx, &attr);
	if (tir != NULL)
		bare->tirs[bare->nb_tirs++] = tir;
	return tir;
}

struct ibv_qp *
check_bare_tir(struct check_bare *bare)
{
	return add_tir(bare, NULL);
}

struct ibv_qp *
check_bare_tunnel_tir(struct check_bare *bare)
{
	struct mlx5dv_qp_init_attr extra = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
	};

	return add_tir(bare, &extra);
}

struct ibv_counters *
check_bare_counter(struct check_bare *bare)
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counter_attach_attr attach = { .counter_desc = IBV_COUNTER_PACKETS };
	struct ibv_counters *counter;
	int ret;

	errno = ENOSPC;
	counter = bare->nb_counters == CHECK_BARE_RULES ? NULL
							: ibv_create_counters(bare->ctx, &init);
	if (counter == NULL)
		return NULL;
	ret = ibv_attach_counters_point_flow(counter, &attach, NULL);
	if (ret != 0) {
		ibv_destroy_counters(counter);
		errno = ret;
		return NULL;
	}
	bare->counters[bare->nb_counters++] = counter;
	return counter;
}

void
check_bare_write(
	const struct check_bare *bare, struct check_bare_attr *attr, struct ibv_counters *counter)
{
	static const uint8_t src[] = { 2, 0, 0, 0, 1, CHECK_RULE_SRC };

	struct ibv_flow_spec_eth eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(eth) };
	const struct ibv_flow_spec_counter_action count = {
		.type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof(count), .counters = counter
	};

	memcpy(eth.val.src_mac, src, sizeof(src));
	memset(eth.mask.src_mac, 0xff, sizeof(src));
	*attr = (struct check_bare_attr){ .attr = { .type = IBV_FLOW_ATTR_NORMAL,
						  .size = sizeof(*attr),
						  .num_of_specs = 2,
						  .port = bare->port } };
	memcpy(attr->specs, &eth, sizeof(eth));
	memcpy(attr->specs + sizeof(eth), &count, sizeof(count));
	if (counter == NULL) {
		attr->attr.num_of_specs--;
		attr->attr.size -= sizeof(count);
	}
}

int
check_bare_rule(struct check_bare *bare, struct ibv_qp *tir, struct check_bare_attr *attr)
{
	struct ibv_flow *rule;

	if (bare->nb_rules == CHECK_BARE_RULES)
		return ENOSPC;
	errno = EIO;
	rule = ibv_create_flow(tir, &attr->attr);
	if (rule == NULL)
		return errno;
	bare->rules[bare->nb_rules++] = rule;
	return 0;
}

unsigned int
check_bare_count(struct check_bare *bare, const uint8_t *bytes, unsigned int nb_bytes)
{
	unsigned int count = 0;
	struct ibv_wc wc;

	while (ibv_poll_cq(bare->cq, 1, &wc) == 1) {
		if (wc.status != IBV_WC_SUCCESS || !(wc.opcode & IBV_WC_RECV))
			continue;
		count += wc.byte_len >= nb_bytes &&
			memcmp(bare->memory + wc.wr_id * CHECK_BARE_BYTES, bytes, nb_bytes) == 0;
		(void)receive(bare, wc.wr_id);
	}
	return count;
}

struct ibv_qp *
check_bare_sender(struct check_bare *bare, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 32, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET };
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
	struct ibv_qp *qp = ibv_create_qp(bare->pd, &attr);
	int ret = 0;

	if (qp == NULL)
		return NULL;
	for (unsigned int i = 0; i < RTE_DIM(states) && ret == 0; i++) {
		struct ibv_qp_attr to = { .qp_state = states[i], .port_num = bare->port };

		ret = ibv_modify_qp(
			qp, &to, IBV_QP_STATE | (states[i] == IBV_QPS_INIT ? IBV_QP_PORT : 0));
	}
	if (ret == 0)
		return qp;
	ibv_destroy_qp(qp);
	errno = ret;
	return NULL;
}

int
check_bare_send(struct check_bare *bare, struct ibv_qp *qp, const uint8_t *bytes, uint32_t nb_bytes)
{
	uint8_t *memory = bare->memory + CHECK_BARE_RECVS * CHECK_BARE_BYTES;
	struct ibv_sge sge = { (uintptr_t)memory, nb_bytes, bare->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	memcpy(memory, bytes, nb_bytes);
	return ibv_post_send(qp, &wr, &bad);
}
