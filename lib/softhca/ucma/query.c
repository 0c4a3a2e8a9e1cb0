/* SPDX-License-Identifier: BSD-3-Clause */
/* What an identifier knows: core/ucma.c ucma_query() and ucma_query_route(); and what others may
 * know of it. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_sa.h>

#include "ucma/bind.h"
#include "ucma/ucm_command.h"
#include "ucma/connect.h"

enum {
	PKEY = 0xffff,
	SELECT_EXACTLY = 2, /* volume 1, 15.2.5.16: MTU, rate and life time are what they are */
	HOPS = 64,
};

static void
put_path(const struct shca_id *id, struct ib_user_path_rec *path)
{
	memcpy(path->dgid, id->remote_gid, sizeof(path->dgid));
	memcpy(path->sgid, id->gid.gid, sizeof(path->sgid));
	path->pkey = htobe16(PKEY);
	if (!id->path.is_known)
		return;
	path->reversible = 1;
	path->mtu_selector = SELECT_EXACTLY;
	path->mtu = id->path.mtu;
	path->rate_selector = SELECT_EXACTLY;
	path->rate = id->path.rate;
	path->packet_life_time_selector = SELECT_EXACTLY;
	path->packet_life_time = id->path.life_time;
	path->flow_label = htobe32(id->path.flow_label);
	path->hop_limit = HOPS;
	path->traffic_class = id->path.traffic_class;
}

int
shca_query_route(struct shca_ucma_call *call)
{
	const struct rdma_ucm_query *command = call->in;
	struct rdma_ucm_query_route_resp answer = { 0 };
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	if (ret != 0)
		return ret;
	memcpy(&answer.src_addr, &id->src, sizeof(answer.src_addr));
	memcpy(&answer.dst_addr, &id->dst, sizeof(answer.dst_addr));
	if (id->has_gid) {
		answer.node_guid = htobe64(id->port.node_guid);
		answer.ibdev_index = id->gid.device;
		answer.port_num = id->gid.port;
		answer.num_paths = id->path.is_known;
		put_path(id, &answer.ib_route[0]);
	}
	return shca_ucm_answer(call, command->response, &answer, sizeof(answer));
}

static void
put_device(const struct shca_id *id, struct rdma_ucm_query_addr_resp *answer)
{
	if (!id->has_gid)
		return;
	answer->node_guid = htobe64(id->port.node_guid);
	answer->ibdev_index = id->gid.device;
	answer->port_num = id->gid.port;
	/* ib_addr_get_pkey(): bytes of the netdev's broadcast address that Ethernet's has not */
	answer->pkey = id->src.any.sa_family == AF_IB ? htobe16(PKEY) : 0;
}

static void
query_addr(const struct shca_id *id, struct rdma_ucm_query_addr_resp *answer)
{
	answer->src_size = (uint16_t)shca_address_size(&id->src);
	memcpy(&answer->src_addr, &id->src, answer->src_size);
	answer->dst_size = (uint16_t)shca_address_size(&id->dst);
	memcpy(&answer->dst_addr, &id->dst, answer->dst_size);
	put_device(id, answer);
}

static void
put_gid(const struct shca_id *id, const struct shca_address *known, const uint8_t *gid,
	struct __kernel_sockaddr_storage *out)
{
	struct shca_address address = { .any.sa_family = AF_IB };

	if (known->any.sa_family == AF_IB) {
		address = *known;
	} else {
		memcpy(address.ib.addr, gid, sizeof(address.ib.addr));
		address.ib.sid = htobe64(shca_bind_service(id, known));
	}
	memcpy(out, &address.ib, sizeof(address.ib));
}

static void
query_gid(const struct shca_id *id, struct rdma_ucm_query_addr_resp *answer)
{
	put_device(id, answer);
	answer->src_size = answer->dst_size = sizeof(struct shca_sockaddr_ib);
	put_gid(id, &id->src, id->gid.gid, &answer->src_addr);
	put_gid(id, &id->dst, id->remote_gid, &answer->dst_addr);
}

/** A path record as the subnet administrator would send it: volume 1, 15.2.5.16; into bytes that
 * are 0. */
