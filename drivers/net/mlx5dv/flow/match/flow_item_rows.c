/* SPDX-License-Identifier: BSD-3-Clause */
/* The item rows. */

#include <netinet/in.h>

#include <rte_common.h>

#include "flow_item_row.h"

#define L3_ITSELF "the item itself says so; leave it out"
#define NO_LENGTH "the device matches no lengths; leave it out"
#define NO_SUM    "the device matches no checksums; leave it out"
#define NO_FRAG   "the device cannot tell fragments; leave it out"
#define NO_OFFSET "verbs has DF (0x4000) and MF (0x2000) and no offsets; leave the rest out"
#define NO_EXT    "the device cannot match extension headers; leave it out"
#define NO_FIELD  "the device cannot match it; leave it out"
#define NO_RSVD   "they must be zero"

/* clang-format off */
#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define WORDS(type, member) \
	MDV_FLOW_ITEM_WORDS(offsetof(struct type, member), sizeof(((struct type *)0)->member))
#define MATCH(name, item, member, filter, to) \
	{ name, AT(item, member), AT(filter, to), 0, 0, NULL, 0, NULL, WORDS(item, member), false }
/** The same for a field that no check reads. */
#define VALUE(name, item, member, filter, to) \
	{ name, AT(item, member), AT(filter, to), 0, 0, NULL, 0, NULL, WORDS(item, member), true }
#define MATCH_PART(name, item, member, bits, filter, to, shift) \
	{ name, AT(item, member), AT(filter, to), shift, bits, NULL, 0, NULL, WORDS(item, member), false }
#define REFUSE(name, item, member, hint) \
	{ name, AT(item, member), 0, 0, 0, 0, NULL, 0, hint, WORDS(item, member), false }
#define REFUSE_PART(name, item, member, bits, hint) \
	{ name, AT(item, member), 0, 0, 0, bits, NULL, 0, hint, WORDS(item, member), false }
#define REFUSE_FLAG(name, item, member, ones, hint) \
	{ name, 0, sizeof(struct item), 0, 0, 0, 0, \
	  &(const struct item){ .member = ones }, 0, hint, \
	  MDV_FLOW_ITEM_WORDS(0, sizeof(struct item)), false }
/** A field that only some devices and kernels match. */
#define MAYBE(name, item, member, filter, to, can, hint) \
	{ name, AT(item, member), AT(filter, to), 0, 0, NULL, MDV_FLOW_CAN_##can, hint, \
	  WORDS(item, member), false }
#define MAYBE_PART(name, item, member, bits, filter, to, shift, can, hint) \
	{ name, AT(item, member), AT(filter, to), shift, bits, NULL, MDV_FLOW_CAN_##can, hint, \
	  WORDS(item, member), false }

static const struct mdv_flow_item_field eth_fields[] = {
	VALUE("dst", rte_flow_item_eth, hdr.dst_addr, ibv_flow_eth_filter, dst_mac),
	VALUE("src", rte_flow_item_eth, hdr.src_addr, ibv_flow_eth_filter, src_mac),
	MATCH("type", rte_flow_item_eth, hdr.ether_type, ibv_flow_eth_filter, ether_type),
	REFUSE_FLAG("reserved bits", rte_flow_item_eth, reserved, 0x7fffffff, NO_RSVD),
};

static const struct mdv_flow_item_field vlan_fields[] = {
	VALUE("tci", rte_flow_item_vlan, hdr.vlan_tci, ibv_flow_eth_filter, vlan_tag),
	MATCH("inner_type", rte_flow_item_vlan, hdr.eth_proto, ibv_flow_eth_filter, ether_type),
	REFUSE_FLAG("has_more_vlan", rte_flow_item_vlan, has_more_vlan, 1,
		"the device sees the outer tag only; leave has_more_vlan out"),
	REFUSE_FLAG("reserved bits", rte_flow_item_vlan, reserved, 0x7fffffff, NO_RSVD),
};

