/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enters namespaces with the device open, as sandboxes do: a user namespace is for processes of one
 * thread alone, and on hardware the device is no thread of the process. Queues go on, frames that
 * are under way arrive, and another context opens afterwards. A process with a thread of its own is
 * refused, as anywhere.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

static struct ibv_cq *cq;
static struct ibv_qp *qp;

static void *
wait_for_end(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

static void
refuse_with_a_thread(void)
{
	pthread_barrier_t barrier;
	pthread_t thread;

	rig_must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	rig_must(pthread_create(&thread, NULL, wait_for_end, &barrier), "pthread_create");
	errno = 0;
	CHECK(unshare(CLONE_NEWUSER) == -1 && errno == EINVAL, errno);
	pthread_barrier_wait(&barrier);
	rig_must(pthread_join(thread, NULL), "pthread_join");
	rig_post_frames(qp, 1);
	rig_collect_frames(cq);
}

int
main(void)
{
	struct ibv_device **list;
	struct ibv_context *other;
	struct ibv_flow *flow;
	int ret;

	rig_open();
	cq = ibv_create_cq(rig_context, 64, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	rig_post_frames(qp, 10);
	rig_collect_frames(cq);
	refuse_with_a_thread();

	rig_post_frames(qp, 20);
	ret = unshare(CLONE_NEWUSER | CLONE_NEWNS);
	if (ret != 0 && (errno == EPERM || errno == ENOSPC || errno == EUSERS)) {
		printf("no user namespaces here: %s\n", strerror(errno));
		return 77;
	}
	CHECK(ret == 0, errno);
	rig_collect_frames(cq);
	rig_post_frames(qp, 30);
	rig_collect_frames(cq);
	list = ibv_get_device_list(NULL);
	other = list == NULL || list[0] == NULL ? NULL : ibv_open_device(list[0]);
	CHECK(other != NULL, errno);
	if (other != NULL)
		ibv_close_device(other);
	ibv_free_device_list(list);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
