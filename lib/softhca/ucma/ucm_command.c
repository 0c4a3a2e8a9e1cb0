/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a command: core/ucma.c ucma_cmd_table, and the functions it names. */
#include "ucma/ucm_command.h"

#include <errno.h>
#include <string.h>

#include "abi/core/user.h"
#include "ucma/bind.h"
#include "ucma/connect.h"

enum {
	BACKLOG_MAX = 1024, /* net.rdma_ucm.max_backlog */
	IN_BYTES_MAX = 640,
};

/** ucma_get_qp_type() */
static int
choose_qp_type(const struct rdma_ucm_create_id *command, uint8_t *type)
{
	switch (command->ps) {
	case RDMA_PS_TCP:
		*type = IB_UVERBS_QPT_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*type = IB_UVERBS_QPT_UD;
		return 0;
	case RDMA_PS_IB:
		*type = command->qp_type;
		return 0;
	default:
		return -EINVAL;
	}
}

static int
create_id(struct shca_ucma_call *call)
{
	const struct rdma_ucm_create_id *command = call->in;
	struct rdma_ucm_create_id_resp answer;
	struct shca_id *id;
	uint8_t type;
	int ret = choose_qp_type(command, &type);

	if (ret == 0)
		ret = shca_id_create(call->file, &id);
	if (ret != 0)
		return ret;
	id->uid = command->uid;
	id->space = command->ps;
	id->qp_type = type;
	answer.id = id->number;
	ret = shca_ucm_answer(call, command->response, &answer, sizeof(answer));
	if (ret != 0)
		shca_id_destroy(id);
	return ret;
}

static int
destroy_id(struct shca_ucma_call *call)
{
	const struct rdma_ucm_destroy_id *command = call->in;
	struct rdma_ucm_destroy_id_resp answer;
	struct shca_id *id;
	int ret = shca_id_find_any(call->file, command->id, &id);

	if (ret != 0)
		return ret;
	answer.events_reported = shca_id_destroy(id);
	return shca_ucm_answer(call, command->response, &answer, sizeof(answer));
}

/** @return whether it is as long as its family says. */
static bool
take_address(struct shca_address *to, const struct __kernel_sockaddr_storage *from, size_t size)
{
	to->storage = *from;
	return size == shca_address_size(to);
}

/** @return whether it is one of IP (rdma_addr_size_in6()). */
static bool
take_ip(struct shca_address *to, const struct sockaddr_in6 *from)
{
	to->in6 = *from;
	return to->any.sa_family == AF_INET || to->any.sa_family == AF_INET6;
}

static int
bind_ip(struct shca_ucma_call *call)
{
	const struct rdma_ucm_bind_ip *command = call->in;
	struct shca_address address;
	struct shca_id *id;
	int ret = take_ip(&address, &command->addr) ? 0 : -EINVAL;

	if (ret == 0)
		ret = shca_id_find(call->file, command->id, &id);
	return ret == 0 ? shca_bind_address(id, &address) : ret;
}

static int
bind_any(struct shca_ucma_call *call)
{
	const struct rdma_ucm_bind *command = call->in;
	struct shca_address address;
	struct shca_id *id;
	int ret;

	if (!take_address(&address, &command->addr, command->addr_size) ||
		command->addr_size == 0 || command->reserved != 0)
		return -EINVAL;
	ret = shca_id_find(call->file, command->id, &id);
	return ret == 0 ? shca_bind_address(id, &address) : ret;
}

static int
resolve_ip(struct shca_ucma_call *call)
{
	const struct rdma_ucm_resolve_ip *command = call->in;
	struct shca_address src, dst;
	struct shca_id *id;
	int ret = 0;

	if (!take_ip(&src, &command->src_addr) && src.any.sa_family != 0)
		ret = -EINVAL;
	if (!take_ip(&dst, &command->dst_addr))
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_id_find(call->file, command->id, &id);
	return ret == 0 ? shca_bind_resolve(id, &src, &dst, command->timeout_ms) : ret;
}

static int
resolve_addr(struct shca_ucma_call *call)
{
	const struct rdma_ucm_resolve_addr *command = call->in;
	struct shca_address src, dst;
	struct shca_id *id;
	int ret;

	if (!take_address(&dst, &command->dst_addr, command->dst_size) || command->dst_size == 0 ||
		command->reserved != 0)
		return -EINVAL;
	/* Without a size it may have a family all the same. */
	if (!take_address(&src, &command->src_addr, command->src_size) && command->src_size != 0)
		return -EINVAL;
	ret = shca_id_find(call->file, command->id, &id);
	return ret == 0 ? shca_bind_resolve(id, &src, &dst, command->timeout_ms) : ret;
}

