/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for packets: descriptors that become readable, arms as the device reads them, and what is
 * closed when a step fails. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_power_intrinsics.h>

#include "queue/rx/rx_intr.h"
#include "queue/rx/rx_wake.h"
#include "queue/rx/rxq.h"
#include "trace.h"

#define NB_QUEUES 3

static struct rig_port rig;
static struct mdv_rxq rxqs[NB_QUEUES];
static void *rx_queues[NB_QUEUES];
static __be32 cq_dbrec[NB_QUEUES][2];
static struct mdv_hw_cqe *cqes;
static uint8_t uar[4096] __rte_aligned(4096);

/** The device's side. */
static struct {
	unsigned int nb_channels, nb_made;
	int channel_errno, destroy_result;
	int channel_fd;                   /* 0: a new one */
	unsigned int nb_events, nb_acked; /* of queue 1 */
	struct ibv_cq cq;
	struct ibv_context context;
	unsigned int nb_notified;
	int notify_result;
	struct ibv_cq_ex ex;
	unsigned int nb_looks, nb_waiting; /* completions that verbs has */
} device;
/** Which call of the C library fails: counted down; 0: none. */
static unsigned int fail_call;

static bool
fails(void)
{
	errno = EMFILE;
	return fail_call != 0 && --fail_call == 0;
}

/* In place of the C library's, by the linker's --wrap. */
int __real_eventfd(unsigned int value, int flags);
int __real_epoll_create1(int flags);
int __real_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
int __real_fcntl(int fd, int command, int argument);

TRACE_FAKE(int, eventfd, unsigned int value, int flags)
{
	assert_int_equal(flags, EFD_NONBLOCK | EFD_CLOEXEC);
	return fails() ? -1 : __real_eventfd(value, flags);
}

TRACE_FAKE(int, epoll_create1, int flags)
{
	assert_int_equal(flags, EPOLL_CLOEXEC);
	return fails() ? -1 : __real_epoll_create1(flags);
}

TRACE_FAKE(int, epoll_ctl, int epoll, int op, int fd, struct epoll_event *event)
{
	return fails() ? -1 : __real_epoll_ctl(epoll, op, fd, event);
}

/* Which of the two fcntl() is depends on the machine. */
TRACE_FAKE(int, fcntl, int fd, int command, int argument)
{
	return fails() ? -1 : __real_fcntl(fd, command, argument);
}

TRACE_FAKE(int, fcntl64, int fd, int command, int argument)
{
	return fails() ? -1 : __real_fcntl(fd, command, argument);
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel;

	assert_ptr_equal(context, &device.context);
	if (++device.nb_made == NB_QUEUES && device.channel_errno >= 0) {
		errno = device.channel_errno;
		return NULL;
	}
	channel = calloc(1, sizeof(*channel));
	assert_non_null(channel);
	channel->fd = device.channel_fd > 0 ? device.channel_fd : __real_eventfd(0, 0);
	device.nb_channels++;
	return channel;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	if (device.destroy_result != 0)
		return device.destroy_result;
	close(channel->fd);
	free(channel);
	device.nb_channels--;
	return 0;
}

int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	assert_ptr_equal(channel, rig.port.rx_wakes[1].channel);
	*cq = &device.cq;
	*context = NULL;
	if (device.nb_events == 0)
		return -1;
	device.nb_events--;
	return 0;
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nb)
{
	assert_ptr_equal(cq, &device.cq);
	device.nb_acked += nb;
}

static int
start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	(void)attr;
	assert_ptr_equal(ex, &device.ex);
	/* What comes between a look and the arm would be missed. */
	assert_int_equal(device.nb_notified, device.nb_looks + 1);
	device.nb_looks++;
	if (device.nb_waiting == 0)
		return ENOENT;
	device.nb_waiting--;
	return 0;
}

static void
end_poll(struct ibv_cq_ex *ex)
{
	assert_ptr_equal(ex, &device.ex);
}