static const struct mdv_flow_item_field ipv4_fields[] = {
	REFUSE("version_ihl", rte_flow_item_ipv4, hdr.version_ihl, L3_ITSELF),
	VALUE("tos", rte_flow_item_ipv4, hdr.type_of_service, ibv_flow_ipv4_ext_filter, tos),
	REFUSE("total_length", rte_flow_item_ipv4, hdr.total_length, NO_LENGTH),
	REFUSE("packet_id", rte_flow_item_ipv4, hdr.packet_id, NO_FIELD),
	/* IB_IPV4_DONT_FRAG and IB_IPV4_MORE_FRAG of Linux's rdma/ib_verbs.h */
	MAYBE_PART("fragment_offset", rte_flow_item_ipv4, hdr.fragment_offset, 0x4000,
		ibv_flow_ipv4_ext_filter, flags, 1, IPV4_FLAGS, NO_FRAG),
	MAYBE_PART("fragment_offset", rte_flow_item_ipv4, hdr.fragment_offset, 0x2000,
		ibv_flow_ipv4_ext_filter, flags, 2, IPV4_FLAGS, NO_FRAG),
	REFUSE_PART("fragment_offset", rte_flow_item_ipv4, hdr.fragment_offset, 0x9fff, NO_OFFSET),
	MAYBE("ttl", rte_flow_item_ipv4, hdr.time_to_live,
		ibv_flow_ipv4_ext_filter, ttl, IPV4_TTL, NO_FIELD),
	MATCH("proto", rte_flow_item_ipv4, hdr.next_proto_id, ibv_flow_ipv4_ext_filter, proto),
	REFUSE("checksum", rte_flow_item_ipv4, hdr.hdr_checksum, NO_SUM),
	VALUE("src", rte_flow_item_ipv4, hdr.src_addr, ibv_flow_ipv4_ext_filter, src_ip),
	VALUE("dst", rte_flow_item_ipv4, hdr.dst_addr, ibv_flow_ipv4_ext_filter, dst_ip),
};

static const struct mdv_flow_item_field ipv6_fields[] = {
	REFUSE_PART("version", rte_flow_item_ipv6, hdr.vtc_flow, 0xf0000000, L3_ITSELF),
	MATCH_PART("traffic class", rte_flow_item_ipv6, hdr.vtc_flow, 0x0ff00000,
		ibv_flow_ipv6_filter, traffic_class, 0),
	MATCH_PART("flow label", rte_flow_item_ipv6, hdr.vtc_flow, 0x000fffff,
		ibv_flow_ipv6_filter, flow_label, 0),
	REFUSE("payload_len", rte_flow_item_ipv6, hdr.payload_len, NO_LENGTH),
	MATCH("proto", rte_flow_item_ipv6, hdr.proto, ibv_flow_ipv6_filter, next_hdr),
	MAYBE("hop limit", rte_flow_item_ipv6, hdr.hop_limits,
		ibv_flow_ipv6_filter, hop_limit, IPV6_HOP_LIMIT, NO_FIELD),
	VALUE("src", rte_flow_item_ipv6, hdr.src_addr, ibv_flow_ipv6_filter, src_ip),
	VALUE("dst", rte_flow_item_ipv6, hdr.dst_addr, ibv_flow_ipv6_filter, dst_ip),
	REFUSE_FLAG("has_hop_ext", rte_flow_item_ipv6, has_hop_ext, 1, NO_EXT),
	REFUSE_FLAG("has_route_ext", rte_flow_item_ipv6, has_route_ext, 1, NO_EXT),
	REFUSE_FLAG("has_frag_ext", rte_flow_item_ipv6, has_frag_ext, 1, NO_EXT),
	REFUSE_FLAG("has_auth_ext", rte_flow_item_ipv6, has_auth_ext, 1, NO_EXT),
	REFUSE_FLAG("has_esp_ext", rte_flow_item_ipv6, has_esp_ext, 1, NO_EXT),
	REFUSE_FLAG("has_dest_ext", rte_flow_item_ipv6, has_dest_ext, 1, NO_EXT),
	REFUSE_FLAG("has_mobil_ext", rte_flow_item_ipv6, has_mobil_ext, 1, NO_EXT),
	REFUSE_FLAG("has_hip_ext", rte_flow_item_ipv6, has_hip_ext, 1, NO_EXT),
	REFUSE_FLAG("has_shim6_ext", rte_flow_item_ipv6, has_shim6_ext, 1, NO_EXT),
	REFUSE_FLAG("reserved bits", rte_flow_item_ipv6, reserved, 0x7fffff, NO_RSVD),
};

