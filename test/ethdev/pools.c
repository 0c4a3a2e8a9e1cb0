/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A secondary process that makes mempools and destroys them: what the primary process hears of them
 * shows in its telemetry.
 *
 * Usage: ethdev-pools EAL-ARGUMENTS -- once|often
 */
#include <pthread.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "rig.h"

#define NB_MBUFS   127
#define NB_THREADS 4
#define NB_ROUNDS  50

static struct rte_mempool *
make(const char *name)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		name, NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	must(pool != NULL, "rte_pktmbuf_pool_create");
	return pool;
}

/** Wait for a line before each step. */
static void
once(void)
{
	struct rte_mempool *pool;

	say("ready");
	await_line();
	pool = make("theirs");
	say("made");
	await_line();
	rte_mempool_free(pool);
	say("gone");
	await_line();
}

static void *
come_and_go(void *name)
{
	for (unsigned int i = 0; i < NB_ROUNDS; i++)
		rte_mempool_free(make(name));
	return NULL;
}

static void
often(void)
{
	pthread_t threads[NB_THREADS];
	char names[NB_THREADS][16];

	for (unsigned int i = 0; i < NB_THREADS; i++) {
		snprintf(names[i], sizeof(names[i]), "theirs%u", i);
		must(pthread_create(&threads[i], NULL, come_and_go, names[i]) == 0,
			"pthread_create");
	}
	for (unsigned int i = 0; i < NB_THREADS; i++)
		must(pthread_join(threads[i], NULL) == 0, "pthread_join");
	say("done");
}

int
main(int argc, char **argv)
{
	const int nb_eal = rte_eal_init(argc, argv);

	must(nb_eal >= 0, "rte_eal_init");
	must(rte_eal_process_type() == RTE_PROC_SECONDARY, "being a secondary process");
	must(nb_eal + 1 < argc, "reading how often");
	if (strcmp(argv[nb_eal + 1], "often") == 0)
		often();
	else
		once();
	return rte_eal_cleanup();
}