static int
req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	assert_ptr_equal(cq, &device.cq);
	assert_int_equal(solicited_only, 0);
	device.nb_notified++;
	return device.notify_result;
}

static unsigned int
nb_open(void)
{
	unsigned int nb = 0;

	for (int fd = 0; fd < 64; fd++)
		nb += __real_fcntl(fd, F_GETFD, 0) >= 0;
	return nb;
}

static bool
is_readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	memset(&device, 0, sizeof(device));
	memset(rxqs, 0, sizeof(rxqs));
	memset(uar, 0, sizeof(uar));
	device.channel_errno = -1;
	device.cq.context = &device.context;
	device.context.ops.req_notify_cq = req_notify_cq;
	fail_call = 0;
	cqes = rig_cqes(64);
	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		rx_queues[i] = &rxqs[i];
		rxqs[i].port = &rig.port;
		rxqs[i].ring.cq_dbrec = cq_dbrec[i];
		rxqs[i].ring.cqes = cqes;
		rxqs[i].ring.mask = 63;
		rxqs[i].ring.log2_wqes = 6;
		rxqs[i].objs.cq.uar = uar;
		rxqs[i].objs.cq.ibv_cq = &device.cq;
	}
	rig.port.device.ctx = &device.context;
	rig.data.rx_queues = rx_queues;
	rig.data.nb_rx_queues = NB_QUEUES;
	rig.data.dev_conf.intr_conf.rxq = 1;
	return 0;
}

static int
port_free(void **state)
{
	(void)state;
	mdv_rx_intr_destroy(&rig.dev);
	assert_int_equal(device.nb_channels, 0);
	free(cqes);
	return 0;
}

static void
each_queue_has_a_descriptor(void **state)
{
	const unsigned int nb = nb_open();
	struct rte_intr_handle *handle;

	(void)state;
	assert_null(mdv_rx_intr_channel(&rig.port, 1));
	mdv_rx_intr_wake(&rig.port, 1);
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	assert_int_equal(device.nb_channels, NB_QUEUES);
	handle = rig.dev.intr_handle;
	assert_int_equal(rte_intr_fd_get(handle), -1);
	/* Each queue has its own, of which EAL reads nothing. */
	assert_int_equal(rte_intr_cap_multiple(handle), 1);
	assert_int_equal(rte_intr_type_get(handle), RTE_INTR_HANDLE_VDEV);
	assert_int_equal(rte_intr_efd_counter_size_get(handle), 0);
	assert_int_equal(rte_intr_nb_efd_get(handle), NB_QUEUES);
	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		assert_int_equal(
			rte_intr_vec_list_index_get(handle, i), RTE_INTR_VEC_RXTX_OFFSET + i);
		assert_int_equal(rte_intr_efds_index_get(handle, i), rig.port.rx_wakes[i].fd);
		assert_ptr_equal(mdv_rx_intr_channel(&rig.port, i), rig.port.rx_wakes[i].channel);
		assert_true(
			__real_fcntl(rig.port.rx_wakes[i].channel->fd, F_GETFL, 0) & O_NONBLOCK);
		assert_false(is_readable(rig.port.rx_wakes[i].fd));
	}
	mdv_rx_intr_destroy(&rig.dev);
	assert_null(rig.dev.intr_handle);
	assert_null(rig.port.rx_wakes);
	assert_int_equal(nb_open(), nb);
	mdv_rx_intr_destroy(&rig.dev);
}

static void
ports_without_interrupts_have_none(void **state)
{
	(void)state;
	rig.data.dev_conf.intr_conf.rxq = 0;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	assert_null(rig.port.rx_wakes);
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), -ENOTSUP);
	assert_int_equal(mdv_rx_intr_disable(&rig.dev, 1), -ENOTSUP);
	rig.data.dev_conf.intr_conf.rxq = 1;
	rig.data.nb_rx_queues = 0;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	assert_null(rig.port.rx_wakes);
	rig.data.nb_rx_queues = RTE_MAX_RXTX_INTR_VEC_ID + 1;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), -EINVAL);
	assert_null(rig.port.rx_wakes);
	rig.data.nb_rx_queues = NB_QUEUES;
}

