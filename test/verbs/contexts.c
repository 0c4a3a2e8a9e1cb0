/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several contexts of one port in one process: each has its own handles, protection domain and
 * lifetime, but the port has one set of rules. They also work at the same time, one thread each.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define NB          3
#define FRAME_BYTES 80
#define RX_BYTES    2048
#define NB_ROUNDS   200

/** One user of the port. */
struct user {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
	uint16_t port; /* UDP, host order */
	uint8_t *memory;
	unsigned int nb_received;
};

static void
open_context(struct user *user)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (devices == NULL || devices[0] == NULL)
		rig_die("ibv_get_device_list");
	user->context = ibv_open_device(devices[0]);
	ibv_free_device_list(devices);
	if (user->context == NULL)
		rig_die("ibv_open_device");
}

static void
open_user(struct user *user, uint16_t port)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};

	open_context(user);
	user->port = port;
	user->memory = aligned_alloc(4096, 8192);
	user->pd = ibv_alloc_pd(user->context);
	user->cq = ibv_create_cq(user->context, 63, NULL, NULL, 0);
	if (user->memory == NULL || user->pd == NULL || user->cq == NULL)
		rig_die("PD or CQ");
	user->mr = ibv_reg_mr(user->pd, user->memory, 8192, IBV_ACCESS_LOCAL_WRITE);
	attr.send_cq = attr.recv_cq = user->cq;
	user->qp = ibv_create_qp(user->pd, &attr);
	if (user->mr == NULL || user->qp == NULL)
		rig_die("MR or QP");
	rig_start(user->qp);
}

