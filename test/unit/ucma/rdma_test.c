/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager of two devices, of which one goes. */
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>
#include <unistd.h>

#include "../hw/rig.h"
#include "hw/roce/gid.h"
#include "hw/state/device.h"
#include "ucma/rdma.h"
#include "ucma/ucma.h"

enum {
	NB_DEVICES = 2,
	ADDR_RESOLVED = 0, /* enum rdma_cm_event_type */
	DEVICE_REMOVAL = 11,
	PATIENCE_MS = 10000,
};

/** A port with a netdev in a namespace of its own, from which all others can be reached. */
struct side {
	struct rig rig;
	struct shca_wire_ops ops;
	struct shca_wire netdev;
	uint8_t ips[1][16];
};

static int
find_way(struct shca_wire *wire, const uint8_t to[SHCA_IP_BYTES], bool is_bound,
	struct shca_way *way)
{
	const struct side *side = (const struct side *)(const void *)((const char *)wire -
		offsetof(struct side, netdev));

	(void)to;
	(void)is_bound;
	memset(way, 0, sizeof(*way));
	memcpy(way->source, side->ips[0], sizeof(way->source));
	return 0;
}

static void
open_side(struct side *side, uint8_t last)
{
	const uint8_t ip[16] = { [10] = 0xff, 0xff, 10, 0, 0, last };

	rig_init(&side->rig);
	rig_open(&side->rig);
	side->ops = *side->rig.wire.wire.ops;
	side->ops.find_way = find_way;
	side->netdev.ops = &side->ops;
	memcpy(side->ips[0], ip, sizeof(ip));
	shca_device_lock(side->rig.dev);
	side->rig.dev->conf.kernel = &side->netdev;
	side->rig.dev->port[0].netdev.ips = side->ips;
	side->rig.dev->port[0].netdev.nb_ips = 1;
	side->rig.dev->port[0].netdev.ifindex = last;
	assert_true(shca_gid_update(side->rig.dev));
	shca_device_unlock(side->rig.dev);
}

static void
close_side(struct side *side)
{
	side->rig.dev->conf.kernel = NULL;
	rig_close(&side->rig);
}

/** One command. */
static void
command(struct shca_ucma *ucma, int fd, uint32_t number, const void *bytes, size_t nb, size_t out)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		uint8_t bytes[512];
	} whole = { .header = { number, (uint16_t)nb, (uint16_t)out } };

	memcpy(whole.bytes, bytes, nb);
	assert_int_equal(shca_ucma_write(ucma, fd, &whole, sizeof(whole.header) + nb), 0);
}

/** @return the event that tells of the way to 198.51.100.1. */
static struct rdma_ucm_event_resp
resolve(struct shca_ucma *ucma, int fd)
{
	struct rdma_ucm_create_id_resp created;
	struct rdma_ucm_event_resp event;
	const struct rdma_ucm_create_id create = {
		.uid = 1,
		.response = (uintptr_t)&created,
		.ps = RDMA_PS_TCP,
	};
	const struct rdma_ucm_get_event get = { .response = (uintptr_t)&event };
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc6336401),
		.sin_port = htons(1),
	};
	struct rdma_ucm_resolve_addr where = { .timeout_ms = 1000, .dst_size = sizeof(to) };

	command(ucma, fd, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create), sizeof(created));
	where.id = created.id;
	memcpy(&where.dst_addr, &to, sizeof(to));
	command(ucma, fd, RDMA_USER_CM_CMD_RESOLVE_ADDR, &where, sizeof(where), 0);
	command(ucma, fd, RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get), sizeof(event));
	return event;
}

static struct side sides[NB_DEVICES];

/** A manager of two devices. */
static struct shca_rdma *
open_both(struct shca_device *devices[NB_DEVICES])
{
	const struct shca_rdma_conf conf = { .devices = devices, .nb_devices = NB_DEVICES };
	struct shca_rdma *rdma;

	for (unsigned int i = 0; i < NB_DEVICES; i++) {
		open_side(&sides[i], (uint8_t)(i + 1));
		devices[i] = sides[i].rig.dev;
	}
	assert_int_equal(shca_rdma_create(&conf, &rdma), 0);
	return rdma;
}

static void
close_both(struct shca_rdma *rdma)
{
	shca_rdma_destroy(rdma);
	for (unsigned int i = 0; i < NB_DEVICES; i++)
		close_side(&sides[i]);
}

