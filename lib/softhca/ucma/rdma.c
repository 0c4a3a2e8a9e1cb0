/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucma/rdma.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/node.h"
#include "hw/device/device.h"
#include "hw/roce/gid.h"
#include "hw/roce/qp1.h"
#include "ucma/ucma.h"

enum {
	FILES_MAX = 1024,
	NS_PER_S = 1000000000,
};

/** A device, and whether it has gone. */
struct watched {
	struct shca_rdma *rdma;
	unsigned int device;
	struct shca_listener listener;
	bool is_gone; /**< its lock is held */
};

struct shca_rdma {
	struct shca_rdma_conf conf;
	struct shca_ucma *ucma;
	int wake_fd;
	pthread_t thread;
	bool is_running;
	atomic_bool is_to_end;
	struct watched watched[]; /**< one a device */
};

static unsigned int
list_gids(void *arg, struct shca_ucma_gid *at, unsigned int max)
{
	const struct shca_rdma *rdma = arg;
	unsigned int nb = 0;

	for (unsigned int i = 0; i < rdma->conf.nb_devices; i++) {
		struct shca_device *dev = rdma->conf.devices[i];

		shca_device_lock(dev);
		for (uint32_t index = 0;
			!rdma->watched[i].is_gone && index < shca_gid_nb(dev) && nb < max;
			index++) {
			at[nb] = (struct shca_ucma_gid){
				.device = i,
				.port = 1,
				.index = (uint8_t)index,
				.ifindex = shca_device_ifindex(dev),
			};
			if (shca_gid_get(dev, index, at[nb].gid, &at[nb].is_v2))
				nb++;
		}
		shca_device_unlock(dev);
	}
	return nb;
}

/** Of several devices' netdevs in one namespace, Linux has chosen one. */
static bool
find_route(void *arg, const uint8_t *remote, struct shca_ucma_gid *gid)
{
	const struct shca_rdma *rdma = arg;
	int ret = -ENODEV;

	for (unsigned int i = 0; i < rdma->conf.nb_devices && ret != 0; i++) {
		struct shca_device *dev = rdma->conf.devices[i];

		shca_device_lock(dev);
		if (!rdma->watched[i].is_gone)
			ret = shca_gid_find_source(dev, remote, gid->gid);
		gid->ifindex = shca_device_ifindex(dev);
		shca_device_unlock(dev);
	}
	return ret == 0;
}

static int
reach(void *arg, const struct shca_ucma_gid *gid, const uint8_t *remote)
{
	const struct shca_rdma *rdma = arg;
	struct shca_device *dev = rdma->conf.devices[gid->device];
	uint8_t mac[6];
	int ret;

	shca_device_lock(dev);
	ret = shca_gid_resolve(dev, remote, mac);
	shca_device_unlock(dev);
	return ret;
}

static void
describe_port(void *arg, const struct shca_ucma_gid *gid, struct shca_ucma_port *port)
{
	const struct shca_rdma *rdma = arg;
	struct shca_device *dev = rdma->conf.devices[gid->device];
	const struct shca_device_conf *conf = shca_device_conf(dev);
	uint8_t mtu;

	shca_device_lock(dev);
	mtu = shca_gid_port_mtu(dev);
	shca_device_unlock(dev);
	*port = (struct shca_ucma_port){
		.node_guid = shca_node_guid(conf->mac),
		.mtu = mtu,
		.ack_delay = SHCA_ACK_DELAY,
	};
}

static void
send_mad(void *arg, const struct shca_ucma_gid *gid, const uint8_t *remote, const uint8_t *bytes)
{
	const struct shca_rdma *rdma = arg;
	struct shca_device *dev = rdma->conf.devices[gid->device];
	struct shca_qp1_datagram datagram = { .is_v2 = gid->is_v2 };
	int ret;

	memcpy(datagram.local, gid->gid, sizeof(datagram.local));
	memcpy(datagram.remote, remote, sizeof(datagram.remote));
	memcpy(datagram.bytes, bytes, sizeof(datagram.bytes));
	shca_device_lock(dev);
	ret = shca_qp1_send(dev, &datagram);
	shca_device_unlock(dev);
	if (ret != 0)
		SHCA_DEBUG("mlx5_%u: a datagram of QP1 is lost: %s", gid->device, strerror(-ret));
}

static void
receive_mad(void *arg, unsigned int device, const struct shca_qp1_datagram *datagram)
{
	const struct shca_rdma *rdma = arg;
	struct shca_ucma_gid local = { .device = device, .port = 1, .is_v2 = datagram->is_v2 };

	memcpy(local.gid, datagram->local, sizeof(local.gid));
	shca_ucma_receive(rdma->ucma, &local, datagram->remote, datagram->bytes);
}

