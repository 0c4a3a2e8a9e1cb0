/* SPDX-License-Identifier: BSD-3-Clause */
/* Opcodes of send WQEs, one row each. */
#include "hw/format/opcode.h"

#include <net/ethernet.h>
#include <netinet/in.h>

#include "config/model.h"
#include "hw/format/gather.h"
#include "hw/format/hw.h"
#include "hw/format/tx.h"
#include "hw/format/wqe.h"
#include "steering/match/parse.h"

static bool
is_send_refused(const struct shca_wqe *wqe, const struct shca_model *model)
{
	(void)model;
	return (uint64_t)wqe->inline_length + wqe->segments_length < SHCA_TX_MIN_HEADER;
}

static bool
is_tso_refused(const struct shca_wqe *wqe, const struct shca_model *model)
{
	return wqe->mss == 0 || wqe->segments_length == 0 ||
		wqe->inline_length < SHCA_TX_MIN_HEADER ||
		wqe->segments_length > model->max_tso_bytes;
}

/** One frame for each segment, and no inlined header. */
static bool
is_multi_packet_refused(const struct shca_wqe *wqe)
{
	bool is_refused = wqe->inline_length != 0 || wqe->nb_segments == 0;

	for (unsigned int i = 0; i < wqe->nb_segments; i++)
		is_refused |= wqe->segment[i].length < SHCA_TX_MIN_HEADER;
	return is_refused;
}

static bool
is_enhanced_refused(const struct shca_wqe *wqe, const struct shca_model *model)
{
	return (model->multi_pkt_send & SHCA_MPW_ENHANCED) == 0 || is_multi_packet_refused(wqe);
}

/** The old form takes few frames, all of one length. */
static bool
is_old_refused(const struct shca_wqe *wqe, const struct shca_model *model)
{
	bool is_refused = (model->multi_pkt_send & SHCA_MPW_OLD) == 0 ||
		is_multi_packet_refused(wqe) || wqe->nb_segments > SHCA_MPW_MAX_FRAMES;

	for (unsigned int i = 0; i < wqe->nb_segments; i++)
		is_refused |= wqe->segment[i].length != wqe->mss;
	return is_refused;
}

/** Linux en_accel/ktls_tx.c, mlx5e_dump_wqe: one pointer segment, and drivers send nothing else. */
static bool
is_dump_refused(const struct shca_wqe *wqe, const struct shca_model *model)
{
	return !model->dump || wqe->nb_segments != 1 || wqe->segment[0].inlined != NULL;
}

static uint32_t
one_frame(const struct shca_wqe *wqe)
{
	(void)wqe;
	return 1;
}

static uint32_t
frame_a_segment(const struct shca_wqe *wqe)
{
	return wqe->nb_segments;
}

static uint32_t
frame_an_mss(const struct shca_wqe *wqe)
{
	return (wqe->segments_length - 1) / wqe->mss + 1;
}

static const struct shca_opcode opcode_rows[] = {
	{ .opcode = MLX5_OPCODE_NOP, .name = "NOP" },
	{
		.opcode = MLX5_OPCODE_SEND,
		.name = "SEND",
		.has_eth = true,
		.can_insert_vlan = true,
		.is_refused = is_send_refused,
		.nb_frames = one_frame,
		.build = shca_gather_send,
	},
	/* The old multi-packet form. Drivers use it on ConnectX-4 Lx, which asks for inlined
	 * headers otherwise (DPDK, txq_mpw_en). */
	{
		.opcode = MLX5_OPCODE_TSO,
		.opmod = SHCA_OPMOD_MPW,
		.name = "TSO",
		.has_eth = true,
		.is_split = true,
		.is_never_inline = true,
		.is_refused = is_old_refused,
		.nb_frames = frame_a_segment,
		.build = shca_gather_segment,
	},
	{
		.opcode = MLX5_OPCODE_TSO,
		.name = "TSO",
		.has_eth = true,
		.is_refused = is_tso_refused,
		.nb_frames = frame_an_mss,
		.build = shca_gather_tso,
	},
	{
		.opcode = SHCA_OPCODE_ENHANCED_MPSW,
		.name = "ENHANCED_MPSW",
		.has_eth = true,
		.is_refused = is_enhanced_refused,
		.nb_frames = frame_a_segment,
		.build = shca_gather_segment,
	},
	/* The device reads the data and sends nothing. */
	{
		.opcode = SHCA_OPCODE_DUMP,
		.name = "DUMP",
		.has_data = true,
		.is_refused = is_dump_refused,
		.nb_frames = one_frame,
		.build = shca_gather_dump,
	},
};

const struct shca_opcode *
shca_opcode_find(uint8_t opcode, uint8_t opmod)
{
	for (size_t i = 0; i < sizeof(opcode_rows) / sizeof(opcode_rows[0]); i++)
		if (opcode_rows[i].opcode == opcode &&
			(opcode_rows[i].opmod == opmod || opcode_rows[i].opmod == 0))
			return &opcode_rows[i];
	return NULL;
}

/** @return whether the headers that @p mode demands are inlined, as far as the frame has them
 * (Linux en_tx.c, mlx5e_calc_min_inline). */
static bool
has_headers(const struct shca_wqe *wqe, enum shca_min_inline mode)
{
	const struct shca_headers *outer;
	struct shca_packet packet;

	if (wqe->inline_length < SHCA_MIN_INLINE_L2_BYTES)
		return false;
	if (mode < SHCA_MIN_INLINE_NETWORK)
		return true;
	shca_parse(wqe->inline_header, wqe->inline_length, &packet);
	outer = &packet.outer;
	if (outer->ether_type != ETHERTYPE_IP && outer->ether_type != ETHERTYPE_IPV6)
		return true;
	if (outer->l3 == SHCA_L3_NONE || mode < SHCA_MIN_INLINE_TRANSPORT || outer->fragment)
		return outer->l3 != SHCA_L3_NONE;
	return outer->l4 != SHCA_L4_NONE ||
		(outer->ip_proto != IPPROTO_TCP && outer->ip_proto != IPPROTO_UDP);
}

/** Policy: the device refuses a WQE that inlines too little, unless it inlines the whole frame. */
bool
shca_opcode_is_inline_short(const struct shca_wqe *wqe, const struct shca_model *model)
{
	return model->min_inline != SHCA_MIN_INLINE_NONE && wqe->has_eth &&
		wqe->segments_length != 0 && !wqe->row->is_never_inline &&
		!has_headers(wqe, model->min_inline);
}

bool
shca_opcode_is_refused(const struct shca_wqe *wqe, const struct shca_model *model)
{
	const struct shca_opcode *row = wqe->row;

	if (row->is_refused == NULL)
		return false;
	return (wqe->insert_vlan && !(model->cvlan_insert && row->can_insert_vlan)) ||
		wqe->opmod != row->opmod || shca_opcode_is_inline_short(wqe, model) ||
		row->is_refused(wqe, model);
}
