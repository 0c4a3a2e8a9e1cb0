/* SPDX-License-Identifier: BSD-3-Clause */
/* What applications ask for: core/cma.c rdma_connect() and those beside it. */
#include "ucma/connect.h"

#include <endian.h>
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "base/clock.h"
#include "cm/ip.h"
#include "ucma/bind.h"

enum {
	/* core/cma.c CMA_CM_RESPONSE_TIMEOUT, CMA_MAX_CM_RETRIES, CMA_IBOE_PACKET_LIFETIME */
	RESPONSE_TIMEOUT = 20,
	CM_RETRIES = 15,
	PACKET_LIFE_TIME = 16,
	RETRIES_MAX = 7, /* of 3 bits */
	PKEY = 0xffff,
	PSN_MASK = 0xffffff,
	FLOW_MASK = 0xfffff,
	HOPS = 64,
};

/** By enum ib_uverbs_qp_type, who asks and who is asked: volume 1, 12.6.5, and annex A14 for XRC.
 * Linux has no REQ for others (core/cm.c cm_validate_req_param(), cm_req_get_qp_type()). */
static const struct {
	uint8_t asks, is_asked, transport, extended;
} transports[] = {
	{ IB_UVERBS_QPT_RC, IB_UVERBS_QPT_RC, SHCA_MAD_RC, 0 },
	{ IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UC, SHCA_MAD_UC, 0 },
	{ IB_UVERBS_QPT_XRC_INI, IB_UVERBS_QPT_XRC_TGT, SHCA_MAD_EXTENDED, 1 },
};
#define NB_TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

uint8_t
shca_connect_type_asked(const struct shca_mad *req)
{
	for (size_t i = 0; i < NB_TRANSPORTS; i++)
		if (transports[i].transport == req->transport &&
			(transports[i].transport != SHCA_MAD_EXTENDED ||
				transports[i].extended == req->extended_transport))
			return transports[i].is_asked;
	return 0;
}

static uint8_t
at_most(uint8_t value, uint8_t limit)
{
	return value < limit ? value : limit;
}

/** cma_get_roce_udp_flow_label(): that of the address, or of the ports. */
static uint32_t
flow_label(const struct shca_id *id)
{
	const uint32_t wanted = id->src.any.sa_family == AF_INET6
		? be32toh(id->src.in6.sin6_flowinfo) & FLOW_MASK
		: 0;
	const uint32_t of_ports =
		shca_address_port(&id->src) * UINT32_C(31) + shca_address_port(&id->dst);

	return wanted != 0 ? wanted : of_ports & FLOW_MASK;
}

/** Of any speed: the static rate means nothing on Ethernet, and is IB_RATE_PORT_CURRENT (Linux 6.5
 * and its stable releases, cma_resolve_iboe_route()). */
void
shca_connect_resolve_path(struct shca_id *id)
{
	const struct shca_ucma *ucma = id->file->ucma;

	/* Its netdev's MTU may have changed since the identifier was bound. */
	ucma->conf.port(ucma->conf.arg, &id->gid, &id->port);
	id->path = (struct shca_id_path){
		.is_known = true,
		.flow_label = flow_label(id),
		.mtu = id->port.mtu,
		.life_time = PACKET_LIFE_TIME,
		.traffic_class = id->tos,
	};
	/* The timeout is twice the life time (and the delay of the ACK). */
	if (id->has_ack_timeout && id->ack_timeout != 0)
		id->path.life_time = (uint8_t)(id->ack_timeout - 1);
}

uint8_t
shca_connect_ack_timeout(const struct shca_id *id, uint8_t delay)
{
	const uint8_t twice = id->path.life_time + 1;
	const uint8_t sum =
		twice >= delay ? twice + (delay >= twice - 1) : delay + (twice >= delay - 1);

	return at_most(sum, 31);
}

void
shca_connect_way(const struct shca_id *id, const uint8_t remote[SHCA_UCMA_GID_BYTES],
	struct ib_uverbs_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	memcpy(ah->grh.dgid, remote, sizeof(ah->grh.dgid));
	ah->grh.sgid_index = id->gid.index;
	ah->grh.hop_limit = HOPS;
	ah->grh.flow_label = id->path.flow_label;
	ah->grh.traffic_class = id->path.traffic_class;
	ah->is_global = 1;
	ah->port_num = id->gid.port;
}

