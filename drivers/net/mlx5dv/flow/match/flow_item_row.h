/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Inside the items' translation: the rows, and the state of the walk over a pattern.
 *
 *     flow_item.c         the walk: order, spec and mask, one spec an item
 *     flow_item_rows.c    the rows
 *     flow_item_field.c   one field: is it masked, does it differ, put it into the spec
 *     flow_item_check.c   beyond rows: types, protocols and ports that imply each other
 *     flow_item_any.c     ANY
 *
 * flow_spec.h has the specs that items are translated to.
 */
#ifndef MDV_FLOW_ITEM_ROW_H
#define MDV_FLOW_ITEM_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow_error.h"
#include "flow_feature.h"
#include "flow_item.h"

/** In mdv_flow_item_row.after: may be the first item. */
#define MDV_FLOW_ITEM_FIRST (1u << 31)

/** One field of an item. A mask that the row does not allow is refused with the field's name. */
struct mdv_flow_item_field {
	const char *name;
	uint8_t at, bytes;    /**< place in the rte_flow item; a big-endian number or a string */
	uint8_t to, to_bytes; /**< place in the verbs filter; 0 bytes: verbs cannot match it */
	uint8_t to_shift;     /**< of a number with bits: shift in the filter's number */
	uint32_t bits;    /**< of a number of 1, 2 or 4 bytes: its bits; 0: all bytes as they are */
	const void *flag; /**< instead of at and bytes: an item with this bit field set */
	uint32_t needs;   /**< MDV_FLOW_CAN_* */
	const char *hint; /**< advice or reason when it is refused */
	uint16_t words;   /**< bit i: it has bytes in 32-bit word i of the item */
	bool any_value;   /**< no check reads its value, which only goes into the spec */
};

/** Bits of struct mdv_flow_item_field.words, for @p bytes bytes at @p at. */
#define MDV_FLOW_ITEM_WORDS(at, bytes)                                                             \
	((uint16_t)((2u << (((at) + (bytes)-1) / 4)) - (1u << ((at) / 4))))

struct mdv_flow_item_row;

/** One item as the walk sees it; a missing mask is the default mask. */
struct mdv_flow_item_match {
	const struct rte_flow_item *item;
	const struct mdv_flow_item_row *row;
	const void *spec, *mask; /**< NULL: the protocol only */
	uint32_t masked;         /**< bit i: field i of the row is masked and can be matched */
};

struct mdv_flow_item_state {
	struct mdv_flow_build *build;
	uint32_t features; /**< MDV_FLOW_CAN_* */
	uint32_t last;     /**< the layer before, or its candidates; MDV_FLOW_ITEM_FIRST */
	enum mdv_flow_build_side side;
	uint16_t udp_at, gre_at;              /**< outer specs in build->bytes, 0: none */
	const struct rte_flow_item *has_vlan; /**< the ETH item that asks for a tag */
	const struct rte_flow_item *l2;       /**< the last ETH or VLAN of this side */
	bool any_tag;                    /**< a VLAN item of this side names no bit of the tag */
	const struct rte_flow_item *any; /**< an ANY item came before, for any_num layers */
	uint32_t any_num;
	struct rte_flow_error *error;
};

struct mdv_flow_item_row {
	enum rte_flow_item_type type;
	const char *name;
	uint32_t layer;
	uint32_t after;      /**< layers it may follow */
	bool outer_only;     /**< a tunnel, or a part of one */
	uint8_t proto;       /**< of the IP header before it; 0: none */
	uint16_t item_bytes; /**< a multiple of 4, at most 64 */
	const void *default_mask;
	enum mdv_flow_spec_id spec; /**< the spec of its fields */
	uint8_t nb_fields;          /**< at most 32 */
	const struct mdv_flow_item_field *fields;
	uint32_t needs;      /**< MDV_FLOW_CAN_* */
	const char *instead; /**< advice when the device lacks them */
	/** Checks beyond the row. NULL: none. */
	int (*check)(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
};

extern const struct mdv_flow_item_row mdv_flow_item_rows[];
extern const unsigned int mdv_flow_item_rows_nb;

/** @return the first row of the type, NULL: none */
const struct mdv_flow_item_row *mdv_flow_item_row_of(enum rte_flow_item_type type);

/** A big-endian number of 1, 2 or 4 bytes. */
static inline uint32_t
mdv_flow_item_field_load(const uint8_t *from, unsigned int bytes)
{
	uint32_t number = 0;

	for (unsigned int i = 0; i < bytes; i++)
		number = number << 8 | from[i];
	return number;
}

/** Used for every field of every rule. */
static inline bool
mdv_flow_item_field_masked(const struct mdv_flow_item_field *field, const void *mask)
{
	const uint8_t *bytes = (const uint8_t *)mask + field->at;
	const uint8_t *flag = field->flag;
	uint8_t any = 0;

	if (field->bits != 0)
		return (mdv_flow_item_field_load(bytes, field->bytes) & field->bits) != 0;
	for (unsigned int i = 0; flag == NULL && i < field->bytes; i++)
		any |= bytes[i];
	for (unsigned int i = 0; flag != NULL && i < field->bytes; i++)
		any |= bytes[i] & flag[i];
	return any != 0;
}

/* flow_item_field.c */
/** @return whether @p last makes a range of the field, under the mask. */
bool mdv_flow_item_field_ranges(const struct mdv_flow_item_field *field,
	const struct mdv_flow_item_match *match, const void *last);
/** Put value and mask into @p spec. */
void mdv_flow_item_field_put(const struct mdv_flow_item_field *field,
	const struct mdv_flow_item_match *match, uint8_t *spec);

/* flow_item_check.c: each returns 0 or a negative errno, the error filled. */
int mdv_flow_item_check_eth(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_vlan(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_l3(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_l4(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_esp(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_mpls(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_mpls_tunnel(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_vxlan(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_gre_key(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
int mdv_flow_item_check_nvgre(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
/** Check what depends on all headers of one side. */
int mdv_flow_item_check_side(struct mdv_flow_item_state *state);

/* flow_item_any.c */
/** Remember an ANY item. @return 0 or a negative errno, the error filled */
int mdv_flow_item_any(struct mdv_flow_item_state *state, const struct rte_flow_item *item);
/** Before the next item: decide on ANY's layers, state->last. @return as above */
int mdv_flow_item_any_before(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match);
/** At the end of the pattern. @return as above */
int mdv_flow_item_any_end(struct mdv_flow_item_state *state);

#endif /* MDV_FLOW_ITEM_ROW_H */
