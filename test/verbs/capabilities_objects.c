/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities that show when an object is made. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capabilities.h"
#include "rig.h"

/** Destroy an object that may exist against expectation. @return 0, or the errno of its refusal. */
#define MADE(object, destroy)                                                                      \
	__extension__({                                                                            \
		__typeof__(object) made = (errno = 0, object);                                     \
		int why = made == NULL ? errno : destroy(made);                                    \
		why;                                                                               \
	})

static struct ibv_cq *
small_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig_context, 8, NULL, NULL, 0);

	if (cq == NULL)
		rig_die("ibv_create_cq");
	return cq;
}

static int
try_qp(enum ibv_qp_type type, uint32_t wrs, uint32_t sges)
{
	struct ibv_cq *cq = small_cq();
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 4,
			.max_recv_wr = wrs,
			.max_send_sge = 1,
			.max_recv_sge = sges },
		.qp_type = type,
	};
	int ret = MADE(ibv_create_qp(rig_pd, &attr), ibv_destroy_qp);

	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return ret;
}

int
try_recv_wrs(uint64_t nb)
{
	return try_qp(IBV_QPT_RAW_PACKET, (uint32_t)nb, 1);
}

int
try_sges(uint64_t nb)
{
	return try_qp(IBV_QPT_RAW_PACKET, 4, (uint32_t)nb);
}

int
try_qp_type(uint64_t type)
{
	return try_qp((enum ibv_qp_type)type, 4, 1);
}

int
try_cqes(uint64_t nb)
{
	return MADE(ibv_create_cq(rig_context, (int)nb, NULL, NULL, 0), ibv_destroy_cq);
}

static struct ibv_wq *
make_wq(struct ibv_cq *cq, uint32_t flags)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 1,
		.pd = rig_pd,
		.cq = cq,
		.comp_mask = flags != 0 ? IBV_WQ_INIT_ATTR_FLAGS : 0,
		.create_flags = flags,
	};

	return ibv_create_wq(rig_context, &attr);
}

int
try_wq_flag(uint64_t flag)
{
	struct ibv_cq *cq = small_cq();
	int ret = MADE(make_wq(cq, (uint32_t)flag), ibv_destroy_wq);

	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return ret;
}

/** Twice the maximum is refused: sizes are powers of two. */
int
try_table(uint64_t nb_entries)
{
	struct ibv_cq *cq = small_cq();
	struct ibv_wq *wq = make_wq(cq, 0);
	struct ibv_rwq_ind_table_init_attr attr = { 0 };
	int ret;

	if (wq == NULL)
		rig_die("ibv_create_wq");
	while (1u << attr.log_ind_tbl_size < nb_entries)
		attr.log_ind_tbl_size++;
	attr.ind_tbl = calloc(1u << attr.log_ind_tbl_size, sizeof(wq));
	for (uint32_t i = 0; i < 1u << attr.log_ind_tbl_size; i++)
		attr.ind_tbl[i] = wq;
	ret = MADE(ibv_create_rwq_ind_table(rig_context, &attr), ibv_destroy_rwq_ind_table);
	free(attr.ind_tbl);
	rig_must(ibv_destroy_wq(wq), "ibv_destroy_wq");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return ret;
}

static int
try_hash_qp(uint8_t function, uint64_t fields)
{
	struct ibv_cq *cq = small_cq();
	struct ibv_wq *wq = make_wq(cq, 0);
	struct ibv_rwq_ind_table_init_attr table_attr = { .ind_tbl = &wq };
	struct ibv_rwq_ind_table *table;
	uint8_t key[40] = { 1 };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = rig_pd,
		.rx_hash_conf = { function, sizeof(key), key, fields },
	};
	struct mlx5dv_qp_init_attr tunnel = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
	};
	int ret;

	if (wq == NULL)
		rig_die("ibv_create_wq");
	attr.rwq_ind_tbl = table = ibv_create_rwq_ind_table(rig_context, &table_attr);
	if (table == NULL)
		rig_die("ibv_create_rwq_ind_table");
	if (fields & IBV_RX_HASH_INNER)
		ret = MADE(mlx5dv_create_qp(rig_context, &attr, &tunnel), ibv_destroy_qp);
	else
		ret = MADE(ibv_create_qp_ex(rig_context, &attr), ibv_destroy_qp);
	rig_must(ibv_destroy_rwq_ind_table(table), "ibv_destroy_rwq_ind_table");
	rig_must(ibv_destroy_wq(wq), "ibv_destroy_wq");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return ret;
}