static const struct mdv_flow_item_field tcp_fields[] = {
	VALUE("src port", rte_flow_item_tcp, hdr.src_port, ibv_flow_tcp_udp_filter, src_port),
	VALUE("dst port", rte_flow_item_tcp, hdr.dst_port, ibv_flow_tcp_udp_filter, dst_port),
	REFUSE("sequence number", rte_flow_item_tcp, hdr.sent_seq, NO_FIELD),
	REFUSE("acknowledgement", rte_flow_item_tcp, hdr.recv_ack, NO_FIELD),
	REFUSE("data offset", rte_flow_item_tcp, hdr.data_off, NO_LENGTH),
	REFUSE("flags", rte_flow_item_tcp, hdr.tcp_flags, NO_FIELD),
	REFUSE("window", rte_flow_item_tcp, hdr.rx_win, NO_FIELD),
	REFUSE("checksum", rte_flow_item_tcp, hdr.cksum, NO_SUM),
	REFUSE("urgent pointer", rte_flow_item_tcp, hdr.tcp_urp, NO_FIELD),
};

static const struct mdv_flow_item_field udp_fields[] = {
	VALUE("src port", rte_flow_item_udp, hdr.src_port, ibv_flow_tcp_udp_filter, src_port),
	VALUE("dst port", rte_flow_item_udp, hdr.dst_port, ibv_flow_tcp_udp_filter, dst_port),
	REFUSE("length", rte_flow_item_udp, hdr.dgram_len, NO_LENGTH),
	REFUSE("checksum", rte_flow_item_udp, hdr.dgram_cksum, NO_SUM),
};

/** Linux's mlx5_ib matches the SPI before 5.19, and refuses ESP since. */
static const struct mdv_flow_item_field esp_fields[] = {
	MAYBE("spi", rte_flow_item_esp, hdr.spi, ibv_flow_esp_filter, spi, ESP_SPI,
		"the device or its kernel does not match it; ESP without spi takes all of ESP"),
	MAYBE("sequence number", rte_flow_item_esp, hdr.seq, ibv_flow_esp_filter, seq, ESP_SEQ,
		NO_FIELD),
};

static const struct mdv_flow_item_field mpls_fields[] = {
	{ "label", 0, 4, AT(ibv_flow_mpls_filter, label), 12, 0xfffff000, NULL, 0, NULL, 1, false },
	{ "traffic class", 0, 4, AT(ibv_flow_mpls_filter, label), 9, 0xe00, NULL, 0, NULL, 1, false },
	{ "bottom of stack", 0, 4, AT(ibv_flow_mpls_filter, label), 8, 0x100, NULL, 0, NULL, 1, false },
	{ "ttl", 0, 4, AT(ibv_flow_mpls_filter, label), 0, 0xff, NULL, 0, NULL, 1, false },
};

static const struct mdv_flow_item_field vxlan_fields[] = {
	REFUSE("flags", rte_flow_item_vxlan, hdr.vx_flags, NO_FIELD),
	MATCH_PART("vni", rte_flow_item_vxlan, hdr.vx_vni, 0xffffff00,
		ibv_flow_tunnel_filter, tunnel_id, 0),
	REFUSE_PART("reserved bits", rte_flow_item_vxlan, hdr.vx_vni, 0xff, NO_FIELD),
};

#define NO_GRE_FLAGS "the device does not match GRE flags; leave it out"

static const struct mdv_flow_item_field gre_fields[] = {
	MAYBE("c_rsvd0_ver", rte_flow_item_gre, c_rsvd0_ver, ibv_flow_gre_filter, c_ks_res0_ver,
		GRE_FLAGS, NO_GRE_FLAGS),
	MATCH("protocol", rte_flow_item_gre, protocol, ibv_flow_gre_filter, protocol),
};

