/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules planned by the form of those before them: the plans are those of rules planned in full. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "fake_verbs.h"
#include "flow/match/flow_item_row.h"
#include "flow/rule/flow_form.h"

#define NB_FORMS   20000
#define MAX_ITEMS  5
#define ITEM_BYTES 64

static const uint8_t key[40] = { 1 };
static const uint16_t queues[] = { 0, 1, 2, 3 };
static const struct mdv_flow_plan_env env = {
	.actions = { .nb_queues = 4,
		.max_table = 512,
		.rss_types = UINT64_MAX,
		.rss_key = key,
		.features = UINT32_MAX },
	.features = UINT32_MAX,
	.tunnels = FAKE_TUNNELS,
	.port_num = 1,
};

static uint64_t seed = 1;
static unsigned int nb_like; /**< copies that were made by an image */
static unsigned int nb_same; /**< plans whose actions were not parsed again */

static unsigned int
dice(unsigned int sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % sides;
}

union item_bytes {
	uint8_t bytes[ITEM_BYTES];
	uint64_t align[ITEM_BYTES / 8];
};

/** A rule that has room for what it points to. */
struct given {
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[MAX_ITEMS + 1];
	union item_bytes spec[MAX_ITEMS], last[MAX_ITEMS], mask[MAX_ITEMS];
	struct rte_flow_action actions[6];
	struct rte_flow_action_queue queue[2];
	struct rte_flow_action_mark mark;
	struct rte_flow_action_rss rss;
	struct rte_flow_action_set_ttl ttl;
};

/** Numbers that some check or other reads: Ethernet types, ports, protocols, group addresses. */
static void
roll_values(struct given *given)
{
	static const uint16_t numbers[] = { 0x0800, 0x86dd, 0x8100, 0x8847, 0x6558, 0x0806, 4789,
		6635, 0x0600, 0x1100, 0x2f00, 0x0006, 0x0011, 0x0100, 0xe000, 0, 0xffff, 0x1234 };

	for (unsigned int i = 0; i < MAX_ITEMS; i++)
		for (unsigned int at = 0; at < ITEM_BYTES; at += 2) {
			const rte_be16_t number = dice(3) == 0
				? dice(UINT16_MAX + 1)
				: rte_cpu_to_be_16(numbers[dice(RTE_DIM(numbers))]);

			memcpy(&given->spec[i].bytes[at], &number, sizeof(number));
		}
	/* A range, or none. */
	for (unsigned int i = 0; i < MAX_ITEMS; i++) {
		given->last[i] = given->spec[i];
		given->last[i].bytes[dice(ITEM_BYTES)] ^= dice(2);
		given->pattern[i].last =
			given->pattern[i].spec != NULL && dice(12) == 0 ? &given->last[i] : NULL;
	}
	given->queue[0].index = dice(5);
	given->queue[1].index = dice(4);
	given->mark.id = dice(100);
}

static void
roll_mask(const struct mdv_flow_item_row *row, union item_bytes *mask)
{
	memset(mask, 0, sizeof(*mask));
	for (unsigned int nb = row->nb_fields != 0 ? dice(3) : 0; nb-- != 0;) {
		const struct mdv_flow_item_field *field = &row->fields[dice(row->nb_fields)];

		if (field->to_bytes == 0 && dice(16) != 0) {
			nb++; /* it would be refused */
			continue;
		}
		for (unsigned int i = 0; field->flag == NULL && i < field->bytes; i++)
			mask->bytes[field->at + i] |= dice(4) == 0 ? dice(256) : 0xff;
	}
}

