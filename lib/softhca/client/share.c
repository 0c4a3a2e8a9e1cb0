/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While memory moves nothing may write to it: other threads stand still, and this one is on a stack
 * that never moves. So these functions call the kernel only, and not by the C library's mmap() and
 * its like, which the program may have replaced: UCX's mremap() takes no address to go to.
 */
#include "client/share.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/log.h"

#define PAGE_BYTES  4096u
#define STACK_BYTES (256u << 10)
#define TEXT_BYTES  8192u /* some lines of maps */
/** Of stack that is needed here below the caller's frame, at most. */
#define FRAMES_BYTES (16u << 10)

/** The other stack, and what to do there; the lock is held meanwhile, and signals wait: their
 * handlers may call _Fork(). */
static struct {
	pthread_mutex_t lock;
	void *stack;
	ucontext_t before, there;
	void (*function)(void *arg);
	void *arg;
	/** Counted while the other threads stand still, read without the lock. */
	atomic_uint nb_moves;
} root = { .lock = PTHREAD_MUTEX_INITIALIZER };

/** @param[out] signals of lock_end() */
static void
lock_begin(sigset_t *signals)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, signals);
	pthread_mutex_lock(&root.lock);
}

static void
lock_end(const sigset_t *signals)
{
	pthread_mutex_unlock(&root.lock);
	pthread_sigmask(SIG_SETMASK, signals, NULL);
}

/** @return where it is, or MAP_FAILED. */
static uint8_t *
map(size_t length, int flags, int fd, off_t offset)
{
	return (uint8_t *)syscall(
		SYS_mmap, NULL, length, PROT_READ | PROT_WRITE, flags, fd, offset);
}

/** Put a mapping in the place of others, or unmap it. */
static bool
put_at(uint8_t *start, uint8_t *mapping, size_t length, int prot)
{
	if (syscall(SYS_mprotect, mapping, length, prot) == 0 &&
		syscall(SYS_mremap, mapping, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
			start) != -1)
		return true;
	syscall(SYS_munmap, mapping, length);
	return false;
}

static void
trampoline(void)
{
	root.function(root.arg);
}

/** @return a stack, or NULL. The keeper takes more than is asked for out of mappings that touch:
 * between these and the stack are pages that are not alike. */
