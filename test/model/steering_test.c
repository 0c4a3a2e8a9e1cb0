/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steering against its naive twin: random rules come and go, random packets walk, all answers
 * are compared. A failure names its seed: run with it as the only argument to repeat that round
 * alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/rounds.h"
#include "generate.h"
#include "naive_steering.h"
#include "steering/state.h"

enum {
	NB_ROUNDS = 1700,
	NB_TIRS = 6,
	NB_BURSTS = 10,
	BURST_OPERATIONS = 12,
	BURST_PACKETS = 60,
	NB_RECENT = 16,
	MAX_LIVE_RULES = 90,
};

static char tirs[NB_TIRS];

/** What was met, to know that the comparison is not empty. */
static struct coverage {
	unsigned long packets, rules, refused_einval, refused_eopnotsupp, refused_eexist,
		refused_enomem;
	unsigned long copies, merged_copies, tagged, kernel, dropped, nobody, leftovers, multicast,
		single_groups, tx_dropped, inner, known;
} coverage;

struct live {
	struct shca_rule *rule;
	unsigned int naive;
};

/** A packet to be sent again: its verdict may be known by then, or have changed. */
struct recent {
	struct frame frame;
	struct naive_packet naive;
};

struct round {
	uint64_t seed;
	struct generator generator;
	bool crowded; /**< all rules in one table */
	struct shca_steering *steering;
	struct naive_steering *naive;
	struct shca_flow_counter counters[NAIVE_COUNTERS];
	struct live live[MAX_LIVE_RULES];
	unsigned int nb_live;
	struct recent recent[NB_RECENT];
	unsigned int nb_recent;
};

static void
fail(const struct round *round, const char *what)
{
	fprintf(stderr, "steering differs from its twin: %s; seed %" PRIu64 "\n", what,
		round->seed);
	shca_steering_dump(round->steering, stderr);
	exit(EXIT_FAILURE);
}

static void
count_refusal(int err)
{
	coverage.refused_einval += err == -EINVAL;
	coverage.refused_eopnotsupp += err == -EOPNOTSUPP;
	coverage.refused_eexist += err == -EEXIST;
	coverage.refused_enomem += err == -ENOMEM;
}

static void
add_rule(struct round *round)
{
	static const uint32_t types[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4 };
	static const uint32_t flags[] = { 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 6, 1, 8 };
	static const uint16_t priorities[] = { 0, 0, 0, 0, 0, 0, 0, 1, 15, 16 };
	struct generator *generator = &round->generator;
	struct shca_rule *rule = NULL;
	struct specs specs;
	unsigned int naive_rule = 0;

	if (round->crowded)
		generate_crowded_specs(generator, &specs);
	else
		generate_specs(generator, &specs);

	struct naive_request request = {
		.type = types[generate_below(generator, 16)],
		.flags = flags[generate_below(generator, 17)],
		.priority = priorities[generate_below(generator, 10)],
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = (int)generate_below(generator, NB_TIRS + 1) - 1,
		.counter = (int)generate_below(generator, NAIVE_COUNTERS),
	};

	if (round->crowded) {
		request.type = 0;
		request.flags = 0;
		request.priority = 0;
	}

	struct shca_rule_attr attr = {
		.type = request.type,
		.flags = request.flags,
		.priority = request.priority,
		.nb_specs = request.nb_specs,
		.specs = request.specs,
		.specs_length = request.specs_length,
		.tir = request.tir >= 0 ? &tirs[request.tir] : NULL,
		.counter = &round->counters[request.counter],
	};
	int err = shca_rule_add(round->steering, &attr, &rule);
	int naive_err = naive_add(round->naive, &request, &naive_rule);

	coverage.rules++;
	count_refusal(err);
	if (err != naive_err) {
		fprintf(stderr, "type %" PRIu32 " flags %" PRIu32 " priority %u: %d, twin %d\n",
			attr.type, attr.flags, attr.priority, err, naive_err);
		fail(round, "add");
	}
	if (err == 0)
		round->live[round->nb_live++] = (struct live){ rule, naive_rule };
}

static void
del_rule(struct round *round, unsigned int i)
{
	shca_rule_del(round->steering, round->live[i].rule);
	naive_del(round->naive, round->live[i].naive);
	round->live[i] = round->live[--round->nb_live];
}