/** Its thread does what is due, without anybody who asks: here, that a device goes. */
static void
thread_is_woken(void **state)
{
	struct shca_device *devices[NB_DEVICES];
	struct shca_rdma *rdma = open_both(devices);
	struct rdma_ucm_event_resp event;
	const struct rdma_ucm_get_event get = { .response = (uintptr_t)&event };
	struct pollfd pollfd = { .events = POLLIN };
	struct shca_ucma *ucma = shca_rdma_ucma(rdma);

	(void)state;
	assert_int_equal(shca_rdma_start(NULL), 0);
	shca_rdma_stop(NULL);
	shca_rdma_destroy(NULL);
	assert_false(shca_rdma_is_running(NULL));
	assert_false(shca_rdma_is_running(rdma));
	/* It may be stopped and started again. */
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(shca_rdma_start(rdma), 0);
		assert_int_equal(shca_rdma_start(rdma), 0);
		assert_true(shca_rdma_is_running(rdma));
		if (i == 0)
			shca_rdma_stop(rdma);
	}
	pollfd.fd = shca_ucma_open(ucma, true);
	assert_true(pollfd.fd >= 0);
	assert_int_equal(resolve(ucma, pollfd.fd).event, ADDR_RESOLVED);
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	shca_device_lock(devices[0]);
	shca_device_die(devices[0]);
	shca_device_unlock(devices[0]);
	assert_int_equal(poll(&pollfd, 1, PATIENCE_MS), 1);
	command(ucma, pollfd.fd, RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get), sizeof(event));
	assert_int_equal(event.event, DEVICE_REMOVAL);
	/* A program that goes takes its identifiers along. */
	assert_int_equal(shca_ucma_nb_ids(ucma), 1);
	close(pollfd.fd);
	for (unsigned int i = 0; i < PATIENCE_MS && shca_ucma_nb_ids(ucma) != 0; i++)
		usleep(1000);
	assert_int_equal(shca_ucma_nb_ids(ucma), 0);
	shca_rdma_stop(rdma);
	assert_false(shca_rdma_is_running(rdma));
	shca_rdma_stop(rdma);
	close_both(rdma);
}

/** A path's static rate is IB_RATE_PORT_CURRENT at any speed. */
static void
path_has_no_rate(void **state)
{
	struct shca_device *devices[NB_DEVICES];
	struct shca_rdma *rdma = open_both(devices);
	struct shca_ucma *ucma = shca_rdma_ucma(rdma);
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_event_resp event;
	const struct rdma_ucm_get_event get = { .response = (uintptr_t)&event };
	struct rdma_ucm_resolve_route resolve_route = { .timeout_ms = 1000 };
	struct rdma_ucm_query query = { .response = (uintptr_t)&route };
	const int fd = shca_ucma_open(ucma, true);

	(void)state;
	assert_true(fd >= 0);
	devices[0]->conf.speed_mbps = 100000;
	resolve_route.id = query.id = resolve(ucma, fd).id;
	command(ucma, fd, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &resolve_route, sizeof(resolve_route), 0);
	command(ucma, fd, RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get), sizeof(event));
	command(ucma, fd, RDMA_USER_CM_CMD_QUERY_ROUTE, &query, sizeof(query), sizeof(route));
	assert_int_equal(route.num_paths, 1);
	assert_int_equal(route.ib_route[0].rate, IBV_RATE_MAX);
	assert_int_equal(route.port_num, 1);
	assert_int_equal(route.ibdev_index, 0);
	close(fd);
	close_both(rdma);
}

/** A way is by a device that is there, though the netdev of one that has gone has one, too. */
static void
way_is_by_a_device_that_is_there(void **state)
{
	struct shca_device *devices[NB_DEVICES];
	struct shca_rdma *rdma = open_both(devices);
	struct shca_ucma *ucma;
	int fd;

	(void)state;
	ucma = shca_rdma_ucma(rdma);
	fd = shca_ucma_open(ucma, true);
	assert_true(fd >= 0);
	assert_int_equal(resolve(ucma, fd).event, ADDR_RESOLVED);
	shca_device_lock(devices[0]);
	shca_device_die(devices[0]);
	shca_device_unlock(devices[0]);
	assert_int_equal(resolve(ucma, fd).event, ADDR_RESOLVED);
	close(fd);
	close_both(rdma);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(way_is_by_a_device_that_is_there),
		cmocka_unit_test(thread_is_woken),
		cmocka_unit_test(path_has_no_rate),
	};

	return cmocka_run_group_tests_name("rdma", tests, NULL, NULL);
}
