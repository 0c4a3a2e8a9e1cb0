/* SPDX-License-Identifier: BSD-3-Clause */
/* Each message of communication management, byte by byte as the specification's tables have it. */
#include "cm/mad.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	NB_RUNS = 24,
	HEADER = 24,
};

/** Bytes that a message has at an offset behind its header; a run of length 0 ends the rest. */
struct run {
	uint8_t at, length;
	uint8_t bytes[9];
};

/** Values with a different byte in each place; those of bits have their lowest bit set. */
static const struct shca_mad sample = {
	.status = 0x0102,
	.tid = 0x1112131415161718,
	.local_id = 0x21222324,
	.remote_id = 0x31323334,
	.service_id = 0x4142434445464748,
	.ca_guid = 0x5152535455565758,
	.qkey = 0x61626364,
	.qpn = 0x717273,
	.psn = 0x818283,
	.eecn = 0xa5a6a7,
	.responder_resources = 0x91,
	.initiator_depth = 0x92,
	.remote_timeout = 0x15,
	.local_timeout = 0x13,
	.transport = 1,
	.extended_transport = 5,
	.flow_control = 1,
	.retry_count = 5,
	.rnr_retry_count = 6,
	.max_cm_retries = 0xb,
	.srq = 1,
	.pkey = 0xffa1,
	.mtu = 5,
	.local_lid = 0xb1b2,
	.remote_lid = 0xb3b4,
	.local_gid = { 0xc1, 0xc2, 0xc3, 0xc4 },
	.remote_gid = { 0xd1, 0xd2, 0xd3, 0xd4 },
	.flow_label = 0xe1e2e,
	.rate = 0x23,
	.traffic_class = 0xf1,
	.hop_limit = 0xf2,
	.sl = 0x9,
	.subnet_local = 1,
	.ack_timeout = 0x11,
	.target_ack_delay = 0x12,
	.failover = 2,
	.about = 1,
	.reason = 0x1c,
	.info_length = 4,
	.info = { 0xa1, 0xa2, 0xa3, 0xa4 },
	.service_timeout = 0x1e,
};

static const struct {
	uint16_t kind;
	size_t private_at, private_bytes;
	struct run run[NB_RUNS];
} rows[] = {
	{ SHCA_MAD_REQ, 140, 92,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 8, 8, { 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48 } },
			{ 16, 8, { 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58 } },
			{ 28, 4, { 0x61, 0x62, 0x63, 0x64 } },
			{ 32, 4, { 0x71, 0x72, 0x73, 0x91 } },
			{ 36, 4, { 0, 0, 0, 0x92 } },
			/* 10101: timeout, 01: UC, 1: flow control */
			{ 40, 4, { 0, 0, 0, 0xab } },
			/* 10011: timeout, 101: retries */
			{ 44, 4, { 0x81, 0x82, 0x83, 0x9d } },
			/* 0101: MTU, 0, 110: RNR retries; 1011: CM retries, 1: SRQ, 101 */
			{ 48, 4, { 0xff, 0xa1, 0x56, 0xbd } },
			{ 52, 4, { 0xb1, 0xb2, 0xb3, 0xb4 } },
			{ 56, 4, { 0xc1, 0xc2, 0xc3, 0xc4 } },
			{ 72, 4, { 0xd1, 0xd2, 0xd3, 0xd4 } },
			/* 20 bits of flow label, 6 of nothing, 6 of rate */
			{ 88, 4, { 0xe1, 0xe2, 0xe0, 0x23 } },
			/* 1001: SL, 1: local; 10001: timeout */
			{ 92, 4, { 0xf1, 0xf2, 0x98, 0x88 } },
		} },
	{ SHCA_MAD_MRA, 10, 222,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
			{ 8, 2, { 0x40, 0xf0 } },
		} },
	{ SHCA_MAD_REJ, 84, 148,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
			{ 8, 4, { 0x40, 0x08, 0, 0x1c } },
			{ 12, 4, { 0xa1, 0xa2, 0xa3, 0xa4 } },
		} },
	{ SHCA_MAD_REP, 36, 196,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
			{ 8, 4, { 0x61, 0x62, 0x63, 0x64 } },
			{ 12, 4, { 0x71, 0x72, 0x73, 0 } },
			{ 16, 4, { 0xa5, 0xa6, 0xa7, 0 } },
			{ 20, 4, { 0x81, 0x82, 0x83, 0 } },
			/* 10010: delay, 10: failover, 1; 110: RNR retries, 1: SRQ */
			{ 24, 4, { 0x91, 0x92, 0x95, 0xd0 } },
			{ 28, 8, { 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58 } },
		} },
	{ SHCA_MAD_RTU, 8, 224,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
		} },
	{ SHCA_MAD_DREQ, 12, 220,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
			{ 8, 4, { 0x71, 0x72, 0x73, 0 } },
		} },
	{ SHCA_MAD_DREP, 8, 224,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
		} },
	{ SHCA_MAD_SIDR_REQ, 16, 216,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0xff, 0xa1, 0, 0 } },
			{ 8, 8, { 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48 } },
		} },
	{ SHCA_MAD_SIDR_REP, 96, 136,
		{
			{ 0, 4, { 0x31, 0x32, 0x33, 0x34 } },
			{ 4, 4, { 0x1c, 4, 0, 0 } },
			{ 8, 4, { 0x71, 0x72, 0x73, 0 } },
			{ 12, 8, { 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48 } },
			{ 20, 4, { 0x61, 0x62, 0x63, 0x64 } },
			{ 24, 4, { 0xa1, 0xa2, 0xa3, 0xa4 } },
		} },
	{ SHCA_MAD_LAP, 64, 168,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
			{ 12, 4, { 0x71, 0x72, 0x73, 0xa8 } },
			{ 20, 4, { 0xb1, 0xb2, 0xb3, 0xb4 } },
			{ 24, 4, { 0xc1, 0xc2, 0xc3, 0xc4 } },
			{ 40, 4, { 0xd1, 0xd2, 0xd3, 0xd4 } },
			{ 56, 4, { 0xe1, 0xe2, 0xe0, 0xf1 } },
			{ 60, 4, { 0xf2, 0x23, 0x98, 0x88 } },
		} },
	{ SHCA_MAD_APR, 84, 148,
		{
			{ 0, 4, { 0x21, 0x22, 0x23, 0x24 } },
			{ 4, 4, { 0x31, 0x32, 0x33, 0x34 } },
			{ 8, 4, { 4, 0x1c, 0, 0 } },
			{ 12, 4, { 0xa1, 0xa2, 0xa3, 0xa4 } },
		} },
};