static void
roll_items(struct given *given)
{
	static const enum rte_flow_item_type usual[] = { RTE_FLOW_ITEM_TYPE_ETH,
		RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP };
	const unsigned int nb = dice(MAX_ITEMS + 1);
	const unsigned int first = dice(2);
	const enum rte_flow_item_type second[] = { RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_IPV4,
		RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_VLAN };

	memset(given->pattern, 0, sizeof(given->pattern));
	for (unsigned int i = 0; i < nb; i++) {
		struct rte_flow_item *item = &given->pattern[i];
		const struct mdv_flow_item_row *row = i + first < RTE_DIM(usual) && dice(5) != 0
			? mdv_flow_item_row_of(
				  i + first == 1 ? second[dice(RTE_DIM(second))] : usual[i + first])
			: &mdv_flow_item_rows[dice(mdv_flow_item_rows_nb)];

		item->type = dice(20) == 0 ? RTE_FLOW_ITEM_TYPE_VOID : row->type;
		roll_mask(row, &given->mask[i]);
		item->spec = dice(3) != 0 ? &given->spec[i] : NULL;
		item->mask = item->spec != NULL && dice(4) != 0 ? &given->mask[i] : NULL;
	}
}

static void
roll_actions(struct given *given)
{
	struct rte_flow_action *action = given->actions;

	memset(given->actions, 0, sizeof(given->actions));
	if (dice(4) == 0)
		*action++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_MARK, &given->mark };
	if (dice(8) == 0)
		*action++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_COUNT, NULL };
	if (dice(8) == 0)
		*action++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_PASSTHRU, NULL };
	if (dice(16) == 0)
		*action++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_SET_TTL, &given->ttl };
	/* Sent packets go on without a fate. */
	if (given->attr.egress && dice(2) == 0) {
		if (dice(2) == 0)
			*action = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_COUNT, NULL };
		return;
	}
	given->rss.types = dice(2) == 0 ? RTE_ETH_RSS_NONFRAG_IPV4_UDP : RTE_ETH_RSS_IPV4;
	given->rss.level = dice(4) == 0 ? 2 : 0;
	switch (dice(8)) {
	case 0:
		action->type = RTE_FLOW_ACTION_TYPE_DROP;
		break;
	case 1:
		*action = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_RSS, &given->rss };
		break;
	default:
		*action = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_QUEUE, &given->queue[0] };
		if (dice(4) == 0)
			*++action = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_QUEUE,
				&given->queue[1] };
		break;
	}
}

static void
roll_form(struct given *given)
{
	const bool egress = dice(3) == 0;

	given->attr =
		(struct rte_flow_attr){ .priority = dice(2), .ingress = !egress, .egress = egress };
	given->rss.queue_num = RTE_DIM(queues);
	given->rss.queue = queues;
	given->ttl.ttl_value = 64;
	roll_items(given);
	roll_actions(given);
}

static void
same_actions(const struct mdv_flow_actions *a, const struct mdv_flow_actions *b)
{
	assert_int_equal(a->fate, b->fate);
	/* Those of a form may be in its own memory. */
	assert_int_equal(a->nb_queues, b->nb_queues);
	if (a->nb_queues != 0)
		assert_memory_equal(a->queues, b->queues, a->nb_queues * sizeof(a->queues[0]));
	assert_ptr_equal(a->rss_key, b->rss_key);
	assert_int_equal(a->rss_types, b->rss_types);
	assert_int_equal(a->tag, b->tag);
	assert_int_equal(a->count, b->count);
	assert_ptr_equal(a->counter, b->counter);
	assert_int_equal(a->egress, b->egress);
	assert_int_equal(a->passthru, b->passthru);
	assert_int_equal(a->nb_extras, b->nb_extras);
	for (unsigned int i = 0; i < a->nb_extras; i++)
		assert_int_equal(*a->extras[i], *b->extras[i]);
	assert_ptr_equal(a->modify_list, b->modify_list);
}

