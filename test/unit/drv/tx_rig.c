/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of the send burst's tests. */
#include "tx_rig.h"

#include <stdlib.h>
#include <string.h>

#define ROOM (RTE_PKTMBUF_HEADROOM + 512)

struct tx_rig tx_rig;

static uint32_t generation;

static void
set_region(uintptr_t start, size_t size)
{
	tx_rig.region = (struct mdv_mr_range){
		.start = start,
		.size = size,
		.lkey_be = rte_cpu_to_be_32(RIG_LKEY),
	};
	tx_rig.txq.mr.last = (struct mdv_mr_hit){ start, size, tx_rig.region.lkey_be, 0 };
}

void
tx_rig_start(void)
{
	memset(&tx_rig, 0, sizeof(tx_rig));
	rig_port_init(&tx_rig.port);
	tx_rig.wqes = rig_alloc(TX_RIG_BBS * MLX5_SEND_WQE_BB);
	tx_rig.cqes = rig_cqes(TX_RIG_CQES);
	tx_rig.pool = rig_pool("tx", TX_RIG_MBUFS, ROOM);
	tx_rig.txq = (struct mdv_txq){
		.ring.wqes = tx_rig.wqes,
		.ring.mbufs =
			rig_alloc((TX_RIG_BBS + MDV_TX_RELEASE_AHEAD) * sizeof(struct rte_mbuf *)),
		.ring.dones = rig_alloc(RTE_CACHE_LINE_SIZE),
		.ring.dbrec = &tx_rig.dbrec[1],
		.ring.cqes = tx_rig.cqes,
		.ring.cq_dbrec = &tx_rig.cq_dbrec[0],
		.ring.qpn_ds = TX_RIG_SQN << 8,
		.ring.mask = TX_RIG_BBS - 1,
		.ring.request_min = 16,
		.ring.log2_cqes = rte_log2_u32(TX_RIG_CQES),
		.port = &tx_rig.port.port,
		.objs.qp = tx_rig.port.qp,
		.ready = true,
	};
	mdv_uar_regs[tx_rig.txq.ring.uar_slot] = &tx_rig.uar_reg;
	set_region(0, INTPTR_MAX);
	tx_rig.txq.mr.table_generation = &generation;
	mdv_txq_ring_clear(&tx_rig.txq);
}

void
tx_rig_request_min(uint8_t nb)
{
	tx_rig.txq.ring.request_min = nb;
	mdv_txq_ring_clear(&tx_rig.txq);
}

void
tx_rig_region(uintptr_t start, size_t size)
{
	set_region(start, size);
	for (unsigned int i = 0; i < MDV_MR_CACHE_SLOTS; i++)
		tx_rig.txq.mr.slots[i] = (struct mdv_mr_range){
			.size = INTPTR_MAX,
			.lkey_be = rte_cpu_to_be_32(TX_RIG_OTHER_LKEY),
		};
}

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(void *));
}

/** One that was freed twice in another's place makes the same number. */
static void
check_each_is_there_once(void)
{
	static void *mbufs[TX_RIG_MBUFS];
	unsigned int i;

	assert_int_equal(rte_mempool_avail_count(tx_rig.pool), TX_RIG_MBUFS);
	assert_int_equal(rte_mempool_get_bulk(tx_rig.pool, mbufs, TX_RIG_MBUFS), 0);
	qsort(mbufs, TX_RIG_MBUFS, sizeof(mbufs[0]), compare);
	for (i = 1; i < TX_RIG_MBUFS; i++)
		assert_ptr_not_equal(mbufs[i - 1], mbufs[i]);
	rte_mempool_put_bulk(tx_rig.pool, mbufs, TX_RIG_MBUFS);
}

void
tx_rig_stop(void)
{
	mdv_txq_ring_release(&tx_rig.txq, tx_rig.txq.pos.head);
	check_each_is_there_once();
	rte_mempool_free(tx_rig.pool);
	free(tx_rig.txq.ring.mbufs);
	free(tx_rig.txq.ring.dones);
	free(tx_rig.wqes);
	free(tx_rig.cqes);
}