/** Six calls of each queue, and each may fail. */
static void
what_was_opened_is_closed(void **state)
{
	const unsigned int nb = nb_open();

	for (unsigned int call = 1; call <= 6 * NB_QUEUES; call++) {
		fail_call = call;
		device.nb_made = 0;
		assert_int_equal(mdv_rx_intr_create(&rig.dev), -EMFILE);
		assert_null(rig.port.rx_wakes);
		assert_null(rig.dev.intr_handle);
		assert_int_equal(device.nb_channels, 0);
		assert_int_equal(nb_open(), nb);
	}
	fail_call = 0;
	for (int error = 0; error <= ENOSPC; error += ENOSPC) {
		device.nb_made = 0;
		device.channel_errno = error;
		assert_int_equal(mdv_rx_intr_create(&rig.dev), error == 0 ? -ENOMEM : -ENOSPC);
		assert_int_equal(device.nb_channels, 0);
		assert_int_equal(nb_open(), nb);
	}
	(void)state;
}

/** As the kernel's are: its flags are 0 then. */
static void
a_channel_for_reading_only_is_opened(void **state)
{
	struct mdv_rx_wake wake;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	device.channel_fd = ends[0];
	assert_int_equal(__real_fcntl(ends[0], F_GETFL, 0), 0);
	assert_int_equal(mdv_rx_wake_open(&device.context, &wake), 0);
	assert_int_equal(__real_fcntl(ends[0], F_GETFL, 0), O_NONBLOCK);
	assert_int_equal(mdv_rx_wake_close(&wake), 0);
	close(ends[1]);
}

static void
a_channel_that_stays_is_reported(void **state)
{
	struct mdv_rx_wake wake;

	(void)state;
	assert_int_equal(mdv_rx_wake_open(&device.context, &wake), 0);
	device.destroy_result = EBUSY;
	assert_int_equal(mdv_rx_wake_close(&wake), -EBUSY);
	device.destroy_result = 0;
	wake.fd = wake.self = -1;
	assert_int_equal(mdv_rx_wake_close(&wake), 0);
}

/** By the device's channel, and by the driver. */
static void
either_source_wakes(void **state)
{
	const uint64_t one = 1;
	struct mdv_rx_wake *wake;
	uint64_t count;

	(void)state;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	wake = &rig.port.rx_wakes[1];
	mdv_rx_intr_wake(&rig.port, 1);
	assert_true(is_readable(wake->fd));
	assert_false(is_readable(rig.port.rx_wakes[0].fd));
	mdv_rx_wake_clear(wake);
	assert_false(is_readable(wake->fd));
	mdv_rx_wake_clear(wake);
	assert_int_equal(write(wake->channel->fd, &one, sizeof(one)), sizeof(one));
	assert_true(is_readable(wake->fd));
	assert_int_equal(read(wake->channel->fd, &count, sizeof(count)), sizeof(count));
	assert_false(is_readable(wake->fd));
}

