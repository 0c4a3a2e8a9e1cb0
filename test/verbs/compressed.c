/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressed completions: in each format that the device reports they agree with the plain
 * completions of the same frames. The program reads the ring by hand, as the library does not know
 * blocks. The index of strides is for striding queues.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "rig.h"

#define NB_FRAMES   32
#define NB_WQES     64
#define LOG_STRIDE  6
#define LOG_STRIDES 9
#define STRIDES_AT  16 /* the buffer that a striding WQE begins at */
#define COMPRESSED  3  /* the format in op_own, bits 3:2 */
#define MINIS       8  /* of an array */

/** A completion's values for a frame; 0: a mini CQE lacks it. */
struct said {
	uint32_t byte_count, hash;
	uint16_t checksum, counter;
};

struct queue {
	bool is_striding;
	struct ibv_cq *cq;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
	struct mlx5dv_cq ring;
	uint32_t ci;
	unsigned int nb_blocks;
};

static struct ibv_cq *send_cq;
static struct ibv_qp *sender;

/** @param format 0: plain */
static void
open_queue(struct queue *queue, uint8_t format)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 127, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct mlx5dv_cq_init_attr dv_cq = {
		.comp_mask = format != 0 ? MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE : 0,
		.cqe_comp_res_format = format,
	};
	struct ibv_wq_init_attr wq_attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = NB_WQES, .max_sge = 1, .pd = rig_pd
	};
	struct mlx5dv_wq_init_attr dv_wq = {
		.comp_mask = queue->is_striding ? MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ : 0,
		.striding_rq_attrs = { LOG_STRIDE, LOG_STRIDES, 0 },
	};
	uint8_t key[40] = { 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25,
		0x3d };
	struct ibv_rwq_ind_table_init_attr table_attr = { .ind_tbl = &queue->wq };
	struct ibv_qp_init_attr_ex qp_attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = rig_pd,
		.rx_hash_conf = { IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key,
			IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP },
	};
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct mlx5dv_obj obj = { .cq = { .out = &queue->ring } };

	queue->cq = ibv_cq_ex_to_cq(mlx5dv_create_cq(rig_context, &cq_attr, &dv_cq));
	if (queue->cq == NULL)
		rig_die("mlx5dv_create_cq");
	wq_attr.cq = queue->cq;
	queue->wq = mlx5dv_create_wq(rig_context, &wq_attr, &dv_wq);
	if (queue->wq == NULL)
		rig_die("mlx5dv_create_wq");
	queue->table = ibv_create_rwq_ind_table(rig_context, &table_attr);
	qp_attr.rwq_ind_tbl = queue->table;
	queue->qp = ibv_create_qp_ex(rig_context, &qp_attr);
	if (queue->qp == NULL)
		rig_die("ibv_create_qp_ex");
	rig_must(ibv_modify_wq(queue->wq, &ready), "ibv_modify_wq");
	obj.cq.in = queue->cq;
	rig_must(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), "mlx5dv_init_obj");
	queue->flow = rig_take_all(queue->qp);
	queue->ci = queue->nb_blocks = 0;
}

