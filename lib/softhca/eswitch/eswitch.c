/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual functions on one wire. Functions of Linux that are named below are of Linux 6.1,
 * drivers/net/ethernet/mellanox/mlx5/core: eswitch.c and esw/legacy.c for the forwarding tables,
 * esw/acl/ingress_lgcy.c for the check of source addresses.
 */
#include "eswitch/eswitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "eswitch/state.h"
#include "wire/ring.h"
#include "wire/wire.h"

#define UPLINK_BURST 32

static const struct shca_wire_ops vport_ops;

struct shca_eswitch *
shca_eswitch_lock(const struct shca_wire *end)
{
	struct shca_eswitch *eswitch = ((const struct shca_eswitch_end *)end)->eswitch;

	pthread_mutex_lock(&eswitch->lock);
	return eswitch;
}

void
shca_eswitch_unlock(struct shca_eswitch *eswitch)
{
	pthread_mutex_unlock(&eswitch->lock);
}

int
shca_eswitch_create(struct shca_wire *uplink, bool is_switchdev, struct shca_eswitch **out)
{
	struct shca_eswitch *eswitch = calloc(1, sizeof(*eswitch));
	int ret;

	if (eswitch == NULL)
		return -ENOMEM;
	eswitch->uplink = uplink;
	eswitch->is_switchdev = is_switchdev;
	LIST_INIT(&eswitch->vports);
	ret = -pthread_mutex_init(&eswitch->lock, NULL);
	if (ret != 0)
		free(eswitch);
	else
		*out = eswitch;
	return ret;
}

/** Destroy the switch alone; the uplink is the caller's. */
static void
destroy(struct shca_eswitch *eswitch)
{
	pthread_mutex_destroy(&eswitch->lock);
	free(eswitch);
}

void
shca_eswitch_release(struct shca_eswitch *eswitch)
{
	if (!LIST_EMPTY(&eswitch->vports) || eswitch->manager != NULL)
		return;
	eswitch->uplink->ops->close(eswitch->uplink);
	destroy(eswitch);
}

void
shca_eswitch_start(struct shca_eswitch *eswitch)
{
	if (!eswitch->is_started && eswitch->uplink->ops->start != NULL)
		eswitch->uplink->ops->start(eswitch->uplink);
	eswitch->is_started = true;
}

static bool
is_multicast(const struct shca_frame *frame)
{
	return (frame->bytes[0] & 1) != 0;
}

/** Both lists have entries of the whole address in the FDB (Linux esw_fdb_set_vport_rule). */
static bool
has_listed(const struct shca_vport *vport, const struct shca_frame *frame)
{
	for (unsigned int i = 0; i < vport->nb_macs; i++)
		if (memcmp(vport->macs[i], frame->bytes, SHCA_ESWITCH_MAC_BYTES) == 0)
			return true;
	return false;
}

/** A group is for whoever has it in its list, and for who takes all of them: these get each group
 * that anybody lists (Linux update_allmulti_vports) and all others by a rule for the multicast bit.
 * Linux esw_update_vport_rx_mode silently ignores the modes of a vport without trust. */
static bool
takes(const struct shca_vport *vport, const struct shca_frame *frame)
{
	if (vport->end.eswitch->is_switchdev || has_listed(vport, frame))
		return true;
	return is_multicast(frame) && vport->is_trusted &&
		(vport->is_allmulti || vport->is_promiscuous);
}

/** @param from the function that sends it; NULL: it comes from the uplink */
static void
give(struct shca_vport *vport, const struct shca_vport *from, const struct shca_frame *frame)
{
	struct shca_ring *ring = from != NULL ? vport->intake.ring : vport->from_uplink;

	if (shca_ring_push(ring, frame, 1, &vport->nb_lost) == 0)
		vport->nb_lost++;
}

/** The vports that take a frame: an FDB entry has all vports with its address as destinations. The
 * sender, which is NULL for the uplink, gets nothing back: local loopback is off (Linux
 * mlx5_nic_vport_update_local_lb). */
struct takers {
	unsigned int nb; /* without the sender */
	struct shca_vport *last;
	bool has_sender;
};

