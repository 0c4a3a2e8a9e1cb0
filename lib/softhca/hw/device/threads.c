/* SPDX-License-Identifier: BSD-3-Clause */
/* The device threads of a process. */
#include "hw/device/threads.h"

#include <errno.h>
#include <stdlib.h>

#include "hw/device/thread.h"

struct shca_threads {
	unsigned int nb;
	struct shca_thread *thread[];
};

/** @return the number of groups before that of device @p index. */
static unsigned int
place(const struct shca_threads_conf *conf, unsigned int index)
{
	unsigned int nb = 0;

	for (unsigned int i = 0; i < conf->group[index]; i++)
		nb += conf->group[i] == i;
	return nb;
}

/** A program that polls needs a CPU, too: as many threads as half of them. */
static unsigned int
nb_threads(const struct shca_threads_conf *conf)
{
	const unsigned int nb_cpus = conf->cpus != NULL ? (unsigned int)CPU_COUNT(conf->cpus) : 1;
	const unsigned int nb_most = conf->nb_most != 0 ? conf->nb_most : nb_cpus / 2;
	unsigned int nb_groups = 0;

	for (unsigned int i = 0; i < conf->nb_devs; i++)
		nb_groups += conf->group[i] == i;
	return nb_most < 1 ? 1 : nb_most < nb_groups ? nb_most : nb_groups;
}

/** Start a thread for every @p nb th group from @p first on. */
static int
start_thread(const struct shca_threads_conf *conf, unsigned int first, unsigned int nb,
	struct shca_thread **thread)
{
	struct shca_device **devs = calloc(conf->nb_devs, sizeof(struct shca_device *));
	unsigned int nb_devs = 0;
	int ret;

	if (devs == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < conf->nb_devs; i++)
		if (place(conf, i) % nb == first)
			devs[nb_devs++] = conf->devs[i];
	ret = shca_thread_start(devs, nb_devs, conf->cpus, thread);
	free(devs);
	return ret;
}

int
shca_threads_start(const struct shca_threads_conf *conf, struct shca_threads **out)
{
	const unsigned int nb = nb_threads(conf);
	struct shca_threads *threads =
		calloc(1, sizeof(*threads) + nb * sizeof(struct shca_thread *));
	int ret = 0;

	if (threads == NULL)
		return -ENOMEM;
	for (; threads->nb < nb && ret == 0; threads->nb += ret == 0)
		ret = start_thread(conf, threads->nb, nb, &threads->thread[threads->nb]);
	if (ret != 0) {
		shca_threads_stop(threads);
		return ret;
	}
	*out = threads;
	return 0;
}

void
shca_threads_stop(struct shca_threads *threads)
{
	if (threads == NULL)
		return;
	for (unsigned int i = 0; i < threads->nb; i++)
		shca_thread_stop(threads->thread[i]);
	free(threads);
}

void
shca_threads_freeze(struct shca_threads *threads)
{
	for (unsigned int i = 0; i < threads->nb; i++)
		shca_thread_freeze(threads->thread[i]);
}

void
shca_threads_thaw(struct shca_threads *threads)
{
	for (unsigned int i = 0; i < threads->nb; i++)
		shca_thread_thaw(threads->thread[i]);
}

bool
shca_threads_are_frozen(struct shca_threads *threads)
{
	return shca_thread_is_frozen(threads->thread[0]);
}

unsigned int
shca_threads_nb(const struct shca_threads *threads)
{
	return threads != NULL ? threads->nb : 0;
}
