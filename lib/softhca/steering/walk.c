/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk: the order of tables, and the effect of a hit in each. */
#include <string.h>

#include "steering/state.h"
#include "steering/steering.h"
#include "steering/trace.h"

static inline void
count(struct shca_fte *fte, uint64_t nb_packets, uint64_t bytes)
{
	fte->packets += nb_packets;
	fte->bytes += bytes;
	for (uint32_t i = 0; fte->counts && i < fte->counters.nb; i++) {
		struct shca_flow_counter *counter = fte->counters.user[i].object;

		counter->packets += nb_packets;
		counter->bytes += bytes;
	}
}

/** Count a packet at an entry, and add the entry to the trail, for packets that hit the cache. */
static void
note_hit(struct shca_steering *steering, struct shca_fte *fte, const struct shca_packet *packet)
{
	struct shca_cache_trail *trail = &steering->trail;

	count(fte, 1, packet->length);
	if (trail->nb_ftes < SHCA_CACHE_FTES)
		trail->fte[trail->nb_ftes] = fte;
	trail->nb_ftes++;
}

/** Copy a packet to the entry's destinations. */
static void
copy(struct shca_steering *steering, const struct shca_fte *fte, struct shca_verdict *verdict)
{
	for (uint32_t i = 0; i < fte->destinations.nb; i++)
		steering->destinations[verdict->nb_destinations++] = (struct shca_destination){
			.tir = fte->destinations.user[i].object,
			.flow_tag = fte->flow_tag,
		};
}

/**
 * @param trace NULL: the packet is real
 * @return the entry hit, or NULL.
 */
static struct shca_fte *
look_up(struct shca_steering *steering, const struct shca_table *table,
	const union shca_match_key *key, const struct shca_packet *packet, struct shca_trace *trace)
{
	struct shca_fte *fte = shca_table_find(table, key);

	if (trace != NULL)
		trace->look_up(trace, table, fte);
	else if (fte != NULL)
		note_hit(steering, fte, packet);
	return fte;
}

/** The walk's next step after an entry. */
enum then {
	END,
	NEXT,  /* go on with the next table */
	LEAVE, /* leave the tables of rules */
	WAIT,  /* return for the caller to change the frame */
};

static enum then
behind(const struct shca_table *table, const struct shca_fte *fte)
{
	if (fte->drop)
		return END;
	if (fte->nb_leaving != 0)
		return LEAVE;
	return table->dont_trap ? NEXT : END;
}

/** Walk the tables of a path from number @p i on. @return END, LEAVE or WAIT. */
static enum then
walk_path(struct shca_steering *steering, const struct shca_state_path *path, unsigned int i,
	const union shca_match_key *key, const struct shca_packet *packet,
	struct shca_verdict *verdict, struct shca_trace *trace)
{
	for (; i < path->nb_tables; i++) {
		const struct shca_table *table = path->table[i];
		const struct shca_fte *fte = look_up(steering, table, key, packet, trace);
		enum then then;

		if (fte == NULL)
			continue;
		if (shca_modify_is_any(&fte->modify_set) && !fte->drop) {
			verdict->modify_set = &fte->modify_set;
			verdict->waits_at = fte;
			verdict->waits_in = i;
			return WAIT;
		}
		copy(steering, fte, verdict);
		verdict->dropped = fte->drop;
		then = behind(table, fte);
		if (then != NEXT)
			return then;
	}
	return LEAVE;
}

/** @return whether a unicast address is one that the netdev lists (Linux en_fs.c,
 * mlx5e_sync_netdev_addr). */
static bool
is_listed(const struct shca_kernel_filter *kernel, const uint8_t *mac)
{
	for (unsigned int i = 0; i < kernel->nb_macs; i++)
		if (memcmp(kernel->macs[i], mac, sizeof(kernel->macs[i])) == 0)
			return true;
	return memcmp(mac, kernel->mac, sizeof(kernel->mac)) == 0;
}

/** As the netdev's own flow tables: its MACs, broadcast, joined groups, all when promiscuous. */
static enum shca_trace_kernel
ask_kernel(const struct shca_kernel_filter *kernel, const struct shca_packet *packet)
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const uint8_t *dst_mac = packet->bytes;

	if (!kernel->present)
		return SHCA_TRACE_KERNEL_ABSENT;
	if (kernel->promiscuous)
		return SHCA_TRACE_KERNEL_PROMISCUOUS;
	if (!packet->outer.valid)
		return SHCA_TRACE_KERNEL_NO_ETHERNET;
	if (dst_mac[0] & 1)
		return !kernel->no_multicast || memcmp(dst_mac, broadcast, 6) == 0
			? SHCA_TRACE_KERNEL_GROUP
			: SHCA_TRACE_KERNEL_NOT_JOINED;
	return is_listed(kernel, dst_mac) ? SHCA_TRACE_KERNEL_OWN_ADDRESS
					  : SHCA_TRACE_KERNEL_OTHER_ADDRESS;
}

static void
start(struct shca_steering *steering, struct shca_verdict *verdict)
{
	*verdict = (struct shca_verdict){ .destination = steering->destinations };
	steering->trail.nb_ftes = 0;
}

/** Look into a table whose hits only copy. */
static void
copy_by(struct shca_steering *steering, const struct shca_table *table,
	const union shca_match_key *key, const struct shca_packet *packet,
	struct shca_verdict *verdict, struct shca_trace *trace)
{
	const struct shca_fte *fte = look_up(steering, table, key, packet, trace);

	if (fte != NULL)
		copy(steering, fte, verdict);
}

