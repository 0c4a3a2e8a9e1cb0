/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports and addresses: what conflicts, what resolves to which port of which device, and what not.
 */
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

static uint32_t
bound(struct rig *rig, uint8_t last, uint16_t port, int wanted)
{
	const uint32_t id = rig_create(rig, 1, RDMA_PS_TCP);

	assert_int_equal(rig_bind(rig, id, last, port), wanted);
	return id;
}

static void
test_conflicts(void **state)
{
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = bound(&rig, 1, RIG_PORT, 0);
	assert_int_equal(rig_bind(&rig, id, 1, RIG_PORT), -EINVAL);
	bound(&rig, 1, RIG_PORT, -EADDRINUSE);
	bound(&rig, 2, RIG_PORT, 0);
	bound(&rig, 1, RIG_PORT + 1, 0);
	/* Another port space */
	assert_int_equal(rig_bind(&rig, rig_create(&rig, 1, RDMA_PS_UDP), 1, RIG_PORT), 0);
	rig_destroy(&rig, id);
	bound(&rig, 1, RIG_PORT, 0);
	rig_close(&rig);
}

/** cma_check_port(): a port is one for both families, unless both identifiers want theirs only, as
 * those of IPv4 do; who shares it with one for any address is told another error than who has the
 * same address. */
static void
test_conflicts_of_any(void **state)
{
	const int on = 1, off = 0;
	struct rig rig;
	uint32_t id, id6;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(rig_bind_any(&rig, id, RIG_PORT), 0);
	bound(&rig, 1, RIG_PORT, -EADDRNOTAVAIL);
	assert_int_equal(
		rig_bind_any(&rig, rig_create(&rig, 1, RDMA_PS_TCP), RIG_PORT), -EADDRNOTAVAIL);
	id6 = rig_create(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(rig_bind6(&rig, id6, 0, RIG_PORT), -EADDRNOTAVAIL);
	assert_int_equal(rig_bind6(&rig, id6, 1, RIG_PORT), -EADDRNOTAVAIL);
	assert_int_equal(rig_option(&rig, id6, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), 0);
	assert_int_equal(rig_option(&rig, id, RDMA_OPTION_ID_AFONLY, &off, sizeof(off)), 0);
	assert_int_equal(rig_bind6(&rig, id6, 0, RIG_PORT), -EADDRNOTAVAIL);
	rig_destroy(&rig, id);
	id = rig_create(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(rig_bind_any(&rig, id, RIG_PORT), 0);
	assert_int_equal(rig_bind6(&rig, id6, 0, RIG_PORT), 0);
	assert_int_equal(rig_listen(&rig, id6, 1), 0);
	assert_int_equal(rig_listen(&rig, id, 1), 0);
	/* Addresses of both families */
	rig_destroy(&rig, id);
	rig_destroy(&rig, id6);
	bound(&rig, 1, RIG_PORT, 0);
	assert_int_equal(rig_bind6(&rig, rig_create(&rig, 1, RDMA_PS_TCP), 1, RIG_PORT), 0);
	rig_close(&rig);
}

static void
test_reuse(void **state)
{
	const int on = 1;
	struct rig rig;
	uint32_t id[2];

	(void)state;
	rig_open(&rig);
	for (unsigned int i = 0; i < 2; i++) {
		id[i] = rig_create(&rig, 1, RDMA_PS_TCP);
		assert_int_equal(
			rig_option(&rig, id[i], RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
		assert_int_equal(rig_bind(&rig, id[i], 1, RIG_PORT), 0);
	}
	/* Who listens is alone. */
	assert_int_equal(rig_listen(&rig, id[0], 1), -EADDRINUSE);
	rig_destroy(&rig, id[1]);
	assert_int_equal(rig_listen(&rig, id[0], 1), 0);
	assert_int_equal(rig_listen(&rig, id[0], 1), -EINVAL);
	rig_close(&rig);
}

static int
raw_bind(struct rig *rig, const void *address, uint16_t bytes, uint16_t size)
{
	struct rdma_ucm_bind command = { .addr_size = size };

	command.id = rig_create(rig, 1, RDMA_PS_TCP);
	memcpy(&command.addr, address, bytes);
	return RIG_DO(rig, RDMA_USER_CM_CMD_BIND, command);
}

static void
test_refused(void **state)
{
	const struct sockaddr_in nobody = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc6336401) };
	const struct sockaddr_in lo = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct sockaddr_in any = { .sin_family = AF_INET };
	const struct sockaddr_in6 any6 = { .sin6_family = AF_INET6 };
	const sa_family_t unknown = AF_UNIX;
	struct rdma_ucm_bind command = { .addr_size = sizeof(any), .reserved = 1 };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	/* Of no host's addresses (rdma_translate_ip) */
	assert_int_equal(raw_bind(&rig, &nobody, sizeof(nobody), sizeof(nobody)), -EADDRNOTAVAIL);
	/* As none (cma_any_addr) */
	assert_int_equal(raw_bind(&rig, &lo, sizeof(lo), sizeof(lo)), 0);
	assert_int_equal(raw_bind(&rig, &any, sizeof(any), sizeof(any)), 0);
	assert_int_equal(raw_bind(&rig, &any6, sizeof(any6), sizeof(any6)), 0);
	assert_int_equal(raw_bind(&rig, &any6, sizeof(any6), sizeof(any)), -EINVAL);
	assert_int_equal(raw_bind(&rig, &any, sizeof(any), 0), -EINVAL);
	assert_int_equal(raw_bind(&rig, &unknown, sizeof(unknown), 2), -EINVAL);
	assert_int_equal(raw_bind(&rig, &unknown, sizeof(unknown), 0), -EINVAL);
	command.id = rig_create(&rig, 1, RDMA_PS_TCP);
	memcpy(&command.addr, &any, sizeof(any));
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_BIND, command), -EINVAL);
	command.reserved = 0;
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_BIND, command), 0);
	rig_close(&rig);
}

