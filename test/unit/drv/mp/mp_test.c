/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on a fake channel: what is sent, what is believed, and that every descriptor that comes
 * is closed or handed on. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "base/compat.h"
#include "mp/mp.h"
#include "rig.h"

#define NB_REPLIES 3

/* In place of the EAL's, by the linker's --wrap. */
int __wrap_rte_mp_action_register(const char *name, rte_mp_t action);
int __wrap_rte_mp_request_sync(
	struct rte_mp_msg *req, struct rte_mp_reply *reply, const struct timespec *ts);
int __wrap_rte_mp_sendmsg(struct rte_mp_msg *msg);
int __wrap_rte_mp_reply(struct rte_mp_msg *msg, const char *peer);
void __wrap_rte_delay_us_sleep(unsigned int us);
#ifdef MDV_COMPAT_CONTROL_THREADS
#define CREATE_THREAD(thread, name, start, arg)                                                    \
	__wrap_rte_thread_create_control(                                                          \
		rte_thread_t *thread, const char *name, rte_thread_func start, void *arg)
#else
#define CREATE_THREAD(thread, name, start, arg)                                                    \
	__wrap_rte_ctrl_thread_create(pthread_t *thread, const char *name,                         \
		__rte_unused const pthread_attr_t *attr, void *(*start)(void *), void *arg)
#endif
int CREATE_THREAD(thread, name, start, arg);

/** The other processes. */
static struct {
	rte_mp_t action;
	unsigned int nb_registers, nb_requests, nb_replies, nb_handled, nb_threads;
	int register_error, request_errors[4], reply_result, thread_result; /* errno */
	struct rte_mp_msg asked, sent, replied;
	struct rte_mp_msg answers[NB_REPLIES];
	int nb_answers, late; /* late: how many questions get the answer of the one before */
	unsigned int nb_pauses, nb_sent;
	struct mdv_mp_message handled;
	struct mdv_mp_fds got;
	int given;
	int result; /* of the handler */
} far;

int
__wrap_rte_mp_action_register(const char *name, rte_mp_t action)
{
	assert_string_equal(name, "net_mlx5dv");
	far.nb_registers++;
	if (far.register_error != 0) {
		rte_errno = far.register_error;
		return -1;
	}
	far.action = action;
	return 0;
}

/** Give the answers the number that EAL lets them come for. */
static void
number_answers(const struct rte_mp_msg *question, struct rte_mp_msg *answers, int nb)
{
	struct mdv_mp_message asked, answer;

	memcpy(&asked, question->param, sizeof(asked));
	for (int i = 0; i < nb; i++) {
		memcpy(&answer, answers[i].param, sizeof(answer));
		answer.number = asked.number - (far.late != 0 ? 1 : 0);
		memcpy(answers[i].param, &answer, sizeof(answer));
	}
	far.late -= far.late != 0 ? 1 : 0;
}

void
__wrap_rte_delay_us_sleep(unsigned int us)
{
	assert_int_equal(us, 1000000);
	far.nb_pauses++;
}

int
__wrap_rte_mp_request_sync(
	struct rte_mp_msg *req, struct rte_mp_reply *reply, const struct timespec *ts)
{
	assert_int_equal(ts->tv_sec, 5);
	assert_int_equal(ts->tv_nsec, 0);
	memset(reply, 0, sizeof(*reply));
	far.asked = *req;
	rte_errno = far.request_errors[far.nb_requests++];
	if (rte_errno != 0)
		return -1;
	reply->nb_sent = reply->nb_received = far.nb_answers;
	/* The caller frees it. */
	reply->msgs = malloc(sizeof(far.answers));
	assert_non_null(reply->msgs);
	memcpy(reply->msgs, far.answers, sizeof(far.answers));
	number_answers(req, reply->msgs, far.nb_answers);
	return 0;
}

int
__wrap_rte_mp_sendmsg(struct rte_mp_msg *msg)
{
	far.nb_sent++;
	far.sent = *msg;
	return 0;
}

