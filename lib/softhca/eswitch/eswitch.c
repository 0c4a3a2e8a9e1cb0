/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual functions on one wire. LX below is Linux 6.1, drivers/net/ethernet/mellanox/mlx5/core:
 * eswitch.c and esw/legacy.c for the forwarding tables, esw/acl/ingress_lgcy.c for the check of
 * source addresses.
 */
#include "eswitch/eswitch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "wire/ring.h"
#include "wire/wire.h"

#define RING_SIZE_LOG2 20
#define UPLINK_BURST   32
#define MAC_BYTES      6

struct eswitch;

struct vport {
	struct shca_wire wire;
	struct eswitch *eswitch;
	LIST_ENTRY(vport) link;
	uint8_t mac[MAC_BYTES]; /* the host's, for the check of source addresses */
	bool is_trusted, checks_source;
	/* The NIC vport context, which the function's netdev writes (LX en_fs.c,
	 * mlx5e_vport_context_update). */
	bool is_promiscuous, is_allmulti;
	uint8_t macs[SHCA_NETDEV_MACS_MAX][MAC_BYTES];
	unsigned int nb_macs;
	struct shca_ring *ring; /* frames it will receive */
	uint64_t nb_refused;    /* sent from another address */
	uint64_t nb_lost;       /* no room, or no receiver */
};

/** Several device threads may serve the vports: the lock guards all but the ends of their rings. */
struct eswitch {
	pthread_mutex_t lock;
	struct shca_wire *uplink;
	bool is_started;
	bool is_switchdev; /* devlink's eswitch mode; otherwise legacy */
	LIST_HEAD(, vport) vports;
};

static const struct shca_wire_ops vport_ops;

static bool
is_multicast(const struct shca_frame *frame)
{
	return (frame->bytes[0] & 1) != 0;
}

/** Both lists have entries of the whole address in the FDB (LX esw_fdb_set_vport_rule). */
static bool
has_listed(const struct vport *vport, const struct shca_frame *frame)
{
	for (unsigned int i = 0; i < vport->nb_macs; i++)
		if (memcmp(vport->macs[i], frame->bytes, MAC_BYTES) == 0)
			return true;
	return false;
}

/** A group is for whoever has it in its list, and for who takes all of them: these get each group
 * that anybody lists (LX update_allmulti_vports) and all others by a rule for the multicast bit. LX
 * esw_update_vport_rx_mode silently ignores the modes of a vport without trust. */
static bool
takes(const struct vport *vport, const struct shca_frame *frame)
{
	if (vport->eswitch->is_switchdev || has_listed(vport, frame))
		return true;
	return is_multicast(frame) && vport->is_trusted &&
		(vport->is_allmulti || vport->is_promiscuous);
}

static void
give(struct vport *vport, const struct shca_frame *frame)
{
	if (shca_ring_push(vport->ring, frame, 1, &vport->nb_lost) == 0)
		vport->nb_lost++;
}

/** The vports that take a frame: an FDB entry has all vports with its address as destinations. The
 * sender, which is NULL for the uplink, gets nothing back: local loopback is off (LX
 * mlx5_nic_vport_update_local_lb). */
struct takers {
	unsigned int nb; /* without the sender */
	struct vport *last;
	bool has_sender;
};

static struct takers
find_takers(const struct eswitch *eswitch, const struct vport *from, const struct shca_frame *frame)
{
	struct takers takers = { 0 };
	struct vport *vport;

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
give_takers(struct eswitch *eswitch, const struct vport *from, const struct shca_frame *frame)
{
	struct vport *vport;

	LIST_FOREACH (vport, &eswitch->vports, link)
		if (vport != from && takes(vport, frame))
			give(vport, frame);
}

/** What no entry of the FDB is for leaves by the uplink, as does every group: each entry of a group
 * has the uplink as another destination (LX esw_add_mc_addr). */
static bool
leaves(const struct eswitch *eswitch, const struct takers *takers, const struct shca_frame *frame)
{
	return eswitch->is_switchdev || is_multicast(frame) ||
		(takers->nb == 0 && !takers->has_sender);
}

/** The ingress ACL of a vport allows one source address (LX esw_acl_ingress_lgcy_setup). */
static bool
is_refused(const struct vport *vport, const struct shca_frame *frame)
{
	return vport->checks_source && memcmp(frame->bytes + MAC_BYTES, vport->mac, MAC_BYTES) != 0;
}

/** @return false when the receiver has no room now. */
static bool
send_one(struct vport *from, const struct shca_frame *frame)
{
	struct eswitch *eswitch = from->eswitch;
	struct shca_wire *uplink = eswitch->uplink;
	struct takers takers;

	if (frame->length < 2 * MAC_BYTES) {
		from->nb_lost++;
		return true;
	}
	if (is_refused(from, frame)) {
		from->nb_refused++;
		return true;
	}
	takers = find_takers(eswitch, from, frame);
	if (leaves(eswitch, &takers, frame)) {
		if (uplink->ops->tx(uplink, frame, 1) == 0)
			return false;
	} else if (takers.nb == 1) {
		return shca_ring_push(takers.last->ring, frame, 1, &takers.last->nb_lost) == 1;
	} else if (takers.nb == 0) {
		from->nb_lost++;
	}
	give_takers(eswitch, from, frame);
	return true;
}

static unsigned int
vport_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct vport *vport = (struct vport *)wire;
	unsigned int nb = 0;

	pthread_mutex_lock(&vport->eswitch->lock);
	while (nb < nb_frames && send_one(vport, &frames[nb]))
		nb++;
	pthread_mutex_unlock(&vport->eswitch->lock);
	return nb;
}