/** ucma_resolve_addr(): where to has a size, and where from may have one. */
static void
test_resolve_refused(void **state)
{
	const struct sockaddr_in one = rig_address(1, 0), two = rig_address(2, RIG_PORT);
	static const struct {
		uint16_t src, dst, reserved;
		sa_family_t from, to;
		int wanted;
	} rows[] = {
		{ 16, 16, 1, AF_INET, AF_INET, -EINVAL },
		{ 16, 0, 0, AF_INET, AF_INET, -EINVAL },
		{ 16, 0, 0, AF_INET, AF_UNIX, -EINVAL },
		{ 16, 28, 0, AF_INET, AF_INET, -EINVAL },
		{ 28, 16, 0, AF_INET, AF_INET, -EINVAL },
		{ 16, 16, 0, AF_UNIX, AF_INET, -EINVAL },
		/* rdma_bind_addr() sees that. */
		{ 0, 16, 0, AF_UNIX, AF_INET, -EAFNOSUPPORT },
		{ 16, 16, 0, AF_INET, AF_INET, 0 },
		{ 0, 16, 0, 0, AF_INET, 0 },
		{ 0, 16, 0, AF_INET, AF_INET, 0 },
	};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rdma_ucm_resolve_addr command = {
			.id = rig_create(&rig, 1, RDMA_PS_TCP),
			.timeout_ms = 1000,
			.src_size = rows[i].src,
			.dst_size = rows[i].dst,
			.reserved = rows[i].reserved,
		};

		memcpy(&command.src_addr, &one, sizeof(one));
		memcpy(&command.dst_addr, &two, sizeof(two));
		command.src_addr.ss_family = rows[i].from;
		command.dst_addr.ss_family = rows[i].to;
		print_message("row %zu\n", i);
		assert_int_equal(
			RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), rows[i].wanted);
		if (rows[i].wanted == 0)
			rig_event(&rig, RIG_ADDR_RESOLVED);
	}
	rig_expect_silence(&rig);
	rig_close(&rig);
}

static int
bind_ip(struct rig *rig, const void *address, size_t bytes, uint32_t id)
{
	struct rdma_ucm_bind_ip command = { .id = id };

	memcpy(&command.addr, address, bytes);
	return RIG_DO(rig, RDMA_USER_CM_CMD_BIND_IP, command);
}

static int
resolve_ip(
	struct rig *rig, const struct sockaddr_in *src, const struct sockaddr_in *dst, uint32_t id)
{
	struct rdma_ucm_resolve_ip command = { .id = id, .timeout_ms = 1000 };

