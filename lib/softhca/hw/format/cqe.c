/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queue entries: facts -> bytes, and bytes -> text. */
#include "hw/format/cqe.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/pack.h"
#include "hw/format/rx_csum.h"
#include "steering/match/parse.h"

#define TCP_ACK 0x10

static inline uint8_t
l4_type(const struct shca_headers *headers)
{
	if (headers->l4 == SHCA_L4_UDP)
		return SHCA_CQE_L4_UDP;
	if (headers->l4 != SHCA_L4_TCP)
		return SHCA_CQE_L4_NONE;
	if ((headers->tcp_flags & TCP_ACK) == 0)
		return SHCA_CQE_L4_TCP;
	return headers->payload_offset < headers->l3_end ? SHCA_CQE_L4_TCP_ACK
							 : SHCA_CQE_L4_TCP_EMPTY_ACK;
}

static inline uint8_t
header_type(const struct shca_headers *headers)
{
	static const uint8_t l3_types[] = {
		[SHCA_L3_NONE] = MLX5_CQE_L3_HDR_TYPE_NONE,
		[SHCA_L3_IPV4] = MLX5_CQE_L3_HDR_TYPE_IPV4,
		[SHCA_L3_IPV6] = MLX5_CQE_L3_HDR_TYPE_IPV6,
	};

	if (headers->l3 == SHCA_L3_NONE)
		return 0;
	return (headers->ip_options ? SHCA_CQE_IP_EXT : 0) |
		(uint8_t)(l3_types[headers->l3] << SHCA_CQE_L3_SHIFT) |
		(uint8_t)(l4_type(headers) << SHCA_CQE_L4_SHIFT) |
		(headers->fragment ? SHCA_CQE_FRAGMENT : 0);
}

/** Words of a CQE (base/pack.h says why), and where a member is in its word. */
enum {
	WORD_INFO,
	WORD_HASH,
	WORD_CHECKSUM,
	WORD_TYPES,
	WORD_USER,
	WORD_BYTES,
	WORD_TIME,
	WORD_LAST,
};

