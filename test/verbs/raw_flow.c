/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matchers of mlx5dv in a program that only uses verbs, on a port whose cable ends in itself: the
 * queue and the tag of each frame when rules of matchers and of ibv_create_flow meet. Prints one
 * line a frame, which test/conformance/test_raw_flow.py checks.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NB_QUEUES   3
#define NB_BUFFERS  16
#define BUFFER_SIZE 256
#define FRAME_SIZE  64
#define PATIENCE    60 /* seconds */

/** Bytes of fte_match_param: outer headers from 0, misc from 64. */
#define PARAM_SIZE     192
#define DMAC_OFFSET    8
#define VERSION_OFFSET 18 /* IP version in bits 4:1 */
#define PROTO_OFFSET   16
#define DPORT_OFFSET   30
#define OUTER          1

struct match {
	size_t size;
	uint8_t bytes[PARAM_SIZE];
};

struct queue {
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
};

static struct ibv_context *context;
static struct ibv_mr *mr;
static struct queue queues[NB_QUEUES];
static uint8_t buffers[NB_QUEUES + 1][NB_BUFFERS][BUFFER_SIZE];

static void
die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void
to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1 };
	int mask = IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0);

	errno = ibv_modify_qp(qp, &attr, mask);
	if (errno != 0)
		die("ibv_modify_qp");
}

