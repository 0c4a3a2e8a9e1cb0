/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities that frames show. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "capabilities.h"
#include "rig.h"

#define FRAME       100
#define TCP_HEADERS 54
#define ROOM        2048
#define VNI         7
#define LABEL       (0x12345u << 12 | 0x100 | 64) /* bottom of the stack */

static struct ibv_cq *cq;
static struct ibv_qp *qp;

void
try_begin(void)
{
	cq = ibv_create_cq(rig_context, 512, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
}

void
try_end(void)
{
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

/** Checksums that the device makes and finds good. */
int
try_checksums(uint64_t unused)
{
	struct ibv_flow *flow = rig_take_all(qp);
	struct ibv_sge sge = rig_sge(0, 0, FRAME);
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM },
			   *bad;
	struct ibv_wc wc[2], *in;
	int ret;

	(void)unused;
	rig_frame(rig_buffer(0), FRAME, 1);
	/* Post the receive first: a frame without one is dropped. */
	rig_receive(qp, 1, ROOM);
	ret = ibv_post_send(qp, &wr, &bad);
	if (ret != 0)
		rig_send(qp, 0, FRAME);
	rig_poll(cq, wc, 2);
	if (ret == 0) {
		in = rig_find(wc, 2, IBV_WC_RECV);
		CHECK(in != NULL && in->wc_flags & IBV_WC_IP_CSUM_OK, 0);
		CHECK(rig_sum(rig_buffer(1) + 14, 20) == 0xffff, 0);
		CHECK(rig_buffer(1)[40] != 0 || rig_buffer(1)[41] != 0, 0);
	}
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	return ret;
}

int
try_rule(uint64_t unused)
{
	struct ibv_flow_attr attr = { .size = sizeof(attr), .port = 1 };
	struct ibv_flow *flow = ibv_create_flow(qp, &attr);

	(void)unused;
	return flow == NULL ? errno : ibv_destroy_flow(flow);
}

int
try_multicast(uint64_t unused)
{
	union ibv_gid gid = { .raw = { 0xff } };
	int ret = ibv_attach_mcast(qp, &gid, 0);

	(void)unused;
	return ret != 0 ? ret : ibv_detach_mcast(qp, &gid, 0);
}

/** The reported maximum, from one buffer repeated; no receive takes the frames. */
int
try_tso(uint64_t bytes)
{
	const uint8_t head[TCP_HEADERS] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0,
		40, 0, 7, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 0, 80, 0, 0, 0, 1, 0,
		0, 0, 0, 0x50, 0x10, 0x20 };
	uint8_t header[TCP_HEADERS];
	/* All buffers lie behind each other. */
	struct ibv_sge sge = rig_sge(0, 0, bytes != 0 ? bytes : 4096);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_TSO,
		.send_flags = IBV_SEND_SIGNALED,
		.tso = { .hdr = header, .hdr_sz = sizeof(header), .mss = 1460 },
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int ret;

	memcpy(header, head, sizeof(header));
	CHECK(bytes <= (uint64_t)RIG_NB_BUFFERS * RIG_BUFFER_BYTES, bytes);
	ret = ibv_post_send(qp, &wr, &bad);
	if (ret != 0)
		return ret;
	rig_poll(cq, &wc, 1);
	return wc.status == IBV_WC_SUCCESS ? 0 : EIO;
}

/** The rate that results: test/verbs/pacing.c. */
int
try_rate(uint64_t kbps)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = (uint32_t)kbps }, none = { 0 };
	int ret = ibv_modify_qp_rate_limit(qp, &attr);

	if (ret == 0)
		rig_must(ibv_modify_qp_rate_limit(qp, &none), "ibv_modify_qp_rate_limit");
	return ret;
}

int
try_clock(uint64_t unused)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int ret = ibv_query_rt_values_ex(rig_context, &values);
	struct ibv_cq_ex *timed;

	(void)unused;
	if (ret != 0)
		return ret;
	timed = ibv_create_cq_ex(rig_context, &attr);
	return timed == NULL ? errno : ibv_destroy_cq(ibv_cq_ex_to_cq(timed));
}

int
try_clock_info(uint64_t unused)
{
	struct mlx5dv_clock_info info;
	int ret;

	(void)unused;
	/* EBUSY: the page is being written. */
	while ((ret = mlx5dv_get_clock_info(rig_context, &info)) == EBUSY)
		;
	return ret;
}

