/* SPDX-License-Identifier: BSD-3-Clause */
/* Send queue: failures found outside of its engine. */
#include "hw/queue/sq_fail.h"

#include "base/log.h"
#include "hw/state/device.h"
#include "hw/state/sq.h"

void
shca_sq_fail_fatally(struct shca_sq *sq)
{
	sq->state = SHCA_QUEUE_ERROR;
	sq->dead = true;
	shca_notify(sq->attr.event, sq->attr.owner, SHCA_EVENT_QP_FATAL);
}

void
shca_sq_fail_wqe(struct shca_sq *sq, uint16_t wqe_counter)
{
	SHCA_WARN("SQ 0x%x: a send buffer of WQE %u is not mapped", sq->number, wqe_counter);
	sq->state = SHCA_QUEUE_ERROR;
	sq->first_syndrome = MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	sq->ci = wqe_counter;
	sq->nb_queued = 0;
}
