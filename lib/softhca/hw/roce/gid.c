/* SPDX-License-Identifier: BSD-3-Clause */
/* The GIDs of a port, and its active MTU. */
#include "hw/roce/gid.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "base/log.h"
#include "base/node.h"
#include "hw/roce/state.h"
#include "wire/wire.h"

#define LINK_LOCAL_BYTES 8
#define IS_LOCAL         0x02 /* of a MAC's first byte */

static void
show(const struct shca_device *dev, uint32_t pair)
{
	const struct shca_device_conf *conf = &dev->conf;

	if (conf->gid != NULL)
		conf->gid(conf->index, pair,
			dev->gids.pair[pair].is_used ? dev->gids.pair[pair].gid : NULL, conf->arg);
}

void
shca_gid_init(struct shca_device *dev)
{
	if (dev->conf.nb_vports != 0)
		return;
	dev->gids.pair[0].is_used = true;
	shca_node_gid(shca_own_mac(dev), dev->gids.pair[0].gid);
	show(dev, 0);
}

/** The MAC's entries become another's (NETDEV_CHANGEADDR). @return whether they have. */
static bool
update_first(struct shca_device *dev)
{
	uint8_t gid[SHCA_GID_BYTES];

	shca_node_gid(shca_own_mac(dev), gid);
	if (memcmp(gid, dev->gids.pair[0].gid, sizeof(gid)) == 0)
		return false;
	memcpy(dev->gids.pair[0].gid, gid, sizeof(gid));
	show(dev, 0);
	return true;
}

/** @return the pair of a GID, or SHCA_NB_GID_PAIRS: the port does not have it. */
static uint32_t
find(const struct shca_device *dev, const uint8_t gid[16])
{
	uint32_t i = 0;

	while (i < SHCA_NB_GID_PAIRS &&
		!(dev->gids.pair[i].is_used &&
			memcmp(dev->gids.pair[i].gid, gid, SHCA_GID_BYTES) == 0))
		i++;
	return i;
}

static bool
is_of_netdev(const struct shca_netdev *netdev, const uint8_t gid[16])
{
	for (unsigned int i = 0; i < netdev->nb_ips; i++)
		if (memcmp(netdev->ips[i], gid, SHCA_GID_BYTES) == 0)
			return true;
	return false;
}

/** @return whether address handles or queue pairs still name what was there: it is free when they
 * have gone (Linux core/cache.c, del_gid() and find_gid(): an entry pending for removal). */
static bool
is_named(const struct shca_device *dev, uint32_t pair)
{
	static const uint8_t nothing[SHCA_GID_BYTES];
	const uint8_t *gid = dev->gids.pair[pair].gid;
	const struct shca_roce_qp *qp;
	const struct shca_ah *ah;

	LIST_FOREACH (ah, &dev->ahs, link)
		if (ah->sgid_index / 2 == pair)
			return true;
	/* Queue pairs that never had a path are in ERROR with such a one. */
	if (memcmp(gid, nothing, SHCA_GID_BYTES) == 0)
		return false;
	LIST_FOREACH (qp, &dev->roce_qps, link)
		if (memcmp(qp->conf.path.sgid, gid, SHCA_GID_BYTES) == 0 &&
			qp->state >= SHCA_ROCE_RTR && qp->attr.type != SHCA_ROCE_UD)
			return true;
	return false;
}

/** @return a place that is free, for an address that comes back its own; SHCA_NB_GID_PAIRS: there
 * is none */
static uint32_t
find_free(const struct shca_device *dev, const uint8_t gid[16])
{
	const struct shca_gids *gids = &dev->gids;
	uint32_t i;

	for (i = 0; i < SHCA_NB_GID_PAIRS; i++)
		if (!gids->pair[i].is_used && memcmp(gids->pair[i].gid, gid, SHCA_GID_BYTES) == 0)
			return i;
	for (i = 0; i < SHCA_NB_GID_PAIRS; i++)
		if (!gids->pair[i].is_used && !is_named(dev, i))
			return i;
	return SHCA_NB_GID_PAIRS;
}

/** @return whether there was room. */
static bool
add(struct shca_device *dev, const uint8_t gid[16])
{
	const uint32_t place = find_free(dev, gid);

	if (place == SHCA_NB_GID_PAIRS)
		return false;
	dev->gids.pair[place].is_used = true;
	memcpy(dev->gids.pair[place].gid, gid, SHCA_GID_BYTES);
	show(dev, place);
	return true;
}

bool
shca_gid_update(struct shca_device *dev)
{
	const struct shca_netdev *netdev = &dev->port[0].netdev;
	bool has_changed, is_short = false;

	if (dev->conf.nb_vports != 0)
		return false;
	has_changed = update_first(dev);
	for (uint32_t i = 1; i < SHCA_NB_GID_PAIRS; i++)
		if (dev->gids.pair[i].is_used && !is_of_netdev(netdev, dev->gids.pair[i].gid)) {
			dev->gids.pair[i].is_used = false;
			show(dev, i);
			has_changed = true;
		}
	for (unsigned int i = 0; i < netdev->nb_ips; i++) {
		if (find(dev, netdev->ips[i]) != SHCA_NB_GID_PAIRS)
			continue;
		is_short = !add(dev, netdev->ips[i]);
		has_changed = has_changed || !is_short;
	}
	if (is_short && !dev->gids.is_short)
		SHCA_WARN("mlx5_%u: no room for GIDs of all addresses of %s: a port has %u",
			dev->conf.index, netdev->name, SHCA_NB_GIDS);
	dev->gids.is_short = is_short;
	dev->nb_roce_changes += has_changed;
	return has_changed;
}

