/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the default rules as a set, compares it with the installed one, and applies the
 * difference. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "base/log.h"
#include "flow/match/flow_build.h"
#include "flow/match/flow_dump.h"
#include "flow/match/flow_error.h"
#include "flow_default.h"
#include "flow_state.h"
#include "state/port.h"

/** Two sets, in the order of their tables. */
enum {
	DEFAULT_SET_FIRST = 1,
	DEFAULT_SET_LAST,
};

/** A destination for each hash class of the port's RSS types. */
struct default_targets {
	enum mdv_sniff sniff;
	uint32_t set;     /* the set whose rules go to these destinations */
	uint32_t similar; /* a set with the same classes, with its tables in the right order; 0:
			     none */
	unsigned int nb;
	struct mdv_rss_expansion expansions[MDV_RSS_NB_CLASSES];
	struct mdv_flow_dest *dest[MDV_RSS_NB_CLASSES];
	struct mdv_flow_default_rule *last; /* the rule found last; NULL: none */
};

static const struct mdv_flow_default_match match_everything;
static const struct mdv_flow_default_match match_multicast = { .dst = { 1 }, .mask = { 1 } };
static const struct mdv_flow_default_match match_broadcast = {
	.dst = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	.mask = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
};
/** IPv6 neighbour discovery works without any call of the application; RFC 2464, section 7. */
static const struct mdv_flow_default_match match_ipv6_multicast = { .dst = { 0x33, 0x33 },
	.mask = { 0xff, 0xff } };

/** Matches as the port's state asks for them. */
struct default_matches {
	struct mdv_flow_default_match *matches; /* the first room ones */
	uint32_t room, nb;                      /* nb counts those without room, too */
};

static void
default_add(struct default_matches *list, const struct mdv_flow_default_match *tag,
	const struct mdv_flow_default_match *match)
{
	if (list->nb < list->room) {
		list->matches[list->nb] = *match;
		list->matches[list->nb].tci = tag->tci;
		list->matches[list->nb].tci_mask = tag->tci_mask;
	}
	list->nb++;
}

static void
default_add_mac(struct default_matches *list, const struct mdv_flow_default_match *tag,
	const struct rte_ether_addr *mac)
{
	struct mdv_flow_default_match match = { .tci_mask = 0 };

	memcpy(match.dst, mac->addr_bytes, sizeof(match.dst));
	memset(match.mask, 0xff, sizeof(match.mask));
	default_add(list, tag, &match);
}

/** Add the addresses that the port takes, each with the VLAN of @p tag. */
static void
default_add_all(const struct mdv_port *port, const struct mdv_flow_default_match *tag,
	struct default_matches *list)
{
	const struct rte_eth_dev_data *data = port->dev->data;

	for (unsigned int i = 0; i < MDV_MAC_MAX; i++)
		if (!rte_is_zero_ether_addr(&data->mac_addrs[i]))
			default_add_mac(list, tag, &data->mac_addrs[i]);
	if (data->all_multicast) {
		default_add(list, tag, &match_multicast);
		return;
	}
	default_add(list, tag, &match_broadcast);
	default_add(list, tag, &match_ipv6_multicast);
	for (uint32_t i = 0; i < port->nb_mc; i++)
		default_add_mac(list, tag, &port->mc_list[i]);
}

/** @return whether the VLAN filter lets only some VLANs through */
static bool
default_add_vlans(const struct mdv_port *port, struct default_matches *list)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	const uint64_t *ids = data->vlan_filter_conf.ids;
	bool any = false;

	if ((data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) == 0)
		return false;
	for (unsigned int i = 0; i < RTE_DIM(data->vlan_filter_conf.ids); i++)
		for (uint64_t left = ids[i]; left != 0; left &= left - 1) {
			const uint16_t vid = 64 * i + __builtin_ctzll(left);
			const struct mdv_flow_default_match tag = { .tci = rte_cpu_to_be_16(vid),
				.tci_mask = RTE_BE16(0xfff) };

			any = true;
			default_add_all(port, &tag, list);
		}
	return any;
}

uint32_t
mdv_flow_default_matches(
	const struct mdv_port *port, struct mdv_flow_default_match *matches, uint32_t room)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	struct default_matches list = { .matches = matches, .room = room };

	if (port->isolated || port->nb_reta == 0 || data->nb_rx_queues == 0)
		return 0;
	/* A SNIFFER rule has no match and sees every packet. */
	if (data->promiscuous || port->config.sniff == MDV_SNIFF_ALL)
		default_add(&list, &match_everything, &match_everything);
	else if (!default_add_vlans(port, &list))
		default_add_all(port, &match_everything, &list);
	return list.nb;
}