#define OFFSET(member)  offsetof(struct shca_cqe, member)
#define IN_WORD(member) (OFFSET(member) % sizeof(uint64_t))
#define IS_IN(word, member)                                                                        \
	static_assert(OFFSET(member) / sizeof(uint64_t) == (word), "layout of " #member)
IS_IN(WORD_INFO, pkt_info);
IS_IN(WORD_INFO, wqe_id);
IS_IN(WORD_HASH, rss_hash);
IS_IN(WORD_CHECKSUM, rss_hash_type);
IS_IN(WORD_CHECKSUM, checksum);
IS_IN(WORD_TYPES, hds_ip_ext);
IS_IN(WORD_TYPES, l4_hdr_type);
IS_IN(WORD_TYPES, vlan_info);
IS_IN(WORD_USER, user_index);
IS_IN(WORD_BYTES, byte_count);
IS_IN(WORD_TIME, timestamp);
IS_IN(WORD_LAST, sop_drop_qpn);
IS_IN(WORD_LAST, wqe_counter);
IS_IN(WORD_LAST, op_own);

/**
 * @param info bits for pkt_info
 * @param types bits for l4_hdr_type
 */
static inline void
describe(struct shca_cqe *cqe, uint8_t info, uint8_t types, struct shca_rx_csum rx_csum,
	uint64_t timestamp)
{
	shca_pack_store(cqe, WORD_INFO, shca_pack8(IN_WORD(pkt_info), info));
	shca_pack_store(cqe, WORD_HASH, 0);
	shca_pack_store(cqe, WORD_CHECKSUM, shca_pack16(IN_WORD(checksum), rx_csum.checksum));
	shca_pack_store(cqe, WORD_TYPES,
		shca_pack8(IN_WORD(hds_ip_ext),
			MLX5_CQE_L2_OK | (rx_csum.l3_good ? MLX5_CQE_L3_OK : 0) |
				(rx_csum.l4_good ? MLX5_CQE_L4_OK : 0)) |
			shca_pack8(IN_WORD(l4_hdr_type), types));
	shca_pack_store(cqe, WORD_USER, 0);
	shca_pack_store(cqe, WORD_BYTES, 0);
	shca_pack_store(cqe, WORD_TIME, htobe64(timestamp));
	shca_pack_store(cqe, WORD_LAST,
		shca_pack8(IN_WORD(op_own), MLX5_CQE_RESP_SEND << SHCA_CQE_OPCODE_SHIFT));
}

void
shca_cqe_describe_plain(struct shca_cqe *cqe, const struct shca_headers *outer,
	struct shca_rx_csum rx_csum, uint64_t timestamp)
{
	describe(cqe, 0, header_type(outer), rx_csum, timestamp);
}

static struct shca_rx_csum
check(const uint8_t *bytes, const struct shca_headers *headers)
{
	const struct shca_rx_csum_stack stack = shca_rx_csum_stack(bytes, headers);

	return shca_rx_csum_check(bytes, &stack);
}

void
shca_cqe_describe(struct shca_cqe *cqe, const struct shca_packet *packet, bool see_tunnels,
	uint64_t timestamp)
{
	const struct shca_headers *outer = &packet->outer;
	const struct shca_headers *inner = &packet->inner;
	const uint8_t *bytes = packet->bytes;
	struct shca_rx_csum rx_csum = check(bytes, outer);
	uint8_t types = header_type(outer);
	uint8_t info = 0;

	if (see_tunnels && inner->valid) {
		struct shca_rx_csum inside = check(bytes, inner);
		/* An outer header without an L4 checksum (GRE) cannot have a wrong one. */
		bool outer_good = rx_csum.l3_good && (outer->l4 == SHCA_L4_NONE || rx_csum.l4_good);

		info = SHCA_CQE_TUNNELED | (outer->l3 == SHCA_L3_IPV6 ? SHCA_CQE_OUTER_IPV6 : 0);
		types = header_type(inner);
		rx_csum.l3_good = outer_good && inside.l3_good;
		rx_csum.l4_good = outer_good && inside.l4_good;
	}
	describe(cqe, info, types, rx_csum, timestamp);
}

void
shca_cqe_set_rx(
	struct shca_cqe *cqe, const struct shca_cqe *described, const struct shca_cqe_rx *rx)
{
	uint64_t types = shca_pack_load(described, WORD_TYPES);

	if (rx->vlan_stripped)
		types |= shca_pack8(IN_WORD(l4_hdr_type), SHCA_CQE_CV) |
			shca_pack16(IN_WORD(vlan_info), htobe16(rx->vlan_tci));
	shca_pack_store(cqe, WORD_INFO,
		shca_pack_load(described, WORD_INFO) |
			shca_pack16(IN_WORD(wqe_id), htobe16(rx->wqe_id)));
	shca_pack_store(cqe, WORD_TYPES, types);
	shca_pack_store(cqe, WORD_TIME, shca_pack_load(described, WORD_TIME));
	shca_pack_store(cqe, WORD_HASH, shca_pack32(IN_WORD(rss_hash), htobe32(rx->rss_hash)));
	shca_pack_store(cqe, WORD_CHECKSUM,
		shca_pack_load(described, WORD_CHECKSUM) |
			shca_pack8(IN_WORD(rss_hash_type), rx->rss_hash_type));
	shca_pack_store(cqe, WORD_USER,
		shca_pack32(IN_WORD(user_index), htobe32(rx->user_index & SHCA_CQE_NUMBER_MASK)));
	shca_pack_store(cqe, WORD_BYTES, shca_pack32(IN_WORD(byte_count), htobe32(rx->byte_count)));
	shca_pack_store(cqe, WORD_LAST,
		shca_pack_load(described, WORD_LAST) |
			shca_pack32(IN_WORD(sop_drop_qpn),
				htobe32(rx->flow_tag & SHCA_CQE_NUMBER_MASK)) |
			shca_pack16(IN_WORD(wqe_counter), htobe16(rx->wqe_counter)));
}

void
shca_cqe_set_tx(struct shca_cqe *cqe, uint8_t wqe_opcode, uint32_t sqn, uint32_t user_index,
	uint16_t wqe_counter, uint64_t timestamp)
{
	*cqe = (struct shca_cqe){
		.user_index = htobe32(user_index & SHCA_CQE_NUMBER_MASK),
		.timestamp = htobe64(timestamp),
		.sop_drop_qpn = htobe32((uint32_t)wqe_opcode << 24 | sqn),
		.wqe_counter = htobe16(wqe_counter),
		.op_own = MLX5_CQE_REQ << SHCA_CQE_OPCODE_SHIFT,
	};
}

void
shca_cqe_set_fault(struct shca_cqe *cqe, const struct shca_cqe_fault *fault)
{
	struct shca_cqe_error error = {
		.wqe_id = htobe16(fault->wqe_id),
		.stride = htobe16(fault->stride),
		.user_index = htobe32(fault->user_index & SHCA_CQE_NUMBER_MASK),
		.byte_count = htobe32(fault->byte_count),
		.vendor_err_synd = fault->vendor,
		.syndrome = fault->syndrome,
		.opcode_qpn = htobe32((uint32_t)fault->wqe_opcode << 24 | fault->number),
		.wqe_counter = htobe16(fault->wqe_counter),
		.op_own = (uint8_t)(fault->cqe_opcode << SHCA_CQE_OPCODE_SHIFT),
	};

	memcpy(cqe, &error, sizeof(error));
}

void
shca_cqe_print(const struct shca_cqe *cqe, char *text, size_t size)
{
	uint8_t opcode = cqe->op_own >> SHCA_CQE_OPCODE_SHIFT;
	struct shca_cqe_error error;

	if (opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR) {
		memcpy(&error, cqe, sizeof(error));
		snprintf(text, size,
			"op_own 0x%02x syndrome 0x%02x vendor 0x%02x opcode_qpn 0x%08" PRIx32
			" wqe %u uidx 0x%" PRIx32,
			error.op_own, error.syndrome, error.vendor_err_synd,
			be32toh(error.opcode_qpn), be16toh(error.wqe_counter),
			be32toh(error.user_index));
		return;
	}
	snprintf(text, size,
		"op_own 0x%02x bytes %" PRIu32 " hdr 0x%02x%02x hash 0x%08" PRIx32
		"/0x%02x vlan 0x%04x tag 0x%08" PRIx32 " wqe %u uidx 0x%" PRIx32,
		cqe->op_own, be32toh(cqe->byte_count), cqe->hds_ip_ext, cqe->l4_hdr_type,
		be32toh(cqe->rss_hash), cqe->rss_hash_type, be16toh(cqe->vlan_info),
		be32toh(cqe->sop_drop_qpn), be16toh(cqe->wqe_counter), be32toh(cqe->user_index));
}
