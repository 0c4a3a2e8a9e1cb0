/* SPDX-License-Identifier: BSD-3-Clause */
/* The set of a process: opened whole or not at all, and what it shows in the runner's directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/options.h"
#include "fault/faults.h"
#include "hw/device/device.h"
#include "softhca.h"
#include "strict/findings.h"
#include "sysfs/tree.h"
#include "wire/wire.h"

/** Calls of this thread until the one that fails; negative: none does. */
static __thread int countdown = -1;
static bool has_failed;

static bool
fails(void)
{
	if (countdown < 0 || countdown-- > 0)
		return false;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nb, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__real_mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset);
int __real_eventfd(unsigned int count, int flags);
int __real_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nb, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void *__wrap_mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset);
int __wrap_eventfd(unsigned int count, int flags);
int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t nb, size_t size)
{
	return fails() ? NULL : __real_calloc(nb, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

char *
__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

void *
__wrap_mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	return fails() ? MAP_FAILED : __real_mmap64(at, length, prot, flags, fd, offset);
}

int
__wrap_eventfd(unsigned int count, int flags)
{
	return fails() ? -1 : __real_eventfd(count, flags);
}

int
__wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	return fails() ? EAGAIN : __real_pthread_create(thread, attr, start, arg);
}

static char dir[64];

static void
add_port(struct shca_options *options, const char *text)
{
	char error[256];

	if (shca_options_add_port(options, text, error, sizeof(error)) != 0)
		fail_msg("%s: %s", text, error);
}

/** Ports of every kind of wire that needs no privilege. */
static void
fill_options(struct shca_options *options)
{
	char text[256];

	shca_options_init(options);
	add_port(options, "wire=loop,vf=on");
	add_port(options, "wire=loop,vf=on,spoof=on");
	snprintf(text, sizeof(text), "wire=pair:%s,kernel=pcap:%s/kernel.pcap", dir, dir);
	add_port(options, text);
	snprintf(text, sizeof(text), "wire=pair:%s", dir);
	add_port(options, text);
	snprintf(text, sizeof(text), "wire=unix:%s/unix", dir);
	add_port(options, text);
	add_port(options, "wire=null");
}

/** As the runner: the directory with its tree, the counts of --strict and the faults. */
static int
make_directory(void **state)
{
	struct shca_faults *faults;
	struct shca_options options;
	uint64_t *count;
	char path[96];

	(void)state;
	strcpy(dir, "/tmp/softhca-set-XXXXXX");
	assert_non_null(mkdtemp(dir));
	fill_options(&options);
	assert_int_equal(shca_tree_create(&options, dir), 0);
	snprintf(path, sizeof(path), "%s/" SHCA_FINDINGS_FILE, dir);
	assert_int_equal(shca_findings_map(path, true, &count), 0);
	shca_findings_unmap(count);
	assert_int_equal(
		shca_faults_create(dir, "wire loss 1% of mlx5_0\n", options.nb_ports, &faults), 0);
	shca_faults_close(faults);
	return setenv(SHCA_ENV_DIR, dir, 1);
}

static int
remove_directory(void **state)
{
	(void)state;
	countdown = -1;
	unsetenv(SHCA_ENV_DIR);
	return shca_tree_remove(dir);
}

/** @return the first line of a file of the tree, without its newline. */
static const char *
read_line(const char *name)
{
	static char line[64];
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" SHCA_TREE_SYS "/class/infiniband/%s", dir, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/** Below no runner: no files, no socket, and tests may step. */
static void
without_a_runner(void **state)
{
	struct shca_options options;
	struct shca_set *set;

	(void)state;
	shca_options_init(&options);
	add_port(&options, "wire=null");
	options.strict = SHCA_STRICT_REPORT;
	assert_int_equal(shca_set_open(&options, &set), 0);
	assert_non_null(shca_set_device(set, 0));
	assert_null(shca_set_device(set, 1));
	assert_null(shca_device_conf(shca_set_device(set, 0))->findings);
	assert_int_equal(shca_set_step(set), 0);
	assert_int_equal(shca_set_start(set), 0);
	assert_int_equal(shca_set_start(set), 0);
	shca_set_stop(set);
	shca_set_stop(set);
	shca_set_close(set);
	shca_set_close(NULL);
}

static void
below_a_runner(void **state)
{
	struct shca_options options;
	struct shca_device *dev;
	struct shca_set *set;
	struct stat status;
	char path[96];

	(void)state;
	fill_options(&options);
	options.strict = SHCA_STRICT_REPORT;
	assert_int_equal(shca_set_open(&options, &set), 0);
	dev = shca_set_device(set, 5);
	assert_non_null(shca_device_conf(dev)->findings);
	assert_non_null(shca_device_conf(dev)->faults);
	assert_int_equal(shca_set_start(set), 0);
	snprintf(path, sizeof(path), "%s/ctl", dir);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));

	assert_string_equal(read_line("mlx5_5/ports/1/state"), "4: ACTIVE");
	shca_device_lock(dev);
	shca_device_set_link(dev, false);
	shca_device_unlock(dev);
	assert_string_equal(read_line("mlx5_5/ports/1/state"), "1: DOWN");
	shca_device_lock(dev);
	shca_device_set_link(dev, true);
	shca_device_unlock(dev);
	assert_string_equal(read_line("mlx5_5/ports/1/state"), "4: ACTIVE");
	shca_set_close(set);
	assert_int_equal(stat(path, &status), -1);
}