static void
same_plans(const struct mdv_flow_plan *a, const struct mdv_flow_plan *b)
{
	assert_int_equal(a->nb_parts, b->nb_parts);
	for (unsigned int i = 0; i < a->nb_parts; i++) {
		const struct mdv_flow_build *one = &a->parts[i].build, *other = &b->parts[i].build;

		assert_int_equal(a->parts[i].id, b->parts[i].id);
		assert_int_equal(one->attr.size, other->attr.size);
		assert_memory_equal(one->bytes, other->bytes, one->attr.size);
		assert_int_equal(one->layers, other->layers);
		assert_int_equal(one->any_tag, other->any_tag);
		assert_memory_equal(one->sides, other->sides, sizeof(one->sides));
	}
	assert_int_equal(a->parts[0].build.nb_items, b->parts[0].build.nb_items);
	assert_int_equal(a->parts[0].build.item_bytes, b->parts[0].build.item_bytes);
	assert_memory_equal(&a->match.value, &b->match.value, sizeof(a->match.value));
	assert_memory_equal(&a->match.mask, &b->match.mask, sizeof(a->match.mask));
	assert_int_equal(a->match.used, b->match.used);
	assert_int_equal(a->match.depth, b->match.depth);
	assert_ptr_equal(a->want.match, &a->match);
	assert_int_equal(a->want.priority, b->want.priority);
	assert_int_equal(a->want.copies, b->want.copies);
	assert_int_equal(a->want.multi_dest, b->want.multi_dest);
	assert_int_equal(a->want.modifies, b->want.modifies);
	assert_int_equal(a->want.depth, b->want.depth);
	assert_int_equal(a->want.set, b->want.set);
	assert_int_equal(a->want.nb_entries, b->want.nb_entries);
	assert_int_equal(a->want.nb_masks, b->want.nb_masks);
	assert_int_equal(a->want.hash, b->want.hash);
	assert_null(a->want.beside);
	assert_memory_equal(a->want.masks, b->want.masks, a->want.nb_masks * sizeof(uint64_t));
	same_actions(&a->actions, &b->actions);
}

/** Compare rules but for bits of specs that no mask has. */
static void
same_rules(const struct rte_flow_conv_rule *a, const struct rte_flow_conv_rule *b)
{
	const struct rte_flow_action *action = a->actions_ro, *other = b->actions_ro;
	unsigned int i = 0;

	assert_memory_equal(a->attr_ro, b->attr_ro, sizeof(*a->attr_ro));
	do {
		const struct rte_flow_item *item = &a->pattern_ro[i], *like = &b->pattern_ro[i];
		const size_t bytes = mdv_flow_item_bytes(item->type);
		const uint8_t *mask = item->spec != NULL ? mdv_flow_item_mask(item) : NULL;

		assert_int_equal(item->type, like->type);
		assert_true((item->spec == NULL) == (like->spec == NULL));
		assert_true((item->mask == NULL) == (like->mask == NULL));
		if (item->mask != NULL)
			assert_memory_equal(item->mask, like->mask, bytes);
		for (size_t at = 0; mask != NULL && at < bytes; at++)
			assert_int_equal(((const uint8_t *)item->spec)[at] & mask[at],
				((const uint8_t *)like->spec)[at] & mask[at]);
	} while (a->pattern_ro[i++].type != RTE_FLOW_ITEM_TYPE_END);
	do {
		assert_int_equal(action->type, other->type);
		assert_true((action->conf == NULL) == (other->conf == NULL));
		if (action->conf != NULL)
			assert_memory_equal(
				action->conf, other->conf, mdv_flow_action_bytes(action->type));
		other++;
	} while (action++->type != RTE_FLOW_ACTION_TYPE_END);
}

/** Copy a rule that fits by the form's image, if its actions are like those, and in full: the
 * copies are the same. @return whether they were like those */
static bool
copy_both_ways(
	struct mdv_flow_form *form, const struct given *given, const struct mdv_flow_plan *plan)
{
	static uint64_t full[256];
	static uint8_t values[MDV_FLOW_COPY_IMAGE_BYTES];
	static struct mdv_flow_copy_room room;
	const struct rte_flow_conv_rule rule = {
		.attr_ro = &given->attr, .pattern_ro = given->pattern, .actions_ro = given->actions
	};
	const struct rte_flow_conv_rule *written;
	struct mdv_flow_copy_image *image;
	struct mdv_flow_copy copy;

