/* SPDX-License-Identifier: BSD-3-Clause */
/* ibv_resize_cq while completions are in the ring and more are to come. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "rig.h"

#define FRAME 80 /* bytes */

static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static unsigned int next_receive, next_send;

/** Frame n goes from buffer n to buffer 32 + n, modulo 32: both sides complete in this order. */
static void
post(unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		unsigned int slot = (next_send + i) % 32;

		rig_receive(qp, 32 + slot, RIG_BUFFER_BYTES);
		rig_frame(rig_buffer(slot), FRAME, (uint8_t)(next_send + i));
	}
	for (unsigned int i = 0; i < nb; i++)
		rig_send(qp, (next_send + i) % 32, FRAME);
	next_send += nb;
}

/** Take both completions of @p nb frames: none lost, none twice, each side in order. */
static void
collect(unsigned int nb)
{
	struct ibv_wc wc[64];
	unsigned int nb_sent = 0, nb_received = 0;

	rig_poll(cq, wc, 2 * nb);
	for (unsigned int i = 0; i < 2 * nb; i++) {
		rig_check(wc[i].status == IBV_WC_SUCCESS, "success", wc[i].status);
		if (wc[i].opcode == IBV_WC_RECV) {
			unsigned int slot = (next_receive + nb_received) % 32;

			rig_check(wc[i].wr_id == 32 + slot, "received in order",
				(long long)wc[i].wr_id);
			rig_check(memcmp(rig_buffer(32 + slot), rig_buffer(slot), FRAME) == 0,
				"bytes", slot);
			nb_received++;
		} else {
			rig_check(wc[i].wr_id == (next_receive + nb_sent) % 32, "sent in order",
				(long long)wc[i].wr_id);
			nb_sent++;
		}
	}
	next_receive += nb;
	CHECK(nb_sent == nb && nb_received == nb, nb_sent);
	CHECK(ibv_poll_cq(cq, 1, wc) == 0, 0);
}

static void
resize(int cqe, int wanted)
{
	rig_must(ibv_resize_cq(cq, cqe), "ibv_resize_cq");
	rig_check(cq->cqe == wanted, "size as asked, rounded up", cq->cqe);
}

/** Up and down in turns, at each fill level, with posts before, between and behind. */
static void
test_in_flight(void)
{
	const int sizes[][2] = { { 40, 63 }, { 500, 511 }, { 64, 127 }, { 63, 63 },
		{ 4000, 4095 } };

	for (unsigned int round = 0; round < 60; round++) {
		const int *size = sizes[round % 5];
		const unsigned int before = round % 11, behind = round % 7;

		post(before);
		resize(size[0], size[1]);
		post(behind);
		collect(before + behind);
	}
}

/** The ring's lap parity changes with its size: fill several laps of each. */
static void
test_laps(void)
{
	resize(31, 31);
	for (unsigned int lap = 0; lap < 12; lap++) {
		post(5 + lap % 8);
		if (lap % 4 == 3)
			resize(lap % 8 == 3 ? 63 : 31, lap % 8 == 3 ? 63 : 31);
		collect(5 + lap % 8);
	}
}

/** An arm stays valid when the ring changes. */
static void
test_armed(void)
{
	struct pollfd pollfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *of;
	void *its_context;

	rig_must(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	resize(100, 127);
	post(1);
	CHECK(poll(&pollfd, 1, RIG_PATIENCE * 1000) == 1, 0);
	rig_must(ibv_get_cq_event(channel, &of, &its_context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	collect(1);
	/* An arm made after the resize, for an earlier completion. */
	post(2);
	resize(200, 255);
	rig_must(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	CHECK(poll(&pollfd, 1, RIG_PATIENCE * 1000) == 1, 0);
	rig_must(ibv_get_cq_event(channel, &of, &its_context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	collect(2);
}

static void
test_refused(bool is_wide)
{
	const time_t end = time(NULL) + RIG_PATIENCE;
	struct ibv_device_attr attr;
	int ret;

	rig_must(ibv_query_device(rig_context, &attr), "ibv_query_device");
	CHECK(ibv_resize_cq(cq, -1) == EINVAL, errno);
	CHECK(ibv_resize_cq(cq, 0) == EINVAL, errno);
	/* libmlx5 allocates and clears the ring first: of wide CQEs, a gigabyte. */
	if (!is_wide)
		CHECK(ibv_resize_cq(cq, attr.max_cqe + 1) == EINVAL, errno);
	/* A size below the number of completions in the ring is refused, and the ring stays. When
	 * the last frame has come, all sends have completed. */
	memset(rig_buffer(32 + (next_send + 7) % 32), 0, FRAME);
	post(8);
	while (memcmp(rig_buffer((next_send - 1) % 32), rig_buffer(32 + (next_send - 1) % 32),
		       FRAME) != 0 &&
		time(NULL) < end)
		sched_yield();
	ret = ibv_resize_cq(cq, 3);
	CHECK(ret == EINVAL && cq->cqe == 255, ret);
	collect(8);
}

static void
test_all(bool is_wide)
{
	struct ibv_flow *flow;

	qp = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	next_receive = next_send = 0;
	test_in_flight();
	test_laps();
	test_armed();
	test_refused(is_wide);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

int
main(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 30 };
	struct mlx5dv_cq_init_attr wide = { .comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
		.cqe_size = 128 };
	struct ibv_cq_ex *ex;

	rig_open();
	channel = ibv_create_comp_channel(rig_context);
	if (channel == NULL)
		rig_die("ibv_create_comp_channel");
	attr.channel = channel;
	cq = ibv_create_cq(rig_context, 30, NULL, channel, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	test_all(false);
	ex = mlx5dv_create_cq(rig_context, &attr, &wide);
	if (ex == NULL)
		rig_die("mlx5dv_create_cq");
	cq = ibv_cq_ex_to_cq(ex);
	test_all(true);
	rig_must(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	return rig_close();
}
