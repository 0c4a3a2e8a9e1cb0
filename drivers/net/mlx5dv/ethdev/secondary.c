/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of the primary process, attached in another: bursts, doorbells, and what becomes of them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_alarm.h>
#include <rte_interrupts.h>
#include <rte_flow_driver.h>
#include <rte_mempool.h>

#include "base/log.h"
#include "burst/burst_select.h"
#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "device/uar.h"
#include "mp/mp.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "secondary.h"
#include "state/port.h"

enum state {
	THERE,
	LOST, /**< the primary has closed it, or has ended */
	TOLD, /**< and the application knows */
};

/** A port as this process has it: the ethdev port's process_private. */
struct here {
	LIST_ENTRY(here) next;
	struct rte_eth_dev *dev;
	struct mdv_uar_pages pages;
	enum state state;
};

LIST_HEAD(here_list, here);

/** Those of this process. Threads that tell are others than those that detach. */
static struct {
	pthread_mutex_t lock;
	struct here_list ports;
	struct rte_intr_handle *watch; /**< of the primary's end */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t
mdv_secondary_layout(void)
{
	return (uint64_t)sizeof(struct mdv_port) << 32 | sizeof(struct mdv_rxq) << 16 |
		sizeof(struct mdv_txq);
}

/** Lock held. */
static struct here *
here_of(uint16_t port_id)
{
	struct here *here;

	LIST_FOREACH (here, &all.ports, next) {
		if (here->dev->data->port_id == port_id)
			return here;
	}
	return NULL;
}

/** What ethdev has copied when the port was attached. */
static void
publish(const struct rte_eth_dev *dev)
{
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[dev->data->port_id];

	ops->rx_pkt_burst = dev->rx_pkt_burst;
	ops->tx_pkt_burst = dev->tx_pkt_burst;
	ops->tx_pkt_prepare = dev->tx_pkt_prepare;
	ops->rxq.data = dev->data->rx_queues;
	ops->txq.data = dev->data->tx_queues;
}

static void
silence(struct rte_eth_dev *dev)
{
	dev->rx_pkt_burst = rte_eth_pkt_burst_dummy;
	dev->tx_pkt_burst = rte_eth_pkt_burst_dummy;
}

/** Map the doorbells of the queues that there are now, as far as @p pages has them not. */
static int
map_doorbells(const struct rte_eth_dev_data *data, int device_fd, struct mdv_uar_pages *pages)
{
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		const struct mdv_txq *txq = data->tx_queues[i];
		uint8_t *page;

		if (txq == NULL)
			continue;
		page = mdv_uar_map(pages, device_fd, txq->uar_offset);
		if (page == NULL) {
			const int err = errno;

			MDV_LOG(ERR, "port %u Tx queue %u: cannot map its doorbell: %s",
				data->port_id, i, strerror(err));
			return -err;
		}
		mdv_uar_regs[txq->uar_slot] = (volatile uint64_t *)(page + txq->uar_at);
	}
	return 0;
}

/** The port runs: take part. Nobody has a doorbell of before in use, which may be of another
 * context of the device. */
static int
begin(struct here *here, int device_fd)
{
	struct mdv_uar_pages pages = SLIST_HEAD_INITIALIZER(pages);
	int ret;

	silence(here->dev);
	ret = map_doorbells(here->dev->data, device_fd, &pages);
	mdv_uar_unmap(&here->pages);
	here->pages = pages;
	if (ret == 0)
		mdv_burst_select(here->dev);
	publish(here->dev);
	return ret;
}

static void
end(struct here *here)
{
	silence(here->dev);
	publish(here->dev);
}

/** Of a port that the primary has closed: all else lay in the port's shared data. */
static const struct eth_dev_ops lost_ops = {
	.dev_close = mdv_secondary_close,
	.is_removed = mdv_secondary_is_removed,
};

/** @return a port that the application is to be told of, NULL: there is none. */
static struct rte_eth_dev *
take_lost(void)
{
	struct rte_eth_dev *dev = NULL;
	struct here *here;

	pthread_mutex_lock(&all.lock);
	LIST_FOREACH (here, &all.ports, next) {
		if (here->state != LOST)
			continue;
		here->state = TOLD;
		dev = here->dev;
		break;
	}
	pthread_mutex_unlock(&all.lock);
	return dev;
}

