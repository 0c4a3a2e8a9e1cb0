/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucma/bind.h"

#include <endian.h>
#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/core/caps.h"
#include "base/clock.h"
#include "cm/ip.h"

/** rdma/ib.h: the bits of a service ID that are a port space. */
#define SPACE_MASK UINT64_C(0xffffffffffff0000)

enum {
	GIDS_MAX = 256,
	PORT_FIRST = 32768, /* net.ipv4.ip_local_port_range */
	NB_PORTS = 28232,
	PRIVILEGED_END = 1024,
	RESOLVE_STEP_NS = 2000000,
};

#define NS_PER_MS UINT64_C(1000000)

/** Choose a GID by a rule; those of RoCE v2 are preferred. @return whether there is one. */
static bool
choose_gid(struct shca_ucma *ucma, bool (*suits)(const struct shca_ucma_gid *gid, const void *arg),
	const void *arg, struct shca_ucma_gid *out)
{
	struct shca_ucma_gid gids[GIDS_MAX];
	const unsigned int nb = ucma->conf.gids(ucma->conf.arg, gids, GIDS_MAX);
	bool is_found = false;

	/* cma.c CMA_PREFERRED_ROCE_GID_TYPE */
	for (unsigned int i = 0; i < nb && !(is_found && out->is_v2); i++)
		if (suits(&gids[i], arg) && (!is_found || gids[i].is_v2)) {
			*out = gids[i];
			is_found = true;
		}
	return is_found;
}

struct wanted {
	const uint8_t *gid;
	unsigned int scope;
};

static bool
is_gid(const struct shca_ucma_gid *gid, const void *arg)
{
	const struct wanted *wanted = arg;

	return memcmp(gid->gid, wanted->gid, sizeof(gid->gid)) == 0 &&
		(wanted->scope == 0 || wanted->scope == gid->ifindex);
}

/** @param scope of a link-local GID, 0: any @return whether a port has the GID. */
static bool
find_gid(struct shca_ucma *ucma, const uint8_t gid[SHCA_UCMA_GID_BYTES], unsigned int scope,
	struct shca_ucma_gid *out)
{
	const struct wanted wanted = { .gid = gid, .scope = scope };

	return choose_gid(ucma, is_gid, &wanted, out);
}

static bool
is_of_path(const struct shca_ucma_gid *gid, const void *arg)
{
	const struct shca_cm_path *path = arg;

	return shca_id_path_port(gid) == path->port &&
		memcmp(gid->gid, path->local, sizeof(gid->gid)) == 0;
}

bool
shca_bind_find_path(
	struct shca_ucma *ucma, const struct shca_cm_path *path, struct shca_ucma_gid *out)
{
	return choose_gid(ucma, is_of_path, path, out);
}

void
shca_bind_gid(struct shca_id *id, const struct shca_ucma_gid *gid)
{
	struct shca_ucma *ucma = id->file->ucma;

	id->gid = *gid;
	id->has_gid = true;
	ucma->conf.port(ucma->conf.arg, gid, &id->port);
}

static bool
is_link_local(const struct shca_address *address)
{
	return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address->in6.sin6_addr);
}

static unsigned int
scope_of(const struct shca_address *address)
{
	return is_link_local(address) ? address->in6.sin6_scope_id : 0;
}

/** Nobody's, or another device's. */
static int
explain(const struct shca_address *address)
{
	struct shca_address nowhere = *address;
	int fd, ret = -ENODEV;

	if (address->any.sa_family == AF_IB)
		return -ENODEV;
	fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -EADDRNOTAVAIL;
	shca_address_set_port(&nowhere, 0, 0);
	if (bind(fd, &nowhere.any, (socklen_t)shca_address_size(&nowhere)) != 0)
		ret = -EADDRNOTAVAIL;
	close(fd);
	return ret;
}

