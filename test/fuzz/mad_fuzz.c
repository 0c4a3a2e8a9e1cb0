/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Received datagrams of connection management: any bytes, and messages whose IDs and GUIDs fit, to
 * a manager whose owner does anything meanwhile. Whatever comes, each connection has one owner who
 * is told only of what it has, and nothing is left of those that went.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cm/cm.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	NB_OWNERS = 16,
	GUIDS = 3,
};

struct owner {
	struct shca_cm_conn *conn;
};

static struct {
	struct fuzz_input *input;
	struct shca_cm *cm;
	struct owner owner[NB_OWNERS];
	uint64_t now;
	uint32_t last_id; /* of ours, that went out */
} state;

static void
release(struct owner *owner)
{
	struct shca_cm_conn *conn = owner->conn;

	owner->conn = NULL;
	shca_cm_release(conn, state.now);
}

/** What goes out can be read again, and is the same. */
static void
on_send(void *arg, const struct shca_cm_path *path, const struct shca_mad *mad)
{
	uint8_t bytes[SHCA_MAD_BYTES], again[SHCA_MAD_BYTES];
	struct shca_mad read;

	(void)arg;
	(void)path;
	shca_mad_write(mad, bytes);
	FUZZ_CHECK(shca_mad_read(bytes, sizeof(bytes), &read) == 0);
	FUZZ_CHECK(read.kind == mad->kind && read.tid == mad->tid);
	shca_mad_write(&read, again);
	FUZZ_CHECK(memcmp(bytes, again, sizeof(bytes)) == 0);
	if (mad->local_id != 0)
		state.last_id = mad->local_id;
}

static void *
on_request(void *arg, struct shca_cm_conn *conn, const struct shca_mad *mad, uint16_t *reason)
{
	struct owner *owner = &state.owner[fuzz_input_choose(state.input, NB_OWNERS)];

	(void)arg;
	FUZZ_CHECK(mad->kind == SHCA_MAD_REQ || mad->kind == SHCA_MAD_SIDR_REQ);
	*reason = SHCA_MAD_NO_RESOURCES;
	if (owner->conn != NULL)
		return NULL;
	owner->conn = conn;
	return owner;
}

static void
on_event(void *arg, void *who, enum shca_cm_happening what, const struct shca_mad *mad)
{
	struct owner *owner = who;

	(void)arg;
	(void)mad;
	FUZZ_CHECK(owner >= state.owner && owner < state.owner + NB_OWNERS);
	FUZZ_CHECK(owner->conn != NULL && what <= SHCA_CM_SIDR_REP);
	/* An owner may go while it is told. */
	if (fuzz_input_choose(state.input, 8) == 0)
		release(owner);
}

static uint32_t
choose_id(struct fuzz_input *input)
{
	return fuzz_input_choose(input, 4) != 0 ? state.last_id : fuzz_input_word(input);
}

static void
receive(struct fuzz_input *input)
{
	const struct shca_cm_path path = { .port = fuzz_input_choose(input, 2) };
	struct shca_mad mad = { .kind = SHCA_MAD_REQ };
	uint8_t bytes[SHCA_MAD_BYTES] = { 0 };
	uint8_t *exact;
	size_t length = sizeof(bytes);

	mad.kind += fuzz_input_choose(input, SHCA_MAD_KINDS_END - SHCA_MAD_REQ);
	mad.local_id = fuzz_input_choose(input, 4);
	mad.remote_id = choose_id(input);
	mad.ca_guid = fuzz_input_choose(input, GUIDS);
	mad.info[7] = (uint8_t)mad.ca_guid;
	mad.qpn = fuzz_input_choose(input, 4);
	mad.reason = fuzz_input_choose(input, 32);
	mad.about = fuzz_input_choose(input, 3);
	mad.service_timeout = fuzz_input_byte(input) & 31;
	mad.local_timeout = fuzz_input_byte(input) & 31;
	mad.max_cm_retries = fuzz_input_byte(input) & 15;
	shca_mad_write(&mad, bytes);
	if (fuzz_input_choose(input, 4) == 0) {
		length = fuzz_input_byte(input) + 1u;
		fuzz_input_fill(input, bytes + fuzz_input_byte(input) % 64, 64);
	}
	exact = malloc(length);
	FUZZ_CHECK(exact != NULL);
	memcpy(exact, bytes, length);
	shca_cm_receive(state.cm, state.now, &path, exact, length);
	free(exact);
}

