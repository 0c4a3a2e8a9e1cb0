/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail by count. Verbs are ioctls, of which this program has the first definition. For
 * memory the driver's entries in its own table of functions are replaced: nobody else's allocations
 * fail, least of all those of the device below.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_malloc.h>

#include "sweep.h"

static __thread struct {
	enum sweep_fault what;
	unsigned int nb_left; /**< until one fails; 0: none will */
	bool fired;
} fault;

void
sweep_arm(enum sweep_fault what, unsigned int nth)
{
	fault.what = what;
	fault.nb_left = nth;
	fault.fired = false;
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
	errno = ENOMEM;
	rte_errno = ENOMEM;
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
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		if (rows[i].object == hdr->object_id && rows[i].method == hdr->method_id)
			return true;
	}
	return false;
}

/* Stands before the C library's for the verbs libraries. */
int
ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, ...) = (__typeof__(next))dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && !is_destroy(arg) && fails(SWEEP_VERBS))
		return -1;
	return next(fd, request, arg);
}

/* Of each function the driver calls: one that may fail, in its place. */
/* clang-format off */
#define ALLOCATORS(X) \
	X(malloc, (size_t size), (size)) \
	X(calloc, (size_t nb, size_t size), (nb, size)) \
	X(realloc, (void *old, size_t size), (old, size)) \
	X(aligned_alloc, (size_t align, size_t size), (align, size)) \
	X(strdup, (const char *text), (text)) \
	X(rte_malloc, (const char *type, size_t size, unsigned int align), (type, size, align)) \
	X(rte_zmalloc, (const char *type, size_t size, unsigned int align), (type, size, align)) \
	X(rte_zmalloc_socket, (const char *type, size_t size, unsigned int align, int socket), \
		(type, size, align, socket)) \
	X(rte_intr_instance_alloc, (uint32_t flags), (flags))

#define MAY_FAIL(name, params, args) \
	static void * \
	may_fail_##name params \
	{ \
		return fails(SWEEP_MEMORY) ? NULL : (void *)name args; \
	}
#define ROW(name, params, args) { #name, (uintptr_t)may_fail_##name },

ALLOCATORS(MAY_FAIL)

static const struct {
	const char *name;
	uintptr_t instead;
} allocators[] = { ALLOCATORS(ROW) };
/* clang-format on */

/* Of a shared library: its dynamic section. */
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

		for (unsigned int k = 0; k < RTE_DIM(allocators); k++) {
			if (symbol->st_shndx != SHN_UNDEF || strcmp(name, allocators[k].name) != 0)
				continue;
			replace((void *)(library->base + relocations[i].r_offset),
				allocators[k].instead);
			library->nb_replaced++;
		}
	}
}

bool
sweep_watch_memory(const char *driver)
{
	struct library library = { 0 };
	const ElfW(Rela) *plt = NULL, *others = NULL;
	size_t plt_size = 0, others_size = 0;
	struct link_map *map = dlopen(driver, RTLD_LAZY | RTLD_NOLOAD);

	sweep_must(map != NULL, "%s is not loaded", driver);
	library.base = map->l_addr;
	/* glibc has made addresses of these. */
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