/** cma_select_ib_ps(); 0: the service ID is of none. */
static uint16_t
space_of(const struct shca_id *id, const struct shca_address *address)
{
	const uint64_t mask = be64toh(address->ib.sid_mask) & SPACE_MASK;
	const uint64_t sid = be64toh(address->ib.sid) & mask;
	static const uint16_t of_ib[] = { RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP };

	if (address->any.sa_family != AF_IB)
		return id->space;
	for (unsigned int i = 0; i < sizeof(of_ib) / sizeof(of_ib[0]); i++)
		if ((id->space == RDMA_PS_IB || id->space == of_ib[i]) &&
			sid == (shca_ip_service(of_ib[i], 0) & mask))
			return of_ib[i];
	return 0;
}

uint16_t
shca_bind_space(const struct shca_id *id)
{
	return space_of(id, &id->src);
}

uint64_t
shca_bind_service(const struct shca_id *id, const struct shca_address *address)
{
	if (address->any.sa_family == AF_IB)
		return be64toh(address->ib.sid);
	return shca_ip_service(id->space, shca_address_port(address));
}

/** cma.c cma_check_port(). @return 0, or the error of @p id that wants the port of @p other. */
static int
conflict(const struct shca_id *other, const struct shca_id *id, uint16_t space, uint16_t port)
{
	const struct shca_address *a = &other->src, *b = &id->src;

	if (other->number == id->number || other->state == SHCA_ID_IDLE ||
		other->state == SHCA_ID_REMOVED || other->is_passive ||
		shca_bind_space(other) != space || shca_address_port(a) != port)
		return 0;
	if (other->reuses_address && id->reuses_address && other->state != SHCA_ID_LISTEN)
		return 0;
	if (a->any.sa_family != b->any.sa_family && other->is_afonly && id->is_afonly)
		return 0;
	if (shca_address_is_any(a) || shca_address_is_any(b))
		return -EADDRNOTAVAIL;
	return shca_address_is_same(a, b) ? -EADDRINUSE : 0;
}

static int
check_port(const struct shca_id *id, uint16_t space, uint16_t port)
{
	struct shca_ucma *ucma = id->file->ucma;
	uint32_t number = 0;
	struct shca_id *other;
	int ret = 0;

	for (; ret == 0 && (other = shca_idtable_next(&ucma->ids, &number)) != NULL; number++)
		ret = conflict(other, id, space, port);
	return ret;
}

/** Nobody may share a port with who listens (cma_check_port(), reuse_addr 0). */
int
shca_bind_alone(const struct shca_id *id)
{
	struct shca_id alone = *id;

	alone.reuses_address = false;
	return check_port(&alone, shca_bind_space(id), shca_address_port(&id->src));
}

static int
take_port(struct shca_id *id)
{
	const uint16_t space = shca_bind_space(id);
	uint16_t port = shca_address_port(&id->src);
	unsigned int tries = 0;

	if (space == 0)
		return -EPROTONOSUPPORT;
	if (port != 0 && port < PRIVILEGED_END && !shca_caps_has(CAP_NET_BIND_SERVICE))
		return -EACCES;
	if (port != 0)
		return check_port(id, space, port);
	do
		port = (uint16_t)(PORT_FIRST + shca_id_random(id->file->ucma) % NB_PORTS);
	while (check_port(id, space, port) != 0 && ++tries < NB_PORTS);
	shca_address_set_port(&id->src, space, port);
	return tries < NB_PORTS ? 0 : -EADDRNOTAVAIL;
}

/** IP over InfiniBand, of which Ethernet has none (cma_acquire_dev_by_src_ip()). */
static bool
is_of_ipoib(const struct shca_id *id)
{
	return id->space == RDMA_PS_IPOIB;
}

int
shca_bind_address(struct shca_id *id, const struct shca_address *address)
{
	struct shca_ucma_gid gid;
	uint8_t bytes[SHCA_UCMA_GID_BYTES];
	bool has_gid = false;
	int ret;

	if (shca_address_size(address) == 0)
		return -EAFNOSUPPORT;
	if (id->state != SHCA_ID_IDLE)
		return -EINVAL;
	if (!shca_address_is_any(address)) {
		shca_address_to_gid(address, bytes);
		has_gid = find_gid(id->file->ucma, bytes, scope_of(address), &gid);
		/* cma_check_linklocal(); a port without a netdev has no number to be named by */
		if (is_link_local(address) && scope_of(address) == 0 &&
			!(has_gid && gid.ifindex == 0))
			return -EINVAL;
		if (!has_gid)
			return explain(address);
		if (is_of_ipoib(id))
			return -EINVAL;
	}
	id->src = *address;
	/* As rdma_bind_addr(), where net.ipv6.bindv6only is 0. */
	if (!id->has_afonly)
		id->is_afonly = address->any.sa_family == AF_INET;
	ret = take_port(id);
	if (ret != 0) {
		memset(&id->src, 0, sizeof(id->src));
		return ret;
	}
	/* Nobody yet, of this family. */
	id->dst = (struct shca_address){ .any.sa_family = address->any.sa_family };
	if (has_gid) {
		shca_bind_gid(id, &gid);
		shca_address_to_gid(&id->dst, id->remote_gid);
	}
	id->state = SHCA_ID_BOUND;
	return 0;
}

