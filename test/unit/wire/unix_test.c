/* SPDX-License-Identifier: BSD-3-Clause */
/** @file unix: two ends, whichever comes first; each survives the other. */
#include "wire_test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "wire/kinds.h"

static char dir[] = "/tmp/wire-unix-XXXXXX";
static char path[64];
static struct shca_wire_conf conf = { .arg = path, .fd = -1 };

static int
make_dir(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/wire", dir);
	return 0;
}

/** Fails when a test left the socket, or anything else, behind. */
static int
remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

/** Receive one frame, waiting for it a while on the wire's own descriptor. */
static bool
receive(struct shca_wire *wire, struct shca_frame *frame)
{
	for (int i = 0; i < 2000; i++) {
		struct pollfd poll_fd = { .fd = wire->ops->fd(wire), .events = POLLIN };

		if (wire->ops->rx(wire, frame, 1) == 1)
			return true;
		poll(&poll_fd, 1, 10);
	}
	return false;
}

static bool
wait_peer(struct shca_wire *wire, bool up)
{
	struct shca_frame frame;

	for (int i = 0; i < 4000 && shca_unix_has_peer(wire) != up; i++) {
		wire->ops->rx(wire, &frame, 1);
		usleep(5000);
	}
	return shca_unix_has_peer(wire) == up;
}

static void
exchange(struct shca_wire *a, struct shca_wire *b, uint32_t number, uint32_t length)
{
	uint8_t bytes[SHCA_FRAME_MAX];
	struct shca_frame frame = numbered_frame(bytes, number, length), out;

	assert_int_equal(a->ops->tx(a, &frame, 1), 1);
	assert_true(receive(b, &out));
	assert_numbered_frame(&out, number, length);
}

static void
test_both_ways(void **state)
{
	static const uint32_t lengths[] = { 60, 1514, 9018, SHCA_FRAME_MAX };
	struct shca_wire *a = open_wire("unix", &conf), *b = open_wire("unix", &conf);

	(void)state;
	assert_true(wait_peer(a, true));
	assert_true(wait_peer(b, true));
	for (unsigned int i = 0; i < 4; i++) {
		exchange(a, b, i, lengths[i]);
		exchange(b, a, i, lengths[i]);
	}
	b->ops->close(b);
	a->ops->close(a);
}

static void
test_either_end_comes_and_goes(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf), *b = open_wire("unix", &conf);
	uint8_t bytes[64];
	struct shca_frame frame = numbered_frame(bytes, 1, 64);

	(void)state;
	assert_true(wait_peer(a, true));
	/* The end that connected. */
	b->ops->close(b);
	assert_true(wait_peer(a, false));
	assert_int_equal(a->ops->tx(a, &frame, 1), 1); /* dropped, not blocked */
	b = open_wire("unix", &conf);
	assert_true(wait_peer(a, true));
	exchange(a, b, 2, 100);
	/* The end that listened: the other takes its place. */
	a->ops->close(a);
	assert_true(wait_peer(b, false));
	for (int i = 0; i < 10; i++) {
		b->ops->rx(b, &frame, 1);
		usleep(5000);
	}
	a = open_wire("unix", &conf);
	assert_true(wait_peer(a, true));
	assert_true(wait_peer(b, true));
	exchange(a, b, 3, 100);
	exchange(b, a, 4, 100);
	a->ops->close(a);
	b->ops->close(b);
}

static void
test_third_end_is_turned_away(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf), *b = open_wire("unix", &conf), *c;

	(void)state;
	assert_true(wait_peer(a, true));
	c = open_wire("unix", &conf);
	/* Receiving, a looks at who knocks, too. */
	for (int i = 0; i < 200; i++)
		exchange(b, a, i, 60);
	exchange(a, b, 2, 60);
	assert_true(wait_peer(c, false));
	c->ops->close(c);
	b->ops->close(b);
	a->ops->close(a);
}

static void
test_dead_socket_is_replaced(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct shca_wire *a, *b;

	(void)state;
	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	a = open_wire("unix", &conf);
	b = open_wire("unix", &conf);
	assert_true(wait_peer(a, true));
	exchange(a, b, 1, 60);
	a->ops->close(a);
	b->ops->close(b);
}

static void
test_full_is_back_pressure(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf), *b = open_wire("unix", &conf);
	uint8_t bytes[1500];
	uint32_t sent = 0, received = 0;
	struct shca_frame frame, out[32];
	unsigned int nb;

	(void)state;
	assert_true(wait_peer(a, true));
	for (;; sent++) {
		frame = numbered_frame(bytes, sent, sizeof(bytes));
		if (a->ops->tx(a, &frame, 1) == 0)
			break;
		assert_true(sent < 1000000);
	}
	while ((nb = b->ops->rx(b, out, 32)) != 0)
		for (unsigned int i = 0; i < nb; i++, received++)
			assert_numbered_frame(&out[i], received, sizeof(bytes));
	assert_int_equal(received, sent);
	a->ops->close(a);
	b->ops->close(b);
}