/** In the interrupt thread, without the lock: an application may remove the port there. */
static void
tell_lost(__rte_unused void *arg)
{
	struct rte_eth_dev *dev;

	while ((dev = take_lost()) != NULL)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
}

static void
primary_ended(__rte_unused void *arg)
{
	struct here *here;

	/* The descriptor stays readable; EAL has no other message of this thread under way. */
	rte_intr_callback_unregister_pending(all.watch, primary_ended, NULL, NULL);
	pthread_mutex_lock(&all.lock);
	LIST_FOREACH (here, &all.ports, next) {
		if (here->state != THERE)
			continue;
		here->state = LOST;
		end(here);
		MDV_LOG(ERR,
			"port %u: the primary process has ended: nothing is received or sent any "
			"more; end this process, too",
			here->dev->data->port_id);
	}
	pthread_mutex_unlock(&all.lock);
	tell_lost(NULL);
}

/** Once a process. Takes the descriptor. */
static void
watch_primary(int pidfd)
{
	struct rte_intr_handle *watch;

	if (all.watch != NULL) {
		close(pidfd);
		return;
	}
	watch = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (watch == NULL)
		goto close;
	rte_intr_fd_set(watch, pidfd);
	rte_intr_type_set(watch, RTE_INTR_HANDLE_EXT);
	all.watch = watch;
	if (rte_intr_callback_register(watch, primary_ended, NULL) == 0)
		return;
	all.watch = NULL;
	rte_intr_instance_free(watch);
close:
	MDV_LOG(WARNING, "the primary process is not watched: its end will go unnoticed");
	close(pidfd);
}

/** Told by the primary. */
static int
handle(struct mdv_mp_message *message, const struct mdv_mp_fds *got,
	__rte_unused struct mdv_mp_fds *give)
{
	struct here *here;
	int ret = 0;

	pthread_mutex_lock(&all.lock);
	here = here_of(message->port_id);
	/* One that is not attached here is none of ours. */
	if (here == NULL || here->state != THERE) {
		;
	} else if (message->kind == MDV_MP_START) {
		ret = got->nb == 1 ? begin(here, got->fds[0]) : -EPROTO;
	} else if (message->kind == MDV_MP_DOORBELLS) {
		/* Other queues are in use meanwhile: their pages stay. */
		ret = got->nb == 1 ? map_doorbells(here->dev->data, got->fds[0], &here->pages)
				   : -EPROTO;
	} else if (message->kind == MDV_MP_STOP) {
		end(here);
	} else if (message->kind == MDV_MP_CLOSED) {
		end(here);
		here->dev->dev_ops = &lost_ops;
		here->state = LOST;
		ret = rte_eal_alarm_set(1, tell_lost, NULL);
	}
	pthread_mutex_unlock(&all.lock);
	return ret;
}

/** The primary knows of pools that it destroys itself. */
static void
pool_event(enum rte_mempool_event event, struct rte_mempool *pool, __rte_unused void *arg)
{
	uint16_t port_id;

	if (event != RTE_MEMPOOL_EVENT_DESTROY)
		return;
	for (port_id = 0; port_id < RTE_MAX_ETHPORTS; port_id++) {
		struct mdv_mp_message message = {
			.kind = MDV_MP_POOL_GONE,
			.port_id = port_id,
			.pool = pool,
		};
		bool attached;

		pthread_mutex_lock(&all.lock);
		attached = here_of(port_id) != NULL;
		pthread_mutex_unlock(&all.lock);
		if (attached)
			mdv_mp_ask(&message, NULL);
	}
}

/** What the process needs once, for all ports. */
static int
join(void)
{
	int ret = mdv_mp_listen(handle, false);

	if (ret == 0 && rte_mempool_event_callback_register(pool_event, NULL) != 0 &&
		rte_errno != EEXIST)
		ret = -rte_errno;
	return ret;
}

/** Ask for the device, and take part if the port runs. */
static int
attach(struct here *here)
{
	struct rte_eth_dev *dev = here->dev;
	struct mdv_mp_message message = {
		.kind = MDV_MP_ATTACH,
		.port_id = dev->data->port_id,
		.layout = mdv_secondary_layout(),
	};
	struct mdv_mp_fds fds = { .nb = 0 };
	int ret;

	ret = mdv_mp_ask(&message, &fds);
	if (ret != 0)
		return ret;
	if (fds.nb > 1)
		watch_primary(fds.fds[1]);
	pthread_mutex_lock(&all.lock);
	LIST_INSERT_HEAD(&all.ports, here, next);
	if (mdv_port(dev)->started)
		ret = begin(here, fds.fds[0]);
	pthread_mutex_unlock(&all.lock);
	/* What is mapped stays so. */
	close(fds.fds[0]);
	return ret;
}

