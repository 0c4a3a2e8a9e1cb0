/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings are on the device's node, or somewhere. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <rte_malloc.h>

#include "device/ring_memory.h"
#include "rig.h"

static struct {
	int nodes[4]; /* that were asked for memory */
	unsigned int nb_nodes;
	int empty; /* this node has none */
	struct mlx5dv_ctx_allocators allocators;
} fake;

void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int node);

void *
__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int node)
{
	assert_non_null(type);
	assert_true(fake.nb_nodes < RTE_DIM(fake.nodes));
	fake.nodes[fake.nb_nodes++] = node;
	return node == fake.empty ? NULL : aligned_alloc(align, size);
}

int
mlx5dv_set_context_attr(struct ibv_context *ctx, enum mlx5dv_set_ctx_attr_type type, void *attr)
{
	assert_non_null(ctx);
	assert_int_equal(type, MLX5DV_CTX_ATTR_BUF_ALLOCATORS);
	memcpy(&fake.allocators, attr, sizeof(fake.allocators));
	return fake.empty == 7 ? EOPNOTSUPP : 0;
}

static void
the_node_is_sysfs_s(void **state)
{
	static const struct {
		const char *text;
		int node;
	} cases[] = { { "0\n", 0 }, { "1\n", 1 }, { "-1\n", SOCKET_ID_ANY }, { "", SOCKET_ID_ANY },
		{ "one\n", SOCKET_ID_ANY }, { "-2\n", SOCKET_ID_ANY },
		{ "100000\n", SOCKET_ID_ANY } };
	char dir[] = "/tmp/mdv-node-XXXXXX", path[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(mdv_ring_memory_node(dir), SOCKET_ID_ANY);
	snprintf(path, sizeof(path), "%s/device", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/device/numa_node", dir);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(cases[i].text, file);
		fclose(file);
		assert_int_equal(mdv_ring_memory_node(dir), cases[i].node);
	}
	unlink(path);
	snprintf(path, sizeof(path), "%s/device", dir);
	rmdir(path);
	rmdir(dir);
}

static void
memory_is_of_the_node_or_of_another(void **state)
{
	static const struct {
		int node, empty, nodes[2];
		unsigned int nb_nodes;
		bool found;
	} cases[] = {
		{ 1, 5, { 1 }, 1, true },
		{ 1, 1, { 1, SOCKET_ID_ANY }, 2, true },
		{ SOCKET_ID_ANY, 5, { SOCKET_ID_ANY }, 1, true },
		{ SOCKET_ID_ANY, SOCKET_ID_ANY, { SOCKET_ID_ANY }, 1, false },
	};

	(void)state;
	for (unsigned int i = 0; i < 2 * RTE_DIM(cases); i++) {
		const unsigned int k = i / 2;
		void *memory;

		memset(&fake, 0, sizeof(fake));
		fake.empty = cases[k].empty;
		errno = 0;
		if (i % 2 == 0) {
			memory = mdv_ring_memory_alloc("x", 64, 64, cases[k].node);
		} else {
			/* The same by libmlx5. */
			assert_int_equal(mdv_ring_memory_share((void *)&fake, cases[k].node), 0);
			memory = fake.allocators.alloc(4096, fake.allocators.data);
			assert_int_equal(errno, cases[k].found ? 0 : ENOMEM);
		}
		assert_int_equal(memory != NULL, cases[k].found);
		assert_int_equal(fake.nb_nodes, cases[k].nb_nodes);
		assert_memory_equal(
			fake.nodes, cases[k].nodes, cases[k].nb_nodes * sizeof(fake.nodes[0]));
		free(memory);
	}
	fake.empty = 7;
	assert_int_equal(mdv_ring_memory_share((void *)&fake, 0), -EOPNOTSUPP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_node_is_sysfs_s),
		cmocka_unit_test(memory_is_of_the_node_or_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
