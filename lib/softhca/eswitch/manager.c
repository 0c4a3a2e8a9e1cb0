/* SPDX-License-Identifier: BSD-3-Clause */
/* The e-switch's manager: frames of all vports, told apart by its ports. */
#include "eswitch/manager.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "eswitch/state.h"
#include "wire/ring.h"
#include "wire/wire.h"

static struct shca_vport *
find_vport(const struct shca_eswitch *eswitch, uint32_t port)
{
	struct shca_vport *vport;

	LIST_FOREACH (vport, &eswitch->vports, link)
		if (vport->port == port)
			return vport;
	return NULL;
}

static bool
has_link(const struct shca_eswitch_manager *manager)
{
	struct shca_wire *uplink = manager->end.eswitch->uplink;

	return !manager->is_link_disabled &&
		(uplink->ops->link == NULL || uplink->ops->link(uplink));
}

/** @return false when the receiver has no room now. */
static bool
send_one(struct shca_eswitch_manager *manager, const struct shca_frame *frame)
{
	const struct shca_frame plain = { frame->bytes, frame->length, 0 };
	struct shca_wire *uplink = manager->end.eswitch->uplink;
	struct shca_vport *vport;

	if (frame->port == manager->uplink_port && has_link(manager))
		return uplink->ops->tx(uplink, &plain, 1) == 1;
	vport = find_vport(manager->end.eswitch, frame->port);
	if (vport != NULL && vport->admin != SHCA_VPORT_DOWN) {
		if (shca_intake_push(&vport->intake, manager, &plain, &vport->nb_lost))
			return true;
		if (!vport->is_resting)
			return false;
	}
	manager->nb_lost++;
	return true;
}

static unsigned int
manager_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);
	unsigned int nb = 0;

	while (nb < nb_frames && send_one(eswitch->manager, &frames[nb]))
		nb++;
	shca_eswitch_unlock(eswitch);
	return nb;
}

/** Take frames from the uplink. @return how many; without a link they are lost */
static unsigned int
take_uplink(struct shca_eswitch_manager *manager, struct shca_frame *frames, unsigned int nb_frames)
{
	struct shca_wire *uplink = manager->end.eswitch->uplink;
	const unsigned int nb = uplink->ops->rx(uplink, frames, nb_frames);

	if (nb != 0 && !has_link(manager)) {
		manager->nb_lost += nb;
		return 0;
	}
	for (unsigned int i = 0; i < nb; i++)
		frames[i].port = manager->uplink_port;
	return nb;
}

/** As functions' frames and the uplink's for a vport. */
static unsigned int
manager_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);
	struct shca_eswitch_manager *manager = eswitch->manager;
	const bool is_uplink_first = manager->is_uplinks_turn;
	unsigned int nb = is_uplink_first ? take_uplink(manager, frames, nb_frames)
					  : shca_ring_pop(manager->intake.ring, frames, nb_frames);

	manager->is_uplinks_turn = !is_uplink_first;
	if (nb < nb_frames)
		nb += is_uplink_first
			? shca_ring_pop(manager->intake.ring, frames + nb, nb_frames - nb)
			: take_uplink(manager, frames + nb, nb_frames - nb);
	shca_eswitch_unlock(eswitch);
	return nb;
}

static void
manager_start(struct shca_wire *wire)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);

	shca_eswitch_start(eswitch);
	shca_eswitch_unlock(eswitch);
}

static const struct shca_eswitch_manager *
manager_of(const struct shca_wire *wire)
{
	return (const struct shca_eswitch_manager *)wire;
}

static int
manager_fd(const struct shca_wire *wire)
{
	const struct shca_wire *uplink = manager_of(wire)->end.eswitch->uplink;

	return uplink->ops->fd(uplink);
}

static uint64_t
manager_due_ns(const struct shca_wire *wire)
{
	const struct shca_wire *uplink = manager_of(wire)->end.eswitch->uplink;

	if (!shca_ring_is_empty(manager_of(wire)->intake.ring))
		return 0;
	return uplink->ops->due_ns != NULL ? uplink->ops->due_ns(uplink) : UINT64_MAX;
}