static const struct mdv_flow_item_field gre_key_fields[] = {
	{ "key", 0, sizeof(rte_be32_t), AT(ibv_flow_gre_filter, key), 0, 0, NULL, 0, NULL, 1, false },
};

static const struct mdv_flow_item_field gre_option_fields[] = {
	REFUSE("checksum", rte_flow_item_gre_opt, checksum_rsvd.checksum, NO_SUM),
	REFUSE("reserved bits", rte_flow_item_gre_opt, checksum_rsvd.reserved1, NO_RSVD),
	MATCH("key", rte_flow_item_gre_opt, key.key, ibv_flow_gre_filter, key),
	REFUSE("sequence number", rte_flow_item_gre_opt, sequence.sequence, NO_FIELD),
};

/** RFC 7637: the GRE key is the VSID and a flow id. */
static const struct mdv_flow_item_field nvgre_fields[] = {
	MAYBE("c_k_s_rsvd0_ver", rte_flow_item_nvgre, c_k_s_rsvd0_ver,
		ibv_flow_gre_filter, c_ks_res0_ver, GRE_FLAGS, NO_GRE_FLAGS),
	MATCH("protocol", rte_flow_item_nvgre, protocol, ibv_flow_gre_filter, protocol),
	MATCH("tni", rte_flow_item_nvgre, tni, ibv_flow_gre_filter, key),
	{ "flow_id", AT(rte_flow_item_nvgre, flow_id),
	  offsetof(struct ibv_flow_gre_filter, key) + 3, 1, 0, 0, NULL, 0, NULL,
	  WORDS(rte_flow_item_nvgre, flow_id), false },
};

/** rte_flow defines none; this is the one of other drivers. */
static const rte_be32_t gre_key_mask = RTE_BE32(UINT32_MAX);
static const struct rte_flow_item_gre_opt gre_option_mask = { .key.key = RTE_BE32(UINT32_MAX) };

#define LAYER(t, l) \
	.type = RTE_FLOW_ITEM_TYPE_##t, .name = #t, .layer = MDV_LAYER_##l
#define ITEM(t, item) \
	LAYER(t, t), .item_bytes = sizeof(struct item), .default_mask = &item##_mask
#define SPEC(t) \
	.spec = MDV_FLOW_SPEC_##t
#define FIELDS(rows) \
	.nb_fields = RTE_DIM(rows), .fields = rows

#define FIRST	 MDV_FLOW_ITEM_FIRST
/** Places where an Ethernet header may begin, and where a pattern may leave it out. */
#define START	 (FIRST | MDV_LAYER_VXLAN | MDV_LAYER_NVGRE)
#define L2	 (MDV_LAYER_ETH | MDV_LAYER_VLAN)
#define GRE_ANY	 (MDV_LAYER_GRE | MDV_LAYER_GRE_KEY)
#define MPLS_ANY (MDV_LAYER_MPLS | MDV_LAYER_MPLS_TUNNEL)

