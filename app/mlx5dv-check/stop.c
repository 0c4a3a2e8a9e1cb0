/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that end a run: what waits for frames stops waiting, and rows undo what they did. */
#include <signal.h>
#include <stddef.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "check.h"

static volatile sig_atomic_t stopped_by;

static void
stop(int signal)
{
	stopped_by = signal;
}

void
check_stop_prepare(void)
{
	/* SIGHUP: the terminal has gone. SIGPIPE: who reads the report has. */
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	for (unsigned int i = 0; i < RTE_DIM(signals); i++)
		(void)sigaction(signals[i], &action, NULL);
}

int
check_stop_signal(void)
{
	return stopped_by;
}

uint64_t
check_wait_end(const struct check *check)
{
	return rte_get_timer_cycles() + check->patience_ms * rte_get_timer_hz() / 1000;
}

bool
check_wait_on(uint64_t end)
{
	return stopped_by == 0 && rte_get_timer_cycles() < end;
}
