/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port's life from bytes, on the fake verbs context: rules created, queried, destroyed, given by
 * queues, the port stopped and started, any verbs call or allocation failing. After each step the
 * books are looked at; in the end no verbs object and no byte of memory is left.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_flow_driver.h>
#include <rte_log.h>

#include "../unit/flow/fake_verbs.h"
#include "check.h"
#include "flow/async/flow_async.h"
#include "flow/rule/flow_install.h"
#include "input.h"
#include "rules.h"

#define MAX_RULES   24
#define NB_QUEUES   2
#define MAX_HANDLES 5
/** Parts of all rules, those included whose destruction waits. */
#define MAX_ENTRIES (2 * MAX_RULES * MDV_FLOW_LEVEL_MASKS)
/** Of one input: each looks at all that has gone before. */
#define MAX_OPERATIONS 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct life_rule {
	struct rte_flow *flow; /* NULL: free */
	bool counted;
	bool waits; /* its creation, in a flow queue */
	uint32_t queue;
	uint32_t handles; /* bits of those it names */
};

struct life_handle {
	struct rte_flow_action_handle *handle; /* NULL: free */
	enum rte_flow_action_type type;
};

/** All that a port's user knows. */
static struct life {
	struct fuzz_input input;
	struct life_rule rules[MAX_RULES];
	struct life_handle handles[MAX_HANDLES];
	bool configured;
	uint32_t given[NB_QUEUES], pulled[NB_QUEUES]; /* operations ever; their user data */
	struct rte_flow_item *template_items;         /* types only, of the templates */
	struct rte_flow_action *template_actions;
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
	bool injected, refused; /* a call fails in this operation; did so in the last start */
} life;

#define CHECK FUZZ_CHECK
static const struct rte_flow_indir_action_conf share_conf = { .ingress = 1 };

struct books {
	unsigned int flows, qps, tables, counters, cqs, created;
	uint32_t shapes, rules;
	uint64_t moved;
};

static struct books
books_read(void)
{
	return (struct books){ fake.nb_flows, fake.nb_qps, fake.nb_tables, fake.nb_counters,
		fake.nb_cqs, fake.nb_created, fake.port.flow->levels.nb_shapes,
		fake.port.flow->levels.nb_rules, fake.port.flow->levels.nb_moved };
}

/** The same objects are there, though some may be new ones. */
static void
books_check_same(const struct books *before)
{
	const struct books now = books_read();

	CHECK(now.flows == before->flows);
	CHECK(now.qps == before->qps && now.tables == before->tables);
	CHECK(now.counters == before->counters && now.cqs == before->cqs);
	CHECK(now.shapes == before->shapes && now.rules == before->rules);
}

static struct life_rule *
life_free_slot(void)
{
	for (unsigned int i = 0; i < MAX_RULES; i++)
		if (life.rules[i].flow == NULL)
			return &life.rules[i];
	return NULL;
}

static struct life_rule *
life_choose_rule(void)
{
	unsigned int first = fuzz_input_choose(&life.input, MAX_RULES);

	for (unsigned int i = 0; i < MAX_RULES; i++)
		if (life.rules[(first + i) % MAX_RULES].flow != NULL)
			return &life.rules[(first + i) % MAX_RULES];
	return NULL;
}

static const struct life_handle *
life_handle_of(const struct rte_flow_action *action)
{
	for (unsigned int i = 0; i < MAX_HANDLES; i++)
		if (action->type == RTE_FLOW_ACTION_TYPE_INDIRECT && action->conf != NULL &&
			action->conf == life.handles[i].handle)
			return &life.handles[i];
	return NULL;
}

/** What a list that was accepted counts, and the handles that it names. */
static void
life_note(struct life_rule *rule, const struct rte_flow_action *list)
{
	rule->counted = false;
	rule->handles = 0;
	for (; list->type != RTE_FLOW_ACTION_TYPE_END; list++) {
		const struct life_handle *handle = life_handle_of(list);
		enum rte_flow_action_type type = handle != NULL ? handle->type : list->type;

		rule->counted = rule->counted || type == RTE_FLOW_ACTION_TYPE_COUNT;
		if (handle != NULL)
			rule->handles |= UINT32_C(1) << (handle - life.handles);
	}
}

