/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the rules of a device: all of them, or those that one frame meets. */
#include "hw/device/trace.h"

#include <assert.h>
#include <string.h>

#include "hw/device/device.h"
#include "hw/format/rewrite.h"
#include "hw/format/tunnels.h"
#include "hw/format/tx.h"
#include "hw/queue/loopback.h"
#include "hw/queue/tir.h"
#include "hw/roce/roce_qp.h"
#include "hw/state/device.h"
#include "steering/dump.h"
#include "steering/match/parse.h"
#include "steering/trace.h"
#include "wire/wire.h"

void
shca_device_dump(struct shca_device *dev, struct shca_json *json, FILE *out)
{
	const struct shca_dump_conf conf = {
		.out = out,
		.json = json,
		.describe = shca_tir_describe,
	};

	shca_device_lock(dev);
	shca_dump_tables(dev->steering, &conf);
	shca_device_unlock(dev);
}

/** Where a frame goes that is on its way to the wire. */
struct sending {
	const struct shca_device *dev;
	struct shca_wire_path path;
	bool is_back; /**< never gets there */
};

/** Find that for the frame as the rules have left it. */
static struct shca_trace_end
find_path(void *arg, const struct shca_packet *packet)
{
	struct sending *sending = arg;
	const struct shca_device *dev = sending->dev;
	const struct shca_wire *wire = dev->conf.wire;
	const struct shca_frame frame = { packet->bytes, packet->length, dev->conf.nb_vports };
	struct shca_wire_path *path = &sending->path;

	*path = (struct shca_wire_path){ .what = "onto the wire" };
	sending->is_back = shca_loopback_of(dev, packet) == SHCA_LOOPBACK_ONLY;
	if (sending->is_back)
		*path = (struct shca_wire_path){
			.what = "local loopback", .to = { wire }, .nb_to = 1
		};
	else if (!dev->has_link)
		*path = (struct shca_wire_path){ .what = "the link is down", .is_lost = true };
	else if (wire->ops->explain != NULL)
		wire->ops->explain(wire, &frame, path);
	return (struct shca_trace_end){ path->is_lost ? "lost" : "sent", path->what };
}

static void
trace_sent(struct shca_device *dev, struct shca_device_trace *trace, struct shca_packet *packet,
	const struct shca_dump_conf *conf)
{
	struct sending sending = { .dev = dev };

	static_assert(SHCA_DEVICE_TRACE_PORTS == SHCA_WIRE_PATH_MAX, "as many ports");
	if (shca_trace_tx(dev->steering, packet, find_path, &sending, conf))
		trace->nb_to = sending.path.nb_to;
	trace->is_back = sending.is_back;
	if (packet->bytes != trace->bytes) {
		memcpy(trace->bytes, packet->bytes, packet->length);
		trace->length = packet->length;
	}
	for (unsigned int i = 0; i < trace->nb_to; i++)
		trace->to[i] = sending.path.to[i];
}

/** @return whether frames that come do not wait for the link, and are lost without it. */
static bool
loses_all(const struct shca_device *dev)
{
	const struct shca_wire *wire = dev->conf.wire;

	return !dev->carries && (wire->ops->is_patient == NULL || !wire->ops->is_patient(wire));
}

static void
trace_received(struct shca_device *dev, const struct shca_packet *packet,
	const struct shca_dump_conf *conf)
{
	static const struct shca_trace_end
		no_link = { "lost", "the link is down" },
		taken = { "roce", "it is for the port's queue pairs, below the rules" };
	const struct shca_frame frame = { packet->bytes, packet->length, packet->source_port };

	/* As the device does with what has come. */
	if (loses_all(dev))
		shca_trace_without_rules(packet, &no_link, conf);
	else if (dev->take_roce != NULL && shca_roce_wants(dev, &frame))
		shca_trace_without_rules(packet, &taken, conf);
	else
		shca_trace_rx(dev->steering, packet, conf);
}

void
shca_device_trace(struct shca_device *dev, struct shca_device_trace *trace)
{
	const struct shca_dump_conf conf = {
		.out = trace->out,
		.json = trace->json,
		.describe = shca_tir_describe,
		.rewrite = shca_rewrite,
		.room = trace->room,
		.limit = shca_tunnels_limit,
	};
	struct shca_packet packet;

	trace->nb_to = 0;
	if (trace->is_sent)
		trace->length = shca_tx_pad(trace->bytes, trace->length);
	shca_parse(trace->bytes, trace->length, &packet);
	shca_tunnels_limit(&packet, dev->conf.model->tunnel_offloads);
	packet.source_port = (uint16_t)dev->conf.nb_vports; /* the uplink */
	shca_device_lock(dev);
	if (trace->is_sent)
		trace_sent(dev, trace, &packet, &conf);
	else if (trace->is_back)
		shca_trace_rx(dev->steering, &packet, &conf);
	else
		trace_received(dev, &packet, &conf);
	shca_device_unlock(dev);
}
