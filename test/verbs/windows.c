/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of both types: what they open and for whom, binds that fail, invalidation from
 * either side; and keys of regions that are registered again. */
#include <errno.h>
#include <string.h>

#include "pair.h"

#define BYTES  64
#define WINDOW 256 /* bytes, from the second half of buffer 8 on */

static struct ibv_cq *cq;
static struct ibv_mr *region;
/** One asks, the other has the windows. */
static struct ibv_qp *asker, *owner;

static void
connect(void)
{
	asker = pair_qp(IBV_QPT_RC, cq, NULL);
	owner = pair_qp(IBV_QPT_RC, cq, NULL);
	pair_connect(asker, owner);
}

static void
disconnect(void)
{
	struct ibv_wc wc;

	rig_must(ibv_destroy_qp(asker), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(owner), "ibv_destroy_qp");
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	while (pair_has_event()) {
		struct ibv_async_event event;

		rig_must(ibv_get_async_event(rig_context, &event), "ibv_get_async_event");
		ibv_ack_async_event(&event);
	}
}

static uint64_t
window_address(void)
{
	return (uintptr_t)rig_buffer(8) + RIG_BUFFER_BYTES / 2;
}

static struct ibv_mw *
alloc(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(rig_pd, type);

	if (mw == NULL)
		rig_die("ibv_alloc_mw");
	return mw;
}

/** By a WR of the owner, as windows of type 2 are. @return how it ends */
static enum ibv_wc_status
bind_2(struct ibv_mw *mw, uint32_t key, struct ibv_mr *mr, uint64_t address, uint64_t length,
	unsigned int access)
{
	struct ibv_send_wr wr = pair_wr(IBV_WR_BIND_MW, 1, NULL);
	struct ibv_wc wc;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ mr, address, length, access };
	pair_post(owner, &wr);
	rig_poll(cq, &wc, 1);
	if (wc.status == IBV_WC_SUCCESS) {
		CHECK(wc.opcode == IBV_WC_BIND_MW, wc.opcode);
		mw->rkey = key;
	}
	return wc.status;
}

static void
bind_1(struct ibv_mw *mw, uint64_t length)
{
	struct ibv_mw_bind bind = {
		.wr_id = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { region, window_address(), length,
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ },
	};

	rig_must(ibv_bind_mw(owner, mw, &bind), "ibv_bind_mw");
	CHECK(pair_poll(cq, IBV_WC_SUCCESS).opcode == IBV_WC_BIND_MW, 0);
}

/** @return how a write of the asker ends. */
static enum ibv_wc_status
write_to(uint32_t key, uint64_t address, uint8_t content)
{
	struct ibv_sge sge = rig_sge(0, 0, BYTES);
	struct ibv_send_wr wr = pair_wr(IBV_WR_RDMA_WRITE, 2, &sge);
	struct ibv_wc wc;

	*rig_buffer(0) = content;
	wr.wr.rdma.remote_addr = address;
	wr.wr.rdma.rkey = key;
	pair_post(asker, &wr);
	rig_poll(cq, &wc, 1);
	return wc.status;
}

/** The last byte may be written, and none behind it. */
static void
range_is_open(uint32_t key, uint8_t content)
{
	CHECK(write_to(key, window_address() + WINDOW - BYTES, content) == IBV_WC_SUCCESS, key);
	CHECK(rig_buffer(8)[RIG_BUFFER_BYTES / 2 + WINDOW - BYTES] == content, content);
}

static void
is_refused(uint32_t key, uint64_t address)
{
	CHECK(write_to(key, address, 99) == IBV_WC_REM_ACCESS_ERR, key);
	disconnect();
	connect();
}

static void
type_1(void)
{
	struct ibv_mw *mw = alloc(IBV_MW_TYPE_1);
	uint32_t old;

	connect();
	is_refused(mw->rkey, window_address());
	bind_1(mw, WINDOW);
	range_is_open(mw->rkey, 11);
	old = mw->rkey;
	is_refused(mw->rkey, window_address() + WINDOW - BYTES + 1);
	/* Any queue pair of the PD may use it, and it may be bound again at once. */
	range_is_open(mw->rkey, 12);
	is_refused(mw->rkey, window_address() - 1);
	bind_1(mw, WINDOW);
	CHECK(mw->rkey != old, old);
	range_is_open(mw->rkey, 13);
	is_refused(old, window_address());
	bind_1(mw, 0);
	is_refused(mw->rkey, window_address());
	disconnect();
	rig_must(ibv_dealloc_mw(mw), "ibv_dealloc_mw");
}