/** Replace some actions of a list by handles of their kind, or by any handle. */
static void
life_hide_actions(struct rte_flow_action *list)
{
	const uint8_t how = fuzz_input_byte(&life.input);

	for (; list != NULL && list->type != RTE_FLOW_ACTION_TYPE_END; list++) {
		const struct life_handle *handle =
			&life.handles[fuzz_input_choose(&life.input, MAX_HANDLES)];

		if ((how & 1) == 0 || (handle->type != list->type && how != 0xff))
			continue;
		list->type = RTE_FLOW_ACTION_TYPE_INDIRECT;
		list->conf = handle->handle;
	}
}

/** A refusal says what and why, and blames what was given: an object, or the block it lies in. */
static void
check_error(const struct rte_flow_error *error, const void *given)
{
	CHECK(error->cause == NULL || error->cause == given ||
		fuzz_input_has(&life.input, error->cause));
	CHECK(error->message != NULL && error->message[0] != '\0');
	CHECK(error->type != RTE_FLOW_ERROR_TYPE_NONE);
	CHECK(rte_errno > 0);
}

static void
step_create(void)
{
	const struct rte_flow_attr attr = fuzz_rules_attr(&life.input);
	const struct rte_flow_item *pattern = fuzz_rules_pattern(&life.input);
	struct rte_flow_action *actions = fuzz_rules_actions(&life.input);
	struct rte_flow_error told = { .message = NULL }, error = { .message = NULL };
	const unsigned int fail_at = fake.fail_at;
	struct life_rule *slot = life_free_slot();
	const struct books before = books_read();
	struct books after;
	char message[512];
	int rc;

	fake_arm(0, 0);
	life_hide_actions(actions);
	rc = mdv_flow_ops.validate(&fake.dev, &attr, pattern, actions, &told);
	after = books_read();
	books_check_same(&before);
	CHECK(after.moved == before.moved && after.created <= before.created + 1); /* a trial */
	if (rc != 0)
		check_error(&told, &attr);
	snprintf(message, sizeof(message), "%s", rc != 0 ? told.message : "");
	if (slot == NULL)
		return;
	fake_arm(fail_at, fake.fail_errno);
	slot->flow = mdv_flow_ops.create(&fake.dev, &attr, pattern, actions, &error);
	if (slot->flow != NULL) {
		CHECK(rc == 0);
		life_note(slot, actions);
		slot->waits = false;
		return;
	}
	check_error(&error, &attr);
	books_check_same(&before);
	if (life.injected)
		return;
	CHECK(rc == -rte_errno);
	CHECK(told.type == error.type && told.cause == error.cause);
	CHECK(strcmp(message, error.message) == 0);
}

static void
step_destroy(void)
{
	struct life_rule *rule = life_choose_rule();
	int rc;

	if (rule == NULL)
		return;
	rc = mdv_flow_ops.destroy(&fake.dev, rule->flow, NULL);
	CHECK(rc == (rule->waits ? -EBUSY : 0));
	if (rc == 0)
		rule->flow = NULL;
}

/** What was there just before comes back when a new rule goes. */
static void
step_create_and_destroy(void)
{
	const struct books before = books_read();
	struct life_rule *slot = life_free_slot();

	if (slot == NULL)
		return;
	step_create();
	fake_arm(0, 0);
	if (slot->flow != NULL)
		CHECK(mdv_flow_ops.destroy(&fake.dev, slot->flow, NULL) == 0);
	slot->flow = NULL;
	books_check_same(&before);
}

static void
step_flush(void)
{
	CHECK(mdv_flow_ops.flush(&fake.dev, NULL) == 0);
	for (unsigned int i = 0; i < MAX_RULES; i++)
		life.rules[i] = (struct life_rule){ .flow = NULL };
	CHECK(fake.nb_counters == 0);
	CHECK(TAILQ_EMPTY(&fake.port.flow->rules));
}

