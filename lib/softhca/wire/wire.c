/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The table of wires. */
#include "wire/wire.h"

#include <string.h>
#include "wire/kinds.h"

const struct shca_wire_ops *const shca_wire_kinds[] = {
	&shca_loop_wire,
	&shca_null_wire,
	&shca_pair_wire,
	&shca_tap_wire,
	&shca_pcap_wire,
	&shca_unix_wire,
	NULL,
};

const struct shca_wire_ops *
shca_wire_find(const char *name, size_t name_length)
{
	for (unsigned int i = 0; shca_wire_kinds[i] != NULL; i++)
		if (strlen(shca_wire_kinds[i]->name) == name_length &&
			strncmp(shca_wire_kinds[i]->name, name, name_length) == 0)
			return shca_wire_kinds[i];
	return NULL;
}
