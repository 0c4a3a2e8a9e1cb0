/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to the keeper whose other end is not a program of softhca's: who may ask, and what
 * comes along unasked. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/message.h"
#include "keeper/session.h"

#define NB_ROUNDS 20
/** For a thread that ends at once. */
#define PATIENCE_MS 10000

static struct shca_session_shared shared;
static unsigned int nb_at_first;

static unsigned int
nb_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int nb = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		nb++;
	closedir(dir);
	return nb;
}

static void
wait_for_fds(unsigned int nb)
{
	for (unsigned int ms = 0; nb_fds() != nb; ms++) {
		assert_true(ms < PATIENCE_MS);
		usleep(1000);
	}
}

/** @return the program's end */
static int
connect_to_keeper(void)
{
	const int on = 1;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	/* As the sockets have it that the keeper accepts. */
	assert_int_equal(setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	shca_session_start(&shared, fds[1]);
	return fds[0];
}

/** Send @p length bytes of a message, with @p nb descriptors. */
static void
send_message(int fd, enum shca_message_type type, size_t length, unsigned int nb)
{
	struct shca_message message = { .version = SHCA_MESSAGE_VERSION, .type = type };
	struct iovec bytes = { &message, length };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct msghdr header = { .msg_iov = &bytes, .msg_iovlen = 1 };
	const int passed[2] = { fd, fd };

	if (nb != 0) {
		struct cmsghdr *cmsg = (void *)control;

		header.msg_control = control;
		header.msg_controllen = CMSG_SPACE(nb * sizeof(int));
		*cmsg = (struct cmsghdr){ .cmsg_len = CMSG_LEN(nb * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(cmsg), passed, nb * sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &header, 0), length);
}

static int
ask(int fd, enum shca_message_type type, unsigned int nb_passed)
{
	struct shca_reply reply;

	send_message(fd, type, sizeof(struct shca_message), nb_passed);
	assert_int_equal(recv(fd, &reply, sizeof(reply), 0), sizeof(reply));
	assert_int_equal(reply.type, SHCA_REPLY_DONE);
	return reply.ret;
}

/** A child has the socket of its parent, which may be a program with other rights by then. */
static void
only_who_has_connected_may_ask(void **state)
{
	const int fd = connect_to_keeper();
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(ask(fd, SHCA_MESSAGE_SHARE, 0), 0);
	assert_int_equal(ask(fd, SHCA_MESSAGE_NB, 0), -EINVAL);
	child = fork();
	if (child == 0)
		_exit(ask(fd, SHCA_MESSAGE_SHARE, 0) == -EPERM ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ask(fd, SHCA_MESSAGE_SHARE, 0), 0);
	close(fd);
}

/** One descriptor has a use, and only with some requests. */
static void
descriptors_do_not_stay(void **state)
{
	unsigned int connected;
	int fd;

	(void)state;
	wait_for_fds(nb_at_first);
	fd = connect_to_keeper();
	assert_int_equal(ask(fd, SHCA_MESSAGE_SHARE, 0), 0);
	connected = nb_fds();
	for (unsigned int i = 0; i < NB_ROUNDS; i++)
		assert_int_equal(ask(fd, SHCA_MESSAGE_NB, 1 + i % 2), -EINVAL);
	wait_for_fds(connected); /* they go behind the answer */
	close(fd);
	wait_for_fds(nb_at_first);
	/* An empty message is the end. */
	for (unsigned int i = 0; i < NB_ROUNDS; i++) {
		fd = connect_to_keeper();
		send_message(fd, SHCA_MESSAGE_NB, 0, 1 + i % 2);
		wait_for_fds(nb_at_first + 1);
		close(fd);
	}
	wait_for_fds(nb_at_first);
}

static int
set_up(void **state)
{
	(void)state;
	nb_at_first = nb_fds();
	return pthread_rwlock_init(&shared.running, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_has_connected_may_ask),
		cmocka_unit_test(descriptors_do_not_stay),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
