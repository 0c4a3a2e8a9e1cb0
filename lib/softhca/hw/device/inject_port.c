/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies injected faults to link and device. */
#include "hw/device/inject_port.h"

#include "base/clock.h"
#include "hw/check/inject.h"
#include "hw/device/device.h"
#include "hw/state/device.h"
#include "wire/faulty.h"
#include "wire/wire.h"

#define NS_TO_TICKS(ns) ((ns)*5 / 32) /* of SHCA_CLOCK_KHZ */
#define DRAIN           64

/** The link goes down, and up again: after a time, when the wire has lost enough frames, or at
 * once.
 */
static void
flap(struct shca_device *dev, const struct shca_fault *fault)
{
	if (dev->is_link_disabled) /* a user took it down: it stays down */
		return;
	shca_device_set_link(dev, false);
	if (fault->number == 0 && fault->ns == 0) {
		shca_device_set_link(dev, true);
		return;
	}
	dev->is_down = true;
	dev->link_up_ticks =
		fault->ns != 0 ? shca_clock_ticks() + NS_TO_TICKS(fault->ns) : UINT64_MAX;
	shca_faulty_link_down(
		dev->conf.wire, fault->is_tx, fault->ns != 0 ? UINT64_MAX : fault->number);
}

/**
 * Linux's last step when health recovery fails: the event (mlx5_enter_error_state, mlx5_ib's
 * MLX5_DEV_EVENT_SYS_ERROR), and no command reaches the driver any more
 * (uverbs_disassociate_api_pre). The link partner loses its carrier.
 */
static void
lose_carrier(struct shca_wire *wire)
{
	if (wire != NULL && wire->ops->set_carrier != NULL)
		wire->ops->set_carrier(wire, false);
}

void
shca_device_die(struct shca_device *dev)
{
	struct shca_listener *listener;

	if (dev->is_dead)
		return;
	dev->is_dead = true;
	dev->conf.findings = NULL; /* errors of a program from now on are not its fault */
	if (dev->may_fail) /* else its wire is not one that rests: a keeper that ends removes all */
		shca_faulty_rest(dev->conf.wire, UINT64_MAX);
	lose_carrier(dev->conf.wire);
	for (uint32_t port = 1; port <= shca_conf_nb_ports(&dev->conf); port++)
		lose_carrier(shca_conf_kernel(&dev->conf, port));
	LIST_FOREACH (listener, &dev->listeners, link)
		listener->event(listener->owner, 1, SHCA_EVENT_DEVICE_FATAL);
}

static void
slow_down(struct shca_device *dev, const struct shca_fault *fault)
{
	dev->is_slow = true;
	dev->slow_ticks = shca_clock_ticks() + NS_TO_TICKS(fault->ns);
	shca_faulty_rest(dev->conf.wire, shca_clock_ns() + fault->ns);
}

static void
lighten(struct shca_device *dev)
{
	dev->is_down = false;
	shca_faulty_link_up(dev->conf.wire);
	shca_device_set_link(dev, true);
}

void
shca_inject_port_run(struct shca_device *dev)
{
	const struct shca_fault *fault;

	while ((fault = shca_faulty_take(dev->conf.wire)) != NULL) {
		shca_inject_say(dev, fault);
		dev->nb_done++;
		if (fault->row->kind == SHCA_FAULT_LINK_FLAP)
			flap(dev, fault);
		else if (fault->row->kind == SHCA_FAULT_DEVICE_FATAL)
			shca_device_die(dev);
		else
			slow_down(dev, fault);
	}
	if (dev->is_down &&
		(dev->ticks >= dev->link_up_ticks || shca_faulty_is_over(dev->conf.wire))) {
		dev->nb_done++;
		lighten(dev);
	}
}

/** The netdev has lost its device: drop the frames that Linux sent before it saw the carrier go. */
static void
drain_kernel(struct shca_device *dev)
{
	struct shca_frame frame[DRAIN];

	for (uint32_t port = 1; port <= shca_conf_nb_ports(&dev->conf); port++) {
		struct shca_wire *kernel = shca_conf_kernel(&dev->conf, port);

		if (kernel != NULL)
			(void)kernel->ops->rx(kernel, frame, DRAIN);
	}
}

bool
shca_inject_port_stands(struct shca_device *dev)
{
	if (dev->is_dead) {
		drain_kernel(dev);
		return true;
	}
	if (dev->is_slow && dev->ticks < dev->slow_ticks)
		return true;
	if (dev->is_slow) {
		dev->is_slow = false;
		shca_faulty_rest(dev->conf.wire, 0);
	}
	return false;
}
