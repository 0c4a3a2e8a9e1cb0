/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a port is connected to. One file a kind of wire, each exporting a struct shca_wire_ops; the
 * Linux side of the port ("kernel=") is a wire too.
 *
 *   device thread ── tx ──> wire ──> a TAP, a file, another port, itself
 *                 <── rx ──
 *
 * A frame is a whole Ethernet frame without FCS. The device thread alone calls tx, rx, start and
 * link; open and close happen before it starts and after it has ended. Wires never block.
 */
#ifndef SHCA_WIRE_WIRE_H
#define SHCA_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Longest frame any wire carries, bytes without FCS. */
#define SHCA_FRAME_MAX 16384

struct shca_frame {
	const uint8_t *bytes;
	uint32_t length;
};

/** What a wire is opened with; strings live as long as the wire. */
struct shca_wire_conf {
	const char *arg;     /**< what follows the kind's colon, "" when nothing does */
	int fd;              /**< opened by the runner (TAP), or -1 */
	const uint8_t *mac;  /**< of the port */
	bool pace;           /**< pcap: keep the capture's spacing */
	uint32_t repeat;     /**< pcap: how many times to play, 0 = for ever */
	uint32_t delay_ms;   /**< pcap: from start() to the first frame */
	bool is_kernel_side; /**< it stands for the Linux netdev, not for the cable */
};

struct shca_wire;

/** The netdev that a kernel side is, as it is now. */
struct shca_netdev {
	bool is_up;          /**< IFF_UP */
	bool is_promiscuous; /**< IFF_PROMISC: it takes every frame */
	char name[16];       /**< IFNAMSIZ; "": not known, or there is none any more */
};

/** As many as there are ports. */
#define SHCA_WIRE_PATH_MAX 8

/** Where a frame would go. */
struct shca_wire_path {
	const char *what; /**< in words */
	bool is_lost;
	const struct shca_wire *to[SHCA_WIRE_PATH_MAX]; /**< of ports in this process that get it */
	unsigned int nb_to;
};

struct shca_wire_ops {
	const char *name;  /**< the kind, as in wire=NAME[:ARG] */
	const char *usage; /**< "tap:IFNAME": for messages and help */
	/** @return 0 or a negative errno, after a message that says what and why. */
	int (*open)(const struct shca_wire_conf *conf, struct shca_wire **wire);
	/**
	 * Send frames; the bytes are the caller's again on return.
	 * @return how many were taken. Less than @p nb_frames is back-pressure: offer the rest
	 * again. A frame the medium refuses for good is taken and counted as dropped.
	 */
	unsigned int (*tx)(
		struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames);
	/**
	 * Take received frames.
	 * @return how many; their bytes are valid until the next rx call on this wire.
	 */
	unsigned int (*rx)(
		struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames);
	/** The port's first receiving rule is in place: a pcap starts to play. May be NULL. */
	void (*start)(struct shca_wire *wire);
	/** @return a descriptor that polls readable when rx would yield frames, or -1. */
	int (*fd)(const struct shca_wire *wire);
	/**
	 * When to come back although fd() is quiet (a paced pcap).
	 * @return CLOCK_MONOTONIC ns of the next frame, 0 for now, UINT64_MAX for nothing due. May
	 * be NULL.
	 */
	uint64_t (*due_ns)(const struct shca_wire *wire);
	/** Kernel side only: look at the netdev; it is up when there is none any more. May be NULL:
	 * there never is. */
	void (*look)(struct shca_wire *wire, struct shca_netdev *netdev);
	/**
	 * Do its frames wait until a receive queue has room (a pcap without pace), instead of
	 * coming when they come, like those of a cable? May be NULL: no.
	 */
	bool (*is_patient)(const struct shca_wire *wire);
	/**
	 * Would frames sent now come back as they are, before any others? The device may then
	 * receive them without sending them. May be NULL: no.
	 */
	bool (*reflects)(const struct shca_wire *wire);
	/**
	 * The port has no link, and @p nb_frames that it sends are lost, unless this says fewer:
	 * then the rest is offered again. May be NULL: all.
	 */
	unsigned int (*lose)(struct shca_wire *wire, unsigned int nb_frames);
	/** @return true when there is a carrier. NULL: always. */
	bool (*link)(struct shca_wire *wire);
	/**
	 * The port takes its end of the link down or up: show it to who is at the other end. Under
	 * the device lock, by any thread. May be NULL: nobody there can see it.
	 */
	void (*set_carrier)(struct shca_wire *wire, bool on);
	/** The netdev beside the port asks for all frames, or no longer. May be NULL. */
	void (*set_promiscuous)(struct shca_wire *wire, bool on);
	/**
	 * Where would @p frame go, were it sent now? For people; by any thread. May be NULL: away.
	 * @param path says so already
	 */
	void (*explain)(const struct shca_wire *wire, const struct shca_frame *frame,
		struct shca_wire_path *path);
	/** @return frames taken that a check of their source address has dropped. May be NULL. */
	uint64_t (*nb_refused)(const struct shca_wire *wire);
	void (*close)(struct shca_wire *wire);
};

/** The common head of every wire's own struct. */
struct shca_wire {
	const struct shca_wire_ops *ops;
};

/** @return the ops of the kind @p name (length @p name_length), or NULL. */
const struct shca_wire_ops *shca_wire_find(const char *name, size_t name_length);
/** All kinds, ended by NULL: for help texts. */
extern const struct shca_wire_ops *const shca_wire_kinds[];

#endif /* SHCA_WIRE_WIRE_H */