const struct mdv_flow_item_row mdv_flow_item_rows[] = {
	{ ITEM(ETH, rte_flow_item_eth), .after = START | GRE_ANY | MDV_LAYER_MPLS_TUNNEL,
	  SPEC(ETH), FIELDS(eth_fields), .check = mdv_flow_item_check_eth },
	/* The tag is a part of the ETH spec. */
	{ ITEM(VLAN, rte_flow_item_vlan), .after = START | MDV_LAYER_ETH,
	  SPEC(ETH), FIELDS(vlan_fields), .check = mdv_flow_item_check_vlan },
	{ ITEM(IPV4, rte_flow_item_ipv4), .after = START | L2 | GRE_ANY | MPLS_ANY,
	  SPEC(IPV4_EXT), FIELDS(ipv4_fields),
	  .check = mdv_flow_item_check_l3 },
	{ ITEM(IPV6, rte_flow_item_ipv6), .after = START | L2 | GRE_ANY | MPLS_ANY,
	  SPEC(IPV6), FIELDS(ipv6_fields), .check = mdv_flow_item_check_l3 },
	{ ITEM(TCP, rte_flow_item_tcp), .after = START | MDV_LAYER_L3, .proto = IPPROTO_TCP,
	  SPEC(TCP), FIELDS(tcp_fields), .check = mdv_flow_item_check_l4 },
	{ ITEM(UDP, rte_flow_item_udp), .after = START | MDV_LAYER_L3, .proto = IPPROTO_UDP,
	  SPEC(UDP), FIELDS(udp_fields), .check = mdv_flow_item_check_l4 },
	{ ITEM(ESP, rte_flow_item_esp), .after = MDV_LAYER_L3, .proto = IPPROTO_ESP,
	  SPEC(ESP), FIELDS(esp_fields), .check = mdv_flow_item_check_esp },
	{ ITEM(MPLS, rte_flow_item_mpls), .after = L2,
	  SPEC(MPLS), FIELDS(mpls_fields), .needs = MDV_FLOW_CAN_MPLS,
	  .instead = "use ETH type 0x8847 instead", .check = mdv_flow_item_check_mpls },
	/* The same item in another place. */
	{ LAYER(MPLS, MPLS_TUNNEL), .item_bytes = sizeof(struct rte_flow_item_mpls),
	  .default_mask = &rte_flow_item_mpls_mask, .after = MDV_LAYER_UDP | GRE_ANY,
	  .outer_only = true, SPEC(MPLS), FIELDS(mpls_fields),
	  .instead = "use UDP dst port 6635 or GRE protocol 0x8847 instead",
	  .check = mdv_flow_item_check_mpls_tunnel },
	{ ITEM(VXLAN, rte_flow_item_vxlan), .after = FIRST | MDV_LAYER_UDP, .outer_only = true,
	  SPEC(VXLAN_TUNNEL), FIELDS(vxlan_fields),
	  .needs = MDV_FLOW_CAN_VXLAN, .instead = "use UDP dst port 4789 instead",
	  .check = mdv_flow_item_check_vxlan },
	{ ITEM(GRE, rte_flow_item_gre), .after = FIRST | MDV_LAYER_L3, .outer_only = true,
	  .proto = IPPROTO_GRE, SPEC(GRE), FIELDS(gre_fields),
	  .needs = MDV_FLOW_CAN_GRE, .instead = "use IPV4 or IPV6 proto 47 instead",
	  .check = mdv_flow_item_check_l4 },
	/* The key is a part of the GRE spec. */
	{ LAYER(GRE_KEY, GRE_KEY), .item_bytes = sizeof(rte_be32_t), .default_mask = &gre_key_mask,
	  .after = MDV_LAYER_GRE, .outer_only = true,
	  SPEC(GRE), FIELDS(gre_key_fields),
	  .check = mdv_flow_item_check_gre_key },
	/* GRE_KEY by another name, with fields that the device does not match. */
	{ LAYER(GRE_OPTION, GRE_KEY), .item_bytes = sizeof(struct rte_flow_item_gre_opt),
	  .default_mask = &gre_option_mask, .after = MDV_LAYER_GRE, .outer_only = true,
	  SPEC(GRE), FIELDS(gre_option_fields), .check = mdv_flow_item_check_gre_key },
	{ ITEM(NVGRE, rte_flow_item_nvgre), .after = FIRST | MDV_LAYER_L3, .outer_only = true,
	  .proto = IPPROTO_GRE, SPEC(GRE), FIELDS(nvgre_fields),
	  .needs = MDV_FLOW_CAN_GRE, .instead = "use IPV4 or IPV6 proto 47 instead",
	  .check = mdv_flow_item_check_nvgre },
	/* No spec: its meaning follows from its neighbours. */
	{ ITEM(ANY, rte_flow_item_any),
	  .after = FIRST | L2 | MDV_LAYER_L3 | MDV_LAYER_L4 | MDV_LAYER_TUNNEL | MPLS_ANY |
		GRE_ANY },
};
/* clang-format on */

const unsigned int mdv_flow_item_rows_nb = RTE_DIM(mdv_flow_item_rows);

const struct mdv_flow_item_row *
mdv_flow_item_row_of(enum rte_flow_item_type type)
{
	for (unsigned int i = 0; i < mdv_flow_item_rows_nb; i++)
		if (mdv_flow_item_rows[i].type == type)
			return &mdv_flow_item_rows[i];
	return NULL;
}
