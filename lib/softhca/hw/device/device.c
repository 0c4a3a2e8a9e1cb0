/* SPDX-License-Identifier: BSD-3-Clause */
/* The device: creation, the lock, and the round over engines and wires. */
#include "hw/device/device.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "hw/check/bus.h"
#include "hw/check/inject.h"
#include "hw/check/strict.h"
#include "hw/device/clock_page.h"
#include "hw/device/inject_port.h"
#include "hw/device/kernel_side.h"
#include "hw/device/link.h"
#include "hw/format/tunnels.h"
#include "hw/format/tx.h"
#include "hw/queue/cq.h"
#include "hw/queue/flow_cache.h"
#include "hw/queue/loopback.h"
#include "hw/queue/out.h"
#include "hw/queue/rq.h"
#include "hw/queue/sq.h"
#include "hw/queue/sq_fail.h"
#include "hw/queue/steer.h"
#include "hw/roce/gid.h"
#include "hw/roce/late.h"
#include "hw/roce/qp1.h"
#include "hw/roce/roce_qp.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "hw/state/sq.h"
#include "hw/state/tir.h"
#include "steering/arfs.h"
#include "steering/match/parse.h"
#include "steering/steering.h"
#include "wire/wire.h"

/** Budgets of one round: frames from a wire, and WQEs from a send queue. */
#define BURST 64
/** Frames of a loop in one round. */
#define LOOP_BURST 256
/** More rounds than the largest send queue needs. */
#define CATCH_UP_ROUNDS 1024

#define NUMBER_LAST   0xffffff
#define CQ_NUMBER_1ST 0x400
#define QP_NUMBER_1ST 0x100
/** Queue pairs with a transport have the upper half, without the number of multicast. */
#define QP_NUMBER_LAST   0x7fffff
#define ROCE_NUMBER_1ST  0x800000
#define ROCE_NUMBER_LAST 0xfffffe
#define SRQ_NUMBER_LAST  0xffffff

/** The longest time until a change of the netdev is seen: 10 ms, and as long as the wire keeps its
 * answer. */
#define NETDEV_TICKS ((uint64_t)SHCA_CLOCK_KHZ * 10)

static int
create_lock(struct shca_device *dev)
{
	int ret = pthread_mutex_init(&dev->next, NULL);

	if (ret != 0)
		return -ret;
	ret = pthread_mutex_init(&dev->held, NULL);
	if (ret != 0)
		pthread_mutex_destroy(&dev->next);
	return -ret;
}

/** The state of a function's link is that of its representor (mlx5e_rep_open, mlx5e_rep_close). */
static void
take_netdev_of_rep(struct shca_device *dev, uint32_t port, const struct shca_netdev *was)
{
	const struct shca_netdev *netdev = &dev->port[port - 1].netdev;
	struct shca_wire *wire = dev->conf.wire;

	if (netdev->is_up != was->is_up && wire->ops->set_vport_link != NULL)
		wire->ops->set_vport_link(wire, port, netdev->is_up);
}

static void
take_netdev(struct shca_device *dev, const struct shca_netdev *was)
{
	const struct shca_netdev *netdev = &dev->port[0].netdev;
	struct shca_wire *wire = dev->conf.wire;
	const bool is_other = netdev->is_promiscuous != was->is_promiscuous ||
		netdev->nb_changes != was->nb_changes;

	if (is_other || memcmp(netdev->mac, was->mac, sizeof(was->mac)) != 0)
		shca_kernel_side_filter(dev);
	if (!is_other && netdev->is_allmulti == was->is_allmulti)
		return;
	if (wire->ops->set_rx_mode != NULL)
		wire->ops->set_rx_mode(wire, netdev);
}

static void
look_at_netdev(struct shca_device *dev, uint32_t port)
{
	const struct shca_device_conf *conf = &dev->conf;
	struct shca_netdev *netdev = &dev->port[port - 1].netdev;
	struct shca_wire *kernel = shca_conf_kernel(conf, port);
	const struct shca_netdev was = *netdev;

	if (kernel == NULL || kernel->ops->look == NULL)
		return;
	kernel->ops->look(kernel, netdev);
	if (conf->netdev != NULL &&
		(strcmp(netdev->name, was.name) != 0 || netdev->ifindex != was.ifindex ||
			netdev->netns != was.netns ||
			memcmp(netdev->mac, was.mac, sizeof(was.mac)) != 0))
		conf->netdev(conf->index, port, netdev, conf->arg);
	if (conf->nb_vports == 0) {
		take_netdev(dev, &was);
		if (shca_gid_update(dev))
			shca_link_tell(dev, port, SHCA_EVENT_GID_CHANGE);
	} else if (port != conf->nb_vports)
		take_netdev_of_rep(dev, port, &was);
}

