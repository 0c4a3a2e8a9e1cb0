/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is to be cancelled gives commands: ioctl(2) is no cancellation point, so each is
 * done, memory that has to move among it, and nothing stays locked for the others.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define REGION_BYTES (1u << 20)

static unsigned int nb_done;

static void *
give_commands(void *arg)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	pthread_cancel(pthread_self());
	pd = ibv_alloc_pd(rig_context);
	nb_done++;
	mr = ibv_reg_mr(pd, arg, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);
	nb_done++;
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	nb_done++;
	pthread_testcancel();
	nb_done++;
	return NULL;
}

int
main(void)
{
	void *memory = malloc(REGION_BYTES), *result = NULL;
	pthread_t thread;
	pid_t pid;

	rig_open();
	if (memory == NULL || pthread_create(&thread, NULL, give_commands, memory) != 0)
		rig_die("pthread_create");
	pthread_join(thread, &result);
	CHECK(nb_done == 3 && result == PTHREAD_CANCELED, nb_done);
	if (nb_done == 3) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid, pid);
	}
	free(memory);
	return rig_close();
}
