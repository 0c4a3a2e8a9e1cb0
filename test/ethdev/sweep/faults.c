/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail by count. Verbs are ioctls, and this program has the first definition of ioctl().
 * For other calls the program replaces the entries of one library's own table of functions: only
 * the calls of that library fail, and never those of the device below.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <ethdev_driver.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_kvargs.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_mempool.h>

#include "sweep.h"

static __thread struct {
	enum sweep_fault what;
	unsigned int nb_left; /**< calls until one fails; 0: none will */
	bool fired;
} fault;

void
sweep_arm(enum sweep_fault what, unsigned int nth)
{
	fault.what = what;
	fault.nb_left = nth;
	fault.fired = false;
	/* An errno of before must not pass for a reason. */
	errno = 0;
	rte_errno = 0;
}

bool
sweep_disarm(void)
{
	fault.nb_left = 0;
	return fault.fired;
}

static bool
fails(enum sweep_fault what)
{
	if (fault.what != what || fault.nb_left == 0 || --fault.nb_left != 0)
		return false;
	fault.fired = true;
	return true;
}

static bool
is_destroy(const struct ib_uverbs_ioctl_hdr *hdr)
{
	static const struct {
		uint16_t object, method;
	} rows[] = {
		{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY },
		{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY },
		{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY },
		{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY },
		{ UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY },
		{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY },
		{ UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY },
		{ UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY },
		{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY },
		{ UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		if (rows[i].object == hdr->object_id && rows[i].method == hdr->method_id)
			return true;
	}
	return false;
}

/**
 * In place of libibverbs': the mlx4 driver, which the EAL loads from its plugins' directory, asks
 * for fork support, after which libmlx5 reads /proc/self/smaps for each ring that it makes. That
 * was three quarters of a sweep's time.
 */
int
ibv_fork_init(void)
{
	return 0;
}

/**
 * LeakSanitizer asks for this. libibverbs' verbs_init_context() holds the device, and does not let
 * go of it when the allocation after that fails; what is lost with the last list of devices is
 * libmlx5's.
 */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libmlx5.so\n";
}

/** The verbs libraries call this ioctl() before the C library's. */
int
ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, ...) = (__typeof__(next))dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && !is_destroy(arg) && fails(SWEEP_VERBS)) {
		errno = ENOMEM;
		return -1;
	}
	return next(fd, request, arg);
}

/** Failures of functions that have only their return value, or nothing, to report them. */
static __thread int untold;

/** For each function that a library may call: a function in its place that may fail, and reports
 * this in the way of the original. A caller that looks elsewhere finds no error. */
/* clang-format off */
#define CALLS(X) \
	X(SWEEP_MEMORY, errno, void *, NULL, malloc, (size_t size), (size)) \
	X(SWEEP_MEMORY, errno, void *, NULL, calloc, (size_t nb, size_t size), (nb, size)) \
	X(SWEEP_MEMORY, errno, void *, NULL, realloc, (void *old, size_t size), (old, size)) \
	X(SWEEP_MEMORY, errno, void *, NULL, aligned_alloc, (size_t align, size_t size), \
		(align, size)) \
	X(SWEEP_MEMORY, errno, int, ENOMEM, posix_memalign, \
		(void **to, size_t align, size_t size), \
		(to, align, size)) \
	X(SWEEP_MEMORY, errno, void *, NULL, strdup, (const char *text), (text)) \
	X(SWEEP_MEMORY, untold, void *, NULL, rte_malloc, \
		(const char *type, size_t size, unsigned int align), \
		(type, size, align)) \
	X(SWEEP_MEMORY, untold, void *, NULL, rte_zmalloc, \
		(const char *type, size_t size, unsigned int align), \
		(type, size, align)) \
	X(SWEEP_MEMORY, untold, void *, NULL, rte_zmalloc_socket, \
		(const char *type, size_t size, unsigned int align, int socket), \
		(type, size, align, socket)) \
	X(SWEEP_MEMORY, rte_errno, void *, NULL, rte_intr_instance_alloc, (uint32_t flags), \
		(flags)) \
	X(SWEEP_MEMORY, rte_errno, int, -ENOMEM, rte_intr_vec_list_alloc, \
		(struct rte_intr_handle *handle, const char *name, int size), \
		(handle, name, size)) \
	X(SWEEP_MEMORY, untold, struct rte_kvargs *, NULL, rte_kvargs_parse, \
		(const char *text, const char *const *keys), \
		(text, keys)) \
	X(SWEEP_MEMORY, untold, struct rte_eth_dev *, NULL, rte_eth_dev_allocate, \
		(const char *name), \
		(name)) \
	X(SWEEP_SYSTEM, errno, int, -1, socket, (int domain, int type, int protocol), \
		(domain, type, protocol)) \
	X(SWEEP_SYSTEM, errno, int, -1, bind, (int fd, const struct sockaddr *to, socklen_t size), \
		(fd, to, size)) \
	X(SWEEP_SYSTEM, errno, unsigned int, 0, if_nametoindex, (const char *name), (name)) \
	X(SWEEP_SYSTEM, errno, int, -1, open, (const char *path, int flags, mode_t mode), \
		(path, flags, mode)) \
	X(SWEEP_SYSTEM, errno, int, -1, openat, \
		(int at, const char *path, int flags, mode_t mode), \
		(at, path, flags, mode)) \
	X(SWEEP_SYSTEM, errno, int, -1, fcntl, (int fd, int command, long arg), \
		(fd, command, arg)) \
	X(SWEEP_SYSTEM, errno, int, -1, fcntl64, (int fd, int command, long arg), \
		(fd, command, arg)) \
	X(SWEEP_SYSTEM, errno, int, -1, dup, (int fd), (fd)) \
	X(SWEEP_SYSTEM, errno, int, -1, eventfd, (unsigned int start, int flags), (start, flags)) \
	X(SWEEP_SYSTEM, errno, int, -1, epoll_create1, (int flags), (flags)) \
	X(SWEEP_SYSTEM, errno, int, -1, epoll_ctl, \
		(int fd, int what, int of, struct epoll_event *event), \
		(fd, what, of, event)) \
	X(SWEEP_SYSTEM, errno, int, -1, memfd_create, (const char *name, unsigned int flags), \
		(name, flags)) \
	X(SWEEP_SYSTEM, errno, void *, MAP_FAILED, mmap, \
		(void *at, size_t size, int prot, int flags, int fd, off_t offset), \
		(at, size, prot, flags, fd, offset)) \
	X(SWEEP_SYSTEM, errno, void *, MAP_FAILED, mmap64, \
		(void *at, size_t size, int prot, int flags, int fd, off64_t offset), \
		(at, size, prot, flags, fd, offset)) \
	X(SWEEP_SYSTEM, errno, int, -1, mprotect, (void *at, size_t size, int prot), \
		(at, size, prot)) \
	X(SWEEP_SYSTEM, errno, FILE *, NULL, fopen, (const char *path, const char *mode), \
		(path, mode)) \
	X(SWEEP_SYSTEM, errno, FILE *, NULL, fopen64, (const char *path, const char *mode), \
		(path, mode)) \
	X(SWEEP_SYSTEM, errno, FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode)) \
	X(SWEEP_SYSTEM, errno, DIR *, NULL, opendir, (const char *path), (path)) \
	X(SWEEP_SYSTEM, errno, int, -1, stat64, (const char *path, struct stat64 *to), (path, to)) \
	X(SWEEP_SYSTEM, errno, ssize_t, -1, read, (int fd, void *bytes, size_t size), \
		(fd, bytes, size)) \
	X(SWEEP_SYSTEM, untold, int, -ENOMEM, rte_intr_callback_register, \
		(const struct rte_intr_handle *handle, rte_intr_callback_fn callback, void *arg), \
		(handle, callback, arg)) \
	X(SWEEP_SYSTEM, rte_errno, int, -1, rte_mem_event_callback_register, \
		(const char *name, rte_mem_event_callback_t callback, void *arg), \
		(name, callback, arg)) \
	X(SWEEP_SYSTEM, rte_errno, int, -1, rte_mempool_event_callback_register, \
		(rte_mempool_event_callback *callback, void *arg), \
		(callback, arg)) \
	X(SWEEP_SYSTEM, rte_errno, int, (*reply = (struct rte_mp_reply){ 0 }, -1), rte_mp_request_sync, \
		(struct rte_mp_msg *msg, struct rte_mp_reply *reply, const struct timespec *patience), \
		(msg, reply, patience))

