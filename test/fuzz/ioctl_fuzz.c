/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to the uverbs node from bytes: every method and every command, with attributes that
 * follow their rows or do not, objects made, used and destroyed in any order, contexts that come
 * and go. The device steps in between, and RDMA netlink is asked. At the end the files are closed
 * with whatever is left, and nothing may be: no queue, no rule, no descriptor, no memory.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/steering/build.h"
#include "abi/core/ioctl.h"
#include "check.h"
#include "ioctl.h"
#include "strict/findings.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_OPERATIONS 64

struct world world;

static uint64_t counts[SHCA_NB_FINDINGS];
static struct shca_findings findings = { .mode = SHCA_STRICT_REPORT, .count = counts };

static void
release(struct shca_file **file, int *fd)
{
	if (*file == NULL)
		return;
	shca_file_close(*file);
	close(*fd);
	*file = NULL;
}

static void
get_context(struct shca_file *file)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 request = {
		.total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.max_cqe_version = 1,
		.flags = shca_device_conf(world.dev)->has_devx ? MLX5_IB_ALLOC_UCTX_DEVX : 0,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
	struct request frame;

	request_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	request_out(&frame, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4);
	request_out(&frame, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8);
	request_in(&frame, UVERBS_ATTR_UHW_IN, &request, sizeof(request));
	request_out(&frame, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_alloc_ucontext_resp));
	FUZZ_CHECK(request_run(file, &frame) == 0);
}

static void
open_file(unsigned int i)
{
	struct request frame;

	FUZZ_CHECK(shca_file_open(world.dev, true, &world.file[i], &world.fd[i]) == 0);
	if (fuzz_input_byte(&world.input) >= 0xf0)
		return;
	get_context(world.file[i]);
	request_init(&frame, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	request_handle(&frame, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	FUZZ_CHECK(request_run(world.file[i], &frame) == 0);
	world_remember_fd((int)frame.at->attrs[0].data_s64);
	requests_first_uar(world.file[i]);
}

static void
set_up(void)
{
	const struct shca_wire_conf wire_conf = { .arg = "", .fd = -1 };
	const struct shca_wire_ops *ops = shca_wire_find("loop", 4);
	uint8_t how = fuzz_input_byte(&world.input);
	struct shca_device_conf conf = {
		.mac = { 2, 2, 0, 0, 0, 1 },
		.speed_mbps = 25000,
	};

	world.model = *shca_model_at(how % 3);
	conf.has_devx = (how & 0x40) != 0;
	conf.kernel_abi = (how >> 4 & 3) % 3;
	if (how & 0x80)
		conf.findings = &findings;
	FUZZ_CHECK(ops->open(&wire_conf, &world.wire) == 0);
	conf.model = &world.model;
	conf.wire = world.wire;
	FUZZ_CHECK(shca_device_create(&conf, &world.dev) == 0);
	open_file(0);
}

static void
check_empty(void)
{
	struct shca_queue_info *list;
	size_t nb;

	FUZZ_CHECK(shca_device_list_queues(world.dev, &list, &nb) == 0);
	FUZZ_CHECK(nb == 0);
	free(list);
	FUZZ_CHECK(shca_steering_nb_receiving(shca_device_steering(world.dev)) == 0);
	FUZZ_CHECK(!shca_steering_walks_tx(shca_device_steering(world.dev)));
}

static void
tear_down(void)
{
	for (unsigned int i = 0; i < WORLD_FILES; i++)
		release(&world.file[i], &world.fd[i]);
	shca_device_step(world.dev);
	check_empty();
	shca_device_destroy(world.dev);
	world.wire->ops->close(world.wire);
	while (world.nb_fds != 0)
		close(world.fds[--world.nb_fds]);
}

static void
step(void)
{
	shca_device_step(world.dev);
}

static void
reopen(void)
{
	unsigned int i = fuzz_input_choose(&world.input, WORLD_FILES);

	if (world.file[i] != NULL)
		release(&world.file[i], &world.fd[i]);
	else
		open_file(i);
}

/** A WQE, a doorbell record, or nothing that the device reads. */
static void
scribble(void)
{
	size_t offset = fuzz_input_word(&world.input) % (WORLD_ARENA_BYTES - 64);

	world_fill(world.arena + offset, 1 + fuzz_input_byte(&world.input) % 64);
}

static void
close_fd(void)
{
	if (world.nb_fds != 0 && fuzz_input_byte(&world.input) >= 0x80)
		close(world.fds[--world.nb_fds]);
}

static void (*const operations[])(void) = {
	requests_cq,
	requests_wq,
	requests_table,
	requests_qp,
	requests_hash_qp,
	requests_flow,
	requests_matcher,
	requests_region,
	requests_modify_qp,
	requests_destroy,
	requests_destroy,
	requests_method,
	requests_method,
	requests_method,
	requests_command,
	requests_command,
	requests_nldev,
	requests_uar,
	requests_pd,
	step,
	scribble,
	scribble,
	reopen,
	close_fd,
	requests_counters,
	requests_resize,
	requests_device_memory,
	requests_write,
};

static unsigned int
nb_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int nb = 0;

	FUZZ_CHECK(directory != NULL);
	while (readdir(directory) != NULL)
		nb++;
	closedir(directory);
	return nb;
}

/** Application memory: what can be written, then what can only be read, then nothing. */
static void
map_arena(void)
{
	if (world.arena != NULL)
		return;
	world.arena = mmap(NULL, WORLD_ARENA_BYTES + 2 * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FUZZ_CHECK(world.arena != MAP_FAILED);
	FUZZ_CHECK(mprotect(world.arena + WORLD_ARENA_BYTES, 4096, PROT_READ) == 0);
	FUZZ_CHECK(mprotect(world.arena + WORLD_ARENA_BYTES + 4096, 4096, PROT_NONE) == 0);
}

/** Errors are what this is about; who wants to see them sets the level. */
static void
be_silent(void)
{
	setenv("SOFTHCA_LOG", "error", 0);
	for (unsigned int i = 0; i < SHCA_NB_FINDINGS; i++)
		findings.nb_printed[i] = SHCA_FINDINGS_PRINTED + 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *arena;
	unsigned int nb_fds;
	size_t bytes;

	be_silent();
	map_arena();
	arena = world.arena;
	memset(&world, 0, sizeof(world));
	world.arena = arena;
	memset(arena, 0, WORLD_ARENA_BYTES);
	world.input = (struct fuzz_input){ .at = data, .end = data + size };
	nb_fds = nb_descriptors();
	bytes = fuzz_check_allocated();
	set_up();
	for (unsigned int i = 0; i < MAX_OPERATIONS && fuzz_input_left(&world.input); i++) {
		uint8_t which = fuzz_input_byte(&world.input);

		world.current = which >> 7 & (world.file[1] != NULL);
		if (world.file[world.current] == NULL)
			reopen();
		if (world.file[world.current] != NULL)
			operations[(which & 0x7f) % (sizeof(operations) / sizeof(operations[0]))]();
	}
	tear_down();
	fuzz_check_freed(bytes);
	FUZZ_CHECK(nb_descriptors() == nb_fds);
	return 0;
}
