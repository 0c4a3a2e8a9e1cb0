/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts instructions by the CPU's single steps, each a signal: for instructions that valgrind
 * does not know, such as AVX-512's; and has trace.c write them down. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "bench.h"

#ifdef __x86_64__
#include <x86intrin.h>

#define TRAP_FLAG 0x100ull

static volatile uint64_t nb_steps;

/** The instruction is executed when the handler returns. */
static void
step(int signal, siginfo_t *info, void *context)
{
	const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;
	struct bench_step *to = bench_trace_step();

	(void)signal;
	(void)info;
	nb_steps++;
	if (to == NULL)
		return;
	static_assert(REG_R8 == 0 && REG_RSP == 15 && REG_RIP == 16, "in this order");
	memcpy(to->regs, regs, sizeof(to->regs));
	memcpy(to->code, (const void *)(uintptr_t)regs[REG_RIP], sizeof(to->code));
}

int
bench_step_init(void)
{
	const struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };

	return sigaction(SIGTRAP, &action, NULL) == 0 ? 0 : -errno;
}

void
bench_step_begin(void)
{
	nb_steps = 0;
	bench_trace_burst();
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
