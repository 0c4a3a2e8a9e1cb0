/* SPDX-License-Identifier: BSD-3-Clause */
/* InfiniBand transport headers, bytes <-> struct. */
#include "transport/packet/bth.h"

#include <endian.h>
#include <string.h>

#define BTH_BYTES        12
#define FLAG_SOLICITED   0x80
#define FLAG_MIGRATED    0x40
#define PAD_SHIFT        4
#define PAD_MASK         3
#define VERSION_MASK     0x0f
#define FLAG_ACK_REQUEST 0x80u

/** Extended headers in the order in which they stand. */
enum header {
	DETH = 1 << 0,
	XRCETH = 1 << 1,
	RETH = 1 << 2,
	ATOMICETH = 1 << 3,
	AETH = 1 << 4,
	ATOMICACKETH = 1 << 5,
	IMMDT = 1 << 6,
	IETH = 1 << 7,
	PAYLOAD = 1 << 8,
	KNOWN = 1 << 9,
};

/** By the lower bits (IBTA table 38). */
static const uint16_t of_op[SHCA_BTH_OP_MASK + 1] = {
	[SHCA_BTH_SEND_FIRST] = KNOWN | PAYLOAD,
	[SHCA_BTH_SEND_MIDDLE] = KNOWN | PAYLOAD,
	[SHCA_BTH_SEND_LAST] = KNOWN | PAYLOAD,
	[SHCA_BTH_SEND_LAST_IMM] = KNOWN | PAYLOAD | IMMDT,
	[SHCA_BTH_SEND_ONLY] = KNOWN | PAYLOAD,
	[SHCA_BTH_SEND_ONLY_IMM] = KNOWN | PAYLOAD | IMMDT,
	[SHCA_BTH_WRITE_FIRST] = KNOWN | PAYLOAD | RETH,
	[SHCA_BTH_WRITE_MIDDLE] = KNOWN | PAYLOAD,
	[SHCA_BTH_WRITE_LAST] = KNOWN | PAYLOAD,
	[SHCA_BTH_WRITE_LAST_IMM] = KNOWN | PAYLOAD | IMMDT,
	[SHCA_BTH_WRITE_ONLY] = KNOWN | PAYLOAD | RETH,
	[SHCA_BTH_WRITE_ONLY_IMM] = KNOWN | PAYLOAD | RETH | IMMDT,
	[SHCA_BTH_READ_REQUEST] = KNOWN | RETH,
	[SHCA_BTH_READ_FIRST] = KNOWN | PAYLOAD | AETH,
	[SHCA_BTH_READ_MIDDLE] = KNOWN | PAYLOAD,
	[SHCA_BTH_READ_LAST] = KNOWN | PAYLOAD | AETH,
	[SHCA_BTH_READ_ONLY] = KNOWN | PAYLOAD | AETH,
	[SHCA_BTH_ACK] = KNOWN | AETH,
	[SHCA_BTH_ATOMIC_ACK] = KNOWN | AETH | ATOMICACKETH,
	[SHCA_BTH_CMP_SWAP] = KNOWN | ATOMICETH,
	[SHCA_BTH_FETCH_ADD] = KNOWN | ATOMICETH,
	[SHCA_BTH_SEND_LAST_INV] = KNOWN | PAYLOAD | IETH,
	[SHCA_BTH_SEND_ONLY_INV] = KNOWN | PAYLOAD | IETH,
};

/** Operations of services that have not all of them (IBTA table 38). */
#define UC_OPS ((1u << (SHCA_BTH_WRITE_ONLY_IMM + 1)) - 1)
#define UD_OPS (1u << SHCA_BTH_SEND_ONLY | 1u << SHCA_BTH_SEND_ONLY_IMM)

/** Responses of XRC name no SRQ (IBTA A14.4.2). */
static bool
is_response(uint8_t op)
{
	return op >= SHCA_BTH_READ_FIRST && op <= SHCA_BTH_ATOMIC_ACK;
}

/** @return the headers of an opcode; 0: it is unknown. */
static unsigned int
headers_of(uint8_t opcode)
{
	const uint8_t op = opcode & SHCA_BTH_OP_MASK;

	switch (opcode & SHCA_BTH_SERVICE_MASK) {
	case SHCA_BTH_RC:
		return of_op[op];
	case SHCA_BTH_UC:
		return UC_OPS >> op & 1 ? of_op[op] : 0;
	case SHCA_BTH_UD:
		return UD_OPS >> op & 1 ? of_op[op] | DETH : 0;
	case SHCA_BTH_XRC:
		return of_op[op] != 0 && !is_response(op) ? of_op[op] | XRCETH : of_op[op];
	default:
		return 0;
	}
}

bool
shca_bth_is_known(uint8_t opcode)
{
	return headers_of(opcode) != 0;
}

bool
shca_bth_has_payload(uint8_t opcode)
{
	return (headers_of(opcode) & PAYLOAD) != 0;
}

bool
shca_bth_has_imm(uint8_t opcode)
{
	return (headers_of(opcode) & IMMDT) != 0;
}

bool
shca_bth_has_aeth(uint8_t opcode)
{
	return (headers_of(opcode) & AETH) != 0;
}

uint32_t
shca_bth_headers_bytes(uint8_t opcode)
{
	static const uint8_t bytes_of[] = { 8, 4, 16, 28, 4, 8, 4, 4 }; /* as enum header */
	const unsigned int headers = headers_of(opcode);
	uint32_t bytes = BTH_BYTES;

	for (unsigned int i = 0; i < sizeof(bytes_of); i++)
		bytes += headers >> i & 1 ? bytes_of[i] : 0;
	return bytes;
}