/** The word of an arm: sequence number, command, and up to where completions are taken. */
static void
arms_are_as_the_device_reads_them(void **state)
{
	static const struct {
		uint32_t arm_sn, cq_ci, nb_ready, nb_events, word;
	} cases[] = {
		{ 0, 0, 0, 0, 0 },
		{ 1, 5, 0, 0, 0x10000005 },
		{ 3, 5, 2, 0, 0x30000005 },
		{ 4, 5, 0, 0, 0x00000005 },
		{ 4, 5, 0, 3, 0x30000005 },
		{ 7, 0x01234567, 0, 0, 0x30234567 },
		{ 0, 1, 2, 0, 0x00000001 },
	};
	struct mdv_rxq *rxq = &rxqs[1];
	uint64_t rung;

	(void)state;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	rxq->objs.cq.cqn = 0x4711;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rxq->objs.cq.arm_sn = cases[i].arm_sn;
		rxq->pos.cq_ci = cases[i].cq_ci;
		rxq->nb_ready = cases[i].nb_ready;
		device.nb_events = cases[i].nb_events;
		device.nb_acked = 0;
		mdv_rx_intr_wake(&rig.port, 1);
		assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), 0);
		assert_int_equal(device.nb_events, 0);
		assert_int_equal(device.nb_acked, cases[i].nb_events);
		assert_int_equal(rxq->objs.cq.arm_sn, cases[i].arm_sn + cases[i].nb_events);
		assert_int_equal(rte_be_to_cpu_32(cq_dbrec[1][1]), cases[i].word);
		memcpy(&rung, uar + MLX5_CQ_DOORBELL, sizeof(rung));
		assert_int_equal(rte_be_to_cpu_64(rung), (uint64_t)cases[i].word << 32 | 0x4711);
		/* For packets of a block, which the device has told of. */
		assert_int_equal(is_readable(rig.port.rx_wakes[1].fd), cases[i].nb_ready != 0);
	}
	assert_int_equal(cq_dbrec[1][0], 0);
}

/** The device has told of it, and does not tell again. */
static void
a_completion_that_waits_wakes(void **state)
{
	struct mdv_rxq *rxq = &rxqs[1];
	struct mdv_hw_cqe *cqe = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask];

	(void)state;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	rxq->nb_ready = 0;
	mdv_cq_invalidate(cqe);
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), 0);
	assert_false(is_readable(rig.port.rx_wakes[1].fd));
	cqe->op_own = MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT |
		(rxq->pos.cq_ci >> rxq->ring.log2_wqes & MDV_HW_CQE_OWNER);
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), 0);
	assert_true(is_readable(rig.port.rx_wakes[1].fd));
	mdv_cq_invalidate(cqe);
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), 0);
	assert_false(is_readable(rig.port.rx_wakes[1].fd));
}

static void
disabling_takes_the_events(void **state)
{
	(void)state;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	mdv_rx_intr_wake(&rig.port, 1);
	device.nb_events = 2;
	memset(cq_dbrec, 0x55, sizeof(cq_dbrec));
	assert_int_equal(mdv_rx_intr_disable(&rig.dev, 1), 0);
	assert_int_equal(device.nb_acked, 2);
	assert_false(is_readable(rig.port.rx_wakes[1].fd));
	assert_int_equal(cq_dbrec[1][1], 0x55555555);
	rx_queues[1] = NULL;
	assert_int_equal(mdv_rx_intr_disable(&rig.dev, 1), -ENOTSUP);
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), -ENOTSUP);
}

/** Of whose CQ nothing comes, or whose completions were fetched already. */
static void
some_queues_wake_at_once(void **state)
{
	struct mdv_rxq *rxq = &rxqs[1];

	(void)state;
	assert_int_equal(mdv_rx_intr_create(&rig.dev), 0);
	rxq->ring.runtime_opts = MDV_RX_RUNTIME_BROKEN;
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), 0);
	assert_true(is_readable(rig.port.rx_wakes[1].fd));
	rxq->ring.runtime_opts = 0;
	/* Read by verbs, which has told of what it has, and does not tell again. */
	device.ex.start_poll = start_poll;
	device.ex.end_poll = end_poll;
	rxq->objs.cq.ex = &device.ex;
	rxq->objs.cq.cqes = rxq->ring.cqes;
	rxq->objs.cq.cqe_cnt = 64;
	rxq->objs.cq.log2_cqes = 6;
	rxq->objs.cq.pi = rxq->pos.cq_ci = 9;
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), 0);
	assert_false(is_readable(rig.port.rx_wakes[1].fd));
	assert_int_equal(device.nb_notified, 1);
	device.nb_waiting = 1;
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), 0);
	assert_true(is_readable(rig.port.rx_wakes[1].fd));
	assert_int_equal(rxq->objs.cq.pi, 10);
	/* Fetched already. */
	device.notify_result = EIO;
	assert_int_equal(mdv_rx_intr_enable(&rig.dev, 1), -EIO);
	assert_true(is_readable(rig.port.rx_wakes[1].fd));
	assert_int_equal(device.nb_notified, 3);
}

