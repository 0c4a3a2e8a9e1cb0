/* SPDX-License-Identifier: BSD-3-Clause */
/** @file GIDs of a port, as the addresses of its netdev come and go, and the MACs behind others. */
#include <errno.h>
#include <string.h>

#include "roce_end.h"

#include "hw/state/device.h"

static const uint8_t own[16] = { 0xfe, 0x80, [8] = 0x02 ^ 0x02, [11] = 0xff, 0xfe, 0, 0, 1 };
static const uint8_t four[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
static const uint8_t six[16] = { 0xfd, [15] = 1 };

static void
setup(struct rig *rig)
{
	rig_init(rig);
	rig_open(rig);
}

/** @return whether the table has changed. */
static bool
set_ips(struct rig *rig, const uint8_t (*ips)[16], unsigned int nb)
{
	rig->dev->port[0].netdev.ips = ips;
	rig->dev->port[0].netdev.nb_ips = nb;
	return shca_gid_update(rig->dev);
}

/** Both versions of a GID are at @p index, and behind it. */
static void
assert_is_at(const struct rig *rig, uint32_t index, const uint8_t gid[16])
{
	uint8_t found[16];
	bool is_v2;

	for (uint32_t v2 = 0; v2 < 2; v2++) {
		assert_true(shca_gid_get(rig->dev, index + v2, found, &is_v2));
		assert_memory_equal(found, gid, sizeof(found));
		assert_int_equal(is_v2, v2);
	}
	assert_true(shca_gid_is_own(rig->dev, gid));
}

static void
assert_is_empty(const struct rig *rig, uint32_t index)
{
	uint8_t gid[16];
	bool is_v2;

	assert_false(shca_gid_get(rig->dev, index, gid, &is_v2));
	assert_false(shca_gid_get(rig->dev, index + 1, gid, &is_v2));
}

static void
are_made_of_the_mac(void **state)
{
	struct rig rig;

	(void)state;
	setup(&rig);
	assert_int_equal(shca_gid_nb(rig.dev), SHCA_NB_GIDS);
	assert_is_at(&rig, 0, own);
	assert_is_empty(&rig, 2);
	assert_false(shca_gid_is_own(rig.dev, four));
	rig_close(&rig);
}

static void
follow_the_netdev(void **state)
{
	uint8_t ips[3][16];
	struct rig rig;

	(void)state;
	setup(&rig);
	memcpy(ips[0], four, 16);
	memcpy(ips[1], six, 16);
	/* The netdev's link-local one, which is the MAC's. */
	memcpy(ips[2], own, 16);
	assert_true(set_ips(&rig, ips, 3));
	assert_is_at(&rig, 0, own);
	assert_is_at(&rig, 2, four);
	assert_is_at(&rig, 4, six);
	assert_is_empty(&rig, 6);
	assert_false(set_ips(&rig, ips, 3));
	/* The other one keeps its place, and the MAC's stays. */
	assert_true(set_ips(&rig, ips + 1, 1));
	assert_is_at(&rig, 0, own);
	assert_is_empty(&rig, 2);
	assert_is_at(&rig, 4, six);
	assert_false(shca_gid_is_own(rig.dev, four));
	assert_true(set_ips(&rig, ips, 2));
	assert_is_at(&rig, 2, four);
	assert_true(set_ips(&rig, NULL, 0));
	assert_is_empty(&rig, 4);
	rig_close(&rig);
}

/** An address handle names its source by the index, so that this must not become another's as long
 * as the handle is there (Linux core/cache.c: an entry that is pending for removal is not free). */
static void
keep_the_place_of_an_address_handle(void **state)
{
	struct shca_ah ah = { .sgid_index = 3 };
	uint8_t ips[2][16];
	struct rig rig;

	(void)state;
	setup(&rig);
	memcpy(ips[0], four, 16);
	memcpy(ips[1], six, 16);
	assert_true(set_ips(&rig, ips, 1));
	assert_is_at(&rig, 2, four);
	shca_ah_add(rig.dev, &ah);
	assert_true(set_ips(&rig, ips + 1, 1));
	assert_is_empty(&rig, 2);
	assert_is_at(&rig, 4, six);
	shca_ah_remove(&ah);
	assert_true(set_ips(&rig, ips, 2));
	assert_is_at(&rig, 2, four);
	assert_is_at(&rig, 4, six);
	rig_close(&rig);
}

/** Likewise a queue pair, until it has no path any more. */
static void
keep_the_place_of_a_queue_pair(void **state)
{
	const struct shca_roce_qp_conf none = { 0 };
	uint8_t ips[2][16];
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	memcpy(ips[0], four, 16);
	memcpy(ips[1], six, 16);
	assert_true(set_ips(&end.rig, ips, 1));
	memcpy(end.conf.path.sgid, four, 16);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RTS, &end.conf);
	assert_true(set_ips(&end.rig, ips + 1, 1));
	assert_is_empty(&end.rig, 2);
	assert_is_at(&end.rig, 4, six);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RESET, &none);
	assert_true(set_ips(&end.rig, ips, 2));
	assert_is_at(&end.rig, 2, four);
	disconnect_end(&end);
}

