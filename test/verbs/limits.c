/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process may pin: RLIMIT_MEMLOCK is of all its contexts together, one of 0 forbids it
 * (Linux core/umem.c ib_umem_get()), and who has CAP_IPC_LOCK has none. */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"

#define PAGE  4096u
#define PAGES 16u /* that may be pinned, beside the rig's */

static uint8_t *memory;

static void
limit(rlim_t bytes)
{
	struct rlimit most;

	rig_must(getrlimit(RLIMIT_MEMLOCK, &most), "getrlimit");
	most.rlim_cur = bytes;
	rig_must(setrlimit(RLIMIT_MEMLOCK, &most), "setrlimit");
}

/** Have CAP_IPC_LOCK no longer, if ever. */
static void
drop_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	rig_must((int)syscall(SYS_capget, &header, data), "capget");
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	rig_must((int)syscall(SYS_capset, &header, data), "capset");
}

static struct ibv_mr *
pin(struct ibv_pd *pd, unsigned int nb_pages)
{
	return ibv_reg_mr(pd, memory, (size_t)nb_pages * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static struct ibv_mr *
must_pin(struct ibv_pd *pd, unsigned int nb_pages)
{
	struct ibv_mr *mr = pin(pd, nb_pages);

	if (mr == NULL)
		rig_die("ibv_reg_mr");
	return mr;
}

static void
of_all_contexts(void)
{
	struct ibv_context *other = ibv_open_device(rig_context->device);
	struct ibv_pd *pd = other != NULL ? ibv_alloc_pd(other) : NULL;
	struct ibv_mr *first, *second;

	if (pd == NULL)
		rig_die("ibv_alloc_pd");
	first = must_pin(rig_pd, PAGES / 2);
	CHECK_REFUSED(pin(pd, PAGES), ENOMEM);
	rig_must(ibv_dereg_mr(first), "ibv_dereg_mr");
	first = must_pin(rig_pd, PAGES / 4);
	second = must_pin(pd, PAGES / 4);
	rig_must(ibv_dereg_mr(second), "ibv_dereg_mr");
	rig_must(ibv_dereg_mr(first), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	rig_must(ibv_close_device(other), "ibv_close_device");
}

static void
registered_again(void)
{
	struct ibv_mr *mr = must_pin(rig_pd, PAGES * 3 / 4);

	/* The same pages are not pinned once more, others are before these go. */
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
		"ibv_rereg_mr");
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory, PAGES * 3 / 4 * PAGE,
		      0) != 0,
		errno);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

/** Pages that are pinned are the region's, whatever becomes of the addresses; but a device in the
 * program has nothing else to find them by. */
static void
without_its_addresses(void)
{
	const char *keeper = getenv("SOFTHCA_KEEPER");
	uint8_t *bytes =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig_context);
	struct ibv_mr *mr;

	if (keeper != NULL && strcmp(keeper, "0") == 0)
		return;
	bytes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pd = ibv_alloc_pd(rig_context);
	if (bytes == MAP_FAILED || pd == NULL)
		rig_die("memory");
	mr = ibv_reg_mr(rig_pd, bytes, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (mr == NULL)
		rig_die("ibv_reg_mr");
	munmap(bytes, PAGE);
	rig_must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), "ibv_rereg_mr");
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
}

int
main(void)
{
	const size_t held = (size_t)RIG_NB_BUFFERS * RIG_BUFFER_BYTES;

	rig_open();
	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		rig_die("mmap");
	without_its_addresses();
	drop_capability();
	limit(held + (size_t)PAGES * PAGE);
	of_all_contexts();
	registered_again();
	limit(0);
	CHECK_REFUSED(pin(rig_pd, 1), EPERM);
	return rig_close();
}