/** 16-byte unit @p ds of the WQE at pc, wherever the ring wraps. */
static const uint8_t *
device_unit(uint32_t ds)
{
	return tx_rig.wqes + ((tx_rig.pc % TX_RIG_BBS * 4 + ds) % (TX_RIG_BBS * 4)) * 16;
}

static uint32_t
be32_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/** Check the control segment at pc, and find the end of the WQE. */
static void
device_end(const uint8_t *ctrl)
{
	if (ctrl[11] == 0x08)
		tx_rig.pending[tx_rig.nb_pending++] = tx_rig.pc;
	tx_rig.pc += ((ctrl[7] & 0x3f) + 3) / 4;
	tx_rig.ds = 0;
	/* The register gets the start of the last WQE posted (PRM, "Posting a Work Request"). */
	if (tx_rig.pc == (uint16_t)rte_be_to_cpu_32(tx_rig.dbrec[1]))
		assert_memory_equal(&tx_rig.uar_reg, ctrl, sizeof(tx_rig.uar_reg));
}

/** A segment with data: units of the ring, wherever it wraps. @return the number of units */
static uint32_t
device_inlined(uint32_t ds, struct tx_sent *sent)
{
	const uint32_t len = be32_at(device_unit(ds)) & 0x7fffffff, nb = (4 + len + 15) / 16;
	uint8_t units[1024];
	uint32_t i;

	assert_true(len != 0 && len <= tx_rig.txq.ring.inline_max && nb <= sizeof(units) / 16);
	for (i = 0; i < nb; i++)
		memcpy(units + i * 16, device_unit(ds + i), 16);
	memcpy(sent->bytes + sent->len, units + 4, len);
	sent->len += len;
	sent->inlined += len;
	return nb;
}

/** The data segment at unit @p ds of the WQE. @return its units */
static uint32_t
device_fetch(uint32_t ds, struct tx_sent *sent)
{
	const uint8_t *seg = device_unit(ds);
	uint32_t len = be32_at(seg);
	uintptr_t addr;

	if (len & 0x80000000)
		return device_inlined(ds, sent);
	assert_true(len != 0 && sent->len + len <= TX_RIG_FRAME_MAX);
	addr = (uintptr_t)be32_at(seg + 8) << 32 | be32_at(seg + 12);
	if (be32_at(seg + 4) != TX_RIG_OTHER_LKEY) {
		assert_int_equal(be32_at(seg + 4), RIG_LKEY);
		assert_true(addr - tx_rig.region.start < tx_rig.region.size);
	}
	memcpy(sent->bytes + sent->len, (void *)addr, len);
	sent->len += len;
	return 1;
}

/** The Ethernet segment. @return units of the WQE so far */
static uint32_t
device_head(const uint8_t *eth, struct tx_sent *sent)
{
	uint32_t inline_len = eth[12] << 8 | eth[13];

	sent->cs_flags = eth[4];
	memcpy(sent->swp, eth, sizeof(sent->swp));
	sent->swp_types = eth[5];
	if (inline_len & 0x8000) {
		assert_int_equal(inline_len, 0x8000);
		sent->inserted = true;
		sent->tci = eth[14] << 8 | eth[15];
	} else if (inline_len != 0) {
		const uint32_t nb = (inline_len - 2 + 15) / 16;
		uint32_t i;

		if (sent->mss == 0)
			assert_true(inline_len >= 14 &&
				(inline_len <= 18 || inline_len <= tx_rig.txq.ring.min_inline ||
					inline_len <= tx_rig.txq.ring.inline_max));
		assert_true(2 + nb < TX_RIG_BBS * 4);
		memcpy(sent->bytes, eth + 14, 2);
		for (i = 0; i < nb; i++)
			memcpy(sent->bytes + 2 + i * 16, device_unit(2 + i), 16);
		sent->len = sent->inlined = inline_len;
		return 2 + nb;
	}
	return 2;
}

