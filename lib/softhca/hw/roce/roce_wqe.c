/* SPDX-License-Identifier: BSD-3-Clause */
/* A send WQE of a queue pair with a transport: bytes -> struct. */
#include "hw/roce/roce_wqe.h"

#include <endian.h>
#include <string.h>

#define FENCE_MASK    0xe0 /* of fm_ce_se */
#define SGID_SHIFT    20   /* of grh_gid_fl (libmlx5 mlx5_create_ah) */
#define SGID_MASK     0xff
#define FLOW_MASK     0xfffff
#define QPN_MASK      0xffffff
#define ATOMIC_BYTES  8
#define XRC_SEG_BYTES 16u

/** Segments between control and data. */
enum parts {
	REMOTE = 1 << 0,
	ATOMIC = 1 << 1,
	UMR = 1 << 2,
};

/** One row an opcode (Linux mlx5/device.h). */
static const struct row {
	uint8_t opcode;
	enum shca_wr_kind kind;
	unsigned int parts;
	bool has_imm, has_inval;
} opcode_rows[] = {
	{ MLX5_OPCODE_NOP, SHCA_WR_LOCAL, 0, false, false },
	{ MLX5_OPCODE_UMR, SHCA_WR_LOCAL, UMR, false, false },
	{ MLX5_OPCODE_SEND, SHCA_WR_SEND, 0, false, false },
	{ MLX5_OPCODE_SEND_IMM, SHCA_WR_SEND, 0, true, false },
	{ MLX5_OPCODE_SEND_INVAL, SHCA_WR_SEND, 0, false, true },
	{ MLX5_OPCODE_RDMA_WRITE, SHCA_WR_WRITE, REMOTE, false, false },
	{ MLX5_OPCODE_RDMA_WRITE_IMM, SHCA_WR_WRITE, REMOTE, true, false },
	{ MLX5_OPCODE_RDMA_READ, SHCA_WR_READ, REMOTE, false, false },
	{ MLX5_OPCODE_ATOMIC_CS, SHCA_WR_CMP_SWAP, REMOTE | ATOMIC, false, false },
	{ MLX5_OPCODE_ATOMIC_FA, SHCA_WR_FETCH_ADD, REMOTE | ATOMIC, false, false },
};

static const struct row *
find(uint8_t opcode)
{
	for (size_t i = 0; i < sizeof(opcode_rows) / sizeof(opcode_rows[0]); i++)
		if (opcode_rows[i].opcode == opcode)
			return &opcode_rows[i];
	return NULL;
}

bool
shca_roce_wqe_has_opcode(uint8_t opcode, bool is_datagram)
{
	const struct row *row = find(opcode);

	return row != NULL && (!is_datagram || (row->parts == 0 && !row->has_inval));
}

static void
decode_av(const uint8_t *bytes, struct shca_roce_av *av)
{
	struct mlx5_wqe_av from;
	uint32_t word;

	memcpy(&from, bytes, sizeof(from));
	word = be32toh(from.grh_gid_fl);
	*av = (struct shca_roce_av){
		.route = {
			.flow_label = word & FLOW_MASK,
			.sgid_index = word >> SGID_SHIFT & SGID_MASK,
			.hop_limit = from.hop_limit,
			.traffic_class = from.tclass,
			.udp_source = be16toh(from.rlid),
		},
		.qpn = be32toh(from.dqp_dct) & QPN_MASK,
		.qkey = be32toh(from.key.qkey.qkey),
	};
	memcpy(av->route.dgid, from.rgid, sizeof(from.rgid));
	memcpy(av->dmac, from.rmac, sizeof(from.rmac));
}

/** @return the offset behind the segment; 0: it is longer than the WQE. */
static uint32_t
decode_segment(
	const uint8_t *bytes, uint32_t offset, uint32_t length, struct shca_wqe_segment *segment)
{
	const uint32_t word_bytes = sizeof(struct mlx5_wqe_inl_data_seg);
	struct mlx5_wqe_data_seg data;
	uint32_t byte_count;

	memcpy(&data, bytes + offset, sizeof(data));
	byte_count = be32toh(data.byte_count);
	*segment = (struct shca_wqe_segment){ .length = byte_count & ~MLX5_INLINE_SEG };
	if ((byte_count & MLX5_INLINE_SEG) == 0) {
		segment->lkey = be32toh(data.lkey);
		segment->address = be64toh(data.addr);
		return offset + SHCA_DS_BYTES;
	}
	if (segment->length > length - offset - word_bytes)
		return 0;
	segment->inlined = bytes + offset + word_bytes;
	return offset +
		(word_bytes + segment->length + SHCA_DS_BYTES - 1) / SHCA_DS_BYTES * SHCA_DS_BYTES;
}

static uint8_t
decode_data(const uint8_t *bytes, uint32_t offset, uint32_t length, struct shca_roce_wqe *wqe)
{
	uint64_t sum = 0;

	while (offset < length) {
		struct shca_wqe_segment *segment = &wqe->segment[wqe->nb_segments];

		offset = decode_segment(bytes, offset, length, segment);
		if (offset == 0)
			return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
		sum += segment->length;
		wqe->nb_segments++;
	}
	if (sum > SHCA_ROCE_MESSAGE_MAX)
		return MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	wqe->wr.length = (uint32_t)sum;
	return 0;
}

