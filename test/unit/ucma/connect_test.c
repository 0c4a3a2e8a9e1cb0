/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections as an application sees them: events in their order, parameters, queue pairs. */
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "base/clock.h"
#include "rig.h"
#include "ucma/connect.h"

enum {
	SERVER = 0x1000, /* uids */
	CLIENT,
	ACCEPTED,
	QPN_CLIENT = 0x11,
	QPN_SERVER = 0x22,
};

/** From the request to the response, the side that listens having said yes. */
static void
begin(struct rig *rig, uint32_t *client, uint32_t *server)
{
	struct rdma_ucm_event_resp event;

	rig_open(rig);
	rig_listener(rig, SERVER, RDMA_PS_TCP, 3);
	*client = rig_caller(rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_connect(rig, *client, QPN_CLIENT, "hello"), 0);
	shca_ucma_step(rig->ucma);
	event = rig_event(rig, RIG_CONNECT_REQUEST);
	*server = event.id;
	assert_int_equal(event.uid, SERVER);
	assert_int_equal(event.param.conn.qp_num, QPN_CLIENT);
	assert_int_equal(event.param.conn.private_data_len, 56);
	assert_memory_equal(event.param.conn.private_data, "hello", 6);
	/* What the other side can do is what this one may ask for. */
	assert_int_equal(event.param.conn.responder_resources, 2);
	assert_int_equal(event.param.conn.initiator_depth, 3);
	assert_int_equal(event.param.conn.retry_count, 7);
	rig_expect_silence(rig);
	assert_int_equal(rig_accept(rig, *server, ACCEPTED, QPN_SERVER, "welcome"), 0);
	shca_ucma_step(rig->ucma);
	event = rig_event(rig, RIG_CONNECT_RESPONSE);
	assert_int_equal(event.uid, CLIENT);
	assert_int_equal(event.id, *client);
	assert_int_equal(event.param.conn.qp_num, QPN_SERVER);
	assert_memory_equal(event.param.conn.private_data, "welcome", 8);
}

/** Issue 18: the passive side's ESTABLISHED comes only when the active side says so. */
static void
test_established_last(void **state)
{
	uint32_t client, server;
	struct rig rig;

	(void)state;
	begin(&rig, &client, &server);
	rig_expect_silence(&rig);
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_ESTABLISHED).uid, ACCEPTED);
	rig_expect_silence(&rig);
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), -EINVAL);
	rig_close(&rig);
}

static void
test_disconnect(void **state)
{
	struct rdma_ucm_event_resp event;
	uint32_t client, server;
	struct rig rig;

	(void)state;
	begin(&rig, &client, &server);
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_ESTABLISHED);
	assert_int_equal(rig_disconnect(&rig, client), 0);
	shca_ucma_step(rig.ucma);
	event = rig_event(&rig, RIG_DISCONNECTED);
	assert_int_equal(event.uid, ACCEPTED);
	assert_int_equal(event.status, 0);
	rig_expect_silence(&rig);
	assert_int_equal(rig_disconnect(&rig, server), 0);
	shca_ucma_step(rig.ucma);
	event = rig_event(&rig, RIG_DISCONNECTED);
	assert_int_equal(event.uid, CLIENT);
	assert_int_equal(event.status, 0);
	assert_int_equal(rig_disconnect(&rig, server), 0);
	rig_expect_silence(&rig);
	assert_int_equal(rig_destroy(&rig, server), 2);
	assert_int_equal(rig_destroy(&rig, client), 4);
	rig_close(&rig);
}

/** cma.c rdma_disconnect(): of one without a connection, only who listens at a device has what the
 * CM can be asked with. */
static void
test_disconnect_nobody(void **state)
{
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	assert_int_equal(rig_disconnect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP)), -EINVAL);
	assert_int_equal(rig_disconnect(&rig, rig_listener(&rig, SERVER, RDMA_PS_TCP, 3)), 0);
	id = rig_create(&rig, SERVER, RDMA_PS_TCP);
	assert_int_equal(rig_bind_any(&rig, id, RIG_PORT + 1), 0);
	assert_int_equal(rig_listen(&rig, id, 1), 0);
	assert_int_equal(rig_disconnect(&rig, id), -EINVAL);
	rig_close(&rig);
}