	assert_int_equal(mdv_flow_copy_measure(&copy, &rule, &plan->parts[0].build, NULL), 0);
	assert_true(copy.bytes <= sizeof(full));
	memset(full, 0, sizeof(full));
	mdv_flow_copy_write(&copy, (void *)full);
	if (!mdv_flow_copy_is_like(form->image, given->actions)) {
		mdv_flow_form_fini(form);
		form->image = mdv_flow_copy_learn(&copy, (void *)full);
		return false;
	}
	assert_int_equal(form->image->bytes, copy.bytes);
	assert_true(form->image->value_bytes < copy.bytes);
	memset(values, 0xa5, sizeof(values));
	mdv_flow_copy_keep(form->image, &rule, values);
	assert_int_equal(values[form->image->value_bytes], 0xa5);
	written = mdv_flow_copy_expand(form->image, values, &room);
	assert_ptr_equal(written, &room);
	assert_ptr_equal(written->attr_ro, written + 1);
	same_rules(written, &rule);
	image = mdv_flow_copy_learn(&copy, written);
	assert_int_equal(image->bytes, copy.bytes);
	assert_memory_equal(image->pointers, form->image->pointers, sizeof(image->pointers));
	assert_memory_equal(image->words, form->image->words, sizeof(image->words));
	assert_memory_equal(image->confs, form->image->confs, sizeof(image->confs));
	mdv_flow_copy_image_put(image);
	return true;
}

/** What a plan keeps for the next rule must be the form's own. */
static void
check_own(const struct mdv_flow_form *form)
{
	const struct mdv_flow_actions *actions = &form->plan.actions;
	const uint8_t *const end = form->confs + sizeof(form->confs);

	if (!form->has_confs)
		return;
	if (actions->nb_queues != 0)
		assert_uint_in_range((uintptr_t)actions->queues, (uintptr_t)form->confs,
			(uintptr_t)(end - sizeof(actions->queues[0])));
	for (unsigned int i = 0; i < actions->nb_extras; i++)
		assert_uint_in_range((uintptr_t)actions->extras[i], (uintptr_t)form->confs,
			(uintptr_t)(end - sizeof(*actions->extras[0])));
}

/** Plan by form and in full. @return whether the form fitted and there is a plan */
static bool
plan_both_ways(struct mdv_flow_form *form, const struct given *given)
{
	static struct mdv_flow_plan rooms[2], full;
	struct mdv_flow_plan *room = &rooms[dice(2)], *plan;
	const struct mdv_flow_plan_rule rule = { &given->attr, given->pattern, given->actions };
	const bool fits = mdv_flow_form_fits(form, &env, &rule);
	struct rte_flow_error error = { .message = NULL }, of_full = { .message = NULL };
	char message[512] = "";
	uint8_t confs[sizeof(form->confs)];
	bool has_confs;
	int ret;

	memset(room, 0xa5, sizeof(*room));
	has_confs = fits && form->has_confs;
	memcpy(confs, form->confs, sizeof(confs));
	plan = mdv_flow_form_plan(form, &env, &rule, room, &error);
	ret = plan == NULL ? -rte_errno : 0;
	if (error.message != NULL)
		strncpy(message, error.message, sizeof(message) - 1);
	assert_int_equal(mdv_flow_plan_make(&env, &rule, &full, &of_full), ret);
	if (ret == 0) {
		same_plans(plan, &full);
		check_own(form);
		nb_same += plan == &form->plan && has_confs && form->is_like &&
			memcmp(confs, form->confs, sizeof(confs)) == 0;
		nb_like += plan == &form->plan && copy_both_ways(form, given, plan);
		return fits;
	}
	assert_int_equal(error.type, of_full.type);
	assert_ptr_equal(error.cause, of_full.cause);
	assert_string_equal(message, of_full.message);
	return false;
}

