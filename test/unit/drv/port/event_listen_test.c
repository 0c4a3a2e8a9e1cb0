/* SPDX-License-Identifier: BSD-3-Clause */
/* Who listens to what, with an EAL that calls back when it is told to: installation and removal
 * with each step failing, and what one call of a handler makes of a batch of events. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "kernel/netdev.h"
#include "kernel/netlink.h"
#include "port/event.h"
#include "port/link.h"
#include "queue/rx/rx_intr.h"
#include "trace.h"

#define NETDEV 5
#define BOTH   (RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV)

static struct rig_port rig;
static struct mdv_rxq rxq;
static struct mdv_txq txq;
static struct ibv_cq cqs[2];
static struct ibv_wq wq;
static struct ibv_qp qp;

/** The EAL and the device. */
static struct {
	rte_intr_callback_fn device, netdev; /* handlers; NULL: not registered */
	int device_fd, netlink_fd;
	bool is_up, is_intr, is_news;
	struct ibv_async_event events[4];
	unsigned int nb_events, nb_taken, nb_acked;
	int error; /* errno after the last event */
	unsigned int nb_links;
} eal;

int __real_fcntl(int fd, int command, int argument);

/* Which of the two fcntl() is depends on the machine. */
TRACE_FAKE(int, fcntl, int fd, int command, int argument)
{
	errno = EBADF;
	return trace_call("fcntl %d", command) == 0 ? __real_fcntl(fd, command, argument) : -1;
}

TRACE_FAKE(int, fcntl64, int fd, int command, int argument)
{
	errno = EBADF;
	return trace_call("fcntl %d", command) == 0 ? __real_fcntl(fd, command, argument) : -1;
}

TRACE_FAKE(int, rte_intr_callback_register, const struct rte_intr_handle *handle,
	rte_intr_callback_fn callback, void *arg)
{
	const int fd = rte_intr_fd_get(handle);
	const bool is_device = fd == eal.device_fd;

	assert_ptr_equal(arg, &rig.port);
	assert_int_equal(rte_intr_type_get(handle), RTE_INTR_HANDLE_EXT);
	assert_true(is_device || fd == eal.netlink_fd);
	assert_true(__real_fcntl(fd, F_GETFL, 0) & O_NONBLOCK);
	if (trace_call(is_device ? "device" : "netdev") != 0)
		return -1;
	/* It may be called at once. */
	assert_ptr_equal(is_device ? rig.port.event.handle : rig.port.event.netdev, handle);
	*(is_device ? &eal.device : &eal.netdev) = callback;
	return 0;
}

TRACE_FAKE(int, rte_intr_callback_unregister_sync, const struct rte_intr_handle *handle,
	rte_intr_callback_fn callback, void *arg)
{
	assert_non_null(handle);
	assert_ptr_equal(arg, &rig.port);
	trace_call("sync %s", callback == eal.device ? "device" : "netdev");
	return 1;
}

TRACE_FAKE(int, rte_intr_callback_unregister_pending, const struct rte_intr_handle *handle,
	rte_intr_callback_fn callback, void *arg, rte_intr_unregister_callback_fn after)
{
	assert_non_null(handle);
	assert_ptr_equal(arg, &rig.port);
	assert_null(after);
	return 1 + trace_call("pending %s", callback == eal.device ? "device" : "netdev");
}

TRACE_FAKE(int, rte_thread_is_intr, void)
{
	return eal.is_intr;
}

TRACE_FAKE(int, rte_eth_dev_callback_process, struct rte_eth_dev *dev, enum rte_eth_event_type type,
	void *param)
{
	assert_ptr_equal(dev, &rig.dev);
	assert_null(param);
	return trace_call(type == RTE_ETH_EVENT_INTR_LSC ? "lsc" : "rmv");
}

TRACE_FAKE(int, mdv_link_update, struct rte_eth_dev *dev, int wait)
{
	assert_ptr_equal(dev, &rig.dev);
	assert_int_equal(wait, 0);
	eal.nb_links++;
	dev->data->dev_link.link_status = eal.is_up;
	return 0;
}

TRACE_FAKE(int, mdv_netlink_open, void)
{
	return trace_call("open") == 0 ? eal.netlink_fd : trace.result;
}

