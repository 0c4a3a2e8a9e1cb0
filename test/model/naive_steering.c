/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules and walks by scanning. */
#include "naive_steering.h"

#include <errno.h>
#include <string.h>

#include "naive_specs.h"

enum {
	/* Tables by number: receiving 0 to 32 by core priority, sending the same from 100 on. */
	TABLE_M = 32,
	TABLE_LEFTOVERS = 50,
	TABLE_SNIFF_RX = 60,
	TABLE_SNIFF_TX = 61,
	TABLE_TX = 100,
};

void
naive_set(struct naive_packet *packet, unsigned int stack, unsigned int field, const void *bytes,
	size_t length)
{
	unsigned int at = field < NAIVE_STACK_FIELDS ? stack * NAIVE_STACK_FIELDS + field : field;

	packet->present[at] = true;
	memset(packet->value[at], 0, 16);
	memcpy(packet->value[at], bytes, length);
}

static bool
is_masked(const uint8_t *mask)
{
	static const uint8_t zero[16];

	return memcmp(mask, zero, 16) != 0;
}

static bool
matches(const struct naive_match *match, const struct naive_packet *packet)
{
	for (unsigned int field = 0; field < NAIVE_FIELDS; field++) {
		if (!is_masked(match->mask[field]))
			continue;
		if (!packet->present[field])
			return false;
		for (unsigned int i = 0; i < 16; i++)
			if ((packet->value[field][i] & match->mask[field][i]) !=
				match->value[field][i])
				return false;
	}
	return true;
}

struct size {
	unsigned int entries, big_groups, group_size;
};

static struct size
size_of(unsigned int table)
{
	if (table == TABLE_LEFTOVERS)
		return (struct size){ 128, 2, 42 };
	if (table == TABLE_SNIFF_RX || table == TABLE_SNIFF_TX)
		return (struct size){ 1, 1, 1 };
	return (struct size){ 65536, 6, 9362 };
}

static bool
same_mask(const struct naive_match *a, const struct naive_match *b)
{
	return memcmp(a->mask, b->mask, sizeof(a->mask)) == 0;
}

/** @return the entry of @p table at @p index, or NULL. */
static struct naive_entry *
at_index(struct naive_steering *naive, unsigned int table, unsigned int index)
{
	for (unsigned int i = 0; i < NAIVE_MAX_ENTRIES; i++)
		if (naive->entry[i].used && naive->entry[i].table == table &&
			naive->entry[i].index == index)
			return &naive->entry[i];
	return NULL;
}

/** A group exists while an entry of it does. @return any entry of the first group that begins at or
 * after @p from. */
static struct naive_entry *
next_group(struct naive_steering *naive, unsigned int table, unsigned int from)
{
	struct naive_entry *best = NULL;

	for (unsigned int i = 0; i < NAIVE_MAX_ENTRIES; i++) {
		struct naive_entry *entry = &naive->entry[i];

		if (entry->used && entry->table == table && entry->group_start >= from &&
			(best == NULL || entry->group_start < best->group_start))
			best = entry;
	}
	return best;
}

/** Where a new entry goes: group of the same mask with room, or a new group in the first gap. */
static int
find_place(struct naive_steering *naive, unsigned int table, const struct naive_match *match,
	struct naive_entry *place)
{
	struct size size = size_of(table);
	unsigned int nb_big = 0;
	unsigned int candidate = 0;
	struct naive_entry *group = NULL;

	for (unsigned int from = 0; (group = next_group(naive, table, from)) != NULL;
		from = group->group_start + 1) {
		if (group->group_size == size.group_size)
			nb_big++;
		if (!same_mask(&group->match, match))
			continue;
		for (unsigned int i = 0; i < group->group_size; i++) {
			if (at_index(naive, table, group->group_start + i) != NULL)
				continue;
			place->group_start = group->group_start;
			place->group_size = group->group_size;
			place->index = group->group_start + i;
			return 0;
		}
	}
	place->group_size = nb_big < size.big_groups ? size.group_size : 1;
	for (unsigned int from = 0; (group = next_group(naive, table, from)) != NULL;
		from = group->group_start + 1) {
		if (candidate + place->group_size <= group->group_start)
			break;
		candidate = group->group_start + group->group_size;
	}
	if (candidate + place->group_size > size.entries)
		return -ENOSPC;
	place->group_start = candidate;
	place->index = candidate;
	return 0;
}

