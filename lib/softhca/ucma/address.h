/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Addresses of three families: IPv4, IPv6, and AF_IB's GIDs with service IDs (Linux ib_addr.h,
 * rdma/ib.h). A RoCE GID is an IPv6 address, IPv4 ones are mapped (annex A17.4.2).
 */
#ifndef SHCA_UCMA_ADDRESS_H
#define SHCA_UCMA_ADDRESS_H

#include <linux/socket.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/** Linux rdma_cm_ib.h RDMA_UDP_QKEY: Q_Key of UD queue pairs and multicast groups. */
#define SHCA_ADDRESS_QKEY 0x01234567

#ifndef AF_IB
#define AF_IB 27 /* Linux socket.h */
#endif

/** Linux include/rdma/ib.h struct sockaddr_ib. */
struct shca_sockaddr_ib {
	uint16_t family;
	uint16_t pkey; /* big-endian, as all below */
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid, sid_mask;
	uint64_t scope_id; /* host order */
};

struct shca_address {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct shca_sockaddr_ib ib;
		struct __kernel_sockaddr_storage storage;
	};
};

/** @return its bytes (rdma_addr_size()), or 0: of none of these families. */
size_t shca_address_size(const struct shca_address *address);
/** @return whether it names no host (cma.c cma_zero_addr()). */
bool shca_address_is_none(const struct shca_address *address);
/** @return whether it names no host but this one: none, or by loopback (cma.c cma_any_addr()). */
bool shca_address_is_any(const struct shca_address *address);
bool shca_address_is_multicast(const struct shca_address *address);
/** @return whether both are of one family and name the same host. */
bool shca_address_is_same(const struct shca_address *a, const struct shca_address *b);
/** Write the GID of its host. */
void shca_address_to_gid(const struct shca_address *address, uint8_t gid[16]);
/** Set the host of @p address, which has a family, to that of a GID. @return whether that is of
 * this family. */
bool shca_address_from_gid(struct shca_address *address, const uint8_t gid[16]);
/** @{ The port; of AF_IB the low bits of the service ID (cma.c cma_port()). */
uint16_t shca_address_port(const struct shca_address *address);
void shca_address_set_port(struct shca_address *address, uint16_t space, uint16_t port);
/** @} */
/** @return whether a GID is a mapped IPv4 address. */
bool shca_address_is_mapped(const uint8_t gid[16]);

#endif /* SHCA_UCMA_ADDRESS_H */
