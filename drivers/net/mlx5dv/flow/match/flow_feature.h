/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file Matches and changes that only some devices and kernels support; flow_probe.h tries them.
 */
#ifndef MDV_FLOW_FEATURE_H
#define MDV_FLOW_FEATURE_H

enum mdv_flow_feature {
	MDV_FLOW_CAN_IPV4_TTL = 1 << 0,
	MDV_FLOW_CAN_IPV4_FLAGS = 1 << 1,
	MDV_FLOW_CAN_IPV6_HOP_LIMIT = 1 << 2,
	MDV_FLOW_CAN_ESP_SPI = 1 << 3,
	MDV_FLOW_CAN_ESP_SEQ = 1 << 4,
	MDV_FLOW_CAN_INNER = 1 << 5,
	MDV_FLOW_CAN_VXLAN = 1 << 6,
	MDV_FLOW_CAN_GRE = 1 << 7, /**< protocol and key */
	MDV_FLOW_CAN_GRE_FLAGS = 1 << 8,
	MDV_FLOW_CAN_MPLS = 1 << 9, /**< behind an Ethernet header */
	MDV_FLOW_CAN_MPLS_UDP = 1 << 10,
	MDV_FLOW_CAN_MPLS_GRE = 1 << 11,
	MDV_FLOW_CAN_EGRESS = 1 << 12, /**< rules on sent packets */
	/* changes of packets, by flow_modify.h */
	MDV_FLOW_CAN_CHANGE = 1 << 13,      /**< fields of received packets */
	MDV_FLOW_CAN_CHANGE_SENT = 1 << 14, /**< fields of sent packets */
	MDV_FLOW_CAN_DECAP = 1 << 15,       /**< take off tunnels with frames in them */
	MDV_FLOW_CAN_DECAP_L3 = 1 << 16,    /**< take off tunnels with IP packets in them */
	MDV_FLOW_CAN_ENCAP = 1 << 17,       /**< put headers before sent frames */
	MDV_FLOW_CAN_ENCAP_L3 =
		1 << 18, /**< put headers in place of sent frames' Ethernet headers */
};

#endif /* MDV_FLOW_FEATURE_H */
