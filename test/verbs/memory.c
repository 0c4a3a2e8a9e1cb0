/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives from memory of all kinds that a program has: of the heap, of its stack,
 * static, mapped privately or shared, of a file that has no name. What other threads write beside
 * it while it is registered stays, after fork() the child has its own, and what is not needed any
 * more (madvise) is zero, as of any memory.
 */
#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define FRAME_BYTES  200
#define REGION_BYTES 16384
#define PAGE_BYTES   4096
#define NB_THREADS   2
#define NB_REGIONS   32 /* that are registered while other threads write */

#define NB_NEIGHBOURS (REGION_BYTES / PAGE_BYTES)
/** Linux uapi/asm-generic/mman-common.h MADV_GUARD_INSTALL. */
#define GUARD_INSTALL 102

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static uint8_t static_bytes[REGION_BYTES] = { 1 };
static uint8_t static_zeros[REGION_BYTES];

static void
post(struct ibv_mr *mr, uint8_t *bytes, bool is_receive)
{
	struct ibv_sge sge = { .addr = (uintptr_t)bytes, .length = FRAME_BYTES, .lkey = mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad_send;

	if (is_receive)
		rig_must(ibv_post_recv(qp, &receive, &bad_receive), "ibv_post_recv");
	else
		rig_must(ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
}

/** A frame goes from the beginning of the memory to its end. */
static void
try_memory(const char *kind, uint8_t *bytes)
{
	struct ibv_mr *mr = ibv_reg_mr(rig_pd, bytes, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);
	uint8_t *end = bytes + REGION_BYTES - FRAME_BYTES;
	struct ibv_wc wc[2];

	if (mr == NULL)
		rig_die(kind);
	rig_frame(bytes, FRAME_BYTES, 7);
	memset(end, 0, FRAME_BYTES);
	post(mr, end, true);
	post(mr, bytes, false);
	rig_poll(cq, wc, 2);
	CHECK(wc[0].status == IBV_WC_SUCCESS && wc[1].status == IBV_WC_SUCCESS, wc[0].status);
	rig_check(memcmp(bytes, end, FRAME_BYTES) == 0, kind, end[0]);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

static uint8_t *
must_map(int prot, int flags, int fd)
{
	uint8_t *bytes = mmap(NULL, REGION_BYTES, prot, flags, fd, 0);

	if (bytes == MAP_FAILED)
		rig_die("mmap");
	return bytes;
}

static void
try_all_kinds(void)
{
	uint8_t of_stack[REGION_BYTES];
	uint8_t *of_heap = malloc(REGION_BYTES);
	int fd = memfd_create("frames", 0);

	if (of_heap == NULL || fd < 0 || ftruncate(fd, REGION_BYTES) != 0)
		rig_die("memory");
	try_memory("stack", of_stack);
	try_memory("heap", of_heap);
	try_memory("static", static_bytes);
	try_memory("static, of zeros", static_zeros);
	try_memory("private", must_map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
	try_memory("shared", must_map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1));
	try_memory("file", must_map(PROT_READ | PROT_WRITE, MAP_SHARED, fd));
	try_memory("private of a file", must_map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd));
	close(fd);
	free(of_heap);
}

/** What cannot be registered: nothing there, read-only, partly there, the device's own pages. */
static void
try_refused(void)
{
	uint8_t *read_only = must_map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint8_t *partly = must_map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	munmap(partly + REGION_BYTES / 2, REGION_BYTES / 2);
	CHECK_REFUSED(ibv_reg_mr(rig_pd, (void *)8, 4096, 0), EFAULT);
	CHECK_REFUSED(ibv_reg_mr(rig_pd, read_only, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	CHECK_REFUSED(ibv_reg_mr(rig_pd, partly, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE), EFAULT);
}

/** Pages within a mapping that nobody may touch, as glibc from 2.42 on has them below threads'
 * stacks: what is beside one can be registered, itself it cannot. */
static void
try_guards(void)
{
	const size_t length = 3 * REGION_BYTES;
	uint8_t *all =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *bytes = all + REGION_BYTES;

	if (all == MAP_FAILED)
		rig_die("mmap");
	if (madvise(bytes - PAGE_BYTES, PAGE_BYTES, GUARD_INSTALL) != 0 ||
		madvise(bytes + REGION_BYTES, PAGE_BYTES, GUARD_INSTALL) != 0)
		return; /* before Linux 6.13 */
	CHECK_REFUSED(ibv_reg_mr(rig_pd, all, 2 * REGION_BYTES, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	try_memory("between guard pages", bytes);
	munmap(all, length);
}

/** A device without on-demand paging says so, and of another device's memory too; UCX asks for that
 * with descriptor -1. */
static void
try_on_demand(void)
{
	struct ibv_sge sge = rig_sge(0, 0, 4096);
	int ret = ibv_advise_mr(rig_pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1);

	CHECK(ret == EOPNOTSUPP, ret);
	ret = ibv_advise_mr(
		rig_pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
	CHECK(ret == EOPNOTSUPP, ret);
	CHECK_REFUSED(
		ibv_reg_dmabuf_mr(rig_pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE), EOPNOTSUPP);
	CHECK_REFUSED(ibv_reg_dmabuf_mr(rig_pd, 16, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE), EINVAL);
}

/** Memory that was registered may grow, and move, as any other (realloc() does so). */
static void
try_growth(void)
{
	uint8_t *bytes = must_map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint8_t *grown;

	try_memory("private, to grow", bytes);
	bytes[REGION_BYTES - 1] = 9;
	grown = mremap(bytes, REGION_BYTES, 8 * REGION_BYTES, MREMAP_MAYMOVE);
	if (grown == MAP_FAILED)
		rig_die("mremap");
	CHECK(grown[REGION_BYTES - 1] == 9, grown[REGION_BYTES - 1]);
	memset(grown + REGION_BYTES, 1, 7 * REGION_BYTES);
	try_memory("private, grown", grown + 7 * REGION_BYTES);
	munmap(grown, 8 * REGION_BYTES);
}

/** A thread's counter, and beside it what is registered. */
struct shared {
	_Atomic uint64_t stores;
	uint64_t count;
	uint8_t rest[4096 - 16];
};

static struct shared *of_thread[NB_THREADS];
static atomic_bool is_ending;

/** Count both: whoever loses a store makes them differ. */
static void *
count(void *arg)
{
	struct shared *shared = arg;

	while (!atomic_load(&is_ending)) {
		shared->count++;
		atomic_fetch_add(&shared->stores, 1);
		if (shared->count != atomic_load(&shared->stores))
			break;
	}
	return NULL;
}

/** Each thread writes to pages of which one after the other becomes a region. */
static void
try_threads(void)
{
	pthread_t threads[NB_THREADS];
	struct ibv_mr *mr;

	for (unsigned int round = 0; round < NB_REGIONS; round++) {
		atomic_store(&is_ending, false);
		for (unsigned int i = 0; i < NB_THREADS; i++) {
			of_thread[i] = (struct shared *)(void *)must_map(
				PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
			if (pthread_create(&threads[i], NULL, count, of_thread[i]) != 0)
				rig_die("pthread_create");
		}
		while (of_thread[0]->stores < 1000 || of_thread[1]->stores < 1000)
			;
		for (unsigned int i = 0; i < NB_THREADS; i++) {
			mr = ibv_reg_mr(rig_pd, of_thread[i], sizeof(struct shared),
				IBV_ACCESS_LOCAL_WRITE);
			if (mr == NULL)
				rig_die("ibv_reg_mr");
			rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
		}
		atomic_store(&is_ending, true);
		for (unsigned int i = 0; i < NB_THREADS; i++) {
			rig_must(pthread_join(threads[i], NULL), "pthread_join");
			CHECK(of_thread[i]->count == of_thread[i]->stores, of_thread[i]->count);
			munmap(of_thread[i], REGION_BYTES);
		}
	}
}

static bool
is_zero(const uint8_t *bytes)
{
	for (size_t i = 0; i < REGION_BYTES; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/** Allocators count on zeros where they have said that they need memory no more, and that it has
 * been registered, or still is, does not change that (madvise(2), MADV_DONTNEED). */
static void
try_advice(uint8_t *bytes, const char *kind)
{
	struct ibv_mr *mr;

	for (unsigned int round = 0; round < 2; round++) {
		try_memory(kind, bytes);
		rig_check(madvise(bytes, REGION_BYTES, MADV_DONTNEED) == 0, kind, errno);
		rig_check(is_zero(bytes), kind, round);
		mr = ibv_reg_mr(rig_pd, bytes, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);
		if (mr == NULL)
			rig_die(kind);
		memset(bytes, 1, REGION_BYTES);
		rig_check(madvise(bytes, REGION_BYTES, MADV_DONTNEED) == 0, kind, errno);
		rig_check(is_zero(bytes), kind, round);
		rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
		try_memory(kind, bytes);
		rig_check(madvise(bytes, REGION_BYTES, MADV_FREE) == 0, kind, errno);
		memset(bytes, 1, REGION_BYTES);
	}
	try_memory(kind, bytes);
}

static void
try_all_advice(void)
{
	uint8_t *of_heap = aligned_alloc(4096, REGION_BYTES);
	uint8_t *mapped = must_map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (of_heap == NULL)
		rig_die("aligned_alloc");
	try_advice(of_heap, "heap that is not needed");
	try_advice(mapped, "private memory that is not needed");
	munmap(mapped, REGION_BYTES);
	free(of_heap);
}

/** Until the end, pages are either what was written to them or zero. @return what is neither. */
static void *
advise(void *arg)
{
	uint8_t *page = arg;

	while (!atomic_load(&is_ending)) {
		memset(page, 1, 4096);
		if (madvise(page, 4096, MADV_DONTNEED) != 0 || page[0] != 0 || page[4095] != 0)
			return page;
	}
	return NULL;
}

/** A page of memory becomes a region while one beside it is not needed, again and again. */
static void
try_advice_of_threads(void)
{
	struct ibv_mr *mr;
	pthread_t thread;
	uint8_t *bytes;
	void *wrong;

	for (unsigned int round = 0; round < NB_REGIONS; round++) {
		bytes = must_map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		atomic_store(&is_ending, false);
		if (pthread_create(&thread, NULL, advise, bytes + 8192) != 0)
			rig_die("pthread_create");
		for (unsigned int i = 0; i < 8; i++) {
			mr = ibv_reg_mr(rig_pd, bytes, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);
			if (mr == NULL)
				rig_die("ibv_reg_mr");
			rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
		}
		atomic_store(&is_ending, true);
		rig_must(pthread_join(thread, &wrong), "pthread_join");
		CHECK(wrong == NULL, round);
		munmap(bytes, REGION_BYTES);
	}
}

/** Regions that threads register at once, side by side. */
static uint8_t *neighbours;
static pthread_barrier_t all_ready;
static struct ibv_mr *mr_of[NB_NEIGHBOURS];

static void *
register_one(void *arg)
{
	const uintptr_t i = (uintptr_t)arg;

	pthread_barrier_wait(&all_ready);
	mr_of[i] = ibv_reg_mr(rig_pd, neighbours + i * 4096, 4096, IBV_ACCESS_LOCAL_WRITE);
	return mr_of[i] != NULL ? NULL : strerror(errno);
}

static void
must_arrive(unsigned int from, unsigned int to)
{
	uint8_t *sent = neighbours + from * 4096, *received = neighbours + to * 4096;
	struct ibv_wc wc[2];

	rig_frame(sent, FRAME_BYTES, (uint8_t)from);
	memset(received, 0, FRAME_BYTES);
	post(mr_of[to], received, true);
	post(mr_of[from], sent, false);
	rig_poll(cq, wc, 2);
	CHECK(memcmp(sent, received, FRAME_BYTES) == 0, received[0]);
}

/** Whoever comes first: memory of each region is the device's, too. */
static void
try_neighbours(void)
{
	pthread_t threads[NB_NEIGHBOURS];
	void *error;

	pthread_barrier_init(&all_ready, NULL, NB_NEIGHBOURS);
	for (unsigned int round = 0; round < NB_REGIONS; round++) {
		neighbours = must_map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		for (uintptr_t i = 0; i < NB_NEIGHBOURS; i++)
			if (pthread_create(&threads[i], NULL, register_one, (void *)i) != 0)
				rig_die("pthread_create");
		for (unsigned int i = 0; i < NB_NEIGHBOURS; i++) {
			rig_must(pthread_join(threads[i], &error), "pthread_join");
			if (error != NULL)
				rig_die(error);
		}
		for (unsigned int i = 0; i < NB_NEIGHBOURS; i++)
			must_arrive(i, (i + 1) % NB_NEIGHBOURS);
		for (unsigned int i = 0; i < NB_NEIGHBOURS; i++)
			rig_must(ibv_dereg_mr(mr_of[i]), "ibv_dereg_mr");
		munmap(neighbours, REGION_BYTES);
	}
	pthread_barrier_destroy(&all_ready);
}

static pid_t
fork_with_terminal(void)
{
	int terminal; /* stays open: its end would be the child's */

	return forkpty(&terminal, NULL, NULL, NULL);
}

/** Both write to their copies: neither sees the other's. */
static void
try_fork(uint8_t *bytes, const char *kind, pid_t (*fork_so)(void))
{
	struct ibv_mr *mr = ibv_reg_mr(rig_pd, bytes, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);
	int ends[2], status;
	pid_t pid;

	if (mr == NULL || pipe(ends) != 0)
		rig_die(kind);
	memset(bytes, 1, REGION_BYTES);
	fflush(NULL);
	pid = fork_so();
	if (pid < 0)
		rig_die(kind);
	if (pid == 0) {
		char byte;
		bool is_own = true;

		/* The parent has written by then. */
		if (read(ends[0], &byte, 1) != 1)
			_exit(2);
		for (size_t i = 0; i < REGION_BYTES; i++)
			is_own = is_own && bytes[i] == 1;
		memset(bytes, 3, REGION_BYTES);
		_exit(is_own ? 0 : 1);
	}
	memset(bytes, 2, REGION_BYTES);
	if (write(ends[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		rig_die("child");
	rig_check(status == 0, kind, status);
	for (size_t i = 0; i < REGION_BYTES; i += 1000)
		rig_check(bytes[i] == 2, kind, bytes[i]);
	close(ends[0]);
	close(ends[1]);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

/** @return whether memory is this process's alone, as the kernel sees it. */
static bool
is_private(const void *bytes)
{
	const uintptr_t address = (uintptr_t)bytes;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], perms[5] = "";
	uintptr_t from, to;
	bool is_found = false;

	while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL)
		is_found = sscanf(line, "%lx-%lx %4s", &from, &to, perms) == 3 && from <= address &&
			address < to;
	if (maps != NULL)
		fclose(maps);
	return is_found && perms[3] == 'p';
}

/** A daemon's memory is as any child's; who was its parent has ended. */
static void
try_daemon(uint8_t *bytes)
{
	struct ibv_mr *mr = ibv_reg_mr(rig_pd, bytes, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);
	int ends[2], status;
	char byte = 0;
	pid_t pid;

	if (mr == NULL || pipe(ends) != 0)
		rig_die("daemon");
	memset(bytes, 1, REGION_BYTES);
	pid = fork();
	if (pid < 0)
		rig_die("fork");
	if (pid == 0) {
		close(ends[0]);
		mr = ibv_reg_mr(rig_pd, bytes, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);
		if (daemon(0, 0) != 0)
			_exit(1);
		byte = is_private(bytes) && bytes[REGION_BYTES - 1] == 1 && getsid(0) == getpid();
		if (mr != NULL)
			(void)ibv_dereg_mr(mr);
		_exit(write(ends[1], &byte, 1) == 1 ? 0 : 1);
	}
	close(ends[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, status);
	CHECK(read(ends[0], &byte, 1) == 1 && byte == 1, byte);
	close(ends[0]);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

static void
try_forks(void)
{
	uint8_t of_stack[REGION_BYTES];
	uint8_t *of_heap = malloc(REGION_BYTES);

	if (of_heap == NULL)
		rig_die("malloc");
	try_fork(of_stack, "the child's stack", fork);
	try_fork(of_heap, "the child's heap", fork);
	try_fork(static_bytes, "the child's static memory", fork);
	try_fork(of_stack, "the stack of a child of _Fork()", _Fork);
	try_fork(of_heap, "the heap of a child of _Fork()", _Fork);
	try_fork(of_stack, "the stack of a child of forkpty()", fork_with_terminal);
	try_fork(of_heap, "the heap of a child of forkpty()", fork_with_terminal);
	try_daemon(of_heap);
	free(of_heap);
}

int
main(void)
{
	struct ibv_flow *flow;

	rig_open();
	cq = ibv_create_cq(rig_context, 64, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	try_all_kinds();
	try_refused();
	try_guards();
	try_on_demand();
	try_growth();
	try_threads();
	try_neighbours();
	try_all_advice();
	try_advice_of_threads();
	try_forks();
	/* After all that the heap still is one. */
	try_all_kinds();
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