/** The way is known with the address. */
static int
resolve_route(struct shca_ucma_call *call)
{
	const struct rdma_ucm_resolve_route *command = call->in;
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	if (ret != 0)
		return ret;
	if (id->state != SHCA_ID_ADDR_RESOLVED || command->timeout_ms == 0)
		return -EINVAL;
	shca_connect_resolve_path(id);
	/* cma_resolve_iboe_route(): no packet fits into the netdev's. */
	if (id->path.mtu == 0) {
		id->path.is_known = false;
		return -EINVAL;
	}
	id->state = SHCA_ID_ROUTE_RESOLVED;
	return shca_ucm_event_tell(id, SHCA_UCM_ROUTE_RESOLVED, 0);
}

static int
connect_id(struct shca_ucma_call *call)
{
	const struct rdma_ucm_connect *command = call->in;
	struct shca_id *id;
	int ret = command->conn_param.valid != 0 ? shca_id_find(call->file, command->id, &id)
						 : -EINVAL;

	return ret == 0 ? shca_connect(id, &command->conn_param) : ret;
}

static int
listen_id(struct shca_ucma_call *call)
{
	const struct rdma_ucm_listen *command = call->in;
	const uint32_t wanted = command->backlog;
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	if (ret != 0)
		return ret;
	return shca_connect_listen(id, wanted > 0 && wanted < BACKLOG_MAX ? wanted : BACKLOG_MAX);
}

static int
accept_id(struct shca_ucma_call *call)
{
	const struct rdma_ucm_accept *command = call->in;
	const bool has_param = command->conn_param.valid != 0;
	struct shca_id *id;
	uint64_t uid;
	int ret = shca_id_find(call->file, command->id, &id);

	if (ret != 0)
		return ret;
	uid = id->uid;
	if (has_param)
		id->uid = command->uid;
	ret = shca_connect_accept(id, has_param ? &command->conn_param : NULL);
	if (ret != 0)
		id->uid = uid;
	return ret;
}

static int
reject_id(struct shca_ucma_call *call)
{
	const struct rdma_ucm_reject *command = call->in;
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	return ret == 0 ? shca_connect_reject(id, command) : ret;
}

static int
disconnect_id(struct shca_ucma_call *call)
{
	const struct rdma_ucm_disconnect *command = call->in;
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	return ret == 0 ? shca_connect_disconnect(id) : ret;
}

static int
init_qp_attr(struct shca_ucma_call *call)
{
	const struct rdma_ucm_init_qp_attr *command = call->in;
	struct ib_uverbs_qp_attr answer;
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	if (ret == 0)
		ret = shca_connect_qp_attr(id, command->qp_state, &answer);
	if (ret != 0)
		return ret;
	return shca_ucm_answer(call, command->response, &answer, sizeof(answer));
}

static int
notify(struct shca_ucma_call *call)
{
	const struct rdma_ucm_notify *command = call->in;
	const uint32_t established = 4; /* IBV_EVENT_COMM_EST; core/cm.c ib_cm_notify() */
	struct shca_id *id;
	int ret = shca_id_find(call->file, command->id, &id);

	if (ret != 0)
		return ret;
	if (id->conn == NULL || command->event != established)
		return -EINVAL;
	return shca_cm_notify(id->conn);
}

static int
get_event(struct shca_ucma_call *call)
{
	const struct rdma_ucm_get_event *command = call->in;
	struct shca_ucma_event *event = TAILQ_FIRST(&call->file->events);
	int ret;

	if (event == NULL)
		return -EAGAIN;
	ret = shca_ucm_answer(call, command->response, &event->answer, sizeof(event->answer));
	if (ret != 0)
		return ret;
	if (event->answer.event == SHCA_UCM_CONNECT_REQUEST)
		event->id->backlog++;
	shca_ucm_event_take(event);
	return 0;
}

static int
migrate(struct shca_ucma_call *call)
{
	const struct rdma_ucm_migrate_id *command = call->in;
	const ino_t inode = shca_user_socket((int32_t)command->fd);
	struct rdma_ucm_migrate_resp answer;
	struct shca_user_inode any;
	struct shca_ucma_file *from;
	struct shca_id *id;
	int ret;

	if (shca_user_find_inode((int32_t)command->fd, &any) != 0)
		return -ENOENT;
	LIST_FOREACH (from, &call->file->ucma->files, link)
		if (from->inode == inode)
			break;
	if (from == NULL)
		return -EINVAL;
	ret = shca_id_find(from, command->id, &id);
	if (ret != 0)
		return ret;
	answer.events_reported = id->nb_reported;
	ret = shca_ucm_answer(call, command->response, &answer, sizeof(answer));
	if (ret == 0)
		shca_ucm_event_move(id, call->file);
	return ret;
}