static struct naive_entry *
same_entry(struct naive_steering *naive, unsigned int table, const struct naive_match *match)
{
	for (unsigned int i = 0; i < NAIVE_MAX_ENTRIES; i++)
		if (naive->entry[i].used && naive->entry[i].table == table &&
			memcmp(&naive->entry[i].match, match, sizeof(*match)) == 0)
			return &naive->entry[i];
	return NULL;
}

static unsigned int
users(const struct naive_steering *naive, unsigned int entry)
{
	unsigned int nb = 0;

	for (unsigned int r = 0; r < NAIVE_MAX_RULES; r++)
		for (unsigned int i = 0; naive->rule[r].used && i < naive->rule[r].nb_entries; i++)
			nb += naive->rule[r].entry[i] == entry;
	return nb;
}

struct wanted {
	unsigned int nb_tables;
	unsigned int table[2];
	struct naive_match match[2];
	struct naive_actions actions;
	bool receives;
};

/** What the rule wants, or why not: the checks up to where tables are searched. */
static int
understand(const struct naive_steering *naive, const struct naive_request *request,
	struct wanted *wanted)
{
	struct naive_spec specs[10];
	bool dont_trap = request->flags & 2;
	bool egress = request->flags & 4;
	int err;

	memset(wanted, 0, sizeof(*wanted));
	if (request->flags >= 8)
		return -EINVAL;
	if (dont_trap && (request->type == 1 || request->type == 2))
		return -EINVAL;
	if (request->nb_specs > 10 || request->specs_length > request->nb_specs * 88u)
		return -EINVAL;
	err = naive_specs_read(request->specs, request->specs_length, request->nb_specs, specs);
	if (err != 0)
		return err;
	if (request->priority > 15)
		return -ENOMEM;
	if (request->flags & 1)
		return -EINVAL;
	if (egress && (request->type == 1 || request->type == 2))
		return -EINVAL;
	wanted->receives = true;
	switch (request->type) {
	case 0:
		break;
	case 1:
		wanted->nb_tables = 2;
		wanted->table[0] = wanted->table[1] = TABLE_LEFTOVERS;
		wanted->match[0].mask[NAIVE_DMAC][0] = wanted->match[0].value[NAIVE_DMAC][0] = 1;
		wanted->match[1].mask[NAIVE_DMAC][0] = 1;
		return 0;
	case 2:
		wanted->nb_tables = 1;
		wanted->table[0] = TABLE_LEFTOVERS;
		wanted->match[0].mask[NAIVE_DMAC][0] = wanted->match[0].value[NAIVE_DMAC][0] = 1;
		return 0;
	case 3:
		if (!naive->can_sniff)
			return -EOPNOTSUPP;
		if (egress)
			return -EINVAL;
		wanted->nb_tables = 2;
		wanted->table[0] = TABLE_SNIFF_RX;
		wanted->table[1] = TABLE_SNIFF_TX;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
	err = naive_specs_apply(
		specs, request->nb_specs, naive->spec_caps, &wanted->match[0], &wanted->actions);
	if (err != 0)
		return err;
	if (dont_trap && !wanted->actions.drop && (egress || !naive->can_dont_trap))
		return -EOPNOTSUPP;
	for (unsigned int field = 0; field < NAIVE_FIELDS; field++)
		for (unsigned int i = 0; i < 16; i++)
			if (wanted->match[0].value[field][i] & ~wanted->match[0].mask[field][i])
				return -EINVAL;
	wanted->nb_tables = 1;
	wanted->table[0] = 2u * request->priority + (dont_trap ? 0 : 1);
	if (!dont_trap && naive_specs_multicast(specs, request->nb_specs))
		wanted->table[0] = TABLE_M;
	if (egress)
		wanted->table[0] += TABLE_TX;
	wanted->receives = !egress && !wanted->actions.drop;
	return 0;
}

static int
conflict(const struct naive_entry *entry, const struct naive_actions *actions)
{
	if (entry->drop != actions->drop)
		return -EEXIST;
	return actions->tagged && entry->tag != actions->tag ? -EEXIST : 0;
}

static bool
names(const struct naive_rule *rule, unsigned int entry)
{
	bool named = false;

	for (unsigned int i = 0; rule->used && i < rule->nb_entries; i++)
		named = named || rule->entry[i] == entry;
	return named;
}

/** @return whether an entry's lists are long enough for one more rule: QPs once, and the next table
 * behind don't-trap entries; counters once a rule. */
static bool
has_room(const struct naive_steering *naive, unsigned int entry, const struct wanted *wanted,
	const struct naive_request *request)
{
	const unsigned int table = naive->entry[entry].table;
	unsigned int nb_counters = wanted->actions.counted,
		     nb_copies = table % 2 == 0 && table < TABLE_M;
	bool listed[NAIVE_MAX_COPIES] = { false };

	for (unsigned int r = 0; r < NAIVE_MAX_RULES; r++) {
		const struct naive_rule *rule = &naive->rule[r];

		if (!names(rule, entry))
			continue;
		nb_counters += rule->counter >= 0;
		if (rule->tir >= 0 && !listed[rule->tir]) {
			listed[rule->tir] = true;
			nb_copies++;
		}
	}
	if (wanted->receives && request->tir >= 0 && !listed[request->tir] &&
		naive->max_copies != 0 && nb_copies >= naive->max_copies)
		return false;
	return !wanted->actions.counted || naive->max_counters == 0 ||
		nb_counters <= naive->max_counters;
}

static unsigned int
free_rule(const struct naive_steering *naive)
{
	unsigned int r = 0;

	while (naive->rule[r].used)
		r++;
	return r;
}

int
naive_add(struct naive_steering *naive, const struct naive_request *request, unsigned int *rule)
{
	struct wanted wanted;
	int err = understand(naive, request, &wanted);

	if (err != 0)
		return err;
	for (unsigned int i = 0; i < wanted.nb_tables; i++) {
		struct naive_entry *same = same_entry(naive, wanted.table[i], &wanted.match[i]);
		struct naive_entry place;

		err = same != NULL ? conflict(same, &wanted.actions)
				   : find_place(naive, wanted.table[i], &wanted.match[i], &place);
		if (err == 0 && same != NULL &&
			!has_room(naive, (unsigned int)(same - naive->entry), &wanted, request))
			err = -EINVAL;
		if (err != 0)
			return err;
	}
	if (wanted.receives && request->tir < 0)
		return -EINVAL;

	*rule = free_rule(naive);
	struct naive_rule *added = &naive->rule[*rule];

	added->tir = wanted.receives ? request->tir : -1;
	added->counter = wanted.actions.counted ? request->counter : -1;
	added->nb_entries = wanted.nb_tables;
	for (unsigned int i = 0; i < wanted.nb_tables; i++) {
		struct naive_entry *entry = same_entry(naive, wanted.table[i], &wanted.match[i]);

		if (entry == NULL) {
			struct naive_entry place = { 0 };

			find_place(naive, wanted.table[i], &wanted.match[i], &place);
			for (entry = naive->entry; entry->used; entry++)
				;
			*entry = place;
			entry->used = true;
			entry->table = wanted.table[i];
			entry->match = wanted.match[i];
			entry->drop = wanted.actions.drop;
			entry->tag = wanted.actions.tagged ? wanted.actions.tag : 0;
		}
		entry->counts = entry->counts || wanted.actions.counted;
		added->entry[i] = (unsigned int)(entry - naive->entry);
	}
	added->used = true;
	return 0;
}

void
naive_del(struct naive_steering *naive, unsigned int rule)
{
	struct naive_rule *gone = &naive->rule[rule];

	gone->used = false;
	for (unsigned int i = 0; gone->counter >= 0 && i < gone->nb_entries; i++)
		naive->entry[gone->entry[i]].counts = false;
	for (unsigned int i = 0; i < gone->nb_entries; i++)
		if (users(naive, gone->entry[i]) == 0)
			naive->entry[gone->entry[i]].used = false;
}

/** Copies and counts of a hit: each QP once, each counter once. */
static void
take(struct naive_steering *naive, unsigned int entry, const struct naive_packet *packet,
	struct naive_result *result)
{
	unsigned int first = result->nb;
	bool counted[NAIVE_COUNTERS] = { false };

