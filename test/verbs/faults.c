/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends frames to itself one by one and prints the result of each, for softhca run --faults
 * (test/system/test_faults_tx_queues.py):
 *
 *     3: sent, received
 *     4: sent 4                      a completion in error, of that status
 *     5: sent 5 event 1              and the asynchronous event that came with it
 *     6: sent, received event 0      no completion came: the event of a CQ that failed
 *
 * After an error it restarts the queue pair and goes on; after the event of a CQ it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rig.h"

#define FRAME_BYTES 64
#define NB_RECEIVES 4
#define NO_EVENT    (-1)

static struct ibv_cq *send_cq, *receive_cq, *failed_cq;
static struct ibv_qp *qp;
static int last_event = NO_EVENT;

static void
take_event(void)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(rig_context, &event) != 0)
		return;
	last_event = (int)event.event_type;
	if (event.event_type == IBV_EVENT_CQ_ERR)
		failed_cq = event.element.cq;
	ibv_ack_async_event(&event);
}

/** Wait for a completion and print it. @return whether it is a success */
static bool
await(struct ibv_cq *cq, const char *what)
{
	time_t end = time(NULL) + RIG_PATIENCE;
	struct ibv_wc wc;
	int nb = 0;

	printf("%s", what);
	while (nb == 0 && failed_cq != cq) {
		nb = ibv_poll_cq(cq, 1, &wc);
		take_event();
		if (time(NULL) > end) {
			errno = ETIMEDOUT;
			rig_die("neither a completion nor an event");
		}
	}
	if (nb == 1 && wc.status != IBV_WC_SUCCESS)
		printf(" %d", wc.status);
	return nb == 1 && wc.status == IBV_WC_SUCCESS;
}

static void
drain(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 1)
		;
}

static void
post_receives(void)
{
	for (unsigned int i = 0; i < NB_RECEIVES; i++)
		rig_receive(qp, 1 + i, RIG_BUFFER_BYTES);
}

static void
restart(void)
{
	rig_to_state(qp, IBV_QPS_RESET);
	drain(send_cq);
	drain(receive_cq);
	rig_start(qp);
	post_receives();
}

/** @return false if the program cannot go on */
static bool
send_one(unsigned int number)
{
	bool is_sound;

	rig_frame(rig_buffer(0), FRAME_BYTES, (uint8_t)number);
	rig_send(qp, 0, FRAME_BYTES);
	printf("%u: ", number);
	last_event = NO_EVENT;
	is_sound = await(send_cq, "sent") && await(receive_cq, ", received");
	if (last_event != NO_EVENT)
		printf(" event %d", last_event);
	printf("\n");
	if (failed_cq != NULL)
		return false;
	if (is_sound)
		rig_receive(qp, 1 + number % NB_RECEIVES, RIG_BUFFER_BYTES);
	else
		restart();
	return true;
}

static struct ibv_qp *
make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = send_cq,
		.recv_cq = receive_cq,
		.cap = { .max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 64 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};

	return ibv_create_qp(rig_pd, &attr);
}

int
main(int argc, char *argv[])
{
	unsigned int nb = argc == 2 ? (unsigned int)atoi(argv[1]) : 0;
	struct ibv_flow *flow;

	rig_open();
	rig_must(fcntl(rig_context->async_fd, F_SETFL, O_NONBLOCK) == 0 ? 0 : errno, "fcntl");
	send_cq = ibv_create_cq(rig_context, 15, NULL, NULL, 0);
	receive_cq = ibv_create_cq(rig_context, 15, NULL, NULL, 0);
	if (send_cq == NULL || receive_cq == NULL)
		rig_die("ibv_create_cq");
	qp = make_qp();
	if (qp == NULL)
		rig_die("ibv_create_qp");
	rig_start(qp);
	flow = rig_take_all(qp);
	post_receives();
	for (unsigned int i = 1; i <= nb && send_one(i); i++)
		;
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(send_cq), "ibv_destroy_cq");
	rig_must(ibv_destroy_cq(receive_cq), "ibv_destroy_cq");
	return rig_close();
}
