/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow table entry and the rules that share it. */
#include "steering/fte.h"

#include <errno.h>
#include <stdlib.h>

static struct shca_fte_user *
find_user(const struct shca_fte_users *users, const void *object)
{
	for (uint32_t i = 0; i < users->nb; i++)
		if (users->user[i].object == object)
			return &users->user[i];
	return NULL;
}

/** Make room for one more user, so that add_user cannot fail. The array doubles when nb is a power
 * of two. */
static int
reserve_user(struct shca_fte_users *users, const void *object)
{
	const bool is_one = users->user == users->one;
	struct shca_fte_user *user;

	if (object == NULL || (users->nb & (users->nb - 1)) != 0)
		return 0;
	if (users->nb == 0) {
		if (users->user == NULL)
			users->user = users->one;
		return 0;
	}
	user = realloc(is_one ? NULL : users->user, (size_t)users->nb * 2 * sizeof(*user));
	if (user == NULL)
		return -ENOMEM;
	if (is_one)
		user[0] = users->one[0];
	users->user = user;
	return 0;
}

static void
free_users(const struct shca_fte_users *users)
{
	if (users->user != users->one)
		free(users->user);
}

static void
add_user(struct shca_fte_users *users, void *object)
{
	if (object == NULL)
		return;

	struct shca_fte_user *user = find_user(users, object);

	if (user == NULL) {
		user = &users->user[users->nb++];
		user->object = object;
		user->nb_rules = 0;
	}
	user->nb_rules++;
}

static void
del_user(struct shca_fte_users *users, const void *object)
{
	struct shca_fte_user *user = object != NULL ? find_user(users, object) : NULL;

	if (user == NULL || --user->nb_rules != 0)
		return;
	for (users->nb--; user < users->user + users->nb; user++)
		user[0] = user[1];
}

struct shca_fte *
shca_fte_create(unsigned int nb_words)
{
	return calloc(1, sizeof(struct shca_fte) + nb_words * sizeof(uint64_t));
}

void
shca_fte_destroy(struct shca_fte *fte)
{
	if (fte == NULL)
		return;
	free_users(&fte->destinations);
	free_users(&fte->counters);
	free_users(&fte->contexts);
	free(fte);
}

/** @return whether both have the same objects; objects with equal content differ. */
static bool
are_same(const struct shca_modify_set *a, const struct shca_modify_set *b)
{
	return a->modify == b->modify && a->decap == b->decap && a->reformat == b->reformat;
}

/** As mlx5_cmd_set_fte and firmware: one place for each destination, one for each rule with a
 * counter, as mlx5_flow_dests_cmp never finds two counters equal. */
static bool
has_room(const struct shca_fte *fte, const struct shca_fte_action *action,
	const struct shca_fte_limits *limits)
{
	if (action->tir != NULL && limits->destinations != 0 &&
		fte->destinations.nb >= limits->destinations &&
		find_user(&fte->destinations, action->tir) == NULL)
		return false;
	return action->counter == NULL || limits->counters == 0 ||
		fte->counter_list_size < limits->counters;
}

/** As fs_core check_conflicting_ftes: an entry forwards or drops, changes frames in one way, and
 * has one tag, 0 unless the first rule set it. */
int
shca_fte_check(const struct shca_fte *fte, const struct shca_fte_action *action,
	const struct shca_fte_limits *limits)
{
	if (fte->drop != action->drop || !are_same(&fte->modify_set, &action->modify_set))
		return -EEXIST;
	if (action->tag && fte->flow_tag != action->flow_tag)
		return -EEXIST;
	return has_room(fte, action, limits) ? 0 : -EINVAL;
}

int
shca_fte_join(struct shca_fte *fte, const struct shca_fte_action *action)
{
	if (reserve_user(&fte->destinations, action->tir) != 0 ||
		reserve_user(&fte->counters, action->counter) != 0 ||
		reserve_user(&fte->contexts, action->context) != 0)
		return -ENOMEM;
	if (fte->nb_rules++ == 0) {
		fte->drop = action->drop;
		fte->modify_set = action->modify_set;
		fte->flow_tag = action->tag ? action->flow_tag : 0;
	}
	fte->nb_leaving += action->leave;
	add_user(&fte->destinations, action->tir);
	add_user(&fte->counters, action->counter);
	add_user(&fte->contexts, action->context);
	if (action->counter != NULL) {
		fte->counter_list_size++;
		fte->counts = true;
	}
	return 0;
}

bool
shca_fte_leave(struct shca_fte *fte, const struct shca_fte_action *action)
{
	fte->nb_leaving -= action->leave;
	del_user(&fte->destinations, action->tir);
	del_user(&fte->counters, action->counter);
	del_user(&fte->contexts, action->context);
	if (action->counter != NULL) {
		fte->counter_list_size--;
		fte->counts = false;
	}
	return --fte->nb_rules == 0;
}
