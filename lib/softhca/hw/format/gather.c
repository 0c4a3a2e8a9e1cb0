/* SPDX-License-Identifier: BSD-3-Clause */
/* Send WQE -> frames. */
#include "hw/format/gather.h"

#include <string.h>

#include "base/mem.h"
#include "hw/format/tso.h"
#include "hw/format/tunnels.h"
#include "hw/format/tx.h"
#include "hw/format/wqe.h"
#include "steering/match/parse.h"
#include "wire/wire.h"

static inline const uint8_t *
segment_bytes(const struct shca_gather *source, const struct shca_wqe_segment *segment)
{
	if (segment->inlined != NULL)
		return segment->inlined;
	return shca_mem_ptr(
		source->mem, source->pdn, segment->lkey, segment->address, segment->length, false);
}

/**
 * Copy @p length bytes, from @p offset on, of all segments laid end to end.
 * @return 0 or a syndrome.
 */
static uint8_t
copy_segments(const struct shca_gather *source, uint32_t offset, uint32_t length, uint8_t *to)
{
	const struct shca_wqe *wqe = source->wqe;

	for (unsigned int i = 0; i < wqe->nb_segments && length != 0; i++) {
		const struct shca_wqe_segment *segment = &wqe->segment[i];
		uint32_t part = segment->length;
		const uint8_t *from;

		if (offset >= part) {
			offset -= part;
			continue;
		}
		part = part - offset < length ? part - offset : length;
		from = segment_bytes(source, segment);
		if (from == NULL)
			return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
		memcpy(to, from + offset, part);
		to += part;
		length -= part;
		offset = 0;
	}
	return 0;
}

/** @return 0, or a syndrome when a segment of a frame that is dropped anyway is out of bounds. */
static uint8_t
check_segments(
	const struct shca_gather *source, const struct shca_wqe_segment *segment, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		if (segment[i].length != 0 && segment_bytes(source, &segment[i]) == NULL)
			return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	return 0;
}

/** @return the one segment that is the frame as it is, or NULL. */
static const struct shca_wqe_segment *
whole_frame(const struct shca_wqe *wqe)
{
	const struct shca_wqe_segment *segment = &wqe->segment[0];

	if (wqe->inline_length != 0 || wqe->insert_vlan || wqe->nb_segments != 1)
		return NULL;
	return segment;
}

/** Take a segment that is a frame; it stays in place if no byte of it changes. */
static inline uint8_t
take_segment(const struct shca_gather *source, const struct shca_wqe_segment *segment,
	uint8_t *room, const uint8_t **bytes, uint32_t *length)
{
	const uint8_t *from = segment_bytes(source, segment);

	if (from == NULL)
		return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	if (segment->length > SHCA_FRAME_MAX) {
		*length = 0;
		return 0;
	}
	*length = segment->length;
	*bytes = from;
	if (!source->copies && source->wqe->cs_flags == 0 && segment->inlined == NULL &&
		segment->length >= SHCA_TX_MIN_FRAME)
		return 0;
	memcpy(room, from, segment->length);
	*length = shca_tx_pad(room, segment->length);
	*bytes = room;
	return 0;
}

uint8_t
shca_gather_segment(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length)
{
	return take_segment(source, &source->wqe->segment[number], room, bytes, length);
}

uint8_t
shca_gather_send(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length)
{
	const struct shca_wqe *wqe = source->wqe;
	const struct shca_wqe_segment *whole = whole_frame(wqe);
	uint8_t syndrome;

	(void)number;
	if (whole != NULL)
		return take_segment(source, whole, room, bytes, length);
	/* Both are far below 2^31, so a sum of 64 bits does not overflow. */
	if ((uint64_t)wqe->inline_length + wqe->segments_length > SHCA_FRAME_MAX) {
		*length = 0;
		return check_segments(source, wqe->segment, wqe->nb_segments);
	}
	memcpy(room, wqe->inline_header, wqe->inline_length);
	syndrome = copy_segments(source, 0, wqe->segments_length, room + wqe->inline_length);
	if (syndrome != 0)
		return syndrome;
	*length = wqe->inline_length + wqe->segments_length;
	if (wqe->insert_vlan)
		*length = shca_tx_insert_vlan(room, *length, wqe->vlan_tpid, wqe->vlan_tci);
	*length = *length > SHCA_FRAME_MAX ? 0 : shca_tx_pad(room, *length);
	*bytes = room;
	return 0;
}

uint8_t
shca_gather_tso(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length)
{
	const struct shca_wqe *wqe = source->wqe;
	struct shca_tso_segment segment = {
		.number = number,
		.nb = (wqe->segments_length - 1) / wqe->mss + 1,
		.offset = number * wqe->mss,
	};
	uint32_t payload = wqe->segments_length - segment.offset;
	struct shca_packet packet;
	uint8_t syndrome;

	if (payload > wqe->mss)
		payload = wqe->mss;
	if (wqe->inline_length + payload > SHCA_FRAME_MAX) {
		*length = 0;
		return check_segments(source, wqe->segment, wqe->nb_segments);
	}
	memcpy(room, wqe->inline_header, wqe->inline_length);
	syndrome = copy_segments(source, segment.offset, payload, room + wqe->inline_length);
	if (syndrome != 0)
		return syndrome;
	*length = wqe->inline_length + payload;
	shca_tso_parse(room, *length, &packet);
	shca_tunnels_limit(&packet, source->tunnels);
	if (source->has_swp)
		shca_swp_apply(&wqe->swp, &packet);
	shca_tso_write_headers(room, &packet, &segment);
	*length = shca_tx_pad(room, *length);
	*bytes = room;
	return 0;
}

uint8_t
shca_gather_dump(const struct shca_gather *source, uint32_t number, uint8_t *room,
	const uint8_t **bytes, uint32_t *length)
{
	const struct shca_wqe *wqe = source->wqe;

	(void)number;
	(void)room;
	*bytes = NULL;
	*length = 0;
	return check_segments(source, wqe->segment, wqe->nb_segments);
}
