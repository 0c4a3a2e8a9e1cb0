/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a fake device, handled by EAL's own interrupt thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_log.h>

#include "base/log.h"
#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "port/event.h"
#include "rig.h"

/** Polls, a millisecond apart, after which an event no longer counts as late. */
#define PATIENCE 60000

/** The device: its events come through a pipe. */
static struct {
	int fds[2];
	_Atomic int nb_acked;
	int error; /**< errno at the end of reading */
	_Atomic enum ibv_port_state link;
} device;

/** Events that the application got. */
static struct {
	_Atomic unsigned int nb_lsc, nb_rmv;
	bool close;
} heard;

static char *logged;
static size_t logged_size;
static FILE *log_stream;
static struct ibv_wq wq;
static struct ibv_qp qp;
static struct ibv_cq rx_cq, tx_cq;
static struct mdv_rxq rxq;
static struct mdv_txq txq;

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	assert_int_equal(context->async_fd, device.fds[0]);
	if (read(context->async_fd, event, sizeof(*event)) == sizeof(*event))
		return 0;
	if (device.error != 0)
		errno = device.error;
	return -1;
}

void
ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	device.nb_acked++;
}

static int
query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr, size_t size)
{
	(void)context;
	(void)size;
	assert_int_equal(port_num, 1);
	memset(attr, 0, sizeof(*attr));
	attr->state = device.link;
	attr->active_speed = 32;
	attr->active_width = 1;
	return 0;
}

static int
on_event(uint16_t port_id, enum rte_eth_event_type type, void *arg, void *param)
{
	struct rig_port *rig = arg;

	(void)port_id;
	(void)param;
	if (heard.close) {
		mdv_event_remove(&rig->port);
		close(device.fds[0]);
		device.fds[0] = -1;
		/* The handler must no longer use it. */
		rig->port.dev = NULL;
		rig->port.device.ctx = NULL;
	}
	if (type == RTE_ETH_EVENT_INTR_LSC)
		heard.nb_lsc++;
	else
		heard.nb_rmv++;
	return 0;
}

/** Make a port of ethdev's, so that it calls back, with a queue of each kind. */
static int
rig_make(void **state)
{
	static struct rig_port rig;
	struct verbs_context *context;
	struct rte_eth_dev *dev;

	rig_port_init(&rig);
	memset(&device, 0, sizeof(device));
	memset(&heard, 0, sizeof(heard));
	assert_int_equal(pipe(device.fds), 0);
	device.link = IBV_PORT_ACTIVE;
	context = verbs_get_ctx(rig.wq->context);
	context->query_port = query_port;
	context->context.async_fd = device.fds[0];
	rig.port.device.ctx = &context->context;

	dev = rte_eth_dev_allocate("event");
	assert_non_null(dev);
	dev->data->dev_private = &rig.port;
	dev->data->dev_conf.intr_conf.lsc = 1;
	dev->data->dev_conf.intr_conf.rmv = 1;
	rig.port.dev = dev;
	rte_eth_dev_probing_finish(dev);
	rte_eth_dev_callback_register(dev->data->port_id, RTE_ETH_EVENT_INTR_LSC, on_event, &rig);
	rte_eth_dev_callback_register(dev->data->port_id, RTE_ETH_EVENT_INTR_RMV, on_event, &rig);

	memset(&rxq, 0, sizeof(rxq));
	memset(&txq, 0, sizeof(txq));
	rxq.idx = 4;
	rxq.objs.wq = &wq;
	rxq.objs.cq.ibv_cq = &rx_cq;
	txq.idx = 5;
	txq.objs.qp = &qp;
	txq.objs.cq.ibv_cq = &tx_cq;
	mdv_queue_list_init(&rig.port.queues);
	LIST_INSERT_HEAD(&rig.port.queues.rx, &rxq, next);
	LIST_INSERT_HEAD(&rig.port.queues.tx, &txq, next);
	mdv_event_install(&rig.port);
	*state = &rig;
	return 0;
}

