/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The rules of a device as text or JSON: all of them, or those that one frame meets. Nothing is
 * sent, received or counted. Both take the device lock themselves.
 */
#ifndef SHCA_HW_DEVICE_TRACE_H
#define SHCA_HW_DEVICE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hw/state/out.h"

struct shca_device;
struct shca_json;
struct shca_wire;

/** What a frame may grow by, when it is padded or rules change it. */
#define SHCA_DEVICE_TRACE_ROOM SHCA_OUT_FRAME_ROOM
/** Ports that one frame may come to. */
#define SHCA_DEVICE_TRACE_PORTS 8

/** A frame in question; the caller's. */
struct shca_device_trace {
	bool is_sent; /**< else it is received */
	/** Of a frame that is sent, both are in the end as the wire would have it. */
	uint8_t *bytes; /**< with SHCA_DEVICE_TRACE_ROOM bytes behind the frame */
	uint32_t length;
	uint8_t *room;          /**< as many as there are at bytes, to change the frame in */
	FILE *out;              /**< takes the answer */
	struct shca_json *json; /**< of out, with an object open for the answer; NULL: text */
	/** Of a frame that is sent, in the end: conf.wire of the ports that receive it. */
	const struct shca_wire *to[SHCA_DEVICE_TRACE_PORTS];
	unsigned int nb_to;
};

/** Print which rules the frame meets, and what becomes of it. */
void shca_device_trace(struct shca_device *dev, struct shca_device_trace *trace);
/** Print all tables. @param json of @p out, with an object open; NULL: text */
void shca_device_dump(struct shca_device *dev, struct shca_json *json, FILE *out);

#endif /* SHCA_HW_DEVICE_TRACE_H */
