/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of queue pairs' own: a row a queue pair that is bound. */
#include "nldev/counter.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_netlink.h>

#include "config/options.h"

#define ALL_AUTO_MASKS (RDMA_COUNTER_MASK_QP_TYPE | RDMA_COUNTER_MASK_PID)
/** Of a device: an e-switch's manager has one for each port of the options, and the uplink's. */
#define DEVICE_PORTS_MAX (SHCA_PORTS_MAX + 2)

struct binding {
	const struct shca_device *dev; /**< NULL: the row is free */
	uint32_t id, qpn, port;
	uint32_t auto_mask;
	uint8_t qp_type;
	pid_t pid;
	uint64_t serial;              /**< of the queue pair, whose number another one may get */
	struct shca_qp_counts before; /**< of the queue pair when it was bound */
};

struct auto_mode {
	uint32_t mask;   /**< 0: off */
	uint64_t serial; /**< the last initialization of a queue pair before it was turned on */
};

static struct {
	pthread_mutex_t lock;
	struct shca_restrack *qps; /**< of the device that the call is about, while locked */
	size_t nb_qps;
	uint32_t last;        /**< number of a counter */
	struct binding *rows; /**< of that device */
	struct binding row[SHCA_PORTS_MAX][SHCA_COUNTER_QPS_MAX];
	struct auto_mode mode[SHCA_PORTS_MAX][DEVICE_PORTS_MAX];
} counters = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct auto_mode *
mode_of(unsigned int device, uint32_t port)
{
	return &counters.mode[device % SHCA_PORTS_MAX][port % DEVICE_PORTS_MAX];
}

static const struct shca_restrack *
find_qp(uint32_t qpn)
{
	for (size_t i = 0; i < counters.nb_qps; i++)
		if (counters.qps[i].id == qpn)
			return &counters.qps[i];
	return NULL;
}

/** What is bound goes with its queue pair, and with the device that had this place before. */
static void
forget_destroyed(const struct shca_device *dev)
{
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++) {
		struct binding *row = &counters.rows[i];
		const struct shca_restrack *qp = row->dev == dev ? find_qp(row->qpn) : NULL;

		if (qp == NULL || qp->serial != row->serial)
			row->dev = NULL;
	}
}

static struct binding *
find_row(const struct shca_device *dev, uint32_t qpn)
{
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++)
		if (counters.rows[i].dev == dev && (dev == NULL || counters.rows[i].qpn == qpn))
			return &counters.rows[i];
	return NULL;
}

static const struct binding *
find_counter(const struct shca_device *dev, uint32_t id)
{
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++)
		if (counters.rows[i].dev == dev && counters.rows[i].id == id)
			return &counters.rows[i];
	return NULL;
}

static bool
has_counters(const struct shca_counter_port *of)
{
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++)
		if (of->dev != NULL && counters.rows[i].dev == of->dev &&
			counters.rows[i].port == of->port)
			return true;
	return false;
}

/** @return the counter that a queue pair shares (counters.c auto_mode_match()), or a new one. */
static uint32_t
auto_counter(const struct shca_device *dev, const struct shca_restrack *qp, uint32_t mask)
{
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++) {
		const struct binding *row = &counters.rows[i];

		if (row->dev == dev && row->port == qp->port &&
			((mask & RDMA_COUNTER_MASK_QP_TYPE) == 0 || row->qp_type == qp->qp_type) &&
			((mask & RDMA_COUNTER_MASK_PID) == 0 || row->pid == qp->pid))
			return row->id;
	}
	return ++counters.last;
}

/**
 * Bind the queue pairs that got to INIT in auto mode. The kernel does so in that moment
 * (rdma_counter_bind_qp_auto()); nobody sees the difference until somebody asks.
 */
