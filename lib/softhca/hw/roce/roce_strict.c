/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of a strict device on queue pairs with a transport. */
#include "hw/roce/roce_strict.h"

#include <inttypes.h>
#include <stdio.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "base/mem.h"
#include "base/text.h"
#include "hw/check/report.h"
#include "hw/roce/gid.h"
#include "hw/roce/group.h"
#include "strict/findings.h"

#define TEXT_MAX       512
#define ATOMIC_BYTES   8
#define DS_RESERVED    0xc0 /* of the control segment's second word (PRM) */
#define QPN_MANAGEMENT 1    /* numbers up to this one are of management (IBTA 3.5.4) */

static void
report_qp(struct shca_roce_qp *qp, enum shca_finding finding, uint32_t index, const char *text)
{
	struct shca_finding_site site = {
		.queue = "QP",
		.number = qp->number,
		.context = qp->attr.context,
		.index = index,
		.decoded = text,
	};

	shca_report(qp->dev, finding, &site);
}

/** @{ Send WQEs. */
static void
print_wqe(const struct shca_roce_qp *qp, char *text)
{
	const struct shca_roce_wqe *wqe = &qp->wqe;
	struct shca_wqe ctrl;

	shca_wqe_decode_ctrl(qp->flat, &ctrl);
	text[0] = '\0';
	shca_text_append(text, TEXT_MAX,
		"opcode 0x%02x index %u qpn 0x%x ds %u ce %u length %" PRIu32, ctrl.opcode,
		ctrl.index, ctrl.sqn, ctrl.ds, ctrl.ce, wqe->wr.length);
	if (wqe->wr.rkey != 0)
		shca_text_append(text, TEXT_MAX, " remote 0x%" PRIx64 " rkey 0x%" PRIx32,
			wqe->wr.va, wqe->wr.rkey);
	for (unsigned int i = 0; i < wqe->nb_segments; i++)
		shca_text_append(text, TEXT_MAX, " [0x%" PRIx64 "+%" PRIu32 " lkey 0x%" PRIx32 "]",
			wqe->segment[i].address, wqe->segment[i].length, wqe->segment[i].lkey);
}

static void
report_wqe(struct shca_roce_qp *qp, uint16_t index, enum shca_finding finding)
{
	char text[TEXT_MAX];
	struct shca_finding_site site = {
		.queue = "QP",
		.number = qp->number,
		.context = qp->attr.context,
		.index = index,
		.decoded = text,
		.bytes = qp->flat,
		.nb_bytes = (size_t)shca_wqe_nb_wqebbs(shca_wqe_ds(qp->flat)) * SHCA_WQEBB_BYTES,
	};

	print_wqe(qp, text);
	shca_report(qp->dev, finding, &site);
}

/** @return why it is no WQE, or SHCA_NB_FINDINGS. */
static enum shca_finding
check_control(const struct shca_roce_qp *qp, uint16_t index, uint16_t nb_posted, uint8_t syndrome)
{
	struct mlx5_wqe_ctrl_seg ctrl;
	struct shca_wqe wqe;

	memcpy(&ctrl, qp->flat, sizeof(ctrl));
	shca_wqe_decode_ctrl(qp->flat, &wqe);
	if (wqe.index != index || wqe.sqn != qp->number)
		return SHCA_FINDING_WQE_STALE;
	if (be32toh(ctrl.qpn_ds) & DS_RESERVED)
		return SHCA_FINDING_WQE_DS_OVERFLOW;
	if (wqe.nb_wqebbs > nb_posted)
		return SHCA_FINDING_WQE_PAST_PRODUCER;
	if (syndrome == 0)
		return SHCA_NB_FINDINGS;
	if (!shca_roce_wqe_has_opcode(wqe.opcode, qp->attr.type == SHCA_ROCE_UD))
		return SHCA_FINDING_WQE_OPCODE;
	return syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR ? SHCA_FINDING_SEND_LENGTH
							      : SHCA_FINDING_WQE_DS;
}