	memcpy(&command.src_addr, src, sizeof(*src));
	memcpy(&command.dst_addr, dst, sizeof(*dst));
	return RIG_DO(rig, RDMA_USER_CM_CMD_RESOLVE_IP, command);
}

/** The commands of old have an address without a length: what is no IP address is refused before
 * anything else is looked at (ucma_bind_ip(), ucma_resolve_ip()). */
static void
test_ip(void **state)
{
	const struct sockaddr_in nobody = { .sin_family = 0 }, unknown = { .sin_family = AF_UNIX },
				 ib = { .sin_family = 27 }, one = rig_address(1, 0),
				 two = rig_address(2, RIG_PORT);
	const struct sockaddr_in6 one6 = rig_address6(1, RIG_PORT);
	const uint32_t none = 12345;
	uint32_t id;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(bind_ip(&rig, &nobody, sizeof(nobody), none), -EINVAL);
	assert_int_equal(bind_ip(&rig, &ib, sizeof(ib), none), -EINVAL);
	assert_int_equal(bind_ip(&rig, &one, sizeof(one), none), -ENOENT);
	assert_int_equal(bind_ip(&rig, &unknown, sizeof(unknown), rig_create(&rig, 1, RDMA_PS_TCP)),
		-EINVAL);
	id = rig_create(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(bind_ip(&rig, &one, sizeof(one), id), 0);
	assert_int_equal(bind_ip(&rig, &one, sizeof(one), id), -EINVAL);
	assert_int_equal(bind_ip(&rig, &one6, sizeof(one6), rig_create(&rig, 1, RDMA_PS_TCP)), 0);
	bound(&rig, 1, RIG_PORT, 0);
	assert_int_equal(resolve_ip(&rig, &unknown, &two, none), -EINVAL);
	assert_int_equal(resolve_ip(&rig, &ib, &two, none), -EINVAL);
	assert_int_equal(resolve_ip(&rig, &one, &nobody, none), -EINVAL);
	assert_int_equal(resolve_ip(&rig, &one, &unknown, none), -EINVAL);
	assert_int_equal(resolve_ip(&rig, &one, &ib, none), -EINVAL);
	assert_int_equal(resolve_ip(&rig, &one, &two, none), -ENOENT);
	rig_expect_silence(&rig);
	assert_int_equal(resolve_ip(&rig, &one, &two, rig_create(&rig, 1, RDMA_PS_TCP)), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(resolve_ip(&rig, &nobody, &two, rig_create(&rig, 2, RDMA_PS_TCP)), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	rig_close(&rig);
}

/** An address of a link is none without the link (cma_check_linklocal()). */
static void
test_link_local(void **state)
{
	struct sockaddr_in6 own = { .sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 } };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(raw_bind(&rig, &own, sizeof(own), sizeof(own)), -EINVAL);
	own.sin6_scope_id = 5;
	assert_int_equal(raw_bind(&rig, &own, sizeof(own), sizeof(own)), 0);
	own.sin6_addr.s6_addr[15] = 99;
	own.sin6_scope_id = 0;
	assert_int_equal(raw_bind(&rig, &own, sizeof(own), sizeof(own)), -EINVAL);
	rig_close(&rig);
}

/** librdmacm asks so whether AF_IB is known (ucma_set_af_ib_support). */
static void
test_af_ib(void **state)
{
	struct {
		uint16_t family, pkey;
		uint32_t flowinfo;
		uint8_t addr[16];
		uint64_t sid, sid_mask, scope_id;
	} address = { .family = 27,
		.sid = __builtin_bswap64(0x01060000),
		.sid_mask = __builtin_bswap64(UINT64_C(0xffffffffffff0000)) };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(raw_bind(&rig, &address, sizeof(address), sizeof(address)), 0);
	/* UDP's is not TCP's. */
	address.sid = __builtin_bswap64(0x01110000);
	assert_int_equal(
		raw_bind(&rig, &address, sizeof(address), sizeof(address)), -EPROTONOSUPPORT);
	rig_close(&rig);
}

static void
test_resolve(void **state)
{
	struct rdma_ucm_resolve_route at_once = { .timeout_ms = 0 };
	struct rdma_ucm_event_resp event;
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	at_once.id = id = rig_create(&rig, 7, RDMA_PS_TCP);
	assert_int_equal(rig_route(&rig, id), -EINVAL);
	assert_int_equal(rig_resolve(&rig, id, 1, 2, RIG_PORT), 0);
	assert_int_equal(rig_resolve(&rig, id, 1, 2, RIG_PORT), -EINVAL);
	event = rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(event.uid, 7);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ROUTE, at_once), -EINVAL);
	assert_int_equal(rig_connect(&rig, id, 1, ""), -EINVAL);
	assert_int_equal(rig_route(&rig, id), 0);
	rig_event(&rig, RIG_ROUTE_RESOLVED);
	assert_int_equal(rig_route(&rig, id), -EINVAL);
	/* An address that is not this host's. */
	id = rig_create(&rig, 7, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, id, 9, 2, RIG_PORT), -EADDRNOTAVAIL);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** The kernel knows a way to itself, but by no port of ours. */
