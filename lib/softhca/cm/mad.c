/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a field of a message: where it lies, and where it goes. */
#include "cm/mad.h"

#include <errno.h>
#include <string.h>

enum {
	BASE_VERSION = 1,  /* 13.4.2 */
	CLASS_COMM = 0x07, /* 16.7: CommMgt, version 2 */
	CLASS_VERSION = 2,
	METHOD_SEND = 0x03, /* 13.4.5 */
	HEADER_BYTES = 24,
};

/** A number of some bits, counted from the highest bit of its first byte; or bytes. */
struct field {
	uint8_t kind;
	uint8_t byte, bit, bits; /* byte: behind the header; bits 0: it is bytes */
	uint16_t offset;         /* of the member */
	uint16_t size;
};

#define BITS(kind, byte, bit, bits, member)                                                        \
	{                                                                                          \
		kind, byte, bit, bits, offsetof(struct shca_mad, member),                          \
			sizeof(((struct shca_mad *)0)->member)                                     \
	}
#define NUMBER(kind, byte, bits, member) BITS(kind, byte, 0, bits, member)
#define BYTES(kind, byte, member)        BITS(kind, byte, 0, 0, member)

/* Volume 1, tables 106 (REQ), 107 (MRA), 108 (REJ), 110 (REP), 111 (RTU), 112 (DREQ), 113 (DREP),
 * 115 (LAP), 116 (APR), 119 (SIDR_REQ), 120 (SIDR_REP). */