static void
step_query(void)
{
	static const struct rte_flow_action count = { .type = RTE_FLOW_ACTION_TYPE_COUNT };
	struct life_rule *rule = life_choose_rule();
	struct rte_flow_query_count answer = { .reset = fuzz_input_choose(&life.input, 2) };
	int rc;

	if (rule == NULL)
		return;
	fake.hits += fuzz_input_byte(&life.input);
	rc = mdv_flow_ops.query(&fake.dev, rule->flow, &count, &answer, NULL);
	if (!life.injected)
		CHECK(rc == (rule->counted ? 0 : -EINVAL));
}

static void
step_share(void)
{
	struct life_handle *slot = &life.handles[fuzz_input_choose(&life.input, MAX_HANDLES)];
	const struct rte_flow_action *actions = fuzz_rules_actions(&life.input);
	struct rte_flow_error error = { .message = NULL };

	if (actions == NULL || slot->handle != NULL)
		return;
	slot->handle = mdv_flow_ops.action_handle_create(&fake.dev, &share_conf, actions, &error);
	slot->type = actions->type;
	if (slot->handle == NULL)
		check_error(&error, actions);
}

/** Not while a rule names it. */
static void
step_unshare(void)
{
	const unsigned int which = fuzz_input_choose(&life.input, MAX_HANDLES);
	struct life_handle *slot = &life.handles[which];
	bool used = false, waits = false;
	int rc = mdv_flow_ops.action_handle_destroy(&fake.dev, slot->handle, NULL);

	for (unsigned int i = 0; i < MAX_RULES; i++)
		used = used ||
			(life.rules[i].flow != NULL && (life.rules[i].handles >> which & 1) != 0);
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		waits = waits || life.given[i] != life.pulled[i];
	if (slot->handle == NULL)
		CHECK(rc == -ENOENT);
	else if (used || !waits)
		CHECK(rc == (used ? -EBUSY : 0));
	if (rc == 0)
		slot->handle = NULL;
}

/** All of its rules or none. */
static void
step_update(void)
{
	const struct life_handle *slot = &life.handles[fuzz_input_choose(&life.input, MAX_HANDLES)];
	struct rte_flow_action *actions = fuzz_rules_actions(&life.input);
	struct rte_flow_error error = { .message = NULL };
	const struct books before = books_read();

	if (actions == NULL || slot->handle == NULL)
		return;
	if (mdv_flow_ops.action_handle_update(&fake.dev, slot->handle, actions, &error) == 0)
		return;
	check_error(&error, slot->handle);
	books_check_same(&before);
}

static void
step_dump(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct life_rule *rule = life_choose_rule();
	struct rte_flow *one = rule != NULL ? rule->flow : NULL;

	if (file == NULL)
		abort();
	fake_arm(0, 0);
	CHECK(mdv_flow_ops.dev_dump(&fake.dev, one, file, NULL) == 0);
	fclose(file);
	CHECK(one == NULL || size != 0);
	free(text);
}

static void
step_isolate(void)
{
	bool before = fake.port.isolated, set = fuzz_input_choose(&life.input, 2);
	int rc = mdv_flow_ops.isolate(&fake.dev, set, NULL);

	CHECK(rc == 0 || life.injected);
	CHECK(fake.port.isolated == (rc == 0 ? set : before));
}

static void
step_default_rules(void)
{
	uint8_t how = fuzz_input_byte(&life.input);
	const struct rte_eth_dev_data data = fake.data;
	const struct books before = books_read();
	const uint64_t types = fake.port.rss_types;

	fake.data.promiscuous = how & 1;
	fake.data.all_multicast = how >> 1 & 1;
	fake.port.rss_types = (how & 4) != 0 ? RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP : 0;
	if (mdv_flow_default_update(&fake.port) == 0)
		return;
	/* With other types the new set needs a level of its own for a moment, and rules may have
	 * them all. */
	CHECK(life.injected || fake.port.rss_types != types);
	fake.data = data;
	fake.port.rss_types = types;
	books_check_same(&before);
}