static void
test_no_device(void **state)
{
	const struct sockaddr_in lo = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(RIG_PORT) };
	struct rdma_ucm_resolve_addr command = { .timeout_ms = 1, .dst_size = sizeof(lo) };
	struct rdma_ucm_event_resp event;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, 7, RDMA_PS_TCP);
	memcpy(&command.dst_addr, &lo, sizeof(lo));
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), 0);
	event = rig_event(&rig, RIG_ADDR_ERROR);
	assert_int_equal((int)event.status, -ENODEV);
	rig_close(&rig);
}

/** Linux looks for a route in the command itself, which fails without one (rdma_resolve_ip()). */
static void
test_unreachable(void **state)
{
	const struct sockaddr_in far = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xcb007101),
		.sin_port = htons(RIG_PORT) };
	const struct sockaddr_in near = rig_address(2, RIG_PORT);
	struct rdma_ucm_resolve_addr command = { .timeout_ms = 1, .dst_size = sizeof(far) };
	const int own_namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct rig rig;
	int ret;

	(void)state;
	assert_true(own_namespace >= 0);
	/* One without routes. */
	if (unshare(CLONE_NEWNET) != 0) {
		print_message("no network namespaces here: %s\n", strerror(errno));
		close(own_namespace);
		skip();
	}
	rig_open(&rig);
	command.id = rig_create(&rig, 7, RDMA_PS_TCP);
	memcpy(&command.dst_addr, &far, sizeof(far));
	ret = RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command);
	assert_int_equal(setns(own_namespace, CLONE_NEWNET), 0);
	close(own_namespace);
	assert_int_equal(ret, -ENETUNREACH);
	rig_expect_silence(&rig);
	/* Another address may be tried. */
	memcpy(&command.dst_addr, &near, sizeof(near));
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), 0);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).status, 0);
	rig_close(&rig);
}

/** To a host behind the second port, without an address to send from. */
static uint32_t
resolve_by_route(struct rig *rig, uint32_t timeout_ms)
{
	const struct sockaddr_in far = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc6336409),
		.sin_port = htons(RIG_PORT) };
	struct rdma_ucm_resolve_addr command = {
		.id = rig_create(rig, 7, RDMA_PS_TCP),
		.timeout_ms = timeout_ms,
		.dst_size = sizeof(far),
	};

	memcpy(&command.dst_addr, &far, sizeof(far));
	assert_int_equal(RIG_DO(rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), 0);
	return command.id;
}

static void
test_waits_for_a_neighbour(void **state)
{
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	rig.reach = -EINPROGRESS;
	id = resolve_by_route(&rig, 1000000);
	rig_expect_silence(&rig);
	assert_true(shca_ucma_step(rig.ucma) < UINT64_MAX);
	rig_expect_silence(&rig);
	assert_int_equal(rig_route(&rig, id), -EINVAL);
	rig.reach = 0;
	assert_int_equal(shca_ucma_step(rig.ucma), UINT64_MAX);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).status, 0);
	assert_int_equal(rig_route(&rig, id), 0);
	rig_event(&rig, RIG_ROUTE_RESOLVED);
	rig_close(&rig);
}

