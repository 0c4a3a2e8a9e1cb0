/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments: what no source says of cards (doc/design/hardware-questions.md has the questions).
 */
#include <errno.h>
#include <inttypes.h>

#include "check.h"

/** Exchange @p frame under @p rules. @param gots the caller frees it */
static enum check_result
observe(struct check *check, const struct check_rule *rules, unsigned int nb_rules,
	const struct check_frame *frame, struct check_gots *gots)
{
	struct rte_flow *flows[CHECK_RULES_MAX];
	enum check_result result;
	int ret;

	gots->nb = 0;
	result = check_rules_create(check, rules, nb_rules, flows);
	if (result != CHECK_PASS)
		return result;
	ret = check_traffic_exchange(check, CHECK_PEER, frame, 1, gots);
	if (ret != 0)
		result = check_fail(check, "%s", rte_strerror(-ret));
	return check_rules_destroy(check, flows, nb_rules, result);
}

/** Q1: a tag that an earlier entry has given. */
static enum check_result
tag_behind_passthru(struct check *check)
{
	const struct check_rule rules[] = { { .passthru = true, .marked = true, .queue = 1 },
		{ .priority = 1, .queue = 2 } };
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct check_gots gots;
	enum check_result result = observe(check, rules, 2, &frame, &gots);

	if (result == CHECK_PASS)
		result = check_fail(check, "the second rule's queue got nothing");
	for (unsigned int i = 0; i < gots.nb; i++)
		if (gots.got[i].queue == 2)
			result = check_seen(check, "the packet of the later rule has %s mark",
				gots.got[i].mbuf->ol_flags & RTE_MBUF_F_RX_FDIR_ID
					? "the earlier rule's"
					: "no");
	check_traffic_free(&gots);
	return result;
}

/** Q2: two rules of one priority that match the same packet by other fields. */
static enum check_result
equal_priorities(struct check *check)
{
	const struct check_rule rules[] = { { .queue = 1 }, { .queue = 2, .with_dst = true } };
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct check_gots gots;
	enum check_result result = observe(check, rules, 2, &frame, &gots);

	if (result == CHECK_PASS && gots.nb == 1)
		result = check_seen(check, "the rule that came %s has the packet",
			gots.got[0].queue == 1 ? "first" : "second");
	else if (result == CHECK_PASS)
		result = check_seen(check, "the packet came %u times", gots.nb);
	check_traffic_free(&gots);
	return result;
}

/** Flags, hash and queue of a frame. */
static enum check_result
describe(struct check *check, const struct check_frame *frame)
{
	struct check_gots gots;
	enum check_result result = observe(check, NULL, 0, frame, &gots);

	if (result == CHECK_PASS && gots.nb != 1)
		result = check_fail(check, "it came %u times", gots.nb);
	else if (result == CHECK_PASS)
		result = check_seen(check,
			"flags 0x%" PRIx64 ", hash 0x%08x, packet type 0x%x, queue %u",
			gots.got[0].mbuf->ol_flags, gots.got[0].mbuf->hash.rss,
			gots.got[0].mbuf->packet_type, gots.got[0].queue);
	check_traffic_free(&gots);
	return result;
}

/** Q3: is the first fragment hashed by its ports? */
static enum check_result
first_fragment(struct check *check)
{
	const struct check_frame frame = { .fragment = true };

	return describe(check, &frame);
}

/** Q4: is a datagram without checksum good? */
static enum check_result
no_checksum(struct check *check)
{
	const struct check_frame frame = { .no_l4 = true };

	return describe(check, &frame);
}

const struct check_row check_rows_question[] = {
	{ "Q1: mark behind PASSTHRU", "whether a later rule's packet has it", tag_behind_passthru },
	{ "Q2: equal priorities", "which of two rules has a packet", equal_priorities },
	{ "Q3: first fragment", "how it is hashed and typed", first_fragment },
	{ "Q4: UDP without checksum", "whether it is called good", no_checksum },
	{ NULL, NULL, NULL },
};
