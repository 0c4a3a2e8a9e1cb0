/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to and from rte_mp. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/compat.h"
#include "base/log.h"
#include "mp.h"

#define NAME "net_mlx5dv"
/** How long to wait for a process that does not answer. */
static const struct timespec request_timeout = { .tv_sec = 5 };

static_assert(sizeof(struct mdv_mp_message) <= RTE_MP_MAX_PARAM_LEN, "room for it");

/** A received message, for a thread of its own. */
struct incoming {
	struct mdv_mp_message message;
	struct mdv_mp_fds got;
	char peer[];
};

static struct {
	mdv_mp_handle_t handle;
	bool waits;
	uint64_t last; /**< number of the last message, of which the primary alone is the sender */
} listener;

/** Pause in us in which answers come that nobody waits for: EAL drops them. */
#define LATE_PAUSE_US 1000000

/** EAL refuses a second request of one name while the first is pending, so threads take turns. */
static struct {
	pthread_mutex_t lock;
	uint64_t last; /**< number of the last one */
} requests = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
pack(struct rte_mp_msg *msg, const struct mdv_mp_message *message, const struct mdv_mp_fds *fds)
{
	memset(msg, 0, sizeof(*msg));
	memcpy(msg->name, NAME, sizeof(NAME));
	msg->len_param = sizeof(*message);
	memcpy(msg->param, message, sizeof(*message));
	if (fds == NULL)
		return;
	msg->num_fds = fds->nb;
	memcpy(msg->fds, fds->fds, sizeof(fds->fds));
}

static void
close_fds(const int *fds, int nb)
{
	while (nb-- > 0)
		close(fds[nb]);
}

/** @return 0; -EPROTO: not a message of this build of the driver, its descriptors are closed. */
static int
unpack(const struct rte_mp_msg *msg, struct mdv_mp_message *message, struct mdv_mp_fds *fds)
{
	if (msg->len_param != sizeof(*message) || msg->num_fds > (int)RTE_DIM(fds->fds)) {
		close_fds(msg->fds, msg->num_fds);
		return -EPROTO;
	}
	memcpy(message, msg->param, sizeof(*message));
	fds->nb = msg->num_fds;
	memcpy(fds->fds, msg->fds, sizeof(fds->fds));
	return 0;
}

/** @return whether the primary tells once more what it has told, see tell_unasked(). */
static bool
is_repeated(const struct mdv_mp_message *message)
{
	const uint64_t before = listener.last;

	if (listener.waits)
		return false;
	listener.last = message->number;
	return message->number == before;
}

static int
answer(struct mdv_mp_message *message, const struct mdv_mp_fds *got, const char *peer)
{
	struct mdv_mp_fds give = { .nb = 0 };
	struct rte_mp_msg msg;
	int ret;

	message->result = is_repeated(message) ? 0 : listener.handle(message, got, &give);
	close_fds(got->fds, got->nb);
	pack(&msg, message, &give);
	ret = rte_mp_reply(&msg, peer);
	close_fds(give.fds, give.nb);
	return ret;
}

static MDV_COMPAT_THREAD_RET
take_aside(void *arg)
{
	struct incoming *incoming = arg;

	pthread_detach(pthread_self());
	answer(&incoming->message, &incoming->got, incoming->peer);
	free(incoming);
	return 0;
}

/** An rte_mp_t; @p peer is the path of the sender's socket. */
static int
take(const struct rte_mp_msg *msg, const void *peer)
{
	struct mdv_mp_message message;
	struct incoming *incoming;
	struct mdv_mp_fds got;
	MDV_COMPAT_THREAD thread;

	if (unpack(msg, &message, &got) != 0) {
		MDV_LOG(ERR, "a process of this application has another build of this driver");
		return -EPROTO;
	}
	if (!listener.waits)
		return answer(&message, &got, peer);
	incoming = malloc(sizeof(*incoming) + strlen(peer) + 1);
	if (incoming == NULL)
		goto close;
	incoming->message = message;
	incoming->got = got;
	strcpy(incoming->peer, peer);
	if (MDV_COMPAT_THREAD_CREATE(&thread, "mlx5dv-mp", take_aside, incoming) == 0)
		return 0;
	free(incoming);
close:
	close_fds(got.fds, got.nb);
	return -ENOMEM;
}

