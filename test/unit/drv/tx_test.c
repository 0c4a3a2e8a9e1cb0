/* SPDX-License-Identifier: BSD-3-Clause */
/* The send burst on hand-made rings: a small device gathers the frames back and completes WQEs. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "tx.h"
#include "txq.h"

#define NB_BBS    64
#define NB_CQES   16
#define NB_MBUFS  511
#define ROOM      (RTE_PKTMBUF_HEADROOM + 512)
#define SQN       0x123456u
#define FRAME_MAX 9996
#define SEED      20240608

static struct {
	struct rig_port port;
	struct mdv_txq txq;
	uint8_t *wqes;
	struct mdv_hw_cqe *cqes;
	__be32 dbrec[2], cq_dbrec[2];
	uint64_t uar_reg;
	struct rte_mempool *pool;
	/* the device */
	uint16_t pc;
	uint32_t ds; /**< where it is in a WQE of many packets, 0: before one */
	uint32_t cq_pi;
	uint16_t pending[NB_BBS]; /**< WQEs that asked for a CQE and have none yet */
	unsigned int nb_pending;
	uint64_t nb_together; /**< packets that came in WQEs of many */
} rig;

static const unsigned int widths[] = { 0, 128, 256 };

/** A frame as the device put it together. */
struct sent {
	uint8_t bytes[FRAME_MAX];
	uint32_t len;
	uint8_t cs_flags;
	bool inserted;
	uint16_t tci;
	uint32_t inlined;
};

static uint32_t generation;

static void
rig_start(void)
{
	memset(&rig, 0, sizeof(rig));
	rig_port_init(&rig.port);
	rig.wqes = rig_alloc(NB_BBS * MLX5_SEND_WQE_BB);
	rig.cqes = rig_cqes(NB_CQES);
	rig.pool = rig_pool("tx", NB_MBUFS, ROOM);
	rig.txq = (struct mdv_txq){
		.wqes = rig.wqes,
		.mbufs = rig_alloc(NB_BBS * sizeof(struct rte_mbuf *)),
		.dones = rig_alloc(RTE_CACHE_LINE_SIZE),
		.dbrec = &rig.dbrec[1],
		.uar_reg = &rig.uar_reg,
		.cqes = rig.cqes,
		.cq_dbrec = &rig.cq_dbrec[0],
		.sqn = SQN,
		.mask = NB_BBS - 1,
		.request_min = 16,
		.log2_cqes = rte_log2_u32(NB_CQES),
		.port = &rig.port.port,
		.qp = rig.port.qp,
	};
	/* All memory is known by one key. */
	rig.txq.mr.last = (struct mdv_mr_range){
		.start = 0,
		.size = INTPTR_MAX,
		.lkey_be = rte_cpu_to_be_32(RIG_LKEY),
	};
	rig.txq.mr.table_generation = &generation;
	mdv_tx_reset(&rig.txq);
}

static void
rig_stop(void)
{
	mdv_tx_release(&rig.txq, rig.txq.head);
	assert_int_equal(rte_mempool_avail_count(rig.pool), NB_MBUFS);
	rte_mempool_free(rig.pool);
	free(rig.txq.mbufs);
	free(rig.txq.dones);
	free(rig.wqes);
	free(rig.cqes);
}

/** 16-byte unit @p ds of the WQE at pc, wherever the ring wraps. */
static const uint8_t *
device_unit(uint32_t ds)
{
	return rig.wqes + ((rig.pc % NB_BBS * 4 + ds) % (NB_BBS * 4)) * 16;
}

static uint32_t
be32_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/** The control segment at pc: what it must be, and where the WQE ends. */
static void
device_end(const uint8_t *ctrl)
{
	if (ctrl[11] == 0x08)
		rig.pending[rig.nb_pending++] = rig.pc;
	rig.pc += ((ctrl[7] & 0x3f) + 3) / 4;
	rig.ds = 0;
}

static void
device_fetch(const uint8_t *seg, struct sent *sent)
{
	uint32_t len = be32_at(seg);

	assert_true(len != 0 && sent->len + len <= FRAME_MAX);
	assert_int_equal(be32_at(seg + 4), RIG_LKEY);
	memcpy(sent->bytes + sent->len,
		(void *)((uintptr_t)be32_at(seg + 8) << 32 | be32_at(seg + 12)), len);
	sent->len += len;
}

