/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A manager with two ports that reach each other, and the commands of an application. */
#ifndef TEST_UCMA_RIG_H
#define TEST_UCMA_RIG_H

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "cm/mad.h"
#include "ucma/ucma.h"

enum {
	RIG_PORT = 7471,
	RIG_ADDR_RESOLVED = 0, /* enum rdma_cm_event_type */
	RIG_ADDR_ERROR,
	RIG_ROUTE_RESOLVED,
	RIG_CONNECT_REQUEST = 4,
	RIG_CONNECT_RESPONSE,
	RIG_UNREACHABLE = 7,
	RIG_REJECTED,
	RIG_ESTABLISHED,
	RIG_DISCONNECTED,
	RIG_DEVICE_REMOVAL,
	RIG_MULTICAST_JOIN = 12,
	RIG_TIMEWAIT_EXIT = 15,
};

struct rig {
	struct shca_ucma *ucma;
	int fd;
	bool loses; /* all datagrams */
	unsigned int nb_sent;
	int reach;                /* what is said of the other side's MAC */
	uint8_t more_delay;       /* until an ACK, of mlx5_1 */
	uint8_t less_mtu;         /* of all ports, than 3 */
	struct shca_mad req, rep; /* the last ones */
	struct shca_mad last;     /* of any kind */
	bool changes_qkey;        /* of SIDR_REPs, to: */
	uint32_t qkey;
	bool is_v1;     /* all GIDs are RoCE v1's */
	bool no_netdev; /* no port has one */
	bool no_gids;
	struct shca_ucma_gid sent_from; /* the last one */
	unsigned int nb_woken;
};

/** Keep what a REQ and a REP say. */
static void
rig_keep(struct rig *rig, const uint8_t *bytes)
{
	struct shca_mad mad;

	assert_int_equal(shca_mad_read(bytes, SHCA_MAD_BYTES, &mad), 0);
	rig->last = mad;
	if (mad.kind == SHCA_MAD_REQ)
		rig->req = mad;
	else if (mad.kind == SHCA_MAD_REP)
		rig->rep = mad;
}

/** 10.0.0.1 of mlx5_0 and 10.0.0.2 of mlx5_1, then fd00::1 and fd00::2, by RoCE v1 and v2; and one
 * of a port's link, fe80::1 of mlx5_0. */
static unsigned int
rig_gids(void *arg, struct shca_ucma_gid *gids, unsigned int max)
{
	const struct rig *rig = arg;

	assert_true(max >= 9);
	for (unsigned int i = 0; i < 8; i++) {
		const uint8_t last = (uint8_t)(1 + i / 2 % 2);

		gids[i] = (struct shca_ucma_gid){
			.gid = { [10] = 0xff, 0xff, 10, 0, 0, last },
			.device = i / 2 % 2,
			.port = 1,
			.index = (uint8_t)(2 + i / 4 * 2 + i % 2),
			.is_v2 = i % 2 == 1 && !rig->is_v1,
			.ifindex = 5 + i / 2 % 2,
		};
		if (i >= 4)
			memcpy(gids[i].gid, (const uint8_t[16]){ 0xfd, [15] = last }, 16);
	}
	gids[8] = (struct shca_ucma_gid){
		.gid = { 0xfe, 0x80, [15] = 1 }, .port = 1, .index = 1, .is_v2 = true, .ifindex = 5
	};
	for (unsigned int i = 0; rig->no_netdev && i < 9; i++)
		gids[i].ifindex = 0;
	return rig->no_gids ? 0 : 9;
}

static void
rig_port(void *arg, const struct shca_ucma_gid *gid, struct shca_ucma_port *port)
{
	const struct rig *rig = arg;

	*port = (struct shca_ucma_port){
		.node_guid = 0x100 + gid->device,
		.mtu = 3 - rig->less_mtu,
		.ack_delay = 16 + (gid->device == 1 ? rig->more_delay : 0),
	};
}