static void
step_restart(void)
{
	const unsigned int flows = fake.nb_flows;
	const bool active = fake.port.flow->active;

	if (active) {
		mdv_flow_stop(&fake.port);
		fake_assert_empty();
	}
	if (mdv_flow_start(&fake.port) != 0) {
		CHECK(life.injected);
		fake_assert_empty();
		CHECK(!fake.port.flow->active);
		fake_arm(0, 0);
		CHECK(mdv_flow_start(&fake.port) == 0);
	}
	CHECK(!active || life.injected || life.refused || fake.nb_flows == flows);
	life.refused = life.injected;
}

static void
step_stop(void)
{
	if (fake.port.flow->active)
		mdv_flow_stop(&fake.port);
	fake_assert_empty();
}

static void
step_configure(void)
{
	const struct rte_flow_port_attr attr = { .nb_counters = fuzz_input_byte(&life.input) };
	const struct rte_flow_queue_attr size = { fuzz_input_choose(&life.input, 9) };
	const struct rte_flow_queue_attr *sizes[NB_QUEUES] = { &size, &size };
	int rc = mdv_flow_ops.configure(&fake.dev, &attr, NB_QUEUES, sizes, NULL);

	life.configured = life.configured || rc == 0;
}

static void
step_templates(void)
{
	const struct rte_flow_pattern_template_attr pattern_attr = { .ingress = 1,
		.relaxed_matching = fuzz_input_choose(&life.input, 2) };
	const struct rte_flow_actions_template_attr actions_attr = { .ingress = 1 };
	const struct rte_flow_item *pattern = fuzz_rules_pattern(&life.input);
	const struct rte_flow_action *actions = fuzz_rules_actions(&life.input);
	const struct rte_flow_action *masks =
		fuzz_input_choose(&life.input, 4) == 0 ? NULL : actions;
	struct rte_flow_error error = { .message = NULL };
	unsigned int nb;

	if (pattern != NULL && life.pattern == NULL) {
		life.pattern = mdv_flow_ops.pattern_template_create(
			&fake.dev, &pattern_attr, pattern, &error);
		if (life.pattern == NULL)
			check_error(&error, &pattern_attr);
		for (nb = 0; life.pattern != NULL && nb <= FUZZ_RULES_MAX; nb++)
			life.template_items[nb] =
				(struct rte_flow_item){ .type = pattern[nb].type };
	}
	if (actions != NULL && life.actions == NULL) {
		life.actions = mdv_flow_ops.actions_template_create(
			&fake.dev, &actions_attr, actions, masks, &error);
		if (life.actions == NULL)
			check_error(&error, &actions_attr);
		for (nb = 0; life.actions != NULL && nb <= FUZZ_RULES_MAX; nb++)
			life.template_actions[nb] =
				(struct rte_flow_action){ .type = actions[nb].type };
	}
}

static void
step_table(void)
{
	const struct rte_flow_template_table_attr attr = {
		.flow_attr = fuzz_rules_attr(&life.input),
		.nb_flows = fuzz_input_choose(&life.input, 6),
	};
	struct rte_flow_error error = { .message = NULL };

	if (life.pattern == NULL || life.actions == NULL || life.table != NULL)
		return;
	life.table = mdv_flow_ops.template_table_create(
		&fake.dev, &attr, &life.pattern, 1, &life.actions, 1, &error);
	if (life.table == NULL)
		check_error(&error, error.cause == &attr ? &attr : (const void *)&attr.flow_attr);
}

static void
step_destroy_templates(void)
{
	if (life.table != NULL &&
		mdv_flow_ops.template_table_destroy(&fake.dev, life.table, NULL) == 0)
		life.table = NULL;
	if (life.pattern != NULL &&
		mdv_flow_ops.pattern_template_destroy(&fake.dev, life.pattern, NULL) == 0)
		life.pattern = NULL;
	if (life.actions != NULL &&
		mdv_flow_ops.actions_template_destroy(&fake.dev, life.actions, NULL) == 0)
		life.actions = NULL;
	CHECK(life.table == NULL || (life.pattern != NULL && life.actions != NULL));
}

