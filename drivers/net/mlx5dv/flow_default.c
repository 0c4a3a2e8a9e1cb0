/* SPDX-License-Identifier: BSD-3-Clause */
/* Default steering as a set: computed, compared with what is installed, the difference applied. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "flow_build.h"
#include "flow_default.h"
#include "flow_error.h"
#include "log.h"
#include "port.h"

/* A destination for each hash class of the port's RSS types. */
struct default_targets {
	unsigned int nb;
	struct mdv_rss_expansion expansions[MDV_RSS_NB_CLASSES];
	struct mdv_rss *rss[MDV_RSS_NB_CLASSES];
};

static const struct mdv_flow_default_match match_everything;
static const struct mdv_flow_default_match match_multicast = { { 1 }, { 1 } };
static const struct mdv_flow_default_match match_broadcast = {
	{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }
};
/* Neighbour discovery must work without anybody's asking; RFC 2464, section 7. */
static const struct mdv_flow_default_match match_ipv6_multicast = { { 0x33, 0x33 },
	{ 0xff, 0xff } };

static void
default_add(struct mdv_flow_default_match *matches, uint32_t *nb,
	const struct mdv_flow_default_match *match)
{
	if (matches != NULL)
		matches[*nb] = *match;
	(*nb)++;
}

static void
default_add_mac(
	struct mdv_flow_default_match *matches, uint32_t *nb, const struct rte_ether_addr *mac)
{
	struct mdv_flow_default_match match;

	memcpy(match.dst, mac->addr_bytes, sizeof(match.dst));
	memset(match.mask, 0xff, sizeof(match.mask));
	default_add(matches, nb, &match);
}

uint32_t
mdv_flow_default_matches(const struct mdv_port *port, struct mdv_flow_default_match *matches)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	uint32_t nb = 0;

	if (port->isolated || port->nb_reta == 0 || data->nb_rx_queues == 0)
		return 0;
	if (data->promiscuous) {
		default_add(matches, &nb, &match_everything);
		return nb;
	}
	for (unsigned int i = 0; i < MDV_MAC_MAX; i++)
		if (!rte_is_zero_ether_addr(&data->mac_addrs[i]))
			default_add_mac(matches, &nb, &data->mac_addrs[i]);
	if (data->all_multicast) {
		default_add(matches, &nb, &match_multicast);
		return nb;
	}
	default_add(matches, &nb, &match_broadcast);
	default_add(matches, &nb, &match_ipv6_multicast);
	for (uint32_t i = 0; i < port->nb_mc; i++)
		default_add_mac(matches, &nb, &port->mc_list[i]);
	return nb;
}

static void
default_targets_put(struct default_targets *targets)
{
	for (unsigned int i = 0; i < targets->nb; i++)
		mdv_rss_put(targets->rss[i]);
	targets->nb = 0;
}

static int
default_targets_get(struct mdv_port *port, struct default_targets *targets)
{
	unsigned int nb = mdv_rss_expand(MDV_LAYER_ETH,
		port->rss_types & mdv_rss_types(&port->device.caps), targets->expansions);
	struct mdv_rss_conf conf = {
		.key = port->rss_key,
		.queues = port->reta,
		.nb_queues = port->nb_reta,
	};

	for (targets->nb = 0; targets->nb < nb; targets->nb++) {
		int rc;

		conf.fields = mdv_rss_classes[targets->expansions[targets->nb].id].fields;
		rc = mdv_rss_get(port, &conf, &targets->rss[targets->nb]);
		if (rc != 0) {
			default_targets_put(targets);
			return rc;
		}
	}
	return 0;
}

static struct mdv_flow_default_rule *
default_find(struct mdv_port *port, const struct mdv_flow_default_match *match,
	enum mdv_rss_class_id id, const struct mdv_rss *rss)
{
	struct mdv_flow_default_rule *rule;

	TAILQ_FOREACH (rule, &port->flow.defaults, next)
		if (rule->id == id && rule->rss == rss &&
			memcmp(&rule->match, match, sizeof(*match)) == 0)
			return rule;
	return NULL;
}

static int
default_create(struct mdv_port *port, const struct mdv_flow_default_match *match,
	const struct mdv_rss_expansion *expansion, struct mdv_flow_default_rule *rule)
{
	struct mdv_flow_build build;
	int rc;

	mdv_flow_build_eth(&build, match->dst, match->mask);
	rc = mdv_flow_build_add_layers(&build, expansion->add_layers);
	if (rc == 0)
		rc = mdv_flow_build_finish(&build,
			mdv_flow_build_default_level(port->flow.nb_priorities, build.layers),
			port->device.port_num, false);
	if (rc != 0)
		return rc;
	rule->flow = ibv_create_flow(mdv_rss_qp(rule->rss), &build.attr);
	if (rule->flow == NULL)
		return errno != 0 ? -errno : -EINVAL;
	return 0;
}

