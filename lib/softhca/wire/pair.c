/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Wire "pair:ID": a cable between the two ports of a set that name the same ID. */
#include "wire/kinds.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/log.h"
#include "wire/ring.h"

/** Frames that do not fit stay with their sender. It is small, for its speed depends on whether a
 * turn of it stays in a CPU's caches. */
#define PAIR_SIZE_LOG2 17

/** One end. */
struct end {
	struct shca_wire wire;
	struct pair *pair;
	atomic_bool is_down; /**< this end's port took the link down */
	uint64_t nb_dropped;

	/** What its peer's thread asks for: by a lock of each end frames go both ways at once. It
	 * guards the following. */
	pthread_mutex_t lock;
	bool is_open;
	struct shca_ring *ring; /**< the frames that this end will receive */
	int wake_fd;            /**< readable when the peer has woken this end's thread */
};

struct pair {
	struct pair *next;
	char *id;
	struct end end[2];
};

/**
 * Global because the two ends are opened one after the other by their ID alone. The lock guards the
 * list, and that ends are opened and closed one by one; ends' locks are taken after it.
 */
static pthread_mutex_t pairs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pair *pairs;

static void
lock_all(void)
{
	pthread_mutex_lock(&pairs_lock);
	for (struct pair *pair = pairs; pair != NULL; pair = pair->next)
		for (unsigned int i = 0; i < 2; i++)
			pthread_mutex_lock(&pair->end[i].lock);
}

static void
unlock_all(void)
{
	for (struct pair *pair = pairs; pair != NULL; pair = pair->next)
		for (unsigned int i = 0; i < 2; i++)
			pthread_mutex_unlock(&pair->end[i].lock);
	pthread_mutex_unlock(&pairs_lock);
}

/** In a forked child: forget the inherited ends, which have no device thread. The child may open
 * pairs of its own. */
static void
forget_pairs(void)
{
	unlock_all();
	pairs = NULL;
}

static void
register_fork(void)
{
	/* Fails for lack of memory only; a child would find the IDs taken then. */
	(void)pthread_atfork(lock_all, unlock_all, forget_pairs);
}

/** @return the pair with that ID, created if necessary, or NULL. */
static struct pair *
get_pair(const char *id)
{
	struct pair *pair;

	for (pair = pairs; pair != NULL; pair = pair->next)
		if (strcmp(pair->id, id) == 0)
			return pair;
	pair = calloc(1, sizeof(*pair));
	if (pair == NULL)
		return NULL;
	pair->id = strdup(id);
	if (pair->id == NULL) {
		free(pair);
		return NULL;
	}
	for (unsigned int i = 0; i < 2; i++) {
		pair->end[i].wire.ops = &shca_pair_wire;
		pair->end[i].pair = pair;
		pthread_mutex_init(&pair->end[i].lock, NULL);
	}
	pair->next = pairs;
	pairs = pair;
	return pair;
}

/** Free a pair that has no open end left. */
static void
put_pair(struct pair *pair)
{
	struct pair **link = &pairs;

	if (pair->end[0].is_open || pair->end[1].is_open)
		return;
	while (*link != NULL && *link != pair)
		link = &(*link)->next;
	if (*link != NULL) /* else: forgotten after a fork */
		*link = pair->next;
	for (unsigned int i = 0; i < 2; i++)
		pthread_mutex_destroy(&pair->end[i].lock);
	free(pair->id);
	free(pair);
}

/** The ends' lock is held, or nobody else knows of it. */
static void
close_end(struct end *end)
{
	shca_ring_destroy(end->ring);
	if (end->wake_fd >= 0)
		close(end->wake_fd);
	end->is_open = false;
}

static int
open_end(struct end *end)
{
	int ret = 0;

	pthread_mutex_lock(&end->lock);
	end->nb_dropped = 0;
	atomic_store(&end->is_down, false);
	end->ring = shca_ring_create(PAIR_SIZE_LOG2);
	end->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	end->is_open = true;
	if (end->ring == NULL || end->wake_fd < 0) {
		ret = end->ring == NULL ? -ENOMEM : -errno;
		close_end(end);
	}
	pthread_mutex_unlock(&end->lock);
	return ret;
}