int
__wrap_rte_mp_reply(struct rte_mp_msg *msg, const char *peer)
{
	assert_string_equal(peer, "/there");
	far.nb_replies++;
	far.replied = *msg;
	return far.reply_result;
}

/** At once, and in this thread. */
int
CREATE_THREAD(thread, name, start, arg)
{
	assert_non_null(name);
	(void)thread;
	if (far.thread_result != 0)
		return far.thread_result;
	far.nb_threads++;
	assert_true(start(arg) == 0);
	return 0;
}

/** It detaches itself, and is this one. */
int
pthread_detach(pthread_t thread)
{
	assert_true(pthread_equal(thread, pthread_self()));
	return 0;
}

static int
handle(struct mdv_mp_message *message, const struct mdv_mp_fds *got, struct mdv_mp_fds *give)
{
	assert_int_equal(give->nb, 0);
	far.nb_handled++;
	far.handled = *message;
	far.got = *got;
	message->layout = 4711;
	give->nb = 1;
	give->fds[0] = far.given = dup(STDERR_FILENO);
	return far.result;
}

/** @return how many descriptors below 64 are open. */
static unsigned int
nb_open(void)
{
	unsigned int nb = 0;

	for (int fd = 0; fd < 64; fd++) {
		int copy = dup(fd);

		if (copy < 0)
			continue;
		close(copy);
		nb++;
	}
	return nb;
}

/** A message as this build of the driver makes it, with as many descriptors. */
static struct rte_mp_msg
incoming(int result, int nb_fds)
{
	static uint64_t number;
	const struct mdv_mp_message message = { .kind = MDV_MP_DETACH,
		.result = result,
		.number = ++number,
		.port_id = 9,
		.layout = 77 };
	struct rte_mp_msg msg = { .len_param = sizeof(message), .num_fds = nb_fds };

	memcpy(msg.param, &message, sizeof(message));
	for (int i = 0; i < nb_fds; i++)
		msg.fds[i] = dup(STDERR_FILENO);
	return msg;
}

static int
far_clear(void **state)
{
	const rte_mp_t action = far.action;

	(void)state;
	memset(&far, 0, sizeof(far));
	far.action = action;
	far.nb_answers = 1;
	return 0;
}

/** Once a process: a second call does nothing, one after a failure tries again. */
static void
listening_begins_once(void **state)
{
	(void)state;
	far.register_error = EEXIST;
	assert_int_equal(mdv_mp_listen(handle, false), -EEXIST);
	assert_int_equal(mdv_mp_listen(handle, false), -EEXIST);
	assert_int_equal(far.nb_registers, 2);
	far.register_error = 0;
	assert_int_equal(mdv_mp_listen(handle, false), 0);
	assert_non_null(far.action);
	assert_int_equal(mdv_mp_listen(NULL, true), 0);
	assert_int_equal(far.nb_registers, 3);
}

static void
a_message_is_handled_and_answered(void **state)
{
	const unsigned int nb = nb_open();
	struct mdv_mp_message answer;
	struct rte_mp_msg msg;

	(void)state;
	for (int nb_fds = 0; nb_fds <= 2; nb_fds++) {
		far_clear(state);
		far.result = -ENOSPC;
		far.reply_result = -nb_fds;
		msg = incoming(0, nb_fds);
		assert_int_equal(far.action(&msg, "/there"), -nb_fds);
		assert_int_equal(far.nb_handled, 1);
		assert_int_equal(far.nb_replies, 1);
		assert_int_equal(far.handled.kind, MDV_MP_DETACH);
		assert_int_equal(far.handled.port_id, 9);
		assert_int_equal(far.handled.layout, 77);
		assert_int_equal(far.got.nb, nb_fds);
		assert_memory_equal(far.got.fds, msg.fds, nb_fds * sizeof(int));
		assert_int_equal(nb_open(), nb);
		assert_string_equal(far.replied.name, "net_mlx5dv");
		assert_int_equal(far.replied.len_param, sizeof(answer));
		memcpy(&answer, far.replied.param, sizeof(answer));
		assert_int_equal(answer.result, -ENOSPC);
		assert_int_equal(answer.port_id, 9);
		assert_int_equal(answer.layout, 4711);
		assert_int_equal(far.replied.num_fds, 1);
		assert_int_equal(far.replied.fds[0], far.given);
	}
}

