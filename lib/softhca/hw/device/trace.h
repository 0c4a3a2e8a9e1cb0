/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The rules of a device as text or JSON: all of them, or those that one frame meets. It sends,
 * receives and counts no frame. Both functions take the device lock themselves.
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

/** Bytes that a frame may grow by, when it is padded or rules change it. */
#define SHCA_DEVICE_TRACE_ROOM SHCA_OUT_FRAME_ROOM
/** Greatest number of ports that one frame may reach. */
#define SHCA_DEVICE_TRACE_PORTS 8

/** The frame to trace; the caller owns it. */
struct shca_device_trace {
	bool is_sent; /**< else it is received */
	/** In the end of one that is sent: it comes back to the rules and does not leave. */
	bool is_back;
	/** Of a frame that is sent: in the end, the frame as the wire would get it. */
	uint8_t *bytes; /**< with room for SHCA_DEVICE_TRACE_ROOM bytes behind the frame */
	uint32_t length;
	uint8_t *room;          /**< as many bytes, to change the frame in */
	FILE *out;              /**< takes the answer */
	struct shca_json *json; /**< of out, with an object open for members; NULL: text */
	/** Of a frame that is sent, in the end: conf.wire of the ports that receive it. */
	const struct shca_wire *to[SHCA_DEVICE_TRACE_PORTS];
	unsigned int nb_to;
};

/** Print the rules that the frame meets, and its destination. */
void shca_device_trace(struct shca_device *dev, struct shca_device_trace *trace);
/** Print all tables. @param json of @p out, with an object open; NULL: text */
void shca_device_dump(struct shca_device *dev, struct shca_json *json, FILE *out);

#endif /* SHCA_HW_DEVICE_TRACE_H */