static struct takers
find_takers(const struct shca_eswitch *eswitch, const struct shca_vport *from,
	const struct shca_frame *frame)
{
	struct takers takers = { 0 };
	struct shca_vport *vport;

	LIST_FOREACH (vport, &eswitch->vports, link) {
		if (!takes(vport, frame))
			continue;
		if (vport == from) {
			takers.has_sender = true;
			continue;
		}
		takers.nb++;
		takers.last = vport;
	}
	return takers;
}

static void
give_takers(
	struct shca_eswitch *eswitch, const struct shca_vport *from, const struct shca_frame *frame)
{
	struct shca_vport *vport;

	LIST_FOREACH (vport, &eswitch->vports, link)
		if (vport != from && takes(vport, frame))
			give(vport, from, frame);
}

/** What no entry of the FDB is for leaves by the uplink, as does every group: each entry of a group
 * has the uplink as another destination (Linux esw_add_mc_addr). */
static bool
leaves(const struct shca_eswitch *eswitch, const struct takers *takers,
	const struct shca_frame *frame)
{
	return eswitch->is_switchdev || is_multicast(frame) ||
		(takers->nb == 0 && !takers->has_sender);
}

/** The ingress ACL of a vport allows one source address (Linux esw_acl_ingress_lgcy_setup). */
static bool
is_refused(const struct shca_vport *vport, const struct shca_frame *frame)
{
	return vport->checks_source &&
		memcmp(frame->bytes + SHCA_ESWITCH_MAC_BYTES, vport->mac, SHCA_ESWITCH_MAC_BYTES) !=
		0;
}

/** Its own rules decide: eswitch/manager.h. */
static bool
give_manager(const struct shca_vport *from, const struct shca_frame *frame)
{
	struct shca_eswitch_manager *manager = from->end.eswitch->manager;
	const struct shca_frame named = { frame->bytes, frame->length, from->port };

	if (shca_intake_push(&manager->intake, from, &named, &manager->nb_lost))
		return true;
	manager->nb_lost += manager->is_resting;
	return manager->is_resting;
}

/** @return false when the receiver has no room now. */
static bool
send_one(struct shca_vport *from, const struct shca_frame *frame)
{
	struct shca_eswitch *eswitch = from->end.eswitch;
	struct shca_wire *uplink = eswitch->uplink;
	struct takers takers;

	if (frame->length < 2 * SHCA_ESWITCH_MAC_BYTES) {
		from->nb_lost++;
		return true;
	}
	if (is_refused(from, frame)) {
		from->nb_refused++;
		return true;
	}
	if (eswitch->manager != NULL)
		return give_manager(from, frame);
	takers = find_takers(eswitch, from, frame);
	if (leaves(eswitch, &takers, frame)) {
		if (uplink->ops->tx(uplink, frame, 1) == 0)
			return false;
	} else if (takers.nb == 1 && !takers.last->is_resting) {
		return shca_intake_push(&takers.last->intake, from, frame, &takers.last->nb_lost);
	} else if (takers.nb == 0) {
		from->nb_lost++;
	}
	give_takers(eswitch, from, frame);
	return true;
}

static unsigned int
vport_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct shca_vport *vport = (struct shca_vport *)wire;
	unsigned int nb = 0;

	shca_eswitch_lock(&vport->end.wire);
	while (nb < nb_frames && send_one(vport, &frames[nb]))
		nb++;
	shca_eswitch_unlock(vport->end.eswitch);
	return nb;
}

/** Promiscuous vports get frames to an address that no vport has, by the rule with the uplink as
 * source port (Linux esw_fdb_set_vport_promisc_rule). @return whether there is one */
static bool
give_promiscuous(struct shca_eswitch *eswitch, const struct shca_frame *frame)
{
	struct shca_vport *vport;
	bool has_given = false;

	LIST_FOREACH (vport, &eswitch->vports, link)
		if (vport->is_trusted && vport->is_promiscuous) {
			give(vport, NULL, frame);
			has_given = true;
		}
	return has_given;
}

/** Forward a frame from the uplink. What no entry of the FDB matches is for vport 0, the physical
 * function (Linux 81848731ff40, "Add SR-IOV (FDB) support"). */
