/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program to be killed: it makes and destroys verbs objects with a burst in between, or sends and
 * receives bursts alone, or makes and destroys objects alone, until somebody ends it. What it is at
 * stands in a file, for who ends it:
 *
 *     verbs-victim verbs|burst|calls FILE
 *
 * The names of all that it may be at, a line each, and in the last byte the number of the line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

#define FILE_BYTES   4096
#define MEMORY_BYTES ((size_t)1 << 16)
#define NB_WQES      32
#define FRAME_BYTES  200
/* Last bytes of addresses: of whom it sends to, and its own, which no other program takes. */
#define TO  2
#define OWN 0x77

static struct objects {
	void *memory;
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	struct ibv_counters *counters;
	struct ibv_cq *cq;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
} its;

static void
wanted(const void *object, const char *what)
{
	if (object == NULL)
		rig_die(what);
}

static void
make_mr(void)
{
	/* Memory that the keeper has not seen yet. */
	its.memory = mmap(
		NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (its.memory == MAP_FAILED)
		rig_die("mmap");
	its.mr = ibv_reg_mr(rig_pd, its.memory, MEMORY_BYTES, IBV_ACCESS_LOCAL_WRITE);
	wanted(its.mr, "ibv_reg_mr");
}

static void
drop_mr(void)
{
	rig_must(ibv_dereg_mr(its.mr), "ibv_dereg_mr");
	munmap(its.memory, MEMORY_BYTES);
}

static void
make_dm(void)
{
	its.dm = ibv_alloc_dm(rig_context, &(struct ibv_alloc_dm_attr){ .length = 64 });
	wanted(its.dm, "ibv_alloc_dm");
}

static void
drop_dm(void)
{
	rig_must(ibv_free_dm(its.dm), "ibv_free_dm");
}

static void
make_counters(void)
{
	its.counters = ibv_create_counters(rig_context, &(struct ibv_counters_init_attr){ 0 });
	wanted(its.counters, "ibv_create_counters");
}

static void
drop_counters(void)
{
	rig_must(ibv_destroy_counters(its.counters), "ibv_destroy_counters");
}

static void
make_cq(void)
{
	its.cq = ibv_create_cq(rig_context, 4 * NB_WQES, NULL, NULL, 0);
	wanted(its.cq, "ibv_create_cq");
}

static void
drop_cq(void)
{
	rig_must(ibv_destroy_cq(its.cq), "ibv_destroy_cq");
}

static void
make_wq(void)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = NB_WQES, .max_sge = 1, .pd = rig_pd, .cq = its.cq
	};

	its.wq = ibv_create_wq(rig_context, &attr);
	wanted(its.wq, "ibv_create_wq");
}

static void
drop_wq(void)
{
	rig_must(ibv_destroy_wq(its.wq), "ibv_destroy_wq");
}

static void
make_table(void)
{
	struct ibv_rwq_ind_table_init_attr attr = { .ind_tbl = &its.wq };

	its.table = ibv_create_rwq_ind_table(rig_context, &attr);
	wanted(its.table, "ibv_create_rwq_ind_table");
}

static void
drop_table(void)
{
	rig_must(ibv_destroy_rwq_ind_table(its.table), "ibv_destroy_rwq_ind_table");
}

static void
make_qp(void)
{
	its.qp = rig_qp(its.cq, 0);
}

static void
drop_qp(void)
{
	rig_must(ibv_destroy_qp(its.qp), "ibv_destroy_qp");
}

static void
make_flow(void)
{
	rig_address = OWN;
	its.flow = rig_take_own(its.qp);
}

static void
drop_flow(void)
{
	rig_must(ibv_destroy_flow(its.flow), "ibv_destroy_flow");
}

static const struct step {
	const char *name;
	void (*make)(void);
	void (*drop)(void);
} steps[] = {
	{ "MR", make_mr, drop_mr },
	{ "DM", make_dm, drop_dm },
	{ "counters", make_counters, drop_counters },
	{ "CQ", make_cq, drop_cq },
	{ "WQ", make_wq, drop_wq },
	{ "table", make_table, drop_table },
	{ "QP", make_qp, drop_qp },
	{ "flow", make_flow, drop_flow },
};

#define NB_STEPS (sizeof(steps) / sizeof(steps[0]))
#define AT_START 0
#define AT_BURST 1
#define AT_MAKE  2
#define AT_DROP  (AT_MAKE + NB_STEPS)

static volatile char *at;

static void
tell(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600), length;
	char *text;

	if (fd < 0 || ftruncate(fd, FILE_BYTES) != 0)
		rig_die(path);
	text = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		rig_die(path);
	close(fd);
	length = snprintf(text, FILE_BYTES, "start\nburst\n");
	for (size_t i = 0; i < NB_STEPS; i++)
		length += snprintf(
			text + length, FILE_BYTES - (size_t)length, "make %s\n", steps[i].name);
	for (size_t i = 0; i < NB_STEPS; i++)
		length += snprintf(
			text + length, FILE_BYTES - (size_t)length, "drop %s\n", steps[i].name);
	at = &text[FILE_BYTES - 1];
}

static void
make_all(void)
{
	for (size_t i = 0; i < NB_STEPS; i++) {
		*at = (char)(AT_MAKE + i);
		steps[i].make();
	}
}

static void
drop_all(void)
{
	for (size_t i = NB_STEPS; i-- > 0;) {
		*at = (char)(AT_DROP + i);
		steps[i].drop();
	}
}

/** Sends and receives; what is received, others have sent. */
static void
burst(void)
{
	struct ibv_wc wc[2 * NB_WQES];
	unsigned int nb_sent = 0;

	rig_address = TO;
	for (unsigned int i = 0; i < NB_WQES; i++) {
		rig_frame(rig_buffer(i), FRAME_BYTES, (uint8_t)i);
		rig_send(its.qp, i, FRAME_BYTES);
	}
	while (nb_sent < NB_WQES) {
		int nb = ibv_poll_cq(its.cq, 2 * NB_WQES, wc);

		if (nb < 0)
			rig_die("ibv_poll_cq");
		for (int i = 0; i < nb; i++) {
			if (wc[i].status != IBV_WC_SUCCESS) {
				errno = EIO;
				rig_die(ibv_wc_status_str(wc[i].status));
			}
			if (wc[i].opcode == IBV_WC_RECV)
				rig_receive(its.qp, (unsigned int)wc[i].wr_id, RIG_BUFFER_BYTES);
			else
				nb_sent++;
		}
	}
}

int
main(int argc, char **argv)
{
	const bool is_burst = argc == 3 && strcmp(argv[1], "burst") == 0;
	const bool is_calls = argc == 3 && strcmp(argv[1], "calls") == 0;

	if (argc != 3 || (!is_burst && !is_calls && strcmp(argv[1], "verbs") != 0)) {
		fprintf(stderr, "usage: verbs-victim verbs|burst|calls FILE\n");
		return 2;
	}
	tell(argv[2]);
	rig_open();
	make_all();
	for (unsigned int i = 0; i < NB_WQES; i++)
		rig_receive(its.qp, NB_WQES + i, RIG_BUFFER_BYTES);
	*at = AT_BURST;
	for (;;) {
		if (!is_calls)
			burst();
		if (is_burst)
			continue;
		drop_all();
		make_all();
	}
}
