/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wires, which ports are connected to. One file a kind of wire, each exporting a struct
 * shca_wire_ops; the Linux side of the port ("kernel=") is a wire too.
 *
 *   device thread ── tx ──> wire ──> a TAP, a file, another port, itself
 *                 <── rx ──
 *
 * A frame is a whole Ethernet frame without FCS. Only the port's device thread calls tx, rx, start
 * and link; open is called before it starts, close after it has ended. Wires never block.
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
	/** Of an e-switch's manager (eswitch/manager.h): its port that the frame came by or leaves
	 * by. 0: there is one port. */
	uint32_t port;
};

/** Arguments of open(); the strings live as long as the wire. */
struct shca_wire_conf {
	const char *arg;     /**< the text after the kind's colon; "": none */
	int fd;              /**< opened by the runner (TAP), or -1 */
	const uint8_t *mac;  /**< of the port */
	bool pace;           /**< pcap: keep the capture's spacing */
	uint32_t repeat;     /**< pcap: how many times to play, 0 = for ever */
	uint32_t delay_ms;   /**< pcap: from start() to the first frame */
	bool is_kernel_side; /**< the wire stands for the Linux netdev, not for the cable */
	bool wants_macs;     /**< kernel side: what the netdev lists counts */
};

struct shca_wire;

/** An address of IPv6, or one of IPv4 mapped (::ffff:a.b.c.d). */
#define SHCA_IP_BYTES 16

/** Present state of the netdev that a kernel side stands for. */
struct shca_netdev {
	bool is_up;          /**< IFF_UP */
	bool is_promiscuous; /**< IFF_PROMISC: it takes every frame */
	bool is_allmulti;    /**< IFF_ALLMULTI: it takes every multicast frame */
	char name[16];       /**< IFNAMSIZ; "": unknown, or the netdev was deleted */
	uint8_t mac[6];      /**< its own address; 0: unknown */
	/** If wanted: its own address, broadcast, and the unicast addresses and groups that were
	 * added. Valid until the next look, in the same place. */
	const uint8_t (*macs)[6];
	unsigned int nb_macs;
	unsigned int nb_changes; /**< how often the addresses have changed */
	unsigned int ifindex;    /**< in its namespace; 0: unknown */
	uint64_t netns;          /**< inode of its network namespace; 0: unknown */
	uint32_t mtu;            /**< 0: unknown */
	/** Its IP addresses, while it has a name. Valid until the next look. */
	const uint8_t (*ips)[SHCA_IP_BYTES];
	unsigned int nb_ips;
};

/** The maximum number of addresses of a netdev; the rest is dropped, as beyond
 * a card's log_max_current_uc_list and log_max_current_mc_list (mlx5e). */
#define SHCA_NETDEV_MACS_MAX 512

/** The maximum number of a netdev's IP addresses; the rest is left out. */
#define SHCA_NETDEV_IPS_MAX 64

/** The way from a netdev to another address, as Linux has it. */
struct shca_way {
	uint8_t source[SHCA_IP_BYTES]; /**< the address that it sends from; 0: any */
	uint8_t mac[6];                /**< of the other side, or of the router to it */
};

/** The maximum number of ports. */
#define SHCA_WIRE_PATH_MAX 8

/** The destination of a frame. */
struct shca_wire_path {
	const char *what; /**< in words */
	bool is_lost;
	/** Wires of ports in this process that get the frame. */
	const struct shca_wire *to[SHCA_WIRE_PATH_MAX];
	unsigned int nb_to;
};

struct shca_wire_ops {
	const char *name;  /**< the kind, as in wire=NAME[:ARG] */
	const char *usage; /**< "tap:IFNAME": for messages and help */
	const char *help;  /**< one line */
	/** @return 0, or a negative errno after a message. */
	int (*open)(const struct shca_wire_conf *conf, struct shca_wire **wire);
	/**
	 * Send frames; the bytes are the caller's again on return.
	 * @return how many were taken. Fewer than @p nb_frames is back-pressure: offer the rest
	 * again. The wire takes a frame that it can never send, and counts it as dropped.
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
	/** @return a descriptor that polls readable when rx would return frames, or -1. */
	int (*fd)(const struct shca_wire *wire);
	/**
	 * The time of the next rx call, even if fd() is quiet (a paced pcap).
	 * @return CLOCK_MONOTONIC ns of the next frame; 0: now; UINT64_MAX: none is due. May be
	 * NULL.
	 */
	uint64_t (*due_ns)(const struct shca_wire *wire);
	/** Kernel side only: query the netdev; a deleted one counts as up. NULL: there is no
	 * netdev. */
	void (*look)(struct shca_wire *wire, struct shca_netdev *netdev);
	/**
	 * Kernel side only: find the way from the netdev to an address; @p is_bound: there is no
	 * other netdev that may be used. Any thread may call it, with the device lock held. NULL:
	 * there is no netdev.
	 * @return 0; -EINPROGRESS: Linux has begun to ask for the MAC, and all else is known; or a
	 * negative errno, -ENETUNREACH: no way, or one by another netdev.
	 */
	int (*find_way)(struct shca_wire *wire, const uint8_t to[SHCA_IP_BYTES], bool is_bound,
		struct shca_way *way);
	/**
	 * @return whether frames wait until a receive queue has room (a pcap without pace). Frames
	 * of other wires arrive at any time, like those of a cable. NULL: false.
	 */
	bool (*is_patient)(const struct shca_wire *wire);
	/**
	 * @return whether frames sent now would come back unchanged, before any others. The device
	 * may then receive them without sending them. NULL: false.
	 */
	bool (*reflects)(const struct shca_wire *wire);
	/**
	 * The port sends @p nb_frames without a link.
	 * @return how many are lost; the device offers the rest again. NULL: all.
	 */
	unsigned int (*lose)(struct shca_wire *wire, unsigned int nb_frames);
	/** @return true when there is a carrier. NULL: always. */
	bool (*link)(struct shca_wire *wire);
	/**
	 * The port takes its end of the link down or up: show that to the peer. Any thread may call
	 * it, with the device lock held. NULL: the peer cannot see it.
	 */
	void (*set_carrier)(struct shca_wire *wire, bool on);
	/**
	 * The port takes no frames from now on, as its device stands still or is dead, or takes
	 * them again: nobody else may wait for it. Any thread may call it, with the device lock
	 * held. NULL: nobody else waits.
	 */
	void (*set_resting)(struct shca_wire *wire, bool rests);
	/** The netdev beside the port changes its modes or addresses, as Linux's ndo_set_rx_mode.
	 * May be NULL. */
	void (*set_rx_mode)(struct shca_wire *wire, const struct shca_netdev *netdev);
	/** Of an e-switch's manager: the function behind @p port has a link as that of its
	 * representor. May be NULL. */
	void (*set_vport_link)(struct shca_wire *wire, uint32_t port, bool up);
	/**
	 * Find where @p frame would go if it were sent now, for a person to read. Any thread may
	 * call it. May be NULL.
	 * @param path filled in: the frame leaves by this wire
	 */
	void (*explain)(const struct shca_wire *wire, const struct shca_frame *frame,
		struct shca_wire_path *path);
	/** @return the number of frames dropped by the check of source addresses. May be NULL. */
	uint64_t (*nb_refused)(const struct shca_wire *wire);
	/** @return the number of frames that tx() took and lost: the netdev is down. May be NULL.
	 */
	uint64_t (*nb_lost)(const struct shca_wire *wire);
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
