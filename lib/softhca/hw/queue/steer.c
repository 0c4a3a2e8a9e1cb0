/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes frames through the rules: received ones to queues and netdev, sent ones to the wire. */
#include "hw/queue/steer.h"

#include <assert.h>
#include <string.h>

#include "hw/format/csum.h"
#include "hw/format/rewrite.h"
#include "hw/format/tunnels.h"
#include "hw/queue/flow_cache.h"
#include "hw/queue/loopback.h"
#include "hw/queue/rq.h"
#include "hw/queue/rq_run.h"
#include "hw/queue/tir.h"
#include "hw/state/device.h"
#include "hw/state/flow_cache.h"
#include "hw/state/out.h"
#include "hw/state/rq.h"
#include "hw/state/tir.h"
#include "steering/match/parse.h"
#include "steering/steering.h"
#include "wire/wide.h"
#include "wire/wire.h"

/** @param from domain of a frame that this port sent; NULL: of one that came in */
static void
deliver(const struct shca_packet *packet, const struct shca_verdict *verdict, const uint32_t *from)
{
	struct shca_rx rx;

	rx.packet = packet;
	rx.sees_tunnels = false;
	rx.is_described = false;
	rx.has_fcs = false;
	for (unsigned int i = 0; i < verdict->nb_destinations; i++) {
		const struct shca_destination *destination = &verdict->destination[i];
		struct shca_cqe_rx cqe_rx = { .flow_tag = destination->flow_tag };
		const struct shca_tir *tir = destination->tir;
		struct shca_rq *rq;

		/* A QP without a receive side drops its copy. */
		if (tir == NULL)
			continue;
		if (from != NULL && !shca_loopback_takes(tir, *from, packet))
			continue;
		if (tir->attr.tunneled_offload != rx.sees_tunnels) {
			rx.sees_tunnels = !rx.sees_tunnels;
			rx.is_described = false;
		}
		rq = shca_tir_choose(tir, packet, &cqe_rx.rss_hash, &cqe_rx.rss_hash_type);
		shca_rq_receive(rq, &rx, &cqe_rx);
	}
}

bool
shca_steer_tx(struct shca_device *dev, struct shca_packet *packet)
{
	struct shca_verdict verdict = { 0 };

	shca_walk_tx(dev->steering, packet, &verdict);
	deliver(packet, &verdict, NULL);
	if (verdict.modify_set != NULL) {
		packet->length =
			shca_rewrite(verdict.modify_set, packet, shca_out_build(&dev->out));
		packet->bytes = shca_out_build(&dev->out);
	}
	/* The port drops a frame that has become longer than its maximum. */
	return !verdict.dropped && packet->length != 0;
}

/** @return how many of the frames @p line has the results for, of which the first is one. */
static SHCA_WIDE unsigned int
nb_alike(const struct shca_flow_cache_line *line, const struct shca_frame *frame,
	unsigned int nb_frames)
{
	const unsigned int at_once = 16;
	unsigned int nb = 1;

	/* Where there is a second one there are many. Those that are too few for a step take it
	 * with some of the ones before. */
	if (nb_frames >= at_once && shca_flow_cache_is_like(line, &frame[1]))
		for (nb = 0; nb < nb_frames; nb += at_once) {
			if (nb > nb_frames - at_once)
				nb = nb_frames - at_once;
			if (!shca_flow_cache_are_like(line, &frame[nb], at_once))
				break;
		}
	while (nb < nb_frames && shca_flow_cache_is_like(line, &frame[nb]))
		nb++;
	return nb;
}

/** Deliver a run of frames; the first one matches @p line. @return how many there were */
static unsigned int
receive_known(const struct shca_flow_cache_line *line, const struct shca_frame *frame,
	unsigned int nb_frames)
{
	const unsigned int nb = nb_alike(line, frame, nb_frames);

	shca_walk_count(&line->trail, nb, (uint64_t)nb * line->length);
	shca_rq_run_receive(line, frame, nb);
	return nb;
}

/** Hand over to the netdev, which loses the frames that it does not take at once. */
struct kernel_frames {
	struct shca_frame frame[SHCA_OUT_FRAMES];
	unsigned int nb;
};

