/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event descriptors. libibverbs waits in ibv_destroy_cq until it has acknowledged as many events as
 * the answer says: a wrong count hangs the application for ever, so what counts is what was read.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "rig.h"

static int
create_channel(struct rig *rig)
{
	const struct ib_uverbs_create_comp_channel request = { 0 };
	struct ib_uverbs_create_comp_channel_resp response;
	const struct command command = {
		.number = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};

	assert_int_equal(command_run(rig->file, &command), 0);
	return (int)response.fd;
}

static uint32_t
create_cq(struct rig *rig, int channel, uint64_t user_handle)
{
	struct cq_request request;

	cq_request_init(rig, &request);
	request.channel = channel;
	request.user_handle = user_handle;
	assert_int_equal(cq_request_run(rig, &request), 0);
	return request.handle;
}

static struct ib_uverbs_destroy_cq_resp
destroy_cq(struct rig *rig, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp response;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	frame_handle(&frame, UVERBS_ATTR_DESTROY_CQ_HANDLE, handle);
	frame_out(&frame, UVERBS_ATTR_DESTROY_CQ_RESP, &response, sizeof(response));
	assert_int_equal(frame_run(rig->file, &frame), 0);
	return response;
}

/** As the device does when an armed CQ gets a completion, or fails. */
static void
raise_event(struct rig *rig, uint32_t handle, bool is_completion)
{
	struct shca_cq_object *cq = rig_object(rig, handle);

	if (is_completion)
		cq->nb_comp_events +=
			shca_eventq_send_completion(cq->channel, cq->object.user_handle);
	else
		cq->nb_async_events += shca_eventq_send_async(
			cq->async, cq->object.user_handle, SHCA_EVENT_CQ_ERR);
}

