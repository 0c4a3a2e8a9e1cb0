/* SPDX-License-Identifier: BSD-3-Clause */
/* What the CM tells: core/cma.c cma_ib_handler() and cma_ib_req_handler(). */
#include <endian.h>
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "cm/ip.h"
#include "ucma/bind.h"
#include "ucma/connect.h"

/** CMA_CM_MRA_SETTING: an application has 68 seconds to answer, once the other side asks again. */
#define MRA_SETTING 24

/** A request on its way to who listens. */
struct request {
	unsigned int device; /* it has come to */
	uint64_t service_id;
	struct shca_ip ip;
	bool has_ip;
};

static void
read_request(const struct shca_mad *mad, struct request *request)
{
	request->service_id = mad->service_id;
	request->has_ip = shca_ip_is_service(mad->service_id) &&
		shca_ip_read(mad->private_data, &request->ip) == 0;
}

/** Of IP; IPv4's addresses are the last bytes of a GID. */
static sa_family_t
family_of(const struct request *request)
{
	return request->ip.version == 4 ? AF_INET : AF_INET6;
}

/** core/cm.c cm_find_listen(): one for any address listens at each device. */
static bool
serves(const struct shca_id *id, const struct request *request)
{
	return id->state == SHCA_ID_LISTEN && (!id->has_gid || id->gid.device == request->device) &&
		shca_ip_service(shca_bind_space(id), shca_address_port(&id->src)) ==
		request->service_id;
}

/** Of those: cma_match_private_data() and cma_match_net_dev(). */
static bool
listens(const struct shca_id *id, const struct request *request)
{
	const int family = id->src.any.sa_family;
	struct shca_address dst;

	if (family == AF_IB)
		return true;
	if (!request->has_ip)
		return false;
	if (shca_address_is_any(&id->src) && !id->is_afonly)
		return true;
	dst.any.sa_family = family_of(request);
	if (family != dst.any.sa_family)
		return false;
	shca_address_from_gid(&dst, request->ip.dst);
	return shca_address_is_any(&id->src) || shca_address_is_same(&id->src, &dst);
}

static uint8_t
type_of(const struct shca_mad *mad)
{
	return mad->kind == SHCA_MAD_SIDR_REQ ? IB_UVERBS_QPT_UD : shca_connect_type_asked(mad);
}

/** cma_ib_check_req_qp_type() */
static bool
is_of_type(const struct shca_id *listener, const struct shca_mad *mad)
{
	return listener->qp_type == 0 || listener->qp_type == type_of(mad);
}

/** Who listens at the very address comes before who listens at all. @param[out] is_served somebody
 * has the port, maybe for other addresses */
static struct shca_id *
find_listener(struct shca_ucma *ucma, const struct request *request, bool *is_served)
{
	struct shca_id *id, *found = NULL;
	uint32_t number = 0;

	*is_served = false;
	for (; (id = shca_idtable_next(&ucma->ids, &number)) != NULL; number++) {
		if (!serves(id, request))
			continue;
		*is_served = true;
		if (listens(id, request) && (found == NULL || shca_address_is_any(&found->src)))
			found = id;
	}
	return found;
}

static void
take_addresses(struct shca_id *id, const struct shca_id *listener, const struct request *request,
	const struct shca_cm_path *path)
{
	/* Without a header only such a one listens. */
	const bool is_ib = listener->src.any.sa_family == AF_IB;

	id->src = (struct shca_address){ .any.sa_family = is_ib ? AF_IB : family_of(request) };
	id->dst = id->src;
	shca_address_from_gid(&id->src, is_ib ? path->local : request->ip.dst);
	shca_address_from_gid(&id->dst, is_ib ? path->remote : request->ip.src);
	shca_address_set_port(&id->src, listener->space, shca_address_port(&listener->src));
	if (!is_ib)
		shca_address_set_port(&id->dst, listener->space, request->ip.src_port);
}

static void
take_parameters(struct shca_id *id, const struct shca_mad *mad)
{
	id->qp = (struct shca_id_qp){
		.remote_qpn = mad->qpn,
		.rq_psn = shca_id_random(id->file->ucma) & 0xffffff,
		.sq_psn = mad->psn,
		.responder_resources = mad->initiator_depth,
		.initiator_depth = mad->responder_resources,
		.retry_count = mad->retry_count,
		.rnr_retry_count = mad->rnr_retry_count,
		.ack_timeout = mad->ack_timeout,
		.mtu = mad->mtu,
	};
}

