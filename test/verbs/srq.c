/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: who takes from one, its limits and events, and errors that stay with one
 * queue pair. */
#include <errno.h>
#include <string.h>

#include "pair.h"

#define NB_WRS  16
#define NB_SGES 2
#define BYTES   100

static struct ibv_srq *srq;
static struct ibv_cq *cq;
static uint32_t max_wr;

static int
try_post(uint64_t id, unsigned int buffer, size_t length)
{
	struct ibv_sge sge = rig_sge(buffer, 0, length);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static void
post(uint64_t id, unsigned int buffer)
{
	rig_must(try_post(id, buffer, RIG_BUFFER_BYTES), "ibv_post_srq_recv");
}

/** Send from buffer 0, whose first byte is @p content. */
static void
send(struct ibv_qp *from, uint8_t content, struct ibv_ah *ah, const struct ibv_qp *to)
{
	struct ibv_sge sge = rig_sge(0, 0, BYTES);
	struct ibv_send_wr wr = pair_wr(IBV_WR_SEND, 1000 + content, &sge);

	*rig_buffer(0) = content;
	if (ah != NULL) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = to->qp_num;
		wr.wr.ud.remote_qkey = PAIR_KEY;
	}
	pair_post(from, &wr);
}

/** Wait for the two completions of a message. @return the receiver's */
static struct ibv_wc
collect(enum ibv_wc_status status)
{
	struct ibv_wc first = pair_poll(cq, status), second = pair_poll(cq, status);

	return first.opcode == IBV_WC_SEND ? second : first;
}

static void
limits(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 40000, .max_sge = 1 } };
	struct ibv_device_attr device;
	struct ibv_srq_attr attr;

	rig_must(ibv_query_device(rig_context, &device), "ibv_query_device");
	CHECK(device.max_srq > 0 && device.max_srq_wr > 0 && device.max_srq_sge > 0,
		device.max_srq);
	CHECK_REFUSED(ibv_create_srq(rig_pd, &init), EINVAL);
	init.attr = (struct ibv_srq_attr){ .max_wr = NB_WRS, .max_sge = NB_SGES };
	srq = ibv_create_srq(rig_pd, &init);
	if (srq == NULL)
		rig_die("ibv_create_srq");
	max_wr = init.attr.max_wr;
	CHECK(max_wr >= NB_WRS && init.attr.max_sge >= NB_SGES, max_wr);
	rig_must(ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(attr.max_wr >= max_wr && attr.max_sge >= NB_SGES && attr.srq_limit == 0, attr.max_wr);
	attr.max_wr = 2 * max_wr;
	CHECK(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR) == EINVAL, errno);
	attr.srq_limit = 1u << 20;
	CHECK(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) == EINVAL, errno);
}

/** Each takes the oldest WR, whoever it is. */
static void
shared_by_three(struct ibv_qp *one, struct ibv_qp *other, struct ibv_qp *datagrams)
{
	struct ibv_qp *const qps[] = { one, other, datagrams };
	struct ibv_ah *ah = pair_ah();

	for (unsigned int i = 0; i < 12; i++)
		post(i, 1 + i);
	for (uint8_t i = 0; i < 12; i++) {
		struct ibv_qp *from = qps[i % 3];
		const bool is_datagram = from == datagrams;
		struct ibv_wc wc;

		send(from, i, is_datagram ? ah : NULL, datagrams);
		wc = collect(IBV_WC_SUCCESS);
		CHECK(wc.wr_id == i, wc.wr_id);
		CHECK(wc.byte_len == BYTES + (is_datagram ? 40u : 0), wc.byte_len);
		CHECK(wc.qp_num ==
				(from == one                    ? other
						: from == other ? one
								: from)
					->qp_num,
			wc.qp_num);
		CHECK(rig_buffer(1u + i)[is_datagram ? 40 : 0] == i, i);
	}
	rig_must(ibv_destroy_ah(ah), "ibv_destroy_ah");
}

/** Laps of the ring; one that is full says so. */
static void
many_times_full(struct ibv_qp *one)
{
	unsigned int nb = 0;

	while (try_post(nb, 1, RIG_BUFFER_BYTES) == 0)
		nb++;
	CHECK(nb == max_wr, nb);
	for (unsigned int i = 0; i < 10 * max_wr; i++) {
		struct ibv_wc wc;

		send(one, (uint8_t)i, NULL, NULL);
		wc = collect(IBV_WC_SUCCESS);
		CHECK(wc.wr_id == i, wc.wr_id);
		post(nb++, 1);
	}
	for (; nb > 10 * max_wr; nb--) {
		send(one, 0, NULL, NULL);
		collect(IBV_WC_SUCCESS);
	}
}