/** Execute the next packet as hardware would. @return whether there was one. */
bool
tx_rig_send(struct tx_sent *sent)
{
	uint16_t posted = rte_be_to_cpu_32(tx_rig.dbrec[1]);
	const uint8_t *ctrl = device_unit(0), *eth = device_unit(1);
	uint32_t nb_ds = ctrl[7] & 0x3f, ds, opcode = ctrl[3];

	if (tx_rig.pc == posted)
		return false;
	memset(sent, 0, sizeof(*sent));
	assert_true(opcode == MLX5_OPCODE_SEND || opcode == MLX5_OPCODE_TSO ||
		opcode == MDV_HW_OPCODE_ENHANCED_MPSW);
	assert_int_equal(be32_at(ctrl), (uint32_t)tx_rig.pc << 8 | opcode);
	assert_int_equal(be32_at(ctrl + 4), TX_RIG_SQN << 8 | nb_ds);
	assert_true(ctrl[11] == 0x04 || ctrl[11] == 0x08);
	assert_int_equal(be32_at(ctrl + 12), 0);
	assert_true(nb_ds > 2 && nb_ds <= MDV_TX_DS_MAX);
	/* Only the opcode TSO has a segment size. */
	sent->mss = eth[6] << 8 | eth[7];
	assert_int_equal(opcode == MLX5_OPCODE_TSO, sent->mss != 0);
	ds = device_head(eth, sent);
	if (opcode == MDV_HW_OPCODE_ENHANCED_MPSW) {
		/* The Ethernet segment of many packets has neither tag nor header, and the WQE does
		 * not cross the ring's end, except within an inlined frame. */
		assert_true(!sent->inserted && sent->inlined == 0);
		assert_true(tx_rig.pc % TX_RIG_BBS + (nb_ds + 3) / 4 <= TX_RIG_BBS ||
			tx_rig.txq.ring.inline_max != 0);
		tx_rig.ds = RTE_MAX(tx_rig.ds, ds);
		tx_rig.ds += device_fetch(tx_rig.ds, sent);
		tx_rig.nb_together++;
		assert_true(tx_rig.ds <= nb_ds);
		if (tx_rig.ds == nb_ds)
			device_end(ctrl);
		return true;
	}
	while (ds < nb_ds)
		ds += device_fetch(ds, sent);
	assert_int_equal(ds, nb_ds);
	device_end(ctrl);
	return true;
}

struct mdv_hw_cqe *
tx_rig_cqe(uint8_t opcode, uint16_t wqe_counter)
{
	struct mdv_hw_cqe *cqe = &tx_rig.cqes[tx_rig.cq_pi % TX_RIG_CQES];

	assert_true(tx_rig.cq_pi - rte_be_to_cpu_32(tx_rig.cq_dbrec[0]) < TX_RIG_CQES);
	memset(cqe, 0, sizeof(*cqe));
	cqe->wqe_counter = rte_cpu_to_be_16(wqe_counter);
	cqe->op_own = opcode << MDV_HW_CQE_OPCODE_SHIFT | (tx_rig.cq_pi / TX_RIG_CQES & 1);
	tx_rig.cq_pi++;
	return cqe;
}

/** Write all requested CQEs. */
void
tx_rig_complete(void)
{
	unsigned int i;

	for (i = 0; i < tx_rig.nb_pending; i++)
		tx_rig_cqe(MLX5_CQE_REQ, tx_rig.pending[i]);
	tx_rig.nb_pending = 0;
}

/** A packet of @p nb_segs segments with random sizes and contents; single ones have @p len bytes.
 */
struct rte_mbuf *
tx_rig_packet(unsigned int nb_segs, uint32_t len)
{
	struct rte_mbuf *head = NULL;
	unsigned int i, k;

	for (i = 0; i < nb_segs; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(tx_rig.pool);
		uint32_t seg_len = nb_segs == 1 ? len : random() % 100;
		uint8_t *data;

		assert_non_null(mbuf);
		/* Segments may end inside a header, but the frame has a whole one. */
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

/** Build the frame that this packet must be on the wire, tags included. */
uint32_t
tx_rig_expected(const struct rte_mbuf *mbuf, bool tagged, uint8_t *bytes)
{
	uint8_t copy[TX_RIG_FRAME_MAX];
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

/** Build the frame on the wire, with the tag that the device inserts. */
void
tx_rig_check(const struct tx_sent *sent, const uint8_t *want, uint32_t len)
{
	uint8_t wire[TX_RIG_FRAME_MAX + 4];
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