/** The pairs' lock is held. */
static int
open_one(const char *id, struct shca_wire **wire)
{
	struct pair *pair = get_pair(id);
	struct end *end;
	int ret;

	if (pair == NULL)
		return -ENOMEM;
	end = &pair->end[pair->end[0].is_open ? 1 : 0];
	if (end->is_open) {
		SHCA_ERR("pair:%s has two ends already", id);
		return -EBUSY;
	}
	ret = open_end(end);
	if (ret != 0) {
		put_pair(pair);
		return ret;
	}
	*wire = &end->wire;
	return 0;
}

static int
pair_open(const struct shca_wire_conf *conf, struct shca_wire **wire)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int ret;

	pthread_once(&once, register_fork);
	pthread_mutex_lock(&pairs_lock);
	ret = open_one(conf->arg, wire);
	pthread_mutex_unlock(&pairs_lock);
	return ret;
}

static struct end *
peer_of(const struct end *end)
{
	struct pair *pair = end->pair;

	return &pair->end[end == &pair->end[0]];
}

static unsigned int
pair_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct end *end = (struct end *)wire, *peer = peer_of(end);
	unsigned int nb = nb_frames;

	pthread_mutex_lock(&peer->lock);
	if (peer->is_open) {
		nb = shca_ring_push(peer->ring, frames, nb_frames, &end->nb_dropped);
		if (shca_ring_must_wake(peer->ring))
			(void)eventfd_write(peer->wake_fd, 1);
	} else {
		end->nb_dropped += nb_frames; /* an unplugged cable */
	}
	pthread_mutex_unlock(&peer->lock);
	return nb;
}

static unsigned int
pair_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	const struct end *end = (const struct end *)wire;
	eventfd_t nb_wakes;

	if (shca_ring_want_wake(end->ring, false))
		(void)eventfd_read(end->wake_fd, &nb_wakes);
	return shca_ring_pop(end->ring, frames, nb_frames);
}

static int
pair_fd(const struct shca_wire *wire)
{
	return ((const struct end *)wire)->wake_fd;
}

static uint64_t
pair_due_ns(const struct shca_wire *wire)
{
	struct shca_ring *ring = ((const struct end *)wire)->ring;

	(void)shca_ring_want_wake(ring, true);
	return shca_ring_is_empty(ring) ? UINT64_MAX : 0;
}

static bool
is_open(struct end *end)
{
	bool is;

	pthread_mutex_lock(&end->lock);
	is = end->is_open;
	pthread_mutex_unlock(&end->lock);
	return is;
}

static bool
pair_link(struct shca_wire *wire)
{
	struct end *peer = peer_of((const struct end *)wire);

	return is_open(peer) && !atomic_load(&peer->is_down);
}

static void
pair_set_carrier(struct shca_wire *wire, bool on)
{
	atomic_store(&((struct end *)wire)->is_down, !on);
}

static void
pair_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	struct end *peer = peer_of((const struct end *)wire);

	(void)frame;
	if (is_open(peer))
		*path = (struct shca_wire_path){
			.what = "to the other end of its pair", .to = { &peer->wire }, .nb_to = 1
		};
	else
		*path = (struct shca_wire_path){ .what = "the pair has no other end",
			.is_lost = true };
}

static void
pair_close(struct shca_wire *wire)
{
	struct end *end = (struct end *)wire;
	struct pair *pair = end->pair;

	if (end->nb_dropped != 0)
		SHCA_INFO("pair:%s: dropped %lu frames", pair->id, (unsigned long)end->nb_dropped);
	pthread_mutex_lock(&pairs_lock);
	pthread_mutex_lock(&end->lock);
	close_end(end);
	pthread_mutex_unlock(&end->lock);
	put_pair(pair);
	pthread_mutex_unlock(&pairs_lock);
}

const struct shca_wire_ops shca_pair_wire = {
	.name = "pair",
	.usage = "pair:ID",
	.help = "a cable to the other port of this command that names the ID",
	.open = pair_open,
	.tx = pair_tx,
	.rx = pair_rx,
	.fd = pair_fd,
	.due_ns = pair_due_ns,
	.link = pair_link,
	.set_carrier = pair_set_carrier,
	.explain = pair_explain,
	.close = pair_close,
};
