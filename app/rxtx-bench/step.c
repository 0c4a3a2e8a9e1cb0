/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts instructions by the CPU's single steps, each a signal: for instructions that valgrind
 * does not know, such as AVX-512's. */
#include <errno.h>
#include <signal.h>

#include "bench.h"

#ifdef __x86_64__
#include <x86intrin.h>

#define TRAP_FLAG 0x100ull

static volatile uint64_t nb_steps;

static void
step(int signal)
{
	(void)signal;
	nb_steps++;
}

int
bench_step_init(void)
{
	const struct sigaction action = { .sa_handler = step };

	return sigaction(SIGTRAP, &action, NULL) == 0 ? 0 : -errno;
}

void
bench_step_begin(void)
{
	nb_steps = 0;
	__writeeflags(__readeflags() | TRAP_FLAG);
}

uint64_t
bench_step_end(void)
{
	__writeeflags(__readeflags() & ~TRAP_FLAG);
	return nb_steps;
}

#else

int
bench_step_init(void)
{
	return -ENOTSUP;
}

void
bench_step_begin(void)
{
}

uint64_t
bench_step_end(void)
{
	return 0;
}

#endif
