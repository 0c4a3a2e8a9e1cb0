/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the measurements share: times and the fields of rules. */
#ifndef FLOW_BENCH_H
#define FLOW_BENCH_H

#include <stdint.h>

#include <rte_flow.h>

#define PORT 0

struct instant {
	uint64_t wall, cpu; /**< ns */
};

/** Print why, and end the program. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
struct instant now(void);
/** Print the line of a measurement: the times of one of @p nb rules. */
void report(const char *method, unsigned int nb, struct instant start, struct instant made,
	struct instant gone);
/** @return the address (big-endian) of rule @p i: one for each port number, so that all rules
 * differ, whatever their number. */
uint32_t rule_address(unsigned int i);
/** @return its port (big-endian). */
uint16_t rule_port(unsigned int i);

/** Give the port a flow queue; before it starts. */
void async_configure(void);
/** Make and destroy @p nb rules by the flow queue, a batch each push; @p flows has room for them.
 */
void async_measure(struct rte_flow **flows, unsigned int nb);

#endif /* FLOW_BENCH_H */
