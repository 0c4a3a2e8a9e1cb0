/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pair 1: datagrams that leave, stay, come, and those that nobody may see. */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "base/node.h"
#include "hw/roce/qp1.h"
#include "transport/packet/roce.h"

#define QKEY 0x80010000u

static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0, 0x77 };

struct heard {
	unsigned int nb, device;
	struct shca_qp1_datagram last;
};

static void
hear(void *arg, unsigned int device, const struct shca_qp1_datagram *datagram)
{
	struct heard *heard = arg;

	heard->nb++;
	heard->device = device;
	heard->last = *datagram;
}

static void
setup(struct rig *rig, struct heard *heard)
{
	rig_init(rig);
	rig_open(rig);
	memset(heard, 0, sizeof(*heard));
	shca_qp1_listen(rig->dev, hear, heard);
}

static struct shca_qp1_datagram
datagram_to(const struct rig *rig, const uint8_t *mac, bool is_v2)
{
	struct shca_qp1_datagram datagram = { .is_v2 = is_v2 };

	shca_node_gid(shca_device_conf(rig->dev)->mac, datagram.local);
	shca_node_gid(mac, datagram.remote);
	for (unsigned int i = 0; i < sizeof(datagram.bytes); i++)
		datagram.bytes[i] = (uint8_t)(i * 7);
	return datagram;
}

static void
leaves_by_both_versions(void **state)
{
	struct heard heard;
	struct rig rig;

	(void)state;
	for (unsigned int v2 = 0; v2 < 2; v2++) {
		struct shca_qp1_datagram datagram;
		struct shca_roce_path path;
		struct shca_bth bth;

		setup(&rig, &heard);
		datagram = datagram_to(&rig, other_mac, v2 != 0);
		assert_int_equal(shca_qp1_send(rig.dev, &datagram), 0);
		rig_run(&rig);
		assert_int_equal(rig.wire.nb_sent, 1);
		assert_int_equal(shca_roce_read(rig.wire.sent[0].bytes, rig.wire.sent[0].length,
					 &path, &bth),
			SHCA_ROCE_GOOD);
		assert_int_equal(path.is_v2, v2);
		assert_memory_equal(path.dmac, other_mac, 6);
		assert_memory_equal(path.sgid, datagram.local, 16);
		assert_memory_equal(path.dgid, datagram.remote, 16);
		assert_int_equal(bth.opcode, SHCA_BTH_UD | SHCA_BTH_SEND_ONLY);
		assert_int_equal(bth.qpn, 1);
		assert_int_equal(bth.src_qpn, 1);
		assert_int_equal(bth.qkey, QKEY);
		assert_int_equal(bth.payload_bytes, sizeof(datagram.bytes));
		assert_memory_equal(bth.payload, datagram.bytes, sizeof(datagram.bytes));
		assert_int_equal(heard.nb, 0);
		rig_close(&rig);
	}
}

static void
to_the_port_itself_stays(void **state)
{
	struct shca_qp1_datagram datagram;
	struct heard heard;
	struct rig rig;

	(void)state;
	setup(&rig, &heard);
	datagram = datagram_to(&rig, shca_device_conf(rig.dev)->mac, true);
	assert_int_equal(shca_qp1_send(rig.dev, &datagram), 0);
	assert_int_equal(heard.nb, 0);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 0);
	assert_int_equal(heard.nb, 1);
	assert_memory_equal(heard.last.bytes, datagram.bytes, sizeof(datagram.bytes));
	/* Nobody listens any more. */
	shca_qp1_listen(rig.dev, NULL, NULL);
	assert_int_equal(shca_qp1_send(rig.dev, &datagram), 0);
	rig_run(&rig);
	assert_int_equal(heard.nb, 1);
	rig_close(&rig);
}

