/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs with a transport: modify and query of their states. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "abi/core/caps.h"
#include "abi/qp/qp_roce.h"
#include "abi/qp/qp_transition.h"
#include "base/log.h"
#include "hw/roce/group.h"

#define NB_STATES (IBV_QPS_ERR + 1)
/** Q_Keys of the system's own services (IBTA 10.2.5). */
#define PRIVILEGED_QKEY 0x80000000u
/** Of Linux' routes, unless told otherwise (net/ip.h IPDEFTTL, IPV6_DEFAULT_HOPLIMIT). */
#define ROUTE_HOPS 64

/** The QP as verbs have it: an error in between changes the state. */
static uint8_t
current_state(const struct shca_qp_object *qp)
{
	switch (shca_roce_qp_state(qp->roce)) {
	case SHCA_ROCE_ERROR:
		return IBV_QPS_ERR;
	case SHCA_ROCE_SQE:
		return IBV_QPS_SQE;
	default:
		return qp->state;
	}
}

/** ib_modify_qp_is_ok(): a state that the program claims is one that it may not know
 * (IBTA 11.2.5.2). */
static bool
may_claim(uint32_t state)
{
	return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD ||
		state == IBV_QPS_SQE;
}

static int
check_mask(const struct shca_qp_object *qp, const struct ib_uverbs_modify_qp *request,
	uint32_t from, uint32_t to)
{
	const uint32_t attrs = request->attr_mask & ~(uint32_t)IBV_QP_STATE;
	const struct shca_qp_transition transition = shca_qp_transition_find(qp->type, from, to);

	if (!transition.is_allowed || ((attrs & IBV_QP_CUR_STATE) && !may_claim(from)) ||
		(attrs & transition.required) != transition.required ||
		(attrs & ~(transition.required | transition.optional)) != 0) {
		SHCA_WARN("QP 0x%x: from state %u to %u with attribute mask 0x%x: wanted 0x%x, "
			  "allowed besides 0x%x",
			shca_roce_qp_number(qp->roce), from, to, request->attr_mask,
			transition.required, transition.optional);
		return -EINVAL;
	}
	return 0;
}

/** A claim chooses the command (Linux hw/mlx5/qp.c __mlx5_ib_modify_qp(), optab), and firmware
 * refuses one for another state than the queue pair's (BAD_QP_STATE_ERR, -EINVAL by mlx5_core's
 * cmd.c). */
static int
check_claim(const struct shca_qp_object *qp, uint32_t from)
{
	const uint8_t state = current_state(qp);

	if (from == state)
		return 0;
	SHCA_WARN("QP 0x%x: claimed to be in state %u, but is in %u", shca_roce_qp_number(qp->roce),
		from, state);
	return -EINVAL;
}

/** Linux rdma_is_port_valid(). */
static bool
is_port(const struct shca_file *file, uint8_t port)
{
	return port != 0 && port <= shca_conf_nb_ports(shca_device_conf(file->dev));
}

/** As modify_qp() of core/uverbs_cmd.c: the path is by the queue pair's port. No step but the one
 * to RTR takes a path. */
static int
check_ports(const struct shca_qp_object *qp, const struct ib_uverbs_modify_qp *request)
{
	const struct shca_file *file = qp->object.file;
	const uint32_t attrs = request->attr_mask;
	const uint8_t port = request->dest.port_num;

	if ((attrs & IBV_QP_ALT_PATH) &&
		(!is_port(file, request->alt_port_num) ||
			request->alt_port_num != request->alt_dest.port_num))
		return -EINVAL;
	if ((attrs & IBV_QP_AV) == 0 || (is_port(file, port) && port == qp->port))
		return 0;
	SHCA_WARN("QP 0x%x: a path by port %u, the queue pair's is %u",
		shca_roce_qp_number(qp->roce), port, qp->port);
	return -EINVAL;
}

/** As modify_qp() of core/uverbs_cmd.c (Linux 6.5 and its stable releases); the system parameter
 * that lets everybody have them is off. */
static int
check_qkey(const struct ib_uverbs_modify_qp *request)
{
	return (request->attr_mask & IBV_QP_QKEY) == 0 || (request->qkey & PRIVILEGED_QKEY) == 0 ||
			shca_caps_has(CAP_NET_RAW)
		? 0
		: -EPERM;
}

/** enum ib_rate: 2.5 Gb/s has the least number, and the greatest is 600 Gb/s, or 800 Gb/s since
 * Linux 6.7 (hw/mlx5/qp.c ib_rate_to_mlx5()). */
static bool
is_rate(const struct shca_file *file, uint8_t rate)
{
	const uint8_t last = shca_device_conf(file->dev)->kernel_abi < SHCA_KERNEL_6_12 ? 22 : 23;

	return rate == IBV_RATE_MAX || (rate >= IBV_RATE_2_5_GBPS && rate <= last);
}

