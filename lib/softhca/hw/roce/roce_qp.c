/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs with a transport: creation, states, the round over all of them, frames. */
#include "hw/roce/roce_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "hw/queue/cq.h"
#include "hw/queue/out.h"
#include "hw/roce/count.h"
#include "hw/roce/group.h"
#include "hw/roce/late.h"
#include "hw/roce/qp1.h"
#include "hw/roce/roce_strict.h"
#include "hw/roce/state.h"
#include "hw/roce/window.h"
#include "transport/engine/rnr.h"

/** Packets of a queue pair in one round. */
#define BURST 64

static bool
can_pin(const struct shca_roce_qp_attr *attr)
{
	return (attr->dbrec == NULL || shca_mem_can_pin(attr->dbrec, SHCA_DBREC_BYTES, false)) &&
		(attr->nb_wqebbs == 0 ||
			shca_mem_can_pin(attr->sq_ring,
				(uint64_t)attr->nb_wqebbs * SHCA_WQEBB_BYTES, false)) &&
		(attr->nb_wqes == 0 ||
			shca_mem_can_pin(attr->rq_ring,
				(uint64_t)attr->nb_wqes * attr->stride_bytes, false));
}

int
shca_roce_qp_create(
	struct shca_device *dev, const struct shca_roce_qp_attr *attr, struct shca_roce_qp **out)
{
	struct shca_roce_qp *qp;
	int ret;

	if (!can_pin(attr))
		return -EFAULT;
	if ((attr->send_cq != NULL && !shca_cq_has_clock(attr->send_cq)) ||
		(attr->recv_cq != NULL && !shca_cq_has_clock(attr->recv_cq)) ||
		!shca_cq_have_one_clock(attr->send_cq, attr->recv_cq))
		return -EOPNOTSUPP;
	qp = calloc(1, sizeof(*qp));
	if (qp == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&dev->roce_numbers, qp, &qp->number);
	if (ret != 0) {
		free(qp);
		return ret;
	}
	qp->dev = dev;
	qp->attr = *attr;
	LIST_INSERT_HEAD(&dev->roce_qps, qp, link);
	*out = qp;
	return 0;
}

void
shca_roce_qp_destroy(struct shca_roce_qp *qp)
{
	if (qp == NULL)
		return;
	shca_late_keep(qp);
	shca_roce_count_engines(qp);
	shca_group_detach_all(qp);
	shca_window_forget_qp(qp->dev->mem, qp->number);
	if (qp->dev->roce_turn == qp)
		qp->dev->roce_turn = LIST_NEXT(qp, link);
	LIST_REMOVE(qp, link);
	shca_idtable_del(&qp->dev->roce_numbers, qp->number);
	free(qp);
}

uint32_t
shca_roce_qp_number(const struct shca_roce_qp *qp)
{
	return qp->number;
}

void *
shca_roce_qp_owner(const struct shca_roce_qp *qp)
{
	return qp->attr.owner;
}

void *
shca_roce_qp_find_target(struct shca_device *dev, uint32_t number, uint32_t xrcdn)
{
	const struct shca_roce_qp *qp = shca_idtable_get(&dev->roce_numbers, number);

	if (qp == NULL || qp->attr.type != SHCA_ROCE_XRC_TGT || qp->attr.xrcdn != xrcdn)
		return NULL;
	return qp->attr.owner;
}

void
shca_roce_qp_give(struct shca_roce_qp *qp, const struct shca_context *context, void *owner)
{
	qp->attr.context = context;
	qp->attr.owner = owner;
}

enum shca_roce_state
shca_roce_qp_state(const struct shca_roce_qp *qp)
{
	return qp->state;
}

static bool
is_reliable(const struct shca_roce_qp *qp)
{
	return qp->attr.type == SHCA_ROCE_RC || shca_roce_is_xrc(qp);
}

static void
start_responder(struct shca_roce_qp *qp)
{
	shca_roce_count_engines(qp);
	shca_responder_init(&qp->responder,
		&(struct shca_responder_conf){
			.host = &shca_roce_responder_host,
			.arg = qp,
			.is_reliable = is_reliable(qp),
			.mtu = qp->conf.mtu,
			.psn = qp->conf.rq_psn,
			.max_dest_rd_atomic = qp->conf.max_dest_rd_atomic,
			.min_rnr_timer = qp->conf.min_rnr_timer,
		});
}

static void
start_requester(struct shca_roce_qp *qp)
{
	shca_roce_count_engines(qp);
	shca_requester_init(&qp->requester,
		&(struct shca_requester_conf){
			.host = &shca_roce_requester_host,
			.arg = qp,
			.is_reliable = is_reliable(qp),
			.mtu = qp->conf.mtu,
			.psn = qp->conf.sq_psn,
			.max_rd_atomic = qp->conf.max_rd_atomic,
			.timeout_ns = shca_timeout_ns(qp->conf.timeout),
			.retries = qp->conf.retries,
			.rnr_retries = qp->conf.rnr_retries,
		});
	qp->ud_psn = qp->conf.sq_psn;
}

