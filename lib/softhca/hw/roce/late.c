/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgements that outlive their queue pair: kept, sent, or given up with the device. */
#include "hw/roce/late.h"

#include <stdlib.h>

#include "hw/roce/state.h"

struct shca_late {
	STAILQ_ENTRY(shca_late) link;
	struct shca_roce_path path;
	struct shca_bth bth;
};

void
shca_late_keep(struct shca_roce_qp *qp)
{
	struct shca_bth bth;

	if (qp->attr.type == SHCA_ROCE_UD || qp->state < SHCA_ROCE_RTR || qp->is_dead)
		return;
	while (!shca_responder_is_reading(&qp->responder) &&
		shca_responder_next(&qp->responder, &bth, NULL)) {
		struct shca_late *late = malloc(sizeof(*late));

		if (late == NULL)
			return; /* The other side asks again, in vain. */
		shca_roce_address(qp, &bth);
		*late = (struct shca_late){ .path = qp->conf.path, .bth = bth };
		STAILQ_INSERT_TAIL(&qp->dev->roce_late, late, link);
	}
}

void
shca_late_send(struct shca_device *dev)
{
	struct shca_late *late;

	while ((late = STAILQ_FIRST(&dev->roce_late)) != NULL && shca_roce_room(dev) != NULL) {
		STAILQ_REMOVE_HEAD(&dev->roce_late, link);
		shca_roce_send(dev, &late->path, &late->bth);
		free(late);
	}
}

void
shca_late_fini(struct shca_device *dev)
{
	struct shca_late *late;

	while ((late = STAILQ_FIRST(&dev->roce_late)) != NULL) {
		STAILQ_REMOVE_HEAD(&dev->roce_late, link);
		free(late);
	}
}