static void
pack_path(const struct shca_id *id, uint8_t bytes[64])
{
	const uint32_t flow = htobe32(id->path.flow_label << 8); /* no raw traffic */
	struct ib_user_path_rec path = { 0 };

	put_path(id, &path);
	memcpy(bytes + 8, path.dgid, 16);
	memcpy(bytes + 24, path.sgid, 16);
	memcpy(bytes + 44, &flow, 4);
	bytes[47] = path.hop_limit;
	bytes[48] = path.traffic_class;
	bytes[49] = 0x80 | 1; /* reversible; one path */
	memcpy(bytes + 50, &path.pkey, 2);
	bytes[53] = path.sl & 15;
	bytes[54] = (uint8_t)(path.mtu_selector << 6 | path.mtu);
	bytes[55] = (uint8_t)(path.rate_selector << 6 | path.rate);
	bytes[56] = (uint8_t)(path.packet_life_time_selector << 6 | path.packet_life_time);
}

static int
query_path(const struct shca_ucma_call *call, const struct shca_id *id, uint64_t response)
{
	struct {
		uint32_t num_paths, reserved; /* struct rdma_ucm_query_path_resp */
		struct ib_path_rec_data path;
	} answer = { .num_paths = id->path.is_known };
	const size_t head = offsetof(struct rdma_ucm_query_path_resp, path_data);
	size_t length = sizeof(answer);

	if (call->out_bytes < head)
		return -ENOSPC;
	answer.path.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	pack_path(id, (uint8_t *)answer.path.path_rec);
	if (!id->path.is_known || call->out_bytes < sizeof(answer))
		length = head;
	return shca_ucm_answer(call, response, &answer, length);
}

int
shca_query(struct shca_ucma_call *call)
{
	const struct rdma_ucm_query *command = call->in;
	struct rdma_ucm_query_addr_resp answer = { 0 };
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	if (ret != 0)
		return ret;
	if (command->option == RDMA_USER_CM_QUERY_PATH)
		return query_path(call, id, command->response);
	if (command->option == RDMA_USER_CM_QUERY_ADDR)
		query_addr(id, &answer);
	else if (command->option == RDMA_USER_CM_QUERY_GID)
		query_gid(id, &answer);
	else
		return -ENOSYS;
	/* ibdev_index and what follows came later. */
	if (call->out_bytes < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	return shca_ucm_answer(call, command->response, &answer, sizeof(answer));
}

/** By enum shca_id_state, of those that are at a device: Linux cma_priv.h enum rdma_cm_state. */
static const uint8_t linux_states[] = {
	[SHCA_ID_BOUND] = 7,
	[SHCA_ID_ADDR_QUERY] = 1,
	[SHCA_ID_ADDR_RESOLVED] = 2,
	[SHCA_ID_ROUTE_RESOLVED] = 4,
	[SHCA_ID_CONNECT] = 5,
	[SHCA_ID_DISCONNECT] = 6,
	[SHCA_ID_LISTEN] = 8,
};

/** @return whether Linux has attached it to the device: cma.c cma_attach_to_dev(), and for one that
 * listens at all cma_listen_on_dev(). */
static bool
is_at(const struct shca_id *id, unsigned int device, uint32_t port)
{
	if (id->state == SHCA_ID_REMOVED)
		return false;
	if (port != 0 && !(id->has_gid && id->gid.port == port))
		return false;
	return id->has_gid ? id->gid.device == device : id->state == SHCA_ID_LISTEN;
}

static struct shca_ucma_tracked
track(const struct shca_id *id)
{
	static const struct shca_address nobody;

	return (struct shca_ucma_tracked){
		.number = id->number,
		.qpn = id->qpn,
		.port = id->has_gid ? id->gid.port : 0,
		.space = id->space,
		.qp_type = id->qp_type,
		.state = linux_states[id->state],
		.pid = id->file->pid,
		.src = id->src.storage,
		/* cma_listen_on_dev(): who listens at all has one a device, with a source alone */
		.dst = (id->has_gid ? &id->dst : &nobody)->storage,
	};
}

int
shca_ucma_track(struct shca_ucma *ucma, unsigned int device, uint32_t port,
	struct shca_ucma_tracked **ids, size_t *nb)
{
	const struct shca_id *id;
	uint32_t number = 0;
	int ret = 0;

	*ids = NULL;
	*nb = 0;
	pthread_mutex_lock(&ucma->lock);
	for (; (id = shca_idtable_next(&ucma->ids, &number)) != NULL; number++) {
		struct shca_ucma_tracked *more;

		if (!is_at(id, device, port))
			continue;
		more = realloc(*ids, (*nb + 1) * sizeof(*more));
		if (more == NULL) {
			ret = -ENOMEM;
			break;
		}
		more[(*nb)++] = track(id);
		*ids = more;
	}
	pthread_mutex_unlock(&ucma->lock);
	if (ret != 0) {
		free(*ids);
		*ids = NULL;
		*nb = 0;
	}
	return ret;
}
