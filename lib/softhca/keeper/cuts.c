/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of nothing where a program has cut away those of its file. */
#include "keeper/cuts.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static void
on_cut(int signal_number, siginfo_t *info, void *context)
{
	static const uintptr_t pages[] = { 1u << 12, 1u << 21, 1u << 30 };

	(void)context;
	for (unsigned int i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const uintptr_t page = (uintptr_t)info->si_addr / pages[i] * pages[i];

		if (info->si_code == BUS_ADRERR &&
			mmap((void *)page, pages[i], PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
				0) != MAP_FAILED)
			return;
	}
	signal(signal_number, SIG_DFL);
}

void
shca_cuts_survive(void)
{
	struct sigaction action = {
		.sa_sigaction = on_cut,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK,
	};

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}
