/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes descriptors that it has not opened, as programs do that keep those alone that they know,
 * and has files of its own at their numbers: what verbs, fork() and RDMA netlink need they open
 * anew, and those files get nothing, stay open and are the child's, too.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>

#include "rig.h"

/** From where descriptors are that the program has not opened. */
#define FOREIGN  200
#define NB_FILES 8

/** The other end of the socket that is at all numbers from FOREIGN on; -1: it is not. */
static int other = -1;

static void
close_foreign(void)
{
	if (syscall(SYS_close_range, FOREIGN, ~0u, 0) != 0)
		rig_die("close_range");
}

static void
take_numbers(void)
{
	int ends[2];

	close_foreign();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) != 0)
		rig_die("socketpair");
	for (int i = 0; i < NB_FILES; i++)
		if (syscall(SYS_dup3, ends[0], FOREIGN + i, 0) < 0)
			rig_die("dup3");
	close(ends[0]);
	other = ends[1];
}

/** @return how many of the numbers are open; nothing has closed them all. */
static int
count_files(void)
{
	int nb = 0;

	for (int i = 0; i < NB_FILES; i++)
		nb += syscall(SYS_fcntl, FOREIGN + i, F_GETFD) >= 0;
	return nb;
}

static void
leave_numbers(void)
{
	char bytes[4096];

	CHECK(count_files() == NB_FILES, count_files());
	CHECK(recv(other, bytes, sizeof(bytes), 0) < 0, 0);
	close(other);
	other = -1;
	close_foreign();
}

static void
give_commands(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig_context);
	struct ibv_mr *mr = NULL;
	void *memory = malloc(RIG_BUFFER_BYTES);

	CHECK(pd != NULL, 0);
	if (pd == NULL)
		return;
	mr = ibv_reg_mr(pd, memory, RIG_BUFFER_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr != NULL && ibv_dereg_mr(mr) == 0, 0);
	CHECK(ibv_dealloc_pd(pd) == 0, 0);
	free(memory);
}

static void
check_child(pid_t pid)
{
	int status = -1;

	if (pid == 0)
		_exit(other >= 0 ? count_files() : NB_FILES);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == NB_FILES, status);
}

static void
make_child(void)
{
	check_child(fork());
}

/** This one does not tell the keeper. */
static void
make_quiet_child(void)
{
	check_child(_Fork());
}

static void
ask_netlink(void)
{
	const struct nlmsghdr request = {
		.nlmsg_len = sizeof(request),
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	char answer[4096];

	CHECK(sendto(netlink, &request, sizeof(request), 0, (const struct sockaddr *)&kernel,
		      sizeof(kernel)) == sizeof(request),
		netlink);
	CHECK(recv(netlink, answer, sizeof(answer), MSG_DONTWAIT) > 0, netlink);
	close(netlink);
}

/** No node is open: netlink alone has left a connection. */
static void
open_in_child(void)
{
	int status = -1;
	pid_t pid;

	ask_netlink();
	pid = fork();
	if (pid == 0) {
		rig_open();
		give_commands();
		_exit(rig_close());
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, status);
}

int
main(void)
{
	static void (*const uses[])(
		void) = { give_commands, ask_netlink, make_child, make_quiet_child };

	open_in_child();
	rig_open();
	for (unsigned int i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		give_commands();
		close_foreign();
		uses[i]();
		give_commands();
		take_numbers();
		uses[i]();
		leave_numbers();
	}
	return rig_close();
}
