/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory on fake verbs: its place for the device, verbs that fail, processes that may not.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "base/dm_mbuf.h"
#include "mem/dm.h"
#include "mem/mr_cache.h"
#include "no_memory.h"
#include "rig.h"
#include "rte_pmd_mlx5dv.h"
#include "state/port_list.h"

#define MAX_BYTES 4096u
#define LKEY      0x77u
#define SILENT    (-1) /* An error without errno. */

/** The errnos that the fakes return, and their objects. */
static struct {
	int alloc_error, map_error, reg_error;
	unsigned int nb_dms;
	uint64_t length;
	uint32_t log_align;
	uint8_t *memory;
} fake;
static enum rte_proc_type_t process_type;
static struct rig_port rig;

/** This definition comes before the EAL's for all callers. */
enum rte_proc_type_t
rte_eal_process_type(void)
{
	return process_type;
}

int
mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type)
{
	assert_int_equal(type, MLX5DV_OBJ_DM);
	obj->dm.out->buf = fake.memory;
	return fake.map_error;
}

static struct ibv_dm *
alloc_dm(struct ibv_context *ctx, struct ibv_alloc_dm_attr *attr)
{
	struct ibv_dm *dm;

	if (fake.alloc_error != 0) {
		errno = fake.alloc_error;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	assert_non_null(dm);
	dm->context = ctx;
	fake.length = attr->length;
	fake.log_align = attr->log_align_req;
	fake.nb_dms++;
	return dm;
}

static int
free_dm(struct ibv_dm *dm)
{
	assert_int_equal(rig_verbs.nb_mrs, 0);
	fake.nb_dms--;
	free(dm);
	return 0;
}

static struct ibv_mr *
reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length, unsigned int access)
{
	struct ibv_mr *mr;

	assert_non_null(dm);
	assert_int_equal(offset, 0);
	assert_int_equal(length, fake.length);
	assert_int_equal(access, IBV_ACCESS_ZERO_BASED);
	if (fake.reg_error != 0) {
		errno = fake.reg_error == SILENT ? 0 : fake.reg_error;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	assert_non_null(mr);
	mr->pd = pd;
	mr->lkey = LKEY;
	rig_verbs.nb_mrs++;
	return mr;
}

static int
setup(void **state)
{
	static struct verbs_context context;
	static struct ibv_pd pd;

	(void)state;
	rig_port_init(&rig);
	context.sz = sizeof(context);
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	context.alloc_dm = alloc_dm;
	context.free_dm = free_dm;
	context.reg_dm_mr = reg_dm_mr;
	pd.context = &context.context;
	rig.port.device.ctx = &context.context;
	rig.port.device.pd = &pd;
	rig.port.device.caps.max_dm_bytes = MAX_BYTES;
	rig.port.mr = mdv_mr_create(&rig.port.device, rig.data.port_id);
	assert_non_null(rig.port.mr);
	memset(&fake, 0, sizeof(fake));
	fake.memory = rig_alloc(MAX_BYTES);
	process_type = RTE_PROC_PRIMARY;
	mdv_port_list_add(&rig.port);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	process_type = RTE_PROC_PRIMARY;
	mdv_port_list_remove(&rig.port);
	mdv_mr_destroy(rig.port.mr);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_int_equal(fake.nb_dms, 0);
	free(fake.memory);
	return 0;
}

static void
sizes_are_asked_for_as_the_device_counts(void **state)
{
	struct rte_pmd_mlx5dv_dm *dm = rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 65, 256);

	(void)state;
	assert_non_null(dm);
	assert_int_equal(fake.length, 128);
	assert_int_equal(fake.log_align, 8);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
}

/** Also where offset and length together would be small again. */
static void
what_is_beyond_the_end_is_refused(void **state)
{
	struct rte_pmd_mlx5dv_dm *dm = rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 64, 0);
	uint8_t bytes[65] = { 0 };

	(void)state;
	assert_non_null(dm);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 0, bytes, 65), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 64, bytes, 4), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 65, bytes, 0), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 65, bytes, 0), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, SIZE_MAX, bytes, 2), -EINVAL);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
}

static void
never_freed(void *addr, void *opaque)
{
	(void)addr;
	(void)opaque;
	fail();
}

/** Memory of the program's whose owner is where its shared info is. */
static void
what_others_attach_is_none(void **state)
{
	struct {
		struct rte_mbuf_ext_shared_info shared;
		uint8_t bytes[256];
	} own = { .shared = { .free_cb = never_freed, .fcb_opaque = &own, .refcnt = 2 } };
	struct rte_mempool *pool = rig_pool("dm", 8, 256);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	(void)state;
	rte_pktmbuf_attach_extbuf(mbuf, own.bytes, RTE_BAD_IOVA, sizeof(own.bytes), &own.shared);
	assert_true(RTE_MBUF_HAS_EXTBUF(mbuf));
	assert_false(mdv_dm_mbuf_is(mbuf));
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
}

