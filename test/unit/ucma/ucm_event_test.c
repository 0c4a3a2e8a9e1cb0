/* SPDX-License-Identifier: BSD-3-Clause */
/* That a descriptor is readable exactly while an event waits, whatever its program does. */
#include <stddef.h>
#include <stdint.h>

#include "rig.h"
#include "ucma/id.h"

enum {
	UID = 1,
};

/** One record for any number of events. */
static void
test_readable(void **state)
{
	uint32_t id[3];
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (unsigned int i = 0; i < 3; i++) {
		id[i] = rig_create(&rig, UID + i, RDMA_PS_TCP);
		assert_int_equal(rig_is_readable(&rig), i != 0);
		assert_int_equal(rig_resolve(&rig, id[i], 1, 2, RIG_PORT), 0);
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).id, id[i]);
	assert_true(rig_is_readable(&rig));
	/* The last one goes unread. */
	assert_int_equal(rig_destroy(&rig, id[2]), 0);
	rig_expect_silence(&rig);
	rig_close(&rig);
}

/** Its program is gone before an event is there for it: nobody is told, and nobody is killed. */
static void
test_nobody(void **state)
{
	struct rig rig;
	uint32_t id;

	(void)state;
	rig_open(&rig);
	id = rig_create(&rig, UID, RDMA_PS_TCP);
	close(rig.fd);
	assert_int_equal(shca_ucm_event_tell(
				 shca_idtable_get(&rig.ucma->ids, id), SHCA_UCM_ROUTE_RESOLVED, 0),
		0);
	shca_ucma_reap(rig.ucma);
	assert_int_equal(shca_ucma_nb_ids(rig.ucma), 0);
	shca_ucma_destroy(rig.ucma);
}

/** Another descriptor has the events of what it has been given, and those alone. */
static void
test_moved(void **state)
{
	struct rdma_ucm_migrate_resp answer;
	struct rdma_ucm_migrate_id command = { .response = (uintptr_t)&answer };
	uint32_t stays;
	struct rig rig;
	int from, to;

	(void)state;
	rig_open(&rig);
	from = rig.fd;
	command.fd = (uint32_t)from;
	command.id = rig_create(&rig, UID, RDMA_PS_TCP);
	stays = rig_create(&rig, UID + 1, RDMA_PS_TCP);
	assert_int_equal(rig_resolve(&rig, stays, 1, 2, RIG_PORT), 0);
	assert_int_equal(rig_resolve(&rig, command.id, 1, 2, RIG_PORT), 0);
	rig_event(&rig, RIG_ADDR_RESOLVED);
	assert_int_equal(rig_route(&rig, stays), 0);
	rig.fd = to = shca_ucma_open(rig.ucma, true);
	assert_int_equal(
		rig_do(&rig, RDMA_USER_CM_CMD_MIGRATE_ID, &command, sizeof(command), 4), 0);
	assert_int_equal(rig_event(&rig, RIG_ADDR_RESOLVED).id, command.id);
	rig_expect_silence(&rig);
	rig.fd = from;
	assert_int_equal(rig_event(&rig, RIG_ROUTE_RESOLVED).id, stays);
	rig_expect_silence(&rig);
	close(to);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
