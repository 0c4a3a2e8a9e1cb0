/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What IP applications say in a REQ and a SIDR_REQ: volume 1, annex A11 (RDMA IP CM Service). The
 * service ID names a port space and a port, the first bytes of private data name the addresses.
 */
#ifndef SHCA_CM_IP_H
#define SHCA_CM_IP_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes of the header, of which the caller's private data comes behind. */
#define SHCA_IP_BYTES 36

struct shca_ip {
	uint8_t version; /**< 4 or 6 */
	uint16_t src_port;
	uint8_t src[16], dst[16]; /**< IPv4 in the last 4 bytes, others 0 */
};

/** @param space enum rdma_ucm_port_space @return the service ID (A11.3.1). */
uint64_t shca_ip_service(uint16_t space, uint16_t port);
/** @return whether the service ID is of IP applications, so that there is a header. */
bool shca_ip_is_service(uint64_t service_id);
void shca_ip_write(const struct shca_ip *ip, uint8_t bytes[SHCA_IP_BYTES]);
/** @return 0, or -EBADMSG: of another version, or neither IPv4 nor IPv6. */
int shca_ip_read(const uint8_t bytes[SHCA_IP_BYTES], struct shca_ip *ip);

#endif /* SHCA_CM_IP_H */
