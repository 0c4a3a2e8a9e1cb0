/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wire "tap:IFNAME": frames to and from a Linux netdev; as wire the link partner, as kernel side
 * the port's own netdev. The descriptor stays attached when the netdev is renamed or moved to
 * another namespace.
 */
#include "wire/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include "base/clock.h"
#include "base/log.h"
#include "wire/tap.h"
#include "wire/tap_ip.h"

#define TAP_BURST 32
/** Interval of queries of the netdev's state. */
#define LOOK_NS 50000000

struct tap {
	struct shca_wire wire;
	int fd;
	bool is_gone;        /**< the netdev was deleted */
	uint64_t nb_dropped; /* of the netdev's */
	uint64_t nb_lost;    /* for the netdev */
	/* For queries of the netdev, through a socket of rtnetlink in its namespace. */
	int control_fd;
	ino_t netns;
	uint64_t looked_ns;
	struct shca_netdev netdev;
	bool has_macs;  /* the netdev's addresses are wanted */
	bool is_netdev; /* it is the port's own */
	struct shca_tap_macs macs;
	struct shca_tap_ips ips;
	/* One byte more than the longest frame, to detect a truncated one. */
	uint8_t bytes[TAP_BURST][SHCA_FRAME_MAX + 1];
};

/** Drop frames that the kernel queued before the device existed; on hardware they would be lost,
 * too. */
static void
drain(struct tap *tap)
{
	/* At most as many frames as the longest transmit queue holds. */
	for (unsigned int i = 0; i < 10000; i++)
		if (read(tap->fd, tap->bytes[0], sizeof(tap->bytes[0])) < 0)
			break;
}

/** Before Linux 5.0 a TAP's carrier cannot be changed. */
static void
set_carrier(const struct tap *tap, bool on)
{
	int carrier = on;

	if (ioctl(tap->fd, TUNSETCARRIER, &carrier) != 0)
		SHCA_DEBUG("tap: cannot switch its carrier: %s", strerror(errno));
}

static void
tap_set_carrier(struct shca_wire *wire, bool on)
{
	set_carrier((const struct tap *)wire, on);
}

static int
tap_open(const struct shca_wire_conf *conf, struct shca_wire **wire)
{
	struct tap *tap = calloc(1, sizeof(*tap));
	bool created;

	if (tap == NULL)
		return -ENOMEM;
	tap->fd = conf->fd >= 0 ? shca_tap_adopt(conf->arg, conf->fd)
				: shca_tap_attach(conf->arg, &created);
	if (tap->fd < 0) {
		int ret = tap->fd;

		free(tap);
		return ret;
	}
	/* With offloads on, a TAP delivers frames without checksums. */
	if (ioctl(tap->fd, TUNSETOFFLOAD, 0) != 0)
		SHCA_WARN("tap:%s: cannot switch its offloads off: %s", conf->arg, strerror(errno));
	set_carrier(tap, true); /* an earlier process may have been killed while it was off */
	drain(tap);
	tap->control_fd = -1;
	tap->netdev.is_up = true;
	tap->is_netdev = conf->is_kernel_side;
	tap->has_macs = conf->wants_macs && conf->is_kernel_side;
	tap->wire.ops = &shca_tap_wire;
	*wire = &tap->wire;
	return 0;
}

static unsigned int
tap_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct tap *tap = (struct tap *)wire;

	for (unsigned int i = 0; i < nb_frames; i++) {
		if (write(tap->fd, frames[i].bytes, frames[i].length) >= 0)
			continue;
		if (errno == EAGAIN || errno == EINTR)
			return i;
		/* EIO: the netdev is down; EINVAL: a runt; EBADFD: it was deleted. */
		tap->nb_lost++;
	}
	return nb_frames;
}

static unsigned int
tap_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct tap *tap = (struct tap *)wire;
	unsigned int nb = 0;

	while (nb < nb_frames && nb < TAP_BURST) {
		ssize_t length = read(tap->fd, tap->bytes[nb], sizeof(tap->bytes[nb]));

		if (length < 0) {
			if (errno == EBADFD && !tap->is_gone) {
				SHCA_WARN("tap: the netdev was deleted");
				tap->is_gone = true;
			}
			break;
		}
		if (length > SHCA_FRAME_MAX) {
			tap->nb_dropped++;
			continue;
		}
		frames[nb] = (struct shca_frame){ tap->bytes[nb], (uint32_t)length, 0 };
		nb++;
	}
	return nb;
}

static int
tap_fd(const struct shca_wire *wire)
{
	const struct tap *tap = (const struct tap *)wire;

	return tap->is_gone
		? -1
		: tap->fd; /* the descriptor of a deleted netdev always polls as error */
}

