/* SPDX-License-Identifier: BSD-3-Clause */
/* Send WQE: bytes -> struct, and struct -> text. */
#include "hw/format/wqe.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define ALIGN_DS(bytes) (((bytes) + SHCA_DS_BYTES - 1) & ~(size_t)(SHCA_DS_BYTES - 1))

void
shca_wqe_decode_ctrl(const uint8_t *bytes, struct shca_wqe *wqe)
{
	struct mlx5_wqe_ctrl_seg ctrl;
	uint32_t word;

	memcpy(&ctrl, bytes, sizeof(ctrl));
	word = be32toh(ctrl.opmod_idx_opcode);
	wqe->opmod = word >> SHCA_CTRL_OPMOD_SHIFT;
	wqe->index = (uint16_t)(word >> SHCA_CTRL_INDEX_SHIFT);
	wqe->opcode = (uint8_t)word;
	word = be32toh(ctrl.qpn_ds);
	wqe->sqn = word >> SHCA_CTRL_QPN_SHIFT;
	wqe->ds = word & SHCA_CTRL_DS_MASK;
	wqe->nb_wqebbs = shca_wqe_nb_wqebbs(wqe->ds);
	wqe->ce = ctrl.fm_ce_se >> SHCA_CTRL_CE_SHIFT & SHCA_CTRL_CE_MASK;
	wqe->row = shca_opcode_find(wqe->opcode, wqe->opmod);
	wqe->has_eth = false;
	wqe->nb_segments = 0;
}

/** @return the offset of the first data segment, or 0 when the inline header overruns the WQE. */
static size_t
decode_eth(const uint8_t *bytes, size_t length, struct shca_wqe *wqe)
{
	/* Only the part in front of the inline header: mlx5dv.h includes 16 bytes of that in the
	 * struct. */
	struct mlx5_wqe_eth_seg eth = { 0 };
	uint16_t inline_size;
	uint16_t tci;

	memcpy(&eth, bytes + sizeof(struct mlx5_wqe_ctrl_seg), SHCA_DS_BYTES);
	wqe->has_eth = true;
	wqe->cs_flags = eth.cs_flags;
	memcpy(&wqe->swp, &eth.rsvd0, sizeof(eth.rsvd0));
	wqe->swp.flags = eth.rsvd1;
	wqe->mss = be16toh(eth.mss);
	inline_size = be16toh(eth.inline_hdr_sz);
	memcpy(&tci, eth.inline_hdr_start, sizeof(tci));
	wqe->insert_vlan = (inline_size & SHCA_ETH_INSERT_VLAN) != 0;
	wqe->vlan_tpid = inline_size & SHCA_ETH_SVLAN ? 0x88a8 : 0x8100;
	wqe->vlan_tci = be16toh(tci);
	wqe->inline_length = wqe->insert_vlan ? 0 : inline_size;
	wqe->inline_header = bytes + SHCA_INLINE_HEADER_OFFSET;
	if ((size_t)SHCA_INLINE_HEADER_OFFSET + wqe->inline_length > length)
		return 0;
	return ALIGN_DS((size_t)SHCA_INLINE_HEADER_OFFSET + wqe->inline_length);
}

/** Clear the fields of an ethernet segment, for a WQE without one. @return as decode_eth() */
static size_t
decode_no_eth(struct shca_wqe *wqe)
{
	wqe->cs_flags = 0;
	wqe->swp = (struct shca_swp){ 0 };
	wqe->mss = 0;
	wqe->insert_vlan = false;
	wqe->inline_length = 0;
	wqe->inline_header = NULL;
	return sizeof(struct mlx5_wqe_ctrl_seg);
}

/** @return the offset of the next segment, or 0 when this one overruns the WQE. */
static size_t
decode_segment(const uint8_t *bytes, size_t offset, size_t length, struct shca_wqe_segment *segment)
{
	struct mlx5_wqe_data_seg data;
	uint32_t byte_count;

	memcpy(&data, bytes + offset, sizeof(data));
	byte_count = be32toh(data.byte_count);
	segment->length = byte_count & ~MLX5_INLINE_SEG;
	if ((byte_count & MLX5_INLINE_SEG) == 0) {
		segment->lkey = be32toh(data.lkey);
		segment->address = be64toh(data.addr);
		segment->inlined = NULL;
		return offset + SHCA_DS_BYTES;
	}
	offset += sizeof(struct mlx5_wqe_inl_data_seg);
	if (segment->length > length - offset)
		return 0;
	segment->lkey = 0;
	segment->address = 0;
	segment->inlined = bytes + offset;
	return ALIGN_DS(offset + segment->length);
}

