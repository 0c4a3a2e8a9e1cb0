/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Relations between ports: conflicts over wires and netdevs, and the virtual functions of a card.
 */
#ifndef SHCA_CONFIG_OPTIONS_PORTS_H
#define SHCA_CONFIG_OPTIONS_PORTS_H

#include <stddef.h>

struct shca_options;
struct shca_port_options;

/**
 * Check whether @p port may join the ports of @p options.
 * @return 0 or -EINVAL with a message in @p error.
 */
int shca_options_ports_check(const struct shca_options *options,
	const struct shca_port_options *port, char *error, size_t error_size);
/** @return the first port of the card that port @p index is a function of; @p index for the first
 * one, and for a port that is no virtual function. */
unsigned int shca_options_ports_card(const struct shca_options *options, unsigned int index);
/** @return the number of the virtual function @p index on its card. */
unsigned int shca_options_ports_vf(const struct shca_options *options, unsigned int index);

#endif /* SHCA_CONFIG_OPTIONS_PORTS_H */
