/* SPDX-License-Identifier: BSD-3-Clause */
/* The GIDs of a port. */
#include "hw/roce/gid.h"

#include <string.h>

#include "base/node.h"

#define LINK_LOCAL_BYTES 8
#define IS_GROUP         0x01 /* of a MAC's first byte */
#define IS_LOCAL         0x02

uint32_t
shca_gid_nb(const struct shca_device_conf *conf)
{
	return conf->nb_vports == 0 ? SHCA_NB_GIDS : 0;
}

bool
shca_gid_get(const struct shca_device_conf *conf, uint32_t index, uint8_t gid[16], bool *is_v2)
{
	if (index >= shca_gid_nb(conf))
		return false;
	shca_node_gid(conf->mac, gid);
	*is_v2 = index != 0;
	return true;
}

bool
shca_gid_is_own(const struct shca_device_conf *conf, const uint8_t gid[16], bool is_v2)
{
	uint8_t own[16];
	bool own_is_v2;

	for (uint32_t i = 0; shca_gid_get(conf, i, own, &own_is_v2); i++)
		if (own_is_v2 == is_v2 && memcmp(own, gid, sizeof(own)) == 0)
			return true;
	return false;
}

bool
shca_gid_resolve(const struct shca_device_conf *conf, const uint8_t gid[16], uint8_t mac[6])
{
	static const uint8_t prefix[LINK_LOCAL_BYTES] = { 0xfe, 0x80 };

	if (shca_gid_is_own(conf, gid, true)) {
		memcpy(mac, conf->mac, sizeof(conf->mac));
		return true;
	}
	/* rdma_get_mcast_mac(), rdma_get_ll_mac(). */
	if (gid[0] == 0xff) {
		mac[0] = mac[1] = 0x33;
		memcpy(mac + 2, gid + 12, 4);
		return true;
	}
	if (memcmp(gid, prefix, sizeof(prefix)) != 0)
		return false;
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= IS_LOCAL;
	return true;
}

bool
shca_gid_path(const struct shca_device_conf *conf, const struct shca_gid_route *route,
	struct shca_roce_path *path)
{
	*path = (struct shca_roce_path){
		.traffic_class = route->traffic_class,
		.hop_limit = route->hop_limit,
		.flow_label = route->flow_label,
		.udp_source = route->udp_source,
	};
	memcpy(path->dgid, route->dgid, sizeof(path->dgid));
	memcpy(path->smac, conf->mac, sizeof(path->smac));
	return shca_gid_get(conf, route->sgid_index, path->sgid, &path->is_v2);
}
