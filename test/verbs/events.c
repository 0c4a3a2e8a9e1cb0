/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion channels: each arm one event, none lost; and asynchronous events. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rig.h"

#define FRAME     64 /* bytes */
#define NB_ROUNDS 500
#define NB_POSTED 32

static struct ibv_comp_channel *channel;
static struct ibv_cq *cq, *send_cq;
static struct ibv_qp *qp;
static int context_of_cq;
static atomic_uint nb_taken;

static struct ibv_qp *
create_qp(struct ibv_cq *to_send, struct ibv_cq *to_receive)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = to_send,
		.recv_cq = to_receive,
		.cap = { 64, 64, 1, 1, 0 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.sq_sig_all = 1,
	};
	struct ibv_qp *made = ibv_create_qp(rig_pd, &attr);

	if (made == NULL)
		rig_die("ibv_create_qp");
	rig_start(made);
	return made;
}

static bool
is_readable(int fd, int milliseconds)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, milliseconds) == 1;
}

/** Block, with a time limit. */
static void
take_event(void)
{
	struct ibv_cq *of = NULL;
	void *its_context = NULL;

	if (!is_readable(channel->fd, RIG_PATIENCE * 1000)) {
		errno = ETIMEDOUT;
		rig_die("ibv_get_cq_event");
	}
	rig_must(ibv_get_cq_event(channel, &of, &its_context), "ibv_get_cq_event");
	CHECK(of == cq && its_context == &context_of_cq, of == cq);
	ibv_ack_cq_events(cq, 1);
}

static void
arm(int solicited_only)
{
	rig_must(ibv_req_notify_cq(cq, solicited_only), "ibv_req_notify_cq");
}

/** Post a frame, and poll until it has come. */
static void
pass_frame(void)
{
	struct ibv_wc wc;

	rig_receive(qp, 10, RIG_BUFFER_BYTES);
	rig_send(qp, 0, FRAME);
	rig_poll(send_cq, &wc, 1);
	rig_poll(cq, &wc, 1);
	CHECK(wc.status == IBV_WC_SUCCESS, wc.status);
}

static void
test_arming(void)
{
	/* Without an arm no event; with an arm one, for any number of completions. */
	pass_frame();
	arm(0);
	pass_frame();
	pass_frame();
	take_event();
	CHECK(!is_readable(channel->fd, 0), 0);
	/* Armed behind a completion that has not been polled: the event comes at once. */
	rig_receive(qp, 10, RIG_BUFFER_BYTES);
	rig_send(qp, 0, FRAME);
	rig_poll(send_cq, &(struct ibv_wc){ 0 }, 1);
	arm(0);
	take_event();
	rig_poll(cq, &(struct ibv_wc){ 0 }, 1);
	/* Armed for solicited completions: a frame is none, an error is one. */
	arm(1);
	pass_frame();
	pass_frame();
	CHECK(!is_readable(channel->fd, 20), 0);
	rig_receive(qp, 10, FRAME - 1);
	rig_send(qp, 0, FRAME);
	rig_poll(send_cq, &(struct ibv_wc){ 0 }, 1);
	take_event();
	rig_poll(cq, &(struct ibv_wc){ 0 }, 1);
	/* Two arms before an event: the wider one counts. */
	arm(1);
	arm(0);
	pass_frame();
	take_event();
}

/** Keep fewer frames in flight than receives are posted: a frame without one is lost. */
static void *
send_all(void *arg)
{
	struct ibv_wc wc;

	(void)arg;
	for (unsigned int i = 0; i < NB_ROUNDS; i++) {
		while (i - atomic_load(&nb_taken) >= NB_POSTED)
			sched_yield();
		rig_send(qp, 0, FRAME);
		rig_poll(send_cq, &wc, 1);
	}
	return NULL;
}

/** The usual loop: wait, arm again, take all. Completions in between must not be lost. */
static void
test_no_wakeup_lost(void)
{
	struct ibv_wc wc[16];
	pthread_t thread;
	int nb;

	for (unsigned int i = 0; i < NB_POSTED; i++)
		rig_receive(qp, 10, RIG_BUFFER_BYTES);
	arm(0);
	rig_must(pthread_create(&thread, NULL, send_all, NULL), "pthread_create");
	while (atomic_load(&nb_taken) < NB_ROUNDS) {
		take_event();
		arm(0);
		while ((nb = ibv_poll_cq(cq, 16, wc)) > 0)
			for (int i = 0; i < nb; i++) {
				rig_check(wc[i].status == IBV_WC_SUCCESS, "success", wc[i].status);
				rig_receive(qp, 10, RIG_BUFFER_BYTES);
				atomic_fetch_add(&nb_taken, 1);
			}
	}
	rig_must(pthread_join(thread, NULL), "pthread_join");
	CHECK(atomic_load(&nb_taken) == NB_ROUNDS, atomic_load(&nb_taken));
	rig_to_state(qp, IBV_QPS_RESET);
	rig_start(qp);
}