static void
test_waits_in_vain(void **state)
{
	struct rdma_ucm_destroy_id command = { 0 };
	struct rdma_ucm_destroy_id_resp answer;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig.reach = -EINPROGRESS;
	resolve_by_route(&rig, 0);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -ETIMEDOUT);
	/* Nobody answers. */
	rig.reach = -EHOSTUNREACH;
	resolve_by_route(&rig, 1000);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -EHOSTUNREACH);
	/* One that goes while it waits is not looked for any more. */
	rig.reach = -EINPROGRESS;
	command.id = resolve_by_route(&rig, 1000000);
	command.response = (uintptr_t)&answer;
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_DESTROY_ID, &command, sizeof(command),
				 sizeof(answer)),
		0);
	assert_int_equal(shca_ucma_step(rig.ucma), UINT64_MAX);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

static struct rdma_ucm_query_addr_resp
addresses(struct rig *rig, uint32_t id)
{
	struct rdma_ucm_query_addr_resp answer;
	const struct rdma_ucm_query command = { .response = (uintptr_t)&answer, .id = id };

	assert_int_equal(
		rig_do(rig, RDMA_USER_CM_CMD_QUERY, &command, sizeof(command), sizeof(answer)), 0);
	return answer;
}

/** Bound, it has another side of its family, which is nobody (rdma_bind_addr()). */
static void
test_bound_to_nobody(void **state)
{
	static const uint8_t nobody[16] = { [10] = 0xff, 0xff };
	struct rdma_ucm_query_addr_resp answer;
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query command = { .response = (uintptr_t)&route };
	struct sockaddr_in dst;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, 1, RDMA_PS_TCP);
	answer = addresses(&rig, command.id);
	assert_int_equal(answer.dst_size, 0);
	assert_int_equal(answer.node_guid, 0);
	assert_int_equal(rig_bind(&rig, command.id, 1, 0), 0);
	answer = addresses(&rig, command.id);
	assert_int_equal(answer.dst_size, sizeof(dst));
	memcpy(&dst, &answer.dst_addr, sizeof(dst));
	assert_int_equal(dst.sin_family, AF_INET);
	assert_int_equal(dst.sin_addr.s_addr, INADDR_ANY);
	assert_int_equal(dst.sin_port, 0);
	/* rdma_ip2gid() */
	assert_int_equal(rig_do(&rig, RDMA_USER_CM_CMD_QUERY_ROUTE, &command, sizeof(command),
				 sizeof(route)),
		0);
	assert_int_equal(route.num_paths, 0);
	assert_memory_equal(route.ib_route[0].dgid, nobody, sizeof(nobody));
	rig_close(&rig);
}

/** Who has not answered has bound nobody: the next address may be behind another device, from
 * another address (addr_handler()). */
static void
test_another_address(void **state)
{
	struct sockaddr_in near = rig_address(1, RIG_PORT);
	struct rdma_ucm_resolve_addr command = { .timeout_ms = 1, .dst_size = sizeof(near) };
	struct rdma_ucm_query_addr_resp answer;
	struct sockaddr_in src;
	struct rig rig;
	uint16_t port;

	(void)state;
	rig_open(&rig);
	rig.reach = -EHOSTUNREACH;
	command.id = resolve_by_route(&rig, 1000);
	rig_event(&rig, RIG_ADDR_ERROR);
	answer = addresses(&rig, command.id);
	memcpy(&src, &answer.src_addr, sizeof(src));
	assert_int_equal(src.sin_addr.s_addr, INADDR_ANY);
	port = src.sin_port;
	assert_int_not_equal(port, 0);
	assert_int_equal(answer.port_num, 0);
	rig.reach = 0;
	memcpy(&command.dst_addr, &near, sizeof(near));
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), 0);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).status, 0);
	answer = addresses(&rig, command.id);
	memcpy(&src, &answer.src_addr, sizeof(src));
	assert_int_equal(ntohl(src.sin_addr.s_addr), 0x0a000001);
	assert_int_equal(src.sin_port, port);
	assert_int_equal(answer.ibdev_index, 0);
	assert_int_equal(answer.port_num, 1);
	/* One that has chosen its own stays there. */
	rig.reach = -EHOSTUNREACH;
	command.id = rig_create(&rig, 8, RDMA_PS_TCP);
	assert_int_equal(rig_bind(&rig, command.id, 2, 0), 0);
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), 0);
	rig_event(&rig, RIG_ADDR_ERROR);
	answer = addresses(&rig, command.id);
	memcpy(&src, &answer.src_addr, sizeof(src));
	assert_int_equal(ntohl(src.sin_addr.s_addr), 0x0a000002);
	assert_int_equal(answer.ibdev_index, 1);
	rig_close(&rig);
}