/** The runner's files are gone: the device works all the same, but has no control socket. */
static void
without_the_tree(void **state)
{
	const struct shca_device_conf *conf;
	struct shca_options options;
	struct shca_device *dev;
	struct shca_set *set;

	(void)state;
	fill_options(&options);
	assert_int_equal(shca_set_open(&options, &set), 0);
	dev = shca_set_device(set, 5);
	conf = shca_device_conf(dev);
	assert_int_equal(shca_tree_remove(dir), 0);
	shca_device_lock(dev);
	shca_device_set_link(dev, false);
	shca_device_unlock(dev);
	conf->counter(5, "out_of_buffer", 7, conf->arg);
	conf->netdev(5, 1, &(struct shca_netdev){ .name = "eth7" }, conf->arg);
	conf->netdev(5, 1, &(struct shca_netdev){ .name = "" }, conf->arg);
	assert_int_equal(shca_set_start(set), 0);
	shca_set_close(set);
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(mkdir(dir, 0700), 0);
}

/** A file of the runner's that cannot be used, or a wire that cannot be opened. */
static void
refused(void **state)
{
	char path[128], text[128];
	struct shca_options options;
	struct shca_set *set = NULL;
	FILE *file;

	(void)state;
	fill_options(&options);
	add_port(&options, "wire=pcap:/nonexistent/in.pcap");
	assert_int_equal(shca_set_open(&options, &set), -ENOENT);
	shca_options_init(&options);
	add_port(&options, "wire=pcap:/nonexistent/in.pcap,vf=on");
	assert_int_equal(shca_set_open(&options, &set), -ENOENT);
	shca_options_init(&options);
	snprintf(text, sizeof(text), "wire=null,kernel=pcap:%s/none/out.pcap", dir);
	add_port(&options, text);
	assert_int_equal(shca_set_open(&options, &set), -EIO);

	fill_options(&options);
	snprintf(path, sizeof(path), "%s/faults", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("wire sings\n", file);
	fclose(file);
	assert_int_equal(shca_set_open(&options, &set), -EINVAL);
	options.strict = SHCA_STRICT_REPORT;
	snprintf(path, sizeof(path), "%s/" SHCA_FINDINGS_FILE, dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(shca_set_open(&options, &set), -ENOENT);
	assert_null(set);
}

/** A child has the set, but not its threads: it closes the server's descriptors and no more. */
static void
forked(void **state)
{
	struct shca_options options;
	struct shca_set *set;
	struct stat status;
	char path[96];
	pid_t pid;
	int ended;

	(void)state;
	fill_options(&options);
	assert_int_equal(shca_set_open(&options, &set), 0);
	assert_int_equal(shca_set_start(set), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		shca_set_forked(NULL);
		shca_set_forked(set);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &ended, 0), pid);
	assert_int_equal(ended, 0);
	snprintf(path, sizeof(path), "%s/ctl", dir);
	assert_int_equal(stat(path, &status), 0);
	shca_set_close(set);
}

/** Each call fails once: the set is not there, or it is whole but for the control socket. */
static void
each_call_fails(void **state)
{
	struct shca_options options;
	unsigned int nb_refused = 0, nb_without_socket = 0;
	char path[96];

	(void)state;
	fill_options(&options);
	options.strict = SHCA_STRICT_REPORT;
	snprintf(path, sizeof(path), "%s/ctl", dir);
	has_failed = true;
	for (int n = 0; has_failed; n++) {
		struct shca_set *set = NULL;
		int ret;

		has_failed = false;
		countdown = n;
		ret = shca_set_open(&options, &set);
		if (has_failed) {
			countdown = -1;
			assert_int_equal(ret, -ENOMEM);
			assert_null(set);
			nb_refused++;
			continue;
		}
		assert_int_equal(ret, 0);
		ret = shca_set_start(set);
		countdown = -1;
		if (ret != 0)
			assert_true(has_failed && (ret == -ENOMEM || ret == -EAGAIN));
		else if (has_failed) {
			assert_int_equal(access(path, F_OK), -1);
			nb_without_socket++;
		} else {
			assert_int_equal(access(path, F_OK), 0);
		}
		shca_set_close(set);
	}
	assert_true(nb_refused > 20);
	assert_int_equal(nb_without_socket, 3);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_runner),
		TEST(below_a_runner),
		TEST(without_the_tree),
		TEST(refused),
		TEST(forked),
		TEST(each_call_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