/** Write an IPv4 packet of some protocol up to the end of a frame of @p length bytes. */
static void
put_outer(uint8_t *frame, uint8_t protocol, uint16_t port, size_t length)
{
	const uint8_t head[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0,
		(uint8_t)((length - 14) >> 8), (uint8_t)(length - 14), 0, 1, 0, 0, 64, protocol, 0,
		0, 10, 0, 0, 1, 10, 0, 0, 2 };
	const uint8_t udp[] = { 4, 0, (uint8_t)(port >> 8), (uint8_t)port,
		(uint8_t)((length - 34) >> 8), (uint8_t)(length - 34), 0, 0 };

	memcpy(frame, head, sizeof(head));
	if (port != 0)
		memcpy(frame + sizeof(head), udp, sizeof(udp));
}

/** The form of a tunnel: the bytes between the outer headers and the inner frame, or label. */
static const struct tunnel {
	uint64_t offload;
	uint8_t protocol;
	uint16_t port;
	enum ibv_flow_spec_type spec; /* before that of a label */
	bool has_label;
	size_t nb;
	uint8_t bytes[12];
} tunnels[] = {
	{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN, 17, 4789, IBV_FLOW_SPEC_VXLAN_TUNNEL, false,
		8, { 8, 0, 0, 0, 0, 0, VNI } },
	{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE, 47, 0, IBV_FLOW_SPEC_GRE, false, 4,
		{ 0, 0, 0x65, 0x58 } },
	{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE, 47, 0, IBV_FLOW_SPEC_GRE, true,
		8, { 0, 0, 0x88, 0x47, 0x12, 0x34, 0x51, 64 } },
	{ MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP, 17, 6635, IBV_FLOW_SPEC_UDP,
		true, 4, { 0x12, 0x34, 0x51, 64 } },
};

static size_t
make_tunnel(const struct tunnel *tunnel, uint8_t *frame)
{
	const size_t head = 34 + (tunnel->port != 0 ? 8 : 0);
	const size_t length = head + tunnel->nb + FRAME;

	put_outer(frame, tunnel->protocol, tunnel->port, length);
	memcpy(frame + head, tunnel->bytes, tunnel->nb);
	rig_frame(frame + head + tunnel->nb, FRAME, 9);
	return length;
}

/** Make a rule for the inner headers, or for the MPLS label. */
static struct ibv_flow *
make_tunnel_rule(const struct tunnel *tunnel)
{
	uint8_t bytes[256] = { 0 };
	struct ibv_flow_attr *attr = (void *)bytes;
	uint8_t *at = bytes + sizeof(*attr);
	const struct ibv_flow_spec_tunnel vxlan = {
		.type = IBV_FLOW_SPEC_VXLAN_TUNNEL,
		.size = sizeof(vxlan),
		.val.tunnel_id = htobe32(VNI),
		.mask.tunnel_id = htobe32(0xffffff),
	};
	const struct ibv_flow_spec_gre gre = { .type = IBV_FLOW_SPEC_GRE, .size = sizeof(gre) };
	const struct ibv_flow_spec_tcp_udp udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof(udp) };
	const struct ibv_flow_spec_mpls label = {
		.type = IBV_FLOW_SPEC_MPLS,
		.size = sizeof(label),
		.val.label = htobe32(LABEL),
		.mask.label = UINT32_MAX,
	};
	const struct ibv_flow_spec_ipv4 inner = {
		.type = IBV_FLOW_SPEC_IPV4 | IBV_FLOW_SPEC_INNER,
		.size = sizeof(inner),
		.val.dst_ip = htobe32(0x0a000002),
		.mask.dst_ip = UINT32_MAX,
	};

	*attr = (struct ibv_flow_attr){ .port = 1, .num_of_specs = 2 };
#define PUT(spec) (memcpy(at, &(spec), sizeof(spec)), at += sizeof(spec))
	if (tunnel->spec == IBV_FLOW_SPEC_VXLAN_TUNNEL)
		PUT(vxlan);
	else if (tunnel->spec == IBV_FLOW_SPEC_GRE)
		PUT(gre);
	else
		PUT(udp);
	if (tunnel->has_label)
		PUT(label);
	else
		PUT(inner);
	attr->size = (uint16_t)(at - bytes);
	errno = 0;
	return ibv_create_flow(qp, attr);
}

int
try_tunnel(uint64_t offload)
{
	const struct tunnel *tunnel = tunnels;
	struct ibv_flow *flow;
	struct ibv_wc wc[2];
	size_t length;

	while (tunnel->offload != offload)
		tunnel++;
	flow = make_tunnel_rule(tunnel);
	if (flow == NULL)
		return errno;
	length = make_tunnel(tunnel, rig_buffer(0));
	rig_receive(qp, 1, ROOM);
	rig_send(qp, 0, length);
	rig_poll(cq, wc, 2);
	CHECK(rig_find(wc, 2, IBV_WC_RECV) != NULL, offload);
	CHECK(memcmp(rig_buffer(1), rig_buffer(0), length) == 0, offload);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	return 0;
}