static struct ibv_flow *
take_port(struct user *user, uint16_t port)
{
	struct rule {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_ipv4 ip;
		struct ibv_flow_spec_tcp_udp udp;
		uint8_t end[];
	} __attribute__((packed, aligned(8))) rule = {
		.attr = { .size = offsetof(struct rule, end), .num_of_specs = 3, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
		.ip = { .type = IBV_FLOW_SPEC_IPV4, .size = sizeof(rule.ip) },
		.udp = { .type = IBV_FLOW_SPEC_UDP,
			.size = sizeof(rule.udp),
			.val = { .dst_port = htobe16(port) },
			.mask = { .dst_port = UINT16_MAX } },
	};
	struct ibv_flow *flow = ibv_create_flow(user->qp, (struct ibv_flow_attr *)(void *)&rule);

	if (flow == NULL)
		rig_die("ibv_create_flow");
	return flow;
}

static void
close_user(struct user *user)
{
	if (user->flow != NULL)
		rig_must(ibv_destroy_flow(user->flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(user->qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(user->cq), "ibv_destroy_cq");
	rig_must(ibv_dereg_mr(user->mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(user->pd), "ibv_dealloc_pd");
	rig_must(ibv_close_device(user->context), "ibv_close_device");
	free(user->memory);
}

static void
receive(struct user *user)
{
	struct ibv_sge sge = { (uintptr_t)user->memory + 4096, RX_BYTES, user->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	rig_must(ibv_post_recv(user->qp, &wr, &bad), "ibv_post_recv");
}

static void
send_to(struct user *user, uint16_t port, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)user->memory, FRAME_BYTES, lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	rig_frame(user->memory, FRAME_BYTES, (uint8_t)port);
	/* To another station, which sends it back: several contexts get the port's own address by
	 * local loopback (loopback.c). */
	user->memory[5] = 9;
	user->memory[36] = (uint8_t)(port >> 8);
	user->memory[37] = (uint8_t)port;
	rig_must(ibv_post_send(user->qp, &wr, &bad), "ibv_post_send");
}

/** Each context has its own numbers: the first PD of each has the same handle, and no lkey works
 * in a queue of another. */
static void
check_spaces(struct user *users)
{
	struct ibv_wc wc;

	CHECK(users[0].pd->handle == users[1].pd->handle, users[1].pd->handle);
	CHECK(users[0].qp->handle == users[1].qp->handle, users[1].qp->handle);
	CHECK(users[0].qp->qp_num != users[1].qp->qp_num, users[1].qp->qp_num);
	CHECK(users[0].mr->lkey != users[1].mr->lkey, users[1].mr->lkey);
	send_to(&users[0], 1, users[1].mr->lkey);
	rig_poll(users[0].cq, &wc, 1);
	CHECK(wc.status == IBV_WC_LOC_PROT_ERR, wc.status);
	rig_to_state(users[0].qp, IBV_QPS_RESET);
	rig_start(users[0].qp);
}

/** Rules are the port's: a frame goes to the queue that a rule names, whichever context sent it;
 * two rules with one match copy it. */
static void
check_rules(struct user *users)
{
	struct ibv_flow *same;
	struct ibv_wc wc;

	users[0].flow = take_port(&users[0], users[0].port);
	users[1].flow = take_port(&users[1], users[1].port);
	receive(&users[0]);
	receive(&users[1]);
	send_to(&users[0], users[1].port, users[0].mr->lkey);
	rig_poll(users[0].cq, &wc, 1);
	CHECK(wc.opcode == IBV_WC_SEND && wc.status == IBV_WC_SUCCESS, wc.status);
	rig_poll(users[1].cq, &wc, 1);
	CHECK(wc.opcode == IBV_WC_RECV && wc.byte_len == FRAME_BYTES, wc.byte_len);
	CHECK(memcmp(users[0].memory, users[1].memory + 4096, FRAME_BYTES) == 0, 0);

	same = take_port(&users[1], users[0].port);
	receive(&users[1]);
	send_to(&users[1], users[0].port, users[1].mr->lkey);
	rig_poll(users[0].cq, &wc, 1);
	CHECK(wc.opcode == IBV_WC_RECV, wc.opcode);
	rig_poll(users[1].cq, &wc, 1);
	rig_poll(users[1].cq, &wc, 1);
	rig_must(ibv_destroy_flow(same), "ibv_destroy_flow");
}

/** A closed context takes its own rules and queues along, and no others. */
static void
check_end(struct user *users)
{
	struct user third = { 0 };
	struct ibv_wc wc;

	open_user(&third, 9);
	third.flow = take_port(&third, users[0].port);
	receive(&third);
	rig_must(ibv_close_device(third.context), "ibv_close_device");
	receive(&users[0]);
	send_to(&users[1], users[0].port, users[1].mr->lkey);
	rig_poll(users[1].cq, &wc, 1);
	rig_poll(users[0].cq, &wc, 1);
	CHECK(wc.opcode == IBV_WC_RECV && wc.status == IBV_WC_SUCCESS, wc.status);
	free(third.memory);
}

/** Who opens the link to a descriptor has an open file of his own, whose end is nobody else's:
 * by open() a node, as of any device, and by system call what looks through /proc. */
static void
check_links(const struct user *user)
{
	struct ibv_port_attr port;
	struct stat status;
	struct ibv_pd *pd;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", user->context->cmd_fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode), errno);
	close(fd);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0, errno);
	syscall(SYS_close, fd);
	/* It names the file, and opens nothing. */
	fd = open(path, O_PATH | O_CLOEXEC);
	CHECK(fd >= 0 && (fcntl(fd, F_GETFL) & O_PATH) != 0, errno);
	close(fd);
	CHECK(ibv_query_port(user->context, 1, &port) == 0, errno);
	pd = ibv_alloc_pd(user->context);
	CHECK(pd != NULL && ibv_dealloc_pd(pd) == 0, errno);
}

static void *
circle(void *arg)
{
	struct user *user = arg;
	struct ibv_wc wc[2];

	for (unsigned int i = 0; i < NB_ROUNDS; i++) {
		struct user *other = calloc(1, sizeof(*other));

		receive(user);
		send_to(user, user->port, user->mr->lkey);
		rig_poll(user->cq, wc, 2);
		user->nb_received += rig_find(wc, 2, IBV_WC_RECV) != NULL;
		/* Contexts come and go. */
		if (other != NULL && i % 20 == 0) {
			open_context(other);
			rig_must(ibv_close_device(other->context), "ibv_close_device");
		}
		free(other);
	}
	return NULL;
}

static void
check_threads(void)
{
	struct user users[NB] = { 0 };
	pthread_t thread[NB];

	for (unsigned int i = 0; i < NB; i++) {
		open_user(&users[i], (uint16_t)(100 + i));
		users[i].flow = take_port(&users[i], users[i].port);
	}
	for (unsigned int i = 0; i < NB; i++)
		rig_must(pthread_create(&thread[i], NULL, circle, &users[i]), "pthread_create");
	for (unsigned int i = 0; i < NB; i++) {
		rig_must(pthread_join(thread[i], NULL), "pthread_join");
		CHECK(users[i].nb_received == NB_ROUNDS, users[i].nb_received);
		close_user(&users[i]);
	}
}

static uint32_t
pd_number(struct ibv_pd *pd)
{
	struct mlx5dv_pd number;
	struct mlx5dv_obj obj = { .pd = { .in = pd, .out = &number } };

	if (pd == NULL || mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD) != 0)
		rig_die("PD");
	return number.pdn;
}

/** A number is that of one PD at a time, in all contexts, and those of PDs that are gone are used
 * again: there are 2^24. */
static void
check_pd_numbers(struct user *users)
{
	const uint32_t first = pd_number(users[0].pd), second = pd_number(users[1].pd);
	struct ibv_pd *pd = ibv_alloc_pd(users[1].context);
	const uint32_t number = pd_number(pd);

	CHECK(first != second && first != 0, first);
	CHECK(number != first && number != second, number);
	for (unsigned int i = 0; i < NB_ROUNDS; i++) {
		CHECK(ibv_dealloc_pd(pd) == 0, i);
		pd = ibv_alloc_pd(users[i % 2].context);
		CHECK(pd_number(pd) == number, i);
	}
	CHECK(ibv_dealloc_pd(pd) == 0, number);
}

int
main(void)
{
	struct user users[2] = { 0 };

	rig_open();
	open_user(&users[0], 7);
	open_user(&users[1], 8);
	check_spaces(users);
	check_pd_numbers(users);
	check_rules(users);
	check_end(users);
	check_links(&users[0]);
	close_user(&users[0]);
	close_user(&users[1]);
	check_threads();
	return rig_close();
}