/** Some processes are told twice when others do not answer: an application may poll by then. */
static void
a_message_that_comes_twice_is_handled_once(void **state)
{
	struct rte_mp_msg msg = incoming(0, 0);

	(void)state;
	assert_int_equal(far.action(&msg, "/there"), 0);
	assert_int_equal(far.action(&msg, "/there"), 0);
	assert_int_equal(far.nb_handled, 1);
	assert_int_equal(far.nb_replies, 2);
	msg = incoming(0, 0);
	assert_int_equal(far.action(&msg, "/there"), 0);
	assert_int_equal(far.nb_handled, 2);
}

static void
another_builds_messages_are_refused(void **state)
{
	const unsigned int nb = nb_open();
	struct rte_mp_msg msg = incoming(0, 2);

	(void)state;
	msg.len_param--;
	assert_int_equal(far.action(&msg, "/there"), -EPROTO);
	assert_int_equal(nb_open(), nb);
	msg = incoming(0, 3);
	assert_int_equal(far.action(&msg, "/there"), -EPROTO);
	assert_int_equal(nb_open(), nb);
	assert_int_equal(far.nb_handled, 0);
	assert_int_equal(far.nb_replies, 0);
}

static void
a_question_has_one_answer(void **state)
{
	const unsigned int nb = nb_open();
	struct mdv_mp_message message = { .kind = MDV_MP_ATTACH, .port_id = 3, .layout = 5 };
	struct mdv_mp_message sent;
	struct mdv_mp_fds fds = { .fds = { 1, 2 }, .nb = 2 };

	(void)state;
	far.answers[0] = incoming(0, 2);
	assert_int_equal(mdv_mp_ask(&message, &fds), 0);
	assert_string_equal(far.asked.name, "net_mlx5dv");
	assert_int_equal(far.asked.len_param, sizeof(sent));
	assert_int_equal(far.asked.num_fds, 2);
	assert_int_equal(far.asked.fds[1], 2);
	memcpy(&sent, far.asked.param, sizeof(sent));
	assert_int_equal(sent.kind, MDV_MP_ATTACH);
	assert_int_equal(sent.layout, 5);
	assert_int_equal(message.layout, 77);
	/* They are the caller's now. */
	assert_int_equal(fds.nb, 2);
	assert_int_equal(nb_open(), nb + 2);
	close(fds.fds[0]);
	close(fds.fds[1]);
	/* A caller that wants none gets none. */
	far.answers[0] = incoming(-EBUSY, 2);
	assert_int_equal(mdv_mp_ask(&message, NULL), -EBUSY);
	assert_int_equal(far.asked.num_fds, 0);
	assert_int_equal(nb_open(), nb);
}

static void
without_an_answer_there_is_an_error(void **state)
{
	struct mdv_mp_message message = { .port_id = 3, .layout = 5 };
	struct mdv_mp_fds fds = { .nb = 0 };

	(void)state;
	far.nb_answers = 0;
	assert_int_equal(mdv_mp_ask(&message, &fds), -ENOTCONN);
	far.nb_answers = 1;
	far.answers[0] = incoming(0, 0);
	far.answers[0].len_param++;
	assert_int_equal(mdv_mp_ask(&message, &fds), -EPROTO);
	far.nb_requests = 0;
	far.request_errors[0] = ETIMEDOUT;
	assert_int_equal(mdv_mp_ask(&message, &fds), -ETIMEDOUT);
	assert_int_equal(message.layout, 5);
	assert_int_equal(far.nb_sent, 0);
}

