/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports by number: a thread that holds a port keeps it in the list. */
#include <pthread.h>
#include <stdatomic.h>

#include <rte_cycles.h>

#include "rig.h"
#include "state/port_list.h"

static struct rig_port first, second;

static int
ports_make(void **state)
{
	(void)state;
	rig_port_init(&first);
	rig_port_init(&second);
	first.data.port_id = 0;
	second.data.port_id = RTE_MAX_ETHPORTS - 1;
	return 0;
}

/** @return whether the port of this number is @p port. */
static bool
finds(uint32_t port_id, const struct mdv_port *port)
{
	const struct mdv_port *found = mdv_port_list_hold(port_id);

	if (found != NULL)
		mdv_port_list_release();
	return found == port;
}

static void
ports_are_found_by_number(void **state)
{
	struct rig_port other;

	(void)state;
	assert_true(finds(0, NULL));
	mdv_port_list_add(&first.port);
	mdv_port_list_add(&second.port);
	assert_true(finds(0, &first.port));
	assert_true(finds(1, NULL));
	assert_true(finds(RTE_MAX_ETHPORTS - 1, &second.port));
	assert_true(finds(RTE_MAX_ETHPORTS, NULL));
	assert_true(finds(UINT32_MAX, NULL));
	/* A port that was never in the list does not remove another. */
	rig_port_init(&other);
	other.data.port_id = 0;
	mdv_port_list_remove(&other.port);
	assert_true(finds(0, &first.port));
	mdv_port_list_remove(&first.port);
	mdv_port_list_remove(&first.port);
	assert_true(finds(0, NULL));
	assert_true(finds(RTE_MAX_ETHPORTS - 1, &second.port));
	mdv_port_list_remove(&second.port);
}

static atomic_bool removed;

static void *
remove_first(void *arg)
{
	(void)arg;
	mdv_port_list_remove(&first.port);
	removed = true;
	return NULL;
}

static void
a_port_that_is_held_stays(void **state)
{
	pthread_t thread;

	(void)state;
	mdv_port_list_add(&first.port);
	assert_ptr_equal(mdv_port_list_hold(0), &first.port);
	assert_int_equal(pthread_create(&thread, NULL, remove_first, NULL), 0);
	rte_delay_us_sleep(20000);
	assert_false(removed);
	mdv_port_list_release();
	pthread_join(thread, NULL);
	assert_true(removed);
	assert_true(finds(0, NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ports_are_found_by_number, ports_make),
		cmocka_unit_test_setup(a_port_that_is_held_stays, ports_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