uint8_t
shca_gid_port_mtu(const struct shca_device *dev)
{
	/* GRH, UDP, BTH, and what XRC and atomics add, ICRC. */
	static const uint32_t header_bytes = 40 + 8 + 12 + 4 + 28 + 4;
	const uint32_t netdev = dev->port[0].netdev.mtu != 0 ? dev->port[0].netdev.mtu : 1500;
	uint8_t mtu = IBV_MTU_4096;

	while (mtu != 0 && netdev < header_bytes + SHCA_MTU_BYTES(mtu))
		mtu--;
	return mtu;
}

uint32_t
shca_gid_nb(const struct shca_device *dev)
{
	return dev->conf.nb_vports == 0 ? SHCA_NB_GIDS : 0;
}

bool
shca_gid_get(const struct shca_device *dev, uint32_t index, uint8_t gid[16], bool *is_v2)
{
	if (index >= SHCA_NB_GIDS || !dev->gids.pair[index / 2].is_used)
		return false;
	memcpy(gid, dev->gids.pair[index / 2].gid, SHCA_GID_BYTES);
	*is_v2 = index % 2 != 0;
	return true;
}

bool
shca_gid_is_own(const struct shca_device *dev, const uint8_t gid[16])
{
	return find(dev, gid) != SHCA_NB_GID_PAIRS;
}

/** Of IPv6 groups and of IPv4 ones (RFC 2464, 7; RFC 1112, 6.4). @return whether it is one. */
static bool
resolve_group(const uint8_t gid[16], uint8_t mac[6])
{
	if (gid[0] == 0xff) {
		mac[0] = mac[1] = 0x33;
		memcpy(mac + 2, gid + 12, 4);
		return true;
	}
	if (!shca_roce_is_ipv4(gid) || gid[12] >> 4 != 0xe)
		return false;
	memcpy(mac, (const uint8_t[]){ 1, 0, 0x5e, gid[13] & 0x7f, gid[14], gid[15] }, 6);
	return true;
}

/** Link-local with the MAC in it (rdma_get_ll_mac(); RFC 4291, appendix A). */
static bool
resolve_eui64(const uint8_t gid[16], uint8_t mac[6])
{
	static const uint8_t prefix[LINK_LOCAL_BYTES] = { 0xfe, 0x80 };

	if (memcmp(gid, prefix, sizeof(prefix)) != 0 || gid[11] != 0xff || gid[12] != 0xfe)
		return false;
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= IS_LOCAL;
	return true;
}

static int
find_way(struct shca_device *dev, const uint8_t gid[16], bool is_bound, struct shca_way *way)
{
	struct shca_wire *kernel = dev->conf.kernel;

	return kernel != NULL && kernel->ops->find_way != NULL
		? kernel->ops->find_way(kernel, gid, is_bound, way)
		: -EHOSTUNREACH;
}

int
shca_gid_resolve(struct shca_device *dev, const uint8_t gid[16], uint8_t mac[6])
{
	struct shca_way way;
	int ret;

	if (shca_gid_is_own(dev, gid)) {
		memcpy(mac, shca_own_mac(dev), sizeof(dev->conf.mac));
		return 0;
	}
	if (resolve_group(gid, mac) || resolve_eui64(gid, mac))
		return 0;
	ret = find_way(dev, gid, true, &way);
	if (ret == 0)
		memcpy(mac, way.mac, sizeof(way.mac));
	return ret;
}

int
shca_gid_find_source(struct shca_device *dev, const uint8_t gid[16], uint8_t source[16])
{
	struct shca_way way;
	const int ret = find_way(dev, gid, false, &way);

	if (ret != 0 && ret != -EINPROGRESS)
		return ret;
	memcpy(source, way.source, sizeof(way.source));
	return 0;
}

bool
shca_gid_path(const struct shca_device *dev, const struct shca_gid_route *route,
	struct shca_roce_path *path)
{
	*path = (struct shca_roce_path){
		.traffic_class = route->traffic_class,
		.hop_limit = route->hop_limit,
		.flow_label = route->flow_label,
		.udp_source = route->udp_source,
	};
	memcpy(path->dgid, route->dgid, sizeof(path->dgid));
	memcpy(path->smac, shca_own_mac(dev), sizeof(path->smac));
	return shca_gid_get(dev, route->sgid_index, path->sgid, &path->is_v2);
}

void
shca_ah_add(struct shca_device *dev, struct shca_ah *ah)
{
	LIST_INSERT_HEAD(&dev->ahs, ah, link);
}

void
shca_ah_remove(struct shca_ah *ah)
{
	LIST_REMOVE(ah, link);
}

bool
shca_ah_is_of_another(
	const struct shca_device *dev, uint32_t pdn, const struct shca_gid_route *route)
{
	const struct shca_ah *ah;
	bool is_found = false;

	LIST_FOREACH (ah, &dev->ahs, link) {
		if (ah->sgid_index != route->sgid_index ||
			memcmp(ah->dgid, route->dgid, sizeof(ah->dgid)) != 0)
			continue;
		if (ah->pdn == pdn)
			return false;
		is_found = true;
	}
	return is_found;
}