/** The Ethernet segment. @return units of the WQE so far */
static uint32_t
device_head(const uint8_t *eth, struct sent *sent)
{
	uint32_t inline_len = eth[12] << 8 | eth[13];

	sent->cs_flags = eth[4];
	if (inline_len & 0x8000) {
		assert_int_equal(inline_len, 0x8000);
		sent->inserted = true;
		sent->tci = eth[14] << 8 | eth[15];
	} else if (inline_len != 0) {
		assert_true(inline_len >= 14 && inline_len <= 18);
		memcpy(sent->bytes, eth + 14, 2);
		memcpy(sent->bytes + 2, device_unit(2), inline_len - 2);
		sent->len = sent->inlined = inline_len;
		return 3;
	}
	return 2;
}

/** Execute the next packet as hardware would. @return whether there was one. */
static bool
device_send(struct sent *sent)
{
	uint16_t posted = rte_be_to_cpu_32(rig.dbrec[1]);
	const uint8_t *ctrl = device_unit(0), *eth = device_unit(1);
	uint32_t nb_ds = ctrl[7] & 0x3f, ds, opcode = ctrl[3];

	if (rig.pc == posted)
		return false;
	memset(sent, 0, sizeof(*sent));
	assert_true(opcode == MLX5_OPCODE_SEND || opcode == MDV_HW_OPCODE_ENHANCED_MPSW);
	assert_int_equal(be32_at(ctrl), (uint32_t)rig.pc << 8 | opcode);
	assert_int_equal(be32_at(ctrl + 4), SQN << 8 | nb_ds);
	assert_true(ctrl[11] == 0x04 || ctrl[11] == 0x08);
	assert_int_equal(be32_at(ctrl + 12), 0);
	assert_true(nb_ds > 2 && nb_ds <= MDV_TX_DS_MAX);
	ds = device_head(eth, sent);
	if (opcode == MDV_HW_OPCODE_ENHANCED_MPSW) {
		/* What speaks for all cannot name a tag or a header, and the ring's end is not
		 * within. */
		assert_true(!sent->inserted && sent->inlined == 0);
		assert_true(rig.pc % NB_BBS + (nb_ds + 3) / 4 <= NB_BBS);
		rig.ds = RTE_MAX(rig.ds, ds);
		device_fetch(device_unit(rig.ds++), sent);
		rig.nb_together++;
		if (rig.ds == nb_ds)
			device_end(ctrl);
		return true;
	}
	for (; ds < nb_ds; ds++)
		device_fetch(device_unit(ds), sent);
	device_end(ctrl);
	return true;
}

static struct mdv_hw_cqe *
device_cqe(uint8_t opcode, uint16_t wqe_counter)
{
	struct mdv_hw_cqe *cqe = &rig.cqes[rig.cq_pi % NB_CQES];

	assert_true(rig.cq_pi - rte_be_to_cpu_32(rig.cq_dbrec[0]) < NB_CQES);
	memset(cqe, 0, sizeof(*cqe));
	cqe->wqe_counter = rte_cpu_to_be_16(wqe_counter);
	cqe->op_own = opcode << MDV_HW_CQE_OPCODE_SHIFT | (rig.cq_pi / NB_CQES & 1);
	rig.cq_pi++;
	return cqe;
}

/** Write the CQEs that are due. */
static void
device_complete(void)
{
	unsigned int i;

	for (i = 0; i < rig.nb_pending; i++)
		device_cqe(MLX5_CQE_REQ, rig.pending[i]);
	rig.nb_pending = 0;
}

/** A packet of @p nb_segs segments with random sizes and contents; single ones have @p len bytes.
 */
static struct rte_mbuf *
packet(unsigned int nb_segs, uint32_t len)
{
	struct rte_mbuf *head = NULL;
	unsigned int i, k;

	for (i = 0; i < nb_segs; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(rig.pool);
		uint32_t seg_len = nb_segs == 1 ? len : random() % 100;
		uint8_t *data;

		assert_non_null(mbuf);
		/* Headers may be cut anywhere, but the frame has one. */
		if (i == nb_segs - 1 && head != NULL)
			seg_len += 20;
		data = (uint8_t *)rte_pktmbuf_append(mbuf, seg_len);
		for (k = 0; k < seg_len; k++)
			data[k] = random();
		if (head == NULL)
			head = mbuf;
		else
			assert_int_equal(rte_pktmbuf_chain(head, mbuf), 0);
	}
	return head;
}

