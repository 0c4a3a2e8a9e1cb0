/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is to be cancelled gives commands: ioctl(2) is no cancellation point, so each is
 * done, memory that has to move among it, and nothing stays locked for the others. Neither is
 * stat(2), here of a node; and what is sent to RDMA netlink is answered.
 */
#include <linux/netlink.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>

#include "rig.h"

#define NODE         "/dev/infiniband/uverbs0"
#define REGION_BYTES (1u << 20)

static unsigned int nb_done;

/** Nothing has asked what nodes there are before. */
static void *
look(void *arg)
{
	struct stat status;

	(void)arg;
	pthread_cancel(pthread_self());
	if (stat(NODE, &status) == 0)
		nb_done++;
	pthread_testcancel();
	nb_done++;
	return NULL;
}

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

/** @return whether a request for all devices was sent. */
static bool
send_request(int netlink)
{
	const struct nlmsghdr request = {
		.nlmsg_len = sizeof(request),
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(netlink, &request, sizeof(request), 0, (const struct sockaddr *)&kernel,
		       sizeof(kernel)) == sizeof(request);
}

static void *
ask(void *netlink)
{
	pthread_cancel(pthread_self());
	if (send_request(*(int *)netlink))
		nb_done++;
	pthread_testcancel();
	nb_done++;
	return NULL;
}

/** @return whether a thread has done so many things until it was cancelled. */
static bool
run(void *(*function)(void *arg), void *arg, unsigned int wanted)
{
	void *result = NULL;
	pthread_t thread;

	nb_done = 0;
	if (pthread_create(&thread, NULL, function, arg) != 0)
		rig_die("pthread_create");
	pthread_join(thread, &result);
	CHECK(nb_done == wanted && result == PTHREAD_CANCELED, nb_done);
	return nb_done == wanted;
}

static void
ask_netlink(void)
{
	int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	char answer[4096];

	if (netlink < 0)
		rig_die("socket");
	if (run(ask, &netlink, 1)) {
		CHECK(recv(netlink, answer, sizeof(answer), MSG_DONTWAIT) > 0, 0);
		CHECK(send_request(netlink), 0);
	}
	close(netlink);
}

int
main(void)
{
	void *memory = malloc(REGION_BYTES);
	pid_t pid;

	if (!run(look, NULL, 1))
		return rig_summary();
	rig_open();
	if (memory == NULL)
		rig_die("malloc");
	if (run(give_commands, memory, 3)) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid, pid);
	}
	ask_netlink();
	free(memory);
	return rig_close();
}