static uint64_t
nb_lost(const struct shca_wire *kernel)
{
	return kernel->ops->nb_lost != NULL ? kernel->ops->nb_lost(kernel) : 0;
}

/** @return whether a netdev was down when last looked at. */
static bool
is_down(const struct shca_device *dev, const struct shca_wire *kernel)
{
	return kernel == dev->conf.kernel &&
		!dev->port[shca_conf_nb_ports(&dev->conf) - 1].netdev.is_up;
}

static void
offer_one(struct shca_device *dev, struct shca_wire *kernel, const struct shca_frame *frame)
{
	const uint64_t lost_before = nb_lost(kernel);

	if (kernel->ops->tx(kernel, frame, 1) != 0 && nb_lost(kernel) == lost_before) {
		dev->stats.rx_kernel++;
		dev->stats.rx_kernel_bytes += frame->length;
	} else {
		dev->stats.rx_kernel_lost++;
		dev->stats.rx_kernel_down += is_down(dev, kernel);
	}
}

/** The netdev wants to see the FCS. */
static __attribute__((noinline)) void
offer_with_fcs(struct shca_device *dev, struct shca_wire *kernel, const struct shca_frame *frame)
{
	const uint32_t fcs = shca_csum_fcs(frame->bytes, frame->length);
	/* Rules may have made the frame longer than a wire takes. */
	uint8_t room[SHCA_OUT_FRAME_ROOM + sizeof(fcs)];

	memcpy(room, frame->bytes, frame->length);
	memcpy(room + frame->length, &fcs, sizeof(fcs));
	offer_one(dev, kernel,
		&(struct shca_frame){ room, frame->length + (uint32_t)sizeof(fcs), frame->port });
}

/** Offer frames to one netdev: one by one, so that it is known which ones it lost. */
static void
offer(struct shca_device *dev, struct shca_wire *kernel, const struct shca_frame *frame,
	unsigned int nb_frames)
{
	const bool with_fcs = dev->kernel_side.rx_fcs && kernel == dev->conf.kernel;

	for (unsigned int i = 0; i < nb_frames; i++)
		(with_fcs ? offer_with_fcs : offer_one)(dev, kernel, &frame[i]);
}

/** Frames of several ports go to several netdevs. */
static void
send_to_kernel(struct shca_device *dev, struct kernel_frames *to_kernel)
{
	for (unsigned int i = 0, end; i < to_kernel->nb; i = end) {
		const struct shca_frame *first = &to_kernel->frame[i];
		struct shca_wire *kernel = shca_conf_kernel(&dev->conf, first->port);

		for (end = i + 1; end < to_kernel->nb; end++)
			if (to_kernel->frame[end].port != first->port)
				break;
		offer(dev, kernel, first, end - i);
	}
	to_kernel->nb = 0;
}

static void
take_verdict(struct shca_device *dev, const struct shca_packet *packet,
	const struct shca_verdict *verdict, const uint32_t *from, struct kernel_frames *to_kernel)
{
	deliver(packet, verdict, from);
	if (from != NULL && *from == SHCA_TDN_NETDEV)
		return;
	if (verdict->to_kernel && shca_conf_kernel(&dev->conf, packet->source_port) != NULL)
		to_kernel->frame[to_kernel->nb++] =
			(struct shca_frame){ packet->bytes, packet->length, packet->source_port };
}

static bool
is_unwanted(const struct shca_verdict *verdict)
{
	return !verdict->to_kernel && verdict->modify_set == NULL &&
		(verdict->dropped || verdict->nb_destinations == 0);
}

static void
count_unwanted(struct shca_device *dev, const struct shca_verdict *verdict)
{
	if (!is_unwanted(verdict))
		return;
	dev->stats.rx_unwanted++;
	dev->stats.rx_dropped += verdict->dropped;
}

static void
parse(const struct shca_device *dev, const struct shca_frame *frame, struct shca_packet *packet)
{
	shca_parse(frame->bytes, frame->length, packet);
	shca_tunnels_limit(packet, dev->conf.model->tunnel_offloads);
	packet->source_port = (uint16_t)frame->port;
}