/** The hashes: test/unit/hw/format/rss_test.c, test/system/test_rss.py. */
int
try_hash(uint64_t fields)
{
	return try_hash_qp(IBV_RX_HASH_FUNC_TOEPLITZ, fields);
}

int
try_hash_function(uint64_t function)
{
	return try_hash_qp((uint8_t)function, IBV_RX_HASH_SRC_IPV4);
}

static int
try_striding(uint32_t log_bytes, uint32_t log_strides)
{
	struct ibv_cq *cq = small_cq();
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = rig_pd, .cq = cq
	};
	struct mlx5dv_wq_init_attr striding = {
		.comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
		.striding_rq_attrs = { log_bytes, log_strides, 0 },
	};
	int ret = MADE(mlx5dv_create_wq(rig_context, &attr, &striding), ibv_destroy_wq);

	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return ret;
}

/** Frames in strides: test/verbs/striding.c. */
int
try_stride_bytes(uint64_t log)
{
	return try_striding((uint32_t)log, 9);
}

int
try_strides(uint64_t log)
{
	return try_striding(6, (uint32_t)log);
}

int
try_dm(uint64_t bytes)
{
	struct ibv_alloc_dm_attr attr = { .length = bytes != 0 ? bytes : 4096 };

	return MADE(ibv_alloc_dm(rig_context, &attr), ibv_free_dm);
}

static struct ibv_srq *
make_srq(uint64_t nb_wrs, uint64_t nb_sges)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = (uint32_t)nb_wrs, .max_sge = (uint32_t)nb_sges },
	};

	return ibv_create_srq(rig_pd, &attr);
}

int
try_srq_wrs(uint64_t nb)
{
	return MADE(make_srq(nb, 1), ibv_destroy_srq);
}

int
try_srq_sges(uint64_t nb)
{
	return MADE(make_srq(4, nb), ibv_destroy_srq);
}

int
try_srq_resize(uint64_t unused)
{
	struct ibv_srq *srq = make_srq(4, 1);
	struct ibv_srq_attr attr = { .max_wr = 8 };
	int ret;

	(void)unused;
	if (srq == NULL)
		rig_die("ibv_create_srq");
	ret = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	rig_must(ibv_destroy_srq(srq), "ibv_destroy_srq");
	return ret;
}

int
try_tag_matching(uint64_t unused)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = rig_pd,
		.cq = small_cq(),
		.tm_cap = { .max_num_tags = 1, .max_ops = 1 },
	};
	int ret = MADE(ibv_create_srq_ex(rig_context, &attr), ibv_destroy_srq);

	(void)unused;
	rig_must(ibv_destroy_cq(attr.cq), "ibv_destroy_cq");
	return ret;
}

int
try_mw(uint64_t type)
{
	return MADE(ibv_alloc_mw(rig_pd, (enum ibv_mw_type)type), ibv_dealloc_mw);
}

int
try_xrcd(uint64_t unused)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = 0100, /* O_CREAT */
	};

	(void)unused;
	return MADE(ibv_open_xrcd(rig_context, &attr), ibv_close_xrcd);
}

int
try_mr_access(uint64_t flags)
{
	return MADE(ibv_reg_mr(rig_pd, rig_buffer(0), RIG_BUFFER_BYTES, (unsigned int)flags),
		ibv_dereg_mr);
}

static int
try_moderation(uint16_t count, uint16_t period)
{
	struct ibv_cq *cq = small_cq();
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period } };
	int ret = ibv_modify_cq(cq, &attr);

	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return ret;
}

int
try_cq_count(uint64_t count)
{
	return try_moderation((uint16_t)count, 4);
}