static void
waits_for_the_wire(void **state)
{
	struct shca_qp1_datagram datagram;
	struct heard heard;
	struct rig rig;
	unsigned int nb = 0;

	(void)state;
	setup(&rig, &heard);
	rig.wire.room = 0;
	datagram = datagram_to(&rig, other_mac, true);
	while (shca_qp1_send(rig.dev, &datagram) == 0)
		nb++;
	assert_int_equal(shca_qp1_send(rig.dev, &datagram), -ENOBUFS);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 0);
	rig.wire.room = RIG_WIRE_FRAMES / 2;
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, RIG_WIRE_FRAMES / 2);
	assert_int_equal(shca_qp1_send(rig.dev, &datagram), 0);
	assert_true(nb > RIG_WIRE_FRAMES);
	/* What waits goes with the device. */
	rig_close(&rig);
}

static void
is_not_sent_from_foreign_gids(void **state)
{
	struct shca_qp1_datagram datagram;
	struct heard heard;
	struct rig rig;

	(void)state;
	setup(&rig, &heard);
	datagram = datagram_to(&rig, other_mac, true);
	datagram.local[15]++;
	assert_int_equal(shca_qp1_send(rig.dev, &datagram), -EADDRNOTAVAIL);
	rig_close(&rig);
}

static void
hears_what_is_right(void **state)
{
	static const struct {
		uint8_t opcode;
		uint16_t pkey;
		uint32_t qkey, bytes;
		bool is_heard;
	} rows[] = {
		{ SHCA_BTH_UD | SHCA_BTH_SEND_ONLY, 0xffff, QKEY, 256, true },
		{ SHCA_BTH_UD | SHCA_BTH_SEND_ONLY_IMM, 0xffff, QKEY, 256, false },
		{ SHCA_BTH_RC | SHCA_BTH_SEND_ONLY, 0xffff, QKEY, 256, false },
		{ SHCA_BTH_UD | SHCA_BTH_SEND_ONLY, 0x7fff, QKEY, 256, false },
		{ SHCA_BTH_UD | SHCA_BTH_SEND_ONLY, 0xffff, 0x11111111, 256, false },
		{ SHCA_BTH_UD | SHCA_BTH_SEND_ONLY, 0xffff, QKEY, 252, false },
		{ SHCA_BTH_UD | SHCA_BTH_SEND_ONLY, 0xffff, QKEY, 260, false },
	};
	struct heard heard;
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shca_roce_path path = { .is_v2 = true, .udp_source = 0xc000 };
		uint8_t frame[1024], payload[512];
		const struct shca_bth bth = {
			.opcode = rows[i].opcode,
			.pkey = rows[i].pkey,
			.qkey = rows[i].qkey,
			.qpn = 1,
			.src_qpn = 1,
			.payload = payload,
			.payload_bytes = rows[i].bytes,
		};
		uint32_t at;

		setup(&rig, &heard);
		memset(payload, (int)i, sizeof(payload));
		shca_node_gid(other_mac, path.sgid);
		shca_node_gid(shca_device_conf(rig.dev)->mac, path.dgid);
		memcpy(path.dmac, shca_device_conf(rig.dev)->mac, 6);
		at = shca_roce_write_headers(&path, &bth, frame);
		memcpy(frame + at, payload, bth.payload_bytes);
		rig_come(&rig.wire, frame, shca_roce_finish(&path, &bth, frame));
		rig_run(&rig);
		assert_int_equal(heard.nb, rows[i].is_heard);
		if (rows[i].is_heard) {
			assert_int_equal(heard.device, 0);
			assert_true(heard.last.is_v2);
			assert_memory_equal(heard.last.local, path.dgid, 16);
			assert_memory_equal(heard.last.remote, path.sgid, 16);
			assert_memory_equal(heard.last.bytes, payload, 256);
		}
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_by_both_versions),
		cmocka_unit_test(to_the_port_itself_stays),
		cmocka_unit_test(waits_for_the_wire),
		cmocka_unit_test(is_not_sent_from_foreign_gids),
		cmocka_unit_test(hears_what_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
