/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings filled and completions read by hand (PRM: WQE and CQE formats, doorbells). */
#include "bare.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 60 /* seconds */

static unsigned int nb_checked, nb_failed;

void
bare_check(bool is_so, const char *what, long long value)
{
	nb_checked++;
	if (is_so)
		return;
	nb_failed++;
	printf("not so: %s (%lld)\n", what, value);
}

void
bare_must(bool is_so, const char *what)
{
	if (is_so)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

int
bare_end(void)
{
	printf("%u checks, %u failed\n", nb_checked, nb_failed);
	return nb_failed != 0;
}

int
bare_open(void)
{
	int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);

	bare_must(fd >= 0, "open");
	return fd;
}

static uint64_t
address(const void *pointer)
{
	return (uintptr_t)pointer;
}

void
bare_fill_mr(const struct bare *bare, struct ib_uverbs_reg_mr *request)
{
	request->start = request->hca_va = address(bare->memory);
	request->length = sizeof(*bare->memory);
	request->pd_handle = bare->pd;
	request->access_flags = IBV_ACCESS_LOCAL_WRITE;
}

void
bare_fill_cq(const struct bare *bare, struct mlx5_ib_create_cq *request)
{
	request->buf_addr = address(bare->memory->cq);
	request->db_addr = address(bare->memory->cq_record);
	request->cqe_size = sizeof(struct mlx5_cqe64);
}

void
bare_fill_cap(struct ib_uverbs_qp_cap *cap)
{
	*cap = (struct ib_uverbs_qp_cap){
		.max_send_wr = BARE_WQES,
		.max_recv_wr = BARE_WQES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
}

void
bare_fill_qp(const struct bare *bare, struct mlx5_ib_create_qp *request)
{
	request->buf_addr = address(bare->memory->rq);
	request->sq_buf_addr = address(bare->memory->sq);
	request->db_addr = address(bare->memory->qp_record);
	request->sq_wqe_count = BARE_WQES;
	request->rq_wqe_count = BARE_WQES;
	request->rq_wqe_shift = 4; /* 16 bytes: one pointer */
}

void
bare_fill_modify(
	const struct bare *bare, uint32_t mask, uint8_t state, struct ib_uverbs_modify_qp *request)
{
	request->qp_handle = bare->qp;
	request->attr_mask = mask;
	request->qp_state = state;
	request->port_num = 1;
}

void
bare_fill_flow(const struct bare *bare, struct bare_flow *request)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };

	*request = (struct bare_flow){
		.core = { .qp_handle = bare->qp,
			.flow_attr = { .size = sizeof(request->eth),
				.num_of_specs = 1,
				.port = 1 } },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(request->eth) },
	};
	memcpy(request->eth.val.dst_mac, mac, sizeof(mac));
	memset(request->eth.mask.dst_mac, 0xff, sizeof(mac));
}

static void
fill_frame(uint8_t *frame, uint8_t seed)
{
	static const uint8_t head[14] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0xb5 };

	memcpy(frame, head, sizeof(head));
	for (unsigned int i = sizeof(head); i < BARE_FRAME; i++)
		frame[i] = (uint8_t)(seed + i);
}

static void
post_receive(struct bare *bare)
{
	const unsigned int slot = bare->rq_pi % BARE_WQES;
	struct mlx5_wqe_data_seg *pointer = (struct mlx5_wqe_data_seg *)bare->memory->rq + slot;

	mlx5dv_set_data_seg(pointer, 256, bare->lkey, address(bare->memory->frames[1][slot]));
	bare->rq_pi++;
	__atomic_store_n(
		&bare->memory->qp_record[MLX5_RCV_DBR], htobe32(bare->rq_pi), __ATOMIC_RELEASE);
}

