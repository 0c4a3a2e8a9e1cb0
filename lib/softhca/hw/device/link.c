/* SPDX-License-Identifier: BSD-3-Clause */
/* The port's link: its state and its listeners. */
#include "hw/device/link.h"

#include "base/clock.h"
#include "base/log.h"
#include "hw/device/device.h"
#include "hw/state/device.h"
#include "wire/wire.h"

/** The longest time until a change of the wire's carrier is seen: 10 ms. */
#define CHECK_TICKS ((uint64_t)SHCA_CLOCK_KHZ * 10)

static void
set_carrier(struct shca_wire *wire, bool on)
{
	if (wire != NULL && wire->ops->set_carrier != NULL)
		wire->ops->set_carrier(wire, on);
}

void
shca_link_tell(struct shca_device *dev, uint32_t port, enum shca_event event)
{
	struct shca_listener *listener;

	LIST_FOREACH (listener, &dev->listeners, link)
		listener->event(listener->owner, port, event);
}

/** A port of verbs is as its netdev is, and a representor's netdev has a carrier (mlx5_ib
 * mlx5_query_port_roce). */
static void
update_port(struct shca_device *dev, uint32_t number, bool is_first)
{
	struct shca_port *port = &dev->port[number - 1];
	const bool has_carrier = number != shca_conf_nb_ports(&dev->conf) || dev->has_link;
	const bool is_active =
		has_carrier && port->netdev.is_up && shca_conf_has_rep(&dev->conf, number);

	if (is_active == port->is_active)
		return;
	port->is_active = is_active;
	if (dev->conf.link != NULL)
		dev->conf.link(dev->conf.index, number, is_active, dev->conf.arg);
	if (is_first)
		return; /* no thread has seen the old state */
	shca_link_tell(dev, number, is_active ? SHCA_EVENT_PORT_ACTIVE : SHCA_EVENT_PORT_ERR);
}

/** Give the netdev beside the port the carrier of the port. */
static void
update(struct shca_device *dev)
{
	struct shca_wire *wire = dev->conf.wire;
	bool is_up = !dev->is_link_disabled && (wire->ops->link == NULL || wire->ops->link(wire));
	bool is_first = !dev->is_link_known;

	dev->is_link_known = true;
	if (is_up != dev->has_link) {
		dev->has_link = is_up;
		dev->carries = is_up || dev->conf.nb_vports != 0;
		set_carrier(dev->conf.kernel, is_up);
		dev->stats.link_downs += !is_up && !is_first;
		if (!is_first)
			SHCA_INFO("mlx5_%u: link %s", dev->conf.index, is_up ? "up" : "down");
	}
	for (uint32_t port = 1; port <= shca_conf_nb_ports(&dev->conf); port++)
		update_port(dev, port, is_first);
}

void
shca_link_run(struct shca_device *dev)
{
	if (dev->is_link_known && dev->ticks - dev->link_checked_ticks < CHECK_TICKS)
		return;
	dev->link_checked_ticks = dev->ticks;
	update(dev);
}

/** A query gives the state that the engines use. */
bool
shca_device_link(struct shca_device *dev)
{
	update(dev);
	return dev->has_link;
}

bool
shca_device_is_active(struct shca_device *dev, uint32_t port)
{
	update(dev);
	return dev->port[port - 1].is_active;
}

void
shca_device_set_link(struct shca_device *dev, bool up)
{
	if (dev->is_link_disabled == !up)
		return;
	update(dev); /* now the old state is known, and the new one is a change */
	dev->is_link_disabled = !up;
	set_carrier(dev->conf.wire, up);
	update(dev);
}

void
shca_device_listen(struct shca_device *dev, struct shca_listener *listener)
{
	LIST_INSERT_HEAD(&dev->listeners, listener, link);
}

void
shca_device_unlisten(struct shca_listener *listener)
{
	LIST_REMOVE(listener, link);
}

void
shca_device_each_listener(struct shca_device *dev,
	void (*function)(struct shca_listener *listener, void *arg), void *arg)
{
	struct shca_listener *listener;

	LIST_FOREACH (listener, &dev->listeners, link)
		function(listener, arg);
}