/** Forward a frame from the uplink. Promiscuous vports get frames to an address that no vport has,
 * by the rule with the uplink as source port (LX esw_fdb_set_vport_promisc_rule). Without one the
 * PF would get them; softhca has none. */
static void
receive_one(struct eswitch *eswitch, const struct shca_frame *frame)
{
	struct vport *vport;

	if (frame->length < 2 * MAC_BYTES)
		return;
	if (find_takers(eswitch, NULL, frame).nb != 0) {
		give_takers(eswitch, NULL, frame);
		return;
	}
	LIST_FOREACH (vport, &eswitch->vports, link)
		if (vport->is_trusted && vport->is_promiscuous)
			give(vport, frame);
}

/** Take frames from the uplink once every vport has taken its own: frames of a patient wire wait in
 * the wire. */
static void
pump(struct eswitch *eswitch)
{
	struct shca_frame frames[UPLINK_BURST];
	struct vport *vport;
	unsigned int nb;

	LIST_FOREACH (vport, &eswitch->vports, link)
		if (!shca_ring_is_empty(vport->ring))
			return;
	nb = eswitch->uplink->ops->rx(eswitch->uplink, frames, UPLINK_BURST);
	for (unsigned int i = 0; i < nb; i++)
		receive_one(eswitch, &frames[i]);
}

static unsigned int
vport_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct vport *vport = (struct vport *)wire;
	unsigned int nb;

	if (nb_frames == 0)
		return 0;
	pthread_mutex_lock(&vport->eswitch->lock);
	pump(vport->eswitch);
	nb = shca_ring_pop(vport->ring, frames, nb_frames);
	pthread_mutex_unlock(&vport->eswitch->lock);
	return nb;
}

/** Start the uplink with the first rule of any vport, which may want the capture's frames. */
static void
vport_start(struct shca_wire *wire)
{
	struct eswitch *eswitch = ((struct vport *)wire)->eswitch;

	pthread_mutex_lock(&eswitch->lock);
	if (!eswitch->is_started && eswitch->uplink->ops->start != NULL)
		eswitch->uplink->ops->start(eswitch->uplink);
	eswitch->is_started = true;
	pthread_mutex_unlock(&eswitch->lock);
}

static int
vport_fd(const struct shca_wire *wire)
{
	const struct shca_wire *uplink = ((const struct vport *)wire)->eswitch->uplink;

	return uplink->ops->fd(uplink);
}

static uint64_t
vport_due_ns(const struct shca_wire *wire)
{
	const struct vport *vport = (const struct vport *)wire;
	const struct shca_wire *uplink = vport->eswitch->uplink;

	if (!shca_ring_is_empty(vport->ring))
		return 0;
	return uplink->ops->due_ns != NULL ? uplink->ops->due_ns(uplink) : UINT64_MAX;
}

static bool
vport_is_patient(const struct shca_wire *wire)
{
	const struct shca_wire *uplink = ((const struct vport *)wire)->eswitch->uplink;

	return uplink->ops->is_patient != NULL && uplink->ops->is_patient(uplink);
}

/** A vport's link follows the port's unless told otherwise (MLX5_VPORT_ADMIN_STATE_AUTO). */
static bool
vport_link(struct shca_wire *wire)
{
	struct eswitch *eswitch = ((struct vport *)wire)->eswitch;
	bool up = true;

	pthread_mutex_lock(&eswitch->lock);
	if (eswitch->uplink->ops->link != NULL)
		up = eswitch->uplink->ops->link(eswitch->uplink);
	pthread_mutex_unlock(&eswitch->lock);
	return up;
}

/** The card tells the eswitch's manager of a changed vport context (LX esw_vport_change_handler).
 */
static void
vport_set_rx_mode(struct shca_wire *wire, const struct shca_netdev *netdev)
{
	struct vport *vport = (struct vport *)wire;

	pthread_mutex_lock(&vport->eswitch->lock);
	vport->is_promiscuous = netdev->is_promiscuous;
	vport->is_allmulti = netdev->is_allmulti;
	vport->nb_macs =
		netdev->nb_macs < SHCA_NETDEV_MACS_MAX ? netdev->nb_macs : SHCA_NETDEV_MACS_MAX;
	if (vport->nb_macs != 0)
		memcpy(vport->macs, netdev->macs, vport->nb_macs * sizeof(vport->macs[0]));
	pthread_mutex_unlock(&vport->eswitch->lock);
}