/** cm_format_paths_from_req() */
static void
take_path(struct shca_id *id, const struct shca_mad *mad)
{
	id->path = (struct shca_id_path){
		.is_known = true,
		.flow_label = mad->flow_label,
		.mtu = mad->mtu,
		.rate = mad->rate,
		.life_time = mad->ack_timeout - (mad->ack_timeout > 0),
		.traffic_class = mad->traffic_class,
	};
}

static void
put_private(uint8_t *to, uint8_t *length, const struct shca_mad *mad, size_t at)
{
	*length = (uint8_t)(shca_mad_private_bytes(mad->kind) - at);
	memcpy(to, mad->private_data + at, *length);
}

/** cma_set_req_event_data() and cma_set_rep_event_data(): what the other side has is what this
 * side may ask for. */
static void
put_conn(struct rdma_ucm_conn_param *param, const struct shca_mad *mad, size_t at)
{
	put_private(param->private_data, &param->private_data_len, mad, at);
	param->responder_resources = mad->initiator_depth;
	param->initiator_depth = mad->responder_resources;
	param->flow_control = mad->flow_control;
	param->retry_count = mad->retry_count;
	param->rnr_retry_count = mad->rnr_retry_count;
	param->srq = mad->srq;
	param->qp_num = mad->qpn;
}

void *
shca_connect_on_request(
	void *arg, struct shca_cm_conn *conn, const struct shca_mad *mad, uint16_t *reason)
{
	const struct shca_cm_path *path = shca_cm_path(conn);
	struct shca_ucma *ucma = arg;
	struct shca_ucma_event *event;
	struct shca_id *listener, *id;
	struct shca_ucma_gid gid;
	struct request request;
	bool is_served;
	size_t at;

	if (!shca_bind_find_path(ucma, path, &gid))
		return NULL;
	request.device = gid.device;
	read_request(mad, &request);
	listener = find_listener(ucma, &request, &is_served);
	if (!is_served)
		return NULL;
	/* cm_destroy_id(), of what cma_ib_req_handler() does not take */
	*reason = mad->kind == SHCA_MAD_REQ ? SHCA_MAD_CONSUMER : SHCA_MAD_SIDR_REJECTED;
	if (listener == NULL || !is_of_type(listener, mad))
		return NULL;
	/* cm_destroy_id(), -ENOMEM: "Do not reject to allow future retries" */
	if (mad->kind == SHCA_MAD_REQ)
		*reason = 0;
	if (listener->backlog == 0 || shca_id_create(listener->file, &id) != 0)
		return NULL;
	id->space = listener->space;
	id->qp_type = type_of(mad);
	id->has_ack_timeout = listener->has_ack_timeout;
	id->ack_timeout = listener->ack_timeout;
	id->is_passive = true;
	id->state = SHCA_ID_CONNECT;
	shca_bind_gid(id, &gid);
	memcpy(id->remote_gid, path->remote, sizeof(id->remote_gid));
	take_addresses(id, listener, &request, path);
	take_parameters(id, mad);
	/* The way back is the caller's; a SIDR_REQ says nothing of it (cma_ib_new_udp_id()). */
	if (!shca_id_is_ud(id))
		take_path(id, mad);
	event = shca_ucm_event_make(listener, SHCA_UCM_CONNECT_REQUEST, 0);
	if (event == NULL) {
		shca_id_destroy(id);
		return NULL;
	}
	event->request = id;
	event->answer.id = id->number;
	/* cma_user_data_offset() */
	at = listener->src.any.sa_family != AF_IB ? SHCA_IP_BYTES : 0;
	if (shca_id_is_ud(id))
		put_private(event->answer.param.ud.private_data,
			&event->answer.param.ud.private_data_len, mad, at);
	else
		put_conn(&event->answer.param.conn, mad, at);
	listener->backlog--;
	id->conn = conn;
	shca_ucm_event_queue(event);
	if (!shca_id_is_ud(id))
		(void)shca_cm_delay(conn, MRA_SETTING);
	return id;
}

