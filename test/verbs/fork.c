/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks with the device open: as with the kernel, the child shares the descriptor and nothing of
 * the queues. The child leaves in one of three ways, lives on, or opens a context of its own; in
 * each case the parent's queues go on, and only the parent's end destroys its objects. Argument
 * "init": after ibv_fork_init(), which keeps rings and regions from the child. Argument "_Fork" or
 * "forkpty": children are made so.
 */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define ROUNDS 20

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_flow *flow;

/** The terminal stays open: its end would be the child's. */
static pid_t
fork_with_terminal(void)
{
	int terminal;

	return forkpty(&terminal, NULL, NULL, NULL);
}

static pid_t (*fork_so)(void) = fork;

static void
make_queues(void)
{
	cq = ibv_create_cq(rig_context, 64, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	flow = rig_take_own(qp);
}

static void
destroy_queues(void)
{
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

static pid_t
must_fork(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork_so();
	if (pid < 0)
		rig_die("fork");
	return pid;
}

static int
status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		rig_die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void
leave_at_once(void)
{
	_exit(0);
}

static void
leave_through_exit_handlers(void)
{
	exit(0);
}

static void
close_and_leave(void)
{
	int ret = close(rig_context->cmd_fd);

	_exit(ret == 0 && close(rig_context->async_fd) == 0 ? 0 : 1);
}

static void
execute_another_program(void)
{
	execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
	_exit(1);
}

static void
be_killed(void)
{
	raise(SIGKILL);
}

/** The parent's objects are no longer used: the pointers are only overwritten. */
static void
open_its_own(void)
{
	rig_address++; /* both may be contexts of one device, whose rules meet */
	rig_open();
	make_queues();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		rig_post_frames(qp, (uint8_t)i);
		rig_collect_frames(cq);
	}
	destroy_queues();
	exit(rig_close());
}

/** Fork in the child of a fork: neither child owns the objects. */
static void
fork_again(void)
{
	pid_t pid = must_fork();

	if (pid == 0)
		exit(0);
	_exit(status_of(pid));
}

static const struct child {
	const char *name;
	void (*run)(void);
	int status;
} children[] = {
	{ "leaves at once", leave_at_once, 0 },
	{ "leaves through its exit handlers", leave_through_exit_handlers, 0 },
	{ "closes what it inherited", close_and_leave, 0 },
	{ "executes another program", execute_another_program, 0 },
	{ "is killed", be_killed, 128 + SIGKILL },
	{ "opens a context of its own", open_its_own, 0 },
	{ "forks again", fork_again, 0 },
};

/** Fork with frames in flight; go on while the child lives, and after it. */
static void
fork_under_way(const struct child *child)
{
	pid_t pid;

	rig_post_frames(qp, 1);
	pid = must_fork();
	if (pid == 0)
		child->run();
	rig_collect_frames(cq);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		rig_post_frames(qp, (uint8_t)i);
		rig_collect_frames(cq);
	}
	rig_check(status_of(pid) == child->status, child->name, child->status);
	rig_post_frames(qp, 2);
	rig_collect_frames(cq);
}

/** The child outlives the parent's context, whose close has destroyed the objects. */
static void
outlive(void)
{
	int gate[2];
	pid_t pid;
	char byte;

	if (pipe(gate) != 0)
		rig_die("pipe");
	pid = must_fork();
	if (pid == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(gate[0]);
	destroy_queues();
	rig_must(ibv_dereg_mr(rig_mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(rig_pd), "ibv_dealloc_pd");
	rig_must(ibv_close_device(rig_context), "ibv_close_device");
	rig_open();
	make_queues();
	rig_post_frames(qp, 3);
	rig_collect_frames(cq);
	close(gate[1]);
	CHECK(status_of(pid) == 0, pid);
}

int
main(int argc, char *argv[])
{
	if (argc > 1 && strcmp(argv[1], "init") == 0)
		rig_must(ibv_fork_init(), "ibv_fork_init");
	else if (argc > 1)
		fork_so = strcmp(argv[1], "_Fork") == 0 ? _Fork : fork_with_terminal;
	/* No address of the port: beside a context that a child keeps open, its frames to itself
	 * would neither leave nor reach the queues of their sender. */
	rig_address = 0x20;
	rig_open();
	make_queues();
	for (unsigned int i = 0; i < sizeof(children) / sizeof(children[0]); i++)
		fork_under_way(&children[i]);
	outlive();
	destroy_queues();
	return rig_close();
}
