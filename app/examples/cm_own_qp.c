/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A connection whose queue pair is the application's: librdmacm knows its number and nothing else.
 * The active side gets CONNECT_RESPONSE, moves its queue pair by what rdma_init_qp_attr() says, and
 * calls rdma_establish(); only then the passive side gets ESTABLISHED.
 *
 * usage: cm-own-qp ADDRESS                  wait for a connection to the address, and receive a
 * word cm-own-qp ADDRESS WORD [TIMEOUT]   connect to it and send the word; ACK timeout: an exponent
 */
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT       "7471"
#define WORD_BYTES 64
#define WAIT_MS    2000

static char word[WORD_BYTES];

static void
must(int succeeds, const char *what)
{
	if (succeeds)
		return;
	perror(what);
	exit(1);
}

/** Wait for an event, which has to be this one. The caller gives it back. */
static struct rdma_cm_event *
await(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	must(rdma_get_cm_event(channel, &event) == 0, "rdma_get_cm_event");
	printf("%s\n", rdma_event_str(event->event));
	fflush(stdout);
	if (event->event != wanted) {
		fprintf(stderr, "wanted %s\n", rdma_event_str(wanted));
		exit(1);
	}
	return event;
}

static void
is_told(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted)
{
	rdma_ack_cm_event(await(channel, wanted));
}

/** What rdma_create_qp() would do as well, and keep in id->qp. */
static struct ibv_qp *
make_qp(struct rdma_cm_id *id, struct ibv_mr **mr)
{
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp;

	must(pd != NULL && cq != NULL, "PD and CQ");
	*mr = ibv_reg_mr(pd, word, sizeof(word), IBV_ACCESS_LOCAL_WRITE);
	qp = ibv_create_qp(pd, &attr);
	must(qp != NULL && *mr != NULL, "ibv_create_qp");
	return qp;
}

/** The connection knows all attributes of a state, and which of them count. */
static void
move(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	must(rdma_init_qp_attr(id, &attr, &mask) == 0, "rdma_init_qp_attr");
	must(ibv_modify_qp(qp, &attr, mask) == 0, "ibv_modify_qp");
}

static void
await_completion(struct ibv_qp *qp)
{
	struct ibv_wc wc = { 0 };
	int nb;

	while ((nb = ibv_poll_cq(qp->recv_cq, 1, &wc)) == 0)
		;
	must(nb == 1, "ibv_poll_cq");
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
		exit(1);
	}
}

static void
print_timeout(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(ibv_query_qp(qp, &attr, IBV_QP_TIMEOUT, &init) == 0, "ibv_query_qp");
	printf("ACK timeout of the queue pair: %u\n", attr.timeout);
}

static void
serve(struct rdma_event_channel *channel, struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_qp *qp;

	must(rdma_listen(listener, 1) == 0, "rdma_listen");
	puts("listening");
	event = await(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	rdma_ack_cm_event(event);
	qp = make_qp(id, &mr);
	sge = (struct ibv_sge){ (uintptr_t)word, sizeof(word), mr->lkey };
	move(id, qp, IBV_QPS_INIT);
	must(ibv_post_recv(qp, &wr, &bad) == 0, "ibv_post_recv");
	move(id, qp, IBV_QPS_RTR);
	move(id, qp, IBV_QPS_RTS);
	param.qp_num = qp->qp_num;
	must(rdma_accept(id, &param) == 0, "rdma_accept");
	is_told(channel, RDMA_CM_EVENT_ESTABLISHED);
	await_completion(qp);
	printf("received: %.*s\n", WORD_BYTES - 1, word);
	is_told(channel, RDMA_CM_EVENT_DISCONNECTED);
	must(rdma_disconnect(id) == 0, "rdma_disconnect");
}

static void
call(struct rdma_event_channel *channel, struct rdma_cm_id *id, struct rdma_addrinfo *to,
	const char *timeout)
{
	struct rdma_conn_param param = { .responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7 };
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_qp *qp;

	must(rdma_resolve_addr(id, NULL, to->ai_dst_addr, WAIT_MS) == 0, "rdma_resolve_addr");
	is_told(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(rdma_resolve_route(id, WAIT_MS) == 0, "rdma_resolve_route");
	is_told(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (timeout != NULL) {
		uint8_t exponent = (uint8_t)atoi(timeout);

		must(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &exponent,
			     sizeof(exponent)) == 0,
			"rdma_set_option");
	}
	qp = make_qp(id, &mr);
	sge = (struct ibv_sge){ (uintptr_t)word, sizeof(word), mr->lkey };
	param.qp_num = qp->qp_num;
	must(rdma_connect(id, &param) == 0, "rdma_connect");
	is_told(channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	move(id, qp, IBV_QPS_INIT);
	move(id, qp, IBV_QPS_RTR);
	move(id, qp, IBV_QPS_RTS);
	print_timeout(qp);
	must(rdma_establish(id) == 0, "rdma_establish");
	must(ibv_post_send(qp, &wr, &bad) == 0, "ibv_post_send");
	await_completion(qp);
	must(rdma_disconnect(id) == 0, "rdma_disconnect");
	is_told(channel, RDMA_CM_EVENT_DISCONNECTED);
}

int
main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *address;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: %s ADDRESS [WORD [TIMEOUT]]\n", argv[0]);
		return 2;
	}
	hints.ai_flags = argc == 2 ? RAI_PASSIVE : 0;
	must(channel != NULL, "rdma_create_event_channel");
	must(rdma_getaddrinfo(argv[1], PORT, &hints, &address) == 0, argv[1]);
	must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	if (argc == 2) {
		must(rdma_bind_addr(id, address->ai_src_addr) == 0, "rdma_bind_addr");
		serve(channel, id);
	} else {
		snprintf(word, sizeof(word), "%s", argv[2]);
		call(channel, id, address, argc == 4 ? argv[3] : NULL);
	}
	return 0;
}