static void
test_qp_attr(void **state)
{
	struct ib_uverbs_qp_attr attr;
	uint32_t client, server;
	struct rig rig;

	(void)state;
	begin(&rig, &client, &server);
	assert_int_equal(rig_qp_attr(&rig, client, IBV_QPS_INIT, &attr), 0);
	assert_int_equal(attr.qp_attr_mask,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	assert_int_equal(attr.qp_access_flags,
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(rig_qp_attr(&rig, client, IBV_QPS_RTR, &attr), 0);
	assert_int_equal(attr.qp_attr_mask,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	assert_int_equal(attr.dest_qp_num, QPN_SERVER);
	assert_int_equal(attr.path_mtu, 3);
	assert_int_equal(attr.ah_attr.grh.dgid[15], 2);
	assert_int_equal(attr.ah_attr.grh.sgid_index, 3);
	assert_int_equal(attr.ah_attr.is_global, 1);
	assert_int_equal(attr.max_dest_rd_atomic, 2);
	assert_int_equal(rig_qp_attr(&rig, server, IBV_QPS_RTS, &attr), 0);
	assert_int_equal(attr.qp_attr_mask,
		IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT);
	assert_int_equal(attr.rnr_retry, 6);
	/* 16 for the way, twice, and 16 for the ACK */
	assert_int_equal(attr.timeout, 18);
	rig_close(&rig);
}

/** One side's first PSN is the other's, which has told it: a REQ and a REP say where the other side
 * shall begin (core/cm.c cm_req_handler(), cm_rep_handler(): sq_psn). */
static void
test_psns(void **state)
{
	struct ib_uverbs_qp_attr sends, receives;
	uint32_t id[2];
	struct rig rig;

	(void)state;
	begin(&rig, &id[0], &id[1]);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(rig_qp_attr(&rig, id[i], IBV_QPS_RTS, &sends), 0);
		assert_int_equal(rig_qp_attr(&rig, id[1 - i], IBV_QPS_RTR, &receives), 0);
		assert_int_equal(sends.sq_psn, receives.rq_psn);
		assert_int_equal(sends.sq_psn, i == 0 ? rig.rep.psn : rig.req.psn);
		assert_true(sends.sq_psn < 1 << 24);
	}
	rig_close(&rig);
}

static void
test_reject(void **state)
{
	struct rdma_ucm_reject command = { .private_data_len = 2, .private_data = "no" };
	struct rdma_ucm_event_resp event;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 3);
	assert_int_equal(
		rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP), QPN_CLIENT, ""), 0);
	shca_ucma_step(rig.ucma);
	command.id = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, command), 0);
	shca_ucma_step(rig.ucma);
	event = rig_event(&rig, RIG_REJECTED);
	assert_int_equal(event.status, 28);
	assert_int_equal(event.param.conn.private_data_len, 148);
	assert_memory_equal(event.param.conn.private_data, "no", 2);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_REJECT, command), -EINVAL);
	rig_close(&rig);
}

/** The other side says with its REP how long its ACKs take (cm_rep_handler()). */
static void
test_slow_acks(void **state)
{
	struct ib_uverbs_qp_attr attr;
	uint32_t client, server;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig.more_delay = 4;
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 3);
	client = rig_caller(&rig, CLIENT, RDMA_PS_TCP);
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), 0);
	server = rig_accept_next(&rig, ACCEPTED, QPN_SERVER);
	assert_int_equal(rig_qp_attr(&rig, client, IBV_QPS_RTS, &attr), 0);
	assert_int_equal(attr.timeout, 20);
	assert_int_equal(rig_qp_attr(&rig, server, IBV_QPS_RTS, &attr), 0);
	assert_int_equal(attr.timeout, 18);
	rig_close(&rig);
}

/** Nobody listens: invalid service ID. More than the backlog: not answered, so that it is asked
 * again, when the application may have taken one. */
static void
test_refused(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(
		rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP), QPN_CLIENT, ""), 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_REJECTED).status, 8);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 1);
	assert_int_equal(rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP), 1, ""), 0);
	shca_ucma_step(rig.ucma);
	/* The new one has its route before the request is looked at. */
	rig_event(&rig, RIG_CONNECT_REQUEST);
	assert_int_equal(rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP), 2, ""), 0);
	assert_int_equal(rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP), 3, ""), 0);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_CONNECT_REQUEST);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** No DREP has come: the program learns that. */
