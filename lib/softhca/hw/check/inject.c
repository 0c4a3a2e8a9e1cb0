/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies injected faults to the device's queues. */
#include "hw/check/inject.h"

#include "base/log.h"
#include "hw/state/cq.h"
#include "hw/state/rq.h"
#include "hw/state/sq.h"

static struct shca_fault_site
site_of(const struct shca_device *dev, uint32_t ordinal, uint64_t nb_before)
{
	return (struct shca_fault_site){
		.device = dev->conf.index,
		.queue = ordinal,
		.n = nb_before + 1,
	};
}

void
shca_inject_say(const struct shca_device *dev, const struct shca_fault *fault)
{
	SHCA_INFO("mlx5_%u: fault of line %u: %s", dev->conf.index, fault->line, fault->text);
}

void
shca_inject_applied(struct shca_device *dev, const struct shca_fault *fault)
{
	shca_inject_say(dev, fault);
	shca_faults_applied(dev->conf.faults, fault);
}

/** Like an error of its own: reported when its earlier frames have left. */
bool
shca_inject_sq(struct shca_sq *sq)
{
	const struct shca_fault_site site = site_of(sq->dev, sq->ordinal, sq->nb_wqes);
	const struct shca_faults *faults = sq->dev->conf.faults;
	const struct shca_fault *fault;

	if (sq->nb_queued != 0)
		return false;
	fault = shca_faults_due(faults, SHCA_FAULT_SQ_ERROR, &site);
	if (fault == NULL)
		fault = shca_faults_due(faults, SHCA_FAULT_SQ_FATAL, &site);
	if (fault == NULL)
		return false;
	shca_inject_applied(sq->dev, fault);
	sq->state = SHCA_QUEUE_ERROR;
	sq->first_syndrome = fault->syndrome;
	if (fault->row->kind == SHCA_FAULT_SQ_FATAL)
		shca_notify(sq->attr.event, sq->attr.owner, SHCA_EVENT_QP_FATAL);
	return true;
}

const struct shca_fault *
shca_inject_rq_due(const struct shca_rq *rq)
{
	const struct shca_fault_site site = site_of(rq->dev, rq->ordinal, rq->nb_wqes);
	const struct shca_faults *faults = rq->dev->conf.faults;
	const struct shca_fault *fault = shca_faults_due(faults, SHCA_FAULT_RQ_ERROR, &site);

	return fault != NULL ? fault : shca_faults_due(faults, SHCA_FAULT_RQ_FATAL, &site);
}

bool
shca_inject_cq(const struct shca_cq *cq)
{
	const struct shca_fault_site site = site_of(cq->dev, cq->ordinal, cq->count.packets);
	const struct shca_fault *fault =
		shca_faults_due(cq->dev->conf.faults, SHCA_FAULT_CQ_OVERRUN, &site);

	if (fault != NULL)
		shca_inject_applied(cq->dev, fault);
	return fault != NULL;
}