static void
tell(struct shca_id *id, uint32_t what, int status, const struct shca_mad *mad)
{
	struct shca_ucma_event *event;

	/* The application does not know of it yet (ucma_event_handler). */
	if (id->uid == 0)
		return;
	event = shca_ucm_event_make(id, what, status);
	if (event == NULL)
		return;
	if (mad != NULL && mad->kind == SHCA_MAD_REP)
		put_conn(&event->answer.param.conn, mad, 0);
	else if (mad != NULL && mad->kind == SHCA_MAD_REJ)
		put_private(event->answer.param.conn.private_data,
			&event->answer.param.conn.private_data_len, mad, 0);
	else if (mad != NULL && mad->kind == SHCA_MAD_SIDR_REP) {
		put_private(event->answer.param.ud.private_data,
			&event->answer.param.ud.private_data_len, mad, 0);
		event->answer.param.ud.qp_num = mad->qpn;
		event->answer.param.ud.qkey = mad->qkey;
		shca_connect_way(id, id->remote_gid, &event->answer.param.ud.ah_attr);
	}
	shca_ucm_event_queue(event);
}

static void
on_reply(struct shca_id *id, const struct shca_mad *mad)
{
	id->qp.remote_qpn = mad->qpn;
	id->qp.sq_psn = mad->psn;
	id->qp.responder_resources = mad->initiator_depth;
	id->qp.initiator_depth = mad->responder_resources;
	id->qp.rnr_retry_count = mad->rnr_retry_count;
	/* Who answers packets is the other side (cm_rep_handler()). */
	id->qp.ack_timeout = shca_connect_ack_timeout(id, mad->target_ack_delay);
	(void)shca_cm_delay(id->conn, MRA_SETTING);
	tell(id, SHCA_UCM_CONNECT_RESPONSE, 0, mad);
}

/** Its queue pair has one Q_Key: that of the group which it is in already (cma_set_qkey()). */
static void
on_sidr_reply(struct shca_id *id, const struct shca_mad *mad)
{
	if (mad->reason != SHCA_MAD_SIDR_SUCCESS) {
		tell(id, SHCA_UCM_UNREACHABLE, mad->reason, mad);
	} else if (mad->qkey == 0 || (id->qkey != 0 && id->qkey != mad->qkey)) {
		tell(id, SHCA_UCM_ADDR_ERROR, -EINVAL, NULL);
	} else {
		id->qkey = mad->qkey;
		tell(id, SHCA_UCM_ESTABLISHED, 0, mad);
	}
}

static void
on_disconnected(struct shca_id *id, int status)
{
	if (id->state != SHCA_ID_CONNECT)
		return;
	id->state = SHCA_ID_DISCONNECT;
	tell(id, SHCA_UCM_DISCONNECTED, status, NULL);
}

void
shca_connect_on_event(
	void *arg, void *owner, enum shca_cm_happening what, const struct shca_mad *mad)
{
	struct shca_id *id = owner;

	(void)arg;
	switch (what) {
	case SHCA_CM_REP:
		on_reply(id, mad);
		break;
	case SHCA_CM_RTU:
	case SHCA_CM_USER_ESTABLISHED:
		tell(id, SHCA_UCM_ESTABLISHED, 0, NULL);
		break;
	case SHCA_CM_REJ:
		tell(id, SHCA_UCM_REJECTED, mad->reason, mad);
		break;
	case SHCA_CM_DREQ:
	case SHCA_CM_DREP:
		on_disconnected(id, 0);
		break;
	case SHCA_CM_DREQ_LOST:
		on_disconnected(id, -ETIMEDOUT);
		break;
	case SHCA_CM_UNREACHABLE:
		tell(id, SHCA_UCM_UNREACHABLE, -ETIMEDOUT, NULL);
		break;
	case SHCA_CM_TIMEWAIT_EXIT:
		/* Not of one that was refused: nobody has said that it was disconnected. */
		if (id->state == SHCA_ID_DISCONNECT)
			tell(id, SHCA_UCM_TIMEWAIT_EXIT, 0, NULL);
		break;
	case SHCA_CM_SIDR_REP:
		on_sidr_reply(id, mad);
		break;
	}
}