static void
close_queue(struct queue *queue)
{
	rig_must(ibv_destroy_flow(queue->flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(queue->qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_rwq_ind_table(queue->table), "ibv_destroy_rwq_ind_table");
	rig_must(ibv_destroy_wq(queue->wq), "ibv_destroy_wq");
	rig_must(ibv_destroy_cq(queue->cq), "ibv_destroy_cq");
}

/** One WQE of strides is enough for all frames; the library does not post to such a queue. */
static void
post_strides(const struct queue *queue)
{
	struct mlx5dv_rwq rwq = { 0 };
	struct mlx5dv_obj obj = { .rwq = { .in = queue->wq, .out = &rwq } };
	struct mlx5_wqe_data_seg segment;

	rig_must(mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ), "mlx5dv_init_obj");
	memset(rwq.buf, 0, rwq.stride);
	mlx5dv_set_data_seg(&segment, 1u << (LOG_STRIDE + LOG_STRIDES), rig_mr->lkey,
		(uintptr_t)rig_buffer(STRIDES_AT));
	memcpy((uint8_t *)rwq.buf + sizeof(struct mlx5_wqe_srq_next_seg), &segment,
		sizeof(segment));
	__atomic_store_n(&rwq.dbrec[MLX5_RCV_DBR], htobe32(1), __ATOMIC_RELEASE);
}

static void
post_buffers(const struct queue *queue)
{
	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		struct ibv_sge sge = rig_sge(NB_FRAMES + i, 0, RIG_BUFFER_BYTES);
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

		rig_must(ibv_post_wq_recv(queue->wq, &wr, &bad), "ibv_post_wq_recv");
	}
}

/** Send all frames by one doorbell, each of its own length and port. */
static void
send_frames(void)
{
	struct ibv_send_wr wr[NB_FRAMES], *bad;
	struct ibv_sge sge[NB_FRAMES];
	struct ibv_wc wc[NB_FRAMES];

	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		uint8_t *frame = rig_buffer(i % 16) + (size_t)(i / 16) * 1024;

		rig_frame(frame, 64 + 3 * i, (uint8_t)(i * 7));
		frame[35] = (uint8_t)i; /* source port */
		sge[i] = rig_sge(i % 16, (size_t)(i / 16) * 1024, 64 + 3 * i);
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < NB_FRAMES ? &wr[i + 1] : NULL,
			.sg_list = &sge[i],
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
		};
	}
	rig_must(ibv_post_send(sender, wr, &bad), "ibv_post_send");
	rig_poll(send_cq, wc, NB_FRAMES);
}

static const uint8_t *
slot(const struct queue *queue, uint32_t index)
{
	return (const uint8_t *)queue->ring.buf +
		(size_t)(index & (queue->ring.cqe_cnt - 1)) * queue->ring.cqe_size;
}

static const uint8_t *
await(const struct queue *queue)
{
	const uint8_t *cqe = slot(queue, queue->ci);
	const uint8_t owner = (queue->ci & queue->ring.cqe_cnt) != 0;
	time_t end = time(NULL) + RIG_PATIENCE;
	uint8_t op_own;

	do {
		op_own = __atomic_load_n(&cqe[63], __ATOMIC_ACQUIRE);
		if (time(NULL) > end) {
			errno = ETIMEDOUT;
			rig_die("no CQE");
		}
	} while (op_own >> 4 == MLX5_CQE_INVALID || (op_own & 1) != owner);
	rig_check(op_own >> 4 == MLX5_CQE_RESP_SEND, "received", op_own);
	return cqe;
}

/** Bytes 12 hash, 20 checksum, 44 byte count, 60 counter: PRM, Linux mlx5/device.h mlx5_cqe64. */
static struct said
read_cqe(const uint8_t *cqe)
{
	return (struct said){ rig_be32(cqe + 44), rig_be32(cqe + 12), rig_be16(cqe + 20),
		rig_be16(cqe + 60) };
}

/** Read a block: the title, then arrays of mini CQEs in the slots 1, 8, 16, ... behind it. */
static unsigned int
read_block(struct queue *queue, uint8_t format, struct said *said)
{
	const uint8_t *title = slot(queue, queue->ci);
	const uint32_t nb = rig_be32(title + 44);

	rig_check(nb >= 2 && nb <= NB_FRAMES, "a block's length", nb);
	for (uint32_t i = 0; i < nb; i++) {
		const uint32_t array = i / MINIS == 0 ? 1 : i / MINIS * MINIS;
		const uint8_t *mini = slot(queue, queue->ci + array) + i % MINIS * 8;

		said[i] = (struct said){ .byte_count = rig_be32(mini + 4) };
		if (format == MLX5DV_CQE_RES_FORMAT_HASH)
			said[i].hash = rig_be32(mini);
		else
			said[i].checksum = rig_be16(mini);
		if (format == MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX)
			said[i].counter = rig_be16(mini + 2);
	}
	queue->nb_blocks++;
	return nb;
}

