/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Files and identifiers, for the files of this room; the manager's lock is held. */
#ifndef SHCA_UCMA_ID_H
#define SHCA_UCMA_ID_H

#include <netinet/in.h> /* before Linux's own */
#include <pthread.h>
#include <sys/queue.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "base/idtable.h"
#include "cm/cm.h"
#include "ucma/address.h"
#include "ucma/ucma.h"

/** Linux include/rdma/rdma_cm.h enum rdma_cm_event_type. */
enum shca_ucm_event_kind {
	SHCA_UCM_ADDR_RESOLVED,
	SHCA_UCM_ADDR_ERROR,
	SHCA_UCM_ROUTE_RESOLVED,
	SHCA_UCM_ROUTE_ERROR,
	SHCA_UCM_CONNECT_REQUEST,
	SHCA_UCM_CONNECT_RESPONSE,
	SHCA_UCM_CONNECT_ERROR,
	SHCA_UCM_UNREACHABLE,
	SHCA_UCM_REJECTED,
	SHCA_UCM_ESTABLISHED,
	SHCA_UCM_DISCONNECTED,
	SHCA_UCM_DEVICE_REMOVAL,
	SHCA_UCM_MULTICAST_JOIN,
	SHCA_UCM_MULTICAST_ERROR,
	SHCA_UCM_ADDR_CHANGE,
	SHCA_UCM_TIMEWAIT_EXIT,
};

/** Linux cma_priv.h enum rdma_cm_state. */
enum shca_id_state {
	SHCA_ID_IDLE,
	SHCA_ID_BOUND,
	SHCA_ID_ADDR_QUERY,
	SHCA_ID_ADDR_RESOLVED,
	SHCA_ID_ROUTE_RESOLVED,
	SHCA_ID_CONNECT,
	SHCA_ID_DISCONNECT,
	SHCA_ID_LISTEN,
	SHCA_ID_REMOVED, /**< its device has gone: it can be destroyed */
};

struct shca_ucma_file {
	LIST_ENTRY(shca_ucma_file) link;
	struct shca_ucma *ucma;
	int our_fd;
	int user_fd; /* its number when it was made, maybe not there */
	ino_t inode; /* of the application's end */
	pid_t pid;   /* of the process that opened it */
	LIST_HEAD(, shca_id) ids;
	TAILQ_HEAD(, shca_ucma_event) events;
	bool is_readable; /* the application's end */
};

/** Of a connection, for queue pairs (core/cm.c struct cm_id_private). */
struct shca_id_qp {
	uint32_t remote_qpn;
	uint32_t rq_psn, sq_psn;
	uint8_t responder_resources, initiator_depth;
	uint8_t retry_count, rnr_retry_count;
	uint8_t ack_timeout;
	uint8_t mtu;
};

/** The way of its packets, as it was when it was resolved, or as a REQ says (struct sa_path_rec).
 */
struct shca_id_path {
	bool is_known;
	uint32_t flow_label;
	uint8_t mtu, rate, life_time, traffic_class;
};

struct shca_id {
	LIST_ENTRY(shca_id) link;
	struct shca_ucma_file *file;
	uint32_t number;
	uint64_t uid;
	uint16_t space;  /* enum rdma_ucm_port_space */
	uint8_t qp_type; /* enum ib_uverbs_qp_type */
	enum shca_id_state state;
	struct shca_address src, dst; /* family 0: none */
	bool has_gid;                 /* it is bound to a port */
	struct shca_ucma_gid gid;
	struct shca_ucma_port port;
	uint8_t remote_gid[SHCA_UCMA_GID_BYTES];
	uint64_t resolve_until; /* in ADDR_QUERY */
	/* What it has again if that fails. */
	struct shca_address src_before;
	bool had_gid;
	unsigned int backlog; /* of one that listens: room left */
	struct shca_cm_conn *conn;
	bool is_passive;
	struct shca_id_path path;
	struct shca_id_qp qp;
	uint32_t qpn;  /* of its queue pair, as the application has named it; or 0 */
	uint32_t qkey; /* of UD */
	uint8_t tos;
	bool reuses_address, is_afonly, has_afonly;
	bool has_ack_timeout;
	uint8_t ack_timeout;
	uint32_t nb_reported;
	LIST_HEAD(, shca_ucma_group) groups;
};

