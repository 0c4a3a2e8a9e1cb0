/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Connected queue pairs between the first and the last device: sends, writes, reads and atomics of
 * sizes at random, both ways at once, whose contents, order and number are all checked. What is
 * lost on the way may cost time, and nothing else.
 *
 *     transport [QUEUE_PAIRS [MESSAGES_EACH_WAY [LONGEST]]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rig.h"

#define DEPTH    8 /* work requests under way, of one side */
#define NB_POLL  32
#define PSN      0xfffff0 /* wraps soon */
#define TIMEOUT  14       /* 67 ms: what programs set */
#define AREA(n)  ((size_t)(n)*DEPTH * longest)
#define GID      1 /* RoCE v2 */
#define HASH_MUL 0x9e3779b97f4a7c15

enum areas {
	SENT,
	RECEIVED,
	WRITTEN, /* by the peer */
	READ,    /* from the peer's SENT... */
	SOURCE,  /* ... of this one, which never changes */
	NB_AREAS,
};

enum kind {
	KIND_SEND,
	KIND_SEND_IMM,
	KIND_WRITE_IMM,
	KIND_READ,
	KIND_ADD,
	NB_KINDS,
};

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	union ibv_gid gid;
};

struct end {
	struct side *side;
	struct end *peer;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *memory;
	uint64_t *counter; /* the peer adds to it; the result of adding to the peer's behind it */
	uint64_t number;
	uint32_t nb_posted, nb_done; /* of own work requests */
	uint32_t expected;           /* the peer's next one that takes a receive */
	uint32_t nb_added;
};

static struct side sides[2];
static struct end *ends;
static uint64_t nb_of_kind[NB_KINDS];
static uint32_t nb_pairs = 4, nb_messages = 2000, longest = 10000;

static uint64_t
hash(uint64_t key)
{
	key = (key + 1) * HASH_MUL;
	key ^= key >> 29;
	key *= 0xbf58476d1ce4e5b9;
	return key ^ key >> 32;
}

/** What a work request is, which both ends know. */
static uint64_t
key_of(const struct end *end, uint32_t number)
{
	return hash(end->number << 32 | number);
}

static enum kind
kind_of(const struct end *end, uint32_t number)
{
	return (enum kind)(key_of(end, number) % NB_KINDS);
}

static uint32_t
length_of(const struct end *end, uint32_t number)
{
	const uint64_t key = key_of(end, number) >> 8;

	/* Short ones mostly: they share packets of a round. */
	return (uint32_t)(key >> 8) % (key % 4 != 0 ? 64 : longest) + 1;
}

static void
fill(uint8_t *bytes, uint32_t length, uint64_t key)
{
	for (uint32_t i = 0; i < length; i++) {
		if (i % 8 == 0)
			key = key * HASH_MUL + 1;
		bytes[i] = (uint8_t)(key >> (8 * (i % 8)));
	}
}

static void
check_bytes(const struct end *end, const uint8_t *bytes, uint32_t length, uint64_t key)
{
	static uint8_t *wanted;

	if (wanted == NULL)
		wanted = malloc(longest);
	fill(wanted, length, key);
	rig_check(memcmp(bytes, wanted, length) == 0, "content", (long long)end->number);
}

static uint8_t *
slot(const struct end *end, enum areas area, uint32_t number)
{
	return end->memory + AREA(area) + (size_t)(number % DEPTH) * longest;
}

static void
post_receive(struct end *end, uint32_t number)
{
	struct ibv_sge sge = { (uintptr_t)slot(end, RECEIVED, number), longest, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = number, .sg_list = &sge, .num_sge = 1 }, *bad;

	rig_must(ibv_post_recv(end->qp, &wr, &bad), "ibv_post_recv");
}

static void
post(struct end *end)
{
	const uint32_t number = end->nb_posted;
	const enum kind kind = kind_of(end, number);
	const uint32_t length = kind == KIND_ADD ? 8 : length_of(end, number);
	struct end *peer = end->peer;
	struct ibv_sge sge = { (uintptr_t)slot(end, SENT, number), length, end->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = number,
		.sg_list = &sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = number,
	};
	struct ibv_send_wr *bad;
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD };

	wr.opcode = opcodes[kind];
	if (kind <= KIND_WRITE_IMM)
		fill((uint8_t *)(uintptr_t)sge.addr, length, key_of(end, number));
	if (kind == KIND_READ)
		sge.addr = (uintptr_t)slot(end, READ, number);
	wr.wr.rdma.rkey = peer->mr->rkey;
	wr.wr.rdma.remote_addr =
		(uintptr_t)slot(peer, kind == KIND_READ ? SOURCE : WRITTEN, number);
	if (kind == KIND_ADD) {
		sge.addr = (uintptr_t)&end->counter[1 + number % DEPTH];
		wr.wr.atomic.remote_addr = (uintptr_t)peer->counter;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = peer->mr->rkey;
	}
	rig_must(ibv_post_send(end->qp, &wr, &bad), "ibv_post_send");
	nb_of_kind[kind]++;
	end->nb_posted++;
}

