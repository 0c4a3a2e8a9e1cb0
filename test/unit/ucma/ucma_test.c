/* SPDX-License-Identifier: BSD-3-Clause */
/* Open files, datagrams that wait, devices that go, and who is woken for what. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "rig.h"

enum {
	UID = 1,
};

static void
test_open(void **state)
{
	struct rlimit own, none;
	struct rig rig;
	int fd, ret;

	(void)state;
	shca_ucma_destroy(NULL);
	rig_open(&rig);
	for (unsigned int i = 0; i < 2; i++) {
		fd = shca_ucma_open(rig.ucma, i == 1);
		assert_int_equal(fcntl(fd, F_GETFD), i == 1 ? FD_CLOEXEC : 0);
		close(fd);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
	none = own;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	ret = shca_ucma_open(rig.ucma, true);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &own), 0);
	assert_int_equal(ret, -EMFILE);
	/* Numbers are from 0 on (DEFINE_XARRAY_ALLOC). */
	assert_int_equal(rig_create(&rig, UID, RDMA_PS_TCP), 0);
	assert_int_equal(rig_create(&rig, UID, RDMA_PS_TCP), 1);
	rig_close(&rig);
}

/** poll(2) of the ends here says which program has gone. */
static void
test_files(void **state)
{
	struct pollfd pollfds[3] = { { .fd = 0 } };
	struct rig rig;
	int other;

	(void)state;
	rig_open(&rig);
	other = shca_ucma_open(rig.ucma, true);
	assert_int_equal(shca_ucma_files(rig.ucma, pollfds, 0), 0);
	assert_int_equal(shca_ucma_files(rig.ucma, pollfds, 1), 1);
	assert_int_equal(pollfds[1].fd, 0);
	assert_int_equal(shca_ucma_files(rig.ucma, pollfds, 3), 2);
	assert_int_not_equal(pollfds[0].fd, pollfds[1].fd);
	assert_int_equal(poll(pollfds, 2, 0), 0);
	close(other);
	assert_int_equal(poll(pollfds, 2, 0), 1);
	assert_int_equal(pollfds[0].revents | pollfds[1].revents, POLLHUP);
	shca_ucma_reap(rig.ucma);
	assert_int_equal(shca_ucma_files(rig.ucma, pollfds, 3), 1);
	assert_int_equal(poll(pollfds, 1, 0), 0);
	rig_close(&rig);
}

/** The thread looks again after a command, a datagram and a device that goes, and not where nothing
 * has happened: programs ask for events again and again. */
static void
test_woken(void **state)
{
	const struct shca_ucma_gid local = { .port = 1 };
	const uint8_t remote[16] = { 0 }, bytes[SHCA_UCMA_MAD_BYTES] = { 0 };
	struct rdma_ucm_event_resp answer;
	const struct rdma_ucm_get_event get = { .response = (uintptr_t)&answer };
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig.nb_woken = 0;
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get), sizeof(answer)),
		-EAGAIN);
	assert_int_equal(rig.nb_woken, 0);
	rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(rig.nb_woken, 1);
	shca_ucma_receive(rig.ucma, &local, remote, bytes);
	assert_int_equal(rig.nb_woken, 2);
	shca_ucma_remove(rig.ucma, 0);
	assert_int_equal(rig.nb_woken, 3);
	shca_ucma_reap(rig.ucma);
	assert_int_equal(rig.nb_woken, 4);
	close(shca_ucma_open(rig.ucma, true));
	assert_int_equal(rig.nb_woken, 5);
	rig_close(&rig);
}

/** Of datagrams that nobody takes 4096 wait; more are lost. */
static void
test_datagrams(void **state)
{
	static const uint8_t remote[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	const struct shca_ucma_gid local = {
		.gid = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
		.device = 1,
		.port = 1,
		.is_v2 = true,
	};
	struct shca_mad mad = { .kind = SHCA_MAD_SIDR_REQ };
	uint8_t bytes[SHCA_MAD_BYTES];
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig.loses = true;
	for (unsigned int i = 0; i < 4100; i++) {
		mad.local_id = i + 1;
		shca_mad_write(&mad, bytes);
		shca_ucma_receive(rig.ucma, &local, remote, bytes);
	}
	/* Nobody listens: each is answered. */
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig.nb_sent, 4096);
	assert_int_equal(rig.last.remote_id, 4096);
	shca_ucma_receive(rig.ucma, &local, remote, bytes);
	shca_ucma_step(rig.ucma);
	assert_int_equal(rig.nb_sent, 4097);
	rig_close(&rig);
}

/** One that waits for a neighbour at the device that goes waits no more; another one does. */
static void
test_removal_while_resolving(void **state)
{
	struct rig rig;
	uint32_t first, second;

	(void)state;
	rig_open(&rig);
	rig.reach = -EINPROGRESS;
	first = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, first, 1, 2, RIG_PORT), 0);
	second = rig_create(&rig, UID + 1, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, second, 2, 1, RIG_PORT), 0);
	assert_true(shca_ucma_step(rig.ucma) < UINT64_MAX);
	shca_ucma_remove(rig.ucma, 0);
	assert_true(shca_ucma_step(rig.ucma) < UINT64_MAX);
	assert_int_equal(rig_event(&rig, RIG_DEVICE_REMOVAL).id, first);
	rig.reach = 0;
	assert_int_equal(shca_ucma_step(rig.ucma), UINT64_MAX);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).id, second);
	rig_expect_silence(&rig);
	assert_int_equal(rig_destroy(&rig, first), 1);
	assert_int_equal(rig_destroy(&rig, second), 1);
	/* The next one is looked for as ever. */
	rig.reach = -EINPROGRESS;
	first = rig_create(&rig, UID, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, first, 2, 1, RIG_PORT), 0);
	assert_true(shca_ucma_step(rig.ucma) < UINT64_MAX);
	rig_destroy(&rig, first);
	assert_int_equal(shca_ucma_step(rig.ucma), UINT64_MAX);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_woken),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_removal_while_resolving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
