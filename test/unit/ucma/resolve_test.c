/* SPDX-License-Identifier: BSD-3-Clause */
/* Which GID of which port stands for an address, or is on the way to one; ports by chance and by
 * privilege; names of IB. */
#include <endian.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include <infiniband/verbs.h>

#include "base/clock.h"
#include "rig.h"
#include "ucma/address.h"

#include "../capability.h"

enum {
	UID = 7,
	SERVER,
};

static struct rdma_ucm_query_addr_resp
addresses(struct rig *rig, uint32_t id)
{
	struct rdma_ucm_query_addr_resp answer;
	const struct rdma_ucm_query command = { .response = (uintptr_t)&answer, .id = id };

	assert_int_equal(
		rig_do(rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), sizeof(answer)), 0);
	return answer;
}

static struct sockaddr_in
source(struct rig *rig, uint32_t id)
{
	const struct rdma_ucm_query_addr_resp answer = addresses(rig, id);
	struct sockaddr_in src;

	memcpy(&src, &answer.src_addr, sizeof(src));
	return src;
}

static struct sockaddr_in6
source6(struct rig *rig, uint32_t id)
{
	const struct rdma_ucm_query_addr_resp answer = addresses(rig, id);
	struct sockaddr_in6 src;

	memcpy(&src, &answer.src_addr, sizeof(src));
	return src;
}

/** From any address. */
static int
resolve(struct rig *rig, uint32_t id, const void *dst, uint16_t size)
{
	struct rdma_ucm_resolve_addr command = {
		.id = id,
		.timeout_ms = 1000,
		.dst_size = size,
	};

	memcpy(&command.dst_addr, dst, size);
	return RIG_DO(rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command);
}

static int
resolve4(struct rig *rig, uint32_t id, uint32_t address)
{
	const struct sockaddr_in dst = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(address),
		.sin_port = htons(RIG_PORT) };

	return resolve(rig, id, &dst, sizeof(dst));
}

/** Of an address's GIDs that of RoCE v2 is taken, and where there is none the first
 * (CMA_PREFERRED_ROCE_GID_TYPE); datagrams leave by the same one, and answers by that to which they
 * are answers. */
static void
test_versions(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct ib_uverbs_qp_attr attr;
		uint32_t client, server;
		struct rig rig;

		rig_open(&rig);
		rig.is_v1 = i == 1;
		rig_listener(&rig, SERVER, RDMA_PS_TCP, 1);
		client = rig_caller(&rig, UID, RDMA_PS_TCP);
		assert_int_equal(rig_connect(&rig, client, 1, ""), 0);
		assert_int_equal(rig.sent_from.index, i == 0 ? 3 : 2);
		assert_int_equal(rig.sent_from.device, 0);
		assert_int_equal(rig.sent_from.is_v2, i == 0);
		shca_ucma_step(rig.ucma);
		server = rig_event(&rig, RIG_CONNECT_REQUEST).id;
		assert_int_equal(rig_accept(&rig, server, UID, 2, ""), 0);
		assert_int_equal(rig.sent_from.index, i == 0 ? 3 : 2);
		assert_int_equal(rig.sent_from.device, 1);
		assert_int_equal(rig_qp_attr(&rig, server, IBV_QPS_RTR, &attr), 0);
		assert_int_equal(attr.ah_attr.grh.sgid_index, i == 0 ? 3 : 2);
		/* Its address goes: nothing can be said any more. */
		shca_ucma_step(rig.ucma);
		rig.no_gids = true;
		rig.nb_sent = 0;
		assert_int_equal(rig_accept(&rig, client, 0, 0, NULL), 0);
		assert_int_equal(rig.nb_sent, 0);
		rig_close(&rig);
	}
}