int
mdv_mp_listen(mdv_mp_handle_t handle, bool waits)
{
	if (listener.handle != NULL)
		return 0;
	listener.handle = handle;
	listener.waits = waits;
	if (rte_mp_action_register(NAME, take) == 0 || rte_errno == ENOTSUP)
		return 0;
	listener.handle = NULL;
	MDV_LOG(ERR, "cannot talk to other processes: %s", rte_strerror(rte_errno));
	return -rte_errno;
}

/**
 * An answer that came after its question had timed out is to EAL that of the next question of this
 * name (find_request_by_name()), of which it says nothing.
 */
static bool
is_late(const struct rte_mp_msg *answer, uint64_t number)
{
	struct mdv_mp_message message;

	memcpy(&message, answer->param, sizeof(message));
	return answer->len_param == sizeof(message) && message.number != number;
}

static void
drop_answers(struct rte_mp_reply *reply)
{
	for (int i = 0; i < reply->nb_received; i++)
		close_fds(reply->msgs[i].fds, reply->msgs[i].num_fds);
	reply->nb_received = 0;
}

/**
 * EAL asks one process after the other, and after one that does not answer none of the rest
 * (rte_mp_request_sync()). Those must learn of it, too: they would use queues that are gone.
 */
static void
tell_unasked(struct rte_mp_msg *msg)
{
	rte_mp_sendmsg(msg);
	rte_delay_us_sleep(LATE_PAUSE_US);
}

/**
 * @param all whether it is for all secondary processes
 * @param reply in any case to be freed: reply->msgs
 * @return 0, or a negative errno: no answers
 */
static int
request(const struct mdv_mp_message *question, const struct mdv_mp_fds *fds, bool all,
	struct rte_mp_reply *reply)
{
	struct mdv_mp_message message = *question;
	struct rte_mp_msg msg;
	bool late = false;
	int ret;

	pthread_mutex_lock(&requests.lock);
	message.number = ++requests.last;
	pack(&msg, &message, fds);
	ret = rte_mp_request_sync(&msg, reply, &request_timeout) == 0 ? 0 : -rte_errno;
	if (all && ret != 0 && ret != -ENOTSUP)
		tell_unasked(&msg);
	for (int i = 0; ret == 0 && i < reply->nb_received; i++)
		late |= is_late(&reply->msgs[i], message.number);
	if (late) {
		drop_answers(reply);
		rte_delay_us_sleep(LATE_PAUSE_US);
		ret = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&requests.lock);
	return ret;
}

int
mdv_mp_ask(struct mdv_mp_message *message, struct mdv_mp_fds *fds)
{
	struct mdv_mp_fds got = { .nb = 0 };
	struct rte_mp_reply reply;
	int ret = request(message, fds, false, &reply);

	if (ret == 0)
		ret = reply.nb_received == 1 ? unpack(&reply.msgs[0], message, &got) : -ENOTCONN;
	free(reply.msgs);
	if (ret != 0) {
		MDV_LOG(ERR, "port %u: no answer from the primary process: %s", message->port_id,
			rte_strerror(-ret));
		return ret;
	}
	if (fds != NULL)
		*fds = got;
	else
		close_fds(got.fds, got.nb);
	return message->result;
}

int
mdv_mp_ask_recovery(enum mdv_mp_kind kind, uint16_t port_id, uint16_t idx, uint8_t syndrome)
{
	struct mdv_mp_message message = {
		.kind = kind,
		.port_id = port_id,
		.queue = { .idx = idx, .syndrome = syndrome },
	};
	int ret;

	/* The primary does nothing twice; a burst during a recovery would use what is gone. */
	do {
		ret = mdv_mp_ask(&message, NULL);
	} while (ret == -ETIMEDOUT);
	return ret;
}

int
mdv_mp_tell(const struct mdv_mp_message *message, const struct mdv_mp_fds *fds)
{
	struct mdv_mp_message answered;
	struct mdv_mp_fds got;
	struct rte_mp_reply reply;
	int i, ret = request(message, fds, true, &reply);

	if (ret == -ENOTSUP)
		return 0;
	for (i = 0; ret == 0 && i < reply.nb_received; i++) {
		ret = unpack(&reply.msgs[i], &answered, &got);
		if (ret == 0) {
			close_fds(got.fds, got.nb);
			ret = answered.result;
		}
	}
	free(reply.msgs);
	if (ret != 0)
		MDV_LOG(WARNING, "port %u: a secondary process does not follow: %s",
			message->port_id, rte_strerror(-ret));
	return ret;
}