/** Private data behind the header of IP applications. @return -EINVAL: too much. */
static int
put_private(const struct shca_id *id, const struct rdma_ucm_conn_param *param, struct shca_mad *mad)
{
	const size_t room = shca_mad_private_bytes(mad->kind);
	struct shca_ip ip = { .version = id->src.any.sa_family == AF_INET ? 4 : 6 };
	size_t at = 0;

	if (id->src.any.sa_family != AF_IB && !id->is_passive) {
		ip.src_port = shca_address_port(&id->src);
		shca_address_to_gid(&id->src, ip.src);
		shca_address_to_gid(&id->dst, ip.dst);
		if (ip.version == 4) {
			memset(ip.src, 0, 12);
			memset(ip.dst, 0, 12);
		}
		shca_ip_write(&ip, mad->private_data);
		at = SHCA_IP_BYTES;
	}
	if (at + param->private_data_len > room)
		return -EINVAL;
	memcpy(mad->private_data + at, param->private_data, param->private_data_len);
	return 0;
}

/** @return -EINVAL: no REQ is for queue pairs of the identifier's type. */
static int
fill_request(struct shca_id *id, const struct rdma_ucm_conn_param *param, struct shca_mad *mad)
{
	size_t type = 0;

	while (type < NB_TRANSPORTS && transports[type].asks != id->qp_type)
		type++;
	if (type == NB_TRANSPORTS)
		return -EINVAL;
	mad->ca_guid = id->port.node_guid;
	mad->qpn = id->qpn = param->qp_num & PSN_MASK;
	mad->psn = id->qp.rq_psn;
	mad->responder_resources = param->responder_resources;
	mad->initiator_depth = param->initiator_depth;
	mad->local_timeout = RESPONSE_TIMEOUT;
	mad->transport = transports[type].transport;
	mad->extended_transport = transports[type].extended;
	mad->flow_control = param->flow_control != 0;
	mad->retry_count = at_most(param->retry_count, RETRIES_MAX);
	mad->rnr_retry_count = at_most(param->rnr_retry_count, RETRIES_MAX);
	mad->srq = param->srq != 0;
	mad->mtu = id->path.mtu;
	/* A16.5.1: LIDs mean nothing on Ethernet, and are the permissive one. */
	mad->local_lid = mad->remote_lid = 0xffff;
	memcpy(mad->local_gid, id->gid.gid, sizeof(mad->local_gid));
	memcpy(mad->remote_gid, id->remote_gid, sizeof(mad->remote_gid));
	mad->flow_label = id->path.flow_label;
	mad->rate = id->path.rate;
	mad->traffic_class = id->path.traffic_class;
	mad->hop_limit = HOPS;
	mad->ack_timeout = shca_connect_ack_timeout(id, id->port.ack_delay);
	return 0;
}

int
shca_connect(struct shca_id *id, const struct rdma_ucm_conn_param *param)
{
	const bool is_ud = shca_id_is_ud(id);
	struct shca_mad mad = { .kind = is_ud ? SHCA_MAD_SIDR_REQ : SHCA_MAD_REQ };
	struct shca_cm_path path = { .port = shca_id_path_port(&id->gid) };
	int ret;

	if (id->state != SHCA_ID_ROUTE_RESOLVED)
		return -EINVAL;
	ret = put_private(id, param, &mad);
	if (ret != 0)
		return ret;
	mad.service_id = shca_bind_service(id, &id->dst);
	mad.pkey = PKEY;
	mad.remote_timeout = RESPONSE_TIMEOUT;
	mad.max_cm_retries = CM_RETRIES;
	id->qp = (struct shca_id_qp){
		.rq_psn = shca_id_random(id->file->ucma) & PSN_MASK,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.retry_count = at_most(param->retry_count, RETRIES_MAX),
		.rnr_retry_count = at_most(param->rnr_retry_count, RETRIES_MAX),
		.ack_timeout = shca_connect_ack_timeout(id, id->port.ack_delay),
		.mtu = id->path.mtu,
	};
	ret = is_ud ? 0 : fill_request(id, param, &mad);
	if (ret != 0)
		return ret;
	memcpy(path.local, id->gid.gid, sizeof(path.local));
	memcpy(path.remote, id->remote_gid, sizeof(path.remote));
	id->state = SHCA_ID_CONNECT;
	ret = shca_cm_request(id->file->ucma->cm, shca_clock_ns(), &path, &mad, id, &id->conn);
	if (ret != 0)
		id->state = SHCA_ID_ROUTE_RESOLVED;
	return ret;
}

