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
	bool again;    /* as in its configuration */
	uint64_t fields;
	uint8_t key[MDV_RSS_KEY_BYTES];
	struct ibv_cq *cq; /* of a bare QP only */
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	uint32_t nb_queues;
	uint16_t queues[];
};

static bool
dest_equal(
	const struct mdv_flow_dest *dest, const struct mdv_flow_dest_conf *conf, uint32_t nb_queues)
{
	return dest->fields == conf->fields && dest->nb_queues == nb_queues &&
		dest->again == conf->again && dest->queues[0] == conf->queues[0] &&
		(nb_queues == 1 ||
			memcmp(dest->queues, conf->queues, nb_queues * sizeof(dest->queues[0])) ==
				0) &&
		(conf->fields == 0 || memcmp(dest->key, conf->key, sizeof(dest->key)) == 0);
}

/** Sets of queues are mostly ranges: their ends tell them apart. Each of 256 single queues has a
 * bucket of its own, as 37 is odd. */
static unsigned int
dest_bucket(const struct mdv_flow_dest_conf *conf, uint32_t nb_queues)
{
	const uint32_t ends = conf->queues[0] + 36u * conf->queues[nb_queues - 1];

	return (ends + 101u * nb_queues) % MDV_FLOW_DEST_BUCKETS;
}

static int
dest_table_create(struct mdv_port *port, struct mdv_flow_dest *dest)
{
	uint32_t size =
		mdv_rss_table_size(dest->nb_queues, port->device.caps.max_rwq_ind_table_size);
	struct ibv_rwq_ind_table_init_attr attr = { 0 };
	struct ibv_wq **wqs;
	int ret = 0;

	if (size == 0)
		return -EINVAL;
	wqs = calloc(size, sizeof(*wqs));
	if (wqs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++) {
		wqs[i] = mdv_rxq_wq(port, dest->queues[i % dest->nb_queues]);
		if (wqs[i] == NULL) {
			ret = -ENODEV;
			goto free_wqs;
		}
	}
	attr.log_ind_tbl_size = rte_log2_u32(size);
	attr.ind_tbl = wqs;
	dest->table = ibv_create_rwq_ind_table(port->device.ctx, &attr);
	if (dest->table == NULL)
		ret = errno != 0 ? -errno : -ENOMEM;
free_wqs:
	free(wqs);
	return ret;
}

static int
dest_qp_create(struct mdv_port *port, struct mdv_flow_dest *dest)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = port->device.pd,
		.rwq_ind_tbl = dest->table,
		/* The kernel checks the length of the key even without any hashed field:
		 * drivers/infiniband/hw/mlx5/qp.c create_rss_raw_qp_tir. */
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = MDV_RSS_KEY_BYTES,
			.rx_hash_key = dest->key,
			.rx_hash_fields_mask = dest->fields,
		},
	};

	/* The flag is tunneled_offload_en of the TIR: completions tell of inner headers and their
	 * checksums (rdma-core man mlx5dv_create_qp), whatever the hash is of. The kernel refuses
	 * inner fields without it, and the flag where the device has no such tunnel: the same
	 * function. Linux's own TIRs have it, too (en_rx_res.c). */
	struct mlx5dv_qp_init_attr tunnel = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
	};

	dest->qp = port->device.caps.tunnel_offloads != 0
		? mlx5dv_create_qp(port->device.ctx, &attr, &tunnel)
		: ibv_create_qp_ex(port->device.ctx, &attr);
	if (dest->qp == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	return 0;
}

int
mdv_flow_dest_get(
	struct mdv_port *port, const struct mdv_flow_dest_conf *conf, struct mdv_flow_dest **out)
{
	/* Without hashed fields the table has one entry; the kernel refuses larger ones. */
	uint32_t nb_queues = conf->fields != 0 ? conf->nb_queues : 1;
	const unsigned int bucket = dest_bucket(conf, nb_queues);
	struct mdv_flow_dest *dest;
	int ret;

	LIST_FOREACH (dest, &port->flow->dests.buckets[bucket], next) {
		if (dest_equal(dest, conf, nb_queues)) {
			dest->refs++;
			*out = dest;
			return 0;
		}
	}
	dest = calloc(1, sizeof(*dest) + nb_queues * sizeof(dest->queues[0]));
	if (dest == NULL)
		return -ENOMEM;
	dest->refs = 1;
	dest->again = conf->again;
	dest->fields = conf->fields;
	dest->nb_queues = nb_queues;
	memcpy(dest->key, conf->key, sizeof(dest->key));
	memcpy(dest->queues, conf->queues, nb_queues * sizeof(dest->queues[0]));
	ret = dest_table_create(port, dest);
	if (ret != 0)
		goto free_dest;
	ret = dest_qp_create(port, dest);
	if (ret != 0)
		goto destroy_table;
	LIST_INSERT_HEAD(&port->flow->dests.buckets[bucket], dest, next);
	*out = dest;
	return 0;
destroy_table:
	ibv_destroy_rwq_ind_table(dest->table);
free_dest:
	free(dest);
	return ret;
}

/**
 * Make a QP that needs no WQ, so that rules that drop work on a port without Rx queues. The kernel
 * creates a RAW_PACKET QP only with at least one send WR; with receive WRs it makes a TIR, too.
 */
static int
dest_bare_create(struct mdv_port *port, struct mdv_flow_dest *dest)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = port->device.pd,
		.cap = { .max_send_wr = 1,
			.max_send_sge = 1,
			.max_recv_wr = dest->receives,
			.max_recv_sge = dest->receives },
	};

	dest->cq = ibv_create_cq(port->device.ctx, 1, NULL, NULL, 0);
	if (dest->cq == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	attr.send_cq = dest->cq;
	attr.recv_cq = dest->cq;
	dest->qp = ibv_create_qp_ex(port->device.ctx, &attr);
	if (dest->qp == NULL) {
		int ret = errno != 0 ? -errno : -ENOMEM;

		ibv_destroy_cq(dest->cq);
		return ret;
	}
	return 0;
}

int
mdv_flow_dest_get_bare(struct mdv_port *port, bool receives, struct mdv_flow_dest **out)
{
	struct mdv_flow_dest *dest;
	int ret;

	LIST_FOREACH (dest, &port->flow->dests.bare, next) {
		if (dest->receives == receives) {
			dest->refs++;
			*out = dest;
			return 0;
		}
	}
	dest = calloc(1, sizeof(*dest));
	if (dest == NULL)
		return -ENOMEM;
	dest->refs = 1;
	dest->receives = receives;
	ret = dest_bare_create(port, dest);
	if (ret != 0) {
		free(dest);
		return ret;
	}
	LIST_INSERT_HEAD(&port->flow->dests.bare, dest, next);
	*out = dest;
	return 0;
}

void
mdv_flow_dest_hold(struct mdv_flow_dest *dest)
{
	dest->refs++;
}

void
mdv_flow_dest_put(struct mdv_flow_dest *dest)
{
	if (dest == NULL || --dest->refs != 0)
		return;
	LIST_REMOVE(dest, next);
	ibv_destroy_qp(dest->qp);
	if (dest->table != NULL)
		ibv_destroy_rwq_ind_table(dest->table);
	if (dest->cq != NULL)
		ibv_destroy_cq(dest->cq);
	free(dest);
}

struct ibv_qp *
mdv_flow_dest_qp(const struct mdv_flow_dest *dest)
{
	return dest->qp;
}