static void
operate(struct round *round)
{
	for (unsigned int i = 0; i < BURST_OPERATIONS; i++) {
		bool full = round->nb_live == MAX_LIVE_RULES;

		if (full || (round->nb_live > 0 && generate_below(&round->generator, 4) == 0))
			del_rule(round, generate_below(&round->generator, round->nb_live));
		else
			add_rule(round);
	}
	if (shca_steering_nb_receiving(round->steering) != naive_nb_receiving(round->naive))
		fail(round, "number of receiving rules");
}

/** Copies in any order: entries list their destinations as rules came, the twin as it finds them.
 */
static void
compare(const struct round *round, const struct shca_verdict *verdict,
	const struct naive_result *result)
{
	bool seen[NAIVE_MAX_COPIES] = { false };

	if (verdict->nb_destinations != result->nb)
		fail(round, "number of copies");
	for (unsigned int i = 0; i < verdict->nb_destinations; i++) {
		const struct shca_destination *destination = &verdict->destination[i];
		unsigned int n = 0;

		while (n < result->nb &&
			(seen[n] || &tirs[result->copy[n].tir] != destination->tir ||
				result->copy[n].tag != destination->flow_tag))
			n++;
		if (n == result->nb)
			fail(round, "destination or tag");
		seen[n] = true;
		coverage.tagged += destination->flow_tag != 0;
	}
	if (verdict->to_kernel != result->kernel)
		fail(round, "kernel");
	if (verdict->dropped != result->dropped)
		fail(round, "drop");
	coverage.copies += verdict->nb_destinations;
	coverage.merged_copies += verdict->nb_destinations > 1;
}

/** A new packet, or one of the last. */
static const struct recent *
choose_packet(struct round *round)
{
	unsigned int i = generate_below(&round->generator, NB_RECENT);

	if (i >= round->nb_recent)
		i = round->nb_recent++;
	else if (generate_below(&round->generator, 2) != 0)
		return &round->recent[i];
	generate_packet(&round->generator, &round->recent[i].frame, &round->recent[i].naive);
	return &round->recent[i];
}

static bool
is_from_cache(const struct shca_steering *steering, const struct shca_verdict *verdict)
{
	return verdict->destination != steering->destinations;
}

static void
walk(struct round *round)
{
	const struct recent *chosen = choose_packet(round);
	struct naive_result result;
	struct shca_packet packet;
	struct shca_verdict verdict;

	shca_parse(chosen->frame.byte, chosen->frame.length, &packet);
	coverage.packets++;
	coverage.inner += packet.inner.valid;
	if (generate_below(&round->generator, 8) == 0) {
		shca_walk_tx(round->steering, &packet, &verdict);
		naive_send(round->naive, &chosen->naive, &result);
		compare(round, &verdict, &result);
		coverage.tx_dropped += verdict.dropped;
		return;
	}
	shca_walk_rx(round->steering, &packet, &verdict);
	coverage.known += is_from_cache(round->steering, &verdict);
	naive_receive(round->naive, &chosen->naive, &result);
	compare(round, &verdict, &result);
	coverage.kernel += verdict.to_kernel;
	coverage.dropped += verdict.dropped;
	coverage.nobody += !verdict.to_kernel && !verdict.dropped && verdict.nb_destinations == 0;
}

static void
note_tables(const struct shca_steering *steering)
{
	coverage.leftovers += steering->leftovers.nb_subtables > 0;
	coverage.multicast += steering->rx[SHCA_STATE_MULTICAST_PRIORITY].nb_subtables > 0;
	for (unsigned int i = 0; i < SHCA_STATE_MULTICAST_PRIORITY; i++)
		coverage.single_groups += steering->rx[i].nb_single > 0;
}

