/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls of verbs: a child makes and destroys rules and regions, and says by getppid(2) where
 * each begins and ends; the parent counts, as a debugger, what the child's thread calls between.
 * Prints a line a verb, with the most that it took.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define ROUNDS  10
#define SKIPPED 77

/** Copies from the stack are the kernel's then (abi/core/user.c): many calls more. */
#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/** What happens between two marks, in this order, in each round. */
static const char *const verbs[] = { "ibv_create_flow", "ibv_destroy_flow", "ibv_reg_mr",
	"ibv_dereg_mr" };
#define NB_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void
mark(void)
{
	syscall(SYS_getppid);
}

static int
child(void)
{
	struct ibv_flow *flow;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(SKIPPED);
	raise(SIGSTOP);
	rig_open();
	cq = ibv_create_cq(rig_context, 64, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		mark();
		flow = rig_take_own(qp);
		mark();
		rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
		mark();
		mr = ibv_reg_mr(rig_pd, rig_buffer(0), RIG_BUFFER_BYTES, IBV_ACCESS_LOCAL_WRITE);
		if (mr == NULL)
			rig_die("ibv_reg_mr");
		mark();
		rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	}
	mark();
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}

/** Let the child go on to its next system call, or end. @return the call's number; -1: it has
 * ended, or has left a call */
static long
next_call(pid_t pid, int *status)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 || waitpid(pid, status, __WALL) != pid)
		rig_die("PTRACE_SYSCALL");
	if (!WIFSTOPPED(*status) || WSTOPSIG(*status) != (SIGTRAP | 0x80))
		return -1;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
		rig_die("PTRACE_GET_SYSCALL_INFO");
	return info.op == PTRACE_SYSCALL_INFO_ENTRY ? (long)info.entry.nr : -1;
}

int
main(void)
{
	unsigned int most[NB_VERBS] = { 0 }, nb = 0, nb_marks = 0;
	int status;
	pid_t pid;

	if (IS_SANITIZED) {
		puts("AddressSanitizer has the kernel copy what lies on the stack");
		return SKIPPED;
	}
	pid = fork();
	if (pid == 0)
		return child();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		rig_die("fork");
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		puts("no process may be traced here");
		return SKIPPED;
	}
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		    (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) != 0)
		rig_die("PTRACE_SETOPTIONS");
	do {
		const long call = next_call(pid, &status);

		if (call == SYS_getppid) {
			/* Those of the first round find out where things are. */
			if (nb_marks > NB_VERBS && nb > most[(nb_marks - 1) % NB_VERBS])
				most[(nb_marks - 1) % NB_VERBS] = nb;
			nb_marks++;
			nb = 0;
		} else if (call >= 0) {
			nb++;
			if (getenv("CALLS_SHOW") != NULL && nb_marks > 0)
				printf("  %s: call %ld\n", verbs[(nb_marks - 1) % NB_VERBS], call);
		}
	} while (!WIFEXITED(status) && !WIFSIGNALED(status));
	if (nb_marks != ROUNDS * NB_VERBS + 1)
		rig_die("the child has not made all marks");
	for (unsigned int i = 0; i < NB_VERBS; i++)
		printf("%s: %u\n", verbs[i], most[i]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