int
try_cq_period(uint64_t us)
{
	return try_moderation(4, (uint16_t)us);
}

static int
try_dv_cq(struct mlx5dv_cq_init_attr *attr)
{
	struct ibv_cq_init_attr_ex ex = { .cqe = 8, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_cq_ex *cq;

	errno = 0;
	cq = mlx5dv_create_cq(rig_context, &ex, attr);
	return cq == NULL ? errno : ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}

/** Completions of that format: test/verbs/compressed.c. */
int
try_cqe_format(uint64_t format)
{
	struct mlx5dv_cq_init_attr attr = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
		.cqe_comp_res_format = (uint8_t)format,
	};

	return try_dv_cq(&attr);
}

int
try_cqe_pad(uint64_t unused)
{
	struct mlx5dv_cq_init_attr attr = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_FLAGS | MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
		.flags = MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD,
		.cqe_size = 128,
	};

	(void)unused;
	return try_dv_cq(&attr);
}

int
try_cqe_128_compressed(uint64_t unused)
{
	struct mlx5dv_cq_init_attr attr = {
		.comp_mask =
			MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE | MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
		.cqe_comp_res_format = MLX5DV_CQE_RES_FORMAT_HASH,
		.cqe_size = 128,
	};

	(void)unused;
	return try_dv_cq(&attr);
}

int
try_esp(uint64_t unused)
{
	struct ibv_flow_action_esp_attr esp = {
		.esp_attr = &(struct ib_uverbs_flow_action_esp){ .spi = 1 },
		.keymat_proto = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
		.keymat_len = sizeof(struct ib_uverbs_flow_action_esp_keymat_aes_gcm),
		.keymat_ptr = &(struct ib_uverbs_flow_action_esp_keymat_aes_gcm){ .key_len = 128,
			.icv_len = 128 },
	};

	(void)unused;
	return MADE(ibv_create_flow_action_esp(rig_context, &esp), ibv_destroy_flow_action);
}

int
try_crypto(uint64_t unused)
{
	struct mlx5dv_crypto_login_attr attr = { .credential_id = 1 };

	(void)unused;
	return mlx5dv_crypto_login(rig_context, &attr);
}

int
try_dct(uint64_t unused)
{
	struct ibv_cq *cq = small_cq();
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_DRIVER,
		.send_cq = cq,
		.recv_cq = cq,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = rig_pd,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI },
	};
	int ret = MADE(mlx5dv_create_qp(rig_context, &attr, &dv), ibv_destroy_qp);

	(void)unused;
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return ret;
}

/** Signatures need memory keys that DevX commands make. */
int
try_devx(uint64_t unused)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)unused;
	return mlx5dv_devx_general_cmd(rig_context, in, sizeof(in), out, sizeof(out)) != 0 ? errno
											   : 0;
}

int
try_pp(uint64_t unused)
{
	uint8_t context[16] = { 0 };
	struct mlx5dv_pp *pp;

	(void)unused;
	pp = mlx5dv_pp_alloc(rig_context, sizeof(context), context, 0);
	if (pp == NULL)
		return errno;
	mlx5dv_pp_free(pp);
	return 0;
}

int
try_var(uint64_t unused)
{
	struct mlx5dv_var *var = mlx5dv_alloc_var(rig_context, 0);

	(void)unused;
	if (var == NULL)
		return errno;
	mlx5dv_free_var(var);
	return 0;
}

int
try_dm_type(uint64_t type)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };
	struct mlx5dv_alloc_dm_attr dv = { .type = (enum mlx5dv_alloc_dm_type)type };

	return MADE(mlx5dv_alloc_dm(rig_context, &attr, &dv), ibv_free_dm);
}

int
try_matcher(uint64_t table_type)
{
	struct {
		size_t size;
		uint8_t bytes[64];
	} mask = { sizeof(mask.bytes), { 0 } };
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = 1,
		.match_mask = (void *)&mask,
		.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
		.ft_type = (enum mlx5dv_flow_table_type)table_type,
	};

	return MADE(mlx5dv_create_flow_matcher(rig_context, &attr), mlx5dv_destroy_flow_matcher);
}