/** The old multi-packet form may inline its frames end to end in one segment: split it, one segment
 * for each frame. */
static void
split_inline(struct shca_wqe *wqe)
{
	const struct shca_wqe_segment all = wqe->segment[0];

	if (wqe->nb_segments != 1 || all.inlined == NULL || wqe->mss == 0 ||
		all.length % wqe->mss != 0 || all.length / wqe->mss > SHCA_MPW_MAX_FRAMES)
		return;
	wqe->nb_segments = (uint8_t)(all.length / wqe->mss);
	for (unsigned int i = 0; i < wqe->nb_segments; i++)
		wqe->segment[i] = (struct shca_wqe_segment){
			.length = wqe->mss,
			.inlined = all.inlined + (size_t)i * wqe->mss,
		};
}

uint8_t
shca_wqe_decode(const uint8_t *bytes, size_t length, struct shca_wqe *wqe)
{
	uint64_t segments_length = 0;
	size_t offset;

	shca_wqe_decode_ctrl(bytes, wqe);
	if (wqe->row == NULL || wqe->ds == 0 || (size_t)wqe->ds * SHCA_DS_BYTES > length)
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	if (!wqe->row->has_eth && !wqe->row->has_data)
		return 0;
	if (wqe->ds < 2)
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	length = (size_t)wqe->ds * SHCA_DS_BYTES;
	offset = wqe->row->has_eth ? decode_eth(bytes, length, wqe) : decode_no_eth(wqe);
	wqe->segments_length = 0;
	if (offset == 0)
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	while (offset < length) {
		struct shca_wqe_segment *segment = &wqe->segment[wqe->nb_segments];

		offset = decode_segment(bytes, offset, length, segment);
		if (offset == 0)
			return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
		segments_length += segment->length;
		wqe->nb_segments++;
	}
	if (segments_length > UINT32_MAX)
		return MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	wqe->segments_length = (uint32_t)segments_length;
	if (wqe->row->is_split)
		split_inline(wqe);
	return 0;
}

static void
print_eth(const struct shca_wqe *wqe, char *text, size_t size)
{
	shca_text_append(text, size, " cs 0x%02x mss %u inline %u", wqe->cs_flags, wqe->mss,
		wqe->inline_length);
	if (shca_swp_is_used(&wqe->swp))
		shca_text_append(text, size, " swp outer %u %u inner %u %u flags 0x%02x",
			wqe->swp.outer_l3 * 2u, wqe->swp.outer_l4 * 2u, wqe->swp.inner_l3 * 2u,
			wqe->swp.inner_l4 * 2u, wqe->swp.flags);
	if (wqe->insert_vlan)
		shca_text_append(
			text, size, " insert 0x%04x:0x%04x", wqe->vlan_tpid, wqe->vlan_tci);
}

void
shca_wqe_print(const struct shca_wqe *wqe, char *text, size_t size)
{
	if (size != 0)
		text[0] = '\0';
	shca_text_append(text, size, "%s(0x%02x.%u) index %u sqn 0x%x ds %u ce %u",
		wqe->row != NULL ? wqe->row->name : "opcode", wqe->opcode, wqe->opmod, wqe->index,
		wqe->sqn, wqe->ds, wqe->ce);
	if (wqe->has_eth)
		print_eth(wqe, text, size);
	for (unsigned int i = 0; i < wqe->nb_segments; i++) {
		const struct shca_wqe_segment *segment = &wqe->segment[i];

		if (segment->inlined != NULL)
			shca_text_append(text, size, " [inline %" PRIu32 "]", segment->length);
		else
			shca_text_append(text, size,
				" [0x%" PRIx64 "+%" PRIu32 " lkey 0x%" PRIx32 "]", segment->address,
				segment->length, segment->lkey);
	}
}