/** One that comes back, which may be often, takes no further place. */
static void
come_back_to_their_place(void **state)
{
	uint8_t ip[1][16];
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	memcpy(ip[0], four, 16);
	memcpy(end.conf.path.sgid, four, 16);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RTS, &end.conf);
	for (unsigned int i = 0; i < SHCA_NB_GIDS; i++) {
		assert_true(set_ips(&end.rig, ip, 1));
		assert_is_at(&end.rig, 2, four);
		assert_true(set_ips(&end.rig, ip, 0));
		assert_is_empty(&end.rig, 2);
	}
	disconnect_end(&end);
}

/** It names no place that nothing was in. */
static void
have_room_beside_a_queue_pair_without_a_path(void **state)
{
	const struct shca_roce_qp_conf none = { 0 };
	uint8_t ip[1][16];
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RESET, &none);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_INIT, &none);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_ERROR, &none);
	memcpy(ip[0], four, 16);
	assert_true(set_ips(&end.rig, ip, 1));
	assert_is_at(&end.rig, 2, four);
	disconnect_end(&end);
}

/** The netdev may get another address than the device has. */
static void
follow_the_netdevs_mac(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0x77 };
	static const uint8_t wanted[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 0x77 };
	struct shca_gid_route route = { .sgid_index = 1 };
	struct shca_roce_path path;
	uint8_t found[6];
	struct rig rig;

	(void)state;
	setup(&rig);
	memcpy(rig.dev->port[0].netdev.mac, mac, sizeof(mac));
	assert_true(set_ips(&rig, NULL, 0));
	assert_is_at(&rig, 0, wanted);
	assert_false(shca_gid_is_own(rig.dev, own));
	assert_true(shca_gid_path(rig.dev, &route, &path));
	assert_memory_equal(path.smac, mac, sizeof(mac));
	assert_int_equal(shca_gid_resolve(rig.dev, wanted, found), 0);
	assert_memory_equal(found, mac, sizeof(mac));
	assert_false(set_ips(&rig, NULL, 0));
	rig_close(&rig);
}

static void
end_where_the_table_ends(void **state)
{
	uint8_t ips[SHCA_NB_GIDS][16] = { 0 };
	struct rig rig;

	(void)state;
	setup(&rig);
	for (unsigned int i = 0; i < SHCA_NB_GIDS; i++) {
		memcpy(ips[i], four, 16);
		ips[i][15] = (uint8_t)i;
	}
	assert_true(set_ips(&rig, ips, SHCA_NB_GIDS));
	assert_is_at(&rig, SHCA_NB_GIDS - 2, ips[SHCA_NB_GID_PAIRS - 2]);
	assert_false(shca_gid_is_own(rig.dev, ips[SHCA_NB_GID_PAIRS - 1]));
	assert_is_empty(&rig, SHCA_NB_GIDS);
	rig_close(&rig);
}

