/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The switch and its ends, as the files of this room see them. Internal to eswitch/.
 */
#ifndef SHCA_ESWITCH_STATE_H
#define SHCA_ESWITCH_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "eswitch/intake.h"
#include "wire/wire.h"

#define SHCA_ESWITCH_RING_LOG2 20
#define SHCA_ESWITCH_MAC_BYTES 6

struct shca_eswitch;
struct shca_ring;

/** What a port of a device is connected to: the end of a vport, or of the manager. */
struct shca_eswitch_end {
	struct shca_wire wire;
	struct shca_eswitch *eswitch;
};

/** MLX5_VPORT_ADMIN_STATE_*: a representor's netdev sets its function's (Linux en_rep.c,
 * mlx5e_rep_open). */
enum shca_vport_admin {
	SHCA_VPORT_AUTO, /**< as the uplink */
	SHCA_VPORT_UP,
	SHCA_VPORT_DOWN,
};

struct shca_vport {
	struct shca_eswitch_end end;
	LIST_ENTRY(shca_vport) link;
	uint8_t mac[SHCA_ESWITCH_MAC_BYTES]; /* the host's, for the check of source addresses */
	uint32_t port;                       /* of the manager: its representor's */
	enum shca_vport_admin admin;
	bool is_physical, is_trusted, checks_source;
	/* The NIC vport context, which the function's netdev writes (Linux en_fs.c,
	 * mlx5e_vport_context_update). */
	bool is_promiscuous, is_allmulti;
	bool is_resting; /* its device takes nothing: frames wait while there is room */
	uint8_t macs[SHCA_NETDEV_MACS_MAX][SHCA_ESWITCH_MAC_BYTES];
	unsigned int nb_macs;
	/* Frames it will receive, from other functions or the manager, and from the uplink: two, as
	 * functions may send without a pause. */
	struct shca_intake intake;
	struct shca_ring *from_uplink;
	bool is_uplinks_turn; /* its frames come first next time */
	uint64_t nb_refused;  /* sent from another address */
	uint64_t nb_lost;     /* no room, or no receiver */
};

struct shca_eswitch_manager {
	struct shca_eswitch_end end;
	uint32_t uplink_port;
	struct shca_intake intake; /* frames of vports, with their ports */
	bool is_uplinks_turn;      /* as a vport's */
	uint64_t nb_lost;          /* no link, no room, or no such vport */
	bool is_link_disabled;     /* of the uplink */
	bool is_resting;           /* as a vport's */
};

/** Several device threads may serve the ends: the lock guards all but the ends of their rings. */
struct shca_eswitch {
	pthread_mutex_t lock;
	struct shca_wire *uplink;
	bool is_started;
	bool is_switchdev; /* devlink's eswitch mode; otherwise legacy */
	LIST_HEAD(, shca_vport) vports;
	struct shca_eswitch_manager *manager; /* NULL: on another host, or legacy */
};

/** Make a switch without ends. @param uplink owned from then on. @return 0 or -ENOMEM. */
int shca_eswitch_create(struct shca_wire *uplink, bool is_switchdev, struct shca_eswitch **eswitch);
/** Destroy the switch, and close its uplink, if it has no end any more. */
void shca_eswitch_release(struct shca_eswitch *eswitch);
/** Lock the switch of an end. @return it. */
struct shca_eswitch *shca_eswitch_lock(const struct shca_wire *end);
void shca_eswitch_unlock(struct shca_eswitch *eswitch);
/** Start the uplink, once. */
void shca_eswitch_start(struct shca_eswitch *eswitch);

#endif /* SHCA_ESWITCH_STATE_H */