static const struct field fields[] = {
	NUMBER(SHCA_MAD_REQ, 0, 32, local_id),
	NUMBER(SHCA_MAD_REQ, 8, 64, service_id),
	NUMBER(SHCA_MAD_REQ, 16, 64, ca_guid),
	NUMBER(SHCA_MAD_REQ, 28, 32, qkey),
	NUMBER(SHCA_MAD_REQ, 32, 24, qpn),
	NUMBER(SHCA_MAD_REQ, 35, 8, responder_resources),
	NUMBER(SHCA_MAD_REQ, 39, 8, initiator_depth),
	NUMBER(SHCA_MAD_REQ, 43, 5, remote_timeout),
	BITS(SHCA_MAD_REQ, 43, 5, 2, transport),
	BITS(SHCA_MAD_REQ, 43, 7, 1, flow_control),
	NUMBER(SHCA_MAD_REQ, 44, 24, psn),
	NUMBER(SHCA_MAD_REQ, 47, 5, local_timeout),
	BITS(SHCA_MAD_REQ, 47, 5, 3, retry_count),
	NUMBER(SHCA_MAD_REQ, 48, 16, pkey),
	NUMBER(SHCA_MAD_REQ, 50, 4, mtu),
	BITS(SHCA_MAD_REQ, 50, 5, 3, rnr_retry_count),
	NUMBER(SHCA_MAD_REQ, 51, 4, max_cm_retries),
	BITS(SHCA_MAD_REQ, 51, 4, 1, srq),
	BITS(SHCA_MAD_REQ, 51, 5, 3, extended_transport),
	NUMBER(SHCA_MAD_REQ, 52, 16, local_lid),
	NUMBER(SHCA_MAD_REQ, 54, 16, remote_lid),
	BYTES(SHCA_MAD_REQ, 56, local_gid),
	BYTES(SHCA_MAD_REQ, 72, remote_gid),
	NUMBER(SHCA_MAD_REQ, 88, 20, flow_label),
	BITS(SHCA_MAD_REQ, 91, 2, 6, rate),
	NUMBER(SHCA_MAD_REQ, 92, 8, traffic_class),
	NUMBER(SHCA_MAD_REQ, 93, 8, hop_limit),
	NUMBER(SHCA_MAD_REQ, 94, 4, sl),
	BITS(SHCA_MAD_REQ, 94, 4, 1, subnet_local),
	NUMBER(SHCA_MAD_REQ, 95, 5, ack_timeout),

	NUMBER(SHCA_MAD_MRA, 0, 32, local_id),
	NUMBER(SHCA_MAD_MRA, 4, 32, remote_id),
	NUMBER(SHCA_MAD_MRA, 8, 2, about),
	NUMBER(SHCA_MAD_MRA, 9, 5, service_timeout),

	NUMBER(SHCA_MAD_REJ, 0, 32, local_id),
	NUMBER(SHCA_MAD_REJ, 4, 32, remote_id),
	NUMBER(SHCA_MAD_REJ, 8, 2, about),
	NUMBER(SHCA_MAD_REJ, 9, 7, info_length),
	NUMBER(SHCA_MAD_REJ, 10, 16, reason),
	BYTES(SHCA_MAD_REJ, 12, info),

	NUMBER(SHCA_MAD_REP, 0, 32, local_id),
	NUMBER(SHCA_MAD_REP, 4, 32, remote_id),
	NUMBER(SHCA_MAD_REP, 8, 32, qkey),
	NUMBER(SHCA_MAD_REP, 12, 24, qpn),
	NUMBER(SHCA_MAD_REP, 16, 24, eecn),
	NUMBER(SHCA_MAD_REP, 20, 24, psn),
	NUMBER(SHCA_MAD_REP, 24, 8, responder_resources),
	NUMBER(SHCA_MAD_REP, 25, 8, initiator_depth),
	NUMBER(SHCA_MAD_REP, 26, 5, target_ack_delay),
	BITS(SHCA_MAD_REP, 26, 5, 2, failover),
	BITS(SHCA_MAD_REP, 26, 7, 1, flow_control),
	NUMBER(SHCA_MAD_REP, 27, 3, rnr_retry_count),
	BITS(SHCA_MAD_REP, 27, 3, 1, srq),
	NUMBER(SHCA_MAD_REP, 28, 64, ca_guid),

	NUMBER(SHCA_MAD_RTU, 0, 32, local_id),
	NUMBER(SHCA_MAD_RTU, 4, 32, remote_id),

	NUMBER(SHCA_MAD_DREQ, 0, 32, local_id),
	NUMBER(SHCA_MAD_DREQ, 4, 32, remote_id),
	NUMBER(SHCA_MAD_DREQ, 8, 24, qpn),

	NUMBER(SHCA_MAD_DREP, 0, 32, local_id),
	NUMBER(SHCA_MAD_DREP, 4, 32, remote_id),

	NUMBER(SHCA_MAD_SIDR_REQ, 0, 32, local_id),
	NUMBER(SHCA_MAD_SIDR_REQ, 4, 16, pkey),
	NUMBER(SHCA_MAD_SIDR_REQ, 8, 64, service_id),

	NUMBER(SHCA_MAD_SIDR_REP, 0, 32, remote_id),
	NUMBER(SHCA_MAD_SIDR_REP, 4, 8, reason),
	NUMBER(SHCA_MAD_SIDR_REP, 5, 8, info_length),
	NUMBER(SHCA_MAD_SIDR_REP, 8, 24, qpn),
	NUMBER(SHCA_MAD_SIDR_REP, 12, 64, service_id),
	NUMBER(SHCA_MAD_SIDR_REP, 20, 32, qkey),
	BYTES(SHCA_MAD_SIDR_REP, 24, info),

	NUMBER(SHCA_MAD_LAP, 0, 32, local_id),
	NUMBER(SHCA_MAD_LAP, 4, 32, remote_id),
	NUMBER(SHCA_MAD_LAP, 12, 24, qpn),
	NUMBER(SHCA_MAD_LAP, 15, 5, remote_timeout),
	NUMBER(SHCA_MAD_LAP, 20, 16, local_lid),
	NUMBER(SHCA_MAD_LAP, 22, 16, remote_lid),
	BYTES(SHCA_MAD_LAP, 24, local_gid),
	BYTES(SHCA_MAD_LAP, 40, remote_gid),
	NUMBER(SHCA_MAD_LAP, 56, 20, flow_label),
	NUMBER(SHCA_MAD_LAP, 59, 8, traffic_class),
	NUMBER(SHCA_MAD_LAP, 60, 8, hop_limit),
	BITS(SHCA_MAD_LAP, 61, 2, 6, rate),
	NUMBER(SHCA_MAD_LAP, 62, 4, sl),
	BITS(SHCA_MAD_LAP, 62, 4, 1, subnet_local),
	NUMBER(SHCA_MAD_LAP, 63, 5, ack_timeout),

	NUMBER(SHCA_MAD_APR, 0, 32, local_id),
	NUMBER(SHCA_MAD_APR, 4, 32, remote_id),
	NUMBER(SHCA_MAD_APR, 8, 8, info_length),
	NUMBER(SHCA_MAD_APR, 9, 8, reason),
	BYTES(SHCA_MAD_APR, 12, info),
};

