/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and destroys completion queues, names error syndromes. */
#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "cq.h"
#include "device/dv_cq.h"
#include "device/device.h"

int
mdv_cq_create(const struct mdv_device *device, uint32_t nb_cqes, uint32_t mini_format,
	struct ibv_comp_channel *channel, struct mdv_cq *cq)
{
	struct mlx5dv_cq dv = { 0 };
	struct mlx5dv_obj obj = { 0 };
	struct ibv_cq *ibv_cq;
	int ret;

	ibv_cq = mdv_dv_cq_create(device->ctx, (int)RTE_MAX(nb_cqes, 2u) - 1, mini_format, channel);
	if (ibv_cq == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "%s: cannot create a CQ of %u%s entries: %s", device->name, nb_cqes,
			mini_format != 0 ? " compressed" : "", strerror(-ret));
		return ret;
	}
	obj.cq.in = ibv_cq;
	obj.cq.out = &dv;
	ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ);
	if (ret == 0 && dv.cqe_size != sizeof(struct mdv_hw_cqe)) {
		MDV_LOG(ERR, "%s: CQEs of %u bytes, %zu wanted", device->name, dv.cqe_size,
			sizeof(struct mdv_hw_cqe));
		ret = -ENOTSUP;
	} else if (ret != 0 || !rte_is_power_of_2(dv.cqe_cnt)) {
		ret = ret != 0 ? ret : -EIO;
		MDV_LOG(ERR, "%s: cannot get at the ring of a CQ: %s", device->name,
			strerror(-ret));
	}
	if (ret != 0) {
		ibv_destroy_cq(ibv_cq);
		return ret;
	}
	*cq = (struct mdv_cq){
		.ibv_cq = ibv_cq,
		.cqes = dv.buf,
		.dbrec = dv.dbrec,
		.cqe_cnt = dv.cqe_cnt,
		.log2_cqes = rte_log2_u32(dv.cqe_cnt),
		.compressed = mini_format != 0,
		.uar = dv.cq_uar,
		.cqn = dv.cqn,
	};
	return 0;
}

void
mdv_cq_destroy(const struct mdv_device *device, struct mdv_cq *cq)
{
	int ret;

	if (cq->ibv_cq == NULL)
		return;
	ret = ibv_destroy_cq(cq->ibv_cq);
	if (ret != 0)
		MDV_LOG(ERR, "%s: cannot destroy a CQ: %s", device->name, strerror(ret));
	if (cq->ex != NULL)
		rte_free(cq->cqes);
	memset(cq, 0, sizeof(*cq));
}

/* clang-format off */
static const struct {
	uint8_t syndrome;
	enum ibv_wc_status status; /**< as libmlx5 reports it */
	const char *text;
} syndromes[] = {
	{ MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, IBV_WC_LOC_LEN_ERR,
		"local length (the frame does not fit)" },
	{ MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, IBV_WC_LOC_QP_OP_ERR,
		"local QP operation (malformed WQE)" },
	{ MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, IBV_WC_LOC_PROT_ERR,
		"local protection (lkey or address)" },
	{ MLX5_CQE_SYNDROME_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR,
		"flushed" },
	{ MLX5_CQE_SYNDROME_MW_BIND_ERR, IBV_WC_MW_BIND_ERR,
		"memory window bind" },
	{ MLX5_CQE_SYNDROME_BAD_RESP_ERR, IBV_WC_BAD_RESP_ERR,
		"bad response" },
	{ MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR,
		"local access" },
	{ MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, IBV_WC_REM_INV_REQ_ERR,
		"remote invalid request" },
	{ MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR,
		"remote access" },
	{ MLX5_CQE_SYNDROME_REMOTE_OP_ERR, IBV_WC_REM_OP_ERR,
		"remote operation" },
	{ MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, IBV_WC_RETRY_EXC_ERR,
		"transport retries exceeded" },
	{ MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR,
		"receiver-not-ready retries exceeded" },
	{ MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR, IBV_WC_REM_ABORT_ERR,
		"remote aborted" },
};
/* clang-format on */

const char *
mdv_cq_syndrome(uint8_t syndrome)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(syndromes); i++) {
		if (syndromes[i].syndrome == syndrome)
			return syndromes[i].text;
	}
	return "unknown";
}

uint8_t
mdv_cq_syndrome_of(enum ibv_wc_status status)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(syndromes); i++) {
		if (syndromes[i].status == status)
			return syndromes[i].syndrome;
	}
	return UINT8_MAX;
}

void
mdv_cq_log_error(
	const char *side, uint16_t port_id, uint16_t idx, uint8_t syndrome, uint64_t *logged)
{
	const uint64_t bit = UINT64_C(1) << (syndrome % 64);
	const bool pending = (*logged & bit) == 0;

	*logged |= bit;
	rte_log(pending ? RTE_LOG_WARNING : RTE_LOG_DEBUG, mdv_log_type,
		"mlx5dv: port %u %s queue %u: stopped with syndrome %#x, %s; restarting it%s\n",
		port_id, side, idx, syndrome, mdv_cq_syndrome(syndrome),
		pending ? "; further ones at debug level" : "");
}