/** @return the entry of the netdev's own rules, or of its flows, that the frame hits, or NULL. */
static const struct shca_fte *
ask_netdev(struct shca_steering *steering, const struct shca_state_path *path,
	const union shca_match_key *key, const struct shca_packet *packet, struct shca_trace *trace)
{
	const struct shca_fte *fte = NULL;

	for (unsigned int i = 0; i < path->nb_tables && fte == NULL; i++)
		fte = look_up(steering, path->table[i], key, packet, trace);
	return fte;
}

/** Walk what follows the tables of rules: ethtool, netdev with aRFS, leftovers. */
static void
leave(struct shca_steering *steering, const union shca_match_key *key,
	const struct shca_packet *packet, struct shca_verdict *verdict, struct shca_trace *trace)
{
	const struct shca_fte *fte =
		ask_netdev(steering, &steering->ethtool_path, key, packet, trace);
	enum shca_trace_kernel answer;

	if (fte != NULL && fte->drop) {
		verdict->dropped = true;
		return;
	}
	answer = fte != NULL ? SHCA_TRACE_KERNEL_RULE : ask_kernel(&steering->kernel, packet);
	/* Behind the netdev's filter, as in mlx5e; a hit names the queue: a TAP has one. */
	if (answer > SHCA_TRACE_KERNEL_RULE || answer == SHCA_TRACE_KERNEL_PROMISCUOUS)
		ask_netdev(steering, &steering->arfs_path, key, packet, trace);
	if (trace != NULL)
		trace->kernel = answer;
	verdict->to_kernel = answer >= SHCA_TRACE_KERNEL_PROMISCUOUS;
	if (!verdict->to_kernel)
		copy_by(steering, &steering->leftovers, key, packet, verdict, trace);
}

/** Walk all tables, for a frame that the cache does not have. */
static void
walk_rx(struct shca_steering *steering, const union shca_match_key *key,
	const struct shca_packet *packet, struct shca_verdict *verdict, struct shca_trace *trace)
{
	start(steering, verdict);
	copy_by(steering, &steering->sniffer_rx, key, packet, verdict, trace);
	if (walk_path(steering, &steering->rx_path, 0, key, packet, verdict, trace) == LEAVE)
		leave(steering, key, packet, verdict, trace);
}

/** Go on after an entry has changed the frame: its destinations get the changed one first. */
static void
walk_rx_on(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict, struct shca_trace *trace)
{
	const struct shca_state_path *path = &steering->rx_path;
	const struct shca_fte *fte = verdict->waits_at;
	const unsigned int in = verdict->waits_in;
	union shca_match_key key;
	enum then then;

	*verdict = (struct shca_verdict){ .destination = steering->destinations };
	copy(steering, fte, verdict);
	shca_field_key(packet, path->fields, &key);
	then = behind(path->table[in], fte);
	if (then == NEXT)
		then = walk_path(steering, path, in + 1, &key, packet, verdict, trace);
	if (then == LEAVE)
		leave(steering, &key, packet, verdict, trace);
}

void
shca_walk_rx_on(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict)
{
	walk_rx_on(steering, packet, verdict, NULL);
}

void
shca_walk_trace(
	struct shca_steering *steering, struct shca_trace *trace, struct shca_verdict *verdict)
{
	union shca_match_key key;

	shca_field_key(trace->packet, steering->rx_path.fields, &key);
	walk_rx(steering, &key, trace->packet, verdict, trace);
}

void
shca_walk_trace_on(
	struct shca_steering *steering, struct shca_trace *trace, struct shca_verdict *verdict)
{
	walk_rx_on(steering, trace->packet, verdict, trace);
}

void
shca_walk_rx(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict)
{
	struct shca_cache_line *line;
	union shca_match_key key;
	bool is_known;

	if (steering->cache.generation != steering->generation)
		shca_steering_renew_cache(steering);
	shca_field_key(packet, steering->rx_path.fields, &key);
	line = shca_cache_find(&steering->cache, &key, &is_known);
	if (line == NULL) {
		walk_rx(steering, &key, packet, verdict, NULL);
		return;
	}
	if (!is_known) {
		walk_rx(steering, &key, packet, verdict, NULL);
		shca_cache_put(&steering->cache, line, &steering->trail, verdict);
		return;
	}
	shca_walk_count(&line->trail, 1, packet->length);
	steering->trail = line->trail;
	*verdict = line->verdict;
}

const struct shca_cache_trail *
shca_walk_trail(const struct shca_steering *steering)
{
	return steering->trail.nb_ftes <= SHCA_CACHE_FTES ? &steering->trail : NULL;
}

void
shca_walk_count(const struct shca_cache_trail *trail, uint64_t nb_frames, uint64_t bytes)
{
	for (uint32_t i = 0; i < trail->nb_ftes; i++)
		count(trail->fte[i], nb_frames, bytes);
}

static void
walk_tx(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict, struct shca_trace *trace)
{
	union shca_match_key key;

	start(steering, verdict);
	shca_field_key(packet, steering->tx_path.fields, &key);
	copy_by(steering, &steering->sniffer_tx, &key, packet, verdict, trace);
	walk_path(steering, &steering->tx_path, 0, &key, packet, verdict, trace);
}

void
shca_walk_trace_tx(
	struct shca_steering *steering, struct shca_trace *trace, struct shca_verdict *verdict)
{
	walk_tx(steering, trace->packet, verdict, trace);
}

void
shca_walk_tx(struct shca_steering *steering, const struct shca_packet *packet,
	struct shca_verdict *verdict)
{
	walk_tx(steering, packet, verdict, NULL);
}