/** Private data is the rest of each message but a REQ's, which has none in its last bytes. */
static const struct {
	const char *name;
	uint8_t byte, bytes;
} kinds[SHCA_MAD_KINDS_END] = {
	[SHCA_MAD_REQ] = { "REQ", 140, 92 },
	[SHCA_MAD_MRA] = { "MRA", 10, 222 },
	[SHCA_MAD_REJ] = { "REJ", 84, 148 },
	[SHCA_MAD_REP] = { "REP", 36, 196 },
	[SHCA_MAD_RTU] = { "RTU", 8, 224 },
	[SHCA_MAD_DREQ] = { "DREQ", 12, 220 },
	[SHCA_MAD_DREP] = { "DREP", 8, 224 },
	[SHCA_MAD_SIDR_REQ] = { "SIDR_REQ", 16, 216 },
	[SHCA_MAD_SIDR_REP] = { "SIDR_REP", 96, 136 },
	[SHCA_MAD_LAP] = { "LAP", 64, 168 },
	[SHCA_MAD_APR] = { "APR", 84, 148 },
};

size_t
shca_mad_private_bytes(uint16_t kind)
{
	return kind < SHCA_MAD_KINDS_END ? kinds[kind].bytes : 0;
}

const char *
shca_mad_name(uint16_t kind)
{
	return shca_mad_private_bytes(kind) != 0 ? kinds[kind].name : "?";
}

/** Into bytes that are 0. */
static void
put(uint8_t *bytes, unsigned int first_bit, unsigned int bits, uint64_t value)
{
	for (unsigned int bit = first_bit + bits; bit-- > first_bit; value >>= 1)
		bytes[bit / 8] |= (uint8_t)((value & 1) << (7 - bit % 8));
}

static uint64_t
get(const uint8_t *bytes, unsigned int first_bit, unsigned int bits)
{
	uint64_t value = 0;

	for (unsigned int bit = first_bit; bit < first_bit + bits; bit++)
		value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static uint64_t
load(const void *member, unsigned int size)
{
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (size) {
	case sizeof(wide):
		memcpy(&wide, member, sizeof(wide));
		return wide;
	case sizeof(word):
		memcpy(&word, member, sizeof(word));
		return word;
	case sizeof(half):
		memcpy(&half, member, sizeof(half));
		return half;
	default:
		return *(const uint8_t *)member;
	}
}

static void
store(void *member, unsigned int size, uint64_t value)
{
	const uint32_t word = (uint32_t)value;
	const uint16_t half = (uint16_t)value;
	const uint8_t byte = (uint8_t)value;

	switch (size) {
	case sizeof(value):
		memcpy(member, &value, sizeof(value));
		break;
	case sizeof(word):
		memcpy(member, &word, sizeof(word));
		break;
	case sizeof(half):
		memcpy(member, &half, sizeof(half));
		break;
	default:
		memcpy(member, &byte, sizeof(byte));
	}
}

void
shca_mad_write(const struct shca_mad *mad, uint8_t bytes[SHCA_MAD_BYTES])
{
	uint8_t *data = bytes + HEADER_BYTES;

	memset(bytes, 0, SHCA_MAD_BYTES);
	bytes[0] = BASE_VERSION;
	bytes[1] = CLASS_COMM;
	bytes[2] = CLASS_VERSION;
	bytes[3] = METHOD_SEND;
	put(bytes, 4 * 8, 16, mad->status);
	put(bytes, 8 * 8, 64, mad->tid);
	put(bytes, 16 * 8, 16, mad->kind);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *field = &fields[i];
		const uint8_t *member = (const uint8_t *)mad + field->offset;

		if (field->kind != mad->kind)
			continue;
		if (field->bits == 0)
			memcpy(data + field->byte, member, field->size);
		else
			put(data, field->byte * 8u + field->bit, field->bits,
				load(member, field->size));
	}
	memcpy(data + kinds[mad->kind].byte, mad->private_data, kinds[mad->kind].bytes);
}

int
shca_mad_read(const uint8_t *bytes, size_t length, struct shca_mad *mad)
{
	const uint8_t *data = bytes + HEADER_BYTES;

	memset(mad, 0, sizeof(*mad));
	if (length != SHCA_MAD_BYTES || bytes[0] != BASE_VERSION || bytes[1] != CLASS_COMM ||
		bytes[2] != CLASS_VERSION || bytes[3] != METHOD_SEND)
		return -EBADMSG;
	mad->status = (uint16_t)get(bytes, 4 * 8, 16);
	mad->tid = get(bytes, 8 * 8, 64);
	mad->kind = (uint16_t)get(bytes, 16 * 8, 16);
	if (shca_mad_private_bytes(mad->kind) == 0)
		return -EBADMSG;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *field = &fields[i];
		uint8_t *member = (uint8_t *)mad + field->offset;

		if (field->kind != mad->kind)
			continue;
		if (field->bits == 0)
			memcpy(member, data + field->byte, field->size);
		else
			store(member, field->size,
				get(data, field->byte * 8u + field->bit, field->bits));
	}
	memcpy(mad->private_data, data + kinds[mad->kind].byte, kinds[mad->kind].bytes);
	return 0;
}