/** What the frame of this packet must be on the wire, tags included. */
static uint32_t
expected(const struct rte_mbuf *mbuf, bool tagged, uint8_t *bytes)
{
	uint8_t copy[FRAME_MAX];
	const uint8_t *from = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, copy);

	if (!tagged) {
		memcpy(bytes, from, mbuf->pkt_len);
		return mbuf->pkt_len;
	}
	memcpy(bytes, from, 12);
	bytes[12] = 0x81;
	bytes[13] = 0x00;
	bytes[14] = mbuf->vlan_tci >> 8;
	bytes[15] = mbuf->vlan_tci & 0xff;
	memcpy(bytes + 16, from + 12, mbuf->pkt_len - 12);
	return mbuf->pkt_len + 4;
}

/** What the wire shows, with the tag that the device inserts. */
static void
check_frame(const struct sent *sent, const uint8_t *want, uint32_t len)
{
	uint8_t wire[FRAME_MAX + 4];
	uint32_t wire_len = sent->len;

	memcpy(wire, sent->bytes, sent->len);
	if (sent->inserted) {
		memmove(wire + 16, wire + 12, sent->len - 12);
		wire[12] = 0x81;
		wire[13] = 0x00;
		wire[14] = sent->tci >> 8;
		wire[15] = sent->tci & 0xff;
		wire_len += 4;
	}
	assert_int_equal(wire_len, len);
	assert_memory_equal(wire, want, len);
}

/** What a packet must be on the wire. */
struct wanted {
	uint8_t bytes[FRAME_MAX];
	uint32_t len;
	uint8_t cs_flags;
};

/** A random packet as the instance takes it. */
static struct rte_mbuf *
random_packet(unsigned int opts, struct wanted *want)
{
	const unsigned int nb_segs =
		(opts & MDV_TX_MULTI) && random() % 4 == 0 ? random() % 12 + 1 : 1;
	const bool tagged = (opts & MDV_TX_VLAN) && random() % 8 == 0;
	struct rte_mbuf *pkt = packet(nb_segs, 14 + random() % 100);

	pkt->vlan_tci = random();
	if (tagged)
		pkt->ol_flags |= RTE_MBUF_F_TX_VLAN;
	if (random() % 8 < 5)
		pkt->ol_flags |=
			RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM;
	want->len = expected(pkt, tagged, want->bytes);
	want->cs_flags = (opts & MDV_TX_CSUM) && pkt->ol_flags & RTE_MBUF_F_TX_IP_CKSUM ? 0xc0 : 0;
	return pkt;
}

/** Send random packets; the device is slow now and then. */
static void
run(eth_tx_burst_t burst, unsigned int opts)
{
	static struct wanted want[40];
	static struct sent sent;
	uint64_t nb_sent = 0;
	unsigned int round, i;

	for (round = 0; round < 200; round++) {
		unsigned int nb = 1 + random() % RTE_DIM(want), done = 0;
		struct rte_mbuf *pkts[RTE_DIM(want)];

		for (i = 0; i < nb; i++)
			pkts[i] = random_packet(opts, &want[i]);
		while (done < nb) {
			uint16_t n = burst(&rig.txq, pkts + done, nb - done);

			for (i = done; i < done + n; i++) {
				assert_true(device_send(&sent));
				check_frame(&sent, want[i].bytes, want[i].len);
				assert_int_equal(sent.cs_flags, want[i].cs_flags);
				assert_int_equal(sent.inlined != 0, (opts & MDV_TX_INLINE_L2) != 0);
			}
			assert_false(device_send(&sent));
			if (n == 0 || random() % 2)
				device_complete();
			done += n;
		}
		nb_sent += nb;
	}
	assert_int_equal(rig.txq.count.packets, nb_sent);
	assert_int_equal(rig.txq.count.errors, 0);
}

/* Every instance; the ring wraps inside WQEs, the pool is whole afterwards. */
static void
every_instance_sends_every_frame(void **state)
{
	unsigned int opts, w;

	(void)state;
	for (opts = 0; opts < MDV_TX_NB_OPTS; opts++) {
		for (w = 0; w < RTE_DIM(widths); w++) {
			srandom(SEED);
			rig_start();
			run(mdv_tx_select(opts, widths[w]), opts);
			/* One in eight has a tag, one in four is chained: most are together. */
			if (opts & MDV_TX_INLINE_L2 || w == 0)
				assert_int_equal(rig.nb_together, 0);
			else
				assert_true(rig.nb_together > rig.txq.count.packets / 4);
			rig_stop();
		}
	}
}