/** IBTA 11.6.3.1: once, until it is armed again. */
static void
limit_reached(struct ibv_qp *one)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct ibv_async_event event;

	for (unsigned int i = 0; i < 4; i++)
		post(i, 1);
	rig_must(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), "ibv_modify_srq");
	send(one, 0, NULL, NULL);
	collect(IBV_WC_SUCCESS);
	CHECK(!pair_has_event(), 0);
	rig_must(ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(attr.srq_limit == 3, attr.srq_limit);
	send(one, 1, NULL, NULL);
	collect(IBV_WC_SUCCESS);
	event = pair_event(IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK(event.element.srq == srq, 0);
	rig_must(ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(attr.srq_limit == 0, attr.srq_limit);
	for (uint8_t i = 0; i < 2; i++) {
		send(one, i, NULL, NULL);
		collect(IBV_WC_SUCCESS);
	}
	CHECK(!pair_has_event(), 0);
}

/** The sender waits until there is one. */
static void
empty(struct ibv_qp *one)
{
	struct ibv_wc wc;

	send(one, 7, NULL, NULL);
	CHECK(ibv_poll_cq(cq, 1, &wc) == 0, 0);
	post(70, 3);
	wc = collect(IBV_WC_SUCCESS);
	CHECK(wc.wr_id == 70 && *rig_buffer(3) == 7, wc.wr_id);
}

/** A message that is too long breaks its queue pairs, not the shared queue. */
static void
too_long(struct ibv_qp *one, struct ibv_qp *other)
{
	struct ibv_async_event event;
	struct ibv_wc wc;

	rig_must(try_post(80, 1, BYTES - 1), "ibv_post_srq_recv");
	post(81, 1);
	send(one, 0, NULL, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		rig_poll(cq, &wc, 1);
		CHECK(wc.status ==
				(wc.qp_num == one->qp_num ? IBV_WC_REM_INV_REQ_ERR
							  : IBV_WC_LOC_LEN_ERR),
			wc.status);
		CHECK(wc.wr_id == (wc.qp_num == one->qp_num ? 1000u : 80u), wc.wr_id);
	}
	CHECK(pair_state(one) == IBV_QPS_ERR && pair_state(other) == IBV_QPS_ERR, 0);
	/* The receiver's errors, and that each has taken its last WR. */
	for (unsigned int i = 0, nb_last = 0; i < 3; i++) {
		rig_must(ibv_get_async_event(rig_context, &event), "ibv_get_async_event");
		nb_last += event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED;
		CHECK(event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED ||
				event.event_type == IBV_EVENT_QP_REQ_ERR,
			event.event_type);
		CHECK(i != 2 || nb_last == 2, nb_last);
		ibv_ack_async_event(&event);
	}
}

/** WR 81 is still there for another. */
static void
last_reached(struct ibv_qp *datagrams)
{
	struct ibv_async_event event;
	struct ibv_ah *ah = pair_ah();
	struct ibv_wc wc;

	send(datagrams, 9, ah, datagrams);
	wc = collect(IBV_WC_SUCCESS);
	CHECK(wc.wr_id == 81, wc.wr_id);
	post(90, 1);
	pair_to_state(datagrams, IBV_QPS_ERR);
	event = pair_event(IBV_EVENT_QP_LAST_WQE_REACHED);
	CHECK(event.element.qp == datagrams, 0);
	CHECK(ibv_poll_cq(cq, 1, &wc) == 0, 0);
	rig_must(ibv_destroy_ah(ah), "ibv_destroy_ah");
}

int
main(void)
{
	struct ibv_qp *one, *other, *datagrams;

	rig_open();
	cq = pair_cq();
	limits();
	one = pair_qp(IBV_QPT_RC, cq, srq);
	other = pair_qp(IBV_QPT_RC, cq, srq);
	datagrams = pair_qp(IBV_QPT_UD, cq, srq);
	CHECK(ibv_destroy_srq(srq) == EBUSY, errno);
	pair_connect(one, other);
	pair_start(datagrams, 0);
	shared_by_three(one, other, datagrams);
	many_times_full(one);
	limit_reached(one);
	empty(one);
	too_long(one, other);
	last_reached(datagrams);
	rig_must(ibv_destroy_qp(one), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(datagrams), "ibv_destroy_qp");
	rig_must(ibv_destroy_srq(srq), "ibv_destroy_srq");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