static void
default_targets_put(struct default_targets *targets)
{
	for (unsigned int i = 0; i < targets->nb; i++)
		mdv_flow_dest_put(targets->dest[i]);
	targets->nb = 0;
}

static int
default_targets_get(struct mdv_port *port, struct default_targets *targets)
{
	/* A SNIFFER rule has no match that could separate the hash classes. */
	uint64_t types =
		port->config.sniff == MDV_SNIFF_ALL ? 0 : port->rss_types & port->flow->rss_types;
	unsigned int nb = mdv_rss_expand(MDV_LAYER_ETH, types, targets->expansions);
	struct mdv_flow_dest_conf conf = {
		.key = port->rss_key,
		.queues = port->reta,
		.nb_queues = port->nb_reta,
	};

	targets->sniff = port->config.sniff;
	for (targets->nb = 0; targets->nb < nb; targets->nb++) {
		int ret;

		conf.fields = mdv_rss_classes[targets->expansions[targets->nb].id].fields;
		ret = mdv_flow_dest_get(port, &conf, &targets->dest[targets->nb]);
		if (ret != 0) {
			default_targets_put(targets);
			return ret;
		}
	}
	return 0;
}

static bool
default_same_classes(
	const struct mdv_flow_default_rule *rule, const struct default_targets *targets)
{
	if (rule->sniff != targets->sniff || rule->nb_parts != targets->nb)
		return false;
	for (unsigned int i = 0; i < targets->nb; i++)
		if (rule->parts[i].id != targets->expansions[i].id)
			return false;
	return true;
}

static bool
default_same_targets(
	const struct mdv_flow_default_rule *rule, const struct default_targets *targets)
{
	if (!default_same_classes(rule, targets))
		return false;
	for (unsigned int i = 0; i < targets->nb; i++)
		if (rule->parts[i].dest != targets->dest[i])
			return false;
	return true;
}

/** There are at most two sets, the old one and the new one. Each has its own level, before or
 * behind the other's, so they take turns. */
static void
default_choose_set(struct mdv_port *port, struct default_targets *targets)
{
	const struct mdv_flow_default_rule *rule;

	targets->set = DEFAULT_SET_LAST;
	targets->similar = 0;
	TAILQ_FOREACH (rule, &port->flow->defaults, next) {
		if (default_same_targets(rule, targets)) {
			targets->set = rule->set;
			return;
		}
		if (default_same_classes(rule, targets))
			targets->similar = rule->set;
		targets->set = rule->set == DEFAULT_SET_LAST ? DEFAULT_SET_FIRST : DEFAULT_SET_LAST;
	}
}

/** Find the installed rule. Rules are mostly looked up in the order of their creation, so the
 * search begins behind the last one found. */
static struct mdv_flow_default_rule *
default_find(struct mdv_port *port, const struct mdv_flow_default_match *match,
	struct default_targets *targets)
{
	struct mdv_flow_default_rule *rule = targets->last;
	unsigned int ends = 0;

	while (ends < 2) {
		rule = rule != NULL ? TAILQ_NEXT(rule, next) : TAILQ_FIRST(&port->flow->defaults);
		if (rule == NULL) {
			ends++;
			continue;
		}
		if (memcmp(&rule->match, match, sizeof(*match)) == 0 &&
			default_same_targets(rule, targets)) {
			targets->last = rule;
			return rule;
		}
	}
	return NULL;
}

static void
default_build_match(const struct mdv_flow_default_match *match, struct mdv_flow_build *build)
{
	mdv_flow_build_eth(build, match->dst, match->mask);
	if (match->tci_mask != 0)
		mdv_flow_build_vlan(build, match->tci, match->tci_mask);
}

int
mdv_flow_default_build(const struct mdv_port *port, const struct mdv_flow_default_rule *rule,
	enum mdv_rss_class_id id, uint8_t level, struct mdv_flow_build *build)
{
	int ret;

	if (rule->sniff == MDV_SNIFF_ALL) {
		mdv_flow_build_init(build);
		build->attr.type = IBV_FLOW_ATTR_SNIFFER;
		return mdv_flow_build_finish(build, 0, port->device.port_num, false);
	}
	default_build_match(&rule->match, build);
	ret = mdv_flow_build_add_layers(build, mdv_rss_classes[id].layers & ~build->layers);
	if (ret == 0)
		ret = mdv_flow_build_finish(
			build, level, port->device.port_num, rule->sniff == MDV_SNIFF_RX);
	return ret;
}

/** Destroy the last part first: the more general parts go before the more specific ones. */
static void
default_clear_parts(
	struct mdv_port *port, const struct mdv_flow_default_part *parts, unsigned int nb)
{
	while (nb != 0) {
		int ret = ibv_destroy_flow(parts[--nb].flow);

		if (ret != 0)
			MDV_LOG(ERR, "port %u: a default rule stays in the device: %s",
				port->dev->data->port_id, strerror(ret));
	}
}