static void
receive_one(struct shca_eswitch *eswitch, const struct shca_frame *frame)
{
	struct shca_vport *vport;

	if (frame->length < 2 * SHCA_ESWITCH_MAC_BYTES)
		return;
	if (find_takers(eswitch, NULL, frame).nb != 0) {
		give_takers(eswitch, NULL, frame);
		return;
	}
	if (give_promiscuous(eswitch, frame))
		return;
	LIST_FOREACH (vport, &eswitch->vports, link)
		if (vport->is_physical)
			give(vport, NULL, frame);
}

/** Take frames from the uplink once every vport has taken those that came before: frames of a
 * patient wire wait in the wire. One whose device stands still is not waited for. */
static void
pump(struct shca_eswitch *eswitch)
{
	struct shca_frame frames[UPLINK_BURST];
	struct shca_vport *vport;
	unsigned int nb;

	LIST_FOREACH (vport, &eswitch->vports, link)
		if (!vport->is_resting && !shca_ring_is_empty(vport->from_uplink))
			return;
	nb = eswitch->uplink->ops->rx(eswitch->uplink, frames, UPLINK_BURST);
	for (unsigned int i = 0; i < nb; i++)
		receive_one(eswitch, &frames[i]);
}

/** What comes from functions and what comes from the uplink take turns, however much either is. */
static unsigned int
take(struct shca_vport *vport, struct shca_frame *frames, unsigned int nb_frames)
{
	struct shca_ring *const rings[] = { vport->intake.ring, vport->from_uplink };
	const unsigned int first = vport->is_uplinks_turn;
	unsigned int nb = shca_ring_pop(rings[first], frames, nb_frames);

	vport->is_uplinks_turn = !vport->is_uplinks_turn;
	if (nb < nb_frames)
		nb += shca_ring_pop(rings[!first], frames + nb, nb_frames - nb);
	return nb;
}

static unsigned int
vport_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct shca_vport *vport = (struct shca_vport *)wire;
	unsigned int nb;

	if (nb_frames == 0)
		return 0;
	shca_eswitch_lock(&vport->end.wire);
	if (vport->end.eswitch->manager == NULL)
		pump(vport->end.eswitch);
	nb = take(vport, frames, nb_frames);
	shca_eswitch_unlock(vport->end.eswitch);
	return nb;
}

/** Start the uplink with the first rule of any vport, which may want the capture's frames; with a
 * manager it is the manager who gets them. */
static void
vport_start(struct shca_wire *wire)
{
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);

	if (eswitch->manager == NULL)
		shca_eswitch_start(eswitch);
	shca_eswitch_unlock(eswitch);
}

static int
vport_fd(const struct shca_wire *wire)
{
	const struct shca_wire *uplink = ((const struct shca_vport *)wire)->end.eswitch->uplink;

	return uplink->ops->fd(uplink);
}

static uint64_t
vport_due_ns(const struct shca_wire *wire)
{
	const struct shca_vport *vport = (const struct shca_vport *)wire;
	const struct shca_wire *uplink = vport->end.eswitch->uplink;

	if (!shca_ring_is_empty(vport->intake.ring) || !shca_ring_is_empty(vport->from_uplink))
		return 0;
	return uplink->ops->due_ns != NULL ? uplink->ops->due_ns(uplink) : UINT64_MAX;
}

static bool
vport_is_patient(const struct shca_wire *wire)
{
	const struct shca_wire *uplink = ((const struct shca_vport *)wire)->end.eswitch->uplink;

	return uplink->ops->is_patient != NULL && uplink->ops->is_patient(uplink);
}

/** A vport's link follows the port's unless told otherwise (MLX5_VPORT_ADMIN_STATE_AUTO). */
static bool
vport_link(struct shca_wire *wire)
{
	const struct shca_vport *vport = (const struct shca_vport *)wire;
	struct shca_eswitch *eswitch = shca_eswitch_lock(wire);
	bool up = vport->admin == SHCA_VPORT_UP;

	if (vport->admin == SHCA_VPORT_AUTO)
		up = eswitch->uplink->ops->link == NULL ||
			eswitch->uplink->ops->link(eswitch->uplink);
	shca_eswitch_unlock(eswitch);
	return up;
}