#define MAY_FAIL(what, told, type, failure, name, params, args) \
	static type \
	may_fail_##name params \
	{ \
		if (!fails(what)) \
			return name args; \
		told = ENOMEM; \
		return failure; \
	}
#define ROW(what, told, type, failure, name, params, args) \
	{ what, #name, (uintptr_t)may_fail_##name },

CALLS(MAY_FAIL)

/** Ioctls that are no verbs are for the netdev. */
static int
may_fail_ioctl(int fd, unsigned long request, void *arg)
{
	if (request != RDMA_VERBS_IOCTL && fails(SWEEP_SYSTEM)) {
		errno = ENOMEM;
		return -1;
	}
	return sweep_netdev_ioctl(fd, request, arg);
}

static const struct {
	enum sweep_fault what;
	const char *name;
	uintptr_t instead;
} calls[] = {
	CALLS(ROW)
	{ SWEEP_SYSTEM, "ioctl", (uintptr_t)may_fail_ioctl },
};
/* clang-format on */

/** The dynamic section of a shared library. */
struct library {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *names;
	unsigned int nb_replaced;
};

static void
replace(ElfW(Addr) * entry, uintptr_t instead)
{
	const uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)entry & ~(page - 1);

	/* The loader may have made it read-only. */
	sweep_must(mprotect((void *)start, page, PROT_READ | PROT_WRITE) == 0, "mprotect");
	*entry = instead;
}

static void
replace_among(struct library *library, const ElfW(Rela) * relocations, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*relocations); i++) {
		const ElfW(Sym) *symbol = &library->symbols[ELF64_R_SYM(relocations[i].r_info)];
		const char *name = library->names + symbol->st_name;

		for (unsigned int k = 0; k < RTE_DIM(calls); k++) {
			if (symbol->st_shndx != SHN_UNDEF || strcmp(name, calls[k].name) != 0)
				continue;
			replace((void *)(library->base + relocations[i].r_offset),
				calls[k].instead);
			library->nb_replaced++;
		}
	}
}

bool
sweep_watch(const char *name)
{
	struct library library = { 0 };
	const ElfW(Rela) *plt = NULL, *others = NULL;
	size_t plt_size = 0, others_size = 0;
	struct link_map *map = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

	sweep_must(map != NULL, "%s is not loaded", name);
	library.base = map->l_addr;
	/* glibc has turned these entries into addresses. */
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			library.symbols = (const void *)entry->d_un.d_ptr;
			break;
		case DT_STRTAB:
			library.names = (const void *)entry->d_un.d_ptr;
			break;
		case DT_JMPREL:
			plt = (const void *)entry->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			plt_size = entry->d_un.d_val;
			break;
		case DT_RELA:
			others = (const void *)entry->d_un.d_ptr;
			break;
		case DT_RELASZ:
			others_size = entry->d_un.d_val;
			break;
		}
	}
	replace_among(&library, plt, plt_size);
	replace_among(&library, others, others_size);
	return library.nb_replaced != 0;
}
