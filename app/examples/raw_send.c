/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends frames: builds whole ones, headers and all, and posts them to a RAW_PACKET queue pair. The
 * device fills in the IP and UDP checksums.
 *
 *     raw-send mlx5_0 02:00:00:00:00:02 3 vlan 5
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "raw.h"

static const char usage[] =
	"raw-send DEVICE DESTINATION_MAC COUNT [vlan ID | tos N | label N | vni N]";

enum {
	FRAME_BYTES = 128,
	TYPE_IPV4 = 0x0800,
	TYPE_IPV6 = 0x86dd,
	TYPE_VLAN = 0x8100,
	PROTO_UDP = 17,
	PORT_VXLAN = 4789,
};

/** Values from the command line; others stay 0. */
struct wish {
	uint8_t mac[6];
	uint16_t vlan;
	uint8_t tos;
	uint32_t label; /* of an IPv6 flow */
	uint32_t vni;   /* of a VXLAN tunnel */
	int has_vlan, has_label, has_vni;
};

static uint8_t *
put16(uint8_t *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *
put32(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/** Write destination, source, a tag if wanted, and the type of the next header. */
static uint8_t *
put_ethernet(uint8_t *at, const struct wish *wish, uint16_t type)
{
	static const uint8_t source[6] = { 0x02, 0, 0, 0, 0, 0x99 };

	memcpy(at, wish->mac, 6);
	memcpy(at + 6, source, 6);
	at += 12;
	if (wish->has_vlan) {
		at = put16(at, TYPE_VLAN);
		at = put16(at, wish->vlan);
	}
	return put16(at, type);
}

static uint8_t *
put_ipv4(uint8_t *at, uint8_t tos, uint16_t payload)
{
	at = put16(at, 0x4500 | tos);
	at = put16(at, 20 + payload);
	at = put32(at, 0); /* identification, no fragment */
	at = put16(at, 64 << 8 | PROTO_UDP);
	at = put16(at, 0); /* the device writes the checksum */
	at = put32(at, 0x0a000002);
	return put32(at, 0x0a000001);
}

static uint8_t *
put_ipv6(uint8_t *at, uint32_t label, uint16_t payload)
{
	at = put32(at, 6u << 28 | label);
	at = put16(at, payload);
	at = put16(at, PROTO_UDP << 8 | 64);
	for (unsigned int i = 2; i != 0; i--) { /* fd00::2, then fd00::1 */
		memset(at, 0, 16);
		at[0] = 0xfd;
		at[15] = (uint8_t)i;
		at += 16;
	}
	return at;
}

static uint8_t *
put_udp(uint8_t *at, uint16_t port, uint16_t payload)
{
	at = put16(at, 1024);
	at = put16(at, port);
	at = put16(at, 8 + payload);
	return put16(at, 0); /* the device writes the checksum */
}

/** Build a frame of FRAME_BYTES; bytes behind the headers are zero. */
static void
build(uint8_t *frame, const struct wish *wish)
{
	const uint16_t left = FRAME_BYTES - 14 - (wish->has_vlan ? 4 : 0);
	const uint16_t in_ip = left - (wish->has_label ? 40 : 20);
	const struct wish plain = { .mac = { 0x02, 0, 0, 0, 0, 0x77 } };
	uint8_t *at = put_ethernet(frame, wish, wish->has_label ? TYPE_IPV6 : TYPE_IPV4);

	at = wish->has_label ? put_ipv6(at, wish->label, in_ip) : put_ipv4(at, wish->tos, in_ip);
	at = put_udp(at, wish->has_vni ? PORT_VXLAN : 7, in_ip - 8);
	if (!wish->has_vni)
		return;
	at = put32(at, 0x08000000); /* the VNI is valid */
	at = put32(at, wish->vni << 8);
	put_ethernet(at, &plain, 0x88b5); /* for experiments: IEEE 802 */
}

static void
parse_wish(struct wish *wish, const char *what, const char *value)
{
	if (strcmp(what, "vlan") == 0) {
		wish->vlan = (uint16_t)raw_parse_number(value, 4095, usage);
		wish->has_vlan = 1;
	} else if (strcmp(what, "tos") == 0) {
		wish->tos = (uint8_t)raw_parse_number(value, 255, usage);
	} else if (strcmp(what, "label") == 0) {
		wish->label = raw_parse_number(value, 0xfffff, usage);
		wish->has_label = 1;
	} else if (strcmp(what, "vni") == 0) {
		wish->vni = raw_parse_number(value, 0xffffff, usage);
		wish->has_vni = 1;
	} else {
		raw_usage(usage);
	}
}

static void
send_one(const struct raw *raw)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)raw_buffer(raw, 0),
		.length = FRAME_BYTES,
		.lkey = raw->mr->lkey,
	};

	raw_post_send(raw, sge, IBV_SEND_IP_CSUM);
	raw_wait(raw);
}

int
main(int argc, char **argv)
{
	struct wish wish = { .has_vlan = 0 };
	struct raw raw;
	uint32_t count;

	if (argc != 4 && argc != 6)
		raw_usage(usage);
	raw_parse_mac(argv[2], wish.mac, usage);
	count = raw_parse_number(argv[3], UINT32_MAX, usage);
	if (argc == 6)
		parse_wish(&wish, argv[4], argv[5]);
	raw_open(&raw, argv[1], 0);
	build(raw_buffer(&raw, 0), &wish);
	for (uint32_t i = 0; i < count; i++)
		send_one(&raw);
	raw_close(&raw);
	return 0;
}