/** Post what may be posted: the peer must have looked at what is in the slot. */
static void
post_all(struct end *end)
{
	while (end->nb_posted < nb_messages && end->nb_posted - end->nb_done < DEPTH &&
		end->nb_posted < end->peer->expected + DEPTH)
		post(end);
}

/** The peer's work requests up to @p number have arrived, of those that take a receive. */
static void
expect_from(struct end *end, uint32_t number)
{
	while (number < nb_messages && kind_of(end->peer, number) > KIND_WRITE_IMM)
		number++;
	end->expected = number;
}

static void
take_received(struct end *end, const struct ibv_wc *wc)
{
	const uint32_t number = end->expected;
	const enum kind kind = kind_of(end->peer, number);
	const uint32_t length = length_of(end->peer, number);

	rig_check(number < nb_messages, "a message that was sent", number);
	rig_check(wc->byte_len == length, "length", wc->byte_len);
	rig_check(wc->opcode == (kind == KIND_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV),
		"kind", wc->opcode);
	if (kind != KIND_SEND)
		rig_check((wc->wc_flags & IBV_WC_WITH_IMM) && wc->imm_data == number, "order",
			wc->imm_data);
	check_bytes(end,
		kind == KIND_WRITE_IMM ? slot(end, WRITTEN, number)
				       : slot(end, RECEIVED, (uint32_t)wc->wr_id),
		length, key_of(end->peer, number));
	post_receive(end, (uint32_t)wc->wr_id);
	expect_from(end, number + 1);
}

static void
take_done(struct end *end, const struct ibv_wc *wc)
{
	const uint32_t number = end->nb_done++;

	rig_check(wc->wr_id == number, "completions in order", (long long)wc->wr_id);
	if (kind_of(end, number) == KIND_READ)
		check_bytes(end, slot(end, READ, number), length_of(end, number),
			hash(end->peer->number << 32 | number % DEPTH));
	if (kind_of(end, number) == KIND_ADD)
		rig_check(end->counter[1 + number % DEPTH] == end->nb_added++, "added once",
			(long long)end->counter[1 + number % DEPTH]);
}

static struct end *
find_end(const struct side *side, uint32_t qpn)
{
	static struct end **by_qpn[2];
	struct end **table = by_qpn[side - sides];

	if (table == NULL) {
		table = by_qpn[side - sides] = calloc(1 << 16, sizeof(*table));
		for (uint32_t i = 0; i < 2 * nb_pairs; i++)
			if (ends[i].side == side)
				table[ends[i].qp->qp_num & 0xffff] = &ends[i];
	}
	return table[qpn & 0xffff];
}

/** @return completions */
static unsigned int
poll_side(struct side *side)
{
	struct ibv_wc wc[NB_POLL];
	const int nb = ibv_poll_cq(side->cq, NB_POLL, wc);

	for (int i = 0; i < nb; i++) {
		struct end *end = find_end(side, wc[i].qp_num);

		if (wc[i].status != IBV_WC_SUCCESS) {
			fprintf(stderr, "QP 0x%x: %s\n", wc[i].qp_num,
				ibv_wc_status_str(wc[i].status));
			exit(1);
		}
		if (wc[i].opcode & IBV_WC_RECV)
			take_received(end, &wc[i]);
		else
			take_done(end, &wc[i]);
		post_all(end);
		post_all(end->peer);
	}
	return nb > 0 ? (unsigned int)nb : 0;
}

static bool
is_finished(void)
{
	for (uint32_t i = 0; i < 2 * nb_pairs; i++)
		if (ends[i].nb_done != nb_messages || ends[i].expected != nb_messages)
			return false;
	return true;
}

static void
run(void)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	time_t heard = time(NULL);

	for (uint32_t i = 0; i < 2 * nb_pairs; i++)
		post_all(&ends[i]);
	while (!is_finished()) {
		if (poll_side(&sides[0]) + poll_side(&sides[1]) != 0) {
			heard = time(NULL);
			continue;
		}
		if (time(NULL) - heard > RIG_PATIENCE)
			rig_die("no completion comes");
		nanosleep(&pause, NULL);
	}
}