/** Any items with any masks and actions, several times with other values, and then others. */
static void
test_random_rules(void **state)
{
	static struct mdv_flow_form form;
	struct given given = { .attr = { .ingress = 1 } };
	unsigned int nb_fitted[2] = { 0 }; /* received, sent */

	(void)state;
	for (unsigned int i = 0; i < NB_FORMS; i++) {
		roll_form(&given);
		for (unsigned int nb = 1 + dice(40); nb-- != 0;) {
			roll_values(&given);
			if (dice(6) == 0)
				roll_actions(&given);
			nb_fitted[given.attr.egress] += plan_both_ways(&form, &given);
		}
	}
	/* Most random patterns are refused. */
	print_message("%u and %u fitted, %u were copied alike, %u with the same actions\n",
		nb_fitted[0], nb_fitted[1], nb_like, nb_same);
	assert_true(nb_like > NB_FORMS / 2);
	assert_true(nb_same > NB_FORMS / 4);
	assert_true(nb_fitted[0] > NB_FORMS);
	assert_true(nb_fitted[1] > NB_FORMS / 10);
	mdv_flow_form_fini(&form);
}

/** A rule that differs in more than values from the one learnt. */
static const struct difference {
	const char *name;
	bool fits;
	struct rte_flow_attr attr;
	const struct rte_flow_item *pattern;
} differences[] = {
#define V4(a)                                                                                      \
	&(const struct rte_flow_item_ipv4)                                                         \
	{                                                                                          \
		.hdr.dst_addr = RTE_BE32(a)                                                        \
	}
#define UDP(a)                                                                                     \
	&(const struct rte_flow_item_udp)                                                          \
	{                                                                                          \
		.hdr.dst_port = RTE_BE16(a)                                                        \
	}
#define RULE(...) { .ingress = 1, .priority = 1 }, PATTERN(__VA_ARGS__)
	/* clang-format off */
	{ "the same", true, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u)), ITEM_MASK(UDP, UDP(2), UDP(0xffff))) },
	{ "other values", true, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(3), V4(~0u)), ITEM_MASK(UDP, UDP(4), UDP(0xffff))) },
	{ "another mask", false, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~1u)), ITEM_MASK(UDP, UDP(2), UDP(0xffff))) },
	{ "the last word's mask", false, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u)), ITEM_MASK(UDP, UDP(2), UDP(0xfffe))) },
	{ "the default mask", false, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u)), ITEM_SPEC(UDP, UDP(2))) },
	{ "no spec", false, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u)), ITEM(UDP)) },
	{ "an item less", false, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u))) },
	{ "an item more", false, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u)), ITEM_MASK(UDP, UDP(2), UDP(0xffff)), ITEM(VXLAN)) },
	{ "another item", false, RULE(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u)), ITEM_MASK(TCP, UDP(2), UDP(0xffff))) },
	{ "another priority", false, { .ingress = 1, .priority = 2 },
		PATTERN(ITEM(ETH), ITEM_MASK(IPV4, V4(1), V4(~0u)), ITEM_MASK(UDP, UDP(2), UDP(0xffff))) },
	/* clang-format on */
};

static void
test_what_fits(void **state)
{
	static struct mdv_flow_plan plan;
	const struct rte_flow_action_queue queue = { 1 };
	const struct rte_flow_action actions[] = { ACTION_CONF(QUEUE, &queue), ACTION(END) };
	const struct mdv_flow_plan_rule first = { &differences[0].attr, differences[0].pattern,
		actions };
	struct mdv_flow_plan_env other = env;
	struct mdv_flow_form form;

	(void)state;
	memset(&form, 0, sizeof(form));
	assert_false(mdv_flow_form_fits(&form, &env, &first));
	assert_non_null(mdv_flow_form_plan(&form, &env, &first, &plan, NULL));
	for (unsigned int i = 0; i < RTE_DIM(differences); i++) {
		const struct difference *row = &differences[i];
		const struct mdv_flow_plan_rule rule = { &row->attr, row->pattern, actions };

		if (mdv_flow_form_fits(&form, &env, &rule) != row->fits)
			fail_msg("%s", row->name);
	}
	other.features = 0;
	assert_false(mdv_flow_form_fits(&form, &other, &first));
	other = env;
	other.port_num = 2;
	assert_false(mdv_flow_form_fits(&form, &other, &first));
}

