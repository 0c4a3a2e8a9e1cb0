/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for packets: completion channels, arming, and the address to watch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_interrupts.h>
#include <rte_power_intrinsics.h>

#include "base/log.h"
#include "queue/cq_ibv.h"
#include "rx_intr.h"
#include "rx_wake.h"
#include "rxq.h"
#include "state/port.h"

/** Sequence number of an arm: two bits of its word (rdma-core mlx5_arm_cq()). */
#define ARM_SN_MASK  3u
#define ARM_SN_SHIFT 28
/** Word of the doorbell record (rdma-core MLX5_CQ_ARM_DB). */
#define ARM_DBREC 1

struct ibv_comp_channel *
mdv_rx_intr_channel(const struct mdv_port *port, uint16_t idx)
{
	return port->rx_wakes == NULL ? NULL : port->rx_wakes[idx].channel;
}

static void
wakes_close(struct mdv_port *port, uint16_t nb)
{
	int ret;

	while (nb-- != 0) {
		ret = mdv_rx_wake_close(&port->rx_wakes[nb]);
		if (ret != 0)
			MDV_LOG(ERR, "port %u Rx queue %u: cannot close the channel: %s",
				port->dev->data->port_id, nb, strerror(-ret));
	}
	free(port->rx_wakes);
	port->rx_wakes = NULL;
}

static int
wakes_open(struct mdv_port *port, uint16_t nb)
{
	uint16_t i;
	int ret;

	port->rx_wakes = calloc(nb, sizeof(port->rx_wakes[0]));
	if (port->rx_wakes == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		ret = mdv_rx_wake_open(port->device.ctx, &port->rx_wakes[i]);
		if (ret != 0) {
			wakes_close(port, i);
			return ret;
		}
	}
	return 0;
}

/**
 * Make a handle whose descriptors EAL does not read: verbs takes the events. Of the types of
 * handles that leaves VDEV, with counters of 0 bytes, and EXT, but EXT is to tell that all queues
 * share an interrupt (rte_intr_cap_multiple()): the event Rx adapter would wait for the first one
 * alone.
 */
static struct rte_intr_handle *
handle_create(const struct mdv_port *port, uint16_t nb)
{
	struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	uint16_t i;
	int ret;

	if (handle == NULL)
		return NULL;
	ret = rte_intr_fd_set(handle, -1);
	ret |= rte_intr_type_set(handle, RTE_INTR_HANDLE_VDEV);
	ret |= rte_intr_efd_counter_size_set(handle, 0);
	ret |= rte_intr_nb_efd_set(handle, nb);
	ret |= rte_intr_vec_list_alloc(handle, NULL, nb);
	for (i = 0; i < nb && ret == 0; i++) {
		ret = rte_intr_vec_list_index_set(handle, i, RTE_INTR_VEC_RXTX_OFFSET + i);
		ret |= rte_intr_efds_index_set(handle, i, port->rx_wakes[i].fd);
	}
	if (ret != 0) {
		rte_intr_instance_free(handle);
		return NULL;
	}
	return handle;
}

int
mdv_rx_intr_create(struct rte_eth_dev *dev)
{
	const uint16_t nb = dev->data->nb_rx_queues;
	struct mdv_port *port = mdv_port(dev);
	int ret;

	if (!dev->data->dev_conf.intr_conf.rxq || nb == 0)
		return 0;
	if (nb > RTE_MAX_RXTX_INTR_VEC_ID) {
		MDV_LOG(ERR, "port %u: interrupts for %u Rx queues, the EAL takes %u",
			dev->data->port_id, nb, RTE_MAX_RXTX_INTR_VEC_ID);
		return -EINVAL;
	}
	ret = wakes_open(port, nb);
	if (ret != 0) {
		MDV_LOG(ERR, "port %u: cannot make completion channels: %s", dev->data->port_id,
			strerror(-ret));
		return ret;
	}
	dev->intr_handle = handle_create(port, nb);
	if (dev->intr_handle == NULL) {
		MDV_LOG(ERR, "port %u: no memory for interrupts", dev->data->port_id);
		wakes_close(port, nb);
		return -ENOMEM;
	}
	return 0;
}

void
mdv_rx_intr_destroy(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);

	if (port->rx_wakes == NULL)
		return;
	rte_intr_free_epoll_fd(dev->intr_handle);
	rte_intr_vec_list_free(dev->intr_handle);
	rte_intr_instance_free(dev->intr_handle);
	dev->intr_handle = NULL;
	wakes_close(port, dev->data->nb_rx_queues);
}

void
mdv_rx_intr_wake(const struct mdv_port *port, uint16_t idx)
{
	if (port->rx_wakes != NULL)
		mdv_rx_wake_now(&port->rx_wakes[idx]);
}

