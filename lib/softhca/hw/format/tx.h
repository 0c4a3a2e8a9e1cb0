/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Changes that the device makes to a frame after gathering and before sending it. Pure.
 */
#ifndef SHCA_HW_FORMAT_TX_H
#define SHCA_HW_FORMAT_TX_H

#include <stdint.h>

struct shca_packet;

/** A frame on the medium is at least this long without FCS (IEEE 802.3, 4A.4.2). */
#define SHCA_TX_MIN_FRAME 60
/** Bytes of an Ethernet header; the device refuses shorter frames. */
#define SHCA_TX_MIN_HEADER 14

/** Insert a tag behind the addresses of @p frame, which has 4 bytes of room. @return the new
 * length. */
uint32_t shca_tx_insert_vlan(uint8_t *frame, uint32_t length, uint16_t tpid, uint16_t tci);

/**
 * Fill the checksums that @p cs_flags (SHCA_ETH_CSUM_*) asks for into @p frame, which @p packet
 * describes. Old values of the fields are ignored. A flag without its header has no effect.
 */
void shca_tx_checksum(uint8_t *frame, const struct shca_packet *packet, uint8_t cs_flags);

/** Zero-pad a runt; @p frame has room for 60 bytes. @return the new length. */
uint32_t shca_tx_pad(uint8_t *frame, uint32_t length);

#endif /* SHCA_HW_FORMAT_TX_H */
