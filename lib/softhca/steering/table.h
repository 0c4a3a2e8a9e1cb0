/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow table (FT): groups of entries, as fs_core's auto-grouped tables lay them out.
 *
 *     index 0      9362     18724         56172              65535
 *           | big 0 | big 1 | ... | big 5 | one-entry groups ... |
 *
 * A group (FG) holds entries of one mask. A new mask takes the lowest free big group, or when those
 * are gone the lowest free one-entry group; so does an entry whose mask's big groups are full. An
 * empty group is free again. Entries take the lowest free index of their group. Of the entries that
 * match a packet the one with the lowest index wins: the order of the groups decides, not which
 * mask is more specific (fs_core alloc_auto_flow_group; doc/design/steering.md).
 *
 * All groups of one mask share a hash (subtable.h), so a look-up costs one probe a mask.
 */
#ifndef SHCA_STEERING_TABLE_H
#define SHCA_STEERING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtable.h"
#include "steering/fte.h"
#include "steering/match/field.h"
#include "steering/subtable.h"

/** Constants of a table. */
struct shca_table_layout {
	const char *type;  /**< NIC_RX, ... as dumps name it */
	uint32_t size;     /**< entries */
	uint32_t nb_big;   /**< at most 32 */
	uint32_t big_size; /**< entries of a big group, more than one */
	bool to_netdev;    /**< an entry that does not drop gives the frame to the netdev */
	const char *owner; /**< as dumps name it; NULL: verbs, or the netdev's driver */
};

/** What all tables of a port share. */
struct shca_table_firmware {
	struct shca_fte_limits limits;
	struct shca_steering_commands commands;
	uint64_t nb_mask_changes; /**< how often a table has got or lost a mask */
};

struct shca_group {
	struct shca_subtable *subtable;
	uint64_t made;  /**< larger than that of earlier groups */
	uint32_t id;    /**< in the table's big or single groups */
	uint32_t start; /**< index of its first entry */
	uint32_t size;
	uint32_t nb_ftes;
	struct shca_idtable ftes; /**< by index */
};

struct shca_table_subtable {
	struct shca_subtable *subtable;
	uint32_t lowest_start; /**< copy of the subtable's */
	uint32_t mask_hash;
};

struct shca_table {
	const struct shca_table_layout *layout;
	struct shca_table_firmware *firmware;
	uint32_t level;
	bool dont_trap; /**< a hit that does not drop goes on with the next table */

	struct shca_table_subtable *subtables; /**< by lowest_start */
	uint32_t nb_subtables, subtables_capacity;
	uint64_t fields; /**< union of the subtables' */

	struct shca_idtable big;    /**< groups by number */
	struct shca_idtable single; /**< groups by index of their entry */
	uint32_t nb_big, nb_single;
	uint64_t nb_groups_made; /**< since shca_table_init() */
	uint32_t nb_forwarding;  /**< entries that forward to the next table */

	/** The most destinations that any entry has had since the table was last empty. */
	uint32_t max_destinations;
};

/** @param firmware borrowed */
void shca_table_init(struct shca_table *table, const struct shca_table_layout *layout,
	struct shca_table_firmware *firmware, uint32_t level, bool dont_trap);
/** All entries must be gone. */
void shca_table_fini(struct shca_table *table);

/** @return the entry that a packet with @p key hits, or NULL. */
struct shca_fte *shca_table_find(const struct shca_table *table, const union shca_match_key *key);

/** @return 0, or why a rule cannot be added: -EEXIST, -EINVAL (shca_fte_check()) or -ENOSPC. */
int shca_table_check(const struct shca_table *table, const struct shca_match *match,
	const struct shca_fte_action *action);
/** Add a rule after shca_table_check(). @return 0 and its entry in @p fte, or -ENOMEM without any
 * change. */
int shca_table_add(struct shca_table *table, const struct shca_match *match,
	const struct shca_fte_action *action, struct shca_fte **fte);
/** Delete a rule that was added with @p action. */
void shca_table_del(
	struct shca_table *table, struct shca_fte *fte, const struct shca_fte_action *action);

#endif /* SHCA_STEERING_TABLE_H */
