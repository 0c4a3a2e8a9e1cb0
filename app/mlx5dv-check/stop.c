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
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	for (unsigned int i = 0; i < RTE_DIM(signals); i++) {
		/* nohup(1): the run is to go on without its terminal. */
		if (signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
			before.sa_handler == SIG_IGN)
			continue;
		(void)sigaction(signals[i], &action, NULL);
	}
}

int
check_stop_signal(void)
{
	return stopped_by;
}

/** A wait looks around much more often than this: what a look takes longer, the program has not
 * run.
 */
#define LOOK_MS 10

/** Time as far as the program has been there to see it, in cycles of the timer. A device is not
 * late that nobody has looked at: a busy machine may keep the program from running for seconds, and
 * who stops it by SIGSTOP for hours. */
static uint64_t
time_seen(void)
{
	static uint64_t latest, missed;
	const uint64_t now = rte_get_timer_cycles();
	const uint64_t look = LOOK_MS * rte_get_timer_hz() / MS_PER_S;

	if (latest != 0 && now - latest > look)
		missed += now - latest - look;
	latest = now;
	return now - missed;
}

uint64_t
check_wait_for(unsigned int ms)
{
	return time_seen() + ms * rte_get_timer_hz() / MS_PER_S;
}

uint64_t
check_wait_end(const struct check *check)
{
	return check_wait_for(check->patience_ms);
}

bool
check_wait_on(uint64_t end)
{
	return stopped_by == 0 && time_seen() < end;
}