/** What is for IP over InfiniBand finds no device here (cma_acquire_dev_by_src_ip()). */
static void
test_ipoib(void **state)
{
	const struct sockaddr_in dst = rig_address(2, RIG_PORT);
	struct rdma_ucm_resolve_addr command = { .timeout_ms = 1, .dst_size = sizeof(dst) };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	command.id = rig_create(&rig, 7, RDMA_PS_IPOIB);
	assert_int_equal(rig_bind(&rig, command.id, 1, 0), -EINVAL);
	assert_int_equal(rig_bind_any(&rig, command.id, RIG_PORT), 0);
	memcpy(&command.dst_addr, &dst, sizeof(dst));
	assert_int_equal(RIG_DO(&rig, RDMA_USER_CM_CMD_RESOLVE_ADDR, command), 0);
	assert_int_equal((int)rig_event(&rig, RIG_ADDR_ERROR).status, -EINVAL);
	assert_int_equal(addresses(&rig, command.id).port_num, 0);
	rig_close(&rig);
}

/** @return how many identifiers Linux would have at a port of a device, or with 0 at the device. */
static size_t
tracked_at_port(
	struct rig *rig, unsigned int device, uint32_t port, struct shca_ucma_tracked *first)
{
	struct shca_ucma_tracked *ids;
	size_t nb;

	assert_int_equal(shca_ucma_track(rig->ucma, device, port, &ids, &nb), 0);
	if (nb != 0)
		*first = ids[0];
	free(ids);
	return nb;
}

static size_t
tracked_at(struct rig *rig, unsigned int device, struct shca_ucma_tracked *first)
{
	return tracked_at_port(rig, device, 0, first);
}

/** One that is bound is at its device; one for all addresses is at each, once it listens. */
static void
test_tracked(void **state)
{
	struct shca_ucma_tracked first = { 0 };
	struct rig rig;
	uint32_t bound, any;

	(void)state;
	rig_open(&rig);
	bound = rig_create(&rig, 1, RDMA_PS_TCP);
	assert_int_equal(tracked_at(&rig, 0, &first), 0);
	assert_int_equal(rig_bind(&rig, bound, 1, 4000), 0);
	assert_int_equal(tracked_at(&rig, 0, &first), 1);
	assert_int_equal(first.number, bound);
	assert_int_equal(first.port, 1);
	assert_int_equal(tracked_at_port(&rig, 0, 1, &first), 1);
	assert_int_equal(tracked_at_port(&rig, 0, 2, &first), 0);
	assert_int_equal(first.state, 7); /* RDMA_CM_ADDR_BOUND */
	assert_int_equal(first.space, RDMA_PS_TCP);
	assert_int_equal(first.pid, getpid());
	assert_int_equal(first.src.ss_family, AF_INET);
	assert_int_equal(first.dst.ss_family, AF_INET);
	assert_int_equal(first.qpn, 0);
	rig_destroy(&rig, bound);
	any = rig_create(&rig, 2, RDMA_PS_TCP);
	assert_int_equal(rig_bind_any(&rig, any, 4001), 0);
	assert_int_equal(tracked_at(&rig, 1, &first), 0);
	assert_int_equal(rig_listen(&rig, any, 1), 0);
	assert_int_equal(tracked_at(&rig, 1, &first), 1);
	assert_int_equal(first.port, 0);
	assert_int_equal(first.dst.ss_family, 0);
	assert_int_equal(tracked_at_port(&rig, 1, 1, &first), 0);
	assert_int_equal(first.state, 8); /* RDMA_CM_LISTEN */
	rig_destroy(&rig, any);
	assert_int_equal(tracked_at(&rig, 1, &first), 0);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_conflicts_of_any),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_resolve_refused),
		cmocka_unit_test(test_ip),
		cmocka_unit_test(test_link_local),
		cmocka_unit_test(test_af_ib),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_no_device),
		cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_waits_for_a_neighbour),
		cmocka_unit_test(test_waits_in_vain),
		cmocka_unit_test(test_bound_to_nobody),
		cmocka_unit_test(test_another_address),
		cmocka_unit_test(test_ipoib),
		cmocka_unit_test(test_tracked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