static void
the_doorbell_names_the_last_wqe(void **state)
{
	struct rte_mbuf *pkts[3] = { NULL };
	unsigned int i;

	(void)state;
	rig_start();
	for (i = 0; i < 3; i++)
		pkts[i] = packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts, 3), 3);
	assert_int_equal(rte_be_to_cpu_32(rig.dbrec[1]), 3);
	assert_int_equal(rig.dbrec[0], 0);
	assert_memory_equal(&rig.uar_reg, rig.wqes + 2 * MLX5_SEND_WQE_BB, 8);
	/* Nothing to send: nothing rung. */
	rig.uar_reg = 0;
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts, 0), 0);
	assert_int_equal(rig.uar_reg, 0);
	rig_stop();
}

static void
a_full_ring_takes_no_more_and_drains(void **state)
{
	static struct sent sent;
	struct rte_mbuf *pkts[NB_BBS + 8];
	unsigned int i, k;

	(void)state;
	for (k = 0; k < 4; k++) {
		eth_tx_burst_t burst = mdv_tx_select(k & 1 ? MDV_TX_FAST_FREE : 0, k / 2 * 256);

		rig_start();
		for (i = 0; i < NB_BBS + 8; i++)
			pkts[i] = packet(1, 60);
		assert_int_equal(burst(&rig.txq, pkts, NB_BBS + 8), NB_BBS);
		assert_int_equal(burst(&rig.txq, pkts + NB_BBS, 8), 0);
		assert_int_equal(
			mdv_txq_descriptor_status(&rig.txq, NB_BBS - 1), RTE_ETH_TX_DESC_FULL);
		while (device_send(&sent))
			;
		device_complete();
		assert_int_equal(burst(&rig.txq, pkts + NB_BBS, 8), 8);
		assert_int_equal(rte_mempool_in_use_count(rig.pool), 8);
		assert_int_equal(mdv_txq_descriptor_status(&rig.txq, 7), RTE_ETH_TX_DESC_FULL);
		assert_int_equal(mdv_txq_descriptor_status(&rig.txq, 8), RTE_ETH_TX_DESC_DONE);
		assert_int_equal(mdv_txq_descriptor_status(&rig.txq, NB_BBS), -EINVAL);
		rig_stop();
	}
}

/* Bursts of one: a completion for each request_min WQEBBs, everything before it is freed. */
static void
completions_are_requested_in_time(void **state)
{
	static struct sent sent;
	unsigned int i, nb_requests = 0;

	(void)state;
	rig_start();
	for (i = 0; i < 3 * 65536 / 2; i++) {
		struct rte_mbuf *pkt = packet(1, 14);

		assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, &pkt, 1), 1);
		assert_true(device_send(&sent));
		nb_requests += rig.nb_pending;
		device_complete();
		assert_true(rte_mempool_in_use_count(rig.pool) <= 17);
	}
	assert_int_equal(nb_requests, i / 16);
	rig_stop();
}

static void
what_cannot_be_sent_is_freed_and_counted(void **state)
{
	static struct sent sent;
	eth_tx_burst_t burst;
	struct rte_mbuf *pkts[5], *long_chain;
	unsigned int inlining, i;

	(void)state;
	for (inlining = 0; inlining < 2; inlining++) {
		burst = mdv_tx_select(MDV_TX_MULTI | (inlining ? MDV_TX_INLINE_L2 : 0), 256);
		rig_start();
		pkts[0] = packet(1, 0);
		pkts[1] = packet(1, 13);
		long_chain = packet(1, 20);
		for (i = 0; i < MDV_TX_SEGS_MAX + 1; i++)
			assert_int_equal(rte_pktmbuf_chain(long_chain, packet(1, 3)), 0);
		pkts[2] = long_chain;
		pkts[3] = packet(1, 60);
		pkts[4] = packet(1, 60);
		pkts[4]->data_len = FRAME_MAX + 1;
		pkts[4]->pkt_len = FRAME_MAX + 1;
		assert_int_equal(burst(&rig.txq, pkts, 5), 5);
		assert_int_equal(rig.txq.count.errors, 4);
		assert_int_equal(rig.txq.count.packets, 1);
		assert_int_equal(rig.txq.count.bytes, 60);
		assert_true(device_send(&sent));
		assert_int_equal(sent.len, 60);
		assert_false(device_send(&sent));
		assert_int_equal(rte_mempool_in_use_count(rig.pool), 1);
		rig_stop();
	}
}