static bool
is_atomic(const struct shca_wr *wr)
{
	return wr->kind == SHCA_WR_CMP_SWAP || wr->kind == SHCA_WR_FETCH_ADD;
}

/** @return whether bytes come back, to the WQE's buffers. */
static bool
has_response(const struct shca_wr *wr)
{
	return wr->kind == SHCA_WR_READ || is_atomic(wr);
}

static enum shca_finding
check_segments(const struct shca_roce_qp *qp)
{
	const struct shca_roce_wqe *wqe = &qp->wqe;
	enum shca_finding finding = SHCA_NB_FINDINGS;

	for (unsigned int i = 0; i < wqe->nb_segments && finding == SHCA_NB_FINDINGS; i++)
		if (wqe->segment[i].inlined == NULL && wqe->segment[i].length != 0)
			finding = shca_report_of_access(qp->dev, qp->attr.pdn, wqe->segment[i].lkey,
				wqe->segment[i].address, wqe->segment[i].length,
				has_response(&wqe->wr));
	return finding;
}

/** @return whether addresses of one family are joined, and a packet may leave the subnet's first
 * hop (IBTA A17.4.1, A17.4.5.1: hop limit is the TTL). */
static bool
is_path(const struct shca_roce_path *path)
{
	static const uint8_t none[16];

	if (memcmp(path->dgid, none, sizeof(none)) == 0)
		return false;
	if (!path->is_v2)
		return true;
	return shca_roce_is_ipv4(path->sgid) == shca_roce_is_ipv4(path->dgid) &&
		path->hop_limit != 0;
}

/** @return what is wrong with a datagram's address. */
static enum shca_finding
check_address(const struct shca_roce_qp *qp)
{
	const struct shca_roce_av *av = &qp->wqe.av;
	struct shca_roce_path path;

	if (!shca_gid_path(qp->dev, &av->route, &path) || !is_path(&path))
		return SHCA_FINDING_PATH;
	if (shca_ah_is_of_another(qp->dev, qp->attr.pdn, &av->route))
		return SHCA_FINDING_AH_DOMAIN;
	return SHCA_NB_FINDINGS;
}

/** @return the longest payload of a packet of the port. */
static uint32_t
port_bytes(const struct shca_device *dev)
{
	const uint8_t mtu = shca_gid_port_mtu(dev);

	return mtu != 0 ? SHCA_MTU_BYTES(mtu) : 0;
}

/** @return what is wrong with what the WQE asks for. */
static enum shca_finding
check_request(const struct shca_roce_qp *qp)
{
	const struct shca_wr *wr = &qp->wqe.wr;
	const bool is_datagram = qp->attr.type == SHCA_ROCE_UD;

	if (wr->kind == SHCA_WR_LOCAL)
		return SHCA_NB_FINDINGS;
	if (!is_datagram && !shca_requester_may_be_asked(&qp->requester.conf, wr))
		return SHCA_FINDING_WQE_FORM;
	if (wr->length > (is_datagram ? port_bytes(qp->dev) : SHCA_ROCE_MESSAGE_MAX))
		return SHCA_FINDING_SEND_LENGTH;
	if (is_atomic(wr) && wr->va % ATOMIC_BYTES != 0)
		return SHCA_FINDING_ATOMIC_ADDRESS;
	return SHCA_NB_FINDINGS;
}

/** The queue's size is what the program asked for (libmlx5 may give more): one that signals less
 * often relies on a number that it cannot know. */
static void
count_unsignaled(struct shca_roce_qp *qp, uint16_t index)
{
	if (qp->wqe.wr.is_signaled || qp->attr.signal_all)
		qp->nb_unsignaled = 0;
	else if (++qp->nb_unsignaled == qp->attr.max_send_wr)
		report_wqe(qp, index, SHCA_FINDING_SEND_UNSIGNALED);
}