static void
post_receive(unsigned int number, unsigned int buffer)
{
	struct ibv_sge sge = { (uintptr_t)buffers[number][buffer], BUFFER_SIZE, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = buffer, .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(queues[number].qp, &wr, &bad);
	if (errno != 0)
		die("ibv_post_recv");
}

static void
open_queue(struct ibv_pd *pd, unsigned int number)
{
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_FLOW_TAG,
	};
	struct ibv_qp_init_attr qp_attr = {
		.cap = { NB_BUFFERS, NB_BUFFERS, 1, 1, 0 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.sq_sig_all = 1,
	};
	struct queue *queue = &queues[number];

	queue->cq = ibv_create_cq_ex(context, &cq_attr);
	if (queue->cq == NULL)
		die("ibv_create_cq_ex");
	qp_attr.send_cq = qp_attr.recv_cq = ibv_cq_ex_to_cq(queue->cq);
	queue->qp = ibv_create_qp(pd, &qp_attr);
	if (queue->qp == NULL)
		die("ibv_create_qp");
	to_state(queue->qp, IBV_QPS_INIT);
	to_state(queue->qp, IBV_QPS_RTR);
	to_state(queue->qp, IBV_QPS_RTS);
	for (unsigned int i = 0; i < NB_BUFFERS; i++)
		post_receive(number, i);
}

/** A match on UDP to a port, and to a MAC whose last byte is @p dmac. */
static void
make_frame(uint8_t *frame, uint8_t dmac, uint16_t port)
{
	const uint8_t head[38] = { 2, 0, 0, 0, 0, dmac, 2, 0, 0, 0, 0, 99, 8, 0, 0x45, 0, 0,
		FRAME_SIZE - 14, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 4, 0,
		(uint8_t)(port >> 8), (uint8_t)port };

	memset(frame, 0, FRAME_SIZE);
	memcpy(frame, head, sizeof(head));
	frame[39] = FRAME_SIZE - 34;
}

static void
send_frame(uint8_t dmac, uint16_t port)
{
	uint8_t *frame = buffers[NB_QUEUES][0];
	struct ibv_sge sge = { (uintptr_t)frame, FRAME_SIZE, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	make_frame(frame, dmac, port);
	errno = ibv_post_send(queues[0].qp, &wr, &bad);
	if (errno != 0)
		die("ibv_post_send");
}

/** Take completions until @p nb frames were received and the sent one has completed. Write the
 * queues to @p got. */
static void
collect(unsigned int nb, char *got, size_t size)
{
	struct ibv_poll_cq_attr attr = { 0 };
	time_t end = time(NULL) + PATIENCE;
	char seen[NB_QUEUES][32] = { "" };
	bool is_sent = false;

	while ((nb > 0 || !is_sent) && time(NULL) < end) {
		for (unsigned int i = 0; i < NB_QUEUES; i++) {
			struct ibv_cq_ex *cq = queues[i].cq;

			if (ibv_start_poll(cq, &attr) != 0)
				continue;
			if (cq->status != IBV_WC_SUCCESS)
				die("completion");
			if (ibv_wc_read_opcode(cq) == IBV_WC_RECV) {
				snprintf(seen[i], sizeof(seen[i]), " queue %u tag %u", i,
					ibv_wc_read_flow_tag(cq));
				post_receive(i, (unsigned int)cq->wr_id);
				nb--;
			} else {
				is_sent = true;
			}
			ibv_end_poll(cq);
		}
	}
	/* Ordered by queue, whichever came first. */
	snprintf(got, size, "%s%s%s%s", seen[0], seen[1], seen[2],
		nb > 0 ? " and nothing more" : "");
}

/** Send a frame for @p nb queues, and print which got it. A frame that is dropped shows in the
 * next call. */
static void
try_frame(const char *what, uint8_t dmac, uint16_t port, unsigned int nb)
{
	char got[256] = "";

	send_frame(dmac, port);
	collect(nb, got, sizeof(got));
	printf("%s:%s\n", what, nb == 0 ? " sent" : got);
}

static struct mlx5dv_flow_matcher *
make_matcher(struct match *mask, uint8_t criteria, uint16_t priority)
{
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = priority,
		.match_criteria_enable = criteria,
		.match_mask = (struct mlx5dv_flow_match_parameters *)mask,
	};

	mask->size = PARAM_SIZE;
	return mlx5dv_create_flow_matcher(context, &attr);
}

static struct ibv_flow *
make_flow(struct mlx5dv_flow_matcher *matcher, struct match *value, struct ibv_qp *qp, uint32_t tag)
{
	struct mlx5dv_flow_action_attr actions[2];
	unsigned int nb = 0;

	actions[nb].type = qp != NULL ? MLX5DV_FLOW_ACTION_DEST_IBV_QP : MLX5DV_FLOW_ACTION_DROP;
	actions[nb++].qp = qp;
	if (tag != 0) {
		actions[nb].type = MLX5DV_FLOW_ACTION_TAG;
		actions[nb++].tag_value = tag;
	}
	value->size = PARAM_SIZE;
	return mlx5dv_create_flow(
		matcher, (struct mlx5dv_flow_match_parameters *)value, nb, actions);
}

/** UDP by destination port. */
static struct match
udp_match(bool is_mask, uint16_t port)
{
	struct match match = { 0 };

	match.bytes[VERSION_OFFSET] = is_mask ? 0xf << 1 : 4 << 1;
	match.bytes[PROTO_OFFSET] = is_mask ? 0xff : 17;
	match.bytes[DPORT_OFFSET] = is_mask ? 0xff : (uint8_t)(port >> 8);
	match.bytes[DPORT_OFFSET + 1] = is_mask ? 0xff : (uint8_t)port;
	return match;
}

static struct match
mac_match(bool is_mask, uint8_t last)
{
	struct match match = { 0 };

	match.bytes[DMAC_OFFSET] = is_mask ? 0xff : 2;
	memset(match.bytes + DMAC_OFFSET + 1, is_mask ? 0xff : 0, 5);
	match.bytes[DMAC_OFFSET + 5] = is_mask ? 0xff : last;
	return match;
}

/** A rule of plain verbs for a MAC. */
static struct ibv_flow *
verbs_flow(struct ibv_qp *qp, uint8_t last, uint16_t priority)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.priority = priority,
			.num_of_specs = 1,
			.port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(rule.eth),
			.val.dst_mac = { 2, 0, 0, 0, 0, last },
			.mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};

	return ibv_create_flow(qp, &rule.attr);
}

static void
say(const char *what, const void *object)
{
	printf("%s: %s\n", what, object != NULL ? "accepted" : strerror(errno));
}

