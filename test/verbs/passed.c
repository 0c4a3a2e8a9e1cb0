/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes a device's descriptor to another process, as DPDK's drivers do. That process maps the page
 * of doorbell registers as well, and with rings in shared memory it sends on a queue of this
 * process. It starts before the device is opened, so it inherits nothing of the device. As on
 * hardware it gives commands by this descriptor, too, unless the device ends with the other
 * process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define NB_FRAMES   16
#define FRAME_BYTES 100
#define RING_BYTES  (1u << 20)

/** Memory that both have at one address. */
static struct shared {
	atomic_uint nb_wanted; /**< frames that the other process is to have sent */
	atomic_bool is_over;
	struct mlx5dv_qp qp;
	uint64_t frames; /**< the first frame; the rig's buffers follow each other */
	uint32_t number, lkey, pd;
	uint8_t header[18]; /**< of all frames */
	size_t used;
	uint8_t rings[RING_BYTES] __attribute__((aligned(4096)));
} * shared;

static void *
ring_alloc(size_t size, void *data)
{
	void *ring = shared->rings + shared->used;

	(void)data;
	shared->used += (size + 4095) & ~(size_t)4095;
	return shared->used <= RING_BYTES ? ring : NULL;
}

static void
ring_free(void *ring, void *data)
{
	(void)ring;
	(void)data;
}

static void
pass(int to, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	if (sendmsg(to, &message, 0) != 1)
		rig_die("sendmsg");
}

static int
take(int from)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(from, &message, 0) != 1 || CMSG_FIRSTHDR(&message) == NULL)
		rig_die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/** Write a SEND of frame @p pi, which is the pi-th WQE. */
static void
send_frame(volatile uint64_t *doorbell, uint16_t pi)
{
	const struct mlx5dv_qp *qp = &shared->qp;
	uint8_t *wqe = (uint8_t *)qp->sq.buf + pi % qp->sq.wqe_cnt * qp->sq.stride;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)wqe;
	struct mlx5_wqe_eth_seg *eth = (void *)(wqe + 16);
	struct mlx5_wqe_data_seg *data = (void *)(wqe + 48);

	memset(wqe, 0, MLX5_SEND_WQE_BB);
	mlx5dv_set_ctrl_seg(
		ctrl, pi, MLX5_OPCODE_SEND, 0, shared->number, MLX5_WQE_CTRL_CQ_UPDATE, 4, 0, 0);
	/* An inlined Ethernet header of 18 bytes suits every device. */
	eth->inline_hdr_sz = htons(sizeof(shared->header));
	memcpy(&eth->inline_hdr_start, shared->header, sizeof(shared->header));
	mlx5dv_set_data_seg(data, FRAME_BYTES - sizeof(shared->header), shared->lkey,
		shared->frames + (uint64_t)pi * RIG_BUFFER_BYTES + sizeof(shared->header));
	atomic_thread_fence(memory_order_release);
	((volatile __be32 *)qp->dbrec)[MLX5_SND_DBR] = htonl(pi + 1u);
	atomic_thread_fence(memory_order_seq_cst);
	*doorbell = *(volatile uint64_t *)ctrl;
}

/** Make a context of the descriptor, in which the other's domain is. */
static void
import(int fd)
{
	const char *keeper = getenv("SOFTHCA_KEEPER");
	struct ibv_context *context;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	static char bytes[8192];

	if (keeper != NULL && strcmp(keeper, "0") == 0)
		return;
	context = ibv_import_device(dup(fd));
	if (context == NULL)
		rig_die("ibv_import_device");
	rig_must(ibv_query_port(context, 1, &port), "ibv_query_port");
	pd = ibv_import_pd(context, shared->pd);
	mr = pd != NULL ? ibv_reg_mr(pd, bytes, sizeof(bytes), IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (mr == NULL)
		rig_die("ibv_import_pd or ibv_reg_mr");
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	ibv_unimport_pd(pd);
	rig_must(ibv_close_device(context), "ibv_close_device");
}

/** Only who has opened a node gives old commands by it. */
static void
write_command(int fd)
{
	struct ib_uverbs_query_device_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_query_device core;
	} command = {
		.header = { IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(command) / 4,
			sizeof(answer) / 4 },
		.core = { .response = (uintptr_t)&answer },
	};
	const char *keeper = getenv("SOFTHCA_KEEPER");

	if (keeper != NULL && strcmp(keeper, "0") == 0)
		return;
	if (write(fd, &command, sizeof(command)) != -1 || errno != EACCES)
		rig_die("write");
}

