/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash classes as rows, expansion over a pattern, and destinations shared by reference count. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "queue/rxq.h"
#include "rss.h"
#include "state/port.h"

/* Same as DPDK's drivers do for counts that are no power of two: enough entries to spread evenly.
 */
#define MDV_RSS_EVEN_ENTRIES 512u

struct mdv_rss {
	LIST_ENTRY(mdv_rss) next;
	uint32_t refs;
	bool drop;
	uint64_t fields;
	uint8_t key[MDV_RSS_KEY_BYTES];
	struct ibv_cq *cq; /* of a drop QP only */
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	uint32_t nb_queues;
	uint16_t queues[];
};

#define IPV4_TYPES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER)
#define IPV6_TYPES                                                                                 \
	(RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |               \
		RTE_ETH_RSS_IPV6_EX)
#define IPV4_FIELDS (IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4)
#define IPV6_FIELDS (IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6)
#define UDP_FIELDS  (IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP)
#define TCP_FIELDS  (IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP)

/* clang-format off */
const struct mdv_rss_class mdv_rss_classes[MDV_RSS_NB_CLASSES] = {
	[MDV_RSS_IPV4_UDP] = { "ipv4-udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		IPV4_FIELDS | UDP_FIELDS, MDV_LAYER_IPV4 | MDV_LAYER_UDP },
	[MDV_RSS_IPV4_TCP] = { "ipv4-tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP,
		IPV4_FIELDS | TCP_FIELDS, MDV_LAYER_IPV4 | MDV_LAYER_TCP },
	[MDV_RSS_IPV6_UDP] = { "ipv6-udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX,
		IPV6_FIELDS | UDP_FIELDS, MDV_LAYER_IPV6 | MDV_LAYER_UDP },
	[MDV_RSS_IPV6_TCP] = { "ipv6-tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX,
		IPV6_FIELDS | TCP_FIELDS, MDV_LAYER_IPV6 | MDV_LAYER_TCP },
	[MDV_RSS_IPV4] = { "ipv4", IPV4_TYPES, IPV4_FIELDS, MDV_LAYER_IPV4 },
	[MDV_RSS_IPV6] = { "ipv6", IPV6_TYPES, IPV6_FIELDS, MDV_LAYER_IPV6 },
	[MDV_RSS_NONE] = { "none", 0, 0, 0 },
};

/* The first whose layers are all there: MPLS stands in UDP or GRE. */
static const struct mdv_rss_tunnel rss_tunnels[] = {
	{ "MPLS over UDP", MDV_LAYER_MPLS_TUNNEL | MDV_LAYER_UDP,
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP },
	{ "MPLS over GRE", MDV_LAYER_MPLS_TUNNEL | MDV_LAYER_GRE,
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE },
	{ "VXLAN", MDV_LAYER_VXLAN, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN },
	{ "NVGRE", MDV_LAYER_NVGRE, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE },
	{ "GRE", MDV_LAYER_GRE, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE },
};
/* clang-format on */

uint64_t
mdv_rss_types(const struct mdv_caps *caps)
{
	uint64_t types = 0;

	for (unsigned int i = 0; i < MDV_RSS_NB_CLASSES; i++) {
		const struct mdv_rss_class *class = &mdv_rss_classes[i];

		if ((class->fields & caps->rx_hash_fields) == class->fields)
			types |= class->types;
	}
	return types;
}

uint64_t
mdv_rss_fields(enum mdv_rss_class_id id, bool inner)
{
	const uint64_t fields = mdv_rss_classes[id].fields;

	return inner && fields != 0 ? fields | IBV_RX_HASH_INNER : fields;
}

const struct mdv_rss_tunnel *
mdv_rss_tunnel_of(uint32_t layers)
{
	for (unsigned int i = 0; i < RTE_DIM(rss_tunnels); i++)
		if ((rss_tunnels[i].layers & ~layers) == 0)
			return &rss_tunnels[i];
	return NULL;
}

uint32_t
mdv_rss_tunnels(const struct mdv_caps *caps)
{
	return (caps->rx_hash_fields & IBV_RX_HASH_INNER) != 0 ? caps->tunnel_offloads : 0;
}

static enum mdv_rss_class_id
rss_best_class(uint32_t layers, uint64_t types)
{
	unsigned int i;

	for (i = 0; i < MDV_RSS_NONE; i++)
		if ((mdv_rss_classes[i].types & types) != 0 &&
			(mdv_rss_classes[i].layers & ~layers) == 0)
			break;
	return i;
}

/* Two protocols of one layer never stand in one packet. */
static bool
rss_layers_possible(uint32_t layers)
{
	return (layers & MDV_LAYER_L3) != MDV_LAYER_L3 && (layers & MDV_LAYER_L4) != MDV_LAYER_L4;
}

unsigned int
mdv_rss_expand(uint32_t layers, uint64_t types, struct mdv_rss_expansion out[MDV_RSS_NB_CLASSES])
{
	unsigned int nb = 0;

	for (unsigned int i = 0; types != 0 && i < MDV_RSS_NONE; i++) {
		const struct mdv_rss_class *class = &mdv_rss_classes[i];
		uint32_t all = layers | class->layers;

		/* all == layers: the pattern is in the class as it stands; another best class: that
		 * class makes the same rule. */
		if ((class->types & types) == 0 || all == layers || !rss_layers_possible(all) ||
			rss_best_class(all, types) != i)
			continue;
		out[nb].id = i;
		out[nb++].add_layers = all & ~layers;
	}
	out[nb].id = rss_best_class(layers, types);
	out[nb++].add_layers = 0;
	return nb;
}

uint32_t
mdv_rss_table_size(uint32_t nb_queues, uint32_t max)
{
	if (nb_queues == 0 || nb_queues > max)
		return 0;
	if (rte_is_power_of_2(nb_queues))
		return nb_queues;
	max = rte_align32prevpow2(max);
	if (nb_queues > max)
		return 0;
	max = RTE_MIN(max, MDV_RSS_EVEN_ENTRIES);
	return RTE_MAX(max, rte_align32pow2(nb_queues));
}

static bool
rss_equal(const struct mdv_rss *rss, const struct mdv_rss_conf *conf, uint32_t nb_queues)
{
	return !rss->drop && rss->fields == conf->fields && rss->nb_queues == nb_queues &&
		memcmp(rss->queues, conf->queues, nb_queues * sizeof(rss->queues[0])) == 0 &&
		(conf->fields == 0 || memcmp(rss->key, conf->key, sizeof(rss->key)) == 0);
}

static int
rss_table_create(struct mdv_port *port, struct mdv_rss *rss)
{
	uint32_t size =
		mdv_rss_table_size(rss->nb_queues, port->device.caps.max_rwq_ind_table_size);
	struct ibv_rwq_ind_table_init_attr attr = { 0 };
	struct ibv_wq **wqs;
	int rc = 0;

	if (size == 0)
		return -EINVAL;
	wqs = calloc(size, sizeof(*wqs));
	if (wqs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++) {
		wqs[i] = mdv_rxq_wq(port, rss->queues[i % rss->nb_queues]);
		if (wqs[i] == NULL) {
			rc = -ENODEV;
			goto free_wqs;
		}
	}
	attr.log_ind_tbl_size = rte_log2_u32(size);
	attr.ind_tbl = wqs;
	rss->table = ibv_create_rwq_ind_table(port->device.ctx, &attr);
	if (rss->table == NULL)
		rc = errno != 0 ? -errno : -ENOMEM;
free_wqs:
	free(wqs);
	return rc;
}

static int
rss_qp_create(struct mdv_port *port, struct mdv_rss *rss)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = port->device.pd,
		.rwq_ind_tbl = rss->table,
		/* The kernel checks the key's length even where nothing is hashed:
		 * drivers/infiniband/hw/mlx5/qp.c create_rss_raw_qp_tir. */
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = MDV_RSS_KEY_BYTES,
			.rx_hash_key = rss->key,
			.rx_hash_fields_mask = rss->fields,
		},
	};

	/* Without the flag the kernel refuses to hash by inner headers: the same function. */
	struct mlx5dv_qp_init_attr tunnel = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
	};

	rss->qp = (rss->fields & IBV_RX_HASH_INNER) != 0
		? mlx5dv_create_qp(port->device.ctx, &attr, &tunnel)
		: ibv_create_qp_ex(port->device.ctx, &attr);
	if (rss->qp == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	return 0;
}

