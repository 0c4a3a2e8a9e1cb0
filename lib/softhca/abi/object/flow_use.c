/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses of flow actions by flows of both kinds. */
#include "abi/object/flow_use.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/core/object.h"

int
shca_flow_use_add(struct shca_flow_object *flow, struct shca_flow_action_object *const *actions,
	unsigned int nb)
{
	if (nb == 0)
		return 0;
	flow->actions = calloc(nb, sizeof(flow->actions[0]));
	if (flow->actions == NULL)
		return -ENOMEM;
	for (; flow->nb_actions < nb; flow->nb_actions++) {
		flow->actions[flow->nb_actions] = actions[flow->nb_actions];
		actions[flow->nb_actions]->object.nb_users++;
	}
	return 0;
}

void
shca_flow_use_drop(struct shca_flow_object *flow)
{
	while (flow->nb_actions != 0)
		flow->actions[--flow->nb_actions]->object.nb_users--;
	free(flow->actions);
	flow->actions = NULL;
}