#define NB_ROWS (sizeof(rows) / sizeof(rows[0]))

/** None is 0. */
static uint8_t
private_byte(size_t at)
{
	return (uint8_t)(at % 255 + 1);
}

static void
expect(size_t row, uint8_t bytes[SHCA_MAD_BYTES])
{
	/* 13.4.2: version 1, class 7 version 2, Send; status, transaction, attribute */
	static const uint8_t header[HEADER] = { 1, 7, 2, 3, 1, 2, 0, 0, 0x11, 0x12, 0x13, 0x14,
		0x15, 0x16, 0x17, 0x18 };

	memset(bytes, 0, SHCA_MAD_BYTES);
	memcpy(bytes, header, sizeof(header));
	bytes[17] = (uint8_t)rows[row].kind;
	for (unsigned int i = 0; i < NB_RUNS; i++)
		memcpy(bytes + HEADER + rows[row].run[i].at, rows[row].run[i].bytes,
			rows[row].run[i].length);
	for (size_t i = 0; i < rows[row].private_bytes; i++)
		bytes[HEADER + rows[row].private_at + i] = private_byte(i);
}

static void
test_write(void **state)
{
	(void)state;
	for (size_t i = 0; i < NB_ROWS; i++) {
		struct shca_mad mad = sample;
		uint8_t bytes[SHCA_MAD_BYTES], wanted[SHCA_MAD_BYTES];

		mad.kind = rows[i].kind;
		for (size_t j = 0; j < sizeof(mad.private_data); j++)
			mad.private_data[j] = private_byte(j);
		expect(i, wanted);
		memset(bytes, 0xee, sizeof(bytes));
		shca_mad_write(&mad, bytes);
		assert_memory_equal(bytes, wanted, sizeof(wanted));
	}
}

/** What was read writes the same bytes, whatever is in the places that a message leaves free. */
static void
test_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < NB_ROWS; i++) {
		uint8_t bytes[SHCA_MAD_BYTES], again[SHCA_MAD_BYTES];
		struct shca_mad mad, other;

		expect(i, bytes);
		assert_int_equal(shca_mad_read(bytes, sizeof(bytes), &mad), 0);
		assert_int_equal(mad.kind, rows[i].kind);
		assert_int_equal(mad.tid, sample.tid);
		assert_int_equal(mad.private_data[rows[i].private_bytes - 1],
			private_byte(rows[i].private_bytes - 1));
		shca_mad_write(&mad, again);
		assert_memory_equal(again, bytes, sizeof(bytes));
		for (unsigned int at = HEADER; at < SHCA_MAD_BYTES; at++)
			bytes[at] ^= 0xff;
		assert_int_equal(shca_mad_read(bytes, sizeof(bytes), &other), 0);
		shca_mad_write(&other, again);
		assert_int_equal(shca_mad_read(again, sizeof(again), &mad), 0);
		assert_memory_equal(&mad, &other, sizeof(mad));
	}
}

static void
test_values(void **state)
{
	uint8_t bytes[SHCA_MAD_BYTES];
	struct shca_mad mad;

	(void)state;
	expect(0, bytes);
	assert_int_equal(shca_mad_read(bytes, sizeof(bytes), &mad), 0);
	assert_int_equal(mad.service_id, sample.service_id);
	assert_int_equal(mad.qpn, sample.qpn);
	assert_int_equal(mad.retry_count, 5);
	assert_int_equal(mad.transport, SHCA_MAD_UC);
	assert_int_equal(mad.ack_timeout, 0x11);
	assert_int_equal(mad.flow_label, sample.flow_label);
	assert_memory_equal(mad.remote_gid, sample.remote_gid, sizeof(mad.remote_gid));
	assert_int_equal(mad.remote_id, 0);
}

static void
test_refused(void **state)
{
	static const struct {
		uint8_t at, value;
	} wrong[] = { { 0, 2 }, { 1, 3 }, { 2, 1 }, { 3, 1 }, { 16, 1 }, { 17, 0x0f },
		{ 17, 0x1b } };
	uint8_t bytes[SHCA_MAD_BYTES];
	struct shca_mad mad;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		expect(0, bytes);
		bytes[wrong[i].at] = wrong[i].value;
		assert_int_equal(shca_mad_read(bytes, sizeof(bytes), &mad), -EBADMSG);
	}
	expect(0, bytes);
	assert_int_equal(shca_mad_read(bytes, sizeof(bytes) - 1, &mad), -EBADMSG);
}

static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(shca_mad_name(SHCA_MAD_SIDR_REP), "SIDR_REP");
	assert_string_equal(shca_mad_name(0x20), "?");
	for (size_t i = 0; i < NB_ROWS; i++)
		assert_int_equal(shca_mad_private_bytes(rows[i].kind), rows[i].private_bytes);
	assert_int_equal(shca_mad_private_bytes(0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