static int
open_control(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

/** @return a socket in the namespace @p netns_fd, or -1. The thread returns to its own namespace.
 */
static int
socket_in(int netns_fd)
{
	int own_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd = -1;

	if (own_fd < 0)
		return -1;
	if (setns(netns_fd, CLONE_NEWNET) == 0) {
		fd = open_control();
		if (setns(own_fd, CLONE_NEWNET) != 0)
			SHCA_ERR("tap: cannot return to the own network namespace: %s",
				strerror(errno));
	}
	close(own_fd);
	return fd;
}

/** Make control_fd a socket in the netdev's current namespace. */
static bool
follow_netns(struct tap *tap)
{
	int netns_fd = ioctl(tap->fd, TUNGETDEVNETNS);
	struct stat status;

	if (netns_fd < 0) { /* no CAP_NET_ADMIN, or Linux before 5.4: assume it has not moved */
		if (tap->control_fd < 0)
			tap->control_fd = open_control();
		return tap->control_fd >= 0;
	}
	if (fstat(netns_fd, &status) == 0 && (tap->control_fd < 0 || status.st_ino != tap->netns)) {
		if (tap->control_fd >= 0)
			close(tap->control_fd);
		tap->netns = status.st_ino;
		tap->control_fd = socket_in(netns_fd);
	}
	close(netns_fd);
	return tap->control_fd >= 0;
}

/** There may be answers in the socket that nobody has read. */
static void
forget_control(struct tap *tap, int ret)
{
	SHCA_DEBUG("tap:%s: Linux does not answer: %s", tap->netdev.name, strerror(-ret));
	close(tap->control_fd);
	tap->control_fd = -1;
}

static void
look_at_ips(struct tap *tap)
{
	struct shca_netdev *netdev = &tap->netdev;
	int ret = shca_tap_read_ips(tap->control_fd, netdev->ifindex, &tap->ips);

	if (ret != 0)
		forget_control(tap, ret);
	netdev->ips = tap->ips.ip;
	netdev->nb_ips = tap->ips.nb;
}

/** As the kernel tells a driver of changes: not while the netdev is down (__dev_set_rx_mode), but
 * when the driver begins (mlx5e_nic_enable). */
static void
look_at_macs(struct tap *tap)
{
	struct shca_netdev *netdev = &tap->netdev;
	struct shca_tap_macs now;
	int ret;

	if (!tap->has_macs || (netdev->macs != NULL && !netdev->is_up))
		return;
	ret = shca_tap_read_macs(tap->control_fd, netdev->name, &now);
	if (ret != 0) {
		forget_control(tap, ret);
		return;
	}
	if (now.nb == tap->macs.nb && memcmp(now.mac, tap->macs.mac, now.nb * 6) == 0)
		return;
	if (now.nb == SHCA_NETDEV_MACS_MAX)
		SHCA_WARN("tap:%s: %u addresses or more: some are dropped", netdev->name, now.nb);
	tap->macs = now;
	netdev->macs = tap->macs.mac;
	netdev->nb_macs = now.nb;
	netdev->nb_changes++;
}

static void
look_now(struct tap *tap)
{
	struct shca_netdev *netdev = &tap->netdev;
	struct ifreq ifr = { 0 };

	if (tap->is_gone || ioctl(tap->fd, TUNGETIFF, &ifr) != 0) {
		netdev->is_up = true;
		netdev->is_promiscuous = netdev->is_allmulti = false;
		netdev->name[0] = '\0';
		netdev->ifindex = netdev->nb_ips = 0;
		return;
	}
	snprintf(netdev->name, sizeof(netdev->name), "%s", ifr.ifr_name);
	/* A netdev renamed in this very moment is found by the next query. */
	if (!follow_netns(tap) || ioctl(tap->control_fd, SIOCGIFFLAGS, &ifr) != 0)
		return;
	netdev->is_up = (ifr.ifr_flags & IFF_UP) != 0;
	netdev->is_promiscuous = (ifr.ifr_flags & IFF_PROMISC) != 0;
	netdev->is_allmulti = (ifr.ifr_flags & IFF_ALLMULTI) != 0;
	if (ioctl(tap->control_fd, SIOCGIFMTU, &ifr) == 0)
		netdev->mtu = (uint32_t)ifr.ifr_mtu;
	if (ioctl(tap->control_fd, SIOCGIFHWADDR, &ifr) == 0)
		memcpy(netdev->mac, ifr.ifr_hwaddr.sa_data, sizeof(netdev->mac));
	if (ioctl(tap->control_fd, SIOCGIFINDEX, &ifr) == 0 && tap->is_netdev) {
		netdev->ifindex = (unsigned int)ifr.ifr_ifindex;
		netdev->netns = tap->netns;
		look_at_ips(tap);
	}
	if (tap->control_fd >= 0)
		look_at_macs(tap);
}

static void
tap_look(struct shca_wire *wire, struct shca_netdev *netdev)
{
	struct tap *tap = (struct tap *)wire;
	uint64_t now_ns = shca_clock_ns();

	if (tap->looked_ns == 0 || now_ns - tap->looked_ns >= LOOK_NS) {
		tap->looked_ns = now_ns;
		look_now(tap);
	}
	*netdev = tap->netdev;
}

static int
tap_find_way(struct shca_wire *wire, const uint8_t to[SHCA_IP_BYTES], bool is_bound,
	struct shca_way *way)
{
	struct tap *tap = (struct tap *)wire;
	int ret;

	if (tap->control_fd < 0 || tap->netdev.ifindex == 0)
		return -ENETUNREACH;
	ret = shca_tap_find_way(tap->control_fd, tap->netdev.ifindex, to, is_bound, way);
	if (ret == -EPROTO)
		forget_control(tap, ret);
	return ret;
}

static uint64_t
tap_nb_lost(const struct shca_wire *wire)
{
	return ((const struct tap *)wire)->nb_lost;
}

static void
tap_close(struct shca_wire *wire)
{
	struct tap *tap = (struct tap *)wire;

	if (tap->nb_dropped != 0 || tap->nb_lost != 0)
		SHCA_INFO(
			"tap: dropped %lu frames", (unsigned long)(tap->nb_dropped + tap->nb_lost));
	if (tap->control_fd >= 0)
		close(tap->control_fd);
	set_carrier(tap, true); /* for the next process that opens the netdev */
	close(tap->fd);
	free(tap);
}

const struct shca_wire_ops shca_tap_wire = {
	.name = "tap",
	.usage = "tap:IFNAME",
	.help = "the other end is a TAP, which is made if there is none",
	.open = tap_open,
	.tx = tap_tx,
	.rx = tap_rx,
	.fd = tap_fd,
	.look = tap_look,
	.find_way = tap_find_way,
	.set_carrier = tap_set_carrier,
	.nb_lost = tap_nb_lost,
	.close = tap_close,
};