int
mdv_rss_get(struct mdv_port *port, const struct mdv_rss_conf *conf, struct mdv_rss **out)
{
	/* Unhashed is one entry: a larger table without fields is refused by the kernel. */
	uint32_t nb_queues = conf->fields != 0 ? conf->nb_queues : 1;
	struct mdv_rss *rss;
	int rc;

	LIST_FOREACH (rss, &port->flow.rss, next) {
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
	rc = rss_table_create(port, rss);
	if (rc != 0)
		goto free_rss;
	rc = rss_qp_create(port, rss);
	if (rc != 0)
		goto destroy_table;
	LIST_INSERT_HEAD(&port->flow.rss, rss, next);
	*out = rss;
	return 0;
destroy_table:
	ibv_destroy_rwq_ind_table(rss->table);
free_rss:
	free(rss);
	return rc;
}

/*
 * A QP without a receive side: packets never reach it, and it needs no WQ, so rules that drop work
 * on a port without Rx queues. One send WR is the least that makes the kernel create a RAW_PACKET
 * QP at all.
 */
static int
rss_drop_create(struct mdv_port *port, struct mdv_rss *rss)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = port->device.pd,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	rss->cq = ibv_create_cq(port->device.ctx, 1, NULL, NULL, 0);
	if (rss->cq == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	attr.send_cq = rss->cq;
	attr.recv_cq = rss->cq;
	rss->qp = ibv_create_qp_ex(port->device.ctx, &attr);
	if (rss->qp == NULL) {
		int rc = errno != 0 ? -errno : -ENOMEM;

		ibv_destroy_cq(rss->cq);
		return rc;
	}
	return 0;
}

int
mdv_rss_get_drop(struct mdv_port *port, struct mdv_rss **out)
{
	struct mdv_rss *rss;
	int rc;

	LIST_FOREACH (rss, &port->flow.rss, next) {
		if (rss->drop) {
			rss->refs++;
			*out = rss;
			return 0;
		}
	}
	rss = calloc(1, sizeof(*rss));
	if (rss == NULL)
		return -ENOMEM;
	rss->refs = 1;
	rss->drop = true;
	rc = rss_drop_create(port, rss);
	if (rc != 0) {
		free(rss);
		return rc;
	}
	LIST_INSERT_HEAD(&port->flow.rss, rss, next);
	*out = rss;
	return 0;
}

void
mdv_rss_hold(struct mdv_rss *rss)
{
	rss->refs++;
}

void
mdv_rss_put(struct mdv_rss *rss)
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
mdv_rss_qp(const struct mdv_rss *rss)
{
	return rss->qp;
}
