/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * InfiniBand transport headers, bytes <-> struct. Pure.
 *
 * InfiniBand Architecture Specification volume 1 (IBTA), chapter 9: 9.2 base transport header, 9.3
 * extended ones, table 38 which opcode has which.
 */
#ifndef SHCA_TRANSPORT_PACKET_BTH_H
#define SHCA_TRANSPORT_PACKET_BTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Upper three bits of an opcode (IBTA 9.2.1). */
enum shca_bth_service {
	SHCA_BTH_RC = 0x00,
	SHCA_BTH_UC = 0x20,
	SHCA_BTH_UD = 0x60,
	SHCA_BTH_XRC = 0xa0,
};
#define SHCA_BTH_SERVICE_MASK 0xe0

/** Lower five bits of an opcode. */
enum shca_bth_op {
	SHCA_BTH_SEND_FIRST = 0x00,
	SHCA_BTH_SEND_MIDDLE = 0x01,
	SHCA_BTH_SEND_LAST = 0x02,
	SHCA_BTH_SEND_LAST_IMM = 0x03,
	SHCA_BTH_SEND_ONLY = 0x04,
	SHCA_BTH_SEND_ONLY_IMM = 0x05,
	SHCA_BTH_WRITE_FIRST = 0x06,
	SHCA_BTH_WRITE_MIDDLE = 0x07,
	SHCA_BTH_WRITE_LAST = 0x08,
	SHCA_BTH_WRITE_LAST_IMM = 0x09,
	SHCA_BTH_WRITE_ONLY = 0x0a,
	SHCA_BTH_WRITE_ONLY_IMM = 0x0b,
	SHCA_BTH_READ_REQUEST = 0x0c,
	SHCA_BTH_READ_FIRST = 0x0d,
	SHCA_BTH_READ_MIDDLE = 0x0e,
	SHCA_BTH_READ_LAST = 0x0f,
	SHCA_BTH_READ_ONLY = 0x10,
	SHCA_BTH_ACK = 0x11,
	SHCA_BTH_ATOMIC_ACK = 0x12,
	SHCA_BTH_CMP_SWAP = 0x13,
	SHCA_BTH_FETCH_ADD = 0x14,
	SHCA_BTH_SEND_LAST_INV = 0x16,
	SHCA_BTH_SEND_ONLY_INV = 0x17,
};
#define SHCA_BTH_OP_MASK 0x1f

/** A packet sequence number has 24 bits. */
#define SHCA_PSN_MASK 0xffffff

/** @return how far @p a is ahead of @p b; negative: behind (IBTA 9.7.1: half of the space). */
static inline int32_t
shca_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/** Where an AETH's code is: ACK, RNR NAK, NAK (IBTA 9.7.5.2.1, table 44). */
enum shca_aeth_kind {
	SHCA_AETH_ACK = 0x00,
	SHCA_AETH_RNR = 0x20,
	SHCA_AETH_NAK = 0x60,
};
#define SHCA_AETH_KIND_MASK  0x60
#define SHCA_AETH_VALUE_MASK 0x1f
/** No end-to-end credits (IBTA table 43). */
#define SHCA_AETH_NO_CREDITS 0x1f

/** Codes of a NAK (IBTA table 45). */
enum shca_nak {
	SHCA_NAK_SEQUENCE = 0,
	SHCA_NAK_INVALID_REQUEST = 1,
	SHCA_NAK_REMOTE_ACCESS = 2,
	SHCA_NAK_REMOTE_OPERATION = 3,
};

/** A packet from the BTH to the payload's end. Fields of headers that its opcode lacks are 0. */
struct shca_bth {
	uint8_t opcode;
	bool solicited, ack_req;
	uint16_t pkey;
	uint32_t qpn; /**< of the destination */
	uint32_t psn;
	uint32_t qkey, src_qpn;     /**< DETH */
	uint32_t xrc_srqn;          /**< XRCETH */
	uint64_t va;                /**< RETH, AtomicETH */
	uint32_t rkey;              /**< RETH, AtomicETH; IETH of a send with invalidate */
	uint32_t dma_length;        /**< RETH */
	uint64_t swap_add, compare; /**< AtomicETH */
	uint8_t syndrome;           /**< AETH */
	uint32_t msn;               /**< AETH */
	uint64_t original;          /**< AtomicAckETH */
	uint32_t imm;               /**< ImmDt, as the number that it is on the wire */
	const uint8_t *payload;
	uint32_t payload_bytes;
};

/** Headers together are no longer: BTH, XRCETH, AtomicETH. */
#define SHCA_BTH_HEADERS_MAX 48

/** @return whether an opcode is known. */
bool shca_bth_is_known(uint8_t opcode);
/** @return bytes of all headers of a known opcode. */
uint32_t shca_bth_headers_bytes(uint8_t opcode);
/** @{ What an opcode has; an unknown one has nothing. */
bool shca_bth_has_payload(uint8_t opcode);
bool shca_bth_has_imm(uint8_t opcode);
bool shca_bth_has_aeth(uint8_t opcode);
/** @} */

/** Write the headers; the payload and its padding go behind them. @return their bytes. */
uint32_t shca_bth_write(const struct shca_bth *bth, uint8_t *bytes);
/**
 * Read headers and payload of @p length bytes without ICRC; @p bth borrows them.
 * @return false: too short, an unknown opcode, an unknown version (IBTA 9.6.1.1).
 */
bool shca_bth_read(struct shca_bth *bth, const uint8_t *bytes, uint32_t length);

#endif /* SHCA_TRANSPORT_PACKET_BTH_H */