/** The last hit stays one that bursts can use directly: addresses of the program. */
static void
the_device_counts_from_the_start(void **state)
{
	struct rte_pmd_mlx5dv_dm *dm = rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 1024, 0);
	const uintptr_t start = (uintptr_t)fake.memory;
	struct rte_mempool *pool = rig_pool("dm", 8, 256);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool), *host = rte_pktmbuf_alloc(pool);
	struct mdv_mr_cache cache = { 0 };
	struct mdv_mr_place place;
	struct mdv_mr_hit last;

	(void)state;
	assert_non_null(dm);
	assert_int_equal(rte_pmd_mlx5dv_dm_attach(dm, 7, 100, mbuf), 0);
	assert_true(mdv_dm_mbuf_is(mbuf));
	assert_false(mdv_dm_mbuf_is(host));
	mdv_mr_cache_init(&cache, rig.port.mr);
	place = mdv_mr_cache_miss(&cache, rte_pktmbuf_mtod(host, uintptr_t), host);
	assert_int_equal(place.addr, rte_pktmbuf_mtod(host, uintptr_t));
	last = cache.last;
	assert_int_not_equal(last.size, 0);
	for (unsigned int i = 0; i < 2; i++) {
		place = mdv_mr_cache_miss(&cache, rte_pktmbuf_mtod(mbuf, uintptr_t), mbuf);
		assert_int_equal(place.addr, 7);
		assert_int_equal(place.lkey_be, rte_cpu_to_be_32(LKEY));
		assert_memory_equal(&cache.last, &last, sizeof(last));
	}
	place = mdv_mr_cache_miss(&cache, start + 1023, mbuf);
	assert_int_equal(place.addr, 1023);
	assert_int_equal(mdv_mr_cache_miss(&cache, start + 1024, mbuf).lkey_be, MDV_MR_LKEY_NONE);
	/* Memory that another process has at that address. */
	assert_int_equal(mdv_mr_cache_miss(&cache, start, host).lkey_be, MDV_MR_LKEY_NONE);
	rte_pktmbuf_free(mbuf);
	mdv_mr_caches_gone(rig.port.mr);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
	mdv_mr_cache_check(&cache);
	assert_int_equal(mdv_mr_cache_miss(&cache, start, host).lkey_be, MDV_MR_LKEY_NONE);
	rte_pktmbuf_free(host);
	rte_mempool_free(pool);
}

static void
what_verbs_refuses_leaves_nothing(void **state)
{
	static int *const errors[] = { &fake.alloc_error, &fake.map_error, &fake.reg_error };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(errors); i++) {
		*errors[i] = EIO;
		assert_null(rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 64, 0));
		assert_int_equal(rte_errno, EIO);
		assert_int_equal(fake.nb_dms, 0);
		*errors[i] = 0;
	}
	/* Without an errno, too. */
	fake.reg_error = SILENT;
	assert_null(rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 64, 0));
	assert_int_equal(rte_errno, ENOMEM);
	assert_int_equal(fake.nb_dms, 0);
}

static void
without_host_memory_there_is_none(void **state)
{
	struct rte_pmd_mlx5dv_dm *dm;

	(void)state;
	no_memory = true;
	assert_int_equal(mdv_dm_alloc(&rig.port, 64, 0, &dm), -ENOMEM);
	no_memory = false;
	assert_int_equal(fake.nb_dms, 0);
}

static void
a_device_without_memory_says_so(void **state)
{
	size_t max = 1;

	(void)state;
	rig.port.device.caps.max_dm_bytes = 0;
	assert_int_equal(rte_pmd_mlx5dv_dm_max(rig.data.port_id, &max), 0);
	assert_int_equal(max, 0);
	assert_null(rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 64, 0));
	assert_int_equal(rte_errno, ENOTSUP);
}

static void
secondary_processes_have_none(void **state)
{
	struct rte_pmd_mlx5dv_dm *dm;
	uint64_t time;
	size_t max;

	(void)state;
	process_type = RTE_PROC_SECONDARY;
	assert_int_equal(rte_pmd_mlx5dv_dm_max(rig.data.port_id, &max), -E_RTE_SECONDARY);
	assert_null(rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 64, 0));
	assert_int_equal(rte_errno, E_RTE_SECONDARY);
	assert_int_equal(
		rte_pmd_mlx5dv_timestamp_to_ns(rig.data.port_id, 0, &time), -E_RTE_SECONDARY);
	process_type = RTE_PROC_PRIMARY;
	dm = rte_pmd_mlx5dv_dm_alloc(rig.data.port_id, 64, 0);
	assert_non_null(dm);
	process_type = RTE_PROC_SECONDARY;
	assert_int_equal(rte_pmd_mlx5dv_dm_write(dm, 0, &time, sizeof(time)), -E_RTE_SECONDARY);
	assert_int_equal(rte_pmd_mlx5dv_dm_read(dm, 0, &time, sizeof(time)), -E_RTE_SECONDARY);
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), -E_RTE_SECONDARY);
	process_type = RTE_PROC_PRIMARY;
	assert_int_equal(rte_pmd_mlx5dv_dm_free(dm), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			sizes_are_asked_for_as_the_device_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_beyond_the_end_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_others_attach_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(the_device_counts_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(what_verbs_refuses_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(without_host_memory_there_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_without_memory_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(secondary_processes_have_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