/** Check values as modify_qp() of core/uverbs_cmd.c and mlx5_ib_modify_qp() do. */
static int
check_values(const struct shca_file *file, const struct ib_uverbs_modify_qp *request)
{
	const uint32_t attrs = request->attr_mask;

	if ((attrs & IBV_QP_PORT) && !is_port(file, request->port_num))
		return -EINVAL;
	if ((attrs & IBV_QP_PKEY_INDEX) && request->pkey_index != 0)
		return -EINVAL;
	if ((attrs & IBV_QP_PATH_MTU) &&
		(request->path_mtu < IBV_MTU_256 || request->path_mtu > IBV_MTU_4096))
		return -EINVAL;
	if ((attrs & IBV_QP_AV) && !is_rate(file, request->dest.static_rate))
		return -EINVAL;
	if ((attrs & IBV_QP_MAX_QP_RD_ATOMIC) && request->max_rd_atomic > SHCA_MAX_RD_ATOMIC)
		return -EINVAL;
	if ((attrs & IBV_QP_MAX_DEST_RD_ATOMIC) && request->max_dest_rd_atomic > SHCA_MAX_RD_ATOMIC)
		return -EINVAL;
	/* _ib_modify_qp(); what is MIGRATED has one path, as is said of all others here. */
	if ((attrs & IBV_QP_ALT_PATH) ||
		((attrs & IBV_QP_PATH_MIG_STATE) && request->path_mig_state != IBV_MIG_MIGRATED)) {
		SHCA_WARN("a second path of a QP: RoCE has none (no automatic path migration)");
		return -EINVAL;
	}
	return 0;
}

/** The kernel hashes a port of both QPs where the program gives no flow label
 * (rdma_get_udp_sport, rdma_calc_flow_label; Linux 5.7). */
static uint16_t
udp_source(uint32_t flow_label, uint32_t qpn, uint32_t dest_qpn)
{
	uint64_t mixed = (uint64_t)qpn * dest_qpn;

	if (flow_label == 0) {
		mixed ^= mixed >> 20;
		mixed ^= mixed >> 40;
		flow_label = (uint32_t)mixed & 0xfffff;
	}
	return (uint16_t)(0xc000 | ((flow_label & 0x3fff) ^ (flow_label >> 14 & 0x3f)));
}

/** @return whether Linux asks its routes for the way, whose hop limit then replaces the program's
 * (Linux core/verbs.c ib_resolve_eth_dmac(), ib_resolve_unicast_gid_dmac()). */
static bool
is_routed(const struct shca_roce_path *path)
{
	const bool is_link_local = path->dgid[0] == 0xfe && (path->dgid[1] & 0xc0) == 0x80;

	return !shca_group_is(path->dgid) && (path->is_v2 || !is_link_local);
}

static int
take_path(const struct shca_qp_object *qp, const struct ib_uverbs_modify_qp *request,
	struct shca_roce_path *path)
{
	struct shca_device *dev = qp->object.file->dev;
	const struct ib_uverbs_qp_dest *dest = &request->dest;
	struct shca_gid_route route = {
		.flow_label = dest->flow_label,
		.sgid_index = dest->sgid_index,
		.hop_limit = dest->hop_limit,
		.traffic_class = dest->traffic_class,
		.udp_source = udp_source(
			dest->flow_label, shca_roce_qp_number(qp->roce), request->dest_qp_num),
	};

	if (!dest->is_global) {
		SHCA_WARN("QP 0x%x: a path without a GID: RoCE has no LIDs",
			shca_roce_qp_number(qp->roce));
		return -EINVAL;
	}
	memcpy(route.dgid, dest->dgid, sizeof(route.dgid));
	if (dest->sgid_index >= shca_gid_nb(dev))
		return -EINVAL;
	if (!shca_gid_path(dev, &route, path))
		return -ENODATA; /* rdma_get_gid_attr() */
	if (is_routed(path))
		path->hop_limit = ROUTE_HOPS;
	return shca_gid_resolve(dev, dest->dgid, path->dmac);
}

/** The device has resources for a power of two of reads (Linux hw/mlx5/qp.c __mlx5_ib_modify_qp(),
 * log_sra_max and log_rra_max). */
static uint32_t
depth_of(uint8_t asked)
{
	return asked > 1 ? 1u << (32 - __builtin_clz(asked - 1u)) : asked;
}