	for (unsigned int r = 0; r < NAIVE_MAX_RULES; r++) {
		const struct naive_rule *rule = &naive->rule[r];
		bool known = rule->tir < 0;

		if (!names(rule, entry))
			continue;
		for (unsigned int i = first; i < result->nb; i++)
			known = known || result->copy[i].tir == rule->tir;
		if (!known)
			result->copy[result->nb++] =
				(struct naive_copy){ rule->tir, naive->entry[entry].tag };
		if (rule->counter >= 0 && naive->entry[entry].counts && !counted[rule->counter]) {
			counted[rule->counter] = true;
			naive->packets[rule->counter]++;
			naive->bytes[rule->counter] += packet->length;
		}
	}
}

/** @return the entry hit, or NULL. */
static const struct naive_entry *
look(struct naive_steering *naive, unsigned int table, const struct naive_packet *packet,
	struct naive_result *result)
{
	const struct naive_entry *best = NULL;

	for (unsigned int i = 0; i < NAIVE_MAX_ENTRIES; i++) {
		const struct naive_entry *entry = &naive->entry[i];

		if (entry->used && entry->table == table && matches(&entry->match, packet) &&
			(best == NULL || entry->group_start < best->group_start))
			best = entry;
	}
	if (best != NULL)
		take(naive, (unsigned int)(best - naive->entry), packet, result);
	return best;
}

/** @return true when nothing stopped the packet. */
static bool
tables(struct naive_steering *naive, unsigned int first, const struct naive_packet *packet,
	struct naive_result *result)
{
	for (unsigned int priority = 0; priority <= TABLE_M; priority++) {
		const struct naive_entry *entry = look(naive, first + priority, packet, result);

		if (entry == NULL)
			continue;
		if (entry->drop) {
			result->dropped = true;
			return false;
		}
		if (priority == TABLE_M || priority % 2 == 1)
			return false;
	}
	return true;
}

static bool
kernel_takes(const struct naive_steering *naive, const struct naive_packet *packet)
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const uint8_t *mac = packet->value[NAIVE_DMAC];

	if (!naive->kernel)
		return false;
	if (naive->promiscuous || memcmp(mac, broadcast, 6) == 0)
		return true;
	return mac[0] & 1 ? naive->joined : memcmp(mac, naive->mac, 6) == 0;
}

void
naive_receive(struct naive_steering *naive, const struct naive_packet *packet,
	struct naive_result *result)
{
	memset(result, 0, sizeof(*result));
	look(naive, TABLE_SNIFF_RX, packet, result);
	if (!tables(naive, 0, packet, result))
		return;
	result->kernel = kernel_takes(naive, packet);
	if (!result->kernel)
		look(naive, TABLE_LEFTOVERS, packet, result);
}

void
naive_send(struct naive_steering *naive, const struct naive_packet *packet,
	struct naive_result *result)
{
	memset(result, 0, sizeof(*result));
	look(naive, TABLE_SNIFF_TX, packet, result);
	tables(naive, TABLE_TX, packet, result);
}

unsigned int
naive_nb_receiving(const struct naive_steering *naive)
{
	unsigned int nb = 0;

	for (unsigned int r = 0; r < NAIVE_MAX_RULES; r++)
		nb += naive->rule[r].used && naive->rule[r].tir >= 0;
	return nb;
}