TRACE_FAKE(bool, mdv_netlink_read, int fd, const struct mdv_device *device)
{
	assert_int_equal(fd, eal.netlink_fd);
	assert_ptr_equal(device, &rig.port.device);
	return eal.is_news;
}

TRACE_FAKE(void, mdv_netlink_look, struct mdv_port *port, uint16_t *mtu)
{
	assert_ptr_equal(mtu, &port->event.netdev_mtu);
	trace_call("look");
}

TRACE_FAKE(int, mdv_netdev_get_mtu, unsigned int ifindex, uint16_t *mtu)
{
	assert_int_equal(ifindex, NETDEV);
	*mtu = 1777;
	return 0;
}

TRACE_FAKE(void, mdv_rx_intr_wake, const struct mdv_port *port, uint16_t idx)
{
	assert_ptr_equal(port, &rig.port);
	trace_call("wake %u", idx);
}

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	assert_ptr_equal(context, rig.port.device.ctx);
	errno = eal.error;
	if (eal.nb_taken == eal.nb_events)
		return -1;
	*event = eal.events[eal.nb_taken++];
	return 0;
}

void
ibv_ack_async_event(struct ibv_async_event *event)
{
	assert_non_null(event);
	eal.nb_acked++;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	trace_clear();
	memset(&eal, 0, sizeof(eal));
	memset(&rxq, 0, sizeof(rxq));
	memset(&txq, 0, sizeof(txq));
	eal.device_fd = dup(STDERR_FILENO);
	eal.netlink_fd = dup(STDERR_FILENO);
	eal.error = EAGAIN;
	eal.is_up = true;
	rig.port.device.ctx = rig.wq->context;
	rig.port.device.ctx->async_fd = eal.device_fd;
	rig.port.device.ifindex = NETDEV;
	rxq.idx = 4;
	rxq.objs.wq = &wq;
	rxq.objs.cq.ibv_cq = &cqs[0];
	txq.idx = 5;
	txq.objs.qp = &qp;
	txq.objs.cq.ibv_cq = &cqs[1];
	mdv_queue_list_init(&rig.port.queues);
	LIST_INSERT_HEAD(&rig.port.queues.rx, &rxq, next);
	LIST_INSERT_HEAD(&rig.port.queues.tx, &txq, next);
	return 0;
}

static int
port_free(void **state)
{
	(void)state;
	mdv_event_remove(&rig.port);
	assert_null(rig.port.event.handle);
	assert_null(rig.port.event.netdev);
	close(eal.device_fd);
	close(eal.netlink_fd);
	return 0;
}

static bool
is_open(int fd)
{
	return __real_fcntl(fd, F_GETFD, 0) >= 0;
}

static void
a_port_listens_to_both(void **state)
{
	(void)state;
	rig.data.dev_flags = 1u << 30;
	mdv_event_install(&rig.port);
	trace_check("open; fcntl 3; fcntl 4; netdev; fcntl 3; fcntl 4; device; ");
	assert_int_equal(rig.data.dev_flags, BOTH | 1u << 30);
	assert_true(rig.port.event.up);
	assert_int_equal(rig.port.event.netdev_mtu, 1777);
	assert_int_equal(eal.nb_links, 1);
	mdv_event_remove(&rig.port);
	trace_check("sync device; sync netdev; ");
	/* The socket is the port's, the other is verbs's. */
	assert_false(is_open(eal.netlink_fd));
	assert_true(is_open(eal.device_fd));
	mdv_event_remove(&rig.port);
	trace_check("");
}

static void
a_port_without_netdev_listens_to_the_device(void **state)
{
	(void)state;
	rig.port.device.ifindex = 0;
	eal.is_up = false;
	mdv_event_install(&rig.port);
	trace_check("fcntl 3; fcntl 4; device; ");
	assert_false(rig.port.event.up);
	assert_null(rig.port.event.netdev);
}

