/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the device's events and Linux's in EAL's interrupt thread, and passes them on. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_interrupts.h>

#include "base/log.h"
#include "event.h"
#include "kernel/netdev.h"
#include "kernel/netlink.h"
#include "link.h"
#include "queue/rx/rx_intr.h"
#include "queue/rx/rxq_ring.h"
#include "queue/tx/txq.h"
#include "state/port.h"

/** What to do after a batch of events. */
struct pending {
	bool link;
	bool fatal;
};

enum object {
	EVENT_OF_PORT,
	EVENT_OF_DEVICE,
	EVENT_OF_QP,
	EVENT_OF_CQ,
	EVENT_OF_WQ,
};

/* clang-format off */
static const struct row {
	enum ibv_event_type type;
	enum object object;
	const char *advice; /**< of a queue */
} event_rows[] = {
	{ IBV_EVENT_PORT_ACTIVE, EVENT_OF_PORT, NULL },
	{ IBV_EVENT_PORT_ERR, EVENT_OF_PORT, NULL },
	{ IBV_EVENT_DEVICE_FATAL, EVENT_OF_DEVICE, NULL },
	{ IBV_EVENT_CQ_ERR, EVENT_OF_CQ, "no completion comes any more; a burst recreates the queue" },
	{ IBV_EVENT_WQ_FATAL, EVENT_OF_WQ, "nothing is received until a burst has restarted it" },
	{ IBV_EVENT_QP_FATAL, EVENT_OF_QP, "nothing is sent until a burst has restarted it" },
	{ IBV_EVENT_QP_REQ_ERR, EVENT_OF_QP, "nothing is sent until a burst has restarted it" },
	{ IBV_EVENT_QP_ACCESS_ERR, EVENT_OF_QP, "nothing is sent until a burst has restarted it" },
};
/* clang-format on */

static const struct row *
event_row_of(enum ibv_event_type type)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(event_rows); i++) {
		if (event_rows[i].type == type)
			return &event_rows[i];
	}
	return NULL;
}

/** Each event type is logged once per queue and port start. @return whether this is the first. */
static bool
is_first(uint32_t *logged, enum ibv_event_type type)
{
	bool is_new = (*logged & 1u << type) == 0;

	*logged |= 1u << type;
	return is_new;
}

static bool
is_of_rxq(const struct mdv_rxq *rxq, const struct ibv_async_event *event, const struct row *row)
{
	return row->object == EVENT_OF_CQ ? rxq->objs.cq.ibv_cq == event->element.cq
					  : rxq->objs.wq == event->element.wq;
}

static bool
is_of_txq(const struct mdv_txq *txq, const struct ibv_async_event *event, const struct row *row)
{
	return row->object == EVENT_OF_CQ ? txq->objs.cq.ibv_cq == event->element.cq
					  : txq->objs.qp == event->element.qp;
}

/** @return whether the object is a receive queue's: of one that is set up, or of a released one,
 * whose objects the next queue of its number may take over. */
static bool
handle_rxq(struct mdv_port *port, const struct ibv_async_event *event, const struct row *row)
{
	struct mdv_rxq *rxq;

	LIST_FOREACH (rxq, &port->queues.rx, next)
		if (is_of_rxq(rxq, event, row))
			break;
	if (rxq == NULL)
		for (rxq = port->parked; rxq != NULL; rxq = rxq->next_parked)
			if (is_of_rxq(rxq, event, row))
				break;
	if (rxq == NULL)
		return false;
	if (row->object == EVENT_OF_CQ) {
		mdv_rxq_ring_break(rxq);
		mdv_rx_intr_wake(port, rxq->idx);
	}
	if (is_first(&rxq->logged, event->event_type))
		MDV_LOG(ERR, "port %u Rx queue %u: %s: %s", port->dev->data->port_id, rxq->idx,
			ibv_event_type_str(event->event_type), row->advice);
	return true;
}