static void
test_nonblocking(void)
{
	struct ibv_cq *of;
	void *its_context;

	CHECK(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0, errno);
	/* An event of the loop may be left, or on its way: the last arm fires late or never. */
	while (ibv_get_cq_event(channel, &of, &its_context) == 0)
		ibv_ack_cq_events(of, 1);
	CHECK(errno == EAGAIN, errno);
}

/** More completions than the CQ holds: its end, reported once. */
static void
test_overrun(void)
{
	struct ibv_cq *small = ibv_create_cq(rig_context, 3, NULL, NULL, 0);
	struct ibv_async_event event = { .event_type = IBV_EVENT_SM_CHANGE };
	struct ibv_qp *sender;

	if (small == NULL)
		rig_die("ibv_create_cq");
	sender = create_qp(small, cq);
	for (unsigned int i = 0; i < 8; i++)
		rig_send(sender, 0, FRAME);
	CHECK(is_readable(rig_context->async_fd, RIG_PATIENCE * 1000), 0);
	rig_must(ibv_get_async_event(rig_context, &event), "ibv_get_async_event");
	CHECK(event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == small, event.event_type);
	ibv_ack_async_event(&event);
	CHECK(!is_readable(rig_context->async_fd, 0), 0);
	rig_must(ibv_destroy_qp(sender), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(small), "ibv_destroy_cq");
}

/** An event is read whole or not at all. */
static void
test_short_reads(void)
{
	uint8_t bytes[8];
	const struct iovec pieces[] = { { bytes, 4 }, { bytes + 4, 4 } };

	arm(0);
	pass_frame();
	CHECK(read(channel->fd, bytes, sizeof(bytes) - 1) == -1 && errno == EINVAL, errno);
	/* Each piece is a read of its own. */
	CHECK(readv(channel->fd, pieces, 2) == -1 && errno == EINVAL, errno);
	CHECK(read(channel->fd, bytes, 0) == -1 && errno == EINVAL, errno);
	take_event();
	/* Without one it is that which a read says. */
	CHECK(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0, errno);
	CHECK(read(channel->fd, bytes, sizeof(bytes) - 1) == -1 && errno == EAGAIN, errno);
	CHECK(fcntl(channel->fd, F_SETFL, 0) == 0, errno);
}

/** A CQ can be destroyed with an unread event, which goes as well. @param closes so does the
 * channel, at once */
static void
test_destroy_unread(bool closes)
{
	struct ibv_comp_channel *other = ibv_create_comp_channel(rig_context);
	struct ibv_cq *unread = ibv_create_cq(rig_context, 8, NULL, other, 0);
	struct ibv_qp *sender;

	if (unread == NULL)
		rig_die("ibv_create_cq");
	sender = create_qp(unread, cq);
	rig_must(ibv_req_notify_cq(unread, 0), "ibv_req_notify_cq");
	rig_send(sender, 0, FRAME);
	CHECK(is_readable(other->fd, RIG_PATIENCE * 1000), 0);
	CHECK(ibv_destroy_comp_channel(other) == EBUSY, 0);
	rig_must(ibv_destroy_qp(sender), "ibv_destroy_qp");
	if (closes)
		CHECK(close(other->fd) == 0, errno);
	alarm(60);
	rig_must(ibv_destroy_cq(unread), "ibv_destroy_cq");
	alarm(0);
	CHECK(closes || !is_readable(other->fd, 0), 0);
	rig_must(ibv_destroy_comp_channel(other), "ibv_destroy_comp_channel");
}

int
main(void)
{
	struct ibv_flow *flow;

	rig_open();
	channel = ibv_create_comp_channel(rig_context);
	if (channel == NULL)
		rig_die("ibv_create_comp_channel");
	cq = ibv_create_cq(rig_context, 127, &context_of_cq, channel, 0);
	send_cq = ibv_create_cq(rig_context, 127, NULL, NULL, 0);
	if (cq == NULL || send_cq == NULL)
		rig_die("ibv_create_cq");
	qp = create_qp(send_cq, cq);
	flow = rig_take_all(qp);
	rig_frame(rig_buffer(0), FRAME, 1);
	test_short_reads();
	test_arming();
	test_no_wakeup_lost();
	test_nonblocking();
	test_overrun();
	test_destroy_unread(false);
	test_destroy_unread(true);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	rig_must(ibv_destroy_cq(send_cq), "ibv_destroy_cq");
	rig_must(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	return rig_close();
}