static void
a_chain_of_the_longest_length_is_sent(void **state)
{
	static struct sent sent;
	static uint8_t want[FRAME_MAX];
	struct rte_mbuf *pkt;
	unsigned int i, len;

	(void)state;
	rig_start();
	pkt = packet(1, 20);
	for (i = 1; i < MDV_TX_SEGS_MAX; i++)
		assert_int_equal(rte_pktmbuf_chain(pkt, packet(1, 5)), 0);
	len = expected(pkt, false, want);
	assert_int_equal(mdv_tx_select(MDV_TX_MULTI | MDV_TX_INLINE_L2, 0)(&rig.txq, &pkt, 1), 1);
	assert_true(device_send(&sent));
	check_frame(&sent, want, len);
	rig_stop();
}

static void
unknown_memory_is_refused(void **state)
{
	struct mdv_mr_table *table;
	struct rte_mbuf_ext_shared_info shinfo = { 0 };
	uint8_t *unknown = rig_alloc(4096);
	struct rte_mbuf *pkts[2];

	(void)state;
	rig_start();
	table = mdv_mr_create(&rig.port.port.device);
	mdv_mr_cache_init(&rig.txq.mr, table);
	pkts[0] = rte_pktmbuf_alloc(rig.pool);
	rte_mbuf_ext_refcnt_set(&shinfo, 2);
	rte_pktmbuf_attach_extbuf(pkts[0], unknown, (uintptr_t)unknown, 4096, &shinfo);
	pkts[0]->data_len = pkts[0]->pkt_len = 64;
	pkts[1] = packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts, 2), 2);
	assert_int_equal(rig.txq.count.errors, 1);
	assert_int_equal(rig.txq.count.packets, 1);
	assert_int_equal(rig.txq.pc, 1);
	rig_stop();
	mdv_mr_destroy(table);
	free(unknown);
}

static void
device_fail(uint8_t syndrome, uint16_t wqe_counter)
{
	((struct mlx5_err_cqe *)device_cqe(MLX5_CQE_REQ_ERR, wqe_counter))->syndrome = syndrome;
}

static void
a_stopped_queue_is_started_anew(void **state)
{
	static struct sent sent;
	struct rte_mbuf *pkts[24];
	unsigned int i;

	(void)state;
	rig_start();
	for (i = 0; i < 24; i++)
		pkts[i] = packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts, 24), 24);
	/* The WQE in slot 20 fails, after a good completion; those behind it are flushed. */
	device_cqe(MLX5_CQE_REQ, 15);
	device_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 20);
	device_fail(MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 23);
	pkts[0] = packet(1, 61);
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts, 1), 1);
	assert_int_equal(rig.txq.count.errors, 4);
	assert_int_equal(rig.txq.count.packets, 21);
	assert_int_equal(rig.txq.count.bytes, 20 * 60 + 61);
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 1);
	assert_int_equal(rig_verbs.nb_qp_states, 4);
	assert_int_equal(rig_verbs.qp_states[0], IBV_QPS_RESET);
	assert_int_equal(rig_verbs.qp_states[1], IBV_QPS_INIT);
	assert_int_equal(rig_verbs.qp_states[2], IBV_QPS_RTR);
	assert_int_equal(rig_verbs.qp_states[3], IBV_QPS_RTS);
	assert_int_equal(rte_be_to_cpu_32(rig.cq_dbrec[0]), 3);
	rig.pc = 0;
	assert_true(device_send(&sent));
	assert_int_equal(sent.len, 61);
	rig_stop();
}

/* The packets of WQEs before the failed one are sent, however many a WQE has. */
static void
a_wqe_of_many_fails(void **state)
{
	static struct sent sent;
	struct rte_mbuf *pkts[8];
	unsigned int i, k;

	(void)state;
	for (k = 1; k < RTE_DIM(widths); k++) {
		eth_tx_burst_t burst = mdv_tx_select(0, widths[k]);

		rig_start();
		/* WQEs at 0, 3 and 6, each of 2 + 8 units. */
		for (i = 0; i < 3 * RTE_DIM(pkts); i++) {
			pkts[i % 8] = packet(1, 60);
			if (i % 8 == 7)
				assert_int_equal(burst(&rig.txq, pkts, 8), 8);
		}
		assert_int_equal(rig.txq.pc, 9);
		device_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 3);
		pkts[0] = packet(1, 61);
		assert_int_equal(burst(&rig.txq, pkts, 1), 1);
		assert_int_equal(rig.txq.count.errors, 16);
		assert_int_equal(rig.txq.count.packets, 9);
		assert_int_equal(rig.txq.count.bytes, 8 * 60 + 61);
		assert_int_equal(rte_mempool_in_use_count(rig.pool), 1);
		rig.pc = 0;
		rig.ds = 0;
		assert_true(device_send(&sent));
		assert_int_equal(sent.len, 61);
		rig_stop();
	}
}

