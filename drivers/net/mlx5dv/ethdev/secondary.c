/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches ports of the primary process: their bursts and doorbells, and the loss of the primary.
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
#include "burst/tx/tx.h"
#include "device/uar.h"
#include "mem/mr_span.h"
#include "mp/mp.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "secondary.h"
#include "state/port.h"

enum attach_state {
	ATTACHED,
	LOST,     /**< the primary has closed it, or has ended */
	REPORTED, /**< lost, and the application knows */
};

/** A port in this process: the ethdev port's process_private. */
struct attachment {
	LIST_ENTRY(attachment) next;
	struct rte_eth_dev *dev;
	/** The primary clears the number in the shared data when it closes the port. */
	uint16_t port_id;
	struct mdv_uar_pages pages;
	enum attach_state state;
	bool begun; /**< the port runs, and its queues may be looked at */
};

LIST_HEAD(attachment_list, attachment);

/** The ports that this process has attached. The thread that reports a loss is not the one that
 * detaches, hence the lock. */
static struct {
	pthread_mutex_t lock;
	struct attachment_list ports;
	struct rte_intr_handle *watch; /**< of the primary's pidfd: has it ended? */
} attachments = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t
mdv_secondary_layout(void)
{
	return (uint64_t)sizeof(struct mdv_port) << 32 | sizeof(struct mdv_rxq) << 16 |
		sizeof(struct mdv_txq);
}

/** Lock held. */
static struct attachment *
attachment_find(uint16_t port_id)
{
	struct attachment *attachment;

	LIST_FOREACH (attachment, &attachments.ports, next) {
		if (attachment->port_id == port_id)
			return attachment;
	}
	return NULL;
}

/** Update the copies that ethdev made when the port was attached. */
static void
publish(const struct attachment *attachment, void **rx_queues, void **tx_queues)
{
	const struct rte_eth_dev *dev = attachment->dev;
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[attachment->port_id];

	ops->rx_pkt_burst = dev->rx_pkt_burst;
	ops->tx_pkt_burst = dev->tx_pkt_burst;
	ops->tx_pkt_prepare = dev->tx_pkt_prepare;
	ops->rx_queue_count = dev->rx_queue_count;
	ops->rx_descriptor_status = dev->rx_descriptor_status;
	ops->tx_descriptor_status = dev->tx_descriptor_status;
	MDV_COMPAT_RECYCLE_OPS(
		ops, dev->recycle_tx_mbufs_reuse, dev->recycle_rx_descriptors_refill);
	ops->rxq.data = rx_queues;
	ops->txq.data = tx_queues;
}

static uint16_t
prepare_nothing(__rte_unused void *txq, __rte_unused struct rte_mbuf **pkts, uint16_t nb)
{
	return nb;
}

static mdv_compat_rx_count_t
count_nothing(__rte_unused void *rxq)
{
	return -ENOTSUP;
}

static int
no_status(__rte_unused void *queue, __rte_unused uint16_t offset)
{
	return -ENOTSUP;
}

/** Let the fast path touch no queue, as that of a stopped port in the primary. */
static void
silence(struct rte_eth_dev *dev)
{
	dev->rx_pkt_burst = rte_eth_pkt_burst_dummy;
	dev->tx_pkt_burst = rte_eth_pkt_burst_dummy;
	dev->tx_pkt_prepare = prepare_nothing;
	dev->rx_queue_count = count_nothing;
	dev->rx_descriptor_status = no_status;
	dev->tx_descriptor_status = no_status;
	MDV_COMPAT_RECYCLE_OPS(dev, NULL, NULL);
}

/** The port has stopped or gone: leave its queues alone. */
static void
end(struct attachment *attachment)
{
	/* ethdev reads the arrays before it calls anything, and the primary may free its own. */
	static void *no_queues[RTE_MAX_QUEUES_PER_PORT];

	silence(attachment->dev);
	publish(attachment, no_queues, no_queues);
	attachment->begun = false;
}