static void
bind_new(const struct shca_counter_port *of)
{
	for (size_t i = 0; i < counters.nb_qps; i++) {
		const struct shca_restrack *qp = &counters.qps[i];
		const struct auto_mode *mode = mode_of(of->device, qp->port);
		struct binding *row;

		if (mode->mask == 0 || qp->init_serial <= mode->serial ||
			find_row(of->dev, qp->id) != NULL)
			continue;
		row = find_row(NULL, 0);
		if (row == NULL)
			return;
		*row = (struct binding){
			.dev = of->dev,
			.id = auto_counter(of->dev, qp, mode->mask),
			.qpn = qp->id,
			.port = qp->port,
			.auto_mask = mode->mask,
			.qp_type = qp->qp_type,
			.pid = qp->pid,
			.serial = qp->serial,
			.before = qp->init_counts,
		};
	}
}

/** Begin a call: the table is as the kernel's would be. Without memory it stays as it was. */
static void
lock(const struct shca_counter_port *of)
{
	pthread_mutex_lock(&counters.lock);
	counters.rows = counters.row[of->device % SHCA_PORTS_MAX];
	if (of->dev == NULL ||
		shca_restrack_list(of->dev, SHCA_RESTRACK_QP, &counters.qps, &counters.nb_qps) != 0)
		return;
	forget_destroyed(of->dev);
	bind_new(of);
}

static void
unlock(void)
{
	free(counters.qps);
	counters.qps = NULL;
	counters.nb_qps = 0;
	pthread_mutex_unlock(&counters.lock);
}

/** @param counter one that there is, or of a new one what its first row has */
static int
bind_qp(const struct shca_counter_port *of, const struct shca_restrack *qp,
	const struct binding *counter)
{
	struct binding *row = find_row(NULL, 0);

	if (find_row(of->dev, qp->id) != NULL)
		return -EINVAL;
	if (row == NULL)
		return -ENOMEM;
	*row = (struct binding){
		.dev = of->dev,
		.id = counter->id,
		.qpn = qp->id,
		.port = counter->port,
		.auto_mask = counter->auto_mask,
		.qp_type = qp->qp_type,
		.pid = qp->pid,
		.serial = qp->serial,
		.before = qp->counts,
	};
	return 0;
}

/** As counters.c rdma_counter_bind_qpn(). */
int
shca_counter_bind(const struct shca_counter_port *of, uint32_t qpn, uint32_t id)
{
	const struct binding *counter;
	const struct shca_restrack *qp;
	int ret;

	lock(of);
	qp = find_qp(qpn);
	counter = find_counter(of->dev, id);
	if (mode_of(of->device, of->port)->mask != 0)
		ret = -EINVAL;
	else if (of->dev == NULL || qp == NULL || counter == NULL)
		ret = -ENOENT;
	else if (counter->port != qp->port)
		ret = -EINVAL;
	else
		ret = bind_qp(of, qp, counter);
	unlock();
	return ret;
}

/** As counters.c rdma_counter_bind_qpn_alloc(), where -ENOMEM is all that can be told of a counter
 * that was not bound. A queue pair has a port from INIT on. */
int
shca_counter_bind_alloc(const struct shca_counter_port *of, uint32_t qpn, uint32_t *id)
{
	struct binding counter = { .port = of->port };
	const struct shca_restrack *qp;
	int ret;

	lock(of);
	qp = find_qp(qpn);
	counter.id = counters.last + 1;
	if (mode_of(of->device, of->port)->mask != 0)
		ret = -EINVAL;
	else if (of->dev == NULL || qp == NULL)
		ret = -ENOENT;
	else if (qp->port != 0 && qp->port != of->port)
		ret = -EINVAL;
	else
		ret = bind_qp(of, qp, &counter) == 0 ? 0 : -ENOMEM;
	if (ret == 0)
		*id = counters.last = counter.id;
	unlock();
	return ret;
}

