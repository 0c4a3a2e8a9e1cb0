/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE: threads make, query, dump and destroy rules of one port while
 * others change its default rules. Built with ThreadSanitizer; the books of the fake context are
 * unlocked, so a verbs call outside the driver's lock is a race too.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"

#define NB_ROUNDS 1500
#define NB_MINE   16

/* clang-format off */
static const struct rte_flow_attr ingress = { .ingress = 1, .priority = 3 };
static const struct rte_flow_action_queue queue_1 = { 1 };
static const struct rte_flow_action_mark mark_5 = { 5 };
static const uint16_t queues[] = { 0, 1, 2 };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV4, .queue_num = 3, .queue = queues };
static const struct rte_flow_action *const actions[] = {
	(const struct rte_flow_action[]){
		ACTION_CONF(QUEUE, &queue_1), ACTION(COUNT), ACTION(END) },
	(const struct rte_flow_action[]){ ACTION_CONF(RSS, &rss), ACTION(END) },
	(const struct rte_flow_action[]){
		ACTION_CONF(MARK, &mark_5), ACTION_CONF(QUEUE, &queue_1), ACTION(PASSTHRU),
		ACTION(END) },
	(const struct rte_flow_action[]){ ACTION(DROP), ACTION(COUNT), ACTION(END) },
};
/* clang-format on */

struct worker {
	pthread_t thread;
	unsigned int seed, idx;
	unsigned int nb_made, nb_gone, nb_failed; /* rules; anything that must not fail */
	struct rte_flow *mine[NB_MINE];
	FILE *file;
};

/** What one thread matches no other does, so that the levels suffice. */
static struct rte_flow *
make(const struct worker *worker, unsigned int value, unsigned int what, bool only_validate)
{
	const struct rte_flow_item_udp udp = { .hdr.src_port = rte_cpu_to_be_16(worker->idx),
		.hdr.dst_port = rte_cpu_to_be_16(value) };
	const struct rte_flow_item_udp mask = { .hdr.src_port = 0xffff, .hdr.dst_port = 0xffff };
	const struct rte_flow_item pattern[] = { ITEM(IPV4), ITEM_MASK(UDP, &udp, &mask),
		ITEM(END) };
	struct rte_flow_error error;

	if (!only_validate)
		return mdv_flow_ops.create(&fake.dev, &ingress, pattern, actions[what], &error);
	(void)mdv_flow_ops.validate(&fake.dev, &ingress, pattern, actions[what], &error);
	return NULL;
}

static void
use(struct worker *worker, unsigned int i)
{
	const struct rte_flow_action count = ACTION(COUNT);
	struct rte_flow_query_count counts = { .reset = i & 1 };
	struct rte_flow_error error;
	int ret = mdv_flow_ops.query(&fake.dev, worker->mine[i], &count, &counts, &error);

	worker->nb_failed += ret != 0 && ret != -EINVAL;
	if (i % 8 == 0)
		worker->nb_failed += mdv_flow_ops.dev_dump(
					     &fake.dev, worker->mine[i], worker->file, &error) != 0;
}

static void *
work(void *arg)
{
	struct worker *worker = arg;

	for (unsigned int round = 0; round < NB_ROUNDS; round++) {
		const unsigned int i = rand_r(&worker->seed) % NB_MINE;
		const unsigned int what = rand_r(&worker->seed) % RTE_DIM(actions);
		struct rte_flow_error error;

		make(worker, i, what, true);
		if (worker->mine[i] == NULL) {
			worker->mine[i] = make(worker, i, what, false);
			worker->nb_failed += worker->mine[i] == NULL;
			worker->nb_made += worker->mine[i] != NULL;
			continue;
		}
		use(worker, i);
		worker->nb_failed += mdv_flow_ops.destroy(&fake.dev, worker->mine[i], &error) != 0;
		worker->mine[i] = NULL;
		worker->nb_gone++;
	}
	return NULL;
}

/** The control thread: isolation comes and goes, the port stops and starts. */
static void *
control(void *arg)
{
	struct worker *worker = arg;
	struct rte_flow_error error;

	for (unsigned int round = 0; round < 60; round++) {
		worker->nb_failed += mdv_flow_ops.isolate(&fake.dev, round & 1, &error) != 0;
		worker->nb_failed +=
			mdv_flow_ops.dev_dump(&fake.dev, NULL, worker->file, &error) != 0;
		if (round % 10 == 5) {
			mdv_flow_stop(&fake.port);
			worker->nb_failed += mdv_flow_start(&fake.port) != 0;
		}
	}
	return NULL;
}

/** The application's control operations beside the stops and starts of a queue's recovery. */
static void *
list_groups(void *arg)
{
	struct worker *worker = arg;

	for (unsigned int round = 0; round < 60; round++) {
		struct rte_ether_addr *before = fake.port.mc_list;
		struct rte_ether_addr *list = calloc(1 + round % 3, sizeof(*list));

		for (unsigned int i = 0; i <= round % 3; i++)
			list[i] = (struct rte_ether_addr){ { 1, 0, 0x5e, 0, round, i } };
		mdv_flow_default_set_groups(&fake.port, list, 1 + round % 3);
		worker->nb_failed += mdv_flow_default_update(&fake.port) != 0;
		free(before);
	}
	return NULL;
}

static void *(*const threads[])(void *) = { work, work, work, work, control, list_groups };

static void
test_threads(void **state)
{
	struct worker workers[RTE_DIM(threads)] = { 0 };
	unsigned int nb_left = 0, nb_rules = 0;
	struct rte_flow *flow;

	(void)state;
	fake_init_flow();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	for (unsigned int i = 0; i < RTE_DIM(threads); i++) {
		workers[i].idx = workers[i].seed = i + 1;
		workers[i].file = fopen("/dev/null", "w");
		assert_non_null(workers[i].file);
		assert_int_equal(
			pthread_create(&workers[i].thread, NULL, threads[i], &workers[i]), 0);
	}
	for (unsigned int i = 0; i < RTE_DIM(threads); i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		fclose(workers[i].file);
		assert_int_equal(workers[i].nb_failed, 0);
		nb_left += workers[i].nb_made - workers[i].nb_gone;
		if (threads[i] == work)
			assert_uint_in_range(workers[i].nb_made, NB_ROUNDS / 4, NB_ROUNDS);
	}
	TAILQ_FOREACH (flow, &fake.port.flow->rules, next)
		nb_rules++;
	assert_int_equal(nb_rules, nb_left);
	assert_true(fake.nb_flows >= nb_left);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
	free(fake.port.mc_list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
