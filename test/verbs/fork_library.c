/* SPDX-License-Identifier: BSD-3-Clause */
/* What a library's fork() writes in the child, whose memory was registered when its parent forked,
 * the parent does not see. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fork_library.h"
#include "rig.h"

#define BYTES 8192

int
main(void)
{
	int *object = aligned_alloc(4096, BYTES);
	struct ibv_mr *mr;
	int status;
	pid_t pid;

	rig_open();
	if (object == NULL)
		rig_die("aligned_alloc");
	*object = 1;
	mr = ibv_reg_mr(rig_pd, object, BYTES, IBV_ACCESS_LOCAL_WRITE);
	if (mr == NULL)
		rig_die("ibv_reg_mr");
	fork_library_set(object);
	pid = fork();
	if (pid == 0)
		_exit(*object == FORK_LIBRARY_CHILD ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		rig_die("fork");
	CHECK(status == 0, status);
	CHECK(*object == 1, *object);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	free(object);
	return rig_close();
}
