/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends frames to itself and waits for asynchronous events, for softhca run --faults
 * (test/system/test_faults_port.py):
 *
 *     verbs-port-faults NB_FRAMES NB_EVENTS
 *
 * It prints the frames that came back, and waits for the last one unless the device dies; then the
 * events in their order. It makes some calls on a dead device and prints their errnos.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rig.h"

#define FRAME_BYTES 64
#define MAX_FRAMES  32
#define MAX_EVENTS  8

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_flow *flow;
static int events[MAX_EVENTS];
static unsigned int nb_events;
static bool is_dead;

static void
take_event(void)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(rig_context, &event) != 0)
		return;
	if (nb_events < MAX_EVENTS)
		events[nb_events++] = (int)event.event_type;
	is_dead |= event.event_type == IBV_EVENT_DEVICE_FATAL;
	ibv_ack_async_event(&event);
}

/** @return whether @p number came back; received frames are printed */
static bool
take_completion(unsigned int number)
{
	struct ibv_wc wc;
	unsigned int got;

	if (ibv_poll_cq(cq, 1, &wc) != 1)
		return false;
	if (wc.status != IBV_WC_SUCCESS) {
		printf(" status %d", wc.status);
		return false;
	}
	if (wc.opcode != IBV_WC_RECV)
		return false;
	got = rig_buffer((unsigned int)wc.wr_id)[RIG_HEADER_BYTES];
	printf(" %u", got);
	return got == number;
}

static void
check_time(time_t end, const char *what)
{
	if (time(NULL) <= end)
		return;
	errno = ETIMEDOUT;
	rig_die(what);
}

/**
 * One doorbell for all: the device has sent them before the first comes back. If a process that
 * waits for a CPU posted a frame later, the frame could meet the link that the first one took down:
 * it would never leave, and a link that counts received frames until it is up again would wait for
 * ever.
 */
static void
send_all(unsigned int nb)
{
	struct ibv_send_wr wr[MAX_FRAMES], *bad;
	struct ibv_sge sge[MAX_FRAMES];

	for (unsigned int i = 0; i < nb; i++) {
		rig_frame(rig_buffer(i), FRAME_BYTES, (uint8_t)(i + 1));
		sge[i] = rig_sge(i, 0, FRAME_BYTES);
		wr[i] = (struct ibv_send_wr){ .wr_id = i,
			.next = i + 1 < nb ? &wr[i + 1] : NULL,
			.sg_list = &sge[i],
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED };
	}
	if (nb != 0)
		rig_must(ibv_post_send(qp, wr, &bad), "ibv_post_send");
}

static void
send_and_receive(unsigned int nb)
{
	time_t end = time(NULL) + RIG_PATIENCE;
	bool is_there = nb == 0;

	for (unsigned int i = 1; i <= nb; i++)
		rig_receive(qp, MAX_FRAMES + i - 1, RIG_BUFFER_BYTES);
	send_all(nb);
	printf("received");
	while (!is_there && !is_dead) {
		is_there = take_completion(nb);
		take_event();
		check_time(end, "the last frame");
	}
	/* Completions from before the device's death. */
	for (unsigned int i = 0; is_dead && i < 2 * MAX_FRAMES; i++)
		(void)take_completion(nb);
	printf("\n");
}

static void
wait_for_events(unsigned int nb)
{
	time_t end = time(NULL) + RIG_PATIENCE;

	while (nb_events < nb) {
		take_event();
		check_time(end, "events");
	}
	printf("events");
	for (unsigned int i = 0; i < nb_events; i++)
		printf(" %d", events[i]);
	printf("\n");
}

static int
error_of_null(const void *object)
{
	return object == NULL ? errno : 0;
}

static int
open_again(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	int error = devices == NULL ? errno : error_of_null(ibv_open_device(devices[0]));

	ibv_free_device_list(devices);
	return error;
}

/** Every call on a dead device fails but those that destroy objects. */
static void
ask_the_dead(void)
{
	struct ibv_port_attr port;

	printf("query_port %d\n", ibv_query_port(rig_context, 1, &port));
	printf("create_cq %d\n", error_of_null(ibv_create_cq(rig_context, 15, NULL, NULL, 0)));
	printf("alloc_pd %d\n", error_of_null(ibv_alloc_pd(rig_context)));
	printf("destroy_flow %d\n", ibv_destroy_flow(flow));
	printf("destroy_qp %d\n", ibv_destroy_qp(qp));
	printf("dereg_mr %d\n", ibv_dereg_mr(rig_mr));
	printf("open_device %s\n", open_again() != 0 ? "refused" : "granted");
}

int
main(int argc, char *argv[])
{
	unsigned int nb = argc == 3 ? (unsigned int)atoi(argv[1]) : 0;

	if (argc != 3 || nb > MAX_FRAMES)
		return 2;
	rig_open();
	rig_must(fcntl(rig_context->async_fd, F_SETFL, O_NONBLOCK) == 0 ? 0 : errno, "fcntl");
	cq = ibv_create_cq(rig_context, 2 * MAX_FRAMES, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	send_and_receive(nb);
	wait_for_events((unsigned int)atoi(argv[2]));
	if (is_dead) {
		ask_the_dead();
		return 0;
	}
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
