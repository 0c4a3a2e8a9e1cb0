/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a verbs counter for the first rule and destroys it with the last. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "flow/match/flow_error.h"
#include "flow_count.h"
#include "state/port.h"

static int
count_create(struct mdv_port *port, struct ibv_counters **out)
{
	struct ibv_counters_init_attr init = { 0 };
	static const enum ibv_counter_description what[MDV_FLOW_COUNT_NB] = {
		[MDV_FLOW_COUNT_PACKETS] = IBV_COUNTER_PACKETS,
		[MDV_FLOW_COUNT_BYTES] = IBV_COUNTER_BYTES,
	};
	struct ibv_counters *counters = ibv_create_counters(port->device.ctx, &init);

	if (counters == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	for (unsigned int i = 0; i < MDV_FLOW_COUNT_NB; i++) {
		struct ibv_counter_attach_attr attach = { .counter_desc = what[i], .index = i };
		int ret = ibv_attach_counters_point_flow(counters, &attach, NULL);

		if (ret != 0) {
			ibv_destroy_counters(counters);
			return -ret;
		}
	}
	*out = counters;
	return 0;
}

int
mdv_flow_count_get(struct mdv_port *port, struct mdv_flow_count *count)
{
	int ret = count->users == 0 ? count_create(port, &count->verbs) : 0;

	count->users += ret == 0 ? 1 : 0;
	return ret;
}

void
mdv_flow_count_keep(struct mdv_flow_count *count)
{
	uint64_t counts[MDV_FLOW_COUNT_NB];
	int ret;

	if (count->users != 1)
		return;
	ret = mdv_flow_count_read(count, counts);
	/* A device that has failed tells nothing more, but a reset has read what base says: with
	 * less than that the next query would go below 0. */
	for (unsigned int i = 0; i < MDV_FLOW_COUNT_NB; i++)
		count->counts[i] = ret == 0 ? counts[i] : RTE_MAX(count->counts[i], count->base[i]);
}

void
mdv_flow_count_put(struct mdv_flow_count *count)
{
	if (--count->users != 0)
		return;
	ibv_destroy_counters(count->verbs);
	count->verbs = NULL;
}

int
mdv_flow_count_read(const struct mdv_flow_count *count, uint64_t counts[MDV_FLOW_COUNT_NB])
{
	int ret = 0;

	memset(counts, 0, MDV_FLOW_COUNT_NB * sizeof(counts[0]));
	if (count->verbs != NULL)
		ret = ibv_read_counters(count->verbs, counts, MDV_FLOW_COUNT_NB, 0);
	for (unsigned int i = 0; i < MDV_FLOW_COUNT_NB; i++)
		counts[i] += count->counts[i];
	return ret > 0 ? -ret : ret;
}

int
mdv_flow_count_query(struct mdv_flow_count *count, struct rte_flow_query_count *query,
	struct rte_flow_error *error)
{
	uint64_t counts[MDV_FLOW_COUNT_NB];
	int ret = mdv_flow_count_read(count, counts);

	if (ret != 0)
		return mdv_flow_error_kernel(error, -ret, "COUNT: reading the counter");
	query->hits_set = 1;
	query->bytes_set = 1;
	query->hits = counts[MDV_FLOW_COUNT_PACKETS] - count->base[MDV_FLOW_COUNT_PACKETS];
	query->bytes = counts[MDV_FLOW_COUNT_BYTES] - count->base[MDV_FLOW_COUNT_BYTES];
	if (query->reset)
		memcpy(count->base, counts, sizeof(counts));
	return 0;
}