/** One that cannot be listened to does not keep the port from the other. */
static void
what_cannot_be_listened_to_is_left(void **state)
{
	static const struct {
		const char *fails;
		uint32_t flags;
		bool has_netdev, closes;
		const char *calls;
	} cases[] = {
		{ "open", BOTH, false, false, "open; fcntl 3; fcntl 4; device; " },
		{ "netdev", BOTH, false, true,
			"open; fcntl 3; fcntl 4; netdev; fcntl 3; fcntl 4; device; " },
		{ "device", 0, true, false,
			"open; fcntl 3; fcntl 4; netdev; fcntl 3; fcntl 4; device; " },
		{ "fcntl 3", 0, false, true, "open; fcntl 3; fcntl 3; " },
		{ "fcntl 4", 0, false, true, "open; fcntl 3; fcntl 4; fcntl 3; fcntl 4; " },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		port_free(state);
		port_make(state);
		rig.data.dev_flags = BOTH;
		trace.fails = cases[i].fails;
		trace.result = -EMFILE;
		mdv_event_install(&rig.port);
		trace_check(cases[i].calls);
		assert_int_equal(rig.data.dev_flags, cases[i].flags);
		assert_int_equal(rig.port.event.netdev != NULL, cases[i].has_netdev);
		assert_int_equal(rig.port.event.handle != NULL, cases[i].flags != 0);
		assert_int_equal(is_open(eal.netlink_fd), !cases[i].closes);
	}
}

/** In the handler EAL unregisters when it has returned. */
static void
a_handler_may_remove_itself(void **state)
{
	(void)state;
	eal.is_intr = true;
	mdv_event_install(&rig.port);
	trace_clear();
	mdv_event_remove(&rig.port);
	trace_check("pending device; pending netdev; ");
	/* Another thread's handler is waited for. */
	port_free(state);
	port_make(state);
	eal.is_intr = true;
	mdv_event_install(&rig.port);
	trace_clear();
	trace.fails = "pending device";
	trace.result = -1;
	mdv_event_remove(&rig.port);
	trace_check("pending device; sync device; pending netdev; ");
}

static void
raise_event(enum ibv_event_type type, void *object, int port_num)
{
	struct ibv_async_event event = { .event_type = type };

	event.element.cq = object;
	if (object == NULL)
		event.element.port_num = port_num;
	eal.events[eal.nb_events++] = event;
}

/** A batch is one call, however many events there are. */
static void
a_batch_is_told_once(void **state)
{
	static const struct {
		enum ibv_event_type types[3];
		int port_num;
		bool is_up, lsc, rmv;
		unsigned int nb_links;
		const char *calls;
	} cases[] = {
		{ { IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR }, 1, false, true,
			true, 1, "lsc; " },
		{ { IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ERR }, 1, false, false,
			true, 1, "" },
		{ { IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ERR }, 2, false, true,
			true, 0, "" },
		{ { IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR, IBV_EVENT_GID_CHANGE }, 1, true,
			true, true, 1, "" },
		{ { IBV_EVENT_GID_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_GID_CHANGE }, 1, false,
			true, true, 0, "" },
		{ { IBV_EVENT_PORT_ERR, IBV_EVENT_DEVICE_FATAL, IBV_EVENT_PORT_ERR }, 1, false,
			true, true, 1, "rmv; " },
		{ { IBV_EVENT_DEVICE_FATAL, IBV_EVENT_GID_CHANGE, IBV_EVENT_GID_CHANGE }, 1, false,
			true, false, 1, "lsc; " },
		{ { IBV_EVENT_DEVICE_FATAL, IBV_EVENT_GID_CHANGE, IBV_EVENT_GID_CHANGE }, 1, false,
			false, false, 1, "" },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		port_free(state);
		port_make(state);
		mdv_event_install(&rig.port);
		trace_clear();
		rig.data.dev_conf.intr_conf.lsc = cases[i].lsc;
		rig.data.dev_conf.intr_conf.rmv = cases[i].rmv;
		for (unsigned int k = 0; k < 3; k++)
			raise_event(cases[i].types[k], NULL, cases[i].port_num);
		eal.is_up = cases[i].is_up;
		eal.nb_links = 0;
		eal.device(&rig.port);
		trace_check(cases[i].calls);
		assert_int_equal(eal.nb_acked, 3);
		assert_int_equal(eal.nb_links, cases[i].nb_links);
		/* Nothing new. */
		eal.device(&rig.port);
		trace_check("");
	}
}