/** From SQE: what is posted now is sent, from the next PSN on. */
static void
restart_requester(struct shca_roce_qp *qp)
{
	const uint32_t ud_psn = qp->ud_psn, psn = qp->requester.next;

	start_requester(qp);
	qp->requester.una = qp->requester.next = psn;
	qp->requester.sent_end = qp->requester.end = psn;
	qp->ud_psn = ud_psn;
	qp->sq_next = qp->sq_ci;
}

static void
reset(struct shca_roce_qp *qp)
{
	qp->sq_ci = qp->sq_next = qp->rq_ci = 0;
	qp->first_syndrome = 0;
	qp->is_halted = false;
	qp->has_wqe = false;
	qp->is_dead = false;
	qp->is_established = false;
	qp->cannot_complete = false;
	qp->rx_wqe.is_taken = false;
	qp->is_last_told = false;
	qp->looked_at = 0;
	qp->nb_unsignaled = 0;
	shca_roce_count_engines(qp);
	qp->requester = (struct shca_requester){ 0 };
	qp->responder = (struct shca_responder){ 0 };
}

/** The program's step to ERROR: memory is its own again, so that reads which wait are not answered
 * (IBTA 10.3.1). One that an error has brought there still owes a NAK, behind such reads. */
static void
halt(struct shca_roce_qp *qp, enum shca_roce_state was)
{
	if (was == SHCA_ROCE_RTS)
		qp->is_halted = !shca_requester_is_idle(&qp->requester);
	if (was != SHCA_ROCE_ERROR)
		shca_responder_forget(&qp->responder);
	shca_roce_break(qp);
}

/** In ERROR the next round flushes: it catches faults on the program's memory. */
void
shca_roce_qp_modify(
	struct shca_roce_qp *qp, enum shca_roce_state state, const struct shca_roce_qp_conf *conf)
{
	const enum shca_roce_state was = qp->state;

	if (shca_is_strict(qp->dev))
		shca_roce_strict_modify(qp, state, conf);
	if (state == SHCA_ROCE_RESET || state == SHCA_ROCE_ERROR)
		shca_late_keep(qp);
	qp->conf = *conf;
	qp->state = state;
	if (state == SHCA_ROCE_RESET)
		reset(qp);
	else if (state == SHCA_ROCE_ERROR)
		halt(qp, was);
	else if (state == SHCA_ROCE_RTR && was == SHCA_ROCE_INIT)
		start_responder(qp);
	else if (state == SHCA_ROCE_RTS && was == SHCA_ROCE_RTR)
		start_requester(qp);
	else if (state == SHCA_ROCE_RTS && was == SHCA_ROCE_SQE)
		restart_requester(qp);
	/* Of what its engines are told it alone changes while they run. */
	qp->responder.conf.min_rnr_timer = qp->conf.min_rnr_timer;
	/* A program that asks for RTS knows that the other side is there (IBTA 12.9.6). */
	qp->is_established = qp->is_established || state == SHCA_ROCE_RTS;
}

void
shca_roce_qp_psns(const struct shca_roce_qp *qp, uint32_t *sq_psn, uint32_t *rq_psn)
{
	*sq_psn = qp->attr.type == SHCA_ROCE_UD ? qp->ud_psn & SHCA_PSN_MASK : qp->requester.next;
	*rq_psn = qp->responder.psn;
}

void
shca_roce_qp_counts(struct shca_roce_qp *qp, struct shca_qp_counts *counts)
{
	shca_roce_count_engines(qp);
	*counts = qp->counts;
}

/** @return whether the counter of sends is beyond the ring: a program's bug, no WQE is valid. */
static bool
has_overrun(struct shca_roce_qp *qp)
{
	const uint16_t nb_posted = shca_roce_nb_posted(qp, qp->sq_ci);

	if (nb_posted <= qp->attr.nb_wqebbs)
		return false;
	SHCA_WARN("QP 0x%x: %u send WQEBBs in a ring of %u", qp->number, nb_posted,
		qp->attr.nb_wqebbs);
	if (shca_is_strict(qp->dev))
		shca_roce_strict_overrun(qp, MLX5_SND_DBR, qp->sq_ci, qp->attr.nb_wqebbs);
	shca_roce_qp_fault(qp);
	return true;
}