static void
test_disconnect_in_vain(void **state)
{
	uint32_t client, server;
	struct shca_id *id;
	struct rig rig;

	(void)state;
	begin(&rig, &client, &server);
	id = shca_idtable_get(&rig.ucma->ids, client);
	shca_connect_on_event(rig.ucma, id, SHCA_CM_DREQ_LOST, NULL);
	assert_int_equal(rig_event(&rig, RIG_DISCONNECTED).status, (uint32_t)-ETIMEDOUT);
	shca_connect_on_event(rig.ucma, id, SHCA_CM_TIMEWAIT_EXIT, NULL);
	rig_event(&rig, RIG_TIMEWAIT_EXIT);
	rig_close(&rig);
}

/** What was refused was never connected: only that is told (cma_ib_handler()). */
static void
test_refused_late(void **state)
{
	uint32_t client, server;
	struct rig rig;
	uint64_t due;

	(void)state;
	begin(&rig, &client, &server);
	rig_destroy(&rig, server);
	shca_ucma_step(rig.ucma);
	rig_event(&rig, RIG_REJECTED);
	while ((due = shca_ucma_step(rig.ucma)) != UINT64_MAX)
		if (due > shca_clock_ns())
			usleep((useconds_t)((due - shca_clock_ns()) / 1000 + 1));
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** What cannot be accepted is refused (rdma_accept()). */
static void
test_accept_fails(void **state)
{
	static const uint16_t spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP };
	char text[201];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t server;
		struct rig rig;

		rig_open(&rig);
		rig_listener(&rig, SERVER, spaces[i], 3);
		assert_int_equal(rig_connect(&rig, rig_caller(&rig, CLIENT, spaces[i]), 1, ""), 0);
		shca_ucma_step(rig.ucma);
		server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, text), -EINVAL);
		shca_ucma_step(rig.ucma);
		assert_int_equal(rig_event(&rig, i == 0 ? RIG_REJECTED : RIG_UNREACHABLE).status,
			i == 0 ? 28 : 2);
		rig_expect_silence(&rig);
		rig_close(&rig);
	}
}

/** Of one that connects by queue pairs of any type, to who listens for those of another. */
static void
test_types(void **state)
{
	static const struct {
		uint8_t client, server;
		int wanted; /* of connect; then the event, and its status */
		uint32_t event;
		int status;
	} rows[] = {
		{ IB_UVERBS_QPT_RC, IB_UVERBS_QPT_RC, 0, RIG_CONNECT_REQUEST, 0 },
		{ IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UC, 0, RIG_CONNECT_REQUEST, 0 },
		{ IB_UVERBS_QPT_XRC_INI, IB_UVERBS_QPT_XRC_TGT, 0, RIG_CONNECT_REQUEST, 0 },
		{ IB_UVERBS_QPT_UD, IB_UVERBS_QPT_UD, 0, RIG_CONNECT_REQUEST, 0 },
		/* cma_ib_check_req_qp_type() */
		{ IB_UVERBS_QPT_UC, IB_UVERBS_QPT_RC, 0, RIG_REJECTED, 28 },
		{ IB_UVERBS_QPT_RC, IB_UVERBS_QPT_XRC_TGT, 0, RIG_REJECTED, 28 },
		{ IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UD, 0, RIG_REJECTED, 28 },
		/* cm_validate_req_param() */
		{ IB_UVERBS_QPT_XRC_TGT, IB_UVERBS_QPT_XRC_TGT, -EINVAL, 0, 0 },
		{ 200, IB_UVERBS_QPT_RC, -EINVAL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t server, client;
		struct rig rig;

		rig_open(&rig);
		server = rig_create_of_type(&rig, SERVER, rows[i].server);
		assert_int_equal(rig_bind(&rig, server, 2, RIG_PORT), 0);
		assert_int_equal(rig_listen(&rig, server, 3), 0);
		client = rig_create_of_type(&rig, CLIENT, rows[i].client);
		assert_int_equal(rig_resolve(&rig, client, 1, 2, RIG_PORT), 0);
		rig_event(&rig, RIG_ADDR_RESOLVED);
		assert_int_equal(rig_route(&rig, client), 0);
		rig_event(&rig, RIG_ROUTE_RESOLVED);
		assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, ""), rows[i].wanted);
		/* Only XRC's is a transport of those (annex A14). */
		assert_int_equal(rig.req.extended_transport,
			rows[i].wanted == 0 && rows[i].client == IB_UVERBS_QPT_XRC_INI);
		shca_ucma_step(rig.ucma);
		if (rows[i].wanted == 0)
			assert_int_equal(
				rig_event(&rig, rows[i].event).status, (uint32_t)rows[i].status);
		rig_close(&rig);
	}
}

