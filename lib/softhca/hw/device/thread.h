/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device thread: steps its devices while there is work, spins a little, then sleeps in growing,
 * bounded steps (woken at once by a wire's descriptor) so that an idle device costs no CPU.
 */
#ifndef SHCA_HW_DEVICE_THREAD_H
#define SHCA_HW_DEVICE_THREAD_H

#include <sched.h>
#include <stdbool.h>

struct shca_device;
struct shca_thread;

/**
 * Start a thread over @p devs (borrowed) on the CPUs @p cpus. It takes no signals but those of its
 * own faults.
 * @return 0 or a negative errno.
 */
int shca_thread_start(struct shca_device *const *devs, unsigned int nb_devs, const cpu_set_t *cpus,
	struct shca_thread **thread);
/** End and join the thread, frozen or not. NULL is allowed. */
void shca_thread_stop(struct shca_thread *thread);
/**
 * Freeze the thread between two rounds: doorbells and frames pile up. Returns when it stands still.
 * Any other thread may call it, also when the thread is frozen already.
 */
void shca_thread_freeze(struct shca_thread *thread);
/** Let a frozen thread continue. */
void shca_thread_thaw(struct shca_thread *thread);
bool shca_thread_is_frozen(struct shca_thread *thread);

#endif /* SHCA_HW_DEVICE_THREAD_H */