/** Send, and take the completion of every frame. @param is_mini set for those by a mini CQE */
static void
pass(struct queue *queue, uint8_t format, struct said *said, bool *is_mini)
{
	unsigned int nb = 0;

	if (queue->is_striding)
		post_strides(queue);
	else
		post_buffers(queue);
	send_frames();
	while (nb < NB_FRAMES) {
		const uint8_t *cqe = await(queue);
		unsigned int more = 1;

		is_mini[nb] = (cqe[63] >> 2 & 3) == COMPRESSED;
		if (is_mini[nb])
			more = read_block(queue, format, said + nb);
		else
			said[nb] = read_cqe(cqe);
		for (unsigned int i = 1; i < more; i++)
			is_mini[nb + i] = true;
		nb += more;
		queue->ci += more;
		__atomic_store_n(
			&queue->ring.dbrec[0], htobe32(queue->ci & 0xffffff), __ATOMIC_RELEASE);
	}
	CHECK(nb == NB_FRAMES, nb);
}

static void
compare(uint8_t format, const struct said *plain, const struct said *said, const bool *is_mini)
{
	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		struct said wanted = plain[i];

		if (is_mini[i] && format == MLX5DV_CQE_RES_FORMAT_HASH)
			wanted.checksum = 0;
		else if (is_mini[i])
			wanted.hash = 0;
		if (is_mini[i] && format != MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX)
			wanted.counter = 0;
		rig_check(said[i].byte_count == wanted.byte_count, "byte count", i);
		rig_check(said[i].hash == wanted.hash, "hash", i);
		rig_check(said[i].checksum == wanted.checksum, "checksum", i);
		rig_check(said[i].counter == wanted.counter, "counter or stride", i);
	}
}

/** The number of frames in a block depends on timing, so repeat until there was one. */
static void
test_format(uint8_t format, bool is_striding)
{
	struct queue queue = { .is_striding = is_striding };
	struct said plain[NB_FRAMES], said[NB_FRAMES];
	time_t end = time(NULL) + RIG_PATIENCE;
	bool is_mini[NB_FRAMES];

	open_queue(&queue, 0);
	pass(&queue, 0, plain, is_mini);
	CHECK(queue.nb_blocks == 0, queue.nb_blocks);
	CHECK(plain[0].hash != plain[1].hash && plain[0].checksum != plain[1].checksum, 0);
	close_queue(&queue);
	do {
		open_queue(&queue, format);
		pass(&queue, format, said, is_mini);
		compare(format, plain, said, is_mini);
		close_queue(&queue);
	} while (queue.nb_blocks == 0 && time(NULL) < end);
	rig_check(queue.nb_blocks != 0, "a block came", format);
}

int
main(void)
{
	struct mlx5dv_context attr = { .comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION };
	const uint8_t formats[] = { MLX5DV_CQE_RES_FORMAT_HASH, MLX5DV_CQE_RES_FORMAT_CSUM,
		MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX };

	rig_open();
	rig_must(mlx5dv_query_device(rig_context, &attr), "mlx5dv_query_device");
	send_cq = ibv_create_cq(rig_context, 64, NULL, NULL, 0);
	if (send_cq == NULL)
		rig_die("ibv_create_cq");
	sender = rig_qp(send_cq, 0);
	for (unsigned int i = 0; i < 3; i++)
		if (attr.cqe_comp_caps.supported_format & formats[i])
			test_format(formats[i], formats[i] == MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX);
	rig_must(ibv_destroy_qp(sender), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(send_cq), "ibv_destroy_cq");
	return rig_close();
}