/** Hand posted WQEs to the requester. */
static void
post(struct shca_roce_qp *qp)
{
	while (qp->state == SHCA_ROCE_RTS && shca_requester_has_room(&qp->requester)) {
		const uint16_t nb_posted = shca_roce_nb_posted(qp, qp->sq_next);
		uint8_t syndrome;

		if (nb_posted == 0)
			return;
		syndrome = shca_roce_fetch(qp, qp->sq_next, nb_posted);
		if (syndrome != 0) {
			/* It fails when those before it are done. */
			if (shca_requester_is_idle(&qp->requester))
				shca_roce_fail_sq(qp, &qp->wqe.wr, syndrome);
			return;
		}
		qp->sq_next += qp->wqe.wr.nb_wqebbs;
		shca_requester_post(&qp->requester, &qp->wqe.wr);
	}
}

static void
send(struct shca_roce_qp *qp, struct shca_bth *bth)
{
	shca_roce_address(qp, bth);
	shca_roce_send(qp->dev, &qp->conf.path, bth);
	qp->dev->nb_done++;
}

/** Note when a timer of the queue pair ends. */
static void
note_due(struct shca_roce_qp *qp)
{
	const uint64_t due_ns = shca_requester_due_ns(&qp->requester);
	uint64_t ticks;

	if (due_ns == SHCA_NEVER)
		return;
	ticks = due_ns / 32 * 5;
	if (ticks < qp->dev->paced_ticks)
		__atomic_store_n(&qp->dev->paced_ticks, ticks, __ATOMIC_RELAXED);
}

/** Answers go first: the other side may wait for them to send. @param has_looked for answers since
 * the last time: who catches up runs queue pairs without a look at the wire */
static void
run_connected(struct shca_roce_qp *qp, bool has_looked)
{
	struct shca_bth bth = { 0 };
	uint8_t *room = NULL;

	for (unsigned int i = 0; i < BURST; i++) {
		room = shca_roce_room(qp->dev);
		if (room == NULL || !shca_responder_next(&qp->responder, &bth, room))
			break;
		send(qp, &bth);
	}
	if (qp->state != SHCA_ROCE_RTS)
		return;
	if (has_looked)
		shca_requester_look(&qp->requester, shca_roce_now_ns(qp->dev), qp->dev->is_behind);
	for (unsigned int i = 0; i < BURST; i++) {
		post(qp);
		room = shca_roce_room(qp->dev);
		if (room == NULL ||
			!shca_requester_next(&qp->requester, shca_roce_now_ns(qp->dev), &bth, room))
			break;
		send(qp, &bth);
	}
	note_due(qp);
}

static void
run_one(struct shca_roce_qp *qp, bool has_looked)
{
	struct shca_device *dev = qp->dev;

	if (qp->state < SHCA_ROCE_RTR || qp->is_dead)
		return;
	shca_touch(dev, SHCA_TOUCH_ROCE, qp);
	if (qp->state == SHCA_ROCE_RTS && has_overrun(qp))
		return;
	if (qp->attr.type == SHCA_ROCE_UD)
		dev->nb_done += shca_roce_run_ud(qp, BURST);
	else
		run_connected(qp, has_looked);
	if (qp->state == SHCA_ROCE_ERROR || qp->state == SHCA_ROCE_SQE)
		dev->nb_done += shca_roce_flush(qp);
}

/** Where the wire takes no more, the next round begins behind the one that has filled it: else
 * those that are first in the list, and send without a pause, would be the only ones to send. */
static void
run_all(struct shca_device *dev)
{
	const bool has_looked = dev->has_looked;
	struct shca_roce_qp *first, *qp, *next;
	uint32_t nb = 0, nb_turns = 0;
	bool had_room;

	dev->has_looked = false;
	if (shca_is_strict(dev))
		shca_roce_strict_round(dev);
	shca_late_send(dev);
	had_room = shca_roce_room(dev) != NULL;
	first = dev->roce_turn != NULL ? dev->roce_turn : LIST_FIRST(&dev->roce_qps);
	for (qp = first; qp != NULL; qp = next != first ? next : NULL) {
		run_one(qp, has_looked);
		nb++;
		next = LIST_NEXT(qp, link) != NULL ? LIST_NEXT(qp, link)
						   : LIST_FIRST(&dev->roce_qps);
		if (had_room && shca_roce_room(dev) == NULL) {
			had_room = false;
			dev->roce_turn = next;
			nb_turns = nb;
		}
	}
	if (nb_turns != 0)
		shca_qp1_count_turns(&dev->qp1, nb_turns, nb);
	shca_out_flush(dev);
}

/** Queue pair 1 is last: a program may ask to disconnect once it has a message, and its
 * acknowledgement leaves first. */
void
shca_roce_run(struct shca_device *dev)
{
	if (dev->qp1.is_due)
		shca_qp1_run(dev);
	if (!LIST_EMPTY(&dev->roce_qps) || !STAILQ_EMPTY(&dev->roce_late))
		run_all(dev);
	if (!TAILQ_EMPTY(&dev->qp1.queue))
		shca_qp1_run(dev);
}