/** That of a question which timed out says nothing of this one, and its descriptors are nobody's.
 */
static void
an_answer_that_comes_late_is_not_believed(void **state)
{
	const unsigned int nb = nb_open();
	struct mdv_mp_message message = { .kind = MDV_MP_MEMORY, .port_id = 3, .layout = 5 };
	struct mdv_mp_fds fds = { .nb = 0 };

	(void)state;
	far.late = 1;
	far.answers[0] = incoming(0, 2);
	assert_int_equal(mdv_mp_ask(&message, &fds), -ETIMEDOUT);
	assert_int_equal(message.kind, MDV_MP_MEMORY);
	assert_int_equal(message.layout, 5);
	assert_int_equal(fds.nb, 0);
	assert_int_equal(nb_open(), nb);
	assert_int_equal(far.nb_pauses, 1);
	/* A burst would go on while the primary resets its queue. */
	far.late = 2;
	far.nb_requests = 0;
	far.answers[0] = incoming(-EIO, 0);
	assert_int_equal(mdv_mp_ask_recovery(MDV_MP_RECOVER_RX, 3, 7, 0x22), -EIO);
	assert_int_equal(far.nb_requests, 3);
	/* One of two who are told is late. */
	far.late = 1;
	far.nb_requests = 0;
	far.nb_answers = 2;
	far.answers[0] = incoming(0, 1);
	far.answers[1] = incoming(0, 1);
	message.kind = MDV_MP_STOP;
	assert_int_equal(mdv_mp_tell(&message, NULL), -ETIMEDOUT);
	assert_int_equal(nb_open(), nb);
}

/** The primary process may be slow, and a burst must not go on meanwhile. */
static void
recovery_is_asked_until_it_is_done(void **state)
{
	static const struct {
		int errors[4], answer, result;
		unsigned int nb;
	} cases[] = {
		{ { 0 }, 0, 0, 1 },
		{ { ETIMEDOUT, ETIMEDOUT, 0 }, 0, 0, 3 },
		{ { ETIMEDOUT, ENOENT }, 0, -ENOENT, 2 },
		{ { 0 }, -EIO, -EIO, 1 },
	};
	struct mdv_mp_message sent;

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		far_clear(state);
		memcpy(far.request_errors, cases[i].errors, sizeof(far.request_errors));
		far.answers[0] = incoming(cases[i].answer, 0);
		assert_int_equal(
			mdv_mp_ask_recovery(MDV_MP_RECOVER_TX, 3, 7, 0x22), cases[i].result);
		assert_int_equal(far.nb_requests, cases[i].nb);
		memcpy(&sent, far.asked.param, sizeof(sent));
		assert_int_equal(sent.kind, MDV_MP_RECOVER_TX);
		assert_int_equal(sent.port_id, 3);
		assert_int_equal(sent.queue.idx, 7);
		assert_int_equal(sent.queue.syndrome, 0x22);
	}
}

