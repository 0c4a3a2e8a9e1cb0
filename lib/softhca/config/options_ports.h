/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What ports have to do with each other: who may share what, and which virtual functions are of one
 * card.
 */
#ifndef SHCA_CONFIG_OPTIONS_PORTS_H
#define SHCA_CONFIG_OPTIONS_PORTS_H

#include <stddef.h>

struct shca_options;
struct shca_port_options;

/**
 * May @p port be added to those of @p options?
 * @return 0 or -EINVAL with what is wrong in @p error.
 */
int shca_options_ports_check(const struct shca_options *options,
	const struct shca_port_options *port, char *error, size_t error_size);
/** @return the first port of the card whose function port @p index is; itself when it is the first,
 * or none. */
unsigned int shca_options_ports_card(const struct shca_options *options, unsigned int index);
/** @return the number of the virtual function @p index on its card. */
unsigned int shca_options_ports_vf(const struct shca_options *options, unsigned int index);

#endif /* SHCA_CONFIG_OPTIONS_PORTS_H */