static void
look_at_netdevs(struct shca_device *dev)
{
	for (uint32_t port = 1; port <= shca_conf_nb_ports(&dev->conf); port++)
		look_at_netdev(dev, port);
}

/** @return what the rules of a device depend on. */
static struct shca_steering_conf
steering_conf(const struct shca_device_conf *conf)
{
	return (struct shca_steering_conf){
		.dont_trap = conf->model->dont_trap,
		.sniffer = conf->model->sniffer,
		.tunnel_offloads = conf->model->tunnel_offloads,
		.inner_ip_version = conf->model->inner_ip_version,
		.reformat_and_fwd_to_table = conf->model->reformat_and_fwd_to_table,
		.reformat_and_modify_action = conf->model->reformat_and_modify_action,
		.max_fte_destinations = conf->model->max_fte_destinations,
		.max_fte_counters = conf->model->max_fte_counters,
		.is_rep = conf->nb_vports != 0,
		.profile = conf->profile,
		.esp_spi = conf->kernel_abi < SHCA_KERNEL_6_1,
	};
}

int
shca_device_create(const struct shca_device_conf *conf, struct shca_device **out)
{
	const struct shca_steering_conf steering = steering_conf(conf);
	struct shca_device *dev = calloc(1, sizeof(*dev));
	int ret = -ENOMEM;

	if (dev == NULL)
		return -ENOMEM;
	dev->conf = *conf;
	dev->pause = (struct shca_pause){ true, true }; /* as cards come */
	dev->paced_ticks = UINT64_MAX;
	dev->is_watched = shca_is_strict(dev);
	dev->may_reflect = conf->wire->ops->reflects != NULL;
	dev->take_roce = shca_gid_nb(dev) != 0 ? shca_roce_take : NULL;
	dev->mem = shca_mem_create();
	if (dev->mem == NULL)
		goto free_device;
	dev->steering = shca_steering_create(&steering);
	if (dev->steering == NULL)
		goto destroy_mem;
	ret = shca_flow_cache_init(&dev->flow_cache);
	if (ret != 0)
		goto destroy_steering;
	ret = shca_out_init(&dev->out);
	if (ret != 0)
		goto fini_flow_cache;
	ret = create_lock(dev);
	if (ret != 0)
		goto fini_out;
	shca_idtable_init(&dev->cq_numbers, CQ_NUMBER_1ST, NUMBER_LAST);
	shca_idtable_init(&dev->queue_numbers, QP_NUMBER_1ST, QP_NUMBER_LAST);
	shca_idtable_init(&dev->roce_numbers, ROCE_NUMBER_1ST, ROCE_NUMBER_LAST);
	shca_idtable_init(&dev->srq_numbers, 1, SRQ_NUMBER_LAST);
	shca_idtable_init(&dev->rqt_numbers, 1, NUMBER_LAST);
	shca_idtable_init(&dev->tir_numbers, 1, NUMBER_LAST);
	LIST_INIT(&dev->cqs);
	LIST_INIT(&dev->rqs);
	LIST_INIT(&dev->sqs);
	LIST_INIT(&dev->roce_qps);
	LIST_INIT(&dev->ahs);
	STAILQ_INIT(&dev->roce_late);
	shca_qp1_init(&dev->qp1);
	LIST_INIT(&dev->doorbell_pages);
	LIST_INIT(&dev->clock_pages);
	LIST_INIT(&dev->listeners);
	dev->has_link = true;
	dev->carries = true;
	for (unsigned int i = 0; i < shca_conf_nb_ports(conf); i++)
		dev->port[i] = (struct shca_port){ .netdev.is_up = true, .is_active = true };
	for (unsigned int i = 0; i < conf->nb_vports; i++)
		dev->port[i].netdev.is_up = conf->rep[i] == NULL; /* else until it is seen up */
	dev->may_fail = shca_inject_concerns(dev, SHCA_FAULT_LINK_FLAP, SHCA_FAULT_DEVICE_SLOW);
	shca_kernel_side_filter(dev);
	shca_gid_init(dev);
	look_at_netdevs(dev);
	*out = dev;
	return 0;

fini_out:
	shca_out_fini(&dev->out);
fini_flow_cache:
	shca_flow_cache_fini(&dev->flow_cache);
destroy_steering:
	shca_steering_destroy(dev->steering);
destroy_mem:
	shca_mem_destroy(dev->mem);
free_device:
	free(dev);
	return ret;
}

