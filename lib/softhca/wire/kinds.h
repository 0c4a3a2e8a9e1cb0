/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The kinds of wire, for wire.c's table. */
#ifndef SHCA_WIRE_KINDS_H
#define SHCA_WIRE_KINDS_H

#include "wire/wire.h"

extern const struct shca_wire_ops shca_loop_wire;
extern const struct shca_wire_ops shca_null_wire;
extern const struct shca_wire_ops shca_pair_wire;
extern const struct shca_wire_ops shca_pcap_wire;
extern const struct shca_wire_ops shca_tap_wire;
extern const struct shca_wire_ops shca_unix_wire;

/** @return whether a unix wire has a peer; it drops frames sent without one. */
bool shca_unix_has_peer(const struct shca_wire *wire);

#endif /* SHCA_WIRE_KINDS_H */
