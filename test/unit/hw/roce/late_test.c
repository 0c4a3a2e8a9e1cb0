/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that has come is acknowledged, whatever its program does next with the queue pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hw/queue/out.h"
#include "hw/roce/late.h"
#include "hw/roce/state.h"

#define DEST 0x123
#define PSN  7

static struct shca_device dev;
static struct shca_roce_qp qp;
static unsigned int nb_frames;
static struct shca_bth last;

static enum shca_take
take(void *arg)
{
	(void)arg;
	return SHCA_TAKE_DONE;
}

static enum shca_outcome
scatter(void *arg, uint32_t offset, uint32_t length, const uint8_t *from)
{
	(void)arg;
	(void)offset;
	(void)length;
	(void)from;
	return SHCA_OUTCOME_SUCCESS;
}

static void
received(void *arg, const struct shca_received *message)
{
	(void)arg;
	(void)message;
}

static bool
allows(void *arg, enum shca_remote what)
{
	(void)arg;
	(void)what;
	return true;
}

static uint8_t *
remote(void *arg, enum shca_remote what, uint32_t rkey, uint64_t va, uint32_t length)
{
	static uint8_t bytes[64];

	(void)arg;
	(void)what;
	(void)rkey;
	(void)va;
	assert_true(length <= sizeof(bytes));
	return bytes;
}

static const struct shca_responder_host host = {
	.take = take,
	.scatter = scatter,
	.received = received,
	.allows = allows,
	.remote = remote,
};

/** The port's own address: what it sends comes back at once. */
static bool
take_frame(struct shca_device *device, const struct shca_frame *frame)
{
	struct shca_roce_path path;

	assert_ptr_equal(device, &dev);
	assert_int_equal(shca_roce_read(frame->bytes, frame->length, &path, &last), SHCA_ROCE_GOOD);
	nb_frames++;
	return true;
}

static int
set_up(void **state)
{
	(void)state;
	memset(&dev, 0, sizeof(dev));
	memset(&qp, 0, sizeof(qp));
	nb_frames = 0;
	STAILQ_INIT(&dev.roce_late);
	dev.take_roce = take_frame;
	dev.conf.mac[0] = 2;
	qp.dev = &dev;
	qp.attr.type = SHCA_ROCE_RC;
	qp.state = SHCA_ROCE_RTS;
	qp.conf.dest_qpn = DEST;
	qp.conf.path.is_v2 = true;
	memcpy(qp.conf.path.dmac, dev.conf.mac, sizeof(dev.conf.mac));
	shca_responder_init(&qp.responder,
		&(struct shca_responder_conf){
			.host = &host,
			.is_reliable = true,
			.mtu = 1024,
			.psn = PSN,
			.max_dest_rd_atomic = 1,
		});
	return shca_out_init(&dev.out);
}

static int
tear_down(void **state)
{
	(void)state;
	shca_late_fini(&dev);
	shca_out_fini(&dev.out);
	return 0;
}

static void
come(uint8_t opcode, uint32_t psn)
{
	const struct shca_bth bth = { .opcode = opcode, .psn = psn, .ack_req = true };

	shca_responder_receive(&qp.responder, &bth);
}

static void
test_is_sent(void **state)
{
	(void)state;
	come(SHCA_BTH_SEND_ONLY, PSN);
	shca_late_keep(&qp);
	qp.state = SHCA_ROCE_RESET;
	shca_late_send(&dev);
	assert_int_equal(nb_frames, 1);
	assert_int_equal(last.opcode, SHCA_BTH_ACK);
	assert_int_equal(last.psn, PSN);
	assert_int_equal(last.qpn, DEST);
	assert_int_equal(last.syndrome & 0x60, SHCA_AETH_ACK);
	shca_late_send(&dev);
	assert_int_equal(nb_frames, 1);
}

/** Memory is the program's again when its queue pair is gone. */
static void
test_a_read_is_not(void **state)
{
	(void)state;
	come(SHCA_BTH_READ_REQUEST, PSN);
	shca_late_keep(&qp);
	assert_true(STAILQ_EMPTY(&dev.roce_late));
	shca_late_send(&dev);
	assert_int_equal(nb_frames, 0);
}

/** Before RTR it has received nothing; a datagram is not acknowledged. */
static void
test_nothing_is_owed(void **state)
{
	(void)state;
	shca_late_keep(&qp);
	come(SHCA_BTH_SEND_ONLY, PSN);
	qp.state = SHCA_ROCE_INIT;
	shca_late_keep(&qp);
	qp.state = SHCA_ROCE_RTS;
	qp.is_dead = true;
	shca_late_keep(&qp);
	assert_true(STAILQ_EMPTY(&dev.roce_late));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_is_sent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_read_is_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_is_owed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
