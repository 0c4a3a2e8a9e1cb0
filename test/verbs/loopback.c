/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local loopback on a port whose wire gives nothing back: mlx5_ib has the card loop from the second
 * context on, and while a QP exists that takes frames of its own context.
 */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define NB_WQES     8
#define FRAME_BYTES 80
#define BUFFER      2048

enum {
	UNICAST,
	MULTICAST,
	BROADCAST,
	OTHER,
	NB_KINDS
};

/** One user of the port. */
struct user {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq; /* of received frames */
	struct ibv_cq *send_cq;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
	uint8_t *memory;
	uint8_t seed;
};

static void
open_device(struct user *user)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (devices == NULL || devices[0] == NULL)
		rig_die("ibv_get_device_list");
	user->context = ibv_open_device(devices[0]);
	ibv_free_device_list(devices);
	if (user->context == NULL)
		rig_die("ibv_open_device");
}

/** Take all frames of the IPv4 type, whatever their addresses. */
static struct ibv_flow *
take_ipv4(struct ibv_qp *qp)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} __attribute__((packed, aligned(8))) rule = {
		.attr = { .size = sizeof(rule), .num_of_specs = 1, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(rule.eth),
			.val.ether_type = htobe16(0x0800),
			.mask.ether_type = UINT16_MAX },
	};

	return ibv_create_flow(qp, &rule.attr);
}

static void
receive(struct user *user)
{
	struct ibv_sge sge = { (uintptr_t)user->memory + BUFFER, BUFFER, user->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	rig_must(ibv_post_recv(user->qp, &wr, &bad), "ibv_post_recv");
}

/** @param flags MLX5DV_QP_CREATE_* */
static void
open_qp(struct user *user, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = 8,
			.max_recv_wr = 64,
			.max_send_sge = 1,
			.max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.send_cq = user->send_cq,
		.recv_cq = user->cq,
		.pd = user->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = flags,
	};

	user->qp = mlx5dv_create_qp(user->context, &attr, &dv);
	if (user->qp == NULL)
		rig_die("mlx5dv_create_qp");
	rig_start(user->qp);
	user->flow = take_ipv4(user->qp);
	if (user->flow == NULL)
		rig_die("ibv_create_flow");
	for (unsigned int i = 0; i < NB_WQES; i++)
		receive(user);
}

static void
close_qp(struct user *user)
{
	rig_must(ibv_destroy_flow(user->flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(user->qp), "ibv_destroy_qp");
}

static void
open_user(struct user *user)
{
	open_device(user);
	user->memory = aligned_alloc(4096, 2 * BUFFER);
	user->pd = ibv_alloc_pd(user->context);
	user->cq = ibv_create_cq(user->context, 63, NULL, NULL, 0);
	user->send_cq = ibv_create_cq(user->context, 63, NULL, NULL, 0);
	if (user->memory == NULL || user->pd == NULL || user->cq == NULL || user->send_cq == NULL)
		rig_die("PD or CQ");
	user->mr = ibv_reg_mr(user->pd, user->memory, 2 * BUFFER, IBV_ACCESS_LOCAL_WRITE);
	if (user->mr == NULL)
		rig_die("ibv_reg_mr");
}

static void
close_user(struct user *user)
{
	rig_must(ibv_destroy_cq(user->cq), "ibv_destroy_cq");
	rig_must(ibv_destroy_cq(user->send_cq), "ibv_destroy_cq");
	rig_must(ibv_dereg_mr(user->mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(user->pd), "ibv_dealloc_pd");
	rig_must(ibv_close_device(user->context), "ibv_close_device");
	free(user->memory);
}

/** Send a frame and wait for its completion: what comes back has come by then. */
static void
send(struct user *user, unsigned int kind)
{
	static const uint8_t to[NB_KINDS][6] = { { 2, 0, 0, 0, 0, 1 }, { 1, 0, 0x5e, 0, 0, 9 },
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, { 2, 0, 0, 0, 0, 9 } };
	struct ibv_sge sge = { (uintptr_t)user->memory, FRAME_BYTES, user->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;

	rig_frame(user->memory, FRAME_BYTES, ++user->seed);
	memcpy(user->memory, to[kind], sizeof(to[kind]));
	rig_must(ibv_post_send(user->qp, &wr, &bad), "ibv_post_send");
	rig_poll(user->send_cq, &wc, 1);
	CHECK(wc.status == IBV_WC_SUCCESS, wc.status);
}

/** @return how many frames have come, each as it was sent. */
static unsigned int
nb_received(struct user *user, const struct user *sender)
{
	struct ibv_wc wc;
	unsigned int nb = 0;

	while (ibv_poll_cq(user->cq, 1, &wc) == 1) {
		CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == FRAME_BYTES, wc.byte_len);
		CHECK(memcmp(user->memory + BUFFER, sender->memory, FRAME_BYTES) == 0, nb);
		receive(user);
		nb++;
	}
	return nb;
}

/** @param own, other  a bit a kind of frame that the sender and the other user get */
static void
check(struct user *sender, struct user *other, unsigned int own, unsigned int others)
{
	for (unsigned int kind = 0; kind < NB_KINDS; kind++) {
		send(sender, kind);
		rig_check(nb_received(sender, sender) == (own >> kind & 1), "the sender's", kind);
		if (other != NULL)
			rig_check(nb_received(other, sender) == (others >> kind & 1), "the other's",
				kind);
	}
}

#define BIT(kind) (1u << (kind))
#define GROUPS    (BIT(MULTICAST) | BIT(BROADCAST))

int
main(void)
{
	struct user one = { 0 }, two = { 0 };

	open_user(&one);
	open_qp(&one, 0);
	check(&one, NULL, 0, 0);

	/* Its own context alone gets nothing: the second has a domain of its own. */
	open_user(&two);
	open_qp(&two, 0);
	check(&one, &two, 0, BIT(UNICAST) | GROUPS);
	check(&two, &one, 0, BIT(UNICAST) | GROUPS);

	/* Flags are of the QP that receives, one for each kind. */
	close_qp(&one);
	open_qp(&one, MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC);
	check(&one, &two, BIT(UNICAST), BIT(UNICAST) | GROUPS);
	close_qp(&one);
	open_qp(&one, MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC);
	check(&one, &two, GROUPS, BIT(UNICAST) | GROUPS);

	/* One context and a flag is enough; without both the port stops. */
	close_qp(&two);
	close_user(&two);
	check(&one, NULL, GROUPS, 0);
	close_qp(&one);
	open_qp(&one, 0);
	check(&one, NULL, 0, 0);
	close_qp(&one);
	close_user(&one);
	return rig_summary();
}
