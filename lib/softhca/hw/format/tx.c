/* SPDX-License-Identifier: BSD-3-Clause */
/* Offloads on a frame: VLAN insertion, checksums, padding. */
#include "hw/format/tx.h"

#include <endian.h>
#include <string.h>

#include "hw/format/csum.h"
#include "hw/format/hw.h"
#include "steering/match/parse.h"

#define VLAN_TAG_OFFSET 12
#define VLAN_TAG_BYTES  4

#define IPV4_CHECKSUM_OFFSET 10
#define TCP_CHECKSUM_OFFSET  16
#define UDP_CHECKSUM_OFFSET  6

uint32_t
shca_tx_insert_vlan(uint8_t *frame, uint32_t length, uint16_t tpid, uint16_t tci)
{
	uint16_t tag[2] = { htobe16(tpid), htobe16(tci) };

	memmove(frame + VLAN_TAG_OFFSET + VLAN_TAG_BYTES, frame + VLAN_TAG_OFFSET,
		length - VLAN_TAG_OFFSET);
	memcpy(frame + VLAN_TAG_OFFSET, tag, sizeof(tag));
	return length + VLAN_TAG_BYTES;
}

uint32_t
shca_tx_pad(uint8_t *frame, uint32_t length)
{
	if (length >= SHCA_TX_MIN_FRAME)
		return length;
	memset(frame + length, 0, SHCA_TX_MIN_FRAME - length);
	return SHCA_TX_MIN_FRAME;
}

static void
fill_l3(uint8_t *frame, const struct shca_headers *headers)
{
	uint8_t *ip = frame + headers->l3_offset;
	uint16_t checksum = 0;

	/* IPv6 has none. */
	if (!headers->valid || headers->l3 != SHCA_L3_IPV4)
		return;
	memcpy(ip + IPV4_CHECKSUM_OFFSET, &checksum, sizeof(checksum));
	checksum = ~shca_csum_fold(shca_csum_add(ip, (ip[0] & 0xfu) * 4, 0));
	memcpy(ip + IPV4_CHECKSUM_OFFSET, &checksum, sizeof(checksum));
}

/**
 * Drivers may leave any value in the field (the device asks for no pseudo header sum), so the sum
 * excludes it. Policy where no driver shows what hardware does: fragments, truncated packets and
 * protocols other than TCP and UDP stay as they are.
 */
static void
fill_l4(uint8_t *frame, const struct shca_headers *headers)
{
	uint8_t *l4 = frame + headers->l4_offset;
	uint16_t checksum = 0;
	size_t offset = headers->l4 == SHCA_L4_TCP ? TCP_CHECKSUM_OFFSET : UDP_CHECKSUM_OFFSET;

	if (!shca_csum_covers_l4(headers))
		return;
	memcpy(l4 + offset, &checksum, sizeof(checksum));
	checksum = ~shca_csum_fold(shca_csum_add(l4, (size_t)headers->l3_end - headers->l4_offset,
		shca_csum_pseudo(frame, headers)));
	/* RFC 768: a sender transmits a computed zero as all ones: zero means no checksum. */
	if (checksum == 0 && headers->l4 == SHCA_L4_UDP)
		checksum = UINT16_MAX;
	memcpy(l4 + offset, &checksum, sizeof(checksum));
}

/** Inner checksums first: an outer UDP checksum covers them. */
void
shca_tx_checksum(uint8_t *frame, const struct shca_packet *packet, uint8_t cs_flags)
{
	if (cs_flags & SHCA_ETH_CSUM_L3_INNER)
		fill_l3(frame, &packet->inner);
	if (cs_flags & SHCA_ETH_CSUM_L4_INNER)
		fill_l4(frame, &packet->inner);
	if (cs_flags & SHCA_ETH_CSUM_L3)
		fill_l3(frame, &packet->outer);
	if (cs_flags & SHCA_ETH_CSUM_L4)
		fill_l4(frame, &packet->outer);
}
