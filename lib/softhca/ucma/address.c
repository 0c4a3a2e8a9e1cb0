/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucma/address.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

static_assert(sizeof(struct shca_sockaddr_ib) == 48, "sockaddr_ib of include/rdma/ib.h");

static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

/** Low bits of a service ID that are a port (RDMA_IB_IP_PORT_MASK). */
#define PORT_MASK   UINT64_C(0xffff)
#define SPACE_SHIFT 16

size_t
shca_address_size(const struct shca_address *address)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return sizeof(address->in);
	case AF_INET6:
		return sizeof(address->in6);
	case AF_IB:
		return sizeof(address->ib);
	default:
		return 0;
	}
}

/** @return the bytes that name the host. */
static const uint8_t *
host_of(const struct shca_address *address, size_t *size)
{
	*size = 16;
	switch (address->any.sa_family) {
	case AF_INET:
		*size = 4;
		return (const uint8_t *)&address->in.sin_addr;
	case AF_INET6:
		return (const uint8_t *)&address->in6.sin6_addr;
	default:
		return address->ib.addr;
	}
}

bool
shca_address_is_none(const struct shca_address *address)
{
	static const uint8_t none[16];
	size_t size;
	const uint8_t *host = host_of(address, &size);

	if (address->any.sa_family == AF_INET)
		return host[0] == 0; /* ipv4_is_zeronet() */
	return address->any.sa_family == 0 || memcmp(host, none, size) == 0;
}

bool
shca_address_is_any(const struct shca_address *address)
{
	static const uint8_t loopback[16] = { [15] = 1 };
	size_t size;
	const uint8_t *host = host_of(address, &size);

	return shca_address_is_none(address) ||
		(size == 4 ? host[0] == 127 : memcmp(host, loopback, size) == 0);
}

bool
shca_address_is_multicast(const struct shca_address *address)
{
	size_t size;
	const uint8_t *host = host_of(address, &size);

	return size == 4 ? host[0] >> 4 == 0xe : host[0] == 0xff;
}

bool
shca_address_is_same(const struct shca_address *a, const struct shca_address *b)
{
	size_t size, other;
	const uint8_t *host = host_of(a, &size);

	return a->any.sa_family == b->any.sa_family && memcmp(host, host_of(b, &other), size) == 0;
}

void
shca_address_to_gid(const struct shca_address *address, uint8_t gid[16])
{
	size_t size;
	const uint8_t *host = host_of(address, &size);

	memcpy(gid, mapped, sizeof(mapped));
	memcpy(gid + 16 - size, host, size);
}

bool
shca_address_is_mapped(const uint8_t gid[16])
{
	return memcmp(gid, mapped, sizeof(mapped)) == 0;
}

bool
shca_address_from_gid(struct shca_address *address, const uint8_t gid[16])
{
	const bool is_mapped = shca_address_is_mapped(gid);

	switch (address->any.sa_family) {
	case AF_INET:
		memcpy(&address->in.sin_addr, gid + sizeof(mapped), 4);
		return is_mapped;
	case AF_INET6:
		memcpy(&address->in6.sin6_addr, gid, 16);
		return !is_mapped;
	default:
		memcpy(address->ib.addr, gid, 16);
		return true;
	}
}

uint16_t
shca_address_port(const struct shca_address *address)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return be16toh(address->in.sin_port);
	case AF_INET6:
		return be16toh(address->in6.sin6_port);
	case AF_IB:
		return (uint16_t)(be64toh(address->ib.sid) & be64toh(address->ib.sid_mask) &
			PORT_MASK);
	default:
		return 0;
	}
}

void
shca_address_set_port(struct shca_address *address, uint16_t space, uint16_t port)
{
	switch (address->any.sa_family) {
	case AF_INET:
		address->in.sin_port = htobe16(port);
		break;
	case AF_INET6:
		address->in6.sin6_port = htobe16(port);
		break;
	default:
		address->ib.sid = htobe64((uint64_t)space << SPACE_SHIFT | port);
		address->ib.sid_mask = htobe64(UINT64_MAX);
	}
}