/** The same for send queues. */
static bool
handle_txq(struct mdv_port *port, const struct ibv_async_event *event, const struct row *row)
{
	struct mdv_txq *txq;

	LIST_FOREACH (txq, &port->queues.tx, next)
		if (is_of_txq(txq, event, row))
			break;
	if (txq == NULL)
		for (txq = port->parked_tx; txq != NULL; txq = txq->next_parked)
			if (is_of_txq(txq, event, row))
				break;
	if (txq == NULL)
		return false;
	if (row->object == EVENT_OF_CQ)
		txq->ring.broken = true;
	if (is_first(&txq->logged, event->event_type))
		MDV_LOG(ERR, "port %u Tx queue %u: %s: %s", port->dev->data->port_id, txq->idx,
			ibv_event_type_str(event->event_type), row->advice);
	return true;
}

/**
 * ibv_destroy_*() blocks until all events of the object are acknowledged, so the object still
 * exists here. The thread that destroys it must not hold queues.lock.
 */
static void
handle_queue(struct mdv_port *port, const struct ibv_async_event *event, const struct row *row)
{
	bool found = false;

	pthread_mutex_lock(&port->queues.lock);
	if (row->object != EVENT_OF_QP)
		found = handle_rxq(port, event, row);
	if (!found && row->object != EVENT_OF_WQ)
		found = handle_txq(port, event, row);
	pthread_mutex_unlock(&port->queues.lock);
	if (!found && !port->event.other_logged) {
		port->event.other_logged = true;
		MDV_LOG(ERR,
			"port %u: %s of a rule's destination: its packets may be lost; stop the port and start it again",
			port->dev->data->port_id, ibv_event_type_str(event->event_type));
	}
}

static void
take(struct mdv_port *port, const struct ibv_async_event *event, struct pending *pending)
{
	const struct row *row = event_row_of(event->event_type);

	if (row == NULL)
		MDV_LOG(DEBUG, "port %u: %s", port->dev->data->port_id,
			ibv_event_type_str(event->event_type));
	else if (row->object == EVENT_OF_PORT)
		pending->link |= event->element.port_num == port->device.port_num;
	else if (row->object == EVENT_OF_DEVICE)
		pending->fatal = true;
	else
		handle_queue(port, event, row);
}

static void handle(void *arg);

/** Read all pending events; the descriptor is non-blocking. */
static void
take_all(struct mdv_port *port, struct pending *pending)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(port->device.ctx, &event) == 0) {
		take(port, &event, pending);
		ibv_ack_async_event(&event);
	}
	if (errno == EAGAIN || errno == EINTR)
		return;
	/* The kernel has removed the device: reading fails from now on, so stop listening. */
	MDV_LOG(ERR, "port %u: cannot read the device's events: %s", port->dev->data->port_id,
		strerror(errno));
	rte_intr_callback_unregister_pending(port->event.handle, handle, port, NULL);
	pending->fatal = true;
}

/** @return whether the link differs from the state that the application knows. */
static bool
update_link(struct mdv_port *port)
{
	struct rte_eth_dev *dev = port->dev;
	bool up;

	mdv_link_update(dev, 0);
	up = dev->data->dev_link.link_status == RTE_ETH_LINK_UP;
	if (up == port->event.up)
		return false;
	port->event.up = up;
	MDV_LOG(INFO, "port %u: link %s", dev->data->port_id, up ? "up" : "down");
	return true;
}

/** @return whether the port was not yet removed. */
static bool
set_removed(struct mdv_port *port)
{
	if (port->event.removed)
		return false;
	port->event.removed = true;
	MDV_LOG(ERR,
		"port %u: the device %s has failed and does nothing any more; close the port, or reset it when the device is back",
		port->dev->data->port_id, port->device.name);
	return true;
}

