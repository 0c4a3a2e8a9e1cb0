/* SPDX-License-Identifier: BSD-3-Clause */
/* The steering object and its set of tables. */
#include "steering/steering.h"

#include <errno.h>
#include <stdlib.h>

#include "steering/state.h"

enum {
	/* Levels in the device; Linux's source does not fix those past 32. */
	LEVEL_ETHTOOL = 34,
	LEVEL_ARFS = 50,
	LEVEL_LEFTOVERS = 60,
	LEVEL_SNIFFER = 0,
};

/** mlx5_ib MLX5_FS_MAX_ENTRIES and MLX5_FS_MAX_TYPES, sizes rounded up to the pools of
 * fs_ft_pool.c.
 */
static const struct shca_table_layout layout_rx = { "NIC_RX", 65536, 6, 65536 / 7 };
static const struct shca_table_layout layout_tx = { "NIC_TX", 65536, 6, 65536 / 7 };
/** Linux en_fs_ethtool.c: 64000 entries, which the pool rounds up, and 10 groups. */
static const struct shca_table_layout layout_ethtool = { "NIC_RX", 65536, 10, 65536 / 11, true,
	"ethtool" };
/** Linux en_arfs.c: a group of 2^16 - 1 flows, and one of a single entry. */
static const struct shca_table_layout layout_arfs = { "NIC_RX", 65536, 1, 65535, true, "aRFS" };
static const struct shca_table_layout layout_leftovers = { "NIC_RX", 128, 2, 128 / 3 };
static const struct shca_table_layout layout_sniffer_rx = { "SNIFFER_RX", 1, 0, 0 };
static const struct shca_table_layout layout_sniffer_tx = { "SNIFFER_TX", 1, 0, 0 };

struct shca_steering *
shca_steering_create(const struct shca_steering_conf *conf)
{
	struct shca_steering *steering = calloc(1, sizeof(*steering));
	struct shca_table_firmware *firmware;

	if (steering == NULL)
		return NULL;
	if (shca_cache_init(&steering->cache) != 0) {
		free(steering);
		return NULL;
	}
	steering->conf = *conf;
	firmware = &steering->firmware;
	firmware->limits = (struct shca_fte_limits){
		.destinations = conf->max_fte_destinations,
		.counters = conf->max_fte_counters,
	};
	steering->generation = 1;
	steering->nb_queues = SHCA_ETHTOOL_QUEUES;
	for (unsigned int i = 0; i < SHCA_STATE_NB_CORE_PRIORITIES; i++) {
		bool dont_trap = i % 2 == 0 && i != SHCA_STATE_MULTICAST_PRIORITY;

		shca_table_init(&steering->rx[i], &layout_rx, firmware, i, dont_trap);
		shca_table_init(&steering->tx[i], &layout_tx, firmware, i, dont_trap);
	}
	for (unsigned int i = 0; i < SHCA_ETHTOOL_TABLES; i++)
		shca_table_init(
			&steering->ethtool[i], &layout_ethtool, firmware, LEVEL_ETHTOOL + i, false);
	for (unsigned int i = 0; i < SHCA_ARFS_TABLES; i++)
		shca_table_init(
			&steering->arfs.table[i], &layout_arfs, firmware, LEVEL_ARFS, false);
	shca_table_init(&steering->leftovers, &layout_leftovers, firmware, LEVEL_LEFTOVERS, false);
	shca_table_init(&steering->sniffer_rx, &layout_sniffer_rx, firmware, LEVEL_SNIFFER, false);
	shca_table_init(&steering->sniffer_tx, &layout_sniffer_tx, firmware, LEVEL_SNIFFER, false);
	return steering;
}

static void
drop_ethtool_rule(const struct shca_state_ethtool *rule)
{
	struct shca_fte_action action;

	if (rule->table == NULL)
		return;
	action = (struct shca_fte_action){ .drop = rule->fte->drop };
	shca_table_del(rule->table, rule->fte, &action);
}

static void
drop_flow(const struct shca_state_flow *flow)
{
	static const struct shca_fte_action action = { .drop = false };

	if (flow->table != NULL)
		shca_table_del(flow->table, flow->fte, &action);
}

void
shca_steering_destroy(struct shca_steering *steering)
{
	if (steering == NULL)
		return;
	/* These rules belong to the netdev, so no verbs object has deleted them. */
	for (unsigned int i = 0; i < SHCA_ETHTOOL_LOCATIONS; i++)
		drop_ethtool_rule(&steering->ethtool_rule[i]);
	for (unsigned int i = 0; i < SHCA_ARFS_FLOWS; i++)
		drop_flow(&steering->arfs.flow[i]);
	for (unsigned int i = 0; i < SHCA_ARFS_TABLES; i++)
		shca_table_fini(&steering->arfs.table[i]);
	for (unsigned int i = 0; i < SHCA_ETHTOOL_TABLES; i++)
		shca_table_fini(&steering->ethtool[i]);
	for (unsigned int i = 0; i < SHCA_STATE_NB_CORE_PRIORITIES; i++) {
		shca_table_fini(&steering->rx[i]);
		shca_table_fini(&steering->tx[i]);
	}
	shca_table_fini(&steering->leftovers);
	shca_table_fini(&steering->sniffer_rx);
	shca_table_fini(&steering->sniffer_tx);
	shca_cache_fini(&steering->cache);
	free(steering->destinations);
	free(steering);
}

void
shca_steering_set_kernel(struct shca_steering *steering, const struct shca_kernel_filter *filter)
{
	steering->kernel = *filter;
	steering->generation++;
}

unsigned int
shca_steering_nb_receiving(const struct shca_steering *steering)
{
	return steering->nb_receiving;
}