/** The second family's GIDs come behind those of the first. */
static void
test_second_family(void **state)
{
	const struct sockaddr_in6 dst = rig_address6(2, RIG_PORT);
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(rig_bind6(&rig, id, 1, 0), 0);
	assert_int_equal(resolve(&rig, id, &dst, sizeof(dst)), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(rig_route(&rig, id), 0);
	rig_event(&rig, RIG_ROUTE_RESOLVED);
	assert_int_equal(rig_connect(&rig, id, 1, ""), 0);
	assert_int_equal(rig.sent_from.index, 5);
	assert_int_equal(rig.sent_from.gid[0], 0xfd);
	rig_close(&rig);
}

/** A neighbour of a link is asked from that link, by its address; a port without a netdev has no
 * number, and all are its neighbours. */
static void
test_neighbours(void **state)
{
	struct sockaddr_in6 dst = { .sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 9 },
		.sin6_scope_id = 5 };
	struct sockaddr_in6 own = { .sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 } };
	struct rdma_ucm_bind bind = { .addr_size = sizeof(own) };
	struct sockaddr_in6 src;
	struct rig rig;
	uint32_t id;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		rig_open(&rig);
		rig.no_netdev = i == 1;
		dst.sin6_scope_id = i == 0 ? 5 : 0;
		id = rig_create(&rig, UID, RDMA_PS_TCP);
		assert_int_equal(resolve(&rig, id, &dst, sizeof(dst)), 0);
		rig_event(&rig, RIG_ADDR_RESOLVED);
		src = source6(&rig, id);
		assert_memory_equal(&src.sin6_addr, &own.sin6_addr, 16);
		assert_int_equal(src.sin6_scope_id, i == 0 ? 5 : 0);
		assert_int_not_equal(src.sin6_port, 0);
		/* Bound to it without the number */
		bind.id = rig_create(&rig, UID, RDMA_PS_TCP);
		memcpy(&bind.addr, &own, sizeof(own));
		assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_BIND, bind), i == 0 ? -EINVAL : 0);
		/* Of a link where no port is */
		dst.sin6_scope_id = 6;
		id = rig_create(&rig, UID, RDMA_PS_TCP);
		if (resolve(&rig, id, &dst, sizeof(dst)) == 0)
			rig_event(&rig, RIG_ADDR_ERROR);
		rig_expect_silence(&rig);
		rig_close(&rig);
	}
}

/** Nobody in particular is a port of ours, of the family. */
static void
test_nobody(void **state)
{
	const struct sockaddr_in6 any6 = { .sin6_family = AF_INET6 };
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(resolve4(&rig, id, INADDR_ANY), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(ntohl(source(&rig, id).sin_addr.s_addr), 0x0a000001);
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(resolve(&rig, id, &any6, sizeof(any6)), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(source6(&rig, id).sin6_addr.s6_addr[0], 0xfd);
	assert_int_equal(source6(&rig, id).sin6_addr.s6_addr[15], 1);
	assert_int_equal(source6(&rig, id).sin6_scope_id, 0);
	rig.no_gids = true;
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(resolve4(&rig, id, INADDR_ANY), 0);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -ENODEV);
	rig_close(&rig);
}

/** A device's netdev has a route, from an address that the device has no more. */
static void
test_gone(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(resolve4(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 0xc0000201), 0);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -ENODEV);
	rig_close(&rig);
}

/** @return whether this thread is in a network namespace of its own, whose only interface has an
 * address, of a network of 8 bits */