/** Patterns that have no form, as a check reads a value of theirs. */
static void
test_what_has_no_form(void **state)
{
	static struct mdv_flow_plan plan;
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_eth type = { .hdr.ether_type = RTE_BE16(0x0800) };
	const struct rte_flow_item_eth type_mask = { .hdr.ether_type = RTE_BE16(0xffff) };
	const struct rte_flow_item_eth group = { .hdr.dst_addr = { { 1 } } };
	const struct rte_flow_item_eth dst_mask = { .hdr.dst_addr = { { 0xff } } };
	const struct rte_flow_item_ipv4 proto = { .hdr.next_proto_id = 17 };
	const struct rte_flow_item_udp port = { .hdr.dst_port = RTE_BE16(4789) };
	const struct rte_flow_item *const patterns[] = {
		PATTERN(ITEM_MASK(ETH, &type, &type_mask)),
		PATTERN(ITEM_MASK(ETH, &group, &dst_mask)),
		PATTERN(ITEM(ETH), ITEM_MASK(IPV4, &proto, &proto)),
		PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_MASK(UDP, &port, &port), ITEM(VXLAN)),
		PATTERN(ITEM(ETH), ITEM(VLAN)), /* two parts */
		PATTERN(ITEM(ETH), ITEM(VOID), ITEM(VOID), ITEM(VOID), ITEM(VOID), ITEM(VOID),
			ITEM(VOID), ITEM(VOID)),
	};
	const struct rte_flow_action_queue queue = { 1 };
	const struct rte_flow_action actions[] = { ACTION_CONF(QUEUE, &queue), ACTION(END) };
	const struct rte_flow_action_set_ttl ttl = { 1 };
	const struct rte_flow_action change[] = { ACTION_CONF(SET_TTL, &ttl),
		ACTION_CONF(QUEUE, &queue), ACTION(END) };

	(void)state;
	for (unsigned int i = 0; i <= RTE_DIM(patterns); i++) {
		const bool changes = i == RTE_DIM(patterns);
		const struct mdv_flow_plan_rule rule = { &attr,
			changes ? PATTERN(ITEM(ETH), ITEM(IPV4)) : patterns[i],
			changes ? change : actions };
		struct mdv_flow_form form;

		memset(&form, 0, sizeof(form));
		assert_non_null(mdv_flow_form_plan(&form, &env, &rule, &plan, NULL));
		assert_false(mdv_flow_form_fits(&form, &env, &rule));
	}
}

/** A rule of another form now and then does not cost the form of the others, many do. */
static void
test_when_it_learns(void **state)
{
	static struct mdv_flow_plan plan;
	const struct rte_flow_action_queue queue = { 1 };
	const struct rte_flow_action actions[] = { ACTION_CONF(QUEUE, &queue), ACTION(END) };
	const struct mdv_flow_plan_rule usual = { &differences[0].attr, differences[0].pattern,
		actions };
	const struct mdv_flow_plan_rule other = { &differences[2].attr, differences[2].pattern,
		actions };
	struct mdv_flow_form form;
	unsigned int nb;

	(void)state;
	memset(&form, 0, sizeof(form));
	assert_non_null(mdv_flow_form_plan(&form, &env, &usual, &plan, NULL));
	for (nb = 0; !mdv_flow_form_fits(&form, &env, &other); nb++) {
		assert_true(nb < 100);
		assert_non_null(mdv_flow_form_plan(&form, &env, &other, &plan, NULL));
	}
	assert_true(nb > 1);
	/* It has fitted since, so the next one is learnt at once. */
	assert_non_null(mdv_flow_form_plan(&form, &env, &other, &plan, NULL));
	assert_non_null(mdv_flow_form_plan(&form, &env, &usual, &plan, NULL));
	assert_true(mdv_flow_form_fits(&form, &env, &usual));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_rules),
		cmocka_unit_test(test_what_fits),
		cmocka_unit_test(test_what_has_no_form),
		cmocka_unit_test(test_when_it_learns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
