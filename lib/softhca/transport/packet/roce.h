/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * RoCE frames, bytes <-> struct: Ethernet, then a GRH (v1, IBTA annex A16) or IP and UDP (v2, annex
 * A17), then the transport's packet and its ICRC. Pure.
 */
#ifndef SHCA_TRANSPORT_PACKET_ROCE_H
#define SHCA_TRANSPORT_PACKET_ROCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "transport/packet/bth.h"
#include "transport/packet/icrc.h"

#define SHCA_ROCE_UDP_PORT  4791   /**< IBTA A17.3.1.2 */
#define SHCA_ROCE_ETHERTYPE 0x8915 /**< IBTA A16.3 */

/** No header in front of the payload is longer: Ethernet with a tag, IPv6, UDP, BTH and extended
 * ones; and what follows it: padding and ICRC. */
#define SHCA_ROCE_OVERHEAD (18 + 48 + SHCA_BTH_HEADERS_MAX + 3 + SHCA_ICRC_BYTES)

/** Who sends to whom: an address handle's content, or a frame's. */
struct shca_roce_path {
	uint8_t dmac[6], smac[6];
	bool is_v2;
	uint8_t sgid[16], dgid[16]; /**< IPv4 addresses as ::ffff:a.b.c.d (IBTA A17.4.1) */
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint16_t udp_source; /**< v2 */
};

/** @return whether @p gid is an IPv4 address: RoCE v2 then has an IPv4 header. */
static inline bool
shca_roce_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = { [10] = 0xff, 0xff };

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

/** Write all headers in front of the payload. @return where the payload goes in @p frame. */
uint32_t shca_roce_write_headers(
	const struct shca_roce_path *path, const struct shca_bth *bth, uint8_t *frame);
/** Write padding, lengths, checksum and ICRC of a frame with headers and payload. @return the
 * frame's bytes. */
uint32_t shca_roce_finish(
	const struct shca_roce_path *path, const struct shca_bth *bth, uint8_t *frame);

enum shca_roce_kind {
	SHCA_ROCE_NONE, /**< another protocol, or fragments */
	SHCA_ROCE_GOOD,
	SHCA_ROCE_BAD_ICRC,
	SHCA_ROCE_MALFORMED, /**< RoCE by its address, but lengths or headers are wrong */
};

/** Find out whether a frame is RoCE, as far as its network headers say. Path and network are then
 * filled. @return where the BTH begins; 0: it is not. */
uint32_t shca_roce_look(const uint8_t *frame, uint32_t length, struct shca_roce_path *path,
	enum shca_icrc_network *network);
/** Read a frame; @p bth borrows it. */
enum shca_roce_kind shca_roce_read(
	const uint8_t *frame, uint32_t length, struct shca_roce_path *path, struct shca_bth *bth);

/** The 40 bytes in front of a datagram's payload: the GRH, or an IPv6 header, or 20 bytes of zeros
 * and an IPv4 header (IBTA A17.4.5.1). @param frame that shca_roce_read() called good */
void shca_roce_copy_grh(const uint8_t *frame, uint8_t grh[40]);

#endif /* SHCA_TRANSPORT_PACKET_ROCE_H */
