/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes down the registers and code of each instruction that a round executes, and what lies where
 * in memory; devtools/bench-lines computes which memory they access. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memzone.h>
#include <rte_ring.h>

#include "bench.h"

/** Instructions and bursts of one round; more are an error. */
#define STEPS_MAX  (1u << 19)
#define BURSTS_MAX (BENCH_QUEUES_MAX * BENCH_BATCH)

const char *bench_trace, *bench_device, *bench_count, *bench_begin;

static struct bench_step *steps;
static unsigned int nb_steps, nb_bursts;
static unsigned int bursts[BURSTS_MAX]; /* the first step of each */

void
bench_trace_clear(void)
{
	if (bench_trace != NULL && steps == NULL)
		steps = calloc(STEPS_MAX, sizeof(*steps));
	nb_steps = nb_bursts = 0;
}

void
bench_trace_burst(void)
{
	if (nb_bursts < BURSTS_MAX)
		bursts[nb_bursts] = nb_steps;
	nb_bursts++;
}

struct bench_step *
bench_trace_step(void)
{
	if (steps == NULL)
		return NULL;
	nb_steps++;
	return nb_steps <= STEPS_MAX ? &steps[nb_steps - 1] : NULL;
}

static void
object_write(struct rte_mempool *pool, void *arg, void *object, unsigned int nth)
{
	(void)pool;
	(void)nth;
	fprintf(arg, " %" PRIxPTR, (uintptr_t)object);
}

/** Write where the pool's objects, its own struct with the caches, and its ring are. */
static void
pool_write(FILE *file, struct rte_mempool *pool)
{
	const struct rte_ring *ring = pool->pool_data;

	fprintf(file, "range pool %" PRIxPTR " %zx\n", (uintptr_t)pool->mz->addr, pool->mz->len);
	fprintf(file, "range pool %" PRIxPTR " %zx\n", (uintptr_t)ring->memzone->addr,
		ring->memzone->len);
	fprintf(file, "mbufs %x", pool->elt_size);
	rte_mempool_obj_iter(pool, object_write, file);
	fprintf(file, "\n");
}

/** Copy a text line by line, with @p key before each. */
static void
lines_write(FILE *file, const char *key, FILE *from)
{
	char line[4096];
	bool begins = true;

	while (from != NULL && fgets(line, sizeof(line), from) != NULL) {
		fprintf(file, "%s%s", begins ? key : "", line);
		begins = strchr(line, '\n') != NULL;
	}
}

static void
device_write(FILE *file)
{
	FILE *device = bench_device != NULL ? popen(bench_device, "r") : NULL;

	lines_write(file, "device ", device);
	if (device != NULL)
		pclose(device);
}

static void
map_write(FILE *file)
{
	FILE *maps = fopen("/proc/self/maps", "r");

	lines_write(file, "map ", maps);
	if (maps != NULL)
		fclose(maps);
}

/** @return the file of this case and port, or NULL. */
static FILE *
file_open(const char *directory, const struct bench_port *port, const struct bench_case *how,
	uint64_t nb_packets)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%u", directory, how->name, port->nth);
	file = fopen(path, "w");
	if (file == NULL)
		perror(path);
	else
		fprintf(file, "case %s\nport %u %s\npackets %" PRIu64 "\n", how->name, port->nth,
			port->driver, nb_packets);
	return file;
}

int
bench_trace_count(const struct bench_port *port, const struct bench_case *how, uint64_t nb_packets)
{
	FILE *file = file_open(bench_count, port, how, nb_packets);

	if (file == NULL)
		return -EIO;
	device_write(file);
	return fclose(file) == 0 ? 0 : -EIO;
}

int
bench_trace_write(const struct bench_port *port, const struct bench_case *how, uint64_t nb_packets)
{
	FILE *file;

	if (steps == NULL || nb_steps > STEPS_MAX || nb_bursts > BURSTS_MAX) {
		fprintf(stderr, "rxtx-bench: %s: no memory for %u steps of %u bursts\n", how->name,
			nb_steps, nb_bursts);
		return -ENOMEM;
	}
	file = file_open(bench_trace, port, how, nb_packets);
	if (file == NULL)
		return -EIO;
	fprintf(file, "bursts");
	for (unsigned int i = 0; i < nb_bursts; i++)
		fprintf(file, " %u", bursts[i]);
	fprintf(file, "\n");
	pool_write(file, port->pool);
	pool_write(file, port->tx_pool);
	map_write(file);
	device_write(file);
	fprintf(file, "steps %u\n", nb_steps);
	fwrite(steps, sizeof(*steps), nb_steps, file);
	return fclose(file) == 0 ? 0 : -EIO;
}