static void
vport_set_resting(struct shca_wire *wire, bool rests)
{
	struct shca_vport *vport = (struct shca_vport *)wire;

	shca_eswitch_lock(wire);
	vport->is_resting = rests;
	shca_eswitch_unlock(vport->end.eswitch);
}

/** The card tells the eswitch's manager of a changed vport context (Linux
 * esw_vport_change_handler). */
static void
vport_set_rx_mode(struct shca_wire *wire, const struct shca_netdev *netdev)
{
	struct shca_vport *vport = (struct shca_vport *)wire;

	shca_eswitch_lock(&vport->end.wire);
	vport->is_promiscuous = netdev->is_promiscuous;
	vport->is_allmulti = netdev->is_allmulti;
	vport->nb_macs =
		netdev->nb_macs < SHCA_NETDEV_MACS_MAX ? netdev->nb_macs : SHCA_NETDEV_MACS_MAX;
	if (vport->nb_macs != 0)
		memcpy(vport->macs, netdev->macs, vport->nb_macs * sizeof(vport->macs[0]));
	shca_eswitch_unlock(vport->end.eswitch);
}

static uint64_t
vport_nb_refused(const struct shca_wire *wire)
{
	const struct shca_vport *vport = (const struct shca_vport *)wire;
	uint64_t nb;

	shca_eswitch_lock(&vport->end.wire);
	nb = vport->nb_refused;
	shca_eswitch_unlock(vport->end.eswitch);
	return nb;
}

/** Add the receivers at the other end of the uplink, as far as the uplink knows them. */
static void
explain_uplink(const struct shca_eswitch *eswitch, const struct shca_frame *frame,
	struct shca_wire_path *path)
{
	const struct shca_wire *uplink = eswitch->uplink;
	struct shca_wire_path there = { .what = "" };

	if (uplink->ops->explain == NULL)
		return;
	uplink->ops->explain(uplink, frame, &there);
	for (unsigned int i = 0; i < there.nb_to && path->nb_to < SHCA_WIRE_PATH_MAX; i++)
		path->to[path->nb_to++] = there.to[i];
}

/** As send_one(). */
static void
explain_locked(
	const struct shca_vport *from, const struct shca_frame *frame, struct shca_wire_path *path)
{
	struct shca_eswitch *eswitch = from->end.eswitch;
	const struct shca_vport *to;
	struct takers takers;

	path->nb_to = 0;
	if (frame->length < 2 * SHCA_ESWITCH_MAC_BYTES) {
		path->is_lost = true;
		path->what = "the switch takes no frame without addresses";
		return;
	}
	if (is_refused(from, frame)) {
		path->is_lost = true;
		path->what = "its source address is not the virtual function's";
		return;
	}
	if (eswitch->manager != NULL) {
		path->what = "to the manager of the e-switch, by the port of its representor";
		path->to[path->nb_to++] = &eswitch->manager->end.wire;
		return;
	}
	takers = find_takers(eswitch, from, frame);
	if (eswitch->is_switchdev)
		path->what =
			"onto the wire, and to the card's other functions by rules of the host";
	else if (is_multicast(frame))
		path->what = takers.nb != 0
			? "onto the wire, and to the card's other functions that take the group"
			: "onto the wire: none of the card's other functions takes the group";
	else if (takers.nb != 0)
		path->what = takers.last->is_physical
			? "to the physical function, and not onto the wire"
			: "to another virtual function, and not onto the wire";
	else if (takers.has_sender)
		path->what = "it is for its sender, to whom the switch sends nothing back";
	path->is_lost = takers.nb == 0 && !leaves(eswitch, &takers, frame);
	LIST_FOREACH (to, &eswitch->vports, link)
		if (to != from && takes(to, frame) && path->nb_to < SHCA_WIRE_PATH_MAX)
			path->to[path->nb_to++] = &to->end.wire;
	if (leaves(eswitch, &takers, frame))
		explain_uplink(eswitch, frame, path);
}