static bool
enter(uint32_t address)
{
	struct ifreq request = { .ifr_name = "lo" };
	struct sockaddr_in *at = (struct sockaddr_in *)(void *)&request.ifr_addr;
	int fd, ret;

	if (unshare(CLONE_NEWNET) != 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	at->sin_family = AF_INET;
	at->sin_addr.s_addr = htonl(address);
	ret = ioctl(fd, SIOCSIFADDR, &request);
	request.ifr_flags = IFF_UP;
	if (ret == 0)
		ret = ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
	assert_int_equal(ret, 0);
	return true;
}

/** This host's address that is no device's is another errno than nobody's, and where Linux would
 * send from an address of ours, that is the way (rdma_translate_ip(), cma_acquire_dev_by_src_ip(),
 * rdma_resolve_ip()). */
static void
test_own_addresses(void **state)
{
	const int own_namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct sockaddr_in src = { .sin_port = 0 };
	int ours = 1, nobodys = 1, sent = 1, other = 1;
	struct rig rig;
	uint32_t id;

	(void)state;
	assert_true(own_namespace >= 0);
	if (!enter(0x0a000001)) {
		print_message("no network namespaces here: %s\n", strerror(errno));
		close(own_namespace);
		skip();
	}
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	sent = resolve4(&rig, id, 0x0a090909);
	src = source(&rig, id);
	assert_int_equal(setns(own_namespace, CLONE_NEWNET), 0);
	assert_true(enter(0x0b000009));
	ours = rig_bind(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 2, 0);
	other = resolve4(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 0x0b010101);
	rig.no_gids = true;
	nobodys = rig_bind(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 2, 0);
	assert_int_equal(setns(own_namespace, CLONE_NEWNET), 0);
	close(own_namespace);
	assert_int_equal(sent, 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(ntohl(src.sin_addr.s_addr), 0x0a000001);
	assert_int_equal(ours, 0);
	assert_int_equal(other, 0);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -ENODEV);
	assert_int_equal(nobodys, -EADDRNOTAVAIL);
	rig_close(&rig);
}

static void
test_no_device_of_ours(void **state)
{
	const int own_namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct rig rig;
	int ret;

	(void)state;
	assert_true(own_namespace >= 0);
	if (!enter(0x0a000063)) {
		print_message("no network namespaces here: %s\n", strerror(errno));
		close(own_namespace);
		skip();
	}
	rig_open(&rig);
	/* With a port: that of the RDMA CM is none of the netdev's. */
	ret = rig_bind(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 0x63, RIG_PORT);
	assert_int_equal(setns(own_namespace, CLONE_NEWNET), 0);
	close(own_namespace);
	assert_int_equal(ret, -ENODEV);
	rig_close(&rig);
}

/** Ports by chance are of net.ipv4.ip_local_port_range, and everywhere in it. */
static void
test_any_port(void **state)
{
	uint16_t least = UINT16_MAX, most = 0;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (unsigned int i = 0; i < 300; i++) {
		const uint32_t id = rig_create(&rig, UID, RDMA_PS_TCP);
		uint16_t port;

		assert_int_equal(rig_bind(&rig, id, 1, 0), 0);
		port = ntohs(source(&rig, id).sin_port);
		least = port < least ? port : least;
		most = port > most ? port : most;
	}
	assert_in_range(least, 32768, 36000);
	assert_in_range(most, 57000, 60999);
	rig_close(&rig);
}

/** cma_use_port() */
static void
test_privileged(void **state)
{
	static const struct {
		uint16_t port;
		int wanted;
	} rows[] = { { 1, -EACCES }, { 1023, -EACCES }, { 1024, 0 }, { 1025, 0 }, { 0, 0 } };
	struct rig rig;
	bool had;

	(void)state;
	rig_open(&rig);
	had = test_capability(CAP_NET_BIND_SERVICE, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			rig_bind(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 1, rows[i].port),
			rows[i].wanted);
	test_capability(CAP_NET_BIND_SERVICE, true);
	if (had)
		assert_int_equal(rig_bind(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 1, 1023), 0);
	rig_close(&rig);
}

/** What could not be bound has no address, and may be bound to another one. */
static void
test_unbound(void **state)
{
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query command = { .response = (uintptr_t)&route };
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = command.id = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(rig_bind(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 1, RIG_PORT), 0);
	assert_int_equal(rig_bind(&rig, id, 1, RIG_PORT), -EADDRINUSE);
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_QUERY_ROUTE, &command, sizeof(command),
				 sizeof(route)),
		0);
	for (size_t i = 0; i < sizeof(route); i++)
		assert_int_equal(((const uint8_t *)&route)[i], 0);
	assert_int_equal(rig_bind(&rig, id, 2, RIG_PORT), 0);
	rig_close(&rig);
}

static int
bind_ib(struct rig *rig, uint16_t space, uint64_t sid, uint64_t mask)
{
	const struct shca_sockaddr_ib address = {
		.family = AF_IB,
		.sid = htobe64(sid),
		.sid_mask = htobe64(mask),
	};
	struct rdma_ucm_bind command = { .addr_size = sizeof(address) };

	command.id = rig_create(rig, UID, space);
	memcpy(&command.addr, &address, sizeof(address));
	return RIG_DO(rig, RDMA_USER_CM_CMD_BIND, command);
}