void
shca_roce_strict_wqe(struct shca_roce_qp *qp, uint16_t index, uint16_t nb_posted, uint8_t syndrome)
{
	enum shca_finding finding;

	/* What is sent again is fetched again. */
	if ((int16_t)(index - qp->looked_at) < 0)
		return;
	qp->looked_at = (uint16_t)(index + shca_wqe_nb_wqebbs(shca_wqe_ds(qp->flat)));
	finding = check_control(qp, index, nb_posted, syndrome);
	if (finding == SHCA_NB_FINDINGS)
		finding = check_request(qp);
	if (finding == SHCA_NB_FINDINGS && qp->attr.type == SHCA_ROCE_UD &&
		qp->wqe.wr.kind != SHCA_WR_LOCAL)
		finding = check_address(qp);
	if (finding == SHCA_NB_FINDINGS)
		finding = check_segments(qp);
	if (finding != SHCA_NB_FINDINGS)
		report_wqe(qp, index, finding);
	if (syndrome == 0)
		count_unsignaled(qp, index);
}
/** @} */

/** @{ Attributes, one row a rule. */
#define TYPE(type) (1u << (type))
#define CONNECTED                                                                                  \
	(TYPE(SHCA_ROCE_RC) | TYPE(SHCA_ROCE_UC) | TYPE(SHCA_ROCE_XRC_INI) |                       \
		TYPE(SHCA_ROCE_XRC_TGT))

static bool
is_path_wrong(const struct shca_device *dev, const struct shca_roce_qp_conf *conf, char *text)
{
	(void)dev;
	snprintf(text, TEXT_MAX, "RoCE v%d, source IPv%d, destination %s, hop limit %u",
		conf->path.is_v2 ? 2 : 1, shca_roce_is_ipv4(conf->path.sgid) ? 4 : 6,
		shca_group_is(conf->path.dgid)               ? "a group"
			: shca_roce_is_ipv4(conf->path.dgid) ? "IPv4"
							     : "IPv6",
		conf->path.hop_limit);
	return !is_path(&conf->path) || shca_group_is(conf->path.dgid);
}

static bool
is_mtu_wrong(const struct shca_device *dev, const struct shca_roce_qp_conf *conf, char *text)
{
	snprintf(text, TEXT_MAX, "path MTU %" PRIu32 ", the port's is %" PRIu32, conf->mtu,
		port_bytes(dev));
	return conf->mtu > port_bytes(dev);
}

static bool
is_destination_wrong(
	const struct shca_device *dev, const struct shca_roce_qp_conf *conf, char *text)
{
	(void)dev;
	snprintf(text, TEXT_MAX, "dest_qp_num 0x%" PRIx32, conf->dest_qpn);
	return conf->dest_qpn <= QPN_MANAGEMENT || conf->dest_qpn == SHCA_ROCE_GROUP_QPN;
}

static bool
is_timeout_wrong(const struct shca_device *dev, const struct shca_roce_qp_conf *conf, char *text)
{
	(void)dev;
	snprintf(text, TEXT_MAX, "retry_cnt %u", conf->retries);
	return conf->timeout == 0;
}

/* clang-format off */
static const struct {
	enum shca_finding finding;
	enum shca_roce_state state; /**< the step to it sets them */
	unsigned int types;
	bool (*is_wrong)(
		const struct shca_device *dev, const struct shca_roce_qp_conf *conf, char *text);
} conf_rules[] = {
	{ SHCA_FINDING_PATH, SHCA_ROCE_RTR, CONNECTED, is_path_wrong },
	{ SHCA_FINDING_PATH_MTU, SHCA_ROCE_RTR, CONNECTED, is_mtu_wrong },
	{ SHCA_FINDING_QP_DESTINATION, SHCA_ROCE_RTR, CONNECTED, is_destination_wrong },
	{ SHCA_FINDING_QP_TIMEOUT, SHCA_ROCE_RTS, TYPE(SHCA_ROCE_RC) | TYPE(SHCA_ROCE_XRC_INI),
		is_timeout_wrong },
};
/* clang-format on */