/** EAGAIN and EINTR are the end of a batch; with others the device has gone. */
static void
a_device_that_cannot_be_read_is_gone(void **state)
{
	static const int codes[] = { EAGAIN, EINTR, EIO, ENODEV };

	for (unsigned int i = 0; i < RTE_DIM(codes); i++) {
		port_free(state);
		port_make(state);
		mdv_event_install(&rig.port);
		trace_clear();
		rig.data.dev_conf.intr_conf.rmv = 1;
		eal.error = codes[i];
		eal.device(&rig.port);
		trace_check(i < 2 ? "" : "pending device; rmv; ");
		assert_int_equal(rig.port.event.removed, i >= 2);
		assert_int_equal(mdv_event_is_removed(&rig.dev), i >= 2);
		eal.device(&rig.port);
		trace_check(i < 2 ? "" : "pending device; ");
	}
}

static void
a_netdev_is_looked_at(void **state)
{
	(void)state;
	mdv_event_install(&rig.port);
	trace_clear();
	rig.data.dev_conf.intr_conf.lsc = 1;
	eal.is_up = false;
	eal.netdev(&rig.port);
	trace_check("");
	eal.is_news = true;
	eal.netdev(&rig.port);
	trace_check("look; lsc; ");
	eal.netdev(&rig.port);
	trace_check("look; ");
	rig.data.dev_conf.intr_conf.lsc = 0;
	eal.is_up = true;
	eal.netdev(&rig.port);
	trace_check("look; ");
	assert_true(rig.port.event.up);
}

/** An event of a queue's object breaks that queue, and is noted for it. */
static void
events_find_their_queues(void **state)
{
	static const struct {
		enum ibv_event_type type;
		void *object;
		bool of_rxq, of_txq, breaks;
		const char *calls;
	} cases[] = {
		{ IBV_EVENT_CQ_ERR, &cqs[0], true, false, true, "wake 4; " },
		{ IBV_EVENT_CQ_ERR, &cqs[1], false, true, true, "" },
		{ IBV_EVENT_WQ_FATAL, &wq, true, false, false, "" },
		{ IBV_EVENT_QP_FATAL, &qp, false, true, false, "" },
		{ IBV_EVENT_QP_REQ_ERR, &qp, false, true, false, "" },
		{ IBV_EVENT_QP_ACCESS_ERR, &qp, false, true, false, "" },
		/* Of rules' destinations, or nobody's. */
		{ IBV_EVENT_CQ_ERR, &rig, false, false, false, "" },
		{ IBV_EVENT_WQ_FATAL, &rig, false, false, false, "" },
		{ IBV_EVENT_QP_FATAL, &rig, false, false, false, "" },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const bool none = !cases[i].of_rxq && !cases[i].of_txq;

		port_free(state);
		port_make(state);
		mdv_event_install(&rig.port);
		trace_clear();
		raise_event(cases[i].type, cases[i].object, 0);
		eal.device(&rig.port);
		trace_check(cases[i].calls);
		assert_int_equal(rxq.logged, cases[i].of_rxq ? 1u << cases[i].type : 0);
		assert_int_equal(txq.logged, cases[i].of_txq ? 1u << cases[i].type : 0);
		assert_int_equal(mdv_rxq_is_broken(&rxq), cases[i].breaks && cases[i].of_rxq);
		assert_int_equal(txq.ring.broken, cases[i].breaks && cases[i].of_txq);
		assert_int_equal(rig.port.event.other_logged, none);
		/* A start forgets what was logged. */
		rxq.logged_syndromes = txq.logged_syndromes = 1;
		eal.nb_links = 0;
		mdv_event_start(&rig.port);
		assert_true(rxq.logged == 0 && txq.logged == 0);
		assert_true(rxq.logged_syndromes == 0 && txq.logged_syndromes == 0);
		assert_false(rig.port.event.other_logged);
		assert_int_equal(eal.nb_links, 0);
		rig.data.dev_conf.intr_conf.lsc = 1;
		mdv_event_start(&rig.port);
		assert_int_equal(eal.nb_links, 1);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, port_make, port_free)
	const struct CMUnitTest tests[] = {
		TEST(a_port_listens_to_both),
		TEST(a_port_without_netdev_listens_to_the_device),
		TEST(what_cannot_be_listened_to_is_left),
		TEST(a_handler_may_remove_itself),
		TEST(a_batch_is_told_once),
		TEST(a_device_that_cannot_be_read_is_gone),
		TEST(a_netdev_is_looked_at),
		TEST(events_find_their_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