static void
ask(struct fuzz_input *input, struct owner *owner)
{
	const struct shca_cm_path path = { .port = 1 };
	struct shca_mad mad = { .kind = SHCA_MAD_REQ };

	if (fuzz_input_choose(input, 4) == 0)
		mad.kind = SHCA_MAD_SIDR_REQ;
	mad.ca_guid = 0x100;
	mad.qpn = fuzz_input_choose(input, 4);
	mad.remote_timeout = fuzz_input_byte(input) & 31;
	mad.ack_timeout = fuzz_input_byte(input) & 31;
	mad.max_cm_retries = fuzz_input_byte(input) & 15;
	FUZZ_CHECK(shca_cm_request(state.cm, state.now, &path, &mad, owner, &owner->conn) == 0);
}

/** Whether it is allowed or not. */
static void
act(struct fuzz_input *input)
{
	struct owner *owner = &state.owner[fuzz_input_choose(input, NB_OWNERS)];
	const struct shca_mad rep = { .kind = SHCA_MAD_REP, .qpn = 2 };
	const struct shca_mad sidr_rep = { .kind = SHCA_MAD_SIDR_REP };
	const enum shca_cm_state before =
		owner->conn != NULL ? shca_cm_state(owner->conn) : SHCA_CM_IDLE;
	int ret = 0;

	if (owner->conn == NULL) {
		ask(input, owner);
		return;
	}
	switch (fuzz_input_choose(input, 10)) {
	case 0:
		ret = shca_cm_reply(owner->conn, state.now, &rep);
		break;
	case 1:
		ret = shca_cm_reply(owner->conn, state.now, &sidr_rep);
		break;
	case 2:
		ret = shca_cm_establish(owner->conn, NULL);
		break;
	case 3:
		ret = shca_cm_reject(owner->conn, &rep);
		break;
	case 4:
		ret = shca_cm_delay(owner->conn, fuzz_input_byte(input) & 31);
		break;
	case 5:
		ret = shca_cm_disconnect(owner->conn, state.now, NULL);
		break;
	case 6:
		ret = shca_cm_confirm(owner->conn, state.now, NULL);
		break;
	case 7:
		(void)shca_cm_notify(owner->conn);
		break;
	default:
		release(owner);
	}
	/* What is refused changes nothing. */
	FUZZ_CHECK(ret == 0 || shca_cm_state(owner->conn) == before);
}

static void
pass_time(struct fuzz_input *input)
{
	uint64_t next = shca_cm_run(state.cm, state.now);

	FUZZ_CHECK(next > state.now);
	if (next != UINT64_MAX && fuzz_input_choose(input, 2) == 0)
		state.now = next;
	else
		state.now += fuzz_input_word(input);
	FUZZ_CHECK(shca_cm_run(state.cm, state.now) > state.now);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { .at = data, .end = data + size };
	const struct shca_cm_ops ops = {
		.send = on_send,
		.request = on_request,
		.event = on_event,
	};
	size_t bytes = fuzz_check_allocated();
	uint64_t next;

	memset(&state, 0, sizeof(state));
	state.input = &input;
	state.cm = shca_cm_create(&ops);
	FUZZ_CHECK(state.cm != NULL);
	while (fuzz_input_left(&input)) {
		switch (fuzz_input_choose(&input, 5)) {
		case 0:
			pass_time(&input);
			break;
		case 1:
		case 2:
			act(&input);
			break;
		default:
			receive(&input);
		}
	}
	for (unsigned int i = 0; i < NB_OWNERS; i++)
		if (state.owner[i].conn != NULL)
			release(&state.owner[i]);
	while ((next = shca_cm_run(state.cm, state.now)) != UINT64_MAX)
		state.now = next;
	FUZZ_CHECK(shca_cm_nb(state.cm) == 0);
	shca_cm_destroy(state.cm);
	fuzz_check_freed(bytes);
	return 0;
}