/** Control, Ethernet with the first bytes in it, one pointer: 64 bytes. */
static void
post_send(struct bare *bare, uint8_t seed)
{
	const unsigned int slot = bare->sq_pi % BARE_WQES;
	uint8_t *wqe = bare->memory->sq + (size_t)slot * MLX5_SEND_WQE_BB;
	uint8_t *frame = bare->memory->frames[0][slot];
	struct mlx5_wqe_eth_seg *eth = (struct mlx5_wqe_eth_seg *)(wqe + 16);

	fill_frame(frame, seed);
	memset(wqe, 0, MLX5_SEND_WQE_BB);
	mlx5dv_set_ctrl_seg((struct mlx5_wqe_ctrl_seg *)wqe, bare->sq_pi, MLX5_OPCODE_SEND, 0,
		bare->sqn, MLX5_WQE_CTRL_CQ_UPDATE, 4, 0, 0);
	eth->inline_hdr_sz = htobe16(BARE_INLINE_BYTES);
	memcpy(eth->inline_hdr_start, frame, BARE_INLINE_BYTES);
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)(wqe + 48), BARE_FRAME - BARE_INLINE_BYTES,
		bare->lkey, address(frame + BARE_INLINE_BYTES));
	bare->sq_pi++;
	__atomic_store_n(
		&bare->memory->qp_record[MLX5_SND_DBR], htobe32(bare->sq_pi), __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)(bare->uar + bare->bf_offset), *(const uint64_t *)wqe,
		__ATOMIC_RELEASE);
}

/** The next completion: its owner bit changes each time around the ring. */
static const struct mlx5_cqe64 *
wait_cqe(struct bare *bare)
{
	struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)bare->memory->cq + bare->cq_ci % BARE_CQES;
	const uint8_t owner = (bare->cq_ci / BARE_CQES) & 1;
	const time_t end = time(NULL) + PATIENCE;
	uint8_t op_own;

	do {
		op_own = __atomic_load_n(&cqe->op_own, __ATOMIC_ACQUIRE);
		bare_must(time(NULL) < end, "a completion in time");
	} while ((op_own & 1) != owner || op_own >> 4 == MLX5_CQE_INVALID);
	bare->cq_ci++;
	return cqe;
}

static void
exchange(struct bare *bare, uint8_t seed)
{
	const unsigned int sent = bare->sq_pi % BARE_WQES, received = bare->rq_pi % BARE_WQES;
	unsigned int nb[2] = { 0, 0 };

	memset(bare->memory->frames[1][received], 0xee, 256);
	post_receive(bare);
	post_send(bare, seed);
	for (unsigned int i = 0; i < 2; i++) {
		const struct mlx5_cqe64 *cqe = wait_cqe(bare);

		if (cqe->op_own >> 4 == MLX5_CQE_REQ) {
			CHECK(be16toh(cqe->wqe_counter) % BARE_WQES == sent,
				be16toh(cqe->wqe_counter));
			nb[0]++;
		} else {
			CHECK(cqe->op_own >> 4 == MLX5_CQE_RESP_SEND, cqe->op_own);
			CHECK(be32toh(cqe->byte_cnt) == BARE_FRAME, be32toh(cqe->byte_cnt));
			nb[1]++;
		}
	}
	bare->memory->cq_record[0] = htobe32(bare->cq_ci & 0xffffff);
	CHECK(nb[0] == 1 && nb[1] == 1, nb[0]);
	CHECK(memcmp(bare->memory->frames[1][received], bare->memory->frames[0][sent],
		      BARE_FRAME) == 0,
		seed);
	CHECK(bare->memory->frames[1][received][BARE_FRAME] == 0xee, seed);
}

static void
init(struct bare *bare)
{
	*bare = (struct bare){ .fd = bare_open() };
	bare->memory = mmap(NULL, sizeof(*bare->memory), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bare_must(bare->memory != MAP_FAILED, "mmap");
	for (unsigned int i = 0; i < BARE_CQES; i++)
		((struct mlx5_cqe64 *)bare->memory->cq)[i].op_own = MLX5_CQE_INVALID << 4;
}

void
bare_run(const struct bare_abi *abi)
{
	struct bare bare;

	init(&bare);
	abi->get_context(&bare);
	abi->alloc_pd(&bare);
	abi->reg_mr(&bare);
	abi->create_cq(&bare);
	abi->create_qp(&bare);
	abi->modify_qp(&bare, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT);
	abi->modify_qp(&bare, IBV_QP_STATE, IBV_QPS_RTR);
	abi->modify_qp(&bare, IBV_QP_STATE, IBV_QPS_RTS);
	abi->create_flow(&bare);
	/* More than once around each ring. */
	for (unsigned int i = 0; i < 5 * BARE_CQES; i++)
		exchange(&bare, (uint8_t)i);
	abi->destroy_all(&bare);
	munmap(bare.uar, BARE_PAGE);
	munmap(bare.memory, sizeof(*bare.memory));
	CHECK(close(bare.fd) == 0, errno);
}