static uint8_t *
put32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static uint8_t *
put64(uint8_t *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static const uint8_t *
get32(const uint8_t *from, uint32_t *value)
{
	memcpy(value, from, sizeof(*value));
	*value = be32toh(*value);
	return from + sizeof(*value);
}

static const uint8_t *
get64(const uint8_t *from, uint64_t *value)
{
	memcpy(value, from, sizeof(*value));
	*value = be64toh(*value);
	return from + sizeof(*value);
}

/** @return bytes that fill the payload up to whole words (IBTA 9.2.3). */
static uint8_t
pad_of(uint32_t payload_bytes)
{
	return (uint8_t)(-payload_bytes & PAD_MASK);
}

uint32_t
shca_bth_write(const struct shca_bth *bth, uint8_t *bytes)
{
	const unsigned int headers = headers_of(bth->opcode);
	uint8_t *to = bytes;

	*to++ = bth->opcode;
	/* Without alternate paths a queue pair is always migrated (IBTA 17.2.8). */
	*to++ = (uint8_t)((bth->solicited ? FLAG_SOLICITED : 0) | FLAG_MIGRATED |
		pad_of(bth->payload_bytes) << PAD_SHIFT);
	*to++ = (uint8_t)(bth->pkey >> 8);
	*to++ = (uint8_t)bth->pkey;
	to = put32(to, bth->qpn & SHCA_PSN_MASK);
	to = put32(to, (bth->psn & SHCA_PSN_MASK) | (bth->ack_req ? FLAG_ACK_REQUEST << 24 : 0));
	if (headers & DETH) {
		to = put32(to, bth->qkey);
		to = put32(to, bth->src_qpn & SHCA_PSN_MASK);
	}
	if (headers & XRCETH)
		to = put32(to, bth->xrc_srqn & SHCA_PSN_MASK);
	if (headers & (RETH | ATOMICETH)) {
		to = put64(to, bth->va);
		to = put32(to, bth->rkey);
	}
	if (headers & RETH)
		to = put32(to, bth->dma_length);
	if (headers & ATOMICETH) {
		to = put64(to, bth->swap_add);
		to = put64(to, bth->compare);
	}
	if (headers & AETH)
		to = put32(to, (uint32_t)bth->syndrome << 24 | (bth->msn & SHCA_PSN_MASK));
	if (headers & ATOMICACKETH)
		to = put64(to, bth->original);
	if (headers & IMMDT)
		to = put32(to, bth->imm);
	if (headers & IETH)
		to = put32(to, bth->rkey);
	return (uint32_t)(to - bytes);
}

/** Read the extended headers. @return the byte behind them. */
static const uint8_t *
read_extended(struct shca_bth *bth, const uint8_t *from)
{
	const unsigned int headers = headers_of(bth->opcode);
	uint32_t word;

	if (headers & DETH) {
		from = get32(from, &bth->qkey);
		from = get32(from, &bth->src_qpn);
		bth->src_qpn &= SHCA_PSN_MASK;
	}
	if (headers & XRCETH) {
		from = get32(from, &bth->xrc_srqn);
		bth->xrc_srqn &= SHCA_PSN_MASK;
	}
	if (headers & (RETH | ATOMICETH)) {
		from = get64(from, &bth->va);
		from = get32(from, &bth->rkey);
	}
	if (headers & RETH)
		from = get32(from, &bth->dma_length);
	if (headers & ATOMICETH) {
		from = get64(from, &bth->swap_add);
		from = get64(from, &bth->compare);
	}
	if (headers & AETH) {
		from = get32(from, &word);
		bth->syndrome = (uint8_t)(word >> 24);
		bth->msn = word & SHCA_PSN_MASK;
	}
	if (headers & ATOMICACKETH)
		from = get64(from, &bth->original);
	if (headers & IMMDT)
		from = get32(from, &bth->imm);
	if (headers & IETH)
		from = get32(from, &bth->rkey);
	return from;
}

bool
shca_bth_read(struct shca_bth *bth, const uint8_t *bytes, uint32_t length)
{
	uint32_t word, headers_bytes;
	uint8_t pad;

	if (length < BTH_BYTES || !shca_bth_is_known(bytes[0]) || (bytes[1] & VERSION_MASK) != 0)
		return false;
	*bth = (struct shca_bth){
		.opcode = bytes[0],
		.solicited = (bytes[1] & FLAG_SOLICITED) != 0,
		.pkey = (uint16_t)(bytes[2] << 8 | bytes[3]),
	};
	pad = bytes[1] >> PAD_SHIFT & PAD_MASK;
	headers_bytes = shca_bth_headers_bytes(bth->opcode);
	if (length < headers_bytes + pad || (length & PAD_MASK) != 0)
		return false;
	get32(bytes + 4, &bth->qpn);
	bth->qpn &= SHCA_PSN_MASK;
	get32(bytes + 8, &word);
	bth->psn = word & SHCA_PSN_MASK;
	bth->ack_req = (word >> 24 & FLAG_ACK_REQUEST) != 0;
	bth->payload = read_extended(bth, bytes + BTH_BYTES);
	bth->payload_bytes = length - headers_bytes - pad;
	/* A packet without payload has none (IBTA 9.4, tables of packets). */
	return shca_bth_has_payload(bth->opcode) || bth->payload_bytes == 0;
}