static uint64_t
vport_nb_refused(const struct shca_wire *wire)
{
	const struct vport *vport = (const struct vport *)wire;
	uint64_t nb;

	pthread_mutex_lock(&vport->eswitch->lock);
	nb = vport->nb_refused;
	pthread_mutex_unlock(&vport->eswitch->lock);
	return nb;
}

/** Add the receivers at the other end of the uplink, as far as the uplink knows them. */
static void
explain_uplink(
	const struct eswitch *eswitch, const struct shca_frame *frame, struct shca_wire_path *path)
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
	const struct vport *from, const struct shca_frame *frame, struct shca_wire_path *path)
{
	struct eswitch *eswitch = from->eswitch;
	const struct vport *to;
	struct takers takers;

	path->nb_to = 0;
	if (frame->length < 2 * MAC_BYTES) {
		path->is_lost = true;
		path->what = "the switch takes no frame without addresses";
		return;
	}
	if (is_refused(from, frame)) {
		path->is_lost = true;
		path->what = "its source address is not the virtual function's";
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
		path->what = "to another virtual function, and not onto the wire";
	else if (takers.has_sender)
		path->what = "it is for its sender, to whom the switch sends nothing back";
	path->is_lost = takers.nb == 0 && !leaves(eswitch, &takers, frame);
	LIST_FOREACH (to, &eswitch->vports, link)
		if (to != from && takes(to, frame) && path->nb_to < SHCA_WIRE_PATH_MAX)
			path->to[path->nb_to++] = &to->wire;
	if (leaves(eswitch, &takers, frame))
		explain_uplink(eswitch, frame, path);
}

static void
vport_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	const struct vport *vport = (const struct vport *)wire;

	pthread_mutex_lock(&vport->eswitch->lock);
	explain_locked(vport, frame, path);
	pthread_mutex_unlock(&vport->eswitch->lock);
}

static void
vport_close(struct shca_wire *wire)
{
	struct vport *vport = (struct vport *)wire;
	struct eswitch *eswitch = vport->eswitch;
	bool is_last;

	if (vport->nb_refused != 0 || vport->nb_lost != 0)
		SHCA_INFO("vport: refused %lu frames with another source address, lost %lu",
			(unsigned long)vport->nb_refused, (unsigned long)vport->nb_lost);
	pthread_mutex_lock(&eswitch->lock);
	LIST_REMOVE(vport, link);
	is_last = LIST_EMPTY(&eswitch->vports);
	pthread_mutex_unlock(&eswitch->lock);
	shca_ring_destroy(vport->ring);
	free(vport);
	if (!is_last)
		return;
	eswitch->uplink->ops->close(eswitch->uplink);
	pthread_mutex_destroy(&eswitch->lock);
	free(eswitch);
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
	.set_rx_mode = vport_set_rx_mode,
	.nb_refused = vport_nb_refused,
	.explain = vport_explain,
	.close = vport_close,
};

/** A netdev begins with its own address and broadcast (LX mlx5e_fill_addr_array). */
static void
set_first_macs(struct vport *vport, const uint8_t *mac)
{
	memcpy(vport->mac, mac, MAC_BYTES);
	memcpy(vport->macs[0], mac, MAC_BYTES);
	memset(vport->macs[1], 0xff, MAC_BYTES);
	vport->nb_macs = 2;
}

static int
add(struct eswitch *eswitch, const struct shca_eswitch_vport *conf, struct shca_wire **wire)
{
	struct vport *vport = calloc(1, sizeof(*vport));

	if (vport == NULL)
		return -ENOMEM;
	*vport = (struct vport){
		.wire.ops = &vport_ops,
		.eswitch = eswitch,
		.is_trusted = conf->is_trusted,
		.is_promiscuous = conf->is_promiscuous,
		.checks_source = conf->checks_source,
		.ring = shca_ring_create(RING_SIZE_LOG2),
	};
	if (vport->ring == NULL) {
		free(vport);
		return -ENOMEM;
	}
	set_first_macs(vport, conf->mac);
	pthread_mutex_lock(&eswitch->lock);
	LIST_INSERT_HEAD(&eswitch->vports, vport, link);
	pthread_mutex_unlock(&eswitch->lock);
	*wire = &vport->wire;
	return 0;
}

int
shca_eswitch_open(
	struct shca_wire *uplink, const struct shca_eswitch_vport *vport, struct shca_wire **wire)
{
	struct eswitch *eswitch = calloc(1, sizeof(*eswitch));
	int ret;

	if (eswitch == NULL)
		return -ENOMEM;
	eswitch->uplink = uplink;
	eswitch->is_switchdev = vport->is_switchdev;
	LIST_INIT(&eswitch->vports);
	ret = -pthread_mutex_init(&eswitch->lock, NULL);
	if (ret != 0)
		goto free_eswitch;
	ret = add(eswitch, vport, wire);
	if (ret != 0)
		goto destroy_lock;
	return 0;

destroy_lock:
	pthread_mutex_destroy(&eswitch->lock);
free_eswitch:
	free(eswitch);
	return ret;
}

int
shca_eswitch_join(
	struct shca_wire *of, const struct shca_eswitch_vport *vport, struct shca_wire **wire)
{
	return add(((struct vport *)of)->eswitch, vport, wire);
}