static void
are_not_there_on_representors(void **state)
{
	struct shca_device manager = { .conf = { .nb_vports = 3 } };
	uint8_t gid[16];
	bool is_v2;

	(void)state;
	shca_gid_init(&manager);
	assert_int_equal(shca_gid_nb(&manager), 0);
	assert_false(shca_gid_get(&manager, 0, gid, &is_v2));
}

static void
are_resolved(void **state)
{
	static const struct {
		uint8_t gid[16];
		bool is_known;
		uint8_t mac[6];
	} rows[] = {
		{ { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 1 }, true, { 2, 0, 0, 0, 0, 1 } },
		{ { 0xfe, 0x80, [8] = 0x50, 1, 2, 0xff, 0xfe, 3, 4, 5 }, true,
			{ 0x52, 1, 2, 3, 4, 5 } },
		{ { 0xff, 0x0e, [12] = 9, 8, 7, 6 }, true, { 0x33, 0x33, 9, 8, 7, 6 } },
		{ { [10] = 0xff, 0xff, 239, 0x81, 2, 3 }, true, { 1, 0, 0x5e, 1, 2, 3 } },
		{ { [10] = 0xff, 0xff, 10, 0, 0, 2 }, false, { 0 } },
	};
	struct rig rig;

	(void)state;
	setup(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t mac[6] = { 0 };

		assert_int_equal(shca_gid_resolve(rig.dev, rows[i].gid, mac),
			rows[i].is_known ? 0 : -EHOSTUNREACH);
		assert_memory_equal(mac, rows[i].mac, sizeof(mac));
	}
	rig_close(&rig);
}

/** IBTA has payloads of 256 to 4096 bytes; headers take 96 (Linux rdma/ib_addr.h iboe_get_mtu). */
static void
the_mtu_follows_the_netdev(void **state)
{
	static const struct {
		uint32_t netdev;
		uint8_t mtu;
	} rows[] = { { 0, IBV_MTU_1024 }, { 68, 0 }, { 351, 0 }, { 352, IBV_MTU_256 },
		{ 1119, IBV_MTU_512 }, { 1120, IBV_MTU_1024 }, { 1500, IBV_MTU_1024 },
		{ 4191, IBV_MTU_2048 }, { 4192, IBV_MTU_4096 }, { 9000, IBV_MTU_4096 } };
	struct rig rig;

	(void)state;
	setup(&rig);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig.dev->port[0].netdev.mtu = rows[i].netdev;
		assert_int_equal(shca_gid_port_mtu(rig.dev), rows[i].mtu);
	}
	rig_close(&rig);
}

/** A flow is known, and goes by rules; then its destination becomes the port's own. */
static void
known_flows(void **state)
{
	uint8_t frame[512], ips[1][16];
	struct rig rig;
	struct shca_cqe cqe;
	uint32_t length = rig_packet(frame, RIG_IPV4_UDP, false, 64);

	(void)state;
	rig_put16(frame + 36, 4791);
	memcpy(frame + 30, four + 12, 4);
	rig_put16(frame + 24, 0);
	rig_put16(frame + 24, (uint16_t)~rig_naive_sum(frame + 14, 20, 0));
	setup(&rig);
	memcpy(frame, shca_device_conf(rig.dev)->mac, 6);
	rig_fill_rx(&rig, 8);
	rig_come(&rig.wire, frame, length);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	memcpy(ips[0], four, 16);
	assert_true(set_ips(&rig, ips, 1));
	rig_come(&rig.wire, frame, length);
	rig_run(&rig);
	assert_false(rig_poll(&rig.rx, &cqe));
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_made_of_the_mac),
		cmocka_unit_test(known_flows),
		cmocka_unit_test(follow_the_netdev),
		cmocka_unit_test(keep_the_place_of_an_address_handle),
		cmocka_unit_test(keep_the_place_of_a_queue_pair),
		cmocka_unit_test(come_back_to_their_place),
		cmocka_unit_test(have_room_beside_a_queue_pair_without_a_path),
		cmocka_unit_test(follow_the_netdevs_mac),
		cmocka_unit_test(end_where_the_table_ends),
		cmocka_unit_test(are_not_there_on_representors),
		cmocka_unit_test(are_resolved),
		cmocka_unit_test(the_mtu_follows_the_netdev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