static void *
make_stack(void)
{
	const size_t length = STACK_BYTES + 2 * PAGE_BYTES;
	uint8_t *pages = map(length, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	if (syscall(SYS_mprotect, pages, PAGE_BYTES, PROT_NONE) == 0 &&
		syscall(SYS_mprotect, pages + length - PAGE_BYTES, PAGE_BYTES, PROT_NONE) == 0)
		return pages + PAGE_BYTES;
	syscall(SYS_munmap, pages, length);
	return NULL;
}

/** Run a function on the other stack. @return whether there is one. */
static bool
run_there(void (*function)(void *arg), void *arg)
{
	if (root.stack == NULL)
		root.stack = make_stack();
	if (root.stack == NULL)
		return false;
	root.function = function;
	root.arg = arg;
	getcontext(&root.there);
	root.there.uc_stack.ss_sp = root.stack;
	root.there.uc_stack.ss_size = STACK_BYTES;
	root.there.uc_link = &root.before;
	makecontext(&root.there, trampoline, 0);
	swapcontext(&root.before, &root.there);
	return true;
}

struct move {
	struct shca_share share;
	shca_share_fn say;
	void *say_arg;
	int ret;
};

/** Copy what is not zero, of whole pages; those that were never touched stay so. */
static void
copy_pages(uint8_t *to, const uint8_t *from, size_t length)
{
	static const uint8_t zeros[PAGE_BYTES];

	for (size_t at = 0; at < length; at += PAGE_BYTES)
		if (memcmp(from + at, zeros, PAGE_BYTES) != 0)
			memcpy(to + at, from + at, PAGE_BYTES);
}

/** By a mapping, not by write(2): the limit of file sizes (RLIMIT_FSIZE) is not about memory. */
static int
move_to_file(const struct shca_share *share, int fd)
{
	uint8_t *start = (uint8_t *)(uintptr_t)share->start;
	uint8_t *copy = map(share->length, MAP_SHARED, fd, (off_t)share->offset);

	if (copy == MAP_FAILED)
		return -ENOMEM;
	copy_pages(copy, start, share->length);
	return put_at(start, copy, share->length, share->prot) ? 0 : -ENOMEM;
}

static void
run_move(void *arg)
{
	struct move *move = arg;
	const struct shca_share *share = &move->share;
	int fd = share->fd >= 0 ? share->fd : memfd_create(SHCA_MESSAGE_MEMORY, MFD_CLOEXEC);
	int ret;

	move->ret = fd >= 0 ? move->say(move->say_arg, SHCA_MESSAGE_STOP, fd, share) : -ENOMEM;
	if (move->ret == 0) {
		atomic_fetch_add(&root.nb_moves, 1);
		move->ret = move_to_file(share, fd);
		ret = move->say(move->say_arg, SHCA_MESSAGE_SHARE, move->ret == 0 ? fd : -1, share);
		if (move->ret == 0)
			move->ret = ret;
	} else if (move->ret == -EAGAIN) {
		move->ret = 0;
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
}

int
shca_share(const struct shca_share *share, shca_share_fn say, void *arg)
{
	/* Not on the stack, which may be what moves. */
	static struct move move;
	sigset_t signals;
	int ret;

	lock_begin(&signals);
	if (share->length == 0) {
		lock_end(&signals);
		return 0;
	}
	move = (struct move){ .share = *share, .say = say, .say_arg = arg, .ret = -ENOMEM };
	(void)run_there(run_move, &move);
	ret = move.ret;
	lock_end(&signals);
	if (ret != 0 && ret != -EIO)
		SHCA_ERR("%" PRIu64 " bytes of memory cannot be shared with the keeper: %s",
			share->length, strerror(-ret));
	return ret;
}

/** Some of the memory that has moved, and is still there. */
struct piece {
	uint8_t *start;
	size_t length;
	int prot;
};

/** @return whether a line of maps is of moved memory. Needs little stack and no lock. */
static bool
parse_moved(const char *line, struct piece *piece)
{
	uint64_t from, to;
	char *end;

	if (strstr(line, "/memfd:" SHCA_MESSAGE_MEMORY) == NULL)
		return false;
	from = strtoull(line, &end, 16);
	to = strtoull(end + 1, &end, 16);
	if (strlen(end) < sizeof(" rwxs") - 1 || end[4] != 's')
		return false;
	*piece = (struct piece){
		.start = (uint8_t *)(uintptr_t)from,
		.length = (size_t)(to - from),
		.prot = (end[1] == 'r' ? PROT_READ : 0) | (end[2] == 'w' ? PROT_WRITE : 0) |
			(end[3] == 'x' ? PROT_EXEC : 0),
	};
	return true;
}

/** Visit all moved memory. @param text TEXT_BYTES @return whether all visits went well. */
static bool
each_moved(char *text, bool (*visit)(void *arg, const struct piece *piece), void *arg)
{
	/* maps changes while it is read, but not what is still to come */
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct piece piece;
	size_t nb_held = 0;
	bool works = fd >= 0;
	char *line, *newline;
	long nb_read;

	while (works &&
		(nb_read = syscall(SYS_read, fd, text + nb_held, TEXT_BYTES - 1 - nb_held)) > 0) {
		nb_held += (size_t)nb_read;
		text[nb_held] = '\0';
		for (line = text; works && (newline = strchr(line, '\n')) != NULL;
			line = newline + 1) {
			*newline = '\0';
			works = !parse_moved(line, &piece) || visit(arg, &piece);
		}
		nb_held -= (size_t)(line - text);
		memmove(text, line, nb_held);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return works;
}

/** Give this process memory of its own for a piece of a moved one. */
static bool
take_back(void *arg, const struct piece *piece)
{
	uint8_t *copy = map(piece->length, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (copy == MAP_FAILED)
		return false;
	if ((piece->prot & PROT_READ) == 0)
		syscall(SYS_mprotect, piece->start, piece->length, PROT_READ);
	copy_pages(copy, piece->start, piece->length);
	return put_at(piece->start, copy, piece->length, piece->prot);
}

static bool
take_all_back(void)
{
	static char text[TEXT_BYTES];

	return each_moved(text, take_back, NULL);
}

/** What shca_share_fork() does; not on the stack, which may be moved memory. */
static struct {
	pid_t (*fork_fn)(void);
	shca_share_fn say;
	void *say_arg;
	pid_t pid;
	int error;
	int ends[2];
	bool is_waited_for; /**< the child, until it has memory of its own */
} forking;

void
shca_share_forked(void)
{
	char byte = 0;

	if (!forking.is_waited_for)
		return;
	if (!take_all_back()) {
		SHCA_ERR("fork: no memory for what was shared with the keeper");
		_exit(127);
	}
	forking.is_waited_for = false;
	syscall(SYS_write, forking.ends[1], &byte, 1);
	syscall(SYS_close, forking.ends[0]);
	syscall(SYS_close, forking.ends[1]);
}

/** Both processes have the moved memory until the child has its own: the parent waits so long, and
 * its other threads, which have locks that the child believes to have, stand still. */
static void
run_fork(void *arg)
{
	static const struct shca_share none;
	bool stands_still = forking.say != NULL &&
		forking.say(forking.say_arg, SHCA_MESSAGE_FORK, forking.ends[0], &none) == 0;
	char byte = 0;

	(void)arg;
	forking.is_waited_for = true;
	forking.pid = forking.fork_fn();
	forking.error = errno;
	if (forking.pid == 0) {
		shca_share_forked();
		return;
	}
	forking.is_waited_for = false;
	syscall(SYS_close, forking.ends[1]);
	if (forking.pid < 0 && stands_still)
		forking.say(forking.say_arg, SHCA_MESSAGE_SHARE, -1, &none);
	if (forking.pid > 0)
		while (syscall(SYS_read, forking.ends[0], &byte, 1) < 0 && errno == EINTR)
			;
	syscall(SYS_close, forking.ends[0]);
}

bool
shca_share_has_moved(void)
{
	return atomic_load(&root.nb_moves) != 0;
}

pid_t
shca_share_fork(pid_t (*fork_fn)(void), shca_share_fn say, void *arg)
{
	sigset_t signals;
	pid_t pid;
	int error;

	lock_begin(&signals);
	forking.fork_fn = fork_fn;
	forking.say = say;
	forking.say_arg = arg;
	forking.pid = -1;
	forking.error = ENOMEM;
	if (atomic_load(&root.nb_moves) == 0 || pipe2(forking.ends, O_CLOEXEC) != 0 ||
		!run_there(run_fork, NULL)) {
		forking.pid = fork_fn();
		forking.error = errno;
	}
	pid = forking.pid;
	error = forking.error;
	lock_end(&signals);
	errno = error;
	return pid;
}

/** Addresses, of whole pages. */
struct range {
	uintptr_t from, to;
};

/** Put fresh memory in the place of a piece, as far as it is in the range. */
static bool
renew_piece(void *arg, const struct piece *piece)
{
	const struct range *range = arg;
	uintptr_t from = (uintptr_t)piece->start, to = from + piece->length;

	if (from < range->from)
		from = range->from;
	if (to > range->to)
		to = range->to;
	return from >= to ||
		syscall(SYS_mmap, from, to - from, piece->prot,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != -1;
}

/** @return whether there is memory for it. */
static bool
renew(uintptr_t from, size_t length)
{
	struct range range = { .from = from };
	bool works;
	char *text;

	/* The kernel refuses them (mm/madvise.c, madvise_should_skip). */
	if (from % PAGE_BYTES != 0 || length > UINTPTR_MAX - PAGE_BYTES - from)
		return true;
	range.to = (from + length + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	text = (char *)map(TEXT_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return false;
	works = each_moved(text, renew_piece, &range);
	syscall(SYS_munmap, text, TEXT_BYTES);
	return works;
}

/** @return whether the range is the unused end of the caller's stack, who is at @p here: nobody
 * counts on zeros there, but functions called from here have theirs on it. */
static bool
is_below(uintptr_t here, uintptr_t from, size_t length)
{
	const uintptr_t lowest = here - FRAMES_BYTES;

	return from <= here && (from > lowest || length > lowest - from);
}

/**
 * The device keeps its mapping of what was there, as it does of pages that are pinned, and the next
 * region moves the fresh memory. MADV_FREE may free at once, so it is the same; the kernel knows it
 * for private memory without a file alone, so it also tells whether anything in the range may have
 * moved, for less than it takes to read all mappings. Being first it frees nothing that the advice
 * itself would leave.
 */
int
shca_share_advise(int (*madvise_fn)(void *start, size_t length, int advice), void *start,
	size_t length, int advice)
{
	const uintptr_t from = (uintptr_t)start;
	const int saved_errno = errno;
	unsigned int nb_moves;
	int ret;

	if (is_below((uintptr_t)__builtin_frame_address(0), from, length))
		return madvise_fn(start, length, advice);
	do {
		nb_moves = atomic_load(&root.nb_moves);
		if (nb_moves != 0 && syscall(SYS_madvise, start, length, MADV_FREE) != 0 &&
			errno == EINVAL && !renew(from, length)) {
			errno = ENOMEM;
			return -1;
		}
		ret = madvise_fn(start, length, advice);
		/* Otherwise memory has moved since it was looked at. */
	} while (nb_moves != atomic_load(&root.nb_moves));
	if (ret == 0)
		errno = saved_errno;
	return ret;
}
