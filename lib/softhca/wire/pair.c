/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Wire "pair:ID": a cable between the two ports of a set that name the same ID. */
#include "wire/kinds.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "wire/ring.h"

/** Frames that do not fit stay with their sender. It is small, for its speed depends on whether a
 * turn of it stays in a CPU's caches. */
#define PAIR_SIZE_LOG2 17

struct pair;

/** One end; ring holds the frames that this end will receive. */
struct end {
	struct shca_wire wire;
	struct pair *pair;
	bool is_down;     /**< this end's port took the link down. Guarded by the pairs' lock */
	struct end *peer; /**< NULL: the other end is not open. Guarded by the pairs' lock */
	struct shca_ring *ring;
	uint64_t nb_dropped;
};

struct pair {
	struct pair *next;
	char *id;
	struct end end[2];
	bool is_open[2];
};

/**
 * Global because the two ends are opened one after the other by their ID alone. The lock guards the
 * list and the peers. Each burst takes it, uncontended if one device thread serves both ends.
 */
static pthread_mutex_t pairs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pair *pairs;

static void
lock_pairs(void)
{
	pthread_mutex_lock(&pairs_lock);
}

static void
unlock_pairs(void)
{
	pthread_mutex_unlock(&pairs_lock);
}

/** In a forked child: forget the inherited ends, which have no device thread. The child may open
 * pairs of its own. */
static void
forget_pairs(void)
{
	pairs = NULL;
	unlock_pairs();
}

static void
register_fork(void)
{
	/* Fails for lack of memory only; a child would find the IDs taken then. */
	(void)pthread_atfork(lock_pairs, unlock_pairs, forget_pairs);
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
	pair->next = pairs;
	pairs = pair;
	return pair;
}

/** Free a pair that has no open end left. */
static void
put_pair(struct pair *pair)
{
	struct pair **link = &pairs;

	if (pair->is_open[0] || pair->is_open[1])
		return;
	while (*link != NULL && *link != pair)
		link = &(*link)->next;
	if (*link != NULL) /* else: forgotten after a fork */
		*link = pair->next;
	free(pair->id);
	free(pair);
}

/** The lock is held. */
static int
open_end(const char *id, struct shca_wire **wire)
{
	struct pair *pair = get_pair(id);
	struct end *end;
	unsigned int i;

	if (pair == NULL)
		return -ENOMEM;
	i = pair->is_open[0] ? 1 : 0;
	if (pair->is_open[i]) {
		SHCA_ERR("pair:%s has two ends already", id);
		return -EBUSY;
	}
	end = &pair->end[i];
	memset(end, 0, sizeof(*end));
	end->ring = shca_ring_create(PAIR_SIZE_LOG2);
	if (end->ring == NULL) {
		put_pair(pair);
		return -ENOMEM;
	}
	end->wire.ops = &shca_pair_wire;
	end->pair = pair;
	pair->is_open[i] = true;
	if (pair->is_open[!i]) {
		end->peer = &pair->end[!i];
		end->peer->peer = end;
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
	lock_pairs();
	ret = open_end(conf->arg, wire);
	unlock_pairs();
	return ret;
}

static unsigned int
pair_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct end *end = (struct end *)wire;
	unsigned int nb = nb_frames;

	lock_pairs();
	if (end->peer != NULL)
		nb = shca_ring_push(end->peer->ring, frames, nb_frames, &end->nb_dropped);
	else
		end->nb_dropped += nb_frames; /* an unplugged cable */
	unlock_pairs();
	return nb;
}

static unsigned int
pair_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	return shca_ring_pop(((struct end *)wire)->ring, frames, nb_frames);
}

static int
pair_fd(const struct shca_wire *wire)
{
	(void)wire;
	return -1;
}

static uint64_t
pair_due_ns(const struct shca_wire *wire)
{
	return shca_ring_is_empty(((const struct end *)wire)->ring) ? UINT64_MAX : 0;
}

static bool
pair_link(struct shca_wire *wire)
{
	const struct end *end = (const struct end *)wire;
	bool up;

	lock_pairs();
	up = end->peer != NULL && !end->peer->is_down;
	unlock_pairs();
	return up;
}

static void
pair_set_carrier(struct shca_wire *wire, bool on)
{
	lock_pairs();
	((struct end *)wire)->is_down = !on;
	unlock_pairs();
}

static void
pair_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	const struct end *end = (const struct end *)wire;

	(void)frame;
	lock_pairs();
	if (end->peer != NULL)
		*path = (struct shca_wire_path){ .what = "to the other end of its pair",
			.to = { &end->peer->wire },
			.nb_to = 1 };
	else
		*path = (struct shca_wire_path){ .what = "the pair has no other end",
			.is_lost = true };
	unlock_pairs();
}

static void
pair_close(struct shca_wire *wire)
{
	struct end *end = (struct end *)wire;
	struct pair *pair = end->pair;

	if (end->nb_dropped != 0)
		SHCA_INFO("pair:%s: dropped %lu frames", pair->id, (unsigned long)end->nb_dropped);
	lock_pairs();
	if (end->peer != NULL)
		end->peer->peer = NULL;
	shca_ring_destroy(end->ring);
	pair->is_open[end - pair->end] = false;
	put_pair(pair);
	unlock_pairs();
}

const struct shca_wire_ops shca_pair_wire = {
	.name = "pair",
	.usage = "pair:ID",
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
