/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A large send: one piece of TCP payload and one header go to the device, which cuts the payload
 * into segments of MSS bytes and gives each the header, with lengths, sequence number, flags and
 * checksums made right.
 *
 *     raw-tso mlx5_0 02:00:00:00:00:02 5000 1460
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

static const char usage[] = "raw-tso DEVICE DESTINATION_MAC BYTES MSS";

enum {
	HEADER_BYTES = 54, /* Ethernet 14, IPv4 20, TCP 20 */
	TCP_PSH_ACK = 0x18,
	FIRST_SEQUENCE = 1000,
};

/** The header of the first segment; its IP length is that of the header alone, without payload. */
static void
build_header(uint8_t *header, const char *mac)
{
	static const uint8_t rest[HEADER_BYTES - 6] = {
		0x02,
		0,
		0,
		0,
		0,
		0x99,
		0x08,
		0x00, /* source, IPv4 */
		0x45,
		0,
		0,
		40,
		0,
		1,
		0x40,
		0,
		64,
		6,
		0,
		0, /* TCP; the device writes the checksum */
		10,
		0,
		0,
		2,
		10,
		0,
		0,
		1, /* 10.0.0.2 to 10.0.0.1 */
		0x04,
		0x00,
		0,
		80, /* from port 1024 to 80 */
		0,
		0,
		FIRST_SEQUENCE >> 8,
		FIRST_SEQUENCE & 255, /* sequence number */
		0,
		0,
		0,
		0,
		0x50,
		TCP_PSH_ACK,
		0x20,
		0,
		0,
		0,
		0,
		0,
	};

	raw_parse_mac(mac, header, usage);
	memcpy(header + 6, rest, sizeof(rest));
}

/** Check the device's limit: not every device has large sends. */
static void
check_device(const struct raw *raw, uint32_t bytes)
{
	struct ibv_device_attr_ex attr;

	errno = ibv_query_device_ex(raw->context, NULL, &attr);
	if (errno != 0)
		raw_die("ibv_query_device_ex");
	if ((attr.tso_caps.supported_qpts & 1u << IBV_QPT_RAW_PACKET) == 0 ||
		attr.tso_caps.max_tso < bytes) {
		fprintf(stderr, "the device sends at most %u bytes at once\n",
			attr.tso_caps.max_tso);
		exit(EXIT_FAILURE);
	}
}

int
main(int argc, char **argv)
{
	uint8_t header[HEADER_BYTES];
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	uint32_t bytes, mss;
	struct raw raw;

	if (argc != 5)
		raw_usage(usage);
	build_header(header, argv[2]);
	bytes = raw_parse_number(argv[3], RAW_NB_BUFFERS * RAW_BUFFER_BYTES, usage);
	mss = raw_parse_number(argv[4], 9000, usage);
	if (bytes == 0 || mss == 0)
		raw_usage(usage);
	raw_open(&raw, argv[1], HEADER_BYTES);
	check_device(&raw, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		raw_buffer(&raw, 0)[i] = (uint8_t)i;
	sge = (struct ibv_sge){ (uintptr_t)raw_buffer(&raw, 0), bytes, raw.mr->lkey };
	wr = (struct ibv_send_wr){
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_TSO,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM,
		.tso = { .hdr = header, .hdr_sz = HEADER_BYTES, .mss = (uint16_t)mss },
	};
	errno = ibv_post_send(raw.qp, &wr, &bad);
	if (errno != 0)
		raw_die("ibv_post_send");
	raw_wait(&raw);
	printf("sent %u bytes in %u segments\n", bytes, (bytes + mss - 1) / mss);
	raw_close(&raw);
	return 0;
}