#define ROW(in, out, function)                                                                     \
	{                                                                                          \
		sizeof(struct in), out, function                                                   \
	}

/** A command that does nothing has no function: GET_OPTION (-ENOSYS in Linux). */
static const struct {
	size_t in, out; /* the least: -EINVAL, -ENOSPC */
	int (*run)(struct shca_ucma_call *call);
} command_rows[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = ROW(rdma_ucm_create_id, 4, create_id),
	[RDMA_USER_CM_CMD_DESTROY_ID] = ROW(rdma_ucm_destroy_id, 4, destroy_id),
	[RDMA_USER_CM_CMD_BIND_IP] = ROW(rdma_ucm_bind_ip, 0, bind_ip),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = ROW(rdma_ucm_resolve_ip, 0, resolve_ip),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = ROW(rdma_ucm_resolve_route, 0, resolve_route),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = ROW(rdma_ucm_query,
		offsetof(struct rdma_ucm_query_route_resp, ibdev_index), shca_query_route),
	[RDMA_USER_CM_CMD_CONNECT] = { offsetof(struct rdma_ucm_connect, ece), 0, connect_id },
	[RDMA_USER_CM_CMD_LISTEN] = ROW(rdma_ucm_listen, 0, listen_id),
	[RDMA_USER_CM_CMD_ACCEPT] = { offsetof(struct rdma_ucm_accept, ece), 0, accept_id },
	[RDMA_USER_CM_CMD_REJECT] = ROW(rdma_ucm_reject, 0, reject_id),
	[RDMA_USER_CM_CMD_DISCONNECT] = ROW(rdma_ucm_disconnect, 0, disconnect_id),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] =
		ROW(rdma_ucm_init_qp_attr, sizeof(struct ib_uverbs_qp_attr), init_qp_attr),
	[RDMA_USER_CM_CMD_GET_EVENT] =
		ROW(rdma_ucm_get_event, offsetof(struct rdma_ucm_event_resp, reserved), get_event),
	[RDMA_USER_CM_CMD_GET_OPTION] = { .run = NULL },
	[RDMA_USER_CM_CMD_SET_OPTION] = ROW(rdma_ucm_set_option, 0, shca_option_set),
	[RDMA_USER_CM_CMD_NOTIFY] = ROW(rdma_ucm_notify, 0, notify),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = ROW(rdma_ucm_join_ip_mcast, 4, shca_group_join_ip),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = ROW(rdma_ucm_destroy_id, 4, shca_group_leave),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = ROW(rdma_ucm_migrate_id, 4, migrate),
	[RDMA_USER_CM_CMD_QUERY] = ROW(rdma_ucm_query, 0, shca_query),
	[RDMA_USER_CM_CMD_BIND] = ROW(rdma_ucm_bind, 0, bind_any),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = ROW(rdma_ucm_resolve_addr, 0, resolve_addr),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = ROW(rdma_ucm_join_mcast, 4, shca_group_join),
};

/** ucma_write() */
int
shca_ucm_command_run(struct shca_ucma_file *file, const void *bytes, size_t length)
{
	_Alignas(8) uint8_t in[IN_BYTES_MAX] = { 0 };
	struct shca_ucma_call call = { .file = file, .in = in };
	struct rdma_ucm_cmd_hdr header;
	const uint64_t at = (uintptr_t)bytes;
	int ret;

	if (length < sizeof(header))
		return -EINVAL;
	ret = shca_user_copy_in(&header, at, sizeof(header));
	if (ret != 0)
		return ret;
	if (header.cmd >= sizeof(command_rows) / sizeof(command_rows[0]) ||
		header.in + sizeof(header) > length)
		return -EINVAL;
	if (command_rows[header.cmd].run == NULL)
		return -ENOSYS;
	call.in_bytes = header.in < sizeof(in) ? header.in : sizeof(in);
	call.out_bytes = header.out;
	if (call.in_bytes < command_rows[header.cmd].in)
		return -EINVAL;
	if (call.out_bytes < command_rows[header.cmd].out)
		return -ENOSPC;
	ret = shca_user_copy_in(in, at + sizeof(header), call.in_bytes);
	return ret == 0 ? command_rows[header.cmd].run(&call) : ret;
}