/** libmlx5 only sees the completion, of a WQE that it has not posted. */
static void
post_raw(struct ibv_qp *own, const void *wqe, size_t nb_bytes)
{
	struct mlx5dv_qp ring = { 0 };
	struct mlx5dv_obj obj = { .qp = { .in = own, .out = &ring } };
	const uint16_t nb_wqebbs = (uint16_t)((nb_bytes + 63) / 64);
	uint64_t doorbell;

	rig_must(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "mlx5dv_init_obj");
	memcpy(ring.sq.buf, wqe, nb_bytes);
	__atomic_store_n(&ring.dbrec[MLX5_SND_DBR], htobe32(nb_wqebbs), __ATOMIC_RELEASE);
	memcpy(&doorbell, wqe, sizeof(doorbell));
	__atomic_store_n((uint64_t *)ring.bf.reg, doorbell, __ATOMIC_RELEASE);
}

/** Two frames in one hand-written WQE: control, Ethernet, two pointers. @return EIO after an error
 * CQE */
int
try_multi_packet(uint64_t is_enhanced)
{
	struct ibv_qp *own = rig_qp(cq, 0);
	struct {
		struct mlx5_wqe_ctrl_seg ctrl;
		uint8_t eth[16];
		struct mlx5_wqe_data_seg data[2];
	} wqe = {
		.ctrl = {
			.opmod_idx_opcode = htobe32(is_enhanced ? 0x29 : 1u << 24 | MLX5_OPCODE_TSO),
			.qpn_ds = htobe32(own->qp_num << 8 | 4),
			.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		},
	};
	struct ibv_wc wc;

	/* The old form has one length for both in place of the segment size. */
	if (!is_enhanced)
		memcpy(wqe.eth + 6, &(uint16_t){ htobe16(FRAME) }, 2);
	for (unsigned int i = 0; i < 2; i++) {
		rig_frame(rig_buffer(i), FRAME, (uint8_t)i);
		mlx5dv_set_data_seg(&wqe.data[i], FRAME, rig_mr->lkey, (uintptr_t)rig_buffer(i));
	}
	post_raw(own, &wqe, sizeof(wqe));
	rig_poll(cq, &wc, 1);
	rig_must(ibv_destroy_qp(own), "ibv_destroy_qp");
	return wc.status == IBV_WC_SUCCESS ? 0 : EIO;
}

/** UDP in a tunnel that no device knows: the WQE gives the places of its headers. */
int
try_swp(uint64_t unused)
{
	enum {
		OUTER_L3 = 14,
		OUTER_L4 = 34,
		INNER_L3 = OUTER_L4 + 16 + 14,
		INNER_L4 = INNER_L3 + 20,
		LENGTH = OUTER_L4 + 16 + FRAME,
		INLINED = 18, /* every device accepts this */
	};
	struct ibv_flow *flow = rig_take_all(qp);
	struct ibv_qp *own = rig_qp(cq, 0);
	struct {
		struct mlx5_wqe_ctrl_seg ctrl;
		uint8_t eth[32];
		struct mlx5_wqe_data_seg data;
	} wqe = {
		.ctrl = {
			.opmod_idx_opcode = htobe32(MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(own->qp_num << 8 | 4),
			.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		},
		/* Outer L4 and L3, inner L4 and L3; inner checksums; both L4 are UDP. */
		.eth = { OUTER_L4 / 2, OUTER_L3 / 2, INNER_L4 / 2, INNER_L3 / 2, 0x30, 0x22,
			[13] = INLINED },
	};
	uint8_t *frame = rig_buffer(0), *got = rig_buffer(1);
	struct ibv_wc wc[2];
	int ret;

	(void)unused;
	memset(frame, 0, LENGTH);
	put_outer(frame, 17, 9999, LENGTH);
	rig_frame(frame + OUTER_L4 + 16, FRAME, 3);
	memcpy(wqe.eth + 14, frame, INLINED);
	mlx5dv_set_data_seg(&wqe.data, LENGTH - INLINED, rig_mr->lkey, (uintptr_t)frame + INLINED);
	rig_receive(qp, 1, ROOM);
	post_raw(own, &wqe, sizeof(wqe));
	rig_poll(cq, wc, 2);
	ret = rig_sum(got + INNER_L3, 20) == 0xffff && rig_be16(got + INNER_L4 + 6) != 0 ? 0 : EIO;
	CHECK(ret == 0 || memcmp(frame, got, LENGTH) == 0, 0);
	rig_must(ibv_destroy_qp(own), "ibv_destroy_qp");
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	return ret;
}
