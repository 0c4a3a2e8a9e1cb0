/* SPDX-License-Identifier: BSD-3-Clause */
/* Indirection tables and hash QPs, shared by reference count. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "flow_dest.h"
#include "flow_state.h"
#include "queue/rx/rxq.h"
#include "state/port.h"

struct mdv_flow_dest {
	LIST_ENTRY(mdv_flow_dest) next;
	uint32_t refs;
	bool receives; /* of a bare QP: it has a receive queue */
	uint64_t fields;
	uint8_t key[MDV_RSS_KEY_BYTES];
	struct ibv_cq *cq; /* of a bare QP only */
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	uint32_t nb_queues;
	uint16_t queues[];
};

static bool
rss_equal(
	const struct mdv_flow_dest *rss, const struct mdv_flow_dest_conf *conf, uint32_t nb_queues)
{
	return rss->fields == conf->fields && rss->nb_queues == nb_queues &&
		rss->queues[0] == conf->queues[0] &&
		(nb_queues == 1 ||
			memcmp(rss->queues, conf->queues, nb_queues * sizeof(rss->queues[0])) ==
				0) &&
		(conf->fields == 0 || memcmp(rss->key, conf->key, sizeof(rss->key)) == 0);
}

/** Sets of queues are mostly ranges: their ends tell them apart. Each of 256 single queues has a
 * bucket of its own, as 37 is odd. */
static unsigned int
rss_bucket(const struct mdv_flow_dest_conf *conf, uint32_t nb_queues)
{
	const uint32_t ends = conf->queues[0] + 36u * conf->queues[nb_queues - 1];

	return (ends + 101u * nb_queues) % MDV_FLOW_DEST_BUCKETS;
}

static int
rss_table_create(struct mdv_port *port, struct mdv_flow_dest *rss)
{
	uint32_t size =
		mdv_rss_table_size(rss->nb_queues, port->device.caps.max_rwq_ind_table_size);
	struct ibv_rwq_ind_table_init_attr attr = { 0 };
	struct ibv_wq **wqs;
	int ret = 0;

	if (size == 0)
		return -EINVAL;
	wqs = calloc(size, sizeof(*wqs));
	if (wqs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++) {
		wqs[i] = mdv_rxq_wq(port, rss->queues[i % rss->nb_queues]);
		if (wqs[i] == NULL) {
			ret = -ENODEV;
			goto free_wqs;
		}
	}
	attr.log_ind_tbl_size = rte_log2_u32(size);
	attr.ind_tbl = wqs;
	rss->table = ibv_create_rwq_ind_table(port->device.ctx, &attr);
	if (rss->table == NULL)
		ret = errno != 0 ? -errno : -ENOMEM;
free_wqs:
	free(wqs);
	return ret;
}

static int
rss_qp_create(struct mdv_port *port, struct mdv_flow_dest *rss)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = port->device.pd,
		.rwq_ind_tbl = rss->table,
		/* The kernel checks the length of the key even without any hashed field:
		 * drivers/infiniband/hw/mlx5/qp.c create_rss_raw_qp_tir. */
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = MDV_RSS_KEY_BYTES,
			.rx_hash_key = rss->key,
			.rx_hash_fields_mask = rss->fields,
		},
	};

	/* The flag is tunneled_offload_en of the TIR: completions tell of inner headers and their
	 * checksums (rdma-core man mlx5dv_create_qp), whatever the hash is of. The kernel refuses
	 * inner fields without it, and the flag where the device has no such tunnel: the same
	 * function. Linux's own TIRs have it, too (LX en_rx_res.c). */
	struct mlx5dv_qp_init_attr tunnel = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
	};

	rss->qp = port->device.caps.tunnel_offloads != 0
		? mlx5dv_create_qp(port->device.ctx, &attr, &tunnel)
		: ibv_create_qp_ex(port->device.ctx, &attr);
	if (rss->qp == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	return 0;
}

