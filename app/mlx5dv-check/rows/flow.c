/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of rte_flow: what a rule does, and which of two rules has a packet. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_flow.h>

#include "check.h"

/** How often the frame has to come on each queue. */
struct expected {
	uint8_t on[CHECK_QUEUES];
	uint8_t elsewhere; /**< on queues that have 0: by RSS, or Linux's rules */
};

static enum check_result
compare(struct check *check, const struct check_gots *gots, const struct expected *expected)
{
	unsigned int elsewhere = check_traffic_count(gots, 0, UINT16_MAX);

	for (uint16_t q = 0; q < CHECK_QUEUES; q++) {
		const unsigned int nb = check_traffic_count(gots, 0, q);

		if (expected->on[q] == 0)
			continue;
		/* The queue of the RSS's choice may be one of the rules'. */
		if (nb < expected->on[q])
			return check_fail(
				check, "queue %u has %u copies, not %u", q, nb, expected->on[q]);
		elsewhere -= expected->on[q];
	}
	if (elsewhere != expected->elsewhere)
		return check_fail(
			check, "%u further copies came, not %u", elsewhere, expected->elsewhere);
	return CHECK_PASS;
}

/** Create the rules, send a frame that they match to the port, and remove them. */
static enum check_result
run_rules(struct check *check, const struct check_rule *rules, unsigned int nb_rules,
	const struct expected *expected, struct check_gots *gots, uint64_t *hits)
{
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct rte_flow *flows[CHECK_RULES_MAX] = { NULL };
	enum check_result result = check_rules_create(check, rules, nb_rules, flows);
	struct rte_flow_error error;
	int ret;

	gots->nb = 0;
	if (result != CHECK_PASS)
		return result;
	ret = check_traffic_exchange(check, CHECK_PEER, &frame, 1, gots);
	result = ret != 0 ? check_fail(check, "%s", rte_strerror(-ret))
			  : compare(check, gots, expected);
	if (hits != NULL && result == CHECK_PASS) {
		const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_COUNT };
		struct rte_flow_query_count query = { 0 };

		ret = rte_flow_query(check->port[CHECK_PORT].id, flows[0], &action, &query, &error);
		*hits = query.hits;
		if (ret != 0 || !query.hits_set)
			result = check_fail(check, "no count: %s", rte_strerror(-ret));
	}
	return check_rules_destroy(check, flows, nb_rules, result);
}

/** The rules, and where the packet is to be found. */
static enum check_result
rules_steer(struct check *check, const struct check_rule *rules, unsigned int nb_rules,
	struct expected expected)
{
	struct check_gots gots;
	const enum check_result result = run_rules(check, rules, nb_rules, &expected, &gots, NULL);

	check_traffic_free(&gots);
	return result;
}

static enum check_result
no_rule(struct check *check)
{
	return rules_steer(check, NULL, 0, (struct expected){ .elsewhere = 1 });
}

static enum check_result
to_queue(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 3 } };

	return rules_steer(check, rules, 1, (struct expected){ .on = { [3] = 1 } });
}

static enum check_result
drop(struct check *check)
{
	const struct check_rule rules[] = { { .drop = true } };

	return rules_steer(check, rules, 1, (struct expected){ .elsewhere = 0 });
}

static enum check_result
mark(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 2, .marked = true } };
	const struct expected expected = { .on = { [2] = 1 } };
	struct check_gots gots;
	enum check_result result = run_rules(check, rules, 1, &expected, &gots, NULL);

	if (result == CHECK_PASS &&
		(!(gots.got[0].mbuf->ol_flags & RTE_MBUF_F_RX_FDIR_ID) ||
			gots.got[0].mbuf->hash.fdir.hi != CHECK_RULE_MARK))
		result = check_fail(check, "flags 0x%" PRIx64 ", mark %u",
			gots.got[0].mbuf->ol_flags, gots.got[0].mbuf->hash.fdir.hi);
	check_traffic_free(&gots);
	return result;
}

static enum check_result
flag(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 2, .flagged = true } };
	const struct expected expected = { .on = { [2] = 1 } };
	struct check_gots gots;
	enum check_result result = run_rules(check, rules, 1, &expected, &gots, NULL);

	if (result == CHECK_PASS &&
		(gots.got[0].mbuf->ol_flags & (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)) !=
			RTE_MBUF_F_RX_FDIR)
		result = check_fail(check, "flags 0x%" PRIx64, gots.got[0].mbuf->ol_flags);
	check_traffic_free(&gots);
	return result;
}

static enum check_result
sample(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 2, .sampled = true } };

	return rules_steer(check, rules, 1, (struct expected){ .on = { [1] = 1, [2] = 1 } });
}

static enum check_result
count(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 2, .counted = true } };
	const struct expected expected = { .on = { [2] = 1 } };
	struct check_gots gots;
	uint64_t hits = 0;
	enum check_result result = run_rules(check, rules, 1, &expected, &gots, &hits);

	check_traffic_free(&gots);
	return result != CHECK_PASS || hits == 1
		? result
		: check_fail(check, "one packet was counted as %" PRIu64, hits);
}

static enum check_result
priorities(struct check *check)
{
	const struct check_rule rules[] = { { .priority = 1, .queue = 1 }, { .queue = 2 } };

	return rules_steer(check, rules, 2, (struct expected){ .on = { [2] = 1 } });
}

static enum check_result
passthru_to_rule(struct check *check)
{
	const struct check_rule rules[] = { { .passthru = true, .queue = 1 },
		{ .priority = 1, .queue = 2 } };

	return rules_steer(check, rules, 2, (struct expected){ .on = { [1] = 1, [2] = 1 } });
}

static enum check_result
passthru_to_port(struct check *check)
{
	const struct check_rule rules[] = { { .passthru = true, .queue = 1 } };

	return rules_steer(check, rules, 1, (struct expected){ .on = { [1] = 1 }, .elsewhere = 1 });
}

static enum check_result
passthru_to_drop(struct check *check)
{
	const struct check_rule rules[] = { { .passthru = true, .queue = 1 },
		{ .priority = 1, .drop = true } };

	return rules_steer(check, rules, 2, (struct expected){ .on = { [1] = 1 } });
}

static enum check_result
passthru_below(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 2 },
		{ .priority = 1, .passthru = true, .queue = 1 } };

	return rules_steer(check, rules, 2, (struct expected){ .on = { [2] = 1 } });
}

const struct check_row check_rows_flow[] = {
	{ "flow: none", "a packet comes once", no_rule },
	{ "flow: QUEUE", "the packet comes on that queue alone", to_queue },
	{ "flow: DROP", "the packet does not come", drop },
	{ "flow: MARK", "the mark is in the mbuf", mark },
	{ "flow: FLAG", "the mbuf is flagged, without a mark", flag },
	{ "flow: SAMPLE", "the queue has a copy, and the rule's the packet", sample },
	{ "flow: COUNT", "one packet is one hit", count },
	{ "flow: priorities", "the rule of the lower number has the packet", priorities },
	{ "flow: PASSTHRU, then a rule", "both rules' queues have it", passthru_to_rule },
	{ "flow: PASSTHRU, then the port", "the queue has it, and the port as ever",
		passthru_to_port },
	{ "flow: PASSTHRU, then DROP", "the queue has it, and nobody else", passthru_to_drop },
	{ "flow: PASSTHRU below a rule", "the rule above it alone has it", passthru_below },
	{ NULL, NULL, NULL },
};
