/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: its names, its answers, its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/options.h"
#include "ctl/ctl_socket.h"
#include "ctl/request.h"
#include "softhca.h"

static char dir[PATH_MAX];

static struct shca_set *
start(void)
{
	struct shca_options options;
	struct shca_set *set;
	char error[256];

	shca_options_init(&options);
	assert_int_equal(shca_options_add_port(&options, "wire=null", error, sizeof(error)), 0);
	assert_int_equal(shca_set_open(&options, &set), 0);
	assert_int_equal(shca_set_start(set), 0);
	return set;
}

static unsigned int
nb_names(void)
{
	const struct dirent *entry;
	unsigned int nb = 0;
	DIR *entries = opendir(dir);

	while ((entry = readdir(entries)) != NULL)
		nb += entry->d_name[0] != '.';
	closedir(entries);
	return nb;
}

static int
connect_first(void)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s/" SHCA_CTL_SOCKET_FIRST, dir);
	return shca_ctl_socket_connect(path);
}

/** All that comes until @p end is there, or the connection is closed. */
static void
receive_to(int fd, const char *end, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	do {
		text[length] = '\0';
		got = recv(fd, text + length, size - 1 - length, 0);
		length += got > 0 ? (size_t)got : 0;
		text[length] = '\0';
	} while (got > 0 && strstr(text, end) == NULL);
}

static void
say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void
answers_line_by_line(void **state)
{
	struct shca_set *set = start();
	char text[1024];
	int fd = connect_first();

	(void)state;
	assert_true(fd >= 0);
	say(fd, "freeze\nfreeze\nthaw --js");
	receive_to(fd, "frozen\nok 7\nfrozen\n", text, sizeof(text));
	assert_string_equal(text, "ok 7\nfrozen\nok 7\nfrozen\n");
	say(fd, "on\r\nnonsense\n");
	receive_to(fd, "thaw", text, sizeof(text));
	assert_ptr_equal(strstr(text, "ok 22\n{\"thread\": \"running\"}\nerror "), text);
	say(fd, "stats --port 1\n");
	receive_to(fd, "there are", text, sizeof(text));
	assert_non_null(strstr(text, "no port 1; there are 0"));
	say(fd, "link sideways\nlink down\nlink up --json\n");
	receive_to(fd, "}\n", text, sizeof(text));
	assert_non_null(strstr(text, "link takes up or down, not 'sideways'"));
	assert_non_null(strstr(text, "ok 12\nmlx5_0 down\n"));
	assert_non_null(strstr(text, "{\"device\": \"mlx5_0\", \"link\": \"up\"}\n"));
	say(fd, "trace 0\ntrace 0g\ntrace ffffffffffff0200000000010800\ntrace --json 01\n");
	receive_to(fd, "]", text, sizeof(text));
	receive_to(fd, "}\n", text + strlen(text), sizeof(text) - strlen(text));
	assert_non_null(strstr(text, "trace takes the bytes of a frame in hexadecimal"));
	assert_non_null(strstr(text,
		"14 bytes, 02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff, type 0x0800\n"
		"  lost, 0 copies: there is no netdev beside the port\n"));
	assert_non_null(strstr(text, "{\"bytes\": 1, \"tables\": [], \"fate\": \"lost\""));
	close(fd);
	shca_set_close(set);
	assert_int_equal(nb_names(), 0);
}

/** What is behind many zeros or separators is not cut off. */
static void
takes_long_arguments(void **state)
{
	static const struct {
		const char *head;
		char fill;
		const char *tail, *says;
	} rows[] = {
		{ "trace --tx eth", ',', "/,udp,dst,54\n", "UDP 49152 > 54\n" },
		{ "ntuple delete=", '0', "x\n", "delete is a number up to 1023" },
		{ "ntuple flow-type=ether,action=1,loc=", '0', "x\n",
			"loc is a number up to 1023" },
		{ "arfs flow-type=tcp4,action=", '0', "x\n", "action is -1 (drop) or a queue" },
	};
	struct shca_set *set = start();
	char text[4096], fill[2001];
	int fd = connect_first();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(fill, rows[i].fill, sizeof(fill) - 1);
		fill[sizeof(fill) - 1] = '\0';
		snprintf(text, sizeof(text), "%s%s%s", rows[i].head, fill, rows[i].tail);
		say(fd, text);
		say(fd, "thaw --json\n");
		receive_to(fd, "}\n", text, sizeof(text));
		if (strstr(text, rows[i].says) == NULL)
			fail_msg("%s: %s", rows[i].head, text);
	}
	close(fd);
	shca_set_close(set);
}