static void
rig_send(void *arg, const struct shca_ucma_gid *gid, const uint8_t *remote, const uint8_t *bytes)
{
	struct rig *rig = arg;

	uint8_t changed[SHCA_MAD_BYTES];
	struct shca_mad mad;

	rig->nb_sent++;
	rig->sent_from = *gid;
	rig_keep(rig, bytes);
	assert_int_equal(shca_mad_read(bytes, SHCA_MAD_BYTES, &mad), 0);
	if (mad.kind == SHCA_MAD_SIDR_REP && rig->changes_qkey) {
		mad.qkey = rig->qkey;
		shca_mad_write(&mad, changed);
		bytes = changed;
	}
	if (!rig->loses) {
		struct shca_ucma_gid local = *gid;

		local.device = 1 - gid->device;
		memcpy(local.gid, remote, sizeof(local.gid));
		shca_ucma_receive(rig->ucma, &local, gid->gid, bytes);
	}
}

static int
rig_reach(void *arg, const struct shca_ucma_gid *gid, const uint8_t *remote)
{
	const struct rig *rig = arg;

	(void)gid;
	(void)remote;
	return rig->reach;
}

/** 198.51.100.0/24 is behind mlx5_1, and 192.0.2.0/24 behind an address that has gone. */
static bool
rig_find_route(void *arg, const uint8_t *remote, struct shca_ucma_gid *gid)
{
	static const uint8_t net[15] = { [10] = 0xff, 0xff, 198, 51, 100 },
			     gone[15] = { [10] = 0xff, 0xff, 192, 0, 2 };
	const bool is_gone = memcmp(remote, gone, sizeof(gone)) == 0;

	if (memcmp(remote, net, sizeof(net)) != 0 && !is_gone)
		return false;
	(void)arg;
	*gid = (struct shca_ucma_gid){
		.gid = { [10] = 0xff, 0xff, 10, 0, 0, is_gone ? 77 : 2 },
		.ifindex = 6,
	};
	return true;
}

static void
rig_wake(void *arg)
{
	struct rig *rig = arg;

	rig->nb_woken++;
}

static inline void
rig_open(struct rig *rig)
{
	const struct shca_ucma_conf conf = {
		.gids = rig_gids,
		.port = rig_port,
		.send = rig_send,
		.route = rig_find_route,
		.reach = rig_reach,
		.wake = rig_wake,
		.arg = rig,
	};

	memset(rig, 0, sizeof(*rig));
	rig->ucma = shca_ucma_create(&conf);
	assert_non_null(rig->ucma);
	rig->fd = shca_ucma_open(rig->ucma, true);
	assert_true(rig->fd >= 0);
}

static inline void
rig_close(struct rig *rig)
{
	close(rig->fd);
	shca_ucma_destroy(rig->ucma);
}

/** One command. @return what it answers. */
static inline int
rig_do(struct rig *rig, uint32_t number, const void *command, size_t bytes, size_t out)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		uint8_t bytes[1024];
	} whole = { .header = { number, (uint16_t)bytes, (uint16_t)out } };

	memcpy(whole.bytes, command, bytes);
	return shca_ucma_write(rig->ucma, rig->fd, &whole, sizeof(whole.header) + bytes);
}

#define RIG_DO(rig, number, command) rig_do(rig, number, &(command), sizeof(command), 0)

static inline uint32_t
rig_create_as(struct rig *rig, uint64_t uid, uint16_t space, uint8_t type)
{
	struct rdma_ucm_create_id_resp answer = { .id = UINT32_MAX };
	const struct rdma_ucm_create_id command = {
		.uid = uid,
		.response = (uintptr_t)&answer,
		.ps = space,
		.qp_type = type,
	};

	assert_int_equal(
		rig_do(rig, RDMA_USER_CM_CMD_CREATE_ID, &command, sizeof(command), sizeof(answer)),
		0);
	return answer.id;
}

static inline uint32_t
rig_create(struct rig *rig, uint64_t uid, uint16_t space)
{
	return rig_create_as(rig, uid, space, IB_UVERBS_QPT_RC);
}

static inline uint32_t
rig_create_of_type(struct rig *rig, uint64_t uid, uint8_t type)
{
	return rig_create_as(rig, uid, RDMA_PS_IB, type);
}

static inline uint32_t
rig_destroy(struct rig *rig, uint32_t id)
{
	struct rdma_ucm_destroy_id_resp answer = { .events_reported = UINT32_MAX };
	const struct rdma_ucm_destroy_id command = { .response = (uintptr_t)&answer, .id = id };

	assert_int_equal(
		rig_do(rig, RDMA_USER_CM_CMD_DESTROY_ID, &command, sizeof(command), sizeof(answer)),
		0);
	return answer.events_reported;
}