static void
open_sides(void)
{
	int nb;
	struct ibv_device **list = ibv_get_device_list(&nb);

	if (list == NULL || nb == 0)
		rig_die("no device");
	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &sides[i];

		side->context = ibv_open_device(list[i == 0 ? 0 : nb - 1]);
		if (side->context == NULL)
			rig_die("ibv_open_device");
		side->pd = ibv_alloc_pd(side->context);
		side->cq = ibv_create_cq(side->context, (int)(2 * DEPTH * nb_pairs), NULL, NULL, 0);
		if (side->pd == NULL || side->cq == NULL)
			rig_die("ibv_create_cq");
		rig_must(ibv_query_gid(side->context, 1, GID, &side->gid), "ibv_query_gid");
	}
	ibv_free_device_list(list);
}

static void
make_end(struct end *end, uint32_t number)
{
	const size_t bytes = AREA(NB_AREAS) + (1 + DEPTH) * sizeof(uint64_t) + 8;
	struct ibv_qp_init_attr init = {
		.cap = { DEPTH, DEPTH, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	*end = (struct end){ .side = &sides[number % 2], .number = number };
	end->peer = &ends[number ^ 1];
	end->memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	if (end->memory == NULL)
		rig_die("aligned_alloc");
	memset(end->memory, 0, bytes);
	end->counter = (uint64_t *)(void *)(end->memory + (AREA(NB_AREAS) + 7) / 8 * 8);
	for (uint32_t i = 0; i < DEPTH; i++)
		fill(slot(end, SOURCE, i), longest, hash((uint64_t)number << 32 | i));
	end->mr = ibv_reg_mr(end->side->pd, end->memory, bytes,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC);
	init.send_cq = init.recv_cq = end->side->cq;
	end->qp = ibv_create_qp(end->side->pd, &init);
	if (end->mr == NULL || end->qp == NULL)
		rig_die("ibv_create_qp");
}

static void
connect_end(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IBV_MTU_1024,
		.rq_psn = PSN,
		.sq_psn = PSN,
		.dest_qp_num = end->peer->qp->qp_num,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = TIMEOUT,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .is_global = 1,
			.port_num = 1,
			.grh = { .dgid = end->peer->side->gid,
				.sgid_index = GID,
				.hop_limit = 64 } },
	};

	rig_must(ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		"INIT");
	for (uint32_t i = 0; i < DEPTH; i++)
		post_receive(end, i);
	attr.qp_state = IBV_QPS_RTR;
	rig_must(ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		"RTR");
	attr.qp_state = IBV_QPS_RTS;
	rig_must(ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
		"RTS");
	expect_from(end, 0);
}

static void
close_all(void)
{
	for (uint32_t i = 0; i < 2 * nb_pairs; i++) {
		rig_check(*ends[i].counter == ends[i ^ 1].nb_added, "all added",
			(long long)*ends[i].counter);
		rig_must(ibv_destroy_qp(ends[i].qp), "ibv_destroy_qp");
		rig_must(ibv_dereg_mr(ends[i].mr), "ibv_dereg_mr");
		free(ends[i].memory);
	}
	free(ends);
	for (unsigned int i = 0; i < 2; i++) {
		rig_must(ibv_destroy_cq(sides[i].cq), "ibv_destroy_cq");
		rig_must(ibv_dealloc_pd(sides[i].pd), "ibv_dealloc_pd");
		rig_must(ibv_close_device(sides[i].context), "ibv_close_device");
	}
}

int
main(int argc, char **argv)
{
	uint32_t *const values[] = { &nb_pairs, &nb_messages, &longest };

	for (int i = 1; i < argc && i <= 3; i++)
		*values[i - 1] = (uint32_t)strtoul(argv[i], NULL, 10);
	ends = calloc(2 * nb_pairs, sizeof(*ends));
	if (ends == NULL || longest < 64)
		rig_die("no memory");
	open_sides();
	for (uint32_t i = 0; i < 2 * nb_pairs; i++)
		make_end(&ends[i], i);
	for (uint32_t i = 0; i < 2 * nb_pairs; i++)
		connect_end(&ends[i]);
	run();
	close_all();
	printf("%u queue pairs a side, %u messages each way of each\n", nb_pairs, nb_messages);
	printf("%" PRIu64 " writes, %" PRIu64 " reads, %" PRIu64 " atomics\n",
		nb_of_kind[KIND_WRITE_IMM], nb_of_kind[KIND_READ], nb_of_kind[KIND_ADD]);
	return rig_summary();
}