static void
handle(void *arg)
{
	struct mdv_port *port = arg;
	struct rte_eth_dev *dev = port->dev;
	const struct rte_eth_intr_conf conf = dev->data->dev_conf.intr_conf;
	struct pending pending = { 0 };
	bool removed, changed;

	take_all(port, &pending);
	removed = pending.fatal && set_removed(port) && conf.rmv;
	changed = (pending.link || pending.fatal) && update_link(port) && conf.lsc;
	/* The application may close the port in the callback, so nothing touches the port
	 * afterwards and only one event is raised; removal is the more important one. */
	if (removed)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
	else if (changed)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

/** Handle notifications of the netlink socket. */
static void
handle_netdev(void *arg)
{
	struct mdv_port *port = arg;
	struct rte_eth_dev *dev = port->dev;

	if (!mdv_netlink_read(rte_intr_fd_get(port->event.netdev), &port->device))
		return;
	mdv_netlink_look(port, &port->event.netdev_mtu);
	/* The callback comes last, as in handle(). */
	if (update_link(port) && dev->data->dev_conf.intr_conf.lsc)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

/** @param[out] listener set before the callback is registered, which may run at once */
static int
listen_on(struct rte_intr_handle **listener, int fd, rte_intr_callback_fn callback,
	struct mdv_port *port)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	*listener = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (*listener == NULL)
		return -ENOMEM;
	rte_intr_fd_set(*listener, fd);
	rte_intr_type_set(*listener, RTE_INTR_HANDLE_EXT);
	if (rte_intr_callback_register(*listener, callback, port) == 0)
		return 0;
	rte_intr_instance_free(*listener);
	*listener = NULL;
	return -ENOMEM;
}

static void
stop_listening(
	struct rte_intr_handle *listener, rte_intr_callback_fn callback, struct mdv_port *port)
{
	/* In the handler itself, EAL unregisters it after the handler returns; the synchronous call
	 * would wait for that for ever. */
	if (!rte_thread_is_intr() ||
		rte_intr_callback_unregister_pending(listener, callback, port, NULL) <= 0)
		rte_intr_callback_unregister_sync(listener, callback, port);
	rte_intr_instance_free(listener);
}

/** Listen to netlink notifications, if the port has a netdev. */
static void
listen_to_netdev(struct mdv_port *port)
{
	int fd, ret;

	if (port->device.ifindex == 0)
		return;
	fd = mdv_netlink_open();
	(void)mdv_netdev_get_mtu(port->device.ifindex, &port->event.netdev_mtu);
	ret = fd < 0 ? fd : listen_on(&port->event.netdev, fd, handle_netdev, port);
	if (ret == 0)
		return;
	if (fd >= 0)
		close(fd);
	MDV_LOG(WARNING, "port %u: cannot listen to what happens to netdev %s: %s",
		port->dev->data->port_id, port->device.ifname, strerror(-ret));
}

void
mdv_event_install(struct mdv_port *port)
{
	struct rte_eth_dev_data *data = port->dev->data;
	int ret;

	/* Query the link before listening: an event reports each later change. */
	mdv_link_update(port->dev, 0);
	port->event.up = data->dev_link.link_status == RTE_ETH_LINK_UP;
	listen_to_netdev(port);
	ret = listen_on(&port->event.handle, port->device.ctx->async_fd, handle, port);
	if (ret != 0)
		MDV_LOG(WARNING,
			"port %u: cannot listen for the device's events: %s; no interrupts for link and removal",
			data->port_id, strerror(-ret));
	data->dev_flags &= ~(RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV);
	data->dev_flags |= ret == 0 ? RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV : 0;
}

void
mdv_event_remove(struct mdv_port *port)
{
	int fd;

	if (port->event.handle != NULL)
		stop_listening(port->event.handle, handle, port);
	port->event.handle = NULL;
	if (port->event.netdev == NULL)
		return;
	fd = rte_intr_fd_get(port->event.netdev);
	stop_listening(port->event.netdev, handle_netdev, port);
	port->event.netdev = NULL;
	close(fd);
}

void
mdv_event_start(struct mdv_port *port)
{
	struct mdv_rxq *rxq;
	struct mdv_txq *txq;

	pthread_mutex_lock(&port->queues.lock);
	LIST_FOREACH (rxq, &port->queues.rx, next)
		rxq->logged = rxq->logged_syndromes = 0;
	LIST_FOREACH (txq, &port->queues.tx, next)
		txq->logged = txq->logged_syndromes = 0;
	pthread_mutex_unlock(&port->queues.lock);
	port->event.other_logged = false;
	/* Without lsc ethdev itself updates the link when the port starts. */
	if (port->dev->data->dev_conf.intr_conf.lsc)
		mdv_link_update(port->dev, 0);
}

int
mdv_event_is_removed(struct rte_eth_dev *dev)
{
	return mdv_port(dev)->event.removed;
}
