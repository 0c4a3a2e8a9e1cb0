/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Makes flow specs of the kernel ABI and packets, for the tests of the steering. */
#ifndef TEST_STEERING_BUILD_H
#define TEST_STEERING_BUILD_H

#include <endian.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "steering/match/spec.h"
#include "steering/steering.h"

/** Network order in static initialisers, where htobe16() of glibc is no constant. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define BE16(number) __builtin_bswap16(number)
#define BE32(number) __builtin_bswap32(number)
#else
#define BE16(number) (number)
#define BE32(number) (number)
#endif

/** Specs back to back. They begin at an odd address on purpose: nothing aligns them for the kernel
 * either. */
struct specs {
	uint8_t store[2048];
	size_t length;
	uint8_t nb;
};

static inline uint8_t *
specs_bytes(struct specs *specs)
{
	return specs->store + 1;
}

/** Append a spec with any bytes for value and mask, each @p filter_bytes long. */
static inline void
specs_add(struct specs *specs, uint32_t type, const void *value, const void *mask,
	uint16_t filter_bytes)
{
	struct ib_uverbs_flow_spec_hdr header = {
		.type = type,
		.size = (uint16_t)(8 + 2 * filter_bytes),
	};
	uint8_t *at = specs_bytes(specs) + specs->length;

	memcpy(at, &header, 8);
	memcpy(at + 8, value, filter_bytes);
	memcpy(at + 8 + filter_bytes, mask, filter_bytes);
	specs->length += header.size;
	specs->nb++;
}

/** Append an action spec; @p word is what follows the header (tag or handle), if @p size has room.
 */
static inline void
specs_add_action(struct specs *specs, uint32_t type, uint16_t size, uint32_t word)
{
	struct ib_uverbs_flow_spec_hdr header = { .type = type, .size = size };
	uint8_t *at = specs_bytes(specs) + specs->length;

	memset(at, 0, size);
	memcpy(at, &header, 8);
	if (size >= 12)
		memcpy(at + 8, &word, 4);
	specs->length += size;
	specs->nb++;
}

/** Kernel ABI filter bytes of a spec type without its INNER flag; 0 when unknown. */
static inline uint16_t
filter_bytes(uint32_t type)
{
	switch (type & ~(uint32_t)IBV_FLOW_SPEC_INNER) {
	case IBV_FLOW_SPEC_ETH:
		return sizeof(struct ib_uverbs_flow_eth_filter);
	case IBV_FLOW_SPEC_IPV4:
		return sizeof(struct ib_uverbs_flow_ipv4_filter);
	case IBV_FLOW_SPEC_IPV6:
		return sizeof(struct ib_uverbs_flow_ipv6_filter);
	case IBV_FLOW_SPEC_TCP:
	case IBV_FLOW_SPEC_UDP:
		return sizeof(struct ib_uverbs_flow_tcp_udp_filter);
	case IBV_FLOW_SPEC_VXLAN_TUNNEL:
		return sizeof(struct ib_uverbs_flow_tunnel_filter);
	case IBV_FLOW_SPEC_GRE:
		return sizeof(struct ib_uverbs_flow_gre_filter);
	case IBV_FLOW_SPEC_MPLS:
		return sizeof(struct ib_uverbs_flow_mpls_filter);
	case IBV_FLOW_SPEC_ESP:
		return sizeof(struct ib_uverbs_flow_spec_esp_filter);
	default:
		return 0;
	}
}

/** A spec as a test states it: type, then value and mask; or an action and its word. */
struct spec {
	uint32_t type; /**< 0 ends a list */
	union shca_spec_filter value, mask;
	uint32_t word;
};

static inline void
specs_add_spec(struct specs *specs, const struct spec *spec)
{
	switch (spec->type) {
	case IBV_FLOW_SPEC_ACTION_DROP:
		specs_add_action(specs, spec->type, 8, 0);
		break;
	case IBV_FLOW_SPEC_ACTION_TAG:
	case IBV_FLOW_SPEC_ACTION_HANDLE:
	case IBV_FLOW_SPEC_ACTION_COUNT:
		specs_add_action(specs, spec->type, 16, spec->word);
		break;
	default:
		specs_add(specs, spec->type, &spec->value, &spec->mask, filter_bytes(spec->type));
		break;
	}
}

