/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Relations between ports: conflicts over wires and netdevs, and the virtual functions of a card.
 */
#ifndef SHCA_CONFIG_OPTIONS_PORTS_H
#define SHCA_CONFIG_OPTIONS_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shca_options;
struct shca_port_options;

/**
 * Check whether @p port may join the ports of @p options.
 * @return 0 or -EINVAL with a message in @p error.
 */
int shca_options_ports_check(const struct shca_options *options,
	const struct shca_port_options *port, char *error, size_t error_size);
/** @return the first port of the card that port @p index is a function of; @p index for the first
 * one, and for a port that shares its wire with no function. */
unsigned int shca_options_ports_card(const struct shca_options *options, unsigned int index);
/** @return the number of the virtual function @p index on its card. */
unsigned int shca_options_ports_vf(const struct shca_options *options, unsigned int index);
/** @return the virtual functions behind port @p index, which is the first of their card. */
unsigned int shca_options_ports_nb_vfs(const struct shca_options *options, unsigned int index);
/** @return whether the port is the manager of its card's switch, which has ports for all vports. */
bool shca_options_ports_manages(const struct shca_port_options *port);
/** @return the vports of the switch that port @p index manages: its own, the functions', the
 * uplink's; 0: it manages none. */
unsigned int shca_options_ports_vports(const struct shca_options *options, unsigned int index);
/** @return the port of its switch's manager that stands for function @p index; 0: no manager. */
unsigned int shca_options_ports_rep(const struct shca_options *options, unsigned int index);
/** Make the MAC of a representor's netdev, other than its function's @p port. */
void shca_options_ports_rep_mac(const struct shca_port_options *port, uint8_t mac[6]);
/** @return the function that port @p rep of manager @p index stands for; -1: it is none. */
int shca_options_ports_of_rep(
	const struct shca_options *options, unsigned int index, unsigned int rep);

#endif /* SHCA_CONFIG_OPTIONS_PORTS_H */