/** A multicast group that an identifier has joined. */
struct shca_ucma_group {
	LIST_ENTRY(shca_ucma_group) link;
	struct shca_id *id;
	uint32_t number;
	uint64_t uid;
	struct shca_address address;
	uint32_t nb_reported;
};

struct shca_ucma_event {
	TAILQ_ENTRY(shca_ucma_event) link;
	struct shca_id *id;
	struct shca_id *request; /* of a CONNECT_REQUEST: the new one */
	struct shca_ucma_group *group;
	struct rdma_ucm_event_resp answer;
};

struct shca_ucma_datagram {
	TAILQ_ENTRY(shca_ucma_datagram) link;
	struct shca_cm_path path;
	uint8_t bytes[SHCA_UCMA_MAD_BYTES];
};

struct shca_ucma {
	pthread_mutex_t lock;
	struct shca_ucma_conf conf;
	struct shca_cm *cm;
	LIST_HEAD(, shca_ucma_file) files;
	struct shca_idtable ids, groups;
	unsigned int nb_resolving; /* identifiers in ADDR_QUERY */
	uint32_t random;           /* of ports and PSNs */
	pthread_mutex_t queue_lock;
	TAILQ_HEAD(, shca_ucma_datagram) queue;
	unsigned int nb_queued;
	uint64_t removed; /* devices that have gone, as bits, until identifiers are told */
};

/** What an identifier's port is for the CM: who is asked by RoCE v1 answers by it. */
static inline uint32_t
shca_id_path_port(const struct shca_ucma_gid *gid)
{
	return (uint32_t)gid->is_v2 << 31 | gid->device << 8 | gid->port;
}

/** @return whether its queue pairs are UD. */
static inline bool
shca_id_is_ud(const struct shca_id *id)
{
	return id->qp_type == IB_UVERBS_QPT_UD;
}

/** @{ Identifiers. */
/** @return 0 or -ENOMEM. */
int shca_id_create(struct shca_ucma_file *file, struct shca_id **id);
/** With its events. @return how many events were reported of it. */
uint32_t shca_id_destroy(struct shca_id *id);
/** For one that goes. @return 0, -ENOENT, or -EINVAL: it is another file's. */
int shca_id_find_any(struct shca_ucma_file *file, uint32_t number, struct shca_id **id);
/** For all else. @return the same, or -ENXIO: its device has gone (ucma_get_ctx()). */
int shca_id_find(struct shca_ucma_file *file, uint32_t number, struct shca_id **id);
uint32_t shca_id_random(struct shca_ucma *ucma);
/** @} */

/** @{ Events (ucma/ucm_event.c). */
/** Make one of an identifier. @return NULL: no memory. */
struct shca_ucma_event *shca_ucm_event_make(struct shca_id *id, uint32_t what, int status);
/** Queue it for the application. */
void shca_ucm_event_queue(struct shca_ucma_event *event);
/** Both, of an event with nothing more to say. @return 0 or -ENOMEM. */
int shca_ucm_event_tell(struct shca_id *id, uint32_t what, int status);
/** Take back the events of an identifier, or of a group alone, up to the first that is a request.
 * @return the identifier of that, which nobody will accept, or NULL: it was the last. */
struct shca_id *shca_ucm_event_drop(struct shca_id *id, const struct shca_ucma_group *group);
/** The identifier goes, and perhaps before its request has been read: that event names nobody then.
 */
void shca_ucm_event_forget(const struct shca_id *request);
/** Take an event from the queue, when it has been read. */
void shca_ucm_event_take(struct shca_ucma_event *event);
/** Move an identifier's events to the file @p to. */
void shca_ucm_event_move(struct shca_id *id, struct shca_ucma_file *to);
/** @} */

#endif /* SHCA_UCMA_ID_H */