int
mdv_flow_dest_get(
	struct mdv_port *port, const struct mdv_flow_dest_conf *conf, struct mdv_flow_dest **out)
{
	/* Without hashed fields the table has one entry; the kernel refuses larger ones. */
	uint32_t nb_queues = conf->fields != 0 ? conf->nb_queues : 1;
	const unsigned int bucket = rss_bucket(conf, nb_queues);
	struct mdv_flow_dest *rss;
	int ret;

	LIST_FOREACH (rss, &port->flow->dests.buckets[bucket], next) {
		if (rss_equal(rss, conf, nb_queues)) {
			rss->refs++;
			*out = rss;
			return 0;
		}
	}
	rss = calloc(1, sizeof(*rss) + nb_queues * sizeof(rss->queues[0]));
	if (rss == NULL)
		return -ENOMEM;
	rss->refs = 1;
	rss->fields = conf->fields;
	rss->nb_queues = nb_queues;
	memcpy(rss->key, conf->key, sizeof(rss->key));
	memcpy(rss->queues, conf->queues, nb_queues * sizeof(rss->queues[0]));
	ret = rss_table_create(port, rss);
	if (ret != 0)
		goto free_rss;
	ret = rss_qp_create(port, rss);
	if (ret != 0)
		goto destroy_table;
	LIST_INSERT_HEAD(&port->flow->dests.buckets[bucket], rss, next);
	*out = rss;
	return 0;
destroy_table:
	ibv_destroy_rwq_ind_table(rss->table);
free_rss:
	free(rss);
	return ret;
}

/**
 * Make a QP that needs no WQ, so that rules that drop work on a port without Rx queues. The kernel
 * creates a RAW_PACKET QP only with at least one send WR; with receive WRs it makes a TIR, too.
 */
static int
rss_bare_create(struct mdv_port *port, struct mdv_flow_dest *rss)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = port->device.pd,
		.cap = { .max_send_wr = 1,
			.max_send_sge = 1,
			.max_recv_wr = rss->receives,
			.max_recv_sge = rss->receives },
	};

	rss->cq = ibv_create_cq(port->device.ctx, 1, NULL, NULL, 0);
	if (rss->cq == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	attr.send_cq = rss->cq;
	attr.recv_cq = rss->cq;
	rss->qp = ibv_create_qp_ex(port->device.ctx, &attr);
	if (rss->qp == NULL) {
		int ret = errno != 0 ? -errno : -ENOMEM;

		ibv_destroy_cq(rss->cq);
		return ret;
	}
	return 0;
}

int
mdv_flow_dest_get_bare(struct mdv_port *port, bool receives, struct mdv_flow_dest **out)
{
	struct mdv_flow_dest *rss;
	int ret;

	LIST_FOREACH (rss, &port->flow->dests.bare, next) {
		if (rss->receives == receives) {
			rss->refs++;
			*out = rss;
			return 0;
		}
	}
	rss = calloc(1, sizeof(*rss));
	if (rss == NULL)
		return -ENOMEM;
	rss->refs = 1;
	rss->receives = receives;
	ret = rss_bare_create(port, rss);
	if (ret != 0) {
		free(rss);
		return ret;
	}
	LIST_INSERT_HEAD(&port->flow->dests.bare, rss, next);
	*out = rss;
	return 0;
}

void
mdv_flow_dest_hold(struct mdv_flow_dest *rss)
{
	rss->refs++;
}

void
mdv_flow_dest_put(struct mdv_flow_dest *rss)
{
	if (rss == NULL || --rss->refs != 0)
		return;
	LIST_REMOVE(rss, next);
	ibv_destroy_qp(rss->qp);
	if (rss->table != NULL)
		ibv_destroy_rwq_ind_table(rss->table);
	if (rss->cq != NULL)
		ibv_destroy_cq(rss->cq);
	free(rss);
}

struct ibv_qp *
mdv_flow_dest_qp(const struct mdv_flow_dest *rss)
{
	return rss->qp;
}
