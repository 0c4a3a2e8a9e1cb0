/* SPDX-License-Identifier: BSD-3-Clause */
/* Results for frames with the same headers. */
#include "hw/queue/flow_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "base/pack.h"
#include "hw/queue/tir.h"
#include "hw/state/flow_cache.h"
#include "hw/state/tir.h"

#define TYPE_OFFSET   12
#define ROCE_UDP_PORT 4791 /* IBTA A17.3 */

int
shca_flow_cache_init(struct shca_flow_cache *flow_cache)
{
	const size_t bytes = sizeof(struct shca_flow_cache_line) << SHCA_FLOW_CACHE_LINES_LOG2;
	const size_t cache_line = 64;

	flow_cache->line = aligned_alloc(cache_line, (bytes + cache_line - 1) & ~(cache_line - 1));
	if (flow_cache->line == NULL)
		return -ENOMEM;
	memset(flow_cache->line, 0, bytes);
	flow_cache->latest = flow_cache->line;
	return 0;
}

void
shca_flow_cache_fini(struct shca_flow_cache *flow_cache)
{
	free(flow_cache->line);
	flow_cache->line = NULL;
}

/**
 * The hash covers the addresses, the type, and the places where most frames have their IP addresses
 * and ports; it omits bytes that differ in every frame of a flow. Flows that differ only elsewhere
 * replace each other in a line.
 */
static struct shca_flow_cache_line *
line_of(const struct shca_flow_cache *flow_cache, const struct shca_frame *frame)
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
	return &flow_cache->line[hash >> (64 - SHCA_FLOW_CACHE_LINES_LOG2)];
}

const struct shca_flow_cache_line *
shca_flow_cache_find(
	struct shca_flow_cache *flow_cache, uint64_t generation, const struct shca_frame *frame)
{
	struct shca_flow_cache_line *line = flow_cache->latest;

	if (line->generation == generation && shca_flow_cache_is_like(line, frame))
		return line;
	if (frame->length < SHCA_FLOW_CACHE_MIN_FRAME)
		return NULL;
	line = line_of(flow_cache, frame);
	if (line->generation != generation || !shca_flow_cache_is_like(line, frame))
		return NULL;
	flow_cache->latest = line;
	return line;
}

static void
mask_out(uint8_t *mask, uint32_t from, uint32_t nb)
{
	memset(mask + from, 0, nb);
}

/**
 * The bytes that decide where a frame goes: all up to the end of its headers, except those that
 * neither the parser nor a rule reads. Whether a group takes a packet of RoCE, its headers behind
 * UDP and its ICRC decide. @return false for a frame of another kind
 */
static bool
make_mask(const struct shca_headers *outer, uint32_t length, uint8_t mask[SHCA_FLOW_CACHE_BYTES])
{
	const uint32_t l4_bytes = outer->l4 == SHCA_L4_TCP ? 20 : 8;
	const uint32_t l3 = outer->l3_offset, l4 = outer->l4_offset;
	const uint32_t end = l4 + l4_bytes;

	if (outer->l4 != SHCA_L4_TCP && outer->l4 != SHCA_L4_UDP)
		return false;
	if (outer->l4 == SHCA_L4_UDP && outer->dst_port == ROCE_UDP_PORT)
		return false;
	if (shca_parse_may_tunnel(outer) || end > SHCA_FLOW_CACHE_BYTES || end > length ||
		length < SHCA_FLOW_CACHE_MIN_FRAME)
		return false;
	memset(mask, 0, SHCA_FLOW_CACHE_BYTES);
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
take_headers(struct shca_flow_cache_line *line, const uint8_t *bytes, const uint8_t *mask)
{
	const uint32_t offset[SHCA_FLOW_CACHE_VECTORS] = { 0, line->last };

	for (unsigned int i = 0; i < SHCA_FLOW_CACHE_VECTORS; i++) {
		memcpy(&line->mask[i], mask + offset[i], sizeof(line->mask[i]));
		memcpy(&line->value[i], bytes + offset[i], sizeof(line->value[i]));
		line->value[i] &= line->mask[i];
	}
}

void
shca_flow_cache_put(struct shca_flow_cache *flow_cache, uint64_t generation,
	const struct shca_packet *packet, const struct shca_verdict *verdict,
	const struct shca_cache_trail *trail)
{
	const struct shca_frame frame = { packet->bytes, packet->length, packet->source_port };
	const uint32_t end =
		frame.length < SHCA_FLOW_CACHE_BYTES ? frame.length : SHCA_FLOW_CACHE_BYTES;
	uint8_t mask[SHCA_FLOW_CACHE_BYTES];
	struct shca_flow_cache_line *line;

	if (trail == NULL || verdict->nb_destinations != 1 || verdict->to_kernel ||
		verdict->dropped || verdict->modify_set != NULL ||
		verdict->destination[0].tir == NULL || packet->tunnel != SHCA_TUNNEL_NONE ||
		!make_mask(&packet->outer, frame.length, mask))
		return;
	line = line_of(flow_cache, &frame);
	line->generation = generation;
	line->length = frame.length;
	line->port = frame.port;
	line->last = end - (uint32_t)sizeof(shca_wide);
	take_headers(line, frame.bytes, mask);
	line->packet = *packet;
	line->packet.bytes = NULL;
	line->trail = *trail;
	line->flow_tag = verdict->destination[0].flow_tag;
	line->rq = shca_tir_choose(
		verdict->destination[0].tir, packet, &line->rss_hash, &line->rss_hash_type);
	flow_cache->latest = line;
}
