/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of connection management to a port where nobody has opened rdma_cm. */
#include "../hw/rig.h"

#include <string.h>

#include "base/node.h"
#include "cm/mad.h"
#include "hw/device/device.h"
#include "hw/roce/qp1.h"
#include "transport/packet/roce.h"
#include "ucma/nobody.h"

static void
listening(struct rig *rig, struct shca_qp1_datagram *datagram, bool is_v2)
{
	static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0, 0x77 };

	rig_init(rig);
	rig_open(rig);
	shca_device_lock(rig->dev);
	shca_nobody_listen(rig->dev);
	shca_device_unlock(rig->dev);
	*datagram = (struct shca_qp1_datagram){ .is_v2 = is_v2 };
	shca_node_gid(other_mac, datagram->local);
	shca_node_gid(shca_device_conf(rig->dev)->mac, datagram->remote);
}

/** Have it come as a frame of the other side. */
static void
come(struct rig *rig, const struct shca_qp1_datagram *datagram)
{
	static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0, 0x77 };
	struct shca_roce_path path = { .is_v2 = datagram->is_v2, .hop_limit = 64 };
	struct shca_bth bth = {
		.opcode = SHCA_BTH_UD | SHCA_BTH_SEND_ONLY,
		.pkey = 0xffff,
		.qpn = 1,
		.qkey = 0x80010000u,
		.src_qpn = 1,
		.payload = datagram->bytes,
		.payload_bytes = sizeof(datagram->bytes),
	};
	uint8_t frame[512];
	uint32_t at;

	memcpy(path.dmac, shca_device_conf(rig->dev)->mac, sizeof(path.dmac));
	memcpy(path.smac, other_mac, sizeof(path.smac));
	memcpy(path.sgid, datagram->local, sizeof(path.sgid));
	memcpy(path.dgid, datagram->remote, sizeof(path.dgid));
	at = shca_roce_write_headers(&path, &bth, frame);
	memcpy(frame + at, datagram->bytes, sizeof(datagram->bytes));
	rig_come(&rig->wire, frame, shca_roce_finish(&path, &bth, frame));
	rig_run(rig);
}

/** @return the only answer, which goes to where the question was from. */
static struct shca_mad
answer_of(const struct rig *rig, const struct shca_qp1_datagram *question)
{
	struct shca_roce_path path;
	struct shca_mad mad;
	struct shca_bth bth;

	assert_int_equal(rig->wire.nb_sent, 1);
	assert_int_equal(
		shca_roce_read(rig->wire.sent[0].bytes, rig->wire.sent[0].length, &path, &bth),
		SHCA_ROCE_GOOD);
	assert_int_equal(bth.qpn, 1);
	assert_int_equal(path.is_v2, question->is_v2);
	assert_memory_equal(path.dgid, question->local, sizeof(path.dgid));
	assert_memory_equal(path.sgid, question->remote, sizeof(path.sgid));
	assert_int_equal(shca_mad_read(bth.payload, bth.payload_bytes, &mad), 0);
	return mad;
}

static void
request_is_refused(void **state)
{
	(void)state;
	for (unsigned int v2 = 0; v2 < 2; v2++) {
		const struct shca_mad request = {
			.kind = SHCA_MAD_REQ, .tid = 0x1234, .local_id = 77, .qpn = 5, .ca_guid = 9
		};
		struct shca_qp1_datagram datagram;
		struct shca_mad answer;
		struct rig rig;

		listening(&rig, &datagram, v2 != 0);
		shca_mad_write(&request, datagram.bytes);
		come(&rig, &datagram);
		answer = answer_of(&rig, &datagram);
		assert_int_equal(answer.kind, SHCA_MAD_REJ);
		assert_int_equal(answer.reason, SHCA_MAD_INVALID_SERVICE_ID);
		assert_int_equal(answer.about, SHCA_MAD_ABOUT_REQ);
		assert_int_equal(answer.remote_id, 77);
		assert_int_equal(answer.tid, 0x1234);
		rig_close(&rig);
	}
}

static void
service_is_unsupported(void **state)
{
	const struct shca_mad request = { .kind = SHCA_MAD_SIDR_REQ, .tid = 3, .local_id = 4 };
	struct shca_qp1_datagram datagram;
	struct shca_mad answer;
	struct rig rig;

	(void)state;
	listening(&rig, &datagram, true);
	shca_mad_write(&request, datagram.bytes);
	come(&rig, &datagram);
	answer = answer_of(&rig, &datagram);
	assert_int_equal(answer.kind, SHCA_MAD_SIDR_REP);
	assert_int_equal(answer.reason, SHCA_MAD_SIDR_UNSUPPORTED);
	assert_int_equal(answer.tid, 3);
	rig_close(&rig);
}

static void
answers_and_garbage_are_dropped(void **state)
{
	const struct shca_mad reply = { .kind = SHCA_MAD_RTU, .local_id = 4, .remote_id = 5 };
	struct shca_qp1_datagram datagram;
	struct rig rig;

	(void)state;
	listening(&rig, &datagram, true);
	come(&rig, &datagram);
	shca_mad_write(&reply, datagram.bytes);
	come(&rig, &datagram);
	assert_int_equal(rig.wire.nb_sent, 0);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_is_refused),
		cmocka_unit_test(service_is_unsupported),
		cmocka_unit_test(answers_and_garbage_are_dropped),
	};

	return cmocka_run_group_tests_name("nobody", tests, NULL, NULL);
}