/** Map the doorbells of the present queues, except those whose pages are in @p pages. */
static int
map_doorbells(const struct rte_eth_dev_data *data, int device_fd, struct mdv_uar_pages *pages)
{
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		const struct mdv_txq *txq = data->tx_queues[i];
		uint8_t *page;

		if (txq == NULL)
			continue;
		page = mdv_uar_map(pages, device_fd, txq->objs.uar_offset);
		if (page == NULL) {
			const int err = errno;

			MDV_LOG(ERR, "port %u Tx queue %u: cannot map its doorbell: %s",
				data->port_id, i, strerror(err));
			return -err;
		}
		mdv_uar_regs[txq->ring.uar_slot] = (volatile uint64_t *)(page + txq->objs.uar_at);
	}
	return 0;
}

/** The port has started: map its doorbells and take its bursts. No thread uses old doorbell pages
 * here; they may belong to an earlier device context. */
static int
begin(struct attachment *attachment, int device_fd)
{
	struct mdv_uar_pages pages = SLIST_HEAD_INITIALIZER(pages);
	struct rte_eth_dev *dev = attachment->dev;
	int ret;

	/* ethdev remembers that the device was removed before it was reset, and makes EIO of each
	 * error then. */
	if (dev->state == RTE_ETH_DEV_REMOVED)
		dev->state = RTE_ETH_DEV_ATTACHED;
	silence(dev);
	ret = map_doorbells(dev->data, device_fd, &pages);
	mdv_uar_unmap(&attachment->pages);
	attachment->pages = pages;
	if (ret != 0) {
		end(attachment);
		return ret;
	}
	mdv_burst_select(dev);
	dev->rx_queue_count = mdv_rxq_count;
	dev->rx_descriptor_status = mdv_rxq_descriptor_status;
	dev->tx_descriptor_status = mdv_tx_done_status;
	publish(attachment, dev->data->rx_queues, dev->data->tx_queues);
	attachment->begun = true;
	return 0;
}

/** The number is that of a place in ethdev's table: here it is still the port's. */
static void
restore_number(const struct attachment *attachment)
{
	attachment->dev->data->port_id = attachment->port_id;
}

/** Operations on a port that the primary has closed: others would need its shared data. */
static const struct eth_dev_ops lost_ops = {
	.dev_close = mdv_secondary_close,
	.is_removed = mdv_secondary_is_removed,
};

/** @return a port whose loss has not been reported yet, or NULL. */
static struct rte_eth_dev *
take_lost(void)
{
	struct rte_eth_dev *dev = NULL;
	struct attachment *attachment;

	pthread_mutex_lock(&attachments.lock);
	LIST_FOREACH (attachment, &attachments.ports, next) {
		if (attachment->state != LOST)
			continue;
		attachment->state = REPORTED;
		restore_number(attachment);
		dev = attachment->dev;
		break;
	}
	pthread_mutex_unlock(&attachments.lock);
	return dev;
}

/** In the interrupt thread, without the lock: an application may remove the port there. */
static void
report_lost(__rte_unused void *arg)
{
	struct rte_eth_dev *dev;

	while ((dev = take_lost()) != NULL)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
}

static void
primary_ended(__rte_unused void *arg)
{
	struct attachment *attachment;

	/* A pidfd stays readable, so stop listening; inside the callback only this call can. */
	rte_intr_callback_unregister_pending(attachments.watch, primary_ended, NULL, NULL);
	pthread_mutex_lock(&attachments.lock);
	LIST_FOREACH (attachment, &attachments.ports, next) {
		if (attachment->state != ATTACHED)
			continue;
		attachment->state = LOST;
		end(attachment);
		MDV_LOG(ERR,
			"port %u: the primary process has ended: nothing is received or sent any more; end this process, too",
			attachment->port_id);
	}
	pthread_mutex_unlock(&attachments.lock);
	report_lost(NULL);
}