void
shca_device_destroy(struct shca_device *dev)
{
	if (dev == NULL)
		return;
	assert(LIST_EMPTY(&dev->sqs) && LIST_EMPTY(&dev->rqs) && LIST_EMPTY(&dev->cqs));
	shca_qp1_fini(&dev->qp1);
	shca_late_fini(dev);
	shca_idtable_fini(&dev->cq_numbers);
	shca_idtable_fini(&dev->queue_numbers);
	shca_idtable_fini(&dev->roce_numbers);
	shca_idtable_fini(&dev->srq_numbers);
	shca_idtable_fini(&dev->rqt_numbers);
	shca_idtable_fini(&dev->tir_numbers);
	pthread_mutex_destroy(&dev->held);
	pthread_mutex_destroy(&dev->next);
	shca_out_fini(&dev->out);
	shca_flow_cache_fini(&dev->flow_cache);
	shca_steering_destroy(dev->steering);
	shca_mem_destroy(dev->mem);
	free(dev->pci);
	free(dev);
}

void
shca_device_lock(struct shca_device *dev)
{
	atomic_fetch_add_explicit(&dev->nb_waiting, 1, memory_order_relaxed);
	pthread_mutex_lock(&dev->next);
	pthread_mutex_lock(&dev->held);
	atomic_fetch_sub_explicit(&dev->nb_waiting, 1, memory_order_relaxed);
	pthread_mutex_unlock(&dev->next);
}

static void
lock_step(struct shca_device *dev)
{
	if (atomic_load_explicit(&dev->nb_waiting, memory_order_relaxed) != 0)
		shca_device_lock(dev);
	else
		pthread_mutex_lock(&dev->held);
}

void
shca_device_unlock(struct shca_device *dev)
{
	pthread_mutex_unlock(&dev->held);
}

const uint8_t *
shca_device_mac(const struct shca_device *dev)
{
	return shca_own_mac(dev);
}

const struct shca_device_conf *
shca_device_conf(const struct shca_device *dev)
{
	return &dev->conf;
}

struct shca_mem *
shca_device_mem(struct shca_device *dev)
{
	return dev->mem;
}

struct shca_rates *
shca_device_rates(struct shca_device *dev)
{
	return &dev->rates;
}

struct shca_steering *
shca_device_steering(struct shca_device *dev)
{
	return dev->steering;
}

struct shca_pause *
shca_device_pause(struct shca_device *dev)
{
	return &dev->pause;
}

const struct shca_pci *
shca_device_pci(const struct shca_device *dev)
{
	return dev->pci;
}

int
shca_device_count_pci(struct shca_device *dev, bool on)
{
	return shca_bus_count(dev, on);
}

const struct shca_device_stats *
shca_device_stats(const struct shca_device *dev)
{
	return &dev->stats;
}

bool
shca_device_is_dead(const struct shca_device *dev)
{
	return dev->is_dead;
}

/** The wire belongs to the device thread: the next step starts it. */
void
shca_device_rules_changed(struct shca_device *dev)
{
	if (!dev->is_wire_started && shca_steering_nb_receiving(dev->steering) != 0)
		dev->start_wire = true;
}

/** @return for how many frames every receiving queue has room, at most @p most. */
static unsigned int
least_room(struct shca_device *dev, unsigned int most)
{
	struct shca_rq *rq;

	LIST_FOREACH (rq, &dev->rqs, link) {
		uint32_t room = shca_rq_room(rq);

		if (room < most)
			most = room;
	}
	return most;
}

/**
 * @return the number of frames to take from the wire in this round. Frames of a patient wire stay
 * there until every queue has room for all of them, wherever rules send them. From a loop the
 * device takes more than a burst if there is room, to share the cost of a round; so it does when
 * there are queue pairs with a transport, all of which a round asks for answers.
 */