static void
check_conf(
	struct shca_roce_qp *qp, enum shca_roce_state state, const struct shca_roce_qp_conf *conf)
{
	char text[TEXT_MAX];

	for (size_t i = 0; i < sizeof(conf_rules) / sizeof(conf_rules[0]); i++)
		if (conf_rules[i].state == state && (conf_rules[i].types & TYPE(qp->attr.type)) &&
			conf_rules[i].is_wrong(qp->dev, conf, text))
			report_qp(qp, conf_rules[i].finding, 0, text);
}
/** @} */

/** Not before: rdma-core's ibv_xsrq_pingpong allows reads, with room for none, and nobody asks for
 * one. */
void
shca_roce_strict_request(struct shca_roce_qp *qp, const struct shca_bth *bth)
{
	const uint8_t op = bth->opcode & SHCA_BTH_OP_MASK;
	const uint32_t wanted = op == SHCA_BTH_READ_REQUEST ? IB_UVERBS_ACCESS_REMOTE_READ
		: op == SHCA_BTH_CMP_SWAP || op == SHCA_BTH_FETCH_ADD
		? IB_UVERBS_ACCESS_REMOTE_ATOMIC
		: 0;
	char text[TEXT_MAX];

	if ((TYPE(qp->attr.type) & (TYPE(SHCA_ROCE_RC) | TYPE(SHCA_ROCE_XRC_TGT))) == 0 ||
		qp->conf.max_dest_rd_atomic != 0 || (qp->conf.access & wanted) == 0)
		return;
	snprintf(text, sizeof(text), "qp_access_flags 0x%" PRIx32 ", opcode 0x%02x in the BTH",
		qp->conf.access, bth->opcode);
	report_qp(qp, SHCA_FINDING_QP_READS, 0, text);
}

/** @{ What is posted where nothing may be. */
static uint32_t
record_of(const struct shca_roce_qp *qp, unsigned int which)
{
	return be32toh(__atomic_load_n(&qp->attr.dbrec[which], __ATOMIC_ACQUIRE));
}

/** A counter that is not 0 while the state allows no WQE. */
static void
check_posted(struct shca_roce_qp *qp, unsigned int which, enum shca_finding finding)
{
	const uint32_t pi = record_of(qp, which);
	char text[TEXT_MAX];

	if (pi == 0 || (qp->told & 1u << which) != 0)
		return;
	qp->told |= 1u << which;
	snprintf(text, sizeof(text), "producer counter %" PRIu32, pi);
	report_qp(qp, finding, pi - 1, text);
}

/** Programs clear the record when the queue pair is in RESET, so there only the step tells. */
static void
check_early(struct shca_roce_qp *qp)
{
	const bool has_rq = qp->attr.nb_wqes != 0;

	if (qp->attr.dbrec == NULL || qp->is_dead)
		return;
	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	if (qp->state <= SHCA_ROCE_RTR && qp->attr.nb_wqebbs != 0)
		check_posted(qp, MLX5_SND_DBR, SHCA_FINDING_SEND_STATE);
	if (!has_rq)
		check_posted(qp, MLX5_RCV_DBR, SHCA_FINDING_RECEIVE_QUEUE);
	else if (qp->state == SHCA_ROCE_RESET)
		check_posted(qp, MLX5_RCV_DBR, SHCA_FINDING_RECEIVE_STATE);
}

static void
check_early_of(void *qp)
{
	check_early(qp);
}

void
shca_roce_strict_modify(
	struct shca_roce_qp *qp, enum shca_roce_state state, const struct shca_roce_qp_conf *conf)
{
	if (state == qp->state || state < SHCA_ROCE_INIT || state > SHCA_ROCE_RTS)
		return;
	if (qp->state == SHCA_ROCE_RESET)
		qp->told = qp->has_begun = 0;
	/* Should the program have unmapped the record, the next round finds that. */
	if (qp->state < SHCA_ROCE_RTS)
		(void)shca_mem_guard_run(check_early_of, qp);
	if (qp->state == SHCA_ROCE_INIT || qp->state == SHCA_ROCE_RTR)
		check_conf(qp, state, conf);
}
/** @} */