/** A frame under construction. */
struct frame {
	uint8_t byte[512];
	uint32_t length;
};

static inline void
frame_put(struct frame *frame, const void *bytes, uint32_t length)
{
	memcpy(frame->byte + frame->length, bytes, length);
	frame->length += length;
}

static inline void
frame_put8(struct frame *frame, uint8_t number)
{
	frame->byte[frame->length++] = number;
}

static inline void
frame_put16(struct frame *frame, uint16_t number)
{
	frame_put8(frame, (uint8_t)(number >> 8));
	frame_put8(frame, (uint8_t)number);
}

static inline void
frame_put32(struct frame *frame, uint32_t number)
{
	frame_put16(frame, (uint16_t)(number >> 16));
	frame_put16(frame, (uint16_t)number);
}

static inline void
frame_zero(struct frame *frame, uint32_t length)
{
	memset(frame->byte + frame->length, 0, length);
	frame->length += length;
}

/** Everything up to, not including, the EtherType. */
static inline void
frame_macs(struct frame *frame, const uint8_t *dst, const uint8_t *src)
{
	frame_put(frame, dst, 6);
	frame_put(frame, src, 6);
}

static inline void
frame_vlan(struct frame *frame, uint16_t tpid, uint16_t tci)
{
	frame_put16(frame, tpid);
	frame_put16(frame, tci);
}

/** An IPv4 header; @return its offset, for frame_end_ipv4. */
static inline uint32_t
frame_ipv4(struct frame *frame, uint32_t src, uint32_t dst, uint8_t proto, uint8_t tos,
	uint16_t fragment, uint8_t options_bytes)
{
	uint32_t offset = frame->length;

	frame_put8(frame, (uint8_t)(0x45 + options_bytes / 4));
	frame_put8(frame, tos);
	frame_put16(frame, 0);
	frame_put16(frame, 0x1234);
	frame_put16(frame, fragment);
	frame_put8(frame, 64);
	frame_put8(frame, proto);
	frame_put16(frame, 0);
	frame_put32(frame, src);
	frame_put32(frame, dst);
	for (unsigned int i = 0; i < options_bytes; i++)
		frame_put8(frame, 1); /* no operation */
	return offset;
}

/** The packet ends here: set the length of the IPv4 header at @p offset. */
static inline void
frame_end_ipv4(struct frame *frame, uint32_t offset)
{
	uint32_t length = frame->length - offset;

	frame->byte[offset + 2] = (uint8_t)(length >> 8);
	frame->byte[offset + 3] = (uint8_t)length;
}

static inline uint32_t
frame_ipv6(struct frame *frame, const uint8_t *src, const uint8_t *dst, uint8_t next_header,
	uint8_t traffic_class, uint32_t flow_label)
{
	uint32_t offset = frame->length;

	frame_put32(frame, UINT32_C(6) << 28 | (uint32_t)traffic_class << 20 | flow_label);
	frame_put16(frame, 0);
	frame_put8(frame, next_header);
	frame_put8(frame, 64);
	frame_put(frame, src, 16);
	frame_put(frame, dst, 16);
	return offset;
}

static inline void
frame_end_ipv6(struct frame *frame, uint32_t offset)
{
	uint32_t length = frame->length - offset - 40;

	frame->byte[offset + 4] = (uint8_t)(length >> 8);
	frame->byte[offset + 5] = (uint8_t)length;
}

static inline void
frame_tcp(struct frame *frame, uint16_t src, uint16_t dst, uint8_t flags)
{
	frame_put16(frame, src);
	frame_put16(frame, dst);
	frame_zero(frame, 8);
	frame_put8(frame, 0x50);
	frame_put8(frame, flags);
	frame_zero(frame, 6);
}

static inline void
frame_udp(struct frame *frame, uint16_t src, uint16_t dst)
{
	frame_put16(frame, src);
	frame_put16(frame, dst);
	frame_put16(frame, 0);
	frame_put16(frame, 0);
}

static inline void
frame_vxlan(struct frame *frame, uint32_t vni)
{
	frame_put32(frame, UINT32_C(0x08000000));
	frame_put32(frame, vni << 8);
}

#endif /* TEST_STEERING_BUILD_H */