/** @return the offset behind the segments of a remote address and of an atomic. */
static uint32_t
decode_remote(const uint8_t *bytes, uint32_t offset, unsigned int parts, struct shca_wr *wr)
{
	struct mlx5_wqe_raddr_seg raddr;
	struct mlx5_wqe_atomic_seg atomic;

	if (parts & REMOTE) {
		memcpy(&raddr, bytes + offset, sizeof(raddr));
		offset += (uint32_t)sizeof(raddr);
		wr->va = be64toh(raddr.raddr);
		wr->rkey = be32toh(raddr.rkey);
	}
	if (parts & ATOMIC) {
		memcpy(&atomic, bytes + offset, sizeof(atomic));
		offset += (uint32_t)sizeof(atomic);
		wr->swap_add = be64toh(atomic.swap_add);
		wr->compare = be64toh(atomic.compare);
	}
	return offset;
}

static void
decode_ctrl(const uint8_t *bytes, struct shca_wr *wr)
{
	struct mlx5_wqe_ctrl_seg ctrl;
	struct shca_wqe common;

	memcpy(&ctrl, bytes, sizeof(ctrl));
	shca_wqe_decode_ctrl(bytes, &common);
	wr->index = common.index;
	wr->opcode = common.opcode;
	wr->nb_wqebbs = common.nb_wqebbs;
	wr->is_signaled = common.ce >= SHCA_CE_ALWAYS;
	wr->solicited = (ctrl.fm_ce_se & MLX5_WQE_CTRL_SOLICITED) != 0;
	wr->fence = (ctrl.fm_ce_se & FENCE_MASK) > MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE;
	wr->imm = be32toh(ctrl.imm);
}

/** Segments of what changes a window; one that is unbound has no region. */
static uint8_t
decode_umr(const uint8_t *bytes, uint32_t offset, uint32_t stated, struct shca_roce_wqe *wqe)
{
	struct mlx5_wqe_umr_ctrl_seg ctrl;
	struct mlx5_wqe_mkey_context_seg mkey;
	struct mlx5_wqe_umr_klm_seg klm = { 0 };
	uint64_t mask;
	uint32_t word;

	if (stated < offset + sizeof(ctrl) + sizeof(mkey))
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	memcpy(&ctrl, bytes + offset, sizeof(ctrl));
	memcpy(&mkey, bytes + offset + sizeof(ctrl), sizeof(mkey));
	offset += (uint32_t)(sizeof(ctrl) + sizeof(mkey));
	mask = be64toh(ctrl.mkey_mask);
	/* Other changes of keys are DevX's. */
	if ((ctrl.flags & MLX5_WQE_UMR_CTRL_FLAG_INLINE) == 0 ||
		(mask & MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE) == 0)
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	if ((mkey.free & MLX5_WQE_MKEY_CONTEXT_FREE) == 0) {
		if (stated < offset + sizeof(klm))
			return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
		memcpy(&klm, bytes + offset, sizeof(klm));
	}
	word = be32toh(mkey.qpn_mkey);
	wqe->has_umr = true;
	wqe->umr = (struct shca_roce_umr){
		.key = wqe->wr.imm,
		.has_qpn = (mask & MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN) != 0,
		.is_free = (mkey.free & MLX5_WQE_MKEY_CONTEXT_FREE) != 0,
		.qpn = word >> 8,
		.variant = (uint8_t)word,
		.access_flags = mkey.access_flags,
		.start = be64toh(mkey.start_addr),
		.length = be64toh(mkey.len),
		.lkey = be32toh(klm.mkey),
		.address = be64toh(klm.address),
	};
	return 0;
}

static uint32_t
decode_xrc(const uint8_t *bytes)
{
	uint32_t srqn;

	memcpy(&srqn, bytes, sizeof(srqn));
	return be32toh(srqn) & QPN_MASK;
}

uint8_t
shca_roce_wqe_decode(const uint8_t *bytes, uint32_t length, enum shca_roce_wqe_form form,
	struct shca_roce_wqe *wqe)
{
	const bool is_datagram = form == SHCA_ROCE_WQE_DATAGRAM;
	uint32_t offset = sizeof(struct mlx5_wqe_ctrl_seg);
	const struct row *row;
	uint32_t least, stated;

	wqe->wr = (struct shca_wr){ 0 };
	wqe->nb_segments = 0;
	wqe->has_umr = false;
	decode_ctrl(bytes, &wqe->wr);
	row = find(wqe->wr.opcode);
	if (!shca_roce_wqe_has_opcode(wqe->wr.opcode, is_datagram))
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	wqe->wr.kind = row->kind;
	wqe->wr.has_imm = row->has_imm;
	wqe->wr.has_inval = row->has_inval;
	stated = (uint32_t)shca_wqe_ds(bytes) * SHCA_DS_BYTES;
	if (row->parts & UMR)
		return stated <= length ? decode_umr(bytes, offset, stated, wqe)
					: MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	if (row->kind == SHCA_WR_LOCAL)
		return 0;
	least = offset + (row->parts & REMOTE ? SHCA_DS_BYTES : 0u) +
		(row->parts & ATOMIC ? SHCA_DS_BYTES : 0u) +
		(is_datagram ? (uint32_t)sizeof(struct mlx5_wqe_av) : 0u) +
		(form == SHCA_ROCE_WQE_XRC ? XRC_SEG_BYTES : 0u);
	if (stated < least || stated > length)
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	if (is_datagram) {
		decode_av(bytes + offset, &wqe->av);
		offset += (uint32_t)sizeof(struct mlx5_wqe_av);
	} else if (form == SHCA_ROCE_WQE_XRC) {
		wqe->wr.xrc_srqn = decode_xrc(bytes + offset);
		offset += XRC_SEG_BYTES;
	}
	offset = decode_remote(bytes, offset, row->parts, &wqe->wr);
	if (row->parts & ATOMIC) {
		const uint8_t syndrome = decode_data(bytes, offset, stated, wqe);

		return syndrome != 0 || wqe->wr.length == ATOMIC_BYTES
			? syndrome
			: MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	}
	return decode_data(bytes, offset, stated, wqe);
}