/** Watch for the end of the primary, once a process. Takes over the descriptor. */
static void
watch_primary(int pidfd)
{
	struct rte_intr_handle *watch;

	if (attachments.watch != NULL) {
		close(pidfd);
		return;
	}
	watch = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (watch == NULL)
		goto close;
	rte_intr_fd_set(watch, pidfd);
	rte_intr_type_set(watch, RTE_INTR_HANDLE_EXT);
	attachments.watch = watch;
	if (rte_intr_callback_register(watch, primary_ended, NULL) == 0)
		return;
	attachments.watch = NULL;
	rte_intr_instance_free(watch);
close:
	MDV_LOG(WARNING, "the primary process is not watched: its end will go unnoticed");
	close(pidfd);
}

/** Do what the primary tells of a port that is attached. Lock held. */
static int
follow(struct attachment *attachment, enum mdv_mp_kind what, const struct mdv_mp_fds *got)
{
	switch (what) {
	case MDV_MP_START:
		return got->nb == 1 ? begin(attachment, got->fds[0]) : -EPROTO;
	case MDV_MP_DOORBELLS:
		/* After a stop the message is late, and the queues may be gone. */
		if (!attachment->begun)
			return 0;
		/* Other queues are in use, so their pages stay mapped. */
		return got->nb == 1
			? map_doorbells(attachment->dev->data, got->fds[0], &attachment->pages)
			: -EPROTO;
	case MDV_MP_STOP:
		end(attachment);
		return 0;
	case MDV_MP_CLOSED:
		end(attachment);
		attachment->dev->dev_ops = &lost_ops;
		attachment->state = LOST;
		return rte_eal_alarm_set(1, report_lost, NULL);
	default:
		return 0;
	}
}

/** Handle a message of the primary, which all secondaries get, whether or not they have attached
 * the port. */
static int
handle(struct mdv_mp_message *message, const struct mdv_mp_fds *got,
	__rte_unused struct mdv_mp_fds *give)
{
	struct attachment *attachment;
	int ret = 0;

	pthread_mutex_lock(&attachments.lock);
	attachment = attachment_find(message->port_id);
	if (attachment != NULL && attachment->state == ATTACHED)
		ret = follow(attachment, message->kind, got);
	pthread_mutex_unlock(&attachments.lock);
	return ret;
}

/** @return whether the primary has to hear of the pool for the port. */
static bool
concerns(uint16_t port_id, enum rte_mempool_event event, struct rte_mempool *pool)
{
	const struct attachment *attachment;
	bool does;

	pthread_mutex_lock(&attachments.lock);
	attachment = attachment_find(port_id);
	does = attachment != NULL;
	if (does && event == RTE_MEMPOOL_EVENT_READY)
		does = attachment->state == ATTACHED &&
			mdv_port(attachment->dev)->config.mr_mempool_reg_en == MDV_MEMPOOL_REG_ON &&
			mdv_mr_span_has_packets(pool);
	pthread_mutex_unlock(&attachments.lock);
	return does;
}

/** Report mempools that this process makes and destroys: the primary sees only its own. The EAL
 * holds no lock here that the primary could need (rte_mempool.c mempool_event_callback_invoke()).
 */
static void
pool_event(enum rte_mempool_event event, struct rte_mempool *pool, __rte_unused void *arg)
{
	uint16_t port_id;

	for (port_id = 0; port_id < RTE_MAX_ETHPORTS; port_id++) {
		struct mdv_mp_message message = {
			.kind = event == RTE_MEMPOOL_EVENT_READY ? MDV_MP_POOL_MADE
								 : MDV_MP_POOL_GONE,
			.port_id = port_id,
			.pool = pool,
		};

		if (concerns(port_id, event, pool))
			mdv_mp_ask(&message, NULL);
	}
}

/** Set-up that the process needs once for all ports. */
static int
join(void)
{
	int ret = mdv_mp_listen(handle, false);

	if (ret == 0 && rte_mempool_event_callback_register(pool_event, NULL) != 0 &&
		rte_errno != EEXIST)
		ret = -rte_errno;
	return ret;
}