/** Linux unregisters a device that has failed for good. */
static void
hear(void *owner, uint32_t port, enum shca_event event)
{
	struct watched *watched = owner;

	(void)port;
	if (event != SHCA_EVENT_DEVICE_FATAL)
		return;
	watched->is_gone = true;
	shca_ucma_remove(watched->rdma->ucma, watched->device);
}

static void
listen_all(struct shca_rdma *rdma)
{
	for (unsigned int i = 0; i < rdma->conf.nb_devices; i++) {
		struct shca_device *dev = rdma->conf.devices[i];

		rdma->watched[i] = (struct watched){ .rdma = rdma, .device = i };
		rdma->watched[i].listener.event = hear;
		rdma->watched[i].listener.owner = &rdma->watched[i];
		shca_device_lock(dev);
		shca_qp1_listen(dev, receive_mad, rdma);
		shca_device_listen(dev, &rdma->watched[i].listener);
		shca_device_unlock(dev);
	}
}

static void
listen_no_more(struct shca_rdma *rdma)
{
	for (unsigned int i = 0; i < rdma->conf.nb_devices; i++) {
		shca_device_lock(rdma->conf.devices[i]);
		shca_qp1_listen(rdma->conf.devices[i], NULL, NULL);
		shca_device_unlisten(&rdma->watched[i].listener);
		shca_device_unlock(rdma->conf.devices[i]);
	}
}

static void
wake(void *arg)
{
	const struct shca_rdma *rdma = arg;
	const uint64_t one = 1;
	const int saved_errno = errno;

	/* A counter that is full wakes, too. */
	if (write(rdma->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		SHCA_WARN("rdma_cm: its thread is not woken: %s", strerror(errno));
	errno = saved_errno;
}

int
shca_rdma_create(const struct shca_rdma_conf *conf, struct shca_rdma **out)
{
	struct shca_rdma *rdma =
		calloc(1, sizeof(*rdma) + conf->nb_devices * sizeof(rdma->watched[0]));
	int ret;

	if (rdma == NULL)
		return -ENOMEM;
	rdma->conf = *conf;
	rdma->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rdma->wake_fd < 0) {
		ret = -errno;
		free(rdma);
		return ret;
	}
	rdma->ucma = shca_ucma_create(&(const struct shca_ucma_conf){
		.gids = list_gids,
		.port = describe_port,
		.send = send_mad,
		.route = find_route,
		.reach = reach,
		.wake = wake,
		.arg = rdma,
	});
	if (rdma->ucma == NULL) {
		close(rdma->wake_fd);
		free(rdma);
		return -ENOMEM;
	}
	listen_all(rdma);
	*out = rdma;
	return 0;
}

void
shca_rdma_destroy(struct shca_rdma *rdma)
{
	if (rdma == NULL)
		return;
	shca_rdma_stop(rdma);
	listen_no_more(rdma);
	shca_ucma_destroy(rdma->ucma);
	close(rdma->wake_fd);
	free(rdma);
}

/** Sleep until somebody wakes the thread, a program goes, or the time is there. */
static void
sleep_until(const struct shca_rdma *rdma, uint64_t due)
{
	struct pollfd pollfds[1 + FILES_MAX] = { { .fd = rdma->wake_fd, .events = POLLIN } };
	const unsigned int nb = shca_ucma_files(rdma->ucma, pollfds + 1, FILES_MAX);
	const uint64_t now = shca_clock_ns();
	struct timespec timeout = { 0 };
	uint64_t count;

	if (due > now && due != UINT64_MAX) {
		timeout.tv_sec = (time_t)((due - now) / NS_PER_S);
		timeout.tv_nsec = (long)((due - now) % NS_PER_S);
	}
	(void)ppoll(pollfds, 1 + nb, due == UINT64_MAX ? NULL : &timeout, NULL);
	if (read(rdma->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		SHCA_WARN("rdma_cm: %s", strerror(errno));
}

static void *
run(void *arg)
{
	struct shca_rdma *rdma = arg;

	prctl(PR_SET_NAME, "softhca-cm");
	while (!atomic_load(&rdma->is_to_end))
		sleep_until(rdma, shca_ucma_step(rdma->ucma));
	return NULL;
}

int
shca_rdma_start(struct shca_rdma *rdma)
{
	sigset_t all, old;
	int ret;

	if (rdma == NULL || rdma->is_running)
		return 0;
	atomic_store(&rdma->is_to_end, false);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&rdma->thread, NULL, run, rdma);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	rdma->is_running = ret == 0;
	return ret;
}

void
shca_rdma_stop(struct shca_rdma *rdma)
{
	if (rdma == NULL || !rdma->is_running)
		return;
	atomic_store(&rdma->is_to_end, true);
	wake(rdma);
	pthread_join(rdma->thread, NULL);
	rdma->is_running = false;
}

bool
shca_rdma_is_running(const struct shca_rdma *rdma)
{
	return rdma != NULL && rdma->is_running;
}

struct shca_ucma *
shca_rdma_ucma(const struct shca_rdma *rdma)
{
	return rdma->ucma;
}
