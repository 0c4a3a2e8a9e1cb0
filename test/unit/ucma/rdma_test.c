/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager of two devices, of which one goes. */
#include <netinet/in.h>
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

/** A way is by a device that is there, though the netdev of one that has gone has one, too. */
static void
way_is_by_a_device_that_is_there(void **state)
{
	static struct side side[NB_DEVICES];
	struct shca_device *devices[NB_DEVICES];
	const struct shca_rdma_conf conf = { .devices = devices, .nb_devices = NB_DEVICES };
	struct shca_rdma *rdma;
	struct shca_ucma *ucma;
	int fd;

	(void)state;
	for (unsigned int i = 0; i < NB_DEVICES; i++) {
		open_side(&side[i], (uint8_t)(i + 1));
		devices[i] = side[i].rig.dev;
	}
	assert_int_equal(shca_rdma_create(&conf, &rdma), 0);
	ucma = shca_rdma_ucma(rdma);
	fd = shca_ucma_open(ucma, true);
	assert_true(fd >= 0);
	assert_int_equal(resolve(ucma, fd).event, ADDR_RESOLVED);
	shca_device_lock(devices[0]);
	shca_device_die(devices[0]);
	shca_device_unlock(devices[0]);
	assert_int_equal(resolve(ucma, fd).event, ADDR_RESOLVED);
	close(fd);
	shca_rdma_destroy(rdma);
	for (unsigned int i = 0; i < NB_DEVICES; i++)
		close_side(&side[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(way_is_by_a_device_that_is_there),
	};

	return cmocka_run_group_tests_name("rdma", tests, NULL, NULL);
}