/** The address of this host that the kernel would send from. @return 0 or a negative errno. */
static int
ask_kernel(const struct shca_address *src, const struct shca_address *dst, struct shca_address *out)
{
	struct shca_address to = *dst, from = *src;
	socklen_t length = sizeof(out->storage);
	int fd = socket(dst->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	if (fd < 0)
		return -errno;
	shca_address_set_port(&to, 0, 7); /* Nothing is sent. */
	shca_address_set_port(&from, 0, 0);
	if (!shca_address_is_any(src) &&
		bind(fd, &from.any, (socklen_t)shca_address_size(src)) != 0)
		ret = -errno;
	if (ret == 0 && connect(fd, &to.any, (socklen_t)shca_address_size(dst)) != 0)
		ret = -errno;
	if (ret == 0 && getsockname(fd, &out->any, &length) != 0)
		ret = -errno;
	close(fd);
	return ret;
}

/** The GID of a port that reaches a link-local one: without a netdev all are neighbours. */
static bool
is_neighbour(const struct shca_ucma_gid *gid, const void *arg)
{
	const struct shca_address *dst = arg;

	return gid->gid[0] == 0xfe && gid->gid[1] == 0x80 &&
		(scope_of(dst) == 0 ? gid->ifindex == 0 : gid->ifindex == scope_of(dst));
}

static bool
is_of_family(const struct shca_ucma_gid *gid, const void *arg)
{
	const struct shca_address *dst = arg;

	return dst->any.sa_family == AF_IB ||
		shca_address_is_mapped(gid->gid) == (dst->any.sa_family == AF_INET);
}

/** @param[out] gid of the port towards @p dst @return 0 or a negative errno. */
static int
find_way(struct shca_id *id, const struct shca_address *dst, const uint8_t remote[16],
	struct shca_ucma_gid *gid)
{
	struct shca_ucma *ucma = id->file->ucma;
	struct shca_address local = { 0 };
	uint8_t bytes[SHCA_UCMA_GID_BYTES];
	int ret;

	if (shca_address_is_none(dst)) /* cma_resolve_loopback() */
		return choose_gid(ucma, is_of_family, dst, gid) ? 0 : -ENODEV;
	if (find_gid(ucma, remote, scope_of(dst), gid) ||
		(remote[0] == 0xfe && choose_gid(ucma, is_neighbour, dst, gid)))
		return 0;
	if (dst->any.sa_family == AF_IB)
		return -ENODEV;
	if (ucma->conf.route != NULL && ucma->conf.route(ucma->conf.arg, remote, gid))
		return find_gid(ucma, gid->gid, gid->ifindex, gid) ? 0 : -ENODEV;
	ret = ask_kernel(&id->src, dst, &local);
	if (ret != 0)
		return ret;
	shca_address_to_gid(&local, bytes);
	return find_gid(ucma, bytes, scope_of(&local), gid) ? 0 : -ENODEV;
}

static void
resolved(struct shca_id *id, const struct shca_address *dst, const struct shca_ucma_gid *gid)
{
	const uint16_t port = shca_address_port(&id->src);

	id->src_before = id->src;
	id->had_gid = id->has_gid;
	if (!id->has_gid)
		shca_bind_gid(id, gid);
	if (shca_address_is_any(&id->src)) {
		id->src = (struct shca_address){ .any.sa_family = dst->any.sa_family };
		shca_address_from_gid(&id->src, id->gid.gid);
		shca_address_set_port(&id->src, id->space, port);
		if (dst->any.sa_family == AF_INET6 && id->src.in6.sin6_addr.s6_addr[0] == 0xfe)
			id->src.in6.sin6_scope_id = id->gid.ifindex;
	}
	if (shca_address_is_any(&id->dst))
		shca_address_from_gid(&id->dst, id->gid.gid);
	shca_address_to_gid(&id->dst, id->remote_gid);
}

/** addr_handler(): another address may be tried, by any device. */
static void
not_resolved(struct shca_id *id)
{
	id->src = id->src_before;
	id->has_gid = id->had_gid;
	id->state = SHCA_ID_BOUND;
}

/** Look for the MAC of the other side. @return 0; -EINPROGRESS: not yet. */
static int
reach(struct shca_id *id, uint64_t now)
{
	struct shca_ucma *ucma = id->file->ucma;
	int ret = ucma->conf.reach != NULL
		? ucma->conf.reach(ucma->conf.arg, &id->gid, id->remote_gid)
		: 0;

	if (ret == -EINPROGRESS && now < id->resolve_until)
		return ret;
	if (ret == -EINPROGRESS)
		ret = -ETIMEDOUT;
	if (ret == 0)
		id->state = SHCA_ID_ADDR_RESOLVED;
	else
		not_resolved(id);
	return shca_ucm_event_tell(
		id, ret == 0 ? SHCA_UCM_ADDR_RESOLVED : SHCA_UCM_ADDR_ERROR, ret);
}

uint64_t
shca_bind_step(struct shca_ucma *ucma, uint64_t now)
{
	struct shca_id *id;
	uint32_t number = 0;

	if (ucma->nb_resolving == 0)
		return UINT64_MAX;
	for (; (id = shca_idtable_next(&ucma->ids, &number)) != NULL; number++)
		if (id->state == SHCA_ID_ADDR_QUERY && reach(id, now) != -EINPROGRESS)
			ucma->nb_resolving--;
	return ucma->nb_resolving != 0 ? now + RESOLVE_STEP_NS : UINT64_MAX;
}

static int
start_to_reach(struct shca_id *id, uint32_t timeout_ms)
{
	const uint64_t now = shca_clock_ns();
	int ret;

	id->resolve_until = now + timeout_ms * NS_PER_MS;
	ret = reach(id, now);
	if (ret != -EINPROGRESS)
		return ret;
	id->state = SHCA_ID_ADDR_QUERY;
	id->file->ucma->nb_resolving++;
	return 0;
}

int
shca_bind_resolve(struct shca_id *id, const struct shca_address *src,
	const struct shca_address *dst, uint32_t timeout_ms)
{
	struct shca_address from = { .any.sa_family = dst->any.sa_family };
	uint8_t remote[SHCA_UCMA_GID_BYTES];
	struct shca_ucma_gid gid;
	int ret = 0;

	if (src->any.sa_family != 0)
		from = *src;
	else if (dst->any.sa_family == AF_IB)
		from.ib.sid = htobe64(shca_ip_service(id->space, 0)),
		from.ib.sid_mask = htobe64(SPACE_MASK);
	if (id->state == SHCA_ID_IDLE)
		ret = shca_bind_address(id, &from);
	if (ret != 0)
		return ret;
	if (id->state != SHCA_ID_BOUND || id->src.any.sa_family != dst->any.sa_family)
		return -EINVAL;
	id->dst = *dst;
	shca_address_to_gid(dst, remote);
	if (id->has_gid && !shca_address_is_any(dst))
		gid = id->gid;
	else
		ret = find_way(id, dst, remote, &gid);
	if (ret == 0 && is_of_ipoib(id) && !shca_address_is_any(dst))
		return shca_ucm_event_tell(id, SHCA_UCM_ADDR_ERROR, -EINVAL);
	if (ret == 0) {
		resolved(id, dst, &gid);
		return start_to_reach(id, timeout_ms);
	}
	/* addr_handler(); that there is no way says rdma_resolve_ip(), at once. */
	return ret == -ENODEV ? shca_ucm_event_tell(id, SHCA_UCM_ADDR_ERROR, ret) : ret;
}