static void
a_queue_that_cannot_be_reset_sends_no_more(void **state)
{
	struct rte_mbuf *pkts[24];
	unsigned int i;

	(void)state;
	rig_start();
	for (i = 0; i < 24; i++)
		pkts[i] = packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts, 23), 23);
	rig_verbs.modify_result = EIO;
	device_fail(MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, 5);
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts + 23, 1), 0);
	assert_int_equal(mdv_tx_select(0, 0)(&rig.txq, pkts + 23, 1), 0);
	/* What the device may still read stays until the queue is stopped. */
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 23 - 5 + 1);
	rte_pktmbuf_free(pkts[23]);
	rig_stop();
}

/* clang-format off */
#define IP  RTE_MBUF_F_TX_IP_CKSUM
#define UDP RTE_MBUF_F_TX_UDP_CKSUM
#define TCP RTE_MBUF_F_TX_TCP_CKSUM
#define OIP RTE_MBUF_F_TX_OUTER_IP_CKSUM
#define TUN RTE_MBUF_F_TX_TUNNEL_VXLAN
static const struct {
	uint64_t flags;
	uint8_t cs_flags;
} csums[] = {
	{ 0, 0 },
	{ RTE_MBUF_F_TX_IPV4, 0 },
	{ IP, 0x40 },
	{ TCP, 0x80 },
	{ UDP, 0x80 },
	{ RTE_MBUF_F_TX_SCTP_CKSUM, 0 },
	{ IP | TCP, 0xc0 },
	{ IP | UDP | RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IPV4, 0xc0 },
	{ TUN | OIP, 0x40 },
	{ TUN | OIP | IP | UDP, 0x70 },
	{ TUN | IP | TCP, 0x30 },
	{ RTE_MBUF_F_TX_TUNNEL_GRE | TCP, 0x20 },
};
/* clang-format on */

static void
checksum_flags(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(csums); i++)
		assert_int_equal(
			mdv_tx_csums[mdv_tx_csum_index(csums[i].flags)], csums[i].cs_flags);
}

static void
instances_are_told_apart(void **state)
{
	struct rte_eth_burst_mode mode = { 0 };

	(void)state;
	assert_false(mdv_tx_select_describe(rte_eth_pkt_burst_dummy, &mode));
	assert_true(
		mdv_tx_select_describe(mdv_tx_select(MDV_TX_MULTI | MDV_TX_FAST_FREE, 0), &mode));
	assert_string_equal(mode.info, "Scalar, multi-segment, fast free");
	/* Who wants headers inlined does not take many packets a WQE. */
	assert_true(mdv_tx_select_describe(mdv_tx_select(MDV_TX_INLINE_L2, 512), &mode));
	assert_string_equal(mode.info, "Scalar, inline L2");
#ifdef RTE_ARCH_X86
	assert_true(mdv_tx_select_describe(mdv_tx_select(MDV_TX_CSUM, 128), &mode));
	assert_string_equal(mode.info, "Vector SSE, csum");
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instance_sends_every_frame),
		cmocka_unit_test(the_doorbell_names_the_last_wqe),
		cmocka_unit_test(a_full_ring_takes_no_more_and_drains),
		cmocka_unit_test(completions_are_requested_in_time),
		cmocka_unit_test(what_cannot_be_sent_is_freed_and_counted),
		cmocka_unit_test(a_chain_of_the_longest_length_is_sent),
		cmocka_unit_test(unknown_memory_is_refused),
		cmocka_unit_test(a_stopped_queue_is_started_anew),
		cmocka_unit_test(a_wqe_of_many_fails),
		cmocka_unit_test(a_queue_that_cannot_be_reset_sends_no_more),
		cmocka_unit_test(checksum_flags),
		cmocka_unit_test(instances_are_told_apart),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