static void
take_values(const struct ib_uverbs_modify_qp *request, struct shca_roce_qp_conf *conf)
{
	const uint32_t attrs = request->attr_mask;

	if (attrs & IBV_QP_QKEY)
		conf->qkey = request->qkey;
	if (attrs & IBV_QP_ACCESS_FLAGS)
		conf->access = request->qp_access_flags;
	if (attrs & IBV_QP_PATH_MTU)
		conf->mtu = SHCA_MTU_BYTES(request->path_mtu);
	if (attrs & IBV_QP_DEST_QPN)
		conf->dest_qpn = request->dest_qp_num & 0xffffff;
	if (attrs & IBV_QP_RQ_PSN)
		conf->rq_psn = request->rq_psn & 0xffffff;
	if (attrs & IBV_QP_SQ_PSN)
		conf->sq_psn = request->sq_psn & 0xffffff;
	if (attrs & IBV_QP_MAX_QP_RD_ATOMIC)
		conf->max_rd_atomic = depth_of(request->max_rd_atomic);
	if (attrs & IBV_QP_MAX_DEST_RD_ATOMIC)
		conf->max_dest_rd_atomic = depth_of(request->max_dest_rd_atomic);
	if (attrs & IBV_QP_TIMEOUT)
		conf->timeout = request->timeout & 31;
	if (attrs & IBV_QP_RETRY_CNT)
		conf->retries = request->retry_cnt & 7;
	if (attrs & IBV_QP_RNR_RETRY)
		conf->rnr_retries = request->rnr_retry & 7;
	if (attrs & IBV_QP_MIN_RNR_TIMER)
		conf->min_rnr_timer = request->min_rnr_timer & 31;
}

/** With attributes that are its type's. */
static int
modify(struct shca_qp_object *qp, const struct ib_uverbs_modify_qp *request)
{
	static const enum shca_roce_state states[NB_STATES] = {
		[IBV_QPS_INIT] = SHCA_ROCE_INIT,
		[IBV_QPS_RTR] = SHCA_ROCE_RTR,
		[IBV_QPS_RTS] = SHCA_ROCE_RTS,
		[IBV_QPS_SQE] = SHCA_ROCE_SQE,
		[IBV_QPS_ERR] = SHCA_ROCE_ERROR,
	};
	const uint8_t from =
		request->attr_mask & IBV_QP_CUR_STATE ? request->cur_qp_state : current_state(qp);
	const uint8_t to = request->attr_mask & IBV_QP_STATE ? request->qp_state : from;
	struct shca_roce_qp_conf conf = qp->roce_conf;
	int ret = check_mask(qp, request, from, to);

	if (ret == 0)
		ret = check_claim(qp, from);
	if (ret == 0)
		ret = check_values(qp->object.file, request);
	if (ret == 0 && (request->attr_mask & IBV_QP_AV))
		ret = take_path(qp, request, &conf.path);
	if (ret != 0)
		return ret;
	if (to == IBV_QPS_RESET)
		conf = (struct shca_roce_qp_conf){ 0 };
	take_values(request, &conf);
	/* A datagram has the port's maximum. */
	if (qp->type == IBV_QPT_UD)
		conf.mtu = 4096;
	if (request->attr_mask & IBV_QP_PORT)
		qp->port = request->port_num;
	if (request->attr_mask & IBV_QP_AV) {
		qp->dest = request->dest;
		qp->dest.hop_limit = conf.path.hop_limit;
	}
	qp->roce_conf = conf;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		shca_device_catch_up(qp->object.file->dev);
	shca_roce_qp_modify(qp->roce, states[to], &conf);
	qp->state = to;
	return 0;
}

int
shca_qp_modify_roce(struct shca_qp_object *qp, const struct ib_uverbs_modify_qp *request)
{
	struct ib_uverbs_modify_qp taken = *request;
	int ret = check_ports(qp, request);

	if (ret == 0)
		ret = check_qkey(request);
	if (ret != 0)
		return ret;
	taken.attr_mask = shca_qp_transition_mask(qp->type, taken.attr_mask);
	return modify(qp, &taken);
}

/** What set_qpc_atomic_flags() and query_qp_attr() of hw/mlx5/qp.c leave of the program's flags:
 * those of the other side, of which reads and atomics take resources. */
static uint32_t
access_of(const struct shca_roce_qp_conf *conf)
{
	uint32_t has = IBV_ACCESS_REMOTE_WRITE;

	if (conf->max_dest_rd_atomic != 0)
		has |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	return conf->access & has;
}

void
shca_qp_query_roce(const struct shca_qp_object *qp, struct ib_uverbs_query_qp_resp *response)
{
	const struct shca_roce_qp_conf *conf = &qp->roce_conf;

	response->qp_state = current_state(qp);
	response->cur_qp_state = response->qp_state;
	response->qkey = conf->qkey;
	response->dest_qp_num = conf->dest_qpn;
	response->qp_access_flags = access_of(conf);
	response->path_mtu = conf->mtu != 0 ? (uint8_t)(__builtin_ctz(conf->mtu) - 7) : 0;
	/* query_qp_attr() of hw/mlx5/qp.c: logarithms, so that none is one. */
	response->max_rd_atomic = conf->max_rd_atomic != 0 ? (uint8_t)conf->max_rd_atomic : 1;
	response->max_dest_rd_atomic =
		conf->max_dest_rd_atomic != 0 ? (uint8_t)conf->max_dest_rd_atomic : 1;
	response->min_rnr_timer = conf->min_rnr_timer;
	response->timeout = conf->timeout;
	response->retry_cnt = conf->retries;
	response->rnr_retry = conf->rnr_retries;
	response->dest = qp->dest;
	response->path_mig_state = IBV_MIG_MIGRATED;
	shca_roce_qp_psns(qp->roce, &response->sq_psn, &response->rq_psn);
}