/** Fill in parts[].flow: all or none. */
static int
default_create_parts(struct mdv_port *port, const struct mdv_flow_default_rule *rule, uint8_t level,
	struct mdv_flow_default_part *parts)
{
	for (unsigned int i = 0; i < rule->nb_parts; i++) {
		struct mdv_flow_build build;
		int ret = mdv_flow_default_build(port, rule, parts[i].id, level, &build);

		if (ret == 0) {
			mdv_flow_dump_log(port->dev->data->port_id, &build);
			errno = 0;
			parts[i].flow =
				ibv_create_flow(mdv_flow_dest_qp(parts[i].dest), &build.attr);
			if (parts[i].flow == NULL)
				ret = errno != 0 ? -errno : -EINVAL;
		}
		if (ret != 0) {
			default_clear_parts(port, parts, i);
			return ret;
		}
	}
	return 0;
}

int
mdv_flow_default_move(struct mdv_port *port, struct mdv_flow_level_rule *level_rule, uint8_t level)
{
	struct mdv_flow_default_rule *rule =
		container_of(level_rule, struct mdv_flow_default_rule, level);
	struct mdv_flow_default_part parts[MDV_RSS_NB_CLASSES];
	int ret;

	memcpy(parts, rule->parts, sizeof(parts));
	ret = default_create_parts(port, rule, level, parts);
	if (ret != 0)
		return ret;
	default_clear_parts(port, rule->parts, rule->nb_parts);
	memcpy(rule->parts, parts, sizeof(parts));
	return 0;
}

static void
default_destroy(struct mdv_port *port, struct mdv_flow_default_rule *rule)
{
	default_clear_parts(port, rule->parts, rule->nb_parts);
	mdv_flow_level_del(&port->flow->levels, &rule->level);
	TAILQ_REMOVE(&port->flow->defaults, rule, next);
	for (unsigned int i = 0; i < rule->nb_parts; i++)
		mdv_flow_dest_put(rule->parts[i].dest);
	free(rule);
}

/** If no level is free, a new set goes to the table of the old one. Until the old set goes,
 * packets arrive twice, but no packet is missed. */
static int
default_get_level(struct mdv_port *port, struct default_targets *targets,
	struct mdv_flow_default_rule *rule, uint8_t *level)
{
	struct mdv_flow_match match;
	struct mdv_flow_level_want want = {
		.priority = MDV_FLOW_LEVEL_DEFAULT,
		.copies = rule->sniff == MDV_SNIFF_RX,
		.set = targets->set,
		.nb_masks = 1,
		.match = &match,
	};
	struct mdv_flow_build build;
	int ret;

	*level = 0;
	rule->set = targets->set;
	if (rule->sniff == MDV_SNIFF_ALL)
		return 0; /* it has a pipeline of its own */
	default_build_match(&rule->match, &build);
	ret = mdv_flow_key_match(&build, &match);
	if (ret != 0)
		return ret;
	mdv_flow_key_hash(&match, &want.masks[0], &want.hash);
	ret = mdv_flow_level_add(&port->flow->levels, &want, &rule->level);
	if (ret == -ENOSPC && targets->similar != 0) {
		targets->set = targets->similar;
		want.set = targets->similar;
		rule->set = targets->similar;
		ret = mdv_flow_level_add(&port->flow->levels, &want, &rule->level);
	}
	if (ret == 0)
		*level = mdv_flow_level_of(&rule->level);
	return ret;
}

static int
default_create(struct mdv_port *port, const struct mdv_flow_default_match *match,
	struct default_targets *targets, struct mdv_flow_default_rule *rule)
{
	uint8_t level;
	int ret;

	rule->match = *match;
	rule->sniff = targets->sniff;
	rule->wanted = true;
	rule->nb_parts = targets->nb;
	for (unsigned int i = 0; i < targets->nb; i++) {
		rule->parts[i].id = targets->expansions[i].id;
		rule->parts[i].dest = targets->dest[i];
	}
	ret = default_get_level(port, targets, rule, &level);
	if (ret != 0)
		return ret;
	ret = default_create_parts(port, rule, level, rule->parts);
	if (ret != 0)
		mdv_flow_level_del(&port->flow->levels, &rule->level);
	return ret;
}

/** Mark the rule as wanted, and install it if it is missing. */
static int
default_want(struct mdv_port *port, const struct mdv_flow_default_match *match,
	struct default_targets *targets)
{
	struct mdv_flow_default_rule *rule = default_find(port, match, targets);
	int ret;

