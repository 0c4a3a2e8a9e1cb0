/* SPDX-License-Identifier: BSD-3-Clause */
/* Redirection table and hash configuration of the default rules. */
#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>

#include "base/log.h"
#include "flow/match/rss.h"
#include "flow/rule/flow_default.h"
#include "reta.h"
#include "state/port.h"

/* clang-format off */
/** The default key of DPDK's mlx5 and VPP's rdma drivers. */
static const uint8_t default_key[MDV_RSS_KEY_BYTES] = {
	0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4, 0xf7, 0xfc, 0xa2,
	0x83, 0x19, 0xdb, 0x1a, 0x3e, 0x94, 0x6b, 0x9e, 0x38, 0xd9,
	0x2c, 0x9c, 0x03, 0xd1, 0xad, 0x99, 0x44, 0xa7, 0xd9, 0x56,
	0x3d, 0x59, 0x06, 0x3c, 0x25, 0xf3, 0xfc, 0x1f, 0xdc, 0x2a,
};
/* clang-format on */

uint16_t
mdv_reta_size(const struct mdv_port *port)
{
	uint32_t max = port->device.caps.max_rwq_ind_table_size;

	return rte_align32prevpow2(RTE_MIN(max, (uint32_t)MDV_RETA_MAX));
}

static int
check_hash_conf(const struct rte_eth_dev *dev, const struct rte_eth_rss_conf *conf)
{
	uint64_t types = mdv_rss_types(&mdv_port(dev)->device.caps);

	if (conf->rss_key != NULL && conf->rss_key_len != MDV_RSS_KEY_BYTES) {
		MDV_LOG(ERR, "port %u: an RSS key of %u bytes, the device takes %u",
			dev->data->port_id, conf->rss_key_len, MDV_RSS_KEY_BYTES);
		return -EINVAL;
	}
	if (RTE_ETH_RSS_LEVEL(conf->rss_hf) > 1) {
		MDV_LOG(ERR,
			"port %u: RSS by innermost headers: the port's own rules hash by the outer ones; use flow rules on tunnels with RSS level 2",
			dev->data->port_id);
		return -ENOTSUP;
	}
#ifdef RTE_ETH_HASH_ALGO_CAPA_MASK
	if (conf->algorithm != RTE_ETH_HASH_FUNCTION_DEFAULT &&
		conf->algorithm != RTE_ETH_HASH_FUNCTION_TOEPLITZ) {
		MDV_LOG(ERR, "port %u: RSS by the hash function %s, the device has toeplitz",
			dev->data->port_id, rte_eth_dev_rss_algo_name(conf->algorithm));
		return -ENOTSUP;
	}
#endif
	types |= RTE_ETH_RSS_LEVEL_OUTERMOST;
	if ((conf->rss_hf & ~types) != 0) {
		MDV_LOG(ERR, "port %u: RSS types %#" PRIx64 " are not supported, %#" PRIx64 " are",
			dev->data->port_id, conf->rss_hf & ~types, types);
		return -EINVAL;
	}
	return 0;
}

int
mdv_reta_configure(struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *dev_conf = &dev->data->dev_conf;
	const struct rte_eth_rss_conf *conf = &dev_conf->rx_adv_conf.rss_conf;
	bool rss = (dev_conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) != 0;
	struct mdv_port *port = mdv_port(dev);
	uint16_t i;
	int ret;

	if (rss) {
		ret = check_hash_conf(dev, conf);
		if (ret != 0)
			return ret;
	}
	if (rss && conf->rss_key != NULL)
		memcpy(port->rss_key, conf->rss_key, MDV_RSS_KEY_BYTES);
	else
		memcpy(port->rss_key, default_key, MDV_RSS_KEY_BYTES);
	port->rss_types = rss ? conf->rss_hf : 0;
	port->nb_reta = mdv_reta_size(port);
	for (i = 0; i < port->nb_reta; i++)
		port->reta[i] = dev->data->nb_rx_queues == 0 ? 0 : i % dev->data->nb_rx_queues;
	return 0;
}

static int
check_size(const struct rte_eth_dev *dev, uint16_t size)
{
	const struct mdv_port *port = mdv_port(dev);

	if (size == port->nb_reta && size != 0)
		return 0;
	MDV_LOG(ERR, "port %u: a redirection table of %u entries, it has %u", dev->data->port_id,
		size, port->nb_reta);
	return -EINVAL;
}

int
mdv_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct mdv_port *port = mdv_port(dev);
	uint16_t before[MDV_RETA_MAX], after[MDV_RETA_MAX];
	uint16_t i;
	int ret;

	ret = check_size(dev, size);
	if (ret != 0)
		return ret;
	memcpy(before, port->reta, sizeof(before));
	memcpy(after, port->reta, sizeof(after));
	for (i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64 *group = &reta[i / RTE_ETH_RETA_GROUP_SIZE];
		uint16_t queue = group->reta[i % RTE_ETH_RETA_GROUP_SIZE];

		if (!(group->mask & RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE)))
			continue;
		if (queue >= dev->data->nb_rx_queues) {
			MDV_LOG(ERR,
				"port %u: entry %u of the redirection table names queue %u of %u",
				dev->data->port_id, i, queue, dev->data->nb_rx_queues);
			return -EINVAL;
		}
		after[i] = queue;
	}
	memcpy(port->reta, after, sizeof(after));
	ret = mdv_flow_default_update(port);
	if (ret != 0)
		memcpy(port->reta, before, sizeof(before));
	return ret;
}

int
mdv_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	const struct mdv_port *port = mdv_port(dev);
	uint16_t i;
	int ret;

	ret = check_size(dev, size);
	if (ret != 0)
		return ret;
	for (i = 0; i < size; i++) {
		struct rte_eth_rss_reta_entry64 *group = &reta[i / RTE_ETH_RETA_GROUP_SIZE];

		if (group->mask & RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE))
			group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = port->reta[i];
	}
	return 0;
}

int
mdv_reta_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct mdv_port *port = mdv_port(dev);
	uint8_t key_before[MDV_RSS_KEY_BYTES];
	uint64_t types_before = port->rss_types;
	int ret;

	ret = check_hash_conf(dev, conf);
	if (ret != 0)
		return ret;
	memcpy(key_before, port->rss_key, sizeof(key_before));
	if (conf->rss_key != NULL)
		memcpy(port->rss_key, conf->rss_key, sizeof(port->rss_key));
	port->rss_types = conf->rss_hf;
	ret = mdv_flow_default_update(port);
	if (ret != 0) {
		memcpy(port->rss_key, key_before, sizeof(key_before));
		port->rss_types = types_before;
	}
	return ret;
}

int
mdv_reta_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	const struct mdv_port *port = mdv_port(dev);

	if (conf->rss_key != NULL && conf->rss_key_len >= MDV_RSS_KEY_BYTES)
		memcpy(conf->rss_key, port->rss_key, MDV_RSS_KEY_BYTES);
	conf->rss_key_len = MDV_RSS_KEY_BYTES;
	conf->rss_hf = port->rss_types;
#ifdef RTE_ETH_HASH_ALGO_CAPA_MASK
	conf->algorithm = RTE_ETH_HASH_FUNCTION_TOEPLITZ;
#endif
	return 0;
}