/** All that waits in a queue is done, or has been by an operation that was not postponed, or may
 * have been where that failed. */
static void
life_push(uint32_t queue)
{
	if (mdv_flow_async_push(&fake.dev, queue, NULL) != 0)
		CHECK(!life.configured);
	for (unsigned int i = 0; i < MAX_RULES; i++)
		if (life.rules[i].queue == queue)
			life.rules[i].waits = false;
}

static void *
user_data(uint32_t queue)
{
	return (void *)(uintptr_t)(1 + life.given[queue]);
}

static void
step_queue_create(void)
{
	const struct rte_flow_op_attr attr = { .postpone = fuzz_input_choose(&life.input, 2) };
	uint32_t queue = fuzz_input_choose(&life.input, NB_QUEUES);
	const struct rte_flow_item *pattern = fuzz_rules_values(&life.input, life.template_items);
	const struct rte_flow_action *actions =
		fuzz_rules_confs(&life.input, life.template_actions);
	struct rte_flow_error error = { .message = NULL };
	struct life_rule *slot = life_free_slot();

	if (slot == NULL || life.table == NULL)
		return;
	slot->flow = mdv_flow_async_create(&fake.dev, queue, &attr, life.table, pattern, 0, actions,
		0, user_data(queue), &error);
	if (slot->flow == NULL) {
		check_error(&error, life.table);
		life_push(queue);
		return;
	}
	life.given[queue]++;
	life_note(slot, actions);
	slot->waits = true;
	slot->queue = queue;
	if (!attr.postpone)
		life_push(queue);
}

static void
step_queue_destroy(void)
{
	const struct rte_flow_op_attr attr = { .postpone = fuzz_input_choose(&life.input, 2) };
	uint32_t queue = fuzz_input_choose(&life.input, NB_QUEUES);
	struct life_rule *rule = life_choose_rule();
	struct rte_flow_error error = { .message = NULL };

	if (rule == NULL)
		return;
	if (mdv_flow_async_destroy(&fake.dev, queue, &attr, rule->flow, user_data(queue), &error)) {
		check_error(&error, rule->flow);
		return;
	}
	CHECK(!rule->waits);
	life.given[queue]++;
	rule->flow = NULL;
	if (!attr.postpone)
		life_push(queue);
}

static void
step_queue_share(void)
{
	const struct rte_flow_op_attr attr = { .postpone = fuzz_input_choose(&life.input, 2) };
	const uint32_t queue = fuzz_input_choose(&life.input, NB_QUEUES);
	struct life_handle *slot = &life.handles[fuzz_input_choose(&life.input, MAX_HANDLES)];
	struct rte_flow_action *actions = fuzz_rules_actions(&life.input);
	bool done;

	if (actions == NULL)
		return;
	if (slot->handle != NULL) {
		done = mdv_flow_async_action_update(&fake.dev, queue, &attr, slot->handle, actions,
			       user_data(queue), NULL) == 0;
	} else {
		slot->type = actions->type;
		slot->handle = mdv_flow_async_action_create(
			&fake.dev, queue, &attr, &share_conf, actions, user_data(queue), NULL);
		done = slot->handle != NULL;
	}
	life.given[queue] += done;
	if (done && !attr.postpone)
		life_push(queue);
}

static void
step_push(void)
{
	life_push(fuzz_input_choose(&life.input, NB_QUEUES));
}

static void
step_pull(void)
{
	const uint32_t queue = fuzz_input_choose(&life.input, NB_QUEUES);
	uint16_t most = fuzz_input_choose(&life.input, 5);
	struct rte_flow_op_result results[4];
	int nb = mdv_flow_async_pull(&fake.dev, queue, results, most, NULL);

	CHECK(nb <= most && (nb >= 0 || !life.configured));
	for (int i = 0; i < nb; i++)
		CHECK(results[i].user_data == (void *)(uintptr_t)(1 + life.pulled[queue]++));
	CHECK(life.pulled[queue] <= life.given[queue]);
}