static int
rig_free(void **state)
{
	struct rig_port *rig = *state;
	struct rte_eth_dev *dev = rte_eth_dev_allocated("event");

	mdv_event_remove(&rig->port);
	/* A second call does nothing. */
	mdv_event_remove(&rig->port);
	dev->data->dev_private = NULL;
	rte_eth_dev_callback_unregister(dev->data->port_id, RTE_ETH_EVENT_INTR_LSC, on_event, rig);
	rte_eth_dev_callback_unregister(dev->data->port_id, RTE_ETH_EVENT_INTR_RMV, on_event, rig);
	rte_eth_dev_release_port(dev);
	if (device.fds[0] >= 0)
		close(device.fds[0]);
	close(device.fds[1]);
	return 0;
}

static void
raise_event(struct ibv_async_event event)
{
	assert_int_equal(write(device.fds[1], &event, sizeof(event)), sizeof(event));
}

static void
raise_port_event(enum ibv_event_type type, int port_num)
{
	raise_event((struct ibv_async_event){ .element.port_num = port_num, .event_type = type });
}

#define wait_until(condition)                                                                      \
	do {                                                                                       \
		unsigned int i_;                                                                   \
                                                                                                   \
		for (i_ = 0; !(condition) && i_ < PATIENCE; i_++)                                  \
			rte_delay_us_sleep(1000);                                                  \
		assert_true(condition);                                                            \
	} while (0)

static void
the_link_is_told_when_it_has_changed(void **state)
{
	struct rig_port *rig = *state;
	struct rte_eth_dev *dev = rig->port.dev;

	assert_int_equal(dev->data->dev_flags, RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV);
	assert_int_equal(dev->data->dev_link.link_status, RTE_ETH_LINK_UP);
	/* Events of another port, of the same state, of no interest. */
	device.link = IBV_PORT_DOWN;
	raise_port_event(IBV_EVENT_PORT_ERR, 2);
	raise_port_event(IBV_EVENT_GID_CHANGE, 1);
	wait_until(device.nb_acked == 2);
	assert_int_equal(heard.nb_lsc, 0);
	assert_int_equal(dev->data->dev_link.link_status, RTE_ETH_LINK_UP);

	raise_port_event(IBV_EVENT_PORT_ERR, 1);
	wait_until(heard.nb_lsc == 1);
	assert_int_equal(dev->data->dev_link.link_status, RTE_ETH_LINK_DOWN);
	assert_int_equal(dev->data->dev_link.link_speed, RTE_ETH_SPEED_NUM_NONE);
	raise_port_event(IBV_EVENT_PORT_ERR, 1);
	wait_until(device.nb_acked == 4);
	device.link = IBV_PORT_ACTIVE;
	raise_port_event(IBV_EVENT_PORT_ACTIVE, 1);
	wait_until(heard.nb_lsc == 2);
	assert_int_equal(dev->data->dev_link.link_status, RTE_ETH_LINK_UP);
	assert_int_equal(dev->data->dev_link.link_speed, RTE_ETH_SPEED_NUM_25G);
	/* Without lsc the application gets no event, but may query. */
	dev->data->dev_conf.intr_conf.lsc = 0;
	device.link = IBV_PORT_DOWN;
	raise_port_event(IBV_EVENT_PORT_ERR, 1);
	wait_until(dev->data->dev_link.link_status == RTE_ETH_LINK_DOWN);
	assert_int_equal(heard.nb_lsc, 2);
	assert_int_equal(heard.nb_rmv, 0);
	assert_int_equal(mdv_event_is_removed(dev), 0);
}

static void
a_dead_device_is_removed_once(void **state)
{
	struct rig_port *rig = *state;
	struct rte_eth_dev *dev = rig->port.dev;

	raise_port_event(IBV_EVENT_DEVICE_FATAL, 0);
	raise_port_event(IBV_EVENT_DEVICE_FATAL, 0);
	wait_until(device.nb_acked == 2);
	wait_until(heard.nb_rmv == 1);
	assert_int_equal(mdv_event_is_removed(dev), 1);
	/* Verbs may report any state. */
	assert_int_equal(dev->data->dev_link.link_status, RTE_ETH_LINK_DOWN);
	assert_int_equal(heard.nb_lsc, 0);
	mdv_event_remove(&rig->port);
	assert_int_equal(heard.nb_rmv, 1);
}

static void
a_device_that_cannot_be_read_is_gone(void **state)
{
	struct rig_port *rig = *state;

	device.error = EIO;
	raise_port_event(IBV_EVENT_GID_CHANGE, 1);
	wait_until(heard.nb_rmv == 1);
	assert_int_equal(mdv_event_is_removed(rig->port.dev), 1);
	/* The device is not queried again. */
	raise_port_event(IBV_EVENT_GID_CHANGE, 1);
	rte_delay_us_sleep(20000);
	assert_int_equal(device.nb_acked, 1);
}

