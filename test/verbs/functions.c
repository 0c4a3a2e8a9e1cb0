/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two virtual functions of one card whose wire leads back: the reports of verbs, and the packets
 * that arrive. The first function receives by rules for everything, which can be installed with and
 * without trust; the second sends. Arguments: "trust" if the first is trusted, "spoof" if spoof
 * checking is on for the second.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

#define FRAME_BYTES  80
#define NB_RX        16
#define SETTLE_MICRO 100000

static const uint8_t first[6] = { 2, 0, 0, 0, 0, 1 }, second[6] = { 2, 0, 0, 0, 0, 2 };
static const uint8_t stranger[6] = { 2, 0, 0, 0, 0, 9 };
static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

/** The second function. */
static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t frame[FRAME_BYTES];
} sender;

static struct ibv_cq *rx_cq;
static struct ibv_qp *rx_qp;

static void
open_sender(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};

	if (devices == NULL || devices[0] == NULL || devices[1] == NULL)
		rig_die("two devices");
	sender.context = ibv_open_device(devices[1]);
	ibv_free_device_list(devices);
	if (sender.context == NULL)
		rig_die("ibv_open_device");
	sender.pd = ibv_alloc_pd(sender.context);
	sender.cq = ibv_create_cq(sender.context, 7, NULL, NULL, 0);
	if (sender.pd == NULL || sender.cq == NULL)
		rig_die("PD or CQ");
	sender.mr = ibv_reg_mr(sender.pd, sender.frame, sizeof(sender.frame), 0);
	attr.send_cq = attr.recv_cq = sender.cq;
	sender.qp = ibv_create_qp(sender.pd, &attr);
	if (sender.mr == NULL || sender.qp == NULL)
		rig_die("MR or QP");
	rig_start(sender.qp);
}

static void
close_sender(void)
{
	rig_must(ibv_destroy_qp(sender.qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(sender.cq), "ibv_destroy_cq");
	rig_must(ibv_dereg_mr(sender.mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(sender.pd), "ibv_dealloc_pd");
	rig_must(ibv_close_device(sender.context), "ibv_close_device");
}

/** The send always completes well: the card's switch is behind the queue. */
static void
send_frame(const uint8_t *dst, const uint8_t *src)
{
	struct ibv_sge sge = { (uintptr_t)sender.frame, FRAME_BYTES, sender.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;

	rig_frame(sender.frame, FRAME_BYTES, 0);
	memcpy(sender.frame, dst, 6);
	memcpy(sender.frame + 6, src, 6);
	rig_must(ibv_post_send(sender.qp, &wr, &bad), "ibv_post_send");
	rig_poll(sender.cq, &wc, 1);
	CHECK(wc.status == IBV_WC_SUCCESS, wc.status);
}

static struct ibv_flow *
add_rule(enum ibv_flow_attr_type type)
{
	struct ibv_flow_attr rule = { .type = type, .size = sizeof(rule), .port = 1 };
	struct ibv_flow *flow = ibv_create_flow(rx_qp, &rule);

	if (flow == NULL)
		rig_die("ibv_create_flow");
	return flow;
}

/** Send one frame, and count the copies: as many as wanted, and no more. */
static void
expect(const char *what, const uint8_t *dst, const uint8_t *src, unsigned int nb_wanted)
{
	struct ibv_wc wc[NB_RX];
	int nb_more;

	for (unsigned int i = 0; i < NB_RX / 2; i++)
		rig_receive(rx_qp, i, RIG_BUFFER_BYTES);
	send_frame(dst, src);
	rig_poll(rx_cq, wc, nb_wanted);
	usleep(SETTLE_MICRO);
	nb_more = ibv_poll_cq(rx_cq, NB_RX, wc);
	rig_check(nb_more == 0, what, nb_more);
	/* Surplus copies would show at the end. */
	rig_to_state(rx_qp, IBV_QPS_RESET);
	rig_start(rx_qp);
}

int
main(int argc, char *argv[])
{
	bool is_trusted = false, is_watched = false;
	struct ibv_flow *all, *sniffer;

	for (int i = 1; i < argc; i++) {
		is_trusted |= strcmp(argv[i], "trust") == 0;
		is_watched |= strcmp(argv[i], "spoof") == 0;
	}
	rig_open();
	open_sender();
	rx_cq = ibv_create_cq(rig_context, 63, NULL, NULL, 0);
	if (rx_cq == NULL)
		rig_die("ibv_create_cq");
	rx_qp = rig_qp(rx_cq, 0);
	all = add_rule(IBV_FLOW_ATTR_ALL_DEFAULT);
	expect("one copy", first, second, 1);
	sniffer = add_rule(IBV_FLOW_ATTR_SNIFFER);
	/* Twice: by the sniffer and by the rule for the rest. */
	expect("to its address", first, second, 2);
	/* By the wire, which leads back. */
	expect("to nobody's address", stranger, second, is_trusted ? 2 : 0);
	/* By the switch, and by the wire. */
	expect("to all", broadcast, second, 4);
	expect("to the sender's own", second, second, 0);
	expect("from another address", first, stranger, is_watched ? 0 : 2);
	rig_must(ibv_destroy_flow(sniffer), "ibv_destroy_flow");
	rig_must(ibv_destroy_flow(all), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(rx_qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(rx_cq), "ibv_destroy_cq");
	close_sender();
	return rig_close();
}