/** A match that is in a table twice is one entry there, with the destinations of both. */
static void
check_tables(void)
{
	static struct {
		uint16_t priority, part;
		uint32_t flags;
		const struct rte_flow *flow;
		struct mdv_flow_match match;
	} entries[MAX_ENTRIES];
	static struct mdv_flow_plan plan;
	const struct rte_flow *flow;
	unsigned int nb = 0;

	TAILQ_FOREACH (flow, &fake.port.flow->rules, next) {
		if (flow->present.nb == 0)
			continue;
		CHECK(mdv_flow_install_plan(&fake.port, flow, &plan, NULL) == 0);
		CHECK(flow->present.nb == plan.nb_parts * (1 + plan.actions.nb_extras));
		for (uint16_t part = 0; part < plan.nb_parts; part++) {
			CHECK(nb < MAX_ENTRIES);
			entries[nb].flow = flow;
			entries[nb].part = part;
			entries[nb].priority = plan.parts[part].build.attr.priority;
			entries[nb].flags = plan.parts[part].build.attr.flags;
			mdv_flow_key_match(&plan.parts[part].build, &entries[nb++].match);
		}
	}
	for (unsigned int i = 0; i < nb; i++)
		for (unsigned int j = 0; j < i; j++)
			CHECK(entries[i].priority != entries[j].priority ||
				entries[i].flags != entries[j].flags ||
				!mdv_flow_key_equal(
					&entries[i].match.mask, &entries[j].match.mask) ||
				!mdv_flow_key_equal(
					&entries[i].match.value, &entries[j].match.value));
}

/** Creating is most of what is done. */
static void (*const steps[])(void) = {
	step_create,
	step_create,
	step_create,
	step_create,
	step_create_and_destroy,
	step_destroy,
	step_destroy,
	step_flush,
	step_query,
	step_share,
	step_queue_share,
	step_unshare,
	step_update,
	step_update,
	step_dump,
	step_isolate,
	step_default_rules,
	step_restart,
	step_stop,
	step_configure,
	step_templates,
	step_templates,
	step_table,
	step_destroy_templates,
	step_queue_create,
	step_queue_create,
	step_queue_create,
	step_queue_destroy,
	step_push,
	step_pull,
};

static void
live(void)
{
	static const int codes[] = { ENOMEM, ENOSPC, EEXIST, EIO };
	static const uint8_t levels[] = { 16, 3, 8, 4 };

	fake_init_flow();
	fake.port.flow->levels.nb = levels[fuzz_input_choose(&life.input, RTE_DIM(levels))];
	fake.port.config.sniff = fuzz_input_choose(&life.input, 3);
	fake.port.config.passthru_move = fuzz_input_choose(&life.input, 2);
	fake.port.isolated = fuzz_input_choose(&life.input, 2);
	for (unsigned int nb = 0; fuzz_input_left(&life.input) && nb < MAX_OPERATIONS; nb++) {
		uint8_t which = fuzz_input_byte(&life.input), fail = fuzz_input_byte(&life.input);

		life.injected = fail >= 0xc0;
		fake_arm(life.injected ? 1 + (fail & 15) : 0, codes[fail >> 4 & 3]);
		steps[which % RTE_DIM(steps)]();
		fake_arm(0, 0);
		fuzz_input_release(&life.input);
		if (nb % 4 == 3)
			check_tables();
	}
	check_tables();
	fake_arm(0, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rte_flow_item template_items[FUZZ_RULES_MAX + 1];
	static struct rte_flow_action template_actions[FUZZ_RULES_MAX + 1];
	const size_t bytes = fuzz_check_allocated();

	rte_log_set_level(RTE_LOGTYPE_USER1, RTE_LOG_EMERG);
	memset(template_items, 0, sizeof(template_items));
	memset(template_actions, 0, sizeof(template_actions));
	life = (struct life){ .input = { .at = data, .end = data + size },
		.template_items = template_items,
		.template_actions = template_actions };
	live();
	fuzz_check_freed(bytes);
	return 0;
}