static void
default_destroy(struct mdv_port *port, struct mdv_flow_default_rule *rule)
{
	int rc = ibv_destroy_flow(rule->flow);

	if (rc != 0)
		MDV_LOG(ERR, "port %u: a default rule stays in the device: %s",
			port->dev->data->port_id, strerror(rc));
	TAILQ_REMOVE(&port->flow.defaults, rule, next);
	mdv_rss_put(rule->rss);
	free(rule);
}

/* Want the rule; install it if it is not there. */
static int
default_want(struct mdv_port *port, const struct mdv_flow_default_match *match,
	const struct mdv_rss_expansion *expansion, struct mdv_rss *rss)
{
	struct mdv_flow_default_rule *rule = default_find(port, match, expansion->id, rss);
	int rc;

	if (rule != NULL) {
		rule->wanted = true;
		return 0;
	}
	rule = calloc(1, sizeof(*rule));
	if (rule == NULL)
		return -ENOMEM;
	rule->match = *match;
	rule->id = expansion->id;
	rule->rss = rss;
	rule->wanted = true;
	rc = default_create(port, match, expansion, rule);
	if (rc != 0) {
		free(rule);
		return rc;
	}
	mdv_rss_hold(rss);
	TAILQ_INSERT_TAIL(&port->flow.defaults, rule, next);
	return 0;
}

/* New rules stand behind the old ones in the list: @p last_old is the last of those, NULL: none. */
static void
default_undo(struct mdv_port *port, const struct mdv_flow_default_rule *last_old)
{
	struct mdv_flow_default_rule *rule;

	while ((rule = TAILQ_LAST(&port->flow.defaults, mdv_flow_default_list)) != last_old)
		default_destroy(port, rule);
}

static void
default_sweep(struct mdv_port *port)
{
	struct mdv_flow_default_rule *rule, *next;

	for (rule = TAILQ_FIRST(&port->flow.defaults); rule != NULL; rule = next) {
		next = TAILQ_NEXT(rule, next);
		if (!rule->wanted)
			default_destroy(port, rule);
	}
}

/*
 * Adding comes before removing, so no packet of the old and the new set slips to the kernel in
 * between. Where only the destination of a match changed, the device has both for that moment and
 * delivers to both: twice is the lesser evil.
 */
static int
default_replace(struct mdv_port *port, const struct mdv_flow_default_match *matches, uint32_t nb,
	const struct default_targets *targets)
{
	const struct mdv_flow_default_rule *last_old =
		TAILQ_LAST(&port->flow.defaults, mdv_flow_default_list);
	struct mdv_flow_default_rule *rule;

	TAILQ_FOREACH (rule, &port->flow.defaults, next)
		rule->wanted = false;
	for (uint32_t i = 0; i < nb; i++) {
		for (unsigned int j = 0; j < targets->nb; j++) {
			int rc = default_want(
				port, &matches[i], &targets->expansions[j], targets->rss[j]);

			if (rc != 0) {
				default_undo(port, last_old);
				return rc;
			}
		}
	}
	default_sweep(port);
	return 0;
}

int
mdv_flow_default_apply(struct mdv_port *port)
{
	struct default_targets targets = { .nb = 0 };
	struct mdv_flow_default_match *matches;
	uint32_t nb = mdv_flow_default_matches(port, NULL);
	int rc;

	if (nb == 0) {
		mdv_flow_default_clear(port);
		return 0;
	}
	matches = calloc(nb, sizeof(*matches));
	if (matches == NULL) {
		rc = -ENOMEM;
		goto log;
	}
	mdv_flow_default_matches(port, matches);
	rc = default_targets_get(port, &targets);
	if (rc == 0)
		rc = default_replace(port, matches, nb, &targets);
	default_targets_put(&targets);
	free(matches);
log:
	if (rc != 0)
		MDV_LOG(ERR, "port %u: default steering was refused (errno %d): %s",
			port->dev->data->port_id, -rc, mdv_flow_error_advice(-rc));
	return rc;
}

void
mdv_flow_default_clear(struct mdv_port *port)
{
	default_undo(port, NULL);
}

int
mdv_flow_default_update(struct mdv_port *port)
{
	int rc = 0;

	pthread_mutex_lock(&port->flow.lock);
	if (port->flow.active)
		rc = mdv_flow_default_apply(port);
	pthread_mutex_unlock(&port->flow.lock);
	return rc;
}
