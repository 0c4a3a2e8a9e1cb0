/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions: registration, look-up by key, and a guard against memory that was unmapped. */
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "base/log.h"

/** A key is index << 8 | tag. The tag is never 0, so that no key is 0 or 0x100 (the list
 * terminator), and changes with every registration, so that a stale key of a reused index is
 * refused. */
#define LKEY_INDEX_LAST 0xffffff

#define PAGE_BYTES 4096u
/** Of an entry of pagemap, from Linux 6.15 on (fs/proc/task_mmu.c PM_GUARD_REGION). */
#define PAGEMAP_GUARD (UINT64_C(1) << 58)

struct shca_mem *
shca_mem_create(void)
{
	struct shca_mem *mem = calloc(1, sizeof(*mem));

	if (mem == NULL)
		return NULL;
	shca_idtable_init(&mem->mrs, 1, LKEY_INDEX_LAST);
	mem->next_tag = 1;
	return mem;
}

void
shca_mem_destroy(struct shca_mem *mem)
{
	struct shca_mr *mr;

	if (mem == NULL)
		return;
	for (uint32_t index = 0; (mr = shca_idtable_next(&mem->mrs, &index)) != NULL; index++)
		free(mr);
	shca_idtable_fini(&mem->mrs);
	free(mem);
}

static int
check_range(const uint8_t *start, uint64_t length, uint64_t iova, uint32_t access)
{
	if ((uintptr_t)start + length < length || iova + length < length)
		return -EINVAL;
	return shca_mem_can_pin(start, length, (access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0)
		? 0
		: -EFAULT;
}

int
shca_mem_reg(struct shca_mem *mem, uint8_t *start, uint64_t length, uint64_t iova, uint32_t pdn,
	uint32_t access, struct shca_mr **mr)
{
	const int ret = check_range(start, length, iova, access);

	return ret != 0 ? ret : shca_mem_reg_own(mem, start, length, iova, pdn, access, mr);
}

int
shca_mem_add_key(struct shca_mem *mem, struct shca_mr *mr)
{
	uint32_t index;

	if (shca_idtable_add(&mem->mrs, mr, &index) != 0)
		return -ENOMEM;
	mr->lkey = index << SHCA_MEM_LKEY_INDEX_SHIFT | mem->next_tag;
	mem->next_tag = mem->next_tag == UINT8_MAX ? 1 : mem->next_tag + 1;
	return 0;
}

/** All but the key. */
static void
describe(struct shca_mr *mr, uint8_t *start, uint64_t length, uint64_t iova, uint32_t pdn,
	uint32_t access)
{
	mr->iova = iova;
	mr->length = length;
	mr->start = start;
	mr->pdn = pdn;
	mr->access = access;
	mr->is_writable = (access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0;
}

int
shca_mem_reg_own(struct shca_mem *mem, uint8_t *start, uint64_t length, uint64_t iova, uint32_t pdn,
	uint32_t access, struct shca_mr **out)
{
	struct shca_mr *mr = calloc(1, sizeof(*mr));

	if (mr == NULL)
		return -ENOMEM;
	if (shca_mem_add_key(mem, mr) != 0) {
		free(mr);
		return -ENOMEM;
	}
	describe(mr, start, length, iova, pdn, access);
	*out = mr;
	return 0;
}

int
shca_mem_rereg(struct shca_mr *mr, uint8_t *start, uint64_t length, uint64_t iova, uint32_t pdn,
	uint32_t access)
{
	const int ret = check_range(start, length, iova, access);

	if (ret == 0)
		describe(mr, start, length, iova, pdn, access);
	return ret;
}

void
shca_mem_dereg(struct shca_mem *mem, struct shca_mr *mr)
{
	if (mr == NULL)
		return;
	shca_idtable_del(&mem->mrs, mr->lkey >> SHCA_MEM_LKEY_INDEX_SHIFT);
	free(mr);
}

enum shca_mem_fault
shca_mem_explain(struct shca_mem *mem, uint32_t pdn, uint32_t lkey, uint64_t iova, uint64_t length,
	bool write)
{
	const struct shca_mr *mr = shca_idtable_get(&mem->mrs, lkey >> SHCA_MEM_LKEY_INDEX_SHIFT);

	if (mr == NULL || mr->lkey != lkey)
		return SHCA_MEM_NO_KEY;
	if (mr->pdn != pdn)
		return SHCA_MEM_OTHER_PD;
	if (shca_mem_ptr(mem, pdn, lkey, iova, length, false) == NULL)
		return SHCA_MEM_OUTSIDE;
	return shca_mem_ptr(mem, pdn, lkey, iova, length, write) == NULL ? SHCA_MEM_READ_ONLY
									 : SHCA_MEM_GOOD;
}

/**
 * Extend the covered range by one line of /proc/self/maps. Lines come in address order.
 * @param not_of NULL, or a text that the line must not contain
 * @return true when later lines cannot change the result.
 */
static bool
cover(const char *line, bool write, const char *not_of, uint64_t *covered, uint64_t end)
{
	uint64_t from, to;
	char perms[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, perms) != 3)
		return false;
	if (to <= *covered)
		return false;
	if (from > *covered || perms[0] != 'r' || (write && perms[1] != 'w'))
		return true;
	if (not_of != NULL && strstr(line, not_of) != NULL)
		return true;
	*covered = to;
	return to >= end;
}

/**
 * Look into the map instead of the memory: an access would fault pages in, and a trial store would
 * race with the application's own stores. System calls bypass libc, as open() may be hooked.
 */
static bool
is_covered(const void *start, uint64_t length, bool write, const char *not_of)
{
	uint64_t covered = (uintptr_t)start;
	uint64_t end = covered + length;
	char text[8192];
	size_t nb_held = 0;
	bool decided = false;
	ssize_t nb_read;
	int saved_errno = errno;
	int fd;

	if (length == 0 || end < covered)
		return length == 0;
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		SHCA_ERR("cannot read /proc/self/maps: memory cannot be registered without it");
		errno = saved_errno;
		return false;
	}
	while (!decided &&
		(nb_read = syscall(SYS_read, fd, text + nb_held, sizeof(text) - 1 - nb_held)) > 0) {
		char *line = text;
		char *newline;

		nb_held += (size_t)nb_read;
		text[nb_held] = '\0';
		for (; !decided && (newline = strchr(line, '\n')) != NULL; line = newline + 1) {
			*newline = '\0';
			decided = cover(line, write, not_of, &covered, end);
		}
		nb_held -= (size_t)(line - text);
		/* A line longer than the buffer: drop it; no path is that long. */
		if (nb_held == sizeof(text) - 1)
			nb_held = 0;
		memmove(text, line, nb_held);
	}
	syscall(SYS_close, fd);
	errno = saved_errno;
	return covered >= end;
}