/** @return whether an event waits, as poll(2) tells the application. */
static inline bool
rig_is_readable(const struct rig *rig)
{
	struct pollfd pollfd = { .fd = rig->fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLIN) != 0;
}

static inline struct rdma_ucm_event_resp
rig_event(struct rig *rig, uint32_t wanted)
{
	struct rdma_ucm_event_resp answer = { .event = UINT32_MAX };
	const struct rdma_ucm_get_event command = { .response = (uintptr_t)&answer };

	assert_true(rig_is_readable(rig));
	assert_int_equal(
		rig_do(rig, RDMA_USER_CM_CMD_GET_EVENT, &command, sizeof(command), sizeof(answer)),
		0);
	assert_int_equal(answer.event, wanted);
	if (wanted != RIG_ADDR_ERROR && wanted != RIG_UNREACHABLE && wanted != RIG_REJECTED &&
		wanted != RIG_DISCONNECTED)
		assert_int_equal(answer.status, 0);
	return answer;
}

static inline void
rig_expect_silence(struct rig *rig)
{
	struct rdma_ucm_event_resp answer;
	const struct rdma_ucm_get_event command = { .response = (uintptr_t)&answer };

	shca_ucma_step(rig->ucma);
	assert_false(rig_is_readable(rig));
	assert_int_equal(
		rig_do(rig, RDMA_USER_CM_CMD_GET_EVENT, &command, sizeof(command), sizeof(answer)),
		-EAGAIN);
}

static inline struct sockaddr_in
rig_address(uint8_t last, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x0a000000 + last),
		.sin_port = htons(port),
	};
}

static inline int
rig_bind(struct rig *rig, uint32_t id, uint8_t last, uint16_t port)
{
	const struct sockaddr_in address = rig_address(last, port);
	struct rdma_ucm_bind command = { .id = id, .addr_size = sizeof(address) };

	memcpy(&command.addr, &address, sizeof(address));
	return RIG_DO(rig, RDMA_USER_CM_CMD_BIND, command);
}

/** To any address of IPv4. */
static inline int
rig_bind_any(struct rig *rig, uint32_t id, uint16_t port)
{
	const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct rdma_ucm_bind command = { .id = id, .addr_size = sizeof(address) };

	memcpy(&command.addr, &address, sizeof(address));
	return RIG_DO(rig, RDMA_USER_CM_CMD_BIND, command);
}

/** @param last byte of an address in fd00::/64; 0: any */
static inline struct sockaddr_in6
rig_address6(uint8_t last, uint16_t port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	address.sin6_addr.s6_addr[0] = last != 0 ? 0xfd : 0;
	address.sin6_addr.s6_addr[15] = last;
	return address;
}

static inline int
rig_bind6(struct rig *rig, uint32_t id, uint8_t last, uint16_t port)
{
	const struct sockaddr_in6 address = rig_address6(last, port);
	struct rdma_ucm_bind command = { .id = id, .addr_size = sizeof(address) };

	memcpy(&command.addr, &address, sizeof(address));
	return RIG_DO(rig, RDMA_USER_CM_CMD_BIND, command);
}

static inline int
rig_listen(struct rig *rig, uint32_t id, uint32_t backlog)
{
	const struct rdma_ucm_listen command = { .id = id, .backlog = backlog };

	return RIG_DO(rig, RDMA_USER_CM_CMD_LISTEN, command);
}

static inline int
rig_resolve(struct rig *rig, uint32_t id, uint8_t from, uint8_t to, uint16_t port)
{
	const struct sockaddr_in src = rig_address(from, 0), dst = rig_address(to, port);
	struct rdma_ucm_resolve_addr command = {
		.id = id,
		.timeout_ms = 1000,
		.src_size = sizeof(src),
		.dst_size = sizeof(dst),
	};

	memcpy(&command.src_addr, &src, sizeof(src));
	memcpy(&command.dst_addr, &dst, sizeof(dst));
	return RIG_DO(rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command);
}