uint64_t
shca_steering_generation(const struct shca_steering *steering)
{
	return steering->generation;
}

const struct shca_steering_commands *
shca_steering_commands(const struct shca_steering *steering)
{
	return &steering->firmware.commands;
}

void
shca_steering_connect(struct shca_steering *steering, const struct shca_table *table)
{
	struct shca_steering_commands *commands = &steering->firmware.commands;

	commands->tables++;
	if (table < steering->rx || table >= steering->rx + SHCA_STATE_NB_CORE_PRIORITIES)
		return; /* behind the netdev's tables, or no rule there forwards */
	while (table-- != steering->rx) {
		if (table->nb_subtables == 0)
			continue;
		commands->rewrites += table->nb_forwarding;
		return;
	}
}

bool
shca_steering_walks_tx(const struct shca_steering *steering)
{
	return steering->tx_path.nb_tables != 0 || steering->sniffer_tx.nb_subtables != 0;
}

/** @return the most destinations a packet can get: it hits at most one entry a table. */
static uint32_t
max_destinations(const struct shca_steering *steering)
{
	uint32_t nb = steering->leftovers.max_destinations + steering->sniffer_rx.max_destinations;

	for (unsigned int i = 0; i < SHCA_STATE_NB_CORE_PRIORITIES; i++)
		nb += steering->rx[i].max_destinations;
	if (nb < steering->sniffer_tx.max_destinations)
		nb = steering->sniffer_tx.max_destinations;
	return nb;
}

int
shca_steering_reserve(struct shca_steering *steering, uint32_t more)
{
	uint32_t needed = max_destinations(steering) + more;

	if (needed <= steering->destinations_capacity)
		return 0;

	uint32_t capacity = needed * 2;
	void *destinations =
		realloc(steering->destinations, capacity * sizeof(struct shca_destination));

	if (destinations == NULL)
		return -ENOMEM;
	steering->destinations = destinations;
	steering->destinations_capacity = capacity;
	return 0;
}

static void
refresh_path(struct shca_state_path *path, struct shca_table *tables, unsigned int nb)
{
	path->nb_tables = 0;
	path->fields = 0;
	for (unsigned int i = 0; i < nb; i++) {
		if (tables[i].nb_subtables == 0)
			continue;
		path->table[path->nb_tables++] = &tables[i];
		path->fields |= tables[i].fields;
	}
}

void
shca_steering_refresh(struct shca_steering *steering)
{
	steering->generation++;
	/* Most rules have a mask that others of their table have. */
	if (steering->paths_made_at == steering->firmware.nb_mask_changes)
		return;
	steering->paths_made_at = steering->firmware.nb_mask_changes;
	refresh_path(&steering->rx_path, steering->rx, SHCA_STATE_NB_CORE_PRIORITIES);
	refresh_path(&steering->ethtool_path, steering->ethtool, SHCA_ETHTOOL_TABLES);
	refresh_path(&steering->arfs_path, steering->arfs.table, SHCA_ARFS_TABLES);
	refresh_path(&steering->tx_path, steering->tx, SHCA_STATE_NB_CORE_PRIORITIES);
	steering->rx_path.fields |= steering->ethtool_path.fields | steering->arfs_path.fields |
		steering->leftovers.fields;
}

static void
look_at(struct shca_cache *cache, const struct shca_table *table)
{
	for (uint32_t i = 0; i < table->nb_subtables; i++)
		shca_cache_look_at(cache, &table->subtables[i].subtable->mask);
}

/** The next walk calls this, not each change: a million rules may come between two frames. */
void
shca_steering_renew_cache(struct shca_steering *steering)
{
	const struct shca_state_path *path = &steering->rx_path;
	struct shca_cache *cache = &steering->cache;
	struct shca_match netdev = { .mask.outer.dst_mac = { 255, 255, 255, 255, 255, 255 } };

	shca_cache_renew(cache, steering->generation);
	for (unsigned int i = 0; i < path->nb_tables; i++)
		look_at(cache, path->table[i]);
	for (unsigned int i = 0; i < steering->ethtool_path.nb_tables; i++)
		look_at(cache, steering->ethtool_path.table[i]);
	for (unsigned int i = 0; i < steering->arfs_path.nb_tables; i++)
		look_at(cache, steering->arfs_path.table[i]);
	look_at(cache, &steering->leftovers);
	look_at(cache, &steering->sniffer_rx);
	/* The netdev's filter looks at the destination MAC and its presence. */
	shca_field_require(&netdev);
	if (steering->kernel.present && !steering->kernel.promiscuous)
		shca_cache_look_at(cache, &netdev.mask);
	shca_cache_plan(cache);
}

static void
visit_one(const struct shca_table *table, void (*visit)(const struct shca_table *table, void *arg),
	void *arg)
{
	if (table->nb_subtables != 0)
		visit(table, arg);
}

void
shca_steering_visit(const struct shca_steering *steering,
	void (*visit)(const struct shca_table *table, void *arg), void *arg)
{
	visit_one(&steering->sniffer_rx, visit, arg);
	for (unsigned int i = 0; i < SHCA_STATE_NB_CORE_PRIORITIES; i++)
		visit_one(&steering->rx[i], visit, arg);
	for (unsigned int i = 0; i < SHCA_ETHTOOL_TABLES; i++)
		visit_one(&steering->ethtool[i], visit, arg);
	for (unsigned int i = 0; i < SHCA_ARFS_TABLES; i++)
		visit_one(&steering->arfs.table[i], visit, arg);
	visit_one(&steering->leftovers, visit, arg);
	visit_one(&steering->sniffer_tx, visit, arg);
	for (unsigned int i = 0; i < SHCA_STATE_NB_CORE_PRIORITIES; i++)
		visit_one(&steering->tx[i], visit, arg);
}