bool
shca_mem_is_mapped(const void *start, uint64_t length, bool write)
{
	return is_covered(start, length, write, NULL);
}

struct cut {
	uint64_t wanted, end; /* what has to stay */
	uint64_t from, to;    /* what is left */
};

/** Cut off a guard page and what is beyond it. @return whether what is wanted is still there. */
static bool
cut_off(struct cut *cut, uint64_t page)
{
	if (page >= cut->end)
		cut->to = page < cut->to ? page : cut->to;
	else
		cut->from = page + PAGE_BYTES;
	return cut->from <= cut->wanted;
}

int
shca_mem_leave_out_guards(
	pid_t pid, uint64_t wanted, uint64_t end, uint64_t *start, uint64_t *length)
{
	struct cut cut = { wanted, end, *start, *start + *length };
	uint64_t entries[512], at = *start;
	const int saved_errno = errno;
	bool is_whole = true;
	char path[32];
	long nb;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	/* Without pagemap (CONFIG_PROC_PAGE_MONITOR) nobody knows of any. */
	while (fd >= 0 && is_whole && at < cut.to &&
		(nb = syscall(SYS_pread64, fd, entries, sizeof(entries),
			 at / PAGE_BYTES * sizeof(entries[0]))) >= (long)sizeof(entries[0]))
		for (long i = 0; i < nb / (long)sizeof(entries[0]) && at < cut.to && is_whole;
			i++, at += PAGE_BYTES)
			is_whole = (entries[i] & PAGEMAP_GUARD) == 0 || cut_off(&cut, at);
	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = saved_errno;
	if (!is_whole)
		return -EFAULT;
	*start = cut.from;
	*length = cut.to - cut.from;
	return 0;
}