/** cma_select_ib_ps(): which port spaces a service ID may be of; what the mask leaves out is not
 * looked at. */
static void
test_service_ids(void **state)
{
	static const struct {
		uint16_t space;
		uint64_t sid, mask;
		int wanted;
	} rows[] = {
		{ RDMA_PS_IB, 0x013f0000, UINT64_C(0xffffffffffff0000), 0 },
		{ RDMA_PS_IB, 0x01060000, UINT64_C(0xffffffffffff0000), 0 },
		{ RDMA_PS_IB, 0x01110000, UINT64_C(0xffffffffffff0000), 0 },
		{ RDMA_PS_IB, 0x01120000, UINT64_C(0xffffffffffff0000), -EPROTONOSUPPORT },
		{ RDMA_PS_IB, 0x01120000, 0, 0 },
		{ RDMA_PS_TCP, 0x01060000, UINT64_C(0xffffffffffff0000), 0 },
		{ RDMA_PS_TCP, 0x013f0000, UINT64_C(0xffffffffffff0000), -EPROTONOSUPPORT },
		{ RDMA_PS_TCP, 0x013f0000, 0xffff, 0 },
		{ RDMA_PS_UDP, 0x01110000, UINT64_C(0xffffffffffff0000), 0 },
		{ RDMA_PS_UDP, 0x01060000, UINT64_C(0xffffffffffff0000), -EPROTONOSUPPORT },
		{ RDMA_PS_UDP, 0x01110000 + RIG_PORT, UINT64_MAX, 0 },
		/* The same port by another name, and that of another space */
		{ RDMA_PS_IB, 0x01110000 + RIG_PORT, UINT64_MAX, -EADDRNOTAVAIL },
		{ RDMA_PS_IB, 0x01060000 + RIG_PORT, UINT64_MAX, 0 },
		{ RDMA_PS_TCP, 0x01060000 + RIG_PORT, UINT64_MAX, -EADDRNOTAVAIL },
	};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("row %zu\n", i);
		assert_int_equal(
			bind_ib(&rig, rows[i].space, rows[i].sid, rows[i].mask), rows[i].wanted);
	}
	rig_close(&rig);
}

/** Without a source it has a port of the identifier's space. */
static void
test_ib_without_source(void **state)
{
	const struct shca_sockaddr_ib dst = {
		.family = AF_IB,
		.addr = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
		.sid = htobe64(0x01060000 + RIG_PORT),
		.sid_mask = UINT64_MAX,
	};
	struct rdma_ucm_query_addr_resp answer;
	struct shca_sockaddr_ib src;
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(resolve(&rig, id, &dst, sizeof(dst)), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	answer = addresses(&rig, id);
	memcpy(&src, &answer.src_addr, sizeof(src));
	assert_int_equal(be64toh(src.sid) >> 16, RDMA_PS_TCP);
	assert_in_range(be64toh(src.sid) & 0xffff, 32768, 60999);
	assert_memory_equal(src.addr, dst.addr, sizeof(dst.addr));
	rig_close(&rig);
}

/** Who waits for a neighbour looks again, after a while. */
static void
test_while(void **state)
{
	struct rig rig;
	uint64_t now;

	(void)state;
	rig_open(&rig);
	rig.reach = -EINPROGRESS;
	assert_int_equal(rig_resolve(&rig, rig_create(&rig, UID, RDMA_PS_TCP), 1, 2, RIG_PORT), 0);
	now = shca_clock_ns();
	assert_in_range(shca_ucma_step(rig.ucma), now + 1, UINT64_MAX - 1);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_second_family),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_own_addresses),
		cmocka_unit_test(test_no_device_of_ours),
		cmocka_unit_test(test_any_port),
		cmocka_unit_test(test_privileged),
		cmocka_unit_test(test_unbound),
		cmocka_unit_test(test_service_ids),
		cmocka_unit_test(test_ib_without_source),
		cmocka_unit_test(test_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