static void
a_port_may_be_closed_in_its_callback(void **state)
{
	struct rig_port *rig = *state;

	heard.close = true;
	raise_port_event(IBV_EVENT_DEVICE_FATAL, 0);
	wait_until(heard.nb_rmv == 1);
	assert_null(rig->port.event.handle);
}

/** Lines of the log that have @p text. */
static unsigned int
nb_logged(const char *text)
{
	unsigned int nb = 0;
	const char *at;

	fflush(log_stream);
	for (at = logged; (at = strstr(at, text)) != NULL; at++)
		nb++;
	return nb;
}

/* clang-format off */
static const struct {
	struct ibv_async_event event;
	const char *says;
} broken[] = {
	{ { .element.wq = &wq, .event_type = IBV_EVENT_WQ_FATAL },
		"port 0 Rx queue 4: WQ fatal: nothing is received until a burst has restarted it" },
	{ { .element.cq = &rx_cq, .event_type = IBV_EVENT_CQ_ERR },
		"port 0 Rx queue 4: CQ error: no completion comes any more; a burst" },
	{ { .element.cq = &tx_cq, .event_type = IBV_EVENT_CQ_ERR },
		"port 0 Tx queue 5: CQ error: no completion comes any more; a burst" },
	{ { .element.qp = &qp, .event_type = IBV_EVENT_QP_FATAL },
		"port 0 Tx queue 5: local work queue catastrophic error: nothing is sent until" },
	{ { .element.qp = &qp, .event_type = IBV_EVENT_QP_ACCESS_ERR },
		"port 0 Tx queue 5: local access violation work queue error: nothing is sent" },
	{ { .element.qp = NULL, .event_type = IBV_EVENT_QP_FATAL },
		"port 0: local work queue catastrophic error of a rule's destination: its" },
};
/* clang-format on */

static void
a_broken_queue_is_told_once_a_start(void **state)
{
	struct rig_port *rig = *state;
	unsigned int round, i;
	int nb = 0;

	rte_log_set_level(mdv_log_type, RTE_LOG_INFO);
	log_stream = open_memstream(&logged, &logged_size);
	assert_non_null(log_stream);
	rte_openlog_stream(log_stream);
	for (round = 0; round < 4; round++) {
		if (round == 2)
			mdv_event_start(&rig->port);
		for (i = 0; i < RTE_DIM(broken); i++) {
			raise_event(broken[i].event);
			nb++;
		}
		wait_until(device.nb_acked == nb);
		for (i = 0; i < RTE_DIM(broken); i++)
			assert_int_equal(nb_logged(broken[i].says), round < 2 ? 1 : 2);
	}
	/* The polling threads will recreate them. */
	assert_true(rxq.ring.runtime_opts & MDV_RX_RUNTIME_BROKEN);
	assert_true(txq.ring.broken);
	/* Those that are released have their objects for the next ones. */
	LIST_REMOVE(&rxq, next);
	LIST_REMOVE(&txq, next);
	rxq.ring.runtime_opts = 0;
	txq.ring.broken = false;
	rig->port.parked = &rxq;
	rig->port.parked_tx = &txq;
	raise_event(broken[1].event);
	raise_event(broken[2].event);
	nb += 2;
	wait_until(device.nb_acked == nb);
	assert_true(rxq.ring.runtime_opts & MDV_RX_RUNTIME_BROKEN);
	assert_true(txq.ring.broken);
	/* Queues that are gone are not touched. */
	rig->port.parked = NULL;
	rig->port.parked_tx = NULL;
	raise_event(broken[0].event);
	wait_until(device.nb_acked == nb + 1);
	mdv_event_remove(&rig->port);
	rte_openlog_stream(NULL);
	fclose(log_stream);
	free(logged);
	rte_log_set_level(mdv_log_type, RTE_LOG_EMERG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_link_is_told_when_it_has_changed, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(a_dead_device_is_removed_once, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			a_device_that_cannot_be_read_is_gone, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			a_port_may_be_closed_in_its_callback, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			a_broken_queue_is_told_once_a_start, rig_make, rig_free),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