static bool
has_guards(const void *start, uint64_t length)
{
	const uint64_t wanted = (uintptr_t)start, end = wanted + length;
	uint64_t first = wanted / PAGE_BYTES * PAGE_BYTES, bytes = end - first;

	return shca_mem_leave_out_guards(getpid(), wanted, end, &first, &bytes) != 0;
}

bool
shca_mem_can_pin(const void *start, uint64_t length, bool write)
{
	return is_covered(start, length, write, "/memfd:" SHCA_MEM_DEVICE_FILE) &&
		!has_guards(start, length);
}

/**
 * The guard: where the signal handler jumps to. NULL in a thread outside shca_mem_guard_run().
 * initial-exec: the handler must not allocate thread storage on first use.
 */
static __thread __attribute__((tls_model("initial-exec"))) sigjmp_buf *way_out;
/** The fault that the application's handler has, and the frame that gave it. */
static __thread __attribute__((tls_model("initial-exec"))) const siginfo_t *chained_info;
static __thread __attribute__((tls_model("initial-exec"))) const char *chained_frame;

static const int guarded_signals[] = { SIGSEGV, SIGBUS };
#define NB_GUARDED (sizeof(guarded_signals) / sizeof(guarded_signals[0]))

/** The handlers that the application had installed. */
static struct sigaction chained[NB_GUARDED];
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;

/** The application may install its own handlers; ours are put back after so many runs at most. */
#define RUNS_BETWEEN_CHECKS 256

/** Block the signals that the kernel blocks while it runs this handler. */
static void
block_as_kernel(const struct sigaction *action, int signal_number)
{
	sigset_t mask = action->sa_mask;

	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&mask, signal_number);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
}

static void
chain(int signal_number, siginfo_t *info, void *context)
{
	const struct sigaction *old = &chained[signal_number == SIGBUS];
	const char *frame = __builtin_frame_address(0);
	/* The application's handler passes the same fault on to the previous handler, ours. A jump
	 * out of the handler leaves both variables behind; but a new fault with its siginfo at the
	 * same address has its frame there, too, and not below. */
	const bool is_passed_on = info == chained_info && frame < chained_frame;

	/* Only the default is left for a fault that is passed on: the fault repeats under it after
	 * the return. The kernel does not honour SIG_IGN for a fault either. */
	if (is_passed_on ||
		(!(old->sa_flags & SA_SIGINFO) &&
			(old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN))) {
		signal(signal_number, SIG_DFL);
		return;
	}
	chained_info = info;
	chained_frame = frame;
	block_as_kernel(old, signal_number);
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(signal_number, info, context);
	else
		old->sa_handler(signal_number);
	chained_info = NULL;
}

static void
on_fault(int signal_number, siginfo_t *info, void *context)
{
	if (way_out != NULL)
		siglongjmp(*way_out, 1);
	chain(signal_number, info, context);
}

static void
install(void)
{
	/* SA_NODEFER: the long jump leaves the handler without restoring the mask. */
	struct sigaction ours = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK,
	};

	sigemptyset(&ours.sa_mask);
	pthread_mutex_lock(&install_lock);
	for (unsigned int i = 0; i < NB_GUARDED; i++) {
		struct sigaction current;

		if (sigaction(guarded_signals[i], NULL, &current) != 0)
			continue;
		if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == on_fault)
			continue;
		chained[i] = current;
		sigaction(guarded_signals[i], &ours, NULL);
	}
	pthread_mutex_unlock(&install_lock);
}

bool
shca_mem_guard_run(void (*function)(void *arg), void *arg)
{
	static unsigned int nb_runs;
	sigjmp_buf *const outer = way_out;
	sigjmp_buf here;

	if (outer == NULL &&
		__atomic_fetch_add(&nb_runs, 1, __ATOMIC_RELAXED) % RUNS_BETWEEN_CHECKS == 0)
		install();
	if (sigsetjmp(here, 0) != 0) {
		way_out = outer;
		return false;
	}
	way_out = &here;
	function(arg);
	way_out = outer;
	return true;
}