/** Ask the primary for the device; if the port is started, map doorbells and take bursts. */
static int
attach(struct attachment *attachment)
{
	struct rte_eth_dev *dev = attachment->dev;
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
	pthread_mutex_lock(&attachments.lock);
	LIST_INSERT_HEAD(&attachments.ports, attachment, next);
	if (mdv_port(dev)->started)
		ret = begin(attachment, fds.fds[0]);
	pthread_mutex_unlock(&attachments.lock);
	/* Mapped pages stay mapped without the descriptor. */
	close(fds.fds[0]);
	return ret;
}

/** ethdev has just published the arrays of a port that does not run yet: the primary has none
 * before its first configuration, and may replace those that it has. */
static void
hide_queues(struct attachment *attachment)
{
	pthread_mutex_lock(&attachments.lock);
	if (!attachment->begun)
		end(attachment);
	pthread_mutex_unlock(&attachments.lock);
}

int
mdv_secondary_probe(struct rte_vdev_device *vdev, const struct eth_dev_ops *ops)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_attach_secondary(name);
	struct attachment *attachment;
	int ret;

	if (dev == NULL) {
		MDV_LOG(ERR, "%s: the primary process has no port of this name", name);
		return -ENODEV;
	}
	attachment = calloc(1, sizeof(*attachment));
	if (attachment == NULL) {
		ret = -ENOMEM;
		goto release;
	}
	attachment->dev = dev;
	attachment->port_id = dev->data->port_id;
	SLIST_INIT(&attachment->pages);
	dev->device = &vdev->device;
	dev->process_private = attachment;
	dev->dev_ops = ops;
	silence(dev);
	ret = join();
	if (ret == 0)
		ret = attach(attachment);
	if (ret != 0) {
		MDV_LOG(ERR, "%s: cannot take part in the primary's port %u: %s%s", name,
			dev->data->port_id, rte_strerror(-ret),
			ret == -EPROTO ? ": another build of this driver" : "");
		goto close;
	}
	rte_eth_dev_probing_finish(dev);
	hide_queues(attachment);
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
	struct attachment *attachment = dev->process_private, *listed;
	struct mdv_mp_message message = { .kind = MDV_MP_DETACH };

	if (attachment == NULL)
		return 0;
	message.port_id = attachment->port_id;
	dev->process_private = NULL;
	pthread_mutex_lock(&attachments.lock);
	listed = attachment_find(attachment->port_id);
	if (listed == attachment)
		LIST_REMOVE(attachment, next);
	end(attachment);
	pthread_mutex_unlock(&attachments.lock);
	if (listed == attachment && attachment->state == ATTACHED)
		mdv_mp_ask(&message, NULL);
	/* ethdev, which releases it next, looks there. */
	restore_number(attachment);
	mdv_uar_unmap(&attachment->pages);
	free(attachment);
	return 0;
}

/** @return the port of a device, whose name the primary may have cleared, or NULL */
static struct rte_eth_dev *
port_of(const struct rte_device *device)
{
	struct rte_eth_dev *dev = NULL;
	struct attachment *attachment;

	pthread_mutex_lock(&attachments.lock);
	LIST_FOREACH (attachment, &attachments.ports, next) {
		if (attachment->dev->device == device)
			dev = attachment->dev;
	}
	pthread_mutex_unlock(&attachments.lock);
	return dev;
}

int
mdv_secondary_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = port_of(&vdev->device);

	if (dev == NULL)
		dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));
	if (dev == NULL)
		return 0;
	mdv_secondary_close(dev);
	return rte_eth_dev_release_port(dev);
}

int
mdv_secondary_is_removed(struct rte_eth_dev *dev)
{
	const struct attachment *attachment = dev->process_private;

	return attachment == NULL || attachment->state != ATTACHED || mdv_port(dev)->event.removed;
}

/** The primary keeps the link in the shared data. */
int
mdv_secondary_link_update(__rte_unused struct rte_eth_dev *dev, __rte_unused int wait)
{
	return 0;
}

/** Only the primary can print rules: it prints them into a memory file. */
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