static void
vport_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	const struct shca_vport *vport = (const struct shca_vport *)wire;

	shca_eswitch_lock(&vport->end.wire);
	explain_locked(vport, frame, path);
	shca_eswitch_unlock(vport->end.eswitch);
}

static void
vport_close(struct shca_wire *wire)
{
	struct shca_vport *vport = (struct shca_vport *)wire;
	struct shca_eswitch *eswitch = vport->end.eswitch;

	if (vport->nb_refused != 0 || vport->nb_lost != 0)
		SHCA_INFO("vport: refused %lu frames with another source address, lost %lu",
			(unsigned long)vport->nb_refused, (unsigned long)vport->nb_lost);
	shca_eswitch_lock(wire);
	LIST_REMOVE(vport, link);
	shca_eswitch_unlock(eswitch);
	shca_ring_destroy(vport->intake.ring);
	shca_ring_destroy(vport->from_uplink);
	free(vport);
	shca_eswitch_release(eswitch);
}

static const struct shca_wire_ops vport_ops = {
	.name = "vport",
	.usage = "vport",
	.tx = vport_tx,
	.rx = vport_rx,
	.start = vport_start,
	.fd = vport_fd,
	.due_ns = vport_due_ns,
	.is_patient = vport_is_patient,
	.link = vport_link,
	.set_resting = vport_set_resting,
	.set_rx_mode = vport_set_rx_mode,
	.nb_refused = vport_nb_refused,
	.explain = vport_explain,
	.close = vport_close,
};

/** A netdev begins with its own address and broadcast (Linux mlx5e_fill_addr_array). */
static void
set_first_macs(struct shca_vport *vport, const uint8_t *mac)
{
	memcpy(vport->mac, mac, SHCA_ESWITCH_MAC_BYTES);
	memcpy(vport->macs[0], mac, SHCA_ESWITCH_MAC_BYTES);
	memset(vport->macs[1], 0xff, SHCA_ESWITCH_MAC_BYTES);
	vport->nb_macs = 2;
}

static int
add(struct shca_eswitch *eswitch, const struct shca_eswitch_vport *conf, struct shca_wire **wire)
{
	struct shca_vport *vport = calloc(1, sizeof(*vport));

	if (vport == NULL)
		return -ENOMEM;
	*vport = (struct shca_vport){
		.end = { .wire.ops = &vport_ops, .eswitch = eswitch },
		.port = conf->port,
		.is_physical = conf->is_physical,
		/* Linux mlx5_esw_vport_enable: "Esw manager is trusted by default". */
		.is_trusted = conf->is_trusted || conf->is_physical,
		.is_promiscuous = conf->is_promiscuous,
		/* Linux esw_legacy_vport_acl_setup: the manager's vport has no ACL. */
		.checks_source = conf->checks_source && !conf->is_physical,
		.intake.ring = shca_ring_create(SHCA_ESWITCH_RING_LOG2),
		.from_uplink = shca_ring_create(SHCA_ESWITCH_RING_LOG2),
	};
	if (vport->intake.ring == NULL || vport->from_uplink == NULL) {
		shca_ring_destroy(vport->intake.ring);
		shca_ring_destroy(vport->from_uplink);
		free(vport);
		return -ENOMEM;
	}
	set_first_macs(vport, conf->mac);
	pthread_mutex_lock(&eswitch->lock);
	LIST_INSERT_HEAD(&eswitch->vports, vport, link);
	pthread_mutex_unlock(&eswitch->lock);
	*wire = &vport->end.wire;
	return 0;
}

int
shca_eswitch_open(
	struct shca_wire *uplink, const struct shca_eswitch_vport *vport, struct shca_wire **wire)
{
	struct shca_eswitch *eswitch;
	int ret = shca_eswitch_create(uplink, vport->is_switchdev, &eswitch);

	if (ret != 0)
		return ret;
	ret = add(eswitch, vport, wire);
	if (ret != 0)
		destroy(eswitch);
	return ret;
}

int
shca_eswitch_join(
	struct shca_wire *of, const struct shca_eswitch_vport *vport, struct shca_wire **wire)
{
	return add(((struct shca_eswitch_end *)of)->eswitch, vport, wire);
}