int
mdv_secondary_probe(struct rte_vdev_device *vdev, const struct eth_dev_ops *ops)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_attach_secondary(name);
	struct here *here;
	int ret;

	if (dev == NULL) {
		MDV_LOG(ERR, "%s: the primary process has no port of this name", name);
		return -ENODEV;
	}
	here = calloc(1, sizeof(*here));
	if (here == NULL) {
		ret = -ENOMEM;
		goto release;
	}
	here->dev = dev;
	SLIST_INIT(&here->pages);
	dev->device = &vdev->device;
	dev->process_private = here;
	dev->dev_ops = ops;
	dev->rx_queue_count = mdv_rxq_count;
	dev->rx_descriptor_status = mdv_rxq_descriptor_status;
	dev->tx_descriptor_status = mdv_tx_done_status;
	silence(dev);
	ret = join();
	if (ret == 0)
		ret = attach(here);
	if (ret != 0) {
		MDV_LOG(ERR, "%s: cannot take part in the primary's port %u: %s%s", name,
			dev->data->port_id, rte_strerror(-ret),
			ret == -EPROTO ? ": another build of this driver" : "");
		goto close;
	}
	rte_eth_dev_probing_finish(dev);
	return 0;

close:
	mdv_secondary_close(dev);
release:
	rte_eth_dev_release_port(dev);
	return ret;
}

int
mdv_secondary_close(struct rte_eth_dev *dev)
{
	struct here *here = dev->process_private, *listed;
	struct mdv_mp_message message = {
		.kind = MDV_MP_DETACH,
		.port_id = dev->data->port_id,
	};

	if (here == NULL)
		return 0;
	dev->process_private = NULL;
	pthread_mutex_lock(&all.lock);
	listed = here_of(dev->data->port_id);
	if (listed == here)
		LIST_REMOVE(here, next);
	end(here);
	pthread_mutex_unlock(&all.lock);
	if (listed == here && here->state == THERE)
		mdv_mp_ask(&message, NULL);
	mdv_uar_unmap(&here->pages);
	free(here);
	return 0;
}

int
mdv_secondary_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	if (dev == NULL)
		return 0;
	mdv_secondary_close(dev);
	return rte_eth_dev_release_port(dev);
}

int
mdv_secondary_is_removed(struct rte_eth_dev *dev)
{
	const struct here *here = dev->process_private;

	return here == NULL || here->state != THERE || mdv_port(dev)->event.gone;
}

/* The primary keeps it in the shared data. */
int
mdv_secondary_link_update(__rte_unused struct rte_eth_dev *dev, __rte_unused int wait)
{
	return 0;
}

/** Rules are the primary's to print. */
static int
dump_rules(struct rte_eth_dev *dev, struct rte_flow *only, FILE *file, struct rte_flow_error *error)
{
	struct mdv_mp_message message = {
		.kind = MDV_MP_DUMP_RULES,
		.port_id = dev->data->port_id,
	};
	struct mdv_mp_fds fds = { .fds = { memfd_create("mlx5dv-rules", MFD_CLOEXEC) }, .nb = 1 };
	const int printed = fds.fds[0];
	char text[4096];
	ssize_t nb;
	int ret;

	if (only != NULL || printed < 0) {
		ret = only != NULL ? -ENOTSUP : -errno;
	} else {
		ret = mdv_mp_ask(&message, &fds);
		for (lseek(printed, 0, SEEK_SET); (nb = read(printed, text, sizeof(text))) > 0;)
			fwrite(text, 1, nb, file);
	}
	if (printed >= 0)
		close(printed);
	if (ret == 0)
		return 0;
	return rte_flow_error_set(error, -ret, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		only != NULL ? "a secondary process dumps all rules or none"
			     : "the primary process does not dump the rules");
}

int
mdv_secondary_flow_ops(__rte_unused struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	static const struct rte_flow_ops reads = { .dev_dump = dump_rules };

	*ops = &reads;
	return 0;
}
