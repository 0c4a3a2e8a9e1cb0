/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frame -> headers. Pure; never reads past the frame. A layer is valid if its whole header and all
 * layers below fit in the frame. Matching, RSS and checksums all read this one struct.
 */
#ifndef SHCA_STEERING_MATCH_PARSE_H
#define SHCA_STEERING_MATCH_PARSE_H

#include <stdbool.h>
#include <stdint.h>

enum __attribute__((packed)) shca_l3 {
	SHCA_L3_NONE,
	SHCA_L3_IPV4,
	SHCA_L3_IPV6,
};

enum __attribute__((packed)) shca_l4 {
	SHCA_L4_NONE,
	SHCA_L4_TCP,
	SHCA_L4_UDP,
	SHCA_L4_ESP,
};

enum __attribute__((packed)) shca_tunnel {
	SHCA_TUNNEL_NONE,
	SHCA_TUNNEL_VXLAN,
	SHCA_TUNNEL_GRE,
	SHCA_TUNNEL_MPLS_GRE,
	SHCA_TUNNEL_MPLS_UDP,
};

/** One stack of headers: outer, or inner in a recognised tunnel. Offsets from the frame's start. */
struct shca_headers {
	bool valid;     /**< the Ethernet header fits (always true for inner L3 tunnels) */
	bool has_ether; /**< false for an inner stack that begins with L3 */
	bool has_mpls;  /**< a label stack follows the Ethernet header; l3 comes after it */
	uint8_t nb_vlans;
	uint16_t l2_offset;
	uint16_t ether_type; /**< host order, after the last VLAN tag */
	uint16_t vlan_tpid;  /**< host order, of the first tag */
	uint16_t vlan_tci;   /**< host order, of the first tag */
	uint32_t mpls_label; /**< first entry of the label stack, host order, all 32 bits */

	enum shca_l3 l3;
	enum shca_l4 l4;   /**< NONE for fragments */
	bool l3_length_ok; /**< the IP length field fits in the frame */
	bool ip_options;   /**< IPv4 options or IPv6 extension headers */
	bool fragment;     /**< any fragment, the first included */
	uint8_t ip_proto;  /**< last next header the parser reached */
	uint16_t l3_offset;
	uint16_t l3_end; /**< end of the IP packet by its length field, bounded by the frame */

	uint16_t l4_offset;          /**< valid when l3 != NONE: end of the L3 headers */
	uint16_t src_port, dst_port; /**< host order; TCP and UDP */
	uint16_t payload_offset;     /**< end of the L4 header, TCP and UDP */
	uint8_t tcp_flags;
};

struct shca_packet {
	const uint8_t *bytes;
	uint32_t length;
	enum shca_tunnel tunnel;
	bool has_gre_key;
	bool has_mpls; /**< of the MPLS over GRE or UDP tunnel */
	struct shca_headers outer;
	struct shca_headers inner; /**< valid == false without a tunnel */
	uint32_t vni;              /**< VXLAN, 24 bits */
	uint32_t gre_key;          /**< host order */
	uint32_t mpls_label;       /**< first label stack entry, host order, all 32 bits */
	uint16_t gre_protocol;     /**< host order */
	/** Not of the frame: the port of an e-switch's manager that it came by; 0: there is one
	 * port. shca_parse() clears it. */
	uint16_t source_port;
};

/** Parse @p length bytes (up to 65535); @p packet borrows them. */
void shca_parse(const uint8_t *bytes, uint32_t length, struct shca_packet *packet);
/** @return whether a tunnel may follow the @p outer headers, so the parser looks further. */
bool shca_parse_may_tunnel(const struct shca_headers *outer);

#endif /* SHCA_STEERING_MATCH_PARSE_H */