static void
try_all(void)
{
	struct match mac_mask = mac_match(true, 0), udp_mask = udp_match(true, 0), value;
	struct match bad_mask = { 0 };
	struct mlx5dv_flow_matcher *by_mac = make_matcher(&mac_mask, OUTER, 5);
	struct mlx5dv_flow_matcher *by_port = make_matcher(&udp_mask, OUTER, 3);
	struct mlx5dv_flow_matcher *unnamed = make_matcher(&mac_mask, 0, 3);
	struct mlx5dv_flow_matcher *unknown;
	struct ibv_flow *flow[6];

	if (by_mac == NULL || by_port == NULL || unnamed == NULL)
		die("mlx5dv_create_flow_matcher");
	value = mac_match(false, 1);
	flow[0] = make_flow(by_mac, &value, queues[1].qp, 0);
	value = udp_match(false, 7);
	flow[1] = make_flow(by_port, &value, queues[2].qp, 0x123456);
	value = udp_match(false, 8);
	flow[2] = make_flow(by_port, &value, NULL, 0);
	if (flow[0] == NULL || flow[1] == NULL || flow[2] == NULL)
		die("mlx5dv_create_flow");
	try_frame("by MAC", 1, 6, 1);
	try_frame("by port, of a higher priority", 1, 7, 1);
	try_frame("dropped", 1, 8, 0);
	try_frame("after it", 1, 9, 1);
	value = udp_match(false, 7);
	say("the same with another tag", make_flow(by_port, &value, queues[1].qp, 5));
	say("the same, dropped", make_flow(by_port, &value, NULL, 0));
	value = mac_match(false, 1);
	flow[5] = make_flow(unnamed, &value, queues[1].qp, 0);
	say("mask in a part not named", flow[5]);
	/* It matches whatever there is; no source tells what a card's firmware does with it. */
	if (flow[5] != NULL && ibv_destroy_flow(flow[5]) != 0)
		die("ibv_destroy_flow");
	say("value outside the mask", make_flow(by_port, &value, queues[1].qp, 0));
	bad_mask.bytes[64 + 3] = 1; /* source_sqn */
	unknown = make_matcher(&bad_mask, 3, 3);
	say("field that is not modelled", make_flow(unknown, &bad_mask, queues[1].qp, 0));
	flow[3] = verbs_flow(queues[0].qp, 1, 4);
	try_frame("a rule of verbs between the two", 1, 6, 1);
	try_frame("still by port", 1, 7, 1);
	flow[4] = verbs_flow(queues[1].qp, 1, 4);
	try_frame("two queues by the same rule", 1, 6, 2);
	printf("matcher in use: %s\n", strerror(mlx5dv_destroy_flow_matcher(by_mac)));
	for (unsigned int i = 0; i < 5; i++)
		if (flow[i] == NULL || ibv_destroy_flow(flow[i]) != 0)
			die("ibv_destroy_flow");
	if (mlx5dv_destroy_flow_matcher(by_mac) != 0 || mlx5dv_destroy_flow_matcher(by_port) != 0 ||
		mlx5dv_destroy_flow_matcher(unnamed) != 0 ||
		mlx5dv_destroy_flow_matcher(unknown) != 0)
		die("mlx5dv_destroy_flow_matcher");
}

int
main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_pd *pd;

	if (devices == NULL || devices[0] == NULL)
		die("ibv_get_device_list");
	context = ibv_open_device(devices[0]);
	ibv_free_device_list(devices);
	if (context == NULL)
		die("ibv_open_device");
	pd = ibv_alloc_pd(context);
	if (pd == NULL)
		die("ibv_alloc_pd");
	mr = ibv_reg_mr(pd, buffers, sizeof(buffers), IBV_ACCESS_LOCAL_WRITE);
	if (mr == NULL)
		die("ibv_reg_mr");
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		open_queue(pd, i);
	try_all();
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		if (ibv_destroy_qp(queues[i].qp) != 0 ||
			ibv_destroy_cq(ibv_cq_ex_to_cq(queues[i].cq)) != 0)
			die("destroy");
	if (ibv_dereg_mr(mr) != 0 || ibv_dealloc_pd(pd) != 0 || ibv_close_device(context) != 0)
		die("close");
	return 0;
}