/** @return the queue's descriptors; NULL: the queue has no interrupts. */
static const struct mdv_rx_wake *
wake_of(const struct rte_eth_dev *dev, uint16_t idx)
{
	const struct mdv_port *port = mdv_port(dev);

	return port->rx_wakes == NULL || dev->data->rx_queues[idx] == NULL ? NULL
									   : &port->rx_wakes[idx];
}

/** Take the events that have come. */
static void
events_take(struct mdv_rxq *rxq, const struct mdv_rx_wake *wake)
{
	struct ibv_cq *cq;
	void *context;

	mdv_rx_wake_clear(wake);
	while (ibv_get_cq_event(wake->channel, &cq, &context) == 0) {
		ibv_ack_cq_events(cq, 1);
		rxq->objs.cq.arm_sn++;
	}
}

static void
arm(struct mdv_rxq *rxq)
{
	const uint32_t ci = rxq->pos.cq_ci & MDV_HW_CQ_CI_MASK;
	const uint32_t word =
		(rxq->objs.cq.arm_sn & ARM_SN_MASK) << ARM_SN_SHIFT | MLX5_CQ_DB_REQ_NOT | ci;

	rxq->ring.cq_dbrec[ARM_DBREC] = rte_cpu_to_be_32(word);
	/* Orders the record before the register: the device reads both. */
	rte_wmb();
	*(volatile uint64_t *)RTE_PTR_ADD(rxq->objs.cq.uar, MLX5_CQ_DOORBELL) =
		rte_cpu_to_be_64((uint64_t)word << 32 | rxq->objs.cq.cqn);
	rte_wmb();
}

/** @return whether the queue has packets that no burst has taken */
static bool
has_packets(const struct mdv_rxq *rxq)
{
	const struct mdv_hw_cqe *cqe = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask];

	return rxq->nb_ready != 0 ||
		mdv_cq_is_valid(mdv_cq_op_own(cqe), rxq->pos.cq_ci, rxq->ring.log2_wqes);
}

int
mdv_rx_intr_enable(struct rte_eth_dev *dev, uint16_t idx)
{
	const struct mdv_rx_wake *wake = wake_of(dev, idx);
	struct mdv_rxq *rxq = dev->data->rx_queues[idx];
	int ret = 0;

	if (wake == NULL)
		return -ENOTSUP;
	/* First take the events since the last arm, which have used its number. */
	events_take(rxq, wake);
	/* Its CQ raises no more events. The next poll recreates the queue. */
	if (mdv_rxq_is_broken(rxq))
		mdv_rx_wake_now(wake);
	if (rxq->objs.cq.ex != NULL)
		ret = -ibv_req_notify_cq(rxq->objs.cq.ibv_cq, 0);
	else
		arm(rxq);
	/* An event has told of them before, so that the device may not tell again (Linux
	 * mlx5_ifc.h, last_notified_index of a CQ). Those that come after the arm it does tell of.
	 */
	mdv_cq_look(&rxq->objs.cq, rxq->pos.cq_ci, 1);
	if (has_packets(rxq))
		mdv_rx_wake_now(wake);
	return ret;
}

int
mdv_rx_intr_disable(struct rte_eth_dev *dev, uint16_t idx)
{
	const struct mdv_rx_wake *wake = wake_of(dev, idx);
	struct mdv_rxq *rxq = dev->data->rx_queues[idx];

	if (wake == NULL)
		return -ENOTSUP;
	events_take(rxq, wake);
	return 0;
}

/** @return -1: there is a packet already, do not sleep. */
static int
monitor_check(const uint64_t op_own, const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ])
{
	return mdv_cq_is_valid(op_own, opaque[0], opaque[1]) ? -1 : 0;
}

static int
monitor_never(__rte_unused const uint64_t op_own,
	__rte_unused const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ])
{
	return -1;
}

int
mdv_rx_intr_monitor(void *queue, struct rte_power_monitor_cond *cond)
{
	const struct mdv_rxq *rxq = queue;

	/* Not set up. */
	if (rxq == NULL)
		return -EINVAL;
	/* In mode=ibv the ring that the device writes belongs to verbs. */
	if (rxq->port->device.caps.mode == MDV_MODE_IBV)
		return -ENOTSUP;
	/* A stopped port has no CQ, and ring.cqes is NULL or freed. */
	if (rxq->objs.cq.ibv_cq == NULL)
		return -EINVAL;
	*cond = (struct rte_power_monitor_cond){
		.addr = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask].op_own,
		.fn = rxq->nb_ready != 0 || mdv_rxq_is_broken(rxq) ? monitor_never : monitor_check,
		.opaque = { rxq->pos.cq_ci, rxq->ring.log2_wqes },
		.size = sizeof(uint8_t),
	};
	return 0;
}