static int
accept_ud(struct shca_id *id, const struct rdma_ucm_conn_param *param, struct shca_mad *mad)
{
	if (id->qkey == 0)
		id->qkey = param->qkey != 0 && id->src.any.sa_family == AF_IB ? param->qkey
									      : SHCA_ADDRESS_QKEY;
	mad->kind = SHCA_MAD_SIDR_REP;
	mad->reason = SHCA_MAD_SIDR_SUCCESS;
	mad->qpn = id->qpn = param->qp_num & PSN_MASK;
	mad->qkey = id->qkey;
	return put_private(id, param, mad);
}

static int
accept_as(struct shca_id *id, const struct rdma_ucm_conn_param *param)
{
	const struct rdma_ucm_conn_param none = { .qp_num = 0 };
	struct shca_mad mad = { .kind = SHCA_MAD_REP };
	int ret;

	if (param == NULL && !shca_id_is_ud(id))
		return shca_cm_establish(id->conn, NULL);
	if (param == NULL)
		param = &none;
	ret = shca_id_is_ud(id) ? accept_ud(id, param, &mad) : put_private(id, param, &mad);
	if (ret != 0)
		return ret;
	if (shca_id_is_ud(id))
		return shca_cm_reply(id->conn, shca_clock_ns(), &mad);
	mad.qpn = id->qpn = param->qp_num & PSN_MASK;
	mad.psn = id->qp.rq_psn;
	mad.responder_resources = param->responder_resources;
	mad.initiator_depth = param->initiator_depth;
	mad.target_ack_delay = id->port.ack_delay;
	mad.flow_control = param->flow_control != 0;
	mad.rnr_retry_count = at_most(param->rnr_retry_count, RETRIES_MAX);
	mad.srq = param->srq != 0;
	mad.ca_guid = id->port.node_guid;
	ret = shca_cm_reply(id->conn, shca_clock_ns(), &mad);
	if (ret != 0)
		return ret;
	id->qp.responder_resources = param->responder_resources;
	id->qp.initiator_depth = param->initiator_depth;
	return 0;
}

int
shca_connect_reject(struct shca_id *id, const struct rdma_ucm_reject *command)
{
	const bool is_ud = shca_id_is_ud(id);
	struct shca_mad mad = {
		.kind = is_ud ? SHCA_MAD_SIDR_REP : SHCA_MAD_REJ,
		.reason = is_ud ? SHCA_MAD_SIDR_REJECTED : SHCA_MAD_CONSUMER,
	};

	/* ucma_reject(): of others, only the vendor's own */
	if (command->reason != 0 && command->reason != SHCA_MAD_CONSUMER &&
		command->reason != SHCA_MAD_VENDOR)
		return -EINVAL;
	if (id->conn == NULL || command->private_data_len > shca_mad_private_bytes(mad.kind))
		return -EINVAL;
	if (!is_ud && command->reason != 0)
		mad.reason = command->reason;
	memcpy(mad.private_data, command->private_data, command->private_data_len);
	return is_ud ? shca_cm_reply(id->conn, shca_clock_ns(), &mad)
		     : shca_cm_reject(id->conn, &mad);
}

int
shca_connect_accept(struct shca_id *id, const struct rdma_ucm_conn_param *param)
{
	const struct rdma_ucm_reject refusal = { .reason = 0 };
	int ret;

	/* Nor is there anything to accept where the CM is in another state. */
	if (id->conn == NULL)
		return -EINVAL;
	ret = accept_as(id, param);
	/* The other side does not wait for what has failed. */
	if (ret != 0)
		(void)shca_connect_reject(id, &refusal);
	return ret;
}

int
shca_connect_disconnect(struct shca_id *id)
{
	/* Who listens at a device has a state of the CM, which neither DREQ nor DREP leaves; what
	 * ib_send_cm_drep() says is not told. */
	if (id->conn == NULL)
		return id->state == SHCA_ID_LISTEN && id->has_gid ? 0 : -EINVAL;
	/* Either side may begin. */
	if (shca_cm_disconnect(id->conn, shca_clock_ns(), NULL) != 0)
		(void)shca_cm_confirm(id->conn, shca_clock_ns(), NULL);
	return 0;
}

int
shca_connect_listen(struct shca_id *id, unsigned int backlog)
{
	const struct shca_address any = { .any.sa_family = AF_INET };
	int ret = 0;

	if (id->state == SHCA_ID_IDLE)
		ret = shca_bind_address(id, &any);
	if (ret == 0 && id->state != SHCA_ID_BOUND)
		ret = -EINVAL;
	/* cma_bind_listen() */
	if (ret == 0 && id->reuses_address)
		ret = shca_bind_alone(id);
	if (ret != 0)
		return ret;
	id->backlog = backlog;
	id->state = SHCA_ID_LISTEN;
	return 0;
}