static unsigned int
wire_budget(struct shca_device *dev)
{
	const struct shca_wire *wire = dev->conf.wire;
	const unsigned int most = LIST_EMPTY(&dev->roce_qps) ? BURST : LOOP_BURST;
	unsigned int room;

	if (dev->may_reflect) {
		room = least_room(dev, LOOP_BURST);
		return room > BURST ? room : BURST;
	}
	if (wire->ops->is_patient == NULL || !wire->ops->is_patient(wire))
		return most;
	return dev->carries ? least_room(dev, most) : 0;
}

/** Receive frames from the cable. */
static void
run_wire_rx(struct shca_device *dev, unsigned int budget)
{
	struct shca_wire *wire = dev->conf.wire;
	struct shca_frame frame[BURST];
	unsigned int nb;

	static_assert(BURST <= SHCA_OUT_FRAMES, "a burst fits");
	do {
		nb = wire->ops->rx(wire, frame, budget < BURST ? budget : BURST);
		if (nb == 0)
			break;
		if (dev->carries) {
			shca_steer_rx(dev, frame, nb);
		} else {
			dev->stats.rx_no_link += nb;
			dev->nb_done += nb;
		}
		budget -= nb;
	} while (nb == BURST && budget != 0);
	/* A bad cable gives fewer than there are. */
	dev->is_behind = nb > BURST / 2;
	dev->has_looked = true;
}

/** Send frames from a port's netdev. They stay valid until the netdev's wire is asked for
 * more, so do not ask while any waits. */
static void
run_kernel_rx(struct shca_device *dev, uint32_t port)
{
	const uint32_t sent_by = dev->conf.nb_vports != 0 ? port : 0;
	struct shca_wire *kernel = shca_conf_kernel(&dev->conf, port);
	/* Frames that rules change lie in the arena, which has room for so many of the longest. */
	const unsigned int most = shca_steering_walks_tx(dev->steering)
		? SHCA_OUT_ARENA / SHCA_OUT_FRAME_ROOM
		: BURST;
	struct shca_frame frame[BURST];
	unsigned int nb;

	if (kernel == NULL || dev->out.count != 0)
		return;
	nb = kernel->ops->rx(kernel, frame, most);
	for (unsigned int i = 0; i < nb; i++) {
		const uint8_t *bytes = frame[i].bytes;
		uint32_t length = frame[i].length;
		struct shca_packet packet;

		if (length == 0)
			continue;
		if (length < SHCA_TX_MIN_FRAME) {
			memcpy(shca_out_build(&dev->out), bytes, length);
			bytes = shca_out_build(&dev->out);
			length = shca_tx_pad(shca_out_build(&dev->out), length);
		}
		shca_parse(bytes, length, &packet);
		shca_tunnels_limit(&packet, dev->conf.model->tunnel_offloads);
		shca_arfs_learn(dev->steering, &packet);
		dev->stats.tx_kernel++;
		dev->stats.tx_kernel_bytes += length;
		if (shca_steer_tx(dev, &packet) && shca_steer_back(dev, SHCA_TDN_NETDEV, &packet))
			shca_out_add(&dev->out, NULL, 0,
				&(struct shca_frame){ packet.bytes, packet.length, sent_by });
	}
	dev->nb_done += nb;
	dev->netdev_waits = !shca_out_flush(dev);
}

/** Send what programs have posted. Whenever the wire is full, the other kind of queues is first
 * next time. */
static void
run_posted(void *arg)
{
	struct shca_device *dev = arg;
	const bool was_empty = dev->out.count == 0, is_roce_first = dev->is_roces_turn;

	if (is_roce_first)
		shca_roce_run(dev);
	shca_sq_run_all(dev, BURST);
	if (__builtin_expect(dev->may_fail, false))
		shca_inject_port_run(dev);
	if (dev->is_dead)
		return;
	if (!is_roce_first)
		shca_roce_run(dev);
	if (was_empty && dev->out.count != 0)
		dev->is_roces_turn = !is_roce_first;
}