/** @return RDMA_COUNTER_MODE_* */
static uint32_t
mode_now(const struct shca_counter_port *of)
{
	if (mode_of(of->device, of->port)->mask != 0)
		return RDMA_COUNTER_MODE_AUTO;
	return has_counters(of) ? RDMA_COUNTER_MODE_MANUAL : RDMA_COUNTER_MODE_NONE;
}

/** As counters.c rdma_counter_unbind_qpn(). */
static int
unbind_qp(const struct shca_counter_port *of, uint32_t id, uint32_t qpn)
{
	const struct shca_restrack *qp = find_qp(qpn);
	struct binding *row;

	if (of->dev == NULL || qp == NULL)
		return -ENOENT;
	row = find_row(of->dev, qpn);
	if ((qp->port != 0 && qp->port != of->port) || row == NULL || row->id != id ||
		mode_now(of) != RDMA_COUNTER_MODE_MANUAL)
		return -EINVAL;
	row->dev = NULL;
	return 0;
}

int
shca_counter_unbind(const struct shca_counter_port *of, uint32_t id, uint32_t qpn)
{
	int ret;

	lock(of);
	ret = unbind_qp(of, id, qpn);
	unlock();
	return ret;
}

static void
add_since(struct shca_qp_counts *sum, const struct shca_qp_counts *now,
	const struct shca_qp_counts *before)
{
	sum->out_of_buffer += now->out_of_buffer - before->out_of_buffer;
	for (unsigned int i = 0; i < SHCA_NB_ROCE_COUNTS; i++)
		sum->roce[i] += now->roce[i] - before->roce[i];
}

bool
shca_counter_find(const struct shca_counter_port *of, uint32_t id, struct shca_counter *counter)
{
	*counter = (struct shca_counter){ .id = id };
	lock(of);
	for (unsigned int i = 0; of->dev != NULL && i < SHCA_COUNTER_QPS_MAX; i++) {
		const struct binding *row = &counters.rows[i];
		const struct shca_restrack *qp;

		qp = row->dev == of->dev && row->id == id ? find_qp(row->qpn) : NULL;
		if (qp == NULL)
			continue;
		counter->port = row->port;
		counter->auto_mask = row->auto_mask;
		counter->qp_type = row->qp_type;
		counter->pid = row->pid;
		counter->qpn[counter->nb_qps++] = row->qpn;
		add_since(&counter->counts, &qp->counts, &row->before);
	}
	unlock();
	return counter->nb_qps != 0;
}

uint32_t
shca_counter_next(const struct shca_counter_port *of, uint32_t id)
{
	uint32_t next = 0;

	lock(of);
	for (unsigned int i = 0; of->dev != NULL && i < SHCA_COUNTER_QPS_MAX; i++) {
		const struct binding *row = &counters.rows[i];

		if (row->dev == of->dev && (of->port == 0 || row->port == of->port) &&
			row->id > id && (next == 0 || row->id < next))
			next = row->id;
	}
	unlock();
	return next;
}

/** As counters.c rdma_counter_set_auto_mode(). */
static int
set_auto(const struct shca_counter_port *of, uint32_t mask)
{
	struct auto_mode *mode = mode_of(of->device, of->port);

	if (mode->mask == mask)
		return 0;
	if ((mask & ~(uint32_t)ALL_AUTO_MASKS) != 0)
		return -EINVAL;
	if (mask != 0 && has_counters(of))
		return -EBUSY;
	*mode = (struct auto_mode){ mask, shca_restrack_init_serial() };
	return 0;
}

int
shca_counter_set_auto(const struct shca_counter_port *of, uint32_t mask)
{
	int ret;

	lock(of);
	ret = set_auto(of, mask);
	unlock();
	return ret;
}

uint32_t
shca_counter_get_mode(const struct shca_counter_port *of, uint32_t *mask)
{
	uint32_t mode;

	lock(of);
	*mask = mode_of(of->device, of->port)->mask;
	mode = mode_now(of);
	unlock();
	return mode;
}
