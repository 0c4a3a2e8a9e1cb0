/* SPDX-License-Identifier: BSD-3-Clause */
/* Where faults strike the device's queues. */
#include "hw/inject.h"

#include "base/clock.h"
#include "base/log.h"
#include "hw/cq.h"
#include "hw/rq.h"
#include "hw/sq.h"
#include "wire/faulty.h"
#include "wire/wire.h"

#define NS_TO_TICKS(ns) ((ns)*5 / 32) /* of SHCA_CLOCK_KHZ */
#define DRAIN           64

static struct shca_fault_site
site_of(const struct shca_device *dev, uint32_t ordinal, uint64_t nb_before)
{
	return (struct shca_fault_site){
		.device = dev->conf.index,
		.queue = ordinal,
		.n = nb_before + 1,
	};
}

static void
say(const struct shca_device *dev, const struct shca_fault *fault)
{
	SHCA_INFO("mlx5_%u: fault of line %u: %s", dev->conf.index, fault->line, fault->text);
}

void
shca_inject_applied(struct shca_device *dev, const struct shca_fault *fault)
{
	say(dev, fault);
	shca_faults_applied(dev->conf.faults, fault);
}

/* As an error of its own would be: reported when what was sent before has left. */
bool
shca_inject_sq(struct shca_sq *sq)
{
	const struct shca_fault_site site = site_of(sq->dev, sq->ordinal, sq->nb_wqes);
	const struct shca_faults *faults = sq->dev->conf.faults;
	const struct shca_fault *fault;

	if (sq->nb_queued != 0)
		return false;
	fault = shca_faults_due(faults, SHCA_FAULT_SQ_ERROR, &site);
	if (fault == NULL)
		fault = shca_faults_due(faults, SHCA_FAULT_SQ_FATAL, &site);
	if (fault == NULL)
		return false;
	shca_inject_applied(sq->dev, fault);
	sq->state = SHCA_QUEUE_ERROR;
	sq->first_syndrome = fault->syndrome;
	if (fault->row->kind == SHCA_FAULT_SQ_FATAL)
		shca_tell(sq->attr.event, sq->attr.owner, SHCA_EVENT_QP_FATAL);
	return true;
}

const struct shca_fault *
shca_inject_rq_due(const struct shca_rq *rq)
{
	const struct shca_fault_site site = site_of(rq->dev, rq->ordinal, rq->nb_wqes);
	const struct shca_faults *faults = rq->dev->conf.faults;
	const struct shca_fault *fault = shca_faults_due(faults, SHCA_FAULT_RQ_ERROR, &site);

	return fault != NULL ? fault : shca_faults_due(faults, SHCA_FAULT_RQ_FATAL, &site);
}

bool
shca_inject_cq(const struct shca_cq *cq)
{
	const struct shca_fault_site site = site_of(cq->dev, cq->ordinal, cq->count.packets);
	const struct shca_fault *fault =
		shca_faults_due(cq->dev->conf.faults, SHCA_FAULT_CQ_OVERRUN, &site);

	if (fault != NULL)
		shca_inject_applied(cq->dev, fault);
	return fault != NULL;
}

/* Down, and up again: by the clock, when the wire has lost enough, or at once. */
static void
flap(struct shca_device *dev, const struct shca_fault *fault)
{
	if (dev->is_link_disabled) /* by the user: it stays so */
		return;
	shca_device_set_link(dev, false);
	if (fault->number == 0 && fault->ns == 0) {
		shca_device_set_link(dev, true);
		return;
	}
	dev->is_dark = true;
	dev->light_ticks =
		fault->ns != 0 ? shca_clock_ticks() + NS_TO_TICKS(fault->ns) : UINT64_MAX;
	shca_faulty_darken(
		dev->conf.wire, fault->is_tx, fault->ns != 0 ? UINT64_MAX : fault->number);
}

/*
 * What Linux does in the end, when health recovery gives the device up: the event
 * (mlx5_enter_error_state, mlx5_ib's MLX5_DEV_EVENT_SYS_ERROR), and no command reaches the driver
 * any more (uverbs_disassociate_api_pre). Who is at the other end sees the carrier go.
 */
static void
die(struct shca_device *dev)
{
	struct shca_listener *listener;

	if (dev->is_dead)
		return;
	dev->is_dead = true;
	dev->conf.findings = NULL; /* whatever a program does now, it is not to blame */
	shca_faulty_rest(dev->conf.wire, UINT64_MAX);
	if (dev->conf.wire->ops->set_carrier != NULL)
		dev->conf.wire->ops->set_carrier(dev->conf.wire, false);
	if (dev->conf.kernel != NULL && dev->conf.kernel->ops->set_carrier != NULL)
		dev->conf.kernel->ops->set_carrier(dev->conf.kernel, false);
	LIST_FOREACH (listener, &dev->listeners, link)
		listener->event(listener->owner, SHCA_EVENT_DEVICE_FATAL);
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
	dev->is_dark = false;
	shca_faulty_lighten(dev->conf.wire);
	shca_device_set_link(dev, true);
}

void
shca_inject_port(struct shca_device *dev)
{
	const struct shca_fault *fault;

	while ((fault = shca_faulty_take(dev->conf.wire)) != NULL) {
		say(dev, fault);
		dev->nb_done++;
		if (fault->row->kind == SHCA_FAULT_LINK_FLAP)
			flap(dev, fault);
		else if (fault->row->kind == SHCA_FAULT_DEVICE_FATAL)
			die(dev);
		else
			slow_down(dev, fault);
	}
	if (dev->is_dark &&
		(dev->ticks >= dev->light_ticks || shca_faulty_is_over(dev->conf.wire))) {
		dev->nb_done++;
		lighten(dev);
	}
}

/* A netdev without a device: what Linux had sent before it saw the carrier go is lost. */
static void
drain_kernel(struct shca_device *dev)
{
	struct shca_frame frame[DRAIN];

	if (dev->conf.kernel != NULL)
		(void)dev->conf.kernel->ops->rx(dev->conf.kernel, frame, DRAIN);
}

bool
shca_inject_stands(struct shca_device *dev)
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
