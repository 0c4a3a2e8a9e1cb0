/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves the requests of secondary processes: one row for each kind. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>
#include <rte_memory.h>

#include "base/log.h"
#include "flow/flow.h"
#include "mem/mr_span.h"
#include "mem/mr_watch.h"
#include "mp/mp.h"
#include "mp/primary.h"
#include "port/recover.h"
#include "queue/rx/rxq_ring.h"
#include "queue/tx/txq.h"
#include "queue/tx/txq_ring.h"
#include "secondary.h"
#include "server.h"
#include "state/port.h"
#include "state/port_list.h"

/** Given to processes that attach: it becomes readable when this process ends. -1: none. */
static int pidfd = -1;

/** Give a descriptor of its own: nobody holds the port any more when the answer is sent. */
static int
give_copy(struct mdv_mp_fds *give, int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return -errno;
	give->fds[give->nb++] = copy;
	return 0;
}

static void
take_back(struct mdv_mp_fds *give)
{
	while (give->nb != 0)
		close(give->fds[--give->nb]);
}

static int
attach(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, struct mdv_mp_fds *give)
{
	int ret;

	if (message->layout != mdv_secondary_layout())
		return -EPROTO;
	if (!port->device.shares_rings)
		return -ENOTSUP;
	/* A function of this process frees their packets. */
	if (port->strides || port->config.mprq == MDV_MPRQ_ON) {
		MDV_LOG(ERR,
			"port %u: its Rx queues are striding, so secondary processes cannot have it: mprq=off is needed",
			message->port_id);
		return -ENOTSUP;
	}
	ret = give_copy(give, port->device.ctx->cmd_fd);
	if (ret == 0 && pidfd >= 0)
		ret = give_copy(give, pidfd);
	/* Who is refused closes none. */
	if (ret == 0)
		port->primary.nb_attached++;
	else
		take_back(give);
	return ret;
}

static int
detach(struct mdv_port *port, __rte_unused struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	if (port->primary.nb_attached != 0)
		port->primary.nb_attached--;
	return 0;
}

static int
find_memory(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	struct mdv_mr_range range;

	/* An mbuf outside of shared memory cannot be read here. */
	if (rte_mem_virt2memseg_list(message->memory.mbuf) == NULL ||
		mdv_mr_span_is_elsewhere(message->memory.mbuf) ||
		!mdv_mr_find(port->mr, message->memory.addr, message->memory.mbuf, &range))
		return -EFAULT;
	message->memory.range = range;
	return 0;
}

static int
learn_pool(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	mdv_mr_watch_made_elsewhere(port->mr, message->pool);
	return 0;
}

static int
forget_pool(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	mdv_mr_pool_gone(port->mr, message->pool);
	return 0;
}

/** @return the queue; NULL: no such queue, or requests are refused now. */
static struct mdv_rxq *
served_rxq(const struct mdv_port *port, uint16_t idx)
{
	const struct rte_eth_dev_data *data = port->dev->data;

	return port->primary.serves && idx < data->nb_rx_queues ? data->rx_queues[idx] : NULL;
}

/** As served_rxq(). */
static struct mdv_txq *
served_txq(const struct mdv_port *port, uint16_t idx)
{
	const struct rte_eth_dev_data *data = port->dev->data;

	return port->primary.serves && idx < data->nb_tx_queues ? data->tx_queues[idx] : NULL;
}

static int
recover_rx(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	struct mdv_rxq *rxq = served_rxq(port, message->queue.idx);
	int ret;

	if (rxq == NULL || !rxq->ready)
		return -EBUSY;
	/* A repeated request: the burst goes on since the first has been answered. */
	if (!rxq->asked)
		return 0;
	ret = mdv_rxq_ring_recover(rxq, message->queue.syndrome);
	rxq->asked = ret != 0;
	return ret;
}

static int
recover_tx(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	struct mdv_txq *txq = served_txq(port, message->queue.idx);
	int ret;

	if (txq == NULL || !txq->ready)
		return -EBUSY;
	/* As in recover_rx(). */
	if (!txq->asked)
		return 0;
	ret = mdv_txq_ring_recover(txq, message->queue.syndrome);
	txq->asked = ret != 0;
	return ret;
}

