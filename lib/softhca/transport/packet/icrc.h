/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The invariant CRC of a RoCE packet (IBTA 7.8.1, A16.5.1, A17.3.3). */
#ifndef SHCA_TRANSPORT_PACKET_ICRC_H
#define SHCA_TRANSPORT_PACKET_ICRC_H

#include <stdint.h>

#define SHCA_ICRC_BYTES 4

/** What stands between Ethernet and BTH. */
enum shca_icrc_network {
	SHCA_ICRC_GRH,      /**< RoCE v1: 40 bytes */
	SHCA_ICRC_IPV4_UDP, /**< RoCE v2: 28 bytes; options make a packet none of RoCE */
	SHCA_ICRC_IPV6_UDP, /**< RoCE v2: 48 bytes */
};

/** @return bytes of the network headers. */
uint32_t shca_icrc_network_bytes(enum shca_icrc_network network);

/** @param bytes the network headers, and @p length bytes with them to the end of the padding
 * @return the ICRC, to be copied to the frame as it is in memory. */
uint32_t shca_icrc(enum shca_icrc_network network, const uint8_t *bytes, uint32_t length);

#endif /* SHCA_TRANSPORT_PACKET_ICRC_H */
