/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by name: which process may make them, which port they are for, and that no port stays held.
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "mem/dm.h"
#include "rte_pmd_mlx5dv.h"
#include "state/port_list.h"
#include "trace.h"

static struct rig_port rig;
static enum rte_proc_type_t process;
static unsigned int nb_held;
static struct rte_pmd_mlx5dv_dm *some = (struct rte_pmd_mlx5dv_dm *)&nb_held;

TRACE_FAKE(enum rte_proc_type_t, rte_eal_process_type, void)
{
	return process;
}

TRACE_FAKE(struct mdv_port *, mdv_port_list_hold, uint32_t port_id)
{
	if (port_id != 3)
		return NULL;
	nb_held++;
	return &rig.port;
}

TRACE_FAKE(void, mdv_port_list_release, void)
{
	assert_true(nb_held > 0);
	nb_held--;
}

TRACE_FAKE(int, mdv_dm_alloc, struct mdv_port *port, size_t size, size_t align,
	struct rte_pmd_mlx5dv_dm **dm)
{
	int ret = trace_call("alloc %zu %zu", size, align);

	assert_ptr_equal(port, &rig.port);
	assert_int_equal(nb_held, 1);
	if (ret == 0)
		*dm = some;
	return ret;
}

TRACE_FAKE(int, mdv_dm_free, struct rte_pmd_mlx5dv_dm *dm)
{
	assert_ptr_equal(dm, some);
	return trace_call("free");
}

TRACE_FAKE(int, mdv_dm_write, struct rte_pmd_mlx5dv_dm *dm, size_t offset, const void *from,
	size_t len)
{
	assert_ptr_equal(dm, some);
	assert_ptr_equal(from, &rig);
	return trace_call("write %zu %zu", offset, len);
}

TRACE_FAKE(
	int, mdv_dm_read, const struct rte_pmd_mlx5dv_dm *dm, size_t offset, void *to, size_t len)
{
	assert_ptr_equal(dm, some);
	assert_ptr_equal(to, &rig);
	return trace_call("read %zu %zu", offset, len);
}

TRACE_FAKE(int, mdv_dm_attach, struct rte_pmd_mlx5dv_dm *dm, size_t offset, uint16_t len,
	struct rte_mbuf *mbuf)
{
	assert_ptr_equal(dm, some);
	assert_null(mbuf);
	return trace_call("attach %zu %u", offset, len);
}

TRACE_FAKE(
	int, mdv_device_ticks_to_ns, const struct mdv_device *device, uint64_t ticks, uint64_t *ns)
{
	assert_ptr_equal(device, &rig.port.device);
	assert_int_equal(nb_held, 1);
	*ns = 2 * ticks;
	return trace_call("ns");
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	trace_clear();
	process = RTE_PROC_PRIMARY;
	rig.port.device.caps.max_dm_bytes = 4711;
	return 0;
}

static int
port_check(void **state)
{
	(void)state;
	assert_int_equal(nb_held, 0);
	return 0;
}

static void
calls_are_passed_on(void **state)
{
	size_t size = 0;
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(rte_pmd_mlx5dv_dm_max(3, &size), 0);
	assert_int_equal(size, 4711);
	assert_ptr_equal(rte_pmd_mlx5dv_dm_alloc(3, 100, 64), some);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(some, 1, &rig, 2), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(some, 3, &rig, 4), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(some, 5, 6, NULL), 0);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(some), 0);
	assert_int_equal(rte_pmd_mlx5dv_timestamp_to_ns(3, 21, &ns), 0);
	assert_int_equal(ns, 42);
	trace_check("alloc 100 64; write 1 2; read 3 4; attach 5 6; free; ns; ");
	assert_int_equal(rte_pmd_mlx5dv_dm_free(NULL), 0);
	trace_check("");
}

static void
failures_are_passed_back(void **state)
{
	uint64_t ns = 0;

	(void)state;
	trace.result = -ENOSPC;
	trace.fails = "alloc 1 2";
	rte_errno = 0;
	assert_null(rte_pmd_mlx5dv_dm_alloc(3, 1, 2));
	assert_int_equal(rte_errno, ENOSPC);
	trace.fails = "write 1 2";
	assert_int_equal(rte_pmd_mlx5dv_dm_write(some, 1, &rig, 2), -ENOSPC);
	trace.fails = "read 1 2";
	assert_int_equal(rte_pmd_mlx5dv_dm_read(some, 1, &rig, 2), -ENOSPC);
	trace.fails = "attach 1 2";
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(some, 1, 2, NULL), -ENOSPC);
	trace.fails = "free";
	assert_int_equal(rte_pmd_mlx5dv_dm_free(some), -ENOSPC);
	trace.fails = "ns";
	assert_int_equal(rte_pmd_mlx5dv_timestamp_to_ns(3, 21, &ns), -ENOSPC);
}

static void
other_ports_and_processes_are_refused(void **state)
{
	size_t size = 7;
	uint64_t ns = 7;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		const uint16_t port_id = i == 0 ? 2 : 3;
		const int result = i == 0 ? -ENODEV : -E_RTE_SECONDARY;

		process = i == 0 ? RTE_PROC_PRIMARY : RTE_PROC_SECONDARY;
		rte_errno = 0;
		assert_int_equal(rte_pmd_mlx5dv_dm_max(port_id, &size), result);
		assert_null(rte_pmd_mlx5dv_dm_alloc(port_id, 1, 2));
		assert_int_equal(rte_errno, -result);
		assert_int_equal(rte_pmd_mlx5dv_timestamp_to_ns(port_id, 21, &ns), result);
	}
	assert_int_equal(rte_pmd_mlx5dv_dm_write(some, 1, &rig, 2), -E_RTE_SECONDARY);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(some, 1, &rig, 2), -E_RTE_SECONDARY);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(some), -E_RTE_SECONDARY);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(NULL), -E_RTE_SECONDARY);
	trace_check("");
	assert_true(size == 7 && ns == 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_are_passed_on, port_make, port_check),
		cmocka_unit_test_setup_teardown(failures_are_passed_back, port_make, port_check),
		cmocka_unit_test_setup_teardown(
			other_ports_and_processes_are_refused, port_make, port_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
