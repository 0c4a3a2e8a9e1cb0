/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device threads of a process: one for all its devices, or several where there are CPUs for
 * them. Devices of one group are always one thread's: those of a card, whose switch and wire they
 * would wait for in turn.
 */
#ifndef SHCA_HW_DEVICE_THREADS_H
#define SHCA_HW_DEVICE_THREADS_H

#include <sched.h>
#include <stdbool.h>

struct shca_device;
struct shca_threads;

struct shca_threads_conf {
	struct shca_device *const *devs; /**< borrowed */
	const unsigned int *group;       /**< of each device: the index of the group's first one */
	unsigned int nb_devs;
	unsigned int nb_most; /**< threads at most; 0: half of the CPUs */
	const cpu_set_t *cpus;
};

/** Start the threads (shca_thread_start()). @return 0 or a negative errno. */
int shca_threads_start(const struct shca_threads_conf *conf, struct shca_threads **threads);
/** End and join them, frozen or not. NULL is allowed. */
void shca_threads_stop(struct shca_threads *threads);
/** Freeze all of them, each between two rounds: doorbells and frames pile up. Returns when they
 * stand still. Any other thread may call it, also when they are frozen already. */
void shca_threads_freeze(struct shca_threads *threads);
/** Let frozen threads continue. */
void shca_threads_thaw(struct shca_threads *threads);
bool shca_threads_are_frozen(struct shca_threads *threads);
/** @return how many there are. NULL: 0. */
unsigned int shca_threads_nb(const struct shca_threads *threads);

#endif /* SHCA_HW_DEVICE_THREADS_H */