/** @{ Rings. */
void
shca_roce_strict_overrun(struct shca_roce_qp *qp, unsigned int which, uint16_t ci, uint32_t nb)
{
	struct shca_finding_site site = {
		.queue = "QP", .number = qp->number, .context = qp->attr.context
	};

	shca_report_overrun(qp->dev, &site, htobe32(record_of(qp, which)), ci, nb);
}

/** A first counter of up to 255 in the wrong byte order has 0 in the half that the device reads. */
static void
check_first(struct shca_roce_qp *qp, unsigned int which, uint32_t nb)
{
	const uint32_t word = record_of(qp, which);

	if (nb == 0 || word == 0 || (qp->has_begun & 1u << which) != 0)
		return;
	qp->has_begun |= 1u << which;
	if ((uint16_t)word == 0 && __builtin_bswap32(word) <= nb)
		shca_roce_strict_overrun(qp, which, 0, nb);
}

void
shca_roce_strict_round(struct shca_device *dev)
{
	struct shca_roce_qp *qp;

	LIST_FOREACH (qp, &dev->roce_qps, link) {
		if (qp->state == SHCA_ROCE_RESET || qp->state >= SHCA_ROCE_ERROR)
			continue;
		check_early(qp);
		if (qp->attr.dbrec == NULL || qp->is_dead)
			continue;
		check_first(qp, MLX5_RCV_DBR, qp->attr.nb_wqes);
		if (qp->state >= SHCA_ROCE_RTS)
			check_first(qp, MLX5_SND_DBR, qp->attr.nb_wqebbs);
	}
}

void
shca_roce_strict_srq_overrun(const struct shca_srq *srq)
{
	struct shca_finding_site site = {
		.queue = "SRQ", .number = srq->number, .context = srq->attr.context
	};

	shca_report_overrun(
		srq->dev, &site, srq->attr.dbrec[MLX5_RCV_DBR], srq->nb_taken, srq->attr.nb_wqes);
}

void
shca_roce_strict_receive(struct shca_roce_qp *qp, enum shca_outcome outcome, uint32_t length)
{
	const struct shca_roce_rx_wqe *wqe = &qp->rx_wqe;
	enum shca_finding finding = SHCA_FINDING_RX_TRUNCATED;
	char text[TEXT_MAX] = "";

	shca_text_append(text, TEXT_MAX, "%" PRIu32 " bytes and more, segments", length);
	if (outcome == SHCA_OUTCOME_LOCAL_PROTECTION)
		finding = SHCA_FINDING_LKEY;
	for (uint32_t i = 0; i < wqe->nb_segments; i++) {
		struct mlx5_wqe_data_seg data;
		struct shca_wqe_segment segment;

		memcpy(&data, wqe->segments + (size_t)i * sizeof(data), sizeof(data));
		segment = (struct shca_wqe_segment){ .length = be32toh(data.byte_count),
			.lkey = be32toh(data.lkey),
			.address = be64toh(data.addr) };
		if (segment.length == 0 && segment.lkey == MLX5_INVALID_LKEY)
			break;
		shca_text_append(text, TEXT_MAX, " [0x%" PRIx64 "+%" PRIu32 " lkey 0x%" PRIx32 "]",
			segment.address, segment.length, segment.lkey);
		if (outcome == SHCA_OUTCOME_LOCAL_PROTECTION &&
			shca_report_of_access(qp->dev, wqe->pdn, segment.lkey, segment.address,
				segment.length, true) == SHCA_FINDING_ADDRESS)
			finding = SHCA_FINDING_ADDRESS;
	}
	report_qp(qp, finding, wqe->index, text);
}
/** @} */