	if (rule != NULL) {
		rule->wanted = true;
		return 0;
	}
	rule = calloc(1, sizeof(*rule));
	if (rule == NULL)
		return -ENOMEM;
	ret = default_create(port, match, targets, rule);
	if (ret != 0) {
		free(rule);
		return ret;
	}
	for (unsigned int i = 0; i < rule->nb_parts; i++)
		mdv_flow_dest_hold(rule->parts[i].dest);
	TAILQ_INSERT_TAIL(&port->flow->defaults, rule, next);
	return 0;
}

/** Destroy the new rules, which are behind the old ones in the list. @p last_old NULL: there were
 * no old ones. */
static void
default_undo(struct mdv_port *port, const struct mdv_flow_default_rule *last_old)
{
	struct mdv_flow_default_rule *rule;

	while ((rule = TAILQ_LAST(&port->flow->defaults, mdv_flow_default_list)) != last_old)
		default_destroy(port, rule);
}

static void
default_sweep(struct mdv_port *port)
{
	struct mdv_flow_default_rule *rule, *next;

	for (rule = TAILQ_FIRST(&port->flow->defaults); rule != NULL; rule = next) {
		next = TAILQ_NEXT(rule, next);
		if (!rule->wanted)
			default_destroy(port, rule);
	}
}

/** Add before removing: no packet of the old or the new set slips to the kernel. */
static int
default_replace(struct mdv_port *port, const struct mdv_flow_default_match *matches, uint32_t nb,
	struct default_targets *targets)
{
	const struct mdv_flow_default_rule *last_old =
		TAILQ_LAST(&port->flow->defaults, mdv_flow_default_list);
	struct mdv_flow_default_rule *rule;

	default_choose_set(port, targets);
	TAILQ_FOREACH (rule, &port->flow->defaults, next)
		rule->wanted = false;
	for (uint32_t i = 0; i < nb; i++) {
		int ret = default_want(port, &matches[i], targets);

		if (ret != 0) {
			default_undo(port, last_old);
			return ret;
		}
	}
	default_sweep(port);
	return 0;
}

/**
 * List the matches that the port's state asks for. ethdev writes some of that state without
 * flow.lock around the driver's operations (promiscuous, mac_addrs), and a polling thread that
 * recovers a queue comes here at any time, so there may be more than were counted before; the
 * operation itself applies the new state once more.
 * @return 0 or -ENOMEM
 */
static int
default_list(const struct mdv_port *port, struct mdv_flow_default_match **matches, uint32_t *nb)
{
	uint32_t room;

	*matches = NULL;
	*nb = mdv_flow_default_matches(port, NULL, 0);
	do {
		room = *nb;
		free(*matches);
		*matches = room != 0 ? calloc(room, sizeof(**matches)) : NULL;
		if (room != 0 && *matches == NULL)
			return -ENOMEM;
		*nb = mdv_flow_default_matches(port, *matches, room);
	} while (*nb > room);
	return 0;
}

int
mdv_flow_default_apply(struct mdv_port *port)
{
	struct default_targets targets = { .nb = 0 };
	struct mdv_flow_default_match *matches;
	uint32_t nb;
	int ret = default_list(port, &matches, &nb);

	if (ret == 0 && nb == 0) {
		mdv_flow_default_clear(port);
	} else if (ret == 0) {
		ret = default_targets_get(port, &targets);
		if (ret == 0)
			ret = default_replace(port, matches, nb, &targets);
		default_targets_put(&targets);
	}
	free(matches);
	if (ret != 0)
		MDV_LOG(ERR, "port %u: default steering was refused (errno %d): %s",
			port->dev->data->port_id, -ret, mdv_flow_error_advice(-ret));
	return ret;
}

void
mdv_flow_default_clear(struct mdv_port *port)
{
	default_undo(port, NULL);
}

void
mdv_flow_default_set_groups(struct mdv_port *port, struct rte_ether_addr *list, uint32_t nb)
{
	pthread_mutex_lock(&port->flow->lock);
	port->mc_list = list;
	port->nb_mc = nb;
	pthread_mutex_unlock(&port->flow->lock);
}

bool
mdv_flow_default_has_group(const struct mdv_port *port, const struct rte_ether_addr *mac)
{
	bool found = false;

	pthread_mutex_lock(&port->flow->lock);
	for (uint32_t i = 0; i < port->nb_mc && !found; i++)
		found = rte_is_same_ether_addr(&port->mc_list[i], mac);
	pthread_mutex_unlock(&port->flow->lock);
	return found;
}

int
mdv_flow_default_update(struct mdv_port *port)
{
	int ret = 0;

	pthread_mutex_lock(&port->flow->lock);
	if (port->flow->active)
		ret = mdv_flow_default_apply(port);
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}
