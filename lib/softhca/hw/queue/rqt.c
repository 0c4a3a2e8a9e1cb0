/* SPDX-License-Identifier: BSD-3-Clause */
/* Indirection table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hw/queue/tir.h"
#include "hw/state/device.h"
#include "hw/state/tir.h"

int
shca_rqt_create(
	struct shca_device *dev, struct shca_rq *const *rqs, uint32_t nb_rqs, struct shca_rqt **out)
{
	struct shca_rqt *rqt;
	int ret;

	if (nb_rqs == 0 || (nb_rqs & (nb_rqs - 1)) != 0)
		return -EINVAL;
	rqt = malloc(sizeof(*rqt) + nb_rqs * sizeof(rqt->rq[0]));
	if (rqt == NULL)
		return -ENOMEM;
	rqt->dev = dev;
	rqt->nb_rqs = nb_rqs;
	memcpy(rqt->rq, rqs, nb_rqs * sizeof(rqt->rq[0]));
	ret = shca_idtable_add(&dev->rqt_numbers, rqt, &rqt->number);
	if (ret != 0) {
		free(rqt);
		return ret;
	}
	dev->stats.rqts++;
	*out = rqt;
	return 0;
}

void
shca_rqt_destroy(struct shca_rqt *rqt)
{
	if (rqt == NULL)
		return;
	shca_idtable_del(&rqt->dev->rqt_numbers, rqt->number);
	rqt->dev->stats.rqts--;
	free(rqt);
}

uint32_t
shca_rqt_number(const struct shca_rqt *rqt)
{
	return rqt->number;
}

uint32_t
shca_rqt_size(const struct shca_rqt *rqt)
{
	return rqt->nb_rqs;
}