static void
refuses_endless_lines(void **state)
{
	static char line[2 * SHCA_REQUEST_MAX];
	struct shca_set *set = start();
	char text[64];
	int fd = connect_first();

	(void)state;
	memset(line, 'x', sizeof(line));
	(void)!send(fd, line, sizeof(line), MSG_NOSIGNAL);
	assert_true(recv(fd, text, sizeof(text), 0) <= 0);
	close(fd);
	fd = connect_first(); /* the next one is served */
	say(fd, "thaw\n");
	receive_to(fd, "running\n", text, sizeof(text));
	assert_string_equal(text, "ok 8\nrunning\n");
	close(fd);
	shca_set_close(set);
}

/** Others wait neither for one that says nothing, nor for one that reads nothing. */
static void
keeps_nobody_out(void **state)
{
	const struct timeval patience = { .tv_sec = 60 };
	struct shca_set *set = start();
	const int silent = connect_first(), deaf = connect_first(), third = connect_first();
	static const char stats[] = "stats\n";
	char text[64];

	(void)state;
	assert_true(silent >= 0 && deaf >= 0 && third >= 0);
	for (unsigned int i = 0; i < 10000; i++)
		if (send(deaf, stats, sizeof(stats) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
	assert_int_equal(
		setsockopt(third, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	say(third, "thaw\n");
	receive_to(third, "running\n", text, sizeof(text));
	assert_string_equal(text, "ok 8\nrunning\n");
	close(silent);
	close(deaf);
	close(third);
	shca_set_close(set);
}

static void
ends_while_frozen_and_asked(void **state)
{
	struct shca_set *set = start();
	char text[64];
	int fd = connect_first();

	(void)state;
	say(fd, "freeze\nsta");
	receive_to(fd, "frozen\n", text, sizeof(text));
	shca_set_close(set); /* the client is still there, its request half said */
	assert_int_equal(recv(fd, text, sizeof(text), 0), 0);
	close(fd);
	assert_int_equal(nb_names(), 0);
}

static void
check_mode(const char *path, void *arg)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0600);
	++*(unsigned int *)arg;
}

/** A name whose owner is gone is neither in the way nor found; another's stays. */
static void
names_of_the_dead_vanish(void **state)
{
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	struct shca_set *set, *second;
	struct sockaddr_un where = any;
	unsigned int nb_found = 0;
	char path[PATH_MAX + 8];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(chdir(dir), 0);
	strcpy(where.sun_path, "ctl");
	assert_int_equal(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	close(fd);
	assert_int_equal(link("ctl", "ctl.1.0"), 0);
	assert_int_equal(chdir("/"), 0);

	set = start();
	second = start(); /* the same process: the same pid */
	shca_ctl_socket_find(dir, check_mode, &nb_found);
	assert_int_equal(nb_found, 2);
	snprintf(path, sizeof(path), "%s/ctl.1.0", dir);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(nb_names(), 3);

	shca_set_close(second);
	fd = connect_first();
	assert_true(fd >= 0);
	close(fd);
	shca_set_close(set);
	assert_int_equal(nb_names(), 0);
	assert_int_equal(connect_first(), -ENOENT);
}

/** Any directory of the user's in /tmp may have a runner's name, and files with a socket's. */
static void
files_stay(void **state)
{
	char path[PATH_MAX + 8];
	unsigned int nb_found = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/ctl.c", dir);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	shca_ctl_socket_find(dir, check_mode, &nb_found);
	assert_int_equal(nb_found, 0);
	assert_int_equal(unlink(path), 0);
}

/** A child that lives on holds no descriptor on which clients would wait for ever. */
static void
child_lets_go(void **state)
{
	struct shca_set *set = start();
	char path[PATH_MAX + 8], other[PATH_MAX + 16];
	int pipes[2];
	pid_t child;
	char byte;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/" SHCA_CTL_SOCKET_FIRST, dir);
	snprintf(other, sizeof(other), "%s.kept", path);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(pipes[1]);
		shca_set_forked(set);
		_exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(pipes[0]);
	fd = shca_ctl_socket_connect(other); /* the parent still answers */
	assert_true(fd >= 0);
	close(fd);
	shca_set_close(set);
	/* The child may not have come to it yet. */
	for (unsigned int i = 0; i < 60000 && (fd = shca_ctl_socket_connect(other)) >= 0; i++) {
		close(fd);
		usleep(1000);
	}
	assert_int_equal(fd, -ECONNREFUSED);
	close(pipes[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	unlink(other);
}

/** Longer than a socket address. */
static int
set_up(void **state)
{
	char base[] = "/tmp/shca-ctl-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(base));
	snprintf(dir, sizeof(dir), "%s/%096d", base, 0);
	assert_int_equal(mkdir(dir, 0700), 0);
	return setenv(SHCA_ENV_DIR, dir, 1);
}

static int
tear_down(void **state)
{
	(void)state;
	unsetenv(SHCA_ENV_DIR);
	assert_int_equal(rmdir(dir), 0);
	*strrchr(dir, '/') = '\0';
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_line_by_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_long_arguments, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refuses_endless_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_nobody_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_while_frozen_and_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_of_the_dead_vanish, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(child_lets_go, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