static void
start(struct round *round)
{
	static const uint8_t mac[6] = { 0x02, 0, 0, 0, 0, 0x4b };
	struct generator *generator = &round->generator;
	struct naive_steering *naive = round->naive;
	struct shca_steering_conf conf;
	struct shca_kernel_filter filter;

	*naive = (struct naive_steering){
		.can_dont_trap = generate_below(generator, 8) != 0,
		.can_sniff = generate_below(generator, 8) != 0,
		.spec_caps =
			(generate_below(generator, 4) != 0 ? 0x1f : generate_below(generator, 32)) |
			(generate_below(generator, 4) != 0 ? NAIVE_INNER_VERSION : 0),
		.max_copies =
			generate_below(generator, 4) != 0 ? 0 : 2 + generate_below(generator, 3),
		.max_counters =
			generate_below(generator, 4) != 0 ? 0 : 1 + generate_below(generator, 3),
		.kernel = generate_below(generator, 4) != 0,
		.promiscuous = generate_below(generator, 4) == 0,
		.joined = generate_below(generator, 2) != 0,
	};
	memcpy(naive->mac, mac, 6);
	conf = (struct shca_steering_conf){
		.dont_trap = naive->can_dont_trap,
		.sniffer = naive->can_sniff,
		.tunnel_offloads = naive->spec_caps & 0x1f,
		.inner_ip_version = naive->spec_caps & NAIVE_INNER_VERSION,
		.max_fte_destinations = naive->max_copies,
		.max_fte_counters = naive->max_counters,
	};
	filter = (struct shca_kernel_filter){
		.present = naive->kernel,
		.promiscuous = naive->promiscuous,
		.no_multicast = !naive->joined,
	};
	memcpy(filter.mac, mac, 6);
	round->steering = shca_steering_create(&conf);
	if (round->steering == NULL)
		fail(round, "out of memory");
	shca_steering_set_kernel(round->steering, &filter);
}

static void
run(uint64_t seed)
{
	struct round round = { .seed = seed, .generator = { seed } };

	round.crowded = seed % 5 == 0;
	round.naive = malloc(sizeof(*round.naive));
	if (round.naive == NULL)
		exit(EXIT_FAILURE);
	start(&round);
	for (unsigned int burst = 0; burst < NB_BURSTS; burst++) {
		operate(&round);
		note_tables(round.steering);
		for (unsigned int i = 0; i < BURST_PACKETS; i++)
			walk(&round);
	}
	for (unsigned int i = 0; i < NAIVE_COUNTERS; i++)
		if (round.counters[i].packets != round.naive->packets[i] ||
			round.counters[i].bytes != round.naive->bytes[i])
			fail(&round, "counters");
	while (round.nb_live > 0)
		del_rule(&round, 0);
	if (round.steering->rx_path.nb_tables != 0 || round.steering->tx_path.nb_tables != 0 ||
		round.steering->leftovers.nb_subtables != 0)
		fail(&round, "tables left over");
	shca_steering_destroy(round.steering);
	free(round.naive);
}

static int
check_coverage(void)
{
#define COUNT(member, least)                                                                       \
	{                                                                                          \
#member, coverage.member, least                                                    \
	}
	const struct {
		const char *name;
		unsigned long count, least; /* of all rounds */
	} rows[] = {
		COUNT(packets, 1000000),
		COUNT(rules, 20000),
		COUNT(refused_einval, 1000),
		COUNT(refused_eopnotsupp, 1000),
		COUNT(refused_eexist, 100),
		COUNT(refused_enomem, 100),
		COUNT(copies, 100000),
		COUNT(merged_copies, 10000),
		COUNT(tagged, 1000),
		COUNT(kernel, 1000),
		COUNT(dropped, 1000),
		COUNT(nobody, 1000),
		COUNT(leftovers, 100),
		COUNT(multicast, 100),
		COUNT(single_groups, 100),
		COUNT(tx_dropped, 100),
		COUNT(inner, 10000),
		COUNT(known, 100000),
	};
	int status = EXIT_SUCCESS;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		printf("%-20s %8lu\n", rows[i].name, rows[i].count);
		if (rows[i].count * NB_ROUNDS < rows[i].least * test_rounds(NB_ROUNDS)) {
			fprintf(stderr, "%s: only %lu\n", rows[i].name, rows[i].count);
			status = EXIT_FAILURE;
		}
	}
	return status;
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		run(strtoull(argv[1], NULL, 0));
		return EXIT_SUCCESS;
	}
	for (uint64_t seed = 1; seed <= test_rounds(NB_ROUNDS); seed++)
		run(seed);
	return check_coverage();
}