static void
invalidate_by_owner(uint32_t key, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = pair_wr(IBV_WR_LOCAL_INV, 3, NULL);
	struct ibv_wc wc;

	wr.invalidate_rkey = key;
	pair_post(owner, &wr);
	wc = pair_poll(cq, status);
	CHECK(status != IBV_WC_SUCCESS || wc.opcode == IBV_WC_LOCAL_INV, wc.opcode);
}

/** @return the owner's completion, if it gets one. */
static struct ibv_wc
invalidate_by_asker(uint32_t key, enum ibv_wc_status status)
{
	struct ibv_sge from = rig_sge(0, 0, BYTES), to = rig_sge(2, 0, BYTES);
	struct ibv_send_wr wr = pair_wr(IBV_WR_SEND_WITH_INV, 4, &from);
	struct ibv_wc wc, other = { 0 };

	wr.invalidate_rkey = key;
	pair_receive(owner, 5, &to);
	pair_post(asker, &wr);
	for (unsigned int i = 0; i < 2; i++) {
		rig_poll(cq, &wc, 1);
		if (wc.wr_id == 4)
			CHECK(wc.status == status, wc.status);
		else
			other = wc;
	}
	return other;
}

static void
type_2(void)
{
	const unsigned int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
	struct ibv_wc wc;
	uint32_t key = ibv_inc_rkey(mw->rkey);

	connect();
	CHECK(bind_2(mw, key, region, window_address(), WINDOW, access) == IBV_WC_SUCCESS, 0);
	range_is_open(key, 21);
	/* It is bound already. */
	CHECK(bind_2(mw, ibv_inc_rkey(key), region, window_address(), WINDOW, access) ==
			IBV_WC_MW_BIND_ERR,
		0);
	disconnect();
	rig_must(ibv_dealloc_mw(mw), "ibv_dealloc_mw");

	mw = alloc(IBV_MW_TYPE_2);
	connect();
	CHECK(bind_2(mw, ibv_inc_rkey(mw->rkey), region, window_address(), WINDOW, access) ==
			IBV_WC_SUCCESS,
		0);
	invalidate_by_owner(mw->rkey, IBV_WC_SUCCESS);
	CHECK(bind_2(mw, ibv_inc_rkey(mw->rkey), region, window_address(), WINDOW, access) ==
			IBV_WC_SUCCESS,
		0);
	range_is_open(mw->rkey, 22);
	wc = invalidate_by_asker(mw->rkey, IBV_WC_SUCCESS);
	CHECK(wc.wr_id == 5 && (wc.wc_flags & IBV_WC_WITH_INV) && wc.invalidated_rkey == mw->rkey,
		wc.invalidated_rkey);
	is_refused(mw->rkey, window_address());
	/* What is not bound cannot be invalidated. */
	invalidate_by_owner(mw->rkey, IBV_WC_MW_BIND_ERR);
	disconnect();
	connect();
	wc = invalidate_by_asker(mw->rkey, IBV_WC_REM_ACCESS_ERR);
	disconnect();
	connect();
	wc = invalidate_by_asker(region->rkey, IBV_WC_REM_ACCESS_ERR);
	disconnect();
	rig_must(ibv_dealloc_mw(mw), "ibv_dealloc_mw");
}

/** 2B: a window is for the queue pair by which it was bound. */
static void
other_queue_pairs(void)
{
	struct ibv_qp *first_owner, *first_asker;
	struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);

	connect();
	CHECK(bind_2(mw, ibv_inc_rkey(mw->rkey), region, window_address(), WINDOW,
		      IBV_ACCESS_REMOTE_WRITE) == IBV_WC_SUCCESS,
		0);
	first_owner = owner;
	first_asker = asker;
	connect();
	CHECK(write_to(mw->rkey, window_address(), 1) == IBV_WC_REM_ACCESS_ERR, 0);
	disconnect();
	connect();
	invalidate_by_owner(mw->rkey, IBV_WC_MW_BIND_ERR);
	disconnect();
	owner = first_owner;
	asker = first_asker;
	range_is_open(mw->rkey, 31);
	disconnect();
	rig_must(ibv_dealloc_mw(mw), "ibv_dealloc_mw");
}

/** What it opened goes with its queue pair, and is not the next one's of that number. */
static void
outlives_its_queue_pair(void)
{
	struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
	uint32_t number;

	connect();
	number = owner->qp_num;
	CHECK(bind_2(mw, ibv_inc_rkey(mw->rkey), region, window_address(), WINDOW,
		      IBV_ACCESS_REMOTE_WRITE) == IBV_WC_SUCCESS,
		0);
	range_is_open(mw->rkey, 33);
	disconnect();
	connect();
	CHECK(owner->qp_num == number, owner->qp_num);
	is_refused(mw->rkey, window_address());
	CHECK(bind_2(mw, ibv_inc_rkey(mw->rkey), region, window_address(), WINDOW,
		      IBV_ACCESS_REMOTE_WRITE) == IBV_WC_SUCCESS,
		0);
	range_is_open(mw->rkey, 34);
	disconnect();
	rig_must(ibv_dealloc_mw(mw), "ibv_dealloc_mw");
}

