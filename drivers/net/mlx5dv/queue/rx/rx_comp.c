/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the format of mini CQEs by the device, the user and the offloads. */
#include <rte_common.h>
#include <rte_ethdev.h>

#include "rx_comp.h"
#include "state/port.h"

/*
 * A mini CQE takes its other fields from the title: the device only groups packets that agree in
 * packet type, checksum verdicts, VLAN tag, flow tag and kind of hash. So offloads need no field of
 * the mini CQE except the hash; timestamps differ, and exclude compression. CSUM_STRIDX is for
 * striding queues, and they for it.
 */
/* clang-format off */
/** The best first. */
static const struct {
	enum mdv_cqe_comp choice;
	uint32_t format;
	bool has_hash;
	bool strides;
	const char *name;
} formats[] = {
	{ MDV_CQE_COMP_HASH, MLX5DV_CQE_RES_FORMAT_HASH, true, false,
		"compressed, with the RSS hash" },
	{ MDV_CQE_COMP_CSUM, MLX5DV_CQE_RES_FORMAT_CSUM, false, false,
		"compressed, with a checksum" },
	{ MDV_CQE_COMP_CSUM, MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX, false, true,
		"compressed, with a checksum and stride" },
};
/* clang-format on */

uint32_t
mdv_rx_comp_choose(const struct mdv_port *port, const char **why)
{
	const enum mdv_cqe_comp choice = port->config.rx_cqe_comp;
	const uint64_t offloads = port->dev->data->dev_conf.rxmode.offloads;
	const bool needs_hash = (offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH) != 0;
	unsigned int i;

	*why = "one a packet (mode=ibv)";
	if (port->device.caps.mode == MDV_MODE_IBV)
		return 0;
	*why = "one a packet (rx_cqe_comp=off)";
	if (choice == MDV_CQE_COMP_OFF)
		return 0;
	*why = "one a packet (compressed they would lack timestamps)";
	if (offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP)
		return 0;
	*why = "one a packet (the device cannot compress them so)";
	for (i = 0; i < RTE_DIM(formats); i++) {
		if ((choice != MDV_CQE_COMP_AUTO && choice != formats[i].choice) ||
			port->strides != formats[i].strides ||
			(port->device.caps.cqe_comp_formats & formats[i].format) == 0)
			continue;
		if (!needs_hash || formats[i].has_hash) {
			*why = formats[i].name;
			return formats[i].format;
		}
		*why = "one a packet (compressed they would lack the RSS hash)";
	}
	return 0;
}
