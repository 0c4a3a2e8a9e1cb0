/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Changes of a rule to frames: the objects of mlx5dv_create_flow_action_*(). Data only, checked at
 * creation; hw/format/rewrite.c carries it out.
 */
#ifndef SHCA_STEERING_MATCH_MODIFY_H
#define SHCA_STEERING_MATCH_MODIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHCA_MODIFY_STEPS_MAX 16  /**< DPDK 22.11 mlx5.h, MLX5_ROOT_TBL_MODIFY_NUM */
#define SHCA_MODIFY_DATA_MAX  128 /**< bytes put before a frame */

enum shca_modify_kind {
	SHCA_MODIFY_HEADER,          /**< set, add to and copy fields */
	SHCA_MODIFY_L2_TUNNEL_TO_L2, /**< remove the tunnel, which has a frame inside */
	SHCA_MODIFY_L3_TUNNEL_TO_L2, /**< replace the tunnel by an Ethernet header */
	SHCA_MODIFY_L2_TO_L2_TUNNEL, /**< put a tunnel before the frame */
	SHCA_MODIFY_L2_TO_L3_TUNNEL, /**< replace the Ethernet header by a tunnel */
};

/** The layer of a field. */
enum shca_modify_layer {
	SHCA_MODIFY_ETHERNET,
	SHCA_MODIFY_TYPE, /**< EtherType, after tags */
	SHCA_MODIFY_VLAN, /**< first tag, without its type */
	SHCA_MODIFY_IPV4,
	SHCA_MODIFY_IPV6,
	SHCA_MODIFY_TCP,
	SHCA_MODIFY_UDP,
};

/** A field by the device's number. One that both IPv4 and IPv6 have takes two rows. */
struct shca_modify_field {
	uint16_t id;
	bool is_inner;
	enum shca_modify_layer layer;
	uint16_t first_bit; /**< in the layer; 0 is the top bit of the first byte */
	uint8_t nb_bits;
};

/** Rows, ended by one whose nb_bits is 0. */
extern const struct shca_modify_field shca_modify_fields[];

enum shca_modify_type {
	SHCA_MODIFY_SET = 1,
	SHCA_MODIFY_ADD = 2,
	SHCA_MODIFY_COPY = 3,
};

/** Offsets count from a field's lowest bit. */
struct shca_modify_step {
	enum shca_modify_type type;
	uint16_t field; /**< COPY: the source */
	uint8_t offset, nb_bits;
	uint32_t data; /**< SET and ADD */
	uint16_t to_field;
	uint8_t to_offset;
};

struct shca_modify {
	enum shca_modify_kind kind;
	bool egress; /**< for tables of frames that are sent */
	uint8_t nb_steps;
	uint8_t header_bytes;
	struct shca_modify_step step[SHCA_MODIFY_STEPS_MAX];
	uint8_t header[SHCA_MODIFY_DATA_MAX];
};

/** Changes of an entry, at most one of each kind (mlx5_ib parse_flow_flow_action). */
struct shca_modify_set {
	const struct shca_modify *modify;
	const struct shca_modify *decap; /**< L2_TUNNEL_TO_L2 */
	const struct shca_modify *reformat;
};

/**
 * Parse @p nb_actions of set_add_copy_action_in_auto (PRM), 8 bytes each.
 * @return 0; -EOPNOTSUPP: too many; -EINVAL, as firmware refuses them: no action, an unknown action
 * or field, bits outside the field.
 */
int shca_modify_parse(const uint8_t *actions, size_t nb_actions, struct shca_modify *modify);
/** @return 0, or -EINVAL: the set has one of its kind. */
int shca_modify_add(struct shca_modify_set *modify_set, const struct shca_modify *modify);
static inline bool
shca_modify_is_any(const struct shca_modify_set *modify_set)
{
	return modify_set->modify != NULL || modify_set->decap != NULL ||
		modify_set->reformat != NULL;
}
/** @return whether all are for tables of that direction. */
bool shca_modify_fits(const struct shca_modify_set *modify_set, bool egress);
/** Append "|DECAP|MOD_HDR|..." as dumps have it. */
void shca_modify_name(const struct shca_modify_set *modify_set, char *text, size_t size);

#endif /* SHCA_STEERING_MATCH_MODIFY_H */