static bool
manager_is_patient(const struct shca_wire *wire)
{
	const struct shca_wire *uplink = manager_of(wire)->end.eswitch->uplink;

	return uplink->ops->is_patient != NULL && uplink->ops->is_patient(uplink);
}

/** The link of the uplink; functions need none. */
static bool
manager_link(struct shca_wire *wire)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);
	bool up = has_link(eswitch->manager);

	shca_eswitch_unlock(eswitch);
	return up;
}

static void
manager_set_carrier(struct shca_wire *wire, bool on)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);

	eswitch->manager->is_link_disabled = !on;
	if (eswitch->uplink->ops->set_carrier != NULL)
		eswitch->uplink->ops->set_carrier(eswitch->uplink, on);
	shca_eswitch_unlock(eswitch);
}

static void
manager_set_resting(struct shca_wire *wire, bool rests)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);

	eswitch->manager->is_resting = rests;
	shca_eswitch_unlock(eswitch);
}

static void
manager_set_vport_link(struct shca_wire *wire, uint32_t port, bool up)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);
	struct shca_vport *vport = find_vport(eswitch, port);

	if (vport != NULL)
		vport->admin = up ? SHCA_VPORT_UP : SHCA_VPORT_DOWN;
	shca_eswitch_unlock(eswitch);
}

static void
explain_locked(const struct shca_eswitch_manager *manager, const struct shca_frame *frame,
	struct shca_wire_path *path)
{
	const struct shca_eswitch *eswitch = manager->end.eswitch;
	const struct shca_wire *uplink = eswitch->uplink;
	const struct shca_vport *vport = find_vport(eswitch, frame->port);

	path->nb_to = 0;
	if (vport != NULL && vport->admin != SHCA_VPORT_DOWN) {
		path->what = "to the virtual function that the port represents";
		path->to[path->nb_to++] = &vport->end.wire;
	} else if (frame->port != manager->uplink_port) {
		path->is_lost = true;
		path->what = "no virtual function with a link is behind the port";
	} else if (uplink->ops->explain != NULL) {
		uplink->ops->explain(uplink, frame, path);
	}
}

static void
manager_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);

	explain_locked(eswitch->manager, frame, path);
	shca_eswitch_unlock(eswitch);
}

static void
manager_close(struct shca_wire *wire)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);
	struct shca_eswitch_manager *manager = eswitch->manager;

	eswitch->manager = NULL;
	shca_eswitch_unlock(eswitch);
	if (manager->nb_lost != 0)
		SHCA_INFO("e-switch: the manager lost %lu frames", (unsigned long)manager->nb_lost);
	shca_ring_destroy(manager->intake.ring);
	free(manager);
	shca_eswitch_release(eswitch);
}

static const struct shca_wire_ops manager_ops = {
	.name = "manager",
	.usage = "manager",
	.tx = manager_tx,
	.rx = manager_rx,
	.start = manager_start,
	.fd = manager_fd,
	.due_ns = manager_due_ns,
	.is_patient = manager_is_patient,
	.link = manager_link,
	.set_carrier = manager_set_carrier,
	.set_resting = manager_set_resting,
	.set_vport_link = manager_set_vport_link,
	.explain = manager_explain,
	.close = manager_close,
};

int
shca_eswitch_manage(struct shca_wire *uplink, uint32_t nb_vports, struct shca_wire **wire)
{
	struct shca_eswitch_manager *manager = calloc(1, sizeof(*manager));
	struct shca_eswitch *eswitch;

	if (manager == NULL)
		return -ENOMEM;
	manager->intake.ring = shca_ring_create(SHCA_ESWITCH_RING_LOG2);
	if (manager->intake.ring == NULL || shca_eswitch_create(uplink, true, &eswitch) != 0) {
		shca_ring_destroy(manager->intake.ring);
		free(manager);
		return -ENOMEM;
	}
	manager->end.wire.ops = &manager_ops;
	manager->end.eswitch = eswitch;
	manager->uplink_port = nb_vports;
	eswitch->manager = manager;
	*wire = &manager->end.wire;
	return 0;
}
