/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/ip.h"

#include <errno.h>
#include <string.h>

enum {
	VERSION_AT = 0,    /* major and minor, 0.0 */
	IP_VERSION_AT = 1, /* its high half */
	PORT_AT = 2,
	SRC_AT = 4,
	DST_AT = 20,
};

/** Byte 4 of the service ID is 1, and those before it are 0 (A11.3.1). */
#define PREFIX       UINT64_C(0x0000000001000000)
#define PREFIX_MASK  UINT64_C(0xffffffffff000000)
#define SPACE_SHIFT  16
#define VERSION_HALF 4

uint64_t
shca_ip_service(uint16_t space, uint16_t port)
{
	return (uint64_t)space << SPACE_SHIFT | port;
}

bool
shca_ip_is_service(uint64_t service_id)
{
	return (service_id & PREFIX_MASK) == PREFIX;
}

void
shca_ip_write(const struct shca_ip *ip, uint8_t bytes[SHCA_IP_BYTES])
{
	memset(bytes, 0, SHCA_IP_BYTES);
	bytes[IP_VERSION_AT] = (uint8_t)(ip->version << VERSION_HALF);
	bytes[PORT_AT] = (uint8_t)(ip->src_port >> 8);
	bytes[PORT_AT + 1] = (uint8_t)ip->src_port;
	memcpy(bytes + SRC_AT, ip->src, sizeof(ip->src));
	memcpy(bytes + DST_AT, ip->dst, sizeof(ip->dst));
}

int
shca_ip_read(const uint8_t bytes[SHCA_IP_BYTES], struct shca_ip *ip)
{
	ip->version = bytes[IP_VERSION_AT] >> VERSION_HALF;
	ip->src_port = (uint16_t)(bytes[PORT_AT] << 8 | bytes[PORT_AT + 1]);
	memcpy(ip->src, bytes + SRC_AT, sizeof(ip->src));
	memcpy(ip->dst, bytes + DST_AT, sizeof(ip->dst));
	if (bytes[VERSION_AT] != 0 || (ip->version != 4 && ip->version != 6))
		return -EBADMSG;
	return 0;
}