static inline int
rig_route(struct rig *rig, uint32_t id)
{
	const struct rdma_ucm_resolve_route command = { .id = id, .timeout_ms = 1000 };

	return RIG_DO(rig, RDMA_USER_CM_CMD_RESOLVE_ROUTE, command);
}

static inline struct rdma_ucm_conn_param
rig_param(uint32_t qpn, const char *text)
{
	struct rdma_ucm_conn_param param = {
		.qp_num = qpn,
		.private_data_len = (uint8_t)strlen(text),
		.responder_resources = 3,
		.initiator_depth = 2,
		.retry_count = 7,
		.rnr_retry_count = 6,
		.valid = 1,
	};

	memcpy(param.private_data, text, strlen(text));
	return param;
}

static inline int
rig_connect(struct rig *rig, uint32_t id, uint32_t qpn, const char *text)
{
	const struct rdma_ucm_connect command = { .id = id, .conn_param = rig_param(qpn, text) };

	return RIG_DO(rig, RDMA_USER_CM_CMD_CONNECT, command);
}

/** @param text NULL: rdma_establish() */
static inline int
rig_accept(struct rig *rig, uint32_t id, uint64_t uid, uint32_t qpn, const char *text)
{
	struct rdma_ucm_accept command = { .id = id, .uid = uid };

	if (text != NULL)
		command.conn_param = rig_param(qpn, text);
	return RIG_DO(rig, RDMA_USER_CM_CMD_ACCEPT, command);
}

/** Accept the request that comes, and let the caller learn it. @return the new identifier */
static inline uint32_t
rig_accept_next(struct rig *rig, uint64_t uid, uint32_t qpn)
{
	uint32_t id;

	shca_ucma_step(rig->ucma);
	id = rig_event(rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(rig_accept(rig, id, uid, qpn, ""), 0);
	shca_ucma_step(rig->ucma);
	rig_event(rig, RIG_CONNECT_RESPONSE);
	return id;
}

static inline int
rig_disconnect(struct rig *rig, uint32_t id)
{
	const struct rdma_ucm_disconnect command = { .id = id };

	return RIG_DO(rig, RDMA_USER_CM_CMD_DISCONNECT, command);
}

static inline int
rig_option(struct rig *rig, uint32_t id, uint32_t name, const void *value, uint32_t bytes)
{
	const struct rdma_ucm_set_option command = {
		.optval = (uintptr_t)value,
		.id = id,
		.level = RDMA_OPTION_ID,
		.optname = name,
		.optlen = bytes,
	};

	return RIG_DO(rig, RDMA_USER_CM_CMD_SET_OPTION, command);
}

static inline int
rig_qp_attr(struct rig *rig, uint32_t id, uint32_t state, struct ib_uverbs_qp_attr *attr)
{
	const struct rdma_ucm_init_qp_attr command = {
		.response = (uintptr_t)attr,
		.id = id,
		.qp_state = state,
	};

	return rig_do(rig, RDMA_USER_CM_CMD_INIT_QP_ATTR, &command, sizeof(command), sizeof(*attr));
}

/** An identifier that listens at 10.0.0.2. */
static inline uint32_t
rig_listener(struct rig *rig, uint64_t uid, uint16_t space, uint32_t backlog)
{
	const uint32_t id = rig_create(rig, uid, space);

	assert_int_equal(rig_bind(rig, id, 2, RIG_PORT), 0);
	assert_int_equal(rig_listen(rig, id, backlog), 0);
	return id;
}

/** Find the way to it from 10.0.0.1. */
static inline void
rig_find(struct rig *rig, uint32_t id)
{
	assert_int_equal(rig_resolve(rig, id, 1, 2, RIG_PORT), 0);
	assert_int_equal(rig_event(rig, RIG_ADDR_RESOLVED).id, id);
	assert_int_equal(rig_route(rig, id), 0);
	assert_int_equal(rig_event(rig, RIG_ROUTE_RESOLVED).id, id);
}

/** One that has found it. */
static inline uint32_t
rig_caller(struct rig *rig, uint64_t uid, uint16_t space)
{
	const uint32_t id = rig_create(rig, uid, space);

	rig_find(rig, id);
	return id;
}

#endif /* TEST_UCMA_RIG_H */
