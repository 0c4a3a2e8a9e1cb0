/* SPDX-License-Identifier: BSD-3-Clause */
/* Polls a CQ by verbs and writes its completions as CQEs. */
#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "cq_ibv.h"
#include "device/device.h"
#include "device/ring_memory.h"

int
mdv_cq_ibv_create(const struct mdv_device *device, uint32_t nb_cqes, uint64_t wc_flags,
	struct ibv_comp_channel *channel, struct mdv_cq *cq)
{
	/* cqe=N makes a ring of the next power of two above N. */
	struct ibv_cq_init_attr_ex attr = {
		.cqe = RTE_MAX(nb_cqes, 2u) - 1,
		.channel = channel,
		.wc_flags = wc_flags,
	};
	struct ibv_cq_ex *ex;
	uint32_t i;
	int ret;

	ex = ibv_create_cq_ex(device->ctx, &attr);
	if (ex == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "%s: cannot create an extended CQ of %u entries: %s", device->name,
			nb_cqes, strerror(-ret));
		return ret;
	}
	*cq = (struct mdv_cq){ .ibv_cq = ibv_cq_ex_to_cq(ex), .ex = ex, .wc_flags = wc_flags };
	/* The doorbell record lies behind the CQEs. */
	cq->cqes = mdv_ring_memory_alloc("mdv_cqes", (nb_cqes + 1) * sizeof(cq->cqes[0]),
		RTE_CACHE_LINE_SIZE, device->numa_node);
	if (cq->cqes == NULL) {
		MDV_LOG(ERR, "%s: no memory for %u completions", device->name, nb_cqes);
		mdv_cq_destroy(device, cq);
		return -ENOMEM;
	}
	cq->dbrec = (volatile __be32 *)&cq->cqes[nb_cqes];
	cq->cqe_cnt = nb_cqes;
	cq->log2_cqes = rte_log2_u32(nb_cqes);
	for (i = 0; i < nb_cqes; i++)
		mdv_cq_invalidate(&cq->cqes[i]);
	return 0;
}

/** @return the CQE's opcode. */
static uint8_t
write_error(const struct mdv_cq *cq, struct mdv_hw_cqe *cqe)
{
	struct mlx5_err_cqe *err = (void *)cqe;

	err->syndrome = mdv_cq_syndrome_of(cq->ex->status);
	err->vendor_err_synd = ibv_wc_read_vendor_err(cq->ex);
	return cq->wc_flags != 0 ? MLX5_CQE_RESP_ERR : MLX5_CQE_REQ_ERR;
}

/** Write the CQE of a received packet. Fields that verbs does not report (headers, checksums,
 * hash) stay 0. */
static uint8_t
write_packet(const struct mdv_cq *cq, struct mdv_hw_cqe *cqe)
{
	struct ibv_cq_ex *ex = cq->ex;
	uint16_t tci = 0;

	cqe->byte_cnt = rte_cpu_to_be_32(ibv_wc_read_byte_len(ex));
	if (cq->wc_flags & IBV_WC_EX_WITH_CVLAN)
		tci = ibv_wc_read_cvlan(ex);
	/* Verbs has no flag for a stripped tag, so a tag of all zeros goes unnoticed. */
	if (tci != 0) {
		cqe->vlan_info = rte_cpu_to_be_16(tci);
		cqe->l4_l3_hdr_type = MDV_HW_CQE_CV;
	}
	if (cq->wc_flags & IBV_WC_EX_WITH_FLOW_TAG)
		cqe->sop_drop_qpn =
			rte_cpu_to_be_32(ibv_wc_read_flow_tag(ex) & MDV_HW_CQE_TAG_MASK);
	if (cq->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cqe->timestamp = rte_cpu_to_be_64(ibv_wc_read_completion_ts(ex));
	return MLX5_CQE_RESP_SEND;
}

/** Write the completion that verbs currently shows to the slot of pi. */
static void
copy(struct mdv_cq *cq)
{
	struct mdv_hw_cqe cqe = { .wqe_counter = rte_cpu_to_be_16(cq->ex->wr_id) };
	uint8_t opcode;

	if (cq->ex->status != IBV_WC_SUCCESS)
		opcode = write_error(cq, &cqe);
	else if (cq->wc_flags != 0)
		opcode = write_packet(cq, &cqe);
	else
		opcode = MLX5_CQE_REQ;
	cqe.op_own = opcode << MDV_HW_CQE_OPCODE_SHIFT | (cq->pi >> cq->log2_cqes & 1);
	cq->cqes[cq->pi++ & (cq->cqe_cnt - 1)] = cqe;
}

void
mdv_cq_ibv_take(struct mdv_cq *cq, uint32_t ci, uint32_t want)
{
	const uint32_t end = ci + RTE_MIN(want, cq->cqe_cnt);
	struct ibv_poll_cq_attr attr = { 0 };

	if ((int32_t)(end - cq->pi) <= 0 || ibv_start_poll(cq->ex, &attr) != 0)
		return;
	do
		copy(cq);
	while (cq->pi != end && ibv_next_poll(cq->ex) == 0);
	ibv_end_poll(cq->ex);
}