static bool
is_answer(uint8_t opcode)
{
	const uint8_t op = opcode & SHCA_BTH_OP_MASK;

	return op >= SHCA_BTH_READ_FIRST && op <= SHCA_BTH_ATOMIC_ACK;
}

/** XRC has a queue pair for each direction (IBTA A14.2.1). */
static bool
is_of_type(const struct shca_roce_qp *qp, uint8_t opcode)
{
	static const uint8_t services[] = {
		[SHCA_ROCE_RC] = SHCA_BTH_RC,
		[SHCA_ROCE_UC] = SHCA_BTH_UC,
		[SHCA_ROCE_UD] = SHCA_BTH_UD,
		[SHCA_ROCE_XRC_INI] = SHCA_BTH_XRC,
		[SHCA_ROCE_XRC_TGT] = SHCA_BTH_XRC,
	};

	if (shca_roce_is_xrc(qp) && is_answer(opcode) != (qp->attr.type == SHCA_ROCE_XRC_INI))
		return false;
	return (opcode & SHCA_BTH_SERVICE_MASK) == services[qp->attr.type];
}

static void
receive(struct shca_roce_qp *qp, const struct shca_roce_path *path, const struct shca_bth *bth,
	const uint8_t *frame)
{
	if (qp->attr.type == SHCA_ROCE_UD) {
		shca_roce_receive_ud(qp, path, bth, frame);
		return;
	}
	/* A connection takes packets of its other side only, to its own GID (IBTA 9.6.1.2.2). */
	if (memcmp(path->sgid, qp->conf.path.dgid, sizeof(path->sgid)) != 0 ||
		memcmp(path->dgid, qp->conf.path.sgid, sizeof(path->dgid)) != 0)
		return;
	if (is_answer(bth->opcode)) {
		if (qp->state >= SHCA_ROCE_RTS)
			shca_requester_receive(&qp->requester, shca_roce_now_ns(qp->dev), bth);
		return;
	}
	if (!qp->is_established) {
		qp->is_established = true;
		shca_notify(qp->attr.event, qp->attr.owner, SHCA_EVENT_COMM_EST);
	}
	if (shca_is_strict(qp->dev))
		shca_roce_strict_request(qp, bth);
	shca_responder_receive(&qp->responder, bth);
}

/** Give a frame to one of the port's GIDs to its queue pair. */
static void
take(struct shca_device *dev, const struct shca_frame *frame)
{
	struct shca_roce_path path;
	struct shca_roce_qp *qp;
	struct shca_bth bth;

	if (shca_roce_read(frame->bytes, frame->length, &path, &bth) != SHCA_ROCE_GOOD)
		return;
	if (bth.qpn == 1) {
		shca_qp1_receive(dev, &path, &bth);
		return;
	}
	qp = shca_idtable_get(&dev->roce_numbers, bth.qpn);
	/* What no queue pair wants is dropped silently (IBTA 9.6.1.2). */
	if (qp == NULL || qp->is_dead || qp->state < SHCA_ROCE_RTR ||
		qp->state == SHCA_ROCE_ERROR || bth.pkey != SHCA_ROCE_PKEY ||
		!is_of_type(qp, bth.opcode))
		return;
	dev->nb_done++;
	/* The engines know RC's. */
	if (shca_roce_is_xrc(qp))
		bth.opcode &= SHCA_BTH_OP_MASK;
	receive(qp, &path, &bth, frame->bytes);
}

/** The card's switch brings frames to other MACs to rules for all of them alone. */
static bool
is_for_port(const struct shca_device *dev, const struct shca_roce_path *path)
{
	return memcmp(path->dmac, shca_own_mac(dev), sizeof(path->dmac)) == 0 &&
		shca_gid_is_own(dev, path->dgid);
}

bool
shca_roce_wants(const struct shca_device *dev, const struct shca_frame *frame)
{
	enum shca_icrc_network network;
	struct shca_roce_path path;

	if (shca_roce_look(frame->bytes, frame->length, &path, &network) == 0)
		return false;
	return shca_group_is(path.dgid) ? shca_group_wants(dev, frame) : is_for_port(dev, &path);
}

bool
shca_roce_take(struct shca_device *dev, const struct shca_frame *frame)
{
	enum shca_icrc_network network;
	struct shca_roce_path path;

	if (shca_roce_look(frame->bytes, frame->length, &path, &network) == 0)
		return false;
	if (shca_group_is(path.dgid)) {
		if (!shca_group_take(dev, frame))
			return false;
		shca_roce_count_received(dev, frame);
		return true;
	}
	if (!is_for_port(dev, &path))
		return false;
	shca_roce_count_received(dev, frame);
	take(dev, frame);
	return true;
}