/** It is a device to whoever asks, by whichever call. */
static void
look(int fd)
{
	const char *keeper = getenv("SOFTHCA_KEEPER");
	struct statx status;
	int copy;

	if (keeper != NULL && strcmp(keeper, "0") == 0)
		return;
	copy = dup(fd);
	if (statx(copy, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0 ||
		!S_ISCHR(status.stx_mode))
		rig_die("statx");
	close(copy);
}

/** Run the other process. */
static void
run_sender(int from)
{
	const int fd = take(from);
	const long page = sysconf(_SC_PAGESIZE);
	uint16_t nb_sent = 0;
	uint8_t *uar;

	uar = mmap(NULL, page, PROT_WRITE, MAP_SHARED, fd, (off_t)shared->qp.uar_mmap_offset);
	if (uar == MAP_FAILED)
		rig_die("mmap");
	write_command(fd);
	look(fd);
	import(fd);
	/* The mapping stays. */
	close(fd);
	while (!atomic_load(&shared->is_over)) {
		if (nb_sent == atomic_load(&shared->nb_wanted))
			continue;
		send_frame((void *)(uar + (uintptr_t)shared->qp.bf.reg % page), nb_sent++);
	}
	_exit(0);
}

static struct ibv_qp *
make_queue(struct ibv_cq **cq)
{
	struct mlx5dv_ctx_allocators allocators = { .alloc = ring_alloc, .free = ring_free };
	struct mlx5dv_obj obj = { 0 };
	struct ibv_qp *qp;

	rig_must(mlx5dv_set_context_attr(rig_context, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &allocators),
		"mlx5dv_set_context_attr");
	*cq = ibv_create_cq(rig_context, 4 * NB_FRAMES, NULL, NULL, 0);
	if (*cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(*cq, 0);
	shared->qp.comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET;
	obj.qp.in = qp;
	obj.qp.out = &shared->qp;
	rig_must(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "mlx5dv_init_obj");
	CHECK((uint8_t *)shared->qp.sq.buf >= shared->rings, 0);
	CHECK((shared->qp.comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET) != 0, shared->qp.comp_mask);
	shared->number = qp->qp_num;
	shared->lkey = rig_mr->lkey;
	shared->frames = (uintptr_t)rig_buffer(0);
	return qp;
}

/** Each frame comes back unchanged, and its WQE completes in this process. */
static void
have_them_sent(struct ibv_cq *cq, struct ibv_qp *qp)
{
	struct ibv_wc wc[2 * NB_FRAMES];

	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		rig_frame(rig_buffer(i), FRAME_BYTES, (uint8_t)i);
		rig_receive(qp, NB_FRAMES + i, RIG_BUFFER_BYTES);
	}
	memcpy(shared->header, rig_buffer(0), sizeof(shared->header));
	atomic_store(&shared->nb_wanted, NB_FRAMES);
	rig_poll(cq, wc, 2 * NB_FRAMES);
	for (unsigned int i = 0; i < 2 * NB_FRAMES; i++)
		CHECK(wc[i].status == IBV_WC_SUCCESS, wc[i].status);
	for (unsigned int i = 0; i < NB_FRAMES; i++)
		CHECK(memcmp(rig_buffer(i), rig_buffer(NB_FRAMES + i), FRAME_BYTES) == 0, i);
}

int
main(void)
{
	struct ibv_flow *flow;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int ends[2], status;
	pid_t pid;

	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		rig_die("mmap or socketpair");
	pid = fork();
	if (pid < 0)
		rig_die("fork");
	if (pid == 0)
		run_sender(ends[1]);
	rig_open();
	qp = make_queue(&cq);
	flow = rig_take_all(qp);
	shared->pd = rig_pd->handle;
	pass(ends[0], rig_context->cmd_fd);
	have_them_sent(cq, qp);
	atomic_store(&shared->is_over, true);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), status);
	CHECK(WEXITSTATUS(status) == 0, status);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
