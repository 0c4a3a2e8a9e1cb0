/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of frames with the same headers. */
#include "hw/queue/memo.h"

#include <errno.h>
#include <stdlib.h>

#include "base/pack.h"
#include "hw/queue/tir.h"
#include "hw/state/memo.h"
#include "hw/state/tir.h"

#define TYPE_OFFSET 12

int
shca_memo_init(struct shca_memo *memo)
{
	const size_t bytes = sizeof(struct shca_memo_line) << SHCA_MEMO_LINES_LOG2;
	const size_t cache_line = 64;

	memo->line = aligned_alloc(cache_line, (bytes + cache_line - 1) & ~(cache_line - 1));
	if (memo->line == NULL)
		return -ENOMEM;
	memset(memo->line, 0, bytes);
	memo->latest = memo->line;
	return 0;
}

void
shca_memo_fini(struct shca_memo *memo)
{
	free(memo->line);
	memo->line = NULL;
}

/*
 * Addresses, type, and where most frames have their IP addresses and ports; not what differs in
 * every frame of a flow. Flows that only differ elsewhere share a line in turns.
 */
static struct shca_memo_line *
line_of(const struct shca_memo *memo, const struct shca_frame *frame)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	/* Bytes 24 and 25 are the header checksum of IPv4. */
	const uint64_t behind_checksum = ~shca_pack16(0, UINT16_MAX);
	uint64_t hash = shca_pack_load(frame->bytes, 0) * factor + frame->length;

	hash = (hash ^ hash >> 29 ^ shca_pack_load(frame->bytes, 1)) * factor;
	hash = (hash ^ hash >> 29 ^ (shca_pack_load(frame->bytes, 3) & behind_checksum)) * factor;
	hash = (hash ^ hash >> 29 ^ shca_pack_load(frame->bytes, 4)) * factor;
	if (frame->bytes[TYPE_OFFSET] == 0x86) /* IPv6: the rest of the destination */
		hash = (hash ^ hash >> 29 ^ shca_pack_load(frame->bytes, 5)) * factor;
	return &memo->line[hash >> (64 - SHCA_MEMO_LINES_LOG2)];
}

const struct shca_memo_line *
shca_memo_find(struct shca_memo *memo, uint64_t generation, const struct shca_frame *frame)
{
	struct shca_memo_line *line = memo->latest;

	if (line->generation == generation && shca_memo_is_like(line, frame))
		return line;
	if (frame->length < SHCA_MEMO_MIN_FRAME)
		return NULL;
	line = line_of(memo, frame);
	if (line->generation != generation || !shca_memo_is_like(line, frame))
		return NULL;
	memo->latest = line;
	return line;
}

static void
mask_out(uint8_t *mask, uint32_t from, uint32_t nb)
{
	memset(mask + from, 0, nb);
}

/*
 * The bytes that a frame's fate depends on: all up to the end of its headers, but for what neither
 * the parser nor a rule looks at. @return false for a frame of another kind
 */
static bool
make_mask(const struct shca_headers *outer, uint32_t length, uint8_t mask[SHCA_MEMO_BYTES])
{
	const uint32_t l4_bytes = outer->l4 == SHCA_L4_TCP ? 20 : 8;
	const uint32_t l3 = outer->l3_offset, l4 = outer->l4_offset;
	const uint32_t end = l4 + l4_bytes;

	if (outer->l4 != SHCA_L4_TCP && outer->l4 != SHCA_L4_UDP)
		return false;
	if (shca_parse_may_tunnel(outer) || end > SHCA_MEMO_BYTES || end > length ||
		length < SHCA_MEMO_MIN_FRAME)
		return false;
	memset(mask, 0, SHCA_MEMO_BYTES);
	memset(mask, UINT8_MAX, end);
	if (outer->l3 == SHCA_L3_IPV4) {
		mask_out(mask, l3 + 4, 2);  /* identification */
		mask_out(mask, l3 + 10, 2); /* checksum */
	}
	if (outer->l4 == SHCA_L4_TCP) {
		mask_out(mask, l4 + 4, 8);  /* sequence and acknowledgement numbers */
		mask_out(mask, l4 + 14, 6); /* window, checksum, urgent pointer */
	} else {
		mask_out(mask, l4 + 6, 2); /* checksum */
	}
	return true;
}

static void
take_headers(struct shca_memo_line *line, const uint8_t *bytes, const uint8_t *mask)
{
	const uint32_t offset[SHCA_MEMO_VECTORS] = { 0, 16, 32, line->last };

	for (unsigned int i = 0; i < SHCA_MEMO_VECTORS; i++) {
		memcpy(&line->mask[i], mask + offset[i], sizeof(line->mask[i]));
		memcpy(&line->value[i], bytes + offset[i], sizeof(line->value[i]));
		line->value[i] &= line->mask[i];
	}
}

void
shca_memo_put(struct shca_memo *memo, uint64_t generation, const struct shca_packet *packet,
	const struct shca_verdict *verdict, const struct shca_cache_trail *trail)
{
	const struct shca_frame frame = { packet->bytes, packet->length };
	const uint32_t end = frame.length < SHCA_MEMO_BYTES ? frame.length : SHCA_MEMO_BYTES;
	uint8_t mask[SHCA_MEMO_BYTES];
	struct shca_memo_line *line;

	if (trail == NULL || verdict->nb_destinations != 1 || verdict->to_kernel ||
		verdict->dropped || verdict->edits != NULL || verdict->destination[0].tir == NULL ||
		packet->tunnel != SHCA_TUNNEL_NONE ||
		!make_mask(&packet->outer, frame.length, mask))
		return;
	line = line_of(memo, &frame);
	line->generation = generation;
	line->length = frame.length;
	line->last = end - (uint32_t)sizeof(shca_memo_vector);
	take_headers(line, frame.bytes, mask);
	line->packet = *packet;
	line->packet.bytes = NULL;
	line->trail = *trail;
	line->flow_tag = verdict->destination[0].flow_tag;
	line->rq = shca_tir_choose(
		verdict->destination[0].tir, packet, &line->rss_hash, &line->rss_hash_type);
	memo->latest = line;
}