static void
test_other_process_is_killed(void **state)
{
	struct shca_wire *a = open_wire("unix", &conf);
	struct shca_frame frame;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct shca_wire *b = NULL;
		uint8_t bytes[64];

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		shca_wire_find("unix", 4)->open(&conf, &b);
		frame = numbered_frame(bytes, 7, 64);
		b->ops->tx(b, &frame, 1);
		pause();
		_exit(0);
	}
	assert_true(receive(a, &frame));
	assert_numbered_frame(&frame, 7, 64);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(wait_peer(a, false));
	a->ops->close(a);
}

static void
test_refused(void **state)
{
	char longest[200];
	struct shca_wire_conf bad = { .arg = longest, .fd = -1 };
	struct shca_wire *wire = NULL;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(shca_wire_find("unix", 4)->open(&bad, &wire), -ENAMETOOLONG);
	bad.arg = "/nonexistent/directory/wire";
	assert_int_equal(shca_wire_find("unix", 4)->open(&bad, &wire), -ENOENT);
	assert_null(wire);
}

/** @return the other end, from the same directory, when @p wire has it for a peer. */
static struct shca_wire *
open_peer(const char *from, const struct shca_wire_conf *here, struct shca_wire *wire)
{
	struct shca_wire *peer;

	assert_int_equal(chdir(from), 0);
	peer = open_wire("unix", here);
	assert_int_equal(chdir("/"), 0);
	assert_true(wait_peer(wire, true));
	return peer;
}

static void
come_and_go_from(const char *from)
{
	const struct shca_wire_conf here = { .arg = "wire", .fd = -1 };
	struct shca_wire *a, *b;
	struct shca_frame frame;
	char socket_path[256];

	snprintf(socket_path, sizeof(socket_path), "%s/wire", from);
	assert_int_equal(chdir(from), 0);
	a = open_wire("unix", &here);
	b = open_peer(from, &here, a);
	a->ops->close(a);
	assert_int_equal(access(socket_path, F_OK), -1);
	assert_true(wait_peer(b, false));
	/* It listens where the other did. */
	for (int i = 0; i < 4000 && access(socket_path, F_OK) != 0; i++) {
		assert_int_equal(b->ops->rx(b, &frame, 1), 0);
		usleep(5000);
	}
	a = open_peer(from, &here, b);
	a->ops->close(a);
	b->ops->close(b);
	assert_int_equal(access(socket_path, F_OK), -1);
	assert_int_equal(access("/wire", F_OK), -1);
}

/** A process may leave the directory that the path begins at: the keeper of a card does. */
static void
test_from_elsewhere(void **state)
{
	char deep[200];

	(void)state;
	come_and_go_from(dir);
	/* The path has more bytes than an address of a socket. */
	snprintf(deep, sizeof(deep), "%s/%0150d", dir, 0);
	assert_int_equal(mkdir(deep, 0700), 0);
	come_and_go_from(deep);
	assert_int_equal(rmdir(deep), 0);
}

/** A file that is no socket is somebody's: a capture, named by mistake. */
static void
test_file_stays(void **state)
{
	struct shca_wire *wire = NULL;
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	fclose(file);
	assert_int_equal(shca_wire_find("unix", 4)->open(&conf, &wire), -ENOTSOCK);
	assert_null(wire);
	assert_int_equal(unlink(path), 0);
}

/** A program that sends more than a frame: the rest would be missing. */
static void
test_longer_than_a_frame(void **state)
{
	static uint8_t bytes[SHCA_FRAME_MAX + 1];
	struct shca_wire *wire = open_wire("unix", &conf);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct shca_frame frame;

	(void)state;
	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(send(fd, bytes, 60, 0), 60);
	assert_true(receive(wire, &frame));
	assert_int_equal(frame.length, 60);
	close(fd);
	wire->ops->close(wire);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_either_end_comes_and_goes),
		cmocka_unit_test(test_third_end_is_turned_away),
		cmocka_unit_test(test_dead_socket_is_replaced),
		cmocka_unit_test(test_full_is_back_pressure),
		cmocka_unit_test(test_other_process_is_killed),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_from_elsewhere),
		cmocka_unit_test(test_file_stays),
		cmocka_unit_test(test_longer_than_a_frame),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