static void
the_next_completions_byte_is_watched(void **state)
{
	struct rte_power_monitor_cond cond;
	struct mdv_rxq *rxq = &rxqs[1];

	(void)state;
	for (uint32_t ci = 60; ci < 200; ci++) {
		struct mdv_hw_cqe *cqe = &cqes[ci % 64];

		rxq->pos.cq_ci = ci;
		assert_int_equal(mdv_rx_intr_monitor(rxq, &cond), 0);
		assert_ptr_equal(cond.addr, &cqe->op_own);
		assert_int_equal(cond.size, 1);
		/* Of the last lap, invalid, and of this lap. */
		cqe->op_own = MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT | (~ci / 64 & 1);
		assert_int_equal(cond.fn(cqe->op_own, cond.opaque), 0);
		cqe->op_own = MLX5_CQE_INVALID << MDV_HW_CQE_OPCODE_SHIFT | (ci / 64 & 1);
		assert_int_equal(cond.fn(cqe->op_own, cond.opaque), 0);
		cqe->op_own = MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT | (ci / 64 & 1);
		assert_int_equal(cond.fn(cqe->op_own, cond.opaque), -1);
	}
	/* What need not be waited for. */
	cqes[0].op_own = MLX5_CQE_INVALID << MDV_HW_CQE_OPCODE_SHIFT;
	rxq->nb_ready = 1;
	assert_int_equal(mdv_rx_intr_monitor(rxq, &cond), 0);
	assert_int_equal(cond.fn(cqes[0].op_own, cond.opaque), -1);
	rxq->nb_ready = 0;
	rxq->ring.runtime_opts = MDV_RX_RUNTIME_BROKEN;
	assert_int_equal(mdv_rx_intr_monitor(rxq, &cond), 0);
	assert_int_equal(cond.fn(cqes[0].op_own, cond.opaque), -1);
	rxq->objs.cq.ex = (struct ibv_cq_ex *)&device.cq;
	rig.port.device.caps.mode = MDV_MODE_IBV;
	assert_int_equal(mdv_rx_intr_monitor(rxq, &cond), -ENOTSUP);
	/* A queue that is not set up: ethdev does not look. */
	assert_int_equal(mdv_rx_intr_monitor(NULL, &cond), -EINVAL);
}

/** The pointer to its CQEs is of the last start, or NULL. */
static void
a_stopped_port_has_nothing_to_watch(void **state)
{
	const struct rte_power_monitor_cond before = { .size = 77 };
	struct rte_power_monitor_cond cond = before;
	struct mdv_rxq *rxq = &rxqs[1];

	(void)state;
	rxq->objs = (struct mdv_rxq_objs){ 0 };
	assert_int_equal(mdv_rx_intr_monitor(rxq, &cond), -EINVAL);
	assert_memory_equal(&cond, &before, sizeof(cond));
	/* This is true also before it starts. */
	rig.port.device.caps.mode = MDV_MODE_IBV;
	assert_int_equal(mdv_rx_intr_monitor(rxq, &cond), -ENOTSUP);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, port_make, port_free)
	const struct CMUnitTest tests[] = {
		TEST(each_queue_has_a_descriptor),
		TEST(ports_without_interrupts_have_none),
		TEST(what_was_opened_is_closed),
		TEST(a_channel_for_reading_only_is_opened),
		TEST(a_channel_that_stays_is_reported),
		TEST(either_source_wakes),
		TEST(arms_are_as_the_device_reads_them),
		TEST(a_completion_that_waits_wakes),
		TEST(disabling_takes_the_events),
		TEST(some_queues_wake_at_once),
		TEST(the_next_completions_byte_is_watched),
		TEST(a_stopped_port_has_nothing_to_watch),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