static void
bad_binds(void)
{
	struct ibv_mr *not_for_windows = pair_mr(PAIR_ACCESS);
	struct ibv_mr *read_only = pair_mr(IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_READ);
	struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
	const uint64_t end = (uintptr_t)rig_buffer(0) + (uint64_t)RIG_NB_BUFFERS * RIG_BUFFER_BYTES;
	const struct {
		struct ibv_mr *mr;
		uint64_t address;
		unsigned int access;
	} rows[] = {
		{ not_for_windows, window_address(), IBV_ACCESS_REMOTE_READ },
		{ read_only, window_address(), IBV_ACCESS_REMOTE_WRITE },
		{ read_only, window_address(), IBV_ACCESS_REMOTE_ATOMIC },
		{ region, end - WINDOW + 1, IBV_ACCESS_REMOTE_READ },
		{ region, (uintptr_t)rig_buffer(0) - 1, IBV_ACCESS_REMOTE_READ },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		connect();
		CHECK(bind_2(mw, ibv_inc_rkey(mw->rkey), rows[i].mr, rows[i].address, WINDOW,
			      rows[i].access) == IBV_WC_MW_BIND_ERR,
			i);
		CHECK(pair_state(owner) == IBV_QPS_ERR, i);
		disconnect();
	}
	rig_must(ibv_dealloc_mw(mw), "ibv_dealloc_mw");
	rig_must(ibv_dereg_mr(not_for_windows), "ibv_dereg_mr");
	rig_must(ibv_dereg_mr(read_only), "ibv_dereg_mr");
}

/** A window without its region opens nothing; and its key is no lkey. */
static void
without_region(void)
{
	struct ibv_mr *mr = pair_mr(PAIR_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	connect();
	CHECK(bind_2(mw, ibv_inc_rkey(mw->rkey), mr, window_address(), WINDOW,
		      IBV_ACCESS_REMOTE_WRITE) == IBV_WC_SUCCESS,
		0);
	range_is_open(mw->rkey, 41);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	CHECK(write_to(mw->rkey, window_address(), 1) == IBV_WC_REM_ACCESS_ERR, 0);
	disconnect();
	connect();
	sge = (struct ibv_sge){ window_address(), BYTES, mw->rkey };
	wr = pair_wr(IBV_WR_SEND, 6, &sge);
	pair_post(asker, &wr);
	pair_poll(cq, IBV_WC_LOC_PROT_ERR);
	disconnect();
	rig_must(ibv_dealloc_mw(mw), "ibv_dealloc_mw");
}

/** Linux mlx5_ib_rereg_user_mr(): a new key only where the kernel needs another. */
static void
registered_again(void)
{
	struct ibv_mr *mr =
		ibv_reg_mr(rig_pd, rig_buffer(4), 6 * RIG_BUFFER_BYTES, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_pd *pd = ibv_alloc_pd(rig_context);
	uint32_t key;

	if (mr == NULL || pd == NULL)
		rig_die("ibv_reg_mr");
	key = mr->rkey;
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			 PAIR_ACCESS & ~IBV_ACCESS_REMOTE_ATOMIC),
		"ibv_rereg_mr");
	CHECK(mr->rkey == key && mr->lkey == key, mr->rkey);
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), "ibv_rereg_mr");
	CHECK(mr->rkey == key, mr->rkey);
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig_buffer(20),
			 8 * RIG_BUFFER_BYTES, 0),
		"ibv_rereg_mr");
	CHECK(mr->rkey == key, mr->rkey);
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig_buffer(20),
			 9 * RIG_BUFFER_BYTES, 0),
		"ibv_rereg_mr");
	CHECK(mr->rkey != key, mr->rkey);
	key = mr->rkey;
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, PAIR_ACCESS),
		"ibv_rereg_mr");
	CHECK(mr->rkey == key, mr->rkey);
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			 PAIR_ACCESS | IBV_ACCESS_MW_BIND),
		"ibv_rereg_mr");
	CHECK(mr->rkey != key, mr->rkey);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
}

int
main(void)
{
	rig_open();
	cq = pair_cq();
	region = pair_mr(PAIR_ACCESS | IBV_ACCESS_MW_BIND);
	type_1();
	type_2();
	other_queue_pairs();
	outlives_its_queue_pair();
	bad_binds();
	without_region();
	registered_again();
	rig_must(ibv_dereg_mr(region), "ibv_dereg_mr");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