/** Who listens goes, with a request that nobody has looked at. */
static void
test_listener_goes(void **state)
{
	uint32_t listener;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	listener = rig_listener(&rig, SERVER, RDMA_PS_TCP, 5);
	assert_int_equal(
		rig_connect(&rig, rig_caller(&rig, CLIENT, RDMA_PS_TCP), QPN_CLIENT, ""), 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_destroy(&rig, listener), 0);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig_event(&rig, RIG_REJECTED).status, 28);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 1);
	rig_close(&rig);
}

/** A program that ends takes all its identifiers with it, and the other side is told. */
static void
test_program_ends(void **state)
{
	uint32_t client, server;
	struct rig rig;
	int fd;

	(void)state;
	begin(&rig, &client, &server);
	fd = rig.fd;
	rig.fd = shca_ucma_open(rig.ucma, true);
	assert_int_equal(rig_destroy(&rig, rig_create(&rig, 1, RDMA_PS_TCP)), 0);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 3);
	close(fd);
	shca_ucma_reap(rig.ucma);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 0);
	rig_listener(&rig, SERVER, RDMA_PS_TCP, 5);
	rig_close(&rig);
}

static void
test_ud(void **state)
{
	struct ib_uverbs_qp_attr attr;
	struct rdma_ucm_event_resp event;
	uint32_t client, server;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_UDP, 3);
	client = rig_caller(&rig, CLIENT, RDMA_PS_UDP);
	assert_int_equal(rig_qp_attr(&rig, client, IBV_QPS_INIT, &attr), 0);
	assert_int_equal(
		attr.qp_attr_mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	assert_int_equal(attr.qkey, 0x01234567);
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, "ping"), 0);
	shca_ucma_step(rig.ucma);
	event = rig_event(&rig, RIG_CONNECT_REQUEST);
	server = event.id;
	assert_int_equal(event.param.ud.private_data_len, 180);
	assert_memory_equal(event.param.ud.private_data, "ping", 4);
	assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, "pong"), 0);
	shca_ucma_step(rig.ucma);
	event = rig_event(&rig, RIG_ESTABLISHED);
	assert_int_equal(event.uid, CLIENT);
	assert_int_equal(event.param.ud.qp_num, QPN_SERVER);
	assert_int_equal(event.param.ud.qkey, 0x01234567);
	assert_int_equal(event.param.ud.ah_attr.grh.dgid[15], 2);
	assert_memory_equal(event.param.ud.private_data, "pong", 4);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** core/cma.c rdma_accept(): the other side learns of no queue pair. */
static void
test_ud_without_parameters(void **state)
{
	struct rdma_ucm_event_resp event;
	uint32_t client, server;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_listener(&rig, SERVER, RDMA_PS_UDP, 3);
	client = rig_caller(&rig, CLIENT, RDMA_PS_UDP);
	assert_int_equal(rig_connect(&rig, client, QPN_CLIENT, "ping"), 0);
	shca_ucma_step(rig.ucma);
	server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
	assert_int_equal(rig_accept(&rig, server, 0, 0, NULL), 0);
	shca_ucma_step(rig.ucma);
	event = rig_event(&rig, RIG_ESTABLISHED);
	assert_int_equal(event.param.ud.qp_num, 0);
	assert_int_equal(event.param.ud.qkey, 0x01234567);
	rig_close(&rig);
}

/** In a group, or having called before, it has a Q_Key: another one is an error (cma_set_qkey()).
 */