/** Rules change the frame on its way. Each round moves it at least one table further. */
static __attribute__((noinline)) void
receive_modified(struct shca_device *dev, struct shca_packet *packet, struct shca_verdict *verdict,
	const uint32_t *from, struct kernel_frames *to_kernel)
{
	const uint32_t port = packet->source_port;
	unsigned int nb_copies = verdict->nb_destinations;
	uint8_t room[SHCA_OUT_FRAME_ROOM];

	while (verdict->modify_set != NULL) {
		const uint32_t length = shca_rewrite(verdict->modify_set, packet, room);

		if (length == 0)
			return;
		parse(dev, &(struct shca_frame){ room, length, port }, packet);
		shca_walk_rx_on(dev->steering, packet, verdict);
		take_verdict(dev, packet, verdict, from, to_kernel);
		nb_copies += verdict->nb_destinations;
	}
	verdict->nb_destinations = nb_copies;
	if (from == NULL)
		count_unwanted(dev, verdict);
	/* The room is freed by then. */
	send_to_kernel(dev, to_kernel);
}

static void
receive_new(struct shca_device *dev, uint64_t generation, const struct shca_frame *frame,
	struct kernel_frames *to_kernel)
{
	struct shca_verdict verdict;
	struct shca_packet packet;

	/* Below the rules, as on the card; such frames never get into the cache. */
	if (__builtin_expect(dev->take_roce != NULL, false) && dev->take_roce(dev, frame))
		return;
	parse(dev, frame, &packet);
	shca_walk_rx(dev->steering, &packet, &verdict);
	shca_flow_cache_put(
		&dev->flow_cache, generation, &packet, &verdict, shca_walk_trail(dev->steering));
	count_unwanted(dev, &verdict);
	take_verdict(dev, &packet, &verdict, NULL, to_kernel);
	if (__builtin_expect(verdict.modify_set != NULL, false))
		receive_modified(dev, &packet, &verdict, NULL, to_kernel);
}

bool
shca_steer_back(struct shca_device *dev, uint32_t tdn, const struct shca_packet *packet)
{
	const enum shca_loopback loopback = shca_loopback_of(dev, packet);
	struct kernel_frames to_kernel = { .nb = 0 };
	struct shca_verdict verdict;
	struct shca_packet back;

	if (loopback == SHCA_LOOPBACK_NONE)
		return true;
	parse(dev, &(struct shca_frame){ packet->bytes, packet->length, 0 }, &back);
	shca_walk_rx(dev->steering, &back, &verdict);
	take_verdict(dev, &back, &verdict, &tdn, &to_kernel);
	if (verdict.modify_set != NULL)
		receive_modified(dev, &back, &verdict, &tdn, &to_kernel);
	send_to_kernel(dev, &to_kernel);
	shca_touch(dev, SHCA_TOUCH_NONE, NULL);
	return loopback == SHCA_LOOPBACK_BOTH;
}

void
shca_steer_rx(struct shca_device *dev, const struct shca_frame *frame, unsigned int nb_frames)
{
	/* Both only increase. */
	const uint64_t generation = shca_steering_generation(dev->steering) + dev->nb_roce_changes;
	struct kernel_frames to_kernel;
	uint64_t bytes = 0;

	assert(nb_frames <= SHCA_OUT_FRAMES);
	to_kernel.nb = 0;
	for (unsigned int i = 0; i < nb_frames;) {
		const struct shca_flow_cache_line *line =
			shca_flow_cache_find(&dev->flow_cache, generation, &frame[i]);

		if (line != NULL) {
			unsigned int nb = receive_known(line, frame + i, nb_frames - i);

			bytes += (uint64_t)nb * line->length;
			i += nb;
			continue;
		}
		bytes += frame[i].length;
		receive_new(dev, generation, &frame[i], &to_kernel);
		i++;
	}
	shca_touch(dev, SHCA_TOUCH_NONE, NULL);
	dev->stats.rx_frames += nb_frames;
	dev->stats.rx_bytes += bytes;
	send_to_kernel(dev, &to_kernel);
	dev->nb_done += nb_frames;
}
