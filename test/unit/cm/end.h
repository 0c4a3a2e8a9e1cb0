/* SPDX-License-Identifier: BSD-3-Clause */
/** @file One end for tests: a manager, and what it has sent and told. */
#ifndef TEST_CM_END_H
#define TEST_CM_END_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cm/cm.h"

#define END_ID_OPERAND 0x9e3779b9

enum {
	END_NB_KEPT = 64,
	GUID_HERE = 0x1111,
	GUID_THERE = 0x2222,
	QPN_HERE = 0x100,
	QPN_THERE = 0x200,
	ID_THERE = 0x77,
};

struct end {
	struct shca_cm *cm;
	struct shca_cm_conn *conn;
	struct shca_cm_conn *requested; /* the last that came */
	bool refuses;
	struct shca_mad sent[END_NB_KEPT];
	unsigned int nb_sent;
	enum shca_cm_happening told[END_NB_KEPT];
	unsigned int nb_told;
};

static void
end_send(void *arg, const struct shca_cm_path *path, const struct shca_mad *mad)
{
	struct end *end = arg;

	(void)path;
	end->sent[end->nb_sent++ % END_NB_KEPT] = *mad;
}

static void *
end_request(void *arg, struct shca_cm_conn *conn, const struct shca_mad *mad, uint16_t *reason)
{
	struct end *end = arg;

	(void)mad;
	(void)reason;
	if (end->refuses)
		return NULL;
	end->requested = conn;
	return end;
}

static void
end_event(void *arg, void *owner, enum shca_cm_happening what, const struct shca_mad *mad)
{
	struct end *end = arg;

	(void)owner;
	(void)mad;
	end->told[end->nb_told++ % END_NB_KEPT] = what;
}

static inline void
end_open(struct end *end)
{
	const struct shca_cm_ops ops = {
		.send = end_send,
		.request = end_request,
		.event = end_event,
		.arg = end,
		.id_operand = END_ID_OPERAND,
	};

	memset(end, 0, sizeof(*end));
	end->cm = shca_cm_create(&ops);
	if (end->cm == NULL)
		abort();
}

static inline void
end_close(struct end *end)
{
	shca_cm_destroy(end->cm);
}

static const struct shca_cm_path end_path = {
	.port = 1,
	.local = { 0xfe, 0x80, [15] = 1 },
	.remote = { 0xfe, 0x80, [15] = 2 },
};

/** A message of the other side comes. */
static inline void
end_receive(struct end *end, uint64_t now, const struct shca_mad *mad)
{
	uint8_t bytes[SHCA_MAD_BYTES];

	shca_mad_write(mad, bytes);
	shca_cm_receive(end->cm, now, &end_path, bytes, sizeof(bytes));
}

#endif /* TEST_CM_END_H */