static void
test_ud_of_another_qkey(void **state)
{
	static const uint32_t theirs[] = { 0x01234567, 0x89abcdef, 0 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct rdma_ucm_create_id_resp answer;
		struct rdma_ucm_join_mcast join = {
			.response = (uintptr_t)&answer,
			.addr_size = sizeof(struct sockaddr_in),
		};
		const struct sockaddr_in group = { .sin_family = AF_INET,
			.sin_addr.s_addr = htonl(0xe0010203) };
		struct rdma_ucm_event_resp event;
		struct rig rig;
		uint32_t server;

		rig_open(&rig);
		rig.changes_qkey = true;
		rig.qkey = theirs[i];
		rig_listener(&rig, SERVER, RDMA_PS_UDP, 3);
		join.id = rig_create(&rig, CLIENT, RDMA_PS_UDP);
		memcpy(&join.addr, &group, sizeof(group));
		assert_int_equal(rig_bind(&rig, join.id, 1, 0), 0);
		assert_int_equal(
			rig_do(&rig, RDMA_USER_CM_CMD_JOIN_MCAST, &join, sizeof(join), 4), 0);
		rig_event(&rig, RIG_MULTICAST_JOIN);
		assert_int_equal(rig_resolve(&rig, join.id, 1, 2, RIG_PORT), 0);
		rig_event(&rig, RIG_ADDR_RESOLVED);
		assert_int_equal(rig_route(&rig, join.id), 0);
		rig_event(&rig, RIG_ROUTE_RESOLVED);
		assert_int_equal(rig_connect(&rig, join.id, QPN_CLIENT, "ping"), 0);
		shca_ucma_step(rig.ucma);
		server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		assert_int_equal(rig_accept(&rig, server, ACCEPTED, QPN_SERVER, "pong"), 0);
		shca_ucma_step(rig.ucma);
		event = rig_event(&rig, i == 0 ? RIG_ESTABLISHED : RIG_ADDR_ERROR);
		assert_int_equal((int)event.status, i == 0 ? 0 : -EINVAL);
		rig_close(&rig);
	}
}

/** To fd00::2, from fd00::1. @return what the connect command says */
static int
call6(struct rig *rig)
{
	const struct sockaddr_in6 src = rig_address6(1, 0), dst = rig_address6(2, RIG_PORT);
	struct rdma_ucm_resolve_addr command = {
		.id = rig_create(rig, CLIENT, RDMA_PS_TCP),
		.timeout_ms = 1000,
		.src_size = sizeof(src),
		.dst_size = sizeof(dst),
	};

	memcpy(&command.src_addr, &src, sizeof(src));
	memcpy(&command.dst_addr, &dst, sizeof(dst));
	assert_int_equal(RIG_DO(rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), 0);
	assert_int_equal(rig_event(rig, RIG_ADDR_RESOLVED).uid, CLIENT);
	assert_int_equal(rig_route(rig, command.id), 0);
	rig_event(rig, RIG_ROUTE_RESOLVED);
	return rig_connect(rig, command.id, QPN_CLIENT, "");
}

/** Who listens at any address of IPv4 is called by IPv6 only if it has said that it does not want
 * its family only (rdma_bind_addr(), cma_match_private_data()). */
static void
test_any_family(void **state)
{
	struct rig rig;

	(void)state;
	for (int is_afonly = -1; is_afonly < 2; is_afonly++) {
		uint32_t id;

		rig_open(&rig);
		id = rig_create(&rig, SERVER, RDMA_PS_TCP);
		if (is_afonly >= 0)
			assert_int_equal(rig_option(&rig, id, RDMA_OPTION_ID_AFONLY, &is_afonly,
						 sizeof(is_afonly)),
				0);
		assert_int_equal(rig_bind_any(&rig, id, RIG_PORT), 0);
		assert_int_equal(rig_listen(&rig, id, 1), 0);
		assert_int_equal(call6(&rig), 0);
		shca_ucma_step(rig.ucma);
		if (is_afonly != 0)
			assert_int_equal(rig_event(&rig, RIG_REJECTED).status, 28);
		else
			assert_int_equal(rig_event(&rig, RIG_CONNECT_REQUEST).uid, SERVER);
		rig_close(&rig);
	}
}

static void
test_notify(void **state)
{
	struct rdma_ucm_notify command = { .event = 4 };
	uint32_t client, server;
	struct rig rig;

	(void)state;
	begin(&rig, &client, &server);
	command.id = server;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_NOTIFY, command), 0);
	assert_int_equal(rig_event(&rig, RIG_ESTABLISHED).uid, ACCEPTED);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_NOTIFY, command), -EISCONN);
	command.event = 3;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_NOTIFY, command), -EINVAL);
	assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), 0);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_established_last),
		cmocka_unit_test(test_disconnect),
		cmocka_unit_test(test_disconnect_nobody),
		cmocka_unit_test(test_qp_attr),
		cmocka_unit_test(test_psns),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_slow_acks),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_disconnect_in_vain),
		cmocka_unit_test(test_refused_late),
		cmocka_unit_test(test_accept_fails),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_listener_goes),
		cmocka_unit_test(test_program_ends),
		cmocka_unit_test(test_ud),
		cmocka_unit_test(test_ud_without_parameters),
		cmocka_unit_test(test_ud_of_another_qkey),
		cmocka_unit_test(test_any_family),
		cmocka_unit_test(test_notify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