static void
all_are_told(void **state)
{
	static const struct {
		int error, nb_answers, results[NB_REPLIES], result;
	} cases[] = {
		{ 0, 0, { 0 }, 0 },
		{ 0, 3, { 0 }, 0 },
		{ 0, 3, { 0, 0, -EIO }, -EIO },
		{ 0, 2, { 0, 0, -EIO }, 0 },
		{ 0, 3, { -ENOMEM, 0, -EIO }, -ENOMEM },
		{ ETIMEDOUT, 0, { 0 }, -ETIMEDOUT },
		/* There are no others. */
		{ ENOTSUP, 0, { 0 }, 0 },
	};
	const struct mdv_mp_message message = { .kind = MDV_MP_START, .port_id = 3 };
	const struct mdv_mp_fds fds = { .fds = { STDERR_FILENO }, .nb = 1 };
	const unsigned int nb = nb_open();

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		far_clear(state);
		far.request_errors[0] = cases[i].error;
		far.nb_answers = cases[i].nb_answers;
		for (int k = 0; k < far.nb_answers; k++)
			far.answers[k] = incoming(cases[i].results[k], 0);
		assert_int_equal(mdv_mp_tell(&message, &fds), cases[i].result);
		assert_int_equal(far.nb_requests, 1);
		assert_int_equal(far.asked.num_fds, 1);
		assert_int_equal(far.asked.fds[0], STDERR_FILENO);
		/* EAL did not ask those behind the one that did not answer. */
		assert_int_equal(far.nb_sent, cases[i].error == ETIMEDOUT);
		assert_int_equal(far.nb_pauses, far.nb_sent);
		if (far.nb_sent != 0)
			assert_memory_equal(&far.sent, &far.asked, sizeof(far.sent));
	}
	/* Descriptors that nobody asked for; another build. */
	far_clear(state);
	far.answers[0] = incoming(0, 2);
	assert_int_equal(mdv_mp_tell(&message, NULL), 0);
	assert_int_equal(nb_open(), nb);
	far.answers[0] = incoming(0, 1);
	far.answers[0].len_param = 0;
	assert_int_equal(mdv_mp_tell(&message, NULL), -EPROTO);
	assert_int_equal(nb_open(), nb);
}

/** Who waits gets a thread for each message; the module keeps its listener, so this is a process of
 * its own in the end. */
static void
a_handler_that_waits_has_a_thread(void **state)
{
	const unsigned int nb = nb_open();
	struct rte_mp_msg msg;

	(void)state;
	assert_int_equal(mdv_mp_listen(handle, true), 0);
	msg = incoming(0, 0);
	assert_int_equal(far.action(&msg, "/there"), 0);
	/* Of several processes that each have numbers of their own. */
	assert_int_equal(far.action(&msg, "/there"), 0);
	assert_int_equal(far.nb_handled, 2);
	far_clear(state);
	msg = incoming(0, 2);
	assert_int_equal(far.action(&msg, "/there"), 0);
	assert_int_equal(far.nb_threads, 1);
	assert_int_equal(far.nb_handled, 1);
	assert_int_equal(far.nb_replies, 1);
	assert_int_equal(far.handled.layout, 77);
	assert_int_equal(far.got.nb, 2);
	assert_int_equal(nb_open(), nb);
	far.thread_result = -EAGAIN;
	msg = incoming(0, 2);
	assert_int_equal(far.action(&msg, "/there"), -ENOMEM);
	assert_int_equal(far.nb_handled, 1);
	assert_int_equal(nb_open(), nb);
}

int
main(int argc, char *argv[])
{
	const struct CMUnitTest waits[] = {
		cmocka_unit_test_setup(a_handler_that_waits_has_a_thread, far_clear),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(listening_begins_once, far_clear),
		cmocka_unit_test_setup(a_message_is_handled_and_answered, far_clear),
		cmocka_unit_test_setup(a_message_that_comes_twice_is_handled_once, far_clear),
		cmocka_unit_test_setup(another_builds_messages_are_refused, far_clear),
		cmocka_unit_test_setup(a_question_has_one_answer, far_clear),
		cmocka_unit_test_setup(without_an_answer_there_is_an_error, far_clear),
		cmocka_unit_test_setup(an_answer_that_comes_late_is_not_believed, far_clear),
		cmocka_unit_test_setup(recovery_is_asked_until_it_is_done, far_clear),
		cmocka_unit_test_setup(all_are_told, far_clear),
	};

	if (argc > 1)
		return cmocka_run_group_tests(waits, NULL, NULL);
	if (cmocka_run_group_tests(tests, NULL, NULL) != 0)
		return EXIT_FAILURE;
	execl("/proc/self/exe", argv[0], "waits", NULL);
	return EXIT_FAILURE;
}