static void
test_descriptors_are_real(void **state)
{
	struct rig *rig = *state;
	int channel = create_channel(rig);
	uint32_t cq = create_cq(rig, channel, 0xabcdef);
	struct pollfd pollfd = { .fd = channel, .events = POLLIN };
	struct ib_uverbs_comp_event_desc record;

	assert_true(fcntl(channel, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(channel, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	assert_int_equal(read(channel, &record, sizeof(record)), -1);
	assert_int_equal(errno, EAGAIN);
	raise_event(rig, cq, true);
	raise_event(rig, cq, true);
	assert_int_equal(poll(&pollfd, 1, 0), 1);
	/* One record a read, however much is asked for. */
	assert_int_equal(read(channel, &record, sizeof(record)), sizeof(record));
	assert_int_equal(record.cq_handle, 0xabcdef);
	assert_int_equal(read(channel, &record, sizeof(record)), sizeof(record));
	assert_int_equal(read(channel, &record, sizeof(record)), -1);
	close(channel);
}

/** A program may give objects the same handle, or that of a port's number: what is no event of its
 * own an object does not take along. */
static void
test_same_handles(void **state)
{
	struct rig *rig = *state;
	int channel = create_channel(rig);
	uint32_t first = create_cq(rig, channel, 1);
	uint32_t second = create_cq(rig, channel, 1);
	struct ib_uverbs_destroy_cq_resp response;
	struct ib_uverbs_comp_event_desc record;
	struct ib_uverbs_async_event_desc async;

	assert_int_equal(fcntl(channel, F_SETFL, O_NONBLOCK), 0);
	raise_event(rig, first, true);
	assert_true(shca_eventq_send_async(rig->file->async, 1, SHCA_EVENT_PORT_ERR));
	response = destroy_cq(rig, second);
	assert_int_equal(response.comp_events_reported, 0);
	assert_int_equal(response.async_events_reported, 0);
	assert_int_equal(read(rig->async_fd, &async, sizeof(async)), sizeof(async));
	assert_int_equal(async.event_type, SHCA_EVENT_PORT_ERR);
	assert_int_equal(read(channel, &record, sizeof(record)), sizeof(record));
	response = destroy_cq(rig, first);
	assert_int_equal(response.comp_events_reported, 1);
	close(channel);
}

static void
test_destroy_counts_what_was_read(void **state)
{
	struct rig *rig = *state;
	int channel = create_channel(rig);
	uint32_t first = create_cq(rig, channel, 1);
	uint32_t second = create_cq(rig, channel, 2);
	struct ib_uverbs_destroy_cq_resp response;
	struct ib_uverbs_comp_event_desc record;
	struct ib_uverbs_async_event_desc async;

	for (unsigned int i = 0; i < 5; i++) {
		raise_event(rig, first, true);
		raise_event(rig, second, true);
	}
	raise_event(rig, first, false);
	raise_event(rig, second, false);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(read(channel, &record, sizeof(record)), sizeof(record));
	response = destroy_cq(rig, first);
	assert_int_equal(response.comp_events_reported, 2); /* 1 2 1 were read */
	assert_int_equal(response.async_events_reported, 0);
	/* The other's records are still there, in order, and nothing of the first. */
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(read(channel, &record, sizeof(record)), sizeof(record));
		assert_int_equal(record.cq_handle, 2);
	}
	assert_int_equal(recv(channel, &record, sizeof(record), MSG_DONTWAIT), -1);
	assert_int_equal(read(rig->async_fd, &async, sizeof(async)), sizeof(async));
	assert_int_equal(async.element, 2);
	assert_int_equal(async.event_type, 0);
	response = destroy_cq(rig, second);
	assert_int_equal(response.comp_events_reported, 5);
	assert_int_equal(response.async_events_reported, 1);
	close(channel);
}

/** What happens to the port is told on every asynchronous descriptor of every context. */
static void
test_port_events(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_query_port_resp_ex response;
	struct ib_uverbs_async_event_desc async;
	struct frame frame;

	for (unsigned int i = 0; i < 2; i++) {
		bool up = i == 1;

		shca_device_set_link(rig->dev, up);
		assert_int_equal(read(rig->async_fd, &async, sizeof(async)), sizeof(async));
		assert_int_equal(async.element, 1);
		assert_int_equal(async.event_type, up ? 9 : 10); /* PORT_ACTIVE, PORT_ERR */
		frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
		frame_const(&frame, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
		frame_out(&frame, UVERBS_ATTR_QUERY_PORT_RESP, &response, sizeof(response));
		assert_int_equal(frame_run(rig->file, &frame), 0);
		assert_int_equal(response.legacy_resp.state, up ? 4 : 1);
		assert_int_equal(response.legacy_resp.phys_state, up ? 5 : 3);
	}
	assert_int_equal(recv(rig->async_fd, &async, sizeof(async), MSG_DONTWAIT), -1);
}

/** Hundreds of unread records of other objects survive a destruction. */
static void
test_many_unread_records(void **state)
{
	struct rig *rig = *state;
	int channel = create_channel(rig);
	uint32_t first = create_cq(rig, channel, 1);
	uint32_t second = create_cq(rig, channel, 2);
	struct ib_uverbs_comp_event_desc record;

	for (unsigned int i = 0; i < 100; i++) {
		raise_event(rig, first, true);
		raise_event(rig, second, true);
	}
	assert_int_equal(destroy_cq(rig, first).comp_events_reported, 0);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(
			recv(channel, &record, sizeof(record), MSG_DONTWAIT), sizeof(record));
	assert_int_equal(destroy_cq(rig, second).comp_events_reported, 100);
	close(channel);
}

static void
test_closed_channels_are_swept_up(void **state)
{
	struct rig *rig = *state;
	int channel = create_channel(rig);
	uint32_t cq = create_cq(rig, channel, 1);
	struct shca_eventq *queue;
	unsigned int nb_queues = 0;

	close(channel);
	/* The number is somebody else's now: not a channel, though the queue lives on in the CQ. */
	assert_null(shca_eventq_find(rig->file, SHCA_EVENTQ_COMPLETION, channel));
	raise_event(rig, cq, true);
	assert_int_equal(destroy_cq(rig, cq).comp_events_reported, 0);
	for (unsigned int i = 0; i < 10; i++)
		close(create_channel(rig));
	LIST_FOREACH (queue, &rig->file->eventqs, link)
		nb_queues++;
	assert_uint_in_range(nb_queues, 1, 2); /* the async one, and the last channel at most */
}

static void
test_a_channel_is_no_async_descriptor(void **state)
{
	struct rig *rig = *state;
	struct cq_request request;

	cq_request_init(rig, &request);
	request.channel = rig->async_fd;
	assert_int_equal(cq_request_run(rig, &request), -EBADF);
}

/**
 * The whole way: an armed CQ, a send queue that executes a NOP, the device's step, the descriptor.
 */
static void
test_completion_of_an_armed_cq(void **state)
{
	struct rig *rig = *state;
	int channel = create_channel(rig);
	uint32_t cq = create_cq(rig, channel, 42);
	struct mlx5_wqe_ctrl_seg *control = (void *)rig->ring[3];
	struct ib_uverbs_comp_event_desc record;
	struct qp_request qp;

	qp_request_init(rig, &qp, cq, -1);
	assert_int_equal(qp_request_run(rig, &qp), 0);
	assert_int_equal(
		rig_modify_qp(rig, qp.handle, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT), 0);
	assert_int_equal(rig_modify_qp(rig, qp.handle, IBV_QP_STATE, IBV_QPS_RTR), 0);
	assert_int_equal(rig_modify_qp(rig, qp.handle, IBV_QP_STATE, IBV_QPS_RTS), 0);
	rig->dbrec[0][1] = htobe32(0); /* arm: sequence 0, any completion, consumer index 0 */
	control->opmod_idx_opcode = htobe32(MLX5_OPCODE_NOP);
	control->qpn_ds = htobe32(qp.number << 8 | 1);
	control->fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE;
	rig->dbrec[2][1] = htobe32(1);
	for (unsigned int i = 0; i < 10; i++)
		shca_device_step(rig->dev);
	assert_int_equal(recv(channel, &record, sizeof(record), MSG_DONTWAIT), sizeof(record));
	assert_int_equal(record.cq_handle, 42);
	/* Fired once, until it is armed again. */
	for (unsigned int i = 0; i < 10; i++)
		shca_device_step(rig->dev);
	assert_int_equal(recv(channel, &record, sizeof(record), MSG_DONTWAIT), -1);
	close(channel);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_descriptors_are_real),
		TEST(test_same_handles),
		TEST(test_destroy_counts_what_was_read),
		TEST(test_port_events),
		TEST(test_many_unread_records),
		TEST(test_closed_channels_are_swept_up),
		TEST(test_a_channel_is_no_async_descriptor),
		TEST(test_completion_of_an_armed_cq),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