static int
recreate_rx(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	const uint16_t idx = message->queue.idx;
	struct mdv_rxq *rxq = served_rxq(port, idx);

	if (rxq == NULL || port->dev->data->rx_queue_state[idx] != RTE_ETH_QUEUE_STATE_STARTED)
		return -EBUSY;
	/* A repeated request may find the queue recreated. */
	return mdv_rxq_is_broken(rxq) ? mdv_recover_rx_now(rxq) : 0;
}

/** @param[out] give for recreate_and_tell(), if a doorbell has changed: a descriptor of the device,
 * to close */
static int
recreate_tx(struct mdv_port *port, struct mdv_mp_message *message,
	__rte_unused const struct mdv_mp_fds *got, struct mdv_mp_fds *give)
{
	const uint16_t idx = message->queue.idx;
	struct mdv_txq *txq = served_txq(port, idx);
	int ret;

	if (txq == NULL || port->dev->data->tx_queue_state[idx] != RTE_ETH_QUEUE_STATE_STARTED)
		return -EBUSY;
	/* A repeated request: the first has recreated it and told of that. */
	if (!txq->ring.broken)
		return 0;
	ret = give_copy(give, port->device.ctx->cmd_fd);
	if (ret != 0)
		return ret;
	ret = mdv_recover_tx_now(txq);
	if (ret != 0)
		take_back(give);
	return ret;
}

static int
dump_rules(struct mdv_port *port, __rte_unused struct mdv_mp_message *message,
	const struct mdv_mp_fds *got, __rte_unused struct mdv_mp_fds *give)
{
	struct rte_flow_error error;
	FILE *file;
	int fd, ret;

	fd = got->nb == 1 ? dup(got->fds[0]) : -1;
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (file == NULL) {
		if (fd >= 0)
			close(fd);
		return -EBADF;
	}
	ret = mdv_flow_ops.dev_dump(port->dev, NULL, file, &error);
	return fclose(file) != 0 && ret == 0 ? -EIO : ret;
}

/* clang-format off */
static int (*const request_handlers[MDV_MP_NB_ASKED])(struct mdv_port *port, struct mdv_mp_message *message,
	const struct mdv_mp_fds *got, struct mdv_mp_fds *give) = {
	[MDV_MP_ATTACH] = attach,
	[MDV_MP_DETACH] = detach,
	[MDV_MP_MEMORY] = find_memory,
	[MDV_MP_POOL_MADE] = learn_pool,
	[MDV_MP_POOL_GONE] = forget_pool,
	[MDV_MP_RECOVER_RX] = recover_rx,
	[MDV_MP_RECOVER_TX] = recover_tx,
	[MDV_MP_RECREATE_RX] = recreate_rx,
	[MDV_MP_RECREATE_TX] = recreate_tx,
	[MDV_MP_DUMP_RULES] = dump_rules,
};
/* clang-format on */

static int
serve(struct mdv_mp_message *message, const struct mdv_mp_fds *got, struct mdv_mp_fds *give)
{
	struct mdv_port *port;
	int ret;

	if ((unsigned int)message->kind >= RTE_DIM(request_handlers))
		return -EINVAL;
	port = mdv_port_list_hold(message->port_id);
	if (port == NULL)
		return -ENODEV;
	ret = request_handlers[message->kind](port, message, got, give);
	mdv_port_list_release();
	return ret;
}

/**
 * Tell of a new doorbell while nobody holds the port: one process that does not answer takes
 * seconds, which others that need memory would wait, too. A repeated question does wait, as the
 * burst goes on after the answer.
 */
static int
recreate_and_tell(struct mdv_mp_message *message, const struct mdv_mp_fds *got)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct mdv_mp_fds device = { .nb = 0 };
	int ret;

	pthread_mutex_lock(&lock);
	ret = serve(message, got, &device);
	if (device.nb != 0) {
		mdv_primary_tell_doorbells(message->port_id, device.fds[0]);
		close(device.fds[0]);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

static int
handle(struct mdv_mp_message *message, const struct mdv_mp_fds *got, struct mdv_mp_fds *give)
{
	return message->kind == MDV_MP_RECREATE_TX ? recreate_and_tell(message, got)
						   : serve(message, got, give);
}

int
mdv_server_listen(void)
{
	if (pidfd < 0)
		pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	/* Handle each message in a thread of its own: registering memory may wait for a thread that
	 * allocates memory, and that thread waits for the message thread. */
	return mdv_mp_listen(handle, true);
}