static void
run_round(void *arg)
{
	struct shca_device *dev = arg;
	struct shca_rq *rq;

	if (dev->start_wire) {
		dev->start_wire = false;
		dev->is_wire_started = true;
		if (dev->conf.wire->ops->start != NULL)
			dev->conf.wire->ops->start(dev->conf.wire);
	}
	if (dev->ticks - dev->netdev_ticks >= NETDEV_TICKS) {
		dev->netdev_ticks = dev->ticks;
		look_at_netdevs(dev);
	}
	if (dev->conf.wire->ops->nb_refused != NULL)
		dev->stats.tx_refused = dev->conf.wire->ops->nb_refused(dev->conf.wire);
	shca_link_run(dev);
	if (shca_is_strict(dev))
		shca_strict_round(dev);
	dev->is_reflecting = dev->may_reflect && dev->has_link;
	dev->reflect_budget = dev->may_reflect ? wire_budget(dev) : 0;
	shca_out_flush(dev);
	if (dev->netdev_waits && dev->out.count == 0) {
		/* It has filled the wire: queues are first this time, and it is next. */
		dev->netdev_waits = false;
		dev->nb_done++;
	} else {
		for (uint32_t port = 1; port <= shca_conf_nb_ports(&dev->conf); port++)
			run_kernel_rx(dev, port);
	}
	run_posted(dev);
	if (dev->is_dead)
		return;
	run_wire_rx(dev, dev->may_reflect ? dev->reflect_budget : wire_budget(dev));
	dev->is_reflecting = false;
	if (__builtin_expect(dev->may_fail, false))
		shca_inject_port_run(dev);
	LIST_FOREACH (rq, &dev->rqs, link)
		if (rq->state == SHCA_QUEUE_ERROR)
			shca_rq_flush(rq);
	shca_cq_poll_all(dev);
}

/** The application has unmapped memory that it had registered or given as a ring. */
static void
handle_fault(struct shca_device *dev)
{
	SHCA_WARN("device %u faulted on memory that is no longer mapped", dev->conf.index);
	switch (dev->touch) {
	case SHCA_TOUCH_CQ:
		shca_cq_fail(dev->touched);
		break;
	case SHCA_TOUCH_RQ_RING:
	case SHCA_TOUCH_RQ_BUFFER:
		shca_rq_fault(dev->touched, dev->touch == SHCA_TOUCH_RQ_BUFFER);
		break;
	case SHCA_TOUCH_SQ_RING:
		shca_sq_fail_fatally(dev->touched);
		break;
	case SHCA_TOUCH_SQ_BUFFER: {
		struct shca_sq *sq = dev->touched;

		shca_sq_fail_wqe(sq, sq->ci);
		break;
	}
	case SHCA_TOUCH_ROCE:
		shca_roce_qp_fault(dev->touched);
		break;
	case SHCA_TOUCH_OUT:
		shca_out_fault(dev);
		break;
	case SHCA_TOUCH_NONE:
		break;
	}
}

/** Run a part of the device that accesses the application's memory. */
static unsigned int
guarded(struct shca_device *dev, void (*run)(void *dev))
{
	dev->nb_done = 0;
	dev->touch = SHCA_TOUCH_NONE;
	dev->is_reflecting = false; /* the last round may have faulted */
	if (!shca_mem_guard_run(run, dev)) {
		handle_fault(dev);
		dev->nb_done++;
	}
	return dev->nb_done;
}

unsigned int
shca_device_step(struct shca_device *dev)
{
	unsigned int nb_done;

	lock_step(dev);
	dev->ticks = shca_clock_ticks();
	if (__builtin_expect(dev->conf.has_rtc, false))
		dev->real_time = SHCA_CQE_REAL_TIME(shca_clock_real_ns());
	if (__builtin_expect(dev->may_fail, false) && shca_inject_port_stands(dev)) {
		shca_device_unlock(dev);
		return 0;
	}
	__atomic_store_n(&dev->paced_ticks, UINT64_MAX, __ATOMIC_RELAXED);
	shca_clock_page_update(dev);
	nb_done = guarded(dev, run_round);
	shca_device_unlock(dev);
	return nb_done;
}

uint64_t
shca_device_due_ns(const struct shca_device *dev)
{
	/* Threads that catch up step send queues, too. */
	uint64_t ticks = __atomic_load_n(&dev->paced_ticks, __ATOMIC_RELAXED);

	/* Round up to a whole tick. */
	return ticks != UINT64_MAX ? SHCA_CLOCK_TICKS_TO_NS(ticks + 1) : UINT64_MAX;
}

void
shca_device_catch_up(struct shca_device *dev)
{
	for (unsigned int i = 0;
		i < CATCH_UP_ROUNDS && !dev->is_dead && guarded(dev, run_posted) != 0; i++)
		;
	if (!dev->is_dead)
		guarded(dev, shca_cq_poll_all);
}
